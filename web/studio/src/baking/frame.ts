/**
 * One frame of a motion with goals as baking has it, but for what it smooths in time: the library's pins on that frame alone, so
 * that the screen shows what will be kept. Goals that fade are mixed with where the motion has their bodies, as the library mixes them.
 */
import { Clip, edit, type Goal, type GoalError, type Kinematics, type Model, Objective, type Poise, type Scale } from 'poise-ik';
import { mixed, placeOf, type Place } from './places.js';
import { distance } from '../spatial.js';
import { goalOf, type Target } from '../targets.js';

const KEPT = 0.01; // of a goal's weight where its fade begins, as the library has it

export interface FrameJob {
  poise: Poise;
  model: Model;
  scale: Scale;
  /** At the original pose. */
  kinematics: Kinematics;
  /** The pose to stay near to, and further ones of its motion, the first one first: they tell what carries it, and what changes weigh. */
  original: ArrayLike<number>;
  others: ArrayLike<number>[];
  targets: readonly Target[];
  /** How much the goals count. */
  share: number;
  /** nv flags. */
  locked: boolean[];
  /** Feet that no goal moves stay on their path. */
  keepFeet: boolean;
}

export interface FrameAnswer {
  q: Float64Array;
  iterations: number;
  errors: GoalError[];
}

/** What a goal asks for in a frame. */
function goalIn({ kinematics, share }: FrameJob, target: Target): Goal {
  if (share >= 1) {
    return goalOf(target);
  }
  const away = distance(kinematics.point(target.body, target.local.position), target.position);
  const place: Place = mixed(placeOf(kinematics, target, away), target, share);
  return goalOf({ ...target, ...place, weight: target.weight * (KEPT + (1 - KEPT) * share) });
}

export function bakeFrame(job: FrameJob): FrameAnswer {
  const { poise, model, scale, original, others, locked, keepFeet, targets } = job;
  const goals = targets.map((target) => goalIn(job, target));
  using clip = Clip.create(poise, [others[0] ?? original, original, ...others.slice(1)], 1); // frame 1 is the one that is asked for
  using made = edit({ model, clip, scale }, { pins: goals.map((goal) => ({ goal, from: 1, to: 1, fade: 0 })), locked, keepFeet });
  const q = made.clip.frame(1).slice();
  using measure = new Objective(model, goals);
  measure.evaluate(q);
  return { q, iterations: made.iterations, errors: measure.goalErrors() };
}
