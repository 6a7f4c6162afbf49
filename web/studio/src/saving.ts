/** What is on the screen as a file: the pose, or the whole motion with the goals applied. */
import { Clip, type FileContent, type Format, type Model, PoiseError, type Warning } from 'poise-ik';
import { asPlayed } from './baking/bake.js';
import { sweep } from './baking/dust.js';
import type { Work } from './beside.js';
import { jointTable } from './retargeting/joint_table.js';
import type { Session } from './session.js';
import { counted } from './status.js';

/** What can be saved: formats of the engine, and joint values over time as a table. */
export type SaveKind = Format | 'csv';

const ofSkeletons = ['json', 'bvh', 'glb', 'asf', 'amc', 'mot', 'dh'] as const;
const ofMarkers: readonly SaveKind[] = ['c3d', 'trc'];

export const isOfMarkers = (kind: SaveKind): boolean => ofMarkers.includes(kind);

/** The end of the file's name. */
export const extensionOf = (kind: SaveKind): string => (kind === 'dh' ? 'dh.csv' : kind);

/** The present pose as a motion of one frame. */
function still(session: Session): Clip {
  const clip = Clip.create(session.poise, [session.q], session.frameTime);
  if (session.last.outcome !== '') {
    sweep(clip.q);
  }
  return clip;
}

/** The skeleton as a file has it: with what bounds its bodies and closes its loops. */
export function skeletonOf({ hasSkeleton, model, stage }: Session): FileContent {
  const { shapes = [], excluded = [], shapesSkipped = 0 } = stage.bounds ?? {};
  return { model: hasSkeleton ? model : null, scale: stage.scale, loops: stage.loops ?? [], shapes, excluded, shapesSkipped };
}

/** What bounds the bodies and no file of these kinds holds; '' where nothing is lost. */
export function left({ stage: { bounds } }: Session, kinds: readonly SaveKind[]): string {
  const { shapes = [], shapesSkipped = 0 } = bounds ?? {};
  const isOthers = kinds.some((kind) => kind !== 'json');
  return [
    shapes.length > 0 && isOthers ? 'Collision shapes are kept in JSON alone.' : '',
    shapesSkipped > 0 ? `${counted(shapesSkipped, 'collision mesh', 'collision meshes')} will not be in it${shapes.length > 0 ? '' : ', so that nothing can be kept apart'}: with "Collision shapes" in the view, capsules and boxes take their place, which JSON keeps.` : '',
  ].filter(Boolean).join(' ');
}

/** What a file holds. Goals are in the motion where there is one, and beside the pose where there is none. */
function contentOf(session: Session, clip: Clip | null): FileContent {
  const { stage } = session;
  return {
    clip,
    markers: stage.markers,
    carried: stage.carried ?? null,
    goals: session.duration > 0 ? [] : session.userGoals(),
    postures: [...stage.postures, { name: 'studio', q: Array.from(session.q) }],
    placements: stage.placements,
    ...skeletonOf(session),
    title: stage.title,
    motion: stage.motion ?? (stage.clip ? null : 'studio'), // the file's own, where that is what plays
  };
}

/** Bytes of a format. An ASF and its AMC have Euler angles and nothing else: other joints become such. */
function write({ poise }: Session, content: FileContent, format: Format): { bytes: Uint8Array; warnings: Warning[] } {
  if (format !== 'asf' && format !== 'amc') {
    return poise.write(content, format);
  }
  const { model, clip, scale, title } = content;
  const plain = poise.write({ model, clip, title, ...(scale ? { scale } : {}) }, 'json');
  const euler = poise.read(plain.bytes, { format: 'json', edit: { euler: true } });
  try {
    return poise.write(euler, format);
  } finally {
    euler.dispose();
  }
}

/** Why a format cannot hold what is on the screen; '' where it can. */
function obstacle(session: Session, format: Format, clip: Clip): string {
  try {
    write(session, contentOf(session, clip), format);
    return '';
  } catch (error) {
    if (!(error instanceof PoiseError)) {
      throw error;
    }
    return error.message;
  }
}

/** What something can be saved as, and why not as something else. */
export interface SaveKinds {
  kinds: SaveKind[];
  /** Formats that are not offered, with the reason. */
  others: { names: string; why: string }[];
}

/** Of each model: found out by writing its pose, once. */
const known = new WeakMap<Model, SaveKinds>();

function ofSkeleton(session: Session): SaveKinds {
  const clip = still(session);
  const tried = ofSkeletons.map((format) => ({ format, why: obstacle(session, format, clip) }));
  const asf = tried.find(({ format }) => format === 'asf')!.why;
  const able = tried.filter(({ format, why }) => !why && (format !== 'amc' || !asf)).map(({ format }) => format); // an AMC needs its ASF
  const unable = tried.filter(({ format, why }) => why && format !== 'amc');
  clip.dispose();
  return {
    kinds: able.length > 0 ? [...able, 'csv'] : [],
    others: unable.map(({ format, why }) => ({ names: format === 'asf' ? 'ASF and AMC' : format.toUpperCase(), why })),
  };
}

/** The kinds that this session can be saved as. */
export function kindsFor(session: Session): SaveKinds {
  const { model, stage, hasSkeleton } = session;
  const found = known.get(model) ?? (hasSkeleton ? ofSkeleton(session) : { kinds: [], others: [] });
  known.set(model, found);
  return stage.markers ? { ...found, kinds: [...found.kinds, ...ofMarkers] } : found;
}

/** Names of the numbers of q, each once. */
export function coordinateNames({ joints, coordinates }: Model): string[] {
  return coordinates.map(({ joint, label, name }) => (label ? `${joints[joint]!.name}_${name}` : joints[joint]!.name));
}

/** The bytes of a file of what is on the screen. Goals that act on a motion are baked into it before. */
export async function save(session: Session, kind: SaveKind, work: Work): Promise<{ bytes: Uint8Array; warnings: Warning[] }> {
  const { motion } = session;
  const moves = session.duration > 0 && session.hasSkeleton && !isOfMarkers(kind);
  const whole = async () => motion?.trim(0, motion.frames) ?? (await asPlayed(session, work, 'Writing the motion')).clip;
  const clip = moves ? await whole() : kind === 'json' ? null : still(session);
  try {
    return kind === 'csv'
      ? { bytes: jointTable(session.model, clip!), warnings: [] }
      : write(session, contentOf(session, clip), kind);
  } finally {
    clip?.dispose();
  }
}
