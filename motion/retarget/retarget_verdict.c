// How far a retargeted motion can be trusted.
#include <poise/retarget.h>

#include "base/error.h"
#include "motion/retarget/roles.h"
#include "motion/verdict.h"
#include "num/real.h"

#define TRAVELS       2.0 // leg lengths: farther is no walk on the spot
#define LEAST_STANCES 20  // frames: of fewer a share says little
#define LEFT_BEHIND   0.6 // of the speed of the hips: soles near the ground that are slower stay behind, as in a run

static const char motions[] = "the motion's skeleton", followers[] = "the skeleton that follows", maps[] = "the map";

// What a part that only one skeleton has takes from the motion.
typedef enum loss {
    NOTHING = 0,   // fingers, toes, collars and hands may be missing
    WORTH_KNOWING, // heads and chests: many robots have neither, and their trunk is one piece
    A_LIMB         // arms, legs, hips
} loss;

static loss loss_of(int role, bool is_targets)
{
    int part = role < POISE_ROLE_RIGHT ? role : role - POISE_ROLE_SIDE;
    if (part == POISE_ROLE_HEAD || (part == POISE_ROLE_CHEST && !is_targets)) {
        return WORTH_KNOWING;
    }
    return part == POISE_ROLE_CLAVICLE || part == POISE_ROLE_HAND || part >= POISE_ROLE_TOE ? NOTHING : A_LIMB;
}

// Can a body, or what hangs from it, move at all?
static bool moves(const poise_model *model, int body)
{
    int last = body + poise_model_joint_info(model, body).subtree, k = body;
    while (k < last && poise_model_joint_info(model, k).nv == 0) {
        ++k;
    }
    return k < last;
}

static bool only_one_plays(const poise_role_map *map, int role)
{
    return (map->role[role].from >= 0) != (map->role[role].to >= 0);
}

static bool both_play(const poise_role_map *map, int role)
{
    return map->role[role].from >= 0 && map->role[role].to >= 0;
}

// The part nearer to the trunk that tells of a limb as a whole; POISE_NONE: this one does.
static int limb_above(int role)
{
    int part = role < POISE_ROLE_RIGHT ? role : role - POISE_ROLE_SIDE;
    bool goes_on = part == POISE_ROLE_FOREARM || part == POISE_ROLE_SHANK || part == POISE_ROLE_FOOT;
    return part == POISE_ROLE_THIGH ? POISE_ROLE_PELVIS : goes_on ? role - 1 : POISE_NONE;
}

// Legs that follow below hips that do not: nothing hangs together.
static bool is_cut_off(const poise_role_map *map, int role)
{
    int right = POISE_ROLE_SIDE;
    bool legs = both_play(map, POISE_ROLE_SHANK) || both_play(map, POISE_ROLE_SHANK + right) ||
                both_play(map, POISE_ROLE_FOOT) || both_play(map, POISE_ROLE_FOOT + right);
    bool is_hip = role == POISE_ROLE_PELVIS || role == POISE_ROLE_THIGH || role == POISE_ROLE_THIGH + right;
    return is_hip && legs;
}

// A leg of which a map leaves out a part that neither is to play: hips and feet do not know how long it is, and stay behind.
static bool is_gap_of_leg(const poise_role_map *map, int role)
{
    int part = role < POISE_ROLE_RIGHT ? role : role - POISE_ROLE_SIDE, offset = role - part;
    bool nobody = map->role[role].from < 0 && map->role[role].to < 0;
    bool has_thigh = both_play(map, POISE_ROLE_THIGH + offset), has_shank = both_play(map, POISE_ROLE_SHANK + offset);
    bool has_foot = both_play(map, POISE_ROLE_FOOT + offset);
    return nobody &&
           ((part == POISE_ROLE_THIGH && (has_shank || has_foot)) || (part == POISE_ROLE_SHANK && (has_thigh || has_foot)) ||
            (part == POISE_ROLE_FOOT && (has_thigh || has_shank)) || (part == POISE_ROLE_PELVIS && is_cut_off(map, role)));
}

// The same of an arm, whose hand follows in any case, but from elsewhere.
static bool is_gap_of_arm(const poise_retarget_task *task, int role)
{
    const poise_role_map *map = task->map;
    int part = role < POISE_ROLE_RIGHT ? role : role - POISE_ROLE_SIDE, offset = role - part;
    const poise_role_pair *hand = &map->role[POISE_ROLE_HAND + offset], *upper = &map->role[POISE_ROLE_UPPER_ARM + offset];
    bool nobody = map->role[role].from < 0 && map->role[role].to < 0;
    bool has_hand = both_play(map, POISE_ROLE_HAND + offset);
    if (part == POISE_ROLE_FOREARM && nobody && has_hand && both_play(map, POISE_ROLE_UPPER_ARM + offset)) {
        return poise_model_joint_info(task->from, hand->from).parent != upper->from && // both have something in between
               poise_model_joint_info(task->to, hand->to).parent != upper->to;
    }
    return part == POISE_ROLE_UPPER_ARM && nobody && both_play(map, POISE_ROLE_FOREARM + offset);
}

// Does a joint move a body against the trunk that its limb hangs from, or against the part of the limb above it?
static bool is_moved(const poise_model *model, const poise_role_map *map, int role)
{
    int above = limb_above(role), part = role < POISE_ROLE_RIGHT ? role : role - POISE_ROLE_SIDE;
    int stop = map->role[above >= 0 ? above : POISE_ROLE_CHEST].to, k = map->role[role].to;
    bool is_root = false, moves_it = false;
    for (; k >= 0 && k != stop && !is_root && !moves_it; k = poise_model_joint_info(model, k).parent) {
        is_root = poise_model_joint_info(model, k).parent < 0 || k == map->role[POISE_ROLE_PELVIS].to;
        moves_it = poise_model_joint_info(model, k).nv > 0 && !is_root;
    }
    return moves_it || part < POISE_ROLE_UPPER_ARM;
}

// Arms and legs that the target has and cannot move: nothing of them is followed, and no number tells. What hangs from a
// part that is told is not told again.
static void judge_fixed(const poise_retarget_task *task, pz_findings *found)
{
    const poise_role_map *map = task->map;
    for (int role = POISE_ROLE_LEFT; role < POISE_ROLE_COUNT; ++role) {
        int above = limb_above(role);
        bool is_told = above > POISE_ROLE_PELVIS && both_play(map, above) && !is_moved(task->to, map, above);
        if (both_play(map, role) && loss_of(role, true) == A_LIMB && !is_told && moves(task->from, map->role[role].from) &&
            !is_moved(task->to, map, role)) {
            poise_finding f = {.kind = POISE_FINDING_FIXED, .name = poise_role_name(role), .other = followers, .value = 1.0};
            poise_verdict_weigh(found->thresholds, f, false, &found->verdict, found->list, found->capacity);
        }
    }
}

static bool is_hand(const poise_model *to, const poise_role_map *map)
{
    int palms[] = {map->role[POISE_ROLE_HAND].to, map->role[POISE_ROLE_HAND + POISE_ROLE_SIDE].to};
    bool has_limbs = pz_is_beside_hands(to, palms, 2), has_fingers = false;
    for (int offset = 0; offset <= POISE_ROLE_SIDE; offset += POISE_ROLE_SIDE) {
        has_limbs =
            has_limbs || map->role[POISE_ROLE_THIGH + offset].to >= 0 || map->role[POISE_ROLE_UPPER_ARM + offset].to >= 0;
        has_fingers = has_fingers || map->role[POISE_ROLE_INDEX + offset].to >= 0;
    }
    return has_fingers && !has_limbs;
}

// A hand alone: fingers that only one hand has. The robot's would not move.
static void judge_fingers(const poise_retarget_task *task, pz_findings *found)
{
    for (int offset = 0; offset <= POISE_ROLE_SIDE; offset += POISE_ROLE_SIDE) {
        bool has_palm = task->map->role[POISE_ROLE_HAND + offset].to >= 0;
        for (int role = POISE_ROLE_THUMB + offset; role <= POISE_ROLE_LITTLE + offset && has_palm; role += 3) {
            bool is_targets = task->map->role[role].to >= 0;
            poise_finding f = {.kind = POISE_FINDING_UNMATCHED,
                               .name = poise_role_name(role),
                               .other = is_targets ? motions : followers,
                               .value = is_targets ? 1.0 : 0.0};
            if (only_one_plays(task->map, role)) {
                poise_verdict_weigh(found->thresholds, f, true, &found->verdict, found->list, found->capacity);
            }
        }
    }
}

static void judge_roles(const poise_retarget_task *task, pz_findings *found)
{
    const poise_role_map *map = task->map;
    for (int role = 0; role < POISE_ROLE_COUNT; ++role) {
        const poise_role_pair *p = &map->role[role];
        bool is_targets = p->to >= 0;
        loss lost = loss_of(role, is_targets);
        bool is_gap = is_gap_of_leg(map, role);
        if (is_gap || is_gap_of_arm(task, role)) {
            poise_finding gap = {
                .kind = POISE_FINDING_UNMATCHED, .name = poise_role_name(role), .other = maps, .value = is_gap ? 2.0 : 1.0};
            poise_verdict_weigh(found->thresholds, gap, true, &found->verdict, found->list, found->capacity);
        }
        int above = limb_above(role);
        bool is_told = above >= 0 && only_one_plays(map, above) && (map->role[above].to >= 0) == is_targets;
        if (lost == NOTHING || is_told || !only_one_plays(map, role) ||
            !moves(is_targets ? task->to : task->from, is_targets ? p->to : p->from)) {
            continue;
        }
        poise_finding f = {.kind = POISE_FINDING_UNMATCHED,
                           .name = poise_role_name(role),
                           .other = is_targets ? motions : followers,
                           .value = lost == WORTH_KNOWING   ? 0.0
                                    : is_cut_off(map, role) ? 2.0
                                                            : 1.0};
        poise_verdict_weigh(found->thresholds, f, true, &found->verdict, found->list, found->capacity);
    }
}

static void weigh(pz_findings *found, poise_finding f)
{
    poise_verdict_weigh(found->thresholds, f, false, &found->verdict, found->list, found->capacity);
}

// Does it travel, and leave soles behind that are near the ground? A run whose contacts are too short to be found does.
static bool runs(const poise_retarget_outcome *o)
{
    return o->travel > TRAVELS * o->leg && o->glide < LEFT_BEHIND;
}

static void judge_feet(const poise_retarget_task *task, const poise_retarget_outcome *o, double frames, pz_findings *found)
{
    if (o->planted) {
        pz_weigh(found, POISE_FINDING_UNPLANTED, NULL, runs(o) ? 0.0 : o->unplanted / frames, false);
        pz_weigh(found, POISE_FINDING_RELEASED, NULL, o->released / frames, false);
        pz_weigh(found, POISE_FINDING_TIPPED, NULL, o->tipped / frames, false);
    }
    if (!o->same) { // feet of the same proportions do what the actor's do
        weigh(found, (poise_finding){.kind = POISE_FINDING_LOOSE,
                                     .name = poise_role_name(o->loose_role),
                                     .value = o->stances >= LEAST_STANCES ? (double)o->loose_stances / o->stances
                                                                          : o->loose / frames,
                                     .first = o->loose_frame,
                                     .last = o->loose_frame});
        weigh(found, (poise_finding){.kind = POISE_FINDING_SCUFFED,
                                     .name = poise_role_name(o->scuff_role),
                                     .value = o->scuffed / frames,
                                     .first = o->scuff_frame,
                                     .last = o->scuff_frame,
                                     .distance = o->scuff_speed * (o->metres > 0 ? o->metres : 1.0)});
        weigh(found, (poise_finding){.kind = POISE_FINDING_HOVERING,
                                     .value = o->hovering / frames,
                                     .first = o->hover_first,
                                     .last = o->hover_last});
        pz_weigh(found, POISE_FINDING_SKATE, NULL, o->skate_mean / o->leg, false);
        pz_weigh(found, POISE_FINDING_SLIPPED, NULL, o->skate_worst / o->leg, false);
        pz_weigh(found, POISE_FINDING_SUNK, NULL, max2(o->sunk, 0.0) / o->leg, false);
    }
    const char *buried = o->buried > 0 ? poise_model_joint_info(task->to, o->buried_body).body : NULL;
    pz_weigh(found, POISE_FINDING_BURIED, buried, o->buried / o->leg, false);
}

static void judge_rates(const poise_retarget_task *task, const poise_retarget_outcome *o, double frames, pz_findings *found)
{
    weigh(found, (poise_finding){.kind = POISE_FINDING_FAST,
                                 .name = o->fast_joint >= 0 ? poise_model_joint_info(task->to, o->fast_joint).name : NULL,
                                 .value = o->fast,
                                 .first = o->fast_frame,
                                 .last = o->fast_frame,
                                 .distance = o->fast_speed});
    weigh(found,
          (poise_finding){.kind = POISE_FINDING_ABRUPT,
                          .name = o->abrupt_joint >= 0 ? poise_model_joint_info(task->to, o->abrupt_joint).name : NULL,
                          .value = o->abrupt / frames,
                          .first = o->abrupt_frame,
                          .last = o->abrupt_frame,
                          .distance = o->acceleration});
}

static void judge_bodies(const poise_retarget_task *task, const poise_retarget_outcome *o, double frames, pz_findings *found)
{
    const poise_overlap *bodies = &o->overlap;
    poise_overlap_problem problem = poise_overlap_problem_default();
    problem.model = task->to;
    problem.clip = task->clip;
    problem.metres = o->metres > 0 ? o->metres : 1.0;
    if (task->shapes_skipped > 0) {
        pz_weigh(found, POISE_FINDING_UNCHECKED, followers, task->shapes_skipped, false);
    } else if (o->bare > 0) {
        weigh(found, (poise_finding){.kind = POISE_FINDING_UNCHECKED,
                                     .name = poise_model_joint_info(task->to, o->bare_body).body,
                                     .other = o->bare_by_size ? "have no collision shapes, or far too small ones"
                                                              : "have no collision shapes",
                                     .value = o->bare});
    }
    poise_overlap_judge(&problem, bodies, found->thresholds, &found->verdict, found->list, found->capacity);
    weigh(found, (poise_finding){
                     .kind = POISE_FINDING_FLOOR,
                     .name = bodies->buried_body >= 0 ? poise_model_joint_info(task->to, bodies->buried_body).body : NULL,
                     .value = bodies->buried_count / frames,
                     .first = bodies->buried_frame,
                     .last = bodies->buried_frame,
                     .distance = bodies->buried * problem.metres});
}

poise_status poise_retarget_judge(const poise_retarget_task *task, const poise_retarget_outcome *outcome,
                                  const poise_thresholds *thresholds, poise_verdict *verdict, poise_finding *findings,
                                  int capacity, poise_error *error)
{
    if (!task || !task->from || !task->to || !task->map || !task->clip || !outcome || !verdict || capacity < 0 ||
        (capacity > 0 && !findings)) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT,
                            "task, its models, map and clip, outcome and verdict must not be NULL");
    }
    poise_thresholds usual = poise_thresholds_default();
    pz_findings found = {.thresholds = thresholds ? thresholds : &usual, .list = findings, .capacity = capacity};
    double frames = task->clip->frames > 0 ? task->clip->frames : 1;
    if (is_hand(task->to, task->map)) {
        judge_fingers(task, &found);
    } else {
        judge_roles(task, &found);
        judge_fixed(task, &found);
    }
    pz_weigh(&found, POISE_FINDING_BONES, NULL, outcome->bone_mean, false);
    pz_weigh(&found, POISE_FINDING_LIMB, poise_role_name(outcome->limb_role), outcome->limb_mean, false);
    pz_weigh(&found, POISE_FINDING_ASIDE, poise_role_name(outcome->aside_role), outcome->aside / frames, false);
    const char *jumped = outcome->jumps > 0 ? poise_model_joint_info(task->to, outcome->jump_body).body : NULL;
    pz_weigh(&found, POISE_FINDING_JUMPED, jumped, outcome->jumps / frames, false);
    const char *late = outcome->late > 0 ? poise_model_joint_info(task->to, outcome->late_joint).name : NULL;
    pz_weigh(&found, POISE_FINDING_LATE, late, outcome->late / frames, false);
    pz_weigh(&found, POISE_FINDING_POSE, motions, outcome->from_stands ? 0.0 : 1.0, false);
    pz_weigh(&found, POISE_FINDING_POSE, followers, outcome->to_stands ? 0.0 : 1.0, false);
    pz_weigh(&found, POISE_FINDING_REVERSED, motions, outcome->from_reversed ? 1.0 : 0.0, false);
    pz_weigh(&found, POISE_FINDING_REVERSED, followers, outcome->to_reversed ? 1.0 : 0.0, false);
    if (outcome->starts_apart) {
        pz_weigh(&found, POISE_FINDING_APART, NULL, 1.0, true);
    }
    if (outcome->leg > 0) {
        pz_weigh(&found, POISE_FINDING_HIPS, NULL, outcome->hips_mean / outcome->leg, false);
    }
    if (outcome->leg > 0 && !outcome->in_place) {
        judge_feet(task, outcome, frames, &found);
    }
    weigh(&found, (poise_finding){.kind = POISE_FINDING_LURCHED,
                                  .value = outcome->lurch,
                                  .first = outcome->lurch_frame,
                                  .last = outcome->lurch_frame,
                                  .distance = outcome->lurch_speed});
    pz_weigh(&found, POISE_FINDING_OVERTURNED, NULL,
             outcome->upright > 0 ? outcome->overturned / (double)outcome->upright : 0.0, false);
    weigh(&found, (poise_finding){.kind = POISE_FINDING_UNCLOSED,
                                  .value = outcome->unclosed * (outcome->metres > 0 ? outcome->metres : 1.0),
                                  .first = outcome->unclosed_frame,
                                  .last = outcome->unclosed_frame});
    judge_rates(task, outcome, frames, &found);
    judge_bodies(task, outcome, frames, &found);
    *verdict = found.verdict;
    return POISE_OK;
}
