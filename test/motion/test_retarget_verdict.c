// What the verdict on a retargeted motion tells of limbs that cannot move or point elsewhere, and of feet that never rest.
#include "motion/named_figures.h"

#include <poise/retarget.h>

#include <math.h>
#include <string.h>

#include "support/own.h"
#include "support/test_main.h"

enum { FRAMES = 90 };

static const named left = {"LeftUpLeg", "LeftLeg", "LeftFoot", "LeftArm", "LeftForeArm", "LeftHand"};
static const named right = {"RightUpLeg", "RightLeg", "RightFoot", "RightArm", "RightForeArm", "RightHand"};

// A figure of 0.8 of the actor's size, in which joints with this word in their names, or named in it, are of another type.
static poise_model *figure_with_joints(const char *word, poise_joint_type type)
{
    poise_model *model = figure(&left, &right), *small;
    poise_builder *b;
    ck_assert_int_eq(poise_builder_create(NULL, &b, NULL), POISE_OK);
    for (int k = 0; k < poise_model_info(model).joints; ++k) {
        poise_joint_info info = poise_model_joint_info(model, k);
        poise_joint joint = poise_joint_default();
        joint.name = info.name;
        joint.parent = info.parent >= 0 ? poise_model_joint_info(model, info.parent).body : NULL;
        joint.type = strstr(info.name, word) || strstr(word, info.name) ? type : info.type;
        joint.axis = poise_vec3_make(1, 0, 0);
        joint.offset.position = info.given->offset.position;
        joint.offset.position.y *= k % 3 == 0 ? 0.7 : 0.8;
        ck_assert_int_eq(poise_builder_add_joint(b, &joint, NULL), POISE_OK);
    }
    ck_assert_int_eq(poise_model_create(b, NULL, &small, NULL), POISE_OK);
    poise_builder_destroy(b);
    poise_model_destroy(model);
    return small;
}

static poise_model *figure_with_fixed(const char *word)
{
    return figure_with_joints(word, POISE_JOINT_FIXED);
}

static void set_turn(const poise_model *model, const char *body, double angle, double *q)
{
    poise_quat turn = poise_quat_from_axis_angle(poise_vec3_make(1, 0, 0), angle);
    double *own = q + poise_model_joint_info(model, poise_model_find_body(model, body)).q;
    own[0] = turn.x, own[1] = turn.y, own[2] = turn.z, own[3] = turn.w;
}

// Three seconds of a figure that swings its legs once a second by up to `swing` radians, turned as a whole by `lying`.
static poise_verdict judge_swing(double swing, double lying, const char *fixed, poise_retarget_outcome *outcome,
                                 poise_finding *worst)
{
    poise_model *actor = figure(&left, &right), *robot = figure_with_fixed(fixed);
    int nq = poise_model_info(actor).nq;
    poise_clip *clip, *made;
    ck_assert_int_eq(poise_clip_create(FRAMES, nq, 1.0 / 30, NULL, &clip, NULL), POISE_OK);
    for (int f = 0; f < FRAMES; ++f) {
        double *q = clip->q + f * nq, angle = swing * sin(6.283185307179586 * f / 30);
        poise_quat turn = poise_quat_from_axis_angle(poise_vec3_make(1, 0, 0), lying);
        poise_model_neutral(actor, q);
        q[3] = turn.x, q[4] = turn.y, q[5] = turn.z, q[6] = turn.w;
        set_turn(actor, "LeftUpLeg", angle, q);
        set_turn(actor, "RightUpLeg", -angle, q);
        set_turn(actor, "LeftArm", 0.5 + angle, q);
    }
    poise_retarget_task task = poise_retarget_task_default();
    poise_role_map map;
    poise_verdict verdict;
    task.from = actor, task.to = robot, task.clip = clip, task.from_up = task.to_up = POISE_UP_Y;
    ck_assert_int_eq(poise_roles_match(&task, NULL, &map, NULL), POISE_OK);
    task.map = &map;
    ck_assert_int_eq(poise_retarget(&task, NULL, &made, NULL, outcome, NULL), POISE_OK);
    ck_assert_int_eq(poise_retarget_judge(&task, outcome, NULL, &verdict, worst, 1, NULL), POISE_OK);
    poise_clip_destroy(made);
    poise_clip_destroy(clip);
    poise_model_destroy(robot);
    poise_model_destroy(actor);
    return verdict;
}

// Robots for training often come with arms that are fixed: the map has them, and nothing follows.
TEST(limbs_whose_joints_are_fixed_are_told)
{
    static const struct {
        const char *fixed, *told; // NULL: nothing
    } cases[] = {{"Arm", "upper_arm.left"}, {"ForeArm", "forearm.left"}, {"Hand", NULL}, {"no body", NULL}};
    for (size_t i = 0; i < TEST_COUNT(cases); ++i) {
        poise_retarget_outcome outcome;
        poise_finding worst = {.name = NULL};
        poise_verdict verdict = judge_swing(0.02, 0, cases[i].fixed, &outcome, &worst);
        ck_assert_msg(verdict.level == (cases[i].told ? POISE_VERDICT_DOUBTFUL : POISE_VERDICT_GOOD), "%s: %d",
                      cases[i].fixed, (int)verdict.level);
        ck_assert_int_eq(verdict.worst[POISE_FINDING_FIXED] > 0, cases[i].told != NULL);
        if (cases[i].told) {
            ck_assert_int_eq(worst.kind, POISE_FINDING_FIXED);
            ck_assert_str_eq(worst.name, cases[i].told);
        }
    }
}

// A task onto a figure in which these are fixed, and its map.
static poise_retarget_task task_onto(const poise_model *actor, const char *fixed, poise_clip *clip, poise_role_map *map)
{
    poise_retarget_task task = poise_retarget_task_default();
    task.from = actor, task.to = own_model(figure_with_fixed(fixed)), task.clip = clip;
    task.from_up = task.to_up = POISE_UP_Y;
    poise_model_neutral(actor, clip->q);
    ck_assert_int_eq(poise_roles_match(&task, NULL, map, NULL), POISE_OK);
    task.map = map;
    return task;
}

TEST(limbs_that_the_actor_cannot_move_either_are_not_told)
{
    poise_model *actor = own_model(figure_with_fixed("Left"));
    poise_role_map map;
    poise_verdict verdict;
    poise_retarget_outcome outcome = {.from_stands = true, .to_stands = true};
    poise_clip *clip;
    ck_assert_int_eq(poise_clip_create(1, poise_model_info(actor).nq, 1, NULL, &clip, NULL), POISE_OK);
    own_clip(clip);
    poise_retarget_task task = task_onto(actor, "Left", clip, &map);
    ck_assert_int_ge(map.role[POISE_ROLE_UPPER_ARM].to, 0);
    ck_assert_int_eq(poise_retarget_judge(&task, &outcome, NULL, &verdict, NULL, 0, NULL), POISE_OK);
    ck_assert_double_eq(verdict.worst[POISE_FINDING_FIXED], 0);
}

TEST(without_legs_other_bones_say_how_far_hips_go)
{
    poise_model *actor = own_model(figure(&left, &right)), *longer;
    poise_role_map map;
    poise_retarget_outcome outcome;
    poise_clip *clip, *made;
    ck_assert_int_eq(poise_clip_create(1, poise_model_info(actor).nq, 1, NULL, &clip, NULL), POISE_OK);
    own_clip(clip);
    poise_retarget_task task = task_onto(actor, "no body", clip, &map);
    double twice[32];
    for (int k = 0; k < 32; ++k) {
        twice[k] = 2;
    }
    ck_assert_int_eq(poise_model_rescale(actor, twice, NULL, &longer, NULL), POISE_OK);
    task.to = own_model(longer);
    for (int part = POISE_ROLE_THIGH; part <= POISE_ROLE_FOOT; ++part) {
        map.role[part].to = map.role[part + POISE_ROLE_SIDE].to = POISE_NONE;
    }
    ck_assert_int_eq(poise_retarget(&task, NULL, &made, NULL, &outcome, NULL), POISE_OK);
    own_clip(made);
    ck_assert_double_eq_tol(outcome.factor, 2, 1e-12);
}

// Feet that pass the ground without resting on it, as those of a walk on the spot do, are told; feet that stand are not, nor
// those of somebody who swims.
TEST(feet_that_never_rest_are_told_where_they_are_near_the_ground)
{
    static const struct {
        double swing, lying;
        bool is_told;
    } cases[] = {{0.5, 0, true}, {0.02, 0, false}, {0.5, 1.5707963, false}};
    for (size_t i = 0; i < TEST_COUNT(cases); ++i) {
        poise_retarget_outcome outcome;
        poise_finding worst;
        poise_verdict verdict = judge_swing(cases[i].swing, cases[i].lying, "no body", &outcome, &worst);
        ck_assert(outcome.planted);
        ck_assert_msg((outcome.unplanted > 0.3 * FRAMES) == cases[i].is_told, "case %zu: %d, contact %g", i,
                      outcome.unplanted, outcome.contact);
        ck_assert_int_eq(verdict.worst[POISE_FINDING_UNPLANTED] > 0.3, cases[i].is_told);
    }
}

// An arm that stays down while the actor's is up for a while is told, though its mean angle is small.
TEST(limbs_that_point_elsewhere_for_a_while_are_told)
{
    for (int raised = 5; raised <= 20; raised += 15) {
        poise_model *actor = own_model(figure(&left, &right));
        int nq = poise_model_info(actor).nq;
        int arm = poise_model_joint_info(actor, poise_model_find_body(actor, "LeftArm")).q;
        poise_role_map map;
        poise_retarget_outcome outcome;
        poise_verdict verdict;
        poise_clip *clip, *made;
        ck_assert_int_eq(poise_clip_create(FRAMES, nq, 1.0 / 30, NULL, &clip, NULL), POISE_OK);
        own_clip(clip);
        poise_retarget_task task = task_onto(actor, "no body", clip, &map);
        task.to =
            own_model(figure_with_joints("Breast, LeftArm", POISE_JOINT_REVOLUTE)); // the arm turns about its bone alone
        for (int f = 0; f < FRAMES; ++f) {
            double *q = clip->q + f * nq, half = f >= FRAMES - raised ? 1.0 : 0.0; // of its turn about z
            poise_model_neutral(actor, q);
            q[arm + 2] = sin(half), q[arm + 3] = cos(half);
        }
        ck_assert_int_eq(poise_retarget(&task, NULL, &made, NULL, &outcome, NULL), POISE_OK);
        own_clip(made);
        ck_assert_int_eq(poise_retarget_judge(&task, &outcome, NULL, &verdict, NULL, 0, NULL), POISE_OK);
        ck_assert_int_eq(outcome.aside, raised);
        ck_assert_str_eq(poise_role_name(outcome.aside_role), "upper_arm.left");
        ck_assert_double_eq(verdict.worst[POISE_FINDING_ASIDE], (double)raised / FRAMES);
        ck_assert_double_eq(verdict.worst[POISE_FINDING_LIMB] > 0.5, false);
    }
}

// ---- Retarget checks ----------------------------------------------------------------------------------------------------
//
// What is measured of a retargeted motion as a whole, each with a motion that is wrong in that alone: bodies inside each other,
// below the ground, or not known; joints that flip; feet that follow into the ground; feet that slide; runs.

#define RATE 30.0

typedef struct stage {
    poise_model *actor, *robot;
    poise_clip *clip;
    poise_role_map map;
    poise_retarget_task task;
    poise_retarget_outcome outcome;
    poise_verdict verdict;
    poise_finding found[16];
} stage;

// The figure at 0.8 of its size.
static poise_model *small_figure(const poise_model *actor)
{
    double factors[32];
    poise_model *small;
    for (int k = 0; k < 32; ++k) {
        factors[k] = k % 3 == 0 ? 0.7 : 0.8;
    }
    ck_assert_int_eq(poise_model_rescale(actor, factors, NULL, &small, NULL), POISE_OK);
    return own_model(small);
}

// Three seconds in which an actor stands.
static void open_stage(stage *s)
{
    s->actor = own_model(figure(&left, &right));
    s->robot = small_figure(s->actor);
    int nq = poise_model_info(s->actor).nq;
    ck_assert_int_eq(poise_clip_create(FRAMES, nq, 1 / RATE, NULL, &s->clip, NULL), POISE_OK);
    own_clip(s->clip);
    for (int f = 0; f < FRAMES; ++f) {
        poise_model_neutral(s->actor, s->clip->q + f * nq);
    }
    s->task = poise_retarget_task_default();
    s->task.from = s->actor, s->task.to = s->robot, s->task.clip = s->clip;
    s->task.from_up = s->task.to_up = POISE_UP_Y;
    s->task.metres = 1;
}

static double *coordinates(stage *s, int frame, const char *body)
{
    return s->clip->q + frame * s->clip->nq + poise_model_joint_info(s->actor, poise_model_find_body(s->actor, body)).q;
}

static void turn(stage *s, int frame, const char *body, poise_vec3 axis, double angle)
{
    poise_quat by = poise_quat_from_axis_angle(axis, angle);
    double *q = coordinates(s, frame, body) + (strcmp(body, "Trunk") == 0 ? 3 : 0);
    q[0] = by.x, q[1] = by.y, q[2] = by.z, q[3] = by.w;
}

static const poise_vec3 x_axis = {1, 0, 0}, y_axis = {0, 1, 0}, z_axis = {0, 0, 1};

static void play(stage *s)
{
    poise_clip *made;
    poise_error error = {0};
    ck_assert_int_eq(poise_roles_match(&s->task, NULL, &s->map, NULL), POISE_OK);
    s->task.map = &s->map;
    ck_assert_msg(poise_retarget(&s->task, NULL, &made, NULL, &s->outcome, &error) == POISE_OK, "%s", error.text);
    own_clip(made);
    ck_assert_int_eq(poise_retarget_judge(&s->task, &s->outcome, NULL, &s->verdict, s->found, 16, NULL), POISE_OK);
}

static const poise_finding *finding(const stage *s, poise_finding_kind kind)
{
    const poise_finding *found = NULL;
    for (int i = 0; i < s->verdict.count && i < 16 && !found; ++i) {
        found = s->found[i].kind == kind ? &s->found[i] : NULL;
    }
    return found;
}

static void told(const stage *s, poise_finding_kind kind, poise_verdict_level level, const char *word)
{
    const poise_finding *f = finding(s, kind);
    char text[300];
    ck_assert_msg(f != NULL, "%s", poise_finding_name(kind));
    poise_finding_describe(f, text, sizeof text);
    ck_assert_msg(f->level == level && strstr(text, word), "%d: %s", (int)f->level, text);
}

// ---- Bodies --------------------------------------------------------------------------------------------------------------

// A trunk that is wider than the actor's, and an arm that goes down along the side for a third of the time.
static void put_shapes(const stage *s, poise_shape shapes[2])
{
    shapes[0] =
        poise_shape_box(poise_model_find_body(s->robot, "Breast"),
                        (poise_pose){.rotation = {0, 0, 0, 1}, .position = {0, -0.1, 0}}, poise_vec3_make(0.25, 0.2, 0.1));
    shapes[1] = poise_shape_capsule(poise_model_find_body(s->robot, "LeftForeArm"), poise_vec3_make(0, 0, 0),
                                    poise_vec3_make(0.2, 0, 0), 0.03);
}

TEST(bodies_inside_each_other_are_told_with_frames)
{
    stage s;
    poise_shape shapes[2];
    open_stage(&s);
    put_shapes(&s, shapes);
    s.task.shapes = shapes, s.task.shape_count = 2;
    play(&s);
    ck_assert(s.outcome.has_bodies && s.outcome.overlap.pairs == 1 && s.outcome.overlap.depth == 0);
    ck_assert_int_eq(s.verdict.level, POISE_VERDICT_GOOD);
    for (int f = 60; f < FRAMES; ++f) {
        turn(&s, f, "LeftArm", z_axis, -1.5 * fmin((f - 59) / 15.0, 1));
    }
    play(&s);
    ck_assert_int_gt(s.outcome.overlap.frames, 10);
    ck_assert(s.outcome.overlap.depth > 0.02 && s.outcome.overlap.frame >= 60);
    told(&s, POISE_FINDING_PIERCED, POISE_VERDICT_FAILED, "LeftForeArm");
    told(&s, POISE_FINDING_SELF, POISE_VERDICT_DOUBTFUL, "5 mm");
    s.task.metres = 0.001; // the same in a unit in which nothing is as deep as 5 mm
    play(&s);
    ck_assert(s.outcome.overlap.frames == 0 && finding(&s, POISE_FINDING_SELF) == NULL);
}

TEST(what_was_not_read_is_not_checked)
{
    stage s;
    open_stage(&s);
    play(&s);
    ck_assert(!s.outcome.has_bodies && s.outcome.overlap.pairs == 0);
    ck_assert_int_eq(s.verdict.level, POISE_VERDICT_GOOD); // there is nothing to check
    s.task.shapes_skipped = 3;
    play(&s);
    told(&s, POISE_FINDING_UNCHECKED, POISE_VERDICT_DOUBTFUL, "3 collision shapes");
    ck_assert_int_eq(s.verdict.level, POISE_VERDICT_DOUBTFUL);
}

// A capsule for each body that plays a limb's role, or the trunk's.
static int cover(const stage *s, double size, poise_shape *shapes)
{
    static const char *const bodies[] = {"Trunk",       "Breast",     "LeftUpLeg", "LeftLeg",   "LeftFoot", "LeftArm",
                                         "LeftForeArm", "RightUpLeg", "RightLeg",  "RightFoot", "RightArm", "RightForeArm"};
    for (size_t i = 0; i < TEST_COUNT(bodies); ++i) {
        shapes[i] = poise_shape_capsule(poise_model_find_body(s->robot, bodies[i]), poise_vec3_make(0, 0, 0),
                                        poise_vec3_make(0, 0.05 * size, 0), 0.02 * size);
    }
    return (int)TEST_COUNT(bodies);
}

// A character may have none. A robot's bodies without shapes cannot be seen to overlap: all, some, or all but for a unit.
TEST(limbs_of_robots_without_shapes_are_not_checked)
{
    stage s;
    poise_shape shapes[12];
    open_stage(&s);
    s.task.is_robot = true;
    play(&s);
    ck_assert_int_eq(s.outcome.bare, 12);
    told(&s, POISE_FINDING_UNCHECKED, POISE_VERDICT_DOUBTFUL, "12 bodies of the skeleton, such as Trunk, have no collision");
    int count = cover(&s, 1, shapes);
    s.task.shapes = shapes, s.task.shape_count = count;
    play(&s);
    ck_assert_int_eq(s.outcome.bare, 0);
    ck_assert_int_eq(s.verdict.level, POISE_VERDICT_GOOD);
    s.task.shape_count = count - 2; // without the right arm
    play(&s);
    told(&s, POISE_FINDING_UNCHECKED, POISE_VERDICT_DOUBTFUL, "2 bodies of the skeleton, such as RightArm, have no");
    s.task.is_robot = false;
    play(&s);
    ck_assert_ptr_null(finding(&s, POISE_FINDING_UNCHECKED));
    s.task.is_robot = true, s.task.shape_count = cover(&s, 0.001, shapes); // millimetres taken for metres
    play(&s);
    ck_assert(s.outcome.bare == 10 && s.outcome.bare_by_size); // feet may be points
    told(&s, POISE_FINDING_UNCHECKED, POISE_VERDICT_DOUBTFUL, "far too small");
}

// A figure that turns upside down about its feet hangs into the ground.
TEST(a_figure_upside_down_has_failed)
{
    stage s;
    poise_shape head[1];
    open_stage(&s);
    head[0] = poise_shape_capsule(poise_model_find_body(s.robot, "Head"), poise_vec3_make(0, 0, 0),
                                  poise_vec3_make(0, 0.1, 0), 0.05);
    s.task.shapes = head, s.task.shape_count = 1;
    for (int f = 20; f < FRAMES; ++f) {
        turn(&s, f, "Trunk", x_axis, 3.14159 * fmin((f - 19) / 30.0, 1));
        coordinates(&s, f, "Trunk")[1] -= 0.9 * fmin((f - 19) / 30.0, 1);
    }
    play(&s);
    told(&s, POISE_FINDING_BURIED, POISE_VERDICT_FAILED, "Head");
    told(&s, POISE_FINDING_FLOOR, POISE_VERDICT_DOUBTFUL, "Head");
    ck_assert_int_gt(s.outcome.overlap.buried_count, 20);
}

// ---- Joints --------------------------------------------------------------------------------------------------------------

// The recording flips an arm in one frame. The motion does as it says, and a robot breaks.
TEST(flips_of_the_recording_are_told_by_joint_and_frame)
{
    stage s;
    double limits[64];
    open_stage(&s);
    for (int f = 40; f < 44; ++f) {
        turn(&s, f, "RightForeArm", z_axis, 2.0);
    }
    play(&s);
    ck_assert_int_eq(s.outcome.jumps, 0);
    ck_assert_double_eq_tol(s.outcome.fast_speed, 2.0 * RATE, 0.5);
    ck_assert(s.outcome.fast_frame == 40 || s.outcome.fast_frame == 44);
    ck_assert_double_eq_tol(s.outcome.fast, s.outcome.fast_speed / 20, 1e-9);
    ck_assert_int_ge(s.outcome.abrupt, 4);
    told(&s, POISE_FINDING_FAST, POISE_VERDICT_DOUBTFUL, "RightForeArm moves at up to 60 rad/s (frame 4");
    told(&s, POISE_FINDING_ABRUPT, POISE_VERDICT_DOUBTFUL, "RightForeArm");
    ck_assert(poise_retarget_velocities(s.robot, 5, limits));
    s.task.velocity = limits;
    play(&s);
    ck_assert_double_le(s.outcome.fast, 1);
    ck_assert_ptr_null(finding(&s, POISE_FINDING_FAST));
}

// The whole body turns over from one frame to the next: at 30 frames a second nobody does. A pirouette is none of it.
TEST(bodies_that_flip_as_a_whole_are_told)
{
    stage s;
    open_stage(&s);
    for (int f = 40; f < FRAMES; ++f) {
        turn(&s, f, "Trunk", y_axis, 2.0);
    }
    play(&s);
    ck_assert_double_eq_tol(s.outcome.fast_speed, 2.0 * RATE, 0.5);
    ck_assert_int_eq(s.outcome.fast_frame, 40);
    told(&s, POISE_FINDING_FAST, POISE_VERDICT_DOUBTFUL, "Trunk moves at up to 60 rad/s (frame 40");
    open_stage(&s);
    for (int f = 0; f < FRAMES; ++f) {
        turn(&s, f, "Trunk", y_axis, 17 * f / RATE);
    }
    play(&s);
    ck_assert_ptr_null(finding(&s, POISE_FINDING_FAST));
}

// The same motion at 30 and at 120 frames a second is as fast.
TEST(speeds_are_per_second)
{
    stage s, fine;
    open_stage(&s);
    for (int f = 0; f < FRAMES; ++f) {
        turn(&s, f, "LeftArm", z_axis, 0.8 * sin(4 * f / RATE));
    }
    play(&s);
    fine = s;
    ck_assert_int_eq(poise_clip_resample(s.clip, s.actor, 1 / (4 * RATE), NULL, &fine.clip, NULL), POISE_OK);
    own_clip(fine.clip);
    fine.task.clip = fine.clip;
    play(&fine);
    ck_assert_double_eq_tol(s.outcome.fast_speed, 3.2, 0.1);
    ck_assert_double_eq_tol(fine.outcome.fast_speed, s.outcome.fast_speed, 0.05);
    ck_assert_ptr_null(finding(&s, POISE_FINDING_FAST));
}

// ---- Hips ----------------------------------------------------------------------------------------------------------------

// The recording is somewhere else from one frame to the next: so is the robot, faster than anybody.
TEST(hips_that_leap_with_the_recording_are_told)
{
    stage s;
    open_stage(&s);
    for (int f = 0; f < FRAMES; ++f) {
        coordinates(&s, f, "Trunk")[2] += f < 40 ? 0 : 2;
    }
    play(&s);
    ck_assert_int_eq(s.outcome.lurch_frame, 40);
    ck_assert_double_eq_tol(s.outcome.lurch_speed, 2 * s.outcome.factor * RATE, 0.5);
    ck_assert_double_eq_tol(s.outcome.lurch, s.outcome.lurch_speed - 12, 1e-9);
    told(&s, POISE_FINDING_LURCHED, POISE_VERDICT_DOUBTFUL, "m/s in frame 40");
    for (int f = 0; f < FRAMES; ++f) { // a run is none
        coordinates(&s, f, "Trunk")[2] = 6 * f / RATE;
    }
    play(&s);
    ck_assert_ptr_null(finding(&s, POISE_FINDING_LURCHED));
}

// The actor squats at once and stays there; the robot's legs are slower, and its hips still move when the actor's rest.
TEST(hips_faster_than_the_actor_s_are_told)
{
    const double limits_of_joints[] = {100, 4};
    for (int is_slow = 0; is_slow < 2; ++is_slow) {
        stage s;
        double limits[64];
        open_stage(&s);
        for (int f = 40; f < FRAMES; ++f) {
            double bent = 1.2 * fmin((f - 39) / 6.0, 1);
            coordinates(&s, f, "Trunk")[1] -= 0.87 * (1 - cos(bent));
            turn(&s, f, "LeftUpLeg", x_axis, -bent), turn(&s, f, "RightUpLeg", x_axis, -bent);
            turn(&s, f, "LeftLeg", x_axis, 2 * bent), turn(&s, f, "RightLeg", x_axis, 2 * bent);
            turn(&s, f, "LeftFoot", x_axis, -bent), turn(&s, f, "RightFoot", x_axis, -bent);
        }
        ck_assert(poise_retarget_velocities(s.robot, limits_of_joints[is_slow], limits));
        s.task.velocity = limits;
        play(&s);
        ck_assert_msg(is_slow ? s.outcome.lurch > 1 && s.outcome.lurch_frame > 45 : s.outcome.lurch < 0.5, "%g in %d",
                      s.outcome.lurch, s.outcome.lurch_frame);
        ck_assert_int_eq(finding(&s, POISE_FINDING_LURCHED) != NULL, is_slow);
    }
}

// The file's y points down, or the actor does a handstand for a while.
TEST(actors_that_were_turned_upright_are_told)
{
    for (int is_whole = 0; is_whole < 2; ++is_whole) {
        stage s;
        open_stage(&s);
        for (int f = is_whole ? 0 : 60; f < FRAMES; ++f) {
            turn(&s, f, "Trunk", x_axis, 3.14159);
        }
        s.task.from_up = POISE_UP_UNKNOWN;
        play(&s);
        ck_assert_msg(is_whole ? s.outcome.overturned == FRAMES : s.outcome.overturned == 0, "%d of %d",
                      s.outcome.overturned, s.outcome.upright);
        ck_assert_int_eq(finding(&s, POISE_FINDING_OVERTURNED) != NULL, is_whole);
    }
}

// ---- Feet ----------------------------------------------------------------------------------------------------------------

TEST(feet_that_follow_into_the_ground_are_judged)
{
    stage s;
    open_stage(&s);
    s.task.feet = POISE_FEET_FOLLOW;
    play(&s);
    ck_assert(!s.outcome.planted && !s.outcome.same);
    ck_assert_int_eq(s.verdict.level, POISE_VERDICT_GOOD);
    for (int f = 45; f < FRAMES; ++f) {
        coordinates(&s, f, "Trunk")[1] -= 0.1;
    }
    s.task.ground = 0.06; // below the soles of the first half
    play(&s);
    ck_assert_double_gt(s.outcome.sunk, 0.05);
    told(&s, POISE_FINDING_SUNK, POISE_VERDICT_FAILED, "below the ground");
}

// The actor puts a foot on something high, at once, and keeps it there; a robot that cannot keep up slides after it.
TEST(feet_that_slide_where_the_actor_s_rest_are_told)
{
    stage s;
    double limits[64];
    open_stage(&s);
    for (int f = 40; f < FRAMES; ++f) {
        turn(&s, f, "LeftUpLeg", x_axis, -1.2), turn(&s, f, "LeftLeg", x_axis, 1.2);
    }
    play(&s);
    ck_assert_int_eq(s.outcome.loose, 0);
    ck_assert(poise_retarget_velocities(s.robot, 0.8, limits));
    s.task.velocity = limits;
    play(&s);
    ck_assert_int_gt(s.outcome.loose, 20);
    ck_assert(s.outcome.loose_speed > 0.1 && s.outcome.loose_frame > 40);
    told(&s, POISE_FINDING_LOOSE, POISE_VERDICT_DOUBTFUL, " slides");
}

// The actor drifts a little while it stands. On the ground its feet are planted in one place; on a step they creep along.
TEST(feet_that_creep_on_a_step_are_told)
{
    for (int has_step = 0; has_step < 2; ++has_step) {
        stage s;
        open_stage(&s);
        for (int f = 0; f < FRAMES; ++f) {
            double *q = coordinates(&s, f, "Trunk");
            q[0] += 0.06 * f / RATE;
            q[1] += has_step * 0.3 * fmin(fmax((f - 30) / 6.0, 0), 1);
        }
        play(&s);
        ck_assert_msg(has_step ? s.outcome.loose > 30 : s.outcome.loose == 0, "%d", s.outcome.loose);
        ck_assert_int_eq(finding(&s, POISE_FINDING_LOOSE) != NULL, has_step);
    }
}

// Where the actor rests only for a while, its rests count, not the frames: one foot on a step, the rest a walk in the air.
TEST(loose_feet_are_a_share_of_the_rests)
{
    stage s;
    open_stage(&s);
    for (int f = 0; f < FRAMES; ++f) {
        double *q = coordinates(&s, f, "Trunk");
        bool flies = f < 60;
        q[0] += flies ? 1.5 * f / RATE : 3 + 0.06 * (f - 60) / RATE;
        q[1] += flies ? 0.5 + 0.2 * sin(12 * f / RATE) : 0.5;
    }
    s.task.ground = 0;
    play(&s);
    ck_assert(s.outcome.loose < 0.4 * FRAMES && s.outcome.stances < 80);
    const poise_finding *f = finding(&s, POISE_FINDING_LOOSE);
    ck_assert_msg(f && f->value > 0.8 && f->value <= 1, "%g: %d frames, %d of %d", f ? f->value : -1, s.outcome.loose,
                  s.outcome.loose_stances, s.outcome.stances);
}

// An actor that glides over the ground. A foot that is not planted scrapes over it.
TEST(feet_that_scrape_over_the_ground_are_told)
{
    for (int is_high = 0; is_high < 2; ++is_high) {
        stage s;
        open_stage(&s);
        s.task.ground = 0.05;
        for (int f = 0; f < FRAMES; ++f) {
            coordinates(&s, f, "Trunk")[2] += 1.5 * f / RATE;
            coordinates(&s, f, "Trunk")[1] += is_high && f % 30 > 10 ? 0.1 : 0;
        }
        play(&s);
        ck_assert_msg(is_high ? s.outcome.scuffed < 0.4 * FRAMES : s.outcome.scuffed >= FRAMES - 1, "%d", s.outcome.scuffed);
        ck_assert(s.outcome.scuff_speed > 1 && s.outcome.scuff_speed < 1.5);
        told(&s, POISE_FINDING_SCUFFED, POISE_VERDICT_DOUBTFUL, "scrapes over the ground");
    }
}

// A step forward with a foot whose toe points down, longer than the actor's: it is lifted over the ground.
TEST(a_foot_does_not_scrape_on_its_way)
{
    stage s;
    poise_shape shapes[2];
    open_stage(&s);
    for (int side = 0; side < 2; ++side) {
        shapes[side] = poise_shape_box(poise_model_find_body(s.robot, side == 0 ? "LeftFoot" : "RightFoot"),
                                       (poise_pose){.rotation = {0, 0, 0, 1}, .position = {0, -0.03, 0.08}},
                                       poise_vec3_make(0.04, 0.02, 0.16));
    }
    s.task.shapes = shapes, s.task.shape_count = 2;
    for (int f = 30; f < FRAMES; ++f) {
        double share = fmin((f - 30) / 12.0, 1), down = 0.3 * sin(3.141592653589793 * share), angle = 0.4 * share;
        turn(&s, f, "LeftUpLeg", x_axis, -angle);
        turn(&s, f, "LeftFoot", x_axis, angle + down);
        turn(&s, f, "RightUpLeg", x_axis, angle);
        turn(&s, f, "RightFoot", x_axis, -angle);
        coordinates(&s, f, "Trunk")[1] -= 0.87 * (1 - cos(angle));
        coordinates(&s, f, "Trunk")[2] += 0.87 * sin(angle);
    }
    play(&s);
    ck_assert(s.outcome.planted && s.outcome.contact > 0.5);
    ck_assert_msg(s.outcome.scuffed == 0, "%d frames, at %g", s.outcome.scuffed, s.outcome.scuff_speed);
}

// In the air for two thirds of a second, as in a jump, and for ever.
TEST(nobody_hovers_for_longer_than_a_jump)
{
    for (int stays = 0; stays < 2; ++stays) {
        stage s;
        open_stage(&s);
        for (int f = 40; f < (stays ? FRAMES : 60); ++f) {
            coordinates(&s, f, "Trunk")[1] += 0.4;
        }
        play(&s);
        ck_assert_int_eq(s.outcome.hovering, stays ? FRAMES - 40 : 0);
        ck_assert_int_eq(finding(&s, POISE_FINDING_HOVERING) != NULL, stays);
        if (stays) {
            ck_assert(s.outcome.hover_first == 40 && s.outcome.hover_last == FRAMES - 1);
            told(&s, POISE_FINDING_HOVERING, POISE_VERDICT_DOUBTFUL, "longest in frames 40 to 89");
        }
    }
}

// A bar from hand to hand, which the skeleton's file closes, and an arm that goes down.
TEST(loops_that_come_apart_are_told)
{
    for (int moves = 0; moves < 2; ++moves) {
        stage s;
        open_stage(&s);
        poise_kinematics *kin;
        double q[128];
        poise_constraint bar = poise_constraint_default(POISE_CONSTRAINT_CONNECT);
        bar.body = poise_model_find_body(s.robot, "LeftHand"), bar.body2 = poise_model_find_body(s.robot, "RightHand");
        poise_model_neutral(s.robot, q);
        ck_assert_int_eq(poise_kinematics_create(s.robot, NULL, &kin, NULL), POISE_OK);
        ck_assert_int_eq(poise_kinematics_update(kin, q, NULL), POISE_OK);
        bar.target.position = poise_pose_transform(poise_pose_inverse(poise_kinematics_body_pose(kin, bar.body2)),
                                                   poise_kinematics_body_pose(kin, bar.body).position);
        poise_kinematics_destroy(kin);
        s.task.loops = &bar, s.task.loop_count = 1;
        for (int f = 60; f < FRAMES && moves; ++f) {
            turn(&s, f, "LeftArm", z_axis, -0.5);
        }
        play(&s);
        ck_assert_msg(moves ? s.outcome.unclosed > 0.1 && s.outcome.unclosed_frame >= 60 : s.outcome.unclosed < 1e-6,
                      "%g, frame %d", s.outcome.unclosed, s.outcome.unclosed_frame);
        ck_assert_int_eq(finding(&s, POISE_FINDING_UNCLOSED) != NULL, moves);
    }
}

// Legs that swing so that feet pass the ground: on the spot; above ground that they leave behind, as in a run; and gliding.
TEST(a_run_is_no_walk_on_the_spot)
{
    static const struct {
        double speed;
        bool is_told;
    } cases[] = {{0, true}, {3.6, false}, {-2.6, true}};
    for (size_t i = 0; i < TEST_COUNT(cases); ++i) {
        stage s;
        open_stage(&s);
        for (int f = 0; f < FRAMES; ++f) {
            double swing = 0.5 * sin(6.283185307179586 * f / RATE), drop = fmin(fabs(cos(6.283185307179586 * f / RATE)), 1);
            turn(&s, f, "LeftUpLeg", x_axis, swing);
            turn(&s, f, "RightUpLeg", x_axis, -swing);
            turn(&s, f, "RightLeg", x_axis, cos(6.283185307179586 * f / RATE) > 0 ? 1.0 * drop : 0); // lifts the one that
            turn(&s, f, "LeftLeg", x_axis, cos(6.283185307179586 * f / RATE) < 0 ? 1.0 * drop : 0);  // swings forward
            coordinates(&s, f, "Trunk")[2] += cases[i].speed * f / RATE;
        }
        play(&s);
        ck_assert_msg((finding(&s, POISE_FINDING_UNPLANTED) != NULL) == cases[i].is_told,
                      "%g m/s: %d unplanted, contact %g, travel %g, glide %g", cases[i].speed, s.outcome.unplanted,
                      s.outcome.contact, s.outcome.travel, s.outcome.glide);
        ck_assert(s.outcome.contact == 0 && s.outcome.unplanted > 0.3 * FRAMES);
        ck_assert_double_eq_tol(s.outcome.travel, s.outcome.factor * fabs(cases[i].speed) * (FRAMES - 1) / RATE, 0.1);
    }
}
