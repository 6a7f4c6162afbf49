// The main views in every size and theme: nothing for axe to mend, nothing cut off or overlapping, room for the stage.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { test } from 'node:test';
import { atRest, drop, LONG, open, said, shots, until } from './browser.mjs';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

const ball = (z) => `<collision><origin xyz="0 0 ${z}"/><geometry><sphere radius="0.2"/></geometry></collision>`;
const hinge = (name, parent, child) => `<joint name="${name}" type="revolute"><parent link="${parent}"/><child link="${child}"/><origin xyz="0 0 0.5"/><axis xyz="0 1 0"/><limit lower="-3" upper="3" effort="1" velocity="1"/></joint>`;
const robot = `<robot name="row"><link name="a">${ball(0)}<visual><geometry><mesh filename="gone.stl"/></geometry></visual></link><link name="b">${ball(0)}</link><link name="c">${ball(0.1)}</link>${hinge('first', 'a', 'b')}${hinge('second', 'b', 'c')}</robot>`;

const scene = (id) => (page) => page.getByLabel('Scene', { exact: true }).selectOption(id);
const press = (...keys) => async (page) => {
  await page.locator('canvas.stage').focus();
  for (const key of keys) {
    await page.keyboard.press(key);
  }
};
const dialog = async (page) => page.locator('dialog').waitFor();
const unfold = (...titles) => (page) =>
  page.evaluate((list) => document.querySelectorAll('aside details').forEach((details) => (details.open = list.includes(details.querySelector('summary').textContent))), titles);

/** Each view: its name, how to come there, and how to leave it. */
const views = [
  ['first', []],
  ['tour', [press('g'), dialog, (page) => page.getByRole('button', { name: /^Drag an arm/ }).click(), (page) => until(page, () => globalThis.studio.tour() === 0)], (page) => page.getByRole('button', { name: 'End the tour' }).click()],
  ['gallery', [press('g'), dialog], press('Escape')],
  ['help', [press('?'), dialog], press('Escape')],
  ['code', [press('c'), dialog], press('Escape')],
  ['keyframes', [press('i', 'ArrowUp'), unfold('Goals', 'Method', 'Posture')]],
  ['joints', [scene('arm7'), unfold('Joints'), press('j', 'j')]],
  ['race', [unfold('View', 'Save as'), press('r')]],
  ['map', [scene('twolink'), (page) => page.getByText('Large map, all methods').click()]],
  ['recording', [scene('humanoid/kick'), press(' ', 't'), (page) => said(page, /frames tracked in .* mean error/), unfold('Markers', 'Goals', 'Joints'), press('1')]],
  ['robot', [scene('arm6'), (page) => drop(page, { name: 'row.urdf', bytes: Buffer.from(robot) }), unfold('View'), (page) => page.getByLabel('Collision shapes').check()]],
];

/** What is wrong with where things are. Runs in the page. */
function untidy() {
  const isSeen = (at) => at.checkVisibility({ visibilityProperty: true }) && at.getBoundingClientRect().width > 0;
  const name = (at) => (at.getAttribute('aria-label') ?? at.textContent).slice(0, 40);
  const wrong = [];
  if (document.documentElement.scrollWidth > innerWidth) {
    wrong.push(`the page is ${document.documentElement.scrollWidth} pixels wide, the window ${innerWidth}`);
  }
  const top = document.querySelector('dialog[open]') ?? document;
  for (const at of top.querySelectorAll('button, select, input, summary')) {
    const box = at.getBoundingClientRect();
    if (isSeen(at) && at.type !== 'file' && (box.left < -1 || box.right > innerWidth + 1)) {
      wrong.push(`${name(at)} lies beyond the edge`);
    }
    if (at.closest('.invite') && box.right > document.querySelector('main').getBoundingClientRect().right) {
      wrong.push(`${name(at)} lies over the panel`);
    }
    if (isSeen(at) && at.tagName === 'BUTTON' && !at.closest('.track') && Math.min(box.width, box.height) < 21) { // keyframes stand where their times are
      wrong.push(`${name(at)} is too small to hit: ${box.width} x ${box.height}`);
    }
    if (isSeen(at) && at.tagName === 'BUTTON' && at.scrollWidth > at.clientWidth + 1) {
      wrong.push(`${name(at)} is cut off`);
    }
  }
  const boxes = Array.from(document.querySelectorAll('main > .status, main > .notice, main > .tour, main > .triad button, main > .invite .words')).filter(isSeen);
  boxes.forEach((a, i) => boxes.slice(i + 1).forEach((b) => {
    const [p, q] = [a.getBoundingClientRect(), b.getBoundingClientRect()];
    const isApart = p.right <= q.left || q.right <= p.left || p.bottom <= q.top || q.bottom <= p.top;
    if (!isApart && !(a.closest('.triad') && b.closest('.triad'))) {
      wrong.push(`${a.className || name(a)} and ${b.className || name(b)} overlap`);
    }
  }));
  return wrong;
}

async function check(page, name, viewport, theme) {
  const where = `${name}, ${viewport.width} x ${viewport.height}, ${theme}`;
  const { violations } = await page.evaluate(() => globalThis.axe.run(document.querySelector('dialog[open]') ?? document, { resultTypes: ['violations'], rules: { 'label-content-name-mismatch': { enabled: true } } }));
  const found = violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html.slice(0, 120)).join('; ')}`);
  return [...found, ...(await page.evaluate(untidy))].map((words) => `${where}: ${words}`);
}

async function walk(sizes, options) {
  const { page, finish } = await open('', { viewport: sizes[0], ...options });
  await page.evaluate(axe);
  const wrong = [];
  for (const [name, come, leave] of views) {
    for (const step of come) {
      await step(page);
    }
    for (const viewport of sizes) {
      await page.setViewportSize(viewport);
      for (const hidden of viewport.width < 1000 ? [true, false] : [false]) { // the panel of a phone
        await page.evaluate((on) => document.body.classList.toggle('panel-hidden', on), hidden);
        await atRest(page);
        const stage = await page.locator('canvas.stage').boundingBox();
        if (name !== 'map' && (hidden || viewport.width > 1000) && (stage.height < 150 || stage.width < 380)) {
          wrong.push(`${name}: the stage has ${stage.width} x ${stage.height} pixels`);
        }
        const theme = await page.evaluate(() => document.documentElement.dataset.theme);
        wrong.push(...(await check(page, name, viewport, theme)));
        await page.evaluate(() => globalThis.studio.switchTheme());
        await atRest(page);
      }
      if (viewport.width > 1000) {
        wrong.push(...(await check(page, name, viewport, 'the other theme')));
      }
      await page.screenshot({ path: `${shots}/view-${name}-${viewport.width}.png` });
    }
    await leave?.(page);
  }
  assert.deepEqual([...new Set(wrong)], []);
  await finish();
}

test('main views have nothing for axe to mend and nothing out of place: a mouse', { timeout: LONG }, () => walk([{ width: 1440, height: 900 }, { width: 1024, height: 768 }], {}));

test('main views have nothing for axe to mend and nothing out of place: a finger', { timeout: LONG }, () => walk([{ width: 390, height: 844 }, { width: 844, height: 390 }], { hasTouch: true, isMobile: true }));

// four joints at the corners of a gate that faces the first view, as wide as it is tall
const post = (name, side, z) => `<link name="${name}"/><joint name="to_${name}" type="fixed"><parent link="base"/><child link="${name}"/><origin xyz="${(0.52 * side).toFixed(3)} ${(0.47 * side).toFixed(3)} ${z}"/></joint>`;
const gate = `<robot name="gate"><link name="base"><visual><geometry><mesh filename="gone.stl"/></geometry></visual></link>${post('a', -1, 0)}${post('b', 1, 0)}${post('c', -1, 1.4)}${post('d', 1, 1.4)}</robot>`;

for (const [width, height] of [[1000, 640], [700, 450], [844, 390]]) {
  test(`words over the stage leave the skeleton free, and the bar has one row: ${width} x ${height}`, async () => {
    const { page, finish } = await open('?scene=arm6', { viewport: { width, height } });
    await drop(page, { name: 'gate.urdf', bytes: Buffer.from(gate) });
    await said(page, /gone\.stl did not come/);
    await atRest(page);
    const words = await page.locator('.notice').boundingBox();
    const standing = await page.evaluate(() => globalThis.studio.standing());
    for (let i = 0; i < standing.length; i += 3) {
      const { x, y } = await page.evaluate((point) => globalThis.studio.project(point), standing.slice(i, i + 3));
      const isUnder = x > words.x && x < words.x + words.width && y > words.y && y < words.y + words.height;
      assert.ok(!isUnder, `(${x.toFixed(0)}, ${y.toFixed(0)}) lies under the words at ${JSON.stringify(words)}`);
    }
    const bar = await page.locator('header').boundingBox();
    assert.ok(bar.height < 60, `the bar is ${bar.height} pixels high`);
    await page.screenshot({ path: `${shots}/words-${width}.png` });
    await finish();
  });
}
