// One instance of the wasm module: its memory, its functions, its error.
import { PoiseError } from './errors.js';
import { getStruct, newStructs } from './structs.js';
import { statuses, type Numbers, type Status } from './values.js';

/** An address in the module's memory; 0 is none. */
export type Address = number;

/** Remembers memory that goes when a call is done. */
export type Keep = (memory: Address) => Address;

/** WebAssembly.Module where the types of a browser are there, and any object where they are not, as in a project for node. */
export type WasmModule = typeof globalThis extends { WebAssembly: { Module: { prototype: infer M } } } ? M : object;

/** The functions of the module by name. All take and return numbers. */
type Exports = Record<string, (...values: number[]) => number>;

/** What the C side asks of this side while a call runs. */
export interface Host {
    /** The functions of callback goals, by number. */
    readonly energies: Map<number, (pose: Float64Array, out: () => Float64Array) => boolean>;
    /** Other files that the one being read names; null outside of a read. */
    load: ((name: string) => Uint8Array | null | undefined) | null;
    /** Memory of those, given back when the read ends. */
    readonly loaded: Address[];
    /** Told of the work on a recording: a stage that begins, on how many frames; -1: one more frame. */
    progress: ((stage: number, frames: number) => void) | null;
    /** What a callback threw; thrown on when the call of the library has returned. */
    thrown: { error: unknown } | null;
}

const SCRATCH = 256; // numbers; the largest struct has 60
const VALUE = 4; // numbers of the largest struct that goes in by value
const ENERGY = 79; // numbers of a poise_body_energy

export class Module {
    readonly calls: Exports;
    readonly host: Host;
    /** Room for one struct: what a call fills or returns. Used within one call of this side only. */
    readonly scratch: Address;
    readonly #value: Address;
    readonly #made: Address;
    readonly #error: Address;
    readonly #memory: WebAssembly.Memory;
    readonly #decoder = new TextDecoder();
    readonly #encoder = new TextEncoder();
    #f64: Float64Array<ArrayBuffer>;
    #bytes: Uint8Array<ArrayBuffer>;
    #data: DataView;

    constructor(exports: Record<string, unknown>, host: Host) {
        this.#memory = exports['memory'] as WebAssembly.Memory;
        this.calls = exports as Exports;
        this.host = host;
        this.#f64 = new Float64Array(this.#memory.buffer);
        this.#bytes = new Uint8Array(this.#memory.buffer);
        this.#data = new DataView(this.#memory.buffer);
        this.scratch = this.allocate(8 * SCRATCH);
        this.#value = this.allocate(8 * VALUE);
        this.#made = this.allocate(8);
        this.#error = newStructs(this, 'poise_error');
    }

    /** Call a function of the C side by name. */
    call(name: string, ...values: number[]): number {
        const f = this.calls[name];
        if (!f) {
            throw new Error(`poise.wasm has no function ${name}`);
        }
        return f(...values);
    }

    /** The same for a function that can fail: the error is its last argument, and is thrown. */
    run(name: string, ...values: number[]): void {
        this.check(this.call(name, ...values, this.#error));
    }

    /**
     * What a function makes, which takes an allocator and a place for it behind `values`, then `more`, then the error.
     * `discard` destroys it when a callback has thrown.
     */
    make(name: string, values: readonly number[] = [], more: readonly number[] = [], discard?: string): Address {
        this.data.setUint32(this.#made, 0, true);
        const status = this.call(name, ...values, 0, this.#made, ...more, this.#error);
        const made = this.data.getUint32(this.#made, true);
        if (this.host.thrown && made !== 0 && discard) {
            this.call(discard, made);
        }
        this.check(status);
        return made;
    }

    /** The number that a function which can fail writes behind `values`, as its last argument before the error. */
    answer(kind: 'int' | 'number', name: string, ...values: number[]): number {
        this.run(name, ...values, this.#made);
        return kind === 'int' ? this.data.getInt32(this.#made, true) : this.data.getFloat64(this.#made, true);
    }

    /** The address of a struct of numbers that goes in by value. */
    byValue(values: Numbers): Address {
        this.put(this.#value, values, values.length);
        return this.#value;
    }

    // ---- Memory. Views are made anew when the memory has grown, which detaches the old ones. ----

    /** The whole memory as doubles; index = address / 8. */
    get f64(): Float64Array<ArrayBuffer> {
        if (this.#f64.buffer !== this.#memory.buffer) {
            this.#f64 = new Float64Array(this.#memory.buffer);
        }
        return this.#f64;
    }

    get bytes(): Uint8Array<ArrayBuffer> {
        if (this.#bytes.buffer !== this.#memory.buffer) {
            this.#bytes = new Uint8Array(this.#memory.buffer);
        }
        return this.#bytes;
    }

    get data(): DataView {
        if (this.#data.buffer !== this.#memory.buffer) {
            this.#data = new DataView(this.#memory.buffer);
        }
        return this.#data;
    }

    /** `count` doubles at an address, valid until the memory grows. */
    view(address: Address, count: number): Float64Array<ArrayBuffer> {
        return new Float64Array(this.#memory.buffer, address >>> 0, count);
    }

    /** Does this array lie in the module's memory? Then it can be handed over as it is. */
    owns(values: Numbers): values is Float64Array {
        return values instanceof Float64Array && values.buffer === this.#memory.buffer;
    }

    allocate(size: number): Address {
        const address = size < 2 ** 32 ? this.call('web_allocate', size) >>> 0 : 0; // beyond, sizes begin again at 0
        if (address === 0) {
            throw new PoiseError('memory', 'out of memory');
        }
        return address;
    }

    release(address: Address): void {
        this.call('web_release', address);
    }

    /** Bytes in use by all objects of this instance, and bytes of memory that it has from the system. */
    get heap(): { used: number; total: number } {
        return { used: this.call('web_heap_used') >>> 0, total: this.#memory.buffer.byteLength };
    }

    /** Copy numbers into memory at an address. */
    put(address: Address, values: Numbers, count: number): void {
        if (values.length < count) {
            throw new PoiseError('argument', `${count} numbers are needed, ${values.length} were given`);
        }
        const at = (address >>> 0) / 8;
        const f64 = this.f64;
        for (let i = 0; i < count; ++i) {
            f64[at + i] = values[i] as number;
        }
    }

    /** New memory that holds a copy of the numbers. */
    copyIn(values: Numbers, count = values.length): Address {
        const address = this.allocate(8 * count);
        this.put(address, values, count);
        return address;
    }

    /** A copy of `count` numbers, out of the module's memory. */
    copyOut(address: Address, count: number): Float64Array<ArrayBuffer> {
        return this.view(address, count).slice();
    }

    /** New memory that holds a text with a zero at its end; 0 for null. */
    text(text: string | null | undefined): Address {
        if (text === null || text === undefined) {
            return 0;
        }
        const bytes = this.#encoder.encode(text);
        const address = this.allocate(bytes.length + 1);
        this.bytes.set(bytes, address >>> 0);
        return address;
    }

    /** The text at an address; empty for 0. */
    string(address: Address): string {
        const at = address >>> 0;
        return at === 0 ? '' : this.#decoder.decode(this.bytes.subarray(at, this.bytes.indexOf(0, at)));
    }

    /** Run with memory that `keep` takes over and that is given back at the end. */
    scoped<T>(use: (keep: Keep) => T): T {
        const owned: Address[] = [];
        try {
            return use((memory) => {
                owned.push(memory);
                return memory;
            });
        } finally {
            owned.forEach((memory) => this.release(memory));
        }
    }

    /** Give texts to a function, and take their memory back. */
    withTexts<T>(texts: readonly (string | null | undefined)[], use: (...addresses: Address[]) => T): T {
        return this.scoped((keep) => use(...texts.map((text) => keep(this.text(text)))));
    }

    /** `count` numbers that a function fills. */
    filled(count: number, fill: (address: Address) => unknown): Float64Array<ArrayBuffer> {
        return this.scoped((keep) => {
            const address = keep(this.allocate(8 * count));
            fill(address);
            return this.copyOut(address, count);
        });
    }

    /** New memory that holds 32-bit numbers. */
    ints(values: readonly number[]): Address {
        const address = this.allocate(4 * values.length);
        new Int32Array(this.bytes.buffer, address, values.length).set(values);
        return address;
    }

    /** Give numbers to a function, in place where they lie in memory already. */
    withNumbers<T>(values: Numbers, count: number, use: (address: Address) => T): T {
        if (this.owns(values) && values.length >= count) {
            return use(values.byteOffset);
        }
        return this.scoped((keep) => use(keep(this.copyIn(values, count))));
    }

    /** The same for numbers that the function changes. */
    withMutable<T>(values: { [index: number]: number; length: number }, count: number, use: (address: Address) => T): T {
        if (this.owns(values)) {
            return this.withNumbers(values, count, use);
        }
        return this.withNumbers(values, count, (address) => {
            const result = use(address);
            const from = this.view(address, count);
            for (let i = 0; i < count; ++i) {
                values[i] = from[i] as number;
            }
            return result;
        });
    }

    // ---- Errors ----

    /** Throw unless a status is 0: the error of the last call, or this text where the function gives none. */
    check(status: number, text?: string): void {
        this.rethrow();
        if (status !== 0) {
            const error = getStruct<{ status: Status; line: number; column: number; text: string }>(
                this, 'poise_error', this.#error,
            );
            throw text === undefined ? new PoiseError(error.status, error.text, error.line, error.column)
                : new PoiseError(this.#statusOf(status), text);
        }
    }

    #statusOf(status: number): Status {
        return statuses[status] ?? 'argument';
    }

    /** Throw what a callback has thrown. */
    rethrow(): void {
        const thrown = this.host.thrown;
        if (thrown) {
            this.host.thrown = null;
            throw thrown.error;
        }
    }
}

/** The functions that the C side imports. `module` is there by the time they are called. */
export function imports(host: Host, module: () => Module): Record<string, Record<string, (...values: number[]) => unknown>> {
    const guarded = <T>(otherwise: T, run: () => T): T => {
        try {
            return run();
        } catch (error) {
            host.thrown ??= { error };
            return otherwise;
        }
    };
    return {
        poise: {
            energy: (id: number, pose: number, out: number) =>
                guarded(0, () => {
                    const f = host.energies.get(id);
                    return f && f(module().view(pose, 7), () => module().view(out, ENERGY)) ? 1 : 0;
                }),
            progress: (stage: number, frames: number) => guarded(undefined, () => host.progress?.(stage, frames)),
            load: (name: number, size: number) =>
                guarded(0, () => {
                    const m = module();
                    const bytes = host.load?.(m.string(name));
                    if (!bytes) {
                        return 0;
                    }
                    const address = m.allocate(bytes.length);
                    host.loaded.push(address);
                    m.bytes.set(bytes, address);
                    new Uint32Array(m.bytes.buffer, size >>> 0, 1)[0] = bytes.length;
                    return address;
                }),
        },
    };
}
