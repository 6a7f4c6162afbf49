// JSON (RFC 8259): a strict parser, documents whose values know the way to them, and a writer.
#ifndef PZ_IO_JSON_H
#define PZ_IO_JSON_H

#include "base/text.h"
#include "io/io_core.h"

// ---- Values: strict, with the place of every value -----------------------------------------------------------------------
//
// Besides what the standard asks for: the outermost value is an object or an array, no object has a key twice, no text has a
// zero in it, no number is too large for a double, nothing is nested deeper than PZ_JSON_DEPTH. All numbers are doubles,
// rounded correctly whatever the locale: -0 stays -0, and whole numbers beyond 2^53 round like any other.

// The parser calls itself once for each level.
#define PZ_JSON_DEPTH 128

typedef enum pz_json_type {
    PZ_JSON_NULL,
    PZ_JSON_FALSE,
    PZ_JSON_TRUE,
    PZ_JSON_NUMBER,
    PZ_JSON_TEXT,
    PZ_JSON_ARRAY,
    PZ_JSON_OBJECT
} pz_json_type;

// 16 bytes, since a recording has millions of them.
typedef struct pz_json_value {
    uint32_t place;                // its first byte in the text
    uint32_t type : 3, count : 29; // pz_json_type; elements or members
    union {
        double number;
        const char *text;
        const struct pz_json_value *elements;
        const struct pz_json_members *members;
    } is;
} pz_json_value;

// The members of an object, in the order of the text. `names` is used where there are many.
typedef struct pz_json_members {
    pz_names names;
    const pz_json_value *pairs; // key, value, key, value, ...; keys are texts
} pz_json_members;

// Parse all of the text into memory of the pool: at most some 50 bytes for each byte of the text. On failure
// POISE_ERROR_FORMAT with text, line and column in `error` and the byte in *place, or POISE_ERROR_MEMORY.
poise_status pz_json_parse(pz_pool *pool, const char *text, size_t size, pz_json_value *root, poise_error *error,
                           size_t *place);

// What a value holds. Every value may be asked, and NULL, too.
static inline bool pz_json_is(const pz_json_value *value, pz_json_type type)
{
    return value && value->type == type;
}

double pz_json_as_number(const pz_json_value *value);                            // 0 for anything else
const char *pz_json_as_text(const pz_json_value *value);                         // NULL for anything else
const pz_json_value *pz_json_element(const pz_json_value *array, size_t index);  // NULL when there is none
const pz_json_value *pz_json_find(const pz_json_value *object, const char *key); // NULL when there is none

// ---- Documents -----------------------------------------------------------------------------------------------------------
//
// **Reading.** A pz_item is a value and the way to it, so that a message can name it, `nodes[3].rotation`, and its line.
// Items refer to the item they were taken from, which must stay alive; both live on the stack of the reader.
//
// **Memory** is that of the input's pool.

typedef struct pz_json {
    pz_input *input;
    pz_json_value root;
    const char *text; // NULL inside a binary file: errors have no line
    int warned_lines; // warnings that got a line; each costs a walk over the text
    int unknown_keys; // found so far
} pz_json;

// A value and where it is. `value` is NULL when there is none.
typedef struct pz_item {
    pz_json *json;
    const pz_json_value *value;
    const struct pz_item *parent;
    const char *key; // in an object; NULL in an array
    size_t index;    // in an array
} pz_item;

// Parse all of [bytes, bytes + size). `first` is the position of `bytes` in a binary file, 0 for a file that is all text.
poise_status pz_json_load(pz_input *input, const void *bytes, size_t size, size_t first, pz_json *json);

// Say how many unknown keys were not named. Values stay valid until the read ends.
void pz_json_release(pz_json *json);

pz_item pz_json_root(pz_json *json);

// A member or an element; without a value when there is none, or null in its place.
pz_item pz_json_get(const pz_item *object, const char *key);
pz_item pz_json_at(const pz_item *array, size_t index);

// Members one by one, in the order of the text; 0 of them for anything else than an object.
int pz_json_member_count(const pz_item *object);
pz_item pz_json_member(const pz_item *object, int i);

size_t pz_json_length(const pz_item *item); // of an array; 0 for anything else

// An error or a warning about this value, with its path in front and its line.
poise_status pz_json_fail(const pz_item *item, poise_status status, const char *format, ...) PZ_PRINTF(3, 4);
void pz_json_warn(const pz_item *item, const char *format, ...) PZ_PRINTF(2, 3);

// The same for what another part of the library said: its text goes after the path.
poise_status pz_json_fail_as(const pz_item *item, poise_status status, const poise_error *said);

// Warn of members that are not in the list, a few by name and the others, when the document is released, by number.
void pz_json_warn_unknown(const pz_item *object, const char *const *known, size_t count);

// Check what a value is. A value that is not there fails like one of another type.
poise_status pz_json_need_object(const pz_item *item);
poise_status pz_json_need_array(const pz_item *item);
poise_status pz_json_need_length(const pz_item *item, size_t count);

// Take a value, or fail. Texts are valid until the read ends.
poise_status pz_json_number(const pz_item *item, double *value);
poise_status pz_json_integer(const pz_item *item, int least, int most, int *value);
poise_status pz_json_string(const pz_item *item, const char **value);
poise_status pz_json_numbers(const pz_item *item, double *values, size_t count); // exactly so many

// Members that may be missing: the value then stays as it is.
poise_status pz_json_number_of(const pz_item *object, const char *key, double *value);
poise_status pz_json_integer_of(const pz_item *object, const char *key, int least, int most, int *value);
poise_status pz_json_string_of(const pz_item *object, const char *key, const char **value);
poise_status pz_json_numbers_of(const pz_item *object, const char *key, double *values, size_t count);

// ---- Writing -------------------------------------------------------------------------------------------------------------

// Two spaces for each level; members in the order of the calls. Between pz_json_open_flat and pz_json_close_flat all
// stays on one line.
typedef struct pz_json_writer {
    pz_output *output;
    int depth;
    bool has_before; // a value came before in the present object or array
    int flat;        // > 0: on one line
} pz_json_writer;

// Each takes the key of a member; NULL in an array. pz_json_begin is for a value that the caller writes.
void pz_json_begin(pz_json_writer *writer, const char *key);
void pz_json_open(pz_json_writer *writer, const char *key, const char *bracket); // "{" or "["
void pz_json_close(pz_json_writer *writer, const char *bracket);                 // "}" or "]"
void pz_json_open_flat(pz_json_writer *writer, const char *key, const char *bracket);
void pz_json_close_flat(pz_json_writer *writer, const char *bracket);
void pz_json_put_text(pz_json_writer *writer, const char *key, const char *text);
void pz_json_put_number(pz_json_writer *writer, const char *key, double value); // null where not finite
void pz_json_put_integer(pz_json_writer *writer, const char *key, long long value);
void pz_json_put_numbers(pz_json_writer *writer, const char *key, const double *values, size_t count); // on one line
void pz_json_put_null(pz_json_writer *writer, const char *key);

#endif
