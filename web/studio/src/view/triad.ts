/** The axes of the world as one sees them, in a corner: each end is a button that looks along its axis. */
import * as THREE from 'three';
import { button, element } from '../dom.js';
import type { Camera } from './eye.js';

export type Axis = 'x' | 'y' | 'z';

const AXES: readonly Axis[] = ['x', 'y', 'z'];
const RADIUS = 26; // pixels from the middle to an end
const NAMESPACE = 'http://www.w3.org/2000/svg';

const directionOf = (axis: Axis): THREE.Vector3 => new THREE.Vector3(axis === 'x' ? 1 : 0, axis === 'y' ? 1 : 0, axis === 'z' ? 1 : 0);

export class Triad {
  readonly root = element('div', { className: 'triad', role: 'group', 'aria-label': 'Axes' });
  #lines: SVGLineElement[];
  #ends: HTMLButtonElement[];

  constructor(look: (axis: Axis) => void) {
    const picture = document.createElementNS(NAMESPACE, 'svg');
    picture.setAttribute('aria-hidden', 'true');
    this.#lines = AXES.map(() => picture.appendChild(document.createElementNS(NAMESPACE, 'line')));
    this.#ends = AXES.map((axis) => button(`Look along ${axis}; once more: from the other side`, () => look(axis), axis));
    this.root.append(picture, ...this.#ends);
  }

  paint(colours: readonly string[]): void {
    colours.forEach((colour, i) => {
      this.#lines[i]!.setAttribute('stroke', colour);
      this.#ends[i]!.style.backgroundColor = colour;
    });
  }

  /** Turn with the camera; what points away lies behind. */
  turn(camera: Camera): void {
    const inverse = camera.quaternion.clone().invert();
    AXES.forEach((axis, i) => {
      const { x, y, z } = directionOf(axis).applyQuaternion(inverse);
      this.#lines[i]!.setAttribute('x2', String(RADIUS * x));
      this.#lines[i]!.setAttribute('y2', String(-RADIUS * y));
      const { style } = this.#ends[i]!;
      style.transform = `translate(-50%, -50%) translate(${RADIUS * x}px, ${-RADIUS * y}px)`;
      style.zIndex = String(Math.round(10 + 5 * z));
      style.opacity = String(0.75 + 0.25 * z);
    });
  }
}

/** From where one looks along an axis: from its positive side, or from the other if one is there. */
export function sideOf(axis: Axis, camera: Camera): THREE.Vector3 {
  const direction = directionOf(axis);
  const back = camera.getWorldDirection(new THREE.Vector3()).negate();
  return back.dot(direction) > 0.999 ? direction.negate() : direction;
}
