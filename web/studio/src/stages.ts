/** From built-in scenes and dropped files to what stands on the stage. */
import {
  calibrate,
  Clip,
  identityPose,
  markersFromClip,
  type Model,
  type Placement,
  placementsByName,
  type Poise,
  type PoiseFile,
  type Pose,
  PoiseError,
  type Scale,
  type Up,
} from 'poise-ik';
import { Session, type Stage, type Target } from './session.js';

/** A built-in scene as the menu shows it. */
export interface Offer {
  id: string;
  title: string;
  hint: string;
  group: string;
}

export const offers: readonly Offer[] = [
  { id: 'twolink', group: 'Plane', title: 'Two links', hint: 'Drag the target and watch where the Hessian is positive definite.' },
  { id: 'arm2d', group: 'Plane', title: 'Arm of five links', hint: 'The arm of a first course on inverse kinematics.' },
  { id: 'tree2d', group: 'Plane', title: 'Tree with three branches', hint: 'Three goals pull on one trunk.' },
  { id: 'arm7', group: 'Robots', title: 'Arm with seven joints', hint: 'Move and turn the hand; the elbow finds its way.' },
  { id: 'arm6', group: 'Robots', title: 'Arm with six joints', hint: 'No freedom to spare: a pose has up to eight answers.' },
  { id: 'scara', group: 'Robots', title: 'Scara', hint: 'Two hinges, a slide and a turning tool.' },
  { id: 'hand', group: 'Robots', title: 'Hand', hint: 'The last joint of each finger follows the one before.' },
  { id: 'lamp', group: 'Expressive', title: 'Lamp', hint: 'It keeps its posture while it looks where you drag.' },
  ...['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((letter) => ({
    id: `erik-${letter}`,
    group: 'Expressive',
    title: `Skeleton ${letter.toUpperCase()}`,
    hint: 'One of the seven of the ERIK evaluation: it keeps its posture while its end looks.',
  })),
  { id: 'humanoid/walk', group: 'Dancer', title: 'Dancer, walking', hint: '58 degrees of freedom follow 41 markers; add a goal and pull.' },
  { id: 'humanoid/cartwheel', group: 'Dancer', title: 'Dancer, cartwheel', hint: '58 degrees of freedom follow 41 markers, upside down too.' },
  { id: 'humanoid/kick', group: 'Dancer', title: 'Dancer, kick', hint: '58 degrees of freedom follow 41 markers.' },
  { id: 'humanoid', group: 'Dancer', title: 'Dancer, still', hint: 'Add goals to hands, feet and head, and pose it.' },
];

const RATE = 120; // frames per second of the recorded motions

const planar = new Set(['twolink', 'arm2d', 'tree2d']);

/** Does the skeleton live in the plane z = 0? */
export function isPlanar(id: string): boolean {
  return planar.has(id);
}

function upOf(name: string): Up {
  return /^(lamp|erik|humanoid)/.test(name) ? 'y' : 'z';
}

/** A pleasant beginning: bent joints, since a straight limb is a singular one. */
function bent(model: Model): Float64Array {
  const q = model.neutral();
  for (const joint of model.joints) {
    if (joint.type === 'revolute' && joint.nq === 1) {
      q[joint.q] = 0.35;
    }
  }
  model.clamp(q);
  return q;
}

/** The tools of a model that no other body hangs from, or its leaves. */
function ends(model: Model): { body: number; local: Pose }[] {
  if (model.tools.length > 0) {
    return model.tools.map((tool) => ({ body: tool.body, local: tool.pose }));
  }
  return model.joints.filter((joint) => joint.subtree === 1).map((joint) => ({ body: joint.index, local: identityPose }));
}

function firstTargets(session: Session, id: string): Target[] {
  const list = ends(session.model);
  const kind = id === 'lamp' || id.startsWith('erik') ? 'aim' : id.startsWith('arm7') || id.startsWith('arm6') ? 'pose' : 'position';
  const wanted = id === 'hand' ? 5 : id === 'tree2d' ? 3 : id.startsWith('humanoid') ? 0 : 1;
  return list.slice(0, wanted).map((end) => session.addTarget(kind, end.body, end.local));
}

/** Put a built-in scene on the stage. Throws when there is none of that name. */
export function openScene(poise: Poise, id: string): Session {
  const [name, motion] = id.split('/') as [string, string | undefined];
  const scene = poise.scene(name);
  const { model } = scene;
  const scale: Scale = { metres: 1, up: upOf(name) };
  const offer = offers.find((o) => o.id === id);
  const stage: Stage = {
    title: offer?.title ?? name,
    model,
    scale,
    postures: scene.postures.map((posture) => ({ name: posture, q: Array.from(scene.posture(posture)) })),
    placements: [...scene.markers],
    clip: null,
    markers: null,
    mode: name === 'lamp' || name.startsWith('erik') ? 'express' : 'reach',
  };
  if (motion) {
    const duration = scene.motions.find((m) => m.name === motion)?.duration ?? 0;
    const frames = Array.from({ length: Math.round(duration * RATE) }, (_, i) => scene.motion(motion, i / RATE));
    const clip = Clip.create(poise, frames, 1 / RATE);
    stage.markers = markersFromClip(model, clip, stage.placements, scale);
    stage.q = Array.from(frames[0] ?? model.neutral());
    clip.dispose();
  } else if (stage.postures.length > 0) {
    stage.q = (stage.postures[1] ?? stage.postures[0]!).q; // the first is straight, or at rest
  } else if (!name.startsWith('humanoid')) {
    stage.q = bent(model);
  }
  const session = new Session(poise, stage);
  firstTargets(session, id);
  return session;
}

export interface DroppedFile {
  name: string;
  bytes: Uint8Array;
}

/** What became of dropped files: a session, and what to tell the user about them. */
export interface Opened {
  session: Session;
  notes: string[];
}

const extension = (name: string): string => name.slice(name.lastIndexOf('.') + 1).toLowerCase();

function read(poise: Poise, file: DroppedFile, all: readonly DroppedFile[], model?: Model): PoiseFile {
  const load = (name: string): Uint8Array | null => {
    const base = name.slice(name.lastIndexOf('/') + 1);
    return all.find((other) => other.name === base)?.bytes ?? null;
  };
  try {
    return poise.read(file.bytes, { name: file.name, load, ...(model ? { model } : {}) });
  } catch (error) {
    if (error instanceof PoiseError) {
      const place = error.line > 0 ? `${file.name}, line ${error.line}` : file.name;
      throw new Error(`${place}: ${error.message}`, { cause: error });
    }
    throw error;
  }
}

/** The order in which files are read: skeletons first, then what moves them. */
const order = ['asf', 'urdf', 'xml', 'mjcf', 'bvh', 'glb', 'gltf', 'csv', 'json', 'amc', 'mot', 'c3d', 'trc'];

/** Open files that belong together: one with a skeleton, others with motions or markers of it. */
export function openFiles(poise: Poise, files: readonly DroppedFile[], current: Session | null): Opened {
  const known = files.filter((file) => order.includes(extension(file.name)) || files.length === 1);
  known.sort((a, b) => order.indexOf(extension(a.name)) - order.indexOf(extension(b.name)));
  if (known.length === 0) {
    throw new Error('none of these files is of a kind that Poise reads: URDF, MJCF, BVH, ASF + AMC, C3D, TRC, MOT, glTF, DH table, JSON');
  }
  const notes: string[] = [];
  let stage: Stage | null = null;
  for (const file of known) {
    const content = read(poise, file, files, stage?.model ?? current?.model);
    notes.push(...content.warnings.slice(0, 3).map((w) => (w.line > 0 ? `${file.name}, line ${w.line}: ${w.text}` : `${file.name}: ${w.text}`)));
    stage = merge(poise, stage, file.name, content, current, notes);
  }
  if (!stage) {
    throw new Error('there is nothing to show in these files');
  }
  return { session: new Session(poise, stage), notes };
}

function merge(
  poise: Poise,
  stage: Stage | null,
  name: string,
  content: PoiseFile,
  current: Session | null,
  notes: string[],
): Stage {
  if (content.model) {
    const scale = content.scale.up === 'unknown' ? { ...content.scale, up: guessUp(content.format) } : content.scale;
    const q = content.clip ? Array.from(content.clip.frame(0)) : content.postures[0]?.q;
    return {
      title: content.title ?? name,
      model: content.model,
      scale,
      postures: content.postures,
      placements: content.placements,
      clip: content.clip,
      markers: content.markers,
      ...(q ? { q } : {}),
    };
  }
  if (content.clip) {
    const base = stage ?? copyOf(poise, current);
    if (!base) {
      throw new Error(`${name} moves a skeleton that it does not hold; drop the skeleton together with it`);
    }
    return { ...base, title: name, clip: content.clip, q: Array.from(content.clip.frame(0)) };
  }
  if (content.markers) {
    return fitMarkers(poise, stage, name, content, notes);
  }
  throw new Error(`${name}: holds neither a skeleton nor a motion nor markers`);
}

const guessUp = (format: string): Up => (['bvh', 'asf', 'gltf', 'glb'].includes(format) ? 'y' : 'z');

/** The present skeleton once more, for a file that moves it. */
function copyOf(poise: Poise, current: Session | null): Stage | null {
  if (!current) {
    return null;
  }
  const { bytes } = poise.write({ model: current.model, scale: current.stage.scale, placements: current.stage.placements }, 'json');
  const copy = poise.read(bytes, { name: 'skeleton.json' });
  return { ...current.stage, model: copy.model!, clip: null, markers: null, placements: copy.placements };
}

const FIT_FRAMES = 20;
const LEAST_MARKERS = 8;

/** Markers without a skeleton: the built-in body takes them on where their names are known. */
function fitMarkers(poise: Poise, stage: Stage | null, name: string, content: PoiseFile, notes: string[]): Stage {
  const markers = content.markers!;
  if (markers.scale.metres > 0 && markers.scale.up !== 'unknown') {
    markers.rescale({ metres: 1, up: 'y' });
  }
  const body = stage?.model ?? poise.scene('humanoid').model;
  const placed: Placement[] = stage && stage.placements.length > 0 ? stage.placements : placementsByName(body, markers);
  const scale: Scale = markers.scale.metres > 0 ? markers.scale : { metres: 0, up: 'z' };
  const base = { title: name, scale, postures: [], clip: null, markers };
  if (placed.length < LEAST_MARKERS) {
    notes.push(`${name}: ${markers.count} markers without names that are known; they are shown without a skeleton`);
    const point = poise.model({ joints: [{ name: 'world', type: 'fixed' }] });
    return { ...base, model: point, placements: [] };
  }
  if (stage && stage.placements.length > 0) {
    return { ...stage, ...base, scale: stage.scale };
  }
  const fit = calibrate(body, placed, markers, FIT_FRAMES, undefined, { scaling: 'segments' });
  notes.push(`${name}: ${placed.length} of ${markers.count} markers placed on the built-in body by their names, ${(1000 * fit.rms).toFixed(1)} mm left`);
  return { ...base, model: fit.model, placements: fit.placements };
}
