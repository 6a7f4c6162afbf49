/**
 * A robot's file with all that it names, read in a worker. Which files those are, its reader knows: it says what it lacks, is given
 * that, and is asked once more.
 */
import type { Poise, PoiseFile, ReadOptions } from 'poise-ik';
import { beside, type Work } from '../beside.js';
import type { RobotFile } from './mesh_shapes_job.js';
import type { Find } from './named_files.js';

/** Files that are named, by their names; null: there is none. */
export type NamedBytes = ReadonlyMap<string, Uint8Array | null>;

/** What a worker answers that lacks files. */
export interface Wants {
  kind: 'wants';
  names: string[];
}

/** In the worker: the file, or the names of what it lacks. */
export function readWhole(poise: Poise, { name, format, bytes }: RobotFile, files: NamedBytes, options: ReadOptions): PoiseFile | Wants {
  const wanted = new Set<string>();
  const given = (file: string): Uint8Array | null => {
    if (!files.has(file)) {
      wanted.add(file);
    }
    return files.get(file) ?? null;
  };
  let file: PoiseFile | null = null;
  try {
    file = poise.read(bytes, { ...options, name, format, load: given });
  } catch (error) {
    if (wanted.size === 0) {
      throw error;
    }
  }
  if (wanted.size === 0) {
    return file!;
  }
  file?.dispose();
  return { kind: 'wants', names: [...wanted] };
}

/** In the page: the answer of a worker to a job that reads such a file. */
export async function besideWithFiles<Answer extends { kind: string }>(script: string, job: object, find: Find, what: string, work: Work): Promise<Answer> {
  const files = new Map<string, Uint8Array | null>();
  for (;;) {
    work.progress(what, null);
    const answer = await beside<Answer | Wants>(script, { ...job, files }, work);
    if (answer.kind !== 'wants') {
      return answer as Answer;
    }
    for (const name of (answer as Wants).names) {
      files.set(name, await find(name));
    }
  }
}
