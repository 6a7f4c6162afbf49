// Which way up a figure stands in a clip, and how tall it is.
#include <poise/edit.h>

#include "base/error.h"
#include "motion/retarget/actor.h"

// How a figure stands.
typedef struct stance {
    poise_up up;         // the axis of trunk and legs; UNKNOWN: no legs, or out of memory
    bool is_upside_down; // its head is at the lower end
    bool is_standing;    // trunk up, legs down: in the neutral pose, else in some frame of the clip
} stance;

// In most of a clip; `clip` NULL: in the neutral pose.
static stance stance_of(const poise_model *model, const poise_clip *clip)
{
    pz_actor actor;
    stance s = {.up = POISE_UP_UNKNOWN};
    if (pz_actor_open(model, clip, POISE_UP_UNKNOWN, NULL, NULL, &actor) == POISE_OK && actor.leg > 0) {
        s.up = (poise_up)((int)POISE_UP_X + actor.axis);
        s.is_upside_down = actor.up.x + actor.up.y + actor.up.z < 0;
        s.is_standing = actor.is_standing;
    }
    pz_actor_close(&actor, NULL);
    return s;
}

poise_up poise_clip_up(const poise_model *model, const poise_clip *clip)
{
    bool fits = model && clip && clip->nq == poise_model_info(model).nq;
    return fits ? stance_of(model, clip).up : POISE_UP_UNKNOWN;
}

poise_status poise_clip_figure(const poise_model *model, const poise_clip *clip, poise_figure *figure, poise_error *error)
{
    poise_status status = poise_model_figure(model, figure, error);
    if (status != POISE_OK || !clip || clip->frames == 0) {
        return status;
    }
    if (clip->nq != poise_model_info(model).nq) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "the clip has %d numbers per frame, but the model has %d", clip->nq,
                            poise_model_info(model).nq);
    }
    // nobody's world has x up: bones are laid out along it, and the motion raises them
    bool is_common = figure->up == POISE_UP_Y || figure->up == POISE_UP_Z;
    bool is_told = !figure->is_named || (is_common && stance_of(model, NULL).is_standing);
    if (is_told) {
        return POISE_OK;
    }
    stance s = stance_of(model, clip);
    if (s.up != POISE_UP_UNKNOWN) {
        figure->up = s.up;
        figure->is_upside_down = s.is_upside_down;
    }
    return POISE_OK;
}
