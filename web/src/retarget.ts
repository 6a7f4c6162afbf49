import { PoiseError } from './errors.js';
import { fileIn, type FileContent } from './files.js';
import type { PoiseRetargetOutcome } from './layouts.js';
import type { Model } from './model.js';
import type { Address, Keep, Module } from './module.js';
import { Clip } from './motion.js';
import { judged, type Finding } from './recording.js';
import { getStruct, getStructs, newStructs, setStruct } from './structs.js';
import type { Up, VerdictLevel } from './values.js';

/** A motion with the skeleton that it moves: what `poise.read` gave, or its parts. */
export type SkeletonMotion = Pick<FileContent, 'scale'> & { model: Model | null; clip: Clip | null };

/** A skeleton that is to follow: what `poise.read` gave, or its parts. Shapes tell where the soles are and what touches; loops that come open are told. */
export type Follower = Pick<FileContent, 'format' | 'clip' | 'scale' | 'shapes' | 'hulls' | 'shapesSkipped' | 'excluded' | 'loops'> & { model: Model | null };

/** Which body of the motion, and which of the skeleton that follows, is a part of the body; null: nobody. */
export interface Role {
    /** "thigh.left", "index2.right" */
    readonly name: string;
    readonly motion: string | null;
    readonly skeleton: string | null;
    /** 1 a name that says it, 0.8 a joint of a chain, 0.6 by shape alone. */
    readonly confidence: number;
}

/** How to retarget; defaults in brackets. `retarget.h` of the C library says more. */
export interface RetargetOptions {
    /** Who plays which role: `roles` of an earlier answer, edited, or the text of a map. [found by names and shape] */
    map?: readonly Omit<Role, 'confidence'>[] | string;
    /** [auto] plant feet where the motion's rest, or let them follow. */
    feet?: 'auto' | 'follow' | 'plant';
    /** [0: found] height of the ankle above the sole, in units of the skeleton. */
    sole?: number;
    /** [found] height of the ground in the motion. */
    ground?: number;
    /** [none] limit of all joints but a free root, radians or lengths a second; those of a URDF hold in any case. */
    velocity?: number;
    /** [true] hold joint limits and velocities. */
    useLimits?: boolean;
    /** [as the files say, else as the figures stand] upward axes of the motion and of the skeleton. */
    fromUp?: Up;
    toUp?: Up;
}

/** What of the feet rests on the ground in a frame. */
export interface Contacts {
    readonly leftHeel: boolean;
    readonly leftToe: boolean;
    readonly rightHeel: boolean;
    readonly rightToe: boolean;
}

/** Measures of a motion on another skeleton. Lengths are in units of that, angles in radians, speeds a second. */
export type RetargetOutcome = PoiseRetargetOutcome;

/** A motion on another skeleton. The clip holds memory until `dispose()`, or the end of a `using` block. */
export interface RetargetedMotion {
    readonly clip: Clip;
    readonly roles: Role[];
    /** Of all roles, by their number. */
    readonly roleNames: string[];
    /** By frame. */
    readonly contacts: Contacts[];
    readonly outcome: RetargetOutcome;
    /** How far it can be trusted, */
    readonly verdict: VerdictLevel;
    /** and why: the worst first. */
    readonly findings: Finding[];
    dispose(): void;
    [Symbol.dispose](): void;
}

const MOST_FINDINGS = 64;

function nameOf(model: Model, body: number): string | null {
    return model.joints[body]?.body ?? null;
}

function roleNamesOf(module: Module): string[] {
    const names: string[] = [];
    for (let name = ''; (name = module.string(module.call('poise_role_name', names.length))); ) {
        names.push(name);
    }
    return names;
}

function rolesOf(module: Module, map: Address, from: Model, to: Model): Role[] {
    const names = roleNamesOf(module);
    return getStructs<{ from: number; to: number; confidence: number }>(module, 'poise_role_pair', map, names.length)
        .map((pair, i) => ({
            name: names[i]!, motion: nameOf(from, pair.from), skeleton: nameOf(to, pair.to), confidence: pair.confidence,
        }))
        .filter(({ motion, skeleton }) => motion !== null || skeleton !== null);
}

/** The text of a map. Names stand in quotes: they may have blanks. */
function textOf(map: NonNullable<RetargetOptions['map']>): string {
    const row = ({ name, motion, skeleton }: Omit<Role, 'confidence'>) => `${name} "${motion ?? '-'}" "${skeleton ?? '-'}"\n`;
    return typeof map === 'string' ? map : map.map(row).join('');
}

function contactsOf(bits: number): Contacts {
    return { leftHeel: (bits & 1) > 0, leftToe: (bits & 2) > 0, rightHeel: (bits & 4) > 0, rightToe: (bits & 8) > 0 };
}

/** The task of the C side, as `poise retarget` has it of the same files, with who plays which role. */
function taskOf(motion: SkeletonMotion, follower: Follower, to: Model, options: RetargetOptions, keep: Keep): { task: Address; map: Address } {
    const { map, velocity = Infinity, useLimits = true, ...plain } = options;
    const { module } = to;
    const limits = keep(module.allocate(8 * to.nv));
    const isLimited = useLimits && module.call('poise_retarget_velocities', to.address, velocity, limits) !== 0;
    const files = [fileIn(module, motion, 'unknown', keep), fileIn(module, follower, follower.format ?? 'unknown', keep)];
    const task = keep(newStructs(module, 'poise_retarget_task'));
    module.call('poise_retarget_of_files', task, ...files);
    setStruct(module, 'poise_retarget_task', task, { ...plain, useLimits }, { velocity: isLimited ? limits : 0 });
    const roles = keep(newStructs(module, 'poise_role_map'));
    if (map === undefined) {
        module.run('poise_roles_match', task, 0, roles);
    } else {
        module.run('poise_role_map_read', keep(module.text(textOf(map))), motion.model!.address, to.address, roles);
    }
    setStruct(module, 'poise_retarget_task', task, {}, { map: roles });
    return { task, map: roles };
}

/**
 * The motion of one skeleton on another: all that `poise retarget` does. Bodies find each other by names and shape, feet are
 * planted where the actor's rest, limits hold. Look at `verdict` before you use the clip: a doubtful answer is not thrown.
 */
export function retargetMotion(motion: SkeletonMotion, follower: Follower, options: RetargetOptions = {}): RetargetedMotion {
    const { model: from, clip } = motion;
    const { model: to } = follower;
    if (!from || !clip || !to) {
        throw new PoiseError('argument', to ? 'there is no motion with its skeleton' : 'the skeleton has no model');
    }
    const { module } = to;
    return module.scoped((keep) => {
        const { task, map } = taskOf(motion, follower, to, options, keep);
        const contacts = keep(module.allocate(clip.frames));
        const outcome = keep(newStructs(module, 'poise_retarget_outcome'));
        const verdict = keep(newStructs(module, 'poise_verdict'));
        const findings = keep(newStructs(module, 'poise_finding', MOST_FINDINGS));
        const made = new Clip(module, module.make('poise_retarget', [task], [contacts, outcome]));
        module.run('poise_retarget_judge', task, outcome, 0, verdict, findings, MOST_FINDINGS);
        const dispose = () => made.dispose();
        return {
            clip: made, roles: rolesOf(module, map, from, to), roleNames: roleNamesOf(module),
            contacts: Array.from(module.bytes.slice(contacts, contacts + clip.frames), contactsOf),
            outcome: {
                ...getStruct<RetargetOutcome>(module, 'poise_retarget_outcome', outcome),
            },
            ...judged(module, verdict, findings, MOST_FINDINGS), dispose, [Symbol.dispose]: dispose,
        };
    });
}
