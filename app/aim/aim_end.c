// What faces something: which part of a skeleton, and the posture that it is to hold.
//
// Which end, where none is named: the tool, where there is one. Else the candidates are tools, bodies with the name of a
// tool, hand or head, and, in a skeleton without tools, bodies that end a branch. Names decide: tools and end effectors come
// before hands, grippers and heads, those before others, fingers, feet and what sits in a face last. Of one kind, the one
// that most joints move is taken, then the one with the most bodies above it, then the first.
#include "aim_target.h"

#include "cli/load.h"
#include "cli/terminal.h"
#include "cli/words.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

static double length(poise_vec3 v)
{
    return sqrt(v.x * v.x + v.y * v.y + v.z * v.z);
}

static poise_vec3 unit(poise_vec3 v)
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
    return length(way) > 0 ? unit(way) : poise_quat_rotate(tip.rotation, poise_vec3_make(0, 1, 0));
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
    end->axis = unit(end->axis);
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
