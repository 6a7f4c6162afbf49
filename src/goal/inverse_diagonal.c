// The diagonal of H^-1 through the factor of the tree.
//
// H = L^T D L without fill: row i of L has entries for the degrees of freedom above i alone. From L Z = D^-1 L^-T for Z =
// H^-1, the entries of Z at the places of H follow from the root on (K. Takahashi, J. Fagan, M. Chin 1973):
//
//   Z_ij = -sum_k l_ik Z_kj        j above i        Z_ii = 1/d_i - sum_k l_ik Z_ik        k over all above i
//
// since of two that are above i one is above the other. O(sum of squared depths). Where H has other entries (mimic joints,
// coupled goals) the same is done on its whole lower triangle, as if all joints were one chain.
#include <poise/objective.h>

#include "base/error.h"
#include "goal/objective_state.h"

#define NOTHING  1e-11 // of H_ii: the least pivot; a smaller one says that goals do not determine i, given what is above
#define ROUNDING 1e-18 // of the largest H_ii
#define NEGATIVE 1e-9  // of H_ii: pivots below less that are not rounding
#define OPEN     1e8   // over H_ii: a larger variance is infinite

// Rows of a lower triangle, by the tree or as a chain.
typedef struct rows {
    const poise_model *model;
    bool is_chain;
    int nv;
} rows;

static poise_packed_row row_of(const rows *r, int i)
{
    size_t n = (size_t)i;
    return r->is_chain ? (poise_packed_row){.begin = n * (n + 1) / 2, .count = i + 1, .parent = i - 1}
                       : poise_model_packed_row(r->model, i);
}

// H = L^T D L in place: d_i at the end of row i, l_i before it. A pivot that vanishes is replaced by a tiny one, so that
// what is open in one degree of freedom alone, and not in sums of several, comes out finite: what is far down the tree
// often is, where two joints above it are known only together. False when a pivot is negative: H is not positive
// semidefinite.
static bool factor(const rows *r, bool may_be_negative, double *H, const double *diagonal)
{
    double largest = 0.0;
    for (int i = 0; i < r->nv; ++i) {
        largest = max2(largest, diagonal[i]);
    }
    for (int i = r->nv - 1; i >= 0; --i) {
        poise_packed_row row = row_of(r, i);
        double *l = H + row.begin, least = NOTHING * fabs(diagonal[i]);
        if (may_be_negative && l[row.count - 1] < -NEGATIVE * fabs(diagonal[i])) {
            return false;
        }
        bool is_moved = diagonal[i] > ROUNDING * largest; // some goal is; one on an axis is moved by its rounding alone
        double d = l[row.count - 1] = is_moved ? max2(l[row.count - 1], least) : 0.0;
        int above = row.parent;
        for (int a = row.count - 2; a >= 0; --a) {
            poise_packed_row up = row_of(r, above);
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

// The entry Z_kj of two that lie on one path, at places `k` and `j` of it; `path` is from the root.
static double entry(const double *Z, const size_t *begin, int k, int j)
{
    return k >= j ? Z[begin[k] + (size_t)j] : Z[begin[j] + (size_t)k];
}

// Z from L and D, root first; begin is scratch for the rows of a path. `diagonal` has that of H and takes that of Z.
static void invert(const rows *r, const double *H, double *Z, size_t *begin, double *diagonal)
{
    for (int i = 0; i < r->nv; ++i) {
        poise_packed_row row = row_of(r, i);
        const double *l = H + row.begin;
        double *z = Z + row.begin;
        int above = i, last = row.count - 1;
        for (int a = last; a >= 0; --a) {
            poise_packed_row up = row_of(r, above);
            begin[a] = up.begin;
            above = up.parent;
        }
        double sum = l[last] > 0 ? 1.0 / l[last] : 0.0;
        for (int a = 0; a < last; ++a) {
            double dot = 0.0;
            for (int b = 0; b < last; ++b) {
                dot += l[b] != 0.0 ? l[b] * entry(Z, begin, b, a) : 0.0;
            }
            z[a] = -dot;
        }
        for (int a = 0; a < last; ++a) {
            sum -= l[a] != 0.0 ? l[a] * z[a] : 0.0;
        }
        z[last] = sum;
        diagonal[i] = l[last] > 0 && sum * diagonal[i] < OPEN ? sum : INFINITY;
    }
}

// Fill the rows; false when the objective cannot.
static poise_status fill(poise_objective *o, const rows *r, poise_hessian kind, double *H, double *square, double *diagonal,
                         poise_error *error)
{
    if (!r->is_chain) {
        poise_status status = poise_objective_packed(o, kind, H, error);
        for (int i = 0; i < r->nv && status == POISE_OK; ++i) {
            poise_packed_row row = row_of(r, i);
            diagonal[i] = H[row.begin + (size_t)row.count - 1];
        }
        return status;
    }
    poise_status status = poise_objective_hessian(o, kind, square, error);
    for (int i = 0; i < r->nv && status == POISE_OK; ++i) {
        for (int k = 0; k <= i; ++k) {
            H[row_of(r, i).begin + (size_t)k] = square[(size_t)i * (size_t)r->nv + (size_t)k];
        }
        diagonal[i] = square[(size_t)i * (size_t)r->nv + (size_t)i];
    }
    return status;
}

poise_status poise_objective_inverse_diagonal(poise_objective *objective, poise_hessian kind, double *work, double *diagonal,
                                              poise_error *error)
{
    if (!objective || !work || !diagonal) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "objective, work and diagonal must not be NULL");
    }
    const poise_model *model = objective->kin.model;
    size_t nv = (size_t)model->nv, triangle = nv * (nv + 1) / 2;
    rows r = {.model = model, .is_chain = model->has_mimic || objective->row_count > 0, .nv = model->nv};
    double *H = work, *Z = work + triangle;
    size_t *begin = (size_t *)(void *)(work + 2 * triangle);
    poise_status status = fill(objective, &r, kind, H, Z, diagonal, error);
    if (status == POISE_OK && !factor(&r, kind == POISE_HESSIAN_EXACT, H, diagonal)) {
        status = pz_error_set(error, POISE_ERROR_NUMERIC, "the Hessian is not positive semidefinite here");
    }
    if (status == POISE_OK) {
        invert(&r, H, Z, begin, diagonal);
    }
    return status;
}
