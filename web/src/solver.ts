import type { Clearance } from './clearance.js';
import { PoiseError } from './errors.js';
import { GoalSet, type Goal } from './goals.js';
import { Handle } from './handle.js';
import type { Options, PoiseGoalError, PoiseReport, PoiseSolverOptions, PoiseTrace } from './layouts.js';
import type { Loops } from './loops.js';
import type { Address, Module } from './module.js';
import { moduleOf, type Model } from './model.js';
import { getStruct, getStructs, layoutBut, layoutOf, memberAt, newStruct, newStructs } from './structs.js';
import { blockers, type Blocker, type Method, type MutableNumbers, type Numbers } from './values.js';

/** Options of a solver; defaults in brackets. `solve.h` of the C library says more. */
export type SolverOptions = Options<Omit<PoiseSolverOptions, 'method' | 'traceCapacity' | 'rows' | 'shapes'>> & {
    /** [auto] newton_projected: newton, as it was called. */
    method?: Method | 'newton_projected';
};

/** What a solver keeps besides its options. */
export interface SolverExtras {
    /** nv flags: coordinates that keep their value. */
    locked?: ArrayLike<boolean | number>;
    /** How many iterations of a solve to record, for `solver.trace()`. Default 0. */
    trace?: number;
    /** Shapes that every answer keeps apart, wherever one was found that does: `report.holds`. Method `auto` only. */
    clearance?: Clearance | null;
    /** Loops that every answer closes, wherever one was found that does: `report.holds`. Method `auto` only. */
    loops?: Loops | null;
}

const reportShown = layoutBut('poise_report', 'blocking', 'blockingItem');

/** @internal */
export const CLOSURE = 1e-5; // POISE_CLOSURE_OF_FILES

/** How a solve went. */
export interface Report extends Omit<PoiseReport, 'blocking' | 'blockingItem'> {
    /** Which pair of the clearance is broken most or, where all hold, has least room; -1: none is near. */
    readonly blockingPair: number;
}

/** One iteration. */
export type TraceEntry = PoiseTrace;

/** How far one goal is from being met. */
export type GoalError = PoiseGoalError;

/** @internal The errors of `count` goals, by a function of the C side. */
export function goalErrors({ module, address }: Handle, call: string, count: number): GoalError[] {
    return Array.from({ length: count }, (_, i) => {
        module.call(call, module.scratch, address, i);
        return getStruct(module, 'poise_goal_error', module.scratch);
    });
}

/** Memory of a solver besides its own. */
interface Parts {
    locked: Address;
    trace: Address;
    q: Address;
    /** Constraints that answers hold, and how many. */
    within: Address;
    count: number;
}

function makeParts(module: Module, model: Model, extras: SolverExtras): Parts {
    const parts: Parts = { locked: 0, trace: 0, q: module.allocate(8 * model.nq), within: 0, count: 0 };
    if (extras.locked) {
        if (extras.locked.length !== model.nv) {
            module.release(parts.q);
            throw new PoiseError('argument', `locked: ${model.nv} flags are needed, ${extras.locked.length} were given`);
        }
        parts.locked = module.allocate(model.nv);
        module.bytes.set(Array.from(extras.locked, (flag) => (flag ? 1 : 0)), parts.locked);
    }
    if (extras.trace) {
        parts.trace = newStructs(module, 'poise_trace', extras.trace);
    }
    const { size } = layoutOf('poise_constraint');
    const lists = [{ list: extras.clearance, count: 1 }, { list: extras.loops, count: extras.loops?.loops.length ?? 0 }];
    parts.count = lists.reduce((sum, { list, count }) => sum + (list ? count : 0), 0);
    if (parts.count > 0) {
        parts.within = newStructs(module, 'poise_constraint', parts.count);
        let at = parts.within;
        for (const { list, count } of lists) {
            if (list) {
                module.bytes.copyWithin(at, list.address, list.address + count * size);
                at += count * size;
            }
        }
    }
    return parts;
}

function makeSolver(model: Model, parts: Parts, options: SolverOptions, capacity: number): Address {
    const module = model.module;
    return module.scoped((keep) => {
        const own = { locked: parts.locked, trace: parts.trace, traceCapacity: capacity };
        const row = keep(newStruct(module, 'poise_solver_options', options, own));
        if (parts.count > 0) {
            module.call('poise_constraints_size', parts.within, parts.count, memberAt('poise_solver_options', row, 'rows'));
        }
        return module.make('poise_solver_create', [model.address, row]);
    });
}

/**
 * From goals and a start to joint values, within limits. Missing a goal is no error: the report says how near it came. A
 * goal that makes no sense, or that the method cannot serve, throws, and q is as it was.
 */
export class Solver extends Handle {
    readonly model: Model;
    readonly #parts: Parts;
    readonly #own: GoalSet;
    readonly #clearance: Clearance | null;
    #count = 0;
    #traced = 0;

    constructor(model: Model, options: SolverOptions & SolverExtras = {}) {
        const { locked, trace, clearance = null, loops = null, ...plain } = options;
        const module = moduleOf(model);
        const parts = makeParts(module, model, { locked, trace, clearance, loops });
        const releaseParts = () => [parts.locked, parts.trace, parts.q, parts.within].forEach((memory) => module.release(memory));
        let address: Address;
        try {
            address = makeSolver(model, parts, { ...(loops ? { closureTolerance: CLOSURE } : {}), ...plain }, trace ?? 0);
        } catch (error) {
            releaseParts();
            throw error;
        }
        super(module, address, () => {
            module.call('poise_solver_destroy', address);
            releaseParts();
        }, [model, ...(clearance ? [clearance] : []), ...(loops ? [loops] : [])]);
        this.model = model;
        this.#clearance = clearance;
        this.#parts = parts;
        this.#own = new GoalSet(module);
        this.q.set(model.neutral());
    }

    /** The solver's own q, in the module's memory: what `solve` works on without copying when it is given no other. */
    get q(): Float64Array {
        return this.module.view(this.#parts.q, this.model.nq);
    }

    /** Improve q for these goals. Without q: the solver's own, from where the last solve left it. */
    solve(goals: readonly Goal[] | GoalSet, q?: MutableNumbers): Report {
        const set = this.#own.holding(goals, this.model);
        const module = this.module;
        const { within, count } = this.#parts;
        const run = (at: Address) => count > 0
            ? module.run('poise_solve_within', this.address, set.address, set.length, within, count, at, module.scratch)
            : module.run('poise_solve', this.address, set.address, set.length, at, module.scratch);
        if (q) {
            module.withMutable(q, this.model.nq, run);
        } else {
            run(this.#parts.q);
        }
        this.#count = set.length;
        return this.#report();
    }

    /** All distinct answers to one pose goal on an arm, nearest to the start first. */
    solveAll(goal: Goal, start: Numbers, capacity = 16): { solutions: Float64Array[]; report: Report } {
        const set = this.#own.holding([goal], this.model);
        const module = this.module;
        const nq = this.model.nq;
        return module.scoped((keep) => {
            const memory = keep(module.allocate(8 * nq * capacity));
            const countAt = keep(module.allocate(4));
            module.withNumbers(start, nq, (from) =>
                module.run('poise_solve_all', this.address, set.address, from, memory, capacity, countAt, module.scratch),
            );
            this.#count = 1;
            const count = module.data.getInt32(countAt, true);
            const solutions = Array.from({ length: count }, (_, i) => module.copyOut(memory + 8 * nq * i, nq));
            return { solutions, report: this.#report() };
        });
    }

    /**
     * What keeps a solve from a start, without q the solver's own, from goals that it misses: each of `shapes`, `loops`,
     * `limits` and `soft goals` without which the goals are met, or `together` where that takes leaving out all limits and
     * constraints; none where the goals are missed in any case. Each kind costs a solve.
     */
    blockers(goals: readonly Goal[] | GoalSet, q: Numbers = this.q): Blocker[] {
        const set = this.#own.holding(goals, this.model);
        const module = this.module;
        const { within, count } = this.#parts;
        module.withNumbers(q, this.model.nq, (from) =>
            module.run('poise_solve_blockers', this.address, set.address, set.length, within, count, from, 0x3f, 0, module.scratch),
        );
        const bits = module.data.getUint32(module.scratch, true);
        return blockers.filter((_, bit) => (bits >> bit) & 1);
    }

    /** The error of each goal at the answer of the last solve. */
    goalErrors(): GoalError[] {
        return goalErrors(this, 'poise_solver_goal_error', this.#count);
    }

    /** Does that answer meet each goal, to the tolerances? Posture and smoothness, which only pull, are always met. */
    goalsMet(): boolean[] {
        return Array.from({ length: this.#count }, (_, i) => this.module.call('poise_solver_goal_is_met', this.address, i) !== 0);
    }

    /** For each coordinate of the last answer: -1 at its lower limit, 1 at its upper or at the edge of a swing, 0 inside. */
    activeLimits(): Int8Array {
        const { address, model, module } = this;
        return Int8Array.from({ length: model.nq }, (_, i) => module.call('poise_solver_active_limit', address, i));
    }

    /** The iterations of the last solve, as many as the option `trace` has room for. */
    trace(): TraceEntry[] {
        return getStructs(this.module, 'poise_trace', this.#parts.trace, this.#traced);
    }

    override dispose(): void {
        this.#own.dispose();
        super.dispose();
    }

    #report(): Report {
        const { data, scratch } = this.module;
        const report = getStruct<{ -readonly [K in keyof Report]: Report[K] }>(this.module, reportShown, scratch);
        const blocking = data.getInt32(memberAt('poise_report', scratch, 'blocking'), true);
        report.blockingPair = this.#clearance && blocking === 0 ? data.getInt32(memberAt('poise_report', scratch, 'blockingItem'), true) : -1;
        this.#traced = report.traced;
        return report;
    }
}
