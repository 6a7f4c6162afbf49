/** The handles of goals: a shape each, the gizmo on the selected one, and a line from each to the point that it draws. */
import * as THREE from 'three';
import { TransformControls } from 'three/addons/controls/TransformControls.js';
import type { Session } from '../session.js';
import type { Target } from '../targets.js';
import type { Colours } from '../theme.js';
import type { Camera } from './eye.js';

export interface HandleEvents {
  /** A target is being dragged; the last call of a drag has `done`. */
  drag(index: number, done: boolean): void;
  /** The gizmo has the pointer, or has left it. */
  held(on: boolean): void;
  changed(): void;
}

/** A ball for a point, a box for a pose, a diamond for what is looked at, a nail for a pin. */
function handleShape(kind: Target['kind'], r: number): THREE.BufferGeometry {
  switch (kind) {
    case 'position':
      return new THREE.SphereGeometry(r, 20, 14);
    case 'pose':
      return new THREE.BoxGeometry(1.7 * r, 1.7 * r, 1.7 * r);
    case 'aim':
      return new THREE.OctahedronGeometry(1.3 * r);
    case 'pin':
      return new THREE.ConeGeometry(1.1 * r, 2.4 * r, 16);
  }
}

const SNAP_ANGLE = Math.PI / 12;

export class Handles {
  /** In the model's space. */
  readonly group = new THREE.Group();
  readonly gizmo: TransformControls;
  selected = -1;
  #list: THREE.Mesh[] = [];
  #ties = new THREE.LineSegments(new THREE.BufferGeometry(), new THREE.LineBasicMaterial());
  #session: Session | null = null;
  #colours: Colours | null = null;
  #planar = false;
  #size = 1;

  constructor(
    camera: Camera,
    canvas: HTMLCanvasElement,
    readonly events: HandleEvents,
  ) {
    this.gizmo = new TransformControls(camera, canvas);
    this.gizmo.addEventListener('dragging-changed', (event) => {
      events.held(!!event.value);
      if (!event.value) {
        this.#dragged(true);
      }
    });
    this.gizmo.addEventListener('objectChange', () => this.#dragged(false));
    this.gizmo.addEventListener('change', () => events.changed());
    this.#ties.frustumCulled = false;
    this.group.add(this.#ties);
    this.#dragByMiddle();
  }

  /** The middle of the selected goal drags it, where no arrow is under the pointer: in a plane the gizmo has nothing there. */
  #dragByMiddle(): void {
    const { gizmo } = this;
    const hover = gizmo.pointerHover.bind(gizmo);
    const ray = new THREE.Raycaster();
    gizmo.pointerHover = (pointer) => {
      hover(pointer);
      if (pointer && !gizmo.axis && !gizmo.dragging && gizmo.mode === 'translate') {
        ray.setFromCamera(new THREE.Vector2(pointer.x, pointer.y), gizmo.camera);
        gizmo.axis = this.selected >= 0 && this.at(ray) === this.selected ? (this.#planar ? 'XY' : 'XYZ') : null;
      }
    };
  }

  /** `planar`: goals stay in the plane z = 0. `size` is that of the skeleton. */
  show(session: Session, planar: boolean, size: number): void {
    this.#session = session;
    this.#planar = planar;
    this.#size = size;
    this.selected = -1;
    this.setSnap(this.snaps);
    this.rebuild();
  }

  paint(colours: Colours): void {
    this.#colours = colours;
    this.gizmo.setColors(...colours.axes, colours.picked);
    (this.#ties.material as THREE.LineBasicMaterial).color.set(colours.target);
    this.#list.forEach((_, i) => this.#paintHandle(i));
  }

  /** Goals were added or removed. */
  rebuild(): void {
    for (const handle of this.#list) {
      handle.removeFromParent();
      handle.geometry.dispose();
      (handle.material as THREE.Material).dispose();
    }
    const targets = this.#session?.targets ?? [];
    this.#list = targets.map((target) => this.#make(target));
    this.select(Math.min(this.selected, targets.length - 1));
  }

  /** Drawn over everything else: a goal inside the body would be hard to find. */
  #make(target: Target): THREE.Mesh {
    const handle = new THREE.Mesh(
      handleShape(target.kind, 0.026 * this.#size),
      new THREE.MeshStandardMaterial({ transparent: true, opacity: 0.8, roughness: 0.4, depthTest: false }),
    );
    handle.renderOrder = 1;
    handle.position.set(...target.position);
    handle.quaternion.set(...target.rotation);
    this.group.add(handle);
    handle.updateWorldMatrix(true, false); // a click may come before the next frame
    return handle;
  }

  #paintHandle(index: number): void {
    const target = this.#session?.targets[index];
    const material = this.#list[index]?.material as THREE.MeshStandardMaterial | undefined;
    if (target && material && this.#colours) {
      const { grid, picked, target: plain } = this.#colours;
      material.color.set(!target.enabled ? grid : index === this.selected ? picked : plain);
    }
  }

  /** Put the gizmo on a target; -1: on none. */
  select(index: number): void {
    this.selected = index;
    const handle = this.#list[index];
    if (handle) {
      this.gizmo.attach(handle);
      this.setMode(this.mode);
    } else {
      this.gizmo.detach();
    }
    this.#list.forEach((_, i) => this.#paintHandle(i));
  }

  /** Does the target's rotation matter? */
  turns(index = this.selected): boolean {
    const kind = this.#session?.targets[index]?.kind;
    return kind === 'pose' || kind === 'pin';
  }

  get mode(): 'translate' | 'rotate' {
    return this.gizmo.mode === 'rotate' ? 'rotate' : 'translate';
  }

  setMode(mode: 'translate' | 'rotate'): void {
    this.gizmo.setMode(mode === 'rotate' && this.turns() ? mode : 'translate');
    this.gizmo.showZ = !this.#planar || mode === 'rotate';
  }

  /** Do the arrows lie along the goal's own axes? */
  get isLocal(): boolean {
    return this.gizmo.space === 'local';
  }

  setLocal(on: boolean): void {
    this.gizmo.setSpace(on ? 'local' : 'world');
    this.setSnap(this.snaps);
  }

  /** A length that snapping goes by: 1, 2 or 5 of a power of ten, near a twentieth of the skeleton's size. */
  get step(): number {
    const power = 10 ** Math.floor(Math.log10(this.#size / 20));
    return power * ([5, 2, 1].find((x) => x * power <= this.#size / 20) ?? 1);
  }

  get snaps(): boolean {
    return this.gizmo.translationSnap !== null;
  }

  /** Drags go by steps, and turns by 15 degrees. */
  setSnap(on: boolean): void {
    const step = this.isLocal ? this.step : this.step / this.#size; // the world of the gizmo is that of the picture
    this.gizmo.setTranslationSnap(on ? step : null);
    this.gizmo.setRotationSnap(on ? SNAP_ANGLE : null);
  }

  /** The handle under a ray, or -1. */
  at(ray: THREE.Raycaster): number {
    const hit = ray.intersectObjects(this.#list, false)[0];
    return hit ? this.#list.indexOf(hit.object as THREE.Mesh) : -1;
  }

  #dragged(done: boolean): void {
    const target = this.#session?.targets[this.selected];
    const handle = this.#list[this.selected];
    if (target && handle) {
      target.position = handle.position.toArray();
      target.rotation = handle.quaternion.toArray();
      this.events.drag(this.selected, done);
    }
  }

  place(session: Session): void {
    session.targets.forEach((target, i) => {
      const handle = this.#list[i];
      if (handle && !(this.gizmo.dragging && i === this.selected)) {
        handle.position.set(...target.position);
        handle.quaternion.set(...target.rotation);
      }
    });
    this.#placeTies(session);
  }

  /** A line from each goal's point on the body to its target. */
  #placeTies({ targets, kinematics }: Session): void {
    let place = this.#ties.geometry.attributes['position'] as THREE.BufferAttribute | undefined;
    if (!place || place.count < 2 * targets.length) {
      place = new THREE.BufferAttribute(new Float32Array(6 * Math.max(8, 2 * targets.length)), 3);
      this.#ties.geometry.dispose();
      this.#ties.geometry.setAttribute('position', place);
    }
    let count = 0;
    for (const { enabled, body, local, position } of targets) {
      if (enabled) {
        const [x, y, z] = kinematics.point(body, local.position);
        place.setXYZ(count, x, y, z);
        place.setXYZ(count + 1, ...position);
        count += 2;
      }
    }
    place.needsUpdate = true;
    this.#ties.geometry.setDrawRange(0, count);
    this.#ties.visible = count > 0;
  }
}
