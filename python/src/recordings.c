// track: a recording becomes a motion with a verdict. python/poise/recordings.py gives it its shape.
#include "extension.h"

#include "app/cli/threads.h"

#include <limits.h>

enum { MOST_PAIRS = 256, TEXT = 256 };

// ---- In ------------------------------------------------------------------------------------------------------------------

typedef struct track_call {
    poise_recording_problem problem;
    poise_placement *placements;
    int placement_count;
    poise_markers *markers;
    poise_model *from; // the skeleton that the clip moves
    poise_clip *clip;
    double *posture;
    const char *pairs[MOST_PAIRS];
    int threads;
} track_call;

// Besides the members of poise_recording_problem.
static const option option_rows[] = {
    {"threads", OPTION_INTEGER, offsetof(track_call, threads), POISE_TYPE_COUNT, NULL, NULL},
    {"limits", OPTION_FLAG, offsetof(track_call, problem.track.solver.use_limits), POISE_TYPE_COUNT, NULL, NULL},
};
static const table own_options = {option_rows, sizeof option_rows / sizeof *option_rows};

static bool take_options(track_call *c, PyObject *keywords)
{
    PyObject *name, *value;
    Py_ssize_t at = 0;
    while (keywords && PyDict_Next(keywords, &at, &name, &value)) {
        const char *text = PyUnicode_AsUTF8AndSize(name, NULL);
        bool is_own = text && table_find(&own_options, text);
        if (!text || !(is_own ? option_set(c, &own_options, "track", name, value)
                              : option_set(&c->problem, &recording_problem_table, "track", name, value))) {
            return false;
        }
    }
    return true;
}

static bool take_pairs(track_call *c, PyObject *pairs)
{
    Py_ssize_t count = PyTuple_Size(pairs);
    if (count > MOST_PAIRS) {
        PyErr_Format(PyExc_ValueError, "pairs: at most %d", (int)MOST_PAIRS);
        return false;
    }
    for (Py_ssize_t i = 0; i < count; ++i) {
        c->pairs[i] = PyUnicode_AsUTF8AndSize(PyTuple_GetItem(pairs, i), NULL);
        if (!c->pairs[i]) {
            return false;
        }
    }
    c->problem.pairs = c->pairs;
    c->problem.pair_count = (int)count;
    return true;
}

// A tuple of (label, body, (x, y, z), weight).
static bool take_placements(track_call *c, PyObject *given, const model_object *m)
{
    Py_ssize_t count = PyTuple_Size(given);
    c->placements = PyMem_Malloc(((size_t)count + 1) * sizeof *c->placements);
    if (!c->placements || count > INT_MAX) {
        PyErr_NoMemory();
        return false;
    }
    for (Py_ssize_t i = 0; i < count; ++i) {
        poise_placement *p = &c->placements[i];
        if (!PyArg_ParseTuple(PyTuple_GetItem(given, i), "si(ddd)d", &p->label, &p->body, &p->local.x, &p->local.y,
                              &p->local.z, &p->weight)) {
            return false;
        }
        if (p->body < 0 || p->body >= m->info.joints || !(p->weight >= 0)) {
            PyErr_Format(PyExc_ValueError, "placement \"%s\": its body or weight is out of range", p->label);
            return false;
        }
    }
    c->placement_count = (int)count;
    return true;
}

bool thresholds_take(poise_thresholds *thresholds, PyObject *given)
{
    for (Py_ssize_t i = 0; i < PyTuple_Size(given); ++i) {
        const char *name;
        double doubtful, failed;
        poise_error error;
        if (!PyArg_ParseTuple(PyTuple_GetItem(given, i), "sdd", &name, &doubtful, &failed)) {
            return false;
        }
        if (poise_thresholds_set(thresholds, name, doubtful, failed, &error) != POISE_OK) {
            PyErr_Format(PyExc_ValueError, "thresholds: %s", error.text);
            return false;
        }
    }
    return true;
}

static bool take_posture(track_call *c, PyObject *posture, const model_object *m)
{
    if (posture == Py_None) {
        return true;
    }
    c->posture = PyMem_Malloc(((size_t)m->info.nq + 1) * sizeof *c->posture);
    if (!c->posture) {
        PyErr_NoMemory();
        return false;
    }
    return numbers_copy(posture, "posture", c->posture, m->info.nq);
}

static bool take_source(track_call *c, PyObject *markers, PyObject *from, PyObject *clip)
{
    if (markers != Py_None) {
        c->markers = markers_in(markers);
        return c->markers;
    }
    model_object *m = model_of(from);
    c->clip = m ? clip_in(clip, m) : NULL;
    c->from = m ? m->model : NULL;
    return c->clip;
}

// What the skeleton's file and the recording say of the track: the posture is there where it is OpenSim's.
static void take_files(track_call *c, const model_object *m)
{
    poise_posture posture = {"default", c->posture};
    poise_file skeleton = {.format = c->posture ? POISE_FORMAT_OSIM : POISE_FORMAT_UNKNOWN,
                           .model = m->model,
                           .postures = &posture,
                           .posture_count = c->posture != NULL,
                           .placements = c->placements,
                           .placement_count = c->placement_count};
    poise_file recording = {.markers = c->markers, .model = c->from, .clip = c->clip};
    c->problem = poise_recording_of_files(&skeleton, &recording);
}

static poise_scale scale_of(double metres, int up)
{
    return (poise_scale){metres, up >= 0 && up <= POISE_UP_Z ? (poise_up)up : POISE_UP_UNKNOWN};
}

// ---- Out -----------------------------------------------------------------------------------------------------------------

PyObject *findings_out(const poise_finding *findings, int count)
{
    PyObject *all = PyList_New(count);
    for (int i = 0; all && i < count; ++i) {
        const poise_finding *f = &findings[i];
        char text[TEXT];
        poise_finding_describe(f, text, sizeof text);
        PyObject *row = Py_BuildValue("sszzdsii", poise_finding_name(f->kind), poise_verdict_name(f->level), f->name,
                                      f->other, f->value, text, f->first, f->last);
        if (!row) {
            Py_DecRef(all);
            return NULL;
        }
        PyList_SetItem(all, i, row);
    }
    return all;
}

static PyObject *places_out(const poise_recording_result *r)
{
    PyObject *all = PyList_New(r->placement_count);
    for (int i = 0; all && i < r->placement_count; ++i) {
        const poise_placement *p = &r->placements[i];
        PyObject *row = Py_BuildValue("si(ddd)d", p->label, p->body, p->local.x, p->local.y, p->local.z, p->weight);
        if (!row) {
            Py_DecRef(all);
            return NULL;
        }
        PyList_SetItem(all, i, row);
    }
    return all;
}

// What each frame came to: rms, largest distance, whether it is held, and whether nobody is there, in rows of four.
static PyObject *frames_out(const poise_recording_result *r)
{
    numbers out;
    PyObject *array = numbers_make(&out, 2, (const Py_ssize_t[]){r->clip->frames, 4});
    for (int f = 0; array && f < r->clip->frames; ++f) {
        bool is_away = f < r->summary.before || f >= r->clip->frames - r->summary.after;
        out.at[4 * f] = r->frames[f].rms;
        out.at[4 * f + 1] = r->frames[f].worst;
        out.at[4 * f + 2] = !is_away && (r->frames[f].flags & POISE_TRACK_HELD);
        out.at[4 * f + 3] = is_away;
    }
    if (array) {
        numbers_release(&out);
    }
    return array;
}

// A dictionary of the parts; takes the fitted model out of the result, which is then the object's.
static PyObject *result_out(poise_recording_result *r, PyObject *skeleton)
{
    int frames = r->clip->frames, nv = poise_model_info(r->model).nv;
    PyObject *model = skeleton;
    PyObject *parts[] = {clip_out(r->clip),
                         markers_out(r->markers),
                         places_out(r),
                         findings_out(r->findings, r->verdict.count),
                         frames_out(r),
                         array_of(r->distances, 2, (const Py_ssize_t[]){frames, r->placement_count}),
                         array_of(r->deviation, 2, (const Py_ssize_t[]){frames, nv})};
    if (r->fitted) {
        model = model_wrap(r->fitted);
        r->fitted = NULL;
    } else {
        Py_IncRef(model);
    }
    if (PyErr_Occurred()) {
        for (size_t i = 0; i < sizeof parts / sizeof parts[0]; ++i) {
            Py_DecRef(parts[i]);
        }
        Py_DecRef(model);
        return NULL;
    }
    PyObject *measures = Py_BuildValue(
        "{s:N,s:N,s:N,s:N,s:N,s:N,s:N}", "summary", members_out(&track_summary_table, &r->summary), "calibration",
        members_out(&calibration_report_table, &r->calibration), "match", members_out(&scale_match_table, &r->match),
        "places", members_out(&places_report_table, &r->anatomy), "figure", members_out(&figure_table, &r->figure),
        "retarget", members_out(&retarget_report_table, &r->retarget), "sequence",
        members_out(&sequence_report_table, &r->sequence));
    return Py_BuildValue("{s:N,s:N,s:N,s:N,s:N,s:N,s:N,s:N,s:s,s:N,s:i,s:d,s:i,s:N,s:d}", "model", model, "clip", parts[0],
                         "markers", parts[1], "placements", parts[2], "findings", parts[3], "frames", parts[4], "distances",
                         parts[5], "deviations", parts[6], "verdict", poise_verdict_name(r->verdict.level), "measures",
                         measures, "first", r->first, "metres", r->scale.metres, "up", (int)r->scale.up, "is_calibrated",
                         PyBool_FromLong(r->calibrated), "size", r->calibrated ? r->calibration.scale : 1.0);
}

// ---- The call ------------------------------------------------------------------------------------------------------------

static PyObject *follow(track_call *c, PyObject *skeleton)
{
    int available = threads_available(), threads = c->threads > 0 && c->threads < available ? c->threads : available;
    poise_recording_problem *p = &c->problem;
    poise_recording_result *result = NULL;
    poise_error error;
    p->deviations = true;
    p->track.workers = threads;
    p->track.parallel_for = threads > 1 ? threads_run : NULL;
    p->track.user = &threads;
    PyThreadState *state = PyEval_SaveThread(); // other threads of Python run meanwhile
    poise_status status = poise_track_recording(p, NULL, &result, &error);
    PyEval_RestoreThread(state);
    if (status != POISE_OK) {
        return raise_refusal(&error);
    }
    PyObject *out = result_out(result, skeleton);
    poise_recording_destroy(result);
    return out;
}

// track(model, metres, up, placements, posture, markers, from, clip, from_metres, from_up, labels, subject, pairs,
// thresholds, **options)
static PyObject *track(PyObject *module, PyObject *arguments, PyObject *keywords)
{
    (void)module;
    PyObject *model, *placements, *posture, *markers, *from, *clip, *pairs, *thresholds;
    double metres, from_metres;
    int up, from_up;
    const char *labels, *subject;
    track_call c = {.placements = NULL};
    if (!PyArg_ParseTuple(arguments, "OdiO!OOOOdizzO!O!", &model, &metres, &up, &PyTuple_Type, &placements, &posture,
                          &markers, &from, &clip, &from_metres, &from_up, &labels, &subject, &PyTuple_Type, &pairs,
                          &PyTuple_Type, &thresholds)) {
        return NULL;
    }
    model_object *m = model_of(model);
    PyObject *result = NULL;
    bool works = m && loops_are_left_open(m, "track") && take_placements(&c, placements, m) &&
                 take_posture(&c, posture, m) && take_source(&c, markers, from, clip);
    if (works) {
        take_files(&c, m);
        c.problem.labels = labels;
        c.problem.subject = subject;
        c.problem.scale = scale_of(metres, up);
        c.problem.from_scale = scale_of(from_metres, from_up);
        works = take_pairs(&c, pairs) && thresholds_take(&c.problem.thresholds, thresholds) && take_options(&c, keywords);
        result = works ? follow(&c, model) : NULL;
    }
    poise_markers_destroy(c.markers);
    poise_clip_destroy(c.clip);
    PyMem_Free(c.posture);
    PyMem_Free(c.placements);
    return result;
}

static PyMethodDef functions[] = {
    {"track", (PyCFunction)(void (*)(void))track, METH_VARARGS | METH_KEYWORDS, NULL},
    {NULL, NULL, 0, NULL},
};

bool recordings_add(PyObject *module)
{
    return PyModule_AddFunctions(module, functions) == 0;
}
