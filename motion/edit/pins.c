// Goals that hold for a while.
//
//   for every frame that a pin reaches:  goal of each place = what the original does, mixed with its pins, the first first
//                                        solve, near the original
//
// A place that is pinned in some frames of a stretch stays on its path in the others, so that all frames of a stretch have
// the same goals, and their change is continuous where a pin comes or goes.
//
// How much of a pin a frame has: 1 from `from` to `to`, S(u) over its fades.
#include <poise/kinematics.h>

#include "base/arena.h"
#include "base/error.h"
#include "motion/edit/editor.h"
#include "motion/pieces.h"
#include "motion/retarget/actor.h"
#include "num/rotation.h"

#include <math.h>
#include <string.h>

#define FOOT_WEIGHT 100.0 // of feet on their path, against pins that are out of reach
#define KEPT_WEIGHT 0.01  // of a place on its path, before and after its pins, against pins that hold
#define STEPS       8     // towards the goals in a frame that is the first, with no fade before it
#define ROUNDS      3     // the change is made smooth between them
#define METRE       1.75  // statures: what a skeleton whose unit is not known is taken as
#define NEAR_FRAME  1e-6  // frames: a time this near to a frame is that frame's
#define ROUNDED     0.05  // frames: likewise, of times in seconds; files round theirs (0.0333333 s)
enum { MOST_KEYS = 24 };

// The way from where a clip has a point to where a pin has it, as it changes from frame to frame.
typedef struct shift {
    int frame;
    vec3 away, slope; // at that frame; from one frame to the next
} shift;

// A pin as it is carried out.
typedef struct plan {
    const poise_pin *pin;
    double from, to, fade_in, fade_out; // frames
    double until;                       // `to` as requested
    poise_goal here;                    // HERE: the goal
    shift begin, end;                   // SHIFT: the correction where the pin begins to hold and where it ends
    int index;                          // of its result
    poise_goal_kind part;               // the kind of its goal; of a pose in two parts, POSITION or ORIENTATION
    bool is_in_stretch;                 // it reaches some frame of the current stretch
} plan;

typedef struct job {
    pz_editor editor;
    const poise_pin_options *options;
    double foot_tolerance; // of SHIFT pins
    plan *plans;           // by `from`
    int count;
    int stretch_first, stretch_end; // frames around the current one that pins move
    double *mixed;                  // nq
    double *work;                   // of splines
    int foot[2];                    // bodies that are kept; POISE_NONE: none
} job;

// ---- Goals between what a clip does and what is requested ----------------------------------------------------------------

// Positions and distances go along straight lines, rotations and directions along great arcs:
//
//   p + a (p' - p)      R exp(a log(R^-1 R'))      exp(a log(u -> u')) u      q (+) a (q' (-) q)

static bool is_posture(poise_goal_kind kind)
{
    return kind == POISE_GOAL_POSTURE || kind == POISE_GOAL_SMOOTHNESS;
}

static bool same(vec3 a, vec3 b)
{
    return a.x == b.x && a.y == b.y && a.z == b.z;
}

// Do the goals ask for the same thing of the same place?
static bool goals_match(const poise_goal *a, const poise_goal *b)
{
    if (a->kind != b->kind) {
        return false;
    }
    if (is_posture(a->kind) || a->kind == POISE_GOAL_CENTER_OF_MASS) {
        return true;
    }
    quat r = a->local.rotation, s = b->local.rotation;
    return a->body == b->body && a->body2 == b->body2 && same(a->local.position, b->local.position) &&
           same(a->axis, b->axis) && r.x == s.x && r.y == s.y && r.z == s.z && r.w == s.w;
}

// The goal with the target that the skeleton has at `q`, where `kin` is. A posture points to `q`.
static poise_goal goal_met(const poise_goal *goal, const poise_kinematics *kin, const double *q)
{
    poise_goal met = *goal;
    bool has_body = !is_posture(goal->kind) && goal->kind != POISE_GOAL_CENTER_OF_MASS;
    poise_pose frame = has_body ? poise_kinematics_body_pose(kin, goal->body) : poise_pose_identity();
    poise_pose place = poise_pose_multiply(frame, goal->local);
    vec3 away = v3_sub(goal->target.position, place.position);
    met.q = is_posture(goal->kind) ? q : goal->q;
    switch (goal->kind) {
    case POISE_GOAL_POSITION:
    case POISE_GOAL_PLANE:
    case POISE_GOAL_LINE:
        met.target.position = place.position;
        break;
    case POISE_GOAL_ORIENTATION:
    case POISE_GOAL_POSE:
        met.target = place;
        break;
    case POISE_GOAL_DIRECTION:
        met.direction = quat_rotate(frame.rotation, goal->axis);
        break;
    case POISE_GOAL_AIM:
        met.target.position = v3_mad(place.position, v3_norm(away), quat_rotate(frame.rotation, goal->axis));
        break;
    case POISE_GOAL_DISTANCE:
        met.distance = v3_norm(away);
        break;
    case POISE_GOAL_RELATIVE:
        if (goal->body2 != POISE_WORLD) {
            place = poise_pose_multiply(poise_pose_inverse(poise_kinematics_body_pose(kin, goal->body2)), place);
        }
        met.target = place;
        break;
    case POISE_GOAL_CENTER_OF_MASS:
        poise_kinematics_mass_center(kin, &met.target.position, NULL);
        break;
    default:
        break;
    }
    return met;
}

static quat turned(quat from, quat to, double share)
{
    vec3 way = so3_log(quat_mul(quat_conj(from), to));
    return quat_normalize(quat_mul(from, so3_exp_quat(v3_scale(way, share))));
}

// From one unit vector towards another, by the shortest turn; opposite ones have none, and go straight over.
static vec3 swung(vec3 from, vec3 to, double share)
{
    vec3 axis = v3_cross(from, to);
    double sine = v3_norm(axis);
    if (!(sine > 0.0)) {
        return share < 0.5 ? from : to;
    }
    quat turn = poise_quat_from_axis_angle(axis, share * poise_atan2(sine, v3_dot(from, to)));
    return v3_normalize(quat_rotate(turn, from));
}

// The goal at `share` of the way between two that match. A posture is written to `q` (nq numbers), which may be either's.
static poise_goal goal_mix(const poise_model *model, const poise_goal *from, const poise_goal *to, double share, double *q)
{
    poise_goal mixed = *to;
    if (is_posture(to->kind)) {
        poise_interpolate(model, from->q, to->q, min2(share, 1.0), 0.5, q, NULL);
        mixed.q = q;
        return mixed;
    }
    if (share >= 1.0) {
        return mixed;
    }
    mixed.target.position = v3_combine(1.0 - share, from->target.position, share, to->target.position);
    mixed.target.rotation = turned(from->target.rotation, to->target.rotation, share);
    mixed.direction = to->kind == POISE_GOAL_DIRECTION ? swung(from->direction, to->direction, share) : to->direction;
    mixed.distance = from->distance + share * (to->distance - from->distance);
    return mixed;
}

// ---- Keys ----------------------------------------------------------------------------------------------------------------

// Numbers of a target that a spline goes through: position, rotation, direction, distance.
enum { NUMBERS = 11 };

static double number_of(const poise_goal *g, int i)
{
    const poise_pose *t = &g->target;
    const double all[NUMBERS] = {t->position.x, t->position.y,  t->position.z,  t->rotation.x,  t->rotation.y, t->rotation.z,
                                 t->rotation.w, g->direction.x, g->direction.y, g->direction.z, g->distance};
    return all[i];
}

// Second derivatives at the knots of the natural cubic spline through y, by the tridiagonal system
//
//   h_(k-1) m_(k-1) + 2 (h_(k-1) + h_k) m_k + h_k m_(k+1) = 6 ((y_(k+1) - y_k)/h_k - (y_k - y_(k-1))/h_(k-1))
static void bend_spline(const poise_pin_key *keys, const double *y, int count, double *m, double *work)
{
    m[0] = work[0] = 0.0;
    for (int k = 1; k + 1 < count; ++k) {
        double left = keys[k].time - keys[k - 1].time, right = keys[k + 1].time - keys[k].time;
        double pivot = 2.0 * (left + right) - left * work[k - 1];
        work[k] = right / pivot;
        m[k] = (6.0 * ((y[k + 1] - y[k]) / right - (y[k] - y[k - 1]) / left) - left * m[k - 1]) / pivot;
    }
    m[count - 1] = 0.0;
    for (int k = count - 2; k > 0; --k) {
        m[k] -= work[k] * m[k + 1];
    }
}

// Quaternions next to each other on the same half of the sphere.
static double sign_of(const poise_pin_key *keys, int k)
{
    double sign = 1.0;
    for (int i = 1; i <= k; ++i) {
        quat a = keys[i - 1].goal.target.rotation, b = keys[i].goal.target.rotation;
        sign = a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w < 0.0 ? -sign : sign;
    }
    return sign;
}

// The goal at `time` along keys: positions, rotations (as quaternions, made unit), directions and distances on a natural
// cubic spline. `work` has room for 4 count numbers.
static poise_goal goal_on_keys(const poise_pin_key *keys, int count, double time, double *work)
{
    int k = 0;
    while (k + 2 < count && time > keys[k + 1].time) {
        ++k;
    }
    if (count < 2 || time <= keys[0].time || time >= keys[count - 1].time) {
        return keys[count < 2 || time <= keys[0].time ? 0 : count - 1].goal;
    }
    poise_goal goal = keys[k].goal;
    double *y = work, *m = work + count, *scratch = work + 2 * count, value[NUMBERS];
    double h = keys[k + 1].time - keys[k].time, b = (time - keys[k].time) / h, a = 1.0 - b;
    for (int i = 0; i < NUMBERS; ++i) {
        for (int j = 0; j < count; ++j) {
            y[j] = number_of(&keys[j].goal, i) * (i >= 3 && i < 7 ? sign_of(keys, j) : 1.0);
        }
        bend_spline(keys, y, count, m, scratch);
        value[i] = a * y[k] + b * y[k + 1] + ((a * a * a - a) * m[k] + (b * b * b - b) * m[k + 1]) * h * h / 6.0;
    }
    goal.target.position = v3(value[0], value[1], value[2]);
    goal.target.rotation = quat_normalize((quat){value[3], value[4], value[5], value[6]});
    goal.direction = v3_normalize(v3(value[7], value[8], value[9]));
    goal.distance = max2(value[10], 0.0);
    return goal;
}

// ---- Checks --------------------------------------------------------------------------------------------------------------

static poise_status check_keys(const poise_model *model, const poise_pin *pin, int number, poise_error *error)
{
    for (int k = 0; k < pin->key_count; ++k) {
        const poise_pin_key *key = &pin->keys[k];
        if (poise_goal_check(&key->goal, model, error) != POISE_OK) {
            return POISE_ERROR_ARGUMENT;
        }
        if (!goals_match(&key->goal, &pin->keys[0].goal) || !is_finite(key->time) ||
            (k > 0 && !(key->time > key[-1].time))) {
            return pz_error_set(error, POISE_ERROR_ARGUMENT,
                                "pin %d, key %d: keys must have one kind and one body, and increasing times", number, k + 1);
        }
        if (key->goal.kind == POISE_GOAL_POSTURE || key->goal.kind == POISE_GOAL_SMOOTHNESS) {
            return pz_error_set(error, POISE_ERROR_UNSUPPORTED,
                                "pin %d: postures cannot have keys; give each a pin of its own, and they blend", number);
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
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "pin %d: ends (%g s) before it begins (%g s)", number, pin->to,
                            pin->from);
    }
    const poise_goal *goal = has_keys ? &pin->keys[0].goal : &pin->goal;
    if (pin->target == POISE_PIN_SHIFT && (has_keys || goal->kind != POISE_GOAL_POSITION)) {
        return pz_error_set(error, POISE_ERROR_UNSUPPORTED, "pin %d: only a position without keys can be a shift", number);
    }
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

static const poise_goal *goal_of_pin(const poise_pin *pin)
{
    return pin->key_count > 0 ? &pin->keys[0].goal : &pin->goal;
}

// The part of a goal that a plan is about.
static poise_goal part_of(const plan *p, poise_goal goal)
{
    if (goal.kind != p->part) {
        goal.kind = p->part;
        goal.weight = p->part == POISE_GOAL_ORIENTATION ? goal.rotation_weight : goal.weight;
        goal.local.rotation = p->part == POISE_GOAL_POSITION ? poise_pose_identity().rotation : goal.local.rotation;
        goal.local.position = p->part == POISE_GOAL_ORIENTATION ? v3(0, 0, 0) : goal.local.position;
    }
    return goal;
}

static bool match(const plan *a, const plan *b)
{
    poise_goal own = part_of(a, *goal_of_pin(a->pin)), other = part_of(b, *goal_of_pin(b->pin));
    return goals_match(&own, &other);
}

// Where a time lies, in frames.
static double frame_at(const poise_clip *clip, double time)
{
    double at = (time - clip->start_time) / clip->frame_time, whole = round_down(at + 0.5);
    return fabs(at - whole) < ROUNDED ? whole : at;
}

static poise_status plan_one(const job *j, const poise_pin *pin, int index, plan *p, poise_error *error)
{
    const poise_clip *clip = j->editor.clip;
    double first = pin->key_count > 0 ? pin->keys[0].time : pin->from;
    double last = pin->key_count > 0 ? pin->keys[pin->key_count - 1].time : pin->to;
    double end = clip->start_time + (clip->frames - 1) * clip->frame_time;
    *p = (plan){.pin = pin, .index = index, .part = goal_of_pin(pin)->kind};
    p->from = frame_at(clip, first);
    p->to = p->until = frame_at(clip, last);
    p->fade_in = pin->fade_in / clip->frame_time;
    p->fade_out = pin->fade_out / clip->frame_time;
    if (!(p->from <= clip->frames - 1 + NEAR_FRAME) || !(p->to >= -NEAR_FRAME)) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT,
                            "pin %d: it holds from %g s to %g s, but the clip runs from %g s to %g s", index + 1, first,
                            last, clip->start_time, end);
    }
    if (!(round_down(p->to + NEAR_FRAME) >= p->from - NEAR_FRAME)) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "pin %d: no frame lies between %g s and %g s", index + 1, first,
                            last);
    }
    return POISE_OK;
}

// Does a pin ask for the position or the orientation of a body alone? Poses of that body are planned in these two parts
// then, so that positions follow positions and orientations orientations.
static bool has_parts(const poise_pin *pins, int count, int body)
{
    for (int i = 0; i < count; ++i) {
        const poise_goal *g = goal_of_pin(&pins[i]);
        if ((g->kind == POISE_GOAL_POSITION || g->kind == POISE_GOAL_ORIENTATION) && g->body == body) {
            return true;
        }
    }
    return false;
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
// from there. Shifts add up: they are gone where the other one holds.
static void chain(job *j)
{
    for (int i = 0; i < j->count; ++i) {
        plan *p = &j->plans[i], *next = NULL;
        for (int k = i + 1; k < j->count && !next; ++k) {
            next = match(p, &j->plans[k]) ? &j->plans[k] : NULL;
        }
        if (next && next->from - next->fade_in < p->to + p->fade_out) {
            double gap = max2(next->from - p->to, 0.0);
            next->fade_in = min2(next->fade_in, gap);
            if (p->pin->target == POISE_PIN_SHIFT && next->pin->target == POISE_PIN_SHIFT) {
                p->fade_out = min2(p->fade_out, gap);
                continue;
            }
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

// The correction at a frame in which a pin holds; `on` is the frame after or before it that tells how it changes.
static poise_status find_shift(job *j, const plan *p, int frame, int on, shift *s, poise_error *error)
{
    const poise_goal *goal = &p->pin->goal;
    vec3 away[2];
    poise_status status = POISE_OK;
    for (int i = 0; i < 2 && status == POISE_OK; ++i) {
        status = pz_editor_begin(&j->editor, i == 0 ? frame : on, error);
        away[i] = v3_sub(goal->target.position, goal_met(goal, j->editor.kin, NULL).target.position);
    }
    if (status == POISE_OK) {
        *s = (shift){frame, away[0], on == frame ? v3(0, 0, 0) : v3_scale(v3_sub(away[1], away[0]), 1.0 / (on - frame))};
    }
    return status;
}

static poise_status find_shifts(job *j, plan *p, poise_error *error)
{
    int most = j->editor.clip->frames - 1;
    int first = (int)max2(-round_down(-(p->from - NEAR_FRAME)), 0.0), last = (int)min2(round_down(p->to + NEAR_FRAME), most);
    poise_status status = find_shift(j, p, first, least(first + 1, last), &p->begin, error);
    return status == POISE_OK ? find_shift(j, p, last, last > first ? last - 1 : last, &p->end, error) : status;
}

// Goals that pins leave where they are: at the first frame in which they hold. Corrections at the ends of shifts.
static poise_status find_here(job *j, poise_error *error)
{
    poise_status status = POISE_OK;
    for (int i = 0; i < j->count && status == POISE_OK; ++i) {
        plan *p = &j->plans[i];
        int frame = (int)max2(-round_down(-(p->from - NEAR_FRAME)), 0.0); // at or after it
        if (p->pin->target == POISE_PIN_HERE) {
            status = pz_editor_begin(&j->editor, least(frame, j->editor.clip->frames - 1), error);
            p->here = goal_met(&p->pin->goal, j->editor.kin, pz_editor_original(&j->editor, frame));
        } else if (p->pin->target == POISE_PIN_SHIFT) {
            status = find_shifts(j, p, error);
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
        return goal_on_keys(pin->keys, pin->key_count, clip->start_time + frame * clip->frame_time, j->work);
    }
    return pin->target == POISE_PIN_HERE   ? p->here
           : pin->target == POISE_PIN_PATH ? goal_met(&pin->goal, j->editor.kin, pz_editor_original(&j->editor, frame))
                                           : pin->goal;
}

// The fades of a shift: from + S(u) (d + d' t), the correction as it would continue, faded out.
static poise_goal shifted(const plan *p, const poise_goal *from, const poise_goal *to, int frame, double share)
{
    const shift *s = frame < p->from ? &p->begin : &p->end;
    poise_goal goal = *to;
    goal.target.position = v3_mad(from->target.position, share, v3_mad(s->away, frame - s->frame, s->slope));
    return goal;
}

// The largest share of the pins of a place.
static double share_of_place(const job *j, const plan *p, int frame)
{
    double most = 0.0;
    for (int i = 0; i < j->count; ++i) {
        most = max2(most, match(p, &j->plans[i]) ? share_of(&j->plans[i], frame) : 0.0);
    }
    return most;
}

// Mix a pin into the goals of its place, or begin those with the original's.
static void add_pin(job *j, const plan *p, int frame, double strength)
{
    pz_editor *e = &j->editor;
    poise_goal to = part_of(p, target_of(j, p, frame)), from = goal_met(&to, e->kin, pz_editor_original(e, frame));
    int at = 0;
    while (at < e->goal_count && !goals_match(&e->goals[at], &to)) {
        ++at;
    }
    int count = e->goal_count;
    if (at < count) {
        from = e->goals[at];
    }
    double share = share_of(p, frame);
    poise_goal mixed = p->pin->target == POISE_PIN_SHIFT && share < 1.0
                           ? shifted(p, &from, &to, frame, share * strength)
                           : goal_mix(e->model, &from, &to, share * strength, j->mixed);
    e->goal_count = at;
    double held = share_of_place(j, p, frame);
    pz_editor_add(e, &mixed, KEPT_WEIGHT + (1.0 - KEPT_WEIGHT) * held);
    e->yields[at] = held < 1.0;
    e->goal_count = at < count ? count : count + 1;
}

// The goals of a frame, each of them `strength` of the way from the original.
static void gather(job *j, int frame, double strength)
{
    for (int i = 0; i < j->count; ++i) {
        const plan *p = &j->plans[i];
        double share = share_of(p, frame);
        bool is_posture = p->part == POISE_GOAL_POSTURE || p->part == POISE_GOAL_SMOOTHNESS;
        if (share > 0.0 || (p->is_in_stretch && !is_posture)) {
            add_pin(j, p, frame, strength);
        }
    }
    for (int s = 0; s < 2; ++s) {
        if (j->foot[s] >= 0) {
            poise_goal stay = poise_goal_default(POISE_GOAL_POSE);
            stay.body = j->foot[s];
            stay = goal_met(&stay, j->editor.kin, NULL);
            pz_editor_add(&j->editor, &stay, FOOT_WEIGHT);
        }
    }
}

// The largest share of a pin that moves the skeleton; paths count where something else does.
static double most_of(const job *j, int frame)
{
    double most = 0.0;
    for (int i = 0; i < j->count; ++i) {
        bool moves = j->plans[i].pin->target != POISE_PIN_PATH;
        most = max2(most, moves ? share_of(&j->plans[i], frame) : 0.0);
    }
    return most;
}

// The stretch of frames that pins move around this one, and the pins that reach it.
static void find_stretch(job *j, int frame)
{
    if (frame >= j->stretch_first && frame < j->stretch_end) {
        return;
    }
    for (j->stretch_first = frame; j->stretch_first > 0 && most_of(j, j->stretch_first - 1) > 0.0; --j->stretch_first) {
    }
    for (j->stretch_end = frame + 1; j->stretch_end < j->editor.clip->frames && most_of(j, j->stretch_end) > 0.0;
         ++j->stretch_end) {
    }
    for (int i = 0; i < j->count; ++i) {
        plan *p = &j->plans[i];
        p->is_in_stretch = false;
        for (int f = j->stretch_first; f < j->stretch_end && !p->is_in_stretch; ++f) {
            p->is_in_stretch = share_of(p, f) > 0.0;
        }
    }
}

static poise_status edit_frame(job *j, int frame, poise_error *error)
{
    pz_editor *e = &j->editor;
    double most = most_of(j, frame);
    if (!(most > 0.0)) {
        return POISE_OK;
    }
    find_stretch(j, frame);
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
    double tolerance = p->pin->target == POISE_PIN_SHIFT ? j->foot_tolerance : j->options->position_tolerance;
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
    *r = (poise_pin_result){.first = frames,
                            .last = -1,
                            .held_first = frames,
                            .held_last = -1,
                            .size = j->editor.size,
                            .worst_frame = POISE_NONE};
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
            stay = goal_met(&stay, e->kin, NULL);
            status = status == POISE_OK ? pz_editor_error(e, &stay, pz_editor_frame(e, f), &miss, error) : status;
            report->kept_length = max2(report->kept_length, miss.error);
        }
    }
    report->kept = (j->foot[0] >= 0) + (j->foot[1] >= 0);
    return status;
}

// Does the point that a pin shifts jolt, or its body's origin: of a foot, the ball or the ankle?
static poise_status judge_jolt(job *j, const poise_goal *goal, const poise_pin_result *r, poise_pin_report *report,
                               poise_error *error)
{
    poise_goal points[] = {*goal, *goal};
    points[1].local.position = v3(0, 0, 0);
    poise_status status = POISE_OK;
    for (int i = 0; i < 2 && status == POISE_OK; ++i) {
        status = pz_editor_find_jolt(&j->editor, &points[i], r->first - 1, r->last + 1, report, error);
    }
    return status;
}

static poise_status judge_all(job *j, poise_pin_result *results, poise_pin_report *report, poise_error *error)
{
    poise_status status = pz_editor_measure(&j->editor, report, error);
    bool *missed = j->editor.missed;
    for (int i = 0; i < j->count && status == POISE_OK; ++i) {
        const plan *p = &j->plans[i];
        if (p->part == POISE_GOAL_ORIENTATION && goal_of_pin(p->pin)->kind == POISE_GOAL_POSE) {
            continue; // a pose is judged whole, once
        }
        poise_pin_result r;
        status = judge(j, p, &r, missed, error);
        if (results) {
            results[p->index] = r;
        }
        if (status == POISE_OK && p->pin->target == POISE_PIN_SHIFT) {
            status = judge_jolt(j, &p->pin->goal, &r, report, error);
        }
    }
    for (int f = 0; f < j->editor.clip->frames; ++f) {
        report->missed += missed[f];
    }
    return status == POISE_OK ? judge_feet(j, report, error) : status;
}

// ---- One pass ------------------------------------------------------------------------------------------------------------

// Feet that no pin moves, where the root is free to move them.
static poise_status find_feet(job *j, const poise_allocator *allocator, poise_error *error)
{
    pz_anatomy anatomy;
    j->foot[0] = j->foot[1] = POISE_NONE;
    poise_status status = j->options->keep_feet ? pz_figure_of(j->editor.model, allocator, &anatomy) : POISE_OK;
    if (status != POISE_OK) {
        return pz_error_set(error, status, "out of memory");
    }
    for (int s = 0; s < 2 && j->options->keep_feet && anatomy.stature > 0; ++s) {
        int body = anatomy.part[PZ_FOOT][s == 0 ? PZ_LEFT : PZ_RIGHT].body;
        for (int i = 0; i < j->count && body >= 0; ++i) {
            const poise_goal *g = goal_of_pin(j->plans[i].pin);
            bool has_body = g->kind != POISE_GOAL_POSTURE && g->kind != POISE_GOAL_SMOOTHNESS;
            bool is_on_leg =
                has_body && g->kind != POISE_GOAL_CENTER_OF_MASS &&
                pz_hangs_from(j->editor.model, g->body, anatomy.part[PZ_THIGH][s == 0 ? PZ_LEFT : PZ_RIGHT].body);
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
        if (p.part == POISE_GOAL_POSE && has_parts(pins, count, goal_of_pin(&pins[i])->body)) {
            p.part = POISE_GOAL_ORIENTATION;
            insert(j->plans, j->count++, p);
            p.part = POISE_GOAL_POSITION;
        }
        insert(j->plans, j->count++, p);
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

// Bones keep the lengths that the clip gives them: three slides of a joint below the body that carries the motion stay, as
// does what stands still above it.
static void lock(const poise_model *m, const poise_clip *clip, const bool *asked, bool *locked)
{
    pz_moving_root root = pz_moving_root_of(m, clip, NULL);
    for (int i = 0; i < poise_model_info(m).nv; ++i) {
        locked[i] = (asked && asked[i]) || i < poise_model_joint_info(m, root.first).v;
    }
    for (int k = root.last + 1; k < poise_model_info(m).joints; ++k) {
        for (int i = 0;
             pz_lengths_of(poise_model_joint_info(m, k).type) == 3 && poise_model_joint_info(m, k).parent >= 0 && i < 3;
             ++i) {
            locked[poise_model_joint_info(m, k).v + i] = true;
        }
    }
}

static bool carries_or_hangs_on(const poise_model *m, int b, int body)
{
    return body != POISE_WORLD && (pz_hangs_from(m, body, b) || pz_hangs_from(m, b, body));
}

// Bodies that a pin is there to move: its own, what that carries, and what carries it. A posture is there to move all.
static void mark_moved(const poise_model *m, const poise_pin *pin, bool *moved)
{
    const poise_goal *goal = goal_of_pin(pin);
    bool has_body =
        goal->kind != POISE_GOAL_POSTURE && goal->kind != POISE_GOAL_SMOOTHNESS && goal->kind != POISE_GOAL_CENTER_OF_MASS;
    for (int b = 0; b < poise_model_info(m).joints && pin->target != POISE_PIN_PATH; ++b) {
        moved[b] = moved[b] || !has_body || carries_or_hangs_on(m, b, goal->body) ||
                   (goal->kind == POISE_GOAL_RELATIVE && carries_or_hangs_on(m, b, goal->body2));
    }
}

static void lay_out_job(job *j, int count, int keys, int nq, pz_arena *arena)
{
    j->plans = pz_arena_take(arena, 2 * (size_t)count, sizeof *j->plans);
    j->mixed = pz_arena_take(arena, (size_t)nq, sizeof(double));
    j->work = pz_arena_take(arena, 4 * (size_t)keys, sizeof(double));
}

// poise_clip_pin in one pass.
static poise_status pin_once(const poise_model *model, const poise_pin *pins, int count, const poise_pin_options *options,
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
    pz_owned locks = {0};
    bool *locked = clip && clip->nq == poise_model_info(model).nq
                       ? pz_owned_take(&locks, allocator,
                                       (size_t)poise_model_info(model).nv + (size_t)poise_model_info(model).joints + 1)
                       : NULL;
    if (!locked) {
        return clip && clip->nq == poise_model_info(model).nq
                   ? pz_error_set(error, POISE_ERROR_MEMORY, "out of memory")
                   : pz_error_set(error, POISE_ERROR_ARGUMENT, "the clip must not be NULL, and of this model");
    }
    lock(model, clip, own.locked, locked);
    bool *moved = locked + poise_model_info(model).nv;
    memset(moved, 0, (size_t)poise_model_info(model).joints * sizeof *moved);
    pz_editor_room room = {.goals = 2 * count + 2, .rows = 2 * POISE_GOAL_RESIDUALS, .locked = locked, .moved = moved};
    int keys = 1;
    for (int i = 0; i < count; ++i) {
        poise_goal_kind kind = goal_of_pin(&pins[i])->kind;
        mark_moved(model, &pins[i], moved);
        room.rows += pz_goal_rows_most(model, kind);
        room.coupled += kind == POISE_GOAL_RELATIVE || kind == POISE_GOAL_CENTER_OF_MASS;
        keys = pins[i].key_count > keys ? pins[i].key_count : keys;
    }
    status = pz_editor_open(model, &room, clip, allocator, &j.editor, error);
    if (status != POISE_OK) {
        pz_owned_release(&locks);
        return status;
    }
    double metres = own.metres > 0 ? own.metres : METRE / j.editor.size;
    j.foot_tolerance = own.position_tolerance > 0 ? own.position_tolerance : 1e-4 / metres;
    own.position_tolerance = own.position_tolerance > 0 ? own.position_tolerance : 1e-6 / metres;
    pz_arena counting = pz_arena_counting();
    pz_owned owned = {0};
    lay_out_job(&j, count, keys, poise_model_info(model).nq, &counting);
    size_t size = pz_arena_bytes(&counting);
    if (pz_owned_take(&owned, allocator, size)) {
        pz_arena arena = pz_arena_over(owned.memory, size);
        lay_out_job(&j, count, keys, poise_model_info(model).nq, &arena);
        status = clip->frames > 0 ? run(&j, pins, count, allocator, results, report ? report : &unused, error) : POISE_OK;
    } else {
        status = pz_error_set(error, POISE_ERROR_MEMORY, "out of memory for %d pins", count);
    }
    if (status != POISE_OK) {
        memcpy(clip->q, j.editor.original, (size_t)clip->frames * (size_t)clip->nq * sizeof *clip->q);
    }
    pz_owned_release(&owned);
    pz_editor_close(&j.editor);
    pz_owned_release(&locks);
    return status;
}

// ---- Pins that are out of reach ------------------------------------------------------------------------------------------

// A limb pulled towards a place beyond its reach is stretched long before its fade ends, and snaps there. Such a pin is
// faded to where the limb then came, the nearest place that it reaches; what it misses by stays what it was.
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

static void lay_out_second(second_pass *s, int count, size_t numbers, pz_arena *arena)
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
    status = status == POISE_OK ? pin_once(model, s->pins, count, options, clip, allocator, NULL, report, error) : status;
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
    poise_status status = pin_once(model, pins, count, options, clip, allocator, results, report, error);
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
        return pin_once(model, pins, count, options, clip, allocator, results, report, error);
    }
    second_pass s;
    poise_pin_report unused;
    pz_arena counting = pz_arena_counting();
    size_t numbers = (size_t)clip->frames * (size_t)clip->nq;
    lay_out_second(&s, count, numbers, &counting);
    size_t size = pz_arena_bytes(&counting);
    void *memory = pz_allocate(allocator, size);
    if (!memory) {
        return pz_error_set(error, POISE_ERROR_MEMORY, "out of memory for %d pins", count);
    }
    pz_arena arena = pz_arena_over(memory, size);
    lay_out_second(&s, count, numbers, &arena);
    poise_status status = pin_within_reach(model, pins, count, options, clip, allocator, results ? results : s.results, &s,
                                           report ? report : &unused, error);
    pz_release(allocator, memory);
    return status;
}
