// Planar skeletons: every axis is +z, so that turning joint j moves a point p below it by R(pi/2) (p - p_j).
#include "scene_builder.h"

#include <math.h>
#include <stdio.h>

static const poise_vec3 Z = {0, 0, 1};

// `count` unit links along +x, free to turn all the way; the tool `tip` at the end.
static void row_of_links(scene_builder *scene, int count)
{
    char name[16], parent[16];
    for (int i = 0; i < count; ++i) {
        snprintf(name, sizeof name, "link%d", i + 1);
        snprintf(parent, sizeof parent, "link%d", i);
        poise_joint joint = scene_hinge(name, i ? parent : NULL, at(i ? 1 : 0, 0, 0), Z, -INFINITY, INFINITY);
        scene_add_joint(scene, &joint);
    }
    scene_add_tool(scene, "tip", name, at(1, 0, 0));
}

void scene_build_arm2d(scene_builder *scene, const char *name)
{
    (void)name;
    row_of_links(scene, 5);
}

void scene_build_twolink(scene_builder *scene, const char *name)
{
    (void)name;
    row_of_links(scene, 2);
}

// A trunk of two links along +y; from its end three branches of three links each, along directions 50 degrees apart.
void scene_build_tree2d(scene_builder *scene, const char *name)
{
    static const char *const branch[3] = {"left", "middle", "right"};
    (void)name;
    poise_joint joint = scene_hinge("trunk1", NULL, at(0, 0, 0), Z, deg(-60), deg(60));
    scene_add_joint(scene, &joint);
    joint = scene_hinge("trunk2", "trunk1", at(0, 1, 0), Z, deg(-60), deg(60));
    scene_add_joint(scene, &joint);

    for (int b = 0; b < 3; ++b) {
        double s, c;
        poise_sincos(deg(50 - 50 * b), &s, &c);
        double length = 0.8;
        poise_vec3 along = vec(-s * length, c * length, 0); // +y turned by the angle, to the left for a positive one
        char joint_name[16], parent[16];
        for (int i = 0; i < 3; ++i) {
            snprintf(joint_name, sizeof joint_name, "%s%d", branch[b], i + 1);
            snprintf(parent, sizeof parent, "%s%d", branch[b], i);
            poise_pose offset = i ? at(along.x, along.y, 0) : at(0, 1, 0);
            joint = scene_hinge(joint_name, i ? parent : "trunk2", offset, Z, deg(-120), deg(120));
            scene_add_joint(scene, &joint);
        }
        scene_add_tool(scene, branch[b], joint_name, at(along.x, along.y, 0));
    }
}
