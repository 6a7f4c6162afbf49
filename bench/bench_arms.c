// Robot arms, 6D pose: the protocol that the field uses, on arms described in chain files, against Orocos KDL where it is
// installed.
//
//   bench_arms [-n COUNT] [-k COUNT] [--million] [--unreachable] [--table] [FOLDER]
//
// FOLDER holds panda.chain and so on (default ../shared/chains). Targets: forward kinematics of joint vectors uniform within
// the limits (+-pi without), from splitmix64 with the state 12345; each target's n numbers are followed by n for its seed.
// Seeds: the middle of the limits; uniform; the target's joints +- 0.1 rad. Success for Poise: position and angle within
// 1e-5 by the forward kinematics written here, limits held exactly. KDL gets sqrt(3) 1e-5 and 1e-9 of the limits, and 5 ms
// of restarts. Times are of each call, the clock's own 0.2 us included. -n: targets for Poise (10000), -k: for KDL (1000).
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

#define MOST      16
#define TOLERANCE 1e-5
#define SEED      12345
#define PI        3.14159265358979323846

// ---- Arms ----------------------------------------------------------------------------------------------------------------

typedef struct frame {
    double R[9], p[3]; // R row-major
} frame;

typedef struct link {
    char name[64];
    bool slides, continuous;
    frame offset;
    double axis[3], lower, upper;
} link;

typedef struct arm {
    char name[64];
    int n;
    link links[MOST];
    frame tip;
    poise_model *model;
} arm;

static frame multiply(const frame *a, const frame *b)
{
    frame c;
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
            c.R[3 * i + j] = a->R[3 * i] * b->R[j] + a->R[3 * i + 1] * b->R[3 + j] + a->R[3 * i + 2] * b->R[6 + j];
        }
        c.p[i] = a->p[i] + a->R[3 * i] * b->p[0] + a->R[3 * i + 1] * b->p[1] + a->R[3 * i + 2] * b->p[2];
    }
    return c;
}

// The motion of a joint: a slide, or Rodrigues' formula.
static frame motion(const link *l, double q)
{
    const double *a = l->axis;
    if (l->slides) {
        return (frame){{1, 0, 0, 0, 1, 0, 0, 0, 1}, {a[0] * q, a[1] * q, a[2] * q}};
    }
    double s = sin(q), c = cos(q), v = 1 - c;
    return (frame){{c + a[0] * a[0] * v, a[0] * a[1] * v - a[2] * s, a[0] * a[2] * v + a[1] * s, a[1] * a[0] * v + a[2] * s,
                    c + a[1] * a[1] * v, a[1] * a[2] * v - a[0] * s, a[2] * a[0] * v - a[1] * s, a[2] * a[1] * v + a[0] * s,
                    c + a[2] * a[2] * v},
                   {0, 0, 0}};
}

static frame forward(const arm *a, const double *q)
{
    frame at = {{1, 0, 0, 0, 1, 0, 0, 0, 1}, {0, 0, 0}};
    for (int i = 0; i < a->n; ++i) {
        frame moved = motion(&a->links[i], q[i]);
        at = multiply(&at, &a->links[i].offset);
        at = multiply(&at, &moved);
    }
    return multiply(&at, &a->tip);
}

// Distance, and angle by its sine (from the antisymmetric part of A^T B) and cosine.
static void errors(const frame *a, const frame *b, double *distance, double *angle)
{
    double d[3] = {b->p[0] - a->p[0], b->p[1] - a->p[1], b->p[2] - a->p[2]}, M[9];
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
            M[3 * i + j] = a->R[i] * b->R[j] + a->R[3 + i] * b->R[3 + j] + a->R[6 + i] * b->R[6 + j];
        }
    }
    double x = M[7] - M[5], y = M[2] - M[6], z = M[3] - M[1];
    *distance = sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
    *angle = atan2(sqrt(x * x + y * y + z * z), M[0] + M[4] + M[8] - 1);
}

static poise_pose pose_of(const frame *f)
{
    return (poise_pose){poise_quat_from_matrix(f->R), {f->p[0], f->p[1], f->p[2]}};
}

// ---- Chain files ---------------------------------------------------------------------------------------------------------

// `count` numbers from the text; returns what follows, or NULL.
static const char *read_numbers(const char *text, double *numbers, int count)
{
    for (int i = 0; i < count; ++i) {
        char *end;
        numbers[i] = strtod(text, &end);
        if (end == text) {
            return NULL;
        }
        text = end;
    }
    return text;
}

static const char *read_frame(const char *text, frame *f)
{
    text = read_numbers(text, f->p, 3);
    return text ? read_numbers(text, f->R, 9) : NULL;
}

// One line: "joint name type p(3) R(9) axis(3) lower upper", "tip p(3) R(9)", or "chain name n".
static bool read_line(const char *line, arm *a)
{
    char word[16], name[64], type[16];
    int used = 0;
    if (sscanf(line, "%15s%n", word, &used) != 1) {
        return true;
    }
    if (strcmp(word, "chain") == 0) {
        return sscanf(line + used, "%63s", a->name) == 1;
    }
    if (strcmp(word, "tip") == 0) {
        return read_frame(line + used, &a->tip) != NULL;
    }
    int more = 0;
    if (strcmp(word, "joint") != 0 || a->n == MOST || sscanf(line + used, "%63s %15s%n", name, type, &more) != 2) {
        return false;
    }
    link *l = &a->links[a->n++];
    memcpy(l->name, name, sizeof name);
    l->slides = strcmp(type, "prismatic") == 0;
    l->continuous = strcmp(type, "continuous") == 0;
    const char *text = read_frame(line + used + more, &l->offset);
    text = text ? read_numbers(text, l->axis, 3) : NULL;
    text = text ? read_numbers(text, &l->lower, 1) : NULL;
    return text && read_numbers(text, &l->upper, 1);
}

static bool make_model(arm *a)
{
    poise_builder *builder;
    poise_error error = {.text = ""};
    if (poise_builder_create(NULL, &builder) != POISE_OK) {
        return false;
    }
    poise_status status = POISE_OK;
    for (int i = 0; i < a->n && status == POISE_OK; ++i) {
        const link *l = &a->links[i];
        poise_joint joint = poise_joint_default();
        joint.name = l->name;
        joint.parent = i ? a->links[i - 1].name : NULL;
        joint.type = l->slides ? POISE_JOINT_PRISMATIC : POISE_JOINT_REVOLUTE;
        joint.offset = pose_of(&l->offset);
        joint.axis = poise_vec3_make(l->axis[0], l->axis[1], l->axis[2]);
        joint.lower[0] = l->continuous ? -INFINITY : l->lower;
        joint.upper[0] = l->continuous ? INFINITY : l->upper;
        status = poise_builder_add_joint(builder, &joint, &error);
    }
    status = status == POISE_OK ? poise_model_create(builder, NULL, &a->model, &error) : status;
    poise_builder_destroy(builder);
    if (status != POISE_OK) {
        fprintf(stderr, "%s: %s\n", a->name, error.text);
    }
    return status == POISE_OK;
}

static bool read_arm(const char *folder, const char *name, arm *a)
{
    char path[1024], line[4096];
    snprintf(path, sizeof path, "%s/%s.chain", folder, name);
    FILE *file = fopen(path, "r");
    *a = (arm){.n = 0};
    bool ok = file != NULL;
    while (ok && fgets(line, sizeof line, file)) {
        ok = read_line(line, a);
    }
    if (file) {
        fclose(file);
    }
    if (!ok || a->n == 0) {
        fprintf(stderr, "cannot read %s\n", path);
        return false;
    }
    return make_model(a);
}

// ---- Targets and seeds ---------------------------------------------------------------------------------------------------

typedef enum seed_kind { SEED_MID = 0, SEED_RAND, SEED_NEAR, SEED_COUNT } seed_kind;
static const char *const seed_names[SEED_COUNT] = {"mid", "rand", "near"};

static double between(scene_random *random, double low, double high)
{
    return low + (high - low) * scene_random_uniform(random);
}

static void draw(const arm *a, seed_kind kind, scene_random *random, double *target, double *seed)
{
    for (int i = 0; i < a->n; ++i) {
        target[i] = between(random, a->links[i].lower, a->links[i].upper);
    }
    for (int i = 0; i < a->n; ++i) {
        double u = scene_random_uniform(random), low = a->links[i].lower, high = a->links[i].upper;
        seed[i] = kind == SEED_MID    ? 0.5 * (low + high)
                  : kind == SEED_RAND ? low + (high - low) * u
                                      : target[i] + 0.1 * (2 * u - 1);
        if (kind == SEED_NEAR && !a->links[i].continuous) {
            seed[i] = fmin(high, fmax(low, seed[i]));
        }
    }
}

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
    frame at = forward(a, q);
    errors(target, &at, &distance, &angle);
    return distance <= tolerance && angle <= tolerance;
}

// ---- Statistics ----------------------------------------------------------------------------------------------------------

typedef struct statistics {
    double *us; // one per call
    int count, good;
    double iterations, searches;
} statistics;

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double mean_of(const statistics *s)
{
    double sum = 0;
    for (int i = 0; i < s->count; ++i) {
        sum += s->us[i];
    }
    return sum / s->count;
}

static void print_head(void)
{
    printf("%-8s %-5s %-16s %8s %9s %9s %9s %9s %9s %6s %6s\n", "arm", "seed", "solver", "N", "ok %", "mean us", "median",
           "p99", "max", "iter.", "search");
}

static void print_row(const arm *a, const char *seed, const char *solver, statistics *s)
{
    qsort(s->us, (size_t)s->count, sizeof *s->us, by_size);
    printf("%-8s %-5s %-16s %8d %9.4f %9.2f %9.2f %9.1f %9.0f", a->name, seed, solver, s->count, 100.0 * s->good / s->count,
           mean_of(s), s->us[s->count / 2], s->us[(int)(0.99 * s->count)], s->us[s->count - 1]);
    if (s->iterations > 0) {
        printf(" %6.2f %6.3f", s->iterations / s->count, s->searches / s->count);
    }
    printf("\n");
}

// ---- Poise ---------------------------------------------------------------------------------------------------------------

typedef struct plan {
    int count, peer_count;
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
    poise_goal goal = poise_goal_pose(a->n - 1, pose_of(&a->tip), pose_of(target));
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

// Returns the mean time.
static double run_poise(const arm *a, const plan *p, seed_kind kind, int count, uint64_t state)
{
    statistics s = {.us = malloc((size_t)count * sizeof(double))};
    poise_solver *solver = make_solver(a, p, 300, 100);
    scene_random random = scene_random_make(state);
    for (int i = 0; i < count; ++i) {
        double target[MOST], q[MOST];
        draw(a, kind, &random, target, q);
        frame wanted = forward(a, target);
        poise_report report = solve(solver, a, &wanted, q, &s);
        bool good = is_there(a, &wanted, q, TOLERANCE) && within_limits(a, q, 0.0);
        s.good += good;
        if (good != (report.outcome == POISE_OUTCOME_REACHED)) {
            printf("%s target %d: the report says %s, the check says otherwise\n", a->name, i,
                   poise_outcome_name(report.outcome));
        }
    }
    print_row(a, seed_names[kind], p->table ? "poise, table" : "poise", &s);
    double mean = mean_of(&s);
    poise_solver_destroy(solver);
    free(s.us);
    return mean;
}

// Targets drawn away from the base by 1.6. ok: the report says reached or closest. Without restarts one search and one
// minimisation from the seed; with them the closest pose of many.
static void run_unreachable(const arm *a, const plan *p, int restarts, int count)
{
    statistics s = {.us = malloc((size_t)count * sizeof(double))};
    poise_solver *solver = make_solver(a, p, restarts, 500);
    scene_random random = scene_random_make(SEED);
    for (int i = 0; i < count; ++i) {
        double target[MOST], q[MOST];
        draw(a, SEED_RAND, &random, target, q);
        frame wanted = forward(a, target);
        for (int k = 0; k < 3; ++k) {
            wanted.p[k] *= 1.6;
        }
        poise_report report = solve(solver, a, &wanted, q, &s);
        s.good +=
            (report.outcome == POISE_OUTCOME_REACHED || report.outcome == POISE_OUTCOME_CLOSEST) && within_limits(a, q, 0.0);
    }
    print_row(a, "rand", restarts ? "poise, 300" : "poise, local", &s);
    poise_solver_destroy(solver);
    free(s.us);
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
    double seed[MOST], start = bench_now();
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
            seed[i] = between(random, a->links[i].lower, a->links[i].upper);
        }
    }
}

static double run_kdl(const arm *a, seed_kind kind, int count, peer_kdl_method method, bool restarts, const char *name)
{
    statistics s = {.us = malloc((size_t)count * sizeof(double))};
    peer_kdl *kdl = peer_kdl_create(a->model, a->n - 1, pose_of(&a->tip));
    peer_kdl_use_inverse(kdl, a->model, TOLERANCE);
    scene_random random = scene_random_make(SEED), elsewhere = scene_random_make(SEED);
    for (int i = 0; i < count; ++i) {
        double target[MOST], q[MOST];
        draw(a, kind, &random, target, q);
        frame wanted = forward(a, target);
        double start = bench_now();
        solve_kdl(kdl, a, method, restarts, &wanted, &elsewhere, q);
        double us = 1e-3 * (bench_now() - start);
        s.us[s.count++] = us;
        s.good += is_there(a, &wanted, q, PEER_BALL * TOLERANCE) && within_limits(a, q, 1e-9) && us <= 1.05 * PEER_LIMIT_US;
    }
    print_row(a, seed_names[kind], name, &s);
    double mean = mean_of(&s);
    peer_kdl_destroy(kdl);
    free(s.us);
    return mean;
}

static void race_kdl(const arm *a, seed_kind kind, int count, double poise_mean)
{
    double lma = kind == SEED_NEAR ? run_kdl(a, kind, count, PEER_KDL_LMA, false, "KDL LMA, once")
                                   : run_kdl(a, kind, count, PEER_KDL_LMA, true, "KDL LMA");
    double jl = kind == SEED_NEAR ? run_kdl(a, kind, count, PEER_KDL_NR_JL, false, "KDL NR_JL, once")
                                  : run_kdl(a, kind, count, PEER_KDL_NR_JL, true, "KDL NR_JL");
    printf("%-8s %-5s %-16s LMA %.1fx, NR_JL %.1fx the time\n", a->name, seed_names[kind], "", lma / poise_mean,
           jl / poise_mean);
}

#endif

// ---- Main ----------------------------------------------------------------------------------------------------------------

static plan read_plan(int argc, char **argv)
{
    plan p = {.count = 10000, .peer_count = 1000, .folder = "../shared/chains"};
    for (int i = 1; i < argc; ++i) {
        if (strcmp(argv[i], "-n") == 0 && i + 1 < argc) {
            p.count = atoi(argv[++i]);
        } else if (strcmp(argv[i], "-k") == 0 && i + 1 < argc) {
            p.peer_count = atoi(argv[++i]);
        } else if (strcmp(argv[i], "--million") == 0) {
            p.million = true;
        } else if (strcmp(argv[i], "--unreachable") == 0) {
            p.unreachable = true;
        } else if (strcmp(argv[i], "--table") == 0) {
            p.table = true;
        } else {
            p.folder = argv[i];
        }
    }
    return p;
}

static void run_arm(const arm *a, const plan *p)
{
    if (p->million) {
        run_poise(a, p, SEED_RAND, 1000000, 987654321);
        return;
    }
    if (p->unreachable) {
        run_unreachable(a, p, 0, p->count);
        run_unreachable(a, p, 300, p->count);
        return;
    }
    for (int kind = SEED_MID; kind < SEED_COUNT; ++kind) {
        double mean = run_poise(a, p, (seed_kind)kind, p->count, SEED);
#ifdef POISE_HAS_KDL
        if (p->peer_count > 0) {
            race_kdl(a, (seed_kind)kind, p->peer_count, mean);
        }
#else
        (void)mean;
#endif
    }
}

int main(int argc, char **argv)
{
    static const char *const names[] = {"panda", "iiwa14", "ur5", "jaco2", "gen3", "pr2", "baxter"};
    plan p = read_plan(argc, argv);
    if (p.count < 1) {
        fprintf(stderr, "-n needs a number above 0\n");
        return 2;
    }
    bench_print_machine();
    printf("Arms, 6D pose: success and time of each call, CPU time of the thread\n\n");
    print_head();
    for (size_t i = 0; i < sizeof names / sizeof names[0]; ++i) {
        arm a;
        if (!read_arm(p.folder, names[i], &a)) {
            return 2;
        }
        run_arm(&a, &p);
        poise_model_destroy(a.model);
        fflush(stdout);
    }
    return 0;
}
