// Pages of one file: a template with data put into it.
#include "page.h"
#include "cli/command.h"
#include "cli/files.h"
#include "cli/terminal.h"

#include <stdlib.h>
#include <string.h>

// ---- Base64 --------------------------------------------------------------------------------------------------------------

// RFC 4648.
static char *base64(const void *bytes, size_t size)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const unsigned char *b = bytes;
    char *text = malloc((size + 2) / 3 * 4 + 1), *t = text;
    if (!text) {
        return NULL;
    }
    for (size_t i = 0; i < size; i += 3) {
        size_t left = size - i;
        unsigned word =
            (unsigned)b[i] << 16 | (left > 1 ? (unsigned)b[i + 1] << 8 : 0) | (left > 2 ? (unsigned)b[i + 2] : 0);
        *t++ = digits[word >> 18];
        *t++ = digits[word >> 12 & 63];
        *t++ = digits[word >> 6 & 63];
        *t++ = digits[word & 63];
    }
    if (size % 3 > 0) {
        t[-1] = '=';
    }
    if (size % 3 == 1) {
        t[-2] = '=';
    }
    *t = '\0';
    return text;
}

// Numbers of the page are little-endian, as are the machines that this runs on.
json_node *page_packed(const void *bytes, size_t size)
{
    char *text = bytes ? base64(bytes, size) : NULL;
    json_node *value = text ? json_from_text(text) : NULL;
    free(text);
    return value;
}

// ---- The command line ----------------------------------------------------------------------------------------------------

// A word as a shell takes it.
static void print_word(FILE *stream, const char *word)
{
    if (word[0] &&
        strspn(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./:=@%+,-") == strlen(word)) {
        fprintf(stream, " %s", word);
        return;
    }
    fputs(" '", stream);
    for (; *word; ++word) {
        fputs(*word == '\'' ? "'\\''" : (char[]){*word, '\0'}, stream);
    }
    fputc('\'', stream);
}

json_node *page_command(const arguments *args)
{
    text_file text;
    text_open(&text);
    const app_command *command = arguments_command(args);
    fprintf(text.stream, "poise %s", command->name);
    for (int i = 0; i < arguments_count(args); ++i) {
        print_word(text.stream, arguments_at(args, i));
    }
    for (const app_option *o = command->options; o->name; ++o) {
        const char *value;
        for (int i = 0; o->kind != OPTION_FLAG && (value = option_text_at(args, o->name, i)) != NULL; ++i) {
            fprintf(text.stream, " --%s", o->name);
            print_word(text.stream, value);
        }
        if (o->kind == OPTION_FLAG && option_given(args, o->name)) {
            fprintf(text.stream, " --%s", o->name);
        }
    }
    json_node *o = fclose(text.stream) == 0 ? json_from_text(text.text) : NULL;
    free(text.text);
    return o;
}

// ---- The page ------------------------------------------------------------------------------------------------------------

// JSON inside a script element: no "<" may stand in it, or a name could end the element.
static void print_data(FILE *stream, const char *data)
{
    for (; *data; ++data) {
        if (*data == '<') {
            fputs("\\u003c", stream);
        } else {
            fputc(*data, stream);
        }
    }
}

// page_head.html, ended by a zero; made by cmake/embed.cmake when the program is built
extern const unsigned char page_head_text[];

bool page_write(const char *page, json_node *data, const char *name)
{
    enum { DIGITS = 6 };
    static const char hole[] = "@POISE_REPORT_DATA@";
    const char *at = strstr(page, hole);
    char *text = json_to_text(data, DIGITS);
    json_release(data);
    text_file file;
    need(text && at);
    text_open(&file);
    fputs((const char *)page_head_text, file.stream);
    fwrite(page, 1, (size_t)(at - page), file.stream);
    print_data(file.stream, text);
    fputs(at + strlen(hole), file.stream);
    free(text);
    return text_close(&file, name);
}

// ---- A skeleton that moves, for pages that play it -----------------------------------------------------------------------

enum { MOST_NUMBERS = 700000 }; // of the points of one figure; longer motions are thinned

// pair_page.html, ended by a zero; made by cmake/embed.cmake when the program is built
extern const unsigned char pair_page_text[];

// Bodies, and tips where nothing else hangs from a body.
typedef struct drawn {
    const poise_model *model;
    int points, tools;
    int body[POISE_ROLE_COUNT]; // by role; POISE_NONE: none
} drawn;

static bool is_drawn(const poise_model *model, int tool)
{
    return poise_model_joint_info(model, poise_model_tool_info(model, tool).body).subtree == 1;
}

// Does a body, or one above it, play a role?
static bool is_of_figure(const drawn *d, int body)
{
    bool found = false;
    for (int k = body; k >= 0 && !found; k = poise_model_joint_info(d->model, k).parent) {
        for (int role = 0; role < POISE_ROLE_COUNT && !found; ++role) {
            found = d->body[role] == k;
        }
    }
    return found;
}

// What leads from a world or scene, which never moves, to the figure is no bone; nor is what a free joint leaves behind.
static bool is_bone(const drawn *d, int body)
{
    poise_joint_info joint = poise_model_joint_info(d->model, body);
    int k = joint.parent;
    while (k >= 0 && poise_model_joint_info(d->model, k).nv == 0) {
        k = poise_model_joint_info(d->model, k).parent;
    }
    return joint.parent >= 0 && (is_of_figure(d, joint.parent) || (k >= 0 && joint.nv < 6));
}

static json_node *bones_as_json(const drawn *d)
{
    json_node *list = json_new(JSON_ARRAY);
    int joints = poise_model_info(d->model).joints, at = joints;
    for (int k = 0; k < joints; ++k) {
        int parent = poise_model_joint_info(d->model, k).parent;
        if (is_bone(d, k)) {
            json_append(list, json_make("[i, i]", parent, k));
        }
    }
    for (int i = 0; i < d->tools; ++i) {
        if (is_drawn(d->model, i)) {
            json_append(list, json_make("[i, i]", poise_model_tool_info(d->model, i).body, at++));
        }
    }
    return list;
}

static float *points_of(const drawn *d, const poise_clip *clip, int step, int poses)
{
    poise_kinematics *kin;
    float *points = needed(calloc((size_t)poses * (size_t)d->points * 3 + 1, sizeof *points)), *p = points;
    need(poise_kinematics_create(d->model, NULL, &kin, NULL) == POISE_OK);
    for (int pose = 0; pose < poses; ++pose) {
        poise_kinematics_update(kin, clip->q + (size_t)pose * (size_t)step * (size_t)clip->nq, NULL);
        for (int k = 0; k < poise_model_info(d->model).joints; ++k, p += 3) {
            poise_vec3 at = poise_kinematics_body_pose(kin, k).position;
            p[0] = (float)at.x, p[1] = (float)at.y, p[2] = (float)at.z;
        }
        for (int i = 0; i < d->tools; ++i) {
            if (is_drawn(d->model, i)) {
                poise_vec3 at = poise_kinematics_tool_pose(kin, i).position;
                p[0] = (float)at.x, p[1] = (float)at.y, p[2] = (float)at.z;
                p += 3;
            }
        }
    }
    poise_kinematics_destroy(kin);
    return points;
}

int page_step(int frames, int bodies)
{
    return (int)((double)frames * 3 * bodies / MOST_NUMBERS) + 1;
}

json_node *page_figure(const poise_model *model, const poise_clip *clip, const int body[POISE_ROLE_COUNT], poise_up up,
                       const char *name, int step)
{
    int poses = (clip->frames + step - 1) / step;
    drawn d = {.model = model, .tools = poise_model_info(model).tools, .points = poise_model_info(model).joints};
    for (int i = 0; i < d.tools; ++i) {
        d.points += is_drawn(model, i);
    }
    json_node *roles = json_new(JSON_ARRAY);
    for (int role = 0; role < POISE_ROLE_COUNT; ++role) {
        d.body[role] = body[role];
        json_append(roles, json_from_integer(body[role]));
    }
    float *points = points_of(&d, clip, step, poses);
    json_node *made = json_make("{s:o, s:i, s:i, s:o, s:o, s:o}", "name", json_from_text(name), "count", d.points, "up",
                                (int)up, "bones", bones_as_json(&d), "roles", roles, "points",
                                page_packed(points, (size_t)poses * (size_t)d.points * 3 * sizeof *points));
    free(points);
    return made;
}

const char *page_name(const char *name)
{
    return strncmp(name, "scene:", 6) == 0 ? name : path_base(name);
}

bool page_write_pair(json_node *data, const arguments *args, int frames, int step, const char *name)
{
    json_set(data, "version", json_from_text(poise_version()));
    json_set(data, "command", page_command(args));
    json_set(data, "step", json_from_integer(step));
    json_set(data, "poses", json_from_integer((frames + step - 1) / step));
    return page_write((const char *)pair_page_text, data, name);
}
