#include "live.h"

#include "cli/json_output.h"
#include "cli/memory.h"
#include "stream.h"
#include "system/sockets.h"
#include "websocket.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { FRAME = 16, LONGEST = 1 << 16 }; // milliseconds between lines to a page; bytes of a line

struct live {
    pthread_mutex_t lock;
    char first[LONGEST], last[LONGEST]; // lines
    uint64_t count;                     // lines so far
    int port;                           // of the stream; 0: it takes none
};

// The port that the first line names.
static int port_of(const char *line)
{
    poise_error error;
    size_t place;
    json_node *object = json_read(line, strlen(line), &error, &place), *port = object ? json_get(object, "port") : NULL;
    int number = json_is(port, JSON_INTEGER) && port->integer > 0 && port->integer < 65536 ? (int)port->integer : 0;
    json_release(object);
    return number;
}

// Not by a FILE: a thread that waits in one holds its lock, for which the end of the program may wait in turn.
static void *read_lines(void *argument)
{
    live *l = argument;
    line_source *source = lines_open(NULL, -1);
    const char *line;
    size_t size;
    int64_t number;
    for (line_state state; (state = lines_next(source, true, &line, &size, &number)) != LINE_END;) {
        if (state != LINE_READY || size >= LONGEST) {
            continue; // longer than a page would draw, or nothing yet
        }
        pthread_mutex_lock(&l->lock);
        char *to = l->count == 0 ? l->first : l->last;
        memcpy(to, line, size);
        to[size] = '\0';
        l->port = l->count == 0 ? port_of(to) : l->port;
        l->count += 1;
        pthread_mutex_unlock(&l->lock);
    }
    lines_close(source);
    return NULL;
}

live *live_start(void)
{
    live *l = needed(calloc(1, sizeof *l));
    pthread_t thread;
    pthread_mutex_init(&l->lock, NULL);
    if (pthread_create(&thread, NULL, read_lines, l) == 0) {
        pthread_detach(thread);
    }
    return l;
}

static void send_to_stream(live *l, const char *text, size_t size)
{
    pthread_mutex_lock(&l->lock);
    int port = l->port;
    pthread_mutex_unlock(&l->lock);
    if (port > 0) {
        socket_send_datagram(port, text, size);
    }
}

// The newest line after number *seen, of which a page missed some if it was slow; false when there is none.
static bool next_line(live *l, uint64_t *seen, char *line)
{
    pthread_mutex_lock(&l->lock);
    bool is_new = l->count > *seen;
    if (is_new) {
        strcpy(line, *seen == 0 ? l->first : l->last);
        *seen = *seen == 0 ? 1 : l->count;
    }
    pthread_mutex_unlock(&l->lock);
    return is_new;
}

void live_serve(void *user, int connection, const char *key)
{
    live *l = user;
    websocket_input *input = needed(calloc(1, sizeof *input));
    char *line = needed(malloc(LONGEST));
    uint64_t seen = 0;
    bool works = websocket_accept(connection, key);
    while (works) {
        websocket_state state = websocket_next(connection, FRAME, input);
        works = state != WEBSOCKET_CLOSED;
        if (state == WEBSOCKET_TEXT) {
            send_to_stream(l, input->text, input->text_size);
        } else if (works && next_line(l, &seen, line)) {
            works = websocket_send(connection, line, strlen(line));
        }
    }
    free(line);
    free(input);
}
