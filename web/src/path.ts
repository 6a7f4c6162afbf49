import type { Model } from './model.js';
import { judged, type Finding } from './recording.js';
import type { Clearance } from './clearance.js';
import type { Loops } from './loops.js';
import { CLOSURE } from './solver.js';
import { layoutOf, memberAt, newStruct, newStructs, setStruct } from './structs.js';
import type { Numbers, VerdictLevel } from './values.js';
import { PoiseError } from './errors.js';

/** How far a joint may go from one pose of a tool path to the next. */
export interface PathOptions {
    /** The tool that follows the path, by name. Without one nothing excuses a longer step. */
    tool?: string;
    /** Radians; default: 7 degrees. */
    step?: number;
    /** Of a slide, metres; default: 0.02. */
    slide?: number;
    /** Per unit of the model's lengths; default: 1. */
    metres?: number;
    /** Seconds from pose to pose: with it joints that are faster than their limits are told, too. */
    frameTime?: number;
    /** Poses whose goals the solver missed: any fails the path. */
    missed?: number;
    /** Collision shapes that were to be kept apart and are not watched: any makes it doubtful. */
    unwatched?: number;
}

export interface PathVerdict {
    readonly verdict: VerdictLevel;
    /** Joint, and poses from 1 (`first`, `last`): the worst first. */
    readonly findings: Finding[];
}

/**
 * Does a joint leap from one row of q to the next, as where an arm takes another of its answers? Rows in which the tool lies
 * far apart may differ by more, if the arm can follow it along the straight line between them in such steps. With `frameTime`
 * also: is a joint faster than its limit? Nothing else is judged.
 */
export function judgePath(model: Model, q: Numbers, { tool, step, slide, metres = 1, frameTime = 0, missed = 0, unwatched = 0 }: PathOptions = {}): PathVerdict {
    const { module, nq } = model;
    const poses = nq > 0 ? q.length / nq : 0;
    if (!Number.isInteger(poses)) {
        throw new PoiseError('argument', `q: expected rows of ${nq} numbers, got ${q.length}`);
    }
    const carried = tool === undefined ? null : model.tools[model.tool(tool)]!;
    const place = carried ? { body: carried.body, local: carried.pose } : {};
    return module.withNumbers(q, q.length, (at) => module.scoped((keep) => {
        const problem = keep(newStruct(module, 'poise_path_problem', { metres, frameTime, poses, missed, unwatched, ...place }, {
            model: model.address, q: at,
        }));
        const thresholds = memberAt('poise_path_problem', problem, 'thresholds');
        for (const [name, value] of Object.entries({ leapt: step, slid: slide })) {
            if (value !== undefined) {
                module.run('poise_thresholds_set', thresholds, keep(module.text(name)), value, -1);
            }
        }
        const verdict = keep(newStructs(module, 'poise_verdict'));
        const findings = keep(newStructs(module, 'poise_finding', poses + 3));
        module.run('poise_path_judge', problem, 0, verdict, findings, poses + 3);
        return judged(module, verdict, findings, poses + 3);
    }));
}

/** Which constraints a motion is to keep to. */
export interface KeptOptions {
    clearance?: Clearance;
    loops?: Loops;
}

export interface KeptVerdict extends PathVerdict {
    /** The frames in which each sort does not hold, counted from 0. */
    readonly broken: { readonly clearance: readonly number[]; readonly loops: readonly number[] };
}

/** Do constraints hold in every row of q, such as the frames of a motion? */
export function judgeConstraints(model: Model, q: Numbers, { clearance, loops }: KeptOptions): KeptVerdict {
    const { module, nq } = model;
    const frames = nq > 0 ? q.length / nq : 0;
    if (!Number.isInteger(frames)) {
        throw new PoiseError('argument', `q: expected rows of ${nq} numbers, got ${q.length}`);
    }
    return module.withNumbers(q, q.length, (at) => module.scoped((keep) => {
        const { size } = layoutOf('poise_constraint');
        const lists = [{ list: clearance, count: 1 }, { list: loops, count: loops?.loops.length ?? 0 }].filter(({ list }) => list);
        const count = lists.reduce((sum, each) => sum + each.count, 0);
        const constraints = keep(newStructs(module, 'poise_constraint', Math.max(count, 1)));
        lists.reduce((to, { list, count: own }) => {
            module.bytes.copyWithin(to, list!.address, list!.address + own * size);
            return to + own * size;
        }, constraints);
        const clip = keep(newStructs(module, 'poise_clip'));
        setStruct(module, 'poise_clip', clip, { frames, nq, frameTime: 1 }, { q: at });
        const problem = keep(newStruct(module, 'poise_kept_problem', { closureTolerance: CLOSURE }, {
            model: model.address, clip, constraints, constraintCount: count,
        }));
        const [kept, broken] = [keep(newStructs(module, 'poise_kept')), keep(module.allocate(Math.max(frames, 1)))];
        module.run('poise_kept_measure', problem, 0, kept, broken);
        const [verdict, findings] = [keep(newStructs(module, 'poise_verdict')), keep(newStructs(module, 'poise_finding', 3))];
        module.bytes.fill(0, verdict, verdict + layoutOf('poise_verdict').size);
        const thresholds = keep(newStruct(module, 'poise_thresholds', {}));
        module.call('poise_kept_judge', problem, kept, thresholds, verdict, findings, 3);
        const bits = module.bytes.slice(broken, broken + frames);
        const frameOf = (bit: number) => Array.from(bits.keys()).filter((f) => (bits[f]! >> bit) & 1);
        return { ...judged(module, verdict, findings, 3), broken: { clearance: frameOf(0), loops: frameOf(2) } };
    }));
}
