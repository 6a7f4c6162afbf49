/** What the page asks of the worker that follows recordings, and what it answers. Everything here can be copied between them. */
import { Clip, type Finding, Markers, type Placement, type Poise, type RecordingOptions, type RecordingProgress, type Scale, type Status, type TrackSummary, type VerdictLevel, type Warning } from 'poise-ik';

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
  /** By frame: 1 where markers could not be trusted and the last good pose is held. */
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
  | { kind: 'failed'; status: Status | null; message: string; line: number; column: number }
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

export function clipOf(poise: Poise, { frames, nq, frameTime, startTime, q }: ClipNumbers): Clip {
  const clip = Clip.create(poise, { frames, nq }, frameTime, startTime);
  clip.q.set(q);
  return clip;
}
