/** The floor: a grid that fades away from its middle, in pieces of one cell so that none reaches behind the camera. */
import * as THREE from 'three';

const CELL = 0.25;
const CELLS = 32; // from the middle to the edge

export class Floor {
  readonly lines: THREE.LineSegments;

  constructor() {
    const points: number[] = [];
    for (let i = -CELLS; i <= CELLS; i++) {
      for (let j = -CELLS; j < CELLS; j++) {
        points.push(i, 0, j, i, 0, j + 1, j, 0, i, j + 1, 0, i);
      }
    }
    const shape = new THREE.BufferGeometry();
    shape.setAttribute('position', new THREE.Float32BufferAttribute(points.map((x) => x * CELL), 3));
    shape.setAttribute('color', new THREE.Float32BufferAttribute(new Float32Array((4 * points.length) / 3), 4));
    this.lines = new THREE.LineSegments(shape, new THREE.LineBasicMaterial({ vertexColors: true, transparent: true, depthWrite: false }));
    this.lines.frustumCulled = false;
  }

  /** In the colour of the grid, which fades away from the middle; each fourth line is stronger. */
  paint(grid: string): void {
    const position = this.lines.geometry.attributes['position'] as THREE.BufferAttribute;
    const colour = this.lines.geometry.attributes['color'] as THREE.BufferAttribute;
    const { r, g, b } = new THREE.Color(grid);
    for (let i = 0; i < position.count; i++) {
      const first = i - (i % 2); // a piece lies along the coordinate that its two ends do not share
      const across = position.getX(first) === position.getX(first + 1) ? position.getX(i) : position.getZ(i);
      const strong = Math.round(across / CELL) % 4 === 0;
      const away = Math.hypot(position.getX(i), position.getZ(i)) / (CELL * CELLS);
      colour.setXYZW(i, r, g, b, Math.max(0, (strong ? 1 : 0.45) - away) ** 1.3);
    }
    colour.needsUpdate = true;
  }

  /** Lie across an axis at a height, with a crossing near a point. */
  place(up: 'x' | 'y' | 'z', { x, y, z }: THREE.Vector3, height: number): void {
    this.lines.rotation.set(up === 'z' ? Math.PI / 2 : 0, 0, up === 'x' ? Math.PI / 2 : 0);
    const snap = (value: number, axis: 'x' | 'y' | 'z') => (axis === up ? height : Math.round(value / (4 * CELL)) * 4 * CELL);
    this.lines.position.set(snap(x, 'x'), snap(y, 'y'), snap(z, 'z'));
  }
}
