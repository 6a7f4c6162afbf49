#include "steps.h"

#include <stddef.h>

static uint64_t steps;

uint64_t steps_so_far(void)
{
    return steps;
}

// ---- What the compiler puts before each block ----------------------------------------------------------------------------

void __sanitizer_cov_trace_pc(void);

void __sanitizer_cov_trace_pc(void)
{
    steps += 1;
}

// ---- What is not compiled here: the linker sends calls of string.h (--wrap) ----------------------------------------------

void *__real_memcpy(void *to, const void *from, size_t size);
void *__real_memmove(void *to, const void *from, size_t size);
void *__real_memset(void *to, int byte, size_t size);
int __real_memcmp(const void *a, const void *b, size_t size);
void *__real_memchr(const void *text, int byte, size_t size);
size_t __real_strlen(const char *text);
int __real_strcmp(const char *a, const char *b);
int __real_strncmp(const char *a, const char *b, size_t size);
void *__wrap_memcpy(void *to, const void *from, size_t size);
void *__wrap_memmove(void *to, const void *from, size_t size);
void *__wrap_memset(void *to, int byte, size_t size);
int __wrap_memcmp(const void *a, const void *b, size_t size);
void *__wrap_memchr(const void *text, int byte, size_t size);
size_t __wrap_strlen(const char *text);
int __wrap_strcmp(const char *a, const char *b);
int __wrap_strncmp(const char *a, const char *b, size_t size);

static void go_over(size_t bytes)
{
    steps += bytes / 8;
}

// How far two texts are compared.
static size_t common(const char *a, const char *b, size_t most)
{
    size_t length = 0;
    while (length < most && a[length] == b[length] && a[length]) {
        length += 1;
    }
    return length;
}

void *__wrap_memcpy(void *to, const void *from, size_t size)
{
    go_over(size);
    return __real_memcpy(to, from, size);
}

void *__wrap_memmove(void *to, const void *from, size_t size)
{
    go_over(size);
    return __real_memmove(to, from, size);
}

void *__wrap_memset(void *to, int byte, size_t size)
{
    go_over(size);
    return __real_memset(to, byte, size);
}

int __wrap_memcmp(const void *a, const void *b, size_t size)
{
    go_over(size);
    return __real_memcmp(a, b, size);
}

void *__wrap_memchr(const void *text, int byte, size_t size)
{
    char *found = __real_memchr(text, byte, size);
    go_over(found ? (size_t)(found - (const char *)text) : size);
    return found;
}

size_t __wrap_strlen(const char *text)
{
    size_t length = __real_strlen(text);
    go_over(length);
    return length;
}

int __wrap_strcmp(const char *a, const char *b)
{
    go_over(common(a, b, SIZE_MAX));
    return __real_strcmp(a, b);
}

int __wrap_strncmp(const char *a, const char *b, size_t size)
{
    go_over(common(a, b, size));
    return __real_strncmp(a, b, size);
}
