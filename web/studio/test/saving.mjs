// What is saved is what was on the screen: every file is opened again and compared.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { drop, LONG, notice, on, open, poise, probe, said, serve, until } from './browser.mjs';

/** Press a button of "Save as", and take the file. */
async function save(page, kind) {
  await page.evaluate(() => document.querySelectorAll('details').forEach((details) => (details.open = true)));
  const button = page.locator('details', { hasText: 'Save as' }).getByRole('button').filter({ hasText: new RegExp(`^${kind}$`) });
  const [file] = await Promise.all([page.waitForEvent('download'), button.click()]);
  return { name: file.suggestedFilename(), bytes: readFileSync(await file.path()) };
}

/** The kinds that are offered. */
async function offered(page) {
  await page.evaluate(() => document.querySelectorAll('details').forEach((details) => (details.open = true)));
  return page.locator('details', { hasText: 'Save as' }).last().getByRole('button').allTextContents();
}

/** Largest distance between bodies of one name, over the size of the skeleton. Files may have another unit and upward axis. */
function apart(a, b) {
  const names = Object.keys(a).filter((name) => name in b);
  assert.ok(names.length >= 0.45 * Object.keys(a).length, `${Object.keys(b)} instead of ${Object.keys(a)}`);
  const size = (list) => Math.max(...names.map((p) => Math.max(...names.map((q) => Math.hypot(...list[p].map((x, i) => x - list[q][i]))))));
  const [sa, sb] = [size(a), size(b)];
  let worst = 0;
  for (const p of names) {
    for (const q of names) {
      const length = (list) => Math.hypot(...list[p].map((x, i) => x - list[q][i]));
      worst = Math.max(worst, Math.abs(length(a) / sa - length(b) / sb));
    }
  }
  return worst;
}

for (const scene of ['arm7', 'hand', 'humanoid']) {
  test(`the pose of ${scene} on the screen is in every kind of file`, on(`?scene=${scene}`, {}, async (page) => {
    if (scene === 'humanoid') {
      await page.keyboard.press('1'); // a goal for a free end
    }
    for (let i = 0; i < 6; i++) {
      await page.keyboard.press('ArrowLeft');
      await page.keyboard.press('PageUp');
    }
    const shown = await probe(page, 'bodies');
    const { q } = await probe(page, 'state');
    const kinds = await offered(page);
    assert.ok(kinds.includes('JSON') && kinds.includes('BVH') && kinds.includes('GLB') && kinds.includes('CSV') && kinds.includes('MOT'), kinds.join());
    assert.ok(kinds.includes('AMC') === (scene !== 'hand'), 'an ASF has no mimic joints'); // a button that cannot work is not there
    const files = {};
    for (const kind of kinds) {
      files[kind] = await save(page, kind);
      assert.ok(!(await notice(page)).bad, `${kind}: ${(await notice(page)).text}`);
    }
    const [names, row] = String(files.CSV.bytes).trim().split('\n').map((line) => line.split(','));
    assert.equal(names.length, q.length + 1);
    row.slice(1).map(Number).forEach((x, i) => {
      assert.ok(x === q[i] || (x === 0 && Math.abs(q[i]) < 1e-11), `${x} for ${q[i]}`);
      assert.ok(x === 0 || Math.abs(x) > 1e-11, `${names[i + 1]} is ${x}: what a solver leaves of 0 is written as 0`);
    });
    const opened = { JSON: [files.JSON], BVH: [files.BVH], GLB: [files.GLB], ...(files.AMC ? { AMC: [files.ASF, files.AMC] } : {}) };
    for (const [kind, list] of Object.entries(opened)) {
      await drop(page, ...list);
      const words = await notice(page);
      assert.ok(!words.bad, `${kind}: ${words.text}`);
      const off = apart(shown, await probe(page, 'bodies'));
      assert.ok(off < 1e-4, `${kind}: ${off}`);
    }
    await page.getByLabel('Scene', { exact: true }).selectOption(scene);
    await drop(page, files.MOT);
    assert.ok(apart(shown, await probe(page, 'bodies')) < 1e-4, 'MOT');
  }));
}

const at = async (page, time) => {
  await page.getByLabel('Time', { exact: true }).fill(String(time));
  await until(page, (t) => Math.abs(globalThis.studio.state().time - t) < 1e-6 && globalThis.studio.settled(), time);
  return probe(page, 'bodies');
};

/** Pick a joint by its name. */
async function pick(page, name) {
  await page.evaluate(() => document.querySelectorAll('details').forEach((details) => (details.open = true)));
  await page.getByLabel(`Pick ${name}`, { exact: true }).click();
}

test('a motion is saved with its goals in it, over a range with fades; baking does the same', { timeout: LONG }, on('?scene=humanoid/walk', {}, async (page) => {
  await page.getByLabel('Track the whole recording (T)').click();
  await said(page, /frames tracked/);
  await until(page, () => !document.querySelector('.timeline').hidden);
  const times = [0.1, 0.45, 0.6, 0.9, 1.05];
  const plain = {};
  for (const time of times) {
    plain[time] = await at(page, time);
  }
  await at(page, 0.6);
  await pick(page, 'left_wrist');
  await page.locator('canvas.stage').focus();
  await page.keyboard.press('1');
  for (let i = 0; i < 6; i++) {
    await page.keyboard.press('ArrowUp');
  }
  await page.getByLabel('Only for a part of the motion').check();
  for (const [label, value] of [['from', '0.4'], ['to', '1'], ['fade in', '0.1'], ['fade out', '0.2']]) {
    await page.getByLabel(`Goals: ${label}, seconds`).fill(value);
    await page.getByLabel(`Goals: ${label}, seconds`).press('Enter');
  }
  const shown = {};
  for (const time of times) {
    shown[time] = await at(page, time);
  }
  const moved = (time) => Math.max(...Object.keys(plain[time]).map((name) => Math.hypot(...plain[time][name].map((x, i) => x - shown[time][name][i]))));
  assert.deepEqual([moved(0.1), moved(1.05)], [0, 0]);
  assert.ok(moved(0.6) > 0.05 && moved(0.45) < moved(0.6), 'the goal moves the body inside its range, and less where it fades');
  const files = {};
  for (const kind of ['BVH', 'GLB', 'ASF', 'AMC', 'MOT', 'JSON', 'CSV']) {
    files[kind] = await save(page, kind);
    assert.ok(kind !== 'BVH' || /The goals are part of the motion now, and rest. They are met to < 0.1 mm/.test((await notice(page)).text), (await notice(page)).text);
  }
  const baked = {};
  for (const time of times) { // what is seen now is what was saved
    baked[time] = await at(page, time);
    assert.ok(apart(shown[time], baked[time]) < 0.1, 'and near to what was seen before');
  }
  assert.deepEqual([baked[0.1], baked[1.05]], [plain[0.1], plain[1.05]]);
  const check = async (what) => {
    for (const time of times) {
      const off = apart(baked[time], await at(page, time));
      assert.ok(off < 1e-4, `${what}, ${time} s: ${off}`);
    }
  };
  await page.keyboard.press('Control+z');
  assert.ok(apart(shown[0.6], await at(page, 0.6)) < 1e-4, 'Undo takes the goals out of the motion');
  await page.getByText('Bake into the motion').click();
  await said(page, /The goals are part of the motion now/);
  await check('baked');
  await page.getByText('Undo baking').click();
  assert.ok(apart(shown[0.6], await at(page, 0.6)) < 1e-4, 'and so does the button');
  for (const kinds of [['BVH'], ['GLB'], ['JSON'], ['ASF', 'AMC'], ['MOT'], ['CSV']]) {
    const needsSkeleton = ['MOT', 'CSV'].includes(kinds[0]);
    if (needsSkeleton) {
      await page.getByLabel('Scene', { exact: true }).selectOption('humanoid');
    }
    await drop(page, ...kinds.map((kind) => files[kind]));
    const words = await notice(page);
    assert.ok(!words.bad, `${kinds}: ${words.text}`);
    await check(`saved as ${kinds.join(' and ')}`);
  }
}));

/** Places of bodies with y up, whatever is up in the file. */
async function upright(page) {
  const up = await probe(page, 'up');
  const bodies = await probe(page, 'bodies');
  return Object.fromEntries(Object.entries(bodies).map(([name, [x, y, z]]) => [name, up === 'z' ? [y, z, x] : [x, y, z]]));
}

const farthest = (a, b) => Math.max(...Object.keys(a).filter((name) => name in b).map((name) => Math.hypot(...a[name].map((x, i) => x - b[name][i]))));

for (const scene of ['arm6', 'arm7', 'scara']) {
  test(`${scene}, with z up, stands where it stood when a file of it is opened again`, on(`?scene=${scene}`, {}, async (page) => {
    for (let i = 0; i < 6; i++) {
      await page.keyboard.press('ArrowLeft');
      await page.keyboard.press('PageUp');
    }
    const shown = await upright(page);
    const files = {};
    const kinds = await offered(page);
    for (const kind of kinds) {
      files[kind] = await save(page, kind);
    }
    for (const list of [['JSON'], ['BVH'], ['GLB'], ...(files.AMC ? [['ASF', 'AMC']] : [])]) {
      await drop(page, ...list.map((kind) => files[kind]));
      const off = farthest(shown, await upright(page));
      assert.ok(off < 1e-6, `${list}: ${off}`); // a GLB has singles
    }
  }));
}

test('a format that is not offered says why', on('?scene=hand', {}, async (page) => {
  const kinds = await offered(page);
  assert.ok(!kinds.includes('ASF'));
  await page.getByText(/^Not as ASF and AMC: joint ".*": .*mimic/).waitFor();
}));

test('goals baked over a part of a clip make no joint jump; where they are out of reach, the notice says so', { timeout: LONG }, on('', {}, async (page) => {
  const walk = walkFile();
  const rows = ({ bytes }) => String(bytes).split(/Frame Time:.*\n/)[1].trim().split('\n').map((line) => line.trim().split(/\s+/).map(Number));
  const jump = (frames) => Math.max(...frames.slice(1).map((row, f) => Math.max(...row.map((x, i) => Math.abs(x - frames[f][i])))));
  const part = async (key, times) => {
    await drop(page, walk);
    await page.getByLabel('Time', { exact: true }).fill('0.5');
    await pick(page, 'left_wrist');
    await page.locator('canvas.stage').focus();
    await page.keyboard.press('1');
    for (let i = 0; i < times; i++) {
      await page.keyboard.press(key);
    }
    await page.getByLabel('Only for a part of the motion').check();
    for (const [label, value] of [['from', '0.2'], ['to', '0.9'], ['fade in', '0.2'], ['fade out', '0.2']]) {
      await page.getByLabel(`Goals: ${label}, seconds`).fill(value);
      await page.getByLabel(`Goals: ${label}, seconds`).press('Enter');
    }
    await page.getByText('Bake into the motion').click();
    await said(page, /The goals are part of the motion now/);
    return notice(page);
  };
  const near = await part('ArrowUp', 6);
  assert.match(near.text, /They are met to [<\d]/);
  assert.match(near.text, /met to [^e]* length units\./); // which the file does not name
  const [before, after] = [jump(rows(walk)), jump(rows(await save(page, 'BVH')))];
  assert.ok(after < 2 * before + 15, `${after} degrees from one frame to the next, and ${before} before`);
  const far = await part('ArrowUp', 60);
  assert.match(far.text, /The result is doubtful:\n\S+ does not reach its goal: it is .+ at worst, in frame \d+ \(\d.\d\d s\)/);
}));

/** A walk at 60 frames a second. */
function walkFile() {
  const folder = mkdtempSync(join(tmpdir(), 'poise-'));
  const file = join(folder, 'walk.bvh');
  execFileSync(poise, ['convert', 'scene:humanoid/walk', file, '--rate', '60'], { stdio: 'ignore' });
  const walk = { name: 'walk.bvh', bytes: readFileSync(file) };
  rmSync(folder, { recursive: true });
  return walk;
}

/** A goal on the walk, moved a little. */
async function reachInWalk(page) {
  await drop(page, walkFile());
  await at(page, 0.5);
  await pick(page, 'left_wrist');
  await page.locator('canvas.stage').focus();
  await page.keyboard.press('1');
  await page.keyboard.press('ArrowUp');
  await page.evaluate(() => document.querySelectorAll('details').forEach((details) => (details.open = true)));
}

test('a second file that is asked for while the first bakes comes after it', { timeout: LONG }, on('', {}, async (page) => {
  await reachInWalk(page);
  const names = [];
  page.on('download', (file) => names.push(file.suggestedFilename()));
  await page.evaluate(() => {
    const buttons = [...document.querySelectorAll('details button[aria-label^=Save]')];
    ['JSON', 'BVH'].forEach((kind) => buttons.find((button) => button.textContent === kind).click());
  });
  await said(page, /^Saved walk\.bvh/);
  assert.deepEqual(names, ['walk.json', 'walk.bvh']);
}));

test('an edited motion is saved, and help and code come, after the server has ended', { timeout: LONG }, async () => {
  const { address, end } = await serve();
  const { page, context } = await open(address);
  try {
    await until(page, () => globalThis.studio.keptWorkers() === 4);
  } finally {
    end();
  }
  await reachInWalk(page);
  const { name, bytes } = await save(page, 'BVH');
  assert.equal(name, 'walk.bvh');
  assert.match(String(bytes), /Frames:\s*66/);
  await page.locator('canvas.stage').focus();
  await page.keyboard.press('?');
  await page.getByRole('dialog', { name: 'Help' }).waitFor();
  await page.keyboard.press('Escape');
  await page.keyboard.press('g');
  await page.getByRole('dialog').waitFor();
  await context.close();
});
