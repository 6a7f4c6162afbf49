import { PoiseError } from './errors.js';
import { Handle } from './handle.js';
import type { PoiseCoordinate } from './layouts.js';
import type { Address, Module } from './module.js';
import type { Figure } from './motion.js';
import type { Poise } from './poise.js';
import { getStruct, layoutOf, newStruct, newStructs, setStruct } from './structs.js';
import {
    WORLD, type EulerOrder, type JointType, type MutableNumbers, type Numbers, type Pose,
    type Quat, type Vec3,
} from './values.js';

/** A joint and the body it carries, as a model is described. What is left out has the default of the C library. */
export interface JointDescription {
    /** Unique among joints. */
    name: string;
    /** Of the body; default: the joint's name. */
    body?: string;
    /** Name of the parent body; left out or null: attached to the world. May come later in the list. */
    parent?: string | null;
    type: JointType;
    /** Of the joint's frame in the parent body's frame. */
    offset?: Pose;
    /** `revolute`, `prismatic`, `universal`: in the joint's frame, any length but 0. Default z. */
    axis?: Vec3;
    /** `universal`: the second axis. Default x. */
    axis2?: Vec3;
    /** All other types: the frame that x, y and z refer to. */
    axes?: Quat;
    order?: EulerOrder;
    /** Limits by coordinate, in the order of q. Left out, or short: none. */
    lower?: Numbers;
    upper?: Numbers;
    /** `swing_twist`: half-axes of the swing ellipse. */
    swing?: readonly [number, number];
    /** Name of a joint to follow. */
    mimic?: string | null;
    mimicMultiplier?: number;
    mimicOffset?: number;
    mass?: number;
    massCenter?: Vec3;
}

/** A named frame on a body: a tool tip, a marker, a camera. */
export interface ToolDescription {
    name: string;
    body: string;
    pose: Pose;
}

/** One row of a Denavit-Hartenberg table. The joint's variable adds to theta, or to d where it is prismatic. */
export interface DhRow {
    a?: number;
    alpha?: number;
    d?: number;
    theta?: number;
    prismatic?: boolean;
    lower?: number;
    upper?: number;
}

/** A serial chain as a Denavit-Hartenberg table. Its joints are called `prefix`1, `prefix`2, ..., its tool `prefix`tip. */
export interface DhDescription {
    prefix: string;
    parent?: string | null;
    convention?: 'classic' | 'modified';
    rows: readonly DhRow[];
}

/** A whole skeleton. */
export interface ModelDescription {
    joints?: readonly JointDescription[];
    chains?: readonly DhDescription[];
    tools?: readonly ToolDescription[];
}

/** A joint of a model: joint k carries body k, parents come before children. */
export interface Joint {
    readonly index: number;
    readonly name: string;
    readonly body: string;
    readonly type: JointType;
    /** Index of the parent, WORLD for a root. */
    readonly parent: number;
    /** Where its numbers start in q, and how many there are. A mimic joint has none. */
    readonly q: number;
    readonly nq: number;
    /** The same for a step. */
    readonly v: number;
    readonly nv: number;
    /** The joint it follows, or WORLD. */
    readonly mimic: number;
    /** Joints in the subtree that it heads, itself included. */
    readonly subtree: number;
    readonly offset: Pose;
    readonly axis: Vec3;
    readonly axis2: Vec3;
    readonly axes: Quat;
    readonly order: EulerOrder;
    readonly swing: readonly [number, number];
    readonly mass: number;
    readonly massCenter: Vec3;
}

export interface Tool {
    readonly index: number;
    readonly name: string;
    readonly body: number;
    /** In the body's frame. */
    readonly pose: Pose;
}

/** One number of a configuration: what it is called, and what it measures. */
export type Coordinate = PoiseCoordinate;

function addJoint(module: Module, builder: Address, joint: JointDescription): void {
    const { name, body, parent, mimic, ...plain } = joint;
    module.scoped((keep) => {
        const text = (value: string | null | undefined) => keep(module.text(value));
        const texts = { name: text(name), body: text(body), parent: text(parent), mimic: text(mimic) };
        const at = keep(newStruct(module, 'poise_joint', plain, texts));
        module.run('poise_builder_add_joint', builder, at);
    });
}

function addChain(module: Module, builder: Address, chain: DhDescription): void {
    const convention = chain.convention === 'modified' ? 1 : 0;
    module.scoped((keep) => {
        const rows = keep(newStructs(module, 'poise_dh_row', chain.rows.length));
        chain.rows.forEach((row, i) =>
            setStruct(module, 'poise_dh_row', rows + i * layoutOf('poise_dh_row').size, {
                lower: -Infinity, upper: Infinity, ...row,
            }),
        );
        const [prefix, parent] = [keep(module.text(chain.prefix)), keep(module.text(chain.parent))];
        module.run('poise_builder_add_dh', builder, prefix, parent, convention, rows, chain.rows.length);
    });
}

function addTool(module: Module, builder: Address, { name, body, pose }: ToolDescription): void {
    module.scoped((keep) => {
        const texts = { name: keep(module.text(name)), body: keep(module.text(body)) };
        module.run('poise_builder_add_tool', builder, keep(newStruct(module, 'poise_tool', { pose }, texts)));
    });
}

/** A skeleton: a tree of joints. It does not change; kinematics, solvers and clips refer to it. */
export class Model extends Handle {
    readonly nq: number;
    readonly nv: number;
    readonly joints: readonly Joint[];
    readonly tools: readonly Tool[];
    /** Limits by coordinate, nq each; -Infinity and Infinity where there is none. */
    readonly lower: Float64Array;
    readonly upper: Float64Array;
    #coordinates: readonly Coordinate[] | null = null;

    /** @internal */
    constructor(module: Module, address: Address) {
        super(module, address, () => module.call('poise_model_destroy', address));
        module.call('poise_model_info', module.scratch, address);
        const info = getStruct<Summary>(module, 'poise_model_summary', module.scratch);
        this.nq = info.nq;
        this.nv = info.nv;
        this.joints = readJoints(module, address, info.joints);
        this.tools = readTools(module, address, info.tools);
        this.lower = module.copyOut(info.lower, this.nq);
        this.upper = module.copyOut(info.upper, this.nq);
    }

    /** Make a model of a description. Throws when it does not hold together, and names the joint. */
    static create(poise: Poise, description: ModelDescription): Model {
        const module = poise.module;
        const builder = module.make('poise_builder_create');
        try {
            description.joints?.forEach((joint) => addJoint(module, builder, joint));
            description.chains?.forEach((chain) => addChain(module, builder, chain));
            description.tools?.forEach((tool) => addTool(module, builder, tool));
            return new Model(module, module.make('poise_model_create', [builder]));
        } finally {
            module.call('poise_builder_destroy', builder);
        }
    }

    /** Index of a body by name. Throws when there is none. */
    body(name: string): number {
        return this.#find('poise_model_find_body', 'body', name);
    }

    /** Index of a joint by name. Throws when there is none. */
    joint(name: string): number {
        return this.#find('poise_model_find_joint', 'joint', name);
    }

    /** Index of a tool by name. Throws when there is none. */
    tool(name: string): number {
        return this.#find('poise_model_find_tool', 'tool', name);
    }

    #find(call: string, what: string, name: string): number {
        const index = this.module.withTexts([name], (text = 0) => this.module.call(call, this.address, text));
        if (index < 0) {
            throw new PoiseError('not found', `there is no ${what} "${name}"`);
        }
        return index;
    }

    /** What the numbers of q are, in their order. */
    get coordinates(): readonly Coordinate[] {
        return (this.#coordinates ??= readCoordinates(this.module, this.address, this.nq));
    }

    /** The neutral configuration: zeros and identity quaternions. It may lie outside the limits. */
    neutral(): Float64Array {
        return this.module.filled(this.nq, (q) => this.module.call('poise_model_neutral', this.address, q));
    }

    /** The person that this skeleton is, in its neutral configuration: height 0 unless its bodies' names tell a human one. */
    figure(): Figure {
        const { module } = this;
        module.run('poise_model_figure', this.address, module.scratch);
        return getStruct(module, 'poise_figure', module.scratch);
    }

    /** Do all limits hold exactly? */
    isWithinLimits(q: Numbers): boolean {
        const module = this.module;
        return module.withNumbers(q, this.nq, (at) => module.call('poise_model_within_limits', this.address, at)) !== 0;
    }

    /** Move q to the nearest values within the limits. Returns how many joints were moved. */
    clamp(q: MutableNumbers): number {
        const { module } = this;
        return module.withMutable(q, this.nq, (at) => module.answer('int', 'poise_model_clamp', this.address, at));
    }

    /** q after the step v (nv numbers). Limits are not looked at. */
    retract(q: Numbers, v: Numbers): Float64Array {
        return this.#combine('poise_retract', q, v, this.nv, this.nq);
    }

    /** The step from one configuration to another: retract(from, step) = to. */
    difference(from: Numbers, to: Numbers): Float64Array {
        return this.#combine('poise_difference', from, to, this.nq, this.nv);
    }

    #combine(call: string, q: Numbers, other: Numbers, otherCount: number, count: number): Float64Array {
        const module = this.module;
        return module.withNumbers(q, this.nq, (a) =>
            module.withNumbers(other, otherCount, (b) =>
                module.filled(count, (out) => module.run(call, this.address, a, b, out)),
            ),
        );
    }

    /** A new model with the bone above each joint `scale[joint]` times as long. */
    rescale(scale: Numbers): Model {
        const { module } = this;
        return module.withNumbers(scale, this.joints.length, (at) =>
            new Model(module, module.make('poise_model_rescale', [this.address, at])),
        );
    }

    /** The joints from the root to a body, both included. */
    path(body: number): number[] {
        const path: number[] = [];
        for (let joint = body; joint !== WORLD; joint = this.joints[joint]?.parent ?? WORLD) {
            path.unshift(joint);
        }
        return path;
    }
}

type Summary = { joints: number; tools: number; nq: number; nv: number; lower: Address; upper: Address };

function readJoints(module: Module, model: Address, length: number): Joint[] {
    return Array.from({ length }, (_, index) => {
        module.call('poise_model_joint_info', module.scratch, model, index);
        const { given, ...info } = getStruct<Omit<Joint, 'index'> & { given: Address }>(module, 'poise_joint_info', module.scratch);
        const { offset, axis, axis2, axes, order, swing, mass, massCenter } = getStruct<Joint>(module, 'poise_joint', given);
        const mimic = Math.max(info.mimic, WORLD);
        return { index, ...info, mimic, offset, axis, axis2, axes, order, swing, mass, massCenter };
    });
}

function readTools(module: Module, model: Address, length: number): Tool[] {
    return Array.from({ length }, (_, index) => {
        module.call('poise_model_tool_info', module.scratch, model, index);
        return { index, ...getStruct<Omit<Tool, 'index'>>(module, 'poise_tool_info', module.scratch) };
    });
}

function readCoordinates(module: Module, model: Address, length: number): Coordinate[] {
    return Array.from({ length }, (_, index) => {
        module.call('poise_model_coordinate', module.scratch, model, index);
        return getStruct<Coordinate>(module, 'poise_coordinate', module.scratch);
    });
}

/** @internal The module of a model. A scene or a file, which have a model, and what is none at all are refused in words. */
export function moduleOf(model: Model): Module {
    if (!(model instanceof Model)) {
        const holder = (model as { model?: unknown } | null | undefined)?.model instanceof Model;
        throw new PoiseError('argument', holder ? 'a Model is needed: give the .model of this scene or file' : 'a Model is needed');
    }
    return model.module;
}
