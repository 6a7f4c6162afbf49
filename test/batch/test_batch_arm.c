// Batches of pose goals on arms: the bits of single solves, whatever the lanes, the order, the sizes and the workers.
#include "support/allocations.h"
#include <math.h>
#include <poise/papers.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "scenes/scenes.h"
#include "support/meter.h"
#include "support/test_arms.h"
#include "support/test_main.h"

#define MOST 1100

static const char *const robots[] = {"panda", "iiwa14", "ur5", "jaco2", "gen3", "pr2", "baxter"};
static const char *const scenes[] = {"arm6", "arm7"};

// ---- Problems ------------------------------------------------------------------------------------------------------------

// Problems, and what poise_solve makes of each.
typedef struct task {
    int count, nq;
    poise_goal goals[2 * MOST]; // two for each
    double start[MOST][ARM_LARGEST];
    poise_problem single[MOST], batch[MOST];
    double single_q[MOST][ARM_LARGEST], batch_q[MOST][ARM_LARGEST];
} task;

static task *task_make(const poise_model *model)
{
    task *t = calloc(1, sizeof *t);
    ck_assert_ptr_nonnull(t);
    t->nq = poise_model_info(model).nq;
    return t;
}

static void add(task *t, const poise_goal *goals, int goal_count, const double *start)
{
    ck_assert_int_lt(t->count, MOST);
    poise_goal *own = &t->goals[2 * t->count];
    memcpy(own, goals, (size_t)goal_count * sizeof *own);
    memcpy(t->start[t->count], start, (size_t)t->nq * sizeof *start);
    t->single[t->count] = (poise_problem){.goals = own, .goal_count = goal_count};
    t->count += 1;
}

typedef enum start_kind { START_MID, START_RANDOM, START_NEAR, START_OUTSIDE, START_KINDS } start_kind;

static void place_start(const test_arm *arm, scene_random *random, start_kind kind, const double *there, double *q)
{
    double elsewhere[ARM_LARGEST];
    scene_random_configuration(random, arm->model, elsewhere);
    for (int i = 0; i < arm->n; ++i) {
        double lower = poise_model_info(arm->model).lower[i], upper = poise_model_info(arm->model).upper[i];
        bool limited = isfinite(lower) && isfinite(upper);
        double u = scene_random_range(random, -0.1, 0.1);
        q[i] = kind == START_MID      ? (limited ? 0.5 * (lower + upper) : 0.0)
               : kind == START_RANDOM ? elsewhere[i]
               : kind == START_NEAR   ? there[i] + u
                                      : 3.0 * elsewhere[i];
    }
}

// Targets within reach, and every fifth one 1.6 times as far away.
static void add_poses(task *t, const test_arm *arm, scene_random *random, int count)
{
    for (int k = 0; k < count; ++k) {
        double there[ARM_LARGEST], q[ARM_LARGEST];
        scene_random_configuration(random, arm->model, there);
        place_start(arm, random, (start_kind)(k % START_KINDS), there, q);
        poise_goal goal = arm_goal(arm, there);
        if (k % 5 == 4) {
            poise_vec3 *p = &goal.target.position;
            *p = poise_vec3_make(1.6 * p->x, 1.6 * p->y, 1.6 * p->z);
        }
        add(t, &goal, 1, q);
    }
}

static void solve_single(task *t, const poise_model *model, const poise_solver_options *options)
{
    poise_solver *solver;
    ck_assert_int_eq(poise_solver_create(model, options, NULL, &solver, NULL), POISE_OK);
    for (int k = 0; k < t->count; ++k) {
        poise_problem *p = &t->single[k];
        memcpy(t->single_q[k], t->start[k], sizeof t->start[k]);
        p->status = poise_solve(solver, p->goals, p->goal_count, t->single_q[k], &p->report, NULL);
    }
    poise_solver_destroy(solver);
}

// Begin again: starts in, answers out of the way.
static void reset(task *t)
{
    memcpy(t->batch_q, t->start, sizeof t->batch_q);
    for (int k = 0; k < t->count; ++k) {
        const poise_problem *p = &t->single[k];
        t->batch[k] =
            (poise_problem){.goals = p->goals, .goal_count = p->goal_count, .q = t->batch_q[k], .status = (poise_status)-1};
    }
}

static bool same(double a, double b)
{
    return memcmp(&a, &b, sizeof a) == 0;
}

static bool same_report(const poise_report *a, const poise_report *b)
{
    return a->outcome == b->outcome && strcmp(a->reason, b->reason) == 0 && a->iterations == b->iterations &&
           a->evaluations == b->evaluations && a->restarts == b->restarts && a->traced == b->traced &&
           a->active_limits == b->active_limits && a->moved_joints == b->moved_joints &&
           same(a->start_cost, b->start_cost) && same(a->cost, b->cost) && same(a->gradient, b->gradient) &&
           same(a->distance, b->distance) && same(a->worst_length, b->worst_length) && same(a->worst_angle, b->worst_angle);
}

// Problem b of the batch against problem s of the single solves.
static void check_one(const task *t, const char *name, int s, const poise_problem *b)
{
    const poise_problem *p = &t->single[s];
    ck_assert_msg(b->status == p->status, "%s, problem %d: status %d, not %d", name, s, (int)b->status, (int)p->status);
    size_t bytes = (size_t)t->nq * sizeof(double);
    if (p->status != POISE_OK) {
        ck_assert_msg(memcmp(b->q, t->start[s], bytes) == 0, "%s, problem %d: q was touched", name, s);
        return;
    }
    ck_assert_msg(memcmp(b->q, t->single_q[s], bytes) == 0, "%s, problem %d: another q, iterations %d and %d", name, s,
                  b->report.iterations, p->report.iterations);
    ck_assert_msg(same_report(&b->report, &p->report), "%s, problem %d: another report (%s, %s)", name, s, b->report.reason,
                  p->report.reason);
}

static void check_all(const task *t, const char *name)
{
    for (int k = 0; k < t->count; ++k) {
        check_one(t, name, k, &t->batch[k]);
    }
}

static poise_batch *batch_for(const poise_model *model, const poise_solver_options *solver, int lanes)
{
    poise_batch *batch;
    poise_batch_options options = poise_batch_options_default();
    options.solver = *solver;
    options.lanes = lanes;
    ck_assert_int_eq(poise_batch_create(model, &options, NULL, &batch, NULL), POISE_OK);
    return batch;
}

// One batch of all problems, for every width.
static void check_widths(task *t, const poise_model *model, const char *name, const poise_solver_options *options)
{
    static const int widths[] = {0, 1, 2, 4, 8};
    solve_single(t, model, options);
    for (size_t w = 0; w < TEST_COUNT(widths); ++w) {
        poise_batch *batch = batch_for(model, options, widths[w]);
        reset(t);
        ck_assert_int_eq(poise_batch_solve(batch, t->batch, t->count, NULL), POISE_OK);
        check_all(t, name);
        poise_batch_destroy(batch);
    }
}

static poise_solver_options options_for(int restarts)
{
    poise_solver_options options = poise_solver_options_default();
    options.restarts = restarts;
    options.position_tolerance = options.rotation_tolerance = 1e-5;
    return options;
}

static void check_arm(const test_arm *arm, scene_random *random, int count, const poise_solver_options *options)
{
    task *t = task_make(arm->model);
    add_poses(t, arm, random, count);
    check_widths(t, arm->model, arm->name, options);
    free(t);
}

// ---- The same bits -------------------------------------------------------------------------------------------------------

TEST(batches_on_robots_have_the_bits_of_single_solves)
{
    static const int restarts[] = {0, 1, 300};
    scene_random random = scene_random_make(1);
    for (size_t i = 0; i < TEST_COUNT(robots); ++i) {
        test_arm arm = arm_of_robot(robots[i]);
        for (size_t k = 0; k < TEST_COUNT(restarts); ++k) {
            poise_solver_options options = options_for(restarts[k]);
            check_arm(&arm, &random, 200, &options);
        }
    }
}

TEST(batches_on_our_arms_have_the_bits_of_single_solves)
{
    scene_random random = scene_random_make(2);
    for (size_t i = 0; i < TEST_COUNT(scenes); ++i) {
        test_arm arm = arm_of_scene(scenes[i]);
        for (int restarts = 0; restarts <= 30; restarts += 10) {
            poise_solver_options options = options_for(restarts);
            options.start = restarts == 10 ? POISE_START_COLD : POISE_START_WARM;
            check_arm(&arm, &random, 300, &options);
        }
    }
}

// From too short for lanes to the longest, with and without limits, with slides.
TEST(batches_on_random_arms_have_the_bits_of_single_solves)
{
    static const unsigned features[] = {ARM_PLAIN, ARM_RIGHT_ANGLES, ARM_CONTINUOUS, ARM_CONTINUOUS | ARM_FIXED, ARM_SLIDES};
    scene_random random = scene_random_make(3);
    for (int n = 5; n <= ARM_LARGEST; ++n) {
        for (size_t f = 0; f < TEST_COUNT(features); ++f) {
            test_arm arm = arm_random(&random, n, features[f]);
            poise_solver_options options = options_for(20);
            check_arm(&arm, &random, 40, &options);
        }
    }
}

// Parallel axes: systems near to singular, which lanes leave to elimination.
TEST(batches_on_planar_arms_have_the_bits_of_single_solves)
{
    scene_random random = scene_random_make(4);
    for (int n = 6; n <= 9; ++n) {
        test_arm arm = arm_planar(n);
        poise_solver_options options = options_for(10);
        check_arm(&arm, &random, 200, &options);
    }
}

// Angles of thousands of turns leave the fast way of sine and cosine.
TEST(starts_many_turns_away_have_the_bits_of_single_solves)
{
    scene_random random = scene_random_make(5);
    test_arm arm = arm_of_scene("arm7");
    poise_solver_options options = options_for(5);
    options.use_limits = false;
    task *t = task_make(arm.model);
    add_poses(t, &arm, &random, 64);
    for (int k = 0; k < t->count; ++k) {
        t->start[k][k % arm.n] += k % 3 == 0 ? 1e7 : k % 3 == 1 ? -1e5 : 0.0;
    }
    check_widths(t, arm.model, "arm7, far turns", &options);
    free(t);
}

TEST(options_make_no_difference_between_batch_and_single)
{
    scene_random random = scene_random_make(6);
    test_arm arm = arm_of_scene("arm7");
    for (int k = 0; k < 8; ++k) {
        poise_solver_options options = options_for(20);
        options.arm.seed_table = k == 0;
        options.max_iterations = k == 1 ? 1 : k == 2 ? 7 : 100;
        options.cost_tolerance = k == 3 ? 1e-3 : 0.0;
        options.seed = k == 4 ? 77 : 1;
        options.prior = k == 5 ? 1e-3 : 0.0;
        options.rotation_tolerance = k == 6 ? 4.0 : 1e-5;
        options.method = k == 7 ? POISE_METHOD_LEVENBERG_MARQUARDT : POISE_METHOD_AUTO;
        options.engine = poise_papers_engine(options.method);
        check_arm(&arm, &random, 60, &options);
    }
}

// Goals with bands, losses, weights, other kinds, two goals, other frames and bodies, all in one batch.
static void add_mixed(task *t, const test_arm *arm, scene_random *random, int count)
{
    for (int k = 0; k < count; ++k) {
        double there[ARM_LARGEST], q[ARM_LARGEST];
        scene_random_configuration(random, arm->model, there);
        scene_random_configuration(random, arm->model, q);
        poise_pose pose = arm_pose(arm, there);
        poise_goal goals[2] = {arm_goal(arm, there), poise_goal_posture(t->start[t->count], 1e-3)};
        switch (k % 9) {
        case 0:
            goals[0].tolerance = poise_vec3_make(0.01, 0.0, 0.02);
            break;
        case 1:
            goals[0].rotation_tolerance = poise_vec3_make(0.0, 0.0, 1.0);
            break;
        case 2:
            goals[0] = poise_goal_position(arm->body, arm->tip.position, pose.position);
            break;
        case 3:
            goals[0].local.position.x += 0.05;
            break;
        case 4:
            goals[0].body = arm->body - 1;
            break;
        case 5:
            goals[0].weight = 3.0, goals[0].rotation_weight = 0.2;
            break;
        case 6:
            goals[0].rotation_weight = 0.0;
            break;
        case 7:
            goals[0].loss = POISE_LOSS_HUBER, goals[0].loss_scale = 0.1;
            break;
        default:
            break;
        }
        add(t, goals, k % 10 == 9 ? 2 : 1, q);
    }
}

TEST(mixed_batches_have_the_bits_of_single_solves)
{
    scene_random random = scene_random_make(7);
    for (size_t i = 0; i < TEST_COUNT(scenes); ++i) {
        test_arm arm = arm_of_scene(scenes[i]);
        poise_solver_options options = options_for(10);
        task *t = task_make(arm.model);
        add_mixed(t, &arm, &random, 180);
        add_poses(t, &arm, &random, 40);
        check_widths(t, arm.model, arm.name, &options);
        free(t);
    }
}

// ---- Problems that are not sound -----------------------------------------------------------------------------------------

static void spoil(task *t, int k)
{
    poise_goal *goal = &t->goals[2 * k];
    switch (k % 8) {
    case 0:
        t->start[k][1] = NAN;
        break;
    case 1:
        t->start[k][0] = INFINITY;
        break;
    case 2:
        goal->target.position.y = NAN;
        break;
    case 3:
        goal->target.rotation.w += 0.1;
        break;
    case 4:
        goal->body = 1000;
        break;
    case 5:
        goal->weight = -1.0;
        break;
    case 6:
        t->single[k].goals = NULL;
        break;
    default:
        goal->local.position.x = INFINITY;
        break;
    }
}

TEST(problems_that_are_not_sound_get_their_status_and_the_others_go_on)
{
    scene_random random = scene_random_make(8);
    test_arm arm = arm_of_scene("arm6");
    poise_solver_options options = options_for(10);
    task *t = task_make(arm.model);
    add_poses(t, &arm, &random, 160);
    for (int k = 0; k < t->count; k += 3) {
        spoil(t, k);
    }
    check_widths(t, arm.model, "spoilt", &options);
    int refused = 0;
    for (int k = 0; k < t->count; ++k) {
        refused += t->batch[k].status == POISE_ERROR_ARGUMENT;
    }
    ck_assert_int_eq(refused, (t->count + 2) / 3);

    // without a start, and without goals, which asks for nothing and succeeds
    poise_batch *batch = batch_for(arm.model, &options, 0);
    reset(t);
    t->batch[1].q = NULL;
    t->batch[2].goal_count = 0;
    ck_assert_int_eq(poise_batch_solve(batch, t->batch, 8, NULL), POISE_OK);
    ck_assert_int_eq(t->batch[1].status, POISE_ERROR_ARGUMENT);
    ck_assert_int_eq(t->batch[2].status, POISE_OK);
    check_one(t, "beside one without a start", 4, &t->batch[4]);
    poise_batch_destroy(batch);
    free(t);
}

static void *refuse(void *user, size_t size)
{
    (void)user, (void)size;
    return NULL;
}

TEST(calls_that_make_no_sense_are_refused)
{
    test_arm arm = arm_of_scene("arm6");
    poise_batch *batch = NULL;
    poise_batch_options options = poise_batch_options_default(), bad = options;
    poise_trace trace;
    ck_assert_int_eq(poise_batch_create(NULL, &options, NULL, &batch, NULL), POISE_ERROR_ARGUMENT);
    ck_assert_int_eq(poise_batch_create(arm.model, NULL, NULL, &batch, NULL), POISE_ERROR_ARGUMENT);
    ck_assert_int_eq(poise_batch_create(arm.model, &options, NULL, NULL, NULL), POISE_ERROR_ARGUMENT);
    bad.workers = 0;
    ck_assert_int_eq(poise_batch_create(arm.model, &bad, NULL, &batch, NULL), POISE_ERROR_ARGUMENT);
    bad.workers = 2000000000; // at once, not after as many rounds
    poise_allocator none = {.allocate = refuse};
    ck_assert_int_eq(poise_batch_create(arm.model, &bad, &none, &batch, NULL), POISE_ERROR_MEMORY);
    bad = options, bad.lanes = -1;
    ck_assert_int_eq(poise_batch_create(arm.model, &bad, NULL, &batch, NULL), POISE_ERROR_ARGUMENT);
    bad = options, bad.solver.trace = &trace, bad.solver.trace_capacity = 1;
    ck_assert_int_eq(poise_batch_create(arm.model, &bad, NULL, &batch, NULL), POISE_ERROR_ARGUMENT);
    bad = options, bad.solver.restarts = -1;
    ck_assert_int_eq(poise_batch_create(arm.model, &bad, NULL, &batch, NULL), POISE_ERROR_ARGUMENT);
    ck_assert_ptr_null(batch);
    ck_assert_int_eq(poise_batch_create(arm.model, &options, NULL, &batch, NULL), POISE_OK);
    ck_assert_int_eq(poise_batch_solve(NULL, NULL, 0, NULL), POISE_ERROR_ARGUMENT);
    ck_assert_int_eq(poise_batch_solve(batch, NULL, 1, NULL), POISE_ERROR_ARGUMENT);
    ck_assert_int_eq(poise_batch_solve(batch, NULL, -1, NULL), POISE_ERROR_ARGUMENT);
    ck_assert_int_eq(poise_batch_solve(batch, NULL, 0, NULL), POISE_OK);
    poise_batch_destroy(batch);
    poise_batch_destroy(NULL);
}

TEST(lanes_are_as_many_as_asked_for_at_most)
{
    test_arm arm = arm_of_scene("arm7"), slides = arm_of_scene("gantry");
    poise_solver_options options = options_for(0);
    for (int lanes = 1; lanes <= 9; ++lanes) {
        poise_batch *batch = batch_for(arm.model, &options, lanes);
        int got = poise_batch_lane_counts(batch).arms;
        ck_assert(got == 1 || got == 2 || got == 4 || got == 8);
        ck_assert_int_le(got, lanes);
        poise_batch_destroy(batch);
    }
    poise_batch *batch = batch_for(slides.model, &options, 0);
    ck_assert_int_eq(poise_batch_lane_counts(batch).arms, 1);
    poise_batch_destroy(batch);
    options.arm.seed_table = true;
    batch = batch_for(arm.model, &options, 0);
    ck_assert_int_eq(poise_batch_lane_counts(batch).arms, 1);
    poise_batch_destroy(batch);
    ck_assert_int_eq(poise_batch_lane_counts(NULL).arms, 1);
}

// ---- Sizes, order, workers -----------------------------------------------------------------------------------------------

TEST(sizes_and_order_make_no_difference)
{
    static const int sizes[] = {0, 1, 2, 3, 63, 64, 65, 255, 256, 257, 1000, 1023, 1024, 1025, MOST};
    scene_random random = scene_random_make(9);
    test_arm arm = arm_of_scene("arm7");
    poise_solver_options options = options_for(3);
    task *t = task_make(arm.model);
    add_poses(t, &arm, &random, MOST);
    solve_single(t, arm.model, &options);
    poise_batch *batch = batch_for(arm.model, &options, 0);
    for (size_t s = 0; s < TEST_COUNT(sizes); ++s) {
        reset(t);
        ck_assert_int_eq(poise_batch_solve(batch, t->batch, sizes[s], NULL), POISE_OK);
        for (int k = 0; k < sizes[s]; ++k) {
            check_one(t, "sizes", k, &t->batch[k]);
        }
    }
    reset(t);
    for (int k = 0; k < MOST / 2; ++k) {
        poise_problem swapped = t->batch[k];
        t->batch[k] = t->batch[MOST - 1 - k];
        t->batch[MOST - 1 - k] = swapped;
    }
    ck_assert_int_eq(poise_batch_solve(batch, t->batch, MOST, NULL), POISE_OK);
    for (int k = 0; k < MOST; ++k) {
        check_one(t, "backwards", MOST - 1 - k, &t->batch[k]);
    }
    poise_batch_destroy(batch);
    free(t);
}

// A loop that visits pieces in an order of its own, on workers by chance.
typedef struct shuffle {
    scene_random random;
    int workers;
    int calls;
} shuffle;

static void run_shuffled(void *user, int count, poise_piece run, void *work)
{
    shuffle *s = user;
    int order[MOST];
    ck_assert_int_le(count, MOST);
    for (int i = 0; i < count; ++i) {
        int j = scene_random_index(&s->random, i + 1);
        order[i] = order[j];
        order[j] = i;
    }
    for (int i = 0; i < count; ++i) {
        run(work, order[i], scene_random_index(&s->random, s->workers));
    }
    s->calls += count;
}

// Threads that take pieces from a common counter.
typedef struct crew {
    int workers, count;
    atomic_int next;
    poise_piece run;
    void *work;
} crew;

typedef struct member {
    crew *crew;
    int number;
    pthread_t thread;
} member;

static void *work_along(void *user)
{
    member *m = user;
    for (int i; (i = atomic_fetch_add(&m->crew->next, 1)) < m->crew->count;) {
        m->crew->run(m->crew->work, i, m->number);
    }
    return NULL;
}

static void run_threads(void *user, int count, poise_piece run, void *work)
{
    crew *c = user;
    member members[16];
    c->count = count, c->run = run, c->work = work;
    atomic_store(&c->next, 0);
    for (int i = 0; i < c->workers; ++i) {
        members[i] = (member){.crew = c, .number = i};
        ck_assert_int_eq(pthread_create(&members[i].thread, NULL, work_along, &members[i]), 0);
    }
    for (int i = 0; i < c->workers; ++i) {
        pthread_join(members[i].thread, NULL);
    }
}

TEST(workers_make_no_difference)
{
    static const int workers[] = {1, 2, 3, 8};
    static const int sizes[] = {1, 65, 700, MOST};
    scene_random random = scene_random_make(10);
    test_arm arm = arm_of_scene("arm6");
    poise_batch_options options = poise_batch_options_default();
    options.solver = options_for(3);
    task *t = task_make(arm.model);
    add_poses(t, &arm, &random, MOST - 90);
    add_mixed(t, &arm, &random, 90);
    solve_single(t, arm.model, &options.solver);
    for (size_t w = 0; w < TEST_COUNT(workers); ++w) {
        shuffle order = {scene_random_make(w), workers[w], 0};
        crew threads = {.workers = workers[w]};
        for (int threaded = 0; threaded < 2; ++threaded) {
            poise_batch *batch;
            options.workers = workers[w];
            options.parallel_for = threaded ? run_threads : run_shuffled;
            options.user = threaded ? (void *)&threads : (void *)&order;
            ck_assert_int_eq(poise_batch_create(arm.model, &options, NULL, &batch, NULL), POISE_OK);
            for (size_t s = 0; s < TEST_COUNT(sizes); ++s) {
                reset(t);
                ck_assert_int_eq(poise_batch_solve(batch, t->batch, sizes[s], NULL), POISE_OK);
                for (int k = 0; k < sizes[s]; ++k) {
                    check_one(t, threaded ? "threads" : "shuffled", k, &t->batch[k]);
                }
            }
            poise_batch_destroy(batch);
        }
        ck_assert_int_ge(order.calls, workers[w]); // there was something to spread
    }
    free(t);
}

// ---- Memory --------------------------------------------------------------------------------------------------------------

TEST(a_batch_is_one_allocation_and_survives_its_failure)
{
    test_arm arm = arm_of_scene("arm7");
    poise_batch_options options = poise_batch_options_default();
    options.workers = 3;
    meter m = {.fail_from = 1, .fail_to = 1};
    poise_allocator allocator = {.allocate = meter_allocate, .release = meter_release, .user = &m};
    poise_batch *batch = NULL;
    ck_assert_int_eq(poise_batch_create(arm.model, &options, &allocator, &batch, NULL), POISE_ERROR_MEMORY);
    ck_assert_ptr_null(batch);
    ck_assert_int_eq(poise_batch_create(arm.model, &options, &allocator, &batch, NULL), POISE_OK);
    ck_assert_int_eq(m.requests, 2);
    ck_assert_int_eq(m.live, 1);
    poise_batch_destroy(batch);
    ck_assert_int_eq(m.live, 0);
}

TEST(solving_a_batch_allocates_nothing)
{
    scene_random random = scene_random_make(11);
    test_arm arm = arm_of_scene("arm7");
    poise_solver_options options = options_for(3);
    task *t = task_make(arm.model);
    add_poses(t, &arm, &random, 200);
    add_mixed(t, &arm, &random, 90);
    poise_batch *batch = batch_for(arm.model, &options, 0);
    reset(t);
    int before = allocations_so_far();
    poise_status status = poise_batch_solve(batch, t->batch, t->count, NULL);
    int after = allocations_so_far();
    ck_assert_int_eq(status, POISE_OK);
    ck_assert_int_gt(before, 0); // the counter counts
    ck_assert_int_eq(after, before);
    poise_batch_destroy(batch);
    free(t);
}
