// The Hessian in every form, from the axes S, the wrenches c, the blocks, the diagonal and the rows (objective.h): packed by
// rows of the tree, dense, times a vector, its diagonal, its factor H = L^T D L, and the diagonal of its inverse.
#include "goal/objective.h"

#include "base/cpu.h"
#include "base/error.h"
#include "num/dense.h"

#include <string.h>

// Are the arguments in order? Then the wrenches are made if they are not there.
// False, with the reason in `error`, when there is no Hessian of this kind to hand out.
static bool ready(const poise_objective *o, poise_hessian kind, const void *out, poise_error *error)
{
    bool exists = o && out && (unsigned)kind <= POISE_HESSIAN_GAUSS_NEWTON;
    if (!exists || o->level != POISE_LEVEL_HESSIAN) {
        poise_status status =
            pz_error_set(error, POISE_ERROR_ARGUMENT,
                         exists ? "the last evaluation was not at POISE_LEVEL_HESSIAN: evaluate at that level first"
                                : "objective and output must not be NULL, and kind must be one of poise_hessian");
        return status == POISE_OK;
    }
    return pz_forces(o, kind) != NULL;
}

// ---- Rows of the packed Hessian ------------------------------------------------------------------------------------------
//
// Axes are in depth-first order, so the path to the root of the current axis is a stack: an axis of depth d is kept at place
// d - 1, and the places below it hold its ancestors. Four places are a block, kept component by component, so that four
// entries of a row are six scaled registers. Blocks are written whole: a processor waits when it is to read as one what was
// written as several.

PZ_INLINE void put_in_block(pz_path_block *block, int lane, const double S[6])
{
    typedef double four __attribute__((vector_size(32), aligned(8)));
    typedef int64_t choice __attribute__((vector_size(32), aligned(8)));
    choice place = {0, 1, 2, 3}, here = place == lane;
    for (int component = 0; component < 6; ++component) {
        double s = S[component];
        four *numbers = (four *)block->S[component], all = {s, s, s, s};
        *numbers = (four)((here & (choice)all) | (~here & (choice)*numbers));
    }
}

// entries[d] = S_h . c for the first `count` axes h of the stack. What is written beyond them, to the end of a block, has no
// meaning.
PZ_INLINE void stack_products(const pz_path_block *stack, int count, wrench c, double *restrict entries)
{
    for (int d = 0; d < count; d += PZ_PATH_LANES, ++stack) {
        for (int lane = 0; lane < PZ_PATH_LANES; ++lane) {
            entries[d + lane] = stack->S[0][lane] * c.n.x + stack->S[1][lane] * c.n.y + stack->S[2][lane] * c.n.z +
                                stack->S[3][lane] * c.f.x + stack->S[4][lane] * c.f.y + stack->S[5][lane] * c.f.z;
        }
    }
}

// The row of axis i as far as S and c tell it; then the axis goes onto the stack.
PZ_INLINE void fill_row(const poise_objective *o, poise_hessian kind, int i, double *entries)
{
    int above = o->kin.model->axes[i].depth - 1;
    wrench c = o->c[kind][i];
    stack_products(o->stack, above, c, entries);
    entries[above] = spatial_dot(o->kin.S[i], c);
    put_in_block(&o->stack[above / PZ_PATH_LANES], above % PZ_PATH_LANES, (const double *)&o->kin.S[i]);
}

// What the row of axis number n of a block has besides: its own axes come last.
static inline void add_block(const poise_objective *o, poise_hessian kind, const pz_step *step, int n, double *entries)
{
    int first = o->kin.model->axes[step->axis].depth - 1;
    for (int j = 0; j <= n; ++j) {
        entries[first + j] += pz_block_entry(&o->block[kind][step->block], j, n);
    }
}

// A row may spill into those after it, which are still to come; where there are none, it is made apart.
PZ_INLINE void pack_rows(const poise_objective *o, poise_hessian kind, double *rows)
{
    const poise_model *model = o->kin.model;
    const double *end = rows + model->packed_row[model->axis_count];
    double *row = rows;
    for (int i = 0; i < model->axis_count; ++i) {
        int depth = model->axes[i].depth;
        bool has_room = end - row >= pz_path_blocks(depth) * PZ_PATH_LANES;
        double *entries = has_room ? row : o->entries;
        fill_row(o, kind, i, entries);
        entries[depth - 1] += o->diagonal[model->axes[i].dof];
        if (!has_room) {
            memcpy(row, o->entries, (size_t)depth * sizeof *row);
        }
        row += depth;
    }
    for (int s = 0; model->block_count > 0 && s < model->step_count; ++s) {
        const pz_step *step = &model->steps[s];
        for (int n = 0; pz_step_is_block(step->kind) && n < pz_step_nv(step->kind); ++n) {
            add_block(o, kind, step, n, rows + model->packed_row[step->axis + n]);
        }
    }
}

// The same code for processors with wider registers (base/cpu.h).
PZ_WIDE static void pack_rows_wide(const poise_objective *o, poise_hessian kind, double *rows)
{
    pack_rows(o, kind, rows);
}

poise_status poise_objective_packed(poise_objective *objective, poise_hessian kind, double *rows, poise_error *error)
{
    if (!ready(objective, kind, rows, error)) {
        return POISE_ERROR_ARGUMENT;
    }
    if (objective->kin.model->has_mimic || objective->row_count > 0) {
        return pz_error_set(error, POISE_ERROR_UNSUPPORTED,
                            "with %s H has entries outside the packed form: use poise_objective_hessian",
                            objective->kin.model->has_mimic ? "mimic joints" : "coupled goals");
    }
    if (objective->kin.model->is_wide) {
        pack_rows_wide(objective, kind, rows);
    } else {
        pack_rows(objective, kind, rows);
    }
    return POISE_OK;
}

// Do something with every row: `use(user, objective, axis, entries)`.
typedef void (*row_use)(void *user, const poise_objective *o, int axis, const double *entries);

static void for_each_row(const poise_objective *o, poise_hessian kind, row_use use, void *user)
{
    const poise_model *model = o->kin.model;
    for (int s = 0; s < model->step_count; ++s) {
        const pz_step *step = &model->steps[s];
        for (int n = 0; n < pz_step_nv(step->kind); ++n) {
            int i = step->axis + n, place = model->axes[i].depth - 1;
            fill_row(o, kind, i, o->entries);
            if (step->own) {
                o->entries[place] += o->diagonal[model->axes[i].dof];
            }
            if (pz_step_is_block(step->kind)) {
                add_block(o, kind, step, n, o->entries);
            }
            o->path[place] = i;
            use(user, o, i, o->entries);
        }
    }
}

// ---- Dense ---------------------------------------------------------------------------------------------------------------

// Both mirror images get the same additions in the same order, so H is symmetric to the last bit.
static void scatter_row(void *user, const poise_objective *o, int axis, const double *entries)
{
    const poise_model *model = o->kin.model;
    double *H = (double *)user;
    const pz_axis *i = &model->axes[axis];
    double *H_i = H + (size_t)i->dof * (size_t)model->nv;
    for (int d = 0; d < i->depth - 1; ++d) {
        const pz_axis *h = &model->axes[o->path[d]];
        double entry = h->factor * i->factor * entries[d];
        H_i[h->dof] += entry;
        H[(size_t)h->dof * (size_t)model->nv + (size_t)i->dof] += entry;
    }
    H_i[i->dof] += i->factor * i->factor * entries[i->depth - 1];
}

// H += w j j^T: the lower triangle, then mirrored.
static void add_rows(const poise_objective *o, double *H)
{
    size_t n = (size_t)o->kin.model->nv;
    for (int r = 0; r < o->row_count; ++r) {
        const double *j = o->rows + (size_t)r * n;
        for (size_t a = 0; a < n; ++a) {
            double wj = o->row_weights[r] * j[a];
            for (size_t b = 0; b <= a; ++b) {
                H[a * n + b] += wj * j[b];
            }
        }
    }
    for (size_t a = 0; o->row_count > 0 && a < n; ++a) {
        for (size_t b = 0; b < a; ++b) {
            H[b * n + a] = H[a * n + b];
        }
    }
}

void pz_objective_hessian(const poise_objective *o, poise_hessian kind, double *H)
{
    size_t n = (size_t)o->kin.model->nv;
    memset(H, 0, n * n * sizeof *H);
    pz_forces(o, kind);
    for_each_row(o, kind, scatter_row, H);
    add_rows(o, H);
}

poise_status poise_objective_hessian(poise_objective *objective, poise_hessian kind, double *H, poise_error *error)
{
    if (!ready(objective, kind, H, error)) {
        return POISE_ERROR_ARGUMENT;
    }
    pz_objective_hessian(objective, kind, H);
    return POISE_OK;
}

poise_status poise_objective_definiteness(poise_objective *objective, poise_hessian kind, double tolerance, double *work,
                                          poise_definiteness *definiteness, poise_error *error)
{
    if (!ready(objective, kind, work, error)) {
        return POISE_ERROR_ARGUMENT;
    }
    if (!definiteness || !(tolerance >= 0)) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "definiteness must not be NULL, and tolerance must be >= 0");
    }
    int n = objective->kin.model->nv;
    double *H = work, *w = work + (size_t)n * (size_t)n, *scratch = w + n;
    pz_objective_hessian(objective, kind, H);
    if (!pz_symmetric_eigen(n, H, w, false, scratch)) {
        return pz_error_set(error, POISE_ERROR_NUMERIC, "the eigenvalues of H did not converge");
    }
    double largest = 0.0;
    for (int i = 0; i < n; ++i) {
        largest = max2(largest, fabs(w[i]));
    }
    int positive = 0, negative = 0;
    for (int i = 0; i < n; ++i) {
        positive += w[i] > tolerance * largest;
        negative += w[i] < -tolerance * largest;
    }
    bool has_zero = positive + negative < n;
    *definiteness = positive > 0 && negative > 0 ? POISE_DEFINITE_INDEFINITE
                    : negative > 0               ? (has_zero ? POISE_DEFINITE_SEMI_NEGATIVE : POISE_DEFINITE_NEGATIVE)
                                                 : (has_zero ? POISE_DEFINITE_SEMI_POSITIVE : POISE_DEFINITE_POSITIVE);
    return POISE_OK;
}

// ---- Products ------------------------------------------------------------------------------------------------------------

// y += the rotation blocks' corrections times x
static void add_block_products(const poise_objective *o, poise_hessian kind, const double *x, double *y)
{
    const poise_model *model = o->kin.model;
    for (int s = 0; model->block_count > 0 && s < model->step_count; ++s) {
        const pz_step *step = &model->steps[s];
        int nv = pz_step_nv(step->kind), dof = model->axes[step->axis].dof;
        for (int i = 0; pz_step_is_block(step->kind) && i < nv; ++i) {
            for (int j = 0; j < nv; ++j) {
                y[dof + i] += pz_block_entry(&o->block[kind][step->block], i, j) * x[dof + j];
            }
        }
    }
}

// y = H x with H_hi = S_h . c_i:
//
//   down   V_i = V_parent + S_i x_i                 sums over the path of i
//   up     U_i = sum over strict descendants c_j x_j
//   y_i = c_i . V_i + S_i . U_i
poise_status poise_objective_multiply(poise_objective *objective, poise_hessian kind, const double *x, double *y,
                                      poise_error *error)
{
    if (!ready(objective, kind, y, error)) {
        return POISE_ERROR_ARGUMENT;
    }
    if (!x || !all_finite(x, (size_t)objective->kin.model->nv)) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "x must hold %d finite numbers", objective->kin.model->nv);
    }
    const poise_objective *o = objective;
    const poise_model *model = o->kin.model;
    const wrench *c = o->c[kind];
    for (int i = 0; i < model->nv; ++i) {
        y[i] = o->diagonal[i] * x[i];
    }
    for (int i = 0; i < model->axis_count; ++i) {
        const pz_axis *axis = &model->axes[i];
        spatial above = axis->parent < 0 ? (spatial){{0, 0, 0}, {0, 0, 0}} : o->V[axis->parent];
        o->V[i] = spatial_mad(above, axis->factor * x[axis->dof], o->kin.S[i]);
        o->U[i] = (wrench){{0, 0, 0}, {0, 0, 0}};
    }
    for (int i = model->axis_count - 1; i >= 0; --i) {
        const pz_axis *axis = &model->axes[i];
        y[axis->dof] += axis->factor * (spatial_dot(o->V[i], c[i]) + spatial_dot(o->kin.S[i], o->U[i]));
        if (axis->parent >= 0) {
            o->U[axis->parent] = wrench_add(o->U[axis->parent], wrench_mad(o->U[i], axis->factor * x[axis->dof], c[i]));
        }
    }
    add_block_products(o, kind, x, y);
    for (int r = 0; r < o->row_count; ++r) {
        const double *j = o->rows + (size_t)r * (size_t)model->nv;
        double dot = 0.0;
        for (int i = 0; i < model->nv; ++i) {
            dot += j[i] * x[i];
        }
        for (int i = 0; i < model->nv; ++i) {
            y[i] += o->row_weights[r] * dot * j[i];
        }
    }
    return POISE_OK;
}

// Where followers count, axes of one dof on one path add their mutual entries too, so the diagonal comes from the rows.
static void add_diagonal_row(void *user, const poise_objective *o, int axis, const double *entries)
{
    const poise_model *model = o->kin.model;
    double *diagonal = (double *)user;
    const pz_axis *i = &model->axes[axis];
    diagonal[i->dof] += i->factor * i->factor * entries[i->depth - 1];
    for (int d = 0; d < i->depth - 1; ++d) {
        const pz_axis *h = &model->axes[o->path[d]];
        if (h->dof == i->dof) {
            diagonal[i->dof] += 2.0 * h->factor * i->factor * entries[d];
        }
    }
}

static void tree_diagonal(const poise_objective *o, poise_hessian kind, double *diagonal)
{
    const poise_model *model = o->kin.model;
    for (int s = 0; s < model->step_count; ++s) {
        const pz_step *step = &model->steps[s];
        for (int n = 0; step->own && n < pz_step_nv(step->kind); ++n) {
            int i = step->axis + n, dof = model->axes[i].dof;
            double block = pz_step_is_block(step->kind) ? pz_block_entry(&o->block[kind][step->block], n, n) : 0.0;
            diagonal[dof] = spatial_dot(o->kin.S[i], o->c[kind][i]) + block + o->diagonal[dof];
        }
    }
}

poise_status pz_objective_diagonal(const poise_objective *objective, poise_hessian kind, double *diagonal)
{
    if (!ready(objective, kind, diagonal, NULL)) {
        return POISE_ERROR_ARGUMENT;
    }
    const poise_objective *o = objective;
    size_t n = (size_t)o->kin.model->nv;
    if (o->moves_followers) {
        memset(diagonal, 0, n * sizeof *diagonal);
        for_each_row(o, kind, add_diagonal_row, diagonal);
    } else {
        tree_diagonal(o, kind, diagonal);
    }
    for (int r = 0; r < o->row_count; ++r) {
        const double *j = o->rows + (size_t)r * n;
        for (size_t i = 0; i < n; ++i) {
            diagonal[i] += o->row_weights[r] * j[i] * j[i];
        }
    }
    return POISE_OK;
}

// ---- The packed form -----------------------------------------------------------------------------------------------------

poise_packed_row poise_model_packed_row(const poise_model *model, int dof)
{
    if (!model || model->has_mimic || dof < 0 || dof > model->nv) {
        return (poise_packed_row){.parent = POISE_WORLD};
    }
    if (dof == model->nv) {
        return (poise_packed_row){.begin = model->packed_row[model->axis_count], .parent = POISE_WORLD};
    }
    const pz_axis *axis = &model->axes[dof];
    return (poise_packed_row){model->packed_row[dof], axis->depth, axis->parent};
}

// ---- The factor ----------------------------------------------------------------------------------------------------------

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

// ---- The diagonal of H^-1 ------------------------------------------------------------------------------------------------
//
// With H = L^T D L as above, from L Z = D^-1 L^-T for Z = H^-1, the entries of Z at the places of H follow from the
// root on (K. Takahashi, J. Fagan, M. Chin 1973):
//
//   Z_ij = -sum_k l_ik Z_kj        j above i        Z_ii = 1/d_i - sum_k l_ik Z_ik        k over all above i
//
// since of two that are above i one is above the other. O(sum of squared depths).

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

// ---- The band ------------------------------------------------------------------------------------------------------------

static void add_in_band(const pz_band *band, int i, int j, double value)
{
    int low = i < j ? i : j, high = i < j ? j : i;
    if (high - low <= band->half) {
        band_row(band, high)[low] += value;
    }
}

// Entries of axis i with itself and the axes h above it, H_hi = S_h . c_i (objective.c). Numbers of axes fall along the
// path, so that it can be left where the band ends; not with mimics, whose axes belong to dofs elsewhere.
static void add_axis_to_band(const poise_objective *o, poise_hessian kind, int i, pz_band *band)
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
        add_in_band(band, axis->dof, above->dof, h != i && above->dof == axis->dof ? 2.0 * value : value);
    }
}

// Rotation blocks.
static void add_block_to_band(const poise_objective *o, poise_hessian kind, const pz_step *step, pz_band *band)
{
    int dof = o->kin.model->axes[step->axis].dof;
    for (int i = 0; i < pz_step_nv(step->kind); ++i) {
        for (int j = 0; j <= i; ++j) {
            add_in_band(band, dof + i, dof + j, pz_block_entry(&o->block[kind][step->block], i, j));
        }
    }
}

// w j j^T of goals that tie bodies together.
static void add_row_to_band(const poise_objective *o, int r, pz_band *band)
{
    const double *j = o->rows + (size_t)r * (size_t)band->n;
    for (int a = 0; a < band->n; ++a) {
        for (int b = band_first(band, a); b <= a; ++b) {
            band_row(band, a)[b] += o->row_weights[r] * j[a] * j[b];
        }
    }
}

void pz_objective_band(const poise_objective *o, poise_hessian kind, pz_band *band)
{
    const poise_model *model = o->kin.model;
    pz_forces(o, kind);
    memset(band->rows, 0, (size_t)band->n * (size_t)(band->half + 1) * sizeof *band->rows);
    for (int i = 0; i < model->axis_count; ++i) {
        add_axis_to_band(o, kind, i, band);
    }
    for (int i = 0; i < model->nv; ++i) {
        band_row(band, i)[i] += o->diagonal[i];
    }
    for (int s = 0; s < model->step_count; ++s) {
        if (pz_step_is_block(model->steps[s].kind)) {
            add_block_to_band(o, kind, &model->steps[s], band);
        }
    }
    for (int r = 0; r < o->row_count; ++r) {
        add_row_to_band(o, r, band);
    }
}
