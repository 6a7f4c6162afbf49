// Goals: functions of the host, and what makes directions unit.
#include "glue.h"

WEB_IMPORT(energy) int web_host_energy(int function, const poise_pose *pose, poise_body_energy *out);

static bool ask_host(void *user, const poise_pose *pose, poise_body_energy *out)
{
    return web_host_energy((int)(uintptr_t)user, pose, out) != 0;
}

// Directions and quaternions of any length become unit, as the constructors of goal.h make them. A CALLBACK asks the host,
// for the function whose number is `user`.
void WEB_EXPORT(web_goal_complete)(poise_goal *goal)
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
    case POISE_GOAL_CALLBACK:
        goal->function = ask_host;
        break;
    default:
        break;
    }
}

void WEB_EXPORT(web_goal_rotation)(poise_goal *goal, poise_quat rotation)
{
    goal->target.rotation = poise_goal_orientation(0, rotation).target.rotation;
}
