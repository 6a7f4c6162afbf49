// Answers in a corner of the limits: what is tried when every search has missed.
//
// A search clamps joints on its way, so that an answer with several joints at their limits is found from few starts only.
// What the others end in looks like it: another branch of the same pose that misses a limit by little, from which descent
// leads nowhere. Of poses with all joints at limits, as robots are parked and shipped, 30 searches miss one in fifty to one
// in four, by the arm.
//
// Without limits every branch is found from many starts. So zeros are searched without them, and each is brought inside:
// hinges by whole turns as near to the middle of their interval as they come, what is still outside to its limit, and from
// there by a search within the limits. A zero that lies within them, be it in a corner, is all but met where that begins.
//
// Up to six joints leave isolated zeros, sixteen at most (E. J. F. Primrose, "On the input-output equation of the general
// 7R-mechanism", 1986). When each was found several times, all are known, and none lies within the limits. Where joints are
// left over the zeros are a surface: clamping leaves it, a search without limits returns to it, and by turns they come to
// where it meets the limits, if they converge (von Neumann's alternating projections); that there is none is never known.
// Such a surface may meet the limits in a corner alone, and seven joints have but 128: searches begin there, too.
#include "solve/arm_kernel.h"

#define PROJECTIONS 8    // onto the limits, from one zero
#define CONVERGES   0.9  // what a projection may leave of the way that the one before had to go
#define INSIDE      1e-9 // of that way, in radians or lengths over L: there is nothing to return for

#define ZEROS   16   // isolated ones
#define SAME    1e-2 // radians, or lengths over L, between finds of one zero: near a singularity they differ
#define LOOKS   2    // finds of one zero that are brought inside
#define KNOWN   20   // finds of each zero, when all are known
#define OUTSIDE 0.3  // radians, or lengths over L: near a zero that lies so near the limits there may be one within them

typedef struct zero {
    double q[PZ_ARM_MOST], far; // beyond the limits
    int finds;
} zero;

typedef struct zeros {
    zero found[ZEROS];
    int count;
    bool are_isolated; // and no more than there is room for
} zeros;

// ---- Zeros ---------------------------------------------------------------------------------------------------------------

static bool are_same(const pz_arm_chain *chain, const double *a, const double *b)
{
    double most = 0.0;
    for (int i = 0; i < chain->n; ++i) {
        double apart = (a[i] - b[i]) / chain->rate[i];
        apart -= chain->turn[i] != 0 ? PZ_TWO_PI * arm_round(apart / PZ_TWO_PI) : 0.0;
        most = max2(most, fabs(apart));
    }
    return most < SAME;
}

// Count a find, which lies `far` beyond the limits. Returns how often its zero was found.
static int count_find(const pz_arm_chain *chain, const double *q, double far, zeros *all)
{
    int at = 0;
    while (at < all->count && !are_same(chain, all->found[at].q, q)) {
        at += 1;
    }
    if (at == ZEROS) {
        all->are_isolated = false;
        return 1;
    }
    if (at == all->count) {
        memcpy(all->found[at].q, q, sizeof all->found[at].q);
        all->found[at].far = far;
        all->found[at].finds = 0;
        all->count += 1;
    }
    return ++all->found[at].finds;
}

// Is every zero known, and outside of the limits?
static bool are_outside(const zeros *all)
{
    bool are_known = all->are_isolated;
    for (int k = 0; k < all->count; ++k) {
        are_known = are_known && all->found[k].finds >= KNOWN && all->found[k].far > OUTSIDE;
    }
    return are_known;
}

// ---- Searches ------------------------------------------------------------------------------------------------------------

static pz_arm_chain without_limits(const pz_arm_chain *chain)
{
    pz_arm_chain open = *chain;
    for (int i = 0; i < chain->n; ++i) {
        open.lower[i] = -INFINITY;
        open.upper[i] = INFINITY;
    }
    return open;
}

// Look for a zero from q, within the limits of `chain`.
static bool look_from(const pz_arm_chain *chain, const double *q, int max_iterations, pz_arm_call *call)
{
    int most = pz_arm_search_most(max_iterations);
    pz_arm_run *run = &call->run;
    arm_open(chain, chain->n, q, run);
    arm_begin(chain, chain->n, q, run);
    bool met = call->target.has_band ? pz_arm_search_banded(chain, &call->target, most, run)
                                     : pz_arm_search(chain, &call->target, most, run);
    return met || pz_arm_finish_search(chain, &call->target, max_iterations, run);
}

// The zero in the run moved inside the limits, into q. Returns how far the joint farthest outside was moved.
static double bring_inside(const pz_arm_chain *chain, pz_arm_run *run, double *q)
{
    double farthest = 0.0;
    arm_open(chain, chain->n, run->q, run);
    for (int i = 0; i < chain->n; ++i) {
        double x = run->q[i], middle = run->middle[i];
        bool is_inside = x >= chain->lower[i] && x <= chain->upper[i];
        x -= chain->turn[i] != 0 && !is_inside ? PZ_TWO_PI * arm_round((x - middle) / PZ_TWO_PI) : 0.0;
        q[i] = clamp(x, chain->lower[i], chain->upper[i]);
        farthest = max2(farthest, fabs(x - q[i]) / chain->rate[i]);
    }
    return farthest;
}

// From a zero without limits to one within: true when it is in the run.
static bool look_inside(const pz_arm_chain *chain, const pz_arm_chain *open, int max_iterations, zeros *all,
                        pz_arm_call *call)
{
    double found[PZ_ARM_MOST], q[PZ_ARM_MOST], before = INFINITY;
    memcpy(found, call->run.q, sizeof found);
    double far = bring_inside(chain, &call->run, q);
    if (all->are_isolated && count_find(chain, found, far, all) > LOOKS) {
        return false;
    }
    for (int k = 1; !all->are_isolated && k < PROJECTIONS && far > INSIDE && far < CONVERGES * before; ++k) {
        if (!look_from(open, q, max_iterations, call)) {
            break;
        }
        before = far;
        far = bring_inside(chain, &call->run, q);
    }
    return look_from(chain, q, max_iterations, call);
}

// From a corner of the limits: bit i of its number says which limit joint i is at.
static bool look_from_corner(const pz_arm_chain *chain, int number, int max_iterations, pz_arm_call *call)
{
    double q[PZ_ARM_MOST];
    for (int i = 0; i < chain->n; ++i) {
        q[i] = clamp(chain->first[i] + (number >> i & 1 ? chain->span[i] : 0.0), chain->lower[i], chain->upper[i]);
    }
    return look_from(chain, q, max_iterations, call);
}

pz_arm_reach pz_arm_look_beyond(const pz_arm_chain *chain, pz_arm_call *call, int first, int count, int max_iterations,
                                bool (*keeps)(void *context), void *context)
{
    pz_arm_chain open = without_limits(chain);
    zeros all = {.count = 0, .are_isolated = chain->n <= 6 && !call->target.has_band};
    pz_arm_reach reach = count > 0 ? PZ_ARM_NOWHERE : PZ_ARM_UNKNOWN;
    double nearest = INFINITY, best = call->run.best;
    bool is_clear = false;
    call->run.best = -INFINITY; // a trace calls no step accepted that leaves the limits
    for (int m = 0; m < count && !is_clear && reach != PZ_ARM_WITHIN_LIMITS; ++m) {
        double q[PZ_ARM_MOST];
        arm_restart(chain, first + m, q);
        if (!look_from(&open, q, max_iterations, call)) {
            nearest = min2(nearest, call->run.f);
        } else {
            reach = PZ_ARM_BEYOND_LIMITS;
            bool is_within = (look_inside(chain, &open, max_iterations, &all, call) && keeps(context)) ||
                             (!all.are_isolated && look_from_corner(chain, m, max_iterations, call) && keeps(context));
            reach = is_within ? PZ_ARM_WITHIN_LIMITS : PZ_ARM_BEYOND_LIMITS;
        }
        bool is_out = reach == PZ_ARM_NOWHERE && !(nearest < PZ_ARM_NEAR_ZERO);
        is_clear = m + 1 >= PZ_ARM_BEYOND_LEAST && (is_out || (reach == PZ_ARM_BEYOND_LIMITS && are_outside(&all)));
    }
    call->run.best = best;
    arm_open(chain, chain->n, call->q_start, &call->run);
    return reach == PZ_ARM_BEYOND_LIMITS && are_outside(&all) ? PZ_ARM_NOWHERE : reach;
}
