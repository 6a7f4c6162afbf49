// What the tests of the XML formats put every reader through.
#ifndef TEST_XML_TRIALS_H
#define TEST_XML_TRIALS_H

#include "test_main.h"

#include <poise/poise.h>

#include <poise/io.h>

#include <string.h>

// ---- Reading -------------------------------------------------------------------------------------------------------------

// Read a text; the test fails if that does not work.
poise_file *trial_read(poise_format format, const char *text);
poise_file *trial_read_with(poise_format format, const char *text, const poise_read_options *options);

// Reading must fail with this status, this line, and these words in the message.
void trial_refused(poise_format format, const char *text, poise_status status, int line, const char *words);

// Some warning of the file has these words in it; its line is `line`.
void trial_warned(const poise_file *file, int line, const char *words);

// A whole file of the shared data. Release with free.
char *trial_load(const char *path, size_t *size);

// ---- Hostile input -------------------------------------------------------------------------------------------------------

// Every beginning of the text, or some of a long one, in memory of just that size: a file, or an error with a text.
void trial_cut(poise_format format, const char *text, size_t size);

// The text with memory that fails: the caller's at the n-th request for every n, then what the parser takes from malloc.
// Each time the answer is POISE_ERROR_MEMORY, and nothing leaks.
void trial_without_memory(poise_format format, const char *text);

// The time of reading `write(10 n)` is in proportion to that of `write(n)`: ten times, and half as much again where tables
// leave the cache; twenty is the bound. With n in the thousands a single scan of a list per element takes it to a hundred.
// `write` gives a text to be released with free.
void trial_linear_time(poise_format format, char *(*write)(int n), int n);

// ---- Kinematics ----------------------------------------------------------------------------------------------------------

// The pose of a body, or of a tool, at q; NULL for a model that does not move.
poise_pose trial_body(const poise_model *model, const double *q, const char *body);
poise_pose trial_tool(const poise_model *model, const double *q, const char *tool);

// Position and rotation to `tolerance`; the sign of a quaternion does not matter.
void trial_same_pose(const char *what, poise_pose a, poise_pose b, double tolerance);

// Text that grows.
typedef struct trial_text {
    char *text;
    size_t size, capacity;
} trial_text;

void trial_put(trial_text *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
