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
