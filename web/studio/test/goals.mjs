// Goals: dragged, pinned, raced for, undone.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { atRest, drag, drop, on, probe, said, until } from './browser.mjs';
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
    await atRest(page);
    assert.match(await page.locator('.status').textContent(), /reached · [1-9]\d* iteration/); // of the drag, not of the look at its end
  }));
}

test('a goal out of reach is followed as near as it gets', on('?scene=arm2d', {}, async (page) => {
  const from = await place(page);
  await drag(page, from, { x: from.x + 420, y: from.y - 10 });
  await until(page, () => document.querySelector('.status').dataset.tone === 'fair');
  assert.match(await page.locator('.status').textContent(), /out of reach: .* the chain is .* long · .* away/);
  assert.equal(await probe(page, 'withinLimits'), true);
}));

const link = (name, content = '') => `<link name="${name}">${content}</link>`;
const hinge = (name, parent, child, x, lower, upper) =>
  `<joint name="${name}" type="revolute"><parent link="${parent}"/><child link="${child}"/><origin xyz="${x} 0 0"/><axis xyz="0 1 0"/><limit lower="${lower}" upper="${upper}" effort="1" velocity="1"/></joint>`;
const digger = `<robot name="digger">${['base', 'boom', 'stick', 'claw'].map((name) => link(name)).join('')}${hinge('shoulder', 'base', 'boom', 0, -2, 2)}${hinge('elbow', 'boom', 'stick', 0.5, -2, 2)}${hinge('finger', 'stick', 'claw', 0.3, 0.2, 1)}
<link name="tip"/><joint name="end" type="fixed"><parent link="claw"/><child link="tip"/><origin xyz="0.1 0 0"/></joint></robot>`;

test('a target that no limit keeps away is out of reach; a limit is named where it matters', on('?scene=arm7', {}, async (page) => {
  await drop(page, { name: 'digger.urdf', bytes: Buffer.from(digger) });
  const saidOf = async (position) => {
    await probe(page, 'moveGoal', 0, position);
    await atRest(page);
    return { text: await page.locator('.status').textContent(), tinted: await probe(page, 'tinted') };
  };
  // stretched towards a point 3 m away, the finger lies at its limit, which is not what keeps it from there
  const far = await saidOf([3, 0, 0]);
  assert.match(far.text, /^out of reach: 3\.00 m from shoulder, the chain is 900 mm long · 2\.10 m away · \d/);
  assert.deepEqual(far.tinted, []);
  // 899.5 mm away: the bent finger alone keeps it from there
  const near = await saidOf([0.8995, 0, 0]);
  assert.match(near.text, /as near as it gets · .* mm away · 1 limit holds: finger/);
  assert.deepEqual(near.tinted, ['claw']);
  assert.match((await saidOf([0.6, 0, 0.2])).text, /^reached/);
}));

test('of several goals the one that is missed is named', on('?scene=arm7', {}, async (page) => {
  await drop(page, { name: 'digger.urdf', bytes: Buffer.from(digger) });
  await page.getByLabel('Pick boom').or(page.getByLabel('Pick elbow')).first().waitFor({ state: 'attached' });
  await page.keyboard.press('j');
  await page.keyboard.press('p');
  await probe(page, 'moveGoal', 0, [0.2, 0, 0.6]);
  await atRest(page);
  const text = await page.locator('.status').textContent();
  assert.match(text, / · (Reach|Pose|Pin) \w+: [\d.]+ mm away/);
}));

const crawler = `<mujoco model="crawler"><worldbody><body name="trunk" pos="0 0 1"><freejoint name="base"/><geom size="0.2"/>
<body name="thigh" pos="0.2 0 0"><joint name="hip" axis="0 1 0"/><geom size="0.1"/><body name="foot" pos="0 0 -0.5"><joint name="knee" axis="0 1 0"/><geom size="0.1"/></body></body></body></worldbody></mujoco>`;

test('a free root that goes to a goal as a whole is told, and how to hold it', on('?scene=arm7', {}, async (page) => {
  await drop(page, { name: 'crawler.xml', bytes: Buffer.from(crawler) });
  const [x, y, z] = await target(page);
  await probe(page, 'moveGoal', 0, [x, y, z + 0.5]);
  await said(page, /^trunk is free, and the whole skeleton moved along\. Lock base in the panel, or pin a foot \(P\)/);
}));

// two links; some targets are met with the elbow on one side only
const hook = `<robot name="hook"><link name="base"/><link name="upper"/><link name="fore"/><link name="tool"/>
<joint name="shoulder" type="revolute"><parent link="base"/><child link="upper"/><axis xyz="0 0 1"/><limit lower="-1.75" upper="1.75" effort="1" velocity="1"/></joint>
<joint name="elbow" type="revolute"><parent link="upper"/><child link="fore"/><origin xyz="1 0 0"/><axis xyz="0 0 1"/><limit lower="-2.6" upper="2.6" effort="1" velocity="1"/></joint>
<joint name="tip" type="fixed"><parent link="fore"/><child link="tool"/><origin xyz="1 0 0"/></joint></robot>`;

test('a goal that the arm is stuck before is met by another pose, once it is let go or rests', on('?scene=arm7', {}, async (page) => {
  const status = () => page.locator('.status').textContent();
  await drop(page, { name: 'hook.urdf', bytes: Buffer.from(hook) });
  const bend = async () => { // the elbow to one side; 0 before
    await probe(page, 'moveGoal', 0, [1.4, 0.35, 0]);
    await atRest(page);
    const side = Math.sign((await probe(page, 'state')).q[1]);
    return { side, stuck: [-0.2, -0.8 * side, 0] };
  };
  const { side, stuck } = await bend();
  await probe(page, 'moveGoal', 0, stuck);
  await atRest(page);
  await until(page, () => /^reached by another pose/.test(document.querySelector('.status').textContent));
  assert.equal(Math.sign((await probe(page, 'state')).q[1]), -side);
  assert.ok(distance(await probe(page, 'tip', 0), stuck) < 1e-5);
  await page.keyboard.press('Control+z'); // to where it was before
  await atRest(page);
  assert.match(await status(), /^reached/);

  const again = await bend();
  await probe(page, 'moveGoal', 0, again.stuck, false); // still held
  await until(page, () => /^(not reached from here|reached by another pose)/.test(document.querySelector('.status').textContent)); // never as near as it gets
  await until(page, () => /^reached by another pose/.test(document.querySelector('.status').textContent));
  assert.equal(Math.sign((await probe(page, 'state')).q[1]), -again.side);
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
    await until(page, () => globalThis.studio.last().outcome !== 'budget');
    const { method: now } = await probe(page, 'state');
    const size = await probe(page, 'size');
    const off = distance(await probe(page, 'tip', 0), await target(page));
    assert.ok(now === method ? off < 0.01 * size : now === 'auto', `${method}: ${off}`);
  }
}));

test('a race without a goal says what is missing', on('?scene=humanoid', {}, async (page) => {
  await page.keyboard.press('r');
  await said(page, /Add a goal first/);
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

test('a click at the origin leaves a goal that was not drawn yet where it is', on('?scene=humanoid', {}, async (page) => {
  await page.keyboard.press('1');
  await atRest(page);
  const wrong = await page.evaluate(() => {
    const { studio } = globalThis;
    const canvas = document.querySelector('canvas.stage');
    canvas.setPointerCapture = canvas.releasePointerCapture = () => {}; // no pointer of the system is there
    document.body.dispatchEvent(new KeyboardEvent('keydown', { key: '1', bubbles: true }));
    const { targets } = studio.state();
    const { x, y } = studio.project([0, 0, 0]);
    for (const [dx, dy] of [[0, 0], [0, -40], [30, 0], [8, -8], [-30, 0]]) {
      const point = (type, by, buttons) => canvas.dispatchEvent(new PointerEvent(type, { clientX: x + dx + by, clientY: y + dy, pointerId: 1, isPrimary: true, button: type === 'pointermove' ? -1 : 0, buttons, pointerType: 'mouse', bubbles: true }));
      point('pointerdown', 0, 1);
      point('pointermove', 1, 1);
      point('pointerup', 1, 0);
    }
    const now = studio.state().targets;
    return targets.filter((target, i) => Math.hypot(...target.position.map((p, k) => p - now[i].position[k])) > 1e-9).map(({ body, position }, i) => [body, position, now[i].position]);
  });
  assert.deepEqual(wrong, []);
}));

test('goals go to ends that something moves', on('?scene=arm6', {}, async (page) => {
  const link = (name, type, more) => `<link name="${name}"/><joint name="to_${name}" type="${type}"><parent link="base"/><child link="${name}"/>${more}</joint>`;
  const hinge = '<origin xyz="0 0 1"/><axis xyz="0 1 0"/><limit lower="-1" upper="1" effort="1" velocity="1"/>';
  const urdf = `<robot name="sign"><link name="base"/>${link('plate', 'fixed', '<origin xyz="1 0 0"/>')}${link('arm', 'revolute', hinge)}${link('wing', 'revolute', hinge)}</robot>`;
  await drop(page, { name: 'sign.urdf', bytes: Buffer.from(urdf) });
  await page.keyboard.press('1');
  const { targets } = await probe(page, 'state');
  const names = await page.locator('.goals').textContent();
  assert.equal(targets.length, 2);
  assert.ok(!/plate/.test(names) && /arm/.test(names) && /wing/.test(names), names);
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

test('while the dancer is pulled, a frame has one solve of a few iterations and one picture; how long they take is told', on('?scene=humanoid/walk', {}, async (page) => {
  await page.keyboard.press('1');
  await page.keyboard.press(' ');
  await atRest(page);
  await page.evaluate(() => {
    globalThis.framesSeen = 0;
    const count = () => { globalThis.framesSeen += 1; requestAnimationFrame(count); };
    requestAnimationFrame(count);
  });
  const counts = async () => ({ frames: await page.evaluate(() => globalThis.framesSeen), solves: (await probe(page, 'frameTimes')).length, pictures: (await probe(page, 'graphics')).drawn });
  const middle = (list) => list.sort((a, b) => a - b)[Math.floor(0.5 * list.length)];
  const solver = [];
  const from = await place(page);
  await page.mouse.move(from.x, from.y);
  await page.mouse.down();
  const before = await counts();
  for (let i = 0; i < 60; i++) {
    await page.mouse.move(from.x + 80 * Math.sin(i / 8), from.y - i / 2);
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))); // until it is solved
    solver.push(await probe(page, 'last'));
  }
  const after = await counts();
  await page.mouse.up();
  const [frames, solves, pictures] = ['frames', 'solves', 'pictures'].map((name) => after[name] - before[name]);
  const iterations = solver.map((last) => last.iterations);
  const times = (await probe(page, 'frameTimes')).slice(before.solves);
  console.log(`dancer, a goal dragged: ${frames} frames, ${solves} solves, ${pictures} pictures, at most ${Math.max(...iterations)} iterations; solver ${middle(solver.map((last) => last.milliseconds)).toFixed(2)} ms, frame ${middle(times).toFixed(2)} ms (medians)`);
  assert.ok(solves >= 30 && solves <= frames + 1 && pictures <= frames + 1, `${solves} solves and ${pictures} pictures in ${frames} frames`);
  assert.ok(middle(iterations) <= 10, `${iterations} iterations`);
}));
