// Batches on a device: answers are judged on the host, by the library. Without a device only what fails clearly is tested,
// and the program says that it was skipped.
#include "cuda_test_arms.h"
#include "lib/arm_world.h"

#include <cuda_runtime_api.h>
#include <limits.h>
#include <math.h>
#include <string.h>

static const char *no_device(void)
{
    return poise_cuda_device_count() > 0 ? NULL : "no CUDA device";
}

static poise_cuda_options options_for(int capacity)
{
    poise_cuda_options options = poise_cuda_options_default();
    options.capacity = capacity;
    options.solver = solver_options();
    return options;
}

static poise_cuda *open_device(const fixture *f, const poise_cuda_options *options)
{
    poise_error error = {.text = ""};
    poise_cuda *cuda;
    poise_status status = poise_cuda_create(f->model, &f->goal, 1, options, &cuda, &error);
    ck_assert_msg(status == POISE_OK, "%s", error.text);
    return cuda;
}

// ---- Answers -------------------------------------------------------------------------------------------------------------

static void solve_and_judge(const char *scene, int count)
{
    fixture f = make(scene, count, 0, 1);
    poise_cuda_options options = options_for(10000);
    poise_cuda *cuda = open_device(&f, &options);
    poise_kinematics *kinematics;
    ck_assert_int_eq(poise_kinematics_create(f.model, NULL, &kinematics, NULL), POISE_OK);
    begin(&f);
    ck_assert_int_eq(poise_cuda_solve_poses(cuda, f.targets, f.q, f.answers, f.count, NULL), POISE_OK);
    for (int i = 0; i < f.count; ++i) {
        judge(&f, kinematics, i);
    }
    poise_kinematics_destroy(kinematics);
    poise_cuda_destroy(cuda);
    release(&f);
}

TEST_IF(answers_meet_their_targets_within_the_limits, no_device)
{
    solve_and_judge("arm6", 25000);
    solve_and_judge("arm7", 25000);
    solve_and_judge("scara", 500);
    solve_and_judge("lamp", 500);
}

TEST_IF(answers_do_not_depend_on_the_batch, no_device)
{
    fixture f = make("arm7", 6000, 20, 2);
    poise_cuda_options options = options_for(6000);
    poise_cuda *cuda = open_device(&f, &options);
    begin(&f);
    ck_assert_int_eq(poise_cuda_solve_poses(cuda, f.targets, f.q, f.answers, f.count, NULL), POISE_OK);
    size_t size = (size_t)f.count * (size_t)f.nq * sizeof *f.q;
    double *whole = malloc(size);
    ck_assert(whole != NULL);
    memcpy(whole, f.q, size);
    static const int sizes[] = {1, 33, 700, 9, 2500};
    for (int k = 0, i = 0; i < f.count; ++k) {
        int part = sizes[k % 5] < f.count - i ? sizes[k % 5] : f.count - i;
        memcpy(f.q + i * f.nq, f.starts + i * f.nq, (size_t)(part * f.nq) * sizeof *f.q);
        ck_assert_int_eq(poise_cuda_solve_poses(cuda, f.targets + i, f.q + i * f.nq, NULL, part, NULL), POISE_OK);
        i += part;
    }
    ck_assert(memcmp(whole, f.q, size) == 0);
    free(whole);
    poise_cuda_destroy(cuda);
    release(&f);
}

static void compare_closest(const char *scene, int count, int restarts)
{
    fixture f = make(scene, count, count, 3);
    poise_cuda_options options = options_for(count);
    options.solver.restarts = restarts;
    poise_cuda *cuda = open_device(&f, &options);
    poise_solver *solver;
    ck_assert_int_eq(poise_solver_create(f.model, &options.solver, NULL, &solver, NULL), POISE_OK);
    begin(&f);
    ck_assert_int_eq(poise_cuda_solve_poses(cuda, f.targets, f.q, f.answers, f.count, NULL), POISE_OK);
    int missed = 0;
    for (int i = 0; i < count; ++i) {
        poise_report report;
        poise_goal goal = f.goal;
        goal.target = f.targets[i];
        ck_assert_int_eq(poise_solve(solver, &goal, 1, f.starts + i * f.nq, &report, NULL), POISE_OK);
        // searches in single precision come before those of poise_solve, so that more may be reached, and nothing less but
        // what that finds beyond its restarts, in corners of the limits
        bool reached = f.answers[i].outcome == POISE_OUTCOME_REACHED, is_found = report.outcome == POISE_OUTCOME_REACHED;
        ck_assert(reached || !is_found || report.restarts == restarts);
        // the same descents; the cost is summed in another order
        ck_assert(reached || is_found || fabs(report.cost - f.answers[i].cost) <= 1e-12 * (1.0 + report.cost));
        missed += !reached;
    }
    ck_assert_int_gt(missed, count / 4);
    poise_solver_destroy(solver);
    poise_cuda_destroy(cuda);
    release(&f);
}

TEST_IF(targets_out_of_reach_get_the_closest_pose_of_poise_solve, no_device)
{
    compare_closest("arm6", 300, RESTARTS);
    compare_closest("arm7", 300, RESTARTS);
    compare_closest("arm7", 3000, 0);
    compare_closest("scara", 100, RESTARTS);
}

// ---- Ways to call --------------------------------------------------------------------------------------------------------

TEST_IF(device_memory_on_a_stream_gives_the_same_as_host_memory, no_device)
{
    fixture f = make("arm6", 5000, 0, 4);
    poise_cuda_options options = options_for(2100); // in parts
    poise_cuda *cuda = open_device(&f, &options);
    begin(&f);
    ck_assert_int_eq(poise_cuda_solve_poses(cuda, f.targets, f.q, f.answers, f.count, NULL), POISE_OK);
    size_t size = (size_t)f.count * (size_t)f.nq * sizeof *f.q, poses = (size_t)f.count * sizeof *f.targets;
    double *q, *back = malloc(size);
    poise_pose *targets;
    cudaStream_t stream;
    ck_assert(back != NULL);
    ck_assert_int_eq(cudaMalloc((void **)&q, size), cudaSuccess);
    ck_assert_int_eq(cudaMalloc((void **)&targets, poses), cudaSuccess);
    ck_assert_int_eq(cudaStreamCreate(&stream), cudaSuccess);
    ck_assert_int_eq(cudaMemcpyAsync(q, f.starts, size, cudaMemcpyHostToDevice, stream), cudaSuccess);
    ck_assert_int_eq(cudaMemcpyAsync(targets, f.targets, poses, cudaMemcpyHostToDevice, stream), cudaSuccess);
    ck_assert_int_eq(poise_cuda_queue_poses(cuda, targets, q, NULL, f.count, stream, NULL), POISE_OK);
    ck_assert_int_eq(cudaMemcpyAsync(back, q, size, cudaMemcpyDeviceToHost, stream), cudaSuccess);
    ck_assert_int_eq(cudaStreamSynchronize(stream), cudaSuccess);
    ck_assert(memcmp(back, f.q, size) == 0);
    (void)cudaFree(q), (void)cudaFree(targets), (void)cudaStreamDestroy(stream);
    free(back);
    poise_cuda_destroy(cuda);
    release(&f);
}

// All bits of an answer.
static bool is_same(const poise_cuda_answer *a, const poise_cuda_answer *b)
{
    return a->outcome == b->outcome && a->restarts == b->restarts && a->cost == b->cost && a->length == b->length &&
           a->angle == b->angle && a->room == b->room && a->pair == b->pair;
}

// The device for all targets at once, then the host's own solver for each.
static void compare_with_host(const char *scene, int count, int beyond, int restarts)
{
    fixture f = make(scene, count, beyond, 11);
    if (strcmp(scene, "arm7") == 0) {
        straighten(&f, 3, count / 2);
    }
    poise_cuda_options options = options_for(count);
    options.solver.restarts = restarts;
    poise_cuda *cuda = open_device(&f, &options);
    pz_cuda_task task;
    pz_fast_chain fast;
    ck_assert_int_eq(pz_cuda_task_make(f.model, &f.goal, &options.solver, &task, NULL), POISE_OK);
    bool has_fast = pz_fast_chain_make(&task, &fast);
    if (pz_cuda_host_serves(has_fast ? &fast : NULL)) {
        begin(&f);
        ck_assert_int_eq(poise_cuda_solve_poses(cuda, f.targets, f.q, f.answers, f.count, NULL), POISE_OK);
        for (int i = 0; i < count; ++i) {
            poise_cuda_answer answer;
            double *q = f.starts + i * f.nq;
            ck_assert(pz_cuda_host_solve(&task, has_fast ? &fast : NULL, NULL, &f.targets[i], INT_MAX, q, &answer));
            ck_assert_msg(memcmp(q, f.q + i * f.nq, (size_t)f.nq * sizeof *q) == 0 && is_same(&answer, &f.answers[i]),
                          "%s, target %d: outcome %d and %d, restarts %d and %d", scene, i, (int)answer.outcome,
                          (int)f.answers[i].outcome, answer.restarts, f.answers[i].restarts);
        }
    }
    poise_cuda_destroy(cuda);
    release(&f);
}

TEST_IF(the_host_gives_the_same_bits_as_the_device, no_device)
{
    compare_with_host("arm6", 20000, 100, RESTARTS);
    compare_with_host("arm7", 20000, 100, RESTARTS);
    compare_with_host("arm7", 2000, 20, RESTARTS); // warps begin at once
    compare_with_host("arm7", 3000, 100, 0);
    compare_with_host("scara", 500, 50, RESTARTS);
    compare_with_host("lamp", 500, 50, RESTARTS);
}

// Half of the targets have a free way; the rest may have none.
static void compare_apart(const char *scene, int count)
{
    fixture f = make(scene, count, 5, 12), half = f;
    test_world w;
    poise_cuda_options options = options_for(count);
    pz_cuda_task task;
    pz_fast_chain fast;
    pz_arm_world *world = malloc(sizeof *world);
    poise_kinematics *kinematics;
    ck_assert_int_eq(poise_kinematics_create(f.model, NULL, &kinematics, NULL), POISE_OK);
    make_world(&f, &w);
    half.count = count / 2, half.targets = f.targets + count - count / 2;
    draw_free(&half, &w, 1e-3, 13);
    poise_cuda *cuda = open_device(&f, &options);
    ck_assert_int_eq(poise_cuda_keep_apart(cuda, &w.apart, NULL), POISE_OK);
    ck_assert_int_eq(pz_cuda_task_make(f.model, &f.goal, &options.solver, &task, NULL), POISE_OK);
    task.fast_last = PZ_FAST_MORE - 1;
    ck_assert(world && pz_arm_world_make(f.model, &task, &w.apart, world, NULL) == POISE_OK);
    bool has_fast = pz_fast_chain_make(&task, &fast);
    begin(&f);
    ck_assert_int_eq(poise_cuda_solve_poses(cuda, f.targets, f.q, f.answers, f.count, NULL), POISE_OK);
    for (int i = 0; i < count; ++i) {
        poise_cuda_answer answer;
        double *q = f.starts + i * f.nq;
        judge_apart(&f, &w, kinematics, i);
        ck_assert(pz_cuda_host_solve(&task, has_fast ? &fast : NULL, world, &f.targets[i], INT_MAX, q, &answer));
        ck_assert_msg(memcmp(q, f.q + i * f.nq, (size_t)f.nq * sizeof *q) == 0 && is_same(&answer, &f.answers[i]),
                      "%s, target %d: outcome %d and %d, restarts %d and %d, room %.17g and %.17g", scene, i,
                      (int)answer.outcome, (int)f.answers[i].outcome, answer.restarts, f.answers[i].restarts, answer.room,
                      f.answers[i].room);
    }
    free(world);
    poise_kinematics_destroy(kinematics);
    poise_cuda_destroy(cuda);
    release(&f);
}

TEST_IF(answers_without_collisions_are_those_of_the_host, no_device)
{
    compare_apart("arm6", 3000);
    compare_apart("arm7", 3000);
    compare_apart("arm7", 300); // warps begin at once
    compare_apart("scara", 100);
}

TEST_IF(shapes_that_are_let_go_count_no_more, no_device)
{
    enum { COUNT = 3000 };
    fixture f = make("arm7", COUNT, 0, 14);
    test_world w;
    poise_cuda_options options = options_for(COUNT);
    poise_cuda *cuda = open_device(&f, &options);
    size_t size = (size_t)f.count * (size_t)f.nq * sizeof *f.q;
    double *before = malloc(size);
    ck_assert(before != NULL);
    make_world(&f, &w);
    for (int turn = 0; turn < 3; ++turn) { // without, with, without
        ck_assert_int_eq(poise_cuda_keep_apart(cuda, turn == 1 ? &w.apart : NULL, NULL), POISE_OK);
        begin(&f);
        ck_assert_int_eq(poise_cuda_solve_poses(cuda, f.targets, f.q, f.answers, f.count, NULL), POISE_OK);
        if (turn == 0) {
            memcpy(before, f.q, size);
        }
        ck_assert((memcmp(before, f.q, size) == 0) == (turn != 1));
    }
    // what is refused changes nothing
    ck_assert_int_eq(poise_cuda_keep_apart(cuda, &w.apart, NULL), POISE_OK);
    w.apart.margin = -1;
    ck_assert_int_eq(poise_cuda_keep_apart(cuda, &w.apart, NULL), POISE_ERROR_ARGUMENT);
    begin(&f);
    ck_assert_int_eq(poise_cuda_solve_poses(cuda, f.targets, f.q, f.answers, f.count, NULL), POISE_OK);
    ck_assert(memcmp(before, f.q, size) != 0);
    free(before);
    poise_cuda_destroy(cuda);
    release(&f);
}

TEST_IF(problems_of_a_batch_get_reports_and_unsound_ones_their_status, no_device)
{
    enum { COUNT = 5000 };
    fixture f = make("arm7", COUNT, 0, 5);
    poise_cuda_options options = options_for(COUNT);
    poise_cuda *cuda = open_device(&f, &options);
    poise_goal *goals = malloc(COUNT * sizeof *goals);
    poise_problem *problems = malloc(COUNT * sizeof *problems);
    ck_assert(goals && problems);
    begin(&f);
    for (int i = 0; i < COUNT; ++i) {
        goals[i] = f.goal;
        goals[i].target = f.targets[i];
        problems[i] = (poise_problem){.goals = &goals[i], .goal_count = 1, .q = f.q + i * f.nq};
    }
    goals[1].weight *= 2.0;
    goals[2].target.position.x = NAN;
    problems[3].q = NULL;
    ck_assert_int_eq(poise_cuda_solve(cuda, problems, COUNT, NULL), POISE_OK);
    ck_assert_int_eq(problems[1].status, POISE_ERROR_UNSUPPORTED);
    ck_assert_int_eq(problems[2].status, POISE_ERROR_ARGUMENT);
    ck_assert_int_eq(problems[3].status, POISE_ERROR_ARGUMENT);
    for (int i = 0; i < COUNT; ++i) {
        bool unsound = i >= 1 && i <= 3;
        ck_assert_int_eq(problems[i].status == POISE_OK, !unsound);
        ck_assert(unsound || problems[i].report.outcome == POISE_OUTCOME_REACHED);
        ck_assert(unsound || problems[i].report.worst_length <= TOLERANCE);
    }
    ck_assert(memcmp(f.q + f.nq, f.starts + f.nq, (size_t)(2 * f.nq) * sizeof *f.q) == 0);
    // few of them, with the same answers
    double q[MOST_Q];
    poise_report report = problems[COUNT - 1].report;
    memcpy(q, problems[COUNT - 1].q, (size_t)f.nq * sizeof *q);
    memcpy(problems[COUNT - 1].q, f.starts + (COUNT - 1) * f.nq, (size_t)f.nq * sizeof *q);
    ck_assert_int_eq(poise_cuda_solve(cuda, problems + COUNT - 1, 1, NULL), POISE_OK);
    ck_assert(memcmp(q, problems[COUNT - 1].q, (size_t)f.nq * sizeof *q) == 0);
    ck_assert(memcmp(&report, &problems[COUNT - 1].report, sizeof report) == 0);
    free(goals), free(problems);
    poise_cuda_destroy(cuda);
    release(&f);
}

// ---- Failures ------------------------------------------------------------------------------------------------------------

TEST_IF(numbers_that_are_not_finite_are_refused_and_nothing_is_touched, no_device)
{
    fixture f = make("arm6", 10, 0, 6);
    poise_cuda_options options = options_for(10);
    poise_cuda *cuda = open_device(&f, &options);
    begin(&f);
    f.targets[7].rotation.w = 2.0;
    poise_error error = {.text = ""};
    ck_assert_int_eq(poise_cuda_solve_poses(cuda, f.targets, f.q, f.answers, f.count, &error), POISE_ERROR_ARGUMENT);
    ck_assert(strstr(error.text, "problem 7") != NULL);
    ck_assert_int_eq(poise_cuda_queue_markers(cuda, NULL, NULL, f.q, NULL, 0, NULL, &error), POISE_ERROR_UNSUPPORTED);
    ck_assert(strstr(error.text, "position goals") != NULL);
    ck_assert(memcmp(f.q, f.starts, (size_t)(f.count * f.nq) * sizeof *f.q) == 0);
    ck_assert_int_eq(poise_cuda_solve_poses(cuda, NULL, f.q, NULL, 1, NULL), POISE_ERROR_ARGUMENT);
    ck_assert_int_eq(poise_cuda_solve_poses(cuda, NULL, NULL, NULL, 0, NULL), POISE_OK);
    poise_cuda_destroy(cuda);
    release(&f);
}

TEST_IF(too_large_a_capacity_says_that_memory_is_short, no_device)
{
    fixture f = make("arm7", 1, 0, 7);
    poise_cuda_options options = options_for(INT32_MAX);
    poise_error error = {.text = ""};
    poise_cuda *cuda = NULL;
    ck_assert_int_eq(poise_cuda_create(f.model, &f.goal, 1, &options, &cuda, &error), POISE_ERROR_MEMORY);
    ck_assert(strstr(error.text, "out of memory") != NULL && cuda == NULL);
    options = options_for(10); // and the device still works
    cuda = open_device(&f, &options);
    begin(&f);
    ck_assert_int_eq(poise_cuda_solve_poses(cuda, f.targets, f.q, f.answers, 1, NULL), POISE_OK);
    poise_cuda_destroy(cuda);
    release(&f);
}

TEST_IF(goals_and_chains_that_are_not_served_are_named, no_device)
{
    fixture f = make("arm7", 1, 0, 8);
    poise_cuda_options options = options_for(10);
    poise_error error = {.text = ""};
    poise_cuda *cuda = NULL;
    poise_goal banded = f.goal, other = f.goal;
    other.kind = POISE_GOAL_PLANE, other.direction = poise_vec3_make(0, 0, 1);
    banded.tolerance = poise_vec3_make(0.1, 0, 0);
    ck_assert_int_eq(poise_cuda_create(f.model, &banded, 1, &options, &cuda, &error), POISE_ERROR_UNSUPPORTED);
    ck_assert(strstr(error.text, "bands") != NULL);
    ck_assert_int_eq(poise_cuda_create(f.model, &other, 1, &options, &cuda, &error), POISE_ERROR_UNSUPPORTED);
    ck_assert_int_eq(poise_cuda_create(f.model, &f.goal, 1, NULL, &cuda, &error), POISE_ERROR_ARGUMENT);
    release(&f);
}

TEST(a_device_that_is_not_there_is_said_to_be_missing)
{
    fixture f = make("arm6", 1, 0, 9);
    poise_cuda_options options = options_for(10);
    poise_error error = {.text = ""};
    poise_cuda *cuda = NULL;
    options.device = poise_cuda_device_count();
    ck_assert_int_eq(poise_cuda_create(f.model, &f.goal, 1, &options, &cuda, &error), POISE_ERROR_DEVICE);
    ck_assert(strstr(error.text, "no CUDA device") != NULL && cuda == NULL);
    release(&f);
}
