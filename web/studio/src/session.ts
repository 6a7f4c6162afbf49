/**
 * What is on the stage: a skeleton, its goals, what it follows, and the solvers that move it. Knows nothing of the page.
 *
 * Each frame the pose comes from these, as far as they are there:
 *   - a clip, whose pose at the time of the timeline is the posture to keep;
 *   - markers at that time, each a goal of weight 1;
 *   - the user's own goals, of weight `goal.weight`;
 *   - with `mode` "express": the user's goals in the shape of the posture, by the expressive solver.
 *
 * A joint that is set by hand keeps its value: goals go along with their bodies, and the timeline waits until it is moved.
 */
import {
  type Clip,
  type ClosePair,
  Expressive,
  type Goal,
  type GoalError,
  goals as make,
  GoalSet,
  identityPose,
  Kinematics,
  type LoopGap,
  Loops,
  type Method,
  type Model,
  type Outcome,
  type Poise,
  type Pose,
  Solver,
  type SolverExtras,
  type SolverOptions,
  Stance,
  type Up,
  type Vec3,
} from 'poise-ik';
import { bakeFrame } from './baking/frame.js';
import type { Work } from './beside.js';
import { type Elsewhere, Search } from './missing/elsewhere.js';
import { holdOf, shareAt } from './baking/hold.js';
import { changeWeights } from './baking/least_change.js';
import type { MeshShapes } from './body/mesh_shapes_job.js';
import { Collisions } from './collisions.js';
import { type Hindrance, hindranceOf, unhindered } from './missing/hindrance.js';
import { placeAt, withKey } from './keyframes.js';
import { closeAround } from './posing/loop_closing.js';
import { MarkerFollower } from './marker_follower.js';
import { placeOf } from './baking/places.js';
import { diagonal, distance, pointsOf } from './spatial.js';
import { atRest, type Bounds, type Frame, type Judged, judgedAfter, type Mode, type Range, type Saved, type Stage, type Tracked } from './stage.js';
import { type GoalKind, goalOf, type Target } from './targets.js';

const MARKER_PULL = 3e-4; // of the posture against the markers, which leave some coordinates free
const LENGTH = 4; // seconds of a timeline that keyframes begin
const MISS = 1e-6; // length units, or radians by the hundred: the tolerance of the solvers
const PIN = 100; // weight of a pin: it gives way to nothing but limits
const PULL = 0.3; // of the pointer on a body, against goals
const HELD = 1e-4; // of the posture against the pointer
const OPEN = 1e-5; // radians, or sizes of the skeleton: a loop that is open by more is
const CLIP_PULL = 1e-4; // of a clip's pose against the user's goals, which are met when they are baked

export class Session {
  readonly model: Model;
  readonly kinematics: Kinematics;
  readonly q: Float64Array;
  /** The pose comes from a stream that runs, and nothing is solved here. */
  live = false;
  /** Called when a goal has moved. */
  onMoved: (() => void) | null = null;
  readonly posture: Float64Array;
  /** What closes loops of the skeleton; null: it has none. */
  readonly loops: Loops | null;
  targets: Target[];
  locked = new Set<number>(); // joints
  method: Method = 'auto';
  mode: Mode;
  time = 0;
  /** Seconds of the timeline, where only keyframes make one. */
  length = LENGTH;
  followMarkers: boolean;
  /** When goals act on the motion; null: all the time. */
  range: Range | null = null;
  /** The pose was set by hand; the timeline does not move it before it is moved itself. */
  byHand = false;
  /** Where methods that are compared begin; null: at rest, or in the posture of an expressive robot. */
  start: Float64Array | null = null;
  /** A point of a body that the pointer pulls on. */
  pulled: Target | null = null;
  /** The motion with goals made part of it, which rest. */
  get baked(): Clip | null {
    return this.#isBaked ? this.#bakedClip : null;
  }
  /** What the library says of the motion that plays; null: it came as it is, and nobody has judged it. */
  get judged(): Judged | null {
    const [own, later] = [this.#judged, this.#bakedJudged];
    return !this.#isBaked ? own : later ? judgedAfter(later, own) : own?.verdict === 'good' ? null : own;
  }
  /** What speaks against the motion without goals that were baked into it, for others to see. */
  get doubts(): Judged | null {
    return this.#judged?.verdict === 'good' ? null : this.#judged;
  }
  /** Of the motion without goals that were baked into it. */
  set judged(judged: Judged | null) {
    this.#judged = judged;
  }
  /** Found by tracking the whole recording. */
  tracked: Tracked | null = null;
  last = atRest();
  /** The size of its looks, where the skeleton alone says little: a drone has one joint. */
  bulk: number | null = null;
  /** Its collision shapes, where it has some. */
  collisions: Collisions | null = null;
  /** Covers the robot's collision meshes with shapes, where that is still to be done. */
  coverMeshes: ((work: Work) => Promise<MeshShapes>) | null = null;
  /** Pairs of them that are too near now, as far as that was looked at. */
  near: ClosePair[] = [];

  #solver: Solver | null = null;
  #free: Solver | null = null; // without limits
  #hindrance: Hindrance | null = unhindered; // null: not looked for yet
  #expressive: Expressive | null = null;
  #goals: GoalSet;
  #follower: MarkerFollower;
  #goalsChanged = true;
  #stale = true; // the pose is not that of the present goals and time
  #bakedClip: Clip | null = null;
  #bakedJudged: Judged | null = null; // what it was found to be
  #isBaked = false;
  #judged: Judged | null = null;
  #bakedGoals: boolean[] = []; // by goal: it acted before it was baked
  #held = -1; // the goal whose handle the user drags
  #weighed: { of: Clip; weights: Float64Array } | null = null;
  #search: Search | null = null; // for another pose, while goals are missed
  #hasSearched = false; // for the present goals
  #goesOn = false; // the next solve ends what the last one began
  #scale: number; // of the skeleton, in length units
  #stance: Stance | null | undefined; // undefined: not looked for yet
  #aside: Kinematics | null = null; // for another pose than that on the screen

  constructor(
    readonly poise: Poise,
    readonly stage: Stage,
  ) {
    this.model = stage.model;
    this.kinematics = new Kinematics(stage.model);
    this.loops = stage.loops?.length ? new Loops(stage.model, stage.loops) : null;
    this.q = Float64Array.from(stage.q ?? stage.model.neutral());
    this.model.clamp(this.q);
    this.posture = Float64Array.from(this.q);
    this.mode = stage.mode ?? 'reach';
    this.targets = stage.targets ?? [];
    this.followMarkers = !!stage.markers && stage.placements.length > 0 && !stage.clip; // a motion that was saved with its markers plays
    this.#goals = new GoalSet(poise);
    this.bound(stage.bounds);
    this.#follower = new MarkerFollower(stage.markers, stage.placements);
    this.kinematics.update(this.q);
    this.#scale = this.size();
  }

  /** The motion that is played, where there is one. */
  get motion(): Clip | null {
    const clip = this.baked ?? this.tracked?.clip ?? this.stage.clip;
    return clip && clip.nq === this.model.nq && !this.followMarkers ? clip : null;
  }

  /** How much the goals count at a time of the motion: 0 outside their range, 1 inside, smooth between. */
  share(time = this.time): number {
    const { motion, range, frameTime } = this;
    return motion && range ? shareAt(holdOf(range, motion.frames, frameTime), frameTime, time) : 1;
  }

  /** The user's goals move a motion as the library's pins do; the expressive solver, loops and shapes that keep apart have none. */
  get takesPins(): boolean {
    return this.mode === 'reach' && !this.collisions?.keeps && !this.loops && !this.followMarkers && !this.pulled;
  }

  /** Seconds that the timeline lasts; 0 without one. */
  get duration(): number {
    const { clip, markers } = this.stage;
    const keyed = this.targets.some(({ keys }) => keys);
    return clip ? clip.frames * clip.frameTime : markers ? markers.frames / markers.rate : keyed ? this.length : 0;
  }

  /** There is more than one moment: a timeline makes sense. */
  get plays(): boolean {
    return this.duration > 1.5 * this.frameTime;
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

  /** What points up, as the user says it: the ground is another then. */
  setUp(up: Up): void {
    Object.assign(this.stage, { scale: { ...this.stage.scale, up }, upBy: 'user' });
    this.#stance?.dispose();
    this.#stance = undefined;
  }

  /** Where each placed marker is in a frame, three numbers each, NaN where it is not seen; valid until the next call. */
  markerPoints(at = this.frame): Float64Array {
    return this.#follower.points(at);
  }

  /** Mean distance of the markers that are seen now from their places on the body; NaN where none is. */
  markerError(): number {
    return this.#follower.error(this.frame, this.kinematics);
  }

  /** Take what bounds its bodies: shapes that may be kept apart, where a body has some. */
  bound(bounds: Bounds | undefined): void {
    this.collisions?.dispose();
    this.collisions = bounds?.shapes.some(({ body }) => body >= 0) ? new Collisions(this.model, bounds.shapes, bounds.excluded) : null;
    if (bounds) {
      this.stage.bounds = bounds;
    }
  }

  /** Goals, method, locks or mode are others now. */
  changed(): void {
    this.#stale = true;
    this.#goalsChanged = true;
    this.#solver?.dispose();
    this.#solver = null;
    this.#free?.dispose();
    this.#free = null;
    this.#expressive?.dispose();
    this.#expressive = null;
  }

  /** The target of one goal has moved: nothing needs to be made anew. */
  moved(index: number): void {
    this.onMoved?.();
    this.#stale = true;
    const target = this.targets[index];
    const at = this.targets.slice(0, index).filter((t) => t.enabled).length;
    if (target?.enabled && !this.#goalsChanged) {
      this.#goals.setPosition(at, target.position);
      this.#goals.setRotation(at, target.rotation);
    }
  }

  /** The user has put the handle of a goal elsewhere: where it moves by keyframes, that is one now. */
  edited(index: number, done: boolean): void {
    const target = this.targets[index];
    if (target?.keys) {
      this.key(index);
    }
    this.#goesOn = done && this.#held === index;
    this.#held = done ? -1 : index;
    this.moved(index);
  }

  /** A keyframe of a goal where it is, at the present time. */
  key(index: number): void {
    const { position, rotation, keys = [] } = this.targets[index]!;
    if (this.duration === 0 && this.mode === 'reach') {
      this.posture.set(this.q); // keyframes begin: their poses stay near to this one
    }
    this.targets[index]!.keys = withKey(keys, { time: this.time, position, rotation }, 0.5 * this.frameTime);
  }

  /** Take the keyframe of the present time away, if there is one; the last one goes with all movement. */
  unkey(index: number): void {
    const target = this.targets[index]!;
    const left = target.keys?.filter(({ time }) => Math.abs(time - this.time) > 0.5 * this.frameTime) ?? [];
    if (left.length > 0) {
      target.keys = left;
    } else {
      delete target.keys;
      this.time = Math.min(this.time, this.duration);
    }
  }

  /** The user's goals as the engine takes them. */
  userGoals(): Goal[] {
    return this.active.map(goalOf);
  }

  /** Another moment of the timeline: what was set by hand is over. */
  setTime(time: number): void {
    const before = this.time;
    this.time = time;
    this.targets.forEach((target, i) => {
      if (target.keys && i === this.#held) {
        target.keys = target.keys.filter((key) => key.time <= before || key.time > time); // what is dragged while time goes on is recorded
        this.key(i);
      } else if (target.keys) {
        Object.assign(target, placeAt(target.keys, time));
        this.moved(i);
      }
    });
    this.byHand = false;
    this.#stale = true;
  }

  /** Numbers of q as the user sets them, within limits; of one joint, the others close the loops. Goals go along with their bodies; a motion waits. */
  pose(change: (q: Float64Array) => void, joint = -1): void {
    const away = this.targets.map(({ body, local, position }) => distance(this.kinematics.point(body, local.position), position));
    change(this.q);
    this.model.clamp(this.q);
    if (this.loops && joint >= 0) {
      closeAround(this, joint);
    }
    this.posture.set(this.q);
    this.kinematics.update(this.q);
    this.targets.forEach((target, i) => {
      Object.assign(target, placeOf(this.kinematics, target, away[i]!));
      this.moved(i);
    });
    this.byHand = this.duration > 0;
    this.#stale = true;
  }

  /** Show a pose as it is, until something else is done. */
  preview(q: ArrayLike<number>): void {
    this.q.set(Array.from(q));
    this.kinematics.update(this.q);
    this.last = atRest();
    this.#stale = false;
  }

  /** Draw a point of a body somewhere, as long as it is held: the rest of the pose gives way as little as it can. */
  pullAt(body: number, local: Vec3, position: Vec3): void {
    this.#stale = true;
    if (this.pulled) {
      this.pulled.position = position;
      if (!this.#goalsChanged) {
        this.#goals.setPosition(this.targets.filter((t) => t.enabled).length, position);
      }
      return;
    }
    this.posture.set(this.q);
    this.pulled = { kind: 'position', body, local: { ...identityPose, position: local }, position, rotation: identityPose.rotation, weight: PULL, enabled: true };
    this.changed();
  }

  letGo(): void {
    if (this.pulled) {
      this.update();
      this.pulled = null;
      this.posture.set(this.q);
      this.changed();
      this.#goesOn = true;
    }
  }

  /** Bring the pose up to date; `last` tells of all the work since something changed. */
  update(): Frame {
    const started = performance.now();
    if (this.live) {
      this.kinematics.update(this.q);
      return this.last;
    }
    if (!this.#stale && this.last.outcome !== 'budget') {
      return this.last;
    }
    const before = this.#stale && !this.#goesOn ? atRest() : this.last; // a method that needs several frames goes on
    this.#stale = this.#goesOn = false;
    this.#search = null;
    this.#hasSearched = false;
    if (this.byHand) {
      this.last = atRest();
    } else {
      this.#seek();
    }
    this.kinematics.update(this.q);
    this.last.iterations += before.iterations;
    this.last.milliseconds = before.milliseconds + performance.now() - started;
    return this.last;
  }

  /** The user holds a goal, or the skeleton: its pose goes along without a jump. */
  get isHeld(): boolean {
    return this.#held >= 0 || this.pulled !== null;
  }

  /** Goals are missed, and whether another pose meets them is still to be seen. */
  get mayLookElsewhere(): boolean {
    const { outcome, errors } = this.last;
    const isAsked = this.mode === 'reach' && this.duration === 0 && !this.followMarkers && !this.pulled && !this.live && !this.byHand;
    const isMissed = errors.some((e) => (e.unit === 'length' ? e.error > MISS : e.error > 100 * MISS) || e.rotationError > 100 * MISS);
    return isAsked && isMissed && !this.#stale && !this.#hasSearched && outcome !== '' && outcome !== 'budget';
  }

  /** Look from other starts for a pose that meets the goals, and take it. True: there is more to do. */
  lookElsewhere(): boolean {
    if (!this.mayLookElsewhere) {
      return false;
    }
    this.#search ??= new Search(this);
    const found = this.#search.work();
    if (found === undefined) {
      return true;
    }
    this.#search = null;
    this.#hasSearched = true;
    if (found) {
      this.#take(found);
    }
    return false;
  }

  #take({ q, report, errors }: Elsewhere): void {
    const { milliseconds, iterations } = this.last;
    this.q.set(q);
    this.kinematics.update(this.q);
    this.#judge(report.outcome, iterations + report.iterations, errors);
    this.last.milliseconds = milliseconds;
    this.last.isElsewhere = true;
  }

  #seek(): void {
    const { motion } = this;
    this.#hindrance = unhindered;
    const share = motion ? this.share() : 1;
    if (motion) {
      const time = this.stage.markers ? this.frame * this.frameTime : this.time; // markers are seen frame by frame: the body stands among them
      this.posture.set(motion.sample(this.model, motion.startTime + time));
    }
    const hasGoals = this.active.length > 0 && share > 0;
    if (!hasGoals && !this.followMarkers) {
      if (motion) {
        this.q.set(this.posture);
      }
      this.last = atRest();
      return;
    }
    if (motion) {
      this.q.set(this.posture);
    }
    if (this.takesPins && this.duration > 0) {
      this.#solveAsBaked(motion, share);
      return;
    }
    if (this.mode === 'express' && !this.followMarkers && !this.pulled) {
      this.#solveExpressive();
    } else {
      this.#solve(!!motion);
    }
    if (share < 1) {
      const way = this.model.difference(this.posture, this.q).map((x) => share * x);
      this.q.set(this.model.retract(this.posture, way));
    }
  }

  /** The user's goals that count now. */
  get active(): Target[] {
    const list = this.targets.filter((t) => t.enabled);
    return this.pulled ? [...list, this.pulled] : list;
  }

  #solve(played: boolean): void {
    const solver = (this.#solver ??= this.makeSolver(this.method));
    if (this.#goalsChanged) {
      this.#goals.replace(this.allGoals(played));
      this.#goalsChanged = false;
    }
    const users = this.active.length;
    if (played) {
      this.#goals.replace(this.allGoals(true));
    }
    const report = this.followMarkers
      ? this.#follower.follow(this.frame, solver, this.#goals, users, this.q, this.model, this.#scale)
      : solver.solve(this.#goals, this.q);
    this.#judge(report.outcome, report.iterations, users > 0 ? solver.goalErrors().slice(0, users) : []);
    if (report.activeLimits > 0 && !this.#hindrance) {
      this.last.held = Array.from(solver.activeLimits()).flatMap((side, i) => (side !== 0 ? [i] : []));
    }
  }

  /** How a frame went, by the errors of the user's goals. */
  #judge(outcome: Outcome, iterations: number, errors: GoalError[]): void {
    const most = (pick: (e: GoalError) => number) => errors.reduce((worst, e) => Math.max(worst, pick(e)), 0);
    const [length, angle] = [most((e) => (e.unit === 'length' ? e.error : 0)), most((e) => (e.unit === 'angle' ? e.error : e.rotationError))];
    this.#hindrance = length > MISS || angle > 100 * MISS ? null : unhindered;
    this.last = { ...atRest(), outcome, iterations, length, angle, errors };
  }

  /** The frame as it will be baked: near to the motion, or to the pose in which keyframes began. */
  #solveAsBaked(motion: Clip | null, share: number): void {
    const { poise, model, stage, kinematics, posture: original } = this;
    const others = motion ? [motion.frame(0), motion.frame(motion.frames >> 1)] : [];
    kinematics.update(original);
    const { q, iterations, errors } = bakeFrame({
      poise, model, scale: stage.scale, kinematics, original, others, share, targets: this.active, locked: this.lockedFlags(), keepFeet: !!motion,
    });
    this.q.set(q);
    this.#judge('reached', iterations, errors);
    if (!this.#hindrance) { // it is looked for with a solver
      const isAtLimit = (x: number, i: number) => Math.min(x - model.lower[i]!, model.upper[i]! - x) < MISS;
      this.last.outcome = 'closest';
      this.last.held = Array.from(q).flatMap((x, i) => (isAtLimit(x, i) ? [i] : []));
      this.#goals.replace(this.allGoals(!!motion));
    }
  }

  /** By degree of freedom: it stays as it is. */
  lockedFlags(): boolean[] {
    return this.model.joints.flatMap(({ index, nv }) => Array<boolean>(nv).fill(this.locked.has(index)));
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
      const size = this.#scale; // lengths in units of the skeleton's size, as the pull has them: then it converges in any unit
      list.forEach((goal) => goal.kind !== 'aim' && (goal.weight = (goal.weight ?? 1) / size ** 2));
      list.push(make.posture(Array.from(this.posture), CLIP_PULL, { qWeights: this.#weights() }));
    } else if (this.pulled) {
      list.push(make.posture(Array.from(this.posture), HELD));
    }
    return list;
  }

  /** What changes of the motion weigh. */
  #weights(): Float64Array {
    const motion = this.motion!;
    if (this.#weighed?.of !== motion) {
      this.#weighed = { of: motion, weights: changeWeights(this.kinematics, motion, this.#scale) };
    }
    return this.#weighed.weights;
  }

  /** A solver of some method with the present locks. */
  makeSolver(method: Method, options: SolverOptions & Pick<SolverExtras, 'trace'> = {}): Solver {
    const locked = this.lockedFlags();
    const clearance = this.collisions?.keeps && method === 'auto' && !this.followMarkers ? this.collisions.clearance : null;
    const loops = method === 'auto' && !this.followMarkers ? this.loops : null;
    return new Solver(this.model, { method, maxIterations: 30, gradientTolerance: 1e-6, locked, clearance, loops, ...options });
  }

  /** The loop that is open most in the present pose; null: all are closed, or there are none. */
  get openLoop(): LoopGap | null {
    const gaps = this.loops?.gaps(this.kinematics).filter(({ gap, unit }) => gap > OPEN * (unit === 'length' ? this.#scale : 1)) ?? [];
    return gaps.sort((a, b) => b.gap - a.gap)[0] ?? null;
  }

  /** Names of the bodies that a loop joins. */
  loopName(loop: number): string {
    const { body, body2 } = this.loops!.loops[loop]!;
    return [body, body2].map((i) => this.model.joints[i]?.body ?? 'the world').join(' and ');
  }

  /** Why the last solve missed goals, looked for when it is first asked for. */
  get hindrance(): Hindrance {
    const { held, errors, outcome } = this.last;
    if (outcome === '') {
      return unhindered;
    }
    const missed = (i: number) => (errors[i]?.unit === 'length' ? errors[i].error > MISS : false);
    this.#hindrance ??= hindranceOf(this, held, () => (this.#free ??= this.makeSolver(this.method, { useLimits: false })), this.#goals, missed);
    return this.#hindrance;
  }

  /** How the figure stands at rest; null: it does not, or it is fixed in its place. */
  get stance(): Stance | null {
    if (this.#stance === undefined) {
      const { bounds, clip, scale } = this.stage;
      const of = (rest?: ArrayLike<number>) => Stance.of(this.model, { up: scale.up, shapes: bounds?.shapes ?? [], ...(rest ? { rest } : {}) });
      this.#stance = this.hasSkeleton ? (of() ?? (clip ? of(clip.frame(0)) : null)) : null;
    }
    return this.#stance;
  }

  /** The library's word on where the soles are while goals act: against the ground of the rest pose, the first that the file names if it names some, or beside a motion against where that has them. */
  footing(): Judged | null {
    const { stance, motion, kinematics, stage } = this;
    if (!stance || this.last.outcome === '') {
      return null;
    }
    const at = motion ? this.posture : stage.postures[0]?.q; // without either: the neutral pose
    const expected = at ? stance.height((this.#aside ??= new Kinematics(this.model)).update(at)) : 0;
    return { what: 'stance', ...stance.judge(stance.height(kinematics) - expected), figures: [] };
  }

  /** Add a goal for a body at the place where its point is now. */
  addTarget(kind: GoalKind, body: number, local: Pose): Target {
    const { position, rotation } = placeOf(this.kinematics, { kind, body, local }, 0.25 * this.size());
    const target: Target = { kind, body, local, position, rotation, weight: kind === 'pin' ? PIN : this.followMarkers ? 30 : 1, enabled: true };
    this.targets.push(target);
    this.changed();
    return target;
  }

  /** The diagonal of the box around the skeleton as it stands, in length units; never 0. Without a skeleton: around markers. Of looks that are far smaller or larger: `bulk`. */
  size(): number {
    return this.bulk ?? diagonal(this.hasSkeleton ? this.standing() : this.landmarks());
  }

  /** False where there are markers only. A robot of one link that nothing moves is one, too. */
  get hasSkeleton(): boolean {
    return this.model.nv > 0 || this.model.joints.length > 1 || !this.stage.markers;
  }

  /** Where bodies and tools are now, three numbers each. */
  standing(): number[] {
    const { poses, toolPoses } = this.kinematics;
    return [...pointsOf(poses, 7), ...pointsOf(toolPoses, 7)];
  }

  /** Points that a good view shows, three numbers each: bodies and goals now, and where the timeline takes bodies or markers. */
  landmarks(withTargets = true): number[] {
    const points = withTargets ? this.targets.flatMap((target) => [...target.position]) : [];
    const { markers } = this.stage;
    const clip = this.stage.clip ?? this.tracked?.clip; // of a recording some markers may be far away, or angles
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
      length: this.length,
      ...(this.range ? { range: { ...this.range } } : {}),
      ...(this.#isBaked ? { baked: [...this.#bakedGoals] } : {}),
    };
  }

  /** Back to what was kept; what does not fit this skeleton is passed over. The timeline stays where it is unless asked for. */
  restore(saved: Saved, withTime = true): void {
    if (saved.q.length === this.model.nq && saved.posture.length === this.model.nq) {
      this.q.set(saved.q);
      this.posture.set(saved.posture);
    }
    this.targets = structuredClone(saved.targets).filter((t) => t.body < this.model.joints.length);
    this.#bakedGoals = saved.baked ?? [];
    this.#isBaked = !!saved.baked && !!this.#bakedClip;
    if (saved.baked && !this.#bakedClip) {
      this.targets.forEach((target, i) => (target.enabled ||= saved.baked![i] ?? false)); // of a link, which has no motion of its own
    }
    this.locked = new Set(saved.locked.filter((joint) => this.model.joints[joint]));
    this.method = saved.method;
    this.mode = saved.mode;
    this.range = saved.range ?? null;
    this.length = saved.length ?? LENGTH;
    this.byHand = false;
    this.time = withTime ? Math.min(saved.time, this.duration) : this.time;
    this.model.clamp(this.q);
    this.changed();
  }

  /** The same once more, to be asked for other moments; `release` it, and the stage stays. */
  twin(): Session {
    const twin = new Session(this.poise, this.stage);
    twin.tracked = this.tracked;
    twin.#judged = this.#judged;
    twin.#bakedJudged = this.#bakedJudged;
    twin.#bakedClip = this.#bakedClip;
    twin.followMarkers = this.followMarkers;
    twin.collisions = this.collisions;
    twin.restore(this.save());
    return twin;
  }

  /** Take a motion that has the goals in it, which rest from now on, and what it is found to be; null: the motion as it was, and the goals act again. */
  setBaked(clip: Clip | null, judged: Judged | null = null): void {
    if (clip) {
      const before = this.#isBaked ? this.#bakedGoals : [];
      this.#bakedClip?.dispose();
      this.#bakedClip = clip;
      this.#bakedJudged = judged && this.#isBaked && this.#bakedJudged ? judgedAfter(judged, this.#bakedJudged) : judged;
      this.#bakedGoals = this.targets.map(({ enabled }, i) => enabled || (before[i] ?? false));
      this.targets.forEach((target) => (target.enabled = false));
    } else {
      this.targets.forEach((target, i) => (target.enabled ||= this.#bakedGoals[i] ?? false));
    }
    this.#isBaked = !!clip;
    this.changed();
  }

  release(): void {
    this.changed();
    this.#goals.dispose();
    this.#stance?.dispose();
    this.#aside?.dispose();
    this.loops?.dispose();
    this.kinematics.dispose();
  }

  dispose(): void {
    this.release();
    this.collisions?.dispose();
    this.#bakedClip?.dispose();
    this.tracked?.clip.dispose();
    this.stage.clip?.dispose();
    this.stage.markers?.dispose();
    this.stage.carried?.dispose();
    this.model.dispose();
  }
}
