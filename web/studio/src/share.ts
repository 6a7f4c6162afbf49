/** The state of the page as part of its address: JSON, deflated, in letters that an address may hold. */
import { methods } from 'poise-ik';
import type { Saved } from './session.js';

export interface Shared {
  scene?: string;
  /** Files, where they are small enough: name and bytes in base64. */
  files?: { name: string; base64: string }[];
  state: Saved;
}

/** Larger files do not go into an address. */
export const MOST_BYTES = 60_000;

async function through(bytes: Uint8Array, stream: CompressionStream | DecompressionStream): Promise<Uint8Array> {
  const readable = new Blob([bytes.slice()]).stream().pipeThrough(stream as unknown as TransformStream<Uint8Array, Uint8Array>);
  return new Uint8Array(await new Response(readable).arrayBuffer());
}

export function toBase64(bytes: Uint8Array): string {
  let text = '';
  for (const byte of bytes) {
    text += String.fromCharCode(byte);
  }
  return btoa(text);
}

export function fromBase64(text: string): Uint8Array {
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
    if (!isSaved(shared.state)) {
      throw new Error('state');
    }
    return shared;
  } catch (error) {
    throw new Error('this link is damaged: part of it may have been cut off when it was copied', { cause: error });
  }
}

const numbers = (x: unknown): boolean => Array.isArray(x) && x.every((y) => typeof y === 'number' && Number.isFinite(y));

/** An address comes from anybody: believe nothing of it. */
function isSaved(saved: unknown): saved is Saved {
  const s = saved as Saved;
  return (
    typeof s === 'object' &&
    s !== null &&
    numbers(s.q) &&
    numbers(s.posture) &&
    numbers(s.locked) &&
    typeof s.time === 'number' &&
    methods.includes(s.method) &&
    (s.mode === 'reach' || s.mode === 'express') &&
    Array.isArray(s.targets) &&
    s.targets.every(
      (t) =>
        ['position', 'pose', 'aim'].includes(t.kind) &&
        Number.isInteger(t.body) &&
        t.body >= 0 &&
        numbers(t.position) &&
        t.position.length === 3 &&
        numbers(t.rotation) &&
        t.rotation.length === 4 &&
        numbers(t.local?.position) &&
        numbers(t.local?.rotation) &&
        typeof t.weight === 'number' &&
        typeof t.enabled === 'boolean',
    )
  );
}
