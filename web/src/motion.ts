import { PoiseError } from './errors.js';
import { Handle } from './handle.js';
import type { PoiseFigure, PoiseSubject } from './layouts.js';
import type { Address, Module } from './module.js';
import type { Model } from './model.js';
import type { Poise } from './poise.js';
import { getStruct, getStructs, newStruct, newStructs, setStruct } from './structs.js';
import { ups, WORLD, type Numbers, type Scale, type Up } from './values.js';

interface ClipStruct {
    frames: number;
    nq: number;
    frameTime: number;
    startTime: number;
    q: Address;
}

interface MarkersStruct {
    frames: number;
    count: number;
    rate: number;
    firstFrame: number;
    scale: Scale;
    position: Address;
    label: Address;
}

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
        const { frames, nq, frameTime, startTime, q } = getStruct<ClipStruct>(module, 'poise_clip', address);
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
        const address = module.make('poise_clip_create', [count, nq, frameTime]);
        setStruct(module, 'poise_clip', address, { startTime });
        const clip = new Clip(module, address);
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
        const { module } = this;
        return module.filled(this.nq, (q) => module.run('poise_clip_sample', this.address, model.address, time, q));
    }

    /** The axis along which a figure stands in most of the clip; unknown: no legs were recognised by name. */
    up(model: Model): Up {
        return ups[this.module.call('poise_clip_up', model.address, this.address)] ?? 'unknown';
    }

    /** A new clip of frames first, first + 1, ... */
    trim(first: number, count: number): Clip {
        return new Clip(this.module, this.module.make('poise_clip_trim', [this.address, first, count]));
    }

    /** A new clip of the same length in time with another step between frames. */
    resample(model: Model, frameTime: number): Clip {
        return new Clip(this.module, this.module.make('poise_clip_resample', [this.address, model.address, frameTime]));
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
    /** An unknown upward axis is the one along which the person, or the skeleton, stands. */
    readonly upByFigure: boolean;
    /** The person stood on their head, along the axis said to point up, and was turned over. */
    readonly turnedOver: boolean;
}

/** A person, as markers or a skeleton show them. */
export type Figure = PoiseFigure;

/** A person, or a thing, among several in one recording. */
export type Subject = PoiseSubject;

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
        const { frames, count, rate, firstFrame, position, label } = facts(module, address);
        this.frames = frames;
        this.count = count;
        this.rate = rate;
        this.firstFrame = firstFrame;
        this.#positions = position;
        const texts = new Uint32Array(module.bytes.buffer, label, count);
        this.labels = Array.from(texts, (text) => module.string(text));
    }

    /** Positions: frames x labels x 3, row by row; NaN where a marker was not seen. */
    static create(
        poise: Poise, labels: readonly string[], positions: Numbers, rate: number,
        scale: Scale = { metres: 1, up: 'y' }, firstFrame = 1,
    ): Markers {
        const module = poise.module;
        const frames = labels.length === 0 ? 0 : Math.floor(positions.length / (3 * labels.length));
        const address = module.withTexts(labels, (...texts) =>
            module.scoped((keep) =>
                module.make('poise_markers_create', [frames, labels.length, rate, keep(module.ints(texts))]),
            ),
        );
        setStruct(module, 'poise_markers', address, { firstFrame, scale });
        const markers = new Markers(module, address);
        module.put(markers.#positions, positions, frames * labels.length * 3);
        return markers;
    }

    /** What lengths mean. */
    get scale(): Scale {
        return facts(this.module, this.address).scale;
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

    /** The person in the recording, over all its frames; what its scale says does not count. */
    figure(): Figure {
        const { module } = this;
        module.run('poise_markers_figure', this.address, module.scratch);
        return getStruct(module, 'poise_figure', module.scratch);
    }

    /** Who is in the recording, by what stands before the markers' own names. */
    subjects(): Subject[] {
        const { module } = this;
        const count = module.call('poise_markers_subjects', this.address, 0, 0);
        return module.scoped((keep) => {
            const list = keep(newStructs(module, 'poise_subject', count));
            module.call('poise_markers_subjects', this.address, list, count);
            return getStructs(module, 'poise_subject', list, count);
        });
    }

    /** The markers of one subject, or of the only whole one; null where there is nothing to choose. */
    select(subject?: string): Markers | null {
        const { module } = this;
        const made = module.withTexts([subject], (text = 0) => module.make('poise_markers_select', [this.address, text]));
        return made ? new Markers(module, made) : null;
    }

    trim(first: number, count: number): Markers {
        return new Markers(this.module, this.module.make('poise_markers_trim', [this.address, first, count]));
    }

    /** The same recording at another rate: straight lines between frames. */
    resample(rate: number): Markers {
        return new Markers(this.module, this.module.make('poise_markers_resample', [this.address, rate]));
    }

    /** Turn and scale all points in place, into another unit and another upward axis. */
    rescale(scale: Scale): void {
        const { module } = this;
        module.scoped((keep) =>
            module.run('poise_markers_rescale', this.address, keep(newStruct(module, 'poise_scale', scale))),
        );
    }

    /**
     * Into the units and axes of a model, in place; what its scale does not say is found out: a unit by comparing sizes, an
     * upward axis from the one that has it. Returns the model's scale, completed, and what was done.
     */
    match(model: Model, scale: Scale): ScaleMatch {
        const module = this.module;
        return module.scoped((keep) => {
            const at = keep(newStruct(module, 'poise_scale', scale));
            module.run('poise_markers_match', this.address, model.address, at, module.scratch);
            const match = getStruct<ScaleMatch>(module, 'poise_scale_match', module.scratch);
            return { ...match, scale: getStruct<Scale>(module, 'poise_scale', at) };
        });
    }

    /** The labels that placements name, in their order: index of each in this recording, WORLD where it is not there. */
    indices(placements: readonly { label: string }[]): number[] {
        const known = new Map(this.labels.map((label, i) => [label, i]));
        return placements.map(({ label }) => known.get(label) ?? this.find(label) ?? WORLD);
    }
}

function facts(module: Module, address: Address): MarkersStruct {
    return getStruct(module, 'poise_markers', address);
}
