// Values that go in and out: points, rotations, poses, and the names of things.
//
// Lengths are in the caller's unit (metres by convention), angles in radians. Names are those of the C library; a test holds
// these lists against it.

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

export const statuses = [
    'ok', 'argument', 'memory', 'model', 'not found', 'numeric', 'unsupported', 'format',
    'device',
] as const;

/** Why a call failed. */
export type Status = (typeof statuses)[number];

export const jointTypes = [
    'fixed', 'revolute', 'prismatic', 'universal', 'ball_euler', 'ball_expmap', 'ball_quaternion', 'swing_twist',
    'translation', 'planar', 'free', 'free_expmap', 'free_euler', 'curve',
] as const;

/** The types of joints; `model.h` of the C library says what their coordinates mean. */
export type JointType = (typeof jointTypes)[number];

export const eulerOrders = [
    'xyz', 'xzy', 'yxz', 'yzx', 'zxy', 'zyx', 'xyx', 'xzx', 'yxy', 'yzy', 'zxz', 'zyz',
] as const;

/** The first letter is the outermost rotation, nearest the parent. */
export type EulerOrder = (typeof eulerOrders)[number];

export const goalKinds = [
    'position', 'direction', 'orientation', 'pose', 'aim', 'plane', 'line', 'distance', 'posture', 'smoothness', 'relative',
    'center_of_mass', 'callback',
] as const;

export type GoalKind = (typeof goalKinds)[number];

export const shapeKinds = ['capsule', 'box', 'half_space'] as const;

/** What a collision shape's core is. */
export type ShapeKind = (typeof shapeKinds)[number];

export const constraintKinds = ['clearance', 'connect', 'weld', 'hinge', 'distance', 'plane', 'balance'] as const;

/** What closes a loop: points that coincide, frames, points and z axes; a rod; a height above a plane. */
export type LoopKind = Exclude<(typeof constraintKinds)[number], 'clearance' | 'balance'>;

export const losses = ['none', 'huber', 'geman_mcclure'] as const;

/** How far errors of a goal count: squared, or less from a distance on. */
export type Loss = (typeof losses)[number];

export const methods = [
    'auto', 'gradient_descent', 'jacobian_transpose', 'pseudo_inverse', 'damped_least_squares', 'selectively_damped',
    'priority', 'ccd', 'bwcd', 'fabrik', 'levenberg_marquardt', 'bfgs', 'lbfgs', 'trust_region', 'newton',
    'conjugate_gradient',
] as const;

/** How to solve. `auto` is the one to use; the others are there to be compared. */
export type Method = (typeof methods)[number];

export const outcomes = ['reached', 'closest', 'stalled', 'budget', 'infeasible'] as const;

/** How a solve ended: met; no better pose nearby; no further change; iterations used up. */
export type Outcome = (typeof outcomes)[number];

/** What keeps a solve from its goals, bit by bit. */
export const blockers = ['shapes', 'balance', 'loops', 'limits', 'together', 'soft goals'] as const;

export type Blocker = (typeof blockers)[number];

export const verdictLevels = ['good', 'doubtful', 'failed'] as const;

/** How far a track can be trusted: nothing speaks against it; look at it; the skeleton is not where the person was. */
export type VerdictLevel = (typeof verdictLevels)[number];

export const formats = [
    'unknown', 'urdf', 'mjcf', 'bvh', 'asf', 'amc', 'c3d', 'trc', 'mot', 'gltf', 'glb', 'dh', 'json', 'osim', 'srdf',
] as const;

export type Format = (typeof formats)[number];

export const ups = ['unknown', 'x', 'y', 'z'] as const;

/** The axis that points upwards. */
export type Up = (typeof ups)[number];

export const upSources = ['file', 'figure', 'custom'] as const;

/** What tells which axis points up: the file, the figure in it as it stands, or nothing but the custom of its format. */
export type UpSource = (typeof upSources)[number];

/** What lengths and directions mean. */
export interface Scale {
    /** Metres per unit of length; 0: unknown. */
    readonly metres: number;
    readonly up: Up;
}

export const identityPose: Pose = { position: [0, 0, 0], rotation: [0, 0, 0, 1] };
