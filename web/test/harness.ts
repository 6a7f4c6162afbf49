// What the tests share: one instance of the engine, and the package as its users see it.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import type * as Package from '../dist/index.js';

// this file runs in build/web/test
const web = new URL('../../../web/', import.meta.url);
const dist = new URL('dist/', web);
const built = new URL('../wasm/', import.meta.url);

/** The package, from web/dist. */
export const ik = (await import(new URL('index.js', dist).href)) as typeof Package;
export const poise = await ik.load();

/** A file of the wasm build that is not in the package. */
export function builtFile(name: string): string {
    return fileURLToPath(new URL(name, built));
}

/** A file of web/. */
export function sourceFile(name: string): string {
    return fileURLToPath(new URL(name, web));
}

/** A file of the data folder (docs/data.md); null where it is missing, which skips the test. One that is different throws. */
export function dataFile(t: TestContext, name: string): string | null {
    const { status, stdout } = spawnSync(sourceFile('../tools/data.sh'), ['has', name], { encoding: 'utf8' });
    if (status === 77) {
        t.skip(stdout.trim());
        return null;
    }
    if (status !== 0) {
        throw new Error(stdout);
    }
    return join(process.env['POISE_DATA'] ?? '', name);
}

/** The bits of doubles, in hex. */
export function bits(numbers: ArrayLike<number>): string[] {
    const view = new DataView(new ArrayBuffer(8));
    return Array.from(numbers, (x) => {
        view.setFloat64(0, x);
        return view.getBigUint64(0).toString(16).padStart(16, '0');
    });
}

/** A configuration that is no special one, within the limits: that of the native reference. */
export function pattern(model: Package.Model, seed: number): Float64Array {
    const q = model.neutral().map((x, i) => x + (((i * 7 + seed * 3) % 11) - 5) / 10);
    model.clamp(q);
    return q;
}
