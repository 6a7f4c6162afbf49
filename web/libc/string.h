// The part of <string.h> that Poise uses, for builds without a C library.
#ifndef WEB_LIBC_STRING_H
#define WEB_LIBC_STRING_H

#include <stddef.h>

void *memcpy(void *restrict to, const void *restrict from, size_t size);
void *memmove(void *to, const void *from, size_t size);
void *memset(void *to, int byte, size_t size);
int memcmp(const void *a, const void *b, size_t size);
void *memchr(const void *memory, int byte, size_t size);
size_t strlen(const char *text);
int strcmp(const char *a, const char *b);
int strncmp(const char *a, const char *b, size_t size);
char *strncpy(char *restrict to, const char *restrict from, size_t size);
char *strchr(const char *text, int character);
char *strrchr(const char *text, int character);

#endif
