// JSON (RFC 8259) to a tree of values: strict, with the place of every value.
//
// Besides what the standard asks for: the outermost value is an object or an array, no object has a key twice, no text has a
// zero in it, no number is too large for a double, nothing is nested deeper than PZ_JSON_DEPTH. All numbers are doubles,
// rounded correctly whatever the locale: -0 stays -0, and whole numbers beyond 2^53 round like any other.
#ifndef PZ_IO_JSON_VALUE_H
#define PZ_IO_JSON_VALUE_H

#include "io/io_core.h"

#include "base/names.h"

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

#endif
