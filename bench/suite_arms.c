// Robot arms, 6D pose: the protocol that the field uses, on seven arms of the market, against Orocos KDL.
//
// Targets: forward kinematics of joint vectors uniform within the limits (+-pi without), from splitmix64 with the state
// 12345; each target's n numbers are followed by n for its seed. Seeds: the middle of the limits; uniform; the target's
// joints +- 0.1 rad. Solved, for Poise: position and angle within 1e-5 by the forward kinematics written for the benchmark,
// limits held exactly, and a report that says so. KDL gets sqrt(3) 1e-5 and 1e-9 of the limits: LMA with 5 ms of restarts
// for the first two seeds, one call of NR_JL for the third. Times are of each call, the clock's own 0.2 us included; KDL's
// leave out the targets that it misses.
#include "arm_task.h"
#include "suite.h"

#ifdef POISE_HAS_KDL
#include "peer_kdl.h"
#endif

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TOLERANCE 1e-5
#define SEED      12345
#define FRESH     987654321 // of the random stream of the table "million"
#define RESTARTS  300

// ---- Statistics ----------------------------------------------------------------------------------------------------------

typedef struct statistics {
    double *us;            // one per call that counts
    int timed;             // of them: all of Poise's, those of KDL that solve their targets
    int count, good, lies; // lies: reports that the check does not bear out
    double worst;          // metres or radians, of the good ones
    double iterations, searches;
    bench_times times;
} statistics;

static statistics start_statistics(int count)
{
    return (statistics){.us = bench_take((size_t)count, sizeof(double))};
}

// Keep the faster of two runs: what disturbed the other is no property of the solver.
static void keep_faster(statistics *best, statistics s)
{
    s.times = bench_times_of(s.us, s.timed);
    if (best->us && best->times.mean <= s.times.mean) {
        free(s.us);
        return;
    }
    free(best->us);
    *best = s;
}

static bool judge(const arm *a, const frame *target, const double *q, double tolerance, double slack, bool is_told,
                  statistics *s)
{
    double distance, angle;
    frame at = arm_forward(a, q);
    arm_errors(target, &at, &distance, &angle);
    double error = fmax(distance, angle);
    bool is_there = error <= tolerance && arm_within_limits(a, q, slack);
    s->good += is_there && is_told;
    s->lies += is_there != is_told;
    s->worst = is_there ? fmax(s->worst, error) : s->worst;
    return is_there && is_told;
}

// ---- Poise ---------------------------------------------------------------------------------------------------------------

typedef struct plan {
    const arm *arm;
    seed_kind kind;
    uint64_t state; // of the random stream
    int count, peer_count;
    bool has_table;
} plan;

static poise_solver *make_solver(const plan *p, int restarts, int iterations)
{
    poise_solver_options options = poise_solver_options_default();
    options.position_tolerance = TOLERANCE;
    options.rotation_tolerance = TOLERANCE;
    options.restarts = restarts;
    options.max_iterations = iterations;
    options.arm.seed_table = p->has_table;
    poise_solver *solver;
    if (poise_solver_create(p->arm->model, &options, NULL, &solver, NULL) != POISE_OK) {
        bench_fail("%s: no solver", p->arm->name);
    }
    return solver;
}

// One call, timed.
static poise_report solve(poise_solver *solver, const arm *a, const frame *target, double *q, statistics *s)
{
    poise_goal goal = poise_goal_pose(a->n - 1, arm_pose_of(&a->tip), arm_pose_of(target));
    poise_report report;
    poise_error error;
    double start = bench_now();
    poise_status status = poise_solve(solver, &goal, 1, q, &report, &error);
    s->us[s->timed++] = 1e-3 * (bench_now() - start);
    s->count += 1;
    if (status != POISE_OK) {
        bench_fail("%s: %s", a->name, error.text);
    }
    s->iterations += report.iterations;
    s->searches += report.restarts + 1;
    return report;
}

static statistics run_poise(const plan *p)
{
    statistics s = start_statistics(p->count);
    poise_solver *solver = make_solver(p, RESTARTS, 100);
    scene_random random = scene_random_make(p->state);
    for (int i = 0; i < p->count; ++i) {
        double target[ARM_MOST], q[ARM_MOST];
        arm_draw(p->arm, p->kind, &random, target, q);
        frame wanted = arm_forward(p->arm, target);
        poise_report report = solve(solver, p->arm, &wanted, q, &s);
        judge(p->arm, &wanted, q, TOLERANCE, 0.0, report.outcome == POISE_OUTCOME_REACHED, &s);
    }
    poise_solver_destroy(solver);
    return s;
}

// Targets drawn away from the base by 1.6. Good: the report says reached or closest; or, of what may yet be reached, that limits
// alone are in the way, or that the arm comes near. Without restarts one search and one minimisation from the seed; with them
// the closest pose of many.
static statistics run_far(const plan *p, int restarts)
{
    statistics s = start_statistics(p->count);
    poise_solver *solver = make_solver(p, restarts, 500);
    scene_random random = scene_random_make(SEED);
    for (int i = 0; i < p->count; ++i) {
        double target[ARM_MOST], q[ARM_MOST];
        arm_draw(p->arm, SEED_RAND, &random, target, q);
        frame wanted = arm_forward(p->arm, target);
        for (int k = 0; k < 3; ++k) {
            wanted.p[k] *= 1.6;
        }
        poise_report report = solve(solver, p->arm, &wanted, q, &s);
        bool has_ended = report.outcome == POISE_OUTCOME_REACHED || report.outcome == POISE_OUTCOME_CLOSEST ||
                         report.why == POISE_WHY_LIMITS || report.why == POISE_WHY_BESIDE;
        s.good += has_ended && arm_within_limits(p->arm, q, 0.0);
        s.worst = fmax(s.worst, report.worst_length);
    }
    poise_solver_destroy(solver);
    return s;
}

// ---- KDL -----------------------------------------------------------------------------------------------------------------

#ifdef POISE_HAS_KDL

#define PEER_LIMIT_US 5000.0
#define PI            3.14159265358979323846
#define PEER_BALL     1.7320509 // six components within a tolerance lie in a ball of this radius

static void wrap(const arm *a, double *q)
{
    for (int i = 0; i < a->n; ++i) {
        const link *l = &a->links[i];
        if (l->slides) {
            continue;
        }
        q[i] = l->continuous ? remainder(q[i], 2 * PI) : q[i];
        while (!l->continuous && q[i] > l->upper) {
            q[i] -= 2 * PI;
        }
        while (!l->continuous && q[i] < l->lower) {
            q[i] += 2 * PI;
        }
    }
}

// Restarts from uniform joints until the solver says yes, within the limits, or the time is over.
static void solve_kdl(peer_kdl *kdl, const arm *a, peer_kdl_method method, bool restarts, const frame *target,
                      scene_random *random, double *q)
{
    double seed[ARM_MOST], start = bench_now();
    memcpy(seed, q, sizeof seed);
    for (;;) {
        bool ok = peer_kdl_inverse(kdl, method, seed, target->R, target->p, q);
        if (method == PEER_KDL_LMA) {
            wrap(a, q);
        }
        if (!restarts || (ok && arm_within_limits(a, q, 1e-9)) || 1e-3 * (bench_now() - start) >= PEER_LIMIT_US) {
            return;
        }
        for (int i = 0; i < a->n; ++i) {
            seed[i] = scene_random_range(random, a->links[i].lower, a->links[i].upper);
        }
    }
}

static statistics run_kdl(const plan *p)
{
    statistics s = start_statistics(p->peer_count);
    const arm *a = p->arm;
    peer_kdl_method method = p->kind == SEED_NEAR ? PEER_KDL_NR_JL : PEER_KDL_LMA;
    peer_kdl *kdl = peer_kdl_create(a->model, a->n - 1, arm_pose_of(&a->tip));
    peer_kdl_use_inverse(kdl, a->model, TOLERANCE);
    scene_random random = scene_random_make(SEED), elsewhere = scene_random_make(SEED);
    for (int i = 0; i < p->peer_count; ++i) {
        double target[ARM_MOST], q[ARM_MOST];
        arm_draw(a, p->kind, &random, target, q);
        frame wanted = arm_forward(a, target);
        double start = bench_now();
        solve_kdl(kdl, a, method, p->kind != SEED_NEAR, &wanted, &elsewhere, q);
        double us = 1e-3 * (bench_now() - start);
        s.count += 1;
        if (judge(a, &wanted, q, PEER_BALL * TOLERANCE, 1e-9, us <= 1.05 * PEER_LIMIT_US, &s)) {
            s.us[s.timed++] = us;
        }
    }
    s.iterations = s.searches = NAN;
    peer_kdl_destroy(kdl);
    return s;
}

#endif

// ---- Tables --------------------------------------------------------------------------------------------------------------

static const report_column columns[] = {
    {"targets", "targets", 0, REPORT_FIXED, true},      {"solved", "solved %", 2, REPORT_FIXED, false},
    {"error", "worst m,rad", 0, REPORT_FIGURES, false}, {"iterations", "iter.", 1, REPORT_FIXED, false},
    {"searches", "search", 2, REPORT_FIXED, true},      {"us_mean", "us mean", 1, REPORT_FIXED, false},
    {"us_p50", "us p50", 1, REPORT_FIXED, false},       {"us_p99", "us p99", 0, REPORT_FIXED, false},
    {"us_max", "us max", 0, REPORT_FIXED, true},        {"ratio", "ratio", 1, REPORT_RATIO, false}};

#define COLUMNS ((int)(sizeof columns / sizeof columns[0]))

static const report_race race = {"solved", 0.0, {"us_mean"}};

static void add_row(const bench *b, const plan *p, const char *method, const statistics *s)
{
    double n = s->count;
    report_row(b->report, p->arm->name, method,
               REPORT_VALUES(n, 100.0 * s->good / n, s->worst, s->iterations / n, s->searches / n, s->times.mean,
                             s->times.p50, s->times.p99, s->times.most));
}

// The rows of an arm: each solver `rounds` times, in turn.
static void run_arm(const bench *b, const plan *p, int rounds)
{
    statistics own = {.us = NULL}, table = {.us = NULL}, peer = {.us = NULL};
    plan with_table = *p;
    with_table.has_table = true;
    bench_progress(b, p->arm->name);
    for (int round = 0; round < rounds; ++round) {
        keep_faster(&own, run_poise(p));
        keep_faster(&table, run_poise(&with_table));
#ifdef POISE_HAS_KDL
        if (p->peer_count > 0) {
            keep_faster(&peer, run_kdl(p));
        }
#endif
    }
    add_row(b, p, "poise", &own);
    add_row(b, p, "poise, table", &table);
    if (peer.us) {
        add_row(b, p, p->kind == SEED_NEAR ? "KDL NR_JL" : "KDL LMA", &peer);
    }
    const statistics *all[2] = {&own, &table};
    for (int k = 0; k < 2; ++k) {
        report_promise(b->report, all[k]->good == all[k]->count, "%s%s: %d of %d targets missed", p->arm->name,
                       k ? " with its table" : "", all[k]->count - all[k]->good, all[k]->count);
        report_promise(b->report, all[k]->lies == 0, "%s: %d reports are wrong", p->arm->name, all[k]->lies);
    }
    free(own.us);
    free(table.us);
    free(peer.us);
}

static void run_far_arm(const bench *b, const plan *p, int restarts)
{
    statistics s = {.us = NULL};
    bench_progress(b, p->arm->name);
    keep_faster(&s, run_far(p, restarts));
    add_row(b, p, "poise", &s);
    report_promise(b->report, s.good == s.count, "%s: %d of %d searches did not end", p->arm->name, s.count - s.good,
                   s.count);
    free(s.us);
}

static void run_seeds(const bench *b, const arm *arms)
{
    static const report_table tables[SEED_COUNT] = {
        {"mid", "Seed: the middle of the limits", "robot", columns, COLUMNS},
        {"rand", "Seed: uniform within the limits", "robot", columns, COLUMNS},
        {"near", "Seed: within 0.1 rad of a solution", "robot", columns, COLUMNS}};
    plan p = {.state = SEED, .count = bench_number(b, "--targets", 10000, 200)};
    p.peer_count = b->with_peers ? bench_number(b, "--peer-targets", 1000, 20) : 0;
    for (int kind = SEED_MID; kind < SEED_COUNT; ++kind) {
        if (bench_wants(b, tables[kind].name)) {
            report_begin_race(b->report, &tables[kind], &race);
            for (int i = 0; i < ROBOT_ARMS; ++i) {
                p.arm = &arms[i];
                p.kind = (seed_kind)kind;
                run_arm(b, &p, bench_number(b, "--rounds", 3, 1));
            }
        }
    }
}

static void run_unreachable(const bench *b, const arm *arms)
{
    static const report_table tables[2] = {
        {"far", "Targets 1.6 times as far, no restarts; solved: the search ends, and tells how", "robot", columns, COLUMNS},
        {"restarts", "The same with a tenth of the targets, the closest pose of 300 restarts", "robot", columns, COLUMNS}};
    for (int k = 0; k < 2; ++k) {
        if (bench_wants(b, tables[k].name)) {
            report_begin_race(b->report, &tables[k], &race);
            for (int i = 0; i < ROBOT_ARMS; ++i) {
                int targets = bench_number(b, "--targets", 2000, 50);
                plan p = {.arm = &arms[i], .count = k ? (targets + 9) / 10 : targets};
                run_far_arm(b, &p, k ? RESTARTS : 0);
            }
        }
    }
}

static void run_million(const bench *b, const arm *arms)
{
    static const report_table table = {"million", "A million targets from another random stream; seed uniform", "robot",
                                       columns, COLUMNS};
    report_begin_race(b->report, &table, &race);
    for (int i = 0; i < ROBOT_ARMS; ++i) {
        plan p = {.arm = &arms[i], .kind = SEED_RAND, .state = FRESH, .count = bench_number(b, "--targets", 1000000, 1000)};
        run_arm(b, &p, 1);
    }
}

void suite_arms(const bench *b)
{
    static arm arms[ROBOT_ARMS];
    arm_take_all(arms);
    report_note(
        b->report,
        "Within 1e-5 m and 1e-5 rad; %d targets, %d for baselines, whose times leave out the targets that they miss. With a "
        "table: starts from a table made with the solver.",
        bench_number(b, "--targets", 10000, 200), bench_number(b, "--peer-targets", 1000, 20));
    run_seeds(b, arms);
    run_unreachable(b, arms);
    if (bench_asks_for(b, "million")) {
        run_million(b, arms);
    }
    for (int i = 0; i < ROBOT_ARMS; ++i) {
        arm_free(&arms[i]);
    }
}
