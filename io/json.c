// JSON: a strict parser, documents whose values know the way to them, and a writer.
#include "io/json.h"

#include "base/text.h"
#include "num/real.h"

#include <string.h>

// ---- Parsing -------------------------------------------------------------------------------------------------------------
//
// One pass over the text. Values of the containers that are open lie on a stack; a container that closes takes its own from
// there into memory of their exact size.

typedef struct parser {
    pz_pool *pool;
    pz_pool scratch; // for the stack
    const char *text, *at, *end;
    const char *token; // where the current one begins
    pz_json_value *stack;
    size_t count, room;
    int depth;
    poise_error *error;
    poise_status status;
} parser;

// ---- Failures: always false ----------------------------------------------------------------------------------------------

// The message ends with the token, as far as it was read, unless that is long. The place is the end of what was read.
static bool fail(parser *p, const char *message)
{
    enum { NEAR_MOST = 20 };
    char near[NEAR_MOST + 1] = "";
    size_t length = (size_t)(p->at - p->token);
    if (length <= NEAR_MOST) {
        memcpy(near, p->token, length);
        near[length] = '\0';
    }
    p->status = pz_error_set(p->error, POISE_ERROR_FORMAT, "%s%s%s%s", message,
                             length == 0          ? " near end of file"
                             : length > NEAR_MOST ? ""
                                                  : " near '",
                             near, length > 0 && length <= NEAR_MOST ? "'" : "");
    if (p->error) {
        p->error->line = 1;
        p->error->column = 0;
        for (const char *c = p->text; c < p->at; ++c) {
            bool is_new = *c == '\n';
            p->error->line += is_new;
            p->error->column = is_new ? 0 : p->error->column + (((unsigned char)*c & 0xC0) != 0x80);
        }
    }
    return false;
}

static bool fail_memory(parser *p)
{
    p->status = pz_error_set(p->error, POISE_ERROR_MEMORY, "out of memory");
    return false;
}

// ---- Texts ---------------------------------------------------------------------------------------------------------------

// The number of four hexadecimal digits; -1 if there are not four.
static int32_t read_unit(const char *at, const char *end)
{
    int32_t unit = 0;
    for (int i = 0; i < 4; ++i) {
        int digit = at + i < end ? hex_digit(at[i]) : -1;
        if (digit < 0) {
            return -1;
        }
        unit = unit * 16 + digit;
    }
    return unit;
}

// From the \ to behind the escape.
static bool scan_escape(parser *p)
{
    p->at += 1;
    char escape = p->at < p->end ? *p->at : '\0';
    if (escape == 'u' && read_unit(p->at + 1, p->end) >= 0) {
        p->at += 5;
        return true;
    }
    bool is_known = escape != '\0' && strchr("\"\\/bfnrt", escape);
    p->at += p->at < p->end;
    if (escape == 'u') { // up to the first character that is wrong
        while (p->at < p->end && hex_digit(*p->at) >= 0) {
            p->at += 1;
        }
        p->at += p->at < p->end;
    }
    return is_known || fail(p, "invalid escape");
}

static bool is_plain(char c)
{
    return (unsigned char)c >= 0x20 && (unsigned char)c < 0x80 && c != '"' && c != '\\';
}

// From the opening quote to behind the closing one; every character looked at, nothing copied.
static bool scan_text(parser *p)
{
    p->token = p->at++;
    while (true) {
        while (p->at < p->end && is_plain(*p->at)) {
            p->at += 1;
        }
        if (p->at >= p->end) {
            return fail(p, "premature end of input");
        }
        if (*p->at == '"') {
            p->at += 1;
            return true;
        }
        if ((unsigned char)*p->at < 0x20) {
            return fail(p, *p->at == '\n' ? "unexpected newline" : "control character in a string");
        }
        if (*p->at == '\\') {
            if (!scan_escape(p)) {
                return false;
            }
            continue;
        }
        size_t length = pz_utf8_length(p->at, p->end);
        if (length == 0) {
            return fail(p, "a byte that is not UTF-8");
        }
        p->at += length;
    }
}

// One character of a \u escape, two units for one beyond U+FFFF. `from` is behind "\u"; false: not a character, or 0.
static bool read_escaped(const char **from, const char *end, uint32_t *character)
{
    int32_t unit = read_unit(*from, end);
    *from += 4;
    *character = (uint32_t)unit;
    if (unit < 0xD800 || unit > 0xDFFF) {
        return unit != 0;
    }
    bool is_pair = unit < 0xDC00 && end - *from >= 6 && (*from)[0] == '\\' && (*from)[1] == 'u';
    int32_t low = is_pair ? read_unit(*from + 2, end) : -1;
    *from += 6;
    *character = 0x10000u + ((uint32_t)(unit - 0xD800) << 10) + (uint32_t)(low - 0xDC00);
    return low >= 0xDC00 && low <= 0xDFFF;
}

// The text between the quotes, escapes replaced, which is never longer; NULL after a failure.
static const char *read_text(parser *p)
{
    if (!scan_text(p)) {
        return NULL;
    }
    const char *from = p->token + 1, *end = p->at - 1;
    char *text = pz_pool_copy(p->pool, from, (size_t)(end - from));
    if (!text) {
        fail_memory(p);
        return NULL;
    }
    char *to = memchr(text, '\\', (size_t)(end - from));
    if (!to) {
        return text;
    }
    for (from += to - text; from < end;) {
        if (*from != '\\') {
            *to++ = *from++;
            continue;
        }
        char escape = from[1];
        from += 2;
        uint32_t character = 0;
        if (escape != 'u') {
            static const char names[] = "bfnrt", values[] = "\b\f\n\r\t";
            const char *name = strchr(names, escape);
            *to++ = name ? values[name - names] : escape;
        } else if (read_escaped(&from, end, &character)) {
            to += pz_utf8_put(to, character);
        } else {
            fail(p, character == 0 ? "\\u0000 is not allowed" : "invalid Unicode");
            return NULL;
        }
    }
    *to = '\0';
    return text;
}

// ---- Numbers and words ---------------------------------------------------------------------------------------------------

// Digits, one at least.
static bool skip_digits(parser *p)
{
    const char *from = p->at;
    while (p->at < p->end && is_digit(*p->at)) {
        p->at += 1;
    }
    return p->at > from;
}

// -1.25e3: no + in front, no zeros in front, digits on both sides of the point.
static bool scan_number(parser *p)
{
    p->at += *p->at == '-';
    const char *first = p->at;
    if (!skip_digits(p) || (*first == '0' && p->at - first > 1)) {
        return false;
    }
    if (p->at < p->end && *p->at == '.') {
        p->at += 1;
        if (!skip_digits(p)) {
            return false;
        }
    }
    if (p->at < p->end && (*p->at == 'e' || *p->at == 'E')) {
        p->at += 1;
        p->at += p->at < p->end && (*p->at == '+' || *p->at == '-');
        return skip_digits(p);
    }
    return true;
}

static bool read_number(parser *p, pz_json_value *value)
{
    p->token = p->at;
    if (!scan_number(p)) {
        return fail(p, "invalid token");
    }
    value->type = PZ_JSON_NUMBER;
    pz_number_read(p->token, p->at, &value->is.number);
    return value->is.number - value->is.number == 0.0 || fail(p, "real number overflow");
}

static void skip_letters(parser *p)
{
    while (p->at < p->end && is_letter(*p->at)) {
        p->at += 1;
    }
}

// To the next token; '\0' at the end of the text.
static char skip_space(parser *p)
{
    while (p->at < p->end && (*p->at == ' ' || *p->at == '\n' || *p->at == '\t' || *p->at == '\r')) {
        p->at += 1;
    }
    p->token = p->at;
    return p->at < p->end ? *p->at : '\0';
}

// Fail, for a token that should be another one.
static bool fail_unexpected(parser *p, const char *message)
{
    if (p->at < p->end) {
        if (*p->at == '"') {
            if (!scan_text(p)) {
                return false;
            }
        } else if (*p->at == '-' || is_digit(*p->at)) {
            scan_number(p);
        } else {
            skip_letters(p);
        }
        size_t length = p->at == p->token ? pz_utf8_length(p->at, p->end) : 0;
        p->at += p->at > p->token || length > 0 ? length : 1;
    }
    return fail(p, message);
}

static bool read_word(parser *p, pz_json_value *value)
{
    static const char *const words[] = {"null", "false", "true"}; // as the types are numbered
    skip_letters(p);
    pz_word word = {p->token, (size_t)(p->at - p->token)};
    for (uint32_t i = 0; i < 3; ++i) {
        if (pz_word_is(word, words[i])) {
            value->type = i & 7;
            return true;
        }
    }
    return word.length > 0 ? fail(p, "invalid token") : fail_unexpected(p, "unexpected token");
}

// ---- Containers ----------------------------------------------------------------------------------------------------------

static bool push(parser *p, pz_json_value value)
{
    pz_json_value *stack = pz_pool_grow(&p->scratch, p->stack, p->count, &p->room, sizeof *stack);
    if (!stack) {
        return fail_memory(p);
    }
    p->stack = stack;
    p->stack[p->count++] = value;
    return true;
}

// Take what lies on the stack from `first` on.
static const pz_json_value *pop(parser *p, size_t first)
{
    size_t count = p->count - first;
    pz_json_value *values = pz_pool_take(p->pool, count, sizeof *values);
    if (!values) {
        fail_memory(p);
    } else if (count > 0) {
        memcpy(values, p->stack + first, count * sizeof *values);
    }
    p->count = first;
    return values;
}

static bool read_value(parser *p, pz_json_value *value);

// The values between two brackets, onto the stack, each after its key in an object. The message is for anything else.
static bool read_list(parser *p, bool has_keys, char bracket, const char *message)
{
    p->at += 1;
    if (skip_space(p) == bracket) {
        p->at += 1;
        return true;
    }
    while (true) {
        pz_json_value key = {.type = PZ_JSON_TEXT}, value;
        if (has_keys) {
            if (skip_space(p) != '"') {
                return fail_unexpected(p, "string or '}' expected");
            }
            key.place = (uint32_t)(p->at - p->text);
            key.is.text = read_text(p);
            if (!key.is.text || !push(p, key)) {
                return false;
            }
            if (skip_space(p) != ':') {
                return fail_unexpected(p, "':' expected");
            }
            p->at += 1;
        } else if (skip_space(p), p->at >= p->end) {
            return fail_unexpected(p, message);
        }
        if (!read_value(p, &value) || !push(p, value)) {
            return false;
        }
        char c = skip_space(p);
        if (c != ',' && c != bracket) {
            return fail_unexpected(p, message);
        }
        p->at += 1;
        if (c == bracket) {
            return true;
        }
    }
}

static bool read_array(parser *p, pz_json_value *array)
{
    size_t first = p->count;
    if (!read_list(p, false, ']', "']' expected")) {
        return false;
    }
    array->type = PZ_JSON_ARRAY;
    array->count = (p->count - first) & 0x1FFFFFFF;
    array->is.elements = pop(p, first);
    return array->is.elements != NULL;
}

static const char *key_at(const void *owner, int position)
{
    const pz_json_value *pairs = owner;
    return pairs[2 * (size_t)position].is.text;
}

enum { FEW = 8 }; // members that are looked through one by one

static int find_key(const pz_json_members *members, int count, const char *key)
{
    if (members->names.capacity > 0) {
        return pz_names_find(&members->names, key, key_at, members->pairs);
    }
    int i = count - 1;
    while (i >= 0 && strcmp(key_at(members->pairs, i), key) != 0) {
        --i;
    }
    return i;
}

static bool read_object(parser *p, pz_json_value *object)
{
    size_t first = p->count;
    if (!read_list(p, true, '}', "'}' expected")) {
        return false;
    }
    int count = (int)((p->count - first) / 2);
    pz_json_members *members = pz_pool_take(p->pool, 1, sizeof *members);
    if (!members) {
        return fail_memory(p);
    }
    *members = (pz_json_members){.pairs = pop(p, first)};
    if (!members->pairs || (count > FEW && !pz_pool_names(p->pool, (size_t)count, &members->names))) {
        return fail_memory(p);
    }
    for (int i = 0; i < count; ++i) {
        if (find_key(members, i, key_at(members->pairs, i)) >= 0) {
            p->at = p->text + members->pairs[2 * (size_t)i].place;
            scan_text(p);
            return fail(p, "duplicate object key");
        }
        if (count > FEW) {
            pz_names_add(&members->names, key_at(members->pairs, i), i);
        }
    }
    object->type = PZ_JSON_OBJECT;
    object->count = (uint32_t)count & 0x1FFFFFFF;
    object->is.members = members;
    return true;
}

static bool read_value(parser *p, pz_json_value *value)
{
    char c = skip_space(p);
    *value = (pz_json_value){.place = (uint32_t)(p->at - p->text)};
    if (c == '{' || c == '[') {
        if (p->depth == PZ_JSON_DEPTH) {
            p->at += 1;
            return fail(p, "values are nested deeper than 128 levels");
        }
        p->depth += 1;
        bool works = c == '{' ? read_object(p, value) : read_array(p, value);
        p->depth -= 1;
        return works;
    }
    if (c == '"') {
        value->type = PZ_JSON_TEXT;
        value->is.text = read_text(p);
        return value->is.text != NULL;
    }
    return c == '-' || is_digit(c) ? read_number(p, value) : read_word(p, value);
}

poise_status pz_json_parse(pz_pool *pool, const char *text, size_t size, pz_json_value *root, poise_error *error,
                           size_t *place)
{
    parser p = {.pool = pool, .scratch = {.allocator = pool->allocator}, .text = text, .at = text, .end = text + size};
    p.error = error;
    *place = 0;
    if (size >= (size_t)1 << 30) { // so that place and count have room
        return pz_error_set(error, POISE_ERROR_UNSUPPORTED, "JSON of more than 1 GB is not read: split it");
    }
    char c = skip_space(&p);
    bool works = c == '{' || c == '[' ? read_value(&p, root) : fail_unexpected(&p, "'[' or '{' expected");
    if (works && (skip_space(&p), p.at < p.end)) {
        fail_unexpected(&p, "end of file expected");
    }
    *place = (size_t)(p.at - text);
    pz_pool_release(&p.scratch);
    return p.status;
}

// ---- Asking --------------------------------------------------------------------------------------------------------------

double pz_json_as_number(const pz_json_value *value)
{
    return pz_json_is(value, PZ_JSON_NUMBER) ? value->is.number : 0.0;
}

const char *pz_json_as_text(const pz_json_value *value)
{
    return pz_json_is(value, PZ_JSON_TEXT) ? value->is.text : NULL;
}

const pz_json_value *pz_json_element(const pz_json_value *array, size_t index)
{
    return pz_json_is(array, PZ_JSON_ARRAY) && index < array->count ? &array->is.elements[index] : NULL;
}

const pz_json_value *pz_json_find(const pz_json_value *object, const char *key)
{
    if (!pz_json_is(object, PZ_JSON_OBJECT)) {
        return NULL;
    }
    int i = find_key(object->is.members, (int)object->count, key);
    return i < 0 ? NULL : &object->is.members->pairs[2 * (size_t)i + 1];
}

// ---- Documents -----------------------------------------------------------------------------------------------------------

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

// ---- Writing -------------------------------------------------------------------------------------------------------------

static void write_escaped(pz_output *output, unsigned char c)
{
    static const char digits[] = "0123456789abcdef";
    char escape[] = {'\\', 'u', '0', '0', digits[c >> 4], digits[c & 15], '\0'};
    pz_put(output, c == '\n' ? "\\n" : c == '\t' ? "\\t" : escape);
}

// Bytes that are no UTF-8 are taken as Latin-1, with a warning: JSON has no other way to carry them.
static void write_string(pz_output *output, const char *text)
{
    bool is_foreign = false;
    pz_put(output, "\"");
    const char *end = text + strlen(text);
    for (const char *at = text; at < end;) {
        size_t length = pz_utf8_length(at, end);
        is_foreign = is_foreign || length == 0;
        if (*at == '"' || *at == '\\') {
            pz_put(output, "\\");
        }
        if (length == 0 || (unsigned char)*at < 0x20 || *at == 0x7F) {
            write_escaped(output, (unsigned char)*at);
        } else {
            pz_put_bytes(output, at, length);
        }
        at += length > 0 ? length : 1;
    }
    pz_put(output, "\"");
    if (is_foreign) {
        pz_output_warn(output, "\"%s\" is not UTF-8; Latin-1 assumed", text);
    }
}

static void new_line(pz_json_writer *writer)
{
    pz_put(writer->output, "\n");
    for (int i = 0; i < writer->depth; ++i) {
        pz_put(writer->output, "  ");
    }
}

void pz_json_begin(pz_json_writer *writer, const char *key)
{
    if (writer->depth > 0) {
        pz_put(writer->output, !writer->has_before ? "" : writer->flat > 0 ? ", " : ",");
        if (writer->flat == 0) {
            new_line(writer);
        }
    }
    writer->has_before = true;
    if (key) {
        write_string(writer->output, key);
        pz_put(writer->output, ": ");
    }
}

void pz_json_open(pz_json_writer *writer, const char *key, const char *bracket)
{
    pz_json_begin(writer, key);
    pz_put(writer->output, bracket);
    writer->depth += 1;
    writer->has_before = false;
}

void pz_json_close(pz_json_writer *writer, const char *bracket)
{
    writer->depth -= 1;
    if (writer->has_before && writer->flat == 0) {
        new_line(writer);
    }
    pz_put(writer->output, bracket);
    writer->has_before = true;
}

void pz_json_open_flat(pz_json_writer *writer, const char *key, const char *bracket)
{
    pz_json_open(writer, key, bracket);
    writer->flat += 1;
}

void pz_json_close_flat(pz_json_writer *writer, const char *bracket)
{
    pz_json_close(writer, bracket);
    writer->flat -= 1;
}

void pz_json_put_text(pz_json_writer *writer, const char *key, const char *text)
{
    pz_json_begin(writer, key);
    write_string(writer->output, text);
}

void pz_json_put_number(pz_json_writer *writer, const char *key, double value)
{
    if (!is_finite(value)) {
        pz_json_put_null(writer, key);
        return;
    }
    pz_json_begin(writer, key);
    pz_put_number(writer->output, value);
}

void pz_json_put_integer(pz_json_writer *writer, const char *key, long long value)
{
    pz_json_begin(writer, key);
    pz_put_integer(writer->output, value);
}

void pz_json_put_numbers(pz_json_writer *writer, const char *key, const double *values, size_t count)
{
    pz_json_open_flat(writer, key, "[");
    for (size_t i = 0; i < count; ++i) {
        pz_json_put_number(writer, NULL, values[i]);
    }
    pz_json_close_flat(writer, "]");
}

void pz_json_put_null(pz_json_writer *writer, const char *key)
{
    pz_json_begin(writer, key);
    pz_put(writer->output, "null");
}
