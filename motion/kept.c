// Constraints over a clip: in how many frames each sort does not hold, and where it is worst.
#include <poise/verdict.h>

#include "base/arena.h"
#include "base/error.h"
#include "num/real.h"

#define ROUNDING 1e-9 // by which a loop may be open beyond its tolerance: another program's rounding

poise_kept_sort poise_kept_sort_of(const poise_constraint *constraint)
{
    return constraint->kind == POISE_CONSTRAINT_CLEARANCE ? POISE_KEPT_CLEARANCE
           : constraint->kind == POISE_CONSTRAINT_BALANCE ? POISE_KEPT_BALANCE
                                                          : POISE_KEPT_LOOPS;
}

// One frame, whose pose `kin` has. Returns bits of the sorts that do not hold.
static unsigned look(const poise_kept_problem *p, const poise_kinematics *kin, int frame, poise_kept *kept)
{
    unsigned broken = 0;
    for (int i = 0; i < p->constraint_count; ++i) {
        poise_kept_sort sort = poise_kept_sort_of(&p->constraints[i]);
        poise_kept_worst *worst = &kept->worst[sort];
        int item = 0;
        double room = poise_constraint_room(kin, &p->constraints[i], &item);
        bool holds = room >= (sort == POISE_KEPT_LOOPS ? -(p->closure_tolerance + ROUNDING) : 0.0);
        broken |= holds ? 0U : 1U << sort;
        if (room < worst->room) {
            *worst =
                (poise_kept_worst){.room = room, .frame = frame, .constraint = i, .item = item, .broken = worst->broken};
        }
    }
    for (int sort = 0; sort < POISE_KEPT_SORTS; ++sort) {
        kept->worst[sort].broken += (broken & 1U << sort) != 0;
    }
    kept->broken += broken != 0;
    return broken;
}

static poise_status check(const poise_kept_problem *p, const poise_kept *kept, poise_error *error)
{
    if (!p || !p->model || !p->clip || !kept || p->constraint_count < 0 || (p->constraint_count > 0 && !p->constraints) ||
        p->clip->nq != poise_model_info(p->model).nq) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT,
                            "model, clip and kept must not be NULL, nor constraints that are counted, and the clip of this "
                            "model");
    }
    for (int i = 0; i < p->constraint_count; ++i) {
        poise_error why;
        if (poise_constraint_check(&p->constraints[i], p->model, &why) != POISE_OK) {
            return pz_error_set(error, POISE_ERROR_ARGUMENT, "constraint %d (%s): %s", i,
                                poise_constraint_kind_name(p->constraints[i].kind), why.text);
        }
    }
    return POISE_OK;
}

poise_status poise_kept_measure(const poise_kept_problem *problem, const poise_allocator *allocator, poise_kept *kept,
                                unsigned char *broken, poise_error *error)
{
    poise_kinematics *kin = NULL;
    poise_status status = check(problem, kept, error);
    status = status == POISE_OK ? poise_kinematics_create(problem->model, allocator, &kin, error) : status;
    if (status != POISE_OK) {
        return status;
    }
    poise_kept found = {.broken = 0};
    for (int sort = 0; sort < POISE_KEPT_SORTS; ++sort) {
        found.worst[sort] = (poise_kept_worst){.room = INFINITY, .frame = POISE_NONE, .constraint = POISE_NONE};
    }
    for (int f = 0; f < problem->clip->frames && status == POISE_OK; ++f) {
        status = poise_kinematics_update(kin, problem->clip->q + (size_t)f * (size_t)problem->clip->nq, error);
        unsigned bits = status == POISE_OK ? look(problem, kin, f, &found) : 0U;
        if (broken && status == POISE_OK) {
            broken[f] = (unsigned char)bits;
        }
    }
    poise_kinematics_destroy(kin);
    if (status == POISE_OK) {
        *kept = found;
    }
    return status;
}

static const char *name_of(const poise_model *model, int body)
{
    return body >= 0 ? poise_model_joint_info(model, body).body : "the world";
}

void poise_kept_judge(const poise_kept_problem *problem, const poise_kept *kept, const poise_thresholds *thresholds,
                      poise_verdict *verdict, poise_finding *findings, int capacity)
{
    static const poise_finding_kind kinds[POISE_KEPT_SORTS] = {POISE_FINDING_CLEARANCE, POISE_FINDING_BALANCE,
                                                               POISE_FINDING_LOOPS};
    double frames = problem->clip->frames > 0 ? problem->clip->frames : 1;
    for (int sort = 0; sort < POISE_KEPT_SORTS; ++sort) {
        const poise_kept_worst *worst = &kept->worst[sort];
        if (worst->frame == POISE_NONE) {
            continue; // none of this sort
        }
        const poise_constraint *c = &problem->constraints[worst->constraint];
        poise_finding f = {
            .kind = kinds[sort], .value = worst->broken / frames, .first = worst->frame, .last = worst->frame};
        if (sort == POISE_KEPT_CLEARANCE && c->pair_count > 0) {
            f.name = name_of(problem->model, c->shapes[c->pairs[worst->item].a].body);
            f.other = name_of(problem->model, c->shapes[c->pairs[worst->item].b].body);
        } else if (sort == POISE_KEPT_LOOPS) {
            f.name = name_of(problem->model, c->body);
            f.other = name_of(problem->model, c->body2);
        }
        poise_verdict_weigh(thresholds, f, false, verdict, findings, capacity);
    }
}
