// Energies of a residual at one point, with a loss.
#include "goal/goal_kind.h"

// Huber (1964) and Geman & McClure (1985), as functions of the squared error s, k = scale:
//
//   Huber           s                     s <= k^2        rho' = 1              rho'' = 0
//                   2 k sqrt(s) - k^2     beyond          rho' = k/sqrt(s)      rho'' = -k/(2 s sqrt(s))
//   Geman-McClure   s k^2/(s + k^2)                       rho' = (k^2/(s+k^2))^2    rho'' = -2 rho'/(s + k^2)
pz_loss pz_loss_at(poise_loss kind, double scale, double s)
{
    double kk = scale * scale;
    if (kind == POISE_LOSS_HUBER && s > kk) {
        double root = sqrt(s);
        return (pz_loss){2.0 * scale * root - kk, scale / root, -0.5 * scale / (s * root)};
    }
    if (kind == POISE_LOSS_GEMAN_MCCLURE) {
        double ratio = kk / (s + kk);
        return (pz_loss){s * ratio, ratio * ratio, -2.0 * ratio * ratio / (s + kk)};
    }
    return (pz_loss){s, 1.0, 0.0};
}

double pz_row_weight(const poise_goal *goal, double s)
{
    return sqrt(goal->weight * pz_loss_at(goal->loss, goal->loss_scale, s).d1);
}

// E = w/2 rho(s), s = r . r, r = P (x - t) with P^2 = P = P^T, so P r = r:
//
//   force = w rho' r        uu = w (rho' P + 2 rho'' r r^T)       Gauss-Newton: w rho' P
void pz_residual_jet(const poise_goal *goal, const pz_residual *residual, poise_level level, pz_jet *jet)
{
    double w = goal->weight;
    vec3 r = residual->r;
    double s = v3_dot(r, r);
    pz_loss loss = pz_loss_at(goal->loss, goal->loss_scale, s);
    jet->energy = 0.5 * w * loss.rho;
    jet->force = v3_scale(r, w * loss.d1);
    if (level == POISE_LEVEL_HESSIAN) {
        jet->gauss_newton.uu = sym3_scale(residual->P, w * loss.d1);
        jet->exact.uu = sym3_add(jet->gauss_newton.uu, sym3_outer(2.0 * w * loss.d2, r));
    }
}
