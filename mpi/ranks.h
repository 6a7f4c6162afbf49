// The ranks of an MPI program (app/cli/programs.h).
#ifndef MPI_RANKS_H
#define MPI_RANKS_H

#include <app/cli/programs.h>

// Start MPI and join its ranks. What rank 0 alone should print goes, on the others, nowhere (standard output) or to a
// stream that is kept (complaints). False, with one line on standard error, where MPI cannot serve threads.
bool ranks_start(int *count, char ***words);

// Leave, together, after everything was printed.
void ranks_end(void);

// ---- For words.c ---------------------------------------------------------------------------------------------------------

enum { WORDS_TAG = 1 };

// Calls of MPI are made by one thread at a time: between these two.
void ranks_lock(void);
void ranks_unlock(void);

// A moment's sleep, so that waiting costs no processor.
void ranks_rest(void);

// Together, in that manner.
void ranks_meet(void);

// Memory, or the end of all ranks: without it they would wait for each other for ever.
void *ranks_must(void *memory);

// ---- What jobs have to say (words.c) -------------------------------------------------------------------------------------

void words_listen(int count);
void words_say(int piece, const char *messages, const char *output);
void words_hear_out(void);

// Rank 0, with the lock: take in what others have sent. Returns false when there is nothing.
bool words_receive(void);

#endif
