// Arm poses as the device solves them, on the host: runs without a device.
#include "cuda_test_arms.h"
#include "lib/arm_fast.h"
#include "lib/arm_world.h"

#include <limits.h>
#include <math.h>
#include <string.h>

static const char *no_fused(void)
{
    return pz_cpu_is_fused() ? NULL : "this processor has no fused multiply-add";
}

// A fixture with the task that is made of it.
typedef struct host_fixture {
    fixture f;
    pz_cuda_task task;
    pz_fast_chain fast;
    bool has_fast;
} host_fixture;

static host_fixture make_host(const char *scene, int count, int beyond, uint64_t seed, const poise_solver_options *options)
{
    host_fixture h = {.f = make(scene, count, beyond, seed)};
    ck_assert_int_eq(pz_cuda_task_make(h.f.model, &h.f.goal, options, &h.task, NULL), POISE_OK);
    h.has_fast = pz_fast_chain_make(&h.task, &h.fast);
    begin(&h.f);
    return h;
}

static bool solve(host_fixture *h, int i, int patience)
{
    return pz_cuda_host_solve(&h->task, h->has_fast ? &h->fast : NULL, NULL, &h->f.targets[i], patience,
                              h->f.q + i * h->f.nq, &h->f.answers[i]);
}

// ---- Numbers in single precision -----------------------------------------------------------------------------------------

#define PI 3.14159265358979323846

TEST_IF(sines_are_good_to_five_in_ten_million, no_fused)
{
    double worst = 0.0;
    for (int i = -400000; i <= 400000; ++i) { // four turns
        float s, c, a = (float)i * 1e-5f;
        fast_sincos(a, &s, &c);
        worst = fmax(worst, fmax(fabs(s - sin(PI * (double)a)), fabs(c - cos(PI * (double)a))));
    }
    ck_assert_double_le(worst, 5e-7);
}

TEST_IF(inverse_roots_are_good_to_five_digits, no_fused)
{
    for (int i = 1; i <= 100000; ++i) {
        float x = (float)i * 1e-5f;
        ck_assert_double_le(fabs(fast_inverse_root(x) * sqrt((double)x) - 1.0), 5e-6);
    }
}

// ---- Answers -------------------------------------------------------------------------------------------------------------

static void solve_and_judge(const char *scene, int count)
{
    poise_solver_options options = solver_options();
    host_fixture h = make_host(scene, count, 0, 21, &options);
    poise_kinematics *kinematics;
    ck_assert_int_eq(poise_kinematics_create(h.f.model, NULL, &kinematics, NULL), POISE_OK);
    for (int i = 0; i < count; ++i) {
        ck_assert(solve(&h, i, INT_MAX));
        judge(&h.f, kinematics, i);
    }
    poise_kinematics_destroy(kinematics);
    release(&h.f);
}

TEST_IF(all_targets_within_reach_are_met_within_the_limits, no_fused)
{
    solve_and_judge("arm6", 10000);
    solve_and_judge("arm7", 10000);
    solve_and_judge("scara", 500);
    solve_and_judge("lamp", 500);
}

// The sum is that of every compiler and processor; a change to the search in single precision changes it.
TEST_IF(searches_have_the_same_bits_everywhere, no_fused)
{
    uint64_t hash = 14695981039346656037u; // Fowler, Noll and Vo, over words
    static const char *const scenes[] = {"arm6", "arm7"};
    for (int s = 0; s < 2; ++s) {
        poise_solver_options options = solver_options();
        host_fixture h = make_host(scenes[s], 500, 0, 22, &options);
        for (int i = 0; i < h.f.count; ++i) {
            ck_assert(solve(&h, i, INT_MAX));
            for (int k = 0; k < h.f.nq; ++k) {
                uint64_t word;
                memcpy(&word, &h.f.q[i * h.f.nq + k], sizeof word);
                hash = (hash ^ word) * 1099511628211u;
            }
        }
        release(&h.f);
    }
    ck_assert_msg(hash == 0x4a99bb5c3fbb2436u, "%016llx", (unsigned long long)hash);
}

TEST_IF(a_start_outside_the_limits_or_many_turns_away_is_as_good, no_fused)
{
    poise_solver_options options = solver_options();
    host_fixture h = make_host("arm7", 200, 0, 23, &options);
    poise_kinematics *kinematics;
    ck_assert_int_eq(poise_kinematics_create(h.f.model, NULL, &kinematics, NULL), POISE_OK);
    for (int i = 0; i < h.f.count; ++i) {
        for (int k = 0; k < h.f.nq; ++k) {
            h.f.q[i * h.f.nq + k] += (k % 2 ? 1e3 : -1e3) * 2.0 * PI;
        }
        ck_assert(solve(&h, i, INT_MAX));
        judge(&h.f, kinematics, i);
    }
    poise_kinematics_destroy(kinematics);
    release(&h.f);
}

// The same starts as they are and a thousand turns away: the answers are a thousand turns apart, up to what rounding of the
// start, 1e-7, makes of a redundant arm.
TEST_IF(hinges_without_limits_keep_their_turns, no_fused)
{
    poise_solver_options options = solver_options();
    host_fixture h = make_host("arm7", 200, 0, 27, &options);
    for (int k = 0; k < h.f.nq; ++k) {
        h.task.chain.lower[k] = -INFINITY;
        h.task.chain.upper[k] = INFINITY;
    }
    ck_assert(pz_fast_chain_make(&h.task, &h.fast));
    int alike = 0;
    for (int i = 0; i < h.f.count; ++i) {
        double near[MOST_Q], *q = h.f.q + i * h.f.nq, worst = 0.0;
        ck_assert(solve(&h, i, INT_MAX));
        memcpy(near, q, (size_t)h.f.nq * sizeof *q);
        for (int k = 0; k < h.f.nq; ++k) {
            q[k] = h.f.starts[i * h.f.nq + k] + 2000.0 * PI;
        }
        ck_assert(solve(&h, i, INT_MAX));
        ck_assert_int_eq(h.f.answers[i].outcome, POISE_OUTCOME_REACHED);
        for (int k = 0; k < h.f.nq; ++k) {
            worst = fmax(worst, fabs(q[k] - near[k] - 2000.0 * PI));
        }
        alike += worst < 1e-5;
    }
    ck_assert_int_gt(alike, h.f.count * 9 / 10); // a few searches are chaotic
    release(&h.f);
}

static void compare_closest(const char *scene, int restarts, poise_start start)
{
    poise_solver_options options = solver_options();
    options.restarts = restarts;
    options.start = start;
    host_fixture h = make_host(scene, 40, 40, 24, &options);
    poise_solver *solver;
    ck_assert_int_eq(poise_solver_create(h.f.model, &options, NULL, &solver, NULL), POISE_OK);
    int missed = 0;
    for (int i = 0; i < h.f.count; ++i) {
        poise_report report;
        poise_goal goal = h.f.goal;
        goal.target = h.f.targets[i];
        ck_assert_int_eq(poise_solve(solver, &goal, 1, h.f.starts + i * h.f.nq, &report, NULL), POISE_OK);
        ck_assert(solve(&h, i, INT_MAX));
        if (h.f.answers[i].outcome == POISE_OUTCOME_REACHED) { // single precision may find what double does not
            continue;
        }
        missed += 1;
        if (report.outcome == POISE_OUTCOME_REACHED) { // and poise_solve what lies in corners of the limits
            ck_assert_int_eq(report.restarts, restarts);
            continue;
        }
        ck_assert(memcmp(h.f.q + i * h.f.nq, h.f.starts + i * h.f.nq, (size_t)h.f.nq * sizeof *h.f.q) == 0);
        // the device does not ask whether limits alone are in the way
        bool is_doubted = report.outcome == POISE_OUTCOME_STALLED && h.f.answers[i].outcome == POISE_OUTCOME_CLOSEST;
        ck_assert(h.f.answers[i].outcome == report.outcome || (is_doubted && restarts > 0));
        ck_assert_int_eq(h.f.answers[i].restarts, report.restarts);
        // summed in another order
        ck_assert_double_le(fabs(h.f.answers[i].cost - report.cost), 1e-12 * (1.0 + report.cost));
    }
    ck_assert_int_gt(missed, h.f.count / 4);
    poise_solver_destroy(solver);
    release(&h.f);
}

TEST_IF(targets_out_of_reach_get_the_closest_pose_of_poise_solve_to_the_bit, no_fused)
{
    compare_closest("arm6", 100, POISE_START_COLD);
    compare_closest("arm7", 100, POISE_START_COLD);
    compare_closest("arm7", 0, POISE_START_COLD);
    compare_closest("arm7", 0, POISE_START_WARM);
    compare_closest("scara", 100, POISE_START_COLD);
}

// ---- Patience ------------------------------------------------------------------------------------------------------------

TEST_IF(what_patience_does_not_settle_is_left_untouched, no_fused)
{
    poise_solver_options options = solver_options();
    host_fixture h = make_host("arm7", 3000, 20, 25, &options);
    straighten(&h.f, 3, 2500);
    int left = 0;
    for (int i = 0; i < h.f.count; ++i) {
        size_t size = (size_t)h.f.nq * sizeof *h.f.q;
        double early[MOST_Q], *q = h.f.q + i * h.f.nq;
        bool settled = solve(&h, i, 1);
        memcpy(early, q, size);
        memcpy(q, h.f.starts + i * h.f.nq, size);
        ck_assert(settled || memcmp(early, q, size) == 0);
        ck_assert(solve(&h, i, INT_MAX));
        ck_assert(settled == (h.f.answers[i].restarts == 0 && h.f.answers[i].outcome == POISE_OUTCOME_REACHED));
        ck_assert(!settled || memcmp(early, q, size) == 0);
        left += !settled;
    }
    ck_assert(left >= 10 && left < h.f.count / 2);
    release(&h.f);
}

// ---- What is not served --------------------------------------------------------------------------------------------------

TEST_IF(goals_that_are_not_served_are_named, no_fused)
{
    fixture f = make("arm7", 1, 0, 26);
    poise_solver_options options = solver_options();
    poise_error error = {.text = ""};
    pz_cuda_task task;
    poise_goal banded = f.goal, point = poise_goal_position(f.goal.body, f.goal.local.position, poise_vec3_make(0, 0, 0));
    banded.tolerance = poise_vec3_make(0.1, 0, 0);
    ck_assert_int_eq(pz_cuda_task_make(f.model, &banded, &options, &task, &error), POISE_ERROR_UNSUPPORTED);
    ck_assert(strstr(error.text, "bands") != NULL);
    ck_assert_int_eq(pz_cuda_task_make(f.model, &point, &options, &task, &error), POISE_ERROR_UNSUPPORTED);
    release(&f);
}
