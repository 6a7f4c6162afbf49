/** The built-in scenes: what the menu offers, and how each stands on the stage. */
import { Clip, markersFromClip, type Model, type Poise, type Scale, type Scene, type Up } from 'poise-ik';
import { Session } from './session.js';
import type { Stage } from './stage.js';
import { endsOf, likelyEnd, type Target } from './targets.js';

/** A built-in scene as the menu shows it. */
export interface Offer {
  id: string;
  title: string;
  hint: string;
  group: string;
}

export const offers: readonly Offer[] = [
  { id: 'arm7', group: 'Robots', title: 'Arm with seven joints', hint: 'Move and turn the hand; the elbow finds its way.' },
  { id: 'arm6', group: 'Robots', title: 'Arm with six joints', hint: 'No freedom to spare: a pose has up to eight answers.' },
  { id: 'scara', group: 'Robots', title: 'Scara', hint: 'Two hinges, a slide and a turning tool.' },
  { id: 'hand', group: 'Robots', title: 'Hand', hint: 'The last joint of each finger follows the one before.' },
  { id: 'humanoid/walk', group: 'Dancer', title: 'Dancer, walking', hint: '58 degrees of freedom follow 41 markers; add a goal and pull.' },
  { id: 'humanoid/cartwheel', group: 'Dancer', title: 'Dancer, cartwheel', hint: '58 degrees of freedom follow 41 markers, upside down too.' },
  { id: 'humanoid/kick', group: 'Dancer', title: 'Dancer, kick', hint: '58 degrees of freedom follow 41 markers.' },
  { id: 'humanoid', group: 'Dancer', title: 'Dancer, still', hint: 'Add goals to hands, feet and head, and pose it.' },
  { id: 'lamp', group: 'Expressive', title: 'Lamp', hint: 'It keeps its posture while it looks where you drag.' },
  ...['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((letter) => ({
    id: `erik-${letter}`,
    group: 'Expressive',
    title: `Skeleton ${letter.toUpperCase()}`,
    hint: 'One of the seven skeletons of the ERIK evaluation: it keeps its posture while its end looks.',
  })),
  { id: 'twolink', group: 'Plane', title: 'Two links', hint: 'Drag the target and watch where the Hessian is positive definite.' },
  { id: 'arm2d', group: 'Plane', title: 'Arm of five links', hint: 'The arm of a first course on inverse kinematics.' },
  { id: 'tree2d', group: 'Plane', title: 'Tree with three branches', hint: 'Three goals pull on one trunk.' },
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
      q[joint.q] = Math.min(0.35, 3 / model.joints.length); // a long chain should not roll up
    }
  }
  model.clamp(q);
  return q;
}

/** A point to reach for a skeleton that came without goals. */
export function addFirstTarget(session: Session): void {
  const end = likelyEnd(session.kinematics, () => true);
  if (end && session.model.nv > 0) {
    session.addTarget('position', end.body, end.local);
  }
}

function firstTargets(session: Session, id: string): Target[] {
  const list = endsOf(session.model);
  const kind = id === 'lamp' || id.startsWith('erik') ? 'aim' : id.startsWith('arm7') || id.startsWith('arm6') ? 'pose' : 'position';
  const wanted = id === 'hand' ? 5 : id === 'tree2d' ? 3 : id.startsWith('humanoid') ? 0 : 1;
  return list.slice(0, wanted).map((end) => session.addTarget(kind, end.body, end.local));
}

function sceneOf(poise: Poise, name: string): Scene {
  try {
    return poise.scene(name);
  } catch (error) {
    throw new Error(`There is no scene "${name}".`, { cause: error });
  }
}

/** Put a built-in scene on the stage. Throws when there is none of that name. */
export function openScene(poise: Poise, id: string): Session {
  const [name, motion] = id.split('/') as [string, string | undefined];
  const scene = sceneOf(poise, name);
  if (motion && !scene.motions.some((m) => m.name === motion)) {
    scene.dispose();
    throw new Error(`There is no motion "${motion}" of the scene "${name}".`);
  }
  const { model } = scene;
  const scale: Scale = { metres: 1, up: upOf(name) };
  const offer = offers.find((o) => o.id === id);
  const stage: Stage = {
    title: offer?.title ?? name,
    model,
    scale,
    upBy: 'file',
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
