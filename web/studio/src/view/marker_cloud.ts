/** Markers as points. */
import * as THREE from 'three';
import type { Session } from '../session.js';

const NOWHERE = 1e9; // where markers that are not seen go: no camera looks there

/** A white disc, so that points are round. */
function disc(): THREE.Texture {
  const canvas = document.createElement('canvas');
  canvas.width = canvas.height = 32;
  const g = canvas.getContext('2d') as CanvasRenderingContext2D;
  g.fillStyle = '#ffffff';
  g.arc(16, 16, 15, 0, 2 * Math.PI);
  g.fill();
  return new THREE.CanvasTexture(canvas);
}

export class MarkerCloud {
  /** In the model's space. */
  readonly group = new THREE.Group();
  #points: THREE.Points<THREE.BufferGeometry, THREE.PointsMaterial> | null = null;
  #count = 0;
  #disc = disc();

  show(session: Session): void {
    this.#points?.removeFromParent();
    this.#points?.geometry.dispose();
    this.#points?.material.dispose();
    this.#points = null;
    const { markers, placements } = session.stage;
    if (markers) {
      this.#count = placements.length > 0 ? placements.length : markers.count;
      const shape = new THREE.BufferGeometry().setAttribute('position', new THREE.BufferAttribute(new Float32Array(3 * this.#count), 3));
      const size = this.#count > 150 ? 4 : 7;
      this.#points = new THREE.Points(shape, new THREE.PointsMaterial({ size, sizeAttenuation: false, map: this.#disc, alphaTest: 0.5 }));
      this.#points.frustumCulled = false;
      this.group.add(this.#points);
    }
  }

  paint(colour: string): void {
    this.#points?.material.color.set(colour);
  }

  place(session: Session): void {
    if (this.#points) {
      const { markers, placements } = session.stage;
      const points = placements.length > 0 ? session.markerPoints() : markers!.frame(session.frame);
      const place = this.#points.geometry.attributes['position'] as THREE.BufferAttribute;
      const list = place.array as Float32Array;
      for (let i = 0; i < 3 * this.#count; i++) {
        list[i] = Number.isFinite(points[i]!) ? points[i]! : NOWHERE;
      }
      place.needsUpdate = true;
    }
  }
}
