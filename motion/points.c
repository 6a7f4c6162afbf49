// Points of a moving skeleton as markers: their paths in a clip, and those that a second skeleton has as well, which then
// follows them.
#include <poise/track.h>

#include "base/arena.h"
#include "base/error.h"
#include "motion/anatomy.h"
#include "motion/plain_name.h"
#include "num/vector.h"

#define NAMED 0.8 // of the source's bodies that are called like joints of the target

// ---- Paths of points -----------------------------------------------------------------------------------------------------

// A set of gaps with the points' labels.
static poise_status gaps_with_labels(const poise_clip *clip, const poise_placement *points, int count,
                                     const poise_allocator *allocator, poise_markers **markers, poise_error *error)
{
    const char **labels = pz_allocate(allocator, ((size_t)count + 1) * sizeof *labels);
    if (!labels) {
        return pz_error_set(error, POISE_ERROR_MEMORY, "out of memory");
    }
    for (int i = 0; i < count; ++i) {
        labels[i] = points[i].label ? points[i].label : "";
    }
    poise_status status =
        poise_markers_create(clip->frames, count, 1.0 / clip->frame_time, labels, allocator, markers, error);
    pz_release(allocator, labels);
    return status;
}

poise_status poise_markers_from_clip(const poise_model *model, const poise_clip *clip, poise_scale scale,
                                     const poise_placement *points, int count, const poise_allocator *allocator,
                                     poise_markers **markers, poise_error *error)
{
    if (!model || !clip || clip->nq != poise_model_info(model).nq || count < 0 || (count > 0 && !points) || !markers) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT,
                            "model, clip, points and markers must not be NULL, and the clip must be of this model");
    }
    for (int i = 0; i < count; ++i) {
        if (points[i].body < 0 || points[i].body >= poise_model_info(model).joints) {
            return pz_error_set(error, POISE_ERROR_ARGUMENT, "points[%d]: body %d does not exist: the model has %d bodies",
                                i, points[i].body, poise_model_info(model).joints);
        }
    }
    poise_kinematics *kin;
    poise_markers *made = NULL;
    poise_status status = poise_kinematics_create(model, allocator, &kin, error);
    if (status != POISE_OK) {
        return status;
    }
    status = gaps_with_labels(clip, points, count, allocator, &made, error);
    for (int f = 0; f < clip->frames && status == POISE_OK; ++f) {
        status = poise_kinematics_update(kin, clip->q + (size_t)f * (size_t)clip->nq, error);
        for (int i = 0; i < count && status == POISE_OK; ++i) {
            made->position[(size_t)f * (size_t)count + (size_t)i] =
                poise_kinematics_point(kin, points[i].body, points[i].local);
        }
    }
    poise_kinematics_destroy(kin);
    if (status != POISE_OK) {
        poise_markers_destroy(made);
        return status;
    }
    made->scale = scale;
    *markers = made;
    return POISE_OK;
}

// ---- Points that both have -----------------------------------------------------------------------------------------------

// A point of the source and where it is on the other skeleton.
typedef struct pair {
    poise_placement from, to;
} pair;

typedef struct pairs {
    pair *list;
    int count;
    int *partner;        // by body of the source; POISE_NONE: none
    pz_anatomy from, to; // parts of both; those of a skeleton that is not human say nothing
} pairs;

static bool same_name(const char *a, const char *b)
{
    pz_plain_name x = pz_plain_name_of(a), y = pz_plain_name_of(b);
    return x.length > 0 && x.length == y.length && memcmp(x.text, y.text, x.length) == 0;
}

// The target of the pair that names a source `name`; NULL: none does.
static const char *named_partner(const poise_retarget_problem *problem, const char *name)
{
    size_t length = strlen(name);
    for (int i = 0; i < problem->pair_count; ++i) {
        const char *text = problem->pairs[i];
        if (strncmp(text, name, length) == 0 && text[length] == '=') {
            return text + length + 1;
        }
    }
    return NULL;
}

// The body that is called `name`, exactly or nearly; with `joints` the one whose joint is (BVH and ASF know one name for
// both). -1: none.
static int namesake(const poise_model *model, const char *name, bool joints)
{
    int body = joints ? poise_model_find_joint(model, name) : poise_model_find_body(model, name);
    for (int k = 0; body < 0 && k < poise_model_info(model).joints; ++k) {
        poise_joint_info info = poise_model_joint_info(model, k);
        body = same_name(joints ? info.name : info.body, name) ? k : body;
    }
    return body;
}

// The same part of the other body: LeftUpLeg and left_thigh, whatever they are called.
static int same_part(const pairs *p, int k)
{
    for (int part = 0; part < PZ_PART_COUNT && p->from.stature > 0 && p->to.stature > 0; ++part) {
        for (int side = PZ_MIDDLE; side <= PZ_RIGHT; ++side) {
            if (p->from.part[part][side].body == k) {
                return p->to.part[part][side].body;
            }
        }
    }
    return POISE_NONE;
}

// Four ways in which a body has a partner.
enum { AS_SAID, BY_NAME, BY_PART, BY_JOINT, WAYS };

// Does the source call its bodies what the target calls its joints, as a BVH file that was made of it does? Then exact names
// are surer than parts of the body: "left_forearm" may be the joint below what anatomy calls a forearm.
static bool is_named_by_joints(const poise_retarget_problem *problem)
{
    int joints = poise_model_info(problem->from).joints, named = 0;
    for (int k = 0; k < joints; ++k) {
        named += poise_model_find_joint(problem->to, poise_model_joint_info(problem->from, k).body) >= 0;
    }
    return named >= NAMED * joints;
}

static int partner(const poise_retarget_problem *problem, const pairs *p, int k, int way)
{
    const char *body = poise_model_joint_info(problem->from, k).body, *joint = poise_model_joint_info(problem->from, k).name;
    const char *named = named_partner(problem, body);
    named = named ? named : named_partner(problem, joint);
    if (named || way == AS_SAID) {
        return named && way == AS_SAID ? poise_model_find_part(problem->to, named, NULL, NULL) : POISE_NONE;
    }
    if (way == BY_PART) {
        return same_part(p, k);
    }
    int found = namesake(problem->to, body, way == BY_JOINT);
    return found >= 0 ? found : namesake(problem->to, joint, way == BY_JOINT);
}

static int tool_partner(const poise_model *model, const char *name)
{
    int tool = poise_model_find_tool(model, name);
    for (int k = 0; tool < 0 && k < poise_model_info(model).tools; ++k) {
        tool = same_name(poise_model_tool_info(model, k).name, name) ? k : tool;
    }
    return tool;
}

static poise_placement place_of_tool(const poise_model *model, int tool, const char *label)
{
    return (poise_placement){label, poise_model_tool_info(model, tool).body,
                             poise_model_tool_info(model, tool).pose.position, 1.0};
}

// Partners of all bodies, no two the same.
static void find_partners(const poise_retarget_problem *problem, pairs *p)
{
    for (int k = 0; k < poise_model_info(problem->from).joints; ++k) {
        p->partner[k] = POISE_NONE;
    }
    static const int usual[WAYS] = {AS_SAID, BY_NAME, BY_PART, BY_JOINT},
                     by_joints[WAYS] = {AS_SAID, BY_JOINT, BY_NAME, BY_PART};
    const int *ways = is_named_by_joints(problem) ? by_joints : usual; // the surest first
    for (int i = 0; i < WAYS; ++i) {
        int way = ways[i];
        for (int k = 0; k < poise_model_info(problem->from).joints; ++k) {
            int body = p->partner[k] < 0 ? partner(problem, p, k, way) : POISE_NONE;
            bool is_free = body >= 0;
            for (int other = 0; other < poise_model_info(problem->from).joints && is_free; ++other) {
                is_free = p->partner[other] != body || way == AS_SAID;
            }
            p->partner[k] = is_free ? body : p->partner[k];
        }
    }
}

// The origins of bodies that both have, and the tools that are not called like a body.
static void find_pairs(const poise_retarget_problem *problem, pairs *p)
{
    const poise_model *from = problem->from, *to = problem->to;
    find_partners(problem, p);
    for (int k = 0; k < poise_model_info(from).joints; ++k) {
        const char *name = poise_model_joint_info(from, k).body;
        if (p->partner[k] >= 0) {
            p->list[p->count++] = (pair){{.label = name, .body = k, .weight = 1.0}, {.body = p->partner[k], .weight = 1.0}};
        }
    }
    for (int k = 0; k < poise_model_info(from).tools; ++k) {
        const char *name = poise_model_tool_info(from, k).name;
        int tool = tool_partner(to, name);
        if (tool >= 0 && poise_model_find_body(from, name) < 0) {
            p->list[p->count++] = (pair){place_of_tool(from, k, name), place_of_tool(to, tool, NULL)};
        }
    }
}

// Do the pairs that were given name bodies that there are?
static poise_status check_pairs(const poise_retarget_problem *problem, poise_error *error)
{
    for (int i = 0; i < problem->pair_count; ++i) {
        const char *text = problem->pairs[i], *equals = strchr(text, '=');
        char source[256];
        poise_error why;
        if (!equals || (size_t)(equals - text) >= sizeof source) {
            return pz_error_set(error, POISE_ERROR_ARGUMENT, "pair \"%s\" is not SOURCE=TARGET", text);
        }
        memcpy(source, text, (size_t)(equals - text));
        source[equals - text] = '\0';
        if (poise_model_find_part(problem->from, source, NULL, &why) < 0 ||
            poise_model_find_part(problem->to, equals + 1, NULL, &why) < 0) {
            return pz_error_set(error, POISE_ERROR_ARGUMENT, "pair \"%s\": %s", text, why.text);
        }
    }
    return POISE_OK;
}

// ---- Size ----------------------------------------------------------------------------------------------------------------

// Length of the bones from a body up to `ancestor`; 0 when that is no ancestor.
static double path_length(const poise_model *model, int ancestor, int body)
{
    double length = 0.0;
    for (; body >= 0 && body != ancestor; body = poise_model_joint_info(model, body).parent) {
        length += v3_norm(poise_model_joint_info(model, body).given->offset.position);
    }
    return body == ancestor ? length : 0.0;
}

// The nearest body above `body` that is in a pair; -1: there is none.
static int pair_above(const pairs *p, const poise_model *from, int body)
{
    for (int above = poise_model_joint_info(from, body).parent; above >= 0;
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
    double ours = 0.0, theirs = 0.0;
    for (int i = 0; i < p->count; ++i) {
        int above = pair_above(p, from, p->list[i].from.body);
        if (above >= 0) {
            double a = path_length(from, p->list[above].from.body, p->list[i].from.body);
            double b = path_length(to, p->list[above].to.body, p->list[i].to.body);
            theirs += b > 0 ? a : 0.0;
            ours += a > 0 ? b : 0.0;
        }
    }
    return theirs > 0 ? ours / theirs : 0.0;
}

// Units, axes and size of the points become those of the skeleton.
static void match_size(const poise_retarget_problem *problem, const pairs *p, poise_markers *markers,
                       poise_retarget_report *report)
{
    poise_scale from = problem->from_scale, to = problem->to_scale;
    double units = from.metres > 0 && to.metres > 0 ? from.metres / to.metres : 1.0;
    double ratio = problem->keep_size ? units : size_ratio(p, problem->from, problem->to);
    ratio = ratio > 0 ? ratio : units;
    poise_up up = to.up != POISE_UP_UNKNOWN ? to.up : from.up, was = from.up != POISE_UP_UNKNOWN ? from.up : up;
    bool is_scaled = fabs(ratio - 1.0) > 1e-9;
    *report = (poise_retarget_report){
        .points = p->count, .factor = is_scaled ? ratio : 1.0, .is_turned = was != up, .scale = {to.metres, up}};
    if (is_scaled || report->is_turned) {
        bool unknown = up == POISE_UP_UNKNOWN;
        markers->scale = (poise_scale){report->factor, unknown ? POISE_UP_Y : was};
        poise_markers_rescale(markers, (poise_scale){1.0, unknown ? POISE_UP_Y : up}, NULL);
    }
    markers->scale = report->scale;
}

// ---- All together --------------------------------------------------------------------------------------------------------

static poise_status make_markers(const poise_retarget_problem *problem, const poise_allocator *allocator, const pairs *p,
                                 poise_placement *placements, poise_markers **markers, poise_error *error)
{
    for (int i = 0; i < p->count; ++i) { // the caller's room serves first for the points of the source
        placements[i] = p->list[i].from;
    }
    poise_status status = poise_markers_from_clip(problem->from, problem->clip, problem->from_scale, placements, p->count,
                                                  allocator, markers, error);
    for (int i = 0; i < p->count && status == POISE_OK; ++i) {
        placements[i] = p->list[i].to;
        placements[i].label = (*markers)->label[i];
    }
    return status;
}

poise_status poise_retarget_points(const poise_retarget_problem *problem, const poise_allocator *allocator,
                                   poise_markers **markers, poise_placement *placements, poise_retarget_report *report,
                                   poise_error *error)
{
    enum { LEAST = 3 };
    if (!problem || !problem->from || !problem->clip || !problem->to || !markers || !placements || problem->pair_count < 0 ||
        (problem->pair_count > 0 && !problem->pairs)) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "models, clip, markers and placements must not be NULL");
    }
    poise_status status = check_pairs(problem, error);
    if (status != POISE_OK) {
        return status;
    }
    int bodies = poise_model_info(problem->from).joints;
    pairs p = {.list =
                   pz_allocate(allocator, (size_t)(bodies + poise_model_info(problem->from).tools + 1) * sizeof *p.list)};
    p.partner = pz_allocate(allocator, (size_t)(bodies + 1) * sizeof *p.partner);
    if (!p.list || !p.partner || pz_anatomy_of(problem->from, allocator, &p.from) != POISE_OK ||
        pz_anatomy_of(problem->to, allocator, &p.to) != POISE_OK) {
        pz_release(allocator, p.partner);
        pz_release(allocator, p.list);
        return pz_error_set(error, POISE_ERROR_MEMORY, "out of memory");
    }
    find_pairs(problem, &p);
    poise_retarget_report done = {.points = 0};
    poise_markers *made;
    if (p.count < LEAST) {
        status = pz_error_set(error, POISE_ERROR_NOT_FOUND,
                              "only %d of its %d bodies match bodies of the skeleton by name, but %d are needed; give pairs "
                              "SOURCE=TARGET (--pair)",
                              p.count, bodies, LEAST);
    } else if ((status = make_markers(problem, allocator, &p, placements, &made, error)) == POISE_OK) {
        match_size(problem, &p, made, &done);
        *markers = made;
    }
    if (status == POISE_OK && report) {
        *report = done;
    }
    pz_release(allocator, p.partner);
    pz_release(allocator, p.list);
    return status;
}
