/** What is behind everything: brighter in the middle than at the edges, so that dark things stand out. */
import * as THREE from 'three';

const SIDE = 256; // pixels

export class Backdrop {
  readonly texture: THREE.CanvasTexture;
  #canvas = document.createElement('canvas');

  constructor() {
    this.#canvas.width = this.#canvas.height = SIDE;
    this.texture = new THREE.CanvasTexture(this.#canvas);
    this.texture.colorSpace = THREE.SRGBColorSpace;
  }

  paint(edge: string, middle: string): void {
    const g = this.#canvas.getContext('2d')!;
    const glow = g.createRadialGradient(SIDE / 2, 0.46 * SIDE, 0, SIDE / 2, 0.46 * SIDE, 0.72 * SIDE);
    glow.addColorStop(0, middle);
    glow.addColorStop(1, edge);
    g.fillStyle = glow;
    g.fillRect(0, 0, SIDE, SIDE);
    this.texture.needsUpdate = true;
  }
}

/** The same in one colour, for what has to be drawn quickly. */
export function plainBackdrop(edge: string, middle: string): THREE.Color {
  return new THREE.Color(edge).lerp(new THREE.Color(middle), 0.5);
}
