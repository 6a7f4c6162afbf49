// The body that carries a motion.
#ifndef PZ_MOTION_EDIT_MOVING_ROOT_H
#define PZ_MOTION_EDIT_MOVING_ROOT_H

#include <poise/motion.h>

// Joints first..last, each the only child of the one before, that move the figure as a whole. `last` is its body.
typedef struct pz_moving_root {
    int first, last;
} pz_moving_root;

// Files may have a joint above the hips that stands still, with channels of its own. So it is the first joint that slides in
// a clip, where all that moves hangs from it and that is most of the skeleton; else the first one of the model. `other` may
// be NULL: a clip of the same model to which it applies, too.
pz_moving_root pz_moving_root_of(const poise_model *model, const poise_clip *clip, const poise_clip *other);

#endif
