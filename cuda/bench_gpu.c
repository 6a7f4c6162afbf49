// Arm poses on a CUDA device: solves a second, and what came back judged on the host.
//
//   bench_gpu [-n COUNT] [-r ROUNDS] [-a ARM] [FOLDER]
//
// FOLDER holds panda.chain and so on (default ../shared/chains). Targets are poses of joints uniform within the limits, fresh
// for every row; starts in the middle of the limits; tolerance 1e-5 m and rad; 1000 restarts, or
// 300 where targets lie beyond reach. Rows:
//
//   a batch of COUNT (10 million), of 100,000, of 1000, of 1; and COUNT/10 targets of which one in ten lies beyond reach
//
// Times are those of device events around the call, targets and answers in device memory, the median of ROUNDS (5); for one
// target the mean over many. Every answer is judged by a forward kinematics apart from Poise: limits held exactly, position
// and angle within the tolerance. Closest poses are compared with those that poise_solve finds.
#define _POSIX_C_SOURCE 200809L

#include <bench/arm_task.h>
#include <bench/bench.h>
#include <poise/cuda.h>

#include <cuda_runtime_api.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysinfo.h>
#include <time.h>

#define TOLERANCE  1e-5
#define RESTARTS   1000 // a few targets in ten million take more than 300
#define FEWER      300  // where most of them would be in vain
#define BEYOND     1.6  // positions of targets out of reach are multiplied by this
#define COMPARED   1000
#define MOST_TIMES 64

static void check(cudaError_t e, const char *what)
{
    if (e != cudaSuccess) {
        fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(e));
        exit(EXIT_FAILURE);
    }
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

// ---- Targets and judgement, on all cores ---------------------------------------------------------------------------------

typedef struct batch {
    const arm *a;
    int count;
    int beyond; // one in so many targets is moved out of reach; 0: none
    uint64_t seed;
    poise_pose *targets;
    double *q; // starts, then answers
    poise_cuda_answer *answers;
} batch;

typedef struct verdict {
    int reached;  // within the tolerance
    int outside;  // limits are not held
    int wrong;    // said to be reached, and is not
    double worst; // of those reached
} verdict;

typedef struct piece {
    batch *b;
    int from, to;
    bool makes;
    verdict v;
} piece;

// Each target has its own stream of random numbers, so that it does not matter who draws it.
static void make(batch *b, int i)
{
    double joints[ARM_MOST];
    scene_random random = scene_random_make(b->seed + (uint64_t)i);
    arm_draw(b->a, SEED_MID, &random, joints, b->q + (size_t)i * (size_t)b->a->n);
    frame at = arm_forward(b->a, joints);
    b->targets[i] = arm_pose_of(&at);
    if (b->beyond && i % b->beyond == 0) {
        poise_vec3 *p = &b->targets[i].position;
        p->x *= BEYOND, p->y *= BEYOND, p->z *= BEYOND;
    }
}

static void judge(const batch *b, int i, verdict *v)
{
    const double *q = b->q + (size_t)i * (size_t)b->a->n;
    bool inside = true;
    for (int k = 0; k < b->a->n; ++k) {
        const link *l = &b->a->links[k];
        inside = inside && isfinite(q[k]) && (l->continuous || (q[k] >= l->lower && q[k] <= l->upper));
    }
    frame at = arm_forward(b->a, q), there;
    double distance, angle;
    poise_quat_to_matrix(b->targets[i].rotation, there.R);
    there.p[0] = b->targets[i].position.x, there.p[1] = b->targets[i].position.y, there.p[2] = b->targets[i].position.z;
    arm_errors(&at, &there, &distance, &angle);
    bool reached = inside && distance <= TOLERANCE && angle <= TOLERANCE;
    v->reached += reached;
    v->outside += !inside;
    v->wrong += !reached && b->answers[i].outcome == POISE_OUTCOME_REACHED;
    v->worst = reached ? fmax(v->worst, fmax(distance, angle)) : v->worst;
}

static void *work_on(void *user)
{
    piece *p = user;
    for (int i = p->from; i < p->to; ++i) {
        if (p->makes) {
            make(p->b, i);
        } else {
            judge(p->b, i, &p->v);
        }
    }
    return NULL;
}

static verdict on_all_cores(batch *b, bool makes)
{
    enum { MOST = 64 };
    int cores = get_nprocs();
    int threads = cores < 1 ? 1 : cores > MOST ? MOST : cores;
    piece pieces[MOST];
    pthread_t thread[MOST];
    bool is_thread[MOST];
    for (int t = 0; t < threads; ++t) {
        pieces[t] = (piece){.b = b,
                            .from = (int)((int64_t)b->count * t / threads),
                            .to = (int)((int64_t)b->count * (t + 1) / threads),
                            .makes = makes};
        is_thread[t] = pthread_create(&thread[t], NULL, work_on, &pieces[t]) == 0;
        if (!is_thread[t]) {
            work_on(&pieces[t]);
        }
    }
    verdict all = {0};
    for (int t = 0; t < threads; ++t) {
        if (is_thread[t]) {
            pthread_join(thread[t], NULL);
        }
        all.reached += pieces[t].v.reached, all.outside += pieces[t].v.outside, all.wrong += pieces[t].v.wrong;
        all.worst = fmax(all.worst, pieces[t].v.worst);
    }
    return all;
}

// ---- One row -------------------------------------------------------------------------------------------------------------

typedef struct device_memory {
    poise_pose *targets;
    double *starts, *q;
    poise_cuda_answer *answers;
    cudaEvent_t begin, end;
} device_memory;

static int compare_numbers(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// Milliseconds of one call on `count` targets from `first` on; the starts are put back before it.
static double time_once(poise_cuda *cuda, const device_memory *d, int nq, int first, int count)
{
    float ms = 0;
    size_t at = (size_t)first * (size_t)nq, size = (size_t)count * (size_t)nq * sizeof *d->q;
    check(cudaMemcpyAsync(d->q + at, d->starts + at, size, cudaMemcpyDeviceToDevice, NULL), "starts");
    check(cudaEventRecord(d->begin, NULL), "event");
    if (poise_cuda_queue_poses(cuda, d->targets + first, d->q + at, d->answers + first, count, NULL) != POISE_OK) {
        fprintf(stderr, "%s\n", poise_cuda_error(cuda));
        exit(EXIT_FAILURE);
    }
    check(cudaEventRecord(d->end, NULL), "event");
    check(cudaEventSynchronize(d->end), "solving");
    check(cudaEventElapsedTime(&ms, d->begin, d->end), "event");
    return ms;
}

// The median over rounds of the milliseconds for all targets in calls of `size`; `worst` gets the slowest call.
static double time_batch(poise_cuda *cuda, const device_memory *d, int nq, int count, int size, int rounds, double *worst)
{
    double times[MOST_TIMES];
    *worst = 0;
    for (int r = -1; r < rounds; ++r) { // one to warm up
        double sum = 0;
        for (int first = 0; first + size <= count; first += size) {
            double ms = time_once(cuda, d, nq, first, size);
            sum += ms;
            *worst = r >= 0 ? fmax(*worst, ms) : 0;
        }
        if (r >= 0) {
            times[r] = sum / (count / size);
        }
    }
    qsort(times, (size_t)rounds, sizeof *times, compare_numbers);
    return times[rounds / 2];
}

// Milliseconds of poise_cuda_solve_poses on one target in host memory, copies and waiting included.
static double time_one_on_host(poise_cuda *cuda, const batch *b, int count)
{
    double q[ARM_MOST];
    poise_cuda_answer answer;
    struct timespec from, to;
    for (int i = -10; i < count; ++i) {
        if (i == 0) {
            clock_gettime(CLOCK_MONOTONIC, &from);
        }
        int k = i < 0 ? 0 : i;
        memcpy(q, b->q + (size_t)k * (size_t)b->a->n, (size_t)b->a->n * sizeof *q);
        poise_cuda_solve_poses(cuda, &b->targets[k], q, &answer, 1);
    }
    clock_gettime(CLOCK_MONOTONIC, &to);
    return ((double)(to.tv_sec - from.tv_sec) * 1e3 + (double)(to.tv_nsec - from.tv_nsec) * 1e-6) / count;
}

// Largest difference of cost between answers that did not reach and what poise_solve finds for the same start; and its time
// for one of them.
static double compare_closest(const batch *b, const double *starts, int *compared, double *us)
{
    poise_solver_options options = poise_solver_options_default();
    poise_solver *solver;
    options.restarts = b->beyond ? FEWER : RESTARTS;
    options.position_tolerance = options.rotation_tolerance = TOLERANCE;
    if (poise_solver_create(b->a->model, &options, NULL, &solver) != POISE_OK) {
        return INFINITY;
    }
    double largest = 0, start = bench_now();
    *compared = 0;
    for (int i = 0; i < b->count && *compared < COMPARED; ++i) {
        if (b->answers[i].outcome == POISE_OUTCOME_REACHED) {
            continue;
        }
        double q[ARM_MOST];
        poise_report report;
        poise_goal goal = poise_goal_pose(b->a->n - 1, arm_pose_of(&b->a->tip), b->targets[i]);
        memcpy(q, starts + (size_t)i * (size_t)b->a->n, (size_t)b->a->n * sizeof *q);
        poise_solve(solver, &goal, 1, q, &report);
        largest = fmax(largest, fabs(report.cost - b->answers[i].cost));
        *compared += 1;
    }
    *us = *compared ? (bench_now() - start) * 1e-3 / *compared : 0;
    poise_solver_destroy(solver);
    return largest;
}

static void print_row(const arm *a, const char *what, int count, int size, double ms, double worst, const verdict *v)
{
    printf("%-8s %-12s %10d %12.4f %12.4f %10.3f %12.5f %4d %4d %10.2e\n", a->name, what, size, ms, worst, size / ms * 1e-3,
           100.0 * v->reached / count, v->outside, v->wrong, v->worst);
    fflush(stdout);
}

static poise_cuda *make_cuda(const arm *a, int capacity, int restarts)
{
    poise_cuda_options options = poise_cuda_options_default();
    poise_goal goal = poise_goal_pose(a->n - 1, arm_pose_of(&a->tip), poise_pose_identity());
    poise_error error = {.text = ""};
    poise_cuda *cuda;
    options.capacity = capacity;
    options.solver.restarts = restarts;
    options.solver.position_tolerance = options.solver.rotation_tolerance = TOLERANCE;
    if (poise_cuda_create(a->model, &goal, &options, &cuda, &error) != POISE_OK) {
        fprintf(stderr, "%s\n", error.text);
        exit(EXIT_FAILURE);
    }
    return cuda;
}

static void run_arm(const arm *a, int most, int rounds)
{
    size_t many = (size_t)most, numbers = many * (size_t)a->n;
    poise_cuda *cuda = make_cuda(a, most, RESTARTS), *fewer = make_cuda(a, most, FEWER);
    batch b = {.a = a, .targets = allocate(many * sizeof *b.targets), .q = allocate(numbers * sizeof *b.q)};
    double *starts = allocate(numbers * sizeof *starts);
    b.answers = allocate(many * sizeof *b.answers);
    device_memory d;
    check(cudaMalloc((void **)&d.targets, many * sizeof *d.targets), "memory");
    check(cudaMalloc((void **)&d.starts, numbers * sizeof *d.starts), "memory");
    check(cudaMalloc((void **)&d.q, numbers * sizeof *d.q), "memory");
    check(cudaMalloc((void **)&d.answers, many * sizeof *d.answers), "memory");
    check(cudaEventCreate(&d.begin), "event");
    check(cudaEventCreate(&d.end), "event");
    const struct {
        const char *name;
        int count, size, beyond;
    } rows[] = {{"all", most, most, 0},
                {"100,000", 1000000, 100000, 0},
                {"1000", 100000, 1000, 0},
                {"1", 2000, 1, 0},
                {"1/10 beyond", most / 10, most / 10, 10}};
    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; ++r) {
        double worst = 0;
        b.count = rows[r].count < most ? rows[r].count : most;
        b.beyond = rows[r].beyond;
        b.seed = 1000000007u * (r + 1);
        int size = rows[r].size < b.count ? rows[r].size : b.count;
        on_all_cores(&b, true);
        numbers = (size_t)b.count * (size_t)a->n;
        memcpy(starts, b.q, numbers * sizeof *starts);
        check(cudaMemcpy(d.targets, b.targets, (size_t)b.count * sizeof *d.targets, cudaMemcpyHostToDevice), "copy");
        check(cudaMemcpy(d.starts, b.q, numbers * sizeof *d.q, cudaMemcpyHostToDevice), "copy");
        check(cudaMemset(d.answers, 0xff, (size_t)b.count * sizeof *d.answers), "poison");
        double ms = time_batch(b.beyond ? fewer : cuda, &d, a->n, b.count, size, size == 1 ? 3 : rounds, &worst);
        double host_ms = size == 1 ? time_one_on_host(cuda, &b, b.count) : 0;
        check(cudaMemcpy(b.q, d.q, numbers * sizeof *b.q, cudaMemcpyDeviceToHost), "copy");
        check(cudaMemcpy(b.answers, d.answers, (size_t)b.count * sizeof *b.answers, cudaMemcpyDeviceToHost), "copy");
        verdict v = on_all_cores(&b, false);
        print_row(a, rows[r].name, b.count, size, ms, worst, &v);
        if (size == 1) {
            printf("%-8s one from and to host memory: %.2f us\n", a->name, 1e3 * host_ms);
        }
        int compared = 0;
        double us = 0, difference = compare_closest(&b, starts, &compared, &us);
        if (compared) {
            printf("%-8s %d not reached compared with poise_solve: largest difference of cost %.2e; %.1f us each there\n",
                   a->name, compared, difference, us);
        }
    }
    (void)cudaFree(d.targets), (void)cudaFree(d.starts), (void)cudaFree(d.q), (void)cudaFree(d.answers);
    poise_cuda_destroy(cuda);
    poise_cuda_destroy(fewer);
    free(b.targets), free(b.q), free(b.answers), free(starts);
}

int main(int count, char **arguments)
{
    static const char *const arms[] = {"panda", "iiwa14", "ur5", "jaco2", "gen3", "pr2", "baxter"};
    const char *folder = "../shared/chains", *only = NULL;
    int most = 10000000, rounds = 5;
    for (int i = 1; i < count; ++i) {
        if (strcmp(arguments[i], "-n") == 0 && i + 1 < count) {
            most = atoi(arguments[++i]);
        } else if (strcmp(arguments[i], "-r") == 0 && i + 1 < count) {
            rounds = atoi(arguments[++i]);
        } else if (strcmp(arguments[i], "-a") == 0 && i + 1 < count) {
            only = arguments[++i];
        } else {
            folder = arguments[i];
        }
    }
    if (most < 10 || rounds < 1 || rounds > MOST_TIMES) {
        fprintf(stderr, "COUNT must be at least 10, ROUNDS from 1 to %d\n", MOST_TIMES);
        return EXIT_FAILURE;
    }
    if (poise_cuda_device_count() == 0) {
        printf("skipped: no CUDA device\n");
        return 77;
    }
    struct cudaDeviceProp device;
    check(cudaGetDeviceProperties(&device, 0), "the device");
    printf("%s, %d multiprocessors; tolerance %g, %d restarts, starts mid-range\n", device.name, device.multiProcessorCount,
           TOLERANCE, RESTARTS);
    printf("%-8s %-12s %10s %12s %12s %10s %12s %4s %4s %10s\n", "", "", "batch", "ms", "slowest ms", "M/s", "reached %",
           "out", "lie", "worst");
    for (size_t i = 0; i < sizeof arms / sizeof arms[0]; ++i) {
        arm a;
        if ((!only || strcmp(only, arms[i]) == 0) && arm_read(folder, arms[i], &a)) {
            run_arm(&a, most, rounds);
            poise_model_destroy(a.model);
        }
    }
    return EXIT_SUCCESS;
}
