// A tracker: one frame after another, each from the last good one.
//
// A frame is solved with every marker that was seen. If some are then farther off than any pose of the others explains, it
// is solved again, from where it began, with a loss that lets far markers go (Geman & McClure). If the result is poor beside
// the frames before, a cold start is tried, too, and the better of the two taken.
#include "motion/tracker.h"

#include "base/error.h"
#include "num/real.h"
#include "num/trig.h"
#include "num/vector.h"

#include <float.h>
#include <string.h>

// ---- Angles that say the same --------------------------------------------------------------------------------------------

// Angles that say the same. A hinge may be a whole turn further on, and three Euler angles, or three hinges through one
// point, each at right angles to the next, give every rotation in two ways:
//
//   R1(a) R2(b) R3(c) = R1(a + pi) R2(pi - b) R3(c + pi)     first and last axis at right angles
//                     = R1(a + pi) R2(-b) R3(c + pi)         the same axis
//
// A cold start finds any of them. Of those within the limits, the one nearest to where the joint was is meant.

#define EXACT 1e-9 // cosine of axes that are at right angles, or lengths that are nothing

static bool is_within(const poise_model *model, int at, double angle)
{
    poise_model_summary size = poise_model_info(model);
    return angle >= size.lower[at] && angle <= size.upper[at];
}

static bool is_followed(const poise_model *model, int joint)
{
    for (int k = 0; k < poise_model_info(model).joints; ++k) {
        if (poise_model_joint_info(model, k).mimic == joint) {
            return true;
        }
    }
    return false;
}

static bool is_lone_hinge(const poise_model *model, int joint)
{
    poise_joint_info info = poise_model_joint_info(model, joint);
    return info.type == POISE_JOINT_REVOLUTE && info.nq == 1 && !is_followed(model, joint);
}

// Is it a joint of three angles? *first: where they begin.
static bool is_euler(const poise_model *model, int joint, int *first)
{
    poise_joint_info info = poise_model_joint_info(model, joint);
    *first = info.q + (info.type == POISE_JOINT_FREE_EULER ? 3 : 0);
    return (info.type == POISE_JOINT_BALL_EULER || info.type == POISE_JOINT_FREE_EULER) && !is_followed(model, joint);
}

// Does nothing but its one child hang from the body of this joint?
static bool is_bare(const poise_model *model, const poise_placement *placements, int count, int joint)
{
    int children = 0;
    for (int k = joint + 1; k < poise_model_info(model).joints; ++k) {
        children += poise_model_joint_info(model, k).parent == joint;
    }
    for (int k = 0; k < poise_model_info(model).tools; ++k) {
        children += poise_model_tool_info(model, k).body == joint;
    }
    for (int i = 0; i < count; ++i) {
        children += placements[i].body == joint;
    }
    return children == 1;
}

// Does the joint begin where its parent's body is, turned by nothing?
static bool begins_at_parent(const poise_model *model, int joint)
{
    poise_pose offset = poise_model_joint_info(model, joint).given->offset;
    return v3_norm(offset.position) < EXACT && v3_norm(quat_vec(offset.rotation)) < EXACT;
}

static vec3 axis_of(const poise_model *model, int joint)
{
    return poise_model_joint_info(model, joint).given->axis;
}

// Are these three hinges of one rotation? *same: the last axis is the first one's.
static bool are_one_rotation(const poise_model *model, const poise_placement *placements, int count, const int joint[3],
                             bool *same)
{
    for (int i = 0; i < 3; ++i) {
        if (joint[i] < 0 || !is_lone_hinge(model, joint[i]) ||
            (i < 2 && (!is_bare(model, placements, count, joint[i]) || !begins_at_parent(model, joint[i + 1])))) {
            return false;
        }
    }
    vec3 a = axis_of(model, joint[0]), b = axis_of(model, joint[1]), c = axis_of(model, joint[2]);
    double across = fabs(v3_dot(a, c));
    *same = across > 0.5;
    return fabs(v3_dot(a, b)) < EXACT && fabs(v3_dot(b, c)) < EXACT && (across < EXACT || across > 1.0 - EXACT);
}

// An angle, whole turns nearer; else the same number, to the last bit.
static bool turn_back(const poise_model *model, const double *near, int at, double *q)
{
    double angle = turn_near(q[at], near[at]);
    bool changed = fabs(angle - q[at]) > 1.0 && is_within(model, at, angle);
    q[at] = changed ? angle : q[at];
    return changed;
}

// The other way of three angles, where it is nearer and within the limits.
static bool flip(const poise_model *model, const int at[3], bool same, const double *near, double *q)
{
    double other[3], here = 0.0, there = 0.0;
    bool is_there = true;
    for (int i = 0; i < 3; ++i) {
        double angle = q[at[i]], goal = near[at[i]];
        other[i] = turn_near(i != 1 ? angle + PZ_PI : same ? -angle : PZ_PI - angle, goal);
        here += (angle - goal) * (angle - goal);
        there += (other[i] - goal) * (other[i] - goal);
        is_there = is_there && is_within(model, at[i], other[i]);
    }
    is_there = is_there && there < here;
    for (int i = 0; i < 3 && is_there; ++i) {
        q[at[i]] = other[i];
    }
    return is_there;
}

static bool turn_joint(const poise_model *model, int joint, const double *near, double *q)
{
    int first;
    if (is_lone_hinge(model, joint)) {
        return turn_back(model, near, poise_model_joint_info(model, joint).q, q);
    }
    if (!is_euler(model, joint, &first)) {
        return false;
    }
    bool changed = false;
    for (int i = 0; i < 3; ++i) {
        changed = turn_back(model, near, first + i, q) || changed;
    }
    bool same = poise_model_joint_info(model, joint).given->order >= POISE_EULER_XYX;
    return flip(model, (const int[3]){first, first + 1, first + 2}, same, near, q) || changed;
}

bool pz_nearest_turns(const poise_model *model, const poise_placement *placements, int count, const double *near, double *q)
{
    bool changed = false, is_near = true;
    for (int i = 0; i < poise_model_info(model).nq && is_near; ++i) {
        is_near = fabs(q[i] - near[i]) <= 0.5 * PZ_PI;
    }
    for (int k = 0; k < poise_model_info(model).joints && !is_near; ++k) {
        changed = turn_joint(model, k, near, q) || changed;
    }
    for (int k = 0; k < poise_model_info(model).joints && !is_near; ++k) {
        int above = poise_model_joint_info(model, k).parent;
        int joint[3] = {above >= 0 ? poise_model_joint_info(model, above).parent : POISE_NONE, above, k};
        bool same;
        if (are_one_rotation(model, placements, count, joint, &same)) {
            int at[3];
            for (int i = 0; i < 3; ++i) {
                at[i] = poise_model_joint_info(model, joint[i]).q;
            }
            changed = flip(model, at, same, near, q) || changed;
        }
    }
    return changed;
}

// ---- The tracker ---------------------------------------------------------------------------------------------------------

#define OUTLIER_REACH  0.1   // of the reach: markers nearer than this are never ignored, unless options say so
#define OUTLIER_MEDIAN 6.0   // times the median distance: nor are these
#define LOSS_SHARE     0.5   // scale of the loss against the distance of an outlier: at that distance it pulls a quarter
#define POOR_TIMES     3.0   // the usual rms, and
#define POOR_REACH     0.005 // of the reach: beyond both a frame is poor
#define POOR_SHARE     3     // so is one that lets more than a third of its markers go
#define BETTER         0.7   // of the rms: what a cold start must improve on
#define STRAYS         10    // frames in a row with ignored markers, after which a cold start is tried, and
#define SOON           3     // frames, where as many as
#define MANY           4     // markers are ignored: a limb's, not a swapped pair
#define CALM           0.1   // weight, against the markers' and the squared reach, that tames a jump
#define CLOSE          1.5   // times the rms: nearly as good
#define GAP_MOST       1e-3  // of the squared reach, against markers of weight 1
#define FARTHEST       1e100 // a marker beyond is not a measurement, and its square would overflow

// ---- Life ----------------------------------------------------------------------------------------------------------------

static pz_track_pose lay_out_pose(const poise_model *model, int count, pz_arena *arena)
{
    return (pz_track_pose){.q = pz_arena_take(arena, (size_t)poise_model_info(model).nq, sizeof(double)),
                           .error = pz_arena_take(arena, (size_t)count, sizeof(double))};
}

static poise_status create_solver(const poise_tracker *t, poise_start start, const poise_allocator *allocator,
                                  poise_solver **solver, poise_error *error)
{
    poise_solver_options options = t->problem.solver;
    options.start = start;
    options.restarts = start == POISE_START_COLD ? t->problem.restarts : 0;
    poise_constraints_size(t->problem.constraints, t->problem.constraint_count, &options.constraints);
    return poise_solver_create(t->model, &options, allocator, solver, error);
}

// What has memory of its own: solvers and poses.
static poise_status create_parts(poise_tracker *t, const poise_allocator *allocator, poise_error *error)
{
    poise_kinematics **kin[] = {&t->kin, &t->last.kin, &t->now.kin, &t->other.kin};
    poise_status status = create_solver(t, POISE_START_WARM, allocator, &t->warm, error);
    status = status == POISE_OK ? create_solver(t, POISE_START_COLD, allocator, &t->cold, error) : status;
    for (int i = 0; i < 4 && status == POISE_OK; ++i) {
        status = poise_kinematics_create(t->model, allocator, kin[i], error);
    }
    return status;
}

// Where everything lies; a counting arena gives the size.
static poise_tracker *lay_out(const poise_tracker *plan, pz_arena *arena)
{
    size_t count = (size_t)plan->count;
    poise_tracker made = *plan, *tracker = pz_arena_take(arena, 1, sizeof *tracker);
    made.placements = pz_arena_take(arena, count, sizeof *made.placements);
    made.goals = pz_arena_take(arena, count + 3, sizeof *made.goals);
    made.neutral = pz_arena_take(arena, (size_t)poise_model_info(plan->model).nq, sizeof *made.neutral);
    made.posture =
        pz_arena_take(arena, plan->problem.posture ? (size_t)poise_model_info(plan->model).nv : 0, sizeof *made.posture);
    made.stay =
        pz_arena_take(arena, plan->problem.posture ? (size_t)poise_model_info(plan->model).nq : 0, sizeof *made.stay);
    made.in_view = pz_arena_take(arena, (size_t)poise_model_info(plan->model).joints, sizeof *made.in_view);
    made.task_weights =
        pz_arena_take(arena, plan->problem.task_weights ? (size_t)poise_model_info(plan->model).nv : 0, sizeof(double));
    made.sorted = pz_arena_take(arena, count, sizeof *made.sorted);
    made.q_start = pz_arena_take(arena, (size_t)poise_model_info(plan->model).nq, sizeof *made.q_start);
    size_t with_task = plan->problem.task_weights ? (size_t)poise_model_info(plan->model).nq : 0;
    made.before = pz_arena_take(arena, with_task, sizeof *made.before);
    made.ahead = pz_arena_take(arena, with_task, sizeof *made.ahead);
    made.change = pz_arena_take(arena, (size_t)poise_model_info(plan->model).nv, sizeof *made.change);
    made.last = lay_out_pose(plan->model, plan->count, arena);
    made.now = lay_out_pose(plan->model, plan->count, arena);
    made.other = lay_out_pose(plan->model, plan->count, arena);
    if (tracker && !arena->full) {
        *tracker = made;
    }
    return tracker;
}

static bool options_make_sense(const poise_track_problem *p)
{
    return poise_solver_options_check(p->model, &p->solver, NULL) == POISE_OK && p->restarts >= 0 && p->least_markers >= 0 &&
           p->outlier >= 0 && p->smoothness >= 0 && is_finite(p->smoothness) && p->max_turn > 0 && p->chunk >= 1 &&
           p->workers >= 1;
}

poise_status pz_track_check(const poise_track_problem *problem, poise_error *error)
{
    if (!problem || !problem->model || problem->placement_count < 0 ||
        (problem->placement_count > 0 && !problem->placements)) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "model and placements must not be NULL, count not negative");
    }
    if (!options_make_sense(problem)) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "an option of the tracker or its solver is out of range");
    }
    if (problem->constraint_count < 0 || (problem->constraint_count > 0 && !problem->constraints)) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "constraints must not be NULL if constraint_count > 0");
    }
    for (int i = 0; i < problem->constraint_count; ++i) {
        poise_status status = poise_constraint_check(&problem->constraints[i], problem->model, error);
        if (status != POISE_OK) {
            return status;
        }
    }
    if (problem->q_start && poise_model_check(problem->model, problem->q_start, "q_start", NULL) != POISE_OK) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "q_start must hold nq finite numbers and no zero quaternion");
    }
    for (int i = 0; problem->posture && i < poise_model_info(problem->model).nv; ++i) {
        if (!(problem->posture[i] >= 0) || !is_finite(problem->posture[i])) {
            return pz_error_set(error, POISE_ERROR_ARGUMENT, "posture[%d] must be finite and >= 0", i);
        }
    }
    for (int i = 0; problem->task_weights && i < poise_model_info(problem->model).nv; ++i) {
        if (!(problem->task_weights[i] >= 0) || !is_finite(problem->task_weights[i]) || !problem->task ||
            problem->task_frames < 1) {
            return pz_error_set(error, POISE_ERROR_ARGUMENT, "task_weights[%d] must be finite and >= 0, and needs a task",
                                i);
        }
    }
    for (int i = 0; i < problem->placement_count; ++i) {
        const poise_placement *p = &problem->placements[i];
        poise_goal goal = poise_goal_position(p->body, p->local, v3(0.0, 0.0, 0.0));
        goal.weight = p->weight;
        poise_error why;
        if (poise_goal_check(&goal, problem->model, &why) != POISE_OK) {
            return pz_error_set(error, POISE_ERROR_ARGUMENT, "marker \"%s\" (number %d): %s", p->label ? p->label : "", i,
                                why.text);
        }
    }
    return POISE_OK;
}

// Where a marker is, seen from the root.
static vec3 from_root(const poise_tracker *t, int marker)
{
    const poise_placement *p = &t->placements[marker];
    return poise_kinematics_apart(t->kin, 0, v3(0.0, 0.0, 0.0), p->body, p->local);
}

// The largest distance of a marker from the mean of all, in the neutral pose.
static double reach_of(poise_tracker *t)
{
    poise_model_neutral(t->model, t->q_start);
    poise_kinematics_update(t->kin, t->q_start, NULL);
    vec3 mean = v3(0.0, 0.0, 0.0);
    for (int i = 0; i < t->count; ++i) {
        mean = v3_mad(mean, 1.0 / t->count, from_root(t, i));
    }
    double most = 0.0;
    for (int i = 0; i < t->count; ++i) {
        most = max2(most, v3_norm(v3_sub(from_root(t, i), mean)));
    }
    return most > 0 ? most : 1.0;
}

poise_status poise_tracker_create(const poise_track_problem *problem, const poise_allocator *allocator,
                                  poise_tracker **tracker, poise_error *error)
{
    poise_status status = pz_track_check(problem, error);
    if (status != POISE_OK || !tracker) {
        return tracker ? status : pz_error_set(error, POISE_ERROR_ARGUMENT, "tracker must not be NULL");
    }
    poise_tracker plan = {
        .model = problem->model, .problem = *problem, .count = problem->placement_count, .has_allocator = allocator != NULL};
    if (allocator) {
        plan.allocator = *allocator;
    }
    pz_arena counting = pz_arena_counting();
    lay_out(&plan, &counting);
    size_t size = pz_arena_bytes(&counting);
    void *memory = size ? pz_allocate(allocator, size) : NULL;
    if (!memory) {
        return pz_error_set(error, POISE_ERROR_MEMORY, "out of memory");
    }
    pz_arena arena = pz_arena_over(memory, size);
    poise_tracker *t = lay_out(&plan, &arena);
    t->memory = memory;
    for (int i = 0; i < t->count; ++i) {
        t->placements[i] = problem->placements[i];
        t->goals[i] = poise_goal_position(t->placements[i].body, t->placements[i].local, v3(0.0, 0.0, 0.0));
    }
    status = create_parts(t, allocator, error);
    if (status != POISE_OK) {
        poise_tracker_destroy(t);
        return status;
    }
    t->reach = reach_of(t);
    int moved;
    poise_model_neutral(t->model, t->neutral);
    poise_model_clamp(t->model, t->neutral, &moved, NULL);
    if (problem->task_weights) {
        memcpy(t->task_weights, problem->task_weights, (size_t)poise_model_info(t->model).nv * sizeof *t->task_weights);
    }
    t->task = problem->task;
    if (problem->posture) {
        memcpy(t->posture, problem->posture, (size_t)poise_model_info(t->model).nv * sizeof *t->posture);
    }
    pz_tracker_rest(t, NULL, NULL);
    poise_tracker_reset(t, problem->q_start, NULL);
    *tracker = t;
    return POISE_OK;
}

void poise_tracker_destroy(poise_tracker *tracker)
{
    if (tracker) {
        poise_allocator allocator = tracker->allocator;
        poise_kinematics *kin[] = {tracker->kin, tracker->last.kin, tracker->now.kin, tracker->other.kin};
        for (int i = 0; i < 4; ++i) {
            poise_kinematics_destroy(kin[i]);
        }
        poise_solver_destroy(tracker->warm);
        poise_solver_destroy(tracker->cold);
        pz_release(tracker->has_allocator ? &allocator : NULL, tracker->memory);
    }
}

poise_status poise_tracker_reset(poise_tracker *tracker, const double *q, poise_error *error)
{
    if (!tracker) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "tracker must not be NULL");
    }
    if (q && poise_model_check(tracker->model, q, "q", error) != POISE_OK) {
        return POISE_ERROR_ARGUMENT;
    }
    if (q) {
        memcpy(tracker->q_start, q, (size_t)poise_model_info(tracker->model).nq * sizeof *q);
    } else {
        poise_model_neutral(tracker->model, tracker->q_start);
    }
    tracker->has_last = tracker->has_before = false;
    tracker->held = tracker->strays = 0;
    tracker->usual = 0.0;
    return POISE_OK;
}

// ---- One pose ------------------------------------------------------------------------------------------------------------

static void swap_poses(pz_track_pose *a, pz_track_pose *b)
{
    pz_track_pose kept = *a;
    *a = *b;
    *b = kept;
}

bool pz_tracker_sees(poise_vec3 x)
{
    return fabs(x.x) < FARTHEST && fabs(x.y) < FARTHEST && fabs(x.z) < FARTHEST;
}

// Put what was seen into the goals; returns how many markers that is.
static int take(poise_tracker *t, const poise_vec3 *seen)
{
    int count = 0;
    for (int i = 0; i < t->count; ++i) {
        vec3 x = seen[i];
        bool is_there = pz_tracker_sees(x);
        poise_goal *goal = &t->goals[i];
        goal->weight = is_there ? t->placements[i].weight : 0.0;
        goal->target.position = is_there ? x : v3(0.0, 0.0, 0.0);
        goal->loss = POISE_LOSS_NONE;
        count += is_there;
    }
    return count;
}

// The sum of the weights of markers that were seen: E = W J/2 with OpenSim's J, W that sum.
static double weight_seen(const poise_tracker *t)
{
    double sum = 0.0;
    for (int i = 0; i < t->count; ++i) {
        sum += t->goals[i].weight;
    }
    return sum;
}

// Solve from pose->q into it. A solve that is refused ends the frame: t->status.
static void solve(poise_tracker *t, poise_solver *solver, double calm, pz_track_pose *pose)
{
    int count = t->count;
    if (calm > 0) {
        t->goals[count++] = poise_goal_smoothness(t->last.q, NULL, calm);
    }
    if (t->pull) {
        t->goals[count] = poise_goal_posture(t->rest, 1.0);
        t->goals[count++].q_weights = t->pull;
    }
    if (t->problem.task_weights) {
        t->goals[count] = poise_goal_posture(t->task, weight_seen(t));
        t->goals[count++].q_weights = t->task_weights;
    }
    poise_report report;
    t->status = poise_solve_within(solver, t->goals, count, t->problem.constraints, t->problem.constraint_count, pose->q,
                                   &report, t->error);
    if (t->status != POISE_OK) {
        return;
    }
    pose->frame.outcome = report.outcome;
    pose->frame.iterations += report.iterations;
    pose->frame.is_ahead = false;
    poise_kinematics_copy(pose->kin, poise_solver_kinematics(solver));
    for (int i = 0; i < t->count; ++i) {
        pose->error[i] = min2(poise_solver_goal_error(solver, i).error, DBL_MAX);
    }
}

// The same, if it was done ahead from there.
static bool take_found(poise_tracker *t, const pz_track_found *found, pz_track_pose *pose)
{
    size_t bytes = (size_t)poise_model_info(t->model).nq * sizeof *pose->q;
    if (!found || memcmp(found->from, pose->q, bytes) != 0) {
        return false;
    }
    memcpy(pose->q, found->q, bytes);
    pose->frame.outcome = found->outcome;
    pose->frame.iterations += found->iterations;
    pose->frame.is_ahead = true;
    poise_kinematics_update(pose->kin, pose->q, NULL);
    for (int i = 0; i < t->count; ++i) {
        vec3 x = poise_kinematics_point(pose->kin, t->placements[i].body, t->placements[i].local);
        pose->error[i] = min2(v3_norm(v3_sub(x, t->goals[i].target.position)), DBL_MAX);
    }
    return true;
}

// The middle one of n > 0 numbers, which change places (C. A. R. Hoare, "Algorithm 65: find", 1961).
double pz_middle_of(double *x, int n)
{
    int low = 0, high = n - 1, middle = n / 2;
    while (low < high) {
        double pivot = x[middle];
        int i = low, j = high;
        while (i <= j) {
            for (; x[i] < pivot; ++i) {
            }
            for (; pivot < x[j]; --j) {
            }
            if (i <= j) {
                double kept = x[i];
                x[i++] = x[j];
                x[j--] = kept;
            }
        }
        low = j < middle ? i : low;
        high = middle < i ? j : high;
    }
    return x[middle];
}

// The median distance of the markers that count.
static double median_error(poise_tracker *t, const double *error)
{
    int n = 0;
    for (int i = 0; i < t->count; ++i) {
        if (t->goals[i].weight > 0) {
            t->sorted[n++] = error[i];
        }
    }
    return n > 0 ? pz_middle_of(t->sorted, n) : 0.0;
}

// How far a marker may be off.
static double outlier_distance(poise_tracker *t, const double *error)
{
    double given = t->problem.outlier;
    return given > 0 ? given : max2(OUTLIER_REACH * t->reach, OUTLIER_MEDIAN * median_error(t, error));
}

// Fill the frame's figures for markers within `distance`; returns how many are not.
static int measure(const poise_tracker *t, double distance, pz_track_pose *pose)
{
    poise_track_frame *frame = &pose->frame;
    double square = 0.0;
    int kept = 0;
    frame->let_go = 0;
    frame->worst = 0.0;
    for (int i = 0; i < t->count; ++i) {
        double e = pose->error[i];
        if (t->goals[i].weight > 0 && e <= distance) {
            square += e * e;
            frame->worst = max2(frame->worst, e);
            kept += 1;
        } else {
            frame->let_go += t->goals[i].weight > 0;
        }
    }
    frame->rms = kept > 0 ? min2(sqrt(square / kept), frame->worst) : 0.0; // never above, also where squares overflow
    return frame->let_go;
}

// A pose for the current frame from `q`: with all markers, then, where some are far off, with a loss that lets them go.
static void attempt(poise_tracker *t, bool is_cold, const double *q, double calm, pz_track_pose *pose)
{
    size_t bytes = (size_t)poise_model_info(t->model).nq * sizeof *q;
    memcpy(pose->q, q, bytes);
    pose->frame.iterations = 0;
    for (int i = 0; i < t->count; ++i) {
        t->goals[i].loss = POISE_LOSS_NONE;
    }
    const pz_track_found *found = is_cold || t->rest != t->neutral ? NULL : t->found; // it was pulled to the neutral pose
    t->found = NULL;                                                                  // the first solve's alone
    if (!take_found(t, found, pose)) {
        solve(t, is_cold ? t->cold : t->warm, calm, pose);
    }
    if (t->status == POISE_OK && is_cold && pz_nearest_turns(t->model, t->placements, t->count, q, pose->q)) {
        solve(t, t->warm, calm, pose); // for the bodies' places
    }
    if (t->status != POISE_OK) {
        return;
    }
    if (!t->problem.robust) {
        measure(t, INFINITY, pose);
        return;
    }
    double distance = outlier_distance(t, pose->error);
    if (measure(t, distance, pose) == 0) {
        return;
    }
    for (int i = 0; i < t->count; ++i) {
        t->goals[i].loss = POISE_LOSS_GEMAN_MCCLURE;
        t->goals[i].loss_scale = LOSS_SHARE * distance;
    }
    if (!is_cold) {
        memcpy(pose->q, q, bytes);
    }
    solve(t, t->warm, calm, pose);
    if (t->status == POISE_OK) {
        measure(t, outlier_distance(t, pose->error), pose);
    }
}

// ---- Frames --------------------------------------------------------------------------------------------------------------

static bool is_poor(const poise_tracker *t, const poise_track_frame *frame, int seen)
{
    return frame->rms > POOR_TIMES * t->usual + POOR_REACH * t->reach || frame->let_go * POOR_SHARE > seen;
}

// Where starting from the last frame led to a bad pose, try a cold start; now and then also where markers have been ignored
// for a while, as a limb that follows none of its own looks from outside.
static void try_again(poise_tracker *t, int seen)
{
    t->strays = t->now.frame.let_go > 0 ? t->strays + 1 : 0;
    bool has_strayed = (t->strays == SOON && t->now.frame.let_go >= MANY) || t->strays % STRAYS == STRAYS - 1;
    if (!is_poor(t, &t->now.frame, seen) && !has_strayed) {
        return;
    }
    attempt(t, true, t->last.q, 0.0, &t->other);
    if (t->status != POISE_OK) {
        return;
    }
    t->now.frame.iterations += t->other.frame.iterations;
    const poise_track_frame *now = &t->now.frame, *other = &t->other.frame;
    bool is_better = other->let_go == now->let_go ? other->rms < BETTER * now->rms
                                                  : other->let_go < now->let_go && !is_poor(t, other, seen);
    if (is_better) {
        int iterations = now->iterations;
        swap_poses(&t->now, &t->other);
        t->now.frame.iterations = iterations;
        t->now.frame.flags |= POISE_TRACK_RESTARTED;
    }
}

// A jump: solve again with a strong pull to the last frame. If that is nearly as good and lets no further marker go, it is
// taken. If not, and gaps or outliers may be the reason of the jump, the frame is held.
static void tame_jump(poise_tracker *t, double most, bool is_doubtful)
{
    double weight = 0.0;
    poise_track_frame before = t->now.frame;
    for (int i = 0; i < t->count; ++i) {
        weight += t->goals[i].weight;
    }
    attempt(t, false, t->last.q, CALM * weight * t->reach * t->reach / max2(t->count, 1.0), &t->other);
    if (t->status != POISE_OK) {
        return;
    }
    t->other.frame.turn = poise_kinematics_turn(t->last.kin, t->other.kin);
    bool is_good = is_doubtful ? !is_poor(t, &t->other.frame, t->count)
                               : t->other.frame.rms <= CLOSE * before.rms && t->other.frame.let_go <= before.let_go;
    if (t->other.frame.turn <= most && is_good) {
        int iterations = t->now.frame.iterations + t->other.frame.iterations;
        swap_poses(&t->now, &t->other);
        t->now.frame.iterations = iterations;
    } else if (is_doubtful) {
        t->now.frame.flags |= POISE_TRACK_HELD;
    }
}

double pz_tracker_most_calm(const poise_tracker *t)
{
    return GAP_MOST * t->reach * t->reach;
}

// The pull to the last frame: what the options ask for, and where markers are missing as much as balances their usual error
// against a turn of GAP_TURN, so that joints which are left open do not follow the noise of the rest.
static double calm_weight(const poise_tracker *t, int seen)
{
    double ratio = t->usual / PZ_GAP_TURN, most = pz_tracker_most_calm(t);
    return t->problem.smoothness + (seen < t->count && !t->problem.task_weights ? min2(ratio * ratio, most) : 0.0);
}

void pz_tracker_rest(poise_tracker *t, const double *rest, const double *pull)
{
    t->is_told = rest != NULL;
    t->rest = rest ? rest : t->neutral;
    t->pull = rest ? pull : t->problem.posture ? t->posture : NULL;
}

// A limb whose markers have all vanished stays where it was: it does not go to its rest posture.
static void let_stay(poise_tracker *t, int seen)
{
    if (t->is_told || !t->pull) {
        return;
    }
    t->rest = t->neutral;
    if (seen == t->count || !t->has_last) {
        return;
    }
    memset(t->in_view, 0, (size_t)poise_model_info(t->model).joints * sizeof *t->in_view);
    for (int i = 0; i < t->count; ++i) {
        for (int k = t->placements[i].body; t->goals[i].weight > 0 && k >= 0 && !t->in_view[k];) {
            t->in_view[k] = true;
            k = poise_model_joint_info(t->model, k).parent;
        }
    }
    memcpy(t->stay, t->neutral, (size_t)poise_model_info(t->model).nq * sizeof *t->stay);
    for (int k = 0; k < poise_model_info(t->model).joints; ++k) {
        poise_joint_info joint = poise_model_joint_info(t->model, k);
        if (!t->in_view[k]) {
            memcpy(t->stay + joint.q, t->last.q + joint.q, (size_t)joint.nq * sizeof *t->stay);
            t->rest = t->stay;
        }
    }
}

// Where a frame begins: at the last one, or, where all that counts is the minimum, a step further on.
static const double *start_of(poise_tracker *t)
{
    if (!t->has_last || !t->problem.task_weights || !t->has_before || t->held > 0) {
        return t->has_last ? t->last.q : t->q_start;
    }
    bool goes_on = poise_difference(t->model, t->before, t->last.q, t->change, NULL) == POISE_OK &&
                   poise_retract(t->model, t->last.q, t->change, t->ahead, NULL) == POISE_OK;
    return goes_on ? t->ahead : t->last.q;
}

static void find_frame(poise_tracker *t, int seen)
{
    poise_track_frame *frame = &t->now.frame;
    bool is_first = !t->has_last;
    let_stay(t, seen);
    attempt(t, is_first, start_of(t), is_first ? 0.0 : calm_weight(t, seen), &t->now);
    frame->flags = is_first ? POISE_TRACK_RESTARTED : 0;
    frame->turn = 0.0;
    if (is_first || t->status != POISE_OK) {
        return;
    }
    try_again(t, seen);
    if (t->status != POISE_OK) {
        return;
    }
    frame->turn = poise_kinematics_turn(t->last.kin, t->now.kin);
    bool is_doubtful = seen < t->count || frame->let_go > 0 || is_poor(t, frame, seen);
    double most = t->problem.max_turn * (1 + t->held); // the pose may have gone on while it was held
    if (frame->turn > most) {
        tame_jump(t, most, is_doubtful);
    }
    if (frame->turn > most) {
        frame->flags |= POISE_TRACK_JUMP;
    }
}

void pz_tracker_keep_limits(const poise_tracker *t, double *q)
{
    int moved;
    if (t->problem.solver.use_limits && !poise_model_within_limits(t->model, q)) {
        poise_model_clamp(t->model, q, &moved, NULL);
    }
}

// What is handed out of a frame that cannot be trusted. The neutral configuration, if it comes to that, may lie outside of
// the limits.
static void hold(poise_tracker *t)
{
    poise_track_frame *frame = &t->now.frame;
    memcpy(t->now.q, t->has_last ? t->last.q : t->q_start, (size_t)poise_model_info(t->model).nq * sizeof *t->now.q);
    pz_tracker_keep_limits(t, t->now.q);
    t->held += 1;
    frame->flags |= POISE_TRACK_HELD;
    frame->outcome = POISE_OUTCOME_BUDGET;
    frame->turn = 0.0;
    frame->is_ahead = false;
}

// The current frame is found: the next one starts from it.
static void go_on(poise_tracker *t)
{
    t->usual += (t->has_last ? PZ_USUAL_RATE : 1.0) * (t->now.frame.rms - t->usual);
    if (t->problem.task_weights && t->has_last) {
        memcpy(t->before, t->last.q, (size_t)poise_model_info(t->model).nq * sizeof *t->before);
        t->has_before = true;
    }
    t->has_last = true;
    t->held = 0;
    swap_poses(&t->last, &t->now);
}

// The last check of every pose that is handed out, whatever led to it: finite, and within the limits where they are kept.
static bool is_sound(const poise_tracker *t, const double *q)
{
    return poise_model_check(t->model, q, "q", NULL) == POISE_OK &&
           (!t->problem.solver.use_limits || poise_model_within_limits(t->model, q));
}

poise_status poise_tracker_next(poise_tracker *tracker, const poise_vec3 *seen, double *q, poise_track_frame *frame,
                                poise_error *error)
{
    if (!tracker || (tracker->count > 0 && !seen) || !q) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "tracker, seen and q must not be NULL");
    }
    poise_tracker *t = tracker;
    int count = take(t, seen);
    bool is_seen = count >= t->problem.least_markers;
    t->now.frame = (poise_track_frame){.seen = count};
    t->status = POISE_OK;
    t->error = error;
    if (is_seen) {
        find_frame(t, count);
    }
    t->found = NULL;
    if (t->status != POISE_OK) {
        return t->status;
    }
    t->now.frame.seen = count;
    t->now.frame.flags |= count < t->count ? POISE_TRACK_GAPS : 0;
    t->now.frame.flags |= t->now.frame.let_go > 0 ? POISE_TRACK_OUTLIERS : 0;
    if (!is_seen || (t->now.frame.flags & POISE_TRACK_HELD)) {
        hold(t);
    }
    if (!is_sound(t, t->now.q)) {
        return pz_error_set(error, POISE_ERROR_NUMERIC, "the frame's pose is not finite or leaves the limits");
    }
    memcpy(q, t->now.q, (size_t)poise_model_info(t->model).nq * sizeof *q);
    if (frame) {
        *frame = t->now.frame;
    }
    if (!(t->now.frame.flags & POISE_TRACK_HELD)) {
        go_on(t);
    }
    return POISE_OK;
}

void pz_tracker_go_on_from(poise_tracker *t, const double *q)
{
    memcpy(t->last.q, q, (size_t)poise_model_info(t->model).nq * sizeof *q);
    poise_kinematics_update(t->last.kin, q, NULL);
    t->has_last = true;
    t->has_before = false;
    t->held = 0;
}
