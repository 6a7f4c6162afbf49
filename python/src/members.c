// Members of structs by name: options as keywords, reports as attributes. The tables are made from the headers.
#include "extension.h"

#include <structmember.h>

#include <limits.h>
#include <stdio.h>
#include <string.h>

// ---- Options by name -----------------------------------------------------------------------------------------------------

const option *table_find(const table *members, const char *name)
{
    for (int i = 0; i < members->count; ++i) {
        if (strcmp(members->rows[i].name, name) == 0) {
            return &members->rows[i];
        }
    }
    return NULL;
}

// The name of a value; NULL beyond the last.
static const char *name_of(const option *row, int value)
{
    const char *name = row->choice ? row->choice(value) : poise_name(row->names, value);
    return name && strcmp(name, "unknown") != 0 ? name : NULL;
}

static const char *option_name_at(const void *members, int index)
{
    return ((const table *)members)->rows[index].name;
}

static const char *choice_at(const void *row, int index)
{
    return name_of(row, index);
}

static bool set_choice(int *member, const option *row, PyObject *value)
{
    const char *text = PyUnicode_Check(value) ? PyUnicode_AsUTF8AndSize(value, NULL) : NULL;
    const char *name;
    if (text && strcmp(text, "newton_projected") == 0) {
        text = "newton"; // as it was called
    }
    int count = 0;
    for (; (name = name_of(row, count)) != NULL; ++count) {
        if (text && strcmp(text, name) == 0) {
            *member = count;
            return true;
        }
    }
    const char *near = text ? poise_nearest_name(text, choice_at, row, count) : NULL;
    if (!PyErr_Occurred()) {
        char all[512] = "";
        for (int i = 0; (name = name_of(row, i)) != NULL; ++i) {
            size_t used = strlen(all);
            PyOS_snprintf(all + used, sizeof all - used, "%s%s", i ? ", " : "", name);
        }
        PyErr_Format(PyExc_ValueError,
                     near ? "%s=%R: did you mean \"%s\"? the choices are %s" : "%s=%R: %sthe choices are %s", row->name,
                     value, near ? near : "", all);
    }
    return false;
}

static bool set_member(void *member, const option *row, PyObject *value)
{
    switch (row->type) {
    case OPTION_NUMBER:
        *(double *)member = PyFloat_AsDouble(value);
        break;
    case OPTION_INTEGER: {
        long number = PyLong_AsLong(value);
        if (number > INT_MAX || number < INT_MIN) {
            PyErr_Format(PyExc_OverflowError, "%s=%R is too large", row->name, value);
        }
        *(int *)member = (int)number;
        break;
    }
    case OPTION_SEED:
        *(uint64_t *)member = PyLong_AsUnsignedLongLong(value);
        break;
    case OPTION_FLAG:
        *(bool *)member = PyObject_IsTrue(value) > 0;
        break;
    case OPTION_CHOICE:
        return set_choice(member, row, value);
    case OPTION_TEXT: // what a report says
        PyErr_Format(PyExc_TypeError, "%s cannot be set", row->name);
        break;
    }
    return !PyErr_Occurred();
}

// There is no such option: a name that is near, or all of them.
static void raise_no_option(const table *members, const char *what, const char *text)
{
    int count = members->count;
    const char *near = poise_nearest_name(text, option_name_at, members, count);
    char all[512] = "";
    for (size_t i = 0, used = 0; !near && i < (size_t)count && used + strlen(members->rows[i].name) + 3 < sizeof all; ++i) {
        used += (size_t)snprintf(all + used, sizeof all - used, "%s%s", i > 0 ? ", " : "", members->rows[i].name);
    }
    PyErr_Format(PyExc_TypeError,
                 near ? "%s has no option \"%s\"; did you mean \"%s\"?" : "%s has no option \"%s\"; there are %s", what,
                 text, near ? near : all);
}

// What the command calls differently.
static const char *option_name(const char *text)
{
    static const char *const names[][2] = {{"iterations", "max_iterations"}};
    for (size_t i = 0; text && i < sizeof names / sizeof *names; ++i) {
        if (strcmp(text, names[i][0]) == 0) {
            return names[i][1];
        }
    }
    return text;
}

bool option_set(void *options, const table *members, const char *what, PyObject *name, PyObject *value)
{
    const char *text = option_name(PyUnicode_AsUTF8AndSize(name, NULL));
    const option *row = text ? table_find(members, text) : NULL;
    if (row) {
        return set_member((char *)options + row->offset, row, value);
    }
    if (text) {
        raise_no_option(members, what, text);
    }
    return false;
}

bool options_set(void *options, const table *members, const char *what, PyObject *keywords)
{
    PyObject *name, *value;
    Py_ssize_t at = 0;
    while (keywords && PyDict_Next(keywords, &at, &name, &value)) {
        if (!option_set(options, members, what, name, value)) {
            return false;
        }
    }
    return true;
}

// ---- Reports -------------------------------------------------------------------------------------------------------------

PyObject *member_get(const void *object, const option *row)
{
    const void *member = (const char *)object + row->offset;
    switch (row->type) {
    case OPTION_NUMBER:
        return PyFloat_FromDouble(*(const double *)member);
    case OPTION_INTEGER:
        return PyLong_FromLong(*(const int *)member);
    case OPTION_SEED:
        return PyLong_FromUnsignedLongLong(*(const uint64_t *)member);
    case OPTION_FLAG:
        return PyBool_FromLong(*(const bool *)member);
    case OPTION_CHOICE: {
        const char *name = name_of(row, *(const int *)member);
        return PyUnicode_FromString(name ? name : "unknown");
    }
    case OPTION_TEXT: {
        const char *text = *(const char *const *)member;
        return text ? PyUnicode_FromString(text) : or_none(NULL);
    }
    }
    return NULL;
}

PyObject *members_out(const table *members, const void *object)
{
    PyObject *all = PyDict_New();
    for (int i = 0; all && i < members->count; ++i) {
        PyObject *value = member_get(object, &members->rows[i]);
        if (!value || PyDict_SetItemString(all, members->rows[i].name, value) != 0) {
            Py_DecRef(all);
            all = NULL;
        }
        Py_DecRef(value);
    }
    return all;
}

// A member, and where the struct lies in the object that has it.
typedef struct place {
    const option *row;
    size_t base;
} place;

static PyObject *get_attribute(PyObject *self, void *closure)
{
    const place *at = closure;
    return member_get((const char *)self + at->base, at->row);
}

PyGetSetDef *attributes_of(const table *members, size_t base, const PyGetSetDef *own)
{
    size_t count = 0, used = 0;
    while (own[count].name) {
        ++count;
    }
    PyGetSetDef *all = PyMem_Calloc(count + (size_t)members->count + 1, sizeof *all);
    place *places = PyMem_Malloc((size_t)members->count * sizeof *places);
    if (!all || !places) {
        PyMem_Free(all);
        PyMem_Free(places);
        PyErr_NoMemory();
        return NULL;
    }
    for (; used < count; ++used) {
        all[used] = own[used];
    }
    for (int i = 0; i < members->count; ++i) {
        const option *row = &members->rows[i];
        bool is_own = false;
        for (size_t k = 0; k < count; ++k) {
            is_own = is_own || strcmp(own[k].name, row->name) == 0;
        }
        places[i] = (place){row, base};
        if (!is_own) {
            all[used++] = (PyGetSetDef){row->name, get_attribute, NULL, row->text, &places[i]};
        }
    }
    return all;
}

// The rows of a table that are not among the first items, from number `i` on; -1: there are no more.
static int next_row(const char *const first[][2], const table *members, int i)
{
    for (; i < members->count; ++i) {
        bool is_first = false;
        for (int k = 0; first[k][0]; ++k) {
            is_first = is_first || strcmp(first[k][0], members->rows[i].name) == 0;
        }
        if (!is_first) {
            return i;
        }
    }
    return -1;
}

PyTypeObject *report_type_add(PyObject *module, const char *name, const char *text, const char *const first[][2],
                              const table *members)
{
    int count = 0;
    while (first[count][0]) {
        ++count;
    }
    PyStructSequence_Field *fields = PyMem_Calloc((size_t)(count + members->count) + 1, sizeof *fields);
    if (!fields) {
        return (PyTypeObject *)PyErr_NoMemory();
    }
    int used = 0;
    for (; used < count; ++used) {
        fields[used] = (PyStructSequence_Field){first[used][0], first[used][1]};
    }
    for (int i = next_row(first, members, 0); i >= 0; i = next_row(first, members, i + 1)) {
        fields[used++] = (PyStructSequence_Field){members->rows[i].name, members->rows[i].text};
    }
    PyStructSequence_Desc description = {.name = name, .doc = text, .fields = fields, .n_in_sequence = count};
    return row_type_add(module, &description); // the type keeps the fields
}

// A member by its name in a tuple.
static const option *member_of(const table *members, const char *name)
{
    char longer[64];
    snprintf(longer, sizeof longer, "is_%s", name);
    const option *row = table_find(members, name);
    return row ? row : table_find(members, longer);
}

PyObject *report_row(PyTypeObject *type, const char *const first[][2], const table *members, const void *report,
                     bool reached)
{
    PyObject *made = PyStructSequence_New(type);
    int used = 0;
    for (; made && first[used][0]; ++used) {
        const option *row = member_of(members, first[used][0]);
        PyStructSequence_SetItem(made, used, row ? member_get(report, row) : PyBool_FromLong(reached));
    }
    for (int i = next_row(first, members, 0); made && i >= 0; i = next_row(first, members, i + 1)) {
        PyStructSequence_SetItem(made, used++, member_get(report, &members->rows[i]));
    }
    return made;
}
