// Prints the golden hash as node computes it: golden_bits_wasm.mjs GOLDEN.WASM
import { readFileSync } from 'node:fs';

const { instance } = await WebAssembly.instantiate(readFileSync(process.argv[2]), {});
const calls = instance.exports;
const half = (number) => (number >>> 0).toString(16).padStart(8, '0');
calls.run();
console.log('all', half(calls.hash_high()) + half(calls.hash_low()), calls.numbers(), 'numbers');
process.exitCode = calls.troubles() > 0 ? 1 : 0;
