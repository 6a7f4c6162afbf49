// The search of arm_search.h for one problem, on every machine.
#include "solve/arm/arm_search.h"

// Instances for the usual arms: constant n lets the loops unroll, which takes a quarter off an iteration.
bool pz_arm_search(const pz_arm_chain *chain, const pz_arm_target *target, int most, pz_arm_run *run)
{
    if (chain->is_wide && !chain->slides && chain->n >= 6) {
        return pz_arm_search_wide(chain, target, most, run);
    }
    switch (chain->slides ? 0 : chain->n) {
    case 3:
        return arm_search(chain, target, most, run, 3, false);
    case 4:
        return arm_search(chain, target, most, run, 4, false);
    case 5:
        return arm_search(chain, target, most, run, 5, false);
    case 6:
        return arm_search(chain, target, most, run, 6, false);
    case 7:
        return arm_search(chain, target, most, run, 7, false);
    case 8:
        return arm_search(chain, target, most, run, 8, false);
    default:
        return arm_search(chain, target, most, run, chain->n, true);
    }
}
