/** Where markers are not seen. */
import type { Markers } from 'poise-ik';

const found = new WeakMap<Markers, Map<string, number>>();

/** The share of frames in which each marker is not seen: 0 to 1, counted once for each recording. */
export function gapsOf(markers: Markers, labels: readonly string[]): number[] {
  let known = found.get(markers);
  if (!known) {
    known = new Map();
    const { positions, count, frames } = markers;
    const indices = markers.indices(labels.map((label) => ({ label })));
    for (const [i, index] of indices.entries()) {
      let missing = 0;
      for (let frame = 0; frame < frames; frame++) {
        missing += index < 0 || Number.isNaN(positions[3 * (frame * count + index)]!) ? 1 : 0;
      }
      known.set(labels[i]!, missing / Math.max(1, frames));
    }
    found.set(markers, known);
  }
  return labels.map((label) => known.get(label) ?? 0);
}
