// How smooth a motion is, from the motion itself.
//
// Let each dof be a motion whose accelerations are independent from frame to frame, with the deviation a, seen through
// noise of the deviation n with the information h of one frame (all markers, through the tree). A solve with W = (n/a)^2
// keeps of a motion at the frequency w the share h/(h + W D(w)), D = (2 - 2 cos w)^2, and the accelerations of its answer
// have the mean square
//
//   m = a^2 beta,     beta = mean over w in [0, pi] of h/(h + W D(w))
//
// so a^2 = m/beta, with the beta of the W that it was solved with: the step of expectation and maximisation (Dempster,
// Laird & Rubin 1977) for this model.
#include "motion/sequence_state.h"

#include "num/trig.h"

#include <string.h>

#define FREQUENCIES 64
#define LEAST       0.05 // of the usual acceleration
#define MOST        20.0

// beta for x = W/h.
static double share_kept(double x)
{
    double sum = 0.0;
    for (int i = 0; i < FREQUENCIES; ++i) {
        double s, c;
        poise_sincos((i + 0.5) / FREQUENCIES * 3.14159265358979323846, &s, &c);
        double d = 2.0 - 2.0 * c;
        sum += 1.0 / (1.0 + x * d * d);
    }
    return sum / FREQUENCIES;
}

// The mean information of a frame on each dof, with what hangs on it free and what it hangs on held: the pivots of the
// tree's factor.
static void find_pivots(pz_sequence *s, double *pivot)
{
    double *F = s->row;
    for (int e = 0; e < s->entries; ++e) {
        F[e] = s->information[e] / max2(s->informed, 1);
    }
    for (int i = s->nv - 1; i >= 0; --i) {
        int begin = s->row_begin[i], own = s->row_begin[i + 1] - 1;
        pivot[i] = F[own];
        for (int a = own - 1; a >= begin && pivot[i] > 0.0; --a) {
            double ratio = F[a] / pivot[i];
            for (int b = begin; b <= a; ++b) {
                F[s->row_begin[s->above[a]] + b - begin] -= ratio * F[b];
            }
        }
    }
}

void pz_sequence_estimate(pz_sequence *s, double metres)
{
    double *pivot = s->frame_gradient, *square = s->bend, *before = s->edge, *after = s->edge + s->nv;
    memset(square, 0, (size_t)s->nv * sizeof *square);
    for (int t = 0; t + 1 < s->frames; ++t) {
        pz_sequence_edge(s, t, after);
        for (int i = 0; i < s->nv && t > 0; ++i) {
            square[i] += (after[i] - before[i]) * (after[i] - before[i]);
        }
        memcpy(before, after, (size_t)s->nv * sizeof *before);
    }
    find_pivots(s, pivot);
    for (int i = 0; i < s->nv; ++i) {
        double usual = pz_sequence_usual(s, i, metres), dt2 = s->frame_time * s->frame_time;
        double mean = square[i] / max2(s->frames - 2, 1) / (dt2 * dt2);
        double kept = pivot[i] > 0.0 ? share_kept(s->weight[i] / pivot[i]) : 0.0;
        if (kept > 0.0 && mean > 0.0) {
            s->acceleration[i] = clamp(sqrt(mean / kept), LEAST * usual, MOST * usual);
        }
    }
}
