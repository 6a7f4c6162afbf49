// Numbers that users type.
#include "parse_text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool parse_number(const char *text, double *number)
{
    char *end;
    double value = strtod(text, &end); // the program never leaves the "C" locale
    if (end == text || *end || !isfinite(value)) {
        return false;
    }
    *number = value;
    return true;
}

bool parse_unit(const char *text, double *metres)
{
    static const struct {
        const char *name;
        double metres;
    } units[] = {{"m", 1}, {"cm", 0.01}, {"mm", 0.001}, {"in", 0.0254}, {"ft", 0.3048}};
    for (size_t i = 0; i < sizeof units / sizeof units[0]; ++i) {
        if (strcmp(text, units[i].name) == 0) {
            *metres = units[i].metres;
            return true;
        }
    }
    return parse_number(text, metres) && *metres >= 1e-9 && *metres <= 1e9;
}

int parse_numbers(const char *text, double *numbers, int capacity)
{
    int count = 0;
    for (const char *c = text;;) {
        c += strspn(c, " ,\t\n");
        if (!*c) {
            return count;
        }
        char word[64];
        size_t size = strcspn(c, " ,\t\n");
        if (size >= sizeof word) {
            return -1;
        }
        memcpy(word, c, size);
        word[size] = '\0';
        double number;
        if (!parse_number(word, &number)) {
            return -1;
        }
        if (count < capacity) {
            numbers[count] = number;
        }
        count += 1;
        c += size;
    }
}
