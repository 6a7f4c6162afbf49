import { GoalSet, type Goal } from './goals.js';
import { Handle } from './handle.js';
import type { Address } from './module.js';
import type { Model } from './model.js';
import { goalErrors, type GoalError } from './solver.js';
import type { Numbers } from './values.js';

const levels = ['cost', 'gradient', 'hessian'] as const;
const kinds = ['exact', 'gauss_newton'] as const;
const definitenesses = ['positive', 'negative', 'indefinite', 'semi_positive', 'semi_negative'] as const;

/** How much to compute: each level includes those before it. */
export type Level = (typeof levels)[number];
/** The second derivative itself, or J^T W J. */
export type HessianKind = (typeof kinds)[number];
/** The signs of the eigenvalues. */
export type Definiteness = (typeof definitenesses)[number];

/** f(q), the sum of the goals' energies, with its exact first and second derivatives along steps. */
export class Objective extends Handle {
    readonly model: Model;
    readonly #goals: GoalSet;

    /** `coupledGoals`: how many goals of the kinds relative and center_of_mass there may be. */
    constructor(model: Model, goals: readonly Goal[] = [], coupledGoals = 2) {
        const module = model.module;
        const address = module.need(module.call('web_objective_create', model.address, coupledGoals));
        super(module, address, () => module.call('poise_objective_destroy', address), [model]);
        this.model = model;
        this.#goals = new GoalSet(module);
        try {
            this.setGoals(goals);
        } catch (error) {
            this.dispose();
            throw error;
        }
    }

    /** Use these goals from now on. Throws on the first that does not suit the model. */
    setGoals(goals: readonly Goal[]): void {
        this.module.call('web_objective_goals', this.address, 0, 0);
        this.#goals.replace(goals);
        this.module.check(this.module.call('web_objective_goals', this.address, this.#goals.address, goals.length));
    }

    /** Evaluate at q and return the cost. */
    evaluate(q: Numbers, level: Level = 'cost'): number {
        const module = this.module;
        module.withNumbers(q, this.model.nq, (at) =>
            module.check(module.call('web_objective_evaluate', this.address, at, levels.indexOf(level))),
        );
        return module.call('poise_objective_cost', this.address);
    }

    /** nv numbers; needs an evaluation up to the gradient. */
    gradient(): Float64Array | null {
        const at = this.module.call('poise_objective_gradient', this.address);
        return at === 0 ? null : this.module.copyOut(at, this.model.nv);
    }

    /** nv x nv; needs an evaluation up to the Hessian. */
    hessian(kind: HessianKind = 'exact'): Float64Array {
        const count = this.model.nv * this.model.nv;
        return this.#with(count, (H) => {
            this.module.check(this.module.call('web_objective_hessian', this.address, kinds.indexOf(kind), H));
            return this.module.copyOut(H, count);
        });
    }

    /** Signs of the eigenvalues; those up to `tolerance` times the largest count as 0. */
    definiteness(kind: HessianKind = 'exact', tolerance = 1e-12): Definiteness {
        const nv = this.model.nv;
        const answer = this.#with(nv * (nv + 2), (work) =>
            this.module.call('web_objective_definiteness', this.address, kinds.indexOf(kind), tolerance, work),
        );
        this.module.check(answer < 0 ? 1 : 0);
        return definitenesses[answer] as Definiteness;
    }

    /** The error of each goal at the last evaluation. */
    goalErrors(): GoalError[] {
        const count = this.#goals.length;
        return goalErrors(this.module, count, (out) => this.module.call('web_objective_errors', this.address, count, out));
    }

    override dispose(): void {
        this.#goals.dispose();
        super.dispose();
    }

    #with<T>(count: number, use: (address: Address) => T): T {
        const memory = this.module.allocate(8 * count);
        try {
            return use(memory);
        } finally {
            this.module.release(memory);
        }
    }
}
