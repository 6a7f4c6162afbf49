// Model.solve_batch: many problems at once, on all cores.
#include "extension.h"

#include "app/cli/threads.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PORTION = 1024, PIECE = 512, PYTHON_RESTARTS = 20 }; // problems laid out at a time, for each thread; by one thread

static PyTypeObject *batch_report_type;

// Columns of the report, one array each.
enum {
    REACHED,
    ITERATIONS,
    RESTARTS,
    COST,
    WORST_LENGTH,
    WORST_ANGLE,
    OUTCOME,
    HOLDS,
    CLEARANCE,
    CLOSURE,
    COLUMNS, // of numbers; then:
    BLOCKING = COLUMNS,
    FIELDS
};

enum { REFUSED = POISE_OUTCOME_INFEASIBLE + 1 }; // in the column of outcomes

static PyStructSequence_Field fields[] = {
    {"reached", "is every goal of the problem met?"},
    {"iterations", "of all starts"},
    {"restarts", "used"},
    {"cost", "at the end"},
    {"worst_length", "largest error in length units"},
    {"worst_angle", "largest error in radians"},
    {"outcome", "\"reached\", \"closest\", \"stalled\", \"budget\", \"infeasible\"; \"refused\" with on_error=\"mark\""},
    {"holds", "does every constraint hold? Without any, True"},
    {"clearance", "least distance of shapes that were kept apart, < 0: overlap; NaN without any"},
    {"closure", "largest error of a loop that was held, in length units or radians"},
    {"blocking", "what is in the way: the name of the constraint with least room, or None where none is near"},
    {NULL, NULL},
};

static PyStructSequence_Desc description = {
    .name = "poise.BatchReport",
    .doc = "How the solves of a batch went: arrays with a number for each problem.",
    .fields = fields,
    .n_in_sequence = FIELDS,
};

// What to solve: poses of one body, or goals of any kind by problem.
typedef struct work {
    model_object *model;
    Py_ssize_t count;
    // poses
    int body;
    poise_pose local;
    const double *targets;
    int target_size; // 3 (a point), 7 or 16 numbers
    // goals
    goal_array *goals; // count of them; NULL: poses
    // what holds in all answers
    constraint_array within;
    // starts
    const double *starts;   // nq numbers
    Py_ssize_t starts_step; // from those of one problem to the next: nq, or 0 where all have the same
    // answers
    double *q;
    double *columns[COLUMNS]; // whole numbers as int64_t, flags as bytes
    int column_count;         // HOLDS where nothing is held and nothing marked: what follows is the same for all problems
    poise_pair *blocking;     // by problem: the constraint and its item; NULL without constraints
    bool marks;               // problems that are refused, and goes on
} work;

static bool is_no_pose(const work *w, Py_ssize_t i)
{
    return w->target_size == 16 && !poise_pose_from_matrix(w->targets + 16 * i, NULL);
}

// The goal of problem i, where there are targets; all of them have the rest in common.
static poise_pose target_at(const work *w, Py_ssize_t i)
{
    const double *given = w->targets + i * w->target_size;
    poise_pose target = {.rotation = {NAN, NAN, NAN, NAN}}; // which is refused
    if (w->target_size == 16) {
        poise_pose_from_matrix(given, &target);
    } else {
        target = pose_of(given, w->target_size);
    }
    target.rotation = poise_quat_normalize(target.rotation);
    return target;
}

static poise_goal goal_at(const work *w, Py_ssize_t i)
{
    poise_pose target = i < 0 ? poise_pose_identity() : pose_of(w->targets + i * w->target_size, w->target_size);
    return w->target_size == 3 ? poise_goal_position(w->body, w->local.position, target.position)
                               : poise_goal_pose(w->body, w->local, target);
}

static void record(work *w, Py_ssize_t i, const poise_report *r, int outcome)
{
    ((char *)w->columns[REACHED])[i] = outcome == POISE_OUTCOME_REACHED;
    ((int64_t *)w->columns[ITERATIONS])[i] = r->iterations;
    ((int64_t *)w->columns[RESTARTS])[i] = r->restarts;
    ((int64_t *)w->columns[OUTCOME])[i] = outcome;
    w->columns[COST][i] = r->cost;
    w->columns[WORST_LENGTH][i] = r->worst_length;
    w->columns[WORST_ANGLE][i] = r->worst_angle;
    if (w->column_count == HOLDS) {
        return;
    }
    ((char *)w->columns[HOLDS])[i] = r->holds;
    w->columns[CLEARANCE][i] = r->clearance < DBL_MAX ? r->clearance : NAN;
    w->columns[CLOSURE][i] = r->closure;
    if (w->blocking) {
        w->blocking[i] = (poise_pair){r->blocking, r->blocking_item};
    }
}

static void record_refusal(work *w, Py_ssize_t i)
{
    int nq = w->model->info.nq;
    poise_report none = {
        .cost = NAN, .worst_length = NAN, .worst_angle = NAN, .clearance = NAN, .closure = NAN, .blocking = POISE_NONE};
    record(w, i, &none, REFUSED);
    for (double *q = w->q + i * nq; q < w->q + (i + 1) * nq; ++q) {
        *q = NAN;
    }
}

// Problems that are laid out at a time: [first, first + count) of the batch.
typedef struct portion {
    const work *w;
    poise_problem *problems;
    poise_goal *poses; // NULL: the goals are the caller's
    Py_ssize_t first;
    int count;
} portion;

// A piece of them, on any thread.
static void lay_out(void *data, int piece, int worker)
{
    (void)worker;
    const portion *p = data;
    const work *w = p->w;
    int begin = piece * PIECE, end = begin + PIECE < p->count ? begin + PIECE : p->count, nq = w->model->info.nq;
    for (int i = begin; i < end; ++i) {
        p->problems[i].q = w->q + (p->first + i) * nq;
        memcpy(p->problems[i].q, w->starts + (p->first + i) * w->starts_step, (size_t)nq * sizeof *w->q);
        if (w->goals) {
            p->problems[i].goals = w->goals[p->first + i].goals;
            p->problems[i].goal_count = w->goals[p->first + i].count;
        } else {
            p->poses[i].target = target_at(w, p->first + i);
        }
    }
}

// Solve a portion. The first problem that is refused stops the work; *refused is its number.
static poise_status solve_portion(work *w, poise_batch *batch, portion *p, int threads, Py_ssize_t *refused,
                                  poise_error *error)
{
    poise_problem *problems = p->problems;
    Py_ssize_t first = p->first;
    int count = p->count;
    threads_run(&threads, (count + PIECE - 1) / PIECE, lay_out, p);
    poise_status status = poise_batch_solve(batch, problems, count, error);
    for (int i = 0; status == POISE_OK && i < count; ++i) {
        if (problems[i].status == POISE_OK) {
            record(w, first + i, &problems[i].report, (int)problems[i].report.outcome);
        } else if (w->marks) {
            record_refusal(w, first + i);
        } else {
            *refused = first + i;
            return problems[i].status;
        }
    }
    return status;
}

// Say which problem was refused, and why.
static void raise_problem(const work *w, Py_ssize_t i, poise_status status)
{
    if (!w->goals && is_no_pose(w, i)) {
        PyErr_Format(PyExc_ValueError, "targets[%zd]: " NO_POSE, i);
        return;
    }
    poise_goal pose = w->goals ? (poise_goal){0} : goal_at(w, i);
    const poise_goal *goals = w->goals ? w->goals[i].goals : &pose;
    int count = w->goals ? w->goals[i].count : 1;
    poise_error error = {.status = status};
    for (int k = 0; k < count && poise_goal_check(&goals[k], w->model->model, &error) == POISE_OK; ++k) {
    }
    for (int k = 0; k < w->within.count && !error.text[0]; ++k) {
        poise_constraint_check(&w->within.list[k], w->model->model, &error);
    }
    if (!error.text[0]) {
        PyErr_Format(error_type, "problem %zd: %s", i, poise_status_name(status));
    } else {
        PyErr_Format(error_type, "problem %zd: %s", i, error.text);
    }
}

// Portion by portion, with a look at signals in between, so that Ctrl-C is heard. False with an exception.
static bool solve_portions(work *w, poise_batch *batch, int threads)
{
    int most = threads * PORTION, portion_size = w->count < most ? (int)w->count : most;
    poise_problem *problems = malloc((size_t)portion_size * sizeof *problems + 1);
    poise_goal *poses = w->goals ? NULL : malloc((size_t)portion_size * sizeof *poses + 1);
    bool ok = problems && (poses || w->goals);
    if (!ok) {
        PyErr_NoMemory();
    }
    for (int i = 0; ok && i < portion_size; ++i) { // what is the same in every portion
        if (poses) {
            poses[i] = goal_at(w, -1);
        }
        problems[i] = (poise_problem){.goals = poses ? &poses[i] : NULL,
                                      .goal_count = 1,
                                      .constraints = w->within.list,
                                      .constraint_count = w->within.count};
    }
    for (Py_ssize_t at = 0; ok && at < w->count; at += portion_size) {
        Py_ssize_t left = w->count - at, refused = -1;
        portion p = {w, problems, poses, at, left < portion_size ? (int)left : portion_size};
        poise_error error;
        poise_status status;
        Py_BEGIN_ALLOW_THREADS;
        status = solve_portion(w, batch, &p, threads, &refused, &error);
        Py_END_ALLOW_THREADS;
        if (refused >= 0) {
            raise_problem(w, refused, status);
        } else if (status != POISE_OK) {
            raise_refusal(&error);
        }
        ok = status == POISE_OK && PyErr_CheckSignals() == 0;
    }
    free(problems);
    free(poses);
    return ok;
}

// ---- Arguments -----------------------------------------------------------------------------------------------------------

typedef struct batch_call {
    PyObject *problems, *targets, *start, *out;
    poise_batch_options options;
    int threads, on_error; // 0: raise, 1: mark
    constraint_call within;
    bool has_restarts;
} batch_call;

static const char *on_error_name(int value)
{
    return value == 0 ? "raise" : value == 1 ? "mark" : NULL;
}

static bool take_keyword(batch_call *c, const model_object *m, PyObject *name, PyObject *value)
{
    static const option rows[] = {
        {"threads", OPTION_INTEGER, offsetof(batch_call, threads), POISE_TYPE_COUNT, NULL, NULL},
        {"lanes", OPTION_INTEGER, offsetof(batch_call, options) + offsetof(poise_batch_options, lanes), POISE_TYPE_COUNT,
         NULL, NULL},
        {"on_error", OPTION_CHOICE, offsetof(batch_call, on_error), POISE_TYPE_COUNT, on_error_name, NULL},
    };
    static const table own = {rows, sizeof rows / sizeof *rows};
    const char *text = PyUnicode_AsUTF8AndSize(name, NULL);
    if (!text || constraints_keyword(&c->within, text, value)) {
        return !PyErr_Occurred();
    }
    if (start_is_misnamed(text, "solve_batch")) {
        return false;
    }
    if (table_find(&own, text)) {
        return option_set(c, &own, "solve_batch", name, value);
    }
    if (PyUnicode_CompareWithASCIIString(name, "locked") == 0) {
        return value == Py_None || locked_take(&c->options.solver.locked, m, value);
    }
    if (PyUnicode_CompareWithASCIIString(name, "targets") == 0) {
        c->targets = value;
        return true;
    }
    if (PyUnicode_CompareWithASCIIString(name, "q") == 0) {
        c->start = value;
        return true;
    }
    if (PyUnicode_CompareWithASCIIString(name, "out") == 0) {
        c->out = value == Py_None ? NULL : value;
        return true;
    }
    return option_set(&c->options.solver, &solver_options_table, "solve_batch", name, value);
}

// Release c->options.solver.locked in any case.
static bool take_call(batch_call *c, const model_object *m, PyObject *arguments, PyObject *keywords)
{
    *c = (batch_call){.options = poise_batch_options_default(), .within = {.loops = true, .neighbours = 1}};
    Py_ssize_t count = PyTuple_Size(arguments), used = 0;
    c->problems = count > 0 ? PyTuple_GetItem(arguments, used++) : NULL;
    bool poses = c->problems && (PyUnicode_Check(c->problems) || PyLong_Check(c->problems));
    bool has_place = poses || count == 3; // for targets, None beside a list of goals
    c->targets = has_place && count > used ? PyTuple_GetItem(arguments, used++) : NULL;
    c->start = count > used ? PyTuple_GetItem(arguments, used++) : NULL;
    bool start_given = false;
    PyObject *name, *value;
    Py_ssize_t at = 0;
    while (keywords && PyDict_Next(keywords, &at, &name, &value)) {
        start_given = start_given || PyUnicode_CompareWithASCIIString(name, "start") == 0;
        c->has_restarts = c->has_restarts || PyUnicode_CompareWithASCIIString(name, "restarts") == 0;
        if (!take_keyword(c, m, name, value)) {
            return false;
        }
    }
    c->targets = c->targets == Py_None ? NULL : c->targets;
    bool is_list = c->problems && !poses && PySequence_Check(c->problems);
    if (used != count || poses != (c->targets != NULL) || poses == is_list) {
        PyErr_SetString(PyExc_TypeError, "solve_batch takes a body and targets, or a list of goals, then starts q; "
                                         "goal.each(targets) is such a list");
        return false;
    }
    if (c->start == Py_None) {
        c->start = NULL;
    }
    if (!c->start && !start_given) {
        c->options.solver.start = POISE_START_COLD;
    }
    if (!c->start && !c->has_restarts) {
        c->options.solver.restarts = PYTHON_RESTARTS;
    }
    if (c->threads < 0) {
        PyErr_SetString(PyExc_ValueError, "threads: 0 for all cores, or how many");
        return false;
    }
    return true;
}

// The starts, which `given` holds: neutral, one for all, or one each.
static bool take_starts(work *w, PyObject *start, numbers *given)
{
    int nq = w->model->info.nq;
    PyObject *neutral = start ? NULL : PyObject_CallMethod((PyObject *)w->model, "neutral", NULL);
    bool ok = (start || neutral) && numbers_take(given, start ? start : neutral, "q");
    Py_DecRef(neutral);
    if (!ok) {
        return false;
    }
    if (given->count != nq && given->count != w->count * nq) {
        PyErr_Format(PyExc_ValueError, "q: expected %d numbers, or %zd rows of as many, got %zd", nq, w->count,
                     given->count);
        numbers_release(given);
        return false;
    }
    if (!ask_for_degrees(w->model->model, "q", given->at, nq > 0 ? given->count / nq : 0)) {
        numbers_release(given);
        return false;
    }
    w->starts = given->at;
    w->starts_step = given->count == nq ? 0 : nq;
    return true;
}

// ---- The call ------------------------------------------------------------------------------------------------------------

static bool run(work *w, batch_call *c)
{
    int available = threads_available();
    int threads = c->threads > 0 && c->threads < available ? c->threads : available;
    c->options.workers = threads;
    c->options.parallel_for = threads > 1 ? threads_run : NULL;
    c->options.user = &threads;
    c->options.solver.constraints.closure_tolerance = POISE_CLOSURE_OF_FILES;
    poise_constraints_size(w->within.list, w->within.count, &c->options.solver.constraints);
    c->options.solver.engine = poise_papers_engine(c->options.solver.method);
    poise_batch *batch;
    poise_error error;
    if (poise_batch_create(w->model->model, &c->options, NULL, &batch, &error) != POISE_OK) {
        raise_refusal(&error);
        return false;
    }
    bool ok = solve_portions(w, batch, threads);
    poise_batch_destroy(batch);
    return ok;
}

// The report with a new array for each column, `reached` as flags. NULL with an exception.
static PyObject *make_columns(work *w, numbers columns[COLUMNS])
{
    PyObject *report = PyStructSequence_New(batch_report_type);
    for (int i = 0; report && i < w->column_count; ++i) {
        PyObject *array = numbers_make_vector(&columns[i], w->count);
        if (!array) {
            for (int k = 0; k < i; ++k) {
                numbers_release(&columns[k]);
            }
            Py_DecRef(report);
            return NULL;
        }
        w->columns[i] = columns[i].at;
        PyStructSequence_SetItem(report, i, array);
    }
    return report;
}

// The numbers of the outcomes become their names: without the long ones, where there can be none, in fewer bytes.
static bool set_outcomes(PyObject *report, const work *w)
{
    int last = w->column_count == COLUMNS ? REFUSED : POISE_OUTCOME_BUDGET;
    PyObject *names = PyList_New(last + 1), *numpy = PyImport_ImportModule("numpy");
    for (int i = 0; names && i <= last; ++i) {
        PyList_SetItem(names, i, PyUnicode_FromString(i == REFUSED ? "refused" : poise_outcome_name((poise_outcome)i)));
    }
    PyObject *before = PyStructSequence_GetItem(report, OUTCOME), *after = NULL;
    if (names && numpy && !PyErr_Occurred()) {
        after = PyObject_CallMethod(numpy, "take", "OO", names, before);
    }
    Py_DecRef(names);
    Py_DecRef(numpy);
    if (after) {
        PyStructSequence_SetItem(report, OUTCOME, after);
        Py_DecRef(before);
    }
    return after != NULL;
}

// What is in the way of each, by name.
static bool set_blocking(PyObject *report, const work *w)
{
    PyObject *names = PyList_New(w->count), *numpy = PyImport_ImportModule("numpy"), *array = NULL;
    for (Py_ssize_t i = 0; names && i < w->count && !PyErr_Occurred(); ++i) {
        PyObject *name = w->blocking ? constraints_name(&w->within, w->model, w->blocking[i].a, w->blocking[i].b) : NULL;
        if (!name) {
            name = Py_None;
            Py_IncRef(name);
        }
        PyList_SetItem(names, i, name);
    }
    if (names && numpy && !PyErr_Occurred()) {
        array = PyObject_CallMethod(numpy, "array", "Os", names, "object");
    }
    Py_DecRef(names);
    Py_DecRef(numpy);
    if (array) {
        PyStructSequence_SetItem(report, BLOCKING, array);
    }
    return array != NULL;
}

// Without constraints the columns about them say the same of all problems: one value, seen as an array.
static bool set_constants(PyObject *report, const work *w)
{
    PyObject *numpy = PyImport_ImportModule("numpy");
    PyObject *values[FIELDS - HOLDS] = {PyBool_FromLong(1), PyFloat_FromDouble(NAN), PyFloat_FromDouble(0.0), Py_None};
    Py_IncRef(Py_None);
    bool ok = numpy != NULL;
    for (int i = HOLDS; i < FIELDS; ++i) {
        PyObject *array = ok ? PyObject_CallMethod(numpy, "broadcast_to", "On", values[i - HOLDS], w->count) : NULL;
        ok = array != NULL;
        PyStructSequence_SetItem(report, i, array);
        Py_DecRef(values[i - HOLDS]);
    }
    Py_DecRef(numpy);
    return ok;
}

// The array of a column as one of `count` flags or whole numbers in the same memory.
static PyObject *seen_as(PyObject *column, const char *type, Py_ssize_t count)
{
    PyObject *all = PyObject_CallMethod(column, "view", "s", type);
    PyObject *front = all ? PySequence_GetSlice(all, 0, count) : NULL;
    Py_DecRef(all);
    return front;
}

// Columns that are not real numbers get the type they should have.
static bool set_types(PyObject *report, const work *w)
{
    static const struct {
        int column;
        const char *type;
    } typed[] = {{REACHED, "bool"}, {ITERATIONS, "int64"}, {RESTARTS, "int64"}, {OUTCOME, "int64"}, {HOLDS, "bool"}};
    for (size_t i = 0; i < sizeof typed / sizeof *typed && typed[i].column < w->column_count; ++i) {
        PyObject *before = PyStructSequence_GetItem(report, typed[i].column);
        PyObject *after = seen_as(before, typed[i].type, w->count);
        if (!after) {
            return false;
        }
        PyStructSequence_SetItem(report, typed[i].column, after);
        Py_DecRef(before);
    }
    return set_outcomes(report, w) && (w->column_count == COLUMNS ? set_blocking(report, w) : set_constants(report, w));
}

static bool make_blocking(work *w)
{
    if (w->within.count > 0) {
        w->blocking = PyMem_Malloc((size_t)w->count * sizeof *w->blocking + 1);
        if (!w->blocking) {
            PyErr_NoMemory();
        }
    }
    return !PyErr_Occurred();
}

// With the problems laid out: answers, report, work.
static PyObject *solve_work(work *w, batch_call *c)
{
    numbers q, starts, columns[COLUMNS];
    PyObject *answers = numbers_make(&q, 2, (const Py_ssize_t[]){w->count, w->model->info.nq});
    if (!answers) {
        return NULL;
    }
    w->q = q.at;
    w->column_count = w->within.count > 0 || w->marks ? COLUMNS : HOLDS;
    PyObject *report = make_columns(w, columns), *result = NULL;
    if (report) {
        bool ok = make_blocking(w) && take_starts(w, c->start, &starts);
        if (ok) {
            ok = run(w, c);
            numbers_release(&starts);
        }
        for (int i = 0; i < w->column_count; ++i) {
            numbers_release(&columns[i]);
        }
        result = ok && set_types(report, w) ? PyTuple_Pack(2, answers, report) : NULL;
        Py_DecRef(report);
    }
    PyMem_Free(w->blocking);
    numbers_release(&q);
    Py_DecRef(answers);
    return result;
}

static PyObject *solve_poses(work *w, batch_call *c)
{
    numbers targets;
    if (!model_body(w->model, c->problems, &w->body, &w->local) || !numbers_take(&targets, c->targets, "targets")) {
        return NULL;
    }
    PyObject *result = NULL;
    bool are_points = targets.axes == 2 && targets.shape[1] == 3;
    if (are_points || poses_have_shape(&targets)) {
        w->targets = targets.at;
        w->target_size = are_points ? 3 : targets.axes == 3 ? 16 : 7;
        w->count = targets.shape[0];
        result = solve_work(w, c);
    }
    numbers_release(&targets);
    return result;
}

// Targets on a CUDA device are solved there.
static PyObject *solve_on_device(work *w, const batch_call *c)
{
    device_call call = {.targets = c->targets,
                        .start = c->start,
                        .out = c->out,
                        .solver = &c->options.solver,
                        .has_restarts = c->has_restarts,
                        .marks = w->marks};
    if (c->threads != 0 || c->options.lanes != 0 || call.solver->locked) {
        PyErr_SetString(PyExc_TypeError, "the targets are on a device, which does not support threads, lanes or locked");
        return NULL;
    }
    if (w->within.count > 0) {
        PyErr_SetString(PyExc_TypeError, "the targets are on a device, where solve_batch supports no constraints or loops: "
                                         "pass loops=False, or targets in host memory");
        return NULL;
    }
    return model_body(w->model, c->problems, &call.body, &call.local) ? device_solve(w->model, &call) : NULL;
}

static PyObject *solve_goals(work *w, batch_call *c)
{
    w->count = PySequence_Size(c->problems);
    if (w->count < 0) {
        return NULL;
    }
    w->goals = PyMem_Malloc((size_t)w->count * sizeof *w->goals + 1);
    if (!w->goals) {
        return PyErr_NoMemory();
    }
    Py_ssize_t taken = 0;
    for (; taken < w->count; ++taken) {
        PyObject *one = PySequence_GetItem(c->problems, taken);
        bool ok = one && goals_take(&w->goals[taken], w->model, one);
        Py_DecRef(one);
        if (!ok) {
            break;
        }
    }
    PyObject *result = taken == w->count ? solve_work(w, c) : NULL;
    while (taken > 0) {
        result = goals_finish(&w->goals[--taken], result);
    }
    PyMem_Free(w->goals);
    return result;
}

PyObject *model_solve_batch(PyObject *self, PyObject *arguments, PyObject *keywords)
{
    batch_call c;
    work w = {.model = (model_object *)self};
    PyObject *result = NULL;
    if (take_call(&c, w.model, arguments, keywords) && constraints_take(&w.within, w.model, &c.within)) {
        w.marks = c.on_error == 1;
        if (c.targets && device_holds(c.targets)) {
            result = solve_on_device(&w, &c);
        } else if (c.out) {
            PyErr_SetString(PyExc_TypeError, "out: supported only for targets on a device");
        } else if (constraints_fit_method(&w.within, c.options.solver.method)) {
            result = c.targets ? solve_poses(&w, &c) : solve_goals(&w, &c);
        }
        constraints_release(&w.within);
    }
    PyMem_Free((void *)c.options.solver.locked);
    return result;
}

bool batch_add(PyObject *module)
{
    batch_report_type = row_type_add(module, &description);
    return batch_report_type != NULL;
}
