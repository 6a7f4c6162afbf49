// The search of arm_search.c for processors with registers of four: six hinges or more, with a column of a frame in one
// register. Every number is made by the same operations in the same order, so the two give the same bits.
#include "solve/arm/arm_kernel.h"

#if PZ_HAS_WIDE

#define REAL_PACKED
#include "simd/pack3.h"

// As arm_frames, with a lane to spare.
typedef struct wide_frames {
    pack3 a[PZ_ARM_MOST], o[PZ_ARM_MOST];
    pack3 x, y, z, p;
} wide_frames;

typedef struct wide_target {
    pack3 x, y, z, t;
} wide_target;

PZ_WIDE static inline pack3 widened(vec3 v)
{
    return (pack3){v.x, v.y, v.z, 0.0};
}

PZ_WIDE static inline vec3 narrowed(pack3 v)
{
    return v3(v[0], v[1], v[2]);
}

// Sum of the three lanes, first to last.
PZ_WIDE static inline double sum_of(pack3 v)
{
    return v[0] + v[1] + v[2];
}

PZ_WIDE static inline void forward(const pz_arm_chain *chain, int n, const double *q, wide_frames *frames)
{
    double angle[PZ_ARM_MOST], sine[PZ_ARM_MOST], cosine[PZ_ARM_MOST];
    int full = (n + 3) / 4 * 4; // registers, not a rest one by one
    for (int i = n; i < full; ++i) {
        angle[i] = 0.0;
    }
    for (int i = 0; i < n; ++i) {
        angle[i] = q[i] + chain->offset[i];
    }
    pz_sincos_array_wide((size_t)full, angle, sine, cosine);
    pack3 x = {1, 0, 0, 0}, y = {0, 1, 0, 0}, z = {0, 0, 1, 0}, p = {0, 0, 0, 0};
    for (int i = 0; i < n; ++i) {
        frames->a[i] = z;
        frames->o[i] = p;
        pack3 s = pack3_splat(sine[i]), c = pack3_splat(cosine[i]);
        pack3 across = c * y - s * x;
        x = c * x + s * y;
        y = across;
        p = p + pack3_splat(chain->tx[i]) * x + pack3_splat(chain->ty[i]) * y + pack3_splat(chain->tz[i]) * z;
        if (i < n - 1) {
            pack3 ca = pack3_splat(chain->ca[i]), sa = pack3_splat(chain->sa[i]);
            y = ca * across + sa * z;
            z = ca * z - sa * across;
        }
    }
    frames->x = x, frames->y = y, frames->z = z, frames->p = p;
}

PZ_WIDE static inline arm_error error_at(const wide_frames *frames, const wide_target *u)
{
    pack3 r = frames->p - u->t;
    pack3 ex = frames->x - u->x, ey = frames->y - u->y, ez = frames->z - u->z;
    pack3 twice = pack3_cross(u->x, ex) + pack3_cross(u->y, ey) + pack3_cross(u->z, ez);
    pack3 squares = ex * ex + ey * ey + ez * ez;
    return (arm_error){narrowed(r), narrowed(twice * pack3_splat(0.5)), sum_of(r * r), 0.25 * sum_of(squares)};
}

PZ_WIDE static inline arm_column column_of(const wide_frames *frames, int i)
{
    return (arm_column){narrowed(frames->a[i]), narrowed(pack3_cross(frames->a[i], frames->p - frames->o[i]))};
}

// arm_note
PZ_WIDE static inline void note(int n, const wide_frames *frames, const arm_error *error, const pz_arm_target *target,
                                bool met, pz_arm_run *run)
{
    run->f = 0.5 * error->rr + error->e, run->r = error->rr, run->e = error->e;
    for (int i = 0; met && i < n; ++i) {
        arm_column column = column_of(frames, i);
        run->g[i] = arm_slope(&column, target->W, error);
    }
}

// The columns, a and J, cleared for joints that are held.
PZ_WIDE static inline void make_columns(int n, const wide_frames *frames, const arm_error *error, const pz_arm_run *run,
                                        pack3 *a, pack3 *J)
{
    for (int i = 0; i < n; ++i) {
        a[i] = frames->a[i];
        J[i] = pack3_cross(frames->a[i], frames->p - frames->o[i]);
        if (run->side[i] != 0) {
            arm_column column = column_of(frames, i);
            bool held = arm_is_held(run->side[i], arm_slope(&column, 1.0, error));
            a[i] = held ? pack3_splat(0.0) : a[i];
            J[i] = held ? pack3_splat(0.0) : J[i];
        }
    }
}

PZ_WIDE static inline sym3 lower_of(pack3 x, pack3 y, pack3 z)
{
    return (sym3){.xx = x[0], .xy = x[1], .xz = x[2], .yy = y[1], .yz = y[2], .zz = z[2]};
}

// The blocks of the system, column by column.
PZ_WIDE static inline arm_blocks make_blocks(int n, const pack3 *a, const pack3 *J, double lambda, double inverse)
{
    double p = lambda * inverse, q = lambda;
    pack3 Px = {p, 0, 0, 0}, Py = {0, p, 0, 0}, Pz = {0, 0, p, 0}, Qx = {q, 0, 0, 0}, Qy = {0, q, 0, 0}, Qz = {0, 0, q, 0};
    pack3 Xx = {0, 0, 0, 0}, Xy = Xx, Xz = Xx;
    for (int i = 0; i < n; ++i) {
        pack3 ax = pack3_splat(a[i][0]), ay = pack3_splat(a[i][1]), az = pack3_splat(a[i][2]);
        pack3 Jx = pack3_splat(J[i][0]), Jy = pack3_splat(J[i][1]), Jz = pack3_splat(J[i][2]);
        Px += ax * a[i], Py += ay * a[i], Pz += az * a[i];
        Qx += Jx * J[i], Qy += Jy * J[i], Qz += Jz * J[i];
        Xx += Jx * a[i], Xy += Jy * a[i], Xz += Jz * a[i];
    }
    return (arm_blocks){lower_of(Px, Py, Pz), lower_of(Qx, Qy, Qz), {narrowed(Xx), narrowed(Xy), narrowed(Xz)}};
}

PZ_WIDE static inline void take_step(const pz_arm_chain *chain, int n, const wide_frames *frames, const arm_error *error,
                                     double lambda, pz_arm_run *run)
{
    pack3 a[PZ_ARM_MOST], J[PZ_ARM_MOST];
    double x[PZ_ARM_MOST], inverse = 1.0 / sqrt(max2(1.0 - 0.5 * error->e, ARM_KAPPA_LEAST));
    make_columns(n, frames, error, run, a, J);
    arm_blocks blocks = make_blocks(n, a, J, lambda, inverse);
    vec3 y, z;
    arm_solve_blocks(&blocks, v3_neg(error->r), v3_scale(error->v, -inverse), &y, &z);
    for (int i = 0; i < n; ++i) {
        x[i] = v3_dot(narrowed(J[i]), y) + v3_dot(narrowed(a[i]), z);
    }
    arm_move(chain, n, false, x, run);
}

PZ_WIDE static inline bool search(const pz_arm_chain *chain, const pz_arm_target *target, int most, pz_arm_run *run, int n)
{
    wide_frames frames;
    wide_target wide = {widened(target->u.x), widened(target->u.y), widened(target->u.z), widened(target->t)};
    double f1 = INFINITY, f2 = INFINITY, f3 = INFINITY;
    for (int k = 0;; ++k) {
        forward(chain, n, run->q, &frames);
        arm_error error = error_at(&frames, &wide);
        double f = 0.5 * error.rr + error.e;
        bool met = arm_is_met(&error, target);
        if (k == 0) {
            run->first_r = error.rr, run->first_e = error.e;
        }
        if (met || (k >= ARM_FIRST_LOOK && !(f <= ARM_CREEPS * f3)) || k == most) {
            note(n, &frames, &error, target, met, run);
            run->iterations += k;
            run->evaluations += k + 1;
            return met;
        }
        f3 = f2, f2 = f1, f1 = f;
        take_step(chain, n, &frames, &error, ARM_DAMPING * f + ARM_DAMPING_LEAST, run);
    }
}

PZ_WIDE bool pz_arm_search_wide(const pz_arm_chain *chain, const pz_arm_target *target, int most, pz_arm_run *run)
{
    switch (chain->n) {
    case 6:
        return search(chain, target, most, run, 6);
    case 7:
        return search(chain, target, most, run, 7);
    default:
        return search(chain, target, most, run, chain->n);
    }
}

#else

bool pz_arm_search_wide(const pz_arm_chain *chain, const pz_arm_target *target, int most, pz_arm_run *run)
{
    (void)chain, (void)target, (void)most, (void)run; // never called: base/cpu.h
    return false;
}

#endif
