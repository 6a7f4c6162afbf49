// What faces something, and what it faces.
#include "aim_target.h"

#include "cli/command.h"
#include "cli/files.h"
#include "cli/json.h"
#include "cli/load.h"
#include "cli/terminal.h"
#include "cli/words.h"

#include <scenes/drawing.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PI 3.14159265358979323846

static poise_vec3 unit(poise_vec3 v)
{
    double l = sqrt(v.x * v.x + v.y * v.y + v.z * v.z);
    return poise_vec3_make(v.x / l, v.y / l, v.z / l);
}

// ---- Targets -------------------------------------------------------------------------------------------------------------

static poise_quat quat_of(const double *n, int count)
{
    if (count == 3) {
        return poise_quat_from_roll_pitch_yaw(n[0] * PI / 180, n[1] * PI / 180, n[2] * PI / 180);
    }
    double scale = fmax(fmax(fabs(n[0]), fabs(n[1])), fmax(fabs(n[2]), fabs(n[3])));
    double x = n[0] / scale, y = n[1] / scale, z = n[2] / scale, w = n[3] / scale, l = sqrt(x * x + y * y + z * z + w * w);
    return (poise_quat){x / l, y / l, z / l, w / l};
}

const char *aim_make_target(aim_kind kind, const double *numbers, int count, aim_target *target)
{
    double largest = 0;
    for (int i = 0; i < count && i < 4; ++i) {
        largest = fmax(largest, fabs(numbers[i]));
    }
    *target = (aim_target){.kind = kind, .rotation = poise_pose_identity().rotation};
    if (kind == AIM_ORIENTATION) {
        if (count != 3 && count != 4) {
            return "an orientation is four numbers x y z w, or three degrees of roll, pitch and yaw";
        }
        if (count == 4 && !(largest > 0)) {
            return "the quaternion 0 0 0 0 is not an orientation";
        }
        target->rotation = quat_of(numbers, count);
        return NULL;
    }
    if (count != 3) {
        return kind == AIM_POINT ? "a point is three numbers x y z" : "a direction is three numbers x y z";
    }
    target->vector = poise_vec3_make(numbers[0], numbers[1], numbers[2]);
    if (kind == AIM_DIRECTION) {
        if (!(largest > 0)) {
            return "0 0 0 is not a direction";
        }
        target->vector = unit(poise_vec3_make(numbers[0] / largest, numbers[1] / largest, numbers[2] / largest));
    }
    return NULL;
}

// The same from text; false after one line on standard error that begins with `where`.
static bool parse_target(const char *where, aim_kind kind, const char *text, aim_target *target)
{
    double numbers[4];
    int count = parse_numbers(text, numbers, 4);
    const char *wrong =
        count < 0 ? "it contains something that is not a number" : aim_make_target(kind, numbers, count, target);
    if (wrong) {
        complain("%s \"%s\": %s", where, text, wrong);
    }
    return !wrong;
}

bool aim_kind_by_name(const char *word, size_t size, aim_kind *kind)
{
    static const struct {
        const char *word;
        aim_kind kind;
    } words[] = {{"orientation", AIM_ORIENTATION},
                 {"direction", AIM_DIRECTION},
                 {"at", AIM_POINT},
                 {"aim", AIM_POINT},
                 {"point", AIM_POINT}};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; ++i) {
        if (strlen(words[i].word) == size && memcmp(words[i].word, word, size) == 0) {
            *kind = words[i].kind;
            return true;
        }
    }
    return false;
}

poise_goal aim_goal(const aim_end *end, const aim_target *target)
{
    poise_goal goal;
    switch (target->kind) {
    case AIM_DIRECTION:
        return poise_goal_direction(end->body, end->axis, target->vector);
    case AIM_POINT:
        return poise_goal_aim(end->body, end->tip.position, end->axis, target->vector);
    default:
        goal = poise_goal_orientation(end->body, target->rotation);
        goal.local = end->tip;
        return goal;
    }
}

// ---- Holds ---------------------------------------------------------------------------------------------------------------

static bool is_free(poise_joint_type type)
{
    return type == POISE_JOINT_FREE || type == POISE_JOINT_FREE_EXPMAP || type == POISE_JOINT_FREE_EULER;
}

bool aim_read_holds(const arguments *args, const poise_model *model, aim_holds *holds)
{
    const char *name;
    *holds = (aim_holds){0};
    if (!option_given(args, "keep")) {
        holds->count = is_free(poise_model_joint_info(model, 0).type) ? 1 : 0;
        return true;
    }
    for (int i = 0; (name = option_text_at(args, "keep", i)); ++i) {
        poise_pose local;
        if (strcmp(name, "none") == 0) {
            continue;
        }
        if (holds->count == AIM_MOST_HOLDS) {
            complain("--keep %s: no more than %d bodies can be held", name, AIM_MOST_HOLDS);
            return false;
        }
        int body = find_body(model, name, &local);
        if (body == POISE_NONE) {
            return false;
        }
        holds->body[holds->count++] = body;
    }
    return true;
}

int aim_hold_goals(const aim_holds *holds, const poise_kinematics *kinematics, poise_goal *goals)
{
    for (int i = 0; i < holds->count; ++i) {
        poise_pose pose = poise_kinematics_body_pose(kinematics, holds->body[i]);
        goals[i] = poise_goal_pose(holds->body[i], poise_pose_identity(), pose);
    }
    return holds->count;
}

// ---- Paths ---------------------------------------------------------------------------------------------------------------

static void add_target(aim_path *path, int *room, const aim_target *target)
{
    if (path->count == *room) {
        *room = *room > 0 ? 2 * *room : 256;
        path->targets = needed(realloc(path->targets, (size_t)*room * sizeof *path->targets));
    }
    path->targets[path->count++] = *target;
}

// The axis that points upwards: as the file says, else as the skeleton looks.
static poise_vec3 upward(const poise_file *file)
{
    poise_up up = file->scale.up;
    return up == POISE_UP_UNKNOWN ? drawing_guess_up(file->model)
                                  : poise_vec3_make(up == POISE_UP_X, up == POISE_UP_Y, up == POISE_UP_Z);
}

// d(s) = cos(tilt) up + sin(tilt) (cos(s) a + sin(s) b), with a, b and up orthogonal.
static bool make_circle(const char *tilt_text, const poise_file *file, int steps, aim_path *path)
{
    double tilt = 60;
    if (*tilt_text && !(parse_number(tilt_text, &tilt) && tilt > 0 && tilt < 180)) {
        complain("--path circle:%s: the tilt is a number of degrees between 0 and 180", tilt_text);
        return false;
    }
    poise_vec3 up = upward(file), across = fabs(up.z) < 0.9 ? poise_vec3_make(0, 0, 1) : poise_vec3_make(1, 0, 0);
    double along = up.x * across.x + up.y * across.y + up.z * across.z, s, c;
    poise_vec3 a = unit(poise_vec3_make(across.x - along * up.x, across.y - along * up.y, across.z - along * up.z));
    poise_vec3 b = {up.y * a.z - up.z * a.y, up.z * a.x - up.x * a.z, up.x * a.y - up.y * a.x};
    poise_sincos(tilt * PI / 180, &s, &c);
    int room = 0;
    for (int i = 0; i <= steps; ++i) {
        double sine, cosine;
        poise_sincos(2 * PI * (i % steps) / steps, &sine, &cosine);
        double d[3] = {c * up.x + s * (cosine * a.x + sine * b.x), c * up.y + s * (cosine * a.y + sine * b.y),
                       c * up.z + s * (cosine * a.z + sine * b.z)};
        aim_target target;
        aim_make_target(AIM_DIRECTION, d, 3, &target);
        add_target(path, &room, &target);
    }
    return true;
}

// "[word] numbers". A word holds for the lines after it, too; without one, four numbers are an orientation, three a
// direction.
static const char *read_line(char *line, int *kind_so_far, aim_target *target, bool *is_target)
{
    char *c = line + strspn(line, " \t\r,");
    size_t word = strcspn(c, " \t\r,");
    aim_kind kind;
    *is_target = false;
    if (!*c || *c == '#') {
        return NULL;
    }
    if (((*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z'))) {
        if (!aim_kind_by_name(c, word, &kind)) {
            return "must begin with one of: orientation direction at";
        }
        *kind_so_far = (int)kind;
        c += word;
    }
    double numbers[4];
    int count = parse_numbers(c, numbers, 4);
    if (count == 0) {
        return NULL; // a word on a line of its own
    }
    if (count < 0) {
        return "it contains something that is not a number";
    }
    *is_target = true;
    kind = *kind_so_far >= 0 ? (aim_kind)*kind_so_far : count == 4 ? AIM_ORIENTATION : AIM_DIRECTION;
    return aim_make_target(kind, numbers, count, target);
}

static bool read_lines(const char *name, const file_bytes *file, aim_path *path)
{
    int room = 0, kind = -1, number = 0;
    const char *bytes = file->bytes, *end = bytes + file->size;
    while (bytes < end) {
        const char *stop = memchr(bytes, '\n', (size_t)(end - bytes));
        size_t size = (size_t)((stop ? stop : end) - bytes);
        char line[512];
        number += 1;
        aim_target target;
        bool is_target = false, fits = size < sizeof line;
        snprintf(line, sizeof line, "%.*s", (int)(fits ? size : 0), bytes);
        const char *wrong = fits ? read_line(line, &kind, &target, &is_target) : "is longer than 511 characters";
        if (wrong) {
            complain("%s:%d: %s", name, number, wrong);
            return false;
        }
        if (is_target) {
            add_target(path, &room, &target);
        }
        bytes += size + 1;
    }
    return true;
}

// An item of a JSON list: numbers, or an object with one member such as {"at": [1, 0, 0]}.
static const char *read_item(const json_node *item, aim_target *target)
{
    aim_kind kind = json_count(item) == 4 ? AIM_ORIENTATION : AIM_DIRECTION;
    if (json_is(item, JSON_OBJECT)) {
        const char *key = item->first ? item->first->key : "";
        if (item->count != 1 || !aim_kind_by_name(key, strlen(key), &kind)) {
            return "is an object with a member other than: orientation direction at";
        }
        item = item->first;
    }
    double numbers[4];
    int i = 0;
    for (const json_node *n = item->first; n && i < 4; n = n->next) {
        if (!json_is_number(n)) {
            return "it contains something that is not a number";
        }
        numbers[i++] = n->number;
    }
    return aim_make_target(kind, numbers, item->count, target);
}

static bool read_json(const char *name, const file_bytes *file, aim_path *path)
{
    poise_error error;
    size_t place;
    int room = 0, number = 0;
    json_node *root = json_read(file->bytes, file->size, &error, &place), *list = root;
    if (json_is(root, JSON_OBJECT)) {
        list = json_get(root, "path");
    }
    if (!root) {
        complain("%s:%d:%d: %s", name, error.line, error.column, error.text);
    } else if (!json_is(list, JSON_ARRAY)) {
        complain("%s: is neither a list of targets nor an object with a list called \"path\"", name);
    }
    bool works = root && json_is(list, JSON_ARRAY);
    for (const json_node *item = works ? list->first : NULL; works && item; item = item->next, ++number) {
        aim_target target;
        const char *wrong = read_item(item, &target);
        if (wrong) {
            complain("%s: target %d: %s", name, number, wrong);
            works = false;
        } else {
            add_target(path, &room, &target);
        }
    }
    json_release(root);
    return works;
}

// Straight lines between points; directions and quaternions the same, made unit, which is even enough for small steps.
aim_target aim_path_at(const aim_path *path, double share)
{
    double place = share * (path->count - 1);
    int i = place < 0 ? 0 : place >= path->count - 1 ? path->count - 1 : (int)place;
    aim_target a = path->targets[i];
    if (i + 1 >= path->count || path->targets[i + 1].kind != a.kind) {
        return a;
    }
    aim_target b = path->targets[i + 1], between;
    double t = place - i, s = 1 - t;
    double v[3] = {s * a.vector.x + t * b.vector.x, s * a.vector.y + t * b.vector.y, s * a.vector.z + t * b.vector.z};
    poise_quat p = a.rotation, r = b.rotation;
    t = p.x * r.x + p.y * r.y + p.z * r.z + p.w * r.w < 0 ? -t : t; // the nearer of the two signs
    double q[4] = {s * p.x + t * r.x, s * p.y + t * r.y, s * p.z + t * r.z, s * p.w + t * r.w};
    bool turns = a.kind == AIM_ORIENTATION;
    return aim_make_target(a.kind, turns ? q : v, turns ? 4 : 3, &between) ? a : between; // opposite: no way between
}

// From a file (see "poise help aim"), or "circle", "circle:TILT": a turn about the upward axis, TILT degrees off it (60), in
// `steps` steps, the last where the first is. False after one line on standard error.
static bool load_path(const char *name, const poise_file *model, int steps, aim_path *path)
{
    *path = (aim_path){0};
    bool works;
    if (strcmp(name, "circle") == 0 || strncmp(name, "circle:", 7) == 0) {
        works = make_circle(name[6] ? name + 7 : "", model, steps, path);
    } else {
        file_bytes file;
        char hint[96];
        if (system_path_kind(name, true) == PATH_MISSING && *did_you_mean("circle", name, hint, sizeof hint)) {
            complain("--path %s: there is no such file%s", name, hint);
            return false;
        }
        if (!file_read(name, &file)) {
            return false;
        }
        const char *bytes = file.bytes, *shown = strcmp(name, "-") == 0 ? "standard input" : name;
        size_t i = 0;
        while (i < file.size && strchr(" \t\r\n", bytes[i]) && bytes[i]) {
            ++i;
        }
        works = i < file.size && (bytes[i] == '[' || bytes[i] == '{') ? read_json(shown, &file, path)
                                                                      : read_lines(shown, &file, path);
        if (works && path->count == 0) {
            complain("%s: holds no targets; a line such as \"0 0 1\" is a direction", shown);
            works = false;
        }
        file_release(&file);
    }
    if (!works) {
        free(path->targets);
        *path = (aim_path){0};
    }
    return works;
}

bool aim_read_path(const arguments *args, const aim_option options[3], const poise_file *model, aim_path *path)
{
    int given = option_given(args, "path");
    aim_target target = {0};
    for (int i = 0; i < 3; ++i) {
        const char *text = option_text(args, options[i].name, NULL);
        char where[32];
        snprintf(where, sizeof where, "--%s", options[i].name);
        given += text != NULL;
        if (text && !parse_target(where, options[i].kind, text, &target)) {
            return false;
        }
    }
    if (given != 1) {
        complain("%s: say what to face with %s of --%s, --%s, --%s and --path", arguments_command(args)->name,
                 given > 1 ? "only one" : "one", options[0].name, options[1].name, options[2].name);
        return false;
    }
    if (option_given(args, "path")) {
        return load_path(option_text(args, "path", NULL), model, option_count(args, "steps", 120), path);
    }
    *path = (aim_path){.count = 1, .targets = needed(malloc(sizeof target))};
    path->targets[0] = target;
    return true;
}
