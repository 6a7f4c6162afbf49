// Model.sensitivity and Model.pose_gradients: how answers move with their goals.
#include "extension.h"

#include "app/cli/threads.h"

#include <limits.h>

typedef struct sensitivity_object {
    PyObject ob_base;
    PyObject *model, *given; // kept alive: the goals point into them
    goal_array goals;
    poise_sensitivity *sensitivity;
    poise_goal_change *changes; // by goal
} sensitivity_object;

static PyTypeObject *sensitivity_type;

static void sensitivity_dealloc(PyObject *self)
{
    sensitivity_object *s = (sensitivity_object *)self;
    poise_sensitivity_destroy(s->sensitivity);
    PyMem_Free(s->changes);
    if (s->goals.goals) {
        goals_release(&s->goals);
    }
    Py_DecRef(s->given);
    Py_DecRef(s->model);
    object_release(self);
}

static bool look(sensitivity_object *s, const model_object *m, PyObject *at, bool use_limits)
{
    numbers q;
    poise_error error;
    if (!numbers_take_count(&q, at, "q", m->info.nq)) {
        return false;
    }
    int coupled = goals_coupled(&s->goals);
    s->changes = PyMem_Malloc((size_t)s->goals.count * sizeof *s->changes + 1);
    bool ok = s->changes != NULL;
    if (!ok) {
        PyErr_NoMemory();
    } else if (poise_sensitivity_create(m->model, coupled, NULL, &s->sensitivity, &error) != POISE_OK ||
               poise_sensitivity_update(s->sensitivity, s->goals.goals, s->goals.count, q.at, use_limits, &error) !=
                   POISE_OK) {
        raise_refusal(&error);
        ok = false;
    }
    numbers_release(&q);
    return ok;
}

PyObject *model_sensitivity(PyObject *self, PyObject *arguments, PyObject *keywords)
{
    static char *names[] = {"goals", "q", "use_limits", NULL};
    PyObject *given, *at;
    int use_limits = 1;
    if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "OO|$p:sensitivity", names, &given, &at, &use_limits) ||
        !loops_are_left_open((const model_object *)self, "sensitivity")) {
        return NULL;
    }
    sensitivity_object *s = (sensitivity_object *)PyType_GenericAlloc(sensitivity_type, 0);
    if (!s) {
        return NULL;
    }
    s->model = self;
    s->given = given;
    Py_IncRef(s->model);
    Py_IncRef(s->given);
    if (!goals_take(&s->goals, (const model_object *)self, given)) {
        s->goals.goals = NULL;
        Py_DecRef((PyObject *)s);
        return NULL;
    }
    if (!look(s, (const model_object *)self, at, use_limits)) {
        Py_DecRef((PyObject *)s);
        return NULL;
    }
    return (PyObject *)s;
}

// ---- Forward -------------------------------------------------------------------------------------------------------------

static bool check_goal(const sensitivity_object *s, int goal)
{
    if (goal < 0 || goal >= s->goals.count) {
        PyErr_Format(PyExc_IndexError, "goal %d: there are %d, from 0", goal, s->goals.count);
        return false;
    }
    return true;
}

// dq for the change that `changes` holds, into out
static bool follow(sensitivity_object *s, double *dq)
{
    poise_error error;
    if (poise_sensitivity_forward(s->sensitivity, s->changes, dq, &error) != POISE_OK) {
        raise_refusal(&error);
        return false;
    }
    return true;
}

static void clear_changes(sensitivity_object *s)
{
    for (int i = 0; i < s->goals.count; ++i) {
        s->changes[i] = (poise_goal_change){.posture = NULL};
    }
}

static PyObject *sensitivity_forward(PyObject *self, PyObject *arguments, PyObject *keywords)
{
    static char *names[] = {"goal", "translation", "rotation", "weight", "rotation_weight", NULL};
    sensitivity_object *s = (sensitivity_object *)self;
    int goal = 0;
    PyObject *translation = NULL, *rotation = NULL;
    double by[6] = {0}, weight = 0, rotation_weight = 0;
    if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "|i$OOdd:forward", names, &goal, &translation, &rotation, &weight,
                                     &rotation_weight) ||
        !check_goal(s, goal) || (translation && !numbers_copy(translation, "translation", by, 3)) ||
        (rotation && !numbers_copy(rotation, "rotation", by + 3, 3))) {
        return NULL;
    }
    numbers dq;
    PyObject *array = numbers_make_vector(&dq, ((model_object *)s->model)->info.nv);
    if (!array) {
        return NULL;
    }
    clear_changes(s);
    s->changes[goal].translation = (poise_vec3){by[0], by[1], by[2]};
    s->changes[goal].rotation = (poise_vec3){by[3], by[4], by[5]};
    s->changes[goal].weight = weight;
    s->changes[goal].rotation_weight = rotation_weight;
    bool ok = follow(s, dq.at);
    numbers_release(&dq);
    if (!ok) {
        Py_DecRef(array);
        return NULL;
    }
    return array;
}

// (nv, 6): columns for translations and rotations of the target along x, y, z
static PyObject *sensitivity_jacobian(PyObject *self, PyObject *arguments)
{
    sensitivity_object *s = (sensitivity_object *)self;
    int goal = 0, nv = ((model_object *)s->model)->info.nv;
    if (!PyArg_ParseTuple(arguments, "|i:jacobian", &goal) || !check_goal(s, goal)) {
        return NULL;
    }
    numbers J, column;
    PyObject *array = numbers_make(&J, 2, (const Py_ssize_t[]){nv, 6});
    PyObject *scratch = array ? numbers_make_vector(&column, nv) : NULL;
    bool ok = scratch != NULL;
    for (int c = 0; c < 6 && ok; ++c) {
        clear_changes(s);
        double *entry = c < 3 ? &s->changes[goal].translation.x : &s->changes[goal].rotation.x;
        entry[c % 3] = 1.0;
        ok = follow(s, column.at);
        for (int i = 0; i < nv && ok; ++i) {
            J.at[6 * i + c] = column.at[i];
        }
    }
    if (scratch) {
        numbers_release(&column);
    }
    Py_DecRef(scratch);
    if (array) {
        numbers_release(&J);
    }
    if (!ok) {
        Py_DecRef(array);
        return NULL;
    }
    return array;
}

// ---- Backward ------------------------------------------------------------------------------------------------------------

static PyObject *columns_of(const poise_goal_change *changes, int count, size_t offset, int width)
{
    numbers out;
    PyObject *array =
        width == 1 ? numbers_make_vector(&out, count) : numbers_make(&out, 2, (const Py_ssize_t[]){count, width});
    for (int i = 0; array && i < count; ++i) {
        const double *from = (const double *)(const void *)((const char *)&changes[i] + offset);
        for (int k = 0; k < width; ++k) {
            out.at[i * width + k] = from[k];
        }
    }
    if (array) {
        numbers_release(&out);
    }
    return array;
}

static PyObject *gradients_out(const sensitivity_object *s, PyObject *lower, PyObject *upper)
{
    const poise_goal_change *c = s->changes;
    int n = s->goals.count;
    return Py_BuildValue("{s:N,s:N,s:N,s:N,s:O,s:O}", "translation",
                         columns_of(c, n, offsetof(poise_goal_change, translation), 3), "rotation",
                         columns_of(c, n, offsetof(poise_goal_change, rotation), 3), "weight",
                         columns_of(c, n, offsetof(poise_goal_change, weight), 1), "rotation_weight",
                         columns_of(c, n, offsetof(poise_goal_change, rotation_weight), 1), "lower", lower, "upper", upper);
}

static PyObject *sensitivity_backward(PyObject *self, PyObject *given)
{
    sensitivity_object *s = (sensitivity_object *)self;
    int nv = ((model_object *)s->model)->info.nv;
    numbers dL, low, high;
    if (!numbers_take_count(&dL, given, "dL_dq", nv)) {
        return NULL;
    }
    PyObject *result = NULL, *lower = numbers_make_vector(&low, nv), *upper = lower ? numbers_make_vector(&high, nv) : NULL;
    if (upper) {
        poise_error error;
        clear_changes(s);
        poise_status status = poise_sensitivity_backward(s->sensitivity, dL.at, s->changes, low.at, high.at, &error);
        result = status == POISE_OK ? gradients_out(s, lower, upper) : raise_refusal(&error);
        numbers_release(&high);
    }
    if (lower) {
        numbers_release(&low);
    }
    Py_DecRef(lower);
    Py_DecRef(upper);
    numbers_release(&dL);
    return result;
}

// ---- A batch of poses ----------------------------------------------------------------------------------------------------

enum { PORTION = 256, MOST_WORKERS = 64, FEW_ROWS = 2048 }; // rows of a piece; fewer than that are not worth threads

// What one thread works with.
typedef struct row_worker {
    poise_sensitivity *scratch;
    int refused; // the first piece; INT_MAX: none
    poise_error error;
} row_worker;

typedef struct pose_rows {
    const model_object *model;
    poise_goal goal;
    const numbers *targets, *q, *dL;
    double *out; // translation and rotation of dL/dtarget by row; 0 where the answer is no minimum
    row_worker workers[MOST_WORKERS];
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
    pose_rows *r = work;
    poise_pose targets[PORTION];
    Py_ssize_t first = (Py_ssize_t)piece * PORTION, left = r->targets->shape[0] - first;
    int count = left < PORTION ? (int)left : PORTION, size = r->targets->axes == 3 ? 16 : 7;
    for (int i = 0; i < count; ++i) {
        targets[i] = unit_pose(pose_of(r->targets->at + (first + i) * size, size));
    }
    row_worker *own = &r->workers[worker];
    poise_error error;
    if (poise_sensitivity_poses(own->scratch, &r->goal, targets, r->q->at + first * r->model->info.nq,
                                r->dL->at + first * r->model->info.nv, count, r->out + 6 * first, &error) != POISE_OK &&
        piece < own->refused) {
        own->refused = piece;
        own->error = error;
    }
}

// False with the error of the first rows that were refused.
static bool run_rows(pose_rows *r, poise_error *error)
{
    int threads = r->targets->shape[0] < FEW_ROWS ? 1 : threads_available(), made = 0, refused = INT_MAX;
    threads = threads > MOST_WORKERS ? MOST_WORKERS : threads;
    while (made < threads &&
           poise_sensitivity_create(r->model->model, 0, NULL, &r->workers[made].scratch, error) == POISE_OK) {
        r->workers[made++].refused = INT_MAX;
    }
    bool ok = made == threads;
    if (ok) {
        threads_run(&threads, (int)((r->targets->shape[0] + PORTION - 1) / PORTION), pose_piece, r);
    }
    while (made > 0) {
        const row_worker *worker = &r->workers[--made];
        poise_sensitivity_destroy(worker->scratch);
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
    PyErr_Format(PyExc_ValueError, "%s: an array of shape (%zd, %d) is wanted", what, rows, width);
    return false;
}

PyObject *model_pose_gradients(PyObject *self, PyObject *arguments)
{
    const model_object *m = (const model_object *)self;
    PyObject *name, *given[3], *array = NULL;
    static const char *const what[3] = {"targets", "q", "dL_dq"};
    numbers in[3], out;
    int body, taken = 0;
    poise_pose local;
    if (!PyArg_ParseTuple(arguments, "OOOO:pose_gradients", &name, &given[0], &given[1], &given[2]) ||
        !model_body(m, name, &body, &local)) {
        return NULL;
    }
    while (taken < 3 && numbers_take(&in[taken], given[taken], what[taken])) {
        ++taken;
    }
    if (taken == 3 && poses_fit(&in[0]) && rows_fit(&in[1], in[0].shape[0], m->info.nq, what[1]) &&
        rows_fit(&in[2], in[0].shape[0], m->info.nv, what[2])) {
        array = numbers_make(&out, 2, (const Py_ssize_t[]){in[0].shape[0], 6});
    }
    if (array) {
        pose_rows rows = {.model = m,
                          .goal = poise_goal_pose(body, local, poise_pose_identity()),
                          .targets = &in[0],
                          .q = &in[1],
                          .dL = &in[2],
                          .out = out.at};
        poise_error error;
        bool ok;
        Py_BEGIN_ALLOW_THREADS;
        ok = run_rows(&rows, &error);
        Py_END_ALLOW_THREADS;
        numbers_release(&out);
        if (!ok) {
            Py_DecRef(array);
            array = raise_refusal(&error);
        }
    }
    while (taken > 0) {
        numbers_release(&in[--taken]);
    }
    return array;
}

// ---- The type ------------------------------------------------------------------------------------------------------------

static PyMethodDef methods[] = {
    {"forward", (PyCFunction)(void (*)(void))sensitivity_forward, METH_VARARGS | METH_KEYWORDS,
     "forward($self, goal=0, *, translation=..., rotation=..., weight=..., rotation_weight=...)\n--\n\nThe change of the "
     "answer, a step of nv numbers, "
     "for\n"
     "a small change of one goal: of its target's position, of its rotation in world axes, of its weights."},
    {"jacobian", sensitivity_jacobian, METH_VARARGS,
     "jacobian($self, goal=0)\n--\n\n(nv, 6): the answer by the translation and the rotation of a goal's target."},
    {"backward", sensitivity_backward, METH_O,
     "backward($self, dL_dq)\n--\n\nFrom dL/dq (nv) the derivatives of a loss by all goals and limits, as a dictionary of "
     "arrays:\n"
     "translation and rotation (goals, 3), weight and rotation_weight (goals), lower and upper (nv)."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_doc, "How an answer moves with its goals and limits: made by Model.sensitivity."},
    {Py_tp_new, new_refused},
    {Py_tp_dealloc, sensitivity_dealloc},
    {Py_tp_methods, methods},
    {0, NULL},
};

static PyType_Spec spec = {
    .name = "poise.Sensitivity", .basicsize = sizeof(sensitivity_object), .flags = Py_TPFLAGS_DEFAULT, .slots = slots};

bool sensitivity_add(PyObject *module)
{
    sensitivity_type = (PyTypeObject *)type_add(module, &spec);
    return sensitivity_type != NULL;
}
