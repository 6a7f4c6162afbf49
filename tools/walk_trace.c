// Preloaded into a program whose functions report when they are entered (-finstrument-functions): writes the place in the file
// of each function, in the order in which they are first entered, to the file that WALK names. With WALK_FROM, the place of a
// function, only what is entered within its first call. tools/check_structure.py walk.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define MOST 65536 // functions

static void *seen[MOST];
static FILE *out;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *from; // the function that WALK_FROM means, once it is entered
static bool is_over;

void __cyg_profile_func_enter(void *function, void *caller);
void __cyg_profile_func_exit(void *function, void *caller);

// Is this place within the first call of the function to begin from?
static bool is_within(void *function, size_t place)
{
    const char *wanted = getenv("WALK_FROM");
    if (wanted && !from && strtoull(wanted, NULL, 16) == place) {
        from = function;
    }
    return !is_over && (!wanted || from);
}

void __cyg_profile_func_enter(void *function, void *caller)
{
    (void)caller;
    pthread_mutex_lock(&lock);
    size_t at = ((uintptr_t)function >> 2) % MOST;
    while (seen[at] && seen[at] != function) {
        at = (at + 1) % MOST;
    }
    Dl_info info;
    if (!seen[at] && getenv("WALK") && dladdr(function, &info)) {
        size_t place = (size_t)((char *)function - (char *)info.dli_fbase);
        if (is_within(function, place) && (out || (out = fopen(getenv("WALK"), "w")))) {
            fprintf(out, "%s %#zx\n", info.dli_fname, place);
            fflush(out);
            seen[at] = function;
        }
    }
    pthread_mutex_unlock(&lock);
}

void __cyg_profile_func_exit(void *function, void *caller)
{
    (void)caller;
    is_over = is_over || (from && function == from);
}
