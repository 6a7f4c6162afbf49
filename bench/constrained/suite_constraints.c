// What must hold in the answer: no collisions, closed loops, balance.
//
// Targets of `arms` and `bodies`: forward kinematics of joints uniform within the limits, with 1 mm to spare; cold, from the
// middle of the limits. The other tables follow a path, warm. Reached: the report says so. Each answer is judged by the
// public kinematics and by searches along shapes (test/support/constraint_check.h), which share no code with the solver:
// `broken` counts answers that hold by the report and not by that check, or that break a limit.
#include "../suite.h"
#include "constrained_task.h"

#include "support/constraint_check.h"

#include <math.h>
#include <stdlib.h>

#define SEED        20240331
#define ANOTHER_WAY 4e-12 // of loops: rounding of the check itself

typedef struct statistics {
    double *us;
    int reached, held, broken;
    double margin, loop, iterations;
    bench_times times;
} statistics;

static poise_solver *make_solver(const constrained_task *task, const constrained_row *row)
{
    poise_solver_options options = poise_solver_options_default();
    poise_error error = {.text = ""};
    options.position_tolerance = options.rotation_tolerance = row->tolerance;
    options.restarts = row->restarts;
    options.start = row->start;
    poise_constraints_size(task->given, task->count, &options.constraints);
    poise_solver *solver;
    if (poise_solver_create(task->tips.model, &options, NULL, &solver, &error) != POISE_OK) {
        bench_fail("%s: %s", row->name, error.text);
    }
    return solver;
}

static void judge(const constrained_task *task, const poise_report *report, statistics *s)
{
    broken b = check_constraints(task->tips.model, task->given, task->count, task->tips.q);
    s->broken += b.limit > 0 || (report->holds && (b.clearance > 0 || b.side > 0 || b.loop > ANOTHER_WAY));
    if (report->holds) {
        s->margin = fmin(s->margin, -fmax(b.clearance, b.side));
        s->loop = fmax(s->loop, b.loop);
    }
}

static statistics run(constrained_task *task, const constrained_row *row, int count, bool with_judge)
{
    statistics s = {.us = bench_take((size_t)count, sizeof(double)), .margin = INFINITY, .loop = -INFINITY};
    poise_solver *solver = make_solver(task, row);
    scene_random random = scene_random_make(SEED);
    for (int i = 0; i < count; ++i) {
        poise_report report;
        row->draw(task, i, &random);
        double start = bench_now();
        poise_status status =
            poise_solve_within(solver, task->goals, task->goal_count, task->given, task->count, task->tips.q, &report, NULL);
        s.us[i] = 1e-3 * (bench_now() - start);
        if (status != POISE_OK) {
            bench_fail("%s: %s", row->name, poise_status_name(status));
        }
        s.reached += report.outcome == POISE_OUTCOME_REACHED;
        s.held += report.holds;
        s.iterations += report.iterations;
        if (with_judge) {
            judge(task, &report, &s);
        }
    }
    poise_solver_destroy(solver);
    s.times = bench_times_of(s.us, count);
    return s;
}

// ---- Tables --------------------------------------------------------------------------------------------------------------

static const report_column columns[] = {
    {"targets", "targets", 0, REPORT_FIXED, true},      {"reached", "reached %", 2, REPORT_FIXED, false},
    {"holds", "holds %", 2, REPORT_FIXED, false},       {"broken", "broken", 0, REPORT_FIXED, false},
    {"margin_um", "spare um", 3, REPORT_FIXED, false},  {"loop", "worst loop", 0, REPORT_FIGURES, false},
    {"iterations", "iter.", 1, REPORT_FIXED, true},     {"us_mean", "us mean", 1, REPORT_FIXED, false},
    {"us_p50", "us p50", 1, REPORT_FIXED, false},       {"us_p99", "us p99", 0, REPORT_FIXED, false},
    {"per_second", "per second", 0, REPORT_FIXED, true}};

#define COLUMNS ((int)(sizeof columns / sizeof columns[0]))

static void run_row(const bench *b, const constrained_row *row, int count)
{
    constrained_task task;
    bench_progress(b, row->name);
    statistics best = {.us = NULL};
    for (int round = 0; round < bench_number(b, "--rounds", 2, 1); ++round) { // answers are the same in every round
        if (!row->open(&task, b)) {
            return;
        }
        statistics s = run(&task, row, count, round == 0);
        if (round > 0) {
            bool is_faster = s.times.mean < best.times.mean;
            best.times = is_faster ? s.times : best.times;
            free(s.us);
        } else {
            best = s;
        }
        constrained_close(&task);
    }
    double n = count;
    report_row(b->report, row->name, "poise",
               REPORT_VALUES(n, 100.0 * best.reached / n, 100.0 * best.held / n, best.broken,
                             isfinite(best.margin) ? 1e6 * best.margin : NAN, isfinite(best.loop) ? best.loop : NAN,
                             best.iterations / n, best.times.mean, best.times.p50, best.times.p99, 1e6 / best.times.mean));
    report_promise(b->report, best.broken == 0, "%s: %d answers break what they are said to hold", row->name, best.broken);
    report_promise(b->report, !row->is_promised || best.reached == count, "%s: %d of %d targets missed", row->name,
                   count - best.reached, count);
    free(best.us);
}

void suite_constraints(const bench *b)
{
    static const struct {
        report_table table;
        const constrained_row *rows;
        int usual, quick;
    } tables[] = {
        {{"arms", "Targets without collisions, up to 200 restarts", "robot", columns, COLUMNS}, constrained_arms, 2000, 20},
        {{"bodies", "The same for poses of hands, and of feet", "robot", columns, COLUMNS}, constrained_bodies, 300, 4},
        {{"moving", "A path beside a ball that moves, 20 mm apart", "robot", columns, COLUMNS},
         constrained_moving,
         5000,
         100},
        {{"loops", "Paths of closed mechanisms", "mechanism", columns, COLUMNS}, constrained_loops, 2000, 50},
        {{"standing", "On both feet, hands anywhere in front", "robot", columns, COLUMNS}, constrained_standing, 300, 4}};
    report_note(b->report, "Spare: what is left beyond the margin, or inside the polygon, at worst.");
    for (size_t k = 0; k < sizeof tables / sizeof tables[0]; ++k) {
        if (bench_wants(b, tables[k].table.name)) {
            report_begin_table(b->report, &tables[k].table);
            for (const constrained_row *row = tables[k].rows; row->name; ++row) {
                run_row(b, row, bench_number(b, "--targets", tables[k].usual, tables[k].quick));
            }
        }
    }
}
