/** Coordinate frames: x, y and z of each body and tool, seen through everything. */
import * as THREE from 'three';

const AXES = [new THREE.Vector3(1, 0, 0), new THREE.Vector3(0, 1, 0), new THREE.Vector3(0, 0, 1)] as const;

// used again every frame
const origin = new THREE.Vector3();
const end = new THREE.Vector3();
const turn = new THREE.Quaternion();

export class Frames {
  readonly lines = new THREE.LineSegments(new THREE.BufferGeometry(), new THREE.LineBasicMaterial({ vertexColors: true, depthTest: false, transparent: true }));
  #length: number;

  /** So many frames, with axes of this length. */
  constructor(count: number, length: number) {
    this.#length = length;
    for (const name of ['position', 'color']) {
      this.lines.geometry.setAttribute(name, new THREE.BufferAttribute(new Float32Array(18 * count), 3));
    }
    this.lines.frustumCulled = false;
    this.lines.renderOrder = 2;
    this.lines.visible = false;
  }

  /** Colours of x, y and z. */
  paint(axes: readonly string[]): void {
    const colour = this.lines.geometry.attributes['color'] as THREE.BufferAttribute;
    for (let i = 0; i < colour.count; i++) {
      const { r, g, b } = new THREE.Color(axes[Math.floor((i % 6) / 2)]);
      colour.setXYZ(i, r, g, b);
    }
    colour.needsUpdate = true;
  }

  /** Put them where the poses say, seven numbers each, one list after the other. */
  place(...lists: readonly ArrayLike<number>[]): void {
    if (!this.lines.visible) {
      return;
    }
    const position = this.lines.geometry.attributes['position'] as THREE.BufferAttribute;
    let at = 0;
    for (const poses of lists) {
      for (let i = 0; i + 6 < poses.length; i += 7) {
        origin.fromArray(poses, i);
        turn.fromArray(poses, i + 3);
        for (const axis of AXES) {
          end.copy(axis).applyQuaternion(turn).multiplyScalar(this.#length).add(origin);
          position.setXYZ(at++, origin.x, origin.y, origin.z);
          position.setXYZ(at++, end.x, end.y, end.z);
        }
      }
    }
    position.needsUpdate = true;
  }

  dispose(): void {
    this.lines.removeFromParent();
    this.lines.geometry.dispose();
    this.lines.material.dispose();
  }
}
