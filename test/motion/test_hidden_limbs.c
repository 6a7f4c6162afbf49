// Limbs that no marker sees for a while: they go from where they were to where they are found again, and that is told.
#include "motion/tracked_take.h"

#include <poise/sequence.h>
#include <poise/verdict.h>

#include <string.h>

#define ARM     "left_clavicle"
#define FOREARM "left_ulna"

enum { FRAMES = 160, FIRST = 40, FINDINGS = 128 };

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
