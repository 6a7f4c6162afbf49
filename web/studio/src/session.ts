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
  identityPose,
  Kinematics,
  type Markers,
  type Method,
  type Model,
  type Outcome,
  type Placement,
  type Poise,
  type Pose,
  type Posture,
  type Report,
  type Scale,
  Solver,
  type Vec3,
} from 'poise-ik';

/** `pin` is a pose that a body keeps. */
export type GoalKind = 'position' | 'pose' | 'aim' | 'pin';
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
  /** '' where there was nothing to solve. */
  outcome: Outcome | '';
  /** Of the solver; of the expressive one, evaluations. */
  iterations: number;
  /** Coordinates that a limit holds. */
  limits: number;
  /** Largest errors of the user's goals, in length units and radians. */
  length: number;
  angle: number;
  errors: GoalError[];
}

const atRest = (): Frame => ({ milliseconds: 0, outcome: '', iterations: 0, limits: 0, length: 0, angle: 0, errors: [] });

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
const PIN = 100; // weight of a pin: it gives way to nothing but limits
const CLIP_PULL = 1e-2; // of a clip's pose against the user's goals

export class Session {
  readonly model: Model;
  readonly kinematics: Kinematics;
  readonly q: Float64Array;
  /** The pose comes from a stream that runs, and nothing is solved here. */
  live = false;
  /** Called when a goal has moved. */
  onMoved: (() => void) | null = null;
  readonly posture: Float64Array;
  targets: Target[];
  locked = new Set<number>(); // joints
  method: Method = 'auto';
  mode: Mode;
  time = 0;
  followMarkers: boolean;
  /** Found by tracking the whole recording. */
  tracked: { clip: Clip; errors: Float64Array } | null = null;
  last = atRest();

  #solver: Solver | null = null;
  #expressive: Expressive | null = null;
  #goals: GoalSet;
  #markerIndex: number[] = [];
  #points: Float64Array; // of the placed markers, used again every frame
  #goalsChanged = true;
  #scale: number; // of the skeleton, in length units
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
    this.#points = new Float64Array(3 * stage.placements.length);
    if (stage.markers) {
      this.#markerIndex = stage.markers.indices(stage.placements);
    }
    this.kinematics.update(this.q);
    this.#scale = this.size();
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

  /** Where each placed marker is in a frame, three numbers each, NaN where it is not seen; valid until the next call. */
  markerPoints(at = this.frame): Float64Array {
    const points = this.#points.fill(NaN);
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

  /** Mean distance of the markers that are seen now from their places on the body; NaN where none is. */
  markerError(): number {
    const points = this.markerPoints();
    let [sum, seen] = [0, 0];
    this.stage.placements.forEach((place, i) => {
      if (Number.isFinite(points[3 * i]!)) {
        const at = this.kinematics.point(place.body, place.local);
        sum += Math.hypot(at[0] - points[3 * i]!, at[1] - points[3 * i + 1]!, at[2] - points[3 * i + 2]!);
        seen += 1;
      }
    });
    return sum / seen;
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
    this.onMoved?.();
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
    if (this.live) {
      this.kinematics.update(this.q);
      return this.last;
    }
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
      this.last = atRest();
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
    const errors = users > 0 ? solver.goalErrors().slice(0, users) : [];
    const most = (pick: (e: GoalError) => number) => errors.reduce((worst, e) => Math.max(worst, pick(e)), 0);
    this.last = {
      milliseconds: 0,
      outcome: report.outcome,
      iterations: report.iterations,
      limits: report.activeLimits,
      length: most((e) => (e.unit === 'length' ? e.error : 0)),
      angle: most((e) => (e.unit === 'angle' ? e.error : e.rotationError)),
      errors,
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
    const far = LOST * this.#scale;
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
    const { outcome, evaluations, worstLength: length, worstAngle: angle } = report;
    this.last = { ...atRest(), outcome, iterations: evaluations, length, angle };
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
    const reach = kind === 'aim' ? 0.25 * this.size() : 0;
    const position = pose.position.map((x, i) => x + reach * away[i]!) as unknown as Vec3;
    const target: Target = { kind, body, local, position, rotation: pose.rotation, weight: kind === 'pin' ? PIN : this.followMarkers ? 30 : 1, enabled: true };
    this.targets.push(target);
    this.changed();
    return target;
  }

  /** The diagonal of the box around the skeleton as it stands, in length units; never 0. Without a skeleton: around markers. */
  size(): number {
    return diagonal(this.hasSkeleton ? this.standing() : this.landmarks());
  }

  /** False where there are markers only. */
  get hasSkeleton(): boolean {
    return this.model.nv > 0 || this.model.joints.length > 1;
  }

  /** Where bodies and tools are now, three numbers each. */
  standing(): number[] {
    const { poses, toolPoses } = this.kinematics;
    return [...pointsOf(poses, 7), ...pointsOf(toolPoses, 7)];
  }

  /** Points that a good view shows, three numbers each: bodies and goals now, and where the timeline takes bodies or markers. */
  landmarks(): number[] {
    const points = this.targets.flatMap((target) => [...target.position]);
    const { clip, markers } = this.stage;
    const frames = clip?.frames ?? markers?.frames ?? 0;
    for (let f = 0; f < frames; f += Math.max(1, Math.floor(frames / 24))) {
      if (clip) {
        points.push(...pointsOf(this.kinematics.update(clip.frame(f)).poses, 7));
      } else if (markers) {
        points.push(...pointsOf(markers.frame(f), 3));
      }
    }
    this.kinematics.update(this.q);
    return this.hasSkeleton ? points.concat(this.standing()) : points;
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

  /** Back to what was kept; what does not fit this skeleton is passed over. The timeline stays where it is unless asked for. */
  restore(saved: Saved, withTime = true): void {
    if (saved.q.length === this.model.nq && saved.posture.length === this.model.nq) {
      this.q.set(saved.q);
      this.posture.set(saved.posture);
    }
    this.targets = structuredClone(saved.targets).filter((t) => t.body < this.model.joints.length);
    this.locked = new Set(saved.locked.filter((joint) => this.model.joints[joint]));
    this.method = saved.method;
    this.mode = saved.mode;
    this.time = withTime ? Math.min(saved.time, this.duration) : this.time;
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
    case 'pin':
      return make.pose(target.body, target.local, { position: target.position, rotation: target.rotation }, extras);
    case 'aim':
      return make.aim(target.body, target.local.position, rotate(target.local.rotation, [0, 1, 0]), target.position, extras);
  }
}

/** The goal of a file as a handle, where it is of a kind that has one. */
export function targetOf(goal: Goal): Target | null {
  const { kind, body = -1, local = identityPose, target = identityPose, weight = 1 } = goal;
  if (kind !== 'position' && kind !== 'pose' && kind !== 'aim') {
    return null;
  }
  const turn = kind === 'aim' ? turnTo(goal.axis ?? [0, 1, 0]) : local.rotation;
  return { kind, body, local: { position: local.position, rotation: turn }, position: target.position, rotation: target.rotation, weight, enabled: true };
}

/** The shortest turn that takes y to a direction. */
function turnTo([x, y, z]: Vec3): readonly [number, number, number, number] {
  const length = Math.hypot(x, y, z) || 1;
  const q = [z / length, 0, -x / length, 1 + y / length] as const;
  const norm = Math.hypot(...q);
  return norm < 1e-9 ? [1, 0, 0, 0] : [q[0] / norm, q[1] / norm, q[2] / norm, q[3] / norm];
}

/** The finite points of a list whose points begin every `stride` numbers. */
function pointsOf(list: ArrayLike<number>, stride: number): number[] {
  const points: number[] = [];
  for (let i = 0; i + 2 < list.length; i += stride) {
    if (Number.isFinite(list[i]!)) {
      points.push(list[i]!, list[i + 1]!, list[i + 2]!);
    }
  }
  return points;
}

/** Of the box around points; 1 where it would be 0. */
function diagonal(points: readonly number[]): number {
  const low = [Infinity, Infinity, Infinity];
  const high = [-Infinity, -Infinity, -Infinity];
  points.forEach((x, i) => {
    low[i % 3] = Math.min(low[i % 3]!, x);
    high[i % 3] = Math.max(high[i % 3]!, x);
  });
  const size = Math.hypot(...low.map((x, k) => high[k]! - x));
  return Number.isFinite(size) && size > 0 ? size : 1;
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
