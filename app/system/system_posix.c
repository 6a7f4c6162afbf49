// What Linux and macOS share.
#include "system_posix.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

// ---- The program ---------------------------------------------------------------------------------------------------------

void system_begin(void)
{
    signal(SIGXFSZ, SIG_IGN);
}

void system_ignore_closed_pipes(void)
{
    signal(SIGPIPE, SIG_IGN);
}

bool system_reader_is_gone(void)
{
    return false; // SIGPIPE would have ended it
}

void system_become(const char *path, char *const *words)
{
    execv(path, words);
}

void system_start_quietly(char *const *words)
{
    extern char **environ;
    pid_t child;
    posix_spawn_file_actions_t quiet;
    posix_spawn_file_actions_init(&quiet);
    posix_spawn_file_actions_addopen(&quiet, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&quiet, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawnp(&child, words[0], &quiet, NULL, words, environ);
    posix_spawn_file_actions_destroy(&quiet);
}

bool system_is_terminal(FILE *stream)
{
    return isatty(fileno(stream)) != 0;
}

int system_terminal_columns(FILE *stream)
{
    struct winsize size;
    return isatty(fileno(stream)) && ioctl(fileno(stream), TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

// ---- Interrupts and time -------------------------------------------------------------------------------------------------

void system_on_interrupt(void (*handler)(int number))
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction action = {.sa_handler = handler}; // no restart: a sleep or a read ends
    struct sigaction before;
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; ++i) {
        bool is_nohup = numbers[i] == SIGHUP && sigaction(SIGHUP, NULL, &before) == 0 && before.sa_handler == SIG_IGN;
        if (!is_nohup) {
            sigaction(numbers[i], &action, NULL);
        }
    }
}

void system_die_of(int number)
{
    signal(number, SIG_DFL);
    raise(number);
}

static int64_t nanoseconds_of(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

int64_t system_nanoseconds(void)
{
    return nanoseconds_of(CLOCK_MONOTONIC);
}

int64_t system_thread_nanoseconds(void)
{
    return nanoseconds_of(CLOCK_THREAD_CPUTIME_ID);
}

// ---- Files ---------------------------------------------------------------------------------------------------------------

bool system_is_separator(char c)
{
    return c == '/';
}

bool system_is_absolute(const char *path)
{
    return path[0] == '/';
}

path_kind system_path_kind(const char *path, bool follow)
{
    struct stat status;
    if ((follow ? stat(path, &status) : lstat(path, &status)) != 0) {
        return PATH_MISSING;
    }
    return S_ISREG(status.st_mode)   ? PATH_FILE
           : S_ISDIR(status.st_mode) ? PATH_FOLDER
           : S_ISLNK(status.st_mode) ? PATH_LINK
                                     : PATH_OTHER;
}

bool system_same_file(const char *a, const char *b)
{
    struct stat first, second;
    return stat(a, &first) == 0 && stat(b, &second) == 0 && first.st_dev == second.st_dev && first.st_ino == second.st_ino &&
           S_ISREG(first.st_mode);
}

int system_read_link(const char *path, char *target, size_t size)
{
    ssize_t length = readlink(path, target, size - 1);
    if (length >= 0) {
        target[length] = '\0';
    }
    return (int)length;
}

int system_open(const char *path, bool write)
{
    return open(path, (write ? O_WRONLY : O_RDONLY) | O_CLOEXEC);
}

int system_open_temporary(char *path, volatile sig_atomic_t *made)
{
    sigset_t all, before;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &before);
    int descriptor = mkstemp(path);
    *made = descriptor >= 0;
    sigprocmask(SIG_SETMASK, &before, NULL);
    return descriptor;
}

bool system_copy_rights(int descriptor, const char *path)
{
    struct stat status;
    if (stat(path, &status) == 0) {
        return fchmod(descriptor, status.st_mode & 07777) == 0;
    }
    mode_t mask = umask(0);
    umask(mask);
    return fchmod(descriptor, 0666 & ~mask) == 0;
}

bool system_replace(const char *temporary, const char *path)
{
    return rename(temporary, path) == 0;
}

bool system_make_folder(const char *path)
{
    return mkdir(path, 0777) == 0;
}

bool system_flush(FILE *stream)
{
    return fflush(stream) == 0 && fsync(fileno(stream)) == 0;
}

bool system_input_is_ready(bool wait)
{
    struct pollfd ready = {.fd = STDIN_FILENO, .events = POLLIN};
    return poll(&ready, 1, wait ? -1 : 0) > 0;
}

bool system_memory_open(memory_stream *memory)
{
    *memory = (memory_stream){0};
    memory->stream = open_memstream(&memory->text, &memory->size);
    return memory->stream != NULL;
}

bool system_memory_close(memory_stream *memory)
{
    return fclose(memory->stream) == 0;
}
