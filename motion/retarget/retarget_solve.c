// Frame by frame: goals, a solve from the last frame's answer, and a second one where that is too fast.
#include "base/arena.h"
#include "base/error.h"
#include "motion/pieces.h"
#include "motion/retarget/retarget_work.h"

#include <string.h>

#define HIPS_WEIGHT    10.0 // of square metres of a person
#define ANKLE_WEIGHT   200.0
#define FOOT_WEIGHT    2e4  // of a heel or toe that rests
#define GROUND_WEIGHT  5e4  // of a sole below the ground
#define FLAT           1e-5 // of the leg: a sole tilted by less is flat
#define HIGH           20.0 // legs: up to there a sole is above the ground
#define FOOT_TURN      1.0
#define LOOSE_TURN     0.05  // of feet that are only to show how far they reach,
#define LOOSE_TILT     0.3   // and of their soles, which stay as flat as the actor's
#define UNUSED_POSTURE 1e-3  // pull of the rest pose on joints that nothing moves
#define SPARE_POSTURE  1e-5  // on those of chains with more joints than they need
#define STEADY         0.005 // seconds: by this much hinges lag behind a limb, so that they pass through a gimbal lock
#define PERSON         0.85  // metres: the leg of that person
#define HELD_WEIGHT    1e6   // of joints that are as fast as they may be
#define LATE           0.1   // radians or metres: what is farther behind is late
#define MOST_ROUNDS    4     // in which more such joints are found
#define KNOWN          1e-7  // an answer that differs by less from an earlier one continues as that did
#define ROUNDING       1e-9  // of the way to an end of such an interval
#define MOST_STEPS     30    // iterations of a frame
#define FIRST_RESTARTS 50    // of the first frame on the same skeleton

// ---- Goals ---------------------------------------------------------------------------------------------------------------

static int add_pairs(pz_retarget_work *w, poise_goal *goals)
{
    int count = 0;
    for (int i = 0; i < w->followed.count; ++i) {
        const pz_pair *p = &w->followed.pair[i];
        bool is_led = p->to == w->foot[0].body || p->to == w->foot[1].body;
        if (!is_led || w->followed.same) {
            goals[count] = poise_goal_orientation(p->to, w->turn[i]);
            goals[count++].weight = p->turn_weight;
        }
        if (p->has_bone) {
            goals[count] = poise_goal_direction(p->to, p->bone, quat_rotate(w->turn[i], p->bone));
            goals[count++].weight = p->bone_weight;
        }
    }
    return count;
}

static bool slides(poise_joint_type type)
{
    return type == POISE_JOINT_PRISMATIC || type == POISE_JOINT_TRANSLATION || type == POISE_JOINT_PLANAR ||
           type == POISE_JOINT_FREE || type == POISE_JOINT_FREE_EXPMAP || type == POISE_JOINT_FREE_EULER ||
           type == POISE_JOINT_CURVE;
}

// Places of the same skeleton: those of bodies that slide.
static int add_places(pz_retarget_work *w, poise_goal *goals)
{
    int count = 0;
    for (int i = 0; i < w->followed.count; ++i) {
        const pz_pair *p = &w->followed.pair[i];
        if (slides(poise_model_joint_info(w->to.model, p->to).type)) {
            goals[count++] =
                poise_goal_position(p->to, v3(0, 0, 0), poise_kinematics_body_pose(w->from.kin, p->from).position);
        }
    }
    return count;
}

// A number along the axis that is up, and one along the others.
static vec3 along_up(const pz_retarget_work *w, double up, double level)
{
    return v3(w->to.axis == 0 ? up : level, w->to.axis == 1 ? up : level, w->to.axis == 2 ? up : level);
}

// How far a heel or toe is above the lowest point of its end; 0: the sole is flat, which makes goals without bands, and
// these are cheap.
static double edge_of(const pz_retarget_work *w, const pz_foot *foot, vec3 point, unsigned char end)
{
    double height = v3_dot(poise_pose_transform(foot->last, point), w->ground.up);
    double edge = height - pz_sole_height(foot, foot->last, w->ground.up, end, NULL);
    return edge > FLAT * w->to.leg && edge < INFINITY ? edge : 0.0;
}

// A heel or toe that rests. An ankle that cannot roll tilts the sole to a side, and round soles roll: the point is then
// above the ground by as much as the lowest of its end of the sole is below it.
static poise_goal held_point(const pz_retarget_work *w, const pz_foot *foot, vec3 point, poise_pose pose, double edge,
                             double weight)
{
    vec3 place = poise_pose_transform(pose, point);
    double above = foot->has_edges ? edge - max2(v3_dot(place, w->ground.up) - w->ground.height, 0.0) : 0.0;
    above = fabs(above) > FLAT * w->to.leg ? above : 0.0;
    poise_goal held = poise_goal_position(foot->body, point, v3_mad(place, 0.5 * above, w->ground.up));
    held.tolerance = along_up(w, 0.5 * fabs(above), 0.0);
    held.weight = weight;
    return held;
}

// The edge of a heel or toe that rests, by its ends; while the other one does, too, by its middle.
static int add_held(const pz_retarget_work *w, const pz_foot *foot, unsigned char end, poise_pose pose, double weight,
                    bool is_level, poise_goal *goals)
{
    vec3 point = end == PZ_HEEL ? foot->heel : foot->toe;
    int ends = foot->has_edges && !is_level ? 2 : 1;
    for (int i = 0; i < ends && weight > 0.0; ++i) {
        vec3 at = ends == 1 ? point : v3_mad(point, i == 0 ? 1.0 : -1.0, foot->across);
        goals[i] = held_point(w, foot, at, pose, edge_of(w, foot, at, end), weight / ends);
    }
    return weight > 0.0 ? ends : 0;
}

// The points of a sole that must not be below the ground.
static int add_sole(const pz_retarget_work *w, const pz_foot *foot, double per_area, poise_goal *goals)
{
    double far = HIGH * w->to.leg;
    for (int i = 0; i < foot->soles; ++i) {
        const pz_sole_point *p = &foot->sole[i];
        goals[i] = poise_goal_position(p->body, p->at, v3_scale(w->ground.up, w->ground.height + p->radius + far));
        goals[i].tolerance = along_up(w, far, INFINITY);
        goals[i].weight = GROUND_WEIGHT * per_area;
    }
    return foot->soles;
}

// One foot: its ankle and turn, heel and toe the more firmly the more they rest, and no corner of the sole below the ground.
static int add_foot(const pz_retarget_work *w, int side, int frame, double per_area, poise_goal *goals)
{
    const pz_foot *foot = &w->foot[side];
    poise_pose pose = foot->path[frame];
    vec3 center = w->to.center[POISE_ROLE_FOOT + side * POISE_ROLE_SIDE];
    int count = 0;
    goals[count] = poise_goal_position(foot->body, center, poise_pose_transform(pose, center));
    goals[count++].weight = ANKLE_WEIGHT * per_area;
    goals[count] = poise_goal_orientation(foot->body, pose.rotation);
    goals[count++].weight = w->loose ? LOOSE_TURN : FOOT_TURN;
    if (w->loose) {
        vec3 sole = quat_rotate(quat_conj(foot->rest), w->ground.up);
        goals[count] = poise_goal_direction(foot->body, sole, quat_rotate(pose.rotation, sole));
        goals[count++].weight = LOOSE_TILT;
    }
    if (w->planted && !w->loose) {
        double heel = pz_foot_firmness(foot, &w->ground, PZ_HEEL, frame);
        double toe = pz_foot_firmness(foot, &w->ground, PZ_TOE, frame), most = FOOT_WEIGHT * per_area;
        bool is_level = heel == 1.0 && toe == 1.0;
        count += add_held(w, foot, PZ_HEEL, pose, most * heel * heel * heel * heel, is_level, goals + count);
        count += add_held(w, foot, PZ_TOE, pose, most * toe * toe * toe * toe, is_level, goals + count);
        count += add_sole(w, foot, per_area, goals + count);
    }
    return count;
}

static int add_legs(pz_retarget_work *w, int frame, poise_goal *goals)
{
    int count = 0;
    double unit = w->to.leg / PERSON, per_area = 1.0 / (unit * unit);
    goals[count] = poise_goal_position(w->to.roles.body[POISE_ROLE_PELVIS], w->to.hips, w->hips[frame]);
    goals[count++].weight = HIPS_WEIGHT * per_area;
    for (int side = 0; side < 2; ++side) {
        count += w->foot[side].body >= 0 ? add_foot(w, side, frame, per_area, goals + count) : 0;
    }
    return count;
}

// `before` is the answer of the last frame.
static int make_goals(pz_retarget_work *w, int frame, const double *before)
{
    int count = add_pairs(w, w->goals);
    if (w->followed.same) {
        count += add_places(w, w->goals + count);
    } else if (w->hips) {
        count += add_legs(w, frame, w->goals + count);
    }
    w->goals[count] = poise_goal_posture(w->to.rest, 1.0);
    w->goals[count++].q_weights = w->posture;
    if (frame > 0 && !w->followed.same && !w->same_shape) {
        w->goals[count] = poise_goal_smoothness(before, NULL, 1.0);
        w->goals[count++].q_weights = w->steady;
    }
    return count;
}

// ---- Joints that nothing moves -------------------------------------------------------------------------------------------

// Weights of the rest pose, and slides below the pelvis that stay.
static void find_posture(pz_retarget_work *w)
{
    const poise_model *model = w->to.model;
    poise_model_summary info = poise_model_info(model);
    for (int i = 0; i < info.nv; ++i) {
        w->posture[i] = w->followed.same ? 0.0 : UNUSED_POSTURE;
        w->steady[i] = 0.0;
        w->locked[i] = false;
    }
    for (int k = 0; k < info.joints; ++k) {
        poise_joint_info joint = poise_model_joint_info(model, k);
        if (joint.type == POISE_JOINT_REVOLUTE && joint.nv == 1) {
            w->steady[joint.v] = STEADY / w->ground.frame_time;
        }
    }
    for (int i = 0; i < w->followed.count && !w->followed.same; ++i) {
        int freedom = 0;
        for (int pass = 0; pass < 2; ++pass) { // count, then set
            bool is_end = false;
            for (int k = w->followed.pair[i].to; k >= 0 && !is_end;) {
                poise_joint_info joint = poise_model_joint_info(model, k);
                freedom += pass == 0 ? joint.nv : 0;
                for (int v = 0; v < joint.nv && pass == 1; ++v) {
                    w->posture[joint.v + v] = freedom > 6 || (freedom > 3 && joint.parent >= 0) ? SPARE_POSTURE : 0.0;
                }
                k = joint.parent;
                for (int j = 0; j < w->followed.count && k >= 0; ++j) {
                    is_end = is_end || w->followed.pair[j].to == k;
                }
            }
        }
    }
    int pelvis = w->to.roles.body[POISE_ROLE_PELVIS];
    for (int k = 0; k < info.joints && !w->followed.same; ++k) {
        poise_joint_info joint = poise_model_joint_info(model, k);
        bool leads = joint.parent < 0 || (pelvis >= 0 && pz_is_below(model, k, pelvis));
        int sliding = joint.type == POISE_JOINT_PRISMATIC                     ? 1
                      : slides(joint.type) && joint.type != POISE_JOINT_CURVE ? least(joint.nv, 3)
                                                                              : 0;
        for (int v = 0; v < sliding && !leads; ++v) {
            w->locked[joint.v + v] = true;
        }
    }
}

// ---- One frame -----------------------------------------------------------------------------------------------------------

// The largest share of a velocity limit on the way from one frame to the next, which w->v has.
static double speed_share(pz_retarget_work *w, const double *before, const double *q)
{
    double share = 0.0, dt = w->ground.frame_time;
    if (!w->velocity || poise_difference(w->to.model, before, q, w->v, NULL) != POISE_OK) {
        return 0.0;
    }
    for (int i = 0; i < poise_model_info(w->to.model).nv; ++i) {
        share = max2(share, fabs(w->v[i]) / (w->velocity[i] * dt));
    }
    return share;
}

// A frame that is too fast, with w->v as long as it would need it: is a joint left behind, and which one the farthest?
static bool is_late(const pz_retarget_work *w, poise_retarget_outcome *outcome)
{
    double most = 0.0;
    for (int k = 0; k < poise_model_info(w->to.model).joints; ++k) {
        poise_joint_info joint = poise_model_joint_info(w->to.model, k);
        for (int i = joint.v; i < joint.v + joint.nv; ++i) {
            double behind = fabs(w->v[i]) - w->velocity[i] * w->ground.frame_time;
            most = max2(most, behind);
            if (behind > outcome->late_worst) {
                outcome->late_worst = behind;
                outcome->late_joint = k;
            }
        }
    }
    return most > LATE;
}

// Cut w->v to the velocities, and with `holds` give the joints that were too fast the weight that holds them.
static void cut_velocities(pz_retarget_work *w, bool holds)
{
    for (int k = 0; k < poise_model_info(w->to.model).joints; ++k) {
        poise_joint_info joint = poise_model_joint_info(w->to.model, k);
        bool is_fast = false;
        for (int i = joint.v; i < joint.v + joint.nv; ++i) {
            double most = w->velocity[i] * w->ground.frame_time;
            is_fast = is_fast || fabs(w->v[i]) > most;
            w->v[i] = clamp(w->v[i], -most, most);
        }
        for (int i = joint.v; i < joint.v + joint.nv && is_fast && holds; ++i) {
            w->held[i] = HELD_WEIGHT;
        }
    }
}

// What is within reach of `before` in a frame, as an interval of each coordinate that is a degree of freedom of its own.
static poise_status narrow(const pz_retarget_work *w, poise_solver *solver, const double *before, poise_error *error)
{
    const poise_model *model = w->to.model;
    for (int i = 0; i < poise_model_info(model).nq; ++i) {
        w->lower[i] = -INFINITY;
        w->upper[i] = INFINITY;
    }
    for (int k = 0; k < poise_model_info(model).joints; ++k) {
        pz_piece piece[PZ_MOST_PIECES];
        for (int p = pz_pieces_of(model, k, piece) - 1; p >= 0; --p) {
            for (int i = 0; i < piece[p].nv && piece[p].kind != PZ_PIECE_QUATERNION; ++i) {
                double reach = (1.0 - ROUNDING) * w->velocity[piece[p].v + i] * w->ground.frame_time;
                w->lower[piece[p].q + i] = before[piece[p].q + i] - reach;
                w->upper[piece[p].q + i] = before[piece[p].q + i] + reach;
            }
        }
    }
    return poise_solver_narrow(solver, w->lower, w->upper, error);
}

// A frame that is too fast, with hinges and slides kept within what they may go: the others make up for it.
static poise_status keep_back(pz_retarget_work *w, poise_solver *solver, int count, const double *before, double *q,
                              poise_error *error)
{
    memcpy(q, before, (size_t)poise_model_info(w->to.model).nq * sizeof *q);
    poise_status status = narrow(w, solver, before, error);
    status = status == POISE_OK ? poise_solve(solver, w->goals, count, q, NULL, error) : status;
    poise_solver_narrow(solver, NULL, NULL, NULL);
    return status;
}

// Joints of which the solver keeps no intervals, such as balls, are held where they may go to; the others make up for it.
static poise_status hold_back(pz_retarget_work *w, poise_solver *solver, int count, const double *before, double *q,
                              poise_error *error)
{
    poise_model_summary info = poise_model_info(w->to.model);
    poise_status status = POISE_OK;
    memset(w->held, 0, (size_t)info.nv * sizeof *w->held);
    w->goals[count] = poise_goal_posture(w->slow, 1.0);
    w->goals[count].q_weights = w->held;
    for (int round = 0; round < MOST_ROUNDS && status == POISE_OK && speed_share(w, before, q) > 1.0; ++round) {
        cut_velocities(w, true);
        status = poise_retract(w->to.model, before, w->v, w->slow, error);
        memcpy(q, w->slow, (size_t)info.nq * sizeof *q);
        status = status == POISE_OK ? poise_solve(solver, w->goals, count + 1, q, NULL, error) : status;
    }
    if (status == POISE_OK && speed_share(w, before, q) > 1.0) {
        cut_velocities(w, false);
        status = poise_retract(w->to.model, before, w->v, q, error);
        if (w->task->use_limits) { // rounding
            poise_model_clamp(w->to.model, q, NULL, NULL);
        }
    }
    return status;
}

// The first frame: the root alone, then everything.
static poise_status place_root(pz_retarget_work *w, poise_solver *solver, double *q, poise_error *error)
{
    int pelvis = w->to.roles.body[POISE_ROLE_PELVIS];
    memcpy(q, w->to.rest, (size_t)poise_model_info(w->to.model).nq * sizeof *q);
    for (int i = 0; i < w->followed.count; ++i) {
        if (w->hips && w->followed.pair[i].to == pelvis && !w->followed.same) {
            poise_pose local = {.rotation = {0, 0, 0, 1}, .position = w->to.hips};
            poise_pose target = {.rotation = w->turn[i], .position = w->hips[0]};
            poise_goal alone[2] = {poise_goal_pose(pelvis, local, target), poise_goal_posture(w->to.rest, UNUSED_POSTURE)};
            return poise_solve(solver, alone, 2, q, NULL, error);
        }
    }
    return POISE_OK;
}

// The first frame without what holds feet, which is so stiff that a leg may fold the wrong way.
static poise_status come_near(pz_retarget_work *w, poise_solver *solver, double *q, poise_error *error)
{
    bool was_loose = w->loose;
    if (w->loose || !w->planted || !w->hips || w->followed.same) {
        return POISE_OK;
    }
    w->loose = true;
    int count = make_goals(w, 0, q);
    w->loose = was_loose;
    return poise_solve(solver, w->goals, count, q, NULL, error);
}

// Have two models the same coordinates?
static bool has_same_numbers(const poise_model *a, const poise_model *b)
{
    bool same = poise_model_info(a).joints == poise_model_info(b).joints;
    for (int k = 0; k < poise_model_info(b).joints && same; ++k) {
        poise_joint_info x = poise_model_joint_info(a, k), y = poise_model_joint_info(b, k);
        same = x.type == y.type && x.q == y.q && x.nq == y.nq && x.given->order == y.given->order &&
               v3_norm(v3_sub(x.given->axis, y.given->axis)) == 0;
    }
    return same;
}

// Would a frame come out as it did before? Its goals are the same, and so is the frame before, but for what its velocities
// may not exceed.
static bool is_known(pz_retarget_work *w, int f, const double *before, size_t nq)
{
    double most = 0.0;
    for (size_t i = 0; i < nq && f > 0 && w->old; ++i) {
        most = max2(most, fabs(before[i] - w->old[(size_t)(f - 1) * nq + i]));
    }
    return w->old && !w->changed[f] && most <= KNOWN && (f == 0 || speed_share(w, before, w->old + (size_t)f * nq) <= 1.0);
}

// `first`: a solver for the first frame; NULL: the same one.
static poise_status solve_frame(pz_retarget_work *w, poise_solver *solver, poise_solver *first, int f, poise_clip *clip,
                                bool copies, poise_retarget_outcome *outcome, poise_error *error)
{
    size_t nq = (size_t)clip->nq;
    double *q = clip->q + (size_t)f * nq;
    const double *before = q - nq;
    poise_report report = {.iterations = 0};
    poise_status status = POISE_OK;
    if (is_known(w, f, before, nq)) {
        memcpy(q, w->old + (size_t)f * nq, nq * sizeof *q);
        return POISE_OK;
    }
    int count = 0;
    w->late[f] = false;
    if (copies) {
        memcpy(q, w->task->clip->q + (size_t)f * nq, nq * sizeof *q);
    } else if (f > 0) {
        memcpy(q, before, nq * sizeof *q);
    } else {
        status = place_root(w, solver, q, error);
        status = status == POISE_OK ? come_near(w, solver, q, error) : status;
    }
    count = make_goals(w, f, before);
    status = status == POISE_OK ? poise_solve(f == 0 && first ? first : solver, w->goals, count, q, &report, error) : status;
    if (status == POISE_OK && f > 0 && speed_share(w, before, q) > 1.0) {
        w->late[f] = is_late(w, outcome);
        status = keep_back(w, solver, count, before, q, error);
        status = status == POISE_OK ? hold_back(w, solver, count, before, q, error) : status;
    }
    outcome->iterations += report.iterations;
    return status;
}

// What a frame says of limits.
static void measure_limits(pz_retarget_work *w, int f, const poise_clip *clip, poise_retarget_outcome *outcome)
{
    const double *q = clip->q + (size_t)f * (size_t)clip->nq;
    outcome->velocity = f > 0 ? max2(outcome->velocity, speed_share(w, q - clip->nq, q)) : 0.0;
    outcome->outside += w->task->use_limits && !poise_model_within_limits(w->to.model, q);
    outcome->late += w->late[f];
}

poise_status pz_retarget_solve(pz_retarget_work *w, const poise_allocator *allocator, poise_clip *clip,
                               poise_retarget_outcome *outcome, poise_error *error)
{
    poise_solver_options options = poise_solver_options_default();
    poise_solver *solver = NULL, *first = NULL;
    bool copies = w->followed.same && has_same_numbers(w->from.model, w->to.model);
    find_posture(w);
    w->stumbles = 0;
    w->led[0] = w->led[1] = 0.0;
    for (int side = 0; side < 2; ++side) {
        w->foot[side].held = 0;
        w->foot[side].last.rotation = w->foot[side].rest;
    }
    for (int i = 0; i < w->followed.count; ++i) {
        w->followed.pair[i].bone_off = 0.0;
    }
    options.use_limits = w->task->use_limits;
    options.locked = w->locked;
    options.gradient_tolerance = w->loose ? 1e-3 : w->planted ? 1e-6 : 1e-8;
    options.max_iterations = MOST_STEPS;
    poise_status status = poise_solver_create(w->to.model, &options, allocator, &solver, error);
    if (status == POISE_OK && w->followed.same && !copies) {
        options.restarts = FIRST_RESTARTS; // every pose of the same skeleton can be met, but not from everywhere
        status = poise_solver_create(w->to.model, &options, allocator, &first, error);
    }
    for (int f = 0; f < clip->frames && status == POISE_OK; ++f) {
        const poise_clip *source = w->task->clip;
        status = poise_kinematics_update(w->from.kin, source->q + (size_t)f * (size_t)source->nq, error);
        for (int i = 0; i < w->followed.count && status == POISE_OK; ++i) {
            w->turn[w->followed.count + i] = w->turn[i];
            w->turn[i] = pz_followed_turn(&w->followed, &w->followed.pair[i], w->from.kin);
        }
        status = status == POISE_OK ? solve_frame(w, solver, first, f, clip, copies, outcome, error) : status;
        if (status == POISE_OK) {
            status = poise_kinematics_update(w->to.kin, clip->q + (size_t)f * (size_t)clip->nq, error);
            measure_limits(w, f, clip, outcome);
            pz_retarget_measure(w, f, outcome);
        }
        for (int side = 0; side < 2 && w->loose && status == POISE_OK; ++side) {
            w->foot[side].path[f] = w->foot[side].last;
        }
    }
    if (status == POISE_OK) {
        pz_retarget_measured(w, outcome);
    }
    poise_solver_destroy(first);
    poise_solver_destroy(solver);
    return status;
}
