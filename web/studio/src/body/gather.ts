/** From the file of a robot to its looks. */
import type { Format } from 'poise-ik';
import { mjcfVisuals } from './mjcf_visuals.js';
import { findNamed, type NamedFile } from './named_files.js';
import { osimVisuals } from './osim_visuals.js';
import { urdfVisuals } from './urdf_visuals.js';
import type { Visual } from './visuals.js';

const textOf = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

/** The shapes that a robot's file describes; those of `files` are there to be included. */
export function visualsOf(format: Format, bytes: Uint8Array, files: readonly NamedFile[]): Visual[] {
  switch (format) {
    case 'urdf':
      return urdfVisuals(textOf(bytes));
    case 'mjcf':
      return mjcfVisuals(textOf(bytes), (name) => {
        const other = findNamed(files, name);
        return other ? textOf(other.bytes) : null;
      });
    case 'osim':
      return osimVisuals(textOf(bytes));
    default:
      return [];
  }
}
