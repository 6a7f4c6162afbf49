import type { Address, Module } from './module.js';
import { Model } from './model.js';
import type { Placement } from './track.js';

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

const NAME = 32; // bytes of a marker's name

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
    return listNames(module, (i) => module.call('web_scene_name', i)).map((name, i) => ({
        name,
        description: module.string(module.call('web_scene_description', i)),
    }));
}

function readMarkers(module: Module, scene: Address): Placement[] {
    const count = module.call('web_scene_markers', scene, 0, 0, 0);
    const names = module.allocate(NAME * Math.max(count, 1));
    const numbers = module.allocate(32 * Math.max(count, 1));
    module.call('web_scene_markers', scene, count, names, numbers);
    const rows = module.copyOut(numbers, 4 * count);
    const markers = Array.from({ length: count }, (_, i) => {
        const [body = 0, x = 0, y = 0, z = 0] = rows.subarray(4 * i);
        return { label: module.string(names + NAME * i), body, local: [x, y, z] as const, weight: 1 };
    });
    module.release(names);
    module.release(numbers);
    return markers;
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
            model: new Model(module, module.need(module.call('web_scene_create', text))),
            markers: readMarkers(module, text),
            postures: listNames(module, (i) => module.call('web_scene_posture_name', text, i)),
        }));
        this.model = made.model;
        this.markers = made.markers;
        this.postures = made.postures;
        this.motions = name.startsWith('humanoid') ? listMotions(module) : [];
    }

    /** The configuration of a posture. */
    posture(name: string): Float64Array {
        return this.#fill([this.name, name], (texts, q) =>
            this.#module.call('web_scene_posture', this.model.address, ...texts, q),
        );
    }

    /** The configuration of a motion at a time in seconds, taken modulo its duration. */
    motion(name: string, time: number): Float64Array {
        return this.#fill([name], ([text = 0], q) =>
            this.#module.call('web_motion_pose', this.model.address, text, time, q),
        );
    }

    /** Dispose of the model. */
    dispose(): void {
        this.model.dispose();
    }

    [Symbol.dispose](): void {
        this.dispose();
    }

    #fill(names: readonly string[], fill: (texts: Address[], q: Address) => number): Float64Array {
        const module = this.#module;
        return module.withTexts(names, (...texts) => {
            const q = module.allocate(8 * this.model.nq);
            try {
                module.check(fill(texts, q));
                return module.copyOut(q, this.model.nq);
            } finally {
                module.release(q);
            }
        });
    }
}

function listMotions(module: Module): Motion[] {
    return listNames(module, (i) => module.call('web_motion_name', i)).map((name) => ({
        name,
        duration: module.withTexts([name], (text = 0) => module.call('web_motion_duration', text)),
    }));
}
