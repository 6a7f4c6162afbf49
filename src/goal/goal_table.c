// One row per goal kind, the constructors, and the checks that all kinds share.
#include "base/error.h"
#include "goal/goal_kind.h"

#define POINT (PZ_NEEDS_BODY | PZ_NEEDS_POINT)

static const pz_goal_row table[POISE_GOAL_KIND_COUNT] = {
    [POISE_GOAL_POSITION] = {"position", POINT, pz_position_evaluate, pz_position_error, pz_position_rows},
    [POISE_GOAL_DIRECTION] = {"direction", PZ_NEEDS_BODY | PZ_NEEDS_AXIS | PZ_NEEDS_DIRECTION, pz_direction_evaluate,
                              pz_direction_error, pz_direction_rows},
    [POISE_GOAL_ORIENTATION] = {"orientation", PZ_NEEDS_BODY | PZ_NEEDS_ROTATION, pz_orientation_evaluate,
                                pz_orientation_error, pz_orientation_rows},
    [POISE_GOAL_POSE] = {"pose", POINT | PZ_NEEDS_ROTATION, pz_pose_evaluate, pz_pose_error, pz_pose_rows},
    [POISE_GOAL_AIM] = {"aim", POINT | PZ_NEEDS_AXIS, pz_aim_evaluate, pz_aim_error, pz_aim_rows},
    [POISE_GOAL_PLANE] = {"plane", POINT | PZ_NEEDS_DIRECTION, pz_plane_evaluate, pz_plane_error, pz_plane_rows},
    [POISE_GOAL_LINE] = {"line", POINT | PZ_NEEDS_DIRECTION, pz_line_evaluate, pz_line_error, pz_line_rows},
    [POISE_GOAL_DISTANCE] = {"distance", POINT, pz_distance_evaluate, pz_distance_error, pz_distance_rows},
    [POISE_GOAL_POSTURE] = {"posture", PZ_NEEDS_Q, pz_posture_evaluate, pz_posture_error, pz_posture_rows},
    [POISE_GOAL_SMOOTHNESS] = {"smoothness", PZ_NEEDS_Q, pz_posture_evaluate, pz_posture_error, pz_posture_rows},
    [POISE_GOAL_RELATIVE] = {"relative", POINT | PZ_NEEDS_ROTATION | PZ_NEEDS_COUPLING, pz_relative_evaluate,
                             pz_relative_error, pz_relative_rows},
    [POISE_GOAL_CENTER_OF_MASS] = {"center_of_mass", PZ_NEEDS_POINT | PZ_NEEDS_COUPLING, pz_mass_center_evaluate,
                                   pz_mass_center_error, pz_mass_center_rows},
    [POISE_GOAL_CALLBACK] = {"callback", POINT | PZ_NEEDS_ROTATION, pz_callback_evaluate, pz_callback_error, NULL},
};

const pz_goal_row *pz_goal_row_of(poise_goal_kind kind)
{
    return (unsigned)kind < POISE_GOAL_KIND_COUNT ? &table[kind] : NULL;
}

const char *poise_goal_kind_name(poise_goal_kind kind)
{
    const pz_goal_row *row = pz_goal_row_of(kind);
    return row ? row->name : "unknown";
}

// ---- Constructors --------------------------------------------------------------------------------------------------------

poise_goal poise_goal_default(poise_goal_kind kind)
{
    return (poise_goal){.kind = kind,
                        .body2 = POISE_WORLD,
                        .weight = 1.0,
                        .loss_scale = 1.0,
                        .local = {{0, 0, 0, 1}, {0, 0, 0}},
                        .target = {{0, 0, 0, 1}, {0, 0, 0}},
                        .axis = {0, 0, 1},
                        .direction = {0, 0, 1},
                        .rotation_weight = 1.0};
}

static poise_goal at_point(poise_goal_kind kind, int body, vec3 local, vec3 target)
{
    poise_goal goal = poise_goal_default(kind);
    goal.body = body;
    goal.local.position = local;
    goal.target.position = target;
    return goal;
}

poise_goal poise_goal_position(int body, poise_vec3 local, poise_vec3 target)
{
    return at_point(POISE_GOAL_POSITION, body, local, target);
}

poise_goal poise_goal_direction(int body, poise_vec3 axis, poise_vec3 direction)
{
    poise_goal goal = poise_goal_default(POISE_GOAL_DIRECTION);
    goal.body = body;
    goal.axis = v3_normalize(axis);
    goal.direction = v3_normalize(direction);
    return goal;
}

poise_goal poise_goal_orientation(int body, poise_quat target)
{
    poise_goal goal = poise_goal_default(POISE_GOAL_ORIENTATION);
    goal.body = body;
    goal.target.rotation = quat_normalize(target);
    return goal;
}

poise_goal poise_goal_pose(int body, poise_pose local, poise_pose target)
{
    poise_goal goal = poise_goal_default(POISE_GOAL_POSE);
    goal.body = body;
    goal.local = (poise_pose){quat_normalize(local.rotation), local.position};
    goal.target = (poise_pose){quat_normalize(target.rotation), target.position};
    return goal;
}

poise_goal poise_goal_aim(int body, poise_vec3 local, poise_vec3 axis, poise_vec3 target)
{
    poise_goal goal = at_point(POISE_GOAL_AIM, body, local, target);
    goal.axis = v3_normalize(axis);
    return goal;
}

poise_goal poise_goal_plane(int body, poise_vec3 local, poise_vec3 origin, poise_vec3 normal)
{
    poise_goal goal = at_point(POISE_GOAL_PLANE, body, local, origin);
    goal.direction = v3_normalize(normal);
    return goal;
}

poise_goal poise_goal_line(int body, poise_vec3 local, poise_vec3 origin, poise_vec3 direction)
{
    poise_goal goal = at_point(POISE_GOAL_LINE, body, local, origin);
    goal.direction = v3_normalize(direction);
    return goal;
}

poise_goal poise_goal_distance(int body, poise_vec3 local, poise_vec3 target, double distance)
{
    poise_goal goal = at_point(POISE_GOAL_DISTANCE, body, local, target);
    goal.distance = distance;
    return goal;
}

poise_goal poise_goal_posture(const double *q, double weight)
{
    poise_goal goal = poise_goal_default(POISE_GOAL_POSTURE);
    goal.q = q;
    goal.weight = weight;
    return goal;
}

poise_goal poise_goal_smoothness(const double *q, const double *q_before, double weight)
{
    poise_goal goal = poise_goal_default(POISE_GOAL_SMOOTHNESS);
    goal.q = q;
    goal.q_before = q_before;
    goal.weight = weight;
    return goal;
}

poise_goal poise_goal_relative(int body, poise_pose local, int body2, poise_pose target)
{
    poise_goal goal = poise_goal_pose(body, local, target);
    goal.kind = POISE_GOAL_RELATIVE;
    goal.body2 = body2;
    return goal;
}

poise_goal poise_goal_center_of_mass(poise_vec3 target)
{
    poise_goal goal = poise_goal_default(POISE_GOAL_CENTER_OF_MASS);
    goal.target.position = target;
    return goal;
}

poise_goal poise_goal_callback(int body, poise_goal_function function, void *user)
{
    poise_goal goal = poise_goal_default(POISE_GOAL_CALLBACK);
    goal.body = body;
    goal.function = function;
    goal.user = user;
    return goal;
}
