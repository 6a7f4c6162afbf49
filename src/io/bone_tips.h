// What writers of skeletons with bone tips share (write.c).
#ifndef PZ_IO_BONE_TIPS_H
#define PZ_IO_BONE_TIPS_H

#include "io/io_core.h"

// The tools of a model that are tips of their bodies, that is, called "<body>.tip" with or without a number, in the order of
// the model.
typedef struct pz_tips {
    int *first; // by body: a tool, -1: none
    int *next;  // by tool: the next tip of the same body, -1: none
    int others; // tools that are no tips, or are turned against their body
} pz_tips;

// False when out of memory.
bool pz_tips_find(pz_pool *pool, const poise_model *model, pz_tips *tips);

// Is the tip of a bone where its child begins?
bool pz_tip_is_child(const poise_model *model, int joint, poise_vec3 tip);

// Where the bone of a body ends that has no tip and on which nothing hangs: at its farthest tool, else at twice the way to
// its centre of mass, else a share of the bone above further on. 0 where nothing tells.
poise_vec3 pz_leaf_end(const poise_model *model, int body);

// A name in one line, without control characters, without spaces at its ends, and without the characters of `bad`: '_'
// stands for those.
void pz_put_name(pz_output *output, const char *name, const char *bad);

// There is a model, and the clip, if any, moves it.
poise_status pz_check_model(const poise_file *file, pz_output *output, const char *format);

// All numbers of a frame are finite.
poise_status pz_check_finite(pz_output *output, const poise_clip *clip, int frame);

// Warn of what neither BVH nor ASF can hold, and of as many coordinates whose limits are lost.
void pz_warn_of_losses(const poise_file *file, pz_output *output, const char *format, const pz_tips *tips, int limits);

#endif
