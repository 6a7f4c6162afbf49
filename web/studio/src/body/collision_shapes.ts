/**
 * The collision shapes of a robot as the engine has them, capsules and boxes with round edges where they have a radius; around
 * them half the margin, so that two margins touch where shapes come as near as they may; lines between those that are nearer.
 */
import type { Shape } from 'poise-ik';
import * as THREE from 'three';
import { cornersOf } from './body.js';

function geometryOf({ kind, half, radius: own }: Shape, around: number): THREE.BufferGeometry | null {
  const radius = own + around;
  switch (kind) {
    case 'capsule':
      return new THREE.CapsuleGeometry(radius, 2 * half[2], 8, 20).rotateX(Math.PI / 2);
    case 'box':
      return new THREE.BoxGeometry(2 * (half[0] + radius), 2 * (half[1] + radius), 2 * (half[2] + radius));
    case 'half_space':
      return null; // has no end
  }
}

const NONE: ReadonlySet<number> = new Set();

interface Item {
  holder: THREE.Group;
  body: number;
  mesh: THREE.Mesh;
}

export class CollisionShapes {
  readonly group = new THREE.Group();
  #plain = new THREE.MeshBasicMaterial({ wireframe: true, transparent: true, opacity: 0.3 });
  #hit = new THREE.MeshBasicMaterial({ transparent: true, opacity: 0.55, depthWrite: false });
  #soft = new THREE.MeshBasicMaterial({ transparent: true, opacity: 0.08, depthWrite: false });
  #lines = new THREE.LineSegments(new THREE.BufferGeometry(), new THREE.LineBasicMaterial({ depthTest: false }));
  #items: (Item | null)[] = []; // null: a half-space
  #margins = new THREE.Group();
  /** That is drawn around every shape. */
  margin = 0;

  constructor(readonly shapes: readonly Shape[]) {
    this.#items = shapes.map((shape) => this.#add(shape, 0, this.#plain));
    this.#lines.renderOrder = 2;
    this.#lines.frustumCulled = false;
    this.group.add(this.#lines, this.#margins);
  }

  #add(shape: Shape, around: number, material: THREE.Material): Item | null {
    const geometry = geometryOf(shape, around);
    if (!geometry) {
      return null;
    }
    const mesh = new THREE.Mesh(geometry, material);
    mesh.position.set(...shape.pose.position);
    mesh.quaternion.set(...shape.pose.rotation);
    const holder = new THREE.Group().add(mesh);
    (around > 0 ? this.#margins : this.group).add(holder);
    return { holder, body: shape.body, mesh };
  }

  /** Corners of all that is drawn, three numbers each, in the model's space. */
  corners(): number[] {
    return this.#items.flatMap((item) => {
      item?.mesh.geometry.computeBoundingBox();
      item?.holder.updateMatrix();
      item?.mesh.updateMatrix();
      return item ? cornersOf(item.mesh.geometry.boundingBox!.clone().applyMatrix4(item.mesh.matrix).applyMatrix4(item.holder.matrix)) : [];
    });
  }

  /** Draw a margin around every shape; 0: none. */
  setMargin(margin: number): void {
    this.#items.splice(this.shapes.length).forEach((item) => item?.mesh.geometry.dispose());
    this.#margins.clear();
    this.margin = margin;
    if (margin > 0) {
      this.#items.push(...this.shapes.map((shape) => this.#add(shape, margin / 2, this.#soft)));
    }
  }

  paint({ limit, picked }: { limit: string; picked: string }): void {
    this.#plain.color.set(limit);
    this.#hit.color.set(limit);
    this.#soft.color.set(picked);
    this.#lines.material.color.set(picked);
  }

  /** Shapes that are too near to one another, and lines between them: two points each, three numbers a point. */
  mark(shapes: ReadonlySet<number> = NONE, ends: readonly number[] = []): void {
    this.#items.slice(0, this.shapes.length).forEach((item, i) => item && (item.mesh.material = shapes.has(i) ? this.#hit : this.#plain));
    this.#lines.geometry.dispose();
    this.#lines.geometry.setAttribute('position', new THREE.Float32BufferAttribute(ends, 3));
    this.#lines.visible = ends.length > 0;
  }

  place(poses: Float64Array): void {
    for (const item of this.#items) {
      if (item && item.body >= 0) {
        item.holder.position.fromArray(poses, 7 * item.body);
        item.holder.quaternion.fromArray(poses, 7 * item.body + 3);
      }
    }
  }

  dispose(): void {
    this.group.removeFromParent();
    this.#items.forEach((item) => item?.mesh.geometry.dispose());
    this.#lines.geometry.dispose();
    [this.#plain, this.#hit, this.#soft, this.#lines.material].forEach((material) => material.dispose());
  }
}
