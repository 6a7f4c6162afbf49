/** Puts a motion on another skeleton beside the page, in an engine of its own: what `poise retarget` does. */
import { load, type Poise, retargetMotion } from 'poise-ik';
import { failureOf } from '../beside.js';
import { jointTable } from './joint_table.js';
import type { RetargetAnswer, RetargetJob } from './retarget_job.js';

function retarget(poise: Poise, job: RetargetJob): RetargetAnswer {
  const [motion, skeleton] = [job.motion, job.skeleton].map((bytes) => poise.read(bytes, { format: 'json' }));
  const { clip, outcome, verdict, findings } = retargetMotion(motion!, skeleton!);
  return { kind: 'retargeted', table: jointTable(skeleton!.model!, clip), roles: outcome.roles, inPlace: outcome.inPlace, verdict, findings };
}

addEventListener('message', ({ data }: MessageEvent<RetargetJob>) => {
  load(data.compiled).then((poise) => postMessage(retarget(poise, data))).catch((error: unknown) => postMessage(failureOf(error)));
});
