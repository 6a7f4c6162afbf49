/** The skeleton as shapes: a bone from each body to the next, a ball for each joint, a cap for each tool. */
import type { Joint, Model } from 'poise-ik';
import * as THREE from 'three';
import { canMove } from '../targets.js';

/** A part that can be picked. */
export interface Part {
  body: number;
  /** Index of the tool, or -1. */
  tool: number;
}

const up = new THREE.Vector3(0, 1, 0);
const SHORT = 0.02; // of the size: where no bone is longer, as in a chain of a thousand, they are drawn this thick:
const THIN = 0.004; // of the size

// used again every frame
const matrix = new THREE.Matrix4();
const from = new THREE.Vector3();
const to = new THREE.Vector3();
const turn = new THREE.Quaternion();
const scale = new THREE.Vector3();

/** A bone along +y from 0 to 1, round, widest near its beginning. */
function boneShape(): THREE.BufferGeometry {
  const profile = [[0, 0], [0.5, 0.02], [0.85, 0.07], [1, 0.14], [0.97, 0.24], [0.8, 0.45], [0.62, 0.7], [0.48, 0.92], [0.3, 1], [0, 1]];
  return new THREE.LatheGeometry(profile.map(([x, y]) => new THREE.Vector2(x, y)), 24);
}

/** A slide of several that make a body float, as OpenSim has it: only slides are above, and it has no end that counts. */
function isAfloat(model: Model, { index, type, parent, q }: Joint, size: number): boolean {
  const isSlide = (at: number): boolean => at < 0 || (model.joints[at]!.type === 'prismatic' && isSlide(model.joints[at]!.parent));
  return type === 'prismatic' && parent >= 0 && isSlide(index) && !(model.upper[q]! - model.lower[q]! < size);
}

/** It moves freely against what stands still, or against a root that carries nothing else, a place on the ground: no bone joins them. */
function isFree(model: Model, { type, parent }: Joint): boolean {
  const carriesAll = model.joints[parent]?.parent === -1 && model.joints.filter((joint) => joint.parent === parent).length === 1;
  return (type.startsWith('free') || type === 'translation') && (carriesAll || !canMove(model, parent));
}

export class Figure {
  readonly group = new THREE.Group();
  #bones: THREE.InstancedMesh;
  #balls: THREE.InstancedMesh;
  #tips: THREE.InstancedMesh;
  /** From one body's origin to a point of the same body: the child's joint, or a tool. */
  #links: { body: number; child: number; tool: number }[] = [];
  #bare = new Set<number>(); // bodies that are only steps on the way of one that floats: nothing is there to draw
  #thickness: number;
  #size: number;
  #reach: Float64Array; // longest bone at each joint
  #selected = -1;
  #held: readonly number[] = []; // joints that limits hold
  #colours = { bone: new THREE.Color(), ball: new THREE.Color(), tip: new THREE.Color(), picked: new THREE.Color(), limit: new THREE.Color() };

  constructor(
    readonly model: Model,
    size: number,
  ) {
    for (const joint of model.joints) {
      if (isAfloat(model, joint, size)) {
        this.#bare.add(joint.parent);
      } else if (joint.parent >= 0 && !isFree(model, joint)) {
        this.#links.push({ body: joint.parent, child: joint.index, tool: -1 });
      }
    }
    for (const tool of model.tools) {
      this.#links.push({ body: tool.body, child: -1, tool: tool.index });
    }
    this.#thickness = size * 0.018;
    this.#size = size;
    this.#reach = new Float64Array(model.joints.length);
    const material = new THREE.MeshStandardMaterial({ roughness: 0.55, metalness: 0.05 });
    this.#bones = new THREE.InstancedMesh(boneShape(), material, Math.max(1, this.#links.length));
    this.#balls = new THREE.InstancedMesh(new THREE.SphereGeometry(1, 20, 14), material, Math.max(1, model.joints.length));
    this.#tips = new THREE.InstancedMesh(new THREE.SphereGeometry(1, 16, 10), material, Math.max(1, model.tools.length));
    this.#bones.count = this.#links.length;
    this.#balls.count = model.joints.length;
    this.#tips.count = model.tools.length;
    for (const mesh of [this.#bones, this.#balls, this.#tips]) {
      mesh.frustumCulled = false;
      mesh.castShadow = true;
      this.group.add(mesh);
    }
  }

  /** Bones that are drawn. */
  get bones(): number {
    return this.#links.length;
  }

  /** Colours of a theme. */
  paint(colours: { bone: string; ball: string; tip: string; picked: string; limit?: string }): void {
    this.#colours = {
      bone: new THREE.Color(colours.bone),
      ball: new THREE.Color(colours.ball),
      tip: new THREE.Color(colours.tip),
      picked: new THREE.Color(colours.picked),
      limit: new THREE.Color(colours.limit ?? colours.ball),
    };
    this.select(this.#selected);
  }

  /** Show a joint as picked; -1: none. */
  select(joint: number): void {
    this.#selected = joint;
    const { bone, ball, tip, picked, limit } = this.#colours;
    const held = new Set(this.#held);
    this.#links.forEach((link, i) => this.#bones.setColorAt(i, link.body === joint ? picked : held.has(link.body) ? limit : bone));
    this.model.joints.forEach((j) => this.#balls.setColorAt(j.index, j.index === joint ? picked : held.has(j.index) ? limit : ball));
    this.model.tools.forEach((t) => this.#tips.setColorAt(t.index, tip));
    for (const mesh of [this.#bones, this.#balls, this.#tips]) {
      if (mesh.instanceColor) {
        mesh.instanceColor.needsUpdate = true;
      }
    }
  }

  /** Tint joints that limits hold. */
  hold(joints: readonly number[]): void {
    if (joints.join() !== this.#held.join()) {
      this.#held = joints;
      this.select(this.#selected);
    }
  }

  /** How thick a bone is at least: one that is thick by its length alone would not be seen in a chain of a thousand. */
  #leastOf(poses: Float64Array, toolPoses: Float64Array): number {
    const lengthOf = ({ body, child, tool }: { body: number; child: number; tool: number }) => from.fromArray(poses, 7 * body).distanceTo(tool >= 0 ? to.fromArray(toolPoses, 7 * tool) : to.fromArray(poses, 7 * child));
    return this.#links.every((link) => lengthOf(link) < SHORT * this.#size) ? THIN * this.#size : 0;
  }

  /** Put everything where the poses say: seven numbers for each body, and for each tool. */
  place(poses: Float64Array, toolPoses: Float64Array): void {
    const r = this.#thickness;
    const least = this.#leastOf(poses, toolPoses);
    this.#reach.fill(0);
    this.#links.forEach((link, i) => {
      from.fromArray(poses, 7 * link.body);
      if (link.tool >= 0) {
        to.fromArray(toolPoses, 7 * link.tool);
      } else {
        to.fromArray(poses, 7 * link.child);
      }
      to.sub(from);
      const length = to.length();
      const width = Math.max(least, Math.min(r, 0.2 * length + 1e-9));
      this.#reach[link.body] = Math.max(this.#reach[link.body]!, length);
      if (link.child >= 0) {
        this.#reach[link.child] = Math.max(this.#reach[link.child]!, length);
      }
      turn.setFromUnitVectors(up, length > 1e-9 ? to.divideScalar(length) : up);
      matrix.compose(from, turn, scale.set(width, Math.max(length, 1e-9), width));
      this.#bones.setMatrixAt(i, matrix);
    });
    for (const joint of this.model.joints) {
      const most = joint.type === 'fixed' ? 0.5 * r : 1.05 * r;
      const width = this.#bare.has(joint.index) ? 0 : this.#reach[joint.index]! > 0 ? Math.max(least, Math.min(most, 0.24 * this.#reach[joint.index]!)) : most; // small in a hand
      matrix.makeScale(width, width, width).setPosition(from.fromArray(poses, 7 * joint.index));
      this.#balls.setMatrixAt(joint.index, matrix);
    }
    for (const tool of this.model.tools) {
      const width = Math.min(0.9 * r, 0.2 * this.#reach[tool.body]! || r);
      matrix.makeScale(width, width, width).setPosition(from.fromArray(toolPoses, 7 * tool.index));
      this.#tips.setMatrixAt(tool.index, matrix);
    }
    for (const mesh of [this.#bones, this.#balls, this.#tips]) {
      mesh.instanceMatrix.needsUpdate = true;
      mesh.boundingSphere = null; // for picking
    }
  }

  /** The part under a ray and where it is hit, or null. */
  pick(ray: THREE.Raycaster): { part: Part; at: THREE.Vector3 } | null {
    const hit = ray.intersectObjects([this.#bones, this.#balls, this.#tips], false)[0];
    if (!hit || hit.instanceId === undefined) {
      return null;
    }
    const { instanceId: i, object, point: at } = hit;
    if (object === this.#tips) {
      return { part: { body: this.model.tools[i]!.body, tool: i }, at };
    }
    return { part: { body: object === this.#balls ? i : this.#links[i]!.body, tool: -1 }, at };
  }

  dispose(): void {
    this.group.removeFromParent();
    for (const mesh of [this.#bones, this.#balls, this.#tips]) {
      mesh.geometry.dispose();
      (mesh.material as THREE.Material).dispose();
      mesh.dispose();
    }
  }
}
