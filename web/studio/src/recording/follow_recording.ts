/** A recording followed by a worker, so that the page stays of use: with progress, and an end whenever it is asked for. */
import { PoiseError, type RecordingProgress } from 'poise-ik';
import type { BareAnswer, RecordingAnswer, RecordingJob, TrackedAnswer } from './recording_job.js';

/** How the page hears of work that goes on beside it, and ends it. */
export interface Work {
  signal: AbortSignal;
  /** What is being done, and how much of it, from 0 to 1; null: no one knows. */
  progress(what: string, part: number | null): void;
}

const words = { calibrate: 'finding where markers sit', track: 'following markers', judge: 'judging the fit' } as const;

function tell(work: Work, { stage, done, frames }: RecordingProgress): void {
  work.progress(words[stage], stage === 'track' ? done / Math.max(1, frames) : null);
}

export function followRecording(job: RecordingJob, work: Work): Promise<TrackedAnswer | BareAnswer> {
  return new Promise((done, failed) => {
    work.signal.throwIfAborted();
    const worker = new Worker(new URL('./recording_worker.js', import.meta.url), { type: 'module' });
    const end = () => worker.terminate();
    work.signal.addEventListener('abort', () => {
      end();
      failed(work.signal.reason as Error);
    });
    worker.addEventListener('error', (event) => {
      end();
      failed(new Error(event.message || 'The part of the studio that follows recordings could not be loaded.'));
    });
    worker.addEventListener('message', ({ data }: MessageEvent<RecordingAnswer>) => {
      if (data.kind === 'progress') {
        tell(work, data);
        return;
      }
      end();
      if (data.kind === 'failed') {
        failed(data.status ? new PoiseError(data.status, data.message, data.line, data.column) : new Error(data.message));
      } else {
        done(data);
      }
    });
    worker.postMessage(job);
  });
}
