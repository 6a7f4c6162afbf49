import { PoiseError } from './errors.js';
import { Handle } from './handle.js';
import type { Address, Module } from './module.js';
import type { Poise } from './poise.js';
import { getFields, poseAt, setFields, widthOf, type Field } from './rows.js';
import {
    eulerOrders, jointTypes, WORLD, type EulerOrder, type JointType, type MutableNumbers, type Numbers, type Pose,
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

const jointFields: readonly Field[] = [
    ['type', jointTypes], ['offset', 'pose'], ['axis', 'vec3'], ['axis2', 'vec3'], ['axes', 'quat'], ['order', eulerOrders],
    ['lower0', 'vec3'], ['lower3', 'quat'], ['upper0', 'vec3'], ['upper3', 'quat'], ['swing0', 'number'],
    ['swing1', 'number'], ['mimicMultiplier', 'number'], ['mimicOffset', 'number'], ['mass', 'number'],
    ['massCenter', 'vec3'],
];
const LOWER = 19; // where lower, upper and swing begin in such a row
const UPPER = 26;
const SWING = 33;

function addJoint(module: Module, builder: Address, joint: JointDescription): void {
    const { name, body, parent, mimic, lower, upper, swing, ...rest } = joint;
    const row = module.view(module.scratch, widthOf(jointFields));
    module.call('web_joint', 0, WORLD, module.scratch);
    setFields(row, jointFields, rest);
    row.set(Array.from(lower ?? []).slice(0, 7), LOWER);
    row.set(Array.from(upper ?? []).slice(0, 7), UPPER);
    row.set(swing ?? [], SWING);
    const numbers = row.slice(); // texts may move the memory
    module.withTexts([name, body, parent, mimic], (...texts) => {
        module.put(module.scratch, numbers, numbers.length);
        module.check(module.call('web_builder_joint', builder, ...texts, module.scratch));
    });
}

function addChain(module: Module, builder: Address, chain: DhDescription): void {
    const numbers = chain.rows.flatMap((row) => [
        row.a ?? 0, row.alpha ?? 0, row.d ?? 0, row.theta ?? 0, row.prismatic ? 1 : 0, row.lower ?? -Infinity,
        row.upper ?? Infinity,
    ]);
    const convention = chain.convention === 'modified' ? 1 : 0;
    module.withTexts([chain.prefix, chain.parent], (prefix = 0, parent = 0) =>
        module.withNumbers(numbers, numbers.length, (rows) =>
            module.check(module.call('web_builder_dh', builder, prefix, parent, convention, rows, chain.rows.length)),
        ),
    );
}

function addTool(module: Module, builder: Address, tool: ToolDescription): void {
    const numbers = [...tool.pose.position, ...tool.pose.rotation];
    module.withTexts([tool.name, tool.body], (name = 0, body = 0) =>
        module.withNumbers(numbers, 7, (pose) => module.check(module.call('web_builder_tool', builder, name, body, pose))),
    );
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

    /** @internal */
    constructor(module: Module, address: Address) {
        super(module, address, () => module.call('poise_model_destroy', address));
        module.call('web_model_info', address, module.scratch);
        const [joints = 0, tools = 0, nq = 0, nv = 0, lower = 0, upper = 0] = module.view(module.scratch, 6).slice();
        this.nq = nq;
        this.nv = nv;
        this.joints = readJoints(module, address, joints);
        this.tools = readTools(module, address, tools);
        this.lower = module.copyOut(lower, nq);
        this.upper = module.copyOut(upper, nq);
    }

    /** Make a model of a description. Throws when it does not hold together, and names the joint. */
    static create(poise: Poise, description: ModelDescription): Model {
        const module = poise.module;
        const builder = module.need(module.call('web_builder_create'));
        try {
            description.joints?.forEach((joint) => addJoint(module, builder, joint));
            description.chains?.forEach((chain) => addChain(module, builder, chain));
            description.tools?.forEach((tool) => addTool(module, builder, tool));
            return new Model(module, module.need(module.call('web_model_create', builder)));
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

    /** The neutral configuration: zeros and identity quaternions. It may lie outside the limits. */
    neutral(): Float64Array {
        return this.#fill(this.nq, (q) => this.module.call('poise_model_neutral', this.address, q));
    }

    /** Do all limits hold exactly? */
    isWithinLimits(q: Numbers): boolean {
        const module = this.module;
        return module.withNumbers(q, this.nq, (at) => module.call('poise_model_within_limits', this.address, at)) !== 0;
    }

    /** Move q to the nearest values within the limits. Returns how many joints were moved. */
    clamp(q: MutableNumbers): number {
        const moved = this.module.withMutable(q, this.nq, (at) => this.module.call('web_clamp', this.address, at));
        if (moved < 0) {
            throw new PoiseError('argument', 'q holds a number that is not finite, or a zero quaternion');
        }
        return moved;
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
                this.#fill(count, (out) => {
                    if (module.call(call, this.address, a, b, out) !== 0) {
                        throw new PoiseError('argument', 'a number is not finite, or a quaternion is zero');
                    }
                }),
            ),
        );
    }

    #fill(count: number, fill: (address: Address) => unknown): Float64Array {
        const address = this.module.allocate(8 * count);
        try {
            fill(address);
            return this.module.copyOut(address, count);
        } finally {
            this.module.release(address);
        }
    }

    /** A new model with the bone above each joint `scale[joint]` times as long. */
    rescale(scale: Numbers): Model {
        const rescaled = this.module.withNumbers(scale, this.joints.length, (at) =>
            this.module.call('web_model_rescale', this.address, at),
        );
        return new Model(this.module, this.module.need(rescaled));
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

function readJoints(module: Module, model: Address, count: number): Joint[] {
    const table = module.allocate(8 * 4 * Math.max(count, 1));
    module.call('web_model_table', model, table);
    const ints = new Int32Array(module.bytes.buffer, table, 8 * count).slice();
    module.release(table);
    return Array.from({ length: count }, (_, index) => {
        const row8 = ints.subarray(8 * index);
        const [type = 0, parent = WORLD, q = 0, nq = 0, v = 0, nv = 0, mimic = WORLD, subtree = 1] = row8;
        module.call('web_joint', model, index, module.scratch);
        const row = module.view(module.scratch, widthOf(jointFields));
        const { offset, axis, axis2, axes, order, mass, massCenter } = getFields<Joint>(module, row, jointFields);
        return {
            index, parent, q, nq, v, nv, mimic, subtree, offset, axis, axis2, axes, order, mass, massCenter,
            name: module.string(module.call('web_joint_name', model, index)),
            body: module.string(module.call('web_body_name', model, index)),
            type: jointTypes[type] ?? 'fixed',
            swing: [row[SWING] as number, row[SWING + 1] as number] as const,
        };
    });
}

function readTools(module: Module, model: Address, count: number): Tool[] {
    return Array.from({ length: count }, (_, index) => {
        const name = module.string(module.call('web_tool', model, index, module.scratch));
        return {
            index,
            name,
            body: module.call('web_tool_body', model, index),
            pose: poseAt(module.view(module.scratch, 7), 0),
        };
    });
}
