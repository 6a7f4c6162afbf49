// Model: a skeleton, its names, sizes and limits.
#include "extension.h"

#include <string.h>

static PyTypeObject *model_type;

PyObject *model_wrap(poise_model *model)
{
    model_object *self = (model_object *)PyType_GenericAlloc(model_type, 0);
    if (!self) {
        poise_model_destroy(model);
        return NULL;
    }
    self->model = model;
    self->info = poise_model_info(model);
    self->contents = (poise_file){.model = model};
    return (PyObject *)self;
}

PyObject *model_wrap_file(poise_file **file)
{
    poise_file *from = *file;
    PyObject *wrapped = model_wrap(from->model);
    if (wrapped) {
        ((model_object *)wrapped)->contents.format = from->format;
    }
    if (!wrapped || from->shape_count + from->shapes_skipped + from->loop_count + from->excluded_count == 0) {
        from->model = NULL; // the object's now
        return wrapped;
    }
    model_object *self = (model_object *)wrapped;
    self->contents.shapes = from->shapes, self->contents.shape_count = from->shape_count;
    self->contents.shapes_skipped = from->shapes_skipped;
    self->contents.scale = from->scale;
    self->contents.hulls = from->hulls, self->contents.hull_count = from->hull_count;
    self->contents.excluded = from->excluded, self->contents.excluded_count = from->excluded_count;
    self->contents.loops = from->loops, self->contents.loop_count = from->loop_count;
    self->file = from;
    *file = NULL;
    return wrapped;
}

model_object *model_of(PyObject *object)
{
    if (Py_TYPE(object) != model_type) {
        PyErr_Format(PyExc_TypeError, "expected a poise.Model, got %R", (PyObject *)Py_TYPE(object));
        return NULL;
    }
    return (model_object *)object;
}

bool model_body(const model_object *model, PyObject *name, int *body, poise_pose *local)
{
    if (PyLong_Check(name)) {
        long index = PyLong_AsLong(name);
        *local = poise_pose_identity();
        if (index < 0 || index >= model->info.joints) {
            PyErr_Clear();
            PyErr_Format(PyExc_IndexError, "body %R: there are %d, from 0", name, model->info.joints);
            return false;
        }
        *body = (int)index;
        return true;
    }
    const char *text = PyUnicode_Check(name) ? PyUnicode_AsUTF8AndSize(name, NULL) : NULL;
    if (!text) {
        PyErr_Format(PyExc_TypeError, "body: expected a name or an index, got %R", (PyObject *)Py_TYPE(name));
        return false;
    }
    poise_error error = {.status = POISE_ERROR_NOT_FOUND};
    *body = poise_model_find_part(model->model, text, local, &error);
    if (*body == POISE_NONE) {
        raise_refusal(&error);
        return false;
    }
    return true;
}

static void model_dealloc(PyObject *self)
{
    model_object *m = (model_object *)self;
    model_release_solvers(m);
    model_release_engine(m);
    poise_kinematics_destroy(m->kinematics);
    poise_sensitivity_destroy(m->sensitivity);
    poise_bytes_release(NULL, m->watched);
    PyMem_Free(m->excluded);
    Py_DecRef(m->source);
    if (m->file) {
        poise_file_destroy(m->file);
    } else {
        poise_model_destroy(m->model);
    }
    object_release(self);
}

static PyObject *model_repr(PyObject *self)
{
    const model_object *m = (const model_object *)self;
    return PyUnicode_FromFormat("<poise.Model: %d joint%s, nq %d, nv %d, %d tool%s>", m->info.joints,
                                m->info.joints == 1 ? "" : "s", m->info.nq, m->info.nv, m->info.tools,
                                m->info.tools == 1 ? "" : "s");
}

// ---- Names, sizes, limits ------------------------------------------------------------------------------------------------

typedef PyObject *(*item_at)(const poise_model *model, int index);

static PyObject *tuple_of(const model_object *m, int count, item_at at)
{
    PyObject *tuple = PyTuple_New(count);
    for (int i = 0; tuple && i < count; ++i) {
        PyObject *item = at(m->model, i);
        if (!item) {
            Py_DecRef(tuple);
            return NULL;
        }
        PyTuple_SetItem(tuple, i, item);
    }
    return tuple;
}

static PyObject *joint_at(const poise_model *model, int i)
{
    return PyUnicode_FromString(poise_model_joint_info(model, i).name);
}

static PyObject *body_at(const poise_model *model, int i)
{
    return PyUnicode_FromString(poise_model_joint_info(model, i).body);
}

static PyObject *tool_at(const poise_model *model, int i)
{
    return PyUnicode_FromString(poise_model_tool_info(model, i).name);
}

static PyObject *parent_at(const poise_model *model, int i)
{
    return PyLong_FromLong(poise_model_joint_info(model, i).parent);
}

static PyObject *type_at(const poise_model *model, int i)
{
    return PyUnicode_FromString(poise_joint_type_name(poise_model_joint_info(model, i).type));
}

// "elbow", or "hip.rx" where the joint has several
static PyObject *coordinate_at(const poise_model *model, int i)
{
    poise_coordinate c = poise_model_coordinate(model, i);
    poise_joint_info joint = poise_model_joint_info(model, c.joint);
    return joint.nq == 1 ? PyUnicode_FromString(joint.name) : PyUnicode_FromFormat("%s.%s", joint.name, c.name);
}

static PyObject *get_names(PyObject *self, void *at)
{
    const model_object *m = (const model_object *)self;
    item_at function = *(const item_at *)at;
    int count = function == tool_at ? m->info.tools : function == coordinate_at ? m->info.nq : m->info.joints;
    return tuple_of(m, count, function);
}

static PyObject *get_nq(PyObject *self, void *closure)
{
    (void)closure;
    return PyLong_FromLong(((model_object *)self)->info.nq);
}

static PyObject *get_nv(PyObject *self, void *closure)
{
    (void)closure;
    return PyLong_FromLong(((model_object *)self)->info.nv);
}

static PyObject *get_lower(PyObject *self, void *closure)
{
    (void)closure;
    const model_object *m = (const model_object *)self;
    return vector_of(m->info.lower, m->info.nq);
}

static PyObject *get_upper(PyObject *self, void *closure)
{
    (void)closure;
    const model_object *m = (const model_object *)self;
    return vector_of(m->info.upper, m->info.nq);
}

// Names of the loops, and shapes as (kind, body, frame, half, radius).
static PyObject *get_loops(PyObject *self, void *closure)
{
    (void)closure;
    const model_object *m = (const model_object *)self;
    PyObject *all = PyTuple_New(m->contents.loop_count);
    for (int i = 0; all && i < m->contents.loop_count; ++i) {
        char text[300];
        poise_constraint_describe(&m->contents.loops[i], 0, &m->contents, text, sizeof text);
        PyTuple_SetItem(all, i, PyUnicode_FromString(text));
    }
    return all;
}

static PyObject *get_shapes(PyObject *self, void *closure)
{
    (void)closure;
    const model_object *m = (const model_object *)self;
    PyObject *all = PyTuple_New(m->contents.shape_count);
    for (int i = 0; all && i < m->contents.shape_count; ++i) {
        const poise_shape *s = &m->contents.shapes[i];
        const double frame[] = {s->pose.position.x, s->pose.position.y, s->pose.position.z, s->pose.rotation.x,
                                s->pose.rotation.y, s->pose.rotation.z, s->pose.rotation.w};
        PyObject *pose = vector_of(frame, 7), *half = vector_of(&s->half.x, 3);
        const char *body = s->body == POISE_WORLD ? NULL : poise_model_joint_info(m->model, s->body).body;
        PyObject *one =
            pose && half ? Py_BuildValue("szOOd", poise_shape_kind_name(s->kind), body, pose, half, s->radius) : NULL;
        Py_DecRef(pose);
        Py_DecRef(half);
        if (!one) {
            Py_DecRef(all);
            return NULL;
        }
        PyTuple_SetItem(all, i, one);
    }
    return all;
}

static item_at joints = joint_at, bodies = body_at, tools = tool_at, parents = parent_at, types = type_at,
               coordinates = coordinate_at;
static PyObject *get_source(PyObject *self, void *unused)
{
    (void)unused;
    PyObject *source = ((model_object *)self)->source;
    source = source ? source : Py_None;
    Py_IncRef(source);
    return source;
}

static int set_source(PyObject *self, PyObject *value, void *unused)
{
    (void)unused;
    model_object *m = (model_object *)self;
    PyObject *before = m->source;
    Py_IncRef(value); // NULL where it is deleted
    m->source = value;
    Py_DecRef(before);
    return 0;
}

static PyGetSetDef model_attributes[] = {
    {"nq", get_nq, NULL, "numbers of a configuration", NULL},
    {"nv", get_nv, NULL, "degrees of freedom: numbers of a step", NULL},
    {"lower", get_lower, NULL, "limits by coordinate, nq of them; -inf where there is none", NULL},
    {"upper", get_upper, NULL, "likewise; inf where there is none", NULL},
    {"mass", model_mass, NULL, "of all bodies, in the unit of the file; 0 where it gives none", NULL},
    {"joints", get_names, NULL, "names of the joints, parents first", &joints},
    {"bodies", get_names, NULL, "names of the bodies: joint k moves body k", &bodies},
    {"tools", get_names, NULL, "names of the tools: frames fixed on bodies", &tools},
    {"parents", get_names, NULL, "the body that each joint hangs from; -1: the world", &parents},
    {"types", get_names, NULL, "\"revolute\" and so on, by joint", &types},
    {"coordinates", get_names, NULL, "names of the nq numbers of a configuration", &coordinates},
    {"loops", get_loops, NULL, "names of the loops of its file, which solve holds", NULL},
    {"shapes", get_shapes, NULL,
     "collision shapes of its file: (kind, body or None, frame on the body as x y z and a quaternion, half sizes, radius)",
     NULL},
    {"source", get_source, set_source, "path of the file that it was loaded from, where poise.view finds meshes; None: none",
     NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

// ---- Configurations ------------------------------------------------------------------------------------------------------

static PyObject *model_neutral(PyObject *self, PyObject *unused)
{
    (void)unused;
    const model_object *m = (const model_object *)self;
    numbers q;
    PyObject *array = numbers_make_vector(&q, m->info.nq);
    if (array) {
        poise_model_neutral(m->model, q.at);
        numbers_release(&q);
    }
    return array;
}

// `array`, which takes over its numbers; or an exception where the library refused.
static PyObject *unless_refused(PyObject *array, numbers *out, poise_status status, const poise_error *error)
{
    numbers_release(out);
    if (status == POISE_OK) {
        return array;
    }
    Py_DecRef(array);
    return raise_refusal(error);
}

static PyObject *model_clamp(PyObject *self, PyObject *argument)
{
    const model_object *m = (const model_object *)self;
    Py_ssize_t nq = m->info.nq;
    numbers given, q;
    if (!numbers_take_rows(&given, argument, "q", nq)) {
        return NULL;
    }
    PyObject *array = numbers_make_for(&q, &given, 1, &nq);
    if (array) {
        poise_error error;
        poise_status status = POISE_OK;
        int moved;
        memcpy(q.at, given.at, (size_t)given.view.len);
        for (double *at = q.at; at < q.at + q.count && status == POISE_OK; at += nq) {
            status = poise_model_clamp(m->model, at, &moved, &error);
        }
        array = unless_refused(array, &q, status, &error);
    }
    numbers_release(&given);
    return array;
}

static PyObject *model_within_limits(PyObject *self, PyObject *argument)
{
    const model_object *m = (const model_object *)self;
    numbers q;
    if (!numbers_take_rows(&q, argument, "q", m->info.nq)) {
        return NULL;
    }
    if (q.axes < 2) {
        bool within = poise_model_within_limits(m->model, q.at);
        numbers_release(&q);
        return PyBool_FromLong(within);
    }
    numbers out;
    PyObject *array = numbers_make_vector(&out, q.shape[0]), *flags = NULL;
    for (Py_ssize_t i = 0; array && i < q.shape[0]; ++i) {
        out.at[i] = poise_model_within_limits(m->model, q.at + i * m->info.nq);
    }
    numbers_release(&q);
    if (array) {
        numbers_release(&out);
        flags = PyObject_CallMethod(array, "astype", "s", "bool");
    }
    Py_DecRef(array);
    return flags;
}

typedef poise_status (*combination)(const poise_model *, const double *, const double *, double *, poise_error *);

// retract and difference: two rows in, one out; or as many of each as there are rows, where one row serves for all.
static PyObject *combine(const model_object *m, PyObject *arguments, combination function, int nb, int nout)
{
    PyObject *first, *second, *array = NULL;
    numbers a, b, out;
    if (!PyArg_ParseTuple(arguments, "OO", &first, &second) || !numbers_take_rows(&a, first, "q", m->info.nq)) {
        return NULL;
    }
    if (!numbers_take_rows(&b, second, "the second argument", nb)) {
        numbers_release(&a);
        return NULL;
    }
    Py_ssize_t step_a = a.axes == 2 ? m->info.nq : 0, step_b = b.axes == 2 ? nb : 0, width = nout;
    if (step_a > 0 && step_b > 0 && a.shape[0] != b.shape[0]) {
        PyErr_Format(PyExc_ValueError, "%zd rows and %zd rows do not match", a.shape[0], b.shape[0]);
    } else {
        array = numbers_make_for(&out, step_a > 0 ? &a : &b, 1, &width);
    }
    if (array) {
        poise_error error;
        poise_status status = POISE_OK;
        const double *from = a.at, *with = b.at;
        for (double *at = out.at; at < out.at + out.count && status == POISE_OK;
             at += nout, from += step_a, with += step_b) {
            status = function(m->model, from, with, at, &error);
        }
        array = unless_refused(array, &out, status, &error);
    }
    numbers_release(&b);
    numbers_release(&a);
    return array;
}

static PyObject *model_retract(PyObject *self, PyObject *arguments)
{
    const model_object *m = (const model_object *)self;
    return combine(m, arguments, poise_retract, m->info.nv, m->info.nq);
}

static PyObject *model_difference(PyObject *self, PyObject *arguments)
{
    const model_object *m = (const model_object *)self;
    return combine(m, arguments, poise_difference, m->info.nq, m->info.nv);
}

// ---- The type ------------------------------------------------------------------------------------------------------------

#define WITH_KEYWORDS(function) (PyCFunction)(void (*)(void)) function, METH_VARARGS | METH_KEYWORDS
static PyMethodDef model_methods[] = {
    {"neutral", model_neutral, METH_NOARGS,
     "neutral($self)\n--\n\nThe neutral configuration: zeros and identity quaternions."},
    {"clamp", model_clamp, METH_O,
     "clamp($self, q)\n--\n\nThe nearest configuration within the limits, as a new array; of rows (N, nq) one of each."},
    {"within_limits", model_within_limits, METH_O,
     "within_limits($self, q)\n--\n\nDo all limits hold exactly? A bool; of rows an array, one for each."},
    {"retract", model_retract, METH_VARARGS,
     "retract($self, q, v)\n--\n\nThe configuration after the step v (nv numbers); rows of either or both give rows."},
    {"difference", model_difference, METH_VARARGS,
     "difference($self, q, q_to)\n--\n\nThe step (nv numbers) from q to q_to; rows of either or both give rows."},
    {"exclude", model_exclude, METH_O,
     "exclude($self, pairs)\n--\n\nThe shapes of these pairs of bodies may touch, beside those that the file names. Not "
     "while another thread solves."},
    {"solve", WITH_KEYWORDS(model_solve),
     "solve($self, goals, q=None, *, avoid=False, margin=0, self_margin=None, obstacles=(), constraints=(), loops=True, "
     "neighbours=1, allow_missing=False, errors=True, locked=None, **options)\n--\n\n"
     "Joint values for goals. From a start q the answer is one near it (restarts=20 searches elsewhere as well); without "
     "one\n"
     "it is searched for from 20 starts. Returns the\n"
     "configuration, a new array, and a Report. `goals` is a Goal, a list of them, or a text such as\n"
     "\"position hand 0.4 0.1 0.3\". Options are those of poise_solver_options: method, start, restarts,\n"
     "max_iterations, seed, position_tolerance, rotation_tolerance, ... Other Python threads run meanwhile.\n"
     "Joints named in `locked` keep their values of the start q.\n"
     "The loops of the model's file are held unless loops=False. avoid=True keeps its collision shapes `margin` apart\n"
     "(two of its own bodies: `self_margin`, if given), and\n"
     "clear of obstacles: poise.box, sphere, capsule, half_space; bodies with at most `neighbours` joints in between may\n"
     "touch. `constraints` are poise.weld, balance and others. The report says what holds and what is in the way.\n"
     "Where collision meshes were not read it is an error, unless allow_missing=True."},
    {"solve_all", WITH_KEYWORDS(model_solve_all),
     "solve_all($self, goal, q=None, most=16, **options)\n--\n\n"
     "All distinct answers to one pose goal on an arm, an (n, nq) array, nearest to q first, and a Report of the first.\n"
     "With avoid, obstacles or constraints, as solve takes them, those in which they hold."},
    {"blockers", WITH_KEYWORDS(model_blockers),
     "blockers($self, goals, q=None, **options)\n--\n\n"
     "What keeps a solve with these arguments, which are those of solve, from goals that it misses: a tuple of \"shapes\",\n"
     "\"balance\", \"loops\", \"limits\" and \"soft goals\" for each of these without which the goals are met, or of "
     "\"together\"\n"
     "where that takes leaving out all of them; empty where the goals are missed in any case. Each kind costs a solve."},
    {"solve_batch", WITH_KEYWORDS(model_solve_batch),
     "solve_batch($self, body, targets=None, q=None, *, threads=0, lanes=0, on_error=\"raise\", avoid=False, margin=0, "
     "self_margin=None, obstacles=(), constraints=(), loops=True, neighbours=1, allow_missing=False, out=None, "
     "**options)\n--\n\n"
     "Many poses of one body, targets (N, 4, 4) or (N, 7), or places of it, (N, 3); q None, one start or N of them. All "
     "cores\n"
     "unless `threads` says fewer. Returns an (N, nq) array and a BatchReport. The answers have the bits of single solves.\n"
     "on_error=\"mark\" goes on where a problem is refused, as one with a NaN is: its outcome is \"refused\", its q NaN.\n"
     "Constraints are those of solve, the same for all problems; the report has `holds`, `clearance`, `closure` and\n"
     "`blocking`, what is in the way, of each.\n"
     "Targets (and q) in the memory of a CUDA device, as torch, CuPy and JAX have them, are solved there: a DeviceArray\n"
     "and a DeviceReport come back, or the answers go into the device array `out`.\n"
     "solve_batch(list_of_goals, q=None, ...) takes problems of any goals: a list with what solve takes for each."},
    {"fk", WITH_KEYWORDS(model_fk),
     "fk($self, q, body=None)\n--\n\nWorld poses as (4, 4) matrices: of one body or tool, or of all bodies, (bodies, 4, 4). "
     "For q of\n"
     "shape (N, nq) one more axis in front."},
    {"jacobian", WITH_KEYWORDS(model_jacobian),
     "jacobian($self, q, body, point=(0, 0, 0))\n--\n\n(6, nv): of the point's world position, then of the body's rotation "
     "as angular\n"
     "velocity in world axes. For q of shape (N, nq) one more axis in front."},
    {"tensor", WITH_KEYWORDS(model_tensor),
     "tensor($self, q, body, point=(0, 0, 0))\n--\n\n(3, nv, nv): exact second derivatives of the point's world position. "
     "For q of\n"
     "shape (N, nq) one more axis in front."},
    {"center_of_mass", model_center_of_mass, METH_O,
     "center_of_mass($self, q, /)\n--\n\n(3): the centre of mass in the world. For q of shape (N, nq) one more axis in "
     "front."},
    {"center_of_mass_jacobian", model_center_of_mass_jacobian, METH_O,
     "center_of_mass_jacobian($self, q, /)\n--\n\n(3, nv): its derivatives. For q of shape (N, nq) one more axis in front."},
    {"evaluate", WITH_KEYWORDS(model_evaluate),
     "evaluate($self, goals, q, *, hessian=\"exact\")\n--\n\nCost, gradient (nv) and Hessian (nv, nv) of the goals' sum at "
     "q; hessian\n"
     "\"gauss_newton\" for J^T W J, None to leave it out."},
    {"sensitivity", WITH_KEYWORDS(model_sensitivity),
     "sensitivity($self, goals, q, *, use_limits=True)\n--\n\nHow the answer q to these goals moves when they do: a "
     "Sensitivity. Goals "
     "and\n"
     "their arrays must not change while it is in use. Raises poise.Error where there is no derivative: q is singular, or "
     "no\n"
     "minimum of the goals."},
    {"pose_gradients", model_pose_gradients, METH_VARARGS,
     "pose_gradients($self, body, targets, q, dL_dq)\n--\n\nFrom dL/dq (N, nv) at the answers q (N, nq) of solve_batch the "
     "derivatives "
     "of a\n"
     "loss by the targets: (N, 6), of translations, then of rotations in world axes. NaN where an answer has no "
     "derivative:\n"
     "it is singular, or no minimum."},
    {"goal_gradients", model_goal_gradients, METH_VARARGS,
     "goal_gradients($self, problems, q, dL_dq)\n--\n\nThe same for goals of any kind: `problems` are N lists of goals, as "
     "solve_batch takes them, each as\n"
     "long. A dictionary of arrays: translation and rotation (N, goals, 3), weight and rotation_weight (N, goals), lower\n"
     "and upper (N, nv), with postures among the goals also posture (N, goals, nv). NaN where there is no derivative."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot model_slots[] = {
    {Py_tp_doc, "A skeleton: made by poise.load and poise.scene. It never changes; threads may share it."},
    {Py_tp_new, new_refused},
    {Py_tp_dealloc, model_dealloc},
    {Py_tp_repr, model_repr},
    {Py_tp_getset, model_attributes},
    {Py_tp_methods, model_methods},
    {0, NULL},
};

static PyType_Spec model_spec = {
    .name = "poise.Model", .basicsize = sizeof(model_object), .flags = Py_TPFLAGS_DEFAULT, .slots = model_slots};

bool model_add(PyObject *module)
{
    model_type = (PyTypeObject *)type_add(module, &model_spec);
    return model_type != NULL;
}
