// The sweeps of the Newton step for processors with registers of four: six numbers in two registers instead of three.
#include "base/cpu.h"

#if PZ_HAS_WIDE

#define REAL_PACKED
#include "solve/tree_kernel.h"

PZ_WIDE int pz_tree_up_wide(pz_tree_step *t, const sweep *s)
{
    return groups_up(t, s);
}

PZ_WIDE void pz_tree_down_wide(pz_tree_step *t, const sweep *s)
{
    groups_down(t, s);
}

#else

typedef int pz_no_registers_of_four;

#endif
