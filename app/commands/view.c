// poise view: the studio in the browser, from a small web server: loopback only, files of a table only.
//
// Everything it can send is known when it starts: the files of one folder, by the paths they have in it, and single files
// that are added under paths of their own. A request names an entry of that table exactly or gets 404, so no path leads out
// of it. Requests that name another host are refused, so that no page of the web can reach the server through a name of its
// own that leads to this machine.
#include "cli/files.h"
#include "cli/json.h"
#include "cli/load.h"
#include "cli/programs.h"
#include "cli/terminal.h"
#include "commands/commands.h"
#include "system/sockets.h"
#include "system/system.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

typedef struct server server;

enum { WEBSOCKET_MOST = 65536 }; // bytes of a message that comes in

typedef enum websocket_state { WEBSOCKET_NONE = 0, WEBSOCKET_TEXT, WEBSOCKET_CLOSED } websocket_state;

// What has come in so far of a connection.
typedef struct websocket_input {
    unsigned char bytes[WEBSOCKET_MOST + 16];
    size_t size;
    char text[WEBSOCKET_MOST + 1]; // the last message
    size_t text_size;
} websocket_input;

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

// Answer the request with the key of its header. False when the connection is gone.
static bool websocket_accept(int connection, const char *key)
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

// One message of text.
static bool websocket_send(int connection, const char *text, size_t size)
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

// Wait up to `milliseconds` for a message. NONE: there is none yet. CLOSED: there will be none, because the other side
// closed, broke the rules, or sent more than WEBSOCKET_MOST at once. Pings are answered on the way.
static websocket_state websocket_next(int connection, int milliseconds, websocket_input *input)
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

static server *server_create(void)
{
    server *s = needed(calloc(1, sizeof *s));
    s->listener = -1;
    return s;
}

static void server_destroy(server *s)
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

// One file, under `path` ("/file/walk.bvh"). It is read again for each request. NULL: it is known that there is none,
// and the answer is 204, of which a browser does not complain.
static void server_add_file(server *s, const char *path, const char *file)
{
    if (s->count == s->room) {
        s->room = s->room > 0 ? 2 * s->room : 32;
        s->entries = needed(realloc(s->entries, sizeof *s->entries * (size_t)s->room));
    }
    s->entries[s->count++] = (entry){.path = needed(strdup(path)), .file = file ? needed(strdup(file)) : NULL};
}

// A WebSocket at `path`, for pages of this server alone: `serve` has the connection and the key of the request until it
// returns.
static void server_set_socket(server *s, const char *path, void (*serve)(void *user, int connection, const char *key),
                              void *user)
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

// All files of a folder and those below it, as "/name". False after one line on standard error.
static bool server_add_folder(server *s, const char *folder)
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

// Is there an answer for this path?
static bool server_knows(const server *s, const char *path)
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

// Listen on 127.0.0.1 and this port; 0 for one that is free. Returns the port; 0 after one line on standard error.
static int server_listen(server *s, int port)
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

// Answer until *stop is not 0 (a signal handler sets it; waiting ends with the signal).
static void server_run(server *s, const volatile sig_atomic_t *stop)
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

// ---- What the studio is shown --------------------------------------------------------------------------------------------

// The files that a robot's file names: meshes with their materials and pictures, and included files, found on disk as
// ROS and MuJoCo mean them.

// Offer what `file` (URDF, MJCF) names under `prefix`/NAME, where NAME is the path in the file without its scheme and
// without "." and "..", and what those name in turn. They are looked for where poise_named_file (io.h) says. What is not
// found is known as missing; what is neither a mesh, a picture nor XML is left out.

// A stream that runs, for browsers: its lines come on standard input and go to every page; what pages send goes to the port
// that the stream's first line names.

typedef struct live live;

#define MOST_INCLUDES 6    // files that name files that name ...
#define MOST_NAMES    4000 // of one file

typedef struct search {
    server *server;
    const char *prefix;
    char folder[PATH_MAX]; // of the robot's file
    int names;             // looked at so far
} search;

static bool is_offered(const char *name)
{
    static const char *const kinds[] = {".stl", ".obj", ".dae",  ".gltf", ".glb",  ".vtp", ".mtl",
                                        ".png", ".jpg", ".jpeg", ".bmp",  ".webp", ".bin", ".xml"};
    const char *dot = strrchr(name, '.');
    for (size_t i = 0; dot && i < sizeof kinds / sizeof *kinds; ++i) {
        if (strcasecmp(dot, kinds[i]) == 0) {
            return true;
        }
    }
    return false;
}

// `folder`/`name` without a scheme, without "." and "..".
static bool clean_path(const char *folder, const char *name, char *out, size_t size)
{
    char whole[PATH_MAX];
    const char *scheme = strstr(name, "://");
    if (snprintf(whole, sizeof whole, "%s/%s", scheme ? "" : folder, scheme ? scheme + 3 : name) >= (int)sizeof whole) {
        return false;
    }
    size_t used = 0;
    out[0] = '\0';
    for (char *part = whole, *next; part; part = next) {
        next = strchr(part, '/');
        if (next) {
            *next++ = '\0';
        }
        if (*part && strcmp(part, ".") != 0 && strcmp(part, "..") != 0) {
            int more = snprintf(out + used, size - used, "%s%s", used > 0 ? "/" : "", part);
            if (more < 0 || (size_t)more >= size - used) {
                return false;
            }
            used += (size_t)more;
        }
    }
    return used > 0;
}

static void scan_file(search *s, const char *file, const char *name, int depth);

// Let the server send `name`, and what it names in turn.
static void offer(search *s, const char *folder, const char *name, int depth)
{
    char whole[PATH_MAX], clean[PATH_MAX], found[PATH_MAX], path[PATH_MAX];
    bool joins = folder[0] && !strstr(name, "://");
    if (!is_offered(name) || !clean_path(folder, name, clean, sizeof clean) ||
        snprintf(whole, sizeof whole, "%s%s%s", joins ? folder : "", joins ? "/" : "", name) >= (int)sizeof whole ||
        snprintf(path, sizeof path, "%s/%s", s->prefix, clean) >= (int)sizeof path || server_knows(s->server, path)) {
        return;
    }
    bool is_there = find_named(s->folder, whole, found, sizeof found);
    server_add_file(s->server, path, is_there ? found : NULL);
    if (is_there && depth < MOST_INCLUDES) {
        scan_file(s, found, whole, depth + 1);
    }
}

// The next value of an attribute of this name, from `at` on; NULL: there is none.
static const char *next_value(const char *at, const char *attribute, char *value, size_t size)
{
    while ((at = strstr(at, attribute))) {
        at += strlen(attribute);
        const char *quote = at + strspn(at, " \t\r\n");
        if (*quote != '=') {
            continue;
        }
        quote += 1 + strspn(quote + 1, " \t\r\n");
        const char *end = *quote == '"' || *quote == '\'' ? strchr(quote + 1, *quote) : NULL;
        if (end && (size_t)(end - quote) < size) {
            snprintf(value, size, "%.*s", (int)(end - quote - 1), quote + 1);
            return end;
        }
    }
    return NULL;
}

// The text between the next `tag` and one of `ends`, without blanks around it, from `at` on; NULL: there is none.
static const char *next_text(const char *at, const char *tag, const char *ends, char *text, size_t size)
{
    while ((at = strstr(at, tag))) {
        at += strlen(tag);
        at += strspn(at, " \t\r\n:\"");
        size_t length = strcspn(at, ends);
        while (length > 0 && strchr(" \t\r\n", at[length - 1])) {
            --length;
        }
        if (length > 0 && length < size) {
            snprintf(text, size, "%.*s", (int)length, at);
            return at + length;
        }
        at += length; // longer than any name
    }
    return NULL;
}

// The meshes of an OpenSim model: in a folder called Geometry, or beside it.
static void scan_bones(search *s, const char *text)
{
    static const char *const tags[] = {"<mesh_file>", "<geometry_file>"};
    char name[PATH_MAX];
    for (int i = 0; i < 2; ++i) {
        for (const char *at = text; s->names < MOST_NAMES && (at = next_text(at, tags[i], "<", name, sizeof name));) {
            s->names += 1;
            offer(s, "Geometry", name, 0);
        }
    }
}

static void scan_text(search *s, const char *text, int depth)
{
    static const char *const attributes[] = {"filename", "file"};
    static const char *const folders[] = {"meshdir", "assetdir", "texturedir"};
    char name[PATH_MAX], folder[3][PATH_MAX] = {"", "", ""};
    for (int i = 0; i < 3; ++i) {
        next_value(text, folders[i], folder[i], sizeof folder[i]);
    }
    for (int i = 0; i < 2; ++i) {
        for (const char *at = text; s->names < MOST_NAMES && (at = next_value(at, attributes[i], name, sizeof name));) {
            s->names += 1;
            offer(s, "", name, depth);
            for (int k = 0; k < 3; ++k) {
                if (folder[k][0]) {
                    offer(s, folder[k], name, depth);
                }
            }
        }
    }
}

// How meshes name materials, pictures and buffers: by paths from where they are themselves.
static const struct {
    const char *kind, *tag, *ends;
} parts_of_meshes[] = {
    {".obj", "mtllib ", "\r\n"},
    {".mtl", "map_Kd ", "\r\n"},
    {".dae", "<init_from>", "<"},
    {".gltf", "\"uri\"", "\""},
};

static bool has_parts(const char *kind)
{
    for (size_t i = 0; i < sizeof parts_of_meshes / sizeof *parts_of_meshes; ++i) {
        if (strcasecmp(kind, parts_of_meshes[i].kind) == 0) {
            return true;
        }
    }
    return false;
}

static void scan_mesh(search *s, const char *text, const char *mesh, const char *kind, int depth)
{
    char name[PATH_MAX], beside[PATH_MAX];
    const char *slash = strrchr(mesh, '/');
    for (size_t i = 0; i < sizeof parts_of_meshes / sizeof *parts_of_meshes; ++i) {
        const char *at = strcasecmp(kind, parts_of_meshes[i].kind) == 0 ? text : NULL;
        while (at && s->names < MOST_NAMES &&
               (at = next_text(at, parts_of_meshes[i].tag, parts_of_meshes[i].ends, name, sizeof name))) {
            s->names += 1;
            int folder = slash && !strstr(name, "://") ? (int)(slash - mesh) + 1 : 0;
            if (snprintf(beside, sizeof beside, "%.*s%s", folder, mesh, name) < (int)sizeof beside) {
                offer(s, "", beside, depth);
            }
        }
    }
}

static void scan_file(search *s, const char *file, const char *name, int depth)
{
    const char *kind = strrchr(name, '.');
    bool is_robot = depth == 0 || (kind && strcasecmp(kind, ".xml") == 0);
    file_bytes bytes;
    if (!(is_robot || (kind && has_parts(kind))) || !file_read(file, &bytes)) {
        return;
    }
    if (is_robot) {
        scan_text(s, bytes.bytes, depth);
        scan_bones(s, bytes.bytes);
    } else {
        scan_mesh(s, bytes.bytes, name, kind, depth);
    }
    file_release(&bytes);
}

static void robot_files_add(server *s, const char *file, const char *prefix)
{
    search found = {.server = s, .prefix = prefix};
    const char *slash = strrchr(file, '/');
    int length = slash ? (int)(slash - file) : 1;
    if (snprintf(found.folder, sizeof found.folder, "%.*s", length, slash ? file : ".") < (int)sizeof found.folder) {
        scan_file(&found, file, file, 0);
    }
}

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

static live *live_start(void)
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

static void live_serve(void *user, int connection, const char *key)
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

// ---- poise view: the studio, in the browser, from a loopback port --------------------------------------------------------

static volatile sig_atomic_t stopped;

static void stop(int number)
{
    (void)number;
    stopped = 1;
}

static bool find_studio(const char *given, char *folder, size_t size)
{
    static const char *const places[] = {"../share/poise/studio", "../studio", NULL};
    if (given) {
        return snprintf(folder, size, "%s", given) < (int)size;
    }
    if (find_beside_program(places, folder, size)) {
        return true;
    }
    complain(
        "view: this installation has no studio; in a clone of Poise, \"make web install\" builds and installs it, or says "
        "what it needs; --studio FOLDER gives one that is elsewhere");
    return false;
}

// A path that nobody can guess, since other users of this machine can reach the port.
static bool secret_path(const char *file, char *path, size_t size)
{
    unsigned char random[16];
    if (!system_random(random, sizeof random)) {
        complain("view: no random numbers to be had");
        return false;
    }
    char name[2 * sizeof random + 1];
    for (size_t i = 0; i < sizeof random; ++i) {
        snprintf(name + 2 * i, 3, "%02x", random[i]);
    }
    return snprintf(path, size, "/file/%s/%s", name, path_base(file)) < (int)size;
}

// Text as part of an address: everything but letters, digits and "-._~/" as %XX.
static void print_encoded(char *out, size_t size, const char *text)
{
    size_t used = 0;
    for (; *text && used + 4 < size; ++text) {
        unsigned char c = (unsigned char)*text;
        bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || strchr("-._~/", c);
        used += (size_t)snprintf(out + used, size - used, plain ? "%c" : "%%%02X", c);
    }
    out[used] = '\0';
}

static app_exit serve_studio(server *s, const arguments *args)
{
    const char *file = arguments_at(args, 0);
    char folder[PATH_MAX], path[PATH_MAX] = "", query[2 * PATH_MAX] = "", address[3 * PATH_MAX];
    if (!find_studio(option_text(args, "studio", NULL), folder, sizeof folder) || !server_add_folder(s, folder)) {
        return APP_BAD;
    }
    if (file && strncmp(file, "scene:", 6) == 0) {
        snprintf(query, sizeof query, "?scene=%s", file + 6);
    } else if (file) {
        file_bytes bytes; // a file that cannot be read should be said here, not in the browser
        if (!file_read(file, &bytes)) {
            return APP_BAD;
        }
        file_release(&bytes);
        if (!secret_path(file, path, sizeof path)) {
            return APP_BAD;
        }
        server_add_file(s, path, file);
        char prefix[PATH_MAX];
        snprintf(prefix, sizeof prefix, "%.*s", (int)(strrchr(path, '/') - path), path);
        robot_files_add(s, file, prefix);
        char encoded[PATH_MAX];
        print_encoded(encoded, sizeof encoded, path);
        snprintf(query, sizeof query, "?file=%s", encoded);
    }
    if (option_given(args, "live")) {
        if (!file) {
            complain("view: --live needs the skeleton that the stream moves");
            return APP_BAD;
        }
        server_set_socket(s, "/live", live_serve, live_start());
        snprintf(query + strlen(query), sizeof query - strlen(query), "&live=1");
    }
    int port = server_listen(s, option_count(args, "port", 0));
    if (port == 0) {
        return APP_BAD;
    }
    snprintf(address, sizeof address, "http://127.0.0.1:%d/%s", port, query);
    if (arguments_json(args)) {
        json_print_line(json_make("{s:s, s:i}", "address", address, "port", port));
    } else {
        printf("studio: %s\nCtrl-C ends it.\n", address);
    }
    fflush(stdout);
    system_on_interrupt(stop);
    if (!option_given(args, "no-open")) {
        system_show_address(address);
    }
    server_run(s, &stopped);
    return APP_DONE;
}

static app_exit run(const arguments *args)
{
    server *s = server_create();
    app_exit status = serve_studio(s, args);
    server_destroy(s);
    return status;
}

static const app_option options[] = {
    {"port", 'p', OPTION_COUNT, "N", .highest = 65535, .help = "port to listen on (any free one)"},
    {"no-open", .help = "print the address without opening a browser"},
    {"live", .help = "show a running stream: its lines come on standard input, goals go to its port; its postures (poise "
                     "stream --with-posture) appear as a ghost"},
    {"studio", 0, OPTION_FILE, "FOLDER", .help = "folder of the built studio, if not the installed one"},
    {0},
};

static const app_example examples[] = {
    {"The lamp, in a browser that you open yourself", "poise view scene:lamp --no-open"},
    {0},
};

const app_command cmd_view = {
    .name = "view",
    .synopsis = "[FILE]",
    .most = 1,
    .summary = "open a file in the browser studio",
    .description = "Serves the studio on a free port of 127.0.0.1, which no other machine can reach, and opens it in the "
                   "browser; with a file, or a scene, the studio shows it. Nothing leaves this machine. Ctrl-C ends it.\n\n"
                   "With --live it shows a robot as it is driven: poise stream robot.urdf --port 9000 | poise view "
                   "robot.urdf --live. Pages get the newest line, up to 60 times a second, through a WebSocket that only "
                   "this server's own pages may open; dragging the goal sends \"aim\" to the stream's port.",
    .options = options,
    .examples = examples,
    .waits = true,
    .run = run,
};
