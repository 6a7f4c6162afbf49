/** The shapes of a robot on its bodies: primitives at once, meshes as they arrive. */
import type { Model, Pose } from 'poise-ik';
import * as THREE from 'three';
import { RoundedBoxGeometry } from 'three/addons/geometries/RoundedBoxGeometry.js';
import type { Part } from '../view/figure.js';
import { type Look, type Looks, lookThrough } from './looks.js';
import { loadMesh, loadPicture, UNPAINTED } from './meshes.js';
import { beside, type Find } from './named_files.js';
import type { Colour, Form, Visual } from './visuals.js';

const GREY: Colour = [0.72, 0.74, 0.78, 1];
const WHITE: Colour = [1, 1, 1, 1];
const GLOW = 0.45; // of a picked body
const BLACK = new THREE.Color(0);
const EDGE = 0.1; // radius of edges, as a part of the least half side

function geometryOf(form: Form): THREE.BufferGeometry | null {
  switch (form.kind) {
    case 'box':
      return boxShape(form.half);
    case 'ellipsoid':
      return new THREE.SphereGeometry(1, 32, 20).scale(form.radii[0]!, form.radii[1]!, form.radii[2]!);
    case 'cylinder':
      return form.top === undefined
        ? drumShape(form.radius, form.half)
        : new THREE.CylinderGeometry(form.top, form.radius, 2 * form.half, 32, 1, true).rotateX(Math.PI / 2);
    case 'capsule':
      return new THREE.CapsuleGeometry(form.radius, 2 * form.half, 8, 24).rotateX(Math.PI / 2);
    case 'limb':
      return limbShape(form.radius, form.top, form.half);
    case 'mesh':
      return null;
  }
}

/** Edges are a little round: sharp ones catch no light. */
function boxShape(half: readonly number[]): THREE.BufferGeometry {
  const least = Math.min(...half);
  return new RoundedBoxGeometry(2 * half[0]!, 2 * half[1]!, 2 * half[2]!, 2, EDGE * least);
}

/** A cylinder along z, its edges a little round. */
function drumShape(radius: number, half: number): THREE.BufferGeometry {
  const edge = EDGE * Math.min(radius, half);
  const arc = [0, 1, 2, 3].map((i) => (i / 3) * (Math.PI / 2));
  const below = arc.map((a) => new THREE.Vector2(radius - edge * (1 - Math.sin(a)), -half + edge * (1 - Math.cos(a))));
  const profile = [new THREE.Vector2(0, -half), new THREE.Vector2(0.999 * (radius - edge), -half), ...below];
  return new THREE.LatheGeometry([...profile, ...[...profile].reverse().map(({ x, y }) => new THREE.Vector2(x, -y))], 40).rotateX(Math.PI / 2);
}

/** Round at both ends, straight between: along z. */
function limbShape(radius: number, top: number, half: number): THREE.BufferGeometry {
  const arc = Array.from({ length: 9 }, (_, i) => (i / 8) * (Math.PI / 2));
  const below = arc.map((a) => new THREE.Vector2(radius * Math.sin(a), -half - radius * Math.cos(a)));
  const above = arc.map((a) => new THREE.Vector2(top * Math.cos(a), half + top * Math.sin(a)));
  return new THREE.LatheGeometry([...below, ...above], 28).rotateX(Math.PI / 2);
}

function materialOf([red, green, blue, alpha]: Colour): THREE.MeshStandardMaterial {
  const material = new THREE.MeshStandardMaterial({ roughness: 0.48, metalness: 0.08, opacity: alpha, transparent: alpha < 1 });
  material.color.setRGB(red, green, blue, THREE.SRGBColorSpace);
  material.side = THREE.DoubleSide; // meshes of robots are often mirrored or open
  return material;
}

function put(object: THREE.Object3D, { position, rotation }: Pose): void {
  object.position.set(...position);
  object.quaternion.set(...rotation);
}

/** The eight corners of a box, three numbers each; none where it is empty or not finite. */
export function cornersOf({ min, max }: THREE.Box3): number[] {
  const isSound = min.toArray().every((x, i) => Number.isFinite(x) && x <= max.getComponent(i) && Number.isFinite(max.getComponent(i)));
  return isSound ? [min.x, max.x].flatMap((x) => [min.y, max.y].flatMap((y) => [min.z, max.z].flatMap((z) => [x, y, z]))) : [];
}

/** Every mesh of an object. */
export function meshesOf(object: THREE.Object3D): THREE.Mesh[] {
  const list: THREE.Mesh[] = [];
  object.traverse((part) => part instanceof THREE.Mesh && list.push(part));
  return list;
}

export class Body implements Looks {
  readonly group = new THREE.Group();
  /** Meshes that were not to be had. */
  readonly missing: string[] = [];
  #found = 0; // files of meshes
  #holders: THREE.Group[];
  #world = new THREE.Group();
  #picked = -1;
  #held: readonly number[] = [];
  #colour = new THREE.Color();
  #heldColour = new THREE.Color();

  constructor(readonly model: Model) {
    this.#holders = model.joints.map(() => new THREE.Group());
    this.group.add(...this.#holders, this.#world);
  }

  /** Take these shapes on. Files are found and read once each, however often they are used. */
  async add(visuals: readonly Visual[], find: Find, arrived: () => void): Promise<void> {
    const files = new Map<string, Promise<THREE.Object3D | null>>();
    const pictures = new Map<string, Promise<THREE.Texture | null>>();
    const pictureOf = ({ picture }: Visual) => {
      const loading = picture ? (pictures.get(picture) ?? find(picture).then(loadPicture)) : Promise.resolve(null);
      return picture ? pictures.set(picture, loading).get(picture)! : loading;
    };
    const bodies = new Map(this.model.joints.map((joint) => [joint.body, joint.index]));
    const waiting = visuals.map(async (visual) => {
      const holder = visual.body === '' ? this.#world : this.#holders[bodies.get(visual.body) ?? -1];
      const { form } = visual;
      if (!holder) {
        return;
      }
      const shape = geometryOf(form);
      if (shape) {
        const mesh = new THREE.Mesh(shape, materialOf(visual.colour ?? GREY));
        put(mesh, visual.pose);
        holder.add(mesh);
      } else if (form.kind === 'mesh') {
        const loading = files.get(form.file) ?? this.#load(form.file, find);
        files.set(form.file, loading);
        const object = await loading;
        if (object) {
          holder.add(dressed(object, visual, form.scale, await pictureOf(visual)));
          arrived();
        }
      }
    });
    await Promise.all(waiting);
  }

  async #load(file: string, find: Find): Promise<THREE.Object3D | null> {
    try {
      const bytes = await find(file);
      if (bytes) {
        const mesh = await loadMesh(file, bytes, beside(file, find));
        this.#found += 1;
        return mesh;
      }
    } catch (error) {
      console.info(file, error);
    }
    this.missing.push(file);
    return null;
  }

  /** More meshes are missing than there are: bones say more. */
  get isSparse(): boolean {
    return this.missing.length > this.#found;
  }

  get isEmpty(): boolean {
    return this.#holders.every((holder) => holder.children.length === 0);
  }

  place(poses: Float64Array): void {
    this.#holders.forEach((holder, i) => {
      holder.position.fromArray(poses, 7 * i);
      holder.quaternion.fromArray(poses, 7 * i + 3);
    });
  }

  setLook(look: Look): void {
    this.group.visible = look !== 'bones';
    lookThrough(meshesOf(this.group), look);
  }

  select(body: number, colour: string): void {
    this.#picked = body;
    this.#colour.set(colour);
    this.#glow();
  }

  hold(bodies: readonly number[], colour: string): void {
    if (bodies.join() !== this.#held.join()) {
      this.#held = bodies;
      this.#heldColour.set(colour);
      this.#glow();
    }
  }

  #glow(): void {
    const held = new Set(this.#held);
    this.#holders.forEach((holder, i) => {
      const colour = i === this.#picked ? this.#colour : held.has(i) ? this.#heldColour : BLACK;
      for (const material of meshesOf(holder).flatMap((mesh) => [mesh.material].flat())) {
        if ('emissive' in material) {
          (material.emissive as THREE.Color).copy(colour).multiplyScalar(GLOW);
        }
      }
    });
  }

  pick(ray: THREE.Raycaster): { part: Part; at: THREE.Vector3 } | null {
    const hit = this.group.visible ? ray.intersectObjects(this.#holders, true)[0] : undefined;
    let holder: THREE.Object3D | null = hit?.object ?? null;
    while (holder && holder.parent !== this.group) {
      holder = holder.parent;
    }
    const body = this.#holders.indexOf(holder as THREE.Group);
    return hit && body >= 0 ? { part: { body, tool: -1 }, at: hit.point } : null;
  }

  corners(): number[] {
    const points: number[] = [];
    this.group.updateWorldMatrix(true, true);
    const inverse = this.group.parent ? this.group.parent.matrixWorld.clone().invert() : new THREE.Matrix4();
    for (const holder of [...this.#holders, this.#world].filter((one) => one.children.length > 0)) {
      points.push(...cornersOf(new THREE.Box3().setFromObject(holder).applyMatrix4(inverse)));
    }
    return points;
  }

  dispose(): void {
    this.group.removeFromParent();
    for (const mesh of meshesOf(this.group)) {
      mesh.geometry.dispose();
      [mesh.material].flat().forEach((material) => {
        (material as THREE.MeshStandardMaterial).map?.dispose();
        material.dispose();
      });
    }
  }
}

/** A mesh as a visual wears it: scaled, in its place, and in its picture or colour where the mesh has none. */
function dressed(object: THREE.Object3D, visual: Visual, scale: readonly number[], picture: THREE.Texture | null): THREE.Object3D {
  const holder = new THREE.Group();
  const own = object.clone(true);
  for (const mesh of meshesOf(own)) {
    const given = [mesh.material].flat();
    const bare = given.every((material) => material.name === UNPAINTED || (material as THREE.MeshBasicMaterial).isMeshBasicMaterial);
    const isPainted = picture && mesh.geometry.attributes['uv'];
    if (isPainted) {
      mesh.material = materialOf(visual.colour ?? WHITE);
      (mesh.material as THREE.MeshStandardMaterial).map = picture;
      continue;
    }
    mesh.material = bare || (visual.repaints && visual.colour) ? materialOf(visual.colour ?? GREY) : given.length === 1 ? given[0]!.clone() : given.map((material) => material.clone());
  }
  holder.add(own);
  holder.scale.set(scale[0]!, scale[1]!, scale[2]!);
  put(holder, visual.pose);
  return holder;
}
