// Files as wholes, and lines as they come.
#include "files.h"

#include "system/sockets.h"
#include "system/system.h"
#include "terminal.h"

#include <errno.h>
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

// No file of the formats here is this long; a device or a pipe without an end is.
#define LONGEST ((size_t)1 << 31)

// How many of `size` bytes to read or write at once: Windows counts them in 32 bits.
static unsigned piece_of(size_t size)
{
    const unsigned most = 1u << 30;
    return size < most ? (unsigned)size : most;
}

static bool is_too_long(const char *name)
{
    complain("%s: is larger than 2 GB; is it the right file?", name);
    return false;
}

// Read to the end. `expected` bytes are likely to come; a file that grows or shrinks meanwhile is read as far as it goes.
static bool read_all(int descriptor, const char *name, size_t expected, file_bytes *file)
{
    if (expected > LONGEST) {
        return is_too_long(name);
    }
    size_t room = expected + 1, size = 0; // one more, so that the end is seen without growing
    char *bytes = malloc(room);
    while (bytes) {
        ssize_t got = read(descriptor, bytes + size, piece_of(room - size));
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
        if (size > LONGEST) {
            free(bytes);
            return is_too_long(name);
        }
        if (size == room) {
            char *more = realloc(bytes, room *= 2);
            if (!more) {
                free(bytes);
            }
            bytes = more;
        }
    }
    complain("%s: out of memory", name);
    return false;
}

bool file_read(const char *name, file_bytes *file)
{
    enum { LIKELY = 1 << 16 }; // of a stream, which does not tell its length
    if (strcmp(name, "-") == 0) {
        return read_all(STDIN_FILENO, "standard input", LIKELY, file);
    }
    if (system_path_kind(name, true) == PATH_FOLDER) { // which some systems refuse to open
        complain("%s: is a folder, not a file", name);
        return false;
    }
    int descriptor = system_open(name, false);
    if (descriptor < 0) {
        return fail(name, "cannot be opened");
    }
    struct stat status;
    bool works = fstat(descriptor, &status) == 0;
    if (!works) {
        fail(name, "cannot be read");
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
    interrupt_say();
    system_die_of(number);
}

void files_clean_up_on_signals(void)
{
    system_on_interrupt(on_signal);
}

static bool write_all(int descriptor, const char *bytes, size_t size)
{
    while (size > 0) {
        ssize_t put = write(descriptor, bytes, piece_of(size));
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
    int descriptor = standard ? STDOUT_FILENO : system_open(name, true);
    bool works = descriptor >= 0 && write_all(descriptor, bytes, size);
    if (!works) {
        fail(standard ? "standard output" : name, "cannot be written");
    }
    if (!standard && descriptor >= 0) {
        works = close(descriptor) == 0 && works;
    }
    return works;
}

// The file that a name stands for: where links lead, whether it is there or not. False, with errno set: too long, or in a
// circle.
static bool follow_links(const char *name, char target[PATH_MAX])
{
    enum { MOST_LINKS = 40 };
    char link[PATH_MAX];
    bool fits = snprintf(target, PATH_MAX, "%s", name) < PATH_MAX;
    for (int i = 0; fits && i < MOST_LINKS; ++i) {
        if (system_read_link(target, link, sizeof link) < 0) {
            return true; // no link
        }
        char from[PATH_MAX];
        memcpy(from, target, sizeof from);
        int folder = system_is_absolute(link) ? 0 : (int)(path_base(from) - from);
        fits = snprintf(target, PATH_MAX, "%.*s%s", folder, from, link) < PATH_MAX;
    }
    errno = fits ? ELOOP : ENAMETOOLONG;
    return false;
}

bool files_are_same(const char *a, const char *b)
{
    return system_same_file(a, b);
}

static const char *without_dots(const char *name)
{
    while (name[0] == '.' && system_is_separator(name[1])) {
        name += 2;
    }
    return name;
}

bool files_would_be_same(const char *a, const char *b)
{
    char to_a[PATH_MAX], to_b[PATH_MAX];
    return files_are_same(a, b) || (system_path_kind(a, true) != PATH_OTHER && follow_links(a, to_a) &&
                                    follow_links(b, to_b) && strcmp(without_dots(to_a), without_dots(to_b)) == 0);
}

bool file_can_be_written(const char *name)
{
    char target[PATH_MAX], folder[PATH_MAX];
    if (strcmp(name, "-") == 0) {
        return true;
    }
    path_kind kind = system_path_kind(name, true);
    if (kind == PATH_FOLDER) {
        complain("%s: is a folder; give the name of a file", name);
        return false;
    }
    if (kind == PATH_OTHER) {
        return access(name, W_OK) == 0 || fail(name, "cannot be written");
    }
    if (!follow_links(name, target)) {
        return fail(name, "cannot be written");
    }
    int length = (int)(path_base(target) - target);
    snprintf(folder, sizeof folder, "%.*s", length > 0 ? length : 1, length > 0 ? target : ".");
    if (system_path_kind(folder, true) == PATH_MISSING) {
        complain("%s: there is no folder %s; create it first", name, folder);
        return false;
    }
    return access(folder, W_OK | X_OK) == 0 || fail(name, "cannot be written");
}

bool file_write(const char *name, const void *bytes, size_t size)
{
    if (!file_can_be_written(name)) {
        return false;
    }
    if (strcmp(name, "-") == 0 || system_path_kind(name, true) == PATH_OTHER) {
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
    int descriptor = system_open_temporary(temporary, &has_temporary);
    if (descriptor < 0) {
        return fail(name, "cannot be written");
    }
    bool works = write_all(descriptor, bytes, size) && system_copy_rights(descriptor, target);
    works = close(descriptor) == 0 && works;
    works = works && system_replace(temporary, target);
    if (!works) {
        fail(name, "cannot be written");
        unlink(temporary);
    }
    has_temporary = 0;
    return works;
}

void text_print(text_file *file)
{
    need(system_memory_close(file));
    text_make_printable(file->text);
    putchar('\n');
    print_wrapped(stdout, file->text, 0, terminal_columns(stdout));
    free(file->text);
}

void text_open(text_file *file)
{
    need(system_memory_open(file));
}

bool text_close(text_file *file, const char *name)
{
    bool whole = system_memory_close(file);
    if (!whole) {
        complain("%s: out of memory", name);
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
    if (system_reader_is_gone()) {
        return false;
    }
    // an earlier write failed, and some C libraries keep no more than that: another one finds the cause
    if (errno == 0 && write(STDOUT_FILENO, "\n", 1) == 1) {
        errno = EIO;
    }
    return fail("standard output", "cannot be written");
}

// ---- Names ---------------------------------------------------------------------------------------------------------------

bool folder_make(const char *name)
{
    char path[PATH_MAX];
    if (snprintf(path, sizeof path, "%s", name) >= (int)sizeof path) {
        errno = ENAMETOOLONG;
        return fail(name, "this folder cannot be created");
    }
    for (char *c = path + 1; *path && *c; ++c) {
        if (system_is_separator(*c)) {
            char separator = *c;
            *c = '\0';
            system_make_folder(path); // what goes wrong here goes wrong below, too
            *c = separator;
        }
    }
    if (system_make_folder(path)) {
        return true;
    }
    int why = errno; // which the next call replaces
    if (system_path_kind(path, true) == PATH_FOLDER) {
        return true;
    }
    errno = why;
    return fail(name, "this folder cannot be created");
}

bool path_join(char *path, size_t size, const char *folder, const char *name)
{
    size_t length = strlen(folder);
    const char *slash = length > 0 && !system_is_separator(folder[length - 1]) ? "/" : "";
    if (snprintf(path, size, "%s%s%s", folder, slash, name) >= (int)size) {
        complain("%s: the name is too long", folder);
        return false;
    }
    return true;
}

const char *path_base(const char *name)
{
    const char *base = name;
    for (; *name; ++name) {
        base = system_is_separator(*name) ? name + 1 : base;
    }
    return base;
}

// ---- Lines as they come --------------------------------------------------------------------------------------------------

enum { CHUNK = 1 << 16, ROOM = STREAM_LONGEST_LINE + CHUNK + 1 };

struct line_source {
    int descriptor, port; // port -1: standard input
    bool ended, skipping; // nothing more comes; the rest of a line that is too long is being left out
    socket_peer sender;
    bool has_sender;
    int64_t number;
    size_t begin, searched, end; // of what is in the buffer; no line ends before `searched`
    char buffer[ROOM];
};

static bool open_port(line_source *s, const char *host, int port)
{
    bool is_address;
    s->descriptor = socket_open_datagrams(host, port, &s->port, &is_address);
    if (!is_address) {
        complain("--address %s: is not an address such as 127.0.0.1, or 0.0.0.0 for all interfaces", host);
        return false;
    }
    if (s->descriptor < 0) {
        complain("port %d on %s cannot be used: %s", port, host, socket_trouble());
    }
    return s->descriptor >= 0;
}

line_source *lines_open(const char *host, int port)
{
    line_source *s = needed(malloc(sizeof *s));
    memset(s, 0, offsetof(line_source, buffer));
    s->descriptor = STDIN_FILENO;
    s->port = -1;
    if (port >= 0 && !open_port(s, host, port)) {
        lines_close(s);
        return NULL;
    }
    return s;
}

void lines_close(line_source *source)
{
    if (source && source->port >= 0) {
        socket_close(source->descriptor);
    }
    free(source);
}

int lines_port(const line_source *source)
{
    return source->port;
}

void lines_reply(const line_source *source, const char *text, size_t size)
{
    if (source->has_sender) { // a datagram that cannot be sent is lost, as datagrams are
        socket_send_to(source->descriptor, text, size, &source->sender);
    }
}

static long receive(line_source *s)
{
    long got = socket_receive_from(s->descriptor, s->buffer + s->end, CHUNK, &s->sender);
    if (got < 0) {
        return -1;
    }
    s->has_sender = true;
    if (got == 0 || s->buffer[s->end + (size_t)got - 1] != '\n') {
        s->buffer[s->end + (size_t)got++] = '\n'; // a line never goes on in the next datagram
    }
    return got;
}

// Read what is there into the buffer, which has room for a chunk; false when nothing is there.
static bool fill(line_source *s, bool wait)
{
    bool datagrams = s->port >= 0;
    if (s->ended || !(datagrams ? socket_wait(s->descriptor, wait ? -1 : 0) : system_input_is_ready(wait))) {
        return false;
    }
    long got = datagrams ? receive(s) : (long)read(s->descriptor, s->buffer + s->end, CHUNK);
    if (got < 0) {
        s->ended = s->port < 0 && errno != EINTR && errno != EAGAIN;
        return false;
    }
    s->ended = s->port < 0 && got == 0;
    s->end += (size_t)got;
    return got > 0;
}

// A whole line in the buffer. One that is too long is reported when its end has come; what came of it before is gone.
static line_state take(line_source *s, const char **text, size_t *size)
{
    char *stop = memchr(s->buffer + s->searched, '\n', s->end - s->searched);
    size_t length = (size_t)((stop ? stop : s->buffer + s->end) - (s->buffer + s->begin));
    bool last = !stop && s->ended && (length > 0 || s->skipping);
    bool too_long = s->skipping || length > STREAM_LONGEST_LINE;
    if (!stop && !last) {
        s->skipping = too_long;
        s->begin = too_long ? s->end : s->begin;
        s->searched = s->end;
        return LINE_NONE;
    }
    *text = s->buffer + s->begin;
    *size = length;
    s->begin = s->searched = last ? s->end : (size_t)(stop + 1 - s->buffer);
    s->skipping = false;
    s->number += 1;
    return too_long ? LINE_TOO_LONG : LINE_READY;
}

line_state lines_next(line_source *source, bool wait, const char **text, size_t *size, int64_t *number)
{
    for (;;) {
        line_state state = take(source, text, size);
        *number = source->number;
        if (state != LINE_NONE) {
            return state;
        }
        if (source->ended) {
            return LINE_END;
        }
        if (source->begin > 0) { // a line's beginning stays, at most as long as a line may be
            memmove(source->buffer, source->buffer + source->begin, source->end - source->begin);
            source->end -= source->begin;
            source->searched -= source->begin;
            source->begin = 0;
        }
        if (!fill(source, wait) && !source->ended) {
            return LINE_NONE;
        }
    }
}
