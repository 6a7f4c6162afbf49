/** The state of the page as part of its address: JSON, deflated, in letters that an address may hold. */
import { methods, verdictLevels } from 'poise-ik';
import type { Judged, Saved } from './stage.js';

export interface Shared {
  scene?: string;
  /** Files, on top of the scene where there is one. */
  files?: Packed[];
  state: Saved;
  /** What speaks against the motion that the files hold. A good verdict is not believed: it is left out. */
  doubts?: Judged;
}

/** A file as its text, or else as its bytes in base64. */
interface Packed {
  name: string;
  text?: string;
  base64?: string;
}

/** Letters of an address that browsers and mail programs still take. */
export const MOST_LETTERS = 100_000;

export function pack(name: string, bytes: Uint8Array): Packed {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    return { name, text };
  } catch {
    return { name, base64: toBase64(bytes) };
  }
}

export function unpack({ name, text, base64 }: Packed): { name: string; bytes: Uint8Array } {
  return { name, bytes: text !== undefined ? new TextEncoder().encode(text) : fromBase64(base64 ?? '') };
}

async function through(bytes: Uint8Array, stream: CompressionStream | DecompressionStream): Promise<Uint8Array> {
  const readable = new Blob([bytes.slice()]).stream().pipeThrough(stream as unknown as TransformStream<Uint8Array, Uint8Array>);
  return new Uint8Array(await new Response(readable).arrayBuffer());
}

function toBase64(bytes: Uint8Array): string {
  let text = '';
  for (const byte of bytes) {
    text += String.fromCharCode(byte);
  }
  return btoa(text);
}

function fromBase64(text: string): Uint8Array {
  return Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
}

export async function encode(shared: Shared): Promise<string> {
  const bytes = new TextEncoder().encode(JSON.stringify(shared));
  const packed = await through(bytes, new CompressionStream('deflate-raw'));
  return toBase64(packed).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}

/** What an address holds; throws when it is not one of ours. */
export async function decode(text: string): Promise<Shared> {
  try {
    const packed = fromBase64(text.replaceAll('-', '+').replaceAll('_', '/'));
    const json = new TextDecoder().decode(await through(packed, new DecompressionStream('deflate-raw')));
    const shared = JSON.parse(json) as Shared;
    if (!isSaved(shared.state) || !areFiles(shared.files) || !areDoubts(shared.doubts)) {
      throw new Error('state');
    }
    return shared;
  } catch (error) {
    throw new Error('this link is damaged: part of it may have been cut off when it was copied', { cause: error });
  }
}

const LONGEST = 3600; // seconds of a timeline by keyframes

const numbers = (x: unknown, count?: number): boolean =>
  Array.isArray(x) && (count === undefined || x.length === count) && x.every((y) => typeof y === 'number' && Number.isFinite(y));

function areFiles(files: unknown): boolean {
  const isText = (x: unknown): boolean => x === undefined || typeof x === 'string';
  return files === undefined || (Array.isArray(files) && files.every((f: Packed) => typeof f?.name === 'string' && isText(f.text) && isText(f.base64)));
}

function areDoubts(doubts: unknown): boolean {
  const { what, verdict, findings, figures } = (doubts ?? {}) as Judged;
  const areTexts = (...list: unknown[]): boolean => list.every((x) => typeof x === 'string');
  return (
    doubts === undefined ||
    (['fit', 'retargeting', 'baking'].includes(what) &&
      ['doubtful', 'failed'].includes(verdict) &&
      Array.isArray(findings) &&
      findings.every((f) => verdictLevels.includes(f?.level) && areTexts(f.kind, f.text) && numbers([f.first, f.last])) &&
      Array.isArray(figures) &&
      areTexts(...figures))
  );
}

/** An address comes from anybody: believe nothing of it. */
function isSaved(saved: unknown): saved is Saved {
  const s = saved as Saved;
  return (
    typeof s === 'object' &&
    s !== null &&
    numbers(s.q) &&
    numbers(s.posture) &&
    numbers(s.locked) &&
    Number.isFinite(s.time) &&
    s.time >= 0 &&
    (s.length === undefined || (Number.isFinite(s.length) && s.length > 0 && s.length <= LONGEST)) &&
    methods.includes(s.method) &&
    (s.mode === 'reach' || s.mode === 'express') &&
    Array.isArray(s.targets) &&
    s.targets.every(
      (t) =>
        ['position', 'pose', 'aim', 'pin'].includes(t.kind) &&
        Number.isInteger(t.body) &&
        t.body >= 0 &&
        numbers(t.position, 3) &&
        numbers(t.rotation, 4) &&
        numbers(t.local?.position, 3) &&
        numbers(t.local?.rotation, 4) &&
        (t.keys === undefined || (Array.isArray(t.keys) && t.keys.length > 0 && t.keys.every((key) => Number.isFinite(key?.time) && numbers(key.position, 3) && numbers(key.rotation, 4)))) &&
        Number.isFinite(t.weight) &&
        t.weight >= 0 &&
        typeof t.enabled === 'boolean',
    )
  );
}
