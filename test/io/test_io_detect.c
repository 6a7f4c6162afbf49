// Which format is it? By content, then by name.
#include "support/io_check.h"

#include <poise/io.h>

#include <string.h>

TEST(content_says_the_format)
{
    static const struct {
        const char *text;
        poise_format format;
    } cases[] = {
        {"HIERARCHY\nROOT a\n", POISE_FORMAT_BVH},
        {"\xef\xbb\xbf\r\n  hierarchy\r\n", POISE_FORMAT_BVH},
        {"# AST/ASF file\n:version 1.10\n:name VICON\n", POISE_FORMAT_ASF},
        {":units\n  mass 1.0\n", POISE_FORMAT_ASF},
        {"#!OML:ASF H:\n:FULLY-SPECIFIED\n:DEGREES\n1\nroot 0 0 0\n", POISE_FORMAT_AMC},
        {":DEGREES\n1\n", POISE_FORMAT_AMC},
        {"PathFileType\t4\t(X/Y/Z)\tx.trc\n", POISE_FORMAT_TRC},
        {"Coordinates\nversion=1\nnRows=2\nendheader\ntime x\n", POISE_FORMAT_MOT},
        {"time,shoulder,elbow\n0,1,2\n", POISE_FORMAT_MOT},
        {"a,alpha,d,theta,type\n0.1,0,0,0,revolute\n", POISE_FORMAT_DH},
        {"# arm\njoint; Theta; d; a; alpha\n", POISE_FORMAT_DH},
        {"<robot name='x'/>", POISE_FORMAT_URDF},
        {"<?xml version='1.0'?>\n<!-- <mujoco> -->\n<robot/>", POISE_FORMAT_URDF},
        {"<!DOCTYPE x>\n<mujoco model='x'>", POISE_FORMAT_MJCF},
        {"<html/>", POISE_FORMAT_UNKNOWN},
        {"{\"asset\": {\"version\": \"2.0\"}}", POISE_FORMAT_GLTF},
        {"{\"nodes\": [{\"name\": \"poise\", \"asset\": 1}], \"asset\": {}}", POISE_FORMAT_GLTF},
        {"{\"x\\\"\": 1, \"poise\": 1}", POISE_FORMAT_JSON},
        {"{}", POISE_FORMAT_UNKNOWN},
        {"glTF\x02", POISE_FORMAT_GLB},
        {"\x02P", POISE_FORMAT_C3D},
        {"\nPathFileType", POISE_FORMAT_TRC},
        {"", POISE_FORMAT_UNKNOWN},
        {"<", POISE_FORMAT_UNKNOWN},
        {"{\"", POISE_FORMAT_UNKNOWN},
        {"{\"\\", POISE_FORMAT_UNKNOWN},
        {"<!-", POISE_FORMAT_UNKNOWN},
        {"#", POISE_FORMAT_UNKNOWN},
    };
    for (size_t i = 0; i < TEST_COUNT(cases); ++i) {
        poise_format format = poise_format_detect(cases[i].text, strlen(cases[i].text), NULL);
        ck_assert_msg(format == cases[i].format, "%s: %s", cases[i].text, poise_format_name(format));
    }
}

TEST(files_of_other_formats_are_refused_by_name_with_the_way_out)
{
    static const struct {
        const char *text, *name, *what, *way;
    } cases[] = {
        {"Kaydara FBX Binary  ", NULL, "FBX", "glTF"},
        {"; FBX 7.4.0 project file\n", "x.fbx", "FBX", "Blender"},
        {"1 2 3", "walk.FBX", "FBX", "BVH"},
        {"<root/>", "arm.urdf.xacro", "xacro", "run xacro on the file of the whole robot"},
        {"#usda 1.0\n(", "a.usda", "USD", "glTF"},
        {"PXR-USDC", NULL, "USD", "glTF"},
        {"BLENDER-v300", "a.blend", "Blender", "glTF"},
        {"\x89PNG\r\n\x1a\n", "a.png", "picture", "open the model"},
        {"<?xml version='1.0'?>\n<!-- x -->\n<COLLADA xmlns=''>", "a.xml", "COLLADA", "glTF"},
        {"\x01\x02", "walk.trb", "TRB", "TRC"},
        {"<?xml version='1.0'?><KinematicModel>", "a.vsk", "Vicon skeleton", "C3D"},
        {"binary", "take.mcp", "Vicon recording", "C3D"},
        {"binary", "take.tvd", "Vicon recording", "C3D"},
        {"[Header]\nFileType htr\n", "a.htr", "HTR", "BVH"},
        {"Format Version,1.23,Take Name,Walk", "take.csv", "Motive", "C3D"},
        {"NO_OF_FRAMES\t100\n", "a.tsv", "Qualisys", "C3D"},
        {"{\"producer\":{\"name\":\"3dsmax\"}}", "dude.babylon", "Babylon.js", "glTF"},
        {"PathFileType,4,(X/Y/Z),a.trc,,\n", "a.trc", "commas", "tabs"},
        {"time,knee_angle\n0,1\n", "a.csv", "MOT", "model"},
        {"<mvnx version='4'>", "a.mvnx", "Xsens", "BVH"},
        {"version https://git-lfs.github.com/spec/v1\n", "walk.bvh", "Git LFS", "git lfs pull"},
        {"<!DOCTYPE html>\n<html>", "walk.c3d", "web page", "download"},
        {"\x1f\x8b\x08", "walk.bvh", "compressed", "unpack"},
        {"solid base\n", "base.STL", "a mesh", "URDF"},
        {"v 0 0 0\n", "hand.obj", "a mesh", "MJCF"},
        {"ISO-10303-21;\nHEADER;", "arm", "a CAD file", "URDF"},
        {"hello", "x.xyz", "neither from its content nor from its name", "poise help formats"},
        {"", "x", "empty", ""},
    };
    for (size_t i = 0; i < TEST_COUNT(cases); ++i) {
        poise_read_options options = {0};
        poise_error error = {0};
        poise_file *file = NULL;
        options.name = cases[i].name;
        ck_assert_int_ne(poise_read(cases[i].text, strlen(cases[i].text), &options, NULL, &file, &error), POISE_OK);
        ck_assert_msg(strstr(error.text, cases[i].what) && strstr(error.text, cases[i].way), "%d: %s", (int)i, error.text);
    }
}

TEST(name_says_the_format_where_the_content_does_not)
{
    static const struct {
        const char *name;
        poise_format format;
    } cases[] = {
        {"a.urdf", POISE_FORMAT_URDF}, {"a.b/x.BVH", POISE_FORMAT_BVH}, {"x.C3D", POISE_FORMAT_C3D},
        {"x.sto", POISE_FORMAT_MOT},   {"x.json", POISE_FORMAT_JSON},   {"x.csv", POISE_FORMAT_DH},
        {"x", POISE_FORMAT_UNKNOWN},   {"x.", POISE_FORMAT_UNKNOWN},    {"", POISE_FORMAT_UNKNOWN},
    };
    for (size_t i = 0; i < TEST_COUNT(cases); ++i) {
        ck_assert_int_eq(poise_format_detect("1 2 3", 5, cases[i].name), cases[i].format);
        ck_assert_int_eq(poise_format_detect(NULL, 0, cases[i].name), cases[i].format);
    }
    ck_assert_int_eq(poise_format_detect("HIERARCHY", 9, "x.urdf"), POISE_FORMAT_BVH);
}

TEST_DATA(files_of_others_are_told_by_content, "urdf mjcf bvh asfamc c3d trc gltf opensim")
{
    static const struct {
        const char *path;
        poise_format format;
    } cases[] = {
        {"urdf/panda.urdf", POISE_FORMAT_URDF},
        {"mjcf/humanoid.xml", POISE_FORMAT_MJCF},
        {"bvh/cmu_07_05.bvh", POISE_FORMAT_BVH},
        {"asfamc/11.asf", POISE_FORMAT_ASF},
        {"asfamc/11_01.amc", POISE_FORMAT_AMC},
        {"asfamc/zeros.amc", POISE_FORMAT_AMC},
        {"c3d/btk_MyCube.c3d", POISE_FORMAT_C3D},
        {"trc/btk_Knee.trc", POISE_FORMAT_TRC},
        {"gltf/SimpleSkin.gltf", POISE_FORMAT_GLTF},
        {"gltf/Fox.glb", POISE_FORMAT_GLB},
        {"opensim/gait2354_std_walk1_ik.mot", POISE_FORMAT_MOT},
    };
    for (size_t i = 0; i < TEST_COUNT(cases); ++i) {
        io_bytes file = io_load(cases[i].path);
        poise_format format = poise_format_detect(file.bytes, file.size, "x.txt");
        ck_assert_msg(format == cases[i].format, "%s: %s", cases[i].path, poise_format_name(format));
    }
}

// Where a file may be that another one names: the places in order, and how many there are.
TEST(named_files_have_places)
{
    static const struct {
        const char *folder, *name;
        int number;
        const char *path; // NULL: there are no more
    } rows[] = {
        {"robots/arm", "a.stl", 0, "robots/arm/a.stl"},
        {"robots/arm", "a.stl", 1, NULL},
        {"robots/arm/", "../a.stl", 0, "robots/arm/../a.stl"},
        {"", "a.stl", 0, "a.stl"},
        {"arms", "/robots/a.stl", 0, "/robots/a.stl"},
        {"arms", "file:///robots/a.stl", 0, "/robots/a.stl"},
        {"robots", "file://a.stl", 0, "robots/a.stl"},
        {"robots", "C:/a.stl", 0, "C:/a.stl"},
        {"u", "package://arm/m/a.stl", 0, "u/arm/m/a.stl"},
        {"u", "package://arm/m/a.stl", 1, "u/m/a.stl"},
        {"u", "package://arm/m/a.stl", 2, "u/../arm/m/a.stl"},
        {"u", "package:///arm/m/a.stl", 1, "u/m/a.stl"},
        {"", "model://arm/a.stl", 3, "../a.stl"},
        {"u", "package://arm/m/a.stl", 17, "u/../../../../../../../../m/a.stl"},
        {"u", "package://arm/m/a.stl", 18, NULL},
        {"u", "package://a.stl", 8, "u/../../../../../../../../a.stl"},
        {"u", "package://a.stl", 9, NULL},
        {"u", "package:///arm/m/a.stl", 2, "u/../arm/m/a.stl"},
        {"u", "a.stl", -1, NULL},
        {"a folder that is too long for the path", "a.stl", 0, NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        char path[40];
        bool found = poise_named_file(rows[i].folder, rows[i].name, rows[i].number, path, sizeof path);
        ck_assert_msg(found == (rows[i].path != NULL), "row %d", (int)i);
        ck_assert_str_eq(found ? path : "", rows[i].path ? rows[i].path : "");
    }
    ck_assert(!poise_named_file(NULL, "a", 0, (char[9]){0}, 9) && !poise_named_file("a", NULL, 0, (char[9]){0}, 9));
}

TEST(every_format_has_a_name)
{
    for (int f = 0; f < POISE_FORMAT_COUNT; ++f) {
        const char *name = poise_format_name((poise_format)f);
        ck_assert(name && name[0] != '\0');
        ck_assert_int_eq(strcmp(name, "unknown") == 0, f == POISE_FORMAT_UNKNOWN);
    }
    ck_assert_str_eq(poise_format_name((poise_format)-1), "unknown");
    ck_assert_str_eq(poise_format_name(POISE_FORMAT_COUNT), "unknown");
}
