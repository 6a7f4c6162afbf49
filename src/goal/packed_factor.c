// The factor of the packed Hessian (packed_factor.h).
#include "goal/packed_factor.h"

#define NOTHING  1e-11 // of H_ii: the least pivot; a smaller one says that goals do not determine i, given what is above
#define ROUNDING 1e-18 // of the largest H_ii
#define NEGATIVE 1e-9  // of H_ii: pivots below less that are not rounding

pz_packed pz_packed_of(const poise_objective *objective)
{
    const poise_model *model = objective->kin.model;
    return (pz_packed){.model = model, .is_chain = model->has_mimic || objective->row_count > 0, .nv = model->nv};
}

poise_status pz_packed_fill(const pz_packed *rows, poise_objective *objective, poise_hessian kind, double *H, double *square,
                            double *diagonal, poise_error *error)
{
    size_t nv = (size_t)rows->nv;
    poise_status status = rows->is_chain ? poise_objective_hessian(objective, kind, square, error)
                                         : poise_objective_packed(objective, kind, H, error);
    for (int i = 0; i < rows->nv && status == POISE_OK; ++i) {
        poise_packed_row row = pz_packed_row(rows, i);
        for (int k = 0; k <= i && rows->is_chain; ++k) {
            H[row.begin + (size_t)k] = square[(size_t)i * nv + (size_t)k];
        }
        diagonal[i] = H[row.begin + (size_t)row.count - 1];
    }
    return status;
}

bool pz_packed_factor(const pz_packed *rows, bool may_be_negative, double *H, const double *diagonal)
{
    double largest = 0.0;
    for (int i = 0; i < rows->nv; ++i) {
        largest = max2(largest, diagonal[i]);
    }
    for (int i = rows->nv - 1; i >= 0; --i) {
        poise_packed_row row = pz_packed_row(rows, i);
        double *l = H + row.begin, least = NOTHING * fabs(diagonal[i]), pivot = l[row.count - 1];
        if (may_be_negative && pivot < -NEGATIVE * fabs(diagonal[i])) {
            return false;
        }
        bool is_moved = diagonal[i] > ROUNDING * largest; // some goal is; one on an axis is moved by its rounding alone
        double d = !is_moved ? 0.0 : pivot > least ? pivot : least;
        l[row.count - 1] = d;
        int above = row.parent;
        for (int a = row.count - 2; a >= 0; --a) {
            poise_packed_row up = pz_packed_row(rows, above);
            double share = d > 0 ? l[a] / d : 0.0;
            for (int b = 0; b <= a; ++b) {
                H[up.begin + (size_t)b] -= share * l[b];
            }
            above = up.parent;
        }
        for (int a = 0; a < row.count - 1; ++a) {
            l[a] = d > 0 ? l[a] / d : 0.0;
        }
    }
    return true;
}

void pz_packed_solve_up(const pz_packed *rows, const double *H, double *x)
{
    for (int i = rows->nv - 1; i >= 0; --i) {
        poise_packed_row row = pz_packed_row(rows, i);
        const double *l = H + row.begin;
        int above = row.parent;
        for (int a = row.count - 2; a >= 0; --a) {
            x[above] -= l[a] * x[i];
            above = pz_packed_row(rows, above).parent;
        }
    }
}

void pz_packed_solve_down(const pz_packed *rows, const double *H, double *x)
{
    for (int i = 0; i < rows->nv; ++i) {
        poise_packed_row row = pz_packed_row(rows, i);
        const double *l = H + row.begin;
        int above = row.parent;
        for (int a = row.count - 2; a >= 0; --a) {
            x[i] -= l[a] * x[above];
            above = pz_packed_row(rows, above).parent;
        }
    }
}
