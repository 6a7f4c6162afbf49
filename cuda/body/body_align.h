// A free root laid onto its markers, as solve/restarts.c does it: the turn and shift that bring the points x nearest to
// their targets t, sum w |R (x - xm) + tm - t|^2 least.
//
// The quaternion of R is the top eigenvector of Davenport's 4 x 4 matrix of M = sum w (x - xm) (t - tm)^T (Horn 1987). A
// start needs no digits of it: the matrix, shifted so that all its eigenvalues are positive, is squared a few times, and any
// of its columns has turned to that eigenvector.
#ifndef POISE_CUDA_BODY_ALIGN_H
#define POISE_CUDA_BODY_ALIGN_H

#include "body_run.h"

#include "num/rotation.h"

#define ALIGN_SQUARINGS 10

typedef struct body_cloud {
    rvec x, t; // means
    rmat M;
    int count;
} body_cloud;

BODY_FN void body_gather(const body_task *t, const scalar *m, body_cloud *c)
{
    scalar weight = 0;
    c->x = c->t = rv(0, 0, 0);
    c->M.x = c->M.y = c->M.z = rv(0, 0, 0);
    c->count = 0;
    for (int i = 0; i < t->marker_count; ++i) {
        scalar w = AT(m, t->at.weight + i);
        c->count += w > 0;
        if (t->part[i] != BODY_POINT) {
            continue;
        }
        weight += w;
        c->x = rv_mad(c->x, w, body_get(m, t->at.point + 3 * i));
        c->t = rv_mad(c->t, w, body_get(m, t->at.target + 3 * i));
    }
    if (!(weight > 0)) { // directions alone do not say where
        c->count = 0;
        return;
    }
    scalar inverse = scalar_inverse(weight);
    c->x = rv_scale(c->x, inverse), c->t = rv_scale(c->t, inverse);
    for (int i = 0; i < t->marker_count; ++i) {
        rvec x = body_get(m, t->at.point + 3 * i), to = body_get(m, t->at.target + 3 * i);
        bool is_point = t->part[i] == BODY_POINT;
        rm_add_outer(&c->M, inverse * AT(m, t->at.weight + i), is_point ? rv_sub(x, c->x) : x,
                     is_point ? rv_sub(to, c->t) : to);
    }
}

// Davenport's matrix, w first; M_ab = sum x_a t_b, and M.y is the column of t_y.
BODY_FN void body_davenport(const rmat *M, scalar N[4][4])
{
    scalar xx = M->x.x, yy = M->y.y, zz = M->z.z;
    N[0][0] = xx + yy + zz;
    N[0][1] = M->z.y - M->y.z, N[0][2] = M->x.z - M->z.x, N[0][3] = M->y.x - M->x.y;
    N[1][1] = xx - yy - zz, N[2][2] = yy - xx - zz, N[3][3] = zz - xx - yy;
    N[1][2] = M->y.x + M->x.y, N[1][3] = M->z.x + M->x.z, N[2][3] = M->z.y + M->y.z;
    scalar size = 0;
    for (int i = 0; i < 4; ++i) {
        for (int j = 0; j < 4; ++j) {
            N[i][j] = i <= j ? N[i][j] : N[j][i];
            size = scalar_fma(N[i][j], N[i][j], size);
        }
    }
    size = scalar_root(size);
    for (int i = 0; i < 4; ++i) {
        N[i][i] += size;
    }
}

// N <- N^2 / trace. False where there is nothing to divide by.
PZ_BOTH bool body_square(scalar N[4][4])
{
    scalar S[4][4], trace = 0;
    for (int i = 0; i < 4; ++i) {
        trace += N[i][i];
    }
    if (!(trace > (scalar)1e-25)) {
        return false;
    }
    scalar inverse = scalar_inverse(trace);
    for (int i = 0; i < 4; ++i) {
        for (int j = i; j < 4; ++j) {
            scalar sum = 0;
            for (int k = 0; k < 4; ++k) {
                sum = scalar_fma(inverse * N[i][k], inverse * N[k][j], sum);
            }
            S[i][j] = S[j][i] = sum;
        }
    }
    memcpy(N, S, sizeof S);
    return true;
}

// The best turn as a unit quaternion x y z w. False where the markers do not say.
BODY_FN bool body_best_turn(const rmat *M, scalar turn[4])
{
    scalar N[4][4];
    body_davenport(M, N);
    for (int i = 0; i < ALIGN_SQUARINGS; ++i) {
        if (!body_square(N)) {
            return false;
        }
    }
    int column = 0;
    for (int i = 1; i < 4; ++i) {
        column = N[i][i] > N[column][column] ? i : column;
    }
    scalar square = 0;
    for (int i = 0; i < 4; ++i) {
        square = scalar_fma(N[i][column], N[i][column], square);
    }
    scalar inverse = scalar_inverse(scalar_root(square));
    turn[0] = inverse * N[1][column], turn[1] = inverse * N[2][column], turn[2] = inverse * N[3][column];
    turn[3] = inverse * N[0][column];
    return square > 0;
}

// Coordinates of a rotation of the root, in double: they need an arc tangent.
BODY_FN void body_put_rotation(const body_task *t, scalar *m, const rmat *turn)
{
    const body_joint *root = &t->joints[0];
    int q = t->at.trial + 3;
    mat3 M = {{(double)turn->x.x, (double)turn->x.y, (double)turn->x.z},
              {(double)turn->y.x, (double)turn->y.y, (double)turn->y.z},
              {(double)turn->z.x, (double)turn->z.y, (double)turn->z.z}};
    quat r = quat_from_matrix(&M);
    if (root->steps[3] == PZ_QUATERNION) {
        body_put(m, q, rv((scalar)r.x, (scalar)r.y, (scalar)r.z));
        AT(m, q + 3) = (scalar)r.w;
    } else if (root->steps[3] == PZ_EXPMAP) {
        vec3 v = so3_log(quat_normalize(r));
        body_put(m, q, rv((scalar)v.x, (scalar)v.y, (scalar)v.z));
    } else {
        double angles[3];
        M = quat_matrix(quat_normalize(r));
        euler_angles(root->steps[3], root->steps[4], root->steps[5], &M, angles);
        body_put(m, q, rv((scalar)angles[0], (scalar)angles[1], (scalar)angles[2]));
    }
}

// The root of the trial, turned by r and shifted with the mean of the markers.
BODY_FN void align_root(const body_task *t, scalar *m, const body_cloud *c, const scalar r[4])
{
    const double *n = t->numbers;
    rmat C = {rv((scalar)n[0], (scalar)n[1], (scalar)n[2]), rv((scalar)n[3], (scalar)n[4], (scalar)n[5]),
              rv((scalar)n[6], (scalar)n[7], (scalar)n[8])};
    rmat turn = quaternion_matrix(r[0], r[1], r[2], r[3]);
    body_frame root = body_load_frame(m, t->at.frame);
    rmat R = rm_mul(&turn, &root.R), M;
    rvec p = rv_add(c->t, rm_apply(&turn, rv_sub(root.p, c->x)));
    M.x = rm_apply_transposed(&C, R.x), M.y = rm_apply_transposed(&C, R.y), M.z = rm_apply_transposed(&C, R.z);
    body_put(m, t->at.trial, rm_apply_transposed(&C, p));
    body_put_rotation(t, m, &M);
    for (int i = 0; i < t->joints[0].dofs - 3 * t->joints[0].has_quaternion; ++i) {
        scalar lower, upper;
        body_bounds(t, m, i, &lower, &upper);
        AT(m, t->at.trial + i) = scalar_clamp(AT(m, t->at.trial + i), lower, upper);
    }
}

// The trial with its root laid onto the markers, which lie as at the current point. False, with nothing done, where the
// markers do not say how.
BODY_FN bool body_align(const body_task *t, scalar *m)
{
    body_cloud c;
    scalar r[4];
    body_gather(t, m, &c);
    if (c.count < 3 || !body_best_turn(&c.M, r)) {
        return false;
    }
    if (body_lane() == 0) {
        align_root(t, m, &c, r);
    }
    body_meet();
    return true;
}

#endif
