// What tests of formats share: files beside the repository, reading and writing with every status checked, allocators that
// fail, files that end too early.
#ifndef TEST_IO_CHECK_H
#define TEST_IO_CHECK_H

#include <poise/io.h>

#include "test_main.h"

#include <string.h>
#include <time.h>

typedef struct io_bytes {
    unsigned char *bytes;
    size_t size;
} io_bytes;

// A file of the shared data; ends the test when it is not there.
static inline io_bytes io_load(const char *path)
{
    char full[4096];
    snprintf(full, sizeof full, "%s/data/%s", POISE_SHARED_DIR, path);
    FILE *file = fopen(full, "rb");
    ck_assert_msg(file != NULL, "%s", full);
    fseek(file, 0, SEEK_END);
    io_bytes got = {NULL, (size_t)ftell(file)};
    rewind(file);
    got.bytes = malloc(got.size + 1);
    ck_assert_uint_eq(fread(got.bytes, 1, got.size, file), got.size);
    fclose(file);
    return got;
}

static inline poise_read_options io_options(poise_format format, const poise_model *model)
{
    poise_read_options options = poise_read_options_default();
    options.format = format;
    options.model = model;
    return options;
}

static inline poise_file *io_read(const void *bytes, size_t size, poise_format format, const poise_model *model)
{
    poise_read_options options = io_options(format, model);
    poise_file *file = NULL;
    poise_error error = {0};
    poise_status status = poise_read(bytes, size, &options, NULL, &file, &error);
    ck_assert_msg(status == POISE_OK, "%s: line %d: %s", poise_status_name(status), error.line, error.text);
    return file;
}

static inline poise_file *io_read_text(const char *text, poise_format format, const poise_model *model)
{
    return io_read(text, strlen(text), format, model);
}

// Reading must fail, on that line, with that in its message.
static inline void io_refused(const void *bytes, size_t size, poise_format format, const poise_model *model, int line,
                              const char *part)
{
    poise_read_options options = io_options(format, model);
    poise_file *file = NULL;
    poise_error error = {0};
    poise_status status = poise_read(bytes, size, &options, NULL, &file, &error);
    ck_assert_msg(status != POISE_OK, "read, but \"%s\" was expected", part);
    ck_assert_ptr_null(file);
    ck_assert_int_eq(error.status, status);
    ck_assert_msg(strstr(error.text, part) != NULL, "\"%s\" has no \"%s\"", error.text, part);
    ck_assert_msg(error.line == line, "\"%s\" on line %d, not %d", error.text, error.line, line);
}

static inline void io_refused_text(const char *text, poise_format format, const poise_model *model, int line,
                                   const char *part)
{
    io_refused(text, strlen(text), format, model, line, part);
}

// Is there a warning on that line (0: any) with that in its text?
static inline bool io_warned(const poise_file *file, int line, const char *part)
{
    for (int i = 0; i < file->warning_count; ++i) {
        if (strstr(file->warnings[i].text, part) && (line == 0 || file->warnings[i].line == line)) {
            return true;
        }
    }
    return false;
}

// Writing must work, with so many warnings (-1: any number).
static inline io_bytes io_write(const poise_file *file, poise_format format, int warnings)
{
    void *bytes = NULL;
    size_t size = 0;
    poise_error error = {0};
    poise_warning said[8];
    int count = 8;
    poise_status status = poise_write(file, format, NULL, &bytes, &size, said, &count, &error);
    ck_assert_msg(status == POISE_OK, "%s: %s", poise_status_name(status), error.text);
    ck_assert_msg(warnings < 0 || count == warnings, "%d warnings; first: %s", count, count > 0 ? said[0].text : "");
    return (io_bytes){bytes, size};
}

// Writing must warn of that.
static inline void io_write_warns(const poise_file *file, poise_format format, const char *part)
{
    void *bytes = NULL;
    size_t size = 0;
    poise_warning said[8];
    int count = 8;
    ck_assert_int_eq(poise_write(file, format, NULL, &bytes, &size, said, &count, NULL), POISE_OK);
    bool found = false;
    for (int i = 0; i < count && i < 8; ++i) {
        found = found || strstr(said[i].text, part) != NULL;
    }
    ck_assert_msg(found, "no warning with \"%s\" among %d; first: %s", part, count, count > 0 ? said[0].text : "");
    poise_bytes_release(NULL, bytes);
}

static inline void io_write_refused(const poise_file *file, poise_format format, const char *part)
{
    void *bytes = NULL;
    size_t size = 0;
    poise_error error = {0};
    ck_assert_int_ne(poise_write(file, format, NULL, &bytes, &size, NULL, NULL, &error), POISE_OK);
    ck_assert_ptr_null(bytes);
    ck_assert_msg(strstr(error.text, part) != NULL, "\"%s\" has no \"%s\"", error.text, part);
}

// ---- The same bits -------------------------------------------------------------------------------------------------------

static inline void io_same_markers(const poise_markers *a, const poise_markers *b)
{
    ck_assert(a->frames == b->frames && a->count == b->count && a->first_frame == b->first_frame);
    ck_assert_double_eq(a->rate, b->rate);
    ck_assert_double_eq(a->scale.metres, b->scale.metres);
    ck_assert_int_eq(a->scale.up, b->scale.up);
    for (int i = 0; i < a->count; ++i) {
        ck_assert_str_eq(a->label[i], b->label[i]);
    }
    for (int f = 0; f < a->frames; ++f) {
        for (int i = 0; i < a->count; ++i) {
            size_t k = (size_t)f * (size_t)a->count + (size_t)i;
            bool is_seen = poise_markers_seen(a, f, i);
            if (is_seen != poise_markers_seen(b, f, i) ||
                (is_seen && memcmp(&a->position[k], &b->position[k], sizeof a->position[k]) != 0)) {
                ck_abort_msg("frame %d, marker %d differs", f, i);
            }
            if (a->residual && b->residual && a->residual[k] != b->residual[k]) {
                ck_abort_msg("residual of frame %d, marker %d: %g and %g", f, i, (double)a->residual[k],
                             (double)b->residual[k]);
            }
        }
    }
}

static inline void io_same_clips(const poise_clip *a, const poise_clip *b)
{
    ck_assert(a->frames == b->frames && a->nq == b->nq);
    ck_assert_double_eq(a->frame_time, b->frame_time);
    ck_assert_double_eq(a->start_time, b->start_time);
    ck_assert_mem_eq(a->q, b->q, (size_t)a->frames * (size_t)a->nq * sizeof *a->q);
}

// ---- Hard times ----------------------------------------------------------------------------------------------------------

typedef struct io_meter {
    int requests, fail_at, live;
} io_meter;

static inline void *io_meter_allocate(void *user, size_t size)
{
    io_meter *m = user;
    m->requests += 1;
    if (m->requests == m->fail_at) {
        return NULL;
    }
    void *memory = malloc(size);
    m->live += memory != NULL;
    return memory;
}

static inline void io_meter_release(void *user, void *memory)
{
    ((io_meter *)user)->live -= 1;
    free(memory);
}

// Read with the n-th request for memory failing, for every n: MEMORY or, where only a warning was lost, OK; no leak.
static inline void io_reads_without_memory(const void *bytes, size_t size, poise_format format, const poise_model *model)
{
    poise_read_options options = io_options(format, model);
    int refused = 0;
    for (int n = 1; n < 10000; ++n) {
        io_meter m = {.fail_at = n};
        poise_allocator allocator = {io_meter_allocate, io_meter_release, &m};
        poise_file *file = NULL;
        poise_error error = {0};
        poise_status status = poise_read(bytes, size, &options, &allocator, &file, &error);
        ck_assert_msg(status == POISE_OK || status == POISE_ERROR_MEMORY, "request %d: %s", n, error.text);
        ck_assert_int_eq(file != NULL, status == POISE_OK);
        refused += status != POISE_OK;
        poise_file_destroy(file);
        ck_assert_msg(m.live == 0, "request %d: %d blocks left", n, m.live);
        if (m.requests < n) {
            ck_assert_int_ge(refused, 2); // the set and the file at least
            return;
        }
    }
    ck_abort_msg("more than 10000 requests for memory");
}

static inline void io_writes_without_memory(const poise_file *file, poise_format format)
{
    for (int n = 1; n < 10000; ++n) {
        io_meter m = {.fail_at = n};
        poise_allocator allocator = {io_meter_allocate, io_meter_release, &m};
        void *bytes = NULL;
        size_t size;
        poise_status status = poise_write(file, format, &allocator, &bytes, &size, NULL, NULL, NULL);
        if (status == POISE_OK) {
            poise_bytes_release(&allocator, bytes);
            ck_assert_int_eq(m.live, 0);
            ck_assert_int_lt(m.requests, n);
            ck_assert_int_gt(n, 1);
            return;
        }
        ck_assert_int_eq(status, POISE_ERROR_MEMORY);
        ck_assert_ptr_null(bytes);
        ck_assert_int_eq(m.live, 0);
    }
}

static inline bool io_is_sound(const poise_file *file)
{
    const poise_clip *clip = file->clip;
    for (size_t i = 0; clip && i < (size_t)clip->frames * (size_t)clip->nq; ++i) {
        if (clip->q[i] - clip->q[i] != 0.0) {
            return false;
        }
    }
    return !file->markers || file->markers->rate > 0.0;
}

// Cut after every byte from `from` on, in steps: a sound file or an error in words. A copy of just the size lets a sanitizer
// see reads beyond it.
static inline void io_survives_cuts(const void *bytes, size_t size, size_t step, poise_format format,
                                    const poise_model *model)
{
    poise_read_options options = io_options(format, model);
    for (size_t cut = 0; cut <= size; cut += step) {
        unsigned char *copy = malloc(cut > 0 ? cut : 1);
        memcpy(copy, bytes, cut);
        poise_file *file = NULL;
        poise_error error = {0};
        poise_status status = poise_read(copy, cut, &options, NULL, &file, &error);
        ck_assert(status == POISE_OK ? file != NULL && io_is_sound(file) : file == NULL && error.text[0] != '\0');
        poise_file_destroy(file);
        free(copy);
    }
}

// Memory that is there before the clock starts: new pages cost time of their own.
typedef struct io_heap {
    unsigned char *bytes;
    size_t used, size;
} io_heap;

static inline void *io_heap_allocate(void *user, size_t size)
{
    io_heap *heap = user;
    size = (size + 63) / 64 * 64;
    void *memory = size <= heap->size - heap->used ? heap->bytes + heap->used : NULL;
    heap->used += memory ? size : 0;
    return memory;
}

static inline void io_heap_release(void *user, void *memory)
{
    (void)user;
    (void)memory;
}

// Seconds of processor time of one read, the least of five.
static inline double io_seconds(io_bytes file, poise_format format, const poise_model *model)
{
    poise_read_options options = io_options(format, model);
    size_t room = (file.size < 2000000 ? 200 : 12) * file.size + 1000000; // models are larger than their text
    io_heap heap = {malloc(room), 0, room};
    poise_allocator allocator = {io_heap_allocate, io_heap_release, &heap};
    memset(heap.bytes, 1, heap.size);
    double least = 1e9;
    for (int i = 0; i < 5; ++i) {
        poise_file *read = NULL;
        heap.used = 0;
        clock_t start = clock();
        ck_assert_int_eq(poise_read(file.bytes, file.size, &options, &allocator, &read, NULL), POISE_OK);
        double took = (double)(clock() - start) / CLOCKS_PER_SEC;
        least = took < least ? took : least;
    }
    free(heap.bytes);
    return least;
}

// Ten times the bytes take about ten times the time. What no longer fits in a cache may take twice as long for each byte, so
// the bound is 20, far from the 100 of quadratic work; noise gets three chances.
static inline void io_is_linear(io_bytes small, io_bytes large, poise_format format, const poise_model *model)
{
    double ratio = 0.0;
    for (int attempt = 0; attempt < 3; ++attempt) {
        double one = io_seconds(small, format, model);
        double ten = io_seconds(large, format, model);
        ratio = ten / (one > 1e-4 ? one : 1e-4);
        if (ratio * ((double)small.size * 10 / (double)large.size) <= 20.0) {
            return;
        }
    }
    ck_abort_msg("%zu bytes take %g times the time of %zu", large.size, ratio, small.size);
}

#endif
