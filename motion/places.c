// A person in a recording or a skeleton, by names alone: how tall and which way up, and where each marker sits.
#include <poise/motion.h>
#include <poise/track.h>

#include "base/arena.h"
#include "base/error.h"
#include "motion/marker_table.h"
#include "motion/plain_name.h"

#include <math.h>

#define FIGURE_LOOKS 50  // frames examined
#define CLEAR        1.5 // times as far along one axis as along others: that one is up

// What is as large as a person, in metres: from toes to the head or shoulders, to the hips, from these to the head, and markers
// without a name.
#define WHOLE 1.65
#define LOWER 1.0
#define UPPER 0.7

// ---- Up ------------------------------------------------------------------------------------------------------------------

// How high a part is when a person stands: 2 head and shoulders, 1 hips, 0 feet; -1 does not tell.
static int pz_height_of(pz_part part)
{
    return part == PZ_HEAD || part == PZ_THORAX || part == PZ_CLAVICLE ? 2
           : part == PZ_PELVIS                                         ? 1
           : part == PZ_FOOT || part == PZ_SHANK                       ? 0
                                                                       : -1;
}

static int look(const poise_markers *markers, int i)
{
    int looks = markers->frames < FIGURE_LOOKS ? markers->frames : FIGURE_LOOKS;
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

// From the lowest of the heights that are seen to the highest, summed over some frames; 0 where nothing tells. `height` is
// by marker.
static vec3 pz_upwards(const poise_markers *markers, const int *height)
{
    vec3 sum = v3(0, 0, 0), difference;
    for (int i = 0, frame; (frame = look(markers, i)) >= 0; ++i) {
        if (upwards_in(markers, height, frame, &difference)) {
            sum = v3_add(sum, difference);
        }
    }
    return sum;
}

// The axis that a direction points along, clearly and not backwards.
static poise_up pz_axis_of(vec3 u)
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
    double reach[3][FIGURE_LOOKS], middle[3] = {0, 0, 0};
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
    poise_figure f = {.is_named = seen[0] + seen[1] + seen[2] >= 2};
    vec3 reach = extent_of(markers, f.is_named ? height : NULL);
    vec3 upwards = f.is_named ? pz_upwards(markers, height) : reach;
    f.up = pz_axis_of(upwards);
    if (f.up == POISE_UP_UNKNOWN) {
        f.up = pz_axis_of(v3_scale(upwards, -1.0));
        f.is_upside_down = f.up != POISE_UP_UNKNOWN;
    }
    f.height = f.up != POISE_UP_UNKNOWN ? along(reach, f.up) : max2(reach.x, max2(reach.y, reach.z));
    double usual = !f.is_named || (seen[0] && seen[2]) ? WHOLE : seen[0] ? LOWER : UPPER;
    f.metres = f.height > 0 ? unit_of(f.height, usual, f.is_named) : 0.0;
    return f;
}

static bool is_there(const poise_markers *markers, int marker)
{
    bool is_seen = false;
    for (int i = 0, frame; !is_seen && (frame = look(markers, i)) >= 0; ++i) {
        is_seen = poise_markers_seen(markers, frame, marker);
    }
    return is_seen;
}

// By their names. Where nothing is seen of hips and what is above them, thighs are above feet.
static void find_heights(const poise_markers *markers, int *height)
{
    pz_marker_table table = {NULL, NULL, markers};
    int highest = -1;
    for (int i = 0; i < markers->count; ++i) {
        pz_marker_row row;
        bool is_known = pz_marker_table_find(&table, markers->label[i], &row) && is_there(markers, i);
        height[i] = is_known ? pz_height_of(row.part) : -1;
        highest = height[i] > highest ? height[i] : highest;
    }
    for (int i = 0; i < markers->count && highest == 0; ++i) {
        pz_marker_row row;
        bool is_thigh = pz_marker_table_find(&table, markers->label[i], &row) && row.part == PZ_THIGH;
        height[i] = is_thigh && is_there(markers, i) ? 1 : height[i];
    }
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
    find_heights(markers, height);
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

// ---- Places --------------------------------------------------------------------------------------------------------------

#define LOOKS    50   // frames in which distances are measured
#define SURE     25.0 // thousandths of the stature: places that deviate by less tell a size
#define EDGE     0.05 // of the size: distances that differ by more pull no more
#define ROUNDS   50
#define AT_END   0.93   // of a bone: there it turns against the next one
#define SHARE    0.5    // of its deviation in the table: what a place is off by (uncertainty.c)
#define PARTED   0.03   // of a bone's length: what it deviates by from those of a person of this size
#define LEAST    0.08   // of the stature: shorter distances do not
#define PARTS_OF 1000.0 // of the stature: a unit of the table

// A marker that was placed.
typedef struct placed {
    int marker, body;
    pz_part part;
    bool is_sure;    // its place is known well enough to tell a size
    bool is_at_end;  // of its bone: as far from what is on the next one, however that is turned
    int side;        // pz_side
    double variance; // of that place
    vec3 world;      // in the neutral configuration
    vec3 pull;       // d size/d place
} placed;

typedef struct placing {
    const poise_model *model;
    const poise_markers *markers;
    pz_marker_table table;
    pz_anatomy anatomy;
    poise_kinematics *kin; // at the neutral configuration
    placed *placed;
    int count;
} placing;

static vec3 to_local(const poise_kinematics *kin, int body, vec3 direction)
{
    return poise_quat_rotate(poise_quat_conjugate(poise_kinematics_body_pose(kin, body).rotation), direction);
}

// The place of a row on its part, and how sure it is.
static poise_place_prior prior_of(const placing *p, const pz_segment *part, const pz_marker_row *row, vec3 *world)
{
    double unit = p->anatomy.stature / PARTS_OF;
    vec3 at = v3_mad(part->origin, row->from, v3_sub(part->end, part->origin));
    for (int i = 0; i < 3; ++i) {
        at = v3_mad(at, unit * row->offset[i], part->axis[i]);
    }
    *world = at;
    vec3 origin = poise_kinematics_body_pose(p->kin, part->body).position;
    return (poise_place_prior){.place = to_local(p->kin, part->body, v3_sub(at, origin)),
                               .axis = to_local(p->kin, part->body, part->axis[0]),
                               .outward = to_local(p->kin, part->body, part->axis[2]),
                               .along = unit * row->along,
                               .across = unit * row->across};
}

// Is there an earlier marker of this label?
static bool is_repeated(const poise_markers *markers, int marker)
{
    return poise_markers_find(markers, markers->label[marker]) != marker;
}

static void place_all(placing *p, poise_placement *placements, poise_place_prior *priors, int capacity)
{
    for (int i = 0; i < p->markers->count; ++i) {
        const char *label = p->markers->label[i];
        pz_marker_row row;
        if (!pz_marker_table_find(&p->table, label, &row) || is_repeated(p->markers, i) ||
            pz_label_is_computed(p->markers, label)) {
            continue;
        }
        const pz_segment *part = &p->anatomy.part[row.part][row.side];
        if (part->body < 0) {
            continue;
        }
        placed made = {.marker = i, .body = part->body, .part = row.part, .side = (int)row.side};
        made.is_at_end = row.from >= AT_END;
        poise_place_prior prior = {.place = {NAN, NAN, NAN}};
        if (p->anatomy.stature > 0) {
            prior = prior_of(p, part, &row, &made.world);
            made.is_sure = row.along <= SURE && row.across <= SURE;
            made.variance = prior.along * prior.along + 2.0 * prior.across * prior.across;
        }
        if (p->count < capacity && placements) {
            placements[p->count] = (poise_placement){label, part->body, prior.place, 1.0};
        }
        if (p->count < capacity && priors) {
            priors[p->count] = prior;
        }
        p->placed[p->count++] = made;
    }
}

// ---- Size by places ------------------------------------------------------------------------------------------------------

// A number that counts by its weight.
typedef struct weighted {
    double value, weight;
} weighted;

// The middle one of n > 0 numbers: the least whose weight, with that of those below, is half of all.
static double middle_of(const weighted *x, int n)
{
    double all = 0.0, best = INFINITY;
    for (int i = 0; i < n; ++i) {
        all += x[i].weight;
    }
    for (int i = 0; i < n; ++i) {
        double below = 0.0;
        for (int k = 0; k < n; ++k) {
            below += x[k].value <= x[i].value ? x[k].weight : 0.0;
        }
        best = below >= 0.5 * all ? min2(best, x[i].value) : best;
    }
    return best;
}

// Huber's mean of n > 0 numbers, from a first guess on: one that is `edge` off, or farther, pulls as one that is.
static double robust_mean(const weighted *x, int n, double mean)
{
    double edge = EDGE * mean;
    for (int round = 0; round < ROUNDS; ++round) {
        double sum = 0.0, weights = 0.0;
        for (int i = 0; i < n; ++i) {
            double off = x[i].value - mean, w = x[i].weight * (off > edge ? edge / off : off < -edge ? -edge / off : 1.0);
            sum += w * x[i].value;
            weights += w;
        }
        mean = sum / weights;
    }
    return mean;
}

// The median distance of two markers over some frames; 0 when they are never seen together.
static double distance_of(const poise_markers *m, int a, int b)
{
    weighted seen[LOOKS];
    int count = 0, looks = m->frames < LOOKS ? m->frames : LOOKS;
    for (int i = 0; i < looks; ++i) {
        int frame = (int)((int64_t)i * m->frames / looks);
        if (poise_markers_seen(m, frame, a) && poise_markers_seen(m, frame, b)) {
            const poise_vec3 *row = m->position + (size_t)frame * (size_t)m->count;
            seen[count++] = (weighted){v3_norm(v3_sub(row[a], row[b])), 1.0};
        }
    }
    return count > 0 ? middle_of(seen, count) : 0.0;
}

// Is one at the end of a bone, and the other on the next one?
static bool share_joint(const placed *a, const placed *b)
{
    bool are_next = (a->part == PZ_THIGH && b->part == PZ_SHANK) || (a->part == PZ_SHANK && b->part == PZ_FOOT) ||
                    (a->part == PZ_UPPER_ARM && (b->part == PZ_FOREARM || b->part == PZ_WRIST));
    return are_next && a->is_at_end && a->side == b->side;
}

// Do these two keep their distance, and is it long and sure enough to tell a size?
static bool tells_size(const placing *p, const placed *a, const placed *b)
{
    const char *const *label = p->markers->label;
    return a->is_sure && b->is_sure && v3_norm(v3_sub(a->world, b->world)) >= LEAST * p->anatomy.stature &&
           (a->body == b->body || share_joint(a, b) || share_joint(b, a) ||
            pz_marker_table_stiff(&p->table, label[a->marker], label[b->marker]) ||
            pz_marker_table_stiff(&p->table, label[b->marker], label[a->marker]));
}

// How sure the size is. It is a mean of ratios, r = |x_a - x_b|/d, whose weights are w/sum w, so that a place that is off by e
// moves it by pull . e. Who attaches markers does the same on both sides: twins are off alike. Each bone has its own share of
// what people's proportions deviate by. Where the ratios disagree by more than that explains, they are all off by as much more.
//
//   Var s = (sum (|pull_a| + |pull_twin|)^2 v_a + sum (share of a bone)^2 PARTED^2) max(1, chi^2)
static double size_deviation(const placing *p, double misfit)
{
    double variance = 0.0, bones[PZ_PART_COUNT] = {0};
    for (int i = 0; i < p->count; ++i) {
        const placed *a = &p->placed[i];
        double both = v3_norm(a->pull);
        bool is_second = false;
        for (int k = 0; k < p->count; ++k) {
            if (k != i && pz_labels_mirror(p->markers->label[a->marker], p->markers->label[p->placed[k].marker])) {
                both += v3_norm(p->placed[k].pull);
                is_second = is_second || k < i;
            }
        }
        variance += is_second ? 0.0 : both * both * SHARE * SHARE * a->variance / 3.0;
        bones[a->part] += 0.5 * v3_norm(a->pull) * p->anatomy.stature;
    }
    double all = 0.0, squares = 0.0;
    for (int i = 0; i < PZ_PART_COUNT; ++i) {
        all += bones[i];
        squares += bones[i] * bones[i];
    }
    variance += all > 0.0 ? PARTED * PARTED * squares / (all * all) : 0.0;
    return sqrt(variance * max2(misfit, 1.0));
}

// The size, over pairs of markers that keep their distance, of the recorded distance against that of their places; a pair
// counts by the square of its distance over the deviation of that. From the weighted median on, the mean in which a pair far
// off counts as one at the edge does (Huber's): no single marker moves it far, none makes it leap.
static poise_status size_of(placing *p, const poise_allocator *allocator, poise_places_report *report)
{
    size_t sure = 0;
    for (int i = 0; i < p->count; ++i) {
        sure += p->placed[i].is_sure;
    }
    weighted *ratio = pz_allocate(allocator, (sure * sure / 2 + 1) * sizeof *ratio);
    if (!ratio) {
        return POISE_ERROR_MEMORY;
    }
    double all = 0.0, misfit = 0.0;
    for (int i = 0; i < p->count; ++i) {
        for (int k = 0; k < i; ++k) {
            placed *a = &p->placed[k], *b = &p->placed[i];
            double seen = tells_size(p, a, b) ? distance_of(p->markers, a->marker, b->marker) : 0.0;
            if (seen > 0) {
                vec3 apart = v3_sub(a->world, b->world);
                double nominal = v3_norm(apart), weight = nominal * nominal / (a->variance + b->variance);
                ratio[report->pairs++] = (weighted){seen / nominal, weight};
                a->pull = v3_mad(a->pull, weight / (nominal * nominal), apart);
                b->pull = v3_mad(b->pull, -weight / (nominal * nominal), apart);
                all += weight;
            }
        }
    }
    report->size = report->pairs > 0 ? robust_mean(ratio, report->pairs, middle_of(ratio, report->pairs)) : 0.0;
    for (int i = 0; i < report->pairs; ++i) {
        double off = ratio[i].value / report->size - 1.0;
        misfit += off * off / (SHARE * SHARE / (3.0 * ratio[i].weight) + PARTED * PARTED) / report->pairs;
    }
    for (int i = 0; i < p->count; ++i) {
        p->placed[i].pull = v3_scale(p->placed[i].pull, all > 0.0 ? 1.0 / all : 0.0);
    }
    report->deviation = report->pairs > 0 ? report->size * size_deviation(p, misfit) : 0.0;
    pz_release(allocator, ratio);
    return POISE_OK;
}

// ---- Upwards by places, and the call -------------------------------------------------------------------------------------

// Which way the person stands, by the markers that were placed.
static poise_status up_of(const placing *p, const poise_allocator *allocator, poise_places_report *report)
{
    int *height = pz_allocate(allocator, ((size_t)p->markers->count + 1) * sizeof *height);
    if (!height) {
        return POISE_ERROR_MEMORY;
    }
    for (int i = 0; i < p->markers->count; ++i) {
        height[i] = -1;
    }
    for (int i = 0; i < p->count; ++i) {
        height[p->placed[i].marker] = pz_height_of(p->placed[i].part);
    }
    report->up = pz_axis_of(pz_upwards(p->markers, height));
    pz_release(allocator, height);
    return POISE_OK;
}

poise_status poise_places_by_name(const poise_model *model, const poise_markers *markers, const char *table,
                                  poise_placement *placements, poise_place_prior *priors, int capacity,
                                  poise_places_report *report, poise_error *error)
{
    if (!model || !markers || capacity < 0) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "model and markers must not be NULL, capacity not negative");
    }
    poise_status status = pz_marker_table_check(table, error);
    if (status != POISE_OK) {
        return status;
    }
    const poise_allocator *allocator = markers->has_allocator ? &markers->allocator : NULL;
    placing p = {.model = model, .markers = markers, .table = {table, model, markers}};
    size_t count = (size_t)markers->count + 1;
    p.placed = pz_allocate(allocator, count * sizeof *p.placed);
    if (!p.placed || pz_anatomy_of(model, allocator, &p.anatomy) != POISE_OK ||
        poise_kinematics_create(model, allocator, &p.kin, NULL) != POISE_OK) {
        status = POISE_ERROR_MEMORY;
    } else {
        place_all(&p, placements, priors, capacity);
        poise_places_report made = {.placed = p.count, .stature = p.anatomy.stature, .model_up = pz_axis_of(p.anatomy.up)};
        status = up_of(&p, allocator, &made);
        status = status == POISE_OK ? size_of(&p, allocator, &made) : status;
        if (status == POISE_OK && report) {
            *report = made;
        }
        poise_kinematics_destroy(p.kin);
    }
    pz_release(allocator, p.placed);
    return status == POISE_OK ? status : pz_error_set(error, status, "out of memory");
}
