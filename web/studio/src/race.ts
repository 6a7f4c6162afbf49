/** Methods against each other: from the same start, to the same goals, the cost after each iteration. */
import { type Method, methods, PoiseError } from 'poise-ik';
import type { Session } from './session.js';

export interface Runner {
  method: Method;
  costs: number[];
  milliseconds: number;
  outcome: string;
  iterations: number;
}

const ITERATIONS = 60;

/** A start that is not at the goal already: the posture, or where it stands if that is far enough. */
function startOf(session: Session): Float64Array {
  return Float64Array.from(session.mode === 'express' ? session.posture : session.model.neutral());
}

/** Let them run. Methods that cannot serve the goals are refused. */
export function race(session: Session): { runners: Runner[]; refused: Method[] } {
  const goals = session.allGoals(false);
  const runners: Runner[] = [];
  const refused: Method[] = [];
  for (const method of goals.length > 0 ? methods : []) {
    const solver = session.makeSolver(method, ITERATIONS + 1, ITERATIONS);
    try {
      const q = startOf(session);
      session.model.clamp(q);
      const started = performance.now();
      const report = solver.solve(goals, q);
      const milliseconds = performance.now() - started;
      const costs = [report.startCost, ...solver.trace().map((entry) => entry.cost)];
      runners.push({ method, costs, milliseconds, outcome: report.outcome, iterations: report.iterations });
    } catch (error) {
      if (!(error instanceof PoiseError)) {
        throw error;
      }
      refused.push(method);
    } finally {
      solver.dispose();
    }
  }
  const isDone = (runner: Runner) => (runner.outcome === 'reached' ? 0 : 1);
  runners.sort((a, b) => isDone(a) - isDone(b) || (isDone(a) === 0 ? a.iterations - b.iterations : (a.costs.at(-1) ?? 0) - (b.costs.at(-1) ?? 0)));
  return { runners, refused };
}

/** The way of the solver through q, for the map of two coordinates. */
export function pathOf(session: Session): [number, number][] {
  const path: [number, number][] = [];
  const q = startOf(session);
  session.model.clamp(q);
  const goals = session.userGoals();
  const solver = session.makeSolver(session.method, 0, 1);
  try {
    path.push([q[0] ?? 0, q[1] ?? 0]);
    for (let i = 0; i < ITERATIONS && goals.length > 0; i++) {
      const report = solver.solve(goals, q);
      path.push([q[0] ?? 0, q[1] ?? 0]);
      if (report.outcome !== 'budget') {
        break;
      }
    }
  } finally {
    solver.dispose();
  }
  return path;
}
