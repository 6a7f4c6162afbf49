// Where markers sit, and how long bones are: a least-squares fit of poses and constants together.
//
// For fixed rotations the position of marker m in frame f is linear in the constants z: the factors s_a of the bones and the
// offsets l_m of the markers from their bodies,
//
//   x = k_f + sum_a s_a c_af + R_bf l_m        a over the joints above the marker's body b, but those at the world
//
// with c_af the offset of joint a, unscaled, turned into the world. So d x/d z = A = [.. c_af .. R_bf ..], and d x/d q = J.
// Poses are always solved for the current constants, hence J^T r = 0 for the residuals r of a frame, and the Gauss-Newton
// step of the constants, with the poses following them, is (the Schur complement of the poses)
//
//   N dz = sum_f A^T r        N = sum_f A^T A - C^T G^-1 C        G = J^T J, C = J^T A
//
// damped as in Levenberg and Marquardt's method. Coordinates at a limit do not follow. Bones are held to a common factor s,
// an unknown itself, by scale_prior/2 P |c_a|^2 (s_a - s)^2 with P the number of points.
//
// With priors on places, the cost has three more terms, each against the noise n of a marker in a frame:
//
//   F sum_m (l_m - t_m)^T P_m (l_m - t_m)        places: P_m = (n/along)^2 on the axis, (n/across)^2 across, F frames
//   sum_f sum_j (n/sigma_j)^2 (q_fj - neutral_j)^2   posture
//   F (n/d)^2 ((s - 1)^2 + sum_a (|c_a|/(0.15 stature))^2 (s_a - s)^2), left = right   bones, d their deviation
//
// F because the errors of frames are not independent: flesh moves. So a prior does not fade with more frames.
#include "motion/calibrate.h"

#include "base/arena.h"
#include "base/error.h"
#include "motion/anatomy.h"
#include "motion/tracker.h"
#include "num/dense.h"
#include "num/real.h"
#include "num/vector.h"

#include <poise/track.h>

#include <string.h>

// ---- A skeleton of another size ------------------------------------------------------------------------------------------

// The factor of what is fixed to a body: the mean of those of the joints that hang from it.
static double body_scale(const poise_model *model, const double *scale, int body)
{
    double sum = 0.0;
    int count = 0;
    int end = body + poise_model_joint_info(model, body).subtree;
    for (int k = body + 1; k < end; k += poise_model_joint_info(model, k).subtree) {
        sum += scale[k];
        count += 1;
    }
    return count > 0 ? sum / count : scale[body];
}

static poise_pose scaled(poise_pose pose, double s)
{
    pose.position = (poise_vec3){s * pose.position.x, s * pose.position.y, s * pose.position.z};
    return pose;
}

static poise_status add_all(const poise_model *model, const double *scale, poise_builder *builder, poise_error *error)
{
    for (int k = 0; k < poise_model_info(model).joints; ++k) {
        poise_joint joint = *poise_model_joint_info(model, k).given;
        double own = poise_model_joint_info(model, k).parent == POISE_WORLD ? 1.0 : scale[k];
        joint.offset = scaled(joint.offset, own);
        poise_pose center = scaled((poise_pose){.position = joint.mass_center}, body_scale(model, scale, k));
        joint.mass_center = center.position;
        poise_status status = poise_builder_add_joint(builder, &joint, error);
        if (status != POISE_OK) {
            return status;
        }
    }
    for (int i = 0; i < poise_model_info(model).tools; ++i) {
        int body = poise_model_tool_info(model, i).body;
        poise_tool tool = {.name = poise_model_tool_info(model, i).name,
                           .body = poise_model_joint_info(model, body).body,
                           .pose = scaled(poise_model_tool_info(model, i).pose, body_scale(model, scale, body))};
        poise_status status = poise_builder_add_tool(builder, &tool, error);
        if (status != POISE_OK) {
            return status;
        }
    }
    return POISE_OK;
}

poise_status poise_model_rescale(const poise_model *model, const double *scale, const poise_allocator *allocator,
                                 poise_model **rescaled, poise_error *error)
{
    if (!model || !scale || !rescaled) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "model, scale and rescaled must not be NULL");
    }
    for (int k = 0; k < poise_model_info(model).joints; ++k) {
        if (!(scale[k] > 0) || !is_finite(scale[k])) {
            return pz_error_set(error, POISE_ERROR_ARGUMENT, "joint \"%s\": a scale must be > 0",
                                poise_model_joint_info(model, k).name);
        }
    }
    poise_builder *builder;
    poise_status status = poise_builder_create(allocator, &builder, NULL);
    if (status != POISE_OK) {
        return pz_error_set(error, status, "out of memory");
    }
    status = add_all(model, scale, builder, error);
    if (status == POISE_OK) {
        status = poise_model_create(builder, allocator, rescaled, error);
    }
    poise_builder_destroy(builder);
    return status;
}

// ---- The normal equations ------------------------------------------------------------------------------------------------

#define FLOOR      1e-9 // of the largest diagonal entry, added to G and N: nothing else may hold an unknown
#define BONE_SHARE 0.15 // of the stature: a bone of this length has the deviation of bones

// A of one marker; kin is of the scaled model.
static void make_rows(const pz_calibration *c, const poise_kinematics *kin, int i)
{
    int body = c->placements[i].body;
    size_t n = (size_t)c->n, at = (size_t)(c->factors + 3 * i);
    memset(c->A, 0, 3 * n * sizeof *c->A);
    for (int k = body; poise_model_joint_info(c->model, k).parent != POISE_WORLD;
         k = poise_model_joint_info(c->model, k).parent) {
        int u = c->unknown[k];
        if (u >= 0) {
            vec3 bone = poise_kinematics_direction(kin, poise_model_joint_info(c->model, k).parent,
                                                   poise_model_joint_info(c->model, k).given->offset.position);
            c->A[(size_t)u] += bone.x;
            c->A[n + (size_t)u] += bone.y;
            c->A[2 * n + (size_t)u] += bone.z;
        }
    }
    for (size_t j = 0; j < 3; ++j) {
        vec3 axis = poise_kinematics_direction(kin, body, v3(j == 0, j == 1, j == 2));
        c->A[at + j] = axis.x;
        c->A[n + at + j] = axis.y;
        c->A[2 * n + at + j] = axis.z;
    }
}

// Add one marker to N, b, G and C; w its weight, r its residual. A has few entries that are not zero.
static void add_marker(const pz_calibration *c, double w, vec3 r)
{
    size_t n = (size_t)c->n, nv = (size_t)poise_model_info(c->model).nv;
    const double residual[3] = {r.x, r.y, r.z};
    for (size_t row = 0; row < 3; ++row) {
        const double *A = c->A + row * n, *J = c->J + row * nv;
        for (size_t i = 0; i < n; ++i) {
            double a = w * A[i];
            if (a == 0.0) {
                continue;
            }
            c->b[i] += a * residual[row];
            for (size_t j = 0; j <= i; ++j) {
                c->N[i * n + j] += a * A[j];
            }
            for (size_t j = 0; j < nv; ++j) {
                c->C[i * nv + j] += a * J[j];
            }
        }
        for (size_t i = 0; i < nv; ++i) {
            for (size_t j = 0; j <= i; ++j) {
                c->G[i * nv + j] += w * J[i] * J[j];
            }
        }
    }
}

static void add_floor(double *M, size_t n)
{
    double largest = 0.0;
    for (size_t i = 0; i < n; ++i) {
        largest = max2(largest, M[i * n + i]);
    }
    for (size_t i = 0; i < n; ++i) {
        M[i * n + i] += FLOOR * (largest > 0 ? largest : 1.0);
    }
}

// Columns of coordinates at a limit, which do not follow.
static void hold_limited(const pz_calibration *c, const double *q)
{
    size_t nv = (size_t)poise_model_info(c->model).nv;
    const double *lower = poise_model_info(c->model).lower, *upper = poise_model_info(c->model).upper;
    for (int k = 0; k < poise_model_info(c->model).joints && c->problem.solver.use_limits; ++k) {
        poise_joint_info joint = poise_model_joint_info(c->model, k);
        for (int i = 0; joint.nq == joint.nv && i < joint.nq; ++i) {
            double value = q[joint.q + i];
            if (value <= lower[joint.q + i] || value >= upper[joint.q + i]) {
                for (size_t row = 0; row < 3; ++row) {
                    c->J[row * nv + (size_t)(joint.v + i)] = 0.0;
                }
            }
        }
    }
}

// N -= C^T G^-1 C, lower triangle, for one frame.
static void take_off_poses(const pz_calibration *c)
{
    size_t n = (size_t)c->n, nv = (size_t)poise_model_info(c->model).nv;
    for (size_t i = 0; c->problem.priors && i < nv; ++i) {
        c->G[i * nv + i] += c->posture[i];
    }
    add_floor(c->G, nv);
    if (!pz_cholesky((int)nv, c->G)) {
        return; // a frame without markers
    }
    for (size_t i = 0; i < n; ++i) {
        memcpy(c->X, c->C + i * nv, nv * sizeof *c->X);
        pz_cholesky_solve((int)nv, c->G, c->X);
        for (size_t j = 0; j <= i; ++j) {
            double dot = 0.0;
            for (size_t k = 0; k < nv; ++k) {
                dot += c->X[k] * c->C[j * nv + k];
            }
            c->N[i * n + j] -= dot;
        }
    }
}

static void add_frame(const pz_calibration *c, const poise_kinematics *kin, int f, const double *q)
{
    size_t n = (size_t)c->n, nv = (size_t)poise_model_info(c->model).nv;
    memset(c->G, 0, nv * nv * sizeof *c->G);
    memset(c->C, 0, n * nv * sizeof *c->C);
    for (int i = 0; i < c->count; ++i) {
        vec3 x;
        if (pz_calibration_sees(c, f, i, &x)) {
            int body = c->placements[i].body;
            vec3 local = pz_calibration_offset(c, i);
            make_rows(c, kin, i);
            poise_kinematics_jacobian(kin, body, local, c->J, NULL, NULL);
            hold_limited(c, q);
            add_marker(c, c->placements[i].weight, v3_sub(x, poise_kinematics_point(kin, body, local)));
        }
    }
    take_off_poses(c);
}

// How strongly the factor of joint k is held to the common one.
static double bone_pull(const pz_calibration *c, int k)
{
    vec3 offset = poise_model_joint_info(c->model, k).given->offset.position;
    double square = v3_dot(offset, offset);
    if (!c->problem.priors) {
        return c->problem.scale_prior * c->points * square;
    }
    double pull = c->noise / (c->problem.bone_deviation * BONE_SHARE * c->stature);
    return c->frame_count * pull * pull * square;
}

// How strongly the common factor is held to the size.
static double common_pull(const pz_calibration *c)
{
    double pull = c->problem.priors ? c->noise / c->problem.bone_deviation : 0.0;
    return c->frame_count * pull * pull;
}

// The pull of each bone's factor to the common one, and of that to the size that was given.
static void add_bone_prior(const pz_calibration *c)
{
    size_t n = (size_t)c->n;
    for (int k = 0; k < poise_model_info(c->model).joints; ++k) {
        int u = c->unknown[k];
        if (u > 0) {
            double pull = bone_pull(c, k), apart = c->z[u] - c->z[0];
            c->N[(size_t)u * n + (size_t)u] += pull;
            c->N[(size_t)u * n] -= pull;
            c->N[0] += pull;
            c->b[u] -= pull * apart;
            c->b[0] += pull * apart;
        }
    }
    if (c->factors > 0) {
        c->N[0] += common_pull(c);
        c->b[0] -= common_pull(c) * (c->z[0] - c->problem.size);
    }
}

// The pull of a marker to its prior place, F P (l - t) with P = (noise/along)^2 a a^T + (noise/across)^2 (I - a a^T), and
// its energy; P row by row. False: its place is free.
static bool place_pull(const pz_calibration *c, int i, double P[9], vec3 *pull, double *energy)
{
    const poise_place_prior *prior = &c->problem.priors[i];
    if (!(prior->along > 0) || !(prior->across > 0)) {
        return false;
    }
    double along = c->noise / (c->problem.size * prior->along), across = c->noise / (c->problem.size * prior->across);
    double u = c->frame_count * across * across, v = c->frame_count * along * along - u;
    const double a[3] = {prior->axis.x, prior->axis.y, prior->axis.z};
    for (int k = 0; k < 9; ++k) {
        P[k] = (k % 4 == 0 ? u : 0.0) + v * a[k / 3] * a[k % 3];
    }
    vec3 off = v3_sub(pz_calibration_offset(c, i), v3_scale(prior->place, c->problem.size));
    *pull = v3(P[0] * off.x + P[1] * off.y + P[2] * off.z, P[3] * off.x + P[4] * off.y + P[5] * off.z,
               P[6] * off.x + P[7] * off.y + P[8] * off.z);
    *energy = v3_dot(off, *pull);
    return true;
}

static void add_place_priors(const pz_calibration *c)
{
    double P[9], energy;
    vec3 pull;
    for (int i = 0; c->problem.priors && i < c->count; ++i) {
        size_t n = (size_t)c->n, at = (size_t)(c->factors + 3 * i);
        if (place_pull(c, i, P, &pull, &energy)) {
            for (size_t k = 0; k < 9; ++k) {
                c->N[(at + k / 3) * n + at + k % 3] += P[k];
            }
            c->b[at] -= pull.x;
            c->b[at + 1] -= pull.y;
            c->b[at + 2] -= pull.z;
        }
    }
}

double pz_calibration_prior_cost(const pz_calibration *c)
{
    double cost = 0.0, P[9], energy;
    vec3 pull;
    for (int k = 0; k < poise_model_info(c->model).joints; ++k) {
        if (c->unknown[k] > 0) {
            double apart = c->z[c->unknown[k]] - c->z[0];
            cost += bone_pull(c, k) * apart * apart;
        }
    }
    if (c->factors > 0) {
        cost += common_pull(c) * (c->z[0] - c->problem.size) * (c->z[0] - c->problem.size);
    }
    for (int i = 0; c->problem.priors && i < c->count; ++i) {
        cost += place_pull(c, i, P, &pull, &energy) ? energy : 0.0;
    }
    return cost;
}

// N and b for z and its poses.
poise_status pz_calibration_equations(const pz_calibration *c, const poise_model *scaled)
{
    size_t n = (size_t)c->n;
    poise_kinematics *kin;
    poise_status status = poise_kinematics_create(scaled, c->allocator, &kin, NULL);
    if (status != POISE_OK) {
        return status;
    }
    memset(c->N, 0, n * n * sizeof *c->N);
    memset(c->b, 0, n * sizeof *c->b);
    for (int f = 0; f < c->frame_count && status == POISE_OK; ++f) {
        const double *q = c->q + (size_t)f * (size_t)poise_model_info(scaled).nq;
        status = poise_kinematics_update(kin, q, NULL);
        add_frame(c, kin, f, q);
    }
    poise_kinematics_destroy(kin);
    add_bone_prior(c);
    add_place_priors(c);
    add_floor(c->N, n);
    return status;
}

// ---- Poses and rounds ----------------------------------------------------------------------------------------------------

#define STRAY_MEDIAN 6.0  // times the median distance of a frame's markers, and
#define STRAY_SHARE  0.06 // of the stature: beyond both a marker strays,
#define STRAY_OFTEN  3    // but for one that does in more than a third of the frames
#define SCALE_LEAST  0.1  // factors beyond are not of this skeleton
#define SCALE_MOST   10.0
#define LAMBDA       1e-3 // damping to begin with, and
#define LAMBDA_MOST  1e9  // where steps change nothing

// ---- Unknowns ------------------------------------------------------------------------------------------------------------

// Half way from a body's origin to the mean of what hangs from it.
static vec3 guess_local(const poise_model *model, int body)
{
    vec3 sum = v3(0.0, 0.0, 0.0);
    int count = 0, end = body + poise_model_joint_info(model, body).subtree;
    for (int k = body + 1; k < end; k += poise_model_joint_info(model, k).subtree) {
        sum = v3_add(sum, poise_model_joint_info(model, k).given->offset.position);
        count += 1;
    }
    for (int i = 0; i < poise_model_info(model).tools && count == 0; ++i) {
        if (poise_model_tool_info(model, i).body == body) {
            sum = poise_model_tool_info(model, i).pose.position;
            count = 1;
        }
    }
    return v3_scale(sum, count > 0 ? 0.5 / count : 0.0);
}

static bool is_bone(const poise_model *model, int k)
{
    vec3 offset = poise_model_joint_info(model, k).given->offset.position;
    return poise_model_joint_info(model, k).parent != POISE_WORLD && v3_dot(offset, offset) > 0;
}

// Number the unknowns and set them to what is known.
static void begin(pz_calibration *c, poise_scaling scaling)
{
    c->factors = scaling == POISE_SCALING_NONE ? 0 : 1;
    for (int k = 0; k < poise_model_info(c->model).joints; ++k) {
        c->unknown[k] = -1;
        if (is_bone(c->model, k) && scaling != POISE_SCALING_NONE) {
            c->unknown[k] = 0;
        }
    }
    c->n = c->factors + 3 * c->count;
    for (int i = 0; i < c->factors; ++i) {
        c->z[i] = c->problem.size;
    }
    for (int i = 0; i < c->count; ++i) {
        const poise_placement *p = &c->placements[i];
        c->index[i] = p->label ? poise_markers_find(c->markers, p->label) : POISE_NONE;
        bool has_prior = c->problem.priors && c->problem.priors[i].along > 0;
        vec3 guess = has_prior ? c->problem.priors[i].place : guess_local(c->model, p->body);
        vec3 local = v3_scale(v3_is_finite(p->local) ? p->local : guess, c->problem.size);
        memcpy(c->z + c->factors + 3 * i, &local, sizeof local);
    }
}

// From one factor for all bones to one for each, all equal to begin with.
static void part_factors(pz_calibration *c)
{
    double common = c->z[0];
    int before = c->factors;
    for (int k = 0; k < poise_model_info(c->model).joints; ++k) {
        int twin = c->problem.priors ? pz_mirror_body(c->model, k) : POISE_NONE;
        bool has_twin = twin >= 0 && twin < k && c->unknown[twin] > 0 && c->unknown[k] >= 0;
        c->unknown[k] = has_twin ? c->unknown[twin] : c->unknown[k] >= 0 ? c->factors++ : -1;
    }
    memmove(c->z + c->factors, c->z + before, (size_t)(3 * c->count) * sizeof *c->z);
    for (int i = 0; i < c->factors; ++i) {
        c->z[i] = common;
    }
    c->n = c->factors + 3 * c->count;
}

// A model with the bones of z.
static poise_status make_model(pz_calibration *c, poise_model **scaled, poise_error *error)
{
    for (int k = 0; k < poise_model_info(c->model).joints; ++k) {
        double fixed = is_bone(c->model, k) ? c->problem.size : 1.0;
        c->scale[k] = c->unknown[k] >= 0 ? c->z[c->unknown[k]] : fixed;
    }
    return poise_model_rescale(c->model, c->scale, c->allocator, scaled, error);
}

// ---- Poses ---------------------------------------------------------------------------------------------------------------

// The goals of a frame; returns how many.
static int make_goals(pz_calibration *c, int f)
{
    int goals = 0;
    for (int i = 0; i < c->count; ++i) {
        vec3 x;
        if (pz_calibration_sees(c, f, i, &x)) {
            c->goals[goals] = poise_goal_position(c->placements[i].body, pz_calibration_offset(c, i), x);
            c->goals[goals++].weight = c->placements[i].weight;
        }
    }
    return goals;
}

// Solve the frame of these goals into q.
static poise_status solve_goals(pz_calibration *c, poise_solver *solver, int goals, double *q, poise_report *report)
{
    if (!c->problem.priors) {
        return poise_solve(solver, c->goals, goals, q, report, NULL);
    }
    c->goals[goals] = poise_goal_posture(c->neutral, 1.0);
    c->goals[goals].q_weights = c->posture;
    return poise_solve(solver, c->goals, goals + 1, q, report, NULL);
}

// Add up the errors of the frame that was solved last.
static void add_errors(pz_calibration *c, poise_solver *solver, int goals, double cost)
{
    for (int i = 0; i < goals; ++i) {
        double e = poise_solver_goal_error(solver, i).error;
        c->square += e * e;
        c->weighted += c->problem.priors ? 0.0 : c->goals[i].weight * e * e;
        c->sum += e;
        c->points += 1;
    }
    c->weighted += c->problem.priors ? 2.0 * cost : 0.0; // with the posture's share
}

// Solve one frame into q, and add up its errors.
static poise_status solve_pose(pz_calibration *c, poise_solver *solver, int f, double *q)
{
    int goals = make_goals(c, f);
    poise_report report;
    poise_status status = solve_goals(c, solver, goals, q, &report);
    if (status == POISE_OK) {
        add_errors(c, solver, goals, report.cost);
    }
    return status;
}

// Mark the markers of frame f that are much farther off than the others, such as swapped ones, in the pose that was solved
// last; true when there are some.
static bool find_strays(pz_calibration *c, poise_solver *solver, int f)
{
    int n = 0, strays = 0;
    vec3 x;
    for (int i = 0; i < c->count; ++i) {
        n += pz_calibration_sees(c, f, i, &x);
    }
    for (int k = 0; k < n; ++k) {
        c->step[k] = poise_solver_goal_error(solver, k).error;
    }
    double limit = max2(STRAY_MEDIAN * (n > 0 ? pz_middle_of(c->step, n) : 0.0), STRAY_SHARE * c->stature);
    for (int i = 0, k = 0; i < c->count; ++i) {
        if (pz_calibration_sees(c, f, i, &x) && poise_solver_goal_error(solver, k++).error > limit) {
            c->strays[(size_t)f * (size_t)c->count + (size_t)i] = 1;
            strays += 1;
        }
    }
    return strays > 0;
}

// A marker that strays often sits elsewhere than thought: that is for its place to show.
static void believe_regulars(pz_calibration *c)
{
    for (int i = 0; i < c->count; ++i) {
        int often = 0;
        for (int f = 0; f < c->frame_count; ++f) {
            often += c->strays[(size_t)f * (size_t)c->count + (size_t)i];
        }
        for (int f = 0; f < c->frame_count && often * STRAY_OFTEN > c->frame_count; ++f) {
            c->strays[(size_t)f * (size_t)c->count + (size_t)i] = 0;
        }
    }
}

// The first poses under priors: each cold from `q_start` and warm from the frame before; the cheaper one stays.
static poise_status find_poses(pz_calibration *c, const poise_model *model, const double *q_start)
{
    poise_solver_options options = c->problem.solver;
    poise_solver *cold = NULL, *warm = NULL;
    options.start = POISE_START_COLD;
    options.restarts = 8;
    poise_status status = poise_solver_create(model, &options, c->allocator, &cold, NULL);
    options.start = POISE_START_WARM;
    options.restarts = 0;
    status = status == POISE_OK ? poise_solver_create(model, &options, c->allocator, &warm, NULL) : status;
    size_t nq = (size_t)poise_model_info(model).nq;
    for (int f = 0; f < c->frame_count && status == POISE_OK; ++f) {
        double *q = c->q + (size_t)f * nq, *other = c->q_best;
        int goals = make_goals(c, f);
        poise_report report, second = {.cost = INFINITY};
        memcpy(q, q_start, nq * sizeof *q);
        status = solve_goals(c, cold, goals, q, &report);
        if (status == POISE_OK && f > 0) {
            memcpy(other, q - nq, nq * sizeof *q);
            status = solve_goals(c, warm, goals, other, &second);
        }
        bool is_warm = second.cost < report.cost;
        if (status == POISE_OK && is_warm) {
            memcpy(q, other, nq * sizeof *q);
        }
        if (status == POISE_OK && find_strays(c, is_warm ? warm : cold, f)) {
            status = solve_goals(c, warm, make_goals(c, f), q, &report);
        }
    }
    poise_solver_destroy(cold);
    poise_solver_destroy(warm);
    return status;
}

// Poses for z: the first time cold and each from the frame before, later each from its own last one.
static poise_status solve_poses(pz_calibration *c, const poise_model *scaled, const double *q_start)
{
    if (q_start && c->problem.priors) {
        poise_status status = find_poses(c, scaled, q_start);
        believe_regulars(c);
        return status == POISE_OK ? solve_poses(c, scaled, NULL) : status;
    }
    poise_solver_options options = c->problem.solver;
    options.start = q_start ? POISE_START_COLD : POISE_START_WARM;
    options.restarts = q_start ? 8 : 0;
    poise_solver *solver;
    poise_status status = poise_solver_create(scaled, &options, c->allocator, &solver, NULL);
    if (status != POISE_OK) {
        return status;
    }
    size_t nq = (size_t)poise_model_info(scaled).nq;
    c->square = c->weighted = c->sum = 0.0;
    c->points = 0;
    for (int f = 0; f < c->frame_count && status == POISE_OK; ++f) {
        double *q = c->q + (size_t)f * nq;
        if (q_start) {
            memcpy(q, f == 0 ? q_start : q - nq, nq * sizeof *q);
        }
        status = solve_pose(c, solver, f, q);
    }
    poise_solver_destroy(solver);
    return status;
}

// z = z_best + (N + lambda diag N)^-1 b. False when N is not positive definite.
static bool step_from_best(pz_calibration *c, double lambda)
{
    size_t n = (size_t)c->n;
    memcpy(c->factored, c->N, n * n * sizeof *c->N);
    memcpy(c->step, c->b, n * sizeof *c->b);
    for (size_t i = 0; i < n; ++i) {
        c->factored[i * n + i] *= 1.0 + lambda;
    }
    if (!pz_cholesky((int)n, c->factored)) {
        return false;
    }
    pz_cholesky_solve((int)n, c->factored, c->step);
    for (size_t i = 0; i < n; ++i) {
        double next = c->z_best[i] + c->step[i];
        c->z[i] = i < (size_t)c->factors ? min2(max2(next, SCALE_LEAST), SCALE_MOST) : next;
    }
    return true;
}

// What is minimised: squared distances by weight, and the pulls of the priors.
static double cost_of(const pz_calibration *c)
{
    return c->weighted + pz_calibration_prior_cost(c);
}

// ---- Rounds --------------------------------------------------------------------------------------------------------------

// Where a round's result goes when it is the best so far, and back.
static void keep(pz_calibration *c, bool restore)
{
    size_t z = (size_t)c->n * sizeof *c->z,
           q = (size_t)c->frame_count * (size_t)poise_model_info(c->model).nq * sizeof *c->q;
    memcpy(restore ? c->z : c->z_best, restore ? c->z_best : c->z, z);
    memcpy(restore ? c->q : c->q_best, restore ? c->q_best : c->q, q);
}

// One model and its poses for z, and, if they are better than `before`, the equations for the next step. The model is the
// caller's on success only.
static poise_status run_round(pz_calibration *c, const double *q_start, double before, poise_model **scaled,
                              poise_error *error)
{
    poise_status status = make_model(c, scaled, error);
    if (status != POISE_OK) {
        return status;
    }
    status = solve_poses(c, *scaled, q_start);
    if (status == POISE_OK && cost_of(c) < before) {
        status = pz_calibration_equations(c, *scaled);
        keep(c, false);
    }
    if (status != POISE_OK) {
        poise_model_destroy(*scaled);
        return pz_error_set(error, status, "the poses could not be solved");
    }
    return POISE_OK;
}

// Rounds until they no longer help; the best constants are in z, their poses in q, their model in *fitted. With q_start the
// first one begins there, otherwise at the current poses.
static poise_status run_rounds(pz_calibration *c, const double *q_start, poise_model **fitted,
                               poise_calibration_report *report, poise_error *error)
{
    double best = INFINITY, lambda = LAMBDA;
    bool go_on = true;
    for (int round = 1; go_on; ++round) {
        poise_model *scaled;
        poise_status status = run_round(c, round == 1 ? q_start : NULL, best, &scaled, error);
        if (status != POISE_OK) {
            return status;
        }
        double cost = cost_of(c);
        bool is_better = cost < best;
        if (round == 1 && (!is_better || c->points == 0)) {
            poise_model_destroy(scaled);
            return pz_error_set(error, POISE_ERROR_NUMERIC,
                                c->points == 0
                                    ? "no marker is seen in the frames that calibration uses"
                                    : "markers are too far from the skeleton to measure: are the units the same?");
        }
        go_on = round < c->problem.rounds && (round == 1 || !is_better || best - cost > c->problem.tolerance * best);
        if (is_better) {
            best = cost;
            *report = (poise_calibration_report){.frames = c->frame_count,
                                                 .points = c->points,
                                                 .rms = c->points > 0 ? sqrt(c->square / c->points) : 0.0,
                                                 .mean = c->points > 0 ? c->sum / c->points : 0.0,
                                                 .scale = c->factors > 0 ? c->z[0] : c->problem.size,
                                                 .size = c->problem.size};
        }
        poise_model_destroy(is_better ? *fitted : scaled);
        *fitted = is_better ? scaled : *fitted;
        keep(c, true);
        lambda *= is_better ? 0.1 : 10.0;
        go_on = go_on && lambda < LAMBDA_MOST && step_from_best(c, lambda);
        report->rounds = round;
    }
    keep(c, true);
    return POISE_OK;
}

// ---- The call ------------------------------------------------------------------------------------------------------------

static void lay_out(pz_calibration *c, pz_arena *arena)
{
    size_t count = (size_t)c->count, joints = (size_t)poise_model_info(c->model).joints,
           nv = (size_t)poise_model_info(c->model).nv;
    size_t most = joints + 1 + 3 * count, row = most * sizeof(double); // unknowns
    size_t poses = (size_t)c->frame_count + 1;                         // the last one is the start
    c->index = pz_arena_take(arena, count, sizeof *c->index);
    c->unknown = pz_arena_take(arena, joints, sizeof *c->unknown);
    c->scale = pz_arena_take(arena, joints, sizeof *c->scale);
    c->z = pz_arena_take(arena, 1, row);
    c->z_best = pz_arena_take(arena, 1, row);
    c->step = pz_arena_take(arena, 1, row);
    c->b = pz_arena_take(arena, 1, row);
    c->N = pz_arena_take(arena, most, row);
    c->factored = pz_arena_take(arena, most, row);
    c->A = pz_arena_take(arena, 3, row);
    c->C = pz_arena_take(arena, nv, row);
    c->J = pz_arena_take(arena, 3 * nv, sizeof *c->J);
    c->G = pz_arena_take(arena, nv, nv * sizeof *c->G);
    c->X = pz_arena_take(arena, nv, sizeof *c->X);
    c->q = pz_arena_take(arena, poses, (size_t)poise_model_info(c->model).nq * sizeof *c->q);
    c->q_best = pz_arena_take(arena, poses, (size_t)poise_model_info(c->model).nq * sizeof *c->q);
    c->goals = pz_arena_take(arena, count + 1, sizeof *c->goals);
    c->strays = pz_arena_take(arena, (size_t)c->frame_count, count * sizeof *c->strays);
    c->neutral = pz_arena_take(arena, (size_t)poise_model_info(c->model).nq, sizeof *c->neutral);
    c->posture = pz_arena_take(arena, nv, sizeof *c->posture);
}

static poise_status check(const pz_calibration *c, const double *q_start, bool wants_model, poise_error *error)
{
    const poise_calibration *o = &c->problem;
    if ((unsigned)o->scaling > POISE_SCALING_SEGMENTS || !(o->scale_prior >= 0) || !(o->bone_deviation > 0) ||
        !(o->noise >= 0) || !(o->size >= SCALE_LEAST) || !(o->size <= SCALE_MOST) || o->rounds < 1 || !(o->tolerance >= 0) ||
        poise_solver_options_check(c->model, &o->solver, NULL) != POISE_OK) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "an option of the calibration or its solver is out of range");
    }
    if ((o->scaling != POISE_SCALING_NONE || o->size != 1.0) && !wants_model) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "scaling makes a new model: fitted must not be NULL");
    }
    if (q_start && poise_model_check(c->model, q_start, "q_start", NULL) != POISE_OK) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "q must hold nq finite numbers and no zero quaternion");
    }
    for (int i = 0; i < c->frame_count; ++i) {
        int f = pz_calibration_frame(c, i);
        if (f < 0 || f >= c->markers->frames) {
            return pz_error_set(error, POISE_ERROR_ARGUMENT, "frame %d: the recording has %d", f, c->markers->frames);
        }
    }
    for (int i = 0; i < c->count; ++i) {
        const poise_placement *p = &c->placements[i];
        if (p->body < 0 || p->body >= poise_model_info(c->model).joints || !(p->weight >= 0) || !is_finite(p->weight)) {
            return pz_error_set(error, POISE_ERROR_ARGUMENT, "marker \"%s\": its body or weight is out of range",
                                p->label ? p->label : "");
        }
    }
    return POISE_OK;
}

// What priors are measured in, and the posture that poses are held to.
static poise_status set_posture(pz_calibration *c, poise_error *error)
{
    pz_anatomy anatomy;
    if (pz_anatomy_of(c->model, c->allocator, &anatomy) != POISE_OK) {
        return pz_error_set(error, POISE_ERROR_MEMORY, "out of memory");
    }
    c->stature = (anatomy.stature > 0 ? anatomy.stature : 1.0) * c->problem.size;
    c->noise = c->problem.noise > 0 ? c->problem.noise : PZ_NOISE_SHARE * c->stature;
    int moved;
    poise_model_neutral(c->model, c->neutral);
    poise_model_clamp(c->model, c->neutral, &moved, NULL);
    pz_anatomy_posture(&anatomy, c->model, c->noise, c->posture);
    return POISE_OK;
}

// With one factor for all bones first; then, where that is asked for, with one for each.
static poise_status fit(pz_calibration *c, const double *start, poise_model **made, poise_calibration_report *done,
                        poise_error *error)
{
    begin(c, c->problem.scaling == POISE_SCALING_NONE ? POISE_SCALING_NONE : POISE_SCALING_UNIFORM);
    poise_status status = run_rounds(c, start, made, done, error);
    if (status == POISE_OK && c->problem.scaling == POISE_SCALING_SEGMENTS) {
        part_factors(c);
        int before = done->rounds;
        status = run_rounds(c, NULL, made, done, error);
        done->rounds += before;
    }
    return status;
}

// The last check of what is handed out, whatever led to it: finite, and the pose within the limits where they are kept.
static poise_status check_answer(const pz_calibration *c, poise_error *error)
{
    bool is_sound = poise_model_check(c->model, c->q, "q", NULL) == POISE_OK &&
                    (!c->problem.solver.use_limits || poise_model_within_limits(c->model, c->q));
    for (int i = 0; i < c->n; ++i) {
        is_sound = is_sound && is_finite(c->z[i]);
    }
    return is_sound ? POISE_OK : pz_error_set(error, POISE_ERROR_NUMERIC, "the fit is not finite or leaves the limits");
}

poise_status poise_calibrate(const poise_calibration *problem, const poise_allocator *allocator, poise_model **fitted,
                             poise_calibration_report *report, poise_error *error)
{
    if (!problem || !problem->model || problem->placement_count < 1 || !problem->placements || !problem->markers ||
        problem->frame_count < 1) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "model, placements, markers and frames are required");
    }
    const poise_model *model = problem->model;
    double *q = problem->q;
    int frame_count = problem->frame_count;
    pz_calibration c = {.model = model,
                        .placements = problem->placements,
                        .count = problem->placement_count,
                        .markers = problem->markers,
                        .chosen = problem->frames,
                        .frame_count = frame_count,
                        .problem = *problem,
                        .allocator = allocator};
    poise_status status = check(&c, q, fitted != NULL, error);
    if (status != POISE_OK) {
        return status;
    }
    pz_arena counting = pz_arena_counting();
    lay_out(&c, &counting);
    size_t size = pz_arena_bytes(&counting);
    void *memory = size ? pz_allocate(allocator, size) : NULL;
    if (!memory) {
        return pz_error_set(error, POISE_ERROR_MEMORY, "out of memory");
    }
    pz_arena arena = pz_arena_over(memory, size);
    lay_out(&c, &arena);
    double *start = c.q + (size_t)frame_count * (size_t)poise_model_info(model).nq;
    memset(c.strays, 0, (size_t)frame_count * (size_t)c.count);
    poise_model_neutral(model, start);
    if (q) {
        memcpy(start, q, (size_t)poise_model_info(model).nq * sizeof *start);
    }
    poise_model *made = NULL;
    poise_calibration_report done = {.frames = frame_count};
    status = problem->priors ? set_posture(&c, error) : POISE_OK;
    status = status != POISE_OK ? status : fit(&c, start, &made, &done, error);
    status = status != POISE_OK ? status : check_answer(&c, error);
    for (int i = 0; i < c.count && status == POISE_OK; ++i) {
        problem->placements[i].local = pz_calibration_offset(&c, i);
    }
    if (status == POISE_OK && q) {
        memcpy(q, c.q, (size_t)poise_model_info(model).nq * sizeof *q);
    }
    pz_release(allocator, memory);
    if (status == POISE_OK && fitted) {
        *fitted = made;
    } else {
        poise_model_destroy(made);
    }
    if (status == POISE_OK && report) {
        *report = done;
    }
    return status;
}
