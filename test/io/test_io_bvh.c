// BVH: small files of our own.
#include "documents.h"

#include <math.h>

#include "io/io_core.h"
#include "support/io_check.h"

#define BVH POISE_FORMAT_BVH

TEST(channels_become_joints_and_coordinates_outermost_first)
{
    poise_file *file = io_read_text(document_bvh, BVH, NULL);
    static const poise_joint_type types[] = {POISE_JOINT_FREE_EULER, POISE_JOINT_BALL_EULER, POISE_JOINT_REVOLUTE,
                                             POISE_JOINT_UNIVERSAL, POISE_JOINT_FIXED};
    static const char *const names[] = {"hips", "leg", "knee", "arm", "watch"};
    ck_assert_int_eq(poise_model_info(file->model).joints, 5);
    for (int j = 0; j < 5; ++j) {
        ck_assert_int_eq(poise_model_joint_info(file->model, j).type, types[j]);
        ck_assert_str_eq(poise_model_joint_info(file->model, j).name, names[j]);
    }
    ck_assert_int_eq(poise_model_joint_info(file->model, 0).given->order, POISE_EULER_ZXY);
    ck_assert_int_eq(poise_model_joint_info(file->model, 1).given->order, POISE_EULER_YZX);
    ck_assert_double_eq(poise_model_joint_info(file->model, 2).given->axis.x, 1);
    ck_assert_double_eq(poise_model_joint_info(file->model, 3).given->axis.z, 1);
    ck_assert_double_eq(poise_model_joint_info(file->model, 3).given->axis2.y, 1);
    ck_assert_int_eq(poise_model_find_tool(file->model, "knee.tip"), 0);
    ck_assert_double_eq(poise_model_tool_info(file->model, 0).pose.position.y, -4.5);

    const double d = PZ_RADIANS_PER_DEGREE;
    const double expected[12] = {1.5,   2.5,   -3.25, 10.5 * d, -20.123456 * d, 30 * d,
                                 1 * d, 2 * d, 3 * d, 46 * d,   5 * d,          6.0001 * d};
    ck_assert_int_eq(file->clip->frames, 3);
    ck_assert_double_eq(file->clip->frame_time, 0.04);
    ck_assert_mem_eq(file->clip->q + 12, expected, sizeof expected);
    ck_assert_double_eq(file->clip->q[24], -0.001);
    ck_assert_double_eq(file->clip->q[27], 370 * d);
    ck_assert_int_eq(file->warning_count, 0);
    ck_assert_double_eq(file->scale.metres, 0);
    ck_assert_int_eq(file->scale.up, POISE_UP_UNKNOWN);
}

// A file with one joint below a root, with these channels and rows.
static const char *one_joint(const char *offset, const char *channels, const char *rows)
{
    static char text[2048];
    snprintf(
        text, sizeof text,
        "HIERARCHY\nROOT a\n{\nOFFSET 0 0 0\nCHANNELS 0\nJOINT b\n{\nOFFSET %s\nCHANNELS %s\nEnd Site\n{\nOFFSET 0 1 0\n"
        "}\n}\n}\nMOTION\nFrames: 1\nFrame Time: 1\n%s\n",
        offset, channels, rows);
    return text;
}

TEST(channels_that_no_joint_holds_become_chains)
{
    static const struct {
        const char *channels, *rows;
        int joints, nq;
        const char *first; // name of the joint after the root
        poise_joint_type first_type, last_type;
    } cases[] = {
        {"3 Zposition Xposition Yposition", "3 1 2", 2, 3, "b", POISE_JOINT_TRANSLATION, POISE_JOINT_TRANSLATION},
        {"4 Xposition Yposition Zposition Yrotation", "1 2 3 4", 3, 4, "b.position", POISE_JOINT_TRANSLATION,
         POISE_JOINT_REVOLUTE},
        {"1 Yposition", "2", 2, 1, "b", POISE_JOINT_PRISMATIC, POISE_JOINT_PRISMATIC},
        {"2 Zposition Yposition", "3 2", 3, 2, "b.y", POISE_JOINT_PRISMATIC, POISE_JOINT_PRISMATIC},
        {"4 Yposition Zrotation Xrotation Yrotation", "2 7 8 9", 3, 4, "b.y", POISE_JOINT_PRISMATIC, POISE_JOINT_BALL_EULER},
        {"2 Xrotation Xrotation", "7 8", 3, 2, "b.1", POISE_JOINT_REVOLUTE, POISE_JOINT_REVOLUTE},
        {"3 Xrotation Xrotation Yrotation", "7 8 9", 4, 3, "b.1", POISE_JOINT_REVOLUTE, POISE_JOINT_REVOLUTE},
        {"3 Xrotation Yrotation Xrotation", "7 8 9", 2, 3, "b", POISE_JOINT_BALL_EULER, POISE_JOINT_BALL_EULER},
        {"6 Zrotation Xrotation Yrotation Xposition Yposition Zposition", "7 8 9 1 2 3", 2, 6, "b", POISE_JOINT_FREE_EULER,
         POISE_JOINT_FREE_EULER},
        {"6 Xrotation Xrotation Yrotation Xposition Yposition Zposition", "7 8 9 1 2 3", 5, 6, "b.position",
         POISE_JOINT_TRANSLATION, POISE_JOINT_REVOLUTE},
    };
    for (size_t i = 0; i < TEST_COUNT(cases); ++i) {
        poise_file *file = io_read_text(one_joint("0 0 0", cases[i].channels, cases[i].rows), BVH, NULL);
        int last = poise_model_info(file->model).joints - 1;
        ck_assert_int_eq(last + 1, cases[i].joints);
        ck_assert_int_eq(file->clip->nq, cases[i].nq);
        ck_assert_str_eq(poise_model_joint_info(file->model, 1).name, cases[i].first);
        ck_assert_str_eq(poise_model_joint_info(file->model, last).name, "b");
        ck_assert_int_eq(poise_model_joint_info(file->model, 1).type, cases[i].first_type);
        ck_assert_int_eq(poise_model_joint_info(file->model, last).type, cases[i].last_type);
        ck_assert_str_eq(poise_model_tool_info(file->model, 0).name, "b.tip");
        // positions are 1 2 3 along x y z, whatever their order
        poise_vec3 p = io_place(file->model, file->clip, 0, "b");
        ck_assert(p.x == (strstr(cases[i].channels, "Xpos") ? 1 : 0) && p.y == (strstr(cases[i].channels, "Ypos") ? 2 : 0) &&
                  p.z == (strstr(cases[i].channels, "Zpos") ? 3 : 0));
        io_round_trip(file, BVH, 0);
    }
}

TEST(first_frame_decides_what_positions_mean)
{
    static const char channels[] = "3 Xposition Yposition Zposition";
    static const struct {
        const char *row;
        poise_bvh_positions option;
        double height; // of joint b
    } cases[] = {
        {"5 88 -9", POISE_BVH_DECIDE, 88}, {"0 0 0", POISE_BVH_DECIDE, 94}, {"90 1 90", POISE_BVH_DECIDE, 95},
        {"5 88 -9", POISE_BVH_ADD, 182},   {"0 0 0", POISE_BVH_REPLACE, 0}, {"5 50 -9", POISE_BVH_DECIDE, 50},
    };
    for (size_t i = 0; i < TEST_COUNT(cases); ++i) {
        const char *text = one_joint("0 94 0", channels, cases[i].row);
        poise_read_options options = {0};
        options.positions = cases[i].option;
        poise_file *file;
        ck_assert_int_eq(poise_read(text, strlen(text), &options, NULL, &file, NULL), POISE_OK);
        ck_assert_double_eq(poise_model_joint_info(file->model, 1).given->offset.position.y, 94);
        ck_assert_double_eq(io_place(file->model, file->clip, 0, "b").y, cases[i].height);
        ck_assert_int_eq(io_warned(file, 2, "both an OFFSET and positions"), cases[i].height == 50);
        io_round_trip(file, BVH, 0);
        poise_file_destroy(file);
    }
}

// What was read as beside the offset is written so again.
TEST(positions_beside_offsets_are_written_as_they_were)
{
    poise_read_options options = {.positions = POISE_BVH_ADD};
    const char *six = "6 Xposition Yposition Zposition Zrotation Xrotation Yrotation";
    const char *text = one_joint("0 94 0", six, "1 2 3 4 5 6");
    poise_file *file;
    ck_assert_int_eq(poise_read(text, strlen(text), &options, NULL, &file, NULL), POISE_OK);
    io_bytes again = io_write(file, BVH, 0);
    const char *written = (const char *)again.bytes, *row = "\n1 2 3 4 5 6\n";
    ck_assert_msg(again.size > strlen(row), "%s", written);
    ck_assert_mem_eq(written + again.size - strlen(row), row, strlen(row));
    ck_assert_ptr_null(strstr(written, "b.offset"));
    poise_file_destroy(file);
}

TEST(positions_on_every_joint_leave_offsets_as_they_are)
{
    static const char text[] = "HIERARCHY\nROOT Hips\n{\n\tOFFSET 0 94.25 0\n"
                               "\tCHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation\n"
                               "\tJOINT Spine\n\t{\n\t\tOFFSET 0.1 10.7 -0.3\n"
                               "\t\tCHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation\n"
                               "\t\tEnd Site\n\t\t{\n\t\t\tOFFSET 0 12.3 0\n\t\t}\n\t}\n}\nMOTION\nFrames: 2\n"
                               "Frame Time: 0.01\n3.3 91.7 -12.1 10 20 30 0.1 10.7 -0.3 1 2 3\n"
                               "3.1 90.9 -11.7 10 20 30 0.123 10.71 -0.29 1 2 3\n";
    poise_file *file = io_read_text(text, BVH, NULL);
    poise_joint_info spine = poise_model_joint_info(file->model, 1);
    ck_assert(spine.given->offset.position.y == 10.7 && file->clip->q[spine.q + 1] == 0);
    io_bytes again = io_write(file, BVH, 0);
    ck_assert_str_eq((const char *)again.bytes, text);
    io_round_trip(file, BVH, 0);
}

TEST(a_joint_called_offset_stays_a_joint)
{
    // with an End Site of its own it is no offset written apart
    poise_file *file =
        io_read_text("HIERARCHY\nROOT b.offset\n{\nOFFSET 1 2 3\nCHANNELS 0\nEnd Site\n{\nOFFSET 1 0 0\n}\n"
                     "JOINT b\n{\nOFFSET 0 0 0\n"
                     "CHANNELS 3 Xposition Yposition Zposition\n}\n}\nMOTION\nFrames: 1\nFrame Time: 1\n0 1 0\n",
                     BVH, NULL);
    ck_assert_int_eq(poise_model_info(file->model).joints, 2);
    ck_assert_double_eq(poise_model_joint_info(file->model, 1).given->offset.position.y, 0);
    io_round_trip(file, BVH, 0);
}

TEST(line_ends_and_spaces_do_not_matter)
{
    poise_file *plain = io_read_text(document_bvh, BVH, NULL);
    static const char *const ends[] = {"\r\n", "\r", " \t\n", "\n\n"};
    for (size_t e = 0; e < TEST_COUNT(ends); ++e) {
        char text[4096] = "\xef\xbb\xbf";
        size_t at = 3;
        for (const char *c = document_bvh; *c; ++c) {
            if (*c == '\n') {
                at += (size_t)snprintf(text + at, sizeof text - at, "%s", ends[e]);
            } else if (*c == '\t') {
                at += (size_t)snprintf(text + at, sizeof text - at, "   ");
            } else {
                text[at++] = *c;
            }
        }
        text[at] = '\0';
        poise_file *file = io_read_text(text, BVH, NULL);
        ck_assert_int_eq(file->warning_count, 0);
        io_same_models(plain->model, file->model);
        io_same_clips(plain->clip, file->clip);
    }
}

#define HEAD "HIERARCHY\nROOT a\n{\nOFFSET 0 0 0\nCHANNELS 2 Xposition Zrotation\n}\nMOTION\n" // rows from line 10

TEST(odd_motions_are_read_with_a_warning)
{
    static const struct {
        const char *text;
        int frames, line;
        const char *warning;
        double last; // position in the last frame
    } cases[] = {
        {HEAD "Frames: 2\nFrame Time: 1\n1 2\n3 4\n5 6\n", 2, 12, "says 2, but there are more", 3},
        {HEAD "Frames: 5\nFrame Time: 1\n1 2\n3 4\n", 2, 0, "says 5, but there are 2", 3},
        {HEAD "Frames: 2000000000\nFrame Time: 1\n1 2\n3 4\n", 2, 0, "says 2000000000, but there are 2", 3},
        {HEAD "Frame Time: 1\n1 2\n3 4\n", 2, 0, NULL, 3},
        {HEAD "1 2\n3 4\n", 2, 0, NULL, 3},
        {HEAD "Frames: x\nFrame Time: 1\n1 2\n3 4\n", 2, 8, "has no count", 3},
        {HEAD "Frames:3\nFrame Time:\t1\n1 2\nnan 4\n5 6\n", 3, 11, "\"nan\" is not a finite number", 5},
        {HEAD "Frames: 2\nFrame Time: 1\n1 2\n-1.#IND 4\n", 2, 11, "not a finite number", 1},
        {HEAD "Frames: 2\nFrame Time: 1\n1 2\n1e999 4\n", 2, 11, "not a finite number", 1},
        {HEAD "Frames: 3\nFrame Time: 1\n1 2\n3\n5 6\n", 3, 11, "a row of 1 numbers instead of 2", 5},
        {HEAD "Frames: 2\nFrame Time: 1\n1 2\n3 4 5\n", 2, 11, "a row of more than 2 numbers", 3},
        {HEAD "Frames: 2\nFrame Time: 1\n1\n2 3\n4\n", 2, 0, "rows are read across lines", 3},
        {HEAD "Frames: 2\nFrame Time: 1\n1 2 3 4\n", 2, 0, "rows are read across lines", 3},
        {HEAD "Frames: 2\nFrame Time: 1\n1 2\n3", 1, 11, "left out", 1},
        {HEAD "Frames: 1\nFrame Time: 0\n1 2\n", 1, 9, "1/30 assumed", 1},
        {HEAD "Frames: 1\nFrame Time: fast\n1 2\n", 1, 9, "1/30 assumed", 1},
        {HEAD "Frames: 1\nFrame Time: 33\n1 2\n", 1, 9, "milliseconds", 1},
        {HEAD "Frames: 0\nFrame Time: 1\n", 0, 0, NULL, 0},
        {"HIERARCHY\nROOT a\n{\nOFFSET 0 0 0\nCHANNELS 2 Xposition Zrotation\n}\n", 0, 0, "no MOTION", 0},
        {"HIERARCHY\nROOT a\n{\nCHANNELS 2 Xposition Zrotation\n}\n", 0, 2, "no OFFSET", 0},
        {"HIERARCHY\nROOT a\n{\nOFFSET 0 0 0\nCHANNELS 3 Xposition Xscale Zrotation\n}\nMOTION\nFrames: 1\nFrame Time: 1\n1 "
         "9 2\n",
         1, 5, "neither position nor rotation", 1},
    };
    for (size_t i = 0; i < TEST_COUNT(cases); ++i) {
        poise_file *file = io_read_text(cases[i].text, BVH, NULL);
        ck_assert_msg(!cases[i].warning || io_warned(file, cases[i].line, cases[i].warning), "%s: %s", cases[i].text,
                      file->warning_count > 0 ? file->warnings[0].text : "no warning");
        ck_assert_msg((file->clip ? file->clip->frames : 0) == cases[i].frames, "%s", cases[i].text);
        if (file->clip) {
            ck_assert_double_eq(file->clip->q[(file->clip->frames - 1) * 2], cases[i].last);
            ck_assert(file->clip->frame_time == 1 || file->clip->frame_time == 1.0 / 30.0 || file->clip->frame_time == 33);
        }
    }
}

TEST(names_are_made_unique_and_may_hold_spaces)
{
    poise_file *file =
        io_read_text("HIERARCHY\nROOT a b \n{\nOFFSET 0 0 0\nCHANNELS 0\nJOINT a b\n{\nOFFSET 0 0 0\nCHANNELS 0\n"
                     "JOINT {\nOFFSET 0 0 0\nCHANNELS 0\nEnd Site\n{\nOFFSET 0 0 1\n}\nEnd Site\n{\nOFFSET 0 0 2\n"
                     "}\n}\n}\n}\nROOT c\n{\nOFFSET 1 0 0\n}\n",
                     BVH, NULL);
    ck_assert_int_eq(poise_model_info(file->model).joints, 4);
    ck_assert_str_eq(poise_model_joint_info(file->model, 0).name, "a b");
    ck_assert_str_eq(poise_model_joint_info(file->model, 1).name, "a b_2");
    ck_assert_str_eq(poise_model_joint_info(file->model, 2).name, "joint");
    ck_assert_int_eq(poise_model_joint_info(file->model, 3).parent, POISE_WORLD);
    ck_assert_int_ge(poise_model_find_tool(file->model, "joint.tip"), 0);
    ck_assert_int_ge(poise_model_find_tool(file->model, "joint.tip2"), 0);
    ck_assert(io_warned(file, 6, "the name is already used") && io_warned(file, 10, "without a name"));
    io_round_trip(file, BVH, 0);
}

static const io_case broken[] = {
    {"", 1, "begins with the word HIERARCHY"},
    {"\nHIERARCHI\n", 2, "begins with the word HIERARCHY"},
    {"HIERARCHY\n", 2, "no ROOT"},
    {"HIERARCHY\nJOINT a\n", 2, "expected ROOT or MOTION"},
    {"HIERARCHY\nMOTION\n", 2, "expected ROOT or MOTION"},
    {"HIERARCHY\nROOT a\nOFFSET", 3, "{ is missing after it"},
    {"HIERARCHY\nROOT a\n{\nOFFSET 0 0\n}\n", 4, "OFFSET needs three numbers"},
    {"HIERARCHY\nROOT a\n{\nOFFSET 0,00 17,5 0,00\n}\n", 4, "decimal points; \"0,00\" has a comma"},
    {"HIERARCHY\nROOT a\n{\nOFFSET 0 17,5 0\n}\n", 4, "decimal points; \"17,5\" has a comma"},
    {"HIERARCHY\nROOT a\n{\nOFFSET 0 nan 0\n}\n", 4, "OFFSET needs three numbers"},
    {"HIERARCHY\nROOT a\n{\nCHANNELS x\n}\n", 4, "CHANNELS must appear once, followed by a count"},
    {"HIERARCHY\nROOT a\n{\nCHANNELS 0\nCHANNELS 0\n}\n", 5, "CHANNELS must appear once"},
    {"HIERARCHY\nROOT a\n{\nCHANNELS 2 Xposition\n}\n", 4, "says 2 names, but 1 follow"},
    {"HIERARCHY\nROOT a\n{\nCHANNELS 2 Xposition Xposition\n}\n", 4, "is listed twice"},
    {"HIERARCHY\nROOT a\n{\nCHANNELS 4 Xrotation Yrotation Zrotation Xrotation\n}\n", 4, "more than three rotation"},
    {"HIERARCHY\nROOT a\n{\nOFFSET 0 0 0\nJOINT b\n{\nOFFSET 0 0 0\n}\nCHANNELS 1 Xrotation\n}\n", 9,
     "CHANNELS must come before"},
    {"HIERARCHY\nROOT a\n{\nCOLOUR red\n}\n", 4, "expected OFFSET, CHANNELS, JOINT"},
    {"HIERARCHY\nROOT a\n{\nEnd Site\n{\nCHANNELS 0\n}\n}\n", 6, "an End Site may hold only an OFFSET"},
    {"HIERARCHY\nROOT a\n{\nEnd Site\n{\nOFFSET 0 0 0\n", 7, "} is missing"},
    {"HIERARCHY\nROOT a\n{\nOFFSET 0 0 0\n", 5, "the text ends within joint \"a\""},
};

TEST_ROWS(broken_hierarchies_are_refused_with_their_line, TEST_COUNT(broken))
{
    io_case_refused(&broken[test_row], BVH, NULL);
}

// A free root, a hinge about a slanted axis with a limit, a rotation vector with a tool: nothing that BVH has channels for.
static poise_model *build_other_joints(void)
{
    poise_builder *builder;
    ck_assert_int_eq(poise_builder_create(NULL, &builder, NULL), POISE_OK);
    poise_joint joint = poise_joint_default();
    joint.name = "base";
    joint.type = POISE_JOINT_FREE;
    joint.offset = (poise_pose){{0, 0, 0, 1}, {1, 2, 3}};
    ck_assert_int_eq(poise_builder_add_joint(builder, &joint, NULL), POISE_OK);
    joint = poise_joint_default();
    joint.name = "tilted";
    joint.parent = "base";
    joint.type = POISE_JOINT_REVOLUTE;
    joint.axis = poise_vec3_make(1, 1, 0);
    joint.offset = (poise_pose){poise_quat_from_axis_angle(poise_vec3_make(1, 0, 0), 0.5), poise_vec3_make(0, 0, 2)};
    joint.lower[0] = -1;
    ck_assert_int_eq(poise_builder_add_joint(builder, &joint, NULL), POISE_OK);
    joint = poise_joint_default();
    joint.name = "wrist";
    joint.parent = "tilted";
    joint.type = POISE_JOINT_BALL_EXPMAP;
    joint.offset = (poise_pose){{0, 0, 0, 1}, {0.5, 0, 1}};
    joint.mass = 2;
    ck_assert_int_eq(poise_builder_add_joint(builder, &joint, NULL), POISE_OK);
    poise_tool tool = {.name = "camera", .body = "wrist", .pose = poise_pose_identity()};
    ck_assert_int_eq(poise_builder_add_tool(builder, &tool, NULL), POISE_OK);
    poise_model *model;
    ck_assert_int_eq(poise_model_create(builder, NULL, &model, NULL), POISE_OK);
    poise_builder_destroy(builder);
    return model;
}

// Where one joint is computed, every joint has the same three rotations; a hinge keeps its number.
TEST(skeletons_that_are_not_made_of_channels_have_three_rotations_everywhere)
{
    static const char *const names[] = {"hinge", "cross", "stiff"};
    static const poise_joint_type types[] = {POISE_JOINT_REVOLUTE, POISE_JOINT_UNIVERSAL, POISE_JOINT_FIXED};
    poise_builder *builder;
    ck_assert_int_eq(poise_builder_create(NULL, &builder, NULL), POISE_OK);
    poise_joint joint = poise_joint_default();
    joint.name = "ball";
    joint.type = POISE_JOINT_BALL_EXPMAP;
    ck_assert_int_eq(poise_builder_add_joint(builder, &joint, NULL), POISE_OK);
    for (int k = 0; k < 3; ++k) {
        joint = poise_joint_default();
        joint.name = names[k];
        joint.parent = k == 0 ? "ball" : names[k - 1];
        joint.type = types[k];
        joint.axis = k == 0 ? poise_vec3_make(0, 1, 0) : poise_vec3_make(1, 0, 0);
        joint.axis2 = poise_vec3_make(0, 0, 1); // X before Z: not as the others have it
        joint.offset.position = poise_vec3_make(0.1, 1, 0.2);
        ck_assert_int_eq(poise_builder_add_joint(builder, &joint, NULL), POISE_OK);
    }
    poise_file file = {.format = BVH};
    ck_assert_int_eq(poise_model_create(builder, NULL, &file.model, NULL), POISE_OK);
    ck_assert_int_eq(poise_clip_create(1, poise_model_info(file.model).nq, 0.1, NULL, &file.clip, NULL), POISE_OK);
    const double q[6] = {0.3, -0.2, 0.5, 0.7, -0.6, 0.4};
    memcpy(file.clip->q, q, sizeof q);
    io_write_warns(&file, BVH, "1 joint does not fit BVH channels; all joints are written as angles Z X Y");
    io_bytes text = io_write(&file, BVH, 1);
    poise_file *again = io_read(text.bytes, text.size, BVH, NULL);
    for (int k = 0; k < 4; ++k) {
        const poise_joint *given = poise_model_joint_info(again->model, k).given;
        ck_assert(given->type == POISE_JOINT_BALL_EULER && given->order == POISE_EULER_ZXY);
    }
    for (int k = 0; k < 3; ++k) {
        poise_vec3 p = io_place(file.model, file.clip, 0, names[k]);
        const double expected[3] = {p.x, p.y, p.z};
        io_near(io_place(again->model, again->clip, 0, names[k]), expected, 1e-14, names[k]);
    }
    ck_assert(again->clip->q[3] == 0 && again->clip->q[4] == 0);
    ck_assert_double_eq_tol(again->clip->q[5], 0.7, 1e-16);
    ck_assert(again->clip->q[9] == 0 && again->clip->q[10] == 0 && again->clip->q[11] == 0);
    poise_clip_destroy(file.clip);
    poise_model_destroy(file.model);
    poise_builder_destroy(builder);
}

#define SIX "CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation\n"

// A root of three positions and three rotations with an OFFSET, and a joint below it that has the same.
static const char six_channels[] = "HIERARCHY\nROOT hips\n{\nOFFSET 0 93.9 -3\n" SIX
                                   "JOINT spine\n{\nOFFSET 15.7 0.3 0\n" SIX "End Site\n{\nOFFSET 9 0 0\n}\n}\n}\n"
                                   "MOTION\nFrames: 2\nFrame Time: 0.04\n";

// What an edit makes of numbers has bits that no sum with the offset keeps, and its first frame may lie on the ground.
// Joints and channels stay what they were all the same.
static const struct {
    const char *name, *rows;
    double height; // of the hips after the edit
} edited[] = {
    {"positions that replace", "1 88 3 4 5 6 15.7 0.3 0 7 8 9\n1 87 3 4 5 6 15.7 0.3 0 7 8 9\n", 1.0 / 3},
    {"positions that add", "1 2 3 4 5 6 0.1 0.1 0 7 8 9\n1 3 3 4 5 6 0.1 0.1 0 7 8 9\n", 1.0 / 3},
    {"a figure that lies", "1 88 3 4 5 6 15.7 0.3 0 7 8 9\n1 87 3 4 5 6 15.7 0.3 0 7 8 9\n", -80 - 1.0 / 3},
};

TEST_ROWS(an_edited_file_keeps_its_joints_and_channels, TEST_COUNT(edited))
{
    char text[1024];
    snprintf(text, sizeof text, "%s%s", six_channels, edited[test_row].rows);
    poise_file *file = io_read_text(text, BVH, NULL);
    for (int f = 0; f < 2; ++f) {
        double *q = file->clip->q + f * file->clip->nq;
        q[0] += 1.0 / 7, q[1] = edited[test_row].height, q[6] += 1.0 / 300, q[7] -= 1.0 / 700;
    }
    io_bytes written = io_write(file, BVH, 0);
    poise_file *again = io_read(written.bytes, written.size, BVH, NULL);
    written.bytes[written.size - 1] = '\0';
    ck_assert_ptr_null(strstr((char *)written.bytes, ".offset"));
    ck_assert_int_eq(poise_model_info(again->model).joints, 2);
    for (int f = 0; f < 2; ++f) {
        for (int k = 0; k < 2; ++k) {
            const char *body = poise_model_joint_info(file->model, k).body;
            poise_vec3 p = io_place(file->model, file->clip, f, body);
            const double expected[3] = {p.x, p.y, p.z};
            io_near(io_place(again->model, again->clip, f, body), expected, 1e-13, body);
        }
    }
}

TEST(other_joints_are_written_as_angles_in_the_same_pose)
{
    poise_file file = {.format = BVH, .model = build_other_joints()};
    ck_assert_int_eq(poise_clip_create(40, poise_model_info(file.model).nq, 0.1, NULL, &file.clip, NULL), POISE_OK);
    for (int f = 0; f < 40; ++f) {
        double *q = file.clip->q + f * file.clip->nq;
        poise_quat turn = poise_quat_from_axis_angle(poise_vec3_make(0.1, 1, 0.2), 0.3 * f);
        const double row[11] = {0.1 * f, 1, -2, turn.x, turn.y, turn.z, turn.w, 0.05 * f, 0.04 * f, -0.03 * f, 0.7};
        memcpy(q, row, sizeof row);
    }
    io_write_warns(&file, BVH, "3 joints do not fit BVH channels");
    io_write_warns(&file, BVH, "limits of 1 coordinate");
    io_write_warns(&file, BVH, "1 tool that is not a bone tip");
    io_write_warns(&file, BVH, "the mass of 1 body");
    io_bytes text = io_write(&file, BVH, 2);
    poise_file *again = io_read(text.bytes, text.size, BVH, NULL);
    for (int f = 0; f < 40; ++f) {
        static const char *const names[] = {"base", "tilted", "wrist"};
        for (int k = 0; k < 3; ++k) {
            poise_vec3 p = io_place(file.model, file.clip, f, names[k]);
            const double expected[3] = {p.x, p.y, p.z};
            // angles good to a few units of 2^-52 over lengths below 10
            io_near(io_place(again->model, again->clip, f, names[k]), expected, 1e-13, names[k]);
        }
        for (int c = 3; f > 0 && c < 6; ++c) { // no angle jumps
            double step = again->clip->q[f * again->clip->nq + c] - again->clip->q[(f - 1) * again->clip->nq + c];
            ck_assert(step < 0.5 && step > -0.5);
        }
    }
    file.clip->q[3] = file.clip->q[4] = file.clip->q[5] = file.clip->q[6] = 0;
    io_write_refused(&file, BVH, "frame 0: a zero quaternion");
    file.clip->q[12] = 0.0 / 0.0;
    file.clip->q[3] = 1;
    io_write_refused(&file, BVH, "frame 1: coordinate 1 is not finite");
    file.clip->nq = 3;
    io_write_refused(&file, BVH, "the clip has 3 numbers per frame, but its model has 11");
    poise_clip_destroy(file.clip);
    poise_model_destroy(file.model);
    file.model = NULL;
    io_write_refused(&file, BVH, "no model");
}

// Turns about x, the middle one of Z X Y: past a quarter the outer angles would flip by half a turn.
TEST(angles_go_on_through_a_somersault)
{
    poise_file file = {.format = BVH, .model = build_other_joints()};
    ck_assert_int_eq(poise_clip_create(41, poise_model_info(file.model).nq, 0.1, NULL, &file.clip, NULL), POISE_OK);
    for (int f = 0; f < 41; ++f) {
        poise_quat turn = poise_quat_from_axis_angle(poise_vec3_make(1, 0.01, 0), 0.2 * f);
        const double row[11] = {0, 0, 0, turn.x, turn.y, turn.z, turn.w};
        memcpy(file.clip->q + f * file.clip->nq, row, sizeof row);
    }
    io_bytes text = io_write(&file, BVH, 2);
    poise_file *again = io_read(text.bytes, text.size, BVH, NULL);
    for (int f = 1; f < 41; ++f) {
        for (int c = 3; c < 6; ++c) {
            double step = again->clip->q[f * again->clip->nq + c] - again->clip->q[(f - 1) * again->clip->nq + c];
            ck_assert_msg(fabs(step) < 0.5, "frame %d, angle %d: %g", f, c - 3, step);
        }
    }
    poise_clip_destroy(file.clip);
    poise_model_destroy(file.model);
}

// A machine with z up stands in a BVH with y up: x, y, z become z, x, y. One that does not say it stays.
TEST(skeletons_are_written_with_y_up)
{
    static const struct {
        poise_up up;
        int place[3]; // of x, y, z among those that were
    } cases[] = {{POISE_UP_Z, {1, 2, 0}}, {POISE_UP_X, {2, 0, 1}}, {POISE_UP_Y, {0, 1, 2}}, {POISE_UP_UNKNOWN, {0, 1, 2}}};
    static const char *const names[] = {"base", "tilted", "wrist"};
    for (size_t i = 0; i < TEST_COUNT(cases); ++i) {
        poise_file file = {.model = build_other_joints(), .scale = {1, cases[i].up}};
        ck_assert_int_eq(poise_clip_create(2, poise_model_info(file.model).nq, 0.1, NULL, &file.clip, NULL), POISE_OK);
        const double row[22] = {0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0.1, 0.2, 0.3, 0.6, 0, 0, 0.8, 0.5, 0.4, 0.3, 0.2};
        memcpy(file.clip->q, row, sizeof row);
        io_bytes text = io_write(&file, BVH, 2);
        poise_file *again = io_read(text.bytes, text.size, BVH, NULL);
        for (int f = 0; f < 2; ++f) {
            for (int k = 0; k < 3; ++k) {
                poise_vec3 p = io_place(file.model, file.clip, f, names[k]);
                const double was[3] = {p.x, p.y, p.z};
                const double expected[3] = {was[cases[i].place[0]], was[cases[i].place[1]], was[cases[i].place[2]]};
                io_near(io_place(again->model, again->clip, f, names[k]), expected, 1e-13, names[k]);
            }
        }
        poise_clip_destroy(file.clip);
        poise_model_destroy(file.model);
    }
}

// Where joints are made of channels, these take each other's places, and a skeleton without a motion stands upright, too.
TEST(a_turned_skeleton_keeps_its_numbers)
{
    poise_file *file = io_read_text(document_bvh, BVH, NULL);
    file->scale.up = POISE_UP_Z;
    io_bytes text = io_write(file, BVH, 0);
    poise_file *again = io_read(text.bytes, text.size, BVH, NULL);
    ck_assert_int_eq(poise_model_joint_info(again->model, 0).given->order, POISE_EULER_YZX);
    ck_assert_double_eq(poise_model_joint_info(again->model, 2).given->axis.z, 1);
    ck_assert_int_eq(again->clip->nq, file->clip->nq);
    for (int f = 0; f < 3; ++f) {
        const double *q = file->clip->q + f * 12, *turned = again->clip->q + f * 12;
        ck_assert_mem_eq(turned + 3, q + 3, 9 * sizeof *q);
        poise_vec3 p = io_place(file->model, file->clip, f, "knee");
        const double expected[3] = {p.y, p.z, p.x};
        io_near(io_place(again->model, again->clip, f, "knee"), expected, 1e-13, "knee");
    }
    poise_clip_destroy(file->clip);
    file->clip = NULL;
    text = io_write(file, BVH, 0);
    again = io_read(text.bytes, text.size, BVH, NULL);
    poise_vec3 tip = poise_model_tool_info(again->model, 0).pose.position;
    ck_assert_double_eq(tip.x, -4.5); // that was y
}

// Rest rotations have no place in the hierarchy: a frame holds them.
TEST(a_skeleton_without_a_motion_keeps_its_neutral_pose)
{
    static const char *const names[] = {"base", "tilted", "wrist"};
    poise_file file = {.model = build_other_joints()};
    io_write_warns(&file, BVH, "there is no motion: its one frame is the neutral pose");
    io_bytes text = io_write(&file, BVH, -1);
    poise_file *again = io_read(text.bytes, text.size, BVH, NULL);
    ck_assert_int_eq(again->clip->frames, 1);
    ck_assert_int_eq(poise_clip_create(1, poise_model_info(file.model).nq, 0.1, NULL, &file.clip, NULL), POISE_OK);
    poise_model_neutral(file.model, file.clip->q);
    for (int k = 0; k < 3; ++k) {
        poise_vec3 p = io_place(file.model, file.clip, 0, names[k]);
        const double expected[3] = {p.x, p.y, p.z};
        io_near(io_place(again->model, again->clip, 0, names[k]), expected, 1e-13, names[k]);
    }
    poise_clip_destroy(file.clip);
    poise_model_destroy(file.model);
}

// A chain of three bodies from the root, each one further along x; the last has a tool, a mass, or nothing.
static poise_model *build_chain(const char *tool, double mass, double turn)
{
    poise_builder *builder;
    poise_model *model;
    static const char *const names[] = {"upper", "lower", "hand"};
    ck_assert_int_eq(poise_builder_create(NULL, &builder, NULL), POISE_OK);
    for (int k = 0; k < 3; ++k) {
        poise_joint joint = poise_joint_default();
        joint.name = names[k];
        joint.parent = k > 0 ? names[k - 1] : NULL;
        joint.type = POISE_JOINT_BALL_QUATERNION;
        joint.offset.position = poise_vec3_make(k == 1 ? 3 : k == 2 ? 2 : 0, 0, 0);
        joint.offset.rotation = poise_quat_from_axis_angle(poise_vec3_make(0, 0, 1), k == 2 ? turn : 0);
        joint.mass = k == 2 ? mass : 0;
        joint.mass_center = poise_vec3_make(0.4, 0, 0.1);
        ck_assert_int_eq(poise_builder_add_joint(builder, &joint, NULL), POISE_OK);
    }
    poise_tool near = {.name = "palm", .body = "hand", .pose = poise_pose_identity()}, far = near;
    near.pose.position = poise_vec3_make(0.1, 0, 0);
    far.name = "finger", far.pose.position = poise_vec3_make(0, 0.9, 0);
    if (tool) {
        ck_assert_int_eq(poise_builder_add_tool(builder, &near, NULL), POISE_OK);
        ck_assert_int_eq(poise_builder_add_tool(builder, &far, NULL), POISE_OK);
    }
    ck_assert_int_eq(poise_model_create(builder, NULL, &model, NULL), POISE_OK);
    poise_builder_destroy(builder);
    return model;
}

// Its farthest tool, twice the way to its centre of mass, or a share of the bone above, in its own frame.
TEST(a_body_on_which_nothing_hangs_gets_an_end_site)
{
    static const struct {
        const char *tool;
        double mass, turn, end[3];
    } cases[] = {{"finger", 1, 0, {0, 0.9, 0}},
                 {NULL, 1, 0, {0.8, 0, 0.2}},
                 {NULL, 0, 0, {0.6, 0, 0}},
                 {NULL, 0, 1.57079632679489662, {0, -0.6, 0}}};
    for (size_t i = 0; i < TEST_COUNT(cases); ++i) {
        poise_file file = {.model = build_chain(cases[i].tool, cases[i].mass, cases[i].turn)};
        io_bytes text = io_write(&file, BVH, -1);
        poise_file *again = io_read(text.bytes, text.size, BVH, NULL);
        ck_assert_int_eq(poise_model_info(again->model).tools, 1);
        poise_tool_info tip = poise_model_tool_info(again->model, 0);
        ck_assert_str_eq(tip.name, "hand.tip");
        io_near(tip.pose.position, cases[i].end, 1e-15, "end");
        poise_model_destroy(file.model);
    }
}

// ---- Io bvh files -------------------------------------------------------------------------------------------------------
//
// BVH: files of others, and what is known of them.

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
