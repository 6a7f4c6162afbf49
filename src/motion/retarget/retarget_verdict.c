// How far a retargeted motion can be trusted.
#include <poise/retarget.h>

#include "base/error.h"
#include "math/scalar.h"
#include "motion/findings.h"

// Roles without which a motion is not whole; fingers, toes and collars may be missing.
static bool matters(int role)
{
    int part = role < POISE_ROLE_RIGHT ? role : role - POISE_ROLE_SIDE;
    return part != POISE_ROLE_CLAVICLE && part < POISE_ROLE_TOE && part != POISE_ROLE_HEAD && part != POISE_ROLE_HAND;
}

static void judge_roles(const poise_role_map *map, pz_findings *found)
{
    for (int role = 0; role < POISE_ROLE_COUNT; ++role) {
        const poise_role_pair *p = &map->role[role];
        if (p->to >= 0 && p->from < 0 && matters(role)) {
            pz_weigh(found, POISE_FINDING_UNMATCHED, poise_role_name(role), 1.0, true);
        }
    }
}

poise_status poise_retarget_judge(const poise_retarget_task *task, const poise_retarget_outcome *outcome,
                                  const poise_thresholds *thresholds, poise_verdict *verdict, poise_finding *findings,
                                  int capacity, poise_error *error)
{
    if (!task || !task->map || !task->clip || !outcome || !verdict || capacity < 0 || (capacity > 0 && !findings)) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "task, its map and clip, outcome and verdict must not be NULL");
    }
    poise_thresholds usual = poise_thresholds_default();
    pz_findings found = {.thresholds = thresholds ? thresholds : &usual, .list = findings, .capacity = capacity};
    double frames = task->clip->frames > 0 ? task->clip->frames : 1;
    judge_roles(task->map, &found);
    pz_weigh(&found, POISE_FINDING_BONES, NULL, outcome->bone_mean, false);
    pz_weigh(&found, POISE_FINDING_JUMPED, NULL, outcome->jumps / frames, false);
    pz_weigh(&found, POISE_FINDING_LATE, NULL, outcome->late / frames, false);
    if (!outcome->from_stands) {
        pz_weigh(&found, POISE_FINDING_POSE, "the motion's skeleton", 1.0, false);
    }
    if (!outcome->to_stands) {
        pz_weigh(&found, POISE_FINDING_POSE, "the skeleton that follows", 1.0, false);
    }
    if (outcome->leg > 0) {
        pz_weigh(&found, POISE_FINDING_HIPS, NULL, outcome->hips_mean / outcome->leg, false);
    }
    if (outcome->leg > 0 && outcome->planted) {
        pz_weigh(&found, POISE_FINDING_SKATE, NULL, outcome->skate_mean / outcome->leg, false);
        pz_weigh(&found, POISE_FINDING_SUNK, NULL, max2(outcome->sunk, 0.0) / outcome->leg, false);
    }
    *verdict = found.verdict;
    return POISE_OK;
}
