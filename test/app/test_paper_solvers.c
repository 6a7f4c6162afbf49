// The baselines of the exact-Hessian paper as its authors ran them: equal, digit for digit, to series that other programs
// made on the recording dg_03-05_02. LMFsolve was run by its authors' code, the quasi-Newton algorithm of fminunc by a
// re-implementation; reference/hessianik_reference.json of the data folder holds both.
#include "support/test_main.h"

#include "papers/reproduce/hessian_study.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

#define REFERENCE "reference/hessianik_reference.json"

enum { SOLVERS = 2, MOST = 200 };
static const struct {
    paper_solver solver;
    const char *name;
} solvers[SOLVERS] = {{PAPER_BFGS, "bfgs"}, {PAPER_LM, "lm_repo"}};

// The recording and the reference, kept for all tests.
static const hessian_study *study(void)
{
    static hessian_study kept;
    if (!kept.limited) {
        ck_assert_msg(hessian_study_create(test_data("hdm05"), "dg_03-05_02", &kept), "%s", kept.task.error.text);
    }
    return &kept;
}

static const hdm05_task *task(void)
{
    return &study()->task;
}

static const json_t *reference(void)
{
    static json_t *kept;
    kept = kept ? kept : json_load_file(test_data(REFERENCE), 0, NULL);
    ck_assert_ptr_nonnull(kept);
    return kept;
}

static double number(const json_t *row, size_t i)
{
    ck_assert(json_is_number(json_array_get(row, i)));
    return json_number_value(json_array_get(row, i));
}

// Is x what was printed with so many digits? The tables were rounded to seven digits, then to six: 0.55 units of the last.
static void check_digits(double x, double printed, int digits, int frame)
{
    double unit = pow(10.0, floor(log10(printed)) + 1 - digits);
    ck_assert_msg(fabs(x - printed) <= 0.55 * unit, "frame %d: %.10g, printed %.10g", frame, x, printed);
}

// Solve a frame from q; f after each iteration and the sum of the distances.
static paper_result solve(paper_solver solver, int frame, int most, double tolerance, double *q, double *f, double *sum)
{
    static poise_objective *objective;
    poise_goal goals[HDM05_MARKERS];
    paper_result result;
    if (!objective) {
        ck_assert_int_eq(poise_objective_create(task()->model, 0, NULL, &objective, NULL), POISE_OK);
    }
    hdm05_goals(task(), frame, HDM05_OWN_PLACES, goals);
    ck_assert_int_eq(poise_objective_set_goals(objective, goals, HDM05_MARKERS, NULL), POISE_OK);
    paper_problem problem = {objective, task()->nq, task()->locked, most, tolerance};
    ck_assert(paper_solve(solver, &problem, q, f, &result));
    ck_assert_int_eq(poise_objective_evaluate(objective, q, POISE_LEVEL_COST, NULL), POISE_OK);
    *sum = 0.0;
    for (int i = 0; i < HDM05_MARKERS; ++i) {
        *sum += poise_objective_goal_error(objective, i).error;
    }
    return result;
}

// Rows: frame, iterations, f at the start, f at the end, sum of distances. The first frame starts at its own solution, where
// f is rounding.
TEST_DATA_ROWS(sequence_of_200_frames_has_the_printed_digits, SOLVERS, REFERENCE " hdm05")
{
    const json_t *table = json_object_get(json_object_get(reference(), "table_warm_first_200"), solvers[test_row].name);
    double q[128], f[MOST + 1], sum;
    memcpy(q, hdm05_pose(task(), 0), (size_t)task()->nq * sizeof *q);
    for (size_t i = 0; i < json_array_size(table); ++i) {
        const json_t *row = json_array_get(table, i);
        int frame = (int)number(row, 0);
        paper_result result = solve(solvers[test_row].solver, frame - 1, 10, HDM05_FTOL, q, f, &sum);
        ck_assert_int_eq(result.iterations, (int)number(row, 1));
        if (frame > 1) {
            check_digits(f[0], number(row, 2), 6, frame);
            check_digits(result.f, number(row, 3), 6, frame);
            check_digits(sum, number(row, 4), 6, frame);
        }
    }
    ck_assert_uint_eq(json_array_size(table), 200);
}

// Rows: frame, iterations, sum of distances, f at the start and after each iteration.
TEST_DATA_ROWS(single_frames_have_the_printed_digits, SOLVERS, REFERENCE " hdm05")
{
    const json_t *table = json_object_get(json_object_get(reference(), "table_per_frame"), solvers[test_row].name);
    for (size_t i = 0; i < json_array_size(table); ++i) {
        const json_t *row = json_array_get(table, i);
        int frame = (int)number(row, 0);
        double q[128], f[MOST + 1], sum;
        memcpy(q, hdm05_pose(task(), frame - 2), (size_t)task()->nq * sizeof *q);
        paper_result result = solve(solvers[test_row].solver, frame - 1, 10, HDM05_FTOL, q, f, &sum);
        ck_assert_int_eq(result.iterations, (int)number(row, 1));
        check_digits(sum, number(row, 2), 6, frame);
        for (int k = 0; k <= result.iterations; ++k) {
            check_digits(f[k], number(row, (size_t)(3 + k)), 6, frame);
        }
    }
    ck_assert_uint_ge(json_array_size(table), 276);
}

// Long series of eleven frames, of which the first 40 iterations are printed with seven digits. Below 1e-9 f is the square
// of what rounding leaves.
TEST_DATA_ROWS(long_series_have_the_printed_digits, SOLVERS, REFERENCE " hdm05")
{
    static const struct {
        const char *key;
        int most;
        bool from_zero;
    } runs[] = {{"prev_start_ftol1e-20_kmax100", 100, false}, {"zero_start_ftol1e-20_kmax200", 200, true}};
    const json_t *frames = json_object_get(reference(), "frames");
    int compared = 0;
    for (size_t i = 0; i < 2 * json_array_size(frames); ++i) {
        const json_t *entry = json_array_get(frames, i / 2);
        const json_t *run = json_object_get(json_object_get(entry, "solvers"), runs[i % 2].key);
        const json_t *history = json_object_get(json_object_get(run, solvers[test_row].name), "f_history");
        int frame = (int)json_integer_value(json_object_get(entry, "frame"));
        double q[128] = {0}, f[MOST + 1], sum;
        if (!history) {
            continue;
        }
        if (runs[i % 2].from_zero) {
            hdm05_zero(task(), frame - 1, q);
        } else {
            memcpy(q, hdm05_pose(task(), frame - 2), (size_t)task()->nq * sizeof *q);
        }
        paper_result result = solve(solvers[test_row].solver, frame - 1, runs[i % 2].most, 1e-20, q, f, &sum);
        for (size_t k = 0; k < json_array_size(history) && (int)k <= result.iterations; ++k) {
            if (number(history, k) > 1e-9) {
                check_digits(f[k], number(history, k), 7, frame);
                compared += 1;
            }
        }
    }
    ck_assert_int_ge(compared, 300);
}

// What the reference says of levenberg_marquardt with its own damping: 9 of these 11 frames from zero.
TEST_DATA(damping_of_the_authors_solves_frames_from_zero, REFERENCE " hdm05")
{
    const json_t *frames = json_object_get(reference(), "frames");
    int solved = 0;
    for (size_t i = 0; i < json_array_size(frames); ++i) {
        const json_t *entry = json_array_get(frames, i);
        const json_t *run = json_object_get(json_object_get(entry, "solvers"), "zero_start_ftol1e-20_kmax200");
        int frame = (int)json_integer_value(json_object_get(entry, "frame"));
        double printed = json_number_value(json_object_get(json_object_get(run, "lm_repo"), "f_final"));
        double q[128], f[MOST + 1], sum;
        hdm05_zero(task(), frame - 1, q);
        paper_result result = solve(PAPER_LM, frame - 1, MOST, 1e-20, q, f, &sum);
        ck_assert_msg((result.f < HDM05_FTOL) == (printed < HDM05_FTOL), "frame %d: f %g, printed %g", frame, result.f,
                      printed);
        solved += result.f < HDM05_FTOL;
    }
    ck_assert_int_eq(solved, 9);
}

// ---- The nearest semidefinite matrix inside the trust region -------------------------------------------------------------

// f at the end of a run of TRUST_REGION with the authors' settings and the projected Hessian.
static double end_of(int frame, bool from_zero, int most, double tolerance, int *iterations)
{
    hessian_run run = hessian_run_default(POISE_METHOD_TRUST_REGION, most);
    double f[MOST + 1];
    int count;
    run.nearest = true;
    run.tolerance = tolerance;
    run.damping = from_zero ? 0.1 : 0.0;
    ck_assert(hessian_curve(study(), &run, frame - 1, from_zero, f, &count));
    *iterations = count - 1;
    return f[count - 1];
}

// The reference has another trust region (two-dimensional subspaces) and projects the authors' Hessian, which is not exact:
// its series cannot be met digit by digit, but what they solve and how fast can.
TEST_DATA(projected_trust_region_solves_what_the_reference_does, REFERENCE " hdm05")
{
    const json_t *table = json_object_get(json_object_get(reference(), "table_per_frame"), "tr_repoH_spd");
    int below = 0, printed_below = 0, steps = 0, printed_steps = 0, iterations;
    for (size_t i = 0; i < json_array_size(table); ++i) {
        const json_t *row = json_array_get(table, i);
        below += end_of((int)number(row, 0), false, 10, HDM05_FTOL, &iterations) <= HDM05_FTOL;
        steps += iterations;
        printed_below += number(row, json_array_size(row) - 1) < HDM05_FTOL;
        printed_steps += (int)number(row, 1);
    }
    ck_assert_int_ge(below, printed_below);
    ck_assert_int_le(steps, printed_steps + printed_steps / 5); // 1.9 iterations a frame there
}

TEST_DATA(projected_trust_region_solves_from_zero_what_the_reference_does, REFERENCE " hdm05")
{
    const json_t *frames = json_object_get(reference(), "frames");
    int below = 0, printed_below = 0, iterations;
    for (size_t i = 0; i < json_array_size(frames); ++i) {
        const json_t *entry = json_array_get(frames, i);
        const json_t *run = json_object_get(json_object_get(entry, "solvers"), "zero_start_ftol1e-20_kmax200");
        double printed = json_number_value(json_object_get(json_object_get(run, "tr_repoH_spd"), "f_final"));
        below +=
            end_of((int)json_integer_value(json_object_get(entry, "frame")), true, MOST, 1e-20, &iterations) < HDM05_FTOL;
        printed_below += printed < HDM05_FTOL;
    }
    ck_assert_int_ge(below, printed_below);
}

// ---- Parts ---------------------------------------------------------------------------------------------------------------

// The matrix of second differences has the eigenvalues 2 - 2 cos(k pi/(n + 1)), all positive.
TEST(eigenvalues_and_solutions_of_second_differences)
{
    enum { N = 12 };
    const double pi = 3.14159265358979323846;
    double A[N * N] = {0}, B[N * N], w[N], x[N];
    for (int i = 0; i < N; ++i) {
        A[i * N + i] = 2.0;
        if (i > 0) {
            A[i * N + i - 1] = A[(i - 1) * N + i] = -1.0;
        }
        x[i] = 1.0;
    }
    memcpy(B, A, sizeof B);
    symmetric_eigenvalues(N, A, w);
    for (int k = 0; k < N; ++k) {
        ck_assert_double_eq_tol(w[k], 2.0 - 2.0 * cos((k + 1) * pi / (N + 1)), 1e-14);
    }
    ck_assert(symmetric_solve(N, B, x)); // -x'' = 1: x_i = (i + 1)(N - i)/2
    for (int i = 0; i < N; ++i) {
        ck_assert_double_eq_tol(x[i], 0.5 * (i + 1) * (N - i), 1e-12);
    }
    B[0] = -1.0;
    ck_assert(!symmetric_solve(N, B, x));
}
