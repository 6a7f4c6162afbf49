// Files and programs beside this one, in a build folder or where it was installed.
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

#endif
