/** What stands on a stage, how its last frame went, and what of it is kept. */
import type { Carried, Clip, Finding, GoalError, Loop, MarkerError, Markers, Method, Model, Outcome, Pair, Placement, Posture, Scale, Shape, UpSource, VerdictLevel } from 'poise-ik';
import type { RobotFile } from './body/mesh_shapes_job.js';
import type { RecordingJob } from './recording/recording_job.js';
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

/** A recording that was followed as a whole. */
export interface Tracked {
  clip: Clip;
  /** Distances of markers from their places, frame by frame; which of them count, and what comes of them by marker. */
  errors: Float64Array;
  counted: Uint8Array;
  byMarker: readonly MarkerError[];
  /** By frame: see `Held`. */
  held: Uint8Array;
}

/** What the library says of a motion that was made: every row of its verdict. */
export interface Judged {
  /** Of what: a recording that was followed, a motion that was put on another skeleton, one that goals were baked into, or how a figure stands. */
  what: 'fit' | 'retargeting' | 'baking' | 'stance';
  verdict: VerdictLevel;
  /** The worst first. */
  findings: readonly Finding[];
  /** What was measured, a line each. */
  figures: readonly string[];
}

/** A motion that was made of one that was judged before is no better than that: what speaks against the first stands behind what speaks against the second. */
export function judgedAfter(judged: Judged, before: Judged | null): Judged {
  const levels = ['good', 'doubtful', 'failed'] as const;
  const worse = Math.max(...[judged.verdict, before?.verdict ?? 'good'].map((level) => levels.indexOf(level)));
  const doubts = before?.findings.filter(({ level, kind }) => level !== 'good' || kind === 'joint') ?? [];
  return { ...judged, verdict: levels[worse]!, findings: [...judged.findings, ...doubts] };
}

/** Where bodies end. */
export interface Bounds {
  shapes: readonly Shape[];
  /** Bodies that may touch. */
  excluded: readonly Pair[];
  /** Shapes that were not read: meshes, until they are covered. */
  shapesSkipped: number;
}

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
  /** The file of the user that holds the skeleton as it stands here, */
  file?: string;
  /** and what is read of it. */
  robot?: RobotFile;
  model: Model;
  scale: Scale;
  /** What tells which axis points up. */
  upBy: UpSource | 'user';
  postures: Posture[];
  placements: Placement[];
  /** What closes loops of the skeleton. */
  loops?: readonly Loop[];
  /** Its collision shapes; left out: its kind of file has none. */
  bounds?: Bounds;
  clip: Clip | null;
  markers: Markers | null;
  /** How the markers were followed when they came: from their file, with all that its fit tells. */
  followed?: Omit<RecordingJob, 'compiled'>;
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
