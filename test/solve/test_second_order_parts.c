// Parts of the second-order methods: band matrices, the trust-region step, the BFGS update, the nearest semidefinite matrix.
#include "num/dense.h"
#include "papers/methods/methods.h"
#include "solve/auto.h"
#include "support/random_goals.h"
#include "support/skeleton.h"

#include <float.h>
#include <math.h>
#include <poise/papers.h>

#define MOST   40
#define ROUNDS 40

typedef double matrix[MOST * MOST];

// ---- Random matrices -----------------------------------------------------------------------------------------------------

static void random_vector_of(scene_random *random, int n, double *x)
{
    for (int i = 0; i < n; ++i) {
        x[i] = scene_random_range(random, -1.0, 1.0);
    }
}

static void random_symmetric(scene_random *random, int n, double *A)
{
    for (int i = 0; i < n; ++i) {
        for (int j = 0; j <= i; ++j) {
            A[i * n + j] = A[j * n + i] = scene_random_range(random, -1.0, 1.0);
        }
    }
}

// A A^T + I/10: positive definite, condition about n^2.
static void random_positive(scene_random *random, int n, double *A)
{
    matrix B;
    random_vector_of(random, n * n, B);
    for (int i = 0; i < n; ++i) {
        for (int j = 0; j < n; ++j) {
            A[i * n + j] = i == j ? 0.1 : 0.0;
            for (int k = 0; k < n; ++k) {
                A[i * n + j] += B[i * n + k] * B[j * n + k];
            }
        }
    }
}

static void times(int n, const double *A, const double *x, double *y)
{
    for (int i = 0; i < n; ++i) {
        y[i] = 0.0;
        for (int j = 0; j < n; ++j) {
            y[i] += A[i * n + j] * x[j];
        }
    }
}

static double inner(int n, const double *a, const double *b)
{
    double sum = 0.0;
    for (int i = 0; i < n; ++i) {
        sum += a[i] * b[i];
    }
    return sum;
}

static double length_of(int n, const double *x)
{
    return sqrt(inner(n, x, x));
}

static double difference(int n, const double *a, const double *b)
{
    double worst = 0.0;
    for (int i = 0; i < n; ++i) {
        worst = fmax(worst, fabs(a[i] - b[i]));
    }
    return worst;
}

// ---- Band matrices -------------------------------------------------------------------------------------------------------

static double band_entry(const pz_band *band, int i, int j)
{
    return band->rows[i * (band->half + 1) + band->half - (i - j)];
}

static void band_of(int n, int half, const double *A, double *rows)
{
    for (int i = 0; i < n; ++i) {
        for (int j = i - half; j <= i; ++j) {
            rows[i * (half + 1) + half - (i - j)] = j < 0 ? 0.0 : A[i * n + j];
        }
    }
}

static void check_band(poise_objective *objective, poise_hessian kind, int half)
{
    int n = objective->kin.model->nv;
    double *H = calloc((size_t)(n * n), sizeof *H), *rows = calloc((size_t)(n * n + n), sizeof *rows), largest = 0.0;
    pz_band band = {n, half, rows};
    ck_assert_int_eq(poise_objective_hessian(objective, kind, H, NULL), POISE_OK);
    pz_objective_band(objective, kind, &band);
    for (int i = 0; i < n * n; ++i) {
        largest = fmax(largest, fabs(H[i]));
    }
    for (int i = 0; i < n; ++i) {
        for (int j = i > half ? i - half : 0; j <= i; ++j) {
            // sums of the same products, in another order where a dof has several axes or rows
            ck_assert_double_eq_tol(band_entry(&band, i, j), H[i * n + j], 1e-14 * largest);
        }
    }
    free(H);
    free(rows);
}

TEST(band_is_that_of_the_dense_hessian)
{
    scene_random random = scene_random_make(1);
    for (int round = 0; round < ROUNDS; ++round) {
        figure f = random_figure(&random, 12, RANDOM_LIMITS | RANDOM_CURVES | (round % 2 ? RANDOM_MIMICS : 0));
        random_goals *goals = malloc(sizeof *goals);
        random_goals_make(&random, f.model, goals);
        poise_objective *objective;
        ck_assert_int_eq(poise_objective_create(f.model, RANDOM_COUPLED, NULL, &objective, NULL), POISE_OK);
        int count = round % 3 ? RANDOM_GOALS : RANDOM_GOALS - RANDOM_COUPLED;
        ck_assert_int_eq(poise_objective_set_goals(objective, goals->goals, count, NULL), POISE_OK);
        ck_assert_int_eq(poise_objective_evaluate(objective, f.q, POISE_LEVEL_HESSIAN, NULL), POISE_OK);
        for (int kind = 0; kind < 2; ++kind) {
            check_band(objective, (poise_hessian)kind, 0);
            check_band(objective, (poise_hessian)kind, 3);
            check_band(objective, (poise_hessian)kind, f.nv - 1);
        }
        poise_objective_destroy(objective);
        free(goals);
    }
}

TEST(band_factor_solves_what_the_dense_factor_solves)
{
    scene_random random = scene_random_make(2);
    for (int round = 0; round < ROUNDS; ++round) {
        int n = 1 + scene_random_index(&random, MOST - 1), half = scene_random_index(&random, n);
        matrix A, L;
        double rows[MOST * (MOST + 1)], x[MOST], y[MOST];
        random_positive(&random, n, A);
        for (int i = 0; i < n; ++i) {
            A[i * n + i] += n; // outweighs what is cut off, so that the band is positive definite too
            for (int j = 0; j < n; ++j) {
                A[i * n + j] = abs(i - j) <= half ? A[i * n + j] : 0.0;
            }
        }
        band_of(n, half, A, rows);
        pz_band band = {n, half, rows};
        memcpy(L, A, sizeof L);
        bool is_positive = pz_cholesky(n, L);
        ck_assert_int_eq(pz_band_cholesky(&band), is_positive);
        if (is_positive) {
            random_vector_of(&random, n, x);
            memcpy(y, x, sizeof y);
            pz_cholesky_solve(n, L, x);
            pz_band_solve(&band, y);
            ck_assert_double_lt(difference(n, x, y), 1e-12); // condition below 100
        }
    }
}

TEST(band_of_an_indefinite_matrix_has_no_factor)
{
    double rows[] = {0, 1, 2, 1}; // 1 2; 2 1
    pz_band band = {2, 1, rows};
    ck_assert(!pz_band_cholesky(&band));
}

// ---- Trust region --------------------------------------------------------------------------------------------------------

typedef struct dense {
    int n;
    const double *M;
} dense;

static void multiply_dense(const void *user, const double *x, double *y)
{
    const dense *d = user;
    times(d->n, d->M, x, y);
}

static double model_value(int n, const double *M, const double *g, const double *s)
{
    double Ms[MOST];
    times(n, M, s, Ms);
    return inner(n, g, s) + 0.5 * inner(n, s, Ms);
}

// The lowest value along -g within the ball.
static double cauchy_value(int n, const double *M, const double *g, double radius)
{
    double s[MOST], Mg[MOST], length = length_of(n, g), t = radius / length;
    times(n, M, g, Mg);
    double curvature = inner(n, g, Mg);
    t = curvature > 0 ? fmin(t, length * length / curvature) : t;
    for (int i = 0; i < n; ++i) {
        s[i] = -t * g[i];
    }
    return model_value(n, M, g, s);
}

TEST(step_in_a_large_region_is_newtons)
{
    scene_random random = scene_random_make(3);
    for (int round = 0; round < ROUNDS; ++round) {
        int n = 1 + scene_random_index(&random, MOST - 1);
        matrix M, L;
        double g[MOST], s[MOST], newton[MOST], work[4 * MOST];
        random_positive(&random, n, M);
        random_vector_of(&random, n, g);
        dense d = {n, M};
        pz_quadratic m = {n, multiply_dense, &d, g, NULL};
        ck_assert_int_eq(pz_steihaug(&m, 1e6, 1e-13, 20 * n, work, s, NULL), PZ_CG_CONVERGED);
        memcpy(L, M, sizeof L);
        ck_assert(pz_cholesky(n, L));
        for (int i = 0; i < n; ++i) {
            newton[i] = -g[i];
        }
        pz_cholesky_solve(n, L, newton);
        ck_assert_double_lt(difference(n, s, newton), 1e-9 * length_of(n, newton)); // condition below 1e4 times 1e-13
    }
}

TEST(negative_curvature_is_followed_to_the_boundary)
{
    scene_random random = scene_random_make(4);
    int met = 0;
    for (int round = 0; round < ROUNDS; ++round) {
        int n = 2 + scene_random_index(&random, MOST - 2);
        matrix M;
        double g[MOST], s[MOST], work[4 * MOST], radius = scene_random_range(&random, 0.1, 10.0);
        random_symmetric(&random, n, M);
        M[0] = -2.0 * n; // at least one eigenvalue below 0
        random_vector_of(&random, n, g);
        dense d = {n, M};
        pz_quadratic m = {n, multiply_dense, &d, g, NULL};
        pz_cg_end end = pz_steihaug(&m, radius, 1e-10, 20 * n, work, s, NULL);
        ck_assert(end == PZ_CG_NEGATIVE || end == PZ_CG_BOUNDARY);
        met += end == PZ_CG_NEGATIVE;
        ck_assert_double_eq_tol(length_of(n, s), radius, 1e-13 * radius);
        ck_assert_double_le(model_value(n, M, g, s), cauchy_value(n, M, g, radius) * (1.0 - 1e-12));
    }
    ck_assert_int_gt(met, ROUNDS / 2);
}

TEST(step_in_a_small_region_ends_on_its_boundary_below_the_cauchy_point)
{
    scene_random random = scene_random_make(5);
    for (int round = 0; round < ROUNDS; ++round) {
        int n = 2 + scene_random_index(&random, MOST - 2);
        matrix M;
        double g[MOST], s[MOST], work[4 * MOST];
        random_positive(&random, n, M);
        random_vector_of(&random, n, g);
        dense d = {n, M};
        pz_quadratic m = {n, multiply_dense, &d, g, NULL};
        double radius = 1e-2 * length_of(n, g) / n; // Newton's step has at least |g|/|M| > |g|/(n^2 + 1)
        pz_cg_end end = pz_steihaug(&m, radius, 1e-13, 20 * n, work, s, NULL);
        ck_assert_double_le(length_of(n, s), radius * (1.0 + 1e-13));
        ck_assert_double_le(model_value(n, M, g, s), cauchy_value(n, M, g, radius) * (1.0 - 1e-12));
        if (end == PZ_CG_BOUNDARY) {
            ck_assert_double_eq_tol(length_of(n, s), radius, 1e-13 * radius);
        }
    }
}

TEST(preconditioner_with_the_full_band_makes_one_iteration_enough)
{
    scene_random random = scene_random_make(6);
    for (int round = 0; round < ROUNDS; ++round) {
        int n = 2 + scene_random_index(&random, MOST - 2), iterations;
        matrix M;
        double g[MOST], s[MOST], work[4 * MOST], rows[MOST * MOST];
        random_positive(&random, n, M);
        random_vector_of(&random, n, g);
        band_of(n, n - 1, M, rows);
        pz_band factor = {n, n - 1, rows};
        ck_assert(pz_band_cholesky(&factor));
        dense d = {n, M};
        pz_quadratic m = {n, multiply_dense, &d, g, &factor};
        ck_assert_int_eq(pz_steihaug(&m, 1e6, 1e-8, 100, work, s, &iterations), PZ_CG_CONVERGED);
        ck_assert_int_eq(iterations, 1);
        m.factor = NULL;
        pz_steihaug(&m, 1e6, 1e-8, 100, work, s, &iterations);
        ck_assert_int_gt(iterations, 1);
    }
}

TEST(way_to_the_boundary_ends_on_it)
{
    scene_random random = scene_random_make(7);
    for (int round = 0; round < ROUNDS; ++round) {
        double s[3], p[3], radius;
        random_vector_of(&random, 3, s);
        random_vector_of(&random, 3, p);
        radius = length_of(3, s) * scene_random_range(&random, 1.0, 3.0);
        double tau = pz_to_boundary(s, p, radius, 3);
        ck_assert_double_ge(tau, 0.0);
        for (int i = 0; i < 3; ++i) {
            s[i] += tau * p[i];
        }
        ck_assert_double_eq_tol(length_of(3, s), radius, 1e-14 * radius);
    }
}

// ---- Line search ---------------------------------------------------------------------------------------------------------

// E = x^2/2 of a slide, with a Gauss-Newton Hessian `stand_in` in place of 1, which makes the first step -x/stand_in.
static bool parabola(void *user, const poise_pose *pose, poise_body_energy *out)
{
    double x = pose->position.x;
    out->energy = 0.5 * x * x;
    out->gradient[3] = x;
    out->hessian[3 * 6 + 3] = 1.0;
    memset(out->gauss_newton, 0, sizeof out->gauss_newton);
    out->gauss_newton[3 * 6 + 3] = *(const double *)user;
    return true;
}

// A run whose current point is q.
static poise_method_run *begin_run(poise_solver *solver, const poise_goal *goal, const double *q)
{
    poise_method_run *run;
    ck_assert_int_eq(poise_method_begin(solver, goal, 1, q, &run, NULL), POISE_OK);
    ck_assert(isfinite(run->call->evaluate(run, q, POISE_LEVEL_HESSIAN)));
    run->call->accept(run);
    return run;
}

// The x where a search along -g/D from x = 1 ends. BFGS has the arrays that a line needs.
static double searched(double stand_in, double lower, pz_wolfe conditions, double *evaluations)
{
    poise_builder *builder = new_builder();
    poise_joint joint = joint_of("slide", NULL, POISE_JOINT_PRISMATIC);
    joint.axis = poise_vec3_make(1, 0, 0);
    joint.lower[0] = lower;
    add(builder, &joint);
    poise_model *model = model_of(builder);
    poise_solver_options options = poise_solver_options_default();
    options.method = POISE_METHOD_BFGS;
    options.engine = poise_papers_engine(options.method);
    poise_solver *solver;
    poise_goal goal = poise_goal_callback(0, parabola, &stand_in);
    double q[1] = {1.0};
    ck_assert_int_eq(poise_solver_create(model, &options, NULL, &solver, NULL), POISE_OK);
    poise_method_run *run = begin_run(solver, &goal, q);
    pz_line *line = run->scratch;
    run->call->metric(run, line->D);
    pz_line_hold(run, line);
    line->direction[0] = -run->at.gradient[0] / line->D[0];
    run->report->evaluations = 0;
    ck_assert(pz_line_search(run, line, conditions));
    *evaluations = run->report->evaluations;
    double x = run->at.q[0];
    ck_assert_double_eq_tol(line->taken[0], x - 1.0, 1e-15);
    poise_solver_destroy(solver);
    return x;
}

// A slide a hair inside either end, pulled out of it, is held; pulled inwards, or further off, it is not.
TEST(a_dof_near_a_bound_that_it_would_cross_is_held)
{
    for (int i = 0; i < 8; ++i) {
        bool is_upper = i % 2, is_near = i / 2 % 2, is_outwards = i / 4;
        double inside = is_near ? 1e-4 : 0.1, q[1] = {is_upper ? 1.0 - inside : inside - 1.0};
        poise_builder *builder = new_builder();
        poise_joint joint = joint_of("slide", NULL, POISE_JOINT_PRISMATIC);
        joint.axis = poise_vec3_make(1, 0, 0);
        joint.lower[0] = -1.0, joint.upper[0] = 1.0;
        add(builder, &joint);
        poise_solver_options options = poise_solver_options_default();
        options.method = POISE_METHOD_BFGS;
        options.engine = poise_papers_engine(options.method);
        poise_solver *solver;
        double target = is_upper == is_outwards ? 3.0 : -3.0;
        poise_goal goal = poise_goal_position(0, poise_vec3_make(0, 0, 0), poise_vec3_make(target, 0, 0));
        ck_assert_int_eq(poise_solver_create(model_of(builder), &options, NULL, &solver, NULL), POISE_OK);
        poise_method_run *run = begin_run(solver, &goal, q);
        pz_line *line = run->scratch;
        run->call->metric(run, line->D);
        // the way out is held if near; the way in crosses the other end, which is far
        ck_assert_int_eq(pz_line_hold(run, line), is_near && is_outwards);
        poise_solver_destroy(solver);
    }
}

TEST(line_search_shortens_a_step_that_gains_too_little)
{
    // the first step leads to x = -0.99999, which lowers the cost, but by 1e-5 of it instead of the 2e-4 asked for
    double evaluations, x = searched(1.0 / 1.99999, -INFINITY, PZ_LINE_ARMIJO, &evaluations);
    ck_assert_double_ge(evaluations, 2);
    ck_assert_double_eq_tol(x, 0.0, 1e-9);                            // the parabola's own minimum
    x = searched(1.0 / 1.9, -INFINITY, PZ_LINE_ARMIJO, &evaluations); // gains 0.19 of 0.5: enough
    ck_assert_double_eq(evaluations, 1);
    ck_assert_double_eq_tol(x, -0.9, 1e-9);
}

TEST(line_search_stops_at_a_bound_and_says_so)
{
    double evaluations, x = searched(1.0, 0.25, PZ_LINE_WEAK_WOLFE, &evaluations); // the step taken is checked in searched()
    ck_assert_double_eq(x, 0.25);
    ck_assert_double_eq(evaluations, 1); // no slope is left there: nothing to go further for
    x = searched(64.0, 0.99, PZ_LINE_WEAK_WOLFE, &evaluations);
    ck_assert_double_eq(x, 0.99);
}

TEST(weak_wolfe_search_lengthens_a_step_on_a_steep_slope)
{
    double evaluations, x = searched(64.0, -INFINITY, PZ_LINE_ARMIJO, &evaluations);
    ck_assert_double_eq(evaluations, 1);
    ck_assert_double_eq_tol(x, 1.0 - 1.0 / 64.0, 1e-9);
    x = searched(64.0, -INFINITY, PZ_LINE_WEAK_WOLFE, &evaluations); // slope 0.984 of the first: 1/64, 2/64, 4/64, 8/64
    ck_assert_double_eq(evaluations, 4);
    ck_assert_double_eq_tol(x, 1.0 - 8.0 / 64.0, 1e-9);
}

// ---- BFGS ----------------------------------------------------------------------------------------------------------------

TEST(updated_inverse_meets_the_secant_equation_and_stays_positive_definite)
{
    scene_random random = scene_random_make(8);
    for (int round = 0; round < ROUNDS; ++round) {
        int n = 1 + scene_random_index(&random, MOST - 1);
        matrix B, L;
        double s[MOST], y[MOST], work[MOST], By[MOST];
        random_positive(&random, n, B);
        random_vector_of(&random, n, s);
        random_vector_of(&random, n, y);
        double sy = inner(n, s, y);
        for (int i = 0; i < n && sy < 0; ++i) {
            y[i] = -y[i];
        }
        ck_assert(pz_bfgs_update(n, s, y, B, work));
        times(n, B, y, By);
        // |B| |y| grows with n |y|^2/(s . y): what the terms that cancel are made of
        double scale = 1.0 + n * n * inner(n, y, y) / fabs(sy) * length_of(n, s);
        ck_assert_double_lt(difference(n, By, s), 1e-14 * scale * scale);
        for (int i = 0; i < n; ++i) {
            for (int j = 0; j < i; ++j) {
                ck_assert_double_eq(B[i * n + j], B[j * n + i]);
            }
        }
        memcpy(L, B, sizeof L);
        ck_assert(pz_cholesky(n, L));
    }
}

TEST(update_refuses_negative_curvature)
{
    double B[] = {1, 0, 0, 1}, s[] = {1, 2}, y[] = {1, -1}, work[2];
    ck_assert(!pz_bfgs_update(2, s, y, B, work));
    ck_assert(B[0] == 1 && B[1] == 0 && B[2] == 0 && B[3] == 1);
}

// ---- Nearest semidefinite matrix -----------------------------------------------------------------------------------------

// X is the nearest in the cone exactly when X >= 0, X - A >= 0 and <X, X - A> = 0 (Higham 1988; the projection onto a cone).
TEST(nearest_semidefinite_matrix_meets_the_conditions_of_a_projection)
{
    scene_random random = scene_random_make(9);
    for (int round = 0; round < ROUNDS; ++round) {
        int n = 1 + scene_random_index(&random, MOST - 1);
        matrix A = {0}, X, V, gap = {0};
        double w[MOST], work[MOST], product = 0.0, eps = 100 * n * DBL_EPSILON * n; // n eps |A|, |A| below n
        random_symmetric(&random, n, A);
        memcpy(X, A, sizeof X);
        ck_assert(pz_nearest_semidefinite(n, X, V, w, work));
        for (int i = 0; i < n * n; ++i) {
            gap[i] = X[i] - A[i];
            product += X[i] * gap[i];
        }
        ck_assert_double_lt(fabs(product), eps * n);
        ck_assert(pz_symmetric_eigen(n, X, w, false, work));
        ck_assert_double_gt(w[0], -eps);
        ck_assert(pz_symmetric_eigen(n, gap, w, false, work));
        ck_assert_double_gt(w[0], -eps);
    }
}

TEST(positive_matrix_is_its_own_nearest)
{
    scene_random random = scene_random_make(10);
    matrix A, X, V;
    double w[MOST], work[MOST];
    random_positive(&random, MOST, A);
    memcpy(X, A, sizeof X);
    ck_assert(pz_nearest_semidefinite(MOST, X, V, w, work));
    ck_assert_double_lt(difference(MOST * MOST, A, X), 1e-11); // |A| about n^2/3 times n eps
}

// ---- Negative curvature --------------------------------------------------------------------------------------------------

// With some dofs held. The curvature is the failed pivot, whose rounding is that of the largest entries.
TEST(where_a_hessian_is_indefinite_the_tree_finds_a_direction_of_negative_curvature)
{
    scene_random random = scene_random_make(17);
    int found = 0;
    for (int round = 0; round < 200; ++round) {
        figure f = random_figure(&random, 1 + round % 6, RANDOM_PLAIN);
        int n = f.nv;
        poise_solver_options options = poise_solver_options_default();
        poise_solver *solver;
        ck_assert_int_eq(poise_solver_create(f.model, &options, NULL, &solver, NULL), POISE_OK);
        poise_goal goal = poise_goal_position(poise_model_info(f.model).joints - 1, random_vector(&random, 1.0),
                                              random_vector(&random, 0.3));
        ck_assert_int_eq(poise_objective_set_goals(solver->at, &goal, 1, NULL), POISE_OK);
        ck_assert_int_eq(poise_objective_evaluate(solver->at, f.q, POISE_LEVEL_HESSIAN, NULL), POISE_OK);
        pz_arena arena = pz_arena_counting();
        pz_tree_step_lay_out(solver, &arena);
        void *memory = calloc(1, pz_arena_bytes(&arena));
        arena = pz_arena_over(memory, pz_arena_bytes(&arena));
        pz_tree_step *tree = pz_tree_step_lay_out(solver, &arena);
        double D[MOST], zeros[MOST] = {0}, x[MOST], H[MOST * MOST], y[MOST];
        bool hold[MOST] = {false};
        ck_assert_int_lt(n, MOST);
        for (int i = 0; i < n; ++i) {
            D[i] = 1.0;
            hold[i] = scene_random_index(&random, 5) == 0;
        }
        x[n] = 1.5;
        if (pz_tree_curvature(tree, solver->at, 1e-3, D, hold, zeros, x)) {
            ck_assert_int_eq(poise_objective_hessian(solver->at, POISE_HESSIAN_EXACT, H, NULL), POISE_OK);
            times(n, H, x, y);
            ck_assert_double_lt(inner(n, x, y) + 1e-3 * inner(n, x, x), 1e-12);
            for (int i = 0; i < n; ++i) {
                ck_assert(!hold[i] || x[i] == 0.0);
            }
            found += inner(n, x, x) > 0.0;
        }
        ck_assert_double_eq(x[n], 1.5); // nothing is written behind it
        free(memory);
        poise_solver_destroy(solver);
    }
    ck_assert_int_gt(found, 50);
}

// A hinge that two others hang on, one of which carries a curve.
static figure forked_figure(scene_random *random)
{
    static const char *const names[][2] = {{"a", NULL}, {"b", "a"}, {"c", "a"}, {"d", "c"}};
    poise_builder *builder = new_builder();
    for (int k = 0; k < 4; ++k) {
        poise_joint joint = joint_of(names[k][0], names[k][1], k < 3 ? POISE_JOINT_REVOLUTE : POISE_JOINT_CURVE);
        joint.axis = scene_random_direction(random);
        joint.offset.position = random_vector(random, 0.5);
        add(builder, &joint);
    }
    figure f = figure_of(model_of(builder));
    scene_random_configuration(random, f.model, f.q);
    update(&f);
    return f;
}

// (H + lambda D) x = -g over the free dofs, with the others held at values of their own: up and down the tree or, where
// joints follow others, by the dense matrix.
TEST(a_step_solves_the_damped_system_around_held_dofs)
{
    scene_random random = scene_random_make(18);
    for (int round = 0; round < 100; ++round) {
        figure f = round % 5 == 4 ? forked_figure(&random)
                                  : random_figure(&random, 2 + round % 6, round % 2 ? RANDOM_MIMICS : RANDOM_PLAIN);
        int n = f.nv;
        poise_solver_options options = poise_solver_options_default();
        poise_solver *solver;
        ck_assert_int_eq(poise_solver_create(f.model, &options, NULL, &solver, NULL), POISE_OK);
        poise_goal goals[] = {poise_goal_position(poise_model_info(f.model).joints - 1, random_vector(&random, 1.0),
                                                  random_vector(&random, 0.3)),
                              poise_goal_position(1, random_vector(&random, 1.0), random_vector(&random, 0.3))};
        ck_assert_int_eq(poise_objective_set_goals(solver->at, goals, round % 5 == 4 ? 2 : 1, NULL), POISE_OK);
        ck_assert_int_eq(poise_objective_evaluate(solver->at, f.q, POISE_LEVEL_HESSIAN, NULL), POISE_OK);
        pz_arena arena = pz_arena_counting();
        pz_tree_step_lay_out(solver, &arena);
        void *memory = calloc(1, pz_arena_bytes(&arena));
        arena = pz_arena_over(memory, pz_arena_bytes(&arena));
        pz_tree_step *tree = pz_tree_step_lay_out(solver, &arena);
        double D[MOST], value[MOST], x[MOST] = {0}, H[MOST * MOST], y[MOST];
        bool hold[MOST];
        ck_assert_int_lt(n, MOST);
        for (int i = 0; i < n; ++i) {
            D[i] = scene_random_range(&random, 0.5, 2.0);
            hold[i] = scene_random_index(&random, 3) == 0;
            value[i] = scene_random_range(&random, -0.3, 0.3);
        }
        ck_assert(pz_tree_solve(tree, solver->at, POISE_HESSIAN_GAUSS_NEWTON, 0.1, D, hold, value, x));
        ck_assert_int_eq(poise_objective_hessian(solver->at, POISE_HESSIAN_GAUSS_NEWTON, H, NULL), POISE_OK);
        times(n, H, x, y);
        for (int i = 0; i < n; ++i) {
            double rest = y[i] + 0.1 * D[i] * x[i] + poise_objective_value(solver->at).gradient[i];
            ck_assert_msg(hold[i] ? x[i] == value[i] : fabs(rest) <= 1e-11, "round %d, dof %d: %g", round, i, rest);
        }
        free(memory);
        poise_solver_destroy(solver);
    }
}
