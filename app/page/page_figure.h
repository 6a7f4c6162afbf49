// Pages that play two figures side by side (pair_page.html): `poise retarget --report`, `poise edit --report`.
#ifndef APP_PAGE_FIGURE_H
#define APP_PAGE_FIGURE_H

#include "cli/arguments.h"
#include "cli/json_output.h"

#include <poise/retarget.h>

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
