/** The whole recording on the stage, followed with the places that the markers have, and judged. */
import type { Finding } from 'poise-ik';
import type { Session } from '../session.js';
import { counted } from '../status.js';
import { followRecording, type Work } from './follow_recording.js';
import { clipOf, markerNumbers } from './recording_job.js';

/** What speaks against a fit, in words, the worst first. */
export function reasonsOf(findings: readonly Finding[]): string[] {
  return findings.filter(({ level }) => level !== 'good').map(({ text }) => text);
}

/** Which frames an error is the mean of. */
export function overFrames(frames: number, held: number): string {
  return held > 0 ? `over the ${frames - held} of ${counted(frames, 'frame')} that count` : `over ${frames > 1 ? `all ${frames} frames` : 'one frame'}`;
}

/** Fills session.tracked and says in words how it went. */
export async function trackSession(session: Session, work: Work): Promise<string> {
  const { poise, model } = session;
  const { markers, placements, scale } = session.stage;
  if (!markers || placements.length === 0) {
    throw new Error('there are no markers with places on this skeleton to track');
  }
  const started = performance.now();
  const answer = await followRecording(
    {
      compiled: poise.compiled,
      skeleton: poise.write({ model, scale, placements }, 'json').bytes,
      recording: { ...markerNumbers(markers), scale },
      options: { fit: 'none', onlyPlacements: true },
    },
    work,
  );
  if (answer.kind === 'bare') {
    throw new Error(answer.why);
  }
  const seconds = (performance.now() - started) / 1000;
  const { distances: errors, held, verdict, findings, summary } = answer;
  session.tracked?.clip.dispose();
  session.tracked = { clip: clipOf(poise, answer.clip), errors, held, verdict, reasons: reasonsOf(findings) };
  session.followMarkers = false; // the motion that was found plays
  session.changed();
  const unit = scale.metres > 0 ? `${(1000 * scale.metres * summary.mean).toFixed(2)} mm` : summary.mean.toPrecision(3);
  const doubt = verdict === 'good' ? '' : `\nThe fit is ${verdict === 'failed' ? 'wrong' : 'doubtful'}: ${session.tracked.reasons[0] ?? ''}`;
  return `${counted(answer.clip.frames, 'frame')} tracked in ${seconds.toFixed(1)} s: ${unit} mean error ${overFrames(answer.clip.frames, summary.held)}${doubt}`;
}
