// The figure of a person, in a recording or a skeleton: how tall, which way up, and so in which unit.
#include "motion/upright.h"

#include <poise/track.h>

#include "base/arena.h"
#include "base/error.h"
#include "motion/marker_table.h"

#include <math.h>

#define LOOKS 50  // frames examined
#define CLEAR 1.5 // times as far along one axis as along others: that one is up

// What is as large as a person, in metres: from toes to the head or shoulders, to the hips, and markers without a name.
#define WHOLE 1.65
#define LOWER 1.0

// ---- Up ------------------------------------------------------------------------------------------------------------------

int pz_height_of(pz_part part)
{
    return part == PZ_HEAD || part == PZ_THORAX || part == PZ_CLAVICLE ? 2
           : part == PZ_PELVIS                                         ? 1
           : part == PZ_FOOT || part == PZ_SHANK                       ? 0
                                                                       : -1;
}

static int look(const poise_markers *markers, int i)
{
    int looks = markers->frames < LOOKS ? markers->frames : LOOKS;
    return i < looks ? (int)((int64_t)i * markers->frames / looks) : -1;
}

// In one frame; false when only one height is seen.
static bool upwards_in(const poise_markers *markers, const int *height, int frame, vec3 *difference)
{
    vec3 sum[3] = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
    int seen[3] = {0, 0, 0};
    const poise_vec3 *row = markers->position + (size_t)frame * (size_t)markers->count;
    for (int i = 0; i < markers->count; ++i) {
        if (height[i] >= 0 && poise_markers_seen(markers, frame, i)) {
            sum[height[i]] = v3_add(sum[height[i]], row[i]);
            seen[height[i]] += 1;
        }
    }
    int low = seen[0] > 0 ? 0 : 1, high = seen[2] > 0 ? 2 : 1;
    if (low == high || seen[low] == 0 || seen[high] == 0) {
        return false;
    }
    *difference = v3_sub(v3_scale(sum[high], 1.0 / seen[high]), v3_scale(sum[low], 1.0 / seen[low]));
    return true;
}

vec3 pz_upwards(const poise_markers *markers, const int *height)
{
    vec3 sum = v3(0, 0, 0), difference;
    for (int i = 0, frame; (frame = look(markers, i)) >= 0; ++i) {
        if (upwards_in(markers, height, frame, &difference)) {
            sum = v3_add(sum, difference);
        }
    }
    return sum;
}

poise_up pz_axis_of(vec3 u)
{
    double x = fabs(u.x), y = fabs(u.y), z = fabs(u.z);
    return u.x > CLEAR * max2(y, z)   ? POISE_UP_X
           : u.y > CLEAR * max2(x, z) ? POISE_UP_Y
           : u.z > CLEAR * max2(x, y) ? POISE_UP_Z
                                      : POISE_UP_UNKNOWN;
}

// ---- How large -----------------------------------------------------------------------------------------------------------

// The middle over some frames of how far the markers of these heights reach along each axis; `height` NULL: all of them.
static vec3 extent_of(const poise_markers *markers, const int *height)
{
    double reach[3][LOOKS], middle[3] = {0, 0, 0};
    int looks = 0;
    for (int i = 0, frame; (frame = look(markers, i)) >= 0; ++i) {
        vec3 low = v3(INFINITY, INFINITY, INFINITY), high = v3(-INFINITY, -INFINITY, -INFINITY);
        for (int k = 0; k < markers->count; ++k) {
            if ((!height || height[k] >= 0) && poise_markers_seen(markers, frame, k)) {
                vec3 p = markers->position[(size_t)frame * (size_t)markers->count + (size_t)k];
                low = v3(min2(low.x, p.x), min2(low.y, p.y), min2(low.z, p.z));
                high = v3(max2(high.x, p.x), max2(high.y, p.y), max2(high.z, p.z));
            }
        }
        double far[3] = {high.x - low.x, high.y - low.y, high.z - low.z};
        for (int axis = 0; axis < 3 && far[0] >= 0; ++axis) { // sorted as they come
            int at = looks;
            for (; at > 0 && reach[axis][at - 1] > far[axis]; --at) {
                reach[axis][at] = reach[axis][at - 1];
            }
            reach[axis][at] = far[axis];
        }
        looks += far[0] >= 0;
    }
    for (int axis = 0; axis < 3 && looks > 0; ++axis) {
        middle[axis] = reach[axis][looks / 2];
    }
    return v3(middle[0], middle[1], middle[2]);
}

// The unit that makes `height` as large as `metres`, to a factor of 2.5; 0: none. Inches only where it is known what stands
// there, since a child in centimetres is as many as an adult in inches.
static double unit_of(double height, double metres, bool is_known)
{
    static const double units[] = {1.0, 0.01, 0.001, 0.0254, PZ_ACCLAIM_INCH};
    double best = 0.0, least = 2.5;
    for (int i = 0; i < (is_known ? 5 : 3); ++i) {
        double ratio = height * units[i] / metres, off = max2(ratio, 1.0 / ratio);
        if (off < least) {
            least = off;
            best = units[i];
        }
    }
    return best;
}

static double along(vec3 v, poise_up up)
{
    return up == POISE_UP_X ? v.x : up == POISE_UP_Y ? v.y : v.z;
}

static poise_figure figure_of(const poise_markers *markers, const int *height)
{
    bool seen[3] = {false, false, false};
    for (int i = 0; i < markers->count; ++i) {
        if (height[i] >= 0) {
            seen[height[i]] = true;
        }
    }
    poise_figure f = {.is_named = seen[0] && (seen[1] || seen[2])};
    vec3 reach = extent_of(markers, f.is_named ? height : NULL);
    vec3 upwards = f.is_named ? pz_upwards(markers, height) : reach;
    f.up = pz_axis_of(upwards);
    if (f.up == POISE_UP_UNKNOWN) {
        f.up = pz_axis_of(v3_scale(upwards, -1.0));
        f.is_upside_down = f.up != POISE_UP_UNKNOWN;
    }
    f.height = f.up != POISE_UP_UNKNOWN ? along(reach, f.up) : max2(reach.x, max2(reach.y, reach.z));
    f.metres = f.height > 0 ? unit_of(f.height, f.is_named && !seen[2] ? LOWER : WHOLE, f.is_named) : 0.0;
    return f;
}

poise_status poise_markers_figure(const poise_markers *markers, poise_figure *figure, poise_error *error)
{
    if (!markers || !figure) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "markers and figure must not be NULL");
    }
    const poise_allocator *allocator = markers->has_allocator ? &markers->allocator : NULL;
    int *height = pz_allocate(allocator, ((size_t)markers->count + 1) * sizeof *height);
    if (!height) {
        return pz_error_set(error, POISE_ERROR_MEMORY, "out of memory");
    }
    pz_marker_table table = {NULL, NULL, markers};
    for (int i = 0; i < markers->count; ++i) {
        pz_marker_row row;
        height[i] = pz_marker_table_find(&table, markers->label[i], &row) ? pz_height_of(row.part) : -1;
    }
    *figure = figure_of(markers, height);
    pz_release(allocator, height);
    return POISE_OK;
}

poise_status poise_model_figure(const poise_model *model, poise_figure *figure, poise_error *error)
{
    pz_anatomy anatomy;
    if (!model || !figure) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "model and figure must not be NULL");
    }
    if (pz_anatomy_of(model, NULL, &anatomy) != POISE_OK) {
        return pz_error_set(error, POISE_ERROR_MEMORY, "out of memory");
    }
    poise_figure f = {.is_named = anatomy.stature > 0, .height = anatomy.stature, .up = POISE_UP_UNKNOWN};
    if (f.is_named) {
        f.up = pz_axis_of(anatomy.up);
        f.metres = unit_of(f.height, WHOLE, true);
    }
    *figure = f;
    return POISE_OK;
}
