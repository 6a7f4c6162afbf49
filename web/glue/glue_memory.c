// Memory, the error, and the names of things.
#include "glue.h"

#include <stdlib.h>
#include <string.h>

static poise_error error;

poise_error *web_error_clear(void)
{
    error = (poise_error){.status = POISE_OK};
    return &error;
}

poise_status web_fail(poise_status status, const char *text)
{
    web_error_clear();
    error.status = status;
    strncpy(error.text, text, sizeof error.text - 1);
    return status;
}

void *web_take(size_t count, size_t size)
{
    void *memory = calloc(count > 0 ? count : 1, size);
    if (!memory) {
        web_fail(POISE_ERROR_MEMORY, "out of memory");
    }
    return memory;
}

// Status, line and column as 32-bit numbers, then the text.
const poise_error *WEB_EXPORT(web_error)(void)
{
    return &error;
}

void *WEB_EXPORT(web_allocate)(size_t size)
{
    return web_take(1, size);
}

void WEB_EXPORT(web_release)(void *memory)
{
    free(memory);
}

typedef enum name_kind { NAME_STATUS, NAME_JOINT, NAME_GOAL, NAME_METHOD, NAME_OUTCOME, NAME_FORMAT } name_kind;

// The name of value number `index` of an enumeration; NULL behind the last.
const char *WEB_EXPORT(web_name)(name_kind kind, int index)
{
    static const int counts[] = {POISE_STATUS_COUNT, POISE_JOINT_TYPE_COUNT, POISE_GOAL_KIND_COUNT,
                                 POISE_METHOD_COUNT, POISE_OUTCOME_COUNT,    POISE_FORMAT_COUNT};
    if (kind < NAME_STATUS || kind > NAME_FORMAT || index < 0 || index >= counts[kind]) {
        return NULL;
    }
    switch (kind) {
    case NAME_STATUS:
        return poise_status_name((poise_status)index);
    case NAME_JOINT:
        return poise_joint_type_name((poise_joint_type)index);
    case NAME_GOAL:
        return poise_goal_kind_name((poise_goal_kind)index);
    case NAME_METHOD:
        return poise_method_name((poise_method)index);
    case NAME_OUTCOME:
        return poise_outcome_name((poise_outcome)index);
    default:
        return poise_format_name((poise_format)index);
    }
}
