/** Parts of the studio that are loaded when they are needed: all of them are fetched ahead, so that nothing fails when its server has gone. */

/** By name: the workers' scripts. They stand alone, and start from memory where there is no server. */
const scripts = new Map<string, string>();

/** What to do where a part is missing. */
export const PART_MISSING =
  'A part of the studio could not be loaded: its server has ended, or the network is gone. "Share" still puts your work into the address of this page: start "poise view" again, open the address that it tells, and put the part from # on behind that.';

/** A part that was asked for is missing, by what browsers say then. */
export const isPartMissing = (error: unknown): boolean => error instanceof Error && /dynamically imported module|importing a module script|module script failed/i.test(error.message);

/** Fetch all that the build made, which it lists in files.json, when there is nothing else to do. */
export async function fetchParts(): Promise<void> {
  const at = (name: string) => new URL(`./${name}`, import.meta.url).href;
  const list = (await (await fetch(at('files.json'))).json()) as string[];
  for (const name of list.filter((file) => /^part-\w+\.js$/.test(file))) {
    await import(at(name));
  }
  for (const name of list.filter((file) => /^(?!service)\w+_worker\.js$/.test(file))) {
    scripts.set(name, await (await fetch(at(name))).text());
  }
}

/** How many workers could start without a server. */
export const keptWorkers = (): number => scripts.size;

/** A worker by the name of its script. */
export const startWorker = (name: string): Worker => new Worker(new URL(`./${name}`, import.meta.url), { type: 'module' });

/** The same from memory; null where its script is not there. */
export function startKeptWorker(name: string): Worker | null {
  const script = scripts.get(name);
  if (script === undefined) {
    return null;
  }
  const address = URL.createObjectURL(new Blob([script], { type: 'text/javascript' }));
  const worker = new Worker(address, { type: 'module' });
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
  return worker;
}
