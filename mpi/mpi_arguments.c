// What jobs have to say, printed by rank 0 in the order of the jobs.
#include "ranks.h"

#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A message: the piece as an int, the text for standard error, the text for standard output, both with their '\0'.
typedef struct words {
    char **said; // messages by piece, NULL where there is none yet
    int count, printed;
    pthread_mutex_t lock;
} words;

static words all = {.lock = PTHREAD_MUTEX_INITIALIZER};

static char *pack(int piece, const char *messages, const char *output, size_t *size)
{
    size_t first = strlen(messages) + 1, second = strlen(output) + 1;
    char *message = ranks_must(malloc(sizeof piece + first + second));
    memcpy(message, &piece, sizeof piece);
    memcpy(message + sizeof piece, messages, first);
    memcpy(message + sizeof piece + first, output, second);
    *size = sizeof piece + first + second;
    return message;
}

// Print as far as there is no gap.
static void keep(char *message)
{
    int piece;
    memcpy(&piece, message, sizeof piece);
    pthread_mutex_lock(&all.lock);
    all.said[piece] = message;
    while (all.printed < all.count && all.said[all.printed]) {
        const char *text = all.said[all.printed] + sizeof piece;
        fputs(text, stderr);
        fputs(text + strlen(text) + 1, stdout);
        fflush(stdout);
        free(all.said[all.printed]);
        all.said[all.printed++] = NULL;
    }
    pthread_mutex_unlock(&all.lock);
}

bool words_receive(void)
{
    MPI_Status status;
    int there, size;
    MPI_Iprobe(MPI_ANY_SOURCE, WORDS_TAG, MPI_COMM_WORLD, &there, &status);
    if (!there) {
        return false;
    }
    MPI_Get_count(&status, MPI_CHAR, &size);
    char *message = ranks_must(malloc((size_t)size));
    MPI_Recv(message, size, MPI_CHAR, status.MPI_SOURCE, WORDS_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    keep(message);
    return true;
}

void words_listen(int count)
{
    if (rank_leads()) {
        all.said = ranks_must(calloc((size_t)count + 1, sizeof *all.said));
        all.count = count;
        all.printed = 0;
    }
    ranks_meet(); // nothing is sent before there is a place for it
}

void words_say(int piece, const char *messages, const char *output)
{
    size_t size;
    char *message = pack(piece, messages, output, &size);
    if (rank_leads()) {
        keep(message);
        return;
    }
    ranks_lock();
    MPI_Send(message, (int)size, MPI_CHAR, 0, WORDS_TAG, MPI_COMM_WORLD);
    ranks_unlock();
    free(message);
}

void words_hear_out(void)
{
    for (bool waits = rank_leads(); waits;) {
        pthread_mutex_lock(&all.lock);
        waits = all.printed < all.count;
        pthread_mutex_unlock(&all.lock);
        if (waits) {
            ranks_rest();
        }
    }
    free(all.said);
    all.said = NULL;
}
