// A stream that runs, live: the robot as it is driven, and the virtual character over it.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { open, poise, probe, shots, until } from './browser.mjs';

/** A pipe of `poise stream` into `poise view --live`: its address, and how to end it. */
async function drive(folder, stream) {
  const line = `(${stream}) | "$POISE" view --no-open --json --live --studio "$STUDIO" scene:lamp`;
  const child = spawn('sh', ['-c', line], { cwd: folder, detached: true, stdio: ['ignore', 'pipe', 'ignore'], env: { STUDIO: 'dist', ...process.env, POISE: poise } });
  const address = await new Promise((done, failed) => {
    child.once('exit', () => failed(new Error('the pipe has ended')));
    child.stdout.once('data', (text) => done(JSON.parse(String(text)).address));
  });
  child.removeAllListeners('exit');
  return { address, end: () => process.kill(-child.pid) };
}

test('the virtual character is a ghost over the robot that looks away from it', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'poise-live-'));
  const { address, end } = await drive(folder, `(echo '{"aim":[-0.4,0.1,-0.3]}'; sleep 600) | "$POISE" stream scene:lamp -p curious --with-posture`);
  const { page, finish } = await open(address);
  try {
    await until(page, () => globalThis.studio.live()?.time > 2 && globalThis.studio.live().ghost);
    const { ghost } = await probe(page, 'live');
    const { q } = await probe(page, 'state');
    assert.ok(Math.abs(q[0]) > 1, `the robot has turned: ${q}`);
    assert.ok(Math.abs(ghost[0]) < 0.1 && ghost[2] > 0.2, `the posture has not: ${ghost}`);
    await page.screenshot({ path: `${shots}/live-ghost.png` });
  } finally {
    end();
    rmSync(folder, { recursive: true });
  }
  await finish();
});

test('the ghost plays the animation', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'poise-live-'));
  const { address, end } = await drive(folder, `"$POISE" aim scene:lamp -p curious --path circle:60 -o round.json > /dev/null; sleep 600 | "$POISE" stream scene:lamp --motion round.json --loop --with-posture`);
  const { page, finish } = await open(address);
  try {
    await until(page, () => globalThis.studio.live()?.ghost);
    const [before] = (await probe(page, 'live')).ghost;
    await until(page, (x) => Math.abs(globalThis.studio.live().ghost[0] - x) > 0.02, before);
  } finally {
    end();
    rmSync(folder, { recursive: true });
  }
  await finish();
});
