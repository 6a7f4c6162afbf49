/** Follows a recording beside the page, in an engine of its own: reads it, fits a body, tracks and judges as `poise track` does. */
import { type Format, load, Markers, type Model, type Placement, type Poise, PoiseError, type Posture, type RecordingProgress, type Scale, trackRecording, type Warning } from 'poise-ik';
import { failureOf } from '../beside.js';
import { clipNumbers, heldFrames, markerNumbers, markersOf, type RecordingAnswer, type RecordingJob } from './recording_job.js';

const BUILT_IN: Scale = { metres: 1, up: 'y' };
const PAUSE = 50; // milliseconds between two words about progress

/** What the reader remarked. */
interface Told {
  warnings: Warning[];
  warningsDropped: number;
}

interface Skeleton {
  model: Model;
  scale: Scale;
  placements: Placement[];
  postures?: Posture[];
  format?: Format;
}

/** What is there at the beginning: markers, with their file's warnings. */
function read(poise: Poise, recording: RecordingJob['recording']): { markers: Markers } & Told {
  if (!('bytes' in recording)) {
    return { markers: markersOf(poise, recording), warnings: [], warningsDropped: 0 };
  }
  const { markers, warnings, warningsDropped } = poise.read(recording.bytes, { name: recording.name });
  if (!markers) {
    throw new Error(`${recording.name} holds no markers.`);
  }
  return { markers, warnings, warningsDropped };
}

/** The skeleton of the job, or the built-in body with its own places. */
function skeletonOf(poise: Poise, { skeleton: bytes, format }: RecordingJob): Skeleton {
  if (bytes) {
    const { model, scale, placements, postures } = poise.read(bytes, { format: 'json' });
    return { model: model!, scale, placements, postures, ...(format ? { format } : {}) };
  }
  const { model, markers: placements } = poise.scene('humanoid');
  return { model, scale: BUILT_IN, placements: [...placements] };
}

/** Passes progress on, not too often. */
function teller(tell: (answer: RecordingAnswer) => void): (progress: RecordingProgress) => void {
  let last = 0;
  return (progress) => {
    const now = performance.now();
    if (now - last > PAUSE || progress.done === 0) {
      last = now;
      tell({ kind: 'progress', ...progress });
    }
  };
}

function follow(poise: Poise, job: RecordingJob, tell: (answer: RecordingAnswer) => void): RecordingAnswer {
  const { markers, ...told } = read(poise, job.recording);
  const skeleton = skeletonOf(poise, job);
  try {
    const result = trackRecording(skeleton, { markers, scale: markers.scale }, { ...job.options, onProgress: teller(tell) });
    const { placements, scale, distances, counted, byMarker, verdict, findings, summary, model } = result;
    const own = result.isFitted || !job.skeleton;
    const held = heldFrames(result.frames.map((frame) => frame.held));
    return {
      kind: 'tracked',
      clip: clipNumbers(result.clip),
      markers: markerNumbers(result.markers),
      model: own ? poise.write({ model, scale }, 'json').bytes : null,
      placements, scale, distances, counted, byMarker, held, verdict, findings, summary, ...told,
    };
  } catch (error) {
    if (!(error instanceof PoiseError) || job.skeleton) {
      throw error;
    }
    const known = markers.scale;
    const wanted: Scale = { metres: known.metres > 0 ? 1 : 0, up: known.up === 'unknown' ? 'z' : 'y' };
    const world = poise.model({ joints: [{ name: 'world', type: 'fixed' }] });
    const { scale } = markers.match(world, wanted);
    return { kind: 'bare', markers: markerNumbers(markers), scale, why: error.message, ...told };
  }
}

addEventListener('message', (event: MessageEvent<RecordingJob>) => {
  const tell = (answer: RecordingAnswer) => postMessage(answer);
  load(event.data.compiled)
    .then((poise) => tell(follow(poise, event.data, tell)))
    .catch((error: unknown) => postMessage(failureOf(error)));
});
