import { PoiseError } from './errors.js';
import { Handle } from './handle.js';
import type { Address, Module } from './module.js';
import type { Model } from './model.js';
import type { Poise } from './poise.js';
import { ups, WORLD, type Numbers, type Scale } from './values.js';

/** A time series of configurations of one model. */
export class Clip extends Handle {
    readonly frames: number;
    readonly nq: number;
    /** Seconds from frame to frame. */
    readonly frameTime: number;
    /** Of frame 0. */
    readonly startTime: number;
    readonly #q: Address;

    /** @internal */
    constructor(module: Module, address: Address) {
        super(module, address, () => module.call('poise_clip_destroy', address));
        module.call('web_clip_facts', address, module.scratch);
        const [frames = 0, nq = 0, frameTime = 0, startTime = 0, q = 0] = module.view(module.scratch, 5);
        this.frames = frames;
        this.nq = nq;
        this.frameTime = frameTime;
        this.startTime = startTime;
        this.#q = q;
    }

    /** A clip of these configurations, all of one length; or of zeros, by their number and length. */
    static create(
        poise: Poise, frames: readonly Numbers[] | { frames: number; nq: number }, frameTime: number, startTime = 0,
    ): Clip {
        const [count, nq] = 'nq' in frames ? [frames.frames, frames.nq] : [frames.length, frames[0]?.length ?? 0];
        const module = poise.module;
        const clip = new Clip(module, module.need(module.call('web_clip_create', count, nq, frameTime, startTime)));
        if (!('nq' in frames)) {
            frames.forEach((q, i) => module.put(clip.#q + 8 * nq * i, q, nq));
        }
        return clip;
    }

    /** From the first frame to the last, in seconds. */
    get duration(): number {
        return Math.max(this.frames - 1, 0) * this.frameTime;
    }

    /** All frames, row by row: a view of the module's memory, to read and write. Ask again after other calls. */
    get q(): Float64Array {
        this.address; // throws when disposed of
        return this.module.view(this.#q, this.frames * this.nq);
    }

    /** One frame, as such a view. */
    frame(index: number): Float64Array {
        if (!(index >= 0 && index < this.frames)) {
            throw new PoiseError('argument', `there is no frame ${index}: there are ${this.frames}`);
        }
        return this.q.subarray(index * this.nq, (index + 1) * this.nq);
    }

    /** The configuration at a time, in seconds from startTime on: between frames, each joint on its shortest way. */
    sample(model: Model, time: number): Float64Array {
        const memory = this.module.allocate(8 * this.nq);
        try {
            this.module.check(this.module.call('web_clip_sample', this.address, model.address, time, memory));
            return this.module.copyOut(memory, this.nq);
        } finally {
            this.module.release(memory);
        }
    }

    /** A new clip of frames first, first + 1, ... */
    trim(first: number, count: number): Clip {
        return new Clip(this.module, this.module.need(this.module.call('web_clip_trim', this.address, first, count)));
    }

    /** A new clip of the same length in time with another step between frames. */
    resample(model: Model, frameTime: number): Clip {
        const address = this.module.call('web_clip_resample', this.address, model.address, frameTime);
        return new Clip(this.module, this.module.need(address));
    }
}

/** How a recording came into the units and axes of a model. */
export interface ScaleMatch {
    /** Of the model and, now, of the recording. */
    readonly scale: Scale;
    /** Of the recording before, with what was found out. */
    readonly from: Scale;
    /** The unit of the markers was not known, or that of the model. */
    readonly markersUnknown: boolean;
    readonly modelUnknown: boolean;
    /** An unknown unit is the one that makes both equally large. */
    readonly bySize: boolean;
}

/** A time series of labelled points, as a motion capture system records them. */
export class Markers extends Handle {
    readonly frames: number;
    readonly count: number;
    /** Frames per second. */
    readonly rate: number;
    /** Number of frame 0 in the recording. */
    readonly firstFrame: number;
    readonly labels: readonly string[];
    readonly #positions: Address;

    /** @internal */
    constructor(module: Module, address: Address) {
        super(module, address, () => module.call('poise_markers_destroy', address));
        const [frames = 0, count = 0, rate = 0, firstFrame = 0, , , positions = 0, , labels = 0] = facts(module, address);
        this.frames = frames;
        this.count = count;
        this.rate = rate;
        this.firstFrame = firstFrame;
        this.#positions = positions;
        const texts = new Uint32Array(module.bytes.buffer, labels, count);
        this.labels = Array.from(texts, (text) => module.string(text));
    }

    /** Positions: frames x labels x 3, row by row; NaN where a marker was not seen. */
    static create(
        poise: Poise, labels: readonly string[], positions: Numbers, rate: number,
        scale: Scale = { metres: 1, up: 'y' }, firstFrame = 1,
    ): Markers {
        const module = poise.module;
        const frames = labels.length === 0 ? 0 : Math.floor(positions.length / (3 * labels.length));
        const address = module.withTexts(labels, (...texts) => {
            const list = module.allocate(4 * Math.max(texts.length, 1));
            new Uint32Array(module.bytes.buffer, list, texts.length).set(texts);
            try {
                return module.need(
                    module.call('web_markers_create', frames, labels.length, rate, list, firstFrame, scale.metres,
                        ups.indexOf(scale.up)),
                );
            } finally {
                module.release(list);
            }
        });
        const markers = new Markers(module, address);
        module.put(markers.#positions, positions, frames * labels.length * 3);
        return markers;
    }

    /** What lengths mean. */
    get scale(): Scale {
        const row = facts(this.module, this.address);
        return { metres: row[4] ?? 0, up: ups[row[5] ?? 0] ?? 'unknown' };
    }

    /** All points, row by row: a view of the module's memory. Ask again after other calls. */
    get positions(): Float64Array {
        this.address; // throws when disposed of
        return this.module.view(this.#positions, this.frames * this.count * 3);
    }

    /** The points of one frame, as such a view. */
    frame(index: number): Float64Array {
        if (!(index >= 0 && index < this.frames)) {
            throw new PoiseError('argument', `there is no frame ${index}: there are ${this.frames}`);
        }
        return this.positions.subarray(index * this.count * 3, (index + 1) * this.count * 3);
    }

    /** Was this point seen? */
    isSeen(frame: number, marker: number): boolean {
        const at = 3 * marker;
        return this.frame(frame).subarray(at, at + 3).every((x) => !Number.isNaN(x));
    }

    /** Index by label, with or without the subject's name in front of a colon; WORLD when there is none. */
    find(label: string): number {
        const index = this.module.withTexts([label], (text = 0) => this.module.call('poise_markers_find', this.address, text)) | 0;
        return index < 0 ? WORLD : index;
    }

    trim(first: number, count: number): Markers {
        return new Markers(this.module, this.module.need(this.module.call('web_markers_trim', this.address, first, count)));
    }

    /** The same recording at another rate: straight lines between frames. */
    resample(rate: number): Markers {
        return new Markers(this.module, this.module.need(this.module.call('web_markers_resample', this.address, rate)));
    }

    /** Turn and scale all points in place, into another unit and another upward axis. */
    rescale(scale: Scale): void {
        this.module.check(this.module.call('web_markers_rescale', this.address, scale.metres, ups.indexOf(scale.up)));
    }

    /**
     * Into the units and axes of a model, in place; what its scale does not say is found out: a unit by comparing sizes, an
     * upward axis from the one that has it. Returns the model's scale, completed, and what was done.
     */
    match(model: Model, scale: Scale): ScaleMatch {
        const module = this.module;
        module.put(module.scratch, [scale.metres, ups.indexOf(scale.up), 0, 0, 0, 0, 0], 7);
        module.check(module.call('web_markers_match', this.address, model.address, module.scratch));
        const [metres = 0, up = 0, fromMetres = 0, fromUp = 0, markersUnknown, modelUnknown, bySize] =
            module.view(module.scratch, 7).slice();
        return {
            scale: { metres, up: ups[up] ?? 'unknown' },
            from: { metres: fromMetres, up: ups[fromUp] ?? 'unknown' },
            markersUnknown: markersUnknown === 1,
            modelUnknown: modelUnknown === 1,
            bySize: bySize === 1,
        };
    }

    /** The labels that placements name, in their order: index of each in this recording, WORLD where it is not there. */
    indices(placements: readonly { label: string }[]): number[] {
        const known = new Map(this.labels.map((label, i) => [label, i]));
        return placements.map(({ label }) => known.get(label) ?? this.find(label) ?? WORLD);
    }
}

function facts(module: Module, address: Address): Float64Array {
    module.call('web_markers_facts', address, module.scratch);
    return module.view(module.scratch, 9).slice();
}
