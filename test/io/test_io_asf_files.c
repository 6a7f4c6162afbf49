// ASF and AMC: files of others, and what is known of them.
#include "support/io_check.h"

#include "io/io_core.h"

#include <jansson.h>

#define ASF POISE_FORMAT_ASF
#define AMC POISE_FORMAT_AMC

typedef struct fact {
    const char *path, *skeleton;
    int frames;
    double first[6], last[6], lowerback[3]; // the root's values, and those of a bone in the first frame
    double place[6][3];                     // ends of rhand, ltoes and head, in the first frame and in the last
} fact;

// clang-format off
static const fact facts[] = {
    {"hdm05/HDM_dg_03-05_02_120.amc", "hdm05/HDM_dg.asf", 3866, {0.246661, 17.1291, 0.105887, -36.2074, -79.747, 29.9764},
     {-4.60978, 17.1354, -3.41104, 337.118, -80.3342, -345.786}, {5.13978, -3.10589, -5.21813}, {{-2.476, 23.9975,
     -14.0622}, {-2.8039, 0.893, 3.185}, {1.0913, 29.7128, 0.4506}, {-6.2792, 18.9391, -15.1923}, {-8.1159, 0.8208,
     -0.0107}, {-4.0874, 29.7604, -2.9846}}},
    {"hdm05/HDM_dg_01-03_01_120.amc", "hdm05/HDM_dg.asf", 3498, {0.997382, 17.529, 0.106659, -1.9181, -85.3197, -2.78175},
     {1.95159, 17.5563, -1.34412, -365.676, 274.873, 1.64865}, {4.29362, -1.94367, 0.782172}, {{0.9368, 24.9602, -14.3801},
     {-0.9613, 1.1534, 3.2267}, {1.7303, 30.1065, 0.5096}, {2.1869, 24.588, -15.729}, {0.1158, 1.1867, 1.1367}, {2.133,
     30.1519, -0.8377}}},
    {"asfamc/07_05-walk.amc", "asfamc/07-walk.asf", 517, {7.46593, 15.9937, -36.7321, 7.11356, 1.31487, -3.66776},
     {10.1525, 16.8616, 36.9008, 6.61063, 4.13245, 2.32629}, {-4.29912, 0.189404, 0.939401}, {{2.8787, 14.5236, -33.5068},
     {10.4841, 0.9621, -30.8593}, {7.5264, 27.0329, -37.4537}, {5.9243, 13.8988, 34.5104}, {12.1811, 1.3089, 31.7487},
     {10.0253, 27.8931, 36.1447}}},
    {"asfamc/09_06-run.amc", "asfamc/09-run.asf", 141, {0.0917792, 17.1113, -36.2281, 4.68854, 2.37172, 2.1196}, {0.63998,
     17.9224, 38.9039, 3.54391, -5.10945, -5.92813}, {19.257, -1.22373, -5.06989}, {{-3.9893, 16.104, -34.1837}, {0.2276,
     0.4101, -37.3469}, {0.9275, 27.849, -33.7802}, {-2.3267, 21.0955, 45.1543}, {1.8426, 2.5709, 39.804}, {0.6007,
     28.9316, 40.17}}},
    {"asfamc/11_01.amc", "asfamc/11.asf", 597, {12.2047, 17.4653, -40.3148, -9.79949, -39.9965, 3.92364}, {6.69603,
     17.3735, 14.5524, 6.61973, 49.1494, 9.15263}, {12.3489, 1.31416, -8.89568}, {{8.0148, 14.0661, -41.0708}, {11.4466,
     1.1198, -37.9398}, {11.8936, 28.9865, -39.0998}, {6.3358, 14.9848, 20.5941}, {5.4942, 0.8431, 12.1991}, {8.0576,
     28.5573, 17.4473}}},
    {"asfamc/zeros.amc", "asfamc/07-walk.asf", 7, {0, 0, 0, 0, 0, 0}, {0, 0, 0, 0, 0, 0}, {0, 0, 0}, {{0}}},
};
// clang-format on

static const char *const skeletons[] = {"hdm05/HDM_dg.asf", "asfamc/07-walk.asf", "asfamc/09-run.asf", "asfamc/11.asf"};

static poise_file *read_path(const char *path, poise_format format, const poise_model *model)
{
    io_bytes bytes = io_load(path);
    ck_assert_int_eq(poise_format_detect(bytes.bytes, bytes.size, NULL), format);
    poise_file *file = io_read(bytes.bytes, bytes.size, format, model);
    return file;
}

TEST_DATA(skeletons_hold_what_is_known_of_them, "asfamc")
{
    for (size_t i = 0; i < TEST_COUNT(skeletons); ++i) {
        poise_file *file = read_path(skeletons[i], ASF, NULL);
        ck_assert_int_eq(file->warning_count, 0);
        ck_assert_int_eq(poise_model_info(file->model).joints, 31);
        ck_assert_int_eq(poise_model_info(file->model).nq, 62);
        ck_assert_int_eq(poise_model_info(file->model).tools, 30);
        ck_assert_str_eq(file->title, "VICON");
        ck_assert_double_eq(file->scale.metres, 0.0254 / 0.45);
        int fixed = 0;
        for (int j = 0; j < 31; ++j) {
            fixed += poise_model_joint_info(file->model, j).type == POISE_JOINT_FIXED;
        }
        ck_assert_int_eq(fixed, 2);
        ck_assert_int_eq(poise_model_joint_info(file->model, poise_model_find_joint(file->model, "lhipjoint")).type,
                         POISE_JOINT_FIXED);
        ck_assert_int_eq(poise_model_joint_info(file->model, poise_model_find_joint(file->model, "rhipjoint")).type,
                         POISE_JOINT_FIXED);
        ck_assert_int_eq(poise_model_joint_info(file->model, 0).given->order, POISE_EULER_ZYX);
        ck_assert_str_eq(poise_model_joint_info(file->model, 1).name, "lhipjoint");
        ck_assert_int_ge(poise_model_find_joint(file->model, "rthumb"), 0);
    }
}

static void check_row(const double *q, const double *expected, int positions, int count)
{
    for (int i = 0; i < count; ++i) {
        double value = i < positions ? q[i] : q[positions + count - 1 - i];
        double read = i < positions ? expected[i] : expected[i] * PZ_RADIANS_PER_DEGREE;
        ck_assert_msg(value == read, "number %d: %a, expected %a", i, value, read);
    }
}

TEST_DATA(motions_hold_what_is_known_of_them, "asfamc")
{
    for (size_t i = 0; i < TEST_COUNT(facts); ++i) {
        const fact *f = &facts[i];
        poise_file *skeleton = read_path(f->skeleton, ASF, NULL), *file = read_path(f->path, AMC, skeleton->model);
        ck_assert_int_eq(file->warning_count, 1); // the rate
        ck_assert_int_eq(file->clip->frames, f->frames);
        ck_assert_int_eq(file->clip->nq, 62);
        ck_assert_double_eq(file->clip->start_time, 0);
        check_row(file->clip->q, f->first, 3, 6);
        check_row(file->clip->q + (size_t)(f->frames - 1) * 62, f->last, 3, 6);
        int lowerback = poise_model_joint_info(skeleton->model, poise_model_find_joint(skeleton->model, "lowerback")).q;
        check_row(file->clip->q + lowerback, f->lowerback, 0, 3);
        static const char *const ends[] = {"rhand.tip", "ltoes.tip", "head.tip"};
        for (int k = 0; k < 6 && f->place[0][0] != 0; ++k) {
            poise_vec3 p = io_place(skeleton->model, file->clip, k < 3 ? 0 : f->frames - 1, ends[k % 3]);
            io_near(p, f->place[k], 1e-4, f->path);
        }
    }
}

// The clip as ASF and AMC, and as the BVH that others made of it: legs and spine agree. Index 0 of the BVH is a pose of its
// own, so frame k here is frame k + 1 there.
TEST_DATA(a_motion_is_the_same_in_two_formats, "asfamc")
{
    static const struct {
        const char *asf, *amc, *bvh;
    } clips[] = {{"asfamc/07-walk.asf", "asfamc/07_05-walk.amc", "bvh/cmu_07_05.bvh"},
                 {"asfamc/09-run.asf", "asfamc/09_06-run.amc", "bvh/cmu_09_06.bvh"},
                 {"asfamc/11.asf", "asfamc/11_01.amc", "bvh/cmu_11_01.bvh"}};
    static const char *const joints[][2] = {{"lfemur", "LeftUpLeg"}, {"ltibia", "LeftLeg"},     {"lfoot", "LeftFoot"},
                                            {"rfoot", "RightFoot"},  {"rtoes", "RightToeBase"}, {"upperback", "Spine"},
                                            {"thorax", "Spine1"}};
    for (size_t i = 0; i < TEST_COUNT(clips); ++i) {
        poise_file *skeleton = read_path(clips[i].asf, ASF, NULL), *amc = read_path(clips[i].amc, AMC, skeleton->model);
        poise_file *bvh = read_path(clips[i].bvh, POISE_FORMAT_BVH, NULL);
        ck_assert_int_eq(amc->clip->frames + 1, bvh->clip->frames);
        for (int f = 0; f < amc->clip->frames; f += 7) {
            for (size_t k = 0; k < TEST_COUNT(joints); ++k) {
                poise_vec3 p = io_place(bvh->model, bvh->clip, f + 1, joints[k][1]);
                const double expected[3] = {p.x, p.y, p.z};
                io_near(io_place(skeleton->model, amc->clip, f, joints[k][0]), expected, 1.5e-4, joints[k][0]);
            }
        }
    }
}

// The skeleton in a frame of the motion, as the reference numbers of the exact Hessian have it, in cm.
TEST_DATA(bones_are_where_the_reference_has_them, "reference hdm05")
{
    json_error_t error;
    json_t *reference = json_load_file(test_data("reference/hessianik_reference.json"), 0, &error);
    ck_assert_msg(reference != NULL, "%s", error.text);
    poise_file *skeleton = read_path("hdm05/HDM_dg.asf", ASF, NULL);
    poise_file *motion = read_path("hdm05/HDM_dg_03-05_02_120.amc", AMC, skeleton->model);
    const json_t *bones = json_object_get(json_object_get(reference, "skeleton"), "bones"), *frame;
    const double cm = 2.5189 / 0.45; // the inch of the reference
    size_t i, b;
    json_array_foreach(json_object_get(reference, "frames"), i, frame)
    {
        int number = (int)json_integer_value(json_object_get(frame, "frame"));
        const json_t *origins = json_object_get(frame, "bone_origin_cm"), *bone;
        json_array_foreach(bones, b, bone)
        {
            const char *name = json_string_value(json_object_get(bone, "name"));
            poise_vec3 p = io_place(skeleton->model, motion->clip, number - 1, name);
            double expected[3];
            for (size_t k = 0; k < 3; ++k) {
                expected[k] = json_number_value(json_array_get(json_array_get(origins, b), k));
            }
            // the reference makes directions of six digits unit vectors: 1e-6 of up to 200 cm
            io_near(poise_vec3_make(p.x * cm, p.y * cm, p.z * cm), expected, 2e-4, name);
        }
    }
    json_decref(reference);
}
