// What an arm computes: forward sweep, error, columns of the Jacobian, the system of a step, limits; the search for a zero
// of the pose error that these make up; the descent that finishes it; and searches of several problems in lanes. arm.c tells
// what is done with them.
//
// One text over reals (num/real.h), compiled for one problem (arm.c), for one problem with a column of a frame in each
// register (wide.c), for lanes (lanes_4.c and its like) and for a graphics processor (cuda/kernels/). All have the same
// bits. Functions are inlined with a constant number of joints n where time counts; `slides` is a constant, too: false when
// all joints are hinges.
//
// The search is Gauss-Newton with a damping in proportion to the energy. With K the 6 x n matrix of columns [J_i ; a_i],
// residuals [r ; v/kappa] and kappa = cos(phi/2), each step solves
//
//   (sum J J^T + kappa a a^T + lambda I) x = -(J . r + a . v)          lambda = 0.05 f + 1e-12
//
// kappa makes the step of a pure turn 2 sin(phi/2) instead of sin(phi), as good as the angle itself and without an arc
// tangent. Every step is accepted, whatever it does to f: only zeros are looked for, and a search that does not close in on
// one is dropped after few iterations (ARM_CREEPS), since another start is cheaper.
//
// For six joints and more the same step comes from the 6 x 6 matrix K K^T, which is no larger for longer chains:
//
//   [ sum J J^T + lambda I          sum J a^T           ] [ y ]   [ -r       ]
//   [     sum a J^T          sum a a^T + lambda/kappa I ] [ z ] = [ -v/kappa ]          x_i = J_i . y + a_i . z
//
// since with w = diag(1, kappa) the step is x = -(K^T w K + lambda I)^-1 K^T w rho = -K^T (K K^T + lambda w^-1)^-1 rho.
//
// A joint at a limit that descent would leave has its column cleared and so takes no step; one that leaves its interval is
// turned back by whole turns, or clamped.
#ifndef PZ_SOLVE_ARM_KERNEL_H
#define PZ_SOLVE_ARM_KERNEL_H

#include "num/registers.h"
#include "num/trig.h"
#include "solve/arm.h"

// ---- Constants of the search ---------------------------------------------------------------------------------------------

#define ARM_DAMPING       0.05 // lambda over f
#define ARM_DAMPING_LEAST 1e-12
#define ARM_KAPPA_LEAST   0.01 // of kappa^2, which vanishes at half a turn
#define ARM_FIRST_LOOK    5    // iterates before a search is judged
#define ARM_CREEPS        0.7  // f over that three iterates before: above, the search is dropped

// Determinants below these shares of their bounds are left to elimination: less than 3 steps in a thousand.
#define ARM_SINGULAR_P 1e-6
#define ARM_SINGULAR_S 1e-8

#define ARM_ALONE 1u // the only lane is busy

// Are runs asked for a trace, and for the gradient where the target is met? A graphics processor has no use for them.
#ifdef __CUDACC__
#define ARM_REPORTS 0
#else
#define ARM_REPORTS 1
#endif

PZ_INLINE void arm_record(pz_arm_run *run, double f, double damping, bool exact)
{
#if ARM_REPORTS
    pz_arm_record(run, f, damping, exact);
#else
    (void)run, (void)f, (void)damping, (void)exact;
#endif
}

// ---- Forward sweep and error ---------------------------------------------------------------------------------------------

// Where the chain is. The reference point is the origin of the first joint.
typedef struct arm_frames {
    pack3 a[PZ_ARM_MOST]; // z of joint i: its axis
    pack3 o[PZ_ARM_MOST]; // its origin, over L
    pack33 d;             // columns of the last frame, before the tail
    pack3 p;              // origin of the goal's frame, over L
} arm_frames;

// Columns x, y, z and origin p, joint by joint:
//
//   x' = c x + s y      y' = c y - s x      p += tx x' + ty y' + tz z      x = x'    y = ca y' + sa z    z = ca z - sa y'
REAL_FN void arm_forward_from(const pz_arm_chain *chain, int n, bool slides, unsigned busy, const real *q, pack33 start,
                              pack3 at, arm_frames *frames)
{
    real angle[PZ_ARM_MOST], sine[PZ_ARM_MOST], cosine[PZ_ARM_MOST];
    int k = 0;
    do { // n >= 1
        angle[k] = (slides ? chain->turn[k] * q[k] : q[k]) + chain->offset[k];
    } while (++k < n);
    real_sincos_array(n, busy, angle, sine, cosine);
    pack3 x = start.x, y = start.y, z = start.z, p = at;
    for (int i = 0; i < n; ++i) {
        frames->a[i] = z;
        frames->o[i] = p;
        real tz = slides ? chain->tz[i] + chain->slide[i] * q[i] : real_of(chain->tz[i]);
        pack3 across = pack3_differ(cosine[i], y, sine[i], x);
        x = pack3_combine(cosine[i], x, sine[i], y);
        y = across;
        p = pack3_mad(pack3_mad(pack3_mad(p, real_of(chain->tx[i]), x), real_of(chain->ty[i]), y), tz, z);
        if (i < n - 1) { // the tail holds the rest of the last one
            real ca = real_of(chain->ca[i]), sa = real_of(chain->sa[i]);
            y = pack3_combine(ca, across, sa, z);
            z = pack3_differ(ca, z, sa, across);
        }
    }
    frames->d = (pack33){x, y, z};
    frames->p = p;
}

// The same from the frame of the first joint, which is the reference.
REAL_FN void arm_forward(const pz_arm_chain *chain, int n, bool slides, unsigned busy, const real *q, arm_frames *frames)
{
    real zero = real_of(0.0), one = real_of(1.0);
    pack33 start = {pack3_of((real3){one, zero, zero}), pack3_of((real3){zero, one, zero}),
                    pack3_of((real3){zero, zero, one})};
    arm_forward_from(chain, n, slides, busy, q, start, pack3_of((real3){zero, zero, zero}), frames);
}

// The error at a point. v is the torque of E: dE = a . v for a turn about a; it has the length sin(phi). Differences of
// columns come first, so that nothing cancels near the target.
typedef struct arm_error {
    real3 r; // p - t
    real3 v; // 1/2 sum u_k x (d_k - u_k)
    real rr; // |r|^2
    real e;  // E
} arm_error;

REAL_FN arm_error arm_error_at(const arm_frames *frames, const pack33 *u, pack3 t)
{
    const pack33 *d = &frames->d;
    pack3 r = pack3_sub(frames->p, t);
    pack3 ex = pack3_sub(d->x, u->x), ey = pack3_sub(d->y, u->y), ez = pack3_sub(d->z, u->z);
    pack3 twice = pack3_add(pack3_add(pack3_cross(u->x, ex), pack3_cross(u->y, ey)), pack3_cross(u->z, ez));
    // squares by component first: the order that suits one column to a register
    pack3 squares = pack3_add(pack3_add(pack3_products(ex, ex), pack3_products(ey, ey)), pack3_products(ez, ez));
    return (arm_error){pack3_vector(r), pack3_vector(pack3_scale(twice, real_of(0.5))), pack3_sum(pack3_products(r, r)),
                       0.25 * pack3_sum(squares)};
}

// The energy of the search, W = 1.
REAL_FN real arm_energy(const arm_error *error)
{
    return 0.5 * error->rr + error->e;
}

REAL_FN real_mask arm_is_met(const arm_error *error, real most_r, real most_e, real W, real cost)
{
    real_mask near = (error->rr <= most_r) & (2.0 * error->e <= most_e);
    return near | (0.5 * W * error->rr + error->e <= cost);
}

// One column of the Jacobian, per unit of a step: the turn and the shift of the goal's frame.
typedef struct arm_column {
    pack3 a; // axis of a hinge, 0 for a slide
    pack3 J; // a x (p - o), or the axis of a slide
} arm_column;

REAL_FN arm_column arm_column_of(const pz_arm_chain *chain, bool slides, const arm_frames *frames, int i)
{
    pack3 a = frames->a[i];
    if (slides && chain->turn[i] == 0) {
        return (arm_column){pack3_of(v3_zero()), a};
    }
    return (arm_column){a, pack3_cross(a, pack3_sub(frames->p, frames->o[i]))};
}

// W J . r + a . v
REAL_FN real arm_slope(const arm_column *column, real W, const arm_error *error)
{
    return W * v3_dot(pack3_vector(column->J), error->r) + v3_dot(pack3_vector(column->a), error->v);
}

// ---- When a search ends --------------------------------------------------------------------------------------------------

// Progress of a search: iterates so far, and f of the last three.
typedef struct arm_progress {
    real k, f1, f2, f3;
} arm_progress;

REAL_FN arm_progress arm_progress_begin(void)
{
    real far = real_of(INFINITY);
    return (arm_progress){real_of(0.0), far, far, far};
}

// Does the search end at this iterate, where the energy is f? It has met its target, creeps, or has taken `most` steps.
REAL_FN real_mask arm_ends(arm_progress *progress, real f, real_mask met, int most)
{
    real k = progress->k;
    real_mask creeps = (k >= (double)ARM_FIRST_LOOK) & mask_not(f <= ARM_CREEPS * progress->f3);
    *progress = (arm_progress){k + 1.0, f, progress->f1, progress->f2};
    return met | creeps | (k == (double)most);
}

// ---- The system of a step ------------------------------------------------------------------------------------------------

REAL_FN real arm_damping(real f)
{
    return ARM_DAMPING * f + ARM_DAMPING_LEAST;
}

REAL_FN real arm_kappa(real e)
{
    return real_sqrt(real_max2(1.0 - 0.5 * e, real_of(ARM_KAPPA_LEAST)));
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

// The blocks of K K^T with its damping.
typedef struct arm_blocks {
    real_sym P; // sum a a^T + lambda/kappa I
    real_sym Q; // sum J J^T + lambda I
    real33 X;   // sum a J^T
} arm_blocks;

REAL_FN arm_blocks arm_blocks_of(int n, const arm_column *columns, real lambda, real inverse_kappa)
{
    pack3 zero = pack3_of(v3_zero());
    pack_sym P = pack_sym_identity(lambda * inverse_kappa), Q = pack_sym_identity(lambda);
    pack33 X = {zero, zero, zero};
    for (int i = 0; i < n; ++i) {
        P = pack_sym_add_square(P, columns[i].a);
        Q = pack_sym_add_square(Q, columns[i].J);
        X = pack33_add_outer(X, columns[i].a, columns[i].J);
    }
    return (arm_blocks){pack_sym_matrix(&P), pack_sym_matrix(&Q), pack33_matrix(&X)};
}

// A^-1 from cofactors, one division. Cofactors cancel where A is near to singular: false when the determinant is not above
// `share` times its bound, the product of the diagonal of B (Hadamard), where B is A or what A was made from by
// subtraction; its relative error is about PZ_EPSILON/share.
REAL_FN real_mask arm_invert(const real_sym *A, const real_sym *B, double share, real_sym *inverse)
{
    real cx = A->yy * A->zz - A->yz * A->yz, cy = A->xz * A->yz - A->xy * A->zz, cz = A->xy * A->yz - A->xz * A->yy;
    real det = A->xx * cx + A->xy * cy + A->xz * cz, d = 1.0 / det;
    *inverse = (real_sym){.xx = cx * d,
                          .xy = cy * d,
                          .xz = cz * d,
                          .yy = (A->xx * A->zz - A->xz * A->xz) * d,
                          .yz = (A->xy * A->xz - A->xx * A->yz) * d,
                          .zz = (A->xx * A->yy - A->xy * A->xy) * d};
    return det > share * (B->xx * B->yy * B->zz);
}

// The same system without cofactors, for the lanes of a set, which is bits.
REAL_TARGET PZ_FN void arm_solve_singular(const arm_blocks *b, real3 first, real3 second, unsigned set, real3 *y, real3 *z)
{
    for (int l = 0; l < REAL_WIDTH; ++l) {
        if (!(set >> l & 1u)) {
            continue;
        }
        sym3 P = real_sym_get(&b->P, l), Q = real_sym_get(&b->Q, l);
        vec3 x = real3_get(b->X.x, l), u = real3_get(b->X.y, l), w = real3_get(b->X.z, l);
        vec3 c = real3_get(first, l), d = real3_get(second, l);
        double A[6][8] = {{Q.xx, Q.xy, Q.xz, x.x, x.y, x.z, c.x}, {Q.xy, Q.yy, Q.yz, u.x, u.y, u.z, c.y},
                          {Q.xz, Q.yz, Q.zz, w.x, w.y, w.z, c.z}, {x.x, u.x, w.x, P.xx, P.xy, P.xz, d.x},
                          {x.y, u.y, w.y, P.xy, P.yy, P.yz, d.y}, {x.z, u.z, w.z, P.xz, P.yz, P.zz, d.z}};
        arm_eliminate(6, A);
        real3_set(y, l, (vec3){A[0][6], A[1][6], A[2][6]});
        real3_set(z, l, (vec3){A[3][6], A[4][6], A[5][6]});
    }
}

// By blocks: with Y = P^-1 X and the complement S = Q - X^T Y,
//
//   y = S^-1 (first - Y^T second)        z = P^-1 second - Y y
typedef struct arm_inverse {
    real_sym P, S; // inverted
    real33 Y;
} arm_inverse;

// False where the blocks are near to singular: the inverse is not good then.
REAL_FN real_mask arm_invert_blocks(const arm_blocks *b, arm_inverse *inverse)
{
    real_sym *P = &inverse->P;
    real33 *Y = &inverse->Y;
    const real_sym *Q = &b->Q;
    const real33 *X = &b->X;
    real_mask regular = arm_invert(&b->P, &b->P, ARM_SINGULAR_P, P);
    *Y = (real33){sym3_apply(P, X->x), sym3_apply(P, X->y), sym3_apply(P, X->z)};
    real_sym complement = {.xx = Q->xx - v3_dot(X->x, Y->x),
                           .xy = Q->xy - v3_dot(X->x, Y->y),
                           .xz = Q->xz - v3_dot(X->x, Y->z),
                           .yy = Q->yy - v3_dot(X->y, Y->y),
                           .yz = Q->yz - v3_dot(X->y, Y->z),
                           .zz = Q->zz - v3_dot(X->z, Y->z)};
    return regular & arm_invert(&complement, Q, ARM_SINGULAR_S, &inverse->S);
}

REAL_FN void arm_apply_inverse(const arm_inverse *inverse, real3 first, real3 second, real3 *y, real3 *z)
{
    *y = sym3_apply(&inverse->S, v3_sub(first, m3_apply_transposed(&inverse->Y, second)));
    *z = v3_sub(sym3_apply(&inverse->P, second), m3_apply(&inverse->Y, *y));
}

// Both. False as above.
REAL_FN real_mask arm_solve_regular(const arm_blocks *b, real3 first, real3 second, real3 *y, real3 *z)
{
    arm_inverse inverse;
    real_mask regular = arm_invert_blocks(b, &inverse);
    arm_apply_inverse(&inverse, first, second, y, z);
    return regular;
}

REAL_FN void arm_solve_blocks(const arm_blocks *b, unsigned busy, real3 first, real3 second, real3 *y, real3 *z)
{
    real_mask regular = arm_solve_regular(b, first, second, y, z);
    unsigned singular = mask_bits(mask_not(regular)) & busy;
    if (singular) {
        arm_solve_singular(b, first, second, singular, y, z);
    }
}

// ---- Limits --------------------------------------------------------------------------------------------------------------

// Joints as they move: coordinates, at which limit they are (-1, 1, else 0), and their intervals.
typedef struct arm_joints {
    real *q, *side;
    const real *lower, *upper, *middle;
} arm_joints;

// Is the joint at a limit that the descent direction -g points out of? Then its column is cleared, which holds it: its step
// comes out as exactly 0, and no other joint sees it.
REAL_FN real_mask arm_is_held(real side, real g)
{
    return side * g < 0.0;
}

// x rounded to an integer, |x| < 2^51.
REAL_FN real arm_round(real x)
{
    return (x + 0x1.8p52) - 0x1.8p52;
}

// A hinge this close to the middle of its interval gains nothing by whole turns: half a turn, less some room for rounding.
#define ARM_NO_TURN 3.14

// Put q_i within its interval: a hinge that left it comes back by whole turns where that is possible, else it is clamped.
// Whole turns, not one: near a singularity undamped steps are tens of radians. Below and above exclude each other, or both
// limits are the same.
REAL_FN void arm_set_within(const pz_arm_chain *chain, const arm_joints *joints, int i, real q)
{
    real lower = joints->lower[i], upper = joints->upper[i], middle = joints->middle[i];
    if (REAL_WIDTH == 1 && real_all_between(q, lower, upper)) { // most steps of a single problem
        joints->q[i] = q;
        joints->side[i] = real_of(0.0);
        return;
    }
    real_mask below = q <= lower, above = q >= upper;
    if (chain->turn[i] != 0 && mask_any((below | above) & (real_fabs(q - middle) > ARM_NO_TURN))) {
        real turned = q - PZ_TWO_PI * arm_round((q - middle) / PZ_TWO_PI);
        q = real_select((below | above) & (turned > lower) & (turned < upper), turned, q);
        below = q <= lower;
        above = q >= upper;
    }
    joints->q[i] = real_select(below, lower, real_select(above, upper, q));
    joints->side[i] = real_select(below, real_of(-1.0), real_where(above, real_of(1.0)));
}

// Move by the step x, within the limits.
REAL_FN void arm_move(const pz_arm_chain *chain, int n, bool slides, const real *x, const arm_joints *joints)
{
    for (int i = 0; i < n; ++i) {
        arm_set_within(chain, joints, i, joints->q[i] + (slides ? chain->rate[i] * x[i] : x[i]));
    }
}

// ---- One step ------------------------------------------------------------------------------------------------------------

// The step x for six joints and more: 6 x 6.
REAL_FN void arm_block_step(int n, const arm_column *columns, unsigned busy, const arm_error *error, real lambda,
                            real inverse_kappa, real *x)
{
    real3 y, z;
    arm_blocks blocks = arm_blocks_of(n, columns, lambda, inverse_kappa);
    arm_solve_blocks(&blocks, busy, v3_neg(error->r), v3_scale(error->v, -inverse_kappa), &y, &z);
    for (int i = 0; i < n; ++i) {
        x[i] = v3_dot(pack3_vector(columns[i].J), y) + v3_dot(pack3_vector(columns[i].a), z);
    }
}

#if REAL_WIDTH == 1

// ---- Runs: begin and end -------------------------------------------------------------------------------------------------

REAL_FN arm_joints arm_joints_of(pz_arm_run *run)
{
    return (arm_joints){run->q, run->side, run->lower, run->upper, run->middle};
}

REAL_FN bool arm_target_is_met(const arm_error *error, const pz_arm_target *target)
{
    return arm_is_met(error, target->most_r, target->most_e, target->W, target->cost);
}

// The error at q, and the frames there.
REAL_FN arm_error arm_evaluate(const pz_arm_chain *chain, int n, bool slides, const double *q, const pz_arm_target *target,
                               arm_frames *frames)
{
    pack33 u = pack33_load(&target->u);
    arm_forward(chain, n, slides, ARM_ALONE, q, frames);
    return arm_error_at(frames, &u, pack3_load(&target->t));
}

// Note in the run what is known at its q; where the target is met, the gradient of the goal's cost, too.
REAL_FN void arm_note(const pz_arm_chain *chain, int n, bool slides, const arm_frames *frames, const arm_error *error,
                      const pz_arm_target *target, bool met, pz_arm_run *run)
{
    run->f = arm_energy(error);
    run->r = error->rr;
    run->e = error->e;
    for (int i = 0; ARM_REPORTS && met && i < n; ++i) {
        arm_column column = arm_column_of(chain, slides, frames, i);
        run->g[i] = arm_slope(&column, target->W, error);
    }
}

// How far a hinge without limits may go before whole turns bring it back: more than half a turn, so that it is then inside.
#define ARM_ROOM 8.0

REAL_FN void arm_open(const pz_arm_chain *chain, int n, const double *q, pz_arm_run *run)
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

REAL_FN void arm_begin(const pz_arm_chain *chain, int n, const double *q, pz_arm_run *run)
{
    arm_joints joints = arm_joints_of(run);
    for (int i = 0; i < n; ++i) {
        arm_set_within(chain, &joints, i, q[i]);
    }
}

// Hinges moved by whole turns next to where they started, within their limits: if the nearest turn is beyond one limit, the
// next one is not, since q is within both.
REAL_FN void arm_turn_back(const pz_arm_chain *chain, int n, const double *q_start, double *q)
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

// ---- A search ------------------------------------------------------------------------------------------------------------

// The same for fewer than six joints: n x n.
REAL_FN void arm_small_step(int n, const arm_column *columns, const arm_error *error, double lambda, double kappa, double *x)
{
    double A[5][8];
    for (int i = 0; i < n; ++i) {
        vec3 J = pack3_vector(columns[i].J), a = v3_scale(pack3_vector(columns[i].a), kappa);
        for (int j = 0; j <= i; ++j) {
            A[i][j] = A[j][i] = v3_dot(J, pack3_vector(columns[j].J)) + v3_dot(a, pack3_vector(columns[j].a));
        }
        A[i][i] += lambda;
        A[i][n] = -arm_slope(&columns[i], 1.0, error);
    }
    arm_eliminate(n, A);
    for (int i = 0; i < n; ++i) {
        x[i] = A[i][n];
    }
}

// What the trace says of a step.
REAL_TARGET PZ_FN void arm_note_step(int n, const arm_column *columns, const arm_error *error, const double *x,
                                     pz_arm_run *run)
{
    run->slope = run->longest = 0.0;
    for (int i = 0; i < n; ++i) {
        run->slope = max2(run->slope, fabs(arm_slope(&columns[i], 1.0, error)));
        run->longest = max2(run->longest, fabs(x[i]));
    }
}

// One step from the point that `frames` and `error` describe.
REAL_FN void arm_step(const pz_arm_chain *chain, int n, bool slides, const arm_frames *frames, const arm_error *error,
                      double lambda, pz_arm_run *run)
{
    arm_column columns[PZ_ARM_MOST];
    double x[PZ_ARM_MOST], kappa = arm_kappa(error->e);
    for (int i = 0; i < n; ++i) {
        columns[i] = arm_column_of(chain, slides, frames, i);
        if (run->side[i] != 0 && arm_is_held(run->side[i], arm_slope(&columns[i], 1.0, error))) {
            columns[i] = (arm_column){pack3_of(v3_zero()), pack3_of(v3_zero())};
        }
    }
    if (n < 6) {
        arm_small_step(n, columns, error, lambda, kappa, x);
    } else {
        arm_block_step(n, columns, ARM_ALONE, error, lambda, 1.0 / kappa, x);
    }
    if (ARM_REPORTS && run->trace) {
        arm_note_step(n, columns, error, x, run);
    }
    arm_joints joints = arm_joints_of(run);
    arm_move(chain, n, slides, x, &joints);
}

// Note an iterate: where the search began, and in the trace. `cost` is over rotation_weight, `lambda` of the step before.
REAL_FN void arm_note_iterate(double k, double rr, double e, double cost, double lambda, pz_arm_run *run)
{
    if (k == 0) {
        run->first_r = rr;
        run->first_e = e;
    }
    if (ARM_REPORTS && run->trace && k > 0) {
        arm_record(run, cost, lambda, false);
    } else if (ARM_REPORTS && run->trace) {
        run->best = min2(run->best, cost);
    }
}

REAL_FN bool arm_search(const pz_arm_chain *chain, const pz_arm_target *target, int most, pz_arm_run *run, int n,
                        bool slides)
{
    arm_progress progress = arm_progress_begin();
    double lambda = 0.0;
    for (;;) {
        arm_frames frames;
        arm_error error = arm_evaluate(chain, n, slides, run->q, target, &frames);
        double f = arm_energy(&error);
        bool met = arm_target_is_met(&error, target);
        arm_note_iterate(progress.k, error.rr, error.e, 0.5 * target->W * error.rr + error.e, lambda, run);
        if (arm_ends(&progress, f, met, most)) {
            arm_note(chain, n, slides, &frames, &error, target, met, run);
            run->iterations += (int)progress.k - 1;
            run->evaluations += (int)progress.k;
            return met;
        }
        lambda = arm_damping(f);
        arm_step(chain, n, slides, &frames, &error, lambda, run);
    }
}

// ---- Around searches: where they begin, what they aim at, which ends are kept --------------------------------------------

// Point m >= 1 of the sequence of restarts (pz_arm_sequence), for joint i.
PZ_INLINE double arm_sequence_at(const pz_arm_chain *chain, int i, double ratio, int m)
{
    double at = 0.5 + (double)m * ratio;
    at -= (double)(int64_t)at;
    return clamp(chain->first[i] + chain->span[i] * at, chain->lower[i], chain->upper[i]);
}

// Where restart number `restart` >= 1 begins.
PZ_INLINE void arm_restart(const pz_arm_chain *chain, int restart, double *q)
{
    for (int i = 0; i < chain->n; ++i) {
        q[i] = arm_sequence_at(chain, i, chain->ratio[i], restart);
    }
}

// q/|q| for |q|^2 = 1 + d, |d| < 1e-5 by the checks of goals: 1 - d/2 + 3/8 d^2 is 1/|q| to rounding.
PZ_INLINE quat arm_unit(quat q)
{
    double d = (q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w) - 1.0, s = 1.0 - d * (0.5 - 0.375 * d);
    return (quat){s * q.x, s * q.y, s * q.z, s * q.w};
}

// Fill u and t of a target for the pose of the goal's frame in the world; has_band is there.
PZ_INLINE void arm_aim(const pz_arm_chain *chain, const poise_pose *pose, pz_arm_target *target)
{
    mat3 R = quat_matrix(arm_unit(pose->rotation)), back = m3_transpose(&chain->base);
    target->u = m3_mul(&back, &R);
    target->t = v3_scale(m3_apply(&back, v3_sub(pose->position, chain->base_at)), 1.0 / chain->unit);
    if (!target->has_band) {
        mat3 tail = m3_transpose(&chain->tail);
        target->u = m3_mul(&target->u, &tail);
    }
}

// No configuration comes as far as the target, whatever the joints do.
PZ_INLINE bool arm_is_out_of_reach(const pz_arm_chain *chain, const pz_arm_target *target)
{
    double most = chain->reach * (1.0 + 1e-9) + sqrt(target->most_r);
    return !target->has_band && v3_dot(target->t, target->t) > most * most;
}

// The number of the last search where `restarts` are wanted: a target out of reach gets fewer.
PZ_INLINE int arm_last_search(const pz_arm_chain *chain, const pz_arm_target *target, int restarts)
{
    return arm_is_out_of_reach(chain, target) ? least(restarts, PZ_ARM_FAR_SEARCHES) : restarts;
}

// The angle phi between the frames, from E = 2 sin^2(phi/2).
PZ_INLINE double arm_angle(double e)
{
    return 2.0 * pz_atan2(sqrt(0.5 * e), sqrt(max2(1.0 - 0.5 * e, 0.0)));
}

PZ_INLINE poise_outcome arm_outcome(pz_arm_end end)
{
    return end == PZ_ARM_MET       ? POISE_OUTCOME_REACHED
           : end == PZ_ARM_CLOSEST ? POISE_OUTCOME_CLOSEST
           : end == PZ_ARM_BUDGET  ? POISE_OUTCOME_BUDGET
                                   : POISE_OUTCOME_STALLED;
}

// Keep where the search ended, if it is among the best.
PZ_INLINE void arm_keep_end(pz_arm_call *call)
{
    double cost = pz_arm_cost(&call->target, &call->run);
    if (!is_finite(cost) || (call->end_count == PZ_ARM_ENDS && !(cost < call->ends[PZ_ARM_ENDS - 1].cost))) {
        return;
    }
    int at = call->end_count < PZ_ARM_ENDS ? call->end_count++ : PZ_ARM_ENDS - 1;
    for (; at > 0 && cost < call->ends[at - 1].cost; --at) {
        call->ends[at] = call->ends[at - 1];
    }
    call->ends[at].cost = cost;
    memcpy(call->ends[at].q, call->run.q, sizeof call->ends[at].q);
}

#endif // one problem

#if REAL_WIDTH == 1 && !defined(REAL_PACKED)

// ---- Descent -------------------------------------------------------------------------------------------------------------
//
// Descent with exact second derivatives: the last stretch where a search creeps (at the edge of the workspace, with the
// elbow straight, at limits), and the closest pose where no zero is within reach.
//
//   f = W/2 |r|^2 + E         g_i = W J_i . r + a_i . v
//   H_hi = W J_h . J_i + a_h . c_i,  h at or before i,     c_i = tr(M) a_i - M a_i + W J_i x r + a_i x v/2
//
// with M = 1/4 sum (u_k d_k^T + d_k u_k^T). Derivation: turning joint h carries everything after it along, so that J_i and
// a_i change by a_h x J_i and a_h x a_i (not at all when h slides, a_h = 0), which gives W r . (a_h x J_i) =
// a_h . (W J_i x r). The directions d_k move by a_i x d_k, and E = 3/2 - 1/2 sum u_k . d_k has the second
// derivative along a_i and a_h
//
//   -1/2 sum u_k . (a_h x (a_i x d_k)) = 1/2 sum (a_h . a_i)(u_k . d_k) - (a_i . u_k)(a_h . d_k)
//
// whose symmetric part is a_h . (tr(M) a_i - M a_i) and whose other part a_h . (a_i x v/2).
//
// Steps solve (H + lambda I) x = -g with H exact where that is positive definite, else Gauss-Newton; lambda by the gain
// ratio (H. B. Nielsen, "Damping parameter in Marquardt's method", 1999). f falls with every step that is taken.

#define ARM_LAMBDA_NEAR  1e-4 // where a search left off
#define ARM_LAMBDA_FAR   0.1
#define ARM_LAMBDA_LEAST 1e-15
#define ARM_LAMBDA_MOST  1e12 // steps this short change nothing
#define ARM_SHRINK_MOST  (1.0 / 3.0)
#define ARM_ROUNDING     (8.0 * PZ_EPSILON)
#define ARM_BLIND_STEPS  5    // taken on trust, where f no longer shows a decrease
#define ARM_HOPELESS     0.03 // a zero is not near when the exact model promises less of f than this

// The quadratic model at a point. Only entries j <= i are used.
typedef struct arm_model {
    arm_column columns[PZ_ARM_MOST];
    double g[PZ_ARM_MOST];
    double gauss_newton[PZ_ARM_MOST][PZ_ARM_MOST];
    double exact[PZ_ARM_MOST][PZ_ARM_MOST];
} arm_model;

PZ_INLINE void arm_make_exact(int n, const arm_frames *frames, const arm_error *error, const pz_arm_target *target, double W,
                              arm_model *m)
{
    const mat3 *d = &frames->d, *u = &target->u;
    sym3 M = sym3_scale(sym3_add(sym3_add(sym3_pair(u->x, d->x), sym3_pair(u->y, d->y)), sym3_pair(u->z, d->z)), 0.5);
    sym3 N = sym3_mad(sym3_identity(M.xx + M.yy + M.zz), -1.0, M);
    vec3 force = v3_scale(error->r, W), half = v3_scale(error->v, 0.5);
    for (int i = 0; i < n; ++i) {
        vec3 a = m->columns[i].a, J = m->columns[i].J, WJ = v3_scale(J, W);
        vec3 c = v3_add(v3_add(sym3_apply(&N, a), v3_cross(J, force)), v3_cross(a, half));
        for (int h = 0; h <= i; ++h) {
            m->exact[i][h] = v3_dot(WJ, m->columns[h].J) + v3_dot(c, m->columns[h].a);
        }
    }
}

PZ_INLINE void arm_make_gauss_newton(int n, double W, arm_model *m)
{
    for (int i = 0; i < n; ++i) {
        vec3 WJ = v3_scale(m->columns[i].J, W);
        for (int h = 0; h <= i; ++h) {
            m->gauss_newton[i][h] = v3_dot(WJ, m->columns[h].J) + v3_dot(m->columns[i].a, m->columns[h].a);
        }
    }
}

// Columns and gradient, with the joints held that descent would take out of their limits.
PZ_INLINE void arm_make_columns(const pz_arm_chain *chain, int n, bool slides, const arm_frames *frames,
                                const arm_error *error, double W, const double *side, arm_model *m)
{
    for (int i = 0; i < n; ++i) {
        arm_column column = arm_column_of(chain, slides, frames, i);
        double g = arm_slope(&column, W, error);
        bool held = arm_is_held(side[i], g);
        m->columns[i] = held ? (arm_column){{0, 0, 0}, {0, 0, 0}} : column;
        m->g[i] = held ? 0.0 : g;
    }
}

// x = -(H + lambda I)^-1 g by L D L^T, of which only the lower triangle is stored. False when a pivot is not > 0.
PZ_INLINE bool arm_solve_model(int n, double (*H)[PZ_ARM_MOST], const double *g, double lambda, double *x)
{
    double L[PZ_ARM_MOST][PZ_ARM_MOST], inverse[PZ_ARM_MOST];
    for (int i = 0; i < n; ++i) {
        double pivot = H[i][i] + lambda, y = -g[i];
        for (int j = 0; j < i; ++j) {
            double entry = H[i][j];
            for (int k = 0; k < j; ++k) {
                entry -= L[i][k] * L[j][k];
            }
            L[i][j] = entry;
        }
        for (int j = 0; j < i; ++j) { // L[i][j] is still times D_j
            double scaled = L[i][j] * inverse[j];
            pivot -= scaled * L[i][j];
            y -= scaled * x[j];
            L[i][j] = scaled;
        }
        if (!(pivot > 0)) {
            return false;
        }
        inverse[i] = 1.0 / pivot;
        x[i] = y;
    }
    for (int i = n - 1; i >= 0; --i) {
        x[i] *= inverse[i];
        for (int j = i + 1; j < n; ++j) {
            x[i] -= L[j][i] * x[j];
        }
    }
    return true;
}

// Decrease of the model along x, -(g . x + x . H x/2).
PZ_INLINE double arm_decrease(int n, double (*H)[PZ_ARM_MOST], const double *g, const double *x)
{
    double sum = 0.0;
    for (int i = 0; i < n; ++i) {
        double row = 0.5 * H[i][i] * x[i];
        for (int j = 0; j < i; ++j) {
            row += H[i][j] * x[j];
        }
        sum -= x[i] * (g[i] + row);
    }
    return sum;
}

// Move q by x within the limits. x becomes the step that was taken; true when a joint was clamped.
PZ_INLINE bool arm_move_or_clamp(const pz_arm_chain *chain, int n, bool slides, pz_arm_run *run, double *x)
{
    arm_joints joints = arm_joints_of(run);
    bool clamped = false;
    for (int i = 0; i < n; ++i) {
        double rate = slides ? chain->rate[i] : 1.0, q = run->q[i] + rate * x[i];
        if (x[i] != 0 && !(q > run->lower[i] && q < run->upper[i])) {
            double at = run->q[i];
            arm_set_within(chain, &joints, i, q);
            x[i] = run->side[i] != 0 ? (run->q[i] - at) / rate : x[i];
            clamped = clamped || run->side[i] != 0;
        } else {
            run->q[i] = q;
            run->side[i] = x[i] != 0 ? 0.0 : run->side[i];
        }
    }
    return clamped;
}

// |g_i| <= tolerance sqrt(2 f) sqrt(G_ii), as every method has it (step.c), G the Gauss-Newton matrix.
PZ_INLINE bool arm_is_stationary(int n, const arm_model *m, double W, double f, double tolerance)
{
    double scale = tolerance * tolerance * 2.0 * f;
    for (int i = 0; i < n; ++i) {
        vec3 a = m->columns[i].a, J = m->columns[i].J;
        if (m->g[i] * m->g[i] > scale * (W * v3_dot(J, J) + v3_dot(a, a))) {
            return false;
        }
    }
    return true;
}

// A point of the descent.
typedef struct arm_point {
    arm_frames frames;
    arm_error error;
    double f;
} arm_point;

// A descent in progress: the current point, the model there, the damping, the last step. By value and without pointers into
// itself, so that a graphics processor can hold it in registers.
typedef struct arm_descent {
    arm_point at;
    arm_model model;
    double W, lambda, growth;
    double x[PZ_ARM_MOST], predicted;
    bool exact, clamped, has_gauss_newton;
    bool has_step; // else x = 0, and more damping is needed
    bool blind;    // the step promises less than the rounding of f hides
    int blind_left;
} arm_descent;

PZ_INLINE void arm_evaluate_point(const pz_arm_chain *chain, const pz_arm_target *target, int n, bool slides,
                                  const pz_arm_run *run, double W, arm_point *point)
{
    point->error = arm_evaluate(chain, n, slides, run->q, target, &point->frames);
    point->f = 0.5 * W * point->error.rr + point->error.e;
}

// The frames that a chain of n joints has, not all that there is room for.
PZ_INLINE void arm_copy_point(int n, const arm_point *from, arm_point *to)
{
    for (int i = 0; i < n; ++i) {
        to->frames.a[i] = from->frames.a[i];
        to->frames.o[i] = from->frames.o[i];
    }
    to->frames.d = from->frames.d;
    to->frames.p = from->frames.p;
    to->error = from->error;
    to->f = from->f;
}

// The step for the current damping, exact if that is positive definite. Rounding can take that from Gauss-Newton, too,
// where weights are so large that the damping is lost beside them.
PZ_INLINE void arm_find_step(int n, arm_descent *d)
{
    arm_model *m = &d->model;
    d->has_step = d->exact = arm_solve_model(n, m->exact, m->g, d->lambda, d->x);
    if (!d->exact) {
        if (!d->has_gauss_newton) {
            arm_make_gauss_newton(n, d->W, m);
            d->has_gauss_newton = true;
        }
        d->has_step = arm_solve_model(n, m->gauss_newton, m->g, d->lambda, d->x);
        for (int i = 0; i < n; ++i) {
            d->x[i] = d->has_step ? d->x[i] : 0.0;
        }
    }
}

// Try the step: true when the trial is the current point now. A step that promises less than f can show is taken on trust a
// few times, as long as f does not visibly rise: the last steps of Newton's method, which make the gradient vanish. What f
// cannot show is the rounding of |r|^2, r of size `reach`, and of E.
PZ_INLINE bool arm_try_step(const pz_arm_chain *chain, const pz_arm_target *target, int n, bool slides, pz_arm_run *run,
                            arm_descent *d)
{
    double q[PZ_ARM_MOST], side[PZ_ARM_MOST], f = d->at.f;
    arm_model *m = &d->model;
    arm_point trial;
    for (int i = 0; i < n; ++i) {
        q[i] = run->q[i];
        side[i] = run->side[i];
    }
    d->clamped = arm_move_or_clamp(chain, n, slides, run, d->x);
    d->predicted = d->exact ? arm_decrease(n, m->exact, m->g, d->x) : arm_decrease(n, m->gauss_newton, m->g, d->x);
    arm_evaluate_point(chain, target, n, slides, run, d->W, &trial);
    double noise = ARM_ROUNDING * (f + d->W * chain->size * sqrt(d->at.error.rr) + sqrt(d->at.error.e));
    d->blind = d->has_step && fabs(d->predicted) <= noise;
    if (trial.f < f || (d->blind && trial.f <= f + noise)) {
        arm_copy_point(n, &trial, &d->at);
        return true;
    }
    for (int i = 0; i < n; ++i) {
        run->q[i] = q[i];
        run->side[i] = side[i];
    }
    return false;
}

// lambda after a trial; false when there is no point in going on.
PZ_INLINE bool arm_adapt(arm_descent *d, bool accepted, double before)
{
    d->blind_left -= d->blind;
    if (accepted) {
        double shrink = d->blind ? 1.0 : 2.0 * (before - d->at.f) / d->predicted - 1.0;
        d->lambda = max2(d->lambda * max2(ARM_SHRINK_MOST, 1.0 - shrink * shrink * shrink), ARM_LAMBDA_LEAST);
        d->growth = 2.0;
    } else {
        d->lambda *= d->growth;
        d->growth *= 2.0;
    }
    return d->blind_left >= 0 && !(d->lambda > ARM_LAMBDA_MOST);
}

PZ_FN void arm_record_step(const arm_descent *d, int n, double lambda, pz_arm_run *run)
{
    run->slope = pz_largest(d->model.g, n);
    run->longest = pz_largest(d->x, n);
    arm_record(run, d->at.f, lambda, d->exact);
}

// May the descent stop here? Otherwise the model is made.
PZ_INLINE bool arm_is_done(const pz_arm_chain *chain, const pz_arm_target *target, bool zero, int n, bool slides,
                           const pz_arm_run *run, arm_descent *d, pz_arm_end *end)
{
    const arm_point *at = &d->at;
    if (arm_target_is_met(&at->error, target)) {
        *end = PZ_ARM_MET;
        return true;
    }
    arm_make_columns(chain, n, slides, &at->frames, &at->error, d->W, run->side, &d->model);
    if (!zero && arm_is_stationary(n, &d->model, d->W, at->f, target->stationary)) {
        *end = PZ_ARM_CLOSEST;
        return true;
    }
    arm_make_exact(n, &at->frames, &at->error, target, d->W, &d->model);
    d->has_gauss_newton = false;
    return false;
}

// Descend from run->q, at most `most` iterations. `zero`: look for a zero of the search's energy and give up at a minimum
// above it; otherwise minimise the goal's cost until it is met or stationary.
PZ_INLINE pz_arm_end arm_descend(const pz_arm_chain *chain, const pz_arm_target *target, bool zero, int most,
                                 pz_arm_run *run, int n, bool slides)
{
    arm_descent d;
    d.W = zero ? 1.0 : target->W;
    d.lambda = zero ? ARM_LAMBDA_NEAR : ARM_LAMBDA_FAR;
    d.growth = 2.0;
    d.blind_left = ARM_BLIND_STEPS;
    arm_evaluate_point(chain, target, n, slides, run, d.W, &d.at);
    pz_arm_end end = PZ_ARM_BUDGET;
    bool accepted = true;
    int k = 0;
    while (!(accepted && arm_is_done(chain, target, zero, n, slides, run, &d, &end)) && k < most) {
        double before = d.at.f, lambda = d.lambda;
        arm_find_step(n, &d);
        accepted = arm_try_step(chain, target, n, slides, run, &d);
        bool hopeless = zero && d.exact && !d.clamped && d.predicted < ARM_HOPELESS * before;
        bool can_move = arm_adapt(&d, accepted, before);
        k += 1;
        if (ARM_REPORTS && run->trace && !zero) {
            arm_record_step(&d, n, lambda, run);
        }
        if (hopeless || !can_move) {
            end = hopeless ? PZ_ARM_GAVE_UP : d.blind_left < 0 ? PZ_ARM_CLOSEST : PZ_ARM_STALLED;
            break;
        }
    }
    arm_note(chain, n, slides, &d.at.frames, &d.at.error, target, end == PZ_ARM_MET, run);
    run->iterations += k;
    run->evaluations += k + 1;
    return end;
}

#endif // descent

// ---- Several searches side by side ---------------------------------------------------------------------------------------
//
// One in each lane: what the engine of a batch (batch/arm_lanes.c) asks of the kernel of each width, and that kernel: the
// same search for six hinges and more. Searches take their steps together, but begin and end one by one.

#define PZ_ARM_LANES_MOST 8

// What evaluate() found: bits of lanes.
typedef struct pz_arm_stops {
    unsigned stopped; // the search ends here
    unsigned met;     // and the target is met
} pz_arm_stops;

// `lanes` is the kernel's memory for the searches under way on one chain of hinges: `size` bytes, aligned to PZ_ALIGNMENT,
// all 0 at first. `busy` has the bits of the lanes that hold a search; what the others compute does not matter.
typedef struct pz_arm_kernel {
    size_t size;
    // Put a problem into a lane: its target, and the intervals of its run.
    void (*aim)(void *lanes, int lane, const pz_arm_chain *chain, const pz_arm_target *target, const pz_arm_run *run);
    // Begin a search at the run's q.
    void (*begin)(void *lanes, int lane, const pz_arm_chain *chain, const pz_arm_run *run);
    // Evaluate all lanes at q and say which searches end, `most` the iterations that each may take.
    pz_arm_stops (*evaluate)(void *lanes, unsigned busy, const pz_arm_chain *chain, int most);
    // One step of all lanes from where evaluate() was.
    void (*step)(void *lanes, unsigned busy, const pz_arm_chain *chain);
    // What pz_arm_search leaves in a run: get_end, before step(), where the search stopped; get_numbers, after it, the
    // rest.
    void (*get_end)(const void *lanes, int lane, const pz_arm_chain *chain, pz_arm_run *run);
    void (*get_numbers)(const void *lanes, int lane, const pz_arm_chain *chain, pz_arm_run *run);
} pz_arm_kernel;

extern const pz_arm_kernel pz_arm_kernel_2, pz_arm_kernel_4, pz_arm_kernel_8;

#if REAL_WIDTH > 1

typedef struct arm_lanes {
    real q[PZ_ARM_MOST], side[PZ_ARM_MOST], lower[PZ_ARM_MOST], upper[PZ_ARM_MOST], middle[PZ_ARM_MOST]; // of pz_arm_run
    real33 u;                                                                                            // of the target
    real3 t;
    real most_r, most_e, W, cost;
    arm_progress progress;
    real first_r, first_e; // where the search began

    // at q, from evaluate()
    arm_frames frames;
    arm_error error;
    real f, inverse_kappa;

    // at the q before, from step()
    real g[PZ_ARM_MOST]; // W J . r + a . v, held or not
} arm_lanes;

REAL_TARGET static void arm_lanes_aim(void *lanes, int l, const pz_arm_chain *chain, const pz_arm_target *target,
                                      const pz_arm_run *run)
{
    arm_lanes *s = (arm_lanes *)lanes;
    real3_set(&s->u.x, l, target->u.x);
    real3_set(&s->u.y, l, target->u.y);
    real3_set(&s->u.z, l, target->u.z);
    real3_set(&s->t, l, target->t);
    real_set(&s->most_r, l, target->most_r);
    real_set(&s->most_e, l, target->most_e);
    real_set(&s->W, l, target->W);
    real_set(&s->cost, l, target->cost);
    for (int i = 0; i < chain->n; ++i) {
        real_set(&s->lower[i], l, run->lower[i]);
        real_set(&s->upper[i], l, run->upper[i]);
        real_set(&s->middle[i], l, run->middle[i]);
    }
}

REAL_TARGET static void arm_lanes_begin(void *lanes, int l, const pz_arm_chain *chain, const pz_arm_run *run)
{
    arm_lanes *s = (arm_lanes *)lanes;
    for (int i = 0; i < chain->n; ++i) {
        real_set(&s->q[i], l, run->q[i]);
        real_set(&s->side[i], l, run->side[i]);
    }
    real_set(&s->progress.k, l, 0.0);
    real_set(&s->progress.f1, l, INFINITY);
    real_set(&s->progress.f2, l, INFINITY);
    real_set(&s->progress.f3, l, INFINITY);
}

REAL_TARGET static void arm_lanes_get_end(const void *lanes, int l, const pz_arm_chain *chain, pz_arm_run *run)
{
    const arm_lanes *s = (const arm_lanes *)lanes;
    for (int i = 0; i < chain->n; ++i) {
        run->q[i] = real_get(&s->q[i], l);
        run->side[i] = real_get(&s->side[i], l);
    }
}

REAL_TARGET static void arm_lanes_get_numbers(const void *lanes, int l, const pz_arm_chain *chain, pz_arm_run *run)
{
    const arm_lanes *s = (const arm_lanes *)lanes;
    int evaluations = (int)real_get(&s->progress.k, l);
    run->f = real_get(&s->f, l);
    run->r = real_get(&s->error.rr, l);
    run->e = real_get(&s->error.e, l);
    run->first_r = real_get(&s->first_r, l);
    run->first_e = real_get(&s->first_e, l);
    run->iterations += evaluations - 1;
    run->evaluations += evaluations;
    for (int i = 0; i < chain->n; ++i) {
        run->g[i] = real_get(&s->g[i], l);
    }
}

REAL_FN pz_arm_stops arm_lanes_evaluate_n(arm_lanes *s, unsigned busy, const pz_arm_chain *chain, int n, int most)
{
    arm_forward(chain, n, false, busy, s->q, &s->frames);
    arm_error error = arm_error_at(&s->frames, &s->u, s->t);
    real_mask first = s->progress.k == 0.0, met = arm_is_met(&error, s->most_r, s->most_e, s->W, s->cost);
    s->error = error;
    s->f = arm_energy(&error);
    s->inverse_kappa = 1.0 / arm_kappa(error.e); // for step(): here, root and division hide behind other work
    s->first_r = real_select(first, error.rr, s->first_r);
    s->first_e = real_select(first, error.e, s->first_e);
    return (pz_arm_stops){.stopped = mask_bits(arm_ends(&s->progress, s->f, met, most)), .met = mask_bits(met)};
}

REAL_FN void arm_lanes_step_n(arm_lanes *s, unsigned busy, const pz_arm_chain *chain, int n)
{
    arm_column columns[PZ_ARM_MOST];
    real x[PZ_ARM_MOST];
    arm_error error = s->error;
    for (int i = 0; i < n; ++i) {
        arm_column column = arm_column_of(chain, false, &s->frames, i);
        s->g[i] = arm_slope(&column, s->W, &error);
        real_mask moves = mask_not(arm_is_held(s->side[i], arm_slope(&column, real_of(1.0), &error)));
        columns[i] = (arm_column){pack3_where(moves, column.a), pack3_where(moves, column.J)};
    }
    arm_block_step(n, columns, busy, &error, arm_damping(s->f), s->inverse_kappa, x);
    arm_joints joints = {s->q, s->side, s->lower, s->upper, s->middle};
    arm_move(chain, n, false, x, &joints);
}

REAL_TARGET static pz_arm_stops arm_lanes_evaluate(void *lanes, unsigned busy, const pz_arm_chain *chain, int most)
{
    switch (chain->n) {
    case 6:
        return arm_lanes_evaluate_n((arm_lanes *)lanes, busy, chain, 6, most);
    case 7:
        return arm_lanes_evaluate_n((arm_lanes *)lanes, busy, chain, 7, most);
    default:
        return arm_lanes_evaluate_n((arm_lanes *)lanes, busy, chain, chain->n, most);
    }
}

REAL_TARGET static void arm_lanes_step(void *lanes, unsigned busy, const pz_arm_chain *chain)
{
    switch (chain->n) {
    case 6:
        arm_lanes_step_n((arm_lanes *)lanes, busy, chain, 6);
        break;
    case 7:
        arm_lanes_step_n((arm_lanes *)lanes, busy, chain, 7);
        break;
    default:
        arm_lanes_step_n((arm_lanes *)lanes, busy, chain, chain->n);
        break;
    }
}

// The kernel of this width.
#define ARM_KERNEL                                                                                                          \
    {                                                                                                                       \
        .size = sizeof(arm_lanes), .aim = arm_lanes_aim, .begin = arm_lanes_begin, .evaluate = arm_lanes_evaluate,          \
        .step = arm_lanes_step, .get_end = arm_lanes_get_end, .get_numbers = arm_lanes_get_numbers                          \
    }

#else

#define ARM_KERNEL                                                                                                          \
    {                                                                                                                       \
        0                                                                                                                   \
    } // never used: pz_cpu_lanes

#endif

#endif
