/** What the page asks of the worker that makes goals part of a motion, and what it answers. */
import type { EditedMotion, GoalPin } from 'poise-ik';
import type { ClipNumbers } from '../recording/recording_job.js';

export interface BakeJob {
  /** The engine, compiled. */
  compiled: WebAssembly.Module;
  /** As poise JSON. */
  skeleton: Uint8Array;
  clip: ClipNumbers;
  pins: GoalPin[];
  /** Degrees of freedom that stay as they are. */
  locked: boolean[];
}

export interface BakeAnswer extends Pick<EditedMotion, 'pins' | 'snapFrame' | 'snapJoint'> {
  kind: 'baked';
  q: Float64Array;
}
