// C3D header and parameter section.
//
// A record of the section:
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
#include "io/c3d/c3d.h"

#define GROUPS     128
#define LABEL_SETS 258 // LABELS, LABELS2 .. LABELS257: 255 labels each for 65535 points
#define GRUMBLES   4   // warnings of one kind

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
    int grumbles;
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
        ++text, --length;
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
static void grumble(section *s, const parameter *p, const char *what)
{
    s->grumbles += 1;
    if (s->grumbles <= GRUMBLES) {
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
        grumble(s, p, "overlaps the next one; it is read to its stated length");
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

static void take_text(section *s, const parameter *p)
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

static void take_point_number(section *s, const parameter *p)
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

static void take(section *s, const parameter *p)
{
    if (p->group == s->point_id) {
        if (p->type == -1) {
            take_text(s, p);
        } else {
            take_point_number(s, p);
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
                take(s, &p);
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
                grumble(s, &p, "lies outside the parameter section or has an unknown type; it is left out");
            }
        }
    }
    if (s->claimed > 0 && s->reached > s->claimed) {
        pz_input_warn(s->input, 0, "parameters extend to byte %d, beyond the stated end of their section (byte %d)",
                      (int)s->reached, (int)s->claimed);
    }
    if (s->grumbles > GRUMBLES) {
        pz_input_warn(s->input, 0, "and %d more odd parameters", s->grumbles - GRUMBLES);
    }
}

// ---- The whole -----------------------------------------------------------------------------------------------------------

static poise_status gather_labels(section *s)
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

static poise_status settle(section *s)
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
    status = settle(&s);
    if (status != POISE_OK) {
        return status;
    }
    c3d->stride = (4 * (size_t)c3d->points + (size_t)c3d->analog) * (c3d->is_float ? 4 : 2);
    return gather_labels(&s);
}
