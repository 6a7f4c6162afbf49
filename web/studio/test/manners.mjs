// Small things that people notice: units, keys, the floor, the address, browsers that cannot draw, accessibility.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { test } from 'node:test';
import { drag, drop, notice, on, open, probe, serve, until } from './browser.mjs';

test('lengths and angles are told without exponents', on('?scene=arm2d', {}, async (page) => {
  const { targets } = await probe(page, 'state');
  const from = await probe(page, 'project', targets[0].position);
  await drag(page, from, { x: from.x + 500, y: from.y });
  await until(page, () => /as near as it gets/.test(document.querySelector('.status').textContent));
  const text = await page.locator('.status').textContent();
  assert.match(text, /\d (mm|m) away/);
  assert.doesNotMatch(text, /e\+/);
}));

test('W and E are in step with the panel', on('?scene=arm7', {}, async (page) => {
  await page.keyboard.press('e');
  assert.equal(await page.getByLabel('Turn the goal (E)').getAttribute('aria-pressed'), 'true');
  await page.keyboard.press('w');
  assert.equal(await page.getByLabel('Move the goal (W)').getAttribute('aria-pressed'), 'true');
}));

for (const [scene, up] of [['arm7', 2], ['lamp', 1]]) {
  test(`the arrow up moves a goal of ${scene} upwards`, on(`?scene=${scene}`, {}, async (page) => {
    const before = (await probe(page, 'state')).targets[0].position;
    await page.keyboard.press('ArrowUp');
    const after = (await probe(page, 'state')).targets[0].position;
    after.forEach((x, i) => assert.equal(x > before[i], i === up));
  }));
}

const hanging = `<robot name="hanging"><link name="a"/><link name="b"/><joint name="j" type="revolute"><parent link="a"/><child link="b"/>
<origin xyz="0 0 -0.8"/><axis xyz="0 1 0"/><limit lower="-1" upper="1" effort="1" velocity="1"/></joint></robot>`;

test('the floor is where the feet are', on('?scene=arm7', {}, async (page) => {
  assert.ok(Math.abs(await probe(page, 'ground')) < 1e-6);
  await drop(page, { name: 'hanging.urdf', bytes: Buffer.from(hanging) });
  assert.ok(Math.abs((await probe(page, 'ground')) + 0.8) < 1e-6);
}));

test('F looks at the selected goal, and the wheel zooms to the pointer', on('?scene=arm7', {}, async (page) => {
  const { targets } = await probe(page, 'state');
  const box = await page.locator('canvas.stage').boundingBox();
  const near = async () => {
    const at = await probe(page, 'project', targets[0].position);
    return Math.hypot(at.x - box.x - box.width / 2, at.y - box.y - box.height / 2);
  };
  assert.ok((await near()) > 50);
  await page.keyboard.press('f');
  await until(page, () => globalThis.studio.settled());
  assert.ok((await near()) < 2);
  await page.keyboard.press('h');
  const at = await probe(page, 'project', targets[0].position);
  await page.mouse.move(at.x, at.y);
  await page.mouse.wheel(0, -400);
  await page.waitForTimeout(200);
  const after = await probe(page, 'project', targets[0].position);
  assert.ok(Math.hypot(at.x - after.x, at.y - after.y) < 12, 'the goal stays under the pointer');
}));

test('address and Back follow the scene', on('?scene=arm7', {}, async (page) => {
  const menu = page.getByLabel('Scene', { exact: true });
  await menu.selectOption('humanoid/walk');
  assert.match(page.url(), /\?scene=humanoid\/walk$/);
  await menu.selectOption('lamp');
  await page.goBack();
  await until(page, () => globalThis.studio.title() === 'Dancer, walking');
  assert.equal(await menu.inputValue(), 'humanoid/walk');
  await page.goBack();
  await until(page, () => globalThis.studio.title() === 'Arm with seven joints');
}));

test('a MOT without a column of the skeleton is refused', on('?scene=arm7', {}, async (page) => {
  const mot = 'strange\nversion=1\nnRows=1\nnColumns=2\ninDegrees=no\nendheader\ntime\ttail\n0\t1\n';
  await drop(page, { name: 'strange.mot', bytes: Buffer.from(mot) });
  const { text, bad } = await notice(page);
  assert.ok(bad && /no column is a coordinate of this model/.test(text), text);
  assert.equal(await probe(page, 'title'), 'Arm with seven joints');
}));

test('a browser without WebGL gets a word instead of a dead page', async () => {
  const { page, finish } = await open('?scene=arm7', {}, () => {
    const get = HTMLCanvasElement.prototype.getContext;
    HTMLCanvasElement.prototype.getContext = function (kind, ...rest) {
      return /webgl/.test(kind) ? null : get.call(this, kind, ...rest);
    };
  });
  await page.getByText('draws with WebGL 2').waitFor();
  await finish();
});

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const mouse = [{ width: 1440, height: 900 }, { width: 1024, height: 768 }];
const finger = [{ width: 390, height: 844 }, { width: 844, height: 390 }];

for (const [name, viewports, options] of [['a mouse', mouse, {}], ['a finger', finger, { hasTouch: true, isMobile: true }]]) {
  test(`axe finds nothing to mend, and the stage has room: ${name}`, async () => {
    const { page, finish } = await open('?scene=humanoid/walk', { viewport: viewports[0], ...options });
    await page.keyboard.press(' '); // the dancer rests, and the machine too
    await page.keyboard.press('1');
    await page.evaluate(axe);
    for (const viewport of viewports) {
      await page.setViewportSize(viewport);
      await page.evaluate((narrow) => document.body.classList.toggle('panel-hidden', narrow), viewport.width < 1000);
      const stage = await page.locator('canvas.stage').boundingBox();
      assert.ok(stage.height >= 180 && stage.width >= 380, `the stage has ${stage.width} x ${stage.height} pixels`);
      await page.evaluate(() => document.body.classList.remove('panel-hidden'));
      await page.evaluate(() => document.querySelectorAll('details').forEach((details) => (details.open = true)));
      for (const theme of ['light', 'dark']) {
        await page.keyboard.press('d');
        const { violations } = await page.evaluate(() => globalThis.axe.run());
        assert.deepEqual(violations.map(({ id, nodes }) => `${theme}, ${viewport.width}: ${id}: ${nodes.map((node) => node.html.slice(0, 120)).join('; ')}`), []);
      }
    }
    await finish();
  });
}

test('the studio opens without a network once it was there', async () => {
  const { address, end } = await serve();
  const { page, context } = await open(`${address}?scene=lamp&offline`, { serviceWorkers: 'allow' });
  try {
    await until(page, () => caches.open('poise-studio').then((cache) => cache.match('./poise.wasm.gz')).then((kept) => !!kept && !!navigator.serviceWorker.controller), undefined, 60);
  } finally {
    end();
  }
  await page.reload();
  await until(page, () => 'studio' in globalThis, undefined, 60);
  assert.equal(await probe(page, 'title'), 'Lamp');
  await context.close();
});
