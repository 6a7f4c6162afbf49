// C3D: small files of our own in every order and kind of number, round trips, hostile bytes.
#include "support/c3d_forge.h"
#include "support/io_check.h"

#include <math.h>

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
