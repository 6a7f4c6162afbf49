// Residual rows of every goal kind through every joint type: their squares are the energy, J^T r the gradient, J the
// derivative of r, and J^T J the Gauss-Newton Hessian.
#include "support/random_goals.h"
#include "support/test_main.h"

#include "goal/objective_state.h"
#include "math/so3.h"
#include "solve/rows/residual_rows.h"

#include <math.h>

#define MOST_NV   40
#define MOST_ROWS 40

// ---- Models: the joint under test in the middle of a limb, a branch beside it --------------------------------------------

static void add(poise_builder *builder, poise_joint joint, const char *name, const char *parent)
{
    poise_error error = {0};
    joint.name = name;
    joint.parent = parent;
    ck_assert_msg(poise_builder_add_joint(builder, &joint, &error) == POISE_OK, "%s", error.text);
}

static poise_model *limb(scene_random *random, poise_joint_type type, int order, bool mimic)
{
    poise_builder *builder;
    ck_assert_int_eq(poise_builder_create(NULL, &builder, NULL), POISE_OK);
    poise_joint subject = random_joint(random, type);
    subject.order = (poise_euler_order)order;
    subject.mass = 1.0;
    if (mimic) {
        subject.mimic = "base";
        subject.mimic_multiplier = -1.7;
        subject.mimic_offset = 0.3;
    }
    add(builder, random_joint(random, POISE_JOINT_REVOLUTE), "base", NULL);
    add(builder, subject, "subject", "base");
    add(builder, random_joint(random, POISE_JOINT_REVOLUTE), "elbow", "subject");
    add(builder, random_joint(random, POISE_JOINT_PRISMATIC), "slide", "elbow");
    add(builder, random_joint(random, POISE_JOINT_REVOLUTE), "other", "base");
    poise_model *model;
    poise_error error = {0};
    ck_assert_msg(poise_model_create(builder, NULL, &model, &error) == POISE_OK, "%s", error.text);
    poise_builder_destroy(builder);
    return model;
}

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
    switch (goal->kind) {
    case POISE_GOAL_PLANE:
    case POISE_GOAL_DISTANCE:
        return 1;
    case POISE_GOAL_POSE:
    case POISE_GOAL_RELATIVE:
        return 6;
    case POISE_GOAL_POSTURE:
    case POISE_GOAL_SMOOTHNESS:
        return nv;
    default:
        return 3;
    }
}

// r . r/2 against the energy; with a loss w/2 rho'(s) s instead, s from the error that the goal reports.
static void check_energy(poise_objective *o, const poise_goal *goal, const residuals *rows)
{
    double sum = 0.0, expected = poise_objective_cost(o);
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
    ck_assert_double_eq_tol(pz_goal_energy(&o->kin, goal), poise_objective_cost(o), AGREEMENT_BOUND);
}

static void check_gradient(poise_objective *o, const poise_goal *goal, const residuals *rows, int nv)
{
    const double *gradient = poise_objective_gradient(o);
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

static void check_all_goals(scene_random *random, const poise_model *model)
{
    static random_goals goals;
    double q[2 * MOST_NV];
    ck_assert_int_le(poise_model_info(model).nv, MOST_NV);
    random_goals_make(random, model, &goals);
    scene_random_configuration(random, model, q);
    for (int i = 0; i < RANDOM_GOALS; ++i) {
        if (goals.goals[i].kind != POISE_GOAL_CALLBACK) {
            check_goal(model, &goals.goals[i], q);
        }
    }
}

// ---- Tests ---------------------------------------------------------------------------------------------------------------

TEST(rows_of_every_goal_through_every_joint_type_fit_the_objective_and_differences)
{
    scene_random random = scene_random_make(41);
    for (int type = 0; type < POISE_JOINT_TYPE_COUNT; ++type) {
        bool is_euler = type == POISE_JOINT_BALL_EULER || type == POISE_JOINT_FREE_EULER;
        for (int order = 0; order < (is_euler ? POISE_EULER_ORDER_COUNT : 4); ++order) {
            poise_model *model = limb(&random, (poise_joint_type)type, order, false);
            check_all_goals(&random, model);
            poise_model_destroy(model);
        }
    }
}

TEST(rows_through_mimic_joints_fit_the_objective_and_differences)
{
    scene_random random = scene_random_make(42);
    for (int i = 0; i < 8; ++i) {
        poise_model *model = limb(&random, i % 2 ? POISE_JOINT_PRISMATIC : POISE_JOINT_REVOLUTE, 0, true);
        check_all_goals(&random, model);
        poise_model_destroy(model);
    }
}

TEST(rows_in_random_trees_fit_the_objective_and_differences)
{
    scene_random random = scene_random_make(43);
    for (int i = 0; i < 20; ++i) {
        poise_model *model = random_model(&random, 8, RANDOM_MIMICS | RANDOM_FOREST);
        if (poise_model_info(model).nv > 0 && poise_model_info(model).nv <= MOST_NV && model->total_mass > 0) {
            check_all_goals(&random, model);
        }
        poise_model_destroy(model);
    }
}

TEST(an_aim_at_its_own_point_has_zero_rows)
{
    scene_random random = scene_random_make(44);
    poise_model *model = limb(&random, POISE_JOINT_REVOLUTE, 0, false);
    poise_kinematics *kin;
    ck_assert_int_eq(poise_kinematics_create(model, NULL, &kin, NULL), POISE_OK);
    // the origin of the root is the reference point: the distance is 0 to the last bit
    poise_vec3 origin = {0, 0, 0}, target = poise_kinematics_point(kin, 0, origin);
    poise_goal goal = poise_goal_aim(0, origin, poise_vec3_make(1, 0, 0), target);
    residuals here = rows_at(kin, &goal);
    for (int i = 0; i < here.count; ++i) {
        ck_assert_double_eq(here.r[i], 0.0);
    }
    for (int i = 0; i < here.count * poise_model_info(model).nv; ++i) {
        ck_assert_double_eq(here.J[i], 0.0);
    }
    poise_kinematics_destroy(kin);
    poise_model_destroy(model);
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
        add(builder, hinge, "near", NULL);
        add(builder, far, "far", "near");
        ck_assert_int_eq(poise_model_create(builder, NULL, &model, NULL), POISE_OK);
        poise_builder_destroy(builder);
        poise_solver_options options = poise_solver_options_default();
        options.method = POISE_METHOD_DAMPED_LEAST_SQUARES;
        options.max_iterations = 1;
        poise_solver *solver;
        poise_report report;
        double q[2] = {0.0, 0.0}, least = 64.0 * 0x1p-52 * 1e6;
        poise_goal goal = poise_goal_position(1, poise_vec3_make(1, 0, 0), far.offset.position);
        goal.weight = 3.0;
        ck_assert_int_eq(poise_solver_create(model, &options, NULL, &solver, NULL), POISE_OK);
        ck_assert_int_eq(poise_solve(solver, &goal, 1, q, &report, NULL), POISE_OK);
        pz_rows *rows = solver->method;
        pz_rows_take_costs(solver, rows, false);
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
