/** Where the handle of a goal is over time: keys, in the order of their times, and a smooth way through them. */
import type { Vec3 } from 'poise-ik';
import { type Place, slerp } from './baking/places.js';

export interface Key extends Place {
  /** Seconds of the timeline. */
  time: number;
}

/** A new list with a key at a time; one that is nearer than `apart` gives way. */
export function withKey(keys: readonly Key[], key: Key, apart: number): Key[] {
  return [...keys.filter(({ time }) => Math.abs(time - key.time) > apart), key].sort((a, b) => a.time - b.time);
}

/** The velocity of a way through keys at one of them: by its neighbours, and at rest at both ends. */
function velocity(keys: readonly Key[], i: number, axis: number): number {
  const [before, after] = [keys[i - 1], keys[i + 1]];
  return before && after ? (after.position[axis]! - before.position[axis]!) / (after.time - before.time) : 0;
}

/** The place at a time: a cubic between two keys, p(s) = h00 p0 + h10 T v0 + h01 p1 + h11 T v1; before and after all, the end. */
export function placeAt(keys: readonly Key[], time: number): Place {
  const next = keys.findIndex((key) => key.time > time);
  const [a, b] = next < 0 ? [keys.at(-1)!, keys.at(-1)!] : [keys[Math.max(0, next - 1)]!, keys[next]!];
  const span = b.time - a.time;
  if (span <= 0 || time <= a.time) {
    return { position: a.position, rotation: a.rotation };
  }
  const s = (time - a.time) / span;
  const [h00, h10, h01, h11] = [(1 + 2 * s) * (1 - s) ** 2, s * (1 - s) ** 2, s * s * (3 - 2 * s), s * s * (s - 1)];
  const position = [0, 1, 2].map(
    (k) => h00 * a.position[k]! + h10 * span * velocity(keys, next - 1, k) + h01 * b.position[k]! + h11 * span * velocity(keys, next, k),
  );
  return { position: position as unknown as Vec3, rotation: slerp(a.rotation, b.rotation, s) };
}
