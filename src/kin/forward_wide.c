// The forward sweep for processors with registers of four: one column of a frame to a register.
#include "base/cpu.h"

#if PZ_HAS_WIDE

#define REAL_PACKED
#include "kin/forward_kernel.h"

PZ_WIDE void pz_kin_sweep_wide(poise_kinematics *kin)
{
    sweep_forward(kin);
}

#else

#include "kin/kin.h"

void pz_kin_sweep_wide(poise_kinematics *kin)
{
    (void)kin; // never called: base/cpu.h
}

#endif
