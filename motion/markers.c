// Marker sets: time series of labelled points. What a set is and how one is made; one of several people in it; its units and
// axes, and those of the skeleton that is to follow it.
#include <poise/motion.h>
#include <poise/track.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/text.h"
#include "motion/anatomy.h"
#include "motion/plain_name.h"
#include "num/real.h"

#include <limits.h>
#include <string.h>

#define NUMBER_SIZE 12 // digits of an int, and the closing zero

// `number` > 0 in decimal, zero-terminated; returns the length with the zero.
static size_t put_number(int number, char text[NUMBER_SIZE])
{
    char digits[NUMBER_SIZE];
    size_t count = 0;
    for (int n = number; n > 0; n /= 10) {
        digits[count++] = (char)('0' + n % 10);
    }
    for (size_t i = 0; i < count; ++i) {
        text[i] = digits[count - 1 - i];
    }
    text[count] = '\0';
    return count + 1;
}

static size_t text_size(int count, const char *const *labels)
{
    size_t size = 0;
    char number[NUMBER_SIZE];
    for (int i = 0; i < count; ++i) {
        size += labels ? strlen(labels[i]) + 1 : put_number(i + 1, number);
    }
    return size;
}

static void fill_labels(poise_markers *markers, const char *const *labels, char *text)
{
    for (int i = 0; i < markers->count; ++i) {
        markers->label[i] = text;
        if (labels) {
            size_t length = strlen(labels[i]) + 1;
            memcpy(text, labels[i], length);
            text += length;
        } else {
            text += put_number(i + 1, text);
        }
    }
}

static size_t rounded(size_t size)
{
    return (size + PZ_ALIGNMENT - 1) / PZ_ALIGNMENT * PZ_ALIGNMENT;
}

// The set without its positions filled in. One block: the struct, label pointers, positions, room for residuals, label texts.
static poise_status create(int frames, int count, double rate, const char *const *labels, const poise_allocator *allocator,
                           poise_markers **markers)
{
    size_t points = (size_t)frames * (size_t)count; // below 2^62
    size_t point = sizeof(poise_vec3) + sizeof(float);
    size_t text = text_size(count, labels);
    size_t head = rounded(sizeof **markers), pointers = rounded((size_t)count * sizeof(char *));
    if (points > SIZE_MAX / 4 / point || text > SIZE_MAX / 4) {
        return POISE_ERROR_MEMORY;
    }
    poise_markers *made = pz_allocate(allocator, head + pointers + points * point + text);
    if (!made) {
        return POISE_ERROR_MEMORY;
    }
    *made = (poise_markers){
        .frames = frames, .count = count, .rate = rate, .first_frame = 1, .has_allocator = allocator != NULL};
    if (allocator) {
        made->allocator = *allocator;
    }
    unsigned char *block = (unsigned char *)made + head;
    made->label = (const char **)(void *)block;
    made->position = (poise_vec3 *)(void *)(block + pointers);
    fill_labels(made, labels, (char *)(block + pointers + points * point));
    *markers = made;
    return POISE_OK;
}

poise_status poise_markers_create(int frames, int count, double rate, const char *const *labels,
                                  const poise_allocator *allocator, poise_markers **markers, poise_error *error)
{
    if (frames < 0 || count < 0 || !(rate > 0.0) || !is_finite(rate) || !markers) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT,
                            "frames and count must be >= 0, rate finite and > 0, and markers not NULL");
    }
    for (int i = 0; labels && i < count; ++i) {
        if (!labels[i]) {
            return pz_error_set(error, POISE_ERROR_ARGUMENT, "labels[%d] must not be NULL", i);
        }
    }
    poise_status status = create(frames, count, rate, labels, allocator, markers);
    if (status != POISE_OK) {
        pz_error_set(error, status, "out of memory for %d frames of %d markers", frames, count);
    } else {
        const double gap = (double)NAN;
        size_t points = (size_t)frames * (size_t)count;
        for (size_t i = 0; i < points; ++i) {
            (*markers)->position[i] = (poise_vec3){gap, gap, gap};
        }
    }
    return status;
}

// Every set has room for residuals behind its positions, whether it uses it or not.
float *poise_markers_add_residuals(poise_markers *markers)
{
    if (markers) {
        markers->residual = (float *)(void *)(markers->position + (size_t)markers->frames * (size_t)markers->count);
    }
    return markers ? markers->residual : NULL;
}

void poise_markers_destroy(poise_markers *markers)
{
    if (markers) {
        poise_allocator allocator = markers->allocator;
        pz_release(markers->has_allocator ? &allocator : NULL, markers);
    }
}

int poise_markers_find(const poise_markers *markers, const char *label)
{
    if (!markers || !label) {
        return POISE_NONE;
    }
    for (int i = 0; i < markers->count; ++i) {
        if (strcmp(markers->label[i], label) == 0) {
            return i;
        }
    }
    for (int i = 0; i < markers->count; ++i) {
        const char *colon = strrchr(markers->label[i], ':');
        if (colon && strcmp(colon + 1, label) == 0) {
            return i;
        }
    }
    return POISE_NONE;
}

// ---- New sets ------------------------------------------------------------------------------------------------------------

// A set of `frames` frames with the labels, scale and kind of another.
static poise_status create_like(const poise_markers *markers, int frames, double rate, const poise_allocator *allocator,
                                poise_markers **made)
{
    poise_status status = create(frames, markers->count, rate, markers->label, allocator, made);
    if (status == POISE_OK) {
        (*made)->first_frame = markers->first_frame;
        (*made)->start_time = markers->start_time;
        (*made)->scale = markers->scale;
        if (markers->residual) {
            poise_markers_add_residuals(*made);
        }
    }
    return status;
}

poise_status poise_markers_trim(const poise_markers *markers, int first, int count, const poise_allocator *allocator,
                                poise_markers **trimmed, poise_error *error)
{
    if (!markers || !trimmed || first < 0 || count < 0 || count > markers->frames - first) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT,
                            "frames from %d, %d of them, are not all in the recording, which has %d", first, count,
                            markers ? markers->frames : 0);
    }
    poise_markers *made;
    poise_status status = create_like(markers, count, markers->rate, allocator, &made);
    if (status != POISE_OK) {
        return pz_error_set(error, status, "out of memory");
    }
    made->first_frame = markers->first_frame > INT_MAX - first ? INT_MAX : markers->first_frame + first;
    made->start_time = markers->start_time + first / markers->rate;
    size_t skipped = (size_t)first * (size_t)markers->count, points = (size_t)count * (size_t)markers->count;
    if (points > 0) {
        memcpy(made->position, markers->position + skipped, points * sizeof *made->position);
        if (made->residual) {
            memcpy(made->residual, markers->residual + skipped, points * sizeof *made->residual);
        }
    }
    *trimmed = made;
    return POISE_OK;
}

// Point i of frame `to`, on the straight line between two frames of another set. A gap at either end is NaN, and so is the
// sum; on a frame itself its neighbour does not matter.
static void point_between(const poise_markers *markers, size_t a, size_t b, double u, poise_markers *made, size_t to)
{
    poise_vec3 p = markers->position[a], r = markers->position[b];
    made->position[to] = u == 0.0 ? p : (poise_vec3){p.x + u * (r.x - p.x), p.y + u * (r.y - p.y), p.z + u * (r.z - p.z)};
    if (made->residual) {
        float from = markers->residual[a];
        made->residual[to] = u == 0.0 ? from : (float)(from + u * ((double)markers->residual[b] - from));
    }
}

poise_status poise_markers_resample(const poise_markers *markers, double rate, const poise_allocator *allocator,
                                    poise_markers **resampled, poise_error *error)
{
    if (!markers || !resampled || !(rate > 0.0) || !is_finite(rate)) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "markers and resampled must not be NULL, rate finite and > 0");
    }
    const double near = 1e-9; // frames: times are rounded
    double ratio = markers->rate / rate;
    double last = markers->frames > 1 ? (markers->frames - 1) / ratio * (1.0 + 1e-12) + near : 0.0;
    if (!(last < INT_MAX - 1)) {
        return pz_error_set(error, POISE_ERROR_MEMORY, "too many frames for one recording: lower the rate");
    }
    int frames = markers->frames > 0 ? (int)last + 1 : 0;
    poise_markers *made;
    poise_status status = create_like(markers, frames, rate, allocator, &made);
    if (status != POISE_OK) {
        return pz_error_set(error, status, "out of memory");
    }
    size_t count = (size_t)markers->count;
    for (int f = 0; f < frames; ++f) {
        double place = min2(f * ratio, markers->frames - 1);
        int before = (int)(place + near);
        double u = place - before < near ? 0.0 : place - before;
        size_t a = (size_t)before * count, b = u == 0.0 ? a : a + count;
        for (size_t i = 0; i < count; ++i) {
            point_between(markers, a + i, b + i, u, made, (size_t)f * count + i);
        }
    }
    *resampled = made;
    return POISE_OK;
}

// ---- Scale ---------------------------------------------------------------------------------------------------------------

// Each turn of the cycle x -> y -> z -> x moves the upward axis one on and keeps the frame right-handed.
static poise_vec3 cycled(poise_vec3 p, int turns)
{
    return turns == 0 ? p : turns == 1 ? (poise_vec3){p.z, p.x, p.y} : (poise_vec3){p.y, p.z, p.x};
}

poise_status poise_markers_rescale(poise_markers *markers, poise_scale scale, poise_error *error)
{
    if (!markers || !(scale.metres >= 0.0) || !is_finite(scale.metres) || (unsigned)scale.up > POISE_UP_Z) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT,
                            "markers must not be NULL, scale.metres finite and >= 0, scale.up one of poise_up");
    }
    // what is not requested stays as it is
    bool scales = scale.metres > 0.0, turns = scale.up != POISE_UP_UNKNOWN;
    if ((scales && !(markers->scale.metres > 0.0)) || (turns && markers->scale.up == POISE_UP_UNKNOWN)) {
        return pz_error_set(error, POISE_ERROR_UNSUPPORTED, "the recording does not say its %s: set markers->scale first",
                            scales && !(markers->scale.metres > 0.0) ? "unit" : "upward axis");
    }
    double factor = scales ? markers->scale.metres / scale.metres : 1.0;
    int cycle = turns ? ((int)scale.up - (int)markers->scale.up + 3) % 3 : 0;
    size_t points = (size_t)markers->frames * (size_t)markers->count;
    for (size_t i = 0; i < points; ++i) {
        poise_vec3 p = cycled(markers->position[i], cycle);
        markers->position[i] = (poise_vec3){p.x * factor, p.y * factor, p.z * factor};
    }
    for (size_t i = 0; markers->residual && i < points; ++i) {
        markers->residual[i] = (float)(markers->residual[i] * factor);
    }
    markers->scale.metres = scales ? scale.metres : markers->scale.metres;
    markers->scale.up = turns ? scale.up : markers->scale.up;
    return POISE_OK;
}

// ---- Several people ------------------------------------------------------------------------------------------------------

// Several people in one recording, told apart by what stands before their markers' names.

#define WHOLE  12 // markers that are seen: fewer are a prop or a part of a body
#define SHARED 8  // names that two subjects have in common, where an underscore separates

// "L", "right" and the like, which are no people.
static bool is_side(const char *text, size_t length)
{
    static const char *const sides[] = {"l", "r", "left", "right"};
    for (int i = 0; i < 4; ++i) {
        size_t k = 0;
        while (k < length && sides[i][k] && (text[k] | 0x20) == sides[i][k]) {
            ++k;
        }
        if (k == length && !sides[i][k]) {
            return true;
        }
    }
    return false;
}

// Do two names differ by nothing but an L and an R at their end, as "ML" and "MR" do? They are the sides of one person.
static bool are_sides(const char *a, const char *b)
{
    size_t length = strlen(a), last = length - 1;
    return length > 0 && length == strlen(b) && memcmp(a, b, last) == 0 && is_side(a + last, 1) && is_side(b + last, 1);
}

// Characters of a label before its separator; 0: it has no subject.
static size_t subject_length(const char *label, char separator)
{
    const char *at = separator == ':' ? strrchr(label, ':') : strchr(label, separator);
    size_t length = at ? (size_t)(at - label) : 0;
    bool is_name = at && (separator == ':' || (is_letter(at[1]) && !is_side(label, length)));
    return is_name && length < sizeof((poise_subject *)NULL)->name ? length : 0;
}

static bool has_subject(const char *label, char separator, const char *name)
{
    size_t length = strlen(name);
    return subject_length(label, separator) == length && memcmp(label, name, length) == 0;
}

// ---- Several people: who is there ----------------------------------------------------------------------------------------

// Is the marker there in a tenth of the frames or more?
static bool is_seen(const poise_markers *markers, int marker)
{
    int seen = 0;
    for (int f = 0; f < markers->frames; ++f) {
        seen += poise_markers_seen(markers, f, marker);
    }
    return seen > 0 && 10 * (int64_t)seen >= markers->frames;
}

// How many subjects there are; the first `capacity` go to `subjects`.
static int list(const poise_markers *markers, char separator, poise_subject *subjects, int capacity)
{
    int count = 0;
    for (int i = 0; i < markers->count; ++i) {
        size_t length = subject_length(markers->label[i], separator);
        bool is_new = length > 0;
        for (int k = 0; k < i && is_new; ++k) {
            is_new = subject_length(markers->label[k], separator) != length ||
                     memcmp(markers->label[k], markers->label[i], length) != 0;
        }
        if (is_new && count < capacity) {
            poise_subject *s = &subjects[count];
            *s = (poise_subject){.markers = 0};
            memcpy(s->name, markers->label[i], length);
            for (int k = i; k < markers->count; ++k) {
                bool is_own = has_subject(markers->label[k], separator, s->name);
                s->markers += is_own;
                s->seen += is_own && is_seen(markers, k);
            }
            s->is_whole = s->seen >= WHOLE;
        }
        count += is_new;
    }
    return count;
}

// Names that both have after the separator.
static int shared_names(const poise_markers *markers, char separator, const char *a, const char *b)
{
    int shared = 0;
    for (int i = 0; i < markers->count; ++i) {
        for (int k = 0; k < markers->count && has_subject(markers->label[i], separator, a); ++k) {
            shared += has_subject(markers->label[k], separator, b) &&
                      strcmp(markers->label[i] + strlen(a), markers->label[k] + strlen(b)) == 0;
        }
    }
    return shared;
}

enum { MOST_SUBJECTS = 32 };

// The separator of this recording: a colon where some label has one, an underscore where that makes people of it.
static char separator_of(const poise_markers *markers)
{
    poise_subject found[MOST_SUBJECTS];
    if (list(markers, ':', NULL, 0) > 0) {
        return ':';
    }
    int count = list(markers, '_', found, MOST_SUBJECTS);
    for (int i = 1; i < count && i < MOST_SUBJECTS; ++i) {
        const char *a = found[0].name, *b = found[i].name;
        if (!are_sides(a, b) && shared_names(markers, '_', a, b) >= SHARED) {
            return '_';
        }
    }
    return ':';
}

int poise_markers_subjects(const poise_markers *markers, poise_subject *subjects, int capacity)
{
    return markers ? list(markers, separator_of(markers), subjects, subjects ? capacity : 0) : 0;
}

// ---- Several people: one of them -----------------------------------------------------------------------------------------

static poise_status take(const poise_markers *markers, const char *name, const poise_allocator *allocator,
                         poise_markers **part, poise_error *error)
{
    char separator = separator_of(markers);
    int *from = pz_allocate(allocator, ((size_t)markers->count + 1) * sizeof *from), count = 0;
    const char **label = pz_allocate(allocator, ((size_t)markers->count + 1) * sizeof *label);
    poise_status status = from && label ? POISE_OK : POISE_ERROR_MEMORY;
    for (int i = 0; i < markers->count && status == POISE_OK; ++i) {
        if (has_subject(markers->label[i], separator, name)) {
            label[count] = markers->label[i] + strlen(name) + 1;
            from[count++] = i;
        }
    }
    poise_markers *made = NULL;
    status = status == POISE_OK ? poise_markers_create(markers->frames, count, markers->rate, label, allocator, &made, NULL)
                                : status;
    if (status == POISE_OK) {
        made->first_frame = markers->first_frame;
        made->start_time = markers->start_time;
        made->scale = markers->scale;
        if (markers->residual) {
            poise_markers_add_residuals(made);
        }
        for (int f = 0; f < markers->frames; ++f) {
            for (int i = 0; i < count; ++i) {
                size_t to = (size_t)f * (size_t)count + (size_t)i, at = (size_t)f * (size_t)markers->count + (size_t)from[i];
                made->position[to] = markers->position[at];
                if (made->residual) {
                    made->residual[to] = markers->residual[at];
                }
            }
        }
        *part = made;
    }
    pz_release(allocator, from);
    pz_release(allocator, label);
    return status == POISE_OK ? status : pz_error_set(error, status, "out of memory");
}

// "Anna, Ben, ..."
static void join(const poise_subject *subjects, int count, char *text, size_t size)
{
    size_t used = 0;
    for (int i = 0; i < count; ++i) {
        const char *comma = i > 0 ? ", " : "";
        size_t length = strlen(comma) + strlen(subjects[i].name);
        if (used + length + 6 > size) {
            memcpy(text + used, ", ...", 6);
            return;
        }
        memcpy(text + used, comma, strlen(comma));
        memcpy(text + used + strlen(comma), subjects[i].name, strlen(subjects[i].name) + 1);
        used += length;
    }
}

poise_status poise_markers_select(const poise_markers *markers, const char *subject, const poise_allocator *allocator,
                                  poise_markers **part, poise_error *error)
{
    if (!markers || !part) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "markers and part must not be NULL");
    }
    poise_subject found[MOST_SUBJECTS];
    char names[160] = "";
    int count = poise_markers_subjects(markers, found, MOST_SUBJECTS), whole = 0, chosen = -1;
    int kept = count < MOST_SUBJECTS ? count : MOST_SUBJECTS;
    for (int i = 0; i < kept; ++i) {
        whole += found[i].is_whole;
        bool is_it = subject ? strcmp(found[i].name, subject) == 0 : found[i].is_whole;
        chosen = is_it ? i : chosen;
    }
    for (int i = 0; i < kept && subject && chosen < 0; ++i) { // in whatever case
        pz_plain_name a = pz_plain_name_of(found[i].name), b = pz_plain_name_of(subject);
        chosen = a.length == b.length && memcmp(a.text, b.text, a.length) == 0 ? i : chosen;
    }
    join(found, kept, names, sizeof names);
    if (subject && chosen < 0) {
        return count > 0
                   ? pz_error_set(error, POISE_ERROR_NOT_FOUND, "no subject is called \"%s\"; there are: %s", subject, names)
                   : pz_error_set(error, POISE_ERROR_NOT_FOUND, "no subject is called \"%s\": the labels name no subjects",
                                  subject);
    }
    if (!subject && (count < 2 || whole == 0)) { // all of it is one
        *part = NULL;
        return POISE_OK;
    }
    if (!subject && whole > 1) {
        return pz_error_set(error, POISE_ERROR_UNSUPPORTED, "holds several subjects: %s; choose one", names);
    }
    return take(markers, found[chosen].name, allocator, part, error);
}

// ---- The unit and axes of a skeleton -------------------------------------------------------------------------------------

#define PAIRS 3 // distances of named markers that tell a size

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

// ---- The size of a skeleton and of markers -------------------------------------------------------------------------------

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
static double skeleton_size(const poise_model *model, poise_kinematics *kin, double *q)
{
    box b = empty_box;
    poise_model_neutral(model, q);
    poise_kinematics_update(kin, q, NULL);
    for (int k = 0; k < poise_model_info(model).joints; ++k) {
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

// ---- The unit and axes of both -------------------------------------------------------------------------------------------

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
    double *q = pz_allocate(allocator, ((size_t)poise_model_info(model).nq + 1) * sizeof *q);
    poise_status status = q ? poise_kinematics_create(model, allocator, &kin, NULL) : POISE_ERROR_MEMORY;
    if (status == POISE_OK) {
        complete_units(markers_size(markers), skeleton_size(model, kin, q), marks, bones, match);
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
