// What solving within constraints (constrained.c) is made of: constraints as rows of numbers, and quadratic programs over
// such rows.
#ifndef PZ_SOLVE_CONSTRAINED_H
#define PZ_SOLVE_CONSTRAINED_H

#include "shape/shape.h"
#include "solve/solver.h"

// Room for the constraints of a call, as the options ask for; NULL when they do not, or when it is only counted.
struct pz_constrained *pz_constrained_lay_out(const poise_solver *solver, pz_arena *arena);

// ---- Rows (constraint.c) -------------------------------------------------------------------------------------------------
//
// Constraints as rows: numbers that must be 0 (loops) or at least 0 (clearances, sides), with their derivatives.
//
// Two forms are enough. POINTS: n . (a - b) of a point of each body, as between shapes (shape/shape.h). TURN: a component h
// of the rotation of body a against body b,
//
//   dh = A . (w_a - w_b)                   d2h = A . (w_a x w_b) + (u . w)(v . w),  w = w_a - w_b        at h = 0
//
// beside what the tree adds for the torque A on a and -A on b. MASS: the centre of mass against a plane.
//
// Lengths of rows are in units of the model (model/model.h), so that everything about them is the same whether the model is
// in metres or millimetres.

#define PZ_ROW_NEAR  0.05 // rows of pairs that are farther apart than their margin and this are not looked at
#define PZ_ROW_AIM   1e-7 // inequalities are solved for with so much to spare, so that they hold exactly at the end
#define PZ_ROW_SPARE 1e-9 // and hold with this much, so that they hold by any other arithmetic, too

typedef enum pz_constraint_form { PZ_ROW_POINTS = 0, PZ_ROW_TURN, PZ_ROW_MASS } pz_constraint_form;

typedef struct pz_constraint_row {
    pz_constraint_form form;
    bool is_equality;
    int constraint, item, part; // which row of which constraint: the same in every point
    double room;                // >= 0: holds; an equality: its error
    double slope;               // room = slope * value + constant: 1 or -1 over the unit of length; turns: 1
    int body_a, body_b;
    pz_contact contact; // POINTS; MASS: its normal
    vec3 torque, u, v;  // TURN: A, and the two vectors of its second derivative
} pz_constraint_row;

// The rows near a point.
typedef struct pz_constraint_rows {
    pz_constraint_row *row;
    int count;
    double broken; // sum of |h| and of what inequalities, with PZ_ROW_AIM, lack
    double worst;  // the largest of those, without it
} pz_constraint_rows;

// What a call has, and room to evaluate it.
typedef struct pz_constraints {
    const poise_constraint *constraint;
    int count;
    int row_capacity, shape_capacity;
    double unit;       // of lengths in rows
    double closure;    // what a loop may be open by (poise_constraint_options.closure_tolerance)
    pz_placed *placed; // shapes of the constraint that is looked at
    double *columns;   // 15 x nv: scratch
} pz_constraints;

void pz_constraints_lay_out(pz_constraints *c, const poise_model *model, const poise_constraint_options *options,
                            pz_arena *arena);

// POISE_OK when the constraints are sound and fit; otherwise `error` names the first that is not.
poise_status pz_constraints_check(const pz_constraints *c, const poise_model *model, const poise_constraint *constraints,
                                  int count, poise_error *error);

// What the solver aims at: the room less PZ_ROW_AIM, or the error of an equality.
static inline double pz_constraint_value(const pz_constraint_row *row)
{
    return row->is_equality ? row->room : row->room - PZ_ROW_AIM;
}

// The error of an equality in lengths as they are, or radians.
static inline double pz_constraint_error(const pz_constraint_row *row)
{
    return fabs(row->room / row->slope);
}

static inline bool pz_constraint_holds(const pz_constraint_row *row, double closure_tolerance)
{
    return row->is_equality ? fabs(row->room) <= closure_tolerance : row->room >= PZ_ROW_SPARE;
}

// The rows at a point.
void pz_constraints_evaluate(pz_constraints *c, const poise_kinematics *kin, pz_constraint_rows *rows);

// The same, and the least distance of all pairs; infinite where there is none.
double pz_constraints_survey(pz_constraints *c, const poise_kinematics *kin, pz_constraint_rows *rows);

// Does everything hold? Stops at the first row that does not.
bool pz_constraints_hold(pz_constraints *c, const poise_kinematics *kin, double closure_tolerance);

// Room of one constraint, in lengths as they are: the least of its inequalities, or minus its largest error; `item` (may be
// NULL) is the pair, side or row that has it.
double pz_constraint_room(pz_constraints *c, const poise_kinematics *kin, int constraint, int *item);

// J = d room/dq, nv numbers.
void pz_constraint_derivative(const pz_constraints *c, const poise_kinematics *kin, const pz_constraint_row *row, double *J);

// Add `weight` times the second derivative of a row: what the tree has to the exact Hessian of the objective, and the
// rest to the matrix H (nv x nv). Call the first for all rows, then fetch the objective's Hessian, then call the second.
void pz_constraint_bend_tree(const pz_constraint_row *row, double weight, poise_objective *o);
void pz_constraint_bend(const pz_constraints *c, const poise_kinematics *kin, const pz_constraint_row *row, double weight,
                        double *H);

// ---- Quadratic programs (dual.c) -----------------------------------------------------------------------------------------
//
// Quadratic programs with few active rows, solved in the dual.
//
//   min 1/2 x.M x + g.x      J_i x + c_i >= 0,  = 0 for equalities,      lower <= x <= upper
//
// M = L^T L is factored once. Each row that becomes active costs half a back-substitution, Z_i = L^-T J_i^T,
// which is as sparse as the branches that the row moves; the rest is the k x k problem
//
//   min 1/2 mu.S mu + b.mu,  mu >= 0 for inequalities        S = Z^T Z,  b = c + J x0,  x0 = -M^-1 g,  x = x0 + L^-1 Z mu
//
// by an active set (C. Lawson & R. Hanson, "Solving Least Squares Problems", 1974, chapter 23) with a Cholesky factor of its
// part of S that is updated. A row that depends on those in use takes the place of one of them; where none can give way, the
// rows contradict each other, and it is left out. So are equalities that nothing but the digits of a
// file makes independent of each other (`noise`).

// Cholesky from the last row to the first, M = L^T L, with zeros skipped.
//
// Degrees of freedom are numbered from the root on, so that this takes the leaves first. What only couples along branches,
// as the Hessians of skeletons and closed mechanisms mostly do, then stays as sparse as it was (R. Featherstone, "Efficient
// factorization of the joint-space inertia matrix for branched kinematic trees", 2005). Zeros are found in the numbers:
// loops and pairs of shapes may couple anything.
typedef struct pz_leaf_factor {
    int n;
    double *L;   // n x n: the lower triangle of M, then L with 1/L_kk on the diagonal
    int *column; // n x n: where row k is not zero, left of the diagonal
    int *count;  // n: in how many places
} pz_leaf_factor;

void pz_leaf_factor_lay_out(pz_leaf_factor *f, int n, pz_arena *arena);

// Factor what is in L. False, with L spoilt, when M is not positive definite.
bool pz_leaf_factor_make(pz_leaf_factor *f);

// The two halves of M^-1 = L^-1 L^-T: x <- L^-T x, sparse where x is, and x <- L^-1 x.
void pz_leaf_factor_up(const pz_leaf_factor *f, double *x);
void pz_leaf_factor_down(const pz_leaf_factor *f, double *x);

#define PZ_DUAL_DEPENDENT 1e-10 // a row depends on those in use if its pivot is below this share of S_ii
#define PZ_DUAL_AGREES    1e-9  // what x may lack of a row that was left out
#define PZ_DUAL_LEFT_OUT  2     // mark of a row that contradicts others

typedef struct pz_dual {
    // the problem: the caller's
    int nv;
    int row_count;
    const double *J;         // row_count x nv
    const double *c;         // row_count
    const bool *is_equality; // row_count
    const double *noise;     // row_count; NULL: none: what is left of J_i^2 of an equality that depends on others, in spans
    const double *lower, *upper; // nv: how far the step may go
    const double *g;             // nv
    const pz_leaf_factor *L;     // of M; NULL: M is diag(D)
    const double *D;             // nv
    const double *span;          // nv: what a step of 1 is measured by, the unit of length for slides
    double soften;               // rows broken by more than `deep` get this share on their S_ii
    double deep;
    double slack;  // what x may lack of an inequality or a bound, in its span
    double agrees; // what x may lack of an equality that was left out
    // the answer
    double *x;          // nv
    bool is_consistent; // x holds every row and bound
    // rows that have been active; ids: rows first, then lower and upper of each dof
    int capacity, size;
    int *id;
    double *mu;     // by place; 0 when not in use
    double *b, *Z;  // size, size x nv
    int *support;   // size x nv: where a row of Z is not zero,
    int *spread;    // size: in how many places
    double *S;      // capacity x capacity, lower triangle
    int used_count; // places in use, in the order of the factor
    int *used;
    double *F;           // capacity x capacity: factor of S over them
    double *z;           // capacity
    double *x0, *sum;    // nv
    unsigned char *mark; // by id: 1 in the set, 2 left out
    int most_ids;
} pz_dual;

void pz_dual_lay_out(pz_dual *d, int nv, int most_rows, pz_arena *arena);

// Solve, trying the `hint_count` rows of `hints` (ids) first; equalities come before them.
void pz_dual_solve(pz_dual *d, const int *hints, int hint_count);

// The step of least length in M's metric that changes the value of every row in use by -c[row]; bounds keep theirs. Into x.
void pz_dual_correct(pz_dual *d, const double *c, double *x);

// Was a row left out of the last program?
static inline bool pz_dual_left_out(const pz_dual *d, int row)
{
    return d->mark[row] == PZ_DUAL_LEFT_OUT;
}

static inline int pz_dual_lower_id(const pz_dual *d, int dof)
{
    return d->row_count + 2 * dof;
}

#endif
