// Robots as they come from others: collision meshes, xacro, long paths, tools by their names; and all answers beside the arm itself.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { atRest, drop, dropPaths, LONG, notice, on, open, probe, said, serve, shots, until } from './browser.mjs';

/** A cube around the origin as an OBJ. */
const cube = (half) => {
  const corners = [-1, 1].flatMap((x) => [-1, 1].flatMap((y) => [-1, 1].map((z) => `v ${half * x} ${half * y} ${half * z}`)));
  const faces = ['1 2 4 3', '5 7 8 6', '1 5 6 2', '3 4 8 7', '1 3 7 5', '2 6 8 4'];
  return `${corners.join('\n')}\n${faces.map((face) => `f ${face}`).join('\n')}\n`;
};
const block = (file, xyz) => `<collision><origin xyz="${xyz}"/><geometry><mesh filename="package://row_description/meshes/${file}"/></geometry></collision>`;
const hinge = (name, parent, child, xyz) => `<joint name="${name}" type="revolute"><parent link="${parent}"/><child link="${child}"/><origin xyz="${xyz}"/><axis xyz="0 1 0"/><limit lower="-3" upper="3" effort="1" velocity="1"/></joint>`;
const fixed = (name, parent, child, xyz) => `<joint name="${name}" type="fixed"><parent link="${parent}"/><child link="${child}"/><origin xyz="${xyz}"/></joint>`;

// three links in a row, whose last one can be folded back onto the first, with a tool between two fingers, the longer branches
const row = `<robot name="row"><link name="base">${block('cube.obj', '0 0 0')}</link><link name="upper"/><link name="fore"/><link name="hand">${block('cube.obj', '0 0 0.3')}</link>
<link name="tool_frame"/><link name="finger"/><link name="finger_tip"/>
${hinge('shoulder', 'base', 'upper', '0 0 0')}${hinge('elbow', 'upper', 'fore', '0 0 1')}${hinge('wrist', 'fore', 'hand', '0 0 0.5')}
${fixed('tool', 'hand', 'tool_frame', '0 0 0.5')}${hinge('grip', 'hand', 'finger', '0.1 0 0.4')}${hinge('tip', 'finger', 'finger_tip', '0 0 0.1')}</robot>`;

const folders = [];
function folderOf(files) {
  const folder = mkdtempSync(join(tmpdir(), 'poise-robots-'));
  folders.push(folder);
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return folder;
}
test.after(() => folders.forEach((folder) => rmSync(folder, { recursive: true, force: true })));

const unfoldView = (page) => page.evaluate(() => document.querySelectorAll('aside details').forEach((details) => (details.open = details.querySelector('summary').textContent === 'View')));

/** Fold the arm until its ends lie on each other, ask for shapes, and see them collide; kept apart, they do not. */
async function collides(page) {
  await unfoldView(page);
  await page.getByLabel('Collision shapes').check();
  await said(page, /2 capsules and boxes stand for its collision shapes\./);
  await until(page, () => globalThis.studio.shapes().shapes === 2);
  await probe(page, 'moveGoal', 0, [0.3, 0, 0]);
  await until(page, () => globalThis.studio.near().length === 1 && globalThis.studio.settled());
  const [{ names, distance }] = await probe(page, 'near');
  assert.equal(names, 'base and hand');
  assert.ok(distance < 0, `${distance}`);
  await page.getByLabel('Keep them apart').check();
  await until(page, () => globalThis.studio.settled() && globalThis.studio.near().every(({ distance }) => distance > -1e-6));
}

test('collision meshes are covered with shapes beside the page when they are asked for, and kept apart', { timeout: LONG }, async () => {
  const folder = folderOf({ 'row_description/urdf/row.urdf': row, 'row_description/meshes/cube.obj': cube(0.2) });
  const { page, finish } = await open('?scene=arm6');
  await dropPaths(page, join(folder, 'row_description'));
  await until(page, () => document.title.startsWith('row'));
  await collides(page);
  await page.screenshot({ path: `${shots}/mesh-shapes.png` });
  await finish();
  const { address, end } = await serve(join(folder, 'row_description/urdf/row.urdf')); // they are fetched then
  try {
    const served = await open(address);
    await until(served.page, () => document.title.startsWith('row'));
    await collides(served.page);
    await served.finish();
  } finally {
    end();
  }
});

test('collision meshes that did not come are told, and nothing counts as free of collisions', on('?scene=arm6', {}, async (page) => {
  await drop(page, { name: 'row.urdf', bytes: Buffer.from(row) });
  await unfoldView(page);
  await page.getByLabel('Collision shapes').click();
  await said(page, /2 collision meshes did not come with it, or cannot be read/);
  assert.equal((await notice(page)).bad, true);
  await until(page, () => !document.querySelector('[aria-label="Collisions"] input').checked);
  assert.equal((await probe(page, 'shapes')).shapes, 0);
}));

test('the first goal is for the tool that a robot names, not for its longest finger', on('?scene=arm6', {}, async (page) => {
  await drop(page, { name: 'row.urdf', bytes: Buffer.from(row) });
  assert.equal(await page.locator('.goals .name').textContent(), 'Reach tool_frame');
}));

test('a sensor in the torso gets the first goal no sooner than the end of a limb', on('?scene=arm6', {}, async (page) => {
  const body = (name, pos, more) => `<body name="${name}" pos="${pos}"><geom size="0.05"/>${more}</body>`;
  const forearm = body('forearm', '0 0.2 0.3', '<joint name="elbow" axis="0 1 0"/>');
  const torso = body('torso', '0 0 0.2', `<joint name="waist" axis="0 0 1"/><site name="imu"/>${forearm}`);
  await drop(page, { name: 'half.xml', bytes: Buffer.from(`<mujoco model="half"><worldbody>${body('pelvis', '0 0 1', `<freejoint/>${torso}`)}</worldbody></mujoco>`) });
  assert.equal(await page.locator('.goals .name').textContent(), 'Reach forearm');
}));

test('a folder of xacro alone says what to do; a long path stays inside the panel', on('?scene=arm6', {}, async (page) => {
  await dropPaths(page, join(folderOf({ 'lite/urdf/lite.urdf.xacro': '<robot xmlns:xacro="x"><xacro:macro name="m"/></robot>', 'lite/meshes/a.stl': 'solid a\nendsolid a\n' }), 'lite'));
  await said(page, /hold xacro, such as lite\.urdf\.xacro.*Run "xacro lite\.urdf\.xacro > robot\.urdf"/);
  const long = 'a_gripper_with_a_name_that_is_far_too_long_for_any_panel/urdf/A_GRIPPER_URDF_SIMPLIFIED_VERSION_2';
  await dropPaths(page, join(folderOf({ 'pack/row.urdf': row, [`pack/${long}.urdf`]: row }), 'pack'));
  const choice = page.getByLabel('Robot', { exact: true });
  await choice.waitFor();
  const [inner, outer] = [await choice.boundingBox(), await page.locator('aside').boundingBox()];
  assert.ok(inner.x + inner.width <= outer.x + outer.width, `${JSON.stringify(inner)} in ${JSON.stringify(outer)}`);
}));

test('a robot is shared without meshes that are too much for a link, and saved as GLB without them, which is told', on('?scene=arm6', {}, async (page) => {
  const heavy = `${cube(0.2)}\n# ${randomBytes(200_000).toString('base64')}\n`;
  const shown = row.replaceAll('collision>', 'visual>');
  await dropPaths(page, join(folderOf({ 'pack/row.urdf': shown, 'pack/cube.obj': heavy }), 'pack'));
  await until(page, () => document.title.startsWith('row') && globalThis.studio.look().meshes > 0);
  await page.getByRole('button', { name: /^Share/ }).click();
  await said(page, /A link to this scene is in .*It leaves out the meshes, which are too much for a link\./);
  assert.ok(page.url().length < 100_000 && page.url().includes('#'));
  await page.evaluate(() => document.querySelectorAll('details').forEach((details) => (details.open = true)));
  const glb = page.locator('details', { hasText: 'Save as' }).getByRole('button').filter({ hasText: /^GLB$/ });
  await Promise.all([page.waitForEvent('download'), glb.click()]);
  await said(page, /Saved row\.glb\.\nGLB gets the bones only: the shapes and meshes of the robot are not written\./);
}));

/** Red, green and blue at a place of the page, averaged over a few pixels. */
async function colourAt(page, { x, y }) {
  const png = await page.screenshot({ clip: { x: x - 2, y: y - 2, width: 5, height: 5 } });
  return page.evaluate(async (address) => {
    const picture = new Image();
    picture.src = address;
    await picture.decode();
    const g = Object.assign(document.createElement('canvas'), { width: 1, height: 1 }).getContext('2d');
    g.drawImage(picture, 0, 0, 1, 1);
    return [...g.getImageData(0, 0, 1, 1).data.slice(0, 3)];
  }, `data:image/png;base64,${png.toString('base64')}`);
}

test('all answers stand beside the arm, which keeps its colours; where they are many, they stay see-through', on('?scene=arm7', {}, async (page) => {
  await atRest(page);
  const foot = await probe(page, 'project', [0, 0, 0.12]); // below the first joint: all answers have it in the same place
  const before = await colourAt(page, foot);
  await page.keyboard.press('a');
  await said(page, /16 answers reach this pose\. There are more: 16 are shown/);
  await atRest(page);
  const after = await colourAt(page, foot);
  before.forEach((value, i) => assert.ok(Math.abs(value - after[i]) <= 6, `${before} became ${after}`));
  await page.screenshot({ path: `${shots}/answers.png` });
}));

// a pelvis that slides along x and y over the ground, as OpenSim writes it, and a leg
const slide = (name, axis) => `<Coordinate name="${name}"><default_value>${axis}</default_value><range>-50 50</range></Coordinate>`;
const along = (name, index, xyz) => `<TransformAxis name="${name}"><coordinates>${index}</coordinates><axis>${xyz}</axis><LinearFunction><coefficients>1 0</coefficients></LinearFunction></TransformAxis>`;
const osim = `<?xml version="1.0"?><OpenSimDocument Version="40000"><Model name="walker"><Ground name="ground"/><BodySet><objects><Body name="pelvis"><mass>1</mass></Body><Body name="leg"><mass>1</mass></Body></objects></BodySet>
<JointSet><objects><CustomJoint name="base"><socket_parent_frame>/ground</socket_parent_frame><socket_child_frame>/bodyset/pelvis</socket_child_frame><coordinates>${slide('pelvis_tx', 2)}${slide('pelvis_ty', 1)}</coordinates>
<SpatialTransform>${along('translation1', 'pelvis_tx', '1 0 0')}${along('translation2', 'pelvis_ty', '0 1 0')}</SpatialTransform></CustomJoint>
<PinJoint name="hip"><socket_parent_frame>hip_in_pelvis</socket_parent_frame><socket_child_frame>/bodyset/leg</socket_child_frame><coordinates><Coordinate name="hip"><range>-2 2</range></Coordinate></coordinates>
<frames><PhysicalOffsetFrame name="hip_in_pelvis"><socket_parent>/bodyset/pelvis</socket_parent><translation>0 -0.8 0</translation><orientation>0 0 0</orientation></PhysicalOffsetFrame></frames></PinJoint></objects></JointSet></Model></OpenSimDocument>`;

test('slides that make a body float are no bones', on('?scene=arm6', {}, async (page) => {
  await drop(page, { name: 'walker.osim', bytes: Buffer.from(osim) });
  assert.equal((await notice(page)).bad, false, (await notice(page)).text);
  await atRest(page);
  const bodies = await probe(page, 'bodies');
  assert.deepEqual(bodies.pelvis.map((x) => +x.toFixed(6)), [2, 1, 0]);
  const pick = async (point) => {
    const { x, y } = await probe(page, 'project', point);
    await page.mouse.click(x, y);
    await atRest(page);
    return page.evaluate(() => document.querySelector('aside .hint')?.textContent ?? '');
  };
  assert.doesNotMatch(await pick([2, 0.5 * (0 + 0.1), 0]), /^Add for/); // between the ground and the pelvis, below the leg's joint
  assert.doesNotMatch(await pick([1, 0, 0]), /^Add for/); // along the ground
  assert.match(await pick([2, 0.6, 0]), /^Add for pelvis/);
}));

/** A BVH of joints, each a child of the one that it names: [name, parent]. */
function bvhOf(joints) {
  const write = (name) => `JOINT ${name}\n{\nOFFSET 0 0.2 0.1\nCHANNELS 3 Zrotation Xrotation Yrotation\n${joints.filter(([, parent]) => parent === name).map(([child]) => write(child)).join('') || 'End Site\n{\nOFFSET 0 0.1 0\n}\n'}}\n`;
  const tree = write('hip').replace('JOINT', 'ROOT').replace('CHANNELS 3', 'CHANNELS 6 Xposition Yposition Zposition');
  return `HIERARCHY\n${tree}MOTION\nFrames: 1\nFrame Time: 0.03\n${Array(3 + 3 * (joints.length + 1)).fill(0).join(' ')}\n`;
}

test('a goal that no body was picked for goes to a hand, then a foot; never to the root, or an eye', on('?scene=arm7', {}, async (page) => {
  const head = [['chest', 'hip'], ['neck', 'chest'], ['head', 'neck'], ['leftEye', 'head'], ['rightEye', 'head']];
  const arms = [['rShldr', 'chest'], ['rHand', 'rShldr'], ['rThumb1', 'rHand'], ['lShldr', 'chest'], ['lHand', 'lShldr'], ['lThumb1', 'lHand']];
  const legs = [['rThigh', 'hip'], ['rFoot', 'rThigh'], ['lThigh', 'hip'], ['lFoot', 'lThigh']];
  const added = async (joints) => {
    await drop(page, { name: 'figure.bvh', bytes: Buffer.from(bvhOf(joints)) });
    const bodies = await probe(page, 'bodies');
    const names = [];
    for (let i = 0; i < 2; i++) {
      await page.keyboard.press('Escape');
      await page.keyboard.press('1');
      names.push(Object.keys(bodies)[(await probe(page, 'state')).targets.at(-1).body]);
    }
    return names;
  };
  assert.deepEqual(await added([...head, ...arms, ...legs]), ['rHand', 'lHand']);
  assert.deepEqual(await added([...head, ...legs]), ['rFoot', 'lFoot']);
  // a free body with a mark on it, and legs
  const leg = (side, y) => `<body name="${side}-thigh" pos="0 ${y} 0"><joint name="${side}-hip" axis="0 1 0"/><geom size="0.05"/><body name="${side}-foot" pos="0 0 -0.5"><joint name="${side}-ankle" axis="0 1 0"/><geom size="0.05"/></body></body>`;
  const walker = `<mujoco model="walker"><worldbody><body name="pelvis" pos="0 0 1"><freejoint/><geom size="0.1"/><site name="imu" pos="0 0 0.1"/>${leg('left', 0.1)}${leg('right', -0.1)}</body></worldbody></mujoco>`;
  await drop(page, { name: 'walker.xml', bytes: Buffer.from(walker) });
  await atRest(page);
  assert.match(await page.locator('aside').textContent(), /Reach right-foot/);
}));
