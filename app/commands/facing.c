// What the commands aim, warp and stream share: which end of a skeleton faces something, the posture that it is to hold,
// what it faces, and the settings of the methods, in words.
//
// Which end, where none is named: the tool, where there is one. Else the candidates are tools, bodies with the name of a
// tool, hand or head, and, in a skeleton without tools, bodies that end a branch. Names decide: tools and end effectors come
// before hands, grippers and heads, those before others, fingers, feet and what sits in a face last. Of one kind, the one
// that most joints move is taken, then the one with the most bodies above it, then the first.
#include "commands/facing.h"

#include "cli/command.h"
#include "cli/files.h"
#include "cli/json.h"
#include "cli/latency.h"
#include "cli/load.h"
#include "cli/terminal.h"
#include "cli/words.h"

#include <ctype.h>
#include <math.h>
#include <scenes/drawing.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static double length(poise_vec3 v)
{
    return sqrt(v.x * v.x + v.y * v.y + v.z * v.z);
}

static poise_vec3 unit_of(poise_vec3 v)
{
    double l = length(v);
    return poise_vec3_make(v.x / l, v.y / l, v.z / l);
}

// From the joint to the tip, in the frame of the body; where they are in one place the segment before, carried on at rest;
// in a skeleton that is a point, y of the tip.
static poise_vec3 last_segment(const poise_model *model, int body, poise_pose tip)
{
    poise_quat turn = poise_pose_identity().rotation;
    poise_vec3 way = tip.position;
    for (int k = body; k != POISE_WORLD && length(way) == 0; k = poise_model_joint_info(model, k).parent) {
        poise_pose offset = poise_model_joint_info(model, k).given->offset;
        turn = poise_quat_multiply(offset.rotation, turn); // from the end's body to the frame that the offset is given in
        way = poise_quat_rotate(poise_quat_conjugate(turn), offset.position);
    }
    return length(way) > 0 ? unit_of(way) : poise_quat_rotate(tip.rotation, poise_vec3_make(0, 1, 0));
}

// ---- The end -------------------------------------------------------------------------------------------------------------

// Kinds of ends, better ones first.
typedef enum end_kind { END_TOOL, END_HAND, END_OTHER, END_SMALL, END_NONE } end_kind;

// Does a word of a name (letters between others, or from a capital on) end in `ending`, or, with `whole`, equal it?
static bool has_word(const char *name, const char *ending, bool whole)
{
    size_t size = strlen(ending);
    for (const char *c = name; *c;) {
        size_t n = 0;
        while (isalpha((unsigned char)c[n]) &&
               (n == 0 || !isupper((unsigned char)c[n]) || isupper((unsigned char)c[n - 1]))) {
            n += 1;
        }
        if (whole ? n == size : n >= size) {
            bool is_same = true;
            for (size_t i = 0; i < size; ++i) {
                is_same = is_same && tolower((unsigned char)c[n - size + i]) == ending[i];
            }
            if (is_same) {
                return true;
            }
        }
        c += n > 0 ? n : 1;
    }
    return false;
}

static end_kind kind_by_name(const char *name)
{
    static const struct {
        end_kind kind;
        bool whole;
        const char *word;
    } words[] = {
        {END_SMALL, false, "finger"}, {END_SMALL, false, "fingers"}, {END_SMALL, false, "thumb"},
        {END_SMALL, true, "index"},   {END_SMALL, true, "middle"},   {END_SMALL, true, "ring"},
        {END_SMALL, true, "pinky"},   {END_SMALL, true, "little"},   {END_SMALL, false, "toe"},
        {END_SMALL, false, "toes"},   {END_SMALL, false, "tongue"},  {END_SMALL, false, "jaw"},
        {END_SMALL, false, "eye"},    {END_SMALL, false, "hair"},    {END_SMALL, false, "knuckle"},
        {END_SMALL, false, "foot"},   {END_SMALL, false, "sole"},    {END_SMALL, false, "ankle"},
        {END_SMALL, false, "wheel"},  {END_TOOL, true, "tool"},      {END_TOOL, true, "tcp"},
        {END_TOOL, true, "ee"},       {END_TOOL, false, "effector"}, {END_HAND, false, "hand"},
        {END_HAND, false, "gripper"}, {END_HAND, false, "head"},
    };
    for (size_t i = 0; i < sizeof words / sizeof words[0]; ++i) {
        if (has_word(name, words[i].word, words[i].whole)) {
            return words[i].kind;
        }
    }
    return strcmp(name, "tip") == 0 ? END_TOOL : END_OTHER;
}

// What may be chosen: tools, then bodies.
static int choice_count(const poise_model *model)
{
    return poise_model_info(model).tools + poise_model_info(model).joints;
}

static aim_end choice(const poise_model *model, int i)
{
    int tools = poise_model_info(model).tools;
    if (i < tools) {
        poise_tool_info tool = poise_model_tool_info(model, i);
        return (aim_end){.name = tool.name, .body = tool.body, .tip = tool.pose};
    }
    return (aim_end){.name = poise_model_joint_info(model, i - tools).body, .body = i - tools, .tip = poise_pose_identity()};
}

// Joints that move a body, and bodies from the root to it.
typedef struct way {
    int moving, bodies;
} way;

static way way_to(const poise_model *model, int body)
{
    way w = {0, 0};
    for (int k = body; k != POISE_WORLD; k = poise_model_joint_info(model, k).parent) {
        w.moving += poise_model_joint_info(model, k).nv > 0;
        w.bodies += 1;
    }
    return w;
}

// Has the body a tool other than this end?
static bool has_tool(const poise_model *model, const aim_end *end)
{
    for (int i = 0; i < poise_model_info(model).tools; ++i) {
        poise_tool_info tool = poise_model_tool_info(model, i);
        if (tool.body == end->body && tool.name != end->name) {
            return true;
        }
    }
    return false;
}

static bool is_tool(const poise_model *model, const aim_end *end)
{
    return poise_model_find_tool(model, end->name) != POISE_NONE;
}

// An end is what a joint moves: a tool; a body with the name of one, or of a hand or head; or, in a skeleton without tools,
// the last body of a branch.
static end_kind kind_of(const poise_model *model, const aim_end *end)
{
    end_kind kind = kind_by_name(end->name);
    bool is_last = poise_model_info(model).tools == 0 && poise_model_joint_info(model, end->body).subtree == 1;
    bool is_end = is_tool(model, end) || ((kind < END_OTHER || is_last) && !has_tool(model, end));
    return is_end && way_to(model, end->body).moving > 0 ? kind : END_NONE;
}

static bool is_better(const poise_model *model, const aim_end *a, const aim_end *b)
{
    end_kind kind[2] = {kind_of(model, a), kind_of(model, b)};
    way to[2] = {way_to(model, a->body), way_to(model, b->body)};
    return kind[0] != kind[1]             ? kind[0] < kind[1]
           : to[0].moving != to[1].moving ? to[0].moving > to[1].moving
                                          : to[0].bodies > to[1].bodies;
}

// Does `end` carry the frame `tip` without a joint between them that moves, as a hand carries the fixed frame of its tool?
// Then they are one end.
static bool carries(const poise_model *model, const aim_end *end, const aim_end *tip)
{
    for (int k = tip->body; k != POISE_WORLD; k = poise_model_joint_info(model, k).parent) {
        if (k == end->body) {
            return true;
        }
        if (poise_model_joint_info(model, k).nv > 0) {
            return false;
        }
    }
    return false;
}

// Ends but for the one that is chosen (NULL: none), better kinds first, as many as fit, then "...". How many there are.
static int list_ends(const poise_model *model, const aim_end *chosen, char *text, size_t size)
{
    int count = 0;
    bool is_full = false;
    text[0] = '\0';
    for (int kind = 0; kind < END_NONE; ++kind) {
        for (int i = 0; i < choice_count(model); ++i) {
            aim_end end = choice(model, i);
            size_t used = strlen(text);
            bool is_chosen = chosen && (end.name == chosen->name || (!is_tool(model, &end) && carries(model, &end, chosen)));
            if (is_chosen || (int)kind_of(model, &end) != kind) {
                continue;
            }
            count += 1;
            if (!is_full && used + strlen(end.name) + sizeof ", , ..." <= size) {
                snprintf(text + used, size - used, "%s%s", used > 0 ? ", " : "", end.name);
            } else if (!is_full) {
                snprintf(text + used, size - used, "%s...", used > 0 ? ", " : "");
                is_full = true;
            }
        }
    }
    return count;
}

// The best end. Where there are others, they are named, since the choice is a guess.
static aim_end guess_end(const poise_model *model)
{
    char others[120];
    aim_end best = choice(model, 0); // the tool, if there is one
    if (poise_model_info(model).tools == 1) {
        return best;
    }
    for (int i = 1; i < choice_count(model); ++i) {
        aim_end end = choice(model, i);
        best = is_better(model, &end, &best) ? end : best;
    }
    int count = list_ends(model, &best, others, sizeof others);
    if (count > 0) {
        warn("%s is aimed; it is one of %d ends, and -b chooses another: %s", best.name, count + 1, others);
    }
    return best;
}

// Nothing can be aimed that no joint moves.
static bool check_moves(const poise_model *model, const aim_end *end)
{
    char ends[120];
    if (way_to(model, end->body).moving > 0) {
        return true;
    }
    list_ends(model, NULL, ends, sizeof ends);
    complain("%s: no joint moves it, so it cannot be aimed%s%s", end->name, ends[0] ? "; -b takes " : "", ends);
    return false;
}

bool aim_find_end(const poise_model *model, const char *name, const char *axis, aim_end *end)
{
    *end = name ? (aim_end){.name = name, .tip = poise_pose_identity()} : guess_end(model);
    if (name) {
        end->body = find_body(model, name, &end->tip);
    }
    if (end->body == POISE_NONE || !check_moves(model, end)) {
        return false;
    }
    double a[3];
    if (!axis) {
        end->axis = last_segment(model, end->body, end->tip);
        return true;
    }
    end->axis = poise_vec3_make(0, 0, 0);
    if (parse_numbers(axis, a, 3) == 3) {
        end->axis = poise_vec3_make(a[0], a[1], a[2]);
    }
    if (!(length(end->axis) > 0 && isfinite(length(end->axis)))) {
        complain("--axis \"%s\" is not a direction: give three numbers, not all 0", axis);
        return false;
    }
    end->axis = unit_of(end->axis);
    return true;
}

// ---- The posture ---------------------------------------------------------------------------------------------------------

static bool posture_from_points(const poise_file *file, const aim_end *end, const char *text, double *q)
{
    enum { MOST = 3 * 256 };
    const double fair = 6, poor = 45; // degrees that the chain's segments are off
    double numbers[MOST], misfit = 0;
    poise_vec3 points[MOST / 3];
    poise_error error = {0};
    poise_erik_options options = poise_erik_options_default();
    poise_erik *erik = NULL;
    options.body = end->body;
    options.tip = end->tip;
    int count = parse_numbers(text, numbers, MOST);
    for (int i = 0; i < count / 3 && i < MOST / 3; ++i) {
        points[i] = poise_vec3_make(numbers[3 * i], numbers[3 * i + 1], numbers[3 * i + 2]);
    }
    poise_model_neutral(file->model, q);
    bool works = poise_erik_create(file->model, &options, NULL, &erik, &error) == POISE_OK;
    int wanted = works ? 3 * (poise_erik_joints(erik).count + 1) : 0;
    if (works && count != wanted) {
        char found[48] = "it contains something that is not a number";
        if (count >= 0) {
            snprintf(found, sizeof found, "%d numbers", count);
        }
        snprintf(error.text, sizeof error.text, "%s, but %d joints and the tip need %d", found, wanted / 3 - 1, wanted);
        works = false;
    }
    works = works && poise_erik_posture_from_positions(erik, points, count / 3, q, &misfit, &error) == POISE_OK;
    poise_erik_destroy(erik);
    misfit *= DEGREES_PER_RADIAN;
    if (works && misfit > poor) {
        snprintf(error.text, sizeof error.text, "the chain cannot take these directions: its segments stay %.0f degrees off",
                 misfit);
        works = false;
    }
    if (!works) {
        complain("posture \"points:\": %s", error.text);
    } else if (misfit > fair) {
        warn("posture \"points:\": the chain can take these directions only to within %.0f degrees", misfit);
    }
    return works;
}

// Numbers beyond the limits are none that an answer can have.
static void warn_of_limits(const poise_model *model, const char *name, const double *q)
{
    const double slack = 1e-9, *lower = poise_model_info(model).lower, *upper = poise_model_info(model).upper;
    int count = 0, first = 0;
    for (int i = poise_model_info(model).nq - 1; i >= 0; --i) {
        bool is_beyond = q[i] < lower[i] - slack || q[i] > upper[i] + slack;
        first = is_beyond ? i : first;
        count += is_beyond;
    }
    if (count > 0) {
        char label[96];
        coordinate_label(model, first, label, sizeof label);
        warn("posture %.40s%s exceeds the limits in %d number%s: %s is %.4g, allowed is %.4g to %.4g", name,
             strlen(name) > 40 ? "..." : "", count, count == 1 ? "" : "s", label, q[first], lower[first], upper[first]);
    }
}

bool aim_load_posture(const poise_file *file, const aim_end *end, const char *name, double *q)
{
    static const char prefix[] = "points:";
    bool is_drawn = strncmp(name, prefix, strlen(prefix)) == 0;
    bool works = is_drawn ? posture_from_points(file, end, name + strlen(prefix), q) : load_posture(file, name, q);
    if (works) {
        warn_of_limits(file->model, name, q);
    }
    return works;
}

// ---- What it faces -------------------------------------------------------------------------------------------------------

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

const char *aim_make_target(poise_aim_kind kind, const double *numbers, int count, poise_aim_target *target)
{
    double largest = 0;
    for (int i = 0; i < count && i < 4; ++i) {
        largest = fmax(largest, fabs(numbers[i]));
    }
    *target = (poise_aim_target){.kind = kind, .rotation = poise_pose_identity().rotation};
    if (kind == POISE_AIM_ORIENTATION) {
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
        return kind == POISE_AIM_POINT ? "a point is three numbers x y z" : "a direction is three numbers x y z";
    }
    target->vector = poise_vec3_make(numbers[0], numbers[1], numbers[2]);
    if (kind == POISE_AIM_DIRECTION) {
        if (!(largest > 0)) {
            return "0 0 0 is not a direction";
        }
        target->vector = unit(poise_vec3_make(numbers[0] / largest, numbers[1] / largest, numbers[2] / largest));
    }
    return NULL;
}

// The same from text; false after one line on standard error that begins with `where`.
static bool parse_target(const char *where, poise_aim_kind kind, const char *text, poise_aim_target *target)
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

bool aim_kind_by_name(const char *word, size_t size, poise_aim_kind *kind)
{
    static const struct {
        const char *word;
        poise_aim_kind kind;
    } words[] = {{"orientation", POISE_AIM_ORIENTATION},
                 {"direction", POISE_AIM_DIRECTION},
                 {"at", POISE_AIM_POINT},
                 {"aim", POISE_AIM_POINT},
                 {"point", POISE_AIM_POINT}};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; ++i) {
        if (strlen(words[i].word) == size && memcmp(words[i].word, word, size) == 0) {
            *kind = words[i].kind;
            return true;
        }
    }
    return false;
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
        if (holds->count == POISE_AIM_MOST_HELD) {
            complain("--keep %s: no more than %d bodies can be held", name, POISE_AIM_MOST_HELD);
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

static void add_target(aim_path *path, int *room, const poise_aim_target *target)
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
        poise_aim_target target;
        aim_make_target(POISE_AIM_DIRECTION, d, 3, &target);
        add_target(path, &room, &target);
    }
    return true;
}

// "[word] numbers". A word holds for the lines after it, too; without one, four numbers are an orientation, three a
// direction.
static const char *read_line(char *line, int *kind_so_far, poise_aim_target *target, bool *is_target)
{
    char *c = line + strspn(line, " \t\r,");
    size_t word = strcspn(c, " \t\r,");
    poise_aim_kind kind;
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
    kind = *kind_so_far >= 0 ? (poise_aim_kind)*kind_so_far : count == 4 ? POISE_AIM_ORIENTATION : POISE_AIM_DIRECTION;
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
        poise_aim_target target;
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
static const char *read_item(const json_node *item, poise_aim_target *target)
{
    poise_aim_kind kind = json_count(item) == 4 ? POISE_AIM_ORIENTATION : POISE_AIM_DIRECTION;
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
        poise_aim_target target;
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
poise_aim_target aim_path_at(const aim_path *path, double share)
{
    double place = share * (path->count - 1);
    int i = place < 0 ? 0 : place >= path->count - 1 ? path->count - 1 : (int)place;
    poise_aim_target a = path->targets[i];
    if (i + 1 >= path->count || path->targets[i + 1].kind != a.kind) {
        return a;
    }
    poise_aim_target b = path->targets[i + 1], between;
    double t = place - i, s = 1 - t;
    double v[3] = {s * a.vector.x + t * b.vector.x, s * a.vector.y + t * b.vector.y, s * a.vector.z + t * b.vector.z};
    poise_quat p = a.rotation, r = b.rotation;
    t = p.x * r.x + p.y * r.y + p.z * r.z + p.w * r.w < 0 ? -t : t; // the nearer of the two signs
    double q[4] = {s * p.x + t * r.x, s * p.y + t * r.y, s * p.z + t * r.z, s * p.w + t * r.w};
    bool turns = a.kind == POISE_AIM_ORIENTATION;
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
    poise_aim_target target = {0};
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

// ---- Settings ------------------------------------------------------------------------------------------------------------

aim_settings aim_settings_default(const aim_end *end, const aim_path *path)
{
    aim_settings s = {.aim = poise_aim_options_default(), .two_task = two_task_options_default()};
    s.aim.body = end->body;
    s.aim.tip = end->tip;
    s.aim.axis = end->axis;
    for (int i = 0; path && i < path->count; ++i) {
        s.aim.symmetric = s.aim.symmetric && path->targets[i].kind != POISE_AIM_ORIENTATION;
    }
    return s;
}

void aim_settings_hold(aim_settings *settings, const aim_holds *holds)
{
    settings->aim.held_count = holds->count;
    memcpy(settings->aim.held, holds->body, sizeof holds->body);
}

poise_goal aim_goal(const aim_end *end, const poise_aim_target *target)
{
    poise_aim_options options = {.body = end->body, .tip = end->tip, .axis = end->axis};
    return poise_aim_goal(&options, target);
}

typedef enum value_kind { VALUE_NUMBER, VALUE_COUNT, VALUE_FLAG } value_kind;

enum { FOR_EXPRESSIVE = 1 << AIM_EXPRESSIVE, FOR_ERIK = 1 << AIM_ERIK, FOR_TWO_TASK = 1 << AIM_TWO_TASK };

typedef struct setting {
    const char *name;
    int methods;
    value_kind kind;
    size_t place;
} setting;

#define IN_EXPRESSIVE(member) offsetof(aim_settings, aim.expressive.member)
#define IN_ERIK(member)       offsetof(aim_settings, aim.erik.member)
#define IN_TWO_TASK(member)   offsetof(aim_settings, two_task.member)

// One name may stand for several members: the errors of all methods are measured alike.
static const setting settings_table[] = {
    {"orientation_weight", ~0, VALUE_NUMBER, IN_ERIK(orientation_weight)},
    {"orientation_weight", ~0, VALUE_NUMBER, IN_EXPRESSIVE(goal_weight)},
    {"posture_weight", ~0, VALUE_NUMBER, IN_ERIK(posture_weight)},
    {"posture_weight", ~0, VALUE_NUMBER, IN_EXPRESSIVE(posture_weight)},
    {"threshold", ~0, VALUE_NUMBER, IN_ERIK(threshold)},
    {"threshold", ~0, VALUE_NUMBER, IN_EXPRESSIVE(threshold)},
    {"aggravation", ~0, VALUE_NUMBER, IN_ERIK(aggravation)},
    {"aggravation", ~0, VALUE_NUMBER, IN_EXPRESSIVE(aggravation)},
    {"symmetric_endpoint", ~0, VALUE_FLAG, offsetof(aim_settings, aim.symmetric)},
    {"max_iterations", FOR_ERIK, VALUE_COUNT, IN_ERIK(max_iterations)},
    {"max_sweeps", FOR_ERIK, VALUE_COUNT, IN_ERIK(max_sweeps)},
    {"precision", FOR_ERIK, VALUE_NUMBER, IN_ERIK(precision)},
    {"stall", FOR_ERIK, VALUE_NUMBER, IN_ERIK(stall)},
    {"disturbance", FOR_ERIK, VALUE_NUMBER, IN_ERIK(disturbance)},
    {"window", FOR_ERIK, VALUE_COUNT, IN_ERIK(window)},
    {"tolerance", FOR_ERIK, VALUE_NUMBER, IN_ERIK(tolerance)},
    {"avoid_edges", FOR_ERIK, VALUE_FLAG, IN_ERIK(avoid_edges)},
    {"offset_trick", FOR_ERIK, VALUE_FLAG, IN_ERIK(offset_trick)},
    {"ccd_trick", FOR_ERIK, VALUE_FLAG, IN_ERIK(ccd_trick)},
    {"warm", FOR_ERIK, VALUE_FLAG, IN_ERIK(warm)},
    {"gain", FOR_ERIK, VALUE_NUMBER, IN_ERIK(gain)},
    {"exact_orientation", FOR_ERIK, VALUE_FLAG, IN_ERIK(exact_orientation)},
    {"restarts", FOR_ERIK, VALUE_COUNT, IN_ERIK(restarts)},
    {"max_iterations", FOR_TWO_TASK, VALUE_COUNT, IN_TWO_TASK(max_iterations)},
    {"use_posture", FOR_TWO_TASK, VALUE_FLAG, IN_TWO_TASK(use_posture)},
    {"correct_flip", FOR_TWO_TASK, VALUE_FLAG, IN_TWO_TASK(correct_flip)},
    {"flip_as_printed", FOR_TWO_TASK, VALUE_FLAG, IN_TWO_TASK(flip_as_printed)},
    {"longest_step", FOR_TWO_TASK, VALUE_NUMBER, IN_TWO_TASK(longest_step)},
    {"error_clamp", FOR_TWO_TASK, VALUE_NUMBER, IN_TWO_TASK(error_clamp)},
    {"max_iterations", FOR_EXPRESSIVE, VALUE_COUNT, IN_EXPRESSIVE(max_iterations)},
    {"length_scale", FOR_EXPRESSIVE, VALUE_NUMBER, IN_EXPRESSIVE(length_scale)},
    {"exact", FOR_EXPRESSIVE, VALUE_FLAG, IN_EXPRESSIVE(exact)},
    {"gain", FOR_EXPRESSIVE, VALUE_NUMBER, IN_EXPRESSIVE(gain)},
    {"stride", FOR_EXPRESSIVE, VALUE_NUMBER, IN_EXPRESSIVE(stride)},
    {"inertia", FOR_EXPRESSIVE, VALUE_NUMBER, IN_EXPRESSIVE(inertia)},
    {"searches", FOR_EXPRESSIVE, VALUE_COUNT, IN_EXPRESSIVE(searches)},
    {"use_erik", FOR_EXPRESSIVE, VALUE_FLAG, IN_EXPRESSIVE(use_erik)},
};

enum { SETTINGS = sizeof settings_table / sizeof settings_table[0] };

static bool parse_flag(const char *text, bool *flag)
{
    static const char *const words[] = {"false", "true", "off", "on", "no", "yes", "0", "1"};
    for (int i = 0; i < 8; ++i) {
        if (strcmp(text, words[i]) == 0) {
            *flag = i % 2 == 1;
            return true;
        }
    }
    return false;
}

static const char *put_value(aim_settings *settings, const setting *s, const char *text)
{
    char *place = (char *)settings + s->place;
    if (s->kind == VALUE_FLAG) {
        bool flag;
        if (!parse_flag(text, &flag)) {
            return "on or off";
        }
        memcpy(place, &flag, sizeof flag);
        return NULL;
    }
    double number;
    if (!parse_number(text, &number)) {
        return "a number";
    }
    if (s->kind == VALUE_NUMBER) {
        memcpy(place, &number, sizeof number);
        return NULL;
    }
    int count = fabs(number) < 1e9 ? (int)number : -1;
    if (count != number) {
        return "a whole number";
    }
    memcpy(place, &count, sizeof count);
    return NULL;
}

// The names that a method has, separated by spaces.
static void list_settings(int method, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (int i = 0; i < SETTINGS && used < size; ++i) {
        const setting *s = &settings_table[i];
        bool again = i > 0 && strcmp(s->name, s[-1].name) == 0;
        if ((s->methods & method) && !again) {
            used += (size_t)snprintf(text + used, size - used, "%s%s", used > 0 ? " " : "", s->name);
        }
    }
}

bool aim_set(aim_settings *settings, const char *assignment)
{
    const char *equals = strchr(assignment, '=');
    size_t size = equals ? (size_t)(equals - assignment) : strlen(assignment);
    int method = 1 << settings->method;
    bool found = false;
    for (int i = 0; i < SETTINGS && equals; ++i) {
        const setting *s = &settings_table[i];
        if ((s->methods & method) && strlen(s->name) == size && memcmp(s->name, assignment, size) == 0) {
            found = true;
            const char *wanted = put_value(settings, s, equals + 1);
            if (wanted) {
                complain("--set %s: the value must be %s", assignment, wanted);
                return false;
            }
        }
    }
    if (!found) {
        char names[512];
        list_settings(method, names, sizeof names);
        char name[64], hint[96];
        snprintf(name, sizeof name, "%.*s", (int)size, assignment);
        complain("--set %s: %s; there are: %s%s", assignment, equals ? "the method has no such setting" : "has no value",
                 names, equals ? did_you_mean(names, name, hint, sizeof hint) : "");
    }
    return found;
}

// ---- Methods -------------------------------------------------------------------------------------------------------------

// ERIK's baseline searches in place of ERIK.
static poise_status search_two_tasks(void *user, poise_erik *erik, const double *posture, poise_quat target, double *q,
                                     poise_erik_report *report)
{
    return two_task_solve(erik, user, posture, target, q, report);
}

poise_aim *aim_create(const poise_model *model, const char *name, aim_settings *settings, char *reason)
{
    poise_aim *aim = NULL;
    poise_error error = {0};
    settings->aim.method = settings->method == AIM_EXPRESSIVE ? POISE_AIM_EXPRESSIVE : POISE_AIM_ERIK;
    settings->aim.chain = settings->method == AIM_TWO_TASK ? search_two_tasks : NULL;
    settings->aim.user = settings->method == AIM_TWO_TASK ? &settings->two_task : NULL;
    if (poise_aim_create(model, &settings->aim, NULL, &aim, &error) != POISE_OK) {
        const char *text = error.text[0] ? error.text : "no memory left";
        if (reason) {
            snprintf(reason, POISE_ERROR_TEXT_SIZE, "%s", text);
        } else {
            complain("%s: %s", name, text);
        }
    }
    return aim;
}

bool aim_solve(poise_aim *aim, const poise_aim_target *target, const double *posture, bool follows, double *q,
               aim_result *result)
{
    double begin = cpu_seconds_now();
    *result = (aim_result){.outcome = "failed"};
    if (poise_aim_solve(aim, target, posture, follows, q, &result->made, NULL) != POISE_OK) {
        return false;
    }
    result->seconds = cpu_seconds_now() - begin;
    result->outcome = poise_outcome_name(result->made.outcome);
    return true;
}

// ---- The motion filter, in words -----------------------------------------------------------------------------------------

struct smoother {
    const poise_model *model;
    poise_filter *filter; // NULL: off
};

static bool set_member(poise_filter_joint *joint, const char *name, double value)
{
    const struct {
        const char *name;
        double *place;
    } members[] = {{"velocity", &joint->velocity},     {"acceleration", &joint->acceleration},     {"jerk", &joint->jerk},
                   {"smoothness", &joint->smoothness}, {"responsiveness", &joint->responsiveness}, {"soft", &joint->soft}};
    for (size_t i = 0; i < sizeof members / sizeof members[0]; ++i) {
        if (strcmp(members[i].name, name) == 0) {
            *members[i].place = value;
            return true;
        }
    }
    return false;
}

// "nutty" or "optimal": the mode of all joints that are filtered. False when it is neither.
static bool set_mode(const poise_model *model, const char *word, poise_filter_joint *joints)
{
    bool is_nutty = strcmp(word, "nutty") == 0;
    if (!is_nutty && strcmp(word, "optimal") != 0) {
        return false;
    }
    for (int k = 0; k < poise_model_info(model).joints; ++k) {
        if (joints[k].mode != POISE_FILTER_OFF) {
            joints[k].mode = is_nutty ? POISE_FILTER_NUTTY : POISE_FILTER_TIME_OPTIMAL;
        }
    }
    return true;
}

// One word "velocity=2" or "elbow.velocity=2"; a root that moves freely is filtered once it is named so.
static bool read_word(const poise_model *model, char *word, poise_filter_joint *joints)
{
    if (set_mode(model, word, joints)) {
        return true;
    }
    char *equals = strchr(word, '='), *name = word;
    double value;
    if (!equals || !parse_number(equals + 1, &value)) {
        complain("--filter: \"%s\" is neither of the form name=number nor one of: nutty optimal", word);
        return false;
    }
    *equals = '\0';
    char *dot = strrchr(word, '.');
    int joint = POISE_NONE;
    if (dot) {
        *dot = '\0';
        name = dot + 1;
        joint = poise_model_find_joint(model, word);
        if (joint == POISE_NONE) {
            complain("--filter: no joint is called \"%s\"; \"poise info\" lists them", word);
            return false;
        }
    }
    poise_filter_joint trial = poise_filter_joint_default();
    if (!set_member(&trial, name, value)) {
        complain("--filter: there is no \"%s\"; there are velocity, acceleration, jerk, smoothness, responsiveness, soft",
                 name);
        return false;
    }
    poise_filter *made = NULL;
    poise_error error;
    if (poise_filter_create(NULL, &trial, 1, NULL, &made, &error) != POISE_OK) {
        const char *rule = strchr(error.text, ':'); // after the joint, which is none of the model's
        complain("--filter %s=%s%s", name, equals + 1, rule ? rule : "");
        return false;
    }
    poise_filter_destroy(made);
    for (int k = 0; k < poise_model_info(model).joints; ++k) {
        if (!dot || k == joint) {
            set_member(&joints[k], name, value);
            joints[k].mode = dot && joints[k].mode == POISE_FILTER_OFF ? POISE_FILTER_TIME_OPTIMAL : joints[k].mode;
        }
    }
    return true;
}

static bool read_text(const poise_model *model, const char *text, poise_filter_joint *joints)
{
    while (text && *(text += strspn(text, " ,\t\n"))) {
        char word[256];
        size_t size = strcspn(text, " ,\t\n");
        snprintf(word, sizeof word, "%.*s", (int)(size < sizeof word ? size : sizeof word - 1), text);
        if (!read_word(model, word, joints)) {
            return false;
        }
        text += size;
    }
    return true;
}

// ---- Filtering -----------------------------------------------------------------------------------------------------------

static bool make_filter(smoother *s, double metres, const char *text)
{
    int count = poise_model_info(s->model).joints;
    poise_filter_joint *joints = calloc((size_t)count, sizeof *joints);
    poise_error error = {.text = "no memory left"};
    if (joints) {
        poise_filter_joints(s->model, metres, joints);
    }
    bool works = joints && read_text(s->model, text, joints);
    if (works && poise_filter_create(s->model, joints, count, NULL, &s->filter, &error) != POISE_OK) {
        complain("--filter \"%s\": %s", text ? text : "", error.text);
        works = false;
    }
    free(joints);
    return works;
}

smoother *smoother_create(const poise_model *model, double metres, const char *text)
{
    smoother *s = calloc(1, sizeof *s);
    if (!s) {
        complain("no memory left");
        return NULL;
    }
    s->model = model;
    if ((!text || strcmp(text, "off") != 0) && !make_filter(s, metres, text)) {
        smoother_destroy(s);
        return NULL;
    }
    return s;
}

void smoother_destroy(smoother *s)
{
    if (s) {
        poise_filter_destroy(s->filter);
        free(s);
    }
}

void smoother_limits(const smoother *s, double *velocity, double *acceleration)
{
    for (int i = 0; i < poise_model_info(s->model).nv; ++i) {
        velocity[i] = acceleration[i] = INFINITY;
    }
    poise_filter_limits(s->filter, velocity, acceleration);
}

void smoother_reset(smoother *s, const double *q)
{
    if (s->filter) {
        poise_filter_reset(s->filter, q, NULL);
    }
}

void smoother_step(smoother *s, const double *setpoint, double dt, double *q)
{
    if (!s->filter) {
        memcpy(q, setpoint, (size_t)poise_model_info(s->model).nq * sizeof *q);
    } else {
        poise_filter_step(s->filter, setpoint, dt, q, NULL);
    }
}

bool smoother_rests(const smoother *s)
{
    return poise_filter_rests(s->filter);
}
