// Edits of whole clips: shifts, time, mirrors, joints and loops.
#include "motion/edit_stage.h"
#include "support/skeleton.h"

#include <string.h>

TEST(a_shift_is_a_position)
{
    stage s = open_walk();
    poise_pin shift = poise_pin_default();
    poise_error error = {.text = ""};
    shift.goal = poise_goal_default(POISE_GOAL_POSE);
    shift.target = POISE_PIN_SHIFT;
    poise_status status = poise_clip_pin(s.model, &shift, 1, NULL, s.clip, NULL, NULL, NULL, &error);
    ck_assert_int_eq(status, POISE_ERROR_UNSUPPORTED);
    ck_assert_ptr_nonnull(strstr(error.text, "only a position without keys can be a shift"));
}

TEST(time_runs_backwards_and_faster)
{
    stage s = open_walk();
    poise_clip *back = NULL, *twice = NULL;
    ck_assert_int_eq(poise_clip_reverse(s.clip, NULL, &back, NULL), POISE_OK);
    own_clip(back);
    ck_assert_int_eq(poise_clip_speed(s.clip, s.model, 2, NULL, &twice, NULL), POISE_OK);
    own_clip(twice);
    ck_assert_int_eq(twice->frames, FRAMES / 2);
    ck_assert_mem_eq(row(back, 0), row(s.clip, FRAMES - 1), (size_t)s.nq * sizeof(double));
    ck_assert_mem_eq(row(twice, 10), row(s.clip, 20), (size_t)s.nq * sizeof(double));
    ck_assert_int_eq(poise_clip_speed(s.clip, s.model, 0, NULL, &twice, NULL), POISE_ERROR_ARGUMENT);
}

// Legs below hips that move below a root that stays, as in Bandai Namco's files; the right shank lies along `bent`.
static poise_model *legs(poise_vec3 bent)
{
    static const struct {
        const char *name, *parent;
        double x, y;
    } rows[] = {{"Root", NULL, 0, 0},
                {"Hips", "Root", 0, 1},
                {"Chest", "Hips", 0, 0.4},
                {"Head", "Chest", 0, 0.3},
                {"LeftArm", "Chest", 0.2, 0.1},
                {"RightArm", "Chest", -0.2, 0.1},
                {"LeftUpLeg", "Hips", 0.1, 0},
                {"LeftLeg", "LeftUpLeg", 0, -0.45},
                {"LeftFoot", "LeftLeg", 0, -0.45},
                {"RightUpLeg", "Hips", -0.1, 0},
                {"RightLeg", "RightUpLeg", 0, -0.45},
                {"RightFoot", "RightLeg", 0, 0}};
    poise_builder *b;
    poise_model *model;
    ck_assert_int_eq(poise_builder_create(NULL, &b, NULL), POISE_OK);
    for (size_t i = 0; i < TEST_COUNT(rows); ++i) {
        poise_joint joint = poise_joint_default();
        joint.name = rows[i].name;
        joint.parent = rows[i].parent;
        joint.type = i < 2 ? POISE_JOINT_FREE : POISE_JOINT_BALL_QUATERNION;
        joint.offset.position = i + 1 < TEST_COUNT(rows) ? poise_vec3_make(rows[i].x, rows[i].y, 0) : bent;
        ck_assert_int_eq(poise_builder_add_joint(b, &joint, NULL), POISE_OK);
    }
    ck_assert_int_eq(poise_model_create(b, NULL, &model, NULL), POISE_OK);
    poise_builder_destroy(b);
    return model;
}

TEST(a_mirror_moves_hips_below_a_root_that_stays_and_needs_a_symmetric_neutral_pose)
{
    for (int is_bent = 0; is_bent < 2; ++is_bent) {
        poise_model *model = legs(is_bent ? poise_vec3_make(0, 0, 0.45) : poise_vec3_make(0, -0.45, 0));
        poise_clip *clip, *seen = NULL;
        poise_error error = {0};
        int hips = poise_model_joint_info(model, poise_model_find_body(model, "Hips")).q;
        ck_assert_int_eq(poise_clip_create(3, poise_model_info(model).nq, 0.1, NULL, &clip, NULL), POISE_OK);
        for (int f = 0; f < 3; ++f) {
            poise_model_neutral(model, clip->q + f * clip->nq);
            clip->q[f * clip->nq + hips] = 0.2 * f;
        }
        poise_status status = poise_clip_mirror(model, clip, NULL, &seen, NULL, &error);
        ck_assert_int_eq(status, is_bent ? POISE_ERROR_UNSUPPORTED : POISE_OK);
        if (is_bent) {
            ck_assert_ptr_nonnull(strstr(error.text, "LeftFoot"));
        } else {
            ck_assert_double_eq_tol(seen->q[2 * clip->nq + hips], -0.4, 1e-9);
            poise_clip_destroy(seen);
        }
        poise_clip_destroy(clip);
        poise_model_destroy(model);
    }
}

TEST(a_mirror_exchanges_left_and_right)
{
    stage s = open_walk();
    poise_clip *seen = NULL;
    poise_mirror_report report;
    int left = poise_model_find_body(s.model, "left_hand"), right = poise_model_find_body(s.model, "right_hand");
    s.clip->frames = 40; // enough
    ck_assert_int_eq(poise_clip_mirror(s.model, s.clip, NULL, &seen, &report, NULL), POISE_OK);
    own_clip(seen);
    ck_assert_int_ge(report.pairs, 10);
    ck_assert_double_lt(report.worst_angle, 1e-6);
    for (int f = 0; f < 40; ++f) {
        poise_vec3 a = pose_at(&s, s.clip, f, left).position, b = pose_at(&s, seen, f, right).position;
        a.x = -a.x;
        ck_assert_double_lt(apart(a, b), 1e-6);
        ck_assert(poise_model_within_limits(s.model, row(seen, f)));
    }
    s.clip->frames = FRAMES;
}

// How far the joints turn from one configuration to the next, the root left out.
static double turned(const stage *s, const double *from, const double *to)
{
    double way[128], most = 0;
    ck_assert_int_eq(poise_difference(s->model, from, to, way, NULL), POISE_OK);
    for (int i = 6; i < s->nv; ++i) {
        most = fmax(most, fabs(way[i]));
    }
    return most;
}

TEST(clips_are_joined_where_they_meet)
{
    stage s = open_walk();
    poise_clip *whole = NULL, *next = NULL;
    poise_pose end, begin;
    ck_assert_int_eq(poise_clip_trim(s.clip, 0, 120, NULL, &next, NULL), POISE_OK);
    own_clip(next);
    ck_assert_int_eq(poise_clip_append(s.model, s.clip, next, 0.2, POISE_UP_Y, NULL, &whole, NULL), POISE_OK);
    own_clip(whole);
    ck_assert_int_eq(whole->frames, FRAMES + 120 - 20);
    ck_assert_mem_eq(whole->q, s.clip->q, (size_t)(FRAMES - 20) * (size_t)s.nq * sizeof(double));
    double usual = 0;
    for (int f = 1; f < FRAMES; ++f) {
        usual = fmax(usual, turned(&s, row(s.clip, f - 1), row(s.clip, f)));
    }
    for (int f = 1; f < whole->frames; ++f) { // no jump anywhere
        end = pose_at(&s, whole, f - 1, 0), begin = pose_at(&s, whole, f, 0);
        ck_assert_double_lt(apart(end.position, begin.position), 0.05);
        ck_assert_double_lt(turned(&s, row(whole, f - 1), row(whole, f)), 2 * usual + 0.1);
    }
    ck_assert_int_eq(poise_clip_append(s.model, s.clip, next, 5, POISE_UP_Y, NULL, &whole, NULL), POISE_ERROR_ARGUMENT);
    poise_clip *pose = NULL, *longer = NULL; // one frame is a clip, too
    ck_assert_int_eq(poise_clip_trim(s.clip, 0, 1, NULL, &pose, NULL), POISE_OK);
    own_clip(pose);
    ck_assert_int_eq(poise_clip_append(s.model, s.clip, pose, 0, POISE_UP_Y, NULL, &longer, NULL), POISE_OK);
    own_clip(longer);
    ck_assert_int_eq(longer->frames, FRAMES + 1);
}

// An angle without limits goes on by the nearest of its turns; one between limits stays between them.
TEST(only_angles_without_limits_go_on_turning_in_the_clip_that_follows)
{
    static const double end[] = {3, 3}, begin[] = {-3, -3};
    poise_builder *builder = new_builder();
    add_plain(builder, "free", NULL, POISE_JOINT_REVOLUTE);
    poise_joint limited = joint_of("limited", "free", POISE_JOINT_REVOLUTE);
    limited.lower[0] = -3.1, limited.upper[0] = 3.1;
    add(builder, &limited);
    poise_model *model = model_of(builder);
    poise_clip *clips[2], *whole = NULL;
    for (int i = 0; i < 2; ++i) {
        ck_assert_int_eq(poise_clip_create(2, 2, 0.01, NULL, &clips[i], NULL), POISE_OK);
        own_clip(clips[i]);
        for (int f = 0; f < 2; ++f) {
            memcpy(clips[i]->q + 2 * f, i == 0 ? end : begin, sizeof end);
        }
    }
    ck_assert_int_eq(poise_clip_append(model, clips[0], clips[1], 0, POISE_UP_Y, NULL, &whole, NULL), POISE_OK);
    own_clip(whole);
    const double *q = row(whole, 2);
    ck_assert_double_eq_tol(q[0], -3 + 6.283185307179586, 1e-12);
    ck_assert_double_eq(q[1], -3);
}

TEST(a_loop_ends_where_it_begins)
{
    stage s = open_walk();
    poise_clip *loop = NULL;
    ck_assert_int_eq(poise_clip_loop(s.model, s.clip, 0.3, POISE_UP_Y, NULL, &loop, NULL), POISE_OK);
    own_clip(loop);
    ck_assert_int_eq(loop->frames, FRAMES - 30);
    double open = turned(&s, row(s.clip, FRAMES - 1), row(s.clip, 0)),
           seam = turned(&s, row(loop, FRAMES - 31), row(loop, 0));
    ck_assert_double_lt(seam, 0.1);
    ck_assert_double_lt(seam, open);
    ck_assert_mem_eq(row(loop, 30), row(s.clip, 30), (size_t)(FRAMES - 60) * (size_t)s.nq * sizeof(double));
}

// A body that turns by a degree in each frame and goes on along a circle.
TEST(what_a_repetition_turns_and_travels_is_said)
{
    const double degree = 3.14159265358979323846 / 180, radius = 2;
    poise_builder *builder;
    poise_model *model;
    poise_clip *clip;
    poise_clip_travel travel;
    poise_joint joint = poise_joint_default();
    joint.name = "hips";
    joint.type = POISE_JOINT_FREE;
    ck_assert_int_eq(poise_builder_create(NULL, &builder, NULL), POISE_OK);
    ck_assert_int_eq(poise_builder_add_joint(builder, &joint, NULL), POISE_OK);
    ck_assert_int_eq(poise_model_create(builder, NULL, &model, NULL), POISE_OK);
    poise_builder_destroy(builder);
    own_model(model);
    ck_assert_int_eq(poise_clip_create(90, 7, 0.01, NULL, &clip, NULL), POISE_OK);
    own_clip(clip);
    for (int sign = -1; sign <= 1; sign += 2) {
        for (int f = 0; f < 90; ++f) {
            double angle = sign * f * degree, *q = clip->q + (size_t)f * 7;
            q[0] = radius * cos(angle), q[1] = 0.9 + 0.1 * sin(4 * angle), q[2] = -radius * sin(angle);
            q[3] = q[5] = 0, q[4] = sin(angle / 2), q[6] = cos(angle / 2);
        }
        ck_assert_int_eq(poise_clip_repeated(model, clip, POISE_UP_Y, NULL, &travel, NULL), POISE_OK);
        ck_assert_double_eq_tol(travel.turn, sign * 90 * degree, 1e-12);
        ck_assert_double_eq_tol(travel.length, radius * sqrt(2), 1e-12);
    }
    ck_assert_int_eq(poise_clip_repeated(model, clip, POISE_UP_UNKNOWN, NULL, &travel, NULL), POISE_ERROR_ARGUMENT);
    ck_assert_int_eq(poise_clip_repeated(model, clip, POISE_UP_Y, NULL, NULL, NULL), POISE_ERROR_ARGUMENT);
}
