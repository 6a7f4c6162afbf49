import { GoalSet, type Goal } from './goals.js';
import { Handle } from './handle.js';
import type {
    Options, PoiseAimOptions, PoiseAimReport, PoiseErikOptions, PoiseErikReport, PoiseExpressiveOptions, PoiseExpressiveReport,
    PoiseFilterJoint,
} from './layouts.js';
import type { Address, Module } from './module.js';
import { moduleOf, type Model } from './model.js';
import { PoiseError } from './errors.js';
import { getStruct, getStructs, initStruct, layoutOf, memberAt, newStruct, newStructs, setStruct } from './structs.js';
import type { MutableNumbers, Numbers, Quat, Vec3 } from './values.js';

// ---- ERIK ----

/** Options of ERIK; defaults in brackets. `express.h` of the C library says more. */
export type ErikOptions = Options<PoiseErikOptions>;

export type ErikReport = PoiseErikReport;

/** What `call` makes of a model and options. */
function create(model: Model, call: string, struct: string, options: object): Address {
    const module = model.module;
    return module.scoped((keep) => {
        const row = keep(newStruct(module, struct, options));
        return module.make(call, [model.address, row]);
    });
}

/** ERIK (Ribeiro & Paiva 2019): hold a posture while the end of a chain of hinges faces where it is told to. */
export class Erik extends Handle {
    readonly model: Model;
    /** The joints of the chain, root first, and whether each twists about its own segment. */
    readonly chain: readonly { readonly joint: number; readonly isTwister: boolean }[];

    constructor(model: Model, options: ErikOptions = {}) {
        const module = moduleOf(model);
        const address = create(model, 'poise_erik_create', 'poise_erik_options', options);
        super(module, address, () => module.call('poise_erik_destroy', address), [model]);
        this.model = model;
        module.call('poise_erik_joints', module.scratch, address);
        const { count, links } = getStruct<{ count: number; links: Address }>(module, 'poise_erik_chain', module.scratch);
        this.chain = getStructs<{ index: number; isTwister: boolean }>(module, 'poise_erik_link', links, count).map(
            ({ index, isTwister }) => ({ joint: index, isTwister }),
        );
    }

    /** Find q whose shape is that of the posture and whose end has the world rotation `target`. */
    solve(posture: Numbers, target: Quat, q: MutableNumbers): ErikReport {
        return this.#run('poise_erik_solve', posture, target, q);
    }

    /** The errors of any q. */
    measure(posture: Numbers, target: Quat, q: Numbers): ErikReport {
        return this.#run('poise_erik_measure', posture, target, Float64Array.from(q));
    }

    /**
     * A posture from the places of the joints and the tip, root first, at any scale: angles that fit their directions. The
     * chain's joints are set in `posture`; returns the root mean square of the angles left.
     */
    postureFromPositions(positions: readonly Vec3[], posture: MutableNumbers): number {
        const { module, model } = this;
        return module.withNumbers(positions.flat(), 3 * positions.length, (points) =>
            module.withMutable(posture, model.nq, (at) =>
                module.answer('number', 'poise_erik_posture_from_positions', this.address, points, positions.length, at),
            ),
        );
    }

    #run(call: string, posture: Numbers, target: Quat, q: MutableNumbers): ErikReport {
        const { module, model } = this;
        module.withNumbers(posture, model.nq, (p) =>
            module.withMutable(q, model.nq, (at) =>
                module.run(call, this.address, p, module.byValue(target), at, module.scratch),
            ),
        );
        return getStruct(module, 'poise_erik_report', module.scratch);
    }
}

// ---- The successor ----

/** Options of the expressive solver; defaults in brackets. `expressive.h` of the C library says more. */
export type ExpressiveOptions = Options<PoiseExpressiveOptions>;

export type ExpressiveReport = PoiseExpressiveReport;

/** Meet goals with the least change of shape: the successor of ERIK, over any goals, trees and joints. */
export class Expressive extends Handle {
    readonly model: Model;
    readonly #own: GoalSet;

    constructor(model: Model, options: ExpressiveOptions = {}) {
        const module = moduleOf(model);
        const address = create(model, 'poise_expressive_create', 'poise_expressive_options', options);
        super(module, address, () => module.call('poise_expressive_destroy', address), [model]);
        this.model = model;
        this.#own = new GoalSet(module);
    }

    /** Meet the goals in the shape of `posture`. q holds the last answer and takes the next one. */
    solve(goals: readonly Goal[] | GoalSet, posture: Numbers, q: MutableNumbers): ExpressiveReport {
        const module = this.module;
        const set = this.#own.holding(goals, this.model);
        module.withNumbers(posture, this.model.nq, (p) =>
            module.withMutable(q, this.model.nq, (at) =>
                module.run('poise_expressive_solve', this.address, set.address, set.length, p, at, module.scratch),
            ),
        );
        return this.#report();
    }

    /**
     * One frame of an animation warped to goals, brought there by a filter within its limits of velocity, acceleration and
     * jerk. `answer` is the last solved configuration in and the next one out, `q` what to show after `dt` seconds.
     */
    warp(
        goals: readonly Goal[] | GoalSet, posture: Numbers, filter: MotionFilter, dt: number, answer: MutableNumbers,
        q: MutableNumbers,
    ): ExpressiveReport {
        const { module, model } = this;
        const set = this.#own.holding(goals, this.model);
        const run = (p: Address, a: Address, at: Address) =>
            module.run('poise_expressive_warp', this.address, set.address, set.length, p, filter.address, dt, a, at,
                module.scratch);
        module.withNumbers(posture, model.nq, (p) =>
            module.withMutable(answer, model.nq, (a) => module.withMutable(q, model.nq, (at) => run(p, a, at))),
        );
        return this.#report();
    }

    override dispose(): void {
        this.#own.dispose();
        super.dispose();
    }

    #report(): ExpressiveReport {
        return getStruct(this.module, 'poise_expressive_report', this.module.scratch);
    }
}

// ---- Facing something ----

/** What an end faces: its rotation, the direction of its axis, or the point that its axis points to. */
export type AimTarget = { orientation: Quat } | { direction: Vec3 } | { point: Vec3 };

/** Options of Aim; `held` [none]: bodies that stay where the posture has them, at most 8. */
export type AimOptions = Partial<Pick<PoiseAimOptions, 'body' | 'tip' | 'axis' | 'method' | 'symmetric' | 'held'>>;

export type AimReport = PoiseAimReport;

/** Holds a posture while an end faces something, by either method, measured alike. */
export class Aim extends Handle {
    readonly model: Model;

    constructor(model: Model, { held = [], ...options }: AimOptions = {}) {
        const module = moduleOf(model);
        const address = create(model, 'poise_aim_create', 'poise_aim_options', { ...options, held, heldCount: held.length });
        super(module, address, () => module.call('poise_aim_destroy', address), [model]);
        this.model = model;
    }

    /** Face the target in the shape of `posture`. `follows`: q holds the last answer of a sequence; it takes the next one. */
    solve(target: AimTarget, posture: Numbers, q: MutableNumbers, follows = false): AimReport {
        const { module, model } = this;
        const values = 'orientation' in target ? { kind: 'orientation', rotation: target.orientation }
            : 'direction' in target ? { kind: 'direction', vector: target.direction }
            : { kind: 'point', vector: target.point };
        return module.scoped((keep) => {
            const row = keep(newStruct(module, 'poise_aim_target', values));
            const report = keep(newStructs(module, 'poise_aim_report'));
            module.withNumbers(posture, model.nq, (p) =>
                module.withMutable(q, model.nq, (at) =>
                    module.run('poise_aim_solve', this.address, row, p, follows ? 1 : 0, at, report)));
            return getStruct<AimReport>(module, 'poise_aim_report', report);
        });
    }
}

// ---- The filter ----

/** One joint of a motion filter; defaults in brackets. Units: those of the coordinate, and seconds. */
export type FilterJoint = Options<PoiseFilterJoint>;

const filterModes = ['time_optimal', 'nutty', 'off'] as const;

function createFilter(module: Module, joints: readonly FilterJoint[], model?: Model): Address {
    return module.scoped((keep) => {
        const list = keep(newStructs(module, 'poise_filter_joint', joints.length));
        joints.forEach((joint, i) => {
            const at = list + i * layoutOf('poise_filter_joint').size;
            const { mode = 'time_optimal', ...numbers } = joint;
            initStruct(module, 'poise_filter_joint', at);
            setStruct(module, 'poise_filter_joint', at, numbers);
            module.data.setInt32(memberAt('poise_filter_joint', at, 'mode'), filterModes.indexOf(mode), true);
        });
        return module.make('poise_filter_create', [model ? model.address : 0, joints.length > 0 ? list : 0, joints.length]);
    });
}

/** Set-points in, at any rate and with any jumps; smooth motion out, within limits of velocity, acceleration and jerk. */
export class MotionFilter extends Handle {
    readonly count: number;
    readonly #dofs: number;
    readonly #setpoints: Address;
    readonly #x: Address;

    /**
     * The joints of a model as set-points for a robot or character are filtered: a root that moves freely is let through.
     * `metres` [0]: in a length unit of the model, so that limits count in metres; 0: not known.
     */
    static jointsOf(model: Model, metres = 0): FilterJoint[] {
        const { module } = model;
        return module.scoped((keep) => {
            const list = keep(newStructs(module, 'poise_filter_joint', model.joints.length));
            module.call('poise_filter_joints', model.address, metres, list);
            return model.joints.map((_, i) => {
                const at = list + i * layoutOf('poise_filter_joint').size;
                const mode = filterModes[module.data.getInt32(memberAt('poise_filter_joint', at, 'mode'), true)]!;
                const lengthUnit = module.data.getFloat64(memberAt('poise_filter_joint', at, 'lengthUnit'), true);
                return { mode, lengthUnit };
            });
        });
    }

    /**
     * `owner`: the instance, or any model of it. With `model`, whole configurations are filtered within its limits, and there is
     * one entry of `joints` for each of its joints, or none.
     */
    constructor(owner: { readonly module: Module }, joints: readonly FilterJoint[], model?: Model) {
        const module = owner.module;
        if (model && joints.length > 0 && joints.length !== model.joints.length) {
            throw new PoiseError('argument', `${joints.length} joints for a model that has ${model.joints.length}`);
        }
        const count = model ? model.nq : joints.length;
        const address = createFilter(module, joints, model);
        const setpoints = module.allocate(8 * count);
        const x = module.allocate(8 * count);
        super(module, address, () => {
            module.call('poise_filter_destroy', address);
            module.release(setpoints);
            module.release(x);
        }, model ? [model] : []);
        this.count = count;
        this.#dofs = model ? model.nv : count;
        this.#setpoints = setpoints;
        this.#x = x;
    }

    /** Come to rest at x, clamped to the limits. */
    reset(x: Numbers): void {
        const module = this.module;
        module.withNumbers(x, this.count, (at) => module.run('poise_filter_reset', this.address, at));
    }

    /** Go on by dt seconds towards the set-points. Returns the positions: a view, valid until the next call. */
    step(setpoints: Numbers, dt: number): Float64Array {
        const module = this.module;
        module.put(this.#setpoints, setpoints, this.count);
        module.run('poise_filter_step', this.address, this.#setpoints, dt, this.#x);
        return module.view(this.#x, this.count);
    }

    /** Positions, velocities, accelerations and seconds until rest after the last step. */
    state(): { x: Float64Array; velocity: Float64Array; acceleration: Float64Array; timeLeft: Float64Array } {
        const { count, module } = this;
        const all = module.filled(4 * count, (at) =>
            module.call('poise_filter_state', this.address, at, at + 8 * count, at + 16 * count, at + 24 * count),
        );
        const part = (i: number) => all.slice(i * count, (i + 1) * count);
        return { x: part(0), velocity: part(1), acceleration: part(2), timeLeft: part(3) };
    }

    /** Has every joint come to rest at its set-point, or nearly so? */
    get rests(): boolean {
        return this.module.call('poise_filter_rests', this.address) !== 0;
    }

    /** The velocities and accelerations that it keeps, by degree of freedom; infinity: none. */
    limits(): { velocity: Float64Array; acceleration: Float64Array } {
        const dofs = this.#dofs;
        const all = this.module.filled(2 * dofs, (at) => this.module.call('poise_filter_limits', this.address, at, at + 8 * dofs));
        return { velocity: all.slice(0, dofs), acceleration: all.slice(dofs) };
    }

    /** Seconds until a joint comes to rest at its set-point. */
    timeLeft(joint: number): number {
        if (!(joint >= 0 && joint < this.count)) {
            throw new PoiseError('argument', `there is no joint ${joint}`);
        }
        return this.state().timeLeft[joint] as number;
    }
}
