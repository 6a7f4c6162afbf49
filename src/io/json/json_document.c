// Documents: values with the way to them.
#include "io/json/json_document.h"

#include "math/scalar.h"

#include <string.h>

// Warnings that get a line, each for one walk over the text; unknown members that are named.
#define LINES_MOST   64
#define UNKNOWN_MOST 8

// ---- Documents -----------------------------------------------------------------------------------------------------------

poise_status pz_json_load(pz_input *input, const void *bytes, size_t size, size_t first, pz_json *json)
{
    const char *text = bytes;
    *json = (pz_json){.input = input};
    if (size >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0) {
        pz_input_warn(input, first > 0 ? 0 : 1, "a byte order mark before the JSON is ignored");
        text += 3;
        size -= 3;
    }
    poise_error said = {.line = 0};
    size_t place;
    poise_status status = pz_json_parse(&input->pool, text, size, &json->root, &said, &place);
    if (status == POISE_ERROR_MEMORY) {
        return pz_input_no_memory(input);
    }
    if (status != POISE_OK && first > 0) {
        return pz_input_fail(input, status, 0, "byte %d: not JSON: %s", (int)(first + place), said.text);
    }
    if (status != POISE_OK) {
        pz_input_fail(input, status, said.line, "not JSON: %s", said.text);
        if (input->error) {
            input->error->column = said.column;
        }
        return status;
    }
    json->text = first > 0 ? NULL : text;
    return POISE_OK;
}

void pz_json_release(pz_json *json)
{
    if (json->unknown_keys > UNKNOWN_MOST) {
        pz_input_warn(json->input, 0, "and %d more unknown keys", json->unknown_keys - UNKNOWN_MOST);
    }
}

// ---- Where a value is ----------------------------------------------------------------------------------------------------

// The line of a value, or of the nearest thing around it that is there.
static int line_of(const pz_item *item)
{
    while (!item->value && item->parent) {
        item = item->parent;
    }
    int line = 1;
    for (uint32_t i = 0; item->json->text && item->value && i < item->value->place; ++i) {
        line += item->json->text[i] == '\n';
    }
    return item->json->text ? line : 0;
}

#define WAY_MOST 16

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
    for (int k = 0; k < pz_json_member_count(object); ++k) {
        pz_item member = pz_json_member(object, k);
        size_t i = 0;
        while (i < count && strcmp(known[i], member.key) != 0) {
            ++i;
        }
        if (i < count) {
            continue;
        }
        if (object->json->unknown_keys++ < UNKNOWN_MOST) {
            pz_json_warn(&member, "unknown key, ignored");
        }
    }
}

// ---- Values --------------------------------------------------------------------------------------------------------------

pz_item pz_json_root(pz_json *json)
{
    return (pz_item){.json = json, .value = &json->root};
}

static pz_item item_of(const pz_item *parent, const pz_json_value *value, const char *key, size_t index)
{
    value = value && value->type != PZ_JSON_NULL ? value : NULL;
    return (pz_item){parent->json, value, parent, key, index};
}

pz_item pz_json_get(const pz_item *object, const char *key)
{
    return item_of(object, pz_json_find(object->value, key), key, 0);
}

pz_item pz_json_at(const pz_item *array, size_t index)
{
    return item_of(array, pz_json_element(array->value, index), NULL, index);
}

int pz_json_member_count(const pz_item *object)
{
    return pz_json_is(object->value, PZ_JSON_OBJECT) ? (int)object->value->count : 0;
}

pz_item pz_json_member(const pz_item *object, int i)
{
    const pz_json_value *pair = &object->value->is.members->pairs[2 * (size_t)i];
    return item_of(object, pair + 1, pair->is.text, 0);
}

size_t pz_json_length(const pz_item *item)
{
    return pz_json_is(item->value, PZ_JSON_ARRAY) ? item->value->count : 0;
}

bool pz_json_is_number(const pz_item *item)
{
    return pz_json_is(item->value, PZ_JSON_NUMBER);
}

static poise_status fail_type(const pz_item *item, const char *wanted)
{
    static const char *const names[] = {"null", "false", "true", "a number", "a text", "an array", "an object"};
    if (!item->value) {
        return pz_json_fail(item, POISE_ERROR_FORMAT, "missing; give %s", wanted);
    }
    return pz_json_fail(item, POISE_ERROR_FORMAT, "%s instead of %s", names[item->value->type], wanted);
}

poise_status pz_json_need_object(const pz_item *item)
{
    return pz_json_is(item->value, PZ_JSON_OBJECT) ? POISE_OK : fail_type(item, "an object");
}

poise_status pz_json_need_array(const pz_item *item)
{
    return pz_json_is(item->value, PZ_JSON_ARRAY) ? POISE_OK : fail_type(item, "an array");
}

poise_status pz_json_need_length(const pz_item *item, size_t count)
{
    poise_status status = pz_json_need_array(item);
    if (status != POISE_OK || pz_json_length(item) == count) {
        return status;
    }
    return pz_json_fail(item, POISE_ERROR_FORMAT, "%d values instead of %d", (int)pz_json_length(item), (int)count);
}

poise_status pz_json_number(const pz_item *item, double *value)
{
    if (!pz_json_is(item->value, PZ_JSON_NUMBER)) {
        return fail_type(item, "a number");
    }
    *value = item->value->is.number;
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
        return pz_json_fail(item, POISE_ERROR_FORMAT, "%g instead of a whole number from %d to %d", number, least, most);
    }
    *value = (int)number;
    return POISE_OK;
}

poise_status pz_json_string(const pz_item *item, const char **value)
{
    if (!pz_json_is(item->value, PZ_JSON_TEXT)) {
        return fail_type(item, "a text");
    }
    *value = item->value->is.text;
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
