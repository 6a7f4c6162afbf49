// Limbs that no marker sees for a while: they go from where they were to where they are found again, and that is told.
#include "motion/tracked_take.h"

#include <poise/sequence.h>
#include <poise/track.h>
#include <poise/verdict.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/skeleton.h"
#include "support/test_main.h"

#define ARM     "left_clavicle"
#define FOREARM "left_ulna"

enum { FRAMES = 160, FIRST = 40, END = 90, FINDINGS = 128 };

// A walk whose markers of a limb vanish for some frames; where the limb's hand is in the true motion and in what was found.
typedef struct hiding {
    take *take;
    double posture[64];
    poise_track_problem problem;
    poise_kinematics *kin;
    int hand, end;
} hiding;

// The markers of a limb, from the body with this name on.
static void hide(take *t, const char *limb, int first, int end)
{
    int body = poise_model_find_body(t->model, limb);
    ck_assert_int_ge(body, 0);
    int beyond = body + poise_model_joint_info(t->model, body).subtree;
    for (int k = 0; k < MARKERS; ++k) {
        bool is_on_limb = t->placements[k].body >= body && t->placements[k].body < beyond;
        for (int f = first; f < end && is_on_limb; ++f) {
            lose(t, f, k);
        }
    }
}

static int marker_on(const take *t, const char *body)
{
    int k = 0;
    while (t->placements[k].body != poise_model_find_body(t->model, body)) {
        ck_assert_int_lt(++k, MARKERS);
    }
    return k;
}

static void set_up(hiding *h, const char *limb, int first, int end)
{
    h->take = record("walk", FRAMES);
    h->end = end;
    hide(h->take, limb, first, end);
    h->problem = problem_of(h->take);
    ck_assert_int_eq(poise_posture_weights(h->take->model, 0, h->posture, NULL), POISE_OK);
    h->problem.posture = h->posture; // as with markers that are placed by their names
    ck_assert_int_eq(poise_kinematics_create(h->take->model, NULL, &h->kin, NULL), POISE_OK);
    h->hand = poise_model_find_body(h->take->model, "left_hand");
    ck_assert_int_ge(h->hand, 0);
}

static void clean_up(hiding *h)
{
    poise_kinematics_destroy(h->kin);
    forget(h->take);
}

static poise_vec3 hand_at(const hiding *h, const poise_clip *clip, int frame)
{
    poise_kinematics_update(h->kin, clip->q + (size_t)frame * (size_t)clip->nq, NULL);
    return poise_kinematics_body_pose(h->kin, h->hand).position;
}

static double between(poise_vec3 a, poise_vec3 b)
{
    return sqrt((a.x - b.x) * (a.x - b.x) + (a.y - b.y) * (a.y - b.y) + (a.z - b.z) * (a.z - b.z));
}

// The hand of a walker is nowhere far from its path, and does not leap when it is seen again.
static void check_way(const hiding *h, const char *how, double most_off, double most_step)
{
    for (int f = 1; f < FRAMES; ++f) {
        poise_vec3 now = hand_at(h, h->take->found, f), before = hand_at(h, h->take->found, f - 1);
        double off = between(now, hand_at(h, h->take->truth, f)), step = between(now, before);
        ck_assert_msg(off < most_off, "%s, frame %d: the hand is %g m off", how, f, off);
        ck_assert_msg(step < most_step, "%s, frame %d: the hand leaps by %g m", how, f, step);
    }
}

TEST(a_hidden_limb_goes_from_where_it_was_to_where_it_is_found)
{
    struct {
        const char *limb;
        int end;
        double off;
    } cases[] = {{ARM, FIRST + 20, 0.05}, {ARM, FIRST + 60, 0.3}, {FOREARM, FIRST + 60, 0.3}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        hiding h;
        set_up(&h, cases[i].limb, FIRST, cases[i].end);
        ck_assert_int_eq(poise_track(&h.problem, NULL, &h.take->found, h.take->report, NULL), POISE_OK);
        check_way(&h, "frame by frame", cases[i].off, 0.06);
        poise_clip_destroy(h.take->found);
        poise_sequence_options options = poise_sequence_options_default();
        ck_assert_int_eq(poise_track_whole(&h.problem, &options, NULL, &h.take->found, h.take->report, NULL, NULL),
                         POISE_OK);
        check_way(&h, "all at once", cases[i].off, 0.06);
        clean_up(&h);
    }
}

// Where the joints of a limb are, without those above it.
static void check_arm(const hiding *h, int frame, int as_in)
{
    const poise_model *model = h->take->model;
    int elbow = poise_model_find_joint(model, "left_elbow");
    ck_assert_int_ge(elbow, 0);
    int q = poise_model_joint_info(model, elbow).q;
    const poise_clip *clip = h->take->found;
    double is = clip->q[(size_t)frame * (size_t)clip->nq + (size_t)q];
    ck_assert_double_eq_tol(is, clip->q[(size_t)as_in * (size_t)clip->nq + (size_t)q], 0.02);
}

TEST(before_it_is_seen_and_after_it_a_hidden_limb_stays)
{
    hiding h;
    set_up(&h, ARM, 0, 30);
    hide(h.take, ARM, 130, FRAMES);
    ck_assert_int_eq(poise_track(&h.problem, NULL, &h.take->found, h.take->report, NULL), POISE_OK);
    for (int f = 0; f < 30; ++f) {
        check_arm(&h, f, 30);
        check_arm(&h, FRAMES - 1 - f, 129);
    }
    clean_up(&h);
}

// Without a look ahead it stays where it was: nobody knows better.
TEST(a_tracker_lets_a_hidden_limb_stay)
{
    hiding h;
    set_up(&h, ARM, FIRST, FRAMES);
    poise_tracker *tracker;
    int q = poise_model_joint_info(h.take->model, poise_model_find_joint(h.take->model, "left_elbow")).q;
    double *pose = calloc((size_t)h.take->nq, sizeof *pose), last = 0;
    ck_assert_int_eq(poise_tracker_create(&h.problem, NULL, &tracker, NULL), POISE_OK);
    for (int f = 0; f < FRAMES; ++f) {
        ck_assert_int_eq(poise_tracker_next(tracker, point(h.take, f, 0), pose, NULL, NULL), POISE_OK);
        ck_assert_msg(f < FIRST || fabs(pose[q] - last) < 0.02, "frame %d: %g, was %g", f, pose[q], last);
        last = f < FIRST ? pose[q] : last;
    }
    poise_tracker_destroy(tracker);
    free(pose);
    clean_up(&h);
}

// What the verdict says of it.
static poise_finding find_hidden(hiding *h, poise_verdict_level *level)
{
    poise_verdict verdict;
    static poise_finding findings[FINDINGS];
    poise_verdict_problem problem = poise_verdict_problem_default();
    poise_track_problem track = h->problem;
    track.posture = NULL;
    problem.track = &track, problem.clip = h->take->found, problem.frames = h->take->report;
    ck_assert_int_eq(poise_track(&h->problem, NULL, &h->take->found, h->take->report, NULL), POISE_OK);
    problem.clip = h->take->found;
    ck_assert_int_eq(poise_verdict_find(&problem, NULL, &verdict, findings, FINDINGS, NULL), POISE_OK);
    *level = verdict.level;
    poise_finding found = {.value = 0};
    int count = 0;
    for (int i = 0; i < verdict.count; ++i) {
        bool is_hidden = findings[i].kind == POISE_FINDING_HIDDEN;
        found = is_hidden ? findings[i] : found;
        count += is_hidden;
    }
    ck_assert_int_le(count, 1); // of the joint that the limb begins with
    return found;
}

TEST(a_limb_that_is_hidden_for_long_is_doubtful_and_told_by_name)
{
    struct {
        int frames;
        poise_verdict_level level;
        bool is_told;
    } cases[] = {{60, POISE_VERDICT_DOUBTFUL, true}, {30, POISE_VERDICT_GOOD, true}, {5, POISE_VERDICT_GOOD, false}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        hiding h;
        poise_verdict_level level;
        char text[256];
        set_up(&h, FOREARM, FIRST, FIRST + cases[i].frames);
        poise_finding found = find_hidden(&h, &level);
        ck_assert_int_eq(level, cases[i].level);
        ck_assert_int_eq(found.value > 0, cases[i].is_told);
        if (cases[i].is_told) {
            ck_assert_str_eq(found.name, "left_elbow");
            ck_assert_int_eq(found.first, FIRST);
            ck_assert_int_eq(found.last, FIRST + cases[i].frames - 1);
            ck_assert_double_eq_tol(found.value, cases[i].frames / RATE, 1e-9);
            poise_finding_describe(&found, text, sizeof text);
            ck_assert_ptr_nonnull(strstr(text, "left_elbow for 0."));
        }
        clean_up(&h);
    }
}

// A single marker of many hides nothing.
TEST(a_limb_that_another_marker_sees_is_not_hidden)
{
    hiding h;
    poise_verdict_level level;
    set_up(&h, FOREARM, FIRST, FIRST);
    for (int f = FIRST, i = marker_on(h.take, "left_radius"); f < FRAMES; ++f) {
        lose(h.take, f, i);
    }
    ck_assert_double_eq(find_hidden(&h, &level).value, 0.0);
    ck_assert_int_eq(level, POISE_VERDICT_GOOD);
    clean_up(&h);
}

TEST(angles_of_hidden_joints_are_hidden_in_those_frames_alone)
{
    hiding h;
    set_up(&h, FOREARM, FIRST, FIRST + 60);
    int joints = poise_model_info(h.take->model).joints;
    bool *hidden = calloc((size_t)FRAMES * (size_t)joints, sizeof *hidden), *angles = calloc(FRAMES, POISE_ANGLE_COUNT);
    ck_assert_int_eq(poise_track(&h.problem, NULL, &h.take->found, h.take->report, NULL), POISE_OK);
    ck_assert_int_eq(poise_track_hidden(&h.problem, h.take->found, h.take->report, NULL, hidden, NULL), POISE_OK);
    ck_assert_int_eq(poise_joint_angles_hidden(h.take->model, hidden, FRAMES, NULL, angles, NULL), POISE_OK);
    for (int i = 0; i < POISE_ANGLE_COUNT; ++i) {
        bool is_elbow = strcmp(poise_angle_name(i), "elbow_flexion_l") == 0;
        bool is_other = strstr(poise_angle_name(i), "_r") || strstr(poise_angle_name(i), "knee");
        for (int f = 0; f < FRAMES; ++f) {
            bool is_in_gap = f >= FIRST && f < h.end, is_hidden = angles[f * POISE_ANGLE_COUNT + i];
            ck_assert_msg(!is_hidden || (is_in_gap && !is_other), "%s in frame %d", poise_angle_name(i), f);
            ck_assert_msg(!is_elbow || is_hidden == is_in_gap, "the elbow in frame %d", f);
        }
    }
    ck_assert_int_eq(poise_track_hidden(NULL, h.take->found, NULL, NULL, hidden, NULL), POISE_ERROR_ARGUMENT);
    ck_assert_int_eq(poise_joint_angles_hidden(NULL, hidden, FRAMES, NULL, angles, NULL), POISE_ERROR_ARGUMENT);
    free(angles);
    free(hidden);
    clean_up(&h);
}

// ---- Odd limbs ----------------------------------------------------------------------------------------------------------
//
// Limbs that a limit keeps from their markers, that turn as none does, and markers that trade names: told by name.

// The first finding of a kind in the motion that was found; value 0: none. *level is that of the verdict.
static poise_finding judge(const take *t, poise_finding_kind kind, poise_verdict_level *level)
{
    poise_verdict verdict;
    static poise_finding findings[FINDINGS];
    poise_track_problem track_problem = problem_of(t);
    poise_verdict_problem problem = poise_verdict_problem_default();
    problem.track = &track_problem, problem.clip = t->found, problem.frames = t->report;
    ck_assert_int_eq(poise_verdict_find(&problem, NULL, &verdict, findings, FINDINGS, NULL), POISE_OK);
    *level = verdict.level;
    for (int i = 0; i < verdict.count; ++i) {
        if (findings[i].kind == kind) {
            return findings[i];
        }
    }
    return (poise_finding){.value = 0};
}

static poise_finding find(take *t, poise_finding_kind kind, poise_verdict_level *level)
{
    track(t, NULL);
    return judge(t, kind, level);
}

static int marker_called(const take *t, const char *label)
{
    int k = 0;
    while (strcmp(t->placements[k].label, label) != 0) {
        ck_assert_int_lt(++k, MARKERS);
    }
    return k;
}

static void trade(take *t, int a, int b, int first, int end)
{
    for (int f = first; f < end; ++f) {
        poise_vec3 kept = *point(t, f, a);
        *point(t, f, a) = *point(t, f, b);
        *point(t, f, b) = kept;
    }
}

// Motions as they are, some of them fast, are none of it.
TEST(motions_as_they_are_have_no_such_finding)
{
    static const poise_finding_kind kinds[] = {POISE_FINDING_BLOCKED, POISE_FINDING_SNAPPED, POISE_FINDING_TRADED};
    for (int m = 0; m < scene_motion_count(); ++m) {
        take *t = record(scene_motion_name(m), FRAMES);
        for (size_t i = 0; i < TEST_COUNT(kinds); ++i) {
            poise_verdict_level level;
            poise_finding found = find(t, kinds[i], &level);
            ck_assert_msg(found.value == 0, "%s: %s, %g", scene_motion_name(m), poise_finding_name(kinds[i]), found.value);
        }
        forget(t);
    }
}

TEST(markers_that_trade_names_within_a_take_are_told)
{
    take *t = record("walk", FRAMES);
    poise_verdict_level level;
    int a = marker_called(t, "left_wrist_thumb"), b = marker_called(t, "left_wrist_little");
    trade(t, a, b, FIRST, END);
    poise_finding found = find(t, POISE_FINDING_TRADED, &level);
    ck_assert_int_eq(level, POISE_VERDICT_DOUBTFUL);
    ck_assert_double_eq(found.value, 2);
    ck_assert_int_eq(found.first, FIRST);
    ck_assert(strcmp(found.name, t->placements[a].label) == 0 || strcmp(found.other, t->placements[a].label) == 0);
    ck_assert(strcmp(found.name, t->placements[b].label) == 0 || strcmp(found.other, t->placements[b].label) == 0);
    forget(t);
}

// Also where both were out of sight for a moment.
TEST(markers_that_trade_names_behind_something_are_told)
{
    take *t = record("walk", FRAMES);
    poise_verdict_level level;
    int a = marker_called(t, "left_wrist_thumb"), b = marker_called(t, "left_wrist_little");
    trade(t, a, b, FIRST, FRAMES);
    for (int f = FIRST - 2; f < FIRST; ++f) {
        lose(t, f, a);
        lose(t, f, b);
    }
    poise_finding found = find(t, POISE_FINDING_TRADED, &level);
    ck_assert_double_eq(found.value, 1);
    ck_assert_int_eq(found.first, FIRST);
    forget(t);
}

// The markers of a true motion that was changed.
static void see_again(take *t)
{
    poise_markers_destroy(t->seen);
    ck_assert_int_eq(poise_markers_from_clip(t->model, t->truth, (poise_scale){1.0, POISE_UP_Y}, t->placements, MARKERS,
                                             NULL, &t->seen, NULL),
                     POISE_OK);
}

// The true motion has an elbow bend by more than a right angle within a frame.
TEST(a_body_that_turns_in_one_frame_alone_is_told)
{
    take *t = record("walk", FRAMES);
    poise_verdict_level level;
    int elbow = poise_model_find_joint(t->model, "left_elbow"), q = poise_model_joint_info(t->model, elbow).q;
    for (int f = FIRST; f < END; ++f) {
        t->truth->q[(size_t)f * (size_t)t->nq + (size_t)q] += 1.6;
    }
    see_again(t);
    poise_finding found = find(t, POISE_FINDING_SNAPPED, &level);
    ck_assert_int_eq(level, POISE_VERDICT_DOUBTFUL);
    ck_assert_double_gt(found.value, 1.5);
    ck_assert(found.last == FIRST || found.last == END);
    ck_assert_int_eq(found.first, found.last - 1);
    forget(t);
}

// A knee that bends the wrong way for some frames, as no joint of the skeleton does.
TEST(a_joint_whose_limit_keeps_it_from_its_markers_is_told)
{
    take *t = record("walk", FRAMES);
    poise_verdict_level level;
    int knee = poise_model_find_joint(t->model, "left_knee"), q = poise_model_joint_info(t->model, knee).q;
    for (int f = FIRST; f < END; ++f) {
        double share = f < FIRST + 20 ? (f - FIRST) / 20.0 : f > END - 20 ? (END - f) / 20.0 : 1.0;
        double *bend = &t->truth->q[(size_t)f * (size_t)t->nq + (size_t)q];
        *bend += share * (-1.5 - *bend);
    }
    see_again(t);
    poise_finding found = find(t, POISE_FINDING_BLOCKED, &level);
    ck_assert_int_ge(level, POISE_VERDICT_DOUBTFUL);
    ck_assert_double_gt(found.value, 0.045);
    ck_assert_str_eq(found.name, "left_knee");
    ck_assert_double_lt(found.distance, 0.5 * found.value);
    ck_assert(found.first >= FIRST && found.last < END && found.last - found.first >= 10);
    char text[256];
    poise_finding_describe(&found, text, sizeof text);
    ck_assert_ptr_nonnull(strstr(text, "--no-limits"));
    forget(t);
}

// It is told of the frames around the worst: of as many on the way there as on the way back.
TEST(a_limit_is_in_the_way_in_the_frames_around_the_worst)
{
    enum { MIDDLE = 80 };
    take *t = record("walk", FRAMES);
    poise_verdict_level level;
    poise_joint_info knee = poise_model_joint_info(t->model, poise_model_find_joint(t->model, "left_knee"));
    double lower = poise_model_info(t->model).lower[knee.q];
    ck_assert_int_eq(poise_clip_create(FRAMES, t->nq, 1.0 / RATE, NULL, &t->found, NULL), POISE_OK);
    for (int f = 0; f < FRAMES; ++f) { // a pose that stands still otherwise
        double *row = t->truth->q + (size_t)f * (size_t)t->nq, *found = t->found->q + (size_t)f * (size_t)t->nq;
        memmove(row, t->truth->q, (size_t)t->nq * sizeof *row);
        row[knee.q] = fmin(0.3, -1.1 + 0.05 * abs(f - MIDDLE));
        memcpy(found, row, (size_t)t->nq * sizeof *row);
        found[knee.q] = fmax(row[knee.q], lower);
    }
    see_again(t);
    poise_finding found = judge(t, POISE_FINDING_BLOCKED, &level);
    ck_assert_int_gt(found.last - found.first, 10);
    ck_assert_int_eq(found.first + found.last, 2 * MIDDLE);
    forget(t);
}

// ---- Lost limbs ---------------------------------------------------------------------------------------------------------
//
// Limbs that go elsewhere, and are found again.

#define RATE     100.0
#define ON_TRUNK 30 // markers
#define ON_ARM   4
#define LOST     20 // frame in which the arm's markers vanish, and
#define SEEN     30 // come back
#define ENDS     60

// An arm that turns by as much as its limits allow, while nobody sees it: from where it was it cannot get to where it is.
static double angle_of_arm(int frame)
{
    return frame < LOST ? 2.9 : -2.0 + 0.01 * (frame - SEEN);
}

static poise_model *trunk_with_arm(poise_placement *places)
{
    static const char labels[] = "abcdefghijklmnopqrstuvwxyzABCDEFGH"; // one letter each
    static char names[ON_TRUNK + ON_ARM][2];
    poise_builder *builder = new_builder();
    add_plain(builder, "trunk", NULL, POISE_JOINT_FREE);
    poise_joint arm = joint_of("arm", "trunk", POISE_JOINT_REVOLUTE);
    arm.axis = (poise_vec3){0, 0, 1};
    arm.lower[0] = -3.0, arm.upper[0] = 3.0;
    add(builder, &arm);
    poise_model *model = model_of(builder);
    for (int i = 0; i < ON_TRUNK + ON_ARM; ++i) {
        poise_vec3 on_trunk = {0.5 * (i % 3) - 0.5, 0.06 * i - 0.9, 0.15 * (i % 2)};
        poise_vec3 on_arm = {0.35 + 0.1 * (i - ON_TRUNK), 0.05 * (i % 2), 0};
        names[i][0] = labels[i];
        places[i] = (poise_placement){names[i], i < ON_TRUNK ? 0 : 1, i < ON_TRUNK ? on_trunk : on_arm, 1.0};
    }
    return model;
}

static poise_markers *arm_recording(const poise_model *model, const poise_placement *places)
{
    poise_clip *clip;
    poise_markers *seen;
    int nq = poise_model_info(model).nq;
    ck_assert_int_eq(poise_clip_create(ENDS, nq, 1.0 / RATE, NULL, &clip, NULL), POISE_OK);
    for (int f = 0; f < ENDS; ++f) {
        poise_model_neutral(model, clip->q + (size_t)f * (size_t)nq);
        clip->q[(size_t)f * (size_t)nq + (size_t)nq - 1] = angle_of_arm(f);
    }
    ck_assert_int_eq(
        poise_markers_from_clip(model, clip, (poise_scale){1.0, POISE_UP_Y}, places, ON_TRUNK + ON_ARM, NULL, &seen, NULL),
        POISE_OK);
    for (int i = 0; i < ENDS * (ON_TRUNK + ON_ARM); ++i) { // skin moves
        seen->position[i].x += 0.02 * (i % 3 - 1);
    }
    for (int f = LOST; f < SEEN; ++f) {
        for (int i = ON_TRUNK; i < ON_TRUNK + ON_ARM; ++i) {
            seen->position[(size_t)f * (ON_TRUNK + ON_ARM) + (size_t)i] = (poise_vec3){NAN, NAN, NAN};
        }
    }
    poise_clip_destroy(clip);
    return seen;
}

// Frame by frame a limb that went elsewhere is found again in the third frame, and in a recording the frames before it are
// mended, too.
TEST(a_limb_that_went_elsewhere_is_found_and_the_frames_before_are_mended)
{
    poise_placement places[ON_TRUNK + ON_ARM];
    poise_model *model = trunk_with_arm(places);
    poise_markers *seen = arm_recording(model, places);
    poise_track_problem problem = poise_track_problem_default();
    problem.model = model, problem.placements = places, problem.placement_count = ON_TRUNK + ON_ARM, problem.markers = seen;
    size_t nq = (size_t)poise_model_info(model).nq;
    double *q = calloc(nq, sizeof *q);
    poise_tracker *tracker;
    ck_assert_int_eq(poise_tracker_create(&problem, NULL, &tracker, NULL), POISE_OK);
    for (int f = 0; f < ENDS; ++f) {
        poise_track_frame frame;
        ck_assert_int_eq(poise_tracker_next(tracker, seen->position + (size_t)f * (ON_TRUNK + ON_ARM), q, &frame, NULL),
                         POISE_OK);
        bool is_astray = f >= SEEN && f < SEEN + 2;
        ck_assert_msg(f >= LOST && f < SEEN ? true : (fabs(q[nq - 1] - angle_of_arm(f)) < 0.1) == !is_astray,
                      "frame %d: the arm is at %g instead of %g", f, q[nq - 1], angle_of_arm(f));
    }
    poise_tracker_destroy(tracker);
    poise_clip *clip;
    ck_assert_int_eq(poise_track(&problem, NULL, &clip, NULL, NULL), POISE_OK);
    for (int f = 0; f < ENDS; ++f) {
        double found = clip->q[(size_t)f * nq + nq - 1];
        ck_assert_msg((f >= LOST && f < SEEN) || fabs(found - angle_of_arm(f)) < 0.1, "frame %d of the recording: %g", f,
                      found);
    }
    poise_clip_destroy(clip);
    poise_markers_destroy(seen);
    free(q);
}
