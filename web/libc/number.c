// Decimal numbers, by the page.
#include "web/parsers/number.h"

#include <stddef.h>

__attribute__((import_module("poise"), import_name("number"))) double web_host_number(const char *text, size_t length);

double web_number(const char *text, const char *end)
{
    return web_host_number(text, (size_t)(end - text));
}
