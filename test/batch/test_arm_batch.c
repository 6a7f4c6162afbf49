// The judge of arm poses by the million (bench/arm_batch.h): what it must not let pass.
#include <bench/arm_batch.h>

#include "support/test_main.h"

#include <math.h>

#define COUNT 200

// Targets of the scene "arm7", solved one by one.
typedef struct trial {
    arm arm;
    arm_batch batch;
} trial;

static void solve_all(arm_batch *b)
{
    poise_solver_options options = poise_solver_options_default();
    options.position_tolerance = options.rotation_tolerance = ARM_TOLERANCE;
    options.restarts = 100;
    poise_solver *solver;
    ck_assert_int_eq(poise_solver_create(b->arm->model, &options, NULL, &solver, NULL), POISE_OK);
    for (int i = 0; i < b->count; ++i) {
        poise_goal goal = poise_goal_pose(b->arm->n - 1, arm_pose_of(&b->arm->tip), b->targets[i]);
        poise_report report;
        ck_assert_int_eq(poise_solve(solver, &goal, 1, b->q + i * b->arm->n, &report, NULL), POISE_OK);
        b->told[i] = report.outcome == POISE_OUTCOME_REACHED;
    }
    poise_solver_destroy(solver);
}

static void set_up(trial *t, int beyond)
{
    arm_from_scene("arm7", &t->arm);
    t->batch = arm_batch_create(&t->arm, COUNT, 2);
    arm_batch_make(&t->batch, COUNT, 1, beyond);
    solve_all(&t->batch);
}

static void tear_down(trial *t)
{
    arm_batch_destroy(&t->batch);
    arm_free(&t->arm);
}

TEST(answers_of_the_solver_are_reached)
{
    trial t;
    set_up(&t, 0);
    arm_verdict v = arm_batch_judge(&t.batch);
    ck_assert_int_eq(v.reached, COUNT);
    ck_assert_int_eq(v.missed + v.outside + v.wrong, 0);
    ck_assert(v.worst > 0.0 && v.worst <= ARM_TOLERANCE);
    tear_down(&t);
}

// The last joint turns the tool by as much as itself: twice the tolerance is too much.
TEST(an_answer_that_is_off_by_twice_the_tolerance_is_missed_and_wrong)
{
    trial t;
    set_up(&t, 0);
    double *last = &t.batch.q[7 * 5 + 6];
    *last += *last > 0.0 ? -2 * ARM_TOLERANCE : 2 * ARM_TOLERANCE;
    arm_verdict v = arm_batch_judge(&t.batch);
    ck_assert_int_eq(v.reached, COUNT - 1);
    ck_assert_int_eq(v.missed, 1);
    ck_assert_int_eq(v.wrong, 1);
    ck_assert_int_eq(v.outside, 0);
    t.batch.told[5] = false;
    ck_assert_int_eq(arm_batch_judge(&t.batch).wrong, 0);
    tear_down(&t);
}

// The target is moved to where the answer is, so that nothing but the limit is broken.
TEST(an_answer_one_bit_beyond_a_limit_is_outside)
{
    trial t;
    set_up(&t, 0);
    double *q = &t.batch.q[7 * 9];
    for (int bits = 0; bits < 2; ++bits) {
        q[0] = bits ? nextafter(t.arm.links[0].upper, INFINITY) : t.arm.links[0].upper;
        frame at = arm_forward(&t.arm, q);
        t.batch.targets[9] = arm_pose_of(&at);
        arm_verdict v = arm_batch_judge(&t.batch);
        ck_assert_int_eq(v.outside, bits);
        ck_assert_int_eq(v.reached, COUNT - bits);
        ck_assert_int_eq(v.wrong, bits);
    }
    tear_down(&t);
}

TEST(an_answer_that_is_no_number_is_outside)
{
    trial t;
    set_up(&t, 0);
    t.arm.links[1].continuous = true; // no limit that would find it
    t.batch.q[7 * 3 + 1] = NAN;
    arm_verdict v = arm_batch_judge(&t.batch);
    ck_assert_int_eq(v.outside, 1);
    ck_assert_int_eq(v.missed, 1);
    ck_assert(isfinite(v.worst));
    tear_down(&t);
}

TEST(a_target_out_of_reach_is_not_missed_but_wrong_when_told)
{
    trial t;
    set_up(&t, 10);
    arm_verdict v = arm_batch_judge(&t.batch);
    ck_assert_int_eq(v.missed + v.wrong + v.outside, 0);
    ck_assert(v.reached >= COUNT - COUNT / 10 && v.reached < COUNT);
    int i = 0;
    while (t.batch.told[i]) {
        i += 1;
    }
    ck_assert_int_eq(i % 10, 0);
    t.batch.told[i] = true;
    ck_assert_int_eq(arm_batch_judge(&t.batch).wrong, 1);
    tear_down(&t);
}

TEST(a_target_does_not_depend_on_threads_or_on_the_number_of_targets)
{
    enum { MANY = 10000 }; // several pieces
    arm a;
    arm_from_scene("arm6", &a);
    arm_batch few = arm_batch_create(&a, COUNT, 1), many = arm_batch_create(&a, MANY, 4);
    arm_batch_make(&few, COUNT, 7, 3);
    arm_batch_make(&many, MANY, 7, 3);
    ck_assert_mem_eq(few.targets, many.targets, COUNT * sizeof *few.targets);
    ck_assert_mem_eq(few.q, many.q, COUNT * 6 * sizeof *few.q);
    ck_assert_mem_eq(few.moved, many.moved, COUNT * sizeof *few.moved);
    for (int i = 0; i < MANY; ++i) { // none is left out between two pieces
        ck_assert(many.targets[i].position.x != 0.0);
    }
    arm_batch_destroy(&few);
    arm_batch_destroy(&many);
    arm_free(&a);
}
