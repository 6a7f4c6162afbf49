import { Carried } from './carried.js';
import { type Pair, type Shape, structsIn } from './clearance.js';
import type { PoiseWarning } from './layouts.js';
import { loopsIn, type Loop } from './loops.js';
import { GoalSet, readGoals, type Goal } from './goals.js';
import type { Address, Module } from './module.js';
import { Model } from './model.js';
import { Clip, Markers } from './motion.js';
import { getStruct, getStructs, layoutOf, newStruct, newStructs, setStruct } from './structs.js';
import { placementsIn, type Placement } from './track.js';
import { formats, ups, upSources, type Format, type Numbers, type Scale, type Up, type UpSource } from './values.js';

/** Something odd that did not keep a file from being read, or that could not be written. */
export type Warning = PoiseWarning;

/** A named configuration. */
export interface Posture {
    name: string;
    q: Numbers;
}

/** Changes to a file as it is read, in this order. What is left out stays as it is. */
export interface Edit {
    /** Keep `count` frames from `first` on; all from there on without `count`. */
    first?: number;
    count?: number;
    /** Frames per second. */
    rate?: number;
    /** What lengths and axes mean where the file itself does not say. */
    assumed?: Scale;
    /** What they are to mean; 0 and 'unknown': as they are. */
    scale?: Scale;
    /** Ball and free joints as Euler angles. */
    euler?: boolean;
}

export interface ReadOptions {
    edit?: Edit;
    /** Of the file, for detection and messages. */
    name?: string;
    /** Left out: by the file's beginning, or its name. */
    format?: Format;
    /** The skeleton that an AMC or MOT file moves, or that goals and postures of a JSON file are for. */
    model?: Model;
    /** What position channels of a BVH joint mean: replace OFFSET, add to it, or [decide] by the data. */
    positions?: 'decide' | 'replace' | 'add';
    /** glTF: which of the animations becomes the clip. [0] */
    animation?: number;
    /** URDF, MJCF: a free root instead of one fixed to the world; glTF: the same for a skin that no animation moves. [false] */
    floating?: boolean;
    /** URDF, MJCF: limits of a joint that follows another (a mimic) do not narrow those of the other. [false] */
    ignoreFollowerLimits?: boolean;
    /** URDF, MJCF: load collision meshes and cover them with shapes, which takes up to seconds. [false] */
    meshes?: boolean;
    /** The bytes of another file that this one names (glTF buffers, MJCF includes, meshes); null: there is none. */
    load?: (name: string) => Uint8Array | null | undefined;
}

/** The convex hull of points of a body, with a radius around it. */
export interface Hull {
    body: number;
    /** x, y, z of each, in the frame of the body. */
    corners: Float64Array;
    radius: number;
    /** Bits, as of shapes. */
    groups: number;
    against: number;
}

/** What was in a file. Parts that it does not hold are null, or empty. */
export interface PoiseFile {
    readonly format: Format;
    readonly model: Model | null;
    readonly clip: Clip | null;
    readonly markers: Markers | null;
    readonly goals: Goal[];
    readonly postures: Posture[];
    readonly placements: Placement[];
    /** URDF, MJCF, poise JSON: collision shapes of the bodies; a cylinder is the capsule that covers it. */
    readonly shapes: Shape[];
    /** The same geometry as it is: by these it is measured how far bodies lie inside each other. */
    readonly hulls: Hull[];
    /** Collision shapes that were not read: meshes, without `meshes` or where they were not found. */
    readonly shapesSkipped: number;
    /** Bodies whose shapes may touch: SRDF, MJCF, poise JSON. */
    readonly excluded: Pair[];
    /** What closes loops of the skeleton: MJCF, poise JSON. Give them to a solver as `new Loops(model, loops)`. */
    readonly loops: Loop[];
    readonly scale: Scale;
    /** What points up: `scale.up`, or, where the file does not say, the one guess that all programs share; */
    readonly up: Up;
    /** and what tells: the file, the figure in it as it stands, or nothing but custom. */
    readonly upBy: UpSource;
    /** What it holds beside all that and goes on to a file of its kind: give it to `poise.write`. */
    readonly carried: Carried | null;
    readonly title: string | null;
    readonly warnings: Warning[];
    /** Warnings beyond the first thousand. */
    readonly warningsDropped: number;
    /** Dispose of model, clip, markers and what is carried. */
    dispose(): void;
    [Symbol.dispose](): void;
}

/** What to write: any of the parts of a file. */
export interface FileContent {
    /** Where it was read from: a BVH that had no End Sites is written without them. */
    format?: Format;
    model?: Model | null;
    clip?: Clip | null;
    markers?: Markers | null;
    goals?: readonly Goal[];
    postures?: readonly Posture[];
    placements?: readonly Placement[];
    /** Poise JSON holds shapes, bodies that may touch, and loops; other formats leave them out. */
    shapes?: readonly Shape[];
    hulls?: readonly Hull[];
    excluded?: readonly Pair[];
    loops?: readonly Loop[];
    /** Collision shapes that were not read: what judges the model says that it does not know them. */
    shapesSkipped?: number;
    scale?: Scale;
    /** What a file that was read holds beside: meshes, events, analog channels. */
    carried?: Carried | null;
    title?: string | null;
    /** The clip is another motion than that of the file, of this name: glTF puts it before the animations that are carried. */
    motion?: string | null;
}

/** @internal The format of these bytes, by their beginning or the extension of the name. */
export function detectFormat(module: Module, bytes: Uint8Array, name?: string): Format {
    return withBytes(module, bytes, (at) =>
        module.withTexts(
            [name], (text = 0) => formats[module.call('poise_format_detect', at, bytes.length, text)] ?? 'unknown',
        ),
    );
}

function withBytes<T>(module: Module, bytes: Uint8Array, use: (address: Address) => T): T {
    return module.scoped((keep) => {
        const at = keep(module.allocate(bytes.length));
        module.bytes.set(bytes, at);
        return use(at);
    });
}

/** @internal */
export function readFile(module: Module, bytes: Uint8Array, options: ReadOptions): PoiseFile {
    const { name, model, load, edit, ...plain } = options;
    const { host } = module;
    const outer = host.load;
    host.load = load ?? null;
    try {
        return withBytes(module, bytes, (at) =>
            module.scoped((keep) => {
                const own = { name: keep(module.text(name)), model: model?.address, load: load && module.call('web_load') };
                const row = keep(newStruct(module, 'poise_read_options', plain, own));
                const file = module.make('poise_read', [at, bytes.length, row], [], 'poise_file_destroy');
                if (edit) {
                    editFile(module, file, edit);
                }
                return takeFile(module, file, model);
            }),
        );
    } finally {
        host.load = outer;
        host.loaded.splice(0).forEach((memory) => module.release(memory));
    }
}

function editFile(module: Module, file: Address, edit: Edit): void {
    module.scoped((keep) => {
        try {
            module.run('poise_file_edit', file, keep(newStruct(module, 'poise_edit', edit)), 0);
        } catch (error) {
            module.call('poise_file_destroy', file);
            throw error;
        }
    });
}

/** A poise_file. */
interface FileStruct {
    format: Format;
    model: Address;
    clip: Address;
    markers: Address;
    goals: Address;
    goalCount: number;
    postures: Address;
    postureCount: number;
    placements: Address;
    placementCount: number;
    shapes: Address;
    shapeCount: number;
    hulls: Address;
    hullCount: number;
    shapesSkipped: number;
    excluded: Address;
    excludedCount: number;
    loops: Address;
    loopCount: number;
    scale: Scale;
    carried: Address;
    title: string | null;
    warnings: Address;
    warningCount: number;
    warningsDropped: number;
}

/** Everything out of the file of the C side, which ends here, unless something of it is carried; model, clip and markers go on. */
function takeFile(module: Module, address: Address, other: Model | undefined): PoiseFile {
    const file = getStruct<FileStruct>(module, 'poise_file', address);
    const up = ups[module.call('poise_file_up', address, module.scratch)] ?? 'unknown';
    const upBy = upSources[module.data.getInt32(module.scratch, true)] ?? 'file';
    setStruct(module, 'poise_file', address, {}, { model: 0, clip: 0, markers: 0 });
    const model = file.model ? new Model(module, file.model) : null;
    const clip = file.clip ? new Clip(module, file.clip) : null;
    const markers = file.markers ? new Markers(module, file.markers) : null;
    const { nq, nv } = model ?? other ?? { nq: 0, nv: 0 };
    const carried = file.carried ? new Carried(module, file.carried, address) : null;
    const dispose = () => [model, clip, markers, carried].forEach((part) => part?.dispose());
    const postures = getStructs<{ name: string; q: Address }>(module, 'poise_posture', file.postures, file.postureCount);
    const result: PoiseFile = {
        format: file.format, model, clip, markers,
        goals: readGoals(module, file.goals, file.goalCount, nq, nv),
        postures: postures.map(({ name, q }) => ({ name, q: module.copyOut(q, nq) })),
        placements: getStructs(module, 'poise_placement', file.placements, file.placementCount),
        shapes: getStructs(module, 'poise_shape', file.shapes, file.shapeCount),
        hulls: getStructs<Omit<Hull, 'corners'> & { corners: Address; cornerCount: number }>(
            module, 'poise_hull', file.hulls, file.hullCount,
        ).map(({ corners, cornerCount, ...hull }) => ({ ...hull, corners: module.copyOut(corners, 3 * cornerCount) })),
        shapesSkipped: file.shapesSkipped,
        excluded: getStructs(module, 'poise_pair', file.excluded, file.excludedCount),
        loops: getStructs<Loop>(module, 'poise_constraint', file.loops, file.loopCount).map(
            ({ kind, body, body2, local, target, lower, upper }) => ({ kind, body, body2, local, target, lower, upper }),
        ),
        scale: file.scale, up, upBy,
        carried,
        title: file.title,
        warnings: getStructs(module, 'poise_warning', file.warnings, file.warningCount),
        warningsDropped: file.warningsDropped, dispose, [Symbol.dispose]: dispose,
    };
    if (!carried) {
        module.call('poise_file_destroy', address);
    }
    return result;
}

const WARNINGS = 100; // of a write that are reported

function hullsIn(module: Module, hulls: readonly Hull[], keep: (memory: Address) => Address): Address {
    const list = keep(newStructs(module, 'poise_hull', hulls.length));
    const { size } = layoutOf('poise_hull');
    hulls.forEach(({ corners, ...hull }, i) =>
        setStruct(module, 'poise_hull', list + i * size, hull, {
            corners: keep(module.copyIn(corners)), cornerCount: corners.length / 3,
        }),
    );
    return list;
}

/** @internal A poise_file of these parts, without goals, all of it for `keep`. */
export function fileIn(module: Module, content: FileContent, format: Format, keep: (memory: Address) => Address): Address {
    const { postures = [], placements = [], shapes = [], hulls = [], excluded = [], loops = [], shapesSkipped = 0, scale } = content;
    const list = keep(newStructs(module, 'poise_posture', postures.length));
    postures.forEach(({ name, q }, i) =>
        setStruct(module, 'poise_posture', list + i * layoutOf('poise_posture').size, {}, {
            name: keep(module.text(name)), q: keep(module.copyIn(q)),
        }),
    );
    return keep(newStruct(module, 'poise_file', { format, shapesSkipped, scale }, {
        model: content.model?.address, clip: content.clip?.address, markers: content.markers?.address, postures: list,
        postureCount: postures.length, placements: placementsIn(module, placements, keep),
        placementCount: placements.length, shapes: keep(structsIn(module, 'poise_shape', shapes)), shapeCount: shapes.length,
        hulls: hullsIn(module, hulls, keep), hullCount: hulls.length,
        excluded: keep(structsIn(module, 'poise_pair', excluded)), excludedCount: excluded.length, loops: keep(loopsIn(module, loops)), loopCount: loops.length,
        carried: content.carried?.address, title: keep(module.text(content.title)),
        motion: keep(module.text(content.motion)),
    }));
}

/** @internal */
export function writeFile(module: Module, content: FileContent, format: Format): { bytes: Uint8Array; warnings: Warning[] } {
    const goals = new GoalSet(module, content.goals ?? []);
    try {
        if (content.model) {
            goals.checkArrays(content.model);
        }
        return module.scoped((keep) => {
            const warnings = keep(newStructs(module, 'poise_warning', WARNINGS));
            const [sizeAt, countAt] = [keep(module.allocate(4)), keep(module.ints([WARNINGS]))];
            const file = fileIn(module, content, content.format ?? 'unknown', keep);
            setStruct(module, 'poise_file', file, {}, {
                goals: goals.length ? goals.address : 0, goalCount: goals.length,
            });
            const bytes = keep(module.make('poise_write', [file, formats.indexOf(format)], [sizeAt, warnings, countAt]));
            const [size, count] = [module.data.getUint32(sizeAt, true), module.data.getInt32(countAt, true)];
            return {
                bytes: module.bytes.slice(bytes, bytes + size),
                warnings: getStructs<Warning>(module, 'poise_warning', warnings, Math.min(count, WARNINGS)),
            };
        });
    } finally {
        goals.dispose();
    }
}
