// Where the program and what belongs to it lies: in a build folder, or where it was installed.
#ifndef APP_PROGRAMS_H
#define APP_PROGRAMS_H

#include <stdbool.h>
#include <stddef.h>

// The first of these that exists, relative to the folder of the program; the list ends with NULL. False when none does.
bool find_beside_program(const char *const *places, char *path, size_t size);

// Become another program: `name` is what it is called, then come `command`, unless that is NULL, and the words. Comes back
// when that fails, after one line on standard error.
void become_program(const char *path, const char *name, const char *command, int count, char *const *words);

#endif
