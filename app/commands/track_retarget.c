// Following another skeleton's motion: points of its bodies as markers.
#include "track_parts.h"

#include "cli/terminal.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// A point of the source and where it is on the skeleton.
typedef struct pair {
    poise_placement from, to;
} pair;

typedef struct pairs {
    pair *list;
    int count;
} pairs;

// Letters and digits of a name in lower case, without the subject before a colon: "mixamorig:Left_Arm" is "leftarm".
static void plain_name(const char *name, char *plain, size_t size)
{
    const char *colon = strrchr(name, ':');
    size_t used = 0;
    for (const char *c = colon ? colon + 1 : name; *c && used + 1 < size; ++c) {
        if (isalnum((unsigned char)*c)) {
            plain[used++] = (char)tolower((unsigned char)*c);
        }
    }
    plain[used] = '\0';
}

static bool same_name(const char *a, const char *b)
{
    char x[64], y[64];
    plain_name(a, x, sizeof x);
    plain_name(b, y, sizeof y);
    return x[0] && strcmp(x, y) == 0;
}

// --pair: the target that the user names for a source called `name`; NULL: none.
static const char *named_partner(const track_wish *wish, const char *name)
{
    size_t length = strlen(name);
    for (int i = 0; wish->pairs && wish->pairs[i]; ++i) {
        if (strncmp(wish->pairs[i], name, length) == 0 && wish->pairs[i][length] == '=') {
            return wish->pairs[i] + length + 1;
        }
    }
    return NULL;
}

// The body that is called `name`, or whose joint is (BVH and ASF know one name for both), exactly or nearly.
static int namesake(const poise_model *model, const char *name)
{
    int body = poise_model_find_body(model, name);
    body = body != POISE_NONE ? body : poise_model_find_joint(model, name);
    for (int k = 0; body == POISE_NONE && k < poise_model_joint_count(model); ++k) {
        body = same_name(poise_model_joint_info(model, k).body, name) ? k : body;
    }
    for (int k = 0; body == POISE_NONE && k < poise_model_joint_count(model); ++k) {
        body = same_name(poise_model_joint_info(model, k).name, name) ? k : body;
    }
    return body;
}

// The body of `to` that belongs to the source's body k.
static int partner(const track_wish *wish, const poise_model *from, int k, const poise_model *to)
{
    const char *body = poise_model_joint_info(from, k).body, *joint = poise_model_joint_info(from, k).name;
    const char *named = named_partner(wish, body);
    named = named ? named : named_partner(wish, joint);
    if (named) {
        poise_pose local;
        return find_body(to, named, &local);
    }
    int found = namesake(to, body);
    return found != POISE_NONE ? found : namesake(to, joint);
}

static int tool_partner(const poise_model *model, const char *name)
{
    int tool = poise_model_find_tool(model, name);
    for (int k = 0; tool == POISE_NONE && k < poise_model_tool_count(model); ++k) {
        tool = same_name(poise_model_tool_info(model, k).name, name) ? k : tool;
    }
    return tool;
}

// The origins of bodies that both have, and the tools whose bodies are among those.
static void find_pairs(const track_wish *wish, const poise_model *from, const poise_model *to, pairs *p)
{
    int bodies = poise_model_joint_count(from);
    for (int k = 0; k < bodies; ++k) {
        const char *name = poise_model_joint_info(from, k).body;
        int body = partner(wish, from, k, to);
        if (body != POISE_NONE) {
            p->list[p->count++] =
                (pair){{.label = name, .body = k, .weight = 1}, {.label = name, .body = body, .weight = 1}};
        }
    }
    for (int k = 0; k < poise_model_tool_count(from); ++k) {
        const char *name = poise_model_tool_info(from, k).name;
        int tool = tool_partner(to, name);
        if (tool != POISE_NONE && poise_model_find_body(from, name) == POISE_NONE) {
            p->list[p->count++] = (pair){{.label = name,
                                          .body = poise_model_tool_info(from, k).body,
                                          .local = poise_model_tool_info(from, k).pose.position,
                                          .weight = 1},
                                         {.label = name,
                                          .body = poise_model_tool_info(to, tool).body,
                                          .local = poise_model_tool_info(to, tool).pose.position,
                                          .weight = 1}};
        }
    }
}

// ---- Size ----------------------------------------------------------------------------------------------------------------

static double offset_length(const poise_model *model, int body)
{
    poise_vec3 o = poise_model_joint(model, body).offset.position;
    return hypot(hypot(o.x, o.y), o.z);
}

// Length of the bones from a body up to `ancestor`; 0 when that is no ancestor.
static double path_length(const poise_model *model, int ancestor, int body)
{
    double length = 0;
    for (; body != POISE_WORLD && body != ancestor; body = poise_model_joint_info(model, body).parent) {
        length += offset_length(model, body);
    }
    return body == ancestor ? length : 0;
}

// The nearest body above `body` that is in a pair; -1: there is none.
static int pair_above(const pairs *p, const poise_model *from, int body)
{
    for (int above = poise_model_joint_info(from, body).parent; above != POISE_WORLD;
         above = poise_model_joint_info(from, above).parent) {
        for (int i = 0; i < p->count; ++i) {
            if (p->list[i].from.body == above) {
                return i;
            }
        }
    }
    return -1;
}

// How many times larger the skeleton is than the source's: sums of the bones between bodies that both have. 0: unknown.
static double size_ratio(const pairs *p, const poise_model *from, const poise_model *to)
{
    double ours = 0, theirs = 0;
    for (int i = 0; i < p->count; ++i) {
        int above = pair_above(p, from, p->list[i].from.body);
        if (above >= 0) {
            double a = path_length(from, p->list[above].from.body, p->list[i].from.body);
            double b = path_length(to, p->list[above].to.body, p->list[i].to.body);
            theirs += b > 0 ? a : 0;
            ours += a > 0 ? b : 0;
        }
    }
    return theirs > 0 ? ours / theirs : 0;
}

// Units, axes and size of the points become those of the skeleton.
static bool match_size(const track_wish *wish, track_result *r, const pairs *p, poise_scale scale, const poise_model *from)
{
    double units = scale.metres > 0 && r->scale.metres > 0 ? scale.metres / r->scale.metres : 1;
    double ratio = wish->keep_size ? units : size_ratio(p, from, r->model);
    ratio = ratio > 0 ? ratio : units;
    poise_scale *marks = &r->markers->scale;
    poise_up up = r->scale.up != POISE_UP_UNKNOWN ? r->scale.up : scale.up;
    r->scale.up = up;
    *marks = (poise_scale){.metres = ratio, .up = scale.up != POISE_UP_UNKNOWN ? scale.up : up};
    bool turned = marks->up != up, scaled = fabs(ratio - 1) > 1e-9;
    if (scaled) {
        track_note(r, "motion times %.6g, to the size of the skeleton%s", ratio,
                   wish->keep_size ? "'s units" : "; --keep-size leaves it");
    }
    if (turned) {
        track_note(r, "motion turned so that up is up");
    }
    poise_scale target = {.metres = scaled ? 1 : ratio, .up = up};
    bool unknown = marks->up == POISE_UP_UNKNOWN;
    if (unknown) {
        marks->up = target.up = POISE_UP_Y;
    }
    bool works = (!turned && !scaled) || poise_markers_rescale(r->markers, target, NULL) == POISE_OK;
    *marks = r->scale;
    return works;
}

// ---- All together --------------------------------------------------------------------------------------------------------

static bool keep_pairs(const track_wish *wish, track_result *r, const poise_file *source, const poise_model *from,
                       const pairs *p)
{
    size_t n = (size_t)p->count;
    poise_placement *points = calloc(n, sizeof *points);
    r->placements = calloc(n, sizeof *r->placements);
    r->label = calloc(n, sizeof *r->label);
    bool works = points && r->placements && r->label;
    for (int i = 0; works && i < p->count; ++i) {
        points[i] = p->list[i].from;
        size_t size = strlen(points[i].label) + 1;
        r->label[i] = malloc(size);
        works = r->label[i] != NULL;
        if (works) {
            memcpy(r->label[i], points[i].label, size);
            r->placements[i] = p->list[i].to;
            r->placements[i].label = r->label[i];
            r->placement_count = i + 1;
        }
    }
    works = works && poise_markers_from_clip(from, source->clip, source->scale, points, p->count, NULL, &r->markers, NULL) ==
                         POISE_OK;
    free(points);
    works = works && match_size(wish, r, p, source->scale, from);
    if (!works) {
        complain("no memory left");
    }
    return works;
}

// Do all --pair name bodies that there are?
static bool check_pairs(const track_wish *wish, const poise_model *from, const poise_model *to)
{
    for (int i = 0; wish->pairs && wish->pairs[i]; ++i) {
        char source[256];
        poise_pose local;
        size_t length = strcspn(wish->pairs[i], "=");
        if (wish->pairs[i][length] != '=' || length >= sizeof source) {
            complain("--pair \"%s\" is not SOURCE=TARGET", wish->pairs[i]);
            return false;
        }
        memcpy(source, wish->pairs[i], length);
        source[length] = '\0';
        if (find_body(from, source, &local) == POISE_NONE ||
            find_body(to, wish->pairs[i] + length + 1, &local) == POISE_NONE) {
            return false;
        }
    }
    return true;
}

bool track_take_motion(const track_wish *wish, track_result *r, const poise_file *source, const poise_model *model)
{
    enum { LEAST = 3 };
    size_t most = (size_t)poise_model_joint_count(model) + (size_t)poise_model_tool_count(model);
    if (!check_pairs(wish, model, r->model)) {
        return false;
    }
    pairs p = {.list = calloc(most + 1, sizeof *p.list)};
    if (!p.list) {
        complain("no memory left");
        return false;
    }
    find_pairs(wish, model, r->model, &p);
    bool works = p.count >= LEAST;
    if (!works) {
        complain("%s: only %d of its %d bodies have a namesake on %s; --pair SOURCE=TARGET names those that belong together",
                 r->source_name, p.count, poise_model_joint_count(model), r->model_name);
    } else {
        track_note(r, "%d points followed, by the names of bodies and tools", p.count);
        works = keep_pairs(wish, r, source, model, &p);
    }
    free(p.list);
    return works;
}
