/** Rotations as files write them, as quaternions. */
import type { Quat, Vec3 } from 'poise-ik';
import { compose } from '../spatial.js';

const axes: Record<string, Vec3> = { x: [1, 0, 0], y: [0, 1, 0], z: [0, 0, 1] };
const none: Quat = [0, 0, 0, 1];

export function multiply(a: Quat, b: Quat): Quat {
  return compose({ position: [0, 0, 0], rotation: a }, { position: [0, 0, 0], rotation: b }).rotation;
}

/** Turns about axes one after the other: small letters about those of the turned frame, capital ones about fixed axes. */
export function turnOf(order: string, angles: readonly number[]): Quat {
  return [...order].reduce<Quat>((turn, letter, i) => {
    const next = axisTurn(axes[letter.toLowerCase()] ?? [0, 0, 1], angles[i] ?? 0);
    return letter >= 'a' ? multiply(turn, next) : multiply(next, turn);
  }, none);
}

/** About an axis of any length but 0. */
export function axisTurn(axis: Vec3, angle: number): Quat {
  const length = Math.hypot(...axis);
  const [x, y, z] = axis.map((component) => (Math.sin(angle / 2) * component) / (length || 1)) as unknown as Vec3;
  return length > 0 ? [x, y, z, Math.cos(angle / 2)] : none;
}

/** The shortest turn that takes z to a direction. */
export function turnOfZ([x, y, z]: Vec3): Quat {
  const length = Math.hypot(x, y, z) || 1;
  const [w, norm] = [1 + z / length, Math.hypot(y / length, x / length, 1 + z / length)];
  return norm < 1e-9 ? [1, 0, 0, 0] : [-y / length / norm, x / length / norm, 0, w / norm];
}

/** From the columns of a rotation matrix, x and y, made orthonormal. */
export function turnOfAxes(x: Vec3, y: Vec3): Quat {
  const unit = (v: Vec3): Vec3 => {
    const length = Math.hypot(...v) || 1;
    return [v[0] / length, v[1] / length, v[2] / length];
  };
  const cross = (a: Vec3, b: Vec3): Vec3 => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
  const [a, c] = [unit(x), unit(cross(x, y))];
  const b = cross(c, a);
  const w = Math.sqrt(Math.max(0, 1 + a[0] + b[1] + c[2])) / 2;
  const part = (size: number, sign: number) => Math.sqrt(Math.max(0, size)) / 2 * (sign < 0 ? -1 : 1);
  return [part(1 + a[0] - b[1] - c[2], b[2] - c[1]), part(1 - a[0] + b[1] - c[2], c[0] - a[2]), part(1 - a[0] - b[1] + c[2], a[1] - b[0]), w];
}
