// Robots with several tips: two arms, humanoids on the ground and afloat, a hand, scenes.
//
// Targets: forward kinematics of joints uniform within the limits (+-pi without; a free root in a cube of 2 m, any
// orientation). Start: the middle of the limits, cold where the root is free. Solved: position and angle within 1e-5 at
// every tip by the public forward kinematics, limits held exactly, and a report that says so. Times are of each call, the
// clock's own 0.2 us included. Scenes come first; robots of others come from the data folder.
#include "suite.h"
#include "tips_task.h"

#include <math.h>
#include <stdlib.h>

#define TOLERANCE 1e-5
#define SEED      20240229
#define RESTARTS  300

static const tips_row rows[] = {
    {"android", "android", NULL, false, false, {"left_palm", "right_palm", "left_sole", "right_sole"}},
    {"android F", "android", NULL, true, false, {"left_palm", "right_palm", "left_sole", "right_sole"}},
    {"humanoid", "humanoid", NULL, false, false, {"left_palm", "right_palm", "left_sole", "right_sole"}},
    {"hand P", "hand", NULL, false, true, {"thumb", "index", "middle", "ring", "little"}},
    {"Baxter", NULL, "urdf/baxter.urdf", false, false, {"left_hand_link", "right_hand_link"}},
    {"PR2", NULL, "urdf/pr2.urdf", false, false, {"l_gripper_tool_frame", "r_gripper_tool_frame"}},
    {"Talos",
     NULL,
     "robots/talos_reduced.urdf",
     false,
     false,
     {"arm_left_7_link", "arm_right_7_link", "left_sole_link", "right_sole_link"}},
    {"iCub", NULL, "robots/icub.urdf", false, false, {"l_hand", "r_hand", "l_sole", "r_sole"}},
    {"Romeo", NULL, "robots/romeo.urdf", false, false, {"l_wrist", "r_wrist", "l_sole", "r_sole"}},
    {"simple", NULL, "urdf/simple_humanoid.urdf", false, false, {"l_wrist", "r_wrist", "l_ankle", "r_ankle"}},
    {"Talos F",
     NULL,
     "robots/talos_reduced.urdf",
     true,
     false,
     {"arm_left_7_link", "arm_right_7_link", "left_sole_link", "right_sole_link"}},
    {"iCub F", NULL, "robots/icub.urdf", true, false, {"l_hand", "r_hand", "l_sole", "r_sole"}},
    {"Romeo F", NULL, "robots/romeo.urdf", true, false, {"l_wrist", "r_wrist", "l_sole", "r_sole"}},
    {"simple F", NULL, "urdf/simple_humanoid.urdf", true, false, {"l_wrist", "r_wrist", "l_ankle", "r_ankle"}},
    {"Allegro P",
     NULL,
     "urdf/allegro_hand_right.urdf",
     false,
     true,
     {"link_3.0_tip", "link_7.0_tip", "link_11.0_tip", "link_15.0_tip"}},
    {"Allegro P F",
     NULL,
     "urdf/allegro_hand_right.urdf",
     true,
     true,
     {"link_3.0_tip", "link_7.0_tip", "link_11.0_tip", "link_15.0_tip"}},
};

#define ROWS ((int)(sizeof rows / sizeof rows[0]))

// ---- Runs ----------------------------------------------------------------------------------------------------------------

typedef struct plan {
    tips_targets targets;
    tips_start start;
    int count, restarts;
} plan;

typedef struct statistics {
    double *us;
    int good, lies;
    double iterations, searches;
    bench_times times;
} statistics;

static poise_solver *make_solver(const tips_task *t, const plan *p)
{
    poise_solver_options options = poise_solver_options_default();
    options.position_tolerance = TOLERANCE;
    options.rotation_tolerance = TOLERANCE;
    options.restarts = p->restarts;
    options.start = (t->row->is_floating || t->row->scene) && p->start != TIPS_NEAR ? POISE_START_COLD : POISE_START_WARM;
    poise_solver *solver;
    if (poise_solver_create(t->model, &options, NULL, &solver, NULL) != POISE_OK) {
        bench_fail("%s: no solver", t->row->name);
    }
    return solver;
}

static statistics run(tips_task *t, const plan *p)
{
    statistics s = {.us = bench_take((size_t)p->count, sizeof(double))};
    poise_solver *solver = make_solver(t, p);
    scene_random random = scene_random_make(SEED);
    for (int i = 0; i < p->count; ++i) {
        poise_report report;
        tips_draw(t, p->targets, p->start, &random);
        double start = bench_now();
        poise_status status = poise_solve(solver, t->goals, t->count, t->q, &report, NULL);
        s.us[i] = 1e-3 * (bench_now() - start);
        bool is_there = status == POISE_OK && tips_error(t) <= TOLERANCE;
        bool is_told = report.outcome == POISE_OUTCOME_REACHED;
        s.good += is_there && is_told;
        s.lies += is_there != is_told;
        s.iterations += report.iterations;
        s.searches += report.restarts + 1;
    }
    poise_solver_destroy(solver);
    s.times = bench_times_of(s.us, p->count);
    return s;
}

// ---- Tables --------------------------------------------------------------------------------------------------------------

static const report_column columns[] = {
    {"targets", "targets", 0, REPORT_FIXED, true},   {"solved", "solved %", 3, REPORT_FIXED, false},
    {"iterations", "iter.", 1, REPORT_FIXED, false}, {"searches", "search", 2, REPORT_FIXED, false},
    {"us_mean", "us mean", 1, REPORT_FIXED, false},  {"us_p50", "us p50", 1, REPORT_FIXED, false},
    {"us_p99", "us p99", 0, REPORT_FIXED, false},    {"us_max", "us max", 0, REPORT_FIXED, true}};

#define COLUMNS ((int)(sizeof columns / sizeof columns[0]))

static void run_row(const bench *b, const tips_row *row, plan p)
{
    tips_task task;
    bench_progress(b, row->name);
    if (!tips_open(b, row, &task)) {
        return;
    }
    statistics best = {.us = NULL};
    for (int round = 0; round < bench_number(b, "--rounds", 2, 1); ++round) {
        statistics s = run(&task, &p);
        bool is_faster = !best.us || s.times.mean < best.times.mean;
        free(is_faster ? best.us : s.us);
        best = is_faster ? s : best;
    }
    double n = p.count;
    report_row(b->report, row->name, "poise",
               REPORT_VALUES(n, 100.0 * best.good / n, best.iterations / n, best.searches / n, best.times.mean,
                             best.times.p50, best.times.p99, best.times.most));
    bool is_promised = p.restarts > 0 && p.targets == TIPS_UNIFORM;
    report_promise(b->report, !is_promised || best.good == p.count, "%s: %d of %d targets missed", row->name,
                   p.count - best.good, p.count);
    report_promise(b->report, best.lies == 0, "%s: %d reports are wrong", row->name, best.lies);
    free(best.us);
    tips_close(&task);
}

void suite_tips(const bench *b)
{
    static const struct {
        report_table table;
        tips_targets targets;
        tips_start start;
        int restarts;
    } tables[] = {{{"restarts", "Up to 300 restarts", "robot", columns, COLUMNS}, TIPS_UNIFORM, TIPS_MIDDLE, RESTARTS},
                  {{"one", "No restarts", "robot", columns, COLUMNS}, TIPS_UNIFORM, TIPS_MIDDLE, 0},
                  {{"near", "Start within 0.1 of a solution", "robot", columns, COLUMNS}, TIPS_UNIFORM, TIPS_NEAR, RESTARTS},
                  {{"limits", "Three of ten joints of the target exactly at a limit", "robot", columns, COLUMNS},
                   TIPS_AT_LIMITS,
                   TIPS_MIDDLE,
                   RESTARTS}};
    plan p = {.count = bench_number(b, "--targets", 2000, 20)};
    report_note(b->report, "Within 1e-5 m and 1e-5 rad at every tip; F: the root is free; P: positions only, else poses.");
    for (size_t k = 0; k < sizeof tables / sizeof tables[0]; ++k) {
        if (bench_wants(b, tables[k].table.name)) {
            report_begin_table(b->report, &tables[k].table);
            p.targets = tables[k].targets;
            p.start = tables[k].start;
            p.restarts = tables[k].restarts;
            for (int i = 0; i < ROWS; ++i) {
                run_row(b, &rows[i], p);
            }
        }
    }
}
