#!/usr/bin/env python3
"""Tests of the reader of our headers: what it must refuse, with the line, and what it must read; clang as a second reader.

test_headers.py [CLANG]
"""
import json
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import generate
import headers

CLANG = sys.argv.pop(1) if len(sys.argv) > 1 and not sys.argv[1].startswith('-') else ''

SOUND = '''// Options.
#ifndef POISE_ONE_H
#define POISE_ONE_H
#define POISE_MOST 3
typedef enum poise_color {
    POISE_COLOR_RED = 0, // warm
    POISE_COLOR_DARK_BLUE, // "navy": cold
    POISE_COLOR_COUNT
} poise_color;
typedef bool (*poise_ask)(void *user, int number);
typedef struct poise_small {
    double share; // 0.5 [share]: of all
} poise_small;
// Fill with poise_big_default().
typedef struct poise_big {
    poise_color color;    // DARK_BLUE: of the box
    int count, most;      // 2: how many,
                          // at most
    double limits[POISE_MOST]; // -infinity: by place
    const double *q;      // NULL [count]: the start
    poise_small small;    // share = 0.25: of both
    // handed to it
    poise_ask ask;
} poise_big;
POISE_API poise_big poise_big_default(void);
static inline int poise_twice(int x)
{
    return 2 * x;
}
#endif
'''

# What is changed in it, the line of the error, and a part of what it says.
BROKEN = [
    ('// DARK_BLUE: of', '// TEPID: of', 16, 'TEPID is not one of RED, DARK_BLUE'),
    ('// 2: how many,', '// two: how many,', 17, 'a default was expected'),
    ('// 2: how many,', '// 2 or 3: how many,', 17, 'a default was expected'),
    ('// 2: how many,', '// 2.5: how many,', 17, 'a default was expected'),
    ('int count, most;      // 2: how many,\n                          // at most', 'int count, most;', 17, 'count: a comment'),
    ('int count, most;', 'int count : 3;', 17, 'bit fields'),
    ('int count, most;', 'int count, count;', 17, 'count is there twice'),
    ('limits[POISE_MOST]', 'limits[POISE_LEAST]', 19, 'POISE_LEAST is no constant'),
    ('limits[POISE_MOST]', 'limits[2][2]', 19, 'two dimensions'),
    ('-infinity: by place', 'NULL: by place', 19, 'a default was expected: a number'),
    ('NULL [count]: the', 'NULL [counts]: the', 20, '[counts] is neither a unit'),
    ('0.5 [share]: of', '0.5 [percent]: of', 12, '[percent] is neither a unit'),
    ('share = 0.25', 'shore = 0.25', 21, 'has no such member'),
    ('share = 0.25', 'share = true', 21, 'takes no such value'),
    ('poise_small small;', 'poise_smell small;', 21, 'poise_smell is in no header'),
    ('poise_small small;', 'union { int a; } small;', 21, 'no unions'),
    ('    // handed to it\n', '#if POISE_MOST\n', 22, 'no "#" between members'),
    ('    // handed to it\n', '', 22, 'ask: a comment was expected'),
    ('} poise_big;', '} poise_bag;', 24, '"} poise_big;" was expected'),
    ('POISE_API poise_big poise_big', 'poise_big poise_big', 25, 'a declaration was expected'),
    ('poise_big_default(void);', 'poise_big_default(void)', 25, 'a function called poise_... was expected'),
    ('    POISE_COLOR_COUNT', '    POISE_COLOR_RED', 8, 'POISE_COLOR_RED is there twice'),
    ('    POISE_COLOR_COUNT', '    COLOR_COUNT', 8, 'a value POISE_... was expected'),
    ('// "navy": cold', '// "navy cold', 7, '"name": text was expected'),
    ('typedef bool (*poise_ask)(void *user, int number);', 'typedef int poise_ask;', 10, 'a typedef of a struct'),
    ('// Options.\n', '// Options.\n#error no\n', 2, 'a preprocessor line'),
]


def read(text):
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / 'one.h').write_text(text)
        return headers.read(folder)


class Reader(unittest.TestCase):
    def test_what_is_sound_is_read(self):
        schema = read(SOUND)
        big = {member.name: member for member in schema.structs['poise_big'].members}
        self.assertEqual(list(big), ['color', 'count', 'most', 'limits', 'q', 'small', 'ask'])
        self.assertEqual(big['most'].doc, 'how many, at most')
        self.assertEqual((big['q'].length, big['limits'].array, big['ask'].doc), ('count', 3, 'handed to it'))
        self.assertEqual([value.name for value in schema.enums['poise_color'].values], ['red', 'navy', None])
        self.assertEqual(generate.initialiser(schema, 'poise_big'),
                         '{.color = POISE_COLOR_DARK_BLUE, .count = 2, .most = 2, .limits = {-INFINITY, -INFINITY, -INFINITY}, '
                         '.small = {.share = 0.25}}')
        self.assertTrue(schema.functions['poise_twice'].inline)

    def test_windows_line_ends_are_read(self):
        self.assertEqual(len(read(SOUND.replace('\n', '\r\n')).structs), 2)

    def test_what_is_broken_is_refused_with_its_line(self):
        for old, new, line, text in BROKEN:
            with self.subTest(new=new):
                self.assertIn(old, SOUND)
                with self.assertRaises(headers.Wrong) as caught:
                    read(SOUND.replace(old, new, 1))
                self.assertTrue(str(caught.exception).startswith(f'one.h:{line}: '), caught.exception)
                self.assertIn(text, str(caught.exception))


class Ours(unittest.TestCase):
    def test_a_member_that_is_added_is_everywhere(self):
        """One line in a header, and defaults, Python and TypeScript have it."""
        with tempfile.TemporaryDirectory() as folder:
            for path in generate.HEADERS.glob('*.h'):
                text = path.read_text()
                if path.name == 'solve.h':
                    line = '    int restarts;                      // 0: most restarts from elsewhere while goals are missed\n'
                    self.assertIn(line, text)
                    text = text.replace(line, line + '    int patience; // 3: rounds without progress before one\n')
                (Path(folder) / path.name).write_text(text)
            schema = headers.read(folder)
        types = generate.types_of(schema)
        library, web = generate.library_source(schema, types), generate.web(schema)
        self.assertEqual(library.count('.patience = 3'), 6)  # in the options, and in the five structs that hold them
        self.assertIn('{"patience", OPTION_INTEGER, offsetof(struct poise_solver_options, patience)', generate.python(schema))
        self.assertIn('patience: int = ...', generate.stub(schema, 'def solve($options(poise_solver_options)): ...'))
        self.assertRegex(web, r"poise_solver_options: '[^']*,patience int \d+ 0,")
        self.assertIn('    /** [3] rounds without progress before one */\n    readonly patience: number;', web)

    def test_what_is_in_git_is_what_the_headers_say(self):
        self.assertEqual(generate.main(['--check']), 0)

    @unittest.skipUnless(CLANG, 'no clang')
    def test_clang_reads_the_same_members_enums_and_functions(self):
        """Names and types of members, names and numbers of values, names of functions."""
        source = '#include <poise/cuda.h>\n#include <poise/poise.h>\n'
        tree = json.loads(subprocess.run([CLANG, '-x', 'c', '-std=c17', '-fsyntax-only', '-Xclang', '-ast-dump=json', '-I',
                                          str(generate.ROOT / 'include'), '-'], input=source, capture_output=True, text=True,
                                         check=True).stdout)
        schema = headers.read(generate.HEADERS)
        structs, enums, functions = {}, {}, set()
        for node in tree['inner']:
            name, inner = node.get('name', ''), node.get('inner', [])
            if node['kind'] == 'RecordDecl' and name.startswith('poise_') and 'completeDefinition' in node:
                structs[name] = [(f['name'], f['type']['qualType']) for f in inner if f['kind'] == 'FieldDecl']
            elif node['kind'] == 'EnumDecl' and name.startswith('poise_') and name != 'poise_type':
                enums[name] = [f['name'] for f in inner if f['kind'] == 'EnumConstantDecl']
            elif node['kind'] == 'FunctionDecl' and name.startswith('poise_'):
                functions.add(name)
        self.assertEqual(functions, set(schema.functions))
        self.assertEqual(enums, {n: [v.symbol for v in e.values] for n, e in schema.enums.items()})
        ours = {n: s.members for n, s in schema.structs.items() if s.members is not None}
        self.assertEqual(set(structs), set(ours))
        for name, members in ours.items():
            self.assertEqual([f for f, _ in structs[name]], [m.name for m in members], name)
            for (_, kind), member in zip(structs[name], members):
                if not member.function:
                    self.assertEqual(kind.count('*'), member.pointers, f'{name}.{member.name}: {kind}')
                    self.assertEqual(member.array, int(kind[kind.index('[') + 1:-1]) if '[' in kind else None, name)
                    base = re.sub(r'\b(const|struct)\b|\*', '', kind.split('[')[0]).strip()
                    same = {'unsigned int': 'unsigned', '_Bool': 'bool'}
                    self.assertEqual(same.get(base, base), member.type, f'{name}.{member.name}')


if __name__ == '__main__':
    unittest.main()
