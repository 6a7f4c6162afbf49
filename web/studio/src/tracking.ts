/** Tracking a whole recording, and how far each marker is from its place in every frame. */
import { track } from 'poise-ik';
import type { Session } from './session.js';

/** Fills session.tracked and says in words how it went. */
export function trackAll(session: Session): string {
  const { markers, placements } = session.stage;
  if (!markers || placements.length === 0) {
    throw new Error('there are no markers with places on this skeleton to track');
  }
  const started = performance.now();
  const { clip, frames } = track(session.model, placements, markers, { start: Array.from(session.q) });
  const milliseconds = performance.now() - started;
  session.tracked?.clip.dispose();
  session.tracked = { clip, errors: markerErrors(session, clip.q.slice(), clip.frames) };
  const held = frames.filter((frame) => frame.held).length;
  const mean = frames.reduce((sum, frame) => sum + frame.rms, 0) / Math.max(1, frames.length);
  const unit = session.stage.scale.metres > 0 ? `${(1000 * session.stage.scale.metres * mean).toFixed(2)} mm` : mean.toPrecision(3);
  return `${frames.length} frames tracked in ${milliseconds.toFixed(0)} ms: ${unit} mean error, ${held} frames held`;
}

/** frames x placements; NaN where a marker was not seen. */
function markerErrors(session: Session, q: Float64Array, frames: number): Float64Array {
  const { markers, placements } = session.stage;
  const { kinematics, model } = session;
  const index = markers!.indices(placements);
  const errors = new Float64Array(frames * placements.length).fill(NaN);
  const all = markers!.positions.slice();
  for (let f = 0; f < frames; f++) {
    kinematics.update(q.subarray(f * model.nq, (f + 1) * model.nq));
    placements.forEach((place, i) => {
      const from = 3 * (f * markers!.count + index[i]!);
      if (index[i]! >= 0 && Number.isFinite(all[from]!)) {
        const at = kinematics.point(place.body, place.local);
        errors[f * placements.length + i] = Math.hypot(at[0] - all[from]!, at[1] - all[from + 1]!, at[2] - all[from + 2]!);
      }
    });
  }
  kinematics.update(session.q);
  return errors;
}
