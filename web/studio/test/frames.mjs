// A frame as it is shown against the same frame as it is baked and saved: the session alone, without a page.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';

const HELD = 0.02; // metres, of a person: what smoothing in time adds where goals hold in full; the worst here is 0.0195
const ALWAYS = 0.05; // the same near the end of a clip, where they hold throughout; the worst here is 0.045, an elbow
const FADED = 0.03; // the same where they fade; the worst here is 0.029

const home = dirname(dirname(fileURLToPath(import.meta.url)));
const folder = mkdtempSync(join(tmpdir(), 'poise-frames-'));
after(() => rmSync(folder, { recursive: true }));

/** The studio's own modules, for node. */
async function modules() {
  const contents = `export { Session } from './src/session.ts'; export { asPlayed, pinOf } from './src/baking/bake.ts'; export { openScene } from './src/stages.ts'; export * from 'poise-ik';`;
  const outfile = join(folder, 'session.mjs');
  await build({ stdin: { contents, resolveDir: home }, bundle: true, format: 'esm', platform: 'node', target: 'es2022', alias: { 'poise-ik': join(home, '../dist/index.js') }, outfile, logLevel: 'warning' });
  const made = await import(pathToFileURL(outfile).href);
  return { ...made, poise: await made.load(readFileSync(join(home, '../dist/poise.wasm'))) };
}

/** Where bodies are now. */
const standing = ({ model, kinematics }) => model.joints.map(({ index }) => kinematics.bodyPose(index).position);
const farthest = (a, b) => Math.max(...a.map((p, i) => Math.hypot(...p.map((x, k) => x - b[i][k]))));

function shownAt(session, time) {
  session.setTime(time);
  session.update();
  return standing(session);
}

test('what is shown of a motion with goals is what is baked, but for smoothing in time', async () => {
  const { Session, pinOf, edit, identityPose, poise } = await modules();
  const file = join(folder, 'walk.bvh');
  execFileSync(process.env.POISE ?? 'poise', ['convert', 'scene:humanoid/walk', file, '--rate', '60'], { stdio: 'ignore' });
  const { model, clip, scale } = poise.read(readFileSync(file), { format: 'bvh' });
  for (const [name, way] of [['left_wrist', [0, 0.3, 0]], ['right_wrist', [0.4, 0, 0.2]], ['right_wrist', [0.1, 0.5, 0.4]]]) {
    for (const range of [{ from: 0, to: 1, fadeIn: 0.25, fadeOut: 0.25 }, null]) {
      const session = new Session(poise, { title: 'walk', model, scale, postures: [], placements: [], clip, markers: null });
      shownAt(session, 0.5);
      const metre = session.size() / 1.75;
      const goal = session.addTarget('position', model.joints.find((joint) => joint.body === name).index, identityPose);
      goal.position = goal.position.map((x, i) => x + way[i] * metre);
      session.range = range;
      session.changed();
      const frames = [3, 6, 12, 18, 24, 30, 36, 42, 48, 54, 57];
      const shown = frames.map((frame) => [shownAt(session, frame / 60), session.share()]);
      const baked = edit({ model, clip, scale }, { pins: [pinOf(session, goal)] });
      frames.forEach((frame, i) => {
        session.kinematics.update(baked.clip.frame(frame));
        const [pose, share] = shown[i];
        const off = farthest(pose, standing(session)) / metre;
        assert.ok(off < (share < 1 ? FADED : range ? HELD : ALWAYS), `${name} ${way}, frame ${frame}, share ${share}: ${(1000 * off).toFixed(1)} mm`);
      });
      baked.dispose();
      session.release();
    }
  }
});

test('what is shown of keyframes is what is saved, whichever way one comes to a moment', async () => {
  const { asPlayed, openScene, poise } = await modules();
  const session = openScene(poise, 'arm7');
  session.update();
  session.key(0);
  session.setTime(2);
  session.targets[0].position = session.targets[0].position.map((x, i) => x + [-0.2, 0.25, -0.15][i]);
  session.edited(0, true);
  const times = [3, 1, 2, 0.5, 0];
  const shown = times.map((time) => shownAt(session, time));
  const { clip } = await asPlayed(session, { signal: new AbortController().signal, progress: () => {} }, '');
  times.forEach((time, i) => {
    session.kinematics.update(clip.frame(Math.round(60 * time)));
    const off = farthest(shown[i], standing(session));
    assert.ok(off < 1e-9, `${time} s: ${1000 * off} mm`);
  });
  clip.dispose();
  session.dispose();
});
