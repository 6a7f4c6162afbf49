// A posture from positions: the angles whose segments point as those between the positions do.
//
// With d_j the directions of the segments and u_j those asked for, every joint in turn goes where sum_j d_j . u_j is
// largest. Joint k turns the segments from its own on about its axis r, so that the sum is a constant plus B cos a + C sin
// a,
//
//   B = sum_j d_j . u_j - (r . d_j)(r . u_j),    C = sum_j r . (d_j x u_j)         j >= k
//
// and the best a = atan2(C, B) is the global optimum of that joint. The sum never falls; it may end at a bend to the wrong
// side, so that several starts are tried.
#include "base/error.h"
#include "express/erik/erik_state.h"

#include <string.h>

#define SWEEPS 400
#define STARTS 40
#define GOOD   1e-9  // misfit, radians: rounding of directions made of positions
#define STILL  1e-13 // radians: no joint moved farther in a sweep

static bool has_direction(vec3 u)
{
    return v3_dot(u, u) > 0.0;
}

// One sweep; the largest turn.
static double sweep(const pz_chain *chain, const vec3 *u, pz_chain_pose *pose)
{
    double longest = 0.0;
    for (int k = 0; k < chain->count; ++k) {
        vec3 r = pz_link_axis(&chain->links[k], &pose->Q[k]);
        double B = 0.0, C = 0.0;
        for (int j = k; j < chain->count; ++j) {
            vec3 d = pose->Q[j + 1].y;
            B += v3_dot(d, u[j]) - v3_dot(r, d) * v3_dot(r, u[j]);
            C += v3_dot(r, v3_cross(d, u[j]));
        }
        if (B * B + C * C > PZ_NO_DIRECTION) {
            double turn = pz_atan2(C, B);
            longest = max2(longest, fabs(turn));
            pz_set_angle(pose, k, pose->theta[k] + turn);
            pz_chain_forward(chain, k, pose);
        }
    }
    return longest;
}

static double misfit_of(const pz_chain *chain, const vec3 *u, const pz_chain_pose *pose)
{
    double sum = 0.0;
    int counted = 0;
    for (int k = 0; k < chain->count; ++k) {
        vec3 d = pose->Q[k + 1].y;
        if (has_direction(u[k])) {
            double angle = pz_atan2(v3_norm(v3_cross(d, u[k])), v3_dot(d, u[k]));
            sum += angle * angle;
            counted += 1;
        }
    }
    return counted > 0 ? sqrt(sum / counted) : 0.0;
}

// Start number i: straight, then bends of a fixed sequence to either side.
static void take_start(const pz_chain *chain, int number, pz_chain_pose *pose)
{
    unsigned bits = (unsigned)number * 2654435761u;
    for (int k = 0; k < chain->count; ++k) {
        bits = bits * 1664525u + 1013904223u;
        pz_set_angle(pose, k, number == 0 ? 0.0 : (double)(bits >> 16) / 65536.0 * 4.0 - 2.0);
    }
    pose->Q[0] = chain->base;
    pz_chain_forward(chain, 0, pose);
}

static double fit(const pz_chain *chain, const vec3 *u, pz_chain_pose *pose, double *best)
{
    double least = 4.0;
    for (int number = 0; number < STARTS && least > GOOD; ++number) {
        take_start(chain, number, pose);
        for (int i = 0; i < SWEEPS && sweep(chain, u, pose) > STILL; ++i) {
        }
        double misfit = misfit_of(chain, u, pose);
        if (misfit < least) {
            least = misfit;
            memcpy(best, pose->theta, (size_t)chain->count * sizeof *best);
        }
    }
    return least;
}

poise_status poise_erik_posture_from_positions(poise_erik *erik, const poise_vec3 *positions, int count, double *posture,
                                               double *misfit, poise_error *error)
{
    if (!erik || !positions || !posture || count != erik->chain.count + 1) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT,
                            "erik, positions and posture must not be NULL, and count must be %d",
                            erik ? erik->chain.count + 1 : 0);
    }
    for (int i = 0; i < count; ++i) {
        if (!v3_is_finite(positions[i])) {
            return pz_error_set(error, POISE_ERROR_ARGUMENT, "positions[%d] must be finite", i);
        }
    }
    const pz_chain *chain = &erik->chain;
    vec3 *u = (vec3 *)(void *)erik->work;
    bool shows_any = false;
    for (int k = 0; k < chain->count; ++k) {
        u[k] = v3_normalize(v3_sub(positions[k + 1], positions[k]));
        shows_any = shows_any || has_direction(u[k]);
    }
    if (!shows_any) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "all positions are equal: they give no directions");
    }
    double least = fit(chain, u, &erik->now, erik->best);
    for (int k = 0; k < chain->count; ++k) {
        posture[chain->links[k].q] = pz_near_center(&chain->links[k], erik->best[k]);
    }
    if (misfit) {
        *misfit = least;
    }
    return POISE_OK;
}
