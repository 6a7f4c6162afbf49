/** What the page asks of the worker that puts a motion on another skeleton, and what it answers. */
import type { Finding, VerdictLevel } from 'poise-ik';

export interface RetargetJob {
  /** The engine, compiled. */
  compiled: WebAssembly.Module;
  /** A skeleton with its motion, and the one that is to follow, as poise JSON. */
  motion: Uint8Array;
  skeleton: Uint8Array;
}

export interface RetargetAnswer {
  kind: 'retargeted';
  /** Joint values over time, as a table. */
  table: Uint8Array;
  /** Parts of the body that both have. */
  roles: number;
  /** The skeleton cannot move as a whole. */
  inPlace: boolean;
  verdict: VerdictLevel;
  findings: Finding[];
}
