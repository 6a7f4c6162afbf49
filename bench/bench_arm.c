// Forward kinematics and Jacobian of robot arms, against Orocos KDL where it is installed.
#include "bench.h"

#include <poise/poise.h>
#include <scenes/random.h>
#include <scenes/scenes.h>

#ifdef POISE_HAS_KDL
#include "peer_kdl.h"
#endif

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define POSES 256

typedef struct arm {
    const char *name;
    poise_model *model;
    poise_kinematics *kinematics;
    int tip, n;
    poise_pose tool;
    double poses[POSES][16];
    double rotation[9], position[3], J[6 * 16];
#ifdef POISE_HAS_KDL
    peer_kdl *kdl;
#endif
} arm;

static void poise_forward(void *user, int round)
{
    arm *a = user;
    poise_kinematics_update(a->kinematics, a->poses[round % POSES]);
    poise_kinematics_body_frame(a->kinematics, a->tip, a->rotation, a->position);
    bench_use(a->position[0]);
}

static void poise_jacobian(void *user, int round)
{
    arm *a = user;
    poise_kinematics_update(a->kinematics, a->poses[round % POSES]);
    poise_kinematics_frame_jacobian(a->kinematics, a->tip, a->tool.position, a->J);
    bench_use(a->J[0]);
}

#ifdef POISE_HAS_KDL
static void kdl_forward(void *user, int round)
{
    arm *a = user;
    peer_kdl_forward(a->kdl, a->poses[round % POSES], a->rotation, a->position);
    bench_use(a->position[0]);
}

static void kdl_jacobian(void *user, int round)
{
    arm *a = user;
    peer_kdl_jacobian(a->kdl, a->poses[round % POSES], a->J);
    bench_use(a->J[0]);
}

// Largest difference of the two Jacobians and tip positions over all poses.
static double disagreement(arm *a)
{
    double worst = 0.0;
    for (int pose = 0; pose < POSES; ++pose) {
        double J[6 * 16];
        poise_jacobian(a, pose);
        for (int i = 0; i < 6 * a->n; ++i) {
            J[i] = a->J[i];
        }
        poise_vec3 p = poise_kinematics_point(a->kinematics, a->tip, a->tool.position);
        kdl_jacobian(a, pose);
        kdl_forward(a, pose);
        for (int i = 0; i < 6 * a->n; ++i) {
            worst = fmax(worst, fabs(J[i] - a->J[i]));
        }
        worst = fmax(worst, fabs(p.x - a->position[0]) + fabs(p.y - a->position[1]) + fabs(p.z - a->position[2]));
    }
    return worst;
}
#endif

static arm make_arm(const char *scene)
{
    arm a = {.name = scene};
    scene_random random = scene_random_make(11);
    if (scene_create(scene, NULL, &a.model, NULL) != POISE_OK) {
        fprintf(stderr, "no scene %s\n", scene);
        exit(2);
    }
    a.n = poise_model_nv(a.model);
    int tool = poise_model_find_tool(a.model, "tip");
    a.tip = poise_model_tool_body(a.model, tool);
    a.tool = poise_model_tool_pose(a.model, tool);
    poise_kinematics_create(a.model, NULL, &a.kinematics);
    for (int i = 0; i < POSES; ++i) {
        scene_random_configuration(&random, a.model, a.poses[i]);
    }
    return a;
}

static void print_row(const char *scene)
{
    arm a = make_arm(scene);
    void *const users[] = {&a, &a, &a, &a};
    double ns[4];
#ifdef POISE_HAS_KDL
    a.kdl = peer_kdl_create(a.model, a.tip, a.tool);
    const bench_work works[] = {poise_forward, poise_jacobian, kdl_forward, kdl_jacobian};
    double off = disagreement(&a);
    bench_race(works, users, 4, ns);
    printf("%-8s %4d %10.0f %10.0f %10.0f %10.0f %8.1fx %8.1fx %10.1e\n", scene, a.n, ns[0], ns[1], ns[2], ns[3],
           ns[2] / ns[0], ns[3] / ns[1], off);
    peer_kdl_destroy(a.kdl);
#else
    const bench_work works[] = {poise_forward, poise_jacobian};
    bench_race(works, users, 2, ns);
    printf("%-8s %4d %10.0f %10.0f %10s %10s %9s %9s %10s\n", scene, a.n, ns[0], ns[1], "-", "-", "-", "-", "-");
#endif
    poise_kinematics_destroy(a.kinematics);
    poise_model_destroy(a.model);
}

int main(void)
{
    bench_print_machine();
    printf("Arms: forward kinematics to the tip, and with its 6 x n Jacobian, ns\n\n");
    printf("%-8s %4s %10s %10s %10s %10s %9s %9s %10s\n", "arm", "dofs", "poise", "+ Jacobian", "KDL", "KDL Jac.", "faster",
           "Jac.", "disagree");
    print_row("arm6");
    print_row("arm7");
    return 0;
}
