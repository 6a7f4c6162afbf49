// Prints the hashes of the golden suite as node computes them: golden_suite_wasm.mjs GOLDEN_SUITE.WASM [BATCH SIZE]
import { readFileSync } from 'node:fs';

const [path, size] = process.argv.slice(2);
const { instance } = await WebAssembly.instantiate(readFileSync(path), {});
const calls = instance.exports;
for (const part of ['solves', 'batch', 'track', 'files']) {
    const hash = BigInt.asUintN(64, calls[part](Number(size ?? 1000)));
    console.log(part.padEnd(6), hash.toString(16).padStart(16, '0'));
}
