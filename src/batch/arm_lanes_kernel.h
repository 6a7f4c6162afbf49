// The search of solve/arm/arm_search.c for hinges, six and more, with a problem in each lane of a register.
//
// Every lane does the operations of arm_search.c and arm_kernel.h in their order, so that a search has the same bits alone
// and beside others; what only some lanes do is done by all and put where it belongs by a mask. To be included once by a
// source that defines LANES and LANE_TARGET (lane_math.h).
#ifndef PZ_BATCH_ARM_LANES_KERNEL_H
#define PZ_BATCH_ARM_LANES_KERNEL_H

#include "batch/arm_lanes.h"
#include "batch/lane_math.h"
#include "solve/arm/arm_kernel.h"

// ---- Rows ----------------------------------------------------------------------------------------------------------------

LANE_FN lane get(const double *row)
{
    lane x;
    memcpy(&x, row, sizeof x);
    return x;
}

LANE_FN void put(double *row, lane x)
{
    memcpy(row, &x, sizeof x);
}

LANE_FN lane3 get3(pz_lanes *rows)
{
    return (lane3){get(rows[0]), get(rows[1]), get(rows[2])};
}

LANE_FN void put3(pz_lanes *rows, lane3 v)
{
    put(rows[0], v.x), put(rows[1], v.y), put(rows[2], v.z);
}

// s a - t b, the bits of s a + (-t) b
LANE_FN lane3 differ(lane s, lane3 a, lane t, lane3 b)
{
    return (lane3){s * a.x - t * b.x, s * a.y - t * b.y, s * a.z - t * b.z};
}

// ---- Look ----------------------------------------------------------------------------------------------------------------

// Sines and cosines of all angles. Lanes with an angle beyond the fast way are done again, one by one.
LANE_FN void sines(int n, unsigned busy, const lane *angle, lane *sine, lane *cosine)
{
    word seen = bits_of(lane_of(0x1.8p+52)); // ROUND_BITS
    for (int i = 0; i < n; ++i) {
        reduced_angle r = reduce(angle[i]);
        seen |= r.turns;
        sincos_reduced(r, &sine[i], &cosine[i]);
    }
    unsigned slow = lane_bits(seen >> TURN_BITS != ROUND_BITS >> TURN_BITS) & busy;
    for (int l = 0; slow >> l; ++l) {
        for (int i = 0; i < n && (slow >> l & 1); ++i) {
            double s, c;
            pz_sincos(angle[i][l], &s, &c);
            sine[i][l] = s, cosine[i][l] = c;
        }
    }
}

typedef struct pose {
    lane3 x, y, z, p;
} pose;

// As arm_forward.
LANE_FN pose forward(const pz_arm_chain *chain, int n, pz_arm_lanes *lanes)
{
    lane angle[PZ_ARM_MOST], sine[PZ_ARM_MOST], cosine[PZ_ARM_MOST], zero = lane_of(0.0), one = lane_of(1.0);
    for (int i = 0; i < n; ++i) {
        angle[i] = get(lanes->q[i]) + chain->offset[i];
    }
    sines(n, lanes->busy, angle, sine, cosine);
    lane3 x = {one, zero, zero}, y = {zero, one, zero}, z = {zero, zero, one}, p = {zero, zero, zero};
    for (int i = 0; i < n; ++i) {
        put3(lanes->a[i], z);
        put3(lanes->o[i], p);
        lane3 across = differ(cosine[i], y, sine[i], x);
        x = lane3_combine(cosine[i], x, sine[i], y);
        y = across;
        p = lane3_mad(lane3_mad(lane3_mad(p, lane_of(chain->tx[i]), x), lane_of(chain->ty[i]), y), lane_of(chain->tz[i]), z);
        if (i < n - 1) {
            lane ca = lane_of(chain->ca[i]), sa = lane_of(chain->sa[i]);
            y = lane3_combine(ca, across, sa, z);
            z = differ(ca, z, sa, across);
        }
    }
    put3(lanes->p, p);
    return (pose){x, y, z, p};
}

// As arm_error_at.
LANE_FN void compare(const pose *at, pz_arm_lanes *lanes)
{
    lane3 ux = get3(&lanes->u[0]), uy = get3(&lanes->u[3]), uz = get3(&lanes->u[6]), r = lane3_sub(at->p, get3(lanes->t));
    lane3 ex = lane3_sub(at->x, ux), ey = lane3_sub(at->y, uy), ez = lane3_sub(at->z, uz);
    lane3 twice = lane3_add(lane3_add(lane3_cross(ux, ex), lane3_cross(uy, ey)), lane3_cross(uz, ez));
    lane e = 0.25 * ((ex.x * ex.x + ey.x * ey.x + ez.x * ez.x) + (ex.y * ex.y + ey.y * ey.y + ez.y * ez.y) +
                     (ex.z * ex.z + ey.z * ey.z + ez.z * ez.z));
    put3(lanes->r, r);
    put3(lanes->v, lane3_scale(twice, lane_of(0.5)));
    put(lanes->rr, lane3_dot(r, r));
    put(lanes->e, e);
    // for step(): here, root and division hide behind other work
    lane square = 1.0 - 0.5 * e, least = lane_of(ARM_KAPPA_LEAST);
    put(lanes->inverse, 1.0 / lane_sqrt(lane_max2(square, least)));
}

// Which searches end, and which of them have met their target; as the loop of arm_search.c has it.
LANE_FN pz_arm_seen judge(int most, pz_arm_lanes *lanes)
{
    lane rr = get(lanes->rr), e = get(lanes->e), f = 0.5 * rr + e, k = get(lanes->k), f3 = get(lanes->f3);
    lane_mask near = (rr <= get(lanes->most_r)) & (2.0 * e <= get(lanes->most_e));
    lane_mask cheap = 0.5 * get(lanes->W) * rr + e <= get(lanes->cost);
    lane_mask creeps = (k >= (double)ARM_FIRST_LOOK) & ~(f <= ARM_CREEPS * f3);
    lane_mask first = k == 0.0, last = k == (double)most, met = near | cheap;
    put(lanes->first_r, lane_select(first, rr, get(lanes->first_r)));
    put(lanes->first_e, lane_select(first, e, get(lanes->first_e)));
    put(lanes->f, f);
    put(lanes->f3, get(lanes->f2));
    put(lanes->f2, get(lanes->f1));
    put(lanes->f1, f);
    put(lanes->k, k + 1.0);
    return (pz_arm_seen){.stopped = lane_bits(met | creeps | last), .met = lane_bits(met)};
}

LANE_FN pz_arm_seen look(const pz_arm_chain *chain, int n, int most, pz_arm_lanes *lanes)
{
    pose at = forward(chain, n, lanes);
    compare(&at, lanes);
    return judge(most, lanes);
}

// ---- Step ----------------------------------------------------------------------------------------------------------------

// As arm_blocks.
typedef struct blocks {
    lane_sym P, Q;
    lane3 X[3];
} blocks;

LANE_FN lane3 apply(const lane_sym *A, lane3 v)
{
    return (lane3){A->xx * v.x + A->xy * v.y + A->xz * v.z, A->xy * v.x + A->yy * v.y + A->yz * v.z,
                   A->xz * v.x + A->yz * v.y + A->zz * v.z};
}

LANE_FN lane_sym add_square(lane_sym A, lane3 u)
{
    return (lane_sym){A.xx + u.x * u.x, A.xy + u.x * u.y, A.xz + u.x * u.z,
                      A.yy + u.y * u.y, A.yz + u.y * u.z, A.zz + u.z * u.z};
}

// As arm_invert: A^-1, and the mask of lanes whose determinant is large enough.
LANE_FN lane_mask invert(const lane_sym *A, const lane_sym *B, double share, lane_sym *inverse)
{
    lane cx = A->yy * A->zz - A->yz * A->yz, cy = A->xz * A->yz - A->xy * A->zz, cz = A->xy * A->yz - A->xz * A->yy;
    lane det = A->xx * cx + A->xy * cy + A->xz * cz, d = 1.0 / det;
    *inverse = (lane_sym){.xx = cx * d,
                          .xy = cy * d,
                          .xz = cz * d,
                          .yy = (A->xx * A->zz - A->xz * A->xz) * d,
                          .yz = (A->xy * A->xz - A->xx * A->yz) * d,
                          .zz = (A->xx * A->yy - A->xy * A->xy) * d};
    return det > share * (B->xx * B->yy * B->zz);
}

LANE_FN vec3 vec3_in(lane3 v, int l)
{
    return v3(v.x[l], v.y[l], v.z[l]);
}

LANE_FN sym3 sym3_in(const lane_sym *A, int l)
{
    return (sym3){A->xx[l], A->xy[l], A->xz[l], A->yy[l], A->yz[l], A->zz[l]};
}

// The lanes of the set by elimination.
LANE_TARGET static void solve_singular(const blocks *b, lane3 first, lane3 second, unsigned set, lane3 *y, lane3 *z)
{
    for (int l = 0; l < LANES; ++l) {
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
LANE_FN void solve_blocks(const blocks *b, unsigned busy, lane3 first, lane3 second, lane3 *y, lane3 *z)
{
    lane_sym P, S;
    const lane_sym *Q = &b->Q;
    const lane3 *X = b->X;
    lane_mask regular = invert(&b->P, &b->P, ARM_SINGULAR_P, &P);
    lane3 Y[3] = {apply(&P, X[0]), apply(&P, X[1]), apply(&P, X[2])};
    lane_sym complement = {.xx = Q->xx - lane3_dot(X[0], Y[0]),
                           .xy = Q->xy - lane3_dot(X[0], Y[1]),
                           .xz = Q->xz - lane3_dot(X[0], Y[2]),
                           .yy = Q->yy - lane3_dot(X[1], Y[1]),
                           .yz = Q->yz - lane3_dot(X[1], Y[2]),
                           .zz = Q->zz - lane3_dot(X[2], Y[2])};
    regular &= invert(&complement, Q, ARM_SINGULAR_S, &S);
    lane3 under = {lane3_dot(Y[0], second), lane3_dot(Y[1], second), lane3_dot(Y[2], second)};
    lane3 over = apply(&P, second);
    *y = apply(&S, lane3_sub(first, under));
    lane3 back = {Y[0].x * y->x + Y[1].x * y->y + Y[2].x * y->z, Y[0].y * y->x + Y[1].y * y->y + Y[2].y * y->z,
                  Y[0].z * y->x + Y[1].z * y->y + Y[2].z * y->z};
    *z = lane3_sub(over, back);
    unsigned singular = lane_bits(~regular) & busy;
    if (singular) {
        solve_singular(b, first, second, singular, y, z);
    }
}

// A joint within this of the middle of its interval is nearest to it as it is: less than half a turn, with room for
// rounding.
#define NO_TURN 3.14

// Whole turns towards the middle, where they lead inside; the part of arm_bring_back that few steps need.
LANE_FN lane turn_back(lane q, lane lower, lane upper, lane middle)
{
    lane turned = q - PZ_TWO_PI * (((q - middle) / PZ_TWO_PI + 0x1.8p52) - 0x1.8p52);
    return lane_select((turned > lower) & (turned < upper), turned, q);
}

// As arm_move, for joint i. Below and above exclude each other, or both limits are the same.
LANE_FN void move(pz_arm_lanes *lanes, int i, lane x)
{
    lane q = get(lanes->q[i]) + x, lower = get(lanes->lower[i]), upper = get(lanes->upper[i]);
    lane middle = get(lanes->middle[i]), away = lane_fabs(q - middle);
    lane_mask below = q <= lower, above = q >= upper;
    if (lane_bits((below | above) & (away > NO_TURN))) {
        q = lane_select(below | above, turn_back(q, lower, upper, middle), q);
        below = q <= lower, above = q >= upper;
    }
    put(lanes->q[i], (lane)((below & (lane_mask)lower) | (above & (lane_mask)upper) | (~(below | above) & (lane_mask)q)));
    put(lanes->side[i], (lane)((below & (lane_mask)lane_of(-1.0)) | (above & (lane_mask)lane_of(1.0))));
}

// As take_step of arm_search.c.
LANE_FN void step(int n, pz_arm_lanes *lanes)
{
    lane3 a[PZ_ARM_MOST], J[PZ_ARM_MOST], p = get3(lanes->p), r = get3(lanes->r), v = get3(lanes->v);
    lane zero = lane_of(0.0), W = get(lanes->W), inverse = get(lanes->inverse);
    lane lambda = ARM_DAMPING * get(lanes->f) + ARM_DAMPING_LEAST, share = lambda * inverse;
    blocks b = {{share, zero, zero, share, zero, share},
                {lambda, zero, zero, lambda, zero, lambda},
                {{zero, zero, zero}, {zero, zero, zero}, {zero, zero, zero}}};
    for (int i = 0; i < n; ++i) {
        lane3 axis = get3(lanes->a[i]), shift = lane3_cross(axis, lane3_sub(p, get3(lanes->o[i])));
        lane pull = lane3_dot(shift, r), turn = lane3_dot(axis, v);
        put(lanes->g[i], W * pull + turn);
        lane_mask held = get(lanes->side[i]) * (pull + turn) < 0.0;
        a[i] = lane3_where(~held, axis);
        J[i] = lane3_where(~held, shift);
        b.P = add_square(b.P, a[i]);
        b.Q = add_square(b.Q, J[i]);
        b.X[0] = lane3_mad(b.X[0], J[i].x, a[i]);
        b.X[1] = lane3_mad(b.X[1], J[i].y, a[i]);
        b.X[2] = lane3_mad(b.X[2], J[i].z, a[i]);
    }
    lane3 y, z;
    solve_blocks(&b, lanes->busy, (lane3){-r.x, -r.y, -r.z}, lane3_scale(v, -inverse), &y, &z);
    for (int i = 0; i < n; ++i) {
        move(lanes, i, lane3_dot(J[i], y) + lane3_dot(a[i], z));
    }
}

// ---- Instances -----------------------------------------------------------------------------------------------------------

LANE_TARGET static pz_arm_seen look_all(const pz_arm_chain *chain, int most, pz_arm_lanes *lanes)
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

LANE_TARGET static void step_all(const pz_arm_chain *chain, pz_arm_lanes *lanes)
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
