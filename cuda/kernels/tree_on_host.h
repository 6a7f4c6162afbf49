// The work of the device's threads (tree_worker.h), done by the host, for tests where there is no device.
#ifndef POISE_CUDA_TREE_ON_HOST_H
#define POISE_CUDA_TREE_ON_HOST_H

#include "lib/cuda_tree.h"

#ifdef __cplusplus
extern "C" {
#endif

// All pointers are the host's. The restarts of a problem are run in the order of their numbers, or the other way round:
// answers do not depend on it. False when the scratch memory does not fit.
bool tree_on_host(const pz_cuda_tree_task *task, const pz_cuda_tree_batch *batch, const pz_cuda_tree_work *work,
                  bool backwards);

#ifdef __cplusplus
}
#endif

#endif
