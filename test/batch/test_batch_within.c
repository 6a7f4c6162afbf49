// Batches with constraints: the bits of single solves, a world for each problem, and a report that says what is in the way.
#include "support/allocations.h"
#include "support/constraint_check.h"
#include "support/skeleton.h"
#include "support/test_arms.h"

#define PROBLEMS 60
#define SHAPES   12
#define PAIRS    64
#define WORKERS  3

// An arm with a capsule along each link; each problem has a box of its own in the way.
typedef struct task {
    test_arm arm;
    poise_goal goals[PROBLEMS];
    poise_shape shapes[PROBLEMS][SHAPES];
    poise_pair pairs[PAIRS];
    poise_constraint given[PROBLEMS];
    double start[PROBLEMS][ARM_LARGEST], q[PROBLEMS][ARM_LARGEST];
    poise_problem problems[PROBLEMS];
} task;

static int put_links(const test_arm *arm, poise_shape *shapes)
{
    int count = 0;
    for (int k = 0; k < poise_model_info(arm->model).joints; ++k) {
        poise_joint_info joint = poise_model_joint_info(arm->model, k);
        if (joint.parent != POISE_WORLD) {
            shapes[count++] =
                poise_shape_capsule(joint.parent, poise_vec3_make(0, 0, 0), joint.given->offset.position, 0.03);
        }
    }
    return count;
}

// A box halfway to the target, so that many first answers collide. Every seventh problem has none, every eleventh one that
// holds all of the arm, and one margin is not sound.
static void put_constraint(task *t, int i, int links)
{
    poise_vec3 at = t->goals[i].target.position, half = poise_vec3_make(0.08, 0.08, 0.2);
    poise_pose pose = {{0, 0, 0, 1}, {0.6 * at.x, 0.6 * at.y, 0.6 * at.z}};
    memcpy(t->shapes[i], t->shapes[0], sizeof t->shapes[0]);
    t->shapes[i][links] = poise_shape_box(POISE_WORLD, pose, i % 11 == 10 ? poise_vec3_make(9, 9, 9) : half);
    t->given[i] = poise_constraint_default(POISE_CONSTRAINT_CLEARANCE);
    t->given[i].shapes = t->shapes[i], t->given[i].shape_count = links + 1;
    t->given[i].pairs = t->pairs;
    t->given[i].margin = i == 20 ? -1.0 : 0.002 * (i % 5);
}

static task *make_task(void)
{
    static task t;
    scene_random random = scene_random_make(5);
    t = (task){.arm = arm_random(&random, 7, ARM_PLAIN)};
    int links = put_links(&t.arm, t.shapes[0]), found = 0;
    for (int i = 0; i < PROBLEMS; ++i) {
        double there[ARM_LARGEST];
        scene_random_configuration(&random, t.arm.model, there);
        scene_random_configuration(&random, t.arm.model, t.start[i]);
        t.goals[i] = arm_goal(&t.arm, there);
        put_constraint(&t, i, links);
    }
    poise_pairs_options options = poise_pairs_options_default();
    options.neighbours = 2, options.samples = 100;
    ck_assert_int_eq(poise_pairs_find(t.arm.model, t.shapes[0], links + 1, &options, NULL, t.pairs, PAIRS, &found, NULL),
                     POISE_OK);
    ck_assert_int_le(found, PAIRS);
    for (int i = 0; i < PROBLEMS; ++i) {
        t.given[i].pair_count = found;
    }
    return &t;
}

static void reset(task *t)
{
    memcpy(t->q, t->start, sizeof t->q);
    for (int i = 0; i < PROBLEMS; ++i) {
        bool is_free = i % 7 == 6;
        t->problems[i] = (poise_problem){.goals = &t->goals[i],
                                         .goal_count = 1,
                                         .q = t->q[i],
                                         .constraints = is_free ? NULL : &t->given[i],
                                         .constraint_count = is_free ? 0 : 1};
    }
}

// Pieces from the last to the first, by workers in turn.
static void backwards(void *user, int count, poise_piece run, void *work)
{
    int *pieces = user;
    for (int i = count - 1; i >= 0; --i) {
        run(work, i, i % WORKERS);
        *pieces += 1;
    }
}

static void check_problem(const task *t, int i, poise_solver *solver)
{
    const poise_problem *p = &t->problems[i];
    double q[ARM_LARGEST];
    poise_report report = {0};
    memcpy(q, t->start[i], sizeof q);
    poise_status status = poise_solve_within(solver, p->goals, 1, p->constraints, p->constraint_count, q, &report, NULL);
    ck_assert_int_eq(p->status, status);
    ck_assert_msg(memcmp(q, p->q, (size_t)t->arm.n * sizeof *q) == 0, "problem %d: another q", i);
    if (status != POISE_OK) {
        ck_assert_int_eq(i, 20);
        return;
    }
    const poise_report *r = &p->report;
    ck_assert(r->outcome == report.outcome && r->restarts == report.restarts && r->iterations == report.iterations &&
              r->cost == report.cost && r->holds == report.holds && r->clearance == report.clearance &&
              r->blocking == report.blocking && r->blocking_item == report.blocking_item &&
              r->active_constraints == report.active_constraints);
    broken b = check_constraints(t->arm.model, p->constraints, p->constraint_count, p->q);
    ck_assert_double_le(b.limit, 0);
    ck_assert(r->holds == (p->constraint_count == 0 || b.clearance <= 0));
    ck_assert(r->holds || (r->blocking == 0 && r->blocking_item >= 0));
}

// Rows: cold and warm.
TEST_ROWS(batches_with_constraints_have_the_bits_of_single_solves, 2)
{
    task *t = make_task();
    int pieces = 0, held = 0, reached = 0;
    poise_batch_options options = poise_batch_options_default();
    options.solver.start = test_row == 0 ? POISE_START_COLD : POISE_START_WARM;
    options.solver.restarts = 10;
    options.workers = WORKERS, options.parallel_for = backwards, options.user = &pieces;
    poise_constraints_size(&t->given[0], 1, &options.solver.constraints);
    poise_batch *batch;
    poise_solver *solver;
    ck_assert_int_eq(poise_batch_create(t->arm.model, &options, NULL, &batch, NULL), POISE_OK);
    ck_assert_int_eq(poise_solver_create(t->arm.model, &options.solver, NULL, &solver, NULL), POISE_OK);
    own_solver(solver);
    reset(t);
    int before = allocations_so_far();
    ck_assert_int_eq(poise_batch_solve(batch, t->problems, PROBLEMS, NULL), POISE_OK);
    ck_assert_int_eq(allocations_so_far(), before);
    poise_batch_destroy(batch);
    for (int i = 0; i < PROBLEMS; ++i) {
        check_problem(t, i, solver);
        held += t->problems[i].status == POISE_OK && t->problems[i].report.holds;
        reached += t->problems[i].status == POISE_OK && t->problems[i].report.outcome == POISE_OUTCOME_REACHED;
    }
    ck_assert_int_gt(pieces, WORKERS);
    ck_assert_int_ge(held, 40);
    ck_assert_int_ge(reached, 20);
}

// A batch that has no room for constraints refuses the problems that have some, and solves the others.
TEST(a_batch_without_room_refuses_constraints)
{
    task *t = make_task();
    poise_batch_options options = poise_batch_options_default();
    poise_batch *batch;
    ck_assert_int_eq(poise_batch_create(t->arm.model, &options, NULL, &batch, NULL), POISE_OK);
    reset(t);
    ck_assert_int_eq(poise_batch_solve(batch, t->problems, PROBLEMS, NULL), POISE_OK);
    for (int i = 0; i < PROBLEMS; ++i) {
        ck_assert_int_eq(t->problems[i].status, i % 7 == 6 ? POISE_OK : POISE_ERROR_ARGUMENT);
    }
    poise_batch_destroy(batch);
}
