// The state of a problem under way, as a pass over the body reads and writes it (body_layout).
#ifndef POISE_CUDA_BODY_STATE_H
#define POISE_CUDA_BODY_STATE_H

#include "body_numbers.h"
#include "body_task.h"
#include "body_team.h"

#include "model/model.h"

// On the device the state of a team is in shared memory, and that of threads alone in global memory, numbers of a warp's
// threads side by side.
#if !defined(__CUDACC__)
#define BODY_STRIDE   1
#define BODY_KNOWN(m) ((void)(m))
#elif defined(BODY_TEAM)
#define BODY_STRIDE   1
#define BODY_KNOWN(m) __builtin_assume(__isShared(m))
#else
#define BODY_STRIDE   32
#define BODY_KNOWN(m) __builtin_assume(__isGlobal(m))
#endif

#define BODY_FREE    ((scalar)1e30) // body_layout.held
#define AT(m, place) (m)[(place)*BODY_STRIDE]

PZ_BOTH const scalar *body_numbers(const body_task *t)
{
#ifdef BODY_DOUBLE
    return t->numbers;
#else
    return t->single;
#endif
}

PZ_BOTH rvec body_get(const scalar *m, int place)
{
    return rv(AT(m, place), AT(m, place + 1), AT(m, place + 2));
}

PZ_BOTH void body_put(scalar *m, int place, rvec a)
{
    AT(m, place) = a.x, AT(m, place + 1) = a.y, AT(m, place + 2) = a.z;
}

PZ_BOTH rvec body_constant(const scalar *n)
{
    return rv(n[0], n[1], n[2]);
}

// The interval of dof i, of the state's own coordinates.
PZ_BOTH void body_bounds(const body_task *t, const scalar *m, int i, scalar *lower, scalar *upper)
{
    const scalar *n = body_numbers(t) + t->dof_numbers + BODY_DOF * i;
    scalar shift = t->is_afloat && i < 3 ? AT(m, t->at.base + 3 + i) : (scalar)0;
    *lower = n[0] + shift, *upper = n[1] + shift;
}

// ---- Losses --------------------------------------------------------------------------------------------------------------

// Robust losses of points, as functions of the squared error s (goal/residual.c), in one number of the tables:
//
//   0       rho = s                        rho' = 1                   rho'' = 0
//   kk > 0  s kk/(s + kk)                  (kk/(s + kk))^2            -2 rho'/(s + kk)          Geman & McClure
//   -kk     s up to kk, then 2 k sqrt(s) - kk   1, k/sqrt(s)          0, -k/(2 s sqrt(s))       Huber
//
// A step of Gauss and Newton takes rho' as a factor of the weight; the exact Hessian has 2 w rho'' r r^T beside it.
typedef struct body_loss {
    scalar rho, first, second;
} body_loss;

PZ_BOTH body_loss body_loss_at(const body_task *t, int marker, scalar s)
{
    scalar kk = body_numbers(t)[t->marker_numbers + BODY_MARKER * marker + 5];
    body_loss loss = {s, 1, 0};
    if (kk > 0) {
        scalar ratio = kk / (s + kk);
        loss.rho = s * ratio, loss.first = ratio * ratio, loss.second = -2 * loss.first / (s + kk);
    } else if (s > -kk && kk < 0) {
        scalar k = scalar_root(-kk), root = scalar_root(s);
        loss.rho = scalar_fma(2 * k, root, kk), loss.first = k / root, loss.second = (scalar)-0.5 * loss.first / s;
    }
    return loss;
}

#endif
