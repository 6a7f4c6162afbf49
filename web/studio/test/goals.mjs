// Goals: dragged, pinned, raced for, undone.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { drag, on, probe, until } from './browser.mjs';
import { compare } from './pictures.mjs';

const distance = (a, b) => Math.hypot(...a.map((x, i) => x - b[i]));
const target = async (page, i = 0) => (await probe(page, 'state')).targets[i].position;
const place = async (page, i = 0) => probe(page, 'project', await target(page, i));

for (const id of ['arm7', 'arm2d', 'scara']) {
  test(`the end of ${id} follows a goal that is dragged`, on(`?scene=${id}`, {}, async (page) => {
    const before = await target(page);
    const from = await place(page);
    await drag(page, from, { x: from.x - 60, y: from.y + 40 });
    await until(page, () => !document.querySelector('header button').disabled);
    const after = await target(page);
    const size = await probe(page, 'size');
    assert.ok(distance(before, after) > 0.03 * size, 'the goal has moved');
    assert.ok(distance(await probe(page, 'tip', 0), after) < 1e-4 * size, 'the end is there');
    assert.equal(await probe(page, 'withinLimits'), true);
  }));
}

test('a goal out of reach is followed as near as it gets', on('?scene=arm2d', {}, async (page) => {
  const from = await place(page);
  await drag(page, from, { x: from.x + 420, y: from.y - 10 });
  await until(page, () => document.querySelector('.status').dataset.tone === 'fair');
  assert.match(await page.locator('.status').textContent(), /as near as it gets · .* away/);
  assert.equal(await probe(page, 'withinLimits'), true);
}));

test('pressing on another goal selects and drags it in one movement', on('?scene=tree2d', {}, async (page) => {
  const before = await target(page, 1);
  const from = await place(page, 1);
  await drag(page, from, { x: from.x + 40, y: from.y });
  assert.equal(await probe(page, 'selected'), 1);
  assert.ok(distance(before, await target(page, 1)) > 0.01);
}));

test('every method brings a planar arm nearer to its goal, or says that it cannot', on('?scene=arm2d', {}, async (page) => {
  const methods = await page.getByLabel('Solver').locator('option').evaluateAll((list) => list.map((option) => option.value));
  assert.ok(methods.length >= 12);
  for (const method of methods) {
    await page.getByLabel('Solver').selectOption(method);
    await page.keyboard.press('Escape');
    await page.locator('canvas.stage').focus();
    await page.keyboard.press('n');
    await page.keyboard.press('ArrowLeft');
    await until(page, () => globalThis.studio.last().outcome !== 'budget', undefined, 30);
    const { method: now } = await probe(page, 'state');
    const size = await probe(page, 'size');
    const off = distance(await probe(page, 'tip', 0), await target(page));
    assert.ok(now === method ? off < 0.01 * size : now === 'auto', `${method}: ${off}`);
  }
}));

test('a race without a goal says what is missing', on('?scene=humanoid', {}, async (page) => {
  await page.keyboard.press('r');
  await page.getByText('Add a goal first').waitFor();
}));

test('undo and redo go through moves, methods, locks and pins', on('?scene=arm7', {}, async (page) => {
  const states = [await probe(page, 'state')];
  const did = async () => states.push(await probe(page, 'state'));
  await page.keyboard.press('ArrowUp');
  await did();
  await page.getByLabel('Solver').selectOption('levenberg_marquardt');
  await did();
  await page.locator('canvas.stage').focus();
  await page.keyboard.press('j');
  await page.keyboard.press('k');
  await did();
  await page.keyboard.press('p');
  await did();
  assert.equal(states[4].targets.at(-1).kind, 'pin');
  assert.equal(states[3].locked.length, 1);
  for (let i = 3; i >= 0; i--) {
    await page.keyboard.press('Control+z');
    assert.deepEqual(await probe(page, 'state'), states[i]);
  }
  for (let i = 1; i <= 4; i++) {
    await page.keyboard.press('Control+Shift+z');
    assert.deepEqual(await probe(page, 'state'), states[i]);
  }
}));

test('a joint that was moved by hand is the one that a goal is added for; goals have names and weights to read', on('?scene=arm7', {}, async (page) => {
  await until(page, () => /reached · 0 iterations$/.test(document.querySelector('.status').textContent)); // no time of nothing
  await page.getByText('Joints', { exact: true }).click();
  await page.getByLabel('upper_arm_roll, value').fill('20');
  await page.keyboard.press('Enter');
  await page.getByText('Add for upper_arm_roll:').waitFor();
  await page.getByRole('button', { name: 'Reach: a point' }).click();
  await page.locator('.goals .name', { hasText: 'Reach upper_arm_roll' }).waitFor();
  await page.getByLabel('Weight of the goal of upper_arm_roll').fill('1');
  assert.equal(await page.locator('.goals .weight output').last().textContent(), '10');
  const isCut = await page.locator('.goals .name').evaluateAll((list) => list.some((name) => name.scrollWidth > name.clientWidth));
  assert.equal(isCut, false);
}));

test('a pinned body stays while another goal pulls; a locked joint keeps its value', on('?scene=humanoid', {}, async (page) => {
  await page.getByText('Joints', { exact: true }).click();
  const picks = page.locator('.joint .name');
  await picks.filter({ hasText: 'left_ankle' }).first().click();
  await page.keyboard.press('p');
  await page.keyboard.press('Escape');
  await picks.filter({ hasText: 'right_wrist' }).first().click();
  await page.keyboard.press('1');
  const foot = await probe(page, 'tip', 0);
  for (let i = 0; i < 10; i++) {
    await page.keyboard.press('ArrowUp');
  }
  assert.ok(distance(await probe(page, 'tip', 0), foot) < 0.01);
  assert.ok(distance(await probe(page, 'tip', 1), await target(page, 1)) < 0.05);
}));

test('the lamp keeps its posture and looks at the goal', on('?scene=lamp', {}, async (page) => {
  await page.getByLabel('Take the posture sad').click();
  for (let i = 0; i < 8; i++) {
    await page.keyboard.press('ArrowUp');
  }
  const last = await probe(page, 'last');
  assert.equal(last.outcome, 'reached');
  assert.ok(last.angle < 1e-3);
}));

test('solver and scene take little of a frame while the dancer is pulled', on('?scene=humanoid/walk', {}, async (page) => {
  await page.keyboard.press('1');
  await page.keyboard.press(' ');
  const solver = [];
  const from = await place(page);
  await page.mouse.move(from.x, from.y);
  await page.mouse.down();
  const before = (await probe(page, 'frameTimes')).length;
  for (let i = 0; i < 60; i++) {
    await page.mouse.move(from.x + 80 * Math.sin(i / 8), from.y - i / 2);
    await page.waitForTimeout(8);
    solver.push((await probe(page, 'last')).milliseconds);
  }
  await page.mouse.up();
  const times = (await probe(page, 'frameTimes')).slice(before).sort((a, b) => a - b);
  const at = (list, part) => list.sort((a, b) => a - b)[Math.floor(part * (list.length - 1))];
  console.log(`dancer, a goal dragged: solver ${at(solver, 0.5).toFixed(2)} ms (median), frame ${at(times, 0.5).toFixed(2)} ms (median), ${at(times, 0.95).toFixed(2)} ms (95 %), ${times.length} frames`);
  assert.ok(times.length >= 10);
  // the bounds hold with room to spare on an idle machine; others share that of a test
  assert.ok(at(times, 0.5) < 16);
  assert.ok(at(solver, 0.25) < 4);
}));
