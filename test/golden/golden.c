#include "goal/objective.h"
#include "golden_parts.h"

#include "model/model.h"
#include "num/dense.h"
#include "num/rotation.h"
#include "num/trig.h"
#include "support/random_goals.h"

#include <stdlib.h>

// ---- Hashing -------------------------------------------------------------------------------------------------------------

static const uint64_t FNV_START = 14695981039346656037u, FNV_PRIME = 1099511628211u;

static void take_bits(golden_result *r, uint64_t bits)
{
    for (int shift = 0; shift < 64; shift += 8) {
        r->hash = (r->hash ^ (bits >> shift & 0xff)) * FNV_PRIME;
    }
}

void golden_take(golden_result *r, double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    take_bits(r, bits);
    r->numbers += 1;
    r->troubles += !is_finite(x);
}

static void take_array(golden_result *r, const double *x, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        golden_take(r, x[i]);
    }
}

static void take_vec3(golden_result *r, vec3 v)
{
    golden_take(r, v.x);
    golden_take(r, v.y);
    golden_take(r, v.z);
}

static void take_quat(golden_result *r, quat q)
{
    take_vec3(r, quat_vec(q));
    golden_take(r, q.w);
}

static void take_pose(golden_result *r, poise_pose pose)
{
    take_quat(r, pose.rotation);
    take_vec3(r, pose.position);
}

static void take_mat3(golden_result *r, const mat3 *A)
{
    take_vec3(r, A->x);
    take_vec3(r, A->y);
    take_vec3(r, A->z);
}

void golden_require(golden_result *r, bool holds)
{
    r->troubles += !holds;
}

// 2^exponent times a number in +-[1, 2)
static double spread(scene_random *random, int exponent)
{
    double x = 1.0 + scene_random_uniform(random), factor = exponent < 0 ? 0.5 : 2.0;
    for (int i = exponent < 0 ? -exponent : exponent; i > 0; --i) {
        x *= factor;
    }
    return scene_random_index(random, 2) == 0 ? x : -x;
}

static vec3 spread_vec3(scene_random *random, int exponent)
{
    double x = spread(random, exponent), y = spread(random, exponent), z = spread(random, exponent - 1);
    return v3(x, y, z);
}

// ---- Elementary functions ------------------------------------------------------------------------------------------------

#define ANGLES 64

static void trigonometry(golden_result *r)
{
    scene_random random = scene_random_make(1);
    double x[ANGLES], s[ANGLES], c[ANGLES];
    for (int exponent = -60; exponent <= 1000; exponent += exponent < 40 ? 1 : 30) {
        for (int i = 0; i < ANGLES; ++i) {
            x[i] = spread(&random, exponent);
            pz_sincos(x[i], &s[i], &c[i]);
        }
        take_array(r, s, ANGLES);
        take_array(r, c, ANGLES);
        // arrays of every length: the ends of vectorised loops
        double s2[ANGLES], c2[ANGLES];
        size_t count = (size_t)(exponent + 60) % ANGLES;
        pz_sincos_array(count, x, s2, c2);
        golden_require(r, memcmp(s, s2, count * sizeof *s) == 0 && memcmp(c, c2, count * sizeof *c) == 0);
    }
    for (int exponent = -1000; exponent <= 1000; exponent += 20) {
        for (int i = 0; i < 8; ++i) {
            double y = spread(&random, exponent / 2);
            golden_take(r, pz_atan2(y, spread(&random, exponent / 2 + i - 4)));
            golden_take(r, pz_atan2(y, spread(&random, -exponent / 4)));
        }
    }
}

static void take_maps(golden_result *r, vec3 v, vec3 omega)
{
    poise_expmap map;
    poise_swing swing;
    double R[9], rate[2];
    golden_require(r, poise_expmap_make(v, &map, NULL) == POISE_OK);
    golden_require(r, poise_swing_make(v.x, v.y, v3(1, 0, 0), v3(0, 0.6, 0.8), &swing, NULL) == POISE_OK);
    poise_quat_to_matrix(map.q, R);
    take_array(r, R, 9);
    poise_quat_partial(map.q, map.dq[1], R);
    take_array(r, R, 9);
    poise_quat_partial(swing.map.q, swing.dq[0], R);
    take_array(r, R, 9);
    take_vec3(r, poise_expmap_rate(&map, omega));
    vec3 dv = poise_expmap_rate(&swing.map, omega);
    rate[0] = v3_dot(swing.s, dv), rate[1] = v3_dot(swing.t, dv);
    take_array(r, rate, 2);
}

static void rotations(golden_result *r)
{
    scene_random random = scene_random_make(2);
    for (int exponent = -40; exponent <= 12; ++exponent) {
        for (int i = 0; i < 4; ++i) {
            vec3 v = spread_vec3(&random, exponent), shorter = v;
            mat3 R = so3_exp(v), J = so3_left_jacobian(v), dJ[3];
            so3_left_jacobian_derivative(v, dJ);
            take_mat3(r, &R);
            take_mat3(r, &J);
            take_mat3(r, &dJ[i % 3]);
            so3_reparameterise(&shorter);
            take_vec3(r, shorter);
            J = so3_left_jacobian_inverse(shorter);
            take_mat3(r, &J);
            quat q = so3_exp_quat(v);
            take_quat(r, q);
            take_vec3(r, so3_log(q));
            take_quat(r, quat_from_matrix(&R));
            golden_take(r, poise_quat_angle(q));
            take_maps(r, v, scene_random_direction(&random));
            take_quat(r, poise_quat_from_roll_pitch_yaw(v.x, v.y, v.z));
        }
    }
}

// ---- Dense kernels -------------------------------------------------------------------------------------------------------

#define LARGEST 24

// A = B B^T + shift I, B of independent numbers.
static void random_symmetric(scene_random *random, int n, double shift, double *A)
{
    double B[LARGEST * LARGEST];
    for (int i = 0; i < n * n; ++i) {
        B[i] = scene_random_range(random, -1, 1);
    }
    for (int i = 0; i < n; ++i) {
        for (int j = 0; j < n; ++j) {
            A[i * n + j] = i == j ? shift : 0.0;
            for (int k = 0; k < n; ++k) {
                A[i * n + j] += B[i * n + k] * B[j * n + k];
            }
        }
    }
}

static void symmetric_kernels(golden_result *r, scene_random *random, int n)
{
    double A[LARGEST * LARGEST], x[LARGEST], w[LARGEST], work[LARGEST];
    size_t nn = (size_t)(n * n);
    for (int i = 0; i < n; ++i) {
        x[i] = scene_random_range(random, -1, 1);
    }
    random_symmetric(random, n, 0.5, A);
    golden_require(r, pz_cholesky(n, A));
    pz_cholesky_solve(n, A, x);
    take_array(r, A, nn);
    take_array(r, x, (size_t)n);
    random_symmetric(random, n, -2.0, A);
    golden_take(r, pz_ldlt(n, A));
    pz_ldlt_solve(n, A, x);
    take_array(r, A, nn);
    take_array(r, x, (size_t)n);
    random_symmetric(random, n, -1.0, A);
    golden_require(r, pz_symmetric_eigen(n, A, w, true, work));
    take_array(r, A, nn);
    take_array(r, w, (size_t)n);
}

static void rectangular_kernels(golden_result *r, scene_random *random, int m, int n)
{
    double A[LARGEST * LARGEST], B[LARGEST * LARGEST], x[LARGEST], y[LARGEST], tau[LARGEST], V[LARGEST * LARGEST];
    for (int i = 0; i < m * n; ++i) {
        A[i] = B[i] = scene_random_range(random, -1, 1);
    }
    for (int i = 0; i < m; ++i) {
        x[i] = scene_random_range(random, -1, 1);
    }
    pz_qr(m, n, A, tau);
    golden_require(r, pz_qr_solve(m, n, A, tau, x, y));
    take_array(r, A, (size_t)(m * n));
    take_array(r, y, (size_t)n);
    golden_require(r, pz_svd(m, n, B, tau, V));
    take_array(r, B, (size_t)(m * n));
    take_array(r, tau, (size_t)n);
    take_array(r, V, (size_t)(n * n));
}

static void dense_kernels(golden_result *r)
{
    scene_random random = scene_random_make(3);
    for (int n = 1; n <= LARGEST; n += n < 9 ? 1 : 5) {
        symmetric_kernels(r, &random, n);
        rectangular_kernels(r, &random, n, n);
        rectangular_kernels(r, &random, LARGEST, n);
    }
}

// ---- Kinematics ----------------------------------------------------------------------------------------------------------

#define MODELS 8
#define JOINTS 16

// Memory for one model at a time.
typedef struct bench {
    poise_model *model;
    poise_kinematics *kin;
    poise_objective *objective;
    double q[RANDOM_GOAL_NUMBERS], v[RANDOM_GOAL_NUMBERS], y[RANDOM_GOAL_NUMBERS];
    double *matrix; // 3 nv^2
    random_goals goals;
} bench;

static void close_bench(bench *b)
{
    if (b) {
        free(b->matrix);
        poise_objective_destroy(b->objective);
        poise_kinematics_destroy(b->kin);
        poise_model_destroy(b->model);
        free(b);
    }
}

// The library has code for wide registers, where the processor has them; `wide` false keeps to the narrow ones.
static bench *open_bench(scene_random *random, unsigned features, bool wide)
{
    bench *b = calloc(1, sizeof *b);
    if (!b) {
        return NULL;
    }
    b->model = random_model(random, JOINTS, features);
    b->model->is_wide = b->model->is_wide && wide;
    size_t n = (size_t)poise_model_info(b->model).nv;
    b->matrix = malloc((3 * n * n + 1) * sizeof *b->matrix);
    if (!b->matrix || poise_kinematics_create(b->model, NULL, &b->kin, NULL) != POISE_OK ||
        poise_objective_create(b->model, RANDOM_COUPLED, NULL, &b->objective, NULL) != POISE_OK) {
        close_bench(b);
        return NULL;
    }
    return b;
}

static void take_kinematics(golden_result *r, scene_random *random, bench *b)
{
    size_t nq = (size_t)poise_model_info(b->model).nq, n = (size_t)poise_model_info(b->model).nv;
    scene_random_configuration(random, b->model, b->q);
    take_array(r, b->q, nq);
    golden_require(r, poise_kinematics_update(b->kin, b->q, NULL) == POISE_OK);
    for (int k = 0; k < JOINTS; ++k) {
        take_pose(r, poise_kinematics_body_pose(b->kin, k));
    }
    for (int t = 0; t < poise_model_info(b->model).tools; ++t) {
        take_pose(r, poise_kinematics_tool_pose(b->kin, t));
    }
    int body = scene_random_index(random, JOINTS);
    poise_vec3 local = random_vector(random, 0.5), center;
    golden_take(r, poise_kinematics_mass_center(b->kin, &center, NULL));
    take_vec3(r, center);
    golden_require(r, poise_kinematics_jacobian(b->kin, body, local, b->matrix, b->matrix + 3 * n, NULL) == POISE_OK);
    take_array(r, b->matrix, 6 * n);
    golden_require(r, poise_kinematics_direction_jacobian(b->kin, body, local, b->matrix, NULL) == POISE_OK);
    take_array(r, b->matrix, 3 * n);
    golden_require(r, poise_kinematics_mass_center(b->kin, NULL, b->matrix) > 0);
    take_array(r, b->matrix, 3 * n);
    golden_require(r, poise_kinematics_point_tensor(b->kin, body, local, b->matrix, NULL) == POISE_OK);
    for (size_t i = 0; i < 3 * n; ++i) { // symmetric: every second number says it all
        take_array(r, b->matrix + i * n, i % n + 1);
    }
}

static void take_steps(golden_result *r, scene_random *random, bench *b)
{
    size_t nq = (size_t)poise_model_info(b->model).nq, n = (size_t)poise_model_info(b->model).nv;
    double to[RANDOM_GOAL_NUMBERS];
    for (int step = 0; step < 6; ++step) {
        random_step(random, b->model, step < 3 ? 0.3 : 5.0, b->v);
        golden_require(r, poise_retract(b->model, b->q, b->v, to, NULL) == POISE_OK);
        golden_require(r, poise_difference(b->model, b->q, to, b->y, NULL) == POISE_OK);
        take_array(r, to, nq);
        take_array(r, b->y, n);
        golden_require(r, poise_model_clamp(b->model, to, NULL, NULL) == POISE_OK);
        golden_take(r, pz_kin_reparameterise(b->model, to));
        take_array(r, to, nq);
        memcpy(b->q, to, nq * sizeof *to);
    }
}

static void kinematics_of(golden_result *r, bool wide)
{
    scene_random random = scene_random_make(4);
    for (int i = 0; i < MODELS; ++i) {
        static const unsigned features[] = {RANDOM_PLAIN, RANDOM_LIMITS, RANDOM_MIMICS, RANDOM_LIMITS | RANDOM_FOREST};
        bench *b = open_bench(&random, features[i % 4], wide);
        golden_require(r, b != NULL);
        if (b) {
            take_kinematics(r, &random, b);
            take_steps(r, &random, b);
        }
        close_bench(b);
    }
}

// ---- Objectives ----------------------------------------------------------------------------------------------------------

static void take_hessians(golden_result *r, bench *b)
{
    size_t n = (size_t)poise_model_info(b->model).nv;
    for (int k = 0; k < 2; ++k) {
        poise_hessian kind = (poise_hessian)k;
        golden_require(r, poise_objective_hessian(b->objective, kind, b->matrix, NULL) == POISE_OK);
        for (size_t i = 0; i < n; ++i) {
            take_array(r, b->matrix + i * n, i + 1);
        }
        golden_require(r, poise_objective_multiply(b->objective, kind, b->v, b->y, NULL) == POISE_OK);
        take_array(r, b->y, n);
        golden_require(r, pz_objective_diagonal(b->objective, kind, b->y) == POISE_OK);
        take_array(r, b->y, n);
    }
}

static void take_packed(golden_result *r, bench *b)
{
    poise_status status = poise_objective_packed(b->objective, POISE_HESSIAN_EXACT, b->matrix, NULL);
    golden_require(r, status == POISE_OK || (status == POISE_ERROR_UNSUPPORTED && b->model->has_mimic));
    if (status == POISE_OK) {
        take_array(r, b->matrix, poise_model_packed_row(b->model, poise_model_info(b->model).nv).begin);
    }
}

static void take_objective(golden_result *r, bench *b, const poise_goal *goals, int count)
{
    golden_require(r, poise_objective_set_goals(b->objective, goals, count, NULL) == POISE_OK);
    golden_require(r, poise_objective_evaluate(b->objective, b->q, POISE_LEVEL_HESSIAN, NULL) == POISE_OK);
    golden_take(r, poise_objective_value(b->objective).cost);
    const double *gradient = poise_objective_value(b->objective).gradient;
    golden_require(r, gradient != NULL);
    if (gradient) {
        take_array(r, gradient, (size_t)poise_model_info(b->model).nv);
    }
    for (int i = 0; i < count; ++i) {
        poise_goal_error e = poise_objective_goal_error(b->objective, i);
        golden_take(r, e.error);
        golden_take(r, e.rotation_error);
    }
}

// Every goal alone, then all that stay on the tree, then all; and a body full of markers.
static void take_goals(golden_result *r, scene_random *random, bench *b)
{
    scene_random_configuration(random, b->model, b->q);
    random_step(random, b->model, 1.0, b->v);
    random_goals_make(random, b->model, &b->goals);
    for (int i = 0; i < RANDOM_GOALS; ++i) {
        take_objective(r, b, &b->goals.goals[i], 1);
    }
    take_objective(r, b, b->goals.goals, RANDOM_GOALS - RANDOM_COUPLED);
    take_hessians(r, b);
    take_packed(r, b);
    take_objective(r, b, b->goals.goals, RANDOM_GOALS);
    take_hessians(r, b);
    poise_goal markers[30];
    for (int i = 0; i < 30; ++i) {
        poise_vec3 local = random_vector(random, 0.4);
        markers[i] = poise_goal_position(i < 2 ? 0 : JOINTS - 1 - i % 3, local, random_vector(random, 2.0));
    }
    for (int i = 0; i < 8; ++i) {
        scene_random_configuration(random, b->model, b->q);
        take_objective(r, b, markers, 30);
    }
    take_hessians(r, b);
    take_packed(r, b);
}

static void objectives_of(golden_result *r, bool wide)
{
    scene_random random = scene_random_make(5);
    for (int i = 0; i < MODELS / 2; ++i) {
        bench *b = open_bench(&random, i % 2 ? RANDOM_MIMICS : RANDOM_FOREST, wide);
        golden_require(r, b != NULL);
        if (b) {
            take_goals(r, &random, b);
        }
        close_bench(b);
    }
}

// ---- Parts ---------------------------------------------------------------------------------------------------------------

// The narrow code's hash, which the wide code must give as well.
static void run_twice(golden_result *r, void (*run)(golden_result *r, bool wide))
{
    golden_result narrow = *r, wide = *r;
    run(&narrow, false);
    run(&wide, true);
    *r = narrow;
    golden_require(r, narrow.hash == wide.hash);
}

static void kinematics(golden_result *r)
{
    run_twice(r, kinematics_of);
}

static void objectives(golden_result *r)
{
    run_twice(r, objectives_of);
}

static void solving(golden_result *r)
{
    run_twice(r, golden_solving);
}

static const struct {
    const char *name;
    void (*run)(golden_result *r);
} parts[] = {
    {"trigonometry", trigonometry}, {"rotations", rotations},   {"dense", dense_kernels},
    {"kinematics", kinematics},     {"objectives", objectives}, {"solving", solving},
};

int golden_part_count(void)
{
    return (int)(sizeof parts / sizeof parts[0]);
}

const char *golden_part_name(int part)
{
    return parts[part].name;
}

golden_result golden_part(int part)
{
    golden_result r = {.hash = FNV_START};
    parts[part].run(&r);
    return r;
}

golden_result golden_all(void)
{
    golden_result all = {.hash = FNV_START};
    for (int part = 0; part < golden_part_count(); ++part) {
        golden_result r = golden_part(part);
        take_bits(&all, r.hash);
        all.numbers += r.numbers;
        all.troubles += r.troubles;
    }
    return all;
}
