#include "solve/constrained/leaf_factor.h"

#include "num/real.h"

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
