/** What a skeleton wears: shapes on its bodies, or the skin of a character. */
import type * as THREE from 'three';
import type { Part } from '../view/figure.js';

/** solid: shapes alone; x-ray: see-through, with bones inside; bones: no shapes. */
export type Look = 'solid' | 'xray' | 'bones';

const SEEN_THROUGH = 0.28; // opacity

export interface Looks {
  /** In the model's space. */
  readonly group: THREE.Group;
  readonly isEmpty: boolean;
  /** Too little of it is there to stand for the skeleton. */
  readonly isSparse?: boolean;
  /** Follow the bodies: seven numbers each. */
  place(poses: Float64Array): void;
  setLook(look: Look): void;
  /** Show a body as picked; -1: none. */
  select(body: number, colour: string): void;
  /** Tint bodies whose joints limits hold, or that collide. */
  hold(bodies: readonly number[], colour: string): void;
  pick(ray: THREE.Raycaster): { part: Part; at: THREE.Vector3 } | null;
  /** Corners of boxes around it, in the model's space: three numbers each. */
  corners(): number[];
  dispose(): void;
}

/** Draw meshes solid, or see-through. */
export function lookThrough(meshes: readonly THREE.Mesh[], look: Look): void {
  for (const mesh of meshes) {
    mesh.castShadow = true;
    for (const material of [mesh.material].flat()) {
      const own = (material.userData['opacity'] ??= material.opacity) as number;
      const isGlass = (material.userData['transparent'] ??= material.transparent) as boolean; // by its texture
      material.opacity = look === 'xray' ? SEEN_THROUGH * own : own;
      material.transparent = isGlass || material.opacity < 1;
      material.depthWrite = look !== 'xray';
    }
  }
}
