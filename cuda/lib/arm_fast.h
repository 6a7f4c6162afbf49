// The search of solve/arm.c in single precision, for six and seven hinges: which zero to go to is a question that
// seven digits answer. A search that comes near takes one more step and is handed on to double precision.
//
// The same source runs on the device and on the host, with the same bits: products and sums are fused where it says fmaf and
// nowhere else (-fmad=false, -ffp-contract=off), and all else is IEEE 754 arithmetic, sines included. Functions are inlined
// with a constant number of joints n.
#ifndef POISE_CUDA_ARM_FAST_H
#define POISE_CUDA_ARM_FAST_H

#include "cuda_arm.h"

#define FAST_DAMPING_LEAST 2e-6f // as large as the rounding of the matrix
#define FAST_PIVOT_LEAST   1e-7f

// ---- Begin ---------------------------------------------------------------------------------------------------------------

typedef struct fast_target {
    rvec ux, uy, uz, t;
} fast_target;

// One search as it goes on. Bit i of low, high: joint i is at that limit.
typedef struct fast_run {
    float q[PZ_FAST_MOST]; // half turns, the chain's offsets included
    unsigned low, high;
    float f, f1, f2, f3; // at q and at the iterates before
    int k;
} fast_run;

// Where the chain is: all but the first joint, whose axis is z and whose origin is 0.
typedef struct fast_point {
    rvec a[PZ_FAST_MOST], o[PZ_FAST_MOST], p, r, v;
    float e;
} fast_point;

// As arm_aim, with unit quaternions taken as such.
PZ_INLINE fast_target fast_aim(const pz_fast_chain *chain, const poise_pose *pose)
{
    const float *B = chain->back, *T = chain->tail_back;
    float x = (float)pose->rotation.x, y = (float)pose->rotation.y, z = (float)pose->rotation.z, w = (float)pose->rotation.w;
    rvec at = rv((float)(pose->position.x - chain->base_at[0]), (float)(pose->position.y - chain->base_at[1]),
                 (float)(pose->position.z - chain->base_at[2]));
    float s = 2.0f * fast_inverse(fmaf(x, x, fmaf(y, y, fmaf(z, z, w * w))));
    rvec R[3] = {rv(fmaf(-s, fmaf(y, y, z * z), 1.0f), s * fmaf(x, y, w * z), s * fmaf(x, z, -(w * y))),
                 rv(s * fmaf(x, y, -(w * z)), fmaf(-s, fmaf(x, x, z * z), 1.0f), s * fmaf(y, z, w * x)),
                 rv(s * fmaf(x, z, w * y), s * fmaf(y, z, -(w * x)), fmaf(-s, fmaf(x, x, y * y), 1.0f))};
    // columns of back * R, then times the transposed tail
    rvec b[3] = {rv(B[0], B[1], B[2]), rv(B[3], B[4], B[5]), rv(B[6], B[7], B[8])}; // columns
    rvec u[3];
    FAST_UNROLL
    for (int c = 0; c < 3; ++c) {
        u[c] = rv_mad(rv_combine(R[c].x, b[0], R[c].y, b[1]), R[c].z, b[2]);
    }
    fast_target target;
    target.ux = rv_mad(rv_combine(T[0], u[0], T[1], u[1]), T[2], u[2]);
    target.uy = rv_mad(rv_combine(T[3], u[0], T[4], u[1]), T[5], u[2]);
    target.uz = rv_mad(rv_combine(T[6], u[0], T[7], u[1]), T[8], u[2]);
    rvec t = rv_mad(rv_combine(at.x, b[0], at.y, b[1]), at.z, b[2]);
    target.t = rv(chain->scale * t.x, chain->scale * t.y, chain->scale * t.z);
    return target;
}

// No search in single precision for a target that is out of reach.
PZ_INLINE bool fast_is_far(const pz_fast_chain *chain, const fast_target *target)
{
    return rv_dot(target->t, target->t) > chain->reach * chain->reach;
}

// q_i within its interval, as arm_bring_back.
PZ_INLINE void fast_into_limits(const pz_fast_chain *chain, int i, float q, fast_run *run)
{
    float turned = q - 2.0f * rintf(0.5f * (q - chain->middle[i]));
    q = turned > chain->lower[i] && turned < chain->upper[i] ? turned : q;
    bool below = q <= chain->lower[i], above = !below && q >= chain->upper[i];
    run->low |= below ? 1u << i : 0u;
    run->high |= above ? 1u << i : 0u;
    run->q[i] = below ? chain->lower[i] : above ? chain->upper[i] : q;
}

PZ_INLINE void fast_set(const pz_fast_chain *chain, int i, float q, fast_run *run)
{
    run->q[i] = q;
    if (!(q > chain->lower[i] && q < chain->upper[i])) {
        fast_into_limits(chain, i, q, run);
    }
}

// Search number m begins at the caller's start, or at a point of the sequence.
PZ_INLINE void fast_begin(const pz_fast_chain *chain, int n, int m, const double *start, fast_run *run)
{
    run->low = run->high = 0;
    run->k = 0;
    run->f1 = run->f2 = run->f3 = INFINITY;
    FAST_UNROLL
    for (int i = 0; i < n; ++i) {
        double at = 0.5 + (double)(chain->first_start + m) * chain->ratio[i];
        at -= (double)(int64_t)at;
        double q = m == 0 ? start[chain->q[i]] : chain->first[i] + chain->span[i] * at;
        q = FAST_PER_RADIAN * (q + chain->offset[i]);
        if (m == 0 && chain->is_endless[i]) { // in double, so that a start many turns away keeps its digits
            q -= 2.0 * arm_round(0.5 * q);
        }
        fast_set(chain, i, (float)q, run);
    }
}

// ---- Look ----------------------------------------------------------------------------------------------------------------

PZ_INLINE void fast_evaluate(const pz_fast_chain *chain, int n, const fast_target *u, fast_run *run, fast_point *at)
{
    float s, c;
    fast_sincos(run->q[0], &s, &c);
    rvec x = rv(c, s, 0.0f);
    rvec p = rv(fmaf(chain->tx[0], c, -(chain->ty[0] * s)), fmaf(chain->tx[0], s, chain->ty[0] * c), chain->tz[0]);
    rvec y = rv(-(chain->ca[0] * s), chain->ca[0] * c, chain->sa[0]);
    rvec z = rv(chain->sa[0] * s, -(chain->sa[0] * c), chain->ca[0]);
    FAST_UNROLL
    for (int i = 1; i < n; ++i) {
        at->a[i] = z;
        at->o[i] = p;
        fast_sincos(run->q[i], &s, &c);
        rvec across = rv_combine(c, y, -s, x);
        x = rv_combine(c, x, s, y);
        p = rv_mad(rv_mad(rv_mad(p, chain->tx[i], x), chain->ty[i], across), chain->tz[i], z);
        y = across;
        if (i < n - 1) {
            y = rv_combine(chain->ca[i], across, chain->sa[i], z);
            z = rv_combine(chain->ca[i], z, -chain->sa[i], across);
        }
    }
    rvec ex = rv_sub(x, u->ux), ey = rv_sub(y, u->uy), ez = rv_sub(z, u->uz);
    rvec twice = rv_cross_on(rv_cross_on(rv_cross(u->ux, ex), u->uy, ey), u->uz, ez);
    at->p = p;
    at->r = rv_sub(p, u->t);
    at->v = rv(0.5f * twice.x, 0.5f * twice.y, 0.5f * twice.z);
    at->e = 0.25f * rv_dot_on(rv_dot_on(rv_dot(ex, ex), ey, ey), ez, ez);
    run->f = fmaf(0.5f, rv_dot(at->r, at->r), at->e);
}

// ---- Step ----------------------------------------------------------------------------------------------------------------

// x of A x = b, A symmetric and positive, 6 x 6, its lower triangle by rows; A and b are spoilt.
PZ_INLINE void fast_solve(float A[6][6], float b[6])
{
    FAST_UNROLL
    for (int k = 0; k < 6; ++k) {
        float inverse = fast_inverse(fast_at_least(FAST_PIVOT_LEAST, A[k][k]));
        A[k][k] = inverse;
        FAST_UNROLL
        for (int i = k + 1; i < 6; ++i) {
            float factor = A[i][k] * inverse;
            FAST_UNROLL
            for (int j = k + 1; j <= i; ++j) {
                A[i][j] = fmaf(-factor, A[j][k], A[i][j]);
            }
            b[i] = fmaf(-factor, b[k], b[i]);
        }
    }
    FAST_UNROLL
    for (int k = 5; k >= 0; --k) {
        float sum = b[k];
        FAST_UNROLL
        for (int i = k + 1; i < 6; ++i) {
            sum = fmaf(-A[i][k], b[i], sum);
        }
        b[k] = sum * A[k][k];
    }
}

// The joints that are held at a limit, as bits; their columns are cleared.
PZ_INLINE unsigned fast_hold(int n, const fast_run *run, fast_point *at)
{
    unsigned held = 0;
    FAST_UNROLL
    for (int i = 0; i < n; ++i) {
        rvec a = i ? at->a[i] : rv(0.0f, 0.0f, 1.0f);
        rvec Ji = i ? rv_cross(a, rv_sub(at->p, at->o[i])) : rv(-at->p.y, at->p.x, 0.0f);
        float g = rv_dot_on(rv_dot(a, at->v), Ji, at->r);
        if (((run->low >> i & 1u) && g > 0.0f) || ((run->high >> i & 1u) && g < 0.0f)) {
            held |= 1u << i;
            at->a[i] = rv(0.0f, 0.0f, 0.0f); // of the first joint the bit alone counts
        }
    }
    return held;
}

// The step of solve/arm_kernel.h by its 6 x 6 system, limits kept.
PZ_INLINE void fast_step(const pz_fast_chain *chain, int n, fast_point *at, fast_run *run)
{
    float inverse = fast_inverse_root(fast_at_least((float)ARM_KAPPA_LEAST, fmaf(-0.5f, at->e, 1.0f)));
    float lambda = fmaf((float)ARM_DAMPING, run->f, FAST_DAMPING_LEAST);
    rvec J[PZ_FAST_MOST];
    float A[6][6] = {{0}};
    A[0][0] = A[1][1] = A[2][2] = lambda;
    A[3][3] = A[4][4] = A[5][5] = lambda * inverse;
    unsigned held = run->low | run->high ? fast_hold(n, run, at) : 0; // few are at a limit
    if (!(held & 1u)) {                                               // a = z, J = z x p
        A[0][0] = fmaf(at->p.y, at->p.y, A[0][0]);
        A[1][0] = -(at->p.x * at->p.y);
        A[1][1] = fmaf(at->p.x, at->p.x, A[1][1]);
        A[5][0] = -at->p.y;
        A[5][1] = at->p.x;
        A[5][5] += 1.0f;
    }
    FAST_UNROLL
    for (int i = 1; i < n; ++i) {
        J[i] = rv_cross(at->a[i], rv_sub(at->p, at->o[i]));
        float column[6] = {J[i].x, J[i].y, J[i].z, at->a[i].x, at->a[i].y, at->a[i].z};
        FAST_UNROLL
        for (int r = 0; r < 6; ++r) {
            FAST_UNROLL
            for (int c = 0; c <= r; ++c) {
                A[r][c] = fmaf(column[r], column[c], A[r][c]);
            }
        }
    }
    float b[6] = {-at->r.x, -at->r.y, -at->r.z, -inverse * at->v.x, -inverse * at->v.y, -inverse * at->v.z};
    fast_solve(A, b);
    rvec y = rv(b[0], b[1], b[2]), z = rv(b[3], b[4], b[5]);
    run->low = run->low & held, run->high = run->high & held;
    FAST_UNROLL
    for (int i = 0; i < n; ++i) {
        float x = i ? rv_dot_on(rv_dot(at->a[i], z), J[i], y) : fmaf(at->p.x, y.y, fmaf(-at->p.y, y.x, z.z));
        if (!(held >> i & 1u)) {
            fast_set(chain, i, fmaf((float)FAST_PER_RADIAN, x, run->q[i]), run);
        }
    }
}

// ---- Judge ---------------------------------------------------------------------------------------------------------------

typedef enum fast_end { FAST_GOES_ON = 0, FAST_NEAR, FAST_DROPPED } fast_end;

// Does the search end at the point that was evaluated?
PZ_INLINE fast_end fast_judge(const fast_point *at, fast_run *run)
{
    bool near = rv_dot(at->r, at->r) <= PZ_FAST_NEAR * PZ_FAST_NEAR && 2.0f * at->e <= PZ_FAST_NEAR * PZ_FAST_NEAR;
    bool creeps = run->k >= ARM_FIRST_LOOK && !(run->f <= (float)ARM_CREEPS * run->f3);
    fast_end end = near ? FAST_NEAR : creeps || run->k >= PZ_ARM_SEARCH_ITERATIONS ? FAST_DROPPED : FAST_GOES_ON;
    run->f3 = run->f2, run->f2 = run->f1, run->f1 = run->f;
    run->k += 1;
    return end;
}

#endif
