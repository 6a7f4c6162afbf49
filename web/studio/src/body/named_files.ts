/** Files that a robot names: among those that were dropped with it, or from the server of `poise view`. */

export interface NamedFile {
  /** With the folders it lay in: "ur_description/meshes/base.stl". */
  name: string;
  bytes: Uint8Array;
}

/** The folders and the name, without a scheme such as package://, and without "." and "..". */
export function partsOf(name: string): string[] {
  const plain = name.replace(/^[a-z]+:\/\//i, '').replaceAll('\\', '/');
  return plain.split('/').filter((part) => part !== '' && part !== '.' && part !== '..').map(decode);
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** The file whose path ends most like the one that is asked for; null where not even the name is the same. */
export function findNamed<T extends { name: string }>(files: readonly T[], name: string): T | null {
  const wanted = partsOf(name).reverse();
  const alike = (file: T): number => {
    const own = partsOf(file.name).reverse();
    const differs = own.findIndex((part, i) => part !== wanted[i]);
    return differs < 0 ? own.length : differs;
  };
  return files.reduce<{ file: T | null; depth: number }>((best, file) => (alike(file) > best.depth ? { file, depth: alike(file) } : best), { file: null, depth: 0 }).file;
}

/** Bytes of the file of a name, or null. */
export type Find = (name: string) => Promise<Uint8Array | null>;

export const amongFiles = (files: readonly NamedFile[]): Find => async (name) => findNamed(files, name)?.bytes ?? null;

const MOST_INCLUDED = 64;

/** The files that an MJCF includes. */
export function includesOf(bytes: Uint8Array): string[] {
  const text = new TextDecoder().decode(bytes);
  return Array.from(text.matchAll(/<include\s+file\s*=\s*["']([^"']+)["']/g), ([, name]) => name!);
}

/** A file with those that it includes, and that they include. */
export async function withIncludes(file: NamedFile, find: Find): Promise<NamedFile[]> {
  const files = [file];
  for (let i = 0; i < files.length && files.length < MOST_INCLUDED; i++) {
    const folder = i > 0 ? files[i]!.name.slice(0, files[i]!.name.lastIndexOf('/') + 1) : '';
    for (const name of includesOf(files[i]!.bytes)) {
      for (const place of new Set([folder + name, name])) { // beside the file that names it, else beside the first
        const isThere = files.some((other) => other.name === place);
        const bytes = isThere ? null : await find(place);
        if (bytes) {
          files.push({ name: place, bytes });
        }
        if (bytes || isThere) {
          break;
        }
      }
    }
  }
  return files;
}

/** What a file names by a path from where it is itself. */
export const beside = (file: string, find: Find): Find => (name) => find(/^[a-z]+:\/\//i.test(name) ? name : file.slice(0, file.lastIndexOf('/') + 1) + name);

/** From the server: it offers what the robot's file names, beside that file; nothing (204) for what is not there. */
export const fromServer = (folder: string): Find => async (name) => {
  const response = await fetch([folder, ...partsOf(name).map(encodeURIComponent)].join('/'));
  return response.status === 200 ? new Uint8Array(await response.arrayBuffer()) : null;
};
