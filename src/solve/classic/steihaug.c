// Truncated conjugate gradients in a ball.
//
//   minimise m(s) = g . s + s . M s/2 over |s| <= radius
//
// Conjugate gradients on M s = -g from s = 0, with the preconditioner P = L L^T. Where the path leaves the ball, or
// meets a direction of negative curvature, it is followed to the boundary and ends there (P. Toint, "Towards an
// efficient sparsity exploiting Newton method for minimization", 1981; T. Steihaug, "The conjugate gradient method and
// trust regions in large scale optimization", 1983; Nocedal & Wright 2006, algorithm 7.2). The ball is that of the
// Euclidean norm, not of P's, in which alone the lengths of the iterates are sure to grow; the cost of the model falls
// at every step all the same.
#include "solve/classic/second_order.h"

#include "solve/classic/line_search.h"

#include <string.h>

// The tau >= 0 with |s + tau p| = radius: with b = s . p, c = radius^2 - s . s >= 0, a = p . p,
//
//   tau = (-b + sqrt(b^2 + a c)) / a = c / (b + sqrt(b^2 + a c))
//
// the second form where b > 0 would cancel.
double pz_to_boundary(const double *s, const double *p, double radius, int n)
{
    double a = pz_dot(p, p, n), b = pz_dot(s, p, n), c = max2(radius * radius - pz_dot(s, s, n), 0.0);
    double root = sqrt(b * b + a * c);
    if (!(root > 0)) {
        return 0.0;
    }
    return b > 0 ? c / (b + root) : (root - b) / a;
}

static void add_to(double *s, double tau, const double *p, int n)
{
    for (int i = 0; i < n; ++i) {
        s[i] += tau * p[i];
    }
}

// z = P^-1 r
static void precondition(const pz_quadratic *m, const double *r, double *z)
{
    memcpy(z, r, (size_t)m->n * sizeof *z);
    if (m->factor) {
        pz_band_solve(m->factor, z);
    }
}

// Would the step of length alpha leave the ball?
static bool leaves(const double *s, double alpha, const double *p, double radius, int n)
{
    double square = 0.0;
    for (int i = 0; i < n; ++i) {
        double next = s[i] + alpha * p[i];
        square += next * next;
    }
    return !(square < radius * radius);
}

pz_cg_end pz_steihaug(const pz_quadratic *m, double radius, double tolerance, int most, double *work, double *s,
                      int *iterations)
{
    int n = m->n, count = 0;
    double *r = work, *z = r + n, *p = z + n, *Mp = p + n;
    pz_cg_end end = PZ_CG_BUDGET;
    memset(s, 0, (size_t)n * sizeof *s);
    memcpy(r, m->g, (size_t)n * sizeof *r);
    precondition(m, r, z);
    double rz = pz_dot(r, z, n), enough = tolerance * tolerance * rz;
    for (int i = 0; i < n; ++i) {
        p[i] = -z[i];
    }
    if (!(rz > 0)) {
        end = PZ_CG_CONVERGED;
        most = 0;
    }
    for (; count < most; ++count) {
        m->multiply(m->user, p, Mp);
        double curvature = pz_dot(p, Mp, n), alpha = rz / curvature;
        bool is_negative = !(curvature > 0);
        if (is_negative || leaves(s, alpha, p, radius, n)) {
            add_to(s, pz_to_boundary(s, p, radius, n), p, n);
            end = is_negative ? PZ_CG_NEGATIVE : PZ_CG_BOUNDARY;
            ++count;
            break;
        }
        add_to(s, alpha, p, n);
        add_to(r, alpha, Mp, n);
        precondition(m, r, z);
        double rz_next = pz_dot(r, z, n);
        if (!(rz_next > enough)) {
            end = PZ_CG_CONVERGED;
            ++count;
            break;
        }
        for (int i = 0; i < n; ++i) {
            p[i] = -z[i] + (rz_next / rz) * p[i];
        }
        rz = rz_next;
    }
    if (iterations) {
        *iterations = count;
    }
    return end;
}
