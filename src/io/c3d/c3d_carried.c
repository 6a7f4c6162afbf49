// C3D: what a file holds beside its points, kept to be written again.
#include "io/c3d/c3d.h"

#define ROTATION_NUMBERS 17 // of one segment: a 4 x 4 matrix by columns, and how sure it is

// ---- Parameters ----------------------------------------------------------------------------------------------------------

const pz_c3d_record *pz_c3d_find(const pz_c3d_record *records, size_t count, const char *group, const char *name)
{
    int number = 0;
    for (size_t i = 0; i < count && number == 0; ++i) {
        number = records[i].is_group && pz_word_is_like(records[i].name, group) ? records[i].group : 0;
    }
    for (size_t i = 0; i < count && number != 0; ++i) {
        if (!records[i].is_group && records[i].group == number && pz_word_is_like(records[i].name, name)) {
            return &records[i];
        }
    }
    return NULL;
}

double pz_c3d_number(const pz_c3d_record *record, pz_c3d_order order, size_t i)
{
    if (!record || i >= record->count || record->type == -1) {
        return 0;
    }
    double value = record->type == 1   ? record->values[i]
                   : record->type == 2 ? c3d_integer(order, record->values + 2 * i)
                                       : c3d_real(order, record->values + 4 * i);
    return value - value == 0 ? value : 0;
}

pz_word pz_c3d_text(const pz_c3d_record *record, size_t i)
{
    size_t width = record && record->type == -1 ? (record->dimensions > 0 ? record->dimension[0] : record->count) : 0;
    pz_word text = {"", 0};
    if (width > 0 && (i + 1) * width <= record->count) {
        text = (pz_word){(const char *)record->values + i * width, width};
        while (text.length > 0 && (text.text[text.length - 1] == ' ' || text.text[text.length - 1] == '\0')) {
            text.length -= 1;
        }
    }
    return text;
}

// Values in Intel's order, as the writer puts them.
static bool copy_values(pz_input *input, pz_c3d_order order, pz_c3d_record *record)
{
    size_t size = (size_t)pz_c3d_value_size(record->type);
    unsigned char *values = pz_pool_take(&input->kept, record->count, size);
    unsigned char *dimension = pz_pool_take(&input->kept, (size_t)record->dimensions, 1);
    if (!values || !dimension) {
        return false;
    }
    memcpy(dimension, record->dimension, (size_t)record->dimensions);
    memcpy(values, record->values, record->count * size);
    for (size_t i = 0; i < record->count && order != PZ_C3D_INTEL && size > 1; ++i) {
        uint32_t bits = c3d_bits16(order, record->values + size * i);
        if (size == 4) {
            float real = (float)c3d_real(order, record->values + size * i);
            memcpy(&bits, &real, sizeof bits);
        }
        for (size_t k = 0; k < size; ++k) {
            values[size * i + k] = (unsigned char)(bits >> 8 * k);
        }
    }
    record->values = values;
    record->dimension = dimension;
    return true;
}

static bool copy_records(pz_input *input, const pz_c3d *c3d, pz_c3d_rest *rest)
{
    rest->records = pz_pool_take(&input->kept, c3d->record_count, sizeof *rest->records);
    bool works = rest->records != NULL;
    for (size_t i = 0; i < c3d->record_count && works; ++i) {
        pz_c3d_record *record = &rest->records[rest->record_count++];
        *record = c3d->records[i];
        record->name.text = pz_pool_copy(&input->kept, record->name.text, record->name.length);
        record->comment.text = pz_pool_copy(&input->kept, record->comment.text, record->comment.length);
        works = record->name.text && record->comment.text && (record->is_group || copy_values(input, c3d->order, record));
    }
    return works;
}

// ---- Samples -------------------------------------------------------------------------------------------------------------

// Numbers as stored, of `count` words from `at` on.
static void decode(const pz_c3d *c3d, const unsigned char *at, size_t count, bool is_unsigned, float *to)
{
    for (size_t i = 0; i < count; ++i) {
        to[i] = c3d->is_float ? (float)c3d_real(c3d->order, at + 4 * i)
                : is_unsigned ? (float)c3d_bits16(c3d->order, at + 2 * i)
                              : (float)c3d_integer(c3d->order, at + 2 * i);
    }
}

static bool carry_analog(pz_input *input, const pz_c3d *c3d, int frames, poise_carried *carried)
{
    const pz_c3d_record *r = c3d->records;
    size_t n = c3d->record_count, words = (size_t)c3d->analog;
    carried->samples = c3d->analog_samples > 0 ? c3d->analog_samples : 1;
    carried->channel_count = c3d->analog / carried->samples;
    if (carried->channel_count == 0 || c3d->analog % carried->samples != 0) {
        carried->channel_count = 0;
        return true;
    }
    float *analog = pz_pool_take(&input->kept, (size_t)frames * words, sizeof *analog);
    poise_channel *channel = pz_pool_take(&input->kept, (size_t)carried->channel_count, sizeof *channel);
    if (!analog || !channel) {
        return false;
    }
    pz_word format = pz_c3d_text(pz_c3d_find(r, n, "ANALOG", "FORMAT"), 0);
    bool is_unsigned = format.length > 0 && (format.text[0] | 0x20) == 'u';
    size_t points = (size_t)c3d->points * (c3d->is_float ? 16 : 8);
    for (int f = 0; f < frames; ++f) {
        decode(c3d, c3d->data + (size_t)f * c3d->stride + points, words, is_unsigned, analog + (size_t)f * words);
    }
    double general = pz_c3d_number(pz_c3d_find(r, n, "ANALOG", "GEN_SCALE"), c3d->order, 0);
    const pz_c3d_record *labels = pz_c3d_find(r, n, "ANALOG", "LABELS"), *units = pz_c3d_find(r, n, "ANALOG", "UNITS");
    const pz_c3d_record *scale = pz_c3d_find(r, n, "ANALOG", "SCALE"), *offset = pz_c3d_find(r, n, "ANALOG", "OFFSET");
    for (int i = 0; i < carried->channel_count; ++i) {
        pz_word label = pz_c3d_text(labels, (size_t)i), unit = pz_c3d_text(units, (size_t)i);
        double own = scale ? pz_c3d_number(scale, c3d->order, (size_t)i) : 1;
        channel[i] = (poise_channel){pz_pool_copy(&input->kept, label.text, label.length),
                                     pz_pool_copy(&input->kept, unit.text, unit.length), own * (general != 0 ? general : 1),
                                     pz_c3d_number(offset, c3d->order, (size_t)i)};
        if (!channel[i].label || !channel[i].unit) {
            return false;
        }
    }
    carried->analog = analog;
    carried->channel = channel;
    carried->frames = frames;
    return true;
}

// Poses of segments: singles from a block of their own on.
static bool carry_rotations(pz_input *input, const pz_c3d *c3d, int frames, poise_carried *carried, pz_c3d_rest *rest)
{
    const pz_c3d_record *r = c3d->records;
    size_t n = c3d->record_count;
    double used = pz_c3d_number(pz_c3d_find(r, n, "ROTATION", "USED"), c3d->order, 0);
    double block = pz_c3d_number(pz_c3d_find(r, n, "ROTATION", "DATA_START"), c3d->order, 0);
    double ratio = pz_c3d_number(pz_c3d_find(r, n, "ROTATION", "RATIO"), c3d->order, 0);
    block += block < 0 ? 65536 : 0;
    if (!(used >= 1) || !(block >= 1)) {
        return true;
    }
    size_t stride = (size_t)used * (size_t)(ratio >= 1 ? ratio : 1) * ROTATION_NUMBERS,
           start = (size_t)(block - 1) * PZ_C3D_BLOCK;
    if (start >= input->size || stride * (size_t)frames > (input->size - start) / 4) {
        pz_input_warn(input, 0, "poses of %d segments (ROTATION) are not all in the file; left out", (int)used);
        return true;
    }
    float *rotation = pz_pool_take(&input->kept, stride * (size_t)frames, sizeof *rotation);
    for (size_t i = 0; rotation && i < stride * (size_t)frames; ++i) {
        rotation[i] = (float)c3d_real(c3d->order, input->bytes + start + 4 * i);
    }
    carried->rotations = (int)used;
    rest->rotation = rotation;
    rest->rotation_stride = (int)stride;
    return rotation != NULL;
}

// ---- Events and plates ---------------------------------------------------------------------------------------------------

static bool carry_events(pz_input *input, const pz_c3d *c3d, poise_carried *carried)
{
    const pz_c3d_record *r = c3d->records;
    size_t n = c3d->record_count;
    const pz_c3d_record *times = pz_c3d_find(r, n, "EVENT", "TIMES"), *labels = pz_c3d_find(r, n, "EVENT", "LABELS");
    const pz_c3d_record *contexts = pz_c3d_find(r, n, "EVENT", "CONTEXTS");
    double used = pz_c3d_number(pz_c3d_find(r, n, "EVENT", "USED"), c3d->order, 0);
    size_t count = times && times->type == 4 ? times->count / 2 : 0;
    count = used > 0 && used < (double)count ? (size_t)used : count;
    poise_event *event = pz_pool_take(&input->kept, count, sizeof *event);
    for (size_t i = 0; i < count && event; ++i) {
        pz_word label = pz_c3d_text(labels, i), context = pz_c3d_text(contexts, i);
        event[i] = (poise_event){pz_pool_copy(&input->kept, label.text, label.length),
                                 pz_pool_copy(&input->kept, context.text, context.length),
                                 60 * pz_c3d_number(times, c3d->order, 2 * i) + pz_c3d_number(times, c3d->order, 2 * i + 1)};
        if (!event[i].label || !event[i].context) {
            return false;
        }
    }
    carried->event = event;
    carried->event_count = (int)count;
    return event != NULL;
}

// Events of the header: a key and a count, 18 singles, flags, and labels of 4 letters.
static void carry_header_events(const pz_input *input, const pz_c3d *c3d, pz_c3d_rest *rest)
{
    enum { START = 298, TIMES = 304, FLAGS = 376 };
    memcpy(rest->events, input->bytes + START, sizeof rest->events);
    for (int i = START; i < TIMES && c3d->order == PZ_C3D_MIPS; i += 2) {
        rest->events[i - START] = input->bytes[i + 1];
        rest->events[i + 1 - START] = input->bytes[i];
    }
    for (int i = TIMES; i < FLAGS && c3d->order != PZ_C3D_INTEL; i += 4) {
        float time = (float)c3d_real(c3d->order, input->bytes + i);
        uint32_t bits;
        memcpy(&bits, &time, sizeof bits);
        for (int k = 0; k < 4; ++k) {
            rest->events[i + k - START] = (unsigned char)(bits >> 8 * k);
        }
    }
}

// ---- The whole -----------------------------------------------------------------------------------------------------------

poise_status pz_c3d_carry(pz_input *input, const pz_c3d *c3d, int frames)
{
    poise_carried *carried = pz_pool_take(&input->kept, 1, sizeof *carried);
    pz_c3d_rest *rest = pz_pool_take(&input->kept, 1, sizeof *rest);
    if (!carried || !rest) {
        return pz_input_no_memory(input);
    }
    *carried = (poise_carried){.format = POISE_FORMAT_C3D, .rest = rest};
    *rest = (pz_c3d_rest){.points = c3d->points, .factor = 1};
    if (!copy_records(input, c3d, rest) || !carry_analog(input, c3d, frames, carried) ||
        !carry_events(input, c3d, carried) || !carry_rotations(input, c3d, frames, carried, rest)) {
        return pz_input_no_memory(input);
    }
    carry_header_events(input, c3d, rest);
    double plates = pz_c3d_number(pz_c3d_find(c3d->records, c3d->record_count, "FORCE_PLATFORM", "USED"), c3d->order, 0);
    carried->force_plates = plates > 0 ? (int)plates : 0;
    poise_error said = {.line = 0};
    pz_carried_say(&said, carried->channel_count, "analog channel");
    pz_carried_say(&said, carried->event_count, "event");
    pz_carried_say(&said, carried->force_plates, "force plate");
    pz_carried_say(&said, carried->rotations, "segment pose");
    carried->text = pz_pool_copy(&input->kept, said.text, strlen(said.text));
    input->file->carried = carried;
    return carried->text ? POISE_OK : pz_input_no_memory(input);
}

// ---- Changes -------------------------------------------------------------------------------------------------------------

void pz_carried_trim(poise_carried *carried, int first, int count)
{
    if (!carried || carried->format != POISE_FORMAT_C3D) {
        return;
    }
    pz_c3d_rest *rest = carried->rest;
    size_t words = (size_t)carried->samples * (size_t)carried->channel_count;
    carried->frames = count;
    carried->analog = carried->analog && count > 0 ? carried->analog + (size_t)first * words : NULL;
    rest->rotation = rest->rotation && count > 0 ? rest->rotation + (size_t)first * (size_t)rest->rotation_stride : NULL;
}

void pz_carried_rescale(poise_carried *carried, poise_scale from, poise_scale to)
{
    if (!carried || carried->format != POISE_FORMAT_C3D) {
        return;
    }
    pz_c3d_rest *rest = carried->rest;
    rest->factor *= to.metres > 0 && from.metres > 0 ? from.metres / to.metres : 1;
    rest->turns += to.up != POISE_UP_UNKNOWN && from.up != POISE_UP_UNKNOWN ? ((int)to.up - (int)from.up + 3) % 3 : 0;
    rest->turns %= 3;
}
