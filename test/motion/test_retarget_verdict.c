// What the verdict on a retargeted motion tells of limbs that cannot move or point elsewhere, and of feet that never rest.
#include "motion/named_figures.h"
#include "support/own.h"
#include "support/test_main.h"

#include <poise/retarget.h>

#include <math.h>
#include <string.h>

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
