// Teams on the device (body/body_team.h): blocks of one warp, tables and state in shared memory. Where there are many
// problems a warp has four teams, which keep in step as far as they can; where there are few, one, which nothing holds up,
// or two.
#ifndef POISE_CUDA_BODY_TEAMS_H
#define POISE_CUDA_BODY_TEAMS_H

#include "body/body_state.h"
#include "lib/cuda_body.h"

#define TEAMS (32 / BODY_LANES) // of a warp, at most

// Bytes of a block: its tables (with_shared_tables), then the state of each team.
template <typename number> static size_t team_memory(const body_task *task, int teams)
{
    return tables_size(task, sizeof(number)) + (size_t)teams * (size_t)task->at.size * sizeof(number);
}

template <typename number> __device__ static number *team_state(const body_task *task)
{
    extern __shared__ __align__(16) unsigned char room[];
    return (number *)(room + tables_size(task, sizeof(number))) + threadIdx.x / BODY_LANES * (size_t)task->at.size;
}

// Blocks that keep the device busy; 0 where a block has no room for such a model.
template <typename number>
static cudaError_t team_grid(const void *kernel, const body_task *task, int processors, body_teams *teams)
{
    int device = 0, most = 0;
    size_t memory = team_memory<number>(task, TEAMS);
    cudaError_t e = cudaGetDevice(&device);
    e = e ? e : cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
    *teams = body_teams{{0, 0, 0}};
    if (e || memory + sizeof(body_task) > (size_t)most) {
        return e;
    }
    e = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)memory);
    for (int i = 0; i < 3 && !e; ++i) {
        int *blocks = &teams->blocks[i];
        e = cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, kernel, 32, team_memory<number>(task, 1 << i));
        *blocks *= processors;
    }
    return e;
}

// How `items` of work are shared out.
typedef struct team_share {
    int blocks, teams; // of a block
} team_share;

// As few teams of a warp as have room for all at once.
static team_share share_out(long long items, const body_teams *teams)
{
    int i = 0;
    while (i < 2 && items > (long long)teams->blocks[i] << i) {
        ++i;
    }
    long long enough = (items + (1 << i) - 1) >> i;
    team_share s = {.blocks = enough < teams->blocks[i] ? (int)enough : teams->blocks[i], .teams = 1 << i};
    return s;
}

#endif
