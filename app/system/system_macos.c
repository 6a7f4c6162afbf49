// What macOS has alone. Written after its manual; compiled and linked for it elsewhere, and not yet run.
#include "system_posix.h"

#include <errno.h>
#include <mach-o/dyld.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

bool system_program_path(char *path, size_t size)
{
    uint32_t room = (uint32_t)size;
    return _NSGetExecutablePath(path, &room) == 0;
}

void system_show_address(const char *address)
{
    char *words[] = {(char *)"open", (char *)address, NULL};
    system_start_quietly(words);
}

int system_processors(void)
{
    long count = sysconf(_SC_NPROCESSORS_ONLN);
    return count < 1 ? 1 : (int)count;
}

bool system_random(void *bytes, size_t size)
{
    arc4random_buf(bytes, size);
    return true;
}

void system_sleep_until(int64_t when, const volatile sig_atomic_t *stop)
{
    for (int64_t left; !*stop && (left = when - system_nanoseconds()) > 0;) {
        struct timespec t = {.tv_sec = (time_t)(left / 1000000000), .tv_nsec = (long)(left % 1000000000)};
        nanosleep(&t, NULL);
    }
}

bool system_be_prompt(int priority)
{
    struct sched_param how = {.sched_priority = priority};
    errno = priority < 1 ? 0 : pthread_setschedparam(pthread_self(), SCHED_FIFO, &how); // all memory cannot be locked there
    return errno == 0;
}
