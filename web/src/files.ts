import { GoalSet, readGoals, type Goal } from './goals.js';
import type { Address, Module } from './module.js';
import { Model } from './model.js';
import { Clip, Markers } from './motion.js';
import { placementsIn, placementsOut, type Placement } from './track.js';
import { formats, ups, type Format, type Numbers, type Scale } from './values.js';

/** Something odd that did not keep a file from being read, or that could not be written. */
export interface Warning {
    /** 1-based; 0: no line. */
    readonly line: number;
    readonly text: string;
}

/** A named configuration. */
export interface Posture {
    name: string;
    q: Numbers;
}

export interface ReadOptions {
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
    /** URDF, MJCF: a free root instead of one fixed to the world. [false] */
    floating?: boolean;
    /** The bytes of another file that this one names (glTF buffers, MJCF includes); null: there is none. */
    load?: (name: string) => Uint8Array | null | undefined;
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
    readonly scale: Scale;
    readonly title: string | null;
    readonly warnings: Warning[];
    /** Warnings beyond the first thousand. */
    readonly warningsDropped: number;
    /** Dispose of model, clip and markers. */
    dispose(): void;
    [Symbol.dispose](): void;
}

/** What to write: any of the parts of a file. */
export interface FileContent {
    model?: Model | null;
    clip?: Clip | null;
    markers?: Markers | null;
    goals?: readonly Goal[];
    postures?: readonly Posture[];
    placements?: readonly Placement[];
    scale?: Scale;
    title?: string | null;
}

const positionRules = ['decide', 'replace', 'add'];

/** @internal The format of these bytes, by their beginning or the extension of the name. */
export function detectFormat(module: Module, bytes: Uint8Array, name?: string): Format {
    return withBytes(module, bytes, (at) =>
        module.withTexts(
            [name], (text = 0) => formats[module.call('poise_format_detect', at, bytes.length, text)] ?? 'unknown',
        ),
    );
}

function withBytes<T>(module: Module, bytes: Uint8Array, use: (address: Address) => T): T {
    const at = module.allocate(Math.max(bytes.length, 1));
    try {
        module.bytes.set(bytes, at);
        return use(at);
    } finally {
        module.release(at);
    }
}

/** @internal */
export function readFile(module: Module, bytes: Uint8Array, options: ReadOptions): PoiseFile {
    const outer = module.host.load;
    module.host.load = options.load ?? null;
    try {
        return withBytes(module, bytes, (at) =>
            module.withTexts([options.name], (name = 0) => {
                const row = [
                    formats.indexOf(options.format ?? 'unknown'), name, options.model?.address ?? 0,
                    positionRules.indexOf(options.positions ?? 'decide'), options.animation ?? 0, options.floating ? 1 : 0,
                    options.load ? 1 : 0,
                ];
                module.put(module.scratch, row, row.length);
                const file = module.call('web_read', at, bytes.length, module.scratch);
                if (module.host.thrown && file !== 0) {
                    module.call('poise_file_destroy', file);
                }
                return takeFile(module, module.need(file), options.model);
            }),
        );
    } finally {
        module.host.load = outer;
    }
}

function readWarnings(module: Module, list: Address, count: number): Warning[] {
    return Array.from({ length: count }, (_, i) => ({
        line: module.call('web_warning_line', list, i),
        text: module.string(module.call('web_warning_text', list, i)),
    }));
}

/** Everything out of the file of the C side, which ends here. */
function takeFile(module: Module, file: Address, other: Model | undefined): PoiseFile {
    module.call('web_file_take', file, module.scratch);
    const [
        format = 0, modelAt = 0, clipAt = 0, markersAt = 0, goalsAt = 0, goalCount = 0, posturesAt = 0, postureCount = 0,
        placementsAt = 0, placementCount = 0, metres = 0, up = 0, title = 0, warningCount = 0, warningsDropped = 0,
    ] = module.view(module.scratch, 15).slice();
    const model = modelAt ? new Model(module, modelAt) : null;
    const clip = clipAt ? new Clip(module, clipAt) : null;
    const markers = markersAt ? new Markers(module, markersAt) : null;
    const { nq, nv } = model ?? other ?? { nq: 0, nv: 0 };
    const dispose = () => [model, clip, markers].forEach((part) => part?.dispose());
    const result: PoiseFile = {
        format: formats[format] ?? 'unknown', model, clip, markers,
        goals: readGoals(module, goalsAt, goalCount, nq, nv),
        postures: Array.from({ length: postureCount }, (_, i) => ({
            name: module.string(module.call('web_posture_name', posturesAt, i)),
            q: module.copyOut(module.call('web_posture_q', posturesAt, i), nq),
        })),
        placements: placementsOut(module, placementsAt, placementCount),
        scale: { metres, up: ups[up] ?? 'unknown' },
        title: title ? module.string(title) : null,
        warnings: readWarnings(module, module.call('web_file_warnings', file), warningCount),
        warningsDropped, dispose, [Symbol.dispose]: dispose,
    };
    module.call('poise_file_destroy', file);
    return result;
}

const WARNINGS = 100; // of a write that are reported

/** @internal */
export function writeFile(module: Module, content: FileContent, format: Format): { bytes: Uint8Array; warnings: Warning[] } {
    const owned: Address[] = [];
    const keep = (memory: Address): Address => {
        owned.push(memory);
        return memory;
    };
    const goals = new GoalSet(module, content.goals ?? []);
    const placements = placementsIn(module, content.placements ?? []);
    try {
        const postures = keep(module.need(module.call('web_postures_create', content.postures?.length ?? 0)));
        content.postures?.forEach((posture, i) =>
            module.call('web_posture_set', postures, i, keep(module.text(posture.name)), keep(module.copyIn(posture.q))),
        );
        const title = keep(module.text(content.title));
        const warnings = keep(module.need(module.call('web_warnings_create', WARNINGS)));
        const sizes = keep(module.allocate(8));
        const row = [
            formats.indexOf(format), content.model?.address ?? 0, content.clip?.address ?? 0, content.markers?.address ?? 0,
            goals.length ? goals.address : 0, goals.length, postures, content.postures?.length ?? 0, placements.address,
            content.placements?.length ?? 0, content.scale?.metres ?? 0, ups.indexOf(content.scale?.up ?? 'unknown'), title,
        ];
        module.put(module.scratch, row, row.length);
        new Int32Array(module.bytes.buffer, sizes, 1)[0] = WARNINGS;
        const bytes = keep(module.need(module.call('web_write', module.scratch, warnings, sizes)));
        const [size = 0, count = 0] = new Int32Array(module.bytes.buffer, sizes, 2);
        return {
            bytes: module.bytes.slice(bytes, bytes + size),
            warnings: readWarnings(module, warnings, Math.min(count, WARNINGS)),
        };
    } finally {
        owned.forEach((memory) => module.release(memory));
        placements.release();
        goals.dispose();
    }
}
