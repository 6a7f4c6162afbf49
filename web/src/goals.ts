import { PoiseError } from './errors.js';
import { Handle } from './handle.js';
import type { Address, Module } from './module.js';
import type { Model } from './model.js';
import type { Poise } from './poise.js';
import { getStruct, getStructs, initStruct, layoutOf, memberAt, newStruct, newStructs, poseOf, setStruct } from './structs.js';
import {
    goalKinds, identityPose, type GoalKind, type Loss, type Numbers, type Pose, type Quat, type Vec3,
} from './values.js';

/**
 * The energy of a `callback` goal and its derivatives along small moves (omega, u) of the body, a rotation vector and a
 * translation in world axes. Matrices are 6 x 6, row by row.
 */
export interface BodyEnergy {
    energy: number;
    gradient: Numbers;
    hessian: Numbers;
    /** A positive semidefinite stand-in; left out: the Hessian. */
    gaussNewton?: Numbers;
}

/** What the skeleton should do. Make one with `goals.position` and its like; what is left out has its default. */
export interface Goal {
    kind: GoalKind;
    /** Index of the body. Not for posture, smoothness and centre of mass. */
    body?: number;
    /** `relative`: the body to follow, WORLD for none. */
    body2?: number;
    /** 0 first; for the method `priority`. */
    priority?: number;
    /** Of lengths, or of the only error there is. Default 1. */
    weight?: number;
    loss?: Loss;
    lossScale?: number;
    /** Half-widths of the band in which an error costs nothing, along the target's axes; Infinity frees an axis. */
    tolerance?: Vec3;
    /** The point or frame, in the body's frame. */
    local?: Pose;
    /** Where it should be: in the world, or for `relative` in the frame of body2. */
    target?: Pose;
    /** `direction`, `aim`: in the body's frame. */
    axis?: Vec3;
    /** `direction`, `plane`, `line`: in the world. */
    direction?: Vec3;
    /** `distance`. */
    distance?: number;
    /** `pose`, `relative`. Default 1. */
    rotationWeight?: number;
    rotationTolerance?: Vec3;
    /** `posture`: the posture; `smoothness`: the last frame; nq numbers. */
    q?: Numbers;
    /** `smoothness`: the frame before that. */
    qBefore?: Numbers;
    /** `posture`, `smoothness`: nv weights. */
    qWeights?: Numbers;
    /** `callback`. Null lets the goal drop out of this evaluation. */
    energy?: (pose: Pose) => BodyEnergy | null;
}

/** Anything of a goal that its constructor does not set. */
export type GoalExtras = Partial<Omit<Goal, 'kind'>>;

const at = (position: Vec3): Pose => ({ position, rotation: identityPose.rotation });
const turned = (rotation: Quat): Pose => ({ position: identityPose.position, rotation });

/** Constructors of goals. */
export const goals = {
    /** The point `local` of a body at the world point `target`: a marker. */
    position: (body: number, local: Vec3, target: Vec3, extras: GoalExtras = {}): Goal =>
        ({ kind: 'position', body, local: at(local), target: at(target), ...extras }),

    /** The direction `axis` of a body along the world direction `direction`. */
    direction: (body: number, axis: Vec3, direction: Vec3, extras: GoalExtras = {}): Goal =>
        ({ kind: 'direction', body, axis, direction, ...extras }),

    /** The body's rotation as `target`. */
    orientation: (body: number, target: Quat, extras: GoalExtras = {}): Goal =>
        ({ kind: 'orientation', body, target: turned(target), ...extras }),

    /** The frame `local` of a body at the world pose `target`. */
    pose: (body: number, local: Pose, target: Pose, extras: GoalExtras = {}): Goal =>
        ({ kind: 'pose', body, local, target, ...extras }),

    /** The direction `axis` at the point `local` of a body, towards the world point `target`: a gaze. */
    aim: (body: number, local: Vec3, axis: Vec3, target: Vec3, extras: GoalExtras = {}): Goal =>
        ({ kind: 'aim', body, local: at(local), axis, target: at(target), ...extras }),

    /** The point on the plane through `origin`. */
    plane: (body: number, local: Vec3, origin: Vec3, normal: Vec3, extras: GoalExtras = {}): Goal =>
        ({ kind: 'plane', body, local: at(local), target: at(origin), direction: normal, ...extras }),

    /** The point on the line through `origin`. */
    line: (body: number, local: Vec3, origin: Vec3, direction: Vec3, extras: GoalExtras = {}): Goal =>
        ({ kind: 'line', body, local: at(local), target: at(origin), direction, ...extras }),

    /** The point at a distance from `target`. */
    distance: (body: number, local: Vec3, target: Vec3, distance: number, extras: GoalExtras = {}): Goal =>
        ({ kind: 'distance', body, local: at(local), target: at(target), distance, ...extras }),

    /** The configuration near q. */
    posture: (q: Numbers, weight: number, extras: GoalExtras = {}): Goal => ({ kind: 'posture', q, weight, ...extras }),

    /** The configuration near the last frame, or near the extrapolation of the last two. */
    smoothness: (q: Numbers, qBefore: Numbers | undefined, weight: number, extras: GoalExtras = {}): Goal =>
        ({ kind: 'smoothness', q, qBefore, weight, ...extras }),

    /** The frame `local` of a body at `target` as seen from `body2`. */
    relative: (body: number, local: Pose, body2: number, target: Pose, extras: GoalExtras = {}): Goal =>
        ({ kind: 'relative', body, local, body2, target, ...extras }),

    /** The centre of mass at a world point. */
    centerOfMass: (target: Vec3, extras: GoalExtras = {}): Goal =>
        ({ kind: 'center_of_mass', target: at(target), ...extras }),

    /** The energy that a function gives for the pose of a body. */
    callback: (body: number, energy: (pose: Pose) => BodyEnergy | null, extras: GoalExtras = {}): Goal =>
        ({ kind: 'callback', body, energy, ...extras }),
};

const GOAL = 'poise_goal';
const ROTATION = 32; // bytes of the rotation of a pose, in front of its position

let nextEnergy = 1;

/** `place`: where to write, asked for when the function has returned, since it may make the memory grow. */
function fillEnergy(energy: (pose: Pose) => BodyEnergy | null, pose: Float64Array, place: () => Float64Array): boolean {
    const answer = energy(poseOf(pose));
    if (!answer) {
        return false;
    }
    for (const [name, count] of [['gradient', 6], ['hessian', 36], ['gaussNewton', 36]] as const) {
        const length = answer[name]?.length;
        if (length !== count && !(name === 'gaussNewton' && length === undefined)) {
            throw new PoiseError('argument', `${name}: ${count} numbers are needed, ${length ?? 'none'} were given`);
        }
    }
    const out = place();
    out[0] = answer.energy;
    out.set(answer.gradient, 1);
    out.set(answer.hessian, 7);
    if (answer.gaussNewton) {
        out.set(answer.gaussNewton, 43);
    }
    return true;
}

/** What goals refer to and must be released with them. */
interface Owned {
    address: Address;
    count: number;
    memory: Address[];
    energies: number[];
    /** Arrays of goals, which must be as long as the model asks for. */
    arrays: { goal: string; name: 'q' | 'qBefore' | 'qWeights'; length: number }[];
}

function releaseOwned(module: Module, owned: Owned): void {
    owned.memory.forEach((memory) => module.release(memory));
    owned.energies.forEach((id) => module.host.energies.delete(id));
    owned.memory = [];
    owned.energies = [];
    owned.arrays = [];
}

function setGoal(module: Module, owned: Owned, index: number, goal: Goal): void {
    const { q, qBefore, qWeights, energy, ...plain } = goal;
    const keep = (values: Numbers | undefined): Address => {
        const memory = values ? module.copyIn(values) : 0;
        owned.memory.push(memory);
        return memory;
    };
    const kind = goalKinds.indexOf(goal.kind);
    if (kind < 0) {
        throw new PoiseError('argument', `goal ${index}: "${goal.kind}" is no kind of goal`);
    }
    const said = `goal ${index} (${goal.kind})`;
    if ('body' in goal && goal.body === undefined) {
        throw new PoiseError('argument', `${said}: body is undefined`);
    }
    for (const [name, values] of Object.entries({ q, qBefore, qWeights }) as ['q' | 'qBefore' | 'qWeights', Numbers | undefined][]) {
        if (values) {
            owned.arrays.push({ goal: said, name, length: values.length });
        }
    }
    const own = { q: keep(q), qBefore: keep(qBefore), qWeights: keep(qWeights), user: 0 };
    if (energy) {
        own.user = nextEnergy++;
        owned.energies.push(own.user);
        module.host.energies.set(own.user, (pose, out) => fillEnergy(energy, pose, out));
    }
    const address = owned.address + index * layoutOf(GOAL).size;
    initStruct(module, GOAL, address);
    setStruct(module, GOAL, address, plain, own);
    module.data.setInt32(memberAt(GOAL, address, 'kind'), kind, true);
    module.call('web_goal_complete', address);
}

/**
 * Goals that stay in the module's memory from solve to solve: for a scene in which targets are dragged, or markers move.
 * Everywhere else an array of goals will do.
 */
export class GoalSet extends Handle {
    readonly #owned: Owned;
    #capacity: number;

    constructor(poise: Poise | Module, list: readonly Goal[] = []) {
        const module = 'module' in poise ? poise.module : poise;
        const owned: Owned = { address: 0, count: 0, memory: [], energies: [], arrays: [] };
        super(module, 0, () => {
            releaseOwned(module, owned);
            module.release(owned.address);
        });
        this.#owned = owned;
        this.#capacity = 0;
        this.replace(list);
    }

    /** @internal */
    override get address(): Address {
        return super.address + this.#owned.address; // the first is 0, or throws when disposed of
    }

    get length(): number {
        return this.#owned.count;
    }

    /** @internal These goals as a set: itself where it is one, else this one, filled with them. Throws unless it fits the model. */
    holding(list: readonly Goal[] | GoalSet, model: Model): GoalSet {
        if (!(list instanceof GoalSet)) {
            this.replace(list);
        }
        const set = list instanceof GoalSet ? list : this;
        set.checkArrays(model);
        return set;
    }

    /** @internal Throws unless all arrays have as many numbers as the model asks for. */
    checkArrays(model: Model): void {
        for (const { goal, name, length } of this.#owned.arrays) {
            const wanted = name === 'qWeights' ? model.nv : model.nq;
            if (length !== wanted) {
                throw new PoiseError('argument', `${goal}: ${name} has ${length} numbers, the model asks for ${wanted}`);
            }
        }
    }

    /** Use these goals from now on. */
    replace(list: readonly Goal[]): void {
        const owned = this.#owned;
        if (this.isDisposed) {
            throw new PoiseError('argument', 'this GoalSet is disposed of');
        }
        releaseOwned(this.module, owned);
        owned.count = 0;
        if (list.length > this.#capacity || owned.address === 0) {
            this.module.release(owned.address);
            owned.address = 0;
            owned.address = newStructs(this.module, GOAL, list.length);
            this.#capacity = list.length;
        }
        list.forEach((goal, index) => setGoal(this.module, owned, index, goal));
        owned.count = list.length;
    }

    /** Move the target of a goal. */
    setPosition(goal: number, position: Vec3): void {
        this.module.put(this.#at(goal, 'target') + ROTATION, position, 3);
    }

    /** Turn the target of a goal. */
    setRotation(goal: number, rotation: Quat): void {
        this.module.call('web_goal_rotation', this.#at(goal), this.module.byValue(rotation));
    }

    /** Weights of a goal; 0 leaves it out. */
    setWeight(goal: number, weight: number, rotationWeight = weight): void {
        setStruct(this.module, GOAL, this.#at(goal), { weight, rotationWeight });
    }

    /** Targets of goals first, first + 1, ..., three numbers each. A point that is not finite gets weight 0, others 1. */
    setPoints(first: number, points: Numbers): void {
        const count = Math.floor(points.length / 3);
        if (count > 0) {
            this.#at(first + count - 1);
        }
        for (let i = 0; i < count; ++i) {
            const point = [points[3 * i], points[3 * i + 1], points[3 * i + 2]] as unknown as Vec3;
            const isSeen = point.every(Number.isFinite);
            this.module.put(this.#at(first + i, 'weight'), [isSeen ? 1 : 0], 1);
            if (isSeen) {
                this.setPosition(first + i, point);
            }
        }
    }

    /** Throws when a goal does not suit a model, with the reason. Solvers do this themselves. */
    check(goal: number, model: Model): void {
        this.checkArrays(model);
        this.module.run('poise_goal_check', this.#at(goal), model.address);
    }

    /**
     * How far the point of a goal can get from the first joint that moves it: the length of the chain between them. A target
     * farther from there is out of reach, whatever the limits. null where nothing turns the body, or something slides.
     */
    reach(goal: number, model: Model): { first: number; length: number } | null {
        const { module } = this;
        const length = module.call('poise_goal_reach', this.#at(goal), model.address, module.scratch);
        return Number.isFinite(length) ? { first: module.data.getInt32(module.scratch, true), length } : null;
    }

    #at(goal: number, member?: string): Address {
        if (!(Number.isInteger(goal) && goal >= 0 && goal < this.length)) {
            throw new PoiseError('argument', `there is no goal ${goal}: there are ${this.length}`);
        }
        const at = this.address + goal * layoutOf(GOAL).size;
        return member ? memberAt(GOAL, at, member) : at;
    }
}

/** @internal The goals at an address, as objects, with copies of what they point to. */
export function readGoals(module: Module, address: Address, count: number, nq: number, nv: number): Goal[] {
    type Struct = Omit<Goal, 'q'> & { q: Address; qBefore: Address; qWeights: Address; user: Address };
    return getStructs<Struct>(module, GOAL, address, count).map(({ q, qBefore, qWeights, user: _user, ...goal }) => ({
        ...goal,
        ...(q ? { q: module.copyOut(q, nq) } : {}),
        ...(qBefore ? { qBefore: module.copyOut(qBefore, nq) } : {}),
        ...(qWeights ? { qWeights: module.copyOut(qWeights, nv) } : {}),
    }));
}

/**
 * Goals in words, as `poise solve` takes them: "position hand 0.4 0.1 0.3 weight 2; aim head to 1 0 1.5". `start` is where
 * "stay" stays; left out: the neutral configuration. Throws a PoiseError that points at the word it does not understand.
 */
export function parseGoals(model: Model, text: string, start?: Numbers): Goal[] {
    const module = model.module;
    const list = module.make('poise_goal_list_create');
    try {
        return module.scoped((keep) => {
            const qStart = start ? keep(module.copyIn(start, model.nq)) : 0;
            const words = keep(newStruct(module, 'poise_goal_words', {}, { model: model.address, qStart }));
            module.run('poise_goal_list_parse', list, words, keep(module.text(text)));
            const { goals: at, count } = getStruct<{ goals: Address; count: number }>(module, 'poise_goal_list', list);
            return readGoals(module, at, count, model.nq, model.nv);
        });
    } finally {
        module.call('poise_goal_list_destroy', list);
    }
}
