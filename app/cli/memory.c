// Memory that a program cannot go on without.
#include "memory.h"

#include "command.h"
#include "terminal.h"

#include <stdlib.h>
#include <string.h>

void need(bool has_memory)
{
    if (!has_memory) {
        complain_to(NULL, 0);
        messages_to(NULL);
        complain("no memory left");
        exit(APP_BAD);
    }
}

void *needed(void *memory)
{
    need(memory != NULL);
    return memory;
}

char *needed_copy(const void *bytes, size_t size)
{
    char *copy = needed(malloc(size + 1));
    memcpy(copy, bytes, size);
    copy[size] = '\0';
    return copy;
}
