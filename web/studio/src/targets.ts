/** Goals of the user as handles in space, and as the engine takes them. */
import { type Goal, goals as make, identityPose, type Kinematics, type Model, type Pose, type Vec3 } from 'poise-ik';
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

const kindNames = { position: 'Reach', pose: 'Pose', aim: 'Look at', pin: 'Pin' } as const;

/** What the panel calls it. */
export const goalName = (model: Model, { kind, body }: Pick<Target, 'kind' | 'body'>): string => `${kindNames[kind]} ${model.joints[body]?.body ?? ''}`;

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

/** A part of a figure on one side, as files call it: RightHand, rHand, hand_r, Bip01 R Hand. */
const sided = (part: string): RegExp[] => ['right', 'left'].map((side) => new RegExp(`${side}.?${part}$|${part}.?${side[0]}(${side.slice(1)})?$|(^|[^a-z])${side[0]}.?${part}$`, 'i'));

/** What files call the point that a robot works with, and the hands of a figure: the likeliest first. */
const tools = [/(^|[^a-z])(tool(_?(frame|tip|center|centre|point|link))?|tool0|tcp|ee|eef|end_?effector)([^a-z]|$)/i];
const hands = [...sided('hand'), /(^|[^a-z])hand$/i];
const wrists = sided('wrist');
const feet = sided('foot');
const face = /eye|jaw|tongue|teeth|hair|brow|cheek/i;
const sensor = /(^|[^a-z])(imu|gyro|accel\w*|lidar|camera|sensor)([^a-z]|$)/i;

/** The tools of a model, or the bodies that no other hangs from. */
export function endsOf(model: Model): End[] {
  if (model.tools.length > 0) {
    return model.tools.map((tool) => ({ body: tool.body, local: tool.pose }));
  }
  return model.joints.filter((joint) => joint.subtree === 1).map((joint) => ({ body: joint.index, local: identityPose }));
}

interface NamedEnd extends End {
  name: string;
}

/** Of these, the first whose name says that it is what is looked for; of several of a name the last. */
function named(list: readonly NamedEnd[], patterns: readonly RegExp[]): End | null {
  const found = patterns.flatMap((pattern) => list.filter(({ name }) => pattern.test(name)).slice(-1));
  return found[0] ?? null;
}

/** A joint of a limb moves this body, not the root alone. */
const isOfLimb = (model: Model, body: number): boolean => model.path(body).some((joint) => model.joints[joint]!.nv > 0 && model.joints[joint]!.nv < 6);

/** How far a body is from the root, along its limb. */
function reachOf({ model, poses }: Kinematics, body: number): number {
  const at = (joint: number) => poses.subarray(7 * joint, 7 * joint + 3);
  return model.path(body).reduce((sum, joint) => {
    const { parent } = model.joints[joint]!;
    return parent < 0 ? sum : sum + Math.hypot(...Array.from(at(joint), (x, k) => x - at(parent)[k]!));
  }, 0);
}

/** What a goal goes to that no one chose a body for, of those that may be taken: a tool or a hand, another tool, a foot, the end of the longest limb. The root, parts of a face and sensors come last. */
export function likelyEnd(kinematics: Kinematics, isFree: (body: number) => boolean): End | null {
  const { model } = kinematics;
  const marked = model.tools.map(({ name, body, pose: local }) => ({ name, body, local }));
  const bodies = model.joints.map(({ body: name, index: body }) => ({ name, body, local: identityPose }));
  const isAble = ({ body }: End) => isFree(body) && canMove(model, body);
  const able = [...marked, ...bodies].filter((end) => isAble(end) && isOfLimb(model, end.body));
  const hasHands = bodies.some(({ name }) => hands.some((hand) => hand.test(name)));
  const isAside = (name: string) => face.test(name) || sensor.test(name);
  const rank = (end: NamedEnd) => (!isOfLimb(model, end.body) ? 2 : isAside(end.name) || isAside(model.joints[end.body]!.body) ? 1 : 0);
  const longest = (list: readonly NamedEnd[]): NamedEnd | null =>
    list.filter(isAble).reduce<NamedEnd | null>((best, end) => {
      const isBetter = !best || rank(end) < rank(best) || (rank(end) === rank(best) && reachOf(kinematics, end.body) > reachOf(kinematics, best.body));
      return isBetter ? end : best;
    }, null);
  const [tool, end] = [longest(marked), longest(bodies.filter(({ body }) => model.joints[body]!.subtree === 1))];
  const isGood = (found: NamedEnd | null) => found && rank(found) === 0;
  return named(able, tools) ?? named(able, hands) ?? (hasHands ? null : named(able, wrists)) ?? (isGood(tool) ? tool : null) ?? named(able, feet) ?? (isGood(end) ? end : (tool ?? end));
}
