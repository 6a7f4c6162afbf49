/** How the last frame went, in a few words. */
import type { GoalError } from 'poise-ik';
import { Held } from './recording/recording_job.js';
import type { Session } from './session.js';
import { goalName } from './targets.js';
import { headingOf, reasonOf, toneOf } from './verdict_words.js';

/** good: as wanted; fair: as near as it gets; poor: not where it should be; idle: nothing to do. */
export type Tone = 'good' | 'fair' | 'poor' | 'idle';

const DEGREES = 180 / Math.PI;
const MOST_NAMES = 3; // of joints at their limits
const TICK = 0.1; // milliseconds that a browser's clock tells apart
const SMALL = 1e-6; // the tolerance of the solvers
const SLIGHT = 0.002; // sizes of the skeleton, and radians: 4 mm of a person, by which a goal may give way to a motion

/** A number with two or three digits that count, never with an exponent where people would not use one. */
export function brief(value: number): string {
  return Math.abs(value) >= 100 ? value.toFixed(0) : Math.abs(value) >= 10 ? value.toFixed(1) : String(+value.toPrecision(2));
}

/** A time in the unit that suits it. */
export const duration = (milliseconds: number): string => (milliseconds < 1 ? `${brief(1000 * milliseconds)} µs` : `${brief(milliseconds)} ms`);

/** A count with its noun: 1 frame, 2 frames. */
export const counted = (count: number, noun: string, nouns = `${noun}s`): string => `${count} ${count === 1 ? noun : nouns}`;

/** A frame, with its time. */
export const momentOf = (frame: number, frameTime: number): string => `frame ${frame} (${(frame * frameTime).toFixed(2)} s)`;

/** A length with its unit, where that is known. */
export function length(value: number, metres: number): string {
  if (!(metres > 0)) {
    return brief(value);
  }
  const mm = 1000 * metres * value;
  return mm >= 1000 ? `${(mm / 1000).toFixed(2)} m` : mm >= 0.1 ? `${brief(mm)} mm` : '< 0.1 mm';
}

/** Of several goals, which one is as far off as that: its name, with a colon. */
function whose({ active, last, model, pulled }: Session, isIt: (error: GoalError) => boolean): string {
  const target = active.length > 1 ? active[last.errors.findIndex(isIt)] : undefined;
  return target && target !== pulled ? `${goalName(model, target)}: ` : '';
}

/** What the user's goals are short of. */
function missing(session: Session): string[] {
  const { last, stage } = session;
  const words: string[] = [];
  const far = whose(session, ({ unit, error }) => unit === 'length' && error === last.length);
  const turned = whose(session, ({ unit, error, rotationError }) => (unit === 'angle' ? error : rotationError) === last.angle);
  if (last.length > SMALL) {
    words.push(`${far}${length(last.length, stage.scale.metres)} away`);
  }
  if (last.angle > 100 * SMALL) {
    words.push(`${words.length > 0 && turned === far ? '' : turned}${brief(DEGREES * last.angle)}° off`);
  }
  const { joints } = session.hindrance;
  if (joints.length > 0) {
    const names = joints.map((joint) => session.model.joints[joint]!.name);
    const shown = names.length > MOST_NAMES ? `${names.slice(0, MOST_NAMES).join(', ')} and ${names.length - MOST_NAMES} more` : names.join(', ');
    words.push(`${joints.length === 1 ? '1 limit holds' : `${joints.length} limits hold`}: ${shown}`);
  }
  return words;
}

/** A target that nothing could reach, whatever the limits. */
function tooFar({ hindrance: { tooFar: far }, stage }: Session): string | null {
  const [away, chain] = [far?.distance ?? 0, far?.length ?? 0].map((x) => length(x, stage.scale.metres));
  return far && `out of reach: ${away} from ${far.joint}, the chain is ${chain} long`;
}

function effort(session: Session): string[] {
  const { last, mode, followMarkers } = session;
  const unit = mode === 'express' && !followMarkers ? 'evaluation' : 'iteration';
  const time = last.milliseconds < TICK ? `< ${TICK} ms` : `${last.milliseconds.toFixed(1)} ms`;
  return [counted(last.iterations, unit), last.iterations > 0 ? time : ''];
}

const heldWords = {
  [Held.doubted]: 'too few markers to trust here: the last good pose is held',
  [Held.away]: 'nobody is there: the nearest pose that counts is held',
} as const;

const say = (tone: Tone, ...words: string[]) => ({ tone, text: words.filter(Boolean).join(' · ') });

/** Markers and how they are followed. Only the library's verdict on the whole recording makes it green. */
function following(session: Session, more: string[]): { text: string; tone: Tone } {
  const off = session.markerError();
  const held = session.followMarkers ? Held.no : (session.tracked?.held[session.frame] ?? Held.no);
  const markers = held !== Held.no ? heldWords[held as 1 | 2] : Number.isFinite(off) ? `follows markers to ${length(off, session.stage.scale.metres)}` : 'no marker is seen';
  const { judged } = session;
  const isMissed = session.followMarkers && missing(session).length > 0; // goals of the user beside the markers
  return session.tracked && judged ? say(isMissed && judged.verdict === 'good' ? 'fair' : toneOf[judged.verdict], ...verdictWords(session), markers, ...more) : say('idle', markers, 'not judged yet: track all frames', ...more);
}

/** What the library doubts about the motion. */
function verdictWords({ judged }: Session): string[] {
  return judged && judged.verdict !== 'good' ? [headingOf(judged), reasonOf(judged)] : [];
}

/** How the last frame went, and which shapes are too near. */
export function describe(session: Session): { text: string; tone: Tone } {
  const { text, tone: found } = outcomeOf(session);
  const isDoubted = session.judged !== null && session.judged.verdict !== 'good'; // goals on a doubtful motion do not mend it
  const tone = found === 'good' && isDoubted ? 'fair' : found;
  const pairs = session.collisions?.describe(session.near, session.stage.scale.metres) ?? '';
  const open = openLoop(session);
  const isPoor = open !== '' || (pairs !== '' && !pairs.startsWith('held'));
  return { text: [text, pairs, open].filter(Boolean).join(' · '), tone: isPoor ? 'poor' : tone };
}

/** A loop of the skeleton that the pose on the screen leaves open, and what could close it; '' where all are closed. */
function openLoop(session: Session): string {
  const open = session.openLoop;
  if (!open) {
    return '';
  }
  const by = open.unit === 'length' ? length(open.gap, session.stage.scale.metres) : `${brief(DEGREES * open.gap)}°`;
  const { method, mode, last, followMarkers } = session;
  const isSolved = last.outcome !== '' && mode === 'reach' && !followMarkers;
  const why = isSolved && method !== 'auto' ? ' (the method auto holds it)' : last.outcome !== '' && !isSolved ? ' (nothing holds it here)' : '';
  return `loop open by ${by}: ${session.loopName(open.loop)}${why}`;
}

/** What moves the skeleton, where no goal does. */
function motionWords({ baked, stage: { clip, markers, motion } }: Session): string {
  return baked ? 'with the goals baked in' : motion !== undefined ? `motion: ${motion}` : clip || markers ? 'as recorded' : 'no goal acts';
}

function outcomeOf(session: Session): { text: string; tone: Tone } {
  const { last, stage, followMarkers } = session;
  if (session.byHand) {
    return say('idle', 'posed by hand', session.plays ? 'the motion waits: play it, or move the time' : '');
  }
  if (session.tracked && !session.baked && !followMarkers && last.outcome === '') {
    return following(session, []);
  }
  if (last.outcome === '' && session.judged) {
    return say(toneOf[session.judged.verdict], ...verdictWords(session), motionWords(session));
  }
  if (last.outcome === '') {
    return say('idle', !session.hasSkeleton ? counted(stage.markers?.count ?? 0, 'marker') : session.duration > 0 ? motionWords(session) : 'no goals');
  }
  if (last.outcome === 'budget') {
    return say('fair', 'still on its way', ...missing(session), ...effort(session));
  }
  if (last.outcome === 'infeasible') {
    return say('poor', session.collisions?.keeps ? 'no pose was found that keeps the shapes apart' : 'no pose was found that closes the loops', ...missing(session), ...effort(session));
  }
  if (last.outcome === 'stalled') {
    return say('poor', 'stuck', ...missing(session), ...effort(session));
  }
  if (followMarkers) {
    return following(session, [...missing(session), ...effort(session)]);
  }
  const words = missing(session);
  const compromise = session.motion && last.outcome === 'closest';
  const near = session.mayLookElsewhere ? 'not reached from here' : 'as near as it gets'; // which is not known before other poses were tried
  const head = words.length === 0 ? (last.isElsewhere ? 'reached by another pose' : 'reached') : compromise ? 'as near as it gets beside the motion' : (tooFar(session) ?? near);
  const isSlight = last.length < SLIGHT * session.size() && last.angle < SLIGHT;
  const isMet = words.length === 0 || (compromise && isSlight);
  const footing = session.footing();
  const isDoubted = footing !== null && footing.verdict !== 'good'; // all goals are met, and the figure hangs in the air
  const later = session.duration > 0 ? `this frame alone: the motion is judged when it is ${session.motion ? 'baked' : 'saved'}` : '';
  return say(isMet ? (isDoubted ? toneOf[footing.verdict] : 'good') : 'fair', head, ...(isDoubted ? [headingOf(footing), reasonOf(footing)] : []), ...words, ...effort(session), later);
}
