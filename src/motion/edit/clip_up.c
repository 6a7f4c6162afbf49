// Which way up a figure stands in a clip.
#include <poise/edit.h>

#include "motion/retarget/actor.h"

poise_up poise_clip_up(const poise_model *model, const poise_clip *clip)
{
    pz_actor actor;
    if (!model || !clip || clip->nq != poise_model_info(model).nq) {
        return POISE_UP_UNKNOWN;
    }
    poise_status status = pz_actor_open(model, clip, POISE_UP_UNKNOWN, NULL, NULL, &actor);
    bool stands = status == POISE_OK && actor.leg > 0;
    poise_up up = stands ? (poise_up)((int)POISE_UP_X + actor.axis) : POISE_UP_UNKNOWN;
    pz_actor_close(&actor, NULL);
    return up;
}
