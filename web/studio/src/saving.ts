/** What is on the screen as a file: the pose, or the whole motion with the goals applied. */
import { Clip, type FileContent, type Format, type Model, PoiseError, type Warning } from 'poise-ik';
import type { Session } from './session.js';

/** What can be saved: formats of the engine, and joint values over time as a table. */
export type SaveKind = Format | 'csv';

const ofSkeletons = ['json', 'bvh', 'glb', 'asf', 'amc', 'mot', 'dh'] as const;
const ofMarkers = ['c3d', 'trc'] as const;

/** The end of the file's name. */
export const extensionOf = (kind: SaveKind): string => (kind === 'dh' ? 'dh.csv' : kind);

const PATIENCE = 40; // milliseconds of work between two looks at the page

/** The present pose as a motion of one frame. */
function still(session: Session): Clip {
  return Clip.create(session.poise, [session.q], session.frameTime);
}

/**
 * The motion as it is played, goals applied: frame by frame, by a twin, so that the page stays of use. `progress` is told how
 * much is done, from 0 to 1.
 */
export async function bake(session: Session, progress: (part: number) => void = () => {}): Promise<Clip> {
  const frames = Math.max(1, Math.round(session.duration / session.frameTime));
  const clip = Clip.create(session.poise, { frames, nq: session.model.nq }, session.frameTime, session.stage.clip?.startTime);
  const twin = session.twin();
  let looked = performance.now();
  try {
    for (let f = 0; f < frames; f++) {
      twin.setTime(f * session.frameTime);
      twin.update();
      clip.frame(f).set(twin.q);
      if (performance.now() - looked > PATIENCE) {
        progress(f / frames);
        await new Promise((done) => setTimeout(done));
        looked = performance.now();
      }
    }
    return clip;
  } catch (error) {
    clip.dispose();
    throw error;
  } finally {
    twin.release();
  }
}

/** What a file holds. Goals are in the motion where there is one, and beside the pose where there is none. */
function contentOf(session: Session, clip: Clip | null): FileContent {
  const { stage } = session;
  return {
    model: session.hasSkeleton ? session.model : null,
    clip,
    markers: stage.markers,
    carried: stage.carried ?? null,
    goals: session.duration > 0 ? [] : session.userGoals(),
    postures: [...stage.postures, { name: 'studio', q: Array.from(session.q) }],
    placements: stage.placements,
    scale: stage.scale,
    title: stage.title,
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

function canWrite(session: Session, format: Format, clip: Clip): boolean {
  try {
    write(session, contentOf(session, clip), format);
    return true;
  } catch (error) {
    if (!(error instanceof PoiseError)) {
      throw error;
    }
    return false;
  }
}

/** What each model can be saved as: found out by writing its pose, once. */
const known = new WeakMap<Model, SaveKind[]>();

/** The kinds that this session can be saved as. */
export function kindsFor(session: Session): SaveKind[] {
  let kinds = known.get(session.model);
  if (!kinds) {
    const clip = still(session);
    const able = session.hasSkeleton ? ofSkeletons.filter((format) => canWrite(session, format, clip)) : [];
    kinds = able.filter((format) => format !== 'amc' || able.includes('asf')); // which its skeleton is in
    kinds = kinds.length > 0 ? [...kinds, 'csv'] : kinds;
    clip.dispose();
    known.set(session.model, kinds);
  }
  return session.stage.markers ? [...kinds, ...ofMarkers] : kinds;
}

/** Names of the numbers of q, each once. */
export function coordinateNames({ joints, coordinates }: Model): string[] {
  return coordinates.map(({ joint, label, name }) => (label ? `${joints[joint]!.name}_${name}` : joints[joint]!.name));
}

/** A row for each frame: the time, then q in radians and length units. Columns are called as in MOT files: it is read like those. */
function table(model: Model, clip: Clip): string {
  const names = model.coordinates.map(({ joint, name }) => (model.joints[joint]!.nq > 1 ? `${model.joints[joint]!.name}/${name}` : model.joints[joint]!.name));
  const rows = Array.from({ length: clip.frames }, (_, f) => [clip.startTime + f * clip.frameTime, ...clip.frame(f)].join(','));
  return [['time', ...names.map((name) => name.replace(/[,\s]/g, '_'))].join(','), ...rows, ''].join('\n');
}

/** The bytes of a file of what is on the screen. */
export async function save(session: Session, kind: SaveKind, progress?: (part: number) => void): Promise<{ bytes: Uint8Array; warnings: Warning[] }> {
  const moves = session.duration > 0 && session.hasSkeleton && kind !== 'c3d' && kind !== 'trc';
  const clip = moves ? await bake(session, progress) : kind === 'json' ? null : still(session);
  try {
    return kind === 'csv'
      ? { bytes: new TextEncoder().encode(table(session.model, clip!)), warnings: [] }
      : write(session, contentOf(session, clip), kind);
  } finally {
    clip?.dispose();
  }
}
