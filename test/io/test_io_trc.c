// TRC: the facts of real files, dialects in small files of our own, round trips, hostile bytes.
#include "documents.h"
#include "support/io_check.h"

#include <math.h>

// ---- Dialects ------------------------------------------------------------------------------------------------------------

#define HEAD  "PathFileType\t4\t(X/Y/Z)\tsmall.trc\n"
#define KEYS  "DataRate\tCameraRate\tNumFrames\tNumMarkers\tUnits\tOrigDataRate\tOrigDataStartFrame\tOrigNumFrames\n"
#define AXES  "\t\tX1\tY1\tZ1\tX2\tY2\tZ2\n"
#define START HEAD KEYS "50\t50\t2\t2\tmm\t50\t7\t2\n"
#define NAMES "Frame#\tTime\tleft\t\t\ts:right one\t\t\n"
#define ROWS  "7\t0.12\t1\t2\t3\t4\t5\t6\n8\t0.14\t\t\t\t-4e1\t5.25\t6\n"

// left: (1 2 3), gap; right: (4 5 6), (-40 5.25 6)
static void check_plain(const poise_markers *m)
{
    ck_assert(m->frames == 2 && m->count == 2 && m->first_frame == 7 && m->rate == 50.0);
    ck_assert(m->scale.metres == 0.001 && m->scale.up == POISE_UP_UNKNOWN);
    ck_assert_ptr_null(m->residual);
    ck_assert_str_eq(m->label[0], "left");
    ck_assert(m->position[0].x == 1 && m->position[0].y == 2 && m->position[0].z == 3);
    ck_assert(m->position[1].x == 4 && m->position[1].y == 5 && m->position[1].z == 6);
    ck_assert(!poise_markers_seen(m, 1, 0));
    ck_assert(m->position[3].x == -40 && m->position[3].y == 5.25 && m->position[3].z == 6);
}

TEST(dialects_give_the_same_markers)
{
    static const struct {
        const char *what, *text;
    } rows[] = {
        {"tabs", document_trc},
        {"no empty line", START NAMES AXES ROWS},
        {"no line of axes", START NAMES ROWS},
        {"times instead of time", START "Frame#\tTimes\t\tleft\t\ts:right one\n\t" AXES "\n" ROWS},
        {"two cells to a name, one more before the first", START "Frame#\tTime\t\tleft\t\ts:right one\n\t" AXES "\n" ROWS},
        {"tabs behind", START NAMES AXES "\n7\t0.12\t1\t2\t3\t4\t5\t6\t\t\t\n8\t0.14\t\t\t\t-4e1\t5.25\t6\t\n"},
        {"blanks around numbers", START NAMES AXES "\n7\t 0.12\t  1\t 2 \t3\t4\t5\t6\n  8 \t0.14\t \t\t \t-40.0\t5.25\t 6"},
        {"NaN of any case", START NAMES AXES "7\t0.12\t1\t2\t3\t4\t5\t6\n8\t0.14\tnan\tNaN\tNAN\t-40\t5.25\t6\n"},
        {"infinity", START NAMES AXES "7\t0.12\t1\t2\t3\t4\t5\t6\n8\t0.14\tinf\t1\t1\t-40\t5.25\t6\n"},
        {"empty lines between rows", START NAMES AXES "7\t0.12\t1\t2\t3\t4\t5\t6\n\n8\t0.14\t\t\t\t-40\t5.25\t6\n\n\n"},
        {"byte order mark", "\xef\xbb\xbf" START NAMES AXES ROWS},
    };
    for (size_t i = 0; i < TEST_COUNT(rows); ++i) {
        poise_file *file = io_read_text(rows[i].text, POISE_FORMAT_UNKNOWN, NULL);
        ck_assert_int_eq(file->format, POISE_FORMAT_TRC);
        ck_assert_msg(file->warning_count == 0, "%s: %s", rows[i].what, file->warnings ? file->warnings[0].text : "");
        check_plain(file->markers);
        ck_assert_str_eq(file->markers->label[1], "s:right one");
        ck_assert_str_eq(file->title, "small.trc");
    }
}

TEST(blanks_may_stand_for_tabs_and_cr_for_lf)
{
    const char *blanks = "PathFileType 4 (X/Y/Z) small.trc\r\n"
                         "DataRate CameraRate NumFrames NumMarkers Units OrigDataRate OrigDataStartFrame OrigNumFrames\r\n"
                         "50 50 2 2 mm 50 7 2\r\nFrame# Time left right\r\n X1 Y1 Z1 X2 Y2 Z2\r\n\r\n"
                         "7 0.12 1 2 3 4 5 6\r\n8   0.14 NaN NaN NaN -40  5.25 6 \r\n";
    poise_file *file = io_read_text(blanks, POISE_FORMAT_UNKNOWN, NULL);
    ck_assert_int_eq(file->warning_count, 0);
    check_plain(file->markers);
    ck_assert_str_eq(file->markers->label[1], "right");
    io_bytes all = {malloc(strlen(blanks)), strlen(blanks)};
    memcpy(all.bytes, blanks, all.size);
    test_own(free, all.bytes);
    io_survives_cuts(all, POISE_FORMAT_TRC, NULL); // also between CR and LF
}

TEST(odd_headers_and_rows_are_told_on_their_line)
{
    static const struct {
        const char *text;
        int line;
        const char *part;
        int frames, count;
    } rows[] = {
        {HEAD KEYS "50\t50\t2\t0\tmm\t50\t7\t2\n" NAMES AXES ROWS, 3, "NumMarkers says 0, but there are 2 names", 2, 2},
        {HEAD KEYS "50\t50\t9\t2\tmm\t50\t7\t2\n" NAMES AXES ROWS, 3, "NumFrames says 9, but there are 2 rows", 2, 2},
        {HEAD KEYS "50\t50\t2\t2\tfurlong\t50\t7\t2\n" NAMES AXES ROWS, 3, "\"furlong\" is not a unit", 2, 2},
        {HEAD KEYS "0\t50\t2\t2\tmm\t50\t7\t2\n" NAMES AXES ROWS, 3, "DataRate is not a number above 0; 50 assumed", 2, 2},
        {HEAD KEYS "x\ty\t2\t2\tmm\t50\t7\t2\n" NAMES AXES ROWS, 3, "50 assumed", 2, 2},
        {HEAD KEYS "99\t50\t2\t2\tmm\t50\t7\t2\n" NAMES AXES ROWS, 0, "times are 0.02 s apart, DataRate says 0.010101", 2,
         2},
        {START "Frame#\tTime\tleft\n" AXES ROWS, 4, "1 names for 2 markers", 2, 2},
        {START NAMES AXES "\n7\t0.12\t1\t2\t3\t4\t5\t6\n9\t0.14\t1\t2\t3\t4\t5\t6\n", 8, "frame 9 found where 8", 2, 2},
        {START NAMES AXES "\n7\t0.12\t1\t2\t3\t4\t5\tsix\n8\t0.14\t1\t2\t3\t4\t5\t6\n", 7, "\"six\" is not a number", 2, 2},
        {START NAMES AXES "\n7\t0.12\t1\t\t3\t4\t5\t6\n8\t0.14\t1\t2\t3\t4\t5\t6\n", 7,
         "a point has 2 of its three numbers; it", 2, 2},
        {START NAMES AXES "\n" ROWS "the end\n", 9, "does not begin with a frame number", 2, 2},
        {START NAMES "7\t0.12\t1\t2\t3\n8\t0.14\t1\t2\t3\t4\t5\t6\t7\n", 3, "the widest row has 3 markers", 2, 3},
        {START NAMES AXES "\n7\t0.12\t1\t2\t3\n8\t0.14\t1\t2\t3\t4\t5\t6\t7\t8\t9\n", 3, "the widest row has 3 markers", 2,
         3},
    };
    for (size_t i = 0; i < TEST_COUNT(rows); ++i) {
        poise_file *file = io_read_text(rows[i].text, POISE_FORMAT_TRC, NULL);
        ck_assert_msg(io_warned(file, rows[i].line, rows[i].part), "row %zu: %d warnings, first on line %d: %s", i,
                      file->warning_count, file->warning_count ? file->warnings[0].line : 0,
                      file->warning_count ? file->warnings[0].text : "");
        ck_assert_msg(file->markers->frames == rows[i].frames && file->markers->count == rows[i].count, "row %zu", i);
    }
}

TEST(times_count_more_than_the_rate_and_blanks_may_follow_the_first_word)
{
    poise_file *file = io_read_text(HEAD KEYS "99\t50\t2\t2\tmm\t50\t7\t2\n" NAMES AXES ROWS, POISE_FORMAT_TRC, NULL);
    ck_assert_double_eq_tol(file->markers->rate, 50.0, 1e-9);
    file = io_read_text(HEAD KEYS "0\t0\t2\t2\tmm\t50\t7\t2\n" NAMES AXES ROWS, POISE_FORMAT_TRC, NULL);
    ck_assert_double_eq_tol(file->markers->rate, 50.0, 1e-9);
    file = io_read_text("PathFileType  4\t(X/Y/Z)\tsmall.trc\n" KEYS "50\t50\t2\t2\tmm\t50\t7\t2\n" NAMES AXES ROWS,
                        POISE_FORMAT_UNKNOWN, NULL);
    check_plain(file->markers);
}

TEST(zeros_that_a_marker_jumps_to_or_never_leaves_are_gaps)
{
    // never anywhere else; away for two frames; on its way through the origin; away at the end
    static const char text[] = HEAD KEYS "50\t50\t5\t4\tmm\t50\t1\t5\n"
                                         "Frame#\tTime\tnever\t\t\taway\t\t\tpasses\t\t\tends\t\t\n"
                                         "1\t0.00\t0\t0\t0\t900\t5\t5\t-2\t-4\t-2\t50\t1\t1\n"
                                         "2\t0.02\t0\t0\t0\t0\t0\t0\t-1\t-2\t-1\t51\t1\t1\n"
                                         "3\t0.04\t0\t0\t0\t0.0\t-0\t0\t0\t0\t0\t52\t1\t1\n"
                                         "4\t0.06\t0\t0\t0\t901\t5\t5\t1\t2\t1\t53\t1\t1\n"
                                         "5\t0.08\t0\t0\t0\t902\t5\t5\t2\t4\t2\t0\t0\t0\n";
    static const char *const seen[] = {"     ", "x  xx", "xxxxx", "xxxx "};
    poise_file *file = io_read_text(text, POISE_FORMAT_TRC, NULL);
    for (int f = 0; f < 5; ++f) {
        for (int i = 0; i < 4; ++i) {
            ck_assert_msg(poise_markers_seen(file->markers, f, i) == (seen[i][f] == 'x'), "frame %d, marker %d", f, i);
        }
    }
    ck_assert(io_warned(file, 0, "8 points at 0 0 0 count as not seen: 1 marker throughout, 2 in some frames"));
}

TEST(many_bad_cells_make_few_warnings)
{
    char text[20000] = START NAMES AXES;
    size_t length = strlen(text);
    for (int i = 0; i < 500; ++i) {
        length += (size_t)snprintf(text + length, sizeof text - length, "%d\t%g\tx\t2\t3\t4\t5\t6\n", 7 + i, 0.02 * i);
    }
    poise_file *file = io_read_text(text, POISE_FORMAT_TRC, NULL);
    ck_assert_int_le(file->warning_count, 7);
    ck_assert(io_warned(file, 0, "and 496 more"));
}

TEST(many_lines_that_are_no_rows_make_few_warnings)
{
    char text[2000] = START NAMES AXES ROWS;
    for (int i = 0; i < 10; ++i) {
        strcat(text, "note\n");
    }
    poise_file *file = io_read_text(text, POISE_FORMAT_TRC, NULL);
    ck_assert_int_eq(file->warning_count, 5);
    ck_assert(io_warned(file, 0, "and 6 more"));
}

static const io_case mistakes[] = {
    {"", 1, "\"PathFileType\" expected"},
    {"Pathology\n", 1, "\"PathFileType\" expected"},
    {HEAD, 2, "ends before the line of DataRate"},
    {HEAD KEYS, 3, "ends before the values"},
    {START, 4, "ends before the line of marker names"},
    {START "Frame\tTime\n", 4, "\"Frame#\" and \"Time\" expected"},
};

TEST_ROWS(errors_name_the_line_and_what_is_expected, TEST_COUNT(mistakes))
{
    io_case_refused(&mistakes[test_row], POISE_FORMAT_TRC, NULL);
}

TEST(a_long_line_among_short_ones_does_not_blow_up)
{
    size_t room = 2000000, length;
    char *text = malloc(room);
    length = (size_t)snprintf(text, room, "%s%s", START, NAMES);
    for (int i = 0; i < 100000; ++i) {
        memcpy(text + length, "1\t0\n", 4);
        length += 4;
    }
    memcpy(text + length, "1\t0", 3);
    length += 3;
    for (int i = 0; i < 300000; ++i) {
        memcpy(text + length, "\t1", 2);
        length += 2;
    }
    poise_read_options options = io_options(POISE_FORMAT_TRC, NULL);
    io_refused(text, length, &options, 0, "too uneven");
    free(text);
}

// ---- Writing -------------------------------------------------------------------------------------------------------------

static poise_markers *random_markers(int frames, int count)
{
    poise_markers *markers = NULL;
    ck_assert_int_eq(poise_markers_create(frames, count, 119.88, NULL, NULL, &markers, NULL), POISE_OK);
    uint64_t state = 42;
    for (size_t i = 0; i < (size_t)frames * (size_t)count; ++i) {
        double c[3];
        for (int k = 0; k < 3; ++k) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            c[k] = ((double)(state >> 11) - 4e15) * (i % 7 == 0 ? 1e-300 : i % 5 == 0 ? 1e280 : 1e-13);
        }
        if (state >> 60 != 3) {
            markers->position[i] = (poise_vec3){c[0], c[1], i % 11 == 0 ? -0.0 : c[2]};
        }
    }
    return markers;
}

TEST(written_files_read_back_to_the_same_bits)
{
    static const struct {
        int frames, count, first;
        double metres;
    } rows[] = {{40, 7, 1, 0.001}, {1, 1, -5, 1.0}, {0, 3, 12, 0.01}, {5, 0, 3, 0.0254}, {3, 200, 70000, 0.0}};
    for (size_t i = 0; i < TEST_COUNT(rows); ++i) {
        poise_markers *markers = random_markers(rows[i].frames, rows[i].count);
        markers->first_frame = rows[i].first;
        markers->scale.metres = rows[i].metres;
        io_round_trip(&(poise_file){.markers = markers, .title = "a title.trc"}, POISE_FORMAT_TRC, 0);
        poise_markers_destroy(markers);
    }
}

// Frame numbers and times count from the first frame, as the header has it; times before frame 1 from 0. A start that is not
// at the count of the frames is kept.
TEST(a_written_file_is_this_text)
{
    poise_file *file = io_read_text(document_trc, POISE_FORMAT_TRC, NULL);
    io_bytes bytes = io_write(file, POISE_FORMAT_TRC, 0);
    ck_assert_str_eq((const char *)bytes.bytes, START "Frame#\tTime\tleft\t\t\ts:right one\n" AXES
                                                      "\n7\t0.12\t1\t2\t3\t4\t5\t6\n8\t0.14\t\t\t\t-40\t5.25\t6\n");
    file->markers->first_frame = -3;
    file->markers->start_time = 0.0; // not known
    bytes = io_write(file, POISE_FORMAT_TRC, 0);
    ck_assert_ptr_nonnull(strstr((const char *)bytes.bytes, "\n-3\t0\t1\t2\t3\t4\t5\t6\n-2\t0.02\t"));
    file->markers->start_time = 2.5; // a clock of its own
    bytes = io_write(file, POISE_FORMAT_TRC, 0);
    ck_assert_ptr_nonnull(strstr((const char *)bytes.bytes, "\n-3\t2.5\t1\t2\t3\t4\t5\t6\n-2\t2.52\t"));
}

TEST(a_file_without_rows_begins_where_its_header_says)
{
    poise_file *file = io_read_text(HEAD KEYS "50\t50\t0\t2\tmm\t50\t7\t0\n" NAMES AXES, POISE_FORMAT_TRC, NULL);
    ck_assert(file->markers->frames == 0 && file->markers->first_frame == 7);
}

TEST(what_a_trc_file_cannot_hold_is_told)
{
    const char *labels[] = {"a\tb", ""};
    poise_markers *markers = NULL;
    ck_assert_int_eq(poise_markers_create(1, 2, 10, labels, NULL, &markers, NULL), POISE_OK);
    poise_file file = {.markers = markers};
    io_write_warns(&file, POISE_FORMAT_TRC, "2 labels are empty or contain tabs");
    io_bytes bytes = io_write(&file, POISE_FORMAT_TRC, 1);
    poise_file *back = io_read(bytes.bytes, bytes.size, POISE_FORMAT_TRC, NULL);
    ck_assert_str_eq(back->markers->label[0], "a_b");
    ck_assert_str_eq(back->markers->label[1], "2");
    markers->scale = (poise_scale){0.123, POISE_UP_Z};
    io_write_warns(&file, POISE_FORMAT_TRC, "a unit of 0.123 metres");
    io_write_warns(&file, POISE_FORMAT_TRC, "cannot store the upward axis");
    float residual[] = {0.5f, -1.0f};
    markers->residual = residual;
    io_write_warns(&file, POISE_FORMAT_TRC, "no residuals");
    ck_assert_int_gt(io_writes_without_memory(&file, POISE_FORMAT_TRC), 0);
    poise_markers_destroy(markers);
    io_write_refused(&(poise_file){0}, POISE_FORMAT_TRC, "there are none");
}

// ---- Real files ----------------------------------------------------------------------------------------------------------

typedef struct fact {
    const char *path;
    double rate;
    int frames, markers;
    double metres;
    const char *label;
    int gaps;                 // cells
    double first[3], last[3]; // of marker 1; GAP: not seen
    int first_frame, last_frame;
    int warnings;
} fact;

#define GAP 1e30

// The last one: NumMarkers 0, no names, and yet data, up to ten markers in a row.
// clang-format off
static const fact facts[] = {
    {"trc/os_std_walking5_markers.trc", 25, 112, 40, 0.001, "LTH3", 6231, {GAP}, {-2336.8, 253.18, 615.2}, 1, 112, 1},
    {"trc/os_dataWithBlanksForMissingMarkers.trc", 250, 464, 40, 0.001, "LTH3", 45015, {GAP}, {1552.76050, 411.56931,
     636.57843}, 1, 464, 0},
    {"trc/os_dataWithEformat.trc", 119.88012, 5, 14, 1, "RFAsuperior", 0, {-2.73E-01, 7.46E-02, -1.57E+00}, {-2.73E-01,
     7.45E-02, -1.57E+00}, 1, 5, 0},
    {"trc/os_dataWithNaNsOfDifferentCases.trc", 250, 5, 14, 0.001, "toe", 15, {175.798014, -333.753526, 33.121135},
     {175.843209, -333.822787, 33.201382}, 1, 5, 0},
    {"trc/os_exampleFormat.trc", 100, 5, 3, 1, "marker1", 6, {GAP}, {-0.273, 0.0745, -1.57}, 1, 5, 0},
    {"trc/btk_Res16bits.trc", 100, 100, 44, 0.001, "R.TETE", 15, {221.49382, -284.70554, 1509.52161}, {241.03156,
     -310.88904, 1510.83557}, 1, 100, 0},
    {"trc/btk_Knee.trc", 200, 200, 71, 0.001, "genou1_ NewMarker", 10386, {256.84422, 113.24970, 121.77992}, {241.51562,
     151.95946, 115.26236}, 1, 200, 0},
    {"opensim/gait10_subject01_walk.trc", 60, 151, 41, 0.001, "R.ASIS", 0, {617.247620, 1055.275020, 170.781980},
     {597.613650, 1045.068850, 169.864320}, 1, 151, 0},
    {"opensim/gait2354_synthetic_markers.trc", 60, 73, 31, 1, "Sternum", 0, {0.67076, 1.3961, -0.025106}, {0.64893, 1.4004,
     -0.010598}, 1, 73, 0},
    {"bad/trc/zero_marker_header.trc", 400, 882, 10, 0.001, "1", -1, {GAP}, {-799.76202, 801.21472, -391.54608}, 1, 882, 1},
};
// clang-format on

static void check_point(const fact *f, const poise_markers *m, int frame, const double expected[3])
{
    poise_vec3 p = m->position[(size_t)frame * (size_t)m->count];
    bool is_gap = expected[0] == GAP;
    ck_assert_msg(poise_markers_seen(m, frame, 0) == !is_gap, "%s: frame %d", f->path, frame);
    ck_assert_msg(is_gap || (p.x == expected[0] && p.y == expected[1] && p.z == expected[2]), "%s: frame %d: %g %g %g",
                  f->path, frame, p.x, p.y, p.z); // the compiler reads the same decimals
}

TEST_DATA(real_files_hold_what_is_known_of_them, "trc")
{
    for (size_t k = 0; k < TEST_COUNT(facts); ++k) {
        const fact *f = &facts[k];
        io_bytes bytes = io_load(f->path);
        poise_file *file = io_read(bytes.bytes, bytes.size, POISE_FORMAT_UNKNOWN, NULL);
        poise_markers *m = file->markers;
        ck_assert_msg(m->rate == f->rate && m->frames == f->frames && m->count == f->markers, "%s: %g %d %d", f->path,
                      m->rate, m->frames, m->count);
        ck_assert_double_eq(m->scale.metres, f->metres);
        ck_assert_str_eq(m->label[0], f->label);
        int gaps = 0;
        for (int frame = 0; frame < m->frames; ++frame) {
            for (int i = 0; i < m->count; ++i) {
                gaps += poise_markers_seen(m, frame, i) ? 0 : 3;
            }
        }
        ck_assert_msg(f->gaps < 0 || gaps == f->gaps, "%s: %d empty cells", f->path, gaps);
        check_point(f, m, 0, f->first);
        check_point(f, m, m->frames - 1, f->last);
        ck_assert_int_eq(m->first_frame, f->first_frame);
        ck_assert_int_eq(m->first_frame + m->frames - 1, f->last_frame);
        ck_assert_msg(file->warning_count == f->warnings, "%s: %d warnings, first: %s", f->path, file->warning_count,
                      file->warning_count ? file->warnings[0].text : "");
    }
}

TEST_DATA(a_walk_agrees_with_every_tenth_frame_of_its_c3d, "trc")
{
    io_bytes a = io_load("trc/os_std_walking5_markers.trc"), b = io_load("c3d/os_walking5.c3d");
    poise_file *trc = io_read(a.bytes, a.size, POISE_FORMAT_TRC, NULL),
               *c3d = io_read(b.bytes, b.size, POISE_FORMAT_C3D, NULL);
    const poise_markers *p = trc->markers, *q = c3d->markers;
    int seen = 0;
    for (int f = 0; f < p->frames; ++f) {
        int other = f < 111 ? 10 * f : q->frames - 1;
        for (int i = 0; i < p->count; ++i) {
            poise_vec3 x = p->position[f * p->count + i], y = q->position[other * q->count + i];
            ck_assert_str_eq(p->label[i], q->label[i]);
            ck_assert_int_eq(poise_markers_seen(p, f, i), poise_markers_seen(q, other, i));
            if (poise_markers_seen(p, f, i)) { // the TRC has 5 digits
                ck_assert_double_le(fmax(fabs(x.x - y.x), fmax(fabs(x.y - y.y), fabs(x.z - y.z))), 0.0501);
                ++seen;
            }
        }
    }
    ck_assert_int_eq(seen, 2403);
}

TEST_DATA(bad_files_are_refused_in_words, "trc")
{
    io_bytes empty = io_load("bad/trc/Empty.trc"), cut = io_load("bad/trc/Truncated.trc");
    io_refused_text((char *)empty.bytes, POISE_FORMAT_TRC, NULL, 1, "\"PathFileType\" expected");
    io_refused_text((char *)cut.bytes, POISE_FORMAT_TRC, NULL, 3, "ends before the values");
}
