/**
 * The geoms of an MJCF: with default classes, frames, compiler settings, pictures and includes. Of a model that has both,
 * collision geoms (group 3 and above) are left out; so are planes.
 */
import { identityPose, type Pose, type Quat, type Vec3 } from 'poise-ik';
import { compose } from '../spatial.js';
import { axisTurn, turnOf, turnOfAxes, turnOfZ } from './turns.js';
import { type Colour, childrenOf, type Form, numbersOf, parseXml, type Visual } from './visuals.js';

type Attributes = Record<string, string>;

/** What a default class sets. */
const INHERITED = ['geom', 'mesh', 'material'] as const;
type Defaults = Record<(typeof INHERITED)[number], Attributes>;

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

/** A file's name without folders and kind. */
const nameOf = (file: string): string => file.split('/').at(-1)!.replace(/\.[^.]*$/, '');

class Reader {
  #visuals: { visual: Visual; group: number }[] = [];
  /** By class: what geoms, meshes and materials of it begin with. */
  #defaults = new Map<string, Defaults>();
  #meshes = new Map<string, Attributes>();
  #textures = new Map<string, string>(); // files
  #materials = new Map<string, { colour?: Colour; picture?: string }>();
  #settings: Attributes = {};
  #names: Set<string>;
  #unnamed = 0;

  constructor(readonly root: Element) {
    for (const compiler of childrenOf(root, 'compiler')) {
      Object.assign(this.#settings, attributesOf(compiler));
    }
    this.#names = new Set(Array.from(root.querySelectorAll('worldbody body[name]'), (node) => node.getAttribute('name')!));
    childrenOf(root, 'default').forEach((node) => this.#default(node, 'main', { geom: {}, mesh: {}, material: {} }));
    const assets = childrenOf(root, 'asset');
    const each = (tag: string, take: (node: Element) => void) => assets.flatMap((asset) => childrenOf(asset, tag)).forEach(take);
    each('mesh', (node) => this.#mesh(node));
    each('texture', (node) => this.#texture(node));
    each('material', (node) => this.#material(node));
  }

  read(): Visual[] {
    childrenOf(this.root, 'worldbody').forEach((world) => this.#body(world, '', identityPose, 'main'));
    const seen = this.#visuals.filter(({ group }) => group < HIDDEN_GROUP);
    return (seen.length > 0 ? seen : this.#visuals).map(({ visual }) => visual);
  }

  #default(node: Element, otherwise: string, above: Defaults): void {
    const own: Defaults = { geom: { ...above.geom }, mesh: { ...above.mesh }, material: { ...above.material } };
    INHERITED.forEach((tag) => childrenOf(node, tag).forEach((child) => Object.assign(own[tag], attributesOf(child))));
    this.#defaults.set(node.getAttribute('class') ?? otherwise, own);
    childrenOf(node, 'default').forEach((child) => this.#default(child, otherwise, own));
  }

  /** A file as the compiler finds it: in the folder for its kind, or in that of all assets. */
  #inFolder(file: string, kind: 'meshdir' | 'texturedir'): string {
    const folder = this.#settings[kind] ?? this.#settings['assetdir'];
    return folder ? `${folder}/${file}` : file;
  }

  #mesh(node: Element): void {
    const own = attributesOf(node);
    const file = own['file'] ?? '';
    const name = own['name'] ?? nameOf(file);
    this.#meshes.set(name, { ...this.#defaults.get(own['class'] ?? 'main')?.mesh, ...own, file: this.#inFolder(file, 'meshdir') });
  }

  #texture(node: Element): void {
    const file = node.getAttribute('file');
    if (file && (node.getAttribute('type') ?? 'cube') === '2d') {
      this.#textures.set(node.getAttribute('name') ?? nameOf(file), this.#inFolder(file, 'texturedir'));
    }
  }

  #material(node: Element): void {
    const own = { ...this.#defaults.get(node.getAttribute('class') ?? 'main')?.material, ...attributesOf(node) };
    const layer = childrenOf(node, 'layer').find((one) => one.getAttribute('role') === 'rgb')?.getAttribute('texture');
    const picture = this.#textures.get(own['texture'] ?? layer ?? '');
    const colour = own['rgba'] ? (numbersOf(own['rgba'], [0.5, 0.5, 0.5, 1]) as unknown as Colour) : null;
    this.#materials.set(own['name'] ?? '', { ...(colour ? { colour } : {}), ...(picture ? { picture } : {}) });
  }

  /** Bodies without a name have those that the engine gives them. */
  #nameOf(body: Element): string {
    const given = body.getAttribute('name');
    for (let name = given; ; name = ++this.#unnamed === 1 ? 'body' : `body.${this.#unnamed}`) {
      if (name !== null && (name === given || !this.#names.has(name))) {
        return name;
      }
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
        this.#body(child, this.#nameOf(child), identityPose, className);
      }
    }
  }

  #geom(node: Element, body: string, frame: Pose, className: string): void {
    const own = { ...this.#defaults.get(node.getAttribute('class') ?? className)?.geom, ...attributesOf(node) };
    const ends = own['fromto'] ? numbersOf(own['fromto'], [0, 0, 0, 0, 0, 0]) : null;
    const form = this.#form(own, ends);
    if (!form) {
      return;
    }
    const material = this.#materials.get(own['material'] ?? '');
    const colour = own['rgba'] ? (numbersOf(own['rgba'], [0.5, 0.5, 0.5, 1]) as unknown as Colour) : material?.colour;
    if (colour && colour[3] === 0) {
      return;
    }
    const pose = compose(frame, ends ? along(ends) : this.#pose(own));
    this.#visuals.push({ visual: { body, pose, form, ...(colour ? { colour, repaints: true } : {}), ...(material?.picture ? { picture: material.picture } : {}) }, group: Number(own['group'] ?? 0) });
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
