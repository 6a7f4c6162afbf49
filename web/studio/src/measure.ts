/** The distance between two points of the skeleton, or markers: a line with its length, which goes along. */
import type { Vec3 } from 'poise-ik';
import * as THREE from 'three';
import type { App } from './app.js';
import { element } from './dom.js';
import { distance } from './spatial.js';
import { length } from './status.js';

/** A point of a body, in its frame; or a marker. */
export type Measured = { body: number; local: Vec3 } | { marker: string };

export class Measure {
  /** Clicks on the stage choose points. */
  isOn = false;
  #ends: Measured[] = [];
  #label = element('div', { className: 'measured', hidden: true, role: 'status' });
  #line = new THREE.Line(new THREE.BufferGeometry(), new THREE.LineBasicMaterial({ depthTest: false }));

  constructor(readonly app: App) {
    this.#line.renderOrder = 3;
    this.#line.frustumCulled = false;
    this.#line.visible = false;
  }

  /** Once there is a stage to draw on. */
  attach(main: Element): void {
    main.append(this.#label);
    this.app.viewport.world.add(this.#line);
  }

  toggle(): void {
    this.isOn = !this.isOn;
    this.#ends = [];
    if (this.isOn) {
      this.app.notify('Click on two points of the skeleton, or markers.', true);
    }
    this.#show();
  }

  clear(): void {
    this.isOn = false;
    this.#ends = [];
    this.#show();
  }

  add(end: Measured): void {
    this.#ends = this.#ends.length === 2 ? [end] : [...this.#ends, end];
    this.#show();
  }

  #show(): void {
    this.app.viewport.measures = this.isOn;
    this.app.viewport.place();
    this.place();
    this.app.panel.refresh();
  }

  #placeOf(end: Measured): Vec3 | null {
    const session = this.app.session!;
    return 'marker' in end ? this.app.viewport.markers.placeOf(end.marker) : session.kinematics.point(end.body, end.local);
  }

  /** The distance now, in length units; NaN where there is none. */
  get value(): number {
    const [a, b] = this.#ends.map((end) => this.#placeOf(end));
    return a && b ? distance(a, b) : NaN;
  }

  /** Bring the line where its ends are. */
  place(): void {
    const places = this.#ends.map((end) => this.#placeOf(end)).filter((place) => place !== null);
    const isWhole = places.length === 2;
    this.#line.visible = isWhole;
    this.#label.hidden = !isWhole;
    if (isWhole) {
      const [a, b] = places as [Vec3, Vec3];
      this.#line.geometry.setAttribute('position', new THREE.Float32BufferAttribute([...a, ...b], 3));
      this.#line.material.color.set(this.app.colours.picked);
      this.#label.textContent = length(distance(a, b), this.app.session!.stage.scale.metres);
    }
  }

  /** Bring the words where the line is on the page. */
  follow(): void {
    if (!this.#label.hidden) {
      const [a, b] = this.#ends.map((end) => this.#placeOf(end)) as [Vec3, Vec3];
      const box = this.app.viewport.canvas.getBoundingClientRect();
      const { x, y } = this.app.viewport.project([0, 1, 2].map((k) => (a[k]! + b[k]!) / 2));
      this.#label.style.transform = `translate(${x - box.left}px, ${y - box.top}px) translate(-50%, -50%)`;
    }
  }
}
