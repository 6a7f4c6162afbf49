// read, write and scene: from bytes to models, clips and markers, and back. python/poise/files.py gives them their shape.
//
// A clip travels as (q, frame_time, start_time), markers as (labels, positions, rate, start_time, metres, up).
#include "extension.h"

#include "scenes/scenes.h"

#include <limits.h>
#include <string.h>

// ---- Out -----------------------------------------------------------------------------------------------------------------

PyObject *array_of(const double *values, int axes, const Py_ssize_t *shape)
{
    numbers out;
    PyObject *array = numbers_make(&out, axes, shape);
    if (array) {
        if (out.count > 0) {
            memcpy(out.at, values, (size_t)out.count * sizeof *values);
        }
        numbers_release(&out);
    }
    return array;
}

static PyObject *none(void)
{
    Py_IncRef(Py_None);
    return Py_None;
}

PyObject *clip_out(const poise_clip *clip)
{
    PyObject *q = clip ? array_of(clip->q, 2, (const Py_ssize_t[]){clip->frames, clip->nq}) : NULL;
    return clip ? q ? Py_BuildValue("Ndd", q, clip->frame_time, clip->start_time) : NULL : none();
}

PyObject *markers_out(const poise_markers *m)
{
    if (!m) {
        return none();
    }
    PyObject *labels = PyList_New(m->count);
    for (int i = 0; labels && i < m->count; ++i) {
        PyList_SetItem(labels, i, PyUnicode_DecodeUTF8(m->label[i], (Py_ssize_t)strlen(m->label[i]), "replace"));
    }
    PyObject *positions = array_of(&m->position->x, 3, (const Py_ssize_t[]){m->frames, m->count, 3});
    if (!labels || !positions || PyErr_Occurred()) {
        Py_DecRef(labels);
        Py_DecRef(positions);
        return NULL;
    }
    return Py_BuildValue("NNdddi", labels, positions, m->rate, m->start_time, m->scale.metres, (int)m->scale.up);
}

static PyObject *postures_out(const poise_file *file, int nq)
{
    PyObject *all = PyDict_New();
    for (int i = 0; all && i < file->posture_count; ++i) {
        PyObject *q = vector_of(file->postures[i].q, nq);
        if (!q || PyDict_SetItemString(all, file->postures[i].name, q) != 0) {
            Py_DecRef(all);
            all = NULL;
        }
        Py_DecRef(q);
    }
    return all;
}

static PyObject *placements_out(const poise_file *file)
{
    PyObject *all = PyDict_New();
    for (int i = 0; all && i < file->placement_count; ++i) {
        const poise_placement *p = &file->placements[i];
        PyObject *entry = Py_BuildValue("i(ddd)d", p->body, p->local.x, p->local.y, p->local.z, p->weight);
        if (!entry || PyDict_SetItemString(all, p->label, entry) != 0) {
            Py_DecRef(all);
            all = NULL;
        }
        Py_DecRef(entry);
    }
    return all;
}

// Pairs of bodies that may touch, by name.
static PyObject *excluded_out(const poise_file *file, const poise_model *model)
{
    PyObject *all = PyList_New(0);
    for (int i = 0; all && i < file->excluded_count; ++i) {
        poise_pair pair = file->excluded[i];
        PyObject *names =
            Py_BuildValue("zz", poise_model_joint_info(model, pair.a).body, poise_model_joint_info(model, pair.b).body);
        if (!names || PyList_Append(all, names) != 0) {
            Py_DecRef(all);
            all = NULL;
        }
        Py_DecRef(names);
    }
    return all;
}

static PyObject *warnings_out(const poise_file *file)
{
    PyObject *all = PyList_New(0);
    for (int i = 0; all && i < file->warning_count; ++i) {
        const poise_warning *w = &file->warnings[i];
        PyObject *text = w->line > 0 ? PyUnicode_FromFormat("line %d: %s", w->line, w->text) : PyUnicode_FromString(w->text);
        if (!text || PyList_Append(all, text) != 0) {
            Py_DecRef(all);
            all = NULL;
        }
        Py_DecRef(text);
    }
    return all;
}

// All parts, in a dictionary; *owner is NULL where the model has taken the file with it.
PyObject *file_out(poise_file **owner, const poise_model *read_for)
{
    poise_file *file = *owner;
    const poise_model *about = file->model ? file->model : read_for;
    int nq = about ? poise_model_info(about).nq : 0;
    PyObject *model = file->model ? model_wrap_file(owner) : none();
    PyObject *clip = model ? clip_out(file->clip) : NULL;
    PyObject *markers = clip ? markers_out(file->markers) : NULL;
    PyObject *postures = markers ? postures_out(file, nq) : NULL;
    PyObject *placements = postures ? placements_out(file) : NULL;
    PyObject *excluded = placements ? excluded_out(file, about) : NULL;
    PyObject *warnings = excluded ? warnings_out(file) : NULL;
    if (!warnings) {
        Py_DecRef(excluded);
        Py_DecRef(placements);
        Py_DecRef(clip);
        Py_DecRef(markers);
        Py_DecRef(postures);
        Py_DecRef(model); // last: it may hold the file
        return NULL;
    }
    return Py_BuildValue("{s:s,s:z,s:N,s:N,s:N,s:N,s:N,s:N,s:N,s:d,s:i}", "format", poise_format_name(file->format), "title",
                         file->title, "model", model, "clip", clip, "markers", markers, "postures", postures, "placements",
                         placements, "excluded", excluded, "warnings", warnings, "metres", file->scale.metres, "up",
                         (int)file->scale.up);
}

// ---- Reading -------------------------------------------------------------------------------------------------------------

// Files that a file names come from a function of Python's, whose answers are kept until the read is over.
typedef struct loader {
    PyObject *function;
    PyObject *kept; // a list
} loader;

static poise_status load_named(void *user, const char *name, const void **bytes, size_t *size)
{
    loader *l = user;
    PyObject *answer = PyObject_CallFunction(l->function, "s", name);
    char *data;
    Py_ssize_t length;
    if (!answer || PyBytes_AsStringAndSize(answer, &data, &length) != 0 || PyList_Append(l->kept, answer) != 0) {
        PyErr_Clear();
        Py_DecRef(answer);
        return POISE_ERROR_NOT_FOUND;
    }
    Py_DecRef(answer);
    *bytes = data;
    *size = (size_t)length;
    return POISE_OK;
}

static PyObject *read_bytes(PyObject *module, PyObject *arguments, PyObject *keywords)
{
    (void)module;
    static char *names[] = {
        "data", "name", "model", "floating", "animation", "animation_name", "load", "meshes", "ignore_follower_limits",
        NULL};
    const char *data, *name;
    Py_ssize_t size;
    PyObject *model = Py_None, *load = Py_None;
    int floating = 0, meshes = 0, ignores = 0;
    poise_read_options options = {0};
    if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "y#s|$OpizOpp", names, &data, &size, &name, &model, &floating,
                                     &options.animation, &options.animation_name, &load, &meshes, &ignores)) {
        return NULL;
    }
    model_object *m = model == Py_None ? NULL : model_of(model);
    loader l = {.function = load, .kept = PyList_New(0)};
    if (PyErr_Occurred()) {
        Py_DecRef(l.kept);
        return NULL;
    }
    options.name = name;
    options.model = m ? m->model : NULL;
    options.floating = floating;
    options.meshes = meshes;
    options.ignore_follower_limits = ignores;
    options.load = load == Py_None ? NULL : load_named;
    options.user = &l;
    poise_file *file;
    poise_error error;
    poise_status status = poise_read(data, (size_t)size, &options, NULL, &file, &error);
    Py_DecRef(l.kept);
    if (status != POISE_OK) {
        return raise_refusal(&error);
    }
    PyObject *result = file_out(&file, m ? m->model : NULL);
    poise_file_destroy(file);
    return result;
}

// Where a file may be that one in a folder names: a list of paths.
static PyObject *named_files(PyObject *module, PyObject *arguments)
{
    (void)module;
    const char *folder, *name;
    if (!PyArg_ParseTuple(arguments, "ss:named_files", &folder, &name)) {
        return NULL;
    }
    size_t size = strlen(folder) + strlen(name) + 64; // and "../" some times
    char *path = PyMem_Malloc(size);
    PyObject *all = path ? PyList_New(0) : PyErr_NoMemory();
    for (int i = 0; all && poise_named_file(folder, name, i, path, size); ++i) {
        PyObject *text = PyUnicode_FromString(path);
        if (!text || PyList_Append(all, text) != 0) {
            Py_DecRef(all);
            all = NULL;
        }
        Py_DecRef(text);
    }
    PyMem_Free(path);
    return all;
}

// ---- Writing -------------------------------------------------------------------------------------------------------------

poise_clip *clip_in(PyObject *given, const model_object *m)
{
    PyObject *array;
    double frame_time, start_time;
    numbers q;
    poise_clip *clip = NULL;
    poise_error error;
    if (!PyArg_ParseTuple(given, "Odd", &array, &frame_time, &start_time) || !numbers_take(&q, array, "clip")) {
        return NULL;
    }
    if (!m || q.axes != 2 || q.shape[1] != m->info.nq || q.shape[0] > INT_MAX) {
        PyErr_SetString(PyExc_ValueError, "a clip has rows of nq numbers, and a model that it moves");
    } else if (poise_clip_create((int)q.shape[0], m->info.nq, frame_time, NULL, &clip, &error) != POISE_OK) {
        raise_refusal(&error);
    } else {
        clip->start_time = start_time;
        memcpy(clip->q, q.at, (size_t)q.view.len);
    }
    numbers_release(&q);
    return clip;
}

static poise_markers *markers_fill(PyObject *labels, const numbers *positions, double rate)
{
    int count = (int)positions->shape[1];
    const char **names = PyMem_Malloc((size_t)count * sizeof *names + 1);
    poise_markers *markers = NULL;
    poise_error error;
    for (int i = 0; names && i < count; ++i) {
        names[i] = PyUnicode_AsUTF8AndSize(PyTuple_GetItem(labels, i), NULL);
        if (!names[i]) {
            PyMem_Free(names);
            return NULL;
        }
    }
    if (!names) {
        PyErr_NoMemory();
    } else if (poise_markers_create((int)positions->shape[0], count, rate, names, NULL, &markers, &error) != POISE_OK) {
        raise_refusal(&error);
    } else {
        memcpy(markers->position, positions->at, (size_t)positions->view.len);
    }
    PyMem_Free(names);
    return markers;
}

poise_markers *markers_in(PyObject *given)
{
    PyObject *labels, *array;
    double rate, start_time, metres;
    int up;
    numbers positions;
    poise_markers *markers = NULL;
    if (!PyArg_ParseTuple(given, "O!Odddi", &PyTuple_Type, &labels, &array, &rate, &start_time, &metres, &up) ||
        !numbers_take(&positions, array, "positions")) {
        return NULL;
    }
    if (positions.axes != 3 || positions.shape[2] != 3 || positions.shape[1] != PyTuple_Size(labels) ||
        positions.shape[0] > INT_MAX || up < 0 || up > 3) {
        PyErr_SetString(PyExc_ValueError, "markers: expected positions (frames, markers, 3) and as many labels");
    } else {
        markers = markers_fill(labels, &positions, rate);
    }
    if (markers) {
        markers->start_time = start_time;
        markers->scale = (poise_scale){metres, (poise_up)up};
    }
    numbers_release(&positions);
    return markers;
}

// resample_markers(markers, rate) -> markers
static PyObject *resample_markers(PyObject *module, PyObject *arguments)
{
    (void)module;
    PyObject *given, *out = NULL;
    double rate;
    poise_markers *markers = PyArg_ParseTuple(arguments, "Od", &given, &rate) ? markers_in(given) : NULL, *made = NULL;
    poise_error error;
    if (markers) {
        poise_status status = poise_markers_resample(markers, rate, NULL, &made, &error);
        out = status == POISE_OK ? markers_out(made) : raise_refusal(&error);
        poise_markers_destroy(made);
    }
    poise_markers_destroy(markers);
    return out;
}

// The bytes of a file, and the list of what it cannot hold.
static PyObject *write_file(const poise_file *file, const char *name)
{
    enum { MOST_LOST = 16 };
    poise_format format = poise_format_detect(NULL, 0, name);
    poise_warning lost[MOST_LOST];
    int count = MOST_LOST;
    void *bytes;
    size_t size;
    poise_error error;
    if (format == POISE_FORMAT_UNKNOWN) {
        PyErr_Format(error_type, "%s: no format has this extension", name);
        return NULL;
    }
    if (poise_write(file, format, NULL, &bytes, &size, lost, &count, &error) != POISE_OK) {
        return raise_refusal(&error);
    }
    PyObject *result = PyBytes_FromStringAndSize(bytes, (Py_ssize_t)size), *texts = PyList_New(0);
    poise_bytes_release(NULL, bytes);
    for (int i = 0; texts && i < count && i < MOST_LOST; ++i) {
        PyObject *text = PyUnicode_FromString(lost[i].text);
        if (text) {
            PyList_Append(texts, text);
        }
        Py_DecRef(text);
    }
    return Py_BuildValue("NN", result, texts);
}

static PyObject *write_bytes(PyObject *module, PyObject *arguments)
{
    (void)module;
    const char *name;
    PyObject *model, *clip, *markers;
    poise_file file = {0};
    int up;
    if (!PyArg_ParseTuple(arguments, "sOOOdi", &name, &model, &clip, &markers, &file.scale.metres, &up)) {
        return NULL;
    }
    file.scale.up = up >= 0 && up <= 3 ? (poise_up)up : POISE_UP_UNKNOWN;
    model_object *m = model == Py_None ? NULL : model_of(model);
    if (m) {
        poise_scale scale = file.scale;
        file = m->contents;
        file.scale = scale;
    }
    if (!PyErr_Occurred() && clip != Py_None) {
        file.clip = clip_in(clip, m);
    }
    if (!PyErr_Occurred() && markers != Py_None) {
        file.markers = markers_in(markers);
    }
    PyObject *result = PyErr_Occurred() ? NULL : write_file(&file, name);
    poise_clip_destroy(file.clip);
    poise_markers_destroy(file.markers);
    return result;
}

// ---- Scenes --------------------------------------------------------------------------------------------------------------

static PyObject *scene(PyObject *module, PyObject *name)
{
    (void)module;
    const char *text = PyUnicode_AsUTF8AndSize(name, NULL);
    poise_model *model;
    poise_error error;
    if (!text) {
        return NULL;
    }
    poise_status status = scene_create(text, NULL, &model, &error);
    if (status == POISE_ERROR_NOT_FOUND) {
        return PyErr_Format(error_type, "%s%s", error.text, strchr(error.text, ';') ? "" : "; poise.scenes() lists them");
    }
    return status == POISE_OK ? model_wrap(model) : raise_refusal(&error);
}

static PyObject *scenes(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    PyObject *all = PyDict_New();
    for (int i = 0; all && i < scene_count(); ++i) {
        PyObject *text = PyUnicode_FromString(scene_description(i));
        if (!text || PyDict_SetItemString(all, scene_name(i), text) != 0) {
            Py_DecRef(all);
            all = NULL;
        }
        Py_DecRef(text);
    }
    return all;
}

static PyMethodDef functions[] = {
    {"read", (PyCFunction)(void (*)(void))read_bytes, METH_VARARGS | METH_KEYWORDS, NULL},
    {"write", write_bytes, METH_VARARGS, NULL},
    {"resample_markers", resample_markers, METH_VARARGS, NULL},
    {"named_files", named_files, METH_VARARGS, NULL},
    {"scene", scene, METH_O,
     "scene($module, name)\n--\n\nOne of the skeletons that come with Poise; poise.scenes() lists them."},
    {"scenes", scenes, METH_NOARGS, "scenes($module)\n--\n\nThe skeletons that come with Poise, names and what they are."},
    {NULL, NULL, 0, NULL},
};

bool files_add(PyObject *module)
{
    return PyModule_AddFunctions(module, functions) == 0;
}
