// Marker problems on a device: answers and reports have the bits of poise_solve. Without a device the work of its threads is
// done by the host, and the program says that the rest was skipped.
#include "marker_frames.h"

#include "kernels/tree_on_host.h"
#include "solve/tree/damped_step.h"

#include <string.h>

static const char *no_device(void)
{
    return poise_cuda_device_count() > 0 ? NULL : "no CUDA device";
}

// ---- Bits ----------------------------------------------------------------------------------------------------------------

static bool same(double a, double b)
{
    return memcmp(&a, &b, sizeof a) == 0;
}

static void compare_q(const fixture *f, int i)
{
    size_t at = (size_t)i * (size_t)f->nq;
    ck_assert_msg(memcmp(f->expected + at, f->q + at, (size_t)f->nq * sizeof *f->q) == 0, "problem %d", i);
}

static void compare_answers(const fixture *f)
{
    for (int i = 0; i < f->count; ++i) {
        const poise_report *r = &f->reports[i];
        const poise_cuda_tree_answer *a = &f->answers[i];
        ck_assert_int_eq(r->outcome, a->outcome);
        ck_assert_int_eq(r->iterations, a->iterations);
        ck_assert_int_eq(r->evaluations, a->evaluations);
        ck_assert_int_eq(r->restarts, a->restarts);
        ck_assert_int_eq(r->active_limits, a->active_limits);
        ck_assert_int_eq(r->moved_joints, a->moved_joints);
        ck_assert(same(r->start_cost, a->start_cost) && same(r->cost, a->cost) && same(r->gradient, a->gradient));
        ck_assert(same(r->distance, a->distance) && same(r->worst_length, a->worst_length));
        compare_q(f, i);
    }
}

static void compare_problems(const fixture *f)
{
    for (int i = 0; i < f->count; ++i) {
        const poise_report *r = &f->reports[i], *a = &f->problems[i].report;
        ck_assert_int_eq(f->problems[i].status, POISE_OK);
        ck_assert_int_eq(r->outcome, a->outcome);
        ck_assert_str_eq(r->reason, a->reason);
        ck_assert_int_eq(r->iterations, a->iterations);
        ck_assert_int_eq(r->restarts, a->restarts);
        ck_assert(same(r->cost, a->cost) && same(r->worst_length, a->worst_length) && same(r->distance, a->distance));
        compare_q(f, i);
    }
}

// ---- The threads' work, on the host --------------------------------------------------------------------------------------

static void solve_as_threads_do(const char *scene, int count, int restarts, double noise, bool backwards)
{
    fixture f = make(scene, count, restarts, noise);
    poise_model narrow = *f.model;
    narrow.is_wide = false;
    pz_cuda_tree_counters counters = {0};
    size_t runs = (size_t)count * ((size_t)restarts + 1);
    pz_cuda_tree_work work = {.counters = &counters,
                              .open = take((size_t)count, sizeof *work.open),
                              .runs = take(runs, sizeof *work.runs),
                              .best = take((size_t)count * (size_t)f.nq, sizeof *work.best),
                              .capacity = count};
    poise_solver *solver;
    int groups;
    ck_assert_int_eq(poise_solver_create(&narrow, &f.options, NULL, &solver, NULL), POISE_OK);
    const pz_group *group = pz_tree_groups(((const pz_damped *)solver->method)->tree, &groups);
    pz_cuda_tree_task task = {.model = &narrow,
                              .goals = f.goals,
                              .options = f.options,
                              .box = solver->box,
                              .groups = group,
                              .goal_count = f.goal_count,
                              .nq = f.nq,
                              .size = (int)pz_cuda_tree_size(f.model, f.goal_count, &f.options)};
    pz_cuda_tree_batch batch = {
        .targets = f.targets, .weights = f.weights, .q = f.q, .answers = f.answers, .count = f.count};
    ck_assert(tree_on_host(&task, &batch, &work, backwards));
    compare_answers(&f);
    free(work.open), free(work.runs), free(work.best);
    poise_solver_destroy(solver);
    release(&f);
}

TEST(threads_of_the_device_would_give_the_bits_of_poise_solve)
{
    solve_as_threads_do("humanoid", 12, 4, 0.0, false);
    solve_as_threads_do("humanoid-quaternion", 6, 2, 0.0, false);
    solve_as_threads_do("humanoid-euler", 6, 2, 0.0, false);
    solve_as_threads_do("tree-50", 6, 0, 0.0, false);
}

TEST(the_order_of_restarts_does_not_matter)
{
    solve_as_threads_do("humanoid", 12, 4, 0.0, true);
    solve_as_threads_do("humanoid", 4, 3, 0.01, true); // none is met
}

TEST(what_is_not_served_is_named)
{
    fixture f = make("humanoid", 1, 0, 0.0);
    poise_cuda_options options = poise_cuda_options_default();
    poise_error error = {.text = ""};
    poise_cuda *tree = NULL;
    poise_model *hand;
    poise_goal other = poise_goal_center_of_mass((poise_vec3){0, 0, 0});
    ck_assert_int_eq(poise_cuda_create(f.model, &other, 1, &options, &tree, &error), POISE_ERROR_UNSUPPORTED);
    ck_assert(strstr(error.text, "POSITION") != NULL);
    options.solver.prior = 1.0;
    ck_assert_int_eq(poise_cuda_create(f.model, f.goals, 1, &options, &tree, &error), POISE_ERROR_UNSUPPORTED);
    ck_assert(strstr(error.text, "prior") != NULL);
    options.solver.prior = 0.0;
    ck_assert_int_eq(scene_create("hand", NULL, &hand, NULL), POISE_OK);
    ck_assert_int_eq(poise_cuda_create(hand, f.goals, 1, &options, &tree, &error), POISE_ERROR_UNSUPPORTED);
    ck_assert(strstr(error.text, "mimic") != NULL);
    options.device = poise_cuda_device_count();
    ck_assert_int_eq(poise_cuda_create(f.model, f.goals, 1, &options, &tree, &error), POISE_ERROR_DEVICE);
    ck_assert(strstr(error.text, "no CUDA device") != NULL && tree == NULL);
    ck_assert_int_eq(poise_cuda_create(f.model, f.goals, 0, &options, &tree, &error), POISE_ERROR_ARGUMENT);
    poise_model_destroy(hand);
    release(&f);
}

// ---- The device ----------------------------------------------------------------------------------------------------------

static poise_cuda *open_device(const fixture *f, int capacity)
{
    poise_cuda_options options = poise_cuda_options_default();
    poise_error error = {.text = ""};
    poise_cuda *tree;
    options.solver = f->options;
    options.capacity = capacity;
    options.exact_bits = true;
    poise_status status = poise_cuda_create(f->model, f->goals, f->goal_count, &options, &tree, &error);
    ck_assert_msg(status == POISE_OK, "%s", error.text);
    return tree;
}

static void solve_on_device(const char *scene, int count, int restarts, double noise, int capacity)
{
    fixture f = make(scene, count, restarts, noise);
    poise_cuda *tree = open_device(&f, capacity);
    ck_assert_int_eq(poise_cuda_solve(tree, f.problems, f.count, NULL), POISE_OK);
    compare_problems(&f);
    poise_cuda_destroy(tree);
    release(&f);
}

TEST_IF(the_device_gives_the_bits_of_poise_solve, no_device)
{
    solve_on_device("humanoid", 200, 20, 0.0, 1000);
    solve_on_device("humanoid-quaternion", 40, 2, 0.0, 1000);
    solve_on_device("humanoid-euler", 40, 2, 0.0, 1000);
    solve_on_device("humanoid", 20, 3, 0.01, 1000);
    solve_on_device("tree-50", 40, 3, 0.0, 1000);
}

TEST_IF(parts_of_a_batch_give_the_same, no_device)
{
    solve_on_device("humanoid", 60, 4, 0.0, 17);
}

TEST_IF(device_memory_on_a_stream_gives_the_same, no_device)
{
    fixture f = make("humanoid", 100, 4, 0.0);
    poise_cuda *tree = open_device(&f, 1000);
    size_t many = (size_t)f.count, goals = many * (size_t)f.goal_count, numbers = many * (size_t)f.nq;
    poise_vec3 *targets;
    double *weights, *q;
    poise_cuda_tree_answer *answers;
    cudaStream_t stream;
    ck_assert_int_eq(cudaStreamCreate(&stream), cudaSuccess);
    ck_assert_int_eq(cudaMalloc((void **)&targets, goals * sizeof *targets), cudaSuccess);
    ck_assert_int_eq(cudaMalloc((void **)&weights, goals * sizeof *weights), cudaSuccess);
    ck_assert_int_eq(cudaMalloc((void **)&q, numbers * sizeof *q), cudaSuccess);
    ck_assert_int_eq(cudaMalloc((void **)&answers, many * sizeof *answers), cudaSuccess);
    cudaMemcpyAsync(targets, f.targets, goals * sizeof *targets, cudaMemcpyHostToDevice, stream);
    cudaMemcpyAsync(weights, f.weights, goals * sizeof *weights, cudaMemcpyHostToDevice, stream);
    cudaMemcpyAsync(q, f.starts, numbers * sizeof *q, cudaMemcpyHostToDevice, stream);
    ck_assert_int_eq(poise_cuda_queue_markers(tree, targets, weights, q, answers, f.count, stream, NULL), POISE_OK);
    cudaMemcpyAsync(f.q, q, numbers * sizeof *q, cudaMemcpyDeviceToHost, stream);
    cudaMemcpyAsync(f.answers, answers, many * sizeof *answers, cudaMemcpyDeviceToHost, stream);
    ck_assert_int_eq(cudaStreamSynchronize(stream), cudaSuccess);
    compare_answers(&f);
    cudaFree(targets), cudaFree(weights), cudaFree(q), cudaFree(answers);
    cudaStreamDestroy(stream);
    poise_cuda_destroy(tree);
    release(&f);
}

TEST_IF(unsound_problems_get_their_status_and_the_others_go_on, no_device)
{
    fixture f = make("humanoid", 6, 0, 0.0);
    poise_cuda *tree = open_device(&f, 10);
    f.goals[2 * f.goal_count].target.position.x = 1.0 / 0.0;
    f.goals[4 * f.goal_count].body += 1;
    ck_assert_int_eq(poise_cuda_solve(tree, f.problems, f.count, NULL), POISE_OK);
    for (int i = 0; i < f.count; ++i) {
        poise_status expected = i == 2 ? POISE_ERROR_ARGUMENT : i == 4 ? POISE_ERROR_UNSUPPORTED : POISE_OK;
        ck_assert_int_eq(f.problems[i].status, expected);
        if (expected == POISE_OK) {
            compare_q(&f, i);
        } else {
            ck_assert(memcmp(f.q + i * f.nq, f.starts + i * f.nq, (size_t)f.nq * sizeof *f.q) == 0);
        }
    }
    poise_error error = {.text = ""};
    ck_assert_int_eq(poise_cuda_solve(tree, NULL, 1, &error), POISE_ERROR_ARGUMENT);
    ck_assert(strstr(error.text, "problems") != NULL);
    poise_cuda_destroy(tree);
    release(&f);
}

TEST_IF(too_large_a_capacity_says_that_memory_is_short, no_device)
{
    fixture f = make("humanoid", 1, 0, 0.0);
    poise_cuda_options options = poise_cuda_options_default();
    poise_error error = {.text = ""};
    poise_cuda *tree = NULL;
    options.capacity = INT32_MAX;
    options.solver.restarts = 20;
    ck_assert_int_eq(poise_cuda_create(f.model, f.goals, f.goal_count, &options, &tree, &error), POISE_ERROR_MEMORY);
    ck_assert(strstr(error.text, "out of memory") != NULL && tree == NULL);
    release(&f);
}
