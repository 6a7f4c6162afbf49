/** Covers the collision meshes of a robot with capsules and boxes beside the page, in an engine of its own: that takes seconds. */
import { load, type Poise } from 'poise-ik';
import { failureOf } from '../beside.js';
import type { MeshShapesAnswer, MeshShapesJob } from './mesh_shapes_job.js';

/** The shapes, or the names of files that are needed for them and were not given. */
function cover(poise: Poise, { robot: { name, format, bytes }, files }: MeshShapesJob): MeshShapesAnswer {
  const wanted = new Set<string>();
  const given = (file: string): Uint8Array | null => {
    if (!files.has(file)) {
      wanted.add(file);
    }
    return files.get(file) ?? null;
  };
  try {
    const { shapes, excluded, shapesSkipped: skipped } = poise.read(bytes, { name, format, load: given, meshes: true });
    return wanted.size > 0 ? { kind: 'wants', names: [...wanted] } : { kind: 'shapes', shapes, excluded, skipped };
  } catch (error) {
    if (wanted.size > 0) {
      return { kind: 'wants', names: [...wanted] };
    }
    throw error;
  }
}

addEventListener('message', ({ data }: MessageEvent<MeshShapesJob>) => {
  load(data.compiled).then((poise) => postMessage(cover(poise, data))).catch((error: unknown) => postMessage(failureOf(error)));
});
