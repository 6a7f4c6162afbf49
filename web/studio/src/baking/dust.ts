/** What solvers leave where a number is zero: -6e-12 instead of 0. */
const DUST = 1e-11; // radians, and length units: far below what they are asked for (1e-6), and a pose stays the same to 1e-9

/** Sweep it out of numbers that were solved for; those that are as in `before` were not. */
export function sweep(q: Float64Array, before?: ArrayLike<number>): void {
  q.forEach((x, i) => {
    if (Math.abs(x) < DUST && x !== before?.[i]) {
      q[i] = 0;
    }
  });
}
