"""Reads the public headers, which are the schema: structs, members, defaults, names of enum values, functions.

Everything that is generated (schema/generate.py) comes from what this gives. A header is written as before, strictly:

    // Fill with poise_step_options_default(), change what you like.
    typedef struct poise_step_options {
        const double *velocity; // NULL [nv]: largest, per second
        double gain;            // 1: share of the errors that one step removes, in (0, 1]
    } poise_step_options;

Every member has a comment, beside it or above it; lines that are indented further go on with it. In a struct that has a
default (a poise_..._default() returns it, or another one with a default holds it) the comment begins with that of the member:

    DEFAULT [unit or length]: text

The default ends at a colon, a semicolon, or where the comment ends. It is a number, true, false, infinity, -infinity, NaN,
NULL, WORLD, NONE, a value of the member's enum without its prefix; of an array that of each element; `identity` of a pose or a
rotation, `zero`, `x`, `y`, `z` of a vector. What a struct within differs in from its own defaults: `name = value, ...`, or
`zero` where it is zero. A pointer without a default is NULL: the caller sets it.

Two things stand where a default may be missing. In a struct with a `kind` or a `type`, kinds that use a member follow the
default: `0: DISTANCE, PLANE; text`. An array by the values of an enum, such as thresholds, takes its defaults from their
comments, which then begin with a number for each such array: `POISE_FINDING_GIVEN, // 0.012, 0.024: text`.

The name of an enum value is what follows the prefix that all values share, in lower case, unless its comment begins with
another: `POISE_OK = 0, // "ok": text`. A value that ends in COUNT only counts, as does one "how many there are".
"""
import ast
import re
from dataclasses import dataclass, field
from pathlib import Path

UNITS = ('length', 'rad', 's', '1/s', 'coordinate', 'coordinate/s', 'coordinate/s2', 'length2', 'share', 'frames', 'degrees', 'kg')

NUMBERS = {'double': 'number', 'float': 'number', 'int': 'int', 'unsigned': 'int', 'uint32_t': 'int', 'int64_t': 'long',
           'uint64_t': 'long', 'size_t': 'size', 'bool': 'flag', 'char': 'char', 'signed char': 'char', 'unsigned char': 'char'}


class Wrong(Exception):
    """A header that is not written as expected: file, line and what was expected."""

    def __init__(self, place, text):
        super().__init__(f'{place[0]}:{place[1]}: {text}')


@dataclass
class Member:
    name: str
    type: str           # without const and pointers: double, poise_pose
    pointers: int       # how many stars
    const: bool         # what it points to
    array: object       # elements; None: it is no array
    function: str       # the whole declaration of a pointer to a function, else ''
    doc: str            # the comment, without default, unit and length
    place: tuple
    default: object = None  # as C writes it; None: none
    default_word: str = ''  # as the comment writes it
    unit: str = ''
    length: str = ''
    kinds: tuple = ()
    comment: str = ''   # as it is in the header
    own: list = field(default_factory=list)  # what a struct within differs in: (name, value)


@dataclass
class Struct:
    name: str
    doc: str
    place: tuple
    members: list       # None: opaque
    has_default: bool = False
    made_by: str = ''   # the function that returns its default


@dataclass
class Value:
    symbol: str
    number: int
    name: str           # None: it counts, or is another name of a value before it
    doc: str
    place: tuple
    defaults: list = field(default_factory=list)


@dataclass
class Enum:
    name: str           # '' without
    doc: str
    place: tuple
    values: list


@dataclass
class Function:
    name: str
    result: str
    parameters: str
    doc: str
    place: tuple
    inline: bool


@dataclass
class Schema:
    headers: list
    structs: dict
    enums: dict
    functions: dict
    callbacks: dict
    constants: dict     # by name: a number, or a text

    def members(self, name):
        """Members of a struct with those of structs within, which have a dotted name: (dotted name, member)."""
        for member in self.structs[name].members:
            yield member.name, member


# ---- Lines ---------------------------------------------------------------------------------------------------------------

def split(line):
    """The code of a line, and its comment or None."""
    if '//' not in line:
        return line.rstrip(), None
    at = line.index('//')
    return line[:at].rstrip(), line[at + 2:].strip()


class Reader:
    def __init__(self, path, schema):
        self.path, self.schema, self.at, self.doc = path, schema, 0, []
        self.lines = path.read_text(encoding='utf-8').replace('\r\n', '\n').split('\n')
        self.ends = []  # of `#if` that are open

    def place(self, line=None):
        return (self.path.name, (self.at if line is None else line) + 1)

    def read(self):
        while self.at < len(self.lines):
            code, comment = split(self.lines[self.at])
            if not code:
                self.doc = self.doc + [comment] if comment is not None else []
                self.at += 1
            elif code.startswith('#'):
                self.preprocessor(code, comment)
            elif code in ('extern "C" {', '}'):
                self.at += 1
            else:
                self.declaration(code)
                self.doc = []

    def preprocessor(self, code, comment):
        match = re.fullmatch(r'#define (POISE_\w+)\s+(\S.*)', code)
        if match and match[1] != 'POISE_API':
            self.schema.constants[match[1]] = value_of(match[2], self.schema.constants)
        elif not re.match(r'#(ifndef|ifdef|if|elif|else|endif|include|define)\b', code):
            raise Wrong(self.place(), f'a preprocessor line that is not expected here: {code}')
        while code.endswith('\\'):
            self.at += 1
            code, comment = split(self.lines[self.at])
        self.at += 1

    def declaration(self, code):
        if re.fullmatch(r'(typedef )?enum( \w+)? \{.*', code):
            self.enum(code)
        elif re.fullmatch(r'(typedef )?struct \w+ \{', code):
            self.struct(code)
        elif match := re.fullmatch(r'typedef struct (\w+) \1;', code):
            self.schema.structs.setdefault(match[1], Struct(match[1], ' '.join(self.doc), self.place(), None))
            self.at += 1
        elif code.startswith('typedef '):
            self.callback()
        elif code.startswith('static inline '):
            self.function(True)
        elif code.startswith('POISE_API '):
            self.function(False)
        else:
            raise Wrong(self.place(), f'a declaration was expected: typedef, enum, struct, POISE_API or static inline, not "{code}"')

    def statement(self, end):
        """The code up to the line that ends so, in one line."""
        begin, text = self.at, ''
        while self.at < len(self.lines):
            code, _ = split(self.lines[self.at])
            text += ' ' + code.strip()
            self.at += 1
            if code.endswith(end):
                return text.strip()
        raise Wrong(self.place(begin), f'"{end}" was expected before the end of the header')

    def callback(self):
        place, doc = self.place(), ' '.join(self.doc)
        text = self.statement(';')
        match = re.fullmatch(r'typedef (.*)\(\*(\w+)\)\((.*)\);', text)
        if not match:
            raise Wrong(place, f'a typedef of a struct, an enum or a pointer to a function was expected, not "{text}"')
        self.schema.callbacks[match[2]] = Function(match[2], match[1].strip(), match[3], doc, place, False)

    def function(self, inline):
        place, doc = self.place(), ' '.join(self.doc)
        if inline:
            begin, text = self.at, ''
            while self.at < len(self.lines) and self.lines[self.at] != '{':
                text += ' ' + split(self.lines[self.at])[0].strip()
                self.at += 1
            while self.at < len(self.lines) and self.lines[self.at] != '}':
                self.at += 1
            if self.at == len(self.lines):
                raise Wrong(self.place(begin), 'a function between "{" and "}", each on a line of its own, was expected')
            self.at += 1
            text = text.strip().removeprefix('static inline ')
        else:
            text = self.statement(';').removeprefix('POISE_API ').removesuffix(';')
        match = re.fullmatch(r'(.*?)(\w+)\((.*)\)', text)
        if not match or not match[2].startswith('poise_'):
            raise Wrong(place, f'a function called poise_... was expected, not "{text}"')
        if match[2] in self.schema.functions:
            raise Wrong(place, f'{match[2]} is declared twice')
        self.schema.functions[match[2]] = Function(match[2], match[1].strip(), match[3], doc, place, inline)

    # ---- Enums -----------------------------------------------------------------------------------------------------------

    def enum(self, code):
        place, doc = self.place(), ' '.join(self.doc)
        name = re.match(r'(?:typedef )?enum(?: (\w+))? \{', code)[1] or ''
        entries = []
        if '}' in code:
            entries = [(part.strip(), '', self.at) for part in code[code.index('{') + 1:code.index('}')].split(',')]
            end = code[code.index('}'):]
            self.at += 1
        else:
            for text, comment, line in self.body():
                text = text.removesuffix(',')
                entries.append((text, comment, line))
            end = split(self.lines[self.at])[0]
            self.at += 1
        if name and end != f'}} {name};' or not name and end != '};':
            raise Wrong(self.place(self.at - 1), f'"}} {name};" was expected' if name else '"};" was expected')
        enum, number, known = Enum(name, doc, place, []), -1, {}
        for text, comment, line in entries:
            match = re.fullmatch(r'(POISE_\w+)(?: = (.+))?', text)
            if not match:
                raise Wrong(self.place(line), f'a value POISE_... was expected, not "{text}"')
            number = value_of(match[2], self.schema.constants) if match[2] else number + 1
            if not isinstance(number, int):
                raise Wrong(self.place(line), f'a whole number was expected, not "{match[2]}"')
            if match[1] in self.schema.constants:
                raise Wrong(self.place(line), f'{match[1]} is there twice')
            self.schema.constants[match[1]] = number
            known[match[1]] = number
            enum.values.append(Value(match[1], number, '', comment, self.place(line)))
        name_values(enum)
        if name:
            if name in self.schema.enums:
                raise Wrong(place, f'{name} is there twice')
            self.schema.enums[name] = enum

    # ---- Structs ---------------------------------------------------------------------------------------------------------

    def body(self):
        """The entries of a struct or an enum: (code, comment, line), up to the line with its end."""
        entries, above, code = [], [], ''
        self.at += 1
        begin, fresh = self.at, False
        while True:
            if self.at == len(self.lines):
                raise Wrong(self.place(begin - 1), '"}" was expected before the end of the header')
            line = self.lines[self.at]
            text, comment = split(line)
            if line.startswith('}'):
                break
            if text.startswith('#'):
                raise Wrong(self.place(), 'no "#" between members: they are the same everywhere')
            if not text and comment is None:
                above, fresh = [], False
            elif not text and len(line) - len(line.lstrip()) == 4:
                above, fresh = (above if fresh else []) + [comment], True
            elif not text:
                if not entries:
                    raise Wrong(self.place(), 'a comment goes on with that of a member, and there is none above')
                entries[-1][1].append(comment)
            else:
                if code:
                    entries[-1][0] += ' ' + text.strip()
                    entries[-1][1] += [comment] if comment else []
                else:
                    entries.append([text.strip(), [comment] if comment else above, self.at])
                above, fresh = [], False
                code = '' if text.endswith((';', ',')) or '=' not in text and '(' not in text else text
                if '(' in text and not text.endswith(';'):
                    code = text
                elif not text.endswith((';', ',')):
                    code = ''
            self.at += 1
        return [(text, ' '.join(comment), line) for text, comment, line in entries]

    def struct(self, code):
        place, doc = self.place(), ' '.join(self.doc)
        name = re.search(r'struct (\w+) \{', code)[1]
        members, seen = [], set()
        for text, comment, line in self.body():
            for member in members_of(text, comment, self.place(line), self.schema.constants):
                if member.name in seen:
                    raise Wrong(self.place(line), f'{name}.{member.name} is there twice')
                seen.add(member.name)
                members.append(member)
        end = split(self.lines[self.at])[0]
        if end != (f'}} {name};' if code.startswith('typedef') else '};'):
            raise Wrong(self.place(), f'"}} {name};" was expected')
        self.at += 1
        known = self.schema.structs.get(name)
        if known and known.members is not None:
            raise Wrong(place, f'{name} is there twice')
        self.schema.structs.pop(name, None)
        self.schema.structs[name] = Struct(name, doc or (known.doc if known else ''), place, members)


def value_of(text, constants):
    """A number of a `#define` or an enum; what is none stays a text."""
    text = re.sub(r'[A-Z_][A-Z_0-9]*', lambda m: str(constants.get(m[0], m[0])), text.strip())
    if re.fullmatch(r'\(?-?[\d.]+(e-?\d+)?\)?|[\d\s+\-*<]+', text):
        number = eval(text, {'__builtins__': {}})  # digits and signs alone
        return number
    return text.strip('"')


def members_of(text, comment, place, constants):
    """The members that one declaration declares."""
    if not text.endswith(';'):
        raise Wrong(place, f'";" was expected at the end of "{text}"')
    text = text[:-1]
    if re.match(r'(union|struct)\b.*\{', text) or re.search(r':\s*\d+$', text):
        raise Wrong(place, 'no unions, bit fields and structs without a name: other languages have none')
    if match := re.fullmatch(r'(.*)\(\*(\w+)\)\((.*)\)', text):
        names, kind = [(match[2], None)], ('function', 0, False, text)
    else:
        match = re.fullmatch(r'(const )?(?:struct )?((?:un)?signed char|\w+) (\**|\*const \*)(\w+(?:\[\w+\])*(?:, \w+(?:\[\w+\])*)*)', text)
        if not match:
            raise Wrong(place, f'a member such as "double a, b;" or "const char *name;" was expected, not "{text}"')
        kind = (match[2], match[3].count('*'), bool(match[1]), '')
        names = []
        for part in match[4].split(', '):
            name, *array = re.findall(r'\w+', part)
            if len(array) > 1:
                raise Wrong(place, f'{name}: no arrays of two dimensions')
            size = int(array[0]) if array and array[0].isdigit() else constants.get(array[0]) if array else None
            if array and not isinstance(size, int):
                raise Wrong(place, f'{name}: {array[0]} is no constant of a header read so far')
            names.append((name, size))
    if not comment:
        raise Wrong(place, f'{names[0][0]}: a comment was expected')
    return [Member(name, kind[0], kind[1], kind[2], size, kind[3], comment, place, comment=comment) for name, size in names]


# ---- Names of values -----------------------------------------------------------------------------------------------------

THRESHOLD = r'(?:\d+(?:\.\d+)?(?:e-?\d+)?(?: degrees)?|never)'


def is_count(value):
    return value.symbol.endswith('_COUNT') or value.doc == 'how many there are'


def prefix_of(enum):
    """What the names of all values begin with, up to an underscore."""
    words = [value.symbol.split('_') for value in enum.values if value.name is not None]
    shared = 0
    while words and all(len(w) > shared + 1 and w[shared] == words[0][shared] for w in words):
        shared += 1
    return '_'.join(words[0][:shared]) + '_' if words else ''


def name_values(enum):
    real, numbers = [], set()
    for value in enum.values:
        if is_count(value) or value.number in numbers:
            value.name = None
        else:
            real.append(value)
        numbers.add(value.number)
    prefix = prefix_of(enum)
    for value in real:
        value.name = value.symbol.removeprefix(prefix).lower()
        if match := re.match(r'"([^"]*)"(?:: |$)', value.doc):
            value.name, value.doc = match[1], value.doc[match.end():]
        elif value.doc.startswith('"'):
            raise Wrong(value.place, f'{value.symbol}: "name": text was expected')
        if match := re.match(f'({THRESHOLD}(?:, {THRESHOLD})*): ', value.doc):
            value.defaults, value.doc = match[1].split(', '), value.doc[match.end():]



# ---- Defaults ------------------------------------------------------------------------------------------------------------

WORDS = {'true': 'true', 'false': 'false', 'infinity': 'INFINITY', '-infinity': '-INFINITY', 'NaN': 'NAN', 'NULL': 'NULL',
         'WORLD': 'POISE_WORLD', 'NONE': 'POISE_NONE'}
FRAMES = {'poise_pose': {'identity': '{{0, 0, 0, 1}, {0, 0, 0}}'}, 'poise_quat': {'identity': '{0, 0, 0, 1}'},
          'poise_vec3': {'zero': '{0, 0, 0}', 'x': '{1, 0, 0}', 'y': '{0, 1, 0}', 'z': '{0, 0, 1}'}}
NUMBER = r'-?\d+(?:\.\d+)?(?:e-?\d+)?'


def scalar(member, word, schema):
    """A default of one number, flag, value or frame, as C writes it; None: it is no default of such a member."""
    if member.pointers or member.function or member.type in schema.callbacks:
        return 'NULL' if word == 'NULL' else None
    if member.type in schema.enums:
        for value in schema.enums[member.type].values:
            if value.name is not None and value.symbol.endswith('_' + word):
                return value.symbol
        return None
    if member.type in FRAMES:
        return FRAMES[member.type].get(word)
    if member.type in schema.structs:
        return '{0}' if word == 'zero' else None
    kind = NUMBERS.get(member.type)
    if kind == 'flag':
        return word if word in ('true', 'false') else None
    if re.fullmatch(NUMBER, word):
        whole = '.' not in word and 'e' not in word
        return (word if kind != 'number' or not whole else word + '.0') if whole or kind == 'number' else None
    if kind == 'number':
        return WORDS.get(word) if word in ('infinity', '-infinity', 'NaN') else None
    return WORDS.get(word) if kind == 'int' and word in ('WORLD', 'NONE') else None


def expected(member, schema):
    if member.type in schema.enums:
        return 'one of ' + ', '.join(v.symbol.removeprefix(prefix_of(schema.enums[member.type])) for v in
                                     schema.enums[member.type].values if v.name is not None)
    kind = 'true or false' if member.type == 'bool' else 'identity' if member.type in ('poise_pose', 'poise_quat') else \
        'zero, x, y or z' if member.type == 'poise_vec3' else 'NULL' if member.pointers else 'a number'
    return f'{kind}, then ":", ";" or the end'


def take_default(struct, member, schema):
    """Split the comment of a member into default, unit or length, and text."""
    within = schema.structs.get(member.type) if not member.pointers else None
    by_value = not member.array and within is not None and within.has_default and member.type not in FRAMES
    head = re.match(r'([^\s:;,\[\]]+)', member.comment)
    word, rest = (head[1], member.comment[head.end():]) if head else ('', member.comment)
    where = f'{struct.name}.{member.name}'
    if by_value:
        if match := re.match(rf'(\w+ = [^\s:;,]+(?:, \w+ = [^\s:;,]+)*)(?=[:;]|$)', member.comment):
            inner = {m.name: m for m in within.members}
            for part in match[1].split(', '):
                name, value = part.split(' = ')
                if name not in inner or scalar(inner[name], value, schema) is None:
                    raise Wrong(member.place, f'{where}: {part}: {member.type} has no such member, or it takes no such value')
                member.own.append((name, scalar(inner[name], value, schema)))
            member.doc = member.comment[match.end():].lstrip(':; ')
            return
        if not (word == 'zero' and re.match(r'[:;]|$', rest)):
            member.doc = member.comment
            return
    enum = schema.enums and member.array and not member.pointers and enum_by_count(member, schema)
    if enum and any(value.defaults for value in enum.values):
        return
    default = scalar(member, word, schema)
    ends = re.match(r' \[([^\]]+)\](?=[:;]|$)|(?=[:;]|$)', rest)
    if default is None or not ends:
        pointer = member.pointers or member.function or member.type in schema.callbacks
        if pointer and word != 'NULL' or member.array and member.type == 'char':
            member.default, member.doc = None, member.comment
            return
        if member.type in schema.enums:
            raise Wrong(member.place, f'{where}: the default {word} is not {expected(member, schema)}')
        raise Wrong(member.place, f'{where}: a default was expected: {expected(member, schema)}; not "{member.comment[:40]}"')
    mark = ends[1]
    if mark:
        lengths = {'nq', 'nv'} | {m.name for m in struct.members}
        parts = re.split(r' x ', mark)
        if mark in UNITS:
            member.unit = mark
        elif member.pointers and all(part in lengths or part.isdigit() for part in parts):
            member.length = mark
        else:
            raise Wrong(member.place, f'{where}: [{mark}] is neither a unit ({", ".join(UNITS)}) nor a length (nq, nv, a number '
                        'or a member, of a pointer)')
    member.default, member.default_word = default, word
    member.doc = rest[ends.end():].lstrip(':; ')


def enum_by_count(member, schema):
    """The enum whose values count the elements of an array."""
    for enum in schema.enums.values():
        if enum.values[-1].symbol.endswith('_COUNT') and enum.values[-1].number == member.array > 7:
            return enum
    return None


def take_kinds(struct, member, schema):
    kind = next((m for m in struct.members if m.name in ('kind', 'type') and m.type in schema.enums), None)
    match = re.match(r'(not )?([A-Z][A-Z_0-9]+(?:, [A-Z][A-Z_0-9]+)*)(?=[:;.]|$)', member.doc)
    if not kind or not match or member is kind:
        return
    prefix, enum = prefix_of(schema.enums[kind.type]), schema.enums[kind.type]
    known = [value.symbol.removeprefix(prefix) for value in enum.values if value.name is not None]
    words = match[2].split(', ')
    if words == ['NULL'] or words[0] in ('NULL', 'NONE'):
        return
    for word in words:
        if word not in known:
            raise Wrong(member.place, f'{struct.name}.{member.name}: the kind {word} is not one of {", ".join(known)}')
    member.kinds = tuple(k for k in known if k not in words) if match[1] else tuple(words)


def default_makers(schema):
    """Mark the structs that have defaults: those that a poise_..._default returns, and those within them."""
    for function in schema.functions.values():
        if function.name.endswith('_default') and function.result in schema.structs:
            struct = schema.structs[function.result]
            struct.has_default, struct.made_by = True, function.name
    open_ones = [s for s in schema.structs.values() if s.has_default]
    while open_ones:
        struct = open_ones.pop()
        if struct.members is None:
            raise Wrong(struct.place, f'{struct.name} is opaque, and {struct.made_by} returns it')
        for member in struct.members:
            within = schema.structs.get(member.type)
            if within and not member.pointers and not member.array and not within.has_default and within.members is not None \
                    and member.type not in FRAMES and not re.match(r'zero(?=[:;]|$)', member.comment):
                within.has_default = True
                open_ones.append(within)


def read(folder):
    """The schema of all headers of a folder, each after those that it includes."""
    paths, done = {path.name: path for path in sorted(Path(folder).glob('*.h'))}, []

    def visit(name):
        if name in paths and name not in done:
            done_before = len(done)
            for include in re.findall(r'#include <poise/(\w+\.h)>', paths[name].read_text(encoding='utf-8')):
                if include != name:
                    visit(include)
            assert done_before <= len(done)
            done.append(name)

    for name in paths:
        if name not in GENERATED:
            visit(name)
    schema = Schema([name for name in done if name not in GENERATED], {}, {}, {}, {}, {})
    for name in schema.headers:
        Reader(paths[name], schema).read()
    default_makers(schema)
    for struct in schema.structs.values():
        for member in struct.members or []:
            if not (member.type in schema.structs or member.type in schema.enums or member.type in schema.callbacks
                    or member.type in NUMBERS or member.type in ('void', 'function')):
                raise Wrong(member.place, f'{struct.name}.{member.name}: {member.type} is in no header read so far')
            if struct.has_default:
                take_default(struct, member, schema)
            take_kinds(struct, member, schema)
    return schema


GENERATED = ('schema.h',)
