// How long wasm takes for what takes the native library a microsecond: the humanoid follows its markers (speed.c). Times are
// told, and decide nothing: a machine may do other things meanwhile. The aim is 2.5.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { bits, builtFile } from './harness.js';

const ROUNDS = 10;

/** Microseconds a frame, least of some rounds, in time of this process. */
function measure(run: (rounds: number) => number, frames: number): number {
    let best = Infinity;
    run(5); // until it is compiled well
    for (let i = 0; i < ROUNDS; ++i) {
        const from = process.cpuUsage().user;
        run(4);
        best = Math.min(best, process.cpuUsage().user - from);
    }
    return best / (4 * frames);
}

test('wasm follows markers with the bits of the native library; how much longer it takes is told', async (t) => {
    const { instance } = await WebAssembly.instantiate(readFileSync(builtFile('speed.wasm')), {});
    const calls = instance.exports as Record<string, (value?: number) => number>;
    assert.equal(calls['prepare']!(), 0);
    let least = { native: Infinity, wasm: Infinity };
    for (let i = 0; i < 3; ++i) {
        const [time, sum] = execFileSync(process.env['POISE_SPEED'] ?? '', { encoding: 'utf8' }).trim().split(' ');
        assert.equal(bits([calls['run']!(1)])[0], sum);
        const wasm = measure((rounds) => calls['run']!(rounds), calls['frames']!());
        least = { native: Math.min(least.native, Number(time)), wasm: Math.min(least.wasm, wasm) };
    }
    const ratio = least.wasm / least.native;
    t.diagnostic(`native ${least.native.toFixed(1)} us, wasm ${least.wasm.toFixed(1)} us a frame: ${ratio.toFixed(2)} times`);
});
