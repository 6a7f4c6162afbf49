// Feet of a retargeted figure: their soles, and how they are planted.
#include "motion/named_figures.h"

#include <poise/retarget.h>
#include <scenes/scenes.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "motion/retarget/retarget_work.h"
#include "support/own.h"
#include "support/test_main.h"

static const named plain[2] = {{"LeftUpLeg", "LeftLeg", "LeftFoot", "LeftArm", "LeftForeArm", "LeftHand"},
                               {"RightUpLeg", "RightLeg", "RightFoot", "RightArm", "RightForeArm", "RightHand"}};

// ---- Soles ---------------------------------------------------------------------------------------------------------------

// A figure whose feet are turned by joints of this type.
static poise_model *figure_on(poise_joint_type feet)
{
    poise_builder *b;
    poise_model *loose = figure(&plain[0], &plain[1]), *model;
    ck_assert_int_eq(poise_builder_create(NULL, &b, NULL), POISE_OK);
    for (int k = 0; k < poise_model_info(loose).joints; ++k) {
        poise_joint joint = *poise_model_joint_info(loose, k).given;
        joint.type = strstr(joint.name, "Foot") ? feet : joint.type;
        ck_assert_int_eq(poise_builder_add_joint(b, &joint, NULL), POISE_OK);
    }
    ck_assert_int_eq(poise_model_create(b, NULL, &model, NULL), POISE_OK);
    poise_model_destroy(loose);
    poise_builder_destroy(b);
    return model;
}

// Whichever way a foot tilts, its sole is as low as the lowest corner of its box. Some feet are fixed to their shanks.
TEST_ROWS(no_corner_of_a_foot_is_below_its_sole, 2)
{
    static const poise_joint_type types[] = {POISE_JOINT_BALL_QUATERNION, POISE_JOINT_FIXED};
    const vec3 up = v3(0, 1, 0), half = v3(0.05, 0.02, 0.12), middle = v3(0.01, -0.06, 0.04);
    poise_model *model = figure_on(types[test_row]);
    pz_actor actor;
    pz_sole_point corners[POISE_HULL_OF_SHAPE];
    pz_foot foot = {.corner = corners};
    poise_pose pose = poise_pose_identity();
    pose.position = middle;
    poise_shape box = poise_shape_box(poise_model_find_body(model, "LeftFoot"), pose, half);
    poise_vec3 places[POISE_HULL_OF_SHAPE];
    poise_hull hull;
    ck_assert_int_eq(poise_hull_of_shape(&box, places, &hull, NULL), POISE_OK);
    ck_assert_int_eq(pz_actor_open(model, NULL, POISE_UP_Y, NULL, NULL, &actor), POISE_OK);
    pz_foot_measure(&actor, 0, &hull, 1, 0, &foot);
    ck_assert_int_eq(foot.body, box.body);
    ck_assert(!foot.is_guessed && foot.has_edges);
    ck_assert_double_eq_tol(foot.height, half.y - middle.y, 1e-12);
    for (int i = 0; i < 40; ++i) {
        vec3 axis = v3(cos(i), 0, sin(i));
        poise_pose tilted = {.position = v3(0, 1, 0), .rotation = poise_quat_from_axis_angle(axis, 0.03 * i)};
        double lowest = INFINITY;
        for (int k = 0; k < 8; ++k) {
            vec3 corner = v3_add(middle, v3(k & 1 ? half.x : -half.x, k & 2 ? half.y : -half.y, k & 4 ? half.z : -half.z));
            lowest = fmin(lowest, poise_pose_transform(tilted, corner).y);
        }
        ck_assert_double_eq_tol(pz_sole_height(&foot, tilted, up, PZ_HEEL | PZ_TOE, NULL), lowest, 1e-12);
    }
    pz_foot_measure(&actor, 0, &hull, 1, 0.11, &foot); // a height that is given moves the box
    poise_pose standing = {.position = v3(0, 0.11, 0), .rotation = {0, 0, 0, 1}};
    ck_assert_double_eq_tol(pz_sole_height(&foot, standing, up, PZ_HEEL | PZ_TOE, NULL), 0, 1e-12);
    ck_assert_double_eq_tol(poise_pose_transform(standing, foot.heel).y, 0, 1e-12);
    pz_actor_close(&actor, NULL);
    poise_model_destroy(model);
}

// ---- Steps ---------------------------------------------------------------------------------------------------------------

enum { FRAMES = 120, RATE = 60 };

// A foot of this size that stands at the origin for two seconds, and the ground below it. Its frames are for a test to move.
typedef struct stage {
    pz_foot foot;
    pz_ground ground;
    poise_pose *path;
    unsigned char *contact;
    bool *released;
    poise_vec3 *offset;
} stage;

// Memory of its own for each array, so that a sanitizer sees where it ends.
static void *room_for(size_t size)
{
    void *room = calloc(FRAMES, size);
    test_own(free, room);
    return room;
}

static void stand(stage *s, double size, bool has_edges)
{
    *s = (stage){.path = room_for(sizeof *s->path),
                 .contact = room_for(sizeof *s->contact),
                 .released = room_for(sizeof *s->released),
                 .offset = room_for(2 * sizeof *s->offset)};
    s->foot = (pz_foot){.heel = v3(0, -0.08 * size, -0.06 * size),
                        .toe = v3(0, -0.08 * size, 0.16 * size),
                        .height = 0.08 * size,
                        .has_edges = has_edges,
                        .rest = {0, 0, 0, 1},
                        .soles = 2,
                        .path = s->path,
                        .contact = s->contact,
                        .rests = room_for(sizeof *s->contact)};
    s->foot.sole[0] = (pz_sole_point){.at = s->foot.heel, .of = PZ_HEEL};
    s->foot.sole[1] = (pz_sole_point){.at = s->foot.toe, .of = PZ_TOE};
    s->ground = (pz_ground){
        .up = v3(0, 1, 0), .leg = 0.9 * size, .frames = FRAMES, .frame_time = 1.0 / RATE, .released = s->released};
    for (int f = 0; f < FRAMES; ++f) {
        s->path[f] = (poise_pose){.position = v3(0, 0.08 * size, 0), .rotation = {0, 0, 0, 1}};
        s->contact[f] = PZ_HEEL | PZ_TOE;
    }
}

static quat turn_about_up(double angle)
{
    return poise_quat_from_axis_angle(v3(0, 1, 0), angle);
}

static int held_frames(const stage *s)
{
    int count = 0;
    for (int f = 0; f < FRAMES; ++f) {
        count += s->contact[f] != 0;
    }
    return count;
}

// A foot comes to be held, and is let go, without a jolt: halfway by half, at either end hardly at all.
TEST(a_foot_is_held_and_let_go_smoothly)
{
    stage s;
    stand(&s, 1, false);
    memset(s.contact + 40, 0, FRAMES - 40);
    double before = 1.0, steepest = 0.0;
    int last = 39;
    for (int f = 39; f < FRAMES; ++f) {
        double now = pz_foot_firmness(&s.foot, &s.ground, PZ_TOE, f);
        ck_assert(now >= 0 && now <= before);
        steepest = fmax(steepest, before - now);
        last = now > 0 ? f : last;
        before = now;
    }
    ck_assert_int_gt(last, 44);
    ck_assert_double_eq(pz_foot_firmness(&s.foot, &s.ground, PZ_TOE, 39), 1.0);
    ck_assert_double_lt(steepest, 2.0 / (last + 1 - 39));
    for (int f = 39; f <= last + 1; ++f) {
        double one = pz_foot_firmness(&s.foot, &s.ground, PZ_TOE, f);
        double other = pz_foot_firmness(&s.foot, &s.ground, PZ_TOE, last + 40 - f);
        ck_assert_double_eq_tol(one + other, 1.0, 1e-12);
    }
}

// A foot that rests on its edges stands for as long as its contact lasts, however fast it turns away after that.
TEST(what_a_foot_does_after_a_step_does_not_end_it)
{
    stage s;
    stand(&s, 1, true);
    for (int f = 60; f < FRAMES; ++f) {
        s.contact[f] = 0;
        s.path[f].rotation = turn_about_up(1.0);
        s.path[f].position.y = 0.3;
    }
    pz_foot_plant(&s.foot, &s.ground, s.offset);
    ck_assert_int_eq(held_frames(&s), 60);
}

// A step forward at the height of the ground. On its way the sole is lifted clear of it: not while the actor's foot rests, nor
// where the way takes longer than a step does.
TEST(a_foot_is_lifted_on_its_way)
{
    static const struct {
        int first, last;
        unsigned char rests;
        double height;
    } rows[] = {{40, 70, 0, 0.027}, {40, 70, PZ_HEEL, 0}, {20, 100, 0, 0}, {20, 26, 0, 0.006}};
    for (size_t i = 0; i < TEST_COUNT(rows); ++i) {
        stage s;
        stand(&s, 1, false);
        for (int f = rows[i].first; f < FRAMES; ++f) {
            double share = fmin((double)(f - rows[i].first) / (rows[i].last - rows[i].first), 1);
            s.path[f].position.x = 0.4 * share;
            s.contact[f] = f < rows[i].last ? 0 : s.contact[f];
            s.foot.rests[f] = f < rows[i].last ? rows[i].rests : 0;
        }
        pz_foot_plant(&s.foot, &s.ground, s.offset);
        double highest = 0;
        for (int f = 0; f < FRAMES; ++f) {
            double height = pz_sole_height(&s.foot, s.path[f], s.ground.up, PZ_HEEL | PZ_TOE, NULL);
            ck_assert(height > -1e-12 && (!s.contact[f] || height < 1e-12));
            highest = fmax(highest, height);
        }
        ck_assert_msg(rows[i].height > 0.01 ? fabs(highest - rows[i].height) < 1e-9 : highest <= rows[i].height + 1e-12,
                      "row %zu: %g", i, highest);
    }
}

// A contact in which the foot goes elsewhere is cut where it moves fastest, for as long as it takes to go there gently.
TEST(a_foot_that_slides_takes_a_step)
{
    stage s;
    stand(&s, 1, false);
    for (int f = 0; f < FRAMES; ++f) {
        s.path[f].position.x = f < 50 ? 0.0 : f < 56 ? 0.2 * (f - 50) / 6 : 0.2;
    }
    pz_foot_plant(&s.foot, &s.ground, s.offset);
    ck_assert(s.contact[0] && s.contact[FRAMES - 1] && !s.contact[53]);
    for (int f = 1; f < FRAMES; ++f) {
        double moved = v3_norm(v3_sub(s.path[f].position, s.path[f - 1].position));
        ck_assert_msg(!(s.contact[f] && s.contact[f - 1]) || moved < 1e-9, "frame %d slides by %g", f, moved);
        ck_assert_msg(moved < 0.1, "frame %d jumps by %g", f, moved);
    }
}

// Slides count against pivots by the length of the leg: whatever the unit of length, a contact is cut at the same frames.
TEST(steps_are_cut_alike_at_every_size)
{
    static const double sizes[] = {1.0, 0.01, 100.0};
    stage s[TEST_COUNT(sizes)];
    for (int fastest_turns = 0; fastest_turns < 2; ++fastest_turns) {
        for (size_t i = 0; i < TEST_COUNT(sizes); ++i) {
            stand(&s[i], sizes[i], false);
            for (int f = 0; f < FRAMES; ++f) {
                s[i].path[f].position.x = f >= 40 ? (fastest_turns ? 0.1 : 0.3) * sizes[i] : 0.0;
                s[i].path[f].rotation = turn_about_up(f >= 80 ? (fastest_turns ? 1.2 : 0.4) : 0.0);
            }
            pz_foot_plant(&s[i].foot, &s[i].ground, s[i].offset);
            ck_assert_int_lt(held_frames(&s[i]), FRAMES);
            ck_assert_mem_eq(s[i].contact, s[0].contact, FRAMES);
        }
    }
}

// On its heel a foot may be tipped back, on its toe forward. The other way the sole would be in the ground: it stays flat.
TEST(an_edge_that_rests_stays_on_the_ground)
{
    static const struct {
        unsigned char contact;
        double nose_down;
        bool is_flat;
    } rows[] = {{PZ_HEEL, 0.2, true}, {PZ_HEEL, -0.2, false}, {PZ_TOE, -0.2, true}, {PZ_TOE, 0.2, false}};
    for (size_t i = 0; i < TEST_COUNT(rows); ++i) {
        stage s;
        stand(&s, 1, true);
        for (int f = 50; f < 70; ++f) {
            s.contact[f] = rows[i].contact;
            s.path[f].rotation = poise_quat_from_axis_angle(v3(1, 0, 0), rows[i].nose_down);
        }
        pz_foot_plant(&s.foot, &s.ground, s.offset);
        for (int f = 50; f < 70; ++f) {
            vec3 heel = poise_pose_transform(s.path[f], s.foot.heel), toe = poise_pose_transform(s.path[f], s.foot.toe);
            bool rests = s.contact[f] == PZ_HEEL ? heel.y == fmin(heel.y, toe.y) : toe.y == fmin(heel.y, toe.y);
            ck_assert_int_eq(s.contact[f], rows[i].contact);
            ck_assert_double_eq_tol(s.contact[f] == PZ_HEEL ? heel.y : toe.y, 0, 1e-9);
            ck_assert(rests || fabs(heel.y - toe.y) < 1e-9);
            ck_assert_int_eq(fabs(heel.y - toe.y) < 1e-9, rows[i].is_flat);
        }
    }
}

// ---- Stance -------------------------------------------------------------------------------------------------------------
//
// How high a figure stands: its soles against the ground of its rest pose.

typedef struct standing {
    poise_model *model;
    poise_stance *stance;
    poise_kinematics *kin;
    double q[256];
} standing;

static poise_model *scene(const char *name)
{
    poise_model *model = NULL;
    ck_assert_int_eq(scene_create(name, NULL, &model, NULL), POISE_OK);
    return own_model(model);
}

static standing stand_humanoid(void)
{
    standing s = {.model = scene("humanoid")};
    poise_model_neutral(s.model, s.q);
    ck_assert_int_eq(poise_stance_create(s.model, NULL, POISE_UP_UNKNOWN, NULL, 0, NULL, &s.stance, NULL), POISE_OK);
    ck_assert_int_eq(poise_kinematics_create(s.model, NULL, &s.kin, NULL), POISE_OK);
    return s;
}

static void leave(standing *s)
{
    poise_kinematics_destroy(s->kin);
    poise_stance_destroy(s->stance);
}

// The root moved up along y, all else at rest.
static double lifted(standing *s, double by)
{
    s->q[1] += by;
    ck_assert_int_eq(poise_kinematics_update(s->kin, s->q, NULL), POISE_OK);
    s->q[1] -= by;
    return poise_stance_height(s->stance, s->kin);
}

TEST(a_figure_that_leaves_the_ground_is_found_and_one_that_stands_is_not)
{
    standing s = stand_humanoid();
    static const struct {
        double by;
        poise_verdict_level level;
        poise_finding_kind kind;
    } rows[] = {{0, POISE_VERDICT_GOOD, 0},
                {0.01, POISE_VERDICT_GOOD, 0},
                {0.2, POISE_VERDICT_DOUBTFUL, POISE_FINDING_AFLOAT},
                {-0.01, POISE_VERDICT_DOUBTFUL, POISE_FINDING_SUNK},
                {-0.2, POISE_VERDICT_FAILED, POISE_FINDING_SUNK}};
    for (size_t i = 0; i < TEST_COUNT(rows); ++i) {
        poise_verdict verdict;
        poise_finding finding;
        double height = lifted(&s, rows[i].by);
        ck_assert_double_eq_tol(height, rows[i].by, 1e-12);
        ck_assert_int_eq(poise_stance_judge(s.stance, height, NULL, &verdict, &finding, 1, NULL), POISE_OK);
        ck_assert_int_eq(verdict.level, rows[i].level);
        ck_assert_int_eq(verdict.count, rows[i].level != POISE_VERDICT_GOOD);
        ck_assert(verdict.count == 0 || (finding.kind == rows[i].kind && finding.value > fabs(rows[i].by)));
    }
    leave(&s);
}

// One foot is enough to stand on.
TEST(a_leg_may_be_lifted)
{
    standing s = stand_humanoid();
    int knee = poise_model_find_joint(s.model, "left_knee");
    ck_assert_int_ge(knee, 0);
    s.q[poise_model_joint_info(s.model, knee).q] += 1.0;
    ck_assert_double_eq_tol(lifted(&s, 0), 0, 1e-12);
    leave(&s);
}

// The ground is below the rest pose that was given.
TEST(a_rest_pose_of_ones_own_has_its_own_ground)
{
    standing s = stand_humanoid();
    poise_stance *higher = NULL;
    s.q[1] += 0.5;
    ck_assert_int_eq(poise_stance_create(s.model, s.q, POISE_UP_Y, NULL, 0, NULL, &higher, NULL), POISE_OK);
    ck_assert_int_eq(poise_kinematics_update(s.kin, s.q, NULL), POISE_OK);
    ck_assert_double_eq_tol(poise_stance_height(higher, s.kin), 0, 1e-12);
    ck_assert_double_eq_tol(poise_stance_height(s.stance, s.kin), 0.5, 1e-12);
    poise_stance_destroy(higher);
    leave(&s);
}

TEST(who_does_not_stand_or_cannot_leave_has_no_stance)
{
    poise_stance *none = NULL;
    poise_error error;
    ck_assert_int_eq(poise_stance_create(scene("arm7"), NULL, POISE_UP_UNKNOWN, NULL, 0, NULL, &none, &error),
                     POISE_ERROR_NOT_FOUND);
    ck_assert_int_eq(poise_stance_create(NULL, NULL, POISE_UP_UNKNOWN, NULL, 0, NULL, &none, &error), POISE_ERROR_ARGUMENT);
    ck_assert_ptr_null(none);
}
