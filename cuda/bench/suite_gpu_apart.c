// Arm poses without collisions on a CUDA device: solves a second, and what came back judged on the host.
//
// The Panda of the suite `constraints`, 12 capsules along its links, among a table and a post, and among six boxes with a
// margin of 3 cm. Targets are poses of joints uniform within the limits with 1 mm to spare, fresh for every row; starts in
// the middle of the limits; tolerance 1e-5 m and rad. Every answer is judged by the public kinematics and by searches along
// shapes (test/support/shape_check.h), which share no code with the kernels: `broken` counts answers that are said to be
// reached and miss their pose, a margin or a limit. Times are those of device events, targets and answers in the device's
// memory.
#include "bench_device.h"

#include <bench/constrained/constrained_task.h>
#include <bench/thread_pool.h>
#include <poise/cuda.h>

#include "support/shape_check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define RESTARTS  1000
#define TOLERANCE 1e-5
#define SPARE     1e-3 // of targets, beyond the margin
#define MOST_Q    16
#define PIECE     1024
#define THREADS   64
#define SEED      7000001u

// One robot among its obstacles, its targets, and memory for its answers on the host and on the device.
typedef struct stand {
    const constrained_task *task;
    int nq, count, threads;
    uint64_t seed;
    poise_pose *targets;
    double *starts, *q;
    poise_cuda_answer *answers;
    poise_kinematics *kinematics[THREADS]; // by worker
    int *order[THREADS];                   // of pairs, by worker: those that were broken last come first
    poise_cuda *cuda;
    poise_pose *device_targets;
    double *device_starts, *device_q;
    poise_cuda_answer *device_answers;
    cudaEvent_t begin, end;
} stand;

static poise_cuda *make_cuda(const constrained_task *task, int capacity)
{
    poise_cuda_options options = poise_cuda_options_default();
    poise_goal goal = poise_goal_pose(task->tips.bodies[0], task->tips.locals[0], poise_pose_identity());
    poise_error error = {.text = ""};
    poise_cuda *cuda;
    options.capacity = capacity;
    options.solver.restarts = RESTARTS;
    options.solver.position_tolerance = options.solver.rotation_tolerance = TOLERANCE;
    if (poise_cuda_create(task->tips.model, &goal, 1, &options, &cuda, &error) != POISE_OK ||
        poise_cuda_keep_apart(cuda, task->given, &error) != POISE_OK) {
        bench_fail("%s: %s", task->tips.row->name, error.text);
    }
    return cuda;
}

static void open_stand(const constrained_task *task, int most, int threads, stand *s)
{
    size_t many = (size_t)most, numbers = many * (size_t)task->tips.nq;
    *s = (stand){.task = task, .nq = task->tips.nq, .threads = threads < THREADS ? threads : THREADS};
    s->targets = bench_take(many, sizeof *s->targets);
    s->starts = bench_take(numbers, sizeof *s->starts);
    s->q = bench_take(numbers, sizeof *s->q);
    s->answers = bench_take(many, sizeof *s->answers);
    s->cuda = make_cuda(task, most);
    s->device_targets = device_take(many, sizeof *s->device_targets);
    s->device_starts = device_take(numbers, sizeof *s->device_starts);
    s->device_q = device_take(numbers, sizeof *s->device_q);
    s->device_answers = device_take(many, sizeof *s->device_answers);
    for (int w = 0; w < s->threads; ++w) {
        if (poise_kinematics_create(task->tips.model, NULL, &s->kinematics[w], NULL) != POISE_OK) {
            bench_fail("%s: no kinematics", task->tips.row->name);
        }
        s->order[w] = bench_take((size_t)task->given->pair_count, sizeof *s->order[w]);
        for (int k = 0; k < task->given->pair_count; ++k) {
            s->order[w][k] = k;
        }
    }
    device_check(cudaEventCreate(&s->begin), "event");
    device_check(cudaEventCreate(&s->end), "event");
}

static void close_stand(stand *s)
{
    (void)cudaFree(s->device_targets), (void)cudaFree(s->device_starts);
    (void)cudaFree(s->device_q), (void)cudaFree(s->device_answers);
    (void)cudaEventDestroy(s->begin), (void)cudaEventDestroy(s->end);
    poise_cuda_destroy(s->cuda);
    for (int w = 0; w < s->threads; ++w) {
        poise_kinematics_destroy(s->kinematics[w]);
        free(s->order[w]);
    }
    free(s->targets), free(s->starts), free(s->q), free(s->answers);
}

// ---- Targets -------------------------------------------------------------------------------------------------------------

// How far a point lies from the core of a shape of the world.
static double from_core(const poise_shape *s, poise_vec3 at)
{
    poise_vec3 off = {at.x - s->pose.position.x, at.y - s->pose.position.y, at.z - s->pose.position.z};
    poise_vec3 x = poise_quat_rotate(poise_quat_conjugate(s->pose.rotation), off);
    if (s->kind == POISE_SHAPE_HALF_SPACE) {
        return x.z;
    }
    double u = fmax(fabs(x.x) - s->half.x, 0), v = fmax(fabs(x.y) - s->half.y, 0), w = fmax(fabs(x.z) - s->half.z, 0);
    return sqrt(u * u + v * v + w * w);
}

// Are two shapes `enough` apart, as the sphere around a capsule of the arm tells?
static bool is_far(const poise_kinematics *kinematics, const poise_shape *a, const poise_shape *b, double enough)
{
    if (a->body == POISE_WORLD) {
        return is_far(kinematics, b, a, enough);
    }
    poise_vec3 at = poise_kinematics_point(kinematics, a->body, a->pose.position);
    double reach = a->half.z + a->radius + b->radius + enough;
    if (b->body == POISE_WORLD) {
        return from_core(b, at) > reach;
    }
    poise_vec3 other = poise_kinematics_point(kinematics, b->body, b->pose.position);
    double x = at.x - other.x, y = at.y - other.y, z = at.z - other.z;
    return sqrt(x * x + y * y + z * z) > reach + b->half.z;
}

static bool is_broken(const stand *s, int worker, int pair)
{
    const poise_constraint *c = s->task->given;
    const poise_shape *a = &c->shapes[c->pairs[pair].a], *b = &c->shapes[c->pairs[pair].b];
    poise_nearest nearest;
    if (is_far(s->kinematics[worker], a, b, c->margin + SPARE)) {
        return false;
    }
    if (poise_distance(s->kinematics[worker], a, b, &nearest, NULL) != POISE_OK) {
        bench_fail("%s: no distance", s->task->tips.row->name);
    }
    return nearest.distance < c->margin + SPARE;
}

static bool is_free(stand *s, int worker)
{
    int *order = s->order[worker];
    for (int k = 0; k < s->task->given->pair_count; ++k) {
        int pair = order[k];
        if (is_broken(s, worker, pair)) {
            memmove(order + 1, order, (size_t)k * sizeof *order);
            order[0] = pair;
            return false;
        }
    }
    return true;
}

static int end_of(const stand *s, int piece)
{
    return s->count - piece * PIECE < PIECE ? s->count : (piece + 1) * PIECE;
}

// Each target has its own stream of random numbers, so that it does not matter which thread draws it.
static void draw_piece(void *user, int piece, int worker)
{
    stand *s = user;
    const tips_task *tips = &s->task->tips;
    for (int i = piece * PIECE; i < end_of(s, piece); ++i) {
        scene_random random = scene_random_make(s->seed + (uint64_t)i);
        double q[MOST_Q];
        do {
            scene_random_configuration(&random, tips->model, q);
            poise_kinematics_update(s->kinematics[worker], q, NULL);
        } while (!is_free(s, worker));
        s->targets[i] =
            poise_pose_multiply(poise_kinematics_body_pose(s->kinematics[worker], tips->bodies[0]), tips->locals[0]);
        memcpy(s->starts + (size_t)i * (size_t)s->nq, tips->middle, (size_t)s->nq * sizeof *q);
    }
}

static void draw(stand *s, int count, uint64_t seed)
{
    crew c = {.threads = s->threads};
    s->count = count;
    s->seed = seed;
    crew_run(&c, (count + PIECE - 1) / PIECE, draw_piece, s);
    device_put(s->device_targets, s->targets, (size_t)count * sizeof *s->targets);
    device_put(s->device_starts, s->starts, (size_t)count * (size_t)s->nq * sizeof *s->starts);
    device_check(cudaMemset(s->device_answers, 0xff, (size_t)count * sizeof *s->device_answers), "poison");
}

// ---- Judgement -----------------------------------------------------------------------------------------------------------

typedef struct verdict {
    int reached, broken;
    double searches;
    double spare; // beyond the margin, of those reached
} verdict;

typedef struct court {
    stand *stand;
    verdict verdicts[THREADS]; // by worker
} court;

// The least distance beyond the margin; above 1 cm any.
static double spare_of(const stand *s, int worker)
{
    const poise_constraint *c = s->task->given;
    double least = INFINITY;
    for (int k = 0; k < c->pair_count; ++k) {
        const poise_shape *a = &c->shapes[c->pairs[k].a], *b = &c->shapes[c->pairs[k].b];
        if (!is_far(s->kinematics[worker], a, b, c->margin + 0.01)) {
            least = fmin(least, checked_distance(s->kinematics[worker], a, b) - c->margin);
        }
    }
    return least;
}

static bool meets_target(const stand *s, int worker, int i)
{
    const tips_task *tips = &s->task->tips;
    poise_pose at = poise_pose_multiply(poise_kinematics_body_pose(s->kinematics[worker], tips->bodies[0]), tips->locals[0]);
    poise_vec3 p = at.position, t = s->targets[i].position;
    double x = p.x - t.x, y = p.y - t.y, z = p.z - t.z;
    return sqrt(x * x + y * y + z * z) <= TOLERANCE &&
           poise_quat_angle(poise_quat_multiply(poise_quat_conjugate(at.rotation), s->targets[i].rotation)) <= TOLERANCE;
}

static void judge_one(const stand *s, int worker, int i, verdict *v)
{
    const double *q = s->q + (size_t)i * (size_t)s->nq;
    poise_model_summary info = poise_model_info(s->task->tips.model);
    bool is_inside = true, told = s->answers[i].outcome == POISE_OUTCOME_REACHED;
    for (int k = 0; k < s->nq; ++k) {
        is_inside = is_inside && q[k] >= info.lower[k] && q[k] <= info.upper[k];
    }
    v->searches += s->answers[i].restarts + 1.0;
    if (!is_inside || poise_kinematics_update(s->kinematics[worker], q, NULL) != POISE_OK) {
        v->broken += 1;
        return;
    }
    if (told) {
        double spare = spare_of(s, worker);
        bool holds = spare >= 0 && meets_target(s, worker, i);
        v->broken += !holds;
        v->reached += holds;
        v->spare = fmin(v->spare, spare);
    }
}

static void judge_piece(void *user, int piece, int worker)
{
    court *c = user;
    for (int i = piece * PIECE; i < end_of(c->stand, piece); ++i) {
        judge_one(c->stand, worker, i, &c->verdicts[worker]);
    }
}

static verdict judge(stand *s)
{
    court all = {.stand = s};
    crew c = {.threads = s->threads};
    verdict sum = {.spare = INFINITY};
    for (int w = 0; w < THREADS; ++w) {
        all.verdicts[w].spare = INFINITY;
    }
    device_get(s->q, s->device_q, (size_t)s->count * (size_t)s->nq * sizeof *s->q);
    device_get(s->answers, s->device_answers, (size_t)s->count * sizeof *s->answers);
    crew_run(&c, (s->count + PIECE - 1) / PIECE, judge_piece, &all);
    for (int w = 0; w < THREADS; ++w) {
        const verdict *v = &all.verdicts[w];
        sum.reached += v->reached, sum.broken += v->broken, sum.searches += v->searches;
        sum.spare = fmin(sum.spare, v->spare);
    }
    return sum;
}

// ---- Table ---------------------------------------------------------------------------------------------------------------

// All targets in calls of `size`: milliseconds of a call.
static double time_calls(stand *s, int size)
{
    double sum = 0;
    int calls = 0;
    poise_error error = {.text = ""};
    size_t bytes = (size_t)s->count * (size_t)s->nq * sizeof *s->q;
    device_check(cudaMemcpy(s->device_q, s->device_starts, bytes, cudaMemcpyDeviceToDevice), "starts");
    for (int first = 0; first + size <= s->count; first += size, ++calls) {
        float ms = 0;
        device_check(cudaEventRecord(s->begin, NULL), "event");
        if (poise_cuda_queue_poses(s->cuda, s->device_targets + first, s->device_q + (size_t)first * (size_t)s->nq,
                                   s->device_answers + first, size, NULL, &error) != POISE_OK) {
            bench_fail("%s: %s", s->task->tips.row->name, error.text);
        }
        device_check(cudaEventRecord(s->end, NULL), "event");
        device_check(cudaEventSynchronize(s->end), "solving");
        device_check(cudaEventElapsedTime(&ms, s->begin, s->end), "event");
        sum += ms;
    }
    return sum / calls;
}

static void run_row(const bench *b, const constrained_row *row, stand *s, int count, int size, int rounds)
{
    double times[DEVICE_MOST_ROUNDS];
    char name[96];
    draw(s, count / size * size, SEED * (uint64_t)size);
    (void)time_calls(s, size); // to warm up
    for (int r = 0; r < rounds; ++r) {
        times[r] = time_calls(s, size);
    }
    double ms = device_median(times, rounds);
    verdict v = judge(s);
    snprintf(name, sizeof name, "%.63s, %d", row->name, size);
    report_row(b->report, name, "poise",
               REPORT_VALUES(size, 100.0 * v.reached / s->count, v.broken, 1e6 * v.spare, v.searches / s->count, ms,
                             size / ms * 1e-3));
    report_promise(b->report, v.broken == 0, "%s: %d answers break what they are said to hold", name, v.broken);
    report_promise(b->report, v.reached >= s->count - s->count / 10000, "%s: %d of %d targets missed", name,
                   s->count - v.reached, s->count);
}

void suite_gpu_apart(const bench *b)
{
    static const report_column columns[] = {{"batch", "batch", 0, REPORT_FIXED, true},
                                            {"reached", "reached %", 5, REPORT_FIXED, false},
                                            {"broken", "broken", 0, REPORT_FIXED, false},
                                            {"margin_um", "spare um", 3, REPORT_FIXED, false},
                                            {"searches", "searches", 2, REPORT_FIXED, false},
                                            {"ms", "call ms", 4, REPORT_FIXED, false},
                                            {"millions_per_second", "million /s", 3, REPORT_FIXED, false}};
    static const report_table table = {"arms", "Targets in a call, without collisions", "robot", columns, 7};
    if (!device_begin(b)) {
        return;
    }
    int most = bench_number(b, "--targets", 10000000, 10000), rounds = bench_number(b, "--rounds", 5, 1);
    rounds = rounds > DEVICE_MOST_ROUNDS ? DEVICE_MOST_ROUNDS : rounds;
    report_note(
        b->report,
        "Tolerance %g m and rad; starts mid-range; %d restarts; median of %d. Spare: what is left beyond the margin, at "
        "worst. Answers judged on the host, apart from the kernels.",
        TOLERANCE, RESTARTS, rounds);
    report_begin_table(b->report, &table);
    for (const constrained_row *row = constrained_arms; row->name; ++row) {
        const int sizes[] = {most, 100000, 1000, 1}, counts[] = {most, 1000000, 100000, 1000};
        constrained_task task;
        stand s;
        if (!row->open(&task, b)) {
            continue;
        }
        open_stand(&task, most, device_threads(b), &s);
        for (int k = 0; k < 4; ++k) {
            if (k == 0 || counts[k] < most) {
                bench_progress(b, row->name);
                run_row(b, row, &s, counts[k], sizes[k], rounds);
            }
        }
        close_stand(&s);
        constrained_close(&task);
    }
}
