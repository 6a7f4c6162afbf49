/** The bones that an OpenSim model shows: meshes beside it, in a folder called Geometry, and simple shapes. Versions 2 to 4. */
import type { Pose, Quat, Vec3 } from 'poise-ik';
import { compose } from '../spatial.js';
import { turnOf } from './turns.js';
import { type Colour, childrenOf, type Form, numbersOf, parseXml, type Visual } from './visuals.js';

const FOLDER = 'Geometry'; // where OpenSim keeps meshes
const BONE: Colour = [0.9, 0.87, 0.8, 1];

const textOf = (node: Element, tag: string): string => childrenOf(node, tag)[0]?.textContent?.trim() ?? '';
const vec3Of = (node: Element, tag: string, otherwise: Vec3): Vec3 => numbersOf(textOf(node, tag), otherwise) as unknown as Vec3;
/** Turns about x, y and z, each about the axes that the one before made. */
const turned = (angles: readonly number[]): Quat => turnOf('xyz', angles);
const identity: Pose = { position: [0, 0, 0], rotation: [0, 0, 0, 1] };

function colourOf(node: Element): Colour {
  const look = childrenOf(node, 'Appearance')[0] ?? node; // since version 4 in an element of its own
  const [red, green, blue] = vec3Of(look, 'color', [1, 1, 1]);
  const alpha = numbersOf(textOf(look, 'opacity'), [1])[0]!;
  return red === 1 && green === 1 && blue === 1 ? [BONE[0], BONE[1], BONE[2], alpha] : [red, green, blue, alpha];
}

const meshOf = (file: string, scale: Vec3): { form: Form } | null => (file ? { form: { kind: 'mesh', file: `${FOLDER}/${file}`, scale } } : null);

/** A shape in the frame that holds it: its form, and how its axis along y becomes z. */
function formOf(node: Element): { form: Form; turn?: Quat } | null {
  const number = (tag: string) => numbersOf(textOf(node, tag), [0])[0]!;
  const upright = turned([Math.PI / 2, 0, 0]);
  switch (node.localName) {
    case 'Mesh':
    case 'DisplayGeometry':
      return meshOf(textOf(node, 'mesh_file') || textOf(node, 'geometry_file'), vec3Of(node, 'scale_factors', [1, 1, 1]));
    case 'Brick':
      return { form: { kind: 'box', half: vec3Of(node, 'half_lengths', [0, 0, 0]) } };
    case 'Sphere':
      return { form: { kind: 'ellipsoid', radii: [number('radius'), number('radius'), number('radius')] } };
    case 'Ellipsoid':
      return { form: { kind: 'ellipsoid', radii: vec3Of(node, 'radii', [0, 0, 0]) } };
    case 'Cylinder':
      return { form: { kind: 'cylinder', radius: number('radius'), half: number('half_height') }, turn: upright };
    default:
      return null; // frames, lines, arrows
  }
}

function visualOf(node: Element, body: string, frame: Pose): Visual[] {
  const made = formOf(node);
  if (!made) {
    return [];
  }
  const scale = vec3Of(node, 'scale_factors', [1, 1, 1]);
  const form = made.form.kind === 'box' ? { ...made.form, half: made.form.half.map((x, i) => x * scale[i]!) } : made.form;
  return [{ body, pose: made.turn ? compose(frame, { ...identity, rotation: made.turn }) : frame, form, colour: colourOf(node) }];
}

/** Shapes that hang on a frame, and on frames that stand in it: <attached_geometry> since version 4. */
function attached(node: Element, body: string, frame: Pose): Visual[] {
  const own = childrenOf(node, 'attached_geometry').flatMap((list) => Array.from(list.children)).flatMap((shape) => visualOf(shape, body, frame));
  const inner = childrenOf(node, 'components').flatMap((list) => childrenOf(list, 'PhysicalOffsetFrame'));
  const below = inner.flatMap((at) => attached(at, body, compose(frame, { position: vec3Of(at, 'translation', [0, 0, 0]), rotation: turned(vec3Of(at, 'orientation', [0, 0, 0])) })));
  return [...own, ...below];
}

/** <VisibleObject> up to version 3: a scale of the whole body, and places as three turns and three slides. */
function visible(node: Element, body: string): Visual[] {
  return childrenOf(node, 'VisibleObject').flatMap((object) => {
    const whole = vec3Of(object, 'scale_factors', [1, 1, 1]);
    const shapes = childrenOf(object, 'GeometrySet').flatMap((set) => childrenOf(set, 'objects')).flatMap((list) => Array.from(list.children));
    const files = childrenOf(object, 'geometry_files').flatMap((list) => (list.textContent ?? '').trim().split(/\s+/)).filter(Boolean); // version 1
    const old = files.map((file): Visual => ({ body, pose: identity, form: meshOf(file, whole)!.form, colour: BONE }));
    const listed = shapes.flatMap((shape) => {
      const [a, b, c, x, y, z] = numbersOf(textOf(shape, 'transform'), [0, 0, 0, 0, 0, 0]) as [number, number, number, number, number, number];
      const pose: Pose = { position: [x * whole[0], y * whole[1], z * whole[2]], rotation: turned([a, b, c]) };
      return visualOf(shape, body, pose).map((visual): Visual => (visual.form.kind === 'mesh' ? { ...visual, form: { ...visual.form, scale: visual.form.scale.map((s, i) => s * whole[i]!) } } : visual));
    });
    return [...listed, ...old];
  });
}

export function osimVisuals(text: string): Visual[] {
  const document = parseXml(text.replace(/<(\/?)([\w.-]+)::/g, '<$1$2__')); // tags that no XML reader takes
  const bodies = Array.from(document?.getElementsByTagName('Body') ?? []).concat(Array.from(document?.getElementsByTagName('Ground') ?? []));
  return bodies.flatMap((node) => {
    const name = node.getAttribute('name') ?? '';
    const body = node.localName === 'Ground' || name === 'ground' ? '' : name;
    return [...attached(node, body, identity), ...visible(node, body)];
  });
}
