// Model.fk, jacobian, tensor, center_of_mass, evaluate: where bodies are, and derivatives.
#include "extension.h"

#include <string.h>

// The kinematics of the model at q: the idle one that it keeps, or a new one when another thread has that.
static poise_kinematics *kinematics_take(model_object *m, bool *own)
{
    *own = m->kinematics_busy || !m->kinematics;
    poise_kinematics *k = m->kinematics;
    if (*own) {
        poise_error error;
        if (poise_kinematics_create(m->model, NULL, &k, &error) != POISE_OK) {
            raise_refusal(&error);
            return NULL;
        }
        if (!m->kinematics) {
            m->kinematics = k;
            *own = false;
        }
    }
    if (!*own) {
        m->kinematics_busy = true;
    }
    return k;
}

static void kinematics_give_back(model_object *m, poise_kinematics *k, bool own)
{
    if (own) {
        poise_kinematics_destroy(k);
    } else {
        m->kinematics_busy = false;
    }
}

// The array that was made, done with its numbers; NULL where an exception came in between, or where there is none.
static PyObject *finished(PyObject *array, numbers *out)
{
    if (array) {
        numbers_release(out);
    }
    if (PyErr_Occurred()) {
        Py_DecRef(array);
        return NULL;
    }
    return array;
}

// ---- Poses ---------------------------------------------------------------------------------------------------------------

static void write_matrix(double out[16], const double rotation[9], const double position[3])
{
    for (int i = 0; i < 3; ++i) {
        memcpy(out + 4 * i, rotation + 3 * i, 3 * sizeof *out);
        out[4 * i + 3] = position[i];
    }
    memcpy(out + 12, (const double[4]){0, 0, 0, 1}, 4 * sizeof *out);
}

static void body_matrix(const poise_kinematics *k, int body, double out[16])
{
    double rotation[9], position[3];
    poise_kinematics_body_frame(k, body, rotation, position);
    write_matrix(out, rotation, position);
}

static void frame_matrix(const poise_kinematics *k, int body, const poise_pose *local, double out[16])
{
    poise_pose pose = poise_pose_multiply(poise_kinematics_body_pose(k, body), *local);
    double rotation[9];
    poise_quat_to_matrix(pose.rotation, rotation);
    write_matrix(out, rotation, (const double[3]){pose.position.x, pose.position.y, pose.position.z});
}

// What fk writes for each configuration: the frame of one body, or (body POISE_NONE) all bodies.
typedef struct wanted {
    int body;
    bool is_tool;
    poise_pose local;
} wanted;

static poise_status sweep(model_object *m, poise_kinematics *k, const numbers *q, const wanted *w, double *out,
                          poise_error *error)
{
    Py_ssize_t rows = q->axes == 2 ? q->shape[0] : 1; // a robot without moving joints has rows of no numbers
    for (Py_ssize_t row = 0; row < rows; ++row) {
        poise_status status = poise_kinematics_update(k, q->at + row * m->info.nq, error);
        if (status != POISE_OK) {
            return status;
        }
        if (w->body != POISE_NONE) {
            if (w->is_tool) {
                frame_matrix(k, w->body, &w->local, out);
            } else {
                body_matrix(k, w->body, out);
            }
            out += 16;
            continue;
        }
        for (int body = 0; body < m->info.joints; ++body, out += 16) {
            body_matrix(k, body, out);
        }
    }
    return POISE_OK;
}

static bool is_identity(const poise_pose *pose)
{
    return pose->rotation.w == 1 && pose->position.x == 0 && pose->position.y == 0 && pose->position.z == 0;
}

PyObject *model_fk(PyObject *self, PyObject *arguments, PyObject *keywords)
{
    static char *names[] = {"q", "body", NULL};
    model_object *m = (model_object *)self;
    PyObject *given, *body = Py_None;
    numbers q, out;
    wanted w = {.body = POISE_NONE};
    if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "O|O:fk", names, &given, &body) ||
        (body != Py_None && !model_body(m, body, &w.body, &w.local)) || !numbers_take_rows(&q, given, "q", m->info.nq)) {
        return NULL;
    }
    if (!ask_for_degrees(m->model, "q", q.at, q.count / (m->info.nq > 0 ? m->info.nq : 1))) {
        numbers_release(&q);
        return NULL;
    }
    w.is_tool = body != Py_None && !is_identity(&w.local);
    const Py_ssize_t shape[] = {m->info.joints, 4, 4};
    PyObject *array = body == Py_None ? numbers_make_for(&out, &q, 3, shape) : numbers_make_for(&out, &q, 2, shape + 1);
    bool own;
    poise_kinematics *k = array ? kinematics_take(m, &own) : NULL;
    if (k) {
        poise_error error;
        poise_status status;
        Py_BEGIN_ALLOW_THREADS;
        status = sweep(m, k, &q, &w, out.at, &error);
        Py_END_ALLOW_THREADS;
        kinematics_give_back(m, k, own);
        if (status != POISE_OK) {
            raise_refusal(&error);
        }
    }
    numbers_release(&q);
    return finished(array, &out);
}

// ---- Derivatives ---------------------------------------------------------------------------------------------------------

// A point of a body whose derivatives are wanted: its Jacobian (order 1) or its tensor (order 2).
typedef struct differentiated {
    int body, order;
    poise_vec3 local;
} differentiated;

static poise_status derive(const model_object *m, poise_kinematics *k, const numbers *q, const differentiated *d,
                           double *out, poise_error *error)
{
    Py_ssize_t nq = m->info.nq, nv = m->info.nv, size = d->order == 1 ? 6 * nv : 3 * nv * nv;
    poise_status status = POISE_OK;
    for (const double *at = q->at; at < q->at + q->count && status == POISE_OK; at += nq, out += size) {
        status = poise_kinematics_update(k, at, error);
        if (status == POISE_OK) {
            status = d->order == 1 ? poise_kinematics_jacobian(k, d->body, d->local, out, out + 3 * nv, error)
                                   : poise_kinematics_point_tensor(k, d->body, d->local, out, error);
        }
    }
    return status;
}

static PyObject *derivative(PyObject *self, PyObject *arguments, PyObject *keywords, int order)
{
    static char *names[] = {"q", "body", "point", NULL};
    model_object *m = (model_object *)self;
    PyObject *given, *name, *at = NULL;
    numbers q, out;
    differentiated d = {.order = order};
    poise_pose frame;
    double point[3] = {0, 0, 0};
    if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "OO|O", names, &given, &name, &at) ||
        !model_body(m, name, &d.body, &frame) || (at && !numbers_copy(at, "point", point, 3)) ||
        !numbers_take_rows(&q, given, "q", m->info.nq)) {
        return NULL;
    }
    d.local = poise_pose_transform(frame, (poise_vec3){point[0], point[1], point[2]});
    const Py_ssize_t shape[] = {order == 1 ? 6 : 3, m->info.nv, m->info.nv};
    PyObject *array = numbers_make_for(&out, &q, order + 1, shape);
    bool own;
    poise_kinematics *k = array ? kinematics_take(m, &own) : NULL;
    if (k) {
        poise_error error;
        poise_status status;
        Py_BEGIN_ALLOW_THREADS;
        status = derive(m, k, &q, &d, out.at, &error);
        Py_END_ALLOW_THREADS;
        kinematics_give_back(m, k, own);
        if (status != POISE_OK) {
            raise_refusal(&error);
        }
    }
    numbers_release(&q);
    return finished(array, &out);
}

PyObject *model_jacobian(PyObject *self, PyObject *arguments, PyObject *keywords)
{
    return derivative(self, arguments, keywords, 1);
}

PyObject *model_tensor(PyObject *self, PyObject *arguments, PyObject *keywords)
{
    return derivative(self, arguments, keywords, 2);
}

// ---- The centre of mass --------------------------------------------------------------------------------------------------

// (3) the place, or (3, nv) its Jacobian, of one configuration or of rows.
static PyObject *mass_center(model_object *m, PyObject *given, bool is_jacobian)
{
    numbers q, out;
    if (!numbers_take_rows(&q, given, "q", m->info.nq)) {
        return NULL;
    }
    const Py_ssize_t shape[] = {3, m->info.nv};
    PyObject *array = numbers_make_for(&out, &q, is_jacobian ? 2 : 1, shape);
    bool own;
    poise_kinematics *k = array ? kinematics_take(m, &own) : NULL;
    if (k) {
        double mass = 1, *to = out.at;
        poise_error error;
        poise_status status = POISE_OK;
        for (const double *at = q.at; at < q.at + q.count && status == POISE_OK && mass > 0; at += m->info.nq) {
            poise_vec3 center;
            status = poise_kinematics_update(k, at, &error);
            mass = poise_kinematics_mass_center(k, &center, is_jacobian ? to : NULL);
            if (!is_jacobian) {
                memcpy(to, (const double[3]){center.x, center.y, center.z}, 3 * sizeof *to);
            }
            to += is_jacobian ? 3 * m->info.nv : 3;
        }
        kinematics_give_back(m, k, own);
        if (status != POISE_OK) {
            raise_refusal(&error);
        } else if (!(mass > 0)) {
            PyErr_SetString(error_type, "the model has no mass: its file gives none");
        }
    }
    numbers_release(&q);
    return finished(array, &out);
}

PyObject *model_center_of_mass(PyObject *self, PyObject *q)
{
    return mass_center((model_object *)self, q, false);
}

PyObject *model_center_of_mass_jacobian(PyObject *self, PyObject *q)
{
    return mass_center((model_object *)self, q, true);
}

PyObject *model_mass(PyObject *self, void *closure)
{
    (void)closure;
    model_object *m = (model_object *)self;
    bool own;
    poise_kinematics *k = kinematics_take(m, &own);
    if (!k) {
        return NULL;
    }
    double mass = poise_kinematics_mass_center(k, NULL, NULL);
    kinematics_give_back(m, k, own);
    return PyFloat_FromDouble(mass);
}

// ---- The sum of goals ----------------------------------------------------------------------------------------------------

// Which Hessian: 0 exact, 1 Gauss-Newton, 2 none. -1 with an exception.
static int hessian_kind(PyObject *name)
{
    if (name == Py_None) {
        return 2;
    }
    const char *text = name && PyUnicode_Check(name) ? PyUnicode_AsUTF8AndSize(name, NULL) : "exact";
    if (text && strcmp(text, "exact") == 0) {
        return POISE_HESSIAN_EXACT;
    }
    if (text && strcmp(text, "gauss_newton") == 0) {
        return POISE_HESSIAN_GAUSS_NEWTON;
    }
    PyErr_Format(PyExc_ValueError, "hessian=%R: expected \"exact\", \"gauss_newton\" or None", name);
    return -1;
}

static PyObject *evaluate_at(model_object *m, const goal_array *goals, const numbers *q, int kind)
{
    poise_objective *objective;
    poise_error error;
    if (poise_objective_create(m->model, goals_coupled(goals), NULL, &objective, &error) != POISE_OK) {
        return raise_refusal(&error);
    }
    PyObject *result = NULL, *gradient = NULL, *hessian = NULL;
    numbers H;
    if (poise_objective_set_goals(objective, goals->goals, goals->count, &error) != POISE_OK ||
        poise_objective_evaluate(objective, q->at, kind == 2 ? POISE_LEVEL_GRADIENT : POISE_LEVEL_HESSIAN, &error) !=
            POISE_OK) {
        raise_refusal(&error);
    } else if (kind == 2) {
        hessian = Py_None;
        Py_IncRef(hessian);
    } else {
        hessian = numbers_make(&H, 2, (const Py_ssize_t[]){m->info.nv, m->info.nv});
        if (hessian) {
            if (poise_objective_hessian(objective, (poise_hessian)kind, H.at, &error) != POISE_OK) {
                raise_refusal(&error);
            }
            numbers_release(&H);
        }
    }
    if (hessian && !PyErr_Occurred()) {
        gradient = vector_of(poise_objective_value(objective).gradient, m->info.nv);
        result = gradient ? Py_BuildValue("dOO", poise_objective_value(objective).cost, gradient, hessian) : NULL;
    }
    Py_DecRef(gradient);
    Py_DecRef(hessian);
    poise_objective_destroy(objective);
    return result;
}

PyObject *model_evaluate(PyObject *self, PyObject *arguments, PyObject *keywords)
{
    static char *names[] = {"goals", "q", "hessian", NULL};
    model_object *m = (model_object *)self;
    PyObject *given, *at, *name = NULL;
    goal_array goals;
    numbers q;
    if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "OO|$O:evaluate", names, &given, &at, &name)) {
        return NULL;
    }
    int kind = name ? hessian_kind(name) : POISE_HESSIAN_EXACT;
    if (kind < 0 || !goals_take(&goals, m, given)) {
        return NULL;
    }
    PyObject *result = NULL;
    if (numbers_take_count(&q, at, "q", m->info.nq)) {
        result = evaluate_at(m, &goals, &q, kind);
        numbers_release(&q);
    }
    return goals_finish(&goals, result);
}
