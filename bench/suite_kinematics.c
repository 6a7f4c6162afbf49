// Forward kinematics and Jacobian of robot arms, against Orocos KDL: the tip's frame, and with it its 6 x n Jacobian.
//
// The error is the largest entry by which the tip's frame, and for a baseline also its Jacobian, is off: from a forward
// kinematics written for the benchmark, and from Poise's Jacobian.
#include "arm_task.h"
#include "suite.h"

#ifdef POISE_HAS_KDL
#include "peer_kdl.h"
#endif

#include <math.h>

#define POSES 256
#define EXACT 1e-12 // metres, or of a rotation's entries: lengths of a metre, a handful of roundings a joint

typedef struct work {
    const arm *arm;
    poise_kinematics *kinematics;
    poise_pose tip;
    double poses[POSES][ARM_MOST];
    double rotation[9], position[3], J[6 * ARM_MOST];
#ifdef POISE_HAS_KDL
    peer_kdl *kdl;
#endif
} work;

static void poise_forward(void *user, int round)
{
    work *w = user;
    poise_kinematics_update(w->kinematics, w->poses[round % POSES], NULL);
    poise_kinematics_body_frame(w->kinematics, w->arm->n - 1, w->rotation, w->position);
    poise_vec3 p = poise_kinematics_point(w->kinematics, w->arm->n - 1, w->tip.position);
    bench_use(p.x + w->rotation[0]);
}

static void poise_jacobian(void *user, int round)
{
    work *w = user;
    poise_kinematics_update(w->kinematics, w->poses[round % POSES], NULL);
    poise_kinematics_jacobian(w->kinematics, w->arm->n - 1, w->tip.position, w->J, w->J + 3 * w->arm->n, NULL);
    bench_use(w->J[0]);
}

static double off(const frame *a, const frame *b)
{
    double worst = 0.0;
    for (int i = 0; i < 9; ++i) {
        worst = fmax(worst, fabs(a->R[i] - b->R[i]));
    }
    for (int i = 0; i < 3; ++i) {
        worst = fmax(worst, fabs(a->p[i] - b->p[i]));
    }
    return worst;
}

static double poise_error_of(work *w)
{
    double worst = 0.0;
    for (int pose = 0; pose < POSES; ++pose) {
        frame wanted = arm_forward(w->arm, w->poses[pose]), at;
        poise_kinematics_update(w->kinematics, w->poses[pose], NULL);
        poise_pose tip = poise_pose_multiply(poise_kinematics_body_pose(w->kinematics, w->arm->n - 1), w->tip);
        poise_quat_to_matrix(tip.rotation, at.R);
        at.p[0] = tip.position.x, at.p[1] = tip.position.y, at.p[2] = tip.position.z;
        worst = fmax(worst, off(&wanted, &at));
    }
    return worst;
}

#ifdef POISE_HAS_KDL
static void kdl_forward(void *user, int round)
{
    work *w = user;
    peer_kdl_forward(w->kdl, w->poses[round % POSES], w->rotation, w->position);
    bench_use(w->position[0]);
}

static void kdl_jacobian(void *user, int round)
{
    work *w = user;
    peer_kdl_jacobian(w->kdl, w->poses[round % POSES], w->J);
    bench_use(w->J[0]);
}

static double kdl_error_of(work *w)
{
    double worst = 0.0, J[6 * ARM_MOST];
    for (int pose = 0; pose < POSES; ++pose) {
        frame wanted = arm_forward(w->arm, w->poses[pose]), at;
        peer_kdl_forward(w->kdl, w->poses[pose], at.R, at.p);
        worst = fmax(worst, off(&wanted, &at));
        poise_jacobian(w, pose);
        for (int i = 0; i < 6 * w->arm->n; ++i) {
            J[i] = w->J[i];
        }
        kdl_jacobian(w, pose);
        for (int i = 0; i < 6 * w->arm->n; ++i) {
            worst = fmax(worst, fabs(J[i] - w->J[i]));
        }
    }
    return worst;
}
#endif

static void run_arm(const bench *b, const arm *a)
{
    static work w;
    scene_random random = scene_random_make(11);
    double ns[4];
    bench_progress(b, a->name);
    w = (work){.arm = a, .tip = arm_pose_of(&a->tip)};
    if (poise_kinematics_create(a->model, NULL, &w.kinematics, NULL) != POISE_OK) {
        bench_fail("%s: no kinematics", a->name);
    }
    for (int i = 0; i < POSES; ++i) {
        scene_random_configuration(&random, a->model, w.poses[i]);
    }
    bench_work works[4] = {poise_forward, poise_jacobian, NULL, NULL};
    void *const users[4] = {&w, &w, &w, &w};
    int count = 2;
#ifdef POISE_HAS_KDL
    if (b->with_peers) {
        w.kdl = peer_kdl_create(a->model, a->n - 1, w.tip);
        works[2] = kdl_forward, works[3] = kdl_jacobian;
        count = 4;
    }
#endif
    double error = poise_error_of(&w);
    bench_race(works, users, count, ns);
    report_row(b->report, a->name, "poise", REPORT_VALUES(a->n, error, ns[0], ns[1]));
    report_promise(b->report, error <= EXACT, "%s: off by %.1e", a->name, error);
#ifdef POISE_HAS_KDL
    if (b->with_peers) {
        report_row(b->report, a->name, "KDL", REPORT_VALUES(a->n, kdl_error_of(&w), ns[2], ns[3]));
        peer_kdl_destroy(w.kdl);
    }
#endif
    poise_kinematics_destroy(w.kinematics);
}

void suite_kinematics(const bench *b)
{
    static const report_column columns[] = {
        {"dofs", "dofs", 0, REPORT_FIXED, false},           {"error", "error m", 0, REPORT_FIGURES, false},
        {"ns_forward", "frame ns", 0, REPORT_FIXED, false}, {"ns_jacobian", "+Jacobian ns", 0, REPORT_FIXED, false},
        {"ratio", "frame ratio", 1, REPORT_RATIO, false},   {"ratio_jacobian", "Jacobian ratio", 1, REPORT_RATIO, false}};
    static const report_table table = {"forward", "From joint angles to the frame of the tip, and to its 6 x n Jacobian",
                                       "arm", columns, 6};
    static const report_race race = {"error", EXACT, {"ns_forward", "ns_jacobian"}};
    static arm arms[ROBOT_ARMS + 2];
    arm_from_scene("arm6", &arms[0]);
    arm_from_scene("arm7", &arms[1]);
    arm_take_all(arms + 2);
    report_begin_race(b->report, &table, &race);
    for (int i = 0; i < ROBOT_ARMS + 2; ++i) {
        run_arm(b, &arms[i]);
        arm_free(&arms[i]);
    }
}
