// Kernels of one problem for processors with registers of four, where a column of a frame lies in one register: the search
// of an arm with six hinges or more, the sweeps of the Newton step, and the derivative of an arm's answer. The bits are
// those of plain code; model->is_wide says where these are called.
#include "base/cpu.h"

#if PZ_HAS_WIDE

#define REAL_PACKED
#include "solve/arm_kernel.h"
#include "solve/sensitivity_kernel.h"
#include "solve/step_kernel.h"

// ---- The search of an arm ------------------------------------------------------------------------------------------------

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

// ---- The sweeps of the Newton step ---------------------------------------------------------------------------------------

PZ_WIDE int pz_tree_up_wide(pz_tree_step *t, const sweep *s)
{
    return groups_up(t, s);
}

PZ_WIDE void pz_tree_down_wide(pz_tree_step *t, const sweep *s)
{
    groups_down(t, s);
}

// ---- The derivative of an arm's answer -----------------------------------------------------------------------------------

PZ_WIDE bool pz_pose_factorise_arm(const pz_pose_lanes *arm, const poise_pose *target, const double *q,
                                   pz_pose_factor *factor)
{
    return pose_factorise_arm(arm, target, q, factor);
}

PZ_WIDE bool pz_pose_gradient_arm(const pz_pose_lanes *arm, const poise_pose *target, const double *q, const double *dL_dq,
                                  double *dL_dx)
{
    return arm->chain.n == 7 ? pose_gradient(arm, 7, target, q, dL_dq, dL_dx)
                             : pose_gradient(arm, 6, target, q, dL_dq, dL_dx);
}

#else // none of these is ever called

#include "solve/arm.h"
#include "solve/sensitivity.h"

bool pz_arm_search_wide(const pz_arm_chain *chain, const pz_arm_target *target, int most, pz_arm_run *run)
{
    (void)chain, (void)target, (void)most, (void)run;
    return false;
}

bool pz_pose_factorise_arm(const pz_pose_lanes *arm, const poise_pose *target, const double *q, pz_pose_factor *factor)
{
    (void)arm, (void)target, (void)q, (void)factor;
    return false;
}

bool pz_pose_gradient_arm(const pz_pose_lanes *arm, const poise_pose *target, const double *q, const double *dL_dq,
                          double *dL_dx)
{
    (void)arm, (void)target, (void)q, (void)dL_dq, (void)dL_dx;
    return false;
}

#endif
