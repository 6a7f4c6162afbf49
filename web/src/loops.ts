import { Handle } from './handle.js';
import type { Kinematics } from './kinematics.js';
import type { Address, Module } from './module.js';
import { moduleOf, type Model } from './model.js';
import { initStruct, layoutOf, newStructs, setStruct } from './structs.js';
import type { LoopKind, Pose } from './values.js';

/** What closes a loop of a skeleton: a frame of one body tied to a frame of another, or of the world. */
export interface Loop {
    readonly kind: LoopKind;
    /** One of them may be WORLD. */
    readonly body: number;
    readonly body2: number;
    /** Frames on body and on body2. */
    readonly local: Pose;
    readonly target: Pose;
    /** distance, plane: between these; infinite: not bounded on that side. */
    readonly lower: number;
    readonly upper: number;
}

/** How far a loop is open. */
export interface LoopGap {
    /** By its place in `loops`. */
    readonly loop: number;
    /** In length units or radians; 0: closed. */
    readonly gap: number;
    readonly unit: 'length' | 'angle';
}

/** @internal Constraints of the C side. */
export function loopsIn(module: Module, loops: readonly Loop[]): Address {
    const { size } = layoutOf('poise_constraint');
    const address = newStructs(module, 'poise_constraint', Math.max(1, loops.length));
    loops.forEach((loop, i) => {
        initStruct(module, 'poise_constraint', address + i * size);
        setStruct(module, 'poise_constraint', address + i * size, loop);
    });
    return address;
}

/** Closed loops of a model. Give them to a solver, whose answers hold them then, or ask how far they are open. */
export class Loops extends Handle {
    readonly model: Model;
    readonly loops: readonly Loop[];

    constructor(model: Model, loops: readonly Loop[]) {
        const module = moduleOf(model);
        const address = loopsIn(module, loops);
        super(module, address, () => module.release(address), [model]);
        this.model = model;
        this.loops = loops;
    }

    /** How far each is open in the pose of `kinematics`. */
    gaps(kinematics: Kinematics): LoopGap[] {
        const { module, address } = this;
        const { size } = layoutOf('poise_constraint');
        return this.loops.map(({ kind }, loop) => {
            const room = module.call('poise_constraint_room', kinematics.address, address + loop * size, module.scratch);
            const isAngle = (kind === 'weld' || kind === 'hinge') && module.data.getInt32(module.scratch, true) >= 3;
            return { loop, gap: Math.max(0, -room), unit: isAngle ? 'angle' : 'length' };
        });
    }
}
