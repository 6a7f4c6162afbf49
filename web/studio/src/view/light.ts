/** Soft light from the sky, a sun whose shadow falls on the floor, and a faint light from behind that draws the edges. */
import * as THREE from 'three';

const REACH = 1.6; // half the side of what the sun lights, in sizes of the skeleton

export class Light {
  readonly group = new THREE.Group();
  #sun = new THREE.DirectionalLight(0xfff6e8, 2.1);
  #rim = new THREE.DirectionalLight(0xbcd2ff, 0.9);
  #sky = new THREE.HemisphereLight(0xf3f7ff, 0x8d8a86, 1.7);
  #ground: THREE.Mesh<THREE.PlaneGeometry, THREE.ShadowMaterial>;

  constructor() {
    this.#sun.castShadow = true;
    this.#sun.shadow.mapSize.set(1024, 1024);
    this.#sun.shadow.radius = 5;
    this.#sun.shadow.bias = -0.0008;
    const { camera } = this.#sun.shadow;
    [camera.left, camera.right, camera.top, camera.bottom, camera.near, camera.far] = [-REACH, REACH, REACH, -REACH, 0.1, 8];
    this.#ground = new THREE.Mesh(new THREE.PlaneGeometry(2 * REACH, 2 * REACH), new THREE.ShadowMaterial({ depthWrite: false }));
    this.#ground.receiveShadow = true;
    this.group.add(this.#sky, this.#sun, this.#sun.target, this.#rim, this.#rim.target, this.#ground);
  }

  paint(shadow: number): void {
    this.#ground.material.opacity = shadow;
  }

  dispose(): void {
    this.#sun.dispose();
    this.#rim.dispose();
    this.#ground.geometry.dispose();
    this.#ground.material.dispose();
  }

  /** From above, over what is looked at; what lies in a plane is lit from its front and casts no shadow. */
  place(up: 'y' | 'z', at: THREE.Vector3, ground: number, planar: boolean): void {
    const isFlat = up === 'y' && !planar;
    const away = planar ? new THREE.Vector3(-0.8, 1, 3) : up === 'y' ? new THREE.Vector3(1.1, 3, 1.5) : new THREE.Vector3(1.2, -1.5, 3);
    this.#sky.position.set(0, up === 'y' ? 1 : 0, up === 'y' ? 0 : 1);
    this.#sun.target.position.copy(at);
    this.#sun.position.copy(at).add(away);
    this.#rim.target.position.copy(at);
    this.#rim.position.copy(at).add(up === 'y' ? new THREE.Vector3(-1.6, 1.1, -2) : new THREE.Vector3(-1.6, 2, 1.1));
    this.#rim.visible = !planar;
    this.#ground.visible = !planar;
    this.#ground.rotation.x = isFlat ? -Math.PI / 2 : 0;
    this.#ground.position.copy(at);
    this.#ground.position[up] = ground + 0.0005;
  }
}
