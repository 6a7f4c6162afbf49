/** Files as they are dropped: single ones, folders with all that is in them, and zip archives. */
import type { NamedFile } from './named_files.js';

const MOST_FILES = 4000;

/** Everything in an entry of the file system, by its path. */
async function filesIn(entry: FileSystemEntry): Promise<File[]> {
  if (entry.isFile) {
    const file = await new Promise<File>((done, failed) => (entry as FileSystemFileEntry).file(done, failed));
    return [Object.defineProperty(file, 'path', { value: entry.fullPath.slice(1) })];
  }
  const reader = (entry as FileSystemDirectoryEntry).createReader();
  const list: File[] = [];
  for (;;) {
    const some = await new Promise<FileSystemEntry[]>((done, failed) => reader.readEntries(done, failed));
    if (some.length === 0 || list.length > MOST_FILES) {
      return list;
    }
    list.push(...(await Promise.all(some.filter(({ name }) => !name.startsWith('.')).map(filesIn))).flat());
  }
}

/** What was dropped, folders included. Ask at once: the browser forgets it after the event. */
export function droppedFiles(transfer: DataTransfer): Promise<File[]> {
  const entries = Array.from(transfer.items, (item) => item.webkitGetAsEntry?.() ?? null);
  if (entries.some((entry) => entry?.isDirectory)) {
    return Promise.all(entries.map((entry) => (entry ? filesIn(entry) : []))).then((lists) => lists.flat());
  }
  return Promise.resolve(Array.from(transfer.files));
}

/** The bytes of files, archives unpacked. */
export async function readAll(list: readonly File[]): Promise<NamedFile[]> {
  const read = list.map(async (file): Promise<NamedFile[]> => {
    const bytes = new Uint8Array(await file.arrayBuffer());
    const name = (file as File & { path?: string }).path ?? (file.webkitRelativePath || file.name);
    return /\.zip$/i.test(name) ? unpack(name, bytes) : [{ name, bytes }];
  });
  return (await Promise.all(read)).flat();
}

async function unpack(archive: string, bytes: Uint8Array): Promise<NamedFile[]> {
  const { unzipSync } = await import('three/addons/libs/fflate.module.js');
  const unzipped = () => {
    try {
      return unzipSync(bytes);
    } catch (error) {
      throw new Error(`${archive} cannot be unpacked: ${error instanceof Error ? error.message : String(error)}. It may be damaged, encrypted, or not a zip file.`, { cause: error });
    }
  };
  const entries = Object.entries(unzipped()).filter(([name, content]) => content.length > 0 && !/(^|\/)(\.|__MACOSX)/.test(name));
  return entries.map(([name, content]) => ({ name, bytes: content }));
}
