/** The virtual character over the robot: the posture that a stream holds, before it is solved and filtered, see-through. */
import { Kinematics } from 'poise-ik';
import * as THREE from 'three';
import { meshesOf } from '../body/body.js';
import { Figure } from './figure.js';
import type { Session } from '../session.js';
import type { Viewport } from '../viewport.js';

const COLOUR = '#4aa8ff';
const OPACITY = 0.32;

/** See-through, without a shadow, and not in the way of what lies behind it. */
function fade(group: THREE.Object3D, material?: THREE.Material): void {
  for (const mesh of meshesOf(group)) {
    mesh.castShadow = false;
    mesh.material = material ?? mesh.material;
    for (const one of [mesh.material].flat()) {
      Object.assign(one, { opacity: OPACITY, transparent: true, depthWrite: false });
    }
  }
}

export class Ghost {
  #kinematics: Kinematics;
  #bones: Figure;
  #body = new THREE.Group();
  #meshes = -1; // of the robot when its shapes were copied
  #material = new THREE.MeshStandardMaterial({ color: COLOUR, roughness: 0.8 });

  constructor(
    readonly session: Session,
    readonly viewport: Viewport,
  ) {
    this.#kinematics = new Kinematics(session.model);
    this.#bones = new Figure(session.model, session.size());
    this.#bones.paint({ bone: COLOUR, ball: COLOUR, tip: COLOUR, picked: COLOUR });
    fade(this.#bones.group);
    viewport.world.add(this.#bones.group, this.#body);
  }

  /** Take the pose of the posture. Shapes of the robot may still be arriving: they are copied when there are more. */
  show(posture: readonly number[]): void {
    const { body, look, meshCount, world } = this.viewport;
    if (body && meshCount !== this.#meshes) {
      this.#meshes = meshCount;
      this.#body.removeFromParent();
      this.#body = body.clone(true);
      fade(this.#body, this.#material);
      world.add(this.#body);
    }
    this.#kinematics.update(posture);
    this.#bones.group.visible = look === 'bones' || !body;
    this.#body.visible = look !== 'bones';
    this.#bones.place(this.#kinematics.poses, this.#kinematics.toolPoses);
    this.session.model.joints.forEach(({ index }) => {
      const holder = this.#body.children[index]; // as a Body has them
      holder?.position.fromArray(this.#kinematics.poses, 7 * index);
      holder?.quaternion.fromArray(this.#kinematics.poses, 7 * index + 3);
    });
  }

  /** Where the last body's origin is: three numbers. */
  get last(): number[] {
    return [...this.#kinematics.poses.slice(-7, -4)];
  }

  dispose(): void {
    this.#body.removeFromParent(); // its shapes are the robot's
    this.#material.dispose();
    this.#bones.dispose();
    this.#kinematics.dispose();
  }
}
