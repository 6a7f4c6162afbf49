// The diagonal of H^-1 through the factor of the tree.
//
// With H = L^T D L (packed_factor.h), from L Z = D^-1 L^-T for Z = H^-1, the entries of Z at the places of H follow from the
// root on (K. Takahashi, J. Fagan, M. Chin 1973):
//
//   Z_ij = -sum_k l_ik Z_kj        j above i        Z_ii = 1/d_i - sum_k l_ik Z_ik        k over all above i
//
// since of two that are above i one is above the other. O(sum of squared depths).
#include <poise/objective.h>

#include "base/error.h"
#include "goal/packed_factor.h"

#define OPEN 1e8 // over H_ii: a larger variance is infinite

// The entry Z_kj of two that lie on one path, at places `k` and `j` of it; `path` is from the root.
static double entry(const double *Z, const size_t *begin, int k, int j)
{
    return k >= j ? Z[begin[k] + (size_t)j] : Z[begin[j] + (size_t)k];
}

// Z from L and D, root first; begin is scratch for the rows of a path. `diagonal` has that of H and takes that of Z.
static void invert(const pz_packed *r, const double *H, double *Z, size_t *begin, double *diagonal)
{
    for (int i = 0; i < r->nv; ++i) {
        poise_packed_row row = pz_packed_row(r, i);
        const double *l = H + row.begin;
        double *z = Z + row.begin;
        int above = i, last = row.count - 1;
        for (int a = last; a >= 0; --a) {
            poise_packed_row up = pz_packed_row(r, above);
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

poise_status poise_objective_inverse_diagonal(poise_objective *objective, poise_hessian kind, double *work, double *diagonal,
                                              poise_error *error)
{
    if (!objective || !work || !diagonal) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "objective, work and diagonal must not be NULL");
    }
    const poise_model *model = objective->kin.model;
    size_t nv = (size_t)model->nv, triangle = nv * (nv + 1) / 2;
    pz_packed r = pz_packed_of(objective);
    double *H = work, *Z = work + triangle;
    size_t *begin = (size_t *)(void *)(work + 2 * triangle);
    poise_status status = pz_packed_fill(&r, objective, kind, H, Z, diagonal, error);
    if (status == POISE_OK && !pz_packed_factor(&r, kind == POISE_HESSIAN_EXACT, H, diagonal)) {
        status = pz_error_set(error, POISE_ERROR_NUMERIC, "the Hessian is not positive semidefinite here");
    }
    if (status == POISE_OK) {
        invert(&r, H, Z, begin, diagonal);
    }
    return status;
}
