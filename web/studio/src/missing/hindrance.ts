/** Why goals are missed: a target lies beyond the chain that should reach it, or limits are in the way. */
import { GoalSet, type Model, type Solver } from 'poise-ik';
import type { Session } from '../session.js';
import { distance } from '../spatial.js';

const NEARER = 0.9; // of the error: where less of it is left without limits, they matter
const BEYOND = 1e-6; // radians, or length units, that a coordinate has to go to be beyond its limit

export interface Hindrance {
  /** How far a target is from the first joint that moves what should reach it, and how long the chain from there is. */
  tooFar: { joint: string; distance: number; length: number } | null;
  /** Joints whose limits keep the goals from being met, or from being met better. */
  joints: number[];
}

export const unhindered: Hindrance = { tooFar: null, joints: [] };

/** The first of the user's goals that is missed and out of reach, whatever the limits. */
function tooFar(session: Session, missed: (goal: number) => boolean): Hindrance['tooFar'] {
  const targets = session.active;
  const set = new GoalSet(session.poise, session.userGoals());
  try {
    for (const [i, { kind, position }] of targets.entries()) {
      const chain = kind !== 'aim' && missed(i) ? set.reach(i, session.model) : null;
      const away = chain ? distance(session.kinematics.bodyPose(chain.first).position, position) : 0;
      if (chain && away > chain.length) {
        return { joint: session.model.joints[chain.first]!.name, distance: away, length: chain.length };
      }
    }
    return null;
  } finally {
    set.dispose();
  }
}

/** Joints with a coordinate outside its limits. */
function jointsBeyond(model: Model, q: Float64Array): Set<number> {
  const inside = q.slice();
  model.clamp(inside);
  return new Set(model.coordinates.flatMap(({ joint }, i) => (Math.abs(q[i]! - inside[i]!) > BEYOND ? [joint] : [])));
}

/** Of the coordinates that limits hold, the joints that go on when the goals are sought for from here without limits. */
function jointsInTheWay(session: Session, held: readonly number[], free: Solver, goals: GoalSet, users: number): number[] {
  const q = session.q.slice();
  free.solve(goals, q);
  const left = free.goalErrors().slice(0, users);
  const { length, angle, errors } = session.last;
  const most = (list: typeof errors, unit: 'length' | 'angle') => Math.max(0, ...list.map((e) => (e.unit === unit ? e.error : unit === 'angle' ? e.rotationError : 0)));
  const isNearer = most(left, 'length') < NEARER * length || most(left, 'angle') < NEARER * angle;
  const beyond = isNearer ? jointsBeyond(session.model, q) : new Set<number>();
  return [...new Set(held.map((i) => session.model.coordinates[i]!.joint))].filter((joint) => beyond.has(joint));
}

/** Why the user's goals are missed as they are; `held` are the coordinates at limits, `free` solves without any. */
export function hindranceOf(session: Session, held: readonly number[], free: () => Solver, goals: GoalSet, missed: (goal: number) => boolean): Hindrance {
  const far = tooFar(session, missed);
  return { tooFar: far, joints: !far && held.length > 0 ? jointsInTheWay(session, held, free(), goals, session.active.length) : [] };
}
