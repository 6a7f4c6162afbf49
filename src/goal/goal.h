// How goals become numbers: what a kind says of itself (pz_goal_row, a file for each), and what it adds to an evaluation.
//
// Kinds add to the body they act on, about the reference point: a wrench (the gradient) and second derivatives along
// motions. Most have the same stiffness in all directions, like a marker, and need few numbers (pz_sum). The others
// describe their energy at one point by a *jet*, which is moved to the reference point and kept apart (pz_extra, goal.c).
// Kinds that tie several bodies together add rows (relative.c, mass_center.c), kinds over coordinates add to the diagonal
// (posture.c).
#ifndef PZ_GOAL_GOAL_H
#define PZ_GOAL_GOAL_H

#include <poise/goal.h>
#include <poise/objective.h>

#include "kin/kin.h"
#include "num/rotation.h"
#include "num/vector.h"

// What all goals of one body, or of a whole subtree, add up to, about the reference point. Goals are masses: n is their
// mass, c their first and ww their second moment. For a motion [w ; v] the second derivatives are the wrenches
//
//   Gauss-Newton   [ ww w + c x v ; w x c + n v ]
//   exact          [ the same + K w - f x v / 2 ; the same + f x w / 2 ]
//
// in their symmetric form, f the force of g. (c x v is [c]x v, the sum of w_i [x_i]x over the markers i.)
typedef struct pz_sum {
    wrench g; // dE = g . motion
    double n;
    vec3 c;
    sym3 ww;
    sym3 K; // what exact adds to ww: the sum of pz_turn_curvature
} pz_sum;

// Moments of the markers of one body (position.c).
typedef struct pz_moments {
    double n;
    vec3 b;
    sym3 S;
    vec3 tau; // in the world
    mat3 Y;   // columns belong to the components of t
} pz_moments;

// Second derivatives of goals that do not fit, in full.
typedef struct pz_extra {
    sym6 exact; // beyond the terms of pz_sum
    sym6 gauss_newton;
} pz_extra;

// Second derivatives in (omega, u): E'' = [ww wu; wu^T uu].
typedef struct pz_curvature {
    sym3 ww;
    mat3 wu;
    sym3 uu;
} pz_curvature;

// Value, gradient and second derivatives at a point x of a body, for small moves that turn the body about x by the rotation
// vector omega and shift x by u.
typedef struct pz_jet {
    vec3 x; // the point, relative to the reference point
    double energy;
    vec3 torque; // dE / d omega
    vec3 force;  // dE / du
    pz_curvature exact;
    pz_curvature gauss_newton;
} pz_jet;

// An evaluation in progress: where the goals' contributions go.
typedef struct pz_evaluation {
    const poise_kinematics *kin;
    poise_level level;
    double cost;
    pz_sum *sums;     // by body
    pz_extra *extras; // by body; cleared by the first goal that needs them
    bool has_extras;
    double *dof_gradient;  // by dof: of goals on coordinates
    double *dof_curvature; // by dof: their second derivatives
    sym3 *block_curvature; // by rotation block: the same for quaternions, exact
    sym3 *block_gauss_newton;
    double *rows; // nv each: Gauss-Newton rows of goals that tie bodies together
    double *row_weights;
    int row_count;
} pz_evaluation;

#if REAL_WIDTH == 1

// (d f^T + f d^T)/2 - (d . f) I: the second derivative of f . d for a vector d that turns, f held fixed
PZ_FN sym3 pz_turn_curvature(vec3 d, vec3 f)
{
    sym3 s = sym3_pair(d, f);
    double trace = v3_dot(d, f);
    s.xx -= trace, s.yy -= trace, s.zz -= trace;
    return s;
}

#endif

// Add energy, torque and the second derivatives of a goal on directions only: ww for Gauss-Newton, ww + K exact.
void pz_add_turning(pz_evaluation *evaluation, int body, double energy, vec3 torque, const sym3 *ww, const sym3 *K);

// Add a jet to its body.
void pz_add_jet(pz_evaluation *evaluation, int body, const pz_jet *jet);

// Add a force f at x, or on a direction d, whose only second derivatives are those of the moving point or direction.
void pz_add_force(pz_evaluation *evaluation, int body, vec3 x, vec3 force);
void pz_add_direction_force(pz_evaluation *evaluation, int body, vec3 d, vec3 force);

// Space for one more row of nv numbers with this weight, cleared.
double *pz_add_row(pz_evaluation *evaluation, double weight);

// Most rows that one goal may add.
#define PZ_ROWS_PER_GOAL POISE_GOAL_RESIDUALS

// ---- Residuals at a point ------------------------------------------------------------------------------------------------

// E = w/2 rho(r . r) for a residual r = P (x - t) with a projection P that does not move.
typedef struct pz_residual {
    vec3 r;
    sym3 P;
} pz_residual;

void pz_residual_jet(const poise_goal *goal, const pz_residual *residual, poise_level level, pz_jet *jet);

// rho(s) and its first two derivatives.
typedef struct pz_loss {
    double rho, d1, d2;
} pz_loss;

pz_loss pz_loss_at(poise_loss kind, double scale, double s);

// sqrt(w rho'(s)), the factor of a goal's residual rows.
double pz_row_weight(const poise_goal *goal, double s);

// x - tolerance beyond it, 0 within, mirrored.
PZ_FN double pz_dead_zone(double x, double tolerance)
{
    return x > tolerance ? x - tolerance : x < -tolerance ? x + tolerance : 0.0;
}

// Is there a tolerance?
PZ_FN bool pz_has_band(vec3 tolerance)
{
    return fabs(tolerance.x) + fabs(tolerance.y) + fabs(tolerance.z) != 0; // one question instead of three
}

// Have goals tolerances, at whose edges the cost has kinks?
PZ_FN bool pz_has_tolerances(const poise_goal *goals, int count)
{
    bool found = false;
    for (int i = 0; i < count && !found; ++i) {
        found = pz_has_band(goals[i].tolerance) || pz_has_band(goals[i].rotation_tolerance);
    }
    return found;
}

// An error beyond its tolerance: what is left of each component, and 1 for those that count, 0 for those within.
typedef struct pz_beyond {
    vec3 e, active;
} pz_beyond;

PZ_FN pz_beyond pz_beyond_band(vec3 e, vec3 tolerance)
{
    return (pz_beyond){
        {pz_dead_zone(e.x, tolerance.x), pz_dead_zone(e.y, tolerance.y), pz_dead_zone(e.z, tolerance.z)},
        {fabs(e.x) >= tolerance.x ? 1.0 : 0.0, fabs(e.y) >= tolerance.y ? 1.0 : 0.0, fabs(e.z) >= tolerance.z ? 1.0 : 0.0}};
}

// ---- Kinds ---------------------------------------------------------------------------------------------------------------

// What a kind uses, for the checks that all kinds share.
typedef enum pz_goal_needs {
    PZ_NEEDS_BODY = 1,
    PZ_NEEDS_POINT = 2,    // local.position and target.position
    PZ_NEEDS_ROTATION = 4, // local.rotation and target.rotation
    PZ_NEEDS_AXIS = 8,
    PZ_NEEDS_DIRECTION = 16,
    PZ_NEEDS_COUPLING = 32 // adds rows
} pz_goal_needs;

typedef struct pz_goal_row {
    int needs;
    // What the kind asks of a goal besides; NULL: nothing. pz_refuse_goal says what is wrong.
    poise_status (*check)(const poise_goal *goal, const poise_model *model, poise_error *error);
    // Add value, gradient and second derivatives, as far as evaluation->level asks for them.
    void (*evaluate)(pz_evaluation *evaluation, const poise_goal *goal);
    // How far the goal is from being met.
    poise_goal_error (*error)(const poise_kinematics *kin, const poise_goal *goal);
    // The goal as residuals: r, and J = dr/dq (rows x nv), both times the root of the weight. Returns the number of rows,
    // which depends on kind and model alone; with r NULL that is all it does. J^T r is the gradient, and r . r/2 the energy
    // but for goals with a loss: there both carry the root of rho' ("iteratively reweighted"), so that a step towards r = 0
    // is one towards the target. NULL: the kind has no residuals.
    int (*rows)(const poise_kinematics *kin, const poise_goal *goal, double *r, double *J);
} pz_goal_row;

const pz_goal_row *pz_goal_row_of(poise_goal_kind kind); // NULL outside the enumeration

// Each in a file of its name; SMOOTHNESS in posture.c.
extern const pz_goal_row pz_goal_position, pz_goal_direction, pz_goal_orientation, pz_goal_pose, pz_goal_aim, pz_goal_plane,
    pz_goal_line, pz_goal_distance, pz_goal_posture, pz_goal_smoothness, pz_goal_relative, pz_goal_center_of_mass,
    pz_goal_callback;

// ARGUMENT with the reason "KIND goal: why"; and where a body that a goal names does not exist.
poise_status pz_refuse_goal(poise_error *error, const poise_goal *goal, const char *why);
poise_status pz_check_goal_body(const poise_goal *goal, const char *member, int body, const poise_model *model,
                                poise_error *error);

// The energy of one goal.
double pz_goal_energy(const poise_kinematics *kin, const poise_goal *goal);

// A goal for the point `local` of a body, and a target point.
PZ_FN poise_goal pz_goal_at_point(poise_goal_kind kind, int body, poise_vec3 local, poise_vec3 target)
{
    poise_goal goal = poise_goal_default(kind);
    goal.body = body;
    goal.local.position = local;
    goal.target.position = target;
    return goal;
}

// Is the point of a DISTANCE at its target, the tip of a cone, where its gradient is any?
bool pz_distance_is_at_tip(const poise_kinematics *kin, const poise_goal *goal);

// The rotation of the goal's frame `local` against target.rotation, with weight w: its energy, and its three residual rows.
void pz_add_orientation(pz_evaluation *evaluation, const poise_goal *goal, double w);
void pz_rotation_rows(const poise_kinematics *kin, const poise_goal *goal, double w, double *r, double *J);

// The rows a_k of A (orientation.c) in world axes, as its columns, for the rotation r from a target with the axes T: de = A
// omega.
mat3 pz_rotation_gradients(quat r, const mat3 *T);

// ---- Residual rows -------------------------------------------------------------------------------------------------------

// Clear `count` rows of J (each nv long).
PZ_FN void pz_clear_rows(const poise_kinematics *kin, int count, double *J)
{
    memset(J, 0, (size_t)count * (size_t)kin->model->nv * sizeof *J);
}

// A residual of one body changes with its motion as dr = g . motion: add the wrench g, paired with the axes that move the
// body, to one row.
void pz_add_to_row(const poise_kinematics *kin, int body, wrench g, double *row);

// Three rows of the point x of a body, along the columns of A: dr_k = A_k . dx. Clears them first.
void pz_point_rows(const poise_kinematics *kin, int body, vec3 x, const mat3 *A, double *J);

#if REAL_WIDTH == 1

// The target point of a goal, relative to the reference point.
PZ_FN vec3 pz_goal_target(const poise_kinematics *kin, const poise_goal *goal)
{
    return v3_sub(goal->target.position, kin->origin);
}

// ---- Two frames that belong together, each fixed in a body: of RELATIVE goals, and of constraints that close loops -------

typedef struct pz_ends {
    vec3 x, y; // origins of `local` on the body, and of `target` on body2
    mat3 d, c; // their axes
} pz_ends;

PZ_FN mat3 pz_axes_on(const poise_kinematics *kin, int body, quat local)
{
    mat3 R = pz_kin_rotation(kin, body), L = quat_matrix(local);
    return m3_mul(&R, &L);
}

PZ_FN pz_ends pz_ends_of(const poise_kinematics *kin, int body, poise_pose local, int body2, poise_pose target)
{
    return (pz_ends){.x = pz_kin_point(kin, body, local.position),
                     .y = pz_kin_point(kin, body2, target.position),
                     .d = pz_axes_on(kin, body, local.rotation),
                     .c = pz_axes_on(kin, body2, target.rotation)};
}

#endif

// ---- Errors --------------------------------------------------------------------------------------------------------------

// The angle in radians between two frames given by their columns; accurate near 0 and pi.
double pz_frame_angle(const mat3 *A, const mat3 *B);

// An error of one number.
PZ_FN poise_goal_error pz_single_error(double error, poise_unit unit)
{
    return (poise_goal_error){.error = error, .unit = unit, .rotation_error = 0.0};
}

// The error of a goal without the parts that have no weight.
PZ_FN poise_goal_error pz_counted_error(const poise_goal *goal, poise_goal_error e)
{
    e.error = goal->weight > 0 ? e.error : 0.0;
    e.rotation_error = goal->rotation_weight > 0 ? e.rotation_error : 0.0;
    return e;
}

#endif
