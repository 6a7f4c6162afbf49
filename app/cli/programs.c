// Files and programs beside this one.
#include "programs.h"

#include "memory.h"
#include "ranks_seam.h"
#include "system/system.h"
#include "terminal.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool find_beside_program(const char *const *places, char *path, size_t size)
{
    char program[PATH_MAX];
    if (!system_program_path(program, sizeof program)) {
        return false;
    }
    *strrchr(program, '/') = '\0';
    for (; *places; ++places) {
        if (snprintf(path, size, "%s/%s", program, *places) < (int)size && access(path, R_OK) == 0) {
            return true;
        }
    }
    return false;
}

void become_program(const char *path, const char *name, const char *command, int count, char *const *words)
{
    char **all = needed(calloc((size_t)count + 3, sizeof *all));
    int given = 0;
    all[given++] = (char *)name;
    if (command) {
        all[given++] = (char *)command;
    }
    for (int i = 0; i < count; ++i) {
        all[given++] = words[i];
    }
    system_become(path, all);
    complain("%s: cannot be run: %s", path, strerror(errno));
    free(all);
}

void become_device_program(const arguments *args, const char *command)
{
    static const char *const places[] = {"poise-cuda", NULL};
    char path[PATH_MAX];
    int count;
    char *const *words = arguments_words(args, &count);
    if (!ranks_are_unset()) {
        complain("--device cuda is for one process: poise %s, not poise-mpi", command);
    } else if (!find_beside_program(places, path, sizeof path)) {
        complain("there is no poise-cuda beside this program: build with a CUDA compiler, -DPOISE_BUILD_CUDA=ON, or leave "
                 "--device cuda out");
    } else {
        become_program(path, "poise-cuda", command, count, words);
    }
}
