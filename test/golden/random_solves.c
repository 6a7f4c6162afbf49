#include "random_solves.h"

#include "golden_threads.h"
#include "support/problems.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define STARTS 200 // solves of each model
#define KEPT   16  // of them once more through a batch
#define NEARBY 8   // solves of each model whose answers are looked around
#define PIECES 128 // models of each thread between two looks at the count
#define JOINTS 4   // at most, where solves are counted
#define TREE   10  // where answers are looked around
#define LONG                                                                                                                \
    600 // seconds after which a solve is told of, with its seed; milliseconds are usual, but others may need the machine

// ---- Counts --------------------------------------------------------------------------------------------------------------

typedef enum column {
    MODELS,
    REFUSED, // models, or goals that the method does not serve
    SOLVES,
    OUTCOMES, // a column for each
    OUTSIDE = OUTCOMES + POISE_OUTCOME_COUNT,
    NOT_FINITE,
    RISEN,
    UNTRUE,
    DIFFERING,
    ENDLESS, // more iterations than were allowed
    REFUTED,
    CHECKED,
    LONGEST, // solve, in microseconds of its processor
    COLUMNS
} column;
static const char *const titles[COLUMNS] = {"models", "refused", "solves",  "reached", "closest", "stalled",
                                            "budget", "infeas",  "outside", "not fin", "risen",   "untrue",
                                            "differ", "endless", "refuted", "checked", "most us"};

static atomic_long counted[POISE_METHOD_COUNT + 1][COLUMNS]; // the last: what is no solve
static atomic_long all_solves, all_checked;

static long microseconds(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (long)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static void raise_to(atomic_long *most, long value)
{
    long now = atomic_load(most);
    while (value > now && !atomic_compare_exchange_weak(most, &now, value)) {
    }
}

// The first ten of a kind are told, so that they can be looked at.
static void count_fault(atomic_long *count, bool is_fault, uint64_t seed, const problem *p, const char *what)
{
    if (is_fault && atomic_fetch_add(count, 1) < 10) {
        printf("seed %llu, %s: %s\n", (unsigned long long)seed, poise_method_name(p->options.method), what);
    }
}

// ---- Watching ------------------------------------------------------------------------------------------------------------

static struct {
    atomic_long since; // 0: no solve
    atomic_ullong seed;
} watched[GOLDEN_THREADS_MOST];

static void *watch(void *unused)
{
    for (;;) {
        sleep(1);
        for (int w = 0; w < GOLDEN_THREADS_MOST; ++w) {
            long since = atomic_load(&watched[w].since);
            if (since > 0 && microseconds(CLOCK_MONOTONIC) - since > LONG * 1000000L) {
                printf("seed %llu: a solve goes on and on\n", (unsigned long long)atomic_load(&watched[w].seed));
                fflush(stdout);
                atomic_store(&watched[w].since, 0); // once for each: who started this decides how long to wait
            }
        }
    }
    return unused;
}

static void start_watch(void)
{
    static bool is_watched;
    pthread_t thread;
    if (!is_watched && pthread_create(&thread, NULL, watch, NULL) == 0) {
        pthread_detach(thread);
        is_watched = true;
    }
}

static poise_status solve(poise_solver *solver, const problem *p, double *q, poise_report *report, int worker)
{
    long start = microseconds(CLOCK_THREAD_CPUTIME_ID);
    atomic_store(&watched[worker].since, microseconds(CLOCK_MONOTONIC));
    poise_status status = poise_solve(solver, p->goals, p->count, q, report, NULL);
    atomic_store(&watched[worker].since, 0);
    raise_to(&counted[p->options.method][LONGEST], microseconds(CLOCK_THREAD_CPUTIME_ID) - start);
    return status;
}

// ---- Checks --------------------------------------------------------------------------------------------------------------

static bool is_finite(const problem *p, const double *q, const poise_report *r)
{
    bool finite = isfinite(r->cost) && isfinite(r->start_cost) && isfinite(r->gradient) && isfinite(r->distance) &&
                  isfinite(r->worst_length) && isfinite(r->worst_angle);
    for (int i = 0; i < p->nq; ++i) {
        finite = finite && isfinite(q[i]);
    }
    return finite;
}

// A start that misses a goal may cost less than an answer that meets all, below the tolerances.
static bool has_risen(const problem *p, const poise_report *r)
{
    bool is_arm = p->options.method == POISE_METHOD_AUTO && p->count == 1 && p->goals[0].kind == POISE_GOAL_POSE;
    double floor = 0.5e-12 * (p->goals[0].weight + p->goals[0].rotation_weight);
    bool is_met = is_arm && r->outcome == POISE_OUTCOME_REACHED && r->cost <= floor;
    return r->cost > r->start_cost && !is_met;
}

// What is in reach is not called closest, and what is called reached is, by the general forward kinematics.
static bool is_untrue(const problem *p, const double *q, const poise_report *r)
{
    poise_kinematics *kin = NULL;
    if (!p->is_in_reach || r->outcome == POISE_OUTCOME_CLOSEST || r->outcome != POISE_OUTCOME_REACHED) {
        return p->is_in_reach && r->outcome == POISE_OUTCOME_CLOSEST;
    }
    bool is_known =
        poise_kinematics_create(p->model, NULL, &kin, NULL) == POISE_OK && poise_kinematics_update(kin, q, NULL) == POISE_OK;
    poise_pose is = poise_kinematics_body_pose(kin, p->goals[0].body);
    poise_pose off = poise_pose_multiply(poise_pose_inverse(p->goals[0].target), is);
    poise_vec3 d = off.position;
    poise_kinematics_destroy(kin);
    return !is_known || d.x * d.x + d.y * d.y + d.z * d.z > 1.001e-12 || poise_quat_angle(off.rotation) > 1.001e-6;
}

static void check(const problem *p, uint64_t seed, poise_status status, const double *q, const poise_report *r)
{
    atomic_long *c = counted[p->options.method];
    if (status != POISE_OK) {
        atomic_fetch_add(&c[REFUSED], 1);
        return;
    }
    atomic_fetch_add(&all_solves, 1);
    atomic_fetch_add(&c[SOLVES], 1);
    atomic_fetch_add(&c[OUTCOMES + r->outcome], 1);
    count_fault(&c[NOT_FINITE], !is_finite(p, q, r), seed, p, "not finite");
    count_fault(&c[OUTSIDE], !poise_model_within_limits(p->model, q), seed, p, "outside of its limits");
    bool is_counted = p->options.method != POISE_METHOD_AUTO; // arms search as long as they find something
    count_fault(&c[ENDLESS], is_counted && r->iterations > p->options.max_iterations * (1 + p->options.restarts), seed, p,
                "too many iterations");
    count_fault(&c[RISEN], has_risen(p, r), seed, p, "the cost has risen");
    count_fault(&c[UNTRUE], is_untrue(p, q, r), seed, p, "in reach and called closest, or called reached and not");
}

// The same starts through a batch: the same bits.
static void check_batch(const problem *p, uint64_t seed, const double *start, const double *expected, int count)
{
    atomic_long *c = counted[p->options.method];
    poise_batch_options options = poise_batch_options_default();
    options.solver = p->options;
    poise_batch *batch = NULL;
    poise_problem problems[KEPT];
    double q[KEPT * PROBLEM_NUMBERS];
    if (poise_batch_create(p->model, &options, NULL, &batch, NULL) != POISE_OK) {
        count_fault(&c[DIFFERING], true, seed, p, "no batch");
        return;
    }
    memcpy(q, start, (size_t)(count * p->nq) * sizeof *q);
    for (int i = 0; i < count; ++i) {
        problems[i] = (poise_problem){.goals = p->goals, .goal_count = p->count, .q = q + i * p->nq};
    }
    poise_batch_solve(batch, problems, count, NULL);
    for (int i = 0; i < count; ++i) {
        check(p, seed, problems[i].status, problems[i].q, &problems[i].report);
    }
    bool differs = memcmp(q, expected, (size_t)(count * p->nq) * sizeof *q) != 0;
    count_fault(&c[DIFFERING], differs, seed, p, "a batch differs");
    poise_batch_destroy(batch);
}

// ---- Models --------------------------------------------------------------------------------------------------------------

// One in sixteen is an arm, and another one that is asked into a corner of its limits; of the others every method has as many.
static problem *make(uint64_t seed, int joints, bool may_lock)
{
    static const unsigned kinds[] = {PROBLEM_LIMITS, PROBLEM_LIMITS | PROBLEM_WIDTHS | PROBLEM_CURVES,
                                     PROBLEM_LIMITS | PROBLEM_LOCKS, PROBLEM_PLAIN};
    scene_random random = scene_random_make(seed);
    unsigned features = kinds[scene_random_index(&random, may_lock ? 4 : 2)] | PROBLEM_ONE_LEVEL;
    poise_method method = (poise_method)(seed / 16 % POISE_METHOD_COUNT);
    problem *p = seed % 16 == 0   ? problem_make_arm(&random, 3 + scene_random_index(&random, 6))
                 : seed % 16 == 8 ? problem_make_corner(&random, 3 + scene_random_index(&random, 5))
                                  : problem_make(&random, method, joints, features);
    if (p) {
        p->options.trace = NULL;
    }
    return p;
}

// A solver for the model of the seed, or NULL: refused, which is counted.
static poise_solver *open_solver(problem *p, uint64_t seed, int worker)
{
    poise_solver *solver = NULL;
    atomic_long *c = counted[p ? (int)p->options.method : POISE_METHOD_COUNT];
    atomic_store(&watched[worker].seed, seed);
    atomic_fetch_add(&c[MODELS], 1);
    if (!p || poise_solver_create(p->model, &p->options, NULL, &solver, NULL) != POISE_OK) {
        atomic_fetch_add(&c[REFUSED], 1);
    }
    return solver;
}

static void run_model(void *work, int piece, int worker)
{
    uint64_t seed = *(const uint64_t *)work + (uint64_t)piece;
    problem *p = make(seed, JOINTS, true);
    if (p && !p->is_in_reach) {
        p->options.max_iterations = 3 + (int)(seed % 5) * 2;
        p->options.restarts = seed % 7 < 2 ? 2 : 0;
    }
    poise_solver *solver = open_solver(p, seed, worker);
    scene_random random = scene_random_make(~seed);
    double starts[KEPT * PROBLEM_NUMBERS], answers[KEPT * PROBLEM_NUMBERS], q[PROBLEM_NUMBERS];
    int kept = 0;
    poise_status status = POISE_OK; // another: the method serves no such goals, from any start
    for (int i = 0; i < STARTS && solver && status == POISE_OK; ++i) {
        poise_report report;
        scene_random_configuration(&random, p->model, q);
        if (kept < KEPT) {
            memcpy(starts + kept * p->nq, q, (size_t)p->nq * sizeof *q);
        }
        status = solve(solver, p, q, &report, worker);
        check(p, seed, status, q, &report);
        if (kept < KEPT && status == POISE_OK) {
            memcpy(answers + kept++ * p->nq, q, (size_t)p->nq * sizeof *q);
        }
    }
    if (seed % 8 < 2 && kept > 0) {
        check_batch(p, seed, starts, answers, kept);
    }
    poise_solver_destroy(solver);
    problem_destroy(p);
}

// Levels of priority are closest in another sense.
static void look_around(void *work, int piece, int worker)
{
    uint64_t seed = *(const uint64_t *)work + (uint64_t)piece;
    problem *p = make(seed, TREE, false);
    poise_objective *objective = NULL;
    if (p) {
        p->options.max_iterations = 200;
    }
    poise_solver *solver = open_solver(p, seed, worker);
    scene_random random = scene_random_make(~seed);
    double q[PROBLEM_NUMBERS];
    bool sound = solver && poise_objective_create(p->model, PROBLEM_GOALS, NULL, &objective, NULL) == POISE_OK;
    for (int i = 0; i < NEARBY && sound; ++i) {
        poise_report report;
        scene_random_configuration(&random, p->model, q);
        poise_status status = solve(solver, p, q, &report, worker);
        check(p, seed, status, q, &report);
        if (status == POISE_OK && report.outcome == POISE_OUTCOME_CLOSEST && !strstr(report.reason, "level")) {
            atomic_long *c = counted[p->options.method];
            atomic_fetch_add(&c[CHECKED], 1);
            atomic_fetch_add(&all_checked, 1);
            count_fault(&c[REFUTED], answer_is_refuted(p, q, objective, &random), seed, p, "closest, and refuted");
        }
    }
    poise_objective_destroy(objective);
    poise_solver_destroy(solver);
    problem_destroy(p);
}

// ---- Runs ----------------------------------------------------------------------------------------------------------------

static uint64_t run(long count, int threads, uint64_t seed, atomic_long *reached, poise_piece piece)
{
    start_watch();
    int pieces = threads * PIECES; // so many that none of the threads waits for long
    for (; atomic_load(reached) < count; seed += (uint64_t)pieces) {
        golden_parallel_for(&threads, pieces, piece, &seed);
        fflush(stdout);
    }
    return seed;
}

uint64_t random_solves_run(long count, int threads, uint64_t seed)
{
    return run(count, threads, seed, &all_solves, run_model);
}

uint64_t random_solves_refute(long count, int threads, uint64_t seed)
{
    return run(count, threads, seed, &all_checked, look_around);
}

void random_solves_count(bool is_finite_number, bool is_within)
{
    atomic_fetch_add(&counted[POISE_METHOD_COUNT][NOT_FINITE], !is_finite_number);
    atomic_fetch_add(&counted[POISE_METHOD_COUNT][OUTSIDE], !is_within);
}

bool random_solves_print(void)
{
    long sum[COLUMNS] = {0}, faults = 0;
    printf("%-21s", "");
    for (int k = 0; k < COLUMNS; ++k) {
        printf("%10s", titles[k]);
    }
    for (int m = 0; m <= POISE_METHOD_COUNT; ++m) {
        printf("\n%-21s", m < POISE_METHOD_COUNT ? poise_method_name((poise_method)m) : "others");
        for (int k = 0; k < COLUMNS; ++k) {
            long count = atomic_load(&counted[m][k]);
            sum[k] = k == LONGEST ? (count > sum[k] ? count : sum[k]) : sum[k] + count;
            faults += k >= OUTSIDE && k <= REFUTED ? count : 0;
            printf("%10ld", count);
        }
    }
    printf("\n%-21s", "all");
    for (int k = 0; k < COLUMNS; ++k) {
        printf("%10ld", sum[k]);
    }
    printf("\n");
    return faults == 0;
}
