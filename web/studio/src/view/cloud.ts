/** Points in the model's space, from one colour to another by how far they are from the first body: where a tip can get. */
import * as THREE from 'three';
import { disc } from './disc.js';

export class Cloud {
  readonly points: THREE.Points<THREE.BufferGeometry, THREE.PointsMaterial>;

  constructor(places: Float32Array, near: string, far: string) {
    const shape = new THREE.BufferGeometry();
    shape.setAttribute('position', new THREE.BufferAttribute(places, 3));
    shape.computeBoundingSphere();
    const { center, radius } = shape.boundingSphere!;
    const [from, to, at, here] = [new THREE.Color(near), new THREE.Color(far), new THREE.Color(), new THREE.Vector3()];
    const colours = new Float32Array(places.length);
    for (let i = 0; i < places.length; i += 3) {
      const part = here.fromArray(places, i).distanceTo(center) / (radius || 1);
      at.copy(from).lerp(to, Math.min(1, part)).toArray(colours, i);
    }
    shape.setAttribute('color', new THREE.BufferAttribute(colours, 3));
    const map = disc();
    const material = new THREE.PointsMaterial({ size: 4, sizeAttenuation: false, map, alphaTest: 0.2, vertexColors: true, transparent: true, opacity: 0.8, depthWrite: false });
    this.points = new THREE.Points(shape, material);
  }

  dispose(): void {
    this.points.removeFromParent();
    this.points.geometry.dispose();
    this.points.material.map?.dispose();
    this.points.material.dispose();
  }
}
