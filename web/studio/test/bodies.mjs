// Robots with a body: primitives, meshes of each kind, dropped singly and as an archive; what comes before the first drag.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { build } from 'esbuild';
import { strToU8, zipSync } from 'three/addons/libs/fflate.module.js';
import { atRest, drag, drop, dropPaths, notice, on, open, probe, said, serve, shots, until } from './browser.mjs';

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
// A triangle on two bones, one above the other: its top corner follows the upper one, which an animation turns by 90 degrees about z.
const skinParts = [
  [new Float32Array([-0.5, 0, 0, 0.5, 0, 0, 0, 2, 0]), 'VEC3', 5126], [new Uint16Array([0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0]), 'VEC4', 5123],
  [new Float32Array([1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0]), 'VEC4', 5126],
  [new Float32Array([1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, -1, 0, 1]), 'MAT4', 5126],
  [new Float32Array([0, 1]), 'SCALAR', 5126], [new Float32Array([0, 0, 0, 1, 0, 0, Math.SQRT1_2, Math.SQRT1_2]), 'VEC4', 5126],
];
const sizes = { SCALAR: 1, VEC3: 3, VEC4: 4, MAT4: 16 };
const skin = JSON.stringify({
  asset: { version: '2.0' }, scene: 0, scenes: [{ nodes: [0, 2] }],
  nodes: [{ name: 'hip', children: [1] }, { name: 'knee', translation: [0, 1, 0] }, { name: 'body', mesh: 0, skin: 0 }],
  skins: [{ joints: [0, 1], inverseBindMatrices: 3 }], meshes: [{ primitives: [{ attributes: { POSITION: 0, JOINTS_0: 1, WEIGHTS_0: 2 } }] }],
  animations: [
    { name: 'bend', samplers: [{ input: 4, output: 5 }], channels: [{ sampler: 0, target: { node: 1, path: 'rotation' } }] },
    { samplers: [{ input: 4, output: 5 }], channels: [{ sampler: 0, target: { node: 0, path: 'rotation' } }] },
  ],
  accessors: skinParts.map(([array, type, componentType], i) => ({ bufferView: i, componentType, type, count: array.length / sizes[type], ...(i === 0 ? { min: [-0.5, 0, 0], max: [0.5, 2, 0] } : {}) })),
  bufferViews: skinParts.map(([array], i) => ({ buffer: i, byteLength: array.byteLength })),
  buffers: skinParts.map(([array]) => ({ byteLength: array.byteLength, uri: `data:application/octet-stream;base64,${Buffer.from(array.buffer).toString('base64')}` })),
});
// A bone of OpenSim in the frame of its body, and one in the old way, scaled.
const vtp = `<?xml version="1.0"?><VTKFile type="PolyData" version="0.1"><PolyData><Piece NumberOfPoints="4" NumberOfPolys="1"><Points><DataArray type="Float32" NumberOfComponents="3" format="ascii">0 0 0 1 0 0 1 1 0 0 1 0</DataArray></Points>
<Polys><DataArray type="Int32" Name="connectivity" format="ascii">0 1 2 3</DataArray><DataArray type="Int32" Name="offsets" format="ascii">4</DataArray></Polys></Piece></PolyData></VTKFile>`;
const osim = `<?xml version="1.0"?><OpenSimDocument Version="40000"><Model name="leg"><Ground name="ground"/><BodySet><objects><Body name="thigh"><mass>1</mass>
<components><PhysicalOffsetFrame name="up"><translation>0 3 0</translation><orientation>0 0 0</orientation><attached_geometry><Mesh name="m"><scale_factors>2 2 2</scale_factors><mesh_file>femur.vtp</mesh_file></Mesh></attached_geometry></PhysicalOffsetFrame></components>
<attached_geometry><Mesh name="n"><mesh_file>femur.vtp</mesh_file></Mesh><Brick name="b"><half_lengths>0.5 0.5 2</half_lengths></Brick></attached_geometry></Body></objects></BodySet>
<JointSet><objects><PinJoint name="hip"><socket_parent_frame>/ground</socket_parent_frame><socket_child_frame>/bodyset/thigh</socket_child_frame><coordinates><Coordinate name="flexion"><range>-2 2</range></Coordinate></coordinates></PinJoint></objects></JointSet></Model></OpenSimDocument>`;
const meshes = { 'a.stl': stl, 'b.obj': obj, 'c.dae': dae, 'd.gltf': gltf };

const visual = (geometry, xyz) => `<visual><origin xyz="${xyz}"/><geometry>${geometry}</geometry><material name="red"><color rgba="0.8 0.2 0.1 1"/></material></visual>`;
const robot = (mesh) => `<robot name="boxer"><link name="base">${visual('<box size="2 4 6"/>', '0 0 3')}<collision><geometry><cylinder radius="1" length="2"/></geometry></collision></link>
<link name="arm">${visual('<cylinder radius="0.5" length="2"/>', '0 0 1')}${visual('<sphere radius="0.7"/>', '0 0 2')}${mesh}</link>
<joint name="j" type="revolute"><parent link="base"/><child link="arm"/><origin xyz="0 0 6"/><axis xyz="0 1 0"/><limit lower="-2" upper="2" effort="1" velocity="1"/></joint></robot>`;
const ball = (xyz, radius) => `<collision><origin xyz="${xyz}"/><geometry><sphere radius="${radius}"/></geometry></collision>`;
const hinge = (name, parent, child, xyz) => `<joint name="${name}" type="revolute"><parent link="${parent}"/><child link="${child}"/><origin xyz="${xyz}"/><axis xyz="0 1 0"/><limit lower="-3" upper="3" effort="1" velocity="1"/></joint>`;
// three links in a row, whose last one can be folded back onto the first
const folder = `<robot name="folder"><link name="base">${ball('0 0 0', 0.2)}</link><link name="upper">${ball('0 0 0.5', 0.1)}</link><link name="fore"/><link name="hand">${ball('0 0 0.3', 0.2)}</link>
${hinge('shoulder', 'base', 'upper', '0 0 0')}${hinge('elbow', 'upper', 'fore', '0 0 1')}${hinge('wrist', 'fore', 'hand', '0 0 0.5')}</robot>`;
const withMeshes = robot(Object.keys(meshes).map((file, i) => visual(`<mesh filename="package://boxer_description/meshes/${file}" scale="2 2 2"/>`, `${10 * (i + 1)} 0 0`)).join(''));

/** A module of the studio, outside of the page. */
async function moduleOf(source) {
  const { outputFiles } = await build({ entryPoints: [source], bundle: true, format: 'esm', platform: 'node', write: false, logLevel: 'error' });
  return import(`data:text/javascript;base64,${Buffer.from(outputFiles[0].contents).toString('base64')}`);
}

/** A round ball as an STL file: faces apart, each with its corners. */
function ballStl(radius, around) {
  const at = (i, j) => {
    const [a, b] = [(2 * Math.PI * i) / around, (2 * Math.PI * j) / around];
    return [Math.cos(a) * Math.sin(b), Math.sin(a) * Math.sin(b), Math.cos(b)].map((x) => (radius * x).toFixed(9)).join(' ');
  };
  const facet = (corners) => `facet normal 0 0 0\nouter loop\n${corners.map((corner) => `vertex ${corner}\n`).join('')}endloop\nendfacet\n`;
  const rows = Array.from({ length: around / 2 - 2 }, (_, j) => j + 1);
  const patches = rows.flatMap((j) => Array.from({ length: around }, (_, i) => facet([at(i, j), at(i, j + 1), at(i + 1, j)]) + facet([at(i + 1, j), at(i, j + 1), at(i + 1, j + 1)])));
  return `solid ball\n${patches.join('')}endsolid ball\n`;
}

test('small things are as smooth as large ones', async () => {
  const { loadMesh } = await moduleOf('src/body/meshes.ts');
  for (const radius of [0.004, 1, 4000]) {
    const { geometry } = await loadMesh('ball.stl', Buffer.from(ballStl(radius, 48)), async () => null);
    const [corners, normals] = ['position', 'normal'].map((name) => geometry.attributes[name]);
    for (let i = 0; i < corners.count; i++) {
      const outwards = ['getX', 'getY', 'getZ'].reduce((sum, get) => sum + (corners[get](i) * normals[get](i)) / radius, 0);
      assert.ok(outwards > 0.995, `radius ${radius}: a normal ${outwards} along the radius`);
    }
  }
});

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

  // shapes that collide are named; kept apart, they hold the answer
  await drop(page, { name: 'folder.urdf', bytes: Buffer.from(folder) });
  await page.getByLabel('Collision shapes').check();
  assert.deepEqual(await probe(page, 'near'), []);
  await page.getByText('Joints', { exact: true }).click();
  await page.getByLabel('elbow', { exact: true }).first().fill('3');
  await until(page, () => globalThis.studio.settled() && globalThis.studio.near().length > 0);
  assert.match((await probe(page, 'near'))[0].names, /base and hand|upper and hand/);
  await until(page, () => /collide by .*hand/.test(document.querySelector('.status').textContent));
  await page.screenshot({ path: `${shots}/collisions.png` });
  assert.deepEqual(await probe(page, 'tinted'), await page.evaluate(() => globalThis.studio.near().flatMap(({ names }) => names.split(' and ')).filter((name, i, list) => list.indexOf(name) === i).sort()));
  assert.deepEqual([(await probe(page, 'shapes')).shapes, (await probe(page, 'shapes')).margin], [3, 0]);
  await page.getByLabel('Margin around shapes').fill('50');
  await page.getByLabel('Keep them apart').check();
  assert.equal((await probe(page, 'shapes')).margin, 0.05);
  await until(page, () => globalThis.studio.settled() && globalThis.studio.near().every(({ distance }) => distance > 0.0499));
  await page.screenshot({ path: `${shots}/apart.png` });
  await page.keyboard.press('Escape');
  await page.locator('canvas.stage').focus();
  await page.keyboard.press('c'); // the code keeps them apart, or says that it does not
  for (const [name, words] of [['Command', /--avoid --margin 0\.05 /], ['Python', /# shapes are kept apart/], ['C', /\/\/ shapes are kept apart/], ['TypeScript', /\/\/ shapes are kept apart/]]) {
    await page.getByRole('tab', { name, exact: true }).click();
    assert.match(await page.locator('dialog pre').textContent(), words);
  }
  await page.keyboard.press('Escape');

  // the skin of a character follows its bones, and is picked by them
  await drop(page, { name: 'leg.gltf', bytes: Buffer.from(skin) });
  await until(page, () => globalThis.studio.look().meshes === 1);
  await page.keyboard.press(' ');
  await page.getByLabel('Time', { exact: true }).fill('0');
  await until(page, () => globalThis.studio.settled());
  near((await probe(page, 'look')).box, [-0.5, 0, 0, 0.5, 2, 0]);
  const knee = await probe(page, 'project', [0, 1.9, 0]);
  await page.mouse.click(knee.x, knee.y);
  await page.getByText('Add for knee:').waitFor();
  await page.getByLabel('Time', { exact: true }).fill('1');
  await until(page, () => globalThis.studio.settled());
  near((await probe(page, 'look')).box, [-1, 0, 0, 0.5, 1, 0]);
  await page.screenshot({ path: `${shots}/body-skin.png` });

  // another animation of the file turns the lower bone instead
  const animation = page.getByLabel('Animation', { exact: true });
  assert.deepEqual(await animation.locator('option').allTextContents(), ['bend', 'Animation 2']);
  await animation.selectOption('Animation 2');
  await until(page, () => globalThis.studio.look().meshes === 1);
  await page.getByLabel('Time', { exact: true }).fill('1');
  await until(page, () => globalThis.studio.settled());
  near((await probe(page, 'look')).box, [-2, -0.5, 0, 0, 0.5, 0]);
  await animation.selectOption('bend');
  await until(page, () => globalThis.studio.look().meshes === 1);

  // and is in the file that is saved
  await page.evaluate(() => document.querySelectorAll('details').forEach((details) => (details.open = true)));
  const [saved] = await Promise.all([page.waitForEvent('download'), page.locator('details', { hasText: 'Save as' }).getByRole('button').filter({ hasText: /^GLB$/ }).click()]);
  const glb = readFileSync(await saved.path());
  const { meshes: kept, skins } = JSON.parse(glb.subarray(20, 20 + glb.readUInt32LE(12)).toString());
  assert.deepEqual([kept?.length, skins?.length], [1, 1]);
  await page.getByLabel('Scene', { exact: true }).selectOption('arm6');
  await drop(page, { name: 'again.glb', bytes: glb });
  await until(page, () => globalThis.studio.look().meshes === 1);
  await page.getByLabel('Time', { exact: true }).fill('0');
  await until(page, () => globalThis.studio.settled());
  near((await probe(page, 'look')).box, [-0.5, 0, 0, 0.5, 2, 0]);

  // bones of an OpenSim model, from its folder
  await drop(page, { name: 'leg.zip', bytes: Buffer.from(zipSync({ 'leg/leg.osim': strToU8(osim), 'leg/Geometry/femur.vtp': strToU8(vtp) })) });
  await until(page, () => globalThis.studio.look().meshes === 3);
  near((await probe(page, 'look')).box, [-0.5, -0.5, -2, 2, 5, 2]);
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
  await said(page, /4 meshes, such as a.stl, did not come with boxer\.urdf/);
  assert.equal(await probe(page, 'showsBones'), true); // they say more than what is left of its shapes
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

// a world with a shape of its own, a body without a name, a picture by a material of the file, and one by the mesh's own
const png = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGP4z8DwHwAFAAH/iZk9HQAAAABJRU5ErkJggg==', 'base64');
const painted = 'mtllib p.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nvt 0 0\nvt 1 0\nvt 0 1\nusemtl paint\nf 1/1 2/2 3/3\n';
const inPictures = `<mujoco><compiler assetdir="parts"/><asset><texture name="t" type="2d" file="p.png"/><material name="m" texture="t"/><mesh name="bare" file="bare.obj"/><mesh name="own" file="own.obj"/></asset>
<worldbody><geom type="box" size="1 1 0.5" pos="0 0 -0.5"/><body pos="0 0 1"><joint axis="0 1 0"/><geom type="mesh" mesh="bare" material="m"/><body pos="0 0 1"><joint axis="0 1 0"/><geom type="mesh" mesh="own"/></body></body></worldbody></mujoco>`;
const parts = { 'parts/bare.obj': painted.replace('p.mtl', 'gone.mtl'), 'parts/own.obj': painted, 'parts/p.mtl': 'newmtl paint\nKd 1 1 1\nmap_Kd p.png\n', 'parts/p.png': png };
const isSeen = async (page) => {
  await until(page, () => globalThis.studio.look().meshes === 3 && globalThis.studio.look().pictures === 2);
  near((await probe(page, 'look')).box, [-1, -1, -1, 1, 1, 2]);
};

test('pictures lie on meshes, shapes of the world and of nameless bodies are there; what is empty, or one link, is no harm', on('?scene=arm6', {}, async (page) => {
  const zip = zipSync(Object.fromEntries([['two/two.xml', strToU8(inPictures)], ...Object.entries(parts).map(([name, content]) => [`two/${name}`, Buffer.from(content)])]));
  await drop(page, { name: 'two.zip', bytes: Buffer.from(zip) });
  await isSeen(page);
  const empty = dae.replace('<instance_geometry url="#g"/>', '');
  await drop(page, { name: 'boxer.urdf', bytes: Buffer.from(robot(visual('<mesh filename="empty.dae"/>', '0 0 0'))) }, { name: 'empty.dae', bytes: Buffer.from(empty) });
  await until(page, () => globalThis.studio.look().meshes === 3 && globalThis.studio.rests());
  near((await probe(page, 'look')).box, [-1, -2, 0, 1, 2, 8.7]);
  assert.ok(Number.isFinite((await probe(page, 'project', [0, 0, 0])).x), 'the camera stands somewhere');
  await drop(page, { name: 'stone.urdf', bytes: Buffer.from(`<robot name="stone"><link name="base">${visual('<box size="2 4 6"/>', '0 0 3')}</link></robot>`) });
  assert.equal((await notice(page)).bad, false);
  await until(page, () => globalThis.studio.look().meshes === 1);
  near((await probe(page, 'look')).box, [-1, -2, 0, 1, 2, 6]);
}));

// Two robots in one folder, one of which includes a file that includes another; meshes lie beside them.
const parted = {
  'pair/arm/scene.xml': '<mujoco><include file="parts/arm.xml"/></mujoco>',
  'pair/arm/parts/arm.xml': '<mujoco model="arm"><compiler angle="radian"/><include file="looks.xml"/><worldbody><body name="upper"><joint axis="0 1 0"/><geom type="mesh" mesh="plate"/><include file="parts/hand.xml"/></body></worldbody></mujoco>',
  'pair/arm/parts/looks.xml': '<mujoco><asset><mesh name="plate" file="a.stl" scale="2 2 2"/></asset></mujoco>',
  'pair/arm/parts/hand.xml': '<mujoco><body name="hand" pos="0 0 1"><joint axis="0 1 0"/><geom type="sphere" size="0.5"/></body></mujoco>',
  'pair/arm/a.stl': stl,
  'pair/leg/other.xml': mjcf,
  'pair/leg/parts/a.stl': stl,
};

test('a folder is dropped: includes of includes are found, and another robot of it can be chosen', on('?scene=arm6', {}, async (page) => {
  const folder = mkdtempSync(join(tmpdir(), 'poise-folder-'));
  try {
    for (const [name, text] of Object.entries(parted)) {
      mkdirSync(dirname(join(folder, name)), { recursive: true });
      writeFileSync(join(folder, name), text);
    }
    await dropPaths(page, join(folder, 'pair'));
    await until(page, () => globalThis.studio.look().meshes === 2);
    near((await probe(page, 'look')).box, [-0.5, -0.5, 0, 2, 2, 1.5]);
    assert.deepEqual(Object.keys(await probe(page, 'bodies')).filter((name) => /upper|hand/.test(name)), ['upper', 'hand']);
    const choice = page.getByLabel('Robot', { exact: true });
    assert.deepEqual(await choice.locator('option').allTextContents(), ['arm/scene.xml', 'leg/other.xml']);
    await choice.selectOption({ label: 'leg/other.xml' });
    await until(page, () => globalThis.studio.look().meshes === 3);
    near((await probe(page, 'look')).box, [-0.5, -1, 0.9, 3.5, 1, 3.25]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}));

test('a robot far smaller than its skeleton says fills the view', on('?scene=arm7', {}, async (page) => {
  const tiny = '<robot name="camera"><link name="body"><visual><geometry><box size="0.09 0.025 0.025"/></geometry></visual></link></robot>';
  await drop(page, { name: 'camera.urdf', bytes: Buffer.from(tiny) });
  await atRest(page);
  assert.ok(Math.abs((await probe(page, 'size')) - 0.097) < 0.01);
  const ends = await Promise.all([[-0.045, 0, 0], [0.045, 0, 0]].map((point) => probe(page, 'project', point)));
  const stage = await page.locator('canvas.stage').boundingBox();
  const across = Math.hypot(ends[0].x - ends[1].x, ends[0].y - ends[1].y);
  assert.ok(across > 0.3 * Math.min(stage.width, stage.height), `${across} pixels of ${stage.width} x ${stage.height}`);
}));

test('1.2 MB are enough for the first drag', on('', {}, async (page) => {
  const sizes = await page.evaluate(() => performance.getEntriesByType('resource').map(({ name, transferSize }) => [name, transferSize]));
  const all = sizes.reduce((sum, [, size]) => sum + size, 0);
  console.log(`the first drag: ${Math.round(all / 1000)} kB`);
  assert.ok(all > 300_000 && all < 1_200_000, JSON.stringify(sizes));
}));

test('poise view finds the meshes of a robot on disk, and what an MJCF includes', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'poise-robot-'));
  const files = { 'boxer/urdf/boxer.urdf': withMeshes, 'one/scene.xml': '<mujoco><include file="one.xml"/></mujoco>', 'one/one.xml': mjcf, 'one/parts/a.stl': stl, 'leg/Geometry/femur.vtp': vtp, 'leg/leg.osim': osim };
  Object.entries(meshes).forEach(([name, text]) => (files[`boxer/meshes/${name}`] = text));
  Object.entries({ 'two.xml': inPictures, ...parts }).forEach(([name, content]) => (files[`two/${name}`] = content));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  try {
    for (const [name, count] of [['boxer/urdf/boxer.urdf', 7], ['one/scene.xml', 3], ['leg/leg.osim', 3], ['two/two.xml', 3]]) {
      const { address, end } = await serve(join(folder, name));
      try {
        const { page, finish } = await open(address);
        await until(page, (wanted) => globalThis.studio.look().meshes === wanted, count);
        if (name === 'two/two.xml') {
          await isSeen(page);
        }
        await finish(); // no word in the console of gone.mtl
      } finally {
        end();
      }
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

/** Let meshes arrive one after the other, and count the pictures that are drawn from the first of them to the last. Each comes when the one before has been drawn, or in plain light, where none is before the last, some frames later. */
function meshesArriveSlowly() {
  const { fetch } = globalThis;
  const isPlain = /light=plain/.test(globalThis.location.search);
  const drawn = () => globalThis.studio.graphics().drawn;
  let [last, first, before] = [Promise.resolve(), -1, -1];
  const next = async () => {
    for (let frames = 0; first >= 0 && (isPlain ? frames < 10 : drawn() === before); frames++) {
      await new Promise((done) => requestAnimationFrame(done));
    }
    before = drawn();
    first = first < 0 ? before : first;
  };
  globalThis.picturesDrawn = () => drawn() - first;
  globalThis.fetch = async (...what) => {
    const answer = await fetch(...what);
    if (/\.stl/.test(String(what[0]?.url ?? what[0]))) {
      last = last.then(next);
      await last;
    }
    return answer;
  };
}

test('where the processor draws, a robot is drawn when all of its meshes are there', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'poise-robot-'));
  const names = Array.from({ length: 12 }, (_, i) => `part${i}.stl`);
  names.forEach((name) => writeFileSync(join(folder, name), stl));
  writeFileSync(join(folder, 'many.urdf'), robot(names.map((name, i) => visual(`<mesh filename="${name}"/>`, `${i} 0 0`)).join('')));
  const { address, end } = await serve(join(folder, 'many.urdf'));
  try {
    for (const [light, least, most] of [['plain', 1, 4], ['full', 8, Infinity]]) {
      const { page, finish } = await open(`${address}&light=${light}`, {}, meshesArriveSlowly);
      await until(page, () => globalThis.studio.look().meshes === 15 && globalThis.studio.rests());
      const drawn = await page.evaluate(() => globalThis.picturesDrawn());
      assert.ok(drawn >= least && drawn <= most, `${light}: ${drawn} pictures`);
      await finish();
    }
  } finally {
    end();
    rmSync(folder, { recursive: true, force: true });
  }
});
