// Poise: goals. What the skeleton should do, as energies that an objective adds up.
//
// A goal is a plain struct: make one with a constructor below, change what you like, and hand an array of them to an
// objective or a solver. Nothing is registered. Pointers inside a goal (q, q_weights, user) must stay valid while it is in
// use. Threads may share goals that nobody writes to; a CALLBACK function is called on the thread that solves.
//
// Every goal is an energy E >= 0, zero when the goal is met; near zero it is half a weight times the squared error, in
// length units or radians. So a weight trades square metres against square radians.
//
// | kind           | energy                                                                | error    |
// |----------------|-----------------------------------------------------------------------|----------|
// | POSITION       | w/2 rho(|x - t|^2), x the point `local.position` of the body          | length   |
// | DIRECTION      | w/2 |d - u|^2, d the body's direction `axis`, u = `direction`         | angle    |
// | ORIENTATION    | w/2 (2 sin(phi/2))^2, phi the angle between frame and target          | angle    |
// | POSE           | POSITION with `weight` + ORIENTATION with `rotation_weight`           | both     |
// | AIM            | w/2 |d - u|^2, u the direction from x to t                            | angle    |
// | PLANE          | w/2 rho(((x - t) . n)^2), n = `direction`                             | length   |
// | LINE           | w/2 rho(|(x - t) - ((x - t) . n) n|^2)                                | length   |
// | DISTANCE       | w/2 rho((|x - t| - distance)^2)                                       | length   |
// | POSTURE        | w/2 sum_i w_i (q_i - target_i)^2; quaternions as ORIENTATION          | rms, own |
// | SMOOTHNESS     | the same against the last frame, or the last two extrapolated         | rms, own |
// | RELATIVE       | POSE of a frame of `body` against a frame of `body2`, both moving     | both     |
// | CENTER_OF_MASS | w/2 |c - t|^2                                                         | length   |
// | CALLBACK       | the value of the caller's function, for the frame `local` of a body   | sqrt(2E) |
//
// x is the world position of local.position, d the world direction of `axis`, t = target.position. rho is the loss, by
// default rho(s) = s. For exponential maps, POSTURE and SMOOTHNESS use the nearer of the two vectors of a rotation.
//
// **Tolerance bands** (POSITION, ORIENTATION, POSE): along the axes of the target frame an error up to `tolerance`
// (lengths) or `rotation_tolerance` (components of 2 sin(phi/2) axis, which is the rotation vector for small angles) costs
// nothing; beyond it only the excess counts. Infinity frees an axis: a 5-DoF arm that may roll about the target's z has
// rotation_tolerance = (0, 0, infinity).
//
// **Losses** (POSITION and that of POSE, PLANE, LINE, DISTANCE), s the squared error and k = loss_scale in length units:
//   NONE            rho = s
//   HUBER           rho = s up to k^2, then 2 k sqrt(s) - k^2: a far marker pulls with constant force
//   GEMAN_MCCLURE   rho = s k^2 / (s + k^2): a far marker hardly pulls
#ifndef POISE_GOAL_H
#define POISE_GOAL_H

#include <poise/kinematics.h>

#ifdef __cplusplus
extern "C" {
#endif

// What a goal asks for: the table above.
typedef enum poise_goal_kind {
    POISE_GOAL_POSITION = 0,
    POISE_GOAL_DIRECTION,
    POISE_GOAL_ORIENTATION,
    POISE_GOAL_POSE,
    POISE_GOAL_AIM,
    POISE_GOAL_PLANE,
    POISE_GOAL_LINE,
    POISE_GOAL_DISTANCE,
    POISE_GOAL_POSTURE,
    POISE_GOAL_SMOOTHNESS,
    POISE_GOAL_RELATIVE,
    POISE_GOAL_CENTER_OF_MASS,
    POISE_GOAL_CALLBACK,
    POISE_GOAL_KIND_COUNT
} poise_goal_kind;

// A short lower-case name such as "position"; "unknown" outside the enumeration.
static inline const char *poise_goal_kind_name(poise_goal_kind kind)
{
    return poise_name(POISE_TYPE_GOAL_KIND, (int)kind);
}

// How the cost of a residual grows with its length.
typedef enum poise_loss { POISE_LOSS_NONE = 0, POISE_LOSS_HUBER, POISE_LOSS_GEMAN_MCCLURE, POISE_LOSS_COUNT } poise_loss;

// What a CALLBACK goal returns for the frame `local` of its body at a given world pose. A small move is a rotation vector
// omega and a translation u: rotation <- exp(omega) rotation, position <- position + u, both in world axes.
typedef struct poise_body_energy {
    double energy;           // its share of the cost; >= 0, and 0 where the goal is met: add a constant to one that is not.
                             // Below 0 nothing is REACHED or CLOSEST, and the reason says why
    double gradient[6];      // dE/d omega, dE/du
    double hessian[36];      // row-major, symmetric: second derivatives of E in (omega, u) at 0
    double gauss_newton[36]; // a positive semidefinite approximation; unset: the Hessian if that is, else g g^T / 2E
} poise_body_energy;

// Fill `out`, which comes zeroed with gauss_newton[0] = NaN ("unset"). To leave the goal out of this evaluation return
// false, or a non-finite number.
typedef bool (*poise_goal_function)(void *user, const poise_pose *pose, poise_body_energy *out);

// One goal. Make it with a constructor below, then change what you like.
typedef struct poise_goal {
    poise_goal_kind kind;          // POSITION: what it asks for
    int body;                      // 0: not POSTURE, SMOOTHNESS, CENTER_OF_MASS; index. POISE_NONE is an error.
    int body2;                     // WORLD: RELATIVE: the body to follow; POISE_WORLD: the world. POISE_NONE is an error.
    int priority;                  // 0: comes first; for methods with strict levels. The others sum all goals.
    double weight;                 // 1: >= 0; of the length error, or of the goal's only error
    poise_loss loss;               // NONE: the square of the error
    double loss_scale;             // 1: > 0 where loss is not NONE
    poise_vec3 tolerance;          // zero: half-widths, >= 0, infinity allowed
    poise_pose local;              // identity: the point or frame, in the body's frame
    poise_pose target;             // identity: where it should be: in the world, or for RELATIVE in body2's frame
    poise_vec3 axis;               // z: DIRECTION, AIM: unit direction in the body's frame
    poise_vec3 direction;          // z: DIRECTION, PLANE, LINE: unit direction in the world
    double distance;               // 0: DISTANCE: >= 0
    double rotation_weight;        // 1: POSE, RELATIVE: >= 0
    poise_vec3 rotation_tolerance; // zero: the same for the rotation
    const double *q;               // POSTURE: the posture; SMOOTHNESS: the last frame; nq numbers
    const double *q_before;        // SMOOTHNESS: the frame before that, to extrapolate constant velocity; NULL: stay
    const double *q_weights;       // POSTURE, SMOOTHNESS: nv weights >= 0 (a quaternion takes its first); NULL: all 1
    poise_goal_function function;  // CALLBACK
    void *user;                    // passed to it
} poise_goal;

// All weights 1, no tolerance, no loss, identity poses, z axes, priority 0, body 0.
static inline poise_goal poise_goal_default(poise_goal_kind kind)
{
    poise_goal goal;
    poise_init(POISE_TYPE_GOAL, &goal, sizeof goal);
    goal.kind = kind;
    return goal;
}

// The point `local` of `body` at the world point `target`. A marker.
POISE_API poise_goal poise_goal_position(int body, poise_vec3 local, poise_vec3 target);

// The direction `axis` of `body` along the world direction `direction`. Both are normalised.
POISE_API poise_goal poise_goal_direction(int body, poise_vec3 axis, poise_vec3 direction);

// The rotation of `body` equal to `target`.
POISE_API poise_goal poise_goal_orientation(int body, poise_quat target);

// The frame `local` of `body` at the world pose `target`. Weights 1 for metres and radians alike.
POISE_API poise_goal poise_goal_pose(int body, poise_pose local, poise_pose target);

// The direction `axis` at the point `local` of `body`, towards the world point `target`: a gaze, a lamp, a gun.
POISE_API poise_goal poise_goal_aim(int body, poise_vec3 local, poise_vec3 axis, poise_vec3 target);

// The point on the plane through `origin` with the normal `normal`.
POISE_API poise_goal poise_goal_plane(int body, poise_vec3 local, poise_vec3 origin, poise_vec3 normal);

// The point on the line through `origin` along `direction`.
POISE_API poise_goal poise_goal_line(int body, poise_vec3 local, poise_vec3 origin, poise_vec3 direction);

// The point at `distance` from `target`.
POISE_API poise_goal poise_goal_distance(int body, poise_vec3 local, poise_vec3 target, double distance);

// The configuration near `q` (nq numbers), with the weight `weight`.
POISE_API poise_goal poise_goal_posture(const double *q, double weight);

// The configuration near the last frame `q`, or, with `q_before`, near its extrapolation.
POISE_API poise_goal poise_goal_smoothness(const double *q, const double *q_before, double weight);

// The frame `local` of `body` at `target` as seen from `body2`: two hands on one object, a closed loop.
POISE_API poise_goal poise_goal_relative(int body, poise_pose local, int body2, poise_pose target);

// The centre of mass at the world point `target`.
POISE_API poise_goal poise_goal_center_of_mass(poise_vec3 target);

// The energy that `function` gives for `body`, or with `local` for a frame fixed in it.
POISE_API poise_goal poise_goal_callback(int body, poise_goal_function function, void *user);

// Attach a goal to a tool of the model, by name: `body` becomes the tool's body, and `local` and `axis`, given in the tool's
// frame, are transformed to the body's. To bring the tip of an arm to a point:
//
//   poise_goal reach = poise_goal_position(0, poise_vec3_make(0, 0, 0), target);
//   poise_goal_at_tool(&reach, arm, "tip", &error);
//
// POISE_ERROR_NOT_FOUND, with the goal untouched, when there is no such tool; POISE_ERROR_ARGUMENT for goals without a body.
POISE_API poise_status poise_goal_at_tool(poise_goal *goal, const poise_model *model, const char *tool, poise_error *error);

// Check one goal against a model: indices in range, numbers finite, directions unit to 1e-6, weights and bands >= 0. Fills
// `error` (may be NULL) with the reason. Solvers call this themselves.
POISE_API poise_status poise_goal_check(const poise_goal *goal, const poise_model *model, poise_error *error);

// How far the point of a goal can get from the first joint that moves it: the length of the chain between them, along its
// bones. *first becomes that joint; a target farther from its origin is out of reach, whatever the limits. Infinity, with
// *first at POISE_NONE, if nothing turns the body or something on the way slides.
POISE_API double poise_goal_reach(const poise_goal *goal, const poise_model *model, int *first);

// Is the target of a POSITION or POSE goal out of reach in the configuration of `kinematics`, and would it be in reach were
// its numbers thousandths, as if millimetres had been given for metres? A guess: ask before acting on it. *distance and
// *reach (may be NULL): how far the target is from the first joint that moves the body, and how far the chain gets.
POISE_API bool poise_goal_suspect_millimetres(const poise_goal *goal, const poise_kinematics *kinematics, double *distance,
                                              double *reach);

#ifdef __cplusplus
}
#endif

#endif
