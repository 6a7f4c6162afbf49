// Batches of marker problems: every answer has the bits that poise_solve gives on its own.
#include "model/model.h"
#include "support/allocations.h"
#include "support/random_model.h"
#include "support/test_main.h"

#include "scenes/scenes.h"

#include <math.h>
#include <string.h>

#define MOST_MARKERS 64

// ---- Problems ------------------------------------------------------------------------------------------------------------

// How problems are drawn.
typedef struct recipe {
    double noise;       // of targets, metres
    double start;       // of the start around the truth, each component of a step
    double gaps;        // share of markers without weight
    bool weights;       // random weights for the others
    bool inside;        // the truth keeps to the limits; otherwise it is up to 0.6 beyond
    double unreachable; // share of problems whose targets are all moved 3 m away
} recipe;

typedef struct bunch {
    poise_model *model;
    int count, nq;
    poise_goal *goals; // MOST_MARKERS each
    int goal_count;
    double *start, *q;
    double *answer; // of poise_solve
    poise_report *reports;
    poise_status *statuses;
    poise_problem *problems;
} bunch;

static bunch make_bunch(poise_model *model, int count)
{
    bunch b = {.model = model, .count = count, .nq = poise_model_info(model).nq};
    size_t numbers = (size_t)count * (size_t)b.nq;
    b.goals = calloc((size_t)count * MOST_MARKERS, sizeof *b.goals);
    b.start = calloc(numbers, sizeof *b.start);
    b.q = calloc(numbers, sizeof *b.q);
    b.answer = calloc(numbers, sizeof *b.answer);
    b.reports = calloc((size_t)count, sizeof *b.reports);
    b.statuses = calloc((size_t)count, sizeof *b.statuses);
    b.problems = calloc((size_t)count, sizeof *b.problems);
    return b;
}

static void free_bunch(bunch *b)
{
    free(b->goals);
    free(b->start);
    free(b->q);
    free(b->answer);
    free(b->reports);
    free(b->statuses);
    free(b->problems);
}

// One problem around the pose `truth`.
static void draw_problem(bunch *b, int i, const recipe *r, const scene_marker *markers, int count, poise_kinematics *kin,
                         const double *truth, scene_random *random)
{
    double step[1024];
    poise_goal *goals = b->goals + (size_t)i * MOST_MARKERS;
    poise_kinematics_update(kin, truth, NULL);
    double away = scene_random_uniform(random) < r->unreachable ? 3.0 : 0.0;
    for (int m = 0; m < count; ++m) {
        poise_vec3 at = poise_kinematics_point(kin, markers[m].body, markers[m].local),
                   off = random_vector(random, r->noise);
        poise_vec3 target = poise_vec3_make(at.x + off.x + away, at.y + off.y, at.z + off.z);
        goals[m] = poise_goal_position(markers[m].body, markers[m].local, target);
        goals[m].weight = r->weights ? scene_random_range(random, 0.2, 3.0) : 1.0;
        if (scene_random_uniform(random) < r->gaps) {
            goals[m].weight = 0.0;
            goals[m].rotation_weight = scene_random_index(random, 2);
        }
    }
    double *start = b->start + (size_t)i * (size_t)b->nq;
    random_step(random, b->model, r->start, step);
    poise_retract(b->model, truth, step, start, NULL);
    b->problems[i] = (poise_problem){.goals = goals, .goal_count = count, .q = b->q + (size_t)i * (size_t)b->nq};
}

// Poses of the humanoid's motions.
static bunch humanoid_bunch(const char *scene, int count, const recipe *r, uint64_t seed)
{
    poise_model *model;
    ck_assert_int_eq(scene_create(scene, NULL, &model, NULL), POISE_OK);
    bunch b = make_bunch(model, count);
    scene_marker markers[MOST_MARKERS];
    int marker_count = scene_markers(scene, markers, MOST_MARKERS);
    poise_kinematics *kin;
    ck_assert_int_eq(poise_kinematics_create(model, NULL, &kin, NULL), POISE_OK);
    scene_random random = scene_random_make(seed);
    double truth[1024], step[1024];
    for (int i = 0; i < count; ++i) {
        const char *motion = scene_motion_name(scene_random_index(&random, scene_motion_count()));
        scene_motion_pose(model, motion, scene_random_range(&random, 0.0, scene_motion_duration(motion)), truth);
        if (!r->inside) {
            random_step(&random, model, 0.6, step);
            poise_retract(model, truth, step, truth, NULL);
        }
        draw_problem(&b, i, r, markers, marker_count, kin, truth, &random);
    }
    poise_kinematics_destroy(kin);
    return b;
}

// Random skeletons with markers on random bodies.
static bunch random_bunch(poise_model *model, int marker_count, int count, const recipe *r, uint64_t seed)
{
    bunch b = make_bunch(model, count);
    scene_random random = scene_random_make(seed);
    scene_marker markers[MOST_MARKERS] = {{.body = 0}};
    int joints = poise_model_info(model).joints;
    for (int m = 0; m < marker_count; ++m) { // several on one body every now and then
        bool again = m > 0 && scene_random_index(&random, 2) == 0;
        markers[m].body = again ? markers[m - 1].body : scene_random_index(&random, joints);
        markers[m].local = random_vector(&random, 0.3);
    }
    poise_kinematics *kin;
    ck_assert_int_eq(poise_kinematics_create(model, NULL, &kin, NULL), POISE_OK);
    double truth[1024];
    for (int i = 0; i < count; ++i) {
        scene_random_configuration(&random, model, truth);
        draw_problem(&b, i, r, markers, marker_count, kin, truth, &random);
    }
    poise_kinematics_destroy(kin);
    return b;
}

// ---- Comparing -----------------------------------------------------------------------------------------------------------

static void rewind_bunch(bunch *b)
{
    memcpy(b->q, b->start, (size_t)b->count * (size_t)b->nq * sizeof *b->q);
}

static void solve_one_by_one(bunch *b, const poise_solver_options *options)
{
    poise_solver *solver;
    ck_assert_int_eq(poise_solver_create(b->model, options, NULL, &solver, NULL), POISE_OK);
    memcpy(b->answer, b->start, (size_t)b->count * (size_t)b->nq * sizeof *b->q);
    for (int i = 0; i < b->count; ++i) {
        const poise_problem *p = &b->problems[i];
        b->statuses[i] =
            poise_solve(solver, p->goals, p->goal_count, b->answer + (size_t)i * (size_t)b->nq, &b->reports[i], NULL);
    }
    poise_solver_destroy(solver);
}

static bool same_bits(double a, double b)
{
    return memcmp(&a, &b, sizeof a) == 0;
}

static bool same_report(const poise_report *a, const poise_report *b)
{
    return a->outcome == b->outcome && strcmp(a->reason, b->reason) == 0 && a->iterations == b->iterations &&
           a->evaluations == b->evaluations && a->restarts == b->restarts && a->traced == b->traced &&
           a->active_limits == b->active_limits && a->moved_joints == b->moved_joints &&
           same_bits(a->start_cost, b->start_cost) && same_bits(a->cost, b->cost) && same_bits(a->gradient, b->gradient) &&
           same_bits(a->distance, b->distance) && same_bits(a->worst_length, b->worst_length) &&
           same_bits(a->worst_angle, b->worst_angle);
}

// The answers of the batch against those of solve_one_by_one.
static void assert_same(const bunch *b, int count)
{
    for (int i = 0; i < count; ++i) {
        const poise_problem *p = &b->problems[i];
        size_t row = (size_t)i * (size_t)b->nq;
        ck_assert_msg(p->status == b->statuses[i], "problem %d: status %d, on its own %d", i, p->status, b->statuses[i]);
        ck_assert_msg(memcmp(p->q, b->answer + row, (size_t)b->nq * sizeof *p->q) == 0, "problem %d has other bits", i);
        ck_assert_msg(p->status != POISE_OK || same_report(&p->report, &b->reports[i]), "problem %d: another report", i);
    }
}

// Do solves get lanes if so many are asked for, so that a test shows something? Only where there are registers for them.
static bool machine_has_lanes(int lanes)
{
#if defined(__x86_64__)
    return lanes >= 4 && __builtin_cpu_supports("avx2") != 0;
#elif defined(__aarch64__)
    return lanes >= 2;
#else
    return lanes < 0;
#endif
}

static void check_lanes(bunch *b, const poise_batch_options *base, int lanes, bool expects_lanes)
{
    poise_batch_options options = *base;
    poise_batch *batch;
    options.lanes = lanes;
    ck_assert_int_eq(poise_batch_create(b->model, &options, NULL, &batch, NULL), POISE_OK);
    if (machine_has_lanes(lanes)) {
        ck_assert_int_eq(poise_batch_lane_counts(batch).trees > 1, expects_lanes);
    }
    rewind_bunch(b);
    ck_assert_int_eq(poise_batch_solve(batch, b->problems, b->count, NULL), POISE_OK);
    assert_same(b, b->count);
    poise_batch_destroy(batch);
}

// Every width against one by one.
static void check(bunch *b, const poise_batch_options *options, bool expects_lanes)
{
    solve_one_by_one(b, &options->solver);
    check_lanes(b, options, 2, expects_lanes);
    check_lanes(b, options, 4, expects_lanes);
    check_lanes(b, options, 8, expects_lanes);
}

// How often the bunch ended that way, one by one.
static int outcomes(const bunch *b, poise_outcome outcome)
{
    int count = 0;
    for (int i = 0; i < b->count; ++i) {
        count += b->statuses[i] == POISE_OK && b->reports[i].outcome == outcome;
    }
    return count;
}

static const char *const humanoids[] = {"humanoid", "humanoid-euler", "humanoid-quaternion"};
#define HUMANOIDS 3

// Check a recipe on the three humanoids.
static void check_humanoids(const recipe *r, const poise_batch_options *options, int count)
{
    for (int h = 0; h < HUMANOIDS; ++h) {
        bunch b = humanoid_bunch(humanoids[h], count, r, 100 + (uint64_t)h);
        check(&b, options, true);
        poise_model_destroy(b.model);
        free_bunch(&b);
    }
}

// ---- Tests ---------------------------------------------------------------------------------------------------------------

TEST(tracked_humanoids_have_the_bits_of_single_solves)
{
    poise_batch_options options = poise_batch_options_default();
    check_humanoids(&(recipe){.start = 0.05, .inside = true}, &options, 40);
    check_humanoids(&(recipe){.start = 0.05, .noise = 0.005, .inside = true}, &options, 40);
    options.solver.gradient_tolerance = 1e-3;
    check_humanoids(&(recipe){.start = 0.3, .noise = 0.02, .inside = true}, &options, 40);
}

TEST(gaps_and_weights_change_no_bits)
{
    poise_batch_options options = poise_batch_options_default();
    check_humanoids(&(recipe){.start = 0.1, .noise = 0.01, .gaps = 0.2, .weights = true, .inside = true}, &options, 40);
    check_humanoids(&(recipe){.start = 0.1, .gaps = 0.7, .inside = true}, &options, 20);
    check_humanoids(&(recipe){.start = 0.1, .gaps = 1.0, .inside = true}, &options, 5);
}

TEST(limits_that_hold_the_answer_change_no_bits)
{
    poise_batch_options options = poise_batch_options_default();
    recipe r = {.start = 0.2, .noise = 0.02};
    check_humanoids(&r, &options, 40);
    bunch b = humanoid_bunch("humanoid", 40, &r, 1);
    solve_one_by_one(&b, &options.solver);
    int active = 0, moved = 0;
    for (int i = 0; i < b.count; ++i) {
        active += b.reports[i].active_limits > 0;
        moved += b.reports[i].moved_joints > 0;
    }
    ck_assert_int_gt(active, 20); // limits do hold, and starts are outside of them
    ck_assert_int_gt(moved, 20);
    poise_model_destroy(b.model);
    free_bunch(&b);
    options.solver.use_limits = false;
    check_humanoids(&r, &options, 20);
}

TEST(far_and_cold_starts_have_the_bits_of_single_solves)
{
    poise_batch_options options = poise_batch_options_default();
    check_humanoids(&(recipe){.start = 2.0, .noise = 0.01}, &options, 25);
    options.solver.start = POISE_START_COLD;
    check_humanoids(&(recipe){.start = 1.0, .noise = 0.01, .inside = true}, &options, 25);
    check_humanoids(&(recipe){.start = 4.0, .gaps = 0.3}, &options, 25);
    // so many leave their lanes at swings that the last never enter one
    check_humanoids(&(recipe){.start = 1.0}, &options, 60);
}

TEST(unreachable_targets_and_small_budgets_change_no_bits)
{
    poise_batch_options options = poise_batch_options_default();
    check_humanoids(&(recipe){.start = 0.2, .unreachable = 0.5}, &options, 20);
    recipe r = {.start = 0.3, .noise = 0.01, .inside = true};
    for (int budget = 1; budget < 6; budget += 2) {
        options.solver.max_iterations = budget;
        check_humanoids(&r, &options, 20);
    }
    bunch b = humanoid_bunch("humanoid", 20, &r, 2);
    solve_one_by_one(&b, &options.solver);
    ck_assert_int_gt(outcomes(&b, POISE_OUTCOME_BUDGET), 0);
    poise_model_destroy(b.model);
    free_bunch(&b);
}

TEST(locked_joints_keep_their_values_in_lanes)
{
    poise_batch_options options = poise_batch_options_default();
    for (int h = 0; h < HUMANOIDS; ++h) {
        bool locked[1024] = {false};
        bunch b = humanoid_bunch(humanoids[h], 25, &(recipe){.start = 0.2, .noise = 0.01}, 7);
        scene_random random = scene_random_make(3);
        for (int i = 0; i < poise_model_info(b.model).nv; ++i) {
            locked[i] = scene_random_index(&random, 4) == 0;
        }
        options.solver.locked = locked;
        check(&b, &options, true);
        poise_model_destroy(b.model);
        free_bunch(&b);
    }
}

TEST(tolerances_damping_and_restarts_change_no_bits)
{
    poise_batch_options options = poise_batch_options_default();
    recipe r = {.start = 0.2, .noise = 0.01, .inside = true};
    options.solver.cost_tolerance = 1e-3;
    check_humanoids(&r, &options, 15);
    options.solver.cost_tolerance = 0.0;
    options.solver.damping = 10.0;
    options.solver.position_tolerance = 0.02;
    check_humanoids(&r, &options, 15);
    options = poise_batch_options_default();
    options.solver.restarts = 2;
    options.solver.max_iterations = 20;
    check_humanoids(&(recipe){.start = 1.0, .noise = 0.01}, &options, 6);
}

TEST(random_trees_have_the_bits_of_single_solves)
{
    poise_batch_options options = poise_batch_options_default();
    options.solver.max_iterations = 40;
    scene_random random = scene_random_make(11);
    recipe near = {.start = 0.2, .noise = 0.02}, far = {.start = 1.5, .noise = 0.2, .gaps = 0.2, .weights = true};
    bool locked[1024];
    for (int trial = 0; trial < 60; ++trial) {
        unsigned features = trial % 2 == 0 ? RANDOM_PLAIN : RANDOM_FOREST;
        features |= trial % 5 == 4 ? RANDOM_CURVES : 0;
        poise_model *model = random_model(&random, 1 + scene_random_index(&random, 25), features);
        for (int i = 0; i < poise_model_info(model).nv; ++i) {
            locked[i] = scene_random_index(&random, 5) == 0;
        }
        options.solver.locked = trial % 5 == 0 ? locked : NULL;
        int markers = 1 + scene_random_index(&random, MOST_MARKERS);
        options.solver.start = trial % 3 == 0 ? POISE_START_COLD : POISE_START_WARM;
        bunch b = random_bunch(model, markers, 18, trial % 4 < 2 ? &near : &far, (uint64_t)trial);
        check(&b, &options, poise_model_info(model).nv > 0 && model->curve_count == 0); // one at a time, then
        poise_model_destroy(model);
        free_bunch(&b);
    }
}

TEST(random_trees_with_limits_have_the_bits_of_single_solves)
{
    poise_batch_options options = poise_batch_options_default();
    options.solver.max_iterations = 40;
    scene_random random = scene_random_make(12);
    recipe r = {.start = 1.0, .noise = 0.3, .weights = true};
    for (int trial = 0; trial < 60; ++trial) {
        poise_model *model = random_model(&random, 1 + scene_random_index(&random, 12), RANDOM_LIMITS | RANDOM_FOREST);
        bunch b = random_bunch(model, 12, 18, &r, (uint64_t)trial);
        check(&b, &options, poise_model_info(model).nv > 0);
        poise_model_destroy(model);
        free_bunch(&b);
    }
}

// Problems of several layouts in one batch, some of which no lane serves.
TEST(mixed_goals_have_the_bits_of_single_solves)
{
    poise_batch_options options = poise_batch_options_default();
    options.max_goals = 40; // one less than a full set
    bunch b = humanoid_bunch("humanoid", 60, &(recipe){.start = 0.1, .noise = 0.01, .inside = true}, 21);
    for (int i = 0; i < b.count; ++i) {
        poise_goal *goals = b.goals + (size_t)i * MOST_MARKERS;
        poise_problem *p = &b.problems[i];
        p->goal_count = i % 5 == 0 ? 41 : i % 5 == 1 ? 40 : i % 5 == 2 ? 3 : i % 5 == 3 ? 1 : 20;
        if (i % 7 == 0) {
            poise_goal first = goals[0];
            goals[0] = goals[1];
            goals[1] = first;
        }
        if (i % 11 == 0) {
            goals[2].loss = POISE_LOSS_HUBER;
            goals[2].loss_scale = 0.01;
        }
        if (i % 13 == 0) {
            goals[0].tolerance = poise_vec3_make(0.01, 0.01, 0.01);
        }
        if (i % 17 == 0) {
            goals[0].kind = POISE_GOAL_POSE;
        }
    }
    b.problems[33].goal_count = 0;
    check(&b, &options, true);
    poise_model_destroy(b.model);
    free_bunch(&b);
}

// One goal each, now on this body, now on that: a layout fits only where all bodies are the same, the first included.
TEST(goals_on_another_body_have_the_bits_of_single_solves)
{
    poise_batch_options options = poise_batch_options_default();
    bunch b = humanoid_bunch("humanoid", 40, &(recipe){.start = 0.1, .noise = 0.01, .inside = true}, 22);
    int other = 1;
    while (b.goals[other].body == b.goals[0].body) {
        other += 1;
    }
    for (int i = 0; i < b.count; ++i) {
        poise_goal *goals = b.goals + (size_t)i * MOST_MARKERS;
        goals[0] = goals[i % 3 == 0 ? other : 0];
        b.problems[i].goal_count = 1;
    }
    check(&b, &options, true);
    poise_model_destroy(b.model);
    free_bunch(&b);
}

// As many goals as there is room for, most of them on the root, in two layouts by turns: nothing of one is left in the next.
TEST(layouts_that_fill_their_room_have_the_bits_of_single_solves)
{
    poise_batch_options options = poise_batch_options_default();
    bunch b = humanoid_bunch("humanoid", 40, &(recipe){.start = 0.1, .noise = 0.01, .inside = true}, 23);
    options.max_goals = b.problems[0].goal_count;
    for (int i = 0; i < b.count; ++i) {
        poise_goal *goals = b.goals + (size_t)i * MOST_MARKERS;
        for (int k = 0; k < options.max_goals; ++k) {
            goals[k].body = k < 30 ? 0 : k == 30 ? 1 + i % 2 : goals[k].body;
        }
    }
    check(&b, &options, true);
    poise_model_destroy(b.model);
    free_bunch(&b);
}

TEST(problems_that_are_not_sound_get_their_status_and_the_others_go_on)
{
    poise_batch_options options = poise_batch_options_default();
    bunch b = humanoid_bunch("humanoid-quaternion", 40, &(recipe){.start = 0.1, .noise = 0.01, .inside = true}, 31);
    poise_goal *goals = b.goals;
    goals[3 * MOST_MARKERS + 5].target.position.y = NAN;
    goals[4 * MOST_MARKERS + 1].local.position.z = INFINITY;
    goals[9 * MOST_MARKERS].weight = -1.0;
    goals[10 * MOST_MARKERS].weight = NAN;
    goals[11 * MOST_MARKERS + 40].body = 4711;
    b.start[12 * (size_t)b.nq + 7] = NAN;
    memset(b.start + 13 * (size_t)b.nq, 0, (size_t)b.nq * sizeof *b.start); // zero quaternions
    b.problems[14].goals = NULL;
    b.problems[15].goal_count = -1;
    check(&b, &options, true);
    int refused = 0;
    for (int i = 0; i < b.count; ++i) {
        refused += b.problems[i].status == POISE_ERROR_ARGUMENT;
    }
    ck_assert_int_eq(refused, 9);
    poise_model_destroy(b.model);
    free_bunch(&b);
}

TEST(numbers_that_overflow_have_the_bits_of_single_solves)
{
    poise_batch_options options = poise_batch_options_default();
    for (int h = 0; h < HUMANOIDS; ++h) {
        bunch b = humanoid_bunch(humanoids[h], 24, &(recipe){.start = 0.1, .noise = 0.01, .inside = true}, 41);
        for (int i = 0; i < b.count; ++i) {
            poise_goal *goals = b.goals + (size_t)i * MOST_MARKERS;
            double *start = b.start + (size_t)i * (size_t)b.nq;
            if (i % 4 == 0) {
                goals[i].target.position.x = i % 8 == 0 ? 1e200 : 1e120;
            } else if (i % 4 == 1) {
                start[i % 6] = i % 8 == 1 ? 1e160 : 1e12;
            } else if (i % 4 == 2) {
                goals[i].target.position.x = 1e308;
                goals[i].weight = 0.0;
            }
        }
        check(&b, &options, true);
        poise_model_destroy(b.model);
        free_bunch(&b);
    }
}

// Beside such a distance no move changes the cost: whether the gradient proves anything decides between closest and stalled.
TEST(hinges_under_targets_out_of_sight_end_as_single_solves_do)
{
    static const double distances[] = {1e13, 1e14, 1e16, 1e17, 1e20, 1e30, 1e80, 1e93, 1e100, 1e140};
    static const double angles[] = {1e-3, 0.02, 0.3, 1.0, 1.5, 2.0, 3.0};
    enum { DISTANCES = sizeof distances / sizeof *distances, ANGLES = sizeof angles / sizeof *angles };
    poise_builder *builder;
    poise_joint hinge = poise_joint_default();
    bunch b;
    hinge.name = "hinge";
    hinge.type = POISE_JOINT_REVOLUTE;
    poise_model *model;
    ck_assert_int_eq(poise_builder_create(NULL, &builder, NULL), POISE_OK);
    ck_assert_int_eq(poise_builder_add_joint(builder, &hinge, NULL), POISE_OK);
    ck_assert_int_eq(poise_model_create(builder, NULL, &model, NULL), POISE_OK);
    poise_builder_destroy(builder);
    b = make_bunch(model, DISTANCES * ANGLES);
    for (int i = 0; i < b.count; ++i) {
        double r = distances[i / ANGLES], t = angles[i % ANGLES];
        poise_goal *goal = b.goals + (size_t)i * MOST_MARKERS;
        *goal = poise_goal_position(0, poise_vec3_make(1, 0, 0), poise_vec3_make(r * cos(t), r * sin(t), 0));
        b.problems[i] = (poise_problem){.goals = goal, .goal_count = 1, .q = b.q + (size_t)i * (size_t)b.nq};
    }
    poise_batch_options options = poise_batch_options_default();
    check(&b, &options, true);
    ck_assert_int_gt(outcomes(&b, POISE_OUTCOME_STALLED), 0);
    ck_assert_int_gt(outcomes(&b, POISE_OUTCOME_CLOSEST), 0);
    poise_model_destroy(model);
    free_bunch(&b);
}

TEST(batches_of_any_size_have_the_bits_of_single_solves)
{
    static const int sizes[] = {0, 1, 3, 255, 256, 257, 600}, widths[] = {0, 2, 4, 8};
    poise_batch_options options = poise_batch_options_default();
    options.solver.gradient_tolerance = 1e-3;
    bunch b = humanoid_bunch("humanoid", 600, &(recipe){.start = 0.05, .noise = 0.003, .gaps = 0.02, .inside = true}, 51);
    solve_one_by_one(&b, &options.solver);
    for (size_t w = 0; w < TEST_COUNT(widths); ++w) {
        options.lanes = widths[w];
        poise_batch *batch;
        ck_assert_int_eq(poise_batch_create(b.model, &options, NULL, &batch, NULL), POISE_OK);
        for (size_t i = 0; i < TEST_COUNT(sizes); ++i) {
            rewind_bunch(&b);
            ck_assert_int_eq(poise_batch_solve(batch, b.problems, sizes[i], NULL), POISE_OK);
            assert_same(&b, sizes[i]);
        }
        poise_batch_destroy(batch);
    }
    poise_model_destroy(b.model);
    free_bunch(&b);
}

#define WORKERS 3

// Pieces in a shuffled order, each on the next of the workers.
static void shuffled(void *user, int count, poise_piece run, void *work)
{
    scene_random *random = user;
    int order[64];
    ck_assert_int_le(count, 64);
    for (int i = 0; i < count; ++i) {
        int j = scene_random_index(random, i + 1);
        order[i] = order[j];
        order[j] = i;
    }
    for (int i = 0; i < count; ++i) {
        run(work, order[i], scene_random_index(random, WORKERS));
    }
}

TEST(workers_and_order_change_no_bits)
{
    poise_batch_options options = poise_batch_options_default();
    options.solver.gradient_tolerance = 1e-3;
    bunch b = humanoid_bunch("humanoid-quaternion", 900, &(recipe){.start = 0.05, .noise = 0.003, .inside = true}, 61);
    scene_random random = scene_random_make(5);
    options.workers = WORKERS;
    options.parallel_for = shuffled;
    options.user = &random;
    check(&b, &options, true);
    for (int i = 0; i < b.count / 2; ++i) { // the other way round
        poise_problem p = b.problems[i];
        b.problems[i] = b.problems[b.count - 1 - i];
        b.problems[b.count - 1 - i] = p;
    }
    poise_batch *batch;
    ck_assert_int_eq(poise_batch_create(b.model, &options, NULL, &batch, NULL), POISE_OK);
    rewind_bunch(&b);
    ck_assert_int_eq(poise_batch_solve(batch, b.problems, b.count, NULL), POISE_OK);
    ck_assert_int_eq(memcmp(b.q, b.answer, (size_t)b.count * (size_t)b.nq * sizeof *b.q), 0);
    poise_batch_destroy(batch);
    poise_model_destroy(b.model);
    free_bunch(&b);
}

TEST(solving_a_batch_allocates_nothing)
{
    poise_batch_options options = poise_batch_options_default();
    bunch b = humanoid_bunch("humanoid", 40, &(recipe){.start = 0.5, .noise = 0.01}, 71);
    poise_batch *batch;
    int before = allocations_so_far();
    poise_status made = poise_batch_create(b.model, &options, NULL, &batch, NULL);
    int blocks = allocations_so_far() - before;
    ck_assert_int_eq(made, POISE_OK);
    ck_assert_int_eq(blocks, 1);
    rewind_bunch(&b);
    before = allocations_so_far();
    poise_status status = poise_batch_solve(batch, b.problems, b.count, NULL);
    int after = allocations_so_far();
    ck_assert_int_eq(status, POISE_OK);
    ck_assert_int_eq(after, before);
    poise_batch_destroy(batch);
    poise_model_destroy(b.model);
    free_bunch(&b);
}
