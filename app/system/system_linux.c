// What Linux has alone, or has with a library of its own.
#include "system_posix.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

bool system_program_path(char *path, size_t size)
{
    return system_read_link("/proc/self/exe", path, size) > 0;
}

void system_show_address(const char *address)
{
    char *words[] = {(char *)"xdg-open", (char *)address, NULL};
    if (getenv("DISPLAY") || getenv("WAYLAND_DISPLAY")) {
        system_start_quietly(words);
    }
}

int system_processors(void)
{
    cpu_set_t set;
    int count = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
    return count < 1 ? 1 : count;
}

bool system_random(void *bytes, size_t size)
{
    return getrandom(bytes, size, 0) == (ssize_t)size;
}

void system_sleep_until(int64_t when, const volatile sig_atomic_t *stop)
{
    struct timespec t = {.tv_sec = (time_t)(when / 1000000000), .tv_nsec = (long)(when % 1000000000)};
    while (!*stop && clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR) {
    }
}

bool system_be_prompt(int priority)
{
    prctl(PR_SET_TIMERSLACK, 1000UL); // wake within a microsecond instead of 50
    struct sched_param how = {.sched_priority = priority};
    return priority < 1 || (sched_setscheduler(0, SCHED_FIFO, &how) == 0 && mlockall(MCL_CURRENT | MCL_FUTURE) == 0);
}
