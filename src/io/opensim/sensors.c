// Sensors of orientation: placed on a model as OpenSense does, and followed.
//
//   R = turn of the heading about y * Rz(c) Ry(b) Rx(a) * row                         a sensor in the model's world
//   heading: the angle between the base sensor's axis in the first row and x of its body, against the turn from x to it
//   offset = R_body^T R of the first row
//
// OpenSense minimises sum w theta^2 over the angles theta between sensors and where their bodies put them. An ORIENTATION
// goal has the energy w 4 sin^2(theta/2)/2, whose slope is w sin(theta): with the weight w theta/sin(theta) of the last
// solve both slopes are the same, so a few solves with such weights end at OpenSense's minimum.
#include <poise/opensim.h>

#include "base/arena.h"
#include "base/error.h"
#include "math/quat.h"
#include "math/scalar.h"

#include <string.h>

#define REWEIGHTS 4 // solves of a frame: 8 degrees leave 0.3 % after each

static quat turn_about(double x, double y, double z, double angle)
{
    return poise_quat_from_axis_angle(v3(x, y, z), angle);
}

// From rows to the model's world.
static quat world_turn(vec3 r, double heading)
{
    quat turned = quat_mul(quat_mul(turn_about(0, 0, 1, r.z), turn_about(0, 1, 0, r.y)), turn_about(1, 0, 0, r.x));
    return quat_mul(turn_about(0, 1, 0, heading), turned);
}

static bool is_there(quat q)
{
    return q.x != 0 || q.y != 0 || q.z != 0 || q.w != 0;
}

static int body_of(const poise_model *model, const char *label)
{
    char name[128];
    size_t length = strlen(label), tail = strlen("_imu");
    int body = poise_model_find_body(model, label);
    if (body >= 0 || length <= tail || length >= sizeof name || strcmp(label + length - tail, "_imu") != 0) {
        return body;
    }
    memcpy(name, label, length - tail);
    name[length - tail] = '\0';
    return poise_model_find_body(model, name);
}

// ---- Placing -------------------------------------------------------------------------------------------------------------

static double heading_of(const poise_kinematics *kin, const poise_model *model, const poise_orientations *c,
                         const poise_sensor_setup *setup)
{
    for (int i = 0; i < c->count && setup->base[0]; ++i) {
        int body = body_of(model, c->label[i]);
        if (strcmp(c->label[i], setup->base) != 0 || body < 0 || !is_there(c->rotation[i])) {
            continue;
        }
        double sign = setup->is_backward ? -1.0 : 1.0;
        vec3 e = v3(sign * (setup->axis == 'x'), sign * (setup->axis == 'y'), sign * (setup->axis == 'z'));
        vec3 axis = quat_rotate(quat_mul(world_turn(setup->rotations, 0.0), c->rotation[i]), e);
        vec3 x = poise_kinematics_direction(kin, body, v3(1, 0, 0)), across = v3_cross(x, axis);
        double angle = poise_atan2(v3_norm(across), v3_dot(x, axis));
        return across.y > 0.0 ? -angle : angle;
    }
    return 0.0;
}

static double weight_of(const poise_sensor_setup *setup, const char *label)
{
    for (int i = 0; i < setup->weight_count; ++i) {
        if (strcmp(setup->weights[i].label, label) == 0) {
            return setup->weights[i].weight;
        }
    }
    return 1.0;
}

int poise_place_sensors(const poise_model *model, const double *q, const poise_orientations *calibration,
                        const poise_sensor_setup *setup, poise_sensor *sensors, int capacity, double *heading)
{
    poise_kinematics *kin = NULL;
    if (!model || !q || !calibration || !setup || calibration->frames < 1 ||
        poise_kinematics_create(model, NULL, &kin, NULL) != POISE_OK) {
        return 0;
    }
    int count = 0;
    if (poise_kinematics_update(kin, q, NULL) == POISE_OK) {
        double turn = heading_of(kin, model, calibration, setup);
        quat world = world_turn(setup->rotations, turn);
        for (int i = 0; i < calibration->count; ++i) {
            int body = body_of(model, calibration->label[i]);
            if (body < 0 || !is_there(calibration->rotation[i])) {
                continue;
            }
            quat R = poise_kinematics_body_pose(kin, body).rotation, S = quat_mul(world, calibration->rotation[i]);
            if (count < capacity) {
                quat offset = quat_normalize(quat_mul(quat_conj(R), S));
                sensors[count] = (poise_sensor){i, body, offset, weight_of(setup, calibration->label[i])};
            }
            count += 1;
        }
        if (heading) {
            *heading = turn;
        }
    }
    poise_kinematics_destroy(kin);
    return count;
}

// ---- Following -----------------------------------------------------------------------------------------------------------

typedef struct follower {
    const poise_sensor_problem *problem;
    poise_solver *solver;
    poise_goal *goals;
    bool *locked;
    quat world;
} follower;

// Slides, and what no sensor turns.
static bool lock(const poise_sensor_problem *p, const poise_allocator *allocator, bool *locked)
{
    poise_model_summary size = poise_model_info(p->model);
    poise_placement *places = pz_allocate(allocator, ((size_t)p->sensor_count + 1) * sizeof *places);
    if (!places) {
        return false;
    }
    for (int i = 0; i < p->sensor_count; ++i) {
        places[i] = (poise_placement){"", p->sensors[i].body, {0, 0, 0}, p->sensors[i].weight};
    }
    poise_unseen_dofs(p->model, places, p->sensor_count, NULL, locked);
    pz_release(allocator, places);
    for (int i = 0; i < size.nq; ++i) {
        poise_coordinate c = poise_model_coordinate(p->model, i);
        poise_joint_info info = poise_model_joint_info(p->model, c.joint);
        if (c.unit == POISE_UNIT_LENGTH) {
            locked[info.v + c.place] = true; // slides come first, in q and in steps
        }
    }
    return true;
}

// The frame's goals; how many sensors it has.
static int take_frame(follower *f, int frame)
{
    const poise_orientations *o = f->problem->orientations;
    int count = 0;
    for (int i = 0; i < f->problem->sensor_count; ++i) {
        const poise_sensor *s = &f->problem->sensors[i];
        quat row = o->rotation[(size_t)frame * (size_t)o->count + (size_t)s->column];
        if (is_there(row)) {
            quat target = quat_mul(quat_mul(f->world, row), quat_conj(s->offset));
            f->goals[count] = poise_goal_orientation(s->body, target);
            f->goals[count++].weight = s->weight;
        }
    }
    return count;
}

static poise_status solve_frame(follower *f, int frame, double *q, double *rms, poise_error *error)
{
    int count = take_frame(f, frame);
    poise_status status = POISE_OK;
    poise_report report;
    double square = 0.0, total = 0.0;
    for (int pass = 0; pass < REWEIGHTS && status == POISE_OK && count > 0; ++pass) {
        status = poise_solve(f->solver, f->goals, count, q, &report, error);
        square = total = 0.0;
        for (int i = 0, used = 0; i < f->problem->sensor_count && status == POISE_OK && used < count; ++i) {
            const poise_sensor *s = &f->problem->sensors[i];
            if (f->goals[used].body != s->body) {
                continue; // not in this frame
            }
            double angle = poise_solver_goal_error(f->solver, used).error, sine, cosine;
            poise_sincos(angle, &sine, &cosine);
            f->goals[used++].weight = s->weight * (angle > 1e-6 && sine > 1e-3 ? angle / sine : 1.0);
            square += s->weight * angle * angle;
            total += s->weight;
        }
    }
    *rms = total > 0.0 ? sqrt(square / total) : 0.0;
    return status;
}

static poise_status follow(follower *f, poise_clip *clip, double *rms, poise_error *error)
{
    const poise_sensor_problem *p = f->problem;
    size_t nq = (size_t)clip->nq;
    poise_status status = POISE_OK;
    int step = p->step > 0 ? p->step : 1;
    for (int i = 0; i < clip->frames && status == POISE_OK; ++i) {
        double *q = clip->q + (size_t)i * nq, off;
        memcpy(q, i == 0 ? p->q_start : q - nq, nq * sizeof *q);
        status = solve_frame(f, p->first + i * step, q, &off, error);
        if (rms) {
            rms[i] = off;
        }
    }
    return status;
}

poise_status poise_track_sensors(const poise_sensor_problem *problem, const poise_allocator *allocator, poise_clip **clip,
                                 double *rms, poise_error *error)
{
    const poise_sensor_problem *p = problem;
    int step = p && p->step > 0 ? p->step : 1;
    if (!p || !p->model || !p->q_start || !p->orientations || !p->sensors || p->sensor_count < 1 || p->count < 1 ||
        p->first < 0 || p->first > p->orientations->frames - 1 - (p->count - 1) * step || !clip) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "sensors, start and frames within the recording must be there");
    }
    poise_model_summary size = poise_model_info(p->model);
    follower f = {.problem = p, .world = world_turn(p->rotations, p->heading)};
    poise_solver_options options = poise_solver_options_default();
    poise_clip *made = NULL;
    f.goals = pz_allocate(allocator, (size_t)p->sensor_count * sizeof *f.goals);
    f.locked = pz_allocate(allocator, (size_t)size.nv + 1);
    poise_status status = f.goals && f.locked && lock(p, allocator, f.locked)
                              ? poise_clip_create(p->count, size.nq, step / p->orientations->rate, allocator, &made, error)
                              : pz_error_set(error, POISE_ERROR_MEMORY, "out of memory");
    options.locked = f.locked;
    status = status == POISE_OK ? poise_solver_create(p->model, &options, allocator, &f.solver, error) : status;
    if (status == POISE_OK) {
        made->start_time = p->orientations->start_time + p->first / p->orientations->rate;
        status = follow(&f, made, rms, error);
    }
    poise_solver_destroy(f.solver);
    pz_release(allocator, f.goals);
    pz_release(allocator, f.locked);
    if (status != POISE_OK) {
        poise_clip_destroy(made);
        return status;
    }
    *clip = made;
    return POISE_OK;
}

int poise_find_sensors(const poise_orientations *calibration, const poise_orientations *recording, poise_sensor *sensors,
                       int count)
{
    int kept = 0;
    for (int i = 0; i < count; ++i) {
        for (int k = 0; k < recording->count; ++k) {
            if (strcmp(recording->label[k], calibration->label[sensors[i].column]) == 0) {
                sensors[kept] = sensors[i];
                sensors[kept++].column = k;
                break;
            }
        }
    }
    return kept;
}

poise_status poise_sensors_judge(const poise_sensor_problem *problem, const double *rms, const poise_thresholds *thresholds,
                                 poise_verdict *verdict, poise_finding *findings, int capacity, poise_error *error)
{
    const poise_sensor_problem *p = problem;
    if (!p || !p->orientations || !p->sensors || p->count < 1 || !rms || !thresholds || !verdict || capacity < 0 ||
        (capacity > 0 && !findings)) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "problem, rms, thresholds and verdict must not be NULL");
    }
    double square = 0.0;
    for (int f = 0; f < p->count; ++f) {
        square += rms[f] * rms[f];
    }
    *verdict = (poise_verdict){0};
    poise_verdict_weigh(thresholds, (poise_finding){.kind = POISE_FINDING_TURNED, .value = sqrt(square / p->count)}, false,
                        verdict, findings, capacity);
    for (int k = 0; k < p->orientations->count; ++k) {
        bool is_used = false;
        for (int i = 0; i < p->sensor_count; ++i) {
            is_used = is_used || p->sensors[i].column == k;
        }
        if (!is_used) {
            poise_finding left = {.kind = POISE_FINDING_LEFT_OUT, .name = p->orientations->label[k], .value = 1};
            poise_verdict_weigh(thresholds, left, true, verdict, findings, capacity);
        }
    }
    return POISE_OK;
}
