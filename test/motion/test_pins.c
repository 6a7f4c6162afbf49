// Pins: goals that hold in their range to a nanometre, fade smoothly, and leave all other frames alone.
#include "motion/contacts.h"
#include "motion/edit_stage.h"
#include "support/skeleton.h"

#include <stdlib.h>
#include <string.h>

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
    poise_vec3 target = pose_at(s, s->before, s->before->frames / 2, hand).position;
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
    ck_assert_int_ge(s.report.iterations, s.report.frames);
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

TEST(a_pin_that_always_holds_changes_every_frame_of_a_still_clip_alike)
{
    stage s = open_walk();
    for (int f = 1; f < FRAMES; ++f) {
        memcpy(s.clip->q + (size_t)f * (size_t)s.nq, s.clip->q, (size_t)s.nq * sizeof(double));
    }
    poise_pin p = reach(&s, -INFINITY, INFINITY, 0);
    pin(&s, &p, 1, NULL);
    for (int i = 0; i < FRAMES * s.nq; ++i) {
        ck_assert_double_eq_tol(s.clip->q[i], s.clip->q[i % s.nq], 1e-6);
    }
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

// The largest difference between the second differences of the change in two frames that follow each other, near to `at`.
static double acceleration_step(const stage *s, double at)
{
    enum { AROUND = 4, MOST_DOFS = 128 };
    double rate = 1 / s->clip->frame_time, change[2 * AROUND + 3][MOST_DOFS], most = 0;
    int first = (int)(at * rate + 0.5) - AROUND - 1;
    for (int k = 0; k < 2 * AROUND + 3; ++k) {
        poise_difference(s->model, row(s->before, first + k), row(s->clip, first + k), change[k], NULL);
    }
    for (int k = 1; k < 2 * AROUND + 1; ++k) {
        for (int i = 0; i < s->nv; ++i) {
            double now = change[k - 1][i] - 2 * change[k][i] + change[k + 1][i];
            double next = change[k][i] - 2 * change[k + 1][i] + change[k + 2][i];
            most = fmax(most, fabs(next - now) * rate * rate);
        }
    }
    return most;
}

// With four times as many frames a second a step of the acceleration stays, while a slope becomes a quarter as high.
TEST(accelerations_go_on_where_a_fade_begins_and_ends)
{
    static const double borders[] = {0.5, 0.9, 1.1, 1.5};
    stage coarse = open_walk_at(RATE), fine = open_walk_at(4 * RATE);
    poise_pin p = reach(&coarse, 0.9, 1.1, 0.4), q = reach(&fine, 0.9, 1.1, 0.4);
    p.goal.target.position.y -= 0.13, q.goal.target.position.y -= 0.13; // no joint comes to a limit on the way
    pin(&coarse, &p, 1, NULL);
    pin(&fine, &q, 1, NULL);
    for (size_t i = 0; i < TEST_COUNT(borders); ++i) {
        double few = acceleration_step(&coarse, borders[i]), many = acceleration_step(&fine, borders[i]);
        ck_assert_msg(many < 0.4 * few && few < 50, "at %g s: %g, then %g", borders[i], few, many);
    }
}

// The angle between two rotations.
static double angle_between(poise_pose a, poise_pose b)
{
    poise_quat turn = poise_quat_multiply(poise_pose_inverse(a).rotation, b.rotation);
    return 2 * atan2(sqrt(turn.x * turn.x + turn.y * turn.y + turn.z * turn.z), fabs(turn.w));
}

// A place that the arm reaches by itself leaves head and chest almost as they were; one beyond the arm leans the body.
TEST(a_hand_is_followed_by_its_arm_and_the_body_leans_only_where_it_must)
{
    static const struct {
        double up, ahead, least_lean, most_lean;
    } rows[] = {{0.15, 0.2, 0.0, 0.16}, {0.0, 0.25, 0.0, 0.06}, {0.1, 0.1, 0.0, 0.16}, {0.3, 1.1, 0.2, 1.5}};
    for (size_t i = 0; i < TEST_COUNT(rows); ++i) {
        stage s = open_walk();
        poise_pin p = reach(&s, 0.95, 1.05, 0.4);
        int arm = poise_model_find_body(s.model, "left_ulna"), chest = poise_model_find_body(s.model, "thorax");
        p.goal.target.position = pose_at(&s, s.before, 100, p.goal.body).position;
        p.goal.target.position.y += rows[i].up, p.goal.target.position.z += rows[i].ahead;
        pin(&s, &p, 1, NULL);
        ck_assert_int_eq(s.report.missed, 0);
        double lean = angle_between(pose_at(&s, s.before, 100, chest), pose_at(&s, s.clip, 100, chest));
        double turn = angle_between(pose_at(&s, s.before, 100, arm), pose_at(&s, s.clip, 100, arm));
        ck_assert_msg(lean >= rows[i].least_lean && lean < rows[i].most_lean && turn > 2 * lean, "row %d: chest %g, arm %g",
                      (int)i, lean, turn);
    }
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

// A pose that a position takes over from: the hand goes from one to the other without a jump.
static void check_takeover(const poise_pin *first, const poise_pin *second)
{
    stage s = open_walk();
    poise_pin both[] = {*first, *second};
    both[0].goal = poise_goal_default(POISE_GOAL_POSE);
    both[0].goal.body = first->goal.body;
    both[0].goal.target = pose_at(&s, s.before, 50, first->goal.body);
    both[0].fade_out = 0.5;
    both[1].from = 0.75;
    pin(&s, both, 2, NULL);
    ck_assert_int_eq(s.report.missed, 0);
    ck_assert_int_eq(s.report.snap_frame, POISE_NONE);
    ck_assert_int_eq(s.result[0].held_last, 60);
    ck_assert_double_lt(s.result[0].worst_angle, 1e-8);
    double way = apart(both[0].goal.target.position, both[1].goal.target.position); // in 15 frames, 1.875 times the mean
    for (int f = 60; f < 90; ++f) {
        poise_vec3 here = pose_at(&s, s.clip, f, first->goal.body).position;
        double step = apart(here, pose_at(&s, s.clip, f + 1, first->goal.body).position);
        ck_assert_msg(step < 2.0 * way / 15.0, "frame %d: %g of %g", f, step, way);
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
    check_takeover(&first, &second);
    stage k = open_walk();
    first.goal.local.rotation = poise_quat_from_axis_angle(poise_vec3_make(1, 0, 0), 0.5);
    second.goal.local.rotation = first.goal.local.rotation;
    poise_goal third = first.goal;
    third.target.position.y += 0.02;
    poise_pin_key keys[] = {{0.5, first.goal}, {0.7, second.goal}, {1.0, third}};
    poise_pin along = poise_pin_default();
    along.keys = keys, along.key_count = 3;
    pin(&k, &along, 1, NULL);
    ck_assert_int_eq(k.report.missed, 0);
    ck_assert_double_lt(apart(pose_at(&k, k.clip, 70, first.goal.body).position, second.goal.target.position), 1e-8);
    ck_assert_int_eq(k.result[0].held_first, 50);
    ck_assert_int_eq(k.result[0].held_last, 100);
    double m = 6.0 * (-0.03 / 0.3 - 0.05 / 0.2) / (2.0 * (0.2 + 0.3)); // the second derivative of the natural spline at 0.7
    double middle = 0.5 * 0.05 - m * 0.2 * 0.2 / 16.0, later = 0.5 * (0.05 + 0.02) - m * 0.3 * 0.3 / 16.0;
    double low = first.goal.target.position.y;
    ck_assert_double_eq_tol(pose_at(&k, k.clip, 60, first.goal.body).position.y, low + middle, 1e-8);
    ck_assert_double_eq_tol(pose_at(&k, k.clip, 85, first.goal.body).position.y, low + later, 1e-8);
}

// A hand that leans the body forward reaches its place although the other hand, which is pinned later, has a path to keep.
TEST(a_path_before_a_pin_yields_to_pins_that_hold)
{
    static const double far[][3] = {{0.6, 1.5, 0.9}, {0.9, 1.2, 0.8}, {0.2, 1.3, 1.2}};
    for (size_t i = 0; i < TEST_COUNT(far); ++i) {
        stage s = open_motion("walk", 120, 132);
        poise_pin both[2] = {poise_pin_default(), poise_pin_default()};
        both[0].goal = poise_goal_position(poise_model_find_body(s.model, "left_hand"), poise_vec3_make(0, 0, 0),
                                           poise_vec3_make(far[i][0], far[i][1], far[i][2]));
        both[1].goal = poise_goal_position(poise_model_find_body(s.model, "right_hand"), poise_vec3_make(0, 0, 0),
                                           poise_vec3_make(-0.3, 1.1, 1.0));
        both[0].from = 0.3, both[0].to = 0.5, both[0].fade_in = both[0].fade_out = 0.2;
        both[1].from = 0.75, both[1].to = 0.9, both[1].fade_in = both[1].fade_out = 0.2;
        pin(&s, both, 2, NULL);
        ck_assert_msg(s.report.missed == 0, "place %d: %d frames", (int)i, s.report.missed);
    }
}

// A hinge that a posture takes almost all the way around is turned by the rest of the turn.
TEST(a_turn_is_at_most_half_a_turn)
{
    poise_builder *b;
    poise_model *model;
    poise_clip *clip;
    poise_pin_report report;
    double around = 5.8;
    poise_joint joint = poise_joint_default();
    joint.name = "hinge", joint.type = POISE_JOINT_REVOLUTE;
    ck_assert_int_eq(poise_builder_create(NULL, &b, NULL), POISE_OK);
    ck_assert_int_eq(poise_builder_add_joint(b, &joint, NULL), POISE_OK);
    ck_assert_int_eq(poise_model_create(b, NULL, &model, NULL), POISE_OK);
    own_model(model);
    poise_builder_destroy(b);
    ck_assert_int_eq(poise_clip_create(100, 1, 0.01, NULL, &clip, NULL), POISE_OK);
    own_clip(clip);
    memset(clip->q, 0, 100 * sizeof *clip->q);
    poise_pin p = poise_pin_default();
    p.goal = poise_goal_posture(&around, 1), p.fade_in = p.fade_out = 0;
    ck_assert_int_eq(poise_clip_pin(model, &p, 1, NULL, clip, NULL, NULL, &report, NULL), POISE_OK);
    ck_assert_double_eq_tol(clip->q[50], around, 1e-6);
    ck_assert_double_eq_tol(report.turn, 2 * 3.14159265358979 - around, 1e-6);
    ck_assert_int_eq(report.turn_dof, 0);
}

TEST(the_fastest_turns_before_and_after_are_said)
{
    poise_builder *b = new_builder();
    add_plain(b, "hinge", NULL, POISE_JOINT_REVOLUTE);
    poise_model *model = model_of(b);
    poise_clip *clip;
    poise_pin_report report;
    double there = 1.5, fastest = 0;
    ck_assert_int_eq(poise_clip_create(100, 1, 0.01, NULL, &clip, NULL), POISE_OK);
    own_clip(clip);
    for (int f = 0; f < 100; ++f) {
        clip->q[f] = 0.005 * f;
    }
    poise_pin p = poise_pin_default();
    p.goal = poise_goal_posture(&there, 1), p.from = 0.5, p.to = 0.6, p.fade_in = p.fade_out = 0.2;
    ck_assert_int_eq(poise_clip_pin(model, &p, 1, NULL, clip, NULL, NULL, &report, NULL), POISE_OK);
    for (int f = 1; f < 100; ++f) {
        fastest = fmax(fastest, fabs(clip->q[f] - clip->q[f - 1]) / 0.01);
    }
    ck_assert_double_eq_tol(report.speed_before, 0.5, 1e-9);
    ck_assert_double_eq_tol(report.speed_after, fastest, 1e-9);
    ck_assert_double_gt(fastest, 1);
}

TEST(out_of_reach_is_said_with_frame_and_distance)
{
    stage s = open_walk();
    poise_pin p = reach(&s, 0.9, 1.0, 0.2);
    p.goal.target.position.y += 3;
    pin(&s, &p, 1, NULL);
    ck_assert(s.result[0].missed == 11 && s.report.missed == 11);
    ck_assert_double_gt(s.result[0].worst_length, 1.5);
    ck_assert_double_lt(s.result[0].worst_length, s.result[0].before_length);
    ck_assert(s.result[0].worst_frame >= 90 && s.result[0].worst_frame <= 100);
    ck_assert_msg(s.report.iterations < 6500, "%d iterations", s.report.iterations); // little is tried in vain
    ck_assert_int_eq(s.report.outside, 0);
}

// Where limbs snap, as here for want of a fade, they are led along 24 places: fewer than the 25 frames that the pins hold.
TEST(both_hands_go_as_near_as_they_can)
{
    stage s = open_walk();
    poise_pin p[] = {reach(&s, 0.9, 1.14, 0), reach(&s, 0.9, 1.14, 0)};
    p[1].goal.body = poise_model_find_body(s.model, "right_hand");
    p[0].goal.target.position.y += 3, p[1].goal.target.position.y += 3;
    pin(&s, p, 2, NULL);
    ck_assert_int_ge(s.report.snap_frame, 0);
    ck_assert(s.result[0].missed == 25 && s.result[1].missed == 25);
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
    ck_assert(results[0].size > 1.5 && results[0].size < 2.0);
    for (int i = 0; i < feet.contacts; ++i) {
        for (int f = results[i].held_first; f <= results[i].held_last; ++f) {
            ck_assert_int_eq(poise_kinematics_update(s.kin, row(s.clip, f), NULL), POISE_OK);
            poise_vec3 at = poise_kinematics_point(s.kin, pins[i].goal.body, pins[i].goal.local.position);
            ck_assert_double_lt(apart(at, pins[i].goal.target.position), 1e-6);
        }
    }
}

// 0.05 mm is nothing for a foot that rests; for a pin of the user's it is not what was asked for.
TEST(a_foot_misses_by_what_is_felt_and_a_pin_by_a_micrometre)
{
    static const double off[] = {5e-5, 5e-4};
    for (int i = 0; i < 4; ++i) {
        stage s = open_walk();
        let_skate(&s);
        bool *locked = calloc((size_t)s.nv, sizeof *locked);
        poise_pin_options options = poise_pin_options_default();
        poise_pin pin = poise_pin_default();
        int foot = poise_model_find_body(s.model, "left_foot");
        for (int k = 0; k < s.nv; ++k) {
            locked[k] = true;
        }
        ck_assert_int_eq(poise_kinematics_update(s.kin, row(s.clip, 50), NULL), POISE_OK);
        poise_vec3 place = poise_kinematics_point(s.kin, foot, poise_vec3_make(0, 0, 0));
        place.y += off[i / 2];
        pin.goal = poise_goal_position(foot, poise_vec3_make(0, 0, 0), place);
        pin.target = i % 2 == 0 ? POISE_PIN_SHIFT : POISE_PIN_GIVEN;
        pin.from = pin.to = 50.0 / RATE;
        options.locked = locked;
        options.metres = 1;
        ck_assert_int_eq(poise_clip_pin(s.model, &pin, 1, &options, s.clip, NULL, s.result, &s.report, NULL), POISE_OK);
        ck_assert_double_eq_tol(s.result[0].worst_length, off[i / 2], 1e-12);
        ck_assert_int_eq(s.result[0].missed, i == 0 ? 0 : 1);
        free(locked);
    }
}

TEST(a_short_gap_in_a_contact_is_closed_and_its_end_stays)
{
    enum { LONG = 50 };
    poise_vec3 place[LONG] = {{0, 0, 0}};
    unsigned char contact[LONG] = {0};
    pz_walk walk = {.frames = LONG, .frame_time = 0.01, .leg = 0.85, .up = {0, 1, 0}};
    place[20].y = 0.1;
    pz_contacts_find(&walk, place, NULL, 0, 2, contact);
    for (int f = 0; f < LONG; ++f) {
        ck_assert_msg(contact[f] == 2, "frame %d", f);
    }
}

// How far the change of a body's place goes from one frame to the next.
static double change_step(stage *s, int body, int frame)
{
    poise_vec3 d[2];
    for (int i = 0; i < 2; ++i) {
        poise_vec3 a = pose_at(s, s->before, frame - 1 + i, body).position,
                   b = pose_at(s, s->clip, frame - 1 + i, body).position;
        d[i] = poise_vec3_make(b.x - a.x, b.y - a.y, b.z - a.z);
    }
    return apart(d[0], d[1]);
}

// A foot in the air does not follow hips that the other foot moves, only to be drawn back where its own contact begins.
TEST(feet_do_not_pop_where_a_contact_fades_in)
{
    stage s = open_motion("kick", 120, 192);
    poise_pin pins[16];
    poise_feet_report feet = {0};
    ck_assert_int_eq(poise_feet_pins(s.model, s.clip, NULL, pins, 16, &feet, NULL), POISE_OK);
    ck_assert_int_eq(feet.contacts, 3);
    ck_assert_int_eq(poise_clip_pin(s.model, pins, feet.contacts, NULL, s.clip, NULL, NULL, &s.report, NULL), POISE_OK);
    ck_assert_int_eq(s.report.missed, 0);
    for (int b = 0; b < poise_model_info(s.model).joints; ++b) {
        for (int f = 2; f + 1 < s.clip->frames; ++f) {
            double around = fmax(change_step(&s, b, f - 1), change_step(&s, b, f + 1)), own = change_step(&s, b, f);
            ck_assert_msg(own - around < 0.003, "%s, frame %d: %g", poise_model_joint_info(s.model, b).body, f, own);
        }
    }
}

// A figure that stands still apart from where its root is along x.
static stage open_slide(int rate, int frames, double (*x)(double time))
{
    stage s = open_motion("walk", rate, frames);
    for (int f = 0; f < frames; ++f) {
        double *q = s.clip->q + (size_t)f * (size_t)s.nq;
        memmove(q, s.before->q, (size_t)s.nq * sizeof *q);
        q[0] += x((double)f / rate);
    }
    memcpy(s.before->q, s.clip->q, (size_t)frames * (size_t)s.nq * sizeof(double));
    return s;
}

// |x(f+1) - 2 x(f) + x(f-1)| of a body.
static double jolt(stage *s, const poise_clip *clip, int body, int f)
{
    poise_vec3 x[3];
    for (int i = 0; i < 3; ++i) {
        x[i] = pose_at(s, clip, f - 1 + i, body).position;
    }
    return apart(poise_vec3_make(x[0].x + x[2].x - x[1].x, x[0].y + x[2].y - x[1].y, x[0].z + x[2].z - x[1].z), x[1]);
}

// It drifts by 2 cm, goes half a metre in a fifth of a second, and drifts again.
static double quick_step(double time)
{
    double u = fmin(fmax((time - 1) / 0.2, 0), 1);
    return 0.02 * sin(5 * time) + 0.5 * u * u * (3 - 2 * u);
}

static void clean(stage *s, poise_feet_report *feet)
{
    poise_pin pins[16];
    ck_assert_int_eq(poise_feet_pins(s->model, s->clip, NULL, pins, 16, feet, NULL), POISE_OK);
    ck_assert_int_le(feet->contacts, 16);
    ck_assert_int_eq(poise_clip_pin(s->model, pins, feet->contacts, NULL, s->clip, NULL, NULL, &s->report, NULL), POISE_OK);
    ck_assert_int_eq(s->report.missed, 0);
}

// A foot that leaves its contact at 2.5 m/s goes with its path, not after it: the pin lets go of the correction, which is
// small, instead of mixing places, which are far apart.
TEST(feet_step_off_as_fast_as_before)
{
    stage s = open_slide(30, 66, quick_step);
    poise_feet_report feet = {0};
    clean(&s, &feet);
    ck_assert_int_eq(feet.contacts, 4);
    ck_assert_int_eq(s.report.snap_frame, POISE_NONE);
    int foot = poise_model_find_body(s.model, "left_foot");
    for (int f = 0; f < 66; ++f) {
        poise_vec3 a = pose_at(&s, s.before, f, foot).position, b = pose_at(&s, s.clip, f, foot).position;
        ck_assert_msg(apart(a, b) < 0.04, "frame %d: %g", f, apart(a, b));
        double before = f > 0 && f < 65 ? jolt(&s, s.before, foot, f) : 0,
               after = before > 0 ? jolt(&s, s.clip, foot, f) : 0;
        ck_assert_msg(after < before + 0.015, "frame %d: %g, before %g", f, after, before);
    }
}

static double steady_slide(double time)
{
    return 0.18 * time;
}

// Where contacts follow each other too closely for their corrections, the feet jolt, and the report says so.
TEST(feet_that_jolt_are_said)
{
    stage s = open_slide(12, 30, steady_slide);
    poise_feet_report feet = {0};
    clean(&s, &feet);
    ck_assert_int_ge(feet.contacts, 4);
    ck_assert_int_ge(s.report.snap_frame, 0);
    ck_assert_int_eq(s.report.snap_dof, POISE_NONE);
    ck_assert_double_gt(s.report.jolt, 0.02);
    ck_assert_ptr_nonnull(strstr(poise_model_joint_info(s.model, s.report.jolt_body).body, "foot"));
    double most = 0;
    for (int f = 1; f < 29; ++f) {
        most = fmax(most, jolt(&s, s.clip, s.report.jolt_body, f));
    }
    ck_assert_double_gt(most, 0.9 * s.report.jolt); // the ball's, or the ankle's
}

static double late_hop(double time)
{
    return time > 1 - 1e-9 ? 0.05 : 0;
}

// The pin ends in frame 28, and the clip itself hops from frame 29 to 30: in frame 29 the edit adds to that.
TEST(a_jolt_in_the_frame_after_a_pin_is_said)
{
    stage s = open_slide(30, 60, late_hop);
    poise_pin shift = poise_pin_default();
    int foot = poise_model_find_body(s.model, "left_foot");
    poise_vec3 target = pose_at(&s, s.clip, 20, foot).position;
    target.x += 0.1;
    shift.goal = poise_goal_position(foot, poise_vec3_make(0, 0, 0), target);
    shift.target = POISE_PIN_SHIFT, shift.from = 0.8, shift.to = 28.0 / 30, shift.fade_in = 0.7, shift.fade_out = 0;
    pin(&s, &shift, 1, NULL);
    ck_assert_int_eq(s.result[0].last, 28);
    ck_assert_double_eq_tol(s.report.jolt, 0.1, 1e-6);
}

// A ball that rolls off slowly passes for one that rests: what travels from end to end is no contact.
static double roll_off(double time)
{
    return time < 1 ? 0 : 0.32 * (time - 1);
}

TEST(feet_that_roll_off_do_not_rest)
{
    stage s = open_slide(30, 45, roll_off);
    poise_pin pins[16];
    poise_feet_report feet = {0};
    ck_assert_int_eq(poise_feet_pins(s.model, s.clip, NULL, pins, 16, &feet, NULL), POISE_OK);
    ck_assert_int_eq(feet.contacts, 2);
    for (int i = 0; i < feet.contacts; ++i) {
        ck_assert_double_lt(pins[i].to, 1.2);
    }
}
