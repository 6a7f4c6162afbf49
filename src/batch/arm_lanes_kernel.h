// The search of solve/arm/arm_search.c for hinges, six and more, with a problem in each lane of a register.
//
// Every lane does the operations of arm_search.c and arm_kernel.h in their order, so that a search has the same bits alone
// and beside others; what only some lanes do is done by all and put where it belongs by a mask. To be included once by a
// source that defines REAL_WIDTH (simd/real.h).
#ifndef PZ_BATCH_ARM_LANES_KERNEL_H
#define PZ_BATCH_ARM_LANES_KERNEL_H

#include "batch/arm_lanes.h"
#include "simd/real3.h"
#include "solve/arm/arm_kernel.h"

// ---- Rows ----------------------------------------------------------------------------------------------------------------

REAL_FN real get(const double *row)
{
    real x;
    memcpy(&x, row, sizeof x);
    return x;
}

REAL_FN void put(double *row, real x)
{
    memcpy(row, &x, sizeof x);
}

REAL_FN real3 get3(pz_lanes *rows)
{
    return (real3){get(rows[0]), get(rows[1]), get(rows[2])};
}

REAL_FN void put3(pz_lanes *rows, real3 v)
{
    put(rows[0], v.x), put(rows[1], v.y), put(rows[2], v.z);
}

// s a - t b, the bits of s a + (-t) b
REAL_FN real3 differ(real s, real3 a, real t, real3 b)
{
    return (real3){s * a.x - t * b.x, s * a.y - t * b.y, s * a.z - t * b.z};
}

// ---- Look ----------------------------------------------------------------------------------------------------------------

// Sines and cosines of all angles. Lanes with an angle beyond the fast way are done again, one by one.
REAL_FN void sines(int n, unsigned busy, const real *angle, real *sine, real *cosine)
{
    word seen = bits_of(real_of(0x1.8p+52)); // ROUND_BITS
    for (int i = 0; i < n; ++i) {
        reduced_angle r = reduce(angle[i]);
        seen |= r.turns;
        sincos_reduced(r, &sine[i], &cosine[i]);
    }
    unsigned slow = mask_bits(seen >> TURN_BITS != ROUND_BITS >> TURN_BITS) & busy;
    for (int l = 0; slow >> l; ++l) {
        for (int i = 0; i < n && (slow >> l & 1); ++i) {
            double s, c;
            pz_sincos(angle[i][l], &s, &c);
            sine[i][l] = s, cosine[i][l] = c;
        }
    }
}

typedef struct pose {
    real3 x, y, z, p;
} pose;

// As arm_forward.
REAL_FN pose forward(const pz_arm_chain *chain, int n, pz_arm_lanes *lanes)
{
    real angle[PZ_ARM_MOST], sine[PZ_ARM_MOST], cosine[PZ_ARM_MOST], zero = real_of(0.0), one = real_of(1.0);
    for (int i = 0; i < n; ++i) {
        angle[i] = get(lanes->q[i]) + chain->offset[i];
    }
    sines(n, lanes->busy, angle, sine, cosine);
    real3 x = {one, zero, zero}, y = {zero, one, zero}, z = {zero, zero, one}, p = {zero, zero, zero};
    for (int i = 0; i < n; ++i) {
        put3(lanes->a[i], z);
        put3(lanes->o[i], p);
        real3 across = differ(cosine[i], y, sine[i], x);
        x = real3_combine(cosine[i], x, sine[i], y);
        y = across;
        p = real3_mad(real3_mad(real3_mad(p, real_of(chain->tx[i]), x), real_of(chain->ty[i]), y), real_of(chain->tz[i]), z);
        if (i < n - 1) {
            real ca = real_of(chain->ca[i]), sa = real_of(chain->sa[i]);
            y = real3_combine(ca, across, sa, z);
            z = differ(ca, z, sa, across);
        }
    }
    put3(lanes->p, p);
    return (pose){x, y, z, p};
}

// As arm_error_at.
REAL_FN void compare(const pose *at, pz_arm_lanes *lanes)
{
    real3 ux = get3(&lanes->u[0]), uy = get3(&lanes->u[3]), uz = get3(&lanes->u[6]), r = real3_sub(at->p, get3(lanes->t));
    real3 ex = real3_sub(at->x, ux), ey = real3_sub(at->y, uy), ez = real3_sub(at->z, uz);
    real3 twice = real3_add(real3_add(real3_cross(ux, ex), real3_cross(uy, ey)), real3_cross(uz, ez));
    real e = 0.25 * ((ex.x * ex.x + ey.x * ey.x + ez.x * ez.x) + (ex.y * ex.y + ey.y * ey.y + ez.y * ez.y) +
                     (ex.z * ex.z + ey.z * ey.z + ez.z * ez.z));
    put3(lanes->r, r);
    put3(lanes->v, real3_scale(twice, real_of(0.5)));
    put(lanes->rr, real3_dot(r, r));
    put(lanes->e, e);
    // for step(): here, root and division hide behind other work
    real square = 1.0 - 0.5 * e, least = real_of(ARM_KAPPA_LEAST);
    put(lanes->inverse, 1.0 / real_sqrt(real_max2(square, least)));
}

// Which searches end, and which of them have met their target; as the loop of arm_search.c has it.
REAL_FN pz_arm_seen judge(int most, pz_arm_lanes *lanes)
{
    real rr = get(lanes->rr), e = get(lanes->e), f = 0.5 * rr + e, k = get(lanes->k), f3 = get(lanes->f3);
    mask near = (rr <= get(lanes->most_r)) & (2.0 * e <= get(lanes->most_e));
    mask cheap = 0.5 * get(lanes->W) * rr + e <= get(lanes->cost);
    mask creeps = (k >= (double)ARM_FIRST_LOOK) & mask_not(f <= ARM_CREEPS * f3);
    mask first = k == 0.0, last = k == (double)most, met = near | cheap;
    put(lanes->first_r, real_select(first, rr, get(lanes->first_r)));
    put(lanes->first_e, real_select(first, e, get(lanes->first_e)));
    put(lanes->f, f);
    put(lanes->f3, get(lanes->f2));
    put(lanes->f2, get(lanes->f1));
    put(lanes->f1, f);
    put(lanes->k, k + 1.0);
    return (pz_arm_seen){.stopped = mask_bits(met | creeps | last), .met = mask_bits(met)};
}

REAL_FN pz_arm_seen look(const pz_arm_chain *chain, int n, int most, pz_arm_lanes *lanes)
{
    pose at = forward(chain, n, lanes);
    compare(&at, lanes);
    return judge(most, lanes);
}

// ---- Step ----------------------------------------------------------------------------------------------------------------

// As arm_blocks.
typedef struct blocks {
    real_sym P, Q;
    real3 X[3];
} blocks;

REAL_FN real3 apply(const real_sym *A, real3 v)
{
    return (real3){A->xx * v.x + A->xy * v.y + A->xz * v.z, A->xy * v.x + A->yy * v.y + A->yz * v.z,
                   A->xz * v.x + A->yz * v.y + A->zz * v.z};
}

REAL_FN real_sym add_square(real_sym A, real3 u)
{
    return (real_sym){A.xx + u.x * u.x, A.xy + u.x * u.y, A.xz + u.x * u.z,
                      A.yy + u.y * u.y, A.yz + u.y * u.z, A.zz + u.z * u.z};
}

// As arm_invert: A^-1, and the mask of lanes whose determinant is large enough.
REAL_FN mask invert(const real_sym *A, const real_sym *B, double share, real_sym *inverse)
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

REAL_FN vec3 vec3_in(real3 v, int l)
{
    return v3(v.x[l], v.y[l], v.z[l]);
}

REAL_FN sym3 sym3_in(const real_sym *A, int l)
{
    return (sym3){A->xx[l], A->xy[l], A->xz[l], A->yy[l], A->yz[l], A->zz[l]};
}

// The lanes of the set by elimination.
REAL_TARGET static void solve_singular(const blocks *b, real3 first, real3 second, unsigned set, real3 *y, real3 *z)
{
    for (int l = 0; l < REAL_WIDTH; ++l) {
        if (set >> l & 1) {
            arm_blocks one = {
                sym3_in(&b->P, l), sym3_in(&b->Q, l), {vec3_in(b->X[0], l), vec3_in(b->X[1], l), vec3_in(b->X[2], l)}};
            vec3 yl, zl;
            arm_solve_singular(&one, vec3_in(first, l), vec3_in(second, l), &yl, &zl);
            y->x[l] = yl.x, y->y[l] = yl.y, y->z[l] = yl.z;
            z->x[l] = zl.x, z->y[l] = zl.y, z->z[l] = zl.z;
        }
    }
}

// As arm_solve_blocks.
REAL_FN void solve_blocks(const blocks *b, unsigned busy, real3 first, real3 second, real3 *y, real3 *z)
{
    real_sym P, S;
    const real_sym *Q = &b->Q;
    const real3 *X = b->X;
    mask regular = invert(&b->P, &b->P, ARM_SINGULAR_P, &P);
    real3 Y[3] = {apply(&P, X[0]), apply(&P, X[1]), apply(&P, X[2])};
    real_sym complement = {.xx = Q->xx - real3_dot(X[0], Y[0]),
                           .xy = Q->xy - real3_dot(X[0], Y[1]),
                           .xz = Q->xz - real3_dot(X[0], Y[2]),
                           .yy = Q->yy - real3_dot(X[1], Y[1]),
                           .yz = Q->yz - real3_dot(X[1], Y[2]),
                           .zz = Q->zz - real3_dot(X[2], Y[2])};
    regular &= invert(&complement, Q, ARM_SINGULAR_S, &S);
    real3 under = {real3_dot(Y[0], second), real3_dot(Y[1], second), real3_dot(Y[2], second)};
    real3 over = apply(&P, second);
    *y = apply(&S, real3_sub(first, under));
    real3 back = {Y[0].x * y->x + Y[1].x * y->y + Y[2].x * y->z, Y[0].y * y->x + Y[1].y * y->y + Y[2].y * y->z,
                  Y[0].z * y->x + Y[1].z * y->y + Y[2].z * y->z};
    *z = real3_sub(over, back);
    unsigned singular = mask_bits(mask_not(regular)) & busy;
    if (singular) {
        solve_singular(b, first, second, singular, y, z);
    }
}

// A joint within this of the middle of its interval is nearest to it as it is: less than half a turn, with room for
// rounding.
#define NO_TURN 3.14

// Whole turns towards the middle, where they lead inside; the part of arm_bring_back that few steps need.
REAL_FN real turn_back(real q, real lower, real upper, real middle)
{
    real turned = q - PZ_TWO_PI * (((q - middle) / PZ_TWO_PI + 0x1.8p52) - 0x1.8p52);
    return real_select((turned > lower) & (turned < upper), turned, q);
}

// As arm_move, for joint i. Below and above exclude each other, or both limits are the same.
REAL_FN void move(pz_arm_lanes *lanes, int i, real x)
{
    real q = get(lanes->q[i]) + x, lower = get(lanes->lower[i]), upper = get(lanes->upper[i]);
    real middle = get(lanes->middle[i]), away = real_fabs(q - middle);
    mask below = q <= lower, above = q >= upper;
    if (mask_bits((below | above) & (away > NO_TURN))) {
        q = real_select(below | above, turn_back(q, lower, upper, middle), q);
        below = q <= lower, above = q >= upper;
    }
    put(lanes->q[i], (real)((below & (mask)lower) | (above & (mask)upper) | (mask_not(below | above) & (mask)q)));
    put(lanes->side[i], (real)((below & (mask)real_of(-1.0)) | (above & (mask)real_of(1.0))));
}

// As take_step of arm_search.c.
REAL_FN void step(int n, pz_arm_lanes *lanes)
{
    real3 a[PZ_ARM_MOST], J[PZ_ARM_MOST], p = get3(lanes->p), r = get3(lanes->r), v = get3(lanes->v);
    real zero = real_of(0.0), W = get(lanes->W), inverse = get(lanes->inverse);
    real lambda = ARM_DAMPING * get(lanes->f) + ARM_DAMPING_LEAST, share = lambda * inverse;
    blocks b = {{share, zero, zero, share, zero, share},
                {lambda, zero, zero, lambda, zero, lambda},
                {{zero, zero, zero}, {zero, zero, zero}, {zero, zero, zero}}};
    for (int i = 0; i < n; ++i) {
        real3 axis = get3(lanes->a[i]), shift = real3_cross(axis, real3_sub(p, get3(lanes->o[i])));
        real pull = real3_dot(shift, r), turn = real3_dot(axis, v);
        put(lanes->g[i], W * pull + turn);
        mask held = get(lanes->side[i]) * (pull + turn) < 0.0;
        a[i] = real3_where(mask_not(held), axis);
        J[i] = real3_where(mask_not(held), shift);
        b.P = add_square(b.P, a[i]);
        b.Q = add_square(b.Q, J[i]);
        b.X[0] = real3_mad(b.X[0], J[i].x, a[i]);
        b.X[1] = real3_mad(b.X[1], J[i].y, a[i]);
        b.X[2] = real3_mad(b.X[2], J[i].z, a[i]);
    }
    real3 y, z;
    solve_blocks(&b, lanes->busy, (real3){-r.x, -r.y, -r.z}, real3_scale(v, -inverse), &y, &z);
    for (int i = 0; i < n; ++i) {
        move(lanes, i, real3_dot(J[i], y) + real3_dot(a[i], z));
    }
}

// ---- Instances -----------------------------------------------------------------------------------------------------------

REAL_TARGET static pz_arm_seen look_all(const pz_arm_chain *chain, int most, pz_arm_lanes *lanes)
{
    switch (chain->n) {
    case 6:
        return look(chain, 6, most, lanes);
    case 7:
        return look(chain, 7, most, lanes);
    default:
        return look(chain, chain->n, most, lanes);
    }
}

REAL_TARGET static void step_all(const pz_arm_chain *chain, pz_arm_lanes *lanes)
{
    switch (chain->n) {
    case 6:
        step(6, lanes);
        break;
    case 7:
        step(7, lanes);
        break;
    default:
        step(chain->n, lanes);
        break;
    }
}

#endif
