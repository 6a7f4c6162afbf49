// The search for goals with tolerance bands: Gauss-Newton over the residuals beyond the bands.
//
// Along the axes T_a of the target, with dead() the part of a number beyond its tolerance,
//
//   rho_a = dead(T_a . r)        row:  T_a . J_i                         for a = x, y, z
//   rho_k = dead(e_k)            row:  A_k . a_i                         e = 2 vec(conj(target) frame), goal/orientation.c
//
// and no row where the band holds. The step minimises |rho + K^T x|^2 + lambda |x|^2, K the n x 6 matrix of rows; search,
// limits and damping are those of arm_search.h. What a search leaves is finished by the general method.
#include "solve/arm/arm_search.h"

typedef struct banded_point {
    arm_frames frames;
    double rho[6];
    mat3 position; // rows of the position, as columns; 0 where the band holds
    mat3 rotation; // the same of the rotation
    double r, e;   // |rho|^2 of each
} banded_point;

static vec3 beyond(vec3 x, vec3 tolerance)
{
    return v3(pz_dead_zone(x.x, tolerance.x), pz_dead_zone(x.y, tolerance.y), pz_dead_zone(x.z, tolerance.z));
}

// The columns of M whose component of x is beyond its tolerance.
static mat3 active(const mat3 *M, vec3 x, vec3 tolerance)
{
    vec3 none = {0, 0, 0};
    return (mat3){fabs(x.x) >= tolerance.x ? M->x : none, fabs(x.y) >= tolerance.y ? M->y : none,
                  fabs(x.z) >= tolerance.z ? M->z : none};
}

static void look(const pz_arm_chain *chain, const pz_arm_target *target, const double *q, banded_point *at)
{
    arm_forward(chain, chain->n, true, ARM_ALONE, q, &at->frames);
    vec3 r = m3_apply_transposed(&target->u, v3_sub(at->frames.p, target->t)), left = beyond(r, target->tolerance);
    at->position = active(&target->u, r, target->tolerance);

    mat3 frame = m3_mul(&at->frames.d, &chain->tail);
    quat turn = quat_mul(quat_conj(target->turn), quat_from_matrix(&frame));
    double sign = turn.w < 0 ? -1.0 : 1.0, w = sign * turn.w;
    vec3 v = v3_scale(quat_vec(turn), sign), e = v3_scale(v, 2.0), turned = beyond(e, target->rotation_tolerance);
    mat3 A = {m3_apply(&target->u, v3(w, v.z, -v.y)), m3_apply(&target->u, v3(-v.z, w, v.x)),
              m3_apply(&target->u, v3(v.y, -v.x, w))};
    at->rotation = active(&A, e, target->rotation_tolerance);

    at->rho[0] = left.x, at->rho[1] = left.y, at->rho[2] = left.z;
    at->rho[3] = turned.x, at->rho[4] = turned.y, at->rho[5] = turned.z;
    at->r = v3_dot(left, left);
    at->e = v3_dot(turned, turned);
}

static double dot6(const double *a, const double *b)
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3] + a[4] * b[4] + a[5] * b[5];
}

// The rows of one joint, cleared where it is held at a limit.
static void make_rows(const pz_arm_chain *chain, const banded_point *at, const pz_arm_run *run, int i, double *K)
{
    arm_column column = arm_column_of(chain, true, &at->frames, i);
    vec3 p = m3_apply_transposed(&at->position, column.J), t = m3_apply_transposed(&at->rotation, column.a);
    K[0] = p.x, K[1] = p.y, K[2] = p.z, K[3] = t.x, K[4] = t.y, K[5] = t.z;
    bool held = arm_is_held(run->side[i], dot6(K, at->rho));
    for (int k = 0; held && k < 6; ++k) {
        K[k] = 0.0;
    }
}

// x = -K (K^T K + lambda I)^-1 rho, 6 x 6.
static void find_step(int n, double (*K)[6], const double *rho, double lambda, double *x)
{
    double A[6][8], y[6];
    for (int a = 0; a < 6; ++a) {
        for (int b = 0; b <= a; ++b) {
            double sum = 0.0;
            for (int i = 0; i < n; ++i) {
                sum += K[i][a] * K[i][b];
            }
            A[a][b] = A[b][a] = sum;
        }
        A[a][a] += lambda;
        A[a][6] = -rho[a];
    }
    arm_eliminate(6, A);
    for (int a = 0; a < 6; ++a) {
        y[a] = A[a][6];
    }
    for (int i = 0; i < n; ++i) {
        x[i] = dot6(K[i], y);
    }
}

bool pz_arm_search_banded(const pz_arm_chain *chain, const pz_arm_target *target, int most, pz_arm_run *run)
{
    banded_point at;
    arm_progress progress = arm_progress_begin();
    arm_joints joints = arm_joints_of(run);
    double lambda = 0.0;
    for (;;) {
        look(chain, target, run->q, &at);
        double f = 0.5 * (at.r + at.e), cost = 0.5 * (target->W * at.r + at.e);
        bool met = (at.r <= target->most_r && at.e <= target->most_e) || cost <= target->cost;
        arm_note_iterate(progress.k, at.r, 0.5 * at.e, cost, lambda, run);
        if (arm_ends(&progress, f, met, most)) {
            run->f = f, run->r = at.r, run->e = 0.5 * at.e;
            run->iterations += (int)progress.k - 1;
            run->evaluations += (int)progress.k;
            return met;
        }
        lambda = arm_damping(f);
        double K[PZ_ARM_MOST][6], x[PZ_ARM_MOST];
        run->slope = run->longest = 0.0;
        for (int i = 0; i < chain->n; ++i) {
            make_rows(chain, &at, run, i, K[i]);
            run->slope = max2(run->slope, fabs(dot6(K[i], at.rho)));
        }
        find_step(chain->n, K, at.rho, lambda, x);
        run->longest = pz_largest(x, chain->n);
        arm_move(chain, chain->n, true, x, &joints);
    }
}
