// The objective's sweeps for processors with registers of four: three-vectors and halves of sums to a register.
#include "base/cpu.h"

#if PZ_HAS_WIDE

#define REAL_PACKED
#include "goal/sum_kernel.h"
#include "num/registers.h"

// Four numbers in memory, wherever they lie.
typedef double unaligned __attribute__((vector_size(32), aligned(8)));

// All numbers of a pz_sum in registers.
#define SUM_FOURS 5
_Static_assert(sizeof(pz_sum) == (4 * SUM_FOURS + 2) * sizeof(double), "a sum is so many fours and a two");

typedef struct sum_numbers {
    pack3 fours[SUM_FOURS];
    two rest;
} sum_numbers;

REAL_FN sum_numbers sum_numbers_of(const pz_sum *from)
{
    const double *numbers = (const double *)from;
    sum_numbers sum;
    REAL_UNROLL
    for (int i = 0; i < SUM_FOURS; ++i) {
        sum.fours[i] = *(const unaligned *)(numbers + 4 * i);
    }
    memcpy(&sum.rest, numbers + 4 * SUM_FOURS, sizeof sum.rest);
    return sum;
}

// *to += more; returns what it is then
REAL_FN sum_numbers sum_numbers_add(pz_sum *to, const sum_numbers *more)
{
    double *numbers = (double *)to;
    sum_numbers sum = sum_numbers_of(to);
    REAL_UNROLL
    for (int i = 0; i < SUM_FOURS; ++i) {
        sum.fours[i] = sum.fours[i] + more->fours[i];
        *(unaligned *)(numbers + 4 * i) = sum.fours[i];
    }
    sum.rest = sum.rest + more->rest;
    memcpy(numbers + 4 * SUM_FOURS, &sum.rest, sizeof sum.rest);
    return sum;
}

// Along a limb the sum stays in registers: from memory every joint would wait for what the last one has just written.
PZ_WIDE void pz_sum_up_wide(poise_objective *o)
{
    const pz_joint *joints = o->kin.model->joints;
    int at = o->kin.model->joint_count - 1;
    sum_numbers sum = sum_numbers_of(&o->sums[at]);
    for (int k = at; k > 0; --k) {
        int parent = joints[k].parent;
        if (at != k) {
            sum = sum_numbers_of(&o->sums[k]);
        }
        if (parent != POISE_WORLD) {
            sum = sum_numbers_add(&o->sums[parent], &sum);
        }
        at = parent;
    }
}

PZ_WIDE void pz_make_forces_wide(const poise_objective *o, poise_hessian kind)
{
    make_forces(o, kind);
}

// ---- Markers -------------------------------------------------------------------------------------------------------------
//
// sum_add_force and sum_add_stiffness once more, operation by operation, in whole registers: a fifth less time. A symmetric
// matrix is six numbers in the order xx xy xz yy yz zz, of which four and two are a register.

// [n ; f]
REAL_FN six six_of_halves(pack3 n, pack3 f)
{
    return (six){REAL_BLEND4(n, f, 0, 1, 2, 4), REAL_PICK2(f, 1, 2)};
}

// (u w^T + w u^T)/2: doubling and halving leaves the diagonal as it is
REAL_FN six six_pair(pack3 u, pack3 w)
{
    pack3 rows =
        REAL_PICK4(u, 0, 0, 0, 1) * REAL_PICK4(w, 0, 1, 2, 1) + REAL_PICK4(u, 0, 1, 2, 1) * REAL_PICK4(w, 0, 0, 0, 1);
    two rest = REAL_PICK2(u, 1, 2) * REAL_PICK2(w, 2, 2) + REAL_PICK2(u, 2, 2) * REAL_PICK2(w, 1, 2);
    return (six){0.5 * rows, 0.5 * rest};
}

// u w^T where that is symmetric
REAL_FN six six_outer(pack3 u, pack3 w)
{
    return (six){REAL_PICK4(u, 0, 0, 0, 1) * REAL_PICK4(w, 0, 1, 2, 1), REAL_PICK2(u, 1, 2) * REAL_PICK2(w, 2, 2)};
}

// A + s I
REAL_FN six six_add_diagonal(six A, double s)
{
    pack3 rows = A.a + s;
    two rest = A.c + s;
    return (six){REAL_BLEND4(A.a, rows, 4, 1, 2, 7), (two){A.c[0], rest[1]}};
}

// Four numbers by a store of four, for the reason that six_load has.
REAL_FN void six_store(six v, void *to)
{
    *(unaligned *)to = v.a;
    memcpy((double *)to + 4, &v.c, sizeof v.c);
}

REAL_FN void add_six(void *to, six more)
{
    six_store(six_add(six_load((const double *)to), more), to);
}

REAL_FN void add_marker_stiffness(pz_sum *sum, double w, pack3 x, pack3 f)
{
    pack3 mass;
    memcpy(&mass, &sum->n, sizeof mass); // n and c
    mass = mass + w * REAL_BLEND4(pack3_splat(1.0), x, 0, 4, 5, 6);
    memcpy(&sum->n, &mass, sizeof mass);
    six P = six_outer(x * w, x), ww = six_load(&sum->ww.xx);
    ww = six_add_diagonal((six){ww.a - P.a, ww.c - P.c}, P.a[0] + P.a[3] + P.c[1]);
    six_store(ww, &sum->ww);
    add_six(&sum->K, six_add_diagonal(six_pair(x, f), -pack3_sum(x * f)));
}

// Adds the derivatives; returns the cost.
REAL_FN double evaluate_marker(const pz_evaluation *evaluation, const poise_goal *goal)
{
    const poise_kinematics *kin = evaluation->kin;
    const pz_joint *joint = &kin->model->joints[goal->body];
    const mat3 *R = &kin->R[goal->body];
    vec3 l = joint->B_is_identity ? goal->local.position : m3_apply(&joint->B, goal->local.position);
    pack3 turned = pack3_apply(pack3_load(&R->x), pack3_load(&R->y), pack3_load(&R->z), l);
    pack3 x = pack3_load(&kin->p[goal->body]) + turned;
    pack3 r = x - (pack3_load(&goal->target.position) - pack3_of(kin->origin)), f = r * goal->weight;
    if (evaluation->level != POISE_LEVEL_COST) {
        pz_sum *sum = &evaluation->sums[goal->body];
        add_six(&sum->g, six_of_halves(pack3_cross(x, f), f));
        if (evaluation->level == POISE_LEVEL_HESSIAN) {
            add_marker_stiffness(sum, goal->weight, x, f);
        }
    }
    return 0.5 * goal->weight * pack3_sum(r * r);
}

PZ_WIDE void pz_evaluate_plain_wide(const poise_objective *o, pz_evaluation *evaluation)
{
    double cost = evaluation->cost;
    for (int i = 0; i < o->goal_count; ++i) {
        const poise_goal *goal = &o->goals[i];
        if (!o->markers->any || !pz_is_condensed(o->markers, goal)) {
            cost += evaluate_marker(evaluation, goal);
        }
    }
    evaluation->cost = cost;
}

#else

typedef int pz_no_registers_of_four;

#endif
