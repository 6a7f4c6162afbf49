// Bytes and texts.
#include <string.h>

#include <math.h>

// The built-in functions are instructions here (bulk memory), not calls of these functions.
void *memcpy(void *restrict to, const void *restrict from, size_t size)
{
    return __builtin_memcpy(to, from, size);
}

void *memmove(void *to, const void *from, size_t size)
{
    return __builtin_memmove(to, from, size);
}

void *memset(void *to, int byte, size_t size)
{
    return __builtin_memset(to, byte, size);
}

int memcmp(const void *a, const void *b, size_t size)
{
    const unsigned char *x = a, *y = b;
    for (size_t i = 0; i < size; ++i) {
        if (x[i] != y[i]) {
            return x[i] < y[i] ? -1 : 1;
        }
    }
    return 0;
}

void *memchr(const void *memory, int byte, size_t size)
{
    const unsigned char *x = memory;
    for (size_t i = 0; i < size; ++i) {
        if (x[i] == (unsigned char)byte) {
            return (void *)(x + i);
        }
    }
    return NULL;
}

size_t strlen(const char *text)
{
    const char *end = text;
    while (*end) {
        ++end;
    }
    return (size_t)(end - text);
}

int strncmp(const char *a, const char *b, size_t size)
{
    for (size_t i = 0; i < size; ++i) {
        if (a[i] != b[i] || a[i] == '\0') {
            return (unsigned char)a[i] - (unsigned char)b[i];
        }
    }
    return 0;
}

int strcmp(const char *a, const char *b)
{
    return strncmp(a, b, (size_t)-1);
}

char *strncpy(char *restrict to, const char *restrict from, size_t size)
{
    size_t i = 0;
    for (; i < size && from[i]; ++i) {
        to[i] = from[i];
    }
    for (; i < size; ++i) {
        to[i] = '\0';
    }
    return to;
}

char *strchr(const char *text, int character)
{
    return memchr(text, character, strlen(text) + 1);
}

char *strrchr(const char *text, int character)
{
    for (size_t i = strlen(text) + 1; i > 0; --i) {
        if (text[i - 1] == (char)character) {
            return (char *)(text + i - 1);
        }
    }
    return NULL;
}

double sqrt(double x)
{
    return __builtin_sqrt(x);
}

double fabs(double x)
{
    return __builtin_fabs(x);
}

double floor(double x)
{
    return __builtin_floor(x);
}
