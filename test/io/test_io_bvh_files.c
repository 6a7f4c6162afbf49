// BVH: files of others, and what is known of them.
#include "support/io_check.h"

#include "io/io_core.h"

#include <math.h>

#define BVH POISE_FORMAT_BVH

typedef struct fact {
    const char *path;
    int joints, sites, channels, frames;
    double frame_time;
    const char *root;
    struct {
        const char *channels; // capital: position, small: rotation, in the order of the file
        int joints;
    } orders[4];
    double first[6], last[6], end[3]; // first and last frame, their first six numbers; the last three of the last frame
    struct {
        const char *joint;
        double position[3]; // in the last frame
    } place[2];
} fact;

// clang-format off
static const fact facts[] = {
    {"bvh/cmu_07_05.bvh", 31, 7, 96, 518, 0.0083333, "Hips", {{"XYZzyx", 1}, {"zyx", 30}}, {7.4659, 15.9937, -36.7321, 0,
     0, 0}, {10.1525, 16.8616, 36.9008, 2.3263, 4.1325, 6.6106}, {-0.7066, -54.3071, 0.1616}, {{"Neck1", {10.3456, 22.7196,
     36.3719}}, {"RThumb", {6.5954, 13.8281, 34.7418}}}},
    {"bvh/cmu_09_06.bvh", 31, 7, 96, 142, 0.0083333, "Hips", {{"XYZzyx", 1}, {"zyx", 30}}, {0.0918, 17.1113, -36.2281, 0,
     0, 0}, {0.64, 17.9224, 38.9039, -5.9281, -5.1094, 3.5439}, {-10.8165, 5.7644, -12.0555}, {{"Neck1", {0.4828, 23.4669,
     39.9743}}, {"RThumb", {-2.6567, 18.2093, 42.6509}}}},
    {"bvh/cmu_11_01.bvh", 31, 7, 96, 598, 0.0083333, "Hips", {{"XYZzyx", 1}, {"zyx", 30}}, {12.2047, 17.4653, -40.3148, 0,
     0, 0}, {6.696, 17.3735, 14.5524, 9.1526, 49.1494, 6.6197}, {3.0363, -18.4681, 1.9208}, {{"Neck1", {7.6782, 23.2021,
     15.2889}}, {"RThumb", {5.0126, 14.3667, 18.5173}}}},
    {"bvh/cmu_02_04.bvh", 31, 7, 96, 484, 0.0083333, "Hips", {{"XYZzyx", 1}, {"zyx", 30}}, {9.4455, 17.861, -0.5, 0, 0, 0},
     {10.2703, 17.7658, -0.0851, 0.1601, 0.7221, -6.4714}, {-1.3928, -10.2485, -1.1231}, {{"Neck1", {10.2434, 23.4135,
     -0.7678}}, {"RThumb", {6.5047, 14.4711, 0.4391}}}},
    {"bvh/cmu_05_02.bvh", 31, 7, 96, 1124, 0.0083333, "Hips", {{"XYZzyx", 1}, {"zyx", 30}}, {4.3228, 16.5929, -15.2362, 0,
     0, 0}, {-2.1228, 16.4951, 7.4863, 351.492, -33.4086, 20.6421}, {17.0337, -17.3649, 11.705}, {{"Neck1", {-1.5835,
     22.3471, 7.9152}}, {"RThumb", {-6.3822, 13.6822, 6.2997}}}},
    {"bvh/cmu_82_18.bvh", 31, 7, 96, 11, 0.0083333, "Hips", {{"XYZzyx", 1}, {"zyx", 30}}, {-4.153, 15.4054, -2.6446, 0, 0,
     0}, {-4.1689, 15.3985, -2.6524, 0.4428, 85.6066, 8.6765}, {19.704, -30.7858, 7.2281}, {{"Neck1", {-3.9597, 20.7367,
     -2.8635}}, {"RThumb", {3.1465, 21.1815, 1.5981}}}},
    {"bvh/cmu_90_10.bvh", 31, 7, 96, 3, 0.0083333, "Hips", {{"XYZzyx", 1}, {"zyx", 30}}, {4.2189, 14.6656, 16.1357, 0, 0,
     0}, {4.2193, 14.6671, 16.1369, -0.0745, 0.8746, -15.0313}, {38.0079, -48.8821, -4.2005}, {{"Neck1", {4.3047, 20.3598,
     14.4552}}, {"RThumb", {-2.3905, 21.9549, 22.1996}}}},
    {"bvh/ad_jumping_jacks.bvh", 31, 7, 96, 125, 0.03333, "Hips", {{"XYZzyx", 1}, {"zyx", 18}, {"zxy", 12}}, {-1.9935,
     17.6817, 0.1012, 0.3981, -1.0023, 4.2904}, {-1.4856, 16.9553, -0.1495, 3.5101, 2.7985, 4.984}, {3.2655, 23.2326,
     1.7153}, {{"Neck", {-1.1715, 22.6277, 0.6756}}, {"RThumb", {-4.727, 14.4881, 1.7136}}}},
    {"bvh/ad_dab.bvh", 27, 7, 84, 339, 0.0333333, "Hips", {{"XYZxyz", 1}, {"xyz", 24}, {"yxz", 2}}, {-1.2344, -0.5247,
     25.0481, -6.3389, 1.5268, 158.9231}, {-3.2595, -1.1574, 17.1858, -2.6055, 6.3941, 127.5977}, {3.5831, 0, 0},
     {{"LeftShoulder", {-4.0773, -0.9388, 29.9751}}, {"LeftToeBase", {-17.4265, 13.3794, 1.2835}}}},
    {"bvh/ad_rokoko_jesse_dance.bvh", 60, 13, 183, 1007, 0.010000, "Hips", {{"XYZyxz", 1}, {"yxz", 59}}, {-6.2023, 87.7332,
     -161.6986, 17.0013, 6.7732, 5.9465}, {-20.0941, 94.9308, -160.2548, -30.2612, 1.8717, -9.207}, {0.0679, -0.0283,
     22.6186}, {{NULL, {0}}}},
    {"bvh/mh_tpose.bvh", 173, 49, 951, 1, 0.041667, "root", {{"XYZxyz", 144}, {"xyz", 29}}, {0, 0.6394, 0.027754, 0, 0, 0},
     {0, 0.6394, 0.027754, 0, 0, 0}, {-0.000001, -0.000002, 0}, {{NULL, {0}}}},
    {"bvh/mh_face-poseunits.bvh", 163, 49, 492, 60, 0.041667, "root", {{"XYZxyz", 1}, {"xyz", 162}}, {0, 0, 0, 0, 0, 0},
     {0, 0, 0, 0, 0, 0}, {0.000001, 0, 0}, {{NULL, {0}}}},
    {"bvh/mh_walk1.bvh", 75, 16, 228, 14, 0.041667, "Root", {{"XYZxyz", 1}, {"xyz", 74}}, {0, 0, 0, -3.255159, -3.375339,
     -0.883351}, {0, 0, 0, -3.616822, -3.023454, -2.180582}, {-0.000003, 0.000005, 0}, {{NULL, {0}}}},
    {"bvh/mh_dance1.bvh", 75, 16, 228, 1, 0.041667, "Root", {{"XYZzyx", 1}, {"zyx", 74}}, {0, 0.352364, 0.875427, 0.000267,
     74.019723, 0.000202}, {0, 0.352364, 0.875427, 0.000267, 74.019723, 0.000202}, {3.688199, 1.140679, 33.239174}, {{NULL,
     {0}}}},
    {"bvh/three_pirouette.bvh", 43, 14, 132, 592, 0.00833333, "hip", {{"XYZzyx", 1}, {"zxy", 42}}, {15.3137, 84.8855,
     152.037, 0, 0, 0}, {-22.259, 71.4852, 127.337, 180.965, -18.7087, 573.482}, {14.3902, -21.3868, 30.2347}, {{"lCollar",
     {-38.6193, 116.9787, 111.7224}}, {"lFoot", {-33.7715, 8.8685, 108.74}}}},
    {"bvh/assimp_Boxing_Toes.bvh", 21, 5, 66, 3069, 0.010000, "Hips", {{"XYZzxy", 1}, {"zxy", 20}}, {-6.101614, 91.753342,
     50.165031, 1.327254, -1.99382, 179.842245}, {27.826735, 91.938004, -5.137216, -3.817509, -2.963428, 176.980355},
     {0.128547, 1.01568, -1.329659}, {{"RightShoulder", {52.3709, 135.4815, -6.3571}}, {"RightToes", {45.8567, 1.3514,
     -5.9431}}}},
    {"bvh/pb_bvh_test2.bvh", 23, 5, 72, 61, 0.008333, "Hips", {{"XYZyxz", 1}, {"yxz", 22}}, {148.829378, 95.538178,
     -16.391471, 160.138372, -17.518149, -4.002953}, {148.723081, 95.557372, -16.367066, 160.126197, -17.819807,
     -4.034467}, {-0.02722, -0.34286, -0.016831}, {{"LeftCollar", {148.1252, 146.156, -14.7444}}, {"LeftToe", {119.4993,
     2.5114, -34.0008}}}},
    {"bvh/pb_rotation_first_root.bvh", 4, 2, 15, 4, 0.04, "Hips", {{"zxyXYZ", 1}, {"zxy", 1}, {"zyx", 1}, {"xyz", 1}}, {5,
     -3, 0, 10, 50, -20}, {8, 0, 6, 13, 53, -17}, {8.5, 9.5, 10.5}, {{"Head", {10.2055, 70.7614, -16.4779}}, {"LeftLeg",
     {16.0831, 45.3547, -17.2091}}}},
    {"bvh/pb_full_precision_frame_time.bvh", 2, 1, 9, 3, 0.0417083750417, "Hips", {{"XYZzyx", 1}, {"zyx", 1}}, {0, 90, 0,
     1, 2, 3}, {2, 92, 2, 3, 4, 5}, {6, 7, 8}, {{"Head", {1.4472, 103.9418, 3.0433}}, {"Head", {1.4472, 103.9418,
     3.0433}}}},
    {"bvh/ba_test_simple.bvh", 2, 1, 9, 2, 0.033333333, "Base", {{"XYZzxy", 1}, {"zxy", 1}}, {0, 0, 0, 0, 0, 0}, {1, 1, 1,
     1, 1, 1}, {1, 1, 1}, {{"End", {1.2663, 0.7429, 15.9954}}, {"End", {1.2663, 0.7429, 15.9954}}}},
    {"bvh/fm_sinusoidal.bvh", 4, 0, 15, 120, 0.016666666666666666, "base", {{"XYZxyz", 1}, {"xyz", 3}}, {-3, 6, 5, 0, 0,
     0}, {-3, 6, 5, 0, 0, 0}, {0, 0, 0}, {{"child2", {-8, 11, 5}}, {"child3", {-8, 12.4544, 2.3761}}}},
};
// clang-format on

// The first numbers of a frame as the file has them, from q of the root: its channels are positions and turns in some order.
static void check_row(const fact *f, const poise_file *file, int frame, const double *expected)
{
    const poise_clip *clip = file->clip;
    poise_vec3 o = poise_model_joint_info(file->model, 0).given->offset.position;
    const double offset[3] = {o.x, o.y, o.z};
    const double *q = clip->q + (size_t)frame * (size_t)clip->nq;
    bool turns_first = f->orders[0].channels[0] >= 'x';
    for (int i = 0; i < 6; ++i) {
        bool is_turn = turns_first ? i < 3 : i >= 3;
        double value = turns_first ? q[(i + 3) % 6] : q[i];
        bool holds_offset = !is_turn && fabs(value - expected[i]) > 5.1e-5; // one that positions replace
        value += holds_offset ? offset[i % 3] : 0;
        double read = is_turn ? expected[i] * PZ_RADIANS_PER_DEGREE : expected[i];
        // the facts are rounded to four or six digits after the point
        ck_assert_msg(fabs(value - read) <= 5.1e-5, "%s: frame %d, number %d: %g, expected %g", f->path, frame, i, value,
                      read);
    }
}

TEST_DATA(files_hold_what_is_known_of_them, "bvh")
{
    for (size_t i = 0; i < TEST_COUNT(facts); ++i) {
        const fact *f = &facts[i];
        io_bytes bytes = io_load(f->path);
        ck_assert_int_eq(poise_format_detect(bytes.bytes, bytes.size, NULL), BVH);
        poise_file *file = io_read(bytes.bytes, bytes.size, BVH, NULL);
        ck_assert_int_eq(poise_model_info(file->model).joints, f->joints);
        ck_assert_int_eq(poise_model_info(file->model).tools, f->sites);
        ck_assert_int_eq(poise_model_info(file->model).nq, f->channels);
        ck_assert_int_eq(file->clip->frames, f->frames);
        ck_assert_double_eq(file->clip->frame_time, f->frame_time);
        ck_assert_str_eq(poise_model_joint_info(file->model, 0).name, f->root);
        check_row(f, file, 0, f->first);
        check_row(f, file, f->frames - 1, f->last);
        const double *end = file->clip->q + (size_t)f->frames * (size_t)f->channels - 3;
        for (int k = 0; k < 3; ++k) {
            ck_assert_double_eq_tol(end[k], f->end[k] * PZ_RADIANS_PER_DEGREE, 1e-6);
        }
        for (int k = 0; k < 2 && f->place[k].joint; ++k) {
            io_near(io_place(file->model, file->clip, f->frames - 1, f->place[k].joint), f->place[k].position, 1e-4,
                    f->path);
        }
    }
}

// The channels of a joint as the facts write them.
static void spell(const poise_joint *joint, bool turns_first, char text[8])
{
    static const char *const turns[] = {"xyz", "xzy", "yxz", "yzx", "zxy", "zyx"};
    bool is_free = joint->type == POISE_JOINT_FREE_EULER;
    snprintf(text, 8, "%s%s%s", is_free && !turns_first ? "XYZ" : "", turns[joint->order],
             is_free && turns_first ? "XYZ" : "");
}

TEST_DATA(orders_of_channels_are_counted_right, "bvh")
{
    for (size_t i = 0; i < TEST_COUNT(facts); ++i) {
        io_bytes bytes = io_load(facts[i].path);
        poise_file *file = io_read(bytes.bytes, bytes.size, BVH, NULL);
        for (int k = 0; k < 4 && facts[i].orders[k].channels; ++k) {
            int count = 0;
            for (int j = 0; j < poise_model_info(file->model).joints; ++j) {
                poise_joint joint = *poise_model_joint_info(file->model, j).given;
                char text[8];
                spell(&joint, facts[i].orders[0].channels[0] >= 'x', text);
                count += strcmp(text, facts[i].orders[k].channels) == 0;
            }
            ck_assert_msg(count == facts[i].orders[k].joints, "%s: %d joints %s", facts[i].path, count,
                          facts[i].orders[k].channels);
        }
    }
}

// Numbers of a text after a word, as the C library reads them: every angle of q is the product of two doubles.
TEST_DATA(angles_are_degrees_times_the_constant, "bvh")
{
    io_bytes bytes = io_load("bvh/three_pirouette.bvh");
    bytes.bytes[bytes.size] = '\0';
    poise_file *file = io_read(bytes.bytes, bytes.size, BVH, NULL);
    char *at = strchr(strstr((char *)bytes.bytes, "Frame Time:"), '\n');
    for (int i = 0; i < file->clip->frames * file->clip->nq; ++i) {
        double number = strtod(at, &at);
        number = i % file->clip->nq < 3 ? number : number * PZ_RADIANS_PER_DEGREE;
        if (file->clip->q[i] != number) {
            ck_abort_msg("number %d: %a, expected %a", i, file->clip->q[i], number);
        }
    }
}

TEST_DATA(dialects_of_positions_are_told_apart, "bvh")
{
    static const struct {
        const char *path, *joint;
        double offset_y, height; // of the joint; of the root in the first frame
    } cases[] = {
        {"bvh/ad_rokoko_jesse_dance.bvh", "Hips", 94, 87.7332},
        {"bvh/mh_dance1.bvh", "Root", 0.352364, 0.352364},
        {"bvh/mh_walk1.bvh", "Root", 1.23529, 1.23529},
        {"bvh/mh_face-poseunits.bvh", "root", 0.6394, 0.6394},
        {"bvh/mh_tpose.bvh", "root", 0.6394, 0.6394},
        {"bvh/mh_tpose.bvh", "upperleg01.R", 0.083862, 0.6394},
        {"bvh/cmu_07_05.bvh", "Hips", 0, 15.9937},
    };
    for (size_t i = 0; i < TEST_COUNT(cases); ++i) {
        io_bytes bytes = io_load(cases[i].path);
        poise_file *file = io_read(bytes.bytes, bytes.size, BVH, NULL);
        int joint = poise_model_find_joint(file->model, cases[i].joint);
        const char *root = poise_model_joint_info(file->model, 0).body;
        ck_assert_double_eq(poise_model_joint_info(file->model, joint).given->offset.position.y, cases[i].offset_y);
        ck_assert_double_eq_tol(io_place(file->model, file->clip, 0, root).y, cases[i].height, 1e-12);
        bool is_open = strcmp(cases[i].path, "bvh/mh_tpose.bvh") == 0; // its root: half of the offset
        ck_assert_int_eq(io_warned(file, 0, "both an OFFSET and positions"), is_open);
    }
}

TEST_DATA(a_row_too_many_is_left_out_with_a_warning, "bvh")
{
    io_bytes bytes = io_load("bvh/assimp_Boxing_Toes.bvh");
    poise_file *file = io_read(bytes.bytes, bytes.size, BVH, NULL);
    ck_assert(file->warning_count == 1 && io_warned(file, 0, "says 3069, but there are more"));
}
