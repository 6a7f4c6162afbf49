// What tests of formats share: files of the data folder, reading and writing with every status checked, files that must
// be the same, and the hostile treatment that every reader must survive.
#ifndef TEST_IO_CHECK_H
#define TEST_IO_CHECK_H

#include "test_main.h"

#include <poise/io.h>
#include <poise/poise.h>

#include <string.h>

typedef struct io_bytes {
    unsigned char *bytes;
    size_t size;
} io_bytes;

// Bytes and files that come from here are released after the test.

// A file of the data folder (test_data), with a zero behind it.
io_bytes io_load(const char *path);

// Text that grows. Release `text` with free.
typedef struct io_text {
    char *text;
    size_t size, capacity;
} io_text;

void io_put(io_text *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

// ---- Reading -------------------------------------------------------------------------------------------------------------

poise_read_options io_options(poise_format format, const poise_model *model);

// Reading must work.
poise_file *io_read(const void *bytes, size_t size, poise_format format, const poise_model *model);
poise_file *io_read_text(const char *text, poise_format format, const poise_model *model);
poise_file *io_read_with(const char *text, const poise_read_options *options);
poise_file *io_read_bytes(io_bytes bytes, const poise_read_options *options);
poise_file *io_read_data(const char *path, poise_format format, const poise_model *model);

// Hand a file that was read otherwise over to the runner; NULL is allowed.
poise_file *io_own(poise_file *file);

// A text that must be refused, or read with a warning.
typedef struct io_case {
    const char *text;
    int line;          // of the error or warning
    const char *words; // in it; NULL: no warning
} io_case;

typedef struct io_refusal {
    io_case what;
    poise_status status;
} io_refusal;

void io_case_refused(const io_case *c, poise_format format, const poise_model *model);
void io_refusal_holds(const io_refusal *r, poise_format format);
poise_file *io_case_warned(const io_case *c, poise_format format, const poise_model *model);

void io_refused(const void *bytes, size_t size, const poise_read_options *options, int line, const char *words);
void io_refused_text(const char *text, poise_format format, const poise_model *model, int line, const char *words);

// Is there a warning on that line (0: any) with that in its text? io_check_warned: there must be one, on just that line.
bool io_warned(const poise_file *file, int line, const char *part);
void io_check_warned(const poise_file *file, int line, const char *part);
void io_warned_text(const char *text, poise_format format, int line, const char *part);

// ---- Writing -------------------------------------------------------------------------------------------------------------

// Writing must work, with so many warnings (-1: any number); must warn of that; must be refused for that.
io_bytes io_write(const poise_file *file, poise_format format, int warnings);
void io_write_warns(const poise_file *file, poise_format format, const char *part);
void io_write_refused(const poise_file *file, poise_format format, const char *part);

// What is written reads back to the same bits, without a warning; and is written to the same bytes again.
void io_round_trip(const poise_file *file, poise_format format, int warnings);

// ---- The same bits -------------------------------------------------------------------------------------------------------

// Every number, name and size that counts has the same bits.
void io_same_files(const poise_file *a, const poise_file *b);
void io_same_models(const poise_model *a, const poise_model *b);
void io_same_bounds(const poise_file *a, const poise_file *b); // shapes, pairs, loops (io/same_bounds.c)
void io_same_clips(const poise_clip *a, const poise_clip *b);
void io_same_markers(const poise_markers *a, const poise_markers *b);

// ---- Kinematics ----------------------------------------------------------------------------------------------------------

// The pose of the body, or else the tool, of that name at q; q NULL: neutral.
poise_pose io_pose(const poise_model *model, const double *q, const char *name);

// Where it is in a frame of the clip.
poise_vec3 io_place(const poise_model *model, const poise_clip *clip, int frame, const char *name);

// Coordinates within `tolerance` of what is expected; of a quaternion the sign does not matter.
void io_near(poise_vec3 p, const double expected[3], double tolerance, const char *what);
void io_same_pose(const char *what, poise_pose a, poise_pose b, double tolerance);

// ---- Hard times ----------------------------------------------------------------------------------------------------------

// Numbers are finite and counts make sense.
bool io_is_sound(const poise_file *file);

// The bytes cut at every place up to 4 kB, at every end of a token up to 12 kB, at many of those beyond, each in memory of
// just that size: a sound file, or an error in words with a place.
void io_survives_cuts(io_bytes file, poise_format format, const poise_model *model);

// Bytes replaced one by one, each by several others: the same.
void io_survives_changes(io_bytes file, poise_format format, const poise_model *model);

// The n-th request for memory fails, for every n, once or for good: MEMORY or, where only a warning was lost, OK; outputs
// untouched, no leak. Returns how many requests there are.
int io_reads_without_memory(io_bytes file, poise_format format, const poise_model *model);
int io_writes_without_memory(const poise_file *file, poise_format format);

#endif
