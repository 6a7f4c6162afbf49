#include <poise/base.h>

#define TEXT_OF(number)       #number
#define VERSION_TEXT(a, b, c) TEXT_OF(a) "." TEXT_OF(b) "." TEXT_OF(c)

const char *poise_status_name(poise_status status)
{
    switch (status) {
    case POISE_OK:
        return "ok";
    case POISE_ERROR_ARGUMENT:
        return "argument";
    case POISE_ERROR_MEMORY:
        return "memory";
    case POISE_ERROR_MODEL:
        return "model";
    case POISE_ERROR_NOT_FOUND:
        return "not found";
    case POISE_ERROR_NUMERIC:
        return "numeric";
    case POISE_ERROR_UNSUPPORTED:
        return "unsupported";
    case POISE_ERROR_FORMAT:
        return "format";
    case POISE_ERROR_DEVICE:
        return "device";
    case POISE_STATUS_COUNT:
        break;
    }
    return "unknown";
}

const char *poise_version(void)
{
    return VERSION_TEXT(POISE_VERSION_MAJOR, POISE_VERSION_MINOR, POISE_VERSION_PATCH);
}

// ---- Memory of the caller's ----------------------------------------------------------------------------------------------

#define MALLOC_ALIGNMENT 16 // malloc's

static void *take(void *user, size_t size)
{
    poise_memory *memory = user;
    uintptr_t start = (uintptr_t)memory->base + memory->used;
    size_t skip = (MALLOC_ALIGNMENT - start % MALLOC_ALIGNMENT) % MALLOC_ALIGNMENT, used = memory->used;
    // as if the start were aligned worst, so that what was enough once is always enough
    memory->used = size <= SIZE_MAX - MALLOC_ALIGNMENT - used ? used + size + MALLOC_ALIGNMENT : SIZE_MAX;
    return memory->base && memory->used <= memory->size ? (unsigned char *)memory->base + used + skip : NULL;
}

static void keep(void *user, void *memory)
{
    (void)user;
    (void)memory;
}

poise_allocator poise_memory_allocator(poise_memory *memory)
{
    return (poise_allocator){.allocate = take, .release = keep, .user = memory};
}
