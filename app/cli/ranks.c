// A single process.
#include "ranks.h"

#include "memory.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static atomic_int counter;

static void start(void)
{
    atomic_store(&counter, 0);
}

static int next(void)
{
    return atomic_fetch_add(&counter, 1);
}

static int most(int value)
{
    return value;
}

static bool agree(bool works)
{
    return works;
}

static void share(void *bytes, size_t size)
{
    (void)bytes;
    (void)size;
}

static void collect(int count, const bool *mine, void *items, size_t size)
{
    (void)count;
    (void)mine;
    (void)items;
    (void)size;
}

// What pieces have said before those ahead of them: messages and output, each with its end.
static struct {
    char **text;
    int count, printed;
} said;

static void listen(int count)
{
    said.text = needed(calloc((size_t)count + 1, sizeof *said.text));
    said.count = count;
    said.printed = 0;
}

static void say(int piece, const char *messages, const char *output)
{
    size_t first = strlen(messages) + 1, second = strlen(output) + 1;
    said.text[piece] = needed(malloc(first + second));
    memcpy(said.text[piece], messages, first);
    memcpy(said.text[piece] + first, output, second);
    for (char *text; said.printed < said.count && (text = said.text[said.printed]) != NULL; ++said.printed) {
        fputs(text, stderr);
        fputs(text + strlen(text) + 1, stdout);
        fflush(stdout);
        free(text);
    }
}

static void hear_out(void)
{
    free(said.text);
    said.text = NULL;
}

static const ranks alone = {0, 1, start, next, most, agree, share, collect, listen, say, hear_out};
static const ranks *joined = &alone;

const ranks *ranks_current(void)
{
    return joined;
}

void ranks_join(const ranks *r)
{
    joined = r;
}

bool rank_leads(void)
{
    return joined->rank == 0;
}

bool ranks_are_unset(void)
{
    return joined == &alone;
}
