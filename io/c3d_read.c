// Reading C3D: header and parameters, the points, and what else the file holds, kept to be written again.
//
// Read: files of all three processors, as integers or floating point; points with residuals, units, upward axis, events,
// force plates, analog samples and the parameters, of which the last four are kept to be written again.
// Warned of: parameters that lie beyond their section, a unit that is no length, frames whose numbers run backwards.
// Refused: less than a header, parameters or data that begin beyond the end of the file, each with its byte.
#include "io/c3d.h"

#include <limits.h>
#include <math.h>

// ---- Header and parameters -----------------------------------------------------------------------------------------------
//
// A record of the parameter section:
//
//   length of its name (negative: locked)   1 byte; 0 ends the section
//   id                                      1 byte; negative: the group -id, positive: a parameter of that group
//   name
//   way to the next record                  2 bytes, counted from here; 0: the last one
//   group: length of its description and the description
//   parameter: type (-1 text, 1, 2 integers, 4 single), number of dimensions, the dimensions, the values, description
//
// Writers disagree on almost everything here (descriptions left out, values beyond the section, no end mark), so a record is
// trusted as far as it lies in the section, and the way to the next one is what its two bytes say.

#define LABEL_SETS    258 // LABELS, LABELS2 .. LABELS257: 255 labels each for 65535 points
#define WARNINGS_MOST 4   // warnings of one kind

typedef struct parameter {
    pz_word name;
    int group;
    int type, dimensions;
    const unsigned char *dimension, *values;
    size_t count; // of values
} parameter;

typedef struct label_set {
    const char *text;
    size_t length, count; // of a label; of labels
} label_set;

typedef struct section {
    pz_input *input;
    pz_c3d *c3d;
    size_t at, end;          // bytes
    size_t claimed, reached; // bytes: where the section claims to end, where its last record begins
    int point_id, trial_id;
    size_t record_capacity;
    int warnings;
    label_set set[LABEL_SETS];
    double rate, scale;              // of POINT; 0: not given
    int64_t frames, long_frames;     // of POINT; 0: not given
    int64_t trial_first, trial_last; // 0: not given
    int data_start;
} section;

static pz_word trimmed(const char *text, size_t length)
{
    while (length > 0 && (text[length - 1] == ' ' || text[length - 1] == '\0')) {
        --length;
    }
    while (length > 0 && *text == ' ') {
        ++text;
        --length;
    }
    size_t whole = 0; // a zero within ends it
    while (whole < length && text[whole] != '\0') {
        ++whole;
    }
    return (pz_word){text, whole};
}

int pz_c3d_value_size(int type)
{
    return type == -1 || type == 1 ? 1 : type == 2 ? 2 : type == 4 ? 4 : 0;
}

// ---- Records -------------------------------------------------------------------------------------------------------------

// A warning about a parameter, the first few times.
static void warn_of_parameter(section *s, const parameter *p, const char *what)
{
    s->warnings += 1;
    if (s->warnings <= WARNINGS_MOST) {
        char name[64];
        size_t length = p->name.length < sizeof name ? p->name.length : sizeof name - 1;
        memcpy(name, p->name.text, length);
        name[length] = '\0';
        pz_input_warn(s->input, 0, "parameter \"%s\" of group %d %s", name, p->group, what);
    }
}

// The values of a parameter whose type byte is at `at`; false when they are not all in the section.
static bool parse_values(section *s, size_t at, size_t next, parameter *p)
{
    const unsigned char *bytes = s->input->bytes;
    if (at + 2 > s->end) {
        return false;
    }
    p->type = (signed char)bytes[at];
    p->dimensions = bytes[at + 1];
    p->dimension = bytes + at + 2;
    size_t first = at + 2 + (size_t)p->dimensions;
    if (first > s->end) {
        return false;
    }
    p->values = bytes + first;
    p->count = 1;
    for (int i = 0; i < p->dimensions; ++i) {
        p->count = p->count > s->input->size ? p->count : p->count * p->dimension[i]; // stays below 2^56
    }
    size_t size = (size_t)pz_c3d_value_size(p->type);
    if (size == 0 || p->count > (s->end - first) / size) {
        return false;
    }
    if (next != 0 && first + p->count * size >= next) {
        warn_of_parameter(s, p, "overlaps the next one; it is read to its stated length");
    }
    return true;
}

// The record at s->at; moves on to the next, or to the end. False: none left.
static bool next_record(section *s, pz_word *name, int *id, size_t *body, size_t *next)
{
    const unsigned char *bytes = s->input->bytes;
    if (s->at + 2 > s->end || bytes[s->at] == 0) {
        return false;
    }
    int length = (signed char)bytes[s->at];
    length = length < 0 ? -length : length;
    size_t way = s->at + 2 + (size_t)length;
    if (way + 2 > s->end) {
        return false;
    }
    s->reached = s->at;
    *name = (pz_word){(const char *)bytes + s->at + 2, (size_t)length};
    *id = (signed char)bytes[s->at + 1];
    *body = way + 2;
    size_t offset = c3d_bits16(s->c3d->order, bytes + way);
    *next = offset == 0 ? 0 : way + offset;
    s->at = offset == 0 || *next >= s->end ? s->end : *next;
    return true;
}

// ---- What the parameters mean --------------------------------------------------------------------------------------------

static double number_of(const section *s, const parameter *p, size_t i)
{
    pz_c3d_order order = s->c3d->order;
    if (i >= p->count || p->type == -1) {
        return 0.0;
    }
    double value = p->type == 1   ? p->values[i]
                   : p->type == 2 ? (double)c3d_bits16(order, p->values + 2 * i)
                                  : c3d_real(order, p->values + 4 * i);
    return value == value && value < 1e15 && value > -1e15 ? value : 0.0;
}

// A count in two 16-bit words, the low one first, or in a single.
static int64_t long_number(const section *s, const parameter *p)
{
    double high = p->type == 2 ? number_of(s, p, 1) * 65536.0 : 0.0;
    return (int64_t)(number_of(s, p, 0) + high);
}

static poise_up up_of(pz_word axis)
{
    bool is_signed = axis.length == 2 && axis.text[0] == '+';
    char letter = axis.length == 1 ? axis.text[0] : is_signed ? axis.text[1] : '?';
    return letter == 'X' || letter == 'x'   ? POISE_UP_X
           : letter == 'Y' || letter == 'y' ? POISE_UP_Y
           : letter == 'Z' || letter == 'z' ? POISE_UP_Z
                                            : POISE_UP_UNKNOWN;
}

// LABELS is set 0, LABELS2 set 1 and so on; -1: another name.
static int label_set_of(pz_word name)
{
    const size_t stem = 6;
    int number = 1;
    if (name.length < stem || !pz_word_is_like((pz_word){name.text, stem}, "LABELS") ||
        (name.length > stem && !pz_word_integer((pz_word){name.text + stem, name.length - stem}, &number))) {
        return -1;
    }
    return number >= 1 && number <= LABEL_SETS ? number - 1 : -1;
}

static void parse_text(section *s, const parameter *p)
{
    size_t length = p->dimensions > 0 ? p->dimension[0] : p->count;
    int set = label_set_of(p->name);
    if (set >= 0) {
        s->set[set] = (label_set){(const char *)p->values, length, length > 0 ? p->count / length : 0};
    } else if (pz_word_is_like(p->name, "UNITS")) {
        s->c3d->unit = trimmed((const char *)p->values, length < p->count ? length : p->count);
    } else if (pz_word_is_like(p->name, "Y_SCREEN")) {
        s->c3d->up = up_of(trimmed((const char *)p->values, p->count));
    }
}

static void parse_point_number(section *s, const parameter *p)
{
    if (pz_word_is_like(p->name, "RATE")) {
        s->rate = number_of(s, p, 0);
    } else if (pz_word_is_like(p->name, "SCALE")) {
        s->scale = number_of(s, p, 0);
    } else if (pz_word_is_like(p->name, "FRAMES")) {
        s->frames = long_number(s, p);
    } else if (pz_word_is_like(p->name, "LONG_FRAMES")) {
        s->long_frames = long_number(s, p);
    } else if (pz_word_is_like(p->name, "DATA_START")) {
        s->data_start = (int)number_of(s, p, 0) & 0xffff;
    }
}

static void apply_parameter(section *s, const parameter *p)
{
    if (p->group == s->point_id) {
        if (p->type == -1) {
            parse_text(s, p);
        } else {
            parse_point_number(s, p);
        }
    } else if (p->group == s->trial_id && pz_word_is_like(p->name, "ACTUAL_START_FIELD")) {
        s->trial_first = long_number(s, p);
    } else if (p->group == s->trial_id && pz_word_is_like(p->name, "ACTUAL_END_FIELD")) {
        s->trial_last = long_number(s, p);
    }
}

// A description: its length in a byte, and itself; empty where it does not lie in the section.
static pz_word comment_at(const section *s, size_t at)
{
    size_t length = at < s->end ? s->input->bytes[at] : 0;
    return (pz_word){(const char *)s->input->bytes + at + 1, at + 1 + length <= s->end ? length : 0};
}

// Out of memory here loses the record, and never the read.
static void keep_record(section *s, const pz_c3d_record *record)
{
    pz_c3d *c3d = s->c3d;
    pz_c3d_record *grown =
        pz_pool_grow(&s->input->pool, c3d->records, c3d->record_count, &s->record_capacity, sizeof *grown);
    if (grown) {
        c3d->records = grown;
        c3d->records[c3d->record_count++] = *record;
    }
}

// Groups first, since a parameter may come before its group.
static void scan_section(section *s)
{
    pz_word name;
    int id;
    size_t body, next, start = s->at;
    while (next_record(s, &name, &id, &body, &next)) {
        if (id < 0 && pz_word_is_like(name, "POINT") && s->point_id == 0) {
            s->point_id = -id;
        } else if (id < 0 && pz_word_is_like(name, "TRIAL") && s->trial_id == 0) {
            s->trial_id = -id;
        }
        if (id < 0) {
            pz_c3d_record group = {.group = -id, .is_group = true, .name = name, .comment = comment_at(s, body)};
            keep_record(s, &group);
            s->c3d->group_count += 1;
        } else {
            s->c3d->parameter_count += 1;
        }
    }
    s->at = start;
    while (next_record(s, &name, &id, &body, &next)) {
        if (id > 0) {
            parameter p = {.name = name, .group = id};
            if (parse_values(s, body, next, &p)) {
                apply_parameter(s, &p);
                size_t end = (size_t)(p.values - s->input->bytes) + p.count * (size_t)pz_c3d_value_size(p.type);
                pz_c3d_record record = {.group = id,
                                        .name = name,
                                        .comment = comment_at(s, end),
                                        .type = p.type,
                                        .dimensions = p.dimensions,
                                        .dimension = p.dimension,
                                        .values = p.values,
                                        .count = p.count};
                keep_record(s, &record);
            } else {
                warn_of_parameter(s, &p, "lies outside the parameter section or has an unknown type; it is left out");
            }
        }
    }
    if (s->claimed > 0 && s->reached > s->claimed) {
        pz_input_warn(s->input, 0, "parameters extend to byte %d, beyond the stated end of their section (byte %d)",
                      (int)s->reached, (int)s->claimed);
    }
    if (s->warnings > WARNINGS_MOST) {
        pz_input_warn(s->input, 0, "and %d more odd parameters", s->warnings - WARNINGS_MOST);
    }
}

// ---- The whole -----------------------------------------------------------------------------------------------------------

static poise_status list_labels(section *s)
{
    size_t count = 0;
    for (int i = 0; i < LABEL_SETS; ++i) {
        count += s->set[i].count;
    }
    s->c3d->label = pz_pool_take(&s->input->pool, count, sizeof(pz_word));
    if (!s->c3d->label) {
        return pz_input_no_memory(s->input);
    }
    for (int i = 0; i < LABEL_SETS; ++i) {
        for (size_t k = 0; k < s->set[i].count; ++k) {
            s->c3d->label[s->c3d->label_count++] = trimmed(s->set[i].text + k * s->set[i].length, s->set[i].length);
        }
    }
    return POISE_OK;
}

// How many frames, and the number of the first.
//
// The header counts in 16 bits. Longer files say it in TRIAL:ACTUAL_START_FIELD and ACTUAL_END_FIELD (32 bits), or in
// POINT:LONG_FRAMES, or give POINT:FRAMES as a single; the header then holds the low 16 bits, or 65535.
static void count_frames(section *s, int first, int last)
{
    pz_c3d *c3d = s->c3d;
    int64_t frames = last - first + 1;
    bool is_full = last == 0xffff;
    int64_t trial = s->trial_last - s->trial_first + 1;
    c3d->first_frame = first;
    c3d->frames = frames > 0 ? frames : 0;
    if (s->trial_last > 0 && trial >= 0 && (((trial ^ frames) & 0xffff) == 0 || is_full) && s->trial_first <= INT32_MAX) {
        c3d->first_frame = (int)s->trial_first;
        c3d->frames = trial;
    } else if (s->long_frames > 0 && s->long_frames > frames) {
        c3d->frames = s->long_frames;
    } else if (s->frames > 0 && s->frames > frames && is_full) {
        c3d->frames = s->frames;
    } else if (frames < 0) {
        pz_input_warn(s->input, 0, "header: the last frame, %d, comes before the first, %d", last, first);
    } else if (s->frames != 0 && s->frames != frames && !is_full) {
        pz_input_warn(s->input, 0, "POINT:FRAMES says %d frames, the header %d; the header is used", (int)s->frames,
                      (int)frames);
    }
}

static pz_c3d_order order_of(pz_input *input, int processor)
{
    if (processor >= 1 && processor <= 3) { // without the offset of 83
        processor += 83;
    }
    if (processor < PZ_C3D_INTEL || processor > PZ_C3D_MIPS) {
        pz_input_warn(input, 0, "processor type %d is not 84, 85 or 86; Intel assumed", processor);
        processor = PZ_C3D_INTEL;
    }
    return (pz_c3d_order)processor;
}

static poise_status find_section(section *s)
{
    pz_input *input = s->input;
    const unsigned char *bytes = input->bytes;
    if (input->size < PZ_C3D_BLOCK) {
        return pz_input_fail(input, POISE_ERROR_FORMAT, 0, "%d bytes are less than the 512 of a C3D header",
                             (int)input->size);
    }
    if (bytes[1] != 0x50 || bytes[0] == 0) {
        return pz_input_fail(input, POISE_ERROR_FORMAT, 0, "not a C3D file: bytes 0 and 1 are %d and %d; 2 and 80 expected",
                             bytes[0], bytes[1]);
    }
    s->c3d->parameter_block = bytes[0];
    s->at = (size_t)(bytes[0] - 1) * PZ_C3D_BLOCK;
    if (s->at + 4 > input->size) {
        return pz_input_fail(input, POISE_ERROR_FORMAT, 0, "the parameters begin at byte %d, but the file ends at byte %d",
                             (int)s->at, (int)input->size);
    }
    s->c3d->order = order_of(input, bytes[s->at + 3]);
    return POISE_OK;
}

// The parameters end where the data begins, or after the blocks that they claim.
static void bound_section(section *s)
{
    size_t data = s->c3d->data_block > 0 ? (size_t)(s->c3d->data_block - 1) * PZ_C3D_BLOCK : 0;
    size_t blocks = s->input->bytes[s->at + 2];
    s->claimed = blocks > 0 ? s->at + blocks * PZ_C3D_BLOCK : 0;
    s->end = data > s->at ? data : s->claimed > 0 ? s->claimed : s->input->size;
    s->end = s->end < s->input->size ? s->end : s->input->size;
    s->at += 4;
}

// What the header lacks comes from the group POINT, with a warning.
static poise_status complete_header(section *s)
{
    pz_c3d *c3d = s->c3d;
    pz_input *input = s->input;
    if (!(c3d->rate > 0.0) || !(c3d->rate < 1e9)) {
        bool has_other = s->rate > 0.0 && s->rate < 1e9;
        pz_input_warn(input, 0, "header: no frame rate; %g assumed", has_other ? s->rate : 1.0);
        c3d->rate = has_other ? s->rate : 1.0;
    }
    if (!(c3d->scale != 0.0) || c3d->scale - c3d->scale != 0.0) {
        bool has_other = s->scale != 0.0;
        pz_input_warn(input, 0, "header: no scale; %g assumed", has_other ? s->scale : 1.0);
        c3d->scale = has_other ? s->scale : 1.0;
    }
    c3d->is_float = c3d->scale < 0.0;
    c3d->data_block = c3d->data_block > 0 ? c3d->data_block : s->data_start;
    if (c3d->data_block == 0) {
        return pz_input_fail(input, POISE_ERROR_FORMAT, 0,
                             "neither the header (byte 16) nor POINT:DATA_START says where "
                             "the data begins");
    }
    c3d->metres = c3d->unit.length > 0 ? pz_unit_metres(c3d->unit) : 0.0;
    if (c3d->metres == 0.0) {
        pz_input_warn(input, 0, "POINT:UNITS is not a unit of length");
    }
    return POISE_OK;
}

poise_status pz_c3d_describe(pz_input *input, pz_c3d *c3d)
{
    *c3d = (pz_c3d){.order = PZ_C3D_INTEL};
    section s = {.input = input, .c3d = c3d};
    poise_status status = find_section(&s);
    if (status != POISE_OK) {
        return status;
    }
    const unsigned char *bytes = input->bytes;
    c3d->points = (int)c3d_bits16(c3d->order, bytes + 2);
    c3d->analog = (int)c3d_bits16(c3d->order, bytes + 4);
    c3d->scale = c3d_real(c3d->order, bytes + 12);
    c3d->data_block = (int)c3d_bits16(c3d->order, bytes + 16);
    c3d->analog_samples = (int)c3d_bits16(c3d->order, bytes + 18);
    c3d->rate = c3d_real(c3d->order, bytes + 20);
    bound_section(&s);
    scan_section(&s);
    count_frames(&s, (int)c3d_bits16(c3d->order, bytes + 6), (int)c3d_bits16(c3d->order, bytes + 8));
    status = complete_header(&s);
    if (status != POISE_OK) {
        return status;
    }
    c3d->stride = (4 * (size_t)c3d->points + (size_t)c3d->analog) * (c3d->is_float ? 4 : 2);
    return list_labels(&s);
}

// ---- What a file holds beside its points ---------------------------------------------------------------------------------

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
static void decode_samples(const pz_c3d *c3d, const unsigned char *at, size_t count, bool is_unsigned, float *to)
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
        decode_samples(c3d, c3d->data + (size_t)f * c3d->stride + points, words, is_unsigned, analog + (size_t)f * words);
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

// ---- All of it -----------------------------------------------------------------------------------------------------------

// Fill file->carried, of a file whose points are read. MEMORY is all that can go wrong.
static poise_status c3d_carry(pz_input *input, const pz_c3d *c3d, int frames)
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

// ---- Points: decoding ----------------------------------------------------------------------------------------------------

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

poise_status pz_c3d_read(pz_input *input)
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
    poise_markers_add_residuals(markers);
    target to = {markers->position, markers->residual, 0};
    decode_all(&c3d, frames, &to);
    if (to.not_numbers > 0) {
        pz_input_warn(input, 0, "%d points have no numeric position; they count as gaps", (int)to.not_numbers);
    }
    pz_zeros_are_gaps(input);
    return c3d_carry(input, &c3d, frames);
}
