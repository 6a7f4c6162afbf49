
#include "commands/server.h"
#include "cli/files.h"
#include "cli/memory.h"
#include "cli/terminal.h"
#include "system/sockets.h"
#include "system/system.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

// ---- The handshake: base64(SHA-1(key + GUID)) ----------------------------------------------------------------------------

static uint32_t rotated(uint32_t x, int bits)
{
    return x << bits | x >> (32 - bits);
}

// One block of 64 bytes (FIPS 180-4, section 6.1).
static void sha1_block(const unsigned char *block, uint32_t h[5])
{
    uint32_t w[80], a = h[0], b = h[1], c = h[2], d = h[3], e = h[4];
    for (int i = 0; i < 16; ++i) {
        w[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 | (uint32_t)block[4 * i + 2] << 8 |
               block[4 * i + 3];
    }
    for (int i = 16; i < 80; ++i) {
        w[i] = rotated(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
    }
    for (int i = 0; i < 80; ++i) {
        uint32_t f = i < 20   ? ((b & c) | (~b & d)) + 0x5a827999u
                     : i < 40 ? (b ^ c ^ d) + 0x6ed9eba1u
                     : i < 60 ? ((b & c) | (b & d) | (c & d)) + 0x8f1bbcdcu
                              : (b ^ c ^ d) + 0xca62c1d6u;
        uint32_t next = rotated(a, 5) + f + e + w[i];
        e = d;
        d = c;
        c = rotated(b, 30);
        b = a;
        a = next;
    }
    h[0] += a;
    h[1] += b;
    h[2] += c;
    h[3] += d;
    h[4] += e;
}

// Of a text of up to 110 bytes: two blocks at most.
static void sha1(const char *text, unsigned char digest[20])
{
    uint32_t h[5] = {0x67452301u, 0xefcdab89u, 0x98badcfeu, 0x10325476u, 0xc3d2e1f0u};
    unsigned char blocks[128] = {0};
    size_t size = strlen(text), count = size < 56 ? 1 : 2;
    memcpy(blocks, text, size);
    blocks[size] = 0x80;
    blocks[64 * count - 2] = (unsigned char)(8 * size >> 8);
    blocks[64 * count - 1] = (unsigned char)(8 * size);
    for (size_t i = 0; i < count; ++i) {
        sha1_block(blocks + 64 * i, h);
    }
    for (int i = 0; i < 20; ++i) {
        digest[i] = (unsigned char)(h[i / 4] >> (24 - 8 * (i % 4)));
    }
}

// 20 bytes as 28 letters.
static void base64(const unsigned char digest[20], char text[29])
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (int i = 0; i < 7; ++i) {
        uint32_t group = (uint32_t)digest[3 * i] << 16 | (uint32_t)digest[3 * i + 1] << 8;
        group |= i < 6 ? digest[3 * i + 2] : 0;
        for (int k = 0; k < 4; ++k) {
            text[4 * i + k] = letters[group >> (18 - 6 * k) & 63];
        }
    }
    text[27] = '=';
    text[28] = '\0';
}

bool websocket_accept(int connection, const char *key)
{
    char joined[111], head[256], accept[29];
    unsigned char digest[20];
    size_t size = strcspn(key, "\r\n \t");
    if (size > 60) {
        return false;
    }
    snprintf(joined, sizeof joined, "%.*s258EAFA5-E914-47DA-95CA-C5AB0DC85B11", (int)size, key);
    sha1(joined, digest);
    base64(digest, accept);
    int length = snprintf(head, sizeof head,
                          "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                          "Sec-WebSocket-Accept: %s\r\n\r\n",
                          accept);
    return socket_send(connection, head, (size_t)length);
}

// ---- Frames --------------------------------------------------------------------------------------------------------------

enum { TEXT = 1, CLOSE = 8, PING = 9, PONG = 10, FINAL = 0x80, MASKED = 0x80 };

static bool send_frame(int connection, int kind, const void *bytes, size_t size)
{
    unsigned char head[10] = {(unsigned char)(FINAL | kind)};
    size_t length = 2;
    if (size < 126) {
        head[1] = (unsigned char)size;
    } else if (size < 65536) {
        head[1] = 126;
        head[2] = (unsigned char)(size >> 8);
        head[3] = (unsigned char)size;
        length = 4;
    } else {
        head[1] = 127;
        for (int i = 0; i < 8; ++i) {
            head[2 + i] = (unsigned char)((uint64_t)size >> (56 - 8 * i));
        }
        length = 10;
    }
    return socket_send(connection, head, length) && socket_send(connection, bytes, size);
}

bool websocket_send(int connection, const char *text, size_t size)
{
    return send_frame(connection, TEXT, text, size);
}

// The first frame of what has come in: its kind, and its payload at `text`. -1: not whole yet; -2: against the rules.
static int take_frame(websocket_input *in)
{
    const unsigned char *b = in->bytes;
    if (in->size < 2) {
        return -1;
    }
    size_t size = b[1] & 127u, head = size == 126 ? 4 : 2;
    if (!(b[0] & FINAL) || !(b[1] & MASKED) || size == 127) {
        return -2;
    }
    if (in->size < head + 4) {
        return -1;
    }
    size = size == 126 ? (size_t)b[2] << 8 | b[3] : size;
    if (in->size < head + 4 + size) {
        return -1;
    }
    for (size_t i = 0; i < size; ++i) {
        in->text[i] = (char)(b[head + 4 + i] ^ b[head + i % 4]);
    }
    in->text[size] = '\0';
    in->text_size = size;
    int kind = b[0] & 15;
    in->size -= head + 4 + size;
    memmove(in->bytes, b + head + 4 + size, in->size);
    return kind;
}

websocket_state websocket_next(int connection, int milliseconds, websocket_input *input)
{
    if (socket_wait(connection, milliseconds)) {
        long got = socket_receive(connection, input->bytes + input->size, sizeof input->bytes - input->size);
        if (got <= 0) {
            return WEBSOCKET_CLOSED;
        }
        input->size += (size_t)got;
    }
    for (;;) {
        int kind = take_frame(input);
        if (kind == TEXT) {
            return WEBSOCKET_TEXT;
        }
        if (kind == PING && !send_frame(connection, PONG, input->text, input->text_size)) {
            return WEBSOCKET_CLOSED;
        }
        if (kind == CLOSE || kind == -2 || (kind == -1 && input->size == sizeof input->bytes)) {
            return WEBSOCKET_CLOSED;
        }
        if (kind == -1) {
            return WEBSOCKET_NONE;
        }
    }
}

// ---- A small web server for the studio -----------------------------------------------------------------------------------

enum { MOST_REQUEST = 8192, MOST_CONNECTIONS = 64, PATIENCE = 5 }; // bytes; at a time; seconds

typedef struct entry {
    char *path, *file; // file is NULL where there is none
} entry;

struct server {
    entry *entries;
    int count, room;
    int listener, port;
    atomic_int connections;
    const char *socket_path; // NULL: none
    void (*serve_socket)(void *user, int connection, const char *key);
    void *socket_user;
};

// ---- The table -----------------------------------------------------------------------------------------------------------

server *server_create(void)
{
    server *s = needed(calloc(1, sizeof *s));
    s->listener = -1;
    return s;
}

void server_destroy(server *s)
{
    if (!s || atomic_load(&s->connections) > 0) { // a visitor that does not come to an end still uses it
        return;
    }
    for (int i = 0; i < s->count; ++i) {
        free(s->entries[i].path);
        free(s->entries[i].file);
    }
    free(s->entries);
    socket_close(s->listener);
    free(s);
}

void server_add_file(server *s, const char *path, const char *file)
{
    if (s->count == s->room) {
        s->room = s->room > 0 ? 2 * s->room : 32;
        s->entries = needed(realloc(s->entries, sizeof *s->entries * (size_t)s->room));
    }
    s->entries[s->count++] = (entry){.path = needed(strdup(path)), .file = file ? needed(strdup(file)) : NULL};
}

void server_set_socket(server *s, const char *path, void (*serve)(void *user, int connection, const char *key), void *user)
{
    s->socket_path = path;
    s->serve_socket = serve;
    s->socket_user = user;
}

// The files below `folder`, whose paths begin with `path`. Links are not followed.
static bool add_below(server *s, const char *folder, const char *path)
{
    DIR *listing = opendir(folder);
    if (!listing) {
        complain("%s: cannot be opened: %s", folder, strerror(errno));
        return false;
    }
    bool works = true;
    for (struct dirent *d = readdir(listing); d && works; d = readdir(listing)) {
        char inner[PATH_MAX], inner_path[PATH_MAX];
        if (d->d_name[0] == '.') {
            continue;
        }
        works = snprintf(inner, sizeof inner, "%s/%s", folder, d->d_name) < (int)sizeof inner &&
                snprintf(inner_path, sizeof inner_path, "%s/%s", path, d->d_name) < (int)sizeof inner_path;
        path_kind kind = works ? system_path_kind(inner, false) : PATH_MISSING;
        if (kind == PATH_FOLDER) {
            works = add_below(s, inner, inner_path);
        } else if (kind == PATH_FILE) {
            server_add_file(s, inner_path, inner);
        }
    }
    closedir(listing);
    return works;
}

bool server_add_folder(server *s, const char *folder)
{
    return add_below(s, folder, "");
}

static const entry *find(const server *s, const char *path)
{
    const char *wanted = strcmp(path, "/") == 0 ? "/index.html" : path;
    for (int i = 0; i < s->count; ++i) {
        if (strcmp(s->entries[i].path, wanted) == 0) {
            return &s->entries[i];
        }
    }
    return NULL;
}

bool server_knows(const server *s, const char *path)
{
    return find(s, path) != NULL;
}

// ---- Requests ------------------------------------------------------------------------------------------------------------

static const char *media_type(const char *name)
{
    static const char *const types[][2] = {
        {".html", "text/html; charset=utf-8"},
        {".js", "text/javascript; charset=utf-8"},
        {".css", "text/css; charset=utf-8"},
        {".json", "application/json"},
        {".svg", "image/svg+xml"},
        {".png", "image/png"},
        {".wasm", "application/wasm"},
        {".webmanifest", "application/manifest+json"},
    };
    const char *dot = strrchr(name, '.');
    for (size_t i = 0; dot && i < sizeof types / sizeof types[0]; ++i) {
        if (strcasecmp(dot, types[i][0]) == 0) {
            return types[i][1];
        }
    }
    return "application/octet-stream";
}

// The page may run its own scripts and wasm, and load nothing from elsewhere.
static bool send_head(int connection, const char *status, const char *type, const char *encoding, size_t size)
{
    char head[1024];
    int length = snprintf(head, sizeof head,
                          "HTTP/1.1 %s\r\nContent-Type: %s\r\n%sContent-Length: %zu\r\nConnection: close\r\n"
                          "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n"
                          "Cross-Origin-Resource-Policy: same-origin\r\nReferrer-Policy: no-referrer\r\n"
                          "Content-Security-Policy: default-src 'self' data: blob:; script-src 'self' 'wasm-unsafe-eval'; "
                          "worker-src 'self' blob:; style-src 'self' 'unsafe-inline'; frame-ancestors 'none'\r\n\r\n",
                          status, type, encoding, size);
    return socket_send(connection, head, (size_t)length);
}

static void send_text(int connection, const char *status, bool body)
{
    if (send_head(connection, status, "text/plain; charset=utf-8", "", strlen(status) + 1) && body &&
        socket_send(connection, status, strlen(status))) {
        socket_send(connection, "\n", 1);
    }
}

// `zipped`: the same file compressed, or NULL.
static void send_file(int connection, const entry *e, const entry *zipped, bool body)
{
    file_bytes bytes;
    if (!e->file) {
        send_head(connection, "204 No Content", "text/plain", "", 0);
        return;
    }
    if (!file_read(zipped ? zipped->file : e->file, &bytes)) {
        send_text(connection, "404 Not Found", body);
        return;
    }
    const char *encoding = zipped ? "Content-Encoding: gzip\r\n" : "";
    if (send_head(connection, "200 OK", media_type(e->path), encoding, bytes.size) && body) {
        socket_send(connection, bytes.bytes, bytes.size);
    }
    file_release(&bytes);
}

// Replace %XX in place. False for a broken one, or one that stands for a zero byte.
static bool decode(char *path)
{
    char *out = path;
    for (const char *in = path; *in; ++in) {
        unsigned value = (unsigned char)*in;
        if (*in == '%') {
            char digits[3] = {in[1], in[1] ? in[2] : '\0', '\0'}, *end;
            value = (unsigned)strtoul(digits, &end, 16);
            if (end != digits + 2 || value == 0) {
                return false;
            }
            in += 2;
        }
        *out++ = (char)value;
    }
    *out = '\0';
    return true;
}

// The value of a header field, up to the end of its line; NULL when there is none.
static const char *field(const char *request, const char *name)
{
    size_t length = strlen(name);
    for (const char *line = strstr(request, "\r\n"); line; line = strstr(line, "\r\n")) {
        line += 2;
        if (strncasecmp(line, name, length) == 0 && line[length] == ':') {
            return line + length + 1 + strspn(line + length + 1, " \t");
        }
    }
    return NULL;
}

// The browser says whom it meant to ask: only this server by its number or as localhost will do. `before`: what comes
// before the name. Of port 80 browsers say nothing.
static bool names_us(const server *s, const char *host, const char *before)
{
    static const char *const names[] = {"127.0.0.1", "localhost"};
    char port[16];
    size_t port_length = (size_t)snprintf(port, sizeof port, ":%d", s->port);
    for (int i = 0; host && i < 2; ++i) {
        char wanted[64];
        size_t length = (size_t)snprintf(wanted, sizeof wanted, "%s%s", before, names[i]);
        if (strncasecmp(host, wanted, length) == 0) {
            const char *rest = host + length;
            bool has_port = strncmp(rest, port, port_length) == 0;
            rest += has_port ? port_length : 0;
            return (has_port || s->port == 80) && (*rest == '\r' || *rest == ' ');
        }
    }
    return false;
}

// Does the list of encodings, up to the end of its line, name gzip? ("gzip;q=0" is not one that browsers send.)
static bool accepts_gzip(const char *encodings)
{
    const char *end = encodings ? strstr(encodings, "\r\n") : NULL, *found = encodings ? strstr(encodings, "gzip") : NULL;
    return found && end && found < end;
}

// The file that is the same one compressed, which the build of the studio puts beside it; NULL: there is none.
static const entry *find_zipped(const server *s, const entry *e)
{
    char path[PATH_MAX];
    return snprintf(path, sizeof path, "%s.gz", e->path) < (int)sizeof path ? find(s, path) : NULL;
}

static void answer(const server *s, int connection, char *request)
{
    bool get = strncmp(request, "GET ", 4) == 0, head = strncmp(request, "HEAD ", 5) == 0;
    char *path = strchr(request, ' ') + 1, *end = path + strcspn(path, " ?#\r\n");
    bool for_us = names_us(s, field(request, "Host"), "");
    const char *key = field(request, "Sec-WebSocket-Key");
    bool zips = accepts_gzip(field(request, "Accept-Encoding"));
    bool own_page = names_us(s, field(request, "Origin"), "http://"); // pages of the web may not listen
    *end = '\0';
    if (!get && !head) {
        send_text(connection, "405 Method Not Allowed", true);
    } else if (!for_us) {
        send_text(connection, "403 Forbidden", !head);
    } else if (path[0] != '/' || !decode(path)) {
        send_text(connection, "400 Bad Request", !head);
    } else if (get && key && s->socket_path && strcmp(path, s->socket_path) == 0) {
        if (own_page) {
            s->serve_socket(s->socket_user, connection, key);
        } else {
            send_text(connection, "403 Forbidden", true);
        }
    } else {
        const entry *e = find(s, path);
        if (e) {
            send_file(connection, e, zips ? find_zipped(s, e) : NULL, !head);
        } else {
            send_text(connection, "404 Not Found", !head);
        }
    }
}

typedef enum request_kind { REQUEST_WHOLE, REQUEST_BAD, REQUEST_NONE } request_kind;

// Read up to the empty line that ends a request. BAD when it is too long, too slow, or none: PATIENCE holds for the whole of
// it, so that nobody keeps a connection by a byte now and then.
static request_kind read_request(int connection, char *request)
{
    size_t size = 0;
    double end = seconds_now() + PATIENCE;
    while (size < MOST_REQUEST - 1 && seconds_now() < end) {
        long got = socket_receive(connection, request + size, MOST_REQUEST - 1 - size);
        if (got <= 0) {
            return size > 0 ? REQUEST_BAD : REQUEST_NONE;
        }
        size += (size_t)got;
        request[size] = '\0';
        if (strlen(request) != size) {
            return REQUEST_BAD;
        }
        if (strstr(request, "\r\n\r\n")) {
            return strchr(request, ' ') ? REQUEST_WHOLE : REQUEST_BAD;
        }
    }
    return REQUEST_BAD;
}

typedef struct visit {
    server *server;
    int connection;
} visit;

static void *serve(void *argument)
{
    visit *v = argument;
    char request[MOST_REQUEST];
    request_kind kind = read_request(v->connection, request);
    if (kind == REQUEST_WHOLE) {
        answer(v->server, v->connection, request);
    } else if (kind == REQUEST_BAD) {
        send_text(v->connection, "400 Bad Request", true);
    } // else silence: browsers open connections ahead of need, and would take words for the answer to a request on its way
    socket_end(v->connection);
    socket_close(v->connection);
    atomic_fetch_sub(&v->server->connections, 1);
    free(v);
    return NULL;
}

// ---- Listening -----------------------------------------------------------------------------------------------------------

int server_listen(server *s, int port)
{
    s->listener = socket_listen(port, MOST_CONNECTIONS, &s->port);
    if (s->listener < 0) {
        complain("port %d of this machine cannot be listened on: %s", port, socket_trouble());
        return 0;
    }
    return s->port;
}

static void start_visit(server *s, int connection)
{
    visit *v = atomic_load(&s->connections) < MOST_CONNECTIONS ? malloc(sizeof *v) : NULL;
    pthread_t thread;
    if (!v) {
        socket_close(connection);
        return;
    }
    *v = (visit){.server = s, .connection = connection};
    atomic_fetch_add(&s->connections, 1);
    if (pthread_create(&thread, NULL, serve, v) != 0) {
        atomic_fetch_sub(&s->connections, 1);
        socket_close(connection);
        free(v);
        return;
    }
    pthread_detach(thread);
}

void server_run(server *s, const volatile sig_atomic_t *stop)
{
    while (!*stop) {
        int connection = socket_accept(s->listener, 200, PATIENCE);
        if (connection >= 0) {
            start_visit(s, connection);
        }
    }
    // what is on its way may arrive; connections that wait, or never end, do not keep the program
    for (int i = 0; i < 10 && atomic_load(&s->connections) > 0; ++i) {
        system_sleep_until(system_nanoseconds() + 50000000, &(const volatile sig_atomic_t){0});
    }
}
