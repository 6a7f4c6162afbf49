// The evaluation of ERIK (Ribeiro & Paiva 2019, section 4) on a CUDA device: every posture at every orientation.
//
//   bench_gpu_erik [-p POSTURES] [-s ABC]
//
// For each skeleton: samples, seconds (copies included) and what the paper's tables ask for; then the same for POSTURES (64)
// of its postures on the host, all cores, with the largest difference of any statistic between device and host.
#define _POSIX_C_SOURCE 200809L

#include <evaluate/expressive.h>
#include <poise/cuda.h>

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysinfo.h>
#include <time.h>

#define ORIENTATION_FINEST 12
#define MOST_THREADS       64

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void *allocate(size_t size)
{
    void *memory = malloc(size);
    if (!memory) {
        fprintf(stderr, "out of memory\n");
        exit(EXIT_FAILURE);
    }
    return memory;
}

// ---- On the host ---------------------------------------------------------------------------------------------------------

// Postures i with i % every == 0, those of one thread.
typedef struct part {
    const evaluate_problem *problem;
    int64_t every;
    int thread, threads;
    evaluate_results results;
} part;

static void *work_on(void *user)
{
    part *p = user;
    const evaluate_run run = {.solver = EVALUATE_ERIK};
    double q[EVALUATE_MOST_DIMENSIONS + 2];
    poise_erik *erik;
    p->results = evaluate_results_make();
    if (poise_erik_create(p->problem->model, &p->problem->options, NULL, &erik, NULL) != POISE_OK) {
        return NULL;
    }
    for (int64_t i = p->thread * p->every; i < p->problem->posture_count; i += p->threads * p->every) {
        for (int64_t o = 0; o < p->problem->orientation_count; ++o) {
            evaluate_sample(p->problem, &run, erik, i, o, q, &p->results);
        }
    }
    poise_erik_destroy(erik);
    return NULL;
}

static evaluate_results run_on_host(const evaluate_problem *problem, int64_t every)
{
    int cores = get_nprocs(), threads = cores < 1 ? 1 : cores > MOST_THREADS ? MOST_THREADS : cores;
    pthread_t thread[MOST_THREADS];
    part parts[MOST_THREADS];
    bool is_thread[MOST_THREADS];
    for (int t = 0; t < threads; ++t) {
        parts[t] = (part){.problem = problem, .every = every, .thread = t, .threads = threads};
        is_thread[t] = pthread_create(&thread[t], NULL, work_on, &parts[t]) == 0;
        if (!is_thread[t]) {
            work_on(&parts[t]);
        }
    }
    evaluate_results all = evaluate_results_make();
    for (int t = 0; t < threads; ++t) {
        if (is_thread[t]) {
            pthread_join(thread[t], NULL);
        }
        evaluate_results_merge(&all, &parts[t].results);
    }
    return all;
}

// ---- Device and host -----------------------------------------------------------------------------------------------------

static double deviation(const poise_cuda_statistics *s)
{
    return s->count > 0 ? sqrt(s->squares / (double)s->count) : 0.0;
}

// Largest difference of mean, deviation, least and most; *bins counts what lies in other bins.
static double difference(const poise_cuda_statistics *a, const evaluate_statistics *b, int64_t *bins)
{
    double d = fmax(fabs(a->mean - b->mean), fabs(deviation(a) - evaluate_statistics_deviation(b)));
    for (int i = 0; i <= POISE_CUDA_BINS; ++i) {
        *bins += llabs((long long)(a->bins[i] - b->bins[i]));
    }
    return fmax(d, fmax(fabs(a->least - b->least), fabs(a->most - b->most)));
}

static void compare(const poise_cuda_erik_summary *a, const evaluate_results *b, double host_seconds)
{
    int64_t bins = llabs((long long)(a->error.count - b->error.count));
    double d = difference(&a->error, &b->error, &bins);
    d = fmax(d, difference(&a->orientation, &b->orientation, &bins));
    d = fmax(d, difference(&a->posture, &b->posture, &bins));
    d = fmax(d, difference(&a->iterations, &b->iterations, &bins));
    int64_t counts = llabs((long long)(a->reached - b->reached)) + llabs((long long)(a->aimed - b->aimed)) +
                     llabs((long long)(a->outside - b->violations));
    printf(
        "   host: %lld samples in %.1f s on all cores; largest difference %.1e, samples in other bins %lld, counts %lld\n",
        (long long)b->error.count, host_seconds, d, (long long)bins, (long long)counts);
}

static void print_summary(char letter, const poise_cuda_erik_summary *s, double seconds)
{
    double n = (double)s->error.count;
    printf("%c %11lld %8.3f %8.2f  %.6f %.6f  %.6f %.6f  %.6f %.6f  %6.3f %6.3f %3.0f  %7.3f %8.4f %lld\n", letter,
           (long long)s->error.count, seconds, n / seconds * 1e-6, s->error.mean, deviation(&s->error), s->orientation.mean,
           deviation(&s->orientation), s->posture.mean, deviation(&s->posture), s->iterations.mean,
           deviation(&s->iterations), s->iterations.most, 100.0 * (double)s->reached / n, 100.0 * (double)s->aimed / n,
           (long long)s->outside);
    fflush(stdout);
}

// Postures i with i % every == 0 on the device.
static double run_on_device(poise_cuda_erik *erik, const evaluate_problem *p, int64_t every, double *postures,
                            poise_cuda_erik_summary *summary)
{
    int nq = poise_model_nq(p->model);
    int64_t count = 0;
    double start = now();
    for (int64_t i = 0; i < p->posture_count; i += every) {
        evaluate_posture(p, i, postures + count++ * nq);
    }
    if (poise_cuda_erik_evaluate(erik, postures, count, p->orientations, p->orientation_count, summary) != POISE_OK) {
        fprintf(stderr, "%s\n", poise_cuda_erik_error(erik));
        exit(EXIT_FAILURE);
    }
    return now() - start;
}

static double run_skeleton(int index, int64_t compared)
{
    poise_erik_options options = poise_erik_options_default();
    poise_error error = {.text = ""};
    evaluate_problem *p;
    poise_cuda_erik *erik;
    if (evaluate_problem_create(index, &options, EVALUATE_YXZ, ORIENTATION_FINEST, &p) != POISE_OK ||
        poise_cuda_erik_create(p->model, &p->options, 0, p->posture_count, p->orientation_count, &erik, &error) !=
            POISE_OK) {
        fprintf(stderr, "%s\n", error.text);
        exit(EXIT_FAILURE);
    }
    double *postures = allocate((size_t)(p->posture_count * poise_model_nq(p->model)) * sizeof *postures);
    int64_t every = compared > 0 && p->posture_count > compared ? p->posture_count / compared : 1;
    poise_cuda_erik_summary summary, some;
    run_on_device(erik, p, p->posture_count, postures, &some); // loads the program
    double seconds = run_on_device(erik, p, 1, postures, &summary);
    print_summary(p->skeleton->letter, &summary, seconds);
    if (compared > 0) {
        run_on_device(erik, p, every, postures, &some);
        double start = now();
        evaluate_results host = run_on_host(p, every);
        compare(&some, &host, now() - start);
    }
    free(postures);
    poise_cuda_erik_destroy(erik);
    evaluate_problem_destroy(p);
    return seconds;
}

int main(int count, char **arguments)
{
    const char *letters = "ABCDEFG";
    int64_t compared = 64;
    for (int i = 1; i + 1 < count; i += 2) {
        if (strcmp(arguments[i], "-p") == 0) {
            compared = atoll(arguments[i + 1]);
        } else if (strcmp(arguments[i], "-s") == 0) {
            letters = arguments[i + 1];
        }
    }
    if (poise_cuda_device_count() == 0) {
        printf("skipped: no CUDA device\n");
        return 77;
    }
    printf("%c %11s %8s %8s  %-17s  %-17s  %-17s  %-17s  %7s %8s %s\n", ' ', "samples", "s", "M/s", "combined, SD",
           "orientation, SD", "posture, SD", "iterations, SD, max", "ok %", "aimed %", "outside");
    double seconds = 0;
    for (int i = 0; i < EVALUATE_SKELETONS; ++i) {
        seconds += strchr(letters, evaluate_skeleton_at(i)->letter) ? run_skeleton(i, compared) : 0.0;
    }
    printf("all: %.2f s\n", seconds);
    return EXIT_SUCCESS;
}
