/**
 * Limits as shapes: the sector that each angle may turn in, the way of a slide, the cone of a swing, each with its present
 * value. The three angles of a ball joint are drawn about its axes, one by one.
 */
import type { Joint, Model } from 'poise-ik';
import * as THREE from 'three';

interface Gauge {
  joint: Joint;
  group: THREE.Group;
  /** Move the needles to the joint's values. */
  show(q: ArrayLike<number>): void;
}

type Axis = readonly [number, number, number];

const STEPS = 48;
const unit = { x: [1, 0, 0], y: [0, 1, 0], z: [0, 0, 1] } as const;

/** A frame whose z is the joint's axis. */
function axisFrame(axis: readonly number[]): THREE.Quaternion {
  const z = new THREE.Vector3(...(axis as [number, number, number])).normalize();
  return new THREE.Quaternion().setFromUnitVectors(new THREE.Vector3(0, 0, 1), z);
}

export class Limits {
  readonly group = new THREE.Group();
  #gauges: Gauge[] = [];
  #material = new THREE.MeshBasicMaterial({ transparent: true, opacity: 0.22, side: THREE.DoubleSide, depthWrite: false });
  #line = new THREE.LineBasicMaterial({ transparent: true, opacity: 0.9 });

  constructor(
    readonly model: Model,
    readonly radius: number,
  ) {
    for (const joint of model.joints) {
      const gauge = this.#make(joint);
      if (gauge) {
        this.#gauges.push(gauge);
        this.group.add(gauge.group);
      }
    }
  }

  paint(colour: string): void {
    this.#material.color.set(colour);
    this.#line.color.set(colour);
  }

  #range(joint: Joint, i = 0): [number, number] {
    return [this.model.lower[joint.q + i] ?? -Infinity, this.model.upper[joint.q + i] ?? Infinity];
  }

  #make(joint: Joint): Gauge | null {
    const group = new THREE.Group();
    const { axes } = joint;
    const frame = new THREE.Quaternion(axes[0], axes[1], axes[2], axes[3]);
    const about = ([x, y, z]: Axis): Axis => new THREE.Vector3(x, y, z).applyQuaternion(frame).toArray();
    switch (joint.type) {
      case 'revolute':
        return this.#sectors(joint, group, [joint.axis], true);
      case 'universal':
        return this.#sectors(joint, group, [joint.axis, joint.axis2], false);
      case 'prismatic':
        return this.#slide(joint, group);
      case 'swing_twist':
        if (Number.isFinite(joint.swing[0])) {
          return this.#swing(joint, group, frame);
        }
        return this.#sectors(joint, group, [about([1, 0, 0]), about([0, 1, 0]), about([0, 0, 1])], false);
      case 'ball_expmap':
        return this.#sectors(joint, group, [about([1, 0, 0]), about([0, 1, 0]), about([0, 0, 1])], false);
      case 'ball_euler':
        return this.#sectors(joint, group, [...joint.order].map((letter) => about(unit[letter as keyof typeof unit])), false);
      default:
        return null;
    }
  }

  /** A sector for each coordinate about its axis. `open`: those without limits, too, as full rings. */
  #sectors(joint: Joint, group: THREE.Group, list: readonly Axis[], open: boolean): Gauge | null {
    const needles: { at: number; needle: THREE.Object3D }[] = [];
    list.forEach((axis, i) => {
      const range = this.#range(joint, i);
      if (i >= joint.nq || (!open && !range.every(Number.isFinite))) {
        return;
      }
      const [lower, upper] = [Math.max(range[0], -Math.PI), Math.min(range[1], Math.PI)];
      const holder = new THREE.Group();
      holder.quaternion.copy(axisFrame(axis));
      const needle = this.#needle(new THREE.Vector3(this.radius * 1.08, 0, 0));
      const outer = this.radius * (1 - 0.15 * i);
      holder.add(new THREE.Mesh(new THREE.RingGeometry(0.55 * outer, outer, STEPS, 1, lower, upper - lower), this.#material), needle);
      group.add(holder);
      needles.push({ at: joint.q + i, needle });
    });
    const show = (q: ArrayLike<number>) => needles.forEach(({ at, needle }) => (needle.rotation.z = q[at] ?? 0));
    return needles.length > 0 ? { joint, group, show } : null;
  }

  #slide(joint: Joint, group: THREE.Group): Gauge {
    const [lower, upper] = this.#range(joint);
    const axis = new THREE.Vector3(...joint.axis).normalize();
    const end = (x: number, otherwise: number) => axis.clone().multiplyScalar(Number.isFinite(x) ? x : otherwise);
    const way = [end(lower, -this.radius), end(upper, this.radius)];
    const needle = new THREE.Mesh(new THREE.SphereGeometry(0.12 * this.radius, 10, 8), this.#material);
    group.add(new THREE.Line(new THREE.BufferGeometry().setFromPoints(way), this.#line), needle);
    return { joint, group, show: (q) => needle.position.copy(axis).multiplyScalar(q[joint.q] ?? 0) };
  }

  #swing(joint: Joint, group: THREE.Group, frame: THREE.Quaternion): Gauge {
    const needle = this.#needle(new THREE.Vector3(0, 0, this.radius * 1.08));
    const holder = new THREE.Group();
    holder.quaternion.copy(frame);
    holder.add(this.#cone(joint), needle);
    group.add(holder);
    const axis = new THREE.Vector3();
    const show = (q: ArrayLike<number>) => {
      const [a, b] = [q[joint.q] ?? 0, q[joint.q + 1] ?? 0];
      const length = Math.hypot(a, b) || 1;
      needle.quaternion.setFromAxisAngle(axis.set(a / length, b / length, 0), Math.hypot(a, b));
    };
    return { joint, group, show };
  }

  #needle(end: THREE.Vector3): THREE.Object3D {
    return new THREE.Line(new THREE.BufferGeometry().setFromPoints([new THREE.Vector3(), end]), this.#line);
  }

  /** Where the twist axis may point: exp(a x + b y) z for (a, b) on the swing ellipse. */
  #cone(joint: Joint): THREE.Object3D {
    const points = [new THREE.Vector3()];
    const faces: number[] = [];
    for (let i = 0; i <= STEPS; i++) {
      const angle = (2 * Math.PI * i) / STEPS;
      const [a, b] = [joint.swing[0] * Math.cos(angle), joint.swing[1] * Math.sin(angle)];
      const length = Math.hypot(a, b);
      const turn = new THREE.Quaternion().setFromAxisAngle(new THREE.Vector3(a / length, b / length, 0), length);
      points.push(new THREE.Vector3(0, 0, this.radius).applyQuaternion(turn));
      if (i > 0) {
        faces.push(0, i, i + 1);
      }
    }
    const shape = new THREE.BufferGeometry().setFromPoints(points);
    shape.setIndex(faces);
    return new THREE.Mesh(shape, this.#material);
  }

  /** Follow the skeleton. `shown`: which joints' limits are drawn. */
  place(poses: Float64Array, q: ArrayLike<number>, shown: (joint: number) => boolean): void {
    for (const { joint, group, show } of this.#gauges) {
      group.visible = shown(joint.index);
      if (!group.visible) {
        continue;
      }
      const { position, rotation } = joint.offset;
      group.position.set(...(position as [number, number, number]));
      group.quaternion.set(...(rotation as [number, number, number, number]));
      if (joint.parent >= 0) {
        const at = new THREE.Vector3().fromArray(poses, 7 * joint.parent);
        const turn = new THREE.Quaternion().fromArray(poses, 7 * joint.parent + 3);
        group.position.applyQuaternion(turn).add(at);
        group.quaternion.premultiply(turn);
      }
      show(q);
    }
  }

  dispose(): void {
    this.group.removeFromParent();
    this.group.traverse((object) => {
      if (object instanceof THREE.Mesh || object instanceof THREE.Line) {
        object.geometry.dispose();
      }
    });
    this.#material.dispose();
    this.#line.dispose();
  }
}
