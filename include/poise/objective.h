// Poise: the objective f(q), the sum of the goals' energies, with its exact first and second derivatives.
//
// One evaluation is a sweep down the tree (poses, motion axes), a pass over the goals, and a sweep up. It costs O(goals +
// joints). After that the number of markers no longer matters: the Hessian and everything derived from it never revisit the
// goals.
//
// There are two Hessians:
//   EXACT         the second derivative of f along steps: H_ij = d2 f(retract(q, v)) / dv_i dv_j at v = 0
//   GAUSS_NEWTON  J^T W J: positive semidefinite always, equal to EXACT where the goals are met
//
// **Threads.** A poise_objective belongs to one thread at a time, even for queries: a Hessian is computed on request.
//
// Without goals that tie several bodies together and without mimic joints, H_ij is zero unless one of i, j is an ancestor
// of the other, and the packed form holds just those entries.
#ifndef POISE_OBJECTIVE_H
#define POISE_OBJECTIVE_H

#include <poise/goal.h>
#include <poise/kinematics.h>

#ifdef __cplusplus
extern "C" {
#endif

// Scratch memory for the sum of goals of one model: opaque.
typedef struct poise_objective poise_objective;

// How far an evaluation goes.
typedef enum poise_level { POISE_LEVEL_COST = 0, POISE_LEVEL_GRADIENT, POISE_LEVEL_HESSIAN } poise_level;

// Which second derivatives.
typedef enum poise_hessian { POISE_HESSIAN_EXACT = 0, POISE_HESSIAN_GAUSS_NEWTON } poise_hessian;

// The kind of stationary point, by the eigenvalues of the Hessian.
typedef enum poise_definiteness {
    POISE_DEFINITE_POSITIVE = 0,  // all eigenvalues > 0
    POISE_DEFINITE_NEGATIVE,      // all < 0
    POISE_DEFINITE_INDEFINITE,    // some > 0, some < 0
    POISE_DEFINITE_SEMI_POSITIVE, // some 0, the rest > 0 (or all 0)
    POISE_DEFINITE_SEMI_NEGATIVE  // some 0, the rest < 0
} poise_definiteness;

// How far one goal is from being met, beyond its tolerance and without its weight or loss.
typedef struct poise_goal_error {
    double error;          // in `unit`
    poise_unit unit;       // length, angle or none
    double rotation_error; // radians; POSE and RELATIVE only, else 0
} poise_goal_error;

// ---- Residuals -----------------------------------------------------------------------------------------------------------

// Most residuals of a goal that is not POSTURE or SMOOTHNESS, which have nv.
#define POISE_GOAL_RESIDUALS 12

// A goal, which has been checked, as residuals r and their derivatives J (residuals x nv), both times the root of its weight.
// Returns how many there are, which depends on the kind and the model alone; with r NULL that is all it does. 0 for a CALLBACK.
// J^T r is the goal's gradient, and r . r/2 its energy, but for goals with a loss: there both carry the root of rho'
// ("iteratively reweighted"), so that a step towards r = 0 is one towards the target.
POISE_API int poise_goal_residuals(const poise_kinematics *kinematics, const poise_goal *goal, double *r, double *J);

// ---- Life ----------------------------------------------------------------------------------------------------------------

// An objective over `model`, which must outlive it, without goals. `coupled_goals` is the largest number of RELATIVE and
// CENTER_OF_MASS goals at a time; other goals are not limited in number. One allocation from `allocator` (NULL: malloc).
POISE_API poise_status poise_objective_create(const poise_model *model, int coupled_goals, const poise_allocator *allocator,
                                              poise_objective **objective, poise_error *error);
POISE_API void poise_objective_destroy(poise_objective *objective); // NULL is allowed

// Use these goals from now on. They are checked here, not copied: the array must stay valid and unchanged until the next
// call. Fails on the first invalid goal, and then keeps its previous goals. `error` may be NULL.
POISE_API poise_status poise_objective_set_goals(poise_objective *objective, const poise_goal *goals, int count,
                                                 poise_error *error);

// ---- Evaluation ----------------------------------------------------------------------------------------------------------

// Evaluate at `q` up to `level`. Fails on non-finite numbers, and then keeps the last valid evaluation. If the cost or
// gradient overflows, the cost is infinite, there are no derivatives, and the call returns POISE_ERROR_NUMERIC.
POISE_API poise_status poise_objective_evaluate(poise_objective *objective, const double *q, poise_level level,
                                                poise_error *error);

// What the last evaluation found.
typedef struct poise_value {
    double cost;            // f(q)
    const double *gradient; // nv numbers, valid until the next evaluation; NULL when the last one stopped at COST
} poise_value;

// 0 and NULL if `objective` is NULL.
POISE_API poise_value poise_objective_value(const poise_objective *objective);

// The error of goal i of the current array.
POISE_API poise_goal_error poise_objective_goal_error(const poise_objective *objective, int goal);

// ---- Hessian; these need an evaluation at POISE_LEVEL_HESSIAN, else POISE_ERROR_ARGUMENT ---------------------------------

// H (nv x nv, row-major), symmetric to the last bit. O(sum of depths), plus nv^2 for each coupled goal.
POISE_API poise_status poise_objective_hessian(poise_objective *objective, poise_hessian kind, double *H,
                                               poise_error *error);

// y = H x in O(joints). y must not overlap x.
POISE_API poise_status poise_objective_multiply(poise_objective *objective, poise_hessian kind, const double *x, double *y,
                                                poise_error *error);

// The packed Hessian: row i holds the entries H_hi for h on the path from the root to i, root first, i last; rows are
// stored one after another. POISE_ERROR_UNSUPPORTED with mimic joints or coupled goals, because H then has other nonzero
// entries.
POISE_API poise_status poise_objective_packed(poise_objective *objective, poise_hessian kind, double *rows,
                                              poise_error *error);

// Row i of the packed Hessian.
typedef struct poise_packed_row {
    size_t begin; // index of its first entry
    int count;    // number of entries
    int parent;   // the previous component of a step on the path to the root; POISE_WORLD at the root
} poise_packed_row;

// Row `dof` in [0, nv). At nv, `begin` is the total number of entries: the size of the packed Hessian. All 0 with mimic
// joints.
POISE_API poise_packed_row poise_model_packed_row(const poise_model *model, int dof);

// The diagonal of H^-1 (nv numbers), in O(sum of squared depths) through the tree's factor, without forming H^-1; O(nv^3)
// with mimic joints or coupled goals. Infinite for a component that no goal determines. Where f is half the sum of squared
// residuals, each over its standard deviation, these are the variances of the answer: the uncertainty of each joint angle.
// `work` holds nv * (2 nv + 2) numbers. NUMERIC: H is not positive semidefinite here; GAUSS_NEWTON always is.
POISE_API poise_status poise_objective_inverse_diagonal(poise_objective *objective, poise_hessian kind, double *work,
                                                        double *diagonal, poise_error *error);

// The signs of the eigenvalues of H; |eigenvalue| <= tolerance * largest |eigenvalue| counts as zero. `work` holds
// nv * (nv + 2) numbers.
POISE_API poise_status poise_objective_definiteness(poise_objective *objective, poise_hessian kind, double tolerance,
                                                    double *work, poise_definiteness *definiteness, poise_error *error);

#ifdef __cplusplus
}
#endif

#endif
