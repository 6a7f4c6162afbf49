// Structs of the C side, read and written where they lie in its memory, by layouts that are made from the public headers
// (schema/generate.py). Names of members are in camel case here.
import { PoiseError } from './errors.js';
import { enums, layouts, types } from './layouts.js';
import type { Address, Module } from './module.js';
import type { Pose, Quat, Vec3 } from './values.js';

interface Member {
    readonly name: string;
    readonly kind: string;
    /** Of a value of an enum: their names. Of a struct: what it is called. */
    readonly names: readonly string[] | undefined;
    readonly of: string;
    readonly offset: number;
    /** Of an array, in bytes the step from one to the next; 0: it is none. */
    readonly count: number;
}

/** @internal */
export interface Layout {
    readonly size: number;
    readonly members: ReadonlyMap<string, Member>;
    readonly list: readonly Member[];
    /** An object with all names: a copy of it has room for all values, which spares the garbage of a growing one. */
    readonly shape: Readonly<Record<string, unknown>>;
}

const sizes: Readonly<Record<string, number>> = { number: 8, int: 4, enum: 4, long: 8, float: 4, flag: 1, byte: 1, vec3: 24, quat: 32, pose: 56 };

// One struct is no part of the library's headers (scenes/scenes.h).
const own: Readonly<Record<string, string>> = { scene_marker: '64,name chars 0 32,body int 32 0,local vec3 40 0' };

const read = new Map<string, Layout>();

function layoutWith(size: number, list: readonly Member[]): Layout {
    const shown = list.filter(({ kind }) => kind !== 'address').map(({ name }) => [name, null] as const);
    return { size, list, members: new Map(list.map((member) => [member.name, member])), shape: Object.fromEntries(shown) };
}

/** The layout of a struct without some of its members. */
export function layoutBut(struct: string, ...names: string[]): Layout {
    const { size, list } = layoutOf(struct);
    return layoutWith(size, list.filter(({ name }) => !names.includes(name)));
}

/** The layout of a struct of the C side. */
export function layoutOf(struct: string): Layout {
    let layout = read.get(struct);
    if (!layout) {
        const [size, ...parts] = (layouts[struct] ?? own[struct]!).split(',');
        const list = parts.map((part): Member => {
            const [name, what, offset, count] = part.split(' ') as [string, string, string, string];
            const [kind, of = ''] = what.split(':') as [string, string?];
            return { name, kind, of, names: (enums as Readonly<Record<string, readonly string[]>>)[of], offset: Number(offset), count: Number(count) };
        });
        layout = layoutWith(Number(size), list);
        read.set(struct, layout);
    }
    return layout;
}

/** Where a member of a struct is. */
export function memberAt(struct: string, address: Address, name: string): Address {
    return address + layoutOf(struct).members.get(name)!.offset;
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

function getValue(module: Module, { kind, names, of }: Member, at: Address): unknown {
    const { data } = module;
    switch (kind) {
        case 'number': return data.getFloat64(at, true);
        case 'int': return data.getInt32(at, true);
        case 'enum': return names![data.getInt32(at, true)];
        case 'flag': return data.getUint8(at) !== 0;
        case 'long': return Number(data.getBigUint64(at, true));
        case 'address': return data.getUint32(at, true);
        case 'text': return data.getInt32(at, true) === 0 ? null : module.string(data.getUint32(at, true));
        case 'chars': return module.string(at);
        case 'vec3': return vec3At(module.view(at, 3), 0);
        case 'quat': return quatAt(module.view(at, 4), 0);
        case 'pose': return poseOf(module.view(at, 7));
        case 'byte': return data.getUint8(at);
        case 'float': return data.getFloat32(at, true);
        default: return getStruct(module, of, at);
    }
}

const stepOf = ({ kind, of }: Member) => sizes[kind] ?? layoutOf(of).size;

/** A struct as an object. Texts that are not there are null. Addresses can be asked for, but go into no copy. */
export function getStruct<T>(module: Module, struct: string | Layout, address: Address): T {
    const { list, shape } = typeof struct === 'string' ? layoutOf(struct) : struct;
    const values: Record<string, unknown> = { ...shape };
    for (const member of list) {
        const at = address + member.offset;
        const { name } = member;
        if (member.kind === 'address') {
            Object.defineProperty(values, name, { value: getValue(module, member, at) });
        } else if (member.count > 0 && member.kind !== 'chars') {
            values[name] = Array.from({ length: member.count }, (_, i) => getValue(module, member, at + i * stepOf(member)));
        } else {
            values[name] = getValue(module, member, at);
        }
    }
    return values as T;
}

/** An array of structs, or the part of it from `address` on. */
export function getStructs<T>(module: Module, struct: string, address: Address, count: number): T[] {
    const { size } = layoutOf(struct);
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

function setValue(module: Module, name: string, { kind, names, of }: Member, at: Address, value: unknown): void {
    const { data } = module;
    if (kind === 'number') {
        if (typeof value !== 'number') {
            throw refuse(name, value, 'a number');
        }
        data.setFloat64(at, value, true);
    } else if (kind === 'int' || kind === 'enum') {
        const index = names ? names.indexOf(value === 'newton_projected' ? 'newton' : (value as string)) : (value as number);
        if (names && index < 0) {
            throw new PoiseError('argument', `${name}: "${String(value)}" is not one of ${names.join(', ')}`);
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
    } else if (kind === 'vec3' || kind === 'quat') {
        module.view(at, LENGTHS[kind]).set(exactly(kind, name, value));
    } else if (kind === 'struct') {
        setStruct(module, of, at, value as object);
    } else {
        throw refuse(name, value, 'to be set');
    }
}

function setMember(module: Module, name: string, member: Member, struct: Address, value: unknown): void {
    const at = struct + member.offset;
    if (member.count > 0) {
        const elements = Array.from(value as ArrayLike<unknown>).slice(0, member.count);
        elements.forEach((element, i) => setValue(module, name, member, at + i * stepOf(member), element));
    } else {
        setValue(module, name, member, at, value);
    }
}

/**
 * Write over the members that `values` has; one that the struct does not have is an error. What is an address, or is not the
 * user's to give, comes by `own`.
 */
export function setStruct(module: Module, struct: string, address: Address, values: object, own: object = {}): void {
    const { members } = layoutOf(struct);
    const isOpen = (name: string) => !['address', 'text', 'chars', undefined].includes(members.get(name)?.kind);
    const unknown = Object.keys(values).filter((name) => !isOpen(name));
    if (unknown.length > 0) {
        throw new PoiseError('argument', `unknown option: ${unknown.join(', ')}`);
    }
    for (const [name, value] of [...Object.entries(values), ...Object.entries(own)]) {
        if (value !== undefined) {
            setMember(module, name, members.get(name)!, address, value);
            if (struct === 'poise_solver_options' && name === 'method') {
                const index = module.data.getInt32(address + members.get(name)!.offset, true);
                setMember(module, 'engine', members.get('engine')!, address, module.call('poise_papers_engine', index));
            }
        }
    }
}

/** New memory for structs, zeroed. */
export function newStructs(module: Module, struct: string, count = 1): Address {
    return module.allocate(layoutOf(struct).size * count);
}

/** Fill a struct with its defaults. */
export function initStruct(module: Module, struct: string, address: Address): void {
    module.call('poise_init', types[struct]!, address, layoutOf(struct).size);
}

/** A new struct: its defaults, or zeros where it has none, with these values over them. */
export function newStruct(module: Module, struct: string, values: object, own: object = {}): Address {
    const address = newStructs(module, struct);
    try {
        if (struct in types) {
            initStruct(module, struct, address);
        }
        setStruct(module, struct, address, values, own);
    } catch (error) {
        module.release(address);
        throw error;
    }
    return address;
}
