// Quadratic programs with few active rows, solved in the dual: the factor of M from the leaves, then the active set.
// constrained.h has the problem and the idea. Rows that contradict those in use are left out, which pz_dual_left_out tells.
#include "solve/constrained.h"

#include "num/dense.h"

#include <string.h>

#define IN_SET 1

// ---- The factor of M -----------------------------------------------------------------------------------------------------

void pz_leaf_factor_lay_out(pz_leaf_factor *f, int n, pz_arena *arena)
{
    size_t size = (size_t)n * (size_t)n;
    f->n = n;
    f->L = (double *)pz_arena_take(arena, size, sizeof *f->L);
    f->column = (int *)pz_arena_take(arena, size, sizeof *f->column);
    f->count = (int *)pz_arena_take(arena, (size_t)n, sizeof *f->count);
}

static double *row_of(const pz_leaf_factor *f, int k)
{
    return f->L + (size_t)k * (size_t)f->n;
}

static const int *columns_of(const pz_leaf_factor *f, int k)
{
    return f->column + (size_t)k * (size_t)f->n;
}

// Divide row k by its diagonal, and list where it is not zero.
static void scale_row(pz_leaf_factor *f, int k, double inverse)
{
    double *row = row_of(f, k);
    int *column = f->column + (size_t)k * (size_t)f->n, count = 0;
    for (int i = 0; i < k; ++i) {
        if (row[i] != 0) {
            row[i] *= inverse;
            column[count++] = i;
        }
    }
    row[k] = inverse;
    f->count[k] = count;
}

bool pz_leaf_factor_make(pz_leaf_factor *f)
{
    for (int k = f->n - 1; k >= 0; --k) {
        double *row = row_of(f, k), pivot = row[k];
        if (!(pivot > 0 && is_finite(pivot))) {
            return false;
        }
        scale_row(f, k, 1.0 / sqrt(pivot));
        const int *column = columns_of(f, k);
        for (int a = 0; a < f->count[k]; ++a) {
            double *above = row_of(f, column[a]), factor = row[column[a]];
            for (int b = 0; b <= a; ++b) {
                above[column[b]] -= factor * row[column[b]];
            }
        }
    }
    return true;
}

void pz_leaf_factor_up(const pz_leaf_factor *f, double *x)
{
    for (int k = f->n - 1; k >= 0; --k) {
        if (x[k] == 0) {
            continue;
        }
        const double *row = row_of(f, k);
        const int *column = columns_of(f, k);
        double y = x[k] *= row[k];
        for (int a = 0; a < f->count[k]; ++a) {
            x[column[a]] -= row[column[a]] * y;
        }
    }
}

void pz_leaf_factor_down(const pz_leaf_factor *f, double *x)
{
    for (int k = 0; k < f->n; ++k) {
        const double *row = row_of(f, k);
        const int *column = columns_of(f, k);
        double sum = x[k];
        for (int a = 0; a < f->count[k]; ++a) {
            sum -= row[column[a]] * x[column[a]];
        }
        x[k] = sum * row[k];
    }
}

// ---- The program ---------------------------------------------------------------------------------------------------------

void pz_dual_lay_out(pz_dual *d, int nv, int most_rows, pz_arena *arena)
{
    size_t n = (size_t)nv;
    int most_active = most_rows < 2 * nv + 32 ? most_rows : 2 * nv + 32;
    size_t k = (size_t)(most_active + nv);
    d->nv = nv;
    d->capacity = (int)k;
    d->most_ids = most_rows + 2 * nv;
    d->x = (double *)pz_arena_take(arena, n, sizeof *d->x);
    d->x0 = (double *)pz_arena_take(arena, n, sizeof *d->x0);
    d->sum = (double *)pz_arena_take(arena, n, sizeof *d->sum);
    d->id = (int *)pz_arena_take(arena, k, sizeof *d->id);
    d->used = (int *)pz_arena_take(arena, k, sizeof *d->used);
    d->mu = (double *)pz_arena_take(arena, k, sizeof *d->mu);
    d->b = (double *)pz_arena_take(arena, k, sizeof *d->b);
    d->z = (double *)pz_arena_take(arena, k, sizeof *d->z);
    d->Z = (double *)pz_arena_take(arena, k * n, sizeof *d->Z);
    d->support = (int *)pz_arena_take(arena, k * n, sizeof *d->support);
    d->spread = (int *)pz_arena_take(arena, k, sizeof *d->spread);
    d->S = (double *)pz_arena_take(arena, k * k, sizeof *d->S);
    d->F = (double *)pz_arena_take(arena, k * k, sizeof *d->F);
    d->mark = (unsigned char *)pz_arena_take(arena, (size_t)d->most_ids, sizeof *d->mark);
}

// x <- L^-T x, and x <- L^-1 x.
static void go_up(const pz_dual *d, double *x)
{
    if (d->L) {
        pz_leaf_factor_up(d->L, x);
        return;
    }
    for (int i = 0; i < d->nv; ++i) {
        x[i] = x[i] == 0 ? 0.0 : x[i] / sqrt(d->D[i]);
    }
}

static void go_down(const pz_dual *d, double *x)
{
    if (d->L) {
        pz_leaf_factor_down(d->L, x);
        return;
    }
    for (int i = 0; i < d->nv; ++i) {
        x[i] = x[i] == 0 ? 0.0 : x[i] / sqrt(d->D[i]);
    }
}

static double *Z_row(const pz_dual *d, int place)
{
    return d->Z + (size_t)place * (size_t)d->nv;
}

static int *support_of(const pz_dual *d, int place)
{
    return d->support + (size_t)place * (size_t)d->nv;
}

// Z_i . Z_j
static double product(const pz_dual *d, int i, int j)
{
    int shorter = d->spread[i] < d->spread[j] ? i : j;
    const double *a = Z_row(d, i), *b = Z_row(d, j);
    const int *at = support_of(d, shorter);
    double sum = 0.0;
    for (int k = 0; k < d->spread[shorter]; ++k) {
        sum += a[at[k]] * b[at[k]];
    }
    return sum;
}

// x += L^-1 sum weight_i Z_i over the rows in use
static void add_rows(const pz_dual *d, const double *weight, double *x)
{
    double *sum = d->sum;
    memset(sum, 0, (size_t)d->nv * sizeof *sum);
    for (int i = 0; i < d->used_count; ++i) {
        int place = d->used[i];
        const double *Z = Z_row(d, place);
        const int *at = support_of(d, place);
        for (int k = 0; k < d->spread[place]; ++k) {
            sum[at[k]] += weight[i] * Z[at[k]];
        }
    }
    go_down(d, sum);
    for (int i = 0; i < d->nv; ++i) {
        x[i] += sum[i];
    }
}

// ---- Rows by id ----------------------------------------------------------------------------------------------------------

static bool is_bound(const pz_dual *d, int id)
{
    return id >= d->row_count;
}

static bool is_equality(const pz_dual *d, int id)
{
    return !is_bound(d, id) && d->is_equality[id];
}

// J_id . v
static double times(const pz_dual *d, int id, const double *v)
{
    if (!is_bound(d, id)) {
        return dense_dot(d->nv, d->J + (size_t)id * (size_t)d->nv, v);
    }
    int dof = (id - d->row_count) / 2;
    return (id - d->row_count) % 2 == 0 ? v[dof] : -v[dof];
}

static double constant(const pz_dual *d, int id)
{
    if (!is_bound(d, id)) {
        return d->c[id];
    }
    int dof = (id - d->row_count) / 2;
    return (id - d->row_count) % 2 == 0 ? -d->lower[dof] : d->upper[dof];
}

static void dual_write_row(const pz_dual *d, int id, double *to)
{
    if (!is_bound(d, id)) {
        memcpy(to, d->J + (size_t)id * (size_t)d->nv, (size_t)d->nv * sizeof *to);
        return;
    }
    memset(to, 0, (size_t)d->nv * sizeof *to);
    to[(id - d->row_count) / 2] = (id - d->row_count) % 2 == 0 ? 1.0 : -1.0;
}

// ---- The factor ----------------------------------------------------------------------------------------------------------

static double *S_at(const pz_dual *d, int i, int j)
{
    return d->S + (size_t)(i > j ? i : j) * (size_t)d->capacity + (i > j ? j : i);
}

static double *F_row(const pz_dual *d, int i)
{
    return d->F + (size_t)i * (size_t)d->capacity;
}

// Rows that give way a little do not fix a coordinate.
static bool is_soft(const pz_dual *d, int id)
{
    return d->soften > 0 && !is_equality(d, id) && constant(d, id) < -d->deep;
}

// Do the rows in use fix all coordinates? Rounding may hide from the factor that a further row depends on them.
static bool all_fixed(const pz_dual *d)
{
    int fixed = 0;
    for (int i = 0; i < d->used_count && d->used_count >= d->nv; ++i) {
        fixed += !is_soft(d, d->id[d->used[i]]);
    }
    return fixed >= d->nv;
}

// Take up the row at `place`. False: it depends on those in use.
static bool append(pz_dual *d, int place)
{
    double *f = F_row(d, d->used_count);
    if (all_fixed(d) && !is_soft(d, d->id[place])) {
        return false;
    }
    for (int i = 0; i < d->used_count; ++i) {
        f[i] = (*S_at(d, place, d->used[i]) - dense_dot(i, F_row(d, i), f)) / F_row(d, i)[i];
    }
    double own = *S_at(d, place, place), pivot = own - dense_dot(d->used_count, f, f);
    if (!(pivot > PZ_DUAL_DEPENDENT * own)) {
        return false;
    }
    f[d->used_count] = sqrt(pivot);
    d->used[d->used_count++] = place;
    return true;
}

// Drop number r: the rows below move up, and rotations of two columns at a time make the factor triangular again.
static void drop(pz_dual *d, int r)
{
    d->mu[d->used[r]] = 0.0;
    d->used_count -= 1;
    for (int i = r; i < d->used_count; ++i) {
        d->used[i] = d->used[i + 1];
        memcpy(F_row(d, i), F_row(d, i + 1), (size_t)(i + 2) * sizeof *d->F);
    }
    for (int k = r; k < d->used_count; ++k) {
        double a = F_row(d, k)[k], b = F_row(d, k)[k + 1], length = sqrt(a * a + b * b);
        double cosine = a / length, sine = b / length;
        for (int i = k; i < d->used_count; ++i) {
            double *f = F_row(d, i), left = f[k], right = f[k + 1];
            f[k] = cosine * left + sine * right;
            f[k + 1] = cosine * right - sine * left;
        }
    }
}

// z <- (F F^T)^-1 z over the rows in use
static void solve_factor(const pz_dual *d, double *z)
{
    for (int i = 0; i < d->used_count; ++i) {
        z[i] = (z[i] - dense_dot(i, F_row(d, i), z)) / F_row(d, i)[i];
    }
    for (int i = d->used_count - 1; i >= 0; --i) {
        z[i] /= F_row(d, i)[i];
        for (int j = 0; j < i; ++j) {
            z[j] -= z[i] * F_row(d, i)[j];
        }
    }
}

// ---- The active set ------------------------------------------------------------------------------------------------------

static bool is_used(const pz_dual *d, int id)
{
    for (int i = 0; i < d->used_count; ++i) {
        if (d->id[d->used[i]] == id) {
            return true;
        }
    }
    return false;
}

static void list_support(pz_dual *d, int place)
{
    const double *Z = Z_row(d, place);
    int *at = support_of(d, place), count = 0;
    for (int i = 0; i < d->nv; ++i) {
        at[count] = i;
        count += Z[i] != 0;
    }
    d->spread[place] = count;
}

// A place for another row: a new one, or that of a row which was active and is not in use any more. -1: there is none.
static int free_place(pz_dual *d)
{
    if (d->size < d->capacity) {
        return d->size++;
    }
    for (int place = 0; place < d->size; ++place) {
        int id = d->id[place];
        if (!is_used(d, id)) {
            d->mark[id] = d->mark[id] == PZ_DUAL_LEFT_OUT ? PZ_DUAL_LEFT_OUT : 0;
            return place;
        }
    }
    return -1;
}

// The place of a row, made when it is new; -1: there is no room.
static int place_of(pz_dual *d, int id)
{
    for (int i = 0; i < d->size && d->mark[id] == IN_SET; ++i) {
        if (d->id[i] == id) {
            return i;
        }
    }
    int place = free_place(d);
    if (place < 0) {
        return -1;
    }
    d->id[place] = id;
    d->mark[id] = IN_SET;
    d->mu[place] = 0.0;
    dual_write_row(d, id, Z_row(d, place));
    go_up(d, Z_row(d, place));
    list_support(d, place);
    for (int i = 0; i < d->size; ++i) {
        *S_at(d, place, i) = product(d, i, place);
    }
    *S_at(d, place, place) *= is_soft(d, id) ? 1.0 + d->soften : 1.0;
    d->b[place] = constant(d, id) + times(d, id, d->x0);
    return place;
}

// The row at `place` depends on those in use, Z_p = sum r_i Z_i: while its multiplier grows by t, theirs change by -t r_i,
// and x stays. The first inequality whose multiplier comes to 0 gives way to it (D. Goldfarb & A. Idnani, "A numerically
// stable dual method for solving strictly convex quadratic programs", 1983). False: none does; no x holds all of them.
static bool exchange(pz_dual *d, int place)
{
    double *r = d->z, t = INFINITY, own = *S_at(d, place, place);
    int first = -1;
    for (int i = 0; i < d->used_count; ++i) {
        r[i] = *S_at(d, place, d->used[i]);
    }
    solve_factor(d, r);
    for (int i = 0; i < d->used_count; ++i) {
        int used = d->used[i];
        bool has_share = r[i] > 0 && r[i] * r[i] * *S_at(d, used, used) > PZ_DUAL_DEPENDENT * own;
        if (has_share && !is_equality(d, d->id[used]) && d->mu[used] < t * r[i]) {
            t = d->mu[used] / r[i];
            first = i;
        }
    }
    if (first < 0) {
        return false;
    }
    for (int i = 0; i < d->used_count; ++i) {
        double *mu = &d->mu[d->used[i]];
        *mu -= t * r[i];
        *mu = is_equality(d, d->id[d->used[i]]) ? *mu : max2(*mu, 0.0); // below it by rounding alone
    }
    drop(d, first);
    bool is_taken = append(d, place);
    d->mu[place] = is_taken ? t : 0.0;
    return is_taken;
}

// Take up a row; false: there is no room, or it depends on those in use and may not take the place of one. A place that is
// new and not taken is given back.
static bool enter(pz_dual *d, int id, bool may_exchange)
{
    int size = d->size, place = place_of(d, id);
    if (place < 0 || append(d, place) || (may_exchange && exchange(d, place))) {
        return place >= 0;
    }
    if (place == size) {
        d->size = size;
        d->mark[id] = 0;
    }
    return false;
}

// The multipliers of the rows in use, those of inequalities >= 0: others are dropped on the way.
static void dual_settle(pz_dual *d)
{
    while (d->used_count > 0) {
        for (int i = 0; i < d->used_count; ++i) {
            d->z[i] = -d->b[d->used[i]];
        }
        solve_factor(d, d->z);
        double part = 1.0;
        int first = -1;
        for (int i = 0; i < d->used_count; ++i) {
            double mu = d->mu[d->used[i]];
            if (d->z[i] < 0 && !is_equality(d, d->id[d->used[i]]) && (first < 0 || mu < part * (mu - d->z[i]))) {
                part = mu / (mu - d->z[i]);
                first = i;
            }
        }
        for (int i = 0; i < d->used_count; ++i) {
            double *mu = &d->mu[d->used[i]];
            *mu += part * (d->z[i] - *mu);
        }
        if (first < 0) {
            return;
        }
        drop(d, first);
    }
}

static void dual_make_step(pz_dual *d)
{
    memcpy(d->x, d->x0, (size_t)d->nv * sizeof *d->x);
    for (int i = 0; i < d->used_count; ++i) {
        d->z[i] = d->mu[d->used[i]];
    }
    add_rows(d, d->z, d->x);
}

// The row that x breaks most, of those that are neither in use nor left out; -1: none.
static int most_broken(const pz_dual *d)
{
    int worst = -1;
    double most = d->slack;
    for (int id = 0; id < d->row_count; ++id) {
        if (d->mark[id] != PZ_DUAL_LEFT_OUT && !d->is_equality[id]) {
            double lacks = -(d->c[id] + times(d, id, d->x));
            if (lacks > most && !is_used(d, id)) {
                most = lacks;
                worst = id;
            }
        }
    }
    for (int i = 0; i < d->nv; ++i) {
        double below = d->lower[i] - d->x[i], above = d->x[i] - d->upper[i];
        int id = pz_dual_lower_id(d, i) + (above > below);
        double lacks = max2(below, above) / d->span[i];
        if (lacks > most && d->mark[id] != PZ_DUAL_LEFT_OUT && !is_used(d, id)) {
            most = lacks;
            worst = id;
        }
    }
    return worst;
}

// Equalities of which nothing but noise is left beside those before them, by Gram and Schmidt in Z, which is free yet.
static void leave_out_noise(pz_dual *d)
{
    int kept = 0;
    for (int id = 0; id < d->row_count && kept < d->capacity; ++id) {
        double *Z = Z_row(d, kept);
        for (int i = 0; i < d->nv && d->is_equality[id]; ++i) {
            Z[i] = d->J[(size_t)id * (size_t)d->nv + (size_t)i] * d->span[i];
        }
        for (int k = 0; k < kept && d->is_equality[id]; ++k) {
            dense_add_scaled(d->nv, -dense_dot(d->nv, Z_row(d, k), Z), Z_row(d, k), Z);
        }
        double rest = d->is_equality[id] ? dense_dot(d->nv, Z, Z) : 0.0;
        if (rest > d->noise[id]) {
            for (int i = 0; i < d->nv; ++i) {
                Z[i] /= sqrt(rest);
            }
            kept += 1;
        } else if (d->is_equality[id]) {
            d->mark[id] = PZ_DUAL_LEFT_OUT;
        }
    }
}

static void dual_begin(pz_dual *d, const int *hints, int hint_count)
{
    d->size = d->used_count = 0;
    memset(d->mark, 0, (size_t)(d->row_count + 2 * d->nv));
    for (int i = 0; i < d->nv; ++i) {
        d->x0[i] = -d->g[i];
    }
    go_up(d, d->x0);
    go_down(d, d->x0);
    if (d->noise) {
        leave_out_noise(d);
    }
    for (int id = 0; id < d->row_count; ++id) {
        if (d->is_equality[id] && d->mark[id] == 0 && !enter(d, id, false)) {
            d->mark[id] = PZ_DUAL_LEFT_OUT;
        }
    }
    for (int i = 0; i < hint_count; ++i) {
        if (d->mark[hints[i]] == 0) {
            enter(d, hints[i], false);
        }
    }
}

// Does x hold the rows that were left out?
static bool left_out_agree(const pz_dual *d)
{
    for (int id = 0; id < d->row_count + 2 * d->nv; ++id) {
        if (d->mark[id] == PZ_DUAL_LEFT_OUT) {
            double value = constant(d, id) + times(d, id, d->x);
            double lacks = is_equality(d, id) ? fabs(value) : -value;
            double span = is_bound(d, id) ? d->span[(id - d->row_count) / 2] : 1.0;
            double allowed = is_equality(d, id) ? d->agrees : PZ_DUAL_AGREES;
            if (lacks > max2(allowed, d->slack) * span) {
                return false;
            }
        }
    }
    return true;
}

void pz_dual_solve(pz_dual *d, const int *hints, int hint_count)
{
    dual_begin(d, hints, hint_count);
    int most = 4 * (d->row_count + d->nv) + 8, id = -1;
    for (int i = 0; i < most; ++i) {
        dual_settle(d);
        if (id >= 0 && !is_used(d, id)) { // rounding: it came in as broken, and pulled the other way
            d->mark[id] = PZ_DUAL_LEFT_OUT;
        }
        dual_make_step(d);
        id = most_broken(d);
        if (id < 0) {
            break;
        }
        if (!enter(d, id, true)) {
            d->mark[id] = PZ_DUAL_LEFT_OUT;
            id = -1;
        }
    }
    d->is_consistent = id < 0 && left_out_agree(d);
}

void pz_dual_correct(pz_dual *d, const double *c, double *x)
{
    for (int i = 0; i < d->used_count; ++i) {
        int id = d->id[d->used[i]];
        d->z[i] = is_bound(d, id) ? 0.0 : -c[id];
    }
    solve_factor(d, d->z);
    memset(x, 0, (size_t)d->nv * sizeof *x);
    add_rows(d, d->z, x);
}
