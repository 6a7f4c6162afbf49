// Poise: the skeleton. Describe it with a builder, make a model once, share it between threads.
//
// A model is a tree of joints. Joint k carries body k, so joints and bodies share one index. Parents come first: parent(k)
// < k, and the joints below k are exactly k+1 .. k+subtree(k)-1 (depth-first order). The builder takes joints in any order
// and sorts them; joints that were added in depth-first order keep their index.
//
//   world pose of body k = world pose of its parent * offset_k * motion_k(q)
//
// A configuration q has nq numbers, a velocity, gradient or step nv numbers. They differ only for quaternion joints: four
// numbers in q, three in a step. poise_retract and poise_difference (kinematics.h) go between the two.
//
// | type              | nq | nv | coordinates                                    | motion in the joint's axes frame        |
// |-------------------|----|----|------------------------------------------------|-----------------------------------------|
// | FIXED             | 0  | 0  |                                                | identity                                |
// | REVOLUTE          | 1  | 1  | angle                                          | turn about `axis`                       |
// | PRISMATIC         | 1  | 1  | length                                         | slide along `axis`                      |
// | UNIVERSAL         | 2  | 2  | angles                                         | turn about `axis`, then `axis2`         |
// | BALL_EULER        | 3  | 3  | angles, outermost first                        | R_A(q0) R_B(q1) R_C(q2) for order ABC   |
// | BALL_EXPMAP       | 3  | 3  | rotation vector                                | exp(v)                                  |
// | BALL_QUATERNION   | 4  | 3  | x y z w                                        | the quaternion                          |
// | SWING_TWIST       | 3  | 3  | swing a, b; twist                              | exp(a x + b y) Rz(twist)                |
// | TRANSLATION       | 3  | 3  | x y z                                          | translation                             |
// | PLANAR            | 3  | 3  | x, y, angle about z                            | translation, then Rz                    |
// | FREE              | 7  | 6  | x y z; quaternion x y z w                      | translation, then the quaternion        |
// | FREE_EXPMAP       | 6  | 6  | x y z; rotation vector                         | translation, then exp(v)                |
// | FREE_EULER        | 6  | 6  | x y z; angles, outermost first                 | translation, then Euler                 |
// | CURVE             | 1  | 1  | what its functions take: an angle, a length    | slides and turns by functions of it     |
//
// A revolute, prismatic or curve joint may also mimic another joint. It then has no coordinate of its own: q = multiplier *
// q_other + offset, or a function of q_other.
//
// **Threads.** A builder belongs to one thread at a time. A model never changes: any number of threads may use it at once.
#ifndef POISE_MODEL_H
#define POISE_MODEL_H

#include <poise/math.h>

#ifdef __cplusplus
extern "C" {
#endif

// The world: the parent of a root. It is not a body of the model and never moves.
#define POISE_WORLD (-1)
// Not found: what a search by name returns when nothing has that name. No call accepts it as an index.
#define POISE_NONE (-2)

// The types of joints: the table above.
typedef enum poise_joint_type {
    POISE_JOINT_FIXED = 0,
    POISE_JOINT_REVOLUTE,
    POISE_JOINT_PRISMATIC,
    POISE_JOINT_UNIVERSAL,
    POISE_JOINT_BALL_EULER,
    POISE_JOINT_BALL_EXPMAP,
    POISE_JOINT_BALL_QUATERNION,
    POISE_JOINT_SWING_TWIST,
    POISE_JOINT_TRANSLATION,
    POISE_JOINT_PLANAR,
    POISE_JOINT_FREE,
    POISE_JOINT_FREE_EXPMAP,
    POISE_JOINT_FREE_EULER,
    POISE_JOINT_CURVE,
    POISE_JOINT_TYPE_COUNT
} poise_joint_type;

// A short lower-case name such as "revolute"; "unknown" outside the enumeration.
static inline const char *poise_joint_type_name(poise_joint_type type)
{
    return poise_name(POISE_TYPE_JOINT_TYPE, (int)type);
}

// The order of an Euler joint: the first letter is the outermost rotation, nearest the parent.
typedef enum poise_euler_order {
    POISE_EULER_XYZ = 0,
    POISE_EULER_XZY,
    POISE_EULER_YXZ,
    POISE_EULER_YZX,
    POISE_EULER_ZXY,
    POISE_EULER_ZYX,
    POISE_EULER_XYX,
    POISE_EULER_XZX,
    POISE_EULER_YXY,
    POISE_EULER_YZY,
    POISE_EULER_ZXZ,
    POISE_EULER_ZYZ,
    POISE_EULER_ORDER_COUNT
} poise_euler_order;

// The kinds of functions of one coordinate.
typedef enum poise_function_kind {
    POISE_FUNCTION_POLYNOMIAL = 0, // y holds the coefficients, highest power first; x is not used
    POISE_FUNCTION_SPLINE, // cubic through the points with continuous second derivatives: SIMM's spline, as in OpenSim
    POISE_FUNCTION_LINES   // straight lines from point to point
} poise_function_kind;

// A function of one coordinate. Beyond the first and last points a spline continues as a straight line with the slope it
// has there; LINES extend their first and last segments.
typedef struct poise_function {
    poise_function_kind kind; // how y is read
    int count;                // number of coefficients or points; 0: the function is 0
    const double *x;          // SPLINE, LINES: abscissas of the points, strictly increasing
    const double *y;          // values at those points, or the coefficients
} poise_function;

// The motion of a CURVE joint: six functions of its one coordinate.
//
//   motion(q) = translate(f3 u3 + f4 u4 + f5 u5) R(u0, f0) R(u1, f1) R(u2, f2)
//
// A knee rolls as it bends: f2 is the angle itself, f3 and f4 are splines of it.
typedef struct poise_curve {
    poise_vec3 axis[6];      // u: turns 0..2, slides 3..5; in the joint's axes; any length but 0 where the function is not 0
    poise_function value[6]; // f
} poise_curve;

// One joint and the body it carries. Start from poise_joint_default() and set what differs.
typedef struct poise_joint {
    const char *name;                     // of the joint; required, unique among joints; copied
    const char *body;                     // of the body; NULL: the joint's name; unique among bodies; copied
    const char *parent;                   // name of the parent body; NULL: attached to the world. May be added later.
    poise_joint_type type;                // FIXED: the table above
    poise_pose offset;                    // identity: of the joint's frame in the parent body's frame; body frame = joint
                                          // frame at q = 0
    poise_vec3 axis;                      // z: REVOLUTE, PRISMATIC, UNIVERSAL: in the joint's frame; any length but 0
    poise_vec3 axis2;                     // x: UNIVERSAL: second axis, orthogonal to the first
    poise_quat axes;                      // identity: all other types: the frame that x, y and z refer to, in the joint's
                                          // frame: motion = A M(q) A^-1
    poise_euler_order order;              // XYZ: BALL_EULER, FREE_EULER
    double lower[7];                      // -infinity: limits by coordinate, in the order of q. Not for quaternions.
    double upper[7];                      // infinity
    double swing[2];                      // infinity: SWING_TWIST: half-axes of the swing ellipse (q0/swing[0])^2 +
                                          // (q1/swing[1])^2 <= 1, each in (0, pi); infinity: no ellipse. Set both or none;
                                          // lower and upper of q0 and q1 must then include 0.
    const poise_curve *curve;             // CURVE: its axes and functions, copied; NULL for other types
    const char *mimic;                    // REVOLUTE, PRISMATIC, CURVE: name of the joint to follow, of one degree of
                                          // freedom; NULL: none
    double mimic_multiplier;              // 1
    double mimic_offset;                  // 0
    const poise_function *mimic_function; // NULL; q = f(q_other) instead, copied: set limits on the joint it follows
    double mass;                          // 0: of the body. Only its share of the total matters (centre-of-mass goals).
    poise_vec3 mass_center;               // zero: in the body's frame
    double velocity;                      // 0: none; of each coordinate, per second, from a file; for retargeting and
                                          // control, not for a solve
} poise_joint;

// A fixed joint at its parent's origin, no limits, no mass.
static inline poise_joint poise_joint_default(void)
{
    poise_joint joint;
    poise_init(POISE_TYPE_JOINT, &joint, sizeof joint);
    return joint;
}

// A named frame on a body: a tool tip, a marker, a camera.
typedef struct poise_tool {
    const char *name; // required, unique among tools; copied
    const char *body; // name of the body that carries it
    poise_pose pose;  // in the body's frame
} poise_tool;

// One row of a Denavit-Hartenberg table. The joint variable adds to `theta` (revolute) or `d` (prismatic).
typedef struct poise_dh_row {
    double a, alpha, d, theta; // lengths and angles
    bool prismatic;            // false: revolute
    double lower, upper;       // of the joint variable; lower = -infinity, upper = infinity for none
} poise_dh_row;

// How a row of a Denavit-Hartenberg table is read.
typedef enum poise_dh_convention {
    POISE_DH_CLASSIC = 0, // Rz(theta) Tz(d) Tx(a) Rx(alpha): the row ends at the next joint's axis
    POISE_DH_MODIFIED     // Rx(alpha) Tx(a) Rz(theta) Tz(d): the row begins at the previous joint's axis (Craig)
} poise_dh_convention;

// ---- Builder -------------------------------------------------------------------------------------------------------------

// A skeleton under construction: opaque.
typedef struct poise_builder poise_builder;
// A skeleton, constant once made: opaque.
typedef struct poise_model poise_model;

// An empty builder. Release with poise_builder_destroy. `allocator` may be NULL; it must outlive the builder.
POISE_API poise_status poise_builder_create(const poise_allocator *allocator, poise_builder **builder, poise_error *error);
POISE_API void poise_builder_destroy(poise_builder *builder); // NULL is allowed

// Add a joint with its body. Checks what can be checked without the other joints: names, numbers, axes, limits. `error` may
// be NULL.
POISE_API poise_status poise_builder_add_joint(poise_builder *builder, const poise_joint *joint, poise_error *error);

// Add a named frame on a body, which may be added later.
POISE_API poise_status poise_builder_add_tool(poise_builder *builder, const poise_tool *tool, poise_error *error);

// Add a serial chain from `count` Denavit-Hartenberg rows below the body `parent` (NULL: the world). Joints and bodies are
// called `prefix`1, `prefix`2, ... Body frames lie on the joint axes; the frame at the end of the last row is the tool
// `prefix`tip. All rows are added, or none.
POISE_API poise_status poise_builder_add_dh(poise_builder *builder, const char *prefix, const char *parent,
                                            poise_dh_convention convention, const poise_dh_row *rows, int count,
                                            poise_error *error);

// Check the whole skeleton (unknown parents, cycles, mimics, tools) and make the model: one allocation. The builder is
// unchanged and can be used further. Release with poise_model_destroy. `allocator` and `error` may be NULL.
POISE_API poise_status poise_model_create(const poise_builder *builder, const poise_allocator *allocator,
                                          poise_model **model, poise_error *error);
POISE_API void poise_model_destroy(poise_model *model); // NULL is allowed

// The same skeleton with other limits: lower and upper (nq numbers each), and swing, the half-axes of the ellipse of every
// joint (two numbers a joint, read for those that have one; NULL: as they are). It shares the rest with `model`, which must
// outlive it, and costs next to nothing. Release with poise_model_destroy. ARGUMENT: a lower number above its upper one, or
// NaN.
POISE_API poise_status poise_model_with_limits(const poise_model *model, const double *lower, const double *upper,
                                               const double *swing, const poise_allocator *allocator, poise_model **limited,
                                               poise_error *error);

// ---- Queries -------------------------------------------------------------------------------------------------------------

// Sizes and limits.
typedef struct poise_model_summary {
    int joints;          // and bodies: each joint moves one
    int tools;           // how many
    int nq;              // length of a configuration
    int nv;              // degrees of freedom: length of a step
    const double *lower; // limits by coordinate, nq each; -infinity and infinity where there is none. A mimic narrows the
    const double *upper; // limits of the joint it follows, so that both hold. Valid as long as the model.
} poise_model_summary;

// Zeros and NULL without a model.
POISE_API poise_model_summary poise_model_info(const poise_model *model);

// Index by name; POISE_NONE when nothing has that name.
POISE_API int poise_model_find_joint(const poise_model *model, const char *name);
POISE_API int poise_model_find_body(const poise_model *model, const char *name);
POISE_API int poise_model_find_tool(const poise_model *model, const char *name);

// The body that a person means by a name: the name of a body, of the joint that moves it, or of a tool on it. *local (may
// be NULL) is the tool's frame in the body, or the identity. POISE_NONE if nothing has that name; `error` (may be NULL)
// then suggests the nearest name or lists those that exist.
POISE_API int poise_model_find_part(const poise_model *model, const char *name, poise_pose *local, poise_error *error);

// Joint k and its body, by index. Names are valid as long as the model.
typedef struct poise_joint_info {
    const char *name;         // of the joint
    const char *body;         // name of its body
    poise_joint_type type;    // the table above
    int parent;               // body, or POISE_WORLD for a root
    int mimic;                // the joint it follows, or POISE_NONE
    int subtree;              // joints in the subtree rooted here, itself included: k .. k+subtree-1
    int q, nq;                // where its numbers start in q, and how many it has; none for a mimic
    int v, nv;                // the same in a step
    const poise_joint *given; // its description; the names, including the parent's, point into the model
} poise_joint_info;

// Out of range: NULL names, FIXED, no parent, zeros.
POISE_API poise_joint_info poise_model_joint_info(const poise_model *model, int joint);

// What a number measures.
typedef enum poise_unit { POISE_UNIT_LENGTH = 0, POISE_UNIT_ANGLE, POISE_UNIT_NONE } poise_unit;

// One number of a configuration.
typedef struct poise_coordinate {
    int joint;         // the joint it belongs to
    int place;         // its index among the numbers of that joint
    const char *name;  // in files: "tx", "rz", "qw", "angle"
    const char *label; // for people: "x", "turn Z", "quat w"; "" where the joint has only one
    poise_unit unit;   // NONE for components of a quaternion, and for a curve coordinate that is neither angle nor length
} poise_coordinate;

// Coordinate i of a configuration. Out of range: POISE_NONE and NULL names.
POISE_API poise_coordinate poise_model_coordinate(const poise_model *model, int coordinate);

// The same for a joint that is only described, not yet part of a model; `joint` is POISE_NONE.
POISE_API poise_coordinate poise_joint_coordinate(const poise_joint *joint, int place);

// A tool by index.
typedef struct poise_tool_info {
    const char *name; // valid as long as the model
    int body;         // the body that carries it
    poise_pose pose;  // in the body's frame
} poise_tool_info;

// Out of range: NULL, POISE_NONE and the identity.
POISE_API poise_tool_info poise_model_tool_info(const poise_model *model, int tool);

// ---- Configurations and limits -------------------------------------------------------------------------------------------

// The neutral configuration: zeros and identity quaternions. It may lie outside the limits.
POISE_API void poise_model_neutral(const poise_model *model, double *q);

// POISE_OK when q can be a configuration: nq finite numbers, no quaternion zero. Else ARGUMENT, and `error` (may be NULL)
// says which number of q, which it calls `name`, is wrong.
POISE_API poise_status poise_model_check(const poise_model *model, const double *q, const char *name, poise_error *error);

// Do all limits hold exactly? Quaternions must be finite and not zero.
POISE_API bool poise_model_within_limits(const poise_model *model, const double *q);

// The first coordinate of q that looks like an angle in degrees where radians are meant: more than a turn, and beyond the
// limits of its joint; or more than three turns where there are none. POISE_NONE: none does. A guess: ask before acting on
// it.
POISE_API int poise_model_suspect_degrees(const poise_model *model, const double *q);

// Move q to the nearest values within the limits, coordinate by coordinate (a swing along its ray to the centre), and
// normalise quaternions. Afterwards poise_model_within_limits is true. *moved (may be NULL) is the number of joints that
// were moved. Fails, leaving q untouched, if a number is not finite or a quaternion is zero.
POISE_API poise_status poise_model_clamp(const poise_model *model, double *q, int *moved, poise_error *error);

#ifdef __cplusplus
}
#endif

#endif
