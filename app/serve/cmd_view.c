// poise view: the studio, in the browser, from a loopback port.
#include "cli/json_output.h"
#include "cli/programs.h"
#include "cli/terminal.h"
#include "cli/whole_files.h"
#include "commands/commands.h"
#include "live.h"
#include "robot_files.h"
#include "server.h"
#include "system/system.h"

#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

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
