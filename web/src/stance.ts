import { type Shape, structsIn } from './clearance.js';
import { PoiseError } from './errors.js';
import { Handle } from './handle.js';
import type { Kinematics } from './kinematics.js';
import { moduleOf, type Model } from './model.js';
import { judged, type Finding } from './recording.js';
import { newStructs } from './structs.js';
import { ups, type Numbers, type Up, type VerdictLevel } from './values.js';

export interface StanceOptions {
    /** [neutral] a pose in which the figure stands on the ground. */
    rest?: Numbers;
    /** ['unknown': found] */
    up?: Up;
    /** Those of the feet tell where the soles are. */
    shapes?: readonly Shape[];
}

const MOST_FINDINGS = 8;

/** A figure that stands at rest, its soles, and the ground below them: `retarget.h` of the C library says more. */
export class Stance extends Handle {
    readonly model: Model;

    private constructor(model: Model, address: number) {
        const module = moduleOf(model);
        super(module, address, () => module.call('poise_stance_destroy', address));
        this.model = model;
    }

    /** Null: nobody stands there on legs, or the figure cannot be moved as a whole. */
    static of(model: Model, options: StanceOptions = {}): Stance | null {
        const { rest, up = 'unknown', shapes = [] } = options;
        const module = moduleOf(model);
        try {
            const address = module.scoped((keep) => module.make('poise_stance_create', [
                model.address, rest ? keep(module.copyIn(rest)) : 0, ups.indexOf(up), keep(structsIn(module, 'poise_shape', shapes)), shapes.length,
            ]));
            return new Stance(model, address);
        } catch (error) {
            if (error instanceof PoiseError && error.status === 'not found') {
                return null;
            }
            throw error;
        }
    }

    /** Of the lowest sole above the ground of the rest pose; below 0: under it. */
    height(kinematics: Kinematics): number {
        return this.module.call('poise_stance_height', this.address, kinematics.address);
    }

    /** Judge such a height, or by how much it is not what it should be. */
    judge(height: number): { verdict: VerdictLevel; findings: Finding[] } {
        const { module } = this;
        return module.scoped((keep) => {
            const verdict = keep(newStructs(module, 'poise_verdict'));
            const findings = keep(newStructs(module, 'poise_finding', MOST_FINDINGS));
            module.run('poise_stance_judge', this.address, height, 0, verdict, findings, MOST_FINDINGS);
            return judged(module, verdict, findings, MOST_FINDINGS);
        });
    }
}
