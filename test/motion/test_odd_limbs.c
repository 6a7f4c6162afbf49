// Limbs that a limit keeps from their markers, that turn as none does, and markers that trade names: told by name.
#include "motion/tracked_take.h"

#include <poise/verdict.h>

#include <string.h>

enum { FRAMES = 160, FIRST = 40, END = 90, FINDINGS = 128 };

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
