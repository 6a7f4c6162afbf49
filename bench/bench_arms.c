// Robot arms, 6D pose: the protocol that the field uses, on arms described in chain files, against Orocos KDL where it is
// installed. One table for each kind of seed; --help says what can be asked for.
//
// Targets: forward kinematics of joint vectors uniform within the limits (+-pi without), from splitmix64 with the state
// 12345; each target's n numbers are followed by n for its seed. Seeds: the middle of the limits; uniform; the target's
// joints +- 0.1 rad. Success for Poise: position and angle within 1e-5 by the forward kinematics written here, limits held
// exactly, and a report that says so. KDL gets sqrt(3) 1e-5 and 1e-9 of the limits: LMA with 5 ms of restarts for the first
// two seeds, one call of NR_JL for the third. Times are of each call, the clock's own 0.2 us included.
#include "arm_task.h"
#include "bench.h"

#include <poise/poise.h>
#include <scenes/random.h>

#ifdef POISE_HAS_KDL
#include "peer_kdl.h"
#endif

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TOLERANCE 1e-5
#define SEED      12345
#define FRESH     987654321 // of the random stream of --million
#define PI        3.14159265358979323846

// ---- Judging -------------------------------------------------------------------------------------------------------------

static bool within_limits(const arm *a, const double *q, double slack)
{
    for (int i = 0; i < a->n; ++i) {
        const link *l = &a->links[i];
        if (!l->continuous && !(q[i] >= l->lower - slack && q[i] <= l->upper + slack)) {
            return false;
        }
    }
    return true;
}

static bool is_there(const arm *a, const frame *target, const double *q, double tolerance)
{
    double distance, angle;
    frame at = arm_forward(a, q);
    arm_errors(target, &at, &distance, &angle);
    return distance <= tolerance && angle <= tolerance;
}

// ---- Statistics ----------------------------------------------------------------------------------------------------------

typedef struct statistics {
    double *us; // one per call; sorted by `finish`
    int count, good;
    double iterations, searches;
    double mean;
} statistics;

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static statistics start_statistics(int count)
{
    return (statistics){.us = malloc((size_t)count * sizeof(double))};
}

static void finish(statistics *s)
{
    for (int i = 0; i < s->count; ++i) {
        s->mean += s->us[i] / s->count;
    }
    qsort(s->us, (size_t)s->count, sizeof *s->us, by_size);
}

// Keep the faster of two runs: what disturbed the other is no property of the solver.
static void keep_faster(statistics *best, statistics *s)
{
    if (best->us && best->mean <= s->mean) {
        free(s->us);
        return;
    }
    free(best->us);
    *best = *s;
}

static void print_head(const char *peer)
{
    printf("%-8s %8s %9s %8s %8s %8s %8s %6s %7s", "robot", "targets", "ok %", "mean us", "p50", "p99", "max", "iter.",
           "search");
    if (peer) {
        printf("   %8s %8s %8s", "KDL ok %", "mean us", peer);
    }
    printf("\n");
}

static void print_row(const arm *a, const statistics *s, const statistics *peer)
{
    printf("%-8s %8d %9.4f %8.2f %8.2f %8.1f %8.0f %6.2f %7.3f", a->name, s->count, 100.0 * s->good / s->count, s->mean,
           s->us[s->count / 2], s->us[(int)(0.99 * s->count)], s->us[s->count - 1], s->iterations / s->count,
           s->searches / s->count);
    if (peer->us) {
        printf("   %8.2f %8.1f %7.1fx", 100.0 * peer->good / peer->count, peer->mean, peer->mean / s->mean);
    }
    printf("\n");
    fflush(stdout);
}

// ---- Poise ---------------------------------------------------------------------------------------------------------------

typedef struct plan {
    int count, peer_count, rounds;
    bool million, unreachable, table;
    const char *folder;
} plan;

static poise_solver *make_solver(const arm *a, const plan *p, int restarts, int iterations)
{
    poise_solver_options options = poise_solver_options_default();
    options.position_tolerance = TOLERANCE;
    options.rotation_tolerance = TOLERANCE;
    options.restarts = restarts;
    options.max_iterations = iterations;
    options.seed_table = p->table;
    poise_solver *solver;
    if (poise_solver_create(a->model, &options, NULL, &solver) != POISE_OK) {
        fprintf(stderr, "%s: no solver\n", a->name);
        exit(2);
    }
    return solver;
}

// One call, timed.
static poise_report solve(poise_solver *solver, const arm *a, const frame *target, double *q, statistics *s)
{
    poise_goal goal = poise_goal_pose(a->n - 1, arm_pose_of(&a->tip), arm_pose_of(target));
    poise_report report;
    double start = bench_now();
    poise_status status = poise_solve(solver, &goal, 1, q, &report);
    s->us[s->count++] = 1e-3 * (bench_now() - start);
    if (status != POISE_OK) {
        fprintf(stderr, "%s: %s\n", a->name, poise_solver_error(solver));
        exit(2);
    }
    s->iterations += report.iterations;
    s->searches += report.restarts + 1;
    return report;
}

static statistics run_poise(const arm *a, const plan *p, seed_kind kind, uint64_t state)
{
    statistics s = start_statistics(p->count);
    poise_solver *solver = make_solver(a, p, 300, 100);
    scene_random random = scene_random_make(state);
    for (int i = 0; i < p->count; ++i) {
        double target[ARM_MOST], q[ARM_MOST];
        arm_draw(a, kind, &random, target, q);
        frame wanted = arm_forward(a, target);
        poise_report report = solve(solver, a, &wanted, q, &s);
        bool there = is_there(a, &wanted, q, TOLERANCE) && within_limits(a, q, 0.0);
        bool told = report.outcome == POISE_OUTCOME_REACHED;
        s.good += there && told;
        if (there != told) {
            printf("%s target %d: the report says %s, the check says otherwise\n", a->name, i,
                   poise_outcome_name(report.outcome));
        }
    }
    poise_solver_destroy(solver);
    finish(&s);
    return s;
}

// Targets drawn away from the base by 1.6. ok: the report says reached or closest. Without restarts one search and one
// minimisation from the seed; with them the closest pose of many.
static statistics run_unreachable(const arm *a, const plan *p, int restarts)
{
    statistics s = start_statistics(p->count);
    poise_solver *solver = make_solver(a, p, restarts, 500);
    scene_random random = scene_random_make(SEED);
    for (int i = 0; i < p->count; ++i) {
        double target[ARM_MOST], q[ARM_MOST];
        arm_draw(a, SEED_RAND, &random, target, q);
        frame wanted = arm_forward(a, target);
        for (int k = 0; k < 3; ++k) {
            wanted.p[k] *= 1.6;
        }
        poise_report report = solve(solver, a, &wanted, q, &s);
        s.good +=
            (report.outcome == POISE_OUTCOME_REACHED || report.outcome == POISE_OUTCOME_CLOSEST) && within_limits(a, q, 0.0);
    }
    poise_solver_destroy(solver);
    finish(&s);
    return s;
}

// ---- KDL -----------------------------------------------------------------------------------------------------------------

#ifdef POISE_HAS_KDL

#define PEER_LIMIT_US 5000.0
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
        if (!restarts || (ok && within_limits(a, q, 1e-9)) || 1e-3 * (bench_now() - start) >= PEER_LIMIT_US) {
            return;
        }
        for (int i = 0; i < a->n; ++i) {
            seed[i] = scene_random_range(random, a->links[i].lower, a->links[i].upper);
        }
    }
}

static statistics run_kdl(const arm *a, const plan *p, seed_kind kind)
{
    statistics s = start_statistics(p->peer_count);
    peer_kdl_method method = kind == SEED_NEAR ? PEER_KDL_NR_JL : PEER_KDL_LMA;
    peer_kdl *kdl = peer_kdl_create(a->model, a->n - 1, arm_pose_of(&a->tip));
    peer_kdl_use_inverse(kdl, a->model, TOLERANCE);
    scene_random random = scene_random_make(SEED), elsewhere = scene_random_make(SEED);
    for (int i = 0; i < p->peer_count; ++i) {
        double target[ARM_MOST], q[ARM_MOST];
        arm_draw(a, kind, &random, target, q);
        frame wanted = arm_forward(a, target);
        double start = bench_now();
        solve_kdl(kdl, a, method, kind != SEED_NEAR, &wanted, &elsewhere, q);
        double us = 1e-3 * (bench_now() - start);
        s.us[s.count++] = us;
        s.good += is_there(a, &wanted, q, PEER_BALL * TOLERANCE) && within_limits(a, q, 1e-9) && us <= 1.05 * PEER_LIMIT_US;
    }
    peer_kdl_destroy(kdl);
    finish(&s);
    return s;
}

static bool has_peer(const plan *p)
{
    return p->peer_count > 0;
}

#else

static statistics run_kdl(const arm *a, const plan *p, seed_kind kind)
{
    (void)a, (void)p, (void)kind;
    return (statistics){.us = NULL};
}

static bool has_peer(const plan *p)
{
    (void)p;
    return false;
}

#endif

// ---- Tables --------------------------------------------------------------------------------------------------------------

#define ARMS 7
static const char *const arm_names[ARMS] = {"panda", "iiwa14", "ur5", "jaco2", "gen3", "pr2", "baxter"};

// One row, by run number `round` of each solver in turn. True when Poise did all targets.
static bool run_row(const arm *a, const plan *p, seed_kind kind, uint64_t state, bool race)
{
    statistics own = {.us = NULL}, peer = {.us = NULL};
    for (int round = 0; round < p->rounds; ++round) {
        statistics s = run_poise(a, p, kind, state);
        keep_faster(&own, &s);
        if (race) {
            s = run_kdl(a, p, kind);
            keep_faster(&peer, &s);
        }
    }
    bool all = own.good == own.count;
    print_row(a, &own, &peer);
    free(own.us);
    free(peer.us);
    return all;
}

static bool print_seeds(const arm *arms, const plan *p)
{
    static const char *const seeds[SEED_COUNT] = {"the middle of the limits", "uniform within the limits",
                                                  "within 0.1 rad of a solution"};
    static const char *const ratios[SEED_COUNT] = {"LMA/", "LMA/", "NR_JL/"};
    bool all = true, race = has_peer(p);
    for (int kind = SEED_MID; kind < SEED_COUNT; ++kind) {
        printf("%sSeed: %s%s\n\n", kind ? "\n" : "", seeds[kind], p->table ? "; with the table of starts" : "");
        print_head(race ? ratios[kind] : NULL);
        for (int i = 0; i < ARMS; ++i) {
            all = run_row(&arms[i], p, (seed_kind)kind, SEED, race) && all;
        }
    }
    return all;
}

static bool print_million(const arm *arms, const plan *p)
{
    bool all = true;
    plan million = *p;
    million.count = 1000000;
    million.rounds = 1;
    printf("A million fresh targets, another random stream; seed uniform within the limits\n\n");
    print_head(NULL);
    for (int i = 0; i < ARMS; ++i) {
        all = run_row(&arms[i], &million, SEED_RAND, FRESH, false) && all;
    }
    return all;
}

static bool print_unreachable(const arm *arms, const plan *p)
{
    static const int restarts[] = {0, 300};
    bool all = true;
    for (int k = 0; k < 2; ++k) {
        printf("%sTargets 1.6 times as far, seed uniform, %d restarts; ok: reached or closest\n\n", k ? "\n" : "",
               restarts[k]);
        print_head(NULL);
        for (int i = 0; i < ARMS; ++i) {
            statistics s = run_unreachable(&arms[i], p, restarts[k]), none = {.us = NULL};
            print_row(&arms[i], &s, &none);
            all = all && s.good == s.count;
            free(s.us);
        }
    }
    return all;
}

// ---- Main ----------------------------------------------------------------------------------------------------------------

static const char help[] =
    "bench_arms [options] [FOLDER]\n"
    "\n"
    "Inverse kinematics of seven robot arms, 6D pose within 1e-5 m and 1e-5 rad: success and time of each call.\n"
    "FOLDER holds panda.chain and so on; default ../shared/chains.\n"
    "\n"
    "  --targets N     targets for Poise (10000)\n"
    "  --peers N       targets for KDL (1000); 0: without it\n"
    "  --rounds N      run each solver N times in turn and keep its fastest run (1)\n"
    "  --quick         500 targets, 100 for KDL\n"
    "  --table         Poise with options.seed_table\n"
    "  --million       instead: a million targets from another random stream, without KDL\n"
    "  --unreachable   instead: targets out of reach\n"
    "\n"
    "Columns: ok %, then mean, median, 99th percentile and longest time in us, iterations and searches per target; KDL's\n"
    "success and mean; its mean over Poise's. Exit status: 0 when Poise solved every target, 1 when not, 2 for bad usage.\n";

// The number after an option, at least `least`; -1 when there is none.
static int number_after(int argc, char **argv, int i, int least)
{
    char *end = NULL;
    long number = i + 1 < argc ? strtol(argv[i + 1], &end, 10) : -1;
    return end && *end == '\0' && number >= least && number <= 100000000 ? (int)number : -1;
}

// False when an argument makes no sense.
static bool read_plan(int argc, char **argv, plan *p)
{
    *p = (plan){.count = 10000, .peer_count = 1000, .rounds = 1, .folder = "../shared/chains"};
    for (int i = 1; i < argc; ++i) {
        const char *word = argv[i];
        int *number = strcmp(word, "--targets") == 0  ? &p->count
                      : strcmp(word, "--peers") == 0  ? &p->peer_count
                      : strcmp(word, "--rounds") == 0 ? &p->rounds
                                                      : NULL;
        bool *flag = strcmp(word, "--million") == 0       ? &p->million
                     : strcmp(word, "--unreachable") == 0 ? &p->unreachable
                     : strcmp(word, "--table") == 0       ? &p->table
                                                          : NULL;
        if (number) {
            *number = number_after(argc, argv, i++, number == &p->peer_count ? 0 : 1);
            if (*number < 0) {
                return false;
            }
        } else if (flag) {
            *flag = true;
        } else if (strcmp(word, "--quick") == 0) {
            p->count = 500;
            p->peer_count = 100;
        } else if (word[0] == '-') {
            return false;
        } else {
            p->folder = word;
        }
    }
    return true;
}

int main(int argc, char **argv)
{
    plan p;
    if (argc == 2 && strcmp(argv[1], "--help") == 0) {
        fputs(help, stdout);
        return 0;
    }
    if (!read_plan(argc, argv, &p)) {
        fputs(help, stderr);
        return 2;
    }
    static arm arms[ARMS];
    for (int i = 0; i < ARMS; ++i) {
        if (!arm_read(p.folder, arm_names[i], &arms[i])) {
            return 2;
        }
    }
    bench_print_machine();
    bool all = p.million ? print_million(arms, &p) : p.unreachable ? print_unreachable(arms, &p) : print_seeds(arms, &p);
    for (int i = 0; i < ARMS; ++i) {
        poise_model_destroy(arms[i].model);
    }
    if (!all) {
        printf("\nPoise missed targets.\n");
    }
    return all ? 0 : 1;
}
