// Lists that are read from words: what lists of goals and of pins share. Entries are separated by semicolons.
#ifndef PZ_IO_GOALS_WORD_LIST_H
#define PZ_IO_GOALS_WORD_LIST_H

#include "io/io_core.h"

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

// Add a copy of an entry, and of its text without the blanks around it.
poise_status pz_word_list_add(pz_word_list *list, const void *entry, const char *text, poise_error *error);

// MEMORY, said.
poise_status pz_word_list_no_memory(poise_error *error);

#endif
