// Robots with a body: primitives, meshes of each kind, dropped singly and as an archive; what comes before the first drag.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { strToU8, zipSync } from 'three/addons/libs/fflate.module.js';
import { drag, drop, notice, on, open, probe, serve, shots, until } from './browser.mjs';

// One triangle each, with corners at (0 0 0), (1 0 0) and (0 1 0).
const stl = 'solid t\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\nendsolid t\n';
const obj = 'v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n';
const dae = `<?xml version="1.0"?><COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1"><asset><unit name="meter" meter="1"/><up_axis>Z_UP</up_axis></asset>
<library_geometries><geometry id="g"><mesh><source id="p"><float_array id="pa" count="9">0 0 0 1 0 0 0 1 0</float_array><technique_common><accessor source="#pa" count="3" stride="3"><param name="X" type="float"/><param name="Y" type="float"/><param name="Z" type="float"/></accessor></technique_common></source>
<vertices id="v"><input semantic="POSITION" source="#p"/></vertices><triangles count="1"><input semantic="VERTEX" source="#v" offset="0"/><p>0 1 2</p></triangles></mesh></geometry></library_geometries>
<library_visual_scenes><visual_scene id="s"><node id="n"><instance_geometry url="#g"/></node></visual_scene></library_visual_scenes><scene><instance_visual_scene url="#s"/></scene></COLLADA>`;
const points = Buffer.from(new Float32Array([0, 0, 0, 1, 0, 0, 0, 1, 0]).buffer).toString('base64');
const gltf = JSON.stringify({
  asset: { version: '2.0' }, scene: 0, scenes: [{ nodes: [0] }], nodes: [{ mesh: 0 }],
  meshes: [{ primitives: [{ attributes: { POSITION: 0 } }] }],
  accessors: [{ bufferView: 0, componentType: 5126, count: 3, type: 'VEC3', min: [0, 0, 0], max: [1, 1, 0] }],
  bufferViews: [{ buffer: 0, byteLength: 36 }], buffers: [{ byteLength: 36, uri: `data:application/octet-stream;base64,${points}` }],
});
const meshes = { 'a.stl': stl, 'b.obj': obj, 'c.dae': dae, 'd.gltf': gltf };

const visual = (geometry, xyz) => `<visual><origin xyz="${xyz}"/><geometry>${geometry}</geometry><material name="red"><color rgba="0.8 0.2 0.1 1"/></material></visual>`;
const robot = (mesh) => `<robot name="boxer"><link name="base">${visual('<box size="2 4 6"/>', '0 0 3')}<collision><geometry><cylinder radius="1" length="2"/></geometry></collision></link>
<link name="arm">${visual('<cylinder radius="0.5" length="2"/>', '0 0 1')}${visual('<sphere radius="0.7"/>', '0 0 2')}${mesh}</link>
<joint name="j" type="revolute"><parent link="base"/><child link="arm"/><origin xyz="0 0 6"/><axis xyz="0 1 0"/><limit lower="-2" upper="2" effort="1" velocity="1"/></joint></robot>`;
const withMeshes = robot(Object.keys(meshes).map((file, i) => visual(`<mesh filename="package://boxer_description/meshes/${file}" scale="2 2 2"/>`, `${10 * (i + 1)} 0 0`)).join(''));

const near = (box, wanted) => box.forEach((x, i) => assert.ok(Math.abs(x - wanted[i]) < 1e-3, `${box} instead of ${wanted}`));

test('a URDF shows its primitives where its links are', on('?scene=arm6', {}, async (page) => {
  await drop(page, { name: 'boxer.urdf', bytes: Buffer.from(robot('')) });
  await until(page, () => globalThis.studio.look().meshes === 3);
  const { look, box } = await probe(page, 'look');
  assert.equal(look, 'solid');
  near(box, [-1, -2, 0, 1, 2, 8.7]);
  await page.getByText('View', { exact: true }).click();
  for (const look of ['xray', 'bones', 'solid']) {
    await page.getByLabel('Body', { exact: true }).selectOption(look);
    assert.equal((await probe(page, 'look')).look, look);
  }
  await page.getByLabel('Collision shapes').check();
  await page.screenshot({ path: `${shots}/body-urdf.png` });
  await page.keyboard.press('Delete'); // its goal
  const at = await probe(page, 'project', [0, 0, 7.5]); // the arm is dragged by its body
  const before = await probe(page, 'state');
  await drag(page, at, { x: at.x + 60, y: at.y + 30 });
  assert.notDeepEqual((await probe(page, 'state')).q, before.q);
}));

test('meshes of every kind come with their robot, singly and in an archive', on('?scene=arm6', {}, async (page) => {
  const list = Object.entries(meshes).map(([name, text]) => ({ name, bytes: Buffer.from(text) }));
  const zip = zipSync(Object.fromEntries([['boxer/urdf/boxer.urdf', strToU8(withMeshes)], ['boxer/package.xml', strToU8('<package/>')], ...Object.entries(meshes).map(([name, text]) => [`boxer/meshes/${name}`, strToU8(text)])]));
  for (const files of [[{ name: 'boxer.urdf', bytes: Buffer.from(withMeshes) }, ...list], [{ name: 'boxer.zip', bytes: Buffer.from(zip) }]]) {
    await page.getByLabel('Scene', { exact: true }).selectOption('arm6');
    await drop(page, ...files);
    const words = await notice(page);
    assert.ok(!words.bad, words.text);
    await until(page, () => globalThis.studio.look().meshes === 7);
    near((await probe(page, 'look')).box, [-1, -2, 0, 42, 2, 8.7]);
    await page.keyboard.press('c'); // the robot's own file, not a copy
    assert.match(await page.locator('dialog pre').textContent(), /^poise solve '(boxer\/urdf\/)?boxer\.urdf'/);
    await page.keyboard.press('Escape');
  }
}));

test('a mesh that did not come is told', on('?scene=arm6', {}, async (page) => {
  await drop(page, { name: 'boxer.urdf', bytes: Buffer.from(withMeshes) });
  await page.getByText('4 meshes, such as a.stl, did not come with the robot').waitFor();
  assert.match((await notice(page)).text, /select all files together with Open; or let poise view boxer\.urdf find them/);
  await page.keyboard.press('ArrowUp'); // a remark goes with the next action
  assert.equal((await notice(page)).text, '');
}));

const mjcf = `<mujoco><compiler angle="radian" meshdir="parts"/><default><default class="limb"><geom type="capsule" size="0.1" rgba="0.2 0.4 0.8 1"/></default></default>
<asset><mesh name="plate" file="a.stl" scale="0.5 0.5 0.5"/></asset>
<worldbody><geom type="plane" size="5 5 1"/><body name="one" pos="0 0 1" childclass="limb"><joint axis="0 1 0"/><geom fromto="0 0 0 0 0 1"/>
<geom type="box" size="1 0.5 0.25" pos="0 0 2" euler="0 0 1.5707963268"/><geom type="mesh" mesh="plate" pos="3 0 0"/><geom type="sphere" size="9" group="3"/></body></worldbody></mujoco>`;

test('an MJCF shows its geoms, with classes, ends and meshes', on('?scene=arm6', {}, async (page) => {
  await drop(page, { name: 'one.xml', bytes: Buffer.from(mjcf) }, { name: 'a.stl', bytes: Buffer.from(stl) });
  await until(page, () => globalThis.studio.look().meshes === 3);
  near((await probe(page, 'look')).box, [-0.5, -1, 0.9, 3.5, 1, 3.25]);
}));

test('1.2 MB are enough for the first drag', on('', {}, async (page) => {
  const sizes = await page.evaluate(() => performance.getEntriesByType('resource').map(({ name, transferSize }) => [name, transferSize]));
  const all = sizes.reduce((sum, [, size]) => sum + size, 0);
  console.log(`the first drag: ${Math.round(all / 1000)} kB`);
  assert.ok(all > 300_000 && all < 1_200_000, JSON.stringify(sizes));
}));

test('poise view finds the meshes of a robot on disk, and what an MJCF includes', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'poise-robot-'));
  const files = { 'boxer/urdf/boxer.urdf': withMeshes, 'one/scene.xml': '<mujoco><include file="one.xml"/></mujoco>', 'one/one.xml': mjcf, 'one/parts/a.stl': stl };
  Object.entries(meshes).forEach(([name, text]) => (files[`boxer/meshes/${name}`] = text));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  try {
    for (const [name, count] of [['boxer/urdf/boxer.urdf', 7], ['one/scene.xml', 3]]) {
      const { address, end } = await serve(join(folder, name));
      const { page, finish } = await open(address);
      await until(page, (wanted) => globalThis.studio.look().meshes === wanted, count);
      await finish();
      end();
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
