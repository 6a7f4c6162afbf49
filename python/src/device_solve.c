// Model.solve_batch over arrays in the memory of a CUDA device. libpoise_cuda is loaded when the first of them comes
// (poise/device.py), so that the package does without CUDA.
#include "extension.h"

#include "device_array.h"

#include <poise/cuda.h>
#include <string.h>

enum { DEVICE_RESTARTS = 300, LEAST_CAPACITY = 1 << 12, MOST_CAPACITY = 1 << 20, ALIGNMENT = 256 };

// ---- The library ---------------------------------------------------------------------------------------------------------

// Its calls, in the order of poise/device.py.
static struct calls {
    poise_status (*create)(const poise_model *, const poise_goal *, int, const poise_cuda_options *, poise_cuda **,
                           poise_error *);
    void (*destroy)(poise_cuda *);
    poise_status (*solve)(poise_cuda *, const poise_cuda_arrays *, const poise_cuda_answer_arrays *, int64_t, void *,
                          int64_t *, poise_error *);
    poise_status (*allocate)(int, size_t, void **, poise_error *);
    void (*release)(int, void *);
} cuda;

// Load it, once. False with an exception that says where it was looked for.
static bool library_is_ready(void)
{
    if (cuda.create) {
        return true;
    }
    void *found[sizeof cuda / sizeof(void *)];
    enum { COUNT = sizeof found / sizeof *found };
    PyObject *module = PyImport_ImportModule("poise.device");
    PyObject *addresses = module ? PyObject_CallMethod(module, "load", NULL) : NULL;
    bool ok = addresses && PyTuple_Check(addresses) && PyTuple_Size(addresses) == COUNT;
    for (int i = 0; ok && i < COUNT; ++i) {
        found[i] = PyLong_AsVoidPtr(PyTuple_GetItem(addresses, i));
        ok = found[i] != NULL;
    }
    if (ok) {
        memcpy(&cuda, found, sizeof cuda);
    } else if (!PyErr_Occurred()) {
        PyErr_SetString(PyExc_RuntimeError, "poise.device.load gave other calls than those that are wanted");
    }
    Py_DecRef(addresses);
    Py_DecRef(module);
    return ok;
}

// ---- Engines -------------------------------------------------------------------------------------------------------------

// Memory on a device for one kind of problem, which the model keeps for the next call of that kind.
struct idle_engine {
    poise_cuda *cuda;
    poise_cuda_options options;
    int body;
    poise_pose local;
};

void model_release_engine(model_object *m)
{
    if (m->engine) {
        cuda.destroy(m->engine->cuda);
        PyMem_Free(m->engine);
        m->engine = NULL;
    }
}

// The model's engine if it is of this kind and large enough, otherwise a new one. No two threads have the same one. NULL
// with an exception.
static struct idle_engine *engine_take(model_object *m, const device_call *call, int device, int64_t count)
{
    struct idle_engine wanted = {.options = poise_cuda_options_default(), .body = call->body, .local = call->local},
                       *idle = m->engine;
    wanted.options.solver = *call->solver;
    wanted.options.device = device;
    wanted.options.host_memory = false;
    wanted.options.device_arrays = true;
    wanted.options.capacity = LEAST_CAPACITY;
    while (wanted.options.capacity < count && wanted.options.capacity < MOST_CAPACITY) {
        wanted.options.capacity *= 2;
    }
    m->engine = NULL;
    if (idle && idle->body == wanted.body && memcmp(&idle->local, &wanted.local, sizeof wanted.local) == 0 &&
        idle->options.device == device && idle->options.capacity >= wanted.options.capacity &&
        solver_options_equal(&idle->options.solver, call->solver, m->info.nv)) {
        return idle;
    }
    poise_goal goal = poise_goal_pose(wanted.body, wanted.local, poise_pose_identity());
    struct idle_engine *made = idle ? idle : PyMem_Malloc(sizeof *made);
    if (idle) {
        cuda.destroy(idle->cuda);
    }
    poise_error error = {.status = POISE_ERROR_MEMORY};
    poise_status status = POISE_ERROR_MEMORY;
    if (made) {
        *made = wanted;
        Py_BEGIN_ALLOW_THREADS;
        status = cuda.create(m->model, &goal, 1, &wanted.options, &made->cuda, &error);
        Py_END_ALLOW_THREADS;
    }
    if (status != POISE_OK) {
        PyMem_Free(made);
        raise_refusal(&error);
        return NULL;
    }
    return made;
}

static void engine_give_back(model_object *m, struct idle_engine *engine)
{
    model_release_engine(m); // of another thread
    m->engine = engine;
}

// ---- Arguments -----------------------------------------------------------------------------------------------------------

typedef struct device_arrays {
    device_view targets, starts, out;
    int64_t count;
} device_arrays;

static bool on_same_device(const device_arrays *a, const device_view *other, const char *what)
{
    int here = a->targets.tensor.device.number, there = other->tensor.device.number;
    if (here != there) {
        PyErr_Format(PyExc_ValueError, "%s: is on cuda:%d, but the targets are on cuda:%d; move them to one device", what,
                     there, here);
    }
    return here == there;
}

static bool take_targets(device_arrays *a, PyObject *targets)
{
    if (!device_view_take(&a->targets, targets, "targets")) {
        return false;
    }
    const dl_tensor *t = &a->targets.tensor;
    a->count = t->shape[0];
    if ((t->axes == 2 && t->shape[1] == 7) || (t->axes == 3 && t->shape[1] == 4 && t->shape[2] == 4)) {
        return true;
    }
    PyErr_SetString(PyExc_ValueError, "targets: expected an array of shape (N, 4, 4) or (N, 7)");
    return false;
}

// One row of nq numbers, or one for each target. False with an exception.
static bool take_rows(device_arrays *a, device_view *view, PyObject *object, int nq, bool may_be_one, const char *what)
{
    if (!device_holds(object)) {
        PyErr_Format(PyExc_TypeError, "%s: the targets are on a device, and so must be %s: expected its array on cuda:%d",
                     what, what, (int)a->targets.tensor.device.number);
        return false;
    }
    if (!device_view_take(view, object, what) || !on_same_device(a, view, what)) {
        return false;
    }
    const dl_tensor *t = &view->tensor;
    if (t->shape[t->axes - 1] == nq &&
        ((t->axes == 1 && may_be_one) || (t->axes == 2 && (t->shape[0] == a->count || (may_be_one && t->shape[0] == 1))))) {
        return true;
    }
    PyErr_Format(PyExc_ValueError, "%s: expected an array of shape (%zd, %d)%s", what, (Py_ssize_t)a->count, nq,
                 may_be_one ? " or of one row" : "");
    return false;
}

static bool take_arrays(device_arrays *a, const device_call *call, int nq)
{
    return take_targets(a, call->targets) && (!call->start || take_rows(a, &a->starts, call->start, nq, true, "q")) &&
           (!call->out || (take_rows(a, &a->out, call->out, nq, false, "out") && device_view_is_writable(&a->out, "out")));
}

static poise_cuda_view view_of(const device_view *view)
{
    const dl_tensor *t = &view->tensor;
    poise_cuda_view out = {.at = (const char *)t->data + t->byte_offset, .is_float = t->type.bits == 32};
    if (t->axes == 3) {
        out.strides[1] = device_view_stride(view, 1);
    }
    out.strides[0] = t->axes > 1 && t->shape[0] > 1 ? device_view_stride(view, 0) : 0;
    out.strides[2] = device_view_stride(view, t->axes - 1);
    return out;
}

// ---- Answers -------------------------------------------------------------------------------------------------------------

static PyTypeObject *device_report_type;

enum { Q, COST, WORST_LENGTH, WORST_ANGLE, RESTARTS, OUTCOME, REACHED, ARRAYS }; // that come out

static PyStructSequence_Field fields[] = {
    {"reached", "is the target met?"},
    {"restarts", "number of the search that met it"},
    {"cost", "at the end"},
    {"worst_length", "distance from the target in length units"},
    {"worst_angle", "angle from the target in radians"},
    {"outcome", "0 reached, 1 closest, 2 stalled, 3 budget, 5 refused"},
    {NULL, NULL},
};
static const int array_of_field[] = {REACHED, RESTARTS, COST, WORST_LENGTH, WORST_ANGLE, OUTCOME};
enum { FIELDS = sizeof array_of_field / sizeof *array_of_field };

static PyStructSequence_Desc description = {
    .name = "poise.DeviceReport",
    .doc = "How the solves of a batch on a device went: arrays on the device with a number for each problem.",
    .fields = fields,
    .n_in_sequence = FIELDS,
};

static const dl_type array_type[ARRAYS] = {
    [Q] = {DL_FLOAT, 64, 1},           [COST] = {DL_FLOAT, 64, 1},       [WORST_LENGTH] = {DL_FLOAT, 64, 1},
    [WORST_ANGLE] = {DL_FLOAT, 64, 1}, [RESTARTS] = {DL_INTEGER, 32, 1}, [OUTCOME] = {DL_INTEGER, 32, 1},
    [REACHED] = {DL_BOOL, 8, 1}};

// Where they begin in one block of memory; its size.
static size_t lay_out(int64_t count, int nq, bool has_q, size_t offsets[ARRAYS])
{
    size_t size = 0;
    for (int i = has_q ? Q : Q + 1; i < ARRAYS; ++i) {
        offsets[i] = size;
        size_t bytes = (size_t)count * (size_t)(i == Q ? nq : 1) * array_type[i].bits / 8;
        size += (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    }
    return size;
}

static poise_cuda_answer_arrays answers_in(char *memory, const size_t offsets[ARRAYS])
{
    return (poise_cuda_answer_arrays){.q = (void *)(memory + offsets[Q]),
                                      .reached = (void *)(memory + offsets[REACHED]),
                                      .outcome = (void *)(memory + offsets[OUTCOME]),
                                      .restarts = (void *)(memory + offsets[RESTARTS]),
                                      .cost = (void *)(memory + offsets[COST]),
                                      .length = (void *)(memory + offsets[WORST_LENGTH]),
                                      .angle = (void *)(memory + offsets[WORST_ANGLE])};
}

// The answers, or the caller's array that they are in, and the report. NULL with an exception.
static PyObject *wrap(device_block *block, char *memory, const size_t offsets[ARRAYS], int64_t count, int nq, PyObject *out)
{
    PyObject *report = PyStructSequence_New(device_report_type);
    for (int i = 0; report && i < FIELDS; ++i) {
        int which = array_of_field[i];
        PyObject *column = device_array_make(block, memory + offsets[which], array_type[which], 1, &count);
        if (!column) {
            Py_DecRef(report);
            return NULL;
        }
        PyStructSequence_SetItem(report, i, column);
    }
    PyObject *q = out ? out : device_array_make(block, memory + offsets[Q], array_type[Q], 2, (const int64_t[]){count, nq});
    PyObject *result = report && q ? PyTuple_Pack(2, q, report) : NULL;
    if (!out) {
        Py_DecRef(q);
    }
    Py_DecRef(report);
    return result;
}

// ---- The call ------------------------------------------------------------------------------------------------------------

// Raise what a call refused, or the first problem that was. True: there is none.
static bool is_done(poise_status status, const poise_error *error, int64_t refused, bool marks)
{
    if (status != POISE_OK) {
        raise_refusal(error);
    } else if (refused >= 0 && !marks) {
        PyErr_Format(error_type,
                     "problem %lld: numbers must be finite, quaternions of length 1 and matrices a rotation to 1e-3 above "
                     "0 0 0 1; on_error=\"mark\" solves the others",
                     (long long)refused);
    } else {
        return true;
    }
    return false;
}

static PyObject *solve_arrays(model_object *m, const device_call *call, device_arrays *a, struct idle_engine *engine)
{
    size_t offsets[ARRAYS] = {0};
    int nq = m->info.nq, device = a->targets.tensor.device.number;
    size_t size = lay_out(a->count, nq, !call->out, offsets);
    poise_error error;
    void *memory;
    if (cuda.allocate(device, size, &memory, &error) != POISE_OK) {
        return raise_refusal(&error);
    }
    device_block *block = device_block_make(device, memory, cuda.release);
    if (!block) {
        return NULL;
    }
    poise_cuda_answer_arrays answers = answers_in(memory, offsets);
    if (call->out) {
        answers.q = (double *)((char *)a->out.tensor.data + a->out.tensor.byte_offset);
    }
    poise_cuda_arrays from = {.targets = view_of(&a->targets), .targets_are_matrices = a->targets.tensor.axes == 3};
    if (call->start) {
        from.starts = view_of(&a->starts);
    }
    int64_t refused = -1;
    poise_status status;
    Py_BEGIN_ALLOW_THREADS;
    status = cuda.solve(engine->cuda, &from, &answers, a->count, NULL, &refused, &error);
    Py_END_ALLOW_THREADS;
    PyObject *result =
        is_done(status, &error, refused, call->marks) ? wrap(block, memory, offsets, a->count, nq, call->out) : NULL;
    device_block_drop(block);
    return result;
}

PyObject *device_solve(model_object *m, const device_call *given)
{
    device_call call = *given;
    poise_solver_options options = *given->solver;
    options.restarts = given->has_restarts || given->start ? options.restarts : DEVICE_RESTARTS;
    call.solver = &options;
    device_arrays a = {.count = 0};
    PyObject *result = NULL;
    if (take_arrays(&a, &call, m->info.nq) && library_is_ready()) {
        struct idle_engine *engine = engine_take(m, &call, a.targets.tensor.device.number, a.count);
        if (engine) {
            result = solve_arrays(m, &call, &a, engine);
            engine_give_back(m, engine);
        }
    }
    device_view_release(&a.targets);
    device_view_release(&a.starts);
    device_view_release(&a.out);
    return result;
}

bool device_add(PyObject *module)
{
    device_report_type = row_type_add(module, &description);
    return device_report_type && device_array_add(module);
}
