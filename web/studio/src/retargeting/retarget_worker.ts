/** Puts a motion on another skeleton beside the page, in an engine of its own: what `poise retarget` does, by the same call. */
import { load, type Poise, type RetargetedMotion, retargetMotion, type Scale } from 'poise-ik';
import { failureOf } from '../beside.js';
import { readWhole, type Wants } from '../body/whole_file.js';
import { brief, counted, length } from '../status.js';
import { jointTable } from './joint_table.js';
import type { RetargetAnswer, RetargetJob } from './retarget_job.js';

const DEGREES = 180 / Math.PI;

/** What was measured; what is out of bounds is among the findings. */
function figuresOf({ outcome, roleNames }: RetargetedMotion, { metres }: Scale): string[] {
  const { boneMean, boneWorst, boneRole, boneFrame, hipsMean, hipsWorst, leg, planted, contact, skateMean, sunk, released, tipped, solesGuessed } = outcome;
  const off = (value: number) => (metres > 0 ? length(value, metres) : `${brief((100 * value) / leg)} % of the leg`);
  const where = boneRole >= 0 ? ` (${roleNames[boneRole]}, frame ${boneFrame})` : '';
  const feet = planted ? `in contact ${brief(100 * contact)} % of the time, slip ${off(skateMean)} a second on average, sink ${off(Math.max(0, sunk))} at most` : 'follow those of the motion';
  const more = [released > 0 ? `released in ${counted(released, 'frame')}` : '', tipped > 0 ? `tipped in ${counted(tipped, 'frame')}` : '', solesGuessed ? 'their soles are guessed: no shapes or toes tell' : ''].filter(Boolean);
  return [
    `Bones point ${brief(DEGREES * boneMean)}° away from those they follow on average, ${brief(DEGREES * boneWorst)}° at worst${where}.`,
    ...(leg > 0 ? [`Hips are ${off(hipsMean)} from their path on average, ${off(hipsWorst)} at worst.`, `Feet ${[feet, ...more].join('; ')}.`] : []),
  ];
}

function retarget(poise: Poise, { motion, skeleton, files, fromUp, toUp }: RetargetJob): RetargetAnswer | Wants {
  const follower =
    'json' in skeleton
      ? poise.read(skeleton.json, { format: 'json' })
      : readWhole(poise, skeleton.robot, files, { floating: true, meshes: true, animation: skeleton.animation });
  if ('names' in follower) {
    return follower;
  }
  const moving = poise.read(motion, { format: 'json' });
  const made = retargetMotion(moving, follower, { ...(fromUp ? { fromUp } : {}), ...(toUp ? { toUp } : {}) });
  const { clip, outcome, verdict, findings } = made;
  return { kind: 'retargeted', table: jointTable(follower.model!, clip), roles: outcome.roles, verdict, findings, figures: figuresOf(made, follower.scale) };
}

addEventListener('message', ({ data }: MessageEvent<RetargetJob>) => {
  load(data.compiled).then((poise) => postMessage(retarget(poise, data))).catch((error: unknown) => postMessage(failureOf(error)));
});
