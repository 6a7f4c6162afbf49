// scale, follow_sensors: what OpenSim's tools do. python/poise/opensim.py gives them their shape.
#include "extension.h"

#include <poise/opensim.h>

// All findings of a verdict: how many there are, then each. NULL with an exception.
typedef poise_status (*judge)(const void *what, const poise_thresholds *thresholds, poise_verdict *verdict,
                              poise_finding *findings, int capacity, poise_error *error);

static PyObject *judged(judge by, const void *what, const poise_thresholds *thresholds, poise_verdict_level *level)
{
    poise_verdict verdict;
    poise_error error;
    if (by(what, thresholds, &verdict, NULL, 0, &error) != POISE_OK) {
        return raise_refusal(&error);
    }
    poise_finding *findings = PyMem_Calloc((size_t)verdict.count + 1, sizeof *findings);
    if (!findings) {
        return PyErr_NoMemory();
    }
    bool ok = by(what, thresholds, &verdict, findings, verdict.count, &error) == POISE_OK;
    PyObject *all = ok ? findings_out(findings, verdict.count) : raise_refusal(&error);
    *level = verdict.level;
    PyMem_Free(findings);
    return all;
}

// ---- Scaling -------------------------------------------------------------------------------------------------------------

static poise_status judge_scaling(const void *what, const poise_thresholds *thresholds, poise_verdict *verdict,
                                  poise_finding *findings, int capacity, poise_error *error)
{
    return poise_osim_scale_judge(what, thresholds, NULL, verdict, findings, capacity, error);
}

static PyObject *factors_out(const poise_osim_scaled *s)
{
    PyObject *all = PyDict_New();
    for (int i = 0; all && i < s->factor_count; ++i) {
        const poise_vec3 *f = &s->factors[i].factors;
        PyObject *row = vector_of(&f->x, 3);
        if (!row || PyDict_SetItemString(all, s->factors[i].body, row) != 0) {
            Py_DecRef(all);
            all = NULL;
        }
        Py_DecRef(row);
    }
    return all;
}

static PyObject *absent_out(const poise_osim_scaled *s)
{
    PyObject *all = PyList_New(s->absent_count);
    for (int i = 0; all && i < s->absent_count; ++i) {
        PyList_SetItem(all, i, PyUnicode_FromString(s->absent[i]));
    }
    return all;
}

static PyObject *scaled_out(poise_osim_scaled *s, const poise_thresholds *thresholds)
{
    poise_verdict_level level = POISE_VERDICT_GOOD;
    PyObject *findings = judged(judge_scaling, s, thresholds, &level);
    PyObject *q = findings ? vector_of(s->q, poise_model_info(s->file->model).nq) : NULL;
    PyObject *file = q ? file_out(&s->file, NULL) : NULL;
    if (!file) {
        Py_DecRef(findings);
        Py_DecRef(q);
        return NULL;
    }
    return Py_BuildValue("{s:N,s:N,s:N,s:N,s:N,s:s,s:d,s:d,s:d,s:i}", "file", file, "q", q, "findings", findings, "factors",
                         factors_out(s), "absent", absent_out(s), "verdict", poise_verdict_name(level), "rms", s->rms,
                         "worst", s->worst, "weighted", s->weighted, "placed", s->placed);
}

// scale(model, marker_set, setup, markers, thresholds)
static PyObject *scale(PyObject *module, PyObject *arguments)
{
    (void)module;
    poise_osim_scaling problem = {0};
    const char *model, *set, *setup;
    Py_ssize_t model_size, set_size, setup_size;
    PyObject *given, *limits, *out = NULL;
    poise_thresholds thresholds = poise_scaling_thresholds();
    if (!PyArg_ParseTuple(arguments, "y#z#y#OO!", &model, &model_size, &set, &set_size, &setup, &setup_size, &given,
                          &PyTuple_Type, &limits) ||
        !thresholds_take(&thresholds, limits)) {
        return NULL;
    }
    poise_markers *markers = markers_in(given);
    if (!markers) {
        return NULL;
    }
    problem = (poise_osim_scaling){.model = model,
                                   .model_size = (size_t)model_size,
                                   .marker_set = set,
                                   .marker_set_size = set ? (size_t)set_size : 0,
                                   .setup = setup,
                                   .setup_size = (size_t)setup_size,
                                   .markers = markers};
    poise_osim_scaled *scaled = NULL;
    poise_error error;
    poise_status status = poise_osim_scale(&problem, NULL, &scaled, &error);
    out = status == POISE_OK ? scaled_out(scaled, &thresholds) : raise_refusal(&error);
    poise_osim_scaled_destroy(scaled);
    poise_markers_destroy(markers);
    return out;
}

// The marker set that a ScaleTool names; "": none.
static PyObject *scale_marker_set(PyObject *module, PyObject *arguments)
{
    (void)module;
    const char *setup;
    Py_ssize_t size;
    char name[4096];
    poise_error error;
    if (!PyArg_ParseTuple(arguments, "y#", &setup, &size)) {
        return NULL;
    }
    return poise_osim_scale_marker_set(setup, (size_t)size, name, sizeof name, &error) == POISE_OK
               ? PyUnicode_FromString(name)
               : raise_refusal(&error);
}

// ---- Sensors -------------------------------------------------------------------------------------------------------------

typedef struct sensor_work {
    poise_orientations *recording, *calibration; // NULL: the first row of the recording calibrates
    poise_sensor_setup setup;
    poise_sensor *sensors;
    double *rms, heading;
    poise_clip *clip;
    poise_sensor_problem problem;
} sensor_work;

static poise_status judge_sensors(const void *what, const poise_thresholds *thresholds, poise_verdict *verdict,
                                  poise_finding *findings, int capacity, poise_error *error)
{
    const sensor_work *w = what;
    return poise_sensors_judge(&w->problem, w->rms, thresholds, verdict, findings, capacity, error);
}

static PyObject *followed_out(const sensor_work *w, const poise_thresholds *thresholds)
{
    poise_verdict_level level = POISE_VERDICT_GOOD;
    PyObject *findings = judged(judge_sensors, w, thresholds, &level);
    PyObject *rms = findings ? vector_of(w->rms, w->clip->frames) : NULL, *names = rms ? PyDict_New() : NULL;
    for (int i = 0; names && i < w->problem.sensor_count; ++i) {
        const char *body = poise_model_joint_info(w->problem.model, w->sensors[i].body).body;
        PyObject *name = PyUnicode_FromString(body);
        if (!name || PyDict_SetItemString(names, w->recording->label[w->sensors[i].column], name) != 0) {
            Py_DecRef(names);
            names = NULL;
        }
        Py_DecRef(name);
    }
    if (!names) {
        Py_DecRef(findings);
        Py_DecRef(rms);
        return NULL;
    }
    return Py_BuildValue("{s:N,s:N,s:N,s:N,s:s,s:d}", "clip", clip_out(w->clip), "angles", rms, "sensors", names, "findings",
                         findings, "verdict", poise_verdict_name(level), "heading", w->heading);
}

// Place the sensors, and follow frames `first` to `last` (< 0: all that there are). False with an exception.
static bool follow(sensor_work *w, const poise_model *model, const double *q, int first, int last)
{
    const poise_orientations *o = w->recording, *c = w->calibration ? w->calibration : o;
    poise_error error;
    last = last < 0 || last >= o->frames ? o->frames - 1 : last;
    if (first < 0 || first > last) {
        PyErr_Format(PyExc_ValueError, "first=%d: the recording has %d frames, from 0", first, o->frames);
        return false;
    }
    w->sensors = PyMem_Calloc((size_t)c->count + 1, sizeof *w->sensors);
    w->rms = PyMem_Calloc((size_t)o->frames + 1, sizeof *w->rms);
    if (!w->sensors || !w->rms) {
        PyErr_NoMemory();
        return false;
    }
    int placed = poise_place_sensors(model, q, c, &w->setup, w->sensors, c->count, &w->heading);
    int kept = poise_find_sensors(c, o, w->sensors, placed);
    if (kept == 0) {
        PyErr_Format(error_type, "none of the sensors, such as \"%s\", is called after a body of the model", o->label[0]);
        return false;
    }
    w->problem = (poise_sensor_problem){.model = model,
                                        .q_start = q,
                                        .orientations = o,
                                        .rotations = w->setup.rotations,
                                        .heading = w->heading,
                                        .sensors = w->sensors,
                                        .sensor_count = kept,
                                        .first = first,
                                        .count = last - first + 1};
    PyThreadState *state = PyEval_SaveThread();
    poise_status status = poise_track_sensors(&w->problem, NULL, &w->clip, w->rms, &error);
    PyEval_RestoreThread(state);
    return status == POISE_OK || raise_refusal(&error);
}

// follow_sensors(model, q, recording, calibration, setup, first, last, thresholds): files as bytes, the calibration or None
static PyObject *follow_sensors(PyObject *module, PyObject *arguments)
{
    (void)module;
    PyObject *model, *start, *limits, *out = NULL;
    const char *recording, *calibration, *setup;
    Py_ssize_t size[3];
    int first, last;
    numbers q;
    sensor_work w = {.recording = NULL};
    poise_error error = {.status = POISE_OK};
    poise_thresholds thresholds = poise_thresholds_default();
    if (!PyArg_ParseTuple(arguments, "OOy#z#y#iiO!", &model, &start, &recording, &size[0], &calibration, &size[1], &setup,
                          &size[2], &first, &last, &PyTuple_Type, &limits) ||
        !thresholds_take(&thresholds, limits)) {
        return NULL;
    }
    model_object *m = model_of(model);
    if (!m || !numbers_take_count(&q, start, "q", m->info.nq)) {
        return NULL;
    }
    if (poise_orientations_read(recording, (size_t)size[0], NULL, &w.recording, &error) != POISE_OK ||
        (calibration && poise_orientations_read(calibration, (size_t)size[1], NULL, &w.calibration, &error) != POISE_OK) ||
        poise_sensor_setup_read(setup, (size_t)size[2], &w.setup, &error) != POISE_OK) {
        raise_refusal(&error);
    } else if (follow(&w, m->model, q.at, first, last)) {
        out = followed_out(&w, &thresholds);
    }
    numbers_release(&q);
    poise_clip_destroy(w.clip);
    poise_orientations_destroy(w.recording);
    poise_orientations_destroy(w.calibration);
    PyMem_Free(w.sensors);
    PyMem_Free(w.rms);
    return out;
}

// The file of orientations that an IMUPlacer names; "": none.
static PyObject *sensor_file(PyObject *module, PyObject *arguments)
{
    (void)module;
    const char *bytes;
    Py_ssize_t size;
    poise_sensor_setup setup;
    poise_error error;
    if (!PyArg_ParseTuple(arguments, "y#", &bytes, &size)) {
        return NULL;
    }
    return poise_sensor_setup_read(bytes, (size_t)size, &setup, &error) == POISE_OK ? PyUnicode_FromString(setup.file)
                                                                                    : raise_refusal(&error);
}

static PyMethodDef functions[] = {
    {"scale", scale, METH_VARARGS, NULL},
    {"scale_marker_set", scale_marker_set, METH_VARARGS, NULL},
    {"follow_sensors", follow_sensors, METH_VARARGS, NULL},
    {"sensor_file", sensor_file, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

bool opensim_add(PyObject *module)
{
    return PyModule_AddFunctions(module, functions) == 0;
}
