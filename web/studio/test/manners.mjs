// Small things that people notice: units, keys, the floor, the address, browsers that cannot draw.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { atRest, drag, drop, notice, on, open, probe, serve, until } from './browser.mjs';

test('lengths and angles are told without exponents', on('?scene=arm2d', {}, async (page) => {
  const { targets } = await probe(page, 'state');
  const from = await probe(page, 'project', targets[0].position);
  await drag(page, from, { x: from.x + 500, y: from.y });
  await until(page, () => /out of reach/.test(document.querySelector('.status').textContent));
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

test('Space plays, and does not press the button again that was clicked last', on('?scene=humanoid/walk', {}, async (page) => {
  const play = page.getByLabel('Play or pause (space)');
  const before = await play.textContent();
  await page.getByLabel('Dark or light (D)').click();
  const theme = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  await page.keyboard.press(' ');
  assert.notEqual(await play.textContent(), before);
  assert.equal(await page.evaluate(() => getComputedStyle(document.body).backgroundColor), theme);
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
    return Math.hypot(at.x - box.x - box.width / 2, at.y - box.y - (box.height - 40) / 2); // the status line has the rest
  };
  assert.ok((await near()) > 50);
  await page.keyboard.press('f');
  await until(page, () => globalThis.studio.settled());
  assert.ok((await near()) < 2);
  await page.keyboard.press('h');
  const at = await probe(page, 'project', targets[0].position);
  await page.mouse.move(at.x, at.y);
  const base = await probe(page, 'project', [0, 0, 0]);
  await page.mouse.wheel(0, -400);
  await until(page, ({ x, y }) => Math.hypot(globalThis.studio.project([0, 0, 0]).x - x, globalThis.studio.project([0, 0, 0]).y - y) > 5, base);
  await atRest(page);
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

test('the studio opens without a network once it was there', async () => {
  const { address, end } = await serve();
  const { page, context } = await open(`${address}?scene=lamp&offline`, { serviceWorkers: 'allow' });
  try {
    await until(page, () => caches.open('poise-studio').then((cache) => cache.match('./poise.wasm.gz')).then((kept) => !!kept && !!navigator.serviceWorker.controller));
  } finally {
    end();
  }
  await page.reload();
  await until(page, () => 'studio' in globalThis);
  assert.equal(await probe(page, 'title'), 'Lamp');
  await context.close();
});
