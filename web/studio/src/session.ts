/**
 * What is on the stage: a skeleton, its goals, what it follows, and the solvers that move it. Knows nothing of the page.
 *
 * Each frame the pose comes from these, as far as they are there:
 *   - a clip, whose pose at the time of the timeline is the posture to keep;
 *   - markers at that time, each a goal of weight 1;
 *   - the user's own goals, of weight `goal.weight`;
 *   - with `mode` "express": the user's goals in the shape of the posture, by the expressive solver.
 */
import {
  type Clip,
  Expressive,
  type FileContent,
  type Goal,
  type GoalError,
  goals as make,
  GoalSet,
  Kinematics,
  type Markers,
  type Method,
  type Model,
  type Placement,
  type Poise,
  type Pose,
  type Posture,
  type Report,
  type Scale,
  Solver,
  type Vec3,
} from 'poise-ik';

export type GoalKind = 'position' | 'pose' | 'aim';
export type Mode = 'reach' | 'express';

/** A goal of the user: a handle in space that a point of a body is drawn to, turned like, or looks at. */
export interface Target {
  kind: GoalKind;
  body: number;
  /** The point or frame in the body's frame. For `aim`, its y axis is what looks. */
  local: Pose;
  position: Vec3;
  rotation: readonly [number, number, number, number];
  weight: number;
  enabled: boolean;
}

/** What undo and links keep. */
export interface Saved {
  q: number[];
  targets: Target[];
  locked: number[];
  method: Method;
  mode: Mode;
  posture: number[];
  time: number;
}

/** How the last frame went. */
export interface Frame {
  milliseconds: number;
  report: Report | null;
  outcome: string;
  iterations: number;
  errors: GoalError[];
}

export interface Stage {
  title: string;
  model: Model;
  scale: Scale;
  postures: Posture[];
  placements: Placement[];
  clip: Clip | null;
  markers: Markers | null;
  /** Where to begin; left out: the nearest to neutral within limits. */
  q?: ArrayLike<number>;
  mode?: Mode;
  targets?: Target[];
}

const MARKER_PULL = 3e-4; // of the posture against the markers, which leave some coordinates free
const FRAMES_PER_STEP = 3; // of a recording at 120 per second that one warm solve gets over with ease
const MOST_SKIPPED = 60; // more frames than these are not walked through
const LOST = 0.05; // root mean square error, in sizes of the skeleton, from which on a pose counts as lost
const CLIP_PULL = 1e-2; // of a clip's pose against the user's goals

export class Session {
  readonly model: Model;
  readonly kinematics: Kinematics;
  readonly q: Float64Array;
  readonly posture: Float64Array;
  targets: Target[];
  locked = new Set<number>(); // joints
  method: Method = 'auto';
  mode: Mode;
  time = 0;
  followMarkers: boolean;
  /** Found by tracking the whole recording. */
  tracked: { clip: Clip; errors: Float64Array } | null = null;
  last: Frame = { milliseconds: 0, report: null, outcome: '', iterations: 0, errors: [] };

  #solver: Solver | null = null;
  #expressive: Expressive | null = null;
  #goals: GoalSet;
  #markerIndex: number[] = [];
  #goalsChanged = true;
  #followed = -1; // frame of the markers that q was solved for

  constructor(
    readonly poise: Poise,
    readonly stage: Stage,
  ) {
    this.model = stage.model;
    this.kinematics = new Kinematics(stage.model);
    this.q = Float64Array.from(stage.q ?? stage.model.neutral());
    this.model.clamp(this.q);
    this.posture = Float64Array.from(this.q);
    this.mode = stage.mode ?? 'reach';
    this.targets = stage.targets ?? [];
    this.followMarkers = !!stage.markers && stage.placements.length > 0;
    this.#goals = new GoalSet(poise);
    if (stage.markers) {
      this.#markerIndex = stage.markers.indices(stage.placements);
    }
    this.kinematics.update(this.q);
  }

  /** Seconds that the timeline lasts; 0 without one. */
  get duration(): number {
    const { clip, markers } = this.stage;
    return clip ? clip.frames * clip.frameTime : markers ? markers.frames / markers.rate : 0;
  }

  get frameTime(): number {
    const { clip, markers } = this.stage;
    return clip ? clip.frameTime : markers ? 1 / markers.rate : 1 / 60;
  }

  /** The frame of the timeline at the present time. */
  get frame(): number {
    const frames = Math.max(1, Math.round(this.duration / this.frameTime));
    return Math.min(frames - 1, Math.max(0, Math.floor(this.time / this.frameTime + 1e-6)));
  }

  /** Where each placed marker is in a frame, three numbers each, NaN where it is not seen. */
  markerPoints(at = this.frame): Float64Array {
    const points = new Float64Array(3 * this.stage.placements.length).fill(NaN);
    const markers = this.stage.markers;
    if (markers) {
      const frame = markers.frame(Math.min(at, markers.frames - 1));
      this.#markerIndex.forEach((from, i) => {
        if (from >= 0) {
          points.set(frame.subarray(3 * from, 3 * from + 3), 3 * i);
        }
      });
    }
    return points;
  }

  /** Goals, method, locks or mode are others now. */
  changed(): void {
    this.#goalsChanged = true;
    this.#solver?.dispose();
    this.#solver = null;
    this.#expressive?.dispose();
    this.#expressive = null;
  }

  /** The target of one goal has moved: nothing needs to be made anew. */
  moved(index: number): void {
    const target = this.targets[index];
    const at = this.targets.slice(0, index).filter((t) => t.enabled).length;
    if (target?.enabled && !this.#goalsChanged) {
      this.#goals.setPosition(at, target.position);
      this.#goals.setRotation(at, target.rotation);
    }
  }

  /** The user's goals as the engine takes them. */
  userGoals(): Goal[] {
    return this.targets.filter((t) => t.enabled).map(goalOf);
  }

  /** Bring the pose up to date. */
  update(): Frame {
    const started = performance.now();
    const clip = this.tracked?.clip ?? this.stage.clip;
    const played = clip && clip.nq === this.model.nq && !this.followMarkers;
    if (played) {
      this.posture.set(clip.sample(this.model, clip.startTime + this.time));
    }
    const active = this.targets.some((t) => t.enabled);
    if (!active && !this.followMarkers) {
      if (played) {
        this.q.set(this.posture);
      }
      this.last = { milliseconds: 0, report: null, outcome: '', iterations: 0, errors: [] };
    } else if (this.mode === 'express' && active && !this.followMarkers) {
      this.#solveExpressive();
    } else {
      this.#solve(!!played);
    }
    this.kinematics.update(this.q);
    this.last.milliseconds = performance.now() - started;
    return this.last;
  }

  #solve(played: boolean): void {
    const solver = (this.#solver ??= this.makeSolver(this.method));
    if (this.#goalsChanged) {
      this.#goals.replace(this.allGoals(played));
      this.#goalsChanged = false;
    }
    const users = this.targets.filter((t) => t.enabled).length;
    if (played) {
      this.#goals.replace(this.allGoals(true));
      this.q.set(this.posture);
    }
    const report = this.followMarkers ? this.#follow(solver, users) : solver.solve(this.#goals, this.q);
    this.last = {
      milliseconds: 0,
      report,
      outcome: report.outcome,
      iterations: report.iterations,
      errors: users > 0 ? solver.goalErrors().slice(0, users) : [],
    };
  }

  /**
   * From the last frame that was solved to the present one. A slow page, or a jump on the timeline, leaves many frames out:
   * then some on the way are solved, too, and where that is not enough the pose is sought from a cold start.
   */
  #follow(solver: Solver, users: number): Report {
    const frame = this.frame;
    const from = Math.abs(frame - this.#followed) <= MOST_SKIPPED ? this.#followed : frame;
    const steps = Math.max(1, Math.ceil(Math.abs(frame - from) / FRAMES_PER_STEP));
    let report: Report | null = null;
    for (let i = 1; i <= steps; i++) {
      this.#goals.setPoints(users, this.markerPoints(Math.round(from + ((frame - from) * i) / steps)));
      report = solver.solve(this.#goals, this.q);
    }
    const far = LOST * this.size();
    if (report!.cost > 0.5 * far * far * this.stage.placements.length) {
      const cold = new Solver(this.model, { start: 'cold', restarts: 8 });
      report = cold.solve(this.#goals, this.q);
      cold.dispose();
    }
    this.#followed = frame;
    return report!;
  }

  #solveExpressive(): void {
    const end = this.targets.find((t) => t.enabled) as Target;
    const solver = (this.#expressive ??= new Expressive(this.model, { mode: 'shape', body: end.body, tip: end.local }));
    const report = solver.solve(this.userGoals(), this.posture, this.q);
    this.last = { milliseconds: 0, report: null, outcome: report.outcome, iterations: report.evaluations, errors: [] };
  }

  /** The user's goals, then those of the markers, then the pull to the posture. */
  allGoals(played: boolean): Goal[] {
    const list = this.userGoals();
    if (this.followMarkers) {
      const points = this.markerPoints();
      this.stage.placements.forEach((place, i) => {
        const at: Vec3 = [points[3 * i] ?? NaN, points[3 * i + 1] ?? NaN, points[3 * i + 2] ?? NaN];
        const seen = Number.isFinite(at[0]);
        list.push(make.position(place.body, place.local, seen ? at : [0, 0, 0], { weight: seen ? 1 : 0 }));
      });
      list.push(make.smoothness(Array.from(this.q), undefined, MARKER_PULL));
    } else if (played) {
      list.push(make.posture(Array.from(this.posture), CLIP_PULL));
    }
    return list;
  }

  /** A solver of some method with the present locks; `trace` iterations are recorded. */
  makeSolver(method: Method, trace = 0, maxIterations = 30): Solver {
    const locked = new Array<boolean>(this.model.nv).fill(false);
    for (const joint of this.locked) {
      const { v, nv } = this.model.joints[joint]!;
      locked.fill(true, v, v + nv);
    }
    return new Solver(this.model, { method, maxIterations, gradientTolerance: 1e-6, locked, trace });
  }

  /** Add a goal for a body at the place where its point is now. */
  addTarget(kind: GoalKind, body: number, local: Pose): Target {
    const pose = compose(this.kinematics.bodyPose(body), local);
    const away = kind === 'aim' ? this.kinematics.direction(body, rotate(local.rotation, [0, 1, 0])) : [0, 0, 0];
    const reach = kind === 'aim' ? 0.35 * this.size() : 0;
    const position = pose.position.map((x, i) => x + reach * away[i]!) as unknown as Vec3;
    const target: Target = { kind, body, local, position, rotation: pose.rotation, weight: this.followMarkers ? 30 : 1, enabled: true };
    this.targets.push(target);
    this.changed();
    return target;
  }

  /** The largest distance of a body from the middle of all, in length units; never 0. */
  size(): number {
    const poses = this.kinematics.poses;
    const low = [Infinity, Infinity, Infinity];
    const high = [-Infinity, -Infinity, -Infinity];
    for (let i = 0; i < poses.length; i += 7) {
      for (let k = 0; k < 3; k++) {
        low[k] = Math.min(low[k]!, poses[i + k]!);
        high[k] = Math.max(high[k]!, poses[i + k]!);
      }
    }
    const size = Math.hypot(...low.map((x, k) => high[k]! - x));
    return Number.isFinite(size) && size > 0 ? size : 1;
  }

  /** Points that a good view shows: bodies and goals now, and where the timeline takes bodies or markers. */
  landmarks(): number[][] {
    const points: number[][] = this.targets.map((target) => [...target.position]);
    const add = (list: ArrayLike<number>, stride: number) => {
      for (let i = 0; i + 2 < list.length; i += stride) {
        if (Number.isFinite(list[i]!)) {
          points.push([list[i]!, list[i + 1]!, list[i + 2]!]);
        }
      }
    };
    add(this.kinematics.poses, 7);
    const { clip, markers } = this.stage;
    const frames = clip?.frames ?? markers?.frames ?? 0;
    for (let f = 0; f < frames; f += Math.max(1, Math.floor(frames / 24))) {
      if (clip) {
        add(this.kinematics.update(clip.frame(f)).poses, 7);
      } else if (markers) {
        add(markers.frame(f), 3);
      }
    }
    this.kinematics.update(this.q);
    return points;
  }

  save(): Saved {
    return {
      q: Array.from(this.q),
      targets: structuredClone(this.targets),
      locked: [...this.locked],
      method: this.method,
      mode: this.mode,
      posture: Array.from(this.posture),
      time: this.time,
    };
  }

  restore(saved: Saved): void {
    if (saved.q.length === this.model.nq) {
      this.q.set(saved.q);
      this.posture.set(saved.posture);
    }
    this.targets = structuredClone(saved.targets).filter((t) => t.body < this.model.joints.length);
    this.locked = new Set(saved.locked.filter((joint) => joint < this.model.joints.length));
    this.method = saved.method;
    this.mode = saved.mode;
    this.time = Math.min(saved.time, this.duration);
    this.model.clamp(this.q);
    this.changed();
  }

  /** What a file of the present state holds. */
  content(): FileContent {
    const { stage } = this;
    return {
      model: this.model,
      clip: this.tracked?.clip ?? stage.clip,
      markers: stage.markers,
      goals: this.userGoals(),
      postures: [...stage.postures, { name: 'studio', q: Array.from(this.q) }],
      placements: stage.placements,
      scale: stage.scale,
      title: stage.title,
    };
  }

  dispose(): void {
    this.changed();
    this.#goals.dispose();
    this.kinematics.dispose();
    this.tracked?.clip.dispose();
    this.stage.clip?.dispose();
    this.stage.markers?.dispose();
    this.model.dispose();
  }
}

function goalOf(target: Target): Goal {
  const extras = { weight: target.weight };
  switch (target.kind) {
    case 'position':
      return make.position(target.body, target.local.position, target.position, extras);
    case 'pose':
      return make.pose(target.body, target.local, { position: target.position, rotation: target.rotation }, extras);
    case 'aim':
      return make.aim(target.body, target.local.position, rotate(target.local.rotation, [0, 1, 0]), target.position, extras);
  }
}

/** v turned by the unit quaternion q. */
export function rotate(q: ArrayLike<number>, v: Vec3): Vec3 {
  const [x, y, z, w] = [q[0]!, q[1]!, q[2]!, q[3]!];
  const t = [2 * (y * v[2] - z * v[1]), 2 * (z * v[0] - x * v[2]), 2 * (x * v[1] - y * v[0])] as const;
  return [
    v[0] + w * t[0] + y * t[2] - z * t[1],
    v[1] + w * t[1] + z * t[0] - x * t[2],
    v[2] + w * t[2] + x * t[1] - y * t[0],
  ];
}

/** b as seen from the world where a's frame is that of b. */
export function compose(a: Pose, b: Pose): Pose {
  const at = rotate(a.rotation, b.position);
  const [x, y, z, w] = a.rotation;
  const [i, j, k, r] = b.rotation;
  return {
    position: [a.position[0] + at[0], a.position[1] + at[1], a.position[2] + at[2]],
    rotation: [w * i + x * r + y * k - z * j, w * j + y * r + z * i - x * k, w * k + z * r + x * j - y * i, w * r - x * i - y * j - z * k],
  };
}
