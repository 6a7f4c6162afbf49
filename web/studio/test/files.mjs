// Dropped files of every kind, ours and, where they are there, those of others.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { after, before, test } from 'node:test';
import { strToU8, zipSync } from 'three/addons/libs/fflate.module.js';
import { drop, dropped, LONG, notice, on, open, poise, probe, said, serve, until } from './browser.mjs';

let folder = '';
const load = (path) => ({ name: basename(path), bytes: readFileSync(path) });

const convert = (...words) => execFileSync(poise, ['convert', ...words], { stdio: ['ignore', 'ignore', 'inherit'] });

/** Files that `poise convert` makes of a scene. */
function make(scene, ...names) {
  names.forEach((name) => convert(scene, join(folder, name)));
  return names.map((name) => load(join(folder, name)));
}

/** And the first frame of it alone. */
function first(scene, name) {
  convert(scene, join(folder, name), '--to', '0');
  return [load(join(folder, name))];
}

const urdf = `<robot name="two"><link name="a"/><link name="b"/><link name="c"/>
<joint name="j1" type="revolute"><parent link="a"/><child link="b"/><origin xyz="0 0 0.3"/><axis xyz="0 1 0"/><limit lower="-2" upper="2" effort="1" velocity="1"/></joint>
<joint name="j2" type="revolute"><parent link="b"/><child link="c"/><origin xyz="0 0 0.5"/><axis xyz="0 1 0"/><limit lower="-2" upper="2" effort="1" velocity="1"/></joint></robot>`;

before(() => (folder = mkdtempSync(join(tmpdir(), 'poise-studio-'))));
after(() => rmSync(folder, { recursive: true, force: true }));

async function isShown(page, title, frames) {
  const { text, bad } = await notice(page);
  assert.ok(!bad, text);
  assert.ok((await probe(page, 'title')).includes(title), `${await probe(page, 'title')} is not ${title}: ${text}`);
  const hidden = await page.locator('.timeline').isHidden();
  assert.equal(hidden, !frames, `${title}: timeline`);
  assert.equal(await probe(page, 'withinLimits'), true);
}

test('each kind of file of our own opens when dropped', on('?scene=arm6', {}, async (page) => {
  const kinds = [
    [[{ name: 'two.urdf', bytes: Buffer.from(urdf) }], 'two', false],
    [make('scene:humanoid/walk', 'walk.bvh'), 'walk', true],
    [make('scene:humanoid-euler/walk', 'walk.asf', 'walk.amc'), 'walk', true],
    [make('scene:humanoid/walk', 'walk.c3d'), 'walk', true],
    [make('scene:humanoid/walk', 'walk.trc'), 'walk', true],
    [first('scene:humanoid/walk', 'moment.c3d'), 'moment', false],
    [first('scene:humanoid/walk', 'moment.bvh'), 'moment', false],
    [make('scene:humanoid/walk', 'walk.glb'), '', true],
    [make('scene:humanoid/walk', 'walk.json'), '', true],
    [make('scene:arm7', 'arm.csv'), 'arm', false],
  ];
  for (const [files, title, frames] of kinds) {
    await drop(page, ...files);
    await isShown(page, title, frames);
  }
}));

test('poise view FILE shows the file, whatever its name', async () => {
  const [file] = make('scene:humanoid/walk', 'a walk, 100 %.bvh');
  const { address, end } = await serve(join(folder, file.name));
  try {
    const { page, finish } = await open(address);
    await isShown(page, file.name, true);
    await finish();
  } finally {
    end();
  }
});

test('markers find the built-in body by their names, and a motion the skeleton that stands there', on('?scene=arm6', {}, async (page) => {
  await drop(page, ...make('scene:humanoid/kick', 'kick.c3d'));
  assert.match((await notice(page)).text, /markers placed on the built-in body/);
  await page.getByLabel('Track the whole recording (T)').click();
  await said(page, /frames tracked in .* mean error/);
  assert.ok((await page.locator('.legend tbody tr').count()) > 20);
  await page.getByLabel('Time', { exact: true }).fill('0.62'); // between two frames
  await until(page, () => globalThis.studio.settled() && /follows markers to < 0\.1 mm/.test(document.querySelector('.status').textContent));
  await drop(page, ...make('scene:humanoid', 'dancer.json')); // which has places for them
  await drop(page, ...make('scene:humanoid/kick', 'kick.c3d'));
  assert.match((await notice(page)).text, /markers placed on the skeleton/);
  await page.getByLabel('Scene', { exact: true }).selectOption('humanoid');
  const [motion] = make('scene:humanoid/kick', 'kick.mot');
  await until(page, () => globalThis.studio.look().meshes > 30);
  await drop(page, motion);
  await isShown(page, 'kick.mot', true);
  await until(page, () => globalThis.studio.look().meshes > 30); // what moves keeps its body
}));

test('a motion with a skeleton of its own is put on what stood there before it, or came with it', on('?scene=humanoid', {}, async (page) => {
  const [motion, character] = [...make('scene:humanoid/walk', 'walk.bvh'), ...make('scene:humanoid', 'dancer.glb')];
  const hands = async () => {
    await page.locator('canvas.stage').focus();
    await page.keyboard.press(' ');
    await page.getByLabel('Time', { exact: true }).fill('0.5');
    await until(page, () => globalThis.studio.settled());
    const bodies = await probe(page, 'bodies');
    const unit = Math.hypot(...bodies.head.map((x, k) => x - bodies.neck[k])); // a BVH does not say its own
    return ['left', 'right'].map((side) => (bodies[`${side}_hand`] ?? bodies[`${side}_wrist`]).map((x, k) => (x - bodies.neck[k]) / unit));
  };
  const follows = async (actor) => {
    await said(page, /walk\.bvh on .*: 2\d parts of the body follow\./);
    const off = (await hands()).map((at, i) => Math.hypot(...at.map((x, k) => x - actor[i][k])));
    assert.ok(Math.max(...off) < 0.2, `hands are ${off} lengths of a neck from the actor's`);
    assert.ok(Math.hypot(...actor[0]) > 2);
  };
  await drop(page, motion);
  assert.match((await notice(page)).text, /The panel can put its motion on Dancer, still\./);
  const actor = await hands();
  await page.getByRole('button', { name: 'Put this motion on Dancer, still' }).click();
  await follows(actor);
  assert.equal(await probe(page, 'title'), 'walk on Dancer, still');
  await until(page, () => globalThis.studio.look().meshes > 30);

  await page.getByLabel('Scene', { exact: true }).selectOption('arm6'); // an arm does not walk
  await drop(page, motion);
  assert.equal(await page.getByRole('button', { name: /^Put this motion on/ }).count(), 0);

  const way = async () => { // of the neck along the ground, by its length
    const places = [];
    for (const time of ['0.1', '0.9']) {
      await page.getByLabel('Time', { exact: true }).fill(time);
      await until(page, () => globalThis.studio.settled());
      places.push(await probe(page, 'bodies'));
    }
    const [{ head, neck }, { neck: end }] = places;
    return Math.hypot(...end.map((x, k) => x - neck[k])) / Math.hypot(...head.map((x, k) => x - neck[k]));
  };
  const walked = await way();
  await dropped(page, [character, motion]);
  await follows(actor);
  assert.equal(await probe(page, 'title'), 'walk on dancer');
  const followed = await way(); // though nothing in its file moves its root
  assert.ok(walked > 0.3 && Math.abs(followed / walked - 1) < 0.1, `${followed} of ${walked}`);

  await page.getByLabel('Scene', { exact: true }).selectOption('arm6');
  const zip = zipSync({ 'pack/urdf/dancer.glb': new Uint8Array(character.bytes), 'pack/README.md': strToU8('# Dancer') });
  await dropped(page, [{ name: 'dancer.zip', bytes: Buffer.from(zip) }, motion, { ...motion, name: 'run.bvh' }]);
  await follows(actor);
  assert.equal(await probe(page, 'title'), 'walk on dancer');
  await said(page, /Not opened: run\.bvh\./);
}));

/** A robot with arms and legs, fixed by its pelvis; `more` parts hang from its head. */
function figure(name, more) {
  const limb = (side, x) => [
    ['torso', `${side}_upper_arm`, `0 ${2 * x} 0.4`], [`${side}_upper_arm`, `${side}_forearm`, '0 0 -0.3'], [`${side}_forearm`, `${side}_hand`, '0 0 -0.25'],
    ['pelvis', `${side}_thigh`, `0 ${x} 0`], [`${side}_thigh`, `${side}_shin`, '0 0 -0.4'], [`${side}_shin`, `${side}_foot`, '0 0 -0.4'],
  ];
  const hat = Array.from({ length: more }, (_, i) => [i === 0 ? 'head' : `hat${i - 1}`, `hat${i}`, '0 0 0.1']);
  const parts = [['pelvis', 'torso', '0 0 0.1'], ['torso', 'head', '0 0 0.5'], ...limb('left', 0.1), ...limb('right', -0.1), ...hat];
  const joints = parts.flatMap(([parent, child, at]) => [
    [parent, `${child}_across`, at, '0 1 0'],
    [`${child}_across`, child, '0 0 0', '1 0 0'],
  ]);
  return `<robot name="${name}"><link name="pelvis"/>${joints.map(([, child]) => `<link name="${child}"/>`).join('')}${joints.map(([parent, child, at, axis]) => `<joint name="to_${child}" type="revolute"><parent link="${parent}"/><child link="${child}"/><origin xyz="${at}"/><axis xyz="${axis}"/><limit lower="-2.5" upper="2.5" effort="1" velocity="50"/></joint>`).join('')}</robot>`;
}

test('motions are put on the robot that was chosen of a folder, and it can be changed afterwards', on('?scene=arm6', {}, async (page) => {
  const zip = zipSync({ 'pack/bare.urdf': strToU8(figure('bare', 0)), 'pack/dressed.urdf': strToU8(figure('dressed', 1)) });
  const robot = page.getByLabel('Robot', { exact: true });
  const numbers = async () => (await probe(page, 'state')).q.length;
  await drop(page, { name: 'pack.zip', bytes: Buffer.from(zip) });
  await robot.selectOption('pack/dressed.urdf');
  await until(page, () => globalThis.studio.title() === 'dressed');
  assert.equal(await numbers(), 30);
  for (const motion of ['walk', 'kick']) {
    await drop(page, ...make(`scene:humanoid/${motion}`, `${motion}.bvh`));
    await page.getByRole('button', { name: 'Put this motion on dressed.urdf' }).click();
    await until(page, (wanted) => globalThis.studio.title() === wanted, `${motion} on dressed`);
    assert.equal(await numbers(), 37, motion); // its root is free
    assert.equal(await robot.inputValue(), 'pack/dressed.urdf');
  }
  await robot.selectOption('pack/bare.urdf');
  await until(page, () => globalThis.studio.title() === 'bare');
  assert.equal(await numbers(), 28);
  assert.ok(!(await notice(page)).bad);
}));

const arm = (name, more = '') => ({ name: `${name}.urdf`, bytes: Buffer.from(urdf.replace('name="two"', `name="${name}"`).replace('</robot>', `${more}</robot>`)) });

test('of several skeletons or motions that come at once one is shown, and the panel offers the others', on('?scene=arm6', {}, async (page) => {
  const choice = (name) => page.getByLabel(name, { exact: true });
  await drop(page, arm('left'), arm('right'), arm('broken', '<joint>'));
  await isShown(page, 'left', false);
  await said(page, /^left\.urdf is on the stage; the panel offers right\.urdf and broken\.urdf, too\./);
  await choice('Robot').selectOption('right.urdf');
  await until(page, () => globalThis.studio.title() === 'right');
  await choice('Robot').selectOption('broken.urdf');
  await said(page, /broken\.urdf, line 3/);
  assert.equal(await probe(page, 'title'), 'right');

  await drop(page, arm('broken', '<joint>'), arm('whole'));
  await isShown(page, 'whole', false);
  await said(page, /broken\.urdf, line 3/);

  const [walk, kick] = [...make('scene:humanoid/walk', 'walk.bvh'), ...make('scene:humanoid/kick', 'kick.bvh')];
  await drop(page, walk, kick);
  await isShown(page, 'walk', true);
  await said(page, /walk\.bvh is on the stage; the panel offers kick\.bvh, too\./);
  await choice('Motion').selectOption('kick.bvh');
  await until(page, () => globalThis.studio.title().includes('kick'));

  await drop(page, ...make('scene:humanoid-euler/walk', 'walk.asf', 'walk.amc'), ...make('scene:humanoid-euler/kick', 'kick.amc'));
  await said(page, /walk\.amc is on the stage; the panel offers kick\.amc, too\./);
  await choice('Motion').selectOption('kick.amc');
  await until(page, () => globalThis.studio.title() === 'kick.amc');
}));

test('parts of an MJCF that hold no body are no robots', on('?scene=arm6', {}, async (page) => {
  const hand = '<mujoco model="hand"><worldbody><body name="palm"><geom size="0.1"/><body name="finger" pos="0 0 0.1"><joint name="bend"/><geom size="0.1"/></body></body></worldbody></mujoco>';
  const list = { 'keyframes.xml': '<mujoco><keyframe><key name="fist" qpos="1"/></keyframe></mujoco>', 'hand.xml': hand, 'scene.xml': '<mujoco model="scene"><include file="hand.xml"/></mujoco>' };
  await drop(page, ...Object.entries(list).map(([name, text]) => ({ name, bytes: Buffer.from(text) })));
  await isShown(page, 'scene', false);
  assert.doesNotMatch((await notice(page)).text, /keyframes/);
}));

test('words name what the studio has, not the options of the command', on('?scene=arm6', {}, async (page) => {
  const { text: unknown } = await dropAndHear(page, 'notes.txt', 'a shopping list');
  assert.match(unknown, /notes\.txt: .*the studio reads URDF/);
  const { text: table } = await dropAndHear(page, 'random.csv', 'x,y\n1,2\n');
  assert.match(table, /random\.csv, line 1: .*joint values, with time as its first column/);
  const { text: commas } = await dropAndHear(page, 'walk.bvh', 'HIERARCHY\nROOT hips\n{\n  OFFSET 0,00 17,5 0,00\n}\n');
  assert.match(commas, /walk\.bvh, line 4: .*"0,00" has a comma/);
  const chain = (name) => `<robot name="${name}">${Array.from({ length: 12 }, (_, i) => `<link name="${name}${i}"/>`).join('')}${Array.from({ length: 11 }, (_, i) => `<joint name="j${name}${i}" type="revolute"><parent link="${name}${i}"/><child link="${name}${i + 1}"/><origin xyz="0 0 1"/><axis xyz="0 1 0"/><limit lower="-1" upper="1" effort="1" velocity="1"/></joint>`).join('')}</robot>`;
  await dropped(page, [{ name: 'snake.urdf', bytes: Buffer.from(chain('snake')) }, ...make('scene:humanoid/walk', 'walk.bvh')]);
  await said(page, /parts in common/);
  const { text, bad } = await notice(page);
  assert.ok(bad && /Names of bodies tell which part they are/.test(text) && !text.includes('--'), text);
}));

test('one broken file among several is named, and the others open', on('?scene=arm6', {}, async (page) => {
  const [walk, kick, dancer] = [...make('scene:humanoid/walk', 'walk.bvh'), ...make('scene:humanoid/kick', 'kick.c3d'), ...make('scene:humanoid', 'dancer.glb')];
  const cut = { name: 'cut.glb', bytes: dancer.bytes.subarray(0, 500) };
  await drop(page, cut, walk);
  await isShown(page, 'walk', true);
  await said(page, /^cut\.glb: /);
  await drop(page, cut, kick, { name: 'notes.txt', bytes: Buffer.from('a shopping list') });
  await isShown(page, 'kick', true);
  await said(page, /^cut\.glb: .*\nNot opened: notes\.txt\./);
  await drop(page, dancer, { name: 'broken.c3d', bytes: Buffer.from('\u0002P and then nothing') });
  await isShown(page, 'humanoid', false);
  await said(page, /^broken\.c3d/);
}));

test('a file with the wrong ending is read as what it is, and that is said', on('?scene=arm6', {}, async (page) => {
  const [{ bytes }] = make('scene:humanoid/walk', 'walk.bvh');
  await drop(page, { name: 'renamed.glb', bytes });
  await isShown(page, 'renamed.glb', true);
  await said(page, /renamed\.glb is no GLB: it holds BVH, and is read as that\./);
}));

test('bones join joints that move along, and the motion of such a file tells which way is up', on('?scene=arm6', {}, async (page) => {
  const names = ['Hips', 'Spine', 'Head', 'LeftUpLeg', 'LeftLeg', 'LeftFoot', 'RightUpLeg', 'RightLeg', 'RightFoot'];
  const at = [[0, 90, 0], [0, 30, 0], [0, 30, 0], [10, -5, 0], [0, -40, 0], [0, -40, 0], [-10, -5, 0], [0, -40, 0], [0, -40, 0]];
  const children = { Hips: ['Spine', 'LeftUpLeg', 'RightUpLeg'], Spine: ['Head'], LeftUpLeg: ['LeftLeg'], LeftLeg: ['LeftFoot'], RightUpLeg: ['RightLeg'], RightLeg: ['RightFoot'] };
  const order = [];
  const joint = (name, head = 'JOINT') => { // along x, as no one stands
    order.push(name);
    const inner = (children[name] ?? []).map((child) => joint(child)).join('') || 'End Site\n{\nOFFSET 5 0 0\n}\n';
    return `${head} ${name}\n{\nOFFSET 20 0 0\nCHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation\n${inner}}\n`;
  };
  const tree = joint('Hips', 'ROOT');
  const row = order.map((name) => [...at[names.indexOf(name)], 0, 0, 0].join(' ')).join(' ');
  await drop(page, { name: 'six.bvh', bytes: Buffer.from(`HIERARCHY\n${tree}MOTION\nFrames: 3\nFrame Time: 0.1\n${row}\n${row}\n${row}\n`) });
  await isShown(page, 'six', true);
  assert.equal(await page.getByLabel('Upwards', { exact: true }).inputValue(), 'y');
  assert.ok((await probe(page, 'bones')) >= names.length - 1);
}));

async function dropAndHear(page, name, text) {
  await drop(page, { name, bytes: Buffer.from(text) });
  return notice(page);
}

test('a broken file says where and why and leaves the stage as it was', on('?scene=lamp', {}, async (page) => {
  const state = await probe(page, 'state');
  const { used } = await probe(page, 'heap');
  const broken = [
    ['broken.urdf', urdf.replace('</robot>', '<joint></robot>'), /broken\.urdf, line 3/],
    ['broken.bvh', 'HIERARCHY\nROOT hips\n{\n  OFFSET 0 zero 0\n}\n', /broken\.bvh, line 4/],
    ['broken.json', '{"poise": 1,', /broken\.json/],
    ['broken.c3d', '\u0002P and then nothing', /broken\.c3d/],
    ['notes.txt', 'a shopping list', /notes\.txt/],
    ['lonely.amc', ':FULLY-SPECIFIED\n1\nroot 0 0 0 0 0 0\n', /lonely\.amc/],
    ['empty.trc', '', /empty\.trc/],
    ['broken.zip', 'PK and then nothing', /broken\.zip cannot be unpacked/],
  ];
  for (const [name, text, said] of broken) {
    await drop(page, { name, bytes: Buffer.from(text) });
    const { text: words, bad } = await notice(page);
    assert.ok(bad && said.test(words), `${name}: "${words}"`);
    assert.equal(await probe(page, 'title'), 'Lamp');
    assert.deepEqual(await probe(page, 'state'), state);
  }
  assert.equal((await probe(page, 'heap')).used, used);
}));

test('what is saved opens again as it was', on('?scene=arm7', {}, async (page) => {
  await page.keyboard.press('ArrowUp');
  const saved = await probe(page, 'state');
  const [file] = await Promise.all([page.waitForEvent('download'), page.keyboard.press('s')]);
  assert.equal(file.suggestedFilename(), 'Arm-with-seven-joints.json');
  await page.getByLabel('Scene', { exact: true }).selectOption('twolink');
  await drop(page, { name: file.suggestedFilename(), bytes: readFileSync(await file.path()) });
  const again = await probe(page, 'state');
  assert.deepEqual(again.targets.map((t) => t.position), saved.targets.map((t) => t.position));
  assert.deepEqual(again.q, saved.q);
}));

test('undo brings back a stage with work on it that something else has replaced', on('?scene=arm7', {}, async (page) => {
  const { used } = await probe(page, 'heap');
  const [undo, redo] = ['Undo (Ctrl+Z)', 'Redo (Ctrl+Shift+Z)'].map((label) => page.getByLabel(label));
  await page.keyboard.press('ArrowUp');
  const left = await probe(page, 'state');
  await page.getByLabel('Scene', { exact: true }).selectOption('lamp');
  await undo.click();
  assert.equal(await probe(page, 'title'), 'Arm with seven joints');
  assert.deepEqual(await probe(page, 'state'), left);
  assert.match(page.url(), /\?scene=arm7$/);
  await redo.click();
  assert.equal(await probe(page, 'title'), 'Lamp');
  await undo.click();
  await drop(page, ...make('scene:humanoid/walk', 'walk.bvh'));
  await undo.click();
  assert.deepEqual(await probe(page, 'state'), left);
  await undo.click(); // and on, through what was done there
  assert.notDeepEqual((await probe(page, 'state')).targets, left.targets);
  await page.getByLabel('Scene', { exact: true }).selectOption('lamp');
  await page.getByLabel('Scene', { exact: true }).selectOption('arm6');
  await page.getByLabel('Scene', { exact: true }).selectOption('arm7');
  assert.ok((await probe(page, 'heap')).used < 2 * used, 'one stage is kept, not all');
}));

test('a clip is scrubbed, stepped and played', on('?scene=arm6', {}, async (page) => {
  await drop(page, ...make('scene:humanoid/walk', 'walk.bvh'));
  const play = page.getByLabel('Play or pause (space)');
  await play.click();
  assert.equal(await play.getAttribute('aria-pressed'), 'false');
  const time = page.getByLabel('Time');
  await time.fill('0'); // frames count from 0, as in files and in poise fk --frame
  assert.equal(await page.locator('.timeline output').textContent(), '0.00 s · frame 0');
  await time.fill('0.25');
  const first = await probe(page, 'state');
  await time.fill('0.75');
  await until(page, (q) => globalThis.studio.state().q.some((x, i) => Math.abs(x - q[i]) > 0.01), first.q);
  await page.getByLabel('One frame on (.)').click();
  await page.getByLabel('One frame back (,)').click();
  await play.click();
  await until(page, () => globalThis.studio.state().time > 0.8 || globalThis.studio.state().time < 0.5);
}));

/** Files of the data folder (docs/data.md); null where one is missing, which skips the test. One that is different throws. */
function loadData(t, ...names) {
  const { status, stdout } = spawnSync(new URL('../../../tools/data.sh', import.meta.url).pathname, ['has', ...names], { encoding: 'utf8' });
  assert.ok(status === 0 || status === 77, stdout);
  if (status === 77) t.skip(stdout.trim());
  return status === 77 ? null : names.map((name) => load(join(process.env.POISE_DATA, name)));
}

test('files of others open', { timeout: LONG }, async (t) => {
  const files = loadData(t, 'urdf/panda.urdf', 'urdf/nao.urdf', 'mjcf/humanoid.xml', 'trc/os_std_walking5_markers.trc');
  if (!files) return;
  const { page, finish } = await open('?scene=arm6');
  for (const file of files) {
    await drop(page, file);
    const { text, bad } = await notice(page);
    assert.ok(!bad, `${file.name}: ${text}`);
  }
  await finish();
});

// The unit of its C3D (mm) and of its ASF (2.22 inches) are known, the upward axis of neither is.
test('a skeleton and a recording in other units stand in one place', { timeout: LONG }, async (t) => {
  const files = loadData(t, 'hdm05/HDM_dg.asf', 'hdm05/HDM_dg_01-03_01_120.c3d');
  if (!files) return;
  const { page, finish } = await open('?scene=arm6');
  for (const dropped of [files, files.slice(1)]) {
    await drop(page, ...dropped);
    const { text, bad } = await notice(page);
    assert.ok(!bad, text);
    const [metres, points, error] = [await probe(page, 'metres'), await probe(page, 'standing'), await probe(page, 'markerError')];
    assert.ok(Math.max(...points.map(Math.abs)) * metres < 10, `${Math.max(...points.map(Math.abs)) * metres} m away`);
    assert.ok(error * metres < 0.05, `markers are ${error * metres} m off`);
  }
  await finish();
});
