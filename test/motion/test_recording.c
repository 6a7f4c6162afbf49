// Bringing a recording and a skeleton together: units, axes, points in common, measures.
#include "motion/recorded_walk.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FRAMES = 12 };

static void record(take *t, const char *scene, poise_scale scale)
{
    record_walk(t, scene, scale, FRAMES, 120);
}

static double distance(poise_vec3 a, poise_vec3 b)
{
    return hypot(hypot(a.x - b.x, a.y - b.y), a.z - b.z);
}

// ---- Units and axes ------------------------------------------------------------------------------------------------------

// Numbers in millimetres and z up, whatever the set says of them.
static void spoil(poise_markers *markers, poise_scale says)
{
    markers->scale = (poise_scale){1.0, POISE_UP_Y};
    ck_assert_int_eq(poise_markers_rescale(markers, (poise_scale){0.001, POISE_UP_Z}, NULL), POISE_OK);
    markers->scale = says;
}

TEST(markers_come_to_the_skeleton_whatever_is_known_of_their_unit_and_axis)
{
    static const struct {
        poise_scale markers, model; // as the files say
        bool up_by_figure;          // and an axis is found by who stands along it
        bool markers_unknown, model_unknown, by_size;
    } cases[] = {
        {{0.001, POISE_UP_Z}, {1.0, POISE_UP_Y}, false, false, false, false},
        {{0.001, POISE_UP_UNKNOWN}, {1.0, POISE_UP_Y}, true, false, false, false},
        {{0.0, POISE_UP_Z}, {1.0, POISE_UP_Y}, false, true, false, true},
        {{0.001, POISE_UP_Z}, {0.0, POISE_UP_Y}, false, false, true, true},
        {{0.0, POISE_UP_Z}, {0.0, POISE_UP_UNKNOWN}, true, true, true, true},
        {{0.0, POISE_UP_UNKNOWN}, {0.0, POISE_UP_UNKNOWN}, true, true, true, true},
    };
    for (size_t i = 0; i < TEST_COUNT(cases); ++i) {
        take t, truth;
        record(&t, "humanoid", (poise_scale){1.0, POISE_UP_Y});
        record(&truth, "humanoid", t.markers->scale);
        spoil(t.markers, cases[i].markers);
        poise_scale scale = cases[i].model;
        poise_scale_match match;
        ck_assert_int_eq(poise_markers_match(t.markers, t.model, &scale, &match, NULL), POISE_OK);
        ck_assert(match.markers_unknown == cases[i].markers_unknown && match.model_unknown == cases[i].model_unknown &&
                  match.by_size == cases[i].by_size && match.up_by_figure == cases[i].up_by_figure);
        ck_assert(scale.metres == 1.0 && t.markers->scale.metres == 1.0 && t.markers->scale.up == scale.up);
        ck_assert(match.from.metres == 0.001);
        for (int k = 0; k < FRAMES * t.count; ++k) {
            poise_vec3 p = truth.markers->position[k];
            ck_assert_double_lt(distance(p, t.markers->position[k]), 1e-12);
        }
        forget(&t);
        forget(&truth);
    }
}

TEST(sizes_that_tell_nothing_leave_the_unit_that_is_known)
{
    take t;
    record(&t, "humanoid", (poise_scale){0.0, POISE_UP_Y});
    for (int k = 0; k < FRAMES * t.count; ++k) {
        poise_vec3 *p = &t.markers->position[k];
        *p = (poise_vec3){5e4 * p->x, 5e4 * p->y, 5e4 * p->z}; // no common unit makes this a body
    }
    poise_vec3 before = t.markers->position[0];
    poise_scale scale = {1.0, POISE_UP_Y};
    poise_scale_match match;
    ck_assert_int_eq(poise_markers_match(t.markers, t.model, &scale, &match, NULL), POISE_OK);
    ck_assert(match.markers_unknown && !match.by_size && match.from.metres == 1.0);
    ck_assert_mem_eq(&before, &t.markers->position[0], sizeof before);
    poise_error error;
    scale.metres = INFINITY;
    ck_assert_int_eq(poise_markers_match(t.markers, t.model, &scale, NULL, &error), POISE_ERROR_ARGUMENT);
    forget(&t);
}

// Without names that are known, by the boxes around markers and around bodies and tools.
TEST(a_stick_and_its_two_markers_are_equally_large)
{
    poise_builder *builder;
    poise_model *model;
    poise_markers *markers;
    static const char *const labels[] = {"m1", "m2"};
    poise_joint joint = poise_joint_default();
    joint.name = "stick";
    joint.type = POISE_JOINT_FREE;
    poise_tool end = {.name = "end", .body = "stick", .pose = {{0, 0, 0, 1}, {0.9, 0, 0}}};
    ck_assert_int_eq(poise_builder_create(NULL, &builder, NULL), POISE_OK);
    ck_assert_int_eq(poise_builder_add_joint(builder, &joint, NULL), POISE_OK);
    ck_assert_int_eq(poise_builder_add_tool(builder, &end, NULL), POISE_OK);
    ck_assert_int_eq(poise_model_create(builder, NULL, &model, NULL), POISE_OK);
    ck_assert_int_eq(poise_markers_create(1, 2, 100.0, labels, NULL, &markers, NULL), POISE_OK);
    markers->position[0] = (poise_vec3){100, 200, 300};
    markers->position[1] = (poise_vec3){100, 1100, 300};
    poise_scale scale = {1.0, POISE_UP_Y};
    poise_scale_match match;
    ck_assert_int_eq(poise_markers_match(markers, model, &scale, &match, NULL), POISE_OK);
    ck_assert(match.markers_unknown && match.by_size && match.from.metres == 0.001);
    ck_assert_double_eq_tol(distance(markers->position[0], markers->position[1]), 0.9, 1e-12);
    poise_markers_destroy(markers);
    poise_model_destroy(model);
    poise_builder_destroy(builder);
}

// ---- Another's motion ----------------------------------------------------------------------------------------------------

TEST(a_motion_comes_over_to_a_skeleton_of_another_size_unit_and_axis)
{
    take t;
    record(&t, "humanoid", (poise_scale){1.0, POISE_UP_Y});
    double twice[MOST];
    poise_model *large;
    for (int k = 0; k < MOST; ++k) {
        twice[k] = 2.0;
    }
    ck_assert_int_eq(poise_model_rescale(t.model, twice, NULL, &large, NULL), POISE_OK);
    poise_retarget_problem problem = {
        .from = t.model, .clip = t.clip, .from_scale = {1.0, POISE_UP_Y}, .to = large, .to_scale = {0.01, POISE_UP_Z}};
    poise_placement placements[2 * MOST];
    for (int keep = 0; keep < 2; ++keep) {
        poise_markers *markers;
        poise_retarget_report report;
        problem.keep_size = keep;
        ck_assert_int_eq(poise_retarget_points(&problem, NULL, &markers, placements, &report, NULL), POISE_OK);
        ck_assert_int_eq(report.points, poise_model_info(t.model).joints + poise_model_info(t.model).tools);
        ck_assert_double_eq_tol(report.factor, keep ? 100.0 : 2.0, 1e-9);
        ck_assert(report.is_turned && markers->scale.metres == 0.01 && markers->scale.up == POISE_UP_Z);
        for (int i = 0; i < report.points; ++i) {
            ck_assert_ptr_eq(placements[i].label, markers->label[i]);
        }
        poise_markers_destroy(markers);
    }
    poise_model_destroy(large);
    forget(&t);
}

// A root and two bodies in a row on it, whose distances are given.
static poise_model *row_of_three(double first, double second)
{
    static const char *const names[] = {"a", "b", "c"};
    poise_builder *builder;
    poise_model *model;
    ck_assert_int_eq(poise_builder_create(NULL, &builder, NULL), POISE_OK);
    for (int i = 0; i < 3; ++i) {
        poise_joint joint = poise_joint_default();
        joint.name = names[i];
        joint.parent = i > 0 ? names[i - 1] : NULL;
        joint.type = POISE_JOINT_REVOLUTE;
        joint.offset.position.x = i == 0 ? 0 : i == 1 ? first : second;
        ck_assert_int_eq(poise_builder_add_joint(builder, &joint, NULL), POISE_OK);
    }
    ck_assert_int_eq(poise_model_create(builder, NULL, &model, NULL), POISE_OK);
    poise_builder_destroy(builder);
    return model;
}

// All bones count, that below the root, too: (3 + 1) / (1 + 1).
TEST(the_size_of_a_skeleton_is_that_of_all_its_bones)
{
    poise_model *from = row_of_three(1, 1), *to = row_of_three(3, 1);
    poise_clip *clip;
    poise_markers *markers;
    poise_placement placements[MOST];
    poise_retarget_report report;
    ck_assert_int_eq(poise_clip_create(1, 3, 0.01, NULL, &clip, NULL), POISE_OK);
    poise_model_neutral(from, clip->q);
    poise_retarget_problem problem = {.from = from, .clip = clip, .to = to};
    ck_assert_int_eq(poise_retarget_points(&problem, NULL, &markers, placements, &report, NULL), POISE_OK);
    ck_assert_double_eq_tol(report.factor, 2.0, 1e-12);
    poise_markers_destroy(markers);
    poise_clip_destroy(clip);
    poise_model_destroy(from);
    poise_model_destroy(to);
}

TEST(bodies_belong_together_by_name_or_by_pair_and_what_does_not_is_refused)
{
    take t;
    record(&t, "humanoid", (poise_scale){1.0, POISE_UP_Y});
    poise_model *arm;
    ck_assert_int_eq(scene_create("arm7", NULL, &arm, NULL), POISE_OK);
    poise_placement placements[2 * MOST];
    poise_markers *markers = NULL;
    poise_error error;
    poise_retarget_problem problem = {.from = t.model, .clip = t.clip, .to = arm};
    ck_assert_int_eq(poise_retarget_points(&problem, NULL, &markers, placements, NULL, &error), POISE_ERROR_NOT_FOUND);
    ck_assert_ptr_nonnull(strstr(error.text, "only 0 of its 29 bodies"));
    static const struct {
        const char *pair, *text;
    } wrong[] = {
        {"pelvis", "is not SOURCE=TARGET"}, {"pelvsi=link1", "did you mean \"pelvis\"?"}, {"pelvis=", "is called \"\""}};
    for (size_t i = 0; i < TEST_COUNT(wrong); ++i) {
        problem.pairs = &wrong[i].pair;
        problem.pair_count = 1;
        ck_assert_int_eq(poise_retarget_points(&problem, NULL, &markers, placements, NULL, &error), POISE_ERROR_ARGUMENT);
        ck_assert_msg(strstr(error.text, wrong[i].text), "%s", error.text);
    }
    ck_assert_ptr_null(markers);
    char text[3][64];
    const char *pairs[3];
    for (int i = 0; i < 3; ++i) {
        strcpy(text[i], poise_model_joint_info(t.model, i).body);
        strcat(text[i], "=");
        strcat(text[i], poise_model_joint_info(arm, 2 * i).body);
        pairs[i] = text[i];
    }
    problem.pairs = pairs;
    problem.pair_count = 3;
    poise_retarget_report report;
    ck_assert_int_eq(poise_retarget_points(&problem, NULL, &markers, placements, &report, &error), POISE_OK);
    ck_assert(report.points == 3 && placements[1].body == 2 && placements[2].body == 4);
    poise_markers_destroy(markers);
    poise_model_destroy(arm);
    forget(&t);
}

// ---- Measures ------------------------------------------------------------------------------------------------------------

TEST(what_was_moved_is_measured_and_what_was_let_go_or_held_is_not)
{
    take t;
    record(&t, "humanoid", (poise_scale){1.0, POISE_UP_Y});
    poise_track_frame frames[FRAMES] = {{0}};
    t.markers->position[2 * t.count + 5].x += 0.01;                     // seen, off by 10 mm
    t.markers->position[3 * t.count + 5].y += 1.0;                      // let go
    t.markers->position[4 * t.count + 5].z += 1.0;                      // of a frame that is held
    t.markers->position[5 * t.count + 5] = (poise_vec3){NAN, NAN, NAN}; // not seen
    frames[3] = (poise_track_frame){.flags = POISE_TRACK_OUTLIERS, .let_go = 1, .worst = 1e-6, .iterations = 24};
    frames[4] = (poise_track_frame){.flags = POISE_TRACK_HELD};
    poise_track_problem problem = poise_track_problem_default();
    problem.model = t.model;
    problem.placements = t.placements;
    problem.placement_count = t.count;
    problem.markers = t.markers;
    double *distances = calloc((size_t)(FRAMES * t.count), sizeof *distances);
    poise_marker_error markers[MOST];
    poise_track_summary sum = {.distances = distances, .markers = markers};
    ck_assert_int_eq(poise_track_measure(&problem, t.clip, frames, NULL, &sum, NULL), POISE_OK);
    const double *d = distances + 5;
    ck_assert_double_eq_tol(d[2 * t.count], 0.01, 1e-9);
    ck_assert_double_eq_tol(d[3 * t.count], 1.0, 1e-9);
    ck_assert(isnan(d[5 * t.count]) && d[6 * t.count] < 1e-9);
    ck_assert(markers[5].seen == FRAMES - 1 && markers[5].let_go == 1 && markers[5].worst_frame == 2);
    ck_assert_int_eq(markers[5].counted, FRAMES - 3); // not seen, let go, held
    ck_assert_double_eq_tol(markers[5].worst, 0.01, 1e-9);
    ck_assert_double_eq_tol(markers[5].mean, 0.01 / (FRAMES - 3), 1e-9);
    ck_assert(sum.worst == markers[5].worst && sum.worst_frame == 2 && sum.worst_marker == 5);
    double measured = (FRAMES - 1) * t.count - 2; // all but those of the frame that is held, and two others
    ck_assert_double_eq_tol(sum.mean, 0.01 / measured, 1e-9);
    ck_assert_double_eq_tol(sum.rms, 0.01 / sqrt(measured), 1e-9);
    ck_assert(sum.held == 1 && sum.outliers == 1 && sum.jumps == 0 && sum.most_iterations == 24 && sum.mean_iterations == 2);
    ck_assert(sum.before == 0 && sum.after == 0); // nobody is ever there: all frames count
    for (int f = 0; f < FRAMES; ++f) {
        bool is_there = f >= 2 && f < FRAMES - 3;
        frames[f].seen = is_there ? problem.least_markers : problem.least_markers - 1;
        frames[f].flags = is_there && f != 4 ? 0 : POISE_TRACK_HELD | POISE_TRACK_GAPS;
    }
    ck_assert_int_eq(poise_track_measure(&problem, t.clip, frames, NULL, &sum, NULL), POISE_OK);
    ck_assert(sum.before == 2 && sum.after == 3 && sum.held == 1 && sum.gaps == 1);
    problem.model = NULL;
    poise_error error;
    ck_assert_int_eq(poise_track_measure(&problem, t.clip, frames, NULL, &sum, &error), POISE_ERROR_ARGUMENT);
    free(distances);
    forget(&t);
}

// Placements in memory of just their size: a step beyond them is seen.
TEST(markers_of_a_clip_are_made_of_the_placements_that_there_are)
{
    poise_model *model = NULL;
    poise_clip *clip = NULL;
    poise_markers *markers = NULL;
    ck_assert_int_eq(scene_create("arm6", NULL, &model, NULL), POISE_OK);
    ck_assert_int_eq(poise_clip_create(2, poise_model_info(model).nq, 0.02, NULL, &clip, NULL), POISE_OK);
    for (int count = 0; count < 4; ++count) {
        poise_placement *places = calloc((size_t)count + (count == 0), sizeof *places);
        for (int i = 0; i < count; ++i) {
            places[i] = (poise_placement){i % 2 ? "a" : NULL, i, poise_vec3_make(0.1, 0, 0), 1.0};
        }
        ck_assert_int_eq(
            poise_markers_from_clip(model, clip, (poise_scale){1.0, POISE_UP_Z}, places, count, NULL, &markers, NULL),
            POISE_OK);
        ck_assert_int_eq(markers->count, count);
        ck_assert(count < 2 || strcmp(markers->label[1], "a") == 0);
        poise_markers_destroy(markers);
        free(places);
    }
    poise_clip_destroy(clip);
    poise_model_destroy(model);
}
