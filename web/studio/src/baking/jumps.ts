/** Joints that turn suddenly, where they did not before. */
import { type Clip, Kinematics, type Model, type Quat } from 'poise-ik';

const SUDDEN = 0.25; // radians from one frame to the next, and twice as much as before: what the library takes for a snap

/** |log(a^-1 b)| of two unit quaternions. */
const angleBetween = (a: Quat, b: Quat): number => 2 * Math.acos(Math.min(1, Math.abs(a.reduce((sum, x, i) => sum + x * b[i]!, 0))));

/** a^-1 b. */
function from([x, y, z, w]: Quat, [a, b, c, d]: Quat): Quat {
  return [w * a - x * d - y * c + z * b, w * b + x * c - y * d - z * a, w * c - x * b + y * a - z * d, w * d + x * a + y * b + z * c];
}

/** By frame and joint: the joint's rotation against its parent. */
function turnsOf(kinematics: Kinematics, model: Model, q: ArrayLike<number>): Quat[] {
  kinematics.update(q);
  const rotations = model.joints.map(({ index }) => kinematics.bodyPose(index).rotation);
  return model.joints.map(({ parent }, i) => (parent < 0 ? rotations[i]! : from(rotations[parent]!, rotations[i]!)));
}

/** The first frame in which a joint of `after` turns suddenly and that of `before` does not; null: nowhere. */
export function jumpIn(model: Model, before: Clip, after: Clip): { frame: number; joint: string } | null {
  using kinematics = new Kinematics(model);
  const steps = (clip: Clip, f: number) => {
    const [last, now] = [turnsOf(kinematics, model, clip.frame(f - 1)), turnsOf(kinematics, model, clip.frame(f))];
    return now.map((turn, i) => angleBetween(last[i]!, turn));
  };
  for (let f = 1; f < after.frames; f++) {
    const now = steps(after, f);
    const was = f < before.frames && now.some((angle) => angle > SUDDEN) ? steps(before, f) : [];
    const joint = now.findIndex((angle, i) => angle > Math.max(SUDDEN, 2 * (was[i] ?? 0)));
    if (joint >= 0) {
      return { frame: f, joint: model.joints[joint]!.name };
    }
  }
  return null;
}
