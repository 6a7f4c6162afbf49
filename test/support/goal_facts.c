#include "goal_facts.h"

#include <math.h>
#include <stddef.h>

// With d = R z the derivatives of d . a by a turn omega are: first d x a, second (d a^T + a d^T)/2 - (d . a) I.
bool goal_spring(void *user, const poise_pose *pose, poise_body_energy *out)
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

// ---- Makers and what meets them ------------------------------------------------------------------------------------------

static poise_pose frame_of(const poise_kinematics *kin, const poise_goal *goal)
{
    return poise_pose_multiply(poise_kinematics_body_pose(kin, goal->body), goal->local);
}

static poise_goal make_position(const goal_parts *p)
{
    return poise_goal_position(p->body, p->local.position, p->target.position);
}

static void meet_point(const poise_kinematics *kin, const double *q, poise_goal *goal)
{
    (void)q;
    goal->target.position = frame_of(kin, goal).position;
}

static poise_goal make_direction(const goal_parts *p)
{
    return poise_goal_direction(p->body, p->axis, p->direction);
}

static void meet_direction(const poise_kinematics *kin, const double *q, poise_goal *goal)
{
    (void)q;
    goal->direction = poise_kinematics_direction(kin, goal->body, goal->axis);
}

static poise_goal make_orientation(const goal_parts *p)
{
    return poise_goal_orientation(p->body, p->target.rotation);
}

static void meet_frame(const poise_kinematics *kin, const double *q, poise_goal *goal)
{
    (void)q;
    goal->target = frame_of(kin, goal);
}

static poise_goal make_pose(const goal_parts *p)
{
    return poise_goal_pose(p->body, p->local, p->target);
}

static poise_goal make_aim(const goal_parts *p)
{
    return poise_goal_aim(p->body, p->local.position, p->axis, p->target.position);
}

static void meet_aim(const poise_kinematics *kin, const double *q, poise_goal *goal)
{
    (void)q;
    poise_vec3 x = frame_of(kin, goal).position, d = poise_kinematics_direction(kin, goal->body, goal->axis);
    goal->target.position = poise_vec3_make(x.x + 2 * d.x, x.y + 2 * d.y, x.z + 2 * d.z);
}

static poise_goal make_plane(const goal_parts *p)
{
    return poise_goal_plane(p->body, p->local.position, p->target.position, p->direction);
}

static poise_goal make_line(const goal_parts *p)
{
    return poise_goal_line(p->body, p->local.position, p->target.position, p->direction);
}

static poise_goal make_distance(const goal_parts *p)
{
    return poise_goal_distance(p->body, p->local.position, p->target.position, p->distance);
}

static void meet_distance(const poise_kinematics *kin, const double *q, poise_goal *goal)
{
    (void)q;
    poise_vec3 x = frame_of(kin, goal).position, t = goal->target.position;
    goal->distance = sqrt((x.x - t.x) * (x.x - t.x) + (x.y - t.y) * (x.y - t.y) + (x.z - t.z) * (x.z - t.z));
}

static poise_goal make_posture(const goal_parts *p)
{
    return poise_goal_posture(p->posture, 1.0);
}

static poise_goal make_smoothness(const goal_parts *p)
{
    return poise_goal_smoothness(p->posture, p->before, 1.0);
}

static void meet_posture(const poise_kinematics *kin, const double *q, poise_goal *goal)
{
    (void)kin;
    goal->q = q;
    goal->q_before = goal->q_before ? q : NULL;
}

static poise_goal make_relative(const goal_parts *p)
{
    return poise_goal_relative(p->body, p->local, p->body2, p->target);
}

static void meet_relative(const poise_kinematics *kin, const double *q, poise_goal *goal)
{
    (void)q; // out of range, as the world is, gives the identity
    goal->target =
        poise_pose_multiply(poise_pose_inverse(poise_kinematics_body_pose(kin, goal->body2)), frame_of(kin, goal));
}

static poise_goal make_center_of_mass(const goal_parts *p)
{
    return poise_goal_center_of_mass(p->target.position);
}

static void meet_center_of_mass(const poise_kinematics *kin, const double *q, poise_goal *goal)
{
    (void)q;
    poise_kinematics_mass_center(kin, &goal->target.position, NULL);
}

static poise_goal make_callback(const goal_parts *p)
{
    return poise_goal_callback(p->body, goal_spring, p->numbers);
}

// ---- The table -----------------------------------------------------------------------------------------------------------

const goal_facts goal_rows[POISE_GOAL_KIND_COUNT] = {
    [POISE_GOAL_POSITION] = {make_position, meet_point, .takes_loss = true, .takes_band = true, .rows = 3,
                             .words = "position elbow 0.1 0.2 0.3 at 0 0 0.5"},
    [POISE_GOAL_DIRECTION] = {make_direction, meet_direction, .rows = 3, .words = "direction elbow along 1 0 0 axis 0 1 0"},
    [POISE_GOAL_ORIENTATION] = {make_orientation, meet_frame, .takes_rotation_band = true, .rows = 3,
                                .words = "orientation elbow rpy 10 20 30 deg"},
    [POISE_GOAL_POSE] = {make_pose, meet_frame, .takes_loss = true, .takes_band = true, .takes_rotation_band = true,
                         .rows = 6, .words = "pose elbow 0.1 0.2 0.3 rpy 10 20 30 deg"},
    [POISE_GOAL_AIM] = {make_aim, meet_aim, .rows = 3, .words = "aim elbow to 0.1 0.2 0.3 axis 0 1 0"},
    [POISE_GOAL_PLANE] = {make_plane, meet_point, .takes_loss = true, .rows = 1,
                          .words = "plane elbow through 0.1 0.2 0.3 normal 0 0 1"},
    [POISE_GOAL_LINE] = {make_line, meet_point, .takes_loss = true, .rows = 3,
                         .words = "line elbow through 0.1 0.2 0.3 along 1 0 0"},
    [POISE_GOAL_DISTANCE] = {make_distance, meet_distance, .takes_loss = true, .rows = 1,
                             .words = "distance elbow 0.5 from 0.1 0.2 0.3"},
    [POISE_GOAL_POSTURE] = {make_posture, meet_posture, .rows = ROW_PER_DOF, .words = "posture 1 2 3 0.5 0.25 -0.5"},
    [POISE_GOAL_SMOOTHNESS] = {make_smoothness, meet_posture, .rows = ROW_PER_DOF, .words = "stay"},
    [POISE_GOAL_RELATIVE] = {make_relative, meet_relative, .rows = 6,
                             .words = "relative elbow to wrist 0.1 0.2 0.3 rpy 10 20 30 deg"},
    [POISE_GOAL_CENTER_OF_MASS] = {make_center_of_mass, meet_center_of_mass, .rows = 3, .words = "balance 0.1 0.2 0.3"},
    [POISE_GOAL_CALLBACK] = {make_callback, NULL, .rows = NO_ROWS},
};
