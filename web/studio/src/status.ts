/** How the last frame went, in a few words. */
import type { Session } from './session.js';

/** good: as wanted; fair: as near as it gets; poor: not where it should be; idle: nothing to do. */
export type Tone = 'good' | 'fair' | 'poor' | 'idle';

const DEGREES = 180 / Math.PI;
const MOST_NAMES = 3; // of joints at their limits
const SMALL = 1e-6; // the tolerance of the solvers

/** A number with two or three digits that count, never with an exponent where people would not use one. */
export function brief(value: number): string {
  return Math.abs(value) >= 100 ? value.toFixed(0) : Math.abs(value) >= 10 ? value.toFixed(1) : String(+value.toPrecision(2));
}

/** A count with its noun: 1 frame, 2 frames. */
export const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;

/** A length with its unit, where that is known. */
export function length(value: number, metres: number): string {
  if (!(metres > 0)) {
    return brief(value);
  }
  const mm = 1000 * metres * value;
  return mm >= 1000 ? `${(mm / 1000).toFixed(2)} m` : mm >= 0.1 ? `${brief(mm)} mm` : '< 0.1 mm';
}

/** What the user's goals are short of. */
function missing(session: Session): string[] {
  const { last, stage } = session;
  const words: string[] = [];
  if (last.length > SMALL) {
    words.push(`${length(last.length, stage.scale.metres)} away`);
  }
  if (last.angle > 100 * SMALL) {
    words.push(`${brief(DEGREES * last.angle)}° off`);
  }
  if (last.limits > 0 && words.length > 0) {
    const names = session.heldJoints.map((joint) => session.model.joints[joint]!.name);
    const shown = names.length > MOST_NAMES ? `${names.slice(0, MOST_NAMES).join(', ')} and ${names.length - MOST_NAMES} more` : names.join(', ');
    words.push(`${last.limits === 1 ? '1 limit holds' : `${last.limits} limits hold`}${names.length > 0 ? `: ${shown}` : ''}`);
  }
  return words;
}

function effort(session: Session): string[] {
  const { last, mode, followMarkers } = session;
  const unit = mode === 'express' && !followMarkers ? 'evaluation' : 'iteration';
  return [counted(last.iterations, unit), last.iterations > 0 ? `${last.milliseconds.toFixed(2)} ms` : ''];
}

const say = (tone: Tone, ...words: string[]) => ({ tone, text: words.filter(Boolean).join(' · ') });

/** Markers and how they are followed. Only the library's verdict on the whole recording makes it green. */
function following(session: Session, more: string[]): { text: string; tone: Tone } {
  const off = session.markerError();
  const isHeld = !session.followMarkers && session.tracked?.held[session.frame] === 1;
  const markers = isHeld ? 'too few markers to trust here: the last good pose is held' : Number.isFinite(off) ? `follows markers to ${length(off, session.stage.scale.metres)}` : 'no marker is seen';
  if (!session.tracked) {
    return say('idle', markers, 'not judged yet: track all frames', ...more);
  }
  const { verdict, reasons } = session.tracked;
  const head = { good: [], doubtful: ['doubtful fit', reasons[0] ?? ''], failed: ['wrong fit', reasons[0] ?? ''] }[verdict];
  return say(({ good: 'good', doubtful: 'fair', failed: 'poor' } as const)[verdict], ...head, markers, ...more);
}

/** How the last frame went, and which shapes are too near. */
export function describe(session: Session): { text: string; tone: Tone } {
  const { text, tone } = outcomeOf(session);
  const pairs = session.collisions?.describe(session.near, session.stage.scale.metres) ?? '';
  return { text: pairs ? `${text} · ${pairs}` : text, tone: pairs.startsWith('held') || !pairs ? tone : 'poor' };
}

function outcomeOf(session: Session): { text: string; tone: Tone } {
  const { last, stage, followMarkers } = session;
  if (session.byHand) {
    return say('idle', 'posed by hand', session.plays ? 'the motion waits: play it, or move the time' : '');
  }
  if (session.tracked && !followMarkers && last.outcome === '') {
    return following(session, []);
  }
  if (last.outcome === '') {
    return say('idle', !session.hasSkeleton ? counted(stage.markers?.count ?? 0, 'marker') : session.plays ? 'plays as recorded' : session.duration > 0 ? 'as recorded' : 'no goals');
  }
  if (last.outcome === 'budget') {
    return say('fair', 'still on its way', ...missing(session), ...effort(session));
  }
  if (last.outcome === 'infeasible') {
    return say('poor', 'no pose was found that keeps the shapes apart', ...missing(session), ...effort(session));
  }
  if (last.outcome === 'stalled') {
    return say('poor', 'stuck', ...missing(session), ...effort(session));
  }
  if (followMarkers) {
    return following(session, [...missing(session), ...effort(session)]);
  }
  const words = missing(session);
  const compromise = session.motion && last.outcome === 'closest';
  const head = words.length === 0 ? 'reached' : compromise ? 'between goals and motion' : 'as near as it gets';
  return say(words.length === 0 || compromise ? 'good' : 'fair', head, ...words, ...effort(session));
}
