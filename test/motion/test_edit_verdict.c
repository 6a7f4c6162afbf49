// Verdicts of edits: what an edit did to the body that nobody asked for, by name and with its frames, from changes whose truth
// is known. TEST_EDITS=20000 makes the 60 random ones of each row 20 000.
#include "motion/edit_stage.h"

#include <poise/retarget.h>
#include <scenes/random.h>

#include <stdlib.h>
#include <string.h>

enum { MOST = 32 };

typedef struct judged {
    poise_verdict verdict;
    poise_finding findings[MOST];
} judged;

static judged judge(const stage *s, const poise_pin *pins, int count, const poise_overlap_problem *overlap)
{
    judged j;
    poise_error error = {.text = ""};
    poise_edit_problem problem = poise_edit_problem_default();
    problem.model = s->model, problem.before = s->before, problem.after = s->clip;
    problem.pins = pins, problem.pin_count = count, problem.overlap = overlap;
    problem.results = count > 0 && s->report.frames > 0 ? s->result : NULL;
    problem.report = s->report.frames > 0 ? &s->report : NULL;
    poise_status status = poise_edit_judge(&problem, NULL, &j.verdict, j.findings, MOST, &error);
    ck_assert_msg(status == POISE_OK, "%s", error.text);
    ck_assert_int_le(j.verdict.count, MOST);
    return j;
}

static const poise_finding *finding(const judged *j, poise_finding_kind kind, const char *name)
{
    for (int i = 0; i < j->verdict.count; ++i) {
        if (j->findings[i].kind == kind && (!name || strcmp(j->findings[i].name, name) == 0)) {
            return &j->findings[i];
        }
    }
    return NULL;
}

static double *coordinate(const stage *s, int frame, const char *joint, int which)
{
    int k = poise_model_find_joint(s->model, joint);
    ck_assert_int_ge(k, 0);
    return s->clip->q + (size_t)frame * (size_t)s->nq + poise_model_joint_info(s->model, k).q + which;
}

// Add to a coordinate in frames first to last, fading over 20 frames on either side.
static void bump(stage *s, const char *joint, int which, double by, int first, int last)
{
    enum { FADE = 20 };
    for (int f = 0; f < s->clip->frames; ++f) {
        double out = f < first ? first - f : f > last ? f - last : 0, u = out < FADE ? 1 - out / FADE : 0;
        if (u > 0) {
            *coordinate(s, f, joint, which) += by * u * u * u * (10 - 15 * u + 6 * u * u);
        }
    }
}

static poise_pin pin_on(const stage *s, const char *body)
{
    poise_pin p = poise_pin_default();
    p.goal = poise_goal_position(poise_model_find_body(s->model, body), poise_vec3_make(0, 0, 0), poise_vec3_make(0, 1, 0));
    return p;
}

static void expect(const judged *j, poise_finding_kind kind, const char *name, double value, int first, int last)
{
    const poise_finding *f = finding(j, kind, name);
    ck_assert_msg(f != NULL, "%s of %s is not told; %d findings, the first %s", poise_finding_name(kind), name,
                  j->verdict.count, j->verdict.count > 0 ? poise_finding_name(j->findings[0].kind) : "none");
    ck_assert_int_eq(j->verdict.level, POISE_VERDICT_DOUBTFUL);
    ck_assert_double_eq_tol(f->value, value, 0.02);
    ck_assert(f->first >= first - 20 && f->first <= first && f->last >= last && f->last <= last + 20);
    char text[256];
    poise_finding_describe(f, text, sizeof text);
    ck_assert_ptr_nonnull(strstr(text, name));
}

TEST(a_motion_that_stays_as_it_was_is_good)
{
    stage s = open_walk();
    poise_pin p = pin_on(&s, "left_hand");
    judged j = judge(&s, &p, 1, NULL);
    ck_assert_int_eq(j.verdict.level, POISE_VERDICT_GOOD);
    ck_assert_int_eq(j.verdict.count, 0);
    for (int i = 0; i < POISE_FINDING_KIND_COUNT; ++i) {
        ck_assert_double_le(j.verdict.worst[i], i == POISE_FINDING_FAST ? 0.81 : 1e-9);
    }
}

TEST(a_hand_that_moves_by_a_little_is_good)
{
    stage s = open_walk();
    poise_error error;
    poise_pin p = pin_on(&s, "left_hand");
    p.goal.target.position = pose_at(&s, s.before, 100, p.goal.body).position;
    p.goal.target.position.y += 0.06;
    p.from = p.to = 1, p.fade_in = p.fade_out = 0.3;
    ck_assert_int_eq(poise_clip_pin(s.model, &p, 1, NULL, s.clip, NULL, s.result, &s.report, &error), POISE_OK);
    judged j = judge(&s, &p, 1, NULL);
    ck_assert_int_eq(j.verdict.level, POISE_VERDICT_GOOD);
    ck_assert_double_gt(j.verdict.worst[POISE_FINDING_TWISTED], 1e-3); // it was looked at
}

TEST(a_hand_that_is_out_of_reach_is_told)
{
    stage s = open_walk();
    poise_error error;
    poise_pin p = pin_on(&s, "left_hand");
    p.goal.target.position = poise_vec3_make(0.5, 9, 0.5);
    p.from = 0.9, p.to = 1.1;
    ck_assert_int_eq(poise_clip_pin(s.model, &p, 1, NULL, s.clip, NULL, s.result, &s.report, &error), POISE_OK);
    judged j = judge(&s, &p, 1, NULL);
    const poise_finding *f = finding(&j, POISE_FINDING_UNMET, "left_hand");
    ck_assert_ptr_nonnull(f);
    ck_assert_double_eq(f->value, 1);
    ck_assert_int_eq(f->first, s.result[0].worst_frame);
    ck_assert_int_ge(j.verdict.level, POISE_VERDICT_DOUBTFUL);
}

TEST(a_clavicle_within_its_limits_is_told)
{
    stage s = open_walk();
    bump(&s, "right_clavicle", 0, 0.8, 60, 90);
    judged j = judge(&s, NULL, 0, NULL);
    expect(&j, POISE_FINDING_COLLAR, "right_clavicle", 0.8, 60, 90);
}

// The coordinate of a shoulder that leaves the elbow where it is turns the arm about its length.
static int twist_of(stage *s, const char *joint, const char *elbow)
{
    int body = poise_model_find_body(s->model, elbow), found = POISE_NONE;
    double *q = calloc((size_t)s->nq, sizeof *q);
    for (int i = 0; i < 3; ++i) {
        poise_model_neutral(s->model, q);
        ck_assert_int_eq(poise_kinematics_update(s->kin, q, NULL), POISE_OK);
        poise_vec3 before = poise_kinematics_body_pose(s->kin, body).position;
        q[poise_model_joint_info(s->model, poise_model_find_joint(s->model, joint)).q + i] = 0.7;
        ck_assert_int_eq(poise_kinematics_update(s->kin, q, NULL), POISE_OK);
        found = apart(before, poise_kinematics_body_pose(s->kin, body).position) < 1e-9 ? i : found;
    }
    free(q);
    ck_assert_int_ge(found, 0);
    return found;
}

TEST(an_arm_that_is_twisted_is_told)
{
    stage s = open_walk();
    bump(&s, "left_shoulder", twist_of(&s, "left_shoulder", "left_ulna"), -1.4, 50, 80);
    judged j = judge(&s, NULL, 0, NULL);
    expect(&j, POISE_FINDING_TWISTED, "left_upper_arm", 1.4, 50, 80);
    ck_assert_ptr_null(finding(&j, POISE_FINDING_COLLAR, NULL));
}

TEST(a_chest_that_follows_a_hand_is_told_and_one_that_is_pinned_is_not)
{
    stage s = open_walk();
    bump(&s, "chest", 1, 36 / 57.29577951308232, 100, 120);
    poise_pin hand = pin_on(&s, "left_hand"), chest = pin_on(&s, "thorax");
    judged j = judge(&s, &hand, 1, NULL);
    const poise_finding *f = finding(&j, POISE_FINDING_DRAGGED, "thorax");
    ck_assert_ptr_nonnull(f);
    ck_assert_double_eq_tol(f->value, 36 / 57.29577951308232, 0.1);
    j = judge(&s, &chest, 1, NULL);
    ck_assert_ptr_null(finding(&j, POISE_FINDING_DRAGGED, NULL));
}

TEST(elbows_and_knees_that_bend_backwards_are_told)
{
    static const char *const joints[] = {"left_elbow", "right_knee"}, *const bodies[] = {"left_ulna", "right_shin"};
    for (int i = 0; i < 2; ++i) {
        stage s = open_walk();
        double least = 9;
        for (int f = 70; f <= 90; ++f) {
            least = fmin(least, *coordinate(&s, f, joints[i], 0));
        }
        bump(&s, joints[i], 0, -least - 0.6, 70, 90); // 0.6 rad beyond straight, at least
        judged j = judge(&s, NULL, 0, NULL);
        const poise_finding *f = finding(&j, POISE_FINDING_BENT, bodies[i]);
        ck_assert_msg(f != NULL, "%s", joints[i]);
        ck_assert_double_eq_tol(f->value, 0.6, 0.1);
        ck_assert(f->first <= 90 && f->last >= 70 && f->first >= 50 && f->last <= 110);
        s = open_walk();
        bump(&s, joints[i], 0, 0.9, 70, 90); // more of the bend it has
        j = judge(&s, NULL, 0, NULL);
        ck_assert_ptr_null(finding(&j, POISE_FINDING_BENT, NULL));
    }
}

TEST(a_joint_that_is_too_fast_is_told)
{
    stage s = open_walk();
    *coordinate(&s, 77, "left_wrist", 0) += 0.5; // 50 rad/s at 100 Hz
    judged j = judge(&s, NULL, 0, NULL);
    const poise_finding *f = finding(&j, POISE_FINDING_FAST, "left_hand");
    ck_assert_ptr_nonnull(f);
    ck_assert_double_eq_tol(f->distance, 50, 3);
    ck_assert(f->first == 77 || f->first == 78);
}

TEST(bodies_that_an_edit_pushes_into_each_other_are_told_and_not_those_that_were)
{
    stage s = open_walk();
    int hand = poise_model_find_body(s.model, "left_hand"), thorax = poise_model_find_body(s.model, "thorax");
    poise_shape shapes[] = {
        poise_shape_capsule(hand, poise_vec3_make(0, 0, 0), poise_vec3_make(0, 0, 0), 0.04),
        poise_shape_capsule(thorax, poise_vec3_make(0, 0, 0), poise_vec3_make(0, 0, 0), 0.12),
    };
    poise_overlap_problem overlap = poise_overlap_problem_default();
    overlap.shapes = shapes, overlap.shape_count = 2;
    poise_pin p = pin_on(&s, "left_hand");
    poise_error error;
    poise_pose chest = pose_at(&s, s.before, 100, thorax), at = pose_at(&s, s.before, 100, hand);
    poise_vec3 way = {at.position.x - chest.position.x, at.position.y - chest.position.y, at.position.z - chest.position.z};
    double far = sqrt(way.x * way.x + way.y * way.y + way.z * way.z), into = 0.16 - 0.021; // 21 mm deep
    p.goal =
        poise_goal_position(hand, poise_vec3_make(0, 0, 0),
                            poise_vec3_make(chest.position.x + way.x * into / far, chest.position.y + way.y * into / far,
                                            chest.position.z + way.z * into / far));
    p.from = p.to = 1, p.fade_in = p.fade_out = 0.5;
    ck_assert_int_eq(poise_clip_pin(s.model, &p, 1, NULL, s.clip, NULL, s.result, &s.report, &error), POISE_OK);
    judged j = judge(&s, &p, 1, &overlap);
    const poise_finding *f = finding(&j, POISE_FINDING_SELF, NULL);
    ck_assert_ptr_nonnull(f);
    ck_assert_double_gt(f->distance, 0.01);
    ck_assert_int_ge(f->first, s.result[0].first);
    ck_assert_int_le(f->first, s.result[0].last);
    poise_clip *kept = s.before; // what was there before is not the edit's
    s.before = s.clip;
    j = judge(&s, &p, 1, &overlap);
    ck_assert_ptr_null(finding(&j, POISE_FINDING_SELF, NULL));
    s.before = kept;
    poise_shape more[4] = {shapes[0], shapes[1]}; // nor does what was there excuse what is new, though in the same frames
    more[2] = poise_shape_capsule(poise_model_find_body(s.model, "right_hand"), poise_vec3_make(0, 0, 0),
                                  poise_vec3_make(0, 0, 0), 0.25);
    more[3] = poise_shape_capsule(poise_model_find_body(s.model, "right_thigh"), poise_vec3_make(0, 0, 0),
                                  poise_vec3_make(0, 0, 0), 0.25);
    overlap.shapes = more, overlap.shape_count = 4;
    j = judge(&s, &p, 1, &overlap);
    f = finding(&j, POISE_FINDING_SELF, NULL);
    ck_assert_ptr_nonnull(f);
}

// ---- By the thousand -----------------------------------------------------------------------------------------------------

static const char *const motions[] = {"walk", "punch", "kick", "cartwheel"};

static int count_of_edits(void)
{
    const char *text = getenv("TEST_EDITS");
    return text ? atoi(text) : 60;
}

// Wrong by construction, within the limits of the file or not, anywhere in any motion: nothing of it is good.
TEST(no_wrong_edit_is_good)
{
    scene_random random = scene_random_make(41);
    for (int i = 0; i < count_of_edits(); ++i) {
        stage s = open_motion(motions[i % 4], RATE, FRAMES);
        bool is_left = scene_random_range(&random, 0, 1) < 0.5;
        int first = (int)scene_random_range(&random, 20, 150), last = first + (int)scene_random_range(&random, 0, 25);
        double size = scene_random_range(&random, 0.65, 1.2), sign = scene_random_range(&random, 0, 1) < 0.5 ? -1 : 1;
        poise_pin hand = pin_on(&s, is_left ? "left_hand" : "right_hand");
        const char *collar = is_left ? "left_clavicle" : "right_clavicle",
                   *shoulder = is_left ? "left_shoulder" : "right_shoulder";
        const char *ulna = is_left ? "left_ulna" : "right_ulna", *wrist = is_left ? "left_wrist" : "right_wrist";
        switch (i / 4 % 4) {
        case 0:
            bump(&s, collar, i % 2, sign * size, first, last);
            break;
        case 1:
            bump(&s, shoulder, twist_of(&s, shoulder, ulna), sign * (0.6 + size), first, last);
            break;
        case 2:
            bump(&s, "chest", i % 3, sign * size, first, last);
            break;
        default:
            *coordinate(&s, first, wrist, 0) += sign * size;
            break;
        }
        judged j = judge(&s, &hand, 1, NULL);
        ck_assert_msg(j.verdict.level != POISE_VERDICT_GOOD, "edit %d: %s, kind %d, %.2f rad in frames %d to %d", i,
                      motions[i % 4], i / 4 % 4, sign * size, first, last);
        bool in_time = false;
        for (int k = 0; k < j.verdict.count; ++k) {
            in_time = in_time || (j.findings[k].first <= last + 20 && j.findings[k].last >= first - 20);
        }
        ck_assert_msg(in_time, "edit %d: its frames are not told", i);
    }
}

// Small, smooth changes of any joint are sound.
TEST(small_edits_are_good)
{
    scene_random random = scene_random_make(42);
    static const char *const joints[] = {"left_clavicle", "right_shoulder", "left_elbow", "chest", "right_hip", "left_knee"};
    int good = 0, count = count_of_edits();
    for (int i = 0; i < count; ++i) {
        stage s = open_motion(motions[i % 4], RATE, FRAMES);
        poise_pin hand = pin_on(&s, "left_hand");
        int first = (int)scene_random_range(&random, 20, 150);
        bump(&s, joints[i % 6], 0, scene_random_range(&random, -0.2, 0.2), first, first + 10);
        good += judge(&s, &hand, 1, NULL).verdict.level == POISE_VERDICT_GOOD;
    }
    ck_assert_msg(100 * good >= 95 * count, "%d of %d", good, count);
}
