/** Shapes that cover the collision meshes of a robot. Which files those are, its reader knows: it is asked until it has them all. */
import type { Poise } from 'poise-ik';
import { beside, type Work } from '../beside.js';
import type { MeshShapes, MeshShapesAnswer, MeshShapesJob, RobotFile } from './mesh_shapes_job.js';
import type { Find } from './named_files.js';

export async function coverMeshes({ compiled }: Poise, robot: RobotFile, find: Find, work: Work): Promise<MeshShapes> {
  const files = new Map<string, Uint8Array | null>();
  for (;;) {
    work.progress('Covering the collision meshes with capsules and boxes', null);
    const job: MeshShapesJob = { compiled, robot, files };
    const answer = await beside<MeshShapesAnswer>('mesh_shapes_worker.js', job, work);
    if (answer.kind === 'shapes') {
      return answer;
    }
    for (const name of answer.names) {
      files.set(name, await find(name));
    }
  }
}
