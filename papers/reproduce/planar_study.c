#include "planar_study.h"

#include <scenes/scenes.h>

#include <math.h>
#include <string.h>

static const struct {
    const char *scene;
    double start[PLANAR_JOINTS];
    int tips;
    const char *tools[PLANAR_TIPS];
    double x[PLANAR_TIPS], y[PLANAR_TIPS];
} skeletons[PLANAR_SKELETONS] = {
    {"arm2d", {0.3, 0.2, 0.1, 0.1, 0.1}, 1, {"tip"}, {1.5}, {2.5}},
    {"tree2d", {0}, 3, {"left", "middle", "right"}, {-1.8, -0.5, 1.6}, {2.4, 3.2, 2.2}},
};

typedef struct bench {
    poise_model *model;
    poise_kinematics *kinematics;
    const double *start;
    poise_goal goals[PLANAR_TIPS];
    planar_run *run;
} bench;

// The model, its goals, and what hangs from what.
static bool set_up(planar_skeleton skeleton, planar_run *run, bench *b)
{
    *b = (bench){.run = run, .start = skeletons[skeleton].start};
    bool works = scene_create(skeletons[skeleton].scene, NULL, &b->model, NULL) == POISE_OK &&
                 poise_kinematics_create(b->model, NULL, &b->kinematics, NULL) == POISE_OK;
    run->joints = works ? poise_model_info(b->model).joints : 0;
    run->tips = skeletons[skeleton].tips;
    run->count = 0;
    run->difference = 0.0;
    for (int j = 0; j < run->joints; ++j) {
        run->parent[j] = poise_model_joint_info(b->model, j).parent;
    }
    for (int i = 0; i < run->tips && works; ++i) {
        poise_tool_info tool =
            poise_model_tool_info(b->model, poise_model_find_tool(b->model, skeletons[skeleton].tools[i]));
        run->target_x[i] = skeletons[skeleton].x[i];
        run->target_y[i] = skeletons[skeleton].y[i];
        run->parent[run->joints + i] = tool.body;
        b->goals[i] =
            poise_goal_position(tool.body, tool.pose.position, poise_vec3_make(run->target_x[i], run->target_y[i], 0.0));
    }
    return works;
}

// Is joint j on the way from the root to this body?
static bool is_above(const planar_run *run, int j, int body)
{
    while (body > j) {
        body = run->parent[body];
    }
    return body == j;
}

// Add (p - t) . dp/dtheta_j of one tip to the gradient; returns |p - t|^2/2.
static double look_at_tip(bench *b, int tip, double *gradient)
{
    planar_run *run = b->run;
    const poise_goal *goal = &b->goals[tip];
    double J[3 * PLANAR_JOINTS];
    int n = run->joints;
    poise_kinematics_jacobian(b->kinematics, goal->body, goal->local.position, J, NULL, NULL);
    poise_vec3 p = poise_kinematics_point(b->kinematics, goal->body, goal->local.position);
    double rx = p.x - run->target_x[tip], ry = p.y - run->target_y[tip];
    for (int j = 0; j < n; ++j) {
        poise_vec3 o = poise_kinematics_body_pose(b->kinematics, j).position;
        double reach = is_above(run, j, goal->body) ? 1.0 : 0.0;
        double dx = -reach * (p.y - o.y), dy = reach * (p.x - o.x); // R(pi/2) (p - p_j)
        gradient[j] += rx * dx + ry * dy;
        run->difference = fmax(run->difference, fmax(fabs(J[j] - dx), fabs(J[n + j] - dy)));
    }
    run->x[run->count][n + tip] = p.x;
    run->y[run->count][n + tip] = p.y;
    return 0.5 * (rx * rx + ry * ry);
}

// Note where the skeleton is; returns E, with its gradient by the closed form.
static double look(bench *b, const double *q, double *gradient)
{
    planar_run *run = b->run;
    double E = 0.0;
    poise_kinematics_update(b->kinematics, q, NULL);
    for (int j = 0; j < run->joints; ++j) {
        poise_vec3 o = poise_kinematics_body_pose(b->kinematics, j).position;
        run->x[run->count][j] = o.x;
        run->y[run->count][j] = o.y;
        gradient[j] = 0.0;
    }
    for (int i = 0; i < run->tips; ++i) {
        E += look_at_tip(b, i, gradient);
    }
    run->distance[run->count] = sqrt(2.0 * E);
    return E;
}

// theta - h gradient for a step that makes the energy fall enough; E and gradient at the new place.
static void step(bench *b, planar_method method, double *h, double *E, double *q, double *gradient)
{
    double next[PLANAR_JOINTS], next_gradient[PLANAR_JOINTS], slope = 0.0, next_E;
    for (int j = 0; j < b->run->joints; ++j) {
        slope += gradient[j] * gradient[j];
    }
    *h = method == PLANAR_LINE_SEARCH ? 4.0 * *h : 0.04;
    do {
        *h /= 2.0;
        for (int j = 0; j < b->run->joints; ++j) {
            next[j] = q[j] - *h * gradient[j];
        }
        next_E = look(b, next, next_gradient);
    } while (method == PLANAR_LINE_SEARCH && next_E > *E - *h * slope / 3.0);
    *E = next_E;
    memcpy(q, next, (size_t)b->run->joints * sizeof *q);
    memcpy(gradient, next_gradient, (size_t)b->run->joints * sizeof *gradient);
}

// The solver after `iterations` iterations from the start; without limits, which the notes do not have.
static bool solve(const bench *b, int iterations, double *q)
{
    poise_solver_options options = poise_solver_options_default();
    poise_solver *solver;
    options.max_iterations = iterations;
    options.position_tolerance = 1e-7;
    options.use_limits = false;
    if (poise_solver_create(b->model, &options, NULL, &solver, NULL) != POISE_OK) {
        return false;
    }
    memcpy(q, b->start, (size_t)b->run->joints * sizeof *q);
    bool works = poise_solve(solver, b->goals, b->run->tips, q, NULL, NULL) == POISE_OK;
    poise_solver_destroy(solver);
    return works;
}

bool planar_descend(planar_skeleton skeleton, planar_method method, planar_run *run)
{
    bench b;
    double q[PLANAR_JOINTS], gradient[PLANAR_JOINTS], h = 1.0;
    bool works = set_up(skeleton, run, &b);
    memcpy(q, b.start, sizeof q);
    double E = works ? look(&b, q, gradient) : 0.0;
    run->count = works ? 1 : 0;
    while (works && run->distance[run->count - 1] > 1e-6 && run->count <= PLANAR_MOST) {
        if (method == PLANAR_AUTO) {
            works = solve(&b, run->count, q);
            look(&b, q, gradient);
        } else {
            step(&b, method, &h, &E, q, gradient);
        }
        run->count += 1;
    }
    poise_kinematics_destroy(b.kinematics);
    poise_model_destroy(b.model);
    return works;
}
