#include "derivative_check.h"

#include "check.h"
#include "goal/objective.h"

#include "model/model.h"
#include "num/dense.h"
#include "num/rotation.h"
#include "num/vector.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double cost_at(poise_objective *o, const poise_model *model, const double *q, const double *v, double *moved)
{
    ck_assert_int_eq(poise_retract(model, q, v, moved, NULL), POISE_OK);
    ck_assert_int_eq(poise_objective_evaluate(o, moved, POISE_LEVEL_COST, NULL), POISE_OK);
    return poise_objective_value(o).cost;
}

// d f(retract(q, v)) / dv. The gradient at the new point refers to a step from there; for quaternions
// q exp(v + d) = q exp(v) exp(J_r(v) d), J_r(v) = J_l(v)^T.
static void gradient_at(poise_objective *o, const poise_model *model, const double *q, const double *v, double *moved,
                        double *gradient)
{
    ck_assert_int_eq(poise_retract(model, q, v, moved, NULL), POISE_OK);
    ck_assert_int_eq(poise_objective_evaluate(o, moved, POISE_LEVEL_GRADIENT, NULL), POISE_OK);
    memcpy(gradient, poise_objective_value(o).gradient, (size_t)model->nv * sizeof *gradient);
    for (int s = 0; s < model->step_count; ++s) {
        if (model->steps[s].kind == PZ_QUATERNION) {
            double *g = gradient + model->axes[model->steps[s].axis].dof;
            const double *dv = v + model->axes[model->steps[s].axis].dof;
            mat3 J = so3_left_jacobian(v3(dv[0], dv[1], dv[2]));
            vec3 turned = m3_apply(&J, v3(g[0], g[1], g[2])); // J_r^T g = J_l g
            g[0] = turned.x, g[1] = turned.y, g[2] = turned.z;
        }
    }
}

static double largest_of(const double *x, size_t count)
{
    double largest = 1.0;
    for (size_t i = 0; i < count; ++i) {
        largest = fmax(largest, fabs(x[i]));
    }
    return largest;
}

static double gradient_error(poise_objective *o, const poise_model *model, const double *q, const double *exact)
{
    int n = model->nv;
    double *v = calloc((size_t)n, sizeof *v), *moved = malloc((size_t)model->nq * sizeof *moved);
    double worst = 0.0, h = DIFFERENCE_STEP;
    for (int i = 0; i < n; ++i) {
        double f[4];
        for (int k = 0; k < 4; ++k) {
            v[i] = (double[]){h, -h, 2 * h, -2 * h}[k];
            f[k] = cost_at(o, model, q, v, moved);
        }
        v[i] = 0.0;
        double numerical = (8.0 * (f[0] - f[1]) - (f[2] - f[3])) / (12.0 * h);
        worst = fmax(worst, fabs(numerical - exact[i]));
    }
    free(v);
    free(moved);
    return worst / largest_of(exact, (size_t)n);
}

static double hessian_error(poise_objective *o, const poise_model *model, const double *q, const double *exact)
{
    size_t n = (size_t)model->nv;
    double *v = calloc(n, sizeof *v), *moved = malloc((size_t)model->nq * sizeof *moved), *g = malloc(4 * n * sizeof *g);
    double worst = 0.0, h = DIFFERENCE_STEP;
    for (size_t j = 0; j < n; ++j) {
        for (int k = 0; k < 4; ++k) {
            v[j] = (double[]){h, -h, 2 * h, -2 * h}[k];
            gradient_at(o, model, q, v, moved, g + (size_t)k * n);
        }
        v[j] = 0.0;
        for (size_t i = 0; i < n; ++i) {
            double numerical = (8.0 * (g[i] - g[n + i]) - (g[2 * n + i] - g[3 * n + i])) / (12.0 * h);
            worst = fmax(worst, fabs(numerical - exact[i * n + j]));
        }
    }
    free(v);
    free(moved);
    free(g);
    return worst / largest_of(exact, n * n);
}

static void compare_forms(poise_objective *o, const poise_model *model, const double *H, derivative_errors *errors)
{
    size_t n = (size_t)model->nv;
    double scale = largest_of(H, n * n);
    double *x = malloc(2 * n * sizeof *x), *y = x + n;
    for (size_t i = 0; i < n; ++i) {
        x[i] = 1.0 - 0.37 * (double)(i % 5);
    }
    ck_assert_int_eq(poise_objective_multiply(o, POISE_HESSIAN_EXACT, x, y, NULL), POISE_OK);
    for (size_t i = 0; i < n; ++i) {
        double dense = 0.0;
        for (size_t j = 0; j < n; ++j) {
            dense += H[i * n + j] * x[j];
            errors->asymmetry = fmax(errors->asymmetry, fabs(H[i * n + j] - H[j * n + i]));
        }
        errors->product = fmax(errors->product, fabs(dense - y[i]) / scale);
    }
    ck_assert_int_eq(pz_objective_diagonal(o, POISE_HESSIAN_EXACT, y), POISE_OK);
    for (size_t i = 0; i < n; ++i) {
        errors->diagonal = fmax(errors->diagonal, fabs(H[i * n + i] - y[i]) / scale);
    }
    free(x);
}

static void compare_packed(poise_objective *o, const poise_model *model, const double *H, derivative_errors *errors)
{
    size_t n = (size_t)model->nv;
    double *rows = malloc((poise_model_packed_row(model, poise_model_info(model).nv).begin + 1) * sizeof *rows),
           *unpacked = calloc(n * n, sizeof *unpacked);
    if (poise_objective_packed(o, POISE_HESSIAN_EXACT, rows, NULL) == POISE_OK) {
        for (int i = 0; i < model->nv; ++i) {
            int h = i;
            for (int d = poise_model_packed_row(model, i).count - 1; d >= 0;
                 --d, h = poise_model_packed_row(model, h).parent) {
                double entry = rows[poise_model_packed_row(model, i).begin + (size_t)d];
                unpacked[(size_t)i * n + (size_t)h] = entry;
                unpacked[(size_t)h * n + (size_t)i] = entry;
            }
        }
        for (size_t i = 0; i < n * n; ++i) {
            errors->packed = fmax(errors->packed, fabs(unpacked[i] - H[i]));
        }
    }
    free(rows);
    free(unpacked);
}

derivative_errors check_derivatives(poise_objective *objective, const poise_model *model, const double *q)
{
    derivative_errors errors = {0};
    size_t n = (size_t)model->nv;
    double *gradient = malloc(n * sizeof *gradient), *H = malloc(n * n * sizeof *H), *work = malloc(2 * n * sizeof *work);
    ck_assert_int_eq(poise_objective_evaluate(objective, q, POISE_LEVEL_HESSIAN, NULL), POISE_OK);
    memcpy(gradient, poise_objective_value(objective).gradient, n * sizeof *gradient);
    ck_assert_int_eq(poise_objective_hessian(objective, POISE_HESSIAN_GAUSS_NEWTON, H, NULL), POISE_OK);
    ck_assert(pz_symmetric_eigen((int)n, H, work, false, work + n));
    errors.least_gauss_newton = work[0] / fmax(1e-300, work[n - 1]);
    ck_assert_int_eq(poise_objective_hessian(objective, POISE_HESSIAN_EXACT, H, NULL), POISE_OK);
    compare_forms(objective, model, H, &errors);
    compare_packed(objective, model, H, &errors);
    errors.gradient = gradient_error(objective, model, q, gradient);
    errors.hessian = hessian_error(objective, model, q, H);
    free(gradient);
    free(H);
    free(work);
    return errors;
}

// ---- Motion --------------------------------------------------------------------------------------------------------------

// Fourth order, h = 1e-3: truncation h^4 x^(5)/30 with fifth derivatives below ten arm lengths, rounding 2e-16 * 10 / h.
#define DIFFERENCE 2e-11

typedef void (*quantity)(const figure *f, int body, poise_vec3 local, double out[9]);

static void point_of(const figure *f, int body, poise_vec3 local, double out[9])
{
    poise_vec3 x = poise_kinematics_point(f->kin, body, local);
    out[0] = x.x, out[1] = x.y, out[2] = x.z;
}

static void direction_of(const figure *f, int body, poise_vec3 local, double out[9])
{
    poise_vec3 x = poise_kinematics_direction(f->kin, body, local);
    out[0] = x.x, out[1] = x.y, out[2] = x.z;
}

static void mass_center_of(const figure *f, int body, poise_vec3 local, double out[9])
{
    (void)body, (void)local;
    poise_vec3 x;
    poise_kinematics_mass_center(f->kin, &x, NULL);
    out[0] = x.x, out[1] = x.y, out[2] = x.z;
}

static void rotation_of(const figure *f, int body, poise_vec3 local, double out[9])
{
    (void)local;
    double p[3];
    poise_kinematics_body_frame(f->kin, body, out, p);
}

// d quantity / dv_i at v = 0, at the figure's q; leaves the kinematics at q.
static void differences(figure *f, quantity of, int body, poise_vec3 local, int i, double out[9])
{
    double v[FIGURE_NUMBERS] = {0}, q[FIGURE_NUMBERS], value[4][9] = {{0}};
    memcpy(q, f->q, sizeof q);
    for (int k = 0; k < 4; ++k) {
        v[i] = DIFFERENCE_STEP * (double[]){1, -1, 2, -2}[k];
        ck_assert_int_eq(poise_retract(f->model, q, v, f->q, NULL), POISE_OK);
        update(f);
        of(f, body, local, value[k]);
    }
    memcpy(f->q, q, sizeof q);
    update(f);
    for (int r = 0; r < 9; ++r) {
        out[r] = (8 * (value[0][r] - value[1][r]) - (value[2][r] - value[3][r])) / (12 * DIFFERENCE_STEP);
    }
}

static void check_rows(figure *f, const double *J, quantity of, int body, poise_vec3 local, const char *what)
{
    for (int i = 0; i < f->nv; ++i) {
        double d[9];
        differences(f, of, body, local, i, d);
        for (int r = 0; r < 3; ++r) {
            ck_assert_msg(fabs(J[r * f->nv + i] - d[r]) <= DIFFERENCE, "%s: column %d row %d: %.15g, differences %.15g",
                          what, i, r, J[r * f->nv + i], d[r]);
        }
    }
}

#define TENSOR_DIFFERENCE 5e-11

// d point(retract(q, v)) / dv at v. The Jacobian at the new place refers to a step from there; for a quaternion
// q exp(v + d) = q exp(v) exp(J_r(v) d), J_r(v) = J_l(v)^T, so its columns are multiplied by J_r.
static void jacobian_at(figure *f, const double *v, int body, poise_vec3 local, double *J)
{
    double q[FIGURE_NUMBERS];
    ck_assert_int_eq(poise_retract(f->model, f->q, v, q, NULL), POISE_OK);
    ck_assert_int_eq(poise_kinematics_update(f->kin, q, NULL), POISE_OK);
    ck_assert_int_eq(poise_kinematics_jacobian(f->kin, body, local, J, NULL, NULL), POISE_OK);
    for (int k = 0; k < poise_model_info(f->model).joints; ++k) {
        poise_joint_type type = poise_model_joint_info(f->model, k).type;
        if (type != POISE_JOINT_BALL_QUATERNION && type != POISE_JOINT_FREE) {
            continue;
        }
        int i = poise_model_joint_info(f->model, k).v + (type == POISE_JOINT_FREE ? 3 : 0);
        mat3 J_l = so3_left_jacobian(v3(v[i], v[i + 1], v[i + 2]));
        for (int row = 0; row < 3; ++row) {
            double *r = J + row * f->nv + i;
            vec3 turned = m3_apply(&J_l, v3(r[0], r[1], r[2])); // (r J_r)^T = J_l r^T
            r[0] = turned.x, r[1] = turned.y, r[2] = turned.z;
        }
    }
}

static void check_tensor(figure *f, int body, poise_vec3 local)
{
    int n = f->nv;
    double *K = malloc((size_t)(3 * n * n + 1) * sizeof *K), *J = malloc((size_t)(12 * n + 1) * sizeof *J);
    ck_assert_int_eq(poise_kinematics_point_tensor(f->kin, body, local, K, NULL), POISE_OK);
    for (int j = 0; j < n; ++j) {
        double v[FIGURE_NUMBERS] = {0};
        for (int k = 0; k < 4; ++k) {
            v[j] = DIFFERENCE_STEP * (double[]){1, -1, 2, -2}[k];
            jacobian_at(f, v, body, local, J + 3 * n * k);
        }
        for (int i = 0; i < 3 * n; ++i) {
            double d = (8 * (J[i] - J[3 * n + i]) - (J[6 * n + i] - J[9 * n + i])) / (12 * DIFFERENCE_STEP);
            ck_assert_msg(fabs(K[i * n + j] - d) <= TENSOR_DIFFERENCE, "row %d, %d, %d: %.15g, differences %.15g", i / n,
                          i % n, j, K[i * n + j], d);
        }
    }
    update(f);
    free(K);
    free(J);
}

// Rows 3-5 of the frame's Jacobian are the angular velocity: dR = [w]x R, so [w]x = dR R^T.
static void check_turning(figure *f, const double *J, int body, poise_vec3 local)
{
    double rows[9], unused[3];
    int n = f->nv;
    poise_kinematics_body_frame(f->kin, body, rows, unused);
    mat3 R = m3_from_rows(rows), R_transposed = m3_transpose(&R);
    for (int i = 0; i < n; ++i) {
        double d[9];
        differences(f, rotation_of, body, local, i, d);
        mat3 dR = m3_from_rows(d), W = m3_mul(&dR, &R_transposed);
        ck_assert_double_eq_tol(J[3 * n + i], 0.5 * (W.y.z - W.z.y), DIFFERENCE);
        ck_assert_double_eq_tol(J[4 * n + i], 0.5 * (W.z.x - W.x.z), DIFFERENCE);
        ck_assert_double_eq_tol(J[5 * n + i], 0.5 * (W.x.y - W.y.x), DIFFERENCE);
    }
}

void check_motion(figure *f, int body, poise_vec3 local)
{
    double J[6 * FIGURE_NUMBERS], J_point[3 * FIGURE_NUMBERS];
    ck_assert_int_eq(poise_kinematics_jacobian(f->kin, body, local, J_point, NULL, NULL), POISE_OK);
    check_rows(f, J_point, point_of, body, local, "point");
    ck_assert_int_eq(poise_kinematics_jacobian(f->kin, body, local, J, J + 3 * f->nv, NULL), POISE_OK);
    ck_assert_mem_eq(J, J_point, (size_t)(3 * f->nv) * sizeof *J);
    ck_assert_int_eq(poise_kinematics_jacobian(f->kin, body, local, NULL, J_point, NULL), POISE_OK);
    ck_assert_mem_eq(J + 3 * f->nv, J_point, (size_t)(3 * f->nv) * sizeof *J);
    check_turning(f, J, body, local);
    ck_assert_int_eq(poise_kinematics_direction_jacobian(f->kin, body, local, J, NULL), POISE_OK);
    check_rows(f, J, direction_of, body, local, "direction");
    if (poise_kinematics_mass_center(f->kin, NULL, J) > 0.0) {
        check_rows(f, J, mass_center_of, body, local, "centre of mass");
    }
    check_tensor(f, body, local);
}
