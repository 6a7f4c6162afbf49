// Answers whose goals leave coordinates open, or nearly: an arm with more joints than its pose needs, a hand that is placed
// by a whole body, a singular configuration. H = A^T A has a null space then, or nearly, with A the residual rows of goals
// that are met, or else a Cholesky factor of H that takes the largest pivot first. Gram and Schmidt with the largest row
// first tell the rank k:
//
//   A = R^T Q^T (k orthonormal rows Q^T),   R = C P^T (k orthonormal rows P^T),   H = Q C C^T Q^T
//
// so that the least solution of H x = b is x = Q C^-T C^-1 Q^T b. Rows have the condition of J, and H its square.
//
// **There is no derivative** where k is not the same all around the answer: at a singular configuration of goals that are
// met (the answer leaves it with the root of a change), told by the rank at a configuration nearby; and where goals that
// are not met pull along the null space, told by d2f/dq dp along a vector of it.
#include "solve/sensitivity.h"

#include "base/error.h"

#include <string.h>

#define NO_ROW   1e-9  // of a row's length: what is left of one that the others contain
#define NO_PIVOT 1e-13 // of H_ii: a pivot that has vanished
#define UNSEEN   1e-18 // of the largest H_ii: no goal sees the coordinate; one on an axis is moved by its rounding alone
#define NEGATIVE 1e-9  // of H_ii: pivots below less that are not rounding
#define CLEAR    1e-4  // of H_ii: pivots by which the distance to the true answer is measured
#define BESIDE   1e-3  // radians or lengths to the configuration nearby
#define PULLED   1e-5  // of d2f/dq dp: along the null space, more than rounding

void pz_open_lay_out(pz_open_factor *open, size_t nv, pz_arena *arena)
{
    open->order = (int *)pz_arena_take(arena, nv, sizeof(int));
    open->share = (double *)pz_arena_take(arena, nv, sizeof(double));
    open->basis = (double *)pz_arena_take(arena, nv, nv * sizeof(double));
    open->R = (double *)pz_arena_take(arena, nv, nv * sizeof(double));
    open->dense = (double *)pz_arena_take(arena, nv, nv * sizeof(double));
}

static double dot(const double *a, const double *b, int n)
{
    double sum = 0.0;
    for (int i = 0; i < n; ++i) {
        sum += a[i] * b[i];
    }
    return sum;
}

static double *row_of(const poise_sensitivity *s, double *matrix, int i)
{
    return matrix + (size_t)i * (size_t)s->rows.nv;
}

// A number in [-1, 1) that has nothing to do with the model.
static double any(int i)
{
    double x = 0.6180339887498949 * (i + 1);
    return 2.0 * (x - (double)(int)x) - 1.0;
}

// Coordinates that some goal sees and no limit holds, into open.order; returns how many.
static int list_free(poise_sensitivity *s)
{
    int count = 0;
    double largest = 0.0;
    for (int i = 0; i < s->rows.nv; ++i) {
        largest = max2(largest, pz_limit_holds(s, i) ? 0.0 : s->diagonal[i]);
    }
    for (int i = 0; i < s->rows.nv; ++i) {
        if (!pz_limit_holds(s, i) && s->diagonal[i] > UNSEEN * largest) {
            s->open.order[count++] = i;
        }
    }
    return count;
}

// ---- A by the goals' rows ------------------------------------------------------------------------------------------------

// Can the goals be told by nv rows, or fewer?
static bool has_rows(const poise_sensitivity *s)
{
    int count = 0;
    bool has = s->is_met;
    for (int g = 0; g < s->objective.goal_count && has; ++g) {
        const poise_goal *goal = &s->objective.goals[g];
        const pz_goal_row *kind = pz_goal_row_of(goal->kind);
        count += kind->rows ? kind->rows(&s->objective.kin, goal, NULL, NULL) : s->rows.nv + 1;
        has = count <= s->rows.nv;
    }
    return has;
}

// The goals' rows into open.dense. Returns how many.
static int take_rows(poise_sensitivity *s)
{
    int count = 0;
    for (int g = 0; g < s->objective.goal_count; ++g) {
        const poise_goal *goal = &s->objective.goals[g];
        count += pz_goal_row_of(goal->kind)->rows(&s->objective.kin, goal, s->r, row_of(s, s->open.dense, count));
    }
    for (int n = 0; n < count; ++n) {
        for (int i = 0; i < s->rows.nv; ++i) {
            double *number = row_of(s, s->open.dense, n) + i;
            *number = pz_limit_holds(s, i) ? 0.0 : *number;
        }
    }
    return count;
}

// ---- A by a factor of H --------------------------------------------------------------------------------------------------

// Row i of the packed H in the columns of all that may move.
static void spread(poise_sensitivity *s, double *dense)
{
    memset(dense, 0, (size_t)s->rows.nv * (size_t)s->rows.nv * sizeof *dense);
    for (int i = 0; i < s->rows.nv; ++i) {
        poise_packed_row row = pz_packed_row(&s->rows, i);
        int above = i;
        for (int a = row.count - 1; a >= 0; --a) {
            row_of(s, dense, i)[above] = row_of(s, dense, above)[i] = s->H[row.begin + (size_t)a];
            above = pz_packed_row(&s->rows, above).parent;
        }
    }
}

// The place of the next pivot: the largest, of its H_ii, into *share.
static int next_pivot(const poise_sensitivity *s, int from, int count, double *share)
{
    int best = from;
    *share = -INFINITY;
    for (int n = from; n < count; ++n) {
        int i = s->open.order[n];
        double part = row_of(s, s->open.R, i)[i] / s->diagonal[i];
        if (part > *share) {
            *share = part;
            best = n;
        }
    }
    return best;
}

// H = A^T A by pivots, rows of A into open.dense; what is left of H is in open.R. Returns how many.
static int take_factor(poise_sensitivity *s, int count)
{
    pz_open_factor *open = &s->open;
    spread(s, open->R);
    for (int k = 0; k < count; ++k) {
        int best = next_pivot(s, k, count, &open->share[k]), pivot = open->order[best];
        if (!(open->share[k] > NO_PIVOT)) {
            return k;
        }
        open->order[best] = open->order[k];
        open->order[k] = pivot;
        double *row = row_of(s, open->dense, k), *left = row_of(s, open->R, pivot), root = sqrt(left[pivot]);
        memset(row, 0, (size_t)s->rows.nv * sizeof *row);
        for (int n = k; n < count; ++n) {
            row[open->order[n]] = left[open->order[n]] / root;
        }
        for (int n = k + 1; n < count; ++n) {
            int i = open->order[n];
            for (int m = k + 1; m < count; ++m) {
                row_of(s, open->R, i)[open->order[m]] -= row[i] * row[open->order[m]];
            }
        }
    }
    return count;
}

// Is the diagonal negative somewhere, or what is left behind the last pivot, by more than `slack`? Pairs count: [0 1; 1 0]
// falls, too.
static bool falls(const poise_sensitivity *s, int rank, int count, double slack)
{
    bool is = false;
    double largest = 0.0;
    for (int i = 0; i < s->rows.nv; ++i) {
        largest = max2(largest, fabs(s->diagonal[i]));
    }
    for (int i = 0; i < s->rows.nv; ++i) {
        is = is || s->diagonal[i] < -slack * largest;
    }
    for (int n = rank; n < count; ++n) {
        int i = s->open.order[n];
        is = is || row_of(s, s->open.R, i)[i] < -slack * s->diagonal[i];
        for (int m = rank; m < n; ++m) {
            int j = s->open.order[m];
            is = is || fabs(row_of(s, s->open.R, i)[j]) > slack * sqrt(s->diagonal[i] * s->diagonal[j]);
        }
    }
    return is;
}

// ---- The factor of A -----------------------------------------------------------------------------------------------------

// Take the rows [0, count) of `basis` out of x, and add the parts to parts[stride n] unless NULL.
static void take_out(const poise_sensitivity *s, double *basis, int count, double *x, double *parts)
{
    for (int n = 0; n < count; ++n) {
        const double *row = row_of(s, basis, n);
        double part = dot(row, x, s->rows.nv);
        for (int i = 0; i < s->rows.nv; ++i) {
            x[i] -= part * row[i];
        }
        if (parts) {
            parts[n] += part;
        }
    }
}

// Rows of `from`, count of them, become orthonormal rows of `basis`, the longest of what it was first; what row n has of
// basis vector k comes to parts[n][k]. Returns the rank.
static int orthonormal(poise_sensitivity *s, double *from, int count, double *basis, double *parts)
{
    int nv = s->rows.nv, rank = 0;
    memset(parts, 0, (size_t)nv * (size_t)nv * sizeof *parts);
    for (int n = 0; n < count; ++n) {
        s->y[n] = sqrt(dot(row_of(s, from, n), row_of(s, from, n), nv)); // what it was; 0: done with
    }
    while (rank < count) {
        int best = -1;
        double most = NO_ROW, length = 0.0;
        for (int n = 0; n < count; ++n) {
            double *row = row_of(s, from, n), left = s->y[n] > 0 ? sqrt(dot(row, row, nv)) : 0.0;
            if (left > most * s->y[n]) {
                most = left / s->y[n];
                length = left;
                best = n;
            }
        }
        if (best < 0) {
            break;
        }
        double *vector = row_of(s, basis, rank), *row = row_of(s, from, best);
        for (int i = 0; i < nv; ++i) {
            vector[i] = row[i] / length;
        }
        take_out(s, basis, rank, vector, NULL); // once more, for what rounding left
        double again = sqrt(dot(vector, vector, nv));
        for (int i = 0; i < nv; ++i) {
            vector[i] /= again;
        }
        ++rank;
        for (int n = 0; n < count; ++n) { // those that are done with have nothing left of it
            double *other = row_of(s, from, n), part = s->y[n] > 0 ? dot(vector, other, nv) : 0.0;
            row_of(s, parts, n)[rank - 1] = part;
            for (int i = 0; i < nv && part != 0; ++i) {
                other[i] -= part * vector[i];
            }
        }
        s->y[best] = 0.0;
    }
    return rank;
}

// A in open.dense, `count` rows, as R^T Q^T, then R as C P^T: Q^T into open.basis, C into open.R.
static void factor(poise_sensitivity *s, int count)
{
    pz_open_factor *open = &s->open;
    int nv = s->rows.nv;
    open->rank = orthonormal(s, open->dense, count, open->basis, open->R);
    for (int k = 0; k < open->rank; ++k) { // R, k rows of `count` numbers
        double *row = row_of(s, open->dense, k);
        memset(row, 0, (size_t)nv * sizeof *row);
        for (int n = 0; n < count; ++n) {
            row[n] = row_of(s, open->R, n)[k];
        }
    }
    memset(open->R, 0, (size_t)nv * (size_t)nv * sizeof *open->R);
    for (int k = 0; k < open->rank; ++k) {
        double *row = row_of(s, open->dense, k), *c = row_of(s, open->R, k);
        take_out(s, open->dense, k, row, c);
        take_out(s, open->dense, k, row, c);
        c[k] = sqrt(dot(row, row, nv));
        for (int n = 0; n < nv; ++n) {
            row[n] /= c[k];
        }
    }
}

void pz_open_solve(poise_sensitivity *s, double *x)
{
    pz_open_factor *open = &s->open;
    double *y = s->y;
    for (int k = 0; k < open->rank; ++k) {
        y[k] = dot(row_of(s, open->basis, k), x, s->rows.nv);
    }
    for (int k = 0; k < open->rank; ++k) {
        const double *c = row_of(s, open->R, k);
        y[k] = (y[k] - dot(c, y, k)) / c[k];
    }
    for (int k = open->rank - 1; k >= 0; --k) {
        for (int n = k + 1; n < open->rank; ++n) {
            y[k] -= row_of(s, open->R, n)[k] * y[n];
        }
        y[k] /= row_of(s, open->R, k)[k];
    }
    memset(x, 0, (size_t)s->rows.nv * sizeof *x);
    for (int k = 0; k < open->rank; ++k) {
        const double *row = row_of(s, open->basis, k);
        for (int i = 0; i < s->rows.nv; ++i) {
            x[i] += y[k] * row[i];
        }
    }
}

// ---- Is there a derivative? ----------------------------------------------------------------------------------------------

// How far q is from the true answer: a Newton step along what is well determined, which is left in s->x.
static double distance(poise_sensitivity *s, int count)
{
    int clear = 0;
    while (clear < count && s->open.share[clear] > CLEAR) {
        ++clear;
    }
    factor(s, clear);
    memcpy(s->x, s->objective.gradient, (size_t)s->rows.nv * sizeof *s->x);
    pz_open_solve(s, s->x);
    return sqrt(dot(s->x, s->x, s->rows.nv));
}

// The largest derivative of a goal's pull along the step s->x by one of its own numbers.
static double pull_along(poise_sensitivity *s, const poise_goal *goal)
{
    poise_goal_change g = {.posture = s->y};
    memset(s->y, 0, (size_t)s->rows.nv * sizeof *s->y);
    pz_goal_backward(s, goal, &g);
    const double all[] = {g.translation.x, g.translation.y, g.translation.z, g.rotation.x,
                          g.rotation.y,    g.rotation.z,    g.weight,        g.rotation_weight};
    double most = sqrt(dot(s->y, s->y, s->rows.nv));
    for (size_t i = 0; i < sizeof all / sizeof *all; ++i) {
        most = max2(most, fabs(all[i]));
    }
    return most;
}

// Does a change of some goal pull along the null space?
static bool is_pulled(poise_sensitivity *s, int free_count, double slack)
{
    bool is = false;
    for (int g = 0; g < s->objective.goal_count && !is; ++g) {
        memset(s->x, 0, (size_t)s->rows.nv * sizeof *s->x);
        for (int n = 0; n < free_count; ++n) {
            s->x[s->open.order[n]] = any(n);
        }
        pz_move_bodies(s, s->x);
        double freely = pull_along(s, &s->objective.goals[g]);
        take_out(s, s->open.basis, s->open.rank, s->x, NULL);
        take_out(s, s->open.basis, s->open.rank, s->x, NULL);
        pz_move_bodies(s, s->x);
        is = pull_along(s, &s->objective.goals[g]) > max2(PULLED, slack) * freely;
    }
    return is;
}

// The rank of A near q; 0 where it cannot be computed.
static int rank_beside(poise_sensitivity *s, const double *q, pz_fill *fill)
{
    for (int i = 0; i < s->rows.nv; ++i) {
        s->x[i] = pz_limit_holds(s, i) ? 0.0 : BESIDE * any(i);
    }
    pz_kin_retract(s->model, q, s->x, s->q);
    if (pz_objective_evaluate(&s->objective, s->q, POISE_LEVEL_HESSIAN) != POISE_OK || fill(s, NULL) != POISE_OK) {
        return 0;
    }
    int free_count = list_free(s);
    factor(s, has_rows(s) ? take_rows(s) : take_factor(s, free_count));
    return s->open.rank;
}

static poise_status no_derivative(poise_error *error, const char *why)
{
    return pz_error_set(error, POISE_ERROR_NUMERIC, "the answer has no derivative: %s", why);
}

// Goals that are met.
static poise_status factor_met(poise_sensitivity *s, int free_count, int rank_nearby, poise_error *error)
{
    factor(s, has_rows(s) ? take_rows(s) : take_factor(s, free_count));
    return rank_nearby > s->open.rank ? no_derivative(error, "q is a singular configuration") : POISE_OK;
}

// Goals that are not.
static poise_status factor_missed(poise_sensitivity *s, int free_count, poise_error *error)
{
    int count = take_factor(s, free_count);
    bool is_falling = falls(s, count, free_count, NEGATIVE), is_clearly = falls(s, count, free_count, CLEAR);
    double slack = PZ_CHANGE * distance(s, count);
    if (is_clearly || (is_falling && slack < NEGATIVE)) {
        return pz_error_set(error, POISE_ERROR_NUMERIC,
                            "q is not a minimum of these goals: the cost falls along a direction of negative curvature");
    }
    poise_status status = pz_check_minimum(s, error); // before what is less well determined is taken for open
    if (status != POISE_OK) {
        return status;
    }
    take_factor(s, list_free(s));
    while (count > 0 && s->open.share[count - 1] < slack) {
        --count;
    }
    factor(s, count);
    return s->open.rank < free_count && is_pulled(s, free_count, slack)
               ? no_derivative(error,
                               "goals pull along directions in which the cost has no curvature; add a posture of small "
                               "weight, or solve with a smaller gradient_tolerance")
               : POISE_OK;
}

poise_status pz_open_factorise(poise_sensitivity *s, const double *q, pz_fill *fill, poise_error *error)
{
    int rank_nearby = s->is_met ? rank_beside(s, q, fill) : 0;
    poise_status status = pz_objective_evaluate(&s->objective, q, POISE_LEVEL_HESSIAN);
    if (status == POISE_OK) {
        status = fill(s, error);
    }
    if (status != POISE_OK) {
        return status;
    }
    int free_count = list_free(s);
    status = s->is_met ? factor_met(s, free_count, rank_nearby, error) : factor_missed(s, free_count, error);
    s->open.null_count = free_count - s->open.rank;
    return status;
}
