/** What the page asks of the worker that puts a motion on another skeleton, and what it answers. */
import type { Finding, Up, VerdictLevel } from 'poise-ik';
import type { RobotFile } from '../body/mesh_shapes_job.js';
import type { NamedBytes } from '../body/whole_file.js';

/** Skeletons are read as `poise retarget` reads them: from their own files, where they stand on the stage as these have them. */
export type SkeletonFile = { robot: RobotFile; animation: number } | { json: Uint8Array };

export interface RetargetJob {
  /** The engine, compiled. */
  compiled: WebAssembly.Module;
  /** A skeleton with its motion, as poise JSON. */
  motion: Uint8Array;
  /** The one that is to follow, and files that its own names. */
  skeleton: SkeletonFile;
  files: NamedBytes;
  /** What points up, where the user has said so; left out: as the files say, else as the figures stand. */
  fromUp?: Up;
  toUp?: Up;
}

export interface RetargetAnswer {
  kind: 'retargeted';
  /** Joint values over time, as a table. */
  table: Uint8Array;
  /** Parts of the body that both have. */
  roles: number;
  verdict: VerdictLevel;
  findings: Finding[];
  /** What was measured, a line each. */
  figures: string[];
}
