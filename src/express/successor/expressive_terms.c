// The posture error of the successor: what every joint adds to it, and its derivatives.
//
//   P(q) = sum_i w_i |r_i(q)|,   sum_i w_i = 1
//
// smoothed for the search as sum_i w_i (sqrt(|r_i|^2 + eps^2) - eps), whose Gauss-Newton Hessian, with r_i linear, is
// bounded from above by that of iteratively reweighted least squares: w_i / sqrt(|r_i|^2 + eps^2) dr_i^T dr_i.
#include "express/successor/expressive_state.h"

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

// A joint of the chain: only swings count.
static void describe_link(const poise_expressive *e, const pz_link *link, pz_term *term)
{
    term->kind = e->options.mode == POISE_EXPRESSIVE_SHAPE ? PZ_TERM_MIRROR : PZ_TERM_BEND;
    term->weight = link->weight;
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

void pz_terms_choose_signs(poise_expressive *e, const double *q)
{
    for (int run = 0; run < e->run_count; ++run) {
        double as_is = 0.0, other = 0.0;
        for (int i = 0; i < e->term_count; ++i) {
            const pz_term *term = &e->terms[i];
            if (term->run == run && term->kind == PZ_TERM_MIRROR) {
                as_is += term->weight * fabs(q[term->q] - term->psi);
                other += term->weight * fabs(q[term->q] - term->mirrored);
            }
        }
        e->run_sign[run] = other < as_is ? -1.0 : 1.0;
    }
}

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
    case PZ_TERM_MIRROR:
        *r = (q[term->q] - (e->run_sign[term->run] < 0.0 ? term->mirrored : term->psi)) / term->scale;
        *dr = 1.0 / term->scale;
        return fabs(*r);
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
