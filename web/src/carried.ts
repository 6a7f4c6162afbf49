import { Handle } from './handle.js';
import type { PoiseChannel, PoiseEvent } from './layouts.js';
import type { Address, Module } from './module.js';
import { getStruct, getStructs } from './structs.js';

/** One analog channel of a C3D recording: (sample - offset) * scale is in `unit`. */
export type Channel = PoiseChannel;

/** A moment with a name, such as a heel strike. */
export type Event = PoiseEvent;

interface CarriedStruct {
    text: string;
    channelCount: number;
    channel: Address;
    samples: number;
    frames: number;
    analog: Address;
    eventCount: number;
    event: Address;
    forcePlates: number;
    rotations: number;
    meshes: number;
    animations: number;
}

/**
 * What a file holds beside all that Poise works with. Give it to `poise.write` with a file of the same kind, and it goes on:
 * analog channels, events and force plates from C3D to C3D; meshes, skins and materials from glTF to glTF.
 */
export class Carried extends Handle {
    /** In words: "6 analog channels, 4 events, 2 force plates". */
    readonly text: string;
    readonly channels: readonly Channel[];
    readonly events: readonly Event[];
    /** Of a channel in a frame. */
    readonly samples: number;
    /** Of C3D: force plates, and segments whose poses are recorded. */
    readonly forcePlates: number;
    readonly rotations: number;
    /** Of glTF. */
    readonly meshes: number;
    readonly animations: number;
    readonly #analog: Address;
    readonly #numbers: number;

    /** @internal `file` is the poise_file that owns it. */
    constructor(module: Module, address: Address, file: Address) {
        super(module, address, () => module.call('poise_file_destroy', file));
        const c = getStruct<CarriedStruct>(module, 'poise_carried', address);
        this.text = c.text;
        this.channels = getStructs<Channel>(module, 'poise_channel', c.channel, c.channelCount);
        this.events = getStructs<Event>(module, 'poise_event', c.event, c.eventCount);
        this.samples = c.samples;
        this.forcePlates = c.forcePlates;
        this.rotations = c.rotations;
        this.meshes = c.meshes;
        this.animations = c.animations;
        this.#analog = c.analog;
        this.#numbers = c.analog ? c.frames * c.samples * c.channelCount : 0;
    }

    /** A copy of the analog samples as stored: frames x samples x channels, row by row; empty where there are none. */
    analog(): Float32Array {
        this.address; // throws when disposed of
        return new Float32Array(this.module.bytes.buffer, this.#analog, this.#numbers).slice();
    }
}
