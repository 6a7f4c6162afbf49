// Residual rows of every goal kind through every joint type: their squares are the energy, J^T r the gradient, J the
// derivative of r, and J^T J the Gauss-Newton Hessian.
#include "support/goal_facts.h"
#include "support/joint_facts.h"
#include "support/random_goals.h"

#include "goal/objective.h"
#include "num/rotation.h"
#include "solve/priority.h"

#include <float.h>
#include <math.h>
#include <poise/papers.h>

#define MOST_NV   40
#define MOST_ROWS 40

// ---- Checks of one goal --------------------------------------------------------------------------------------------------

typedef struct residuals {
    int count;
    double r[MOST_ROWS + 1], J[MOST_ROWS * MOST_NV + 1]; // one more, that nobody may write
} residuals;

static residuals rows_at(const poise_kinematics *kin, const poise_goal *goal)
{
    residuals out = {.count = pz_goal_row_of(goal->kind)->rows(kin, goal, NULL, NULL)};
    ck_assert_int_le(out.count, MOST_ROWS);
    // numbers that must not survive
    for (int i = 0; i < out.count; ++i) {
        out.r[i] = NAN;
    }
    for (int i = 0; i < out.count * kin->model->nv; ++i) {
        out.J[i] = NAN;
    }
    double *behind = &out.J[out.count * kin->model->nv];
    *behind = out.r[out.count] = 1.5;
    ck_assert_int_eq(pz_goal_row_of(goal->kind)->rows(kin, goal, out.r, out.J), out.count);
    ck_assert_msg(*behind == 1.5 && out.r[out.count] == 1.5, "%s: too much is written", poise_goal_kind_name(goal->kind));
    return out;
}

// Sums of some tens of products, each rounded, relative to the numbers themselves.
#define AGREEMENT_BOUND 1e-13

static int expected_rows(const poise_goal *goal, int nv)
{
    int rows = goal_rows[goal->kind].rows;
    return rows == ROW_PER_DOF ? nv : rows;
}

// r . r/2 against the energy; with a loss w/2 rho'(s) s instead, s from the error that the goal reports.
static void check_energy(poise_objective *o, const poise_goal *goal, const residuals *rows)
{
    double sum = 0.0, expected = poise_objective_value(o).cost;
    for (int i = 0; i < rows->count; ++i) {
        sum += 0.5 * rows->r[i] * rows->r[i];
    }
    if (goal->loss != POISE_LOSS_NONE) {
        double error = poise_objective_goal_error(o, 0).error, s = error * error, k = goal->loss_scale;
        double huber = error > k ? k / error : 1.0, geman = k * k / (s + k * k);
        expected = 0.5 * goal->weight * s * (goal->loss == POISE_LOSS_HUBER ? huber : geman * geman);
    }
    ck_assert_msg(fabs(sum - expected) <= AGREEMENT_BOUND * fmax(1.0, expected), "%s: half the squares are %.17g, not %.17g",
                  poise_goal_kind_name(goal->kind), sum, expected);
    ck_assert_double_eq_tol(pz_goal_energy(&o->kin, goal), poise_objective_value(o).cost, AGREEMENT_BOUND);
}

static void check_gradient(poise_objective *o, const poise_goal *goal, const residuals *rows, int nv)
{
    const double *gradient = poise_objective_value(o).gradient;
    for (int j = 0; j < nv; ++j) {
        double sum = 0.0, size = 1.0;
        for (int i = 0; i < rows->count; ++i) {
            sum += rows->J[i * nv + j] * rows->r[i];
            size += fabs(rows->J[i * nv + j] * rows->r[i]);
        }
        ck_assert_msg(fabs(sum - gradient[j]) <= AGREEMENT_BOUND * size, "%s: J^T r is %.17g, the gradient %.17g",
                      poise_goal_kind_name(goal->kind), sum, gradient[j]);
    }
}

// The Gauss-Newton Hessian of a rotation without a band is that of three directions, whose square is the same but not its
// rows: J^T J of the quaternion is less by w v v^T.
static void check_square(poise_objective *o, const poise_goal *goal, const residuals *rows, int nv)
{
    bool turns = goal->kind == POISE_GOAL_ORIENTATION || goal->kind == POISE_GOAL_POSE || goal->kind == POISE_GOAL_RELATIVE;
    if (turns && !pz_has_band(goal->rotation_tolerance)) {
        return;
    }
    double H[MOST_NV * MOST_NV];
    ck_assert_int_eq(poise_objective_hessian(o, POISE_HESSIAN_GAUSS_NEWTON, H, NULL), POISE_OK);
    for (int a = 0; a < nv * nv; ++a) {
        double sum = 0.0, size = 1.0;
        for (int i = 0; i < rows->count; ++i) {
            double product = rows->J[i * nv + a / nv] * rows->J[i * nv + a % nv];
            sum += product;
            size += fabs(product);
        }
        ck_assert_msg(fabs(sum - H[a]) <= AGREEMENT_BOUND * size, "%s: J^T J is %.17g, Gauss-Newton %.17g",
                      poise_goal_kind_name(goal->kind), sum, H[a]);
    }
}

// Differences of second order: truncation h^2 r'''/6 and rounding eps r/h meet near 1e-5, both near 1e-10.
#define STEP             1e-5
#define DIFFERENCE_BOUND 1e-8

// Rows across the edge of a band, or of a rotation's half turn, have a kink.
static bool is_near_kink(const residuals *a, const residuals *b)
{
    for (int i = 0; i < a->count; ++i) {
        if (fabs(a->r[i] - b->r[i]) > 0.01 || (a->r[i] == 0) != (b->r[i] == 0)) {
            return true;
        }
    }
    return false;
}

static int kinks, differences;

static void check_differences(poise_kinematics *kin, const poise_goal *goal, const residuals *rows_here, const double *q)
{
    int nv = kin->model->nv;
    for (int j = 0; goal->loss == POISE_LOSS_NONE && j < nv; ++j) {
        double v[MOST_NV] = {0}, moved[2 * MOST_NV];
        v[j] = STEP;
        ck_assert_int_eq(poise_retract(kin->model, q, v, moved, NULL), POISE_OK);
        ck_assert_int_eq(poise_kinematics_update(kin, moved, NULL), POISE_OK);
        residuals plus = rows_at(kin, goal);
        v[j] = -STEP;
        ck_assert_int_eq(poise_retract(kin->model, q, v, moved, NULL), POISE_OK);
        ck_assert_int_eq(poise_kinematics_update(kin, moved, NULL), POISE_OK);
        residuals minus = rows_at(kin, goal);
        if (is_near_kink(&plus, &minus)) {
            kinks += 1;
            continue;
        }
        differences += 1;
        for (int i = 0; i < rows_here->count; ++i) {
            double slope = (plus.r[i] - minus.r[i]) / (2.0 * STEP), exact = rows_here->J[i * nv + j];
            ck_assert_msg(fabs(slope - exact) <= DIFFERENCE_BOUND * fmax(1.0, fabs(exact)),
                          "%s: row %d column %d is %.12g, differences say %.12g", poise_goal_kind_name(goal->kind), i, j,
                          exact, slope);
        }
    }
}

static void check_goal(const poise_model *model, const poise_goal *goal, const double *q)
{
    poise_objective *o;
    poise_kinematics *kin;
    poise_error error = {0};
    ck_assert_int_eq(poise_objective_create(model, 1, NULL, &o, NULL), POISE_OK);
    ck_assert_int_eq(poise_kinematics_create(model, NULL, &kin, NULL), POISE_OK);
    ck_assert_msg(poise_objective_set_goals(o, goal, 1, &error) == POISE_OK, "%s", error.text);
    ck_assert_int_eq(poise_objective_evaluate(o, q, POISE_LEVEL_HESSIAN, NULL), POISE_OK);
    residuals here = rows_at((&o->kin), goal);
    ck_assert_int_eq(here.count, expected_rows(goal, poise_model_info(model).nv));
    check_energy(o, goal, &here);
    check_gradient(o, goal, &here, poise_model_info(model).nv);
    check_square(o, goal, &here, poise_model_info(model).nv);
    check_differences(kin, goal, &here, q);
    poise_kinematics_destroy(kin);
    poise_objective_destroy(o);
}

static void check_all_goals(scene_random *random, const poise_model *model, const double *q)
{
    static random_goals goals;
    ck_assert_int_le(poise_model_info(model).nv, MOST_NV);
    random_goals_make(random, model, &goals);
    for (int i = 0; i < RANDOM_GOALS; ++i) {
        if (goals.goals[i].kind != POISE_GOAL_CALLBACK) {
            check_goal(model, &goals.goals[i], q);
        }
    }
}

// ---- Tests ---------------------------------------------------------------------------------------------------------------

TEST_EACH_JOINT(rows_of_every_goal_fit_the_objective_and_differences)
{
    scene_random random = scene_random_make(41 + (uint64_t)test_row);
    const joint_facts *row = &joint_rows[test_row];
    poise_model *model = limb_of_row(row);
    double q[LIMB_LENGTH];
    for (int pose = HARD_POSES; pose < LIMB_POSES; ++pose) {
        pose_limb(row, model, &random, pose, q);
        check_all_goals(&random, model, q);
    }
}

TEST(rows_in_random_trees_fit_the_objective_and_differences)
{
    scene_random random = scene_random_make(43);
    for (int i = 0; i < 20; ++i) {
        poise_model *model = random_model(&random, 8, RANDOM_MIMICS | RANDOM_FOREST | RANDOM_CURVES);
        if (poise_model_info(model).nv > 0 && poise_model_info(model).nv <= MOST_NV && model->total_mass > 0) {
            double q[2 * MOST_NV];
            scene_random_configuration(&random, model, q);
            check_all_goals(&random, model, q);
        }
        poise_model_destroy(model);
    }
}

// A slide from the origin, where the point is: the distance is 0 to the last bit. An aim has nothing to say then; a distance
// takes the way that the slide goes.
TEST(at_its_own_point_an_aim_has_zero_rows_and_a_distance_that_of_its_way)
{
    poise_builder *builder = new_builder();
    poise_joint slide = joint_of("slide", NULL, POISE_JOINT_PRISMATIC);
    slide.axis = poise_vec3_make(0.6, 0.8, 0);
    add(builder, &slide);
    figure f = figure_of(model_of(builder));
    poise_vec3 origin = {0, 0, 0};
    poise_goal aim = poise_goal_aim(0, origin, poise_vec3_make(1, 0, 0), origin), far = aim;
    residuals here = rows_at(f.kin, &aim);
    for (int i = 0; i < here.count; ++i) {
        ck_assert(here.r[i] == 0.0 && here.J[i] == 0.0);
    }
    far = poise_goal_distance(0, origin, origin, 0.25);
    far.weight = 4.0;
    here = rows_at(f.kin, &far);
    ck_assert_double_eq_tol(here.r[0], -2.0 * 0.25, 4 * DBL_EPSILON);
    ck_assert_double_eq_tol(here.J[0], 2.0, 4 * DBL_EPSILON);
}

// Errors below the rounding of the farthest coordinate, whichever it is, are none: 64 eps of it.
TEST(a_level_is_met_within_the_rounding_of_the_figures_size)
{
    for (int axis = 0; axis < 3; ++axis) {
        poise_builder *builder;
        poise_model *model;
        poise_joint hinge = poise_joint_default(), far = hinge;
        hinge.type = far.type = POISE_JOINT_REVOLUTE;
        far.offset.position = poise_vec3_make(axis == 0 ? 1e6 : 0.0, axis == 1 ? 1e6 : 0.0, axis == 2 ? 1e6 : 0.0);
        ck_assert_int_eq(poise_builder_create(NULL, &builder, NULL), POISE_OK);
        hinge.name = "near";
        far.name = "far", far.parent = "near";
        add(builder, &hinge);
        add(builder, &far);
        ck_assert_int_eq(poise_model_create(builder, NULL, &model, NULL), POISE_OK);
        poise_builder_destroy(builder);
        poise_solver_options options = poise_solver_options_default();
        options.method = POISE_METHOD_DAMPED_LEAST_SQUARES;
        options.engine = poise_papers_engine(options.method);
        options.max_iterations = 1;
        poise_solver *solver;
        poise_report report;
        double q[2] = {0.0, 0.0}, least = 64.0 * 0x1p-52 * 1e6;
        poise_goal goal = poise_goal_position(1, poise_vec3_make(1, 0, 0), far.offset.position);
        goal.weight = 3.0;
        ck_assert_int_eq(poise_solver_create(model, &options, NULL, &solver, NULL), POISE_OK);
        ck_assert_int_eq(poise_solve(solver, &goal, 1, q, &report, NULL), POISE_OK);
        pz_rows *rows = solver->method;
        pz_rows_evaluate_costs(solver, rows, false);
        ck_assert_double_eq_tol(rows->levels[0].floor / (0.5 * goal.weight * least * least), 1.0, 1e-6);
        poise_solver_destroy(solver);
        poise_model_destroy(model);
    }
}

TEST(a_callback_has_no_rows)
{
    ck_assert(pz_goal_row_of(POISE_GOAL_CALLBACK)->rows == NULL);
}

TEST(few_differences_were_left_out_at_kinks)
{
    ck_assert_msg(differences > 10000 && kinks * 50 < differences, "%d left out of %d", kinks, differences);
}
