// The page itself: keyboard, labels, links, themes, a phone.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { notice, on, open, probe, until } from './browser.mjs';
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

test('every control has a name', on('?scene=humanoid/walk', {}, async (page) => {
  await page.keyboard.press('1');
  await page.keyboard.press('t');
  await page.evaluate(() => document.querySelectorAll('details').forEach((details) => (details.open = true)));
  const nameless = await page.evaluate(() =>
    Array.from(document.querySelectorAll('button, input, select, canvas'))
      .filter((control) => {
        const label = control.getAttribute('aria-label') ?? (control.labels?.[0]?.textContent || control.textContent);
        return !label?.trim() && !control.closest('[hidden]');
      })
      .map((control) => control.outerHTML),
  );
  assert.deepEqual(nameless, []);
  assert.equal(await page.evaluate(() => document.documentElement.lang), 'en');
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

test('light and dark are both readable', async () => {
  const { page, finish } = await open('?scene=lamp', { colorScheme: 'light' });
  const contrast = () => {
    const bright = (text) => text.match(/[\d.]+/g).slice(0, 3).map((x) => ((x / 255 + 0.055) / 1.055) ** 2.4).reduce((sum, x, i) => sum + x * [0.2126, 0.7152, 0.0722][i], 0);
    return Array.from(document.querySelectorAll('header button:not(:disabled), summary, .choice span, .status')).map((at) => {
      let ground = at;
      while (/, 0\)|transparent/.test(getComputedStyle(ground).backgroundColor)) {
        ground = ground.parentElement;
      }
      const [a, b] = [bright(getComputedStyle(at).color), bright(getComputedStyle(ground).backgroundColor)].sort((x, y) => y - x);
      return { what: at.textContent, ratio: (a + 0.05) / (b + 0.05) };
    });
  };
  for (const theme of ['light', 'dark']) {
    assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), theme);
    for (const { what, ratio } of await page.evaluate(contrast)) {
      assert.ok(ratio >= 4.5, `${theme}: ${what} has a contrast of ${ratio.toFixed(1)}`);
    }
    await page.evaluate(() => document.querySelector('.notice button')?.click());
    await page.waitForTimeout(100);
    await compare(page, `theme-${theme}`, 'body');
    await page.keyboard.press('d');
  }
  await finish();
});

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
  assert.ok((await notice(page)).text.length > 0);
}));
