// What every method promises, on thousands of random problems: trees of every joint type, every kind of goal.
#include "model/packed_model.h"
#include "solve/solver_state.h"
#include "support/allocations.h"
#include "support/problems.h"
#include "support/test_main.h"

#include <math.h>
#include <string.h>

#if defined(__SANITIZE_ADDRESS__)
#define ROUNDS 25 // a tenth of the speed
#else
#define ROUNDS 60
#endif
#define JOINTS 10

#define WITH_LIMITS_AND_LOCKS (PROBLEM_LIMITS | PROBLEM_LOCKS)

static const char *name_of(const problem *p)
{
    return poise_method_name(p->options.method);
}

// Problem number `round` of a method; that of AUTO is an arm every other time.
static problem *make(scene_random *random, poise_method method, int round, unsigned features)
{
    bool is_arm = method == POISE_METHOD_AUTO && round % 2 == 0;
    problem *p = is_arm ? problem_make_arm(random, 3 + scene_random_index(random, 6))
                        : problem_make(random, method, JOINTS, features);
    ck_assert_ptr_nonnull(p);
    return p;
}

// Run `check` on problems of every method. It is handed the answer too.
static void for_all(uint64_t seed, unsigned features, void (*check)(problem *p, const answer *a, const char *name))
{
    int solved = 0;
    for (int m = 0; m < POISE_METHOD_COUNT; ++m) {
        scene_random random = scene_random_make(seed * 100 + (uint64_t)m);
        for (int round = 0; round < ROUNDS; ++round) {
            problem *p = make(&random, (poise_method)m, round, features);
            char name[64];
            snprintf(name, sizeof name, "%s, problem %d", name_of(p), round);
            answer a = problem_solve(p);
            ck_assert_msg(a.status == POISE_OK || a.status == POISE_ERROR_UNSUPPORTED, "%s: %s", name,
                          poise_status_name(a.status));
            if (a.status == POISE_OK) {
                check(p, &a, name);
                solved += 1;
            }
            problem_destroy(p);
        }
    }
    ck_assert_int_ge(solved, POISE_METHOD_COUNT * ROUNDS * 19 / 20);
}

// ---- Cost ----------------------------------------------------------------------------------------------------------------

static bool is_arm(const problem *p)
{
    return p->options.method == POISE_METHOD_AUTO && p->count == 1 && p->goals[0].kind == POISE_GOAL_POSE;
}

// Twice 1e-6, in lengths and angles: an arm that is within its tolerances may have left a start with less cost than theirs.
static double met_cost(const problem *p)
{
    return 0.5 * 1e-12 * (p->goals[0].weight + p->goals[0].rotation_weight);
}

// The arm's own sums and those of the objective differ by rounding: some tens of operations on numbers of the cost's size.
#define SUMS 1e-13

static void check_costs(problem *p, const answer *a, const char *name)
{
    const poise_report *r = &a->report;
    double slack = is_arm(p) ? SUMS * (1.0 + r->start_cost) : 0.0, best = r->start_cost + slack;
    double floor = is_arm(p) && r->outcome == POISE_OUTCOME_REACHED ? met_cost(p) : 0.0;
    ck_assert_msg(r->cost <= fmax(best, floor), "%s: from %.17g to %.17g", name, r->start_cost, r->cost);
    bool keeps_all = is_arm(p) || p->options.method == POISE_METHOD_FABRIK;
    for (int i = 0; i < r->traced; ++i) {
        const poise_trace *t = &p->trace[i];
        ck_assert_msg(isfinite(t->cost) && isfinite(t->gradient) && isfinite(t->damping) && isfinite(t->step), "%s", name);
        ck_assert_msg(!t->accepted || t->cost <= best, "%s: accepted %.17g after %.17g", name, t->cost, best);
        ck_assert_msg(t->accepted || keeps_all || i == 0 || t->cost <= p->trace[i - 1].cost, "%s: a step that was not kept",
                      name);
        best = t->accepted ? t->cost : best;
    }
    // an arm that misses its target returns the closest pose near the start, although a search may have come closer
    bool is_near = is_arm(p) && r->outcome != POISE_OUTCOME_REACHED;
    ck_assert_msg(r->traced == PROBLEM_TRACE || is_near || r->cost <= fmax(best + slack, floor),
                  "%s: %.17g was better than %.17g", name, best, r->cost);
}

TEST(accepted_costs_never_rise)
{
    for_all(1, PROBLEM_LIMITS | PROBLEM_ONE_LEVEL, check_costs);
}

TEST(accepted_costs_never_rise_without_limits)
{
    for_all(2, PROBLEM_ONE_LEVEL, check_costs);
}

// ---- Limits and locks ----------------------------------------------------------------------------------------------------

static bool is_quaternion(const problem *p, int joint)
{
    poise_joint_type type = poise_model_joint_info(p->model, joint).type;
    return type == POISE_JOINT_BALL_QUATERNION || type == POISE_JOINT_FREE;
}

static void check_locks(problem *p, const answer *a, const char *name)
{
    ck_assert_msg(poise_model_within_limits(p->model, a->q), "%s", name);
    for (int k = 0; k < poise_model_info(p->model).joints; ++k) {
        poise_joint_info info = poise_model_joint_info(p->model, k);
        int nv = info.nv, q = info.q, v = info.v;
        int turn = is_quaternion(p, k) ? nv - 3 : nv; // where the quaternion begins, which is locked as a whole
        for (int i = 0; i < turn; ++i) {
            ck_assert_msg(!p->locked[v + i] || memcmp(&a->q[q + i], &p->start[q + i], sizeof(double)) == 0,
                          "%s: joint %d of type %s moves", name, k,
                          poise_joint_type_name(poise_model_joint_info(p->model, k).type));
        }
        if (turn < nv && (p->locked[v + turn] || p->locked[v + turn + 1] || p->locked[v + turn + 2])) {
            ck_assert_msg(memcmp(&a->q[q + turn], &p->start[q + turn], 4 * sizeof(double)) == 0, "%s: joint %d turns", name,
                          k);
        }
    }
}

TEST(limits_hold_and_locked_coordinates_keep_their_bits)
{
    for_all(3, WITH_LIMITS_AND_LOCKS, check_locks);
}

TEST(limits_hold_for_starts_outside_of_them)
{
    scene_random random = scene_random_make(4);
    for (int round = 0; round < 4 * ROUNDS; ++round) {
        problem *p = make(&random, (poise_method)(round % POISE_METHOD_COUNT), round, PROBLEM_LIMITS);
        for (int i = 0; i < p->nq; ++i) {
            p->start[i] *= scene_random_range(&random, -3, 3);
        }
        p->options.max_iterations = round % 7;
        answer a = problem_solve(p);
        if (a.status == POISE_OK) {
            ck_assert_msg(poise_model_within_limits(p->model, a.q), "%s, problem %d", name_of(p), round);
        }
        problem_destroy(p);
    }
}

// ---- What no goal sees ---------------------------------------------------------------------------------------------------

// Joints that move no body of a goal, nor the joint that they follow.
static void find_seen(const problem *p, bool *seen)
{
    memset(seen, 0, PROBLEM_NUMBERS * sizeof *seen);
    for (int k = 0; k < poise_model_info(p->model).joints; ++k) {
        for (int i = 0; i < p->count; ++i) {
            const poise_goal *g = &p->goals[i];
            bool over_all =
                g->kind == POISE_GOAL_POSTURE || g->kind == POISE_GOAL_SMOOTHNESS || g->kind == POISE_GOAL_CENTER_OF_MASS;
            bool over_other = g->kind == POISE_GOAL_RELATIVE && g->body2 >= 0 && pz_model_is_ancestor(p->model, k, g->body2);
            if (over_all || over_other || pz_model_is_ancestor(p->model, k, g->body)) {
                seen[k] = true;
                int leader = poise_model_joint_info(p->model, k).mimic;
                seen[leader == POISE_NONE ? k : leader] = true;
            }
        }
    }
}

static int unseen_joints;

static void check_unseen(problem *p, const answer *a, const char *name)
{
    bool seen[PROBLEM_NUMBERS];
    find_seen(p, seen);
    for (int k = 0; k < poise_model_info(p->model).joints; ++k) {
        int q = poise_model_joint_info(p->model, k).q, nq = poise_model_joint_info(p->model, k).nq;
        if (seen[k] || nq == 0) {
            continue;
        }
        ck_assert_msg(memcmp(&a->q[q], &p->start[q], (size_t)nq * sizeof(double)) == 0, "%s: joint %d of type %s moves",
                      name, k, poise_joint_type_name(poise_model_joint_info(p->model, k).type));
        unseen_joints += 1;
    }
}

TEST(joints_that_no_goal_sees_stay_put)
{
    unseen_joints = 0;
    for_all(5, PROBLEM_LIMITS, check_unseen);
    ck_assert_int_gt(unseen_joints, 5 * ROUNDS);
}

// ---- Same bits -----------------------------------------------------------------------------------------------------------

static void check_repeats(problem *p, const answer *a, const char *name)
{
    poise_solver *solver = NULL;
    ck_assert_int_eq(poise_solver_create(p->model, &p->options, NULL, &solver, NULL), POISE_OK);
    answer first = problem_solve_with(p, solver), second = problem_solve_with(p, solver);
    ck_assert_msg(answers_are_equal(p, a, &first), "%s: another solver", name);
    ck_assert_msg(answers_are_equal(p, a, &second), "%s: the second time", name);
    poise_goal other = p->goals[0];
    double q[PROBLEM_NUMBERS] = {0};
    poise_model_neutral(p->model, q);
    poise_model_clamp(p->model, q, NULL, NULL);
    other.target.position = poise_vec3_make(0.3, -0.7, 1.1);
    poise_solve(solver, &other, 1, q, NULL, NULL);
    other.target.position = poise_vec3_make(1e300, -0.7, 1.1);
    poise_solve(solver, &other, 1, q, NULL, NULL);
    answer third = problem_solve_with(p, solver);
    ck_assert_msg(answers_are_equal(p, a, &third), "%s: after another problem", name);
    poise_solver_destroy(solver);
}

TEST(answers_do_not_depend_on_what_was_solved_before)
{
    for_all(6, WITH_LIMITS_AND_LOCKS, check_repeats);
}

static void check_memory(problem *p, const answer *a, const char *name)
{
    size_t size = pz_solver_size(p->model, &p->options), shift = (size_t)(a->report.evaluations % 61) + 1;
    unsigned char *block = malloc(size + 128), *memory = block + shift;
    ck_assert_ptr_nonnull(block);
    memset(block, shift % 2 ? 0xff : 0xa5, size + 128); // as numbers: NaN, and -1e-130
    poise_solver *solver = pz_solver_init(p->model, &p->options, memory, size);
    answer b = problem_solve_with(p, solver);
    ck_assert_msg(answers_are_equal(p, a, &b), "%s", name);
    ck_assert_int_eq(memory[-1], shift % 2 ? 0xff : 0xa5);
    ck_assert_int_eq(memory[size], shift % 2 ? 0xff : 0xa5);
    free(block);
}

TEST(answers_do_not_depend_on_the_memory)
{
    for_all(7, WITH_LIMITS_AND_LOCKS, check_memory);
}

// ---- No allocation -------------------------------------------------------------------------------------------------------

static void check_allocations(problem *p, const answer *a, const char *name)
{
    poise_solver *solver = NULL;
    p->options.restarts = 2;
    int before = allocations_so_far();
    ck_assert_int_eq(poise_solver_create(p->model, &p->options, NULL, &solver, NULL), POISE_OK);
    ck_assert_int_gt(allocations_so_far(), before);
    before = allocations_so_far();
    answer again = problem_solve_with(p, solver);
    int made = allocations_so_far() - before;
    ck_assert_msg(made == 0, "%s: %d allocations", name, made);
    ck_assert_int_eq(again.status, a->status);
    poise_solver_destroy(solver);
}

TEST(solving_allocates_nothing)
{
    for_all(8, PROBLEM_LIMITS, check_allocations);
}

// A start whose Gauss-Newton step cannot be factorised: nothing is left of a step that was never made, whatever the memory
// held.
TEST(a_first_step_that_fails_leaves_no_trace)
{
    static const int bytes[] = {0x00, 0x5a, 0xff}; // 0, a number near 1e132, not a number
    scene_random random = scene_random_make(2525);
    problem *p = problem_make(&random, POISE_METHOD_LEVENBERG_MARQUARDT, 6, PROBLEM_LIMITS);
    ck_assert_ptr_nonnull(p);
    p->options.max_iterations = 15;
    answer a = problem_solve(p);
    for (int i = 0; i < 3; ++i) {
        size_t size = pz_solver_size(p->model, &p->options);
        void *memory = malloc(size);
        memset(memory, bytes[i], size);
        poise_solver *solver = pz_solver_init(p->model, &p->options, memory, size);
        answer b = problem_solve_with(p, solver);
        ck_assert_msg(answers_are_equal(p, &a, &b), "memory full of %02x", (unsigned)bytes[i]);
        free(memory);
    }
    problem_destroy(p);
}
