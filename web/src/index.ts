/**
 * Poise: inverse kinematics with exact second derivatives, as WebAssembly.
 *
 * Everything here is a thin layer over the C library, whose headers (include/poise/) are the manual: the same names, in
 * camel case, and the same numbers to the last bit. `load` makes an instance; models come from `poise.model`, `poise.scene`
 * or `poise.read`; solvers and their like are made with `new` over a model.
 *
 * What holds memory of the module is a Handle with `dispose()`, works with `using`, and gives its memory back when it is
 * collected if it was forgotten. Calls that fail throw a PoiseError. Arrays called views lie in the module's memory: they are
 * not copied, and end when the memory grows, so ask for them anew rather than keep them.
 */
export { load, Poise, quatFromAxisAngle, type WasmSource } from './poise.js';
export { PoiseError } from './errors.js';
export { Handle } from './handle.js';
export {
    Model, type Coordinate, type DhDescription, type DhRow, type Joint, type JointDescription, type ModelDescription,
    type Tool, type ToolDescription,
} from './model.js';
export { Kinematics } from './kinematics.js';
export { goals, GoalSet, parseGoals, type BodyEnergy, type Goal, type GoalExtras } from './goals.js';
export {
    Solver, type GoalError, type Report, type SolverExtras, type SolverOptions, type TraceEntry,
} from './solver.js';
export { Objective, type Definiteness, type HessianKind, type Level } from './objective.js';
export {
    Aim, Erik, Expressive, MotionFilter, type AimOptions, type AimReport, type AimTarget, type ErikOptions,
    type ErikReport, type ExpressiveOptions, type ExpressiveReport, type FilterJoint,
} from './express.js';
export { Clip, Markers, type Figure, type ScaleMatch, type Subject } from './motion.js';
export {
    calibrate, markersFromClip, placementsByName, retarget, track, Tracker, type Calibration, type CalibrationOptions,
    type Placement, type PlacePrior, type Retargeted, type Tracked, type TrackerOptions, type TrackFrame, type TrackSummary,
} from './track.js';
export {
    trackRecording, type Finding, type MarkerError, type Recording, type RecordingOptions, type RecordingProgress, type Skeleton, type TrackedRecording,
} from './recording.js';
export {
    retargetMotion, type Contacts, type Follower, type RetargetedMotion, type RetargetOptions, type RetargetOutcome, type Role,
    type SkeletonMotion,
} from './retarget.js';
export { Stance, type StanceOptions } from './stance.js';
export { judgeConstraints, judgePath, type KeptOptions, type KeptVerdict, type PathOptions, type PathVerdict } from './path.js';
export { edit, judgeEdit, type EditableMotion, type EditedMotion, type EditOptions, type GoalPin, type PinDescription, type PinResult } from './edit.js';
export { Carried, type Channel, type Event } from './carried.js';
export type { Edit, FileContent, Hull, PoiseFile, Posture, ReadOptions, Warning } from './files.js';
export { Loops, type Loop, type LoopGap } from './loops.js';
export { Clearance, type ClearanceOptions, type ClosePair, type Pair, type Shape } from './clearance.js';
export { Scene, type Motion, type SceneInfo } from './scenes.js';
export {
    blockers, eulerOrders, formats, goalKinds, identityPose, jointTypes, losses, methods, outcomes, shapeKinds, statuses, ups,
    verdictLevels, WORLD,
    type Blocker, type EulerOrder, type Format, type GoalKind, type JointType, type LoopKind, type Loss, type Method, type MutableNumbers,
    type Numbers, type Outcome, type Pose, type Quat, type Scale, type ShapeKind, type Status, type Up, type UpSource, type Vec3,
    type VerdictLevel,
} from './values.js';
export * as schema from './layouts.js';
