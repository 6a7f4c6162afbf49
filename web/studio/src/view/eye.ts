/** Where one looks from: the camera, in perspective or without, and what turns and moves it. */
import * as THREE from 'three';
import { OrbitControls } from 'three/addons/controls/OrbitControls.js';
import { frame, type Room } from './framing.js';

export type Camera = THREE.PerspectiveCamera | THREE.OrthographicCamera;

const CLOSE = 0.9; // distance of a focus, in sizes of the skeleton
const FLAT_DEPTH = 50; // how far behind and before itself a camera without perspective sees

export class Eye {
  readonly orbit: OrbitControls;
  /** The user has not turned the view. */
  untouched = true;
  #perspective = new THREE.PerspectiveCamera(40, 1, 0.01, 100);
  #flat = new THREE.OrthographicCamera(-1, 1, 1, -1, -FLAT_DEPTH, FLAT_DEPTH);
  #isFlat = false;
  #aspect = 1;
  #room: Room = { left: 0, right: 1, top: 0, bottom: 1 };

  constructor(canvas: HTMLCanvasElement, changed: () => void) {
    this.orbit = new OrbitControls<Camera>(this.#perspective, canvas);
    this.orbit.enableDamping = false;
    this.orbit.zoomToCursor = true;
    this.orbit.addEventListener('start', () => (this.untouched = false));
    this.orbit.addEventListener('change', changed);
  }

  get camera(): Camera {
    return this.#isFlat ? this.#flat : this.#perspective;
  }

  /** Without perspective: lengths across the view are true everywhere. */
  get isFlat(): boolean {
    return this.#isFlat;
  }

  /** The same view with perspective, or without. */
  setFlat(on: boolean): void {
    if (on === this.#isFlat) {
      return;
    }
    const { target } = this.orbit;
    if (on) {
      this.#flat.position.copy(this.#perspective.position);
      this.#flat.zoom = 1;
      this.#fitFlat();
    } else {
      const tall = (this.#flat.top - this.#flat.bottom) / this.#flat.zoom;
      const away = this.#flat.position.clone().sub(target).setLength(tall / (2 * this.#slope));
      this.#perspective.position.copy(target).add(away);
    }
    this.#isFlat = on;
    this.camera.up.copy(on ? this.#perspective.up : this.#flat.up);
    this.orbit.object = this.camera;
    this.orbit.update();
  }

  get #slope(): number {
    return Math.tan((this.#perspective.fov * Math.PI) / 360);
  }

  /** The camera without perspective shows at the target what the other would. */
  #fitFlat(): void {
    const half = this.#slope * this.camera.position.distanceTo(this.orbit.target);
    [this.#flat.top, this.#flat.bottom, this.#flat.left, this.#flat.right] = [half, -half, -half * this.#aspect, half * this.#aspect];
    this.#flat.updateProjectionMatrix();
  }

  /** Show these points within `part` of some room of the picture, looked at against a direction. How far away that is. */
  show(points: readonly number[], direction: THREE.Vector3, up: THREE.Vector3, room: Room, part: number): number {
    this.untouched = true;
    const { target, position } = frame(points, direction, up, this.#perspective, part, room);
    for (const camera of [this.#perspective, this.#flat]) {
      camera.up.copy(up);
      camera.position.copy(position);
    }
    this.orbit.target.copy(target);
    this.#flat.zoom = 1;
    this.#room = room;
    this.#fitFlat();
    this.resize(this.#aspect);
    this.orbit.update();
    return position.distanceTo(target);
  }

  /** What is looked at lies in the middle of the part of the picture that was asked for, whatever its shape. */
  resize(aspect: number): void {
    const { left, right, top, bottom } = this.#room;
    this.#aspect = aspect;
    this.#flat.right = this.#flat.top * aspect;
    this.#flat.left = -this.#flat.right;
    for (const camera of [this.#perspective, this.#flat]) {
      camera.setViewOffset(aspect, 1, (aspect * (1 - left - right)) / 2, (1 - top - bottom) / 2, aspect, 1);
    }
  }

  /** Go along, without a turn. */
  shift(step: THREE.Vector3): void {
    this.camera.position.add(step);
    this.orbit.target.add(step);
  }

  /** Look at a point from nearby, from the same side. */
  focus(point: THREE.Vector3): void {
    const away = this.#away();
    this.orbit.target.copy(point);
    this.#lookFrom(away.setLength(Math.min(CLOSE, away.length())));
    this.#flat.zoom = 1;
    this.#fitFlat();
  }

  /** From another side, as far away as before. */
  face(direction: THREE.Vector3): void {
    this.#lookFrom(direction.clone().setLength(this.#away().length()));
  }

  /** Turn the view about what it looks at, in radians: to the side, and upwards. */
  turn(side: number, rise: number): void {
    const away = this.#away();
    const { up } = this.camera;
    const right = new THREE.Vector3().crossVectors(up, away).normalize();
    away.applyAxisAngle(up, side);
    const angle = away.angleTo(up);
    away.applyAxisAngle(right.applyAxisAngle(up, side), Math.min(Math.PI - 0.05 - angle, Math.max(0.05 - angle, -rise)));
    this.#lookFrom(away);
  }

  /** Come nearer (above 1) or go away. */
  zoom(by: number): void {
    if (this.#isFlat) {
      this.#flat.zoom *= by;
      this.#flat.updateProjectionMatrix();
      this.#lookFrom(this.#away());
    } else {
      this.#lookFrom(this.#away().divideScalar(by));
    }
  }

  #away(): THREE.Vector3 {
    return this.camera.position.clone().sub(this.orbit.target);
  }

  #lookFrom(away: THREE.Vector3): void {
    this.untouched = false;
    this.camera.position.copy(this.orbit.target).add(away);
    this.orbit.update();
  }
}
