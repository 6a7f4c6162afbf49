/** Where a camera has to stand to show points. */
import * as THREE from 'three';

export interface View {
  target: THREE.Vector3;
  position: THREE.Vector3;
}

/** A part of the picture, from 0 at its left and top to 1. */
export interface Room {
  left: number;
  right: number;
  top: number;
  bottom: number;
}

/**
 * Look against `direction` with `up` upwards so that all points (three numbers each) lie within `part` of a picture of the size of `room`.
 * The depth z of a point counts: it is seen under |x| / (distance - z).
 */
export function frame(points: readonly number[], direction: THREE.Vector3, up: THREE.Vector3, camera: THREE.PerspectiveCamera, part: number, room: Room = { left: 0, right: 1, top: 0, bottom: 1 }): View {
  const z = direction.clone().normalize();
  const x = new THREE.Vector3().crossVectors(up, z).normalize();
  const y = new THREE.Vector3().crossVectors(z, x);
  const low = new THREE.Vector3(Infinity, Infinity, Infinity);
  const high = low.clone().negate();
  const at = new THREE.Vector3();
  const seen: THREE.Vector3[] = [];
  for (let i = 0; i + 2 < points.length; i += 3) {
    at.set(points[i]!, points[i + 1]!, points[i + 2]!);
    const own = new THREE.Vector3(at.dot(x), at.dot(y), at.dot(z));
    seen.push(own);
    low.min(own);
    high.max(own);
  }
  const middle = seen.length > 0 ? low.add(high).multiplyScalar(0.5) : new THREE.Vector3();
  const slope = part * Math.tan((camera.fov * Math.PI) / 360);
  const tall = slope * (room.bottom - room.top);
  const wide = slope * camera.aspect * (room.right - room.left);
  const distance = seen.reduce((most, p) => Math.max(most, p.z - middle.z + Math.max(Math.abs(p.x - middle.x) / wide, Math.abs(p.y - middle.y) / tall)), 0.8);
  const target = new THREE.Vector3().addScaledVector(x, middle.x).addScaledVector(y, middle.y).addScaledVector(z, middle.z);
  return { target, position: target.clone().addScaledVector(z, distance) };
}
