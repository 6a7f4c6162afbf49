// JSON for machines: values, printing and reading. Numbers have all their digits; what is not a number is null.
#ifndef POISE_CLI_JSON_H
#define POISE_CLI_JSON_H

#include <poise/model.h>

#include "latency.h"

#include <stdbool.h>
#include <stdio.h>

typedef enum json_kind {
    JSON_NULL,
    JSON_FALSE,
    JSON_TRUE,
    JSON_INTEGER,
    JSON_REAL,
    JSON_TEXT,
    JSON_ARRAY,
    JSON_OBJECT
} json_kind;

typedef struct json_node {
    json_kind kind;
    char *key;  // in an object; NULL elsewhere
    char *text; // of JSON_TEXT
    double number;
    long long integer;              // `number` has it, too
    struct json_node *first, *last; // elements or members
    struct json_node *next;         // in the array or object that holds it
    int count;                      // of elements or members
} json_node;

// ---- Making values -------------------------------------------------------------------------------------------------------
//
// Without memory these return NULL, which every function here takes; what it is put into becomes NULL, or goes without it.

json_node *json_new(json_kind kind);
json_node *json_from_integer(long long integer);
json_node *json_from_bool(bool is_true);
json_node *json_from_number(double number); // null when it is not finite
json_node *json_from_numbers(const double *numbers, int count);
json_node *json_from_vec3(poise_vec3 v);
json_node *json_from_quat(poise_quat q);     // x y z w
json_node *json_from_text(const char *text); // bytes that are not UTF-8 become '?'; null for NULL

json_node *json_from_names(const void *user, const char *(*at)(const void *user, int index), int count);
json_node *json_from_times(const latency *times); // microseconds: mean, p50, p99, max

// The list "coordinates": what each number of q is, as coordinate_label says it.
json_node *json_from_coordinates(const poise_model *model);

// The list "active_limits": side(user, i) < 0 where coordinate i is at its lower limit, > 0 at its upper one, 0 at none.
json_node *json_from_limits(const poise_model *model, int (*side)(const void *user, int i), const void *user);

// A value by a format, such as json_make("{s:i, s:[f, f]}", "count", 3, "range", 0.5, 1.5). In an object each value has a
// key in front. s: a text or NULL, i: int, I: long long, f: double, b: bool as int, o: a json_node, which it takes.
json_node *json_make(const char *format, ...);

// Put a value, which they take, at the end of an array, or into an object, in place of one with this key.
void json_append(json_node *array, json_node *value);
void json_set(json_node *object, const char *key, json_node *value);

// Move all members of another object, which goes, into this one.
void json_merge(json_node *object, json_node *other);

json_node *json_copy(const json_node *value); // without its key
void json_release(json_node *value);          // with all that it holds

// ---- Asking: any value, and NULL, too ------------------------------------------------------------------------------------

bool json_is(const json_node *value, json_kind kind);
bool json_is_number(const json_node *value);
int json_count(const json_node *list);                         // elements or members
double json_number_of(const json_node *value);                 // 0 for anything else
const char *json_text_of(const json_node *value);              // NULL for anything else
json_node *json_get(const json_node *object, const char *key); // NULL when there is none

// Parse all of the text; NULL, with `error` and the byte in *place, when it is not JSON.
json_node *json_read(const void *text, size_t size, poise_error *error, size_t *place);

// ---- Printing ------------------------------------------------------------------------------------------------------------

typedef enum json_layout {
    JSON_TIGHT,   // one line without blanks
    JSON_LINE,    // one line
    JSON_ROWS,    // a line for each member of the outermost object and each object in a list of them
    JSON_INDENTED // a line for each value
} json_layout;

// As few digits, up to `most`, as give the same number back. Returns how long the text is.
enum { JSON_DIGITS = 17, JSON_NUMBER_SIZE = 40 }; // as many digits as a double needs; room for a number
int json_number_text(char text[JSON_NUMBER_SIZE], double number, int most);

// Numbers with so many digits at most. False when the stream is broken.
bool json_write(FILE *stream, const json_node *value, json_layout layout, int digits);

// The same, tight, as a text, to be freed; NULL without memory.
char *json_to_text(const json_node *value, int digits);

// Print as rows to standard output, and release `value`. False, with a line on standard error, when there was no memory for
// it; false alone when the stream is broken, which files_flush_output() tells.
bool json_print(json_node *value);

// The same on a single line, to standard output or elsewhere.
bool json_print_line(json_node *value);
bool json_write_line(FILE *stream, json_node *value);

#endif
