// C3D files of many makers: what is known of them, what agrees between them, what is odd about them.
#include "support/c3d_facts.h"
#include "support/io_check.h"

#include <math.h>

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

static pz_c3d describe(io_bytes file, poise_file *warnings, poise_status *status)
{
    poise_read_options options = io_options(POISE_FORMAT_C3D, NULL);
    pz_input input = {.bytes = file.bytes, .size = file.size, .options = &options, .file = warnings};
    pz_c3d c3d;
    *status = pz_c3d_describe(&input, &c3d);
    pz_pool_release(&input.pool);
    return c3d;
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
