// The posture error of the successor: what every joint adds to it, and its derivatives.
//
//   P(q) = sum_i w_i |r_i(q)|,   sum_i w_i = 1
//
// smoothed for the search as sum_i w_i (sqrt(|r_i|^2 + eps^2) - eps), whose Gauss-Newton Hessian, with r_i linear, is
// bounded from above by that of iteratively reweighted least squares: w_i / sqrt(|r_i|^2 + eps^2) dr_i^T dr_i.
#include "express/expressive_state.h"

int pz_terms_count(const poise_model *model)
{
    int count = 0;
    for (int k = 0; k < model->step_count; ++k) {
        count += model->steps[k].own;
    }
    return count;
}

static const pz_link *link_of(const poise_expressive *e, int q, int *place)
{
    for (int k = 0; e->erik && k < e->erik->chain.count; ++k) {
        if (e->erik->chain.links[k].q == q) {
            *place = k;
            return &e->erik->chain.links[k];
        }
    }
    *place = -1;
    return NULL;
}

// The swing before link k, or -1.
static int swing_before(const pz_chain *chain, int k)
{
    do {
        k -= 1;
    } while (k >= 0 && chain->links[k].kind == PZ_LINK_TWISTER);
    return k;
}

// A joint of the chain: swings count, and in SHAPE twisters between them.
static void describe_link(const poise_expressive *e, const pz_link *link, pz_term *term)
{
    const pz_chain *chain = &e->erik->chain;
    bool is_shape = e->options.mode == POISE_EXPRESSIVE_SHAPE, is_twister = link->kind == PZ_LINK_TWISTER;
    int before = swing_before(chain, term->link);
    bool counts = is_twister && is_shape && before >= 0 && term->link < chain->count - 1;
    term->kind = !is_shape ? PZ_TERM_BEND : is_twister ? PZ_TERM_TWIST : PZ_TERM_MIRROR;
    term->weight = counts ? chain->links[before].weight : link->weight;
    term->A = link->A;
    term->B = link->B;
    term->C = link->C_sine;
    term->theta0 = link->theta0;
}

// Runs are the swings between twisters, numbered from the root.
static void number_runs(poise_expressive *e)
{
    int run = -1, before = -2;
    for (int k = 0; e->erik && k < e->erik->chain.count; ++k) {
        if (e->erik->chain.links[k].kind == PZ_LINK_TWISTER) {
            continue;
        }
        run += k != before + 1;
        before = k;
        for (int i = 0; i < e->term_count; ++i) {
            e->terms[i].run = e->terms[i].link == k ? run : e->terms[i].run;
        }
    }
    e->run_count = run + 1;
}

void pz_terms_make(poise_expressive *e)
{
    const poise_model *model = e->model;
    int swings = 0;
    double sum = 0.0;
    for (int k = 0; e->erik && k < e->erik->chain.count; ++k) {
        swings += e->erik->chain.links[k].weight > 0.0;
    }
    double usual = swings > 0 ? 1.0 / swings : 1.0; // what a swing of the chain has on average
    e->term_count = 0;
    for (int k = 0; k < model->step_count; ++k) {
        const pz_step *step = &model->steps[k];
        if (!step->own) {
            continue;
        }
        pz_term term = {.dof = model->axes[step->axis].dof, .count = pz_step_nv(step->kind), .q = step->q, .run = -1};
        const pz_link *link = link_of(e, step->q, &term.link);
        term.scale = pz_step_is_slide(step->kind) ? e->options.length_scale : PZ_PI;
        if (link) {
            e->term_of[term.link] = e->term_count;
            describe_link(e, link, &term);
        } else {
            bool is_hinge = pz_step_is_turn(step->kind) && e->options.mode == POISE_EXPRESSIVE_METRIC;
            term.kind = is_hinge ? PZ_TERM_BEND : PZ_TERM_STEP;
            term.weight = usual;
            term.B = 1.0;
        }
        sum += term.weight;
        e->has_steps = e->has_steps || term.kind == PZ_TERM_STEP;
        e->terms[e->term_count++] = term;
    }
    for (int i = 0; i < e->term_count && sum > 0.0; ++i) {
        e->terms[i].weight /= sum;
    }
    number_runs(e);
}

void pz_terms_take(poise_expressive *e, const double *posture)
{
    e->posture = posture;
    for (int i = 0; i < e->term_count; ++i) {
        pz_term *term = &e->terms[i];
        double sine, cosine, angle = posture[term->q];
        if (term->kind == PZ_TERM_BEND) {
            pz_sincos(angle, &sine, &cosine);
            term->psi = term->A + term->B * cosine + term->C * sine;
        } else {
            term->psi = angle;
        }
        term->mirrored = 2.0 * term->theta0 - angle;
    }
}

// ---- Signs ---------------------------------------------------------------------------------------------------------------

// |angle - target|, and from just before straight, theta0, on that much more steeply: a bend keeps its direction while
// another joint can pay for it. A posture that is nearly straight has no direction to keep. *slope takes the derivative's
// size.
static double bend_cost(const pz_term *term, double target, double angle, double *slope)
{
    const double steepest = 2.0, straight = 0.2, margin = 0.1; // times; radians; share of those
    double bend = target - term->theta0, at_least = margin * min2(fabs(bend), straight);
    double other_side = at_least - (bend > 0.0 ? angle - term->theta0 : term->theta0 - angle);
    double extra = steepest * min2(fabs(bend) / straight, 1.0);
    *slope = other_side > 0.0 ? 1.0 + extra : 1.0;
    return fabs(angle - target) + (other_side > 0.0 ? extra * other_side : 0.0);
}

void pz_terms_link_cost(const poise_expressive *e, int link, double angle, double cost[2])
{
    const pz_term *term = &e->terms[e->term_of[link]];
    cost[0] = cost[1] = 0.0;
    if (!(term->weight > 0.0)) {
        return;
    }
    if (term->kind == PZ_TERM_MIRROR) {
        double slope;
        cost[0] = term->weight * bend_cost(term, term->psi, angle, &slope) / term->scale;
        cost[1] = term->weight * bend_cost(term, term->mirrored, angle, &slope) / term->scale;
    } else if (term->kind == PZ_TERM_TWIST) {
        cost[0] = term->weight * fabs(angle - turn_near(term->psi, angle)) / term->scale;
        cost[1] = term->weight * fabs(angle - turn_near(term->psi + PZ_PI, angle)) / term->scale;
    } else {
        double sine, cosine;
        pz_sincos(angle, &sine, &cosine);
        cost[0] = cost[1] = term->weight * 0.5 * fabs(pz_bend(&e->erik->chain.links[link], sine, cosine) - term->psi);
    }
}

// By the least cost of each sign, link for link. A twister that counts keeps the sign or, half a turn off, changes it; one
// that does not, at the root or the end, does either. A chain without one at its root cannot bend the other way at first.
double pz_terms_least(const poise_expressive *e, int *last)
{
    const pz_chain *chain = &e->erik->chain;
    double least[2] = {0.0, chain->links[0].kind == PZ_LINK_TWISTER ? 0.0 : INFINITY};
    for (int k = 0; k < chain->count; ++k) {
        const double *cost = e->link_cost + 2 * k;
        bool is_twister = chain->links[k].kind == PZ_LINK_TWISTER;
        bool is_free = is_twister && !(e->terms[e->term_of[k]].weight > 0.0);
        double after[2];
        e->signs[k] = 0;
        for (int s = 0; s < 2; ++s) {
            double keep = least[s] + (is_twister ? is_free ? 0.0 : cost[0] : cost[s]);
            double change = is_twister ? least[1 - s] + (is_free ? 0.0 : cost[1]) : INFINITY;
            int from = change < keep ? 1 - s : s;
            after[s] = min2(keep, change);
            e->signs[k] = (unsigned char)(e->signs[k] | from << s);
        }
        least[0] = after[0];
        least[1] = after[1];
    }
    if (last) {
        *last = least[1] < least[0] ? 1 : 0;
    }
    return min2(least[0], least[1]);
}

void pz_terms_choose_signs(poise_expressive *e, const double *q)
{
    if (!e->erik || e->options.mode != POISE_EXPRESSIVE_SHAPE) {
        return;
    }
    const pz_chain *chain = &e->erik->chain;
    int sign;
    for (int k = 0; k < chain->count; ++k) {
        pz_terms_link_cost(e, k, q[chain->links[k].q], e->link_cost + 2 * k);
    }
    pz_terms_least(e, &sign);
    for (int k = chain->count - 1; k >= 0; --k) {
        pz_term *term = &e->terms[e->term_of[k]];
        int before = e->signs[k] >> sign & 1;
        if (term->kind == PZ_TERM_TWIST) {
            term->mirrored = turn_near(term->psi + (before != sign ? PZ_PI : 0.0), q[term->q]);
        } else {
            e->run_sign[term->run] = sign ? -1.0 : 1.0;
        }
        sign = before;
    }
}

// ---- Values --------------------------------------------------------------------------------------------------------------

// |r| of a term and, for one number, r and dr.
static double residual(const poise_expressive *e, const pz_term *term, const double *q, double *r, double *dr)
{
    double sine, cosine, square = 0.0;
    switch (term->kind) {
    case PZ_TERM_BEND:
        pz_sincos(q[term->q], &sine, &cosine);
        *r = 0.5 * (term->A + term->B * cosine + term->C * sine - term->psi);
        *dr = 0.5 * (term->C * cosine - term->B * sine);
        return fabs(*r);
    case PZ_TERM_TWIST:
        *r = (q[term->q] - term->mirrored) / term->scale;
        *dr = 1.0 / term->scale;
        return fabs(*r);
    case PZ_TERM_MIRROR: {
        double target = e->run_sign[term->run] < 0.0 ? term->mirrored : term->psi, slope;
        double cost = bend_cost(term, target, q[term->q], &slope) / term->scale;
        *r = q[term->q] < target ? -cost : cost;
        *dr = slope / term->scale;
        return cost;
    }
    default:
        for (int i = 0; i < term->count; ++i) {
            square += e->difference[term->dof + i] * e->difference[term->dof + i];
        }
        return sqrt(square) / term->scale;
    }
}

static void prepare(poise_expressive *e, const double *q)
{
    if (e->has_steps) {
        pz_kin_difference(e->model, e->posture, q, e->difference);
    }
}

double pz_terms_error(poise_expressive *e, const double *q)
{
    double sum = 0.0, r = 0.0, dr = 0.0;
    prepare(e, q);
    for (int i = 0; i < e->term_count; ++i) {
        const pz_term *term = &e->terms[i];
        sum += term->weight > 0.0 ? term->weight * residual(e, term, q, &r, &dr) : 0.0;
    }
    return sum;
}

// A step's own coordinates change by what retract adds to them, so d|difference|^2/2 is the difference itself: exactly for
// numbers and for rotations, whose logarithm is an eigenvector of its own Jacobian.
double pz_terms_cost(poise_expressive *e, const double *q, double eps, double factor, double *g, double *H)
{
    double sum = 0.0, r = 0.0, dr = 0.0;
    size_t stride = (size_t)e->model->nv + 1;
    prepare(e, q);
    for (int i = 0; i < e->term_count; ++i) {
        const pz_term *term = &e->terms[i];
        if (!(term->weight > 0.0)) {
            continue;
        }
        double size = residual(e, term, q, &r, &dr), root = sqrt(size * size + eps * eps);
        sum += term->weight * (root - eps);
        double mu = factor * term->weight / root;
        for (int j = 0; g && j < term->count; ++j) {
            size_t dof = (size_t)(term->dof + j);
            if (term->kind == PZ_TERM_STEP) {
                dr = 1.0 / term->scale;
                r = e->difference[dof] * dr;
            }
            g[dof] += mu * r * dr;
            H[dof * stride] += mu * dr * dr;
        }
    }
    return sum;
}
