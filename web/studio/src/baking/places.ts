/** Where handles of goals are: where their bodies have them, and between two places. */
import type { Kinematics, Quat, Vec3 } from 'poise-ik';
import { compose, rotate } from '../spatial.js';
import type { Target } from '../targets.js';

export interface Place {
  position: Vec3;
  rotation: Quat;
}

/** Where the handle of a goal is when the goal is met; what is looked at is `away` from the body. */
export function placeOf(kinematics: Kinematics, { kind, body, local }: Pick<Target, 'kind' | 'body' | 'local'>, away: number): Place {
  const { position, rotation } = compose(kinematics.bodyPose(body), local);
  const [x, y, z] = kind === 'aim' ? kinematics.direction(body, rotate(local.rotation, [0, 1, 0])) : [0, 0, 0];
  return { rotation, position: [position[0] + away * x, position[1] + away * y, position[2] + away * z] };
}

/** The shorter way from a to b on the sphere of rotations. */
export function slerp(a: Quat, b: Quat, part: number): Quat {
  const dot = a.reduce((sum, x, i) => sum + x * b[i]!, 0);
  const angle = Math.acos(Math.min(1, Math.abs(dot)));
  const [from, to] = angle < 1e-6 ? [1 - part, part] : [Math.sin((1 - part) * angle) / Math.sin(angle), Math.sin(part * angle) / Math.sin(angle)];
  const sum = a.map((x, i) => from * x + (dot < 0 ? -to : to) * b[i]!);
  const norm = Math.hypot(...sum);
  return sum.map((x) => x / norm) as unknown as Quat;
}

/** Between two places: positions along a straight line, rotations along an arc. */
export function mixed(a: Place, b: Place, part: number): Place {
  const position = a.position.map((x, i) => x + part * (b.position[i]! - x)) as unknown as Vec3;
  return { position, rotation: slerp(a.rotation, b.rotation, part) };
}
