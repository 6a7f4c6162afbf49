// The package as its users meet it: memory, errors, views, files, names.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import type { Goal, Shape, Solver, Vec3 } from '../dist/index.js';
import { dataFile, ik, pattern, poise, sourceFile } from './harness.js';

const { goals } = ik;

const ball = (body: number, position: Vec3): Shape => (
    { kind: 'capsule', body, pose: { position, rotation: [0, 0, 0, 1] }, half: [0, 0, 0], radius: 0.1 });

const isError = (status: string, text: RegExp, line?: number) => (error: unknown): boolean => {
    assert.ok(error instanceof ik.PoiseError, String(error));
    assert.equal(error.status, status);
    assert.match(error.message, text);
    assert.ok(line === undefined || error.line === line, `line ${error.line}`);
    return true;
};

test('the names of all enumerations are those of the C library', () => {
    const lists = {
        poise_status: ik.statuses, poise_joint_type: ik.jointTypes, poise_goal_kind: ik.goalKinds,
        poise_method: ik.methods, poise_outcome: ik.outcomes, poise_format: ik.formats,
    };
    for (const [type, list] of Object.entries(lists)) {
        const name = (i: number) => poise.module.string(poise.module.call('poise_name', ik.schema.types[type]!, i));
        assert.deepEqual(list.map((_, i) => name(i)), [...list]);
        assert.match(name(list.length), /unknown/, `${type}: there is one more`);
    }
});

test('a pair that is too near says how near, and where', () => {
    using scene = poise.scene('arm7');
    const { model } = scene;
    const body = model.joints.length - 1;
    const shapes = [ball(body, [0, 0, 0]), ball(ik.WORLD, [0, 0, 0])];
    using kinematics = new ik.Kinematics(model);
    kinematics.update(model.neutral());
    const { position } = kinematics.bodyPose(body);
    shapes[1] = ball(ik.WORLD, [position[0] + 0.15, position[1], position[2]]);
    using clearance = new ik.Clearance(model, shapes, { margin: 0.1 });
    const [pair] = clearance.close(kinematics);
    assert.ok(Math.abs(pair!.distance + 0.05) < 1e-12 && Math.abs(pair!.room + 0.15) < 1e-12);
    assert.ok(Math.abs(pair!.onA[0] - position[0] - 0.1) < 1e-12 && pair!.normal[0] < 0);
});

test('a report has every member that the header has', () => {
    using scene = poise.scene('arm7');
    const { model } = scene;
    using solver = new ik.Solver(model);
    const report = solver.solve([goals.posture(model.neutral(), 1)], model.neutral());
    for (const name of ['why', 'clearance', 'closure', 'activeConstraints', 'worstAngle'] as const) {
        assert.ok(name in report, name);
    }
});

test('loops of a file are read, held by a solver, measured, and written again', () => {
    const bars = `<mujoco><worldbody><body name="crank"><joint name="drive" axis="0 1 0"/><body name="coupler" pos="0 0 0.15"><joint
        name="bend" axis="0 1 0"/></body></body><body name="rocker" pos="0.4 0 -0.1"><joint name="swing" axis="0 1 0"/></body></worldbody>
        <equality><connect body1="coupler" body2="rocker" anchor="0.4 0 0"/></equality></mujoco>`;
    using file = poise.read(new TextEncoder().encode(bars), { name: 'bars.xml' });
    const model = file.model!;
    assert.equal(file.loops.length, 1);
    assert.equal(file.loops[0]!.kind, 'connect');
    using loops = new ik.Loops(model, file.loops);
    using kinematics = new ik.Kinematics(model);
    const goal = goals.position(1, [0, 0, 0], [0.15 * Math.sin(0.6), 0, 0.15 * Math.cos(0.6)]);
    const gapAfter = (solver: Solver): number => {
        const q = model.neutral();
        assert.equal(solver.solve([goal], q).outcome, 'reached');
        kinematics.update(q);
        return loops.gaps(kinematics)[0]!.gap;
    };
    using holds = new ik.Solver(model, { loops });
    using leaves = new ik.Solver(model);
    assert.ok(gapAfter(holds) < 1e-7);
    assert.ok(gapAfter(leaves) > 0.01);
    const open = model.neutral();
    open[0] = 0.3; // the crank alone
    const judged = ik.judgeConstraints(model, [...model.neutral(), ...open, ...model.neutral()], { loops });
    assert.deepEqual([judged.verdict, judged.broken.loops, judged.broken.clearance], ['doubtful', [1], []]);
    assert.match(judged.findings[0]!.text, /^the loop of (coupler and rocker|rocker and coupler) is open in 33.3 % of the frames, most in frame 1$/);
    assert.equal(ik.judgeConstraints(model, model.neutral(), { loops }).verdict, 'good');
    const away = goals.position(1, [0.4, 0, 0], [0.35, 0, 0.35]); // of the coupler alone
    assert.notEqual(holds.solve([away], model.neutral()).outcome, 'reached');
    assert.deepEqual(holds.goalsMet(), [false]);
    assert.deepEqual(holds.blockers([away], model.neutral()), ['loops']);
    assert.deepEqual(holds.blockers([goals.position(1, [0, 0, 0], [9, 0, 0])], model.neutral()), []);
    const { bytes } = poise.write({ model, loops: file.loops }, 'json');
    using again = poise.read(bytes, { format: 'json' });
    assert.deepEqual(again.loops, file.loops);
});

test('the module is small enough, and one thread does', () => {
    assert.ok(readFileSync(sourceFile('dist/poise.wasm.gz')).length < 650_000);
    assert.ok(!(poise.module.bytes.buffer instanceof SharedArrayBuffer));
});

function useEverything(): void {
    using scene = poise.scene('humanoid');
    using lamp = poise.scene('lamp');
    const { model } = scene;
    using solver = new ik.Solver(model, { trace: 10, locked: new Array(model.nv).fill(false) });
    using kinematics = new ik.Kinematics(model);
    using set = new ik.GoalSet(poise, [goals.posture(model.neutral(), 1), goals.position(3, [0, 0, 0], [0, 1, 0])]);
    solver.solve(set);
    solver.solve([goals.position(5, [0, 0, 0], [0, 1, 0]), goals.callback(4, () => null)]);
    kinematics.update(solver.q).pointJacobian(4, [0, 0, 0]);
    using tracker = new ik.Tracker(model, scene.markers);
    using erik = new ik.Erik(lamp.model);
    using expressive = new ik.Expressive(lamp.model);
    using filter = new ik.MotionFilter(poise, [{}]);
    using objective = new ik.Objective(model, [goals.centerOfMass([0, 1, 0])]);
    expressive.solve([goals.aim(lamp.model.joints.length - 1, [0, 0, 0], [0, 1, 0], [1, 1, 1])], lamp.model.neutral(),
        lamp.model.neutral());
    using clip = ik.Clip.create(poise, [scene.motion('walk', 0), scene.motion('walk', 0.1)], 0.1);
    using markers = ik.markersFromClip(model, clip, scene.markers);
    tracker.next(markers.frame(0));
    objective.evaluate(solver.q, 'hessian');
    filter.step([1], 0.1);
    erik.measure(lamp.model.neutral(), [0, 0, 0, 1], lamp.model.neutral());
    const content = { model, clip, markers, postures: [{ name: 'rest', q: model.neutral() }], goals: [goals.posture(solver.q, 1)] };
    using file = poise.read(poise.write(content, 'json').bytes, { name: 'a.json' });
    assert.equal(file.postures.length, 1);
    assert.throws(() => poise.read('{"poise":', { name: 'a.json' }));
    assert.throws(() => new ik.Solver(model, { maxIterations: -1 }));
    assert.throws(() => new ik.Solver(model, { locked: [true] }));
    assert.throws(() => new ik.Tracker(model, [{ label: 'a', body: 1000, local: [0, 0, 0] }]));
}

test('what is disposed of gives all its memory back', () => {
    useEverything();
    const { used } = poise.heap;
    for (let i = 0; i < 50; ++i) {
        useEverything();
    }
    assert.equal(poise.heap.used, used);
    using scene = poise.scene('arm7');
    const before = poise.heap.used;
    const { total } = poise.heap;
    for (let i = 0; i < 1000; ++i) {
        using solver = new ik.Solver(scene.model, { trace: 5 });
        solver.solve([goals.position(6, [0, 0, 0], [0.3, 0.3, 0.5])]);
    }
    assert.equal(poise.heap.used, before);
    assert.equal(poise.heap.total, total);
});

test('a model that is disposed of lives on while a solver uses it', () => {
    const { used } = poise.heap;
    const scene = poise.scene('arm7');
    const solver: Solver = new ik.Solver(scene.model);
    scene.dispose();
    assert.throws(() => scene.model.neutral(), isError('argument', /Model is disposed/));
    assert.throws(() => new ik.Kinematics(scene.model), isError('argument', /disposed/));
    solver.dispose();
    solver.dispose();
    assert.throws(() => solver.solve([]), isError('argument', /disposed/));
    assert.equal(poise.heap.used, used);
});

test('the solver works on its own q in place, and on arrays of the caller', () => {
    using scene = poise.scene('arm7');
    using solver = new ik.Solver(scene.model);
    const goal = goals.position(6, [0, 0, 0], [0.3, 0.2, 0.6]);
    solver.q.set(pattern(scene.model, 1));
    const list: number[] = [...pattern(scene.model, 1)];
    assert.deepEqual(solver.solve([goal]), solver.solve([goal], list));
    assert.deepEqual([...solver.q], list);
    assert.ok(scene.model.isWithinLimits(solver.q));
    using kinematics = new ik.Kinematics(scene.model);
    assert.ok(Math.abs(kinematics.update(solver.q).point(6, [0, 0, 0])[2] - 0.6) < 1e-5);
});

test('views stay right when the memory grows', () => {
    using scene = poise.scene('arm7');
    using solver = new ik.Solver(scene.model);
    solver.q.fill(0.125);
    using large = ik.Clip.create(poise, { frames: 200_000, nq: 8 }, 0.1);
    assert.equal(large.q.length, 1_600_000);
    assert.deepEqual([...solver.q], new Array(scene.model.nq).fill(0.125));
});

test('a dragged goal and a marker that is not seen', () => {
    using scene = poise.scene('humanoid');
    using solver = new ik.Solver(scene.model);
    using kinematics = new ik.Kinematics(scene.model);
    kinematics.update(scene.motion('walk', 0.2));
    const points = scene.markers.flatMap(({ body, local }) => [...kinematics.point(body, local)]);
    using set = new ik.GoalSet(poise, scene.markers.map(({ body, local }) => goals.position(body, local, [9, 9, 9])));
    points[3] = NaN;
    set.setPoints(0, points);
    solver.q.set(scene.motion('walk', 0.15));
    assert.equal(solver.solve(set).outcome, 'reached');
    set.setPosition(0, [0, 3, 0]);
    assert.notEqual(solver.solve(set).outcome, 'reached');
    assert.throws(() => set.setPosition(1000, [0, 0, 0]), isError('argument', /no goal 1000/));
});

test('a goal of the caller pulls where its function says', () => {
    using scene = poise.scene('arm7');
    using solver = new ik.Solver(scene.model);
    const towards = (z: number): Goal => goals.callback(6, ({ position }) => {
        const hessian = new Array<number>(36).fill(0);
        hessian[35] = 1;
        const error = position[2] - z;
        return { energy: 0.5 * error * error, gradient: [0, 0, 0, 0, 0, error], hessian };
    });
    solver.q.set(pattern(scene.model, 1));
    solver.solve([towards(0.5)]);
    using kinematics = new ik.Kinematics(scene.model);
    assert.ok(Math.abs(kinematics.update(solver.q).bodyPose(6).position[2] - 0.5) < 1e-5);
    const thrower = goals.callback(6, () => {
        throw new RangeError('mine');
    });
    assert.throws(() => solver.solve([thrower]), RangeError);
});

test('a model of a description solves, and a bad one says which joint', () => {
    using arm = poise.model({
        joints: [
            { name: 'shoulder', type: 'revolute', lower: [-2], upper: [2] },
            { name: 'elbow', type: 'revolute', parent: 'shoulder', offset: { position: [1, 0, 0], rotation: [0, 0, 0, 1] } },
        ],
        tools: [{ name: 'hand', body: 'elbow', pose: { position: [1, 0, 0], rotation: [0, 0, 0, 1] } }],
    });
    assert.equal(arm.nq, 2);
    assert.deepEqual([...arm.lower], [-2, -Infinity]);
    assert.equal(arm.joints[1]?.parent, 0);
    using dh = poise.model({ chains: [{ prefix: 'a', rows: [{ a: 0.4, lower: -3, upper: 3 }, { a: 0.3 }] }] });
    assert.equal(dh.tools[0]?.name, 'atip');
    assert.throws(() => poise.model({ joints: [{ name: 'a', type: 'revolute', parent: 'nobody' }] }),
        isError('model', /nobody/));
    assert.throws(() => new ik.Solver(arm, { methd: 'auto' } as object), isError('argument', /unknown option: methd/));
    assert.throws(() => new ik.Solver(arm, { method: 'magic' as 'auto' }), isError('argument', /"magic" is not one of/));
});

test('a file that cannot be read says why and where', () => {
    const urdf = '<?xml version="1.0"?>\n<robot name="r">\n  <link name="a"/>\n  <link name="b">\n</robot>\n';
    assert.throws(() => poise.read(urdf, { name: 'r.urdf' }), isError('format', /mismatched tag: <link> of line 4/, 5));
    assert.throws(() => poise.read('{"poise": 1,\n "model": }', { name: 'm.json' }), isError('format', /not JSON/, 2));
    assert.throws(() => poise.read('HIERARCHY\nROOT hip\n{\n OFFSET 0 0 x\n', { name: 'w.bvh' }), isError('format', /./, 4));
    assert.throws(() => poise.read(new Uint8Array(0), {}), isError('format', /./));
});

test('a file that names another asks for it', () => {
    const xml = '<mujoco><include file="arm.xml"/></mujoco>';
    const part = '<mujocoinclude><worldbody><body name="arm"><joint name="j"/></body></worldbody></mujocoinclude>';
    const asked: string[] = [];
    using file = poise.read(xml, {
        name: 'a.xml',
        load: (name) => {
            asked.push(name);
            return new TextEncoder().encode(part);
        },
    });
    assert.deepEqual(asked, ['arm.xml']);
    assert.equal(file.model?.nq, 1);
    assert.throws(() => poise.read(xml, { load: () => { throw new RangeError('mine'); } }), RangeError);
});

test('goals, postures and placements come back from a file as they went in', () => {
    using scene = poise.scene('humanoid');
    const list = [goals.position(3, [0.1, 0, 0], [0, 1, 0], { weight: 2 }), goals.posture(pattern(scene.model, 1), 0.5)];
    const placements = scene.markers.slice(0, 3);
    const { bytes } = poise.write({ model: scene.model, goals: list, placements }, 'json');
    using file = poise.read(bytes);
    assert.equal(file.goals[0]?.weight, 2);
    assert.deepEqual(file.goals[0]?.target?.position, [0, 1, 0]);
    assert.deepEqual([...(file.goals[1]?.q as Float64Array)], [...pattern(scene.model, 1)]);
    assert.deepEqual(file.placements, placements);
});

test('markers that are calibrated fit', () => {
    using scene = poise.scene('humanoid');
    using clip = ik.Clip.create(poise, Array.from({ length: 12 }, (_, f) => scene.motion('punch', f / 10)), 0.1);
    using markers = ik.markersFromClip(scene.model, clip, scene.markers);
    const rough = scene.markers.map((m) => ({ ...m, local: [m.local[0] + 0.01, m.local[1], m.local[2]] as const }));
    const result = ik.calibrate(scene.model, rough, markers, 6, clip.frame(0).slice());
    assert.ok(result.rms < 1e-3, `rms ${result.rms}`);
    assert.equal(result.placements.length, 41);
    result.model.dispose();
});

test('a recording comes into the units and axes of a model, and is tracked and measured', () => {
    using scene = poise.scene('humanoid');
    const { model } = scene;
    using clip = ik.Clip.create(poise, Array.from({ length: 6 }, (_, f) => scene.motion('walk', f / 60)), 1 / 60);
    using markers = ik.markersFromClip(model, clip, scene.markers, { metres: 1, up: 'y' });
    const before = markers.positions.slice();
    const millimetres = before.map((x) => 1000 * x);
    using recorded = ik.Markers.create(poise, markers.labels, millimetres, 60, { metres: 0, up: 'unknown' });
    const match = recorded.match(model, { metres: 1, up: 'y' });
    assert.deepEqual(match, {
        scale: { metres: 1, up: 'y' }, from: { metres: 0.001, up: 'y' }, markersUnknown: true, modelUnknown: false, bySize: true, turnedOver: false,
        upByFigure: true,
    });
    assert.ok(recorded.positions.every((x, i) => Math.abs(x - before[i]!) < 1e-9));
    const tracked = ik.track(model, scene.markers, recorded);
    using found = tracked.clip;
    assert.equal(found.frames, 6);
    assert.equal(tracked.distances.length, 6 * scene.markers.length);
    assert.ok(tracked.summary.worst < 1e-4 && tracked.summary.held === 0, JSON.stringify(tracked.summary));
});

function walkOf(scene: ReturnType<typeof poise.scene>): InstanceType<typeof ik.Markers> {
    const frames = Array.from({ length: 30 }, (_, i) => scene.motion('walk', i / 60));
    using clip = ik.Clip.create(poise, frames, 1 / 60);
    return ik.markersFromClip(scene.model, clip, scene.markers);
}

test('a recording becomes a motion with a verdict', () => {
    using scene = poise.scene('humanoid');
    const skeleton = { model: scene.model, scale: { metres: 1, up: 'y' as const }, placements: scene.markers };
    using markers = walkOf(scene);
    markers.rescale({ metres: 0.001, up: 'z' });
    const heard: { stage: string; done: number; frames: number }[] = [];
    using good = ik.trackRecording(skeleton, { markers }, { deviations: true, first: 2, onProgress: (progress) => heard.push(progress) });
    assert.deepEqual([...new Set(heard.map(({ stage }) => stage))], ['track', 'judge']);
    assert.ok(heard.some(({ stage, done, frames }) => stage === 'track' && done === 28 && frames === 28));
    assert.throws(() => ik.trackRecording(skeleton, { markers }, { onProgress: () => { throw new Error('enough'); } }), /enough/);
    assert.equal(good.verdict, 'good');
    assert.equal(good.model, scene.model);
    assert.equal(good.first, 2);
    assert.deepEqual(good.match.from, { metres: 0.001, up: 'z' });
    assert.equal(good.clip.frames, 28);
    assert.ok(good.residuals.every((rms) => rms < 0.001) && good.summary.worst < 0.002);
    assert.equal(good.deviations?.length, 28 * scene.model.nv);
    using bare = ik.trackRecording({ ...skeleton, placements: [] }, { markers });
    assert.ok(bare.calibration && bare.named === bare.placements.length && bare.named > 20);
    assert.ok(bare.leftOut.length > 0 && bare.findings.every(({ text }) => text.length > 5));
    assert.deepEqual(bare.leftOut, bare.findings.filter(({ kind }) => kind === 'left_out').map(({ name }) => name));
    assert.throws(() => ik.trackRecording(skeleton, { markers }, { subject: 'Anna' }), isError('not found', /Anna/));
    assert.throws(() => ik.trackRecording(skeleton, {}), isError('argument', /markers/));
    for (const [unseen, verdict] of [[0, 'doubtful'], [[0, 0.9], 'doubtful'], [[0, 0], 'failed']] as const) {
        using judged = ik.trackRecording(skeleton, { markers }, { thresholds: { unseen } });
        assert.equal(judged.verdict, verdict);
    }
    assert.throws(() => ik.trackRecording(skeleton, { markers }, { thresholds: { mist: 1 } }), isError('not found', /mist/));
});

test('a recording with two names in each other\'s place is not good', () => {
    using scene = poise.scene('humanoid');
    using markers = walkOf(scene);
    const labels = markers.labels.map((label) => label.replace(/^(left|right)_(knee|ankle)$/, (_, side: string, at: string) =>
        `${side === 'left' ? 'right' : 'left'}_${at}`));
    using swapped = ik.Markers.create(poise, labels, markers.positions.slice(), markers.rate);
    using doubtful = ik.trackRecording({ model: scene.model, placements: scene.markers }, { markers: swapped });
    assert.notEqual(doubtful.verdict, 'good');
    assert.ok(doubtful.findings[0]!.level !== 'good');
});

test('a motion of another skeleton is followed by its bodies', () => {
    using scene = poise.scene('humanoid');
    using euler = poise.scene('humanoid-euler');
    using clip = ik.Clip.create(poise, [scene.motion('kick', 0), scene.motion('kick', 0.02)], 0.02);
    const scale = { metres: 1, up: 'y' as const };
    using followed = ik.trackRecording({ model: euler.model, scale }, { model: scene.model, clip, scale });
    assert.ok(followed.fromMotion && followed.summary.worst < 0.01);
});

test('people in a recording are told apart, and measured', () => {
    using scene = poise.scene('humanoid');
    using markers = walkOf(scene);
    const labels = markers.labels.map((label) => `Anna:${label}`);
    using named = ik.Markers.create(poise, [...labels, 'Ball:1'], Float64Array.from(
        { length: markers.frames * (labels.length + 1) * 3 },
        (_, i) => (i % (3 * labels.length + 3) < 3 * labels.length
            ? markers.positions[Math.floor(i / (3 * labels.length + 3)) * 3 * labels.length + (i % (3 * labels.length + 3))]! : 0),
    ), 60);
    assert.deepEqual(named.subjects().map(({ name, isWhole }) => [name, isWhole]), [['Anna', true], ['Ball', false]]);
    using anna = named.select();
    assert.deepEqual(anna?.labels, markers.labels);
    assert.equal(markers.select(), null);
    const figure = markers.figure();
    assert.ok(figure.up === 'y' && figure.height > 1.2 && figure.height < 2 && figure.metres === 1);
    assert.ok(Math.abs(scene.model.figure().height - figure.height) < 0.4);
});

test('what a file carries goes on to a file of its kind', (t) => {
    const walk = dataFile(t, 'gltf/CesiumMan.glb');
    if (!walk) {
        return;
    }
    using file = poise.read(readFileSync(walk), { name: 'man.glb' });
    assert.ok(file.carried && file.carried.meshes > 0 && /mesh/.test(file.carried.text), file.carried?.text);
    const bytes = (content: object) => poise.write({ ...file, ...content }, 'glb').bytes.length;
    assert.ok(bytes({}) > bytes({ carried: null }) + 10_000);
    assert.deepEqual([file.carried.events.length, file.carried.analog().length], [0, 0]);
});

test('one skeleton follows the motion of another by the names of bodies', () => {
    using from = poise.scene('humanoid');
    using to = poise.scene('humanoid-euler');
    using arm = poise.scene('arm7');
    using clip = ik.Clip.create(poise, [from.motion('kick', 0), from.motion('kick', 0.1)], 0.1);
    const motion = { model: from.model, clip, scale: { metres: 1, up: 'y' } as const };
    const points = ik.retarget(motion, { model: to.model, scale: { metres: 0.01, up: 'z' } }, { keepSize: true });
    using markers = points.markers;
    assert.ok(Math.abs(points.factor - 100) < 1e-9 && points.isTurned && points.scale.up === 'z');
    assert.equal(markers.count, points.placements.length);
    assert.throws(() => ik.retarget(motion, { model: arm.model, scale: { metres: 1, up: 'z' } }), /only 0 of its 29 bodies/);
    assert.throws(() => ik.retarget(motion, { model: to.model, scale: { metres: 1, up: 'z' } }, { pairs: ['head'] }), /SOURCE=TARGET/);
});

test('a file is edited as it is read', () => {
    using scene = poise.scene('humanoid-quaternion');
    using walk = ik.Clip.create(poise, Array.from({ length: 21 }, (_, i) => scene.motion('walk', i / 20)), 0.05);
    const { bytes } = poise.write({ model: scene.model, clip: walk, scale: { metres: 1, up: 'y' } }, 'json');
    const name = 'walk.json';
    using file = poise.read(bytes, { name, edit: { first: 5, count: 11, rate: 10, scale: { metres: 0.01, up: 'z' }, euler: true } });
    assert.equal(file.clip?.frames, 6);
    assert.deepEqual(file.scale, { metres: 0.01, up: 'z' });
    assert.ok(file.model?.joints.every((joint) => !['free', 'ball_quaternion'].includes(joint.type)));
    assert.throws(() => poise.read(bytes, { name, edit: { first: 30 } }), /has frames 0 to 20, so frame 30 is beyond its end/);
});

test('a filter has modes', () => {
    using off = new ik.MotionFilter(poise, [{ mode: 'off' }]);
    using nutty = new ik.MotionFilter(poise, [{ mode: 'nutty', smoothness: 0.5 }]);
    using usual = new ik.MotionFilter(poise, [{ smoothness: 0.5 }]);
    const [a, b, c] = [off, nutty, usual].map((filter) => filter.step([0.5], 0.1)[0]!);
    assert.equal(a, 0.5);
    assert.notEqual(b, c);
});

test('whole configurations are filtered', () => {
    using scene = poise.scene('humanoid-quaternion');
    const { model } = scene;
    using filter = new ik.MotionFilter(model, [], model);
    const pose = scene.motion('walk', 0.3);
    filter.reset(model.neutral());
    for (let i = 0; i < 1000 && (i < 2 || !filter.rests); ++i) {
        filter.step(pose, 0.01);
    }
    const q = filter.step(pose, 0.01).slice();
    assert.ok(filter.rests && model.isWithinLimits(q));
    assert.ok(model.difference(q, pose).every((step) => Math.abs(step) < 1e-3));
    const { velocity, acceleration } = filter.limits();
    assert.ok(velocity.length === model.nv && velocity.at(-1) === 2 && acceleration.at(-1) === 10);
    assert.throws(() => new ik.MotionFilter(model, [{}], model), /1 joints for a model/);
});

test('the joints of a filter leave a free root out, and count in metres', () => {
    using scene = poise.scene('humanoid-quaternion');
    const [root, next] = ik.MotionFilter.jointsOf(scene.model, 0.001);
    assert.deepEqual(root, { mode: 'off', lengthUnit: 1000 });
    assert.deepEqual(next, { mode: 'time_optimal', lengthUnit: 1000 });
});

test('goals are read from words', () => {
    using scene = poise.scene('arm7');
    const list = ik.parseGoals(scene.model, 'position tip 0.4 0.1 0.3 weight 2; stay', scene.model.neutral());
    assert.deepEqual(list.map((goal) => goal.kind), ['position', 'smoothness']);
    assert.deepEqual([list[0]?.weight, list[0]?.target?.position], [2, [0.4, 0.1, 0.3]]);
    assert.throws(() => ik.parseGoals(scene.model, 'position tpi 1 2 3'), /word 2: .* did you mean "tip"/);
});

test('the example of the README runs', async () => {
    const text = readFileSync(sourceFile('README.md'), 'utf8');
    const example = /```js\n([^]*?)```/.exec(text)?.[1];
    assert.ok(example);
    const lines: unknown[][] = [];
    const body = example.replace(/import (\{.*\}) from 'poise-ik';/, 'const $1 = ik;');
    const AsyncFunction = Object.getPrototypeOf(async () => {}).constructor as new (...texts: string[]) =>
        (library: typeof ik, console: { log: (...values: unknown[]) => void }) => Promise<void>;
    await new AsyncFunction('ik', 'console', body)(ik, { log: (...values) => lines.push(values) });
    assert.deepEqual(lines[0]?.[0], 'reached');
});

test('numbers that are none are refused by name', () => {
    using scene = poise.scene('arm7');
    const { model } = scene;
    const reach = (change: object) => goals.position(6, [0, 0, 0], [0.4, 0.1, 0.5], change);
    const options = (change: object) => new ik.Solver(model, change).dispose();
    const solve = (...list: unknown[]) => {
        using solver = new ik.Solver(model);
        solver.solve(list as Goal[]);
    };
    const wrong: [() => void, RegExp][] = [
        [() => options({ maxIterations: Infinity }), /maxIterations: Infinity is not a whole number/],
        [() => options({ restarts: NaN }), /restarts: NaN/],
        [() => options({ maxIterations: 2 ** 32 }), /maxIterations: 4294967296/],
        [() => options({ seed: 1.5 }), /seed: 1.5/],
        [() => options({ prior: '1' }), /prior: 1 is not a number/],
        [() => solve(reach({ body: undefined })), /goal 0 \(position\): body is undefined/],
        [() => solve(reach({ body: 1.5 })), /body: 1.5/],
        [() => solve(reach({ weight: null })), /weight: null is not a number/],
        [() => solve(reach({ tolerance: [1, 2] })), /tolerance: 1,2 is not an array of 3 numbers/],
        [() => solve({ kind: 'orientation', body: 6, target: { position: [0, 0, 0], rotation: [0, 0, 1] } }), /target.rotation: 0,0,1/],
        [() => solve(reach({}), goals.posture([0.1], 1)), /goal 1 \(posture\): q has 1 numbers, the model asks for 7/],
        [() => solve(goals.posture(model.neutral(), 1, { qWeights: [1] })), /qWeights has 1 numbers/],
        [() => solve(goals.callback(6, () => ({ energy: 1, gradient: [1], hessian: [] }))), /gradient: 6 numbers are needed, 1 were given/],
        [() => new ik.GoalSet(poise, [reach({})]).setPosition(0.5, [1, 2, 3]), /there is no goal 0.5/],
    ];
    for (const [call, words] of wrong) {
        assert.throws(call, words);
    }
    const pose = { position: [0, 0, 0], rotation: [0, 0, 0, 1] } as const;
    using solver = new ik.Solver(model);
    for (const capacity of [-1, 76695845]) { // 8 bytes x 7 x 76695845 are 24 more than 2^32
        assert.throws(() => solver.solveAll(goals.pose(6, pose, pose), model.neutral(), capacity), /out of memory/);
    }
});

test('the function of a goal may make what it likes', () => {
    using scene = poise.scene('arm7');
    using solver = new ik.Solver(scene.model);
    const made: { dispose(): void }[] = [];
    const still = { energy: 1, gradient: new Array<number>(6).fill(0), hessian: new Array<number>(36).fill(0) };
    const before = poise.heap.total;
    const report = solver.solve([goals.callback(6, () => {
        while (poise.heap.total === before) {
            made.push(poise.scene('chain-1000'));
        }
        return still;
    })]);
    assert.equal(report.cost, 1);
    made.forEach((part) => part.dispose());
});
