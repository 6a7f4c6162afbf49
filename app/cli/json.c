// JSON as a tree of values.
#include "json.h"
#include "io/json.h"
#include "io/text.h"
#include "load.h"
#include "system/system.h"
#include "terminal.h"
#include "words.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

// ---- Making values -------------------------------------------------------------------------------------------------------

json_node *json_new(json_kind kind)
{
    json_node *value = calloc(1, sizeof *value);
    if (value) {
        value->kind = kind;
    }
    return value;
}

void json_release(json_node *value)
{
    if (!value) {
        return;
    }
    for (json_node *child = value->first, *next; child; child = next) {
        next = child->next;
        json_release(child);
    }
    free(value->key);
    free(value->text);
    free(value);
}

json_node *json_from_integer(long long integer)
{
    json_node *value = json_new(JSON_INTEGER);
    if (value) {
        value->integer = integer;
        value->number = (double)integer;
    }
    return value;
}

json_node *json_from_bool(bool is_true)
{
    return json_new(is_true ? JSON_TRUE : JSON_FALSE);
}

json_node *json_from_number(double number)
{
    json_node *value = json_new(isfinite(number) ? JSON_REAL : JSON_NULL);
    if (value) {
        value->number = number;
    }
    return value;
}

json_node *json_from_numbers(const double *numbers, int count)
{
    json_node *array = json_new(JSON_ARRAY);
    for (int i = 0; i < count; ++i) {
        json_append(array, json_from_number(numbers[i]));
    }
    return array;
}

json_node *json_from_vec3(poise_vec3 v)
{
    return json_from_numbers((double[]){v.x, v.y, v.z}, 3);
}

json_node *json_from_quat(poise_quat q)
{
    return json_from_numbers((double[]){q.x, q.y, q.z, q.w}, 4);
}

json_node *json_from_text(const char *text)
{
    json_node *value = json_new(text ? JSON_TEXT : JSON_NULL);
    char *copy = value && text ? strdup(text) : NULL;
    if (!copy) {
        if (text) {
            json_release(value);
            value = NULL;
        }
        return value;
    }
    const char *end = copy + strlen(copy);
    if (pz_utf8_check(copy, end) < end) {
        for (char *c = copy; *c; ++c) {
            *c = (unsigned char)*c < 0x80 ? *c : '?';
        }
    }
    value->text = copy;
    return value;
}

void json_append(json_node *array, json_node *value)
{
    if (!array || !value) {
        json_release(value);
        return;
    }
    *(array->last ? &array->last->next : &array->first) = value;
    array->last = value;
    array->count += 1;
}

void json_set(json_node *object, const char *key, json_node *value)
{
    char *copy = object && value ? strdup(key) : NULL;
    if (!copy) {
        json_release(value);
        return;
    }
    value->key = copy;
    json_node *before = NULL, *old = object->first;
    while (old && strcmp(old->key, key) != 0) {
        before = old;
        old = old->next;
    }
    if (!old) {
        json_append(object, value);
        return;
    }
    value->next = old->next;
    *(before ? &before->next : &object->first) = value;
    object->last = object->last == old ? value : object->last;
    old->next = NULL;
    json_release(old);
}

void json_merge(json_node *object, json_node *other)
{
    while (other && other->first) {
        json_node *member = other->first;
        char *key = member->key;
        other->first = member->next;
        member->next = NULL;
        member->key = NULL;
        json_set(object, key, member);
        free(key);
    }
    json_release(other);
}

json_node *json_copy(const json_node *value)
{
    json_node *copy = value ? json_new(value->kind) : NULL;
    if (!copy) {
        return NULL;
    }
    copy->number = value->number;
    copy->integer = value->integer;
    copy->text = value->text ? strdup(value->text) : NULL;
    for (const json_node *child = value->first; child; child = child->next) {
        if (child->key) {
            json_set(copy, child->key, json_copy(child));
        } else {
            json_append(copy, json_copy(child));
        }
    }
    return copy;
}

// ---- Values by a format --------------------------------------------------------------------------------------------------

typedef struct maker {
    const char *at; // of the format
    va_list values;
    bool is_broken;
} maker;

static json_node *make_value(maker *m);

// The values between brackets; what separates them in the format is passed over.
static json_node *make_list(maker *m, json_kind kind, char bracket)
{
    json_node *list = json_new(kind);
    while (*m->at && *m->at != bracket) {
        if (strchr(" ,", *m->at)) {
            m->at += 1;
            continue;
        }
        const char *key = NULL;
        if (kind == JSON_OBJECT) {
            m->at += 2; // s:
            key = va_arg(m->values, const char *);
        }
        json_node *value = make_value(m);
        m->is_broken = m->is_broken || !value;
        if (key) {
            json_set(list, key, value);
        } else {
            json_append(list, value);
        }
    }
    m->at += *m->at == bracket;
    return list;
}

static json_node *make_value(maker *m)
{
    switch (*m->at++) {
    case '{':
        return make_list(m, JSON_OBJECT, '}');
    case '[':
        return make_list(m, JSON_ARRAY, ']');
    case 's':
        return json_from_text(va_arg(m->values, const char *));
    case 'i':
        return json_from_integer(va_arg(m->values, int));
    case 'I':
        return json_from_integer(va_arg(m->values, long long));
    case 'f':
        return json_from_number(va_arg(m->values, double));
    case 'b':
        return json_from_bool(va_arg(m->values, int) != 0);
    default:
        return va_arg(m->values, json_node *);
    }
}

json_node *json_make(const char *format, ...)
{
    maker m = {.at = format};
    va_start(m.values, format);
    json_node *value = make_value(&m);
    va_end(m.values);
    if (m.is_broken) {
        json_release(value);
        return NULL;
    }
    return value;
}

json_node *json_from_names(const void *user, const char *(*at)(const void *user, int index), int count)
{
    json_node *list = json_new(JSON_ARRAY);
    for (int i = 0; i < count; ++i) {
        json_append(list, json_from_text(at(user, i)));
    }
    return list;
}

json_node *json_from_times(const latency *times)
{
    const double us = 1e6;
    return json_make("{s:f, s:f, s:f, s:f}", "mean", us * latency_mean(times), "p50", us * latency_quantile(times, 0.5),
                     "p99", us * latency_quantile(times, 0.99), "max", us * times->largest);
}

json_node *json_from_coordinates(const poise_model *model)
{
    json_node *list = json_new(JSON_ARRAY);
    for (int i = 0; i < poise_model_info(model).nq; ++i) {
        char label[128];
        coordinate_label(model, i, label, sizeof label);
        json_node *text = json_from_text(label);
        json_append(list, text ? text : json_new(JSON_NULL));
    }
    return list;
}

json_node *json_from_limits(const poise_model *model, int (*side)(const void *user, int i), const void *user)
{
    json_node *list = json_new(JSON_ARRAY);
    for (int i = 0; i < poise_model_info(model).nq; ++i) {
        int at = side(user, i);
        if (at != 0) {
            const char *joint = poise_model_joint_info(model, poise_model_coordinate(model, i).joint).name;
            json_append(list,
                        json_make("{s:s, s:i, s:s}", "joint", joint, "coordinate", i, "side", at < 0 ? "lower" : "upper"));
        }
    }
    return list;
}

// ---- Asking --------------------------------------------------------------------------------------------------------------

bool json_is(const json_node *value, json_kind kind)
{
    return value && value->kind == kind;
}

bool json_is_number(const json_node *value)
{
    return json_is(value, JSON_INTEGER) || json_is(value, JSON_REAL);
}

int json_count(const json_node *list)
{
    return list ? list->count : 0;
}

double json_number_of(const json_node *value)
{
    return json_is_number(value) ? value->number : 0;
}

const char *json_text_of(const json_node *value)
{
    return json_is(value, JSON_TEXT) ? value->text : NULL;
}

json_node *json_get(const json_node *object, const char *key)
{
    json_node *member = json_is(object, JSON_OBJECT) ? object->first : NULL;
    while (member && strcmp(member->key, key) != 0) {
        member = member->next;
    }
    return member;
}

// ---- Reading -------------------------------------------------------------------------------------------------------------

static json_node *number_from(const char *text, const pz_json_value *value)
{
    const char *c = text + value->place;
    c += strspn(c, "-0123456789");
    const double exact = 9007199254740992.0; // 2^53
    double x = value->is.number;
    bool is_integer = *c != '.' && *c != 'e' && *c != 'E' && fabs(x) <= exact;
    return is_integer ? json_from_integer((long long)x) : json_from_number(x);
}

static json_node *node_from(const char *text, const pz_json_value *value)
{
    json_node *node;
    switch ((pz_json_type)value->type) {
    case PZ_JSON_NUMBER:
        return number_from(text, value);
    case PZ_JSON_TEXT:
        return json_from_text(value->is.text);
    case PZ_JSON_ARRAY:
        node = json_new(JSON_ARRAY);
        for (size_t i = 0; i < value->count; ++i) {
            json_append(node, node_from(text, &value->is.elements[i]));
        }
        return node;
    case PZ_JSON_OBJECT:
        node = json_new(JSON_OBJECT);
        for (size_t i = 0; i < value->count; ++i) { // no key twice: json_set need not look
            const pz_json_value *pair = &value->is.members->pairs[2 * i];
            json_node *member = node_from(text, &pair[1]);
            if (member) {
                member->key = strdup(pair[0].is.text);
            }
            json_append(node, member);
        }
        return node;
    default:
        return json_new(value->type == PZ_JSON_NULL ? JSON_NULL : value->type == PZ_JSON_TRUE ? JSON_TRUE : JSON_FALSE);
    }
}

json_node *json_read(const void *text, size_t size, poise_error *error, size_t *place)
{
    pz_pool pool = {0};
    pz_json_value root;
    json_node *node = NULL;
    if (pz_json_parse(&pool, text, size, &root, error, place) == POISE_OK) {
        node = node_from(text, &root);
    }
    pz_pool_release(&pool);
    return node;
}

// ---- Printing JSON -------------------------------------------------------------------------------------------------------

static void put_text(FILE *stream, const char *text)
{
    putc('"', stream);
    for (const char *c = text; *c; ++c) {
        static const char special[] = "\"\\\b\f\n\r\t", names[] = "\"\\bfnrt";
        const char *at = strchr(special, *c);
        if (at) {
            fprintf(stream, "\\%c", names[at - special]);
        } else if ((unsigned char)*c < 0x20) {
            fprintf(stream, "\\u%04X", (unsigned)*c);
        } else {
            putc(*c, stream);
        }
    }
    putc('"', stream);
}

int json_number_text(char text[JSON_NUMBER_SIZE], double number, int most)
{
    int size = 0, digits = most < 15 ? most : 15; // that many a double always has
    do {
        size = snprintf(text, JSON_NUMBER_SIZE, "%.*g", digits, number);
    } while (++digits <= most && strtod(text, NULL) != number);
    return size;
}

// Always with a point or an exponent; that without a plus and leading zeros.
static void put_real(FILE *stream, double number, int digits)
{
    char text[JSON_NUMBER_SIZE];
    json_number_text(text, number, digits);
    char *exponent = strchr(text, 'e');
    if (!exponent) {
        fprintf(stream, "%s%s", text, strchr(text, '.') ? "" : ".0");
        return;
    }
    *exponent = '\0';
    fprintf(stream, "%se%d", text, atoi(exponent + 1));
}

static void put_leaf(FILE *stream, const json_node *value, int digits)
{
    static const char *const words[] = {"null", "false", "true"};
    if (value->kind == JSON_TEXT) {
        put_text(stream, value->text);
    } else if (value->kind == JSON_REAL) {
        put_real(stream, value->number, digits);
    } else if (value->kind == JSON_INTEGER) {
        fprintf(stream, "%lld", value->integer);
    } else {
        fputs(words[value->kind], stream);
    }
}

static bool has_lines(const json_node *list, json_layout layout, int depth)
{
    bool has_rows = list->kind == JSON_OBJECT || json_is(list->first, JSON_OBJECT);
    return list->count > 0 && (layout == JSON_INDENTED || (layout == JSON_ROWS && has_rows && depth < 2));
}

static void put(FILE *stream, const json_node *value, json_layout layout, int depth, int digits)
{
    if (value->kind != JSON_ARRAY && value->kind != JSON_OBJECT) {
        put_leaf(stream, value, digits);
        return;
    }
    bool in_lines = has_lines(value, layout, depth);
    int step = layout == JSON_INDENTED ? 2 : 1;
    json_layout inner = layout == JSON_ROWS && !in_lines ? JSON_LINE : layout;
    putc(value->kind == JSON_ARRAY ? '[' : '{', stream);
    for (const json_node *child = value->first; child; child = child->next) {
        if (in_lines) {
            fprintf(stream, "\n%*s", step * (depth + 1), "");
        }
        if (child->key) {
            put_text(stream, child->key);
            fputs(layout == JSON_TIGHT ? ":" : ": ", stream);
        }
        put(stream, child, inner, depth + 1, digits);
        if (child->next) {
            fputs(in_lines || layout == JSON_TIGHT ? "," : ", ", stream);
        }
    }
    if (in_lines) {
        fprintf(stream, "\n%*s", step * depth, "");
    }
    putc(value->kind == JSON_ARRAY ? ']' : '}', stream);
}

bool json_write(FILE *stream, const json_node *value, json_layout layout, int digits)
{
    if (value) {
        put(stream, value, layout, 0, digits);
    }
    return value && !ferror(stream);
}

char *json_to_text(const json_node *value, int digits)
{
    memory_stream memory;
    if (!value || !system_memory_open(&memory)) {
        return NULL;
    }
    bool works = json_write(memory.stream, value, JSON_TIGHT, digits);
    if (!system_memory_close(&memory) || !works) {
        free(memory.text);
        return NULL;
    }
    return memory.text;
}

static bool finish(FILE *stream, json_node *value, json_layout layout)
{
    bool works = json_write(stream, value, layout, JSON_DIGITS);
    if (!value) {
        complain("JSON could not be printed: out of memory");
    }
    putc('\n', stream);
    json_release(value);
    return works;
}

bool json_print(json_node *value)
{
    return finish(stdout, value, JSON_ROWS);
}

bool json_write_line(FILE *stream, json_node *value)
{
    return finish(stream, value, JSON_TIGHT);
}

bool json_print_line(json_node *value)
{
    return json_write_line(stdout, value);
}
