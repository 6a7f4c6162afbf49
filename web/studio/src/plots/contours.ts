/** Lines of equal height over a square of samples, by marching squares. */

export interface Segment {
  x0: number;
  y0: number;
  x1: number;
  y1: number;
}

/** Levels that halve, from the highest value down: close to a minimum as far from it there are some. */
export function levelsOf(values: Float64Array, count: number): number[] {
  const high = values.reduce((most, x) => Math.max(most, x), -Infinity);
  const low = values.reduce((least, x) => Math.min(least, x), Infinity);
  return Array.from({ length: count }, (_, i) => low + (high - low) * 0.62 ** (i + 1));
}

/** In samples from the first one on. */
export function contour(values: Float64Array, side: number, level: number): Segment[] {
  const segments: Segment[] = [];
  const at = (i: number, j: number) => values[j * side + i]! - level;
  for (let j = 0; j + 1 < side; j++) {
    for (let i = 0; i + 1 < side; i++) {
      const corners = [at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)] as const;
      const places = [[i, j], [i + 1, j], [i + 1, j + 1], [i, j + 1]] as const;
      const cuts: [number, number][] = [];
      for (let k = 0; k < 4; k++) {
        const [a, b] = [corners[k]!, corners[(k + 1) % 4]!];
        if (a < 0 !== b < 0) {
          const t = a / (a - b);
          const [p, q] = [places[k]!, places[(k + 1) % 4]!];
          cuts.push([p[0] + t * (q[0] - p[0]), p[1] + t * (q[1] - p[1])]);
        }
      }
      for (let k = 0; k + 1 < cuts.length; k += 2) {
        segments.push({ x0: cuts[k]![0], y0: cuts[k]![1], x1: cuts[k + 1]![0], y1: cuts[k + 1]![1] });
      }
    }
  }
  return segments;
}
