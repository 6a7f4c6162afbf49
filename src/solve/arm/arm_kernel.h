// The inner loops of an arm: forward sweep, error, columns of the Jacobian, the system of a step, limits. Inlined with a
// constant number of joints wherever time counts.
#ifndef PZ_SOLVE_ARM_KERNEL_H
#define PZ_SOLVE_ARM_KERNEL_H

#include "base/cpu.h"
#include "math/trig.h"
#include "solve/arm/arm.h"

// ---- Constants of the search (arm_search.c) ------------------------------------------------------------------------------

#define ARM_DAMPING       0.05 // lambda over f
#define ARM_DAMPING_LEAST 1e-12
#define ARM_KAPPA_LEAST   0.01 // of kappa^2, which vanishes at half a turn
#define ARM_FIRST_LOOK    5    // iterates before a search is judged
#define ARM_CREEPS        0.7  // f over that three iterates before: above, the search is dropped

// Determinants below these shares of their bounds are left to elimination: less than 3 steps in a thousand.
#define ARM_SINGULAR_P 1e-6
#define ARM_SINGULAR_S 1e-8

// ---- Forward sweep and error ---------------------------------------------------------------------------------------------

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
PZ_INLINE void arm_forward(const pz_arm_chain *chain, int n, bool slides, const double *q, arm_frames *frames)
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

PZ_INLINE arm_error arm_error_at(const arm_frames *frames, const pz_arm_target *target)
{
    const mat3 *d = &frames->d, *u = &target->u;
    vec3 r = v3_sub(frames->p, target->t);
    vec3 ex = v3_sub(d->x, u->x), ey = v3_sub(d->y, u->y), ez = v3_sub(d->z, u->z);
    vec3 twice = v3_add(v3_add(v3_cross(u->x, ex), v3_cross(u->y, ey)), v3_cross(u->z, ez));
    // squares by component first: the order that suits registers of four (arm_search_wide.c)
    double e = 0.25 * ((ex.x * ex.x + ey.x * ey.x + ez.x * ez.x) + (ex.y * ex.y + ey.y * ey.y + ez.y * ez.y) +
                       (ex.z * ex.z + ey.z * ey.z + ez.z * ez.z));
    return (arm_error){r, v3_scale(twice, 0.5), v3_dot(r, r), e};
}

PZ_INLINE bool arm_is_met(const arm_error *error, const pz_arm_target *target)
{
    return (error->rr <= target->most_r && 2.0 * error->e <= target->most_e) ||
           0.5 * target->W * error->rr + error->e <= target->cost;
}

// One column of the Jacobian, per unit of a step: the turn and the shift of the goal's frame.
typedef struct arm_column {
    vec3 a; // axis of a hinge, 0 for a slide
    vec3 J; // a x (p - o), or the axis of a slide
} arm_column;

PZ_INLINE arm_column arm_column_of(const pz_arm_chain *chain, bool slides, const arm_frames *frames, int i)
{
    vec3 a = frames->a[i];
    if (slides && chain->turn[i] == 0) {
        return (arm_column){{0, 0, 0}, a};
    }
    return (arm_column){a, v3_cross(a, v3_sub(frames->p, frames->o[i]))};
}

// W J . r + a . v
PZ_INLINE double arm_slope(const arm_column *column, double W, const arm_error *error)
{
    return W * v3_dot(column->J, error->r) + v3_dot(column->a, error->v);
}

// Note in the run what is known at its q; where the target is met, the gradient of the goal's cost, too.
PZ_INLINE void arm_note(const pz_arm_chain *chain, int n, bool slides, const arm_frames *frames, const arm_error *error,
                        const pz_arm_target *target, bool met, pz_arm_run *run)
{
    run->f = 0.5 * error->rr + error->e, run->r = error->rr, run->e = error->e;
    for (int i = 0; met && i < n; ++i) {
        arm_column column = arm_column_of(chain, slides, frames, i);
        run->g[i] = arm_slope(&column, target->W, error);
    }
}

// Solve A x = b by Gauss and Jordan's elimination, A symmetric positive definite, b in column n. No back substitution: the
// divisions of the pivots are what takes time, and the extra row operations hide behind them.
PZ_INLINE void arm_eliminate(int n, double A[][8])
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

// ---- The 6 x 6 system of a step (arm_search.c) ---------------------------------------------------------------------------

// The blocks of K K^T with its damping.
typedef struct arm_blocks {
    sym3 P; // sum a a^T + lambda/kappa I
    sym3 Q; // sum J J^T + lambda I
    mat3 X; // sum a J^T
} arm_blocks;

// A^-1 from cofactors, one division. Cofactors cancel where A is near to singular: false when the determinant is not above
// `share` times its bound, the product of the diagonal of B (Hadamard), where B is A or what A was made from by subtraction;
// its relative error is about PZ_EPSILON/share.
PZ_INLINE bool arm_invert(const sym3 *A, const sym3 *B, double share, sym3 *inverse)
{
    double cx = A->yy * A->zz - A->yz * A->yz, cy = A->xz * A->yz - A->xy * A->zz, cz = A->xy * A->yz - A->xz * A->yy;
    double det = A->xx * cx + A->xy * cy + A->xz * cz, d = 1.0 / det;
    *inverse = (sym3){.xx = cx * d,
                      .xy = cy * d,
                      .xz = cz * d,
                      .yy = (A->xx * A->zz - A->xz * A->xz) * d,
                      .yz = (A->xy * A->xz - A->xx * A->yz) * d,
                      .zz = (A->xx * A->yy - A->xy * A->xy) * d};
    return det > share * (B->xx * B->yy * B->zz);
}

// The same system without cofactors.
static inline void arm_solve_singular(const arm_blocks *b, vec3 first, vec3 second, vec3 *y, vec3 *z)
{
    const sym3 *Q = &b->Q, *P = &b->P;
    const mat3 *X = &b->X;
    double A[6][8] = {
        {Q->xx, Q->xy, Q->xz, X->x.x, X->x.y, X->x.z, first.x},  {Q->xy, Q->yy, Q->yz, X->y.x, X->y.y, X->y.z, first.y},
        {Q->xz, Q->yz, Q->zz, X->z.x, X->z.y, X->z.z, first.z},  {X->x.x, X->y.x, X->z.x, P->xx, P->xy, P->xz, second.x},
        {X->x.y, X->y.y, X->z.y, P->xy, P->yy, P->yz, second.y}, {X->x.z, X->y.z, X->z.z, P->xz, P->yz, P->zz, second.z}};
    arm_eliminate(6, A);
    *y = v3(A[0][6], A[1][6], A[2][6]);
    *z = v3(A[3][6], A[4][6], A[5][6]);
}

// By blocks: with Y = P^-1 X and the complement S = Q - X^T Y,
//
//   y = S^-1 (first - Y^T second)        z = P^-1 second - Y y
PZ_INLINE void arm_solve_blocks(const arm_blocks *b, vec3 first, vec3 second, vec3 *y, vec3 *z)
{
    sym3 P, S;
    const mat3 *X = &b->X;
    bool regular = arm_invert(&b->P, &b->P, ARM_SINGULAR_P, &P);
    mat3 Y = {sym3_apply(&P, X->x), sym3_apply(&P, X->y), sym3_apply(&P, X->z)};
    sym3 complement = {.xx = b->Q.xx - v3_dot(X->x, Y.x),
                       .xy = b->Q.xy - v3_dot(X->x, Y.y),
                       .xz = b->Q.xz - v3_dot(X->x, Y.z),
                       .yy = b->Q.yy - v3_dot(X->y, Y.y),
                       .yz = b->Q.yz - v3_dot(X->y, Y.z),
                       .zz = b->Q.zz - v3_dot(X->z, Y.z)};
    regular = arm_invert(&complement, &b->Q, ARM_SINGULAR_S, &S) && regular;
    *y = sym3_apply(&S, v3_sub(first, m3_apply_transposed(&Y, second)));
    *z = v3_sub(sym3_apply(&P, second), m3_apply(&Y, *y));
    if (!regular) {
        arm_solve_singular(b, first, second, y, z);
    }
}

// ---- Limits --------------------------------------------------------------------------------------------------------------

// Is the joint at a limit that the descent direction -g points out of? Then its column is cleared, which holds it: its step
// comes out as exactly 0, and no other joint sees it.
PZ_INLINE bool arm_is_held(double side, double g)
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
    return q <= run->lower[i] ? run->lower[i] : q >= run->upper[i] ? run->upper[i] : q;
}

// Move run->q by the step x, within the limits.
PZ_INLINE void arm_move(const pz_arm_chain *chain, int n, bool slides, const double *x, pz_arm_run *run)
{
    for (int i = 0; i < n; ++i) {
        double q = run->q[i] + (slides ? chain->rate[i] * x[i] : x[i]);
        bool inside = q > run->lower[i] && q < run->upper[i];
        run->side[i] = 0.0;
        run->q[i] = inside ? q : arm_bring_back(chain, run, i, q);
    }
}

// ---- Runs: begin and end -------------------------------------------------------------------------------------------------

// How far a hinge without limits may go before whole turns bring it back: more than half a turn, so that it is then inside.
#define ARM_ROOM 8.0

PZ_INLINE void arm_open(const pz_arm_chain *chain, int n, const double *q, pz_arm_run *run)
{
    for (int i = 0; i < n; ++i) {
        double lower = chain->lower[i], upper = chain->upper[i], middle = 0.5 * (lower + upper);
        bool has_lower = lower > -INFINITY, has_upper = upper < INFINITY;
        if (chain->turn[i] != 0 && !(has_lower && has_upper)) {
            middle = has_lower ? lower + PZ_PI : has_upper ? upper - PZ_PI : q[i];
            lower = has_lower ? lower : min2(q[i], middle) - ARM_ROOM;
            upper = has_upper ? upper : max2(q[i], middle) + ARM_ROOM;
        }
        run->lower[i] = lower;
        run->upper[i] = upper;
        run->middle[i] = middle;
    }
}

PZ_INLINE void arm_begin(const pz_arm_chain *chain, int n, const double *q, pz_arm_run *run)
{
    for (int i = 0; i < n; ++i) {
        bool inside = q[i] > run->lower[i] && q[i] < run->upper[i];
        run->side[i] = 0.0;
        run->q[i] = inside ? q[i] : arm_bring_back(chain, run, i, q[i]);
    }
}

// Hinges moved by whole turns next to where they started, within their limits: if the nearest turn is beyond one limit, the
// next one is not, since q is within both.
PZ_INLINE void arm_turn_back(const pz_arm_chain *chain, int n, const double *q_start, double *q)
{
    for (int i = 0; i < n; ++i) {
        double away = q[i] - q_start[i];
        if (chain->turn[i] == 0 || fabs(away) <= PZ_PI) {
            continue;
        }
        double turned = q[i] - PZ_TWO_PI * arm_round(away / PZ_TWO_PI);
        turned += turned < chain->lower[i] ? PZ_TWO_PI : turned > chain->upper[i] ? -PZ_TWO_PI : 0.0;
        q[i] = clamp(turned, chain->lower[i], chain->upper[i]);
    }
}

#endif
