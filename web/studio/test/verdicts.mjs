// What the command says of files, the studio says of them: the same numbers, the same verdict, every row of it.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { test } from 'node:test';
import { dropped, LONG, notice, on, open, poise, probe, said, shots, until } from './browser.mjs';
import { walker } from './walker.mjs';

const folder = mkdtempSync(join(tmpdir(), 'poise-verdicts-'));
test.after(() => rmSync(folder, { recursive: true, force: true }));

const fileOf = (path) => ({ name: basename(path), bytes: readFileSync(path) });

function made(name, text) {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
}

function converted(scene, name) {
  execFileSync(poise, ['convert', scene, join(folder, name)], { stdio: 'ignore' });
  return join(folder, name);
}

/** A file of the data folder (docs/data.md); null where it is missing, which skips the test. */
function dataFile(t, name) {
  const { status, stdout } = spawnSync(new URL('../../../tools/data.sh', import.meta.url).pathname, ['has', name], { encoding: 'utf8' });
  if (status === 77) {
    t.skip(stdout.trim());
    return null;
  }
  assert.equal(status, 0, stdout);
  return join(process.env.POISE_DATA, name);
}

/** The words of the page for those of the library: without options of the command. */
const plain = (text) => text.replace(/ \((--[a-z-]+|poise \w+ --[a-z-]+)\)/g, '');

/** Rows of the panel. */
const rows = (page) => page.evaluate(() => Array.from(document.querySelectorAll('.findings li'), (li) => ({ kind: li.dataset.kind, level: li.className, text: li.children[1].textContent })));

const tone = (page) => page.locator('.status').getAttribute('data-tone');
const tones = { good: 'good', doubtful: 'fair', failed: 'poor' };

/** The page's verdict is the command's, row by row, and shows as such. */
async function agrees(page, { verdict: { level, reasons, unobserved, left_out: left } }) {
  const told = await rows(page);
  const isListed = ({ kind }) => kind === 'joint' || kind === 'left_out'; // which the command lists by their names
  assert.deepEqual(told.filter((row) => !isListed(row)).map(({ kind: _, ...row }) => row), reasons.map((row) => ({ level: row.level, text: plain(row.text) })));
  assert.equal(told.filter(isListed).length, unobserved.length + left.length);
  await until(page, (wanted) => document.querySelector('.status').dataset.tone === wanted, tones[level]);
  assert.equal(await page.locator('p.verdict').getAttribute('class'), `verdict ${tones[level]}`);
}

/** Joint values over time that the page saves. */
async function savedTable(page) {
  await page.evaluate(() => document.querySelectorAll('aside details').forEach((details) => (details.open = true)));
  const button = page.locator('details', { hasText: 'Save as' }).last().getByRole('button').filter({ hasText: /^CSV$/ });
  const [file] = await Promise.all([page.waitForEvent('download'), button.click()]);
  return readFileSync(await file.path(), 'utf8');
}

const numbersOf = (table) => table.trim().split('\n').slice(1).map((row) => row.split(',').slice(1).map(Number));

async function retargetsAlike(page, motion, robot) {
  const out = join(folder, 'command.csv');
  const { stdout } = spawnSync(poise, ['retarget', motion, robot, '-o', out, '--json', '--accept', 'failed'], { encoding: 'utf8', maxBuffer: 1 << 26 });
  const told = JSON.parse(stdout);
  await dropped(page, [fileOf(robot), fileOf(motion)]);
  await said(page, / on .*: \d+ parts of the body follow\./);
  const [own, command] = [await savedTable(page), readFileSync(out, 'utf8')].map(numbersOf);
  assert.equal(own.length, command.length);
  const differs = command.findIndex((row, f) => row.length !== own[f].length || row.some((x, i) => x !== own[f][i]));
  assert.equal(differs, -1, `frame ${differs} is another: ${own[differs]} instead of ${command[differs]}`);
  await agrees(page, told);
  const figures = await page.locator('details', { hasText: 'Verdict' }).first().textContent();
  const worst = Number(/([\d.]+)° at worst/.exec(figures)[1]) * (Math.PI / 180);
  assert.ok(Math.abs(worst - told.bone_worst) < 0.01 * told.bone_worst + 1e-3, `${figures} instead of ${told.bone_worst} radians`);
  assert.equal(/released in (\d+) frame/.exec(figures)?.[1] ?? '0', String(told.released));
  return told;
}

test('a motion is put on a robot as the command puts it there: the same bits, the same verdict', { timeout: LONG }, on('?scene=arm6', {}, async (page) => {
  const told = await retargetsAlike(page, converted('scene:humanoid/kick', 'kick.bvh'), made('walker.urdf', walker()));
  assert.equal(told.soles_guessed, false); // its shapes matter
  await page.evaluate(() => document.querySelector('aside').scrollTo(0, 0));
  await page.screenshot({ path: `${shots}/verdict.png` });

  // a link to it says the same of it, also where goals are met
  assert.equal(told.verdict.level, 'doubtful');
  await page.getByLabel('Time', { exact: true }).fill('0.5');
  await page.locator('canvas.stage').focus();
  await page.keyboard.press('1');
  await until(page, () => /^reached/.test(document.querySelector('.status').textContent));
  assert.equal(await tone(page), 'fair');
  await page.getByLabel('Copy a link to this (L)').click();
  await until(page, () => location.hash.length > 10);
  const { page: other, finish } = await open(page.url().slice(page.url().indexOf('#')));
  await agrees(other, told);
  assert.match(await other.locator('.status').textContent(), /^reached/);
  await finish();
}));

test('a real recording is put on a real robot as the command puts it there', { timeout: LONG }, async (t) => {
  const [motion, robot] = ['bvh/cmu_05_02.bvh', 'urdf/g1_29dof_rev_1_0.urdf'].map((name) => dataFile(t, name));
  if (motion && robot) {
    await on('?scene=arm6', {}, async (page) => {
      const { verdict } = await retargetsAlike(page, motion, robot);
      assert.notEqual(verdict.level, 'good');
      assert.match((await rows(page)).map(({ text }) => text).join('\n'), /the first frame is a pose of its own/);
      await page.evaluate(() => document.querySelector('aside').scrollTo(0, 0));
      await page.screenshot({ path: `${shots}/verdict-g1.png` });
    })();
  }
});

/** A TRC of the walk in which a marker leaps 30 cm aside for four frames, and but two markers are seen in eight others. */
function troubled() {
  const text = readFileSync(converted('scene:humanoid/walk', 'walk.trc'), 'utf8');
  const [head, body] = text.split(/\n(?=1\t)/);
  const lines = body.trimEnd().split('\n').map((line, f) => {
    const cells = line.split('\t');
    if (f >= 60 && f < 64) {
      cells[2 + 3 * 20] = String(Number(cells[2 + 3 * 20]) + 300);
    }
    return f >= 90 && f < 98 ? cells.map((cell, k) => (k < 2 + 3 * 2 ? cell : '')).join('\t') : cells.join('\t');
  });
  return made('troubled.trc', `${head}\n${lines.join('\n')}\n`);
}

test('an OpenSim model follows its recording by its own rules, as in the command', { timeout: LONG }, async (t) => {
  const [model, recording] = ['opensim/gait10dof18musc_subject01.osim', 'opensim/gait10_subject01_walk.trc'].map((name) => dataFile(t, name));
  if (model && recording) {
    await on('?scene=arm6', {}, async (page) => {
      const { stdout } = spawnSync(poise, ['track', model, recording, '--json', '--accept', 'failed'], { encoding: 'utf8', maxBuffer: 1 << 26 });
      await dropped(page, [fileOf(model), fileOf(recording)], true);
      await agrees(page, JSON.parse(stdout));
    })();
  }
});

test('the table and the graph of markers count what the verdict counts', { timeout: LONG }, on('?scene=arm6', {}, async (page) => {
  const recording = troubled();
  const { stdout } = spawnSync(poise, ['track', 'scene:humanoid', recording, '--json', '--accept', 'failed'], { encoding: 'utf8', maxBuffer: 1 << 26 });
  const told = JSON.parse(stdout);
  assert.equal(told.error.unit, 'm');
  await dropped(page, [fileOf(recording)], true);
  await agrees(page, told);
  await page.getByRole('tab', { name: 'Marker errors' }).click();
  const table = await page.evaluate(() => Array.from(document.querySelectorAll('.legend tbody tr'), (tr) => Array.from(tr.children, (td) => td.textContent)));
  assert.equal(table.length, told.markers.length);
  for (const [name, mean, worst, left] of table) {
    const marker = told.markers.find((m) => m.name === name);
    const near = (text, value) => assert.ok(text.startsWith('<') ? value < 0.01 : Math.abs(Number(text) - value) <= 0.06 * value, `${name}: ${text} instead of ${value} mm`);
    near(mean, 1000 * marker.mean);
    near(worst, 1000 * marker.max);
    assert.ok(Number(left) >= marker.let_go, `${name}: ${left} of ${marker.let_go} let go`);
  }
  assert.ok(table.some(([, , , left]) => Number(left) >= 4), 'some are not counted');
  assert.ok(table.every(([, , worst]) => worst.startsWith('<') || Number(worst) < 50), 'the leap of 300 mm is in no error');
  assert.match(await page.locator('.legend').textContent(), /contradicts the others/);
  await page.screenshot({ path: `${shots}/markers-counted.png` });
}));

/** The walk with names of the clinics: where its markers sit is found, and one of them is where it is not usual. */
function clinical() {
  const sides = { shoulder: 'SHO', upper_arm: 'UPA', elbow: 'ELB', wrist_thumb: 'WRA', wrist_little: 'WRB', hand: 'FIN', thigh: 'THI', knee: 'KNE', ankle: 'ANK', heel: 'HEE', toe_tip: 'TOE' };
  const ends = { back_pelvis: 'PSI', front_pelvis: 'ASI', front_head: 'FHD', back_head: 'BHD' };
  const single = { back_neck: 'C7', back_chest: 'T10', breastbone: 'STRN', collarbones: 'CLAV' };
  const nameOf = (label) => {
    const [, side, part] = /^(left|right)_(.*)$/.exec(label) ?? [];
    const [, end, letter] = /^(.*)_([lr])$/.exec(label) ?? [];
    return single[label] ?? (sides[part] ? `${side[0].toUpperCase()}${sides[part]}` : ends[end] ? `${letter.toUpperCase()}${ends[end]}` : label);
  };
  const lines = readFileSync(converted('scene:humanoid/walk', 'own.trc'), 'utf8').split('\n');
  return made('clinical.trc', lines.map((line, i) => (i === 3 ? line.split('\t').map(nameOf).join('\t') : line)).join('\n'));
}

test('a recording that is tracked once more is judged as it was', { timeout: LONG }, on('?scene=arm6', {}, async (page) => {
  const recording = clinical();
  const { stdout } = spawnSync(poise, ['track', 'scene:humanoid', recording, '--json', '--accept', 'failed'], { encoding: 'utf8', maxBuffer: 1 << 26 });
  const told = JSON.parse(stdout);
  assert.match(told.verdict.reasons[0].text, /from its usual place on the body/); // which only the fit tells
  await dropped(page, [fileOf(recording)], true);
  await agrees(page, told);
  await page.evaluate(() => document.querySelectorAll('aside details').forEach((details) => (details.open = true)));
  await page.getByText('Track once more').click();
  await said(page, /132 frames tracked in /);
  await agrees(page, told);
}));

test('a good fit with goals baked in is no good motion where these twist a limb, and good again without them', { timeout: LONG }, on('?scene=arm6', {}, async (page) => {
  await dropped(page, [fileOf(converted('scene:humanoid/walk', 'plain.trc'))], true);
  await page.getByLabel('Time', { exact: true }).fill('0.5');
  await until(page, () => document.querySelector('.status').dataset.tone === 'good');
  const { thorax } = await probe(page, 'bodies');
  await page.evaluate(() => document.querySelectorAll('aside details').forEach((details) => (details.open = true)));
  await page.getByLabel('Pick left_wrist', { exact: true }).click();
  await page.locator('canvas.stage').focus();
  await page.keyboard.press('1');
  await probe(page, 'moveGoal', 0, [thorax[0] - 0.1, thorax[1] + 0.4, thorax[2] - 0.4]);
  await page.getByText('Bake into the motion').click();
  await said(page, /The goals are part of the motion now, and rest. The result is doubtful:/);
  await until(page, () => document.querySelector('.status').dataset.tone === 'fair');
  assert.match(await page.locator('.status').textContent(), /^doubtful motion · left_clavicle is turned by \d+ degrees against the chest, .* · with the goals baked in$/);
  assert.deepEqual([...new Set((await rows(page)).map(({ level }) => level))], ['doubtful']);
  await page.evaluate(() => document.querySelector('aside').scrollTo(0, 0));
  await page.screenshot({ path: `${shots}/verdict-baked.png` });
  await page.getByText('Undo baking').click();
  await until(page, () => /^reached/.test(document.querySelector('.status').textContent));
  await page.getByLabel('Undo (Ctrl+Z)').first().click();
  await until(page, () => document.querySelector('.status').dataset.tone === 'fair'); // it is undone that it was undone
}));

for (const [to, wanted] of [[([x, y, z]) => [x, y, z - 0.1], 'good'], [([x, y, z]) => [-x, -y, z], 'poor']]) {
  test(`keyframes that an arm follows ${wanted === 'good' ? 'smoothly are a good' : 'by leaps alone are no'} motion`, { timeout: LONG }, on('?scene=arm7', {}, async (page) => {
    const [{ position }] = (await probe(page, 'state')).targets;
    await page.keyboard.press('i');
    await page.getByLabel('Time', { exact: true }).fill('2');
    await probe(page, 'moveGoal', 0, to(position));
    await until(page, () => / · this frame alone: the motion is judged when it is saved$/.test(document.querySelector('.status').textContent));
    await page.locator('canvas.stage').focus();
    await Promise.all([page.waitForEvent('download'), page.keyboard.press('s')]);
    await said(page, wanted === 'good' ? /and rest\. They are met to/ : /and rest\. The result is wrong:\n[^]* leaps by \d+\.\d degrees from frame \d+ to \d+/);
    await until(page, (tone) => document.querySelector('.status').dataset.tone === tone, wanted);
    assert.equal((await rows(page)).some(({ kind, level }) => kind === 'leapt' && level === 'failed'), wanted === 'poor');
    await page.screenshot({ path: `${shots}/verdict-keyframes-${wanted}.png` });
  }));
}

test('what is reached by leaving the ground is no green pose', { timeout: LONG }, on('?scene=humanoid', {}, async (page) => {
  await page.keyboard.press('1'); // a goal for a free end
  const place = (await probe(page, 'state')).targets[0].position;
  const goal = async (up) => {
    await probe(page, 'moveGoal', 0, [place[0], place[1] + up, place[2]]);
    await until(page, () => globalThis.studio.settled() && globalThis.studio.rests());
    return page.locator('.status').textContent();
  };
  assert.match(await goal(0), /^reached/);
  await until(page, () => document.querySelector('.status').dataset.tone === 'good');
  await goal(3);
  await until(page, () => /reached · not on the ground · the lowest sole is \d+\.\d % of the leg length above the ground/.test(document.querySelector('.status').textContent));
  assert.equal(await tone(page), 'fair');
  await page.screenshot({ path: `${shots}/afloat.png` });
  await goal(-3);
  await until(page, () => /not on the ground · a sole is \d+\.\d+ % of the leg length below the ground/.test(document.querySelector('.status').textContent));
  assert.equal(await tone(page), 'poor');
}));

test('a figure stands on the ground of the first pose that its file names', { timeout: LONG }, on('?scene=humanoid', {}, async (page) => {
  const figure = JSON.parse(readFileSync(converted('scene:humanoid', 'figure.json'), 'utf8'));
  const home = (await probe(page, 'state')).q.map((x, i) => (i === 1 ? x + 1 : x));
  const low = home.map((x, i) => (i === 1 ? x - 0.2 : x));
  await dropped(page, [{ name: 'raised.json', bytes: Buffer.from(JSON.stringify({ ...figure, postures: { home, low } })) }], true);
  await until(page, () => /^reached · \d/.test(document.querySelector('.status').textContent));
  assert.equal(await tone(page), 'good');
  await page.evaluate(() => document.querySelectorAll('aside details').forEach((details) => (details.open = true)));
  await page.getByLabel('Take the posture low').click();
  await until(page, () => /^reached · not on the ground · a sole is \d+\.\d+ % of the leg length below/.test(document.querySelector('.status').textContent));
}));

test('shapes are kept where a robot is saved as JSON, and hold there; where they cannot be, that is said before', { timeout: LONG }, on('?scene=arm6', {}, async (page) => {
  await dropped(page, [fileOf(made('walker.urdf', walker()))], true);
  await page.evaluate(() => document.querySelectorAll('aside details').forEach((details) => (details.open = true)));
  assert.match(await page.locator('details', { hasText: 'Save as' }).last().textContent(), /Collision shapes are kept in JSON alone\./);
  const button = page.locator('details', { hasText: 'Save as' }).last().getByRole('button').filter({ hasText: /^JSON$/ });
  const [file] = await Promise.all([page.waitForEvent('download'), button.click()]);
  const saved = { name: 'walker.json', bytes: readFileSync(await file.path()) };
  assert.equal(JSON.parse(String(saved.bytes)).shapes.length, 5);
  await page.getByLabel('Scene', { exact: true }).selectOption('arm6');
  await dropped(page, [saved], true);
  await page.evaluate(() => document.querySelectorAll('aside details').forEach((details) => (details.open = true)));
  await page.getByLabel('Collision shapes').check();
  await until(page, () => globalThis.studio.shapes().shapes === 5);
  await page.getByLabel('Keep them apart').check();

  const mesh = walker().replace('<box size="0.2 0.26 0.3"/>', '<mesh filename="torso.stl"/>');
  await dropped(page, [fileOf(made('meshed.urdf', mesh))], true);
  assert.match(await page.locator('details', { hasText: 'Save as' }).last().textContent(), /1 collision mesh will not be in it/);
}));

/** The dancer with bones along x in its neutral pose, legs beside the trunk, as Rokoko's files have them, y up as it moves. */
function lying() {
  const joints = [['Hips', null, 0, 0, 0], ['Spine', 'Hips', 20, 0, 0], ['Head', 'Spine', 40, 0, 0],
    ...['Left', 'Right'].flatMap((side, i) => [[`${side}Arm`, 'Spine', 30, 15 - 30 * i, 0], [`${side}ForeArm`, `${side}Arm`, 25, 0, 0], [`${side}Hand`, `${side}ForeArm`, 22, 0, 0],
      [`${side}UpLeg`, 'Hips', -5, 10 - 20 * i, 180], [`${side}Leg`, `${side}UpLeg`, 40, 0, 0], [`${side}Foot`, `${side}Leg`, 40, 0, 0]])];
  const put = ([name, , x, z]) => {
    const below = joints.filter(([, parent]) => parent === name);
    const inside = below.length > 0 ? below.map(put).join('') : 'End Site\n{\nOFFSET 8 0 0\n}\n';
    const channels = name === 'Hips' ? '6 Xposition Yposition Zposition Xrotation Yrotation Zrotation' : '3 Xrotation Yrotation Zrotation';
    return `${name === 'Hips' ? 'ROOT' : 'JOINT'} ${name}\n{\nOFFSET ${x} 0 ${z}\nCHANNELS ${channels}\n${inside}}\n`;
  };
  const inOrder = (name) => joints.filter(([, parent]) => parent === name).flatMap((joint) => [joint, ...inOrder(joint[0])]);
  const row = ['0 90 0 0 0 90', ...inOrder('Hips').map(([, , , , turn]) => `0 0 ${turn}`)].join(' ');
  return `HIERARCHY\n${put(joints[0])}MOTION\nFrames: 10\nFrame Time: 0.1\n${`${row}\n`.repeat(10)}`;
}

/** It stands along y, and its bones are saved as they came; positions take the place of the OFFSET of the root. */
async function stands(page, file) {
  await dropped(page, [file], true);
  assert.equal(await probe(page, 'up'), 'y');
  const { Head: [, head], LeftFoot: [, foot] } = await probe(page, 'bodies');
  assert.ok(head - foot > 0.7 * (await probe(page, 'size')) * 0.7, `its head is ${head - foot} above its foot`);
  await page.evaluate(() => document.querySelectorAll('aside details').forEach((details) => (details.open = true)));
  const button = page.locator('details', { hasText: 'Save as' }).last().getByRole('button').filter({ hasText: /^BVH$/ });
  const [saved] = await Promise.all([page.waitForEvent('download'), button.click()]);
  const offsets = (text) => Array.from(text.matchAll(/OFFSET\s+(\S+)\s+(\S+)\s+(\S+)/g), ([, ...xyz]) => xyz.map(Number));
  const [before, after] = [String(file.bytes), readFileSync(await saved.path(), 'utf8')].map(offsets);
  assert.equal(after.length, before.length);
  before.slice(1).forEach((xyz, i) => xyz.forEach((x, k) => assert.ok(Math.abs(x - after[i + 1][k]) < 1e-6 * Math.max(1, Math.abs(x)), `OFFSET ${i + 1}: ${after[i + 1]} instead of ${xyz}`)));
}

test('a figure whose neutral pose lies stands as it moves, and is saved as it came', { timeout: LONG }, on('?scene=arm6', {}, async (page) => {
  await stands(page, { name: 'lying.bvh', bytes: Buffer.from(lying()) });
  await page.screenshot({ path: `${shots}/upright.png` });
}));

test('a real figure whose neutral pose lies stands', { timeout: LONG }, async (t) => {
  const path = dataFile(t, 'bvh/ad_rokoko_jesse_dance.bvh');
  if (path) {
    await on('?scene=arm6', {}, async (page) => {
      await stands(page, fileOf(path));
      await page.screenshot({ path: `${shots}/rokoko.png` });
    })();
  }
});
