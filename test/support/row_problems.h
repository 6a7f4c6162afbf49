// Problems that the tests of the methods over rows share.
#ifndef TEST_ROW_PROBLEMS_H
#define TEST_ROW_PROBLEMS_H

#include "scenes/random.h"
#include "scenes/scenes.h"
#include "test_main.h"

#include <poise/poise.h>

#include <float.h>
#include <math.h>
#include <string.h>

#define MOST 72 // coordinates of the largest scene here

static inline poise_model *scene(const char *name)
{
    poise_model *model;
    poise_error error = {0};
    ck_assert_msg(scene_create(name, NULL, &model, &error) == POISE_OK, "%s: %s", name, error.text);
    ck_assert_int_le(poise_model_info(model).nq, MOST);
    return model;
}

static inline poise_solver *solver_for(const poise_model *model, const poise_solver_options *options)
{
    poise_solver *solver;
    ck_assert_int_eq(poise_solver_create(model, options, NULL, &solver, NULL), POISE_OK);
    return solver;
}

static inline poise_report solve(poise_solver *solver, const poise_goal *goals, int count, double *q)
{
    poise_report report;
    poise_error error;
    ck_assert_msg(poise_solve(solver, goals, count, q, &report, &error) == POISE_OK, "%s", error.text);
    return report;
}

// One solve with a solver of its own.
static inline poise_report solve_once(const poise_model *model, const poise_solver_options *options, const poise_goal *goals,
                                      int count, double *q)
{
    poise_solver *solver = solver_for(model, options);
    poise_report report = solve(solver, goals, count, q);
    poise_solver_destroy(solver);
    return report;
}

static inline poise_solver_options options_for(poise_method method, int iterations)
{
    poise_solver_options options = poise_solver_options_default();
    options.method = method;
    options.engine = poise_papers_engine(options.method);
    options.max_iterations = iterations;
    return options;
}

static inline bool all_are_finite(const double *x, int count)
{
    for (int i = 0; i < count; ++i) {
        if (!isfinite(x[i])) {
            return false;
        }
    }
    return true;
}

static inline int tip_body(const poise_model *model, poise_vec3 *local)
{
    int tool = poise_model_find_tool(model, "tip");
    *local = poise_model_tool_info(model, tool).pose.position;
    return poise_model_tool_info(model, tool).body;
}

// POSITION goals for the tip of an arm, or for head, hands and feet, at where they are at q. Returns how many.
static inline int goals_at(const poise_model *model, const double *q, poise_goal goals[5])
{
    static const char *const bodies[5] = {"head", "left_hand", "right_hand", "left_foot", "right_foot"};
    poise_kinematics *kinematics;
    ck_assert_int_eq(poise_kinematics_create(model, NULL, &kinematics, NULL), POISE_OK);
    ck_assert_int_eq(poise_kinematics_update(kinematics, q, NULL), POISE_OK);
    poise_vec3 local = {0, 0, 0};
    int count = poise_model_find_tool(model, "tip") >= 0 ? 1 : 5;
    for (int i = 0; i < count; ++i) {
        int body = count == 1 ? tip_body(model, &local) : poise_model_find_body(model, bodies[i]);
        goals[i] = poise_goal_position(body, local, poise_kinematics_point(kinematics, body, local));
    }
    poise_kinematics_destroy(kinematics);
    return count;
}

// A configuration within the limits, each coordinate at most `size` from q.
static inline void near_by(scene_random *random, const poise_model *model, const double *q, double size, double *out)
{
    double step[MOST];
    for (int i = 0; i < poise_model_info(model).nv; ++i) {
        step[i] = scene_random_range(random, -size, size);
    }
    ck_assert_int_eq(poise_retract(model, q, step, out, NULL), POISE_OK);
    ck_assert_int_eq(poise_model_clamp(model, out, NULL, NULL), POISE_OK);
}

static inline double error_of(const poise_model *model, const poise_goal *goal, const double *q)
{
    poise_kinematics *kinematics;
    ck_assert_int_eq(poise_kinematics_create(model, NULL, &kinematics, NULL), POISE_OK);
    ck_assert_int_eq(poise_kinematics_update(kinematics, q, NULL), POISE_OK);
    poise_vec3 x = poise_kinematics_point(kinematics, goal->body, goal->local.position), t = goal->target.position;
    poise_kinematics_destroy(kinematics);
    return sqrt((x.x - t.x) * (x.x - t.x) + (x.y - t.y) * (x.y - t.y) + (x.z - t.z) * (x.z - t.z));
}

#endif
