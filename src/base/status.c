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
