import type { Address, Module } from './module.js';
import { Model } from './model.js';
import { getStructs, newStructs } from './structs.js';
import type { Placement } from './track.js';
import type { Vec3 } from './values.js';

/** A built-in scene by name. */
export interface SceneInfo {
    readonly name: string;
    readonly description: string;
}

/** A motion of the humanoids, a closed formula of time. */
export interface Motion {
    readonly name: string;
    /** Its period in seconds. */
    readonly duration: number;
}

/** @internal The names that a function gives for 0, 1, ... until it gives none. */
export function listNames(module: Module, name: (index: number) => Address): string[] {
    const names: string[] = [];
    for (let address = name(0); address !== 0; address = name(names.length)) {
        names.push(module.string(address));
    }
    return names;
}

/** @internal */
export function listScenes(module: Module): SceneInfo[] {
    return listNames(module, (i) => module.call('scene_name', i)).map((name, i) => ({
        name,
        description: module.string(module.call('scene_description', i)),
    }));
}

function readMarkers(module: Module, scene: Address): Placement[] {
    const count = module.call('scene_marker_count', scene);
    return module.scoped((keep) => {
        const list = keep(newStructs(module, 'scene_marker', count));
        module.call('scene_markers', scene, list, count);
        const markers = getStructs<{ name: string; body: number; local: Vec3 }>(module, 'scene_marker', list, count);
        return markers.map(({ name, body, local }) => ({ label: name, body, local, weight: 1 }));
    });
}

/** A built-in skeleton with its markers, postures and motions. */
export class Scene {
    readonly name: string;
    readonly model: Model;
    /** The marker set, as a tracker takes it. */
    readonly markers: readonly Placement[];
    /** Names of the postures. */
    readonly postures: readonly string[];
    /** Motions; humanoids only. */
    readonly motions: readonly Motion[];
    readonly #module: Module;

    /** @internal */
    constructor(module: Module, name: string) {
        this.#module = module;
        this.name = name;
        const made = module.withTexts([name], (text = 0) => ({
            model: new Model(module, module.make('scene_create', [text])),
            markers: readMarkers(module, text),
            postures: listNames(module, (i) => module.call('scene_posture_name', text, i)),
        }));
        this.model = made.model;
        this.markers = made.markers;
        this.postures = made.postures;
        this.motions = name.startsWith('humanoid') ? listMotions(module) : [];
    }

    /** The configuration of a posture. */
    posture(name: string): Float64Array {
        return this.#fill([this.name, name], 'the scene has no such posture, or the model is another one', (texts, q) =>
            this.#module.call('scene_posture', this.model.address, ...texts, q),
        );
    }

    /** The configuration of a motion at a time in seconds, taken modulo its duration. */
    motion(name: string, time: number): Float64Array {
        return this.#fill([name], 'there is no such motion, or the model is not a humanoid', ([text = 0], q) =>
            this.#module.call('scene_motion_pose', this.model.address, text, time, q),
        );
    }

    /** Dispose of the model. */
    dispose(): void {
        this.model.dispose();
    }

    [Symbol.dispose](): void {
        this.dispose();
    }

    #fill(names: readonly string[], otherwise: string, fill: (texts: Address[], q: Address) => number): Float64Array {
        const module = this.#module;
        return module.withTexts(names, (...texts) =>
            module.filled(this.model.nq, (q) => module.check(fill(texts, q), otherwise)),
        );
    }
}

function listMotions(module: Module): Motion[] {
    return listNames(module, (i) => module.call('scene_motion_name', i)).map((name) => ({
        name,
        duration: module.withTexts([name], (text = 0) => module.call('scene_motion_duration', text)),
    }));
}
