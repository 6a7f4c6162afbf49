// Writing C3D: Intel order, points and residuals as singles, labels in as many sets as it takes; and what was carried along
// from the file that was read (parameters, analog samples, events, force plates).
//
// Warned of: labels that are cut or left out, residuals and rates that are rounded, frame numbers below 1, units without a
// name, what was carried along and no longer belongs to the frames.
// Refused: more than 65535 markers, a rate of 0, and what no single holds: too high a rate, coordinates that are too large.
#include "base/text.h"
#include "io/c3d.h"

#include <float.h>

enum { POINT = 1, ANALOG, TRIAL };

#define SET_MOST      255   // labels in LABELS, LABELS2, ...: a dimension is one byte
#define RECORD_MOST   32000 // bytes of values, so that the way to the next record fits in 15 bits
#define SECTION_MOST  (255 * PZ_C3D_BLOCK)
#define SECTION_SPARE 1024 // for all that is not a label

// ---- Records of the parameter section ------------------------------------------------------------------------------------

static void write_byte(pz_output *output, int value)
{
    unsigned char byte = (unsigned char)value;
    pz_put_bytes(output, &byte, 1);
}

static void write_16(pz_output *output, unsigned value)
{
    write_byte(output, (int)(value & 0xff));
    write_byte(output, (int)(value >> 8 & 0xff));
}

static void store_single(unsigned char *to, float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    for (int i = 0; i < 4; ++i) {
        to[i] = (unsigned char)(bits >> 8 * i);
    }
}

static void write_group(pz_output *output, int id, const char *name)
{
    write_byte(output, (int)strlen(name));
    write_byte(output, -id);
    pz_put(output, name);
    write_16(output, 3);
    write_byte(output, 0); // no description
}

// A record up to its values: `size` bytes of them follow, then a zero for its description.
static void write_parameter(pz_output *output, int group, const char *name, int type, int dimensions, const int *dimension,
                            size_t size)
{
    write_byte(output, (int)strlen(name));
    write_byte(output, group);
    pz_put(output, name);
    write_16(output, (unsigned)(2 + 2 + (size_t)dimensions + size + 1));
    write_byte(output, type);
    write_byte(output, dimensions);
    for (int i = 0; i < dimensions; ++i) {
        write_byte(output, dimension[i]);
    }
}

static void write_integer(pz_output *output, int group, const char *name, unsigned value)
{
    write_parameter(output, group, name, 2, 0, NULL, 2);
    write_16(output, value);
    write_byte(output, 0);
}

static void write_single(pz_output *output, int group, const char *name, float value)
{
    unsigned char bytes[4];
    write_parameter(output, group, name, 4, 0, NULL, 4);
    store_single(bytes, value);
    pz_put_bytes(output, bytes, 4);
    write_byte(output, 0);
}

static void write_text(pz_output *output, int group, const char *name, const char *text)
{
    int length = (int)strlen(text);
    write_parameter(output, group, name, -1, 1, &length, (size_t)length);
    pz_put(output, text);
    write_byte(output, 0);
}

// A count in two words, the low one first.
static void write_long(pz_output *output, int group, const char *name, uint32_t value)
{
    int two = 2;
    write_parameter(output, group, name, 2, 1, &two, 4);
    write_16(output, value & 0xffff);
    write_16(output, value >> 16);
    write_byte(output, 0);
}

// ---- Labels --------------------------------------------------------------------------------------------------------------

// One set of labels, all filled up with blanks to the longest; returns how many were cut.
static int write_label_set(pz_output *output, int number, const char *const *label, int count)
{
    size_t longest = 1, most = RECORD_MOST / (size_t)count;
    for (int i = 0; i < count; ++i) {
        size_t length = strlen(label[i]);
        longest = length > longest ? length : longest;
    }
    most = most < 255 ? most : 255;
    size_t width = longest < most ? longest : most;
    char name[] = "LABELS\0\0\0";
    if (number > 1) { // at most 257
        char *at = name + 6;
        for (int power = number >= 100 ? 100 : number >= 10 ? 10 : 1; power > 0; power /= 10) {
            *at++ = (char)('0' + number / power % 10);
        }
    }
    int dimension[2] = {(int)width, count}, cut = 0;
    write_parameter(output, POINT, name, -1, 2, dimension, width * (size_t)count);
    for (int i = 0; i < count; ++i) {
        size_t length = strlen(label[i]);
        cut += length > width;
        length = length < width ? length : width;
        pz_put_bytes(output, label[i], length);
        for (; length < width; ++length) {
            pz_put_bytes(output, " ", 1);
        }
    }
    write_byte(output, 0);
    return cut;
}

static size_t label_set_size(const char *const *label, int count)
{
    size_t longest = 1;
    for (int i = 0; i < count; ++i) {
        size_t length = strlen(label[i]);
        longest = length > longest ? length : longest;
    }
    size_t size = longest * (size_t)count;
    return (size < RECORD_MOST ? size : RECORD_MOST) + 32;
}

static void write_labels(const poise_markers *markers, pz_output *output)
{
    const char *const *label = markers->label;
    size_t room = SECTION_MOST - SECTION_SPARE;
    int cut = 0;
    for (int first = 0; first < markers->count; first += SET_MOST) {
        int count = markers->count - first < SET_MOST ? markers->count - first : SET_MOST;
        size_t size = label_set_size(label + first, count);
        if (size > room) {
            pz_output_warn(output, "the parameter section of a C3D file holds %d of the %d labels; the others are left out",
                           first, markers->count);
            break;
        }
        room -= size;
        cut += write_label_set(output, first / SET_MOST + 1, label + first, count);
    }
    if (cut > 0) {
        pz_output_warn(output, "%d labels are longer than a C3D file can hold and are cut", cut);
    }
}

// ---- Residuals -----------------------------------------------------------------------------------------------------------

// A residual is stored as a whole multiple, 0 to 255, of the scale. Those that came from a C3D file are such multiples of a
// single; the unit is found again from the different residuals there are, of which there can be no more than 256.
#define CODES 256

typedef struct residuals {
    float value[CODES]; // different ones, rising
    int count;
    bool is_exact; // all are in the list
    float largest;
} residuals;

static void note_residual(residuals *r, float value)
{
    r->largest = value > r->largest ? value : r->largest;
    int low = 0, high = r->count;
    while (low < high) {
        int middle = (low + high) / 2;
        if (r->value[middle] < value) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    if (low < r->count && r->value[low] == value) {
        return;
    }
    if (r->count == CODES) {
        r->is_exact = false;
        return;
    }
    memmove(r->value + low + 1, r->value + low, (size_t)(r->count - low) * sizeof r->value[0]);
    r->value[low] = value;
    r->count += 1;
}

static int code_of(float residual, float unit)
{
    double code = (double)residual / (double)unit + 0.5;
    return code < 1.0 ? 0 : code < 255.0 ? (int)code : 255;
}

static bool fits(const residuals *r, float unit)
{
    for (int i = 0; i < r->count; ++i) {
        if ((float)(code_of(r->value[i], unit) * (double)unit) != r->value[i]) {
            return false;
        }
    }
    return true;
}

// The unit of which all residuals are multiples; 0 when there is none.
static float find_unit(const residuals *r)
{
    int first = r->count > 0 && r->value[0] == 0.0f ? 1 : 0;
    if (first == r->count) {
        return 1.0f;
    }
    for (int multiple = 1; r->is_exact && multiple < CODES; ++multiple) {
        float middle = (float)((double)r->value[first] / multiple);
        uint32_t bits;
        memcpy(&bits, &middle, sizeof bits);
        for (uint32_t i = 0; i < 5; ++i) { // rounding of a multiple moves its unit by a unit in the last place or two
            uint32_t other = bits + i - 2;
            float unit;
            memcpy(&unit, &other, sizeof unit);
            if (unit > 0.0f && unit <= FLT_MAX && fits(r, unit)) {
                return unit;
            }
        }
    }
    return 0.0f;
}

static float residual_unit(const poise_markers *markers, pz_output *output)
{
    residuals r = {.is_exact = true};
    size_t points = (size_t)markers->frames * (size_t)markers->count;
    for (size_t i = 0; markers->residual && i < points; ++i) {
        if (markers->residual[i] >= 0.0f && markers->residual[i] <= FLT_MAX) {
            note_residual(&r, markers->residual[i]);
        }
    }
    float unit = find_unit(&r);
    if (unit == 0.0f) {
        unit = r.largest / 255.0f > 0.0f ? r.largest / 255.0f : FLT_MIN;
        pz_output_warn(output, "residuals are rounded to multiples of %g: a C3D file has 256 levels", (double)unit);
    }
    return unit;
}

// ---- Points --------------------------------------------------------------------------------------------------------------

typedef struct losses {
    size_t rounded, too_large;
} losses;

static float single_of(double value, losses *lost)
{
    if (!(value <= (double)FLT_MAX && value >= -(double)FLT_MAX)) {
        lost->too_large += 1;
        return 0.0f;
    }
    float single = (float)value;
    lost->rounded += (double)single != value;
    return single;
}

#define CHUNK 256 // points at a time

// Singles as they are.
static void write_singles(pz_output *output, const float *values, size_t count)
{
    unsigned char bytes[4];
    for (size_t i = 0; i < count; ++i) {
        store_single(bytes, values[i]);
        pz_put_bytes(output, bytes, sizeof bytes);
    }
}

// The points of frames one after the other, each with its analog samples behind (NULL: none).
static losses write_points(const poise_markers *markers, float unit, const poise_carried *analog, pz_output *output)
{
    unsigned char bytes[16 * CHUNK];
    size_t points = (size_t)markers->frames * (size_t)markers->count, filled = 0;
    size_t words = analog ? (size_t)analog->channel_count * (size_t)analog->samples : 0, frame = 0;
    losses lost = {0, 0};
    for (size_t i = 0; i < points; ++i) {
        poise_vec3 p = markers->position[i];
        bool is_seen = p.x == p.x && p.y == p.y && p.z == p.z;
        float residual = markers->residual ? markers->residual[i] : 0.0f;
        unsigned char *to = bytes + filled;
        store_single(to, is_seen ? single_of(p.x, &lost) : 0.0f);
        store_single(to + 4, is_seen ? single_of(p.y, &lost) : 0.0f);
        store_single(to + 8, is_seen ? single_of(p.z, &lost) : 0.0f);
        store_single(to + 12, is_seen ? (float)code_of(residual >= 0.0f ? residual : 0.0f, unit) : -1.0f);
        filled += 16;
        bool ends_frame = analog && (i + 1) % (size_t)markers->count == 0;
        if (filled == sizeof bytes || ends_frame) {
            pz_put_bytes(output, bytes, filled);
            filled = 0;
        }
        if (ends_frame) {
            write_singles(output, analog->analog + words * frame++, words);
        }
    }
    pz_put_bytes(output, bytes, filled);
    return lost;
}

// ---- The file ------------------------------------------------------------------------------------------------------------

typedef struct numbers {
    float rate, unit;
    unsigned first, last; // of the header: 65535 where they do not fit
    uint32_t long_first, long_last;
} numbers;

static numbers numbers_of(const poise_markers *markers, pz_output *output)
{
    uint32_t first = (uint32_t)(markers->first_frame < 0 ? 1 : markers->first_frame);
    if (markers->first_frame < 0) {
        pz_output_warn(output, "frame numbers of a C3D file are not negative; %d becomes 1", markers->first_frame);
    }
    uint32_t last = first + (uint32_t)markers->frames - 1;
    numbers n = {.rate = (float)markers->rate, .unit = residual_unit(markers, output)};
    if ((double)n.rate != markers->rate) {
        pz_output_warn(output, "the rate %g is rounded to single precision", markers->rate);
    }
    bool is_empty = markers->frames == 0; // header: from 1 to 0
    n.long_first = is_empty ? 1 : first;
    n.long_last = is_empty ? 0 : last;
    n.first = n.long_first < 0xffff ? n.long_first : 0xffff;
    n.last = n.long_last < 0xffff ? n.long_last : 0xffff;
    return n;
}

static void write_scale(poise_scale scale, pz_output *output)
{
    static const char *const screen[4][2] = {{"", ""}, {"+Y", "+X"}, {"+X", "+Y"}, {"+X", "+Z"}};
    const char *unit = scale.metres > 0.0 ? pz_unit_name(scale.metres) : NULL;
    if (unit) {
        write_text(output, POINT, "UNITS", unit);
    } else if (scale.metres > 0.0) {
        pz_output_warn(output, "a unit of %g metres has no name in a C3D file and is left out", scale.metres);
    }
    if (scale.up >= POISE_UP_X && scale.up <= POISE_UP_Z) {
        write_text(output, POINT, "X_SCREEN", screen[scale.up][0]);
        write_text(output, POINT, "Y_SCREEN", screen[scale.up][1]);
    }
}

// ---- What is carried -----------------------------------------------------------------------------------------------------

// What goes with the points, as far as it still fits them.
typedef struct carrying {
    const poise_carried *analog; // NULL: no analog samples
    const pz_c3d_rest *rest;     // NULL: nothing
    const float *rotation;       // NULL: no poses of segments
    size_t rotation_start;       // where the number of their first block is to be stored; 0: nowhere
    int left_out;                // parameters that the section has no room for
} carrying;

static carrying carrying_of(const poise_file *file, pz_output *output)
{
    const poise_carried *c = file->carried && file->carried->format == POISE_FORMAT_C3D ? file->carried : NULL;
    carrying made = {.rest = c ? c->rest : NULL};
    if (!c) {
        return made;
    }
    bool fits = c->frames == file->markers->frames && file->markers->count > 0;
    made.analog = c->analog && fits ? c : NULL;
    made.rotation = fits && made.rest->factor == 1 && made.rest->turns == 0 ? made.rest->rotation : NULL;
    if (c->channel_count > 0 && !made.analog) {
        pz_output_warn(output, "analog samples of %d channels are left out: they belong to the frames as recorded",
                       c->channel_count);
    }
    if (c->rotations > 0 && !made.rotation) {
        pz_output_warn(output, "poses of %d segments are left out: they belong to the frames, unit and axes as recorded",
                       c->rotations);
    }
    return made;
}

// Is this parameter written from the points themselves, or without a meaning for them?
static bool is_own(const carrying *c, const char *group, const pz_c3d_record *record, int points)
{
    static const char *const own[] = {"POINT USED",
                                      "POINT FRAMES",
                                      "POINT LONG_FRAMES",
                                      "POINT DATA_START",
                                      "POINT SCALE",
                                      "POINT RATE",
                                      "POINT UNITS",
                                      "POINT X_SCREEN",
                                      "POINT Y_SCREEN",
                                      "ANALOG USED",
                                      "TRIAL ACTUAL_START_FIELD",
                                      "TRIAL ACTUAL_END_FIELD"};
    size_t length = strlen(group);
    for (size_t i = 0; i < sizeof own / sizeof own[0]; ++i) {
        if (strncmp(own[i], group, length) == 0 && own[i][length] == ' ' &&
            pz_word_is_like(record->name, own[i] + length + 1)) {
            return true;
        }
    }
    bool is_point = strcmp(group, "POINT") == 0;
    bool is_label = record->name.length >= 6 && pz_word_is_like((pz_word){record->name.text, 6}, "LABELS");
    bool is_description = record->name.length >= 12 && pz_word_is_like((pz_word){record->name.text, 12}, "DESCRIPTIONS");
    return (is_point && (is_label || (is_description && points != c->rest->points))) ||
           (strcmp(group, "ANALOG") == 0 && !c->analog);
}

// Places of force plates, in the unit and axes of the points.
static void write_places(pz_output *output, const pz_c3d_record *record, const pz_c3d_rest *rest, int turns)
{
    unsigned char bytes[4];
    for (size_t i = 0; i < record->count; ++i) {
        size_t from = i / 3 * 3 + (i % 3 + 3 - (size_t)turns) % 3;
        double value = from < record->count ? pz_c3d_number(record, PZ_C3D_INTEL, from) * rest->factor : 0;
        store_single(bytes, (float)value);
        pz_put_bytes(output, bytes, sizeof bytes);
    }
}

static void write_name(pz_output *output, pz_word name, int id)
{
    write_byte(output, (int)name.length);
    write_byte(output, id);
    pz_put_bytes(output, name.text, name.length);
}

static void write_comment(pz_output *output, pz_word comment)
{
    write_byte(output, (int)comment.length);
    pz_put_bytes(output, comment.text, comment.length);
}

static void write_record(pz_output *output, carrying *c, int group, const pz_c3d_record *record, bool is_plate)
{
    size_t size = record->count * (size_t)pz_c3d_value_size(record->type);
    if (output->size - PZ_C3D_BLOCK + size + record->name.length + record->comment.length + 16 > SECTION_MOST ||
        record->name.length > 127) {
        c->left_out += 1;
        return;
    }
    write_name(output, record->name, group);
    write_16(output, (unsigned)(2 + 2 + (size_t)record->dimensions + size + 1 + record->comment.length));
    write_byte(output, record->type);
    write_byte(output, record->dimensions);
    pz_put_bytes(output, record->dimension, (size_t)record->dimensions);
    bool is_corner = is_plate && record->type == 4 && pz_word_is_like(record->name, "CORNERS");
    bool is_origin = is_plate && record->type == 4 && pz_word_is_like(record->name, "ORIGIN");
    if ((is_corner || is_origin) && (c->rest->factor != 1 || c->rest->turns != 0)) {
        write_places(output, record, c->rest, is_corner ? c->rest->turns : 0);
    } else {
        pz_put_bytes(output, record->values, size);
    }
    write_comment(output, record->comment);
}

// All parameters of one group of the file, but for those that are written from the points.
static void write_group_rest(pz_output *output, carrying *c, int number, const char *name, int id, int points)
{
    const pz_c3d_rest *rest = c->rest;
    bool is_rotation = strcmp(name, "ROTATION") == 0;
    for (size_t i = 0; rest && i < rest->record_count; ++i) {
        const pz_c3d_record *record = &rest->records[i];
        if (record->is_group || record->group != number || is_own(c, name, record, points)) {
            continue;
        }
        size_t before = output->size;
        write_record(output, c, id, record, strcmp(name, "FORCE_PLATFORM") == 0);
        if (is_rotation && record->type == 2 && pz_word_is_like(record->name, "DATA_START") && output->size > before) {
            c->rotation_start = output->size - 3 - record->comment.length;
        }
    }
}

// The number of a group in the file; 0: it has none of this name.
static int number_of(const carrying *c, const char *name)
{
    for (size_t i = 0; c->rest && i < c->rest->record_count; ++i) {
        if (c->rest->records[i].is_group && pz_word_is_like(c->rest->records[i].name, name)) {
            return c->rest->records[i].group;
        }
    }
    return 0;
}

// Groups other than those that every file has.
static void write_other_groups(pz_output *output, carrying *c, int points)
{
    int id = TRIAL;
    for (size_t i = 0; c->rest && i < c->rest->record_count && id < 126; ++i) {
        const pz_c3d_record *group = &c->rest->records[i];
        char name[128] = "";
        for (size_t k = 0; k < group->name.length && k + 1 < sizeof name; ++k) {
            name[k] = to_upper(group->name.text[k]);
        }
        bool is_lost = strcmp(name, "ROTATION") == 0 && !c->rotation;
        if (group->is_group && !is_lost && group->name.length < 128 && strcmp(name, "POINT") != 0 &&
            strcmp(name, "ANALOG") != 0 && strcmp(name, "TRIAL") != 0) {
            write_name(output, group->name, -++id);
            write_16(output, (unsigned)(3 + group->comment.length));
            write_comment(output, group->comment);
            write_group_rest(output, c, group->group, name, id, points);
        }
    }
    if (c->left_out > 0) {
        pz_output_warn(output, "%d parameters are left out: the section of a C3D file has no room for them", c->left_out);
    }
}

// ---- The section ---------------------------------------------------------------------------------------------------------

// The parameter section; returns where the number of the first data block is to be stored.
static size_t write_section(const poise_markers *markers, const numbers *n, carrying *c, pz_output *output)
{
    const unsigned char head[4] = {1, 0x50, 0, PZ_C3D_INTEL};
    pz_put_bytes(output, head, sizeof head);
    write_group(output, POINT, "POINT");
    write_integer(output, POINT, "DATA_START", 0);
    size_t data_start = output->size - 3;
    write_integer(output, POINT, "USED", (unsigned)markers->count);
    write_integer(output, POINT, "FRAMES", markers->frames < 0xffff ? (unsigned)markers->frames : 0xffff);
    if (markers->frames > 0xffff) {
        write_single(output, POINT, "LONG_FRAMES", (float)markers->frames);
    }
    write_single(output, POINT, "SCALE", -n->unit);
    write_single(output, POINT, "RATE", n->rate);
    write_scale(markers->scale, output);
    write_labels(markers, output);
    write_group_rest(output, c, number_of(c, "POINT"), "POINT", POINT, markers->count);
    write_group(output, ANALOG, "ANALOG");
    write_integer(output, ANALOG, "USED", c->analog ? (unsigned)c->analog->channel_count : 0);
    write_group_rest(output, c, number_of(c, "ANALOG"), "ANALOG", ANALOG, markers->count);
    write_group(output, TRIAL, "TRIAL");
    write_long(output, TRIAL, "ACTUAL_START_FIELD", n->long_first);
    write_long(output, TRIAL, "ACTUAL_END_FIELD", n->long_last);
    write_group_rest(output, c, number_of(c, "TRIAL"), "TRIAL", TRIAL, markers->count);
    write_other_groups(output, c, markers->count);
    do {
        write_byte(output, 0);
    } while (!output->failed && output->size % PZ_C3D_BLOCK != 0);
    return data_start;
}

static void store_16(unsigned char *to, unsigned value)
{
    to[0] = (unsigned char)(value & 0xff);
    to[1] = (unsigned char)(value >> 8 & 0xff);
}

static void fill_header(const poise_markers *markers, const numbers *n, const carrying *c, unsigned data_block,
                        unsigned char *header)
{
    if (c->analog) {
        store_16(header + 4, (unsigned)(c->analog->channel_count * c->analog->samples));
        store_16(header + 18, (unsigned)c->analog->samples);
    }
    if (c->rest) {
        memcpy(header + PZ_C3D_BLOCK - sizeof c->rest->events, c->rest->events, sizeof c->rest->events);
    }
    header[0] = 2; // block of the parameters
    header[1] = 0x50;
    store_16(header + 2, (unsigned)markers->count);
    store_16(header + 6, n->first);
    store_16(header + 8, n->last);
    store_single(header + 12, -n->unit);
    store_16(header + 16, data_block);
    store_single(header + 20, n->rate);
}

// Poses of segments, from a block of their own on.
static void write_rotations(const carrying *c, const poise_carried *carried, pz_output *output)
{
    if (!c->rotation || c->rotation_start == 0) {
        return;
    }
    while (!output->failed && output->size % PZ_C3D_BLOCK != 0) {
        write_byte(output, 0);
    }
    if (!output->failed) {
        store_16(output->bytes + c->rotation_start, (unsigned)(output->size / PZ_C3D_BLOCK + 1));
    }
    write_singles(output, c->rotation, (size_t)carried->frames * (size_t)c->rest->rotation_stride);
}

static poise_status write_c3d(const poise_file *file, pz_output *output)
{
    const poise_markers *markers = file->markers;
    if (!markers) {
        return pz_error_set(output->error, POISE_ERROR_ARGUMENT, "a C3D file holds markers, and there are none");
    }
    if (markers->count > 0xffff || !((float)markers->rate > 0.0f) || !((float)markers->rate <= FLT_MAX)) {
        return pz_error_set(output->error, POISE_ERROR_UNSUPPORTED,
                            "a C3D file holds up to 65535 points at a rate above 0; these are %d at %g", markers->count,
                            markers->rate);
    }
    unsigned char header[PZ_C3D_BLOCK] = {0};
    numbers n = numbers_of(markers, output);
    carrying c = carrying_of(file, output);
    pz_put_bytes(output, header, sizeof header);
    size_t data_start = write_section(markers, &n, &c, output);
    if (output->failed) {
        return POISE_OK; // out of memory, which the caller reports
    }
    unsigned blocks = (unsigned)(output->size / PZ_C3D_BLOCK) - 1;
    fill_header(markers, &n, &c, blocks + 2, output->bytes);
    output->bytes[PZ_C3D_BLOCK + 2] = (unsigned char)blocks;
    store_16(output->bytes + data_start, blocks + 2);
    losses lost = write_points(markers, n.unit, c.analog, output);
    write_rotations(&c, file->carried, output);
    if (lost.too_large > 0) {
        return pz_error_set(output->error, POISE_ERROR_UNSUPPORTED, "%d coordinates are too large for single precision",
                            (int)lost.too_large);
    }
    if (lost.rounded > 0) {
        pz_output_warn(output, "%d coordinates are rounded to single precision", (int)lost.rounded);
    }
    return POISE_OK;
}

const pz_format_row pz_c3d_format = {.name = "c3d", .extension = ".c3d", .read = pz_c3d_read, .write = write_c3d};
