// Recordings: units, axes, places and the verdict are the library's, and a doubtful fit is never green.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { drop, notice, on, poise, probe, until } from './browser.mjs';

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

test('a sound recording is green, and its motion plays', on('?scene=arm6', {}, async (page) => {
  await drop(page, recording('sound.trc', (text) => text));
  const { text, bad } = await notice(page);
  assert.ok(!bad && /markers placed on the built-in body; it follows them to \d/.test(text), text);
  assert.doesNotMatch(text, /doubtful|wrong/);
  await until(page, () => /follows markers to/.test(document.querySelector('.status').textContent));
  assert.equal(await tone(page), 'good');
  assert.ok((await probe(page, 'markerError')) * (await probe(page, 'metres')) < 0.01);
}));

test('a recording with left and right exchanged is doubtful, in words and colour', on('?scene=arm6', {}, async (page) => {
  const exchanged = (text) => text.replaceAll(/\b(left|right)_/g, (_, side) => (side === 'left' ? 'right_' : 'left_'));
  await drop(page, recording('exchanged.trc', exchanged));
  const { text } = await notice(page);
  assert.match(text, /The fit is (doubtful|wrong):\n- /);
  await until(page, () => /(doubtful|wrong) fit/.test(document.querySelector('.status').textContent));
  assert.notEqual(await tone(page), 'good');
}));
