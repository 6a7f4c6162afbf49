// A scene's walk, and what its markers record of it.
#ifndef TEST_RECORDED_WALK_H
#define TEST_RECORDED_WALK_H

#include "support/test_main.h"

#include <poise/track.h>
#include <scenes/scenes.h>

enum { MOST = 64 }; // markers

typedef struct take {
    poise_model *model;
    poise_clip *clip;
    scene_marker sites[MOST];
    poise_placement placements[MOST];
    int count;
    poise_markers *markers;
} take;

// Markers in the units and axes of `scale`. The placements point into the take, which must stay where it is.
static inline void record_walk(take *t, const char *scene, poise_scale scale, int frames, double rate)
{
    *t = (take){.count = scene_markers(scene, NULL, 0)};
    ck_assert_int_eq(scene_create(scene, NULL, &t->model, NULL), POISE_OK);
    scene_markers(scene, t->sites, MOST);
    for (int i = 0; i < t->count; ++i) {
        t->placements[i] = (poise_placement){t->sites[i].name, t->sites[i].body, t->sites[i].local, 1.0};
    }
    int nq = poise_model_info(t->model).nq;
    ck_assert_int_eq(poise_clip_create(frames, nq, 1.0 / rate, NULL, &t->clip, NULL), POISE_OK);
    for (int f = 0; f < frames; ++f) {
        scene_motion_pose(t->model, "walk", f / rate, t->clip->q + f * nq);
    }
    ck_assert_int_eq(poise_markers_from_clip(t->model, t->clip, scale, t->placements, t->count, NULL, &t->markers, NULL),
                     POISE_OK);
}

static inline void forget(take *t)
{
    poise_markers_destroy(t->markers);
    poise_clip_destroy(t->clip);
    poise_model_destroy(t->model);
}

#endif
