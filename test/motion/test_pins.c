// Pins: goals that hold in their range to a nanometre, fade smoothly, and leave all other frames alone.
#include "support/own.h"

#include <poise/edit.h>
#include <scenes/scenes.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define RATE   100
#define FRAMES 200

typedef struct stage {
    poise_model *model;
    poise_clip *clip, *before;
    int nq, nv;
    poise_kinematics *kin;
    poise_pin_result result[4];
    poise_pin_report report;
} stage;

// A walk, two seconds at 100 frames a second.
static stage open_walk(void)
{
    stage s = {.model = NULL};
    ck_assert_int_eq(scene_create("humanoid", NULL, &s.model, NULL), POISE_OK);
    own_model(s.model);
    s.nq = poise_model_info(s.model).nq, s.nv = poise_model_info(s.model).nv;
    ck_assert_int_eq(poise_clip_create(FRAMES, s.nq, 1.0 / RATE, NULL, &s.clip, NULL), POISE_OK);
    own_clip(s.clip);
    for (int f = 0; f < FRAMES; ++f) {
        scene_motion_pose(s.model, "walk", (double)f / RATE, s.clip->q + (size_t)f * (size_t)s.nq);
    }
    ck_assert_int_eq(poise_clip_trim(s.clip, 0, FRAMES, NULL, &s.before, NULL), POISE_OK);
    own_clip(s.before);
    ck_assert_int_eq(poise_kinematics_create(s.model, NULL, &s.kin, NULL), POISE_OK);
    own_kinematics(s.kin);
    return s;
}

static const double *row(const poise_clip *clip, int frame)
{
    return clip->q + (size_t)frame * (size_t)clip->nq;
}

static poise_pose pose_at(stage *s, const poise_clip *clip, int frame, int body)
{
    ck_assert_int_eq(poise_kinematics_update(s->kin, row(clip, frame), NULL), POISE_OK);
    return poise_kinematics_body_pose(s->kin, body);
}

static double apart(poise_vec3 a, poise_vec3 b)
{
    return sqrt((a.x - b.x) * (a.x - b.x) + (a.y - b.y) * (a.y - b.y) + (a.z - b.z) * (a.z - b.z));
}

static void pin(stage *s, const poise_pin *pins, int count, const poise_pin_options *options)
{
    poise_error error = {.text = ""};
    poise_status status = poise_clip_pin(s->model, pins, count, options, s->clip, NULL, s->result, &s->report, &error);
    ck_assert_msg(status == POISE_OK, "%s", error.text);
}

// A place near the left hand in the middle of the clip.
static poise_pin reach(stage *s, double from, double to, double fade)
{
    int hand = poise_model_find_body(s->model, "left_hand");
    poise_vec3 target = pose_at(s, s->before, FRAMES / 2, hand).position;
    target.y += 0.15, target.z += 0.1;
    poise_pin p = poise_pin_default();
    p.goal = poise_goal_position(hand, poise_vec3_make(0, 0, 0), target);
    p.from = from, p.to = to, p.fade_in = p.fade_out = fade;
    return p;
}

// Outside [first, last] every bit is as it was; inside something changed.
static void check_untouched(const stage *s, int first, int last)
{
    for (int f = 0; f < FRAMES; ++f) {
        bool same = memcmp(row(s->clip, f), row(s->before, f), (size_t)s->nq * sizeof(double)) == 0;
        ck_assert_msg(same == (f < first || f > last), "frame %d", f);
        ck_assert(poise_model_within_limits(s->model, row(s->clip, f)) ||
                  !poise_model_within_limits(s->model, row(s->before, f)));
    }
}

TEST(holds_to_a_nanometre_and_leaves_the_rest)
{
    stage s = open_walk();
    poise_pin p = reach(&s, 0.8, 1.2, 0.3);
    pin(&s, &p, 1, NULL);
    for (int f = 80; f <= 120; ++f) {
        ck_assert_double_lt(apart(pose_at(&s, s.clip, f, p.goal.body).position, p.goal.target.position), 1e-8);
    }
    check_untouched(&s, 51, 149);
    ck_assert_int_eq(s.result[0].held_first, 80);
    ck_assert_int_eq(s.result[0].held_last, 120);
    ck_assert_int_eq(s.result[0].missed + s.report.missed + s.report.outside, 0);
    ck_assert_int_eq(s.report.snap_frame, POISE_NONE);
    ck_assert_int_eq(s.report.kept, 2);
    ck_assert_double_lt(s.report.kept_length, 1e-8); // the feet go on as before
    ck_assert_double_gt(s.result[0].before_length, 0.1);
}

// Second differences of the change, by frame, of the degree of freedom where they are largest.
static double sharpest(const stage *s)
{
    double most = 0, a[128], b[128], c[128];
    for (int f = 1; f + 1 < FRAMES; ++f) {
        poise_difference(s->model, row(s->before, f - 1), row(s->clip, f - 1), a, NULL);
        poise_difference(s->model, row(s->before, f), row(s->clip, f), b, NULL);
        poise_difference(s->model, row(s->before, f + 1), row(s->clip, f + 1), c, NULL);
        for (int i = 0; i < s->nv; ++i) {
            most = fmax(most, fabs(a[i] - 2 * b[i] + c[i]) * RATE * RATE);
        }
    }
    return most;
}

TEST(fades_have_no_corner)
{
    // an abrupt pin bends as sharply as a frame allows, a faded one as its fade does: S'' <= 5.8/fade^2
    stage s = open_walk(), hard = open_walk();
    poise_pin p = reach(&s, 0.8, 1.2, 0.3), q = reach(&hard, 0.8, 1.2, 0);
    pin(&s, &p, 1, NULL);
    pin(&hard, &q, 1, NULL);
    ck_assert_double_lt(sharpest(&s), 4 * 5.8 / 0.09 * s.report.turn);
    ck_assert_double_gt(sharpest(&hard), 20 * sharpest(&s));
    check_untouched(&hard, 80, 120);
}

TEST(every_kind_is_met)
{
    stage s = open_walk();
    int hand = poise_model_find_body(s.model, "left_hand"), head = poise_model_find_body(s.model, "head");
    int other = poise_model_find_body(s.model, "right_hand");
    poise_pose there = pose_at(&s, s.before, 100, hand);
    poise_vec3 near = {there.position.x, there.position.y + 0.1, there.position.z + 0.05}, zero = {0, 0, 0};
    poise_vec3 ahead = {near.x, 1.5, near.z + 3}, up = {0, 1, 0}, z = {0, 0, 1};
    poise_pose target = {poise_quat_multiply(poise_quat_from_axis_angle(up, 0.3), there.rotation), near};
    poise_pose beside = poise_pose_multiply(poise_pose_inverse(pose_at(&s, s.before, 100, other)), there);
    double *q = calloc((size_t)s.nq, sizeof *q);
    memcpy(q, row(s.before, 40), (size_t)s.nq * sizeof *q);
    beside.position.y += 0.05;
    const poise_goal goals[] = {poise_goal_position(hand, zero, near),
                                poise_goal_pose(hand, poise_pose_identity(), target),
                                poise_goal_orientation(hand, target.rotation),
                                poise_goal_direction(head, z, poise_vec3_make(0.5, 0, 1)),
                                poise_goal_aim(head, zero, z, ahead),
                                poise_goal_plane(hand, zero, near, up),
                                poise_goal_line(hand, zero, near, z),
                                poise_goal_distance(hand, zero, ahead, 2.9),
                                poise_goal_relative(hand, poise_pose_identity(), other, beside),
                                poise_goal_center_of_mass(poise_vec3_make(near.x, 0.9, near.z)),
                                poise_goal_posture(q, 1)};
    for (size_t i = 0; i < sizeof goals / sizeof goals[0]; ++i) {
        stage own = open_walk();
        poise_pin p = poise_pin_default();
        p.goal = goals[i];
        p.from = 0.95, p.to = 1.05;
        if (p.goal.kind == POISE_GOAL_CENTER_OF_MASS) { // where it is, a little lower
            ck_assert_int_eq(poise_kinematics_update(own.kin, row(own.before, 100), NULL), POISE_OK);
            poise_kinematics_mass_center(own.kin, &p.goal.target.position, NULL);
            p.goal.target.position.y -= 0.02;
            p.from = p.to = 1;
        }
        pin(&own, &p, 1, NULL);
        ck_assert_msg(own.report.missed == 0, "%s misses by %g, %g", poise_goal_kind_name(p.goal.kind),
                      own.result[0].worst_length, own.result[0].worst_angle);
        ck_assert_int_gt(own.report.frames, 0);
        ck_assert_int_eq(own.report.outside, 0);
    }
    free(q);
}

TEST(stays_where_it_is_or_on_its_path)
{
    stage s = open_walk();
    int foot = poise_model_find_body(s.model, "left_foot"), hand = poise_model_find_body(s.model, "left_hand");
    poise_pose here = pose_at(&s, s.before, 80, hand);
    poise_pin pins[2] = {poise_pin_default(), poise_pin_default()};
    pins[0].goal = poise_goal_default(POISE_GOAL_POSE);
    pins[0].goal.body = hand;
    pins[0].target = POISE_PIN_HERE;
    pins[0].from = 0.8, pins[0].to = 0.9;
    pins[1].goal = pins[0].goal;
    pins[1].goal.body = foot;
    pins[1].target = POISE_PIN_PATH;
    poise_pin_options options = poise_pin_options_default();
    options.keep_feet = false;
    pin(&s, pins, 2, &options);
    ck_assert_int_eq(s.report.missed, 0);
    for (int f = 80; f <= 90; ++f) {
        ck_assert_double_lt(apart(pose_at(&s, s.clip, f, hand).position, here.position), 1e-8);
    }
    check_untouched(&s, 56, 114); // a path alone changes nothing
    for (int f = 0; f < FRAMES; ++f) {
        ck_assert_double_lt(apart(pose_at(&s, s.clip, f, foot).position, pose_at(&s, s.before, f, foot).position), 1e-8);
    }
}

TEST(keys_are_passed_and_pins_follow_each_other)
{
    stage s = open_walk();
    poise_pin first = reach(&s, 0.5, 0.6, 0.2), second = first;
    second.goal.target.position.y += 0.05;
    second.from = 0.7, second.to = 0.8; // begins while the first fades out
    poise_pin both[] = {first, second};
    pin(&s, both, 2, NULL);
    ck_assert_int_eq(s.report.missed, 0);
    for (int f = 60; f <= 70; ++f) { // straight from one to the other
        double y = pose_at(&s, s.clip, f, first.goal.body).position.y, low = first.goal.target.position.y;
        ck_assert(y > low - 1e-8 && y < low + 0.05 + 1e-8);
    }
    stage k = open_walk();
    poise_pin_key keys[] = {{0.5, first.goal}, {0.7, second.goal}, {1.0, first.goal}};
    poise_pin along = poise_pin_default();
    along.keys = keys, along.key_count = 3;
    pin(&k, &along, 1, NULL);
    ck_assert_int_eq(k.report.missed, 0);
    ck_assert_double_lt(apart(pose_at(&k, k.clip, 70, first.goal.body).position, second.goal.target.position), 1e-8);
    ck_assert_int_eq(k.result[0].held_first, 50);
    ck_assert_int_eq(k.result[0].held_last, 100);
}

TEST(out_of_reach_is_said_with_frame_and_distance)
{
    stage s = open_walk();
    poise_pin p = reach(&s, 0.9, 1.0, 0.2);
    p.goal.target.position.y += 3;
    pin(&s, &p, 1, NULL);
    ck_assert_int_eq(s.result[0].missed, 11);
    ck_assert_int_eq(s.report.missed, 11);
    ck_assert_double_gt(s.result[0].worst_length, 1.5);
    ck_assert_double_lt(s.result[0].worst_length, s.result[0].before_length);
    ck_assert(s.result[0].worst_frame >= 90 && s.result[0].worst_frame <= 100);
    ck_assert_int_eq(s.report.outside, 0);
}

TEST(nonsense_is_refused_and_changes_nothing)
{
    stage s = open_walk();
    poise_pin good = reach(&s, 0.5, 1, 0.2), p[6] = {good, good, good, good, good, good};
    poise_pin_key keys[] = {{1, good.goal}, {1, good.goal}};
    poise_error error;
    p[0].from = 2;
    p[1].from = 7, p[1].to = 8;
    p[2].goal.body = 1000;
    p[3].fade_in = -1;
    p[4].keys = keys, p[4].key_count = 2;
    p[5].goal.kind = POISE_GOAL_CALLBACK;
    for (int i = 0; i < 6; ++i) {
        poise_status status = poise_clip_pin(s.model, &p[i], 1, NULL, s.clip, NULL, NULL, NULL, &error);
        ck_assert_int_ne(status, POISE_OK);
        ck_assert_int_gt((int)strlen(error.text), 10);
        check_untouched(&s, FRAMES, -1);
    }
}

// Somebody who stands and sways, feet and all: 3 cm to and fro.
static void let_skate(stage *s)
{
    for (int f = 0; f < FRAMES; ++f) {
        double *q = s->clip->q + (size_t)f * (size_t)s->nq;
        memcpy(q, s->before->q, (size_t)s->nq * sizeof *q);
        q[0] += 0.03 * sin(0.06 * f);
    }
}

TEST(feet_stay_where_they_stand)
{
    stage s = open_walk();
    poise_pin pins[16];
    poise_pin_result results[16];
    poise_feet_report feet = {0};
    poise_error error = {.text = ""};
    let_skate(&s);
    ck_assert_int_eq(poise_feet_pins(s.model, s.clip, NULL, pins, 16, &feet, &error), POISE_OK);
    ck_assert_int_eq(feet.contacts, 2);
    ck_assert_int_eq(feet.frames, 2 * (FRAMES - 1));
    ck_assert_double_gt(feet.skate_mean, 0.05);
    poise_status status = poise_clip_pin(s.model, pins, feet.contacts, NULL, s.clip, NULL, results, &s.report, &error);
    ck_assert_msg(status == POISE_OK, "%s", error.text);
    ck_assert_int_eq(s.report.missed, 0);
    ck_assert_int_eq(s.report.snap_frame, POISE_NONE);
    for (int i = 0; i < feet.contacts; ++i) {
        for (int f = results[i].held_first; f <= results[i].held_last; ++f) {
            ck_assert_int_eq(poise_kinematics_update(s.kin, row(s.clip, f), NULL), POISE_OK);
            poise_vec3 at = poise_kinematics_point(s.kin, pins[i].goal.body, pins[i].goal.local.position);
            ck_assert_double_lt(apart(at, pins[i].goal.target.position), 1e-6);
        }
    }
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
