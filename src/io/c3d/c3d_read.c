// C3D: the points.
#include "io/c3d/c3d.h"
#include "motion/markers.h"

#include <limits.h>
#include <math.h>

// ---- Decoding ------------------------------------------------------------------------------------------------------------

typedef struct target {
    poise_vec3 *position;
    float *residual;
    size_t not_numbers; // points that were seen and are not numbers
} target;

// Residual of a gap: none.
#define NO_RESIDUAL (-1.0f)

// Point i from its four numbers; `word` holds cameras in bits 8 to 14 and the residual, in units of the scale, below.
PZ_INLINE void store(target *to, size_t i, double x, double y, double z, double word, double unit)
{
    bool is_number = (x - x) + (y - y) + (z - z) == 0.0;
    if (word >= 0.0 && is_number) {
        unsigned code = word < 65536.0 ? (unsigned)word : 0;
        to->position[i] = (poise_vec3){x, y, z};
        to->residual[i] = (float)((code & 0xff) * unit);
        return;
    }
    const double gap = (double)NAN;
    to->not_numbers += word >= 0.0;
    to->position[i] = (poise_vec3){gap, gap, gap};
    to->residual[i] = NO_RESIDUAL;
}

PZ_INLINE void decode(const pz_c3d *c3d, pz_c3d_order order, bool is_float, int frames, target *to)
{
    size_t points = (size_t)c3d->points, i = 0;
    double unit = c3d->scale < 0.0 ? -c3d->scale : c3d->scale;
    for (int f = 0; f < frames; ++f) {
        const unsigned char *b = c3d->data + (size_t)f * c3d->stride;
        for (size_t p = 0; p < points; ++p, ++i) {
            if (is_float) {
                store(to, i, c3d_real(order, b), c3d_real(order, b + 4), c3d_real(order, b + 8), c3d_real(order, b + 12),
                      unit);
                b += 16;
            } else {
                store(to, i, unit * c3d_integer(order, b), unit * c3d_integer(order, b + 2),
                      unit * c3d_integer(order, b + 4), c3d_integer(order, b + 6), unit);
                b += 8;
            }
        }
    }
}

// One loop for each kind of number.
static void decode_all(const pz_c3d *c3d, int frames, target *to)
{
    switch (c3d->order) {
    case PZ_C3D_INTEL:
        c3d->is_float ? decode(c3d, PZ_C3D_INTEL, true, frames, to) : decode(c3d, PZ_C3D_INTEL, false, frames, to);
        break;
    case PZ_C3D_DEC:
        c3d->is_float ? decode(c3d, PZ_C3D_DEC, true, frames, to) : decode(c3d, PZ_C3D_DEC, false, frames, to);
        break;
    case PZ_C3D_MIPS:
        c3d->is_float ? decode(c3d, PZ_C3D_MIPS, true, frames, to) : decode(c3d, PZ_C3D_MIPS, false, frames, to);
        break;
    }
}

// ---- The set -------------------------------------------------------------------------------------------------------------

// A label for every point; where the file has none, the point's number.
static const char **labels_of(pz_input *input, const pz_c3d *c3d)
{
    const char **label = pz_pool_take(&input->pool, (size_t)c3d->points, sizeof *label);
    for (int i = 0; label && i < c3d->points; ++i) {
        pz_word word = i < c3d->label_count ? c3d->label[i] : (pz_word){"", 0};
        char number[12], *digit = number + sizeof number;
        if (word.length == 0) {
            for (int n = i + 1; n > 0; n /= 10) {
                *--digit = (char)('0' + n % 10);
            }
            word = (pz_word){digit, (size_t)(number + sizeof number - digit)};
        }
        label[i] = pz_pool_copy(&input->pool, word.text, word.length);
        if (!label[i]) {
            return NULL;
        }
    }
    if (c3d->label_count != c3d->points) {
        pz_input_warn(input, 0, "%d labels for %d points; %s", c3d->label_count, c3d->points,
                      c3d->label_count > c3d->points ? "the rest are left out" : "the rest are numbered");
    }
    return label;
}

// Frames that are there in full.
static poise_status find_data(pz_input *input, pz_c3d *c3d, int *frames)
{
    size_t start = (size_t)(c3d->data_block - 1) * PZ_C3D_BLOCK;
    size_t room = start < input->size ? input->size - start : 0;
    size_t there = c3d->stride > 0 ? room / c3d->stride : (size_t)INT_MAX;
    there = there < INT_MAX ? there : INT_MAX;
    *frames = c3d->frames < (int64_t)there ? (int)c3d->frames : (int)there;
    c3d->data = input->bytes + (start < input->size ? start : input->size);
    if (c3d->frames > 0 && *frames == 0) {
        return pz_input_fail(input, POISE_ERROR_FORMAT, 0,
                             "the data begins at byte %d, but the file ends at byte %d: there is not one frame of %d bytes",
                             (int)start, (int)input->size, (int)c3d->stride);
    }
    if (*frames < c3d->frames) {
        pz_input_warn(input, 0, "the file ends after %d frames; the header says %g", *frames, (double)c3d->frames);
    }
    return POISE_OK;
}

poise_status pz_read_c3d(pz_input *input)
{
    pz_c3d c3d;
    int frames;
    poise_status status = pz_c3d_describe(input, &c3d);
    if (status == POISE_OK) {
        status = find_data(input, &c3d, &frames);
    }
    if (status != POISE_OK) {
        return status;
    }
    const char **labels = labels_of(input, &c3d);
    if (!labels) {
        return pz_input_no_memory(input);
    }
    poise_markers *markers = NULL;
    if (poise_markers_create(frames, c3d.points, c3d.rate, labels, input->allocator, &markers, NULL) != POISE_OK) {
        return pz_input_no_memory(input);
    }
    input->file->markers = markers;
    markers->first_frame = c3d.first_frame;
    markers->scale = (poise_scale){c3d.metres, c3d.up};
    markers->residual = pz_markers_room(markers);
    target to = {markers->position, markers->residual, 0};
    decode_all(&c3d, frames, &to);
    if (to.not_numbers > 0) {
        pz_input_warn(input, 0, "%d points have no numeric position; they count as gaps", (int)to.not_numbers);
    }
    pz_zeros_are_gaps(input);
    return pz_c3d_carry(input, &c3d, frames);
}
