// The page itself: keyboard, labels, links, themes, a phone.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { atRest, on, open, probe, said, until } from './browser.mjs';
import { compare } from './pictures.mjs';

test('a shared link restores scene, goals, method and pose', on('?scene=hand', {}, async (page) => {
  await page.keyboard.press('ArrowUp');
  await page.keyboard.press('ArrowUp');
  await page.getByLabel('Solver').selectOption('lbfgs');
  await page.getByLabel('Copy a link to this (L)').click();
  await until(page, () => location.hash.length > 10);
  const state = await probe(page, 'state');
  const link = page.url();
  const { page: other, finish } = await open(link.slice(link.indexOf('#')));
  const restored = await probe(other, 'state');
  assert.equal(await probe(other, 'title'), 'Hand');
  assert.deepEqual(restored.targets, state.targets);
  assert.equal(restored.method, 'lbfgs');
  restored.q.forEach((x, i) => assert.ok(Math.abs(x - state.q[i]) < 1e-6));
  await finish();
}));

test('a damaged link is told', on('#bm9uc2Vuc2U', {}, async (page) => {
  await until(page, () => document.querySelector('.notice.bad')?.textContent.includes('damaged'));
}));

test('Tab reaches every control, and focus is seen', on('?scene=lamp', {}, async (page) => {
  const visible = () => {
    const all = Array.from(document.querySelectorAll('button:not(:disabled), select, input, summary, canvas[tabindex]'));
    return all.filter((control) => control.checkVisibility() && control.type !== 'file').length;
  };
  const count = await page.evaluate(visible);
  await page.locator('header select').focus();
  let reached = 1;
  for (; reached < count + 5; reached++) {
    await page.keyboard.press('Tab');
    const place = await page.evaluate(() => {
      const at = document.activeElement;
      return at === document.body ? 'out' : getComputedStyle(at).outlineStyle;
    });
    if (place === 'out') {
      break;
    }
    assert.notEqual(place, 'none');
  }
  assert.equal(reached, count);
}));

test('the keyboard alone opens a scene, moves and turns its goal, and undoes it', on('', {}, async (page) => {
  await page.keyboard.press('Tab');
  await page.keyboard.type('Arm with six');
  assert.equal(await probe(page, 'title'), 'Arm with six joints');
  while ((await page.evaluate(() => document.activeElement.tagName)) !== 'CANVAS') {
    await page.keyboard.press('Tab');
  }
  const { targets } = await probe(page, 'state');
  await page.keyboard.press('ArrowUp');
  await page.keyboard.press('e');
  await page.keyboard.press('ArrowLeft');
  const moved = (await probe(page, 'state')).targets;
  assert.ok(moved[0].position[2] > targets[0].position[2]);
  assert.notDeepEqual(moved[0].rotation, targets[0].rotation);
  await page.keyboard.press('Control+z');
  await page.keyboard.press('Control+z');
  assert.deepEqual((await probe(page, 'state')).targets, targets);
  await page.keyboard.press('?');
  await page.getByRole('dialog').waitFor();
  await page.keyboard.press('Escape');
  await until(page, () => !document.querySelector('dialog'));
}));

test('a slider keeps the focus while it is moved by keys', on('?scene=arm7', {}, async (page) => {
  await page.getByText('Joints', { exact: true }).click();
  const slider = page.locator('.joint input[type=range]').nth(2);
  const name = await slider.getAttribute('aria-label');
  await slider.focus();
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('ArrowRight');
  assert.equal(await page.evaluate(() => document.activeElement.getAttribute('aria-label')), name);
}));

test('light and dark look as they did', on('?scene=lamp', { colorScheme: 'light' }, async (page) => {
  for (const theme of ['light', 'dark']) {
    assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), theme);
    await page.evaluate(() => document.querySelector('.notice button')?.click());
    await atRest(page);
    await compare(page, `theme-${theme}`, 'body');
    await page.keyboard.press('d');
  }
}));

test('a stage of another size is drawn, with what lies over it, before the page is painted', on('', { viewport: { width: 844, height: 390 } }, async (page) => {
  await page.evaluate(() => document.body.classList.add('panel-hidden'));
  await atRest(page);
  const { drawn, right, edge } = await page.evaluate(async () => {
    const before = globalThis.studio.graphics().drawn;
    document.body.classList.remove('panel-hidden');
    await new Promise((done) => requestAnimationFrame(() => {
      const { port1, port2 } = new MessageChannel(); // the next task, once this frame is laid out
      port1.onmessage = done;
      port2.postMessage(0);
    }));
    return { drawn: globalThis.studio.graphics().drawn - before, right: document.querySelector('.invite .words').getBoundingClientRect().right, edge: document.querySelector('main').getBoundingClientRect().right };
  });
  assert.ok(drawn >= 1);
  assert.ok(right <= edge, `the words end at ${right}, the stage at ${edge}`);
}));

for (const [width, height] of [[390, 844], [360, 640], [844, 390], [1024, 768]]) {
  test(`the words at the first goal lie beside the arm: ${width} x ${height}`, on('', { viewport: { width, height } }, async (page) => {
    await atRest(page);
    const words = await page.locator('.invite .words').boundingBox();
    const joints = await page.evaluate(() => Object.values(globalThis.studio.bodies()).map((at) => globalThis.studio.project(at)));
    assert.ok(words.x >= 0 && words.x + words.width <= width);
    joints.slice(1).forEach((b, i) => {
      for (let part = 0; part <= 1; part += 0.05) {
        const [x, y] = [joints[i].x + part * (b.x - joints[i].x), joints[i].y + part * (b.y - joints[i].y)];
        const isUnder = x > words.x && x < words.x + words.width && y > words.y && y < words.y + words.height;
        assert.ok(!isUnder, `the arm at (${x.toFixed(0)}, ${y.toFixed(0)}) lies under the words at ${JSON.stringify(words)}`);
      }
    });
  }));
}

test('a panel that was hidden in a narrow window comes back in a wide one', on('?scene=arm7', { viewport: { width: 390, height: 844 } }, async (page) => {
  assert.ok(await page.locator('aside').isHidden());
  await page.setViewportSize({ width: 1280, height: 720 });
  await page.getByLabel('Show or hide the panel').click();
  assert.ok(await page.locator('aside').isVisible());
}));

test('a phone shows stage and menu without scrolling sideways, and goals can be dragged by a finger', async () => {
  const { page, finish, context } = await open('?scene=arm7', { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true, deviceScaleFactor: 2 });
  const { width, overflow } = await page.evaluate(() => ({ width: document.querySelector('canvas.stage').clientWidth, overflow: document.documentElement.scrollWidth }));
  assert.equal(width, 390);
  assert.ok(overflow <= 390);
  const small = await page.locator('header button').evaluateAll((list) => list.filter((b) => b.checkVisibility() && b.getBoundingClientRect().height < 38).map((b) => b.title));
  assert.deepEqual(small, []);
  await page.evaluate(() => document.querySelector('.notice button')?.click());
  await compare(page, 'phone', 'body');
  const at = await probe(page, 'project', (await probe(page, 'state')).targets[0].position);
  const client = await context.newCDPSession(page);
  const touch = (type, x, y) => client.send('Input.dispatchTouchEvent', { type, touchPoints: type === 'touchEnd' ? [] : [{ x, y }] });
  const before = (await probe(page, 'state')).targets[0].position;
  await touch('touchStart', at.x, at.y);
  for (let i = 1; i <= 8; i++) {
    await touch('touchMove', at.x - 6 * i, at.y + 5 * i);
  }
  await touch('touchEnd');
  assert.notDeepEqual((await probe(page, 'state')).targets[0].position, before);
  await page.getByLabel('Show or hide the panel').tap();
  await page.getByLabel('Solver').waitFor();
  await page.screenshot({ path: `${process.env.SHOTS ?? 'build/pictures'}/phone-panel.png` });
  await finish();
});

test('the first scene comes without a query, with a hint', on('', {}, async (page) => {
  assert.equal(await probe(page, 'title'), 'Arm with seven joints');
  await said(page, /Move and turn the hand/);
}));

test('a splash says that the studio loads, until it is there, and why it does not come', on('', {}, async (page) => {
  let release = null;
  const held = new Promise((done) => (release = done));
  await page.route('**/poise.wasm.gz', async (route) => {
    await held;
    await route.continue();
  });
  await page.reload({ waitUntil: 'commit' });
  await page.locator('.splash').getByText('Loading Poise studio').waitFor();
  assert.equal(await page.evaluate(() => 'studio' in globalThis), false);
  release();
  await until(page, () => 'studio' in globalThis);
  assert.equal(await page.locator('.splash').count(), 0);
  await page.unroute('**/poise.wasm.gz');
  await page.route('**/poise.wasm.gz', (route) => route.fulfill({ status: 200, body: 'no engine' }));
  await page.reload({ waitUntil: 'commit' });
  await page.locator('.splash.failed').getByText('Poise studio could not start:').waitFor();
}));
