// Reading: the frame around every format's reader.
#include "io/io_core.h"

#include "base/arena.h"

#include <string.h>

// ---- Errors and warnings -------------------------------------------------------------------------------------------------

#undef pz_input_fail // as pz_error_set
poise_status pz_input_fail(pz_input *input, poise_status status, int line, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    pz_error_set_list(input->error, status, format, arguments);
    va_end(arguments);
    if (input->error) {
        input->error->line = line;
        input->error->column = 0;
    }
    return status;
}

#undef pz_input_no_memory
poise_status pz_input_no_memory(pz_input *input)
{
    return pz_input_fail(input, POISE_ERROR_MEMORY, 0, "out of memory");
}

void pz_input_warn(pz_input *input, int line, const char *format, ...)
{
    poise_file *file = input->file;
    size_t count = (size_t)file->warning_count;
    poise_warning *warnings =
        file->warning_count < POISE_WARNINGS_MOST
            ? pz_pool_grow(&input->pool, file->warnings, count, &input->warning_capacity, sizeof *warnings)
            : NULL;
    if (!warnings) {
        file->warnings_dropped += 1;
        return;
    }
    poise_error said = {.line = line};
    va_list arguments;
    va_start(arguments, format);
    pz_error_set_list(&said, POISE_OK, format, arguments);
    va_end(arguments);
    file->warnings = warnings;
    warnings[count].line = line;
    memcpy(warnings[count].text, said.text, sizeof said.text);
    file->warning_count += 1;
}

void pz_causes_close(pz_input *input, const pz_cause *causes, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        int more = causes[i].count - PZ_WARNINGS_EACH;
        if (more > 0) {
            pz_input_warn(input, 0, "and %d more %s%s", more, more == 1 ? "of these: " : "", causes[i].what);
        }
    }
}

void pz_carried_say(poise_error *said, int count, const char *what)
{
    poise_error before = *said;
    if (count > 0) {
        pz_error_set(said, POISE_OK, "%s%s%d %s%s", before.text, before.text[0] ? ", " : "", count, what,
                     count == 1 ? "" : "s");
    }
}

poise_status pz_input_keep_clip(pz_input *input, poise_clip *clip, int frames)
{
    input->file->clip = clip;
    if (frames == clip->frames) {
        return POISE_OK;
    }
    poise_status status = poise_clip_trim(clip, 0, frames, input->allocator, &input->file->clip, NULL);
    input->file->clip = status == POISE_OK ? input->file->clip : NULL;
    poise_clip_destroy(clip);
    return status == POISE_OK ? POISE_OK : pz_input_no_memory(input);
}

// ---- Files ---------------------------------------------------------------------------------------------------------------

// A file as it is handed out: one allocation with its warnings and title.
typedef struct whole_file {
    poise_file file; // first, so that a pointer to it is one to this
    poise_allocator allocator;
    bool has_allocator;
    pz_pool kept; // goals, postures, placements
} whole_file;

static void release_parts(poise_file *file)
{
    poise_model_destroy(file->model);
    poise_clip_destroy(file->clip);
    poise_markers_destroy(file->markers);
}

void poise_file_destroy(poise_file *file)
{
    if (file) {
        whole_file *whole = (whole_file *)(void *)file;
        poise_allocator allocator = whole->allocator;
        bool has_allocator = whole->has_allocator;
        release_parts(file);
        whole->kept.allocator = has_allocator ? &allocator : NULL;
        pz_pool_release(&whole->kept);
        pz_release(has_allocator ? &allocator : NULL, whole);
    }
}

// Move what the pool holds of the file into an allocation of its own.
static poise_file *hand_out(const poise_file *file, const pz_pool *kept, const poise_allocator *allocator)
{
    size_t title = file->title ? strlen(file->title) + 1 : 0;
    size_t warnings = (size_t)file->warning_count * sizeof *file->warnings;
    whole_file *whole = pz_allocate(allocator, sizeof *whole + warnings + title);
    if (!whole) {
        return NULL;
    }
    *whole = (whole_file){.file = *file, .has_allocator = allocator != NULL, .kept = {.blocks = kept->blocks}};
    if (allocator) {
        whole->allocator = *allocator;
    }
    unsigned char *rest = (unsigned char *)(whole + 1);
    whole->file.warnings = warnings ? memcpy(rest, file->warnings, warnings) : NULL;
    whole->file.title = title ? memcpy(rest + warnings, file->title, title) : NULL;
    return &whole->file;
}

poise_status poise_read(const void *bytes, size_t size, const poise_read_options *options, const poise_allocator *allocator,
                        poise_file **file, poise_error *error)
{
    if ((!bytes && size > 0) || !file) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "bytes and file must not be NULL");
    }
    poise_read_options given = options ? *options : (poise_read_options){0};
    poise_format format = given.format;
    if (format == POISE_FORMAT_UNKNOWN) {
        format = poise_format_detect(bytes, size, given.name);
    }
    const pz_format_row *row = pz_format_row_of(format);
    if (!row || !row->read) {
        return pz_refuse_unknown(bytes, size, given.name, error);
    }
    poise_file filling = {.format = format};
    pz_input input = {.bytes = bytes ? bytes : (const void *)"",
                      .size = size,
                      .options = &given,
                      .allocator = allocator,
                      .pool = {.allocator = allocator},
                      .kept = {.allocator = allocator},
                      .file = &filling,
                      .error = error};
    poise_status status = row->read(&input);
    poise_file *whole = status == POISE_OK ? hand_out(&filling, &input.kept, allocator) : NULL;
    if (status == POISE_OK && !whole) {
        status = pz_input_no_memory(&input);
    }
    if (status != POISE_OK) {
        release_parts(&filling);
        pz_pool_release(&input.kept);
    }
    pz_pool_release(&input.pool);
    if (status == POISE_OK) {
        *file = whole;
    }
    return status;
}
