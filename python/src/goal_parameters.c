// Parameters of goals: how each is set and read, a row of `parameters` each.
#include "goals.h"

#include <math.h>
#include <string.h>

// ---- Setting -------------------------------------------------------------------------------------------------------------

static poise_vec3 vector(const double *at)
{
    return (poise_vec3){at[0], at[1], at[2]};
}

// A rotation from a (3, 3) matrix or a quaternion x y z w.
static bool rotation_take(PyObject *object, const char *what, poise_quat *rotation)
{
    numbers array;
    if (!numbers_take(&array, object, what)) {
        return false;
    }
    const double *n = array.at;
    bool ok = array.count == 4 || array.count == 9;
    if (array.count == 4) {
        *rotation = poise_quat_normalize((poise_quat){n[0], n[1], n[2], n[3]});
    } else if (array.count == 9) {
        const double matrix[16] = {n[0], n[1], n[2], 0, n[3], n[4], n[5], 0, n[6], n[7], n[8], 0, 0, 0, 0, 1};
        poise_pose pose;
        ok = pose_from_numbers(matrix, 16, what, &pose);
        *rotation = pose.rotation;
    } else {
        PyErr_Format(PyExc_ValueError, "%s: expected a (3, 3) matrix or a quaternion x y z w", what);
    }
    numbers_release(&array);
    return ok;
}

static bool vector_take(PyObject *object, const char *what, poise_vec3 *out)
{
    double xyz[3];
    if (!numbers_copy(object, what, xyz, 3)) {
        return false;
    }
    *out = vector(xyz);
    return true;
}

static bool set_name(PyObject **place, PyObject *value, const char *what)
{
    if (!PyUnicode_Check(value) && !PyLong_Check(value)) {
        PyErr_Format(PyExc_TypeError, "%s: expected a name or an index, got %R", what, (PyObject *)Py_TYPE(value));
        return false;
    }
    Py_IncRef(value);
    Py_DecRef(*place);
    *place = value;
    return true;
}

static bool set_body(goal_object *g, PyObject *value)
{
    return set_name(&g->body, value, "body");
}

static bool set_other(goal_object *g, PyObject *value)
{
    return set_name(&g->body2, value, "other");
}

static bool set_target(goal_object *g, PyObject *value)
{
    switch (g->goal.kind) {
    case POISE_GOAL_POSE:
    case POISE_GOAL_RELATIVE:
        return pose_take(value, "target", &g->goal.target);
    case POISE_GOAL_ORIENTATION:
        return rotation_take(value, "target", &g->goal.target.rotation);
    default:
        return vector_take(value, "target", &g->goal.target.position);
    }
}

// unit directions: made so here, so that any length will do
static bool set_unit(poise_vec3 *place, PyObject *value, const char *what)
{
    poise_vec3 v;
    if (!vector_take(value, what, &v)) {
        return false;
    }
    poise_goal made = poise_goal_direction(0, v, v);
    *place = made.axis;
    return true;
}

static bool set_direction(goal_object *g, PyObject *value)
{
    return set_unit(&g->goal.direction, value, "direction");
}

static bool set_axis(goal_object *g, PyObject *value)
{
    return set_unit(&g->goal.axis, value, "axis");
}

static bool set_point(goal_object *g, PyObject *value)
{
    return vector_take(value, "point", &g->goal.local.position);
}

static bool set_local(goal_object *g, PyObject *value)
{
    return pose_take(value, "local", &g->goal.local);
}

// Half the width of a band by axis; one number holds for all three.
static bool band_take(PyObject *value, const char *what, poise_vec3 *band)
{
    if (!PyFloat_Check(value) && !PyLong_Check(value)) {
        return vector_take(value, what, band);
    }
    double half = PyFloat_AsDouble(value);
    *band = (poise_vec3){half, half, half};
    return !PyErr_Occurred();
}

static bool set_tolerance(goal_object *g, PyObject *value)
{
    return band_take(value, "tolerance", &g->goal.tolerance);
}

static bool set_rotation_tolerance(goal_object *g, PyObject *value)
{
    return band_take(value, "rotation_tolerance", &g->goal.rotation_tolerance);
}

// an array that the goal points to: held, not copied, so that a caller may write the next frame into it
static bool set_array(goal_object *g, int which, PyObject *value, const char *what, const double **place)
{
    numbers array;
    if (!numbers_take(&array, value, what)) {
        return false;
    }
    if (g->has_array[which]) {
        numbers_release(&g->arrays[which]);
    }
    g->arrays[which] = array;
    g->has_array[which] = true;
    *place = array.at;
    return true;
}

static bool set_q(goal_object *g, PyObject *value)
{
    return set_array(g, 0, value, "q", &g->goal.q);
}

static bool set_q_before(goal_object *g, PyObject *value)
{
    return value == Py_None || set_array(g, 1, value, "q_before", &g->goal.q_before);
}

static bool set_weights(goal_object *g, PyObject *value)
{
    return value == Py_None || set_array(g, 2, value, "weights", &g->goal.q_weights);
}

static bool set_function(goal_object *g, PyObject *value)
{
    if (!PyCallable_Check(value)) {
        PyErr_Format(PyExc_TypeError, "function: expected something to call with a pose, got %R", value);
        return false;
    }
    Py_IncRef(value);
    Py_DecRef(g->function.call);
    g->function.call = value;
    g->goal.function = goal_function_ask;
    g->goal.user = &g->function;
    return true;
}

#define KIND(name) (1u << POISE_GOAL_##name)
enum {
    PLACED = KIND(POSITION) | KIND(AIM) | KIND(PLANE) | KIND(LINE) | KIND(DISTANCE), // a point of a body
    FRAMED = KIND(POSE) | KIND(RELATIVE),
    TURNED = FRAMED | KIND(ORIENTATION),
    PLAIN = KIND(POSTURE) | KIND(SMOOTHNESS),
    ALL = (1u << POISE_GOAL_KIND_COUNT) - 1,
    BODIED = ALL & ~(PLAIN | KIND(CENTER_OF_MASS)),
};

// ---- Reading -------------------------------------------------------------------------------------------------------------

static PyObject *vector_out(poise_vec3 v)
{
    return vector_of((const double[]){v.x, v.y, v.z}, 3);
}

static PyObject *rotation_out(poise_quat rotation)
{
    double R[9];
    poise_quat_to_matrix(rotation, R);
    return array_of(R, 2, (const Py_ssize_t[]){3, 3});
}

static PyObject *pose_out(poise_pose pose)
{
    double R[9];
    poise_quat_to_matrix(pose.rotation, R);
    const double T[16] = {R[0], R[1], R[2], pose.position.x, R[3], R[4], R[5], pose.position.y,
                          R[6], R[7], R[8], pose.position.z, 0,    0,    0,    1};
    return array_of(T, 2, (const Py_ssize_t[]){4, 4});
}

static PyObject *get_body(const goal_object *g)
{
    return or_none(g->body);
}

static PyObject *get_other(const goal_object *g)
{
    return or_none(g->body2);
}

static PyObject *get_target(const goal_object *g)
{
    return g->goal.kind == POISE_GOAL_ORIENTATION                                   ? rotation_out(g->goal.target.rotation)
           : g->goal.kind == POISE_GOAL_POSE || g->goal.kind == POISE_GOAL_RELATIVE ? pose_out(g->goal.target)
                                                                                    : vector_out(g->goal.target.position);
}

static PyObject *get_direction(const goal_object *g)
{
    return vector_out(g->goal.direction);
}

static PyObject *get_axis(const goal_object *g)
{
    return vector_out(g->goal.axis);
}

static PyObject *get_point(const goal_object *g)
{
    return vector_out(g->goal.local.position);
}

static PyObject *get_local(const goal_object *g)
{
    return pose_out(g->goal.local);
}

static PyObject *get_tolerance(const goal_object *g)
{
    return vector_out(g->goal.tolerance);
}

static PyObject *get_rotation_tolerance(const goal_object *g)
{
    return vector_out(g->goal.rotation_tolerance);
}

static PyObject *get_array(const goal_object *g, int which)
{
    return or_none(g->has_array[which] ? g->arrays[which].view.obj : NULL);
}

static PyObject *get_q(const goal_object *g)
{
    return get_array(g, 0);
}

static PyObject *get_q_before(const goal_object *g)
{
    return get_array(g, 1);
}

static PyObject *get_weights(const goal_object *g)
{
    return get_array(g, 2);
}

static PyObject *get_function(const goal_object *g)
{
    return or_none(g->function.call);
}

// ---- The table -----------------------------------------------------------------------------------------------------------

// What a constructor takes, by name: how to set and to read it, or, where these are NULL, a member of poise_goal.
typedef struct parameter {
    const char *name;
    unsigned kinds;
    bool (*set)(goal_object *goal, PyObject *value);
    PyObject *(*get)(const goal_object *goal);
} parameter;

static const parameter parameters[] = {
    {"body", BODIED, set_body, get_body},
    {"other", KIND(RELATIVE), set_other, get_other},
    {"target", PLACED | TURNED | KIND(CENTER_OF_MASS), set_target, get_target},
    {"direction", KIND(DIRECTION) | KIND(LINE), set_direction, get_direction},
    {"normal", KIND(PLANE), set_direction, get_direction},
    {"axis", KIND(DIRECTION) | KIND(AIM), set_axis, get_axis},
    {"point", PLACED, set_point, get_point},
    {"local", TURNED, set_local, get_local},
    {"distance", KIND(DISTANCE), NULL, NULL},
    {"q", PLAIN, set_q, get_q},
    {"q_before", KIND(SMOOTHNESS), set_q_before, get_q_before},
    {"weights", PLAIN, set_weights, get_weights},
    {"function", KIND(CALLBACK), set_function, get_function},
    {"weight", ALL, NULL, NULL},
    {"rotation_weight", FRAMED, NULL, NULL},
    {"priority", ALL, NULL, NULL},
    {"tolerance", KIND(POSITION) | KIND(POSE), set_tolerance, get_tolerance},
    {"rotation_tolerance", KIND(ORIENTATION) | KIND(POSE), set_rotation_tolerance, get_rotation_tolerance},
    {"loss", PLACED | KIND(POSE), NULL, NULL},
    {"loss_scale", PLACED | KIND(POSE), NULL, NULL},
};
enum { PARAMETER_COUNT = sizeof parameters / sizeof *parameters };

static const parameter *parameter_of(const goal_object *g, const char *name)
{
    for (int i = 0; i < PARAMETER_COUNT; ++i) {
        if (strcmp(parameters[i].name, name) == 0 && (parameters[i].kinds >> g->goal.kind & 1)) {
            return &parameters[i];
        }
    }
    return NULL;
}

bool goal_set(goal_object *g, const char *name, PyObject *value)
{
    const parameter *p = parameter_of(g, name);
    if (p && p->set) {
        return p->set(g, value);
    }
    if (p) {
        PyObject *key = PyUnicode_FromString(name);
        bool ok = key && option_set(&g->goal, &goal_table, "a goal", key, value);
        Py_DecRef(key);
        return ok;
    }
    PyErr_Format(PyExc_TypeError, "a goal of kind \"%s\" takes no \"%s\"", poise_goal_kind_name(g->goal.kind), name);
    return false;
}

PyObject *goal_get(const goal_object *g, const char *name)
{
    const parameter *p = parameter_of(g, name);
    if (!p) {
        return PyErr_Format(PyExc_AttributeError, "a goal of kind \"%s\" has no \"%s\"", poise_goal_kind_name(g->goal.kind),
                            name);
    }
    return p->get ? p->get(g) : member_get(&g->goal, table_find(&goal_table, name));
}

// ---- Are they what a solve takes? ----------------------------------------------------------------------------------------

const poise_model *any_model(void)
{
    static poise_model *model;
    poise_builder *builder = NULL;
    poise_joint joint = poise_joint_default();
    joint.name = "any";
    joint.type = POISE_JOINT_REVOLUTE;
    joint.mass = 1;
    if (!model && (poise_builder_create(NULL, &builder, NULL) != POISE_OK ||
                   poise_builder_add_joint(builder, &joint, NULL) != POISE_OK ||
                   poise_model_create(builder, NULL, &model, NULL) != POISE_OK)) {
        PyErr_NoMemory();
    }
    poise_builder_destroy(builder);
    return model;
}

bool goal_is_sound(const goal_object *g)
{
    static const double zero[1] = {0};
    poise_goal goal = g->goal;
    poise_error error;
    goal.body = 0;
    goal.body2 = POISE_WORLD;
    goal.q = zero; // arrays are looked at by the solve
    goal.q_before = goal.q_weights = NULL;
    const poise_model *model = any_model();
    if (model && poise_goal_check(&goal, model, &error) != POISE_OK) {
        raise_refusal(&error);
        return false;
    }
    return model != NULL;
}

// ---- Many of a kind ------------------------------------------------------------------------------------------------------

// A copy that looks at the same arrays. NULL with an exception.
static goal_object *copy_of(const goal_object *g)
{
    goal_object *made = (goal_object *)PyType_GenericAlloc(goal_type, 0);
    if (!made) {
        return NULL;
    }
    made->goal = g->goal;
    made->body = g->body;
    made->body2 = g->body2;
    Py_IncRef(made->body);
    Py_IncRef(made->body2);
    static bool (*const setters[GOAL_ARRAYS])(goal_object *, PyObject *) = {set_q, set_q_before, set_weights};
    for (int i = 0; i < GOAL_ARRAYS; ++i) {
        if (g->has_array[i] && !setters[i](made, g->arrays[i].view.obj)) {
            Py_DecRef((PyObject *)made);
            return NULL;
        }
    }
    return made;
}

static const poise_quat no_rotation = {NAN, NAN, NAN, NAN}; // solves refuse it

// The target of a row of 3, 4, 7, 9 or 16 numbers. Unchecked, but a matrix that is no rotation is none here.
static void set_row(poise_goal *goal, const double *n, int size)
{
    if (goal->kind == POISE_GOAL_DIRECTION) {
        goal->direction = poise_goal_direction(0, vector(n), vector(n)).axis;
    } else if (size == 3) {
        goal->target.position = vector(n);
    } else if (size == 4) {
        goal->target.rotation = poise_quat_normalize((poise_quat){n[0], n[1], n[2], n[3]});
    } else if (size == 9) {
        const double matrix[16] = {n[0], n[1], n[2], 0, n[3], n[4], n[5], 0, n[6], n[7], n[8], 0, 0, 0, 0, 1};
        bool turns = poise_pose_from_matrix(matrix, NULL);
        goal->target.rotation = turns ? poise_quat_normalize(poise_quat_from_matrix(n)) : no_rotation;
    } else {
        bool turns = size == 7 || poise_pose_from_matrix(n, NULL);
        goal->target = pose_of(n, size);
        goal->target.rotation = turns ? poise_quat_normalize(goal->target.rotation) : no_rotation;
    }
}

// Does the shape of targets suit a goal of this kind? False with an exception.
static bool rows_suit(const numbers *targets, poise_goal_kind kind)
{
    unsigned bit = 1u << kind;
    bool is_square = targets->axes == 3 && targets->shape[1] == targets->shape[2];
    Py_ssize_t width = targets->axes == 2 ? targets->shape[1] : 0, side = is_square ? targets->shape[1] : 0;
    bool suits = bit & FRAMED              ? width == 7 || side == 4
                 : bit & KIND(ORIENTATION) ? width == 4 || side == 3
                 : bit & KIND(POSTURE)     ? width > 0
                                           : width == 3;
    if (!suits) {
        PyErr_Format(PyExc_ValueError, "targets of a %s goal: expected an array of shape %s", poise_goal_kind_name(kind),
                     bit & FRAMED              ? "(N, 4, 4) or (N, 7)"
                     : bit & KIND(ORIENTATION) ? "(N, 3, 3) or (N, 4)"
                     : bit & KIND(POSTURE)     ? "(N, nq)"
                                               : "(N, 3)");
    }
    return suits;
}

// One goal for row i of `targets`, which `array` holds.
static PyObject *goal_at(const goal_object *g, const numbers *targets, PyObject *array, Py_ssize_t i)
{
    goal_object *one = copy_of(g);
    int size = (int)(targets->shape[1] * (targets->axes == 3 ? targets->shape[2] : 1));
    if (one && g->goal.kind == POISE_GOAL_POSTURE) {
        PyObject *row = PySequence_GetItem(array, i);
        bool ok = row && set_q(one, row);
        Py_DecRef(row);
        if (!ok) {
            Py_DecRef((PyObject *)one);
            return NULL;
        }
    } else if (one) {
        set_row(&one->goal, targets->at + i * size, size);
    }
    return (PyObject *)one;
}

PyObject *goal_each(PyObject *self, PyObject *given)
{
    const goal_object *g = (const goal_object *)self;
    if (g->goal.kind == POISE_GOAL_CALLBACK || g->goal.kind == POISE_GOAL_SMOOTHNESS) {
        return PyErr_Format(PyExc_TypeError, "a goal of kind \"%s\" has no target", poise_goal_kind_name(g->goal.kind));
    }
    numbers targets;
    if (!numbers_take(&targets, given, "targets")) {
        return NULL;
    }
    PyObject *list = rows_suit(&targets, g->goal.kind) ? PyList_New(targets.shape[0]) : NULL;
    for (Py_ssize_t i = 0; list && i < targets.shape[0]; ++i) {
        PyObject *one = goal_at(g, &targets, targets.view.obj, i);
        if (!one) {
            Py_DecRef(list);
            list = NULL;
            break;
        }
        PyList_SetItem(list, i, one);
    }
    numbers_release(&targets);
    return list;
}
