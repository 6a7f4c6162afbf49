// Model.solve and Model.solve_all: solvers that the model keeps for the next call with the same options.
#include "extension.h"

#include <string.h>

enum { MOST_IDLE = 16, PYTHON_RESTARTS = 20, FEW_ERRORS = 8, MOST_SIFTED = 1000 };

// A solver between two calls.
typedef struct idle_solver {
    poise_solver *solver;
    poise_solver_options options; // `locked` is its own
    struct idle_solver *next;
} idle_solver;

static void idle_destroy(idle_solver *node)
{
    poise_solver_destroy(node->solver);
    PyMem_Free((void *)node->options.locked);
    PyMem_Free(node);
}

void model_release_solvers(model_object *m)
{
    while (m->solvers) {
        idle_solver *node = m->solvers;
        m->solvers = node->next;
        idle_destroy(node);
    }
}

static bool flags_equal(const bool *a, const bool *b, int count)
{
    return a == b || (a && b && memcmp(a, b, (size_t)count * sizeof *a) == 0);
}

bool solver_options_equal(const poise_solver_options *a, const poise_solver_options *b, int nv)
{
    if (!a->locked && memcmp(a, b, sizeof *a) == 0) {
        return true; // as nearly always
    }
    static const size_t sizes[] = {[OPTION_NUMBER] = sizeof(double),
                                   [OPTION_INTEGER] = sizeof(int),
                                   [OPTION_SEED] = sizeof(uint64_t),
                                   [OPTION_FLAG] = sizeof(bool),
                                   [OPTION_CHOICE] = sizeof(int)};
    for (int i = 0; i < solver_options_table.count; ++i) {
        const option *row = &solver_options_table.rows[i];
        if (memcmp((const char *)a + row->offset, (const char *)b + row->offset, sizes[row->type]) != 0) {
            return false;
        }
    }
    return flags_equal(a->locked, b->locked, nv);
}

// Take an idle solver with these options out of the list, or make one. No two threads have the same one: the list changes
// under Python's lock only. NULL with an exception.
static idle_solver *solver_take(model_object *m, const poise_solver_options *options)
{
    for (idle_solver **at = &m->solvers; *at; at = &(*at)->next) {
        idle_solver *node = *at;
        if (solver_options_equal(&node->options, options, m->info.nv)) {
            *at = node->next;
            return node;
        }
    }
    idle_solver *node = PyMem_Malloc(sizeof *node);
    size_t flags = (size_t)m->info.nv * sizeof(bool);
    bool *locked = options->locked ? PyMem_Malloc(flags) : NULL;
    poise_error error;
    if (!node || (options->locked && !locked)) {
        PyMem_Free(node);
        PyErr_NoMemory();
        return NULL;
    }
    *node = (idle_solver){.options = *options};
    node->options.locked = locked ? memcpy(locked, options->locked, flags) : NULL;
    node->options.engine = poise_papers_engine(node->options.method);
    if (poise_solver_create(m->model, &node->options, NULL, &node->solver, &error) != POISE_OK) {
        idle_destroy(node);
        raise_refusal(&error);
        return NULL;
    }
    return node;
}

// Put it in front; the one that was not used for longest leaves a full list.
static void solver_give_back(model_object *m, idle_solver *node)
{
    node->next = m->solvers;
    m->solvers = node;
    int count = 1;
    idle_solver *at = node;
    while (at->next && ++count <= MOST_IDLE) {
        at = at->next;
    }
    if (at->next) {
        idle_destroy(at->next);
        at->next = NULL;
    }
}

// ---- Arguments -----------------------------------------------------------------------------------------------------------

// Lock the degrees of freedom of one joint. False with an exception.
static bool lock_joint(const model_object *m, PyObject *name, bool *flags)
{
    const char *text = PyUnicode_Check(name) ? PyUnicode_AsUTF8AndSize(name, NULL) : NULL;
    if (!text) {
        PyErr_Format(PyExc_TypeError, "locked: expected names of joints, got %R", name);
        return false;
    }
    poise_error error = {.status = POISE_ERROR_NOT_FOUND};
    int joint = poise_model_find_part(m->model, text, NULL, &error);
    if (joint == POISE_NONE) {
        raise_refusal(&error);
        return false;
    }
    poise_joint_info info = poise_model_joint_info(m->model, joint);
    for (int i = 0; i < info.nv; ++i) {
        flags[info.v + i] = true;
    }
    return true;
}

bool locked_take(const bool **locked, const model_object *m, PyObject *given)
{
    PyMem_Free((void *)*locked);
    *locked = NULL;
    Py_ssize_t count = PyUnicode_Check(given) ? -1 : PySequence_Size(given);
    if (count < 0) {
        PyErr_Clear();
        PyErr_Format(PyExc_TypeError, "locked: expected a list of joints' names, got %R", given);
        return false;
    }
    bool *flags = count > 0 ? PyMem_Calloc((size_t)m->info.nv + 1, sizeof *flags) : NULL;
    bool ok = flags || count == 0;
    if (!ok) {
        PyErr_NoMemory();
    }
    for (Py_ssize_t i = 0; ok && i < count; ++i) {
        PyObject *name = PySequence_GetItem(given, i);
        ok = name && lock_joint(m, name, flags);
        Py_DecRef(name);
    }
    *locked = flags;
    return ok;
}

// The arguments of a solve: goals, a start, options.
typedef struct call {
    PyObject *goals, *start;
    bool errors, has_restarts, has_method;
    Py_ssize_t most;
    poise_solver_options options;
    constraint_call within;
} call;

static bool take_keyword(call *c, const model_object *m, PyObject *name, PyObject *value)
{
    const char *text = PyUnicode_AsUTF8AndSize(name, NULL);
    if (!text) {
        return false;
    }
    if (strcmp(text, "goals") == 0 || strcmp(text, "goal") == 0) {
        c->goals = value;
    } else if (strcmp(text, "q") == 0) {
        c->start = value;
    } else if (start_is_misnamed(text, "solve")) {
        return false;
    } else if (strcmp(text, "errors") == 0) {
        c->errors = PyObject_IsTrue(value) > 0;
    } else if (strcmp(text, "locked") == 0 || strcmp(text, "lock") == 0) {
        return value == Py_None || locked_take(&c->options.locked, m, value);
    } else if (strcmp(text, "most") == 0) {
        c->most = PyLong_AsSsize_t(value);
    } else if (!constraints_keyword(&c->within, text, value)) {
        return option_set(&c->options, &solver_options_table, "solve", name, value);
    }
    return !PyErr_Occurred();
}

// Release c->options.locked in any case.
static bool take_call(call *c, const model_object *m, PyObject *arguments, PyObject *keywords)
{
    Py_ssize_t count = PyTuple_Size(arguments);
    c->goals = count > 0 ? PyTuple_GetItem(arguments, 0) : NULL;
    c->start = count > 1 ? PyTuple_GetItem(arguments, 1) : NULL;
    c->errors = true;
    c->within = (constraint_call){.loops = true, .neighbours = 1};
    c->most = count > 2 ? PyLong_AsSsize_t(PyTuple_GetItem(arguments, 2)) : 16;
    c->has_restarts = c->has_method = false;
    c->options = poise_solver_options_default();
    c->options.constraints.closure_tolerance = POISE_CLOSURE_OF_FILES;
    if (PyErr_Occurred()) {
        return false;
    }
    PyObject *name, *value;
    Py_ssize_t at = 0;
    bool start_given = false;
    while (keywords && PyDict_Next(keywords, &at, &name, &value)) {
        start_given = start_given || PyUnicode_CompareWithASCIIString(name, "start") == 0;
        c->has_restarts = c->has_restarts || PyUnicode_CompareWithASCIIString(name, "restarts") == 0;
        c->has_method = c->has_method || PyUnicode_CompareWithASCIIString(name, "method") == 0;
        if (!take_keyword(c, m, name, value)) {
            return false;
        }
    }
    if (!c->goals || count > 3) {
        PyErr_SetString(PyExc_TypeError, "solve takes goals, then a start q, then options by name");
        return false;
    }
    if (c->start == Py_None) {
        c->start = NULL;
    }
    if (!c->start && !start_given) {
        c->options.start = POISE_START_COLD;
    }
    if (!c->start && !c->has_restarts) {
        c->options.restarts = PYTHON_RESTARTS;
    }
    return true;
}

// Levels of priority count in one method only.
static bool check_priorities(const call *c, const goal_array *goals)
{
    for (int i = 1; i < goals->count && !c->has_method; ++i) {
        if (goals->goals[i].priority != goals->goals[0].priority) {
            PyErr_SetString(PyExc_ValueError, "goals differ in priority: use method=\"priority\" to respect it; any other "
                                              "method named explicitly sums all goals by weight");
            return false;
        }
    }
    return true;
}

// A new array with the start in it: the caller's, or the neutral configuration. NULL with an exception.
static PyObject *make_start(const model_object *m, PyObject *start, numbers *q)
{
    PyObject *array = numbers_make_vector(q, m->info.nq);
    if (!array) {
        return NULL;
    }
    if (!start) {
        poise_model_neutral(m->model, q->at);
    } else if (!numbers_copy(start, "q", q->at, m->info.nq) || !ask_for_degrees(m->model, "q", q->at, 1)) {
        numbers_release(q);
        Py_DecRef(array);
        return NULL;
    }
    return array;
}

// ---- Solving -------------------------------------------------------------------------------------------------------------

// Is everything met but postures and smoothness, which only ever pull?
static bool hard_goals_are_met(poise_solver *solver, const goal_array *goals)
{
    int hard = 0;
    for (int i = 0; i < goals->count; ++i) {
        poise_goal_kind kind = goals->goals[i].kind;
        hard += kind != POISE_GOAL_POSTURE && kind != POISE_GOAL_SMOOTHNESS;
        if (!poise_solver_goal_is_met(solver, i)) {
            return false;
        }
    }
    return hard > 0;
}

static PyObject *make_report(poise_solver *solver, const goal_array *goals, const poise_report *report, const call *c)
{
    poise_goal_error few[FEW_ERRORS], *all = few;
    if (goals->count > FEW_ERRORS) {
        all = PyMem_Malloc((size_t)goals->count * sizeof *all);
        if (!all) {
            return PyErr_NoMemory();
        }
    }
    for (int i = 0; i < goals->count; ++i) {
        all[i] = poise_solver_goal_error(solver, i);
    }
    bool reached = report->holds && (report->outcome == POISE_OUTCOME_REACHED || hard_goals_are_met(solver, goals));
    PyObject *wrapped = report_wrap(report, reached, c->errors ? all : NULL, goals->count);
    if (all != few) {
        PyMem_Free(all);
    }
    return wrapped;
}

// With everything taken: the answer, which begins as the start, and a report. NULL with an exception.
static PyObject *run(model_object *m, call *c, const goal_array *goals, const constraint_array *within, PyObject *answer,
                     double *q)
{
    poise_constraints_size(within->list, within->count, &c->options.constraints);
    idle_solver *node = solver_take(m, &c->options);
    if (!node) {
        return NULL;
    }
    poise_report report;
    poise_error error;
    poise_status status;
    Py_BEGIN_ALLOW_THREADS;
    status = within->count > 0 ? poise_solve_within(node->solver, goals->goals, goals->count, within->list, within->count, q,
                                                    &report, &error)
                               : poise_solve(node->solver, goals->goals, goals->count, q, &report, &error);
    Py_END_ALLOW_THREADS;
    PyObject *wrapped = status == POISE_OK ? make_report(node->solver, goals, &report, c) : raise_refusal(&error);
    PyObject *nearest, *blocking;
    bool ok = wrapped != NULL;
    if (ok && within->count > 0) {
        ok = constraints_report(within, m, node->solver, &report, &nearest, &blocking);
        report_set_names(wrapped, nearest, blocking);
    }
    solver_give_back(m, node);
    bool missed = ok && report.outcome != POISE_OUTCOME_REACHED;
    ok = ok && (!missed || ask_for_millimetres(m->model, goals->goals, goals->count, q));
    PyObject *result = ok ? PyTuple_Pack(2, answer, wrapped) : NULL;
    Py_DecRef(wrapped);
    return result;
}

static PyObject *solve(model_object *m, call *c)
{
    goal_array goals;
    constraint_array within;
    if (!goals_take(&goals, m, c->goals)) {
        return NULL;
    }
    PyObject *result = NULL;
    if (check_priorities(c, &goals) && constraints_take(&within, m, &c->within)) {
        numbers q;
        PyObject *answer = constraints_fit_method(&within, c->options.method) ? make_start(m, c->start, &q) : NULL;
        if (answer) {
            result = run(m, c, &goals, &within, answer, q.at);
            numbers_release(&q);
            Py_DecRef(answer);
        }
        constraints_release(&within);
    }
    return goals_finish(&goals, result);
}

PyObject *model_solve(PyObject *self, PyObject *arguments, PyObject *keywords)
{
    model_object *m = (model_object *)self;
    call c;
    PyObject *result = take_call(&c, m, arguments, keywords) ? solve(m, &c) : NULL;
    PyMem_Free((void *)c.options.locked);
    return result;
}

// Drop answers that break a constraint; then what a solve makes of the nearest of those that are left, with its report.
// Where none is left, of the start: it may find an answer between those of an arm with many. A tuple; NULL with an
// exception.
static PyObject *sift(model_object *m, call *c, const goal_array *goals, const constraint_array *within, double *rows,
                      int *count, const double *start)
{
    poise_kinematics *kinematics;
    poise_error error;
    numbers q;
    PyObject *answer = numbers_make_vector(&q, m->info.nq), *result = NULL;
    if (answer && poise_kinematics_create(m->model, NULL, &kinematics, &error) != POISE_OK) {
        raise_refusal(&error);
    } else if (answer) {
        size_t size = (size_t)m->info.nq * sizeof *rows;
        poise_constraints_sift(kinematics, within->list, within->count, POISE_CLOSURE_OF_FILES, rows, count);
        poise_kinematics_destroy(kinematics);
        memcpy(q.at, *count > 0 ? rows : start, size);
        c->options.restarts = *count > 0 ? 0 : c->options.restarts;
        result = run(m, c, goals, within, answer, q.at);
        if (result && *count == 0 && PyObject_IsTrue(PyTuple_GetItem(result, 1)) == 1) {
            memcpy(rows, q.at, size);
            *count = 1;
        }
    }
    if (answer) {
        numbers_release(&q);
        Py_DecRef(answer);
    }
    return result;
}

// The first `count` rows of what was found, as an array of its own.
static PyObject *rows_of(const double *rows, int count, int nq)
{
    numbers out;
    PyObject *array = numbers_make(&out, 2, (const Py_ssize_t[]){count, nq});
    if (array) {
        memcpy(out.at, rows, (size_t)count * (size_t)nq * sizeof *rows);
        numbers_release(&out);
    }
    return array;
}

static PyObject *find_all(model_object *m, call *c, const goal_array *goals, const constraint_array *within,
                          const double *start)
{
    int most = within->count > 0 && c->most < MOST_SIFTED ? MOST_SIFTED : (int)c->most;
    double *rows = PyMem_Malloc((size_t)most * (size_t)m->info.nq * sizeof *rows);
    idle_solver *node = rows ? solver_take(m, &c->options) : NULL;
    if (!node) {
        PyMem_Free(rows);
        return rows ? NULL : PyErr_NoMemory();
    }
    PyObject *result = NULL, *wrapped = NULL, *array = NULL;
    poise_report report;
    poise_error error;
    poise_status status;
    int count = 0;
    Py_BEGIN_ALLOW_THREADS;
    status = poise_solve_all(node->solver, goals->goals, start, rows, most, &count, &report, &error);
    Py_END_ALLOW_THREADS;
    solver_give_back(m, node);
    if (status != POISE_OK) {
        raise_refusal(&error);
    } else if (within->count > 0) {
        PyObject *nearest = sift(m, c, goals, within, rows, &count, start);
        wrapped = nearest ? PyTuple_GetItem(nearest, 1) : NULL;
        wrapped = wrapped ? or_none(wrapped) : NULL;
        Py_DecRef(nearest);
    } else {
        wrapped = report_wrap(&report, report.outcome == POISE_OUTCOME_REACHED, NULL, 0);
    }
    if (wrapped) {
        array = rows_of(rows, count < c->most ? count : (int)c->most, m->info.nq);
        result = array ? PyTuple_Pack(2, array, wrapped) : NULL;
    }
    Py_DecRef(array);
    Py_DecRef(wrapped);
    PyMem_Free(rows);
    return result;
}

static PyObject *solve_all(model_object *m, call *c)
{
    if (loops_are_refused(m, c->within.loops, "solve_all")) {
        return NULL;
    }
    c->options.start = POISE_START_WARM;
    if (!c->has_restarts) {
        c->options.restarts = 300; // many searches, to find all
    }
    if (c->most < 1 || c->most > 100000) {
        PyErr_SetString(PyExc_ValueError, "most: from 1 to 100000");
        return NULL;
    }
    goal_array goals;
    constraint_array within;
    if (!goals_take(&goals, m, c->goals)) {
        return NULL;
    }
    PyObject *result = NULL, *start;
    numbers q;
    if (goals.count != 1) {
        PyErr_SetString(PyExc_ValueError, "solve_all takes one pose goal");
    } else if (constraints_take(&within, m, &c->within)) {
        if ((start = make_start(m, c->start, &q)) != NULL) {
            result = find_all(m, c, &goals, &within, q.at);
            numbers_release(&q);
            Py_DecRef(start);
        }
        constraints_release(&within);
    }
    return goals_finish(&goals, result);
}

PyObject *model_solve_all(PyObject *self, PyObject *arguments, PyObject *keywords)
{
    model_object *m = (model_object *)self;
    call c;
    PyObject *result = take_call(&c, m, arguments, keywords) ? solve_all(m, &c) : NULL;
    PyMem_Free((void *)c.options.locked);
    return result;
}

// ---- What is in the way --------------------------------------------------------------------------------------------------

// Names of the bits: a tuple; NULL with an exception.
static PyObject *names_of(unsigned blockers)
{
    PyObject *names = PyList_New(0);
    for (unsigned bit = 1; names && bit <= POISE_BLOCKED_BY_SOFT_GOALS; bit <<= 1) {
        PyObject *name = blockers & bit ? PyUnicode_FromString(poise_blocker_name((poise_blocker)bit)) : NULL;
        if (blockers & bit && (!name || PyList_Append(names, name) != 0)) {
            Py_DecRef(name);
            Py_DecRef(names);
            return NULL;
        }
        Py_DecRef(name);
    }
    PyObject *result = names ? PyList_AsTuple(names) : NULL;
    Py_DecRef(names);
    return result;
}

static PyObject *ask(model_object *m, call *c, const goal_array *goals, const constraint_array *within, const double *start)
{
    idle_solver *node = solver_take(m, &c->options);
    if (!node) {
        return NULL;
    }
    unsigned blockers = 0;
    poise_error error;
    poise_status status;
    Py_BEGIN_ALLOW_THREADS;
    status = poise_solve_blockers(node->solver, goals->goals, goals->count, within->list, within->count, start, ~0U, NULL,
                                  &blockers, &error);
    Py_END_ALLOW_THREADS;
    solver_give_back(m, node);
    return status == POISE_OK ? names_of(blockers) : raise_refusal(&error);
}

static PyObject *find_blockers(model_object *m, call *c)
{
    goal_array goals;
    constraint_array within;
    if (!goals_take(&goals, m, c->goals)) {
        return NULL;
    }
    PyObject *result = NULL;
    if (constraints_take(&within, m, &c->within)) {
        numbers q;
        PyObject *start = make_start(m, c->start, &q);
        if (start) {
            result = ask(m, c, &goals, &within, q.at);
            numbers_release(&q);
            Py_DecRef(start);
        }
        constraints_release(&within);
    }
    return goals_finish(&goals, result);
}

PyObject *model_blockers(PyObject *self, PyObject *arguments, PyObject *keywords)
{
    model_object *m = (model_object *)self;
    call c;
    PyObject *result = take_call(&c, m, arguments, keywords) ? find_blockers(m, &c) : NULL;
    PyMem_Free((void *)c.options.locked);
    return result;
}
