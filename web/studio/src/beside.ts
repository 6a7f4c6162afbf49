/** Work that goes on beside the page, in a worker, so that the page stays of use: with progress, and an end whenever it is asked for. */
import { PoiseError, type Status } from 'poise-ik';
import { PART_MISSING, startKeptWorker, startWorker } from './loading/parts.js';

/** How the page hears of such work, and ends it. */
export interface Work {
  signal: AbortSignal;
  /** What is being done, and how much of it, from 0 to 1; null: no one knows. */
  progress(what: string, part: number | null): void;
}

/** An error as a worker can send it. */
export interface Failure {
  kind: 'failed';
  status: Status | null;
  message: string;
  line: number;
  column: number;
}

export function failureOf(error: unknown): Failure {
  const known = error instanceof PoiseError ? error : null;
  const message = error instanceof Error ? error.message : String(error);
  return { kind: 'failed', status: known?.status ?? null, message, line: known?.line ?? 0, column: known?.column ?? 0 };
}

/** The last word of a worker, by the name of its script, on a job. `hear` takes every word; it answers whether that one was on the way. */
export function beside<Answer extends { kind: string }>(script: string, job: object, work: Work, hear: (answer: Answer | Failure) => boolean = () => false): Promise<Answer> {
  return ask(startWorker(script), job, work, hear, () => startKeptWorker(script));
}

/** A worker that could not be loaded has an error without words: `another` takes its job then. */
function ask<Answer extends { kind: string }>(worker: Worker, job: object, work: Work, hear: (answer: Answer | Failure) => boolean, another: () => Worker | null): Promise<Answer> {
  return new Promise((done, failed) => {
    const end = () => worker.terminate();
    work.signal.addEventListener('abort', () => {
      end();
      failed(work.signal.reason as Error);
    });
    worker.addEventListener('error', (event) => {
      end();
      const next = event.message || work.signal.aborted ? null : another();
      if (next) {
        ask(next, job, work, hear, () => null).then(done, failed);
      } else {
        failed(new Error(event.message || PART_MISSING));
      }
    });
    worker.addEventListener('message', ({ data }: MessageEvent<Answer | Failure>) => {
      if (hear(data)) {
        return;
      }
      end();
      if (data.kind === 'failed') {
        const { status, message, line, column } = data as Failure;
        failed(status ? new PoiseError(status, message, line, column) : new Error(message));
      } else {
        done(data as Answer);
      }
    });
    worker.postMessage(job);
  });
}
