// Filling a caller's poise_error.
#ifndef PZ_BASE_ERROR_H
#define PZ_BASE_ERROR_H

#include <poise/base.h>

#include <stdarg.h>

#if defined(__GNUC__)
#define PZ_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define PZ_PRINTF(text, first)
#endif

// Write status and text (cut to fit) into `error` unless it is NULL, and return `status`, so that a check reads
// `return pz_error_set(error, POISE_ERROR_MODEL, "joint \"%s\": zero axis", name);`. Understands %s (a NULL is written as
// "(none)"), %d, %u, %g and %%, without the C library: the same text in every locale.
poise_status pz_error_set(poise_error *error, poise_status status, const char *format, ...) PZ_PRINTF(3, 4);
poise_status pz_error_set_list(poise_error *error, poise_status status, const char *format, va_list arguments)
    PZ_PRINTF(3, 0);

#if defined(__clang_analyzer__) // it does not look into functions with "...", and is told what this one returns
#define pz_error_set(error, status, ...) (pz_error_set(error, status, __VA_ARGS__), (status))
#endif

#endif
