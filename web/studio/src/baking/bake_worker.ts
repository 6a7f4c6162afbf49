/** Makes goals part of a motion beside the page, in an engine of its own: what `poise edit --pin` does. */
import { Clip, edit, judgeEdit, load, type Poise } from 'poise-ik';
import { failureOf } from '../beside.js';
import type { BakeAnswer, BakeJob } from './bake_job.js';

function bake(poise: Poise, { skeleton, clip, pins, made: own, locked, bounds }: BakeJob): BakeAnswer {
  const { model, scale } = poise.read(skeleton, { format: 'json' });
  const { frames, nq, frameTime, startTime, q } = clip;
  const motion = Clip.create(poise, { frames, nq }, frameTime, startTime);
  motion.q.set(q);
  const before = { model, clip: motion, scale, ...bounds };
  if (own) {
    const after = motion.trim(0, frames);
    after.q.set(own);
    return { kind: 'baked', q: own, pins: [], snapFrame: null, snapJoint: null, ...judgeEdit(before, after) };
  }
  const { clip: made, pins: results, snapFrame, snapJoint, verdict, findings } = edit(before, { pins, locked });
  return { kind: 'baked', q: made.q.slice(), pins: results, snapFrame, snapJoint, verdict: verdict!, findings };
}

addEventListener('message', ({ data }: MessageEvent<BakeJob>) => {
  load(data.compiled).then((poise) => postMessage(bake(poise, data))).catch((error: unknown) => postMessage(failureOf(error)));
});
