// Control steps at 1000 Hz: a robot follows poses that move, one call of poise_step a tick, within limits of velocity,
// acceleration and position.
//
// The poses are those of a motion of the joints, sums of two sines of each about the middle of its range, slow enough for
// the limits: so they can be followed, and the error that is left is that of one tick's lag. KDL's row is a call of its
// velocity solver (damped least squares) with the twist to the same pose, which knows no limits.
#include "bench/arm_task.h"
#include "bench/tips_task.h"

#ifdef POISE_HAS_KDL
#include "bench/peer_kdl.h"
#endif

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define RATE         1000.0
#define VELOCITY     2.0
#define ACCELERATION 40.0
#define MOST         256 // numbers of a configuration
#define MOST_POSES   5

typedef struct task {
    const char *name;
    const poise_model *model;
    int nq, nv, count;
    int body[MOST_POSES];
    poise_pose tip[MOST_POSES];
    double middle[MOST], velocity[MOST], acceleration[MOST];
    poise_kinematics *kinematics;
} task;

// ---- The motion ----------------------------------------------------------------------------------------------------------

static void target_at(task *t, double seconds, double *q)
{
    double way[MOST];
    for (int i = 0; i < t->nv; ++i) {
        double s, c, slow = 0.4 + 0.07 * (i % 11);
        poise_sincos(slow * seconds + i, &s, &c);
        way[i] = 0.2 * s + 0.1 * c * s;
    }
    if (poise_retract(t->model, t->middle, way, q, NULL) != POISE_OK ||
        poise_model_clamp(t->model, q, NULL, NULL) != POISE_OK ||
        poise_kinematics_update(t->kinematics, q, NULL) != POISE_OK) {
        bench_fail("%s: no motion", t->name);
    }
}

static poise_pose pose_of(const task *t, int i)
{
    return poise_pose_multiply(poise_kinematics_body_pose(t->kinematics, t->body[i]), t->tip[i]);
}

static task make_task(const char *name, const poise_model *model)
{
    task t = {.name = name, .model = model, .nq = poise_model_info(model).nq, .nv = poise_model_info(model).nv};
    if (t.nq > MOST || poise_kinematics_create(model, NULL, &t.kinematics, NULL) != POISE_OK) {
        bench_fail("%s: too large", name);
    }
    poise_model_neutral(model, t.middle);
    for (int i = 0; i < t.nq; ++i) {
        double lower = poise_model_info(model).lower[i], upper = poise_model_info(model).upper[i];
        t.middle[i] = isfinite(lower + upper) ? 0.5 * (lower + upper) : t.middle[i];
    }
    poise_model_clamp(model, t.middle, NULL, NULL);
    for (int i = 0; i < t.nv; ++i) {
        t.velocity[i] = VELOCITY;
        t.acceleration[i] = ACCELERATION;
    }
    return t;
}

// ---- Rows ----------------------------------------------------------------------------------------------------------------

// What came of a run.
typedef struct tally {
    int count;
    double error, fastest, hardest; // mean distance in metres; largest velocity and acceleration
    int outside;
    bench_times times;
} tally;

static void note(const task *t, const double *q, const double *v, const double *before, tally *out)
{
    double there[MOST_POSES * 3];
    for (int i = 0; i < t->count; ++i) { // the targets, before the kinematics moves on to q
        poise_vec3 p = pose_of(t, i).position;
        there[3 * i] = p.x, there[3 * i + 1] = p.y, there[3 * i + 2] = p.z;
    }
    poise_kinematics_update(t->kinematics, q, NULL);
    for (int i = 0; i < t->count; ++i) {
        poise_vec3 p = pose_of(t, i).position;
        double x = p.x - there[3 * i], y = p.y - there[3 * i + 1], z = p.z - there[3 * i + 2];
        out->error += sqrt(x * x + y * y + z * z) / t->count;
    }
    for (int i = 0; i < t->nv; ++i) {
        out->fastest = fmax(out->fastest, fabs(v[i]));
        out->hardest = fmax(out->hardest, fabs(v[i] - before[i]) * RATE);
    }
    out->outside += !poise_model_within_limits(t->model, q);
    out->count += 1;
}

static tally run_poise(task *t, int ticks)
{
    double q[MOST], v[MOST] = {0}, before[MOST], there[MOST], *us = bench_take((size_t)ticks, sizeof *us);
    poise_solver_options options = poise_solver_options_default();
    poise_solver *solver = NULL;
    poise_step_options limits = {.velocity = t->velocity, .acceleration = t->acceleration, .gain = 1.0};
    tally out = {.count = 0};
    if (poise_solver_create(t->model, &options, NULL, &solver, NULL) != POISE_OK) {
        bench_fail("%s: no solver", t->name);
    }
    target_at(t, 0.0, q);
    for (int n = 0; n < ticks; ++n) {
        poise_goal goals[MOST_POSES + 1];
        target_at(t, n / RATE, there);
        for (int i = 0; i < t->count; ++i) {
            goals[i] = poise_goal_pose(t->body[i], t->tip[i], pose_of(t, i));
        }
        goals[t->count] = poise_goal_posture(t->middle, 1e-4);
        memcpy(before, v, sizeof before);
        double begin = bench_now();
        poise_status status = poise_step(solver, goals, t->count + 1, 1.0 / RATE, &limits, q, v, NULL, NULL);
        us[n] = 1e-3 * (bench_now() - begin);
        if (status != POISE_OK) {
            bench_fail("%s: no step", t->name);
        }
        note(t, q, v, before, &out);
    }
    out.times = bench_times_of(us, ticks);
    poise_solver_destroy(solver);
    free(us);
    return out;
}

#ifdef POISE_HAS_KDL

static tally run_kdl(task *t, int ticks)
{
    double q[MOST], v[MOST] = {0}, before[MOST], there[MOST], *us = bench_take((size_t)ticks, sizeof *us);
    peer_kdl *kdl = peer_kdl_create(t->model, t->body[0], t->tip[0]);
    tally out = {.count = 0};
    target_at(t, 0.0, q);
    for (int n = 0; n < ticks; ++n) {
        target_at(t, n / RATE, there);
        poise_pose pose = pose_of(t, 0);
        memcpy(before, v, sizeof before);
        double begin = bench_now();
        peer_kdl_step(kdl, q, pose, 1.0 / RATE, v);
        for (int i = 0; i < t->nv; ++i) {
            q[i] += v[i] / RATE;
        }
        us[n] = 1e-3 * (bench_now() - begin);
        note(t, q, v, before, &out);
    }
    out.times = bench_times_of(us, ticks);
    peer_kdl_destroy(kdl);
    free(us);
    return out;
}

#endif

static void put_row(const bench *b, const task *t, const char *solver, const tally *y)
{
    report_row(b->report, t->name, solver,
               REPORT_VALUES(t->nv, t->count, 1e3 * y->error / y->count, y->fastest, y->hardest, y->outside, y->times.mean,
                             y->times.p50, y->times.p99, y->times.most));
}

static void run_task(const bench *b, task *t, bool has_peer)
{
    int ticks = (int)RATE * bench_number(b, "--seconds", 10, 1);
    bench_progress(b, t->name);
    tally y = run_poise(t, ticks);
    put_row(b, t, "poise", &y);
    report_promise(b->report, y.outside == 0, "%s: %d poses outside the limits", t->name, y.outside);
    report_promise(b->report, y.fastest <= VELOCITY, "%s: a joint at %g a second", t->name, y.fastest);
    report_promise(b->report, y.hardest <= ACCELERATION * (1.0 + 1e-9), "%s: an acceleration of %g", t->name, y.hardest);
#ifdef POISE_HAS_KDL
    if (has_peer && b->with_peers) {
        y = run_kdl(t, ticks);
        put_row(b, t, "KDL wdls", &y);
    }
#else
    (void)has_peer;
#endif
    poise_kinematics_destroy(t->kinematics);
}

// ---- Robots --------------------------------------------------------------------------------------------------------------

static void run_arm(const bench *b)
{
    arm a;
    arm_take("panda", &a);
    task t = make_task(a.name, a.model);
    t.count = 1;
    t.body[0] = a.n - 1;
    t.tip[0] = arm_pose_of(&a.tip);
    run_task(b, &t, true);
    arm_free(&a);
}

// A humanoid with a free root: its pelvis, hands and feet.
static void run_humanoid(const bench *b, const tips_row *row)
{
    tips_task robot;
    if (!tips_open(b, row, &robot)) {
        return;
    }
    task t = make_task(row->name, robot.model);
    t.count = robot.count;
    for (int i = 0; i < t.count; ++i) {
        t.body[i] = robot.bodies[i];
        t.tip[i] = robot.locals[i];
    }
    run_task(b, &t, false);
    tips_close(&robot);
}

void suite_steps(const bench *b)
{
    static const report_column columns[] = {
        {"dofs", "dofs", 0, REPORT_FIXED, false},           {"poses", "poses", 0, REPORT_FIXED, false},
        {"error_mm", "lag mm", 2, REPORT_FIXED, false},     {"fastest", "fastest /s", 2, REPORT_FIXED, false},
        {"hardest", "hardest /s2", 1, REPORT_FIXED, false}, {"outside", "outside", 0, REPORT_FIXED, false},
        {"us_mean", "us mean", 1, REPORT_FIXED, false},     {"us_p50", "us p50", 1, REPORT_FIXED, false},
        {"us_p99", "us p99", 1, REPORT_FIXED, false},       {"us_max", "us max", 0, REPORT_FIXED, false}};
    static const report_table table = {"poses",
                                       "Following poses that move, a call a tick, limits 2 a second and 40 a second squared",
                                       "robot", columns, 10};
    static const tips_row humanoids[] = {
        {"android F", "android", NULL, true, false, {"pelvis", "left_palm", "right_palm", "left_sole", "right_sole"}},
        {"humanoid", "humanoid", NULL, false, false, {"pelvis", "left_palm", "right_palm", "left_sole", "right_sole"}},
        {"G1 F",
         NULL,
         "urdf/g1_29dof_rev_1_0.urdf",
         true,
         false,
         {"pelvis", "left_wrist_yaw_link", "right_wrist_yaw_link", "left_ankle_roll_link", "right_ankle_roll_link"}},
    };
    report_begin_table(b->report, &table);
    run_arm(b);
    for (size_t i = 0; i < sizeof humanoids / sizeof humanoids[0]; ++i) {
        run_humanoid(b, &humanoids[i]);
    }
}
