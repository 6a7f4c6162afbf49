// Numbers that users type.
#include "parse_text.h"

#include <poise/base.h>

#include <math.h>
#include <stdio.h>
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

static const char *word_at(const void *words, int index)
{
    return ((char *const *)words)[index];
}

const char *did_you_mean(const char *words, const char *text, char *hint, size_t size)
{
    enum { MOST = 64 };
    char copy[1024], *word[MOST];
    int count = 0;
    snprintf(copy, sizeof copy, "%s", words);
    for (char *at = copy; *at && count < MOST; ++count) {
        word[count] = at;
        at += strcspn(at, " ");
        if (*at) {
            *at++ = '\0';
        }
    }
    const char *near = poise_nearest_name(text, word_at, word, count);
    snprintf(hint, size, "%s%s%s", near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "");
    return hint;
}
