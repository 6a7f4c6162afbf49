/** The whole recording on the stage, followed with the places that the markers have, and judged. */
import type { Work } from '../beside.js';
import type { Session } from '../session.js';
import type { Judged } from '../stage.js';
import { counted, length, momentOf } from '../status.js';
import { againstIt } from '../verdict_words.js';
import { followRecording } from './follow_recording.js';
import { clipOf, Held, markerNumbers, type TrackedAnswer } from './recording_job.js';

/** Which frames an error is the mean of. */
function overFrames(held: Uint8Array): string {
  const [frames, counting] = [held.length, held.filter((why) => why === Held.no).length];
  return counting < frames ? `over the ${counting} of ${counted(frames, 'frame')} that count` : `over ${frames > 1 ? `all ${frames} frames` : 'one frame'}`;
}

/** How well markers are followed: on average, and at worst, with the place of that. */
export function errorOf({ summary, placements, scale, held, clip }: TrackedAnswer, mean: 'on average' | 'mean error'): string {
  const off = (value: number) => length(value, scale.metres);
  const { worst, worstFrame, worstMarker } = summary;
  const label = placements[worstMarker]?.label;
  const where = label ? `; at worst ${off(worst)}, ${label} in ${momentOf(worstFrame, clip.frameTime)}` : '';
  return `${off(summary.mean)} ${mean} ${overFrames(held)}${where}`;
}

/** The library's verdict on a recording that was followed. */
export function judgedFit(answer: TrackedAnswer): Judged {
  const { verdict, findings } = answer;
  return { what: 'fit', verdict, findings, figures: [`Markers are followed to ${errorOf(answer, 'on average')}.`] };
}

/** Fills session.tracked and says in words how it went. What was followed when it came is followed so once more: the places alone do not tell what the fit did. */
export async function trackSession(session: Session, work: Work): Promise<string> {
  const { poise, model } = session;
  const { markers, placements, scale, followed } = session.stage;
  if (!markers || placements.length === 0) {
    throw new Error('there are no markers with places on this skeleton to track');
  }
  const started = performance.now();
  const job = followed ?? {
    skeleton: poise.write({ model, scale, placements }, 'json').bytes,
    recording: { ...markerNumbers(markers), scale },
    options: { fit: 'none' as const, onlyPlacements: true },
  };
  const answer = await followRecording({ compiled: poise.compiled, ...job }, work);
  if (answer.kind === 'bare') {
    throw new Error(answer.why);
  }
  const seconds = (performance.now() - started) / 1000;
  const { distances: errors, counted: counts, byMarker, held } = answer;
  session.tracked?.clip.dispose();
  session.tracked = { clip: clipOf(poise, answer.clip, held), errors, counted: counts, byMarker, held };
  session.judged = judgedFit(answer);
  session.followMarkers = false; // the motion that was found plays
  session.changed();
  return [`${counted(answer.clip.frames, 'frame')} tracked in ${seconds.toFixed(1)} s: ${errorOf(answer, 'mean error')}.`, ...againstIt(session.judged)].join('\n');
}
