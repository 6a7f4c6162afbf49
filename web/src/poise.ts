import {
    detectFormat, readFile, writeFile, type FileContent, type PoiseFile, type ReadOptions, type Warning,
} from './files.js';
import { Model, type ModelDescription } from './model.js';
import { imports, Module, type Host, type WasmModule } from './module.js';
import { listScenes, Scene, type SceneInfo } from './scenes.js';
import { quatAt } from './structs.js';
import type { Format, Quat, Vec3 } from './values.js';

/** Where the wasm comes from: its bytes (gzipped or not), a compiled module, a response, or an address to fetch. */
export type WasmSource = ArrayBuffer | ArrayBufferView | WasmModule | Response | URL | string;

/** An instance of the engine: one piece of memory, for one thread. Models of two instances do not go together. */
export class Poise {
    /** @internal */
    readonly module: Module;
    /** Of the C library. */
    readonly version: string;
    /** The built-in scenes. Besides these there are `tree-<N>` and `chain-<N>` for any number of degrees of freedom. */
    readonly scenes: readonly SceneInfo[];

    /** @internal Use `load`. */
    constructor(
        module: Module,
        /** As it was compiled: `load` takes it in a worker, without fetching and compiling once more. */
        readonly compiled: WasmModule,
    ) {
        this.module = module;
        this.version = module.string(module.call('poise_version'));
        this.scenes = listScenes(module);
    }

    /** A built-in scene: its model with markers, postures and motions. */
    scene(name: string): Scene {
        return new Scene(this.module, name);
    }

    /** A model of a description. */
    model(description: ModelDescription): Model {
        return Model.create(this, description);
    }

    /**
     * Read a file: URDF, MJCF, BVH, ASF, AMC, C3D, TRC, MOT, glTF, GLB, Denavit-Hartenberg tables, poise JSON. Throws a
     * PoiseError that names place and fix when the bytes are not what their format asks for.
     */
    read(bytes: Uint8Array | ArrayBuffer | string, options: ReadOptions = {}): PoiseFile {
        return readFile(this.module, toBytes(bytes), options);
    }

    /** The format of these bytes, by their beginning and, where that says nothing, by the extension of the name. */
    detect(bytes: Uint8Array | ArrayBuffer | string, name?: string): Format {
        return detectFormat(this.module, toBytes(bytes), name);
    }

    /** Write the parts that the format can hold; warnings name what it cannot. */
    write(content: FileContent, format: Format): { bytes: Uint8Array; warnings: Warning[] } {
        return writeFile(this.module, content, format);
    }

    /** Bytes in use by the objects of this instance, and bytes of memory that it has from the system. */
    get heap(): { readonly used: number; readonly total: number } {
        return this.module.heap;
    }
}

function toBytes(bytes: Uint8Array | ArrayBuffer | string): Uint8Array {
    return typeof bytes === 'string' ? new TextEncoder().encode(bytes)
        : bytes instanceof Uint8Array ? bytes : new Uint8Array(bytes);
}

/** Make an instance. Without a source the package's own wasm is fetched, or read from disk under node. */
export async function load(source?: WasmSource): Promise<Poise> {
    const compiled = await compile(source ?? new URL('./poise.wasm.gz', import.meta.url));
    const host: Host = { energies: new Map(), load: null, loaded: [], progress: null, thrown: null };
    let module: Module | undefined;
    const instance = await WebAssembly.instantiate(compiled, imports(host, () => module as Module));
    module = new Module(instance.exports, host);
    return new Poise(module, compiled);
}

async function compile(source: WasmSource): Promise<WebAssembly.Module> {
    if (source instanceof WebAssembly.Module) {
        return source;
    }
    const isBytes = source instanceof ArrayBuffer || ArrayBuffer.isView(source);
    const bytes = isBytes ? toView(source) : await fetchBytes(source as Response | URL | string);
    return WebAssembly.compile(isGzip(bytes) ? await unzip(bytes) : bytes);
}

function toView(source: ArrayBuffer | ArrayBufferView): Uint8Array<ArrayBuffer> {
    return source instanceof ArrayBuffer ? new Uint8Array(source)
        : new Uint8Array(source.buffer as ArrayBuffer, source.byteOffset, source.byteLength);
}

async function fetchBytes(source: Response | URL | string): Promise<Uint8Array<ArrayBuffer>> {
    if (source instanceof URL && source.protocol === 'file:') {
        const fs = 'node:fs/promises'; // not for bundlers
        const { readFile: read } = (await import(/* @vite-ignore */ fs)) as
            { readFile(url: URL): Promise<Uint8Array<ArrayBuffer>> };
        return read(source);
    }
    const response = source instanceof Response ? source : await fetch(source);
    if (!response.ok) {
        throw new Error(`${response.url}: ${response.status} ${response.statusText}`);
    }
    return new Uint8Array(await response.arrayBuffer());
}

// A server may have unzipped it already: look at the bytes, not at the name.
function isGzip(bytes: Uint8Array): boolean {
    return bytes[0] === 0x1f && bytes[1] === 0x8b;
}

async function unzip(bytes: Uint8Array<ArrayBuffer>): Promise<ArrayBuffer> {
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
    return new Response(stream).arrayBuffer();
}

/** The rotation by an angle about an axis of any length, by the library's own functions. */
export function quatFromAxisAngle({ module }: Poise, axis: Vec3, angle: number): Quat {
    module.call('poise_quat_from_axis_angle', module.scratch, module.byValue(axis), angle);
    return quatAt(module.view(module.scratch, 4), 0);
}
