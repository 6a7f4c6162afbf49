// Searches of several arm problems side by side, one in each lane: what the engine (arm_lanes.c) asks of the kernel of each
// width (arm_lanes_kernel.h).
#ifndef PZ_BATCH_ARM_LANES_H
#define PZ_BATCH_ARM_LANES_H

#include "solve/arm.h"

#define PZ_ARM_LANES_MOST 8

// What look() saw: bits of lanes.
typedef struct pz_arm_seen {
    unsigned stopped; // the search ends here
    unsigned met;     // and the target is met
} pz_arm_seen;

// `lanes` is the kernel's memory for the searches under way on one chain of hinges: `size` bytes, aligned to PZ_ALIGNMENT,
// all 0 at first. `busy` has the bits of the lanes that hold a search; what the others compute does not matter.
typedef struct pz_arm_kernel {
    size_t size;
    // Put a problem into a lane: its target, and the intervals of its run.
    void (*aim)(void *lanes, int lane, const pz_arm_chain *chain, const pz_arm_target *target, const pz_arm_run *run);
    // Begin a search at the run's q.
    void (*begin)(void *lanes, int lane, const pz_arm_chain *chain, const pz_arm_run *run);
    // Evaluate all lanes at q and say which searches end, `most` the iterations that each may take.
    pz_arm_seen (*look)(void *lanes, unsigned busy, const pz_arm_chain *chain, int most);
    // One step of all lanes from where look() was.
    void (*step)(void *lanes, unsigned busy, const pz_arm_chain *chain);
    // What pz_arm_search leaves in a run: get_end, before step(), where the search stopped; get_numbers, after it, the
    // rest.
    void (*get_end)(const void *lanes, int lane, const pz_arm_chain *chain, pz_arm_run *run);
    void (*get_numbers)(const void *lanes, int lane, const pz_arm_chain *chain, pz_arm_run *run);
} pz_arm_kernel;

extern const pz_arm_kernel pz_arm_kernel_2, pz_arm_kernel_4, pz_arm_kernel_8;

#endif
