/** What stands on a stage, how its last frame went, and what of it is kept. */
import type { Carried, Clip, GoalError, Loop, Markers, Method, Model, Outcome, Placement, Posture, Scale } from 'poise-ik';
import type { Target } from './targets.js';

export type Mode = 'reach' | 'express';

/** What undo and links keep. */
export interface Saved {
  q: number[];
  targets: Target[];
  locked: number[];
  method: Method;
  mode: Mode;
  posture: number[];
  time: number;
  /** Seconds of the timeline, where only keyframes make one. */
  length?: number;
  range?: Range | null;
  /** The goals are part of the motion, and rest: which of them acted before. */
  baked?: boolean[];
}

/** When goals act on a motion, in seconds of the timeline; they come and go over the fades, which lie inside. */
export interface Range {
  from: number;
  to: number;
  fadeIn: number;
  fadeOut: number;
}

/** How the last frame went. */
export interface Frame {
  milliseconds: number;
  /** '' where there was nothing to solve. */
  outcome: Outcome | '';
  /** Of the solver; of the expressive one, evaluations. */
  iterations: number;
  /** Numbers of q at their limits while goals are missed; whether that matters, `session.hindrance` knows. */
  held: number[];
  /** Largest errors of the user's goals, in length units and radians. */
  length: number;
  angle: number;
  errors: GoalError[];
  /** The pose was found from another start than the one before it. */
  isElsewhere?: boolean;
}

/** Nothing was solved. */
export const atRest = (): Frame => ({ milliseconds: 0, outcome: '', iterations: 0, held: [], length: 0, angle: 0, errors: [] });

/** What else the files that are shown hold: robots by their files, animations of a glTF by their names. */
export interface Choices {
  robots: string[];
  robot: string;
  /** Motions and recordings, by their files. */
  motions: string[];
  motion: string;
  animations: string[];
  animation: number;
}

export interface Stage {
  title: string;
  /** The file of the user that holds the skeleton as it stands here. */
  file?: string;
  model: Model;
  scale: Scale;
  postures: Posture[];
  placements: Placement[];
  /** What closes loops of the skeleton. */
  loops?: readonly Loop[];
  clip: Clip | null;
  markers: Markers | null;
  /** What its file holds beside, such as the skin: it goes on to a file of the same kind. */
  carried?: Carried | null;
  /** The name of a motion that was brought onto the skeleton; left out: it is the file's own, or there is none. */
  motion?: string;
  /** Where to begin; left out: the nearest to neutral within limits. */
  q?: ArrayLike<number>;
  choices?: Choices;
  /** It was asked to move as a whole, also where its file fixes it in place. */
  floating?: boolean;
  /** Names of the files that it was read from: meshes are not among them. */
  read?: string[];
  mode?: Mode;
  targets?: Target[];
}
