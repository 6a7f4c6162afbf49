import { PoiseError } from './errors.js';
import { GoalSet, type Goal } from './goals.js';
import type { Model } from './model.js';
import type { Address, Keep, Module } from './module.js';
import { Clip } from './motion.js';
import { fileIn, type FileContent } from './files.js';
import { judged, type Finding } from './recording.js';
import type { SkeletonMotion } from './retarget.js';
import { getStruct, getStructs, initStruct, layoutOf, memberAt, newStruct, newStructs, setStruct } from './structs.js';
import { ups, type Up, type VerdictLevel } from './values.js';

/** A pin: a goal in words and when it holds, in seconds; with keys it goes through their places, smoothly. */
export interface PinDescription {
    /** "position hand 1.2 0.3 0.9", "foot.L where it is"; of keys the kind and the body alone. */
    goal: string;
    from?: number;
    to?: number;
    /** [0.25] seconds; `fadeOut` where the end differs. */
    fade?: number;
    fadeOut?: number;
    keys?: readonly { time: number; target: readonly number[] | string }[];
}

/** A pin of a goal as solvers take it. */
export interface GoalPin {
    goal: Goal;
    /** Goals of its kind and body at moments, in seconds: it goes through these instead, smoothly. */
    path?: readonly { time: number; goal: Goal }[];
    from?: number;
    to?: number;
    /** [0.25] seconds before `from` and after `to`; `fadeOut` where the end differs. */
    fade?: number;
    fadeOut?: number;
}

/** What to do to a motion; defaults in brackets. What comes first here is done first. */
export interface EditOptions {
    /** [false] exchange left and right. */
    mirror?: boolean;
    /** [false] run it backwards. */
    reverse?: boolean;
    /** [1] run it so many times as fast. */
    speed?: number;
    /** Another motion of this skeleton after it, brought to where it ends. */
    append?: Clip;
    /** [false] make a clip that can be repeated. */
    loop?: boolean;
    /** [0.3] seconds over which `append` and `loop` fade. */
    blend?: number;
    /** Goals that hold for a while, in words, "hand 1.2 0.3 0.9 from 2 s to 3 s fade 0.2", as objects, or goals themselves. */
    pins?: readonly Pin[];
    /** nv flags: degrees of freedom that no pin moves. */
    locked?: ArrayLike<boolean | number>;
    /** [false] pin feet where they rest. */
    cleanFeet?: boolean;
    /** [true] feet of a human skeleton that are not pinned stay on their path. */
    keepFeet?: boolean;
    /** [as the file says, else as the figure stands] the upward axis. */
    up?: Up;
}

/** A motion to edit: what `poise.read` gave, or its parts. Shapes tell whether bodies overlap. */
export type EditableMotion = SkeletonMotion & Partial<Pick<FileContent, 'shapes' | 'hulls' | 'shapesSkipped' | 'excluded'>>;

/** How a pin went. */
export interface PinResult {
    /** As it was written. */
    readonly text: string;
    /** Frames that it changes, fades included; first > last: none. */
    readonly first: number;
    readonly last: number;
    /** Frames in which it holds in full, and how many of those it misses in. */
    readonly heldFirst: number;
    readonly heldLast: number;
    readonly missed: number;
    /** Largest error, in length units and radians, and its frame; null: it holds everywhere. */
    readonly worstLength: number;
    readonly worstAngle: number;
    readonly worstFrame: number | null;
}

/** A motion that was edited. The clip holds memory until `dispose()`, or the end of a `using` block. */
export interface EditedMotion {
    readonly clip: Clip;
    /** The verdict is good, and the mirror could be met. */
    readonly isGood: boolean;
    /**
     * What pins did to the body beyond what they asked for, compared with the motion as it was; null: there were none.
     * Findings name body and frames, the worst first.
     */
    readonly verdict: VerdictLevel | null;
    readonly findings: Finding[];
    /** The skeleton has collision shapes; without them nothing is known of overlaps. */
    readonly overlapsChecked: boolean;
    /** In words first, those of feet last. */
    readonly pins: PinResult[];
    /** Frames that pins changed, and in which some pin is out of reach. */
    readonly changed: number;
    readonly missed: number;
    /** Of the solver, in all frames together. */
    readonly iterations: number;
    /** A frame in which a joint turns suddenly, and which; null: nowhere. */
    readonly snapFrame: number | null;
    readonly snapJoint: string | null;
    /** Largest angle of a body from where the mirror has it, radians. */
    readonly mirrorAngle: number;
    dispose(): void;
    [Symbol.dispose](): void;
}

const MIRRORED = 1e-3; // radians: a mirror that is farther off was not met

/** The clip mirrored, reversed, at another speed, with another one behind it, looped; a copy in any case. */
function changed(model: Model, clip: Clip, up: number, options: EditOptions, report: Address): Clip {
    const { mirror, reverse, speed = 1, append, loop, blend = 0.3 } = options;
    const { module } = model;
    type Step = readonly [boolean | undefined, string, (at: Address) => number[], number[]];
    const steps: Step[] = [
        [mirror, 'poise_clip_mirror', (at) => [model.address, at], [report]],
        [reverse, 'poise_clip_reverse', (at) => [at], []],
        [speed !== 1, 'poise_clip_speed', (at) => [at, model.address, speed], []],
        [append !== undefined, 'poise_clip_append', (at) => [model.address, at, append!.address, blend, up], []],
        [loop, 'poise_clip_loop', (at) => [model.address, at, blend, up], []],
    ];
    let made = clip.trim(0, clip.frames);
    for (const [isWanted, name, values, more] of steps) {
        if (isWanted) {
            using before = made;
            made = new Clip(module, module.make(name, values(before.address), more));
        }
    }
    return made;
}

/** Pins as the C side's JSON has them. */
function documentOf(pins: readonly PinDescription[]): string {
    return JSON.stringify({ pins: pins.map(({ fadeOut, ...pin }) => ({ ...pin, fade_out: fadeOut })) });
}

type Pin = string | PinDescription | GoalPin;
const isOfGoal = (pin: Pin): pin is GoalPin => typeof pin === 'object' && typeof pin.goal === 'object';
const isOfWords = (pin: Pin): pin is string | PinDescription => !isOfGoal(pin);

/** All goals of pins, in their order. */
const goalsOf = (pins: readonly GoalPin[]): Goal[] => pins.flatMap(({ goal, path = [] }) => (path.length > 0 ? path.map((key) => key.goal) : [goal]));

/** Write pins of goals, which `set` holds as `goalsOf` has them. */
function putGoalPins(module: Module, at: Address, pins: readonly GoalPin[], set: GoalSet, keep: Keep): void {
    const size = (struct: string) => layoutOf(struct).size;
    let next = set.address;
    const take = (struct: string, address: Address) => {
        module.bytes.copyWithin(memberAt(struct, address, 'goal'), next, next + size('poise_goal'));
        next += size('poise_goal');
    };
    pins.forEach(({ path = [], from, to, fade, fadeOut = fade }, i) => {
        const pin = at + i * size('poise_pin');
        const keys = path.length > 0 ? keep(newStructs(module, 'poise_pin_key', path.length)) : 0;
        initStruct(module, 'poise_pin', pin);
        setStruct(module, 'poise_pin', pin, { keyCount: path.length, from, to, fadeIn: fade, fadeOut }, { keys });
        path.forEach(({ time }, k) => {
            const key = keys + k * size('poise_pin_key');
            setStruct(module, 'poise_pin_key', key, { time });
            take('poise_pin_key', key);
        });
        if (path.length === 0) {
            take('poise_pin', pin);
        }
    });
}

/** Fill a list of the C side with the pins in words; an array of these, of those of goals and of those of feet, and the texts of all. */
function pinsIn(model: Model, clip: Clip, list: Address, set: GoalSet, options: EditOptions, keep: Keep): { at: Address; texts: string[] } {
    const { pins = [], cleanFeet } = options;
    const { module } = model;
    const words = keep(newStruct(module, 'poise_goal_words', {}, { model: model.address }));
    for (const pin of pins.filter(isOfWords)) { // one by one: errors and results are in their order
        const text = keep(module.text(typeof pin === 'string' ? pin : documentOf([pin])));
        if (typeof pin === 'string') {
            module.run('poise_pin_list_parse', list, words, clip.address, text);
        } else {
            const size = new TextEncoder().encode(documentOf([pin])).length;
            module.run('poise_pin_list_read', list, words, clip.address, text, size);
        }
    }
    const given = getStruct<{ count: number; pins: Address; texts: Address }>(module, 'poise_pin_list', list);
    const texts = Array.from(new Uint32Array(module.bytes.buffer, given.texts, given.count), (text) => module.string(text));
    const ofGoals = pins.filter(isOfGoal);
    const feet = keep(newStructs(module, 'poise_feet_report'));
    if (cleanFeet) {
        module.run('poise_feet_pins', model.address, clip.address, 0, 0, 0, feet);
    }
    const { contacts } = getStruct<{ contacts: number }>(module, 'poise_feet_report', feet);
    const { size } = layoutOf('poise_pin');
    const at = keep(newStructs(module, 'poise_pin', given.count + ofGoals.length + contacts));
    module.bytes.copyWithin(at, given.pins, given.pins + given.count * size);
    putGoalPins(module, at + given.count * size, ofGoals, set, keep);
    if (contacts > 0) {
        module.run('poise_feet_pins', model.address, clip.address, 0, at + (given.count + ofGoals.length) * size, contacts, feet);
    }
    const names = ofGoals.map(({ goal: { kind, body = -1 } }) => [kind, model.joints[body]?.body].filter(Boolean).join(' '));
    return { at, texts: [...texts, ...names, ...Array<string>(contacts).fill('a foot that rests')] };
}

type Verdict = Pick<EditedMotion, 'verdict' | 'findings' | 'overlapsChecked'>;
type Pinned = Pick<EditedMotion, 'pins' | 'changed' | 'missed' | 'iterations' | 'snapFrame' | 'snapJoint'> & Verdict;

const MOST_FINDINGS = 64;

/** The verdict of the C side; `made` are the addresses of pins, results and report. */
function judge(model: Model, motion: EditableMotion, before: Clip, after: Clip, pinCount: number, made: Record<string, Address>, keep: Keep): Verdict {
    const { module } = model;
    const metres = motion.scale?.metres ?? 0;
    const { shapes, hulls, excluded, shapesSkipped } = motion;
    const content = { model, clip: null, scale: motion.scale, shapes, hulls, excluded, shapesSkipped } as unknown as FileContent;
    type Parts = Record<'hulls' | 'hullCount' | 'shapes' | 'shapeCount' | 'excluded' | 'excludedCount', number>;
    const file = getStruct<Parts>(module, 'poise_file', fileIn(module, content, 'unknown', keep));
    const overlap = keep(newStruct(module, 'poise_overlap_problem', {
        hullCount: file.hullCount, shapeCount: file.shapeCount, excludedCount: file.excludedCount, metres: metres > 0 ? metres : 1,
    }, { hulls: file.hulls, shapes: file.shapes, excluded: file.excluded }));
    const problem = keep(newStruct(module, 'poise_edit_problem', {
        pinCount, metres, unread: shapesSkipped ?? 0,
    }, { model: model.address, before: before.address, after: after.address, overlap, ...made }));
    const verdict = keep(newStructs(module, 'poise_verdict'));
    const findings = keep(newStructs(module, 'poise_finding', MOST_FINDINGS));
    module.run('poise_edit_judge', problem, 0, verdict, findings, MOST_FINDINGS);
    return { ...judged(module, verdict, findings, MOST_FINDINGS), overlapsChecked: file.hullCount + file.shapeCount > 0 };
}

function pin(model: Model, clip: Clip, motion: EditableMotion, options: EditOptions): Pinned {
    const { module } = model;
    const metres = motion.scale?.metres ?? 0;
    const { locked, pins = [] } = options;
    if (locked && locked.length !== model.nv) {
        throw new PoiseError('argument', `locked: ${model.nv} flags are needed, ${locked.length} were given`);
    }
    const list = module.make('poise_pin_list_create');
    using set = new GoalSet(module, goalsOf(pins.filter(isOfGoal)));
    try {
        return module.scoped((keep) => {
            const { at, texts } = pinsIn(model, clip, list, set, options, keep);
            const flags = locked ? keep(module.allocate(model.nv)) : 0;
            module.bytes.set(Array.from(locked ?? [], (flag) => (flag ? 1 : 0)), flags);
            const how = keep(newStruct(module, 'poise_pin_options', {
                keepFeet: options.keepFeet ?? true, metres,
            }, { locked: flags }));
            const results = keep(newStructs(module, 'poise_pin_result', texts.length));
            const report = keep(newStructs(module, 'poise_pin_report'));
            using before = clip.trim(0, clip.frames);
            module.run('poise_clip_pin', model.address, at, texts.length, how, clip.address, 0, results, report);
            type Report = { frames: number; missed: number; iterations: number; snapFrame: number; snapDof: number };
            const all = getStruct<Report>(module, 'poise_pin_report', report);
            const snaps = all.frames > 0 && all.snapFrame >= 0;
            const joint = model.joints.find(({ v, nv }) => all.snapDof >= v && all.snapDof < v + nv);
            return {
                pins: getStructs<PinResult>(module, 'poise_pin_result', results, texts.length)
                    .map((r, i) => ({ ...r, worstFrame: r.worstFrame! < 0 ? null : r.worstFrame, text: texts[i]! })),
                changed: all.frames, missed: all.missed, iterations: all.iterations, snapFrame: snaps ? all.snapFrame : null,
                snapJoint: (snaps && joint?.name) || null,
                ...judge(model, motion, before, clip, texts.length, { pins: at, results, report }, keep),
            };
        });
    } finally {
        module.call('poise_pin_list_destroy', list);
    }
}

/** What was done to a motion by other means than pins: `after` against the motion as it was, which `edit` does of its own. */
export function judgeEdit(motion: EditableMotion, after: Clip): { verdict: VerdictLevel; findings: Finding[]; overlapsChecked: boolean } {
    const { model, clip } = motion;
    if (!model || !clip) {
        throw new PoiseError('argument', 'there is no motion with its skeleton');
    }
    const { verdict, ...more } = model.module.scoped((keep) => judge(model, motion, clip, after, 0, {}, keep));
    return { verdict: verdict!, ...more };
}

/**
 * A motion with goals over time, feet that do not skate, mirrored, looped, joined to another: all that `poise edit` does. The
 * motion that was given stays as it was. A pin that is out of reach is not thrown: look at `isGood`.
 */
export function edit(motion: EditableMotion, options: EditOptions = {}): EditedMotion {
    const { model, clip: given, scale } = motion;
    if (!model || !given) {
        throw new PoiseError('argument', 'there is no motion with its skeleton');
    }
    const { module } = model;
    return module.scoped((keep) => {
        const report = keep(newStructs(module, 'poise_mirror_report'));
        const clip = changed(model, given, ups.indexOf(options.up ?? scale?.up ?? 'unknown'), options, report);
        const { worstAngle } = getStruct<{ worstAngle: number }>(module, 'poise_mirror_report', report);
        try {
            const isPinned = (options.pins?.length ?? 0) > 0 || options.cleanFeet;
            const none: Pinned = { pins: [], changed: 0, missed: 0, iterations: 0, snapFrame: null, snapJoint: null, verdict: null, findings: [], overlapsChecked: false };
            const pinned = isPinned ? pin(model, clip, motion, options) : none;
            const dispose = () => clip.dispose();
            return {
                clip, ...pinned, mirrorAngle: worstAngle,
                isGood: (pinned.verdict ?? 'good') === 'good' && worstAngle <= MIRRORED,
                dispose, [Symbol.dispose]: dispose,
            };
        } catch (error) {
            clip.dispose();
            throw error;
        }
    });
}
