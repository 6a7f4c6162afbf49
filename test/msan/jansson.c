// Jansson is not compiled with the memory sanitizer, which takes what it writes for never written. Its memory counts as
// written from the start, and so do the words of an error.
#include <jansson.h>
#include <sanitizer/msan_interface.h>
#include <stdlib.h>

json_t *__real_json_loadb(const char *text, size_t size, size_t flags, json_error_t *error);
json_t *__wrap_json_loadb(const char *text, size_t size, size_t flags, json_error_t *error);
json_t *__real_json_load_file(const char *path, size_t flags, json_error_t *error);
json_t *__wrap_json_load_file(const char *path, size_t flags, json_error_t *error);
static void *take_written(size_t size)
{
    void *memory = malloc(size);
    if (memory) {
        __msan_unpoison(memory, size);
    }
    return memory;
}

__attribute__((constructor)) static void watch_memory(void)
{
    json_set_alloc_funcs(take_written, free);
}

// Frames of functions that have returned keep their marks: the next ones there are jansson's.
__attribute__((noinline)) static void clear_stack(void)
{
    char below[1 << 15];
    __msan_unpoison(below, sizeof below);
}

json_t *__wrap_json_loadb(const char *text, size_t size, size_t flags, json_error_t *error)
{
    clear_stack();
    __msan_unpoison(error, sizeof *error);
    return __real_json_loadb(text, size, flags, error);
}

json_t *__wrap_json_load_file(const char *path, size_t flags, json_error_t *error)
{
    clear_stack();
    __msan_unpoison(error, sizeof *error);
    return __real_json_load_file(path, flags, error);
}
