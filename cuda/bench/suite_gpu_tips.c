// Robots with several tips on a CUDA device: four poses of hands and feet, frames a second, and answers judged on the host.
//
// Targets come from joints uniform within the limits, a free root in a cube of 2 m with any orientation; starts are in the
// middle of the limits, cold where the root is free. Up to 100 restarts. Times are those of device events around a call,
// all in device memory, the median of --rounds. The first answers are judged on the host by the public kinematics: none may
// lie outside the limits, none may be called reached that is not within 1e-5 m and rad. The first ones are solved by
// poise_solve on one core, too, for its time and its costs. Scenes come first; robots of others come from the data folder.
#include "bench_device.h"

#include <bench/tips_task.h>
#include <poise/cuda.h>

#include <stdlib.h>
#include <string.h>

#define TOLERANCE 1e-5
#define RESTARTS  100
#define SEED      20240229
#define JUDGED    20000
#define ON_HOST   200

static const tips_row rows[] = {
    {"android", "android", NULL, false, false, {"left_palm", "right_palm", "left_sole", "right_sole"}},
    {"android afloat", "android", NULL, true, false, {"left_palm", "right_palm", "left_sole", "right_sole"}},
    {"humanoid", "humanoid", NULL, false, false, {"left_palm", "right_palm", "left_sole", "right_sole"}},
    {"G1",
     NULL,
     "urdf/g1_29dof_rev_1_0.urdf",
     false,
     false,
     {"left_wrist_yaw_link", "right_wrist_yaw_link", "left_ankle_roll_link", "right_ankle_roll_link"}},
    {"G1 afloat",
     NULL,
     "urdf/g1_29dof_rev_1_0.urdf",
     true,
     false,
     {"left_wrist_yaw_link", "right_wrist_yaw_link", "left_ankle_roll_link", "right_ankle_roll_link"}},
    {"Talos",
     NULL,
     "robots/talos_reduced.urdf",
     false,
     false,
     {"arm_left_7_link", "arm_right_7_link", "left_sole_link", "right_sole_link"}},
    {"Talos afloat",
     NULL,
     "robots/talos_reduced.urdf",
     true,
     false,
     {"arm_left_7_link", "arm_right_7_link", "left_sole_link", "right_sole_link"}},
};

// The problems of a robot.
typedef struct problems {
    tips_task task;
    int count, size; // of all, of a call
    poise_pose *targets;
    double *q;
    poise_cuda_tree_answer *answers;
    poise_cuda *cuda;
    poise_pose *device_targets;
    double *device_starts, *device_q;
    poise_cuda_tree_answer *device_answers;
} problems;

static poise_solver_options options_of(const tips_task *task)
{
    poise_solver_options options = poise_solver_options_default();
    options.position_tolerance = options.rotation_tolerance = TOLERANCE;
    options.restarts = RESTARTS;
    options.start = task->row->is_floating || task->row->scene ? POISE_START_COLD : POISE_START_WARM;
    return options;
}

// ---- Problems ------------------------------------------------------------------------------------------------------------

static void draw_all(problems *p)
{
    scene_random random = scene_random_make(SEED);
    tips_task *task = &p->task;
    size_t nq = (size_t)task->nq, tips = (size_t)task->count, many = (size_t)p->count;
    p->targets = bench_take(many * tips, sizeof *p->targets);
    p->q = bench_take(many * nq, sizeof *p->q);
    p->answers = bench_take(many, sizeof *p->answers);
    for (size_t i = 0; i < many; ++i) {
        tips_draw(task, TIPS_UNIFORM, TIPS_MIDDLE, &random);
        memcpy(p->q + i * nq, task->q, nq * sizeof *p->q);
        for (size_t k = 0; k < tips; ++k) {
            p->targets[i * tips + k] = task->goals[k].target;
        }
    }
    p->device_targets = device_take(many * tips, sizeof *p->targets);
    p->device_starts = device_take(many * nq, sizeof *p->q);
    p->device_q = device_take(many * nq, sizeof *p->q);
    p->device_answers = device_take(many, sizeof *p->answers);
    device_put(p->device_targets, p->targets, many * tips * sizeof *p->targets);
    device_put(p->device_starts, p->q, many * nq * sizeof *p->q);
}

static void open_device(problems *p)
{
    poise_cuda_options options = poise_cuda_options_default();
    poise_error error = {.text = ""};
    options.solver = options_of(&p->task);
    options.capacity = p->count;
    options.host_memory = false;
    if (poise_cuda_create(p->task.model, p->task.goals, p->task.count, &options, &p->cuda, &error) != POISE_OK) {
        bench_fail("%s: %s", p->task.row->name, error.text);
    }
}

static void release(problems *p)
{
    poise_cuda_destroy(p->cuda);
    cudaFree(p->device_targets), cudaFree(p->device_starts), cudaFree(p->device_q), cudaFree(p->device_answers);
    free(p->targets), free(p->q), free(p->answers);
    tips_close(&p->task);
}

static void put_starts(void *user)
{
    problems *p = user;
    size_t bytes = (size_t)p->size * (size_t)p->task.nq * sizeof *p->q;
    device_check(cudaMemcpy(p->device_q, p->device_starts, bytes, cudaMemcpyDeviceToDevice), "starts");
}

static void solve(void *user)
{
    problems *p = user;
    poise_error error = {.text = ""};
    if (poise_cuda_queue_goals(p->cuda, p->device_targets, p->device_q, p->device_answers, p->size, NULL, &error) !=
        POISE_OK) {
        bench_fail("%s", error.text);
    }
}

// ---- Judging -------------------------------------------------------------------------------------------------------------

static void take_goals(problems *p, int i)
{
    for (int k = 0; k < p->task.count; ++k) {
        p->task.goals[k].target = p->targets[i * p->task.count + k];
    }
}

// Answers among the first `count` outside the limits, or called reached and not so near.
static int count_wrong(problems *p, int count)
{
    int wrong = 0;
    for (int i = 0; i < count; ++i) {
        memcpy(p->task.q, p->q + (size_t)i * (size_t)p->task.nq, (size_t)p->task.nq * sizeof *p->q);
        take_goals(p, i);
        double most = p->answers[i].outcome == POISE_OUTCOME_REACHED ? TOLERANCE : 1e9;
        wrong += !(tips_error(&p->task) <= most * (1.0 + 1e-9));
    }
    return wrong;
}

// poise_solve on the first frames, from the same starts: how many it reaches, in percent, and microseconds of a frame.
static double solve_on_host(problems *p, int count, double *us)
{
    poise_solver_options options = options_of(&p->task);
    poise_solver *solver;
    int reached = 0;
    if (poise_solver_create(p->task.model, &options, NULL, &solver, NULL) != POISE_OK) {
        bench_fail("out of memory");
    }
    double start = bench_now();
    for (int i = 0; i < count; ++i) {
        poise_report report;
        take_goals(p, i);
        memcpy(p->task.q, p->task.middle, (size_t)p->task.nq * sizeof *p->task.q);
        poise_solve(solver, p->task.goals, p->task.count, p->task.q, &report, NULL);
        reached += report.outcome == POISE_OUTCOME_REACHED;
    }
    *us = (bench_now() - start) * 1e-3 / count;
    poise_solver_destroy(solver);
    return 100.0 * reached / count;
}

static void add_row(const bench *b, problems *p, int size, int rounds, double host_reached, double us)
{
    double reached = 0.0, closest = 0.0, iterations = 0.0;
    char name[64];
    p->size = size;
    double ms = device_time(rounds, put_starts, solve, p);
    device_get(p->q, p->device_q, (size_t)size * (size_t)p->task.nq * sizeof *p->q);
    device_get(p->answers, p->device_answers, (size_t)size * sizeof *p->answers);
    for (int i = 0; i < size; ++i) {
        reached += p->answers[i].outcome == POISE_OUTCOME_REACHED;
        closest += p->answers[i].outcome == POISE_OUTCOME_CLOSEST;
        iterations += p->answers[i].iterations;
    }
    int judged = size < JUDGED ? size : JUDGED, wrong = count_wrong(p, judged);
    snprintf(name, sizeof name, "%s %d", p->task.row->name, size);
    report_row(b->report, name, "poise",
               REPORT_VALUES(size, 100.0 * reached / size, 100.0 * (size - reached - closest) / size, iterations / size,
                             judged, wrong, ms, size / ms * 1e3, host_reached, us));
    report_promise(b->report, wrong == 0, "%d of %d answers are not what they are said to be", wrong, judged);
}

void suite_gpu_tips(const bench *b)
{
    static const report_column columns[] = {
        {"batch", "batch", 0, REPORT_FIXED, true},       {"reached", "reached %", 3, REPORT_FIXED, false},
        {"open", "not conv. %", 3, REPORT_FIXED, false}, {"iterations", "iter.", 1, REPORT_FIXED, false},
        {"judged", "judged", 0, REPORT_FIXED, true},     {"wrong", "wrong", 0, REPORT_FIXED, true},
        {"ms", "call ms", 3, REPORT_FIXED, false},       {"per_second", "frames /s", 0, REPORT_FIXED, false},
        {"host", "one core %", 1, REPORT_FIXED, false},  {"us_core", "one-core us", 1, REPORT_FIXED, false}};
    static const report_table table = {"tips", "Poses of hands and feet, cold", "robot, frames", columns, 10};
    static const int sizes[] = {1, 1000, 10000};
    if (!device_begin(b)) {
        return;
    }
    int count = bench_number(b, "--targets", 100000, 1000), rounds = bench_number(b, "--rounds", 3, 1);
    rounds = rounds > DEVICE_MOST_ROUNDS ? DEVICE_MOST_ROUNDS : rounds;
    report_begin_table(b->report, &table);
    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; ++r) {
        problems p = {.count = count};
        if (!tips_open(b, &rows[r], &p.task)) {
            continue;
        }
        double us, host_reached;
        draw_all(&p);
        open_device(&p);
        host_reached = solve_on_host(&p, count < ON_HOST ? count : ON_HOST, &us);
        for (size_t i = 0; i < sizeof sizes / sizeof sizes[0] && sizes[i] < count; ++i) {
            bench_progress(b, "a batch");
            add_row(b, &p, sizes[i], rounds, host_reached, us);
        }
        add_row(b, &p, count, rounds, host_reached, us);
        release(&p);
    }
}
