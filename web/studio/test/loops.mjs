// Skeletons with closed loops: every answer closes them, files keep them, and what leaves them open is said.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { atRest, drop, LONG, on, poise, probe, said, until } from './browser.mjs';
import { fourBar } from './four_bar.mjs';

/** How far the loop of the four-bar is open. */
function gapOf([drive, bend, swing]) {
  const turn = drive + bend;
  const end = [0.15 * Math.sin(drive) + 0.4 * Math.cos(turn), 0.15 * Math.cos(drive) - 0.4 * Math.sin(turn)];
  return Math.hypot(end[0] - 0.4 - 0.25 * Math.sin(swing), end[1] + 0.1 - 0.25 * Math.cos(swing));
}

/** Where the crank ends when it is turned. */
const crankAt = (angle) => [0.15 * Math.sin(angle), 0, 0.15 * Math.cos(angle)];

/** Move the goal, and wait for the words below the stage. */
async function move(page, position) {
  await probe(page, 'moveGoal', 0, position);
  await atRest(page);
  return { text: await page.locator('.status').textContent(), tone: await page.locator('.status').getAttribute('data-tone'), gap: gapOf((await probe(page, 'state')).q) };
}

test('a joint that is set by hand stays there, and the others close the loop; where none can, that is said', on('?scene=arm7', {}, async (page) => {
  await drop(page, { name: 'four-bar.xml', bytes: Buffer.from(fourBar) });
  await page.evaluate(() => document.querySelectorAll('aside details').forEach((details) => (details.open = true)));
  const set = async (name, degrees) => {
    await page.getByLabel(`${name}, value`).fill(String(degrees));
    await page.getByLabel(`${name}, value`).press('Enter');
    await atRest(page);
    const { q } = await probe(page, 'state');
    assert.ok(gapOf(q) < 1e-6, `open by ${gapOf(q)}`);
    return q.map((x) => (x * 180) / Math.PI);
  };
  for (const degrees of [20, -15, 35]) {
    const [drive] = await set('drive', degrees);
    assert.ok(Math.abs(drive - degrees) < 1e-6, `${drive} instead of ${degrees}`);
  }
  const [, , swing] = await set('swing', 170); // beyond what the crank lets it
  assert.ok(Math.abs(swing - 170) > 1);
  await said(page, /^swing: the closed loops of this skeleton keep it at -?[\d.]+°, and not at 170°\./);
}));

test('loops of a file are closed in every answer, and kept by a file that is saved', { timeout: LONG }, on('?scene=arm7', {}, async (page) => {
  await drop(page, { name: 'four-bar.xml', bytes: Buffer.from(fourBar) });
  for (const angle of [0.3, 0.7, -0.4, 0.6]) {
    const { text, gap } = await move(page, crankAt(angle));
    assert.match(text, /^reached/);
    assert.ok(gap < 1e-6, `open by ${gap}`);
  }
  const pose = (await probe(page, 'state')).q;
  const off = await move(page, [0.3, 0.2, 0.3]); // the crank does not get there
  assert.doesNotMatch(off.text, /reached|open/);
  assert.ok(off.gap < 1e-6, `open by ${off.gap}`);
  await move(page, crankAt(0.6));

  const folder = mkdtempSync(join(tmpdir(), 'poise-loops-'));
  try {
    await page.locator('details', { hasText: 'Save as' }).last().evaluate((details) => (details.open = true));
    const [file] = await Promise.all([page.waitForEvent('download'), page.locator('details', { hasText: 'Save as' }).getByRole('button').filter({ hasText: /^JSON$/i }).click()]);
    const bytes = readFileSync(await file.path());
    assert.equal(JSON.parse(bytes).loops.length, 1);
    writeFileSync(join(folder, 'saved.json'), bytes);
    const info = execFileSync(poise, ['info', 'saved.json'], { cwd: folder, encoding: 'utf8' });
    assert.match(info, /loops +1/);
    await drop(page, { name: 'saved.json', bytes });
    const again = await move(page, crankAt(-0.5));
    assert.match(again.text, /^reached/);
    assert.ok(again.gap < 1e-6, `open by ${again.gap}`);
    // the command finds the pose on the screen
    const { q, targets } = await probe(page, 'state');
    const goal = `position coupler ${targets[0].position.join(' ')}`;
    const answer = JSON.parse(execFileSync(poise, ['solve', 'saved.json', '--goal', goal, '--from', pose.join(' '), '--json'], { cwd: folder, encoding: 'utf8' }));
    assert.ok(answer.q.every((x, i) => Math.abs(x - q[i]) < 1e-4), `${answer.q} instead of ${q}`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}));

test('what leaves a loop open says so', { timeout: LONG }, on('?scene=arm7', {}, async (page) => {
  await drop(page, { name: 'four-bar.xml', bytes: Buffer.from(fourBar) });
  await page.getByLabel('Solver').selectOption('levenberg_marquardt');
  await page.keyboard.press('Escape');
  const open = await move(page, crankAt(0.7));
  assert.ok(open.gap > 0.01, `open by ${open.gap}`);
  assert.match(open.text, /loop open by \d+(\.\d+)? mm: coupler and rocker \(the method auto holds it\)/);
  assert.equal(open.tone, 'poor');
  await page.keyboard.press('r');
  await until(page, () => /Auto holds the loops of the skeleton; the others leave them open/.test(document.querySelector('footer').textContent));
  await page.getByLabel('Solver').selectOption('auto');
  await page.keyboard.press('Escape');
  const held = await move(page, crankAt(0.5));
  assert.match(held.text, /^reached/);
  assert.doesNotMatch(held.text, /open/);
}));
