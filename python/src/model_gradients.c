// Model.pose_gradients and Model.goal_gradients: derivatives of a loss by the goals of many answers, on all cores.
#include "extension.h"

#include "app/cli/threads.h"

#include <limits.h>
#include <stdio.h>

enum { PORTION = 256, MOST_WORKERS = 64, FEW_POSES = 2048, FEW_PROBLEMS = 64 }; // FEW: less is not worth threads

// What one thread works with.
typedef struct row_worker {
    poise_sensitivity *scratch;
    int refused; // the first piece; INT_MAX: none
    poise_error error;
} row_worker;

// Answers q and dL/dq, a row each, in pieces of `portion`.
typedef struct answer_rows {
    const model_object *model;
    numbers q, dL;
    int count, portion;
    int coupled; // RELATIVE and CENTER_OF_MASS goals of one answer
    row_worker workers[MOST_WORKERS];
} answer_rows;

static void refuse_piece(answer_rows *rows, int piece, int worker, const poise_error *error)
{
    row_worker *own = &rows->workers[worker];
    if (piece < own->refused) {
        own->refused = piece;
        own->error = *error;
    }
}

// The first thread works with *kept, which is made where it is NULL. False with the error of the first rows refused.
static bool run_rows(answer_rows *rows, int few, poise_piece piece, void *work, poise_sensitivity **kept, poise_error *error)
{
    int threads = rows->count < few ? 1 : threads_available(), made = 0, refused = INT_MAX;
    threads = threads > MOST_WORKERS ? MOST_WORKERS : threads;
    row_worker *workers = rows->workers;
    bool ok = true;
    for (; ok && made < threads; made += ok) {
        workers[made].scratch = made == 0 ? *kept : NULL;
        workers[made].refused = INT_MAX;
        ok = workers[made].scratch ||
             poise_sensitivity_create(rows->model->model, rows->coupled, NULL, &workers[made].scratch, error) == POISE_OK;
    }
    *kept = workers[0].scratch;
    if (ok) {
        threads_run(&threads, (rows->count + rows->portion - 1) / rows->portion, piece, work);
    }
    while (made > 0) {
        const row_worker *worker = &workers[--made];
        if (made > 0) {
            poise_sensitivity_destroy(worker->scratch);
        }
        if (worker->refused < refused) {
            refused = worker->refused;
            *error = worker->error;
            ok = false;
        }
    }
    return ok;
}

static bool rows_fit(const numbers *array, Py_ssize_t rows, int width, const char *what)
{
    if (array->axes == 2 && array->shape[0] == rows && array->shape[1] == width) {
        return true;
    }
    PyErr_Format(PyExc_ValueError, "%s: expected an array of shape (%zd, %d)", what, rows, width);
    return false;
}

// q and dL/dq of `count` answers. Release both unless it is false.
static bool rows_take(answer_rows *rows, PyObject *q, PyObject *dL, Py_ssize_t count)
{
    if (count > INT_MAX || !numbers_take(&rows->q, q, "q")) {
        return false;
    }
    rows->count = (int)count;
    if (!numbers_take(&rows->dL, dL, "dL_dq")) {
        numbers_release(&rows->q);
        return false;
    }
    if (rows_fit(&rows->q, count, rows->model->info.nq, "q") && rows_fit(&rows->dL, count, rows->model->info.nv, "dL_dq")) {
        return true;
    }
    numbers_release(&rows->q);
    numbers_release(&rows->dL);
    return false;
}

static void rows_release(answer_rows *rows)
{
    numbers_release(&rows->q);
    numbers_release(&rows->dL);
}

// ---- Poses of one body ---------------------------------------------------------------------------------------------------

typedef struct pose_rows {
    answer_rows rows; // first
    poise_goal goal;
    numbers targets;
    double *out; // translation and rotation of dL/dtarget by row; NaN where there is no derivative
} pose_rows;

// The pose with a quaternion of length 1; most have it.
static poise_pose unit_pose(poise_pose pose)
{
    poise_quat r = pose.rotation;
    double off = r.x * r.x + r.y * r.y + r.z * r.z + r.w * r.w - 1.0;
    return off * off < 1e-28 ? pose : poise_goal_pose(0, poise_pose_identity(), pose).target;
}

// A poise_piece.
static void pose_piece(void *work, int piece, int worker)
{
    pose_rows *p = work;
    answer_rows *r = &p->rows;
    poise_pose targets[PORTION];
    Py_ssize_t first = (Py_ssize_t)piece * PORTION, left = r->count - first;
    int count = left < PORTION ? (int)left : PORTION, size = p->targets.axes == 3 ? 16 : 7;
    poise_error error;
    for (int i = 0; i < count; ++i) {
        const double *given = p->targets.at + (first + i) * size;
        if (size == 7) {
            targets[i] = unit_pose(pose_of(given, size));
        } else if (!poise_pose_from_matrix(given, &targets[i])) {
            error = (poise_error){.status = POISE_ERROR_ARGUMENT};
            snprintf(error.text, sizeof error.text, "targets[%zd]: " NO_POSE, first + i);
            refuse_piece(r, piece, worker, &error);
            return;
        }
    }
    bool defined[PORTION];
    double *out = p->out + 6 * first;
    if (poise_sensitivity_poses(r->workers[worker].scratch, &p->goal, targets, r->q.at + first * r->model->info.nq,
                                r->dL.at + first * r->model->info.nv, count, out, defined, &error) != POISE_OK) {
        refuse_piece(r, piece, worker, &error);
        return;
    }
    for (int i = 0; i < 6 * count; ++i) {
        out[i] = defined[i / 6] ? out[i] : Py_NAN;
    }
}

// With the arguments taken.
static PyObject *run_poses(model_object *m, pose_rows *p)
{
    numbers out;
    PyObject *array = numbers_make(&out, 2, (const Py_ssize_t[]){p->rows.count, 6});
    if (!array) {
        return NULL;
    }
    p->out = out.at;
    poise_error error;
    bool ok;
    poise_sensitivity *kept = m->sensitivity;
    m->sensitivity = NULL; // ours, until the call is over
    Py_BEGIN_ALLOW_THREADS;
    ok = run_rows(&p->rows, FEW_POSES, pose_piece, p, &kept, &error);
    Py_END_ALLOW_THREADS;
    poise_sensitivity_destroy(m->sensitivity); // of a call that came and went meanwhile
    m->sensitivity = kept;
    numbers_release(&out);
    if (!ok) {
        Py_DecRef(array);
        return raise_refusal(&error);
    }
    return array;
}

PyObject *model_pose_gradients(PyObject *self, PyObject *arguments)
{
    model_object *m = (model_object *)self;
    PyObject *name, *targets, *q, *dL, *result = NULL;
    int body;
    poise_pose local;
    pose_rows p;
    if (!PyArg_ParseTuple(arguments, "OOOO:pose_gradients", &name, &targets, &q, &dL) ||
        !model_body(m, name, &body, &local) || !numbers_take(&p.targets, targets, "targets")) {
        return NULL;
    }
    p.rows.model = m;
    p.rows.portion = PORTION;
    p.rows.coupled = 0;
    p.goal = poise_goal_pose(body, local, poise_pose_identity());
    if (poses_have_shape(&p.targets) && rows_take(&p.rows, q, dL, p.targets.shape[0])) {
        result = run_poses(m, &p);
        rows_release(&p.rows);
    }
    numbers_release(&p.targets);
    return result;
}

// ---- Goals of any kind ---------------------------------------------------------------------------------------------------

// What comes out, by name: arrays (answers, goals, width), or (answers, nv) for limits.
typedef struct column {
    const char *name;
    size_t offset; // in poise_goal_change
    int width;     // 0: one number, without an axis of its own
} column;

static const column columns[] = {
    {"translation", offsetof(poise_goal_change, translation), 3},
    {"rotation", offsetof(poise_goal_change, rotation), 3},
    {"weight", offsetof(poise_goal_change, weight), 0},
    {"rotation_weight", offsetof(poise_goal_change, rotation_weight), 0},
};
enum { BY_GOAL = sizeof columns / sizeof *columns, LOWER = BY_GOAL, UPPER, POSTURE, ARRAYS };

typedef struct goal_rows {
    answer_rows rows; // first
    goal_array *goals;
    int taken, each;          // how many of them; goals of one answer
    double *out[ARRAYS];      // POSTURE: NULL where no goal has one
    poise_goal_change *spare; // `each` for every worker
} goal_rows;

// Numbers of output `array` that belong to one answer.
static Py_ssize_t width_of(const goal_rows *g, int array)
{
    Py_ssize_t nv = g->rows.model->info.nv;
    return array < BY_GOAL    ? g->each * (Py_ssize_t)(columns[array].width ? columns[array].width : 1)
           : array == POSTURE ? g->each * nv
                              : nv;
}

// A poise_piece of one answer.
static void goals_piece(void *work, int row, int worker)
{
    goal_rows *g = work;
    answer_rows *r = &g->rows;
    poise_sensitivity *s = r->workers[worker].scratch;
    poise_goal_change *change = g->spare + (Py_ssize_t)worker * g->each;
    poise_error error;
    Py_ssize_t nv = r->model->info.nv;
    double *at[ARRAYS];
    for (int a = 0; a < ARRAYS; ++a) {
        at[a] = g->out[a] ? g->out[a] + row * width_of(g, a) : NULL;
    }
    for (Py_ssize_t i = 0; at[POSTURE] && i < g->each * nv; ++i) {
        at[POSTURE][i] = 0.0; // goals without one leave it
    }
    for (int i = 0; i < g->each; ++i) {
        change[i] = (poise_goal_change){.posture = at[POSTURE] ? at[POSTURE] + i * nv : NULL};
    }
    poise_status status =
        poise_sensitivity_update(s, g->goals[row].goals, g->each, r->q.at + row * r->model->info.nq, true, &error);
    if (status == POISE_OK) {
        status = poise_sensitivity_backward(s, r->dL.at + row * nv, change, at[LOWER], at[UPPER], &error);
    }
    if (status != POISE_OK && status != POISE_ERROR_NUMERIC) {
        refuse_piece(r, row, worker, &error);
        return;
    }
    for (int a = 0; a < BY_GOAL && status == POISE_OK; ++a) {
        int width = columns[a].width ? columns[a].width : 1;
        for (int i = 0; i < g->each * width; ++i) {
            at[a][i] = ((const double *)(const void *)((const char *)&change[i / width] + columns[a].offset))[i % width];
        }
    }
    for (int a = 0; a < ARRAYS && status != POISE_OK; ++a) {
        for (Py_ssize_t i = 0; at[a] && i < width_of(g, a); ++i) {
            at[a][i] = Py_NAN;
        }
    }
}

// The goals of every answer, as many of each.
static bool take_problems(goal_rows *g, PyObject *problems, Py_ssize_t count, bool *has_postures)
{
    g->goals = PyMem_Malloc((size_t)count * sizeof *g->goals + 1);
    if (!g->goals || count > INT_MAX) {
        PyErr_NoMemory();
        return false;
    }
    while (g->taken < count) {
        PyObject *one = PySequence_GetItem(problems, g->taken);
        goal_array *array = &g->goals[g->taken];
        bool ok = one && goals_take(array, g->rows.model, one);
        Py_DecRef(one);
        if (!ok) {
            return false;
        }
        int coupled = goals_coupled(array);
        g->rows.coupled = coupled > g->rows.coupled ? coupled : g->rows.coupled;
        for (int i = 0; i < array->count; ++i) {
            *has_postures |= array->goals[i].q != NULL;
        }
        g->each = g->taken == 0 ? array->count : g->each;
        g->taken += 1;
        if (array->count != g->each) {
            PyErr_Format(PyExc_ValueError, "problem %d has %d goals, but the first has %d", g->taken - 1, array->count,
                         g->each);
            return false;
        }
    }
    return true;
}

// Arrays for all that comes out, in a dictionary. NULL with an exception.
static PyObject *make_arrays(goal_rows *g, numbers views[ARRAYS], bool has_postures)
{
    PyObject *all = PyDict_New();
    Py_ssize_t n = g->rows.count, nv = g->rows.model->info.nv;
    for (int a = 0; all && a < ARRAYS; ++a) {
        if (a == POSTURE && !has_postures) {
            continue;
        }
        int last = a < BY_GOAL ? columns[a].width : (int)nv, axes = a == LOWER || a == UPPER || last == 0 ? 2 : 3;
        const Py_ssize_t by_goal[] = {n, g->each, last}, by_limit[] = {n, nv};
        const char *name = a < BY_GOAL ? columns[a].name : a == LOWER ? "lower" : a == UPPER ? "upper" : "posture";
        PyObject *array = numbers_make(&views[a], axes, a == LOWER || a == UPPER ? by_limit : by_goal);
        if (array) {
            g->out[a] = views[a].at;
        }
        if (!array || PyDict_SetItemString(all, name, array) != 0) {
            Py_DecRef(all);
            all = NULL;
        }
        Py_DecRef(array);
    }
    return all;
}

// With the problems taken.
static PyObject *run_goals(goal_rows *g, bool has_postures)
{
    numbers views[ARRAYS];
    PyObject *all = make_arrays(g, views, has_postures);
    g->spare = PyMem_Calloc((size_t)MOST_WORKERS * (size_t)g->each + 1, sizeof *g->spare);
    poise_error error;
    bool ok = all && g->spare;
    if (ok) {
        poise_sensitivity *first = NULL;
        Py_BEGIN_ALLOW_THREADS;
        ok = run_rows(&g->rows, FEW_PROBLEMS, goals_piece, g, &first, &error);
        poise_sensitivity_destroy(first);
        Py_END_ALLOW_THREADS;
        if (!ok) {
            raise_refusal(&error);
        }
    } else if (!PyErr_Occurred()) {
        PyErr_NoMemory();
    }
    for (int a = 0; a < ARRAYS; ++a) {
        if (g->out[a]) {
            numbers_release(&views[a]);
        }
    }
    PyMem_Free(g->spare);
    if (!ok) {
        Py_DecRef(all);
        return NULL;
    }
    return all;
}

PyObject *model_goal_gradients(PyObject *self, PyObject *arguments)
{
    PyObject *problems, *q, *dL, *result = NULL;
    goal_rows g = {.rows = {.model = (const model_object *)self, .portion = 1}};
    bool has_postures = false;
    if (!PyArg_ParseTuple(arguments, "OOO:goal_gradients", &problems, &q, &dL)) {
        return NULL;
    }
    Py_ssize_t count = PySequence_Size(problems);
    if (count >= 0 && take_problems(&g, problems, count, &has_postures) && rows_take(&g.rows, q, dL, count)) {
        result = run_goals(&g, has_postures);
        rows_release(&g.rows);
    }
    while (g.taken > 0) {
        result = goals_finish(&g.goals[--g.taken], result);
    }
    PyMem_Free(g.goals);
    return result;
}
