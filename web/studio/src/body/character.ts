/** The meshes of a glTF on the nodes that became joints: skins that follow their bones, and rigid parts. */
import type { Model } from 'poise-ik';
import * as THREE from 'three';
import type { GLTF } from 'three/addons/loaders/GLTFLoader.js';
import type { Part } from '../view/figure.js';
import { cornersOf, meshesOf } from './body.js';
import { type Look, type Looks, lookThrough } from './looks.js';

const TINT = 0.75; // of a picked or held body's colour on a skin

/** A node that is a body of the model. */
interface Follower {
  node: THREE.Object3D;
  body: number;
  parent: number; // the body above, or -1
  carried: THREE.Vector3; // what the scales above the node made of its translation
}

const [here, above] = [new THREE.Vector3(), new THREE.Vector3()];
const [turn, back] = [new THREE.Quaternion(), new THREE.Quaternion()];

/** As the reader names nodes: the first of a name keeps it, others get their number. */
function bodiesByNode(model: Model, names: readonly (string | undefined)[]): number[] {
  const bodies = new Map(model.joints.map((joint) => [joint.body, joint.index]));
  const taken = new Set<string>();
  return names.map((name, i) => {
    const isFirst = !!name && !taken.has(name);
    taken.add(name ?? '');
    return bodies.get(isFirst ? name : `${name || 'node'}.${i}`) ?? -1;
  });
}

/** The bone that moves a point of a skin most. */
function strongest(mesh: THREE.SkinnedMesh, { face, barycoord }: THREE.Intersection): THREE.Bone | null {
  const { skinIndex, skinWeight } = mesh.geometry.attributes as Record<string, THREE.BufferAttribute>;
  const pull = new Float32Array(mesh.skeleton.bones.length);
  for (const [vertex, part] of face && barycoord ? ([[face.a, barycoord.x], [face.b, barycoord.y], [face.c, barycoord.z]] as const) : []) {
    for (let k = 0; k < 4; k++) {
      pull[skinIndex!.getComponent(vertex, k)]! += part * skinWeight!.getComponent(vertex, k);
    }
  }
  return mesh.skeleton.bones[pull.indexOf(Math.max(...pull))] ?? null;
}

export class Character implements Looks {
  readonly group = new THREE.Group();
  #followers: Follower[] = [];
  #bodies = new Map<THREE.Object3D, number>(); // of nodes, and of meshes through the node that carries them
  #picked = -1;
  #held: readonly number[] = [];
  #colours = { picked: new THREE.Color(), held: new THREE.Color() };

  constructor(
    readonly model: Model,
    { scene, scenes, parser }: GLTF,
  ) {
    const names = ((parser.json as { nodes?: { name?: string }[] }).nodes ?? []).map((node) => node.name);
    const bodies = bodiesByNode(model, names);
    const shown = scene ?? scenes[0];
    if (shown) {
      this.group.add(shown);
    }
    this.group.traverse((node) => {
      const { nodes } = parser.associations.get(node) ?? {};
      const body = nodes === undefined ? -1 : (bodies[nodes] ?? -1);
      if (body >= 0 && !Array.from(this.#bodies.values()).includes(body)) {
        this.#bodies.set(node, body);
      }
    });
    this.group.traverse((node) => this.#follow(node));
    for (const mesh of meshesOf(this.group)) {
      mesh.frustumCulled = false; // skins leave the box they had at rest
      mesh.material = Array.isArray(mesh.material) ? mesh.material.map((material) => material.clone()) : mesh.material.clone();
    }
    this.group.traverse((node) => ((node as THREE.Light).isLight || (node as THREE.Camera).isCamera) && (node.visible = false));
  }

  #follow(node: THREE.Object3D): void {
    const body = this.#bodies.get(node);
    if (body === undefined) {
      return;
    }
    const carried = new THREE.Vector3(1, 1, 1);
    for (let at = node.parent; at && at !== this.group; at = at.parent) {
      const { x, y, z } = at.scale;
      const isUniform = Math.max(Math.abs(x - y), Math.abs(x - z)) <= 1e-4 * Math.abs(x);
      carried.multiply(isUniform || at === node.parent ? at.scale : new THREE.Vector3(1, 1, 1)); // as the reader carries them
    }
    this.#followers.push({ node, body, parent: this.model.joints[body]!.parent, carried });
  }

  get isEmpty(): boolean {
    return meshesOf(this.group).length === 0;
  }

  place(poses: Float64Array): void {
    for (const { node, body, parent, carried } of this.#followers) {
      here.fromArray(poses, 7 * body);
      turn.fromArray(poses, 7 * body + 3);
      if (parent >= 0) {
        back.fromArray(poses, 7 * parent + 3).invert();
        here.sub(above.fromArray(poses, 7 * parent)).applyQuaternion(back);
        turn.premultiply(back);
      }
      node.position.copy(here.divide(carried));
      node.quaternion.copy(turn);
    }
    for (const mesh of meshesOf(this.group)) {
      if (mesh instanceof THREE.SkinnedMesh) {
        Object.assign(mesh, { boundingSphere: null, boundingBox: null }); // of another pose: picking makes them anew
      }
    }
  }

  setLook(look: Look): void {
    this.group.visible = look !== 'bones';
    lookThrough(meshesOf(this.group), look);
  }

  select(body: number, colour: string): void {
    this.#picked = body;
    this.#colours.picked.set(colour);
    this.#tint();
  }

  hold(bodies: readonly number[], colour: string): void {
    if (bodies.join() !== this.#held.join()) {
      this.#held = bodies;
      this.#colours.held.set(colour);
      this.#tint();
    }
  }

  /** The body of a node, or of the nearest above it. */
  #bodyOf(node: THREE.Object3D | null): number {
    for (let at = node; at; at = at.parent) {
      const body = this.#bodies.get(at);
      if (body !== undefined) {
        return body;
      }
    }
    return -1;
  }

  #colourOf(body: number): THREE.Color | null {
    return body >= 0 && body === this.#picked ? this.#colours.picked : this.#held.includes(body) ? this.#colours.held : null;
  }

  #tint(): void {
    for (const mesh of meshesOf(this.group)) {
      if (mesh instanceof THREE.SkinnedMesh) {
        this.#tintSkin(mesh);
      } else {
        const colour = this.#colourOf(this.#bodyOf(mesh));
        [mesh.material].flat().forEach((material) => 'emissive' in material && (material.emissive as THREE.Color).set(0).lerp(colour ?? new THREE.Color(0), 0.45));
      }
    }
  }

  /** Each vertex takes the colour of the bodies that move it, as much as they do. */
  #tintSkin(mesh: THREE.SkinnedMesh): void {
    const { geometry, skeleton } = mesh;
    const tints = skeleton.bones.map((bone) => this.#colourOf(this.#bodies.get(bone) ?? -1));
    if (!geometry.attributes['color'] && !tints.some(Boolean)) {
      return; // as it came
    }
    const { position, skinIndex, skinWeight } = geometry.attributes as Record<string, THREE.BufferAttribute>;
    const own = (geometry.userData['color'] ??= (geometry.attributes['color']?.clone() ?? null) as THREE.BufferAttribute | null) as THREE.BufferAttribute | null;
    const values = new THREE.BufferAttribute(new Float32Array(3 * position!.count), 3);
    const at = new THREE.Color();
    for (let i = 0; i < position!.count; i++) {
      at.setRGB(own?.getX(i) ?? 1, own?.getY(i) ?? 1, own?.getZ(i) ?? 1);
      for (let k = 0; k < 4; k++) {
        const tint = tints[skinIndex!.getComponent(i, k)];
        if (tint) {
          at.lerp(tint, TINT * skinWeight!.getComponent(i, k));
        }
      }
      values.setXYZ(i, at.r, at.g, at.b);
    }
    geometry.setAttribute('color', values);
    for (const material of [mesh.material].flat()) {
      material.vertexColors = true;
      material.needsUpdate = true;
    }
  }

  pick(ray: THREE.Raycaster): { part: Part; at: THREE.Vector3 } | null {
    const hit = this.group.visible ? ray.intersectObject(this.group, true)[0] : undefined;
    if (!hit) {
      return null;
    }
    const { object, point: at } = hit;
    const body = this.#bodyOf(object instanceof THREE.SkinnedMesh ? strongest(object, hit) : object);
    return body >= 0 ? { part: { body, tool: -1 }, at } : null;
  }

  corners(): number[] {
    this.group.updateWorldMatrix(true, false);
    this.group.updateMatrixWorld(true); // skins, too
    const inverse = this.group.parent ? this.group.parent.matrixWorld.clone().invert() : new THREE.Matrix4();
    return meshesOf(this.group).flatMap((mesh) => {
      const skin = mesh instanceof THREE.SkinnedMesh ? mesh : null;
      skin?.skeleton.update();
      skin?.computeBoundingBox();
      if (!skin) {
        mesh.geometry.computeBoundingBox();
      }
      const box = (skin?.boundingBox ?? mesh.geometry.boundingBox!).clone().applyMatrix4(mesh.matrixWorld).applyMatrix4(inverse);
      return cornersOf(box);
    });
  }

  dispose(): void {
    this.group.removeFromParent();
    for (const mesh of meshesOf(this.group)) {
      mesh.geometry.dispose();
      (mesh as Partial<THREE.SkinnedMesh>).skeleton?.dispose();
      for (const material of [mesh.material].flat()) {
        Object.values(material).forEach((value) => value instanceof THREE.Texture && value.dispose());
        material.dispose();
      }
    }
  }
}
