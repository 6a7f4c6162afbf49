// Numbers that users type.
#ifndef APP_PARSE_TEXT_H
#define APP_PARSE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

// A finite number, the whole of `text`. False when it is not one.
bool parse_number(const char *text, double *number);

// A unit of length in metres: one of m cm mm in ft, or a number from 1e-9 to 1e9.
bool parse_unit(const char *text, double *metres);

// The numbers in a text, separated by spaces or commas: how many there are, of which `numbers` takes up to `capacity`; -1
// when something else is in it.
int parse_numbers(const char *text, double *numbers, int capacity);

// "; did you mean "NAME"?" with the nearest of these words, which are separated by spaces; empty when none is near.
const char *did_you_mean(const char *words, const char *text, char *hint, size_t size);

#endif
