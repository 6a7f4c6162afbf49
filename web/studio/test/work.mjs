// Working with it: keyframes, parts of a motion, speed; views; snapping; markers by name; curves; answers; limits by name.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { atRest, drag, drop, LONG, on, probe, said, shots, until } from './browser.mjs';

const target = async (page) => (await probe(page, 'state')).targets[0];
const seek = (page, time) => page.getByLabel('Time', { exact: true }).fill(String(time));
const near = (a, b, most) => assert.ok(a.every((x, i) => Math.abs(x - b[i]) <= most), `${a} instead of ${b}`);

test('a goal moves by keyframes, a drag is recorded, parts are played; views, snapping, answers, limits', { timeout: LONG }, on('?scene=arm7', {}, async (page) => {
  // keyframes make a timeline; the goal goes from key to key, and the motion can be saved
  const first = (await target(page)).position;
  await page.keyboard.press('i');
  assert.equal(await page.locator('.timeline').isHidden(), false);
  await seek(page, 2);
  await page.locator('canvas.stage').focus();
  for (let i = 0; i < 5; i++) {
    await page.keyboard.press('ArrowDown');
  }
  const second = (await target(page)).position;
  assert.ok(second[2] < first[2]);
  assert.equal(await page.locator('.strip .key').count(), 2);
  await seek(page, 0);
  near((await target(page)).position, first, 1e-9);
  await seek(page, 1);
  near((await target(page)).position, first.map((x, i) => (x + second[i]) / 2), 1e-9);
  await until(page, () => globalThis.studio.settled());
  near(await probe(page, 'tip', 0), (await target(page)).position, 1e-4);
  await page.getByText('Save as', { exact: true }).click();
  const [file] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Save joint values, frame by frame, as CSV' }).click()]);
  const rows = readFileSync(await file.path(), 'utf8').trim().split('\n');
  await page.getByText('a table for other programs, in radians and metres').waitFor();
  assert.equal(rows.length, 241); // four seconds at 60 a second, and the names
  assert.notEqual(rows[1].slice(2), rows[120].slice(2));

  // half a second of it, once, at twice the speed
  await seek(page, 1.5);
  await page.locator('canvas.stage').focus();
  await page.keyboard.press('[');
  await seek(page, 2);
  await page.locator('canvas.stage').focus();
  await page.keyboard.press(']');
  await page.getByLabel('Begin again at the end').click();
  await page.getByLabel('Speed').selectOption('2');
  await page.screenshot({ path: `${shots}/keyframes.png` });
  await seek(page, 0);
  await page.getByLabel('Play or pause (space)').click();
  await until(page, () => globalThis.studio.state().time >= 1.5);
  await until(page, () => document.querySelector('[aria-label^="Play or pause"]').getAttribute('aria-pressed') === 'false');
  assert.ok(Math.abs((await probe(page, 'state')).time - 2) < 1e-6);
  await page.getByLabel('Play only a part').click();

  // what is dragged while time goes on is recorded
  await seek(page, 0);
  const at = await probe(page, 'project', (await target(page)).position);
  await page.getByLabel('Play or pause (space)').click();
  await drag(page, at, { x: at.x - 60, y: at.y }, 20);
  await page.getByLabel('Play or pause (space)').click();
  assert.ok((await target(page)).keys.length > 3, `${(await target(page)).keys.length} keys`);
  await page.keyboard.press('Control+z');
  assert.equal((await target(page)).keys.length, 2);
  await page.getByText('Remove', { exact: true }).waitFor();

  // views
  await page.locator('canvas.stage').focus();
  await page.keyboard.press('Shift+X');
  near((await probe(page, 'view')).from, [1, 0, 0], 1e-3);
  await page.keyboard.press('Shift+X');
  near((await probe(page, 'view')).from, [-1, 0, 0], 1e-3);
  await page.getByLabel(/^Look along z/).click();
  near((await probe(page, 'view')).from, [0, 0, 1], 1e-3);
  await page.keyboard.press('h');
  const scene = (await probe(page, 'state')).targets[0].position;
  const before = await probe(page, 'project', scene);
  await page.keyboard.press('v');
  assert.equal((await probe(page, 'view')).isFlat, true);
  const flat = await probe(page, 'project', scene);
  assert.ok(Math.hypot(before.x - flat.x, before.y - flat.y) < 60, 'the view stays where it was');
  const [a, b] = [await probe(page, 'project', [0, 0, 0]), await probe(page, 'project', [0, 0, 0.1])];
  const [c, d] = [await probe(page, 'project', [5, 5, 0]), await probe(page, 'project', [5, 5, 0.1])];
  assert.ok(Math.abs(Math.hypot(a.x - b.x, a.y - b.y) - Math.hypot(c.x - d.x, c.y - d.y)) < 1e-6, 'lengths are the same everywhere');
  await page.screenshot({ path: `${shots}/orthographic.png` });
  await page.keyboard.press('v');

  // frames of bodies, at their places
  await page.keyboard.press('q');
  const axes = await probe(page, 'frames');
  const places = Object.values(await probe(page, 'bodies'));
  near(axes.slice(0, 3), places[0], 1e-5);
  assert.ok(axes.length >= (18 * places.length) / 2);
  await page.screenshot({ path: `${shots}/frames.png` });
  await page.keyboard.press('q');
  assert.equal((await probe(page, 'frames')).length, 0);

  // snapping
  await page.getByLabel('Scene', { exact: true }).selectOption('arm6');
  await page.locator('canvas.stage').focus();
  await page.keyboard.press('m');
  const { step } = await probe(page, 'view');
  const from = await probe(page, 'project', (await target(page)).position);
  await drag(page, from, { x: from.x + 90, y: from.y + 40 });
  const { position } = await target(page);
  assert.ok(position.some((x) => Math.abs(x / step - Math.round(x / step)) < 1e-6), `${position} by ${step}`);
  await page.keyboard.press('m');
  await page.keyboard.press('x');
  assert.equal(await page.getByLabel(/own axes/).getAttribute('aria-pressed'), 'true');
  await page.keyboard.press('x');

  // all answers, of which one is taken
  await page.keyboard.press('Control+z');
  await page.keyboard.press('a');
  const count = await probe(page, 'answers');
  assert.ok(count >= 2, `${count} answers`);
  await page.screenshot({ path: `${shots}/answers.png` });
  const { q } = await probe(page, 'state');
  await page.getByLabel(`Take answer ${count}`).click();
  await until(page, () => globalThis.studio.settled());
  assert.ok((await probe(page, 'state')).q.some((x, i) => Math.abs(x - q[i]) > 0.1));
  near(await probe(page, 'tip', 0), (await target(page)).position, 1e-4);

  // which limit holds
  await page.getByLabel('Scene', { exact: true }).selectOption('hand');
  await until(page, () => globalThis.studio.settled());
  const isHeld = () => page.evaluate(() => /limits? holds?: \S/.test(document.querySelector('.status').textContent));
  for (let i = 0; i < 120 && !(await isHeld()); i++) { // how far the goal has to go depends on the way there
    await page.keyboard.press('ArrowDown');
    await until(page, () => globalThis.studio.settled());
  }
  assert.ok(await isHeld());
  await page.screenshot({ path: `${shots}/limits.png` });
}));

test('the reach of a tip, the distance of two points, a table that is read again, a tour', { timeout: LONG }, on('?scene=arm6', {}, async (page) => {
  await page.keyboard.press('b');
  assert.ok((await probe(page, 'reach')) >= 1000);
  await page.screenshot({ path: `${shots}/reach.png` });
  await page.keyboard.press('b');
  assert.equal(await probe(page, 'reach'), 0);
  await page.keyboard.press('u');
  const bodies = Object.values(await probe(page, 'bodies'));
  for (const place of [bodies[1], bodies[3]]) {
    const { x, y } = await probe(page, 'project', place);
    await page.mouse.click(x, y);
  }
  const apart = Math.hypot(...bodies[1].map((x, k) => x - bodies[3][k]));
  const measured = await probe(page, 'measured');
  assert.ok(Math.abs(measured - apart) < 0.35 * apart, `${measured} between surfaces, ${apart} between joints`);
  assert.match(await page.locator('.measured').textContent(), / m?m$/);
  await page.screenshot({ path: `${shots}/measure.png` });
  await page.keyboard.press('u');

  // a table of joint values moves the arm that it was saved from
  await page.keyboard.press('i');
  await page.getByText('Save as', { exact: true }).click();
  const [file] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Save joint values, frame by frame, as CSV' }).click()]);
  const saved = readFileSync(await file.path(), 'utf8');
  const rows = saved.trim().split('\n').map((row) => row.split(','));
  rows.slice(1).forEach((row, f) => (row[1] = String(0.001 * f))); // the first joint turns
  await drop(page, { name: 'arm.csv', bytes: Buffer.from(rows.map((row) => row.join(',')).join('\n')) });
  await page.getByLabel('Play or pause (space)').click();
  await seek(page, 1);
  await until(page, () => globalThis.studio.settled());
  near((await probe(page, 'state')).q, rows[61].slice(1).map(Number), 1e-6);

  // a tour goes on by what is done
  await page.evaluate(() => document.querySelector('header button[title^="Scenes as pictures"]').click());
  await page.getByRole('button', { name: /^Drag an arm/ }).click();
  await until(page, () => globalThis.studio.tour() === 0);
  await atRest(page);
  const hand = await probe(page, 'project', (await target(page)).position);
  await drag(page, hand, { x: hand.x - 150, y: hand.y + 110 });
  await until(page, () => globalThis.studio.tour() === 1);
  await page.screenshot({ path: `${shots}/tour.png` });
  await page.getByRole('button', { name: 'End the tour' }).click();
  assert.equal(await probe(page, 'tour'), -1);

  // the camera goes along with a walk equally far at any frame rate
  await page.getByLabel('Scene', { exact: true }).selectOption('humanoid/walk');
  await page.keyboard.press(' ');
  const after = async (...steps) => {
    await seek(page, 0);
    await until(page, () => globalThis.studio.settled());
    await page.locator('canvas.stage').focus();
    await page.keyboard.press('h');
    await probe(page, 'accompany', 0); // begins here
    await seek(page, 1);
    await until(page, () => globalThis.studio.settled());
    return page.evaluate((list) => list.map((seconds) => globalThis.studio.accompany(seconds)).at(-1), steps);
  };
  near(await after(0.2), await after(...Array(20).fill(0.01)), 1e-6);
}));

test('the tours of a recording and of a character go on by what is done, to their end', { timeout: LONG }, on('', {}, async (page) => {
  await page.locator('.invite').getByText('Drag me').waitFor(); // the first scene invites, until something is done
  const begin = async (name) => {
    await page.evaluate(() => document.querySelector('header button[title^="Scenes as pictures"]').click());
    await page.getByRole('button', { name }).click();
    await until(page, () => globalThis.studio.tour() === 0);
    assert.equal(await page.locator('.invite').count(), 0);
  };
  const comesTo = (step) => until(page, (wanted) => globalThis.studio.tour() === wanted, step);
  const key = async (name) => {
    await page.locator('canvas.stage').focus();
    await page.keyboard.press(name);
  };
  const finish = async () => {
    await page.getByRole('button', { name: 'Done', exact: true }).click();
    assert.equal(await probe(page, 'tour'), -1);
    await said(page, /That was the tour\./);
  };
  await begin(/^Fit a recording/);
  await key(' ');
  await comesTo(1);
  const stoppedAt = Number(await page.getByLabel('Time', { exact: true }).inputValue());
  await seek(page, stoppedAt < 0.5 ? 0.9 : 0.2);
  await comesTo(2);
  await key('t');
  await comesTo(3);
  await key('1'); // a goal for a free end, as a pull makes one
  await comesTo(4);
  await finish();

  await begin(/^Pose a character/);
  await page.getByText('Joints', { exact: true }).click();
  await page.locator('.joint .name').filter({ hasText: 'left_ankle' }).first().click();
  await key('p');
  await comesTo(1);
  await page.locator('.joint .name').filter({ hasText: 'right_wrist' }).first().click();
  await key('1');
  for (let i = 0; i < 40 && (await probe(page, 'tour')) === 1; i++) {
    await key('ArrowUp');
    await atRest(page);
  }
  await comesTo(2);
  await page.locator('.joint .name').filter({ hasText: 'head' }).first().click();
  await key('3');
  await comesTo(3);
  await key('i');
  await comesTo(4);
  await finish();
}));

test('markers have names, gaps and lines to their places; joints have curves', { timeout: LONG }, on('?scene=humanoid/kick', {}, async (page) => {
  await page.keyboard.press(' ');
  await seek(page, 0.5);
  await until(page, () => globalThis.studio.settled());
  const list = page.getByLabel('Markers by name').getByRole('button');
  assert.equal(await list.count(), 41);
  const at = await probe(page, 'marker', 3);
  await page.mouse.move(at.x, at.y);
  const label = await list.nth(3).textContent();
  assert.match(await page.locator('.hover').textContent(), new RegExp(`^${label} · `));
  await page.mouse.click(at.x, at.y);
  assert.equal(await list.nth(3).getAttribute('aria-pressed'), 'true');
  await page.getByLabel('Lines to their places').check();
  await until(page, () => globalThis.studio.misses() === 41);
  await page.getByLabel('Trails of the last moments').check();
  assert.ok((await probe(page, 'trails')) > 10);
  await page.keyboard.press('t');
  await said(page, /frames tracked in .* mean error/);
  await page.getByRole('tab', { name: 'Joint curves' }).click();
  assert.equal(await page.locator('.legend tbody tr').count(), 8);
  await page.keyboard.press('j');
  await page.keyboard.press('j');
  await until(page, () => /picked joint/.test(document.querySelector('.legend').textContent));
  await page.screenshot({ path: `${shots}/markers.png` });
}));
