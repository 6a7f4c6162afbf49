// The successor of ERIK on models and goals of every kind, sound or hopeless.
#include "random_goals.h"
#include "random_model.h"
#include "test_main.h"

#include <poise/expressive.h>
#include <poise/kinematics.h>

#include <math.h>

#define MOST 512

static bool is_sound(const poise_model *model, const double *q)
{
    for (int i = 0; i < poise_model_nq(model); ++i) {
        if (!isfinite(q[i])) {
            return false;
        }
    }
    return poise_model_within_limits(model, q);
}

START_TEST(random_models_and_goals_are_served_within_limits)
{
    scene_random random = scene_random_make(71);
    static random_goals goals;
    static double posture[MOST], q[MOST];
    for (int i = 0; i < 60; ++i) {
        unsigned features = (i & 1 ? RANDOM_LIMITS : 0u) | (i & 2 ? RANDOM_MIMICS : 0u) | (i & 4 ? RANDOM_FOREST : 0u);
        poise_model *model = random_model(&random, 1 + i % 12, features);
        poise_expressive_options options = poise_expressive_options_default();
        poise_expressive *expressive;
        poise_expressive_report report;
        options.mode = i % 3 ? POISE_EXPRESSIVE_METRIC : POISE_EXPRESSIVE_SHAPE;
        options.warm = i % 5 != 0;
        ck_assert_ptr_nonnull(model);
        ck_assert_int_eq(poise_expressive_create(model, &options, NULL, &expressive, NULL), POISE_OK);
        random_goals_make(&random, model, &goals);
        for (int k = 0; k < 4; ++k) {
            scene_random_configuration(&random, model, posture);
            scene_random_configuration(&random, model, q);
            int count = k == 0 ? RANDOM_GOALS : scene_random_index(&random, RANDOM_GOALS);
            count = count > options.max_goals ? options.max_goals : count;
            ck_assert_int_eq(poise_expressive_solve(expressive, goals.goals, count, posture, q, &report), POISE_OK);
            ck_assert(is_sound(model, q));
            ck_assert(isfinite(report.error) && isfinite(report.posture));
        }
        poise_expressive_destroy(expressive);
        poise_model_destroy(model);
    }
}
END_TEST

START_TEST(without_goals_the_answer_is_the_posture_within_limits)
{
    scene_random random = scene_random_make(73);
    static double posture[MOST], q[MOST], v[MOST];
    for (int i = 0; i < 20; ++i) {
        poise_model *model = random_model(&random, 1 + i % 8, RANDOM_LIMITS);
        poise_expressive_options options = poise_expressive_options_default();
        poise_expressive *expressive;
        options.mode = POISE_EXPRESSIVE_SHAPE;
        options.warm = false;
        ck_assert_int_eq(poise_expressive_create(model, &options, NULL, &expressive, NULL), POISE_OK);
        scene_random_configuration(&random, model, posture);
        poise_model_neutral(model, q);
        ck_assert_int_eq(poise_expressive_solve(expressive, NULL, 0, posture, q, NULL), POISE_OK);
        ck_assert_int_eq(poise_difference(model, posture, q, v), POISE_OK);
        for (int k = 0; k < poise_model_nv(model); ++k) {
            ck_assert_double_le(fabs(v[k]), 1e-9); // starts there: only rounding of the clamp
        }
        poise_expressive_destroy(expressive);
        poise_model_destroy(model);
    }
}
END_TEST

START_TEST(targets_out_of_reach_and_out_of_this_world_leave_sound_answers)
{
    scene_random random = scene_random_make(79);
    static const double far[] = {1.0, 1e3, 1e9, 1e100, 1e160};
    static double posture[MOST], q[MOST];
    poise_model *model = random_model(&random, 8, RANDOM_LIMITS);
    poise_expressive_options options = poise_expressive_options_default();
    poise_expressive *expressive;
    poise_expressive_report report;
    ck_assert_int_eq(poise_expressive_create(model, &options, NULL, &expressive, NULL), POISE_OK);
    for (size_t i = 0; i < TEST_COUNT(far); ++i) {
        poise_vec3 zero = poise_vec3_make(0, 0, 0), target = poise_vec3_make(far[i], -far[i], far[i]);
        poise_goal goals[2] = {poise_goal_position(7, zero, target),
                               poise_goal_aim(5, zero, poise_vec3_make(0, 0, 1), target)};
        scene_random_configuration(&random, model, posture);
        scene_random_configuration(&random, model, q);
        ck_assert_int_eq(poise_expressive_solve(expressive, goals, 2, posture, q, &report), POISE_OK);
        ck_assert(is_sound(model, q));
        ck_assert(isfinite(report.error) && isfinite(report.goal) && isfinite(report.posture));
    }
    poise_expressive_destroy(expressive);
    poise_model_destroy(model);
}
END_TEST

static const test_case tests[] = {
    &random_models_and_goals_are_served_within_limits,
    &without_goals_the_answer_is_the_posture_within_limits,
    &targets_out_of_reach_and_out_of_this_world_leave_sound_answers,
};

int main(void)
{
    return test_run("expressive_models", tests, TEST_COUNT(tests));
}
