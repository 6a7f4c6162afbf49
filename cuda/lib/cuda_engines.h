// The engines behind poise_cuda (cuda.h), one for each kind of problem. Arguments are those of the public calls; a NULL
// engine is refused there.
#ifndef POISE_CUDA_ENGINES_H
#define POISE_CUDA_ENGINES_H

#include "cuda_room.h"

#include <poise/cuda.h>

// One POSE goal on an arm (cuda_arm.c).
typedef struct pz_cuda_arm pz_cuda_arm;

poise_status pz_cuda_arm_create(const poise_model *model, const poise_goal *goal, const poise_cuda_options *options,
                                pz_cuda_arm **arm, poise_error *error);
void pz_cuda_arm_destroy(pz_cuda_arm *arm);
poise_status pz_cuda_arm_keep_apart(pz_cuda_arm *arm, const poise_constraint *apart, poise_error *error);
poise_status pz_cuda_arm_queue(pz_cuda_arm *arm, const poise_pose *targets, double *q, poise_cuda_answer *answers, int count,
                               void *stream, poise_error *error);
poise_status pz_cuda_arm_solve_poses(pz_cuda_arm *arm, const poise_pose *targets, double *q, poise_cuda_answer *answers,
                                     int count, poise_error *error);
poise_status pz_cuda_arm_solve_arrays(pz_cuda_arm *arm, const poise_cuda_arrays *arrays,
                                      const poise_cuda_answer_arrays *answers, int64_t count, void *stream, int64_t *refused,
                                      poise_error *error);
poise_status pz_cuda_arm_solve(pz_cuda_arm *arm, poise_problem *problems, int count, poise_error *error);

// Several goals on a body (cuda_tree.c).
typedef struct pz_cuda_tree pz_cuda_tree;

poise_status pz_cuda_tree_create(const poise_model *model, const poise_goal *goals, int goal_count,
                                 const poise_cuda_options *options, pz_cuda_tree **tree, poise_error *error);
void pz_cuda_tree_destroy(pz_cuda_tree *tree);
poise_status pz_cuda_tree_queue(pz_cuda_tree *tree, const poise_vec3 *targets, const double *weights, double *q,
                                poise_cuda_tree_answer *answers, int count, void *stream, poise_error *error);
poise_status pz_cuda_tree_queue_goals(pz_cuda_tree *tree, const poise_pose *targets, double *q,
                                      poise_cuda_tree_answer *answers, int count, void *stream, poise_error *error);
poise_status pz_cuda_tree_solve(pz_cuda_tree *tree, poise_problem *problems, int count, poise_error *error);
poise_status pz_cuda_tree_clips(pz_cuda_tree *tree, poise_cuda_clip *clips, int count, poise_error *error);
poise_status pz_cuda_tree_queue_clips(pz_cuda_tree *tree, const int *begin, int clip_count, const void *targets,
                                      const double *weights, double *q, poise_cuda_tree_answer *answers, int frames,
                                      void *stream, poise_error *error);

#endif
