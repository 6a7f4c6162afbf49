/** VTP, polygons of VTK, as OpenSim keeps its bones: points, polygons and strips, as text. */
import * as THREE from 'three';
import { childrenOf, parseXml } from './visuals.js';

const WHITE = /\s+/;

function numbersIn(node: Element | undefined): number[] {
  if (!node) {
    return [];
  }
  if ((node.getAttribute('format') ?? 'ascii') !== 'ascii') {
    throw new Error(`a VTP file of the format ${node.getAttribute('format')}: only text (ascii) is read`);
  }
  const text = node.textContent?.trim() ?? '';
  return text === '' ? [] : text.split(WHITE).map(Number);
}

/** Lists of points: <Polys> and <Strips> have where each of theirs ends. */
function listsIn(piece: Element, tag: string): number[][] {
  const arrays = childrenOf(piece, tag).flatMap((node) => childrenOf(node, 'DataArray'));
  const named = (name: string) => numbersIn(arrays.find((array) => array.getAttribute('Name') === name));
  const [connected, ends] = [named('connectivity'), named('offsets')];
  return ends.map((end, i) => connected.slice(ends[i - 1] ?? 0, end));
}

const fan = (list: readonly number[]): number[] => list.slice(2).flatMap((point, i) => [list[0]!, list[i + 1]!, point]);
const strip = (list: readonly number[]): number[] => list.slice(2).flatMap((point, i) => (i % 2 === 0 ? [list[i]!, list[i + 1]!, point] : [list[i + 1]!, list[i]!, point]));

/** Its triangles, smooth; throws where it is something else. */
export function readVtp(text: string): THREE.BufferGeometry {
  const pieces = Array.from(parseXml(text)?.getElementsByTagName('Piece') ?? []);
  if (pieces.length === 0) {
    throw new Error('this VTP file cannot be read: it has no <Piece> of polygons');
  }
  const [points, corners]: [number[], number[]] = [[], []];
  for (const piece of pieces) {
    const first = points.length / 3;
    const array = childrenOf(piece, 'Points').flatMap((node) => childrenOf(node, 'DataArray'))[0];
    const own = [...listsIn(piece, 'Polys').flatMap(fan), ...listsIn(piece, 'Strips').flatMap(strip)];
    numbersIn(array).forEach((x) => points.push(x));
    own.forEach((point) => corners.push(first + point));
  }
  const shape = new THREE.BufferGeometry();
  shape.setAttribute('position', new THREE.Float32BufferAttribute(points, 3));
  shape.setIndex(corners.filter((point) => point < points.length / 3).length === corners.length ? corners : []);
  shape.computeVertexNormals();
  return shape;
}
