// Every built-in scene: drawn, solved, within limits, and gone without a trace.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { atRest, LONG, on, open, probe, shots, until } from './browser.mjs';
import { compare } from './pictures.mjs';

/** At rest at half a second, without passing words. */
async function settle(page) {
  await page.evaluate(() => {
    const time = document.querySelector('.timeline input');
    if (!time.closest('[hidden]')) {
      time.value = '0.5';
      time.dispatchEvent(new Event('input'));
    }
    document.querySelector('.notice button')?.click();
  });
  await atRest(page);
}

test('every scene of the menu is drawn as it was, within limits', { timeout: LONG }, async () => {
  const { page, finish } = await open('?scene=arm7');
  const menu = page.getByLabel('Scene', { exact: true });
  const ids = await menu.locator('optgroup option').evaluateAll((list) => list.map((option) => option.value));
  assert.ok(ids.length >= 19);
  for (const id of ids) {
    await menu.selectOption(id);
    await settle(page);
    await page.keyboard.press('h');
    await settle(page);
    assert.equal(await probe(page, 'withinLimits'), true, id);
    const { outcome } = await probe(page, 'last');
    assert.ok(id === 'humanoid' ? outcome === '' : ['reached', 'closest'].includes(outcome), `${id}: ${outcome}`);
    await compare(page, `scene-${id.replace('/', '-')}`);
  }
  await finish();
});

test('opening scenes again and again leaks nothing', on('?scene=lamp', {}, async (page) => {
  const menu = page.getByLabel('Scene', { exact: true });
  const round = async () => {
    for (const id of ['humanoid/walk', 'hand', 'twolink', 'lamp']) {
      await menu.selectOption(id);
      await page.keyboard.press('r');
      await page.keyboard.press('t');
    }
    return (await probe(page, 'heap')).used;
  };
  await round(); // leaves holes in the heap, whose ends blocks may take on: a few times 16 bytes more or less
  const second = await round();
  await round();
  const last = await round();
  assert.ok(Math.abs(last - second) <= 64, `${second} bytes, then ${last}`);
}));

test('fifty more scenes leave memory as it was, and at rest nothing runs', { timeout: LONG }, async () => {
  const { page, finish, context } = await open('?scene=lamp', { viewport: { width: 640, height: 400 } }); // small, for a machine without a graphics card
  const client = await context.newCDPSession(page);
  const visit = async (count) => {
    await page.evaluate(async (wanted) => {
      const list = document.querySelector('header select');
      for (let i = 0; i < wanted; i++) {
        list.value = ['hand', 'twolink', 'arm6', 'humanoid', 'lamp'][i % 5];
        list.dispatchEvent(new Event('change'));
        await new Promise((done) => requestAnimationFrame(done));
      }
    }, count);
    await until(page, () => globalThis.studio.settled() && globalThis.studio.rests());
    await client.send('HeapProfiler.collectGarbage');
    const { usedSize } = await client.send('Runtime.getHeapUsage');
    return { script: usedSize, engine: (await probe(page, 'heap')).used, ...(await probe(page, 'graphics')) };
  };
  const before = await visit(10);
  const after = await visit(50);
  console.log(`50 scenes: script ${before.script} to ${after.script}, engine ${before.engine} to ${after.engine}, shapes ${before.geometries} to ${after.geometries}`);
  assert.ok(after.script - before.script < 3_000_000, // the browser keeps compiled scripts, too; a scene that stays is 100 kB and more
    `${before.script} bytes of the script, then ${after.script}`);
  assert.ok(Math.abs(after.engine - before.engine) <= 256, `${before.engine} bytes of the engine, then ${after.engine}`);
  const flat = ({ geometries, textures }) => assert.ok(geometries - before.geometries < 5 && textures - before.textures < 5, `${geometries} shapes and ${textures} textures`); // 50, if a scene left one
  flat(after);
  await page.keyboard.press('g'); // all scenes as pictures, one of which opens
  await until(page, () => Array.from(document.querySelectorAll('.gallery img')).filter((picture) => picture.naturalWidth > 0).length >= 5);
  await page.screenshot({ path: `${shots}/gallery.png` });
  await page.getByRole('button', { name: 'Arm of five links' }).click();
  assert.equal(await probe(page, 'title'), 'Arm of five links');
  assert.match(page.url(), /scene=arm2d$/);
  flat(await visit(5));
  await client.send('Performance.enable');
  const work = async () => (await client.send('Performance.getMetrics')).metrics.find(({ name }) => name === 'TaskDuration').value;
  const [busy, drawn] = [await work(), (await probe(page, 'graphics')).drawn];
  await page.waitForTimeout(1000);
  console.log(`at rest: ${(1000 * ((await work()) - busy)).toFixed(1)} ms of work in a second`);
  assert.equal((await probe(page, 'graphics')).drawn, drawn);
  assert.equal(await probe(page, 'rests'), true);
  await finish();
});

test('pictures of the gallery have the colours of one theme, also when it changes meanwhile', on('?scene=lamp', {}, async (page) => {
  await page.keyboard.press('g');
  const drawn = () => page.locator('.gallery img[src]').count();
  while ((await drawn()) < 3) {
    await page.waitForTimeout(20);
  }
  await page.evaluate(() => globalThis.studio.switchTheme());
  const corners = () => page.locator('.gallery img').evaluateAll((list) => list.map((picture) => {
    if (!picture.complete || picture.naturalWidth === 0) {
      return 'none';
    }
    const canvas = Object.assign(document.createElement('canvas'), { width: 1, height: 1 });
    canvas.getContext('2d').drawImage(picture, 4, 4, 1, 1, 0, 0, 1, 1);
    return canvas.getContext('2d').getImageData(0, 0, 1, 1).data[0] > 128 ? 'light' : 'dark';
  }));
  const end = Date.now() + 120_000;
  while ((await corners()).some((colour) => colour !== 'light') && Date.now() < end) {
    await page.waitForTimeout(200);
  }
  assert.deepEqual([...new Set(await corners())], ['light']);
}));

test('a scene that is not in the menu opens by its name, also with a thousand joints', on('?scene=chain-1000', {}, async (page) => {
  assert.equal(await probe(page, 'title'), 'chain-1000');
  await page.getByText('Joints', { exact: true }).click();
  await page.getByLabel('Picked joint').selectOption({ index: 500 });
  assert.ok((await page.locator('.joint input[type=range]').count()) >= 1);
}));

test('a scene that does not exist is told, and the page stays of use', on('?scene=unicorn', {}, async (page) => {
  await until(page, () => document.querySelector('.notice.bad')?.textContent.includes('unicorn'));
  await page.getByText('Nothing is on the stage.').waitFor();
  await page.getByLabel('Scene', { exact: true }).selectOption('arm6');
  assert.equal(await probe(page, 'title'), 'Arm with six joints');
}));
