/** The visual shapes of a URDF. */
import { type Colour, childrenOf, type Form, numbersOf, parseXml, type Visual } from './visuals.js';
import { turnOf } from './turns.js';

const materialOf = (node: Element): Colour | undefined => {
  const text = childrenOf(node, 'color')[0]?.getAttribute('rgba');
  return text ? (numbersOf(text, [0.7, 0.7, 0.7, 1]) as unknown as Colour) : undefined;
};

function formOf(geometry: Element): Form | null {
  const node = geometry.firstElementChild;
  const number = (name: string) => numbersOf(node?.getAttribute(name), [0])[0]!;
  switch (node?.localName) {
    case 'box':
      return { kind: 'box', half: numbersOf(node.getAttribute('size'), [0, 0, 0]).map((x) => x / 2) };
    case 'sphere':
      return { kind: 'ellipsoid', radii: [number('radius'), number('radius'), number('radius')] };
    case 'cylinder':
    case 'capsule':
      return { kind: node.localName, radius: number('radius'), half: number('length') / 2 };
    case 'mesh':
      return { kind: 'mesh', file: node.getAttribute('filename') ?? '', scale: numbersOf(node.getAttribute('scale'), [1, 1, 1]) };
    default:
      return null;
  }
}

export function urdfVisuals(text: string): Visual[] {
  const robot = parseXml(text)?.documentElement;
  if (!robot) {
    return [];
  }
  const named = new Map(childrenOf(robot, 'material').map((node) => [node.getAttribute('name') ?? '', materialOf(node)]));
  return childrenOf(robot, 'link').flatMap((link) =>
    childrenOf(link, 'visual').flatMap((visual): Visual[] => {
      const geometry = childrenOf(visual, 'geometry')[0];
      const form = geometry && formOf(geometry);
      const origin = childrenOf(visual, 'origin')[0];
      const material = childrenOf(visual, 'material')[0];
      const colour = material && (materialOf(material) ?? named.get(material.getAttribute('name') ?? ''));
      const position = numbersOf(origin?.getAttribute('xyz'), [0, 0, 0]) as [number, number, number];
      const rotation = turnOf('XYZ', numbersOf(origin?.getAttribute('rpy'), [0, 0, 0])); // about fixed axes
      return form ? [{ body: link.getAttribute('name') ?? '', pose: { position, rotation }, form, ...(colour ? { colour } : {}) }] : [];
    }),
  );
}
