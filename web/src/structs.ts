// Structs of the C side, read and written where they lie in its memory. The module describes their layouts itself
// (web/glue/glue_structs.c): a member's name, which is in camel case here, its kind and its place.
import { PoiseError } from './errors.js';
import type { Address, Module } from './module.js';
import {
    constraintKinds, eulerOrders, formats, goalKinds, jointTypes, losses, methods, outcomes, shapeKinds, ups, verdictLevels,
    type Pose, type Quat, type Vec3,
} from './values.js';

// In the order of glue_structs.c.
const kinds = [
    'number', 'int', 'flag', 'long', 'address', 'text', 'chars', 'vec3', 'quat', 'pose', 'numbers', 'scale', 'solver',
] as const;

interface Member {
    readonly kind: (typeof kinds)[number];
    readonly offset: number;
    readonly size: number;
}

/** @internal */
export interface Layout {
    readonly size: number;
    readonly members: ReadonlyMap<string, Member>;
}

/** Whole numbers that are one of a list of names, by member, or by struct and member. */
const names: Readonly<Record<string, readonly string[]>> = {
    kind: goalKinds, loss: losses, unit: ['length', 'angle', 'none'], method: methods, start: ['warm', 'cold'],
    outcome: outcomes, type: jointTypes, order: eulerOrders, mode: ['metric', 'shape'], up: ups, format: formats,
    scaling: ['none', 'uniform', 'segments'], positions: ['decide', 'replace', 'add'],
    'poise_shape.kind': shapeKinds, 'poise_constraint.kind': constraintKinds, fit: ['decide', 'none', 'places', 'uniform', 'segments'], level: verdictLevels,
    feet: ['auto', 'follow', 'plant'], fromUp: ups, toUp: ups,
};

const namesOf = (struct: string, name: string) => names[`${struct}.${name}`] ?? names[name];

const nested = { scale: 'poise_scale', solver: 'poise_solver_options' };

function camelCase(name: string): string {
    return name.replace(/.*\./, '').replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

/** The layout of a struct of the C side. */
export function layoutOf(module: Module, struct: string): Layout {
    let layout = module.layouts.get(struct);
    if (!layout) {
        const int = (at: Address) => module.data.getInt32(at, true);
        const at = module.call(`web_layout_${struct}`);
        const members = Array.from({ length: int(at + 4) }, (_, i): [string, Member] => {
            const m = int(at + 8) + 16 * i;
            return [camelCase(module.string(int(m))), { kind: kinds[int(m + 4)]!, offset: int(m + 8), size: int(m + 12) }];
        });
        layout = { size: int(at), members: new Map(members) };
        module.layouts.set(struct, layout);
    }
    return layout;
}

/** Where a member of a struct is. */
export function memberAt(module: Module, struct: string, address: Address, name: string): Address {
    return address + layoutOf(module, struct).members.get(name)!.offset;
}

export function vec3At(numbers: Float64Array, at: number): Vec3 {
    return [numbers[at] as number, numbers[at + 1] as number, numbers[at + 2] as number];
}

export function quatAt(numbers: Float64Array, at: number): Quat {
    return [numbers[at] as number, numbers[at + 1] as number, numbers[at + 2] as number, numbers[at + 3] as number];
}

/** A poise_pose of the C side, which has the rotation first. */
export function poseOf(numbers: Float64Array): Pose {
    return { position: vec3At(numbers, 4), rotation: quatAt(numbers, 0) };
}

function getMember(module: Module, list: readonly string[] | undefined, { kind, offset, size }: Member, struct: Address): unknown {
    const at = struct + offset;
    const { data } = module;
    const numbers = () => module.view(at, size / 8);
    const int = () => data.getInt32(at, true);
    switch (kind) {
        case 'number': return data.getFloat64(at, true);
        case 'int': return list ? list[int()] : int();
        case 'flag': return data.getUint8(at) !== 0;
        case 'long': return Number(data.getBigUint64(at, true));
        case 'address': return data.getUint32(at, true);
        case 'text': return int() === 0 ? null : module.string(int());
        case 'chars': return module.string(at);
        case 'vec3': return vec3At(numbers(), 0);
        case 'quat': return quatAt(numbers(), 0);
        case 'pose': return poseOf(numbers());
        case 'numbers': return Array.from(numbers());
        default: return getStruct(module, nested[kind], at);
    }
}

/** A struct as an object. Texts that are not there are null. */
export function getStruct<T>(module: Module, struct: string, address: Address): T {
    const values: Record<string, unknown> = {};
    for (const [name, member] of layoutOf(module, struct).members) {
        values[name] = getMember(module, namesOf(struct, name), member, address);
    }
    return values as T;
}

/** An array of structs, or the part of it from `address` on. */
export function getStructs<T>(module: Module, struct: string, address: Address, count: number): T[] {
    const { size } = layoutOf(module, struct);
    return Array.from({ length: count }, (_, i) => getStruct<T>(module, struct, address + i * size));
}

const refuse = (name: string, value: unknown, what: string) => new PoiseError('argument', `${name}: ${String(value)} is not ${what}`);

const LENGTHS = { vec3: 3, quat: 4 };

/** The numbers of a vector or a quaternion. */
function exactly(kind: 'vec3' | 'quat', name: string, value: unknown): ArrayLike<number> {
    const numbers = value as ArrayLike<number> | null | undefined;
    if (numbers?.length !== LENGTHS[kind]) {
        throw refuse(name, value, `an array of ${LENGTHS[kind]} numbers`);
    }
    return numbers;
}

function setMember(module: Module, name: string, list: readonly string[] | undefined, { kind, offset, size }: Member, struct: Address, value: unknown): void {
    const at = struct + offset;
    const { data } = module;
    if (kind === 'number') {
        if (typeof value !== 'number') {
            throw refuse(name, value, 'a number');
        }
        data.setFloat64(at, value, true);
    } else if (kind === 'int') {
        const index = list ? list.indexOf(value === 'newton_projected' ? 'newton' : (value as string)) : (value as number);
        if (list && index < 0) {
            throw new PoiseError('argument', `${name}: "${String(value)}" is not one of ${list.join(', ')}`);
        }
        if (index !== (index | 0) && index !== index >>> 0) {
            throw refuse(name, value, 'a whole number of 32 bits');
        }
        data.setInt32(at, index, true);
    } else if (kind === 'flag') {
        data.setUint8(at, value ? 1 : 0);
    } else if (kind === 'long') {
        if (!Number.isInteger(value)) {
            throw refuse(name, value, 'a whole number');
        }
        data.setBigUint64(at, BigInt(value as number), true);
    } else if (kind === 'address' || kind === 'text') {
        data.setUint32(at, value as Address, true);
    } else if (kind === 'pose') {
        const { rotation, position } = (value ?? {}) as Partial<Pose>;
        module.view(at, 4).set(exactly('quat', `${name}.rotation`, rotation));
        module.view(at + 32, 3).set(exactly('vec3', `${name}.position`, position));
    } else if (kind === 'scale' || kind === 'solver') {
        setStruct(module, nested[kind], at, value as object);
    } else if (kind === 'vec3' || kind === 'quat') {
        module.view(at, size / 8).set(exactly(kind, name, value));
    } else {
        module.view(at, size / 8).set(Array.from(value as ArrayLike<number>).slice(0, size / 8));
    }
}

/**
 * Write over the members that `values` has; one that the struct does not have is an error. What is an address, or is not the
 * user's to give, comes by `own`.
 */
export function setStruct(module: Module, struct: string, address: Address, values: object, own: object = {}): void {
    const { members } = layoutOf(module, struct);
    const isOpen = (name: string) => !['address', 'text', undefined].includes(members.get(name)?.kind);
    const unknown = Object.keys(values).filter((name) => !isOpen(name));
    if (unknown.length > 0) {
        throw new PoiseError('argument', `unknown option: ${unknown.join(', ')}`);
    }
    for (const [name, value] of [...Object.entries(values), ...Object.entries(own)]) {
        if (value !== undefined) {
            setMember(module, name, namesOf(struct, name), members.get(name)!, address, value);
            if (struct === 'poise_solver_options' && name === 'method') {
                const index = module.data.getInt32(address + members.get(name)!.offset, true);
                setMember(module, 'engine', undefined, members.get('engine')!, address, module.call('poise_papers_engine', index));
            }
        }
    }
}

/** New memory for structs, zeroed. */
export function newStructs(module: Module, struct: string, count = 1): Address {
    return module.allocate(layoutOf(module, struct).size * count);
}

/** A new struct: the C side's defaults, if there is a function for them, with these values over them. */
export function newStruct(module: Module, struct: string, defaults: string | null, values: object, own: object = {}): Address {
    const address = newStructs(module, struct);
    try {
        if (defaults) {
            module.call(defaults, address);
        }
        setStruct(module, struct, address, values, own);
    } catch (error) {
        module.release(address);
        throw error;
    }
    return address;
}
