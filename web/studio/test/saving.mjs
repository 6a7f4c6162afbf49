// What is saved is what was on the screen: every file is opened again and compared.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { drop, notice, on, probe, until } from './browser.mjs';

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
    row.slice(1).forEach((x, i) => assert.equal(Number(x), q[i]));
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

test('a motion is saved with its goals in it, over a range with fades; baking does the same', { timeout: 120_000 }, on('?scene=humanoid/walk', {}, async (page) => {
  await page.getByLabel('Track the whole recording (T)').click();
  await page.getByText(/frames tracked/).waitFor();
  await until(page, () => !document.querySelector('.timeline').hidden);
  const times = [0.1, 0.45, 0.6, 0.9, 1.05];
  const plain = {};
  for (const time of times) {
    plain[time] = await at(page, time);
  }
  await at(page, 0.6);
  await page.keyboard.press('Escape');
  await page.locator('canvas.stage').focus();
  await page.keyboard.press('1');
  for (let i = 0; i < 12; i++) {
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
  const bvh = await save(page, 'BVH');
  await page.getByText('Bake into the motion').click();
  await page.getByText('The goals are part of the motion now').waitFor();
  const check = async (what) => {
    for (const time of times) {
      const off = apart(shown[time], await at(page, time));
      assert.ok(off < 2e-3, `${what}, ${time} s: ${off}`);
    }
  };
  await check('baked');
  await page.getByText('Undo baking').click();
  await check('not baked');
  await drop(page, bvh);
  await check('saved');
}));
