/**
 * The geoms of an MJCF: with default classes, frames, compiler settings and includes. Of a model that has both, collision geoms
 * (group 3 and above) are left out.
 */
import { identityPose, type Pose, type Quat, type Vec3 } from 'poise-ik';
import { compose } from '../spatial.js';
import { axisTurn, turnOf, turnOfAxes, turnOfZ } from './turns.js';
import { type Colour, childrenOf, type Form, numbersOf, parseXml, type Visual } from './visuals.js';

type Attributes = Record<string, string>;

const HIDDEN_GROUP = 3;
const DEGREES = Math.PI / 180;

const attributesOf = (node: Element): Attributes => Object.fromEntries(Array.from(node.attributes, ({ name, value }) => [name, value]));
const vec3 = (text: string | undefined, otherwise: Vec3 = [0, 0, 0]): Vec3 => numbersOf(text, otherwise) as unknown as Vec3;

/** Put the children of included documents where they are included. */
function include(document: Document, load: (name: string) => string | null, depth = 0): void {
  for (const node of Array.from(document.querySelectorAll('include'))) {
    const text = depth < 8 ? load(node.getAttribute('file') ?? '') : null;
    const other = text ? parseXml(text) : null;
    if (other) {
      include(other, load, depth + 1);
      node.replaceWith(...Array.from(other.documentElement.children, (child) => document.importNode(child, true)));
    } else {
      node.remove();
    }
  }
}

class Reader {
  #visuals: { visual: Visual; group: number }[] = [];
  /** By class: what geoms and meshes of it begin with. */
  #defaults = new Map<string, { geom: Attributes; mesh: Attributes }>();
  #meshes = new Map<string, Attributes>();
  #materials = new Map<string, Colour>();
  #settings: Attributes = {};

  constructor(readonly root: Element) {
    for (const compiler of childrenOf(root, 'compiler')) {
      Object.assign(this.#settings, attributesOf(compiler));
    }
    childrenOf(root, 'default').forEach((node) => this.#default(node, 'main', { geom: {}, mesh: {} }));
    for (const asset of childrenOf(root, 'asset')) {
      childrenOf(asset, 'mesh').forEach((node) => this.#mesh(node));
      childrenOf(asset, 'material').forEach((node) => this.#material(node));
    }
  }

  read(): Visual[] {
    childrenOf(this.root, 'worldbody').forEach((world) => this.#body(world, '', identityPose, 'main'));
    const seen = this.#visuals.filter(({ group }) => group < HIDDEN_GROUP);
    return (seen.length > 0 ? seen : this.#visuals).map(({ visual }) => visual);
  }

  #default(node: Element, otherwise: string, above: { geom: Attributes; mesh: Attributes }): void {
    const own = { geom: { ...above.geom }, mesh: { ...above.mesh } };
    childrenOf(node, 'geom').forEach((geom) => Object.assign(own.geom, attributesOf(geom)));
    childrenOf(node, 'mesh').forEach((mesh) => Object.assign(own.mesh, attributesOf(mesh)));
    this.#defaults.set(node.getAttribute('class') ?? otherwise, own);
    childrenOf(node, 'default').forEach((child) => this.#default(child, otherwise, own));
  }

  #mesh(node: Element): void {
    const own = attributesOf(node);
    const file = own['file'] ?? '';
    const name = own['name'] ?? file.split('/').at(-1)!.replace(/\.[^.]*$/, '');
    const folder = this.#settings['meshdir'] ?? this.#settings['assetdir'];
    this.#meshes.set(name, { ...this.#defaults.get(own['class'] ?? 'main')?.mesh, ...own, file: folder ? `${folder}/${file}` : file });
  }

  #material(node: Element): void {
    const rgba = node.getAttribute('rgba');
    if (rgba) {
      this.#materials.set(node.getAttribute('name') ?? '', numbersOf(rgba, [0.5, 0.5, 0.5, 1]) as unknown as Colour);
    }
  }

  #body(node: Element, name: string, frame: Pose, inherited: string): void {
    const className = node.getAttribute('childclass') ?? inherited;
    for (const child of Array.from(node.children)) {
      if (child.localName === 'geom') {
        this.#geom(child, name, frame, className);
      } else if (child.localName === 'frame') {
        this.#body(child, name, compose(frame, this.#pose(attributesOf(child))), className);
      } else if (child.localName === 'body') {
        this.#body(child, child.getAttribute('name') ?? '', identityPose, className);
      }
    }
  }

  #geom(node: Element, body: string, frame: Pose, className: string): void {
    const own = { ...this.#defaults.get(node.getAttribute('class') ?? className)?.geom, ...attributesOf(node) };
    const ends = own['fromto'] ? numbersOf(own['fromto'], [0, 0, 0, 0, 0, 0]) : null;
    const form = this.#form(own, ends);
    if (!form || !body) {
      return;
    }
    const colour = own['rgba'] ? (numbersOf(own['rgba'], [0.5, 0.5, 0.5, 1]) as unknown as Colour) : this.#materials.get(own['material'] ?? '');
    if (colour && colour[3] === 0) {
      return;
    }
    const pose = compose(frame, ends ? along(ends) : this.#pose(own));
    this.#visuals.push({ visual: { body, pose, form, ...(colour ? { colour } : {}) }, group: Number(own['group'] ?? 0) });
  }

  #form(own: Attributes, ends: number[] | null): Form | null {
    const size = numbersOf(own['size'], [0, 0, 0]);
    const half = ends ? Math.hypot(ends[3]! - ends[0]!, ends[4]! - ends[1]!, ends[5]! - ends[2]!) / 2 : size[1]!;
    const type = own['type'] ?? (own['mesh'] ? 'mesh' : 'sphere');
    switch (type) {
      case 'box':
        return { kind: 'box', half: ends ? [size[0]!, size[0]!, half] : size };
      case 'sphere':
        return { kind: 'ellipsoid', radii: [size[0]!, size[0]!, size[0]!] };
      case 'ellipsoid':
        return { kind: 'ellipsoid', radii: ends ? [size[0]!, size[0]!, half] : size };
      case 'capsule':
      case 'cylinder':
        return { kind: type, radius: size[0]!, half };
      case 'mesh': {
        const mesh = this.#meshes.get(own['mesh'] ?? '');
        return mesh ? { kind: 'mesh', file: mesh['file'] ?? '', scale: numbersOf(mesh['scale'], [1, 1, 1]) } : null;
      }
      default:
        return null; // planes, height fields
    }
  }

  #pose(own: Attributes): Pose {
    return { position: vec3(own['pos']), rotation: this.#turn(own) };
  }

  #turn(own: Attributes): Quat {
    const unit = this.#settings['angle'] === 'radian' ? 1 : DEGREES;
    if (own['quat']) {
      const [w, x, y, z] = numbersOf(own['quat'], [1, 0, 0, 0]) as [number, number, number, number];
      const norm = Math.hypot(w, x, y, z) || 1;
      return [x / norm, y / norm, z / norm, w / norm];
    }
    if (own['axisangle']) {
      const [x, y, z, angle] = numbersOf(own['axisangle'], [0, 0, 1, 0]) as [number, number, number, number];
      return axisTurn([x, y, z], unit * angle);
    }
    if (own['euler']) {
      return turnOf(this.#settings['eulerseq'] ?? 'xyz', vec3(own['euler']).map((x) => unit * x));
    }
    if (own['zaxis']) {
      return turnOfZ(vec3(own['zaxis'], [0, 0, 1]));
    }
    if (own['xyaxes']) {
      const [a, b, c, d, e, f] = numbersOf(own['xyaxes'], [1, 0, 0, 0, 1, 0]) as [number, number, number, number, number, number];
      return turnOfAxes([a, b, c], [d, e, f]);
    }
    return identityPose.rotation;
  }
}

/** The middle between two ends, z from the second to the first as MuJoCo has it. */
function along(ends: readonly number[]): Pose {
  const [a, b] = [ends.slice(0, 3), ends.slice(3, 6)];
  const position = a.map((x, i) => (x + b[i]!) / 2) as unknown as Vec3;
  return { position, rotation: turnOfZ(a.map((x, i) => x - b[i]!) as unknown as Vec3) };
}

export function mjcfVisuals(text: string, load: (name: string) => string | null): Visual[] {
  const document = parseXml(text);
  if (!document) {
    return [];
  }
  include(document, load);
  return new Reader(document.documentElement).read();
}
