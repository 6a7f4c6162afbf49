import { GoalSet, type Goal } from './goals.js';
import { Handle } from './handle.js';
import type { Address } from './module.js';
import { moduleOf, type Model } from './model.js';
import { goalErrors, type GoalError } from './solver.js';
import { getStruct } from './structs.js';
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
        const module = moduleOf(model);
        const address = module.make('poise_objective_create', [model.address, coupledGoals]);
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
        this.module.run('poise_objective_set_goals', this.address, 0, 0);
        this.#goals.holding(goals, this.model);
        this.module.run('poise_objective_set_goals', this.address, this.#goals.address, goals.length);
    }

    /** Evaluate at q and return the cost. */
    evaluate(q: Numbers, level: Level = 'cost'): number {
        const module = this.module;
        module.withNumbers(q, this.model.nq, (at) =>
            module.run('poise_objective_evaluate', this.address, at, levels.indexOf(level)),
        );
        return this.#value().cost;
    }

    #value(): { cost: number; gradient: Address } {
        const { module } = this;
        module.call('poise_objective_value', module.scratch, this.address);
        return getStruct(module, 'poise_value', module.scratch);
    }

    /** nv numbers; needs an evaluation up to the gradient. */
    gradient(): Float64Array | null {
        const at = this.#value().gradient;
        return at === 0 ? null : this.module.copyOut(at, this.model.nv);
    }

    /** nv x nv; needs an evaluation up to the Hessian. */
    hessian(kind: HessianKind = 'exact'): Float64Array {
        return this.module.filled(this.model.nv ** 2, (H) =>
            this.module.run('poise_objective_hessian', this.address, kinds.indexOf(kind), H),
        );
    }

    /** Signs of the eigenvalues; those up to `tolerance` times the largest count as 0. */
    definiteness(kind: HessianKind = 'exact', tolerance = 1e-12): Definiteness {
        const { module, model } = this;
        return module.scoped((keep) => {
            const work = keep(module.allocate(8 * model.nv * (model.nv + 2)));
            const call = 'poise_objective_definiteness';
            return definitenesses[module.answer('int', call, this.address, kinds.indexOf(kind), tolerance, work)]!;
        });
    }

    /** The error of each goal at the last evaluation. */
    goalErrors(): GoalError[] {
        return goalErrors(this, 'poise_objective_goal_error', this.#goals.length);
    }

    override dispose(): void {
        this.#goals.dispose();
        super.dispose();
    }
}
