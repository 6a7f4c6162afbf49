// The normal equations of a calibration; calibrate.c says what they are.
#include "motion/calibrate_state.h"

#include "num/dense.h"

#include <string.h>

#define FLOOR      1e-9 // of the largest diagonal entry, added to G and N: nothing else may hold an unknown
#define BONE_SHARE 0.15 // of the stature: a bone of this length has the deviation of bones

// A of one marker; kin is of the scaled model.
static void make_rows(const pz_calibration *c, const poise_kinematics *kin, int i)
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
static void add_marker(const pz_calibration *c, double w, vec3 r)
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
static void hold_limited(const pz_calibration *c, const double *q)
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
static void take_off_poses(const pz_calibration *c)
{
    size_t n = (size_t)c->n, nv = (size_t)c->model->nv;
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
    size_t n = (size_t)c->n, nv = (size_t)c->model->nv;
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
    vec3 offset = c->model->given[k].offset.position;
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
    for (int k = 0; k < c->model->joint_count; ++k) {
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
    for (int k = 0; k < c->model->joint_count; ++k) {
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
        const double *q = c->q + (size_t)f * (size_t)scaled->nq;
        status = poise_kinematics_update(kin, q, NULL);
        add_frame(c, kin, f, q);
    }
    poise_kinematics_destroy(kin);
    add_bone_prior(c);
    add_place_priors(c);
    add_floor(c->N, n);
    return status;
}
