/** What the built-in robots and the dancer look like: shapes of our own, made for their skeletons. */
import { identityPose, type Joint, type Model, type Pose, type Vec3 } from 'poise-ik';
import { turnOfZ } from './turns.js';
import type { Colour, Form, Visual } from './visuals.js';

const white: Colour = [0.9, 0.91, 0.93, 1];
const dark: Colour = [0.3, 0.33, 0.38, 1];
const orange: Colour = [0.93, 0.5, 0.16, 1];
const red: Colour = [0.82, 0.24, 0.2, 1];
const skin: Colour = [0.86, 0.72, 0.6, 1];
const cloth: Colour = [0.33, 0.45, 0.62, 1];
const trousers: Colour = [0.36, 0.4, 0.48, 1];

const UP: Vec3 = [0, 1, 0];
const add = (a: Vec3, b: Vec3, part = 1): Vec3 => [a[0] + part * b[0], a[1] + part * b[1], a[2] + part * b[2]];
const lengthOf = (v: Vec3): number => Math.hypot(...v);

/** A limb between two points, thinner or thicker at its end. */
function limb(body: string, from: Vec3, to: Vec3, radius: number, top: number, colour: Colour): Visual {
  const way = add(to, from, -1);
  return { body, pose: { position: add(from, way, 0.5), rotation: turnOfZ(way) }, form: { kind: 'limb', radius, top, half: lengthOf(way) / 2 }, colour };
}

function solid(body: string, position: Vec3, form: Form, colour: Colour, rotation: Pose['rotation'] = identityPose.rotation): Visual {
  return { body, pose: { position, rotation }, form, colour };
}

const childrenOf = (model: Model, { index }: Joint): Joint[] => model.joints.filter((joint) => joint.parent === index);

/** Ends of a body: where its children are, and its tools. */
function endsOf(model: Model, joint: Joint): Vec3[] {
  const tools = model.tools.filter((tool) => tool.body === joint.index).map((tool) => tool.pose.position);
  return [...childrenOf(model, joint).map((child) => child.offset.position), ...tools];
}

/** An industrial arm: drums about the joints' axes, tubes between them, a foot, and a gripper at the tip. */
function armLooks(model: Model, size: number): Visual[] {
  const list: Visual[] = [];
  const count = model.joints.length;
  model.joints.forEach((joint, i) => {
    const r = size * (0.056 - (0.03 * i) / count);
    const drum: Form = { kind: 'cylinder', radius: joint.type === 'prismatic' ? 0.5 * r : r, half: joint.type === 'prismatic' ? 2.5 * r : 1.05 * r };
    list.push(solid(joint.body, [0, 0, 0], drum, i % 2 === 0 ? dark : orange, turnOfZ(joint.axis)));
    for (const end of endsOf(model, joint).filter((at) => lengthOf(at) > 0.5 * r)) {
      list.push(limb(joint.body, [0, 0, 0], end, 0.8 * r, 0.68 * r, white));
    }
  });
  const root = model.joints[0]!.offset.position;
  list.push(limb('', [root[0], root[1], 0.05 * size], root, 0.047 * size, 0.042 * size, white));
  list.push(solid('', [root[0], root[1], 0.012 * size], { kind: 'cylinder', radius: 0.1 * size, half: 0.012 * size }, dark));
  for (const { body, pose } of model.tools) {
    const name = model.joints[body]!.body;
    const way = lengthOf(pose.position) > 0 ? pose.position : ([0, 0, 1] as Vec3);
    const at = add(pose.position, way, -0.25);
    list.push(solid(name, at, { kind: 'cylinder', radius: 0.03 * size, half: 0.008 * size }, dark, turnOfZ(way)));
  }
  return list;
}

/** A hand: a palm under the knuckles, and fingers that grow thinner. */
function handLooks(model: Model, size: number): Visual[] {
  const list: Visual[] = [];
  const palm = model.joints[0]!;
  for (const joint of model.joints.slice(1)) {
    const depth = model.path(joint.index).length - 2;
    const r = size * (0.047 - 0.006 * depth);
    endsOf(model, joint).forEach((end) => list.push(limb(joint.body, [0, 0, 0], end, r, r - 0.006 * size, skin)));
  }
  for (const knuckle of childrenOf(model, palm)) {
    list.push(limb(palm.body, [0, 0.25 * knuckle.offset.position[1], 0.01], knuckle.offset.position, 0.062 * size, 0.052 * size, skin));
  }
  list.push(limb(palm.body, [0, 0, -0.14 * size], [0, 0, 0], 0.075 * size, 0.07 * size, cloth));
  return list;
}

/** A desk lamp: a heavy foot, thin arms with drums, a shade with a bulb. */
function lampLooks(model: Model, size: number): Visual[] {
  const list: Visual[] = [solid('', [0, 0.012 * size, 0], { kind: 'cylinder', radius: 0.15 * size, half: 0.016 * size }, red, turnOfZ(UP))];
  for (const joint of model.joints) {
    list.push(solid(joint.body, [0, 0, 0], { kind: 'cylinder', radius: 0.026 * size, half: 0.026 * size }, dark, turnOfZ(joint.axis)));
    childrenOf(model, joint).forEach((child) => list.push(limb(joint.body, [0, 0, 0], child.offset.position, 0.016 * size, 0.016 * size, red)));
  }
  const { body, pose } = model.tools[0]!;
  const name = model.joints[body]!.body;
  list.push(solid(name, add([0, 0, 0], pose.position, 0.45), { kind: 'cylinder', radius: 0.035 * size, top: 0.12 * size, half: 0.55 * lengthOf(pose.position) }, red, turnOfZ(pose.position)));
  list.push(solid(name, add([0, 0, 0], pose.position, 0.75), { kind: 'ellipsoid', radii: [0.045 * size, 0.045 * size, 0.045 * size] }, [1, 0.93, 0.65, 1]));
  return list;
}

/** Widths of the dancer in metres, by the beginning of a body's name: near the joint, and at its end. */
const widths: readonly (readonly [RegExp, number, number, Colour])[] = [
  [/thigh/, 0.082, 0.058, trousers],
  [/shin/, 0.055, 0.04, trousers],
  [/foot/, 0.042, 0.034, dark],
  [/toes/, 0.03, 0.026, dark],
  [/upper_arm/, 0.048, 0.038, cloth],
  [/ulna/, 0.04, 0.036, skin],
  [/radius/, 0.036, 0.028, skin],
  [/hand/, 0.028, 0.022, skin],
  [/thumb|index|fingers/, 0.016, 0.012, skin],
  [/clavicle/, 0.06, 0.055, cloth],
  [/neck/, 0.05, 0.048, skin],
];

/** Lengths of the dancer's leg and spine in metres: a body that was fitted to a person has others. */
const LEG = 0.84;
const LUMBAR = 0.165;
const THORAX = 0.255;

function dancerLooks(model: Model): Visual[] {
  const reach = (name: string) => lengthOf(model.joints.find((joint) => joint.name === name)?.offset.position ?? [0, 0, 0]);
  const grown = (reach('left_knee') + reach('left_ankle')) / LEG || 1;
  const part = (body: string, [y, z]: readonly [number, number], [wide, tall, deep]: Vec3, colour: Colour, up = grown) =>
    solid(body, [0, up * y, grown * z], { kind: 'ellipsoid', radii: [grown * wide, up * tall, grown * deep] }, colour);
  const list: Visual[] = [
    part('pelvis', [0, 0], [0.16, 0.11, 0.11], trousers),
    part('lumbar', [0.06, 0.005], [0.135, 0.13, 0.095], cloth, reach('chest') / LUMBAR || grown),
    part('thorax', [0.1, 0.005], [0.165, 0.18, 0.115], cloth, reach('neck') / THORAX || grown),
    part('head', [0.085, 0.02], [0.078, 0.115, 0.095], skin),
  ];
  for (const joint of model.joints) {
    const [, wide, narrow, colour] = widths.find(([name]) => name.test(joint.body)) ?? [];
    if (wide === undefined) {
      continue;
    }
    const [radius, top] = [grown * wide, grown * narrow!];
    endsOf(model, joint).filter((end) => !/hand/.test(joint.body) || lengthOf(end) > 0.05 * grown).forEach((end) => list.push(limb(joint.body, [0, 0, 0], end, radius, top, colour!)));
    if (/toes|fingers|index/.test(joint.body)) {
      const side = Math.sign(joint.offset.position[0]) || 1;
      list.push(limb(joint.body, [0, 0, 0], /toes/.test(joint.body) ? [0, 0, 0.04 * grown] : [0.06 * grown * side, 0, 0], radius, top, colour!));
    }
  }
  return list;
}

/** The looks of a built-in scene; none where bones say it best. */
export function builtInLooks(scene: string, model: Model, size: number): Visual[] {
  const name = scene.split('/')[0]!;
  switch (name) {
    case 'arm6':
    case 'arm7':
    case 'scara':
      return armLooks(model, size);
    case 'hand':
      return handLooks(model, size);
    case 'lamp':
      return lampLooks(model, size);
    case 'humanoid':
      return dancerLooks(model);
    default:
      return [];
  }
}
