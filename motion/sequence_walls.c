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
#include "motion/sequence_state.h"

#include <string.h>

#define MARGIN    1e-3 // of a limit
#define STIFFNESS 10.0 // against the curvature of the coefficient
#define HARDER    3.0  // from round to round
#define SLOW      0.3  // a round that leaves more of the violation makes the walls harder
#define ENOUGH    1.01 // of a limit: the last step (limits/sequence_within.c) moves what is left by little
#define ROUNDS    20

// One kind of wall: differences of the coefficients from `low` to `high` beside j, with these factors.
typedef struct kind {
    int low, high;
    float factor[3]; // of j + low ..
} kind;

static const kind kinds[SEQUENCE_WALLS] = {{0, 1, {-1.0f, 1.0f, 0.0f}}, {-1, 1, {1.0f, -2.0f, 1.0f}}};

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
