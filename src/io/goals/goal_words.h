// Reading the words of one goal, for goal_text.c: what a word or a few of them mean. Whatever returns false has said why.
#ifndef PZ_IO_GOALS_GOAL_WORDS_H
#define PZ_IO_GOALS_GOAL_WORDS_H

#include "io/io_core.h"

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

// Say what is wrong with word `index`; always false.
bool pz_reader_fail(pz_reader *r, int index, const char *format, ...) PZ_PRINTF(3, 4);

// The same of memory; always false.
bool pz_reader_no_memory(pz_reader *r);

// Is the text, all of it, a finite number?
bool pz_reader_is_number(const char *text, double *number);

// The next word; NULL at the end. Step over it if it is `word`.
const char *pz_reader_peek(const pz_reader *r);
bool pz_reader_skip(pz_reader *r, const char *word);

// Numbers with a meaning: "the target", "a normal".
bool pz_reader_numbers(pz_reader *r, const char *meaning, double *numbers, int count);
bool pz_reader_vector(pz_reader *r, const char *meaning, poise_vec3 *v);

// "z", "-x" or three numbers that are not all zero, made unit.
bool pz_reader_direction(pz_reader *r, const char *meaning, poise_vec3 *v);

// "deg" or "rad" after angles: its size in radians.
bool pz_reader_angle_unit(pz_reader *r, double *unit);

// A body by the name of a body, joint or tool; `local` is the tool's frame in it.
bool pz_reader_body(pz_reader *r, int *body, poise_pose *local);

// "rpy 0 90 0 deg", "quaternion 0 0 0 1" or "turn z 90 deg"; and whether the next word begins one.
bool pz_reader_rotation(pz_reader *r, poise_quat *rotation);
bool pz_reader_has_rotation(const pz_reader *r);

// Is there a kind of goal of this name?
bool pz_goal_is_kind(const char *word);

// All words of a goal (goal_text.c).
bool pz_goal_read(pz_reader *r, poise_goal *goal);

#endif
