// The band of a Hessian.
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
