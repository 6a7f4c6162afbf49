/** What a change of the pose weighs: how much of the skeleton moves with a degree of freedom, as the library has it where it bakes goals. */
import type { Clip, Kinematics } from 'poise-ik';

const LEAST = 0.02; // of a joint that moves nothing else

/** w_i = sum over bodies b of |dx_b/dq_i|^2/size^2 + LEAST, in the first frame. */
export function changeWeights(kinematics: Kinematics, clip: Clip, size: number): Float64Array {
  const { joints, nv } = kinematics.model;
  const weights = new Float64Array(nv).fill(LEAST);
  kinematics.update(clip.frame(0));
  joints.forEach(({ index }) => kinematics.pointJacobian(index, [0, 0, 0]).forEach((x, i) => (weights[i % nv]! += (x / size) ** 2)));
  return weights;
}
