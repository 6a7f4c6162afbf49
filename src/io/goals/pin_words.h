// Pins in words: what pin_list.c and pin_text.c share.
#ifndef PZ_IO_GOALS_PIN_WORDS_H
#define PZ_IO_GOALS_PIN_WORDS_H

#include "io/goals/goal_words.h"

// A pin that is being read: its words, and what of them is the goal's.
typedef struct pz_pin_reader {
    const poise_goal_words *words;
    const poise_clip *clip; // NULL: there are no frames to count in
    pz_pool *kept;          // of the list
    char **word;            // of the pin
    int count;
    char **goal_word; // room for count + 8
    int *place;       // likewise
    int number;       // of the pin, from 1
    poise_error *error;
} pz_pin_reader;

// Read all words of a pin. FORMAT or MEMORY, with the reason in r->error.
poise_status pz_pin_read(pz_pin_reader *r, poise_pin *pin);

#endif
