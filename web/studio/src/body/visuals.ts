/** What a robot looks like: shapes on its bodies, as its file describes them. */
import type { Pose } from 'poise-ik';

export type Colour = readonly [red: number, green: number, blue: number, alpha: number];

/**
 * Sizes in length units of the file. Cylinders, capsules and limbs lie along z; `top` is the radius at the end, where it is another
 * one. A limb is a capsule with ends of two sizes.
 */
export type Form =
  | { kind: 'box'; half: readonly number[] }
  | { kind: 'ellipsoid'; radii: readonly number[] }
  | { kind: 'cylinder' | 'capsule'; radius: number; half: number; top?: number }
  | { kind: 'limb'; radius: number; half: number; top: number }
  | { kind: 'mesh'; file: string; scale: readonly number[]; pose?: Pose };

export interface Visual {
  /** Name of the body that carries it; '' is the world. */
  body: string;
  pose: Pose;
  form: Form;
  colour?: Colour;
  /** The colour also replaces what a mesh brings along. */
  repaints?: boolean;
  /** File of a picture that is laid on the mesh. */
  picture?: string;
}

/** The numbers of an attribute; what is missing or no number is as in `otherwise`. */
export function numbersOf(text: string | null | undefined, otherwise: readonly number[]): number[] {
  const found = (text ?? '').trim().split(/\s+/).map(Number);
  return otherwise.map((x, i) => (text?.trim() && Number.isFinite(found[i]) ? found[i]! : x));
}

/** A document, or null where the text is not well-formed. */
export function parseXml(text: string): Document | null {
  const document = new DOMParser().parseFromString(text, 'application/xml');
  return document.querySelector('parsererror') ? null : document;
}

export const childrenOf = (node: Element, tag: string): Element[] => Array.from(node.children).filter((child) => child.localName === tag);
