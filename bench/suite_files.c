// How fast files are read and written, in megabytes of the file per second on one core, beside copying its bytes. What is
// read is written and read again: the error is the largest by which a number is off then. C3D holds floats, and those of
// an integer file are none; elsewhere nothing may be lost.
#include "files_task.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define HALF_FLOAT 6e-8 // half a unit in the last place of a float

typedef struct task {
    poise_read_options options;
    const void *bytes;
    size_t size;
    void *copy;
    poise_file *file;
} task;

static void read_all(void *user, int round)
{
    const task *t = user;
    poise_file *file = NULL;
    (void)round;
    if (poise_read(t->bytes, t->size, &t->options, NULL, &file, NULL) != POISE_OK) {
        abort();
    }
    poise_file_destroy(file);
}

static void write_all(void *user, int round)
{
    const task *t = user;
    void *bytes = NULL;
    size_t size = 0;
    (void)round;
    poise_file file = *t->file;
    file.model = file.model ? file.model : (poise_model *)(uintptr_t)t->options.model; // a motion is written with its model
    if (poise_write(&file, t->options.format, NULL, &bytes, &size, NULL, NULL, NULL) != POISE_OK) {
        abort();
    }
    poise_bytes_release(NULL, bytes);
}

// Into memory that is new each time, as what a reader makes is.
static void copy_all(void *user, int round)
{
    task *t = user;
    (void)round;
    void *copy = malloc(t->size);
    if (!copy) {
        abort();
    }
    memcpy(copy, t->bytes, t->size);
    bench_use(((unsigned char *)copy)[t->size / 2]);
    free(copy);
}

// Largest difference of two lists, relative to numbers above 1; not-a-numbers are the same.
static double difference(const double *a, const double *b, size_t count)
{
    double worst = 0.0;
    for (size_t i = 0; i < count; ++i) {
        bool is_same = a[i] == b[i] || (isnan(a[i]) && isnan(b[i]));
        double off = fabs(a[i] - b[i]) / fmax(1.0, fabs(a[i]));
        worst = is_same ? worst : isnan(off) ? INFINITY : fmax(worst, off);
    }
    return worst;
}

static double loss_of(const poise_file *a, const poise_file *b)
{
    if (a->clip && b->clip && a->clip->frames == b->clip->frames && a->clip->nq == b->clip->nq) {
        return difference(a->clip->q, b->clip->q, (size_t)a->clip->frames * (size_t)a->clip->nq);
    }
    if (a->markers && b->markers && a->markers->frames == b->markers->frames && a->markers->count == b->markers->count) {
        size_t count = 3 * (size_t)a->markers->frames * (size_t)a->markers->count;
        return difference(&a->markers->position->x, &b->markers->position->x, count);
    }
    return INFINITY;
}

// What is lost when the file is written and read again.
static double loss(const task *t)
{
    void *bytes = NULL;
    size_t size = 0;
    poise_file file = *t->file, *again = NULL;
    file.model = file.model ? file.model : (poise_model *)(uintptr_t)t->options.model;
    if (poise_write(&file, t->options.format, NULL, &bytes, &size, NULL, NULL, NULL) != POISE_OK ||
        poise_read(bytes, size, &t->options, NULL, &again, NULL) != POISE_OK) {
        bench_fail("a file does not come back");
    }
    double lost = loss_of(t->file, again);
    poise_file_destroy(again);
    poise_bytes_release(NULL, bytes);
    return lost;
}

void files_row(const bench *b, const char *what, poise_format format, const poise_model *model, const void *bytes,
               size_t size)
{
    task t = {.bytes = bytes, .size = size};
    bench_progress(b, what);
    t.options.format = format;
    t.options.model = model;
    if (poise_read(bytes, size, &t.options, NULL, &t.file, NULL) != POISE_OK) {
        bench_fail("%s: cannot be read", what);
    }
    const bench_work works[] = {read_all, write_all, copy_all};
    void *const users[] = {&t, &t, &t};
    double ns[3], megabytes = (double)size / 1e6;
    double lost = loss(&t);
    bench_race(works, users, 3, ns);
    report_row(b->report, what, "poise",
               REPORT_VALUES(megabytes, lost, 1e9 * megabytes / ns[0], 1e9 * megabytes / ns[1], 1e9 * megabytes / ns[2],
                             ns[0] / ns[2]));
    report_promise(b->report, lost <= (format == POISE_FORMAT_C3D ? HALF_FLOAT : 0.0),
                   "%s: written and read again, off by %.1e", what, lost);
    poise_file_destroy(t.file);
}

void suite_files(const bench *b)
{
    static const report_column columns[] = {
        {"megabytes", "size MB", 1, REPORT_FIXED, false},   {"error", "error again", 0, REPORT_FIGURES, false},
        {"read_mb_s", "read MB/s", 0, REPORT_FIXED, false}, {"write_mb_s", "write MB/s", 0, REPORT_FIXED, false},
        {"copy_mb_s", "copy MB/s", 0, REPORT_FIXED, false}, {"ratio", "read /copy", 1, REPORT_TIMES, false}};
    static const report_table table = {"formats", "From bytes in memory and back, beside copying them", "file", columns, 6};
    report_begin_table(b->report, &table);
    files_add_markers(b);
    files_add_motions(b);
}
