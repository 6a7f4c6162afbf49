import { GoalSet, type Goal } from './goals.js';
import { Handle } from './handle.js';
import type { Address, Module } from './module.js';
import type { Model } from './model.js';
import { PoiseError } from './errors.js';
import { getFields, optionsRow, setFields, widthOf, type Field } from './rows.js';
import { outcomes, type MutableNumbers, type Numbers, type Outcome, type Pose, type Quat, type Vec3 } from './values.js';

// ---- ERIK ----

/** Options of ERIK; defaults in brackets. `express.h` of the C library says more. */
export interface ErikOptions {
    /** Index of the end [the last body]. */
    body?: number;
    /** [identity] frame of the end in that body. */
    tip?: Pose;
    /** [1] */
    orientationWeight?: number;
    /** [0.2] */
    postureWeight?: number;
    /** [0.04] an error up to this is accepted at once. */
    threshold?: number;
    /** [1.5] */
    aggravation?: number;
    /** [30] */
    maxIterations?: number;
    /** [20] */
    maxSweeps?: number;
    /** [1e-4] */
    precision?: number;
    /** [1e-6] */
    stall?: number;
    /** [0.02] radians. */
    disturbance?: number;
    /** [3] */
    window?: number;
    /** [1e-4] */
    tolerance?: number;
    /** [true] the end may be rolled by half a turn. */
    symmetricEndpoint?: boolean;
    /** [true] */
    avoidEdges?: boolean;
    /** [true] */
    offsetTrick?: boolean;
    /** [true] */
    ccdTrick?: boolean;
    /** [false] finish with the orientation to rounding. */
    exactOrientation?: boolean;
    /** [30] */
    restarts?: number;
}

export interface ErikReport {
    readonly outcome: Outcome;
    readonly reason: string;
    readonly iterations: number;
    readonly usedOffset: boolean;
    readonly usedCcd: boolean;
    readonly exact: boolean;
    /** Weighted sum of the next two, each from 0 to 1. */
    readonly error: number;
    readonly orientation: number;
    readonly posture: number;
    /** Between the end and the target, radians. */
    readonly angle: number;
    readonly activeLimits: number;
}

const erikFields: readonly Field[] = [
    ['body', 'number'], ['tip', 'pose'], ['orientationWeight', 'number'], ['postureWeight', 'number'],
    ['threshold', 'number'], ['aggravation', 'number'], ['maxIterations', 'number'], ['maxSweeps', 'number'],
    ['precision', 'number'], ['stall', 'number'], ['disturbance', 'number'], ['window', 'number'], ['tolerance', 'number'],
    ['symmetricEndpoint', 'flag'], ['avoidEdges', 'flag'], ['offsetTrick', 'flag'], ['ccdTrick', 'flag'],
    ['exactOrientation', 'flag'], ['restarts', 'number'],
];

const erikReportFields: readonly Field[] = [
    ['outcome', outcomes], ['reason', 'text'], ['iterations', 'number'], ['usedOffset', 'flag'], ['usedCcd', 'flag'],
    ['exact', 'flag'], ['error', 'number'], ['orientation', 'number'], ['posture', 'number'], ['angle', 'number'],
    ['activeLimits', 'number'],
];

function create(model: Model, call: string, defaults: string, fields: readonly Field[], options: object): Address {
    const module = model.module;
    const row = optionsRow(module, defaults, fields, options);
    try {
        return module.need(module.call(call, model.address, row));
    } finally {
        module.release(row);
    }
}

/** ERIK (Ribeiro & Paiva 2019): hold a posture while the end of a chain of hinges faces where it is told to. */
export class Erik extends Handle {
    readonly model: Model;
    /** The joints of the chain, root first, and whether each twists about its own segment. */
    readonly chain: readonly { readonly joint: number; readonly isTwister: boolean }[];

    constructor(model: Model, options: ErikOptions = {}) {
        const module = model.module;
        const address = create(model, 'web_erik_create', 'web_erik_defaults', erikFields, options);
        super(module, address, () => module.call('poise_erik_destroy', address), [model]);
        this.model = model;
        this.chain = Array.from({ length: module.call('poise_erik_joint_count', address) }, (_, i) => ({
            joint: module.call('web_erik_joint', address, i),
            isTwister: module.call('web_erik_is_twister', address, i) !== 0,
        }));
    }

    /** Find q whose shape is that of the posture and whose end has the world rotation `target`. */
    solve(posture: Numbers, target: Quat, q: MutableNumbers): ErikReport {
        return this.#run(posture, q, (p, at) =>
            this.module.call('web_erik_solve', this.address, p, ...target, at, this.module.scratch),
        );
    }

    /** The errors of any q. */
    measure(posture: Numbers, target: Quat, q: Numbers): ErikReport {
        return this.#run(posture, Float64Array.from(q), (p, at) =>
            this.module.call('web_erik_measure', this.address, p, ...target, at, this.module.scratch),
        );
    }

    /**
     * A posture from the places of the joints and the tip, root first, at any scale: angles that fit their directions. The
     * chain's joints are set in `posture`; returns the root mean square of the angles left.
     */
    postureFromPositions(positions: readonly Vec3[], posture: MutableNumbers): number {
        const misfit = this.module.withNumbers(positions.flat(), 3 * positions.length, (points) =>
            this.module.withMutable(posture, this.model.nq, (at) =>
                this.module.call('web_erik_from_positions', this.address, points, positions.length, at),
            ),
        );
        this.module.check(misfit < 0 ? 1 : 0);
        return misfit;
    }

    #run(posture: Numbers, q: MutableNumbers, call: (posture: Address, q: Address) => number): ErikReport {
        const module = this.module;
        module.withNumbers(posture, this.model.nq, (p) =>
            module.withMutable(q, this.model.nq, (at) => module.check(call(p, at))),
        );
        return getFields(module, module.view(module.scratch, widthOf(erikReportFields)), erikReportFields);
    }
}

// ---- The successor ----

/** Options of the expressive solver; defaults in brackets. `expressive.h` of the C library says more. */
export interface ExpressiveOptions {
    /** [metric] how far joints bend; shape: bends keep their direction. */
    mode?: 'metric' | 'shape';
    /** End of the chain [the last body]. */
    body?: number;
    /** [identity] */
    tip?: Pose;
    /** [1] */
    goalWeight?: number;
    /** [0.2] */
    postureWeight?: number;
    /** [0.04] */
    threshold?: number;
    /** [1.5] */
    aggravation?: number;
    /** [1] length that counts as an error of 1. */
    lengthScale?: number;
    /** [true] */
    symmetricEndpoint?: boolean;
    /** [true] q comes in as the last answer. */
    warm?: boolean;
    /** [true] candidates that meet the goals come first. */
    exact?: boolean;
    /** [0.005] least advantage for which the last answer is left. */
    gain?: number;
    /** [0.05] */
    inertia?: number;
    /** [4] candidates refined. */
    searches?: number;
    /** [25] */
    maxIterations?: number;
    /** [16] */
    maxGoals?: number;
    /** [2] */
    coupledGoals?: number;
    /** [false] ERIK's answer is one more candidate. */
    useErik?: boolean;
}

export interface ExpressiveReport {
    readonly outcome: Outcome;
    readonly error: number;
    readonly goal: number;
    readonly posture: number;
    readonly worstLength: number;
    readonly worstAngle: number;
    readonly candidates: number;
    readonly evaluations: number;
    /** The last answer was followed. */
    readonly keptBranch: boolean;
}

const expressiveFields: readonly Field[] = [
    ['mode', ['metric', 'shape']], ['body', 'number'], ['tip', 'pose'], ['goalWeight', 'number'],
    ['postureWeight', 'number'], ['threshold', 'number'], ['aggravation', 'number'], ['lengthScale', 'number'],
    ['symmetricEndpoint', 'flag'], ['warm', 'flag'], ['exact', 'flag'], ['gain', 'number'], ['inertia', 'number'],
    ['searches', 'number'], ['maxIterations', 'number'], ['maxGoals', 'number'], ['coupledGoals', 'number'],
    ['useErik', 'flag'],
];

const expressiveReportFields: readonly Field[] = [
    ['outcome', outcomes], ['error', 'number'], ['goal', 'number'], ['posture', 'number'], ['worstLength', 'number'],
    ['worstAngle', 'number'], ['candidates', 'number'], ['evaluations', 'number'], ['keptBranch', 'flag'],
];

/** Meet goals with the least change of shape: the successor of ERIK, over any goals, trees and joints. */
export class Expressive extends Handle {
    readonly model: Model;
    readonly #own: GoalSet;

    constructor(model: Model, options: ExpressiveOptions = {}) {
        const module = model.module;
        const address = create(model, 'web_expressive_create', 'web_expressive_defaults', expressiveFields, options);
        super(module, address, () => module.call('poise_expressive_destroy', address), [model]);
        this.model = model;
        this.#own = new GoalSet(module);
    }

    /** Meet the goals in the shape of `posture`. q holds the last answer and takes the next one. */
    solve(goals: readonly Goal[] | GoalSet, posture: Numbers, q: MutableNumbers): ExpressiveReport {
        const module = this.module;
        const set = this.#own.holding(goals);
        module.withNumbers(posture, this.model.nq, (p) =>
            module.withMutable(q, this.model.nq, (at) =>
                module.check(
                    module.call('web_expressive_solve', this.address, set.address, set.length, p, at, module.scratch),
                ),
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
        const set = this.#own.holding(goals);
        const run = (p: Address, a: Address, at: Address) =>
            module.check(
                module.call('web_expressive_warp', this.address, set.address, set.length, p, filter.address, dt, a, at,
                    module.scratch),
            );
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
        const row = this.module.view(this.module.scratch, widthOf(expressiveReportFields));
        return getFields(this.module, row, expressiveReportFields);
    }
}

// ---- The filter ----

/** One joint of a motion filter; defaults in brackets. Units: those of the coordinate, and seconds. */
export interface FilterJoint {
    /** [-Infinity] */
    lower?: number;
    /** [Infinity] */
    upper?: number;
    /** [2] */
    velocity?: number;
    /** [10] */
    acceleration?: number;
    /** [100] */
    jerk?: number;
    /** [0] in [0, 1): how gently it moves. */
    smoothness?: number;
    /** in [0, 1]: how much of the smoothness to take back. */
    responsiveness?: number;
    /** [0] exponent of the slowing near an end of the range. */
    soft?: number;
}

const filterFields: readonly Field[] = [
    ['lower', 'number'], ['upper', 'number'], ['velocity', 'number'], ['acceleration', 'number'], ['jerk', 'number'],
    ['smoothness', 'number'], ['responsiveness', 'number'], ['soft', 'number'],
];

function createFilter(module: Module, joints: readonly FilterJoint[]): Address {
    const width = widthOf(filterFields);
    const memory = module.allocate(8 * width * joints.length);
    try {
        joints.forEach((joint, i) => {
            module.call('web_filter_defaults', memory + 8 * width * i);
            setFields(module.view(memory + 8 * width * i, width), filterFields, joint);
        });
        return module.need(module.call('web_filter_create', memory, joints.length));
    } finally {
        module.release(memory);
    }
}

/** Set-points in, at any rate and with any jumps; smooth motion out, within limits of velocity, acceleration and jerk. */
export class MotionFilter extends Handle {
    readonly count: number;
    readonly #setpoints: Address;
    readonly #x: Address;

    /** `owner`: the instance, or any model of it. */
    constructor(owner: { readonly module: Module }, joints: readonly FilterJoint[]) {
        const module = owner.module;
        const address = createFilter(module, joints);
        const setpoints = module.allocate(8 * joints.length);
        const x = module.allocate(8 * joints.length);
        super(module, address, () => {
            module.call('poise_filter_destroy', address);
            module.release(setpoints);
            module.release(x);
        });
        this.count = joints.length;
        this.#setpoints = setpoints;
        this.#x = x;
    }

    /** Come to rest at x, clamped to the limits. */
    reset(x: Numbers): void {
        const module = this.module;
        module.withNumbers(x, this.count, (at) => module.check(module.call('web_filter_reset', this.address, at)));
    }

    /** Go on by dt seconds towards the set-points. Returns the positions: a view, valid until the next call. */
    step(setpoints: Numbers, dt: number): Float64Array {
        const module = this.module;
        module.put(this.#setpoints, setpoints, this.count);
        module.check(module.call('web_filter_step', this.address, this.#setpoints, dt, this.#x));
        return module.view(this.#x, this.count);
    }

    /** Positions, velocities and accelerations after the last step. */
    state(): { x: Float64Array; velocity: Float64Array; acceleration: Float64Array } {
        const size = 8 * this.count;
        const memory = this.module.allocate(3 * size);
        this.module.call('poise_filter_state', this.address, memory, memory + size, memory + 2 * size);
        const [x, velocity, acceleration] = [0, 1, 2].map((i) => this.module.copyOut(memory + i * size, this.count));
        this.module.release(memory);
        return { x: x!, velocity: velocity!, acceleration: acceleration! };
    }

    /** Seconds until a joint comes to rest at its set-point. */
    timeLeft(joint: number): number {
        if (!(joint >= 0 && joint < this.count)) {
            throw new PoiseError('argument', `there is no joint ${joint}`);
        }
        return this.module.call('poise_filter_time_left', this.address, joint);
    }
}
