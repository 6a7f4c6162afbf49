// Files that a robot's file names.
#include "cli/files.h"
#include "cli/json.h"
#include "cli/load.h"
#include "cli/memory.h"
#include "cli/programs.h"
#include "cli/terminal.h"
#include "commands/commands.h"
#include "commands/server.h"
#include "commands/stream.h"
#include "system/sockets.h"
#include "system/system.h"

#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

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

static app_exit serve(server *s, const arguments *args)
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
    app_exit status = serve(s, args);
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
