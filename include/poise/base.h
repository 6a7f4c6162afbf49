// Poise: status codes, error text, allocator, version.
//
// A call that can fail returns a poise_status and takes a `poise_error *error` last. On any status but POISE_OK the outputs
// are untouched and the error, unless it is NULL, says what is wrong and how to fix it, with line and column where the
// input is text. A call that succeeds never touches the error, so passing one costs nothing. The library never aborts,
// prints, or keeps global state.
//
// **Threads.** A model is constant and shared by any number of threads. Everything else that has a create call belongs to
// one thread at a time; make one for each thread. Plain structs (goals, options, clips, markers) follow C's own rule: any
// number may read while nobody writes. Each header repeats what holds for its own objects.
#ifndef POISE_BASE_H
#define POISE_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <poise/schema.h>

#ifdef __cplusplus
extern "C" {
#endif

// Version of this header. The build reads these three lines; poise_version() reports what the library was built from.
#define POISE_VERSION_MAJOR 0
#define POISE_VERSION_MINOR 2
#define POISE_VERSION_PATCH 0

// Marks what the shared library exports; everything else stays hidden.
#if defined(POISE_API) // a library with a copy of its own says that it exports nothing
#elif defined(_WIN32)
#define POISE_API
#else
#define POISE_API __attribute__((visibility("default")))
#endif

// Fill a struct of this type, `size` bytes, with the defaults beside its members; what the library does not know becomes 0. The
// poise_..._default() functions are this call. No type with defaults: all 0.
POISE_API void poise_init(poise_type type, void *object, size_t size);

// The short lower-case name of a value of an enum, such as "reached" of poise_outcome; "unknown" of a value outside it. Never
// NULL. The poise_..._name() functions are this call.
POISE_API const char *poise_name(poise_type type, int value);

// Did the call work? (Whether a goal was reached is a different question, answered in a report.)
typedef enum poise_status {
    POISE_OK = 0,            // "ok"
    POISE_ERROR_ARGUMENT,    // "argument": a pointer is NULL, an index is out of range, a number is not finite
    POISE_ERROR_MEMORY,      // "memory": the allocator returned NULL, or the memory handed in is too small
    POISE_ERROR_MODEL,       // "model": the description of a skeleton is inconsistent
    POISE_ERROR_NOT_FOUND,   // "not found": no joint, body or tool has that name
    POISE_ERROR_NUMERIC,     // "numeric": a matrix that must be positive definite is not
    POISE_ERROR_UNSUPPORTED, // "unsupported": valid, but not supported by this call for this model
    POISE_ERROR_FORMAT,      // "format": the bytes are not what their format asks for
    POISE_ERROR_DEVICE,      // "device": there is no such device, or it failed (cuda.h)
    POISE_STATUS_COUNT
} poise_status;

// A short lower-case name such as "ok" or "argument"; "unknown" for a value outside the enumeration. Never NULL.
static inline const char *poise_status_name(poise_status status)
{
    return poise_name(POISE_TYPE_STATUS, (int)status);
}

// Size of the text in a poise_error in bytes, terminating zero included.
#define POISE_ERROR_TEXT_SIZE 256

// What went wrong, in words, and where. Owned by the caller, filled on failure, untouched on success.
typedef struct poise_error {
    poise_status status;              // what the call returned
    int line;                         // 1-based; 0: no line (the input is not text)
    int column;                       // 1-based; 0: no column
    char text[POISE_ERROR_TEXT_SIZE]; // zero-terminated, one line, cut if longer
} poise_error;

// Where a create call takes its memory. Both functions get `user`. `allocate` returns memory aligned as malloc does, or
// NULL. `release` gets a pointer that `allocate` returned, never NULL. A NULL poise_allocator pointer means malloc and
// free.
typedef struct poise_allocator {
    void *(*allocate)(void *user, size_t size); // `size` bytes, or NULL
    void (*release)(void *user, void *memory);  // gets what allocate returned
    void *user;                                 // handed to both
} poise_allocator;

// Memory owned by the caller that create calls use instead of the heap. Every create call makes one allocation, so one
// block can hold a model and everything that works on it, and nothing needs to be released:
//
//   static unsigned char block[1 << 20];
//   poise_memory memory = {.base = block, .size = sizeof block};
//   poise_allocator own = poise_memory_allocator(&memory);
//   poise_solver_create(model, &options, &own, &solver, &error);    // memory.used: bytes taken so far
//
// When the memory is too small the call returns POISE_ERROR_MEMORY, and `used` says how much would have been enough. So
// {.base = NULL, .size = 0} asks for the size. Set `used` to 0 to use the memory again.
typedef struct poise_memory {
    void *base;  // any alignment
    size_t size; // its size in bytes
    size_t used; // bytes asked for so far, padding included
} poise_memory;

// An allocator that hands out `memory`, which must outlive everything made with it. Its release does nothing.
POISE_API poise_allocator poise_memory_allocator(poise_memory *memory);

// For "did you mean": the name among at(user, 0) ... at(user, count - 1) whose spelling is closest to `name`, with or
// without a prefix ("mixamorig:") or words around it ("pan" in "pan_joint"); NULL if none is close.
POISE_API const char *poise_nearest_name(const char *name, const char *(*at)(const void *user, int index), const void *user,
                                         int count);

// "major.minor.patch" of the library. Never NULL.
POISE_API const char *poise_version(void);

#ifdef __cplusplus
}
#endif

#endif
