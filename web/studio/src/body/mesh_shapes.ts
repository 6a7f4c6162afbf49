/** Shapes that cover the collision meshes of a robot. */
import type { Poise } from 'poise-ik';
import type { Work } from '../beside.js';
import type { MeshShapes, RobotFile } from './mesh_shapes_job.js';
import type { Find } from './named_files.js';
import { besideWithFiles } from './whole_file.js';

export const coverMeshes = ({ compiled }: Poise, robot: RobotFile, find: Find, work: Work): Promise<MeshShapes> =>
  besideWithFiles<MeshShapes>('mesh_shapes_worker.js', { compiled, robot }, find, 'Covering the collision meshes with capsules and boxes', work);
