/** Joint values over time as a table: what CSV files of the studio hold. */
import type { Clip, Model } from 'poise-ik';

/** A row for each frame: the time, then q in radians and length units. Columns are called as in MOT files: it is read like those. */
export function jointTable(model: Model, clip: Clip): Uint8Array {
  const names = model.coordinates.map(({ joint, name }) => (model.joints[joint]!.nq > 1 ? `${model.joints[joint]!.name}/${name}` : model.joints[joint]!.name));
  const rows = Array.from({ length: clip.frames }, (_, f) => [clip.startTime + f * clip.frameTime, ...clip.frame(f)].join(','));
  return new TextEncoder().encode([['time', ...names.map((name) => name.replace(/[,\s]/g, '_'))].join(','), ...rows, ''].join('\n'));
}
