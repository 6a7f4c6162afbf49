#include "random_goals.h"

#include <math.h>

// With d = R z the derivatives of d . a by a turn omega are: first d x a, second (d a^T + a d^T)/2 - (d . a) I.
bool random_goals_spring(void *user, const poise_pose *pose, poise_body_energy *out)
{
    const double *a = user, *b = a + 3;
    poise_vec3 p = pose->position, d = poise_quat_rotate(pose->rotation, poise_vec3_make(0, 0, 1));
    double D[3] = {d.x, d.y, d.z}, P[3] = {p.x, p.y, p.z};
    double da = D[0] * a[0] + D[1] * a[1] + D[2] * a[2], pb = P[0] * b[0] + P[1] * b[1] + P[2] * b[2];
    double t[3] = {D[1] * a[2] - D[2] * a[1], D[2] * a[0] - D[0] * a[2], D[0] * a[1] - D[1] * a[0]}; // d x a
    out->energy = 0.5 * (P[0] * P[0] + P[1] * P[1] + P[2] * P[2]) + da * pb;
    out->gauss_newton[0] = 0.0;
    for (int i = 0; i < 3; ++i) {
        out->gradient[i] = t[i] * pb;
        out->gradient[3 + i] = P[i] + da * b[i];
        for (int j = 0; j < 3; ++j) {
            out->hessian[6 * i + j] = pb * (0.5 * (D[i] * a[j] + D[j] * a[i]) - (i == j ? da : 0.0));
            out->hessian[6 * i + 3 + j] = t[i] * b[j];
            out->hessian[6 * (3 + j) + i] = t[i] * b[j];
        }
        out->hessian[6 * (3 + i) + 3 + i] = 1.0;
        out->gauss_newton[6 * (3 + i) + 3 + i] = 1.0;
    }
    return true;
}

static poise_pose random_pose(scene_random *random, double size)
{
    poise_quat rotation = scene_random_rotation(random);
    return (poise_pose){rotation, random_vector(random, size)};
}

// One goal of each kind on random bodies, without losses or bands.
static poise_goal plain_goal(scene_random *random, const poise_model *model, poise_goal_kind kind, random_goals *out)
{
    int body = scene_random_index(random, poise_model_info(model).joints);
    int other = scene_random_index(random, poise_model_info(model).joints);
    poise_pose local = random_pose(random, 0.4), target = random_pose(random, 2.0);
    poise_vec3 axis = scene_random_direction(random), direction = scene_random_direction(random);
    switch (kind) {
    case POISE_GOAL_POSITION:
        return poise_goal_position(body, local.position, target.position);
    case POISE_GOAL_DIRECTION:
        return poise_goal_direction(body, axis, direction);
    case POISE_GOAL_ORIENTATION:
        return poise_goal_orientation(body, target.rotation);
    case POISE_GOAL_POSE:
        return poise_goal_pose(body, local, target);
    case POISE_GOAL_AIM:
        return poise_goal_aim(body, local.position, axis, target.position);
    case POISE_GOAL_PLANE:
        return poise_goal_plane(body, local.position, target.position, direction);
    case POISE_GOAL_LINE:
        return poise_goal_line(body, local.position, target.position, direction);
    case POISE_GOAL_DISTANCE:
        return poise_goal_distance(body, local.position, target.position, 0.7);
    case POISE_GOAL_POSTURE:
        return poise_goal_posture(out->posture, 1.0);
    case POISE_GOAL_SMOOTHNESS:
        return poise_goal_smoothness(out->posture, out->before, 1.0);
    case POISE_GOAL_RELATIVE:
        return poise_goal_relative(body, local, other, target);
    case POISE_GOAL_CENTER_OF_MASS:
        return poise_goal_center_of_mass(target.position);
    case POISE_GOAL_CALLBACK:
    case POISE_GOAL_KIND_COUNT:
        break;
    }
    return poise_goal_callback(body, random_goals_spring, out->numbers);
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
