/** Goals of the user as handles in space, and as the engine takes them. */
import { type Goal, goals as make, identityPose, type Model, type Pose, type Vec3 } from 'poise-ik';
import type { Key } from './keyframes.js';
import { rotate } from './spatial.js';

/** `pin` is a pose that a body keeps. */
export type GoalKind = 'position' | 'pose' | 'aim' | 'pin';

/** A goal of the user: a handle in space that a point of a body is drawn to, turned like, or looks at. */
export interface Target {
  kind: GoalKind;
  body: number;
  /** The point or frame in the body's frame. For `aim`, its y axis is what looks. */
  local: Pose;
  position: Vec3;
  rotation: readonly [number, number, number, number];
  weight: number;
  enabled: boolean;
  /** Where the handle is over time, where it moves. */
  keys?: Key[];
}

/** As the engine takes it. */
export function goalOf(target: Target): Goal {
  const extras = { weight: target.weight };
  switch (target.kind) {
    case 'position':
      return make.position(target.body, target.local.position, target.position, extras);
    case 'pose':
    case 'pin':
      return make.pose(target.body, target.local, { position: target.position, rotation: target.rotation }, extras);
    case 'aim':
      return make.aim(target.body, target.local.position, rotate(target.local.rotation, [0, 1, 0]), target.position, extras);
  }
}

/** The goal of a file as a handle, where it is of a kind that has one. */
export function targetOf(goal: Goal): Target | null {
  const { kind, body = -1, local = identityPose, target = identityPose, weight = 1 } = goal;
  if (kind !== 'position' && kind !== 'pose' && kind !== 'aim') {
    return null;
  }
  const turn = kind === 'aim' ? turnTo(goal.axis ?? [0, 1, 0]) : local.rotation;
  return { kind, body, local: { position: local.position, rotation: turn }, position: target.position, rotation: target.rotation, weight, enabled: true };
}

/** The shortest turn that takes y to a direction. */
function turnTo([x, y, z]: Vec3): readonly [number, number, number, number] {
  const length = Math.hypot(x, y, z) || 1;
  const q = [z / length, 0, -x / length, 1 + y / length] as const;
  const norm = Math.hypot(...q);
  return norm < 1e-9 ? [1, 0, 0, 0] : [q[0] / norm, q[1] / norm, q[2] / norm, q[3] / norm];
}

/** Does any joint move this body? A mesh of a file may hang from the world. */
export const canMove = (model: Model, body: number): boolean => model.path(body).some((joint) => model.joints[joint]!.nv > 0);

/** Where a skeleton ends: what people give goals first. */
export interface End {
  body: number;
  local: Pose;
}

/** What files call the point that a robot works with, and the hands of a figure: the likeliest first. */
const wellKnown = [/(^|[^a-z])(tool(_?(frame|tip|center|centre|point|link))?|tool0|tcp|ee|eef|end_?effector)([^a-z]|$)/i, /right.?hand$|hand.?r(ight)?$/i, /left.?hand$|hand.?l(eft)?$/i];

/** The tools of a model, or the bodies that no other hangs from. */
export function endsOf(model: Model): End[] {
  if (model.tools.length > 0) {
    return model.tools.map((tool) => ({ body: tool.body, local: tool.pose }));
  }
  return model.joints.filter((joint) => joint.subtree === 1).map((joint) => ({ body: joint.index, local: identityPose }));
}

/** The first tool or body, of those that may be taken, whose name says that it is one to work with; of several of a name the last. */
export function namedEnd(model: Model, isFree: (body: number) => boolean): End | null {
  const tools = model.tools.map(({ name, body, pose: local }) => ({ name, body, local }));
  const bodies = model.joints.map(({ body: name, index: body }) => ({ name, body, local: identityPose }));
  const able = [...tools, ...bodies].filter(({ body }) => isFree(body) && canMove(model, body));
  for (const name of wellKnown) {
    const found = able.filter((end) => name.test(end.name)).at(-1);
    if (found) {
      return found;
    }
  }
  return null;
}
