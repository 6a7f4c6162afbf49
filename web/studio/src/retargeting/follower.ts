/** A skeleton that stood on the stage before a motion came, and can take it over. */
import type { Clip, Up } from 'poise-ik';
import type { Find } from '../body/named_files.js';
import { besideWithFiles } from '../body/whole_file.js';
import type { Work } from '../beside.js';
import type { Wish } from '../loading/file_sets.js';
import type { DroppedFile } from '../open_files.js';
import { skeletonOf } from '../saving.js';
import type { Session } from '../session.js';
import { type Judged, judgedAfter } from '../stage.js';
import { counted } from '../status.js';
import { againstIt } from '../verdict_words.js';
import type { RetargetAnswer, RetargetJob, SkeletonFile } from './retarget_job.js';

const LEAST_JOINTS = 8; // of a figure: an arm has no use for a walk

export interface Follower {
  title: string;
  /** What opens it again. */
  scene: string | null;
  files: DroppedFile[];
  find: Find;
  /** Which of the files it is. */
  wish: Wish;
  /** Its own file, where it stands there as that has it, or as poise JSON. */
  skeleton: SkeletonFile;
  /** What points up, where the user has said so. */
  up: Up | null;
}

const isFigure = ({ hasSkeleton, model }: Session): boolean => hasSkeleton && model.joints.length >= LEAST_JOINTS;

/** As poise JSON. What points up is in it where its file, or the user, has said so. */
function written(session: Session, clip: Clip | null): Uint8Array {
  const { metres, up } = session.stage.scale;
  const isSaid = ['file', 'user'].includes(session.stage.upBy);
  return session.poise.write({ ...skeletonOf(session), scale: { metres, up: isSaid ? up : 'unknown' }, clip }, 'json').bytes;
}

const saidUp = ({ stage: { scale, upBy } }: Session): Up | null => (upBy === 'user' ? scale.up : null);

/** Of files that were dropped together: a motion with a skeleton of its own, which would hide the character or robot beside it, and the others. Of several motions the first; a motion inside a folder belongs to that. */
export function motionAmong(files: DroppedFile[]): { motion: DroppedFile | null; skeleton: DroppedFile[]; left: DroppedFile[] } {
  const motions = files.filter(({ name }) => /^[^/]*\.bvh$/i.test(name));
  const skeleton = files.filter((file) => !motions.includes(file));
  const isBoth = motions.length > 0 && skeleton.some(({ name }) => /\.(glb|gltf|urdf|xml|mjcf|osim)$/i.test(name));
  return isBoth ? { motion: motions[0]!, skeleton, left: motions.slice(1) } : { motion: null, skeleton: files, left: [] };
}

/** Whether what stands there could move like what comes: null, if not. */
export function followerOf(before: Session | null, coming: Session, opened: Omit<Follower, 'title' | 'wish' | 'skeleton' | 'up'>): Follower | null {
  if (!before || !coming.motion || !isFigure(before) || !isFigure(coming)) {
    return null;
  }
  const { stage } = before;
  const isOfFile = opened.scene === null && stage.robot !== undefined && !stage.markers;
  const wish = { ...(stage.choices ? { robot: stage.choices.robot, animation: stage.choices.animation } : {}), ...(isOfFile || stage.floating ? { floating: true } : {}) };
  const file = stage.file?.slice(stage.file.lastIndexOf('/') + 1);
  const skeleton: SkeletonFile = isOfFile ? { robot: stage.robot!, animation: wish.animation ?? 0 } : { json: written(before, stage.clip) };
  return { ...opened, title: file ?? (stage.markers && opened.scene === null ? `the body of ${stage.title}` : stage.title), wish, skeleton, up: saidUp(before) };
}

/** The motion on the stage as joint values of the follower, and how well that went: all that the library says. */
export async function retarget(session: Session, follower: Follower, work: Work): Promise<{ table: Uint8Array; words: string; judged: Judged }> {
  const { poise, stage, motion } = session;
  const [fromUp, toUp] = [saidUp(session), follower.up];
  const job: Omit<RetargetJob, 'files'> = { compiled: poise.compiled, motion: written(session, motion), skeleton: follower.skeleton, ...(fromUp ? { fromUp } : {}), ...(toUp ? { toUp } : {}) };
  const { table, roles, verdict, findings, figures } = await besideWithFiles<RetargetAnswer>('retarget_worker.js', job, follower.find, `Putting the motion on ${follower.title}`, work);
  const judged = judgedAfter({ what: 'retargeting', verdict, findings, figures }, session.judged);
  return { table, judged, words: [`${stage.title} on ${follower.title}: ${counted(roles, 'part')} of the body follow.`, ...againstIt(judged)].join('\n') };
}
