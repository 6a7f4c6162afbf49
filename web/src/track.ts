import { PoiseError } from './errors.js';
import { Handle } from './handle.js';
import type { Options, PoiseTrackFrame, PoiseTrackProblem, PoiseTrackSummary } from './layouts.js';
import type { Address, Keep, Module } from './module.js';
import { Model, moduleOf } from './model.js';
import { Clip, Markers } from './motion.js';
import type { SolverOptions } from './solver.js';
import { getStruct, getStructs, layoutOf, newStruct, newStructs, setStruct } from './structs.js';
import type { MutableNumbers, Numbers, Scale, Vec3 } from './values.js';

/** What is known of a marker's place before the recording is looked at. */
export interface PlacePrior {
    /** Where it should be, in the body's frame. */
    place: Vec3;
    /** Unit vector in the body's frame. */
    axis: Vec3;
    /** Standard deviations along and across that axis. */
    along: number;
    across: number;
    /** Unit vector across the axis that is mirrored on the other side of the body. */
    outward: Vec3;
}

/** Where a marker sits. */
export interface Placement {
    label: string;
    body: number;
    /** In the body's frame. NaN: not known, to be calibrated. */
    local: Vec3;
    /** [1] */
    weight?: number;
    /** What anatomy says of it: `calibrate` holds the place near. */
    prior?: PlacePrior;
}

/** Options of a tracker; defaults in brackets. `track.h` of the C library says more. */
export interface TrackerOptions extends Options<Omit<PoiseTrackProblem,
    'solver' | 'placementCount' | 'constraintCount' | 'taskFrames' | 'workers'>> {
    /** Of every frame; gradientTolerance is [1e-4] here. */
    solver?: SolverOptions;
}

/** How one frame went. */
export interface TrackFrame extends Omit<PoiseTrackFrame, 'flags'> {
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
}

type FrameStruct = TrackFrame & { flags: number };

function frameOf({ flags, ...rest }: FrameStruct): TrackFrame {
    const has = (bit: number) => (flags & bit) !== 0;
    return { ...rest, gaps: has(1), outliers: has(2), restarted: has(4), jump: has(8), held: has(16) };
}

/** @internal */
export function framesAt(module: Module, address: Address, count: number): TrackFrame[] {
    return getStructs<FrameStruct>(module, 'poise_track_frame', address, count).map(frameOf);
}

/** @internal Placements in the module's memory, with their labels, all of it for `keep`. */
export function placementsIn(module: Module, placements: readonly Placement[], keep: Keep): Address {
    const address = keep(newStructs(module, 'poise_placement', placements.length));
    placements.forEach(({ label, body, local, weight = 1 }, i) =>
        setStruct(module, 'poise_placement', address + i * layoutOf('poise_placement').size, { body, local, weight }, {
            label: keep(module.text(label)),
        }),
    );
    return address;
}

/** What to track, as a poise_track_problem. */
function problemOf(
    model: Model, placements: readonly Placement[], list: Address, options: TrackerOptions, own: object = {},
): Address {
    return newStruct(model.module, 'poise_track_problem', options, {
        model: model.address, placements: list, placementCount: placements.length, ...own,
    });
}

/** Follow markers as they arrive, frame by frame. The first frame is found from a cold start, every other from the last. */
export class Tracker extends Handle {
    readonly model: Model;
    readonly placements: readonly Placement[];
    readonly #seen: Address;
    readonly #q: Address;

    constructor(model: Model, placements: readonly Placement[], options: TrackerOptions = {}) {
        const module = moduleOf(model);
        const owned: Address[] = [];
        const keep: Keep = (memory) => (owned.push(memory), memory);
        const release = () => owned.forEach((memory) => module.release(memory));
        let address: Address;
        try {
            const problem = keep(problemOf(model, placements, placementsIn(module, placements, keep), options));
            address = module.make('poise_tracker_create', [problem]);
        } catch (error) {
            release();
            throw error;
        }
        const seen = keep(module.allocate(24 * placements.length));
        const q = keep(module.allocate(8 * model.nq));
        super(module, address, () => {
            module.call('poise_tracker_destroy', address);
            release();
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
        const run = (at: Address) => module.run('poise_tracker_reset', this.address, at);
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
        module.run('poise_tracker_next', this.address, at, this.#q, module.scratch);
        return frameOf(getStruct(module, 'poise_track_frame', module.scratch));
    }
}

/**
 * How a clip follows its markers. Distances are of markers that were seen and not let go, in frames that are not held; flags
 * count frames.
 */
export type TrackSummary = PoiseTrackSummary;

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
    return module.scoped((keep) => {
        const list = placementsIn(module, placements, keep);
        const qStart = start ? keep(module.copyIn(start, model.nq)) : 0;
        const problem = keep(problemOf(model, placements, list, plain, { markers: markers.address, qStart }));
        const frames = keep(newStructs(module, 'poise_track_frame', markers.frames));
        const points = markers.frames * placements.length;
        const distances = keep(module.allocate(8 * points));
        const sum = keep(newStruct(module, 'poise_track_summary', {}, { distances }));
        const clip = new Clip(module, module.make('poise_track', [problem], [frames]));
        try {
            module.run('poise_track_measure', problem, clip.address, frames, 0, sum);
        } catch (error) {
            clip.dispose();
            throw error;
        }
        const { distances: _at, ...summary } = getStruct<TrackSummary & { distances: Address }>(module, 'poise_track_summary', sum);
        return {
            clip,
            distances: module.copyOut(distances, points),
            summary,
            frames: framesAt(module, frames, markers.frames),
        };
    });
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

/**
 * Find where markers sit on their bodies, and how long the bones are, from a recording. `frames`: which frames to use, or how
 * many, evenly spread. `q`, a pose like that of the first of them, becomes that pose as fitted.
 */
export function calibrate(
    model: Model, placements: readonly Placement[], markers: Markers, frames: number | readonly number[], q?: MutableNumbers,
    options: CalibrationOptions = {},
): Calibration {
    const module = model.module;
    return module.scoped((keep) => {
        const list = placementsIn(module, placements, keep);
        const chosen = typeof frames === 'number' ? 0 : keep(module.ints(frames));
        const report = keep(newStructs(module, 'poise_calibration_report'));
        const priors = placements.some(({ prior }) => prior) ? priorsIn(module, placements, keep) : 0;
        const run = (at: Address): Address => {
            const problem = keep(newStruct(module, 'poise_calibration', options, {
                model: model.address, placements: list, priors, placementCount: placements.length, markers: markers.address, q: at,
                frames: chosen, frameCount: typeof frames === 'number' ? frames : frames.length,
            }));
            return module.make('poise_calibrate', [problem], [report]);
        };
        const fitted = q ? module.withMutable(q, model.nq, run) : run(0);
        return {
            ...getStruct<Calibration>(module, 'poise_calibration_report', report),
            placements: getStructs(module, 'poise_placement', list, placements.length),
            model: new Model(module, fitted),
        };
    });
}

/** @internal */
function priorsIn(module: Module, placements: readonly Placement[], keep: Keep): Address {
    const at = keep(newStructs(module, 'poise_place_prior', placements.length));
    placements.forEach(({ prior }, i) => {
        setStruct(module, 'poise_place_prior', at + i * layoutOf('poise_place_prior').size, { ...prior });
    });
    return at;
}

/**
 * Place the markers whose labels belong to a common set on the bodies of a human skeleton, by name and anatomy; calibrate to
 * fit them. `table` is text of your own that goes before the built-in marker sets (`poise help markers` explains it).
 */
export function placementsByName(model: Model, markers: Markers, table?: string): Placement[] {
    const module = model.module;
    return module.scoped((keep) => {
        const list = keep(newStructs(module, 'poise_placement', markers.count));
        const priors = keep(newStructs(module, 'poise_place_prior', markers.count));
        const report = keep(newStructs(module, 'poise_places_report'));
        const text = table === undefined ? 0 : keep(module.text(table));
        module.run('poise_places_by_name', model.address, markers.address, text, list, priors, markers.count, report);
        const { placed } = getStruct<{ placed: number }>(module, 'poise_places_report', report);
        const known = getStructs<PlacePrior>(module, 'poise_place_prior', priors, placed);
        const placements = getStructs<Placement>(module, 'poise_placement', list, placed);
        return placements.map((placement, i) => (known[i]!.along > 0 ? { ...placement, prior: known[i]! } : placement));
    });
}

/** The paths that points of a model's bodies take in a clip, as markers. */
export function markersFromClip(
    model: Model, clip: Clip, points: readonly Placement[], scale: Scale = { metres: 1, up: 'y' },
): Markers {
    const module = model.module;
    if (clip.nq !== model.nq) {
        throw new PoiseError('argument', `the clip has ${clip.nq} numbers a frame, the model ${model.nq}`);
    }
    return module.scoped((keep) => {
        const at = keep(newStruct(module, 'poise_scale', scale));
        const list = placementsIn(module, points, keep);
        const made = module.make('poise_markers_from_clip', [model.address, clip.address, at, list, points.length]);
        return new Markers(module, made);
    });
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
    return module.scoped((keep) => {
        const list = keep(newStructs(module, 'poise_placement', from.model.joints.length + from.model.tools.length));
        const problem = keep(newStruct(module, 'poise_retarget_problem',
            { fromScale: from.scale, toScale: to.scale, pairCount: pairs.length, keepSize },
            {
                from: from.model.address, clip: from.clip.address, to: to.model.address,
                pairs: keep(module.ints(pairs.map((pair) => keep(module.text(pair))))),
            }));
        const report = keep(newStructs(module, 'poise_retarget_report'));
        const markers = new Markers(module, module.make('poise_retarget_points', [problem], [list, report]));
        const { points, ...rest } = getStruct<Retargeted & { points: number }>(module, 'poise_retarget_report', report);
        return { ...rest, markers, placements: getStructs(module, 'poise_placement', list, points) };
    });
}
