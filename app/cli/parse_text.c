// Words that users type: numbers, and names that are nearly right.
#include "parse_text.h"

#include <limits.h>
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

// Letters to change, add, leave out or swap with their neighbour to make one word of the other (Damerau 1964), for "did you
// mean"; long words count as far.
static int distance(const char *a, const char *b)
{
    enum { MOST = 40 };
    int rows[3][MOST + 1], m = (int)strlen(a), n = (int)strlen(b);
    if (m > MOST || n > MOST) {
        return INT_MAX;
    }
    for (int j = 0; j <= n; ++j) {
        rows[0][j] = j;
    }
    for (int i = 1; i <= m; ++i) {
        int *row = rows[i % 3], *above = rows[(i + 2) % 3], *before = rows[(i + 1) % 3];
        row[0] = i;
        for (int j = 1; j <= n; ++j) {
            int least = above[j - 1] + (a[i - 1] != b[j - 1]);
            least = above[j] + 1 < least ? above[j] + 1 : least;
            least = row[j - 1] + 1 < least ? row[j - 1] + 1 : least;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && before[j - 2] + 1 < least) {
                least = before[j - 2] + 1;
            }
            row[j] = least;
        }
    }
    return rows[m % 3][n];
}

const char *nearest_name(const char *name, const char *(*at)(const void *user, int index), const void *user, int count)
{
    int least = (int)strlen(name) / 2 + 1;
    const char *nearest = NULL;
    for (int i = 0; i < count; ++i) {
        int d = distance(name, at(user, i));
        if (d < least) {
            least = d;
            nearest = at(user, i);
        }
    }
    return nearest;
}
