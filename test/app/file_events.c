// A library that tests put into a program (LD_PRELOAD; events.py): it counts the calls by which the program opens, reads, writes,
// renames and closes files, and does something before a given one of them. So a program is stopped at a place, the same in every
// run, and not at a moment.
//
//   EVENT_AT=N          the call to act before, counted from 1; 0: before each
//   EVENT_OF=NAME       only calls of this function count, such as fsync
//   EVENT_SIGNAL=S      send the program this signal
//   EVENT_CUT=PATH      or cut this file short, to EVENT_SIZE bytes
//   EVENT_COUNT=PATH    write the number of calls there when the program ends
//   EVENT_PATIENT=1     sockets wait without end for the other side, whatever time the program allows them
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

static atomic_long events;

// Of the environment, -1 where it is not there.
static long number_of(const char *name)
{
    const char *text = getenv(name);
    return text ? strtol(text, NULL, 10) : -1;
}

static void happens(const char *name)
{
    const char *only = getenv("EVENT_OF");
    if (only && strcmp(only, name) != 0) {
        return;
    }
    long at = number_of("EVENT_AT"), number = atomic_fetch_add(&events, 1) + 1;
    if (at < 0 || (at > 0 && at != number)) {
        return;
    }
    const char *cut = getenv("EVENT_CUT");
    if (cut && truncate(cut, number_of("EVENT_SIZE")) != 0) {
        _Exit(99);
    }
    if (getenv("EVENT_SIGNAL")) {
        raise((int)number_of("EVENT_SIGNAL"));
    }
}

// The function of the C library behind the one of this name here.
#define GENUINE(name) (__extension__(__typeof__(&name)) dlsym(RTLD_NEXT, #name))

__attribute__((destructor)) static void tell(void)
{
    const char *path = getenv("EVENT_COUNT");
    int file = path ? GENUINE(open)(path, O_WRONLY | O_CREAT | O_TRUNC, 0666) : -1;
    if (file >= 0) {
        dprintf(file, "%ld\n", atomic_load(&events));
        GENUINE(close)(file);
    }
}

int open(const char *path, int flags, ...)
{
    va_list more;
    va_start(more, flags);
    mode_t mode = flags & O_CREAT ? va_arg(more, mode_t) : 0;
    va_end(more);
    happens(__func__);
    return GENUINE(open)(path, flags, mode);
}

int mkstemp(char *path)
{
    happens(__func__);
    return GENUINE(mkstemp)(path);
}

ssize_t read(int file, void *bytes, size_t size)
{
    happens(__func__);
    return GENUINE(read)(file, bytes, size);
}

ssize_t write(int file, const void *bytes, size_t size)
{
    happens(__func__);
    return GENUINE(write)(file, bytes, size);
}

int fchmod(int file, mode_t mode)
{
    happens(__func__);
    return GENUINE(fchmod)(file, mode);
}

int fsync(int file)
{
    happens(__func__);
    return GENUINE(fsync)(file);
}

int close(int file)
{
    happens(__func__);
    return GENUINE(close)(file);
}

int rename(const char *from, const char *to)
{
    happens(__func__);
    return GENUINE(rename)(from, to);
}

int unlink(const char *path)
{
    happens(__func__);
    return GENUINE(unlink)(path);
}

int mkdir(const char *path, mode_t mode)
{
    happens(__func__);
    return GENUINE(mkdir)(path, mode);
}

FILE *fopen(const char *path, const char *how)
{
    happens(__func__);
    return GENUINE(fopen)(path, how);
}

int fflush(FILE *stream)
{
    happens(__func__);
    return GENUINE(fflush)(stream);
}

int fclose(FILE *stream)
{
    happens(__func__);
    return GENUINE(fclose)(stream);
}

int setsockopt(int socket, int level, int option, const void *value, socklen_t size)
{
    return level == SOL_SOCKET && (option == SO_RCVTIMEO || option == SO_SNDTIMEO) && getenv("EVENT_PATIENT")
               ? 0
               : GENUINE(setsockopt)(socket, level, option, value, size);
}
