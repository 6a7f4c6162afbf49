// Answers and their derivatives: an arm in the plane, solves to the last digits.
#ifndef TEST_SUPPORT_ANSWERS_H
#define TEST_SUPPORT_ANSWERS_H

#include "support/skeleton.h"
#include "support/test_main.h"

#include <poise/sensitivity.h>

#include <math.h>

static inline void release_sensitivity(void *s)
{
    poise_sensitivity_destroy(s);
}

static inline poise_sensitivity *sensitivity_of(const poise_model *model, int coupled)
{
    poise_sensitivity *s = NULL;
    ck_assert_int_eq(poise_sensitivity_create(model, coupled, NULL, &s, NULL), POISE_OK);
    test_own(release_sensitivity, s);
    return s;
}

static inline double largest(const double *x, int n)
{
    double most = 0.0;
    for (int i = 0; i < n; ++i) {
        most = fmax(most, fabs(x[i]));
    }
    return most;
}

static inline void solve_to_the_end(const poise_model *model, const poise_goal *goals, int count, double *q)
{
    poise_solver_options options = poise_solver_options_default();
    options.gradient_tolerance = 1e-14;
    options.max_iterations = 400;
    options.position_tolerance = options.rotation_tolerance = 0;
    poise_solver *solver = NULL;
    ck_assert_int_eq(poise_solver_create(model, &options, NULL, &solver, NULL), POISE_OK);
    ck_assert_int_eq(poise_solve(solver, goals, count, q, NULL, NULL), POISE_OK);
    poise_solver_destroy(solver);
}

// Three links of length 1; the second hinge has an upper limit.
static inline figure planar_arm(double upper)
{
    poise_builder *builder = new_builder();
    static const char *const names[] = {"a", "b", "c"};
    for (int i = 0; i < 3; ++i) {
        poise_joint joint = joint_of(names[i], i ? names[i - 1] : NULL, POISE_JOINT_REVOLUTE);
        joint.offset.position.x = i ? 1.0 : 0.0;
        joint.upper[0] = i == 1 ? upper : INFINITY;
        add(builder, &joint);
    }
    return figure_of(model_of(builder));
}

#endif
