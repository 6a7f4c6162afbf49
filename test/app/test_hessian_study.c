// The experiments of the exact-Hessian paper and of the notes on the plane: the problems are what they should be, and the
// numbers that come out agree with each other.
#include "support/test_main.h"

#include "papers/reproduce/reproduce.h"

#include <math.h>
#include <string.h>

static hessian_study make(const char *motion)
{
    hessian_study study;
    ck_assert_msg(hessian_study_create(NULL, motion, &study), "%s", study.task.error.text);
    return study;
}

// Positions of a body of 2 m are rounded to 1e-14 m = 1e-12 cm; f sums 41 squares of a few times that.
TEST(the_pose_of_a_stand_in_meets_its_markers)
{
    static const char *const motions[] = {"walk", "punch", "kick", "cartwheel"};
    for (int m = 0; m < 4; ++m) {
        hessian_study study = make(motions[m]);
        poise_objective *objective;
        poise_goal goals[HDM05_MARKERS];
        ck_assert_int_eq(poise_objective_create(study.task.model, 0, NULL, &objective, NULL), POISE_OK);
        for (int f = 0; f < study.task.frames; f += 7) {
            hdm05_goals(&study.task, f, HDM05_OWN_PLACES, goals);
            poise_objective_set_goals(objective, goals, HDM05_MARKERS, NULL);
            poise_objective_evaluate(objective, hdm05_pose(&study.task, f), POISE_LEVEL_COST, NULL);
            ck_assert_double_le(poise_objective_value(objective).cost, 1e-20);
        }
        poise_objective_destroy(objective);
        hessian_study_destroy(&study);
    }
}

TEST(every_pose_of_the_motion_lies_within_the_limits_made_of_it)
{
    hessian_study study = make("kick");
    for (int f = 0; f < study.task.frames; ++f) {
        ck_assert(poise_model_within_limits(study.limited, hdm05_pose(&study.task, f)));
    }
    hessian_study_destroy(&study);
}

TEST(no_method_goes_uphill)
{
    static const poise_method methods[] = {POISE_METHOD_BFGS, POISE_METHOD_TRUST_REGION, POISE_METHOD_LEVENBERG_MARQUARDT,
                                           POISE_METHOD_AUTO};
    hessian_study study = make("punch");
    for (int i = 0; i < 8; ++i) {
        hessian_run run = hessian_run_default(methods[i % 4], 40);
        double f[41];
        int count = 0;
        run.has_limits = i >= 4;
        ck_assert(hessian_curve(&study, &run, 60, false, f, &count));
        ck_assert_int_ge(count, 2);
        for (int k = 1; k < count; ++k) {
            ck_assert_double_le(f[k], f[k - 1]);
        }
    }
    hessian_study_destroy(&study);
}

// Frames in which a method gets below f = 1e-2 from all angles zero, of five of each of three motions.
static int solved_from_zero(poise_method method, double damping, double *iterations)
{
    static const char *const motions[] = {"walk", "punch", "kick"};
    int solved = 0;
    *iterations = 0.0;
    for (int m = 0; m < 3; ++m) {
        hessian_study study = make(motions[m]);
        hessian_run run = hessian_run_default(method, 200);
        run.damping = damping;
        for (int i = 0; i < 5; ++i) {
            double f[201];
            int count, frame = study.task.frames * (2 * i + 1) / 10;
            ck_assert(hessian_curve(&study, &run, frame, true, f, &count));
            solved += f[count - 1] <= HDM05_FTOL;
            *iterations += (count - 1) / 15.0;
        }
        hessian_study_destroy(&study);
    }
    return solved;
}

// With eigenvalues compared in mixed units, lengths against angles, it was 2 of 15.
TEST(projected_newton_comes_from_far_off)
{
    double iterations;
    ck_assert_int_ge(solved_from_zero(POISE_METHOD_NEWTON_PROJECTED, 0.0, &iterations), 14);
    ck_assert_double_le(iterations, 25.0);
}

// With the damping for starts nearby, 1e-4, it is none.
TEST(levenberg_marquardt_comes_from_far_off_with_the_authors_damping)
{
    double iterations;
    ck_assert_int_ge(solved_from_zero(POISE_METHOD_LEVENBERG_MARQUARDT, 1.0, &iterations), 14);
    ck_assert_double_le(iterations, 25.0);
}

TEST(sums_over_frames_are_those_of_the_single_frames)
{
    hessian_study study = make("walk");
    hessian_run run = hessian_run_default(POISE_METHOD_AUTO, 100);
    hessian_sums sums;
    double iterations = 0.0, f[101];
    int frames = 0, count;
    ck_assert(hessian_frames(&study, &run, 10, &sums));
    for (int frame = 1; frame < study.task.frames; frame += 10, ++frames) {
        ck_assert(hessian_curve(&study, &run, frame, false, f, &count));
        ck_assert_double_le(f[count - 1], HDM05_FTOL);
        iterations += count - 1;
    }
    ck_assert_int_eq(sums.frames, frames);
    ck_assert_int_eq(sums.below, frames);
    ck_assert_int_eq(sums.before, frames); // there are no flips in our own motions
    ck_assert_double_eq(sums.iterations, iterations);
    hessian_study_destroy(&study);
}

TEST(a_sequence_follows_the_motion_from_its_pose_and_from_far_off)
{
    hessian_study study = make("walk");
    hessian_run run = hessian_run_default(POISE_METHOD_AUTO, 10);
    for (int first = 0; first < 3; first += 2) {
        hessian_sums sums;
        ck_assert(hessian_sequence(&study, &run, (hessian_first)first, 1, 40, &sums));
        ck_assert_int_eq(sums.frames, 40);
        ck_assert_int_eq(sums.below, 40);
        ck_assert_double_le(sums.error / 40.0, sqrt(2.0 * HDM05_FTOL));
        // |r|_2 <= sum of the lengths of 41 parts <= sqrt(41) |r|_2, frame by frame and so in sum
        ck_assert_double_ge(sums.distances, sums.error * (1.0 - 1e-12));
        ck_assert_double_le(sums.distances, sqrt(41.0) * sums.error * (1.0 + 1e-12));
    }
    hessian_study_destroy(&study);
}

TEST(what_is_not_there_is_named)
{
    hessian_study study;
    ck_assert(!hessian_study_create(NULL, "somersault", &study));
    ck_assert_ptr_nonnull(strstr(study.task.error.text, "somersault"));
    ck_assert(!hessian_study_create("nowhere", "dg_03-05_02", &study));
    ck_assert_ptr_nonnull(strstr(study.task.error.text, "nowhere/HDM_dg.asf"));
}

// The tolerance of "semidefinite" is 1e-12 of the larger eigenvalue.
TEST(definiteness_is_the_sign_of_the_eigenvalues)
{
    enum { SIZE = 25 };
    poise_definiteness kind[SIZE * SIZE];
    double f[SIZE * SIZE], smaller[SIZE * SIZE], larger[SIZE * SIZE];
    for (int goal = 1; goal <= 3; ++goal) {
        ck_assert(hessian_map(goal, SIZE, kind, f, smaller, larger));
        for (int i = 0; i < SIZE * SIZE; ++i) {
            double most = fmax(fabs(smaller[i]), fabs(larger[i]));
            if (fabs(smaller[i]) < 1e-9 * most || fabs(larger[i]) < 1e-9 * most) {
                continue;
            }
            poise_definiteness expected = smaller[i] > 0.0  ? POISE_DEFINITE_POSITIVE
                                          : larger[i] < 0.0 ? POISE_DEFINITE_NEGATIVE
                                                            : POISE_DEFINITE_INDEFINITE;
            ck_assert_int_eq(kind[i], expected);
            // the mirror image of an arm whose goal is on the axis
            int mirror = SIZE * SIZE - 1 - i;
            ck_assert_double_eq_tol(f[i], f[mirror], 1e-12);
            ck_assert_double_eq_tol(smaller[i], smaller[mirror], 1e-12 * (1.0 + most));
        }
    }
}

TEST(the_closed_form_of_the_plane_is_the_jacobian_and_descends)
{
    static planar_run run;
    for (int i = 0; i < PLANAR_SKELETONS * PLANAR_METHODS; ++i) {
        ck_assert(planar_descend((planar_skeleton)(i / PLANAR_METHODS), (planar_method)(i % PLANAR_METHODS), &run));
        ck_assert_double_le(run.difference, 1e-14); // lengths up to 5
        ck_assert_double_le(run.distance[run.count - 1], 1e-6);
        ck_assert_int_le(run.count, PLANAR_MOST);
        for (int k = 1; k < run.count; ++k) {
            ck_assert_double_le(run.distance[k], run.distance[k - 1]);
        }
    }
}

// ---- Definiteness --------------------------------------------------------------------------------------------------------

// A pose is the same pose in every parameterisation: f is, and with it which goals are met.
TEST(euler_angles_lock_and_other_coordinates_do_not)
{
    const double degree = 3.14159265358979323846 / 180.0;
    for (int chart = 0; chart < CHARTS; ++chart) {
        double open, locked;
        ck_assert(definiteness_gimbal((definiteness_chart)chart, 0.0, &open));
        ck_assert(definiteness_gimbal((definiteness_chart)chart, 90.0 * degree, &locked));
        ck_assert_double_ge(open, 0.5);
        if (chart == CHART_EULER) {
            ck_assert_double_le(fabs(locked), 1e-12);
        } else {
            ck_assert_double_ge(locked, 0.1);
        }
    }
}

// The reference counts, from the pose before: indefinite in 3796 of 3865 frames, median 4 negative eigenvalues; from zero in
// all, 28 to 38 of 58 negative.
TEST_DATA(hessians_of_the_recording_are_as_indefinite_as_the_reference_says, "hdm05")
{
    hessian_study study;
    definiteness_sums sums;
    ck_assert_msg(hessian_study_create(test_data("hdm05"), "dg_03-05_02", &study), "%s", study.task.error.text);
    definiteness_case before = {.chart = CHART_EULER, .state = STATE_BEFORE}, zero = {.state = STATE_ZERO};
    ck_assert(definiteness_along(&study, &before, 50, &sums));
    ck_assert_double_eq_tol((double)sums.indefinite / sums.frames, 3796.0 / 3865.0, 0.03);
    ck_assert_double_eq_tol(sums.negative / sums.frames, 4.0, 1.0);
    ck_assert(definiteness_along(&study, &zero, 50, &sums));
    ck_assert_int_eq(sums.indefinite, sums.frames);
    ck_assert_double_ge(sums.negative / sums.frames, 28.0);
    ck_assert_double_le(sums.negative / sums.frames, 38.0);
    hessian_study_destroy(&study);
}

// A pull on every angle adds its weight to every eigenvalue but those of the root's translation: enough of it, and H is
// positive definite near the answer; the same for every parameterisation.
TEST_ROWS(enough_of_a_prior_makes_hessians_positive_definite, CHARTS)
{
    hessian_study study = make("cartwheel");
    definiteness_case plain = {.chart = (definiteness_chart)test_row}, prior = plain, smooth = plain;
    definiteness_sums sums;
    prior.prior = smooth.smoothness = 1e4;
    ck_assert(definiteness_along(&study, &plain, 60, &sums));
    ck_assert_int_ge(sums.indefinite, sums.frames / 2);
    ck_assert(definiteness_along(&study, &prior, 60, &sums));
    ck_assert_int_eq(sums.indefinite, 0);
    ck_assert_double_le(sums.worst, 1e4);
    ck_assert(definiteness_along(&study, &smooth, 60, &sums));
    ck_assert_int_eq(sums.indefinite, 0);
    hessian_study_destroy(&study);
}

TEST(iterates_are_counted_with_and_without_limits)
{
    hessian_study study = make("kick");
    for (int limits = 0; limits < 2; ++limits) {
        definiteness_sums sums;
        ck_assert(definiteness_of_path(&study, limits == 1, 100, 5, &sums));
        ck_assert_int_eq(sums.frames, (study.task.frames - 1) / 100 * 6);
        ck_assert_int_ge(sums.indefinite, 1);
    }
    hessian_study_destroy(&study);
}
