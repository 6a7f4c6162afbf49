/** What the pointer does on the stage: takes goals and parts of the skeleton, pulls, picks. */
import type { Vec3 } from 'poise-ik';
import * as THREE from 'three';
import type { Part } from './figure.js';
import type { Viewport } from '../viewport.js';

const CLICK = 4; // pixels that a click may wander

export class Pointer {
  #down: PointerEvent | null = null;
  #held: { body: number; local: Vec3; facing: THREE.Plane; moved: boolean } | null = null; // a part that the pointer pulls

  constructor(readonly view: Viewport) {
    const { canvas } = view;
    canvas.addEventListener('pointerdown', (event) => (this.#down = event));
    canvas.addEventListener('pointerdown', (event) => this.#grab(event), { capture: true });
    canvas.addEventListener('pointermove', (event) => this.#move(event));
    canvas.addEventListener('pointerleave', () => view.hover.hide());
    for (const end of ['pointerup', 'pointercancel'] as const) {
      canvas.addEventListener(end, (event) => {
        this.#release(event);
        if (end === 'pointerup' && this.#isStill(event) && !view.handles.gizmo.dragging) {
          this.#click(event);
        }
        this.#down = null;
      });
    }
  }

  #isStill({ clientX, clientY }: PointerEvent): boolean {
    return this.#down !== null && Math.hypot(clientX - this.#down.clientX, clientY - this.#down.clientY) < CLICK;
  }

  #move(event: PointerEvent): void {
    if (this.#held && (this.#held.moved || !this.#isStill(event))) {
      this.#held.moved = true;
      this.#pull(event, false);
    } else if (event.pointerType === 'mouse' && event.buttons === 0) {
      const part = this.#partAt(event)?.part ?? null;
      this.view.canvas.style.cursor = part ? 'grab' : '';
      this.view.tell(event.clientX, event.clientY, part);
    }
  }

  #ray(event: PointerEvent): THREE.Raycaster {
    const box = this.view.canvas.getBoundingClientRect();
    const at = new THREE.Vector2(((event.clientX - box.left) / box.width) * 2 - 1, 1 - ((event.clientY - box.top) / box.height) * 2);
    const ray = new THREE.Raycaster();
    ray.setFromCamera(at, this.view.eye.camera);
    return ray;
  }

  /** The goal under the pointer becomes the selected one before the gizmo hears of it: one movement selects and drags. */
  #grab(event: PointerEvent): void {
    const { handles, events } = this.view;
    const index = handles.gizmo.axis ? -1 : handles.at(this.#ray(event));
    if (index >= 0 && index !== handles.selected) {
      events.pickTarget(index);
    }
    handles.gizmo.getHelper().updateMatrixWorld(true); // arrows of a goal that came since the last frame are at the origin still
    this.view.hover.hide();
    this.#release(event); // a second finger
    if (index < 0 && !handles.gizmo.axis && event.button === 0 && event.isPrimary) {
      this.#hold(event);
    }
  }

  /** What of the skeleton is under the pointer, where nothing of a goal is. */
  #partAt(event: PointerEvent): { part: Part; at: THREE.Vector3 } | null {
    const { handles } = this.view;
    const ray = this.#ray(event);
    return !handles.gizmo.axis && handles.at(ray) < 0 ? this.view.partAt(ray) : null;
  }

  /** The pointer takes a part of the skeleton: the view does not turn with it. */
  #hold(event: PointerEvent): void {
    const hit = this.#partAt(event);
    if (hit && this.view.poseOf(hit.part.body)) {
      const facing = new THREE.Plane().setFromNormalAndCoplanarPoint(this.view.eye.camera.getWorldDirection(new THREE.Vector3()), hit.at);
      this.#held = { body: hit.part.body, local: this.#localOf(hit.part.body, hit.at), facing, moved: false };
      this.view.eye.orbit.enabled = false;
      this.view.canvas.setPointerCapture(event.pointerId);
    }
  }

  #pull(event: PointerEvent, done: boolean): void {
    const at = this.#held && this.#ray(event).ray.intersectPlane(this.#held.facing, new THREE.Vector3());
    if (at && this.#held) {
      this.view.events.pull(this.#held.body, this.#held.local, at.multiplyScalar(this.view.size).toArray(), done);
    }
  }

  #release(event: PointerEvent): void {
    if (this.#held) {
      if (this.#held.moved) {
        this.#pull(event, true);
      }
      this.#held = null;
      this.view.eye.orbit.enabled = true;
    }
  }

  /** A point to measure from: a marker, or where a part was clicked on. */
  #measure(event: PointerEvent, marker: string | null): void {
    const hit = this.view.partAt(this.#ray(event));
    if (marker !== null) {
      this.view.events.measure({ marker });
    } else if (hit) {
      this.view.events.measure({ body: hit.part.body, local: this.#localOf(hit.part.body, hit.at) });
    }
  }

  /** A place in the picture's space, in the frame of a body. */
  #localOf(body: number, at: THREE.Vector3): Vec3 {
    const { position, rotation } = this.view.poseOf(body)!;
    const local = at.clone().multiplyScalar(this.view.size).sub(new THREE.Vector3(...position));
    return local.applyQuaternion(new THREE.Quaternion(...rotation).invert()).toArray();
  }

  #click(event: PointerEvent): void {
    const { handles, events } = this.view;
    const ray = this.#ray(event);
    const marker = handles.gizmo.axis ? null : this.view.markers.at(event.clientX, event.clientY, (point) => this.view.project(point));
    if (this.view.measures) {
      this.#measure(event, marker);
    } else if (marker !== null) {
      events.pickMarker(marker);
    } else if (!handles.gizmo.axis && handles.at(ray) < 0) {
      events.pickPart(this.view.partAt(ray)?.part ?? null);
    }
  }
}
