// Pages of one file, everything in it and nothing from the network: a template with data put into it.
#ifndef APP_PAGE_H
#define APP_PAGE_H

#include "cli/arguments.h"
#include "cli/json_output.h"

// Bytes in base64.
json_node *page_packed(const void *bytes, size_t size);

// The command line, as a shell takes it.
json_node *page_command(const arguments *args);

// Write the head that all pages share (page_head.html), then the template `page`, which goes on inside it, with `data`,
// which it takes, where it says @POISE_REPORT_DATA@. False after one line on standard error.
bool page_write(const char *page, json_node *data, const char *name);

#endif
