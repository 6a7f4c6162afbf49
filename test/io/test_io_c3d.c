// C3D: small files of our own in every order and kind of number, round trips, hostile bytes.
#include "io/c3d/c3d.h"
#include "support/io_check.h"

#include <math.h>

// ---- Files of our own ----------------------------------------------------------------------------------------------------

typedef struct forge {
    unsigned char bytes[64 * PZ_C3D_BLOCK];
    size_t size;
    pz_c3d_order order;
} forge;

static void forge_16(forge *f, size_t at, unsigned value)
{
    f->bytes[at] = (unsigned char)(f->order == PZ_C3D_MIPS ? value >> 8 : value & 0xff);
    f->bytes[at + 1] = (unsigned char)(f->order == PZ_C3D_MIPS ? value & 0xff : value >> 8);
}

static void forge_single(forge *f, size_t at, float value)
{
    if (f->order == PZ_C3D_DEC) {
        value *= 4.0f; // VAX F counts its exponent from 129
    }
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    unsigned char b[4] = {(unsigned char)bits, (unsigned char)(bits >> 8), (unsigned char)(bits >> 16),
                          (unsigned char)(bits >> 24)};
    static const int place[3][4] = {{0, 1, 2, 3}, {2, 3, 0, 1}, {3, 2, 1, 0}};
    for (int i = 0; i < 4; ++i) {
        f->bytes[at + (size_t)i] = b[place[f->order - PZ_C3D_INTEL][i]];
    }
}

static void forge_record(forge *f, int id, bool is_locked, const char *name, int type, int dimensions,
                         const unsigned char *dimension, const void *values, size_t size, const char *description)
{
    size_t length = strlen(name), said = strlen(description);
    f->bytes[f->size] = (unsigned char)(is_locked ? -(int)length : (int)length);
    f->bytes[f->size + 1] = (unsigned char)id;
    memcpy(f->bytes + f->size + 2, name, length);
    size_t way = f->size + 2 + length;
    f->size = way + 2;
    if (id > 0) {
        f->bytes[f->size++] = (unsigned char)type;
        f->bytes[f->size++] = (unsigned char)dimensions;
        for (int i = 0; i < dimensions; ++i) {
            f->bytes[f->size++] = dimension[i];
        }
        memcpy(f->bytes + f->size, values, size);
        f->size += size;
    }
    f->bytes[f->size++] = (unsigned char)said;
    memcpy(f->bytes + f->size, description, said);
    f->size += said;
    forge_16(f, way, (unsigned)(f->size - way));
}

// What differs from file to file.
typedef struct recipe {
    pz_c3d_order order;
    bool is_float;
    int channels, samples;
    int parameter_block;
    const char *unit, *screen;
    int labels;    // of 3; 4: one too many; 2: one in LABELS, one in LABELS2
    unsigned last; // of the header; frames are 4, from 5 on
    uint32_t trial_first, trial_last;
    float long_frames;
} recipe;

static recipe plain(void)
{
    return (recipe){.order = PZ_C3D_INTEL, .is_float = true, .parameter_block = 2, .unit = "mm", .labels = 3, .last = 8};
}

static float coordinate(int frame, int point, int axis)
{
    return (float)(frame * 100 + point * 10 + axis) - 37.0f;
}

static void forge_data(forge *f, const recipe *r)
{
    size_t word = r->is_float ? 4 : 2;
    for (int frame = 0; frame < 4; ++frame) {
        for (int point = 0; point < 3; ++point) {
            for (int axis = 0; axis < 4; ++axis, f->size += word) {
                bool is_gap = frame == 1 && point == 2;
                float value = axis < 3 ? coordinate(frame, point, axis) : is_gap ? -1.0f : (float)(0x500 + point);
                if (r->is_float) {
                    forge_single(f, f->size, value);
                } else {
                    forge_16(f, f->size, (unsigned)(int)(axis < 3 ? 2 * value : value) & 0xffff); // scale one half
                }
            }
        }
        for (int i = 0; i < r->channels * r->samples; ++i, f->size += word) {
            if (r->is_float) {
                forge_single(f, f->size, 1e6f);
            } else {
                forge_16(f, f->size, 12345);
            }
        }
    }
}

static void forge_labels(forge *f, int labels)
{
    static const unsigned char dimension[] = {6, 3}, one[] = {6, 1}, four[] = {6, 4};
    if (labels == 2) {
        forge_record(f, 7, false, "LABELS2", -1, 2, one, "s:two ", 6, "");
        forge_record(f, 7, false, "LABELS", -1, 2, one, "s:one ", 6, "labels");
    } else if (labels > 0) {
        forge_record(f, 7, true, "LABELS", -1, 2, labels == 3 ? dimension : four, "s:one s:two three\0extra ",
                     (size_t)(6 * labels), "labels");
    }
}

static forge forge_file(recipe r)
{
    forge f = {.order = r.order};
    size_t start = (size_t)(r.parameter_block - 1) * PZ_C3D_BLOCK;
    unsigned char bytes[4];
    f.size = start + 4;
    f.bytes[start + 3] = (unsigned char)r.order;
    // parameters before their group, ids that are not in order, names in small letters
    if (r.unit) {
        unsigned char length = (unsigned char)strlen(r.unit);
        forge_record(&f, 7, true, "units", -1, 1, &length, r.unit, length, "");
    }
    forge_record(&f, -7, true, "POINT", 0, 0, NULL, NULL, 0, "three-dimensional points");
    forge_labels(&f, r.labels);
    if (r.screen) {
        unsigned char two = 2;
        forge_record(&f, 7, false, "Y_SCREEN", -1, 1, &two, r.screen, 2, "");
    }
    if (r.trial_last > 0) {
        unsigned char two = 2;
        forge t = {.order = r.order};
        forge_record(&f, -12, false, "TRIAL", 0, 0, NULL, NULL, 0, "");
        forge_16(&t, 0, r.trial_first & 0xffff), forge_16(&t, 2, r.trial_first >> 16);
        forge_record(&f, 12, false, "ACTUAL_START_FIELD", 2, 1, &two, t.bytes, 4, "");
        forge_16(&t, 0, r.trial_last & 0xffff), forge_16(&t, 2, r.trial_last >> 16);
        forge_record(&f, 12, false, "ACTUAL_END_FIELD", 2, 1, &two, t.bytes, 4, "");
    }
    if (r.long_frames > 0) {
        forge t = {.order = r.order};
        forge_single(&t, 0, r.long_frames);
        memcpy(bytes, t.bytes, 4);
        forge_record(&f, 7, false, "LONG_FRAMES", 4, 0, NULL, bytes, 4, "");
    }
    f.size = (f.size / PZ_C3D_BLOCK + 1) * PZ_C3D_BLOCK;
    unsigned data_block = (unsigned)(f.size / PZ_C3D_BLOCK) + 1;
    f.bytes[start + 2] = (unsigned char)(data_block - (unsigned)r.parameter_block);
    f.bytes[0] = (unsigned char)r.parameter_block;
    f.bytes[1] = 0x50;
    forge_16(&f, 2, 3);
    forge_16(&f, 4, (unsigned)(r.channels * r.samples));
    forge_16(&f, 6, 5);
    forge_16(&f, 8, r.last);
    forge_single(&f, 12, r.is_float ? -0.5f : 0.5f);
    forge_16(&f, 16, data_block);
    forge_16(&f, 18, (unsigned)r.samples);
    forge_single(&f, 20, 120.0f);
    forge_data(&f, &r);
    return f;
}

static pz_c3d describe(io_bytes file, poise_file *warnings, poise_status *status)
{
    poise_read_options options = io_options(POISE_FORMAT_C3D, NULL);
    pz_input input = {.bytes = file.bytes, .size = file.size, .options = &options, .file = warnings};
    pz_c3d c3d;
    *status = pz_c3d_describe(&input, &c3d);
    pz_pool_release(&input.pool);
    return c3d;
}

static void check_forged(const poise_markers *m)
{
    ck_assert(m->frames == 4 && m->count == 3 && m->first_frame == 5 && m->rate == 120.0);
    for (int frame = 0; frame < 4; ++frame) {
        for (int i = 0; i < 3; ++i) {
            poise_vec3 p = m->position[3 * frame + i];
            bool is_gap = frame == 1 && i == 2;
            ck_assert_int_eq(poise_markers_seen(m, frame, i), !is_gap);
            ck_assert(is_gap ||
                      (p.x == coordinate(frame, i, 0) && p.y == coordinate(frame, i, 1) && p.z == coordinate(frame, i, 2)));
            ck_assert_float_eq(m->residual[3 * frame + i], is_gap ? -1.0f : 0.5f * (float)i);
        }
    }
}

TEST(every_order_and_kind_of_number_is_read_past_analog_samples_from_any_block)
{
    for (int order = PZ_C3D_INTEL; order <= PZ_C3D_MIPS; ++order) {
        for (int variant = 0; variant < 8; ++variant) {
            recipe r = plain();
            r.order = (pz_c3d_order)order;
            r.is_float = variant & 1;
            r.channels = variant & 2 ? 3 : 0;
            r.samples = variant & 2 ? 5 : 0;
            r.parameter_block = variant & 4 ? 11 : 2;
            forge f = forge_file(r);
            poise_file *file = io_read(f.bytes, f.size, POISE_FORMAT_UNKNOWN, NULL);
            ck_assert_int_eq(file->format, POISE_FORMAT_C3D);
            ck_assert_int_eq(file->warning_count, variant & 2 ? 1 : 0);
            check_forged(file->markers);
            ck_assert_str_eq(file->markers->label[1], "s:two");
            ck_assert_str_eq(file->markers->label[2], "three");
            poise_file_destroy(file);
        }
    }
}

TEST(labels_may_be_few_many_or_in_several_lists)
{
    static const struct {
        int labels;
        const char *label[3];
    } rows[] = {{0, {"1", "2", "3"}}, {2, {"s:one", "s:two", "3"}}, {4, {"s:one", "s:two", "three"}}};
    for (size_t k = 0; k < TEST_COUNT(rows); ++k) {
        recipe r = plain();
        r.labels = rows[k].labels;
        forge f = forge_file(r);
        poise_file *file = io_read(f.bytes, f.size, POISE_FORMAT_C3D, NULL);
        check_forged(file->markers);
        for (int i = 0; i < 3; ++i) {
            ck_assert_str_eq(file->markers->label[i], rows[k].label[i]);
        }
        ck_assert(io_warned(file, 0, "labels for 3 points"));
        ck_assert_int_eq(file->warning_count, 1);
        poise_file_destroy(file);
    }
}

TEST(units_and_the_upward_axis_are_read)
{
    static const struct {
        const char *unit;
        double metres;
    } units[] = {{"mm", 0.001},  {"MM  ", 0.001},  {"m", 1.0},       {"Metres", 1.0}, {"mete", 1.0}, {"cm", 0.01},
                 {"in", 0.0254}, {"inch", 0.0254}, {"feet", 0.3048}, {"dm", 0.1},     {"deg", 0.0},  {"", 0.0}};
    for (size_t i = 0; i < TEST_COUNT(units); ++i) {
        recipe r = plain();
        r.unit = units[i].unit;
        forge f = forge_file(r);
        poise_file *file = io_read(f.bytes, f.size, POISE_FORMAT_C3D, NULL);
        ck_assert_msg(file->markers->scale.metres == units[i].metres, "%s", units[i].unit);
        ck_assert_int_eq(io_warned(file, 0, "no unit of length"), units[i].metres == 0.0);
        poise_file_destroy(file);
    }
    static const struct {
        const char *screen;
        poise_up up;
    } screens[] = {{"+Z", POISE_UP_Z},       {"+Y", POISE_UP_Y}, {"+X", POISE_UP_X},
                   {"-Z", POISE_UP_UNKNOWN}, {"Y ", POISE_UP_Y}, {NULL, POISE_UP_UNKNOWN}};
    for (size_t i = 0; i < TEST_COUNT(screens); ++i) {
        recipe r = plain();
        r.screen = screens[i].screen;
        forge f = forge_file(r);
        poise_file *file = io_read(f.bytes, f.size, POISE_FORMAT_C3D, NULL);
        ck_assert_int_eq(file->markers->scale.up, screens[i].up);
        poise_file_destroy(file);
    }
}

TEST(long_recordings_are_counted_by_trial_or_long_frames)
{
    static const struct {
        unsigned last;
        uint32_t trial_first, trial_last;
        float long_frames;
        int first, announced; // frames
    } rows[] = {
        {8, 0, 0, 0, 5, 4},         // the header
        {8, 5, 8, 0, 5, 4},         // both agree
        {8, 1, 99, 0, 5, 4},        // they do not: the header
        {8, 5, 65544, 0, 5, 65540}, // the low 16 bits agree
        {65535, 5, 8, 0, 5, 4},     // the header is full
        {65535, 70000, 70003, 0, 70000, 4},
        {8, 0, 0, 300000.0f, 5, 300000},
    };
    for (size_t i = 0; i < TEST_COUNT(rows); ++i) {
        recipe r = plain();
        r.last = rows[i].last;
        r.trial_first = rows[i].trial_first;
        r.trial_last = rows[i].trial_last;
        r.long_frames = rows[i].long_frames;
        forge f = forge_file(r);
        poise_file warnings = {0};
        poise_status status;
        pz_c3d c = describe((io_bytes){f.bytes, f.size}, &warnings, &status);
        ck_assert_int_eq(status, POISE_OK);
        ck_assert_msg(c.frames == rows[i].announced && c.first_frame == rows[i].first, "row %zu: %d frames from %d", i,
                      (int)c.frames, c.first_frame);
        poise_file *file = io_read(f.bytes, f.size, POISE_FORMAT_C3D, NULL); // four are there
        ck_assert_int_eq(file->markers->frames, 4);
        ck_assert_int_eq(io_warned(file, 0, "the file ends after 4"), rows[i].announced > 4);
        poise_file_destroy(file);
    }
}

TEST(errors_name_the_byte)
{
    forge f = forge_file(plain());
    io_refused(f.bytes, 511, POISE_FORMAT_C3D, NULL, 0, "511 bytes are less than the 512");
    forge g = f;
    g.bytes[1] = 0x51;
    io_refused(g.bytes, g.size, POISE_FORMAT_C3D, NULL, 0, "bytes 0 and 1 are 2 and 81");
    g = f;
    g.bytes[0] = 60;
    io_refused(g.bytes, g.size, POISE_FORMAT_C3D, NULL, 0, "the parameters begin at byte 30208");
    g = f;
    g.bytes[16] = 0, g.bytes[17] = 0;
    io_refused(g.bytes, g.size, POISE_FORMAT_C3D, NULL, 0, "says where the data begins");
    io_refused(f.bytes, 1024, POISE_FORMAT_C3D, NULL, 0, "the data begins at byte 1024, the file ends at byte 1024");
}

TEST(odd_headers_are_mended_with_a_warning)
{
    forge f = forge_file(plain()), g = f;
    g.bytes[PZ_C3D_BLOCK + 3] = 0;
    poise_file *file = io_read(g.bytes, g.size, POISE_FORMAT_C3D, NULL);
    ck_assert(io_warned(file, 0, "processor type 0"));
    check_forged(file->markers);
    poise_file_destroy(file);
    g = f;
    memset(g.bytes + 20, 0, 4);
    file = io_read(g.bytes, g.size, POISE_FORMAT_C3D, NULL);
    ck_assert(io_warned(file, 0, "no frame rate; 1 is taken"));
    ck_assert_double_eq(file->markers->rate, 1.0);
    poise_file_destroy(file);
    g = f;
    memset(g.bytes + 12, 0, 4);
    file = io_read(g.bytes, g.size, POISE_FORMAT_C3D, NULL);
    ck_assert(io_warned(file, 0, "no scale; 1 is taken"));
    poise_file_destroy(file);
    g = f;
    forge_16(&g, 8, 3); // ends before it begins
    file = io_read(g.bytes, g.size, POISE_FORMAT_C3D, NULL);
    ck_assert(io_warned(file, 0, "the last frame, 3, comes before the first, 5"));
    ck_assert_int_eq(file->markers->frames, 0);
    poise_file_destroy(file);
}

TEST(a_small_file_survives_every_cut_and_every_failing_request)
{
    for (int order = PZ_C3D_INTEL; order <= PZ_C3D_MIPS; ++order) {
        recipe r = plain();
        r.order = (pz_c3d_order)order;
        r.trial_first = 5, r.trial_last = 8;
        r.labels = 2;
        forge f = forge_file(r);
        io_survives_cuts(f.bytes, f.size, 1, POISE_FORMAT_C3D, NULL);
        io_reads_without_memory(f.bytes, f.size, POISE_FORMAT_C3D, NULL);
    }
}

// ---- Writing -------------------------------------------------------------------------------------------------------------

static poise_markers *markers_of(int frames, int count, double rate, const char *const *labels)
{
    poise_markers *markers = NULL;
    ck_assert_int_eq(poise_markers_create(frames, count, rate, labels, NULL, &markers, NULL), POISE_OK);
    uint32_t state = 1;
    for (size_t i = 0; i < (size_t)frames * (size_t)count; ++i) {
        state = state * 1664525u + 1013904223u;
        float x = (float)(int32_t)state / 1e6f;
        if (state >> 28 != 3) {
            markers->position[i] = (poise_vec3){(double)x, (double)(-x / 3), (double)(x * 7)};
        }
    }
    return markers;
}

static void check_round_trip(poise_markers *markers, int warnings)
{
    poise_file file = {.markers = markers};
    io_bytes bytes = io_write(&file, POISE_FORMAT_C3D, warnings);
    poise_file *back = io_read(bytes.bytes, bytes.size, POISE_FORMAT_UNKNOWN, NULL);
    ck_assert_int_eq(back->format, POISE_FORMAT_C3D);
    io_same_markers(markers, back->markers);
    // what was read is written to the same bytes
    io_bytes again = io_write(back, POISE_FORMAT_C3D, 0);
    ck_assert_uint_eq(again.size, bytes.size);
    ck_assert(memcmp(again.bytes, bytes.bytes, bytes.size) == 0);
    poise_bytes_release(NULL, again.bytes);
    poise_bytes_release(NULL, bytes.bytes);
    poise_file_destroy(back);
}

TEST(written_files_read_back_to_the_same_bits)
{
    static const struct {
        int frames, count, first;
        double metres;
        poise_up up;
    } rows[] = {
        {5, 3, 1, 0.001, POISE_UP_Z},  {0, 3, 1, 1.0, POISE_UP_Y},  {4, 0, 9, 0.01, POISE_UP_X},
        {1, 1, 0, 0.0254, 0},          {3, 255, 65530, 0.3048, 0},  {2, 256, 65535, 0.001, 0},
        {1, 1000, 70000, 1.0, 0},      {65535, 1, 1, 0.001, 0},     {65536, 1, 1, 0.001, POISE_UP_Y},
        {140000, 2, 100000, 0.001, 0}, {65537, 1, 65536, 0.001, 0},
    };
    for (size_t i = 0; i < TEST_COUNT(rows); ++i) {
        poise_markers *markers = markers_of(rows[i].frames, rows[i].count, 59.5, NULL);
        markers->first_frame = rows[i].first;
        markers->scale = (poise_scale){rows[i].metres, rows[i].up};
        check_round_trip(markers, 0);
        poise_markers_destroy(markers);
    }
}

TEST(residuals_that_are_multiples_of_a_single_come_back)
{
    static const float units[] = {1.0f, 0.1f, 0.0254f, 1e-6f, 0.281182f, 3.7e4f};
    for (size_t k = 0; k < TEST_COUNT(units); ++k) {
        for (int stride = 1; stride <= 5; stride += 2) {
            poise_markers *markers = markers_of(50, 4, 100, NULL);
            markers->scale.metres = 0.001;
            float residual[200];
            markers->residual = residual;
            for (int i = 0; i < 200; ++i) {
                bool is_seen = poise_markers_seen(markers, i / 4, i % 4);
                residual[i] = is_seen ? (float)((double)(i * stride % 200) * (double)units[k]) : -1.0f;
            }
            check_round_trip(markers, 0);
            poise_markers_destroy(markers);
        }
    }
}

TEST(what_a_c3d_file_cannot_hold_is_told)
{
    poise_markers *markers = markers_of(300, 1, 100, NULL);
    poise_file file = {.markers = markers};
    markers->scale.metres = 0.001;
    markers->position[7].x = 0.1; // no single
    io_write_warns(&file, POISE_FORMAT_C3D, "1 coordinates are rounded to single precision");
    markers->position[7].x = 1e39;
    io_write_refused(&file, POISE_FORMAT_C3D, "1 coordinates are too large");
    markers->position[7].x = INFINITY;
    io_write_refused(&file, POISE_FORMAT_C3D, "1 coordinates are too large");
    markers->position[7].x = 0.0;
    markers->rate = 119.88;
    io_write_warns(&file, POISE_FORMAT_C3D, "rate 119.88 is rounded");
    markers->rate = 1e-60;
    io_write_refused(&file, POISE_FORMAT_C3D, "rate above 0");
    markers->rate = 100;
    markers->scale.metres = 0.123;
    io_write_warns(&file, POISE_FORMAT_C3D, "a unit of 0.123 metres has no name");
    markers->scale.metres = 0.0;
    markers->first_frame = -5;
    io_write_warns(&file, POISE_FORMAT_C3D, "-5 becomes 1");
    markers->first_frame = 1;
    float residual[300];
    markers->residual = residual;
    for (int i = 0; i < 300; ++i) {
        residual[i] = (float)sqrt(i);
    }
    io_write_warns(&file, POISE_FORMAT_C3D, "residuals are rounded");
    poise_markers_destroy(markers);
    io_write_refused(&(poise_file){0}, POISE_FORMAT_C3D, "there are none");
    markers = markers_of(0, 65536, 100, NULL);
    io_write_refused(&(poise_file){.markers = markers}, POISE_FORMAT_C3D, "up to 65535 points");
    poise_markers_destroy(markers);
}

TEST(long_and_many_labels_are_cut_with_a_warning)
{
    char long_label[301];
    memset(long_label, 'x', 300);
    long_label[300] = '\0';
    const char *labels[] = {long_label, "b"};
    poise_markers *markers = markers_of(1, 2, 100, labels);
    poise_file file = {.markers = markers};
    io_write_warns(&file, POISE_FORMAT_C3D, "1 labels are longer");
    io_bytes bytes = io_write(&file, POISE_FORMAT_C3D, -1);
    poise_file *back = io_read(bytes.bytes, bytes.size, POISE_FORMAT_C3D, NULL);
    ck_assert_uint_eq(strlen(back->markers->label[0]), 255);
    ck_assert_str_eq(back->markers->label[1], "b");
    poise_file_destroy(back);
    poise_bytes_release(NULL, bytes.bytes);
    poise_markers_destroy(markers);
    markers = markers_of(1, 65535, 100, NULL); // 5 letters each: more than the section holds
    file.markers = markers;
    io_write_warns(&file, POISE_FORMAT_C3D, "of the 65535 labels");
    bytes = io_write(&file, POISE_FORMAT_C3D, -1);
    back = io_read(bytes.bytes, bytes.size, POISE_FORMAT_C3D, NULL);
    back->markers->scale = markers->scale;
    io_same_markers(markers, back->markers); // labels left out are numbers again
    poise_file_destroy(back);
    poise_bytes_release(NULL, bytes.bytes);
    poise_markers_destroy(markers);
}

TEST(writing_without_memory_fails_cleanly)
{
    poise_markers *markers = markers_of(2000, 20, 100, NULL);
    io_writes_without_memory(&(poise_file){.markers = markers}, POISE_FORMAT_C3D);
    poise_markers_destroy(markers);
}

TEST(time_grows_with_the_size)
{
    poise_markers *small = markers_of(5000, 40, 100, NULL), *large = markers_of(50000, 40, 100, NULL);
    io_bytes a = io_write(&(poise_file){.markers = small}, POISE_FORMAT_C3D, -1);
    io_bytes b = io_write(&(poise_file){.markers = large}, POISE_FORMAT_C3D, -1);
    io_is_linear(a, b, POISE_FORMAT_C3D, NULL);
    poise_bytes_release(NULL, a.bytes);
    poise_bytes_release(NULL, b.bytes);
    poise_markers_destroy(small);
    poise_markers_destroy(large);
}
