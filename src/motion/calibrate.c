// Where markers sit, and how long bones are: a least-squares fit of poses and constants together.
//
// For fixed rotations the position of marker m in frame f is linear in the constants z: the factors s_a of the bones and the
// offsets l_m of the markers from their bodies,
//
//   x = k_f + sum_a s_a c_af + R_bf l_m        a over the joints above the marker's body b, but those at the world
//
// with c_af the offset of joint a, unscaled, turned into the world. So d x/d z = A = [.. c_af .. R_bf ..], and d x/d q = J.
// Poses are always solved for the constants at hand, hence J^T r = 0 for the residuals r of a frame, and the Gauss-Newton
// step of the constants, with the poses following them, is (the Schur complement of the poses)
//
//   N dz = sum_f A^T r        N = sum_f A^T A - C^T G^-1 C        G = J^T J, C = J^T A
//
// damped as in Levenberg and Marquardt's method. Coordinates at a limit do not follow. Bones are held to a common factor s,
// an unknown itself, by scale_prior/2 P |c_a|^2 (s_a - s)^2 with P the number of points.
#include <poise/track.h>

#include "base/arena.h"
#include "base/error.h"
#include "math/dense.h"
#include "math/vec3.h"
#include "model/packed_model.h"
#include "solve/solver_state.h"

#include <string.h>

#define FLOOR       1e-9 // of the largest diagonal entry, added to G and N: nothing else may hold an unknown
#define SCALE_LEAST 0.1  // factors beyond are not of this skeleton
#define SCALE_MOST  10.0
#define LAMBDA      1e-3 // damping to begin with, and
#define LAMBDA_MOST 1e9  // where steps change nothing

typedef struct calibration {
    const poise_model *model; // unscaled
    const poise_placement *placements;
    int count;
    const poise_markers *markers;
    const int *chosen; // frames, or NULL
    int frame_count;
    poise_calibration problem;
    const poise_allocator *allocator;
    int *index;       // by placement: marker, or POISE_NONE
    int *unknown;     // by joint: number of its factor; 0 is the common one, -1 none
    int factors;      // number of unknown factors
    int n;            // unknowns: factors, then offsets
    double *z;        // n: constants at hand
    double *z_best;   // n: those of N and b
    double *scale;    // by joint, of z
    double *q;        // frame_count x nq: poses of z
    double *q_best;   // poses of z_best
    double *N, *b;    // n x n, n
    double *step;     // n
    double *factored; // n x n: N, damped
    double *A;        // 3 x n: of one marker, row by row
    double *J;        // 3 x nv
    double *G;        // nv x nv: of one frame
    double *C;        // n x nv: transposed, row by unknown
    double *X;        // nv
    poise_goal *goals;
    double square, sum; // of the distances for z
    double weighted;    // square, by the markers' weights
    int points;
} calibration;

poise_calibration poise_calibration_default(void)
{
    poise_calibration problem = {
        .solver = poise_solver_options_default(), .scale_prior = 1e-3, .rounds = 50, .tolerance = 1e-4};
    problem.solver.gradient_tolerance = 1e-6;
    problem.solver.coupled_goals = 0;
    return problem;
}

static int frame_number(const calibration *c, int i)
{
    return c->chosen ? c->chosen[i] : (int)((long long)i * c->markers->frames / c->frame_count);
}

static bool is_seen(const calibration *c, int frame, int i, vec3 *x)
{
    if (c->index[i] < 0 || c->placements[i].weight == 0.0) {
        return false;
    }
    *x = c->markers->position[(size_t)frame * (size_t)c->markers->count + (size_t)c->index[i]];
    return v3_is_finite(*x);
}

static vec3 offset_of(const calibration *c, int i)
{
    const double *l = c->z + c->factors + 3 * i;
    return v3(l[0], l[1], l[2]);
}

// ---- Unknowns ------------------------------------------------------------------------------------------------------------

// Half way from a body's origin to the mean of what hangs from it.
static vec3 guess_local(const poise_model *model, int body)
{
    vec3 sum = v3(0.0, 0.0, 0.0);
    int count = 0, end = body + poise_model_joint_info(model, body).subtree;
    for (int k = body + 1; k < end; k += poise_model_joint_info(model, k).subtree) {
        sum = v3_add(sum, model->given[k].offset.position);
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
    vec3 offset = model->given[k].offset.position;
    return model->joints[k].parent != POISE_WORLD && v3_dot(offset, offset) > 0;
}

// Number the unknowns and set them to what is known.
static void begin(calibration *c, poise_scaling scaling)
{
    c->factors = scaling == POISE_SCALING_NONE ? 0 : 1;
    for (int k = 0; k < c->model->joint_count; ++k) {
        c->unknown[k] = -1;
        if (is_bone(c->model, k) && scaling != POISE_SCALING_NONE) {
            c->unknown[k] = 0;
        }
    }
    c->n = c->factors + 3 * c->count;
    for (int i = 0; i < c->factors; ++i) {
        c->z[i] = 1.0;
    }
    for (int i = 0; i < c->count; ++i) {
        const poise_placement *p = &c->placements[i];
        c->index[i] = p->label ? poise_markers_find(c->markers, p->label) : POISE_NONE;
        vec3 local = v3_is_finite(p->local) ? p->local : guess_local(c->model, p->body);
        memcpy(c->z + c->factors + 3 * i, &local, sizeof local);
    }
}

// From one factor for all bones to one for each, all equal to begin with.
static void part_factors(calibration *c)
{
    double common = c->z[0];
    int before = c->factors;
    for (int k = 0; k < c->model->joint_count; ++k) {
        c->unknown[k] = c->unknown[k] >= 0 ? c->factors++ : -1;
    }
    memmove(c->z + c->factors, c->z + before, (size_t)(3 * c->count) * sizeof *c->z);
    for (int i = 0; i < c->factors; ++i) {
        c->z[i] = common;
    }
    c->n = c->factors + 3 * c->count;
}

// A model with the bones of z.
static poise_status make_model(calibration *c, poise_model **scaled, poise_error *error)
{
    for (int k = 0; k < c->model->joint_count; ++k) {
        c->scale[k] = c->unknown[k] >= 0 ? c->z[c->unknown[k]] : 1.0;
    }
    return poise_model_rescale(c->model, c->scale, c->allocator, scaled, error);
}

// ---- Poses ---------------------------------------------------------------------------------------------------------------

// Solve one frame into q, and add up its errors.
static poise_status solve_pose(calibration *c, poise_solver *solver, int frame, double *q)
{
    int goals = 0;
    for (int i = 0; i < c->count; ++i) {
        vec3 x;
        if (is_seen(c, frame, i, &x)) {
            c->goals[goals] = poise_goal_position(c->placements[i].body, offset_of(c, i), x);
            c->goals[goals++].weight = c->placements[i].weight;
        }
    }
    poise_status status = poise_solve(solver, c->goals, goals, q, NULL, NULL);
    for (int i = 0; i < goals && status == POISE_OK; ++i) {
        double e = poise_solver_goal_error(solver, i).error;
        c->square += e * e;
        c->weighted += c->goals[i].weight * e * e;
        c->sum += e;
        c->points += 1;
    }
    return status;
}

// Poses for z: the first time cold and each from the frame before, later each from its own last one.
static poise_status solve_poses(calibration *c, const poise_model *scaled, const double *q_start)
{
    poise_solver_options options = c->problem.solver;
    options.start = q_start ? POISE_START_COLD : POISE_START_WARM;
    options.restarts = q_start ? 8 : 0;
    poise_solver *solver;
    poise_status status = poise_solver_create(scaled, &options, c->allocator, &solver, NULL);
    if (status != POISE_OK) {
        return status;
    }
    size_t nq = (size_t)scaled->nq;
    c->square = c->weighted = c->sum = 0.0;
    c->points = 0;
    for (int f = 0; f < c->frame_count && status == POISE_OK; ++f) {
        double *q = c->q + (size_t)f * nq;
        if (q_start) {
            memcpy(q, f == 0 ? q_start : q - nq, nq * sizeof *q);
        }
        status = solve_pose(c, solver, frame_number(c, f), q);
    }
    poise_solver_destroy(solver);
    return status;
}

// ---- Normal equations ----------------------------------------------------------------------------------------------------

// A of one marker; kin is of the scaled model.
static void make_rows(const calibration *c, const poise_kinematics *kin, int i)
{
    int body = c->placements[i].body;
    size_t n = (size_t)c->n, at = (size_t)(c->factors + 3 * i);
    memset(c->A, 0, 3 * n * sizeof *c->A);
    for (int k = body; c->model->joints[k].parent != POISE_WORLD; k = c->model->joints[k].parent) {
        int u = c->unknown[k];
        if (u >= 0) {
            vec3 bone = poise_kinematics_direction(kin, c->model->joints[k].parent, c->model->given[k].offset.position);
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
static void add_marker(const calibration *c, double w, vec3 r)
{
    size_t n = (size_t)c->n, nv = (size_t)c->model->nv;
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
static void hold_limited(const calibration *c, const double *q)
{
    size_t nv = (size_t)c->model->nv;
    const double *lower = poise_model_info(c->model).lower, *upper = poise_model_info(c->model).upper;
    for (int k = 0; k < c->model->joint_count && c->problem.solver.use_limits; ++k) {
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
static void take_off_poses(const calibration *c)
{
    size_t n = (size_t)c->n, nv = (size_t)c->model->nv;
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

static void add_frame(const calibration *c, const poise_kinematics *kin, int frame, const double *q)
{
    size_t n = (size_t)c->n, nv = (size_t)c->model->nv;
    memset(c->G, 0, nv * nv * sizeof *c->G);
    memset(c->C, 0, n * nv * sizeof *c->C);
    for (int i = 0; i < c->count; ++i) {
        vec3 x;
        if (is_seen(c, frame, i, &x)) {
            int body = c->placements[i].body;
            vec3 local = offset_of(c, i);
            make_rows(c, kin, i);
            poise_kinematics_jacobian(kin, body, local, c->J, NULL, NULL);
            hold_limited(c, q);
            add_marker(c, c->placements[i].weight, v3_sub(x, poise_kinematics_point(kin, body, local)));
        }
    }
    take_off_poses(c);
}

// The pull of each bone's factor to the common one.
static void add_prior(const calibration *c)
{
    size_t n = (size_t)c->n;
    for (int k = 0; k < c->model->joint_count; ++k) {
        vec3 offset = c->model->given[k].offset.position;
        int u = c->unknown[k];
        if (u > 0) {
            double pull = c->problem.scale_prior * c->points * v3_dot(offset, offset), apart = c->z[u] - c->z[0];
            c->N[(size_t)u * n + (size_t)u] += pull;
            c->N[(size_t)u * n] -= pull;
            c->N[0] += pull;
            c->b[u] -= pull * apart;
            c->b[0] += pull * apart;
        }
    }
}

// N and b for z and its poses.
static poise_status make_equations(const calibration *c, const poise_model *scaled)
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
        const double *q = c->q + (size_t)f * (size_t)scaled->nq;
        status = poise_kinematics_update(kin, q, NULL);
        add_frame(c, kin, frame_number(c, f), q);
    }
    poise_kinematics_destroy(kin);
    add_prior(c);
    add_floor(c->N, n);
    return status;
}

// z = z_best + (N + lambda diag N)^-1 b. False when N is not positive definite.
static bool step_from_best(calibration *c, double lambda)
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

// What is minimised: squared distances by weight, and the pulls of the prior.
static double cost_of(const calibration *c)
{
    double cost = c->weighted;
    for (int k = 0; k < c->model->joint_count; ++k) {
        if (c->unknown[k] > 0) {
            vec3 offset = c->model->given[k].offset.position;
            double apart = c->z[c->unknown[k]] - c->z[0];
            cost += c->problem.scale_prior * c->points * v3_dot(offset, offset) * apart * apart;
        }
    }
    return cost;
}

// ---- Rounds --------------------------------------------------------------------------------------------------------------

// Where a round's result goes when it is the best so far, and back.
static void keep(calibration *c, bool restore)
{
    size_t z = (size_t)c->n * sizeof *c->z, q = (size_t)c->frame_count * (size_t)c->model->nq * sizeof *c->q;
    memcpy(restore ? c->z : c->z_best, restore ? c->z_best : c->z, z);
    memcpy(restore ? c->q : c->q_best, restore ? c->q_best : c->q, q);
}

// One model and its poses for z, and, if they are better than `before`, the equations for the next step. The model is the
// caller's on success only.
static poise_status run_round(calibration *c, const double *q_start, double before, poise_model **scaled, poise_error *error)
{
    poise_status status = make_model(c, scaled, error);
    if (status != POISE_OK) {
        return status;
    }
    status = solve_poses(c, *scaled, q_start);
    if (status == POISE_OK && cost_of(c) < before) {
        status = make_equations(c, *scaled);
        keep(c, false);
    }
    if (status != POISE_OK) {
        poise_model_destroy(*scaled);
        return pz_error_set(error, status, "the poses could not be solved");
    }
    return POISE_OK;
}

// Rounds until they no longer help; the best constants are in z, their poses in q, their model in *fitted. With q_start the
// first one begins there, otherwise at the poses at hand.
static poise_status run_rounds(calibration *c, const double *q_start, poise_model **fitted, poise_calibration_report *report,
                               poise_error *error)
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
        go_on = round < c->problem.rounds && (round == 1 || !is_better || best - cost > c->problem.tolerance * best);
        if (is_better) {
            best = cost;
            *report = (poise_calibration_report){.frames = c->frame_count,
                                                 .points = c->points,
                                                 .rms = c->points > 0 ? sqrt(c->square / c->points) : 0.0,
                                                 .mean = c->points > 0 ? c->sum / c->points : 0.0,
                                                 .scale = c->factors > 0 ? c->z[0] : 1.0};
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

static void lay_out(calibration *c, pz_arena *arena)
{
    size_t count = (size_t)c->count, joints = (size_t)c->model->joint_count, nv = (size_t)c->model->nv;
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
    c->q = pz_arena_take(arena, poses, (size_t)c->model->nq * sizeof *c->q);
    c->q_best = pz_arena_take(arena, poses, (size_t)c->model->nq * sizeof *c->q);
    c->goals = pz_arena_take(arena, count + 1, sizeof *c->goals);
}

static poise_status check(const calibration *c, const double *q_start, bool wants_model, poise_error *error)
{
    const poise_calibration *o = &c->problem;
    if ((unsigned)o->scaling > POISE_SCALING_SEGMENTS || !(o->scale_prior >= 0) || o->rounds < 1 || !(o->tolerance >= 0) ||
        pz_solver_check_options(c->model, &o->solver, NULL) != POISE_OK) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "an option of the calibration or its solver is out of range");
    }
    if (o->scaling != POISE_SCALING_NONE && !wants_model) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "scaling makes a new model: fitted must not be NULL");
    }
    if (q_start && !pz_model_accepts(c->model, q_start)) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "q must hold nq finite numbers and no zero quaternion");
    }
    for (int i = 0; i < c->frame_count; ++i) {
        int f = frame_number(c, i);
        if (f < 0 || f >= c->markers->frames) {
            return pz_error_set(error, POISE_ERROR_ARGUMENT, "frame %d: the recording has %d", f, c->markers->frames);
        }
    }
    for (int i = 0; i < c->count; ++i) {
        const poise_placement *p = &c->placements[i];
        if (p->body < 0 || p->body >= c->model->joint_count || !(p->weight >= 0) || !is_finite(p->weight)) {
            return pz_error_set(error, POISE_ERROR_ARGUMENT, "marker \"%s\": its body or weight is out of range",
                                p->label ? p->label : "");
        }
    }
    return POISE_OK;
}

// With one factor for all bones first; then, where that is asked for, with one for each.
static poise_status fit(calibration *c, const double *start, poise_model **made, poise_calibration_report *done,
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

poise_status poise_calibrate(const poise_calibration *problem, const poise_allocator *allocator, poise_model **fitted,
                             poise_calibration_report *report, poise_error *error)
{
    if (!problem || !problem->model || problem->placement_count < 1 || !problem->placements || !problem->markers ||
        problem->frame_count < 1) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "model, placements, markers and frames must be there");
    }
    const poise_model *model = problem->model;
    double *q = problem->q;
    int frame_count = problem->frame_count;
    calibration c = {.model = model,
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
    double *start = c.q + (size_t)frame_count * (size_t)model->nq;
    poise_model_neutral(model, start);
    if (q) {
        memcpy(start, q, (size_t)model->nq * sizeof *start);
    }
    poise_model *made = NULL;
    poise_calibration_report done = {.frames = frame_count};
    status = fit(&c, start, &made, &done, error);
    for (int i = 0; i < c.count && status == POISE_OK; ++i) {
        problem->placements[i].local = offset_of(&c, i);
    }
    if (status == POISE_OK && q) {
        memcpy(q, c.q, (size_t)model->nq * sizeof *q);
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
