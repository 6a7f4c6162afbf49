/** What the page asks of the worker that covers collision meshes with shapes, and what it answers. */
import type { Format, Pair, Shape } from 'poise-ik';
import type { NamedBytes } from './whole_file.js';

/** The file that names the meshes. */
export interface RobotFile {
  name: string;
  format: Format;
  bytes: Uint8Array;
}

export interface MeshShapesJob {
  /** The engine, compiled. */
  compiled: WebAssembly.Module;
  robot: RobotFile;
  /** Files that it names, as it names them. */
  files: NamedBytes;
}

export interface MeshShapes {
  kind: 'shapes';
  shapes: Shape[];
  excluded: Pair[];
  /** Meshes that were not found, or are of a kind that is not read. */
  skipped: number;
}
