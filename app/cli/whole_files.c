// Files, whole.
#include "whole_files.h"

#include "memory.h"
#include "terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// ---- Reading -------------------------------------------------------------------------------------------------------------

static bool fail(const char *name, const char *what)
{
    complain("%s: %s: %s", name, what, strerror(errno));
    return false;
}

// Read to the end. `expected` bytes are likely to come; a file that grows or shrinks meanwhile is read as far as it goes.
static bool read_all(int descriptor, const char *name, size_t expected, file_bytes *file)
{
    size_t room = expected + 1, size = 0; // one more, so that the end is seen without growing
    char *bytes = malloc(room);
    while (bytes) {
        ssize_t got = read(descriptor, bytes + size, room - size);
        if (got == 0) {
            bytes[size] = '\0';
            *file = (file_bytes){.bytes = bytes, .size = size};
            return true;
        }
        if (got < 0 && errno != EINTR) {
            free(bytes);
            return fail(name, "cannot be read");
        }
        size += got > 0 ? (size_t)got : 0;
        if (size == room) {
            char *more = realloc(bytes, room *= 2);
            if (!more) {
                free(bytes);
            }
            bytes = more;
        }
    }
    complain("%s: no memory left for it", name);
    return false;
}

bool file_read(const char *name, file_bytes *file)
{
    enum { LIKELY = 1 << 16 }; // of a stream, which does not tell its length
    if (strcmp(name, "-") == 0) {
        return read_all(STDIN_FILENO, "standard input", LIKELY, file);
    }
    int descriptor = open(name, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) {
        return fail(name, "cannot be opened");
    }
    struct stat status;
    bool works = fstat(descriptor, &status) == 0;
    if (!works) {
        fail(name, "cannot be read");
    } else if (S_ISDIR(status.st_mode)) {
        complain("%s: is a folder, not a file", name);
        works = false;
    } else {
        works = read_all(descriptor, name, S_ISREG(status.st_mode) ? (size_t)status.st_size : LIKELY, file);
    }
    close(descriptor);
    return works;
}

void file_release(file_bytes *file)
{
    free(file->bytes);
    *file = (file_bytes){0};
}

// ---- Writing -------------------------------------------------------------------------------------------------------------

// The temporary file of the moment, for the signal handler; empty when there is none.
static char temporary[PATH_MAX];
static volatile sig_atomic_t has_temporary;

static void on_signal(int number)
{
    if (has_temporary) {
        unlink(temporary);
    }
    signal(number, SIG_DFL);
    raise(number);
}

void files_clean_up_on_signals(void)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; ++i) {
        struct sigaction action = {.sa_handler = on_signal};
        sigemptyset(&action.sa_mask);
        sigaction(numbers[i], &action, NULL);
    }
    signal(SIGXFSZ, SIG_IGN); // a file beyond the limit fails as one on a full disk does
}

static bool write_all(int descriptor, const char *bytes, size_t size)
{
    while (size > 0) {
        ssize_t put = write(descriptor, bytes, size);
        if (put < 0 && errno != EINTR) {
            return false;
        }
        bytes += put > 0 ? put : 0;
        size -= put > 0 ? (size_t)put : 0;
    }
    return true;
}

// Standard output, or a thing that is no regular file.
static bool write_in_place(const char *name, const void *bytes, size_t size)
{
    bool standard = strcmp(name, "-") == 0;
    if (standard && fflush(stdout) != 0) {
        return fail("standard output", "cannot be written");
    }
    int descriptor = standard ? STDOUT_FILENO : open(name, O_WRONLY | O_CLOEXEC);
    bool works = descriptor >= 0 && write_all(descriptor, bytes, size);
    if (!works) {
        fail(standard ? "standard output" : name, "cannot be written");
    }
    if (!standard && descriptor >= 0) {
        works = close(descriptor) == 0 && works;
    }
    return works;
}

// The rights that the file has, or that a new file gets.
static mode_t rights(const char *name)
{
    struct stat status;
    if (stat(name, &status) == 0) {
        return status.st_mode & 07777;
    }
    mode_t mask = umask(0);
    umask(mask);
    return 0666 & ~mask;
}

// Open a file of the name in `temporary`. An interrupt waits until the handler can know of it.
static int make_temporary(void)
{
    sigset_t all, before;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &before);
    int descriptor = mkstemp(temporary);
    has_temporary = descriptor >= 0;
    sigprocmask(SIG_SETMASK, &before, NULL);
    return descriptor;
}

// The file that a name stands for: where links lead, whether it is there or not. False, with errno set: too long, or in a
// circle.
static bool follow_links(const char *name, char target[PATH_MAX])
{
    enum { MOST_LINKS = 40 };
    char link[PATH_MAX];
    bool fits = snprintf(target, PATH_MAX, "%s", name) < PATH_MAX;
    for (int i = 0; fits && i < MOST_LINKS; ++i) {
        ssize_t length = readlink(target, link, sizeof link - 1);
        if (length < 0) {
            return true; // no link
        }
        link[length] = '\0';
        char from[PATH_MAX];
        memcpy(from, target, sizeof from);
        int folder = link[0] == '/' ? 0 : (int)(path_base(from) - from);
        fits = snprintf(target, PATH_MAX, "%.*s%s", folder, from, link) < PATH_MAX;
    }
    errno = fits ? ELOOP : ENAMETOOLONG;
    return false;
}

bool files_are_same(const char *a, const char *b)
{
    struct stat first, second;
    return stat(a, &first) == 0 && stat(b, &second) == 0 && first.st_dev == second.st_dev && first.st_ino == second.st_ino &&
           S_ISREG(first.st_mode);
}

bool file_can_be_written(const char *name)
{
    struct stat status;
    char target[PATH_MAX], folder[PATH_MAX];
    if (strcmp(name, "-") == 0) {
        return true;
    }
    bool exists = stat(name, &status) == 0;
    if (exists && S_ISDIR(status.st_mode)) {
        complain("%s: is a folder; give the name of a file", name);
        return false;
    }
    if (exists && !S_ISREG(status.st_mode)) {
        return access(name, W_OK) == 0 || fail(name, "cannot be written");
    }
    if (!follow_links(name, target)) {
        return fail(name, "cannot be written");
    }
    int length = (int)(path_base(target) - target);
    snprintf(folder, sizeof folder, "%.*s", length > 0 ? length : 1, length > 0 ? target : ".");
    if (stat(folder, &status) != 0) {
        complain("%s: there is no folder %s; make it first", name, folder);
        return false;
    }
    return access(folder, W_OK | X_OK) == 0 || fail(name, "cannot be written");
}

bool file_write(const char *name, const void *bytes, size_t size)
{
    struct stat status;
    if (!file_can_be_written(name)) {
        return false;
    }
    if (strcmp(name, "-") == 0 || (stat(name, &status) == 0 && !S_ISREG(status.st_mode))) {
        return write_in_place(name, bytes, size);
    }
    char target[PATH_MAX];
    if (!follow_links(name, target)) {
        return fail(name, "cannot be written");
    }
    if (snprintf(temporary, sizeof temporary, "%s.XXXXXX", target) >= (int)sizeof temporary) {
        errno = ENAMETOOLONG;
        return fail(name, "cannot be written");
    }
    int descriptor = make_temporary();
    if (descriptor < 0) {
        return fail(name, "cannot be written");
    }
    bool works = write_all(descriptor, bytes, size) && fchmod(descriptor, rights(target)) == 0;
    works = close(descriptor) == 0 && works;
    works = works && rename(temporary, target) == 0;
    if (!works) {
        fail(name, "cannot be written");
        unlink(temporary);
    }
    has_temporary = 0;
    return works;
}

void text_print(text_file *file)
{
    need(fclose(file->stream) == 0);
    text_make_printable(file->text);
    putchar('\n');
    print_wrapped(stdout, file->text, 0, terminal_columns(stdout));
    free(file->text);
}

void text_open(text_file *file)
{
    *file = (text_file){0};
    file->stream = needed(open_memstream(&file->text, &file->size));
}

bool text_close(text_file *file, const char *name)
{
    bool whole = fclose(file->stream) == 0;
    if (!whole) {
        complain("%s: no memory left for it", name);
    }
    whole = whole && file_write(name, file->text, file->size);
    free(file->text);
    return whole;
}

bool files_flush_output(void)
{
    errno = 0;
    if (fflush(stdout) == 0 && !ferror(stdout)) {
        return true;
    }
    return fail("standard output", "cannot be written");
}

// ---- Names ---------------------------------------------------------------------------------------------------------------

bool folder_make(const char *name)
{
    char path[PATH_MAX];
    if (snprintf(path, sizeof path, "%s", name) >= (int)sizeof path) {
        errno = ENAMETOOLONG;
        return fail(name, "cannot be made");
    }
    for (char *c = path + 1; *path && *c; ++c) {
        if (*c == '/') {
            *c = '\0';
            mkdir(path, 0777); // what goes wrong here goes wrong below, too
            *c = '/';
        }
    }
    struct stat status;
    if (mkdir(path, 0777) != 0 && !(errno == EEXIST && stat(path, &status) == 0 && S_ISDIR(status.st_mode))) {
        return fail(name, "this folder cannot be made");
    }
    return true;
}

bool path_join(char *path, size_t size, const char *folder, const char *name)
{
    size_t length = strlen(folder);
    const char *slash = length > 0 && folder[length - 1] != '/' ? "/" : "";
    if (snprintf(path, size, "%s%s%s", folder, slash, name) >= (int)size) {
        complain("%s: the name is too long", folder);
        return false;
    }
    return true;
}

const char *path_base(const char *name)
{
    const char *slash = strrchr(name, '/');
    return slash ? slash + 1 : name;
}
