// A clip to edit: the humanoid in a motion of its own, and what it was before.
#ifndef POISE_TEST_EDIT_STAGE_H
#define POISE_TEST_EDIT_STAGE_H

#include "support/own.h"

#include <poise/edit.h>
#include <scenes/scenes.h>

#include <math.h>

#define RATE   100
#define FRAMES 200

typedef struct stage {
    poise_model *model;
    poise_clip *clip, *before;
    int nq, nv;
    poise_kinematics *kin;
    poise_pin_result result[4];
    poise_pin_report report;
} stage;

static inline stage open_motion(const char *motion, int rate, int frames)
{
    stage s = {.model = NULL};
    ck_assert_int_eq(scene_create("humanoid", NULL, &s.model, NULL), POISE_OK);
    own_model(s.model);
    s.nq = poise_model_info(s.model).nq, s.nv = poise_model_info(s.model).nv;
    ck_assert_int_eq(poise_clip_create(frames, s.nq, 1.0 / rate, NULL, &s.clip, NULL), POISE_OK);
    own_clip(s.clip);
    for (int f = 0; f < frames; ++f) {
        scene_motion_pose(s.model, motion, (double)f / rate, s.clip->q + (size_t)f * (size_t)s.nq);
    }
    ck_assert_int_eq(poise_clip_trim(s.clip, 0, frames, NULL, &s.before, NULL), POISE_OK);
    own_clip(s.before);
    ck_assert_int_eq(poise_kinematics_create(s.model, NULL, &s.kin, NULL), POISE_OK);
    own_kinematics(s.kin);
    return s;
}

// A walk, two seconds of it.
static inline stage open_walk_at(int rate)
{
    return open_motion("walk", rate, 2 * rate);
}

static inline stage open_walk(void)
{
    return open_walk_at(RATE);
}

static inline const double *row(const poise_clip *clip, int frame)
{
    return clip->q + (size_t)frame * (size_t)clip->nq;
}

static inline poise_pose pose_at(stage *s, const poise_clip *clip, int frame, int body)
{
    ck_assert_int_eq(poise_kinematics_update(s->kin, row(clip, frame), NULL), POISE_OK);
    return poise_kinematics_body_pose(s->kin, body);
}

static inline double apart(poise_vec3 a, poise_vec3 b)
{
    return sqrt((a.x - b.x) * (a.x - b.x) + (a.y - b.y) * (a.y - b.y) + (a.z - b.z) * (a.z - b.z));
}

#endif
