// What readers and writers share: memory of a read, errors and warnings, bytes being written, markers at 0 0 0.
#include "io/io_core.h"

#include "base/arena.h"
#include "num/vector.h"

#include <math.h>
#include <string.h>

// ---- Memory --------------------------------------------------------------------------------------------------------------

#define BLOCK 65536 // bytes; larger requests get a block of their own

typedef struct pz_pool_block {
    struct pz_pool_block *next;
    size_t used, size;
    max_align_t bytes[];
} pz_pool_block;

static size_t rounded(size_t size)
{
    return (size + sizeof(max_align_t) - 1) / sizeof(max_align_t) * sizeof(max_align_t);
}

void *pz_pool_take(pz_pool *pool, size_t count, size_t element)
{
    if (element != 0 && count > (SIZE_MAX / 2 - BLOCK) / element) {
        return NULL;
    }
    size_t size = rounded(count * element + 1); // never 0, and a spare byte for a closing zero
    pz_pool_block *block = pool->blocks;
    if (!block || block->size - block->used < size) {
        size_t room = size > BLOCK / 4 ? size : BLOCK;
        pz_pool_block *fresh = pz_allocate(pool->allocator, sizeof *fresh + room);
        if (!fresh) {
            return NULL;
        }
        *fresh = (pz_pool_block){.size = room};
        bool keeps_open = block && room == size; // a large request does not close a block that has room left
        fresh->next = keeps_open ? block->next : block;
        if (keeps_open) {
            block->next = fresh;
        } else {
            pool->blocks = fresh;
        }
        block = fresh;
    }
    void *taken = (unsigned char *)block->bytes + block->used;
    block->used += size;
    return taken;
}

void pz_pool_release(pz_pool *pool)
{
    while (pool->blocks) {
        pz_pool_block *next = pool->blocks->next;
        pz_release(pool->allocator, pool->blocks);
        pool->blocks = next;
    }
}

void *pz_pool_grow(pz_pool *pool, void *array, size_t count, size_t *capacity, size_t element)
{
    if (count < *capacity) {
        return array;
    }
    size_t room = *capacity < 8 ? 8 : *capacity > SIZE_MAX / 2 ? SIZE_MAX : 2 * *capacity;
    void *larger = pz_pool_take(pool, room, element);
    if (!larger) {
        return NULL;
    }
    if (count > 0) {
        memcpy(larger, array, count * element);
    }
    *capacity = room;
    return larger;
}

bool pz_pool_names(pz_pool *pool, size_t count, pz_names *names)
{
    names->capacity = pz_names_capacity(count);
    names->slots = pz_pool_take(pool, names->capacity, sizeof *names->slots);
    if (names->slots) {
        memset(names->slots, 0, names->capacity * sizeof *names->slots);
    }
    return names->slots != NULL;
}

char *pz_pool_copy(pz_pool *pool, const char *text, size_t length)
{
    char *copy = pz_pool_take(pool, length + 1, 1);
    if (copy) {
        memcpy(copy, text, length);
        copy[length] = '\0';
    }
    return copy;
}

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

// ---- Bytes being written -------------------------------------------------------------------------------------------------

void pz_put_bytes(pz_output *output, const void *bytes, size_t size)
{
    if (output->failed || size > SIZE_MAX / 4 - output->size) {
        output->failed = true;
        return;
    }
    if (output->size + size >= output->capacity) { // one byte stays free for the closing zero
        size_t capacity = 2 * (output->size + size) + 4096;
        unsigned char *larger = pz_allocate(output->allocator, capacity);
        if (!larger) {
            output->failed = true;
            return;
        }
        if (output->size > 0) {
            memcpy(larger, output->bytes, output->size);
        }
        pz_release(output->allocator, output->bytes);
        output->bytes = larger;
        output->capacity = capacity;
    }
    if (size > 0) {
        memcpy(output->bytes + output->size, bytes, size);
    }
    output->size += size;
}

void pz_put(pz_output *output, const char *text)
{
    pz_put_bytes(output, text, strlen(text));
}

void pz_put_number(pz_output *output, double value)
{
    char text[PZ_NUMBER_SIZE];
    pz_put_bytes(output, text, (size_t)pz_number_write(value, text));
}

void pz_put_degrees(pz_output *output, double radians)
{
    char text[PZ_NUMBER_SIZE];
    pz_put_bytes(output, text, (size_t)pz_number_write_scaled(radians, PZ_RADIANS_PER_DEGREE, text));
}

void pz_put_integer(pz_output *output, long long value)
{
    char text[24];
    size_t at = sizeof text;
    unsigned long long left = value < 0 ? 0ull - (unsigned long long)value : (unsigned long long)value;
    do {
        text[--at] = (char)('0' + left % 10);
        left /= 10;
    } while (left > 0);
    if (value < 0) {
        text[--at] = '-';
    }
    pz_put_bytes(output, text + at, sizeof text - at);
}

void pz_output_warn(pz_output *output, const char *format, ...)
{
    if (output->warnings && output->warning_count < output->warning_capacity) {
        poise_error said = {.line = 0};
        va_list arguments;
        va_start(arguments, format);
        pz_error_set_list(&said, POISE_OK, format, arguments);
        va_end(arguments);
        output->warnings[output->warning_count].line = 0;
        memcpy(output->warnings[output->warning_count].text, said.text, sizeof said.text);
    }
    output->warning_count += 1;
}

// ---- Markers at 0 0 0, which many programs write where one was not seen --------------------------------------------------

static poise_vec3 point(const poise_markers *markers, int frame, int marker)
{
    return markers->position[(size_t)frame * (size_t)markers->count + (size_t)marker];
}

static bool is_zero(poise_vec3 p)
{
    return p.x == 0 && p.y == 0 && p.z == 0;
}

// The longest way that a marker goes from one frame to the next where it is not at 0 0 0.
static double longest_step(const poise_markers *markers, int marker)
{
    double longest = 0;
    for (int f = 1; f < markers->frames; ++f) {
        poise_vec3 a = point(markers, f - 1, marker), b = point(markers, f, marker);
        double step = is_zero(a) || is_zero(b) ? 0 : v3_norm((poise_vec3){b.x - a.x, b.y - a.y, b.z - a.z});
        longest = step > longest ? step : longest; // not for gaps, which are not numbers
    }
    return longest;
}

// Does a marker that makes such steps come to 0 0 0 in frames [first, end), or leave it, on its way? Otherwise it jumps
// there, or never was anywhere else.
static bool passes_zero(const poise_markers *markers, int marker, int first, int end, double longest)
{
    double before = first > 0 ? v3_norm(point(markers, first - 1, marker)) : INFINITY;
    double after = end < markers->frames ? v3_norm(point(markers, end, marker)) : INFINITY;
    return before <= longest || after <= longest;
}

// Is any point of the recording at 0 0 0? In the order of memory: most recordings have none, and end here.
static bool any_zero(const poise_markers *markers)
{
    size_t points = (size_t)markers->frames * (size_t)markers->count;
    for (size_t i = 0; i < points; ++i) {
        if (is_zero(markers->position[i])) {
            return true;
        }
    }
    return false;
}

// Frames of one marker that became gaps.
static int open_gaps(poise_markers *markers, int marker)
{
    double longest = longest_step(markers, marker);
    int opened = 0;
    for (int first = 0, end; first < markers->frames; first = end) {
        end = first + 1;
        if (!is_zero(point(markers, first, marker))) {
            continue;
        }
        while (end < markers->frames && is_zero(point(markers, end, marker))) {
            ++end;
        }
        if (passes_zero(markers, marker, first, end, longest)) {
            continue;
        }
        for (int f = first; f < end; ++f) {
            size_t at = (size_t)f * (size_t)markers->count + (size_t)marker;
            markers->position[at] = (poise_vec3){NAN, NAN, NAN};
            if (markers->residual) {
                markers->residual[at] = -1.0f;
            }
        }
        opened += end - first;
    }
    return opened;
}

void pz_zeros_are_gaps(pz_input *input)
{
    poise_markers *markers = input->file->markers;
    int throughout = 0, in_part = 0, first = -1;
    int64_t points = 0;
    if (!any_zero(markers)) {
        return;
    }
    for (int i = 0; i < markers->count; ++i) {
        int opened = open_gaps(markers, i);
        first = opened > 0 && first < 0 ? i : first;
        throughout += opened > 0 && opened == markers->frames;
        in_part += opened > 0 && opened < markers->frames;
        points += opened;
    }
    if (points > 0) {
        pz_input_warn(input, 0, "%g points at 0 0 0 count as not seen: %d marker%s throughout, %d in some frames (\"%s\"%s)",
                      (double)points, throughout, throughout == 1 ? "" : "s", in_part, markers->label[first],
                      throughout + in_part > 1 ? " and others" : "");
    }
}
