// Joints that leap along a tool path: between two poses that lie next to each other the arm takes another of its answers,
// and no controller can follow. A long move is none: where the tool itself moves far, its joints may, too.
//
//   step    v = poise_difference(q_a, q_b)        of each joint, an angle or a length
//   motion  s = angle(R_a, R_b) + |p_a - p_b| / l of the tool; l: the length of the chain that carries it
//
// A step within its threshold is none, and one beyond EXCUSED s is a leap. What lies between is halved: the tool goes to the
// middle of the straight line, and the joints follow it there from the middle of their way. Each half is looked at in the
// same way, and has half the s. Along one answer the steps become small; between two, one half keeps the leap.
//
// Where the time of a step is known, its speed is judged as well, against the joint's limit. Poses that were missed, and
// shapes that were not watched, are counted by whoever solved.
#include <poise/verdict.h>

#include "base/arena.h"
#include "base/error.h"
#include "motion/verdict.h"
#include "num/real.h"
#include "num/trig.h"
#include "num/vector.h"

#define EXCUSED  10.0 // times the tool's motion: joints that turn near the tool, or near a singularity
#define OPPOSITE 0.1  // cos(angle / 2), about 170 degrees: a tool that turns by half a turn may do so either way

#define DEFAULT_SPEED 20.0 // rad/s: the limit of a hinge without one

enum { HALVINGS = 10 };

typedef struct path_judge {
    const poise_path_problem *problem;
    poise_kinematics *kin;
    poise_solver *solver;
    double *v;     // nv
    double *q;     // a middle for each halving, nq numbers each
    double length; // of the chain that carries the tool
    bool has_tool;
} path_judge;

// A joint's step, and how many times its threshold it is.
typedef struct leap {
    double share, value;
    bool slides;
    int joint;
} leap;

// ---- Steps of joints -----------------------------------------------------------------------------------------------------

static bool is_slide(const poise_model *model, const poise_joint_info *joint, int dof)
{
    int coordinate = joint->q + least(dof, joint->nq - 1);
    bool turns = joint->type == POISE_JOINT_FREE && dof >= 3;
    return !turns && poise_model_coordinate(model, coordinate).unit == POISE_UNIT_LENGTH;
}

// The joint whose step s->v is the most times its threshold, of those that step farther than a motion of the tool excuses.
static leap longest_step(const path_judge *s, double motion)
{
    const poise_path_problem *p = s->problem;
    leap longest = {0};
    for (int k = 0; k < poise_model_info(p->model).joints; ++k) {
        poise_joint_info joint = poise_model_joint_info(p->model, k);
        for (int i = 0; i < joint.nv; ++i) {
            bool slides = is_slide(p->model, &joint, i);
            double value = fabs(s->v[joint.v + i]) * (slides ? p->metres : 1.0);
            double excused = EXCUSED * motion * (slides ? s->length * p->metres : 1.0);
            double share = value / max2(p->thresholds.doubtful[slides ? POISE_FINDING_SLID : POISE_FINDING_LEAPT], 1e-300);
            if (value > excused && share > longest.share) {
                longest = (leap){share, value, slides, k};
            }
        }
    }
    return longest;
}

// ---- The tool between two poses ------------------------------------------------------------------------------------------

static poise_pose tool_at(const path_judge *s, const double *q)
{
    poise_kinematics_update(s->kin, q, NULL);
    return poise_pose_multiply(poise_kinematics_body_pose(s->kin, s->problem->body), s->problem->local);
}

static double chain_length(const poise_path_problem *p)
{
    double length = v3_norm(p->local.position);
    for (int k = p->body; k >= 0; k = poise_model_joint_info(p->model, k).parent) {
        length += v3_norm(poise_model_joint_info(p->model, k).given->offset.position);
    }
    return length > 0.0 ? length : 1.0;
}

static double motion_between(const path_judge *s, poise_pose a, poise_pose b)
{
    quat turn = quat_mul(quat_conj(a.rotation), b.rotation);
    double angle = 2.0 * poise_atan2(v3_norm(quat_vec(turn)), fabs(turn.w));
    return angle + v3_norm(v3_sub(b.position, a.position)) / s->length;
}

static double cosine(quat a, quat b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
}

// Halfway between two poses; after half a turn on the side where the joints have it, `guess`.
static poise_pose middle_of(poise_pose a, poise_pose b, poise_pose guess)
{
    quat p = a.rotation, r = b.rotation;
    double sign = cosine(p, r) < 0.0 ? -1.0 : 1.0;
    quat near = quat_normalize((quat){p.x + sign * r.x, p.y + sign * r.y, p.z + sign * r.z, p.w + sign * r.w});
    quat far = quat_normalize((quat){p.x - sign * r.x, p.y - sign * r.y, p.z - sign * r.z, p.w - sign * r.w});
    bool is_far = fabs(cosine(p, r)) < OPPOSITE && fabs(cosine(far, guess.rotation)) > fabs(cosine(near, guess.rotation));
    return (poise_pose){.rotation = is_far ? far : near, .position = v3_scale(v3_add(a.position, b.position), 0.5)};
}

// The joints with the tool halfway, from halfway between the joints.
static poise_status solve_middle(const path_judge *s, const double *from, poise_pose a, poise_pose b, double *q,
                                 poise_error *error)
{
    const poise_model *model = s->problem->model;
    for (int i = 0; i < poise_model_info(model).nv; ++i) {
        s->v[i] *= 0.5;
    }
    poise_status status = poise_retract(model, from, s->v, q, error);
    if (status == POISE_OK) {
        poise_goal goal = poise_goal_pose(s->problem->body, s->problem->local, middle_of(a, b, tool_at(s, q)));
        status = poise_solve(s->solver, &goal, 1, q, NULL, error);
    }
    return status;
}

// The longest step on the way between two answers.
static poise_status find_leap_between(const path_judge *s, const double *from, const double *to, int halvings, leap *longest,
                                      poise_error *error)
{
    poise_status status = poise_difference(s->problem->model, from, to, s->v, error);
    if (status != POISE_OK) {
        return status;
    }
    leap step = longest_step(s, -1.0);
    if (step.share > 1.0 && s->has_tool) {
        poise_pose a = tool_at(s, from), b = tool_at(s, to);
        step = longest_step(s, motion_between(s, a, b));
        if (step.share <= 1.0 && halvings < HALVINGS) {
            double *middle = s->q + (size_t)halvings * (size_t)poise_model_info(s->problem->model).nq;
            status = solve_middle(s, from, a, b, middle, error);
            status = status == POISE_OK ? find_leap_between(s, from, middle, halvings + 1, longest, error) : status;
            return status == POISE_OK ? find_leap_between(s, middle, to, halvings + 1, longest, error) : status;
        }
    }
    *longest = step.share > longest->share ? step : *longest;
    return POISE_OK;
}

// ---- The verdict ---------------------------------------------------------------------------------------------------------

static poise_status check(const poise_path_problem *p, const poise_verdict *verdict, const poise_finding *findings,
                          int capacity, poise_error *error)
{
    if (!p || !p->model || !p->q || !verdict || p->poses < 0 || p->missed < 0 || p->unwatched < 0 || capacity < 0 ||
        (capacity > 0 && !findings)) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "model, q and verdict must not be NULL, and counts not be below 0");
    }
    if (p->body >= poise_model_info(p->model).joints || (p->body < 0 && p->body != POISE_NONE)) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "the tool's body %d is out of range", p->body);
    }
    if (!(p->metres > 0.0 && is_finite(p->metres))) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "metres per unit must be a finite number > 0");
    }
    if (!(p->frame_time >= 0.0 && is_finite(p->frame_time))) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "the frame time must be a finite number >= 0");
    }
    return POISE_OK;
}

// The longest step from one pose to the next; where following the tool takes it, the longest on the way.
static poise_status judge_step(const path_judge *s, const double *from, const double *to, leap *longest, poise_error *error)
{
    leap on_the_way = {0};
    poise_status status = poise_difference(s->problem->model, from, to, s->v, error);
    if (status == POISE_OK) {
        *longest = longest_step(s, -1.0);
        status = find_leap_between(s, from, to, 0, &on_the_way, error);
    }
    *longest = on_the_way.share > 1.0 ? *longest : on_the_way;
    return status;
}

// The joint that is the most times as fast as it may be, over the steps so far; s->v is the one that ends in pose `to`.
static void note_speed(const path_judge *s, int to, poise_finding *fastest)
{
    const poise_path_problem *p = s->problem;
    for (int k = 0; k < poise_model_info(p->model).joints && p->frame_time > 0.0; ++k) {
        poise_joint_info joint = poise_model_joint_info(p->model, k);
        for (int i = 0; i < joint.nv; ++i) {
            double own = joint.given->velocity, speed = fabs(s->v[joint.v + i]) / p->frame_time;
            double limit = own > 0.0 ? own : is_slide(p->model, &joint, i) ? INFINITY : DEFAULT_SPEED;
            if (speed > fastest->value * limit) {
                *fastest = (poise_finding){.kind = POISE_FINDING_FAST,
                                           .name = joint.name,
                                           .value = speed / limit,
                                           .first = to,
                                           .last = to,
                                           .distance = speed};
            }
        }
    }
}

static poise_status judge(const path_judge *s, pz_findings *found, poise_error *error)
{
    const poise_path_problem *p = s->problem;
    poise_finding fastest = {.kind = POISE_FINDING_FAST};
    size_t nq = (size_t)poise_model_info(p->model).nq;
    for (int i = 1; i < p->poses; ++i) {
        leap longest = {0};
        const double *to = p->q + (size_t)i * nq;
        poise_status status = poise_difference(p->model, to - nq, to, s->v, error);
        if (status == POISE_OK) {
            note_speed(s, i, &fastest);
            status = judge_step(s, to - nq, to, &longest, error);
        }
        if (status != POISE_OK) {
            return status;
        }
        poise_finding f = {.kind = longest.slides ? POISE_FINDING_SLID : POISE_FINDING_LEAPT,
                           .name = poise_model_joint_info(p->model, longest.joint).name,
                           .value = longest.value,
                           .first = i,
                           .last = i + 1};
        poise_verdict_weigh(found->thresholds, f, false, &found->verdict, found->list, found->capacity);
    }
    poise_verdict_weigh(found->thresholds, fastest, false, &found->verdict, found->list, found->capacity);
    return POISE_OK;
}

// Whether poses were met, and shapes watched, the solver knows. A pose that is missed is none of the path's.
static void judge_poses(const poise_path_problem *p, pz_findings *found)
{
    poise_thresholds strict = p->thresholds;
    strict.doubtful[POISE_FINDING_UNMET] = strict.failed[POISE_FINDING_UNMET] = 0.0;
    poise_finding missed = {
        .kind = POISE_FINDING_UNMET, .other = "the path", .value = p->poses > 0 ? (double)p->missed / p->poses : 0.0};
    poise_finding unwatched = {.kind = POISE_FINDING_UNCHECKED, .value = p->unwatched};
    poise_verdict_weigh(&strict, missed, false, &found->verdict, found->list, found->capacity);
    poise_verdict_weigh(&p->thresholds, unwatched, false, &found->verdict, found->list, found->capacity);
}

poise_status poise_path_judge(const poise_path_problem *problem, const poise_allocator *allocator, poise_verdict *verdict,
                              poise_finding *findings, int capacity, poise_error *error)
{
    poise_status status = check(problem, verdict, findings, capacity, error);
    if (status != POISE_OK) {
        return status;
    }
    poise_model_summary size = poise_model_info(problem->model);
    poise_solver_options options = poise_solver_options_default();
    path_judge s = {.problem = problem, .length = chain_length(problem), .has_tool = problem->body != POISE_NONE};
    pz_findings found = {.thresholds = &problem->thresholds, .list = findings, .capacity = capacity};
    status = poise_kinematics_create(problem->model, allocator, &s.kin, error);
    if (status == POISE_OK) {
        status = poise_solver_create(problem->model, &options, allocator, &s.solver, error);
    }
    s.v = pz_allocate(allocator, ((size_t)size.nv + 1) * sizeof *s.v);
    s.q = pz_allocate(allocator, (HALVINGS * (size_t)size.nq + 1) * sizeof *s.q);
    if (status == POISE_OK && !(s.v && s.q)) {
        status = pz_error_set(error, POISE_ERROR_MEMORY, "out of memory");
    }
    status = status == POISE_OK ? judge(&s, &found, error) : status;
    if (status == POISE_OK) {
        judge_poses(problem, &found);
    }
    pz_release(allocator, s.q);
    pz_release(allocator, s.v);
    poise_solver_destroy(s.solver);
    poise_kinematics_destroy(s.kin);
    *verdict = status == POISE_OK ? found.verdict : *verdict;
    return status;
}
