// Goals and objectives.
#include "glue.h"

// ---- Goals ---------------------------------------------------------------------------------------------------------------

// Row: kind, body, body2, priority, weight, loss, loss scale, tolerance (3), local (7), target (7), axis (3), direction (3),
// distance, rotation weight, rotation tolerance (3), addresses of q, q_before and q_weights, number of the host's function.

WEB_IMPORT(energy) int web_host_energy(int function, const double *pose, poise_body_energy *out);

static bool ask_host(void *user, const poise_pose *pose, poise_body_energy *out)
{
    double flat[7];
    web_put_pose(&(web_row){flat}, *pose);
    return web_host_energy((int)(uintptr_t)user, flat, out) != 0;
}

// Directions and quaternions of any length become unit, as the constructors of goal.h make them.
static void make_unit(poise_goal *goal)
{
    poise_vec3 local = goal->local.position, target = goal->target.position;
    switch (goal->kind) {
    case POISE_GOAL_DIRECTION: {
        poise_goal unit = poise_goal_direction(goal->body, goal->axis, goal->direction);
        goal->axis = unit.axis;
        goal->direction = unit.direction;
        break;
    }
    case POISE_GOAL_AIM:
        goal->axis = poise_goal_aim(goal->body, local, goal->axis, target).axis;
        break;
    case POISE_GOAL_PLANE:
    case POISE_GOAL_LINE:
        goal->direction = poise_goal_plane(goal->body, local, target, goal->direction).direction;
        break;
    case POISE_GOAL_ORIENTATION:
        goal->target.rotation = poise_goal_orientation(goal->body, goal->target.rotation).target.rotation;
        break;
    case POISE_GOAL_POSE:
    case POISE_GOAL_RELATIVE: {
        poise_goal unit = poise_goal_pose(goal->body, goal->local, goal->target);
        goal->local = unit.local;
        goal->target = unit.target;
        break;
    }
    default:
        break;
    }
}

static poise_goal get_goal(web_row *row)
{
    poise_goal goal = {.kind = (poise_goal_kind)web_get_int(row)};
    goal.body = web_get_int(row);
    goal.body2 = web_get_int(row);
    goal.priority = web_get_int(row);
    goal.weight = web_get(row);
    goal.loss = (poise_loss)web_get_int(row);
    goal.loss_scale = web_get(row);
    goal.tolerance = web_get_vec3(row);
    goal.local = web_get_pose(row);
    goal.target = web_get_pose(row);
    goal.axis = web_get_vec3(row);
    goal.direction = web_get_vec3(row);
    goal.distance = web_get(row);
    goal.rotation_weight = web_get(row);
    goal.rotation_tolerance = web_get_vec3(row);
    goal.q = web_get_address(row);
    goal.q_before = web_get_address(row);
    goal.q_weights = web_get_address(row);
    goal.user = web_get_address(row);
    goal.function = goal.kind == POISE_GOAL_CALLBACK ? ask_host : NULL;
    make_unit(&goal);
    return goal;
}

static void put_goal(web_row *row, const poise_goal *goal)
{
    web_put(row, goal->kind);
    web_put(row, goal->body);
    web_put(row, goal->body2);
    web_put(row, goal->priority);
    web_put(row, goal->weight);
    web_put(row, goal->loss);
    web_put(row, goal->loss_scale);
    web_put_vec3(row, goal->tolerance);
    web_put_pose(row, goal->local);
    web_put_pose(row, goal->target);
    web_put_vec3(row, goal->axis);
    web_put_vec3(row, goal->direction);
    web_put(row, goal->distance);
    web_put(row, goal->rotation_weight);
    web_put_vec3(row, goal->rotation_tolerance);
    web_put_address(row, goal->q);
    web_put_address(row, goal->q_before);
    web_put_address(row, goal->q_weights);
    web_put_address(row, goal->user);
}

void WEB_EXPORT(web_goal_default)(poise_goal_kind kind, double *numbers)
{
    poise_goal goal = poise_goal_default(kind);
    put_goal(&(web_row){numbers}, &goal);
}

// Room for so many goals; release it with web_release.
poise_goal *WEB_EXPORT(web_goals_create)(int count)
{
    return web_take((size_t)count, sizeof(poise_goal));
}

void WEB_EXPORT(web_goal_set)(poise_goal *goals, int goal, double *numbers)
{
    goals[goal] = get_goal(&(web_row){numbers});
}

void WEB_EXPORT(web_goal_get)(const poise_goal *goals, int goal, double *numbers)
{
    put_goal(&(web_row){numbers}, &goals[goal]);
}

// What changes while something is dragged.
void WEB_EXPORT(web_goal_position)(poise_goal *goals, int goal, double x, double y, double z)
{
    goals[goal].target.position = poise_vec3_make(x, y, z);
}

void WEB_EXPORT(web_goal_rotation)(poise_goal *goals, int goal, double x, double y, double z, double w)
{
    goals[goal].target.rotation = poise_goal_orientation(0, (poise_quat){x, y, z, w}).target.rotation;
}

void WEB_EXPORT(web_goal_weight)(poise_goal *goals, int goal, double weight, double rotation_weight)
{
    goals[goal].weight = weight;
    goals[goal].rotation_weight = rotation_weight;
}

// Positions of goals first, first + 1, ... from `points`, three numbers each. One that is not finite gets no weight.
void WEB_EXPORT(web_goal_points)(poise_goal *goals, int first, int count, const double *points)
{
    for (int i = 0; i < count; ++i, points += 3) {
        poise_goal *goal = &goals[first + i];
        bool seen = points[0] - points[0] == 0.0 && points[1] - points[1] == 0.0 && points[2] - points[2] == 0.0;
        goal->weight = seen ? 1.0 : 0.0;
        if (seen) {
            goal->target.position = poise_vec3_make(points[0], points[1], points[2]);
        }
    }
}

poise_status WEB_EXPORT(web_goal_check)(const poise_goal *goals, int goal, const poise_model *model)
{
    return poise_goal_check(&goals[goal], model, web_error_clear());
}

// ---- Objectives ----------------------------------------------------------------------------------------------------------

poise_objective *WEB_EXPORT(web_objective_create)(const poise_model *model, int coupled_goals)
{
    poise_objective *objective = NULL;
    poise_objective_create(model, coupled_goals, NULL, &objective, web_error_clear());
    return objective;
}

poise_status WEB_EXPORT(web_objective_goals)(poise_objective *objective, const poise_goal *goals, int count)
{
    return poise_objective_set_goals(objective, goals, count, web_error_clear());
}

poise_status WEB_EXPORT(web_objective_evaluate)(poise_objective *objective, const double *q, poise_level level)
{
    return poise_objective_evaluate(objective, q, level, web_error_clear());
}

poise_status WEB_EXPORT(web_objective_hessian)(poise_objective *objective, poise_hessian kind, double *H)
{
    return poise_objective_hessian(objective, kind, H, web_error_clear());
}

// A poise_definiteness, or -1 with an error. `work` holds nv (nv + 2) numbers.
int WEB_EXPORT(web_objective_definiteness)(poise_objective *objective, poise_hessian kind, double tolerance, double *work)
{
    poise_definiteness answer = POISE_DEFINITE_POSITIVE;
    poise_error *error = web_error_clear();
    return poise_objective_definiteness(objective, kind, tolerance, work, &answer, error) == POISE_OK ? (int)answer : -1;
}

static void put_error(web_row *row, poise_goal_error error)
{
    web_put(row, error.error);
    web_put(row, error.unit);
    web_put(row, error.rotation_error);
}

// Three numbers for each goal: error, unit, rotation error.
void WEB_EXPORT(web_objective_errors)(const poise_objective *objective, int count, double *errors)
{
    web_row row = {errors};
    for (int i = 0; i < count; ++i) {
        put_error(&row, poise_objective_goal_error(objective, i));
    }
}

void WEB_EXPORT(web_solver_errors)(poise_solver *solver, int count, double *errors)
{
    web_row row = {errors};
    for (int i = 0; i < count; ++i) {
        put_error(&row, poise_solver_goal_error(solver, i));
    }
}

// ---- Words ---------------------------------------------------------------------------------------------------------------

// The goals of a text; `q_start` may be 0. Released with poise_goal_list_destroy. 0 where words make no sense.
poise_goal_list *WEB_EXPORT(web_goals_parse)(const poise_model *model, const char *text, const double *q_start)
{
    poise_goal_list *list = NULL;
    poise_goal_words words = {.model = model, .q_start = q_start};
    if (poise_goal_list_create(NULL, &list, web_error_clear()) == POISE_OK &&
        poise_goal_list_parse(list, &words, text, web_error_clear()) != POISE_OK) {
        poise_goal_list_destroy(list);
        list = NULL;
    }
    return list;
}

int WEB_EXPORT(web_goal_list_count)(const poise_goal_list *list)
{
    return list->count;
}

const poise_goal *WEB_EXPORT(web_goal_list_goals)(const poise_goal_list *list)
{
    return list->goals;
}
