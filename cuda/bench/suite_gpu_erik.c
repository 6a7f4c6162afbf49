// The evaluation of ERIK (Ribeiro & Paiva 2019, section 4) on a CUDA device: every posture at every orientation.
//
//   samples      how many, how long (copies included), and how well they are solved
//   statistics   what the paper's tables ask for
//
// Some postures of each skeleton (--postures) are solved on the host as well, on all cores, and every statistic of these is
// compared with the device's. A quick run takes no others.
#include "bench_device.h"

#include <bench/thread_pool.h>

#include <stdlib.h>
#include <string.h>

#define ORIENTATION_FINEST 12

// ---- On the host ---------------------------------------------------------------------------------------------------------

// Postures 0, every, 2 every ...
typedef struct host_work {
    const evaluate_problem *problem;
    int64_t every;
    evaluate_results *results; // by piece
} host_work;

static void run_posture(void *user, int piece, int worker)
{
    host_work *w = user;
    const evaluate_run run = {.solver = EVALUATE_ERIK};
    double q[EVALUATE_MOST_DIMENSIONS + 2];
    poise_erik *erik;
    (void)worker;
    w->results[piece] = evaluate_results_make();
    if (poise_erik_create(w->problem->model, &w->problem->options, NULL, &erik, NULL) != POISE_OK) {
        bench_fail("%c: no solver", w->problem->skeleton->letter);
    }
    for (int64_t o = 0; o < w->problem->orientation_count; ++o) {
        evaluate_sample(w->problem, &run, erik, piece * w->every, o, q, &w->results[piece]);
    }
    poise_erik_destroy(erik);
}

static evaluate_results run_on_host(const evaluate_problem *problem, int64_t every, int threads)
{
    int count = (int)((problem->posture_count + every - 1) / every);
    host_work w = {.problem = problem, .every = every, .results = bench_take((size_t)count, sizeof *w.results)};
    crew c = {.threads = threads};
    crew_run(&c, count, run_posture, &w);
    evaluate_results all = evaluate_results_make();
    for (int i = 0; i < count; ++i) {
        evaluate_results_merge(&all, &w.results[i]);
    }
    free(w.results);
    return all;
}

// ---- Device and host -----------------------------------------------------------------------------------------------------

typedef struct skeleton_run {
    char letter[2];
    pz_cuda_erik_summary summary;
    double seconds;
    int64_t compared;    // samples
    double host_seconds; // of those
    device_difference difference;
} skeleton_run;

// Postures i with i % every == 0 on the device; seconds.
static double run_on_device(poise_cuda *erik, const evaluate_problem *p, int64_t every, double *postures,
                            pz_cuda_erik_summary *summary)
{
    int nq = poise_model_info(p->model).nq;
    int64_t count = 0;
    poise_error error = {.text = ""};
    double start = bench_wall();
    for (int64_t i = 0; i < p->posture_count; i += every) {
        evaluate_posture(p, i, postures + count++ * nq);
    }
    if (pz_cuda_evaluate(erik, postures, count, p->orientations, p->orientation_count, summary, &error) != POISE_OK) {
        bench_fail("%c: %s", p->skeleton->letter, error.text);
    }
    return (bench_wall() - start) * 1e-9;
}

static skeleton_run run_skeleton(const bench *b, int index, int64_t postures_compared)
{
    poise_erik_options options = poise_erik_options_default();
    poise_error error = {.text = ""};
    evaluate_problem *p;
    poise_cuda *erik;
    if (evaluate_problem_create(index, &options, EVALUATE_YXZ, ORIENTATION_FINEST, &p) != POISE_OK ||
        poise_cuda_create_erik(p->model, &p->options, 0, p->posture_count, p->orientation_count, &erik, &error) !=
            POISE_OK) {
        bench_fail("skeleton %d: %s", index, error.text);
    }
    skeleton_run run = {.letter = {p->skeleton->letter, '\0'}};
    double *postures = bench_take((size_t)(p->posture_count * poise_model_info(p->model).nq), sizeof *postures);
    int64_t every = p->posture_count > postures_compared ? p->posture_count / postures_compared : 1;
    pz_cuda_erik_summary some;
    run_on_device(erik, p, p->posture_count, postures, &some); // loads the program
    run.seconds = run_on_device(erik, p, b->is_quick ? every : 1, postures, &run.summary);
    run_on_device(erik, p, every, postures, &some);
    double start = bench_wall();
    evaluate_results host = run_on_host(p, every, device_threads(b));
    run.host_seconds = (bench_wall() - start) * 1e-9;
    run.difference = device_compare(&some, &host);
    run.compared = host.error.count;
    free(postures);
    poise_cuda_destroy(erik);
    evaluate_problem_destroy(p);
    return run;
}

// ---- Tables --------------------------------------------------------------------------------------------------------------

static void add_samples(const bench *b, const skeleton_run *runs, int count)
{
    static const report_column columns[] = {{"samples", "samples", 0, REPORT_FIXED, false},
                                            {"solved", "solved %", 3, REPORT_FIXED, false},
                                            {"aimed", "aimed %", 3, REPORT_FIXED, false},
                                            {"outside", "out- side", 0, REPORT_FIXED, false},
                                            {"seconds", "device s", 3, REPORT_FIXED, false},
                                            {"millions_per_second", "million /s", 2, REPORT_FIXED, false},
                                            {"ratio", "against host", 1, REPORT_TIMES, false},
                                            {"compared", "compared", 0, REPORT_FIXED, true},
                                            {"host_seconds", "host s", 2, REPORT_FIXED, true},
                                            {"largest_difference", "largest difference", 0, REPORT_FIGURES, false},
                                            {"other_bins", "other bins", 0, REPORT_FIXED, false},
                                            {"other_counts", "other counts", 0, REPORT_FIXED, true}};
    static const report_table table = {"samples", "Samples; some of them compared with those of the host, on all its cores",
                                       "skeleton", columns, (int)(sizeof columns / sizeof columns[0])};
    double seconds = 0.0, samples = 0.0;
    report_begin_table(b->report, &table);
    for (int i = 0; i < count; ++i) {
        const pz_cuda_erik_summary *s = &runs[i].summary;
        const device_difference *d = &runs[i].difference;
        double n = (double)s->error.count, rate = n / runs[i].seconds,
               host_rate = (double)runs[i].compared / runs[i].host_seconds;
        report_row(b->report, runs[i].letter, "poise",
                   REPORT_VALUES(n, 100.0 * (double)s->reached / n, 100.0 * (double)s->aimed / n, (double)s->outside,
                                 runs[i].seconds, rate * 1e-6, rate / host_rate, (double)runs[i].compared,
                                 runs[i].host_seconds, d->largest, (double)d->bins, (double)d->counts));
        report_promise(b->report, s->outside == 0, "%s: %lld answers outside the limits", runs[i].letter,
                       (long long)s->outside);
        report_promise(b->report, d->largest <= DEVICE_TOLERANCE && d->bins == 0 && d->counts == 0,
                       "%s: the device's statistics are not the host's", runs[i].letter);
        seconds += runs[i].seconds;
        samples += n;
    }
    report_note(b->report, "All: %.1f million samples in %.2f s.", samples * 1e-6, seconds);
}

static void add_statistics(const bench *b, const skeleton_run *runs, int count)
{
    static const report_column columns[] = {{"error", "comb. mean", 6, REPORT_FIXED, false},
                                            {"error_deviation", "comb. SD", 6, REPORT_FIXED, false},
                                            {"error_orientation", "orient. mean", 6, REPORT_FIXED, false},
                                            {"error_orientation_deviation", "orient. SD", 6, REPORT_FIXED, false},
                                            {"error_posture", "posture mean", 6, REPORT_FIXED, false},
                                            {"error_posture_deviation", "posture SD", 6, REPORT_FIXED, false},
                                            {"iterations", "iter. mean", 3, REPORT_FIXED, false},
                                            {"iterations_deviation", "iter. SD", 3, REPORT_FIXED, true},
                                            {"iterations_max", "iter. max", 0, REPORT_FIXED, false}};
    static const report_table table = {"statistics", "Errors, the posture's weighted by 0.2, and iterations", "skeleton",
                                       columns, (int)(sizeof columns / sizeof columns[0])};
    report_begin_table(b->report, &table);
    for (int i = 0; i < count; ++i) {
        const pz_cuda_erik_summary *s = &runs[i].summary;
        report_row(b->report, runs[i].letter, "poise",
                   REPORT_VALUES(s->error.mean, device_deviation(&s->error), s->orientation.mean,
                                 device_deviation(&s->orientation), s->posture.mean, device_deviation(&s->posture),
                                 s->iterations.mean, device_deviation(&s->iterations), s->iterations.most));
    }
}

void suite_gpu_erik(const bench *b)
{
    const char *letters = bench_text(b, "--skeletons", "ABCDEFG");
    skeleton_run runs[EVALUATE_SKELETONS];
    int count = 0;
    if (!device_begin(b)) {
        return;
    }
    for (int i = 0; i < EVALUATE_SKELETONS; ++i) {
        char letter[2] = {evaluate_skeleton_at(i)->letter, '\0'};
        if (strchr(letters, letter[0])) {
            bench_progress(b, letter);
            runs[count++] = run_skeleton(b, i, bench_number(b, "--postures", 64, 2));
        }
    }
    if (bench_wants(b, "samples")) {
        add_samples(b, runs, count);
    }
    if (bench_wants(b, "statistics")) {
        add_statistics(b, runs, count);
    }
}
