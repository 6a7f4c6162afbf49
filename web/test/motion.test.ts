// Motions on other skeletons, and edited.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bits, ik, poise } from './harness.js';

const scale = { metres: 1, up: 'y' as const };

function motionOf(scene: ReturnType<typeof poise.scene>, name: string, frames = 60) {
    const rows = Array.from({ length: frames }, (_, i) => scene.motion(name, i / 60));
    return { model: scene.model, clip: ik.Clip.create(poise, rows, 1 / 60), scale };
}

test('a motion on its own skeleton comes back as it was', () => {
    using scene = poise.scene('humanoid');
    const walk = motionOf(scene, 'walk');
    using clip = walk.clip;
    using own = ik.retargetMotion(walk, { model: scene.model, scale });
    assert.equal(own.verdict, 'good');
    assert.ok(own.outcome.same && !own.outcome.planted && own.outcome.factor === 1);
    assert.ok(own.clip.q.every((x, i) => Math.abs(x - clip.q[i]!) < 1e-9));
});

test('a motion on another skeleton has its feet planted, and stays within velocities', () => {
    using scene = poise.scene('humanoid');
    using other = poise.scene('humanoid-euler');
    const kick = motionOf(scene, 'kick', 120);
    using clip = kick.clip;
    using planted = ik.retargetMotion(kick, { model: other.model, scale }, { feet: 'plant', velocity: 8 });
    assert.ok(planted.outcome.planted && planted.outcome.contact > 0.2 && planted.outcome.velocity <= 1 + 1e-9 && planted.outcome.velocity > 0);
    assert.equal(planted.contacts.length, clip.frames);
    assert.ok(planted.contacts.some(({ leftToe, rightToe }) => leftToe || rightToe));
    assert.deepEqual([planted.outcome.outside, planted.clip.frames, planted.clip.nq], [0, clip.frames, other.model.nq]);
    assert.ok(planted.roles.some(({ name, motion, skeleton }) => name === 'thigh.left' && motion !== null && skeleton !== null));
});

/** A robot of boxes, whose feet are shapes below its ankles. */
function robotText() {
    const box = (size: string, at: string) => `<collision><origin xyz="${at}"/><geometry><box size="${size}"/></geometry></collision>`;
    const link = (name: string, shape = '') => `<link name="${name}">${shape}</link>`;
    const hinge = (name: string, parent: string, child: string, xyz: string, axis: string) =>
        `<joint name="${name}" type="revolute"><parent link="${parent}"/><child link="${child}"/><origin xyz="${xyz}"/><axis xyz="${axis}"/><limit lower="-2.6" upper="2.6" effort="9" velocity="30"/></joint>`;
    const side = (name: string, y: number) => [
        link(`${name}_hip_link`), link(`${name}_roll_link`), link(`${name}_thigh`), link(`${name}_shank`), link(`${name}_ankle`),
        link(`${name}_foot`, box('0.22 0.09 0.03', '0.04 0 -0.06')), link(`${name}_shoulder`), link(`${name}_upper_arm`),
        link(`${name}_forearm`), link(`${name}_hand`),
        hinge(`${name}_hip_yaw`, 'pelvis', `${name}_hip_link`, `0 ${y} -0.05`, '0 0 1'),
        hinge(`${name}_hip_roll`, `${name}_hip_link`, `${name}_roll_link`, '0 0 0', '1 0 0'),
        hinge(`${name}_hip_pitch`, `${name}_roll_link`, `${name}_thigh`, '0 0 0', '0 1 0'),
        hinge(`${name}_knee`, `${name}_thigh`, `${name}_shank`, '0 0 -0.35', '0 1 0'),
        hinge(`${name}_ankle_pitch`, `${name}_shank`, `${name}_ankle`, '0 0 -0.35', '0 1 0'),
        hinge(`${name}_ankle_roll`, `${name}_ankle`, `${name}_foot`, '0 0 0', '1 0 0'),
        hinge(`${name}_shoulder_pitch`, 'torso', `${name}_shoulder`, `0 ${1.6 * y} 0.3`, '0 1 0'),
        hinge(`${name}_shoulder_roll`, `${name}_shoulder`, `${name}_upper_arm`, '0 0 0', '1 0 0'),
        hinge(`${name}_elbow`, `${name}_upper_arm`, `${name}_forearm`, '0 0 -0.25', '0 1 0'),
        hinge(`${name}_wrist`, `${name}_forearm`, `${name}_hand`, '0 0 -0.22', '0 0 1'),
    ];
    return `<robot name="walker">${[link('pelvis'), link('torso', box('0.2 0.3 0.3', '0 0 0.2')), hinge('waist', 'pelvis', 'torso', '0 0 0.1', '0 0 1'), ...side('left', 0.1), ...side('right', -0.1)].join('\n')}</robot>`;
}

test('a skeleton that went through poise JSON keeps its shapes, and is moved to the same bits', () => {
    using scene = poise.scene('humanoid');
    const walk = motionOf(scene, 'walk');
    using _clip = walk.clip;
    using robot = poise.read(new TextEncoder().encode(robotText()), { name: 'walker.urdf', floating: true });
    assert.equal(robot.shapes.length, 3);
    const excluded = [{ a: robot.model!.body('pelvis'), b: robot.model!.body('torso') }];
    using copy = poise.read(poise.write({ ...robot, carried: null, excluded }, 'json').bytes, { format: 'json' });
    assert.deepEqual([copy.shapes, copy.excluded], [robot.shapes, excluded]);
    using own = ik.retargetMotion(walk, robot);
    using same = ik.retargetMotion(walk, copy);
    using bare = ik.retargetMotion(walk, { ...copy, shapes: [] });
    assert.deepEqual(bits(same.clip.q), bits(own.clip.q));
    assert.ok(!own.outcome.solesGuessed && bare.outcome.solesGuessed);
    assert.notDeepEqual(bits(bare.clip.q), bits(own.clip.q)); // so shapes matter here
});

test('what points up is told by the file, by its figure, or by custom', () => {
    using scene = poise.scene('humanoid');
    const { clip } = motionOf(scene, 'walk', 4);
    using _clip = clip;
    using bvh = poise.read(poise.write({ model: scene.model, clip, scale }, 'bvh').bytes, { format: 'bvh' });
    assert.deepEqual([bvh.scale.up, bvh.up, bvh.upBy], ['unknown', 'y', 'figure']);
    using json = poise.read(poise.write({ model: scene.model, scale: { metres: 1, up: 'x' } }, 'json').bytes, { format: 'json' });
    assert.deepEqual([json.up, json.upBy], ['x', 'file']);
    using arm = poise.read(new TextEncoder().encode('alpha,a,theta,d\n0,1,q,0\n0,1,q,0\n'), { name: 'arm.dh.csv' });
    assert.deepEqual([arm.up, arm.upBy], ['z', 'custom']);
});

test('roles can be edited, and an unknown body is named', () => {
    using scene = poise.scene('humanoid');
    const walk = motionOf(scene, 'walk', 10);
    using _clip = walk.clip;
    using found = ik.retargetMotion(walk, walk);
    const map = found.roles.map((role) => (role.name === 'head' ? { ...role, motion: null } : role));
    using headless = ik.retargetMotion(walk, walk, { map });
    assert.equal(headless.outcome.roles, found.outcome.roles - 1);
    assert.throws(() => ik.retargetMotion(walk, walk, { map: 'head nobody -' }), /nobody/);
    assert.throws(() => ik.retargetMotion(walk, { model: null }), /no model/);
    assert.throws(() => ik.retargetMotion(walk, walk, { feet: 'bare' as 'auto' }), /feet: "bare" is not one of auto, follow, plant/);
});

test('pins hold to a micrometre, and frames beyond their fades keep their bits', () => {
    using scene = poise.scene('humanoid');
    const walk = motionOf(scene, 'walk');
    using clip = walk.clip;
    const before = bits(clip.q);
    using words = ik.edit(walk, { pins: ['left_hand 0.5 1.3 0.6 from 0.4 s to 0.6 s fade 0.3'] });
    using object = ik.edit(walk, { pins: [{ goal: 'left_hand 0.5 1.3 0.6', from: 0.4, to: 0.6, fade: 0.3 }] });
    assert.ok(words.missed === 0 && words.pins[0]!.worstLength < 1e-6 && words.pins[0]!.worstFrame === null && words.changed > 12);
    assert.ok(Number.isInteger(words.iterations) && words.iterations >= words.changed, `${words.iterations} iterations`);
    assert.match(words.pins[0]!.text, /^left_hand 0.5/);
    assert.deepEqual(bits(words.clip.q), bits(object.clip.q));
    assert.deepEqual(bits(words.clip.frame(5)), before.slice(5 * clip.nq, 6 * clip.nq));
    assert.deepEqual(bits(clip.q), before);
    using far = ik.edit(walk, { pins: ['left_hand 9 9 9 from 0.4 s to 0.6 s'] });
    assert.ok(!far.isGood && far.missed > 0 && far.pins[0]!.worstLength > 5);
    assert.throws(() => ik.edit(walk, { pins: ['left_hnad 0 1 0'] }), /did you mean "left_hand"/);
});

test('an edit has a verdict: what pins did to the body, by name and with frames', () => {
    using scene = poise.scene('humanoid');
    const walk = motionOf(scene, 'walk');
    using _clip = walk.clip;
    using near = ik.edit(walk, { pins: ['left_hand 0.3 1.05 0.35 from 0.5 s to 0.6 s fade 0.3'] });
    assert.ok(near.isGood && near.verdict === 'good' && near.findings.length === 0 && !near.overlapsChecked);
    using high = ik.edit(walk, { pins: ['left_hand 0.5 1.3 0.6 from 0.4 s to 0.6 s fade 0.3'] });
    assert.ok(!high.isGood && high.verdict === 'doubtful' && high.missed === 0);
    const collar = high.findings.find(({ kind }) => kind === 'collar')!;
    assert.ok(collar.name === 'left_clavicle' && collar.value > 0.5 && collar.first <= 36 && collar.last >= 24, collar.text);
    const ball = (name: string, radius: number) => {
        const body = scene.model.body(name);
        return { kind: 'capsule' as const, body, pose: ik.identityPose, half: [0, 0, 0] as const, radius };
    };
    using kinematics = new ik.Kinematics(scene.model);
    const chest = kinematics.update(walk.clip.frame(30)).point(scene.model.body('thorax'), [0, 0, 0]);
    const shapes = [ball('left_hand', 0.04), ball('thorax', 0.12)];
    using pushed = ik.edit({ ...walk, shapes }, { pins: [`left_hand ${chest[0] + 0.1} ${chest[1]} ${chest[2]} from 0.4 s to 0.6 s fade 0.3`] });
    assert.ok(pushed.overlapsChecked && pushed.findings.some(({ kind }) => kind === 'pierced'), JSON.stringify(pushed.findings));
    using reversed = ik.edit(walk, { reverse: true });
    assert.ok(reversed.isGood && reversed.verdict === null);
    const { verdict, findings } = ik.judgeEdit(walk, high.clip); // made by whatever means
    assert.deepEqual([verdict, findings], [high.verdict, high.findings.filter(({ kind }) => kind !== 'unmet' && kind !== 'jolted')]);
    assert.deepEqual(ik.judgeEdit(walk, walk.clip), { verdict: 'good', findings: [], overlapsChecked: false });
    assert.throws(() => ik.judgeEdit(walk, walk.clip.trim(0, 9)), /as many frames/);
});

test('goals themselves are pins: the same as in words, along a path, and with joints that stay', () => {
    using scene = poise.scene('humanoid');
    const walk = motionOf(scene, 'walk');
    using _clip = walk.clip;
    const hand = scene.model.body('left_hand');
    const goal = ik.goals.position(hand, [0, 0, 0], [0.5, 1.3, 0.6]);
    using words = ik.edit(walk, { pins: ['left_hand 0.5 1.3 0.6 from 0.4 s to 0.6 s fade 0.3 0.1'] });
    using same = ik.edit(walk, { pins: [{ goal, from: 0.4, to: 0.6, fade: 0.3, fadeOut: 0.1 }] });
    assert.deepEqual(bits(same.clip.q), bits(words.clip.q));
    assert.equal(same.pins[0]!.text, 'position left_hand');
    const at = (time: number) => ({ time, goal: { ...goal, target: { ...goal.target!, position: [0.5, 1.3, 0.6 + 0.2 * (time - 0.4)] as const } } });
    using moving = ik.edit(walk, { pins: [{ goal, path: [at(0.4), at(0.5), at(0.6)], fade: 0.3 }] });
    assert.ok(moving.pins[0]!.worstLength < 1e-6 && moving.pins[0]!.heldFirst === 24 && moving.pins[0]!.heldLast === 36);
    using kinematics = new ik.Kinematics(scene.model);
    const point = kinematics.update(moving.clip.frame(30)).point(hand, [0, 0, 0]);
    assert.ok(Math.abs(point[2] - 0.62) < 1e-5, String(point));
    const elbow = scene.model.joints[scene.model.joint('left_elbow')]!;
    const locked = Array.from({ length: scene.model.nv }, (_, i) => i === elbow.v);
    using stiff = ik.edit(walk, { pins: [{ goal, from: 0.4, to: 0.6 }], locked });
    assert.ok(Array.from({ length: 60 }, (_, f) => stiff.clip.frame(f)[elbow.q] === walk.clip.frame(f)[elbow.q]).every(Boolean));
    assert.throws(() => ik.edit(walk, { pins: [{ goal }], locked: [true] }), /locked: \d+ flags are needed, 1 were given/);
});

test('a motion that is brought onto a character joins its animations, under its name', () => {
    const character = {
        asset: { version: '2.0' }, scene: 0, scenes: [{ nodes: [0] }], meshes: [{ primitives: [{ attributes: {} }] }],
        nodes: [{ name: 'root', children: [1], mesh: 0 }, { name: 'arm', translation: [0, 1, 0] }], skins: [{ joints: [0, 1] }],
    };
    using file = poise.read(new TextEncoder().encode(JSON.stringify(character)), { name: 'character.gltf' });
    const onto = (to: ReturnType<typeof poise.read>, frames: number, motion?: string) => {
        const pose = (angle: number) => [...to.model!.neutral().slice(0, -4), Math.sin(angle), 0, 0, Math.cos(angle)];
        using clip = ik.Clip.create(poise, Array.from({ length: frames }, (_, i) => pose(0.1 * i)), 0.2);
        return poise.read(poise.write({ ...to, clip, motion: motion ?? null }, 'glb').bytes, { name: 'onto.glb' });
    };
    using one = onto(file, 3, 'wave');
    using two = onto(one, 4, 'nod');
    using edited = onto(two, 5);
    assert.deepEqual([one, two, edited].map(({ carried, clip }) => [carried?.animations, clip?.frames]), [[1, 3], [2, 4], [2, 5]]);
    const text = new TextDecoder('latin1').decode(poise.write(two, 'gltf').bytes);
    assert.ok(text.includes('"nod"') && text.includes('"wave"') && two.carried?.meshes === 1);
});

test('a clip tells which way up its figure stands', () => {
    using scene = poise.scene('humanoid');
    using clip = motionOf(scene, 'walk').clip;
    assert.equal(clip.up(scene.model), scale.up);
    using arm = poise.scene('arm7');
    using still = ik.Clip.create(poise, [arm.model.neutral()], 1);
    assert.equal(still.up(arm.model), 'unknown');
});

test('clips are mirrored, reversed, slowed, joined, looped, and cleaned of feet that skate', () => {
    using scene = poise.scene('humanoid');
    const walk = motionOf(scene, 'walk');
    using clip = walk.clip;
    using twice = ik.edit({ ...walk, clip: ik.edit(walk, { mirror: true }).clip }, { mirror: true });
    assert.ok(twice.mirrorAngle < 1e-3 && twice.clip.q.every((x, i) => Math.abs(x - clip.q[i]!) < 1e-6));
    using backwards = ik.edit(walk, { reverse: true });
    assert.deepEqual(bits(backwards.clip.frame(0)), bits(clip.frame(clip.frames - 1)));
    using slow = ik.edit(walk, { speed: 0.5 });
    assert.equal(slow.clip.frames, 2 * clip.frames - 1);
    using joined = ik.edit(walk, { append: clip, blend: 0.2 });
    assert.ok(joined.clip.frames > 1.7 * clip.frames && joined.clip.frames < 2 * clip.frames);
    using looped = ik.edit(walk, { loop: true, blend: 0.2 });
    assert.ok(looped.clip.frames < clip.frames);
    const kick = motionOf(scene, 'kick', 120);
    using _kick = kick.clip;
    using clean = ik.edit(kick, { cleanFeet: true });
    assert.ok(clean.pins.length > 0 && clean.pins.every(({ text }) => text === 'a foot that rests') && clean.missed === 0);
});

test('a joint that leaps along a tool path is named, with its poses', () => {
    using scene = poise.scene('arm6');
    const { model } = scene;
    const rows = Array.from({ length: 20 }, (_, i) => [0.1 + 0.02 * i, 0.3, 0.4, 0.1, 0.5, 0]);
    assert.deepEqual(ik.judgePath(model, rows.flat(), { tool: 'tip' }), { verdict: 'good', findings: [] });
    rows[12] = [0.34, 0.3, 0.4, 0.1 - Math.PI, -0.5, Math.PI]; // the wrist's other answer
    const { verdict, findings } = ik.judgePath(model, rows.flat(), { tool: 'tip', step: 0.05 });
    assert.deepEqual([verdict, findings.length], ['failed', 2]);
    assert.match(findings[0]!.text, /^f(orearm|lange) leaps by 180.0 degrees from pose 12 to 13/);
    assert.deepEqual([findings[0]!.kind, findings[0]!.first, findings[0]!.last], ['leapt', 12, 13]);
    assert.throws(() => ik.judgePath(model, [1, 2, 3]), /rows of 6 numbers, got 3/);
});

test('a figure that leaves the ground is doubtful, an arm has no ground', () => {
    using scene = poise.scene('humanoid');
    using stance = ik.Stance.of(scene.model)!;
    using kinematics = new ik.Kinematics(scene.model);
    const q = scene.model.neutral();
    const at = (height: number) => stance.judge(stance.height(kinematics.update(q.map((x, i) => x + (i === 1 ? height : 0)))));
    assert.deepEqual([at(0).verdict, at(0.01).verdict], ['good', 'good']);
    assert.deepEqual(at(0.2).findings.map(({ kind, level }) => [kind, level]), [['afloat', 'doubtful']]);
    assert.deepEqual(at(-0.2).findings.map(({ kind, level }) => [kind, level]), [['sunk', 'failed']]);
    using arm = poise.scene('arm7');
    assert.equal(ik.Stance.of(arm.model), null);
});
