// Files and programs beside this one, in a build folder or where it was installed; and the processes that share its job.
#ifndef APP_PROGRAMS_H
#define APP_PROGRAMS_H

#include "command.h"

#include <stdbool.h>
#include <stddef.h>

// The path of the first of `places` that exists, relative to the folder of this program; the list ends with NULL. False
// when none does.
bool find_beside_program(const char *const *places, char *path, size_t size);

// Become another program, called `name`, with the arguments `command` (unless NULL) and `words`. Returns only when that
// fails, after one line on standard error.
void become_program(const char *path, const char *name, const char *command, int count, char *const *words);

// Go on with `command` as poise-cuda, the program that has the device. Returns only when that fails, after one line on
// standard error.
void become_device_program(const arguments *args, const char *command);

// ---- The ranks: processes that share one job -----------------------------------------------------------------------------

// `poise` is a single process; `poise-mpi` runs as many as mpirun starts. All ranks run the same command on the same input.
// The pieces of the job are numbered, and one rank does each. Rank 0 leads: it alone prints, and writes what the job as a
// whole gives. All ranks make the calls marked "collective", in the same order; those that come first wait.
typedef struct ranks {
    int rank, size;

    // Collective: from here on `next` gives 0, 1, 2 .. , each number to one caller of one rank. Any thread may call it.
    void (*start)(void);
    int (*next)(void);

    // Collective: the largest value of all.
    int (*most)(int value);

    // Collective: true when it is true for all. Rank 0 prints a complaint that only others have had.
    bool (*agree)(bool works);

    // Collective: all get what rank 0 has in `bytes`.
    void (*share)(void *bytes, size_t size);

    // Collective: rank 0 gets items[i], of `size` bytes each, from whoever has mine[i], for i < count.
    void (*collect)(int count, const bool *mine, void *items, size_t size);

    // What `count` pieces print on standard error and standard output: rank 0 prints it in the order of the pieces. `listen`
    // and `hear_out`, before the first and after the last, are collective; one thread may call `say`.
    void (*listen)(int count);
    void (*say)(int piece, const char *messages, const char *output);
    void (*hear_out)(void);
} ranks;

// The ranks that this process is one of; a single process until it joins others.
const ranks *ranks_current(void);
void ranks_join(const ranks *r);

// True when no ranks have been set up.
bool ranks_are_unset(void);

// True for rank 0.
bool rank_leads(void);

#endif
