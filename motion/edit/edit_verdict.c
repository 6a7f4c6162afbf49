// How far an edited motion can be trusted: what the edit did to the body that no goal asked for.
//
// Limits of files are wide, or missing: a clavicle may turn by 77 degrees within them, an elbow bend backwards, and the chest
// follow a hand. So the motion is compared with what it was, part by part of the body (retarget/roles.c), in every frame
// that changed. R is the rotation of a part against the one it hangs on, a its bone:
//
//   collar     |log(R^-1 R')|                of a clavicle
//   twisted    the angle about a in R^-1 R'  of the bones of arms and legs
//   dragged    |log(R^-1 R')|                of the chest in the world, where no pin is on the trunk
//   bent       how far an elbow or knee leaves the plane and the side to which it bends in the motion as it was
//
// For the last, d is the direction of the forearm (or shank) seen from what it hangs on and a that of the bone above it. The
// side b to which a limb bends is the mean of d without its part along a. Then atan2(d b, d a) is how far it bends, and
// asin(d (a x b)) how far sideways; what counts is by how much both leave what the motion itself did, or straight.
//
// Speeds are those of joints, against their limits or 20 rad/s, unless the motion was as fast there already. Overlaps are
// those that were not as deep before, pair by pair and frame by frame.
#include <poise/edit.h>
#include <poise/retarget.h>

#include "base/arena.h"
#include "base/error.h"
#include "motion/retarget/actor.h"
#include "motion/verdict.h"
#include "num/real.h"
#include "num/rotation.h"

#include <string.h>

#define USUAL_SPEED 20.0 // rad/s: the limit of a joint without one
#define NEAR_SPEED  2    // twice as many frames, up to this one, in which a speed of the original excuses
#define AS_FAST     1.25 // times as much of the edit
#define BENDS       0.2  // mean size of the part of d across a: straighter limbs show no side
#define SURE        0.7  // of it, in one direction

// What is looked at: a part of the body against the one above it.
typedef struct watched {
    int body, above; // bodies; above POISE_WORLD: the world
    vec3 axis;       // along the bone, in the body's frame; zero: it is not asked for
    double usual;    // times as much as the bound is usual: forearms turn by 150 degrees about their length
    poise_finding_kind kind;
} watched;

// An elbow or a knee.
typedef struct hinge {
    int carrier, lower, end; // bodies: what the lower bone hangs on, the bone, what is at its end
    vec3 along, side;        // a and b
    double least, sideways;  // how the motion as it was bends: the least bend, at most 0, and the largest sideways
    bool is_known;
} hinge;

enum { MOST_PARTS = 16, HINGES = 4 };

// The worst of a quantity over the frames, and the frames around it in which it is too large.
typedef struct worst {
    double value, distance;
    int frame, first, last;
    bool is_open; // the frames around the worst one may still go on
} worst;

typedef struct work {
    const poise_edit_problem *problem;
    const poise_model *model;
    poise_kinematics *kin[2]; // of a frame: before, after
    pz_findings found;
    pz_roles roles;
    watched parts[MOST_PARTS];
    int part_count;
    hinge hinges[HINGES];
    int hinge_count;
    int changed;      // frames
    int first, last;  // of those
    bool holds_trunk; // a pin does
    double *velocity; // nv: limits
    quat *turn[2];    // by joint: rotation against the parent in the frame before; before, after
    double *recent;   // joints x (2 NEAR_SPEED + 1): speeds of the original around a frame
} work;

static const double *frame_of(const poise_clip *clip, int frame)
{
    return clip->q + (size_t)frame * (size_t)clip->nq;
}

static bool is_changed(const work *w, int frame)
{
    const poise_edit_problem *p = w->problem;
    return memcmp(frame_of(p->before, frame), frame_of(p->after, frame), (size_t)p->before->nq * sizeof(double)) != 0;
}

static quat rotation_of(const poise_kinematics *kin, int body)
{
    return body < 0 ? poise_pose_identity().rotation : poise_kinematics_body_pose(kin, body).rotation;
}

static vec3 place_of(const poise_kinematics *kin, int body)
{
    return poise_kinematics_body_pose(kin, body).position;
}

static double angle_of(quat turn)
{
    return v3_norm(so3_log(turn));
}

// R^-1 R': from the part as it was to the part as it is, both seen from what they hang on.
static quat turn_of(const work *w, int body, int above)
{
    quat was = quat_mul(quat_conj(rotation_of(w->kin[0], above)), rotation_of(w->kin[0], body));
    quat is = quat_mul(quat_conj(rotation_of(w->kin[1], above)), rotation_of(w->kin[1], body));
    return quat_mul(quat_conj(was), is);
}

// ---- Parts of the body ---------------------------------------------------------------------------------------------------

// From a body to another, in the first one's frame.
static vec3 bone(const poise_kinematics *kin, int from, int to)
{
    vec3 way = v3_sub(place_of(kin, to), place_of(kin, from));
    double length = v3_norm(way);
    return length > 0 ? quat_rotate(quat_conj(rotation_of(kin, from)), v3_scale(way, 1.0 / length)) : v3(0, 0, 0);
}

static void add_part(work *w, int body, int above, int next, poise_finding_kind kind, double usual)
{
    if (body < 0 || (above < 0 && kind != POISE_FINDING_DRAGGED) || (next < 0 && kind == POISE_FINDING_TWISTED)) {
        return;
    }
    vec3 axis = kind == POISE_FINDING_TWISTED ? bone(w->kin[0], body, next) : v3(0, 0, 0);
    if (kind != POISE_FINDING_TWISTED || v3_norm(axis) > 0) {
        w->parts[w->part_count++] = (watched){body, above, axis, usual, kind};
    }
}

static void add_hinge(work *w, int upper, int lower, int end)
{
    if (upper >= 0 && lower >= 0 && end >= 0) {
        int carrier = poise_model_joint_info(w->model, lower).parent; // which may roll on the bone above
        w->hinges[w->hinge_count++] = (hinge){.carrier = carrier, .lower = lower, .end = end};
    }
}

static void find_parts(work *w)
{
    const int *body = w->roles.body;
    int chest = body[POISE_ROLE_CHEST];
    for (int side = 0; side <= POISE_ROLE_SIDE; side += POISE_ROLE_SIDE) {
        int collar = body[POISE_ROLE_CLAVICLE + side], shoulder = collar >= 0 ? collar : chest;
        int upper = body[POISE_ROLE_UPPER_ARM + side], fore = body[POISE_ROLE_FOREARM + side];
        int thigh = body[POISE_ROLE_THIGH + side], shank = body[POISE_ROLE_SHANK + side];
        int hand = body[POISE_ROLE_HAND + side], foot = body[POISE_ROLE_FOOT + side];
        add_part(w, collar, chest, upper, POISE_FINDING_COLLAR, 1);
        add_part(w, upper, shoulder, fore, POISE_FINDING_TWISTED, 1);
        add_part(w, fore, upper, hand, POISE_FINDING_TWISTED, 2);
        add_part(w, thigh, body[POISE_ROLE_PELVIS], shank, POISE_FINDING_TWISTED, 1);
        add_part(w, shank, thigh, foot, POISE_FINDING_TWISTED, 1);
        add_hinge(w, upper, fore, hand);
        add_hinge(w, thigh, shank, foot);
    }
    if (!w->holds_trunk) {
        add_part(w, chest, POISE_WORLD, POISE_NONE, POISE_FINDING_DRAGGED, 1);
    }
}

// Is a pin there to move the trunk: on a body of no limb, or on all?
static bool holds_trunk(const work *w)
{
    static const int limbs[] = {POISE_ROLE_CLAVICLE, POISE_ROLE_UPPER_ARM, POISE_ROLE_THIGH};
    const poise_edit_problem *p = w->problem;
    for (int i = 0; i < p->pin_count; ++i) {
        const poise_goal *goal = p->pins[i].key_count > 0 ? &p->pins[i].keys[0].goal : &p->pins[i].goal;
        bool has_body = goal->kind != POISE_GOAL_POSTURE && goal->kind != POISE_GOAL_SMOOTHNESS &&
                        goal->kind != POISE_GOAL_CENTER_OF_MASS;
        bool is_on_limb = false;
        for (int k = 0; k < 6 && has_body; ++k) {
            int root = w->roles.body[limbs[k / 2] + (k % 2) * POISE_ROLE_SIDE];
            is_on_limb = is_on_limb || (root >= 0 && pz_is_below(w->model, root, goal->body));
        }
        if (!is_on_limb && p->pins[i].target != POISE_PIN_PATH && p->pins[i].target != POISE_PIN_HERE) {
            return true;
        }
    }
    return p->pin_count == 0;
}

// ---- Elbows and knees ----------------------------------------------------------------------------------------------------

// The direction of the lower bone, seen from what it hangs on.
static vec3 lower_of(const poise_kinematics *kin, const hinge *h)
{
    vec3 way = v3_sub(place_of(kin, h->end), place_of(kin, h->lower));
    double length = v3_norm(way);
    return length > 0 ? quat_rotate(quat_conj(rotation_of(kin, h->carrier)), v3_scale(way, 1.0 / length)) : h->along;
}

static void bend_of(const hinge *h, vec3 d, double *bend, double *sideways)
{
    *bend = poise_atan2(v3_dot(d, h->side), v3_dot(d, h->along));
    double s = v3_dot(d, v3_cross(h->along, h->side));
    *sideways = fabs(poise_atan2(s, sqrt(max2(1.0 - s * s, 0.0))));
}

static poise_status find_sides(work *w, poise_error *error)
{
    const poise_clip *clip = w->problem->before;
    double size[HINGES] = {0};
    poise_status status = POISE_OK;
    for (int f = 0; f < clip->frames && status == POISE_OK; ++f) {
        status = poise_kinematics_update(w->kin[0], frame_of(clip, f), error);
        for (int i = 0; i < w->hinge_count && status == POISE_OK; ++i) {
            hinge *h = &w->hinges[i];
            if (f == 0) {
                vec3 along = v3_sub(place_of(w->kin[0], h->lower), place_of(w->kin[0], h->carrier));
                int up = h->carrier; // roll bones sit on the joint: their bone begins above
                while (v3_norm(along) < 1e-9 && poise_model_joint_info(w->model, up).parent >= 0) {
                    up = poise_model_joint_info(w->model, up).parent;
                    along = v3_sub(place_of(w->kin[0], h->lower), place_of(w->kin[0], up));
                }
                double length = v3_norm(along);
                h->along = length > 0
                               ? quat_rotate(quat_conj(rotation_of(w->kin[0], h->carrier)), v3_scale(along, 1 / length))
                               : v3(0, 0, 0);
            }
            vec3 d = lower_of(w->kin[0], h), across = v3_sub(d, v3_scale(h->along, v3_dot(d, h->along)));
            h->side = v3_add(h->side, across);
            size[i] += v3_norm(across);
        }
    }
    for (int i = 0; i < w->hinge_count; ++i) {
        hinge *h = &w->hinges[i];
        double sum = v3_norm(h->side);
        h->is_known = v3_norm(h->along) > 0 && size[i] > BENDS * clip->frames && sum > SURE * size[i];
        h->side = sum > 0 ? v3_scale(h->side, 1.0 / sum) : h->side;
    }
    for (int f = 0; f < clip->frames && status == POISE_OK; ++f) {
        status = poise_kinematics_update(w->kin[0], frame_of(clip, f), error);
        for (int i = 0; i < w->hinge_count && status == POISE_OK; ++i) {
            double bend, sideways;
            bend_of(&w->hinges[i], lower_of(w->kin[0], &w->hinges[i]), &bend, &sideways);
            w->hinges[i].least = min2(w->hinges[i].least, bend);
            w->hinges[i].sideways = max2(w->hinges[i].sideways, sideways);
        }
    }
    return status;
}

static double backwards_of(const work *w, const hinge *h)
{
    double bend, sideways;
    bend_of(h, lower_of(w->kin[1], h), &bend, &sideways);
    return max2(h->least - bend, sideways - h->sideways);
}

// ---- Frames --------------------------------------------------------------------------------------------------------------

static void keep_worst(worst *most, double value, double bound, int frame)
{
    if (value > most->value) {
        bool goes_on = most->is_open && most->last == frame - 1 && most->value > bound;
        most->first = goes_on ? most->first : frame;
        most->value = value;
        most->frame = most->last = frame;
        most->is_open = true;
    } else if (most->is_open && value > bound && most->last == frame - 1) {
        most->last = frame;
    } else {
        most->is_open = false;
    }
}

// The twist of a turn about an axis: the angle of the rotation about it that comes nearest.
static double twist_about(quat turn, vec3 axis)
{
    double s = turn.x * axis.x + turn.y * axis.y + turn.z * axis.z, c = turn.w;
    double angle = 2.0 * fabs(poise_atan2(c < 0 ? -s : s, fabs(c)));
    return angle;
}

static double value_of(const work *w, const watched *p)
{
    quat turn = turn_of(w, p->body, p->above);
    return p->kind == POISE_FINDING_TWISTED ? twist_about(turn, p->axis) : angle_of(turn);
}

// The speed of every joint from the frame before to this one, and its share of what it may be.
static void measure_speeds(work *w, int frame, const bool *was_changed, worst *fast, int *joint)
{
    const poise_clip *clip = w->problem->after;
    int joints = poise_model_info(w->model).joints, window = 2 * NEAR_SPEED + 1;
    for (int k = 0; k < joints; ++k) {
        poise_joint_info info = poise_model_joint_info(w->model, k);
        double speed[2] = {0};
        for (int i = 0; i < 2; ++i) {
            quat now = quat_mul(quat_conj(rotation_of(w->kin[i], info.parent)), rotation_of(w->kin[i], k));
            speed[i] = frame > 0 ? angle_of(quat_mul(quat_conj(w->turn[i][k]), now)) / clip->frame_time : 0.0;
            w->turn[i][k] = now;
        }
        double *recent = w->recent + (size_t)k * (size_t)window;
        recent[frame % window] = speed[0];
        double limit = info.nv == 1 && is_finite(w->velocity[info.v]) ? w->velocity[info.v] : USUAL_SPEED;
        for (int i = 0; i < window && info.nv > 0; ++i) {
            limit = max2(limit, AS_FAST * recent[i]);
        }
        if (info.nv > 0 && *was_changed && speed[1] / limit > fast->value) {
            *fast = (worst){.value = speed[1] / limit, .distance = speed[1], .frame = frame, .first = frame, .last = frame};
            *joint = k;
        }
    }
}

static void tell(work *w, poise_finding_kind kind, int body, const worst *most)
{
    poise_finding f = {.kind = kind,
                       .name = body >= 0 ? poise_model_joint_info(w->model, body).body : NULL,
                       .value = most->value,
                       .first = most->first,
                       .last = most->last,
                       .distance = most->distance};
    poise_verdict_weigh(w->found.thresholds, f, false, &w->found.verdict, w->found.list, w->found.capacity);
}

static poise_status judge_frames(work *w, poise_error *error)
{
    const poise_edit_problem *p = w->problem;
    const double *bounds = w->found.thresholds->doubtful;
    worst parts[MOST_PARTS] = {{0}}, hinges[HINGES] = {{0}}, fast = {0};
    int fast_joint = POISE_NONE;
    bool was_changed = false;
    poise_status status = find_sides(w, error);
    for (int f = 0; f < p->before->frames && status == POISE_OK; ++f) {
        bool changed = is_changed(w, f);
        status = poise_kinematics_update(w->kin[0], frame_of(p->before, f), error);
        status = status == POISE_OK ? poise_kinematics_update(w->kin[1], frame_of(p->after, f), error) : status;
        if (status != POISE_OK) {
            break;
        }
        w->changed += changed;
        w->first = changed && w->first < 0 ? f : w->first;
        w->last = changed ? f : w->last;
        was_changed = was_changed || changed;
        measure_speeds(w, f, &was_changed, &fast, &fast_joint);
        was_changed = changed;
        for (int i = 0; i < w->part_count && changed; ++i) {
            keep_worst(&parts[i], value_of(w, &w->parts[i]), w->parts[i].usual * bounds[w->parts[i].kind], f);
        }
        for (int i = 0; i < w->hinge_count && changed; ++i) {
            if (w->hinges[i].is_known) {
                keep_worst(&hinges[i], backwards_of(w, &w->hinges[i]), bounds[POISE_FINDING_BENT], f);
            }
        }
    }
    for (int i = 0; i < w->part_count && status == POISE_OK; ++i) {
        double bound = bounds[w->parts[i].kind];
        parts[i].value = parts[i].value > w->parts[i].usual * bound ? parts[i].value : min2(parts[i].value, bound);
        tell(w, w->parts[i].kind, w->parts[i].body, &parts[i]);
    }
    for (int i = 0; i < w->hinge_count && status == POISE_OK; ++i) {
        tell(w, POISE_FINDING_BENT, w->hinges[i].lower, &hinges[i]);
    }
    if (status == POISE_OK && fast_joint >= 0) {
        tell(w, POISE_FINDING_FAST, fast_joint, &fast);
    }
    return status;
}

// ---- Pins and overlaps ---------------------------------------------------------------------------------------------------

static void judge_pins(work *w)
{
    const poise_edit_problem *p = w->problem;
    poise_finding unread = {.kind = POISE_FINDING_UNCHECKED, .name = "the skeleton", .value = p->unread};
    poise_verdict_weigh(w->found.thresholds, unread, false, &w->found.verdict, w->found.list, w->found.capacity);
    const poise_pin_report *r = p->report;
    for (int i = 0; p->results && i < p->pin_count; ++i) {
        const poise_pin_result *one = &p->results[i];
        const poise_goal *goal = p->pins[i].key_count > 0 ? &p->pins[i].keys[0].goal : &p->pins[i].goal;
        int held = one->held_last - one->held_first + 1;
        worst most = {.value = held > 0 ? one->missed / (double)held : 0.0,
                      .first = one->worst_frame >= 0 ? one->worst_frame : 0,
                      .distance = one->worst_length * (p->metres > 0 ? p->metres : 0.0)};
        bool has_body = goal->kind != POISE_GOAL_POSTURE && goal->kind != POISE_GOAL_SMOOTHNESS &&
                        goal->kind != POISE_GOAL_CENTER_OF_MASS;
        tell(w, POISE_FINDING_UNMET, has_body ? goal->body : POISE_NONE, &most);
    }
    if (r && r->frames > 0 && r->snap_frame >= 0) {
        int body = r->jolt_body;
        for (int k = 0; k < poise_model_info(w->model).joints && r->snap_dof >= 0; ++k) {
            poise_joint_info info = poise_model_joint_info(w->model, k);
            body = r->snap_dof >= info.v && r->snap_dof < info.v + info.nv ? k : body;
        }
        tell(w, POISE_FINDING_JOLTED, body, &(worst){.value = 1.0, .first = r->snap_frame, .last = r->snap_frame});
    }
}

// Overlaps in the frames that changed, where they are deeper than before.
static poise_status judge_overlaps(work *w, const poise_allocator *allocator, poise_error *error)
{
    const poise_edit_problem *p = w->problem;
    poise_overlap_problem problem = *p->overlap;
    poise_overlap is;
    poise_clip part[2] = {*p->before, *p->after};
    for (int i = 0; i < 2; ++i) {
        part[i].q += (size_t)w->first * (size_t)part[i].nq;
        part[i].frames = w->last - w->first + 1;
    }
    problem.model = w->model;
    problem.up = v3(0, 0, 0);
    problem.before = &part[0], problem.clip = &part[1];
    poise_status status = poise_overlap_measure(&problem, allocator, &is, error);
    if (status == POISE_OK && is.pairs > 0) {
        is.frame += w->first;
        poise_overlap_judge(&problem, &is, w->found.thresholds, &w->found.verdict, w->found.list, w->found.capacity);
    }
    return status;
}

// ---- The call ------------------------------------------------------------------------------------------------------------

static void lay_out(work *w, pz_arena *arena)
{
    size_t joints = (size_t)poise_model_info(w->model).joints;
    w->velocity = pz_arena_take(arena, (size_t)poise_model_info(w->model).nv + 1, sizeof(double));
    w->turn[0] = pz_arena_take(arena, joints, sizeof(quat));
    w->turn[1] = pz_arena_take(arena, joints, sizeof(quat));
    w->recent = pz_arena_take(arena, joints * (2 * NEAR_SPEED + 1), sizeof(double));
}

static poise_status judge(work *w, const poise_allocator *allocator, poise_error *error)
{
    pz_roles_find(w->model, w->kin[0], &w->roles); // in the neutral pose
    w->holds_trunk = holds_trunk(w);
    find_parts(w);
    poise_retarget_velocities(w->model, INFINITY, w->velocity);
    memset(w->recent, 0, (size_t)poise_model_info(w->model).joints * (2 * NEAR_SPEED + 1) * sizeof(double));
    poise_status status = judge_frames(w, error);
    if (status == POISE_OK) {
        judge_pins(w);
    }
    bool has_overlap = w->problem->overlap && (w->problem->overlap->hull_count > 0 || w->problem->overlap->shape_count > 0);
    return status == POISE_OK && has_overlap && w->changed > 0 ? judge_overlaps(w, allocator, error) : status;
}

poise_status poise_edit_judge(const poise_edit_problem *problem, const poise_allocator *allocator, poise_verdict *verdict,
                              poise_finding *findings, int capacity, poise_error *error)
{
    if (!problem || !problem->model || !problem->before || !problem->after || !verdict || capacity < 0 ||
        (capacity > 0 && !findings) || problem->pin_count < 0 || (problem->pin_count > 0 && !problem->pins)) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "problem, its model and clips, and verdict must not be NULL");
    }
    int nq = poise_model_info(problem->model).nq;
    if (problem->before->nq != nq || problem->after->nq != nq || problem->before->frames != problem->after->frames) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT,
                            "both clips must be of this model (%d coordinates) and have as many frames: %d and %d", nq,
                            problem->before->frames, problem->after->frames);
    }
    work w = {.problem = problem,
              .model = problem->model,
              .found = {.thresholds = &problem->thresholds, .list = findings, .capacity = capacity},
              .first = POISE_NONE};
    pz_owned owned = {0};
    pz_arena counting = pz_arena_counting();
    lay_out(&w, &counting);
    size_t size = pz_arena_bytes(&counting);
    poise_status status =
        pz_owned_take(&owned, allocator, size) ? POISE_OK : pz_error_set(error, POISE_ERROR_MEMORY, "out of memory");
    for (int i = 0; i < 2 && status == POISE_OK; ++i) {
        status = poise_kinematics_create(problem->model, allocator, &w.kin[i], error);
    }
    if (status == POISE_OK) {
        pz_arena arena = pz_arena_over(owned.memory, size);
        lay_out(&w, &arena);
        status = judge(&w, allocator, error);
    }
    poise_kinematics_destroy(w.kin[0]);
    poise_kinematics_destroy(w.kin[1]);
    pz_owned_release(&owned);
    *verdict = status == POISE_OK ? w.found.verdict : (poise_verdict){.count = 0};
    return status;
}
