// The package as a project of its users has it: what npm packs, and its types under strict settings.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { test } from 'node:test';
import { ik, poise, sourceFile } from './harness.js';

const program = `import { goals, Kinematics, load, Solver, type Report } from 'poise-ik';
export async function reach(): Promise<Report> {
    const poise = await load();
    const scene = poise.scene('arm7');
    const solver = new Solver(scene.model);
    new Kinematics(scene.model).update(solver.q);
    return solver.solve([goals.position(6, [0, 0, 0], [0.4, 0.1, 0.3])]);
}
`;

// The library of types is checked as well: skipLibCheck is off by default.
const settings = {
    'a page': ['--module', 'esnext', '--moduleResolution', 'bundler', '--target', 'es2022'],
    'an older target': ['--module', 'esnext', '--moduleResolution', 'bundler', '--target', 'es2020'],
    'node': ['--module', 'nodenext', '--target', 'es2022', '--types', 'node'],
    'node without a browser': ['--module', 'nodenext', '--target', 'es2022', '--lib', 'es2022', '--types', 'node'],
};

for (const [name, options] of Object.entries(settings)) {
    test(`types pass tsc --strict: ${name}`, () => {
        const folder = fileURLToPath(new URL('../consumer', import.meta.url));
        rmSync(folder, { recursive: true, force: true });
        mkdirSync(`${folder}/node_modules`, { recursive: true });
        symlinkSync(sourceFile(''), `${folder}/node_modules/poise-ik`);
        for (const name of options.includes('node') ? ['@types', 'undici-types'] : []) {
            symlinkSync(sourceFile(`node_modules/${name}`), `${folder}/node_modules/${name}`);
        }
        writeFileSync(`${folder}/program.ts`, program);
        writeFileSync(`${folder}/package.json`, '{"type": "module"}');
        const done = spawnSync(process.execPath, [sourceFile('node_modules/typescript/bin/tsc'), '--strict', '--noEmit', ...options, 'program.ts'], { cwd: folder, encoding: 'utf8' });
        assert.equal(done.status, 0, done.stdout);
    });
}

test('what npm packs has the licence, the engine and nothing else', () => {
    const [{ files }] = JSON.parse(execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], { cwd: sourceFile(''), encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }));
    const paths: string[] = files.map(({ path }: { path: string }) => path);
    for (const path of ['LICENSE', 'README.md', 'package.json', 'dist/index.js', 'dist/index.d.ts', 'dist/poise.wasm', 'dist/poise.wasm.gz']) {
        assert.ok(paths.includes(path), path);
    }
    assert.deepEqual(paths.filter((path) => !/^(dist\/[a-z_]+\.(js|d\.ts|wasm|wasm\.gz)|LICENSE|README\.md|package\.json)$/.test(path)), []);
});

test('a scene in the place of its model is refused in words', () => {
    using scene = poise.scene('lamp');
    const wrong = scene as unknown as InstanceType<typeof ik.Model>;
    const calls = [() => new ik.Solver(wrong), () => new ik.Kinematics(wrong), () => new ik.Objective(wrong), () => new ik.Erik(wrong),
        () => new ik.Expressive(wrong), () => new ik.Tracker(wrong, [])];
    for (const call of calls) {
        assert.throws(call, /a Model is needed: give the \.model of this scene or file/);
    }
    assert.throws(() => new ik.Solver(undefined as unknown as InstanceType<typeof ik.Model>), /a Model is needed/);
});
