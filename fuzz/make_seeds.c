// Writes the first inputs of every reader's corpus from our own scenes: make_seeds FOLDER makes FOLDER/bvh/arm and so on;
// the folders must be there.
// URDF and MJCF, which Poise does not write, get small files from here.
#include "seed_documents.h"

#include <poise/io.h>
#include <scenes/scenes.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FRAMES 3
#define MADE   1000 // documents by chance; tools/fuzz.sh --minimise keeps those that reach something

static const char urdf[] =
    "<robot name='r'><link name='a'><inertial><origin xyz='1 2 3'/><mass value='2'/></inertial></link><link name='b'/>"
    "<link name='c'/><link name='d'/><joint name='j' type='revolute'><parent link='a'/><child link='b'/>"
    "<origin xyz='.1 0 1' rpy='0 .5 0'/><axis xyz='0 1 0'/><limit lower='-1' upper='2'/></joint>"
    "<joint name='k' type='prismatic'><parent link='b'/><child link='c'/><mimic joint='j' multiplier='2' offset='1'/>"
    "</joint><joint name='l' type='floating'><parent link='a'/><child link='d'/></joint></robot>";

static const char mjcf[] =
    "<mujoco model='m'><compiler angle='radian' eulerseq='xyz'/><default><joint axis='0 1 0'/><default class='c'>"
    "<joint type='slide' range='0 1'/></default></default><worldbody><body name='a'><freejoint/><geom size='1' mass='2'/>"
    "<body name='b' pos='0 0 1' euler='.1 .2 .3'><joint name='k' range='-1 1'/><joint class='c'/><site name='s'/>"
    "<body name='d' quat='1 0 0 1'><joint type='ball'/></body></body></body><include "
    "file='other.xml'/></worldbody></mujoco>";

// For the model of fuzz_goals.c; every kind of goal, rotation and option.
static const char *const goals[] = {
    "position tip 0.4 0.1 0.3 at 0 0 0.1 weight 2; position 'left hand' 1 2 3 tolerance 0.1",
    "pose tip 0.4 0.1 0.3 rpy 0 90 0 deg rotation-weight 0.5 tolerance 0.1 free 0.2 rotation-tolerance 0 0 free deg",
    "orientation \"left hand\" turn z 90 deg rotation-tolerance 5 deg priority 1",
    "orientation arm quaternion 0 0 0 1 weight 3 # a remark",
    "direction arm along 0 0 -1 axis x; direction base along -y",
    "aim arm to 1 0 1.5 axis z at 0.1 0 0",
    "plane arm through 0 0 0 normal z huber 0.1",
    "line tip through 0.3 0 0 along 1, 1, 0 geman-mcclure 0.2",
    "distance arm 0.2 from 0 0 1 priority 2",
    "relative tip to base 0.3 0 0 turn x 0.5 rad",
    "balance 0 0.9 0",
    "posture neutral weight 0.01; stay weight 0.01",
    "posture 0 0 0 1 0.5 -0.5",
};

static const char *folder;

static void put(const char *target, const char *name, const void *bytes, size_t size)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s/%s", folder, target, name);
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(bytes, 1, size, file) != size || fclose(file) != 0) {
        fprintf(stderr, "cannot write %s\n", path);
        exit(EXIT_FAILURE);
    }
}

static void put_file(const poise_file *file, poise_format format, const char *target, const char *name)
{
    void *bytes;
    size_t size;
    poise_error error = {.text = ""};
    if (poise_write(file, format, NULL, &bytes, &size, NULL, NULL, &error) == POISE_OK) {
        put(target, name, bytes, size);
        poise_bytes_release(NULL, bytes);
    } else {
        printf("%s/%s: %s\n", target, name, error.text);
    }
}

// A scene in all formats that can hold it.
static void put_scene(const char *scene)
{
    poise_model *model = NULL;
    poise_clip *clip = NULL;
    poise_markers *markers = NULL;
    if (scene_create(scene, NULL, &model, NULL) != POISE_OK ||
        poise_clip_create(FRAMES, poise_model_info(model).nq, 0.01, NULL, &clip, NULL) != POISE_OK ||
        poise_markers_create(FRAMES, 2, 100.0, NULL, NULL, &markers, NULL) != POISE_OK) {
        exit(EXIT_FAILURE);
    }
    for (int f = 0; f < FRAMES; ++f) {
        poise_model_neutral(model, clip->q + (size_t)f * (size_t)clip->nq);
        poise_model_clamp(model, clip->q + (size_t)f * (size_t)clip->nq, NULL, NULL);
        markers->position[2 * f] = poise_vec3_make(0.25 * f, 1.5, -2.0);
    }
    poise_goal goal = poise_goal_position(0, poise_vec3_make(0.1, 0.0, 0.0), poise_vec3_make(0.5, 0.25, 1.0));
    poise_scale metres = {1.0, POISE_UP_Y};
    poise_file file = {.model = model, .clip = clip, .markers = markers, .goals = &goal, .goal_count = 1, .scale = metres};
    put_file(&file, POISE_FORMAT_BVH, "bvh", scene);
    put_file(&file, POISE_FORMAT_ASF, "asf", scene);
    put_file(&file, POISE_FORMAT_C3D, "c3d", scene);
    put_file(&file, POISE_FORMAT_TRC, "trc", scene);
    put_file(&file, POISE_FORMAT_MOT, "mot", scene);
    put_file(&file, POISE_FORMAT_DH, "dh", scene);
    put_file(&file, POISE_FORMAT_JSON, "json", scene);
    put_file(&file, POISE_FORMAT_GLTF, "gltf", scene);
    char name[64];
    snprintf(name, sizeof name, "%s.glb", scene);
    put_file(&file, POISE_FORMAT_GLB, "gltf", name);
    poise_markers_destroy(markers);
    poise_clip_destroy(clip);
    poise_model_destroy(model);
}

static void put_documents(const char *target, seed_document make, int count)
{
    char text[SEED_DOCUMENT], name[16];
    for (int i = 0; i < count; ++i) {
        make(i, text);
        snprintf(name, sizeof name, "made%d", i);
        put(target, name, text, strlen(text));
    }
}

int main(int count, char **arguments)
{
    static const char *const scenes[] = {"twolink", "erik-a", "erik-c-dh", "gantry", "tree2d"};
    static const char amc[] =
        "#!OML:ASF\n:FULLY-SPECIFIED\n:DEGREES\n1\nroot 0 1 2 10 20 30\na 1 2 3\nb 45\n2\nroot 0 1 2 3 4 5\n"
        "a 0 0 0\nb -1.5e1\n";
    static const char mot[] =
        "run\nversion=1\nnRows=2\nnColumns=3\ninDegrees=yes\nendheader\ntime\ta\tb\n0\t1\t0.5\n0.01\t2\t1\n";
    if (count != 2) {
        fprintf(stderr, "usage: make_seeds FOLDER\n");
        return EXIT_FAILURE;
    }
    folder = arguments[1];
    for (size_t i = 0; i < sizeof scenes / sizeof scenes[0]; ++i) {
        put_scene(scenes[i]);
    }
    put("amc", "amc", amc, strlen(amc));
    put("mot", "mot", mot, strlen(mot));
    put("urdf", "urdf", urdf, strlen(urdf));
    put("mjcf", "mjcf", mjcf, strlen(mjcf));
    for (size_t i = 0; i < sizeof goals / sizeof goals[0]; ++i) {
        char name[8];
        snprintf(name, sizeof name, "goal%zu", i);
        put("goals", name, goals[i], strlen(goals[i]));
    }
    put_documents("osim", seed_osim, MADE);
    put_documents("json", seed_json, MADE);
    put_documents("json_oracle", seed_json_plain, MADE);
    put_documents("goals", seed_goals, MADE);
    put("number", "number", "-1.25e-3", 8);
    put("number", "long", "179769313486231570000000000000000000000000000.5e265", 50);
    return EXIT_SUCCESS;
}
