#include "random_goals.h"

#include "goal_facts.h"

#include <math.h>

static poise_pose random_pose(scene_random *random, double size)
{
    poise_quat rotation = scene_random_rotation(random);
    return (poise_pose){rotation, random_vector(random, size)};
}

// One goal of a kind on random bodies, without losses or bands.
static poise_goal plain_goal(scene_random *random, const poise_model *model, poise_goal_kind kind, random_goals *out)
{
    goal_parts parts = {.distance = 0.7, .posture = out->posture, .before = out->before, .numbers = out->numbers};
    parts.body = scene_random_index(random, poise_model_info(model).joints);
    parts.body2 = scene_random_index(random, poise_model_info(model).joints);
    parts.local = random_pose(random, 0.4);
    parts.target = random_pose(random, 2.0);
    parts.axis = scene_random_direction(random);
    parts.direction = scene_random_direction(random);
    return goal_rows[kind].make(&parts);
}

static poise_goal with_loss(poise_goal goal, poise_loss loss, double scale)
{
    goal.loss = loss;
    goal.loss_scale = scale;
    return goal;
}

static poise_goal with_bands(poise_goal goal, poise_vec3 tolerance, poise_vec3 rotation_tolerance)
{
    goal.tolerance = tolerance;
    goal.rotation_tolerance = rotation_tolerance;
    return goal;
}

void random_goals_make(scene_random *random, const poise_model *model, random_goals *out)
{
    static const poise_goal_kind kinds[RANDOM_GOALS] = {
        POISE_GOAL_POSITION, POISE_GOAL_DIRECTION,     POISE_GOAL_ORIENTATION, POISE_GOAL_POSE,    POISE_GOAL_AIM,
        POISE_GOAL_PLANE,    POISE_GOAL_LINE,          POISE_GOAL_DISTANCE,    POISE_GOAL_POSTURE, POISE_GOAL_SMOOTHNESS,
        POISE_GOAL_CALLBACK, POISE_GOAL_POSITION,      POISE_GOAL_POSITION,    POISE_GOAL_PLANE,   POISE_GOAL_LINE,
        POISE_GOAL_DISTANCE, POISE_GOAL_ORIENTATION,   POISE_GOAL_POSE,        POISE_GOAL_POSTURE, POISE_GOAL_RELATIVE,
        POISE_GOAL_RELATIVE, POISE_GOAL_CENTER_OF_MASS};
    scene_random_configuration(random, model, out->posture);
    scene_random_configuration(random, model, out->before);
    for (int i = 0; i < poise_model_info(model).nv; ++i) {
        out->weights[i] = scene_random_range(random, 0, 2);
    }
    for (int i = 0; i < 6; ++i) {
        out->numbers[i] = scene_random_range(random, -1, 1);
    }
    poise_goal *g = out->goals;
    for (int i = 0; i < RANDOM_GOALS; ++i) {
        g[i] = plain_goal(random, model, kinds[i], out);
        g[i].weight = scene_random_range(random, 0.1, 2.0);
        g[i].rotation_weight = scene_random_range(random, 0.1, 2.0);
    }
    poise_vec3 some = {0.1, 0.3, 0.02}, free_z = {0.05, 0, INFINITY};
    g[11] = with_loss(g[11], POISE_LOSS_HUBER, 0.5);
    g[12] = with_bands(with_loss(g[12], POISE_LOSS_GEMAN_MCCLURE, 0.9), free_z, free_z);
    g[13] = with_loss(g[13], POISE_LOSS_HUBER, 0.2);
    g[14] = with_loss(g[14], POISE_LOSS_GEMAN_MCCLURE, 1.5);
    g[15] = with_loss(g[15], POISE_LOSS_HUBER, 0.3);
    g[16] = with_bands(g[16], some, some);
    g[17] = with_bands(g[17], some, free_z);
    g[18].q_weights = out->weights;
    g[20].body2 = POISE_WORLD;
}
