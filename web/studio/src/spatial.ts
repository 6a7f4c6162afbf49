/** Points and frames in space. */
import type { Pose, Vec3 } from 'poise-ik';

/** The finite points of a list whose points begin every `stride` numbers. */
export function pointsOf(list: ArrayLike<number>, stride: number): number[] {
  const points: number[] = [];
  for (let i = 0; i + 2 < list.length; i += stride) {
    if (Number.isFinite(list[i]!)) {
      points.push(list[i]!, list[i + 1]!, list[i + 2]!);
    }
  }
  return points;
}

/** Of the box around points; 1 where it would be 0. */
export function diagonal(points: readonly number[]): number {
  const low = [Infinity, Infinity, Infinity];
  const high = [-Infinity, -Infinity, -Infinity];
  points.forEach((x, i) => {
    low[i % 3] = Math.min(low[i % 3]!, x);
    high[i % 3] = Math.max(high[i % 3]!, x);
  });
  const size = Math.hypot(...low.map((x, k) => high[k]! - x));
  return Number.isFinite(size) && size > 0 ? size : 1;
}

/** v turned by the unit quaternion q. */
export function rotate(q: ArrayLike<number>, v: Vec3): Vec3 {
  const [x, y, z, w] = [q[0]!, q[1]!, q[2]!, q[3]!];
  const t = [2 * (y * v[2] - z * v[1]), 2 * (z * v[0] - x * v[2]), 2 * (x * v[1] - y * v[0])] as const;
  return [
    v[0] + w * t[0] + y * t[2] - z * t[1],
    v[1] + w * t[1] + z * t[0] - x * t[2],
    v[2] + w * t[2] + x * t[1] - y * t[0],
  ];
}

/** b as seen from the world where a's frame is that of b. */
export function compose(a: Pose, b: Pose): Pose {
  const at = rotate(a.rotation, b.position);
  const [x, y, z, w] = a.rotation;
  const [i, j, k, r] = b.rotation;
  return {
    position: [a.position[0] + at[0], a.position[1] + at[1], a.position[2] + at[2]],
    rotation: [w * i + x * r + y * k - z * j, w * j + y * r + z * i - x * k, w * k + z * r + x * j - y * i, w * r - x * i - y * j - z * k],
  };
}

export function distance(a: Vec3, b: Vec3): number {
  return Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
}
