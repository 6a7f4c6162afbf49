// Searches of several arm problems side by side, one in each lane: what the engine (arm_lanes.c) and the kernels of each
// width (arm_lanes_kernel.h) agree on.
#ifndef PZ_BATCH_ARM_LANES_H
#define PZ_BATCH_ARM_LANES_H

#include "solve/arm/arm.h"

#define PZ_LANES_MOST 8

// One number for each lane; narrower kernels use the first of them.
typedef double pz_lanes[PZ_LANES_MOST];

// Searches under way on one chain of hinges, as pz_arm_run and arm_kernel.h have them for one. Rows are aligned as the
// struct is, to PZ_ALIGNMENT.
typedef struct pz_arm_lanes {
    pz_lanes q[PZ_ARM_MOST], side[PZ_ARM_MOST];
    pz_lanes lower[PZ_ARM_MOST], upper[PZ_ARM_MOST], middle[PZ_ARM_MOST];
    pz_lanes u[9], t[3], most_r, most_e, W, cost; // of the target; u by columns
    pz_lanes k;                                   // steps taken
    pz_lanes f1, f2, f3;                          // f of the iterates before

    // at q, from look()
    pz_lanes a[PZ_ARM_MOST][3], o[PZ_ARM_MOST][3], p[3];
    pz_lanes r[3], v[3], rr, e, f;
    pz_lanes inverse;          // 1/kappa
    pz_lanes first_r, first_e; // where the search began

    // at the q before, from step()
    pz_lanes g[PZ_ARM_MOST]; // W J . r + a . v, held or not

    unsigned busy; // bits of the lanes that hold a search; what the others compute is of no account
} pz_arm_lanes;

// What look() saw: bits of lanes.
typedef struct pz_arm_seen {
    unsigned stopped; // the search ends here
    unsigned met;     // and the target is met
} pz_arm_seen;

typedef struct pz_arm_kernel {
    // Evaluate all lanes at q and say which searches end, `most` the iterations that each may take.
    pz_arm_seen (*look)(const pz_arm_chain *chain, int most, pz_arm_lanes *lanes);
    // One step of all lanes from where look() was; lanes that stopped are spoilt.
    void (*step)(const pz_arm_chain *chain, pz_arm_lanes *lanes);
} pz_arm_kernel;

extern const pz_arm_kernel pz_arm_kernel_4, pz_arm_kernel_8;

#endif
