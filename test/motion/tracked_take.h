// A recording of our own humanoid, and what a tracker makes of it.
#ifndef POISE_TEST_TRACKED_TAKE_H
#define POISE_TEST_TRACKED_TAKE_H

#include "support/test_main.h"

#include <poise/track.h>
#include <scenes/scenes.h>

#include <math.h>
#include <stdlib.h>

#define MARKERS  41
#define RATE     100.0
#define SKELETON "humanoid"

typedef struct take {
    poise_model *model;
    int nq, frames;
    scene_marker markers[MARKERS];
    poise_placement placements[MARKERS];
    poise_clip *truth;
    poise_markers *seen;
    poise_clip *found;
    poise_track_frame *report;
} take;

// On the heap, because placements point to the names of markers.
static inline take *record(const char *motion, int frames)
{
    take *t = calloc(1, sizeof *t);
    t->frames = frames;
    ck_assert_int_eq(scene_create(SKELETON, NULL, &t->model, NULL), POISE_OK);
    t->nq = poise_model_info(t->model).nq;
    ck_assert_int_eq(scene_markers(SKELETON, t->markers, MARKERS), MARKERS);
    for (int i = 0; i < MARKERS; ++i) {
        t->placements[i] = (poise_placement){t->markers[i].name, t->markers[i].body, t->markers[i].local, 1.0};
    }
    ck_assert_int_eq(poise_clip_create(frames, t->nq, 1.0 / RATE, NULL, &t->truth, NULL), POISE_OK);
    for (int f = 0; f < frames; ++f) {
        scene_motion_pose(t->model, motion, f / RATE, t->truth->q + (size_t)f * (size_t)t->nq);
    }
    poise_scale metres = {1.0, POISE_UP_Y};
    ck_assert_int_eq(poise_markers_from_clip(t->model, t->truth, metres, t->placements, MARKERS, NULL, &t->seen, NULL),
                     POISE_OK);
    t->report = calloc((size_t)frames, sizeof *t->report);
    return t;
}

static inline void forget(take *t)
{
    poise_clip_destroy(t->truth);
    poise_clip_destroy(t->found);
    poise_markers_destroy(t->seen);
    poise_model_destroy(t->model);
    free(t->report);
    free(t);
}

static inline poise_vec3 *point(take *t, int frame, int marker)
{
    return &t->seen->position[(size_t)frame * MARKERS + (size_t)marker];
}

static inline void lose(take *t, int frame, int marker)
{
    *point(t, frame, marker) = (poise_vec3){NAN, NAN, NAN};
}

// Tracking all that was recorded.
static inline poise_track_problem problem_of(const take *t)
{
    poise_track_problem problem = poise_track_problem_default();
    problem.model = t->model;
    problem.placements = t->placements;
    problem.placement_count = MARKERS;
    problem.markers = t->seen;
    return problem;
}

// NULL for the defaults.
static inline void track(take *t, const poise_track_problem *given)
{
    poise_track_problem problem = given ? *given : problem_of(t);
    poise_clip_destroy(t->found);
    t->found = NULL;
    poise_error error = {.text = ""};
    poise_status status = poise_track(&problem, NULL, &t->found, t->report, &error);
    ck_assert_msg(status == POISE_OK, "%s", error.text);
}

// Largest distance of any marker's place in the answer from its true place, over frames [first, end).
static inline double worst_error(const take *t, int first, int end)
{
    poise_kinematics *kin[2];
    double worst = 0.0;
    for (int i = 0; i < 2; ++i) {
        poise_kinematics_create(t->model, NULL, &kin[i], NULL);
    }
    for (int f = first; f < end; ++f) {
        poise_kinematics_update(kin[0], t->truth->q + (size_t)f * (size_t)t->nq, NULL);
        poise_kinematics_update(kin[1], t->found->q + (size_t)f * (size_t)t->nq, NULL);
        for (int i = 0; i < MARKERS; ++i) {
            const poise_placement *p = &t->placements[i];
            poise_vec3 a = poise_kinematics_point(kin[0], p->body, p->local);
            poise_vec3 b = poise_kinematics_point(kin[1], p->body, p->local);
            worst = fmax(worst, sqrt(pow(a.x - b.x, 2) + pow(a.y - b.y, 2) + pow(a.z - b.z, 2)));
        }
    }
    poise_kinematics_destroy(kin[0]);
    poise_kinematics_destroy(kin[1]);
    return worst;
}

#endif
