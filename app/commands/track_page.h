// A page about a recording that was followed: everything in one file, nothing from the network.
#ifndef APP_TRACK_PAGE_H
#define APP_TRACK_PAGE_H

#include "cli/arguments.h"
#include "track_parts.h"

// False after one line on standard error. The command line is shown as the arguments say.
bool report_write(const track_result *r, const char *name, const arguments *args);

#endif
