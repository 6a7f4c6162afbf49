// MOT and STO: the facts of real files, dialects, names of coordinates, round trips, hostile bytes.
#include "documents.h"
#include "support/io_check.h"
#include "support/skeleton.h"

#define DEGREE 0.017453292519943295

// A slide, two turns (one follows the other), a ball and a root.
static poise_model *small_model(void)
{
    poise_builder *builder = new_builder();
    add_plain(builder, "root", NULL, POISE_JOINT_FREE_EULER);
    add_plain(builder, "slide", "root", POISE_JOINT_PRISMATIC);
    add_plain(builder, "knee", "slide", POISE_JOINT_REVOLUTE);
    poise_joint follower = joint_of("follower", "knee", POISE_JOINT_REVOLUTE);
    follower.mimic = "knee";
    add(builder, &follower);
    return model_of(builder);
}

enum { ROOT = 0, SLIDE = 6, KNEE = 7, NQ = 8 };

#define HEAD "walk\nversion=1\nnRows=2\nnColumns=4\ninDegrees=yes\nendheader\n"

static void check_plain(const poise_clip *clip)
{
    ck_assert(clip->frames == 2 && clip->nq == NQ);
    ck_assert_double_eq(clip->start_time, 0.5);
    ck_assert_double_eq(clip->frame_time, 0.25);
    for (int f = 0; f < 2; ++f) {
        const double *q = clip->q + f * NQ;
        ck_assert(q[0] == 0 && q[1] == (f ? 3 : 1) && q[2] == 0 && q[3] == 0 && q[4] == 0 && q[5] == 0);
        ck_assert(q[SLIDE] == (f ? 4 : 2) && q[KNEE] == (f ? -60 : 30) * DEGREE);
    }
}

TEST(dialects_give_the_same_clip)
{
    static const char *const texts[] = {
        document_mot,
        "walk\t\t\nnRows=2\t\t\nversion=1\nnColumns=4\ninDegrees=yes\n\nendheader\t\t\t\n\ntime\troot/ty\tslide\tknee\n"
        "0.5\t1\t2\t30\t\n\n0.75\t3\t4\t-60\n\n",
        "walk\r\nversion=1\r\ninDegrees=yes\r\nendheader\r\ntime root/ty slide knee\r\n  0.5 1 2 30\r\n 0.75 3 4 -60 \r\n",
        "inDegrees=no\nversion=1\nendheader\nknee\ttime\tslide/length\troot/ty\n0.5235987755982988\t0.5\t2\t1\n"
        "-1.0471975511965976\t0.75\t4\t3\n",
        HEAD "time\t/jointset/root/ty/value\t/jointset/slide/slide/value\tknee/angle\n0.5\t1\t2\t30\n0.75\t3\t4\t-60\n",
        "walk\ndatacolumns 4\ndatarows "
        "2\ninDegrees=yes\nendheader\nTime\troot/ty\tslide\tknee\n0.5\t1\t2\t30\n0.75\t3\t4\t-60",
        "time,root.ty,slide,knee.angle\n0.5,1,2,0.5235987755982988\n0.75,3,4,-1.0471975511965976\n",
        "Time, root/ty,slide,knee\r\n0.5,1,2,0.5235987755982988\r\n0.75, 3,4,-1.0471975511965976\r\n",
    };
    poise_model *model = small_model();
    for (size_t i = 0; i < TEST_COUNT(texts); ++i) {
        poise_file *file = io_read_text(texts[i], POISE_FORMAT_UNKNOWN, model);
        ck_assert_int_eq(file->format, POISE_FORMAT_MOT);
        ck_assert_msg(file->warning_count == 1 && io_warned(file, 0, "5 of 8 coordinates of the model have no column"),
                      "text %zu: %d warnings; %s", i, file->warning_count, file->warnings[0].text);
        check_plain(file->clip);
    }
}

TEST(oddities_are_told_on_their_line)
{
    static const struct {
        const char *text;
        int line;
        const char *part;
    } rows[] = {
        {HEAD "time\troot/ty\tslide\tknee\n0\t1\t2\t30\n", 0, "nRows says 2, but there are 1"},
        {HEAD "time\tslide\tknee\n0\t1\t2\n1\t1\t2\n", 7, "nColumns says 4, but there are 3"},
        {HEAD "time\tnose\tslide\tknee\n0\t1\t2\t30\n1\t2\t3\t4\n", 7, "column \"nose\" is not a coordinate"},
        {HEAD "time\tstranger\tslide\tknee\n0\t1\t2\t30\n1\t2\t3\t4\n", 7, "column \"stranger\" is not a coordinate"},
        {HEAD "time\tknee\tslide\tknee/angle\n0\t1\t2\t30\n1\t2\t3\t4\n", 7, "1 coordinates have several columns"},
        {HEAD "time\troot/ty\tslide\tknee\n0\t1\t2\t30\n1\t2\tnan\t4\n", 9, "1 values are not numbers"},
        {HEAD "time\troot/ty\tslide\tknee\n0\t1\t2\t30\n0\t2\t3\t4\n", 0, "times do not increase"},
        {HEAD "time\troot/ty\tslide\tknee\n0\t1\t2\t30\n1\t2\t3\t4\n9\t2\t3\t4\n", 0, "row 2: times are not evenly"},
        {"walk\nendheader\ntime\tknee\n0\t1\n", 0, "degrees assumed"},
        {"walk\nversion=1\nendheader\ntime\tknee\n0\t1\n", 0, "radians assumed"},
    };
    poise_model *model = small_model();
    for (size_t i = 0; i < TEST_COUNT(rows); ++i) {
        poise_file *file = io_read_text(rows[i].text, POISE_FORMAT_MOT, model);
        ck_assert_msg(io_warned(file, rows[i].line, rows[i].part), "row %zu: %d warnings, first on line %d: %s", i,
                      file->warning_count, file->warnings[0].line, file->warnings[0].text);
        ck_assert(io_is_sound(file));
    }
}

TEST(many_strange_columns_make_few_warnings)
{
    char text[20000] = HEAD "time\tknee";
    size_t length = strlen(text);
    for (int i = 0; i < 300; ++i) {
        length += (size_t)snprintf(text + length, sizeof text - length, "\tstrange%d", i);
    }
    snprintf(text + length, sizeof text - length, "\n");
    poise_model *model = small_model();
    poise_file *file = io_read_text(text, POISE_FORMAT_MOT, model);
    ck_assert(io_warned(file, 7, "and 296 more columns"));
    ck_assert_int_le(file->warning_count, 8);
    ck_assert_int_eq(file->clip->frames, 0);
}

TEST(errors_name_the_line_and_what_is_expected)
{
    static const struct {
        const char *text;
        int line;
        const char *part;
    } rows[] = {
        {"", 1, "no line \"endheader\""},
        {"walk\nversion=1\n", 3, "no line \"endheader\""},
        {"walk,,\nversion=1,,\nendheader,,\ntime,a,b\n0,1,2\n", 3, "cells are separated by commas"},
        {HEAD, 7, "ends before the line of column names"},
        {HEAD "root/ty\tknee\n", 7, "no column is called \"time\""},
        {HEAD "time\ttail\n0\t1\n", 7, "no column is a coordinate of this model, whose first joint is"},
        {HEAD "time\tknee\n0\t1\n1\n", 9, "1 numbers for 2 columns"},
        {HEAD "time\tknee\n0\tone\n", 8, "column 2: \"one\" is not a number"},
        {HEAD "time\tknee\nnan\t1\n", 8, "column 1: \"nan\" is not a number"},
    };
    poise_model *model = small_model();
    for (size_t i = 0; i < TEST_COUNT(rows); ++i) {
        io_refused_text(rows[i].text, POISE_FORMAT_MOT, model, rows[i].line, rows[i].part);
    }
    io_refused_text(document_mot, POISE_FORMAT_MOT, NULL, 0, "give it as model");
}

// ---- Writing -------------------------------------------------------------------------------------------------------------

static poise_clip *random_clip(const poise_model *model, int frames, scene_random *random)
{
    poise_clip *clip = NULL;
    ck_assert_int_eq(poise_clip_create(frames, poise_model_info(model).nq, 1.0 / 119.88, NULL, &clip, NULL), POISE_OK);
    clip->start_time = 0.1;
    for (int f = 0; f < frames; ++f) {
        scene_random_configuration(random, model, clip->q + (size_t)f * (size_t)clip->nq);
    }
    return clip;
}

TEST(clips_of_every_joint_type_read_back_to_the_same_bits)
{
    scene_random random = scene_random_make(7);
    for (int trial = 0; trial < 20; ++trial) {
        poise_model *model = own_model(random_model(&random, 40, RANDOM_MIMICS | RANDOM_CURVES));
        poise_clip *clip = random_clip(model, trial == 0 ? 0 : trial == 1 ? 1 : 30, &random);
        poise_file file = {.model = model, .clip = clip, .title = "a title"};
        if (trial == 0) {
            clip->start_time = 0.0; // no row to say it
            clip->frame_time = 1.0;
        }
        io_round_trip(&file, POISE_FORMAT_MOT, 0);
        poise_clip_destroy(clip);
    }
}

TEST(coordinates_have_the_names_that_are_promised)
{
    poise_builder *builder = new_builder();
    add_plain(builder, "a", NULL, POISE_JOINT_FREE);
    add_plain(builder, "b", "a", POISE_JOINT_UNIVERSAL);
    poise_joint euler = joint_of("c", "b", POISE_JOINT_BALL_EULER);
    euler.order = POISE_EULER_ZXZ;
    add(builder, &euler);
    add_plain(builder, "d", "c", POISE_JOINT_SWING_TWIST);
    add_plain(builder, "e", "d", POISE_JOINT_REVOLUTE);
    poise_model *model = model_of(builder);
    poise_clip *clip = NULL;
    ck_assert_int_eq(poise_clip_create(0, poise_model_info(model).nq, 0.01, NULL, &clip, NULL), POISE_OK);
    io_bytes bytes = io_write(&(poise_file){.model = model, .clip = clip}, POISE_FORMAT_MOT, 0);
    ck_assert_str_eq((char *)bytes.bytes,
                     "motion\nversion=1\nnRows=0\nnColumns=17\ninDegrees=yes\nframe_time=0.01\nendheader\n"
                     "time\ta/tx\ta/ty\ta/tz\ta/qx\ta/qy\ta/qz\ta/qw\tb/angle1\tb/angle2\tc/rz\tc/rx"
                     "\tc/rz2\td/swing1\td/swing2\td/twist\te\n");
    // degrees are angles, and nothing else
    poise_file *file =
        io_read_text("x\ninDegrees=yes\nendheader\n"
                     "time\ta/tx\ta/qw\tb/angle2\tc/rz2\td/swing1\td/twist\te\n0\t90\t90\t90\t90\t90\t90\t90\n",
                     POISE_FORMAT_MOT, model);
    static const int coordinate[] = {0, 6, 8, 11, 12, 14, 15};
    for (size_t i = 0; i < TEST_COUNT(coordinate); ++i) {
        ck_assert_double_eq(file->clip->q[coordinate[i]], i < 2 ? 90.0 : 90.0 * DEGREE);
    }
    poise_clip_destroy(clip);
}

TEST(followers_of_an_opensim_model_have_columns_of_their_own)
{
    poise_model *model = small_model();
    poise_file *file = io_read_text(document_mot, POISE_FORMAT_MOT, model);
    poise_file out = {.format = POISE_FORMAT_OSIM, .model = model, .clip = file->clip};
    void *bytes;
    size_t size;
    int warnings = 0;
    ck_assert_int_eq(poise_write(&out, POISE_FORMAT_MOT, NULL, &bytes, &size, NULL, &warnings, NULL), POISE_OK);
    char *text = calloc(size + 1, 1);
    memcpy(text, bytes, size);
    poise_bytes_release(NULL, bytes);
    test_own(free, text);
    ck_assert_ptr_nonnull(strstr(text, "nColumns=10\n"));
    ck_assert_ptr_nonnull(strstr(text, "\tknee\tfollower\n"));
    ck_assert_ptr_nonnull(strstr(text, "\t30\t30\n"));
    ck_assert_ptr_nonnull(strstr(text, "\t-60\t-60\n"));
    check_plain(io_read_text(text, POISE_FORMAT_MOT, model)->clip);
}

TEST(what_cannot_be_written_is_refused)
{
    poise_model *model = small_model();
    poise_clip *clip = NULL;
    ck_assert_int_eq(poise_clip_create(2, NQ, 0.01, NULL, &clip, NULL), POISE_OK);
    io_write_refused(&(poise_file){.clip = clip}, POISE_FORMAT_MOT, "the model is missing");
    io_write_refused(&(poise_file){.model = model}, POISE_FORMAT_MOT, "the clip is missing");
    clip->nq = 3;
    io_write_refused(&(poise_file){.model = model, .clip = clip}, POISE_FORMAT_MOT, "3 coordinates, but the model has 8");
    poise_clip_destroy(clip);
}

// ---- Real files ----------------------------------------------------------------------------------------------------------

// A chain of joints with the names of the columns; those whose name ends in _tx, _ty, _tz slide.
static poise_model *model_of_columns(const char *columns)
{
    poise_builder *builder = new_builder();
    char all[1024], before[64] = "";
    snprintf(all, sizeof all, "%s", columns);
    for (char *name = strtok(all, " "); name; name = strtok(NULL, " ")) {
        const char *tail = strstr(name, "_t");
        bool slides = tail && strlen(tail) == 3 && strchr("xyz", tail[2]);
        add_plain(builder, name, before[0] ? before : NULL, slides ? POISE_JOINT_PRISMATIC : POISE_JOINT_REVOLUTE);
        snprintf(before, sizeof before, "%s", name);
    }
    return model_of(builder);
}

TEST_DATA(real_files_hold_what_is_known_of_them, "opensim")
{
    static const struct {
        const char *path, *columns;
        int rows, coordinates, slides; // the first slide
        double start, end, first[4], last[4];
        int warnings;
    } facts[] = {
        {"opensim/gait10_subject01_walk_IK.mot",
         "pelvis_tilt pelvis_tx pelvis_ty hip_flexion_r knee_angle_r ankle_angle_r hip_flexion_l knee_angle_l ankle_angle_l "
         "lumbar_extension",
         151,
         10,
         1,
         0.0,
         2.5,
         {10.32995988, 0.61213494, 1.01790250, -29.10815989},
         {8.55862145, 0.59709697, 1.00763662, -28.96474656},
         0},
        {"opensim/gait2354_std_walk1_ik.mot",
         "pelvis_tilt pelvis_list pelvis_rotation pelvis_tx pelvis_ty pelvis_tz hip_flexion_r hip_adduction_r "
         "hip_rotation_r "
         "knee_angle_r ankle_angle_r subtalar_angle_r mtp_angle_r hip_flexion_l hip_adduction_l hip_rotation_l knee_angle_l "
         "ankle_angle_l subtalar_angle_l mtp_angle_l lumbar_extension lumbar_bending lumbar_rotation",
         73,
         23,
         3,
         0.4,
         1.6,
         {5.21211788, -1.90606861, -0.87064439, 0.60176933},
         {6.35307847, -1.65518162, -0.14320926, 0.59124753},
         1}, // does not say whether it is in degrees
    };
    for (size_t k = 0; k < TEST_COUNT(facts); ++k) {
        io_bytes bytes = io_load(facts[k].path);
        poise_model *model = model_of_columns(facts[k].columns);
        poise_file *file = io_read(bytes.bytes, bytes.size, POISE_FORMAT_UNKNOWN, model);
        const poise_clip *clip = file->clip;
        ck_assert_msg(file->warning_count == facts[k].warnings, "%s: %d warnings, first: %s", facts[k].path,
                      file->warning_count, file->warnings ? file->warnings[0].text : "");
        ck_assert(clip->frames == facts[k].rows && clip->nq == facts[k].coordinates);
        ck_assert_double_eq(clip->start_time, facts[k].start);
        double end = clip->start_time + (clip->frames - 1) * clip->frame_time;
        ck_assert_double_eq_tol(end, facts[k].end, 1e-12);
        const double *last = clip->q + (size_t)(clip->frames - 1) * (size_t)clip->nq;
        for (int i = 0; i < 4; ++i) {
            bool slides = i == facts[k].slides || (k == 0 && i == 2);
            ck_assert_double_eq(clip->q[i], facts[k].first[i] * (slides ? 1.0 : DEGREE));
            ck_assert_double_eq(last[i], facts[k].last[i] * (slides ? 1.0 : DEGREE));
        }
        poise_file mine = *file;
        mine.model = model;
        io_round_trip(&mine, POISE_FORMAT_MOT, 0);
        io_survives_cuts(bytes, POISE_FORMAT_MOT, model);
    }
}
