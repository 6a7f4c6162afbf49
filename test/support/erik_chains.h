// Random chains of hinges for the tests of expressive inverse kinematics, and a model with all that goes with it.
#ifndef TEST_ERIK_CHAINS_H
#define TEST_ERIK_CHAINS_H

#include <poise/poise.h>

#include "own.h"
#include "scenes/random.h"
#include "scenes/scenes.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define CHAIN_MOST 16

// What a chain is made of.
typedef enum chain_kind {
    CHAIN_STRAIGHT, // segments along y, axes along x, y, z, twisters at both ends: like the skeletons of the paper
    CHAIN_GENERAL   // any offsets and axes, fixed joints in between
} chain_kind;

static inline double chain_limit(scene_random *random, bool upper)
{
    double a = scene_random_range(random, 0.3, 3.0);
    return scene_random_index(random, 8) == 0 ? (upper ? INFINITY : -INFINITY) : upper ? a : -a;
}

// One joint; names are the caller's.
static inline poise_joint chain_joint(scene_random *random, chain_kind kind, int number, int count)
{
    static const poise_vec3 axes[3] = {{1, 0, 0}, {0, 0, 1}, {0, 1, 0}};
    poise_joint joint = poise_joint_default();
    bool is_end = number == 0 || number == count - 1;
    joint.type = POISE_JOINT_REVOLUTE;
    joint.lower[0] = chain_limit(random, false);
    joint.upper[0] = chain_limit(random, true);
    joint.offset.position = poise_vec3_make(0, number == 0 ? 0.0 : scene_random_range(random, 0.1, 0.5), 0);
    joint.axis = axes[is_end ? 2 : scene_random_index(random, 3)];
    if (kind == CHAIN_GENERAL) {
        joint.axis = scene_random_direction(random);
        joint.offset.rotation = scene_random_rotation(random);
        joint.offset.position = scene_random_direction(random);
        joint.lower[0] += scene_random_range(random, -0.5, 0.5); // 0 may lie outside
    }
    return joint;
}

// A chain of `count` hinges "j0", "j1", .. with a tool "tip" at its end, about one fixed joint per three hinges when
// GENERAL.
static inline poise_model *chain_make(scene_random *random, chain_kind kind, int count)
{
    poise_builder *builder;
    poise_model *model = NULL;
    char name[16] = "", parent[16] = "";
    if (poise_builder_create(NULL, &builder, NULL) != POISE_OK) {
        return NULL;
    }
    for (int i = 0; i < count; ++i) {
        if (kind == CHAIN_GENERAL && scene_random_index(random, 3) == 0) {
            poise_joint fixed = poise_joint_default();
            snprintf(name, sizeof name, "f%d", i);
            fixed.name = name;
            fixed.parent = parent[0] ? parent : NULL;
            fixed.offset = (poise_pose){scene_random_rotation(random), scene_random_direction(random)};
            poise_builder_add_joint(builder, &fixed, NULL);
            memcpy(parent, name, sizeof parent);
        }
        poise_joint joint = chain_joint(random, kind, i, count);
        snprintf(name, sizeof name, "j%d", i);
        joint.name = name;
        joint.parent = parent[0] ? parent : NULL;
        poise_builder_add_joint(builder, &joint, NULL);
        memcpy(parent, name, sizeof parent);
    }
    poise_tool tip = {"tip", parent, (poise_pose){{0, 0, 0, 1}, {0, 0.2, 0}}};
    if (kind == CHAIN_GENERAL) {
        tip.pose = (poise_pose){scene_random_rotation(random), scene_random_direction(random)};
    }
    poise_builder_add_tool(builder, &tip, NULL);
    poise_model_create(builder, NULL, &model, NULL);
    poise_builder_destroy(builder);
    return own_model(model);
}

// Options that aim the tool "tip".
static inline poise_erik_options chain_options(const poise_model *model)
{
    poise_erik_options options = poise_erik_options_default();
    int tool = poise_model_find_tool(model, "tip");
    options.body = poise_model_tool_info(model, tool).body;
    options.tip = poise_model_tool_info(model, tool).pose;
    return options;
}

// ---- A model with all that goes with it ----------------------------------------------------------------------------------

typedef struct rig {
    poise_model *model;
    poise_erik_options options;
    poise_erik *erik;
    poise_kinematics *kinematics;
    int nq;
} rig;

static inline rig rig_of(poise_model *model, const poise_erik_options *options)
{
    rig r = {.model = model, .options = *options, .nq = poise_model_info(model).nq};
    poise_error error = {0};
    poise_status status = poise_erik_create(model, &r.options, NULL, &r.erik, &error);
    ck_assert_msg(status == POISE_OK, "%s", error.text);
    ck_assert_int_eq(poise_kinematics_create(model, NULL, &r.kinematics, NULL), POISE_OK);
    own_erik(r.erik);
    own_kinematics(r.kinematics);
    return r;
}

static inline poise_model *scene(const char *name)
{
    poise_model *model;
    ck_assert_int_eq(scene_create(name, NULL, &model, NULL), POISE_OK);
    return own_model(model);
}

static inline poise_erik_options scene_options(const poise_model *model)
{
    poise_erik_options options = poise_erik_options_default();
    options.body = poise_model_tool_info(model, 0).body;
    options.tip = poise_model_tool_info(model, 0).pose;
    return options;
}

static inline rig rig_of_scene(const char *name)
{
    poise_model *model = scene(name);
    poise_erik_options options = scene_options(model);
    return rig_of(model, &options);
}

static inline poise_quat end_rotation(rig *r, const double *q)
{
    ck_assert_int_eq(poise_kinematics_update(r->kinematics, q, NULL), POISE_OK);
    return poise_quat_multiply(poise_kinematics_body_pose(r->kinematics, r->options.body).rotation, r->options.tip.rotation);
}

static inline poise_erik_report solve(rig *r, const double *posture, poise_quat target, double *q)
{
    poise_erik_report report;
    ck_assert_int_eq(poise_erik_solve(r->erik, posture, target, q, &report, NULL), POISE_OK);
    return report;
}

// Where joints and tip are, times `scale`.
static inline void positions_of(rig *r, const double *q, double scale, poise_vec3 *positions)
{
    int n = poise_erik_joints(r->erik).count;
    end_rotation(r, q);
    for (int k = 0; k <= n; ++k) {
        poise_vec3 p = k < n ? poise_kinematics_body_pose(r->kinematics, poise_erik_joints(r->erik).links[k].index).position
                             : poise_kinematics_point(r->kinematics, r->options.body, r->options.tip.position);
        positions[k] = poise_vec3_make(scale * p.x, scale * p.y, scale * p.z);
    }
}

#endif
