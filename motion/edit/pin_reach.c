// Pins that are out of reach.
//
// A limb pulled towards a place beyond its reach is stretched long before its fade ends, and snaps there. Such a pin is
// faded to where the limb then came, the nearest place that it reaches; what it misses by stays what it was.
#include "base/arena.h"
#include "base/error.h"
#include "motion/edit/pins.h"

#include <poise/kinematics.h>

#include <math.h>
#include <string.h>

enum { MOST_KEYS = 24 };

static bool strives(const poise_pin *pin, const poise_pin_result *result)
{
    bool is_place = pin->goal.kind == POISE_GOAL_POSITION || pin->goal.kind == POISE_GOAL_POSE;
    bool is_given = pin->target == POISE_PIN_GIVEN || pin->target == POISE_PIN_SHIFT;
    return is_place && is_given && pin->key_count == 0 && result->missed > 1;
}

// The places that the pin's body came to, as keys; `kin` is scratch.
static poise_status keys_of_reach(const poise_pin *pin, const poise_pin_result *result, const poise_clip *clip,
                                  poise_kinematics *kin, poise_pin_key *keys, poise_pin *made)
{
    int frames = result->held_last - result->held_first, count = frames + 1 < MOST_KEYS ? frames + 1 : MOST_KEYS;
    poise_status status = POISE_OK;
    *made = *pin;
    for (int i = 0; i < count && status == POISE_OK; ++i) {
        int f = result->held_first + frames * i / (count - 1);
        status = poise_kinematics_update(kin, clip->q + (size_t)f * (size_t)clip->nq, NULL);
        keys[i] = (poise_pin_key){.time = clip->start_time + f * clip->frame_time, .goal = pin->goal};
        keys[i].goal.target.position = poise_kinematics_point(kin, pin->goal.body, pin->goal.local.position);
    }
    made->target = POISE_PIN_GIVEN;
    made->keys = keys;
    made->key_count = count;
    made->from = -INFINITY;
    made->to = INFINITY;
    return status;
}

// What a second pass needs, in one piece.
typedef struct second_pass {
    poise_pin *pins;
    poise_pin_key *keys;
    poise_pin_result *results; // of the first, where the caller wants none
    double *q;                 // of the clip as it was
} second_pass;

static void lay_out(second_pass *s, int count, size_t numbers, pz_arena *arena)
{
    s->pins = pz_arena_take(arena, (size_t)count + 1, sizeof *s->pins);
    s->keys = pz_arena_take(arena, (size_t)count * MOST_KEYS + 1, sizeof *s->keys);
    s->results = pz_arena_take(arena, (size_t)count, sizeof *s->results);
    s->q = pz_arena_take(arena, numbers + 1, sizeof *s->q);
}

static poise_status pin_again(const poise_model *model, const poise_pin *pins, int count, const poise_pin_options *options,
                              poise_clip *clip, const poise_allocator *allocator, const poise_pin_result *results,
                              second_pass *s, poise_pin_report *report, poise_error *error)
{
    poise_kinematics *kin;
    poise_status status = poise_kinematics_create(model, allocator, &kin, error);
    if (status != POISE_OK) {
        return status;
    }
    for (int i = 0; i < count && status == POISE_OK; ++i) {
        s->pins[i] = pins[i];
        if (strives(&pins[i], &results[i])) {
            status = keys_of_reach(&pins[i], &results[i], clip, kin, s->keys + (size_t)i * MOST_KEYS, &s->pins[i]);
        }
    }
    poise_kinematics_destroy(kin);
    int missed = report->missed;
    memcpy(clip->q, s->q, (size_t)clip->frames * (size_t)clip->nq * sizeof *clip->q);
    status = status == POISE_OK ? pz_clip_pin(model, s->pins, count, options, clip, allocator, NULL, report, error) : status;
    report->missed = missed;
    return status;
}

// The first pass; where a limb pulled out of reach snaps, a second.
static poise_status pin_within_reach(const poise_model *model, const poise_pin *pins, int count,
                                     const poise_pin_options *options, poise_clip *clip, const poise_allocator *allocator,
                                     poise_pin_result *results, second_pass *s, poise_pin_report *report, poise_error *error)
{
    size_t bytes = (size_t)clip->frames * (size_t)clip->nq * sizeof *clip->q;
    bool any = false;
    memcpy(s->q, clip->q, bytes);
    poise_status status = pz_clip_pin(model, pins, count, options, clip, allocator, results, report, error);
    for (int i = 0; i < count && status == POISE_OK; ++i) {
        any = any || strives(&pins[i], &results[i]);
    }
    if (status == POISE_OK && any && report->frames > 0 && report->snap_frame >= 0) {
        status = pin_again(model, pins, count, options, clip, allocator, results, s, report, error);
    }
    if (status != POISE_OK) {
        memcpy(clip->q, s->q, bytes);
    }
    return status;
}

poise_status poise_clip_pin(const poise_model *model, const poise_pin *pins, int count, const poise_pin_options *options,
                            poise_clip *clip, const poise_allocator *allocator, poise_pin_result *results,
                            poise_pin_report *report, poise_error *error)
{
    bool is_whole = model && pins && clip && count > 0 && clip->frames > 0;
    if (!is_whole) { // which says what is wrong
        return pz_clip_pin(model, pins, count, options, clip, allocator, results, report, error);
    }
    second_pass s;
    poise_pin_report unused;
    pz_arena counting = pz_arena_counting();
    size_t numbers = (size_t)clip->frames * (size_t)clip->nq;
    lay_out(&s, count, numbers, &counting);
    size_t size = pz_arena_bytes(&counting);
    void *memory = pz_allocate(allocator, size);
    if (!memory) {
        return pz_error_set(error, POISE_ERROR_MEMORY, "out of memory for %d pins", count);
    }
    pz_arena arena = pz_arena_over(memory, size);
    lay_out(&s, count, numbers, &arena);
    poise_status status = pin_within_reach(model, pins, count, options, clip, allocator, results ? results : s.results, &s,
                                           report ? report : &unused, error);
    pz_release(allocator, memory);
    return status;
}
