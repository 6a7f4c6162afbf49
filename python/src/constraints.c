// What an answer must keep to beside limits: shapes apart, loops closed, and constraints of the caller's.
//
// python/poise/constraints.py makes shapes and constraints. A shape travels as (kind, body, numbers...), a constraint as
// (kind, body, body2, local, target, lower, upper, margin, polygon, axis).
#include "extension.h"

#include <string.h>

bool loops_are_left_open(const model_object *m, const char *call)
{
    return m->contents.loop_count == 0 ||
           PyErr_WarnFormat(PyExc_UserWarning, 1,
                            "the loops of the model's file (%d) are not held by %s: Model.solve holds them",
                            m->contents.loop_count, call) == 0;
}

bool loops_are_refused(const model_object *m, bool loops, const char *call)
{
    if (!loops || m->contents.loop_count == 0) {
        return false;
    }
    PyErr_Format(error_type,
                 "%s does not hold the loops of the model's file (%d): call solve, which does, or pass loops=False to leave "
                 "them open",
                 call, m->contents.loop_count);
    return true;
}

// ---- Shapes --------------------------------------------------------------------------------------------------------------

// A body by name, with the frame of a tool; None: the world.
static bool take_body(const model_object *m, PyObject *name, int *body, poise_pose *local)
{
    *body = POISE_WORLD;
    *local = poise_pose_identity();
    return name == Py_None || model_body(m, name, body, local);
}

static bool take_vector(PyObject *object, const char *what, poise_vec3 *v)
{
    double n[3];
    if (!numbers_copy(object, what, n, 3)) {
        return false;
    }
    *v = poise_vec3_make(n[0], n[1], n[2]);
    return true;
}

// (kind, body, frame, half, radius): the pose of its frame, half its sides or lengths.
static bool take_shape_parts(const model_object *m, PyObject *parts, poise_shape *shape)
{
    PyObject *body, *frame, *half;
    int kind = 0;
    poise_pose local, pose;
    *shape = (poise_shape){0};
    if (!PyArg_ParseTuple(parts, "iOOOd", &kind, &body, &frame, &half, &shape->radius) ||
        !take_body(m, body, &shape->body, &local) || !pose_take(frame, "the pose of an obstacle", &pose) ||
        !take_vector(half, "the sides of an obstacle", &shape->half)) {
        return false;
    }
    shape->kind = (poise_shape_kind)kind;
    shape->pose = poise_pose_multiply(local, pose);
    return true;
}

static bool take_shape(const model_object *m, PyObject *given, int number, poise_shape *shape)
{
    PyObject *parts = PyObject_GetAttrString(given, "_parts");
    poise_error error;
    if (!parts) {
        PyErr_Format(PyExc_TypeError, "obstacles: use poise.box, sphere, capsule or half_space, not %R", given);
        return false;
    }
    bool ok = take_shape_parts(m, parts, shape);
    Py_DecRef(parts);
    if (!ok) {
        return false;
    }
    if (poise_shape_check(shape, m->model, &error) != POISE_OK) {
        PyErr_Format(error_type, "obstacle %d: %s", number, error.text);
        return false;
    }
    return true;
}

// The obstacles of a call. NULL with an exception.
static poise_shape *take_shapes(const model_object *m, PyObject *given, Py_ssize_t count)
{
    poise_shape *shapes = PyMem_Malloc((size_t)count * sizeof *shapes + 1);
    if (!shapes) {
        PyErr_NoMemory();
        return NULL;
    }
    bool ok = true;
    for (Py_ssize_t i = 0; ok && i < count; ++i) {
        PyObject *one = PySequence_GetItem(given, i);
        ok = one && take_shape(m, one, (int)i + 1, &shapes[i]);
        Py_DecRef(one);
    }
    if (!ok) {
        PyMem_Free(shapes);
        return NULL;
    }
    return shapes;
}

// ---- Pairs ---------------------------------------------------------------------------------------------------------------

// Are the watched pairs of the last call those of these obstacles, too? What stands in the world may be elsewhere.
static bool is_watched(const model_object *m, const poise_shape *obstacles, int count, int neighbours)
{
    int own = m->contents.shape_count;
    if (!m->watched || m->watched_neighbours != neighbours || m->watched->shape_count != own + count) {
        return false;
    }
    for (int i = 0; i < count; ++i) {
        const poise_shape *before = &m->watched->shapes[own + i];
        bool both_in_world = before->body == POISE_WORLD && obstacles[i].body == POISE_WORLD;
        bool both_planes = (before->kind == POISE_SHAPE_HALF_SPACE) == (obstacles[i].kind == POISE_SHAPE_HALF_SPACE);
        if (!(both_in_world && both_planes) && memcmp(before, &obstacles[i], sizeof *before) != 0) {
            return false;
        }
    }
    return true;
}

static bool find_pairs(model_object *m, const poise_shape *obstacles, int count, int neighbours)
{
    poise_constraint *found;
    poise_error error;
    poise_pairs_options options = poise_pairs_options_default();
    options.neighbours = neighbours;
    poise_status status = poise_file_clearance(&m->contents, obstacles, count, &options, NULL, &found, &error);
    if (status == POISE_ERROR_NOT_FOUND) {
        PyErr_Format(error_type, "the model has %s%s", error.text,
                     m->contents.shapes_skipped > 0 ? "; poise.load(path, meshes=True) reads meshes" : "");
    } else if (status != POISE_OK) {
        raise_refusal(&error);
    } else {
        poise_bytes_release(NULL, m->watched);
        m->watched = found;
        m->watched_neighbours = neighbours;
    }
    return status == POISE_OK;
}

static bool take_pair(const model_object *m, PyObject *given, poise_pair *pair)
{
    poise_pose anywhere;
    PyObject *bodies = PySequence_Tuple(given);
    bool ok = bodies && PyTuple_Size(bodies) == 2;
    if (bodies && !ok) {
        PyErr_Format(PyExc_ValueError, "exclude: expected two bodies, got %R", given);
    }
    ok = ok && take_body(m, PyTuple_GetItem(bodies, 0), &pair->a, &anywhere) &&
         take_body(m, PyTuple_GetItem(bodies, 1), &pair->b, &anywhere);
    Py_DecRef(bodies);
    return ok;
}

PyObject *model_exclude(PyObject *self, PyObject *given)
{
    model_object *m = (model_object *)self;
    PyObject *list = PySequence_Tuple(given);
    if (!list) {
        return NULL;
    }
    int before = m->contents.excluded_count, count = (int)PyTuple_Size(list);
    poise_pair *all = PyMem_Malloc((size_t)(before + count) * sizeof *all + 1);
    bool ok = all != NULL;
    for (int i = 0; ok && i < before; ++i) {
        all[i] = m->contents.excluded[i];
    }
    for (int i = 0; ok && i < count; ++i) {
        ok = take_pair(m, PyTuple_GetItem(list, i), &all[before + i]);
    }
    Py_DecRef(list);
    if (!ok) {
        PyMem_Free(all);
        return PyErr_Occurred() ? NULL : PyErr_NoMemory();
    }
    PyMem_Free(m->excluded);
    m->contents.excluded = m->excluded = all;
    m->contents.excluded_count = before + count;
    poise_bytes_release(NULL, m->watched); // its pairs were found without them
    m->watched = NULL;
    return or_none(NULL);
}

// A clearance that leaves out part of the robot is not taken for one of the whole.
static bool has_all_meshes(const model_object *m, const constraint_call *c)
{
    if (m->contents.shapes_skipped > 0 && !c->allow_missing) {
        PyErr_Format(error_type,
                     "%d collision shapes of the model's file were not read and would be ignored: poise.load(path, "
                     "meshes=True) reads meshes, allow_missing=True continues without them",
                     m->contents.shapes_skipped);
    }
    return !PyErr_Occurred();
}

// A margin for each pair: two bodies of the model have their own. NULL with an exception.
static double *margins_of(const poise_constraint *apart, double self_margin)
{
    double *margins = PyMem_Malloc((size_t)apart->pair_count * sizeof *margins + 1);
    for (int i = 0; margins && i < apart->pair_count; ++i) {
        poise_pair pair = apart->pairs[i];
        bool is_obstacle = apart->shapes[pair.a].body == POISE_WORLD || apart->shapes[pair.b].body == POISE_WORLD;
        margins[i] = is_obstacle ? apart->margin : self_margin;
    }
    if (!margins) {
        PyErr_NoMemory();
    }
    return margins;
}

// The clearance of a call, with shapes and pairs of its own: other threads may look for other pairs meanwhile.
static bool take_clearance(constraint_array *a, model_object *m, const constraint_call *c, Py_ssize_t count)
{
    poise_shape *obstacles = take_shapes(m, c->obstacles, count);
    if (!obstacles) {
        return false;
    }
    bool ok = is_watched(m, obstacles, (int)count, c->neighbours) || find_pairs(m, obstacles, (int)count, c->neighbours);
    if (ok && has_all_meshes(m, c)) {
        const poise_constraint *w = m->watched;
        size_t shapes = (size_t)w->shape_count, pairs = (size_t)w->pair_count, own = shapes - (size_t)count;
        poise_constraint *apart = &a->list[a->count++];
        a->shapes = PyMem_Malloc(shapes * sizeof *a->shapes + 1);
        a->pairs = PyMem_Malloc(pairs * sizeof *a->pairs + 1);
        if (a->shapes && a->pairs) {
            memcpy(a->shapes, w->shapes, own * sizeof *a->shapes);
            memcpy(a->shapes + own, obstacles, (size_t)count * sizeof *a->shapes);
            memcpy(a->pairs, w->pairs, pairs * sizeof *a->pairs);
        } else {
            PyErr_NoMemory();
        }
        *apart = *w;
        apart->shapes = a->shapes, apart->pairs = a->pairs, apart->margin = c->margin;
        a->has_clearance = true;
        if (c->has_self_margin && !PyErr_Occurred()) {
            apart->margins = a->margins = margins_of(apart, c->self_margin);
        }
    }
    PyMem_Free(obstacles);
    return !PyErr_Occurred();
}

// ---- Constraints of the caller's -----------------------------------------------------------------------------------------

// The corners of a polygon, (n, 3), which the call owns.
static bool take_polygon(PyObject *given, poise_constraint *c)
{
    numbers corners;
    if (given == Py_None) {
        return true;
    }
    if (!numbers_take_rows(&corners, given, "polygon", 3)) {
        return false;
    }
    poise_vec3 *copy = PyMem_Malloc((size_t)corners.count * sizeof(double) + 1);
    if (copy) {
        memcpy(copy, corners.at, (size_t)corners.count * sizeof(double));
        c->polygon = copy;
        c->corner_count = (int)(corners.count / 3);
    } else {
        PyErr_NoMemory();
    }
    numbers_release(&corners);
    return copy != NULL;
}

static bool take_constraint_parts(const model_object *m, PyObject *parts, poise_constraint *c)
{
    PyObject *body, *body2, *local, *target, *polygon, *axis;
    int kind;
    poise_pose frame, frame2;
    *c = poise_constraint_default(POISE_CONSTRAINT_CONNECT);
    bool ok = PyArg_ParseTuple(parts, "iOOOOdddOO", &kind, &body, &body2, &local, &target, &c->lower, &c->upper, &c->margin,
                               &polygon, &axis) &&
              take_body(m, body, &c->body, &frame) && take_body(m, body2, &c->body2, &frame2) &&
              pose_take(local, "the frame of a constraint", &c->local) &&
              pose_take(target, "the target of a constraint", &c->target) && take_vector(axis, "axis", &c->axis) &&
              take_polygon(polygon, c);
    if (ok) {
        c->kind = (poise_constraint_kind)kind;
        c->local = poise_pose_multiply(frame, c->local);
        c->target = poise_pose_multiply(frame2, c->target);
    }
    return ok;
}

static bool take_constraint(const model_object *m, PyObject *given, poise_constraint *c)
{
    PyObject *parts = PyObject_GetAttrString(given, "_constraint");
    if (!parts) {
        PyErr_Format(PyExc_TypeError, "constraints: use poise.weld, balance and the others, not %R", given);
        return false;
    }
    bool ok = take_constraint_parts(m, parts, c);
    Py_DecRef(parts);
    return ok;
}

// ---- All of a call -------------------------------------------------------------------------------------------------------

bool constraints_keyword(constraint_call *c, const char *text, PyObject *value)
{
    if (strcmp(text, "avoid") == 0) {
        c->avoid = PyObject_IsTrue(value) > 0;
    } else if (strcmp(text, "loops") == 0) {
        c->loops = PyObject_IsTrue(value) > 0;
    } else if (strcmp(text, "obstacles") == 0) {
        c->obstacles = value == Py_None ? NULL : value;
    } else if (strcmp(text, "constraints") == 0) {
        c->constraints = value == Py_None ? NULL : value;
    } else if (strcmp(text, "margin") == 0) {
        c->margin = PyFloat_AsDouble(value);
        c->has_margin = c->margin != 0;
    } else if (strcmp(text, "self_margin") == 0) {
        c->has_self_margin = value != Py_None;
        c->self_margin = c->has_self_margin ? PyFloat_AsDouble(value) : 0;
    } else if (strcmp(text, "allow_missing") == 0) {
        c->allow_missing = PyObject_IsTrue(value) > 0;
    } else if (strcmp(text, "neighbours") == 0) {
        c->neighbours = (int)PyLong_AsLong(value);
        c->has_neighbours = true;
    } else {
        return false;
    }
    return true;
}

static bool take_all(constraint_array *a, model_object *m, const constraint_call *c, bool avoids, Py_ssize_t obstacles,
                     Py_ssize_t own)
{
    if (avoids && !take_clearance(a, m, c, obstacles)) {
        return false;
    }
    for (int i = 0; c->loops && i < m->contents.loop_count; ++i) {
        a->list[a->count++] = m->contents.loops[i];
    }
    a->first_own = a->count;
    bool ok = true;
    for (Py_ssize_t i = 0; ok && i < own; ++i) {
        PyObject *one = PySequence_GetItem(c->constraints, i);
        ok = one && take_constraint(m, one, &a->list[a->count++]);
        Py_DecRef(one);
    }
    return ok;
}

// One that is not in a list will do. A new tuple; NULL for none, or with an exception.
static PyObject *as_many(PyObject *given, const char *attribute)
{
    if (!given) {
        return NULL;
    }
    return PyObject_HasAttrString(given, attribute) ? PyTuple_Pack(1, given) : PySequence_Tuple(given);
}

static bool take_within(constraint_array *a, model_object *m, const constraint_call *c)
{
    Py_ssize_t obstacles = c->obstacles ? PySequence_Size(c->obstacles) : 0;
    Py_ssize_t own = c->constraints ? PySequence_Size(c->constraints) : 0;
    if (obstacles < 0 || own < 0) {
        return false;
    }
    bool avoids = c->avoid || obstacles > 0;
    if (!avoids && (c->has_margin || c->has_self_margin || c->has_neighbours)) {
        PyErr_SetString(PyExc_ValueError, "margin, self_margin and neighbours are about shapes: add avoid=True");
        return false;
    }
    if (!avoids && own == 0 && (!c->loops || m->contents.loop_count == 0)) {
        return true;
    }
    a->list = PyMem_Calloc((size_t)(own + m->contents.loop_count) + 1, sizeof *a->list);
    if (!a->list) {
        PyErr_NoMemory();
        return false;
    }
    if (!take_all(a, m, c, avoids, obstacles, own)) {
        constraints_release(a);
        return false;
    }
    return true;
}

bool constraints_take(constraint_array *a, model_object *m, const constraint_call *given)
{
    constraint_call c = *given;
    *a = (constraint_array){0};
    c.obstacles = as_many(given->obstacles, "_parts");
    c.constraints = as_many(given->constraints, "_constraint");
    bool ok = !PyErr_Occurred() && take_within(a, m, &c);
    Py_DecRef(c.obstacles);
    Py_DecRef(c.constraints);
    return ok;
}

void constraints_release(constraint_array *a)
{
    for (int i = a->first_own; a->list && i < a->count; ++i) {
        PyMem_Free((void *)a->list[i].polygon);
    }
    PyMem_Free(a->list);
    PyMem_Free(a->shapes);
    PyMem_Free(a->pairs);
    PyMem_Free(a->margins);
    *a = (constraint_array){0};
}

bool constraints_fit_method(const constraint_array *a, poise_method method)
{
    if (a->count > 0 && method != POISE_METHOD_AUTO) {
        PyErr_Format(PyExc_ValueError,
                     "method=\"%s\" does not support constraints: omit it, or pass loops=False to ignore the loops of the "
                     "model's file, and no other constraints",
                     poise_method_name(method));
        return false;
    }
    return true;
}

// ---- As they are made ----------------------------------------------------------------------------------------------------

// check_shape(parts), check_constraint(parts): refuse numbers that no model could serve; bodies are None, and 0.
static PyObject *check_shape(PyObject *module, PyObject *parts)
{
    (void)module;
    const model_object any = {.model = (poise_model *)any_model()};
    poise_shape shape;
    poise_error error;
    if (!any.model || !take_shape_parts(&any, parts, &shape)) {
        return NULL;
    }
    return poise_shape_check(&shape, any.model, &error) == POISE_OK ? or_none(NULL) : raise_refusal(&error);
}

static PyObject *check_constraint(PyObject *module, PyObject *parts)
{
    (void)module;
    const model_object any = {.model = (poise_model *)any_model(), .info = {.joints = 1}};
    poise_constraint constraint;
    poise_error error;
    if (!any.model || !take_constraint_parts(&any, parts, &constraint)) {
        return NULL;
    }
    poise_status status = poise_constraint_check(&constraint, any.model, &error);
    PyMem_Free((void *)constraint.polygon);
    return status == POISE_OK ? or_none(NULL) : raise_refusal(&error);
}

static PyMethodDef functions[] = {
    {"check_shape", check_shape, METH_O, NULL},
    {"check_constraint", check_constraint, METH_O, NULL},
    {NULL, NULL, 0, NULL},
};

bool constraints_add(PyObject *module)
{
    return PyModule_AddFunctions(module, functions) == 0;
}

// ---- Reports -------------------------------------------------------------------------------------------------------------

PyObject *constraints_name(const constraint_array *a, const model_object *m, int blocking, int item)
{
    char text[300];
    if (blocking == POISE_NONE || blocking >= a->count) {
        return NULL;
    }
    poise_constraint_describe(&a->list[blocking], item, &m->contents, text, sizeof text);
    return PyUnicode_FromString(text);
}

bool constraints_report(const constraint_array *a, const model_object *m, poise_solver *solver, const poise_report *report,
                        PyObject **nearest, PyObject **blocking)
{
    char first[128], second[128];
    *nearest = NULL;
    *blocking = constraints_name(a, m, report->blocking, report->blocking_item);
    if (a->has_clearance && a->list[0].pair_count > 0) {
        int pair = 0;
        poise_solver_constraint_room(solver, 0, &pair);
        poise_shape_describe(&a->list[0], a->list[0].pairs[pair].a, &m->contents, first, sizeof first);
        poise_shape_describe(&a->list[0], a->list[0].pairs[pair].b, &m->contents, second, sizeof second);
        *nearest = Py_BuildValue("ss", first, second);
    }
    return !PyErr_Occurred();
}
