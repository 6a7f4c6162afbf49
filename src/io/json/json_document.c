// Reading JSON through jansson.
#include "io/json/json_document.h"

#include "math/scalar.h"

#include <string.h>

// Warnings that get a line, each for one walk over the text; unknown members that are named.
#define LINES_MOST   64
#define UNKNOWN_MOST 8

// ---- Documents -----------------------------------------------------------------------------------------------------------

// Does any value lie deeper than the limit? Brackets inside strings do not count. Whether it is JSON is not asked here.
static bool is_too_deep(const char *text, size_t size, size_t *where)
{
    int depth = 0;
    bool in_string = false;
    for (size_t i = 0; i < size; ++i) {
        char c = text[i];
        if (in_string) {
            in_string = c != '"';
            i += c == '\\';
        } else if (c == '"') {
            in_string = true;
        } else if (c == '[' || c == '{') {
            depth += 1;
            if (depth > PZ_JSON_DEPTH) {
                *where = i;
                return true;
            }
        } else if (c == ']' || c == '}') {
            depth -= 1;
        }
    }
    return false;
}

static int line_at(const char *text, size_t where)
{
    int line = 1;
    for (size_t i = 0; i < where; ++i) {
        line += text[i] == '\n';
    }
    return line;
}

// Where a syntax error is: a line and column of a text, a byte of a binary file.
static poise_status fail_syntax(pz_input *input, const json_error_t *said, size_t first)
{
    if (json_error_code(said) == json_error_out_of_memory || said->text[0] == '\0') {
        return pz_input_no_memory(input);
    }
    if (first > 0) {
        size_t byte = first + (said->position > 0 ? (size_t)said->position : 0);
        return pz_input_fail(input, POISE_ERROR_FORMAT, 0, "byte %d: not JSON: %s", (int)byte, said->text);
    }
    poise_status status =
        pz_input_fail(input, POISE_ERROR_FORMAT, said->line > 0 ? said->line : 1, "not JSON: %s", said->text);
    if (input->error) {
        input->error->column = said->column > 0 ? said->column : 0;
    }
    return status;
}

poise_status pz_json_load(pz_input *input, const void *bytes, size_t size, size_t first, pz_json *json)
{
    const char *text = bytes;
    *json = (pz_json){.input = input};
    if (size >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0) {
        pz_input_warn(input, first > 0 ? 0 : 1, "a byte order mark before the JSON; left out");
        text += 3;
        size -= 3;
    }
    size_t deep = 0;
    if (is_too_deep(text, size, &deep)) {
        return pz_input_fail(input, POISE_ERROR_FORMAT, first > 0 ? 0 : line_at(text, deep),
                             "values are nested deeper than %d levels", PZ_JSON_DEPTH);
    }
    json_error_t said = {0}; // a failure without words leaves it as it is
    json->root = json_loadb(text, size, JSON_REJECT_DUPLICATES | JSON_DECODE_INT_AS_REAL, &said);
    if (!json->root) {
        return fail_syntax(input, &said, first);
    }
    json->text = first > 0 ? NULL : text;
    json->size = size;
    return POISE_OK;
}

void pz_json_release(pz_json *json)
{
    if (json->unknown_keys > UNKNOWN_MOST) {
        pz_input_warn(json->input, 0, "and %d more unknown keys", json->unknown_keys - UNKNOWN_MOST);
    }
    json_decref(json->root);
    json->root = NULL;
}

// ---- Where a value is ----------------------------------------------------------------------------------------------------

// The text is known to be JSON, so that skipping needs no checks but the end.
typedef struct walk {
    const char *at, *end;
    int line;
} walk;

static void skip_space(walk *w)
{
    while (w->at < w->end && (*w->at == ' ' || *w->at == '\t' || *w->at == '\r' || *w->at == '\n')) {
        w->line += *w->at == '\n';
        w->at += 1;
    }
}

// From an opening quote to behind the closing one.
static void skip_string(walk *w)
{
    w->at += 1;
    while (w->at < w->end && *w->at != '"') {
        w->at += *w->at == '\\' ? 2 : 1;
    }
    w->at += 1;
}

static void skip_value(walk *w)
{
    int depth = 0;
    while (w->at < w->end) {
        skip_space(w);
        char c = w->at < w->end ? *w->at : ',';
        if (depth == 0 && (c == ',' || c == ']' || c == '}')) {
            return;
        }
        if (c == '"') {
            skip_string(w);
        } else {
            depth += (c == '[' || c == '{') - (c == ']' || c == '}');
            w->at += 1;
        }
    }
}

// Step to the value of one member, or to one element. False when the key is spelled with escapes.
static bool step_into(walk *w, const char *key, size_t index)
{
    w->at += 1; // the bracket
    size_t length = key ? strlen(key) : 0;
    for (size_t i = 0; w->at < w->end; ++i) {
        skip_space(w);
        if (w->at >= w->end || *w->at == ']' || *w->at == '}') {
            return false;
        }
        bool is_here = !key && i == index;
        if (key) {
            const char *name = w->at + 1;
            skip_string(w);
            is_here = w->at <= w->end && (size_t)(w->at - name) == length + 1 && memcmp(name, key, length) == 0;
            skip_space(w);
            w->at += 1; // the colon
            skip_space(w);
        }
        if (is_here) {
            return true;
        }
        skip_value(w);
        w->at += w->at < w->end && *w->at == ',';
    }
    return false;
}

// Items from the root to this one; at most `most`. Returns how many there are.
static int way_to(const pz_item *item, const pz_item *way[], int most)
{
    int count = 0;
    for (const pz_item *i = item; i->parent; i = i->parent) {
        count += 1;
    }
    int at = count;
    for (const pz_item *i = item; i->parent; i = i->parent) {
        at -= 1;
        if (at < most) {
            way[at] = i;
        }
    }
    return count < most ? count : most;
}

#define WAY_MOST 16

// The line of a value, or of the nearest thing around it that is there.
static int line_of(const pz_item *item)
{
    const pz_json *json = item->json;
    if (!json->text) {
        return 0;
    }
    const pz_item *way[WAY_MOST];
    int count = way_to(item, way, WAY_MOST);
    walk w = {json->text, json->text + json->size, 1};
    skip_space(&w);
    int line = w.line;
    for (int i = 0; i < count && w.at < w.end && (*w.at == '{' || *w.at == '['); ++i) {
        if (!way[i]->value || !step_into(&w, way[i]->key, way[i]->index)) {
            break;
        }
        line = w.line;
    }
    return line;
}

#define PATH_SIZE 160

static size_t append(char *path, size_t at, const char *text)
{
    for (; *text && at + 1 < PATH_SIZE; ++text) {
        path[at++] = *text;
    }
    path[at] = '\0';
    return at;
}

// nodes[3].rotation
static void path_of(const pz_item *item, char path[PATH_SIZE])
{
    const pz_item *way[WAY_MOST];
    int count = way_to(item, way, WAY_MOST);
    size_t at = append(path, 0, "");
    for (int i = 0; i < count; ++i) {
        if (way[i]->key) {
            at = append(path, at, i > 0 ? "." : "");
            at = append(path, at, way[i]->key);
        } else {
            char digits[24];
            size_t d = sizeof digits;
            digits[--d] = '\0';
            digits[--d] = ']';
            size_t left = way[i]->index;
            do {
                digits[--d] = (char)('0' + left % 10);
                left /= 10;
            } while (left > 0);
            digits[--d] = '[';
            at = append(path, at, digits + d);
        }
    }
}

static void say(const pz_item *item, const char *format, va_list arguments, poise_error *said)
{
    char path[PATH_SIZE];
    path_of(item, path);
    poise_error what = {.line = 0};
    pz_error_set_list(&what, POISE_OK, format, arguments);
    if (path[0]) {
        pz_error_set(said, POISE_OK, "%s: %s", path, what.text);
    } else {
        *said = what;
    }
}

poise_status pz_json_fail(const pz_item *item, poise_status status, const char *format, ...)
{
    poise_error said;
    va_list arguments;
    va_start(arguments, format);
    say(item, format, arguments, &said);
    va_end(arguments);
    return pz_input_fail(item->json->input, status, line_of(item), "%s", said.text);
}

poise_status pz_json_fail_as(const pz_item *item, poise_status status, const poise_error *said)
{
    if (status == POISE_ERROR_MEMORY) {
        return pz_input_no_memory(item->json->input);
    }
    return pz_json_fail(item, status, "%s", said->text);
}

void pz_json_warn(const pz_item *item, const char *format, ...)
{
    pz_json *json = item->json;
    poise_error said;
    va_list arguments;
    va_start(arguments, format);
    say(item, format, arguments, &said);
    va_end(arguments);
    bool has_line = json->warned_lines < LINES_MOST;
    json->warned_lines += has_line;
    pz_input_warn(json->input, has_line ? line_of(item) : 0, "%s", said.text);
}

void pz_json_warn_unknown(const pz_item *object, const char *const *known, size_t count)
{
    json_t *value = (json_t *)(uintptr_t)object->value; // the iterator asks for one that is not const, and changes nothing
    for (void *at = json_object_iter(value); at; at = json_object_iter_next(value, at)) {
        const char *key = json_object_iter_key(at);
        size_t i = 0;
        while (i < count && strcmp(known[i], key) != 0) {
            ++i;
        }
        if (i < count) {
            continue;
        }
        if (object->json->unknown_keys++ < UNKNOWN_MOST) {
            pz_item member = {object->json, json_object_iter_value(at), object, key, 0};
            pz_json_warn(&member, "unknown key; left out");
        }
    }
}

// ---- Values --------------------------------------------------------------------------------------------------------------

pz_item pz_json_root(pz_json *json)
{
    return (pz_item){.json = json, .value = json->root};
}

static const json_t *unless_null(const json_t *value)
{
    return json_is_null(value) ? NULL : value;
}

pz_item pz_json_get(const pz_item *object, const char *key)
{
    return (pz_item){object->json, unless_null(json_object_get(object->value, key)), object, key, 0};
}

pz_item pz_json_at(const pz_item *array, size_t index)
{
    return (pz_item){array->json, unless_null(json_array_get(array->value, index)), array, NULL, index};
}

size_t pz_json_length(const pz_item *item)
{
    return json_array_size(item->value);
}

bool pz_json_is_object(const pz_item *item)
{
    return json_is_object(item->value);
}

bool pz_json_is_array(const pz_item *item)
{
    return json_is_array(item->value);
}

bool pz_json_is_number(const pz_item *item)
{
    return json_is_number(item->value);
}

static poise_status fail_type(const pz_item *item, const char *wanted)
{
    static const char *const names[] = {"an object", "an array", "a text", "a number", "a number", "true", "false", "null"};
    if (!item->value) {
        return pz_json_fail(item, POISE_ERROR_FORMAT, "missing; give %s", wanted);
    }
    return pz_json_fail(item, POISE_ERROR_FORMAT, "%s, where %s should be", names[json_typeof(item->value)], wanted);
}

poise_status pz_json_need_object(const pz_item *item)
{
    return json_is_object(item->value) ? POISE_OK : fail_type(item, "an object");
}

poise_status pz_json_need_array(const pz_item *item)
{
    return json_is_array(item->value) ? POISE_OK : fail_type(item, "an array");
}

poise_status pz_json_need_length(const pz_item *item, size_t count)
{
    poise_status status = pz_json_need_array(item);
    if (status != POISE_OK || pz_json_length(item) == count) {
        return status;
    }
    return pz_json_fail(item, POISE_ERROR_FORMAT, "%d values, where there should be %d", (int)pz_json_length(item),
                        (int)count);
}

poise_status pz_json_number(const pz_item *item, double *value)
{
    if (!json_is_number(item->value)) {
        return fail_type(item, "a number");
    }
    *value = json_number_value(item->value);
    return POISE_OK;
}

poise_status pz_json_integer(const pz_item *item, int least, int most, int *value)
{
    double number = 0;
    poise_status status = pz_json_number(item, &number);
    if (status != POISE_OK) {
        return status;
    }
    if (!(number >= least && number <= most) || number != (double)(int)number) {
        return pz_json_fail(item, POISE_ERROR_FORMAT, "%g, where a whole number from %d to %d should be", number, least,
                            most);
    }
    *value = (int)number;
    return POISE_OK;
}

poise_status pz_json_string(const pz_item *item, const char **value)
{
    if (!json_is_string(item->value)) {
        return fail_type(item, "a text");
    }
    *value = json_string_value(item->value);
    return POISE_OK;
}

poise_status pz_json_numbers(const pz_item *item, double *values, size_t count)
{
    poise_status status = pz_json_need_length(item, count);
    for (size_t i = 0; i < count && status == POISE_OK; ++i) {
        pz_item element = pz_json_at(item, i);
        status = pz_json_number(&element, &values[i]);
    }
    return status;
}

poise_status pz_json_number_of(const pz_item *object, const char *key, double *value)
{
    pz_item item = pz_json_get(object, key);
    return item.value ? pz_json_number(&item, value) : POISE_OK;
}

poise_status pz_json_integer_of(const pz_item *object, const char *key, int least, int most, int *value)
{
    pz_item item = pz_json_get(object, key);
    return item.value ? pz_json_integer(&item, least, most, value) : POISE_OK;
}

poise_status pz_json_string_of(const pz_item *object, const char *key, const char **value)
{
    pz_item item = pz_json_get(object, key);
    return item.value ? pz_json_string(&item, value) : POISE_OK;
}

poise_status pz_json_numbers_of(const pz_item *object, const char *key, double *values, size_t count)
{
    pz_item item = pz_json_get(object, key);
    return item.value ? pz_json_numbers(&item, values, count) : POISE_OK;
}
