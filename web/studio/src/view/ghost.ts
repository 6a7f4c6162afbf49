/**
 * A see-through figure beside the robot, without a shadow: the posture that a stream holds, or an answer that could be taken. However
 * many there are, a pixel shows the nearest surface of them alone: their depths are drawn first, without colour.
 */
import { Kinematics } from 'poise-ik';
import * as THREE from 'three';
import { meshesOf } from '../body/body.js';
import { Figure } from './figure.js';
import type { Session } from '../session.js';
import type { Viewport } from '../viewport.js';

const COLOUR = '#4aa8ff';
const AFTER = 10; // what is see-through otherwise
const BACK = { transparent: true, polygonOffset: true, polygonOffsetFactor: 1, polygonOffsetUnits: 4 }; // where the robot is itself, it is seen

/** The figure once, in one material. */
class Layer {
  bones: Figure;
  body = new THREE.Group();

  constructor(
    { model, size }: { model: Session['model']; size: number },
    readonly material: THREE.Material,
    readonly order: number,
    readonly world: THREE.Object3D,
  ) {
    this.bones = new Figure(model, size);
    this.bones.paint({ bone: COLOUR, ball: COLOUR, tip: COLOUR, picked: COLOUR });
    meshesOf(this.bones.group).forEach((mesh) => [mesh.material].flat().forEach((own) => own.dispose()));
    this.#fade(this.bones.group);
    world.add(this.bones.group, this.body);
  }

  #fade(group: THREE.Object3D): void {
    for (const mesh of meshesOf(group)) {
      mesh.castShadow = false;
      mesh.material = this.material;
      mesh.renderOrder = this.order;
    }
  }

  /** Copies of the robot's shapes. */
  wear(body: THREE.Object3D): void {
    this.body.removeFromParent();
    this.body = body.clone(true) as THREE.Group;
    this.#fade(this.body);
    this.world.add(this.body);
  }

  dispose(): void {
    this.body.removeFromParent(); // its shapes are the robot's
    this.bones.dispose();
    this.material.dispose();
  }
}

export class Ghost {
  #kinematics: Kinematics;
  #layers: Layer[];
  #meshes = -1; // of the robot when its shapes were copied

  constructor(
    readonly session: Session,
    readonly viewport: Viewport,
  ) {
    this.#kinematics = new Kinematics(session.model);
    const figure = { model: session.model, size: session.size() };
    const materials = [
      new THREE.MeshBasicMaterial({ colorWrite: false, ...BACK }),
      new THREE.MeshStandardMaterial({ color: COLOUR, roughness: 0.8, opacity: 0.4, depthWrite: false, ...BACK }),
    ];
    this.#layers = materials.map((material, i) => new Layer(figure, material, AFTER + i, viewport.world));
  }

  /** Take the pose of the posture. Shapes of the robot may still be arriving: they are copied when there are more. */
  show(posture: readonly number[]): void {
    const { body, look, meshCount } = this.viewport;
    const isNew = body && meshCount !== this.#meshes;
    this.#meshes = meshCount;
    const { poses, toolPoses } = this.#kinematics.update(posture);
    for (const layer of this.#layers) {
      if (isNew) {
        layer.wear(body);
      }
      layer.bones.group.visible = look === 'bones' || !body;
      layer.body.visible = look !== 'bones';
      layer.bones.place(poses, toolPoses);
      this.session.model.joints.forEach(({ index }) => {
        const holder = layer.body.children[index]; // as a Body has them
        holder?.position.fromArray(poses, 7 * index);
        holder?.quaternion.fromArray(poses, 7 * index + 3);
      });
    }
  }

  /** Where the last body's origin is: three numbers. */
  get last(): number[] {
    return [...this.#kinematics.poses.slice(-7, -4)];
  }

  dispose(): void {
    this.#layers.forEach((layer) => layer.dispose());
    this.#kinematics.dispose();
  }
}
