import { PoiseError } from './errors.js';
import { fileIn, type FileContent } from './files.js';
import type { PoiseMarkerError } from './layouts.js';
import { Model } from './model.js';
import type { Address, Module } from './module.js';
import { Clip, Markers, type ScaleMatch } from './motion.js';
import { getStruct, getStructs, layoutOf, memberAt, newStructs, setStruct } from './structs.js';
import {
    framesAt, type Calibration, type Placement, type TrackerOptions, type TrackFrame, type TrackSummary,
} from './track.js';
import type { Format, Scale, VerdictLevel } from './values.js';

/** A skeleton to move: what `poise.read` gave, or its parts. */
export type Skeleton = Pick<FileContent, 'scale' | 'placements' | 'postures'> & { model: Model | null; format?: Format };

/** What to follow: markers, or a motion with its skeleton. What `poise.read` gave, or its parts. */
export type Recording = Pick<FileContent, 'model' | 'clip' | 'markers' | 'placements' | 'scale'>;

/** How to follow; defaults in brackets. `recordings.h` of the C library says more. `outlier` is in metres here. */
export interface RecordingOptions extends TrackerOptions {
    /** Whose markers, of several people. [the only whole one] */
    subject?: string;
    /** [0], [-1: the last] frames of the recording. */
    first?: number;
    last?: number;
    /** [0] frames a second to resample to; 0: as recorded. */
    rate?: number;
    /** [decide] what is fitted before: places of markers where some are not known, or bones as well. */
    fit?: 'decide' | 'none' | 'places' | 'uniform' | 'segments';
    /** [50] */
    calibrationFrames?: number;
    /** A table of marker names and places of your own, before the built-in one. */
    labels?: string;
    /** [false] leave out markers that the skeleton gives no place for, instead of placing them by their names. */
    onlyPlacements?: boolean;
    /** [false] all frames at once, as splines in time, */
    whole?: boolean;
    /** or as it would come live, so many frames behind; [-1: not] */
    lag?: number;
    /** with [4] frames from knot to knot, */
    knot?: number;
    /** metres by which a marker is off, [0: found], */
    noise?: number;
    /** and limits of all joints but a free root, radians or metres a second (squared). [0: none] */
    velocity?: number;
    acceleration?: number;
    /** [false] compute `deviations`. */
    deviations?: boolean;
    /** "SOURCE=TARGET": bodies of a motion that belong together though their names differ. */
    pairs?: readonly string[];
    /** [false] do not scale a motion to the size of the skeleton. */
    keepSize?: boolean;
    /**
     * Beyond which values the track is doubtful, or doubtful and failed, such as `{ moved: [1.5, 3], held: 0.05 }`; what can
     * be set, and the defaults, are in docs/recordings.md.
     */
    thresholds?: Readonly<Record<string, number | readonly [doubtful: number, failed: number]>>;
    /** What the recording's lengths and axes mean, instead of what it says. */
    sourceScale?: Scale;
    /** Told how far the work has come, while it runs. */
    onProgress?: (progress: RecordingProgress) => void;
}

/** How far the work on a recording has come. */
export interface RecordingProgress {
    /** Places and bones are fitted; frames are followed; the answer is measured and judged. */
    readonly stage: 'calibrate' | 'track' | 'judge';
    /** Frames of this stage that are done; only `track` counts. */
    readonly done: number;
    readonly frames: number;
}

const stages = ['calibrate', 'track', 'judge'] as const;

/** What the C side tells, as `onProgress` is told. Frames around seams are passed over more than once. */
function hearingOf(told: (progress: RecordingProgress) => void): (stage: number, frames: number) => void {
    let now: RecordingProgress = { stage: 'calibrate', done: 0, frames: 0 };
    return (stage, frames) => {
        now = stage >= 0 ? { stage: stages[stage]!, done: 0, frames } : { ...now, done: Math.min(now.done + 1, now.frames) };
        told(now);
    };
}

/** One thing that was found about a track. */
export interface Finding {
    /** A short name, such as "moved", "swapped" or "left_out"; `verdict.h` of the C library explains each. */
    readonly kind: string;
    /** What it makes of the track; 'good': worth knowing. */
    readonly level: VerdictLevel;
    /** Of the marker, joint or bone, and of a second one. */
    readonly name: string | null;
    readonly other: string | null;
    readonly value: number;
    /** Frames, or poses of a path from 1; 0 where there are none. */
    readonly first: number;
    readonly last: number;
    /** In words. */
    readonly text: string;
}

/** How one marker is followed. */
export type MarkerError = PoiseMarkerError;

/** What a recording became. */
export interface TrackedRecording {
    readonly clip: Clip;
    /** That the clip moves: with its bones scaled, or the skeleton that was given. */
    readonly model: Model;
    readonly isFitted: boolean;
    /** What was followed, in the units and axes of the skeleton. */
    readonly markers: Markers;
    /** Where they sit. */
    readonly placements: Placement[];
    /** How many of these come from common names. */
    readonly named: number;
    /** Of all lengths here. */
    readonly scale: Scale;
    /** How units and axes were found; of markers only. */
    readonly match: ScaleMatch;
    /** Frame of the recording that is frame 0 here. */
    readonly first: number;
    /** Points of another skeleton's bodies were followed. */
    readonly fromMotion: boolean;
    readonly calibration: Omit<Calibration, 'placements' | 'model'> | null;
    /** How far it can be trusted, */
    readonly verdict: VerdictLevel;
    /** and why: the worst first. */
    readonly findings: Finding[];
    /** Markers that nothing says the place of. */
    readonly leftOut: string[];
    /** Joints that no marker determines. */
    readonly undetermined: string[];
    readonly frames: TrackFrame[];
    /** Root mean square of what the markers of each frame miss by. */
    readonly residuals: Float64Array;
    /** Of every marker from its place: frames x placements, NaN where it was not seen. */
    readonly distances: Float64Array;
    /** Which of these the errors are of: flags. A marker that is let go, and a frame that is held, do not count. */
    readonly counted: Uint8Array;
    /** By placement, over the frames that count. */
    readonly byMarker: MarkerError[];
    /** Standard deviation of every degree of freedom: frames x nv, infinite where nothing determines it; null: not asked. */
    readonly deviations: Float64Array | null;
    readonly summary: TrackSummary;
    /** Dispose of clip, markers, and the model if it was fitted. */
    dispose(): void;
    [Symbol.dispose](): void;
}

/** A poise_recording_result. */
interface ResultStruct {
    markers: Address;
    placements: Address;
    placementCount: number;
    scale: Scale;
    first: number;
    fromMotion: boolean;
    named: number;
    fitted: Address;
    calibrated: boolean;
    clip: Address;
    frames: Address;
    distances: Address;
    byMarker: Address;
    deviation: Address;
    findings: Address;
}

const STRUCT = 'poise_recording_result';
const TEXT = 256; // bytes of a finding in words

function findingAt(module: Module, address: Address): Finding {
    const row = getStruct<Finding>(module, 'poise_finding', address);
    module.call('poise_finding_describe', address, module.scratch, TEXT);
    return { ...row, text: module.string(module.scratch) };
}

/** @internal A verdict and its findings, of which `room` were written at most. */
export function judged(module: Module, verdict: Address, list: Address, room = Infinity): { verdict: VerdictLevel; findings: Finding[] } {
    const { level, count } = getStruct<{ level: VerdictLevel; count: number }>(module, 'poise_verdict', verdict);
    const { size } = layoutOf('poise_finding');
    const length = Math.min(count, room);
    return { verdict: level, findings: Array.from({ length }, (_, i) => findingAt(module, list + i * size)) };
}

/** Everything out of the result of the C side, which ends here; clip, markers and fitted model go on. */
function takeResult(module: Module, address: Address, skeleton: Model): TrackedRecording {
    const r = getStruct<ResultStruct>(module, STRUCT, address);
    const inside = <T>(struct: string, member: string) => getStruct<T>(module, struct, memberAt(STRUCT, address, member));
    const { verdict, findings } = judged(module, memberAt(STRUCT, address, 'verdict'), r.findings);
    const { distances: _at, ...summary } = inside<TrackSummary & { distances: Address }>('poise_track_summary', 'summary');
    const match = inside<ScaleMatch>('poise_scale_match', 'match');
    const calibration = r.calibrated ? inside<Calibration>('poise_calibration_report', 'calibration') : null;
    const placements = getStructs<Placement>(module, 'poise_placement', r.placements, r.placementCount);
    const counted = module.scoped((keep) => {
        const { frames } = getStruct<{ frames: number }>(module, 'poise_clip', r.clip);
        const size = frames * placements.length;
        const at = keep(module.allocate(size));
        module.call('web_counted', address, at);
        return module.bytes.slice(at, at + size);
    });
    setStruct(module, STRUCT, address, {}, { clip: 0, markers: 0, fitted: 0 });
    const clip = new Clip(module, r.clip);
    const markers = new Markers(module, r.markers);
    const model = r.fitted ? new Model(module, r.fitted) : skeleton;
    const frames = framesAt(module, r.frames, clip.frames);
    const deviations = r.deviation ? module.copyOut(r.deviation, clip.frames * model.nv) : null;
    const distances = module.copyOut(r.distances, clip.frames * placements.length);
    const byMarker = getStructs<MarkerError>(module, 'poise_marker_error', r.byMarker, placements.length);
    module.call('poise_recording_destroy', address);
    const namesOf = (kind: string) => findings.filter((f) => f.kind === kind).map((f) => f.name ?? '');
    const dispose = () => [clip, markers, r.fitted ? model : null].forEach((part) => part?.dispose());
    return {
        clip, model, isFitted: r.fitted !== 0, markers, placements, named: r.named, scale: r.scale,
        match: { ...match, scale: r.scale }, first: r.first, fromMotion: r.fromMotion, calibration, verdict, findings,
        leftOut: namesOf('left_out'), undetermined: namesOf('joint'), frames,
        residuals: Float64Array.from(frames, ({ rms }) => rms), distances, counted, byMarker, deviations, summary, dispose,
        [Symbol.dispose]: dispose,
    };
}

/**
 * A recording becomes a motion of the skeleton, with a verdict: all that `poise track` does, in one call. Look at `verdict`
 * before you use the clip: a doubtful fit is not thrown, and `findings` say in words what speaks against it.
 */
export function trackRecording(skeleton: Skeleton, recording: Recording, options: RecordingOptions = {}): TrackedRecording {
    const { model } = skeleton;
    if (!model) {
        throw new PoiseError('argument', 'the skeleton has no model');
    }
    const { labels, subject, pairs = [], sourceScale: fromScale, thresholds = {}, onProgress, ...plain } = options;
    const module = model.module;
    return module.scoped((keep) => {
        const files = [skeleton, recording].map((content) =>
            fileIn(module, content, (content as Skeleton).format ?? 'unknown', keep));
        const problem = keep(newStructs(module, 'poise_recording_problem'));
        module.call('poise_recording_of_files', problem, ...files);
        setStruct(module, 'poise_recording_problem', problem, plain, {
            labels: keep(module.text(labels)), subject: keep(module.text(subject)), fromScale,
            pairs: keep(module.ints(pairs.map((pair) => keep(module.text(pair))))), pairCount: pairs.length,
        });
        const limits = memberAt('poise_recording_problem', problem, 'thresholds');
        for (const [name, value] of Object.entries(thresholds)) {
            const [doubtful, failed] = typeof value === 'number' ? [value, -1] : value;
            module.run('poise_thresholds_set', limits, keep(module.text(name)), doubtful, failed);
        }
        if (onProgress) {
            module.call('web_recording_progress', problem);
            module.host.progress = hearingOf(onProgress);
        }
        try {
            return takeResult(module, module.make('poise_track_recording', [problem], [], 'poise_recording_destroy'), model);
        } finally {
            module.host.progress = null;
        }
    });
}
