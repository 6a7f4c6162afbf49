// Goals that hold for a while.
//
//   for every frame that a pin reaches:  goal of each place = what the original does, mixed with its pins, the first first
//                                        solve, near the original
//
// How much of a pin a frame has: 1 from `from` to `to`, S(u) over its fades.
#include "motion/edit/pins.h"
#include "motion/edit/editor.h"
#include "motion/edit/goal_mix.h"

#include "base/error.h"
#include "motion/anatomy.h"

#include <string.h>

#define FADE        0.25
#define FOOT_WEIGHT 100.0 // of feet on their path, against pins that are out of reach
#define STEPS       8     // towards the goals in a frame that is the first, with no fade before it
#define ROUNDS      3     // the change is made smooth between them
#define METRE       1.75  // statures: what a skeleton whose unit is not known is taken as
#define NEAR_FRAME  1e-6  // frames: a time this near to a frame is that frame's

// A pin as it is carried out.
typedef struct plan {
    const poise_pin *pin;
    double from, to, fade_in, fade_out; // frames
    double until;                       // `to` as it was asked for
    poise_goal here;                    // HERE: the goal
    int index;                          // of its result
} plan;

typedef struct job {
    pz_editor editor;
    const poise_pin_options *options;
    plan *plans; // by `from`
    int count;
    double *mixed; // nq
    double *work;  // of splines
    int foot[2];   // bodies that are kept; POISE_NONE: none
} job;

poise_pin poise_pin_default(void)
{
    return (poise_pin){.goal = poise_goal_default(POISE_GOAL_POSITION),
                       .from = -INFINITY,
                       .to = INFINITY,
                       .fade_in = FADE,
                       .fade_out = FADE};
}

poise_pin_options poise_pin_options_default(void)
{
    return (poise_pin_options){.keep_feet = true, .rotation_tolerance = 1e-6};
}

// ---- Checks --------------------------------------------------------------------------------------------------------------

static poise_status check_keys(const poise_model *model, const poise_pin *pin, int number, poise_error *error)
{
    for (int k = 0; k < pin->key_count; ++k) {
        const poise_pin_key *key = &pin->keys[k];
        if (poise_goal_check(&key->goal, model, error) != POISE_OK) {
            return POISE_ERROR_ARGUMENT;
        }
        if (!pz_goals_match(&key->goal, &pin->keys[0].goal) || !is_finite(key->time) ||
            (k > 0 && !(key->time > key[-1].time))) {
            return pz_error_set(error, POISE_ERROR_ARGUMENT,
                                "pin %d, key %d: keys are of one kind and body, each later than the one before", number,
                                k + 1);
        }
        if (key->goal.kind == POISE_GOAL_POSTURE || key->goal.kind == POISE_GOAL_SMOOTHNESS) {
            return pz_error_set(error, POISE_ERROR_UNSUPPORTED,
                                "pin %d: postures have no keys; give each a pin of its own, they go over into each other",
                                number);
        }
    }
    return POISE_OK;
}

static poise_status check_pin(const poise_model *model, const poise_pin *pin, int number, poise_error *error)
{
    bool has_keys = pin->key_count > 0;
    if (pin->key_count < 0 || (has_keys && !pin->keys) || !(pin->fade_in >= 0) || !(pin->fade_out >= 0) ||
        !is_finite(pin->fade_in) || !is_finite(pin->fade_out)) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "pin %d: fades must be finite and >= 0, and keys not NULL", number);
    }
    if (!has_keys && !(pin->from <= pin->to)) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "pin %d: it ends, at %g s, before it begins, at %g s", number,
                            pin->to, pin->from);
    }
    const poise_goal *goal = has_keys ? &pin->keys[0].goal : &pin->goal;
    if (goal->kind == POISE_GOAL_CALLBACK) {
        return pz_error_set(error, POISE_ERROR_UNSUPPORTED, "pin %d: a callback cannot fade in or out", number);
    }
    if (has_keys) {
        return check_keys(model, pin, number, error);
    }
    bool is_taken = pin->target != POISE_PIN_GIVEN && !goal->q; // a posture, from the clip
    return is_taken && goal->kind == POISE_GOAL_POSTURE ? POISE_OK : poise_goal_check(goal, model, error);
}

static poise_status check_all(const poise_model *model, const poise_pin *pins, int count, const poise_pin_options *options,
                              poise_error *error)
{
    if (!model || count < 0 || (count > 0 && !pins) || !(options->position_tolerance >= 0) ||
        !(options->rotation_tolerance >= 0) || !(options->metres >= 0)) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT,
                            "model and pins must not be NULL, count, tolerances and metres >= 0");
    }
    for (int i = 0; i < count; ++i) {
        poise_status status = check_pin(model, &pins[i], i + 1, error);
        if (status != POISE_OK) {
            return status;
        }
    }
    return POISE_OK;
}

// ---- Plans ---------------------------------------------------------------------------------------------------------------

static const poise_goal *goal_of(const plan *p)
{
    return p->pin->key_count > 0 ? &p->pin->keys[0].goal : &p->pin->goal;
}

static poise_status plan_one(const job *j, const poise_pin *pin, int index, plan *p, poise_error *error)
{
    const poise_clip *clip = j->editor.clip;
    double first = pin->key_count > 0 ? pin->keys[0].time : pin->from;
    double last = pin->key_count > 0 ? pin->keys[pin->key_count - 1].time : pin->to;
    double end = clip->start_time + (clip->frames - 1) * clip->frame_time;
    *p = (plan){.pin = pin, .index = index};
    p->from = (first - clip->start_time) / clip->frame_time;
    p->to = p->until = (last - clip->start_time) / clip->frame_time;
    p->fade_in = pin->fade_in / clip->frame_time;
    p->fade_out = pin->fade_out / clip->frame_time;
    if (!(p->from <= clip->frames - 1 + NEAR_FRAME) || !(p->to >= -NEAR_FRAME)) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "pin %d: it holds from %g s to %g s, the clip is from %g s to %g s",
                            index + 1, first, last, clip->start_time, end);
    }
    if (!(round_down(p->to + NEAR_FRAME) >= p->from - NEAR_FRAME)) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "pin %d: no frame lies between %g s and %g s", index + 1, first,
                            last);
    }
    return POISE_OK;
}

// Insertion by `from`; few.
static void insert(plan *plans, int count, plan p)
{
    int at = count;
    for (; at > 0 && plans[at - 1].from > p.from; --at) {
        plans[at] = plans[at - 1];
    }
    plans[at] = p;
}

// Where the next pin of a place begins before this one has faded out, this one stays until then, and the next one fades in
// from there.
static void chain(job *j)
{
    for (int i = 0; i < j->count; ++i) {
        plan *p = &j->plans[i], *next = NULL;
        for (int k = i + 1; k < j->count && !next; ++k) {
            next = pz_goals_match(goal_of(p), goal_of(&j->plans[k])) ? &j->plans[k] : NULL;
        }
        if (next && next->from - next->fade_in < p->to + p->fade_out) {
            double gap = max2(next->from - p->to, 0.0);
            next->fade_in = min2(next->fade_in, gap);
            p->to = max2(p->to, min2(next->from, p->to + gap));
            p->fade_out = min2(p->fade_out, max2(next->to - next->from, 0.0));
        }
    }
}

// How much of a pin a frame has.
static double share_of(const plan *p, int frame)
{
    if (frame < p->from - NEAR_FRAME) {
        return p->fade_in > 0.0 ? pz_ease((frame - (p->from - p->fade_in)) / p->fade_in) : 0.0;
    }
    if (frame > p->to + NEAR_FRAME) {
        return p->fade_out > 0.0 ? pz_ease(((p->to + p->fade_out) - frame) / p->fade_out) : 0.0;
    }
    return 1.0;
}

// Goals that pins leave where they are: at the first frame in which they hold.
static poise_status find_here(job *j, poise_error *error)
{
    poise_status status = POISE_OK;
    for (int i = 0; i < j->count && status == POISE_OK; ++i) {
        plan *p = &j->plans[i];
        int frame = (int)max2(-round_down(-(p->from - NEAR_FRAME)), 0.0); // at or after it
        if (p->pin->target == POISE_PIN_HERE) {
            status = pz_editor_begin(&j->editor, least(frame, j->editor.clip->frames - 1), error);
            p->here = pz_goal_met(&p->pin->goal, j->editor.kin, pz_editor_original(&j->editor, frame));
        }
    }
    return status;
}

// ---- Frames --------------------------------------------------------------------------------------------------------------

// What a pin asks for in a frame, at whose original the editor is.
static poise_goal target_of(const job *j, const plan *p, int frame)
{
    const poise_pin *pin = p->pin;
    const poise_clip *clip = j->editor.clip;
    if (pin->key_count > 0) {
        return pz_goal_on_keys(pin->keys, pin->key_count, clip->start_time + frame * clip->frame_time, j->work);
    }
    return pin->target == POISE_PIN_HERE   ? p->here
           : pin->target == POISE_PIN_PATH ? pz_goal_met(&pin->goal, j->editor.kin, pz_editor_original(&j->editor, frame))
                                           : pin->goal;
}

// Mix a pin into the goals of its place, or begin those with the original's.
static void add_pin(job *j, const plan *p, int frame, double share)
{
    pz_editor *e = &j->editor;
    poise_goal to = target_of(j, p, frame), from = pz_goal_met(&to, e->kin, pz_editor_original(e, frame));
    int at = 0;
    while (at < e->goal_count && !pz_goals_match(&e->goals[at], &to)) {
        ++at;
    }
    int count = e->goal_count;
    if (at < count) {
        from = e->goals[at];
    }
    poise_goal mixed = pz_goal_mix(e->model, &from, &to, share, j->mixed);
    e->goal_count = at;
    pz_editor_add(e, &mixed, 1.0);
    e->goal_count = at < count ? count : count + 1;
}

// The goals of a frame, each of them `strength` of the way from the original.
static void gather(job *j, int frame, double strength)
{
    for (int i = 0; i < j->count; ++i) {
        double share = share_of(&j->plans[i], frame);
        if (share > 0.0) {
            add_pin(j, &j->plans[i], frame, share * strength);
        }
    }
    for (int s = 0; s < 2; ++s) {
        if (j->foot[s] >= 0) {
            poise_goal stay = poise_goal_default(POISE_GOAL_POSE);
            stay.body = j->foot[s];
            stay = pz_goal_met(&stay, j->editor.kin, NULL);
            pz_editor_add(&j->editor, &stay, FOOT_WEIGHT);
        }
    }
}

static poise_status edit_frame(job *j, int frame, poise_error *error)
{
    pz_editor *e = &j->editor;
    double most = 0.0;
    for (int i = 0; i < j->count; ++i) { // paths count where something else moves the skeleton
        bool moves = j->plans[i].pin->target != POISE_PIN_PATH;
        most = max2(most, moves ? share_of(&j->plans[i], frame) : 0.0);
    }
    if (!(most > 0.0)) {
        return POISE_OK;
    }
    bool goes_on = e->is_smooth || (e->last == frame - 1 && frame > 0);
    int steps = goes_on || most < 1.0 / STEPS ? 1 : STEPS;
    poise_status status = POISE_OK;
    for (int s = 1; s <= steps && status == POISE_OK; ++s) {
        status = pz_editor_begin(e, frame, error);
        if (status == POISE_OK) {
            gather(j, frame, (double)s / steps);
            status = pz_editor_solve(e, frame, error);
        }
    }
    return status;
}

// ---- Results -------------------------------------------------------------------------------------------------------------

// The largest of lengths or angles so far.
static void widen(const poise_goal_error *miss, double *length, double *angle)
{
    double *own = miss->unit == POISE_UNIT_LENGTH ? length : angle;
    *own = max2(*own, miss->error);
    *angle = max2(*angle, miss->rotation_error);
}

static poise_status judge_frame(job *j, const plan *p, int frame, poise_pin_result *r, poise_error *error)
{
    pz_editor *e = &j->editor;
    poise_goal_error miss, before;
    double length = 0.0, angle = 0.0;
    poise_status status = poise_kinematics_update(e->kin, pz_editor_original(e, frame), error);
    poise_goal goal = target_of(j, p, frame);
    status = status == POISE_OK ? pz_editor_error(e, &goal, pz_editor_original(e, frame), &before, error) : status;
    status = status == POISE_OK ? pz_editor_error(e, &goal, pz_editor_frame(e, frame), &miss, error) : status;
    if (status != POISE_OK) {
        return status;
    }
    widen(&before, &r->before_length, &r->before_angle);
    widen(&miss, &length, &angle);
    double tolerance = j->options->position_tolerance;
    bool is_worse = length > r->worst_length || (length == r->worst_length && angle > r->worst_angle);
    r->missed += length > tolerance || angle > j->options->rotation_tolerance;
    r->worst_frame = is_worse && (length > tolerance || angle > j->options->rotation_tolerance) ? frame : r->worst_frame;
    r->worst_length = max2(r->worst_length, length);
    r->worst_angle = max2(r->worst_angle, angle);
    return POISE_OK;
}

static poise_status judge(job *j, const plan *p, poise_pin_result *r, bool *missed, poise_error *error)
{
    int frames = j->editor.clip->frames;
    poise_status status = POISE_OK;
    *r = (poise_pin_result){.first = frames, .last = -1, .held_first = frames, .held_last = -1, .worst_frame = POISE_NONE};
    for (int f = 0; f < frames && status == POISE_OK; ++f) {
        double share = share_of(p, f);
        if (share > 0.0) {
            r->first = least(r->first, f);
            r->last = f;
        }
        if (share >= 1.0 && f <= p->until + NEAR_FRAME) {
            int before = r->missed;
            r->held_first = least(r->held_first, f);
            r->held_last = f;
            status = judge_frame(j, p, f, r, error);
            missed[f] = missed[f] || r->missed > before;
        }
    }
    return status;
}

// How far the feet that are kept left their paths.
static poise_status judge_feet(job *j, poise_pin_report *report, poise_error *error)
{
    pz_editor *e = &j->editor;
    poise_status status = POISE_OK;
    for (int f = 0; f < e->clip->frames && status == POISE_OK; ++f) {
        for (int s = 0; s < 2 && e->changed[f] && j->foot[s] >= 0 && status == POISE_OK; ++s) {
            poise_goal_error miss = {0};
            poise_goal stay = poise_goal_default(POISE_GOAL_POSITION);
            stay.body = j->foot[s];
            status = poise_kinematics_update(e->kin, pz_editor_original(e, f), error);
            stay = pz_goal_met(&stay, e->kin, NULL);
            status = status == POISE_OK ? pz_editor_error(e, &stay, pz_editor_frame(e, f), &miss, error) : status;
            report->kept_length = max2(report->kept_length, miss.error);
        }
    }
    report->kept = (j->foot[0] >= 0) + (j->foot[1] >= 0);
    return status;
}

static poise_status judge_all(job *j, poise_pin_result *results, poise_pin_report *report, poise_error *error)
{
    poise_status status = pz_editor_measure(&j->editor, report, error);
    bool *missed = j->editor.missed;
    for (int i = 0; i < j->count && status == POISE_OK; ++i) {
        poise_pin_result r;
        status = judge(j, &j->plans[i], &r, missed, error);
        if (results) {
            results[j->plans[i].index] = r;
        }
    }
    for (int f = 0; f < j->editor.clip->frames; ++f) {
        report->missed += missed[f];
    }
    return status == POISE_OK ? judge_feet(j, report, error) : status;
}

// ---- The call ------------------------------------------------------------------------------------------------------------

// Feet that no pin moves, where the root is free to move them.
static poise_status find_feet(job *j, const poise_allocator *allocator, poise_error *error)
{
    pz_anatomy anatomy;
    j->foot[0] = j->foot[1] = POISE_NONE;
    poise_status status = j->options->keep_feet ? pz_anatomy_of(j->editor.model, allocator, &anatomy) : POISE_OK;
    if (status != POISE_OK) {
        return pz_error_set(error, status, "out of memory");
    }
    for (int s = 0; s < 2 && j->options->keep_feet && anatomy.stature > 0; ++s) {
        int body = anatomy.part[PZ_FOOT][s == 0 ? PZ_LEFT : PZ_RIGHT].body;
        for (int i = 0; i < j->count && body >= 0; ++i) {
            const poise_goal *g = goal_of(&j->plans[i]);
            bool has_body = g->kind != POISE_GOAL_POSTURE && g->kind != POISE_GOAL_SMOOTHNESS;
            bool is_on_leg =
                has_body && g->kind != POISE_GOAL_CENTER_OF_MASS &&
                pz_model_is_ancestor(j->editor.model, anatomy.part[PZ_THIGH][s == 0 ? PZ_LEFT : PZ_RIGHT].body, g->body);
            body = is_on_leg || !has_body ? POISE_NONE : body;
        }
        j->foot[s] = body;
    }
    return POISE_OK;
}

static poise_status run(job *j, const poise_pin *pins, int count, const poise_allocator *allocator,
                        poise_pin_result *results, poise_pin_report *report, poise_error *error)
{
    poise_status status = POISE_OK;
    for (int i = 0; i < count && status == POISE_OK; ++i) {
        plan p;
        status = plan_one(j, &pins[i], i, &p, error);
        insert(j->plans, i, p);
        j->count = i + 1;
    }
    status = status == POISE_OK ? find_feet(j, allocator, error) : status;
    status = status == POISE_OK ? find_here(j, error) : status;
    chain(j);
    for (int round = 0; round < ROUNDS && status == POISE_OK; ++round) {
        status = round > 0 ? pz_editor_smooth(&j->editor, allocator, error) : POISE_OK;
        for (int f = 0; f < j->editor.clip->frames && status == POISE_OK; ++f) {
            status = edit_frame(j, f, error);
        }
    }
    return status == POISE_OK ? judge_all(j, results, report, error) : status;
}

static void lay_out(job *j, int count, int keys, int nq, pz_arena *arena)
{
    j->plans = pz_arena_take(arena, (size_t)count, sizeof *j->plans);
    j->mixed = pz_arena_take(arena, (size_t)nq, sizeof(double));
    j->work = pz_arena_take(arena, 4 * (size_t)keys, sizeof(double));
}

poise_status pz_clip_pin(const poise_model *model, const poise_pin *pins, int count, const poise_pin_options *options,
                         poise_clip *clip, const poise_allocator *allocator, poise_pin_result *results,
                         poise_pin_report *report, poise_error *error)
{
    poise_pin_options own = options ? *options : poise_pin_options_default();
    poise_pin_report unused;
    poise_status status = check_all(model, pins, count, &own, error);
    if (status != POISE_OK) {
        return status;
    }
    job j = {.options = &own};
    pz_editor_room room = {.goals = count + 2, .rows = 2 * PZ_ROWS_PER_GOAL, .locked = own.locked};
    int keys = 1;
    for (int i = 0; i < count; ++i) {
        poise_goal_kind kind = (pins[i].key_count > 0 ? pins[i].keys[0].goal : pins[i].goal).kind;
        room.rows += pz_goal_rows_most(model, kind);
        room.coupled += kind == POISE_GOAL_RELATIVE || kind == POISE_GOAL_CENTER_OF_MASS;
        keys = pins[i].key_count > keys ? pins[i].key_count : keys;
    }
    status = pz_editor_open(model, &room, clip, allocator, &j.editor, error);
    if (status != POISE_OK) {
        return status;
    }
    double metres = own.metres > 0 ? own.metres : METRE / j.editor.size;
    own.position_tolerance = own.position_tolerance > 0 ? own.position_tolerance : 1e-6 / metres;
    pz_arena counting = pz_arena_counting();
    pz_owned owned = {0};
    lay_out(&j, count, keys, model->nq, &counting);
    size_t size = pz_arena_bytes(&counting);
    if (pz_owned_take(&owned, allocator, size)) {
        pz_arena arena = pz_arena_over(owned.memory, size);
        lay_out(&j, count, keys, model->nq, &arena);
        status = clip->frames > 0 ? run(&j, pins, count, allocator, results, report ? report : &unused, error) : POISE_OK;
    } else {
        status = pz_error_set(error, POISE_ERROR_MEMORY, "out of memory for %d pins", count);
    }
    if (status != POISE_OK) {
        memcpy(clip->q, j.editor.original, (size_t)clip->frames * (size_t)clip->nq * sizeof *clip->q);
    }
    pz_owned_release(&owned);
    pz_editor_close(&j.editor);
    return status;
}
