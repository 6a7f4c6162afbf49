// What poise_io uses of jansson, over a parser of our own: for builds where there is no jansson.
//
// Same names, same meaning, same messages and places of errors; only for reading. A document is one piece that is released
// as a whole, with its root: json_decref on anything else does nothing.
#ifndef WEB_PARSERS_JANSSON_H
#define WEB_PARSERS_JANSSON_H

#include <stddef.h>

typedef enum json_type {
    JSON_OBJECT,
    JSON_ARRAY,
    JSON_STRING,
    JSON_INTEGER, // never found here: all numbers are JSON_REAL
    JSON_REAL,
    JSON_TRUE,
    JSON_FALSE,
    JSON_NULL
} json_type;

typedef struct json_t json_t;

#define JSON_REJECT_DUPLICATES  0x1  // always so
#define JSON_DECODE_INT_AS_REAL 0x10 // always so

#define JSON_ERROR_TEXT_LENGTH 160

enum json_error_code { json_error_unknown, json_error_out_of_memory, json_error_invalid_syntax };

typedef struct json_error_t {
    int line, column, position;
    char text[JSON_ERROR_TEXT_LENGTH];
    enum json_error_code code;
} json_error_t;

static inline enum json_error_code json_error_code(const json_error_t *error)
{
    return error->code;
}

// Parse all of the text. NULL, with `error` filled, when it is not JSON or memory is short.
json_t *json_loadb(const char *text, size_t size, size_t flags, json_error_t *error);
void json_decref(json_t *root);

// The type of a value; every other question may be asked about any value and about NULL.
json_type json_typeof(const json_t *value);
int json_is_object(const json_t *value);
int json_is_array(const json_t *value);
int json_is_string(const json_t *value);
int json_is_number(const json_t *value);
int json_is_true(const json_t *value);
int json_is_null(const json_t *value);

double json_number_value(const json_t *value);      // 0 for anything else
const char *json_string_value(const json_t *value); // NULL for anything else

size_t json_array_size(const json_t *array);
json_t *json_array_get(const json_t *array, size_t index);

size_t json_object_size(const json_t *object);
json_t *json_object_get(const json_t *object, const char *key);

// Members in the order of the file.
void *json_object_iter(json_t *object);
void *json_object_iter_next(json_t *object, void *iterator);
const char *json_object_iter_key(void *iterator);
json_t *json_object_iter_value(void *iterator);

#endif
