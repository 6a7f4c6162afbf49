// Derivatives of answers whose goals leave coordinates open, or nearly.
#include "support/answers.h"
#include "support/random_goals.h"
#include "support/test_arms.h"

// An arm of two links, nearly straight, below a target that is out of its plane: beside rounding it may not be off by what
// the curvature along its length, the square of the bend, tells from none.
TEST(a_missed_answer_that_is_nearly_singular_must_be_as_exact_as_its_curvature_asks)
{
    static const double off[] = {0, 1e-6};
    poise_builder *builder = new_builder();
    poise_joint first = joint_of("first", NULL, POISE_JOINT_REVOLUTE),
                second = joint_of("second", "first", POISE_JOINT_REVOLUTE);
    second.offset.position.x = 1;
    add(builder, &first);
    add(builder, &second);
    figure f = figure_of(model_of(builder));
    f.q[0] = 0.3, f.q[1] = 3e-4;
    update(&f);
    poise_vec3 tip = {1, 0, 0}, place = poise_kinematics_point(f.kin, 1, tip);
    place.z += 0.5;
    poise_goal goal = poise_goal_position(1, tip, place);
    poise_sensitivity *s = sensitivity_of(f.model, 0);
    for (int i = 0; i < 2; ++i) {
        poise_error error = {0};
        double q[2] = {f.q[0] + off[i], f.q[1]}, dq[2], J[6];
        poise_status status = poise_sensitivity_update(s, &goal, 1, q, true, &error);
        ck_assert_msg(status == (i == 0 ? POISE_OK : POISE_ERROR_NUMERIC), "off by %g: %s", off[i], error.text);
        if (status != POISE_OK) {
            ck_assert_ptr_nonnull(strstr(error.text, "no derivative"));
            continue;
        }
        poise_goal_change change = {.translation = {0.3, -0.8, 0}};
        ck_assert_int_eq(poise_sensitivity_forward(s, &change, dq, NULL), POISE_OK);
        ck_assert_int_eq(poise_kinematics_jacobian(f.kin, 1, tip, J, NULL, NULL), POISE_OK);
        ck_assert_double_eq_tol(J[0] * dq[0] + J[1] * dq[1], 0.3, 1e-6);
        ck_assert_double_eq_tol(J[2] * dq[0] + J[3] * dq[1], -0.8, 1e-6);
    }
}

// Two arms of two links, all nearly straight: the least pivots are small, and yet each tip goes where its target does.
TEST(arms_that_are_nearly_straight_follow_their_targets)
{
    poise_builder *builder = new_builder();
    static const char *const names[] = {"a", "b", "c", "d"};
    for (int i = 0; i < 4; ++i) {
        poise_joint joint = joint_of(names[i], i % 2 ? names[i - 1] : NULL, POISE_JOINT_REVOLUTE);
        joint.offset.position.x = i % 2;
        add(builder, &joint);
    }
    figure f = figure_of(model_of(builder));
    memcpy(f.q, (const double[]){0.3, 3e-4, -0.8, 5e-4}, 4 * sizeof *f.q);
    update(&f);
    poise_vec3 tip = {1, 0, 0};
    poise_goal goals[2] = {poise_goal_position(1, tip, poise_kinematics_point(f.kin, 1, tip)),
                           poise_goal_position(3, tip, poise_kinematics_point(f.kin, 3, tip))};
    poise_goal_change changes[2] = {{.translation = {0.3, -0.8, 0}}, {.translation = {0.5, 0.1, 0}}};
    poise_sensitivity *s = sensitivity_of(f.model, 0);
    double dq[4], J[12];
    ck_assert_int_eq(poise_sensitivity_update(s, goals, 2, f.q, true, NULL), POISE_OK);
    ck_assert_int_eq(poise_sensitivity_forward(s, changes, dq, NULL), POISE_OK);
    for (int g = 0; g < 2; ++g) {
        ck_assert_int_eq(poise_kinematics_jacobian(f.kin, goals[g].body, tip, J, NULL, NULL), POISE_OK);
        for (int k = 0; k < 2; ++k) {
            double along = J[4 * k] * dq[0] + J[4 * k + 1] * dq[1] + J[4 * k + 2] * dq[2] + J[4 * k + 3] * dq[3];
            ck_assert_double_eq_tol(along, k == 0 ? changes[g].translation.x : changes[g].translation.y, 1e-5);
        }
    }
}

// Six hinges in a plane and a target beside it, which leaves most of them open; memory of zeros, and of large negative
// numbers, also behind all that is used.
TEST(derivatives_do_not_depend_on_what_was_in_the_memory)
{
    static const int fills[] = {0x00, 0xc5};
    static _Alignas(64) unsigned char block[1 << 17];
    poise_builder *builder = new_builder();
    static const char *const names[] = {"a", "b", "c", "d", "e", "f"};
    for (int i = 0; i < 6; ++i) {
        poise_joint joint = joint_of(names[i], i ? names[i - 1] : NULL, POISE_JOINT_REVOLUTE);
        joint.offset.position.x = i ? 1.0 : 0.0;
        add(builder, &joint);
    }
    figure f = figure_of(model_of(builder));
    memcpy(f.q, (const double[]){0.3, 0.4, -0.5, 0.6, 0.2, -0.7}, 6 * sizeof *f.q);
    update(&f);
    poise_vec3 tip = {1, 0, 0}, place = poise_kinematics_point(f.kin, 5, tip);
    place.z += 0.5;
    poise_goal goal = poise_goal_position(5, tip, place);
    poise_goal_change change = {.translation = {0.3, -0.8, 0}}, back[2] = {0};
    double dq[2][6];
    for (int i = 0; i < 2; ++i) {
        poise_memory memory = {.base = block, .size = sizeof block};
        poise_allocator own = poise_memory_allocator(&memory);
        poise_sensitivity *s = NULL;
        poise_error error = {0};
        memset(block, fills[i], sizeof block);
        ck_assert_int_eq(poise_sensitivity_create(f.model, 0, &own, &s, NULL), POISE_OK);
        ck_assert_msg(poise_sensitivity_update(s, &goal, 1, f.q, true, &error) == POISE_OK, "%s", error.text);
        ck_assert_int_eq(poise_sensitivity_forward(s, &change, dq[i], NULL), POISE_OK);
        ck_assert_int_eq(poise_sensitivity_backward(s, dq[i], &back[i], NULL, NULL, NULL), POISE_OK);
        poise_sensitivity_destroy(s);
    }
    ck_assert_mem_eq(dq[0], dq[1], sizeof dq[0]);
    ck_assert_mem_eq(&back[0], &back[1], sizeof back[0]);
}
