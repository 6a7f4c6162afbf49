// Pages of one file, everything in it and nothing from the network: a template with data put into it.
#ifndef POISE_PAGE_PAGE_H
#define POISE_PAGE_PAGE_H

#include <poise/retarget.h>

#include "cli/command.h"
#include "cli/json.h"

// Bytes in base64.
json_node *page_packed(const void *bytes, size_t size);

// The command line, as a shell takes it.
json_node *page_command(const arguments *args);

// Write the head that all pages share (page_head.html), then the template `page`, which goes on inside it, with `data`,
// which it takes, where it says @POISE_REPORT_DATA@. False after one line on standard error.
bool page_write(const char *page, json_node *data, const char *name);

// ---- Pages that play two figures side by side (pair_page.html): `poise retarget --report`, `poise edit --report` ---------

// Every which frame is shown: all but of long motions of so many bodies.
int page_step(int frames, int bodies);

// A figure: its bones, all its points in every step-th frame, the bodies of its roles (POISE_NONE: none).
json_node *page_figure(const poise_model *model, const poise_clip *clip, const int body[POISE_ROLE_COUNT], poise_up up,
                       const char *name, int step);

// A file without its folders; a scene as it is.
const char *page_name(const char *name);

// Write the page of `data`, which it takes: figures "source" and "target", and what pair_page.html reads beside them. False
// after one line on standard error.
bool page_write_pair(json_node *data, const arguments *args, int frames, int step, const char *name);

#endif
