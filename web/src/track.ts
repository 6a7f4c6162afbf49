import { PoiseError } from './errors.js';
import { Handle } from './handle.js';
import type { Address, Module } from './module.js';
import { Model } from './model.js';
import { Clip, Markers } from './motion.js';
import { getFields, optionsRow, setFields, vec3At, widthOf, type Field } from './rows.js';
import { solverFields, SOLVER_ROW, type SolverOptions } from './solver.js';
import { outcomes, ups, type MutableNumbers, type Numbers, type Outcome, type Scale, type Vec3 } from './values.js';

/** Where a marker sits. */
export interface Placement {
    label: string;
    body: number;
    /** In the body's frame. NaN: not known, to be calibrated. */
    local: Vec3;
    /** [1] */
    weight?: number;
}

/** Options of a tracker; defaults in brackets. `track.h` of the C library says more. */
export interface TrackerOptions {
    /** Of every frame; gradientTolerance is [1e-4] here. */
    solver?: SolverOptions;
    /** [8] of a cold start. */
    restarts?: number;
    /** [3] with fewer seen a frame is held. */
    leastMarkers?: number;
    /** [true] let markers go that are far off. */
    robust?: boolean;
    /** [0] how far that is; 0: by the skeleton's reach. */
    outlier?: number;
    /** [0] weight of staying near the last frame. */
    smoothness?: number;
    /** [0.5] radians that are believed in one frame with gaps or outliers. */
    maxTurn?: number;
    /** [500] frames that `track` follows from one cold start. */
    chunk?: number;
}

/** How one frame went. */
export interface TrackFrame {
    /** Markers were missing. */
    readonly gaps: boolean;
    /** Markers were let go. */
    readonly outliers: boolean;
    /** Found from a cold start. */
    readonly restarted: boolean;
    /** Some body turned by more than maxTurn. */
    readonly jump: boolean;
    /** The last good pose is held. */
    readonly held: boolean;
    readonly outcome: Outcome;
    readonly iterations: number;
    readonly seen: number;
    readonly letGo: number;
    /** Distance of the markers that were kept, root mean square and largest. */
    readonly rms: number;
    readonly worst: number;
    /** Largest rotation of any body since the last frame, radians. */
    readonly turn: number;
}

const trackerFields: readonly Field[] = [
    ['restarts', 'number'], ['leastMarkers', 'number'], ['robust', 'flag'], ['outlier', 'number'],
    ['smoothness', 'number'], ['maxTurn', 'number'], ['chunk', 'number'],
];

const frameFields: readonly Field[] = [
    ['flags', 'number'], ['outcome', outcomes], ['iterations', 'number'], ['seen', 'number'], ['letGo', 'number'],
    ['rms', 'number'], ['worst', 'number'], ['turn', 'number'],
];
const FRAME = widthOf(frameFields);

function frameAt(module: Module, row: Float64Array): TrackFrame {
    const { flags, ...rest } = getFields<TrackFrame & { flags: number }>(module, row, frameFields);
    const has = (bit: number) => (flags & bit) !== 0;
    return { ...rest, gaps: has(1), outliers: has(2), restarted: has(4), jump: has(8), held: has(16) };
}

/** The row of options that hold a solver's options and some of their own. */
function nestedRow(
    module: Module, defaults: string, fields: readonly Field[], options: { solver?: SolverOptions },
): Address {
    const { solver = {}, ...own } = options;
    const row = optionsRow(module, defaults, solverFields, solver, SOLVER_ROW - widthOf(solverFields) + widthOf(fields));
    try {
        setFields(module.view(row + 8 * SOLVER_ROW, widthOf(fields)), fields, own);
    } catch (error) {
        module.release(row);
        throw error;
    }
    return row;
}

/** @internal Placements in the module's memory, with their labels. */
export function placementsIn(module: Module, placements: readonly Placement[]): { address: Address; release: () => void } {
    const labels = placements.map((placement) => module.text(placement.label));
    const address = module.need(module.call('web_placements_create', placements.length));
    placements.forEach(({ body, local, weight }, i) => {
        module.put(module.scratch, [labels[i] as number, body, ...local, weight ?? 1], 6);
        module.call('web_placement_set', address, i, module.scratch);
    });
    return { address, release: () => [address, ...labels].forEach((memory) => module.release(memory)) };
}

/** @internal */
export function placementsOut(module: Module, address: Address, count: number): Placement[] {
    return Array.from({ length: count }, (_, i) => {
        module.call('web_placement_get', address, i, module.scratch);
        const row = module.view(module.scratch, 6).slice();
        return {
            label: module.string(row[0] as number),
            body: row[1] as number,
            local: vec3At(row, 2),
            weight: row[5] as number,
        };
    });
}

/** Follow markers as they arrive, frame by frame. The first frame is found from a cold start, every other from the last. */
export class Tracker extends Handle {
    readonly model: Model;
    readonly placements: readonly Placement[];
    readonly #seen: Address;
    readonly #q: Address;

    constructor(model: Model, placements: readonly Placement[], options: TrackerOptions = {}) {
        const module = model.module;
        const list = placementsIn(module, placements);
        let address: Address;
        try {
            const row = nestedRow(module, 'web_tracker_defaults', trackerFields, options);
            address = module.call('web_tracker_create', model.address, list.address, placements.length, row);
            module.release(row);
            module.need(address);
        } catch (error) {
            list.release();
            throw error;
        }
        const seen = module.allocate(24 * placements.length);
        const q = module.allocate(8 * model.nq);
        super(module, address, () => {
            module.call('poise_tracker_destroy', address);
            module.release(seen);
            module.release(q);
            list.release();
        }, [model]);
        this.model = model;
        this.placements = placements.map((placement) => ({ ...placement }));
        this.#seen = seen;
        this.#q = q;
        this.q.set(model.neutral());
    }

    /** The last answer: a view of the module's memory. */
    get q(): Float64Array {
        return this.module.view(this.#q, this.model.nq);
    }

    /** Forget the past: the next frame is found from a cold start at q, or at the neutral configuration. */
    reset(q?: Numbers): void {
        const module = this.module;
        const run = (at: Address) => module.check(module.call('web_tracker_reset', this.address, at));
        if (q) {
            module.withNumbers(q, this.model.nq, run);
        } else {
            run(0);
        }
    }

    /** The next frame: three numbers for each placement, NaN where it was not seen. The answer is in `tracker.q`. */
    next(points: Numbers): TrackFrame {
        const module = this.module;
        const count = 3 * this.placements.length;
        let at = this.#seen;
        if (module.owns(points) && points.length >= count) {
            at = points.byteOffset;
        } else {
            module.put(at, points, count);
        }
        module.check(module.call('web_tracker_next', this.address, at, this.#q, module.scratch));
        return frameAt(module, module.view(module.scratch, FRAME));
    }
}

/**
 * How a clip follows its markers. Distances are of markers that were seen and not let go, in frames that are not held; flags
 * count frames.
 */
export interface TrackSummary {
    readonly mean: number;
    readonly rms: number;
    readonly worst: number;
    readonly worstFrame: number;
    /** Of the placements. */
    readonly worstMarker: number;
    readonly held: number;
    readonly jumps: number;
    readonly outliers: number;
    readonly restarts: number;
    readonly gaps: number;
    readonly meanIterations: number;
    readonly mostIterations: number;
}

const summaryFields: readonly Field[] = ([
    'mean', 'rms', 'worst', 'worstFrame', 'worstMarker', 'held', 'jumps', 'outliers', 'restarts', 'gaps', 'meanIterations',
    'mostIterations',
] as const).map((name) => [name, 'number']);

export interface Tracked {
    clip: Clip;
    frames: TrackFrame[];
    /** Of every marker from its place: frames x placements, NaN where it was not seen. */
    distances: Float64Array;
    summary: TrackSummary;
}

/** Track a whole recording into a new clip. `start`: where the cold start begins. */
export function track(
    model: Model, placements: readonly Placement[], markers: Markers, options: TrackerOptions & { start?: Numbers } = {},
): Tracked {
    const { start, ...plain } = options;
    const module = model.module;
    const list = placementsIn(module, placements);
    const owned: Address[] = [];
    try {
        const row = nestedRow(module, 'web_tracker_defaults', trackerFields, plain);
        owned.push(row);
        const q = start ? module.copyIn(start, model.nq) : 0;
        owned.push(q);
        const frames = module.allocate(8 * FRAME * Math.max(markers.frames, 1));
        owned.push(frames);
        const points = markers.frames * placements.length;
        const distances = module.allocate(8 * Math.max(points, 1));
        owned.push(distances);
        const address = module.need(
            module.call('web_track', model.address, list.address, placements.length, markers.address, q, row, frames, distances,
                module.scratch),
        );
        const summary = getFields<TrackSummary>(module, module.view(module.scratch, summaryFields.length), summaryFields);
        const numbers = module.copyOut(frames, FRAME * markers.frames);
        return {
            clip: new Clip(module, address),
            distances: module.copyOut(distances, points),
            summary,
            frames: Array.from({ length: markers.frames }, (_, i) =>
                frameAt(module, numbers.subarray(i * FRAME, (i + 1) * FRAME)),
            ),
        };
    } finally {
        owned.forEach((memory) => module.release(memory));
        list.release();
    }
}

/** Options of a calibration; defaults in brackets. */
export interface CalibrationOptions {
    solver?: SolverOptions;
    /** [none] whether bones are scaled, too: all alike, or each. */
    scaling?: 'none' | 'uniform' | 'segments';
    /** [0.001] */
    scalePrior?: number;
    /** [50] */
    rounds?: number;
    /** [1e-4] */
    tolerance?: number;
}

export interface Calibration {
    /** Frames used, rounds done, marker positions used. */
    readonly frames: number;
    readonly rounds: number;
    readonly points: number;
    /** Distance of the markers, root mean square and mean. */
    readonly rms: number;
    readonly mean: number;
    /** The common factor of the bones. */
    readonly scale: number;
    readonly placements: Placement[];
    /** The model with its bones scaled. */
    readonly model: Model;
}

const calibrationFields: readonly Field[] = [
    ['scaling', ['none', 'uniform', 'segments']], ['scalePrior', 'number'], ['rounds', 'number'], ['tolerance', 'number'],
];

/**
 * Find where markers sit on their bodies, and how long the bones are, from a recording. `frames`: which frames to use, or how
 * many, evenly spread. `q`, a pose like that of the first of them, becomes that pose as fitted.
 */
export function calibrate(
    model: Model, placements: readonly Placement[], markers: Markers, frames: number | readonly number[], q?: MutableNumbers,
    options: CalibrationOptions = {},
): Calibration {
    const module = model.module;
    const list = placementsIn(module, placements);
    const owned: Address[] = [];
    const keep = (memory: Address): Address => {
        owned.push(memory);
        return memory;
    };
    const run = (at: Address): Address => {
        const row = keep(nestedRow(module, 'web_calibration_defaults', calibrationFields, options));
        let chosen = 0;
        if (typeof frames !== 'number') {
            chosen = keep(module.allocate(4 * Math.max(frames.length, 1)));
            new Int32Array(module.bytes.buffer, chosen, frames.length).set(frames);
        }
        const count = typeof frames === 'number' ? frames : frames.length;
        const fitted = module.call('web_calibrate', model.address, list.address, placements.length, markers.address, chosen,
            count, at, row, module.scratch);
        return module.need(fitted);
    };
    try {
        const fitted = q ? module.withMutable(q, model.nq, run) : run(0);
        const [used = 0, rounds = 0, points = 0, rms = 0, mean = 0, scale = 1] = module.view(module.scratch, 6).slice();
        return {
            frames: used, rounds, points, rms, mean, scale,
            placements: placementsOut(module, list.address, placements.length),
            model: new Model(module, fitted),
        };
    } finally {
        owned.forEach((memory) => module.release(memory));
        list.release();
    }
}

/**
 * Place the markers whose labels belong to a common set on the bodies of a human skeleton, by name. Their `local` is NaN:
 * calibrate to find it.
 */
export function placementsByName(model: Model, markers: Markers): Placement[] {
    const module = model.module;
    const list = module.need(module.call('web_placements_create', markers.count));
    try {
        const count = module.call('poise_placements_by_name', model.address, markers.address, list, markers.count);
        return placementsOut(module, list, Math.min(count, markers.count));
    } finally {
        module.release(list);
    }
}

/** The paths that points of a model's bodies take in a clip, as markers. */
export function markersFromClip(
    model: Model, clip: Clip, points: readonly Placement[], scale: Scale = { metres: 1, up: 'y' },
): Markers {
    const module = model.module;
    if (clip.nq !== model.nq) {
        throw new PoiseError('argument', `the clip has ${clip.nq} numbers a frame, the model ${model.nq}`);
    }
    const list = placementsIn(module, points);
    try {
        const address = module.call('web_markers_from_clip', model.address, clip.address, scale.metres,
            ups.indexOf(scale.up), list.address, points.length);
        return new Markers(module, module.need(address));
    } finally {
        list.release();
    }
}

/** What `retarget` came to. */
export interface Retargeted {
    /** The points' paths, in the units, axes and size of the skeleton that follows. */
    readonly markers: Markers;
    /** Where they sit on it. */
    readonly placements: Placement[];
    /** That lengths were multiplied by. */
    readonly factor: number;
    /** The upward axes differed. */
    readonly isTurned: boolean;
    readonly scale: Scale;
}

/**
 * Another skeleton's motion as markers to track: the points of bodies and tools that both have by name. `pairs`,
 * "SOURCE=TARGET", name bodies that belong together though their names differ; `keepSize` converts units only.
 */
export function retarget(
    from: { model: Model; clip: Clip; scale: Scale }, to: { model: Model; scale: Scale },
    options: { pairs?: readonly string[]; keepSize?: boolean } = {},
): Retargeted {
    const module = to.model.module;
    const { pairs = [], keepSize = false } = options;
    const list = module.need(module.call('web_placements_create', from.model.joints.length + from.model.tools.length));
    try {
        return module.withTexts(pairs, (...texts) => {
            const pairList = module.allocate(4 * Math.max(texts.length, 1));
            new Uint32Array(module.bytes.buffer, pairList, texts.length).set(texts);
            module.put(module.scratch, [
                from.model.address, from.clip.address, from.scale.metres, ups.indexOf(from.scale.up), to.model.address,
                to.scale.metres, ups.indexOf(to.scale.up), pairList, texts.length, keepSize ? 1 : 0,
            ], 10);
            const address = module.call('web_retarget_points', module.scratch, list);
            module.release(pairList);
            module.need(address);
            const [points = 0, factor = 1, turned = 0, metres = 0, up = 0] = module.view(module.scratch, 5).slice();
            const markers = new Markers(module, address);
            const scale: Scale = { metres, up: ups[up] ?? 'unknown' };
            return { markers, placements: placementsOut(module, list, points), factor, isTurned: turned !== 0, scale };
        });
    } finally {
        module.release(list);
    }
}
