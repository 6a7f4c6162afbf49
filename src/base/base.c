// The functions of poise/base.h: names of statuses, the version, memory of the caller's, the name that was meant.
#include <poise/base.h>

#include <limits.h>
#include <string.h>

// ---- Status and version --------------------------------------------------------------------------------------------------

#define TEXT_OF(number)       #number
#define VERSION_TEXT(a, b, c) TEXT_OF(a) "." TEXT_OF(b) "." TEXT_OF(c)

const char *poise_version(void)
{
    return VERSION_TEXT(POISE_VERSION_MAJOR, POISE_VERSION_MINOR, POISE_VERSION_PATCH);
}

// ---- Memory of the caller's ----------------------------------------------------------------------------------------------

#define MALLOC_ALIGNMENT 16 // malloc's

static void *memory_take(void *user, size_t size)
{
    poise_memory *memory = user;
    uintptr_t start = (uintptr_t)memory->base + memory->used;
    size_t skip = (MALLOC_ALIGNMENT - start % MALLOC_ALIGNMENT) % MALLOC_ALIGNMENT, used = memory->used;
    // as if the start were aligned worst, so that what was enough once is always enough
    memory->used = size <= SIZE_MAX - MALLOC_ALIGNMENT - used ? used + size + MALLOC_ALIGNMENT : SIZE_MAX;
    return memory->base && memory->used <= memory->size ? (unsigned char *)memory->base + used + skip : NULL;
}

static void memory_keep(void *user, void *memory)
{
    (void)user;
    (void)memory;
}

poise_allocator poise_memory_allocator(poise_memory *memory)
{
    return (poise_allocator){.allocate = memory_take, .release = memory_keep, .user = memory};
}

// ---- The nearest name ----------------------------------------------------------------------------------------------------

// Letters to change, add, leave out or swap with their neighbour to make one word of the other (Damerau 1964); long words
// count as far.
static int edit_distance(const char *a, const char *b)
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

static bool is_word_character(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

// Is `name`, of three letters at least, a word or several in `whole`, as in "mixamorig:RightHand" or "shoulder_pan_joint"?
static bool is_part(const char *name, const char *whole)
{
    size_t length = strlen(name), room = strlen(whole);
    for (size_t i = 0; length >= 3 && i + length <= room; ++i) {
        bool is_word = (i == 0 || !is_word_character(whole[i - 1])) && !is_word_character(whole[i + length]);
        if (is_word && memcmp(whole + i, name, length) == 0) {
            return true;
        }
    }
    return false;
}

// The distance to a name, or to what follows its prefix ("mixamorig:"), which counts as one letter, as words around do.
static int distance_to(const char *name, const char *whole)
{
    int d = edit_distance(name, whole);
    const char *colon = strrchr(whole, ':');
    int behind = colon ? edit_distance(name, colon + 1) : INT_MAX;
    d = behind < d - 1 ? behind + 1 : d;
    return d > 1 && is_part(name, whole) ? 1 : d;
}

const char *poise_nearest_name(const char *name, const char *(*at)(const void *user, int index), const void *user, int count)
{
    size_t half = strlen(name) / 2 + 1;
    int least = half < INT_MAX ? (int)half : INT_MAX;
    const char *nearest = NULL;
    for (int i = 0; i < count; ++i) {
        int d = distance_to(name, at(user, i));
        if (d < least) {
            least = d;
            nearest = at(user, i);
        }
    }
    return nearest;
}
