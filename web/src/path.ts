import type { Model } from './model.js';
import { judged, type Finding } from './recording.js';
import { memberAt, newStruct, newStructs } from './structs.js';
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
}

export interface PathVerdict {
    readonly verdict: VerdictLevel;
    /** Joint, and poses from 1 (`first`, `last`): the worst first. */
    readonly findings: Finding[];
}

/**
 * Does a joint leap from one row of q to the next, as where an arm takes another of its answers? Rows in which the tool lies
 * far apart may differ by more, if the arm can follow it along the straight line between them in such steps. Nothing else is
 * judged.
 */
export function judgePath(model: Model, q: Numbers, { tool, step, slide, metres = 1 }: PathOptions = {}): PathVerdict {
    const { module, nq } = model;
    const poses = nq > 0 ? q.length / nq : 0;
    if (!Number.isInteger(poses)) {
        throw new PoiseError('argument', `q: expected rows of ${nq} numbers, got ${q.length}`);
    }
    const carried = tool === undefined ? null : model.tools[model.tool(tool)]!;
    const place = carried ? { body: carried.body, local: carried.pose } : {};
    return module.withNumbers(q, q.length, (at) => module.scoped((keep) => {
        const problem = keep(newStruct(module, 'poise_path_problem', 'poise_path_problem_default', { metres, poses, ...place }, {
            model: model.address, q: at,
        }));
        const thresholds = memberAt(module, 'poise_path_problem', problem, 'thresholds');
        for (const [name, value] of Object.entries({ leapt: step, slid: slide })) {
            if (value !== undefined) {
                module.run('poise_thresholds_set', thresholds, keep(module.text(name)), value, -1);
            }
        }
        const verdict = keep(newStructs(module, 'poise_verdict'));
        const findings = keep(newStructs(module, 'poise_finding', Math.max(poses, 1)));
        module.run('poise_path_judge', problem, 0, verdict, findings, poses);
        return judged(module, verdict, findings, poses);
    }));
}
