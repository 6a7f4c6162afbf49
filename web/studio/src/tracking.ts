/** Tracking a whole recording, and how far each marker is from its place in every frame. */
import { trackRecording } from 'poise-ik';
import type { Session } from './session.js';

/** Fills session.tracked and says in words how it went. The places of the markers are those of the skeleton. */
export function trackAll(session: Session): string {
  const { markers, placements, scale } = session.stage;
  if (!markers || placements.length === 0) {
    throw new Error('there are no markers with places on this skeleton to track');
  }
  const started = performance.now();
  const result = trackRecording({ model: session.model, scale, placements }, { markers, scale }, { fit: 'none', onlyPlacements: true });
  const milliseconds = performance.now() - started;
  const { clip, distances: errors, summary, verdict, findings } = result;
  result.markers.dispose();
  session.tracked?.clip.dispose();
  session.tracked = { clip, errors, verdict, reasons: findings.filter(({ level }) => level !== 'good').map(({ text }) => text) };
  session.followMarkers = false; // the motion that was found plays
  session.changed();
  const unit = scale.metres > 0 ? `${(1000 * scale.metres * summary.mean).toFixed(2)} mm` : summary.mean.toPrecision(3);
  return `${clip.frames} frames tracked in ${milliseconds.toFixed(0)} ms: ${unit} mean error, ${summary.held} frames held`;
}
