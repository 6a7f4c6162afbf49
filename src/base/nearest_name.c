// The name that somebody who mistyped one most likely meant.
#include <poise/base.h>

#include <limits.h>
#include <string.h>

// Letters to change, add, leave out or swap with their neighbour to make one word of the other (Damerau 1964); long words
// count as far.
static int distance(const char *a, const char *b)
{
    enum { MOST = 40 };
    int rows[3][MOST + 1];
    size_t a_length = strlen(a), b_length = strlen(b);
    if (a_length > MOST || b_length > MOST) {
        return INT_MAX;
    }
    int m = (int)a_length, n = (int)b_length;
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

const char *poise_nearest_name(const char *name, const char *(*at)(const void *user, int index), const void *user, int count)
{
    size_t half = strlen(name) / 2 + 1;
    int least = half < INT_MAX ? (int)half : INT_MAX;
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
