// Values that go in and out: points, rotations, poses, and the names of things.
//
// Lengths are in the caller's unit (metres by convention), angles in radians. Names are those of the C library.
import { enums } from './layouts.js';

/** A point or a direction. */
export type Vec3 = readonly [x: number, y: number, z: number];

/** A rotation as a unit quaternion x i + y j + z k + w. */
export type Quat = readonly [x: number, y: number, z: number, w: number];

/** A rotation followed by a translation: world = rotate(rotation, local) + position. */
export interface Pose {
    readonly position: Vec3;
    readonly rotation: Quat;
}

/** Numbers to read: an array, or a view of one. */
export type Numbers = ArrayLike<number>;

/** Numbers to read and write. */
export type MutableNumbers = number[] | Float64Array;

/** No such body, joint or marker; as a parent: the world. */
export const WORLD = -1;

export const statuses = enums.poise_status;

/** Why a call failed. */
export type Status = (typeof statuses)[number];

export const jointTypes = enums.poise_joint_type;

/** The types of joints; `model.h` of the C library says what their coordinates mean. */
export type JointType = (typeof jointTypes)[number];

export const eulerOrders = enums.poise_euler_order;

/** The first letter is the outermost rotation, nearest the parent. */
export type EulerOrder = (typeof eulerOrders)[number];

export const goalKinds = enums.poise_goal_kind;

export type GoalKind = (typeof goalKinds)[number];

export const shapeKinds = enums.poise_shape_kind;

/** What a collision shape's core is. */
export type ShapeKind = (typeof shapeKinds)[number];

export const constraintKinds = enums.poise_constraint_kind;

/** What closes a loop: points that coincide, frames, points and z axes; a rod; a height above a plane. */
export type LoopKind = Exclude<(typeof constraintKinds)[number], 'clearance' | 'balance'>;

export const losses = enums.poise_loss;

/** How far errors of a goal count: squared, or less from a distance on. */
export type Loss = (typeof losses)[number];

export const methods = enums.poise_method;

/** How to solve. `auto` is the one to use; the others are there to be compared. */
export type Method = (typeof methods)[number];

export const outcomes = enums.poise_outcome;

/** How a solve ended: met; no better pose nearby; no further change; iterations used up. */
export type Outcome = (typeof outcomes)[number];

/** What keeps a solve from its goals, bit by bit. */
export const blockers = ['shapes', 'balance', 'loops', 'limits', 'together', 'soft goals'] as const;

export type Blocker = (typeof blockers)[number];

export const verdictLevels = enums.poise_verdict_level;

/** How far a track can be trusted: nothing speaks against it; look at it; the skeleton is not where the person was. */
export type VerdictLevel = (typeof verdictLevels)[number];

export const formats = enums.poise_format;

export type Format = (typeof formats)[number];

export const ups = enums.poise_up;

/** The axis that points upwards. */
export type Up = (typeof ups)[number];

export const upSources = enums.poise_up_source;

/** What tells which axis points up: the file, the figure in it as it stands, or nothing but the custom of its format. */
export type UpSource = (typeof upSources)[number];

/** What lengths and directions mean. */
export interface Scale {
    /** Metres per unit of length; 0: unknown. */
    readonly metres: number;
    readonly up: Up;
}

export const identityPose: Pose = { position: [0, 0, 0], rotation: [0, 0, 0, 1] };
