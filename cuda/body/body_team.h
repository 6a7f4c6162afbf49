// Who works on a problem: one thread, which has all joints, or a team of BODY_LANES threads of a warp (BODY_TEAM), each with
// joints of its own. A team does what one thread does in the same order of sums, so that both give the same bits.
//
//   for (int k = body_lane(); k < count; k += BODY_LANES)     // the part of this thread
//   body_meet();                                              // what all have written can be read by all
//
// What a team decides on it computes from the same numbers in each of its threads.
#ifndef POISE_CUDA_BODY_TEAM_H
#define POISE_CUDA_BODY_TEAM_H

#include "lib/fast_numbers.h"

#include <stdbool.h>

#ifndef BODY_TEAM

#define BODY_LANES 1

PZ_BOTH int body_lane(void)
{
    return 0;
}

PZ_BOTH void body_meet(void)
{
}

// The sum over the team.
PZ_BOTH int body_count(int own)
{
    return own;
}

// What the first of the team says.
PZ_BOTH int body_agree(int own)
{
    return own;
}

#else

#define BODY_LANES 8

#ifdef __CUDACC__

#define BODY_TEAM_THREADS (((1u << BODY_LANES) - 1) << threadIdx.x % 32 / BODY_LANES * BODY_LANES) // of the warp

PZ_BOTH int body_lane(void)
{
    return (int)(threadIdx.x % BODY_LANES);
}

PZ_BOTH void body_meet(void)
{
    __syncwarp(BODY_TEAM_THREADS);
}

PZ_BOTH int body_count(int own)
{
    return __reduce_add_sync(BODY_TEAM_THREADS, own);
}

PZ_BOTH int body_agree(int own)
{
    return __shfl_sync(BODY_TEAM_THREADS, own, 0, BODY_LANES);
}

#else

#include "kernels/body_team_on_host.h"

#endif
#endif
#endif
