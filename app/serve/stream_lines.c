// Lines from standard input or from datagrams, in bounded memory.
#include "stream.h"

#include "cli/memory.h"
#include "cli/terminal.h"
#include "system/sockets.h"
#include "system/system.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
