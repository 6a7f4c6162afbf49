/** Which of the files that came together are shown: one skeleton, what belongs to it, and one motion; the panel offers the others. */
import { animationsIn } from '../body/gltf_names.js';
import { includesOf, type NamedFile } from '../body/named_files.js';
import type { Choices } from '../stage.js';

/** What is wanted of files that hold several: a robot by its file, a motion by its file, an animation of a glTF. */
export interface Wish {
  robot?: string;
  motion?: string;
  animation?: number;
  /** The skeleton moves as a whole, also where its file fixes it in place. */
  floating?: boolean;
}

/** Files to read one after the other, the likeliest first: where one fails, the next is tried. */
export interface FileSets {
  ways: NamedFile[][];
  /** What can be chosen by its name. */
  robots: string[];
  motions: string[];
}

/** By extension, in the order in which they are read: skeletons first, then what moves them. */
const order = ['asf', 'urdf', 'xml', 'mjcf', 'osim', 'bvh', 'glb', 'gltf', 'csv', 'json', 'amc', 'mot', 'c3d', 'trc'];

/** Of a folder one robot is shown: by extension, the best first. */
const heads = ['urdf', 'osim', 'xml', 'mjcf', 'bvh', 'asf', 'gltf', 'glb', 'c3d', 'trc', 'json', 'csv'];

const MOST_TRIED = 12; // files of a folder that may be its robot

export const extension = (name: string): string => name.slice(name.lastIndexOf('.') + 1).toLowerCase();

export const baseName = (name: string): string => name.slice(name.lastIndexOf('/') + 1);

const isLoose = ({ name }: NamedFile): boolean => !name.includes('/');

const beginningOf = ({ bytes }: NamedFile): string => new TextDecoder().decode(bytes.subarray(0, 200));

/** It moves a skeleton that it does not hold, or is a recording of markers. */
const isMotion = (file: NamedFile): boolean => ['amc', 'mot', 'c3d', 'trc'].includes(extension(file.name)) || (extension(file.name) === 'csv' && /^\W*time\s*,/i.test(beginningOf(file)));

/** A table of joint values that moves the root of its skeleton, which may be fixed in the file of that. */
export const movesRoot = (file: NamedFile): boolean => isMotion(file) && /(?:^|,)([^,]+)\/tx,\1\/ty,\1\/tz,\1\/qx,/.test(new TextDecoder().decode(file.bytes.subarray(0, 4000)).split('\n')[0]!);

/** An XML that begins like a robot; others belong to one, such as sets of markers. */
const isRobot = ({ bytes }: NamedFile): boolean => /<(mujoco|robot|OpenSimDocument)\b/.test(new TextDecoder().decode(bytes)) && !/<(MarkerSet|ScaleTool|InverseKinematicsTool|IKTaskSet)\b/.test(new TextDecoder().decode(bytes.subarray(0, 2000)));

/** A part of an MJCF that holds no body. */
const isFragment = ({ name, bytes }: NamedFile): boolean => {
  const text = ['xml', 'mjcf'].includes(extension(name)) ? new TextDecoder().decode(bytes) : '';
  return /<mujoco/.test(text) && !/<(worldbody|body|include)\b/.test(text);
};

/** It holds a skeleton. */
function isSkeleton(file: NamedFile): boolean {
  const kind = extension(file.name);
  if (kind === 'xml' || kind === 'mjcf') {
    return isRobot(file);
  }
  if (kind === 'json') {
    return /"model"\s*:/.test(new TextDecoder().decode(file.bytes));
  }
  return ['asf', 'urdf', 'osim', 'bvh', 'glb', 'gltf'].includes(kind) || (kind === 'csv' && !isMotion(file));
}

const byOrder = (a: NamedFile, b: NamedFile): number => order.indexOf(extension(a.name)) - order.indexOf(extension(b.name));

/** Includes of others of these files, by the ends of their names. */
function withoutIncluded(files: readonly NamedFile[]): NamedFile[] {
  const included = files.filter(({ name }) => ['xml', 'mjcf'].includes(extension(name))).flatMap(({ bytes }) => includesOf(bytes));
  return files.filter(({ name }) => !included.some((file) => name === file || name.endsWith(`/${file}`)));
}

const without = <T>(list: readonly T[], wish: (item: T) => boolean): T[] => (list.every(wish) ? [...list] : list.filter((item) => !wish(item)));

/** The motion that is wanted; without a wish the one that is read last, the first of its kind. */
function motionOf(motions: readonly NamedFile[], wish: Wish): NamedFile[] {
  const last = [...motions].sort((a, b) => byOrder(b, a))[0];
  const wanted = motions.find(({ name }) => name === wish.motion) ?? last;
  return wanted ? [wanted] : [];
}

/** Files that were dropped side by side. A robot's meshes are no skeletons of their own. */
function sideBySide(files: readonly NamedFile[], wish: Wish): FileSets {
  const known = files.filter((file) => order.includes(extension(file.name)) || files.length === 1);
  const hasRobot = known.some((file) => ['urdf', 'xml', 'mjcf', 'osim'].includes(extension(file.name)));
  const list = hasRobot ? withoutIncluded(known).filter(({ name }) => !['gltf', 'glb'].includes(extension(name))) : known;
  const skeletons = without(list.filter(isSkeleton), isFragment).sort((a, b) => byOrder(a, b) || Number(/scene/.test(b.name)) - Number(/scene/.test(a.name)));
  const motions = list.filter(isMotion);
  const rest = list.filter((file) => !isSkeleton(file) && !motions.includes(file)).sort(byOrder);
  const chosen = motionOf(motions, wish);
  const wanted = skeletons.filter(({ name }) => name === wish.robot);
  const ways = (wanted.length > 0 ? wanted : skeletons).map((skeleton) => [skeleton, ...rest, ...chosen]);
  const alone = chosen.filter(({ name }) => ['c3d', 'trc'].includes(extension(name))); // need no skeleton
  return { ways: wanted.length > 0 ? ways : ways.length > 0 ? [...ways, alone] : [[...rest, ...chosen]], robots: skeletons.map(({ name }) => name), motions: motions.map(({ name }) => name) };
}

/** What may be the robot of a folder, the likeliest first: near the top, a scene before others. Fragments fail, and the next is tried. */
function robotsIn(files: readonly NamedFile[]): NamedFile[] {
  const rank = ({ name }: NamedFile) => [heads.indexOf(extension(name)), name.split('/').length, /scene/.test(name) ? 0 : 1, name.length];
  const able = files.filter(({ name }) => heads.includes(extension(name)) && !/(^|\/)(package|plugin\w*|manifest)\.xml$/.test(name));
  return able.sort((a, b) => rank(a).map((x, i) => x - rank(b)[i]!).find((x) => x !== 0) ?? 0);
}

/** A folder or an archive, and what was dropped beside it. */
function ofFolder(files: readonly NamedFile[], wish: Wish): FileSets {
  const motions = files.filter((file) => isLoose(file) && isMotion(file));
  const robots = without(without(robotsIn(files), (file) => motions.includes(file)), isFragment);
  const wanted = robots.filter(({ name }) => name === wish.robot);
  const chosen = motionOf(motions, wish);
  const ways = (wanted.length > 0 ? wanted : robots.slice(0, MOST_TRIED)).map((robot) => [robot, ...chosen.filter((file) => file !== robot)]);
  return { ways, robots: withoutIncluded(robots).map(({ name }) => name), motions: motions.map(({ name }) => name) };
}

/** The files to read, of those that came together. */
export const fileSets = (files: readonly NamedFile[], wish: Wish): FileSets => (files.every(isLoose) ? sideBySide(files, wish) : ofFolder(files, wish));

/** What else could be shown: robots of the same kind, and those that were dropped by themselves. */
export function choicesOf({ robots, motions }: FileSets, way: readonly NamedFile[], format: string, animation: number): Choices {
  const [shown] = way;
  const kind = extension(shown!.name);
  const others = robots.filter((name) => !name.includes('/') || extension(name) === kind);
  const motion = way.find(({ name }) => motions.includes(name))?.name ?? '';
  return { robots: others, robot: shown!.name, motions, motion, animations: /^(gltf|glb)$/.test(format) ? animationsIn(shown!.bytes) : [], animation };
}

/** What meshes and their looks are made of: a skeleton names it, or it is of no use. */
const parts = ['stl', 'obj', 'mtl', 'dae', 'ply', 'vtp', 'msh', 'bin', 'png', 'jpg', 'jpeg', 'webp', 'bmp', 'tga', 'gif', 'ktx2', 'xacro'];

/** Of files that were dropped side by side, those of kinds that are not read. */
export const unknownAmong = (files: readonly NamedFile[]): string[] => (files.length > 1 && files.every(isLoose) ? files.map(({ name }) => name).filter((name) => ![...order, ...parts, 'vrm', 'srdf'].includes(extension(name))) : []);

/** It is not what its name says. */
export function misnamed(name: string, format: string): string {
  const kind = extension(name);
  const isKnown = ['bvh', 'glb', 'gltf', 'urdf', 'asf', 'amc', 'c3d', 'trc'].includes(kind) && !(kind === 'gltf' && format === 'glb') && !(kind === 'glb' && format === 'gltf');
  return isKnown && kind !== format ? `${baseName(name)} is no ${kind.toUpperCase()}: it holds ${format.toUpperCase()}, and is read as that.` : '';
}

const MOST_NAMED = 4;

const listed = (names: readonly string[]): string => {
  const some = names.slice(0, MOST_NAMED).map(baseName);
  const more = names.length > some.length ? [`${names.length - some.length} more`] : [];
  return [...some, ...more].join(', ').replace(/, ([^,]*)$/, ' and $1');
};

/** What is not on the stage of what was dropped side by side. */
export function notShown({ robots, robot, motions, motion }: Choices): string[] {
  const others = robots.filter((name) => name !== robot && !name.includes('/'));
  const rest = motions.filter((name) => name !== motion);
  return [
    others.length > 0 ? `${baseName(robot)} is on the stage; the panel offers ${listed(others)}, too.` : '',
    rest.length > 0 ? `${baseName(motion)} is on the stage; the panel offers ${listed(rest)}, too.` : '',
  ].filter(Boolean);
}
