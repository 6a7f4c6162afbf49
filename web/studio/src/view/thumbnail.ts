/** Small pictures of scenes, drawn as the stage draws them. */
import type { Poise } from 'poise-ik';
import * as THREE from 'three';
import { Body } from '../body/body.js';
import { builtInLooks } from '../body/built_in_looks.js';
import { isPlanar, openScene } from '../stages.js';
import type { Colours } from '../theme.js';
import { plainBackdrop } from './backdrop.js';
import { Figure } from './figure.js';
import { frame } from './framing.js';
import { Light } from './light.js';

const [WIDTH, HEIGHT] = [240, 160];
const SHARP = 2; // drawn so many times larger, for clean edges

/** What a scene shows, with what to give back. */
async function stand(poise: Poise, id: string, colours: Colours): Promise<{ scene: THREE.Scene; camera: THREE.Camera; dispose(): void }> {
  const session = openScene(poise, id);
  const size = session.size();
  const planar = isPlanar(id);
  const up = planar || session.stage.scale.up === 'y' ? 'y' : 'z';
  const scene = new THREE.Scene();
  const world = new THREE.Group();
  const light = new Light();
  const figure = new Figure(session.model, size);
  const body = new Body(session.model);
  await body.add(builtInLooks(id, session.model, size), async () => null, () => {});
  session.update();
  const { poses, toolPoses } = session.kinematics;
  figure.paint(colours);
  figure.place(poses, toolPoses);
  figure.group.visible = body.isEmpty;
  body.setLook('solid');
  body.place(poses);
  world.add(figure.group, body.group);
  world.scale.setScalar(1 / size);
  scene.background = plainBackdrop(colours.stage, colours.glow);
  scene.add(world, light.group);
  const points = session.standing().concat(body.isEmpty ? [] : body.corners()).map((x) => x / size);
  const camera = new THREE.PerspectiveCamera(30, WIDTH / HEIGHT, 0.01, 100);
  const direction = planar ? new THREE.Vector3(0, 0, 1) : up === 'y' ? new THREE.Vector3(0.75, 0.35, 1) : new THREE.Vector3(1, -1.1, 0.55);
  camera.up.set(0, up === 'y' ? 1 : 0, up === 'y' ? 0 : 1);
  const { target, position } = frame(points, direction, camera.up, camera, 0.86);
  camera.position.copy(position);
  camera.lookAt(target);
  const lowest = points.filter((_, i) => i % 3 === (up === 'y' ? 1 : 2)).reduce((least, x) => Math.min(least, x), Infinity);
  light.place(up, target, lowest, planar);
  light.paint(colours.shadow);
  const dispose = () => [figure, body, light, session].forEach((part) => part.dispose());
  return { scene, camera, dispose };
}

/** The address of a picture of a scene; revoke it when it is no longer shown. */
export async function thumbnailOf(poise: Poise, renderer: THREE.WebGLRenderer, id: string, colours: Colours): Promise<string> {
  const { scene, camera, dispose } = await stand(poise, id, colours);
  const [width, height] = [SHARP * WIDTH, SHARP * HEIGHT];
  const target = new THREE.WebGLRenderTarget(width, height, { colorSpace: THREE.SRGBColorSpace });
  const pixels = new Uint8Array(4 * width * height);
  try {
    renderer.setRenderTarget(target);
    renderer.render(scene, camera);
    renderer.readRenderTargetPixels(target, 0, 0, width, height, pixels);
  } finally {
    renderer.setRenderTarget(null);
    target.dispose();
    dispose();
  }
  const picture = new OffscreenCanvas(width, height);
  const image = new ImageData(width, height);
  for (let y = 0; y < height; y++) {
    image.data.set(pixels.subarray(4 * width * y, 4 * width * (y + 1)), 4 * width * (height - 1 - y)); // upside down
  }
  picture.getContext('2d')!.putImageData(image, 0, 0);
  return URL.createObjectURL(await picture.convertToBlob({ type: 'image/webp' }));
}
