// ASF and AMC: small files of our own.
#include "documents.h"
#include "support/io_check.h"

#include "io/io_core.h"

#define ASF POISE_FORMAT_ASF
#define AMC POISE_FORMAT_AMC

#define UNITS ":units\n  mass 1.0\n  length 0.45\n  angle deg\n"
#define ROOT                                                                                                                \
    ":root\n"                                                                                                               \
    "   order TX TY TZ RX RY RZ\n"                                                                                          \
    "   axis XYZ\n"                                                                                                         \
    "   position 0 0 0\n"                                                                                                   \
    "   orientation 0 0 0\n"

TEST(bones_become_joints_with_axes_limits_and_tips)
{
    poise_file *file = io_read_text(document_asf, ASF, NULL);
    ck_assert_int_eq(file->warning_count, 0);
    ck_assert_str_eq(file->title, "stick");
    ck_assert_double_eq(file->scale.metres, 0.0254 / 0.45);
    static const struct {
        const char *name;
        poise_joint_type type;
        int parent;
    } joints[] = {{"root", POISE_JOINT_FREE_EULER, -1}, {"hip", POISE_JOINT_FIXED, 0},
                  {"thigh", POISE_JOINT_BALL_EULER, 1}, {"shin", POISE_JOINT_REVOLUTE, 2},
                  {"foot", POISE_JOINT_UNIVERSAL, 3},   {"spine", POISE_JOINT_BALL_EULER, 0}};
    ck_assert_int_eq(poise_model_info(file->model).joints, 6);
    for (int j = 0; j < 6; ++j) {
        ck_assert_str_eq(poise_model_joint_info(file->model, j).name, joints[j].name);
        ck_assert_int_eq(poise_model_joint_info(file->model, j).type, joints[j].type);
        ck_assert_int_eq(poise_model_joint_info(file->model, j).parent, joints[j].parent);
    }
    const double d = PZ_RADIANS_PER_DEGREE;
    poise_joint thigh = *poise_model_joint_info(file->model, 2).given;
    ck_assert_int_eq(thigh.order, POISE_EULER_ZYX);
    ck_assert_double_eq(thigh.lower[2], -160.0 * d); // rx is the innermost
    ck_assert_double_eq(thigh.upper[2], 20.0 * d);
    ck_assert_double_eq(thigh.lower[0], -60.0 * d);
    ck_assert(thigh.upper[0] > 1e300);
    ck_assert_double_eq(thigh.offset.position.x, 0.6 * 2.5);
    ck_assert_int_eq(poise_model_joint_info(file->model, 5).given->order, POISE_EULER_YXZ);
    ck_assert_double_eq(poise_model_joint_info(file->model, 5).given->offset.position.y, 0);
    poise_joint foot = *poise_model_joint_info(file->model, 4).given;
    ck_assert_double_eq(foot.lower[0], -70.0 * d);
    ck_assert_double_eq(foot.lower[1], -45.0 * d);
    // C = Rz(20) Rx(-90): x goes to (cos 20, sin 20, 0), z to (-sin 20, cos 20, 0), here the outer axis
    ck_assert_double_eq_tol(foot.axis2.x, 0.939692620785908, 1e-15);
    ck_assert_double_eq_tol(foot.axis.y, 0.939692620785908, 1e-15);
    ck_assert_int_eq(poise_model_info(file->model).tools, 5);
    int tip = poise_model_find_tool(file->model, "spine.tip");
    ck_assert_double_eq(poise_model_tool_info(file->model, tip).pose.position.y, 4);
}

TEST(values_of_a_bone_are_innermost_first)
{
    poise_file *model = io_read_text(document_asf, ASF, NULL);
    poise_file *file = io_read_text(document_amc, AMC, model->model);
    ck_assert_ptr_null(file->model);
    ck_assert_int_eq(file->clip->frames, 2);
    ck_assert_double_eq(file->clip->frame_time, 1.0 / 120.0);
    ck_assert(file->warning_count == 1 && io_warned(file, 0, "does not give its frame rate"));
    const double d = PZ_RADIANS_PER_DEGREE;
    // root, thigh, shin, foot, spine
    const double expected[15] = {1.5,     2,      3,     370 * d, 20 * d,       10 * d, 3 * d, -2 * d,
                                 0.1 * d, 46 * d, 6 * d, -5 * d,  9.123456 * d, 8 * d,  7 * d};
    ck_assert_int_eq(file->clip->nq, 15);
    ck_assert_mem_eq(file->clip->q + 15, expected, sizeof expected);
}

// The directions of a written file are unit vectors, which other programs count on.
static void check_directions(const poise_file *file)
{
    io_bytes text = io_write(file, ASF, -1);
    for (const char *at = (char *)text.bytes; (at = strstr(at, "direction")); ++at) {
        double x, y, z;
        ck_assert_int_eq(sscanf(at, "direction %lf %lf %lf", &x, &y, &z), 3);
        ck_assert_double_eq_tol(x * x + y * y + z * z, 1.0, 1e-12); // lengths are moved by up to 200 units of 2^-52
    }
}

TEST(any_axes_and_ends_are_written_to_the_last_bit)
{
    uint64_t state = 77;
    for (int i = 0; i < 300; ++i) {
        char text[2048];
        double x[7];
        for (int k = 0; k < 7; ++k) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            x[k] = ((double)(state >> 11) * 0x1p-53 - 0.5) * (k < 3 ? 720.0 : 2.0);
        }
        if (i % 3 == 0) {
            x[1] = i % 2 ? 90 : -90; // where only a sum or difference of the others counts
        }
        snprintf(text, sizeof text,
                 UNITS ":root\norder TX TY TZ RX RY RZ\naxis XYZ\nposition 0 0 0\norientation %.17g %.17g %.17g\n"
                       ":bonedata\nbegin\nname a\ndirection %.17g %.17g %.17g\nlength %.17g\naxis %.17g %.17g %.17g XYZ\n"
                       "dof %s\nend\n:hierarchy\nbegin\nroot a\nend\n",
                 x[2], x[0], x[1], x[3], x[4], x[5], x[6], x[0], x[1], x[2],
                 i % 4 == 0   ? "rx"
                 : i % 4 == 1 ? "ry rz"
                              : "rx ry rz");
        poise_file *file = io_read_text(text, ASF, NULL);
        io_round_trip(file, ASF, -1);
        check_directions(file);
    }
}

TEST(radians_are_taken_as_they_are)
{
    poise_file *file = io_read_text(":units\n angle rad\n" ROOT ":bonedata\nbegin\nname a\ndirection 0 0 1\nlength 1\n"
                                    "axis 0 0 0.5 XYZ\ndof rz\nlimits (-1 1.25)\nend\n:hierarchy\nroot a\n",
                                    ASF, NULL);
    ck_assert_double_eq(file->scale.metres, 0);
    ck_assert_double_eq(poise_model_joint_info(file->model, 1).given->upper[0], 1.25);
    ck_assert_double_eq_tol(poise_model_joint_info(file->model, 1).given->axes.z, 0.24740395925452294, 1e-16); // sin 0.25
    poise_file *clip = io_read_text(":RADIANS\n5\nroot 0 0 0 0 0 1\na 0.25\n", AMC, file->model);
    ck_assert_double_eq(clip->clip->q[3], 1);
    ck_assert_double_eq(clip->clip->q[6], 0.25);
    ck_assert_double_eq(clip->clip->start_time, 4 / 120.0);
}

#define BONE(statements) ROOT ":bonedata\nbegin\nname a\n" statements "end\n:hierarchy\nbegin\nroot a\nend\n"

static const io_case broken[] = {
    {":version 1\n", 2, "needs a section :hierarchy"},
    {":units\nlength 0\n", 2, "length must be above 0"},
    {":root\norder TX TQ\n", 2, "order must consist of"},
    {":root\naxis XYY\n", 2, "axis must be an order"},
    {":root\nposition 0 0\n", 2, "position needs three numbers"},
    {":root\norientation 0 0\n", 2, "orientation needs three angles"},
    {":root\norder RX RY RZ TX TY TZ\n:hierarchy\n", 1, "order must be TX TY TZ"},
    {":root\naxis ZYX\n:hierarchy\n", 1, "order must be TX TY TZ"},
    {BONE("direction 0 1\n"), 9, "direction needs three numbers"},
    {BONE("length x\n"), 9, "length needs a number"},
    {BONE("axis 0 0 0\n"), 9, "axis needs three angles and an order"},
    {BONE("dof rx tx\n"), 9, "only rx, ry and rz"},
    {BONE("dof rx rx\n"), 9, "is listed twice"},
    {BONE("limits (1)\n"), 9, "pairs of numbers"},
    {BONE("limits (1 2\n"), 10, "lacks its )"},
    {BONE("name\n"), 9, "name needs a word"},
    {BONE("direction 1e300 0 0\nlength 1e300\n"), 7, "not finite"},
    {ROOT ":bonedata\nbegin\nend\n", 7, "without a name"},
    {ROOT ":bonedata\nbegin\nname a\n", 9, "end is missing"},
    {ROOT ":bonedata\nbone\n", 7, "expected begin"},
    {ROOT ":bonedata\nbegin\nname root\nend\n:hierarchy\n", 7, "the name is already used"},
    {ROOT ":hierarchy\nroot a\n", 7, "there is no bone \"a\""},
    {ROOT ":bonedata\nbegin\nname a\nend\n:hierarchy\nroot a\na a\n", 12, "has two parents"},
    {ROOT ":bonedata\nbegin\nname a\nend\n:hierarchy\na root\n", 11, "has no parent"},
    {ROOT ":hierarchy\n:bonedata\n", 7, "must come before"},
};

TEST_ROWS(broken_skeletons_are_refused_with_their_line, TEST_COUNT(broken))
{
    io_case_refused(&broken[test_row], ASF, NULL);
}

static const io_case odd[] = {
    {":units\nangle gon\n" ROOT ":hierarchy\n", 2, "neither deg nor rad"},
    {":skin\nx\n" ROOT ":hierarchy\n", 1, "\":skin\" is ignored"},
    {BONE("bodymass 3\n"), 9, "\"bodymass\" is ignored"},
    {BONE("dof rx\nlimits (1 2) (3 4)\n"), 7, "2 pairs of limits for 1"},
    {BONE("dof rx\nlimits (2 1)\n"), 7, "above upper limit"},
    {ROOT ":bonedata\nbegin\nname a\nend\n:hierarchy\n", 0, "1 bones are not connected to the root"},
};

TEST_ROWS(odd_skeletons_are_read_with_a_warning, TEST_COUNT(odd))
{
    io_case_warned(&odd[test_row], ASF, NULL);
}

TEST(odd_motions_are_read_with_a_warning)
{
    static const struct {
        const char *text;
        int frames, line;
        const char *part;
        double shin; // degrees in the last frame
    } cases[] = {
        {":DEGREES\n1\nroot 0 0 0 0 0 0\nthigh 0 0 0\nfoot 0 0\nshin 5\nspine 0 0 0\n2\nroot 0 0 0 0 0 0\nthigh 0 0 "
         "0\nspine 0 0 0\n",
         2, 8, "2 bones are missing; they keep", 5},
        {":DEGREES\n1\nroot 0 0 0 0 0 0\nthigh 0 0 0\nfoot 0 0\nshin 5\nspine 0 0 0\n2\nroot 0 0 0 0 0 0\nshin 9\n", 1, 8,
         "3 bones are missing; left out", 5},
        {":DEGREES\n1\nroot 0 0 0 0 0 0\nthigh 0 0 0\nfoot 0 0\nshin 5\nspine 0 0 0\ntail 1\n", 1, 8, "is not in the model",
         5},
        {":DEGREES\n1\nroot 0 0 0 0 0 0\nthigh 0 0 0\nfoot 0 0\nshin 5 6\nspine 0 0 0\n", 1, 6, "more than 1 values", 5},
        {":DEGREES\n1\nroot 0 0 0 0 0 0\nthigh 0 0\nfoot 0 0\nshin 5\nspine 0 0 0\n", 1, 4, "fewer than 3 values", 5},
        {":DEGREES\n1\nroot 0 0 nan 0 0 0\nthigh 0 0 0\nfoot 0 0\nshin 5\nspine 0 0 0\n", 1, 3, "not a finite number", 5},
        {"1\nroot 0 0 0 0 0 0\nthigh 0 0 0\nfoot 0 0\nshin 5\nspine 0 0 0\n", 1, 0, "degrees assumed", 5},
        {":DEGREES\n:ODD\n1\nroot 0 0 0 0 0 0\nthigh 0 0 0\nfoot 0 0\nshin 5\nspine 0 0 0\n", 1, 2, "with a colon", 5},
        {":DEGREES\n1\nroot 0 0 0 0 0 0\nthigh 0 0 0\nfoot 0 0\nshin 5\nspine 0 0 0\n3\nroot 0 0 0 0 0 0\nthigh 0 0 0\nfoot "
         "0 0\n"
         "shin 6\nspine 0 0 0\n",
         2, 8, "frame 3 found where frame 2 was expected", 6},
    };
    poise_file *model = io_read_text(document_asf, ASF, NULL);
    for (size_t i = 0; i < TEST_COUNT(cases); ++i) {
        poise_file *file = io_read_text(cases[i].text, AMC, model->model);
        ck_assert_msg(io_warned(file, cases[i].line, cases[i].part), "%s", cases[i].part);
        ck_assert_int_eq(file->clip->frames, cases[i].frames);
        ck_assert_double_eq(file->clip->q[(file->clip->frames - 1) * 15 + 9], cases[i].shin * PZ_RADIANS_PER_DEGREE);
    }
}

TEST(broken_motions_are_refused_with_their_line)
{
    poise_file *model = io_read_text(document_asf, ASF, NULL);
    io_refused_text(document_amc, AMC, NULL, 0, "give it as model");
    io_refused_text(":DEGREES\n", AMC, model->model, 2, "no frames");
    io_refused_text(":DEGREES\nroot 1\n2\n", AMC, model->model, 2, "expected the number of a frame");
    io_refused_text(":DEGREES\n1x\n", AMC, model->model, 2, "expected the number of a frame");
    poise_builder *builder;
    poise_builder_create(NULL, &builder, NULL);
    poise_joint joint = poise_joint_default();
    joint.name = "ball";
    joint.type = POISE_JOINT_BALL_QUATERNION;
    ck_assert_int_eq(poise_builder_add_joint(builder, &joint, NULL), POISE_OK);
    poise_file file = {.format = AMC};
    ck_assert_int_eq(poise_model_create(builder, NULL, &file.model, NULL), POISE_OK);
    poise_builder_destroy(builder);
    io_refused_text(document_amc, AMC, file.model, 0, "an AMC has no ball_quaternion joints");
    io_write_refused(&file, ASF, "no ball_quaternion joints");
    io_write_refused(&file, AMC, "no clip");
    ck_assert_int_eq(poise_clip_create(1, 4, 1, NULL, &file.clip, NULL), POISE_OK);
    io_write_refused(&file, AMC, "no ball_quaternion joints");
    poise_clip_destroy(file.clip);
    poise_model_destroy(file.model);
}

// A skeleton with its own rest rotations and offsets, from a BVH and by hand, in the same poses.
TEST(other_skeletons_are_written_in_the_same_poses)
{
    poise_builder *builder;
    poise_builder_create(NULL, &builder, NULL);
    poise_joint joint = poise_joint_default();
    joint.name = "pelvis";
    joint.type = POISE_JOINT_FREE_EULER;
    joint.order = POISE_EULER_ZXY;
    ck_assert_int_eq(poise_builder_add_joint(builder, &joint, NULL), POISE_OK);
    static const char *const names[] = {"left", "right", "hand"}, *const parents[] = {"pelvis", "pelvis", "right"};
    for (int i = 0; i < 3; ++i) {
        joint = poise_joint_default();
        joint.name = names[i];
        joint.parent = parents[i];
        joint.type = i == 0 ? POISE_JOINT_BALL_EULER : i == 1 ? POISE_JOINT_REVOLUTE : POISE_JOINT_UNIVERSAL;
        joint.order = POISE_EULER_YZX;
        joint.axis = i == 1 ? poise_vec3_make(0.48, 0.6, 0.64) : poise_vec3_make(0, 1, 0);
        joint.axis2 = poise_vec3_make(0, 0, 1);
        joint.offset =
            (poise_pose){poise_quat_from_axis_angle(poise_vec3_make(1, i, 0), 0.3 + i), poise_vec3_make(i, 1, -2)};
        ck_assert_int_eq(poise_builder_add_joint(builder, &joint, NULL), POISE_OK);
    }
    poise_tool tip = {.name = "hand.tip", .body = "hand", .pose = (poise_pose){{0, 0, 0, 1}, {0, 0.5, 0.25}}};
    ck_assert_int_eq(poise_builder_add_tool(builder, &tip, NULL), POISE_OK);
    poise_file file = {.format = ASF};
    ck_assert_int_eq(poise_model_create(builder, NULL, &file.model, NULL), POISE_OK);
    poise_builder_destroy(builder);
    ck_assert_int_eq(poise_clip_create(2, 12, 0.5, NULL, &file.clip, NULL), POISE_OK);
    for (int i = 0; i < 24; ++i) {
        file.clip->q[i] = 0.1 * i - 1.0;
    }
    io_write_warns(&file, ASF, "joint \"pelvis\" is called \"root\"");
    io_bytes asf = io_write(&file, ASF, 2), amc = io_write(&file, AMC, 0);
    poise_file *model = io_read(asf.bytes, asf.size, ASF, NULL);
    poise_file *clip = io_read(amc.bytes, amc.size, AMC, model->model);
    ck_assert_int_eq(model->warning_count + clip->warning_count, 0);
    static const char *const places[] = {"left", "right", "hand", "hand.tip"};
    for (int f = 0; f < 2; ++f) {
        for (int k = 0; k < 4; ++k) {
            poise_vec3 p = io_place(file.model, file.clip, f, places[k]);
            const double expected[3] = {p.x, p.y, p.z};
            io_near(io_place(model->model, clip->clip, f, places[k]), expected, 1e-14, places[k]);
        }
    }
    poise_file *same = io_read(amc.bytes, amc.size, AMC, file.model); // "root" is what the first joint is called there
    io_same_clips(same->clip, file.clip);
    poise_clip_destroy(file.clip);
    poise_model_destroy(file.model);
}

// A first joint that is no root, and is turned: what hangs below turns with it.
TEST(a_turned_base_is_written_in_the_same_poses)
{
    poise_builder *builder;
    poise_builder_create(NULL, &builder, NULL);
    poise_joint joint = poise_joint_default();
    joint.name = "base";
    joint.type = POISE_JOINT_REVOLUTE;
    joint.offset = (poise_pose){poise_quat_from_axis_angle(poise_vec3_make(1, 0.5, 0), 0.7), poise_vec3_make(1, 2, 3)};
    ck_assert_int_eq(poise_builder_add_joint(builder, &joint, NULL), POISE_OK);
    joint = poise_joint_default();
    joint.name = "arm";
    joint.parent = "base";
    joint.type = POISE_JOINT_BALL_EULER;
    joint.offset = (poise_pose){poise_quat_from_axis_angle(poise_vec3_make(0, 1, 0), 0.4), poise_vec3_make(0, 1, -2)};
    ck_assert_int_eq(poise_builder_add_joint(builder, &joint, NULL), POISE_OK);
    poise_tool tip = {.name = "arm.tip", .body = "arm", .pose = (poise_pose){{0, 0, 0, 1}, {0.2, 0.5, 0.25}}};
    ck_assert_int_eq(poise_builder_add_tool(builder, &tip, NULL), POISE_OK);
    poise_file file = {.format = ASF};
    ck_assert_int_eq(poise_model_create(builder, NULL, &file.model, NULL), POISE_OK);
    poise_builder_destroy(builder);
    ck_assert_int_eq(poise_clip_create(2, 4, 0.5, NULL, &file.clip, NULL), POISE_OK);
    for (int i = 0; i < 8; ++i) {
        file.clip->q[i] = 0.2 * i - 0.7;
    }
    io_write_warns(&file, ASF, "the file gets one");
    io_bytes asf = io_write(&file, ASF, 2), amc = io_write(&file, AMC, 0);
    poise_file *model = io_read(asf.bytes, asf.size, ASF, NULL);
    poise_file *clip = io_read(amc.bytes, amc.size, AMC, model->model);
    for (int f = 0; f < 2; ++f) {
        poise_vec3 p = io_place(file.model, file.clip, f, "arm.tip");
        const double expected[3] = {p.x, p.y, p.z};
        io_near(io_place(model->model, clip->clip, f, "arm.tip"), expected, 1e-13, "arm.tip");
    }
    poise_clip_destroy(file.clip);
    poise_model_destroy(file.model);
}

TEST(a_motion_of_a_fixed_arm_stands_on_the_root_that_its_skeleton_gets)
{
    poise_builder *builder;
    ck_assert_int_eq(poise_builder_create(NULL, &builder, NULL), POISE_OK);
    poise_joint joint = poise_joint_default();
    joint.name = "arm";
    joint.type = POISE_JOINT_REVOLUTE;
    joint.axis = poise_vec3_make(0, 0, 1);
    ck_assert_int_eq(poise_builder_add_joint(builder, &joint, NULL), POISE_OK);
    poise_file file = {.format = ASF};
    ck_assert_int_eq(poise_model_create(builder, NULL, &file.model, NULL), POISE_OK);
    poise_builder_destroy(builder);
    ck_assert_int_eq(poise_clip_create(2, 1, 0.5, NULL, &file.clip, NULL), POISE_OK);
    file.clip->q[1] = 0.25;
    io_write_warns(&file, ASF, "no root with six free coordinates");
    io_bytes asf = io_write(&file, ASF, 2), amc = io_write(&file, AMC, 0);
    poise_file *model = io_read(asf.bytes, asf.size, ASF, NULL);
    poise_file *clip = io_read(amc.bytes, amc.size, AMC, model->model);
    ck_assert_int_eq(model->warning_count + clip->warning_count, 0);
    ck_assert_int_eq(clip->clip->nq, 7);
    poise_file *same = io_read(amc.bytes, amc.size, AMC, file.model); // which has no root: it stands still
    ck_assert_int_eq(same->warning_count, 0);
    io_same_clips(same->clip, file.clip);
    poise_file *moved = io_read_text("#!OML\n:DEGREES\n1\nroot 0 0 1 0 0 0\narm 1\n", AMC, file.model);
    io_check_warned(moved, 4, "a bone that is not in the model");
    poise_clip_destroy(file.clip);
    poise_model_destroy(file.model);
}
