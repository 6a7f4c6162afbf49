// retarget, judge_path, pin_clip, change_clip: motions on other skeletons, and edits. python/poise/motions.py gives them their
// shape.
#include "extension.h"

#include <poise/edit.h>
#include <poise/io.h>
#include <poise/retarget.h>

#include <math.h>
#include <string.h>

enum { MOST_FINDINGS = 64 };

static poise_up up_of(int up)
{
    return up >= 0 && up <= POISE_UP_Z ? (poise_up)up : POISE_UP_UNKNOWN;
}

// ---- Retargeting ---------------------------------------------------------------------------------------------------------

static const char *body_of(const poise_model *model, int body)
{
    return body >= 0 ? poise_model_joint_info(model, body).body : NULL;
}

static PyObject *roles_out(const poise_retarget_task *task)
{
    PyObject *all = PyList_New(0);
    for (int role = 0; all && role < POISE_ROLE_COUNT; ++role) {
        const poise_role_pair *p = &task->map->role[role];
        if (p->from < 0 && p->to < 0) {
            continue;
        }
        PyObject *row = Py_BuildValue("szzd", poise_role_name(role), body_of(task->from, p->from), body_of(task->to, p->to),
                                      p->confidence);
        if (!row || PyList_Append(all, row) != 0) {
            Py_DecRef(row);
            Py_DecRef(all);
            return NULL;
        }
        Py_DecRef(row);
    }
    return all;
}

static PyObject *outcome_out(const poise_retarget_task *task, const poise_clip *clip, const unsigned char *contacts,
                             const poise_retarget_outcome *o)
{
    poise_verdict verdict;
    poise_finding findings[MOST_FINDINGS];
    poise_error error;
    if (poise_retarget_judge(task, o, NULL, &verdict, findings, MOST_FINDINGS, &error) != POISE_OK) {
        return raise_refusal(&error);
    }
    int count = verdict.count < MOST_FINDINGS ? verdict.count : MOST_FINDINGS;
    bool is_checked = o->has_bodies && o->bare == 0 && task->shapes_skipped == 0;
    return Py_BuildValue("{s:N,s:y#,s:s,s:N,s:N,s:N,s:N,s:N}", "clip", clip_out(clip), "contacts", (const char *)contacts,
                         (Py_ssize_t)clip->frames, "verdict", poise_verdict_name(verdict.level), "findings",
                         findings_out(findings, count), "roles", roles_out(task), "measures",
                         members_out(&retarget_outcome_table, o), "overlap", members_out(&overlap_table, &o->overlap),
                         "is_checked", PyBool_FromLong(is_checked));
}

// Velocities of the model's joints, and one for all but a free root; NULL: none.
static double *velocities(const model_object *m, double all)
{
    double *velocity = PyMem_Malloc(((size_t)m->info.nv + 1) * sizeof *velocity);
    if (!velocity) {
        PyErr_NoMemory();
    } else if (!poise_retarget_velocities(m->model, all, velocity)) {
        PyMem_Free(velocity);
        return NULL;
    }
    return velocity;
}

static PyObject *follow(poise_retarget_task *task, const char *map_text)
{
    poise_role_map map;
    poise_error error;
    poise_retarget_outcome outcome;
    poise_clip *made = NULL;
    unsigned char *contacts = PyMem_Calloc((size_t)task->clip->frames + 1, 1);
    if (!contacts) {
        return PyErr_NoMemory();
    }
    PyThreadState *state = PyEval_SaveThread();
    poise_status status = map_text ? poise_role_map_read(map_text, task->from, task->to, &map, &error)
                                   : poise_roles_match(task, NULL, &map, &error);
    task->map = &map;
    status = status == POISE_OK ? poise_retarget(task, NULL, &made, contacts, &outcome, &error) : status;
    PyEval_RestoreThread(state);
    PyObject *out = status == POISE_OK ? outcome_out(task, made, contacts, &outcome) : raise_refusal(&error);
    poise_clip_destroy(made);
    PyMem_Free(contacts);
    return out;
}

// retarget(from, clip, from_up, to, to_up, map, feet, sole, ground, velocity, limits, whole, rest): the clip may be part of
// the whole; rest, or None, moves the skeleton that follows.
static PyObject *retarget(PyObject *module, PyObject *arguments)
{
    (void)module;
    PyObject *from, *clip, *to, *all, *rest;
    const char *map;
    int from_up, to_up, feet, limits;
    double velocity;
    poise_retarget_task task = poise_retarget_task_default();
    if (!PyArg_ParseTuple(arguments, "OOiOizidddpOO", &from, &clip, &from_up, &to, &to_up, &map, &feet, &task.sole,
                          &task.ground, &velocity, &limits, &all, &rest)) {
        return NULL;
    }
    model_object *a = model_of(from), *b = a ? model_of(to) : NULL;
    poise_clip *source = b ? clip_in(clip, a) : NULL, *whole = source ? clip_in(all, a) : NULL;
    poise_clip *own = whole && rest != Py_None ? clip_in(rest, b) : NULL;
    double *speeds = whole ? velocities(b, limits ? velocity : INFINITY) : NULL;
    if (PyErr_Occurred()) {
        PyMem_Free(speeds);
        poise_clip_destroy(own);
        poise_clip_destroy(whole);
        poise_clip_destroy(source);
        return NULL;
    }
    task.from_clip = whole;
    task.to_clip = own;
    task.from = a->model;
    task.clip = source;
    task.to = b->model;
    task.from_up = up_of(from_up);
    task.to_up = up_of(to_up);
    task.shapes = b->contents.shapes;
    task.shape_count = b->contents.shape_count;
    task.hulls = b->contents.hulls;
    task.hull_count = b->contents.hull_count;
    task.shapes_skipped = b->contents.shapes_skipped;
    task.is_robot = b->contents.format == POISE_FORMAT_URDF || b->contents.format == POISE_FORMAT_MJCF;
    task.excluded = b->contents.excluded;
    task.excluded_count = b->contents.excluded_count;
    task.metres = b->contents.scale.metres;
    task.feet = (poise_feet)feet;
    task.velocity = limits ? speeds : NULL;
    task.use_limits = limits;
    PyObject *out = follow(&task, map);
    PyMem_Free(speeds);
    poise_clip_destroy(own);
    poise_clip_destroy(whole);
    poise_clip_destroy(source);
    return out;
}

// ---- Tool paths ----------------------------------------------------------------------------------------------------------

// judge_path(model, q, tip, step, slide, metres, frame_time, missed, unwatched): the verdict, and its findings.
static PyObject *judge_path(PyObject *module, PyObject *arguments)
{
    (void)module;
    PyObject *whose, *rows, *tip;
    double step, slide;
    poise_path_problem problem = poise_path_problem_default();
    if (!PyArg_ParseTuple(arguments, "OOOddddii", &whose, &rows, &tip, &step, &slide, &problem.metres, &problem.frame_time,
                          &problem.missed, &problem.unwatched)) {
        return NULL;
    }
    model_object *m = model_of(whose);
    numbers q;
    if (!m || (tip != Py_None && !model_body(m, tip, &problem.body, &problem.local)) ||
        !numbers_take_rows(&q, rows, "q", m->info.nq)) {
        return NULL;
    }
    problem.model = m->model, problem.q = q.at;
    problem.poses = m->info.nq > 0 ? (int)(q.count / m->info.nq) : 0;
    poise_error error;
    poise_verdict verdict = {.count = 0};
    poise_finding *findings = PyMem_Calloc((size_t)problem.poses + 3, sizeof *findings);
    poise_status status = findings ? POISE_OK : POISE_ERROR_MEMORY;
    const double steps[] = {step, slide};
    for (int i = 0; i < 2 && status == POISE_OK; ++i) {
        const char *kind = poise_finding_name((poise_finding_kind)(POISE_FINDING_LEAPT + i));
        status = poise_thresholds_set(&problem.thresholds, kind, steps[i], -1, &error);
    }
    if (status == POISE_OK) {
        PyThreadState *state = PyEval_SaveThread();
        status = poise_path_judge(&problem, NULL, &verdict, findings, problem.poses + 3, &error);
        PyEval_RestoreThread(state);
    }
    PyObject *out = !findings ? PyErr_NoMemory()
                    : status == POISE_OK
                        ? Py_BuildValue("sN", poise_verdict_name(verdict.level), findings_out(findings, verdict.count))
                        : raise_refusal(&error);
    PyMem_Free(findings);
    numbers_release(&q);
    return out;
}

// ---- Constraints over a motion -------------------------------------------------------------------------------------------

// The frames of each sort of constraint that do not hold, by its name; NULL with an exception.
static PyObject *broken_out(const unsigned char *broken, int frames)
{
    PyObject *out = PyDict_New();
    for (int sort = 0; out && sort < POISE_KEPT_SORTS; ++sort) {
        PyObject *list = PyList_New(0);
        for (int f = 0; list && f < frames; ++f) {
            PyObject *frame = broken[f] & 1U << sort ? PyLong_FromLong(f) : NULL;
            if (frame && PyList_Append(list, frame) != 0) {
                Py_DecRef(list);
                list = NULL;
            }
            Py_DecRef(frame);
        }
        if (!list || PyDict_SetItemString(out, poise_kept_name((poise_kept_sort)sort), list) != 0) {
            Py_DecRef(out);
            out = NULL;
        }
        Py_DecRef(list);
    }
    return out;
}

static PyObject *judge_rows(const model_object *m, const constraint_array *within, const numbers *q)
{
    poise_clip clip = {
        .frames = m->info.nq > 0 ? (int)(q->count / m->info.nq) : 0, .nq = m->info.nq, .frame_time = 1, .q = q->at};
    poise_kept_problem problem = {.model = m->model,
                                  .clip = &clip,
                                  .constraints = within->list,
                                  .constraint_count = within->count,
                                  .closure_tolerance = POISE_CLOSURE_OF_FILES};
    poise_thresholds thresholds = poise_thresholds_default();
    poise_finding findings[POISE_KEPT_SORTS];
    poise_verdict verdict = {.count = 0};
    poise_kept kept;
    poise_error error;
    unsigned char *broken = PyMem_Calloc((size_t)clip.frames + 1, 1);
    if (!broken) {
        return PyErr_NoMemory();
    }
    PyThreadState *state = PyEval_SaveThread();
    poise_status status = poise_kept_measure(&problem, NULL, &kept, broken, &error);
    PyEval_RestoreThread(state);
    if (status == POISE_OK) {
        poise_kept_judge(&problem, &kept, &thresholds, &verdict, findings, POISE_KEPT_SORTS);
    }
    PyObject *frames = status == POISE_OK ? broken_out(broken, clip.frames) : NULL;
    PyMem_Free(broken);
    return status != POISE_OK ? raise_refusal(&error)
           : frames ? Py_BuildValue("sNN", poise_verdict_name(verdict.level), findings_out(findings, verdict.count), frames)
                    : NULL;
}

// judge_constraints(model, q, keywords of constraints): the verdict, its findings, and the frames that break each sort.
static PyObject *judge_constraints(PyObject *module, PyObject *arguments)
{
    (void)module;
    PyObject *whose, *rows, *keywords, *name, *value;
    Py_ssize_t at = 0;
    constraint_call c = {.loops = true, .neighbours = 1};
    if (!PyArg_ParseTuple(arguments, "OOO", &whose, &rows, &keywords)) {
        return NULL;
    }
    while (PyDict_Next(keywords, &at, &name, &value)) {
        const char *text = PyUnicode_AsUTF8AndSize(name, NULL);
        if (!text || !constraints_keyword(&c, text, value) || PyErr_Occurred()) {
            return PyErr_Occurred() ? NULL : PyErr_Format(PyExc_TypeError, "judge_constraints: there is no %R", name);
        }
    }
    model_object *m = model_of(whose);
    numbers q;
    constraint_array within;
    if (!m || !numbers_take_rows(&q, rows, "q", m->info.nq)) {
        return NULL;
    }
    PyObject *out = NULL;
    if (constraints_take(&within, m, &c)) {
        out = judge_rows(m, &within, &q);
        constraints_release(&within);
    }
    numbers_release(&q);
    return out;
}

// ---- Pins ----------------------------------------------------------------------------------------------------------------

// The pins of words and of a JSON document, then one for each contact of the feet; NULL with an exception.
static poise_pin *take_pins(const model_object *m, const poise_clip *clip, PyObject *words, const char *json,
                            bool cleans_feet, poise_pin_list *list, int *count)
{
    poise_goal_words how = {.model = m->model};
    poise_error error = {.status = POISE_OK};
    poise_feet_report feet = {.contacts = 0};
    for (Py_ssize_t i = 0; i < PyTuple_Size(words) && error.status == POISE_OK; ++i) {
        const char *text = PyUnicode_AsUTF8AndSize(PyTuple_GetItem(words, i), NULL);
        if (!text) {
            return NULL;
        }
        error.status = poise_pin_list_parse(list, &how, clip, text, &error);
    }
    if (json && error.status == POISE_OK) {
        error.status = poise_pin_list_read(list, &how, clip, json, strlen(json), &error);
    }
    if (cleans_feet && error.status == POISE_OK) {
        error.status = poise_feet_pins(m->model, clip, NULL, NULL, 0, &feet, &error);
    }
    if (error.status != POISE_OK) {
        raise_refusal(&error);
        return NULL;
    }
    *count = list->count + feet.contacts;
    poise_pin *pins = PyMem_Calloc((size_t)*count + 1, sizeof *pins);
    if (!pins) {
        PyErr_NoMemory();
        return NULL;
    }
    for (int i = 0; i < list->count; ++i) {
        pins[i] = list->pins[i];
    }
    if (feet.contacts > 0) {
        poise_feet_pins(m->model, clip, NULL, pins + list->count, feet.contacts, &feet, NULL);
    }
    return pins;
}

// What is asked of the verdict; overlaps of the shapes of the model's file.
static PyObject *verdict_of_edit(const model_object *m, const poise_edit_problem *given)
{
    poise_edit_problem problem = *given;
    poise_overlap_problem overlap = poise_overlap_problem_default();
    overlap.hulls = m->file ? m->file->hulls : NULL, overlap.hull_count = m->file ? m->file->hull_count : 0;
    overlap.shapes = m->contents.shapes, overlap.shape_count = m->contents.shape_count;
    overlap.excluded = m->contents.excluded, overlap.excluded_count = m->contents.excluded_count;
    overlap.metres = given->metres > 0 ? given->metres : 1;
    problem.overlap = &overlap;
    problem.unread = m->contents.shapes_skipped;
    poise_verdict verdict;
    poise_finding findings[MOST_FINDINGS];
    poise_error error;
    if (poise_edit_judge(&problem, NULL, &verdict, findings, MOST_FINDINGS, &error) != POISE_OK) {
        return raise_refusal(&error);
    }
    bool sees = overlap.hull_count > 0 || overlap.shape_count > 0;
    return Py_BuildValue("sNN", poise_verdict_name(verdict.level),
                         findings_out(findings, verdict.count < MOST_FINDINGS ? verdict.count : MOST_FINDINGS),
                         PyBool_FromLong(sees));
}

static PyObject *pinned_out(const poise_clip *clip, const poise_pin_list *list, const poise_pin_result *results, int count,
                            const poise_pin_report *report, PyObject *verdict)
{
    PyObject *rows = PyList_New(count);
    for (int i = 0; rows && i < count; ++i) {
        const poise_pin_result *r = &results[i];
        PyObject *row =
            Py_BuildValue("siiiiiddi", i < list->count ? list->texts[i] : "a foot that rests", r->first, r->last,
                          r->held_first, r->held_last, r->missed, r->worst_length, r->worst_angle, r->worst_frame);
        if (!row) {
            Py_DecRef(rows);
            return NULL;
        }
        PyList_SetItem(rows, i, row);
    }
    return Py_BuildValue("{s:N,s:N,s:N,s:N}", "clip", clip_out(clip), "pins", rows, "measures",
                         members_out(&pin_report_table, report), "verdict", verdict);
}

// pin_clip(model, clip, words, json, clean_feet, keep_feet, metres, hold)
static PyObject *pin_clip(PyObject *module, PyObject *arguments)
{
    (void)module;
    PyObject *model, *given, *words, *hold, *out = NULL;
    const char *json;
    int cleans_feet, keeps_feet, count = 0;
    poise_pin_options options = poise_pin_options_default();
    if (!PyArg_ParseTuple(arguments, "OOO!zppdO", &model, &given, &PyTuple_Type, &words, &json, &cleans_feet, &keeps_feet,
                          &options.metres, &hold)) {
        return NULL;
    }
    model_object *m = model_of(model);
    poise_clip *clip = m && locked_take(&options.locked, m, hold) ? clip_in(given, m) : NULL;
    poise_pin_list *list = NULL;
    if (!clip || poise_pin_list_create(NULL, &list, NULL) != POISE_OK) {
        PyMem_Free((void *)options.locked);
        poise_clip_destroy(clip);
        return clip ? PyErr_NoMemory() : NULL;
    }
    poise_pin *pins = take_pins(m, clip, words, json, cleans_feet, list, &count);
    poise_pin_result *results = pins ? PyMem_Calloc((size_t)count + 1, sizeof *results) : NULL;
    if (results) {
        poise_pin_report report;
        poise_error error;
        poise_edit_problem problem = poise_edit_problem_default();
        poise_clip *before = NULL;
        options.keep_feet = keeps_feet;
        poise_status status = poise_clip_trim(clip, 0, clip->frames, NULL, &before, &error);
        status = status == POISE_OK ? poise_clip_pin(m->model, pins, count, &options, clip, NULL, results, &report, &error)
                                    : status;
        problem.model = m->model, problem.before = before, problem.after = clip, problem.metres = options.metres;
        problem.pins = pins, problem.pin_count = count, problem.results = results, problem.report = &report;
        PyObject *verdict = status == POISE_OK ? verdict_of_edit(m, &problem) : raise_refusal(&error);
        out = verdict ? pinned_out(clip, list, results, count, &report, verdict) : NULL;
        poise_clip_destroy(before);
    }
    PyMem_Free((void *)options.locked);
    PyMem_Free(results);
    PyMem_Free(pins);
    poise_pin_list_destroy(list);
    poise_clip_destroy(clip);
    return out;
}

// ---- Clips ---------------------------------------------------------------------------------------------------------------

// change_clip(model, clip, kind, other, number, up) -> clip, worst angle of a mirrored body
static PyObject *change_clip(PyObject *module, PyObject *arguments)
{
    (void)module;
    PyObject *model, *given, *other, *out = NULL;
    const char *kind;
    double number;
    int up;
    if (!PyArg_ParseTuple(arguments, "OOsOdi", &model, &given, &kind, &other, &number, &up)) {
        return NULL;
    }
    model_object *m = model_of(model);
    poise_clip *clip = m ? clip_in(given, m) : NULL, *next = clip && other != Py_None ? clip_in(other, m) : NULL;
    if (clip && (next || other == Py_None)) {
        poise_clip *made = NULL;
        poise_mirror_report mirror = {.worst_angle = 0};
        poise_error error;
        poise_status status = strcmp(kind, "mirror") == 0 ? poise_clip_mirror(m->model, clip, NULL, &made, &mirror, &error)
                              : strcmp(kind, "reverse") == 0 ? poise_clip_reverse(clip, NULL, &made, &error)
                              : strcmp(kind, "speed") == 0   ? poise_clip_speed(clip, m->model, number, NULL, &made, &error)
                              : strcmp(kind, "resample") == 0
                                  ? poise_clip_resample(clip, m->model, number, NULL, &made, &error)
                              : next ? poise_clip_append(m->model, clip, next, number, up_of(up), NULL, &made, &error)
                                     : poise_clip_loop(m->model, clip, number, up_of(up), NULL, &made, &error);
        out = status == POISE_OK ? Py_BuildValue("Nd", clip_out(made), mirror.worst_angle) : raise_refusal(&error);
        poise_clip_destroy(made);
    }
    poise_clip_destroy(next);
    poise_clip_destroy(clip);
    return out;
}

// sample_clip(model, clip, times) -> a row of numbers for every time
static PyObject *sample_clip(PyObject *module, PyObject *arguments)
{
    (void)module;
    PyObject *model, *given, *when, *rows = NULL;
    numbers times, out;
    if (!PyArg_ParseTuple(arguments, "OOO", &model, &given, &when) || !numbers_take(&times, when, "times")) {
        return NULL;
    }
    model_object *m = model_of(model);
    poise_clip *clip = m ? clip_in(given, m) : NULL;
    if (clip) {
        rows = numbers_make(&out, 2, (const Py_ssize_t[]){times.count, m->info.nq});
    }
    if (rows) {
        poise_error error;
        poise_status status = POISE_OK;
        for (Py_ssize_t i = 0; i < times.count && status == POISE_OK; ++i) {
            status = poise_clip_sample(clip, m->model, times.at[i], out.at + i * m->info.nq, &error);
        }
        numbers_release(&out);
        if (status != POISE_OK) {
            raise_refusal(&error);
            Py_DecRef(rows);
            rows = NULL;
        }
    }
    poise_clip_destroy(clip);
    numbers_release(&times);
    return rows;
}

static PyMethodDef functions[] = {
    {"sample_clip", sample_clip, METH_VARARGS, NULL},
    {"retarget", retarget, METH_VARARGS, NULL},
    {"judge_path", judge_path, METH_VARARGS, NULL},
    {"judge_constraints", judge_constraints, METH_VARARGS, NULL},
    {"pin_clip", pin_clip, METH_VARARGS, NULL},
    {"change_clip", change_clip, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

bool motions_add(PyObject *module)
{
    return PyModule_AddFunctions(module, functions) == 0;
}
