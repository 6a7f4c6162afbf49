// Figures with arms and legs whose bodies have names of the test's choice.
#ifndef MOTION_NAMED_FIGURES_H
#define MOTION_NAMED_FIGURES_H

#include "support/test_main.h"

#include <poise/poise.h>

#include <stdio.h>
#include <string.h>

typedef struct named {
    const char *thigh, *shank, *foot, *upper_arm, *forearm, *hand; // of the left side; R for the right
} named;

static inline void add_joint(poise_builder *b, const char *name, const char *parent, double x, double y, double z)
{
    poise_joint joint = poise_joint_default();
    const char *slash = strchr(name, '/'), *above = parent ? strchr(parent, '/') : NULL; // "JOINT/BODY" has two names
    char own[64];
    snprintf(own, sizeof own, "%.*s", slash ? (int)(slash - name) : (int)strlen(name), name);
    joint.name = own;
    joint.body = slash ? slash + 1 : NULL;
    joint.parent = above ? above + 1 : parent;
    joint.type = parent ? POISE_JOINT_BALL_QUATERNION : POISE_JOINT_FREE;
    joint.offset.position = poise_vec3_make(x, y, z);
    ck_assert_int_eq(poise_builder_add_joint(b, &joint, NULL), POISE_OK);
}

// A figure with arms and legs, its left side named as given and its right one by another word for the side. `top` (NULL:
// none) hangs from its head.
static inline void add_figure(poise_builder *b, const named *left, const named *right, const char *trunk, const char *chest,
                              const char *head, const char *top)
{
    add_joint(b, trunk, NULL, 0, 1, 0);
    add_joint(b, chest, trunk, 0, 0.3, 0);
    add_joint(b, head, chest, 0, 0.2, 0);
    if (top) {
        add_joint(b, top, head, 0, 0.02, 0);
    }
    for (int side = 0; side < 2; ++side) {
        const named *n = side == 0 ? left : right;
        double x = side == 0 ? 1 : -1;
        add_joint(b, n->thigh, trunk, 0.1 * x, 0, 0);
        add_joint(b, n->shank, n->thigh, 0, -0.45, 0);
        add_joint(b, n->foot, n->shank, 0, -0.42, 0);
        add_joint(b, n->upper_arm, chest, 0.2 * x, 0.1, 0);
        add_joint(b, n->forearm, n->upper_arm, 0.3 * x, 0, 0);
        add_joint(b, n->hand, n->forearm, 0.25 * x, 0, 0);
    }
}

static inline poise_model *figure_with(const named *left, const named *right, const char *head, const char *top)
{
    poise_builder *b;
    poise_model *model;
    ck_assert_int_eq(poise_builder_create(NULL, &b, NULL), POISE_OK);
    add_figure(b, left, right, "Trunk", "Breast", head, top);
    ck_assert_int_eq(poise_model_create(b, NULL, &model, NULL), POISE_OK);
    poise_builder_destroy(b);
    return model;
}

static inline poise_model *figure(const named *left, const named *right)
{
    return figure_with(left, right, "Head", NULL);
}

#endif
