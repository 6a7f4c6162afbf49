// Reading the words of one goal, for goals.c: what a word or a few of them mean. Whatever returns false has said why.
#ifndef APP_GOAL_WORDS_H
#define APP_GOAL_WORDS_H

#include "goal_language.h"

enum { READER_ERROR = 512 }; // room for what is said of a word

// The words of one goal, and where reading stands.
typedef struct reader {
    const goal_context *context;
    goal_list *list;
    char **word;
    int count, next;
    int number; // of the goal, from 1
    char *error;
    size_t size;
} reader;

// Say what is wrong with word `index`; always false.
bool reader_fail(reader *r, int index, const char *format, ...) __attribute__((format(printf, 3, 4)));

// The next word; NULL at the end. Step over it if it is `word`.
const char *reader_peek(const reader *r);
bool reader_skip(reader *r, const char *word);

// Numbers with a meaning: "the target", "a normal".
bool reader_numbers(reader *r, const char *meaning, double *numbers, int count);
bool reader_vector(reader *r, const char *meaning, poise_vec3 *v);

// "z", "-x" or three numbers that are not all zero, made unit.
bool reader_direction(reader *r, const char *meaning, poise_vec3 *v);

// "deg" or "rad" after angles: its size in radians.
bool reader_angle_unit(reader *r, double *unit);

// A body by the name of a body, joint or tool; `local` is the tool's frame in it.
bool reader_body(reader *r, int *body, poise_pose *local);

// "rpy 0 90 0 deg", "quaternion 0 0 0 1" or "turn z 90 deg"; and whether the next word begins one.
bool reader_rotation(reader *r, poise_quat *rotation);
bool reader_has_rotation(const reader *r);

#endif
