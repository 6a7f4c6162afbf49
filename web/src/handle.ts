/// <reference lib="esnext.disposable" preserve="true" />
// Ownership. An object of the library lives until it is disposed of and nothing else uses it.
import { PoiseError } from './errors.js';
import type { Address, Module } from './module.js';

// Old engines lack the symbol that `using` looks for.
(Symbol as { dispose?: symbol }).dispose ??= Symbol.for('Symbol.dispose');

/** The native side of a handle. It does not refer to the handle, so that the handle can be collected. */
class Resource {
    readonly #free: () => void;
    readonly #needs: readonly Resource[];
    #users = 0;
    isClosed = false;

    constructor(free: () => void, needs: readonly Resource[]) {
        this.#free = free;
        this.#needs = needs;
        needs.forEach((needed) => (needed.#users += 1));
    }

    close(): void {
        if (!this.isClosed) {
            this.isClosed = true;
            this.#collect();
        }
    }

    #collect(): void {
        if (this.isClosed && this.#users === 0) {
            this.#free();
            for (const needed of this.#needs) {
                needed.#users -= 1;
                needed.#collect();
            }
        }
    }
}

// For handles that were never disposed of: their memory comes back when they are collected.
const forgotten = new FinalizationRegistry<Resource>((resource) => resource.close());

/**
 * Something that holds memory of the module. Call `dispose`, or declare it with `using`, when done; a handle that is lost
 * gives its memory back when it is collected, at some time. A model may be disposed of before its solvers: its memory stays
 * until they are done, too.
 */
export abstract class Handle {
    /** @internal */
    readonly module: Module;
    readonly #address: Address;
    readonly #resource: Resource;

    /** @internal */
    protected constructor(module: Module, address: Address, free: () => void, needs: readonly Handle[] = []) {
        this.module = module;
        this.#address = address;
        this.#resource = new Resource(free, needs.map((needed) => needed.#resource));
        forgotten.register(this, this.#resource, this);
    }

    /** @internal Throws when the handle is disposed of. */
    get address(): Address {
        if (this.#resource.isClosed) {
            throw new PoiseError('argument', `this ${this.constructor.name} is disposed of`);
        }
        return this.#address;
    }

    get isDisposed(): boolean {
        return this.#resource.isClosed;
    }

    /** Give the memory back. Further calls do nothing. */
    dispose(): void {
        forgotten.unregister(this);
        this.#resource.close();
    }

    [Symbol.dispose](): void {
        this.dispose();
    }
}
