// Between system_posix.c and the system of its own that it runs on.
#ifndef APP_SYSTEM_POSIX_H
#define APP_SYSTEM_POSIX_H

#include "system.h"

// Run a program that is found on the path, and do not wait for it; what it prints is not shown.
void system_start_quietly(char *const *words);

#endif
