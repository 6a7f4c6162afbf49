// What readers and writers share.
//
// A reader is one function in one file, with one row in the table (formats.c). It takes bytes through a pz_input and fills
// a poise_file. All memory it needs on the way comes from the input's pool, which is released when the read ends, whether it
// worked or not: a reader that meets an error just returns it. The parts of the file (model, clip, markers, title) come from
// the caller's allocator and are released by poise_read if the reader fails.
#ifndef PZ_IO_IO_CORE_H
#define PZ_IO_IO_CORE_H

#include <poise/io.h>

#include "base/error.h"
#include "base/text.h"
#include "io/text.h"

// ---- Memory --------------------------------------------------------------------------------------------------------------

typedef struct pz_pool {
    const poise_allocator *allocator;
    struct pz_pool_block *blocks;
} pz_pool;

// Not cleared; aligned for anything; NULL when out of memory or when the size overflows. Released with the pool.
void *pz_pool_take(pz_pool *pool, size_t count, size_t element);
void pz_pool_release(pz_pool *pool);

// A growing array in a pool: make room for one more element after `count`, doubling *capacity; returns the array (moved if
// need be) or NULL.
void *pz_pool_grow(pz_pool *pool, void *array, size_t count, size_t *capacity, size_t element);

// An empty index for `count` names; false: out of memory.
bool pz_pool_names(pz_pool *pool, size_t count, pz_names *names);

// A zero-terminated copy.
char *pz_pool_copy(pz_pool *pool, const char *text, size_t length);

// ---- Input ---------------------------------------------------------------------------------------------------------------

typedef struct pz_input {
    const unsigned char *bytes;
    size_t size;
    const poise_read_options *options;
    const poise_allocator *allocator; // of the parts of the file
    pz_pool pool;                     // released when the read ends
    pz_pool kept;                     // goes over to the file: goals, postures and placements with all they point to
    poise_file *file;                 // being filled; format is set
    poise_error *error;
    size_t warning_capacity;
} pz_input;

// Report failure: status, and where. Understands what pz_error_set does. `line` 0: none. For binary files say the byte in
// the text. Returns `status`.
poise_status pz_input_fail(pz_input *input, poise_status status, int line, const char *format, ...) PZ_PRINTF(4, 5);
poise_status pz_input_no_memory(pz_input *input);
#if defined(__clang_analyzer__) // as pz_error_set
#define pz_input_fail(input, status, line, ...) (pz_input_fail(input, status, line, __VA_ARGS__), (status))
#define pz_input_no_memory(input)               (pz_input_no_memory(input), POISE_ERROR_MEMORY)
#endif

// Note something odd; out of memory here drops the warning, and never the read.
void pz_input_warn(pz_input *input, int line, const char *format, ...) PZ_PRINTF(3, 4);

// One reason for warnings that may come up a million times. The first few are said, the rest is counted.
typedef struct pz_cause {
    const char *what; // in the plural, for "and 17 more joints without a limit"
    int count;
} pz_cause;

#define PZ_WARNINGS_EACH 3
static inline bool pz_is_among_first(pz_cause *cause)
{
    cause->count += cause->count < INT32_MAX ? 1 : 0;
    return cause->count <= PZ_WARNINGS_EACH;
}

// Say how many were not said.
void pz_causes_close(pz_input *input, const pz_cause *causes, size_t count);

// Add "3 events" to what is said, after a comma where there is something.
void pz_carried_say(poise_error *said, int count, const char *what);

// The file's clip: the first `frames` of one that was made larger, which goes over to the input.
poise_status pz_input_keep_clip(pz_input *input, poise_clip *clip, int frames);

// Points of the file's markers at 0 0 0 that a marker jumps to, or never leaves, become gaps, with a warning.
void pz_zeros_are_gaps(pz_input *input);

// What is carried after the frames were cut to [first, first + count), count 0: after another rate, which loses what goes by
// frames; after lengths and axes were changed (c3d_read.c). NULL is allowed.
void pz_carried_trim(poise_carried *carried, int first, int count);
void pz_carried_rescale(poise_carried *carried, poise_scale from, poise_scale to);

// ---- Output --------------------------------------------------------------------------------------------------------------

// Bytes being written: memory grows as needed; after a failure nothing more is added and `failed` is set.
typedef struct pz_output {
    const poise_allocator *allocator;
    unsigned char *bytes;
    size_t size, capacity;
    bool failed;
    poise_error *error;
    poise_warning *warnings; // of the caller, may be NULL
    int warning_capacity, warning_count;
} pz_output;

void pz_put_bytes(pz_output *output, const void *bytes, size_t size);
void pz_put(pz_output *output, const char *text);
void pz_put_number(pz_output *output, double value);
void pz_put_degrees(pz_output *output, double radians);
void pz_put_integer(pz_output *output, long long value);
void pz_output_warn(pz_output *output, const char *format, ...) PZ_PRINTF(2, 3);

// ---- Editing (file.c) ----------------------------------------------------------------------------------------------------

// A new model whose world is turned: what points up along `from` does so along `to`. Configurations stay what they are.
poise_status pz_turn_model(const poise_model *model, poise_up from, poise_up to, const poise_allocator *allocator,
                           poise_model **made, poise_error *error);

// ---- Formats (formats.c) -------------------------------------------------------------------------------------------------

typedef struct pz_format_row {
    const char *name, *extension;                                     // extension with its dot
    poise_status (*read)(pz_input *input);                            // NULL: not read
    poise_status (*write)(const poise_file *file, pz_output *output); // NULL: not written; output->error for the reason
    bool is_still;                                                    // holds no motion
} pz_format_row;

// Each at the end of the file of its name.
extern const pz_format_row pz_urdf_format, pz_mjcf_format, pz_osim_format, pz_srdf_format, pz_dh_format; // models
extern const pz_format_row pz_bvh_format, pz_asf_format, pz_amc_format, pz_mot_format; // skeletons, motions
extern const pz_format_row pz_c3d_format, pz_trc_format;                               // markers
extern const pz_format_row pz_gltf_format, pz_glb_format;                              // figures
extern const pz_format_row pz_json_format;                                             // everything

#endif
