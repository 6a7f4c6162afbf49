// Methods beside each other: the race and the map of two links.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { atRest, notice, on, probe } from './browser.mjs';
import { compare } from './pictures.mjs';

test('a race draws one line for each method, in a colour of its own, and a table', on('?scene=arm7', {}, async (page) => {
  // a clock like those of browsers, which go by tenths of a millisecond: here each look at it takes three hundredths
  await page.evaluate(() => {
    let looks = 0;
    performance.now = () => Math.floor(0.3 * looks++) / 10;
  });
  await page.getByLabel('Race all methods (R)').click();
  const colours = await page.locator('.legend .swatch').evaluateAll((list) => list.map((box) => box.style.background));
  assert.ok(colours.length >= 8);
  assert.equal(new Set(colours).size, colours.length);
  assert.match(await page.locator('.legend tbody tr', { hasText: 'Auto' }).textContent(), /reached/);
  const heights = await page.locator('.legend tbody tr').evaluateAll((rows) => rows.map((row) => row.getBoundingClientRect().height));
  assert.ok(Math.max(...heights) < 30, `each method has one line, not ${Math.max(...heights)} pixels`);
  assert.match(await page.locator('.legend').getAttribute('class'), /more/); // rows lie below the edge
  const times = await page.locator('.legend tbody tr td:last-child').allTextContents();
  times.forEach((time) => assert.match(time, /^(29\.\d|30\.\d) µs$/)); // two digits, of a clock that tells 0 from 100
  await compare(page, 'race', '.plot canvas');
}));

test('a race begins where it is told to, shows the pose of a curve, and is saved', on('?scene=arm2d', {}, async (page) => {
  await page.keyboard.press('r');
  const state = await probe(page, 'state');
  const costs = async () => {
    const [file] = await Promise.all([page.waitForEvent('download'), page.getByLabel('Save the race as CSV').click()]);
    const rows = readFileSync(await file.path(), 'utf8').trim().split('\n').map((line) => line.split(','));
    assert.deepEqual(rows[0], ['method', 'iteration', 'cost']);
    return rows.slice(1).filter(([method]) => method === 'gradient_descent').map(([, , cost]) => Number(cost));
  };
  const rest = await costs();
  await page.getByLabel('Start', { exact: true }).selectOption('random');
  const random = await costs();
  assert.notEqual(random[0], rest[0]);
  await page.getByLabel('Start', { exact: true }).selectOption('rest');
  assert.deepEqual(await costs(), rest);
  await page.getByLabel('Show where Gradient descent ends').click();
  const ended = await probe(page, 'state');
  assert.match((await notice(page)).text, /Gradient descent after \d+ iterations/);
  const path = await probe(page, 'path', 'gradient_descent');
  assert.deepEqual(ended.q, path.at(-1));
  assert.notDeepEqual(ended.q, state.q);
  const box = await page.locator('.plot canvas').boundingBox();
  await page.mouse.click(box.x + 66, box.y + 12); // where all begin, at the upper left
  assert.match((await notice(page)).text, /after 0 iterations/);
  assert.deepEqual((await probe(page, 'state')).q, path[0]);
}));

test('the way on the map is that of one solve, from a start that a click places', on('?scene=twolink', {}, async (page) => {
  await page.getByText('positive definite', { exact: true }).waitFor();
  await compare(page, 'map', '.plot canvas');
  const goal = (await probe(page, 'state')).targets[0].position;
  await page.evaluate(() => (document.querySelector('.legend').scrollTop = 20));
  await page.getByText('Large map, all methods').click();
  assert.ok((await page.locator('.legend tbody tr').count()) >= 10);
  const canvas = page.locator('.plot canvas');
  const { x, y, width, height } = await canvas.boundingBox();
  assert.ok(height > 380, `${height} pixels high`);
  const stage = await page.locator('canvas.stage').boundingBox();
  const above = (await probe(page, 'project', goal)).y - stage.y;
  assert.ok(above > 0.125 * stage.height, `the arrows of the goal have ${above} of ${stage.height} pixels`);
  assert.equal(await page.evaluate(() => document.querySelector('.legend').scrollTop), 0);
  const size = Math.min(width - 60, height - 26);
  await page.mouse.click(x + Math.max(40, (width - size) / 2) + 0.75 * size, y + 6 + 0.25 * size);
  const path = await probe(page, 'path', 'auto');
  path[0].forEach((angle) => assert.ok(Math.abs(angle - Math.PI / 2) < 0.02, `${path[0]}`));
  await page.screenshot({ path: `${process.env.SHOTS ?? 'build/pictures'}/map-large.png` });
  assert.deepEqual((await probe(page, 'state')).targets[0].position, goal);
  await page.keyboard.press('r');
  const auto = await page.locator('.legend tbody tr', { hasText: 'Auto' }).locator('td').allTextContents();
  assert.deepEqual(auto.slice(1, 3), ['reached', String(path.length - 1)]);
  await page.getByLabel('Show where Auto (exact Newton) ends').click();
  assert.deepEqual((await probe(page, 'state')).q, path.at(-1));
}));

test('the status line tells of the work that an action took', on('?scene=arm7', {}, async (page) => {
  await page.keyboard.press('ArrowLeft');
  await page.keyboard.press('ArrowLeft');
  await atRest(page);
  assert.match(await page.locator('.status').textContent(), /reached · [1-9]\d* iterations/);
}));
