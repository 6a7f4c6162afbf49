import { Handle } from './handle.js';
import type { Kinematics } from './kinematics.js';
import type { PoiseClosePair, PoiseNearest, PoisePair } from './layouts.js';
import type { Address, Module } from './module.js';
import { moduleOf, type Model } from './model.js';
import { getStructs, initStruct, layoutOf, newStruct, newStructs, setStruct } from './structs.js';
import type { Pose, ShapeKind, Vec3 } from './values.js';

/** A collision shape: a core and a radius around it. */
export interface Shape {
    readonly kind: ShapeKind;
    /** That carries it; WORLD: an obstacle. */
    readonly body: number;
    /** Of its frame in the body's. */
    readonly pose: Pose;
    /** box: half the sides of its core; capsule: z is half the length of its core. */
    readonly half: Vec3;
    readonly radius: number;
    /** Bits: what the shape is, and what it is kept apart from; 0 and 0: everything. */
    readonly groups?: number;
    readonly against?: number;
}

/** Two shapes, or two bodies, by their index. */
export type Pair = PoisePair;

export interface ClearanceOptions {
    /** [0] how far shapes have to be apart. */
    margin?: number;
    /** [1] shapes on bodies that at most so many joints lie between are left alone. */
    neighbours?: number;
    /** [3000] random configurations that pairs are tried in: those that always overlap are left alone. */
    samples?: number;
    /** Bodies that may touch. */
    excluded?: readonly Pair[];
}

/** A pair that is nearer than it may be. */
export type ClosePair = Omit<PoiseClosePair, 'nearest'> & PoiseNearest;

/** @internal */
export function structsIn(module: Module, struct: string, list: readonly object[]): Address {
    const address = newStructs(module, struct, Math.max(1, list.length));
    list.forEach((values, i) => setStruct(module, struct, address + i * layoutOf(struct).size, values));
    return address;
}

/** The pairs worth watching: `poise_pairs_find`. */
function findPairs(model: Model, shapes: Address, count: number, options: ClearanceOptions): Pair[] {
    const module = moduleOf(model);
    const { excluded = [], margin: _margin, ...plain } = options;
    return module.scoped((keep) => {
        const left = keep(structsIn(module, 'poise_pair', excluded));
        const row = keep(newStruct(module, 'poise_pairs_options', plain, {
            excluded: left, excludedCount: excluded.length,
        }));
        const room = (count * (count - 1)) / 2;
        const [pairs, foundAt] = [keep(newStructs(module, 'poise_pair', Math.max(1, room))), keep(module.allocate(4))];
        module.run('poise_pairs_find', model.address, shapes, count, row, 0, pairs, room, foundAt);
        return getStructs<Pair>(module, 'poise_pair', pairs, module.data.getInt32(foundAt, true));
    });
}

/**
 * Shapes of a model, and of what stands around it, that keep apart. Give it to a solver, whose answers hold it then, or ask
 * which pairs are close.
 */
export class Clearance extends Handle {
    readonly model: Model;
    readonly shapes: readonly Shape[];
    readonly pairs: readonly Pair[];
    readonly margin: number;

    constructor(model: Model, shapes: readonly Shape[], options: ClearanceOptions = {}) {
        const module = moduleOf(model);
        const own: Address[] = [structsIn(module, 'poise_shape', shapes)];
        const release = () => own.forEach((memory) => module.release(memory));
        let pairs: Pair[];
        try {
            pairs = findPairs(model, own[0]!, shapes.length, options);
        } catch (error) {
            release();
            throw error;
        }
        const { margin = 0 } = options;
        own.push(structsIn(module, 'poise_pair', pairs), newStructs(module, 'poise_constraint'));
        const address = own[2]!;
        initStruct(module, 'poise_constraint', address); // a clearance
        setStruct(module, 'poise_constraint', address, { margin }, {
            shapes: own[0], shapeCount: shapes.length, pairs: own[1], pairCount: pairs.length,
        });
        super(module, address, release, [model]);
        this.model = model;
        this.shapes = shapes;
        this.pairs = pairs;
        this.margin = margin;
    }

    /** The pairs whose distance less the margin is below `room`, the one that lacks most first. */
    close(kinematics: Kinematics, room = 0, capacity = 64): ClosePair[] {
        const { module } = this;
        return module.scoped((keep) => {
            const [list, foundAt] = [keep(newStructs(module, 'poise_close_pair', capacity)), keep(module.allocate(4))];
            module.run('poise_pairs_close', kinematics.address, this.address, room, list, capacity, foundAt);
            return getStructs<PoiseClosePair>(module, 'poise_close_pair', list, Math.min(capacity, module.data.getInt32(foundAt, true)))
                .map(({ nearest, ...pair }) => ({ ...pair, ...nearest }));
        });
    }
}
