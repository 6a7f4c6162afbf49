// The table of scenes, and what all of them are built with.
#include "scene_builder.h"

#include <string.h>

typedef struct scene_entry {
    const char *name;
    const char *description;
    void (*build)(scene_builder *scene, const char *name);
} scene_entry;

static const scene_entry table[] = {
    {"arm2d", "planar arm: five unit links along +x, all axes +z", scene_build_arm2d},
    {"tree2d", "planar tree: a trunk with three branches", scene_build_tree2d},
    {"twolink", "planar arm of two unit links along +x", scene_build_twolink},
    {"arm6", "robot arm of 6 hinges, offset at shoulder and wrist", scene_build_arm6},
    {"arm7", "robot arm of 7 hinges, built like a human arm", scene_build_arm7},
    {"scara", "two vertical hinges, a vertical slide, a turning tool", scene_build_scara},
    {"gantry", "three slides with a two-axis wrist", scene_build_gantry},
    {"android", "small humanoid robot of 30 joints, 1.37 m tall", scene_build_android},
    {"hand", "five fingers whose last joints follow those before", scene_build_hand},
    {"lamp", "desk lamp of 6 joints; light along +y of its shade", scene_build_lamp},
    {"erik-a", "ERIK's skeleton A: Y-X-Y, +-90 degrees", scene_build_erik},
    {"erik-b", "ERIK's skeleton B: Y-X-Z-Y, +-180 degrees", scene_build_erik},
    {"erik-c", "ERIK's skeleton C: Y-X-X-Z-Y, +-90 degrees", scene_build_erik},
    {"erik-d", "ERIK's skeleton D: Y-X-Z-X-Y, +-180 degrees", scene_build_erik},
    {"erik-e", "ERIK's skeleton E: Y-X-Z-X-Y, +-90 degrees", scene_build_erik},
    {"erik-f", "ERIK's skeleton F: Y-X-X-Z-X-Y, +-90 degrees", scene_build_erik},
    {"erik-g", "ERIK's skeleton G: Y-X-Z-X-Y-X-Z-Y, +-90 degrees", scene_build_erik},
    {"erik-c-dh", "ERIK's skeleton C from a Denavit-Hartenberg table", scene_build_erik_dh},
    {"humanoid", "human body of 58 degrees of freedom, with limits", scene_build_humanoid},
    {"humanoid-euler", "the same body with Euler angles", scene_build_humanoid},
    {"humanoid-quaternion", "the same body with quaternions", scene_build_humanoid},
    {"tree-62", "tree-<N>: N hinges, branches of six that fork in two", scene_build_family},
    {"chain-62", "chain-<N>: N hinges in a row, axes in turn", scene_build_family},
};

static const int table_size = (int)(sizeof table / sizeof table[0]);

int scene_count(void)
{
    return table_size;
}

const char *scene_name(int scene)
{
    return scene >= 0 && scene < table_size ? table[scene].name : NULL;
}

const char *scene_description(int scene)
{
    return scene >= 0 && scene < table_size ? table[scene].description : NULL;
}

bool scene_has_motions(const char *scene)
{
    for (int i = 0; i < table_size; ++i) {
        if (strcmp(table[i].name, scene) == 0) {
            return table[i].build == scene_build_humanoid;
        }
    }
    return false;
}

bool scene_family_number(const char *name, const char *prefix, int *number)
{
    size_t length = strlen(prefix);
    if (strncmp(name, prefix, length) != 0 || name[length] < '1' || name[length] > '9') {
        return false;
    }
    int n = 0;
    for (const char *c = name + length; *c; ++c) {
        if (*c < '0' || *c > '9' || n > SCENE_LARGEST / 10) {
            return false;
        }
        n = 10 * n + (*c - '0');
    }
    *number = n;
    return n <= SCENE_LARGEST;
}

static void (*find_build(const char *name))(scene_builder *, const char *)
{
    for (int i = 0; i < table_size; ++i) {
        if (strcmp(table[i].name, name) == 0) {
            return table[i].build;
        }
    }
    int number;
    bool family = scene_family_number(name, "tree-", &number) || scene_family_number(name, "chain-", &number);
    return family ? scene_build_family : NULL;
}

// Record a failure of the scene's own.
static void fail(scene_builder *scene, poise_status status, const char *text)
{
    if (scene->status != POISE_OK) {
        return;
    }
    scene->status = status;
    if (scene->error) {
        *scene->error = (poise_error){.status = status};
        size_t length = strlen(text), most = sizeof scene->error->text - 1;
        memcpy(scene->error->text, text, length < most ? length : most);
    }
}

static const char *name_at(const void *user, int index)
{
    (void)user;
    return scene_name(index);
}

// 'no scene is called "arm8"; did you mean "arm7"?'
static void fail_by_name(scene_builder *scene, const char *name)
{
    const char *near = poise_nearest_name(name, name_at, NULL, scene_count());
    const char *const parts[] = {"no scene is called \"", name, "\"", near ? "; did you mean \"" : "", near ? near : "",
                                 near ? "\"?" : ""};
    char text[POISE_ERROR_TEXT_SIZE] = "";
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; ++i) {
        size_t used = strlen(text);
        strncpy(text + used, parts[i], sizeof text - 1 - used);
    }
    fail(scene, POISE_ERROR_NOT_FOUND, text);
}

void scene_add_joint(scene_builder *scene, const poise_joint *joint)
{
    if (scene->status == POISE_OK) {
        scene->status = poise_builder_add_joint(scene->builder, joint, scene->error);
    }
}

void scene_add_tool(scene_builder *scene, const char *name, const char *body, poise_pose pose)
{
    if (scene->status == POISE_OK) {
        poise_tool tool = {.name = name, .body = body, .pose = pose};
        scene->status = poise_builder_add_tool(scene->builder, &tool, scene->error);
    }
}

poise_joint scene_hinge(const char *name, const char *parent, poise_pose offset, poise_vec3 axis, double lower, double upper)
{
    poise_joint joint = poise_joint_default();
    joint.name = name;
    joint.parent = parent;
    joint.type = POISE_JOINT_REVOLUTE;
    joint.offset = offset;
    joint.axis = axis;
    joint.lower[0] = lower;
    joint.upper[0] = upper;
    return joint;
}

poise_status scene_create(const char *name, const poise_allocator *allocator, poise_model **model, poise_error *error)
{
    scene_builder scene = {.error = error};
    if (!name || !model) {
        fail(&scene, POISE_ERROR_ARGUMENT, "scene_create needs a name and a place for the model");
        return scene.status;
    }
    void (*build)(scene_builder *, const char *) = find_build(name);
    if (!build) {
        fail_by_name(&scene, name);
        return scene.status;
    }
    poise_status status = poise_builder_create(allocator, &scene.builder, NULL);
    if (status != POISE_OK) {
        fail(&scene, status, "no memory for a builder");
        return status;
    }
    build(&scene, name);
    if (scene.status == POISE_OK) {
        scene.status = poise_model_create(scene.builder, allocator, model, error);
    }
    poise_builder_destroy(scene.builder);
    return scene.status;
}

int scene_markers(const char *scene, scene_marker *markers, int capacity)
{
    if (!scene || (!markers && capacity > 0)) {
        return 0;
    }
    if (find_build(scene) == scene_build_humanoid) {
        return scene_humanoid_markers(markers, capacity);
    }
    return scene_family_markers(scene, markers, capacity);
}

int scene_marker_count(const char *scene)
{
    return scene_markers(scene, NULL, 0);
}
