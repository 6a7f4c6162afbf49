// A right hand. It stands on its wrist, fingers along +z, palm towards +x, thumb towards +y.
//
// Every finger has two axes at its knuckle, a middle joint, and a last joint that follows the middle one as tendons make it
// do. 17 degrees of freedom: 2 at the wrist, 3 for each finger. Bending is positive, towards the palm.
#include "scene_builder.h"

#include <stdio.h>

typedef struct finger {
    const char *name;
    poise_vec3 knuckle;                   // in the palm's frame
    double turn, lean;                    // degrees: the root of the finger turned about z, then leaning about x
    double first, second, third;          // lengths of the bones
    double spread[2], bend[2], middle[2]; // ranges in degrees
    double follow;                        // angle of the last joint per angle of the middle one
} finger;

static const finger fingers[] = {
    {"thumb", {0.012, 0.03, 0.03}, -50, -50, 0.045, 0.032, 0.027, {-25, 25}, {-20, 50}, {-5, 60}, 1.0},
    {"index", {0, 0.026, 0.095}, 0, -4, 0.043, 0.025, 0.023, {-15, 15}, {-25, 90}, {0, 105}, 0.67},
    {"middle", {0, 0.004, 0.098}, 0, 0, 0.047, 0.029, 0.024, {-12, 12}, {-25, 90}, {0, 105}, 0.67},
    {"ring", {0, -0.016, 0.093}, 0, 4, 0.044, 0.027, 0.024, {-12, 12}, {-25, 90}, {0, 105}, 0.67},
    {"little", {0, -0.035, 0.086}, 0, 9, 0.034, 0.02, 0.021, {-18, 18}, {-25, 95}, {0, 105}, 0.67},
};

static poise_joint two_axes(const char *name, const char *parent, poise_pose offset, poise_vec3 axis, poise_vec3 axis2,
                            const double first[2], const double second[2])
{
    poise_joint joint = scene_hinge(name, parent, offset, axis, deg(first[0]), deg(first[1]));
    joint.type = POISE_JOINT_UNIVERSAL;
    joint.axis2 = axis2;
    joint.lower[1] = deg(second[0]);
    joint.upper[1] = deg(second[1]);
    return joint;
}

static void add_finger(scene_builder *scene, const finger *f)
{
    const poise_vec3 X = {1, 0, 0}, Y = {0, 1, 0}, Z = {0, 0, 1};
    char knuckle[32], middle[32], last[32];
    snprintf(knuckle, sizeof knuckle, "%s_knuckle", f->name);
    snprintf(middle, sizeof middle, "%s_middle", f->name);
    snprintf(last, sizeof last, "%s_last", f->name);

    poise_quat root =
        poise_quat_multiply(poise_quat_from_axis_angle(X, deg(f->lean)), poise_quat_from_axis_angle(Z, deg(f->turn)));
    poise_joint joint = two_axes(knuckle, "palm", (poise_pose){root, f->knuckle}, X, Y, f->spread, f->bend);
    scene_add_joint(scene, &joint);

    joint = scene_hinge(middle, knuckle, at(0, 0, f->first), Y, deg(f->middle[0]), deg(f->middle[1]));
    scene_add_joint(scene, &joint);

    joint = scene_hinge(last, middle, at(0, 0, f->second), Y, deg(-10), deg(75));
    joint.mimic = middle;
    joint.mimic_multiplier = f->follow;
    scene_add_joint(scene, &joint);
    scene_add_tool(scene, f->name, last, at(0, 0, f->third));
}

void scene_build_hand(scene_builder *scene, const char *name)
{
    static const double bend[2] = {-65, 75}, deviation[2] = {-35, 20}; // positive: to the palm, to the thumb
    (void)name;
    poise_joint palm = two_axes("wrist", NULL, at(0, 0, 0), vec(0, 1, 0), vec(-1, 0, 0), bend, deviation);
    palm.body = "palm";
    scene_add_joint(scene, &palm);
    for (int i = 0; i < (int)(sizeof fingers / sizeof fingers[0]); ++i) {
        add_finger(scene, &fingers[i]);
    }
}
