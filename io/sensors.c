// Sensors of orientation, as OpenSense has them: its files, and sensors that are placed on a model and followed.
#include "io/opensim.h"

#include "base/arena.h"
#include "base/error.h"
#include "num/real.h"
#include "num/vector.h"

#include <string.h>

// ---- Files: orientations as STO tables of quaternions, setups of the placer and of inverse kinematics --------------------
//
//   DataRate=100.000000
//   DataType=Quaternion
//   endheader
//   time   torso_imu            pelvis_imu ...
//   417    w,x,y,z              w,x,y,z

// As it is handed out.
typedef struct whole_orientations {
    poise_orientations data;
    poise_allocator allocator;
    bool has_allocator;
    pz_pool kept;
} whole_orientations;

typedef struct reader {
    pz_pool kept;
    poise_error *error;
    poise_orientations out;
    pz_scan rows;
    bool is_quaternions;
} reader;

static poise_status fail(reader *r, int line, const char *what)
{
    pz_error_set(r->error, POISE_ERROR_FORMAT, "%s", what);
    if (r->error) {
        r->error->line = line;
    }
    return POISE_ERROR_FORMAT;
}

static poise_status read_header(reader *r, pz_scan *scan)
{
    pz_word line;
    while (pz_scan_line(scan, &line)) {
        pz_word word = pz_word_trimmed(line.text, line.text + line.length);
        const char *equals = word.length > 0 ? memchr(word.text, '=', word.length) : NULL;
        if (pz_word_is_like(word, "endheader")) {
            return r->is_quaternions ? POISE_OK
                                     : fail(r, scan->line, "no line DataType=Quaternion: this table holds no orientations");
        }
        if (pz_ends_header_with_commas(word)) {
            return fail(r, scan->line - 1, "cells are separated by commas; an STO file uses tabs: replace them");
        }
        if (equals) {
            pz_word key = pz_word_trimmed(word.text, equals), value = pz_word_trimmed(equals + 1, word.text + word.length);
            if (pz_word_is_like(key, "DataRate")) {
                pz_word_number(value, &r->out.rate);
            }
            r->is_quaternions =
                r->is_quaternions || (pz_word_is_like(key, "DataType") && pz_word_is_like(value, "Quaternion"));
        }
    }
    return fail(r, scan->line, "no line \"endheader\"");
}

static poise_status read_labels(reader *r, pz_scan *scan)
{
    pz_word line = {"", 0}, cell;
    while (pz_word_trimmed(line.text, line.text + line.length).length == 0) {
        if (!pz_scan_line(scan, &line)) {
            return fail(r, scan->line, "the file ends before the names of the sensors");
        }
    }
    pz_cells cells = pz_cells_of(pz_word_trimmed(line.text, line.text + line.length));
    size_t room = 0;
    if (!pz_cells_next(&cells, &cell) || !pz_word_is_like(cell, "time")) {
        return fail(r, scan->line - 1, "the first column must be called \"time\"");
    }
    while (pz_cells_next(&cells, &cell)) {
        if (cell.length == 0) {
            continue;
        }
        const char **labels = pz_pool_grow(&r->kept, r->out.label, (size_t)r->out.count, &room, sizeof *labels);
        char *label = labels ? pz_pool_copy(&r->kept, cell.text, cell.length) : NULL;
        if (!label) {
            return pz_error_set(r->error, POISE_ERROR_MEMORY, "out of memory");
        }
        r->out.label = labels;
        r->out.label[r->out.count++] = label;
    }
    r->rows = *scan;
    return POISE_OK;
}

// "w,x,y,z"; what is not four numbers is zero.
static poise_quat quat_of(pz_word cell)
{
    double c[4] = {0, 0, 0, 0};
    const char *at = cell.text, *end = cell.text + cell.length;
    for (int i = 0; i < 4; ++i) {
        const char *behind = pz_number_read(at, end, &c[i]);
        if (behind == at || !is_finite(c[i]) || (i < 3 && (behind >= end || *behind != ','))) {
            return (poise_quat){0, 0, 0, 0};
        }
        at = behind + 1;
    }
    return quat_normalize((quat){c[1], c[2], c[3], c[0]});
}

static poise_status read_rows(reader *r)
{
    pz_scan scan = r->rows;
    pz_word line, cell;
    size_t rows = 0, count = (size_t)r->out.count;
    while (pz_scan_line(&scan, &line)) {
        rows += pz_word_trimmed(line.text, line.text + line.length).length > 0;
    }
    r->out.rotation = rows <= INT32_MAX ? pz_pool_take(&r->kept, rows, count * sizeof *r->out.rotation) : NULL;
    if (!r->out.rotation) {
        return pz_error_set(r->error, POISE_ERROR_MEMORY, "out of memory");
    }
    double time = 0.0, last = 0.0;
    scan = r->rows;
    for (int number = scan.line; pz_scan_line(&scan, &line); number = scan.line) {
        pz_word whole = pz_word_trimmed(line.text, line.text + line.length);
        pz_cells cells = {whole.text, whole.text + whole.length, '\t'};
        if (whole.length == 0) {
            continue;
        }
        if (!pz_cells_next(&cells, &cell) || !pz_word_number(cell, &time)) {
            return fail(r, number, "a row must begin with its time");
        }
        r->out.start_time = r->out.frames == 0 ? time : r->out.start_time;
        last = time;
        for (size_t i = 0; i < count; ++i) {
            bool is_there = pz_cells_next(&cells, &cell);
            r->out.rotation[(size_t)r->out.frames * count + i] = is_there ? quat_of(cell) : (poise_quat){0, 0, 0, 0};
        }
        r->out.frames += 1;
    }
    double span = last - r->out.start_time;
    r->out.rate = r->out.frames > 1 && span > 0.0 ? (r->out.frames - 1) / span : r->out.rate > 0.0 ? r->out.rate : 1.0;
    return r->out.frames > 0 && count > 0 ? POISE_OK : fail(r, 0, "the table has no rows, or no sensors");
}

poise_status poise_orientations_read(const void *bytes, size_t size, const poise_allocator *allocator,
                                     poise_orientations **orientations, poise_error *error)
{
    if ((!bytes && size > 0) || !orientations) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "bytes and orientations must not be NULL");
    }
    reader r = {.kept = {.allocator = allocator}, .error = error};
    pz_scan scan = pz_scan_over(bytes ? bytes : "", size);
    poise_status status = read_header(&r, &scan);
    status = status == POISE_OK ? read_labels(&r, &scan) : status;
    status = status == POISE_OK ? read_rows(&r) : status;
    whole_orientations *whole = status == POISE_OK ? pz_allocate(allocator, sizeof *whole) : NULL;
    if (!whole) {
        pz_pool_release(&r.kept);
        return status == POISE_OK ? pz_error_set(error, POISE_ERROR_MEMORY, "out of memory") : status;
    }
    *whole = (whole_orientations){.data = r.out, .has_allocator = allocator != NULL, .kept = {.blocks = r.kept.blocks}};
    if (allocator) {
        whole->allocator = *allocator;
    }
    *orientations = &whole->data;
    return POISE_OK;
}

void poise_orientations_destroy(poise_orientations *orientations)
{
    if (orientations) {
        whole_orientations *whole = (whole_orientations *)(void *)orientations;
        poise_allocator allocator = whole->allocator;
        bool has_allocator = whole->has_allocator;
        whole->kept.allocator = has_allocator ? &allocator : NULL;
        pz_pool_release(&whole->kept);
        pz_release(has_allocator ? &allocator : NULL, whole);
    }
}

// ---- Setups --------------------------------------------------------------------------------------------------------------

static void copy_text(const char *text, char *to, size_t room)
{
    size_t length = text ? strlen(text) : 0;
    length = length < room ? length : room - 1;
    memcpy(to, text ? text : "", length);
    to[length] = '\0';
}

// <OrientationWeight name="pelvis_imu"><weight>..., wherever they stand.
static poise_status read_weights(pz_setup *s, poise_sensor_setup *setup)
{
    poise_status status = POISE_OK;
    for (const pz_xml_node *node = s->root; node && status == POISE_OK; node = pz_xml_after(node, s->root, false)) {
        if (!pz_xml_is(node, "OrientationWeight") || !pz_osim_name(node)) {
            continue;
        }
        if (setup->weight_count == POISE_SENSOR_WEIGHTS) {
            return pz_xml_fail(&s->input, node, POISE_ERROR_FORMAT, "more than %d weights of sensors", POISE_SENSOR_WEIGHTS);
        }
        poise_sensor_weight *made = &setup->weights[setup->weight_count++];
        made->weight = 1.0;
        copy_text(pz_osim_name(node), made->label, sizeof made->label);
        status = pz_osim_number(&s->input, node, "weight", &made->weight);
        if (status == POISE_OK && !(made->weight >= 0.0)) {
            status = pz_xml_fail(&s->input, node, POISE_ERROR_FORMAT, "the weight of \"%s\" is negative", made->label);
        }
    }
    return status;
}

poise_status poise_sensor_setup_read(const void *bytes, size_t size, poise_sensor_setup *setup, poise_error *error)
{
    if ((!bytes && size > 0) || !setup) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "bytes and setup must not be NULL");
    }
    pz_setup s;
    *setup = (poise_sensor_setup){.axis = 'x', .start = -INFINITY, .end = INFINITY};
    poise_status status = pz_setup_open(&s, bytes, size, NULL, error);
    const pz_xml_node *tool = status == POISE_OK ? pz_setup_find(&s, "IMUPlacer") : NULL;
    tool = tool || status != POISE_OK ? tool : pz_setup_find(&s, "IMUInverseKinematicsTool");
    if (status == POISE_OK && !tool) {
        status = pz_xml_fail(&s.input, s.root, POISE_ERROR_FORMAT,
                             "<%s> contains neither an <IMUPlacer> nor an <IMUInverseKinematicsTool>", s.root->name);
    }
    if (status == POISE_OK) {
        const char *axis = pz_xml_child_text(tool, "base_heading_axis");
        const char *file = pz_setup_text(&s, tool, "orientation_file_for_calibration");
        setup->is_backward = axis && axis[0] == '-';
        char letter = axis ? axis[setup->is_backward] : 'x';
        setup->axis = letter == 'y' || letter == 'Y' ? 'y' : letter == 'z' || letter == 'Z' ? 'z' : 'x';
        copy_text(pz_setup_text(&s, tool, "base_imu_label"), setup->base, sizeof setup->base);
        copy_text(file ? file : pz_setup_text(&s, tool, "orientations_file"), setup->file, sizeof setup->file);
        status = pz_osim_vec3(&s.input, tool, "sensor_to_opensim_rotations", &setup->rotations);
        status = status == POISE_OK ? pz_setup_times(&s, tool, &setup->start, &setup->end) : status;
        status = status == POISE_OK ? read_weights(&s, setup) : status;
    }
    pz_setup_close(&s, false);
    return status;
}

// ---- Placing and following -----------------------------------------------------------------------------------------------
//
//   R = turn of the heading about y * Rz(c) Ry(b) Rx(a) * row                         a sensor in the model's world
//   heading: the angle between the base sensor's axis in the first row and x of its body, against the turn from x to it
//   offset = R_body^T R of the first row
//
// OpenSense minimises sum w theta^2 over the angles theta between sensors and where their bodies put them. An ORIENTATION
// goal has the energy w 4 sin^2(theta/2)/2, whose slope is w sin(theta): with the weight w theta/sin(theta) of the last
// solve both slopes are the same, so a few solves with such weights end at OpenSense's minimum.

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
static int make_goals(follower *f, int frame)
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
    int count = make_goals(f, frame);
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
