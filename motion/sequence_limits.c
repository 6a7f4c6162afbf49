// Limits of velocity and acceleration of a whole clip, which are held twice: as walls while it is solved, as well as the solver
// converges; and, after that, by the nearest path within, which holds them always but knows nothing of goals.
#include "motion/sequence.h"

#include "base/arena.h"
#include "base/error.h"
#include "motion/pieces.h"
#include "num/dense.h"
#include "num/rotation.h"
#include "num/vector.h"

#include <poise/model.h>

#include <string.h>

// ---- Walls ---------------------------------------------------------------------------------------------------------------

// Limits of velocity and acceleration of a whole clip, as limits of differences of its coefficients.
//
// The derivatives of a spline lie between those of its coefficients: with knots every k frames,
//
//   |c_(j+1) - c_j| <= k v     =>  |q'| <= v at all times         |c_(j+1) - 2 c_j + c_(j-1)| <= k^2 a  =>  |q''| <= a
//
// v and a by frame. Both are the same kind of wall, |d| <= L for a difference d, and are held by an augmented Lagrangian
// (Nocedal & Wright 2006, section 17.3): with the multiplier l and the stiffness rho a wall costs
//
//   rho/2 dist(d + l/rho, [-L, L])^2,     afterwards l <- rho (d + l/rho - nearest in [-L, L])
//
// L is a hair less than the limit, so that what is left of the violation stays inside it.

#define MARGIN    1e-3 // of a limit
#define STIFFNESS 10.0 // against the curvature of the coefficient
#define HARDER    3.0  // from round to round
#define SLOW      0.3  // a round that leaves more of the violation makes the walls harder
#define ENOUGH    1.01 // of a limit: the last step moves what is left by little
#define ROUNDS    20

// One kind of wall: differences of the coefficients from `low` to `high` beside j, with these factors.
typedef struct wall_kind {
    int low, high;
    float factor[3]; // of j + low ..
} wall_kind;

static const wall_kind kinds[SEQUENCE_WALLS] = {{0, 1, {-1.0f, 1.0f, 0.0f}}, {-1, 1, {1.0f, -2.0f, 1.0f}}};

void pz_sequence_walls_lay_out(pz_sequence *s, pz_arena *arena)
{
    size_t room = s->options.velocity || s->options.acceleration ? (size_t)s->nv * (size_t)s->knot_room : 0;
    for (int k = 0; k < SEQUENCE_WALLS; ++k) {
        s->multiplier[k] = pz_arena_take(arena, room, sizeof(double));
        s->pressed[k] = pz_arena_take(arena, room, sizeof(float));
    }
    s->stiffness = pz_arena_take(arena, room > 0 ? (size_t)s->nv : 0, sizeof(double));
}

bool pz_sequence_has_walls(const pz_sequence *s)
{
    return s->options.velocity || s->options.acceleration;
}

// L of a dof; infinite where there is no wall.
static double limit_of(const pz_sequence *s, int k, int dof)
{
    const double *given = k == 0 ? s->options.velocity : s->options.acceleration;
    double step = s->options.knot * s->frame_time;
    return given && s->coordinate[dof] >= 0 ? given[dof] * (k == 0 ? step : step * step) : INFINITY;
}

static double difference(const pz_sequence *s, int k, int dof, int knot)
{
    double d = 0.0;
    for (int n = kinds[k].low; n <= kinds[k].high; ++n) {
        d += (double)kinds[k].factor[n - kinds[k].low] * s->coefficient[(size_t)(knot + n) * (size_t)s->nv + (size_t)dof];
    }
    return d;
}

// Differences of the window that a free coefficient has a part in.
static int first_wall(const pz_sequence *s, int k)
{
    int first = s->settled - kinds[k].high;
    return first < -kinds[k].low ? -kinds[k].low : first;
}

double pz_sequence_walls(pz_sequence *s)
{
    double cost = 0.0;
    for (int k = 0; k < SEQUENCE_WALLS && pz_sequence_has_walls(s); ++k) {
        for (int i = 0; i < s->nv; ++i) {
            size_t row = (size_t)i * (size_t)s->knot_room;
            double limit = (1.0 - MARGIN) * limit_of(s, k, i), rho = s->stiffness[i];
            for (int j = first_wall(s, k); j + kinds[k].high < s->knot_count && limit < INFINITY; ++j) {
                double d = difference(s, k, i, s->knot + j) + s->multiplier[k][row + (size_t)j] / rho;
                double beyond = d - clamp(d, -limit, limit);
                s->pressed[k][row + (size_t)j] = beyond != 0.0 ? (float)rho : 0.0f;
                cost += 0.5 * rho * beyond * beyond;
                for (int n = kinds[k].low; n <= kinds[k].high; ++n) {
                    s->gradient[row + (size_t)(j + n)] += rho * beyond * (double)kinds[k].factor[n - kinds[k].low];
                }
            }
        }
    }
    return cost;
}

void pz_sequence_walls_multiply(const pz_sequence *s, const float *in, float *out)
{
    for (int k = 0; k < SEQUENCE_WALLS && pz_sequence_has_walls(s); ++k) {
        const float *f = kinds[k].factor;
        for (int i = 0; i < s->nv; ++i) {
            size_t row = (size_t)i * (size_t)s->knot_room;
            if (limit_of(s, k, i) == INFINITY) {
                continue;
            }
            for (int j = first_wall(s, k); j + kinds[k].high < s->knot_count; ++j) {
                const float *x = in + row + (size_t)(j + kinds[k].low);
                float *y = out + row + (size_t)(j + kinds[k].low);
                float d = s->pressed[k][row + (size_t)j] * (f[0] * x[0] + f[1] * x[1] + (k == 1 ? f[2] * x[2] : 0.0f));
                y[0] += f[0] * d;
                y[1] += f[1] * d;
                if (k == 1) {
                    y[2] += f[2] * d;
                }
            }
        }
    }
}

void pz_sequence_walls_diagonal(const pz_sequence *s, int dof, float *diagonal)
{
    for (int k = 0; k < SEQUENCE_WALLS && pz_sequence_has_walls(s); ++k) {
        const float *pressed = s->pressed[k] + (size_t)dof * (size_t)s->knot_room;
        for (int j = first_wall(s, k); j + kinds[k].high < s->knot_count && limit_of(s, k, dof) < INFINITY; ++j) {
            for (int n = kinds[k].low; n <= kinds[k].high; ++n) {
                float f = kinds[k].factor[n - kinds[k].low];
                diagonal[j + n] += pressed[j] * f * f;
            }
        }
    }
}

// The mean curvature of a dof's coefficients, by the data and by smoothness.
static void make_stiffness(pz_sequence *s)
{
    for (int i = 0; i < s->nv; ++i) {
        const float *h = s->H + (size_t)(s->row_begin[i + 1] - 1) * (size_t)s->slots;
        double sum = 0.0;
        for (int t = 0; t < s->slots; ++t) {
            sum += (double)h[t];
        }
        double own = s->weight[i] * (double)s->band[s->knot_count / 2];
        s->stiffness[i] = STIFFNESS * max2(own + sum / max2(s->count, 1) * s->options.knot, 1e-12);
    }
}

// The new multipliers, and walls that are harder by a factor; the largest share of a limit.
static double update(pz_sequence *s, double harder)
{
    double worst = 0.0;
    for (int k = 0; k < SEQUENCE_WALLS; ++k) {
        for (int i = 0; i < s->nv; ++i) {
            double limit = limit_of(s, k, i), rho = s->stiffness[i];
            for (int j = first_wall(s, k); j + kinds[k].high < s->knot_count && limit < INFINITY; ++j) {
                double *l = &s->multiplier[k][(size_t)i * (size_t)s->knot_room + (size_t)j];
                double d = difference(s, k, i, s->knot + j), to = d + *l / rho;
                *l = rho * (to - clamp(to, -(1.0 - MARGIN) * limit, (1.0 - MARGIN) * limit));
                worst = max2(worst, fabs(d) / limit);
            }
            s->stiffness[i] *= k == SEQUENCE_WALLS - 1 ? harder : 1.0;
        }
    }
    return worst;
}

bool pz_sequence_press(pz_sequence *s, bool (*descend)(pz_sequence *, bool goes_on, int *), int *iterations)
{
    size_t size = (size_t)s->nv * (size_t)s->knot_room * sizeof(double);
    for (int k = 0; k < SEQUENCE_WALLS; ++k) {
        memset(s->multiplier[k], 0, size);
        memset(s->pressed[k], 0, size / 2);
    }
    for (int i = 0; i < s->nv; ++i) {
        s->stiffness[i] = 1e-12; // no walls yet: the Hessians are not there
    }
    bool is_done = false;
    double before = INFINITY, harder = 1.0;
    for (int round = 0; round < ROUNDS && s->status == POISE_OK; ++round) {
        int own = 0;
        is_done = descend(s, round > 0, &own);
        *iterations += own;
        if (round == 0) {
            make_stiffness(s);
        }
        double worst = update(s, harder);
        if (worst <= ENOUGH && is_done) {
            return true;
        }
        harder = worst - 1.0 > SLOW * (before - 1.0) ? HARDER : 1.0;
        before = worst;
        if (round == 0) { // what was not held back by a wall has no multiplier
            for (int k = 0; k < SEQUENCE_WALLS; ++k) {
                memset(s->multiplier[k], 0, size);
            }
        }
    }
    return false;
}

// ---- The nearest path within limits --------------------------------------------------------------------------------------

// An interior-point method (Wright, "Primal-dual interior-point methods", 1997) that starts at the given path. Each limit is
// a row l <= u(x) <= h, u being a difference over its limit or a coordinate, with the gradient g over three points. With
// slacks s = h - u and forces f, for each side, a step d solves
//
//   (1/S^2 + sum of g (f/s) g^T) d = -(x - y)/S^2 - sum of g (mu - f (h - u - s))/s,     s f -> mu -> 0
//
// a band matrix. Rotations turn by exp(d), and rows are relinearised at each step. What iterations leave of a violation is
// removed by slowing all of the path down: x <- c + share (x - c), or w <- share w for rotations. As the set of paths within
// limits is convex and has c, a path that stands still, in it, this is exact.

#define PATH_DOFS 3 // at most

typedef struct pz_path {
    int count;                                 // points
    int dofs;                                  // of a point
    bool turns;                                // points are rotations, with three dofs
    vec3 *x;                                   // points; components beyond `dofs` are 0
    quat *rotation;                            // the same, if the path turns
    double velocity[PATH_DOFS];                // V, by step
    double acceleration[PATH_DOFS];            // A
    double lower[PATH_DOFS], upper[PATH_DOFS]; // of plain points
    double swing[2];                           // half axes of an ellipse for the first two components; infinite: none
} pz_path;

#define STEPS       60
#define CENTRE      0.15 // mu as a share of the mean s f
#define NEAR        0.99 // of the way to where a slack or a force vanishes
#define FIRST_MU    1e-2
#define FIRST_SLACK 0.05  // at least
#define GAP         1e-5  // of the cost: where steps end,
#define GAP_LEAST   1e-11 // by point,
#define LEFT        1e-9  // with no more than this of a limit left
#define FARTHEST    0.5   // radians in a step
#define HAIR        1e-7  // of a limit, for rounding

typedef struct side {
    double slack, force, slack_step, force_step;
} side;

// From a point to the next, and how it changes: dw = after d_(t+1) - before d_t.
typedef struct edge {
    vec3 way;
    mat3 before, after;
} edge;

// One limit at a point: of velocity, acceleration or position by dof, or the ellipse.
typedef struct row {
    double value, lower, upper;
    double gradient[3 * PATH_DOFS]; // of the points before, at and after
} row;

enum { ROWS = 3 * PATH_DOFS + 1 };

typedef struct search {
    pz_path *path;
    vec3 *given;
    quat *given_rotation;
    vec3 *off; // x - y
    edge *edges;
    side *sides; // count x ROWS x 2
    pz_band band;
    double *step;
    double scale[PATH_DOFS]; // S
    double cost;
} search;

// ---- The nearest path: rows ----------------------------------------------------------------------------------------------

static vec3 way_of(const pz_path *p, int t)
{
    return p->turns ? so3_log(quat_mul(quat_conj(p->rotation[t]), p->rotation[t + 1])) : v3_sub(p->x[t + 1], p->x[t]);
}

static bool has_ellipse(const pz_path *p)
{
    return !p->turns && p->dofs >= 2 && is_finite(p->swing[0]) && is_finite(p->swing[1]);
}

static double ellipse_at(const pz_path *p, vec3 x)
{
    double a = x.x / p->swing[0], b = x.y / p->swing[1];
    return sqrt(a * a + b * b);
}

// The largest share of a limit of velocity or acceleration.
static double share_of(const pz_path *p)
{
    double most = 0.0;
    vec3 before = v3(0, 0, 0);
    for (int t = 0; t + 1 < p->count; ++t) {
        vec3 way = way_of(p, t);
        for (int i = 0; i < p->dofs; ++i) {
            most = max2(most, fabs(v3_get(way, i)) / p->velocity[i]);
            most = t > 0 ? max2(most, fabs(v3_get(way, i) - v3_get(before, i)) / p->acceleration[i]) : most;
        }
        before = way;
    }
    return most;
}

// Does the path leave a limit?
static bool pz_path_leaves(const pz_path *p)
{
    bool leaves = share_of(p) > 1.0;
    for (int t = 0; t < p->count && !p->turns; ++t) {
        for (int i = 0; i < p->dofs; ++i) {
            leaves = leaves || v3_get(p->x[t], i) < p->lower[i] || v3_get(p->x[t], i) > p->upper[i];
        }
        leaves = leaves || (has_ellipse(p) && ellipse_at(p, p->x[t]) > 1.0);
    }
    return leaves;
}

// gradient += by * row i of m, for point `at`: 0 before, 1 at, 2 after.
static void add_row(row *r, int at, const mat3 *m, int i, double by)
{
    r->gradient[at * PATH_DOFS] += by * v3_get(m->x, i); // columns of m
    r->gradient[at * PATH_DOFS + 1] += by * v3_get(m->y, i);
    r->gradient[at * PATH_DOFS + 2] += by * v3_get(m->z, i);
}

static bool velocity_row(const search *s, int t, int i, row *r)
{
    double limit = (1.0 - HAIR) * s->path->velocity[i];
    if (t + 1 >= s->path->count || !is_finite(limit)) {
        return false;
    }
    const edge *e = &s->edges[t];
    *r = (row){.value = v3_get(e->way, i) / limit, .lower = -1.0, .upper = 1.0};
    add_row(r, 1, &e->before, i, -1.0 / limit);
    add_row(r, 2, &e->after, i, 1.0 / limit);
    return true;
}

static bool acceleration_row(const search *s, int t, int i, row *r)
{
    double limit = (1.0 - HAIR) * s->path->acceleration[i];
    if (t == 0 || t + 1 >= s->path->count || !is_finite(limit)) {
        return false;
    }
    const edge *e = &s->edges[t], *last = &s->edges[t - 1];
    *r = (row){.value = (v3_get(e->way, i) - v3_get(last->way, i)) / limit, .lower = -1.0, .upper = 1.0};
    add_row(r, 0, &last->before, i, 1.0 / limit);
    add_row(r, 1, &last->after, i, -1.0 / limit);
    add_row(r, 1, &e->before, i, -1.0 / limit);
    add_row(r, 2, &e->after, i, 1.0 / limit);
    return true;
}

static bool position_row(const search *s, int t, int i, row *r)
{
    const pz_path *p = s->path;
    if (p->turns || (!is_finite(p->lower[i]) && !is_finite(p->upper[i])) || !(p->lower[i] < p->upper[i])) {
        return false;
    }
    double S = s->scale[i];
    *r = (row){.value = v3_get(p->x[t], i) / S, .lower = p->lower[i] / S, .upper = p->upper[i] / S};
    r->gradient[PATH_DOFS + i] = 1.0 / S;
    return true;
}

static bool ellipse_row(const search *s, int t, row *r)
{
    const pz_path *p = s->path;
    if (!has_ellipse(p)) {
        return false;
    }
    double size = ellipse_at(p, p->x[t]), least_size = max2(size, 1e-3);
    *r = (row){.value = size, .lower = -INFINITY, .upper = 1.0};
    r->gradient[PATH_DOFS] = p->x[t].x / (p->swing[0] * p->swing[0] * least_size);
    r->gradient[PATH_DOFS + 1] = p->x[t].y / (p->swing[1] * p->swing[1] * least_size);
    return true;
}

// The k-th row of a point. False: there is no such limit.
static bool row_of(const search *s, int t, int k, row *r)
{
    int kind = k / PATH_DOFS, i = k % PATH_DOFS;
    if (kind < 3 && i >= s->path->dofs) {
        return false;
    }
    return kind == 0   ? velocity_row(s, t, i, r)
           : kind == 1 ? acceleration_row(s, t, i, r)
           : kind == 2 ? position_row(s, t, i, r)
                       : ellipse_row(s, t, r);
}

static side *sides_of(const search *s, int t, int k)
{
    return s->sides + ((size_t)t * ROWS + (size_t)k) * 2;
}

// How far a row is from its lower (0) or upper (1) end; infinite where there is none.
static double room_of(const row *r, int end)
{
    return end ? r->upper - r->value : r->value - r->lower;
}

// ---- The nearest path: steps ---------------------------------------------------------------------------------------------

static void linearise(search *s)
{
    const pz_path *p = s->path;
    s->cost = 0.0;
    for (int t = 0; t < p->count; ++t) {
        if (t + 1 < p->count) {
            edge *e = &s->edges[t];
            e->way = way_of(p, t);
            vec3 w = p->turns ? e->way : v3(0, 0, 0);
            e->before = so3_left_jacobian_inverse(w);
            e->after = so3_left_jacobian_inverse(v3_scale(w, -1.0));
        }
        s->off[t] =
            p->turns ? so3_log(quat_mul(quat_conj(s->given_rotation[t]), p->rotation[t])) : v3_sub(p->x[t], s->given[t]);
        for (int i = 0; i < p->dofs; ++i) {
            double off = v3_get(s->off[t], i) / s->scale[i];
            s->cost += 0.5 * off * off;
        }
    }
}

// The unknown of entry n of a row's gradient at point t; -1: none.
static int unknown_of(const search *s, int t, int n)
{
    int point = t - 1 + n / PATH_DOFS, i = n % PATH_DOFS;
    return point < 0 || point >= s->path->count || i >= s->path->dofs ? -1 : point * s->path->dofs + i;
}

// Add a row with its stiffness and force to the system.
static void add_to_system(search *s, int t, const row *r, double stiffness, double force)
{
    for (int n = 0; n < 3 * PATH_DOFS; ++n) {
        int at = unknown_of(s, t, n);
        if (at < 0 || r->gradient[n] == 0.0) {
            continue;
        }
        double *band = s->band.rows + (size_t)at * (size_t)(s->band.half + 1) + s->band.half;
        for (int m = 0; m <= n; ++m) {
            int other = unknown_of(s, t, m);
            if (other >= 0) {
                band[other - at] += stiffness * r->gradient[n] * r->gradient[m];
            }
        }
        s->step[at] -= force * r->gradient[n];
    }
}

static bool find_step(search *s, double mu)
{
    const pz_path *p = s->path;
    memset(s->band.rows, 0, (size_t)s->band.n * (size_t)(s->band.half + 1) * sizeof *s->band.rows);
    for (int u = 0; u < s->band.n; ++u) {
        double weight = 1.0 / (s->scale[u % p->dofs] * s->scale[u % p->dofs]);
        s->band.rows[(size_t)u * (size_t)(s->band.half + 1) + (size_t)s->band.half] = weight;
        s->step[u] = -weight * v3_get(s->off[u / p->dofs], u % p->dofs);
    }
    for (int t = 0; t < p->count; ++t) {
        for (int k = 0; k < ROWS; ++k) {
            row r;
            double stiffness = 0.0, force = 0.0;
            if (!row_of(s, t, k, &r)) {
                continue;
            }
            for (int end = 0; end < 2; ++end) {
                const side *at = sides_of(s, t, k) + end;
                double room = room_of(&r, end);
                if (is_finite(room)) {
                    stiffness += at->force / at->slack;
                    force += (end ? 1.0 : -1.0) * (mu - at->force * (room - at->slack)) / at->slack;
                }
            }
            if (stiffness > 0.0) {
                add_to_system(s, t, &r, stiffness, force);
            }
        }
    }
    if (!pz_band_cholesky(&s->band)) {
        return false;
    }
    pz_band_solve(&s->band, s->step);
    return all_finite(s->step, (size_t)s->band.n);
}

// Slacks and forces for the step; the share of it that keeps both positive.
static double share_of_step(search *s, double mu)
{
    double share = 1.0;
    for (int t = 0; t < s->path->count; ++t) {
        for (int k = 0; k < ROWS; ++k) {
            row r;
            if (!row_of(s, t, k, &r)) {
                continue;
            }
            double change = 0.0;
            for (int n = 0; n < 3 * PATH_DOFS; ++n) {
                int at = unknown_of(s, t, n);
                change += at >= 0 ? r.gradient[n] * s->step[at] : 0.0;
            }
            for (int end = 0; end < 2; ++end) {
                side *at = sides_of(s, t, k) + end;
                double room = room_of(&r, end);
                if (is_finite(room)) {
                    at->slack_step = room + (end ? -change : change) - at->slack;
                    at->force_step = mu / at->slack - at->force - at->force / at->slack * at->slack_step;
                    share = at->slack_step < 0.0 ? min2(share, -NEAR * at->slack / at->slack_step) : share;
                    share = at->force_step < 0.0 ? min2(share, -NEAR * at->force / at->force_step) : share;
                }
            }
        }
    }
    for (int u = 0; u < s->band.n && s->path->turns; ++u) {
        share = fabs(s->step[u]) * share > FARTHEST ? FARTHEST / fabs(s->step[u]) : share;
    }
    return share;
}

static void go(search *s, double share)
{
    pz_path *p = s->path;
    for (int t = 0; t < p->count; ++t) {
        double by[PATH_DOFS] = {0.0};
        for (int i = 0; i < p->dofs; ++i) {
            by[i] = share * s->step[t * p->dofs + i];
        }
        vec3 d = v3(by[0], by[1], by[2]);
        if (p->turns) {
            p->rotation[t] = quat_normalize(quat_mul(p->rotation[t], so3_exp_quat(d)));
        } else {
            p->x[t] = v3_add(p->x[t], d);
        }
    }
    for (size_t n = 0; n < (size_t)p->count * ROWS * 2; ++n) {
        s->sides[n].slack += share * s->sides[n].slack_step;
        s->sides[n].force += share * s->sides[n].force_step;
    }
}

// Sum of s f, how many there are, and the largest violation.
static double gap_of(const search *s, int *count, double *left)
{
    double sum = 0.0;
    *count = 0;
    *left = 0.0;
    for (int t = 0; t < s->path->count; ++t) {
        for (int k = 0; k < ROWS; ++k) {
            row r;
            if (!row_of(s, t, k, &r)) {
                continue;
            }
            for (int end = 0; end < 2; ++end) {
                const side *at = sides_of(s, t, k) + end;
                if (is_finite(room_of(&r, end))) {
                    sum += at->slack * at->force;
                    *left = max2(*left, -room_of(&r, end));
                    *count += 1;
                }
            }
        }
    }
    return sum;
}

static void begin(search *s)
{
    linearise(s);
    for (int t = 0; t < s->path->count; ++t) {
        for (int k = 0; k < ROWS; ++k) {
            row r;
            bool is_there = row_of(s, t, k, &r);
            for (int end = 0; end < 2; ++end) {
                double room = is_there ? room_of(&r, end) : 1.0, slack = max2(room, FIRST_SLACK);
                slack = is_finite(slack) ? slack : 1.0;
                *(sides_of(s, t, k) + end) = (side){.slack = slack, .force = FIRST_MU / slack};
            }
        }
    }
}

static void iterate(search *s)
{
    begin(s);
    for (int n = 0; n < STEPS; ++n) {
        int count;
        double left, gap = gap_of(s, &count, &left);
        if (count == 0 || (left < LEFT && gap < GAP * s->cost + GAP_LEAST * s->path->count)) {
            return;
        }
        double mu = CENTRE * gap / count;
        if (!find_step(s, mu)) {
            return;
        }
        go(s, share_of_step(s, mu));
        linearise(s);
    }
}

// ---- The nearest path: what is left of a violation -----------------------------------------------------------------------

// Into box and ellipse.
static vec3 inside(const pz_path *p, vec3 x)
{
    double size = has_ellipse(p) ? ellipse_at(p, x) * (1.0 + PZ_EPSILON) : 0.0;
    if (size > 1.0) {
        x.x /= size, x.y /= size;
    }
    double c[PATH_DOFS];
    for (int i = 0; i < PATH_DOFS; ++i) {
        c[i] = i < p->dofs ? clamp(v3_get(x, i), p->lower[i], p->upper[i]) : v3_get(x, i);
    }
    return v3(c[0], c[1], c[2]);
}

static void slow_plain(pz_path *p)
{
    vec3 middle = v3(0, 0, 0);
    for (int t = 0; t < p->count; ++t) {
        p->x[t] = inside(p, p->x[t]);
        middle = v3_add(middle, v3_scale(p->x[t], 1.0 / p->count));
    }
    double share = share_of(p);
    for (int t = 0; t < p->count && share > 1.0; ++t) {
        vec3 off = v3_sub(p->x[t], middle);
        p->x[t] = inside(p, v3_add(middle, v3_scale(off, (1.0 - HAIR) / share)));
    }
}

// From the middle of the path to both ends.
static void slow_turns(pz_path *p)
{
    double share = (1.0 - HAIR) / share_of(p);
    int middle = p->count / 2;
    quat before = p->rotation[middle];
    for (int t = middle; t + 1 < p->count && share < 1.0; ++t) {
        quat next = p->rotation[t + 1];
        vec3 way = so3_log(quat_mul(quat_conj(before), next));
        before = next;
        p->rotation[t + 1] = quat_normalize(quat_mul(p->rotation[t], so3_exp_quat(v3_scale(way, share))));
    }
    before = p->rotation[middle];
    for (int t = middle; t > 0 && share < 1.0; --t) {
        quat next = p->rotation[t - 1];
        vec3 way = so3_log(quat_mul(quat_conj(next), before));
        before = next;
        p->rotation[t - 1] = quat_normalize(quat_mul(p->rotation[t], so3_exp_quat(v3_scale(way, -share))));
    }
}

// ---- The nearest path: the call ------------------------------------------------------------------------------------------

static void lay_out(search *s, pz_arena *arena)
{
    size_t count = (size_t)s->path->count, unknowns = count * (size_t)s->path->dofs;
    s->given = pz_arena_take(arena, s->path->turns ? 0 : count, sizeof *s->given);
    s->given_rotation = pz_arena_take(arena, s->path->turns ? count : 0, sizeof *s->given_rotation);
    s->off = pz_arena_take(arena, count, sizeof *s->off);
    s->edges = pz_arena_take(arena, count, sizeof *s->edges);
    s->sides = pz_arena_take(arena, count * ROWS * 2, sizeof *s->sides);
    s->step = pz_arena_take(arena, unknowns, sizeof *s->step);
    s->band.n = (int)unknowns;
    s->band.half = 3 * s->path->dofs - 1;
    s->band.rows = pz_arena_take(arena, unknowns * (size_t)(s->band.half + 1), sizeof *s->band.rows);
}

// S: half of what a component ranges over.
static void measure_scale(search *s)
{
    const pz_path *p = s->path;
    for (int i = 0; i < p->dofs; ++i) {
        double low = INFINITY, high = -INFINITY;
        for (int t = 0; t < p->count && !p->turns; ++t) {
            low = min2(low, v3_get(p->x[t], i));
            high = max2(high, v3_get(p->x[t], i));
        }
        s->scale[i] = high > low ? 0.5 * (high - low) : 1.0;
    }
}

// Replace it by the nearest path within its limits. False: out of memory, and the path is as it was.
static bool pz_path_bring_within(pz_path *p, const poise_allocator *allocator)
{
    search s = {.path = p};
    pz_arena counting = pz_arena_counting();
    lay_out(&s, &counting);
    size_t size = pz_arena_bytes(&counting);
    void *memory = pz_allocate(allocator, size);
    if (!memory) {
        return false;
    }
    memset(memory, 0, size);
    pz_arena arena = pz_arena_over(memory, size);
    lay_out(&s, &arena);
    if (p->turns) {
        memcpy(s.given_rotation, p->rotation, (size_t)p->count * sizeof *p->rotation);
    } else {
        memcpy(s.given, p->x, (size_t)p->count * sizeof *p->x);
    }
    measure_scale(&s);
    iterate(&s);
    if (p->turns) {
        slow_turns(p);
    } else {
        slow_plain(p);
    }
    pz_release(allocator, memory);
    return true;
}

// ---- The clip within its limits ------------------------------------------------------------------------------------------

// The last step of a whole clip with limits of velocity or acceleration: what still leaves them is replaced by the nearest
// path within. Walls hold them as well as the solver converges; this holds them always, but knows nothing of goals.
//
// Plain coordinates are moved by their coefficients, so that limits hold between frames, too; the two numbers of a swing
// together, within their ellipse. Rotations have no coefficients and are moved frame by frame.

#define LITTLE 0.1 // of the way that a limit allows from knot to knot

// The limit of the order-th difference over `step` seconds; infinite: none.
static double limit_within(const pz_sequence *s, int order, int dof, double step)
{
    const double *given = order == 1 ? s->options.velocity : s->options.acceleration;
    return given ? given[dof] * (order == 1 ? step : step * step) : INFINITY;
}

static bool is_locked(const pz_sequence *s, int dof)
{
    return s->options.locked && s->options.locked[dof];
}

// The path of `dofs` dofs from `dof` on, without its points. False: none of them is limited, or one is locked.
static bool describe(const pz_sequence *s, int dof, int dofs, double step, pz_path *path)
{
    bool is_limited = false, is_held = false;
    path->dofs = dofs;
    path->swing[0] = path->swing[1] = INFINITY;
    for (int i = 0; i < dofs; ++i) {
        path->velocity[i] = limit_within(s, 1, dof + i, step);
        path->acceleration[i] = limit_within(s, 2, dof + i, step);
        path->lower[i] = s->lower[dof + i];
        path->upper[i] = s->upper[dof + i];
        is_limited = is_limited || is_finite(path->velocity[i]) || is_finite(path->acceleration[i]);
        is_held = is_held || is_locked(s, dof + i);
    }
    return is_limited && !is_held;
}

// The clip's report on the moves, and room for it.
typedef struct moves {
    void *points;     // of one path
    bool *is_late;    // by frame
    double most_late; // the largest move, as a share of what the limits allow from knot to knot
} moves;

// Count a move of a dof in the frames from `first` to before `end`.
static void note(pz_sequence *s, moves *m, int dof, double moved, int first, int end)
{
    double step = s->options.knot * s->frame_time;
    double way = limit_within(s, 1, dof, step), share = moved / (is_finite(way) ? way : limit_within(s, 2, dof, step));
    s->report.moved = max2(s->report.moved, moved);
    for (int t = first < 0 ? 0 : first; t < end && t < s->frames && share > LITTLE; ++t) {
        s->report.late += !m->is_late[t];
        m->is_late[t] = true;
    }
    if (share > LITTLE && share > m->most_late) {
        m->most_late = share;
        s->report.late_dof = dof;
    }
}

static bool fix(pz_sequence *s, pz_path *path)
{
    if (!pz_path_bring_within(path, s->owned.allocator.allocate ? &s->owned.allocator : NULL)) {
        s->status = pz_error_set(s->error, POISE_ERROR_MEMORY, "out of memory: limits of a clip of %d frames", s->frames);
        return false;
    }
    return true;
}

static void bring_plain(pz_sequence *s, int dof, int dofs, const double *swing, moves *m)
{
    pz_path path = {.count = s->knots, .x = m->points};
    if (!describe(s, dof, dofs, s->options.knot * s->frame_time, &path)) {
        return;
    }
    for (int i = 0; swing && i < 2; ++i) {
        path.swing[i] = swing[i];
    }
    for (int j = 0; j < s->knots; ++j) {
        const double *c = s->coefficient + (size_t)j * (size_t)s->nv + dof;
        path.x[j] = v3(c[0], dofs > 1 ? c[1] : 0.0, dofs > 2 ? c[2] : 0.0);
    }
    if (!pz_path_leaves(&path) || !fix(s, &path)) {
        return;
    }
    for (int j = 0; j < s->knots; ++j) {
        double *c = s->coefficient + (size_t)j * (size_t)s->nv + dof;
        double to[PATH_DOFS] = {path.x[j].x, path.x[j].y, path.x[j].z};
        for (int i = 0; i < dofs; ++i) {
            note(s, m, dof + i, fabs(to[i] - c[i]), (j - 1) * s->options.knot, j * s->options.knot);
            c[i] = to[i];
        }
    }
}

static void bring_rotation(pz_sequence *s, int block, moves *m)
{
    int dof = s->blocks[block].dof;
    pz_path path = {.count = s->frames, .turns = true, .rotation = m->points};
    if (!describe(s, dof, 3, s->frame_time, &path)) {
        return;
    }
    for (int t = 0; t < s->frames; ++t) {
        path.rotation[t] = pz_sequence_rotations(s, t)[block];
    }
    if (!pz_path_leaves(&path) || !fix(s, &path)) {
        return;
    }
    for (int t = 0; t < s->frames; ++t) {
        quat *at = &pz_sequence_rotations(s, t)[block];
        vec3 turn = so3_log(quat_mul(quat_conj(*at), path.rotation[t]));
        for (int i = 0; i < 3; ++i) {
            note(s, m, dof + i, v3_norm(turn), t, t + 1);
        }
        *at = path.rotation[t];
    }
}

void pz_sequence_bring_within(pz_sequence *s)
{
    if (!pz_sequence_has_walls(s) || s->status != POISE_OK) {
        return;
    }
    size_t points = (size_t)(s->frames > s->knots ? s->frames : s->knots);
    const poise_allocator *allocator = s->owned.allocator.allocate ? &s->owned.allocator : NULL;
    void *room = pz_allocate(allocator, points * (sizeof(quat) + sizeof(bool)));
    if (!room) {
        s->status = pz_error_set(s->error, POISE_ERROR_MEMORY, "out of memory: limits of a clip of %d frames", s->frames);
        return;
    }
    moves m = {.points = room, .is_late = (bool *)((quat *)room + points)};
    memset(m.is_late, 0, points * sizeof(bool));
    for (int k = 0; k < poise_model_info(s->model).joints && s->status == POISE_OK; ++k) {
        pz_piece piece[PZ_MOST_PIECES];
        int pieces = pz_pieces_of(s->model, k, piece);
        for (int p = 0; p < pieces; ++p) {
            int dof = piece[p].v;
            bool is_swing = piece[p].kind == PZ_PIECE_SWING && s->options.use_limits;
            if (is_swing) {
                bring_plain(s, dof, 2, poise_model_joint_info(s->model, k).given->swing, &m);
            }
            for (int i = 0; i < piece[p].nv && !is_swing && s->coordinate[dof] >= 0; ++i) {
                bring_plain(s, dof + i, 1, NULL, &m);
            }
        }
    }
    for (int k = 0; k < s->block_count && s->status == POISE_OK; ++k) {
        bring_rotation(s, k, &m);
    }
    pz_release(allocator, room);
    s->report.converged = s->report.converged && s->report.late == 0;
    pz_sequence_write_frames(s);
}

void pz_sequence_measure_walls(pz_sequence *s)
{
    double *before = s->bend, *way = s->edge; // scratch by now
    for (int t = 0; t + 1 < s->frames && pz_sequence_has_walls(s); ++t) {
        pz_sequence_edge(s, t, way);
        for (int i = 0; i < s->nv; ++i) {
            double velocity = fabs(way[i]) / limit_within(s, 1, i, s->frame_time);
            double acceleration = t > 0 ? fabs(way[i] - before[i]) / limit_within(s, 2, i, s->frame_time) : 0.0;
            s->report.velocity = max2(s->report.velocity, velocity);
            s->report.acceleration = max2(s->report.acceleration, acceleration);
        }
        memcpy(before, way, (size_t)s->nv * sizeof *before);
    }
}
