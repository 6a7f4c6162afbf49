// The rotation that brings points nearest to others, by Davenport's matrix.
//
// With M = sum x t^T over points x and where they should be, t, a turn R leaves const - tr(R M) of sum |R x - t|^2/2. As a unit
// quaternion r = (w x y z) in the axes that M is written in,
//
//   tr(R M) = r . N r      N = [ tr M   a^T             ]      a = sum x x t, the moment
//                              [ a      M + M^T - tr M  ]
//
// (P. Davenport 1968; B. Horn, "Closed-form solution of absolute orientation using unit quaternions", 1987). The best turn is an
// eigenvector of the largest eigenvalue of N.
#include "num/dense.h"
#include "num/rotation.h"

// N above, lower triangle, over the first `count` of w x y z.
static void davenport(const mat3 *M, int count, double *N)
{
    vec3 a = v3(M->z.y - M->y.z, M->x.z - M->z.x, M->y.x - M->x.y);
    double xx = M->x.x, yy = M->y.y, zz = M->z.z;
    const double full[4][4] = {{xx + yy + zz, 0, 0, 0},
                               {a.x, xx - yy - zz, 0, 0},
                               {a.y, M->y.x + M->x.y, yy - xx - zz, 0},
                               {a.z, M->z.x + M->x.z, M->z.y + M->y.z, zz - xx - yy}};
    for (int i = 0; i < count; ++i) {
        for (int j = 0; j < count; ++j) {
            N[i * count + j] = full[i][j];
        }
    }
}

bool pz_best_quat(const mat3 *M, int count, quat *r)
{
    double N[16], value[4], work[4];
    davenport(M, count, N);
    if (!all_finite(N, (size_t)(count * count)) || !pz_symmetric_eigen(count, N, value, true, work)) {
        return false;
    }
    const double *top = N + (count - 1) * count;
    *r = quat_normalize((quat){top[1], top[2], count > 3 ? top[3] : 0.0, top[0]});
    return true;
}
