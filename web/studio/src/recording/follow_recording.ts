/** A recording followed by a worker. */
import type { RecordingProgress } from 'poise-ik';
import { beside, type Work } from '../beside.js';
import type { BareAnswer, RecordingAnswer, RecordingJob, TrackedAnswer } from './recording_job.js';

const words = { calibrate: 'finding where markers sit', track: 'following markers', judge: 'judging the fit' } as const;

function tell(work: Work, { stage, done, frames }: RecordingProgress): void {
  work.progress(words[stage], stage === 'track' ? done / Math.max(1, frames) : null);
}

export async function followRecording(job: RecordingJob, work: Work): Promise<TrackedAnswer | BareAnswer> {
  work.signal.throwIfAborted();
  const answer = await beside<RecordingAnswer>('recording_worker.js', job, work, (heard) => {
    if (heard.kind !== 'progress') {
      return false;
    }
    tell(work, heard);
    return true;
  });
  return answer as TrackedAnswer | BareAnswer;
}
