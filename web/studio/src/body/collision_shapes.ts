/** The collision shapes of a robot as the engine has them: capsules and boxes, with round edges where they have a radius. */
import type { Shape } from 'poise-ik';
import * as THREE from 'three';

function geometryOf({ kind, half, radius }: Shape): THREE.BufferGeometry | null {
  switch (kind) {
    case 'capsule':
      return new THREE.CapsuleGeometry(radius, 2 * half[2], 8, 20).rotateX(Math.PI / 2);
    case 'box':
      return new THREE.BoxGeometry(2 * (half[0] + radius), 2 * (half[1] + radius), 2 * (half[2] + radius));
    case 'half_space':
      return null; // has no end
  }
}

export class CollisionShapes {
  readonly group = new THREE.Group();
  #material = new THREE.MeshBasicMaterial({ wireframe: true, transparent: true, opacity: 0.35 });
  #items: { holder: THREE.Group; body: number }[] = [];

  constructor(shapes: readonly Shape[]) {
    for (const shape of shapes) {
      const geometry = geometryOf(shape);
      if (geometry) {
        const mesh = new THREE.Mesh(geometry, this.#material);
        mesh.position.set(...shape.pose.position);
        mesh.quaternion.set(...shape.pose.rotation);
        const holder = new THREE.Group().add(mesh);
        this.group.add(holder);
        this.#items.push({ holder, body: shape.body });
      }
    }
  }

  paint(colour: string): void {
    this.#material.color.set(colour);
  }

  place(poses: Float64Array): void {
    for (const { holder, body } of this.#items) {
      if (body >= 0) {
        holder.position.fromArray(poses, 7 * body);
        holder.quaternion.fromArray(poses, 7 * body + 3);
      }
    }
  }

  dispose(): void {
    this.group.removeFromParent();
    this.#items.forEach(({ holder }) => (holder.children[0] as THREE.Mesh).geometry.dispose());
    this.#material.dispose();
  }
}
