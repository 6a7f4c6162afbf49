// The same bits as the native library: every line of its reference (reference.c) is computed here through the package.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import type { Goal, Model, Pose, Quat, Report, Vec3 } from '../dist/index.js';
import { bits, builtFile, ik, pattern, poise, sourceFile } from './harness.js';

const { goals } = ik;
const reference = process.env['POISE_REFERENCE'] ?? '';
const expected = new Map<string, string[]>();
for (const line of execFileSync(reference, { encoding: 'utf8', maxBuffer: 1 << 28 }).split('\n')) {
    const [name = '', ...numbers] = line.split(' ');
    if (name !== '') {
        expected.set(name, numbers);
    }
}

/** Hold numbers against a line, and say which one differs. */
function check(name: string, numbers: readonly number[]): void {
    const want = expected.get(name);
    assert.ok(want, `the reference has no line ${name}`);
    const got = bits(numbers);
    const wrong = want.findIndex((x, i) => x !== got[i]);
    assert.ok(wrong < 0, `${name}: number ${wrong} of ${want.length}: ${got[wrong]}, natively ${want[wrong]}`);
    assert.equal(got.length, want.length, name);
    expected.delete(name);
}

const status = (call: () => void): number => {
    try {
        call();
        return 0;
    } catch (error) {
        assert.ok(error instanceof ik.PoiseError);
        return ik.statuses.indexOf(error.status);
    }
};

test('the golden computation has the hash of the native builds', async () => {
    const bytes = readFileSync(builtFile('golden.wasm'));
    const { instance } = await WebAssembly.instantiate(bytes, {});
    const calls = instance.exports as Record<string, () => number>;
    calls['run']!();
    const half = (name: string) => (calls[name]!() >>> 0).toString(16).padStart(8, '0');
    const value = /0x([0-9a-f]{16})/.exec(readFileSync(sourceFile('../test/golden/golden_value.h'), 'utf8'))?.[1];
    assert.equal(half('hash_high') + half('hash_low'), value);
    assert.equal(calls['troubles']!(), 0);
});

test('the golden suite has the hashes of the native builds: 10,000 solves, batches, tracking, files', () => {
    const program = sourceFile('../test/golden/golden_suite_wasm.mjs');
    const lines = execFileSync(process.execPath, [program, builtFile('golden_suite.wasm')], { encoding: 'utf8' });
    const header = readFileSync(sourceFile('../test/golden/golden_suite_value.h'), 'utf8');
    const expected = [...header.matchAll(/SUITE_([A-Z]+) +UINT64_C\(0x([0-9a-f]+)/g)].map(
        ([, part = '', hash = '']) => `${part.toLowerCase().padEnd(6)} ${hash}\n`,
    );
    assert.equal(expected.length, 4);
    assert.equal(lines, expected.join(''));
});

test('poses and Jacobians of every scene are those of the native library', () => {
    for (const { name } of poise.scenes) {
        using scene = poise.scene(name);
        using kinematics = new ik.Kinematics(scene.model);
        kinematics.update(pattern(scene.model, 1));
        check(`${name}/poses`, [...kinematics.poses]);
        check(`${name}/jacobian`, [...kinematics.frameJacobian(scene.model.joints.length - 1, [0.1, 0.2, 0.3])]);
    }
});

const turn = (axis: Vec3, angle: number): Quat => ik.quatFromAxisAngle(poise, axis, angle);

function allKinds(posture: Float64Array, before: Float64Array): Goal[] {
    const local: Vec3 = [0.1, 0.02, -0.03];
    const target: Vec3 = [0.3, 1.1, 0.2];
    const axis: Vec3 = [1, 2, 2];
    const other: Vec3 = [0.5, -1, 0.25];
    const frame: Pose = { rotation: turn(axis, 0.4), position: local };
    const place: Pose = { rotation: turn(other, 1.1), position: target };
    return [
        goals.position(3, local, target, { loss: 'huber', lossScale: 0.1 }),
        goals.direction(4, axis, other),
        goals.orientation(5, place.rotation),
        goals.pose(6, frame, place, { tolerance: [0.01, 0, 0.02], rotationWeight: 0.3 }),
        goals.aim(7, local, axis, target),
        goals.plane(8, local, target, other),
        goals.line(9, local, target, axis),
        goals.distance(10, local, target, 0.25),
        goals.posture(posture, 0.5),
        goals.smoothness(posture, before, 0.25),
        goals.relative(11, frame, 14, place),
        goals.centerOfMass(target),
    ];
}

test('an objective with every kind of goal has the cost, gradient and Hessians of the native library', () => {
    using scene = poise.scene('humanoid');
    const { model } = scene;
    using objective = new ik.Objective(model, allKinds(pattern(model, 3), pattern(model, 4)));
    const cost = objective.evaluate(pattern(model, 1), 'hessian');
    const errors = objective.goalErrors().flatMap(({ error, rotationError }) => [error, rotationError]);
    check('humanoid/objective', [
        0, 0, cost, ...objective.gradient()!, ...objective.hessian('exact'), ...objective.hessian('gauss_newton'), ...errors,
    ]);
});

function markerGoals(model: Model): Goal[] {
    using kinematics = new ik.Kinematics(model);
    kinematics.update(pattern(model, 2));
    const local: Vec3 = [0.05, -0.02, 0.01];
    const last = model.joints.length - 1;
    const list: Goal[] = [];
    for (let body = 2; body < last && list.length < 63; body += 3) {
        list.push(goals.position(body, local, kinematics.point(body, local)));
    }
    return [...list, goals.position(last, local, kinematics.point(last, local))];
}

const reportNumbers = (r: Report): number[] => [
    ik.outcomes.indexOf(r.outcome), r.iterations, r.evaluations, r.restarts, r.traced, r.activeLimits, r.movedJoints,
    r.startCost, r.cost, r.gradient, r.distance, r.worstLength, r.worstAngle,
];

test('solves by every method take the steps of the native library', () => {
    for (const name of ['twolink', 'tree2d', 'arm7', 'lamp', 'hand', 'humanoid', 'humanoid-quaternion']) {
        using scene = poise.scene(name);
        const list = markerGoals(scene.model);
        for (const method of ik.methods) {
            using solver = new ik.Solver(scene.model, { method, maxIterations: 15, restarts: 1, trace: 20 });
            const q = pattern(scene.model, 1);
            const numbers: number[] = [];
            numbers.push(status(() => numbers.push(...reportNumbers(solver.solve(list, q)))));
            if (numbers.at(-1) === 0) {
                const trace = solver.trace().flatMap((t) => [t.cost, t.gradient, t.damping, t.step]);
                numbers.unshift(numbers.pop()!, ...q);
                numbers.push(...trace, ...solver.goalErrors().map(({ error }) => error));
            }
            check(`${name}/${method}`, numbers);
        }
    }
});

test('all solutions of an arm are those of the native library', () => {
    using scene = poise.scene('arm6');
    using kinematics = new ik.Kinematics(scene.model);
    using solver = new ik.Solver(scene.model, { restarts: 60 });
    kinematics.update(pattern(scene.model, 2));
    const tool = scene.model.tools[0]!;
    const goal = goals.pose(tool.body, tool.pose, kinematics.toolPose(0));
    const { solutions } = solver.solveAll(goal, pattern(scene.model, 1), 8);
    check('arm6/all', [0, ...solutions.flatMap((q) => [...q])]);
});

const FRAMES = 24;

function walk(scene: InstanceType<typeof ik.Scene>) {
    return ik.Clip.create(poise, Array.from({ length: FRAMES }, (_, f) => scene.motion('walk', f / 64)), 1 / 64);
}

test('tracking frame by frame and as a whole gives the answers of the native library', () => {
    using scene = poise.scene('humanoid');
    using clip = walk(scene);
    using seen = ik.markersFromClip(scene.model, clip, scene.markers);
    using tracker = new ik.Tracker(scene.model, scene.markers);
    const numbers = [0, 0];
    for (let f = 0; f < FRAMES; ++f) {
        seen.frame(f)[3 * (f % seen.count)]! += 0.01 * f;
        const r = tracker.next(seen.frame(f));
        numbers.push(...tracker.q, r.iterations, r.seen, r.letGo, r.rms, r.worst, r.turn);
    }
    check('humanoid/tracker', numbers);
    const tracked = ik.track(scene.model, scene.markers, seen);
    check('humanoid/track', [0, ...tracked.clip.q]);
    assert.equal(tracked.frames.length, FRAMES);
    tracked.clip.dispose();
});

test('expressive solving gives the answers of the native library', () => {
    for (const name of ['erik-c', 'erik-g', 'lamp']) {
        using scene = poise.scene(name);
        const { model } = scene;
        using erik = new ik.Erik(model);
        using expressive = new ik.Expressive(model);
        const numbers: number[] = [];
        for (let i = 0; i < 5; ++i) {
            const target = turn([1, i - 2, 0.5], 0.3 + 0.4 * i);
            const posture = pattern(model, i);
            const q = model.neutral();
            const report = erik.solve(posture, target, q);
            numbers.push(...q, ik.outcomes.indexOf(report.outcome), report.iterations, report.error, report.orientation,
                report.posture, report.angle, report.activeLimits);
            const e = expressive.solve([goals.orientation(model.joints.length - 1, target)], posture, q);
            numbers.push(...q, ik.outcomes.indexOf(e.outcome), e.error, e.goal, e.posture, e.worstAngle, e.candidates,
                e.evaluations);
        }
        check(`${name}/erik`, numbers);
    }
});

test('the motion filter takes the steps of the native library', () => {
    using filter = new ik.MotionFilter(poise, [{}, { smoothness: 0.5 }, { lower: -0.5, upper: 0.75, soft: 2 }]);
    filter.reset([0.1, 0.2, 0.3]);
    const numbers = [0];
    for (let i = 0; i < 120; ++i) {
        const to = i < 40 ? 1 : i < 80 ? -0.5 : 0.25;
        numbers.push(...filter.step([to, to, to], 1 / 64), filter.timeLeft(0));
    }
    check('filter/steps', numbers);
});

test('every writer writes the bytes of the native library, and its reader reads the same numbers', () => {
    using scene = poise.scene('humanoid-euler');
    using arm = poise.scene('arm6');
    using human = poise.scene('humanoid');
    using clip = walk(scene);
    const scale = { metres: 1, up: 'y' } as const;
    using markers = ik.markersFromClip(scene.model, clip, human.markers, scale);
    const whole = { model: scene.model, clip, markers, scale };
    for (const format of ['bvh', 'asf', 'c3d', 'trc', 'mot', 'gltf', 'glb', 'json', 'dh'] as const) {
        const content = format === 'dh' ? { model: arm.model, scale: { metres: 1, up: 'z' } as const } : whole;
        const { bytes } = poise.write(content, format);
        const sum = bytes.reduce((s, byte, i) => s + byte * ((i % 1009) + 1), 0);
        using file = poise.read(bytes, { format, model: format === 'mot' ? scene.model : undefined });
        check(`file/${format}`, [
            0, bytes.length, sum, 0, file.model?.nq ?? -1, file.warnings.length, ...(file.clip?.q ?? []),
            ...(file.markers?.positions ?? []),
        ]);
    }
});

test('no line of the reference was left out', () => {
    assert.deepEqual([...expected.keys()], []);
});
