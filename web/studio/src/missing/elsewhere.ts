/** Goals that are missed, sought for from other starts, as `poise solve` does with its restarts: a part of the work at a time. */
import type { GoalError, Report } from 'poise-ik';
import type { Session } from '../session.js';

const ROUNDS = 6;
const STARTS = 5; // of a round: 30 in all, as the command has them
const ITERATIONS = 100; // from each
const PATIENCE = 40; // milliseconds of one part of the work
const MUCH = 0.5; // of the error that is left: a pose that does not reach, either, is worth a jump if it is that near

export interface Elsewhere {
  q: Float64Array;
  report: Report;
  errors: GoalError[];
}

const missOf = (errors: readonly GoalError[]): number => errors.reduce((worst, e) => Math.max(worst, e.error, e.rotationError), 0);

export class Search {
  #round = 0;
  #best: (Elsewhere & { way: number; miss: number }) | null = null;
  readonly #from: Float64Array;
  readonly #miss: number;

  constructor(readonly session: Session) {
    this.#from = session.q.slice();
    this.#miss = missOf(session.last.errors);
  }

  /** Go on for a while. The pose that was found, which is the nearest of several that reach the goals; null: there is none; undefined: there is more to do. */
  work(): Elsewhere | null | undefined {
    const began = performance.now();
    while (this.#round < ROUNDS) {
      this.#try(++this.#round);
      if (performance.now() - began > PATIENCE) {
        break;
      }
    }
    const isFound = this.#best?.report.outcome === 'reached';
    return this.#round < ROUNDS && !isFound ? undefined : this.#best;
  }

  #try(seed: number): void {
    const { session } = this;
    const solver = session.makeSolver(session.method, { maxIterations: ITERATIONS, restarts: STARTS, seed });
    try {
      const q = this.#from.slice();
      const report = solver.solve(session.userGoals(), q);
      const errors = solver.goalErrors();
      const way = Math.hypot(...session.model.difference(this.#from, q));
      const [miss, isReached] = [missOf(errors), report.outcome === 'reached'];
      const best = this.#best;
      const isBetter = !best ? isReached || miss < MUCH * this.#miss : isReached ? best.report.outcome !== 'reached' || way < best.way : best.report.outcome !== 'reached' && miss < MUCH * best.miss;
      if (report.holds && isBetter) {
        this.#best = { q, report, errors, way, miss };
      }
    } finally {
      solver.dispose();
    }
  }
}
