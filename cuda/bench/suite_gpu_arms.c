// Arm poses on a CUDA device: solves a second, and what came back judged on the host.
//
// Targets are poses of joints uniform within the limits, fresh for every row; starts in the middle of the limits; tolerance
// 1e-5 m and rad; 1000 restarts, or 300 where targets lie beyond reach. Every answer is judged by a forward kinematics apart
// from Poise: limits held exactly, position and angle within the tolerance. Closest poses are compared with those that
// poise_solve finds.
//
//   batches   each arm: --targets (10 million) in a call, 100,000, 1000, 1
//   beyond    a tenth as many, of which one in ten lies out of reach
//   sizes     the first arm, from one target in a call to ten million: one core, lanes, all cores, the device with targets
//             and answers in its memory, and in the host's
//
// Times of the device are those of its events around a call, targets and answers in its memory; of the host by the clock on
// the wall. Each is the mean over the calls of a round, and the median of the rounds.
#include "bench_device.h"

#include <bench/arm_batch.h>
#include <bench/thread_pool.h>
#include <poise/cuda.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define RESTARTS  1000    // a few targets in ten million take more than 300
#define FEWER     300     // where most of them would be in vain
#define COMPARED  1000    // closest poses
#define HOST_MOST 1000000 // problems of a call; beyond that nothing changes but memory
#define SEED      1000000007u
#define COLUMNS   8 // of the tables "batches" and "sizes"; the first has one more

// One arm, its targets, and memory for its answers on the host and on the device.
typedef struct stand {
    const bench *bench;
    const arm *arm;
    int most, rounds;
    arm_batch batch;
    double *starts; // most x n
    poise_cuda_answer *answers;
    poise_cuda *cuda;
    // device memory
    poise_pose *device_targets;
    double *device_starts, *device_q;
    poise_cuda_answer *device_answers;
    cudaEvent_t begin, end;
} stand;

// ---- A stand -------------------------------------------------------------------------------------------------------------

static poise_cuda *make_cuda(const arm *a, int capacity, int restarts)
{
    poise_cuda_options options = poise_cuda_options_default();
    poise_goal goal = poise_goal_pose(a->n - 1, arm_pose_of(&a->tip), poise_pose_identity());
    poise_error error = {.text = ""};
    poise_cuda *cuda;
    options.capacity = capacity;
    options.solver.restarts = restarts;
    options.solver.position_tolerance = options.solver.rotation_tolerance = ARM_TOLERANCE;
    if (poise_cuda_create(a->model, &goal, 1, &options, &cuda, &error) != POISE_OK) {
        bench_fail("%s: %s", a->name, error.text);
    }
    return cuda;
}

static stand make_stand(const bench *b, const arm *a, int most, int restarts, int rounds)
{
    size_t many = (size_t)most, numbers = many * (size_t)a->n;
    stand s = {.bench = b, .arm = a, .most = most, .rounds = rounds, .batch = arm_batch_create(a, most, device_threads(b))};
    s.starts = bench_take(numbers, sizeof *s.starts);
    s.answers = bench_take(many, sizeof *s.answers);
    s.cuda = make_cuda(a, most, restarts);
    s.device_targets = device_take(many, sizeof *s.device_targets);
    s.device_starts = device_take(numbers, sizeof *s.device_starts);
    s.device_q = device_take(numbers, sizeof *s.device_q);
    s.device_answers = device_take(many, sizeof *s.device_answers);
    device_check(cudaEventCreate(&s.begin), "event");
    device_check(cudaEventCreate(&s.end), "event");
    return s;
}

static void free_stand(stand *s)
{
    (void)cudaFree(s->device_targets), (void)cudaFree(s->device_starts);
    (void)cudaFree(s->device_q), (void)cudaFree(s->device_answers);
    (void)cudaEventDestroy(s->begin), (void)cudaEventDestroy(s->end);
    poise_cuda_destroy(s->cuda);
    arm_batch_destroy(&s->batch);
    free(s->starts);
    free(s->answers);
}

static size_t numbers_of(const stand *s)
{
    return (size_t)s->batch.count * (size_t)s->arm->n;
}

static void make_targets(stand *s, int count, uint64_t seed, int beyond)
{
    size_t many = (size_t)count;
    arm_batch_make(&s->batch, count, seed, beyond);
    memcpy(s->starts, s->batch.q, numbers_of(s) * sizeof *s->starts);
    device_put(s->device_targets, s->batch.targets, many * sizeof *s->batch.targets);
    device_put(s->device_starts, s->starts, numbers_of(s) * sizeof *s->starts);
    device_check(cudaMemset(s->device_answers, 0xff, many * sizeof *s->device_answers), "poison");
}

// ---- Times ---------------------------------------------------------------------------------------------------------------

// Milliseconds of one call for `count` targets from `first` on; the starts are put back before it.
typedef double (*call_function)(stand *s, void *solver, int first, int count);

static double call_device(stand *s, void *solver, int first, int count)
{
    float ms = 0;
    poise_error error = {.text = ""};
    size_t at = (size_t)first * (size_t)s->arm->n, size = (size_t)count * (size_t)s->arm->n * sizeof *s->device_q;
    device_check(cudaMemcpyAsync(s->device_q + at, s->device_starts + at, size, cudaMemcpyDeviceToDevice, NULL), "starts");
    device_check(cudaEventRecord(s->begin, NULL), "event");
    if (poise_cuda_queue_poses(solver, s->device_targets + first, s->device_q + at, s->device_answers + first, count, NULL,
                               &error) != POISE_OK) {
        bench_fail("%s: %s", s->arm->name, error.text);
    }
    device_check(cudaEventRecord(s->end, NULL), "event");
    device_check(cudaEventSynchronize(s->end), "solving");
    device_check(cudaEventElapsedTime(&ms, s->begin, s->end), "event");
    return ms;
}

typedef struct timing {
    double ms, slowest; // of a call
} timing;

// All targets in calls of `size`, which they are a multiple of, once to warm up and then for each round.
static timing time_calls(stand *s, call_function call, void *solver, int size, int rounds)
{
    double times[DEVICE_MOST_ROUNDS];
    timing t = {.slowest = 0};
    for (int r = -1; r < rounds; ++r) {
        double sum = 0;
        int calls = 0;
        for (int first = 0; first + size <= s->batch.count; first += size) {
            double ms = call(s, solver, first, size);
            sum += ms;
            calls += 1;
            t.slowest = r >= 0 ? fmax(t.slowest, ms) : 0;
        }
        times[r >= 0 ? r : 0] = sum / calls;
    }
    t.ms = device_median(times, rounds);
    return t;
}

static void read_answers(stand *s)
{
    for (int i = 0; i < s->batch.count; ++i) {
        s->batch.told[i] = s->answers[i].outcome == POISE_OUTCOME_REACHED;
    }
}

static void fetch_answers(stand *s)
{
    device_get(s->batch.q, s->device_q, numbers_of(s) * sizeof *s->batch.q);
    device_get(s->answers, s->device_answers, (size_t)s->batch.count * sizeof *s->answers);
    read_answers(s);
}

// poise_cuda_solve_poses, targets and answers in host memory: copies and waiting included.
static double call_from_host(stand *s, void *solver, int first, int count)
{
    size_t at = (size_t)first * (size_t)s->arm->n;
    memcpy(s->batch.q + at, s->starts + at, (size_t)count * (size_t)s->arm->n * sizeof *s->batch.q);
    poise_error error = {.text = ""};
    double start = bench_wall();
    if (poise_cuda_solve_poses(solver, s->batch.targets + first, s->batch.q + at, s->answers + first, count, &error) !=
        POISE_OK) {
        bench_fail("%s: %s", s->arm->name, error.text);
    }
    return (bench_wall() - start) * 1e-6;
}

// ---- Closest poses -------------------------------------------------------------------------------------------------------

typedef struct comparison {
    int count;
    double difference; // of the cost, the largest
    double us;         // of poise_solve
} comparison;

// Answers that did not reach against what poise_solve finds from the same start.
static comparison compare_closest(const stand *s, int restarts)
{
    poise_solver_options options = poise_solver_options_default();
    poise_solver *solver;
    comparison c = {.count = 0};
    options.restarts = restarts;
    options.position_tolerance = options.rotation_tolerance = ARM_TOLERANCE;
    if (poise_solver_create(s->arm->model, &options, NULL, &solver, NULL) != POISE_OK) {
        bench_fail("%s: no solver", s->arm->name);
    }
    double start = bench_now();
    for (int i = 0; i < s->batch.count && c.count < COMPARED; ++i) {
        if (s->batch.told[i]) {
            continue;
        }
        double q[ARM_MOST];
        poise_report report;
        poise_goal goal = poise_goal_pose(s->arm->n - 1, arm_pose_of(&s->arm->tip), s->batch.targets[i]);
        memcpy(q, s->starts + (size_t)i * (size_t)s->arm->n, (size_t)s->arm->n * sizeof *q);
        poise_solve(solver, &goal, 1, q, &report, NULL);
        c.difference = fmax(c.difference, fabs(report.cost - s->answers[i].cost));
        c.count += 1;
    }
    c.us = c.count ? (bench_now() - start) * 1e-3 / c.count : NAN;
    poise_solver_destroy(solver);
    return c;
}

// ---- The host ------------------------------------------------------------------------------------------------------------

// Problems as poise_solve and poise_batch_solve take them; one of the two solves them.
typedef struct host {
    poise_goal *goals;
    poise_problem *problems;
    poise_solver *solver;
    poise_batch *batch;
} host;

static double call_host(stand *s, void *user, int first, int count)
{
    host *h = user;
    size_t at = (size_t)first * (size_t)s->arm->n;
    memcpy(s->batch.q + at, s->starts + at, (size_t)count * (size_t)s->arm->n * sizeof *s->batch.q);
    double start = bench_wall();
    if (h->batch) {
        poise_batch_solve(h->batch, h->problems + first, count, NULL);
    }
    for (int i = first; i < first + count && !h->batch; ++i) {
        poise_problem *p = &h->problems[i];
        p->status = poise_solve(h->solver, p->goals, 1, p->q, &p->report, NULL);
    }
    return (bench_wall() - start) * 1e-6;
}

static host make_host(stand *s, crew *c)
{
    host h = {.goals = bench_take((size_t)s->batch.count, sizeof *h.goals)};
    h.problems = bench_take((size_t)s->batch.count, sizeof *h.problems);
    for (int i = 0; i < s->batch.count; ++i) {
        h.goals[i] = poise_goal_pose(s->arm->n - 1, arm_pose_of(&s->arm->tip), s->batch.targets[i]);
        h.problems[i] =
            (poise_problem){.goals = &h.goals[i], .goal_count = 1, .q = s->batch.q + (size_t)i * (size_t)s->arm->n};
    }
    poise_batch_options options = poise_batch_options_default();
    options.solver.position_tolerance = options.solver.rotation_tolerance = ARM_TOLERANCE;
    options.solver.restarts = RESTARTS;
    options.workers = c ? c->threads : 1;
    options.parallel_for = c && c->threads > 1 ? crew_run : NULL;
    options.user = c;
    if ((c ? poise_batch_create(s->arm->model, &options, NULL, &h.batch, NULL)
           : poise_solver_create(s->arm->model, &options.solver, NULL, &h.solver, NULL)) != POISE_OK) {
        bench_fail("%s: no solver", s->arm->name);
    }
    return h;
}

static void free_host(stand *s, host *h)
{
    for (int i = 0; i < s->batch.count; ++i) {
        s->batch.told[i] = h->problems[i].report.outcome == POISE_OUTCOME_REACHED;
    }
    poise_solver_destroy(h->solver);
    poise_batch_destroy(h->batch);
    free(h->goals);
    free(h->problems);
}

// ---- Tables --------------------------------------------------------------------------------------------------------------

// What every row promises.
static void promise(const stand *s, const arm_verdict *v)
{
    report_promise(s->bench->report, v->missed == 0, "%s: %d of %d targets missed", s->arm->name, v->missed, s->batch.count);
    report_promise(s->bench->report, v->outside == 0, "%s: %d answers outside the limits", s->arm->name, v->outside);
    report_promise(s->bench->report, v->wrong == 0, "%s: %d answers are said to reach, and do not", s->arm->name, v->wrong);
}

// `us_host` is for the first of the tables, which has a column more.
static void add_row(const stand *s, const char *method, int size, timing t, int columns, double us_host)
{
    char name[96];
    arm_verdict v = arm_batch_judge(&s->batch);
    const double values[COLUMNS + 1] = {
        size, 100.0 * v.reached / s->batch.count, v.outside, v.wrong, v.worst, t.ms, t.slowest, size / t.ms * 1e-3, us_host};
    snprintf(name, sizeof name, "%.63s, %d", s->arm->name, size);
    report_row(s->bench->report, name, method, columns, values);
    promise(s, &v);
}

static void run_batches(stand *s)
{
    const struct {
        int count, size;
    } rows[] = {{s->most, s->most}, {1000000, 100000}, {100000, 1000}, {2000, 1}};
    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; ++r) {
        int count = rows[r].count < s->most ? rows[r].count : s->most;
        int size = rows[r].size < count ? rows[r].size : count;
        if (r > 0 && size == s->most) {
            continue;
        }
        make_targets(s, count / size * size, SEED * (r + 1), 0);
        double us_host = size == 1 ? 1e3 * time_calls(s, call_from_host, s->cuda, 1, s->rounds).ms : NAN;
        timing t = time_calls(s, call_device, s->cuda, size, s->rounds);
        fetch_answers(s);
        add_row(s, "poise", size, t, COLUMNS + 1, us_host);
    }
}

static void run_beyond(stand *s)
{
    int count = s->most;
    make_targets(s, count, SEED * 5, 10);
    timing t = time_calls(s, call_device, s->cuda, count, s->rounds);
    fetch_answers(s);
    arm_verdict v = arm_batch_judge(&s->batch);
    comparison c = compare_closest(s, FEWER);
    report_row(s->bench->report, s->arm->name, "poise",
               REPORT_VALUES(count, 100.0 * v.reached / count, v.outside, v.wrong, t.ms, count / t.ms * 1e-3, c.count,
                             c.difference, c.us));
    promise(s, &v);
    report_promise(s->bench->report, c.difference <= 1e-9, "%s: a closest pose costs %.1e more or less than poise_solve's",
                   s->arm->name, c.difference);
}

// Calls of a round: enough to see a mean, few where a call is long.
static int calls_for(int size)
{
    return size <= 10 ? 1000 : size <= 100 ? 200 : size <= 1000 ? 100 : size <= 10000 ? 20 : size <= 100000 ? 5 : 1;
}

static void run_on_host(stand *s, const char *name, int size, crew *c)
{
    host h = make_host(s, c);
    timing t = time_calls(s, call_host, &h, size, size >= 100000 ? 1 : s->rounds);
    free_host(s, &h);
    add_row(s, name, size, t, COLUMNS, NAN);
}

static void run_sizes(stand *s)
{
    crew lanes = {.threads = 1}, all = {.threads = device_threads(s->bench)};
    for (int size = 1; size <= s->most; size *= 10) {
        int64_t wanted = (int64_t)size * calls_for(size);
        char name[32];
        snprintf(name, sizeof name, "%d in a call", size);
        bench_progress(s->bench, name);
        make_targets(s, wanted < s->most ? (int)wanted : s->most / size * size, SEED * 6 + (uint64_t)size, 0);
        if (size <= HOST_MOST) {
            run_on_host(s, "one core", size, NULL);
            run_on_host(s, "lanes", size, &lanes);
            run_on_host(s, "all cores", size, &all);
        }
        timing t = time_calls(s, call_device, s->cuda, size, s->rounds);
        fetch_answers(s);
        add_row(s, "device", size, t, COLUMNS, NAN);
        t = time_calls(s, call_from_host, s->cuda, size, s->rounds);
        read_answers(s);
        add_row(s, "device, host memory", size, t, COLUMNS, NAN);
    }
}

void suite_gpu_arms(const bench *b)
{
    static const report_column columns[] = {{"batch", "batch", 0, REPORT_FIXED, true},
                                            {"solved", "solved %", 5, REPORT_FIXED, false},
                                            {"outside", "out- side", 0, REPORT_FIXED, false},
                                            {"wrong", "wrong", 0, REPORT_FIXED, false},
                                            {"error", "worst error", 0, REPORT_FIGURES, false},
                                            {"ms", "call ms", 4, REPORT_FIXED, false},
                                            {"ms_slowest", "slowest ms", 4, REPORT_FIXED, true},
                                            {"millions_per_second", "million /s", 3, REPORT_FIXED, false},
                                            {"us_host", "host-memory us", 1, REPORT_FIXED, false}};
    static const report_column beyond_columns[] = {{"batch", "batch", 0, REPORT_FIXED, false},
                                                   {"solved", "solved %", 3, REPORT_FIXED, false},
                                                   {"outside", "out- side", 0, REPORT_FIXED, false},
                                                   {"wrong", "wrong", 0, REPORT_FIXED, false},
                                                   {"ms", "call ms", 2, REPORT_FIXED, false},
                                                   {"millions_per_second", "million /s", 3, REPORT_FIXED, false},
                                                   {"compared", "compared", 0, REPORT_FIXED, false},
                                                   {"cost_difference", "cost difference", 0, REPORT_FIGURES, false},
                                                   {"us_solve", "poise_solve us", 1, REPORT_FIXED, false}};
    static const report_table batches = {"batches", "Targets in a call", "robot", columns, COLUMNS + 1};
    static const report_table beyond = {"beyond", "One target in ten out of reach; closest poses beside poise_solve's",
                                        "robot", beyond_columns, 9};
    static const report_table sizes = {"sizes", "Targets in a call: the device beside the host", "robot", columns, COLUMNS};
    static arm arms[ROBOT_ARMS];
    if (!device_begin(b)) {
        return;
    }
    arm_take_all(arms);
    int most = bench_number(b, "--targets", 10000000, 10000), rounds = bench_number(b, "--rounds", 5, 1);
    most = most < 10 ? 10 : most;
    rounds = rounds > DEVICE_MOST_ROUNDS ? DEVICE_MOST_ROUNDS : rounds;
    report_note(b->report,
                "Tolerance %g m and rad; starts mid-range; %d restarts, %d where targets lie beyond reach; median of %d; "
                "host with %d threads. Answers judged on the host, apart from Poise.",
                ARM_TOLERANCE, RESTARTS, FEWER, rounds, device_threads(b));
    const struct {
        const report_table *table;
        void (*run)(stand *s);
        int arms, most, restarts;
    } parts[] = {{&batches, run_batches, ROBOT_ARMS, most, RESTARTS},
                 {&beyond, run_beyond, ROBOT_ARMS, most / 10, FEWER},
                 {&sizes, run_sizes, 1, most, RESTARTS}};
    for (size_t p = 0; p < sizeof parts / sizeof parts[0]; ++p) {
        if (bench_wants(b, parts[p].table->name)) {
            report_begin_table(b->report, parts[p].table);
            for (int i = 0; i < parts[p].arms; ++i) {
                bench_progress(b, arms[i].name);
                stand s = make_stand(b, &arms[i], parts[p].most, parts[p].restarts, rounds);
                parts[p].run(&s);
                free_stand(&s);
            }
        }
    }
    for (int i = 0; i < ROBOT_ARMS; ++i) {
        arm_free(&arms[i]);
    }
}
