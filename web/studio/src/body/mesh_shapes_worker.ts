/** Covers the collision meshes of a robot with capsules and boxes beside the page, in an engine of its own: that takes seconds. */
import { load, type Poise } from 'poise-ik';
import { failureOf } from '../beside.js';
import type { MeshShapes, MeshShapesJob } from './mesh_shapes_job.js';
import { readWhole, type Wants } from './whole_file.js';

function cover(poise: Poise, { robot, files }: MeshShapesJob): MeshShapes | Wants {
  const read = readWhole(poise, robot, files, { meshes: true });
  return 'names' in read ? read : { kind: 'shapes', shapes: read.shapes, excluded: read.excluded, skipped: read.shapesSkipped };
}

addEventListener('message', ({ data }: MessageEvent<MeshShapesJob>) => {
  load(data.compiled).then((poise) => postMessage(cover(poise, data))).catch((error: unknown) => postMessage(failureOf(error)));
});
