// What is wrong with a recording is found, and what is sound is good; make nightly breaks many more.
#include "broken_recordings.h"

#include "support/test_main.h"

#include <scenes/scenes.h>

#include <math.h>
#include <string.h>

static int kind_named(const char *name)
{
    int kind = 0;
    while (strcmp(broken_kind_name(kind), name) != 0) {
        kind += 1;
    }
    return kind;
}

static const struct {
    const char *kind, *finding; // "": any
    uint64_t seed;
} broken[] = {
    {"frozen", "frozen every marker", 39001},
    {"frozen briefly", "frozen every marker", 40001},
    {"marker frozen", "frozen C7", 41003},
    {"marker stands still", "frozen RTIB", 26002},
    {"frames doubled", "doubled", 44004},
    {"straight lines", "filled", 56004},
    {"50 frames cut", "cut", 42003},
    {"leap", "cut", 48005},
    {"offset half way", "cut", 49003},
    {"rate x 10", "hasty", 37003},
    {"rate x 0.1", "slow", 38003},
    {"slips 50 mm", "knocked LTOE", 21002},
    {"backwards", "backwards", 46002},
    {"mirrored", "mirrored", 33004},
    {"room tilted", "tilted", 35004},
    {"stretched up", "skewed", 32002},
    {"stretched across", "skewed", 31012},
    {"cluster slips 60 mm", "pushed", 23004},
    {"half drift", "shifted", 24002},
    {"inches as cm", "size", 30002},
    {"name twice", "ambiguous", 59005},
    {"cluster drifts", "drifted", 61001},
    {"left is right", "", 12001},
    {"names rotated", "", 16001},
    {"two people", "", 17001},
    {"axes exchanged", "", 34001},
    {"30 mm of noise", "", 51001},
    {"zeros of all", "", 58002},
};

TEST_ROWS(what_is_broken_is_not_good_and_says_why, TEST_COUNT(broken))
{
    int kind = kind_named(broken[test_row].kind);
    broken_take *take = broken_take_make(kind, broken[test_row].seed);
    ck_assert_msg(take, "%s does not apply", broken[test_row].kind);
    broken_answer a = broken_take_judge(take, kind);
    ck_assert_msg(a.status == POISE_OK && a.level > POISE_VERDICT_GOOD, "%s is good", broken[test_row].kind);
    ck_assert_msg(strstr(a.reasons, broken[test_row].finding), "%s is not in: %s", broken[test_row].finding, a.reasons);
    broken_take_free(take);
}

// What the markers of one body told is left empty without them, and all else is as before.
TEST(a_body_without_markers_has_no_angles)
{
    int kind = kind_named("body without markers");
    broken_take *take = broken_take_make(kind, 25005); // no head
    broken_answer a = broken_take_judge(take, kind);
    ck_assert_msg(a.status == POISE_OK && !a.is_wrong, "%s is %g degrees off", a.which, a.angle);
    broken_take_free(take);
}

// Sizes from 1.0 to 2.0 m, all sets of markers, and damage that does no harm.
TEST_ROWS(what_is_sound_is_good, 10)
{
    broken_take *take = broken_take_make(test_row, 1000 * (uint64_t)test_row + 4);
    ck_assert(take && broken_kind_is_harmless(test_row));
    broken_answer a = broken_take_judge(take, test_row);
    ck_assert_msg(a.status == POISE_OK && a.level == POISE_VERDICT_GOOD, "%s: %s", broken_kind_name(test_row), a.reasons);
    broken_take_free(take);
}

TEST(a_thing_that_stands_in_the_room_is_no_fault)
{
    int kind = kind_named("props");
    broken_take *take = broken_take_make(kind, 7601); // a kick, beside a box
    broken_answer a = broken_take_judge(take, kind);
    ck_assert_msg(a.status == POISE_OK && a.level == POISE_VERDICT_GOOD, "%s", a.reasons);
    broken_take_free(take);
}

TEST(a_marker_that_comes_twice_at_one_place_is_no_fault)
{
    int kind = kind_named("name twice, alike");
    broken_take *take = broken_take_make(kind, 60004);
    broken_answer a = broken_take_judge(take, kind);
    ck_assert_msg(a.status == POISE_OK && a.level == POISE_VERDICT_GOOD, "%s", a.reasons);
    broken_take_free(take);
}

// ---- Deviations ----------------------------------------------------------------------------------------------------------

// People whose markers sit elsewhere than is usual, as far as those who attach them differ: their angles are within twice the
// standard deviation that is stated, though the track misses no marker.
TEST(what_is_stated_covers_the_truth)
{
    int uncovered = 0, compared = 0;
    for (uint64_t seed = 700; seed < 712; ++seed) {
        broken_take *take = broken_take_make(0, seed);
        broken_answer a = broken_take_judge(take, 0);
        ck_assert_int_eq(a.status, POISE_OK);
        uncovered += a.truly_uncovered;
        compared += a.compared;
        broken_take_free(take);
    }
    ck_assert_msg(compared > 200 && 25 * uncovered <= compared, "%d of %d angles are off", uncovered, compared);
}

// ---- Size ----------------------------------------------------------------------------------------------------------------

static double size_of(const broken_take *take)
{
    poise_model *humanoid;
    poise_places_report report;
    ck_assert_int_eq(scene_create("humanoid", NULL, &humanoid, NULL), POISE_OK);
    ck_assert_int_eq(poise_places_by_name(humanoid, take->markers, NULL, NULL, NULL, 0, &report, NULL), POISE_OK);
    poise_model_destroy(humanoid);
    return report.size;
}

TEST(one_marker_that_is_off_hardly_changes_the_size)
{
    broken_take *take = broken_take_make(0, 8); // legs, 1.98 m
    double before = size_of(take);
    int knee = poise_markers_find(take->markers, "LKNE");
    ck_assert(knee >= 0 && fabs(before / (take->stature / 1.75) - 1.0) < 0.05);
    for (int f = 0; f < take->markers->frames; ++f) {
        take->markers->position[f * take->markers->count + knee].y += 0.02;
    }
    ck_assert_double_le(fabs(size_of(take) / before - 1.0), 0.015);
    broken_take_free(take);
}

// The same person a little larger each time: what the skeleton is scaled by grows in small steps.
TEST(size_has_no_step)
{
    poise_model *humanoid;
    double last = 0.0;
    ck_assert_int_eq(scene_create("humanoid", NULL, &humanoid, NULL), POISE_OK);
    for (int i = 0; i < 13; ++i) {
        broken_take *take = broken_take_make(0, 6); // whose size is 0.93
        double factor = 1.0 + 0.015 * i;
        for (int k = 0; k < take->markers->frames * take->markers->count; ++k) {
            poise_vec3 *p = &take->markers->position[k];
            *p = (poise_vec3){factor * p->x, factor * p->y, factor * p->z};
        }
        poise_recording_problem problem = poise_recording_problem_default();
        poise_recording_result *r;
        problem.model = humanoid;
        problem.scale = (poise_scale){1.0, POISE_UP_Y};
        problem.markers = take->markers;
        problem.last = 20;
        ck_assert_int_eq(poise_track_recording(&problem, NULL, &r, NULL), POISE_OK);
        ck_assert_msg(i == 0 || (r->calibration.size >= last && r->calibration.size < last + 0.045), "%g after %g",
                      r->calibration.size, last);
        last = r->calibration.size;
        poise_recording_destroy(r);
        broken_take_free(take);
    }
    ck_assert_double_ge(last, 1.05);
    poise_model_destroy(humanoid);
}
