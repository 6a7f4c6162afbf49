// How fast files are read and written, in megabytes of the file per second on one core, beside copying its bytes.
#include "bench_read.h"

#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

void bench_read_row(const char *what, poise_format format, const poise_model *model, const void *bytes, size_t size)
{
    task t = {.options = poise_read_options_default(), .bytes = bytes, .size = size};
    t.options.format = format;
    t.options.model = model;
    if (poise_read(bytes, size, &t.options, NULL, &t.file, NULL) != POISE_OK) {
        abort();
    }
    const bench_work works[] = {read_all, write_all, copy_all};
    void *const users[] = {&t, &t, &t};
    double ns[3];
    bench_race(works, users, 3, ns);
    double rate[3];
    for (int i = 0; i < 3; ++i) {
        rate[i] = (double)size / ns[i] * 1e3;
    }
    printf("%-18s %8.1f %10.0f %10.0f %10.0f %10.2f\n", what, (double)size / 1e6, rate[0], rate[1], rate[2],
           rate[0] / rate[2]);
    poise_file_destroy(t.file);
}

int main(void)
{
    bench_print_machine();
    printf("\n%-18s %8s %10s %10s %10s %10s\n", "file", "MB", "read MB/s", "write MB/s", "copy MB/s", "read/copy");
    bench_read_markers();
    bench_read_motion();
    return 0;
}
