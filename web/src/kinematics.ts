import { PoiseError } from './errors.js';
import { Handle } from './handle.js';
import type { Address } from './module.js';
import { moduleOf, type Model } from './model.js';
import { quatAt, vec3At } from './structs.js';
import type { Numbers, Pose, Vec3 } from './values.js';

/** Where everything is, and how it moves, at one configuration. Columns of a Jacobian are the nv components of a step. */
export class Kinematics extends Handle {
    readonly model: Model;
    readonly #poses: Address;
    readonly #tools: Address;
    readonly #q: Address;

    constructor(model: Model) {
        const module = moduleOf(model);
        const address = module.make('poise_kinematics_create', [model.address]);
        const poses = module.allocate(56 * model.joints.length);
        const tools = module.allocate(56 * model.tools.length);
        const q = module.allocate(8 * model.nq);
        const free = () => {
            module.call('poise_kinematics_destroy', address);
            [poses, tools, q].forEach((memory) => module.release(memory));
        };
        super(module, address, free, [model]);
        this.model = model;
        this.#poses = poses;
        this.#tools = tools;
        this.#q = q;
        this.update(model.neutral());
    }

    /** The forward sweep for q. A view of the module's memory, such as `solver.q`, is not copied. */
    update(q: Numbers): this {
        const module = this.module;
        let at = this.#q;
        if (module.owns(q) && q.length >= this.model.nq) {
            at = q.byteOffset;
        } else {
            module.put(at, q, this.model.nq);
        }
        module.run('web_forward', this.address, this.model.address, at, this.#poses, this.#tools);
        return this;
    }

    /**
     * World poses of all bodies, seven numbers each: position x y z, quaternion x y z w. A view of the module's memory: read
     * it at once, ask again after any other call that may allocate.
     */
    get poses(): Float64Array {
        return this.module.view(this.#poses, 7 * this.model.joints.length);
    }

    /** The same for all tools. */
    get toolPoses(): Float64Array {
        return this.module.view(this.#tools, 7 * this.model.tools.length);
    }

    bodyPose(body: number): Pose {
        return poseAt(this.poses, body);
    }

    toolPose(tool: number): Pose {
        return poseAt(this.toolPoses, tool);
    }

    /** World position of a point fixed in a body. */
    point(body: number, local: Vec3): Vec3 {
        return this.#carried('poise_kinematics_point', body, local);
    }

    /** World components of a direction fixed in a body. */
    direction(body: number, local: Vec3): Vec3 {
        return this.#carried('poise_kinematics_direction', body, local);
    }

    /** Total mass and centre of mass; 0 and the origin where there is no mass. */
    massCenter(): { mass: number; center: Vec3 } {
        const mass = this.module.call('poise_kinematics_mass_center', this.address, this.module.scratch, 0);
        return { mass, center: vec3At(this.module.view(this.module.scratch, 3), 0) };
    }

    /** 3 x nv, row by row: of the world position of a point fixed in a body. */
    pointJacobian(body: number, local: Vec3): Float64Array {
        return this.#jacobian(3, body, local);
    }

    /** 3 x nv: of the world components of a direction fixed in a body. */
    directionJacobian(body: number, local: Vec3): Float64Array {
        return this.#derivative('poise_kinematics_direction_jacobian', 3 * this.model.nv, body, local);
    }

    /** 6 x nv: velocity of the point, then angular velocity of the body. */
    frameJacobian(body: number, local: Vec3): Float64Array {
        return this.#jacobian(6, body, local);
    }

    /** 3 x nv: of the centre of mass. */
    massCenterJacobian(): Float64Array {
        return this.module.filled(3 * this.model.nv, (J) => {
            if (this.module.call('poise_kinematics_mass_center', this.address, 0, J) === 0) {
                throw new PoiseError('unsupported', 'the model has no mass: give its joints a mass');
            }
        });
    }

    /** 3 x nv x nv: second derivatives of the world position of a point along steps. */
    pointTensor(body: number, local: Vec3): Float64Array {
        return this.#derivative('poise_kinematics_point_tensor', 3 * this.model.nv ** 2, body, local);
    }

    #carried(call: string, body: number, local: Vec3): Vec3 {
        const { module } = this;
        module.call(call, module.scratch, this.address, body, module.byValue(local));
        return vec3At(module.view(module.scratch, 3), 0);
    }

    #jacobian(rows: 3 | 6, body: number, local: Vec3): Float64Array {
        const { module, model: { nv } } = this;
        return module.filled(rows * nv, (J) =>
            module.run('poise_kinematics_jacobian', this.address, body, module.byValue(local), J, rows === 6 ? J + 24 * nv : 0),
        );
    }

    #derivative(call: string, count: number, body: number, local: Vec3): Float64Array {
        const { module } = this;
        return module.filled(count, (out) => module.run(call, this.address, body, module.byValue(local), out));
    }
}

function poseAt(poses: Float64Array, index: number): Pose {
    return { position: vec3At(poses, 7 * index), rotation: quatAt(poses, 7 * index + 3) };
}
