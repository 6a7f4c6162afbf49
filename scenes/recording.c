// Recordings of the humanoids.
#include "recording.h"

#include "random.h"
#include "scenes.h"

#include <poise/kinematics.h>

#include <math.h>

enum { MOST_MARKERS = 64, GAP_FRAMES = 10 };
#define SWAP_FROM 0.5 // of the recording
#define SWAP_TO   0.6

scene_recording scene_recording_default(void)
{
    return (scene_recording){.periods = 1, .rate = 120, .seed = 41};
}

scene_recording scene_recording_noisy(void)
{
    scene_recording how = scene_recording_default();
    how.noise = 3e-3;
    how.gaps = 0.03;
    how.swapped = true;
    return how;
}

static poise_vec3 with_noise(poise_vec3 p, double noise, scene_random *random)
{
    p.x += noise * scene_random_normal(random);
    p.y += noise * scene_random_normal(random);
    p.z += noise * scene_random_normal(random);
    return p;
}

// Spoil one frame: noise on every point, gaps that go on for some frames (`left` of them, by marker).
static void spoil(poise_vec3 *points, int count, const scene_recording *how, scene_random *random, int *left)
{
    // a gap begins with the chance that makes the wanted share of points fall into one
    double chance = how->gaps / (1 - how->gaps) / GAP_FRAMES;
    for (int i = 0; i < count; ++i) {
        points[i] = with_noise(points[i], how->noise, random);
        bool begins = scene_random_uniform(random) < chance;
        left[i] = left[i] > 0 ? left[i] - 1 : begins ? GAP_FRAMES : 0;
        if (left[i] > 0) {
            points[i] = poise_vec3_make(NAN, NAN, NAN);
        }
    }
}

// From the true frames of the clip to what is seen of them.
static poise_status see(const poise_model *model, const scene_marker *places, const scene_recording *how,
                        const poise_clip *clip, poise_markers *markers)
{
    poise_kinematics *kinematics;
    poise_status status = poise_kinematics_create(model, NULL, &kinematics, NULL);
    if (status != POISE_OK) {
        return status;
    }
    scene_random random = scene_random_make(how->seed);
    int left[MOST_MARKERS] = {0};
    int knee = poise_markers_find(markers, "left_knee"), other = poise_markers_find(markers, "right_knee");
    for (int f = 0; f < clip->frames && status == POISE_OK; ++f) {
        poise_vec3 *points = markers->position + (size_t)f * (size_t)markers->count;
        status = poise_kinematics_update(kinematics, clip->q + (size_t)f * (size_t)clip->nq, NULL);
        for (int i = 0; i < markers->count; ++i) {
            points[i] = poise_kinematics_point(kinematics, places[i].body, places[i].local);
        }
        if (how->noise > 0 || how->gaps > 0) {
            spoil(points, markers->count, how, &random, left);
        }
        if (how->swapped && f >= SWAP_FROM * clip->frames && f < SWAP_TO * clip->frames && knee >= 0 && other >= 0) {
            poise_vec3 p = points[knee];
            points[knee] = points[other];
            points[other] = p;
        }
    }
    poise_kinematics_destroy(kinematics);
    return status;
}

static poise_status record_markers(const poise_model *model, const char *scene, const scene_recording *how,
                                   const poise_clip *clip, poise_markers **markers)
{
    scene_marker places[MOST_MARKERS];
    const char *labels[MOST_MARKERS];
    int count = scene_markers(scene, places, MOST_MARKERS);
    if (count <= 0 || count > MOST_MARKERS) {
        return POISE_ERROR_UNSUPPORTED;
    }
    for (int i = 0; i < count; ++i) {
        labels[i] = places[i].name;
    }
    poise_status status = poise_markers_create(clip->frames, count, how->rate, labels, NULL, markers, NULL);
    if (status != POISE_OK) {
        return status;
    }
    (*markers)->scale = (poise_scale){.metres = 1, .up = POISE_UP_Y};
    status = see(model, places, how, clip, *markers);
    if (status != POISE_OK) {
        poise_markers_destroy(*markers);
    }
    return status;
}

poise_status scene_record(const poise_model *model, const char *scene, const char *motion, const scene_recording *how,
                          poise_clip **clip, poise_markers **markers)
{
    double duration = scene_motion_duration(motion);
    if (duration == 0) {
        return POISE_ERROR_NOT_FOUND;
    }
    int frames = (int)(how->periods * duration * how->rate + 0.5);
    poise_clip *film;
    poise_status status = poise_clip_create(frames, poise_model_info(model).nq, 1 / how->rate, NULL, &film, NULL);
    if (status != POISE_OK) {
        return status;
    }
    for (int f = 0; f < frames && status == POISE_OK; ++f) {
        status = scene_motion_pose(model, motion, f / how->rate, film->q + (size_t)f * (size_t)film->nq);
    }
    if (status == POISE_OK && markers) {
        status = record_markers(model, scene, how, film, markers);
    }
    if (status != POISE_OK || !clip) {
        poise_clip_destroy(film);
    } else {
        *clip = film;
    }
    return status;
}
