// Recordings: units, axes, places and the verdict are the library's, and a doubtful fit is never green.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { atRest, drop, dropped, LONG, notice, on, poise, probe, said, shots, until } from './browser.mjs';

/** A TRC of the dancer, its text changed. */
function recording(name, change) {
  const folder = mkdtempSync(join(tmpdir(), 'poise-recording-'));
  try {
    execFileSync(poise, ['convert', 'scene:humanoid/walk', join(folder, name)], { stdio: 'ignore' });
    return { name, bytes: Buffer.from(change(readFileSync(join(folder, name), 'utf8'))) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const tone = (page) => page.locator('.status').getAttribute('data-tone');

/** The same rows again and again, with times that go on. */
function long(text, times) {
  const [head, rows] = text.split(/\n(?=1\t)/);
  const list = rows.trimEnd().split('\n');
  const count = list.length * times;
  const all = Array.from({ length: count }, (_, i) => list[i % list.length].replace(/^\S+\t\S+/, `${i + 1}\t${(i / 120).toFixed(6)}`));
  const counts = head.split('\n').map((line, i) => (i === 2 ? line.split('\t').map((x) => (x === String(list.length) ? String(count) : x)).join('\t') : line));
  return `${counts.join('\n')}\n${all.join('\n')}\n`;
}

/** The same, without markers in some frames. */
function gap(text, from, to) {
  const [head, rows] = text.split(/\n(?=1\t)/);
  const list = rows.trimEnd().split('\n').map((row, i) => (i >= from && i < to ? row.split('\t').map((x, k) => (k < 2 + 3 * 2 ? x : '')).join('\t') : row));
  return `${head}\n${list.join('\n')}\n`;
}

/** In the page: as soon as markers are followed, move the goal and cancel, in one task, however slow the page is; `globalThis.seen` tells of it. */
const cancelOnceBusy = () => {
  const look = () => {
    const box = document.querySelector('.notice.busy');
    const cancel = box?.querySelector('button');
    if (!cancel || !/following markers/.test(box.textContent)) {
      return;
    }
    observer.disconnect();
    const height = () => globalThis.studio.state().targets[0].position[2];
    const [before, tall] = [height(), cancel.getBoundingClientRect().height];
    document.querySelector('canvas.stage').dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowUp', bubbles: true })); // the page is of use meanwhile
    globalThis.seen = { tall, rise: height() - before };
    cancel.click();
  };
  const observer = new MutationObserver(look);
  observer.observe(document.querySelector('.notice'), { childList: true, subtree: true, characterData: true, attributes: true });
};

test('recordings are followed beside the page, with progress and an end on request, and judged by the library', { timeout: LONG }, on('?scene=arm6', {}, async (page) => {
  const whole = recording('long.trc', (text) => long(text, 120));
  await page.evaluate(cancelOnceBusy);
  await dropped(page, [whole]);
  await until(page, () => 'seen' in globalThis);
  const { tall, rise } = await page.evaluate(() => globalThis.seen);
  assert.ok(rise > 0);
  assert.ok(tall < 30, `Cancel is one line, not ${tall} pixels`);
  await said(page, /Cancelled/);
  assert.equal(await probe(page, 'title'), 'Arm with six joints');

  await drop(page, recording('sound.trc', (text) => text));
  const { text, bad } = await notice(page);
  assert.ok(!bad && /markers placed on the built-in body; it follows them to (< )?\d/.test(text), text);
  assert.doesNotMatch(text, /doubtful|wrong/);
  await until(page, () => /follows markers to/.test(document.querySelector('.status').textContent));
  assert.equal(await tone(page), 'good');
  assert.ok((await probe(page, 'markerError')) * (await probe(page, 'metres')) < 0.01);
  await until(page, () => globalThis.studio.look().meshes > 30); // the built-in body, as tall as the person
  const [x0, y0, z0, x1, y1, z1] = (await probe(page, 'look')).box;
  assert.ok(Math.abs(Math.max(x1 - x0, y1 - y0, z1 - z0) * (await probe(page, 'metres')) - 1.75) < 0.15, 'as tall as the dancer');

  await drop(page, recording('gap.trc', (words) => gap(words, 40, 60))); // two markers are not enough: 20 frames do not count
  assert.match((await notice(page)).text, /follows them to .* mm on average over the \d+ of \d+ frames that count/);
  const bar = page.locator('.strip .held');
  assert.match(await bar.first().getAttribute('title'), /^Frames 40 to \d+ do not count/);
  await page.getByLabel('Play or pause (space)').click();
  await page.getByLabel('Time', { exact: true }).fill('0.42');
  await until(page, () => /the last good pose is held/.test(document.querySelector('.status').textContent));
  await page.getByText('All frames are tracked').waitFor();
  await page.screenshot({ path: `${shots}/held.png` });

  await drop(page, recording('late.trc', (words) => gap(words, 0, 30))); // nobody is there at first
  assert.match(await page.locator('.strip .held.away').first().getAttribute('title'), /^Frames 0 to 29 do not count: nobody is there/);
  await page.getByLabel('Play or pause (space)').click();
  const pose = async (time) => {
    await page.getByLabel('Time', { exact: true }).fill(String(time));
    await until(page, () => globalThis.studio.settled());
    return (await probe(page, 'state')).q;
  };
  assert.deepEqual(await pose(0.05), await pose(0.25));
  await until(page, () => /nobody is there/.test(document.querySelector('.status').textContent) === false);
  await pose(0.05);
  await until(page, () => /nobody is there/.test(document.querySelector('.status').textContent));

  const exchanged = (words) => words.replaceAll(/\b(left|right)_/g, (_, side) => (side === 'left' ? 'right_' : 'left_'));
  await drop(page, recording('exchanged.trc', exchanged));
  assert.match((await notice(page)).text, /The fit is (doubtful|wrong):\n- /);
  await until(page, () => /(doubtful|wrong) fit/.test(document.querySelector('.status').textContent));
  assert.notEqual(await tone(page), 'good');
  await page.getByLabel('Follow them').check(); // frame by frame in the page: the same verdict
  await until(page, () => /iterations/.test(document.querySelector('.status').textContent));
  assert.match(await page.locator('.status').textContent(), /(doubtful|wrong) fit/);
  assert.notEqual(await tone(page), 'good');

  await page.getByLabel('Scene', { exact: true }).selectOption('humanoid/kick'); // nobody has judged this one
  await until(page, () => /not judged yet/.test(document.querySelector('.status').textContent));
  assert.equal(await tone(page), 'idle');
  await page.keyboard.press('t');
  await said(page, /frames tracked in .* mean error/);
  await until(page, () => /follows markers to/.test(document.querySelector('.status').textContent) && !/judged/.test(document.querySelector('.status').textContent));
  assert.equal(await tone(page), 'good');
}));

/** Three markers without a skeleton, the second of which is not seen in frames 41 to 60 of 100. */
const cloud = () => {
  const rows = Array.from({ length: 100 }, (_, f) => [f + 1, (f / 100).toFixed(2), 500, 500, 0, ...(f >= 40 && f < 60 ? ['', '', ''] : [1000, 0, 0]), 0, 1000, 1000].join('\t'));
  const head = ['PathFileType\t4\t(X/Y/Z)\tcloud.trc', 'DataRate\tCameraRate\tNumFrames\tNumMarkers\tUnits\tOrigDataRate\tOrigDataStartFrame\tOrigNumFrames', '100\t100\t100\t3\tmm\t100\t1\t100', 'Frame#\tTime\tone\t\t\ttwo\t\t\tthree\t\t', '\t\tX1\tY1\tZ1\tX2\tY2\tZ2\tX3\tY3\tZ3', ''];
  return { name: 'cloud.trc', bytes: Buffer.from(`${[...head, ...rows].join('\n')}\n`) };
};

test('a marker that is missing has its share in the list, and a bar on the timeline', on('?scene=arm6', {}, async (page) => {
  await drop(page, cloud());
  const list = page.getByLabel('Markers by name').getByRole('listitem');
  assert.deepEqual(await list.allTextContents(), ['one', 'two20 % missing', 'three']);
  const bar = () => page.locator('.strip .gaps').evaluate((canvas) => {
    const copy = Object.assign(document.createElement('canvas'), { width: canvas.width, height: canvas.height }).getContext('2d', { willReadFrequently: true });
    copy.drawImage(canvas, 0, 0);
    const { data } = copy.getImageData(0, 0, canvas.width, 1);
    const seen = Array.from({ length: canvas.width }, (_, x) => data[4 * x + 3]);
    const first = seen.findIndex((alpha) => alpha > 0);
    return { from: first / canvas.width, to: (seen.findLastIndex((alpha) => alpha > 0) + 1) / canvas.width, strength: seen[first] };
  });
  const some = await bar();
  assert.ok(Math.abs(some.from - 0.4) < 0.01 && Math.abs(some.to - 0.6) < 0.01, JSON.stringify(some));
  await page.getByLabel('Show the marker two').click();
  const picked = await bar();
  assert.ok(picked.strength > some.strength, 'one of one is more than one of three');
  assert.match(await page.locator('.strip .gaps').getAttribute('aria-label'), /^two not seen for 20 % of the time$/);
}));

for (const deviceScaleFactor of [1, 2, 3]) {
  test(`markers are as large on a screen of ${deviceScaleFactor} dots a pixel`, on('?scene=arm6', { deviceScaleFactor, viewport: { width: 700, height: 500 }, colorScheme: 'light' }, async (page) => {
    await drop(page, cloud());
    await page.getByLabel('Play or pause (space)').click();
    await page.getByLabel('Time', { exact: true }).fill('0');
    await page.evaluate(() => document.querySelectorAll('.notice, .status, .triad').forEach((box) => box.remove())); // nothing lies over a marker
    await atRest(page);
    const png = await page.locator('canvas.stage').screenshot();
    const dots = await page.evaluate(async (address) => {
      const picture = Object.assign(new Image(), { src: address });
      await picture.decode();
      const canvas = Object.assign(document.createElement('canvas'), { width: picture.width, height: picture.height });
      const g = canvas.getContext('2d');
      g.drawImage(picture, 0, 0);
      const { data } = g.getImageData(0, 0, picture.width, picture.height);
      let count = 0;
      for (let i = 0; i < data.length; i += 4) {
        count += data[i] < 60 && data[i + 1] > 110 && data[i + 2] > 70 && data[i + 2] < 150 ? 1 : 0; // the colour of markers, and no other's
      }
      return count;
    }, `data:image/png;base64,${png.toString('base64')}`);
    const area = dots / deviceScaleFactor ** 2 / 3;
    console.log(`a marker covers ${area.toFixed(1)} pixels at ${deviceScaleFactor} dots`);
    assert.ok(area > 25 && area < 50, `a disc of 7 pixels has 38, this one ${area}`);
  }));
}
