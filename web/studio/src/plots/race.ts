/** Methods against each other: from the same start, to the same goals, each on a solver of its own. */
import { type Goal, GoalSet, type Method, methods, PoiseError, type Solver } from 'poise-ik';
import type { Session } from '../session.js';

export interface Runner {
  method: Method;
  /** Before the first iteration and after each. */
  costs: number[];
  /** Of one solve; 0 where it was not timed. */
  milliseconds: number;
  outcome: string;
  iterations: number;
}

export const ITERATIONS = 60;
const ENOUGH = 5; // milliseconds that a solve is repeated for: clocks of browsers go by tenths of one

/** Where all begin: the start that was chosen; otherwise at rest, or in the posture of an expressive robot. */
export function startOf(session: Session): Float64Array {
  const q = Float64Array.from(session.start ?? (session.mode === 'express' ? session.posture : session.model.neutral()));
  session.model.clamp(q);
  return q;
}

/** Some pose within the limits; within half a turn, or half the skeleton's size, where there are none. */
export function randomStart(session: Session): Float64Array {
  const { model } = session;
  const open = (i: number) => (model.coordinates[i]!.unit === 'length' ? 0.5 * session.size() : Math.PI);
  const q = model.neutral().map((_, i) => {
    const [low, high] = [Math.max(model.lower[i]!, -open(i)), Math.min(model.upper[i]!, open(i))];
    return low + Math.random() * (high - low);
  });
  model.clamp(q);
  return q;
}

/** Milliseconds that one solve takes, as the mean of as many as `ENOUGH` has room for. */
function timeOf(session: Session, solver: Solver, list: readonly Goal[]): number {
  const goals = new GoalSet(session.poise, list);
  const start = startOf(session);
  const began = performance.now();
  for (let count = 1; ; count++) {
    solver.q.set(start);
    solver.solve(goals);
    const spent = performance.now() - began;
    if (spent >= ENOUGH) {
      goals.dispose();
      return spent / count;
    }
  }
}

/** One method from the start, for so many iterations; null where it cannot serve the goals. */
function run(session: Session, method: Method, iterations: number, isTimed = false): (Runner & { q: Float64Array }) | null {
  const solver = session.makeSolver(method, { trace: iterations + 1, maxIterations: iterations });
  try {
    const q = startOf(session);
    const goals = session.allGoals(false);
    const report = solver.solve(goals, q);
    const costs = [report.startCost, ...solver.trace().map((entry) => entry.cost)];
    const milliseconds = isTimed ? timeOf(session, solver, goals) : 0;
    return { method, costs, milliseconds, outcome: report.outcome, iterations: report.iterations, q };
  } catch (error) {
    if (!(error instanceof PoiseError)) {
      throw error;
    }
    return null;
  } finally {
    solver.dispose();
  }
}

/** Let them run. Methods that cannot serve the goals are refused. */
export function race(session: Session): { runners: Runner[]; refused: Method[] } {
  const runners: Runner[] = [];
  const refused: Method[] = [];
  for (const method of session.allGoals(false).length > 0 ? methods : []) {
    const runner = run(session, method, ITERATIONS, true);
    if (runner) {
      runners.push(runner);
    } else {
      refused.push(method);
    }
  }
  const isDone = (runner: Runner) => (runner.outcome === 'reached' ? 0 : 1);
  runners.sort((a, b) => isDone(a) - isDone(b) || (isDone(a) === 0 ? a.iterations - b.iterations : (a.costs.at(-1) ?? 0) - (b.costs.at(-1) ?? 0)));
  return { runners, refused };
}

/** The pose that a method has after so many iterations. */
export function poseAfter(session: Session, method: Method, iterations: number): Float64Array {
  return (iterations > 0 ? run(session, method, iterations)?.q : null) ?? startOf(session);
}

/** The way of a method: its pose after 0, 1, 2, ... iterations of one solve; null where it cannot serve the goals. */
export function pathOf(session: Session, method: Method): Float64Array[] | null {
  const path = [startOf(session)];
  for (let i = 1; i <= ITERATIONS; i++) {
    const runner = run(session, method, i);
    if (!runner) {
      return null;
    }
    path.push(runner.q);
    if (runner.outcome !== 'budget') {
      break;
    }
  }
  return path;
}

/** The race as a table. */
export function raceTable(runners: readonly Runner[]): string {
  const rows = runners.flatMap(({ method, costs }) => costs.map((cost, i) => `${method},${i},${cost}`));
  return ['method,iteration,cost', ...rows, ''].join('\n');
}
