// The figure that a clip moves.
#ifndef PZ_MOTION_EDIT_EDITED_FIGURE_H
#define PZ_MOTION_EDIT_EDITED_FIGURE_H

#include "motion/anatomy.h"

// Its parts: by the names of anatomy.c, or, where those show no two legs with feet, by all that retargeting knows. Fails
// only with MEMORY.
poise_status pz_figure_of(const poise_model *model, const poise_allocator *allocator, pz_anatomy *anatomy);

#endif
