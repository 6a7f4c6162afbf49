// Frame by frame: poise.Control steps towards goals within limits of speed, poise.Tracker follows markers as they arrive.
#include "extension.h"

// A worker over a model, which it keeps alive. One thread at a time has it.
typedef struct live_object {
    PyObject ob_base;
    PyObject *model;
    poise_solver *solver; // of a Control
    poise_step_options options;
    double *limits;         // nv velocities, then nv accelerations
    poise_tracker *tracker; // of a Tracker
    int markers;
    bool busy;
} live_object;

static void live_dealloc(PyObject *self)
{
    live_object *w = (live_object *)self;
    poise_solver_destroy(w->solver);
    poise_tracker_destroy(w->tracker);
    PyMem_Free(w->limits);
    Py_DecRef(w->model);
    object_release(self);
}

static PyObject *live_repr(PyObject *self)
{
    live_object *w = (live_object *)self;
    return PyUnicode_FromFormat("<poise.%s of %R>", w->solver ? "Control" : "Tracker", w->model);
}

static live_object *live_make(PyTypeObject *type, model_object *model)
{
    live_object *w = (live_object *)PyType_GenericAlloc(type, 0);
    if (w) {
        w->model = (PyObject *)model;
        Py_IncRef(w->model);
    }
    return w;
}

static bool live_begin(live_object *w)
{
    if (w->busy) {
        PyErr_SetString(PyExc_RuntimeError, "another thread is using this object: make one for each thread");
        return false;
    }
    w->busy = true;
    return true;
}

// ---- Control -------------------------------------------------------------------------------------------------------------

// A limit for all degrees of freedom, or one for each.
static bool take_limits(PyObject *given, const char *what, double *out, int nv)
{
    bool ok = true;
    if (!PyFloat_Check(given) && !PyLong_Check(given)) {
        ok = numbers_copy(given, what, out, nv);
    } else {
        double all = PyFloat_AsDouble(given);
        ok = !PyErr_Occurred();
        for (int i = 0; i < nv; ++i) {
            out[i] = all;
        }
    }
    for (int i = 0; ok && i < nv; ++i) {
        if (!(out[i] > 0)) {
            PyErr_Format(PyExc_ValueError, "%s: expected numbers > 0, got %R", what, given);
            ok = false;
        }
    }
    return ok;
}

// One keyword of a Control. False with an exception.
static bool take_keyword(live_object *w, poise_solver_options *solver, PyObject *name, PyObject *value)
{
    const model_object *m = (const model_object *)w->model;
    int nv = m->info.nv;
    if (PyUnicode_CompareWithASCIIString(name, "velocity") == 0) {
        w->options.velocity = w->limits;
        return take_limits(value, "velocity", w->limits, nv);
    }
    if (PyUnicode_CompareWithASCIIString(name, "acceleration") == 0) {
        w->options.acceleration = w->limits + nv;
        return take_limits(value, "acceleration", w->limits + nv, nv);
    }
    if (PyUnicode_CompareWithASCIIString(name, "gain") == 0) {
        return option_set(&w->options, &step_options_table, "Control", name, value);
    }
    if (PyUnicode_CompareWithASCIIString(name, "locked") == 0) {
        return value == Py_None || locked_take(&solver->locked, m, value);
    }
    const char *text = PyUnicode_AsUTF8AndSize(name, NULL);
    if (text && table_find(&solver_options_table, text)) {
        return option_set(solver, &solver_options_table, "Control", name, value);
    }
    PyErr_Format(PyExc_TypeError, "Control has no option \"%U\"; there are velocity, acceleration, gain, and those of solve",
                 name);
    return false;
}

static PyObject *control_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords)
{
    PyObject *given, *name, *value;
    model_object *model;
    if (!PyArg_ParseTuple(arguments, "O:Control", &given) || !(model = model_of(given)) ||
        !loops_are_left_open(model, "poise.Control")) {
        return NULL;
    }
    live_object *w = live_make(type, model);
    if (!w) {
        return NULL;
    }
    poise_solver_options solver = poise_solver_options_default();
    poise_error error;
    Py_ssize_t at = 0;
    w->options = poise_step_options_default();
    w->limits = PyMem_Malloc((2 * (size_t)model->info.nv + 1) * sizeof *w->limits);
    bool ok = w->limits || PyErr_NoMemory();
    while (ok && keywords && PyDict_Next(keywords, &at, &name, &value)) {
        ok = take_keyword(w, &solver, name, value);
    }
    solver.engine = poise_papers_engine(solver.method);
    if (ok && poise_solver_create(model->model, &solver, NULL, &w->solver, &error) != POISE_OK) {
        raise_refusal(&error);
        ok = false;
    }
    PyMem_Free((void *)solver.locked);
    if (!ok) {
        Py_DecRef((PyObject *)w);
        return NULL;
    }
    return (PyObject *)w;
}

// A new array with a copy of what is given.
static PyObject *copy_of(PyObject *given, const char *what, int count, numbers *out)
{
    PyObject *array = numbers_make_vector(out, count);
    if (array && !numbers_copy(given, what, out->at, count)) {
        numbers_release(out);
        Py_DecRef(array);
        return NULL;
    }
    return array;
}

// The report of a step, with the errors of its goals.
static PyObject *report_of(const live_object *w, const poise_report *report, int count)
{
    poise_goal_error *errors = PyMem_Malloc(((size_t)count + 1) * sizeof *errors);
    if (!errors) {
        return PyErr_NoMemory();
    }
    for (int i = 0; i < count; ++i) {
        errors[i] = poise_solver_goal_error(w->solver, i);
    }
    PyObject *said = report_wrap(report, report->outcome == POISE_OUTCOME_REACHED, errors, count);
    PyMem_Free(errors);
    return said;
}

static PyObject *step_towards(live_object *w, const goal_array *goals, double dt, PyObject *q_given, PyObject *v_given)
{
    const model_object *m = (const model_object *)w->model;
    numbers q, v;
    poise_report report;
    poise_error error;
    PyObject *q_next = copy_of(q_given, "q", m->info.nq, &q);
    PyObject *v_next = q_next ? copy_of(v_given, "v", m->info.nv, &v) : NULL, *made = NULL;
    if (v_next && live_begin(w)) {
        poise_status status;
        Py_BEGIN_ALLOW_THREADS;
        status = poise_step(w->solver, goals->goals, goals->count, dt, &w->options, q.at, v.at, &report, &error);
        Py_END_ALLOW_THREADS;
        PyObject *said = status == POISE_OK ? report_of(w, &report, goals->count) : raise_refusal(&error);
        w->busy = false;
        made = said ? PyTuple_Pack(3, q_next, v_next, said) : NULL;
        Py_DecRef(said);
    }
    if (v_next) {
        numbers_release(&v);
    }
    if (q_next) {
        numbers_release(&q);
    }
    Py_DecRef(v_next);
    Py_DecRef(q_next);
    return made;
}

static PyObject *control_step(PyObject *self, PyObject *arguments)
{
    live_object *w = (live_object *)self;
    PyObject *given, *q, *v;
    double dt;
    goal_array goals;
    if (!PyArg_ParseTuple(arguments, "OOOd:step", &given, &q, &v, &dt) ||
        !goals_take(&goals, (const model_object *)w->model, given)) {
        return NULL;
    }
    PyObject *made = step_towards(w, &goals, dt, q, v);
    return goals_finish(&goals, made);
}

// ---- Tracker -------------------------------------------------------------------------------------------------------------

// One row, (body, point, weight), or anything like a tuple of these.
static bool take_place(PyObject *given, const model_object *m, poise_placement *place)
{
    poise_pose tool;
    double point[3];
    PyObject *row = PyUnicode_Check(given) ? NULL : PySequence_Tuple(given);
    bool is_row = row && PyTuple_Size(row) == 3;
    if (!is_row) {
        PyErr_Format(PyExc_TypeError, "placements: expected rows of (body, (x, y, z), weight), got %R", given);
    }
    *place = (poise_placement){.label = "", .weight = is_row ? PyFloat_AsDouble(PyTuple_GetItem(row, 2)) : 0.0};
    bool ok = is_row && !PyErr_Occurred() && model_body(m, PyTuple_GetItem(row, 0), &place->body, &tool) &&
              numbers_copy(PyTuple_GetItem(row, 1), "the point of a placement", point, 3);
    if (ok) {
        place->local = poise_pose_transform(tool, poise_vec3_make(point[0], point[1], point[2]));
    }
    Py_DecRef(row);
    return ok;
}

// `places` has room for them.
static bool take_places(PyObject *rows, const model_object *m, poise_placement *places)
{
    bool ok = true;
    for (Py_ssize_t i = 0; ok && i < PyTuple_Size(rows); ++i) {
        ok = take_place(PyTuple_GetItem(rows, i), m, &places[i]);
    }
    return ok;
}

// A list of rows, or a dictionary of them by label, as a file has it.
static PyObject *rows_of(PyObject *given)
{
    PyObject *values = PyDict_Check(given) ? PyDict_Values(given) : NULL;
    PyObject *rows = PySequence_Tuple(values ? values : given);
    Py_DecRef(values);
    return rows;
}

static PyObject *tracker_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords)
{
    PyObject *given, *rows;
    model_object *model;
    if (!PyArg_ParseTuple(arguments, "OO:Tracker", &given, &rows) || !(model = model_of(given)) ||
        !loops_are_left_open(model, "poise.Tracker")) {
        return NULL;
    }
    poise_track_problem problem = poise_track_problem_default();
    PyObject *tuple = rows_of(rows);
    live_object *w = tuple ? live_make(type, model) : NULL;
    size_t count = w ? (size_t)PyTuple_Size(tuple) : 0;
    poise_placement *places = PyMem_Malloc((count + 1) * sizeof *places);
    poise_error error;
    bool ok = w && (places || PyErr_NoMemory()) && take_places(tuple, model, places) &&
              options_set(&problem, &track_problem_table, "Tracker", keywords);
    if (ok) {
        problem.model = model->model;
        problem.placements = places;
        problem.placement_count = w->markers = (int)count;
        ok = poise_tracker_create(&problem, NULL, &w->tracker, &error) == POISE_OK || raise_refusal(&error);
    }
    PyMem_Free(places);
    Py_DecRef(tuple);
    if (!ok) {
        Py_DecRef((PyObject *)w);
        return NULL;
    }
    return (PyObject *)w;
}

static PyObject *tracker_next(PyObject *self, PyObject *given)
{
    live_object *w = (live_object *)self;
    numbers seen, q;
    if (!numbers_take_count(&seen, given, "points", 3 * (Py_ssize_t)w->markers)) {
        return NULL;
    }
    PyObject *answer = numbers_make_vector(&q, ((const model_object *)w->model)->info.nq), *made = NULL;
    if (answer && live_begin(w)) {
        poise_track_frame frame;
        poise_error error;
        poise_status status;
        Py_BEGIN_ALLOW_THREADS;
        status = poise_tracker_next(w->tracker, (const poise_vec3 *)seen.at, q.at, &frame, &error);
        Py_END_ALLOW_THREADS;
        w->busy = false;
        made = status != POISE_OK
                   ? raise_refusal(&error)
                   : Py_BuildValue("(OdN)", answer, frame.rms, PyBool_FromLong((frame.flags & POISE_TRACK_HELD) != 0));
    }
    if (answer) {
        numbers_release(&q);
    }
    Py_DecRef(answer);
    numbers_release(&seen);
    return made;
}

static PyObject *tracker_reset(PyObject *self, PyObject *arguments)
{
    live_object *w = (live_object *)self;
    PyObject *given = Py_None;
    numbers q = {.at = NULL};
    if (!PyArg_ParseTuple(arguments, "|O:reset", &given) ||
        (given != Py_None && !numbers_take_count(&q, given, "q", ((const model_object *)w->model)->info.nq))) {
        return NULL;
    }
    poise_error error;
    poise_status status = poise_tracker_reset(w->tracker, q.at, &error);
    if (given != Py_None) {
        numbers_release(&q);
    }
    if (status != POISE_OK) {
        return raise_refusal(&error);
    }
    Py_IncRef(Py_None);
    return Py_None;
}

// ---- The types -----------------------------------------------------------------------------------------------------------

static PyMethodDef control_methods[] = {
    {"step", control_step, METH_VARARGS,
     "step($self, goals, q, v, dt, /)\n--\n\nGo on by dt seconds from q, at the velocity v, towards the goals. Gives the "
     "next "
     "q and v, and\n"
     "a Report of the goals there."},
    {NULL, NULL, 0, NULL},
};
static PyType_Slot control_slots[] = {
    {Py_tp_doc,
     "Control(model, *, velocity=inf, acceleration=inf, gain=1, **options)\n\n"
     "A control loop: one step at a time towards goals that move, each of a few microseconds. |v| stays within\n"
     "velocity, its change within acceleration, q within the limits, and no joint comes to a limit faster than it\n"
     "can stop. Both are a number, or nv numbers; gain is the share of an error that one step removes."},
    {Py_tp_new, control_new},
    {Py_tp_dealloc, live_dealloc},
    {Py_tp_repr, live_repr},
    {Py_tp_methods, control_methods},
    {0, NULL},
};

static PyMethodDef tracker_methods[] = {
    {"next", tracker_next, METH_O,
     "next($self, points, /)\n--\n\nThe next frame: points (markers, 3), NaN where one was not seen. Gives q, what the "
     "markers "
     "miss by\n"
     "(root mean square), and whether q is the last good pose, held because this frame cannot be trusted."},
    {"reset", tracker_reset, METH_VARARGS,
     "reset($self, q=None, /)\n--\n\nForget the past: the next frame is searched for, from q."},
    {NULL, NULL, 0, NULL},
};
static PyType_Slot tracker_slots[] = {
    {Py_tp_doc,
     "Tracker(model, placements, *, smoothness=0, robust=True, outlier=0, max_turn=0.5, least_markers=3, restarts=8)\n\n"
     "Markers as they arrive, frame by frame: placements is a list of (body, point, weight), or a dictionary\n"
     "of them as poise.track takes it, in the order of the\n"
     "points that next() gets, in the model's unit and axes. Gaps and swapped markers are coped with."},
    {Py_tp_new, tracker_new},
    {Py_tp_dealloc, live_dealloc},
    {Py_tp_repr, live_repr},
    {Py_tp_methods, tracker_methods},
    {0, NULL},
};

bool live_add(PyObject *module)
{
    static PyType_Spec control = {
        .name = "poise.Control", .basicsize = sizeof(live_object), .flags = Py_TPFLAGS_DEFAULT, .slots = control_slots};
    static PyType_Spec tracker = {
        .name = "poise.Tracker", .basicsize = sizeof(live_object), .flags = Py_TPFLAGS_DEFAULT, .slots = tracker_slots};
    return type_add(module, &control) && type_add(module, &tracker);
}
