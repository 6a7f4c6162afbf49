// The search of arm_kernel.h for processors with registers of four: six hinges or more, with a column of a frame in one
// register.
#include "base/cpu.h"

#if PZ_HAS_WIDE

#define REAL_PACKED
#include "solve/arm_kernel.h"

// Each number of joints has code of its own, apart from the others, so that registers are kept for one of them.
#define SEARCH(name, n)                                                                                                     \
    REAL_KERNEL bool name(const pz_arm_chain *chain, const pz_arm_target *target, int most, pz_arm_run *run)                \
    {                                                                                                                       \
        return arm_search(chain, target, most, run, n, false);                                                              \
    }

SEARCH(search_6, 6)
SEARCH(search_7, 7)
SEARCH(search_more, chain->n)

PZ_WIDE bool pz_arm_search_wide(const pz_arm_chain *chain, const pz_arm_target *target, int most, pz_arm_run *run)
{
    return chain->n == 6   ? search_6(chain, target, most, run)
           : chain->n == 7 ? search_7(chain, target, most, run)
                           : search_more(chain, target, most, run);
}

#else

#include "solve/arm.h"

bool pz_arm_search_wide(const pz_arm_chain *chain, const pz_arm_target *target, int most, pz_arm_run *run)
{
    (void)chain, (void)target, (void)most, (void)run; // never called: base/cpu.h
    return false;
}

#endif
