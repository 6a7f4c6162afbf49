/** Limits as shapes: the sector that a hinge may turn in, the way of a slide, the cone of a swing, each with its present value. */
import type { Joint, Model } from 'poise-ik';
import * as THREE from 'three';

interface Gauge {
  joint: Joint;
  group: THREE.Group;
  needle: THREE.Object3D;
}

const STEPS = 48;

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
    let needle: THREE.Object3D = new THREE.Object3D();
    if (joint.type === 'revolute' && joint.nq === 1) {
      const [lower, upper] = this.#range(joint).map((x, i) => (Number.isFinite(x) ? x : i === 0 ? -Math.PI : Math.PI)) as [number, number];
      const frame = axisFrame(joint.axis);
      const sector = new THREE.Mesh(new THREE.RingGeometry(0.55 * this.radius, this.radius, STEPS, 1, lower, Math.min(upper - lower, 2 * Math.PI)), this.#material);
      sector.quaternion.copy(frame);
      needle = this.#needle(new THREE.Vector3(this.radius * 1.08, 0, 0));
      const holder = new THREE.Group();
      holder.quaternion.copy(frame);
      holder.add(needle);
      group.add(sector, holder);
    } else if (joint.type === 'prismatic' && joint.nq === 1) {
      const [lower, upper] = this.#range(joint).map((x, i) => (Number.isFinite(x) ? x : i === 0 ? -this.radius : this.radius)) as [number, number];
      const axis = new THREE.Vector3(...joint.axis).normalize();
      const way = [axis.clone().multiplyScalar(lower), axis.clone().multiplyScalar(upper)];
      group.add(new THREE.Line(new THREE.BufferGeometry().setFromPoints(way), this.#line));
      needle = new THREE.Mesh(new THREE.SphereGeometry(0.12 * this.radius, 10, 8), this.#material);
      group.add(needle);
    } else if (joint.type === 'swing_twist' && Number.isFinite(joint.swing[0])) {
      group.add(this.#cone(joint));
      needle = this.#needle(new THREE.Vector3(0, 0, this.radius * 1.08));
      const holder = new THREE.Group();
      holder.quaternion.set(...(joint.axes as unknown as [number, number, number, number]));
      holder.add(needle);
      group.add(holder);
    } else {
      return null;
    }
    return { joint, group, needle };
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
    const cone = new THREE.Mesh(shape, this.#material);
    cone.quaternion.set(...(joint.axes as unknown as [number, number, number, number]));
    return cone;
  }

  /** Follow the skeleton. `shown`: which joints' limits are drawn. */
  place(poses: Float64Array, q: ArrayLike<number>, shown: (joint: number) => boolean): void {
    for (const { joint, group, needle } of this.#gauges) {
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
      const value = q[joint.q] ?? 0;
      if (joint.type === 'revolute') {
        needle.rotation.z = value;
      } else if (joint.type === 'prismatic') {
        needle.position.set(...(joint.axis as [number, number, number])).normalize().multiplyScalar(value);
      } else {
        const b = q[joint.q + 1] ?? 0;
        const length = Math.hypot(value, b);
        needle.quaternion.setFromAxisAngle(new THREE.Vector3(value / (length || 1), b / (length || 1), 0), length);
      }
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
