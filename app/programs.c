// Where the program and what belongs to it lies.
#include "programs.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

bool find_beside_program(const char *const *places, char *path, size_t size)
{
    char program[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    if (length <= 0) {
        return false;
    }
    program[length] = '\0';
    *strrchr(program, '/') = '\0';
    for (; *places; ++places) {
        if (snprintf(path, size, "%s/%s", program, *places) < (int)size && access(path, R_OK) == 0) {
            return true;
        }
    }
    return false;
}
