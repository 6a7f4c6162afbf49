// poise info: what is in a file.
#include "cli/files.h"
#include "cli/json.h"
#include "cli/load.h"
#include "cli/terminal.h"
#include "cli/words.h"
#include "commands/commands.h"

#include <scenes/scenes.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

// What was read: the file, and the skeleton where that came from another one.
typedef struct contents {
    const char *name;
    poise_file *file, *skeleton;
    const poise_model *model; // of either; NULL: neither has one
    bool reads_meshes;        // they are covered by shapes, which takes seconds of a whole robot
} contents;

// What the file is mainly about.
static const char *kind(const poise_file *file)
{
    if (file->clip) {
        return "motion";
    }
    if (file->markers) {
        return "markers";
    }
    return file->model                ? "model"
           : file->goal_count > 0     ? "goals"
           : file->posture_count > 0  ? "postures"
           : file->excluded_count > 0 ? "pairs that may touch"
                                      : "nothing";
}

static const char *format_name(const contents *c)
{
    return c->file->format == POISE_FORMAT_UNKNOWN ? "scene" : poise_format_name(c->file->format);
}

// ---- Joints --------------------------------------------------------------------------------------------------------------

static bool has_limit(double lower, double upper)
{
    return isfinite(lower) || isfinite(upper);
}

// "-170..170" in degrees or length units, "free" without limits; one range for each coordinate that has one.
static void print_limits(char *text, size_t size, const poise_model *model, int joint)
{
    int first = poise_model_joint_info(model, joint).q, count = poise_model_joint_info(model, joint).nq;
    const double *lower = poise_model_info(model).lower, *upper = poise_model_info(model).upper;
    poise_joint j = *poise_model_joint_info(model, joint).given;
    size_t used = 0;
    text[0] = '\0';
    for (int i = 0; i < count && used < size; ++i) {
        double l = lower[first + i], u = upper[first + i];
        if (has_limit(l, u)) {
            poise_unit unit = poise_model_coordinate(model, first + i).unit;
            used += (size_t)snprintf(text + used, size - used, "%s%.4g..%.4g", used > 0 ? " " : "",
                                     value_for_people(unit, l), value_for_people(unit, u));
        }
    }
    if (isfinite(j.swing[0]) && used < size) {
        snprintf(text + used, size - used, "%sswing %.4g x %.4g", used > 0 ? "  " : "", j.swing[0] * DEGREES_PER_RADIAN,
                 j.swing[1] * DEGREES_PER_RADIAN);
    }
}

static void print_joints(const poise_model *model)
{
    table *t = table_create("joint\tparent\ttype\t>dofs\tlimits (deg, units)");
    for (int k = 0; k < poise_model_info(model).joints; ++k) {
        char limits[128];
        int dofs;
        dofs = poise_model_joint_info(model, k).nv;
        print_limits(limits, sizeof limits, model, k);
        int mimic = poise_model_joint_info(model, k).mimic;
        if (mimic != POISE_NONE) {
            snprintf(limits, sizeof limits, "follows %s", poise_model_joint_info(model, mimic).name);
        }
        int parent = poise_model_joint_info(model, k).parent;
        table_row(t, "%s\t%s\t%s\t%d\t%s", poise_model_joint_info(model, k).name,
                  parent == POISE_WORLD ? "-" : poise_model_joint_info(model, parent).body,
                  poise_joint_type_name(poise_model_joint_info(model, k).type), dofs, limits);
    }
    table_end(t, stdout);
}

static int limited_coordinates(const poise_model *model)
{
    int count = 0;
    for (int i = 0; i < poise_model_info(model).nq; ++i) {
        count += has_limit(poise_model_info(model).lower[i], poise_model_info(model).upper[i]);
    }
    return count;
}

// ---- For people ----------------------------------------------------------------------------------------------------------

static double share_missing(const poise_markers *markers)
{
    int64_t missing = 0, total = (int64_t)markers->frames * markers->count;
    for (int f = 0; f < markers->frames; ++f) {
        for (int i = 0; i < markers->count; ++i) {
            missing += !poise_markers_seen(markers, f, i);
        }
    }
    return total > 0 ? (double)missing / (double)total : 0;
}

// Who stands there: "1.78 m tall, standing along z"; what the file does not say is taken from it.
static void print_figure(const poise_markers *m)
{
    poise_figure f;
    char unit[32];
    if (poise_markers_figure(m, &f, NULL) != POISE_OK || !f.is_named || !(f.metres > 0)) {
        return;
    }
    bool is_silent = !(m->scale.metres > 0);
    double metres = is_silent ? f.metres : m->scale.metres;
    printf("  figure     %.3g m from lowest to highest named marker", f.height * metres);
    if (f.up != POISE_UP_UNKNOWN) {
        printf(", standing along %s%s", up_name(f.up), f.is_upside_down ? ", head down" : "");
    }
    if (is_silent) {
        printf("; the file does not give its unit; %s assumed", unit_name(metres, unit));
    } else if (is_no_person(&f, metres)) {
        printf("; in %s it would be %.3g m", unit_name(f.metres, unit), f.height * f.metres);
    }
    printf("\n");
}

static void print_subjects(const poise_markers *m)
{
    enum { MOST = 32 };
    poise_subject s[MOST];
    int count = poise_markers_subjects(m, s, MOST);
    for (int i = 0; i < count && i < MOST; ++i) {
        printf("  subject    %s, %d marker%s%s\n", s[i].name, s[i].markers, s[i].markers == 1 ? "" : "s",
               s[i].is_whole ? "" : ", no whole body");
    }
}

static void print_collision(const contents *c)
{
    int shapes = c->file->shape_count, skipped = c->file->shapes_skipped;
    if (shapes + skipped == 0) {
        return;
    }
    printf("  collision  %d shape%s", shapes, shapes == 1 ? "" : "s");
    if (skipped > 0 && !c->reads_meshes) {
        printf(", and %d mesh%s, not read by --brief", skipped, skipped == 1 ? "" : "es");
    } else if (skipped > 0) {
        printf("; %d mesh%s not found, or not STL, OBJ or COLLADA", skipped, skipped == 1 ? "" : "es");
    }
    putchar('\n');
}

static void print_summary(const contents *c)
{
    const poise_file *file = c->file;
    printf("%s: %s, %s\n", strcmp(c->name, "-") == 0 ? "standard input" : c->name, format_name(c), kind(file));
    if (file->title) {
        printf("  title      %s\n", file->title);
    }
    if (c->model) {
        int joints = poise_model_info(c->model).joints, dofs = poise_model_info(c->model).nv,
            nq = poise_model_info(c->model).nq;
        printf("  skeleton   %d joint%s, %d degree%s of freedom%s\n", joints, joints == 1 ? "" : "s", dofs,
               dofs == 1 ? "" : "s", c->skeleton ? ", from another file" : "");
        printf("  posture    %d number%s, %d with limits\n", nq, nq == 1 ? "" : "s", limited_coordinates(c->model));
    }
    if (file->scale.metres > 0 && c->model) {
        printf("  unit       %g m\n", file->scale.metres);
    }
    if (file->scale.up != POISE_UP_UNKNOWN && c->model) {
        printf("  up axis    %s\n", up_name(file->scale.up));
    }
    if (file->clip) {
        printf("  motion     %d frame%s, %.6g per second, %.3f s\n", file->clip->frames, file->clip->frames == 1 ? "" : "s",
               1 / file->clip->frame_time, file->clip->frames * file->clip->frame_time);
    }
    if (file->markers) {
        const poise_markers *m = file->markers;
        printf("  markers    %d, %d frame%s, %.6g per second, %.1f %% missing, unit %g m\n", m->count, m->frames,
               m->frames == 1 ? "" : "s", m->rate, 100 * share_missing(m), m->scale.metres);
        print_subjects(m);
        print_figure(m);
    }
    if (file->carried && file->carried->text[0]) {
        printf("  also       %s\n", file->carried->text);
    }
    if (file->placement_count > 0) {
        printf("  places     %d marker%s on the skeleton\n", file->placement_count, file->placement_count == 1 ? "" : "s");
    }
    print_collision(c);
    if (file->loop_count > 0) {
        printf("  loops      %d, held by \"poise solve\" and \"poise track\"\n", file->loop_count);
    }
    if (file->goal_count > 0) {
        printf("  goals      %d\n", file->goal_count);
    }
}

// "before: one, two, three" after an empty line, wrapped; nothing where there are none.
static void print_list(const char *before, const void *user, const char *(*at)(const void *user, int index), int count)
{
    text_file text;
    if (count == 0) {
        return;
    }
    text_open(&text);
    for (int i = 0; i < count; ++i) {
        fprintf(text.stream, "%s%s", i == 0 ? before : ", ", at(user, i));
    }
    text_print(&text);
}

static const char *posture_at(const void *file, int index)
{
    return ((const poise_file *)file)->postures[index].name;
}

static const char *marker_at(const void *markers, int index)
{
    return ((const poise_markers *)markers)->label[index];
}

static const char *tool_at(const void *model, int index)
{
    return poise_model_tool_info(model, index).name;
}

static const char *animation_at(const void *carried, int index)
{
    return ((const poise_carried *)carried)->animation_name[index];
}

static const char *channel_at(const void *carried, int index)
{
    return ((const poise_carried *)carried)->channel[index].label;
}

static void print_events(const poise_carried *carried)
{
    text_file text;
    if (carried->event_count == 0) {
        return;
    }
    text_open(&text);
    for (int i = 0; i < carried->event_count; ++i) {
        const poise_event *e = &carried->event[i];
        fprintf(text.stream, "%s%s%s%s at %.3f s", i == 0 ? "events: " : ", ", e->context, e->context[0] ? " " : "",
                e->label, e->time);
    }
    text_print(&text);
}

static void print_names(const contents *c)
{
    const poise_file *file = c->file;
    print_list("tools: ", c->model, tool_at, c->model ? poise_model_info(c->model).tools : 0);
    print_list("postures: ", file, posture_at, file->posture_count);
    print_list("markers: ", file->markers, marker_at, file->markers ? file->markers->count : 0);
    if (file->carried) {
        print_list("animations: ", file->carried, animation_at, file->carried->animations);
        print_list("analog channels: ", file->carried, channel_at, file->carried->channel_count);
        print_events(file->carried);
    }
}

static void print_warnings(const poise_file *file)
{
    const int one_line = 100000; // in a file or a pipe, for grep
    int columns = is_terminal(stdout) ? terminal_columns(stdout) : one_line;
    if (file->warning_count > 0) {
        printf("\n%sodd things%s\n", style_code(STYLE_BOLD), style_code(STYLE_PLAIN));
    }
    for (int i = 0; i < file->warning_count; ++i) {
        char text[POISE_ERROR_TEXT_SIZE];
        memcpy(text, file->warnings[i].text, sizeof text);
        text_make_printable(text);
        char whole[POISE_ERROR_TEXT_SIZE + 32];
        snprintf(whole, sizeof whole, "line %d: %s", file->warnings[i].line, text);
        print_wrapped(stdout, file->warnings[i].line > 0 ? whole : text, 2, columns);
    }
    if (file->warnings_dropped > 0) {
        printf("  and %d more\n", file->warnings_dropped);
    }
}

static void print_people(const contents *c, bool brief)
{
    print_summary(c);
    if (c->model && !brief) {
        putchar('\n');
        print_joints(c->model);
    }
    if (!brief) {
        print_names(c);
    }
    print_warnings(c->file);
}

// ---- For machines --------------------------------------------------------------------------------------------------------

static json_node *joints_as_json(const poise_model *model)
{
    json_node *list = json_new(JSON_ARRAY);
    for (int k = 0; k < poise_model_info(model).joints; ++k) {
        int first = poise_model_joint_info(model, k).q, count = poise_model_joint_info(model, k).nq, dofs;
        dofs = poise_model_joint_info(model, k).nv;
        int parent = poise_model_joint_info(model, k).parent;
        json_append(list,
                    json_make("{s:o, s:o, s:o, s:s, s:i, s:i, s:i, s:o, s:o}", "name",
                              json_from_text(poise_model_joint_info(model, k).name), "body",
                              json_from_text(poise_model_joint_info(model, k).body), "parent",
                              json_from_text(parent == POISE_WORLD ? NULL : poise_model_joint_info(model, parent).body),
                              "type", poise_joint_type_name(poise_model_joint_info(model, k).type), "first", first,
                              "coordinates", count, "dofs", dofs, "lower",
                              json_from_numbers(poise_model_info(model).lower + first, count), "upper",
                              json_from_numbers(poise_model_info(model).upper + first, count)));
    }
    return list;
}

static json_node *tools_as_json(const poise_model *model)
{
    json_node *list = json_new(JSON_ARRAY);
    for (int i = 0; i < poise_model_info(model).tools; ++i) {
        const char *body = poise_model_joint_info(model, poise_model_tool_info(model, i).body).body;
        json_append(list, json_make("{s:o, s:o}", "name", json_from_text(poise_model_tool_info(model, i).name), "body",
                                    json_from_text(body)));
    }
    return list;
}

static json_node *warnings_as_json(const poise_file *file)
{
    json_node *list = json_new(JSON_ARRAY);
    for (int i = 0; i < file->warning_count; ++i) {
        const poise_warning *w = &file->warnings[i];
        json_append(list, json_make("{s:o, s:o}", "line", w->line > 0 ? json_from_integer(w->line) : json_new(JSON_NULL),
                                    "text", json_from_text(w->text)));
    }
    return list;
}

static json_node *subjects_as_json(const poise_markers *m)
{
    enum { MOST = 32 };
    poise_subject s[MOST];
    json_node *list = json_new(JSON_ARRAY);
    int count = poise_markers_subjects(m, s, MOST);
    for (int i = 0; i < count && i < MOST; ++i) {
        json_append(list, json_make("{s:o, s:i, s:b}", "name", json_from_text(s[i].name), "markers", s[i].markers, "whole",
                                    s[i].is_whole ? 1 : 0));
    }
    return list;
}

static json_node *carried_as_json(const poise_carried *carried, double frame_time)
{
    json_node *channels = json_new(JSON_ARRAY), *events = json_new(JSON_ARRAY);
    for (int i = 0; i < carried->channel_count; ++i) {
        json_append(channels, json_make("{s:o, s:o}", "label", json_from_text(carried->channel[i].label), "unit",
                                        json_from_text(carried->channel[i].unit)));
    }
    for (int i = 0; i < carried->event_count; ++i) {
        const poise_event *e = &carried->event[i];
        json_append(events, json_make("{s:o, s:o, s:o}", "label", json_from_text(e->label), "context",
                                      json_from_text(e->context), "time", json_from_number(e->time)));
    }
    return json_make("{s:o, s:o, s:o, s:i, s:i, s:i, s:i, s:o}", "channels", channels, "channel_rate",
                     json_from_number(carried->channel_count > 0 ? carried->samples / frame_time : NAN), "events", events,
                     "force_plates", carried->force_plates, "segment_poses", carried->rotations, "meshes", carried->meshes,
                     "animations", carried->animations, "animation_names",
                     json_from_names(carried, animation_at, carried->animations));
}

static app_exit print_machine(const contents *c)
{
    const poise_file *file = c->file;
    const poise_markers *m = file->markers;
    int frames = file->clip ? file->clip->frames : m ? m->frames : 0;
    double frame_time = file->clip ? file->clip->frame_time : m ? 1 / m->rate : NAN;
    double metres = m ? m->scale.metres : file->scale.metres; // 0: unknown
    json_node *o = json_make(
        "{s:o, s:s, s:s, s:o, s:i, s:i, s:i, s:i, s:o, s:i}", "file", json_from_text(c->name), "format", format_name(c),
        "kind", kind(file), "title", json_from_text(file->title), "joints", c->model ? poise_model_info(c->model).joints : 0,
        "dofs", c->model ? poise_model_info(c->model).nv : 0, "coordinates", c->model ? poise_model_info(c->model).nq : 0,
        "frames", frames, "frame_time", json_from_number(frame_time), "markers", m ? m->count : 0);
    json_set(o, "metres_per_unit", json_from_number(metres > 0 ? metres : NAN));
    json_set(o, "up", json_from_text(up_name(m ? m->scale.up : file->scale.up)));
    if (m) {
        json_set(o, "subjects", subjects_as_json(m));
        json_set(o, "not_seen", json_from_number(share_missing(m)));
        json_set(o, "marker_names", json_from_names(m, marker_at, m->count));
    }
    if (file->carried) {
        json_set(o, "carried", carried_as_json(file->carried, frame_time));
    }
    if (c->model) {
        json_set(o, "joint_list", joints_as_json(c->model));
        json_set(o, "tools", tools_as_json(c->model));
    }
    json_set(o, "postures", json_from_names(file, posture_at, file->posture_count));
    json_set(o, "warnings", warnings_as_json(file));
    json_set(o, "warnings_dropped", json_from_integer(file->warnings_dropped));
    return json_print(o) ? APP_DONE : APP_BAD;
}

// ---- The command ---------------------------------------------------------------------------------------------------------

// The motions of a scene, as names for JSON.
static json_node *motions_of(const char *scene)
{
    json_node *list = json_new(JSON_ARRAY);
    for (int i = 0; scene_has_motions(scene) && i < scene_motion_count(); ++i) {
        json_append(list, json_from_text(scene_motion_name(i)));
    }
    return list;
}

// One name a line, as a command takes it: skeletons, their motions, the markers of these.
static void print_scene_names(void)
{
    for (int i = 0; i < scene_count(); ++i) {
        printf("scene:%s\n", scene_name(i));
        for (int m = 0; scene_has_motions(scene_name(i)) && m < scene_motion_count(); ++m) {
            printf("scene:%s/%s\nscene:%s/%s/noisy\n", scene_name(i), scene_motion_name(m), scene_name(i),
                   scene_motion_name(m));
        }
    }
}

static app_exit list_scenes(bool json)
{
    json_node *list = json ? json_new(JSON_ARRAY) : NULL;
    table *t = json ? NULL : table_create("scene\twhat it is");
    for (int i = 0; i < scene_count(); ++i) {
        if (json) {
            json_append(list, json_make("{s:s, s:s, s:o}", "name", scene_name(i), "what", scene_description(i), "motions",
                                        motions_of(scene_name(i))));
        } else {
            table_row(t, "scene:%s\t%s", scene_name(i), scene_description(i));
        }
    }
    if (json) {
        return json_print(json_make("{s:o}", "scenes", list)) ? APP_DONE : APP_BAD;
    }
    table_end(t, stdout);
    memory_stream text;
    need(system_memory_open(&text));
    fputs("\nThe humanoids have motions:", text.stream);
    for (int m = 0; m < scene_motion_count(); ++m) {
        fprintf(text.stream, " scene:humanoid/%s%s", scene_motion_name(m), m + 1 < scene_motion_count() ? "," : ".");
    }
    fputs(" With \"/noisy\" behind it, the markers of a motion have noise, gaps and swapped labels.\n", text.stream);
    need(system_memory_close(&text));
    print_wrapped(stdout, text.text, 0, 80);
    free(text.text);
    return APP_DONE;
}

// Columns of the names: as many as the longest has, or as let a row fit a terminal of 80.
static size_t marker_names_width(void)
{
    return is_terminal(stdout) ? 30 : 38;
}

// A row of the table with its part and numbers below those of the others; what is none as it is.
static void print_marker_row(const char *text, size_t length)
{
    enum { TAIL = 7 }; // words behind the names
    const size_t width_of_names = marker_names_width();
    size_t at[TAIL], names = length;
    bool is_row = length > 0 && *text != '#' && strncmp(text, "set ", 4) != 0 && strncmp(text, "stiff ", 6) != 0;
    for (int i = TAIL - 1; is_row && i >= 0; --i) {
        while (names > 0 && text[names - 1] != ' ') {
            --names;
        }
        at[i] = names;
        names -= names > 0;
    }
    if (!is_row || at[0] == 0) {
        print_line(stdout, 4, "%.*s", (int)length, text);
        return;
    }
    static const int width[TAIL] = {9, 6, 4, 5, 6, 4, 0};
    while (is_terminal(stdout) && names > width_of_names) { // as many as fit; the last of them stand beside the numbers
        size_t fit = width_of_names;
        while (fit > 0 && text[fit] != ' ') {
            --fit;
        }
        if (fit == 0) {
            break;
        }
        printf("%.*s\n", (int)fit, text);
        text += fit + 1;
        length -= fit + 1;
        names -= fit + 1;
        for (int i = 0; i < TAIL; ++i) {
            at[i] -= fit + 1;
        }
    }
    printf("%-*.*s ", (int)width_of_names, (int)names, text);
    for (int i = 0; i < TAIL; ++i) {
        size_t end = i + 1 < TAIL ? at[i + 1] - 1 : length;
        printf("%-*.*s%s", width[i], (int)(end - at[i]), text + at[i], i + 1 < TAIL ? " " : "\n");
    }
}

// One name a line: for shells and programs.
static void print_bare_names(const contents *c, const char *kind)
{
    bool joints = strcmp(kind, "joints") == 0, tools = strcmp(kind, "tools") == 0, bodies = strcmp(kind, "bodies") == 0;
    for (int i = 0; c->model && (joints || bodies) && i < poise_model_info(c->model).joints; ++i) {
        poise_joint_info info = poise_model_joint_info(c->model, i);
        puts(joints ? info.name : info.body);
    }
    for (int i = 0; c->model && tools && i < poise_model_info(c->model).tools; ++i) {
        puts(poise_model_tool_info(c->model, i).name);
    }
    for (int i = 0; strcmp(kind, "postures") == 0 && i < c->file->posture_count; ++i) {
        puts(c->file->postures[i].name);
    }
    for (int i = 0; strcmp(kind, "markers") == 0 && c->file->markers && i < c->file->markers->count; ++i) {
        puts(c->file->markers->label[i]);
    }
}

// The built-in table of marker places.
static app_exit print_marker_sets(bool json)
{
    json_node *list = json ? json_new(JSON_ARRAY) : NULL;
    const char *text;
    if (!json) {
        printf("%-*s part      from   along fwd  outw   deviations\n\n", (int)marker_names_width(), "# names");
    }
    for (int i = 0; (text = poise_marker_sets(i)) != NULL; ++i) {
        if (json) {
            json_append(list, json_from_text(text));
            continue;
        }
        for (size_t length; *text; text += length + (text[length] == '\n')) {
            length = strcspn(text, "\n");
            print_marker_row(text, length);
        }
    }
    return !json || json_print(json_make("{s:o}", "marker_sets", list)) ? APP_DONE : APP_BAD;
}

static app_exit run(const arguments *args)
{
    contents c = {.name = arguments_at(args, 0)};
    if (strcmp(c.name, SCENE_PREFIX) == 0) {
        if (option_given(args, "names")) {
            print_scene_names();
            return APP_DONE;
        }
        return list_scenes(arguments_json(args));
    }
    if (strcmp(c.name, "markers:") == 0) {
        return print_marker_sets(arguments_json(args));
    }
    c.reads_meshes = !option_given(args, "brief") && !option_given(args, "names");
    load_options options = {.floating = option_given(args, "floating"),
                            .ignore_follower_limits = option_given(args, "ignore-follower-limits"),
                            .meshes = c.reads_meshes,
                            .quiet = true};
    if (!load_any(c.name, option_text(args, "source-model", NULL), &options, &c.file, &c.skeleton)) {
        return APP_BAD;
    }
    if (!load_subject(c.name, option_text(args, "subject", NULL), c.file)) {
        poise_file_destroy(c.file);
        poise_file_destroy(c.skeleton);
        return APP_BAD;
    }
    c.model = c.file->model ? c.file->model : c.skeleton ? c.skeleton->model : NULL;
    app_exit status = APP_DONE;
    if (arguments_json(args)) {
        status = print_machine(&c);
    } else if (option_given(args, "names")) {
        print_bare_names(&c, option_text(args, "names", ""));
    } else {
        print_people(&c, option_given(args, "brief"));
    }
    poise_file_destroy(c.file);
    poise_file_destroy(c.skeleton);
    return status;
}

static const app_option options[] = {
    {"source-model", 'm', OPTION_FILE, "FILE", .alias = "model", .help = "skeleton of an AMC, MOT or SRDF file"},
    {"floating", .help = "URDF, MJCF: leave the root free instead of fixing it to the world"},
    {"ignore-follower-limits",
     .help = "URDF, MJCF: limits of a joint that follows another do not narrow those of the other"},
    {"subject", 0, OPTION_TEXT, "NAME", .help = "use only this person of several in the recording"},
    {"names", 0, OPTION_CHOICE, "KIND", .choices = "bodies joints tools postures markers scenes",
     .help = "print nothing but names, one a line, for programs; scenes are those of \"scene:\""},
    {"brief", .help = "leave out the tables of joints and markers, and do not read collision meshes"},
    {0},
};

static const app_example examples[] = {
    {"A built-in robot arm", "poise info scene:arm7"},
    {"A motion, in a few lines", "poise info scene:humanoid/walk --brief"},
    {"All scenes", "poise info scene:"},
    {"Where markers of common sets sit", "poise info markers:"},
    {0},
};

const app_command cmd_info = {
    .name = "info",
    .synopsis = "FILE",
    .least = 1,
    .most = 1,
    .summary = "show what a file holds: joints, limits, frames, markers",
    .description =
        "Reads a file of any format and prints what it holds: joints with their types and limits, the number of frames "
        "and markers, and anything unusual, with line numbers.\n\n"
        "The skeleton of an AMC file is looked for beside it: walk_01.asf or walk.asf for walk_01.amc.",
    .options = options,
    .examples = examples,
    .run = run,
};
