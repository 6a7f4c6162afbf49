/** Mesh files as objects of three.js. Each loader comes when a file of its kind does. */
import * as THREE from 'three';
import type { GLTF } from 'three/addons/loaders/GLTFLoader.js';
import type { Find } from './named_files.js';

export const meshKinds = ['stl', 'obj', 'dae', 'gltf', 'glb', 'vtp'] as const;

const kindOf = (file: string): string => file.slice(file.lastIndexOf('.') + 1).toLowerCase();
const textOf = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);
const bufferOf = (bytes: Uint8Array): ArrayBuffer => bytes.slice().buffer as ArrayBuffer;

/** Files that a mesh names (textures, buffers) as addresses of their bytes. `settled`: when all that was begun is loaded. */
async function managerFor(text: string, find: Find): Promise<{ manager: THREE.LoadingManager; release: () => void; settled: () => Promise<void> }> {
  const names = [...new Set(text.match(/[^"'<>\s]+\.(png|jpe?g|bin|bmp|tga|webp)/gi) ?? [])];
  const found = new Map<string, string>();
  for (const name of names) {
    const bytes = await find(name);
    if (bytes) {
      found.set(name, URL.createObjectURL(new Blob([bytes.slice()])));
    }
  }
  const manager = new THREE.LoadingManager();
  manager.setURLModifier((address) => {
    const name = names.find((one) => address.endsWith(one));
    return address.startsWith('blob:') || address.startsWith('data:') ? address : ((name && found.get(name)) ?? BLANK);
  });
  let isBusy = false;
  manager.onStart = () => (isBusy = true);
  const loaded = new Promise<void>((done) => (manager.onLoad = done));
  return { manager, release: () => found.forEach((address) => URL.revokeObjectURL(address)), settled: () => (isBusy ? loaded : Promise.resolve()) };
}

const BLANK = 'data:image/gif;base64,R0lGODlhAQABAIAAAMzMzAAAACH5BAAAAAAALAAAAAABAAEAAAICRAEAOw==';

/** A picture as a texture, or null where it cannot be read. */
export async function loadPicture(bytes: Uint8Array | null): Promise<THREE.Texture | null> {
  try {
    const image = bytes && (await createImageBitmap(new Blob([bytes.slice()]), { imageOrientation: 'flipY' }));
    const texture = image && new THREE.Texture(image);
    if (texture) {
      Object.assign(texture, { flipY: false, colorSpace: THREE.SRGBColorSpace, wrapS: THREE.RepeatWrapping, wrapT: THREE.RepeatWrapping, needsUpdate: true });
    }
    return texture;
  } catch {
    return null;
  }
}

const SMOOTH = 600_000; // corners that are looked at for smooth normals, about half a second of them: more take too long
const CREASE = 0.6; // radians between faces that stay an edge
const UNITS = 10_000; // radius of a mesh while its corners are compared

/** Round things look round, and edges stay edges. three.js takes corners within 1/100 unit as one: here the unit is small. */
async function smoothed(shape: THREE.BufferGeometry): Promise<THREE.BufferGeometry> {
  const { toCreasedNormals } = await import('three/addons/utils/BufferGeometryUtils.js');
  shape.computeBoundingSphere();
  const radius = shape.boundingSphere!.radius || 1;
  const enlarged = 2 ** Math.round(Math.log2(UNITS / radius)); // a power of two: nothing is rounded
  shape.scale(enlarged, enlarged, enlarged);
  return toCreasedNormals(shape, CREASE).scale(1 / enlarged, 1 / enlarged, 1 / enlarged);
}

/** A mesh without a material of its own gets none: its visual has one. */
const plain = async (shape: THREE.BufferGeometry): Promise<THREE.Object3D> => {
  shape.deleteAttribute('normal'); // STL files have them wrong, or zero, now and then
  if (!shape.index && shape.attributes['position']!.count < SMOOTH) { // faces apart
    return new THREE.Mesh(await smoothed(shape));
  }
  shape.computeVertexNormals();
  return new THREE.Mesh(shape);
};

/** As other things on the stage are made: it takes part in all light, and its shine does not depend on who wrote the file. */
function asStandard(material: THREE.Material): THREE.Material {
  if (!(material instanceof THREE.MeshPhongMaterial || material instanceof THREE.MeshLambertMaterial)) {
    return material;
  }
  const { name, color, map, normalMap, emissive, opacity, transparent, side, vertexColors, alphaTest } = material;
  const shine = material instanceof THREE.MeshPhongMaterial ? material.shininess : 0;
  const roughness = Math.min(0.7, Math.max(0.35, Math.sqrt(2 / (shine + 2))));
  return new THREE.MeshStandardMaterial({ name, color, map, normalMap, emissive, opacity, transparent, side, vertexColors, alphaTest, roughness, metalness: 0.05 });
}

function withStandard(object: THREE.Object3D): THREE.Object3D {
  for (const mesh of meshesIn(object)) {
    mesh.material = Array.isArray(mesh.material) ? mesh.material.map(asStandard) : asStandard(mesh.material);
  }
  return object;
}

async function loadObj(bytes: Uint8Array, find: Find): Promise<THREE.Object3D> {
  const { OBJLoader } = await import('three/addons/loaders/OBJLoader.js');
  const loader = new OBJLoader();
  const text = textOf(bytes);
  const library = /^mtllib\s+(.+)$/m.exec(text)?.[1]?.trim();
  const materials = library ? await find(library) : null;
  if (materials) {
    const { MTLLoader } = await import('three/addons/loaders/MTLLoader.js');
    const words = textOf(materials).replace(/^\s*Tr\s+1(\.0*)?\s*$/gm, ''); // some write 1 for what is not transparent
    const { manager, release, settled } = await managerFor(words, find);
    const library = new MTLLoader(manager).parse(words, '');
    library.preload();
    loader.setMaterials(library);
    await settled();
    release();
  }
  const group = loader.parse(text);
  if (!materials) {
    group.traverse((object) => object instanceof THREE.Mesh && (object.material = new THREE.MeshStandardMaterial({ name: UNPAINTED })));
  }
  return withStandard(group);
}

/** Name of a material that the robot's own colour replaces. */
export const UNPAINTED = 'unpainted';

/** A glTF with all that it names. */
export async function parseGltf(bytes: Uint8Array, find: Find): Promise<GLTF> {
  const { GLTFLoader } = await import('three/addons/loaders/GLTFLoader.js');
  const { manager, release } = await managerFor(bytes[0] === 0x7b ? textOf(bytes) : '', find);
  try {
    const loader = new GLTFLoader(manager);
    if (textOf(bytes).includes('_meshopt_compression"')) {
      loader.setMeshoptDecoder((await import('three/addons/libs/meshopt_decoder.module.js')).MeshoptDecoder);
    }
    return await loader.parseAsync(bufferOf(bytes), '');
  } finally {
    release();
  }
}

/** COLLADA says which way is up and how long a unit is; robots' meshes are in metres with z up, whatever it says of the axis. */
async function loadDae(bytes: Uint8Array, find: Find): Promise<THREE.Object3D> {
  const { ColladaLoader } = await import('three/addons/loaders/ColladaLoader.js');
  const text = textOf(bytes);
  const { manager, release, settled } = await managerFor(text, find);
  const bare = text.replace(/<instance_(camera|light)\b[^>]*?(\/>|>[^]*?<\/instance_\1>)/g, '');
  const made = new ColladaLoader(manager).parse(bare.replace(/<up_axis>[^<]*<\/up_axis>/, '<up_axis>Y_UP</up_axis>'), '');
  if (!made) {
    throw new Error('this COLLADA file cannot be read');
  }
  for (const material of meshesIn(made.scene).flatMap((mesh) => [mesh.material].flat())) {
    if (material.opacity < 0.01) { // exporters confuse 0 and 1 here, and nobody draws what is not seen
      Object.assign(material, { opacity: 1, transparent: false });
    }
  }
  await settled();
  release();
  return withStandard(made.scene);
}

function meshesIn(object: THREE.Object3D): THREE.Mesh[] {
  const list: THREE.Mesh[] = [];
  object.traverse((part) => part instanceof THREE.Mesh && list.push(part));
  return list;
}

/** An object in the file's own frame; throws where the file is broken or of no kind that is known. */
export async function loadMesh(file: string, bytes: Uint8Array, find: Find): Promise<THREE.Object3D> {
  switch (kindOf(file)) {
    case 'stl': {
      const { STLLoader } = await import('three/addons/loaders/STLLoader.js');
      return plain(new STLLoader().parse(bufferOf(bytes)));
    }
    case 'vtp': {
      const { readVtp } = await import('./vtp.js');
      return plain(readVtp(textOf(bytes)));
    }
    case 'obj':
      return loadObj(bytes, find);
    case 'dae':
      return loadDae(bytes, find);
    case 'gltf':
    case 'glb':
      return (await parseGltf(bytes, find)).scene;
    default:
      throw new Error(`${file}: meshes are read from ${meshKinds.map((kind) => kind.toUpperCase()).join(', ')}`);
  }
}
