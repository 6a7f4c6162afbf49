// JSON (RFC 8259), strictly, into a tree of values.
//
// The text is read once, from the first byte to the last, with one call for each level; the caller bounds the depth.
// Everything that is kept lies in chunks of memory which the root owns.
#include "jansson.h"

#include "number.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct member {
    const char *key;
    json_t *value;
} member;

struct json_t {
    json_type type;
    size_t count; // of items or members
    union {
        double number;
        const char *text;
        json_t **items;
        member *members;
    } is;
    uint32_t *table; // of an object with many members: indices + 1 by hash, 0 where empty
    size_t mask;     // size of the table - 1
};

typedef struct chunk {
    struct chunk *next;
    size_t size, used;
    max_align_t bytes[];
} chunk;

// The root comes first, so that its address is the document's.
typedef struct document {
    json_t root;
    chunk *chunks;
} document;

// ---- Memory --------------------------------------------------------------------------------------------------------------

#define CHUNK 16384

static void *take(document *d, size_t size)
{
    size_t rounded = (size + 15) / 16 * 16;
    if (rounded < size || rounded > SIZE_MAX / 2) {
        return NULL;
    }
    if (!d->chunks || d->chunks->size - d->chunks->used < rounded) {
        size_t room = rounded > CHUNK ? rounded : CHUNK;
        chunk *fresh = malloc(sizeof *fresh + room);
        if (!fresh) {
            return NULL;
        }
        *fresh = (chunk){.next = d->chunks, .size = room};
        d->chunks = fresh;
    }
    void *taken = (unsigned char *)d->chunks->bytes + d->chunks->used;
    d->chunks->used += rounded;
    return taken;
}

// An array that holds `count` elements, with room for one more. The room is the next power of two.
static void *make_room(document *d, void *array, size_t count, size_t element)
{
    if (count != 0 && (count & (count - 1)) != 0) {
        return array;
    }
    size_t room = count == 0 ? 1 : 2 * count;
    void *larger = room <= SIZE_MAX / 2 / element ? take(d, room * element) : NULL;
    if (larger && count > 0) {
        memcpy(larger, array, count * element);
    }
    return larger;
}

void json_decref(json_t *root)
{
    document *d = (document *)root;
    if (d) {
        while (d->chunks) {
            chunk *next = d->chunks->next;
            free(d->chunks);
            d->chunks = next;
        }
        free(d);
    }
}

// ---- Errors --------------------------------------------------------------------------------------------------------------

typedef struct parser {
    document *document;
    const char *text, *at, *end;
    const char *token; // where the present one begins
    json_error_t *error;
} parser;

static void append(json_error_t *error, const char *text, size_t length)
{
    size_t used = strlen(error->text);
    for (size_t i = 0; i < length && used + 1 < sizeof error->text; ++i) {
        error->text[used++] = text[i];
    }
    error->text[used] = '\0';
}

// Line, column (in characters) and byte of what was read so far.
static void set_place(parser *p)
{
    const char *line = p->text;
    p->error->line = 1;
    for (const char *c = p->text; c < p->at; ++c) {
        if (*c == '\n') {
            p->error->line += 1;
            line = c + 1;
        }
    }
    p->error->column = 0;
    for (const char *c = line; c < p->at; ++c) {
        p->error->column += ((unsigned char)*c & 0xc0) != 0x80;
    }
    p->error->position = (int)(p->at - p->text);
}

#define NEAR_MOST 20 // longer tokens are not quoted

// Always false. The message ends with the token, as far as it was read.
static bool fail(parser *p, const char *message)
{
    if (p->error->text[0] != '\0') {
        return false;
    }
    p->error->code = json_error_invalid_syntax;
    set_place(p);
    append(p->error, message, strlen(message));
    size_t length = (size_t)(p->at - p->token);
    if (length == 0) {
        append(p->error, " near end of file", 17);
    } else if (length <= NEAR_MOST) {
        append(p->error, " near '", 7);
        append(p->error, p->token, length);
        append(p->error, "'", 1);
    }
    return false;
}

static bool fail_memory(parser *p)
{
    p->error->code = json_error_out_of_memory;
    append(p->error, "out of memory", 13);
    return false;
}

// ---- Strings -------------------------------------------------------------------------------------------------------------

static int hex_value(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

// The four digits behind \u; -1 if there are not four.
static int32_t read_unit(const char *at, const char *end)
{
    int32_t unit = 0;
    for (int i = 0; i < 4; ++i) {
        int digit = at + i < end ? hex_value(at[i]) : -1;
        if (digit < 0) {
            return -1;
        }
        unit = unit * 16 + digit;
    }
    return unit;
}

static size_t put_utf8(char *to, uint32_t c)
{
    if (c < 0x80) {
        to[0] = (char)c;
        return 1;
    }
    size_t length = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    for (size_t i = length - 1; i > 0; --i, c >>= 6) {
        to[i] = (char)(0x80 | (c & 0x3f));
    }
    to[0] = (char)((0xf00 >> length & 0xff) | c);
    return length;
}

// Bytes of the UTF-8 character at [at, end); 0 when it is none: overlong, a surrogate, beyond U+10FFFF, cut off.
static size_t utf8_length(const char *at, const char *end)
{
    const unsigned char *s = (const unsigned char *)at;
    size_t length = s[0] < 0x80 ? 1 : s[0] >= 0xc2 && s[0] < 0xe0 ? 2 : (s[0] & 0xf0) == 0xe0 ? 3 : s[0] < 0xf5 ? 4 : 0;
    if (s[0] >= 0x80 && s[0] < 0xc2) {
        return 0;
    }
    if (length == 0 || (size_t)(end - at) < length) {
        return 0;
    }
    for (size_t i = 1; i < length; ++i) {
        if ((s[i] & 0xc0) != 0x80) {
            return 0;
        }
    }
    bool bad = (s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) || (s[0] == 0xf0 && s[1] < 0x90) ||
               (s[0] == 0xf4 && s[1] > 0x8f);
    return bad ? 0 : length;
}

// From the opening quote to behind the closing one; every character looked at, nothing copied.
static bool scan_string(parser *p)
{
    p->token = p->at++;
    while (true) {
        if (p->at >= p->end) {
            return fail(p, "premature end of input");
        }
        unsigned char c = (unsigned char)*p->at;
        if (c == '"') {
            p->at += 1;
            return true;
        }
        if (c < 0x20) {
            return fail(p, c == '\n' ? "unexpected newline" : "control character in a string");
        }
        if (c == '\\') {
            p->at += 1;
            char escape = p->at < p->end ? *p->at : '\0';
            if (escape == 'u' ? read_unit(p->at + 1, p->end) < 0 : escape == '\0' || !strchr("\"\\/bfnrt", escape)) {
                return fail(p, "invalid escape");
            }
            p->at += escape == 'u' ? 5 : 1;
            continue;
        }
        size_t length = utf8_length(p->at, p->end);
        if (length == 0) {
            return fail(p, "unable to decode a byte that is not UTF-8");
        }
        p->at += length;
    }
}

// One character of a \u escape, two units for one beyond U+FFFF. `from` is behind "\u"; false: not a character.
static bool read_escaped(const char **from, const char *end, uint32_t *character)
{
    int32_t unit = read_unit(*from, end);
    *from += 4;
    if (unit >= 0xd800 && unit <= 0xdbff) {
        bool is_pair = end - *from >= 6 && (*from)[0] == '\\' && (*from)[1] == 'u';
        int32_t low = is_pair ? read_unit(*from + 2, end) : -1;
        if (low < 0xdc00 || low > 0xdfff) {
            return false;
        }
        *from += 6;
        *character = 0x10000u + ((uint32_t)(unit - 0xd800) << 10) + (uint32_t)(low - 0xdc00);
        return true;
    }
    *character = (uint32_t)unit;
    return unit != 0 && !(unit >= 0xdc00 && unit <= 0xdfff);
}

// The text between the quotes, escapes replaced; NULL after a failure.
static const char *read_string(parser *p)
{
    if (!scan_string(p)) {
        return NULL;
    }
    const char *from = p->token + 1, *end = p->at - 1;
    char *text = take(p->document, (size_t)(end - from) + 1), *to = text;
    if (!text) {
        fail_memory(p);
        return NULL;
    }
    while (from < end) {
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
            to += put_utf8(to, character);
        } else {
            fail(p, character == 0 && from[-1] == '0' ? "\\u0000 is not allowed" : "invalid Unicode");
            return NULL;
        }
    }
    *to = '\0';
    return text;
}

// ---- Numbers and words ---------------------------------------------------------------------------------------------------

static bool is_digit(parser *p)
{
    return p->at < p->end && *p->at >= '0' && *p->at <= '9';
}

static void skip_digits(parser *p)
{
    while (is_digit(p)) {
        p->at += 1;
    }
}

static bool read_number(parser *p, json_t *value)
{
    p->token = p->at;
    p->at += *p->at == '-';
    if (!is_digit(p)) {
        return fail(p, "invalid token");
    }
    bool starts_with_zero = *p->at == '0';
    p->at += 1;
    if (starts_with_zero && is_digit(p)) {
        return fail(p, "invalid token");
    }
    skip_digits(p);
    if (p->at < p->end && *p->at == '.') {
        p->at += 1;
        if (!is_digit(p)) {
            return fail(p, "invalid token");
        }
        skip_digits(p);
    }
    if (p->at < p->end && (*p->at == 'e' || *p->at == 'E')) {
        p->at += 1;
        p->at += p->at < p->end && (*p->at == '+' || *p->at == '-');
        if (!is_digit(p)) {
            return fail(p, "invalid token");
        }
        skip_digits(p);
    }
    value->type = JSON_REAL;
    value->is.number = web_number(p->token, p->at);
    return value->is.number - value->is.number == 0.0 || fail(p, "real number overflow");
}

static bool read_word(parser *p, json_t *value)
{
    static const char *const words[] = {"true", "false", "null"};
    p->token = p->at;
    while (p->at < p->end && ((*p->at >= 'a' && *p->at <= 'z') || (*p->at >= 'A' && *p->at <= 'Z'))) {
        p->at += 1;
    }
    size_t length = (size_t)(p->at - p->token);
    for (int i = 0; i < 3; ++i) {
        if (strlen(words[i]) == length && memcmp(words[i], p->token, length) == 0) {
            value->type = (json_type)(JSON_TRUE + i);
            return true;
        }
    }
    if (length == 0) {
        size_t step = utf8_length(p->at, p->end);
        p->at += step > 0 ? step : 1;
        if (p->token[0] != '\0' && strchr("]},:", p->token[0])) {
            return fail(p, "unexpected token");
        }
    }
    return fail(p, "invalid token");
}

// ---- Values --------------------------------------------------------------------------------------------------------------

// To the next token; '\0' at the end of the text.
static char skip_space(parser *p)
{
    while (p->at < p->end && (*p->at == ' ' || *p->at == '\t' || *p->at == '\n' || *p->at == '\r')) {
        p->at += 1;
    }
    p->token = p->at;
    return p->at < p->end ? *p->at : '\0';
}

// One that was expected; otherwise the failure names it and quotes what is there.
static bool expect(parser *p, const char *message)
{
    if (p->at < p->end) {
        json_t other = {.type = JSON_NULL};
        char c = *p->at;
        if (c == '"') {
            if (!scan_string(p)) {
                return false;
            }
        } else if (c == '-' || is_digit(p)) {
            if (!read_number(p, &other)) {
                return false;
            }
        } else if (c != '\0' && strchr("{}[]:,", c)) {
            p->at += 1;
        } else if (!read_word(p, &other)) {
            return false;
        }
    }
    return fail(p, message);
}

static bool read_value(parser *p, json_t *value);

static bool read_array(parser *p, json_t *array)
{
    array->type = JSON_ARRAY;
    p->at += 1;
    if (skip_space(p) == ']') {
        p->at += 1;
        return true;
    }
    while (true) {
        json_t **items = make_room(p->document, array->is.items, array->count, sizeof *items);
        json_t *item = items ? take(p->document, sizeof *item) : NULL;
        if (!item) {
            return fail_memory(p);
        }
        *item = (json_t){.type = JSON_NULL};
        array->is.items = items;
        array->is.items[array->count++] = item;
        if (!read_value(p, item)) {
            return false;
        }
        char c = skip_space(p);
        if (c != ',' && c != ']') {
            return expect(p, "']' expected");
        }
        p->at += 1;
        if (c == ']') {
            return true;
        }
    }
}

#define TABLE_FROM 8 // members; fewer are looked through one by one

static size_t hash_of(const char *key)
{
    uint32_t hash = 2166136261u; // FNV-1a
    for (; *key; ++key) {
        hash = (hash ^ (unsigned char)*key) * 16777619u;
    }
    return hash;
}

static void enter(json_t *object, size_t index)
{
    size_t at = hash_of(object->is.members[index].key) & object->mask;
    while (object->table[at] != 0) {
        at = (at + 1) & object->mask;
    }
    object->table[at] = (uint32_t)index + 1;
}

// Put the last member into the table, which is made when there are enough of them, and at most half full.
static bool note_member(document *d, json_t *object)
{
    size_t count = object->count;
    if (count < TABLE_FROM) {
        return true;
    }
    if (!object->table || 2 * count > object->mask) {
        size_t size = 4 * TABLE_FROM;
        while (size < 4 * count) {
            size *= 2;
        }
        object->table = take(d, size * sizeof *object->table);
        if (!object->table) {
            return false;
        }
        memset(object->table, 0, size * sizeof *object->table);
        object->mask = size - 1;
        for (size_t i = 0; i < count; ++i) {
            enter(object, i);
        }
    } else {
        enter(object, count - 1);
    }
    return true;
}

static bool read_member(parser *p, json_t *object)
{
    if (skip_space(p) != '"') {
        return expect(p, "string or '}' expected");
    }
    const char *key = read_string(p);
    if (!key) {
        return false;
    }
    if (json_object_get(object, key)) {
        return fail(p, "duplicate object key");
    }
    if (skip_space(p) != ':') {
        return expect(p, "':' expected");
    }
    p->at += 1;
    member *members = make_room(p->document, object->is.members, object->count, sizeof *members);
    json_t *value = members ? take(p->document, sizeof *value) : NULL;
    if (!value) {
        return fail_memory(p);
    }
    *value = (json_t){.type = JSON_NULL};
    object->is.members = members;
    object->is.members[object->count++] = (member){key, value};
    if (!note_member(p->document, object)) {
        return fail_memory(p);
    }
    return read_value(p, value);
}

static bool read_object(parser *p, json_t *object)
{
    object->type = JSON_OBJECT;
    p->at += 1;
    if (skip_space(p) == '}') {
        p->at += 1;
        return true;
    }
    while (read_member(p, object)) {
        char c = skip_space(p);
        if (c != ',' && c != '}') {
            return expect(p, "'}' expected");
        }
        p->at += 1;
        if (c == '}') {
            return true;
        }
    }
    return false;
}

static bool read_value(parser *p, json_t *value)
{
    char c = skip_space(p);
    if (p->at >= p->end) {
        return fail(p, "unexpected token");
    }
    if (c == '{') {
        return read_object(p, value);
    }
    if (c == '[') {
        return read_array(p, value);
    }
    if (c == '"') {
        value->type = JSON_STRING;
        value->is.text = read_string(p);
        return value->is.text != NULL;
    }
    return c == '-' || is_digit(p) ? read_number(p, value) : read_word(p, value);
}

json_t *json_loadb(const char *text, size_t size, size_t flags, json_error_t *error)
{
    (void)flags;
    *error = (json_error_t){.line = 0};
    document *d = calloc(1, sizeof *d);
    parser p = {.document = d, .text = text, .at = text, .end = text + size, .error = error};
    if (!d) {
        fail_memory(&p);
        return NULL;
    }
    char c = skip_space(&p);
    bool is_sound = c == '{' || c == '[' ? read_value(&p, &d->root) : expect(&p, "'[' or '{' expected");
    if (is_sound && (skip_space(&p), p.at < p.end)) {
        is_sound = expect(&p, "end of file expected");
    }
    if (!is_sound) {
        json_decref(&d->root);
        return NULL;
    }
    return &d->root;
}

// ---- Asking --------------------------------------------------------------------------------------------------------------

static bool is_a(const json_t *value, json_type type)
{
    return value && value->type == type;
}

json_type json_typeof(const json_t *value)
{
    return value->type;
}

int json_is_object(const json_t *value)
{
    return is_a(value, JSON_OBJECT);
}

int json_is_array(const json_t *value)
{
    return is_a(value, JSON_ARRAY);
}

int json_is_string(const json_t *value)
{
    return is_a(value, JSON_STRING);
}

int json_is_number(const json_t *value)
{
    return is_a(value, JSON_REAL);
}

int json_is_true(const json_t *value)
{
    return is_a(value, JSON_TRUE);
}

int json_is_null(const json_t *value)
{
    return is_a(value, JSON_NULL);
}

double json_number_value(const json_t *value)
{
    return json_is_number(value) ? value->is.number : 0.0;
}

const char *json_string_value(const json_t *value)
{
    return json_is_string(value) ? value->is.text : NULL;
}

size_t json_array_size(const json_t *array)
{
    return json_is_array(array) ? array->count : 0;
}

json_t *json_array_get(const json_t *array, size_t index)
{
    return index < json_array_size(array) ? array->is.items[index] : NULL;
}

size_t json_object_size(const json_t *object)
{
    return json_is_object(object) ? object->count : 0;
}

json_t *json_object_get(const json_t *object, const char *key)
{
    if (!json_is_object(object)) {
        return NULL;
    }
    if (object->table) {
        for (size_t at = hash_of(key) & object->mask; object->table[at] != 0; at = (at + 1) & object->mask) {
            const member *m = &object->is.members[object->table[at] - 1];
            if (strcmp(m->key, key) == 0) {
                return m->value;
            }
        }
        return NULL;
    }
    for (size_t i = 0; i < object->count; ++i) {
        if (strcmp(object->is.members[i].key, key) == 0) {
            return object->is.members[i].value;
        }
    }
    return NULL;
}

void *json_object_iter(json_t *object)
{
    return json_object_size(object) > 0 ? object->is.members : NULL;
}

void *json_object_iter_next(json_t *object, void *iterator)
{
    member *next = (member *)iterator + 1;
    return next < object->is.members + object->count ? next : NULL;
}

const char *json_object_iter_key(void *iterator)
{
    return ((member *)iterator)->key;
}

json_t *json_object_iter_value(void *iterator)
{
    return ((member *)iterator)->value;
}
