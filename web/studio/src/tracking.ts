/** Tracking a whole recording, and how far each marker is from its place in every frame. */
import { track } from 'poise-ik';
import type { Session } from './session.js';

/** Fills session.tracked and says in words how it went. */
export function trackAll(session: Session): string {
  const { markers, placements, scale } = session.stage;
  if (!markers || placements.length === 0) {
    throw new Error('there are no markers with places on this skeleton to track');
  }
  const started = performance.now();
  const { clip, distances, summary } = track(session.model, placements, markers, { start: Array.from(session.q) });
  const milliseconds = performance.now() - started;
  session.tracked?.clip.dispose();
  session.tracked = { clip, errors: distances };
  session.followMarkers = false; // the motion that was found plays
  session.changed();
  const unit = scale.metres > 0 ? `${(1000 * scale.metres * summary.mean).toFixed(2)} mm` : summary.mean.toPrecision(3);
  return `${clip.frames} frames tracked in ${milliseconds.toFixed(0)} ms: ${unit} mean error, ${summary.held} frames held`;
}
