// The linear system of a Newton step over a window.
//
//   A = sum over frames t of B_t^T H_t B_t + K (x) W + mu D       H_t packed by the tree, K with 11 diagonals
//
// is never formed. Conjugate gradients are preconditioned by what A has at each coefficient by itself,
//
//   F_j = sum over t of B_j(t)^2 H_t + K_jj W + mu D_j = L^T D L
//
// factored on the tree without fill (Featherstone 2008, section 6.5).
//
// It knows the tree, and time only by its diagonal, which is enough for splines: the largest eigenvalue of K falls with the
// fourth power of the knots' distance. Numbers are floats: a step need not be exact.
#include "motion/sequence.h"

#include "base/cpu.h"

#include <string.h>

#define ENOUGH      0.1  // of |r| in the norm of F^-1: where the iterations end
#define ENOUGH_ONCE 0.05 // the same where no further step makes up for it
#define MOST        200

PZ_INLINE float *dof_of(const pz_sequence *s, const float *x, int dof)
{
    return (float *)(uintptr_t)x + (size_t)dof * (size_t)s->knot_room;
}

// ---- Loops ---------------------------------------------------------------------------------------------------------------
//
// As functions, for gcc believes restrict of parameters alone, and makes two loops of one that it does not.

// y += a x.
PZ_INLINE void add_scaled(float *restrict y, float a, const float *restrict x, int count)
{
    for (int l = 0; l < count; ++l) {
        y[l] += a * x[l];
    }
}

// y -= h x.
PZ_INLINE void subtract_product(float *restrict y, const float *restrict h, const float *restrict x, int count)
{
    for (int l = 0; l < count; ++l) {
        y[l] -= h[l] * x[l];
    }
}

// y += a h x.
PZ_INLINE void add_product(float *restrict y, float a, const float *restrict h, const float *restrict x, int count)
{
    for (int l = 0; l < count; ++l) {
        y[l] += a * h[l] * x[l];
    }
}

// y -= a b c.
PZ_INLINE void subtract_three(float *restrict y, const float *restrict a, const float *restrict b, const float *restrict c,
                              int count)
{
    for (int l = 0; l < count; ++l) {
        y[l] -= a[l] * b[l] * c[l];
    }
}

// y *= x.
PZ_INLINE void scale_by(float *restrict y, const float *restrict x, int count)
{
    for (int l = 0; l < count; ++l) {
        y[l] *= x[l];
    }
}

// An entry of a symmetric matrix, to both sides: y += h x, above += h z.
PZ_INLINE void add_both(float *restrict y, float *restrict above, const float *restrict h, const float *restrict x,
                        const float *restrict z, int count)
{
    for (int l = 0; l < count; ++l) {
        y[l] += h[l] * x[l];
        above[l] += h[l] * z[l];
    }
}

// ---- Products ------------------------------------------------------------------------------------------------------------

// moved = B in, for `count` frames of a phase from interval `j` on.
PZ_INLINE void to_frames(const pz_sequence *s, const float *in, int phase, int j, int count)
{
    const float *b = s->phase + phase * SEQUENCE_BASIS;
    for (int i = 0; i < s->nv; ++i) {
        const float *restrict x = dof_of(s, in, i) + j;
        float *restrict z = s->moved + (size_t)i * SEQUENCE_CHUNK;
        for (int l = 0; l < count; ++l) {
            z[l] = b[0] * x[l] + b[1] * x[l + 1] + b[2] * x[l + 2] + b[3] * x[l + 3];
        }
    }
}

// out += B^T force.
PZ_INLINE void from_frames(const pz_sequence *s, float *out, int phase, int j, int count)
{
    const float *b = s->phase + phase * SEQUENCE_BASIS;
    for (int i = 0; i < s->nv; ++i) {
        for (int n = 0; n < SEQUENCE_BASIS; ++n) {
            add_scaled(dof_of(s, out, i) + j + n, b[n], s->force + (size_t)i * SEQUENCE_CHUNK, count);
        }
    }
}

// force = H moved, by rows of the packed Hessians.
PZ_INLINE void multiply_frames(const pz_sequence *s, int slot, int count)
{
    for (int i = 0; i < s->nv; ++i) {
        float *y = s->force + (size_t)i * SEQUENCE_CHUNK;
        const float *z = s->moved + (size_t)i * SEQUENCE_CHUNK;
        int own = s->row_begin[i + 1] - 1;
        memcpy(y, z, (size_t)count * sizeof *y);
        scale_by(y, s->H + (size_t)own * (size_t)s->slots + slot, count);
        for (int e = s->row_begin[i]; e < own; ++e) {
            size_t above = (size_t)s->above[e] * SEQUENCE_CHUNK;
            add_both(y, s->force + above, s->H + (size_t)e * (size_t)s->slots + slot, s->moved + above, z, count);
        }
    }
}

// out += W K in, and the damping.
PZ_INLINE void add_smoothness(const pz_sequence *s, const float *in, float *out)
{
    int n = s->knot_count;
    for (int i = 0; i < s->nv; ++i) {
        const float *x = dof_of(s, in, i), *extra = dof_of(s, s->extra, i);
        float *y = dof_of(s, out, i), w = (float)s->weight[i];
        for (int j = 0; j < n; ++j) {
            y[j] += (w * s->band[j] + extra[j]) * x[j];
        }
        for (int d = 1; d < SEQUENCE_BAND; ++d) {
            const float *band = s->band + (size_t)d * (size_t)s->knot_room + d;
            add_product(y + d, w, band, x, n - d);
            add_product(y, w, band, x + d, n - d);
        }
    }
}

static void mask(const pz_sequence *s, float *x)
{
    for (int i = 0; i < s->nv; ++i) {
        scale_by(dof_of(s, x, i), dof_of(s, s->free, i), s->knot_count);
    }
}

PZ_INLINE void multiply(pz_sequence *s, const float *in, float *out)
{
    memset(out, 0, (size_t)s->nv * (size_t)s->knot_room * sizeof *out);
    for (int p = 0; p < s->options.knot; ++p) {
        int end = pz_sequence_phase_count(s, p);
        for (int j = 0; j < end; j += SEQUENCE_CHUNK) {
            int count = end - j < SEQUENCE_CHUNK ? end - j : SEQUENCE_CHUNK;
            to_frames(s, in, p, j, count);
            multiply_frames(s, p * s->phase_room + j, count);
            from_frames(s, out, p, j, count);
        }
    }
    add_smoothness(s, in, out);
}

// The same code for processors with wider registers (base/cpu.h).
PZ_WIDE static void multiply_wide(pz_sequence *s, const float *in, float *out)
{
    multiply(s, in, out);
}

// out = A in (nv x knot_room numbers) for the free coefficients.
static void apply_matrix(pz_sequence *s, const float *in, float *out)
{
    if (s->is_wide) {
        multiply_wide(s, in, out);
    } else {
        multiply(s, in, out);
    }
    pz_sequence_walls_multiply(s, in, out);
    mask(s, out);
    s->report.products += 1;
}

// ---- Preconditioner ------------------------------------------------------------------------------------------------------

// F of one entry, from the Hessians of all frames.
PZ_INLINE void gather(const pz_sequence *s, const float *H, float *F)
{
    memset(F, 0, (size_t)s->knot_room * sizeof *F);
    for (int p = 0; p < s->options.knot; ++p) {
        const float *b = s->phase + p * SEQUENCE_BASIS;
        for (int n = 0; n < SEQUENCE_BASIS; ++n) {
            add_scaled(F + n, b[n] * b[n], H + (size_t)p * (size_t)s->phase_room, pz_sequence_phase_count(s, p));
        }
    }
}

// Held coefficients get a unit pivot and no entries.
PZ_INLINE void assemble(pz_sequence *s, double mu)
{
    for (int i = 0; i < s->nv; ++i) {
        const float *free = dof_of(s, s->free, i);
        for (int e = s->row_begin[i]; e < s->row_begin[i + 1]; ++e) {
            float *F = s->F + (size_t)e * (size_t)s->knot_room, *extra = dof_of(s, s->extra, i);
            const float *above = dof_of(s, s->free, s->above[e]);
            bool is_own = e == s->row_begin[i + 1] - 1;
            gather(s, s->H + (size_t)e * (size_t)s->slots, F);
            for (int j = 0; j < s->knot_count && !is_own; ++j) {
                F[j] *= free[j] * above[j];
            }
            for (int j = 0; j < s->knot_count && is_own; ++j) {
                extra[j] = (float)mu * F[j];
                F[j] += extra[j] + (float)s->weight[i] * s->band[j];
            }
            if (is_own) {
                pz_sequence_walls_diagonal(s, i, F);
            }
            for (int j = 0; j < s->knot_count && is_own; ++j) {
                F[j] = free[j] > 0.0f && F[j] > 1e-20f ? F[j] : 1.0f;
            }
        }
    }
}

PZ_INLINE void factor(pz_sequence *s, double mu)
{
    assemble(s, mu);
    size_t room = (size_t)s->knot_room;
    int n = s->knot_count;
    for (int i = s->nv - 1; i >= 0; --i) {
        int begin = s->row_begin[i], own = s->row_begin[i + 1] - 1;
        float *d = s->F + (size_t)own * room;
        for (int j = 0; j < n; ++j) { // the inverse of the pivot, which rounding keeps from vanishing
            d[j] = 1.0f / (d[j] > 1e-20f ? d[j] : 1e-20f);
        }
        for (int a = own - 1; a >= begin; --a) {
            float *entry = s->F + (size_t)a * room;
            int row = s->row_begin[s->above[a]];
            for (int b = begin; b <= a; ++b) { // F[a][b] -= F[i][a] F[i][b]/d
                subtract_three(s->F + (size_t)(row + b - begin) * room, entry, d, s->F + (size_t)b * room, n);
            }
            scale_by(entry, d, n);
        }
    }
}

PZ_WIDE static void factor_wide(pz_sequence *s, double mu)
{
    factor(s, mu);
}

void pz_sequence_factor(pz_sequence *s, double mu)
{
    if (s->is_wide) {
        factor_wide(s, mu);
    } else {
        factor(s, mu);
    }
}

// z = F^-1 r.
PZ_INLINE void solve_factored(const pz_sequence *s)
{
    size_t room = (size_t)s->knot_room;
    int n = s->knot_count;
    memcpy(s->z, s->r, (size_t)s->nv * room * sizeof *s->z);
    for (int i = s->nv - 1; i >= 0; --i) {
        float *z = dof_of(s, s->z, i);
        int own = s->row_begin[i + 1] - 1;
        for (int e = s->row_begin[i]; e < own; ++e) {
            subtract_product(dof_of(s, s->z, s->above[e]), s->F + (size_t)e * room, z, n);
        }
        scale_by(z, s->F + (size_t)own * room, n);
    }
    for (int i = 0; i < s->nv; ++i) {
        for (int e = s->row_begin[i]; e < s->row_begin[i + 1] - 1; ++e) {
            subtract_product(dof_of(s, s->z, i), s->F + (size_t)e * room, dof_of(s, s->z, s->above[e]), n);
        }
    }
}

PZ_WIDE static void solve_factored_wide(const pz_sequence *s)
{
    solve_factored(s);
}

static void precondition(const pz_sequence *s)
{
    if (s->is_wide) {
        solve_factored_wide(s);
    } else {
        solve_factored(s);
    }
    mask(s, s->z);
}

// ---- Conjugate gradients -------------------------------------------------------------------------------------------------

static double dot(const pz_sequence *s, const float *x, const float *y)
{
    double sum = 0.0;
    for (int i = 0; i < s->nv; ++i) {
        const float *a = dof_of(s, x, i), *b = dof_of(s, y, i);
        float part = 0.0f;
        for (int j = 0; j < s->knot_count; ++j) {
            part += a[j] * b[j];
        }
        sum += (double)part;
    }
    return sum;
}

// y += share x.
static void add(const pz_sequence *s, float *y, double share, const float *x)
{
    for (int i = 0; i < s->nv; ++i) {
        add_scaled(dof_of(s, y, i), (float)share, dof_of(s, x, i), s->knot_count);
    }
}

void pz_sequence_conjugate(pz_sequence *s)
{
    apply_matrix(s, s->x, s->Ap);
    for (int i = 0; i < s->nv; ++i) {
        float *r = dof_of(s, s->r, i);
        const float *free = dof_of(s, s->free, i), *Ap = dof_of(s, s->Ap, i);
        for (int j = 0; j < s->knot_count; ++j) {
            r[j] = free[j] * ((float)-s->gradient[(size_t)i * (size_t)s->knot_room + (size_t)j] - Ap[j]);
        }
    }
    precondition(s);
    memcpy(s->p, s->z, (size_t)s->nv * (size_t)s->knot_room * sizeof *s->p);
    double enough = s->options.max_iterations > 1 ? ENOUGH : ENOUGH_ONCE;
    double rz = dot(s, s->r, s->z), end = enough * enough * rz;
    for (int n = 0; n < MOST && rz > end && rz > 0.0; ++n) {
        apply_matrix(s, s->p, s->Ap);
        double curvature = dot(s, s->p, s->Ap);
        if (!(curvature > 0.0)) {
            return;
        }
        s->expected += 0.5 * rz * rz / curvature;
        add(s, s->x, rz / curvature, s->p);
        add(s, s->r, -rz / curvature, s->Ap);
        precondition(s);
        double next = dot(s, s->r, s->z);
        for (int i = 0; i < s->nv; ++i) {
            float *p = dof_of(s, s->p, i), ratio = (float)(next / rz);
            const float *z = dof_of(s, s->z, i);
            for (int j = 0; j < s->knot_count; ++j) {
                p[j] = z[j] + ratio * p[j];
            }
        }
        rz = next;
    }
}
