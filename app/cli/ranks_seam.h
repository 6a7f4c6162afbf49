// Processes that share one job: `poise` is alone, the ranks of `poise-mpi` are a team.
//
// All processes of a team run the same command on the same input; pieces of the job are numbered, and each is done by one of
// them. Rank 0 leads: it alone prints and writes what the job as a whole gives. Calls marked "together" are made by all
// processes, in the same order; those who come first wait.
#ifndef APP_RANKS_SEAM_H
#define APP_RANKS_SEAM_H

#include <stdbool.h>
#include <stddef.h>

typedef struct team {
    int rank, size;

    // Together: from here on `next` gives 0, 1, 2 .. , each number to one caller of one process. Any thread may call it.
    void (*start)(void);
    int (*next)(void);

    // Together: the largest value of all.
    int (*most)(int value);

    // Together: does it work for all? A complaint that only others have had is printed by rank 0 then.
    bool (*agree)(bool works);

    // Together: all get what rank 0 has in `bytes`.
    void (*share)(void *bytes, size_t size);

    // Together: rank 0 gets items[i], of `size` bytes each, from whoever has mine[i], for i < count.
    void (*collect)(int count, const bool *mine, void *items, size_t size);

    // Each of `count` pieces has something to say, for standard error and for standard output; rank 0 prints it in the order
    // of the pieces. `listen` and `hear_out`, before the first and after the last, are together; `say` is for one thread.
    void (*listen)(int count);
    void (*say)(int piece, const char *messages, const char *output);
    void (*hear_out)(void);
} team;

// The team that the process is one of; at first it is alone.
const team *team_now(void);
void team_join(const team *t);

// Is it one of no team, not even of one process?
bool team_is_alone(void);

// Is this rank 0?
bool team_leads(void);

#endif
