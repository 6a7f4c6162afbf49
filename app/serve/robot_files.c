// Files that a robot's file names.
#include "robot_files.h"

#include "cli/load.h"
#include "cli/whole_files.h"
#include "system/system.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

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

void robot_files_add(server *s, const char *file, const char *prefix)
{
    search found = {.server = s, .prefix = prefix};
    const char *slash = strrchr(file, '/');
    int length = slash ? (int)(slash - file) : 1;
    if (snprintf(found.folder, sizeof found.folder, "%.*s", length, slash ? file : ".") < (int)sizeof found.folder) {
        scan_file(&found, file, file, 0);
    }
}
