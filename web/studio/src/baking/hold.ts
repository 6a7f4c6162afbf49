/** When goals act on a motion, as the library takes it: in full from a frame to another, with fades around them. */
import type { Range } from '../stage.js';

export interface Hold {
  /** Frames. */
  first: number;
  last: number;
  /** Seconds. */
  fade: number;
  fadeOut: number;
}

/** Of a motion of so many frames; without a range, all of it. */
export function holdOf(range: Range | null, frames: number, frameTime: number): Hold {
  const end = frames - 1;
  if (!range) {
    return { first: 0, last: end, fade: 0, fadeOut: 0 };
  }
  const { from, to, fadeIn, fadeOut } = range;
  const fades = Math.max(1e-9, fadeIn + fadeOut);
  const part = Math.min(1, (to - from) / fades); // fades that are too long for the range share it
  const frame = (time: number, round: (x: number) => number) => Math.min(end, Math.max(0, round(time / frameTime)));
  const first = frame(from + part * fadeIn, (x) => Math.ceil(x - 1e-6));
  const last = Math.max(first, frame(to - part * fadeOut, (x) => Math.floor(x + 1e-6)));
  return { first, last, fade: Math.max(0, first * frameTime - from), fadeOut: Math.max(0, to - last * frameTime) };
}

/** How much the goals count at a time: 1 while they hold, S(u) = u^3 (10 - 15 u + 6 u^2) over the fades, 0 elsewhere. */
export function shareAt({ first, last, fade, fadeOut }: Hold, frameTime: number, time: number): number {
  const part = (before: number, length: number) => (before <= 1e-6 * frameTime ? 1 : length > 0 ? Math.max(0, 1 - before / length) : 0);
  const u = Math.min(part(first * frameTime - time, fade), part(time - last * frameTime, fadeOut));
  return u ** 3 * (10 - 15 * u + 6 * u * u);
}
