/** A robot of boxes, whose soles are shapes below its ankles. */
export function walker() {
  const box = (size, at) => `<collision><origin xyz="${at}"/><geometry><box size="${size}"/></geometry></collision>`;
  const link = (name, shape = '') => `<link name="${name}">${shape}</link>`;
  const hinge = (name, parent, child, xyz, axis) =>
    `<joint name="${name}" type="revolute"><parent link="${parent}"/><child link="${child}"/><origin xyz="${xyz}"/><axis xyz="${axis}"/><limit lower="-2.6" upper="2.6" effort="9" velocity="30"/></joint>`;
  const side = (name, y) => [
    ...['hip_link', 'roll_link', 'thigh', 'shank', 'ankle', 'shoulder', 'upper_arm', 'forearm'].map((part) => link(`${name}_${part}`)),
    link(`${name}_foot`, box('0.22 0.09 0.03', '0.04 0 -0.06')),
    link(`${name}_hand`, box('0.06 0.06 0.1', '0 0 -0.05')),
    hinge(`${name}_hip_yaw`, 'pelvis', `${name}_hip_link`, `0 ${y} -0.05`, '0 0 1'),
    hinge(`${name}_hip_roll`, `${name}_hip_link`, `${name}_roll_link`, '0 0 0', '1 0 0'),
    hinge(`${name}_hip_pitch`, `${name}_roll_link`, `${name}_thigh`, '0 0 0', '0 1 0'),
    hinge(`${name}_knee`, `${name}_thigh`, `${name}_shank`, '0 0 -0.35', '0 1 0'),
    hinge(`${name}_ankle_pitch`, `${name}_shank`, `${name}_ankle`, '0 0 -0.35', '0 1 0'),
    hinge(`${name}_ankle_roll`, `${name}_ankle`, `${name}_foot`, '0 0 0', '1 0 0'),
    hinge(`${name}_shoulder_pitch`, 'torso', `${name}_shoulder`, `0 ${1.8 * y} 0.3`, '0 1 0'),
    hinge(`${name}_shoulder_roll`, `${name}_shoulder`, `${name}_upper_arm`, '0 0 0', '1 0 0'),
    hinge(`${name}_elbow`, `${name}_upper_arm`, `${name}_forearm`, '0 0 -0.25', '0 1 0'),
    hinge(`${name}_wrist`, `${name}_forearm`, `${name}_hand`, '0 0 -0.22', '0 0 1'),
  ];
  const parts = [link('pelvis'), link('torso', box('0.2 0.26 0.3', '0 0 0.2')), hinge('waist', 'pelvis', 'torso', '0 0 0.1', '0 0 1'), ...side('left', 0.1), ...side('right', -0.1)];
  return `<robot name="walker">${parts.join('\n')}</robot>`;
}
