// The problem on the screen as code: every text is compiled and run, and finds the pose on the screen.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { transformSync } from 'esbuild';
import { atRest, drag, drop, LONG, on, poise, probe, said, shots } from './browser.mjs';
import { fourBar } from './four_bar.mjs';
import { walker } from './walker.mjs';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const build = dirname(dirname(poise));

const python = ['python3', '/usr/bin/python3'].find((name) => spawnSync(name, ['-c', 'import numpy']).status === 0) ?? 'python3'; // the first of the path may be another than Debian's

/** Run a program's text in a folder: what it prints. */
const runners = {
  C: (text, folder) => {
    writeFileSync(join(folder, 'solve.c'), text);
    const libraries = ['libpoise_papers.a', 'libpoise_io.a', 'libpoise_motion.a', 'libpoise.a'].map((name) => join(build, name));
    execFileSync('cc', ['-std=c11', '-Wall', '-Wextra', '-Werror', `-I${root}include`, 'solve.c', ...libraries, '-lm', '-o', 'solve'], { cwd: folder });
    return execFileSync('./solve', { cwd: folder, encoding: 'utf8' });
  },
  TypeScript: (text, folder) => {
    const local = text.replace("'poise-ik'", `'${pathToFileURL(`${root}web/dist/index.js`)}'`);
    writeFileSync(join(folder, 'solve.mjs'), transformSync(local, { loader: 'ts', target: 'es2022' }).code);
    return execFileSync(process.execPath, ['solve.mjs'], { cwd: folder, encoding: 'utf8' });
  },
  Python: (text, folder) => {
    writeFileSync(join(folder, 'solve.py'), text);
    const result = spawnSync(python, ['solve.py'], { cwd: folder, encoding: 'utf8', env: { ...process.env, PYTHONPATH: join(build, 'python') } });
    const lacks = /No module named '(numpy|poise)'/.exec(result.stderr);
    assert.ok(lacks || result.status === 0, result.stderr);
    return lacks ? `skipped: ${lacks[0]}` : result.stdout;
  },
  Command: (text, folder) => {
    const answer = JSON.parse(execFileSync('sh', ['-c', `${text.trimEnd()} --json`], { cwd: folder, encoding: 'utf8', env: { ...process.env, PATH: `${dirname(poise)}:${process.env.PATH}` } }));
    return [answer.outcome, ...answer.q].join(' ');
  },
};

/** All four texts of what the page shows, run in a folder with its skeleton. `without` knows no locks, and may find another pose; `change` is done to each text before. */
async function runAll(page, folder, without = '', change = (text) => text) {
  await page.keyboard.press('c');
  await page.locator('dialog pre').waitFor(); // its script is loaded now
  const { q } = await probe(page, 'state');
  await page.getByRole('tab', { name: 'C', exact: true }).click();
  const save = page.getByRole('button', { name: /^Save .*json$/ });
  if (await save.count()) {
    const [file] = await Promise.all([page.waitForEvent('download'), save.click()]);
    copyFileSync(await file.path(), join(folder, file.suggestedFilename()));
  }
  for (const [name, run] of Object.entries(runners)) {
    await page.getByRole('tab', { name, exact: true }).click();
    const [outcome, ...answer] = run(change(await page.locator('dialog pre').textContent()), folder).trim().split(/\s+/);
    if (outcome.startsWith('skipped')) {
      console.log(`${name}: ${outcome} ${answer.join(' ')}`);
    } else {
      assert.equal(outcome, 'reached', name);
      assert.ok(name === without || answer.every((x, i) => Math.abs(x - q[i]) < 1e-4), `${name}: ${answer} instead of ${q}`);
      assert.equal(answer.length, q.length, name);
    }
  }
  assert.deepEqual(await page.locator('dialog [role=tab]').allTextContents(), ['Command', 'Python', 'C', 'TypeScript']);
  await page.screenshot({ path: `${shots}/code.png` });
  await page.keyboard.press('Escape');
}

test('the problem on the screen as C, TypeScript, Python and a command, each of which runs', { timeout: LONG }, on('?scene=arm7', {}, async (page) => {
  const folder = mkdtempSync(join(tmpdir(), 'poise-code-'));
  try {
    const from = await probe(page, 'project', (await probe(page, 'state')).targets[0].position);
    await drag(page, from, { x: from.x - 40, y: from.y + 20 });
    await runAll(page, folder);
    await page.getByLabel('Scene', { exact: true }).selectOption('hand'); // five goals; a lock, and a method of one's own
    await page.keyboard.press('j');
    await page.keyboard.press('k');
    await page.getByLabel('Solver').selectOption('levenberg_marquardt');
    await page.keyboard.press('Escape');
    await runAll(page, folder, 'Python');
    const robot = join(folder, 'own robot.json'); // a file of the user, with a space in its name
    execFileSync(poise, ['convert', 'scene:humanoid', robot], { stdio: 'ignore' });
    await drop(page, { name: 'own robot.json', bytes: readFileSync(robot) });
    await page.keyboard.press('3');
    await page.keyboard.press('2');
    await runAll(page, folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}));

test('programs close the loops of the skeleton, as the page does', { timeout: LONG }, on('?scene=arm7', {}, async (page) => {
  const folder = mkdtempSync(join(tmpdir(), 'poise-code-'));
  try {
    writeFileSync(join(folder, 'four bar.xml'), fourBar);
    await drop(page, { name: 'four bar.xml', bytes: Buffer.from(fourBar) });
    await probe(page, 'moveGoal', 0, [0.15 * Math.sin(0.6), 0, 0.15 * Math.cos(0.6)]);
    await atRest(page);
    // programs start in the pose on the screen: from elsewhere they have to find it
    const elsewhere = (text) => text.replace(/('|\[|\{)((-?[\d.]+(, | )){2}-?[\d.]+)('|\]|\})/, (_, open, list, _1, between, close) => `${open}${['0', '0', '0'].join(between)}${close}`);
    await runAll(page, folder, '', elsewhere);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}));

test('programs free the root of a robot, as a motion that it took over does', { timeout: LONG }, on('?scene=arm7', {}, async (page) => {
  const folder = mkdtempSync(join(tmpdir(), 'poise-code-'));
  try {
    const [robot, motion] = [join(folder, 'walker.urdf'), join(folder, 'kick.bvh')];
    writeFileSync(robot, walker());
    execFileSync(poise, ['convert', 'scene:humanoid/kick', motion], { stdio: 'ignore' });
    await drop(page, ...[robot, motion].map((path) => ({ name: basename(path), bytes: readFileSync(path) })));
    await said(page, / on walker\.urdf: \d+ parts of the body follow\./);
    await page.getByLabel('Time', { exact: true }).fill('0.5');
    await page.locator('canvas.stage').focus();
    await page.keyboard.press('1'); // a goal where a free end is
    await atRest(page);
    await runAll(page, folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}));
