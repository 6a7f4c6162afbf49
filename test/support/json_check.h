// What the tests of the JSON formats share: whole files, hostile memory, hostile lengths, and files that must be the same.
#ifndef TEST_JSON_CHECK_H
#define TEST_JSON_CHECK_H

#include <poise/io.h>

// Bytes of a file in the shared folder, from malloc; NULL when there is none. Every file has its own allocation, so that an
// address sanitizer sees a read past its end.
unsigned char *json_check_load(const char *path, size_t *size);

// Read a text as this format with default options. NULL and the error when it is refused.
poise_file *json_check_read(const char *text, poise_format format, poise_error *error);

// The text must be refused, in this line, with words that contain `words`.
void json_check_refused(const char *text, poise_format format, int line, const char *words);

// The text must be read, with a warning in this line that contains `words`.
void json_check_warned(const char *text, poise_format format, int line, const char *words);

// The first n bytes, for every n, must be read or refused with words, and nothing else may happen.
void json_check_truncations(const void *bytes, size_t size, poise_format format);

// Reading and writing with an allocator that fails its n-th request, for every n: POISE_ERROR_MEMORY (or a success without
// a warning), no leak. Returns how many requests a success took.
int json_check_failing_allocator(const void *bytes, size_t size, poise_format format);

// Every number, name and size of the two files has the same bits.
void json_check_same(const poise_file *a, const poise_file *b);
void json_check_same_model(const poise_model *a, const poise_model *b);

// The least time of three to read these bytes, seconds.
double json_check_time(const void *bytes, size_t size, poise_format format);

#endif
