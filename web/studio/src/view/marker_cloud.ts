/** Markers as points, the picked one larger; on request a line from each to its place on the body, and the way that it came. */
import * as THREE from 'three';
import type { Vec3 } from 'poise-ik';
import type { Session } from '../session.js';
import type { Colours } from '../theme.js';
import { disc } from './disc.js';

const NOWHERE = 1e9; // where markers that are not seen go: no camera looks there
const TRAIL = 0.6; // seconds of a trail
const STEPS = 30; // pieces of it
const NEAR = 9; // pixels from a marker at which a pointer means it

const room = (count: number): THREE.BufferAttribute => new THREE.BufferAttribute(new Float32Array(3 * count), 3);

export class MarkerCloud {
  /** In the model's space. */
  readonly group = new THREE.Group();
  /** The label of the picked marker. */
  picked: string | null = null;
  /** Are lines to the places drawn? */
  showsMisses = false;
  /** Is the way that they came drawn? Of the picked one alone, where one is picked. */
  showsTrails = false;
  /** Of the points, in their order. */
  labels: readonly string[] = [];
  #disc = disc();
  #points = this.#makePoints(7);
  #chosen = this.#makePoints(13);
  #misses = new THREE.LineSegments(new THREE.BufferGeometry(), new THREE.LineBasicMaterial());
  #trails = new THREE.LineSegments(new THREE.BufferGeometry(), new THREE.LineBasicMaterial({ vertexColors: true, transparent: true }));
  #colour = new THREE.Color();
  #session: Session | null = null;

  constructor() {
    this.#chosen.geometry.setAttribute('position', room(1));
    for (const part of [this.#points, this.#chosen, this.#misses, this.#trails]) {
      part.frustumCulled = false;
      this.group.add(part);
    }
  }

  #makePoints(size: number): THREE.Points<THREE.BufferGeometry, THREE.PointsMaterial> {
    return new THREE.Points(new THREE.BufferGeometry(), new THREE.PointsMaterial({ size, sizeAttenuation: false, map: this.#disc, alphaTest: 0.5 }));
  }

  show(session: Session): void {
    const { markers, placements } = session.stage;
    this.#session = session;
    this.picked = null;
    this.labels = !markers ? [] : placements.length > 0 ? placements.map(({ label }) => label) : markers.labels;
    this.#points.geometry.dispose();
    this.#points.geometry.setAttribute('position', room(this.labels.length));
    this.#points.material.size = this.labels.length > 150 ? 4 : 7;
    this.#misses.geometry.dispose();
    this.#misses.geometry.setAttribute('position', room(2 * placements.length));
    this.#trails.geometry.dispose();
    this.#trails.geometry.setAttribute('position', room(2 * STEPS * this.labels.length));
    this.#trails.geometry.setAttribute('color', new THREE.BufferAttribute(new Float32Array(8 * STEPS * this.labels.length), 4));
    this.group.visible = this.labels.length > 0;
  }

  paint({ marker, picked, limit }: Colours): void {
    this.#points.material.color.set(marker);
    this.#colour.set(marker);
    this.#chosen.material.color.set(picked);
    this.#misses.material.color.set(limit);
  }

  /** Where the markers are, now or in another frame: three numbers each, NaN where one is not seen. */
  #now(session: Session, frame = session.frame): Float64Array {
    const { markers, placements } = session.stage;
    return placements.length > 0 ? session.markerPoints(frame) : markers!.frame(frame);
  }

  /** Where a marker is now; null where it is not seen. */
  placeOf(label: string): Vec3 | null {
    const i = this.labels.indexOf(label);
    const [x, y, z] = i < 0 ? [NaN, NaN, NaN] : this.#now(this.#session!).slice(3 * i, 3 * i + 3);
    return Number.isFinite(x!) ? [x!, y!, z!] : null;
  }

  /** The way of the last moments: it fades with its age, and has gaps where markers were not seen. */
  #placeTrails(session: Session): void {
    this.#trails.visible = this.showsTrails;
    if (!this.showsTrails) {
      return;
    }
    const { position, color } = this.#trails.geometry.attributes as Record<string, THREE.BufferAttribute>;
    const { r, g, b } = this.#colour;
    const span = Math.max(STEPS, Math.round(TRAIL / session.frameTime));
    const frameOf = (step: number) => Math.max(0, session.frame - Math.round((span * step) / STEPS));
    const wanted = this.picked === null ? this.labels.map((_, i) => i) : [this.labels.indexOf(this.picked)];
    let count = 0;
    let late = this.#now(session, frameOf(0)).slice();
    for (let step = 1; step <= STEPS && frameOf(step) < frameOf(step - 1); step++) {
      const early = this.#now(session, frameOf(step)).slice();
      for (const i of wanted.filter((k) => Number.isFinite(late[3 * k]!) && Number.isFinite(early[3 * k]!))) {
        position!.setXYZ(count, late[3 * i]!, late[3 * i + 1]!, late[3 * i + 2]!);
        position!.setXYZ(count + 1, early[3 * i]!, early[3 * i + 1]!, early[3 * i + 2]!);
        color!.setXYZW(count, r, g, b, 1 - (step - 1) / STEPS);
        color!.setXYZW(count + 1, r, g, b, 1 - step / STEPS);
        count += 2;
      }
      late = early;
    }
    position!.needsUpdate = color!.needsUpdate = true;
    this.#trails.geometry.setDrawRange(0, count);
  }

  /** How many pieces of ways are drawn. */
  get trailPieces(): number {
    return this.#trails.visible && this.group.visible ? this.#trails.geometry.drawRange.count / 2 : 0;
  }

  /** How many lines to places are drawn. */
  get missPieces(): number {
    return this.#misses.visible && this.group.visible ? this.#misses.geometry.drawRange.count / 2 : 0;
  }

  place(session: Session): void {
    if (!this.group.visible) {
      return;
    }
    const points = this.#now(session);
    const place = this.#points.geometry.attributes['position'] as THREE.BufferAttribute;
    (place.array as Float32Array).set(points.subarray(0, 3 * this.labels.length));
    this.labels.forEach((_, i) => Number.isFinite(points[3 * i]!) || place.setXYZ(i, NOWHERE, NOWHERE, NOWHERE));
    place.needsUpdate = true;
    const index = this.picked === null ? -1 : this.labels.indexOf(this.picked);
    const chosen = this.#chosen.geometry.attributes['position'] as THREE.BufferAttribute;
    this.#chosen.visible = index >= 0;
    chosen.setXYZ(0, place.getX(Math.max(0, index)), place.getY(Math.max(0, index)), place.getZ(Math.max(0, index)));
    chosen.needsUpdate = true;
    this.#placeMisses(session, points);
    this.#placeTrails(session);
  }

  /** From each marker that is seen to where it sits on the body. */
  #placeMisses({ stage, kinematics }: Session, points: Float64Array): void {
    this.#misses.visible = this.showsMisses && stage.placements.length > 0;
    if (this.#misses.visible) {
      const place = this.#misses.geometry.attributes['position'] as THREE.BufferAttribute;
      let count = 0;
      stage.placements.forEach(({ body, local }, i) => {
        if (Number.isFinite(points[3 * i]!)) {
          const [x, y, z] = kinematics.point(body, local);
          place.setXYZ(count, x, y, z);
          place.setXYZ(count + 1, points[3 * i]!, points[3 * i + 1]!, points[3 * i + 2]!);
          count += 2;
        }
      });
      place.needsUpdate = true;
      this.#misses.geometry.setDrawRange(0, count);
    }
  }

  /** How far a marker is from its place now, in length units; NaN where that cannot be told. */
  missOf(label: string): number {
    const session = this.#session!;
    const i = session.stage.placements.findIndex((place) => place.label === label);
    const place = session.stage.placements[i];
    if (!place) {
      return NaN;
    }
    const [x, y, z] = session.kinematics.point(place.body, place.local);
    const points = session.markerPoints();
    return Math.hypot(x - points[3 * i]!, y - points[3 * i + 1]!, z - points[3 * i + 2]!);
  }

  /** The label of the marker at a place of the page, of which `project` tells where points are. */
  at(x: number, y: number, project: (point: readonly number[]) => { x: number; y: number }): string | null {
    if (!this.group.visible || !this.#session) {
      return null;
    }
    const points = this.#now(this.#session).slice();
    let [best, nearest] = [NEAR, -1];
    this.labels.forEach((_, i) => {
      if (Number.isFinite(points[3 * i]!)) {
        const at = project([points[3 * i]!, points[3 * i + 1]!, points[3 * i + 2]!]);
        const away = Math.hypot(at.x - x, at.y - y);
        if (away < best) {
          [best, nearest] = [away, i];
        }
      }
    });
    return this.labels[nearest] ?? null;
  }
}
