// Structs of the C side as rows of numbers. A list of fields says which member a number is; the C side (web/glue) reads and
// writes the same order.
import { PoiseError } from './errors.js';
import type { Address, Module } from './module.js';
import type { Pose, Quat, Vec3 } from './values.js';

/** What a member is: a number, a flag, a vector, a pose, one of a list of names, or (reading only) the address of a text. */
export type FieldKind = 'number' | 'flag' | 'vec3' | 'quat' | 'pose' | 'text' | readonly string[];

export type Field = readonly [name: string, kind: FieldKind];

function width(kind: FieldKind): number {
    return kind === 'pose' ? 7 : kind === 'quat' ? 4 : kind === 'vec3' ? 3 : 1;
}

export function widthOf(fields: readonly Field[]): number {
    return fields.reduce((sum, [, kind]) => sum + width(kind), 0);
}

export function vec3At(numbers: Float64Array, at: number): Vec3 {
    return [numbers[at] as number, numbers[at + 1] as number, numbers[at + 2] as number];
}

export function quatAt(numbers: Float64Array, at: number): Quat {
    return [numbers[at] as number, numbers[at + 1] as number, numbers[at + 2] as number, numbers[at + 3] as number];
}

export function poseAt(numbers: Float64Array, at: number): Pose {
    return { position: vec3At(numbers, at), rotation: quatAt(numbers, at + 3) };
}

function indexOf(names: readonly string[], name: unknown, field: string): number {
    const index = names.indexOf(name as string);
    if (index < 0) {
        throw new PoiseError('argument', `${field}: "${String(name)}" is none of ${names.join(', ')}`);
    }
    return index;
}

function setField(row: Float64Array, at: number, name: string, kind: FieldKind, value: unknown): void {
    if (kind === 'number') {
        row[at] = value as number;
    } else if (kind === 'flag') {
        row[at] = value ? 1 : 0;
    } else if (kind === 'pose') {
        row.set((value as Pose).position, at);
        row.set((value as Pose).rotation, at + 3);
    } else if (kind === 'vec3' || kind === 'quat') {
        row.set(value as ArrayLike<number>, at);
    } else if (kind !== 'text') {
        row[at] = indexOf(kind, value, name);
    }
}

/** Write the members that `values` has over those of the row. A member that no field names is an error. */
export function setFields(row: Float64Array, fields: readonly Field[], values: object): void {
    let known = 0;
    let at = 0;
    for (const [name, kind] of fields) {
        if (name in values) {
            known += 1;
            const value = (values as Record<string, unknown>)[name];
            if (value !== undefined) {
                setField(row, at, name, kind, value);
            }
        }
        at += width(kind);
    }
    if (known < Object.keys(values).length) {
        const names = new Set(fields.map(([name]) => name));
        const unknown = Object.keys(values).filter((name) => !names.has(name));
        throw new PoiseError('argument', `unknown option: ${unknown.join(', ')}`);
    }
}

/** A row as an object. */
export function getFields<T>(module: Module, row: Float64Array, fields: readonly Field[]): T {
    const values: Record<string, unknown> = {};
    let at = 0;
    for (const [name, kind] of fields) {
        const x = row[at] as number;
        if (kind === 'number') {
            values[name] = x;
        } else if (kind === 'flag') {
            values[name] = x !== 0;
        } else if (kind === 'vec3') {
            values[name] = vec3At(row, at);
        } else if (kind === 'quat') {
            values[name] = quatAt(row, at);
        } else if (kind === 'pose') {
            values[name] = poseAt(row, at);
        } else {
            values[name] = kind === 'text' ? module.string(x) : kind[x];
        }
        at += width(kind);
    }
    return values as T;
}

/** Defaults from the C side with the caller's values over them, in new memory. */
export function optionsRow(module: Module, defaults: string, fields: readonly Field[], values: object, more = 0): Address {
    const address = module.allocate(8 * (widthOf(fields) + more));
    try {
        module.call(defaults, address);
        setFields(module.view(address, widthOf(fields)), fields, values);
    } catch (error) {
        module.release(address);
        throw error;
    }
    return address;
}
