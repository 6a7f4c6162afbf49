#define _XOPEN_SOURCE 700

// Sets, statistics and records of evaluations.
#include "support/test_main.h"

#include "papers/reproduce/erik_evaluation.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

TEST(grids_have_the_printed_numbers_of_postures)
{
    for (int s = 0; s < EVALUATE_SKELETONS; ++s) {
        poise_erik_options options = poise_erik_options_default();
        evaluate_problem *problem;
        ck_assert_int_eq(evaluate_problem_create(s, &options, EVALUATE_YXZ, 2, &problem), POISE_OK);
        ck_assert_int_eq(problem->posture_count, problem->skeleton->printed.postures);
        ck_assert_int_eq(problem->posture_count, evaluate_grid_count(problem->swept, problem->skeleton->finest));
        evaluate_problem_destroy(problem);
    }
    ck_assert_int_eq(evaluate_grid_count(1, 10), 33);
    ck_assert_int_eq(evaluate_grid_count(2, 10), 377);
    ck_assert_int_eq(evaluate_grid_count(3, 10), 3789);
    ck_assert_int_eq(evaluate_grid_count(4, 7), 8305);
    ck_assert_int_eq(evaluate_grid_count(6, 4), 19657);
    ck_assert_int_eq(evaluate_grid_count(3, 12), 7265);
}

// Points as fractions: none twice, each in a grid, and every point of every grid there.
TEST(grids_hold_every_point_once)
{
    enum { D = 2, FINEST = 7 };
    int count = (int)evaluate_grid_count(D, FINEST), whole = 420; // the common denominator of 1 .. 7
    unsigned char *points = malloc((size_t)count * D), *denominators = malloc((size_t)count);
    bool *seen = calloc((size_t)((whole + 1) * (whole + 1)), sizeof *seen);
    ck_assert(points && denominators && seen);
    evaluate_grid_points(D, FINEST, points, denominators);
    for (int i = 0; i < count; ++i) {
        int q = denominators[i], x = points[D * i] * (whole / q), y = points[D * i + 1] * (whole / q);
        ck_assert(q >= 1 && q <= FINEST && points[D * i] <= q && points[D * i + 1] <= q);
        ck_assert(!seen[x * (whole + 1) + y]);
        seen[x * (whole + 1) + y] = true;
        ck_assert(i == 0 || q >= denominators[i - 1]);
    }
    for (int q = 1; q <= FINEST; ++q) {
        for (int x = 0; x <= q; ++x) {
            for (int y = 0; y <= q; ++y) {
                ck_assert(seen[x * (whole / q) * (whole + 1) + y * (whole / q)]);
            }
        }
    }
    free(points);
    free(denominators);
    free(seen);
}

TEST(postures_reach_both_limits_and_leave_the_ends_alone)
{
    poise_erik_options options = poise_erik_options_default();
    evaluate_problem *problem;
    ck_assert_int_eq(evaluate_problem_create(2, &options, EVALUATE_YXZ, 2, &problem), POISE_OK);
    const double *lower = poise_model_info(problem->model).lower, *upper = poise_model_info(problem->model).upper;
    bool at_lower[5] = {false}, at_upper[5] = {false};
    for (int64_t i = 0; i < problem->posture_count; ++i) {
        double q[5];
        evaluate_posture(problem, i, q);
        ck_assert(poise_model_within_limits(problem->model, q));
        ck_assert(q[0] == 0.0 && q[4] == 0.0);
        for (int k = 0; k < 5; ++k) {
            at_lower[k] = at_lower[k] || q[k] == lower[k];
            at_upper[k] = at_upper[k] || q[k] == upper[k];
        }
    }
    for (int k = 1; k < 4; ++k) {
        ck_assert(at_lower[k] && at_upper[k]);
    }
    evaluate_problem_destroy(problem);
}

TEST(orientations_are_yaw_pitch_and_roll)
{
    const unsigned char point[3] = {3, 1, 2}; // of 4: pi/2, -pi/2, 0
    poise_quat q = evaluate_orientation(EVALUATE_YXZ, point, 4);
    poise_vec3 y = poise_quat_rotate(q, poise_vec3_make(0, 1, 0)), z = poise_quat_rotate(q, poise_vec3_make(0, 0, 1));
    // pitch by -90 takes y to -z and z to y; yaw by 90 takes -z to -x
    ck_assert(fabs(y.x + 1) < 1e-15 && fabs(y.y) < 1e-15 && fabs(z.y - 1) < 1e-15);
    const unsigned char rolled[3] = {2, 2, 3}; // a quarter roll
    y = poise_quat_rotate(evaluate_orientation(EVALUATE_YXZ, rolled, 4), poise_vec3_make(0, 1, 0));
    ck_assert(fabs(y.x + 1) < 1e-15);
    y = poise_quat_rotate(evaluate_orientation(EVALUATE_YXY, rolled, 4), poise_vec3_make(0, 1, 0));
    ck_assert(fabs(y.y - 1) < 1e-15);
}

// Sums of a thousand numbers of size 1.
TEST(statistics_in_parts_are_those_of_the_whole)
{
    evaluate_statistics whole = evaluate_statistics_make(1.0), parts = evaluate_statistics_make(1.0);
    double sum = 0.0, squares = 0.0;
    int beyond = 0;
    evaluate_statistics part = evaluate_statistics_make(1.0);
    for (int i = 0; i < 1000; ++i) {
        double x = fmod(i * 0.618, 1.2);
        sum += x;
        squares += x * x;
        beyond += x >= 1.0;
        evaluate_statistics_add(&whole, x);
        evaluate_statistics_add(&part, x);
        if (i % 77 == 0 || i == 999) {
            evaluate_statistics_merge(&parts, &part);
            part = evaluate_statistics_make(1.0);
        }
    }
    double mean = sum / 1000, deviation = sqrt(squares / 1000 - mean * mean);
    ck_assert_double_eq_tol(whole.mean, mean, 1e-13);
    ck_assert_double_eq_tol(evaluate_statistics_deviation(&whole), deviation, 1e-12);
    ck_assert_double_eq_tol(parts.mean, mean, 1e-13);
    ck_assert_double_eq_tol(evaluate_statistics_deviation(&parts), deviation, 1e-12);
    ck_assert(parts.least == whole.least && parts.most == whole.most && parts.count == 1000);
    ck_assert(memcmp(parts.bins, whole.bins, sizeof whole.bins) == 0);
    ck_assert_int_eq(whole.bins[EVALUATE_BINS], beyond);
    ck_assert_double_eq(evaluate_statistics_deviation(&(evaluate_statistics){0}), 0.0);
}

static evaluate_results some_results(void)
{
    evaluate_results results = evaluate_results_make();
    evaluate_problem *problem;
    poise_erik *erik;
    poise_erik_options options = poise_erik_options_default();
    const evaluate_run run = {.solver = EVALUATE_ERIK};
    double q[8];
    ck_assert_int_eq(evaluate_problem_create(1, &options, EVALUATE_YXZ, 4, &problem), POISE_OK);
    ck_assert_int_eq(poise_erik_create(problem->model, &problem->options, NULL, &erik, NULL), POISE_OK);
    for (int i = 0; i < 50; ++i) {
        int64_t posture, orientation;
        evaluate_draw(problem, 5, i, &posture, &orientation);
        ck_assert(posture < problem->posture_count && orientation >= 0 && orientation < problem->orientation_count);
        evaluate_sample(problem, &run, erik, posture, orientation, q, &results);
    }
    poise_erik_destroy(erik);
    evaluate_problem_destroy(problem);
    return results;
}

TEST(progress_that_is_read_is_what_was_written)
{
    char path[] = "evaluate_progress_XXXXXX";
    int file = mkstemp(path);
    ck_assert_int_ge(file, 0);
    close(file);
    evaluate_results written = some_results(), read[4];
    bool done[4] = {false};
    FILE *out = evaluate_progress_append(path, "a run");
    ck_assert_ptr_nonnull(out);
    evaluate_progress_write(out, 2, &written);
    fprintf(out, "part 1 12 13"); // cut off
    fclose(out);
    out = evaluate_progress_append(path, "a run"); // and taken up again
    evaluate_progress_write(out, 0, &written);
    fclose(out);
    ck_assert_int_eq(evaluate_progress_read(path, "a run", 4, read, done), 2);
    ck_assert(done[0] && !done[1] && done[2] && !done[3]);
    ck_assert(memcmp(&read[0], &written, sizeof written) == 0 && memcmp(&read[2], &written, sizeof written) == 0);
    ck_assert_int_eq(evaluate_progress_read(path, "another run", 4, read, done), -1);
    remove(path);
    ck_assert_int_eq(evaluate_progress_read(path, "a run", 4, read, done), 0);
}

// Two stretches that follow each other; the postures' turn to come is slower than that of the orientations.
TEST(stretches_take_every_posture_at_every_orientation_in_order)
{
    poise_erik_options options = poise_erik_options_default();
    evaluate_problem *problem;
    ck_assert_int_eq(evaluate_problem_create(1, &options, EVALUATE_YXZ, 2, &problem), POISE_OK);
    int64_t posture = 0, orientation = 0, expected = 0;
    for (int64_t from = 3; from < 9; from += 4) {
        evaluate_range part = {.problem = problem, .from = from, .to = from + 4, .is_whole = true};
        ck_assert_int_eq(evaluate_range_count(&part), 4 * problem->orientation_count);
        for (int64_t i = 0; i < evaluate_range_count(&part); ++i, ++expected) {
            evaluate_range_at(&part, i, &posture, &orientation);
            ck_assert_int_eq((posture - 3) * problem->orientation_count + orientation, expected);
            ck_assert(orientation >= 0 && orientation < problem->orientation_count);
        }
    }
    ck_assert_int_eq(posture, 10);
    evaluate_problem_destroy(problem);
}

TEST(stretches_of_a_random_sample_take_one_draw_in_so_many)
{
    poise_erik_options options = poise_erik_options_default();
    evaluate_problem *problem;
    ck_assert_int_eq(evaluate_problem_create(1, &options, EVALUATE_YXZ, 2, &problem), POISE_OK);
    evaluate_range part = {.problem = problem, .from = 20, .to = 50, .stride = 7, .seed = 5};
    ck_assert_int_eq(evaluate_range_count(&part), 30);
    for (int64_t i = 0; i < 30; ++i) {
        int64_t posture, orientation, drawn[2];
        evaluate_range_at(&part, i, &posture, &orientation);
        evaluate_draw(problem, 5, (20 + i) * 7, &drawn[0], &drawn[1]);
        ck_assert(posture == drawn[0] && orientation == drawn[1]);
    }
    evaluate_problem_destroy(problem);
}
