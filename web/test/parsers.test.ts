// The parsers of XML and JSON in web/parsers against expat and jansson: documents, and documents with something broken, get the
// same answer from the native library and here.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { ik, poise } from './harness.js';

const urdf = `<?xml version="1.0" encoding="utf-8"?>
<!-- an arm -->
<robot name="arm &amp; hand &#x41;">
  <link name="base"/><link name='upper'><inertial><mass value="1.5"/></inertial></link>
  <joint name="j1" type="revolute"><parent link="base"/><child link="upper"/>
    <origin xyz="0 0 0.5"
            rpy="0 0.1 0"/>
    <axis xyz="0 1 0"/><limit lower="-1" upper="1.25e0" effort="1" velocity="2"/>
  </joint> text <![CDATA[ <raw> ]]> <?note hi?>
</robot>
`;
const mjcf = `<mujoco model="m"><compiler angle="radian"/><worldbody>
  <body name="a" pos="0 0 1"><joint name="h" type="hinge" axis="0 0 1" range="-1 1"/><site name="s" pos="1 0 0"/>
    <body name="b"><joint name="k" type="ball"/></body></body></worldbody></mujoco>`;

const encode = (text: string): Uint8Array => new TextEncoder().encode(text);
const wide = (text: string, swapped: boolean): Uint8Array => {
    const bytes = new Uint8Array(2 * text.length);
    const view = new DataView(bytes.buffer);
    [...text].forEach((c, i) => view.setUint16(2 * i, c.charCodeAt(0), !swapped));
    return bytes;
};

/** Whole documents that are right or wrong in one way each. */
const special: Uint8Array[] = [
    ...[
        urdf, mjcf, '', ' ', '<', '<a', '<a>', '<a/>', '<a></b>', '<a/><b/>', '<a/>x', 'x<a/>', '<robot name="r"', '<robot a=1/>',
        '<robot a="1" a="2"/>', '<robot a="&x;"/>', '<robot a="&#0;"/>', '<robot a="&#xD800;"/>', '<robot a="<"/>',
        '<robot>&lt;&unknown;</robot>', '<robot>]]></robot>', '<robot><!-- a -- b --></robot>', '<robot><!-- a',
        '<robot><![CDATA[ a', '<robot><?xml version="1.0"?></robot>', '<robot><!x></robot>', '<!DOCTYPE robot><robot name="r"/>',
        '<!DOCTYPE robot SYSTEM "r.dtd"><robot name="&r;"><link name="a"/></robot>',
        '<!DOCTYPE robot [<!ENTITY a "b">]><robot/>', '<!DOCTYPE robot PUBLIC "a" "b"><robot name="r"><link name="a"/></robot>',
        '<?xml version="1.0" encoding="latin-9"?><robot/>', '<?xml encoding="utf-8"?><robot name="r"><link name="a"/></robot>',
        '<?xml version="1.0" encoding="utf-16"?><robot/>', '\n\n<?xml version="1.0"?><robot name="r"><link name="a"/></robot>',
        '<robot name="a\tb\r\nc"><link name="a"/></robot>', '<robot name="r"><link name="\u00e9\u{1f600}"/></robot>',
        '\uFEFF<robot name="r"><link name="a"/></robot>', '<robot\nname="r"\n><link name="a"/>\n</robott>', '<robot name="r"/ >',
        '<robot name="r"><link name="a"/></robot>\0\0', '<a b="c"d="e"/>', '<1a/>', '<robot name="\u0001"/>',
        '{', '[', '{}', '[]', '{"poise": "0.1"}', '{"a": 1, "a": 2}', '{"a" 1}', '{"a": tru}', '{"a": 01}', '{"a": 1.}', '{"a": -}',
        '{"a": 1e400}', '{"a": "\\u0000"}', '{"a": "\\ud800"}', '{"a": "\\ud83d\\ude00"}', '{"a": "\n"}', '{"a": [1,]}', '{"a": 1,}',
        '{"a": 1} x', '{"a": "\\x"}', '{"a": 1e5, "b": [true, false, null, -0, 1E-2]}', '{"asset": {"version": "2.0"}}',
        '{"asset": {"version": "2.0"}, "nodes": [{"name": "a", "children": [1]}, {"translation": [1, 2, 3]}]}',
        '[1, 2', '["a', '{"a": nul', '{"a": {"b": [}}', '\uFEFF{"a": 1}',
    ].map(encode),
    new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]),
    new Uint8Array([0x3c, 0x61, 0x3e, 0xc3, 0x28, 0x3c, 0x2f, 0x61, 0x3e]),
    new Uint8Array([...encode('<?xml version="1.0" encoding="ISO-8859-1"?><robot name="'), 0xe9, ...encode('"><link name="a"/></robot>')]),
    wide(`\uFEFF${mjcf}`, false), wide(`\uFEFF${mjcf}`, true),
];

/** The same changes every time: bytes cut out, doubled, replaced. */
function mutations(text: string, count: number): Uint8Array[] {
    let state = 12345;
    const random = (below: number) => {
        state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff;
        return (state >>> 8) % below;
    };
    const bytes = [...encode(text)];
    const marks = [...encode('<>"\'&;/=!?-[]{},: \n1ax')];
    return Array.from({ length: count }, () => {
        const at = random(bytes.length);
        const what = random(4);
        const piece = what === 0 ? [] : what === 1 ? [marks[random(marks.length)]!] : what === 2 ? [bytes[at]!, bytes[at]!] : null;
        return Uint8Array.from(piece ? [...bytes.slice(0, at), ...piece, ...bytes.slice(at + 1)] : bytes.slice(0, at));
    });
}

function native(documents: readonly Uint8Array[]): string[] {
    const folder = mkdtempSync(join(tmpdir(), 'poise-'));
    try {
        const parts = documents.flatMap((d) => [new Uint8Array(new Uint32Array([d.length]).buffer), d]);
        writeFileSync(join(folder, 'documents'), Buffer.concat(parts));
        const reference = process.env['POISE_REFERENCE'] ?? '';
        const text = execFileSync(reference, [join(folder, 'documents')], { maxBuffer: 1 << 26 }).toString('utf8');
        return text.trimEnd().split('\n');
    } finally {
        rmSync(folder, { recursive: true });
    }
}

function here(document: Uint8Array): string {
    try {
        using file = poise.read(document);
        const content = { ...file, goals: file.goals, title: file.title };
        const { bytes } = poise.write({
            model: content.model, clip: content.clip, markers: content.markers, goals: content.goals,
            postures: content.postures, placements: content.placements, scale: content.scale, title: content.title,
        }, 'json');
        const hash = bytes.reduce((h, byte) => BigInt.asUintN(64, (h ^ BigInt(byte)) * 1099511628211n), 14695981039346656037n);
        return `ok ${file.format} ${file.warnings.length} ${hash.toString(16).padStart(16, '0')}`;
    } catch (error) {
        assert.ok(error instanceof ik.PoiseError, String(error));
        return `${error.status} ${error.line} ${error.column} ${error.message}`;
    }
}

test('documents that are right or wrong in one way get the answer of expat and jansson', () => {
    const want = native(special);
    const wrong = special.map((d, i) => [Buffer.from(d).toString('latin1'), here(d), want[i]]).filter(([, a, b]) => a !== b);
    assert.deepEqual(wrong, []);
});

test('documents with a random change get the answer of expat and jansson', () => {
    using scene = poise.scene('twolink');
    const json = new TextDecoder().decode(poise.write({ model: scene.model }, 'json').bytes);
    const gltf = new TextDecoder().decode(poise.write({ model: scene.model, scale: { metres: 1, up: 'y' } }, 'gltf').bytes);
    const documents = [mutations(urdf, 1500), mutations(mjcf, 1000), mutations(json, 1000), mutations(gltf, 500)].flat();
    const want = native(documents);
    const got = documents.map(here);
    const differing = (cut: (answer: string) => string) =>
        documents.flatMap((d, i) => (cut(got[i]!) === cut(want[i]!) ? [] : [[got[i], want[i], Buffer.from(d).toString('latin1')]]));
    // what is read, and whether and in which line it fails, are the same; column and words of an error nearly always
    const wrong = differing((answer) => (answer.startsWith('ok') ? answer : answer.split(' ').slice(0, 2).join(' ')));
    assert.deepEqual(wrong.slice(0, 3), [], `${wrong.length} of ${documents.length} differ`);
    const worded = differing((answer) => answer).length;
    assert.ok(worded < 0.07 * documents.length, `${worded} of ${documents.length} say it in other words`);
});
