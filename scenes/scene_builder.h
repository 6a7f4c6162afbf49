// What the sources of the scenes share: degrees, vectors, and a builder that remembers its first failure.
#ifndef POISE_SCENES_SCENE_BUILDER_H
#define POISE_SCENES_SCENE_BUILDER_H

#include "scenes.h"

#define SCENE_PI 3.14159265358979323846

// Degrees to radians, for numbers that people think of in degrees.
static inline double deg(double degrees)
{
    return degrees * (SCENE_PI / 180.0);
}

static inline poise_vec3 vec(double x, double y, double z)
{
    return poise_vec3_make(x, y, z);
}

static inline poise_pose at(double x, double y, double z)
{
    return (poise_pose){{0, 0, 0, 1}, {x, y, z}};
}

// A scene under construction. After the first failure the functions below do nothing, so a scene adds its joints without
// looking and the status is asked for once, at the end.
typedef struct scene_builder {
    poise_builder *builder;
    poise_status status;
    poise_error *error; // may be NULL
} scene_builder;

void scene_add_joint(scene_builder *scene, const poise_joint *joint);
void scene_add_tool(scene_builder *scene, const char *name, const char *body, poise_pose pose);

// A revolute joint, or with a changed `type` a prismatic one, with limits; `body` is called like the joint.
poise_joint scene_hinge(const char *name, const char *parent, poise_pose offset, poise_vec3 axis, double lower,
                        double upper);

// Is `name` one of a family, such as "tree-62" for the prefix "tree-"? Then *number is what follows, 1 to SCENE_LARGEST.
bool scene_family_number(const char *name, const char *prefix, int *number);

// One per source file: the builders by scene name, see scenes.c.
void scene_build_arm2d(scene_builder *scene, const char *name);
void scene_build_tree2d(scene_builder *scene, const char *name);
void scene_build_twolink(scene_builder *scene, const char *name);
void scene_build_arm6(scene_builder *scene, const char *name);
void scene_build_arm7(scene_builder *scene, const char *name);
void scene_build_scara(scene_builder *scene, const char *name);
void scene_build_gantry(scene_builder *scene, const char *name);
void scene_build_android(scene_builder *scene, const char *name);
void scene_build_hand(scene_builder *scene, const char *name);
void scene_build_lamp(scene_builder *scene, const char *name);
void scene_build_erik(scene_builder *scene, const char *name);
void scene_build_erik_dh(scene_builder *scene, const char *name);
void scene_build_humanoid(scene_builder *scene, const char *name);
void scene_build_family(scene_builder *scene, const char *name);

// Markers of the humanoids and of the families; the contract of scene_markers.
int scene_humanoid_markers(scene_marker *markers, int capacity);
int scene_family_markers(const char *scene, scene_marker *markers, int capacity);

#endif
