/**
 * Goals made part of a motion, over their range, with fades. The library does it (`poise edit --pin`), all frames in view, so that the
 * result is smooth. What it has no pins for (the expressive solver, shapes that keep apart, a timeline of keyframes alone, markers that
 * are followed) is solved frame by frame, as it is played.
 */
import { Clip, type Finding, type GoalPin, judgePath, type PinResult } from 'poise-ik';
import { beside, type Work } from '../beside.js';
import { toolOf } from '../code/problem.js';
import { placeAt } from '../keyframes.js';
import { clipNumbers } from '../recording/recording_job.js';
import type { Session } from '../session.js';
import type { Judged } from '../stage.js';
import { brief, counted, length, momentOf } from '../status.js';
import { goalOf, type Target } from '../targets.js';
import { MOST, textOf } from '../verdict_words.js';
import type { BakeAnswer, BakeJob } from './bake_job.js';
import { sweep } from './dust.js';
import { holdOf } from './hold.js';
import { jumpIn } from './jumps.js';

const PATIENCE = 40; // milliseconds of work between two looks at the page
const EXACT = 1e-5; // of the size: less is not worth a number
const SEEN = 1e-4; // metres and radians: smaller misses are not worth a word
const DEGREES = 180 / Math.PI;
const OWN_WORDS = ['unmet', 'jolted']; // findings of the library that are told with more about them here

export interface Baked {
  clip: Clip;
  /** How it went. */
  words: string;
  isDoubtful: boolean;
  /** The library's verdict, against the motion as it was; null: there was none, or it has other joints or frames. */
  judged: Judged | null;
}

/** How far a goal is missed at worst. */
interface Miss {
  name: string;
  length: number;
  angle: number;
  frame: number;
}

/** Goals act on the timeline, so that what plays is not what is kept. */
export const hasGoalsToBake = (session: Session): boolean =>
  session.duration > 0 && session.hasSkeleton && !session.followMarkers && session.targets.some(({ enabled }) => enabled);

/** A goal as the library's pin. */
export function pinOf(session: Session, target: Target): GoalPin {
  const { startTime, frameTime, frames: all } = session.motion!;
  const { first, last, fade, fadeOut } = holdOf(session.range, all, frameTime);
  const goalAt = (frame: number) => goalOf(target.keys ? { ...target, ...placeAt(target.keys, frame * frameTime) } : target);
  const at = (frame: number) => startTime + frame * frameTime;
  const frames = target.keys ? Array.from({ length: last - first + 1 }, (_, i) => first + i) : [];
  return { goal: goalAt(first), path: frames.map((frame) => ({ time: at(frame), goal: goalAt(frame) })), from: at(first), to: at(last), fade, fadeOut };
}

/** The job of the worker: to pin goals, or to judge the motion that was made. */
function jobOf(session: Session, motion: Clip, targets: readonly Target[], made: Clip | null): BakeJob {
  const { poise, model, stage } = session;
  return {
    compiled: poise.compiled,
    skeleton: poise.write({ model, scale: stage.scale }, 'json').bytes,
    clip: clipNumbers(motion),
    pins: targets.map((target) => pinOf(session, target)),
    made: made?.q.slice() ?? null,
    locked: session.lockedFlags(),
    bounds: stage.bounds ?? null,
  };
}

/** A motion with goals in it, how they are met, where a joint turns suddenly, and what the library says. */
interface Made {
  clip: Clip;
  misses: Miss[];
  jump: { frame: number; joint: string } | null;
  judged: Judged | null;
}

const judgedBy = ({ verdict, findings }: BakeAnswer): Judged => ({ what: 'baking', verdict, findings, figures: [] });

async function byPins(session: Session, motion: Clip, work: Work): Promise<Made> {
  const { model } = session;
  const targets = session.targets.filter(({ enabled }) => enabled);
  const job = jobOf(session, motion, targets, null);
  work.progress('Baking the goals into the motion', null);
  const answer = await beside<BakeAnswer>('bake_worker.js', job, work);
  const { q, pins, snapFrame, snapJoint } = answer;
  const clip = motion.trim(0, motion.frames);
  sweep(q, clip.q);
  clip.q.set(q);
  const missOf = ({ worstLength, worstAngle, worstFrame }: PinResult, i: number): Miss =>
    ({ name: model.joints[targets[i]!.body]!.body, length: worstLength, angle: worstAngle, frame: worstFrame ?? 0 });
  return { clip, misses: pins.map(missOf), jump: snapFrame === null ? null : { frame: snapFrame, joint: snapJoint ?? 'a joint' }, judged: judgedBy(answer) };
}

/** The body whose goal is farthest off in the last frame. */
function farthest({ last, targets, model }: Session): string {
  const enabled = targets.filter((target) => target.enabled);
  const off = enabled.map((_, i) => (last.errors[i]?.error ?? 0) + (last.errors[i]?.rotationError ?? 0));
  return model.joints[enabled[off.indexOf(Math.max(...off))]?.body ?? -1]?.body ?? 'one of the bodies';
}

/** The motion as it is played, frame by frame, by a twin. */
export async function asPlayed(session: Session, work: Work, what: string): Promise<{ clip: Clip; misses: Miss[] }> {
  const frames = Math.max(1, Math.round(session.duration / session.frameTime));
  const clip = Clip.create(session.poise, { frames, nq: session.model.nq }, session.frameTime, session.stage.clip?.startTime);
  const twin = session.twin();
  const worst: Miss = { name: '', length: 0, angle: 0, frame: 0 };
  let looked = performance.now();
  try {
    for (let f = 0; f < frames; f++) {
      twin.setTime(f * session.frameTime);
      const { length: off, angle } = twin.update();
      clip.frame(f).set(twin.q);
      if (twin.share() === 1 && off + angle > worst.length + worst.angle) {
        Object.assign(worst, { name: farthest(twin), length: off, angle, frame: f });
      }
      if (performance.now() - looked > PATIENCE) {
        work.progress(what, f / frames);
        await new Promise((done) => setTimeout(done));
        work.signal.throwIfAborted();
        looked = performance.now();
      }
    }
    return { clip, misses: [worst] };
  } catch (error) {
    clip.dispose();
    throw error;
  } finally {
    twin.release();
  }
}

/** Poses of a path count from 1, frames from 0. */
function asFrames(finding: Finding): Finding {
  const [first, last] = [finding.first - 1, finding.last - 1];
  return ['leapt', 'slid'].includes(finding.kind) ? { ...finding, first, last, text: finding.text.replace(/from pose \d+ to \d+/, `from frame ${first} to ${last}`) } : finding;
}

/** Keyframes alone: the path that `poise solve --path` judges, of the tool that they move. */
function judgedPath(session: Session, clip: Clip): Judged {
  const { model, frameTime } = session;
  const carried = session.targets.find(({ keys, enabled }) => keys && enabled);
  const tool = carried ? toolOf(model, carried) : null;
  const { verdict, findings } = judgePath(model, clip.q, { metres: metresOf(session), frameTime, ...(tool === null ? {} : { tool }) });
  return { what: 'baking', verdict, findings: findings.map(asFrames), figures: [] };
}

/** As it is played; judged against the motion before, where that has the same frames, or else for itself. */
async function byPlaying(session: Session, motion: Clip | null, work: Work): Promise<Made> {
  const { clip, misses } = await asPlayed(session, work, 'Baking the goals into the motion');
  if (!motion) {
    return { clip, misses, jump: null, judged: judgedPath(session, clip) };
  }
  const isComparable = motion.frames === clip.frames;
  const answer = isComparable ? await beside<BakeAnswer>('bake_worker.js', jobOf(session, motion, [], clip), work) : null;
  return { clip, misses, jump: jumpIn(session.model, motion, clip), judged: answer && judgedBy(answer) };
}

/** Metres in a length unit; where nobody knows them, the figure is taken for a person, as the library does. */
function metresOf(session: Session): number {
  const { metres } = session.stage.scale;
  return metres > 0 ? metres : 1.75 / session.size();
}

/** The worst miss in words; '' where all goals are met. */
function missing(session: Session, misses: readonly Miss[]): string {
  const { stage, frameTime, motion } = session;
  const metres = metresOf(session);
  const isSeen = (miss: Miss) => metres * miss.length > SEEN || miss.angle > SEEN;
  const [worst] = misses.filter(isSeen).sort((a, b) => metres * (b.length - a.length) + b.angle - a.angle);
  if (!worst) {
    return '';
  }
  const parts = [worst.length > 0 ? `${length(worst.length, stage.scale.metres)} away` : '', worst.angle > SEEN ? `${brief(DEGREES * worst.angle)}° off` : ''];
  const others = misses.filter(isSeen).length - 1;
  const more = others > 0 ? `, and ${counted(others, 'other goal')} ${others > 1 ? 'are' : 'is'} missed as well` : '';
  return `${worst.name} does not reach its goal: it is ${parts.filter(Boolean).join(' and ')} at worst, in ${momentOf(worst.frame, motion?.frameTime ?? frameTime)}${more}.`;
}

/** How well all goals are met. */
function metWords(session: Session, worst: number): string {
  const { metres } = session.stage.scale;
  const least = EXACT * session.size();
  return `They are met to ${metres > 0 ? length(worst, metres) : `${worst < least ? `< ${brief(least)}` : brief(worst)} length units`}.`;
}

/** The motion with the goals in it. */
export async function bake(session: Session, work: Work): Promise<Baked> {
  const { motion } = session;
  const { clip, misses, jump, judged } = motion && session.takesPins ? await byPins(session, motion, work) : await byPlaying(session, motion, work);
  const found = (judged?.findings ?? []).filter(({ kind, level }) => level !== 'good' && !OWN_WORDS.includes(kind));
  const doubts = [
    missing(session, misses),
    ...found.slice(0, MOST).map((finding) => `${textOf(finding)}.`),
    found.length > MOST ? `And ${counted(found.length - MOST, 'other finding')}, which the panel lists.` : '',
    jump ? `${jump.joint} turns suddenly in ${momentOf(jump.frame, clip.frameTime)}: a longer fade, or a nearer place, is smoother.` : '',
  ].filter(Boolean);
  const worst = Math.max(0, ...misses.map((miss) => miss.length));
  const head = 'The goals are part of the motion now, and rest.';
  const words = doubts.length > 0 ? `${head} The result is ${judged?.verdict === 'failed' ? 'wrong' : 'doubtful'}:\n${doubts.join('\n')}` : `${head} ${metWords(session, worst)}`;
  return { clip, words, isDoubtful: doubts.length > 0, judged: doubts.length > 0 && judged?.verdict === 'good' ? { ...judged, verdict: 'doubtful', figures: doubts } : judged };
}
