// Goals in words, and lists that are read from words: what lists of goals and of pins share.
#ifndef PZ_IO_GOAL_TEXT_H
#define PZ_IO_GOAL_TEXT_H

#include "io/io_core.h"

// ---- The words of one goal. Whatever returns false has said why ----------------------------------------------------------

// The words of one goal, and where reading stands.
typedef struct pz_reader {
    const poise_goal_words *words;
    pz_pool *kept; // of the list: what goals point to
    char **word;
    int count, next;
    int number;          // of the goal, from 1
    const char *noun;    // NULL: "goal"; what messages call it
    const int *place;    // NULL: of each word, which one of the text it is
    poise_status status; // why reading failed
    poise_error *error;
} pz_reader;

// Is the text, all of it, a finite number?
bool pz_reader_is_number(const char *text, double *number);

// Is there a kind of goal of this name?
bool pz_goal_is_kind(const char *word);

// All words of a goal (goal_text.c).
bool pz_goal_read(pz_reader *r, poise_goal *goal);

// ---- Lists of entries, separated by semicolons ---------------------------------------------------------------------------

typedef struct pz_word_list {
    int count;
    void *entries;      // of `size` bytes each
    const char **texts; // of each, as it was written
    size_t size, entry_room, text_room;
    const char *noun; // what messages call an entry: "goal"
    pz_pool pool;     // what entries point to
    poise_allocator allocator;
} pz_word_list;

void pz_word_list_open(pz_word_list *list, const poise_allocator *allocator, const char *noun, size_t size);

// Release all that the list holds, and the block that it is in.
void pz_word_list_close(pz_word_list *list, void *block);

// The most words that a text of so many bytes can have: each has a letter and a blank.
#define PZ_WORD_LIST_MOST(size) ((size) / 2 + 1)

// One entry from its words, of which there is at least one. `number` is the entry's, from 1.
typedef poise_status (*pz_word_list_read)(void *user, char **word, int count, int number, void *entry);

// Add all entries of a text. Those before one that fails stay.
poise_status pz_word_list_parse(pz_word_list *list, const char *text, pz_word_list_read read, void *user,
                                poise_error *error);

// POISE_ERROR_MEMORY, with its text in `error`.
poise_status pz_word_list_no_memory(poise_error *error);

#endif
