// One pass over the text. Values of the containers that are open lie on a stack; a container that closes takes its own from
// there into memory of their exact size.
#include "io/json/json_value.h"

#include "base/letters.h"

#include <string.h>

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
