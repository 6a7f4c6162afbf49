// Which axis points up in a file: what it says, what its figure shows, and the custom where nothing tells.
#include "support/io_check.h"

#include <stdlib.h>

enum { FRAMES = 6 };

typedef struct bone {
    const char *name;
    int parent;
    double along, aside; // from the parent: along the axis of the trunk, and to the left
} bone;

static const bone figure[] = {
    {"Hips", -1, 0, 0},       {"Spine", 0, 20, 0},          {"Head", 1, 40, 0},         {"LeftUpLeg", 0, -5, 10},
    {"LeftLeg", 3, -40, 0},   {"LeftFoot", 4, -40, 0},      {"RightUpLeg", 0, -5, -10}, {"RightLeg", 6, -40, 0},
    {"RightFoot", 7, -40, 0}, {"LeftArm", 1, 30, 15},       {"LeftForeArm", 9, -25, 0}, {"LeftHand", 10, -22, 0},
    {"RightArm", 1, 30, -15}, {"RightForeArm", 12, -25, 0}, {"RightHand", 13, -22, 0},
};

static void put_bone(io_text *out, const bone *bones, int count, int i, int trunk)
{
    double offset[3] = {0, 0, 0};
    bool has_child = false;
    offset[trunk] = bones[i].along;
    offset[(trunk + 1) % 3] = bones[i].aside;
    io_put(out, "%s %s\n{\nOFFSET %g %g %g\n", i == 0 ? "ROOT" : "JOINT", bones[i].name, offset[0], offset[1], offset[2]);
    io_put(out, "CHANNELS %s\n",
           i == 0 ? "6 Xposition Yposition Zposition Xrotation Yrotation Zrotation" : "3 Xrotation Yrotation Zrotation");
    for (int k = i + 1; k < count; ++k) {
        if (bones[k].parent == i) {
            has_child = true;
            put_bone(out, bones, count, k, trunk);
        }
    }
    if (!has_child) {
        io_put(out, "End Site\n{\nOFFSET 1 0 0\n}\n");
    }
    io_put(out, "}\n");
}

// A BVH whose trunk lies along an axis in its neutral pose, and that is turned as a whole in all frames; degrees about x, z.
// Each thigh turns about z.
static poise_file *turned(const bone *bones, int count, int trunk, double about_x, double about_z, double thigh)
{
    io_text out = {0};
    io_put(&out, "HIERARCHY\n");
    put_bone(&out, bones, count, 0, trunk);
    io_put(&out, "MOTION\nFrames: %d\nFrame Time: 0.1\n", FRAMES);
    for (int f = 0; f < FRAMES; ++f) {
        io_put(&out, "0 0 0 %g 0 %g", about_x, about_z);
        for (int k = 1; k < count; ++k) { // in the order of the file, which is that of the table
            io_put(&out, " 0 0 %g", strstr(bones[k].name, "UpLeg") ? thigh : 0.0);
        }
        io_put(&out, "\n");
    }
    poise_file *file = io_read_text(out.text, POISE_FORMAT_BVH, NULL);
    free(out.text);
    return file;
}

static void is_up(const poise_file *file, poise_up up, poise_up_source source)
{
    poise_up_source found = POISE_UP_BY_FILE;
    ck_assert_int_eq(poise_file_up(file, &found), up);
    ck_assert_int_eq(found, source);
    ck_assert_int_eq(poise_file_up(file, NULL), up);
}

TEST(the_figure_in_a_file_shows_what_is_up)
{
    int count = TEST_COUNT(figure);
    is_up(turned(figure, count, 1, 0, 0, 0), POISE_UP_Y, POISE_UP_BY_FIGURE);
    is_up(turned(figure, count, 2, 0, 0, 0), POISE_UP_Z, POISE_UP_BY_FIGURE);
    is_up(turned(figure, count, 0, 0, 0, 0), POISE_UP_X, POISE_UP_BY_FIGURE);
    is_up(turned(figure, count, 1, 90, 0, 0), POISE_UP_Y, POISE_UP_BY_FIGURE); // who stands at rest may lie down
    is_up(turned(figure, count, 0, 0, 90, 0), POISE_UP_Y, POISE_UP_BY_FIGURE); // laid out along x, and raised
}

// All bones along x, legs beside the trunk, as Rokoko's files have them: nobody stands in this pose.
TEST(a_figure_whose_neutral_pose_is_none_stands_as_it_moves)
{
    bone bones[TEST_COUNT(figure)];
    memcpy(bones, figure, sizeof figure);
    for (size_t k = 0; k < TEST_COUNT(figure); ++k) {
        bool is_of_leg = strstr(bones[k].name, "Leg") || strstr(bones[k].name, "Foot");
        bones[k].along = is_of_leg && !strstr(bones[k].name, "UpLeg") ? -bones[k].along : bones[k].along;
    }
    poise_file *file = turned(bones, TEST_COUNT(figure), 0, 0, 90, 180);
    poise_figure neutral;
    ck_assert_int_eq(poise_model_figure(file->model, &neutral, NULL), POISE_OK);
    ck_assert_int_eq(neutral.up, POISE_UP_X); // which is not what is up
    is_up(file, POISE_UP_Y, POISE_UP_BY_FIGURE);
}

// Nothing tells: y by custom, unless a free tree lies in the plane of the ground of z.
TEST(without_a_figure_custom_and_thickness_tell)
{
    static const bone worm[] = {{"a", -1, 0, 0}, {"b", 0, 10, 1}, {"c", 1, 10, 2}, {"d", 2, 10, -1}};
    is_up(turned(worm, TEST_COUNT(worm), 1, 0, 0, 0), POISE_UP_Y, POISE_UP_BY_CUSTOM);
    is_up(turned(worm, TEST_COUNT(worm), 2, 0, 0, 0), POISE_UP_Z, POISE_UP_BY_CUSTOM);  // along z, thin across
    is_up(turned(worm, TEST_COUNT(worm), 2, 90, 0, 0), POISE_UP_Y, POISE_UP_BY_CUSTOM); // but not as it moves
    is_up(turned(worm, TEST_COUNT(worm), 0, 0, 0, 0), POISE_UP_Y, POISE_UP_BY_CUSTOM);
}

TEST(what_a_file_says_counts)
{
    poise_file *file = turned(figure, TEST_COUNT(figure), 1, 0, 0, 0);
    file->scale.up = POISE_UP_X;
    is_up(file, POISE_UP_X, POISE_UP_BY_FILE);
    const char *arm = "{\"poise\": 1, \"model\": {\"joints\": [{\"name\": \"a\", \"type\": \"revolute\"}]}}";
    is_up(io_read_text(arm, POISE_FORMAT_JSON, NULL), POISE_UP_Z, POISE_UP_BY_CUSTOM);
    poise_file markers = {.format = POISE_FORMAT_C3D};
    is_up(&markers, POISE_UP_UNKNOWN, POISE_UP_BY_FILE);
}
