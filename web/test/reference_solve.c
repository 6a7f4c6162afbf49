// Objectives and solves of every method.
#include <poise/papers.h>

#include "reference.h"

// A marker on every third body, at its place in another configuration; a pose on the last.
static int make_goals(const poise_model *model, poise_goal *goals)
{
    static double q[NUMBERS];
    poise_kinematics *kinematics = NULL;
    if (poise_kinematics_create(model, NULL, &kinematics, NULL) != POISE_OK) {
        return 0;
    }
    pattern(model, 2, q);
    poise_kinematics_update(kinematics, q, NULL);
    int count = 0, last = poise_model_info(model).joints - 1;
    poise_vec3 local = poise_vec3_make(0.05, -0.02, 0.01);
    for (int body = 2; body < last && count < GOALS - 1; body += 3) {
        goals[count++] = poise_goal_position(body, local, poise_kinematics_point(kinematics, body, local));
    }
    goals[count++] = poise_goal_position(last, local, poise_kinematics_point(kinematics, last, local));
    poise_kinematics_destroy(kinematics);
    return count;
}

static void put_solve(const char *scene, const poise_model *model, const poise_goal *goals, int count, poise_method method)
{
    poise_solver_options options = poise_solver_options_default();
    static poise_trace trace[20];
    options.method = method;
    options.engine = poise_papers_engine(options.method);
    options.max_iterations = 15;
    options.restarts = 1;
    options.trace = trace;
    options.trace_capacity = 20;
    poise_solver *solver = NULL;
    put_name(scene, poise_method_name(method));
    if (poise_solver_create(model, &options, NULL, &solver, NULL) != POISE_OK) {
        return;
    }
    static double q[NUMBERS];
    pattern(model, 1, q);
    poise_report r;
    poise_status status = poise_solve(solver, goals, count, q, &r, NULL);
    put(status);
    if (status == POISE_OK) {
        put_all(q, poise_model_info(model).nq);
        put_all((const double[]){r.outcome, r.iterations, r.evaluations, r.restarts, r.traced, r.active_limits,
                                 r.moved_joints, r.start_cost, r.cost, r.gradient, r.distance, r.worst_length,
                                 r.worst_angle},
                13);
        for (int i = 0; i < r.traced; ++i) {
            put_all((const double[]){trace[i].cost, trace[i].gradient, trace[i].damping, trace[i].step}, 4);
        }
        for (int i = 0; i < count; ++i) {
            put(poise_solver_goal_error(solver, i).error);
        }
    }
    poise_solver_destroy(solver);
}

static void put_all_solutions(void)
{
    enum { MOST = 8 };
    poise_model *model = NULL;
    poise_solver *solver = NULL;
    poise_kinematics *kinematics = NULL;
    poise_solver_options options = poise_solver_options_default();
    options.restarts = 60;
    static double q[NUMBERS], solutions[MOST * NUMBERS];
    if (scene_create("arm6", NULL, &model, NULL) != POISE_OK ||
        poise_solver_create(model, &options, NULL, &solver, NULL) != POISE_OK ||
        poise_kinematics_create(model, NULL, &kinematics, NULL) != POISE_OK) {
        return;
    }
    pattern(model, 2, q);
    poise_kinematics_update(kinematics, q, NULL);
    int tool = 0, found = 0;
    poise_goal goal = poise_goal_pose(poise_model_tool_info(model, tool).body, poise_model_tool_info(model, tool).pose,
                                      poise_kinematics_tool_pose(kinematics, tool));
    pattern(model, 1, q);
    put_name("arm6", "all");
    put(poise_solve_all(solver, &goal, q, solutions, MOST, &found, NULL, NULL));
    put_all(solutions, found * poise_model_info(model).nq);
    poise_kinematics_destroy(kinematics);
    poise_solver_destroy(solver);
    poise_model_destroy(model);
}

void put_solves(void)
{
    static const char *const scenes[] = {"twolink", "tree2d", "arm7", "lamp", "hand", "humanoid", "humanoid-quaternion"};
    static poise_goal goals[GOALS];
    for (size_t i = 0; i < sizeof scenes / sizeof *scenes; ++i) {
        poise_model *model = NULL;
        if (scene_create(scenes[i], NULL, &model, NULL) == POISE_OK) {
            int count = make_goals(model, goals);
            for (int m = 0; m < POISE_METHOD_COUNT; ++m) {
                put_solve(scenes[i], model, goals, count, (poise_method)m);
            }
        }
        poise_model_destroy(model);
    }
    put_all_solutions();
}

// One goal of each kind but CALLBACK, on bodies 3 to 14 of the humanoid.
static int make_all_kinds(const double *q, const double *q_before, poise_goal *goals)
{
    poise_vec3 local = poise_vec3_make(0.1, 0.02, -0.03), target = poise_vec3_make(0.3, 1.1, 0.2);
    poise_vec3 axis = poise_vec3_make(1, 2, 2), other = poise_vec3_make(0.5, -1, 0.25);
    poise_pose frame = {poise_quat_from_axis_angle(axis, 0.4), local};
    poise_pose place = {poise_quat_from_axis_angle(other, 1.1), target};
    int n = 0;
    goals[n++] = poise_goal_position(3, local, target);
    goals[n++] = poise_goal_direction(4, axis, other);
    goals[n++] = poise_goal_orientation(5, place.rotation);
    goals[n++] = poise_goal_pose(6, frame, place);
    goals[n++] = poise_goal_aim(7, local, axis, target);
    goals[n++] = poise_goal_plane(8, local, target, other);
    goals[n++] = poise_goal_line(9, local, target, axis);
    goals[n++] = poise_goal_distance(10, local, target, 0.25);
    goals[n++] = poise_goal_posture(q, 0.5);
    goals[n++] = poise_goal_smoothness(q, q_before, 0.25);
    goals[n++] = poise_goal_relative(11, frame, 14, place);
    goals[n++] = poise_goal_center_of_mass(target);
    goals[0].loss = POISE_LOSS_HUBER;
    goals[0].loss_scale = 0.1;
    goals[3].tolerance = poise_vec3_make(0.01, 0.0, 0.02);
    goals[3].rotation_weight = 0.3;
    return n;
}

void put_objectives(void)
{
    poise_model *model = NULL;
    poise_objective *objective = NULL;
    static double q[NUMBERS], posture[NUMBERS], before[NUMBERS], H[NUMBERS * NUMBERS];
    static poise_goal goals[GOALS];
    if (scene_create("humanoid", NULL, &model, NULL) != POISE_OK ||
        poise_objective_create(model, 2, NULL, &objective, NULL) != POISE_OK) {
        return;
    }
    int nv = poise_model_info(model).nv;
    pattern(model, 3, posture);
    pattern(model, 4, before);
    pattern(model, 1, q);
    int count = make_all_kinds(posture, before, goals);
    put_name("humanoid", "objective");
    put(poise_objective_set_goals(objective, goals, count, NULL));
    put(poise_objective_evaluate(objective, q, POISE_LEVEL_HESSIAN, NULL));
    put(poise_objective_value(objective).cost);
    put_all(poise_objective_value(objective).gradient, nv);
    for (int kind = POISE_HESSIAN_EXACT; kind <= POISE_HESSIAN_GAUSS_NEWTON; ++kind) {
        poise_objective_hessian(objective, (poise_hessian)kind, H, NULL);
        put_all(H, nv * nv);
    }
    for (int i = 0; i < count; ++i) {
        poise_goal_error error = poise_objective_goal_error(objective, i);
        put(error.error);
        put(error.rotation_error);
    }
    poise_objective_destroy(objective);
    poise_model_destroy(model);
}
