#include "geometric_bench.h"
#include "allocations.h"
#include "own.h"

#include <poise/papers.h>
#include <scenes/scenes.h>

// ---- Bench ---------------------------------------------------------------------------------------------------------------

const poise_method geometric[3] = {POISE_METHOD_CCD, POISE_METHOD_BWCD, POISE_METHOD_FABRIK};

void bench_over(bench *b, poise_model *model, poise_method method)
{
    *b = (bench){.model = model, .options = poise_solver_options_default()};
    b->nq = poise_model_info(model).nq;
    b->nv = poise_model_info(model).nv;
    ck_assert_int_lt(b->nq, LARGEST);
    b->options.method = method;
    b->options.engine = poise_papers_engine(b->options.method);
    b->options.trace = b->trace;
    b->options.trace_capacity = LARGEST;
    b->options.locked = b->locked;
    b->options.max_iterations = 200;
    own_model(model);
    ck_assert_int_eq(poise_kinematics_create(model, NULL, &b->kinematics, NULL), POISE_OK);
    own_kinematics(b->kinematics);
}

void bench_open(bench *b, const char *scene, poise_method method)
{
    poise_model *model = NULL;
    ck_assert_int_eq(scene_create(scene, NULL, &model, NULL), POISE_OK);
    bench_over(b, model, method);
}

poise_status bench_solve(bench *b, const poise_goal *goals, int count, double *q, poise_report *report)
{
    poise_solver *solver;
    ck_assert_int_eq(poise_solver_create(b->model, &b->options, NULL, &solver, NULL), POISE_OK);
    int before = allocations_so_far();
    poise_error error = {.text = ""};
    poise_status status = poise_solve(solver, goals, count, q, report, &error);
    ck_assert_int_eq(allocations_so_far(), before);
    ck_assert_int_eq(status == POISE_OK, error.text[0] == '\0');
    poise_solver_destroy(solver);
    return status;
}

double bench_cost(const bench *b, const poise_goal *goals, int count, const double *q)
{
    poise_objective *objective;
    ck_assert_int_eq(poise_objective_create(b->model, 0, NULL, &objective, NULL), POISE_OK);
    ck_assert_int_eq(poise_objective_set_goals(objective, goals, count, NULL), POISE_OK);
    ck_assert_int_eq(poise_objective_evaluate(objective, q, POISE_LEVEL_COST, NULL), POISE_OK);
    double cost = poise_objective_value(objective).cost;
    poise_objective_destroy(objective);
    return cost;
}

poise_goal bench_tool_goal(bench *b, const char *name, const double *q, poise_goal_kind kind)
{
    int tool = poise_model_find_tool(b->model, name);
    ck_assert_int_ge(tool, 0);
    int body = poise_model_tool_info(b->model, tool).body;
    poise_pose local = poise_model_tool_info(b->model, tool).pose;
    poise_kinematics_update(b->kinematics, q, NULL);
    poise_pose target = poise_kinematics_tool_pose(b->kinematics, tool);
    poise_vec3 y = {0, 1, 0};
    if (kind == POISE_GOAL_POSE) {
        return poise_goal_pose(body, local, target);
    }
    return kind == POISE_GOAL_DIRECTION ? poise_goal_direction(body, y, poise_kinematics_direction(b->kinematics, body, y))
                                        : poise_goal_position(body, local.position, target.position);
}

poise_goal bench_random_goal(scene_random *random, const poise_model *model, bool with_aim)
{
    int body = scene_random_index(random, poise_model_info(model).joints);
    poise_pose local = {scene_random_rotation(random), random_vector(random, 0.4)};
    poise_pose target = {scene_random_rotation(random), random_vector(random, 2.0)};
    poise_vec3 axis = scene_random_direction(random), direction = scene_random_direction(random);
    poise_goal goals[5] = {poise_goal_position(body, local.position, target.position),
                           poise_goal_direction(body, axis, direction), poise_goal_orientation(body, target.rotation),
                           poise_goal_pose(body, local, target),
                           poise_goal_aim(body, local.position, axis, target.position)};
    poise_goal goal = goals[scene_random_index(random, with_aim ? 5 : 4)];
    goal.weight = scene_random_range(random, 0.1, 2.0);
    goal.rotation_weight = scene_random_range(random, 0.1, 2.0);
    return goal;
}
