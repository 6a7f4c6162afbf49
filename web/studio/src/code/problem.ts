/** The problem on the screen: skeleton, goals in words, start, method, locks. What programs are written from. */
import { type Method, type Model, type Vec3 } from 'poise-ik';
import type { Session } from '../session.js';
import { compose, rotate } from '../spatial.js';
import type { Target } from '../targets.js';

/** Where the skeleton comes from: a scene by name, or a file. */
export type Source = { scene: string } | { file: string };

export interface Problem {
  source: Source;
  /** Each as `poise help goals` explains it. */
  goals: string[];
  /** Where to start: the pose on the screen. */
  q: number[];
  method: Method;
  /** Names of joints that keep their values. */
  locked: string[];
  /** And their degrees of freedom. */
  lockedFreedoms: number[];
  /** Between shapes that are kept apart, in length units; null: they may touch. */
  margin: number | null;
  nv: number;
  /** The file has loops, which answers close; left open: the method does not hold them; none. */
  loops: 'held' | 'open' | null;
  /** Its file fixes the root of the robot, which is free on the screen. */
  isFreed: boolean;
}

/** To a millionth: more than a hand can drag. */
const number = (x: number): string => String(+x.toFixed(6) || 0);
const numbers = (list: ArrayLike<number>): string => Array.from(list, number).join(' ');

const quoted = (name: string): string => (/^[\w.:/+-]+$/.test(name) ? name : `"${name}"`);

const isSame = (a: ArrayLike<number>, b: ArrayLike<number>): boolean => Array.from(a).every((x, i) => x === b[i]);

/** The tool that a goal's frame is, where its name stands for nothing else. */
export function toolOf(model: Model, { body, local }: Target): string | null {
  const tool = model.tools.find((t) => t.body === body && isSame(t.pose.position, local.position) && isSame(t.pose.rotation, local.rotation));
  const taken = tool && model.joints.some((joint) => joint.body === tool.name || joint.name === tool.name);
  return tool && !taken ? tool.name : null;
}

const at = (point: Vec3): string => (point.some((x) => number(x) !== '0') ? ` at ${numbers(point)}` : '');

/** A rotation of the body that turns the goal's own frame as the target is turned. */
function bodyRotation({ local, rotation }: Target): ArrayLike<number> {
  const [x, y, z, w] = local.rotation;
  return compose({ position: [0, 0, 0], rotation }, { position: [0, 0, 0], rotation: [-x, -y, -z, w] }).rotation;
}

/** A goal in the words of `poise help goals`. */
export function wordsOf(model: Model, target: Target): string {
  const tool = toolOf(model, target);
  const body = quoted(model.joints[target.body]!.body);
  const { position, local } = target;
  const weight = target.weight === 1 ? '' : ` weight ${number(target.weight)}`;
  switch (target.kind) {
    case 'position':
      return `position ${tool ? quoted(tool) : body} ${numbers(position)}${tool ? '' : at(local.position)}${weight}`;
    case 'pose':
    case 'pin': {
      const turned = numbers(tool ? target.rotation : bodyRotation(target));
      return `pose ${tool ? quoted(tool) : body} ${numbers(position)} quaternion ${turned}${tool ? '' : at(local.position)}${weight}`;
    }
    case 'aim':
      return `aim ${body} to ${numbers(position)} axis ${numbers(rotate(local.rotation, [0, 1, 0]))}${at(local.position)}${weight}`;
  }
}

export function problemOf(session: Session, source: Source): Problem {
  const { model, targets, method, stage } = session;
  const joints = [...session.locked].map((index) => model.joints[index]!);
  return {
    source,
    goals: targets.filter(({ enabled }) => enabled).map((target) => wordsOf(model, target)),
    q: Array.from(session.q, (x) => Number(number(x))),
    method,
    locked: joints.map(({ name }) => name),
    lockedFreedoms: joints.flatMap(({ v, nv }) => Array.from({ length: nv }, (_, i) => v + i)),
    margin: session.collisions?.keeps ? Number(number(session.collisions.margin)) : null,
    nv: model.nv,
    loops: !session.loops ? null : method === 'auto' ? 'held' : 'open',
    isFreed: 'file' in source && ['urdf', 'mjcf'].includes(stage.robot?.format ?? '') && stage.floating === true,
  };
}
