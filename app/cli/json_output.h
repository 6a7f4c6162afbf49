// JSON for machines, over jansson: numbers with all their digits, null for what is not a number.
#ifndef APP_JSON_OUTPUT_H
#define APP_JSON_OUTPUT_H

#include "latency.h"

#include <poise/model.h>

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

json_t *json_from_number(double number); // null when it is not finite
json_t *json_from_numbers(const double *numbers, int count);
json_t *json_from_vec3(poise_vec3 v);
json_t *json_from_quat(poise_quat q);     // x y z w
json_t *json_from_text(const char *text); // bytes that are not UTF-8 become '?'; null for NULL
json_t *json_from_names(const void *user, const char *(*at)(const void *user, int index), int count);
json_t *json_from_times(const latency *times); // microseconds: mean, p50, p99, max

// The list "active_limits": side(user, i) < 0 where coordinate i is at its lower limit, > 0 at its upper one, 0 at none.
json_t *json_from_limits(const poise_model *model, int (*side)(const void *user, int i), const void *user);

// Print to standard output, a line for each member of the outermost object and each object in a list of them, and release
// `value`. False, with a line on standard error, when there was no memory for it.
bool json_print(json_t *value);

// The same on a single line, to standard output or elsewhere.
bool json_print_line(json_t *value);
bool json_write_line(FILE *stream, json_t *value);

#endif
