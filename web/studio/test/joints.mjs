// Joints by hand: sliders, numbers, links that are dragged, values that follow.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { drag, drop, on, probe, said, until } from './browser.mjs';

const openJoints = (page) => page.getByText('Joints', { exact: true }).click();
const number = (page, name) => page.getByLabel(`${name}, value`, { exact: true });
const distance = (a, b) => Math.hypot(...a.map((x, i) => x - b[i]));

test('a slider and a number move their joint alone, and the goal goes along', on('?scene=arm7', {}, async (page) => {
  await openJoints(page);
  const name = await page.locator('.joint input[type=range]').nth(3).getAttribute('aria-label');
  const before = await probe(page, 'state');
  for (const [how, set] of [
    ['slider', async () => page.getByLabel(name, { exact: true }).fill('-1.1')],
    ['number', async () => { await number(page, name).fill('-40'); await number(page, name).press('Enter'); }],
  ]) {
    await set();
    const wanted = how === 'slider' ? -1.1 : -40 * (Math.PI / 180);
    await until(page, () => globalThis.studio.settled());
    const { q, targets } = await probe(page, 'state');
    assert.ok(Math.abs(q[3] - wanted) < 1e-9, `${how}: ${q[3]}`);
    q.forEach((x, i) => i === 3 || assert.ok(Math.abs(x - before.q[i]) < 1e-9, `${how} moves number ${i}, too`));
    assert.ok(distance(targets[0].position, before.targets[0].position) > 0.01);
    assert.ok(distance(await probe(page, 'tip', 0), targets[0].position) < 1e-9);
  }
  await page.keyboard.press('Control+z');
}));

test('a number outside the limits becomes the limit, which the slider shows', on('?scene=arm7', {}, async (page) => {
  await openJoints(page);
  const dial = page.locator('.dial').nth(1);
  const [, upper] = await dial.locator('.ends span').allTextContents();
  const input = dial.locator('input[type=number]');
  await input.fill('720');
  await input.press('Enter');
  await page.locator('canvas.stage').focus();
  await until(page, (x) => document.querySelectorAll('.dial')[1].querySelector('input[type=number]').value === x, upper);
}));

test('values follow a goal that is dragged and a motion that plays', on('?scene=arm7', {}, async (page) => {
  await openJoints(page);
  const values = () => page.locator('.dial input[type=number]').evaluateAll((list) => list.map((input) => input.value));
  const agree = async () => until(page, () => {
    const { q } = globalThis.studio.state();
    return Array.from(document.querySelectorAll('.dial input[type=range]')).every((slider, i) => Math.abs(slider.value - q[i]) < 1e-3);
  });
  const before = await values();
  const from = await probe(page, 'project', (await probe(page, 'state')).targets[0].position);
  await drag(page, from, { x: from.x - 60, y: from.y + 40 });
  await agree();
  assert.notDeepEqual(await values(), before);
  await page.getByLabel('Scene', { exact: true }).selectOption('humanoid/walk');
  const early = await values();
  await until(page, (list) => Array.from(document.querySelectorAll('.dial input[type=number]')).filter((input, i) => input.value !== list[i]).length > 10, early);
  await page.keyboard.press(' ');
  await agree();
}));

test('a joint set by hand stops a motion, and says so until the time moves', on('?scene=humanoid/walk', {}, async (page) => {
  await openJoints(page);
  const slider = page.locator('.joint', { hasText: 'left_knee' }).locator('input[type=range]').first();
  await slider.fill('1.2');
  await until(page, () => /posed by hand/.test(document.querySelector('.status').textContent));
  assert.equal(await page.getByLabel('Play or pause (space)').getAttribute('aria-pressed'), 'false');
  await page.locator('canvas.stage').focus();
  await page.keyboard.press('.');
  await until(page, () => !/posed by hand/.test(document.querySelector('.status').textContent));
}));

test('a link is dragged: with the goals of other bodies held, and without goals', on('?scene=arm7', {}, async (page) => {
  const bodies = await probe(page, 'bodies');
  const names = Object.keys(bodies);
  const elbow = names[3];
  const tip = await probe(page, 'tip', 0);
  const middle = bodies[elbow];
  const from = await probe(page, 'project', middle);
  await drag(page, from, { x: from.x + 50, y: from.y + 10 }, 20);
  const after = await probe(page, 'bodies');
  assert.ok(distance(after[elbow], middle) > 0.01, `the elbow moves by ${distance(after[elbow], middle)}`);
  await until(page, () => globalThis.studio.settled());
  assert.ok(distance(await probe(page, 'tip', 0), tip) < 1e-3, 'the hand stays');
  await page.keyboard.press('Delete');
  const alone = await probe(page, 'project', after[elbow]);
  await drag(page, alone, { x: alone.x - 60, y: alone.y }, 20);
  assert.ok(distance((await probe(page, 'bodies'))[elbow], after[elbow]) > 0.01);
  assert.equal((await probe(page, 'state')).targets.length, 0);
  assert.equal(await probe(page, 'withinLimits'), true);
}));

test('all values are copied as a list, JSON and YAML', on('?scene=humanoid', { permissions: ['clipboard-read', 'clipboard-write'] }, async (page) => {
  await openJoints(page);
  const { q } = await probe(page, 'state');
  const copy = async (form) => {
    await page.getByLabel(`Copy all joint values as ${form}, in radians`).click();
    await said(page, new RegExp(`in the clipboard, as ${form}`));
    return page.evaluate(() => navigator.clipboard.readText());
  };
  assert.deepEqual(JSON.parse(await copy('list')), q);
  const json = JSON.parse(await copy('JSON'));
  assert.deepEqual(Object.values(json), q);
  assert.equal(Object.keys(json).length, q.length);
  const yaml = (await copy('YAML')).split('\n').map((line) => line.split(': '));
  assert.deepEqual(yaml.map(([name, value]) => [name, Number(value)]), Object.entries(json));
}));

test('a number that is written, and a click that ends it, outlast the panel being made anew', on('?scene=arm7', {}, async (page) => {
  await openJoints(page);
  const number = page.locator('.dial input[type=number]').first();
  await number.focus();
  await page.evaluate(() => globalThis.studio.switchTheme()); // nothing is written yet: what is written takes the place of what is there
  await page.keyboard.type('2');
  await page.evaluate(() => globalThis.studio.switchTheme());
  await page.keyboard.type('0');
  const other = page.locator('.joint .name').nth(2);
  const name = await other.textContent();
  await other.click(); // takes the number, and picks the joint
  assert.ok(Math.abs((await probe(page, 'state')).q[0] - Math.PI / 9) < 1e-9);
  assert.deepEqual(await page.locator('.joint.chosen .name').allTextContents(), [name]);
  assert.match(await number.inputValue(), /^20(\.0*)?$/);
}));

const ball = `<mujoco><worldbody><body name="a"><joint type="ball"/><geom size=".1"/><body name="b" pos="0 0 .5"><joint name="h" axis="0 1 0" range="-45 45"/><geom size=".1"/></body></body></worldbody></mujoco>`;

test('axes of a joint of several degrees have names, and a quaternion turns about x, y and z', on('?scene=humanoid', {}, async (page) => {
  await openJoints(page);
  const labels = await page.locator('.dial .axis').allTextContents();
  assert.ok(labels.includes('x') && labels.some((label) => /swing|turn|vector/.test(label)), labels.slice(0, 12).join());
  await drop(page, { name: 'ball.xml', bytes: Buffer.from(ball) });
  assert.deepEqual(await page.locator('.dial .axis').allTextContents(), ['turn X', 'turn Y', 'turn Z']);
  const turn = page.locator('.dial input[type=number]').first();
  await turn.fill('90');
  await turn.press('Enter');
  const { q } = await probe(page, 'state');
  [Math.SQRT1_2, 0, 0, Math.SQRT1_2].forEach((x, i) => assert.ok(Math.abs(q[i] - x) < 1e-6, q.join()));
}));

test('an emptied number shows the joint again; one beyond a limit says where that is', on('?scene=arm7', {}, async (page) => {
  await openJoints(page);
  const name = await page.locator('.joint input[type=range]').nth(3).getAttribute('aria-label');
  const before = await number(page, name).inputValue();
  await number(page, name).fill('');
  await number(page, name).press('Enter');
  assert.equal(await number(page, name).inputValue(), before);
  await number(page, name).fill('500');
  await number(page, name).press('Enter');
  await said(page, /: 500° is beyond its limits, it stands at -?[\d.]+°\. It goes from -?[\d.]+ to -?[\d.]+°\./);
  const { q } = await probe(page, 'state');
  assert.equal(await number(page, name).inputValue(), (q[3] * (180 / Math.PI)).toFixed(1));
}));

// limits of more than half a turn, and none at all
const wide = `<robot name="wide"><link name="base"/><link name="upper"/><link name="fore"/>
<joint name="far" type="revolute"><parent link="base"/><child link="upper"/><axis xyz="0 0 1"/><limit lower="-6.2831853" upper="6.2831853" effort="1" velocity="1"/></joint>
<joint name="open" type="continuous"><parent link="upper"/><child link="fore"/><origin xyz="1 0 0"/><axis xyz="0 1 0"/></joint></robot>`;

test('a slider goes from limit to limit, also beyond half a turn, and an open joint from where it is', on('?scene=arm7', {}, async (page) => {
  await drop(page, { name: 'wide.urdf', bytes: Buffer.from(wide) });
  await page.evaluate(() => document.querySelectorAll('aside details').forEach((details) => (details.open = true)));
  for (const [i, name] of ['far', 'open'].entries()) {
    const number = page.getByLabel(`${name}, value`);
    await number.fill('300');
    await number.press('Enter');
    const slider = page.getByLabel(name, { exact: true });
    await slider.focus();
    await slider.press('ArrowLeft');
    const degrees = ((await probe(page, 'state')).q[i] * 180) / Math.PI;
    assert.ok(degrees > 285 && degrees < 300, `${name}: ${degrees}`);
  }
  assert.ok(Math.abs(Number(await page.getByLabel('far', { exact: true }).getAttribute('max')) - 2 * Math.PI) < 1e-6);
}));
