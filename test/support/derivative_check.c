#include "derivative_check.h"
#include "goal/objective_state.h"

#include "math/dense.h"
#include "math/so3.h"
#include "model/packed_model.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static double cost_at(poise_objective *o, const poise_model *model, const double *q, const double *v, double *moved)
{
    ck_assert_int_eq(poise_retract(model, q, v, moved, NULL), POISE_OK);
    ck_assert_int_eq(poise_objective_evaluate(o, moved, POISE_LEVEL_COST, NULL), POISE_OK);
    return poise_objective_cost(o);
}

// d f(retract(q, v)) / dv. The gradient at the new point refers to a step from there; for quaternions
// q exp(v + d) = q exp(v) exp(J_r(v) d), J_r(v) = J_l(v)^T.
static void gradient_at(poise_objective *o, const poise_model *model, const double *q, const double *v, double *moved,
                        double *gradient)
{
    ck_assert_int_eq(poise_retract(model, q, v, moved, NULL), POISE_OK);
    ck_assert_int_eq(poise_objective_evaluate(o, moved, POISE_LEVEL_GRADIENT, NULL), POISE_OK);
    memcpy(gradient, poise_objective_gradient(o), (size_t)model->nv * sizeof *gradient);
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
    memcpy(gradient, poise_objective_gradient(objective), n * sizeof *gradient);
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
