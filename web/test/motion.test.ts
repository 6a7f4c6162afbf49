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
    assert.throws(() => ik.retargetMotion(walk, walk, { feet: 'bare' as 'auto' }), /feet: "bare" is none of auto, follow, plant/);
});

test('pins hold to a micrometre, and frames beyond their fades keep their bits', () => {
    using scene = poise.scene('humanoid');
    const walk = motionOf(scene, 'walk');
    using clip = walk.clip;
    const before = bits(clip.q);
    using words = ik.edit(walk, { pins: ['left_hand 0.5 1.3 0.6 from 0.4 s to 0.6 s fade 0.3'] });
    using object = ik.edit(walk, { pins: [{ goal: 'left_hand 0.5 1.3 0.6', from: 0.4, to: 0.6, fade: 0.3 }] });
    assert.ok(words.isGood && words.pins[0]!.worstLength < 1e-6 && words.pins[0]!.worstFrame === null && words.changed > 12);
    assert.match(words.pins[0]!.text, /^left_hand 0.5/);
    assert.deepEqual(bits(words.clip.q), bits(object.clip.q));
    assert.deepEqual(bits(words.clip.frame(5)), before.slice(5 * clip.nq, 6 * clip.nq));
    assert.deepEqual(bits(clip.q), before);
    using far = ik.edit(walk, { pins: ['left_hand 9 9 9 from 0.4 s to 0.6 s'] });
    assert.ok(!far.isGood && far.missed > 0 && far.pins[0]!.worstLength > 5);
    assert.throws(() => ik.edit(walk, { pins: ['left_hnad 0 1 0'] }), /did you mean "left_hand"/);
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
