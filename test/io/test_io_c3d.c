// C3D: small files of our own in every order and kind of number, round trips, hostile bytes.
#include "support/c3d_forge.h"

#include <math.h>

#include "support/c3d_facts.h"
#include "support/io_check.h"

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
            ck_assert(is_gap || (p.x == forge_coordinate(frame, i, 0) && p.y == forge_coordinate(frame, i, 1) &&
                                 p.z == forge_coordinate(frame, i, 2)));
            ck_assert_float_eq(m->residual[3 * frame + i], is_gap ? -1.0f : 0.5f * (float)i);
        }
    }
}

TEST(every_order_and_kind_of_number_is_read_past_analog_samples_from_any_block)
{
    for (int order = PZ_C3D_INTEL; order <= PZ_C3D_MIPS; ++order) {
        for (int variant = 0; variant < 8; ++variant) {
            recipe r = forge_recipe();
            r.order = (pz_c3d_order)order;
            r.is_float = variant & 1;
            r.channels = variant & 2 ? 3 : 0;
            r.samples = variant & 2 ? 5 : 0;
            r.parameter_block = variant & 4 ? 11 : 2;
            forge f = forge_file(r);
            poise_file *file = io_read(f.bytes, f.size, POISE_FORMAT_UNKNOWN, NULL);
            ck_assert_int_eq(file->format, POISE_FORMAT_C3D);
            ck_assert_int_eq(file->warning_count, 0);
            ck_assert_int_eq(file->carried->channel_count, r.channels);
            check_forged(file->markers);
            ck_assert_str_eq(file->markers->label[1], "s:two");
            ck_assert_str_eq(file->markers->label[2], "three");
        }
    }
}

// A recording of 4 frames with poses of one segment and a force plate, as a reader would have it.
static poise_file with_rest(poise_carried *carried, pz_c3d_rest *rest)
{
    static const unsigned char four = 4, dimension[] = {3, 4, 1}, zero[2] = {0, 0}, one[2] = {1, 0};
    static unsigned char corners[48];
    static float rotation[4 * 17];
    static pz_c3d_record records[] = {
        {.group = 9, .is_group = true, .name = {"ROTATION", 8}, .comment = {"poses", 5}},
        {.group = 9, .name = {"USED", 4}, .type = 2, .values = one, .count = 1},
        {.group = 9, .name = {"RATIO", 5}, .type = 2, .values = one, .count = 1},
        {.group = 9, .name = {"DATA_START", 10}, .comment = {"block", 5}, .type = 2, .values = zero, .count = 1},
        {.group = 7, .is_group = true, .name = {"FORCE_PLATFORM", 14}},
        {.group = 7, .name = {"USED", 4}, .type = 2, .values = one, .count = 1},
        {.group = 7,
         .name = {"CORNERS", 7},
         .type = 4,
         .dimensions = 3,
         .dimension = dimension,
         .values = corners,
         .count = 12},
        {.group = 8, .is_group = true, .name = {"MAKER", 5}},
        {.group = 8,
         .name = {"NAME", 4},
         .type = -1,
         .dimensions = 1,
         .dimension = &four,
         .values = (const unsigned char *)"abcd",
         .count = 4},
    };
    for (int i = 0; i < 4 * 17; ++i) {
        rotation[i] = (float)i;
    }
    for (int i = 0; i < 12; ++i) {
        float corner = (float)(i + 1);
        memcpy(corners + 4 * i, &corner, 4); // Intel
    }
    *rest = (pz_c3d_rest){.records = records,
                          .record_count = TEST_COUNT(records),
                          .points = 2,
                          .rotation = rotation,
                          .rotation_stride = 17,
                          .factor = 1};
    *carried = (poise_carried){.format = POISE_FORMAT_C3D,
                               .text = "1 force plate",
                               .samples = 1,
                               .frames = 4,
                               .rotations = 1,
                               .force_plates = 1,
                               .rest = rest};
    poise_file file = {.carried = carried};
    ck_assert_int_eq(poise_markers_create(4, 2, 100, NULL, NULL, &file.markers, NULL), POISE_OK);
    for (int i = 0; i < 8; ++i) {
        file.markers->position[i] = (poise_vec3){1, 2, 3}; // the first corner
    }
    file.markers->scale = (poise_scale){0.001, POISE_UP_Z};
    return file;
}

static const pz_c3d_record *record_of(const poise_file *file, const char *group, const char *name)
{
    const pz_c3d_rest *rest = file->carried->rest;
    return pz_c3d_find(rest->records, rest->record_count, group, name);
}

TEST(poses_of_segments_and_parameters_of_others_go_on)
{
    poise_carried carried;
    pz_c3d_rest rest;
    poise_file file = with_rest(&carried, &rest);
    io_bytes bytes = io_write(&file, POISE_FORMAT_C3D, 0);
    poise_file *again = io_read(bytes.bytes, bytes.size, POISE_FORMAT_C3D, NULL);
    const pz_c3d_rest *read = again->carried->rest;
    ck_assert(again->carried->rotations == 1 && again->carried->force_plates == 1 && read->rotation_stride == 17);
    ck_assert_mem_eq(read->rotation, rest.rotation, sizeof(float[4 * 17]));
    pz_word name = pz_c3d_text(record_of(again, "MAKER", "NAME"), 0);
    ck_assert(pz_word_is(name, "abcd") && pz_word_is(record_of(again, "ROTATION", "DATA_START")->comment, "block"));
    carried.frames = 3;
    io_write_warns(&file, POISE_FORMAT_C3D, "poses of 1 segments are left out");
    poise_markers_destroy(file.markers);
}

TEST(force_plates_go_with_unit_axes_and_frames_of_the_points)
{
    poise_carried carried;
    pz_c3d_rest rest;
    poise_file file = with_rest(&carried, &rest);
    poise_edit edit = {.first = 1, .count = 2, .scale = {1.0, POISE_UP_Y}};
    ck_assert_int_eq(poise_file_edit(&file, &edit, NULL, NULL), POISE_OK);
    ck_assert(carried.frames == 2 && rest.rotation[0] == 17);
    io_bytes bytes = io_write(&file, POISE_FORMAT_C3D, 2); // rounded coordinates, and poses that go with the old axes
    poise_file *again = io_read(bytes.bytes, bytes.size, POISE_FORMAT_C3D, NULL);
    poise_vec3 p = again->markers->position[0];
    const pz_c3d_record *corners = record_of(again, "FORCE_PLATFORM", "CORNERS");
    ck_assert_double_eq_tol(pz_c3d_number(corners, PZ_C3D_INTEL, 0), p.x, 1e-9);
    ck_assert_double_eq_tol(pz_c3d_number(corners, PZ_C3D_INTEL, 1), p.y, 1e-9);
    ck_assert_double_eq_tol(pz_c3d_number(corners, PZ_C3D_INTEL, 2), p.z, 1e-9);
    ck_assert_double_eq_tol(p.y, 0.003, 1e-9);
    poise_markers_destroy(file.markers);
}

TEST(labels_may_be_few_many_or_in_several_lists)
{
    static const struct {
        int labels;
        const char *label[3];
    } rows[] = {{0, {"1", "2", "3"}}, {2, {"s:one", "s:two", "3"}}, {4, {"s:one", "s:two", "three"}}};
    for (size_t k = 0; k < TEST_COUNT(rows); ++k) {
        recipe r = forge_recipe();
        r.labels = rows[k].labels;
        forge f = forge_file(r);
        poise_file *file = io_read(f.bytes, f.size, POISE_FORMAT_C3D, NULL);
        check_forged(file->markers);
        for (int i = 0; i < 3; ++i) {
            ck_assert_str_eq(file->markers->label[i], rows[k].label[i]);
        }
        ck_assert(io_warned(file, 0, "labels for 3 points"));
        ck_assert_int_eq(file->warning_count, 1);
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
        recipe r = forge_recipe();
        r.unit = units[i].unit;
        forge f = forge_file(r);
        poise_file *file = io_read(f.bytes, f.size, POISE_FORMAT_C3D, NULL);
        ck_assert_msg(file->markers->scale.metres == units[i].metres, "%s", units[i].unit);
        ck_assert_int_eq(io_warned(file, 0, "is not a unit of length"), units[i].metres == 0.0);
    }
    static const struct {
        const char *screen;
        poise_up up;
    } screens[] = {{"+Z", POISE_UP_Z},       {"+Y", POISE_UP_Y}, {"+X", POISE_UP_X},
                   {"-Z", POISE_UP_UNKNOWN}, {"Y ", POISE_UP_Y}, {NULL, POISE_UP_UNKNOWN}};
    for (size_t i = 0; i < TEST_COUNT(screens); ++i) {
        recipe r = forge_recipe();
        r.screen = screens[i].screen;
        forge f = forge_file(r);
        poise_file *file = io_read(f.bytes, f.size, POISE_FORMAT_C3D, NULL);
        ck_assert_int_eq(file->markers->scale.up, screens[i].up);
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
        recipe r = forge_recipe();
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
    }
}

static void refused(const unsigned char *bytes, size_t size, const char *words)
{
    poise_read_options options = io_options(POISE_FORMAT_C3D, NULL);
    io_refused(bytes, size, &options, 0, words);
}

TEST(errors_name_the_byte)
{
    forge f = forge_file(forge_recipe());
    refused(f.bytes, 511, "511 bytes are less than the 512");
    forge g = f;
    g.bytes[1] = 0x51;
    refused(g.bytes, g.size, "bytes 0 and 1 are 2 and 81");
    g = f;
    g.bytes[0] = 60;
    refused(g.bytes, g.size, "the parameters begin at byte 30208");
    g = f;
    g.bytes[16] = 0, g.bytes[17] = 0;
    refused(g.bytes, g.size, "says where the data begins");
    refused(f.bytes, 1024, "the data begins at byte 1024, but the file ends at byte 1024");
}

TEST(odd_headers_are_mended_with_a_warning)
{
    forge f = forge_file(forge_recipe()), g = f;
    g.bytes[PZ_C3D_BLOCK + 3] = 0;
    poise_file *file = io_read(g.bytes, g.size, POISE_FORMAT_C3D, NULL);
    ck_assert(io_warned(file, 0, "processor type 0"));
    check_forged(file->markers);
    g = f;
    memset(g.bytes + 20, 0, 4);
    file = io_read(g.bytes, g.size, POISE_FORMAT_C3D, NULL);
    ck_assert(io_warned(file, 0, "no frame rate; 1 assumed"));
    ck_assert_double_eq(file->markers->rate, 1.0);
    g = f;
    memset(g.bytes + 12, 0, 4);
    file = io_read(g.bytes, g.size, POISE_FORMAT_C3D, NULL);
    ck_assert(io_warned(file, 0, "no scale; 1 assumed"));
    g = f;
    forge_16(&g, 8, 3); // ends before it begins
    file = io_read(g.bytes, g.size, POISE_FORMAT_C3D, NULL);
    ck_assert(io_warned(file, 0, "the last frame, 3, comes before the first, 5"));
    ck_assert_int_eq(file->markers->frames, 0);
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
        io_round_trip(&(poise_file){.markers = markers}, POISE_FORMAT_C3D, 0);
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
            io_round_trip(&(poise_file){.markers = markers}, POISE_FORMAT_C3D, 0);
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
    poise_markers_destroy(markers);
    markers = markers_of(1, 65535, 100, NULL); // 5 letters each: more than the section holds
    file.markers = markers;
    io_write_warns(&file, POISE_FORMAT_C3D, "of the 65535 labels");
    bytes = io_write(&file, POISE_FORMAT_C3D, -1);
    back = io_read(bytes.bytes, bytes.size, POISE_FORMAT_C3D, NULL);
    back->markers->scale = markers->scale;
    io_same_markers(markers, back->markers); // labels left out are numbers again
    poise_markers_destroy(markers);
}

// ---- Io c3d files -------------------------------------------------------------------------------------------------------
//
// C3D files of many makers: what is known of them, what agrees between them, what is odd about them.

static void check_points(const c3d_fact *f, const poise_markers *markers, int frame, const char *expected)
{
    for (int i = 0; i < 3; ++i) {
        poise_vec3 p = markers->position[(size_t)frame * (size_t)markers->count + (size_t)i];
        double x, y, z;
        bool is_gap = sscanf(expected, "%lf %lf %lf", &x, &y, &z) != 3 || (x == 0 && y == 0 && z == 0);
        ck_assert_msg(poise_markers_seen(markers, frame, i) == !is_gap, "%s: frame %d, point %d", f->path, frame, i);
        // facts have four decimals
        ck_assert_msg(is_gap || (fabs(p.x - x) <= 6e-5 && fabs(p.y - y) <= 6e-5 && fabs(p.z - z) <= 6e-5),
                      "%s: frame %d, point %d: %.5f %.5f %.5f", f->path, frame, i, p.x, p.y, p.z);
        expected = i < 2 ? strchr(expected, ';') + 1 : expected;
    }
}

// The markers' labels begin with those between bars.
static void check_labels(const c3d_fact *f, const poise_markers *markers)
{
    char all[256];
    snprintf(all, sizeof all, "%s", f->label);
    int i = 0;
    for (char *label = strtok(all, "|"); label; label = strtok(NULL, "|"), ++i) {
        ck_assert_str_eq(markers->label[i], label);
    }
}

static void check_description(const c3d_fact *f, io_bytes file)
{
    poise_file warnings = {0};
    poise_status status;
    pz_c3d c = describe(file, &warnings, &status);
    ck_assert_int_eq(status, POISE_OK);
    ck_assert_msg(c.order == f->order && c.is_float == f->is_float, "%s: order %d, float %d", f->path, c.order, c.is_float);
    ck_assert_msg(c.points == f->points && c.frames == f->frames && c.first_frame == f->first_frame, "%s: %d %d %d", f->path,
                  c.points, (int)c.frames, c.first_frame);
    ck_assert_msg(fabs(c.rate - f->rate) < 5e-5 && fabs(c.scale - f->scale) < 5.1e-7, "%s: rate %g, scale %g", f->path,
                  c.rate, c.scale);
    ck_assert_msg(c.analog == f->channels * f->samples && (f->channels == 0 || c.analog_samples == f->samples),
                  "%s: analog %d, samples %d", f->path, c.analog, c.analog_samples);
    ck_assert_msg(c.parameter_block == f->parameter_block && c.data_block == f->data_block, "%s: blocks %d %d", f->path,
                  c.parameter_block, c.data_block);
    ck_assert_msg(c.group_count == f->groups && c.parameter_count == f->parameters, "%s: %d groups, %d parameters", f->path,
                  c.group_count, c.parameter_count);
    ck_assert_msg(c.label_count == f->labels, "%s: %d labels", f->path, c.label_count);
    ck_assert_msg(c.unit.length == strlen(f->unit) && (c.unit.length == 0 || !memcmp(c.unit.text, f->unit, c.unit.length)),
                  "%s: unit of %zu letters", f->path, c.unit.length);
    size_t word = c.is_float ? 4 : 2;
    const unsigned char *at = file.bytes + (size_t)(c.data_block - 1) * PZ_C3D_BLOCK + 4 * (size_t)c.points * word;
    const char *expected = f->analog;
    for (int i = 0; f->channels > 0 && i < 4; ++i, at += word) {
        char *end;
        double stored = strtod(expected, &end), value = c.is_float ? c3d_real(c.order, at) : c3d_integer(c.order, at);
        ck_assert_msg(fabs(value - stored) <= 6e-5 + 1e-7 * fabs(value), "%s: analog %d is %g", f->path, i, value);
        expected = end;
    }
}

// Points without numbers, or at 0 0 0, whose fourth word does not say so.
static int not_numbers(const c3d_fact *f)
{
    bool has_zeros = strcmp(f->path, "bad/c3d/parameterOverflow.c3d") == 0;
    return has_zeros ? 11919 : strcmp(f->path, "c3d/ktk_racing_full.c3d") == 0 ? 6384 : 0;
}

static void check_fact(const c3d_fact *f)
{
    io_bytes bytes = io_load(f->path);
    check_description(f, bytes);
    poise_file *file = io_read(bytes.bytes, bytes.size, POISE_FORMAT_UNKNOWN, NULL);
    const poise_markers *m = file->markers;
    ck_assert_msg(file->format == POISE_FORMAT_C3D, "%s: %s", f->path, poise_format_name(file->format));
    ck_assert(!file->model && !file->clip && m);
    ck_assert_msg(m->count == f->points && m->frames == f->frames && m->first_frame == f->first_frame, "%s", f->path);
    check_labels(f, m);
    int missing = 0;
    for (int frame = 0; frame < m->frames; ++frame) {
        for (int i = 0; i < m->count; ++i) {
            missing += !poise_markers_seen(m, frame, i);
        }
    }
    ck_assert_msg(missing == f->missing + not_numbers(f), "%s: %d missing", f->path, missing);
    check_points(f, m, 0, f->first);
    check_points(f, m, m->frames - 1, f->last);
    double metres = strcmp(f->unit, "mm") == 0 ? 0.001 : f->unit[0] == 'm' ? 1.0 : 0.0;
    ck_assert_msg(m->scale.metres == metres, "%s: %g metres", f->path, m->scale.metres);

    // singles survive being written, bit for bit
    if (f->is_float && f->order != PZ_C3D_DEC) {
        io_round_trip(&(poise_file){.markers = file->markers}, POISE_FORMAT_C3D, 0);
    }
}

TEST_DATA(real_files_hold_what_is_known_of_them, "c3d")
{
    for (size_t i = 0; i < TEST_COUNT(c3d_facts); ++i) {
        check_fact(&c3d_facts[i]);
    }
}

// The largest difference of two files' points; gaps must agree.
static double difference(const char *a_path, const char *b_path)
{
    io_bytes a = io_load(a_path), b = io_load(b_path);
    poise_file *first = io_read(a.bytes, a.size, POISE_FORMAT_UNKNOWN, NULL);
    poise_file *second = io_read(b.bytes, b.size, POISE_FORMAT_UNKNOWN, NULL);
    const poise_markers *p = first->markers, *q = second->markers;
    ck_assert(p->frames == q->frames && p->count == q->count);
    double largest = 0.0;
    for (int f = 0; f < p->frames; ++f) {
        for (int i = 0; i < p->count; ++i) {
            poise_vec3 x = p->position[f * p->count + i], y = q->position[f * p->count + i];
            ck_assert_int_eq(poise_markers_seen(p, f, i), poise_markers_seen(q, f, i));
            if (poise_markers_seen(p, f, i)) {
                largest = fmax(largest, fmax(fabs(x.x - y.x), fmax(fabs(x.y - y.y), fabs(x.z - y.z))));
            }
        }
    }
    return largest;
}

TEST_DATA(one_recording_in_six_kinds_of_numbers_agrees, "c3d")
{
    const char *real = "c3d/sample02_pc_real.c3d";
    // integers are rounded to steps of 0.28; singles differ by the roundings of other writers
    ck_assert_double_le(difference("c3d/sample02_DEC_INT.C3D", real), 0.29);
    ck_assert_double_le(difference("c3d/sample02_pc_int.c3d", real), 0.29);
    ck_assert_double_le(difference("c3d/sample02_sgi_int.c3d", real), 0.29);
    ck_assert_double_eq(difference("c3d/sample02_Dec_real.c3d", real), 0.0);
    ck_assert_double_eq(difference("c3d/sample02_sgi_real.c3d", real), 0.0);
    ck_assert_double_eq(difference("c3d/sample08_TESTAPI.c3d", "c3d/sample08_TESTBPI.c3d"), 0.0);
    ck_assert_double_le(difference("c3d/btk_ADemo1_pc_float.c3d", "c3d/btk_ADemo1_pc_integer.c3d"), 6e-5);
    ck_assert_double_le(difference("c3d/btk_Res16bits.c3d", "trc/btk_Res16bits.trc"), 5.1e-6);
}

TEST_DATA(analog_samples_events_and_plates_go_on_from_c3d_to_c3d, "c3d")
{
    static const struct {
        const char *path;
        int channels, samples, events, plates;
    } rows[] = {{"c3d/sample02_DEC_INT.C3D", 16, 4, 0, 2},
                {"c3d/sample02_sgi_real.c3d", 16, 4, 0, 2},
                {"c3d/sample09_PlugInC3D.c3d", 36, 20, 8, 2},
                {"c3d/btk_Analysis.c3d", 16, 1, 6, 0},
                {"c3d/btk_Res16bits.c3d", 81, 10, 0, 6}};
    for (size_t i = 0; i < TEST_COUNT(rows); ++i) {
        io_bytes bytes = io_load(rows[i].path);
        poise_file *file = io_read(bytes.bytes, bytes.size, POISE_FORMAT_C3D, NULL);
        void *written;
        size_t size;
        ck_assert_int_eq(poise_write(file, POISE_FORMAT_C3D, NULL, &written, &size, NULL, NULL, NULL), POISE_OK);
        poise_file *again = io_read(written, size, POISE_FORMAT_C3D, NULL);
        const poise_carried *a = file->carried, *b = again->carried;
        ck_assert_msg(a->channel_count == rows[i].channels && a->samples == rows[i].samples &&
                          a->event_count == rows[i].events && a->force_plates == rows[i].plates,
                      "%s: %s, %d samples", rows[i].path, a->text, a->samples);
        ck_assert_str_eq(a->text, b->text);
        ck_assert(a->frames == b->frames && a->samples == b->samples);
        ck_assert_mem_eq(a->analog, b->analog,
                         (size_t)a->frames * (size_t)a->samples * (size_t)a->channel_count * sizeof *a->analog);
        for (int k = 0; k < a->channel_count; ++k) {
            ck_assert_str_eq(a->channel[k].label, b->channel[k].label);
            ck_assert(a->channel[k].scale == b->channel[k].scale && a->channel[k].offset == b->channel[k].offset);
        }
        for (int k = 0; k < a->event_count; ++k) {
            ck_assert_str_eq(a->event[k].label, b->event[k].label);
            ck_assert(a->event[k].time == b->event[k].time);
        }
        ck_assert_uint_le(((pz_c3d_rest *)a->rest)->record_count, ((pz_c3d_rest *)b->rest)->record_count);
        io_write_warns(file, POISE_FORMAT_TRC, a->text);
        poise_bytes_release(NULL, written);
    }
}

TEST_DATA(oddities_of_real_files_are_told, "c3d")
{
    static const struct {
        const char *path, *part;
    } rows[] = {
        {"bad/c3d/parameterOverflow.c3d", "beyond the stated end of their section"},
        {"bad/c3d/mocap36.c3d", "overlaps the next one"},
        {"bad/c3d/badParameterOffset.c3d", "overlaps the next one"},
        {"bad/c3d/bad_parameter_section.c3d", "lies outside the parameter section"},
        {"bad/c3d/phasespace_sample.c3d", "0 labels for 40 points"},
        {"bad/c3d/sample28_dynamic.C3D", "POINT:UNITS is not a unit"},
        {"c3d/sample13_golfswing.c3d", "POINT:FRAMES says 515 frames, the header 514"},
        {"c3d/sample02_pc_int.c3d", "75 labels for 36 points"},
        {"c3d/ktk_racing_full.c3d", "have no numeric position"},
    };
    for (size_t i = 0; i < TEST_COUNT(rows); ++i) {
        io_bytes bytes = io_load(rows[i].path);
        poise_file *file = io_read(bytes.bytes, bytes.size, POISE_FORMAT_C3D, NULL);
        ck_assert_msg(io_warned(file, 0, rows[i].part), "%s: no warning with \"%s\" among %d, first: %s", rows[i].path,
                      rows[i].part, file->warning_count, file->warning_count ? file->warnings[0].text : "");
        ck_assert_int_le(file->warning_count, 8);
    }
    io_bytes empty = io_load("bad/c3d/Empty.c3d");
    io_refused_text((char *)empty.bytes, POISE_FORMAT_C3D, NULL, 0, "0 bytes are less than the 512");
}
