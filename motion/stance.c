// How high a figure stands: its lowest sole against the ground that it stands on at rest.
//
// A figure whose root can move goes to its goals as a whole, and leaves the ground with no goal being missed. The ground is
// where the lowest sole is in the rest pose; soles are those of retargeting (feet.h).
#include <poise/retarget.h>

#include "base/arena.h"
#include "base/error.h"
#include "motion/findings.h"
#include "motion/retarget/feet.h"
#include "num/real.h"

struct poise_stance {
    vec3 up;
    double leg, ground;
    pz_foot foot[2];
    poise_allocator allocator;
    bool has_allocator;
};

static double lowest_sole(const poise_stance *s, const poise_kinematics *kin)
{
    double lowest = INFINITY;
    for (int side = 0; side < 2; ++side) {
        if (s->foot[side].body >= 0) {
            poise_pose pose = poise_kinematics_body_pose(kin, s->foot[side].body);
            lowest = min2(lowest, pz_sole_height(&s->foot[side], pose, s->up, PZ_HEEL | PZ_TOE, NULL));
        }
    }
    return lowest;
}

// The soles. False: out of memory.
static bool measure_feet(poise_stance *s, const pz_actor *a, const poise_shape *shapes, int count,
                         const poise_allocator *allocator)
{
    size_t room = (size_t)count + 1;
    poise_hull *hulls = pz_allocate(allocator, room * sizeof *hulls);
    vec3 *places = pz_allocate(allocator, room * POISE_HULL_OF_SHAPE * sizeof *places);
    pz_sole_point *corners = pz_allocate(allocator, room * POISE_HULL_OF_SHAPE * sizeof *corners);
    bool works = hulls && places && corners;
    int made = 0;
    for (int i = 0; i < count && works; ++i) {
        vec3 *own = places + (size_t)made * POISE_HULL_OF_SHAPE;
        made += poise_hull_of_shape(&shapes[i], own, &hulls[made], NULL) == POISE_OK;
    }
    for (int side = 0; side < 2 && works; ++side) {
        s->foot[side].corner = corners;
        pz_foot_measure(a, side * POISE_ROLE_SIDE, hulls, made, 0.0, &s->foot[side]);
        s->foot[side].corner = NULL;
    }
    pz_release(allocator, corners);
    pz_release(allocator, places);
    pz_release(allocator, hulls);
    return works;
}

// Soles, and the ground below them: infinitely high where there is no foot. False: out of memory.
static bool measure(poise_stance *s, pz_actor *a, const double *rest, const poise_shape *shapes, int count,
                    const poise_allocator *allocator)
{
    bool works = measure_feet(s, a, shapes, count, allocator);
    s->up = a->up;
    s->leg = a->leg;
    works = works && poise_kinematics_update(a->kin, rest ? rest : a->rest, NULL) == POISE_OK;
    s->ground = works ? lowest_sole(s, a->kin) : INFINITY;
    return works;
}

poise_status poise_stance_create(const poise_model *model, const double *rest, poise_up up, const poise_shape *shapes,
                                 int shape_count, const poise_allocator *allocator, poise_stance **stance,
                                 poise_error *error)
{
    if (!model || !stance || shape_count < 0 || (shape_count > 0 && !shapes)) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "model and stance must not be NULL, nor shapes that are counted");
    }
    poise_clip pose = {.frames = rest ? 1 : 0, .nq = poise_model_info(model).nq, .frame_time = 1.0, .q = (double *)rest};
    pz_actor actor;
    poise_stance *made = pz_allocate(allocator, sizeof *made);
    poise_status status = pz_actor_open(model, &pose, up, NULL, allocator, &actor);
    bool is_short = !made || status != POISE_OK;
    if (!is_short) {
        *made = (poise_stance){.has_allocator = allocator != NULL};
        made->allocator = allocator ? *allocator : made->allocator;
    }
    bool stands = !is_short && actor.is_standing && actor.leg > 0 && pz_hips_can_move(&actor);
    is_short = is_short || (stands && !measure(made, &actor, rest, shapes, shape_count, allocator));
    pz_actor_close(&actor, allocator);
    if (!is_short && stands && made->ground < INFINITY) {
        *stance = made;
        return POISE_OK;
    }
    pz_release(allocator, made);
    return is_short ? pz_error_set(error, POISE_ERROR_MEMORY, "out of memory")
                    : pz_error_set(error, POISE_ERROR_NOT_FOUND,
                                   "no figure stands in the rest pose on legs that can be moved as a whole");
}

void poise_stance_destroy(poise_stance *stance)
{
    if (stance) {
        poise_allocator allocator = stance->allocator;
        pz_release(stance->has_allocator ? &allocator : NULL, stance);
    }
}

double poise_stance_height(const poise_stance *stance, const poise_kinematics *kinematics)
{
    return lowest_sole(stance, kinematics) - stance->ground;
}

poise_status poise_stance_judge(const poise_stance *stance, double height, const poise_thresholds *thresholds,
                                poise_verdict *verdict, poise_finding *findings, int capacity, poise_error *error)
{
    if (!stance || !verdict || capacity < 0 || (capacity > 0 && !findings)) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "stance and verdict must not be NULL, nor findings that have room");
    }
    poise_thresholds usual = poise_thresholds_default();
    pz_findings found = {.thresholds = thresholds ? thresholds : &usual, .list = findings, .capacity = capacity};
    pz_weigh(&found, POISE_FINDING_AFLOAT, NULL, max2(height, 0.0) / stance->leg, false);
    pz_weigh(&found, POISE_FINDING_SUNK, NULL, max2(-height, 0.0) / stance->leg, false);
    *verdict = found.verdict;
    return POISE_OK;
}
