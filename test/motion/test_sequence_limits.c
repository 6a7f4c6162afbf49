// Whole clips within limits of velocity and acceleration, for every kind of joint, measured here by differences of frames.
#include "support/own.h"

#include <poise/sequence.h>

#include <math.h>
#include <string.h>

#define FRAMES     300
#define FRAME_TIME 0.01
#define MOST_DOFS  64

// A joint by itself, or a chain of six such joints.
static const struct {
    poise_joint_type type;
    int joints;
} kinds[] = {{POISE_JOINT_REVOLUTE, 1},    {POISE_JOINT_PRISMATIC, 1},   {POISE_JOINT_BALL_QUATERNION, 1},
             {POISE_JOINT_BALL_EXPMAP, 1}, {POISE_JOINT_SWING_TWIST, 1}, {POISE_JOINT_FREE, 1},
             {POISE_JOINT_FREE_EXPMAP, 1}, {POISE_JOINT_REVOLUTE, 6},    {POISE_JOINT_BALL_QUATERNION, 3},
             {POISE_JOINT_SWING_TWIST, 3}};

// Goals that a fast motion of the model meets.
typedef struct target {
    poise_goal goals[2];
    poise_pose tip[FRAMES];
} target;

static const poise_goal *goals_of(void *user, int frame, int *count)
{
    target *t = user;
    t->goals[0].target.position = t->tip[frame].position;
    t->goals[1].target.rotation = t->tip[frame].rotation;
    *count = 2;
    return t->goals;
}

static poise_model *make_model(poise_joint_type type, int joints)
{
    static const char *names[] = {"a", "b", "c", "d", "e", "f"};
    poise_builder *builder = NULL;
    poise_model *model = NULL;
    ck_assert_int_eq(poise_builder_create(NULL, &builder, NULL), POISE_OK);
    own_builder(builder);
    for (int k = 0; k < joints; ++k) {
        poise_joint joint = poise_joint_default();
        joint.name = names[k];
        joint.parent = k > 0 ? names[k - 1] : NULL;
        joint.type = type;
        joint.axis = k % 2 ? poise_vec3_make(0, 1, 0) : poise_vec3_make(0, 0, 1);
        joint.offset.position = poise_vec3_make(k > 0 ? 0.3 : 0.0, 0, 0);
        if (type == POISE_JOINT_SWING_TWIST) {
            joint.swing[0] = 0.8, joint.swing[1] = 0.6;
        }
        if (type == POISE_JOINT_REVOLUTE || type == POISE_JOINT_PRISMATIC) {
            joint.lower[0] = -0.9, joint.upper[0] = 1.5;
        }
        ck_assert_int_eq(poise_builder_add_joint(builder, &joint, NULL), POISE_OK);
    }
    ck_assert_int_eq(poise_model_create(builder, NULL, &model, NULL), POISE_OK);
    return own_model(model);
}

// A clip that swings in all dofs about the neutral pose, and the goals that it meets.
static poise_clip *make_clip(const poise_model *model, int joints, target *t)
{
    poise_model_summary info = poise_model_info(model);
    poise_clip *clip = NULL;
    poise_kinematics *kin = NULL;
    ck_assert_int_eq(poise_clip_create(FRAMES, info.nq, FRAME_TIME, NULL, &clip, NULL), POISE_OK);
    own_clip(clip);
    ck_assert_int_eq(poise_kinematics_create(model, NULL, &kin, NULL), POISE_OK);
    own_kinematics(kin);
    poise_vec3 local = poise_vec3_make(0.3, 0.1, 0.0);
    t->goals[0] = poise_goal_position(joints - 1, local, local);
    t->goals[1] = poise_goal_orientation(joints - 1, (poise_quat){0, 0, 0, 1});
    for (int f = 0; f < FRAMES; ++f) {
        double *q = clip->q + (size_t)f * (size_t)info.nq, neutral[MOST_DOFS], step[MOST_DOFS];
        poise_model_neutral(model, neutral);
        for (int i = 0; i < info.nv; ++i) {
            step[i] = 0.9 * sin(0.06 * f + 1.7 * i) - 0.9 * sin(1.7 * i);
        }
        ck_assert_int_eq(poise_retract(model, neutral, step, q, NULL), POISE_OK);
        ck_assert_int_eq(poise_model_clamp(model, q, NULL, NULL), POISE_OK);
        ck_assert_int_eq(poise_kinematics_update(kin, q, NULL), POISE_OK);
        t->tip[f].position = poise_kinematics_point(kin, joints - 1, local);
        t->tip[f].rotation = poise_kinematics_body_pose(kin, joints - 1).rotation;
    }
    return clip;
}

// ---- Differences ---------------------------------------------------------------------------------------------------------

static poise_quat from_vector(const double *r)
{
    double angle = sqrt(r[0] * r[0] + r[1] * r[1] + r[2] * r[2]), s = angle > 0 ? sin(angle / 2) / angle : 0.5;
    return (poise_quat){s * r[0], s * r[1], s * r[2], cos(angle / 2)};
}

static void turn_between(poise_quat a, poise_quat b, double *way)
{
    poise_quat by = poise_quat_multiply(poise_quat_conjugate(a), b);
    double sine = sqrt(by.x * by.x + by.y * by.y + by.z * by.z), sign = by.w < 0 ? -1 : 1;
    double per = sine > 0 ? sign * 2 * atan2(sine, fabs(by.w)) / sine : 2;
    way[0] = per * by.x, way[1] = per * by.y, way[2] = per * by.z;
}

// From frame f to the next: rotations turn about the axes of their body, the rest is differences of coordinates.
static void way_of(const poise_model *model, const poise_clip *clip, int f, double *way)
{
    const double *from = clip->q + (size_t)f * (size_t)clip->nq, *to = from + clip->nq;
    for (int k = 0; k < poise_model_info(model).joints; ++k) {
        poise_joint_info joint = poise_model_joint_info(model, k);
        bool is_free = joint.type == POISE_JOINT_FREE || joint.type == POISE_JOINT_FREE_EXPMAP;
        bool is_quat = joint.type == POISE_JOINT_FREE || joint.type == POISE_JOINT_BALL_QUATERNION;
        bool is_vector = joint.type == POISE_JOINT_FREE_EXPMAP || joint.type == POISE_JOINT_BALL_EXPMAP;
        int plain = is_free ? 3 : is_quat || is_vector ? 0 : joint.nv;
        for (int i = 0; i < plain; ++i) {
            way[joint.v + i] = to[joint.q + i] - from[joint.q + i];
        }
        const double *a = from + joint.q + plain, *b = to + joint.q + plain;
        if (is_quat) {
            turn_between((poise_quat){a[0], a[1], a[2], a[3]}, (poise_quat){b[0], b[1], b[2], b[3]}, way + joint.v + plain);
        } else if (is_vector) {
            turn_between(from_vector(a), from_vector(b), way + joint.v + plain);
        }
    }
}

// The largest velocity and acceleration of a dof, per second.
static void measure(const poise_model *model, const poise_clip *clip, double *velocity, double *acceleration)
{
    double way[MOST_DOFS] = {0}, before[MOST_DOFS] = {0};
    *velocity = *acceleration = 0;
    for (int f = 0; f + 1 < clip->frames; ++f) {
        way_of(model, clip, f, way);
        for (int i = 0; i < poise_model_info(model).nv; ++i) {
            *velocity = fmax(*velocity, fabs(way[i]) / FRAME_TIME);
            *acceleration = fmax(*acceleration, f > 0 ? fabs(way[i] - before[i]) / (FRAME_TIME * FRAME_TIME) : 0);
        }
        memcpy(before, way, sizeof before);
    }
}

// ---- Tests ---------------------------------------------------------------------------------------------------------------

// The motion has 5.4 units a second and 32 a second squared in every dof.
TEST_ROWS(limits_of_velocity_and_acceleration_hold, (int)TEST_COUNT(kinds) * 3)
{
    int kind = test_row / 3, which = test_row % 3;
    poise_model *model = make_model(kinds[kind].type, kinds[kind].joints);
    target t;
    poise_clip *clip = make_clip(model, kinds[kind].joints, &t);
    double velocity[MOST_DOFS], acceleration[MOST_DOFS], fastest, hardest;
    for (int i = 0; i < MOST_DOFS; ++i) {
        velocity[i] = 2.0, acceleration[i] = 12.0;
    }
    measure(model, clip, &fastest, &hardest);
    ck_assert_double_gt(fastest, 4.0);
    ck_assert_double_gt(hardest, 24.0);
    poise_sequence_options o = poise_sequence_options_default();
    o.velocity = which != 1 ? velocity : NULL;
    o.acceleration = which != 0 ? acceleration : NULL;
    poise_sequence_report report;
    poise_error error = {0};
    poise_status status = poise_sequence_solve(model, &o, goals_of, &t, clip, NULL, &report, &error);
    ck_assert_msg(status == POISE_OK, "%s", error.text);
    measure(model, clip, &fastest, &hardest);
    if (o.velocity) {
        ck_assert_double_le(fastest, 2.0 * (1 + 1e-9));
        ck_assert_double_eq_tol(report.velocity, fastest / 2.0, 1e-6);
    }
    if (o.acceleration) {
        ck_assert_double_le(hardest, 12.0 * (1 + 1e-9));
        ck_assert_double_eq_tol(report.acceleration, hardest / 12.0, 1e-6);
    }
    ck_assert_double_ge(fmax(report.velocity, report.acceleration), 0.9); // and are used
    bool is_plain = kinds[kind].type == POISE_JOINT_REVOLUTE || kinds[kind].type == POISE_JOINT_PRISMATIC;
    if (is_plain && kinds[kind].joints == 1) { // what the solver itself holds back leaves little to the last step
        ck_assert_double_lt(report.moved, 0.1);
    }
    for (int f = 0; f < clip->frames; ++f) {
        ck_assert(poise_model_within_limits(model, clip->q + (size_t)f * (size_t)clip->nq));
    }
}

// A rotation by itself is moved by the last step alone: what its report says is the difference from the clip without limits.
TEST(the_report_says_how_far_the_last_step_moved_and_where)
{
    poise_model *model = make_model(POISE_JOINT_BALL_QUATERNION, 1);
    static target t[3];
    poise_clip *clips[3];
    poise_sequence_report report[3];
    double loose[3] = {100, 100, 100}, tight[3] = {100, 2, 100}; // about y alone
    for (int i = 0; i < 3; ++i) {
        poise_sequence_options o = poise_sequence_options_default();
        o.velocity = i == 0 ? NULL : i == 1 ? loose : tight;
        clips[i] = make_clip(model, 1, &t[i]);
        ck_assert_int_eq(poise_sequence_solve(model, &o, goals_of, &t[i], clips[i], NULL, &report[i], NULL), POISE_OK);
    }
    double moved = 0.0, way[3];
    int late = 0;
    for (int f = 0; f < FRAMES; ++f) {
        const double *a = clips[0]->q + 4 * f, *b = clips[2]->q + 4 * f;
        turn_between((poise_quat){a[0], a[1], a[2], a[3]}, (poise_quat){b[0], b[1], b[2], b[3]}, way);
        double turn = sqrt(way[0] * way[0] + way[1] * way[1] + way[2] * way[2]);
        moved = fmax(moved, turn);
        late += turn > 0.1 * 2.0 * 4 * FRAME_TIME; // of the way from knot to knot
    }
    for (int i = 0; i < 2; ++i) {
        ck_assert_double_eq(report[i].moved, 0.0);
        ck_assert_int_eq(report[i].late, 0);
        ck_assert_int_eq(report[i].late_dof, 0);
    }
    ck_assert_double_gt(moved, 0.1);
    ck_assert_double_eq_tol(report[2].moved, moved, 1e-9);
    ck_assert_int_eq(report[2].late, late);
    ck_assert_int_gt(late, FRAMES / 4);
    ck_assert_int_eq(report[2].late_dof, 1);
    ck_assert(!report[2].converged);
}

// A locked dof keeps its values, whatever the limits, and the report says so.
TEST(locked_dofs_move_as_they_are)
{
    poise_model *model = make_model(POISE_JOINT_REVOLUTE, 1);
    target t;
    poise_clip *clip = make_clip(model, 1, &t);
    double velocity = 2.0, fastest, hardest;
    bool locked = true;
    poise_sequence_options o = poise_sequence_options_default();
    o.velocity = &velocity;
    o.locked = &locked;
    poise_sequence_report report;
    ck_assert_int_eq(poise_sequence_solve(model, &o, goals_of, &t, clip, NULL, &report, NULL), POISE_OK);
    measure(model, clip, &fastest, &hardest);
    ck_assert_double_gt(fastest, 4.0);
    ck_assert_double_eq_tol(report.velocity, fastest / 2.0, 1e-6);
    ck_assert(!report.converged);
}
