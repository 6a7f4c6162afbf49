/** A skeleton that stood on the stage before a motion came, and can take it over. */
import type { Poise } from 'poise-ik';
import type { Find } from '../body/named_files.js';
import { beside, type Work } from '../beside.js';
import type { Wish } from '../loading/file_sets.js';
import { type DroppedFile, openFiles } from '../open_files.js';
import { reasonsOf } from '../recording/track_session.js';
import type { Session } from '../session.js';
import { counted } from '../status.js';
import type { RetargetAnswer, RetargetJob } from './retarget_job.js';

const LEAST_JOINTS = 8; // of a figure: an arm has no use for a walk
const MOST_REASONS = 4;

export interface Follower {
  title: string;
  /** What opens it again. */
  scene: string | null;
  files: DroppedFile[];
  find: Find;
  /** Which of the files it is. */
  wish: Wish;
  /** As poise JSON. */
  skeleton: Uint8Array;
}

const isFigure = ({ hasSkeleton, model }: Session): boolean => hasSkeleton && model.joints.length >= LEAST_JOINTS;

const skeletonOf = ({ poise, model, stage }: Session): Uint8Array => poise.write({ model, scale: stage.scale, clip: stage.clip }, 'json').bytes;

/** Of files that were dropped together: a motion with a skeleton of its own, which would hide the character or robot beside it, and the others. Of several motions the first; a motion inside a folder belongs to that. */
export function motionAmong(files: DroppedFile[]): { motion: DroppedFile | null; skeleton: DroppedFile[]; left: DroppedFile[] } {
  const motions = files.filter(({ name }) => /^[^/]*\.bvh$/i.test(name));
  const skeleton = files.filter((file) => !motions.includes(file));
  const isBoth = motions.length > 0 && skeleton.some(({ name }) => /\.(glb|gltf|urdf|xml|mjcf|osim)$/i.test(name));
  return isBoth ? { motion: motions[0]!, skeleton, left: motions.slice(1) } : { motion: null, skeleton: files, left: [] };
}

/** Whether what stands there could move like what comes: null, if not. */
export function followerOf(before: Session | null, coming: Session, opened: Omit<Follower, 'title' | 'wish' | 'skeleton'>): Follower | null {
  if (!before || !coming.motion || !isFigure(before) || !isFigure(coming)) {
    return null;
  }
  const { model, stage } = before;
  const isFixed = opened.scene === null && stage.file !== undefined && !stage.markers && !model.joints.some(({ type }) => type.startsWith('free'));
  const wish = { ...(stage.choices ? { robot: stage.choices.robot, animation: stage.choices.animation } : {}), ...(isFixed || stage.floating ? { floating: true } : {}) };
  const file = stage.file?.slice(stage.file.lastIndexOf('/') + 1);
  return { ...opened, title: file ?? (stage.markers && opened.scene === null ? `the body of ${stage.title}` : stage.title), wish, skeleton: skeletonOf(before) };
}

/** Its skeleton with a root that is free, as `poise retarget` has it, also where its file fixes it in place. */
async function freed(poise: Poise, { files, wish, skeleton }: Follower, work: Work): Promise<Uint8Array> {
  if (!wish.floating) {
    return skeleton;
  }
  const { session } = await openFiles(poise, files, null, work, wish);
  const bytes = skeletonOf(session);
  session.dispose();
  return bytes;
}

/** The motion on the stage as joint values of the follower, and how well that went. */
export async function retarget({ poise, model, stage, motion }: Session, follower: Follower, work: Work): Promise<{ table: Uint8Array; words: string; isDoubtful: boolean }> {
  work.progress(`Putting the motion on ${follower.title}`, null);
  const job: RetargetJob = { compiled: poise.compiled, skeleton: await freed(poise, follower, work), motion: poise.write({ model, scale: stage.scale, clip: motion }, 'json').bytes };
  const { table, roles, inPlace, verdict, findings } = await beside<RetargetAnswer>('retarget_worker.js', job, work);
  const against = reasonsOf(findings).slice(0, MOST_REASONS).map((text) => `- ${text}`);
  const doubt = verdict === 'good' ? [] : [`The motion is ${verdict === 'failed' ? 'wrong' : 'doubtful'} there:`, ...against];
  const fixed = inPlace ? ['Its root cannot move: it stays in its place, and its feet may slide or hang in the air.'] : [];
  return { table, words: [`${stage.title} on ${follower.title}: ${counted(roles, 'part')} of the body follow.`, ...fixed, ...doubt].join('\n'), isDoubtful: inPlace || verdict !== 'good' };
}
