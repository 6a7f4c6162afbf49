#!/usr/bin/env python3
"""Makes what is generated from the public headers (schema/headers.py).

generate.py            schema/schema.c and include/poise/schema.h: defaults and names, which are in git, with a hash of the headers
generate.py --check    fails unless both are what would be made
generate.py python FILE            tables of members for the Python extension
generate.py stub FILE              a .pyi file, from the same with .in behind it: `$options(poise_solver_options)` among parameters,
                                   `$members(poise_report, but, these)` in a class
generate.py web FILE               for TypeScript: layouts of all structs in WebAssembly, names and types
generate.py web-check FILE         a C file that compiles for WebAssembly where these layouts are right
"""
import hashlib
import re
import sys
from pathlib import Path

import headers

ROOT = Path(__file__).resolve().parent.parent
HEADERS = ROOT / 'include' / 'poise'
NOTE = '// Made from the headers by schema/generate.py; not to be edited.'
DEGREE = '0.017453292519943295'


def hash_of():
    """Of all that decides what is made: CMake computes the same (schema/schema.cmake)."""
    files = sorted(p for p in HEADERS.glob('*.h') if p.name not in headers.GENERATED)
    text = ''.join(p.read_bytes().decode().replace('\r\n', '\n')
                   for p in files + [ROOT / 'schema' / 'generate.py', ROOT / 'schema' / 'headers.py'])
    return hashlib.sha256(text.encode()).hexdigest()


def constant(name):
    """poise_solver_options -> SOLVER_OPTIONS"""
    return name.removeprefix('poise_').upper()


def types_of(schema):
    """Structs with defaults and enums with names, which poise_init and poise_name know, in the order of their numbers: those that
    have one keep it."""
    known = [name for name, struct in schema.structs.items() if struct.has_default] + \
            [name for name, enum in schema.enums.items() if any(value.name is not None for value in enum.values)]
    old = HEADERS / 'schema.h'
    given = re.findall(r'^    POISE_TYPE_(\w+)', old.read_text(), re.M) if old.exists() else []
    by_constant = {constant(name): name for name in known}
    kept = [by_constant.get(word) for word in given if word != 'COUNT']
    return [(word, name) for word, name in zip(given, kept) if name] + \
           [(constant(name), name) for name in known if constant(name) not in given]


# ---- schema.c ------------------------------------------------------------------------------------------------------------

def number_of(text):
    """A number of an enum value's comment, as C writes it: `5 degrees`, `never`."""
    return '1e300' if text == 'never' else f'{text[:-8]} * {DEGREE}' if text.endswith(' degrees') else text


def by_enum(schema, struct, member):
    """The elements of an array by the values of an enum, from their comments; None: it is no such array."""
    enum = headers.enum_by_count(member, schema) if member.array and not member.pointers else None
    if not enum or member.default or not any(value.defaults for value in enum.values):
        return None
    which = [m.name for m in struct.members if m.array == member.array].index(member.name)
    real = [value for value in enum.values if value.name is not None]
    for value in real:
        if not value.defaults:
            raise headers.Wrong(value.place, f'{value.symbol}: a number for {struct.name}.{member.name} was expected first')
    return '{' + ', '.join(f'[{v.symbol}] = {number_of(v.defaults[which]) if which < len(v.defaults) else "1e300"}' for v in real) + '}'


ZEROS = ('0', '0.0', 'false', 'NULL', '{0}', '{0, 0, 0}')


def initialiser(schema, name, own=()):
    """A struct's default as C writes it, without what is zero."""
    struct, over, parts = schema.structs[name], dict(own), []
    for member in struct.members:
        text = over.get(member.name, member.default)
        within = schema.structs.get(member.type) if not member.pointers and not member.array else None
        if text is None and within and within.has_default and member.type not in headers.FRAMES:
            text = initialiser(schema, member.type, member.own)
        elif text is None:
            text = by_enum(schema, struct, member)
        elif member.array and text not in ZEROS:
            text = '{' + ', '.join([text] * member.array) + '}'
        enum = schema.enums.get(member.type)
        is_zero = enum and any(v.symbol == text and v.number == 0 for v in enum.values)
        if text is not None and text not in ZEROS and not is_zero:
            parts.append(f'.{member.name} = {text}')
    return '{' + ', '.join(parts) + '}' if parts else '{0}'


def library_source(schema, types):
    out = [NOTE, f'// hash of the headers: {hash_of()}', '', '// clang-format off', '#include "schema/schema.h"', '',
           '#include <poise/cuda.h>', '#include <poise/poise.h>', '', '#include <math.h>', '']
    rows = []
    for word, name in types:
        if name in schema.structs:
            out.append(f'static const {name} default_{word.lower()} = {initialiser(schema, name)};')
            rows.append(f'    [POISE_TYPE_{word}] = {{&default_{word.lower()}, sizeof default_{word.lower()}, NULL, 0}},')
    out.append('')
    for word, name in types:
        if name in schema.enums:
            real = [value for value in schema.enums[name].values if value.name is not None]
            out.append(f'static const pz_value values_{word.lower()}[] = {{')
            out += [f'    {{{value.symbol}, "{value.name}"}},' for value in real] + ['};']
            rows.append(f'    [POISE_TYPE_{word}] = {{NULL, 0, values_{word.lower()}, {len(real)}}},')
    out += ['', 'const pz_type pz_types[POISE_TYPE_COUNT] = {'] + rows + ['};']
    return '\n'.join(out) + '\n'


def library_header(types):
    lines = [NOTE,
             '// Poise: the types that have defaults or names, for poise_init and poise_name (base.h). Numbers stay as they are.',
             '#ifndef POISE_SCHEMA_H', '#define POISE_SCHEMA_H', '', '// clang-format off', 'typedef enum poise_type {']
    lines += [f'    POISE_TYPE_{word}{" = 0" if i == 0 else ""},' for i, (word, _) in enumerate(types)]
    return '\n'.join(lines + ['    POISE_TYPE_COUNT', '} poise_type;', '// clang-format on', '', '#endif']) + '\n'


def library(schema):
    types = types_of(schema)
    return {ROOT / 'schema' / 'schema.c': library_source(schema, types), HEADERS / 'schema.h': library_header(types)}


# ---- TypeScript ----------------------------------------------------------------------------------------------------------

WASM = {'double': (8, 8), 'float': (4, 4), 'int': (4, 4), 'unsigned': (4, 4), 'uint32_t': (4, 4), 'int64_t': (8, 8),
        'uint64_t': (8, 8), 'size_t': (4, 4), 'bool': (1, 1), 'char': (1, 1), 'signed char': (1, 1), 'unsigned char': (1, 1)}
VALUES = {'poise_vec3': 'vec3', 'poise_quat': 'quat', 'poise_pose': 'pose'}
TS = {'vec3': 'Vec3', 'quat': 'Quat', 'pose': 'Pose', 'number': 'number', 'int': 'number', 'long': 'number', 'flag': 'boolean',
      'chars': 'string', 'text': 'string | null', 'byte': 'number', 'float': 'number'}


def camel(name):
    return re.sub('_([a-z0-9])', lambda m: m[1].upper(), name)


def pascal(name):
    return camel('_' + name)


def wasm_size(schema, member):
    """Size and alignment of one element of a member in WebAssembly, where addresses have 32 bits."""
    if member.pointers or member.function or member.type in schema.callbacks or member.type in schema.enums:
        return 4, 4
    return WASM[member.type] if member.type in WASM else wasm_layout(schema, member.type)[1:]


def wasm_layout(schema, name):
    """Offsets of the members of a struct, its size and its alignment."""
    offsets, at, align = [], 0, 1
    for member in schema.structs[name].members:
        size, step = wasm_size(schema, member)
        at = -(-at // step) * step
        offsets.append(at)
        at, align = at + size * (member.array or 1), max(align, step)
    return offsets, -(-at // align) * align, align


def is_listed(enum):
    """Are the values 0, 1, ..., so that names are a list?"""
    return [v.number for v in enum.values if v.name is not None] == list(range(sum(v.name is not None for v in enum.values)))


def web_kind(schema, member):
    if member.function or member.type in schema.callbacks or member.pointers > (member.type == 'char') or member.type == 'void':
        return 'address'
    if member.type == 'char' and member.pointers:
        return 'text'
    if member.type == 'char' and member.array:
        return 'chars'
    if member.type in schema.enums:
        return f'enum:{member.type}' if is_listed(schema.enums[member.type]) else 'int'
    if member.type in VALUES:
        return VALUES[member.type]
    if member.type in schema.structs:
        return f'struct:{member.type}'
    kind = headers.NUMBERS[member.type]
    return {'size': 'int', 'char': 'byte'}.get(kind, 'float' if member.type == 'float' else kind)


def is_group(schema, member):
    """Options that stand in a struct of their own: TypeScript has their members beside the others."""
    within = schema.structs.get(member.type) if not member.pointers and not member.array else None
    return within is not None and within.has_default and not within.made_by and member.type not in headers.FRAMES


def flat(schema, name, base=0):
    """Members as TypeScript has them: (name, kind, offset, elements, member)."""
    out, late = [], []
    for member, offset in zip(schema.structs[name].members, wasm_layout(schema, name)[0]):
        if is_group(schema, member):
            out += flat(schema, member.type, base + offset)
            continue
        out.append((camel(member.name), web_kind(schema, member), base + offset, member.array or 0, member))
        if out[-1][1].endswith(('_problem', '_options')) and member.type != 'poise_solver_options':
            late += flat(schema, member.type, base + offset)
    names = {entry[0] for entry in out}
    for entry in late:
        if entry[0] not in names:
            names.add(entry[0])
            out.append(entry)
    return out


def concrete(schema):
    return [name for name, struct in schema.structs.items() if struct.members is not None]


def web_types(schema, name):
    """The interface of a struct: what has no address."""
    lines = [f'/** {text_of(schema.structs[name].doc)} */', f'export interface {pascal(name)} {{']
    for word, kind, _, count, member in flat(schema, name):
        if kind == 'address':
            continue
        head, _, of = kind.partition(':')
        kind_text = pascal(of) if head in ('enum', 'struct') else TS[head]
        if head == 'text' and ('NULL' not in member.comment or 'never NULL' in member.comment):
            kind_text = 'string'
        if count and head != 'chars':
            kind_text = 'readonly number[]' if kind_text == 'number' else f'readonly {kind_text}[]' if ' ' not in kind_text else \
                f'readonly ({kind_text})[]'
        given = f'[{member.default_word}] ' if member.default_word else ''
        doc = text_of(member.doc)
        lines += ([f'    /** {given}{doc} */'] if given or doc else []) + [f'    readonly {word}: {kind_text};']
    return lines + ['}', '']


def text_of(text):
    return re.sub(r'\(\d\)', '', text.replace('*/', '* /')).strip()


def web(schema):
    types = types_of(schema)
    out = [NOTE, "import type { Pose, Quat, Vec3 } from './values.js';", '',
           '/** What may be given of a struct: what is left out has its default. */',
           'export type Options<T> = { -readonly [K in keyof T]?: T[K] };', '',
           '// Names of the values of enums, in their order.', 'export const enums = {']
    listed = [(name, enum) for name, enum in schema.enums.items() if is_listed(enum) and any(v.name for v in enum.values)]
    out += [f"    {name}: [{', '.join(repr(v.name) for v in enum.values if v.name is not None)}]," for name, enum in listed]
    out += ['} as const;', '']
    out += [f'export type {pascal(name)} = (typeof enums.{name})[number];' for name, _ in listed]
    out += ['', '// Numbers of the types that poise_init knows.', 'export const types: Readonly<Record<string, number>> = {']
    out += [f'    {name}: {i},' for i, (_, name) in enumerate(types)] + ['};', '',
            '// By struct its size, then name, kind, offset and number of elements of each member.',
            'export const layouts: Readonly<Record<string, string>> = {']
    for name in concrete(schema):
        size = wasm_layout(schema, name)[1]
        parts = [f'{word} {kind} {offset} {count}' for word, kind, offset, count, _ in flat(schema, name)]
        out.append(f"    {name}: '{size}," + ','.join(parts) + "',")
    out += ['};', '']
    for name in concrete(schema):
        if name not in VALUES:
            out += web_types(schema, name)
    return '\n'.join(out)


def web_check(schema):
    """Of this target is asked what its compiler makes of the structs."""
    out = [NOTE, '#include <poise/cuda.h>', '#include <poise/poise.h>']
    for name in concrete(schema):
        offsets, size, _ = wasm_layout(schema, name)
        out.append(f'_Static_assert(sizeof(struct {name}) == {size}, "{name}");')
        out += [f'_Static_assert(offsetof(struct {name}, {m.name}) == {at}, "{name}.{m.name}");'
                for m, at in zip(schema.structs[name].members, offsets)]
    return '\n'.join(out) + '\n'


# ---- Python --------------------------------------------------------------------------------------------------------------

OPTIONS = {'number': 'NUMBER', 'int': 'INTEGER', 'long': 'SEED', 'flag': 'FLAG'}
PYTHON = {'number': 'float', 'int': 'int', 'long': 'int', 'flag': 'bool', 'enum': 'str', 'text': 'str | None'}


def python_members(schema, name, path=''):
    """Numbers, flags, names and texts of a struct and of those within it that Python shows beside the others: (path, kind, member).
    How long an array is goes with the array."""
    struct, out, late = schema.structs[name], [], []
    has_arrays = any(m.pointers or m.array for m in struct.members)
    counts = {m.name for m in struct.members if has_arrays and m.name.endswith('_count')}
    lengths = {member.length for member in struct.members} | counts
    for member in struct.members:
        if is_group(schema, member):
            out += python_members(schema, member.type, f'{path}{member.name}.')
            continue
        kind, _, of = web_kind(schema, member).partition(':')
        if kind in PYTHON and not member.array and member.name not in lengths:
            out.append((path + member.name, kind, member))
        elif kind == 'struct' and of.endswith(('_problem', '_options')) and of != 'poise_solver_options' and not member.array:
            late += python_members(schema, of, f'{path}{member.name}.')
    names = {entry[2].name for entry in out}
    return out + [entry for entry in late if not (entry[2].name in names or names.add(entry[2].name))]


def python(schema):
    out = [NOTE, '// clang-format off', '#include "extension.h"', '', '#include <poise/cuda.h>', '']
    for name in concrete(schema):
        rows = []
        for path, kind, member in python_members(schema, name):
            option = {'enum': 'CHOICE', 'text': 'TEXT'}.get(kind) or OPTIONS[kind]
            of = f'POISE_TYPE_{constant(member.type)}' if kind == 'enum' else 'POISE_TYPE_COUNT'
            text = text_of(member.doc).replace('\\', '\\\\').replace('"', '\\"')
            rows.append(f'    {{"{member.name}", OPTION_{option}, offsetof(struct {name}, {path}), {of}, NULL, "{text}"}},')
        if rows:
            short = name.removeprefix('poise_')
            out += [f'static const option rows_{short}[] = {{'] + rows + ['};']
            out += [f'const table {short}_table = {{rows_{short}, {len(rows)}}};']
    return '\n'.join(out) + '\n'


def stub(schema, template):
    def options(match):
        name, *but = match[1].split(', ')
        return ', '.join(f'{m.name}: {PYTHON[kind]} = ...' for _, kind, m in python_members(schema, name) if m.name not in but)

    def members(match):
        name, *but = re.split(', ', match[2])
        return '\n'.join(f'{match[1]}@property\n{match[1]}def {m.name}(self) -> {PYTHON[kind]}: ...'
                         for _, kind, m in python_members(schema, name) if m.name not in but)

    text = re.sub(r'\$options\(([\w, ]+)\)', options, template)
    return '# Made by schema/generate.py; not to be edited.\n' + re.sub(r'^( *)\$members\(([\w, ]+)\)$', members, text, flags=re.M)


def main(arguments):
    try:
        schema = headers.read(HEADERS)
        made = library(schema)
        makers = {'web': web, 'web-check': web_check, 'python': python,
                  'stub': lambda schema: stub(schema, Path(arguments[1] + '.in').read_text())}
        if len(arguments) == 2 and arguments[0] in makers:
            made = {Path(arguments[1]): makers[arguments[0]](schema)}
            arguments = []
    except headers.Wrong as wrong:
        print(wrong, file=sys.stderr)
        return 1
    if arguments == ['--check']:
        wrong = [path for path, text in made.items() if not path.exists() or path.read_text() != text]
        for path in wrong:
            print(f'{path.relative_to(ROOT)} is not what the headers say; run: python3 schema/generate.py', file=sys.stderr)
        return 1 if wrong else 0
    if arguments:
        print(__doc__, file=sys.stderr)
        return 2
    for path, text in made.items():
        if not path.exists() or path.read_text() != text:
            path.write_bytes(text.encode())  # with these line ends everywhere
    return 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
