/**
 * Soft light from the sky, a sun whose shadow falls on everything, a lamp overhead for the shadow at the feet, one at the side for what
 * the sun leaves dark, and one behind that draws the edges.
 */
import * as THREE from 'three';

const REACH = 1.6; // half the side of what the sun lights, in sizes of the skeleton
const CONTACT = 0.3; // height up to which things cast the shadow at the feet

export class Light {
  readonly group = new THREE.Group();
  #sun = new THREE.DirectionalLight(0xfff6e8, 1.9);
  #lamp = new THREE.DirectionalLight(0xffffff, 0.3);
  #side = new THREE.DirectionalLight(0xe8f0ff, 0.8);
  #rim = new THREE.DirectionalLight(0xcfdcff, 1.0);
  #sky = new THREE.HemisphereLight(0xf3f7ff, 0xa29c94, 1.55);
  #ground: THREE.Mesh<THREE.PlaneGeometry, THREE.ShadowMaterial>;

  /** `plain`: one shadow, on the floor, and no light at the side: what a processor without a graphics card can draw. */
  constructor(readonly plain = false) {
    for (const [light, side, radius] of [[this.#sun, plain ? 1024 : 2048, 3], [this.#lamp, 256, 6]] as const) {
      light.castShadow = light === this.#sun || !plain;
      light.shadow.mapSize.set(side, side);
      light.shadow.radius = radius;
      light.shadow.bias = -0.0008;
      light.shadow.normalBias = 0.012;
      const { camera } = light.shadow;
      [camera.left, camera.right, camera.top, camera.bottom, camera.near, camera.far] = [-REACH, REACH, REACH, -REACH, 0.1, 8];
    }
    this.#ground = new THREE.Mesh(new THREE.PlaneGeometry(2 * REACH, 2 * REACH), new THREE.ShadowMaterial({ depthWrite: false }));
    this.#ground.receiveShadow = true;
    this.group.add(this.#sky, this.#sun, this.#sun.target, this.#lamp, this.#lamp.target, this.#side, this.#side.target, this.#rim, this.#rim.target, this.#ground);
  }

  /** Let a bright room be mirrored in what shines, and light all things softly; the sky and the side lamp have less to do then. */
  async reflect(renderer: THREE.WebGLRenderer, scene: THREE.Scene): Promise<void> {
    const { RoomEnvironment } = await import('three/addons/environments/RoomEnvironment.js');
    const room = new RoomEnvironment();
    const maker = new THREE.PMREMGenerator(renderer);
    scene.environment = maker.fromScene(room, 0.04).texture;
    scene.environmentIntensity = 0.38;
    room.dispose();
    maker.dispose();
    this.#sky.intensity = 0.5;
    this.#side.intensity = 0.35;
    this.#sun.intensity = 1.9;
  }

  paint(shadow: number): void {
    this.#ground.material.opacity = shadow;
  }

  dispose(): void {
    this.#sun.dispose();
    this.#lamp.dispose();
    this.#side.dispose();
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
    this.#lamp.target.position.copy(at);
    this.#lamp.position.copy(at).addScaledVector(this.#sky.position, 3);
    this.#lamp.visible = !planar;
    const fall = at[up] + 3 - ground;
    Object.assign(this.#lamp.shadow.camera, { near: fall - CONTACT, far: fall + CONTACT });
    this.#lamp.shadow.camera.updateProjectionMatrix();
    this.#rim.target.position.copy(at);
    this.#rim.position.copy(at).add(up === 'y' ? new THREE.Vector3(-1.6, 1.1, -2) : new THREE.Vector3(-1.6, 2, 1.1));
    this.#rim.visible = !planar;
    this.#side.target.position.copy(at);
    this.#side.position.copy(at).add(up === 'y' ? new THREE.Vector3(-2, 0.6, 1.6) : new THREE.Vector3(-1, -2.2, 0.6));
    this.#side.visible = !planar && !this.plain;
    this.#ground.visible = !planar;
    this.#ground.rotation.x = isFlat ? -Math.PI / 2 : 0;
    this.#ground.position.copy(at);
    this.#ground.position[up] = ground + 0.0005;
  }
}
