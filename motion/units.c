// A recording in the units and axes of a skeleton.
#include <poise/track.h>

#include "base/error.h"
#include "kin/kin.h"
#include "motion/anatomy.h"

#define PAIRS 3 // distances of named markers that tell a size

// ---- Names ---------------------------------------------------------------------------------------------------------------

const char *poise_unit_name(double metres)
{
    static const struct {
        double metres;
        const char *name;
    } units[] = {{1, "metres"},          {0.1, "decimetres"}, {0.01, "centimetres"},
                 {0.001, "millimetres"}, {0.0254, "inches"},  {0.3048, "feet"}};
    for (size_t i = 0; i < sizeof units / sizeof units[0]; ++i) {
        if (units[i].metres == metres) {
            return units[i].name;
        }
    }
    return NULL;
}

// ---- Sizes ---------------------------------------------------------------------------------------------------------------

typedef struct box {
    vec3 low, high;
} box;

static const box empty_box = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};

static void box_add(box *b, vec3 p)
{
    b->low = v3(min2(b->low.x, p.x), min2(b->low.y, p.y), min2(b->low.z, p.z));
    b->high = v3(max2(b->high.x, p.x), max2(b->high.y, p.y), max2(b->high.z, p.z));
}

// From corner to corner; 0 for an empty box.
static double box_size(const box *b)
{
    return b->high.x >= b->low.x ? v3_norm(v3_sub(b->high, b->low)) : 0.0;
}

// The box around bodies and tools in the neutral pose.
static double skeleton_size(poise_kinematics *kin, double *q)
{
    const poise_model *model = kin->model;
    box b = empty_box;
    poise_model_neutral(model, q);
    poise_kinematics_update(kin, q, NULL);
    for (int k = 0; k < model->joint_count; ++k) {
        box_add(&b, poise_kinematics_body_pose(kin, k).position);
    }
    for (int k = 0; k < poise_model_info(model).tools; ++k) {
        box_add(&b, poise_kinematics_tool_pose(kin, k).position);
    }
    return box_size(&b);
}

// The largest box around the markers of a frame, of some frames.
static double markers_size(const poise_markers *m)
{
    enum { LOOKS = 50 };
    int looks = m->frames < LOOKS ? m->frames : LOOKS;
    double most = 0.0;
    for (int i = 0; i < looks; ++i) {
        box b = empty_box;
        int frame = (int)((int64_t)i * m->frames / looks);
        for (int k = 0; k < m->count; ++k) {
            if (poise_markers_seen(m, frame, k)) {
                box_add(&b, m->position[(size_t)frame * (size_t)m->count + (size_t)k]);
            }
        }
        most = max2(most, box_size(&b));
    }
    return most;
}

// ---- Units ---------------------------------------------------------------------------------------------------------------

// The unit, in metres, that makes something of this size, in units, as large as `metres`; 0 when none comes within a factor
// of 2.5.
static double guess_unit(double size, double metres)
{
    static const double units[] = {1, 0.1, 0.01, 0.001, 0.0254, 0.3048, PZ_ACCLAIM_INCH};
    double best = 0.0, least = 2.5;
    for (size_t i = 0; i < sizeof units / sizeof units[0]; ++i) {
        double ratio = size * units[i] / metres, off = max2(ratio, 1.0 / ratio);
        if (off < least) {
            least = off;
            best = units[i];
        }
    }
    return best;
}

// Where the unit of the model or of the markers is not known, the one it must have for both to have one size.
static void complete_units(double mark_size, double bone_size, poise_scale *marks, poise_scale *bones,
                           poise_scale_match *match)
{
    bool sized = mark_size > 0 && bone_size > 0;
    double known = max2(bones->metres, marks->metres); // of the two at most one is
    double guess = !sized              ? 0.0
                   : bones->metres > 0 ? guess_unit(mark_size, bone_size * known)
                   : marks->metres > 0 ? guess_unit(bone_size, mark_size * known)
                                       : guess_unit(mark_size, bone_size);
    match->by_size = guess > 0 && (known > 0 || guess != 1.0);
    if (known > 0) {
        *(bones->metres > 0 ? &marks->metres : &bones->metres) = guess > 0 ? guess : known;
    } else if (match->by_size) { // both unknown: only the ratio counts
        marks->metres = guess;
        bones->metres = 1.0;
    }
}

static poise_status find_units(const poise_markers *markers, const poise_model *model, const poise_places_report *names,
                               poise_scale *marks, poise_scale *bones, poise_scale_match *match)
{
    match->markers_unknown = !(marks->metres > 0);
    match->model_unknown = !(bones->metres > 0);
    if (!match->markers_unknown && !match->model_unknown) {
        return POISE_OK;
    }
    if (names->pairs >= PAIRS) {
        complete_units(names->size, 1.0, marks, bones, match);
        return POISE_OK;
    }
    poise_figure person;
    if (match->model_unknown && poise_model_figure(model, &person, NULL) == POISE_OK && person.metres > 0) {
        bones->metres = person.metres; // few markers may be any part of a person; a skeleton is a whole one
        match->by_size = true;
        if (!match->markers_unknown) {
            return POISE_OK;
        }
    }
    const poise_allocator *allocator = markers->has_allocator ? &markers->allocator : NULL;
    poise_kinematics *kin;
    double *q = pz_allocate(allocator, ((size_t)model->nq + 1) * sizeof *q);
    poise_status status = q ? poise_kinematics_create(model, allocator, &kin, NULL) : POISE_ERROR_MEMORY;
    if (status == POISE_OK) {
        complete_units(markers_size(markers), skeleton_size(kin, q), marks, bones, match);
        poise_kinematics_destroy(kin);
    }
    if (q) {
        pz_release(allocator, q);
    }
    return status;
}

// An upward axis that is not known, by the figure.
static void take_up(const poise_places_report *names, poise_up *up, poise_up by_figure, poise_scale_match *match)
{
    if (*up == POISE_UP_UNKNOWN && names->placed > 0 && by_figure != POISE_UP_UNKNOWN) {
        *up = by_figure;
        match->up_by_figure = true;
    }
}

static bool makes_sense(poise_scale scale)
{
    return is_finite(scale.metres) && (unsigned)scale.up <= POISE_UP_Z;
}

// Half a turn about a horizontal axis, the one after `up`.
static void turn_over(poise_markers *markers, poise_up up)
{
    size_t points = (size_t)markers->frames * (size_t)markers->count;
    for (size_t i = 0; i < points; ++i) {
        poise_vec3 *p = &markers->position[i];
        *p = up == POISE_UP_X   ? (poise_vec3){-p->x, p->y, -p->z}
             : up == POISE_UP_Y ? (poise_vec3){-p->x, -p->y, p->z}
                                : (poise_vec3){p->x, -p->y, -p->z};
    }
}

// A person who stands on their head along the axis that is said, or found, to point up.
static poise_status find_feet(poise_markers *markers, poise_up *up, poise_scale_match *match)
{
    poise_figure figure;
    poise_status status = poise_markers_figure(markers, &figure, NULL);
    bool is_told = status == POISE_OK && figure.is_named && figure.up != POISE_UP_UNKNOWN;
    if (is_told && *up == POISE_UP_UNKNOWN) {
        *up = figure.up;
        match->up_by_figure = true;
    }
    if (is_told && figure.is_upside_down && *up == figure.up) {
        turn_over(markers, *up);
        match->turned_over = true;
    }
    return status;
}

// With a metre and y for what is not known.
static poise_scale completed(poise_scale scale)
{
    return (poise_scale){scale.metres > 0 ? scale.metres : 1.0, scale.up != POISE_UP_UNKNOWN ? scale.up : POISE_UP_Y};
}

poise_status poise_markers_match(poise_markers *markers, const poise_model *model, poise_scale *scale,
                                 poise_scale_match *match, poise_error *error)
{
    if (!markers || !model || !scale) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "markers, model and scale must not be NULL");
    }
    if (!makes_sense(*scale) || !makes_sense(markers->scale)) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "the unit of a scale is not finite, or its upward axis is invalid");
    }
    poise_scale_match found = {.by_size = false};
    poise_scale from = markers->scale, to = *scale;
    poise_places_report names = {.pairs = 0};
    poise_status status = POISE_OK;
    if (!(from.metres > 0) || !(to.metres > 0) || from.up == POISE_UP_UNKNOWN || to.up == POISE_UP_UNKNOWN) {
        status = poise_places_by_name(model, markers, NULL, NULL, NULL, 0, &names, NULL);
    }
    status = status == POISE_OK ? find_units(markers, model, &names, &from, &to, &found) : status;
    status = status == POISE_OK ? find_feet(markers, &from.up, &found) : status;
    if (status != POISE_OK) {
        return pz_error_set(error, status, "out of memory");
    }
    take_up(&names, &to.up, names.model_up, &found);
    from.up = from.up != POISE_UP_UNKNOWN ? from.up : to.up;
    to.up = to.up != POISE_UP_UNKNOWN ? to.up : from.up;
    found.from = from;
    if (from.metres != to.metres || from.up != to.up) { // what neither knows is the same for both
        markers->scale = completed(from);
        poise_markers_rescale(markers, completed(to), NULL);
    }
    markers->scale = *scale = to;
    if (match) {
        *match = found;
    }
    return POISE_OK;
}

poise_status poise_markers_restore(poise_markers *markers, const poise_scale_match *match, poise_error *error)
{
    if (!markers || !match) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "markers and match must not be NULL");
    }
    poise_scale from = match->from, is = markers->scale;
    if (is.metres != from.metres || is.up != from.up) {
        markers->scale = completed(is);
        poise_markers_rescale(markers, completed(from), NULL);
    }
    markers->scale = from;
    if (match->turned_over) { // half a turn is its own inverse
        turn_over(markers, from.up);
    }
    return POISE_OK;
}
