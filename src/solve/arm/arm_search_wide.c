// The search of arm_search.h for processors with registers of four: six hinges or more, with a column of a frame in one
// register.
#include "base/cpu.h"

#if PZ_HAS_WIDE

#define REAL_PACKED
#include "solve/arm/arm_search.h"

PZ_WIDE bool pz_arm_search_wide(const pz_arm_chain *chain, const pz_arm_target *target, int most, pz_arm_run *run)
{
    switch (chain->n) {
    case 6:
        return arm_search(chain, target, most, run, 6, false);
    case 7:
        return arm_search(chain, target, most, run, 7, false);
    default:
        return arm_search(chain, target, most, run, chain->n, false);
    }
}

#else

#include "solve/arm/arm.h"

bool pz_arm_search_wide(const pz_arm_chain *chain, const pz_arm_target *target, int most, pz_arm_run *run)
{
    (void)chain, (void)target, (void)most, (void)run; // never called: base/cpu.h
    return false;
}

#endif
