// Numbers that users type.
#ifndef APP_PARSE_TEXT_H
#define APP_PARSE_TEXT_H

#include <stdbool.h>

// A finite number, the whole of `text`. False when it is not one.
bool parse_number(const char *text, double *number);

// The numbers in a text, separated by spaces or commas: how many there are, of which `numbers` takes up to `capacity`; -1
// when something else is in it.
int parse_numbers(const char *text, double *numbers, int capacity);

#endif
