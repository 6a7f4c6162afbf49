// The ranks of an MPI program.
//
// Pieces are handed out by a counter in a window of rank 0's memory, which the others add to without asking
// (MPI_Fetch_and_op). Where the network cannot do that by itself MPI does it when rank 0 calls in, so a thread of rank 0
// calls in every millisecond. It also takes in what jobs have to say.
#include "ranks.h"

#include <app/cli/terminal.h>
#include <app/cli/threads.h>

#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define REST_NANOSECONDS 1000000L

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_t helper; // of rank 0
static bool has_helper;
static atomic_bool is_over;
static MPI_Win window = MPI_WIN_NULL; // over the counter
static char *heard;                   // complaints of a rank other than 0
static size_t heard_size;
static FILE *hears;

void ranks_lock(void)
{
    pthread_mutex_lock(&lock);
}

void ranks_unlock(void)
{
    pthread_mutex_unlock(&lock);
}

void ranks_rest(void)
{
    nanosleep(&(struct timespec){.tv_nsec = REST_NANOSECONDS}, NULL);
}

void *ranks_must(void *memory)
{
    if (!memory) {
        messages_to(NULL);
        complain("rank %d: no memory left", ranks_current()->rank);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    return memory;
}

// A barrier that sleeps. The calls that wait actively come after it, when nobody is late.
void ranks_meet(void)
{
    MPI_Request request;
    ranks_lock();
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    ranks_unlock();
    for (int met = 0; !met;) {
        ranks_lock();
        MPI_Test(&request, &met, MPI_STATUS_IGNORE);
        ranks_unlock();
        if (!met) {
            ranks_rest();
        }
    }
}

// ---- The calls -----------------------------------------------------------------------------------------------------------

// The counter's value before `operation` with `value`.
static int count_with(int value, MPI_Op operation)
{
    int before;
    ranks_lock();
    MPI_Fetch_and_op(&value, &before, MPI_INT, 0, 0, operation, window);
    MPI_Win_flush(0, window);
    ranks_unlock();
    return before;
}

static void start(void)
{
    ranks_meet(); // nobody counts any more
    if (rank_leads()) {
        count_with(0, MPI_REPLACE);
    }
    ranks_meet();
}

static int next(void)
{
    return count_with(1, MPI_SUM);
}

static int most(int value)
{
    int largest;
    ranks_meet();
    ranks_lock();
    MPI_Allreduce(&value, &largest, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    ranks_unlock();
    return largest;
}

// The last line that the rank was to print, without "poise: ".
static const char *last_complaint(void)
{
    static const char before[] = "poise: ";
    fflush(hears);
    if (heard_size == 0) {
        return "failed";
    }
    heard[heard_size - 1] = '\0'; // the end of the line
    const char *line = strrchr(heard, '\n');
    line = line ? line + 1 : heard;
    return strncmp(line, before, sizeof before - 1) == 0 ? line + sizeof before - 1 : line;
}

static bool agree(bool works)
{
    // rank 0 has complained itself; of the others the first tells it
    int rank = ranks_current()->rank, size = ranks_current()->size;
    int first = size - most(works ? 0 : size - rank);
    if (first == size || first == 0) {
        return first == size;
    }
    char text[1024] = "";
    ranks_lock();
    if (rank == first) {
        snprintf(text, sizeof text, "%s", last_complaint());
        MPI_Send(text, (int)sizeof text, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
    } else if (rank == 0) {
        MPI_Recv(text, (int)sizeof text, MPI_CHAR, first, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    ranks_unlock();
    if (rank == 0) {
        complain("rank %d: %s", first, text);
    }
    return false;
}

static void share(void *bytes, size_t size)
{
    ranks_meet();
    ranks_lock();
    MPI_Bcast(bytes, (int)size, MPI_BYTE, 0, MPI_COMM_WORLD);
    ranks_unlock();
}

// Items travel as they lie in memory: all machines are of one kind.
static void collect(int count, const bool *mine, void *items, size_t size)
{
    MPI_Datatype item;
    int rank = ranks_current()->rank;
    int *owner = ranks_must(malloc(((size_t)count + 1) * 2 * sizeof *owner)), *owners = owner + count + 1;
    for (int i = 0; i < count; ++i) {
        owner[i] = mine[i] ? rank : -1;
    }
    ranks_meet();
    ranks_lock();
    MPI_Allreduce(owner, owners, count, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    MPI_Type_contiguous((int)size, MPI_BYTE, &item);
    MPI_Type_commit(&item);
    for (int i = 0; i < count; ++i) {
        void *place = (char *)items + (size_t)i * size;
        if (rank == 0 && owners[i] > 0) {
            MPI_Recv(place, 1, item, owners[i], 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else if (rank > 0 && owners[i] == rank) {
            MPI_Send(place, 1, item, 0, 0, MPI_COMM_WORLD);
        }
    }
    MPI_Type_free(&item);
    ranks_unlock();
    free(owner);
}

static ranks world = {.start = start,
                      .next = next,
                      .most = most,
                      .agree = agree,
                      .share = share,
                      .collect = collect,
                      .listen = words_listen,
                      .say = words_say,
                      .hear_out = words_hear_out};

// ---- Start and end -------------------------------------------------------------------------------------------------------

static void *help_others(void *nothing)
{
    (void)nothing;
    while (!atomic_load(&is_over)) {
        ranks_lock();
        bool got = words_receive(); // any call lets MPI work
        ranks_unlock();
        if (!got) {
            ranks_rest();
        }
    }
    return NULL;
}

// Ranks of one machine share the processors that they may use: each gets its part of them for its threads.
static void share_processors(void)
{
    MPI_Comm machine;
    cpu_set_t own, all;
    int count;
    CPU_ZERO(&own);
    sched_getaffinity(0, sizeof own, &own);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine);
    MPI_Comm_size(machine, &count);
    MPI_Allreduce(&own, &all, (int)sizeof own, MPI_BYTE, MPI_BOR, machine);
    MPI_Comm_free(&machine);
    threads_limit(CPU_COUNT(&all) / count);
}

static void open_window(void)
{
    int *counter;
    MPI_Aint size = rank_leads() ? (MPI_Aint)sizeof *counter : 0;
    MPI_Win_allocate(size, (int)sizeof *counter, MPI_INFO_NULL, MPI_COMM_WORLD, &counter, &window);
    MPI_Win_lock_all(0, window);
}

bool ranks_start(int *count, char ***words)
{
    int given;
    MPI_Init_thread(count, words, MPI_THREAD_SERIALIZED, &given);
    MPI_Comm_rank(MPI_COMM_WORLD, &world.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world.size);
    if (world.size > 1) {
        ranks_join(&world);
        share_processors();
    }
    if (world.rank > 0) {
        hears = ranks_must(open_memstream(&heard, &heard_size));
        messages_to(hears);
        ranks_must(freopen("/dev/null", "w", stdout));
    }
    if (given < MPI_THREAD_SERIALIZED) {
        complain("this MPI does not support threads (MPI_THREAD_SERIALIZED)");
        return false;
    }
    if (world.size > 1) {
        open_window();
        has_helper = rank_leads() && pthread_create(&helper, NULL, help_others, NULL) == 0;
        if (rank_leads() && !has_helper) {
            complain("no thread can be started");
        }
        return agree(has_helper || !rank_leads());
    }
    return true;
}

void ranks_end(void)
{
    if (window != MPI_WIN_NULL) {
        ranks_meet();
        if (has_helper) {
            atomic_store(&is_over, true);
            pthread_join(helper, NULL);
        }
        MPI_Win_unlock_all(window);
        MPI_Win_free(&window);
    }
    MPI_Finalize();
    if (hears) {
        messages_to(NULL);
        fclose(hears);
        free(heard);
    }
}
