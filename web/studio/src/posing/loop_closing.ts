/** A joint of a skeleton with loops is set by hand: the others go along, so that the loops stay closed. */
import { goals as make, Solver } from 'poise-ik';
import type { Session } from '../session.js';

const ITERATIONS = 100;

/** Close the loops while a joint stays where it is, with as little change as that takes. Where that cannot be done, nothing changes. */
export function closeAround({ model, loops, q, locked }: Session, joint: number): void {
  const flags = model.joints.flatMap(({ index, nv }) => Array<boolean>(nv).fill(index === joint || locked.has(index)));
  using solver = new Solver(model, { maxIterations: ITERATIONS, locked: flags, loops });
  const closed = q.slice();
  const { outcome } = solver.solve([make.posture(Array.from(q), 1)], closed);
  if (outcome !== 'infeasible') {
    q.set(closed);
  }
}
