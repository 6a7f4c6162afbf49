// Characters as animators bring them: what they are called, where their first goal is, and what the line below the stage says of it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { atRest, drop, LONG, on, probe, said, until } from './browser.mjs';

/** Arms of a character: a spine, a shoulder, a hand with two fingers, of which the thumb has more bones. */
const nodes = [
  { name: 'mixamorig:Spine', children: [1, 6] }, { name: 'mixamorig:RightArm', translation: [-0.2, 0.4, 0], children: [2] },
  { name: 'mixamorig:RightHand', translation: [-0.5, 0, 0], children: [3] }, { name: 'mixamorig:RightHandThumb1', translation: [-0.05, 0, 0.03], children: [4] },
  { name: 'mixamorig:RightHandThumb2', translation: [-0.03, 0, 0], children: [5] }, { name: 'mixamorig:RightHandThumb3', translation: [-0.03, 0, 0] },
  { name: 'mixamorig:Head', translation: [0, 0.6, 0] },
];
const character = (title) => {
  const weights = { POSITION: 0, JOINTS_0: 1, WEIGHTS_0: 2 };
  const parts = [
    [new Float32Array([0, 0, 0, 0.1, 0, 0, 0, 0.6, 0]), 'VEC3', 5126, 3], [new Uint16Array(12), 'VEC4', 5123, 4],
    [new Float32Array([1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0]), 'VEC4', 5126, 4],
  ];
  return JSON.stringify({
    asset: { version: '2.0' }, scene: 0, scenes: [{ name: title, nodes: [0, 7] }], nodes: [...nodes, { name: 'skin', mesh: 0, skin: 0 }],
    skins: [{ joints: [0, 1, 2, 3, 4, 5, 6] }], meshes: [{ primitives: [{ attributes: weights }] }],
    accessors: parts.map(([array, type, componentType, size], i) => ({ bufferView: i, componentType, type, count: array.length / size, ...(i === 0 ? { min: [0, 0, 0], max: [0.1, 0.6, 0] } : {}) })),
    bufferViews: parts.map(([array], i) => ({ buffer: i, byteLength: array.byteLength })),
    buffers: parts.map(([array]) => ({ byteLength: array.byteLength, uri: `data:application/octet-stream;base64,${Buffer.from(array.buffer).toString('base64')}` })),
  });
};

test('a character is called by its file where its scene has no name of its own, and its first goal is for the hand', on('?scene=arm6', {}, async (page) => {
  for (const [title, shown] of [['Scene', 'soldier.gltf'], ['AuxScene', 'soldier.gltf'], ['Root Scene', 'soldier.gltf'], ['Private Ryan', 'Private Ryan']]) {
    await drop(page, { name: 'soldier.gltf', bytes: Buffer.from(character(title)) });
    await until(page, (wanted) => document.title.startsWith(wanted), shown);
    assert.equal(await page.locator('.goals .name').textContent(), 'Reach mixamorig:RightHand');
  }
}));

const status = (page) => page.locator('main > .status').evaluate(({ textContent: text, dataset: { tone } }) => ({ text, isGood: tone === 'good' }));

test('a goal on a motion counts its iterations, and one that is missed by centimetres is not green', { timeout: LONG }, on('?scene=humanoid/walk', {}, async (page) => {
  await page.locator('canvas.stage').focus();
  await page.keyboard.press(' ');
  await page.keyboard.press('t');
  await said(page, /frames tracked in/);
  await page.keyboard.press('1');
  await atRest(page);
  const [{ position: [x, y, z] }] = (await probe(page, 'state')).targets;
  let miss = 0;
  for (let i = 0; i < 60 && miss < 0.01; i++) {
    await probe(page, 'moveGoal', 0, [x, y + 0.03 * i, z]);
    await atRest(page);
    const { text, isGood } = await status(page);
    assert.match(text, /\d iterations?/);
    assert.doesNotMatch(text, /NaN|undefined/);
    miss = (await probe(page, 'last')).length;
    assert.equal(isGood, miss < 0.002 * (await probe(page, 'size')), `${miss}: ${text}`);
  }
  assert.ok(miss > 0.01 && miss < 0.06, `${miss}`);
  assert.match((await status(page)).text, /as near as it gets beside the motion/);
}));
