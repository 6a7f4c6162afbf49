/** What files may be dropped. */
export const KINDS = 'URDF, MJCF, OpenSim, BVH, ASF with AMC, C3D, TRC, MOT, glTF, Denavit-Hartenberg tables and joint values over time (CSV), and poise JSON';

/** What the library says to programmers, in words for people at the page. */
const turns: readonly (readonly [RegExp, string])[] = [
  [/^an? (\w+)(?: file)? needs (?:its model: set )?options\.model.*$/, 'it moves a skeleton that it does not hold. Drop the skeleton together with it.'],
  [/^a marker set needs its model: set options\.model$/, 'it belongs to a model that it does not hold. Drop the model together with it.'],
  [/^an SRDF needs its robot: set options\.model$/, 'it belongs to a robot that it does not hold. Drop the URDF together with it.'],
  [/of options\.model/, 'of the skeleton'],
  [/options\.model has/, 'the skeleton has'],
  [/ without a model; put one into the file or into options\.model/, ' without a skeleton. Drop the skeleton together with it.'],
  [/ \(--animation, or options\.animation in C, takes another\)/, '; the panel offers the others'],
  [/: set options\.(load|meshes).*$/, ''],
  [/, which needs options\.load; no clip is read/, ', which did not come with it; drop both together to see it move'],
  [/; (set placements|give them).*$/, ''],
  [/; assign bodies to roles in a map .*$/, '. Names of bodies tell which part they are: rename them, such as to left_upper_arm, left_forearm and left_hand.'],
  [/; "poise help formats" lists them$/, `; the studio reads ${KINDS}`],
  [/ \((--[a-z-]+|poise \w+ --[a-z-]+)\)/g, ''],
];

export function plain(text: string): string {
  return turns.reduce((words, [from, to]) => words.replace(from, to), text);
}
