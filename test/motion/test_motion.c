// Clips and marker sets: memory, trimming, sampling between frames, labels, units.
#include "motion/anatomy.h"
#include "support/meter.h"
#include "support/skeleton.h"

#include <math.h>

#define PI 3.14159265358979323846

static poise_allocator allocator_of(meter *m)
{
    return (poise_allocator){meter_allocate, meter_release, m};
}

// ---- Clips ---------------------------------------------------------------------------------------------------------------

// Free root, slide, turn, Euler ball with limits of half a turn on its first angle, rotation vector, limited turn.
static poise_model *mover(void)
{
    poise_builder *builder = new_builder();
    add_plain(builder, "root", NULL, POISE_JOINT_FREE);
    add_plain(builder, "slide", "root", POISE_JOINT_PRISMATIC);
    add_plain(builder, "turn", "slide", POISE_JOINT_REVOLUTE);
    poise_joint euler = joint_of("euler", "turn", POISE_JOINT_BALL_EULER);
    euler.lower[0] = -PI, euler.upper[0] = PI;
    add(builder, &euler);
    add_plain(builder, "ball", "euler", POISE_JOINT_BALL_EXPMAP);
    poise_joint stiff = joint_of("stiff", "ball", POISE_JOINT_REVOLUTE);
    stiff.lower[0] = -3, stiff.upper[0] = 3;
    add(builder, &stiff);
    return model_of(builder);
}

enum { SLIDE = 7, TURN, EULER, BALL = EULER + 3, STIFF = BALL + 3, NQ };

static poise_clip *clip_of(const poise_model *model, int frames, double frame_time)
{
    poise_clip *clip = NULL;
    ck_assert_int_eq(poise_clip_create(frames, poise_model_info(model).nq, frame_time, NULL, &clip, NULL), POISE_OK);
    for (int f = 0; f < frames; ++f) {
        poise_model_neutral(model, clip->q + (size_t)f * (size_t)clip->nq);
    }
    return clip;
}

TEST(a_clip_is_one_allocation_of_zeros)
{
    meter m = {0};
    poise_allocator allocator = allocator_of(&m);
    poise_clip *clip = NULL;
    ck_assert_int_eq(poise_clip_create(5, 3, 0.25, &allocator, &clip, NULL), POISE_OK);
    ck_assert_int_eq(m.requests, 1);
    ck_assert(clip->frames == 5 && clip->nq == 3 && clip->frame_time == 0.25 && clip->start_time == 0.0);
    for (int i = 0; i < 15; ++i) {
        ck_assert_double_eq(clip->q[i], 0.0);
    }
    poise_clip_destroy(clip);
    ck_assert_int_eq(m.live, 0);
    poise_clip_destroy(NULL);
}

TEST(a_clip_refuses_what_makes_no_sense)
{
    poise_clip *clip = NULL;
    ck_assert_int_eq(poise_clip_create(-1, 3, 1, NULL, &clip, NULL), POISE_ERROR_ARGUMENT);
    ck_assert_int_eq(poise_clip_create(1, -3, 1, NULL, &clip, NULL), POISE_ERROR_ARGUMENT);
    ck_assert_int_eq(poise_clip_create(1, 3, 0, NULL, &clip, NULL), POISE_ERROR_ARGUMENT);
    ck_assert_int_eq(poise_clip_create(1, 3, NAN, NULL, &clip, NULL), POISE_ERROR_ARGUMENT);
    ck_assert_int_eq(poise_clip_create(1, 3, INFINITY, NULL, &clip, NULL), POISE_ERROR_ARGUMENT);
    ck_assert_int_eq(poise_clip_create(1, 3, 1, NULL, NULL, NULL), POISE_ERROR_ARGUMENT);
    ck_assert_int_eq(poise_clip_create(2147483647, 2147483647, 1, NULL, &clip, NULL), POISE_ERROR_MEMORY);
    ck_assert_ptr_null(clip);
}

TEST(a_trimmed_clip_is_a_piece_of_it)
{
    poise_model *model = mover();
    poise_clip *clip = clip_of(model, 6, 0.5), *piece = NULL;
    clip->start_time = 2.0;
    for (int f = 0; f < 6; ++f) {
        clip->q[f * NQ + SLIDE] = f;
    }
    ck_assert_int_eq(poise_clip_trim(clip, 2, 3, NULL, &piece, NULL), POISE_OK);
    ck_assert(piece->frames == 3 && piece->nq == NQ && piece->frame_time == 0.5);
    ck_assert_double_eq(piece->start_time, 3.0);
    ck_assert_mem_eq(piece->q, clip->q + 2 * NQ, 3 * NQ * sizeof(double));
    poise_clip_destroy(piece);
    ck_assert_int_eq(poise_clip_trim(clip, 6, 0, NULL, &piece, NULL), POISE_OK);
    ck_assert_int_eq(piece->frames, 0);
    poise_clip_destroy(piece);
    ck_assert_int_eq(poise_clip_trim(clip, 4, 3, NULL, &piece, NULL), POISE_ERROR_ARGUMENT);
    ck_assert_int_eq(poise_clip_trim(clip, -1, 3, NULL, &piece, NULL), POISE_ERROR_ARGUMENT);
    poise_clip_destroy(clip);
}

// q at a third of the way from a to b, each one coordinate.
static double third(const poise_model *model, int coordinate, double a, double b)
{
    poise_clip *clip = clip_of(model, 2, 3.0);
    clip->q[coordinate] = a;
    clip->q[NQ + coordinate] = b;
    double q[NQ];
    ck_assert_int_eq(poise_clip_sample(clip, model, 1.0, q, NULL), POISE_OK);
    poise_clip_destroy(clip);
    return q[coordinate];
}

TEST(angles_go_the_shorter_way_unless_their_limits_forbid_it)
{
    const double tolerance = 1e-14; // a few roundings of angles up to 360 degrees
    poise_model *model = mover();
    ck_assert_int_eq(poise_model_info(model).nq, NQ);
    ck_assert_double_eq_tol(third(model, TURN, 3.0, -3.0), 3.0 + (2 * PI - 6.0) / 3, tolerance);
    ck_assert_double_eq_tol(third(model, TURN, -3.0, 3.0), -3.0 - (2 * PI - 6.0) / 3, tolerance);
    ck_assert_double_eq_tol(third(model, TURN, 0.0, 4 * PI + 0.3), 0.1, 3 * tolerance);
    ck_assert_double_eq_tol(third(model, EULER, 3.0, -3.0), 3.0 + (2 * PI - 6.0) / 3, tolerance);
    ck_assert_double_eq_tol(third(model, EULER + 1, 0.3, 0.6), 0.4, tolerance);
    ck_assert_double_eq_tol(third(model, STIFF, 2.9, -2.9), 2.9 - 5.8 / 3, tolerance);
    ck_assert_double_eq_tol(third(model, SLIDE, 30.0, -30.0), 10.0, tolerance * 10);
}

TEST(numbers_between_the_largest_ones_are_finite)
{
    poise_model *model = mover();
    const double most = 1.7e308;
    ck_assert_double_eq_tol(third(model, SLIDE, most, -most) / most, 1.0 / 3, 1e-15);
    ck_assert_double_eq_tol(third(model, TURN, -most, most) / most, -1.0 / 3, 1e-15);
}

TEST(three_angles_between_large_ones_stay_near_them)
{
    poise_builder *builder = new_builder();
    add_plain(builder, "ball", NULL, POISE_JOINT_BALL_EULER);
    poise_model *model = model_of(builder);
    poise_clip *clip = clip_of(model, 2, 3.0);
    for (double large = 1e20; large < 1e300; large *= 10) { // the square of what rounds whole turns overflows
        double q[3];
        for (int i = 0; i < 3; ++i) {
            clip->q[i] = -large;
            clip->q[3 + i] = large;
        }
        ck_assert_int_eq(poise_clip_sample(clip, model, 1.0, q, NULL), POISE_OK);
        for (int i = 0; i < 3; ++i) {
            ck_assert_double_eq_tol(q[i] / large, -1.0 / 3, 1e-15);
        }
    }
    poise_clip_destroy(clip);
}

TEST(rotations_turn_at_constant_speed_along_the_great_arc)
{
    poise_model *model = mover();
    poise_clip *clip = clip_of(model, 2, 1.0);
    poise_vec3 axis = {0.6, 0.0, 0.8};
    poise_quat from = poise_quat_from_axis_angle((poise_vec3){1, 2, 3}, 1.0);
    poise_quat to = poise_quat_multiply(from, poise_quat_from_axis_angle(axis, 2.0));
    double a[4] = {from.x, from.y, from.z, from.w}, b[4] = {-to.x, -to.y, -to.z, -to.w}; // the same turn, the other sign
    memcpy(clip->q + 3, a, sizeof a);
    memcpy(clip->q + NQ + 3, b, sizeof b);
    // rotation vectors 3 and -3 about one axis: the short way leads through pi
    clip->q[BALL] = 3.0, clip->q[NQ + BALL] = -3.0;
    for (int i = 0; i <= 10; ++i) {
        double q[NQ], u = i / 10.0;
        ck_assert_int_eq(poise_clip_sample(clip, model, u, q, NULL), POISE_OK);
        poise_quat expected = poise_quat_multiply(from, poise_quat_from_axis_angle(axis, 2.0 * u));
        poise_quat got = {q[3], q[4], q[5], q[6]};
        double off = poise_quat_angle(poise_quat_multiply(poise_quat_conjugate(expected), got));
        ck_assert_double_le(off, 1e-14); // a logarithm and an exponential, 1 ulp each, of angles up to 2
        double angle = 3.0 + u * (2 * PI - 6.0), length = fabs(q[BALL]);
        ck_assert_double_eq_tol(length, angle > PI ? 2 * PI - angle : angle, 1e-14);
        ck_assert(q[BALL + 1] == 0.0 && q[BALL + 2] == 0.0);
    }
    poise_clip_destroy(clip);
}

TEST(samples_outside_a_clip_are_its_ends_and_on_frames_exact)
{
    poise_model *model = mover();
    poise_clip *clip = clip_of(model, 50, 1.0 / 30);
    clip->start_time = 0.7;
    for (int f = 0; f < 50; ++f) {
        clip->q[f * NQ + TURN] = 0.1 * f;
    }
    double q[NQ];
    ck_assert_int_eq(poise_clip_sample(clip, model, -5.0, q, NULL), POISE_OK);
    ck_assert_double_eq(q[TURN], 0.0);
    ck_assert_int_eq(poise_clip_sample(clip, model, 1e9, q, NULL), POISE_OK);
    ck_assert_double_eq(q[TURN], 0.1 * 49);
    for (int f = 0; f < 50; ++f) {
        ck_assert_int_eq(poise_clip_sample(clip, model, 0.7 + f / 30.0, q, NULL), POISE_OK);
        ck_assert_double_eq(q[TURN], 0.1 * f);
    }
    ck_assert_int_eq(poise_clip_sample(clip, model, NAN, q, NULL), POISE_ERROR_ARGUMENT);
    clip->q[TURN] = NAN;
    ck_assert_int_eq(poise_clip_sample(clip, model, 0.71, q, NULL), POISE_ERROR_ARGUMENT);
    poise_clip_destroy(clip);
    clip = clip_of(model, 0, 1.0);
    ck_assert_int_eq(poise_clip_sample(clip, model, 0.0, q, NULL), POISE_ERROR_ARGUMENT);
    poise_clip_destroy(clip);
}

TEST(resampling_keeps_the_length_and_every_common_frame)
{
    poise_model *model = mover();
    poise_clip *clip = clip_of(model, 121, 1.0 / 120), *made = NULL;
    clip->start_time = 3.0;
    for (int f = 0; f < 121; ++f) {
        clip->q[f * NQ + SLIDE] = 0.01 * f * f;
    }
    ck_assert_int_eq(poise_clip_resample(clip, model, 1.0 / 30, NULL, &made, NULL), POISE_OK);
    ck_assert_int_eq(made->frames, 31);
    ck_assert_double_eq(made->start_time, 3.0);
    ck_assert_double_eq(made->frame_time, 1.0 / 30);
    for (int f = 0; f < 31; ++f) {
        ck_assert_double_eq(made->q[f * NQ + SLIDE], clip->q[4 * f * NQ + SLIDE]);
    }
    poise_clip_destroy(made);
    ck_assert_int_eq(poise_clip_resample(clip, model, 1.0 / 480, NULL, &made, NULL), POISE_OK);
    ck_assert_int_eq(made->frames, 481);
    double half = 0.5 * (clip->q[7 * NQ + SLIDE] + clip->q[8 * NQ + SLIDE]);
    ck_assert_double_eq_tol(made->q[30 * NQ + SLIDE], half, 1e-14);
    poise_clip_destroy(made);
    ck_assert_int_eq(poise_clip_resample(clip, model, 1e-18, NULL, &made, NULL), POISE_ERROR_MEMORY);
    clip->q[60 * NQ] = INFINITY;
    ck_assert_int_eq(poise_clip_resample(clip, model, 1.0 / 30, NULL, &made, NULL), POISE_ERROR_ARGUMENT);
    poise_clip_destroy(clip);
}

// ---- Sizes ---------------------------------------------------------------------------------------------------------------

TEST(without_memory_the_size_of_a_skeleton_is_left_alone)
{
    poise_model *model = mover();
    meter m = {.fail_from = 1, .fail_to = 1};
    poise_allocator allocator = allocator_of(&m);
    double size = 42.0;
    ck_assert_int_eq(pz_skeleton_size(model, &allocator, &size), POISE_ERROR_MEMORY);
    ck_assert_double_eq(size, 42.0);
}

// ---- Prediction ----------------------------------------------------------------------------------------------------------

// Frame t of a motion: every plain coordinate a polynomial of its own, the root turns about one axis at constant speed.
static void moved(double t, int order, double *q)
{
    for (int i = 0; i < NQ; ++i) {
        double speed = 0.01 * (i + 1), change = order > 1 ? 0.003 * (i % 3) : 0.0;
        q[i] = 0.02 * i + (order > 0 ? speed * t : 0.0) + change * t * t;
    }
    double angle = order > 0 ? 0.2 * t : 0.3;
    q[3] = sin(0.5 * angle) * 0.6, q[4] = sin(0.5 * angle) * 0.8, q[5] = 0.0, q[6] = cos(0.5 * angle);
}

TEST(smooth_motions_are_foretold)
{
    poise_model *model = mover();
    for (int order = 0; order < 3; ++order) {
        double frames[5 * NQ], truth[NQ], q[NQ];
        for (int f = 0; f < 5; ++f) {
            moved(f, order, frames + f * NQ);
        }
        moved(5, order, truth);
        ck_assert_int_eq(poise_predict(model, frames, 5, q, NULL), POISE_OK);
        for (int i = 0; i < NQ; ++i) {
            ck_assert_double_eq_tol(q[i], truth[i], 1e-13);
        }
        ck_assert_int_eq(poise_predict(model, frames, 5, frames + 4 * NQ, NULL), POISE_OK); // over the last frame
        ck_assert_mem_eq(frames + 4 * NQ, q, sizeof q);
    }
}

// Three frames tell a speed, four its change; with fewer, after a jump and in noise nothing is foretold.
TEST(what_cannot_be_foretold_stays)
{
    poise_model *model = mover();
    double frames[5 * NQ], q[NQ];
    for (int f = 0; f < 5; ++f) {
        moved(f, 1, frames + f * NQ);
    }
    for (int count = 1; count <= 5; ++count) {
        const double *last = frames + (count - 1) * NQ;
        ck_assert_int_eq(poise_predict(model, frames, count, q, NULL), POISE_OK);
        ck_assert_int_eq(fabs(q[TURN] - last[TURN]) > 1e-3, count > 2);
    }
    frames[4 * NQ + TURN] += 3.0;
    ck_assert_int_eq(poise_predict(model, frames, 5, q, NULL), POISE_OK);
    ck_assert_double_eq(q[TURN], frames[4 * NQ + TURN]);
    for (int f = 0; f < 5; ++f) {
        moved(0.0, 1, frames + f * NQ);
        frames[f * NQ + TURN] += 0.01 * (f * 7 % 5);
    }
    ck_assert_int_eq(poise_predict(model, frames, 5, q, NULL), POISE_OK);
    ck_assert_double_eq(q[TURN], frames[4 * NQ + TURN]);

    poise_error error;
    ck_assert_int_eq(poise_predict(model, frames, 0, q, &error), POISE_ERROR_ARGUMENT);
    frames[2 * NQ] = NAN;
    ck_assert_int_eq(poise_predict(model, frames, 5, q, &error), POISE_ERROR_ARGUMENT);
    ck_assert_int_eq(poise_predict(model, frames, 2, q, &error), POISE_OK);
}

// ---- Markers -------------------------------------------------------------------------------------------------------------

static poise_markers *markers_of(int frames, int count, const char *const *labels)
{
    poise_markers *markers = NULL;
    ck_assert_int_eq(poise_markers_create(frames, count, 100.0, labels, NULL, &markers, NULL), POISE_OK);
    return markers;
}

TEST(a_marker_set_is_one_allocation_of_gaps)
{
    meter m = {0};
    poise_allocator allocator = allocator_of(&m);
    poise_markers *markers = NULL;
    ck_assert_int_eq(poise_markers_create(7, 12, 50.0, NULL, &allocator, &markers, NULL), POISE_OK);
    ck_assert_int_eq(m.requests, 1);
    ck_assert_ptr_null(markers->residual);
    ck_assert_str_eq(markers->label[0], "1");
    ck_assert_str_eq(markers->label[11], "12");
    for (int f = 0; f < 7; ++f) {
        for (int i = 0; i < 12; ++i) {
            ck_assert(!poise_markers_seen(markers, f, i));
        }
    }
    poise_markers_destroy(markers);
    ck_assert_int_eq(m.live, 0);
    m.fail_from = m.fail_to = m.requests + 1;
    markers = NULL;
    ck_assert_int_eq(poise_markers_create(7, 12, 50.0, NULL, &allocator, &markers, NULL), POISE_ERROR_MEMORY);
    ck_assert_ptr_null(markers);
    poise_markers_destroy(NULL);
}

TEST(a_marker_set_refuses_what_makes_no_sense)
{
    poise_markers *markers = NULL;
    const char *labels[] = {"a", NULL};
    ck_assert_int_eq(poise_markers_create(-1, 2, 1, NULL, NULL, &markers, NULL), POISE_ERROR_ARGUMENT);
    ck_assert_int_eq(poise_markers_create(1, -2, 1, NULL, NULL, &markers, NULL), POISE_ERROR_ARGUMENT);
    ck_assert_int_eq(poise_markers_create(1, 2, 0, NULL, NULL, &markers, NULL), POISE_ERROR_ARGUMENT);
    ck_assert_int_eq(poise_markers_create(1, 2, NAN, NULL, NULL, &markers, NULL), POISE_ERROR_ARGUMENT);
    ck_assert_int_eq(poise_markers_create(1, 2, 1, labels, NULL, &markers, NULL), POISE_ERROR_ARGUMENT);
    ck_assert_int_eq(poise_markers_create(1, 2, 1, NULL, NULL, NULL, NULL), POISE_ERROR_ARGUMENT);
    ck_assert_ptr_null(markers);
}

TEST(labels_are_found_whole_before_they_are_found_without_their_subject)
{
    const char *labels[] = {"Daniel:LFHD", "a:b:RFHD", "LFHD", "*3", "x:"};
    poise_markers *markers = markers_of(0, 5, labels);
    ck_assert_int_eq(poise_markers_find(markers, "LFHD"), 2);
    ck_assert_int_eq(poise_markers_find(markers, "Daniel:LFHD"), 0);
    ck_assert_int_eq(poise_markers_find(markers, "RFHD"), 1);
    ck_assert_int_eq(poise_markers_find(markers, "b:RFHD"), POISE_NONE);
    ck_assert_int_eq(poise_markers_find(markers, "*3"), 3);
    ck_assert_int_eq(poise_markers_find(markers, "FHD"), POISE_NONE);
    ck_assert_int_eq(poise_markers_find(markers, NULL), POISE_NONE);
    ck_assert_int_eq(poise_markers_find(NULL, "LFHD"), POISE_NONE);
    poise_markers_destroy(markers);
}

// Point i of frame f at (f, i, 10 f), with residuals f; marker 1 is not seen in frame 2.
static poise_markers *walk(int frames)
{
    const char *labels[] = {"s:left", "s:right"};
    poise_markers *markers = markers_of(frames, 2, labels);
    markers->first_frame = 40;
    markers->scale = (poise_scale){0.001, POISE_UP_Y};
    markers->residual = malloc((size_t)frames * 2 * sizeof(float));
    for (int f = 0; f < frames; ++f) {
        for (int i = 0; i < 2; ++i) {
            markers->residual[2 * f + i] = (float)f;
            if (f != 2 || i != 1) {
                markers->position[2 * f + i] = (poise_vec3){f, i, 10.0 * f};
            }
        }
    }
    return markers;
}

static void release_walk(poise_markers *markers)
{
    free(markers->residual);
    poise_markers_destroy(markers);
}

// `people` of 14 markers and a prop of 3, by names before a separator; all are seen but Carl's, in one frame of 20.
static poise_markers *crowd(const char *const *people, int count, char separator)
{
    char text[64][32];
    const char *label[64];
    int n = 0;
    for (int i = 0; i <= count; ++i) {
        for (int k = 0; k < (i < count ? 14 : 3); ++k, ++n) {
            snprintf(text[n], sizeof text[n], "%s%cMK%c", i < count ? people[i] : "Wand", separator, 'A' + k);
            label[n] = text[n];
        }
    }
    label[n++] = "*0";
    poise_markers *markers;
    ck_assert_int_eq(poise_markers_create(20, n, 100, label, NULL, &markers, NULL), POISE_OK);
    markers->residual = NULL;
    for (int f = 0; f < 20; ++f) {
        for (int i = 0; i < n; ++i) {
            if (f == 0 || strncmp(label[i], "Carl", 4) != 0) {
                markers->position[f * n + i] = (poise_vec3){f, i, 1};
            }
        }
    }
    return markers;
}

TEST(several_subjects_are_told_apart_and_chosen)
{
    static const char separators[] = ":_";
    for (int s = 0; s < 2; ++s) {
        poise_markers *two = crowd((const char *[]){"Anna", "Ben"}, 2, separators[s]), *part = NULL;
        poise_subject subject[4];
        poise_error error;
        ck_assert_int_eq(poise_markers_subjects(two, subject, 4), 3);
        ck_assert(strcmp(subject[1].name, "Ben") == 0 && subject[1].markers == 14 && subject[1].is_whole);
        ck_assert(strcmp(subject[2].name, "Wand") == 0 && subject[2].seen == 3 && !subject[2].is_whole);
        ck_assert_int_eq(poise_markers_select(two, NULL, NULL, &part, &error), POISE_ERROR_UNSUPPORTED);
        ck_assert_ptr_nonnull(strstr(error.text, "several subjects: Anna, Ben, Wand"));
        ck_assert_int_eq(poise_markers_select(two, "Bob", NULL, &part, &error), POISE_ERROR_NOT_FOUND);
        ck_assert_ptr_nonnull(strstr(error.text, "Anna, Ben, Wand"));
        ck_assert_int_eq(poise_markers_select(two, "ben", NULL, &part, &error), POISE_OK);
        ck_assert(part->count == 14 && part->frames == 20 && strcmp(part->label[3], "MKD") == 0);
        ck_assert_mem_eq(&part->position[14 * 7 + 3], &two->position[two->count * 7 + 17], sizeof(poise_vec3));
        poise_markers_destroy(part);
        poise_markers_destroy(two);
    }
}

TEST(the_only_whole_subject_is_chosen_and_one_alone_needs_no_choice)
{
    poise_markers *one = crowd((const char *[]){"Anna", "Carl"}, 2, ':'), *part = NULL;
    ck_assert_int_eq(poise_markers_select(one, NULL, NULL, &part, NULL), POISE_OK);
    ck_assert(part && part->count == 14);
    poise_markers_destroy(part);
    poise_markers_destroy(one);
    poise_markers *halves = crowd((const char *[]){"ML", "MR"}, 2, '_'); // the sides of one person
    ck_assert_int_eq(poise_markers_subjects(halves, NULL, 0), 0);
    poise_markers_destroy(halves);
    poise_markers *numbered = crowd((const char *[]){"P1", "P2"}, 2, '_'); // two people
    ck_assert_int_eq(poise_markers_subjects(numbered, NULL, 0), 3);
    poise_markers_destroy(numbered);
    static const char *const alone[] = {"Daniel:LFHD", "*0"};
    static const char *const sides[] = {"L_HipA", "R_HipA", "L_Knee", "R_Knee", "Thigh_1", "Shank_1"};
    poise_markers *set[2];
    ck_assert_int_eq(poise_markers_create(1, 2, 100, alone, NULL, &set[0], NULL), POISE_OK);
    ck_assert_int_eq(poise_markers_create(1, 6, 100, sides, NULL, &set[1], NULL), POISE_OK);
    for (int i = 0; i < 2; ++i) {
        ck_assert_int_eq(poise_markers_select(set[i], NULL, NULL, &part, NULL), POISE_OK);
        ck_assert(!part && poise_markers_subjects(set[i], NULL, 0) == (i == 0 ? 1 : 0));
        poise_markers_destroy(set[i]);
    }
}

TEST(trimmed_markers_keep_numbers_labels_and_residuals)
{
    meter m = {0};
    poise_allocator allocator = allocator_of(&m);
    poise_markers *markers = walk(6), *piece = NULL;
    ck_assert_int_eq(poise_markers_trim(markers, 2, 3, &allocator, &piece, NULL), POISE_OK);
    ck_assert_int_eq(m.requests, 1);
    ck_assert(piece->frames == 3 && piece->count == 2 && piece->first_frame == 42 && piece->rate == 100.0);
    ck_assert(piece->scale.metres == 0.001 && piece->scale.up == POISE_UP_Y);
    ck_assert_str_eq(piece->label[1], "s:right");
    ck_assert(!poise_markers_seen(piece, 0, 1) && poise_markers_seen(piece, 0, 0) && poise_markers_seen(piece, 1, 1));
    ck_assert_double_eq(piece->position[4].z, 40.0);
    ck_assert_float_eq(piece->residual[5], 4.0f);
    poise_markers_destroy(piece);
    ck_assert_int_eq(m.live, 0);
    ck_assert_int_eq(poise_markers_trim(markers, 6, 0, NULL, &piece, NULL), POISE_OK); // nothing is a piece, too
    ck_assert_int_eq(piece->frames, 0);
    poise_markers_destroy(piece);
    ck_assert_int_eq(poise_markers_trim(markers, 2, 5, NULL, &piece, NULL), POISE_ERROR_ARGUMENT);
    ck_assert_int_eq(poise_markers_trim(markers, -2, 1, NULL, &piece, NULL), POISE_ERROR_ARGUMENT);
    release_walk(markers);
}

TEST(resampled_markers_lie_on_straight_lines_and_gaps_stay_gaps)
{
    poise_markers *markers = walk(5), *made = NULL;
    ck_assert_int_eq(poise_markers_resample(markers, 200.0, NULL, &made, NULL), POISE_OK);
    ck_assert_int_eq(made->frames, 9);
    ck_assert_double_eq(made->rate, 200.0);
    for (int f = 0; f < 9; ++f) {
        ck_assert_double_eq(made->position[2 * f].x, 0.5 * f); // halves are exact
        ck_assert_double_eq(made->position[2 * f].z, 5.0 * f);
        ck_assert_float_eq(made->residual[2 * f], (float)(0.5 * f));
        ck_assert_int_eq(poise_markers_seen(made, f, 1), f < 3 || f > 5);
    }
    poise_markers_destroy(made);
    ck_assert_int_eq(poise_markers_resample(markers, 50.0, NULL, &made, NULL), POISE_OK);
    ck_assert_int_eq(made->frames, 3);
    ck_assert(poise_markers_seen(made, 0, 1) && !poise_markers_seen(made, 1, 1) && poise_markers_seen(made, 2, 1));
    poise_markers_destroy(made);
    ck_assert_int_eq(poise_markers_resample(markers, 0.0, NULL, &made, NULL), POISE_ERROR_ARGUMENT);
    ck_assert_int_eq(poise_markers_resample(markers, 1e18, NULL, &made, NULL), POISE_ERROR_MEMORY);
    release_walk(markers);
}

TEST(rescaling_changes_units_and_turns_the_upward_axis)
{
    const poise_up ups[] = {POISE_UP_X, POISE_UP_Y, POISE_UP_Z};
    for (int from = 0; from < 3; ++from) {
        for (int to = 0; to < 3; ++to) {
            poise_markers *markers = walk(3);
            markers->scale.up = ups[from];
            double p[3] = {1.0, 2.0, 3.0};
            markers->position[0] = (poise_vec3){p[0], p[1], p[2]};
            ck_assert_int_eq(poise_markers_rescale(markers, (poise_scale){0.01, ups[to]}, NULL), POISE_OK);
            double q[3] = {markers->position[0].x, markers->position[0].y, markers->position[0].z};
            for (int k = 0; k < 3; ++k) { // height goes to the new height, and the axes after it follow in turn
                ck_assert_double_eq(q[(to + k) % 3], p[(from + k) % 3] * (0.001 / 0.01));
            }
            ck_assert(markers->scale.metres == 0.01 && markers->scale.up == ups[to]);
            ck_assert_float_eq(markers->residual[2], (float)(0.001 / 0.01));
            ck_assert(!poise_markers_seen(markers, 2, 1));
            release_walk(markers);
        }
    }
}

TEST(rescaling_from_an_unknown_scale_is_refused_and_changes_nothing)
{
    poise_markers *markers = walk(3);
    markers->scale = (poise_scale){0.0, POISE_UP_UNKNOWN};
    ck_assert_int_eq(poise_markers_rescale(markers, (poise_scale){1.0, POISE_UP_UNKNOWN}, NULL), POISE_ERROR_UNSUPPORTED);
    ck_assert_int_eq(poise_markers_rescale(markers, (poise_scale){0.0, POISE_UP_Z}, NULL), POISE_ERROR_UNSUPPORTED);
    ck_assert_int_eq(poise_markers_rescale(markers, (poise_scale){0.0, POISE_UP_UNKNOWN}, NULL), POISE_OK);
    ck_assert_int_eq(poise_markers_rescale(markers, (poise_scale){-1.0, POISE_UP_Z}, NULL), POISE_ERROR_ARGUMENT);
    ck_assert_int_eq(poise_markers_rescale(markers, (poise_scale){NAN, POISE_UP_Z}, NULL), POISE_ERROR_ARGUMENT);
    ck_assert_int_eq(poise_markers_rescale(NULL, (poise_scale){1.0, POISE_UP_Z}, NULL), POISE_ERROR_ARGUMENT);
    poise_error error;
    markers->scale = (poise_scale){0.001, POISE_UP_UNKNOWN}; // what is missing is named
    ck_assert_int_eq(poise_markers_rescale(markers, (poise_scale){1.0, POISE_UP_Z}, &error), POISE_ERROR_UNSUPPORTED);
    ck_assert_ptr_nonnull(strstr(error.text, "upward axis"));
    markers->scale = (poise_scale){0.0, POISE_UP_Y};
    ck_assert_int_eq(poise_markers_rescale(markers, (poise_scale){1.0, POISE_UP_Z}, &error), POISE_ERROR_UNSUPPORTED);
    ck_assert_ptr_nonnull(strstr(error.text, "unit"));
    ck_assert_double_eq(markers->position[2].z, 10.0);
    release_walk(markers);
}
