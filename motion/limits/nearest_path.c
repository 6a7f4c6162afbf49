// An interior-point method (Wright, "Primal-dual interior-point methods", 1997) that starts at the given path. Each limit is
// a row l <= u(x) <= h, u being a difference over its limit or a coordinate, with the gradient g over three points. With
// slacks s = h - u and forces f, for each side, a step d solves
//
//   (1/S^2 + sum of g (f/s) g^T) d = -(x - y)/S^2 - sum of g (mu - f (h - u - s))/s,     s f -> mu -> 0
//
// a band matrix. Rotations turn by exp(d), and rows are relinearised at each step. What iterations leave of a violation is
// removed by slowing all of the path down: x <- c + share (x - c), or w <- share w for rotations. As the set of paths within
// limits is convex and has c, a path that stands still, in it, this is exact.
#include "motion/limits/nearest_path.h"

#include "base/arena.h"
#include "num/rotation.h"
#include "solve/classic/second_order.h"

#include <string.h>

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

static double part(vec3 v, int i)
{
    return i == 0 ? v.x : i == 1 ? v.y : v.z;
}

// ---- Rows ----------------------------------------------------------------------------------------------------------------

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
            most = max2(most, fabs(part(way, i)) / p->velocity[i]);
            most = t > 0 ? max2(most, fabs(part(way, i) - part(before, i)) / p->acceleration[i]) : most;
        }
        before = way;
    }
    return most;
}

bool pz_path_leaves(const pz_path *p)
{
    bool leaves = share_of(p) > 1.0;
    for (int t = 0; t < p->count && !p->turns; ++t) {
        for (int i = 0; i < p->dofs; ++i) {
            leaves = leaves || part(p->x[t], i) < p->lower[i] || part(p->x[t], i) > p->upper[i];
        }
        leaves = leaves || (has_ellipse(p) && ellipse_at(p, p->x[t]) > 1.0);
    }
    return leaves;
}

// gradient += by * row i of m, for point `at`: 0 before, 1 at, 2 after.
static void add_row(row *r, int at, const mat3 *m, int i, double by)
{
    r->gradient[at * PATH_DOFS] += by * part(m->x, i); // columns of m
    r->gradient[at * PATH_DOFS + 1] += by * part(m->y, i);
    r->gradient[at * PATH_DOFS + 2] += by * part(m->z, i);
}

static bool velocity_row(const search *s, int t, int i, row *r)
{
    double limit = (1.0 - HAIR) * s->path->velocity[i];
    if (t + 1 >= s->path->count || !is_finite(limit)) {
        return false;
    }
    const edge *e = &s->edges[t];
    *r = (row){.value = part(e->way, i) / limit, .lower = -1.0, .upper = 1.0};
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
    *r = (row){.value = (part(e->way, i) - part(last->way, i)) / limit, .lower = -1.0, .upper = 1.0};
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
    *r = (row){.value = part(p->x[t], i) / S, .lower = p->lower[i] / S, .upper = p->upper[i] / S};
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

// ---- Steps ---------------------------------------------------------------------------------------------------------------

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
            double off = part(s->off[t], i) / s->scale[i];
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
        s->step[u] = -weight * part(s->off[u / p->dofs], u % p->dofs);
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

// ---- What is left --------------------------------------------------------------------------------------------------------

// Into box and ellipse.
static vec3 inside(const pz_path *p, vec3 x)
{
    double size = has_ellipse(p) ? ellipse_at(p, x) * (1.0 + PZ_EPSILON) : 0.0;
    if (size > 1.0) {
        x.x /= size, x.y /= size;
    }
    double c[PATH_DOFS];
    for (int i = 0; i < PATH_DOFS; ++i) {
        c[i] = i < p->dofs ? clamp(part(x, i), p->lower[i], p->upper[i]) : part(x, i);
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

// ---- The call ------------------------------------------------------------------------------------------------------------

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
            low = min2(low, part(p->x[t], i));
            high = max2(high, part(p->x[t], i));
        }
        s->scale[i] = high > low ? 0.5 * (high - low) : 1.0;
    }
}

bool pz_path_bring_within(pz_path *p, const poise_allocator *allocator)
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
