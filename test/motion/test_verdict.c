// Verdicts: what is right is good, and what is wrong is told by name.
#include "support/own.h"
#include "support/test_main.h"

#include <poise/verdict.h>
#include <scenes/random.h>
#include <scenes/scenes.h>

#include <math.h>
#include <string.h>

enum { FRAMES = 120, MOST = 64, FINDINGS = 128 };

static const char *const gait[] = {"LFHD", "RFHD", "LBHD", "RBHD", "C7",   "T10",  "CLAV", "STRN", "LSHO", "LUPA",
                                   "LELB", "LFRM", "LWRA", "LWRB", "LFIN", "RSHO", "RUPA", "RELB", "RFRM", "RWRA",
                                   "RWRB", "RFIN", "LASI", "RASI", "LPSI", "RPSI", "LTHI", "LKNE", "LTIB", "LANK",
                                   "LHEE", "LTOE", "RTHI", "RKNE", "RTIB", "RANK", "RHEE", "RTOE"};

// A walk of the humanoid as these markers record it, with noise, each at its anatomical place give or take a little.
typedef struct take {
    poise_model *model;
    poise_markers *markers;
    poise_placement placements[MOST];
    poise_place_prior priors[MOST];
    poise_places_report places;
    poise_calibration_report calibration;
    poise_track_frame frames[FRAMES];
    poise_track_problem problem;
    poise_clip *clip;
    poise_verdict verdict;
    poise_finding findings[FINDINGS];
} take;

static take *record(const char *const *labels, int count)
{
    take *t = calloc(1, sizeof *t);
    test_own(free, t);
    ck_assert_int_eq(scene_create("humanoid", NULL, &t->model, NULL), POISE_OK);
    own_model(t->model);
    poise_markers *names;
    ck_assert_int_eq(poise_markers_create(1, count, 100, labels, NULL, &names, NULL), POISE_OK);
    ck_assert_int_eq(poise_places_by_name(t->model, names, NULL, t->placements, t->priors, MOST, &t->places, NULL),
                     POISE_OK);
    ck_assert_int_eq(t->places.placed, count);
    scene_random random = scene_random_make(5);
    for (int i = 0; i < count; ++i) { // a person's places are not the table's
        poise_vec3 *p = &t->placements[i].local;
        double off = 0.4 * t->priors[i].across;
        *p = (poise_vec3){p->x + off * scene_random_normal(&random), p->y + off * scene_random_normal(&random),
                          p->z + off * scene_random_normal(&random)};
    }
    poise_clip *walk;
    int nq = poise_model_info(t->model).nq;
    ck_assert_int_eq(poise_clip_create(FRAMES, nq, 0.01, NULL, &walk, NULL), POISE_OK);
    for (int f = 0; f < FRAMES; ++f) {
        scene_motion_pose(t->model, "walk", 0.01 * f, walk->q + f * nq);
    }
    ck_assert_int_eq(
        poise_markers_from_clip(t->model, walk, (poise_scale){1, POISE_UP_Y}, t->placements, count, NULL, &t->markers, NULL),
        POISE_OK);
    for (int i = 0; i < FRAMES * count; ++i) {
        poise_vec3 *p = &t->markers->position[i];
        *p = (poise_vec3){p->x + 0.002 * scene_random_normal(&random), p->y + 0.002 * scene_random_normal(&random),
                          p->z + 0.002 * scene_random_normal(&random)};
    }
    poise_clip_destroy(walk);
    own_markers(names); // whose labels the placements have
    return t;
}

static void exchange(take *t, const char *a, const char *b)
{
    int i = poise_markers_find(t->markers, a), k = poise_markers_find(t->markers, b);
    for (int f = 0; f < FRAMES; ++f) {
        poise_vec3 *row = t->markers->position + f * t->markers->count, kept = row[i];
        row[i] = row[k];
        row[k] = kept;
    }
}

// Place, calibrate, track and judge, as a user does; `free_places` calibrates without priors.
static void follow(take *t, bool free_places, const poise_thresholds *thresholds)
{
    ck_assert_int_eq(poise_places_by_name(t->model, t->markers, NULL, t->placements, t->priors, MOST, &t->places, NULL),
                     POISE_OK);
    poise_calibration fit = poise_calibration_default();
    fit.model = t->model;
    fit.placements = t->placements;
    fit.placement_count = t->places.placed;
    fit.priors = free_places ? NULL : t->priors;
    fit.markers = t->markers;
    fit.frame_count = 30;
    ck_assert_int_eq(poise_calibrate(&fit, NULL, NULL, &t->calibration, NULL), POISE_OK);
    t->problem = poise_track_problem_default();
    t->problem.model = t->model;
    t->problem.placements = t->placements;
    t->problem.placement_count = t->places.placed;
    t->problem.markers = t->markers;
    double posture[64];
    ck_assert_int_eq(poise_posture_weights(t->model, 0, posture, NULL), POISE_OK);
    t->problem.posture = posture;
    ck_assert_int_eq(poise_track(&t->problem, NULL, &t->clip, t->frames, NULL), POISE_OK);
    t->problem.posture = NULL;
    poise_verdict_problem problem = poise_verdict_problem_default();
    problem.track = &t->problem;
    problem.clip = t->clip;
    problem.frames = t->frames;
    problem.priors = t->priors;
    problem.places = &t->places;
    problem.calibration = &t->calibration;
    problem.thresholds = thresholds ? *thresholds : problem.thresholds;
    poise_error error = {.text = ""};
    ck_assert_msg(poise_verdict_find(&problem, NULL, &t->verdict, t->findings, FINDINGS, &error) == POISE_OK, "%s",
                  error.text);
    ck_assert_int_le(t->verdict.count, FINDINGS);
    for (int i = 1; i < t->verdict.count; ++i) { // the worst first
        ck_assert_int_le(t->findings[i].level, t->findings[i - 1].level);
    }
    own_clip(t->clip);
    own_markers(t->markers); // whose labels are the names in findings
}

// Is there a finding of this kind, at least as bad, and by this name?
static bool finds(const take *t, poise_finding_kind kind, poise_verdict_level level, const char *name)
{
    for (int i = 0; i < t->verdict.count; ++i) {
        const poise_finding *f = &t->findings[i];
        if (f->kind == kind && f->level >= level && (!name || (f->name && strcmp(f->name, name) == 0))) {
            return true;
        }
    }
    return false;
}

TEST(a_good_recording_is_good)
{
    take *t = record(gait, TEST_COUNT(gait));
    follow(t, false, NULL);
    ck_assert_msg(t->verdict.level == POISE_VERDICT_GOOD, "places %g, moved %g, miss %g, unequal %g, unseen %g",
                  t->verdict.worst[POISE_FINDING_PLACES], t->verdict.worst[POISE_FINDING_MOVED],
                  t->verdict.worst[POISE_FINDING_MISS], t->verdict.worst[POISE_FINDING_UNEQUAL],
                  t->verdict.worst[POISE_FINDING_UNSEEN]);
    ck_assert(finds(t, POISE_FINDING_JOINT, POISE_VERDICT_GOOD, "left_thumb")); // no marker is there
    ck_assert(!finds(t, POISE_FINDING_JOINT, POISE_VERDICT_GOOD, "left_knee"));
}

TEST(a_calibration_without_a_size_tells_nothing_of_places)
{
    take *t = record(gait, TEST_COUNT(gait));
    follow(t, false, NULL);
    poise_verdict_problem problem = poise_verdict_problem_default();
    problem.track = &t->problem, problem.clip = t->clip, problem.frames = t->frames, problem.priors = t->priors;
    for (int has_size = 0; has_size < 2; ++has_size) {
        problem.calibration = has_size ? NULL : &(poise_calibration_report){.size = 0};
        ck_assert_int_eq(poise_verdict_find(&problem, NULL, &t->verdict, t->findings, FINDINGS, NULL), POISE_OK);
        ck_assert_int_eq(t->verdict.worst[POISE_FINDING_PLACES] > 0, has_size);
    }
}

// Track with the places as they are, and judge as a user does who gave them.
static void follow_given(take *t, const poise_placement *placements, int count)
{
    t->problem = poise_track_problem_default();
    t->problem.model = t->model;
    t->problem.placements = placements;
    t->problem.placement_count = count;
    t->problem.markers = t->markers;
    t->problem.robust = false;
    ck_assert_int_eq(poise_track(&t->problem, NULL, &t->clip, t->frames, NULL), POISE_OK);
    poise_verdict_problem problem = poise_verdict_problem_default();
    problem.track = &t->problem;
    problem.clip = t->clip;
    problem.frames = t->frames;
    ck_assert_int_eq(poise_verdict_find(&problem, NULL, &t->verdict, t->findings, FINDINGS, NULL), POISE_OK);
    own_clip(t->clip);
    own_markers(t->markers);
}

TEST(a_marker_far_from_its_given_place_is_named)
{
    take *t = record(gait, TEST_COUNT(gait));
    t->placements[12].local.x += 0.1; // LWRA
    follow_given(t, t->placements, TEST_COUNT(gait));
    ck_assert_int_eq(t->verdict.level, POISE_VERDICT_DOUBTFUL);
    ck_assert(finds(t, POISE_FINDING_FAR, POISE_VERDICT_DOUBTFUL, "LWRA"));
}

// An arm whose markers are let go for 0.3 s is lost, though no marker is let go in a fifth of the frames; 0.1 s is a moment.
TEST(a_limb_that_leaves_its_markers_for_a_while_is_lost)
{
    static const char *const arm[] = {"LFRM", "LWRA", "LWRB"};
    for (int length = 10; length <= 24; length += 14) {
        take *t = record(gait, TEST_COUNT(gait));
        follow_given(t, t->placements, TEST_COUNT(gait));
        ck_assert_int_eq(t->verdict.level, POISE_VERDICT_GOOD);
        for (int f = 40; f < 40 + length; ++f) {
            for (int i = 0; i < 3; ++i) {
                t->markers->position[f * t->markers->count + poise_markers_find(t->markers, arm[i])].x += 0.2;
            }
            t->frames[f].let_go = 3;
        }
        poise_verdict_problem problem = poise_verdict_problem_default();
        problem.track = &t->problem;
        problem.clip = t->clip;
        problem.frames = t->frames;
        ck_assert_int_eq(poise_verdict_find(&problem, NULL, &t->verdict, t->findings, FINDINGS, NULL), POISE_OK);
        bool is_long = length * t->clip->frame_time > 0.2;
        ck_assert_int_eq(t->verdict.level, is_long ? POISE_VERDICT_DOUBTFUL : POISE_VERDICT_GOOD);
        ck_assert(!is_long || finds(t, POISE_FINDING_LOST, POISE_VERDICT_DOUBTFUL, "left_ulna") ||
                  finds(t, POISE_FINDING_LOST, POISE_VERDICT_DOUBTFUL, "left_radius"));
        ck_assert(!is_long || fabs(t->findings[0].distance - 0.2 / 1.7) < 0.02); // of the stature
        ck_assert_msg(!is_long || (t->findings[0].first == 40 && t->findings[0].last == 39 + length), "frames %d to %d",
                      t->findings[0].first, t->findings[0].last);
    }
}

// Give markers names that nobody knows.
static void forget_names(take *t, int first, int last)
{
    static char names[MOST][8];
    for (int i = first; i <= last; ++i) {
        snprintf(names[i], sizeof names[i], "zzz%d", i);
        t->markers->label[i] = names[i];
    }
}

TEST(a_marker_of_unknown_name_tells_of_an_arm_that_is_elsewhere)
{
    take *t = record(gait, TEST_COUNT(gait));
    forget_names(t, 9, 14);         // below the left shoulder
    for (int f = 30; f < 40; ++f) { // some frames lack the elbow
        t->markers->position[f * t->markers->count + 10] = (poise_vec3){NAN, NAN, NAN};
    }
    follow(t, false, NULL);
    ck_assert_int_eq(t->verdict.level, POISE_VERDICT_DOUBTFUL);
    ck_assert(finds(t, POISE_FINDING_ASTRAY, POISE_VERDICT_DOUBTFUL, "zzz10")); // LELB, which goes with LSHO
    ck_assert(finds(t, POISE_FINDING_LEFT_OUT, POISE_VERDICT_GOOD, "zzz12"));
}

TEST(a_marker_of_unknown_name_on_the_body_is_no_fault)
{
    take *t = record(gait, TEST_COUNT(gait));
    forget_names(t, 28, 28); // LTIB
    follow(t, false, NULL);
    ck_assert_msg(t->verdict.level == POISE_VERDICT_GOOD, "astray %g", t->verdict.worst[POISE_FINDING_ASTRAY]);
    ck_assert(finds(t, POISE_FINDING_LEFT_OUT, POISE_VERDICT_GOOD, "zzz28"));
}

// On the body, they are no fault, but whoever knows the set can say where they sit.
TEST(a_marker_of_unknown_name_is_named_with_its_body)
{
    take *t = record(gait, TEST_COUNT(gait));
    forget_names(t, 28, 28); // LTIB
    forget_names(t, 7, 7);   // STRN
    follow(t, false, NULL);
    ck_assert_int_eq(t->verdict.level, POISE_VERDICT_GOOD);
    int told = 0;
    for (int i = 0; i < t->verdict.count; ++i) {
        const poise_finding *f = &t->findings[i];
        if (f->kind == POISE_FINDING_UNPLACED) {
            ck_assert_str_eq(f->other, strcmp(f->name, "zzz28") == 0 ? "left_shin" : "thorax");
            ck_assert_msg(f->value > 0 && f->value < 0.01, "%s wanders by %g", f->name, f->value);
            told += 1;
        }
    }
    ck_assert_int_eq(told, 2);
}

// What is stated of an angle, degrees.
static double deviation_of(const take *t, const char *angle)
{
    double value = 0.0;
    for (int i = 0; i < t->verdict.count; ++i) {
        const poise_finding *f = &t->findings[i];
        bool is_it = f->kind == POISE_FINDING_VAGUE && strcmp(f->name, angle) == 0;
        value = is_it ? f->value * 180 / 3.141592653589793 : value;
    }
    return value;
}

// Without what tells it, an angle is vague. Where the marker is there, under a name that nobody knows, that is doubtful.
TEST_ROWS(an_angle_that_markers_hardly_tell_is_named, 2)
{
    take *t = record(gait, TEST_COUNT(gait));
    forget_names(t, 30, 30); // LHEE
    for (int f = 0; f < FRAMES && test_row == 1; ++f) {
        t->markers->position[f * t->markers->count + 30] = (poise_vec3){NAN, NAN, NAN};
    }
    follow(t, false, NULL);
    ck_assert_int_eq(t->verdict.level, test_row == 0 ? POISE_VERDICT_DOUBTFUL : POISE_VERDICT_GOOD);
    ck_assert(finds(t, test_row == 0 ? POISE_FINDING_UNSURE : POISE_FINDING_VAGUE, t->verdict.level, "ankle_inversion_l"));
    ck_assert(!finds(t, POISE_FINDING_UNSURE, POISE_VERDICT_GOOD, "ankle_inversion_r"));
    double vague = deviation_of(t, "ankle_inversion_l"), usual = deviation_of(t, "ankle_inversion_r");
    ck_assert_msg(vague > 1.5 * usual && usual > 2.5, "%g degrees, %g with the heel", vague, usual);
}

// A name that a program made up tells nobody where a marker sits.
TEST(a_number_is_no_name_to_ask_for)
{
    take *t = record(gait, TEST_COUNT(gait));
    t->markers->label[30] = "x30"; // LHEE
    follow(t, false, NULL);
    ck_assert_int_eq(t->verdict.level, POISE_VERDICT_GOOD);
    ck_assert(finds(t, POISE_FINDING_VAGUE, POISE_VERDICT_GOOD, "ankle_inversion_l"));
    ck_assert(finds(t, POISE_FINDING_UNPLACED, POISE_VERDICT_GOOD, "x30"));
}

// Someone who sways up and down within 1.5 s, at ten times the rate: too slow to be hasty, but nothing falls so fast.
TEST_ROWS(hips_fall_no_faster_than_things_do, 2)
{
    take *t = record(gait, TEST_COUNT(gait));
    double rate = test_row == 0 ? 40.0 : 400.0;
    for (int f = FRAMES - 1; f >= 0; --f) {
        for (int i = 0; i < t->markers->count; ++i) {
            poise_vec3 *p = &t->markers->position[f * t->markers->count + i];
            *p = t->markers->position[i];
            p->y += 0.06 * cos(2 * 3.141592653589793 * f / 60.0) - (f > 0 ? 0.0 : 0.06);
        }
    }
    t->markers->rate = rate;
    follow(t, false, NULL);
    ck_assert(t->verdict.worst[POISE_FINDING_HASTY] < 100);
    ck_assert_msg(finds(t, POISE_FINDING_FALLING, POISE_VERDICT_DOUBTFUL, NULL) == (test_row == 1), "%g",
                  t->verdict.worst[POISE_FINDING_FALLING]);
}

// A knee that goes back farther than the skeleton's can: its limit is reported in its stead.
TEST(a_joint_at_a_limit_is_named_with_its_frames)
{
    enum { FIRST = 30, LAST = 69 };
    for (int goes_back = 0; goes_back < 2; ++goes_back) {
        take *t = record(gait, TEST_COUNT(gait));
        poise_model *model = t->model;
        int knee = poise_model_find_joint(model, "left_knee"), q = poise_model_joint_info(model, knee).q;
        poise_kinematics *kin;
        double pose[64];
        ck_assert_int_eq(poise_kinematics_create(model, NULL, &kin, NULL), POISE_OK);
        own_kinematics(kin);
        for (int f = FIRST; f <= LAST; ++f) {
            scene_motion_pose(model, "walk", 0.01 * f, pose);
            pose[q] = goes_back ? -0.7 : -0.35; // 40 degrees, 20 degrees
            ck_assert_int_eq(poise_kinematics_update(kin, pose, NULL), POISE_OK);
            for (int i = 0; i < (int)TEST_COUNT(gait); ++i) {
                t->markers->position[f * t->markers->count + i] =
                    poise_kinematics_point(kin, t->placements[i].body, t->placements[i].local);
            }
        }
        follow_given(t, t->placements, TEST_COUNT(gait));
        ck_assert_int_eq(finds(t, POISE_FINDING_AT_LIMIT, POISE_VERDICT_DOUBTFUL, "left_knee"), goes_back);
        for (int i = 0; i < t->verdict.count && goes_back; ++i) {
            const poise_finding *f = &t->findings[i];
            if (f->kind == POISE_FINDING_AT_LIMIT && strcmp(f->name, "left_knee") == 0) {
                ck_assert_msg(f->first == FIRST && f->last == LAST && fabs(f->value - 40.0 / FRAMES) < 0.02,
                              "frames %d to %d, %g", f->first, f->last, f->value);
            }
        }
        ck_assert(goes_back || fabs(t->clip->q[50 * t->clip->nq + q] + 0.35) < 0.03); // as far as people do, it follows
    }
}

TEST(a_marker_that_hardly_weighs_does_not_spoil_given_places)
{
    take *t = record(gait, TEST_COUNT(gait));
    t->placements[12].local.x += 0.3;
    t->placements[12].weight = 0.01;
    follow_given(t, t->placements, TEST_COUNT(gait));
    ck_assert_msg(t->verdict.level == POISE_VERDICT_GOOD, "given %g, far %g", t->verdict.worst[POISE_FINDING_GIVEN],
                  t->verdict.worst[POISE_FINDING_FAR]);
}

TEST(five_markers_do_not_make_a_good_body)
{
    static const char *const five[] = {"LASI", "RASI", "LKNE", "RANK", "C7"};
    take *t = record(five, 5);
    follow(t, false, NULL);
    ck_assert_int_ge(t->verdict.level, POISE_VERDICT_DOUBTFUL);
    ck_assert(finds(t, POISE_FINDING_BARE, POISE_VERDICT_DOUBTFUL, NULL));
    ck_assert(finds(t, POISE_FINDING_JOINT, POISE_VERDICT_GOOD, "left_elbow"));
}

TEST(a_skeleton_that_lacks_most_of_the_person_is_doubtful)
{
    take *t = record(gait, TEST_COUNT(gait));
    ck_assert_int_eq(scene_create("lamp", NULL, &t->model, NULL), POISE_OK); // all that it has of a person is a head
    own_model(t->model);
    for (int f = 1; f < FRAMES; ++f) { // who stands still
        memcpy(t->markers->position + f * t->markers->count, t->markers->position,
               (size_t)t->markers->count * sizeof *t->markers->position);
    }
    follow(t, false, NULL);
    ck_assert_double_eq_tol(t->verdict.worst[POISE_FINDING_FOREIGN], 34.0 / 38.0, 1e-12);
    ck_assert_int_eq(t->verdict.level, POISE_VERDICT_DOUBTFUL);
    ck_assert(finds(t, POISE_FINDING_FOREIGN, POISE_VERDICT_DOUBTFUL, NULL));
}

static const char *const legs[] = {"LASI", "RASI", "LPSI", "RPSI", "LTHI", "LKNE", "LTIB", "LANK",
                                   "LHEE", "LTOE", "RTHI", "RKNE", "RTIB", "RANK", "RHEE", "RTOE"};
static const char *const centres[] = {"RHJC", "RKJC", "RAJC", "RSJC", "REJC", "RWJC",
                                      "LHJC", "LKJC", "LAJC", "LSJC", "LEJC", "LWJC"};
static const struct {
    const char *const *labels;
    int count;
    const char *unseen; // a joint that is listed
} parts_of_bodies[] = {{legs, TEST_COUNT(legs), "left_elbow"}, {centres, TEST_COUNT(centres), "left_index"}};

TEST_ROWS(what_carries_no_marker_is_listed_and_is_no_fault, TEST_COUNT(parts_of_bodies))
{
    take *t = record(parts_of_bodies[test_row].labels, parts_of_bodies[test_row].count);
    follow(t, false, NULL);
    ck_assert_msg(t->verdict.level == POISE_VERDICT_GOOD, "unseen %g, bare %g, moved %g",
                  t->verdict.worst[POISE_FINDING_UNSEEN], t->verdict.worst[POISE_FINDING_BARE],
                  t->verdict.worst[POISE_FINDING_MOVED]);
    ck_assert(finds(t, POISE_FINDING_JOINT, POISE_VERDICT_GOOD, parts_of_bodies[test_row].unseen));
    ck_assert(!finds(t, POISE_FINDING_JOINT, POISE_VERDICT_GOOD, "left_knee"));
}

static const struct {
    const char *a, *b;
} swaps[] = {{"LKNE", "RKNE"}, {"LASI", "RASI"}, {"LELB", "LUPA"}, {"LANK", "LTIB"}, {"LHEE", "LTOE"}};

TEST_ROWS(labels_that_are_exchanged_are_told_by_name, TEST_COUNT(swaps))
{
    take *t = record(gait, TEST_COUNT(gait));
    exchange(t, swaps[test_row].a, swaps[test_row].b);
    follow(t, false, NULL);
    ck_assert_int_ge(t->verdict.level, POISE_VERDICT_DOUBTFUL);
    bool by_name = false;
    for (int k = 0; k < 2; ++k) {
        const char *name = k == 0 ? swaps[test_row].a : swaps[test_row].b;
        by_name = by_name || finds(t, POISE_FINDING_MOVED, POISE_VERDICT_DOUBTFUL, name) ||
                  finds(t, POISE_FINDING_UNEQUAL, POISE_VERDICT_DOUBTFUL, name) ||
                  finds(t, POISE_FINDING_LET_GO, POISE_VERDICT_DOUBTFUL, name);
    }
    ck_assert_msg(by_name, "%s and %s", swaps[test_row].a, swaps[test_row].b);
}

TEST(thresholds_are_the_callers)
{
    take *t = record(gait, TEST_COUNT(gait));
    poise_thresholds strict = poise_verdict_problem_default().thresholds;
    strict.doubtful[POISE_FINDING_MISS] = 1e-6;
    strict.failed[POISE_FINDING_MISS] = 2e-6;
    follow(t, false, &strict);
    ck_assert_int_eq(t->verdict.level, POISE_VERDICT_FAILED);
    ck_assert(t->findings[0].kind == POISE_FINDING_MISS && t->findings[0].level == POISE_VERDICT_FAILED);
}

TEST(markers_with_each_others_names_are_named)
{
    static const char *const pairs[][2] = {{"LWRA", "LWRB"}, {"RHEE", "RTOE"}, {"LKNE", "RKNE"}, {"LASI", "LPSI"}};
    for (size_t i = 0; i < TEST_COUNT(pairs); ++i) {
        take *t = record(gait, TEST_COUNT(gait));
        exchange(t, pairs[i][0], pairs[i][1]);
        follow(t, false, NULL);
        ck_assert_int_ge(t->verdict.level, POISE_VERDICT_DOUBTFUL);
        ck_assert_msg(finds(t, POISE_FINDING_SWAPPED, POISE_VERDICT_DOUBTFUL, pairs[i][0]), "%s and %s: %g", pairs[i][0],
                      pairs[i][1], t->verdict.worst[POISE_FINDING_SWAPPED]);
    }
}

// Nothing is known of the names of markers that are out of sight where names are looked at, in the middle of the take.
TEST(markers_out_of_sight_have_the_names_of_no_others)
{
    static const char *const hidden[] = {"LWRA", "LWRB", "RTOE"};
    take *t = record(gait, TEST_COUNT(gait));
    for (int f = FRAMES / 2 - 5; f < FRAMES / 2 + 5; ++f) {
        for (int i = 0; i < 3; ++i) {
            t->markers->position[f * t->markers->count + poise_markers_find(t->markers, hidden[i])] =
                (poise_vec3){NAN, NAN, NAN};
        }
    }
    follow(t, false, NULL);
    ck_assert_msg(t->verdict.level == POISE_VERDICT_GOOD, "swapped %g", t->verdict.worst[POISE_FINDING_SWAPPED]);
}

TEST(places_that_were_fitted_freely_are_not_trusted)
{
    take *t = record(gait, TEST_COUNT(gait));
    follow(t, true, NULL);
    ck_assert_int_ge(t->verdict.level, POISE_VERDICT_DOUBTFUL);
}

TEST(findings_are_told_in_words)
{
    static const struct {
        poise_finding finding;
        const char *text;
    } rows[] = {
        {{POISE_FINDING_MOVED, POISE_VERDICT_FAILED, "RFIN", NULL, 3.14159, 0, 0, 0, false},
         "RFIN sits 3.14 times as far from its usual place on the body as is common"},
        {{POISE_FINDING_UNSEEN, POISE_VERDICT_DOUBTFUL, NULL, NULL, 0.74, 0, 0, 0, false},
         "markers do not determine 74 % of the degrees of freedom above them"},
        {{POISE_FINDING_HELD, POISE_VERDICT_DOUBTFUL, NULL, NULL, 0.004, 0, 0, 0, false},
         "0.4 % of the frames could not be trusted and hold the last good pose"},
        {{POISE_FINDING_SIZE, POISE_VERDICT_DOUBTFUL, NULL, NULL, 1.305, 0, 0, 0, false},
         "person and skeleton differ in size by a factor of 1.31"},
        {{POISE_FINDING_STRETCHED, POISE_VERDICT_DOUBTFUL, "left_shin", NULL, 1.04, 0, 0, 0, false},
         "the bone to left_shin was scaled by a factor of 1.04 relative to the others"},
        {{POISE_FINDING_SWAPPED, POISE_VERDICT_DOUBTFUL, "LWRA", "LWRB", 20, 0, 0, 0, false},
         "LWRA and LWRB seem to have each other's names"},
    };
    char text[160], little[10];
    for (size_t i = 0; i < TEST_COUNT(rows); ++i) {
        poise_finding_describe(&rows[i].finding, text, sizeof text);
        ck_assert_str_eq(text, rows[i].text);
    }
    poise_finding_describe(&rows[0].finding, little, sizeof little);
    ck_assert_str_eq(little, "RFIN sits");
    ck_assert_str_eq(poise_verdict_name(POISE_VERDICT_DOUBTFUL), "doubtful");
    ck_assert_str_eq(poise_finding_name(POISE_FINDING_LET_GO), "let_go");
    poise_thresholds t = poise_thresholds_default();
    ck_assert_int_eq(poise_thresholds_set(&t, "moved", 3, -1, NULL), POISE_OK);
    ck_assert(t.doubtful[POISE_FINDING_MOVED] == 3 && t.failed[POISE_FINDING_MOVED] == 3);
    ck_assert_int_eq(poise_thresholds_set(&t, "held", 0.1, 0.2, NULL), POISE_OK);
    ck_assert(t.doubtful[POISE_FINDING_HELD] == 0.1 && t.failed[POISE_FINDING_HELD] == 0.2);
    ck_assert_int_eq(poise_thresholds_set(&t, "joint", 1, 1, NULL), POISE_ERROR_NOT_FOUND);
    ck_assert_int_eq(poise_thresholds_set(&t, "moved", NAN, 1, NULL), POISE_ERROR_ARGUMENT);
    ck_assert_int_eq(poise_thresholds_set(NULL, "moved", 1, 1, NULL), POISE_ERROR_ARGUMENT);
}

// A motion that is good has no sole more than 2 mm below the ground, for a leg of 0.8 m.
TEST(a_sole_that_is_more_than_two_millimetres_down_is_doubtful)
{
    poise_thresholds thresholds = poise_thresholds_default();
    poise_verdict verdict = {.level = POISE_VERDICT_GOOD};
    poise_finding list[1], depth = {.kind = POISE_FINDING_SUNK, .value = 0.0019 / 0.8};
    poise_verdict_weigh(&thresholds, depth, false, &verdict, list, 1);
    ck_assert_int_eq(verdict.level, POISE_VERDICT_GOOD);
    depth.value = 0.0021 / 0.8;
    poise_verdict_weigh(&thresholds, depth, false, &verdict, list, 1);
    ck_assert_int_eq(verdict.level, POISE_VERDICT_DOUBTFUL);
}
