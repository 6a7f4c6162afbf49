/** What the page asks of the worker that makes goals part of a motion, and what it answers. */
import type { EditedMotion, GoalPin, VerdictLevel } from 'poise-ik';
import type { ClipNumbers } from '../recording/recording_job.js';
import type { Bounds } from '../stage.js';

export interface BakeJob {
  /** The engine, compiled. */
  compiled: WebAssembly.Module;
  /** As poise JSON. */
  skeleton: Uint8Array;
  clip: ClipNumbers;
  pins: GoalPin[];
  /** The motion with the goals in it, where that was made by other means than pins: it is judged alone. */
  made: Float64Array | null;
  /** Degrees of freedom that stay as they are. */
  locked: boolean[];
  /** Where bodies end; null: nobody knows. */
  bounds: Bounds | null;
}

export interface BakeAnswer extends Pick<EditedMotion, 'pins' | 'snapFrame' | 'snapJoint' | 'findings'> {
  kind: 'baked';
  q: Float64Array;
  verdict: VerdictLevel;
}
