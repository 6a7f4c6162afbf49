// The inner loops of an arm: forward sweep, error, motion axes. Inlined with a constant number of joints wherever time
// counts.
#ifndef PZ_SOLVE_ARM_KERNEL_H
#define PZ_SOLVE_ARM_KERNEL_H

#include "math/trig.h"
#include "solve/arm.h"

// These must be inlined, or the constants do not reach the loops.
#if defined(__GNUC__)
#define ARM_INLINE static inline __attribute__((always_inline))
#else
#define ARM_INLINE static inline
#endif

// Where the chain is. The reference point is the origin of the first joint.
typedef struct arm_frames {
    vec3 a[PZ_ARM_MOST]; // z of joint i: its axis
    vec3 o[PZ_ARM_MOST]; // its origin, over L
    mat3 d;              // columns of the last frame, before the tail
    vec3 p;              // origin of the goal's frame, over L
} arm_frames;

// Columns x, y, z and origin p, joint by joint:
//
//   x' = c x + s y      y' = c y - s x      p += tx x' + ty y' + tz z      x = x'    y = ca y' + sa z    z = ca z - sa y'
ARM_INLINE void arm_forward(const pz_arm_chain *chain, int n, bool slides, const double *q, arm_frames *frames)
{
    double angle[PZ_ARM_MOST], sine[PZ_ARM_MOST], cosine[PZ_ARM_MOST];
    int k = 0;
    do { // n >= 1
        angle[k] = (slides ? chain->turn[k] * q[k] : q[k]) + chain->offset[k];
    } while (++k < n);
    pz_sincos_array((size_t)n, angle, sine, cosine);
    vec3 x = {1, 0, 0}, y = {0, 1, 0}, z = {0, 0, 1}, p = {0, 0, 0};
    for (int i = 0; i < n; ++i) {
        frames->a[i] = z;
        frames->o[i] = p;
        double tz = slides ? chain->tz[i] + chain->slide[i] * q[i] : chain->tz[i];
        vec3 across = v3_combine(cosine[i], y, -sine[i], x);
        x = v3_combine(cosine[i], x, sine[i], y);
        y = across;
        p = v3_mad(v3_mad(v3_mad(p, chain->tx[i], x), chain->ty[i], y), tz, z);
        if (i < n - 1) { // the tail holds the rest of the last one
            y = v3_combine(chain->ca[i], across, chain->sa[i], z);
            z = v3_combine(chain->ca[i], z, -chain->sa[i], across);
        }
    }
    frames->d = (mat3){x, y, z};
    frames->p = p;
}

// The error at a point. v is the torque of E: dE = a . v for a turn about a; it has the length sin(phi). Differences of
// columns come first, so that nothing cancels near the target.
typedef struct arm_error {
    vec3 r;    // p - t
    vec3 v;    // 1/2 sum u_k x (d_k - u_k)
    double rr; // |r|^2
    double e;  // E
} arm_error;

ARM_INLINE arm_error arm_error_at(const arm_frames *frames, const pz_arm_target *target)
{
    const mat3 *d = &frames->d, *u = &target->u;
    vec3 r = v3_sub(frames->p, target->t);
    vec3 ex = v3_sub(d->x, u->x), ey = v3_sub(d->y, u->y), ez = v3_sub(d->z, u->z);
    vec3 twice = v3_add(v3_add(v3_cross(u->x, ex), v3_cross(u->y, ey)), v3_cross(u->z, ez));
    double e = 0.25 * (v3_dot(ex, ex) + v3_dot(ey, ey) + v3_dot(ez, ez));
    return (arm_error){r, v3_scale(twice, 0.5), v3_dot(r, r), e};
}

ARM_INLINE bool arm_is_met(const arm_error *error, const pz_arm_target *target)
{
    return (error->rr <= target->most_r && 2.0 * error->e <= target->most_e) ||
           0.5 * target->W * error->rr + error->e <= target->cost;
}

// One column of the Jacobian, per unit of a step: the turn and the shift of the goal's frame.
typedef struct arm_column {
    vec3 a; // axis of a hinge, 0 for a slide
    vec3 J; // a x (p - o), or the axis of a slide
} arm_column;

ARM_INLINE arm_column arm_column_of(const pz_arm_chain *chain, bool slides, const arm_frames *frames, int i)
{
    vec3 a = frames->a[i];
    if (slides && chain->turn[i] == 0) {
        return (arm_column){{0, 0, 0}, a};
    }
    return (arm_column){a, v3_cross(a, v3_sub(frames->p, frames->o[i]))};
}

// W J . r + a . v
ARM_INLINE double arm_slope(const arm_column *column, double W, const arm_error *error)
{
    return W * v3_dot(column->J, error->r) + v3_dot(column->a, error->v);
}

// Solve A x = b by Gauss and Jordan's elimination, A symmetric positive definite, b in column n. No back substitution: the
// divisions of the pivots are what takes time, and the extra row operations hide behind them.
ARM_INLINE void arm_eliminate(int n, double A[][8])
{
    for (int k = 0; k < n; ++k) {
        double inverse = 1.0 / A[k][k];
        for (int c = k + 1; c <= n; ++c) {
            A[k][c] *= inverse;
        }
        for (int i = 0; i < n; ++i) {
            double factor = A[i][k];
            for (int c = k + 1; i != k && c <= n; ++c) {
                A[i][c] -= factor * A[k][c];
            }
        }
    }
}

// Is the joint at a limit that the descent direction -g points out of? Then its column is cleared, which holds it: its step
// comes out as exactly 0, and no other joint sees it.
ARM_INLINE bool arm_is_held(double side, double g)
{
    return side * g < 0;
}

// x rounded to an integer, |x| < 2^51.
static inline double arm_round(double x)
{
    return (x + 0x1.8p52) - 0x1.8p52;
}

// q_i within its interval: a hinge that left it comes back by whole turns where that is possible, else it is clamped. Whole
// turns, not one: near a singularity undamped steps are tens of radians.
static inline double arm_bring_back(const pz_arm_chain *chain, pz_arm_run *run, int i, double q)
{
    if (chain->turn[i] != 0) {
        double turned = q - PZ_TWO_PI * arm_round((q - run->middle[i]) / PZ_TWO_PI);
        q = turned > run->lower[i] && turned < run->upper[i] ? turned : q;
    }
    run->side[i] = q <= run->lower[i] ? -1.0 : q >= run->upper[i] ? 1.0 : 0.0;
    return clamp(q, run->lower[i], run->upper[i]);
}

// Move run->q by the step x, within the limits.
ARM_INLINE void arm_move(const pz_arm_chain *chain, int n, bool slides, const double *x, pz_arm_run *run)
{
    for (int i = 0; i < n; ++i) {
        double q = run->q[i] + (slides ? chain->rate[i] * x[i] : x[i]);
        bool inside = q > run->lower[i] && q < run->upper[i];
        run->side[i] = 0.0;
        run->q[i] = inside ? q : arm_bring_back(chain, run, i, q);
    }
}

#endif
