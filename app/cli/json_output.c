// JSON for machines.
#include "json_output.h"

#include "joint_names.h"
#include "terminal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

json_t *json_from_number(double number)
{
    return isfinite(number) ? json_real(number) : json_null();
}

json_t *json_from_numbers(const double *numbers, int count)
{
    json_t *array = json_array();
    for (int i = 0; i < count; ++i) {
        json_array_append_new(array, json_from_number(numbers[i]));
    }
    return array;
}

json_t *json_from_vec3(poise_vec3 v)
{
    return json_from_numbers((double[]){v.x, v.y, v.z}, 3);
}

json_t *json_from_quat(poise_quat q)
{
    return json_from_numbers((double[]){q.x, q.y, q.z, q.w}, 4);
}

json_t *json_from_text(const char *text)
{
    if (!text) {
        return json_null();
    }
    json_t *value = json_string(text);
    if (value) {
        return value;
    }
    size_t size = strlen(text) + 1;
    char *plain = malloc(size);
    if (!plain) {
        return json_null();
    }
    for (size_t i = 0; i < size; ++i) {
        plain[i] = (unsigned char)text[i] < 128 ? text[i] : '?';
    }
    value = json_string(plain);
    free(plain);
    return value;
}

json_t *json_from_names(const void *user, const char *(*at)(const void *user, int index), int count)
{
    json_t *list = json_array();
    for (int i = 0; i < count; ++i) {
        json_array_append_new(list, json_from_text(at(user, i)));
    }
    return list;
}

json_t *json_from_times(const latency *times)
{
    const double us = 1e6;
    return json_pack("{s:o, s:o, s:o, s:o}", "mean", json_from_number(us * latency_mean(times)), "p50",
                     json_from_number(us * latency_quantile(times, 0.5)), "p99",
                     json_from_number(us * latency_quantile(times, 0.99)), "max", json_from_number(us * times->largest));
}

json_t *json_from_limits(const poise_model *model, int (*side)(const void *user, int i), const void *user)
{
    json_t *list = json_array();
    for (int i = 0; i < poise_model_nq(model); ++i) {
        int at = side(user, i), place, k = model_joint_of(model, i, &place);
        if (at != 0) {
            json_array_append_new(list,
                                  json_pack("{s:o, s:i, s:s}", "joint", json_from_text(poise_model_joint_name(model, k)),
                                            "coordinate", i, "side", at < 0 ? "lower" : "upper"));
        }
    }
    return list;
}

enum { DIGITS = 17 }; // as many as a double needs

#define LEAVES (JSON_REAL_PRECISION(DIGITS) | JSON_ENCODE_ANY)

// Print values down to `depth` containers over several lines, what is deeper on one line: a line for each member of the
// outermost object and for each row of a list of objects, but not for each number.
static bool print_lines(const json_t *value, int depth, int indent)
{
    bool is_list = json_is_array(value);
    size_t count = is_list ? json_array_size(value) : json_object_size(value), i = 0;
    bool has_rows = json_is_object(value) || (is_list && json_is_object(json_array_get(value, 0)));
    if (depth == 0 || !has_rows || count == 0) {
        return json_dumpf(value, stdout, LEAVES) == 0;
    }
    bool works = true;
    void *member = is_list ? NULL : json_object_iter((json_t *)value);
    puts(is_list ? "[" : "{");
    for (; i < count && works; ++i) {
        printf("%*s", indent + 1, "");
        if (!is_list) {
            json_t *key = json_string(json_object_iter_key(member));
            works = key && json_dumpf(key, stdout, LEAVES) == 0;
            json_decref(key);
            fputs(": ", stdout);
        }
        works =
            works && print_lines(is_list ? json_array_get(value, i) : json_object_iter_value(member), depth - 1, indent + 1);
        puts(i + 1 < count ? "," : "");
        member = is_list ? NULL : json_object_iter_next((json_t *)value, member);
    }
    printf("%*s%s", indent, "", is_list ? "]" : "}");
    return works;
}

static bool finish(FILE *stream, json_t *value, bool works)
{
    if (!works) {
        complain("JSON could not be printed: no memory left, or standard output is closed");
    }
    putc('\n', stream);
    json_decref(value);
    return works;
}

bool json_print(json_t *value)
{
    return finish(stdout, value, value && print_lines(value, 2, 0));
}

bool json_write_line(FILE *stream, json_t *value)
{
    return finish(stream, value, value && json_dumpf(value, stream, LEAVES | JSON_COMPACT) == 0);
}

bool json_print_line(json_t *value)
{
    return json_write_line(stdout, value);
}
