/** A skeleton that follows a recording of markers, frame by frame, as the timeline is played or moved. */
import { type GoalSet, type Kinematics, type Markers, type Model, type Placement, type Report, Solver } from 'poise-ik';

const FRAMES_PER_STEP = 3; // of a recording at 120 per second that one warm solve gets over with ease
const MOST_SKIPPED = 60; // more frames than these are not walked through
const LOST = 0.05; // root mean square error, in sizes of the skeleton, from which on a pose counts as lost

export class MarkerFollower {
  #index: number[]; // of each place's marker in the recording
  #points: Float64Array; // of the placed markers, used again every frame
  #followed = -1; // the frame that was solved for

  constructor(
    readonly markers: Markers | null,
    readonly placements: readonly Placement[],
  ) {
    this.#index = markers ? markers.indices(placements) : [];
    this.#points = new Float64Array(3 * placements.length);
  }

  /** Where each placed marker is in a frame, three numbers each, NaN where it is not seen; valid until the next call. */
  points(at: number): Float64Array {
    const points = this.#points.fill(NaN);
    if (this.markers) {
      const frame = this.markers.frame(Math.min(at, this.markers.frames - 1));
      this.#index.forEach((from, i) => {
        if (from >= 0) {
          points.set(frame.subarray(3 * from, 3 * from + 3), 3 * i);
        }
      });
    }
    return points;
  }

  /** Mean distance of the markers that are seen in a frame from their places on the body; NaN where none is. */
  error(at: number, kinematics: Kinematics): number {
    const points = this.points(at);
    let [sum, seen] = [0, 0];
    this.placements.forEach((place, i) => {
      if (Number.isFinite(points[3 * i]!)) {
        const [x, y, z] = kinematics.point(place.body, place.local);
        sum += Math.hypot(x - points[3 * i]!, y - points[3 * i + 1]!, z - points[3 * i + 2]!);
        seen += 1;
      }
    });
    return sum / seen;
  }

  /**
   * From the last frame that was solved to another one; markers are the goals behind the first `users`. A slow page, or a jump
   * on the timeline, leaves many frames out: then some on the way are solved, too, and where that is not enough the pose is
   * sought from a cold start.
   */
  follow(frame: number, solver: Solver, goals: GoalSet, users: number, q: Float64Array, model: Model, size: number): Report {
    const from = Math.abs(frame - this.#followed) <= MOST_SKIPPED ? this.#followed : frame;
    const steps = Math.max(1, Math.ceil(Math.abs(frame - from) / FRAMES_PER_STEP));
    let report: Report | null = null;
    for (let i = 1; i <= steps; i++) {
      goals.setPoints(users, this.points(Math.round(from + ((frame - from) * i) / steps)));
      report = solver.solve(goals, q);
    }
    const far = LOST * size;
    if (report!.cost > 0.5 * far * far * this.placements.length) {
      const cold = new Solver(model, { start: 'cold', restarts: 8 });
      report = cold.solve(goals, q);
      cold.dispose();
    }
    this.#followed = frame;
    return report!;
  }
}
