// The experiments of the exact-Hessian paper, which take several files.
#ifndef RESEARCH_REPRODUCE_HESSIAN_H
#define RESEARCH_REPRODUCE_HESSIAN_H

#include "reproduce.h"

#define HESSIAN_SOURCE  "Erleben & Andrews 2018"
#define HESSIAN_METHODS 4
extern const poise_method hessian_methods[HESSIAN_METHODS]; // the authors' three, and AUTO
extern const char *const hessian_colors[HESSIAN_METHODS];

// reproduce_hessian_tables.c
bool hessian_table3(reproduce *r, const experiment *e);
bool hessian_table4(reproduce *r, const experiment *e);
bool hessian_sweep(reproduce *r, const experiment *e);

// reproduce_pictures.c
bool hessian_frames_drawn(reproduce *r, const experiment *e);
bool hessian_arm(reproduce *r, const experiment *e);
bool hessian_definiteness(reproduce *r, const experiment *e);

#endif
