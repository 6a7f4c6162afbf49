// ERIK's successor on a CUDA device: some postures of each skeleton (--postures) at every orientation of ERIK's evaluation,
// cold, by both measures of shape, and the same samples on the host, where every statistic is compared.
#include "bench_device.h"

#include <bench/thread_pool.h>

#include <stdlib.h>
#include <string.h>

#define ORIENTATION_FINEST 12

// Postures 0, every, 2 every ... at all orientations.
typedef struct work {
    const evaluate_problem *problem;
    poise_expressive_options options;
    int64_t every;
    int count;                 // of postures
    double *cpu;               // by posture: nanoseconds
    evaluate_results *results; // by posture
} work;

// ---- On the host ---------------------------------------------------------------------------------------------------------

static void add(const work *w, const poise_expressive_report *r, const double *q, evaluate_results *results)
{
    evaluate_statistics_add(&results->error, r->error);
    evaluate_statistics_add(&results->orientation, r->goal);
    evaluate_statistics_add(&results->posture, w->options.posture_weight * r->posture);
    evaluate_statistics_add(&results->iterations, r->evaluations);
    results->reached += r->error <= w->options.threshold;
    results->aimed += r->goal <= w->options.threshold;
    results->violations += !poise_model_within_limits(w->problem->model, q);
}

static void run_posture(void *user, int piece, int worker)
{
    work *w = user;
    const evaluate_problem *p = w->problem;
    double posture[EVALUATE_MOST_DIMENSIONS + 2], q[EVALUATE_MOST_DIMENSIONS + 2];
    poise_expressive *expressive;
    (void)worker;
    w->results[piece] = evaluate_results_make();
    if (poise_expressive_create(p->model, &w->options, NULL, &expressive, NULL) != POISE_OK) {
        bench_fail("%c: no solver", p->skeleton->letter);
    }
    evaluate_posture(p, piece * w->every, posture);
    double start = bench_now();
    for (int64_t o = 0; o < p->orientation_count; ++o) {
        poise_expressive_report report;
        poise_goal goal = poise_goal_orientation(w->options.body, p->orientations[o]);
        goal.local.rotation = w->options.tip.rotation;
        memcpy(q, posture, sizeof q);
        poise_expressive_solve(expressive, &goal, 1, posture, q, &report, NULL);
        add(w, &report, q, &w->results[piece]);
    }
    w->cpu[piece] = bench_now() - start;
    poise_expressive_destroy(expressive);
}

// Seconds of one core.
static double run_on_host(work *w, int threads, evaluate_results *all)
{
    crew c = {.threads = threads};
    double ns = 0.0;
    crew_run(&c, w->count, run_posture, w);
    *all = evaluate_results_make();
    for (int i = 0; i < w->count; ++i) {
        evaluate_results_merge(all, &w->results[i]);
        ns += w->cpu[i];
    }
    return ns * 1e-9;
}

// ---- On the device -------------------------------------------------------------------------------------------------------

// Seconds, copies included.
static double run_on_device(const work *w, pz_cuda_erik_summary *summary)
{
    const evaluate_problem *p = w->problem;
    int nq = poise_model_info(p->model).nq;
    poise_cuda *device;
    poise_error error = {.text = ""};
    double *postures = bench_take((size_t)(w->count * nq), sizeof *postures);
    for (int i = 0; i < w->count; ++i) {
        evaluate_posture(p, i * w->every, postures + i * nq);
    }
    if (poise_cuda_create_expressive(p->model, &w->options, 0, w->count, p->orientation_count, &device, &error) !=
        POISE_OK) {
        bench_fail("%c: %s", p->skeleton->letter, error.text);
    }
    double start = bench_wall();
    if (pz_cuda_evaluate(device, postures, w->count, p->orientations, p->orientation_count, summary, &error) != POISE_OK) {
        bench_fail("%c: %s", p->skeleton->letter, error.text);
    }
    double seconds = (bench_wall() - start) * 1e-9;
    poise_cuda_destroy(device);
    free(postures);
    return seconds;
}

// ---- The table -----------------------------------------------------------------------------------------------------------

static void run_problem(const bench *b, const evaluate_problem *p, poise_expressive_mode mode)
{
    int64_t wanted = bench_number(b, "--postures", 8, 1), most = p->posture_count < wanted ? p->posture_count : wanted;
    work w = {.problem = p, .options = poise_expressive_options_default(), .every = p->posture_count / most};
    w.count = (int)most;
    w.options.mode = mode;
    w.options.symmetric_endpoint = true; // as ERIK has it
    w.options.warm = false;
    w.options.body = p->options.body;
    w.options.tip = p->options.tip;
    w.cpu = bench_take((size_t)w.count, sizeof *w.cpu);
    w.results = bench_take((size_t)w.count, sizeof *w.results);
    char name[32];
    snprintf(name, sizeof name, "%c, %s", p->skeleton->letter, mode == POISE_EXPRESSIVE_SHAPE ? "shape" : "metric");
    bench_progress(b, name);
    pz_cuda_erik_summary s;
    evaluate_results host;
    double seconds = run_on_device(&w, &s), core = run_on_host(&w, device_threads(b), &host);
    device_difference d = device_compare(&s, &host);
    double n = (double)s.error.count, other = (double)(d.bins + d.counts);
    report_row(b->report, name, "poise",
               REPORT_VALUES(n, 100.0 * (double)s.reached / n, 100.0 * (double)s.aimed / n, (double)s.outside, s.error.mean,
                             s.orientation.mean, s.posture.mean, s.iterations.mean, seconds, n / seconds * 1e-6,
                             core / seconds, core / n * 1e6, d.largest, other));
    report_promise(b->report, s.outside == 0, "%s: %lld answers outside the limits", name, (long long)s.outside);
    report_promise(b->report, d.largest <= DEVICE_TOLERANCE && other == 0, "%s: the device's statistics are not the host's",
                   name);
    free(w.cpu), free(w.results);
}

static void begin_table(const bench *b)
{
    static const report_column columns[] = {{"samples", "samples", 0, REPORT_FIXED, false},
                                            {"solved", "solved %", 3, REPORT_FIXED, false},
                                            {"aimed", "aimed %", 3, REPORT_FIXED, false},
                                            {"outside", "out- side", 0, REPORT_FIXED, true},
                                            {"error", "comb. mean", 6, REPORT_FIXED, false},
                                            {"error_orientation", "orient. mean", 6, REPORT_FIXED, true},
                                            {"error_posture", "posture mean", 6, REPORT_FIXED, true},
                                            {"evaluations", "eval. mean", 1, REPORT_FIXED, false},
                                            {"seconds", "device s", 3, REPORT_FIXED, true},
                                            {"millions_per_second", "million /s", 3, REPORT_FIXED, false},
                                            {"ratio", "against a core", 0, REPORT_TIMES, false},
                                            {"us_mean", "core us", 1, REPORT_FIXED, false},
                                            {"largest_difference", "largest difference", 0, REPORT_FIGURES, false},
                                            {"other_counts", "other counts", 0, REPORT_FIXED, false}};
    static const report_table table = {"samples", "Samples, and the same on the host", "skeleton", columns,
                                       (int)(sizeof columns / sizeof columns[0])};
    report_begin_table(b->report, &table);
}

void suite_gpu_expressive(const bench *b)
{
    const char *letters = bench_text(b, "--skeletons", "ABCDEFG");
    if (!device_begin(b)) {
        return;
    }
    begin_table(b);
    for (int i = 0; i < EVALUATE_SKELETONS; ++i) {
        poise_erik_options options = poise_erik_options_default();
        evaluate_problem *p;
        if (!strchr(letters, evaluate_skeleton_at(i)->letter)) {
            continue;
        }
        if (evaluate_problem_create(i, &options, EVALUATE_YXZ, ORIENTATION_FINEST, &p) != POISE_OK) {
            bench_fail("skeleton %d", i);
        }
        run_problem(b, p, POISE_EXPRESSIVE_METRIC);
        run_problem(b, p, POISE_EXPRESSIVE_SHAPE);
        evaluate_problem_destroy(p);
    }
}
