/** What the page asks of the worker that follows recordings, and what it answers. Everything here can be copied between them. */
import { Clip, type Finding, type Format, type MarkerError, Markers, type Placement, type Poise, type RecordingOptions, type RecordingProgress, type Scale, type TrackSummary, type VerdictLevel, type Warning } from 'poise-ik';

/** Frames that do not count: markers could not be trusted and the last good pose is held, or nobody is there yet or any longer. */
export const Held = { no: 0, doubted: 1, away: 2 } as const;

export interface MarkerNumbers {
  labels: readonly string[];
  positions: Float64Array;
  rate: number;
  scale: Scale;
  firstFrame: number;
}

export interface ClipNumbers {
  frames: number;
  nq: number;
  frameTime: number;
  startTime: number;
  q: Float64Array;
}

export interface RecordingJob {
  /** The engine, compiled. */
  compiled: WebAssembly.Module;
  /** The skeleton with its places of markers as poise JSON; null: the built-in body. */
  skeleton: Uint8Array | null;
  /** Of the file that it was read from: an OpenSim model has its own rules. */
  format?: Format;
  /** A file, or markers in the skeleton's units. */
  recording: { name: string; bytes: Uint8Array } | MarkerNumbers;
  options: Omit<RecordingOptions, 'onProgress'>;
}

/** A recording that was followed, with the verdict of the library. */
export interface TrackedAnswer {
  kind: 'tracked';
  clip: ClipNumbers;
  markers: MarkerNumbers;
  /** As poise JSON, where it is not the one that was given. */
  model: Uint8Array | null;
  placements: Placement[];
  scale: Scale;
  distances: Float64Array;
  /** Which of these the errors are of, and these by marker. */
  counted: Uint8Array;
  byMarker: MarkerError[];
  /** By frame: see `Held`. */
  held: Uint8Array;
  verdict: VerdictLevel;
  findings: Finding[];
  summary: TrackSummary;
  warnings: Warning[];
  warningsDropped: number;
}

/** A recording that no body goes with. */
export interface BareAnswer {
  kind: 'bare';
  markers: MarkerNumbers;
  /** Of the markers, as they stand now. */
  scale: Scale;
  why: string;
  warnings: Warning[];
  warningsDropped: number;
}

export type RecordingAnswer =
  | ({ kind: 'progress' } & RecordingProgress)
  | TrackedAnswer
  | BareAnswer;

export function markerNumbers(markers: Markers): MarkerNumbers {
  const { labels, rate, scale, firstFrame } = markers;
  return { labels, positions: markers.positions.slice(), rate, scale, firstFrame };
}

export function markersOf(poise: Poise, { labels, positions, rate, scale, firstFrame }: MarkerNumbers): Markers {
  return Markers.create(poise, labels, positions, rate, scale, firstFrame);
}

export function clipNumbers(clip: Clip): ClipNumbers {
  const { frames, nq, frameTime, startTime } = clip;
  return { frames, nq, frameTime, startTime, q: clip.q.slice() };
}

/** Which frames do not count, by which ones the tracker held. */
export function heldFrames(flags: readonly boolean[]): Uint8Array {
  const [first, last] = [flags.indexOf(false), flags.lastIndexOf(false)];
  return Uint8Array.from(flags, (isHeld, f) => (!isHeld ? Held.no : f < first || f > last ? Held.away : Held.doubted));
}

/** The first frame that counts. */
export const firstCounted = (held: Uint8Array): number => Math.max(0, held.indexOf(Held.no));

/** The motion; before anybody is there it waits in the first pose that counts. */
export function clipOf(poise: Poise, { frames, nq, frameTime, startTime, q }: ClipNumbers, held: Uint8Array): Clip {
  const clip = Clip.create(poise, { frames, nq }, frameTime, startTime);
  const first = firstCounted(held);
  clip.q.set(q);
  for (let f = 0; f < first; f++) {
    clip.q.copyWithin(f * nq, first * nq, (first + 1) * nq);
  }
  return clip;
}
