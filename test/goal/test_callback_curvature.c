// Second derivatives that a caller gives: each comes through in its place, and definiteness is judged by them.
#include "support/skeleton.h"

// An energy without a slope whose second derivatives are the 36 numbers that `user` points to.
static bool given_curvature(void *user, const poise_pose *pose, poise_body_energy *out)
{
    for (int i = 0; i < 36; ++i) {
        out->hessian[i] = ((const double *)user)[i];
    }
    return pose != NULL;
}

// The objective of such an energy for one free body where it is; steps are translation, then rotation, the energy's numbers
// the other way round.
static poise_objective *free_body(poise_goal *goal, double *numbers, poise_model **model)
{
    poise_builder *builder;
    poise_objective *objective;
    poise_joint joint = poise_joint_default();
    double q[7];
    joint.name = "free";
    joint.type = POISE_JOINT_FREE;
    ck_assert_int_eq(poise_builder_create(NULL, &builder, NULL), POISE_OK);
    ck_assert_int_eq(poise_builder_add_joint(builder, &joint, NULL), POISE_OK);
    ck_assert_int_eq(poise_model_create(builder, NULL, model, NULL), POISE_OK);
    poise_builder_destroy(builder);
    ck_assert_int_eq(poise_objective_create(*model, 0, NULL, &objective, NULL), POISE_OK);
    *goal = poise_goal_callback(0, given_curvature, numbers);
    poise_model_neutral(*model, q);
    ck_assert_int_eq(poise_objective_set_goals(objective, goal, 1, NULL), POISE_OK);
    ck_assert_int_eq(poise_objective_evaluate(objective, q, POISE_LEVEL_HESSIAN, NULL), POISE_OK);
    return objective;
}

TEST(every_second_derivative_of_a_callback_comes_through_in_its_place)
{
    double numbers[36], H[36];
    poise_goal goal;
    poise_model *model;
    for (int i = 0; i < 36; ++i) { // symmetric, and all different otherwise
        numbers[i] = 1.0 + (i / 6 < i % 6 ? i / 6 * 10 + i % 6 : i % 6 * 10 + i / 6);
    }
    poise_objective *objective = free_body(&goal, numbers, &model);
    for (int kind = 0; kind < 2; ++kind) {
        ck_assert_int_eq(poise_objective_hessian(objective, (poise_hessian)kind, H, NULL), POISE_OK);
        for (int i = 0; i < 36; ++i) {
            ck_assert_double_eq(H[i], numbers[6 * ((i / 6 + 3) % 6) + (i % 6 + 3) % 6]);
        }
    }
    poise_objective_destroy(objective);
    poise_model_destroy(model);
}

TEST(definiteness_is_judged_beside_the_largest_eigenvalue_of_either_sign)
{
    double numbers[36] = {0}, work[6 * 8];
    poise_goal goal;
    poise_model *model;
    poise_definiteness found;
    static const double sizes[] = {1e-8, 1.0, 1e8};
    for (int i = 0; i < 6; ++i) {
        double sign = i % 2 ? 1.0 : -1.0;
        numbers[0] = sign * sizes[i / 2];
        numbers[35] = -1e-6 * numbers[0]; // nothing beside it
        poise_objective *objective = free_body(&goal, numbers, &model);
        ck_assert_int_eq(poise_objective_definiteness(objective, POISE_HESSIAN_EXACT, 1e-3, work, &found, NULL), POISE_OK);
        ck_assert_int_eq(found, sign < 0 ? POISE_DEFINITE_SEMI_NEGATIVE : POISE_DEFINITE_SEMI_POSITIVE);
        ck_assert_int_eq(poise_objective_definiteness(objective, POISE_HESSIAN_EXACT, 1e-9, work, &found, NULL), POISE_OK);
        ck_assert_int_eq(found, POISE_DEFINITE_INDEFINITE);
        poise_objective_destroy(objective);
        poise_model_destroy(model);
    }
}
