// Erik, Expressive, Aim and Filter: a posture held while goals are met or something is faced, and set-points made smooth.
#include "extension.h"

#include <string.h>

static PyTypeObject *erik_report_type, *expressive_report_type;

#define COUNT(table) ((int)(sizeof(table) / sizeof *(table)))

// ---- What the four have in common ----------------------------------------------------------------------------------------

// A worker over a model, which it keeps alive. One thread at a time has it.
typedef struct worker_object {
    PyObject ob_base;
    PyObject *model;
    poise_erik *erik;
    poise_expressive *expressive;
    poise_filter *filter;
    poise_aim *aim;
    bool busy;
} worker_object;

static void worker_dealloc(PyObject *self)
{
    worker_object *w = (worker_object *)self;
    poise_erik_destroy(w->erik);
    poise_expressive_destroy(w->expressive);
    poise_filter_destroy(w->filter);
    poise_aim_destroy(w->aim);
    Py_DecRef(w->model);
    object_release(self);
}

static PyObject *worker_repr(PyObject *self)
{
    PyObject *name = PyObject_GetAttrString((PyObject *)Py_TYPE(self), "__name__");
    PyObject *text = name ? PyUnicode_FromFormat("<poise.%U of %R>", name, ((worker_object *)self)->model) : NULL;
    Py_DecRef(name);
    return text;
}

// The model and `body=` of a constructor, taken out of a copy of the keywords; what is left are options. NULL with an
// exception.
static PyObject *take_model(PyObject *arguments, PyObject *keywords, model_object **model, int *body, poise_pose *tip)
{
    PyObject *given;
    if (!PyArg_ParseTuple(arguments, "O", &given) || !(*model = model_of(given)) ||
        (body && !loops_are_left_open(*model, "expressive solves"))) {
        return NULL;
    }
    PyObject *left = keywords ? PyDict_Copy(keywords) : PyDict_New();
    PyObject *name = left ? PyDict_GetItemString(left, "body") : NULL;
    if (name && body) {
        if (!model_body(*model, name, body, tip) || PyDict_DelItemString(left, "body") != 0) {
            Py_DecRef(left);
            return NULL;
        }
    }
    return left;
}

static PyObject *worker_make(PyTypeObject *type, model_object *model)
{
    worker_object *w = (worker_object *)PyType_GenericAlloc(type, 0);
    if (w) {
        w->model = (PyObject *)model;
        Py_IncRef(w->model);
    }
    return (PyObject *)w;
}

// The worker, or where the library refused to make what it works with, an exception.
static PyObject *worker_made(worker_object *w, poise_status status, const poise_error *error)
{
    if (status != POISE_OK) {
        Py_DecRef((PyObject *)w);
        return raise_refusal(error);
    }
    return (PyObject *)w;
}

static bool worker_begin(worker_object *w)
{
    if (w->busy) {
        PyErr_SetString(PyExc_RuntimeError, "another thread is using this object: make one for each thread");
        return false;
    }
    w->busy = true;
    return true;
}

// The configuration that a solve starts from, in a new array: `given`, or neutral where it is NULL or None.
static PyObject *start_of(const model_object *m, PyObject *given, numbers *q)
{
    PyObject *array = numbers_make_vector(q, m->info.nq);
    if (!array) {
        return NULL;
    }
    if (!given || given == Py_None) {
        poise_model_neutral(m->model, q->at);
    } else if (!numbers_copy(given, "q", q->at, m->info.nq)) {
        numbers_release(q);
        Py_DecRef(array);
        return NULL;
    }
    return array;
}

// ---- ERIK ----------------------------------------------------------------------------------------------------------------

static PyObject *erik_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords)
{
    poise_erik_options options = poise_erik_options_default();
    model_object *model;
    PyObject *left = take_model(arguments, keywords, &model, &options.body, &options.tip);
    bool ok = left && options_set(&options, &erik_options_table, "Erik", left);
    Py_DecRef(left);
    worker_object *w = ok ? (worker_object *)worker_make(type, model) : NULL;
    poise_error error;
    return w ? worker_made(w, poise_erik_create(model->model, &options, NULL, &w->erik, &error), &error) : NULL;
}

static const char *const erik_fields[][2] = {
    {"reached", "is the error within the threshold?"},
    {"iterations", "forward and backward phases"},
    {"error", "weighted sum of the next two"},
    {"orientation", "0 to 1"},
    {"posture", "0 to 1"},
    {"angle", "between the end and its target, radians"},
    {NULL, NULL},
};

static PyObject *erik_report(const poise_erik_report *r)
{
    return report_row(erik_report_type, erik_fields, &erik_report_table, r, r->outcome == POISE_OUTCOME_REACHED);
}

// The rotation of a target, as poise.orientation takes it.
static bool rotation_of(const model_object *m, PyObject *target, poise_quat *rotation)
{
    PyObject *module = PyImport_ImportModule("poise._poise");
    PyObject *goal = module ? PyObject_CallMethod(module, "orientation", "iO", 0, target) : NULL;
    goal_array array;
    bool ok = goal && goals_take(&array, m, goal);
    if (ok) {
        *rotation = array.goals[0].target.rotation;
        goals_release(&array);
    }
    Py_DecRef(module);
    Py_DecRef(goal);
    return ok;
}

static PyObject *erik_solve(PyObject *self, PyObject *arguments, PyObject *keywords)
{
    static char *names[] = {"posture", "target", "q", NULL};
    worker_object *w = (worker_object *)self;
    const model_object *m = (const model_object *)w->model;
    PyObject *held, *target, *start = NULL, *result = NULL;
    numbers posture, q;
    poise_quat rotation;
    if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "OO|O:solve", names, &held, &target, &start) ||
        !rotation_of(m, target, &rotation) || !numbers_take_count(&posture, held, "posture", m->info.nq)) {
        return NULL;
    }
    PyObject *answer = start_of(m, start, &q);
    if (answer && worker_begin(w)) {
        poise_erik_report report;
        poise_error error;
        poise_status status;
        Py_BEGIN_ALLOW_THREADS;
        status = poise_erik_solve(w->erik, posture.at, rotation, q.at, &report, &error);
        Py_END_ALLOW_THREADS;
        w->busy = false;
        result = status == POISE_OK ? Py_BuildValue("ON", answer, erik_report(&report)) : raise_refusal(&error);
    }
    if (answer) {
        numbers_release(&q);
        Py_DecRef(answer);
    }
    numbers_release(&posture);
    return result;
}

// ---- Its successor -------------------------------------------------------------------------------------------------------

static PyObject *expressive_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords)
{
    poise_expressive_options options = poise_expressive_options_default();
    model_object *model;
    PyObject *left = take_model(arguments, keywords, &model, &options.body, &options.tip);
    bool ok = left && options_set(&options, &expressive_options_table, "Expressive", left);
    Py_DecRef(left);
    worker_object *w = ok ? (worker_object *)worker_make(type, model) : NULL;
    poise_error error;
    return w ? worker_made(w, poise_expressive_create(model->model, &options, NULL, &w->expressive, &error), &error) : NULL;
}

static const char *const expressive_fields[][2] = {
    {"reached", "are the goals met, or is the error within the threshold?"},
    {"error", "weighted sum of the next two"},
    {"goal", "sum over the goals"},
    {"posture", "change of shape"},
    {"worst_length", "what is left of the goals"},
    {"worst_angle", "likewise, radians"},
    {"kept_branch", "the last answer was followed"},
    {"on_the_way", "with stride: a better answer is being approached"},
    {NULL, NULL},
};

static PyObject *expressive_report(const poise_expressive_report *r)
{
    bool met = r->worst_length <= 1e-6 && r->worst_angle <= 1e-6;
    return report_row(expressive_report_type, expressive_fields, &expressive_report_table, r,
                      met || r->outcome == POISE_OUTCOME_REACHED);
}

static PyObject *expressive_solve(PyObject *self, PyObject *arguments, PyObject *keywords)
{
    static char *names[] = {"goals", "posture", "q", NULL};
    worker_object *w = (worker_object *)self;
    const model_object *m = (const model_object *)w->model;
    PyObject *given, *held, *start = NULL, *answer = NULL, *result = NULL;
    numbers posture, q;
    goal_array goals;
    if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "OO|O:solve", names, &given, &held, &start) ||
        !goals_take(&goals, m, given)) {
        return NULL;
    }
    if (numbers_take_count(&posture, held, "posture", m->info.nq)) {
        answer = start_of(m, start ? start : held, &q);
        if (answer && worker_begin(w)) {
            poise_expressive_report report;
            poise_error error;
            poise_status status;
            Py_BEGIN_ALLOW_THREADS;
            status = poise_expressive_solve(w->expressive, goals.goals, goals.count, posture.at, q.at, &report, &error);
            Py_END_ALLOW_THREADS;
            w->busy = false;
            result = status == POISE_OK ? Py_BuildValue("ON", answer, expressive_report(&report)) : raise_refusal(&error);
        }
        if (answer) {
            numbers_release(&q);
            Py_DecRef(answer);
        }
        numbers_release(&posture);
    }
    return goals_finish(&goals, result);
}

// ---- Facing something ----------------------------------------------------------------------------------------------------

static bool aim_holds(const model_object *m, PyObject *held, poise_aim_options *options)
{
    Py_ssize_t count = held == Py_None ? 0 : PySequence_Size(held);
    if (count < 0 || count > POISE_AIM_MOST_HELD) {
        if (count > 0) {
            PyErr_Format(PyExc_ValueError, "held: at most %d bodies", POISE_AIM_MOST_HELD);
        }
        return false;
    }
    for (Py_ssize_t i = 0; i < count; ++i) {
        poise_pose place;
        PyObject *body = PySequence_GetItem(held, i);
        bool found = body && model_body(m, body, &options->held[i], &place);
        Py_DecRef(body);
        if (!found) {
            return false;
        }
    }
    options->held_count = (int)count;
    return true;
}

static PyObject *aim_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords)
{
    static char *names[] = {"method", "symmetric", "axis", "held", NULL};
    poise_aim_options options = poise_aim_options_default();
    const char *method = "expressive";
    int symmetric = 1;
    PyObject *axis = Py_None, *held = Py_None, *none = PyTuple_New(0);
    model_object *model;
    PyObject *left = take_model(arguments, keywords, &model, &options.body, &options.tip);
    bool ok = none && left &&
              PyArg_ParseTupleAndKeywords(none, left, "|spOO:Aim", names, &method, &symmetric, &axis, &held) &&
              (axis == Py_None || numbers_copy(axis, "axis", &options.axis.x, 3)) && aim_holds(model, held, &options);
    options.symmetric = symmetric != 0;
    options.method = strcmp(method, "erik") == 0 ? POISE_AIM_ERIK : POISE_AIM_EXPRESSIVE;
    if (ok && options.method == POISE_AIM_EXPRESSIVE && strcmp(method, "expressive") != 0) {
        PyErr_Format(PyExc_ValueError, "method: expressive or erik, not \"%s\"", method);
        ok = false;
    }
    worker_object *w = ok ? (worker_object *)worker_make(type, model) : NULL;
    Py_DecRef(left);
    Py_DecRef(none);
    poise_error error;
    return w ? worker_made(w, poise_aim_create(model->model, &options, NULL, &w->aim, &error), &error) : NULL;
}

static bool aim_target_of(const model_object *m, PyObject *const given[3], poise_aim_target *target)
{
    int count = 0;
    *target = (poise_aim_target){.kind = POISE_AIM_ORIENTATION, .rotation = {0, 0, 0, 1}, .vector = {0, 0, 0}};
    for (int kind = 0; kind < 3; ++kind) {
        if (given[kind] == Py_None) {
            continue;
        }
        count += 1;
        target->kind = (poise_aim_kind)kind;
        if (kind == POISE_AIM_ORIENTATION ? !rotation_of(m, given[kind], &target->rotation)
                                          : !numbers_copy(given[kind], "target", &target->vector.x, 3)) {
            return false;
        }
    }
    if (count != 1) {
        PyErr_SetString(PyExc_TypeError, "give one of orientation, direction and point");
    }
    return count == 1;
}

static PyObject *aim_solve(PyObject *self, PyObject *arguments, PyObject *keywords)
{
    static char *names[] = {"posture", "orientation", "direction", "point", "q", NULL};
    worker_object *w = (worker_object *)self;
    const model_object *m = (const model_object *)w->model;
    PyObject *held, *given[3] = {Py_None, Py_None, Py_None}, *start = Py_None, *answer = NULL, *result = NULL;
    poise_aim_target target;
    numbers posture, q;
    if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "O|OOOO:solve", names, &held, &given[0], &given[1], &given[2],
                                     &start) ||
        !aim_target_of(m, given, &target) || !numbers_take_count(&posture, held, "posture", m->info.nq)) {
        return NULL;
    }
    answer = start_of(m, start, &q);
    if (answer && worker_begin(w)) {
        poise_aim_report r;
        poise_error error;
        poise_status status;
        Py_BEGIN_ALLOW_THREADS;
        status = poise_aim_solve(w->aim, &target, posture.at, start != Py_None, q.at, &r, &error);
        Py_END_ALLOW_THREADS;
        w->busy = false;
        result = status == POISE_OK ? Py_BuildValue("O{s:s,s:N,s:N,s:d,s:d,s:d,s:d,s:d,s:N}", answer, "outcome",
                                                    poise_outcome_name(r.outcome), "faces", PyBool_FromLong(r.faces),
                                                    "within", PyBool_FromLong(r.within), "angle", r.angle, "orientation",
                                                    r.orientation, "posture", r.posture, "error", r.error, "shape", r.shape,
                                                    "limits_hold", PyBool_FromLong(r.limits_hold))
                                    : raise_refusal(&error);
    }
    if (answer) {
        numbers_release(&q);
        Py_DecRef(answer);
    }
    numbers_release(&posture);
    return result;
}

// ---- The motion filter ---------------------------------------------------------------------------------------------------

static PyObject *filter_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords)
{
    poise_filter_joint joint = poise_filter_joint_default();
    model_object *model;
    PyObject *left = take_model(arguments, keywords, &model, NULL, NULL);
    PyObject *root = left ? PyDict_GetItemString(left, "root") : NULL;
    worker_object *w = NULL;
    poise_error error;
    int filters_root = root ? PyObject_IsTrue(root) : 1; // -1: it has no truth, and there is an exception
    bool ok = left && filters_root >= 0 && (!root || PyDict_DelItemString(left, "root") == 0);
    if (ok && options_set(&joint, &filter_joint_table, "Filter", left)) {
        poise_filter_joint *all = PyMem_Malloc((size_t)model->info.joints * sizeof *all + 1);
        if (all) {
            poise_filter_joints(model->model, 0, all);
        }
        for (int i = 0; all && i < model->info.joints; ++i) {
            bool is_left_out = all[i].mode == POISE_FILTER_OFF && !filters_root;
            all[i] = joint;
            all[i].mode = is_left_out ? POISE_FILTER_OFF : joint.mode;
        }
        w = all ? (worker_object *)worker_make(type, model) : (worker_object *)PyErr_NoMemory();
        if (w && poise_filter_create(model->model, all, model->info.joints, NULL, &w->filter, &error) != POISE_OK) {
            Py_DecRef((PyObject *)w);
            w = (worker_object *)raise_refusal(&error);
        }
        PyMem_Free(all);
    }
    Py_DecRef(left);
    return (PyObject *)w;
}

static PyObject *filter_reset(PyObject *self, PyObject *given)
{
    worker_object *w = (worker_object *)self;
    const model_object *m = (const model_object *)w->model;
    numbers q;
    poise_error error;
    if (!numbers_take_count(&q, given, "q", m->info.nq)) {
        return NULL;
    }
    poise_status status = poise_filter_reset(w->filter, q.at, &error);
    numbers_release(&q);
    if (status != POISE_OK) {
        return raise_refusal(&error);
    }
    Py_IncRef(Py_None);
    return Py_None;
}

static PyObject *filter_step(PyObject *self, PyObject *arguments)
{
    worker_object *w = (worker_object *)self;
    const model_object *m = (const model_object *)w->model;
    PyObject *given;
    double dt;
    numbers wanted, q;
    if (!PyArg_ParseTuple(arguments, "Od:step", &given, &dt) || !numbers_take_count(&wanted, given, "q", m->info.nq)) {
        return NULL;
    }
    for (Py_ssize_t i = 0; i < wanted.count; ++i) {
        if (!Py_IS_FINITE(wanted.at[i])) {
            PyErr_Format(PyExc_ValueError, "q[%zd] is not finite", i);
            numbers_release(&wanted);
            return NULL;
        }
    }
    PyObject *answer = numbers_make_vector(&q, m->info.nq);
    if (answer) {
        poise_error error;
        poise_status status = poise_filter_step(w->filter, wanted.at, dt, q.at, &error);
        numbers_release(&q);
        if (status != POISE_OK) {
            Py_DecRef(answer);
            answer = raise_refusal(&error);
        }
    }
    numbers_release(&wanted);
    return answer;
}

static PyObject *filter_limits(PyObject *self, PyObject *unused)
{
    (void)unused;
    worker_object *w = (worker_object *)self;
    int nv = ((const model_object *)w->model)->info.nv;
    numbers velocity, acceleration;
    PyObject *v = numbers_make_vector(&velocity, nv);
    PyObject *a = v ? numbers_make_vector(&acceleration, nv) : NULL;
    if (a) {
        poise_filter_limits(w->filter, velocity.at, acceleration.at);
        numbers_release(&acceleration);
    }
    if (v) {
        numbers_release(&velocity);
    }
    PyObject *both = a ? PyTuple_Pack(2, v, a) : NULL;
    Py_DecRef(a);
    Py_DecRef(v);
    return both;
}

static PyObject *filter_rests(PyObject *self, void *closure)
{
    (void)closure;
    return PyBool_FromLong(poise_filter_rests(((worker_object *)self)->filter));
}

// ---- The types -----------------------------------------------------------------------------------------------------------

#define WITH_KEYWORDS(function) (PyCFunction)(void (*)(void)) function, METH_VARARGS | METH_KEYWORDS
static PyMethodDef erik_methods[] = {
    {"solve", WITH_KEYWORDS(erik_solve),
     "solve($self, posture, target, q=None)\n--\n\nThe configuration in the shape of `posture` whose end has the rotation "
     "`target`, a\n"
     "(3, 3) matrix or a quaternion x y z w, and an ErikReport. With warm=True q is the previous solution."},
    {NULL, NULL, 0, NULL},
};
static PyType_Slot erik_slots[] = {
    {Py_tp_doc,
     "Erik(model, *, body=None, **options)\n\nExpressive inverse kinematics as Ribeiro and Paiva published it: on a\n"
     "chain of hinges from the root to `body`. Options are those of poise_erik_options: threshold, warm, ...\n"
     "As published, the end may be rolled by half a turn about the last segment, and `angle` counts likewise:\n"
     "symmetric_endpoint=False holds the roll."},
    {Py_tp_new, erik_new},
    {Py_tp_dealloc, worker_dealloc},
    {Py_tp_repr, worker_repr},
    {Py_tp_methods, erik_methods},
    {0, NULL},
};

static PyMethodDef expressive_methods[] = {
    {"solve", WITH_KEYWORDS(expressive_solve),
     "solve($self, goals, posture, q=None)\n--\n\nThe configuration that meets the goals with the least change of the "
     "posture's shape, "
     "and\n"
     "an ExpressiveReport. q is the last answer; None: the posture."},
    {NULL, NULL, 0, NULL},
};
static PyType_Slot expressive_slots[] = {
    {Py_tp_doc,
     "Expressive(model, *, body=None, **options)\n\nHold a posture while goals are met, on any skeleton, with any\n"
     "goals. Options are those of poise_expressive_options: mode=\"shape\", gain, searches, ..."},
    {Py_tp_new, expressive_new},
    {Py_tp_dealloc, worker_dealloc},
    {Py_tp_repr, worker_repr},
    {Py_tp_methods, expressive_methods},
    {0, NULL},
};

static PyMethodDef aim_methods[] = {
    {"solve", WITH_KEYWORDS(aim_solve),
     "solve($self, posture, orientation=None, direction=None, point=None, q=None)\n--\n\nThe configuration that faces the "
     "target in the shape of the posture, and a dict: outcome,\nfaces, within, angle, orientation, posture, error, shape, "
     "limits_hold. q is the last answer of a sequence."},
    {NULL, NULL, 0, NULL},
};
static PyType_Slot aim_slots[] = {
    {Py_tp_doc, "Aim(model, *, body=None, method=\"expressive\", symmetric=True, axis=None, held=None)\n\n"
                "Hold a posture while a body faces an orientation, a direction or a point: what poise aim does."},
    {Py_tp_new, aim_new},
    {Py_tp_dealloc, worker_dealloc},
    {Py_tp_repr, worker_repr},
    {Py_tp_methods, aim_methods},
    {0, NULL},
};

static PyMethodDef filter_methods[] = {
    {"reset", filter_reset, METH_O, "reset($self, q)\n--\n\nCome to rest at q."},
    {"step", filter_step, METH_VARARGS,
     "step($self, q, dt)\n--\n\nGo on by dt seconds towards q; the configuration that is reached."},
    {"limits", filter_limits, METH_NOARGS,
     "limits($self)\n--\n\nThe velocities and accelerations that are kept, nv numbers each, as Control takes them; "
     "infinity: none."},
    {NULL, NULL, 0, NULL},
};
static PyGetSetDef filter_attributes[] = {
    {"rests", filter_rests, NULL, "has every joint come to rest where it was told to go?", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};
static PyType_Slot filter_slots[] = {
    {Py_tp_doc, "Filter(model, *, velocity=2, acceleration=10, jerk=100, smoothness=0, mode=\"time_optimal\", ...)\n\n"
                "Set-points in, at any rate and with any jumps; smooth motion out, within these limits.\n"
                "With root=False a root that moves freely is let through."},
    {Py_tp_new, filter_new},
    {Py_tp_dealloc, worker_dealloc},
    {Py_tp_repr, worker_repr},
    {Py_tp_methods, filter_methods},
    {Py_tp_getset, filter_attributes},
    {0, NULL},
};

#define SPEC(type_name, type_slots)                                                                                         \
    {                                                                                                                       \
        .name = type_name, .basicsize = sizeof(worker_object), .flags = Py_TPFLAGS_DEFAULT, .slots = type_slots             \
    }
static PyType_Spec specs[] = {
    SPEC("poise.Erik", erik_slots),
    SPEC("poise.Expressive", expressive_slots),
    SPEC("poise.Aim", aim_slots),
    SPEC("poise.Filter", filter_slots),
};

bool express_add(PyObject *module)
{
    erik_report_type =
        report_type_add(module, "poise.ErikReport", "How a solve of ERIK went.", erik_fields, &erik_report_table);
    expressive_report_type = report_type_add(module, "poise.ExpressiveReport", "How an expressive solve went.",
                                             expressive_fields, &expressive_report_table);
    for (int i = 0; i < COUNT(specs); ++i) {
        if (!type_add(module, &specs[i])) {
            return false;
        }
    }
    return erik_report_type && expressive_report_type;
}
