// Recordings: units, axes, places and the verdict are the library's, and a doubtful fit is never green.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { drop, dropped, notice, on, poise, probe, shots, until } from './browser.mjs';

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

const busy = () => {
  const box = document.querySelector('.notice.busy');
  globalThis.cancelHeight = box?.querySelector('button').getBoundingClientRect().height ?? globalThis.cancelHeight;
  return /following markers/.test(box?.textContent ?? '');
};

test('recordings are followed beside the page, with progress and an end on request, and judged by the library', { timeout: 180_000 }, on('?scene=arm6', {}, async (page) => {
  const whole = recording('long.trc', (text) => long(text, 120));
  const height = async () => (await probe(page, 'state')).targets[0].position[2];
  const before = await height();
  await dropped(page, [whole]);
  await until(page, busy, undefined, 60);
  await page.keyboard.press('ArrowUp'); // the page is of use meanwhile
  assert.ok((await height()) > before);
  assert.ok(await page.evaluate(busy), 'the recording was over too soon to tell');
  await page.getByRole('button', { name: 'Cancel' }).dispatchEvent('click'); // at once: the recording goes on
  const tall = await page.evaluate(() => globalThis.cancelHeight);
  assert.ok(tall < 30, `Cancel is one line, not ${tall} pixels`);
  assert.match((await notice(page)).text, /Cancelled/);
  assert.equal(await probe(page, 'title'), 'Arm with six joints');

  await drop(page, recording('sound.trc', (text) => text));
  const { text, bad } = await notice(page);
  assert.ok(!bad && /markers placed on the built-in body; it follows them to \d/.test(text), text);
  assert.doesNotMatch(text, /doubtful|wrong/);
  await until(page, () => /follows markers to/.test(document.querySelector('.status').textContent));
  assert.equal(await tone(page), 'good');
  assert.ok((await probe(page, 'markerError')) * (await probe(page, 'metres')) < 0.01);

  await drop(page, recording('gap.trc', (words) => gap(words, 40, 60))); // two markers are not enough: 20 frames do not count
  assert.match((await notice(page)).text, /follows them to \S+ mm, over the \d+ of \d+ frames that count/);
  const bar = page.locator('.strip .held');
  assert.match(await bar.first().getAttribute('title'), /^Frames 41 to \d+ do not count/);
  await page.getByLabel('Play or pause (space)').click();
  await page.getByLabel('Time', { exact: true }).fill('0.42');
  await until(page, () => /the last good pose is held/.test(document.querySelector('.status').textContent));
  await page.getByText('All frames are tracked').waitFor();
  await page.screenshot({ path: `${shots}/held.png` });

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
  await page.getByText(/frames tracked in .* mean error/).waitFor();
  await until(page, () => /follows markers to/.test(document.querySelector('.status').textContent) && !/judged/.test(document.querySelector('.status').textContent));
  assert.equal(await tone(page), 'good');
}));
