// Building skeletons in tests: every step is checked, and builders, models and figures are released after the test, so that
// a test says only what it is about.
#ifndef TEST_SKELETON_H
#define TEST_SKELETON_H

#include "own.h"
#include "random_model.h"

#include <string.h>

static inline poise_builder *new_builder(void)
{
    poise_builder *builder = NULL;
    ck_assert_int_eq(poise_builder_create(NULL, &builder, NULL), POISE_OK);
    return own_builder(builder);
}

static inline poise_joint joint_of(const char *name, const char *parent, poise_joint_type type)
{
    poise_joint joint = poise_joint_default();
    joint.name = name;
    joint.parent = parent;
    joint.type = type;
    joint.curve = type == POISE_JOINT_CURVE ? random_curves : NULL;
    return joint;
}

static inline void add(poise_builder *builder, const poise_joint *joint)
{
    poise_error error = {0};
    ck_assert_msg(poise_builder_add_joint(builder, joint, &error) == POISE_OK, "%s", error.text);
}

// A joint at its parent's origin.
static inline void add_plain(poise_builder *builder, const char *name, const char *parent, poise_joint_type type)
{
    poise_joint joint = joint_of(name, parent, type);
    add(builder, &joint);
}

static inline poise_model *model_of(const poise_builder *builder)
{
    poise_model *model = NULL;
    poise_error error = {0};
    ck_assert_msg(poise_model_create(builder, NULL, &model, &error) == POISE_OK, "%s", error.text);
    return own_model(model);
}

// ---- A model with a configuration ----------------------------------------------------------------------------------------

#define FIGURE_NUMBERS 256 // room for q and for a step

typedef struct figure {
    poise_model *model;
    poise_kinematics *kin;
    int nq, nv;
    double q[FIGURE_NUMBERS];
} figure;

static inline void update(figure *f)
{
    ck_assert_int_eq(poise_kinematics_update(f->kin, f->q, NULL), POISE_OK);
}

// At the neutral configuration.
static inline figure figure_of(poise_model *model)
{
    figure f = {.model = model, .nq = poise_model_info(model).nq, .nv = poise_model_info(model).nv};
    ck_assert_int_le(f.nq, FIGURE_NUMBERS);
    ck_assert_int_eq(poise_kinematics_create(model, NULL, &f.kin, NULL), POISE_OK);
    own_kinematics(f.kin);
    poise_model_neutral(model, f.q);
    return f;
}

// A random configuration. Rotation vectors stay a little below pi, so that differences do not step across it, where a step
// replaces them.
static inline void pose_randomly(scene_random *random, figure *f)
{
    scene_random_configuration(random, f->model, f->q);
    for (int k = 0; k < poise_model_info(f->model).joints; ++k) {
        poise_joint_type type = poise_model_joint_info(f->model, k).type;
        int first = poise_model_joint_info(f->model, k).q + (type == POISE_JOINT_FREE_EXPMAP ? 3 : 0);
        bool is_vector = type == POISE_JOINT_BALL_EXPMAP || type == POISE_JOINT_FREE_EXPMAP;
        for (int i = 0; i < (is_vector ? 3 : type == POISE_JOINT_SWING_TWIST ? 2 : 0); ++i) {
            f->q[first + i] *= 0.95;
        }
    }
    update(f);
}

static inline figure random_figure(scene_random *random, int count, unsigned features)
{
    figure f = figure_of(own_model(random_model(random, count, features)));
    pose_randomly(random, &f);
    return f;
}

// Two bodies that are free to move; and somewhere, the second so far away along x.
static inline figure two_free_bodies(void)
{
    poise_builder *builder = new_builder();
    poise_joint a = joint_of("a", NULL, POISE_JOINT_FREE_EXPMAP), b = joint_of("b", NULL, POISE_JOINT_FREE_EXPMAP);
    add(builder, &a);
    add(builder, &b);
    return figure_of(model_of(builder));
}

static inline void place_apart(figure *f, scene_random *random, double away)
{
    for (int i = 0; i < f->nq; ++i) {
        f->q[i] = scene_random_range(random, -1, 1) * (i % 6 < 3 ? 0.3 : 1.5);
    }
    f->q[6] += away;
    update(f);
}

#endif
