// The methods that hold a posture while an end faces something, behind one call.
#include "aim_target.h"

#include "cli/latency.h"
#include "cli/terminal.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define PI 3.14159265358979323846

static const double jump = 20 * PI / 180;

// ---- Settings ------------------------------------------------------------------------------------------------------------

aim_settings aim_settings_default(const aim_end *end, const aim_path *path)
{
    bool may_roll = true;
    for (int i = 0; path && i < path->count; ++i) {
        may_roll = may_roll && path->targets[i].kind != AIM_ORIENTATION;
    }
    aim_settings s = {.symmetric = may_roll,
                      .expressive = poise_expressive_options_default(),
                      .erik = poise_erik_options_default(),
                      .two_task = two_task_options_default()};
    s.expressive.body = s.erik.body = end->body;
    s.expressive.tip = s.erik.tip = end->tip;
    s.erik.warm = true; // along a path
    s.expressive.stride = AIM_STRIDE;
    return s;
}

typedef enum value_kind { VALUE_NUMBER, VALUE_COUNT, VALUE_FLAG } value_kind;

enum { FOR_EXPRESSIVE = 1 << AIM_EXPRESSIVE, FOR_ERIK = 1 << AIM_ERIK, FOR_TWO_TASK = 1 << AIM_TWO_TASK };

typedef struct setting {
    const char *name;
    int methods;
    value_kind kind;
    size_t place;
} setting;

#define IN_EXPRESSIVE(member) offsetof(aim_settings, expressive.member)
#define IN_ERIK(member)       offsetof(aim_settings, erik.member)
#define IN_TWO_TASK(member)   offsetof(aim_settings, two_task.member)

// One name may stand for several members: the errors of all methods are measured alike.
static const setting settings_table[] = {
    {"orientation_weight", ~0, VALUE_NUMBER, IN_ERIK(orientation_weight)},
    {"orientation_weight", ~0, VALUE_NUMBER, IN_EXPRESSIVE(goal_weight)},
    {"posture_weight", ~0, VALUE_NUMBER, IN_ERIK(posture_weight)},
    {"posture_weight", ~0, VALUE_NUMBER, IN_EXPRESSIVE(posture_weight)},
    {"threshold", ~0, VALUE_NUMBER, IN_ERIK(threshold)},
    {"threshold", ~0, VALUE_NUMBER, IN_EXPRESSIVE(threshold)},
    {"aggravation", ~0, VALUE_NUMBER, IN_ERIK(aggravation)},
    {"aggravation", ~0, VALUE_NUMBER, IN_EXPRESSIVE(aggravation)},
    {"symmetric_endpoint", ~0, VALUE_FLAG, offsetof(aim_settings, symmetric)},
    {"max_iterations", FOR_ERIK, VALUE_COUNT, IN_ERIK(max_iterations)},
    {"max_sweeps", FOR_ERIK, VALUE_COUNT, IN_ERIK(max_sweeps)},
    {"precision", FOR_ERIK, VALUE_NUMBER, IN_ERIK(precision)},
    {"stall", FOR_ERIK, VALUE_NUMBER, IN_ERIK(stall)},
    {"disturbance", FOR_ERIK, VALUE_NUMBER, IN_ERIK(disturbance)},
    {"window", FOR_ERIK, VALUE_COUNT, IN_ERIK(window)},
    {"tolerance", FOR_ERIK, VALUE_NUMBER, IN_ERIK(tolerance)},
    {"avoid_edges", FOR_ERIK, VALUE_FLAG, IN_ERIK(avoid_edges)},
    {"offset_trick", FOR_ERIK, VALUE_FLAG, IN_ERIK(offset_trick)},
    {"ccd_trick", FOR_ERIK, VALUE_FLAG, IN_ERIK(ccd_trick)},
    {"warm", FOR_ERIK, VALUE_FLAG, IN_ERIK(warm)},
    {"gain", FOR_ERIK, VALUE_NUMBER, IN_ERIK(gain)},
    {"exact_orientation", FOR_ERIK, VALUE_FLAG, IN_ERIK(exact_orientation)},
    {"restarts", FOR_ERIK, VALUE_COUNT, IN_ERIK(restarts)},
    {"max_iterations", FOR_TWO_TASK, VALUE_COUNT, IN_TWO_TASK(max_iterations)},
    {"use_posture", FOR_TWO_TASK, VALUE_FLAG, IN_TWO_TASK(use_posture)},
    {"correct_flip", FOR_TWO_TASK, VALUE_FLAG, IN_TWO_TASK(correct_flip)},
    {"flip_as_printed", FOR_TWO_TASK, VALUE_FLAG, IN_TWO_TASK(flip_as_printed)},
    {"longest_step", FOR_TWO_TASK, VALUE_NUMBER, IN_TWO_TASK(longest_step)},
    {"error_clamp", FOR_TWO_TASK, VALUE_NUMBER, IN_TWO_TASK(error_clamp)},
    {"max_iterations", FOR_EXPRESSIVE, VALUE_COUNT, IN_EXPRESSIVE(max_iterations)},
    {"length_scale", FOR_EXPRESSIVE, VALUE_NUMBER, IN_EXPRESSIVE(length_scale)},
    {"exact", FOR_EXPRESSIVE, VALUE_FLAG, IN_EXPRESSIVE(exact)},
    {"gain", FOR_EXPRESSIVE, VALUE_NUMBER, IN_EXPRESSIVE(gain)},
    {"stride", FOR_EXPRESSIVE, VALUE_NUMBER, IN_EXPRESSIVE(stride)},
    {"inertia", FOR_EXPRESSIVE, VALUE_NUMBER, IN_EXPRESSIVE(inertia)},
    {"searches", FOR_EXPRESSIVE, VALUE_COUNT, IN_EXPRESSIVE(searches)},
    {"use_erik", FOR_EXPRESSIVE, VALUE_FLAG, IN_EXPRESSIVE(use_erik)},
};

enum { SETTINGS = sizeof settings_table / sizeof settings_table[0] };

static bool parse_flag(const char *text, bool *flag)
{
    static const char *const words[] = {"false", "true", "off", "on", "no", "yes", "0", "1"};
    for (int i = 0; i < 8; ++i) {
        if (strcmp(text, words[i]) == 0) {
            *flag = i % 2 == 1;
            return true;
        }
    }
    return false;
}

static const char *put_value(aim_settings *settings, const setting *s, const char *text)
{
    char *place = (char *)settings + s->place;
    if (s->kind == VALUE_FLAG) {
        bool flag;
        if (!parse_flag(text, &flag)) {
            return "on or off";
        }
        memcpy(place, &flag, sizeof flag);
        return NULL;
    }
    double number;
    if (!parse_number(text, &number)) {
        return "a number";
    }
    if (s->kind == VALUE_NUMBER) {
        memcpy(place, &number, sizeof number);
        return NULL;
    }
    int count = fabs(number) < 1e9 ? (int)number : -1;
    if (count != number) {
        return "a whole number";
    }
    memcpy(place, &count, sizeof count);
    return NULL;
}

// The names that a method has, separated by spaces.
static void list_settings(int method, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (int i = 0; i < SETTINGS && used < size; ++i) {
        const setting *s = &settings_table[i];
        bool again = i > 0 && strcmp(s->name, s[-1].name) == 0;
        if ((s->methods & method) && !again) {
            used += (size_t)snprintf(text + used, size - used, "%s%s", used > 0 ? " " : "", s->name);
        }
    }
}

bool aim_set(aim_settings *settings, const char *assignment)
{
    const char *equals = strchr(assignment, '=');
    size_t size = equals ? (size_t)(equals - assignment) : strlen(assignment);
    int method = 1 << settings->method;
    bool found = false;
    for (int i = 0; i < SETTINGS && equals; ++i) {
        const setting *s = &settings_table[i];
        if ((s->methods & method) && strlen(s->name) == size && memcmp(s->name, assignment, size) == 0) {
            found = true;
            const char *wanted = put_value(settings, s, equals + 1);
            if (wanted) {
                complain("--set %s: the value must be %s", assignment, wanted);
                return false;
            }
        }
    }
    if (!found) {
        char names[512];
        list_settings(method, names, sizeof names);
        char name[64], hint[96];
        snprintf(name, sizeof name, "%.*s", (int)size, assignment);
        complain("--set %s: %s; there are: %s%s", assignment, equals ? "the method has no such setting" : "has no value",
                 names, equals ? did_you_mean(names, name, hint, sizeof hint) : "");
    }
    return found;
}

// ---- Solver --------------------------------------------------------------------------------------------------------------

struct aim_solver {
    const poise_model *model;
    aim_end end;
    aim_settings settings;
    poise_kinematics *kinematics;
    poise_erik *erik;              // NULL: no chain of hinges
    poise_erik *follower;          // of ERIK: from the last answer
    poise_expressive *cold, *warm; // of EXPRESSIVE only
};

static bool fail(const aim_solver *solver, const poise_error *error, char *reason)
{
    const char *text = error->text[0] ? error->text : "no memory left";
    if (reason) {
        snprintf(reason, POISE_ERROR_TEXT_SIZE, "%s", text);
    } else {
        complain("%s: %s", solver->end.name, text);
    }
    return false;
}

static bool create_parts(aim_solver *s, char *reason)
{
    poise_error error = {0};
    aim_settings *how = &s->settings;
    how->expressive.symmetric_endpoint = how->erik.symmetric_endpoint = how->symmetric;
    poise_erik_options cold = how->erik;
    cold.warm = false;
    bool has_chain = poise_erik_create(s->model, &cold, NULL, &s->erik, &error) == POISE_OK;
    if (!has_chain) {
        s->erik = NULL;
    } else if (how->method == AIM_ERIK && how->erik.warm) {
        need(poise_erik_create(s->model, &how->erik, NULL, &s->follower, NULL) == POISE_OK);
    }
    if (!has_chain && (how->method != AIM_EXPRESSIVE || error.status == POISE_ERROR_ARGUMENT)) {
        return fail(s, &error, reason);
    }
    error = (poise_error){0};
    need(poise_kinematics_create(s->model, NULL, &s->kinematics, NULL) == POISE_OK);
    for (int warm = 0; warm < 2 && how->method == AIM_EXPRESSIVE; ++warm) {
        how->expressive.warm = warm == 1;
        if (poise_expressive_create(s->model, &how->expressive, NULL, warm ? &s->warm : &s->cold, &error) != POISE_OK) {
            return fail(s, &error, reason);
        }
    }
    return true;
}

aim_solver *aim_solver_create(const poise_model *model, const aim_end *end, const aim_settings *settings, char *reason)
{
    aim_solver *s = needed(calloc(1, sizeof *s));
    *s = (aim_solver){.model = model, .end = *end, .settings = *settings};
    if (!create_parts(s, reason)) {
        aim_solver_destroy(s);
        return NULL;
    }
    return s;
}

void aim_solver_destroy(aim_solver *solver)
{
    if (solver) {
        poise_expressive_destroy(solver->cold);
        poise_expressive_destroy(solver->warm);
        poise_erik_destroy(solver->erik);
        poise_erik_destroy(solver->follower);
        poise_kinematics_destroy(solver->kinematics);
        free(solver);
    }
}

// ---- Measures ------------------------------------------------------------------------------------------------------------

static double dot(poise_vec3 a, poise_vec3 b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

static poise_vec3 cross(poise_vec3 a, poise_vec3 b)
{
    return poise_vec3_make(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}

static double angle_between(poise_vec3 a, poise_vec3 b)
{
    poise_vec3 c = cross(a, b);
    return poise_atan2(sqrt(dot(c, c)), dot(a, b));
}

static poise_quat tip_rotation(const aim_solver *s)
{
    poise_pose body = poise_kinematics_body_pose(s->kinematics, s->end.body);
    return poise_quat_multiply(body.rotation, s->end.tip.rotation);
}

// What the axis should point along, from where the tip is now; zero where the tip lies on the point.
static poise_vec3 wanted_direction(const aim_solver *s, const aim_target *target)
{
    poise_vec3 tip = poise_kinematics_point(s->kinematics, s->end.body, s->end.tip.position), p = target->vector;
    return target->kind == AIM_DIRECTION ? p : poise_vec3_make(p.x - tip.x, p.y - tip.y, p.z - tip.z);
}

// The angle left, at the configuration that the kinematics hold. An orientation may be rolled by half a turn about the axis.
static double angle_left(const aim_solver *s, const aim_target *target)
{
    poise_vec3 axis = poise_kinematics_direction(s->kinematics, s->end.body, s->end.axis);
    if (target->kind != AIM_ORIENTATION) {
        return angle_between(axis, wanted_direction(s, target));
    }
    poise_quat rotation = tip_rotation(s), goal = poise_quat_conjugate(target->rotation);
    double angle = poise_quat_angle(poise_quat_multiply(goal, rotation));
    if (s->settings.symmetric) {
        poise_quat rolled = poise_quat_multiply((poise_quat){axis.x, axis.y, axis.z, 0}, rotation);
        angle = fmin(angle, poise_quat_angle(poise_quat_multiply(goal, rolled)));
    }
    return angle;
}

double aim_angle(aim_solver *solver, const aim_target *target, const double *q)
{
    poise_kinematics_update(solver->kinematics, q, NULL);
    return angle_left(solver, target);
}

static int joint_q(const aim_solver *s, int position)
{
    return poise_model_joint_info(s->model, poise_erik_joints(s->erik).links[position].index).q;
}

// Runs of swings bend as the posture does or, where the twister before them is half a turn off against it, the other way:
// the least mean over both, run by run. Twisters at root and end are free.
static double shape_error(const aim_solver *s, const double *posture, const double *q)
{
    int count = poise_erik_joints(s->erik).count;
    double weights = 0, power = 1, least[2] = {0, poise_erik_joints(s->erik).links[0].is_twister ? 0 : INFINITY};
    for (int k = 0; k < count; ++k) {
        int i = joint_q(s, k);
        if (!poise_erik_joints(s->erik).links[k].is_twister) {
            least[0] += power * fabs(q[i] - posture[i]);
            least[1] += power * fabs(q[i] + posture[i]);
            weights += power;
            power *= s->settings.erik.aggravation;
            continue;
        }
        bool is_inner = weights > 0 && k < count - 1, is_half = fabs(cos(0.5 * (q[i] - posture[i]))) < sqrt(0.5);
        double same = is_inner && is_half ? INFINITY : 0, other = is_inner && !is_half ? INFINITY : 0;
        double to[2] = {fmin(least[0] + same, least[1] + other), fmin(least[1] + same, least[0] + other)};
        memcpy(least, to, sizeof least);
    }
    return weights > 0 ? fmin(least[0], least[1]) / weights : 0;
}

// `posture_error`: of the successor, for skeletons that the paper's measure does not know.
static void measure(aim_solver *s, const aim_target *target, const double *posture, const double *q, double posture_error,
                    aim_result *r)
{
    const poise_erik_options *o = &s->settings.erik;
    poise_kinematics_update(s->kinematics, q, NULL);
    r->angle = angle_left(s, target);
    r->orientation = sqrt(2) * sin(r->angle / 4);
    r->posture = posture_error;
    r->shape = NAN;
    if (s->erik) {
        poise_erik_report report;
        poise_erik_measure(s->erik, posture, poise_pose_identity().rotation, q, &report, NULL);
        r->posture = report.posture;
        r->shape = shape_error(s, posture, q);
    }
    r->error = o->orientation_weight * r->orientation + o->posture_weight * r->posture;
    r->faces = r->orientation <= o->threshold;
    r->within = r->error <= o->threshold;
    r->limits_hold = poise_model_within_limits(s->model, q);
}

bool aim_has_jumped(const poise_model *model, const double *before, const double *q)
{
    for (int i = 0; i < poise_model_info(model).nq; ++i) {
        if (fabs(q[i] - before[i]) > jump) {
            return true;
        }
    }
    return false;
}

// ---- Solving -------------------------------------------------------------------------------------------------------------

// The shortest turn from the direction a to b, neither 0.
static poise_quat arc(poise_vec3 a, poise_vec3 b)
{
    poise_vec3 axis = cross(a, b);
    if (dot(axis, axis) <= 1e-24 * dot(a, a) * dot(b, b)) { // one line: any axis across it
        axis = cross(a, fabs(a.x) < 0.8 * sqrt(dot(a, a)) ? poise_vec3_make(1, 0, 0) : poise_vec3_make(0, 1, 0));
    }
    return poise_quat_from_axis_angle(axis, angle_between(a, b));
}

static poise_vec3 unit(poise_vec3 v, poise_vec3 otherwise)
{
    double l = sqrt(dot(v, v));
    return l > 0 && isfinite(l) ? poise_vec3_make(v.x / l, v.y / l, v.z / l) : otherwise;
}

// A direction as an orientation: the end as the kinematics hold it, turned there the shortest way.
static poise_quat facing(const aim_solver *s, poise_vec3 direction)
{
    poise_vec3 axis = poise_kinematics_direction(s->kinematics, s->end.body, s->end.axis);
    return poise_quat_multiply(arc(axis, direction), tip_rotation(s));
}

static poise_status solve_orientation(aim_solver *s, poise_quat wanted, const double *posture, bool follows, double *q,
                                      poise_erik_report *report)
{
    poise_erik_report now;
    poise_erik *erik = follows && s->follower ? s->follower : s->erik;
    poise_status status = s->settings.method == AIM_ERIK
                              ? poise_erik_solve(erik, posture, wanted, q, &now, NULL)
                              : two_task_solve(s->erik, &s->settings.two_task, posture, wanted, q, &now);
    now.iterations += report->iterations;
    *report = status == POISE_OK ? now : *report;
    return status;
}

// The direction to a point depends on where the tip comes to lie: a fixed point d = direction from the tip of the answer to
// d. Steps towards it, shorter where they lead away, until the angle left is small; then the best of them once more.
static poise_status solve_point(aim_solver *s, const aim_target *target, const double *posture, bool follows, double *q,
                                poise_erik_report *report)
{
    enum { ROUNDS = 40 };
    const double settled = 1e-4;
    double least = INFINITY, share = 1;
    poise_vec3 from = poise_kinematics_direction(s->kinematics, s->end.body, s->end.axis);
    poise_vec3 d = unit(wanted_direction(s, target), from), best = d, wanted = d; // wanted: from the tip of the best
    poise_quat rest = tip_rotation(s);
    for (int i = 0; i < ROUNDS && least > settled; ++i) {
        poise_status status = solve_orientation(s, poise_quat_multiply(arc(from, d), rest), posture, follows, q, report);
        if (status != POISE_OK) {
            return status;
        }
        poise_kinematics_update(s->kinematics, q, NULL);
        double left = angle_left(s, target);
        if (left < least) {
            least = left;
            best = d;
            wanted = unit(wanted_direction(s, target), from);
        } else {
            share *= 0.7;
        }
        double keep = 1 - share;
        d = poise_vec3_make(share * wanted.x + keep * best.x, share * wanted.y + keep * best.y,
                            share * wanted.z + keep * best.z);
        d = unit(d, from);
    }
    return solve_orientation(s, poise_quat_multiply(arc(from, best), rest), posture, follows, q, report);
}

// ERIK and two tasks take orientations.
static poise_status solve_chain(aim_solver *s, const aim_target *target, const double *posture, bool follows, double *q,
                                poise_erik_report *report)
{
    poise_kinematics_update(s->kinematics, posture, NULL);
    switch (target->kind) {
    case AIM_POINT:
        return solve_point(s, target, posture, follows, q, report);
    case AIM_DIRECTION:
        return solve_orientation(s, facing(s, target->vector), posture, follows, q, report);
    default:
        return solve_orientation(s, target->rotation, posture, follows, q, report);
    }
}

static bool solve_expressive(aim_solver *s, const aim_target *target, const double *posture, bool follows, double *q,
                             aim_result *r, double *posture_error)
{
    poise_goal goals[AIM_MOST_HOLDS + 1] = {aim_goal(&s->end, target)};
    poise_expressive_report report;
    int count = 1;
    if (s->settings.holds.count > 0 && poise_kinematics_update(s->kinematics, posture, NULL) == POISE_OK) {
        count += aim_hold_goals(&s->settings.holds, s->kinematics, goals + 1);
    }
    if (poise_expressive_solve(follows ? s->warm : s->cold, goals, count, posture, q, &report, NULL) != POISE_OK) {
        return false;
    }
    r->outcome = poise_outcome_name(report.outcome);
    r->iterations = report.evaluations;
    *posture_error = report.posture;
    return true;
}

bool aim_solve(aim_solver *solver, const aim_target *target, const double *posture, bool follows, double *q,
               aim_result *result)
{
    double posture_error = NAN, begin = cpu_seconds_now();
    *result = (aim_result){.outcome = "failed"};
    if (!follows) {
        memcpy(q, posture, (size_t)poise_model_info(solver->model).nq * sizeof *q);
        poise_model_clamp(solver->model, q, NULL, NULL);
    }
    if (solver->settings.method == AIM_EXPRESSIVE) {
        if (!solve_expressive(solver, target, posture, follows, q, result, &posture_error)) {
            return false;
        }
    } else {
        poise_erik_report report = {0};
        if (solve_chain(solver, target, posture, follows, q, &report) != POISE_OK) {
            return false;
        }
        result->outcome = poise_outcome_name(report.outcome);
        result->iterations = report.iterations;
    }
    result->seconds = cpu_seconds_now() - begin;
    measure(solver, target, posture, q, posture_error, result);
    if (result->faces) {
        result->outcome = "reached";
    } else if (strcmp(result->outcome, "reached") == 0) {
        result->outcome = "closest";
    }
    return true;
}
