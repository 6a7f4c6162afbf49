// JSON for machines.
#include "json.h"

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

enum { DIGITS = 17 }; // as many as a double needs

static bool print_value(json_t *value, size_t flags)
{
    bool works = value && json_dumpf(value, stdout, flags | JSON_REAL_PRECISION(DIGITS) | JSON_ENCODE_ANY) == 0;
    if (!works) {
        complain("JSON could not be printed: no memory left, or standard output is closed");
    }
    putchar('\n');
    json_decref(value);
    return works;
}

bool json_print(json_t *value)
{
    return print_value(value, JSON_INDENT(1));
}

bool json_print_line(json_t *value)
{
    return print_value(value, JSON_COMPACT);
}
