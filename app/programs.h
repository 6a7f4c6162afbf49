// Where the program and what belongs to it lies: in a build folder, or where it was installed.
#ifndef APP_PROGRAMS_H
#define APP_PROGRAMS_H

#include <stdbool.h>
#include <stddef.h>

// The first of these that exists, relative to the folder of the program; the list ends with NULL. False when none does.
bool find_beside_program(const char *const *places, char *path, size_t size);

#endif
