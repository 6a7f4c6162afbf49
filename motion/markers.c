// Marker sets: time series of labelled points.
#include "motion/markers.h"
#include "base/error.h"

#include "base/arena.h"
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

// The set without its positions filled in.
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
        (*made)->residual = markers->residual ? pz_markers_room(*made) : NULL;
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
