#include "planar_study.h"

#include <scenes/scenes.h>

#include <math.h>
#include <string.h>

static const poise_vec3 tip = {1, 0, 0}; // in the last link's frame
static const double start[PLANAR_LINKS] = {0.3, 0.2, 0.1, 0.1, 0.1};

// Note where the arm is; returns E, with its gradient by the closed form.
static double look(poise_kinematics *arm, const double *q, planar_run *run, double *gradient)
{
    double J[3 * PLANAR_LINKS];
    poise_kinematics_update(arm, q, NULL);
    poise_kinematics_jacobian(arm, PLANAR_LINKS - 1, tip, J, NULL, NULL);
    poise_vec3 p = poise_kinematics_point(arm, PLANAR_LINKS - 1, tip);
    double rx = p.x - PLANAR_TARGET_X, ry = p.y - PLANAR_TARGET_Y;
    int n = run->count;
    for (int j = 0; j < PLANAR_LINKS; ++j) {
        poise_vec3 o = poise_kinematics_body_pose(arm, j).position;
        double dx = -(p.y - o.y), dy = p.x - o.x; // R(pi/2) (p - p_j)
        gradient[j] = rx * dx + ry * dy;
        run->difference = fmax(run->difference, fmax(fabs(J[j] - dx), fabs(J[PLANAR_LINKS + j] - dy)));
        run->x[n][j] = o.x;
        run->y[n][j] = o.y;
    }
    run->x[n][PLANAR_LINKS] = p.x;
    run->y[n][PLANAR_LINKS] = p.y;
    run->distance[n] = sqrt(rx * rx + ry * ry);
    return 0.5 * (rx * rx + ry * ry);
}

// theta - h gradient for a step that makes the energy fall enough; E and gradient at the new place.
static void step(poise_kinematics *arm, planar_method method, double *h, double *E, double *q, double *gradient,
                 planar_run *run)
{
    double next[PLANAR_LINKS], next_gradient[PLANAR_LINKS], slope = 0.0, next_E;
    for (int j = 0; j < PLANAR_LINKS; ++j) {
        slope += gradient[j] * gradient[j];
    }
    *h = method == PLANAR_LINE_SEARCH ? 4.0 * *h : 0.04;
    do {
        *h /= 2.0;
        for (int j = 0; j < PLANAR_LINKS; ++j) {
            next[j] = q[j] - *h * gradient[j];
        }
        next_E = look(arm, next, run, next_gradient);
    } while (method == PLANAR_LINE_SEARCH && next_E > *E - *h * slope / 3.0);
    *E = next_E;
    memcpy(q, next, sizeof next);
    memcpy(gradient, next_gradient, sizeof next_gradient);
}

// The solver after `iterations` iterations from the start.
static bool solve(const poise_model *model, int iterations, double *q)
{
    poise_solver_options options = poise_solver_options_default();
    poise_solver *solver;
    poise_goal goal = poise_goal_position(PLANAR_LINKS - 1, tip, poise_vec3_make(PLANAR_TARGET_X, PLANAR_TARGET_Y, 0.0));
    options.max_iterations = iterations;
    options.position_tolerance = 1e-7;
    if (poise_solver_create(model, &options, NULL, &solver, NULL) != POISE_OK) {
        return false;
    }
    memcpy(q, start, sizeof start);
    bool works = poise_solve(solver, &goal, 1, q, NULL, NULL) == POISE_OK;
    poise_solver_destroy(solver);
    return works;
}

bool planar_descend(planar_method method, planar_run *run)
{
    poise_model *model = NULL;
    poise_kinematics *arm = NULL;
    double q[PLANAR_LINKS], gradient[PLANAR_LINKS], h = 1.0;
    bool works = scene_create("arm2d", NULL, &model, NULL) == POISE_OK &&
                 poise_kinematics_create(model, NULL, &arm, NULL) == POISE_OK;
    memcpy(q, start, sizeof q);
    run->count = 0;
    run->difference = 0.0;
    double E = works ? look(arm, q, run, gradient) : 0.0;
    run->count = works ? 1 : 0;
    while (works && run->distance[run->count - 1] > 1e-6 && run->count <= PLANAR_MOST) {
        if (method == PLANAR_AUTO) {
            works = solve(model, run->count, q);
            look(arm, q, run, gradient);
        } else {
            step(arm, method, &h, &E, q, gradient, run);
        }
        run->count += 1;
    }
    poise_kinematics_destroy(arm);
    poise_model_destroy(model);
    return works;
}
