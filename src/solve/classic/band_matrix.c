// Symmetric band matrices: the band of a Hessian, its Cholesky factor, and solving with it.
#include "solve/classic/second_order.h"

#include <string.h>

// Row i, indexed by column: (i, j) for i - half <= j <= i.
static inline double *columns(const pz_band *band, int i)
{
    return band->rows + (size_t)(i + 1) * (size_t)band->half;
}

static inline int first_column(const pz_band *band, int i)
{
    return i > band->half ? i - band->half : 0;
}

static void add(const pz_band *band, int i, int j, double value)
{
    int low = i < j ? i : j, high = i < j ? j : i;
    if (high - low <= band->half) {
        columns(band, high)[low] += value;
    }
}

// ---- Band of a Hessian ---------------------------------------------------------------------------------------------------

// Entries of axis i with itself and the axes h above it, H_hi = S_h . c_i (objective.c). Numbers of axes fall along the
// path, so that it can be left where the band ends; not with mimics, whose axes belong to dofs elsewhere.
static void add_axis(const poise_objective *o, poise_hessian kind, int i, pz_band *band)
{
    const poise_model *model = o->kin.model;
    const pz_axis *axis = &model->axes[i];
    wrench c = o->c[kind][i];
    for (int h = i; h >= 0; h = model->axes[h].parent) {
        const pz_axis *above = &model->axes[h];
        if (!model->has_mimic && axis->dof - above->dof > band->half) {
            break;
        }
        double value = above->factor * axis->factor * spatial_dot(o->kin.S[h], c);
        add(band, axis->dof, above->dof, h != i && above->dof == axis->dof ? 2.0 * value : value);
    }
}

// Rotation blocks.
static void add_block(const poise_objective *o, poise_hessian kind, const pz_step *step, pz_band *band)
{
    int dof = o->kin.model->axes[step->axis].dof;
    for (int i = 0; i < pz_step_nv(step->kind); ++i) {
        for (int j = 0; j <= i; ++j) {
            add(band, dof + i, dof + j, pz_block_entry(&o->block[kind][step->block], i, j));
        }
    }
}

// w j j^T of goals that tie bodies together.
static void add_row(const poise_objective *o, int r, pz_band *band)
{
    const double *j = o->rows + (size_t)r * (size_t)band->n;
    for (int a = 0; a < band->n; ++a) {
        for (int b = first_column(band, a); b <= a; ++b) {
            columns(band, a)[b] += o->row_weights[r] * j[a] * j[b];
        }
    }
}

void pz_band_of_hessian(const poise_objective *o, poise_hessian kind, pz_band *band)
{
    const poise_model *model = o->kin.model;
    pz_forces(o, kind);
    memset(band->rows, 0, (size_t)band->n * (size_t)(band->half + 1) * sizeof *band->rows);
    for (int i = 0; i < model->axis_count; ++i) {
        add_axis(o, kind, i, band);
    }
    for (int i = 0; i < model->nv; ++i) {
        columns(band, i)[i] += o->diagonal[i];
    }
    for (int s = 0; s < model->step_count; ++s) {
        if (pz_step_is_block(model->steps[s].kind)) {
            add_block(o, kind, &model->steps[s], band);
        }
    }
    for (int r = 0; r < o->row_count; ++r) {
        add_row(o, r, band);
    }
}

// ---- Cholesky ------------------------------------------------------------------------------------------------------------
//
//   L_ij = (A_ij - sum_k L_ik L_jk) / L_jj,  j < i          L_ii = sqrt(A_ii - sum_k L_ik^2)
//
// with k from the later of the two rows' first columns. The factor fills the band and no more (Golub & Van Loan 2013,
// section 4.3).

bool pz_band_cholesky(pz_band *A)
{
    for (int i = 0; i < A->n; ++i) {
        double *L_i = columns(A, i);
        int first = first_column(A, i);
        for (int j = first; j <= i; ++j) {
            const double *L_j = columns(A, j);
            int from = first_column(A, j);
            double sum = L_i[j];
            for (int k = first > from ? first : from; k < j; ++k) {
                sum -= L_i[k] * L_j[k];
            }
            if (j < i) {
                L_i[j] = sum / L_j[j];
            } else if (sum > 0 && is_finite(sum)) {
                L_i[i] = sqrt(sum);
            } else {
                return false;
            }
        }
    }
    return true;
}

void pz_band_solve(const pz_band *L, double *x)
{
    for (int i = 0; i < L->n; ++i) {
        const double *L_i = columns(L, i);
        for (int j = first_column(L, i); j < i; ++j) {
            x[i] -= L_i[j] * x[j];
        }
        x[i] /= L_i[i];
    }
    for (int i = L->n - 1; i >= 0; --i) {
        const double *L_i = columns(L, i);
        x[i] /= L_i[i];
        for (int j = first_column(L, i); j < i; ++j) {
            x[j] -= L_i[j] * x[i];
        }
    }
}
