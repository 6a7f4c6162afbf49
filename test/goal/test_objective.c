// The objective: which goals it takes, that it adds them up, what it answers at which level, overflow, definiteness.
#include "goal/objective.h"
#include "model/model.h"
#include "num/vector.h"
#include "support/random_goals.h"
#include "support/skeleton.h"

#include <float.h>

#define MODELS  30
#define JOINTS  14
#define MARKERS 19 // on one body, besides the goals of every kind
#define GOALS   (RANDOM_GOALS + MARKERS)

static poise_objective *new_objective(const poise_model *model, int coupled)
{
    poise_objective *objective = NULL;
    ck_assert_int_eq(poise_objective_create(model, coupled, NULL, &objective, NULL), POISE_OK);
    return own_objective(objective);
}

static void set_goals(poise_objective *objective, const poise_goal *goals, int count)
{
    poise_error error = {0};
    ck_assert_msg(poise_objective_set_goals(objective, goals, count, &error) == POISE_OK, "%s", error.text);
}

static void evaluate(poise_objective *objective, const double *q, poise_level level)
{
    ck_assert_int_eq(poise_objective_evaluate(objective, q, level, NULL), POISE_OK);
}

// A random figure, goals of every kind, and a body with many markers.
typedef struct scene {
    figure f;
    random_goals random;
    poise_goal goals[GOALS];
} scene;

static scene *new_scene(scene_random *random, unsigned features)
{
    scene *s = malloc(sizeof *s);
    test_own(free, s);
    s->f = random_figure(random, JOINTS, features);
    random_goals_make(random, s->f.model, &s->random);
    memcpy(s->goals, s->random.goals, sizeof s->random.goals);
    int body = scene_random_index(random, JOINTS);
    for (int i = RANDOM_GOALS; i < GOALS; ++i) {
        poise_vec3 local = random_vector(random, 0.4);
        s->goals[i] = poise_goal_position(body, local, random_vector(random, 2.0));
        s->goals[i].weight = scene_random_range(random, 0.0, 2.0);
    }
    return s;
}

// ---- Goals it takes ------------------------------------------------------------------------------------------------------

TEST(goals_that_are_refused_leave_the_old_ones_in_place)
{
    scene_random random = scene_random_make(1);
    scene *s = new_scene(&random, RANDOM_PLAIN);
    poise_objective *objective = new_objective(s->f.model, RANDOM_COUPLED);
    set_goals(objective, s->goals, GOALS);
    evaluate(objective, s->f.q, POISE_LEVEL_HESSIAN);
    double cost = poise_objective_value(objective).cost, first = poise_objective_value(objective).gradient[0];
    poise_goal bad[3] = {s->goals[0], s->goals[1], s->goals[2]};
    bad[2].weight = -1;
    poise_error error = {0};
    ck_assert_int_eq(poise_objective_set_goals(objective, bad, 3, &error), POISE_ERROR_ARGUMENT);
    ck_assert_str_eq(error.text, "goal 2 (orientation): weights must be finite and >= 0");
    ck_assert_int_eq(poise_objective_set_goals(objective, NULL, 3, &error), POISE_ERROR_ARGUMENT);
    ck_assert_int_eq(poise_objective_set_goals(objective, bad, -1, NULL), POISE_ERROR_ARGUMENT);
    ck_assert_int_eq(poise_objective_set_goals(NULL, bad, 1, NULL), POISE_ERROR_ARGUMENT);
    ck_assert_double_eq(poise_objective_value(objective).gradient[0], first); // the last evaluation stays as well
    evaluate(objective, s->f.q, POISE_LEVEL_HESSIAN);
    ck_assert_double_eq(poise_objective_value(objective).cost, cost);
    ck_assert_double_eq(poise_objective_value(objective).gradient[0], first);
}

TEST(more_coupled_goals_than_room_are_refused)
{
    scene_random random = scene_random_make(2);
    scene *s = new_scene(&random, RANDOM_PLAIN);
    poise_objective *objective = new_objective(s->f.model, RANDOM_COUPLED - 1);
    poise_error error = {0};
    ck_assert_int_eq(poise_objective_set_goals(objective, s->goals, GOALS, &error), POISE_ERROR_ARGUMENT);
    ck_assert_msg(strstr(error.text, "3 goals tie bodies together, but the objective was created for 2") != NULL, "%s",
                  error.text);
    set_goals(objective, s->goals, RANDOM_GOALS - 1); // one of the three less
    evaluate(objective, s->f.q, POISE_LEVEL_HESSIAN);
}

TEST(new_goals_make_the_old_derivatives_unavailable)
{
    scene_random random = scene_random_make(3);
    scene *s = new_scene(&random, RANDOM_PLAIN);
    poise_objective *objective = new_objective(s->f.model, RANDOM_COUPLED);
    set_goals(objective, s->goals, GOALS);
    evaluate(objective, s->f.q, POISE_LEVEL_HESSIAN);
    set_goals(objective, s->goals, 1);
    double *H = malloc((size_t)(s->f.nv * s->f.nv) * sizeof *H);
    ck_assert_ptr_null(poise_objective_value(objective).gradient);
    ck_assert_int_eq(poise_objective_hessian(objective, POISE_HESSIAN_EXACT, H, NULL), POISE_ERROR_ARGUMENT);
    free(H);
}

TEST(no_goals_cost_nothing)
{
    scene_random random = scene_random_make(4);
    figure f = random_figure(&random, JOINTS, RANDOM_PLAIN);
    poise_objective *objective = new_objective(f.model, 0);
    size_t n = (size_t)f.nv;
    double *work = malloc(n * (n + 2) * sizeof *work);
    for (int i = 0; i < 2; ++i) { // a fresh objective has none
        evaluate(objective, f.q, POISE_LEVEL_HESSIAN);
        ck_assert_double_eq(poise_objective_value(objective).cost, 0.0);
        poise_definiteness definiteness = POISE_DEFINITE_NEGATIVE;
        ck_assert_int_eq(poise_objective_definiteness(objective, POISE_HESSIAN_EXACT, 0.0, work, &definiteness, NULL),
                         POISE_OK);
        ck_assert_int_eq(definiteness, POISE_DEFINITE_SEMI_POSITIVE); // all eigenvalues are 0
        set_goals(objective, NULL, 0);
    }
    poise_goal_error e = poise_objective_goal_error(objective, 0);
    ck_assert(e.error == 0 && e.unit == POISE_UNIT_NONE);
    free(work);
}

// ---- Sums ----------------------------------------------------------------------------------------------------------------

// Relative to the largest entry: sums of GOALS terms, each of a few dozen operations.
#define SUM_BOUND (64 * DBL_EPSILON)

static void assert_near(const double *a, const double *b, size_t count, const char *what)
{
    double largest = 1.0;
    for (size_t i = 0; i < count; ++i) {
        largest = fmax(largest, fabs(b[i]));
    }
    for (size_t i = 0; i < count; ++i) {
        ck_assert_msg(fabs(a[i] - b[i]) <= SUM_BOUND * largest, "%s %zu: %.17g against %.17g", what, i, a[i], b[i]);
    }
}

TEST(an_objective_is_the_sum_of_its_goals)
{
    scene_random random = scene_random_make(5);
    for (int trial = 0; trial < MODELS; ++trial) {
        scene *s = new_scene(&random, RANDOM_MIMICS | RANDOM_FOREST);
        poise_objective *objective = new_objective(s->f.model, RANDOM_COUPLED);
        size_t n = (size_t)s->f.nv;
        double cost = 0, *sum = calloc(n + 2 * n * n, sizeof *sum), *H = malloc(n * n * sizeof *H);
        for (int i = 0; i < GOALS; ++i) {
            set_goals(objective, &s->goals[i], 1);
            evaluate(objective, s->f.q, POISE_LEVEL_HESSIAN);
            cost += poise_objective_value(objective).cost;
            for (size_t k = 0; k < n; ++k) {
                sum[k] += poise_objective_value(objective).gradient[k];
            }
            for (size_t kind = 0; kind < 2; ++kind) {
                ck_assert_int_eq(poise_objective_hessian(objective, (poise_hessian)kind, H, NULL), POISE_OK);
                for (size_t k = 0; k < n * n; ++k) {
                    sum[n + kind * n * n + k] += H[k];
                }
            }
        }
        set_goals(objective, s->goals, GOALS);
        evaluate(objective, s->f.q, POISE_LEVEL_HESSIAN);
        double whole = poise_objective_value(objective).cost;
        assert_near(&whole, &cost, 1, "cost");
        assert_near(poise_objective_value(objective).gradient, sum, n, "gradient");
        for (size_t kind = 0; kind < 2; ++kind) {
            ck_assert_int_eq(poise_objective_hessian(objective, (poise_hessian)kind, H, NULL), POISE_OK);
            assert_near(H, sum + n + kind * n * n, n * n, kind ? "Gauss-Newton" : "Hessian");
        }
        free(sum);
        free(H);
    }
}

TEST(every_level_gives_the_same_cost_and_gradient)
{
    scene_random random = scene_random_make(7);
    for (int trial = 0; trial < MODELS; ++trial) {
        scene *s = new_scene(&random, RANDOM_MIMICS);
        poise_objective *objective = new_objective(s->f.model, RANDOM_COUPLED);
        set_goals(objective, s->goals, GOALS);
        double gradient[FIGURE_NUMBERS];
        evaluate(objective, s->f.q, POISE_LEVEL_HESSIAN);
        double cost = poise_objective_value(objective).cost;
        memcpy(gradient, poise_objective_value(objective).gradient, (size_t)s->f.nv * sizeof *gradient);
        evaluate(objective, s->f.q, POISE_LEVEL_GRADIENT);
        ck_assert_double_eq(poise_objective_value(objective).cost, cost);
        ck_assert_mem_eq(poise_objective_value(objective).gradient, gradient, (size_t)s->f.nv * sizeof *gradient);
        evaluate(objective, s->f.q, POISE_LEVEL_COST);
        ck_assert_double_eq(poise_objective_value(objective).cost, cost);
        ck_assert_ptr_null(poise_objective_value(objective).gradient);
    }
}

// ---- Goals that are met --------------------------------------------------------------------------------------------------

TEST(a_marker_at_its_own_place_costs_exactly_nothing)
{
    poise_builder *builder = new_builder();
    add_plain(builder, "a", NULL, POISE_JOINT_FREE);
    figure f = figure_of(model_of(builder));
    poise_objective *objective = new_objective(f.model, 0);
    poise_goal goals[6];
    for (int i = 0; i < 6; ++i) { // enough for one body to be condensed
        poise_vec3 x = {i, 2 * i, 1};
        goals[i] = poise_goal_position(0, x, x);
    }
    for (int count = 1; count <= 6; ++count) {
        set_goals(objective, goals, count);
        evaluate(objective, f.q, POISE_LEVEL_GRADIENT);
        ck_assert_double_eq(poise_objective_value(objective).cost, 0.0);
        for (int k = 0; k < 6; ++k) {
            ck_assert_double_eq(poise_objective_value(objective).gradient[k], 0.0);
        }
    }
}

// ---- Numbers that overflow -----------------------------------------------------------------------------------------------

static void assert_overflows(figure *f, poise_objective *objective, const poise_goal *goals, int count, const char *what)
{
    double H[36] = {-7}, x[6] = {1, 1, 1, 1, 1, 1};
    set_goals(objective, goals, count);
    for (int level = POISE_LEVEL_COST; level <= POISE_LEVEL_HESSIAN; ++level) {
        poise_status status = poise_objective_evaluate(objective, f->q, (poise_level)level, NULL);
        ck_assert_msg(status == POISE_ERROR_NUMERIC, "%s: status %s", what, poise_status_name(status));
        ck_assert_double_eq(poise_objective_value(objective).cost, INFINITY);
        ck_assert_ptr_null(poise_objective_value(objective).gradient);
        ck_assert_int_eq(poise_objective_hessian(objective, POISE_HESSIAN_EXACT, H, NULL), POISE_ERROR_ARGUMENT);
        ck_assert_int_eq(poise_objective_multiply(objective, POISE_HESSIAN_EXACT, x, H, NULL), POISE_ERROR_ARGUMENT);
        ck_assert_double_eq(H[0], -7);
    }
    for (int i = 0; i < count; ++i) {
        poise_goal_error e = poise_objective_goal_error(objective, i);
        ck_assert_msg(!isnan(e.error) && !isnan(e.rotation_error), "%s: error %g", what, e.error);
    }
}

TEST(targets_near_the_largest_number_are_reported_and_leave_no_nan)
{
    poise_builder *builder = new_builder();
    poise_joint joint = joint_of("a", NULL, POISE_JOINT_FREE_EULER);
    joint.mass = 1;
    add(builder, &joint);
    figure f = figure_of(model_of(builder));
    poise_objective *objective = new_objective(f.model, 1);
    double q[6] = {1e308, -1e308, 1e308, 0, 0, 0}, other[6] = {-1e308, 1e308, 1e308, 0, 0, 0};
    static const poise_vec3 far[] = {{1e308, 0, 0}, {1.7e308, -1.7e308, 1.7e308}, {1.7e308, 1.7e308, 0}};
    for (size_t i = 0; i < TEST_COUNT(far); ++i) {
        poise_vec3 x = {0.1, 0.2, 0.3}, t = far[i];
        poise_pose target = {poise_quat_from_axis_angle(v3(0, 0, 1), 0.7), t};
        poise_goal goals[] = {poise_goal_position(0, x, t),
                              poise_goal_pose(0, poise_pose_identity(), target),
                              poise_goal_plane(0, x, t, v3(1, 1, 0)),
                              poise_goal_line(0, x, t, v3(0, 1, 2)),
                              poise_goal_line(0, x, t, v3(1, 2, 0)),
                              poise_goal_distance(0, x, t, 1),
                              poise_goal_distance(0, x, v3(0, 0, 0), 1e308),
                              poise_goal_posture(q, 1.0),
                              poise_goal_smoothness(q, other, 1.0),
                              poise_goal_relative(0, poise_pose_identity(), POISE_WORLD, target),
                              poise_goal_center_of_mass(t)};
        for (size_t k = 0; k < TEST_COUNT(goals); ++k) {
            if (i == 1 && goals[k].kind == POISE_GOAL_PLANE) {
                continue; // the point is on that plane
            }
            for (int loss = 0; loss < POISE_LOSS_COUNT; ++loss) {
                goals[k].loss = (poise_loss)loss;
                goals[k].tolerance = loss == 1 ? v3(0.1, INFINITY, 0) : v3(0, 0, 0);
                assert_overflows(&f, objective, &goals[k], 1, poise_goal_kind_name(goals[k].kind));
            }
        }
        poise_goal many[5] = {goals[0], goals[0], goals[0], goals[0], goals[0]}; // condensed
        assert_overflows(&f, objective, many, 5, "five markers");
        poise_goal near = poise_goal_position(0, x, v3(1, 1, 1));
        set_goals(objective, &near, 1); // nothing of it stays
        evaluate(objective, f.q, POISE_LEVEL_HESSIAN);
        ck_assert_double_eq_tol(poise_objective_value(objective).cost, 0.5 * (0.81 + 0.64 + 0.49), 1e-15);
    }
}

// The cost may be finite while the pull is not: a heavy goal on a long arm.
TEST(a_gradient_that_overflows_is_reported)
{
    poise_builder *builder = new_builder();
    add_plain(builder, "a", NULL, POISE_JOINT_REVOLUTE);
    figure f = figure_of(model_of(builder));
    poise_objective *objective = new_objective(f.model, 0);
    poise_goal goal = poise_goal_position(0, v3(1e90, 0, 0), v3(1e90, 1, 0));
    goal.weight = 1e300;
    set_goals(objective, &goal, 1);
    evaluate(objective, f.q, POISE_LEVEL_COST);
    ck_assert_int_eq(poise_objective_evaluate(objective, f.q, POISE_LEVEL_GRADIENT, NULL), POISE_ERROR_NUMERIC);
    ck_assert_ptr_null(poise_objective_value(objective).gradient);
    ck_assert_int_eq(poise_objective_evaluate(objective, f.q, POISE_LEVEL_HESSIAN, NULL), POISE_ERROR_NUMERIC);
}

TEST(a_configuration_that_is_not_finite_leaves_the_last_evaluation)
{
    scene_random random = scene_random_make(9);
    scene *s = new_scene(&random, RANDOM_PLAIN);
    poise_objective *objective = new_objective(s->f.model, RANDOM_COUPLED);
    set_goals(objective, s->goals, GOALS);
    evaluate(objective, s->f.q, POISE_LEVEL_HESSIAN);
    double cost = poise_objective_value(objective).cost, q[FIGURE_NUMBERS];
    poise_pose pose = poise_kinematics_body_pose((&objective->kin), JOINTS - 1);
    memcpy(q, s->f.q, sizeof q);
    q[s->f.nq - 1] = NAN;
    ck_assert_int_eq(poise_objective_evaluate(objective, q, POISE_LEVEL_COST, NULL), POISE_ERROR_ARGUMENT);
    ck_assert_int_eq(poise_objective_evaluate(objective, NULL, POISE_LEVEL_COST, NULL), POISE_ERROR_ARGUMENT);
    ck_assert_int_eq(poise_objective_evaluate(NULL, s->f.q, POISE_LEVEL_COST, NULL), POISE_ERROR_ARGUMENT);
    ck_assert_int_eq(poise_objective_evaluate(objective, s->f.q, (poise_level)3, NULL), POISE_ERROR_ARGUMENT);
    ck_assert_double_eq(poise_objective_value(objective).cost, cost);
    ck_assert_ptr_nonnull(poise_objective_value(objective).gradient);
    poise_pose after = poise_kinematics_body_pose((&objective->kin), JOINTS - 1);
    ck_assert_mem_eq(&pose, &after, sizeof pose);
}

// ---- Forms of the Hessian ------------------------------------------------------------------------------------------------

TEST(forms_of_the_hessian_refuse_what_they_cannot_answer)
{
    scene_random random = scene_random_make(10);
    scene *s = new_scene(&random, RANDOM_PLAIN);
    poise_objective *objective = new_objective(s->f.model, RANDOM_COUPLED);
    size_t n = (size_t)s->f.nv;
    double *work = malloc(n * (n + 2) * sizeof *work), x[FIGURE_NUMBERS] = {0};
    poise_definiteness definiteness = POISE_DEFINITE_NEGATIVE;
    set_goals(objective, s->goals, GOALS);
    evaluate(objective, s->f.q, POISE_LEVEL_GRADIENT);
    work[0] = -7;
    ck_assert_int_eq(poise_objective_hessian(objective, POISE_HESSIAN_EXACT, work, NULL), POISE_ERROR_ARGUMENT);
    ck_assert_int_eq(pz_objective_diagonal(objective, POISE_HESSIAN_EXACT, work), POISE_ERROR_ARGUMENT);
    evaluate(objective, s->f.q, POISE_LEVEL_HESSIAN);
    ck_assert_int_eq(poise_objective_packed(objective, POISE_HESSIAN_EXACT, work, NULL), POISE_ERROR_UNSUPPORTED);
    ck_assert_int_eq(poise_objective_hessian(objective, (poise_hessian)2, work, NULL), POISE_ERROR_ARGUMENT);
    ck_assert_int_eq(poise_objective_hessian(objective, POISE_HESSIAN_EXACT, NULL, NULL), POISE_ERROR_ARGUMENT);
    ck_assert_int_eq(poise_objective_hessian(NULL, POISE_HESSIAN_EXACT, work, NULL), POISE_ERROR_ARGUMENT);
    ck_assert_int_eq(poise_objective_multiply(objective, POISE_HESSIAN_EXACT, NULL, work, NULL), POISE_ERROR_ARGUMENT);
    x[1] = NAN;
    ck_assert_int_eq(poise_objective_multiply(objective, POISE_HESSIAN_EXACT, x, work, NULL), POISE_ERROR_ARGUMENT);
    ck_assert_int_eq(poise_objective_definiteness(objective, POISE_HESSIAN_EXACT, -1, work, &definiteness, NULL),
                     POISE_ERROR_ARGUMENT);
    ck_assert_int_eq(poise_objective_definiteness(objective, POISE_HESSIAN_EXACT, NAN, work, &definiteness, NULL),
                     POISE_ERROR_ARGUMENT);
    ck_assert_int_eq(poise_objective_definiteness(objective, POISE_HESSIAN_EXACT, 0, work, NULL, NULL),
                     POISE_ERROR_ARGUMENT);
    ck_assert_double_eq(work[0], -7);
    ck_assert_int_eq(definiteness, POISE_DEFINITE_NEGATIVE);
    free(work);
}

TEST(a_model_with_mimics_has_no_packed_form)
{
    scene_random random = scene_random_make(11);
    figure f = random_figure(&random, 60, RANDOM_MIMICS);
    poise_objective *objective = new_objective(f.model, 0);
    double rows[1] = {-7};
    evaluate(objective, f.q, POISE_LEVEL_HESSIAN);
    ck_assert_int_eq(poise_objective_packed(objective, POISE_HESSIAN_EXACT, rows, NULL), POISE_ERROR_UNSUPPORTED);
    ck_assert_double_eq(rows[0], -7);
    ck_assert_uint_eq(poise_model_packed_row(f.model, poise_model_info(f.model).nv).begin, 0);
    ck_assert_int_eq(poise_model_packed_row(f.model, 0).count, 0);
    ck_assert_int_eq(poise_model_packed_row(f.model, 0).parent, POISE_WORLD);
}

// Everything about one evaluation: cost, gradient, Hessian, packed rows. Returns how many numbers.
static size_t everything(const scene *s, const poise_goal *goals, int count, double *out)
{
    poise_objective *objective = new_objective(s->f.model, 0);
    size_t n = (size_t)s->f.nv, size = poise_model_packed_row(s->f.model, poise_model_info(s->f.model).nv).begin;
    set_goals(objective, goals, count);
    evaluate(objective, s->f.q, POISE_LEVEL_HESSIAN);
    out[0] = poise_objective_value(objective).cost;
    memcpy(out + 1, poise_objective_value(objective).gradient, n * sizeof *out);
    ck_assert_int_eq(poise_objective_hessian(objective, POISE_HESSIAN_EXACT, out + 1 + n, NULL), POISE_OK);
    ck_assert_int_eq(poise_objective_packed(objective, POISE_HESSIAN_EXACT, out + 1 + n + n * n, NULL), POISE_OK);
    return 1 + n + n * n + size;
}

// The library carries code for several widths of registers; the choice must not show.
TEST(results_have_the_same_bits_with_wide_and_narrow_registers)
{
    scene_random random = scene_random_make(12);
    for (int trial = 0; trial < MODELS; ++trial) {
        scene *s = new_scene(&random, RANDOM_FOREST);
        size_t room = (size_t)(2 * s->f.nv * s->f.nv + s->f.nv + 1);
        double *chosen = malloc(4 * room * sizeof *chosen), *narrow = chosen + 2 * room;
        const poise_goal *markers = s->goals + RANDOM_GOALS; // alone, so that no other number hides their last bits
        size_t numbers = everything(s, s->goals, RANDOM_GOALS - RANDOM_COUPLED, chosen);
        ck_assert_uint_eq(everything(s, markers, MARKERS, chosen + room), numbers);
        s->f.model->is_wide = false;
        ck_assert_uint_eq(everything(s, s->goals, RANDOM_GOALS - RANDOM_COUPLED, narrow), numbers);
        ck_assert_uint_eq(everything(s, markers, MARKERS, narrow + room), numbers);
        ck_assert_mem_eq(chosen, narrow, numbers * sizeof *chosen);
        ck_assert_mem_eq(chosen + room, narrow + room, numbers * sizeof *chosen);
        free(chosen);
    }
}

// ---- Definiteness --------------------------------------------------------------------------------------------------------

// Two unit links in the plane, angles a and b, tip x = u1 + u2, goal g; f = |x - g|^2 / 2. With J1 = x turned, J2 = u2
// turned and second derivatives -x, -u2, -u2 the Hessian is (Erleben & Andrews 2019, appendix A, worked out)
//
//   H = [ g . x    g . u2          ]
//       [ g . u2   g . u2 - cos(b) ]
typedef struct two_links {
    figure f;
    poise_objective *objective;
    poise_goal goal;
} two_links;

static two_links *new_two_links(double goal_x)
{
    poise_builder *builder = new_builder();
    add_plain(builder, "a", NULL, POISE_JOINT_REVOLUTE);
    poise_joint joint = joint_of("b", "a", POISE_JOINT_REVOLUTE);
    joint.offset.position = v3(1, 0, 0);
    add(builder, &joint);
    two_links *t = malloc(sizeof *t);
    test_own(free, t);
    t->f = figure_of(model_of(builder));
    t->objective = new_objective(t->f.model, 0);
    t->goal = poise_goal_position(1, v3(1, 0, 0), v3(goal_x, 0, 0));
    set_goals(t->objective, &t->goal, 1);
    return t;
}

static poise_definiteness definiteness_at(two_links *t, poise_hessian kind, double a, double b)
{
    double q[2] = {a, b}, work[8];
    poise_definiteness definiteness;
    evaluate(t->objective, q, POISE_LEVEL_HESSIAN);
    ck_assert_int_eq(poise_objective_definiteness(t->objective, kind, 1e-12, work, &definiteness, NULL), POISE_OK);
    return definiteness;
}

#define PI   3.14159265358979323846
#define GRID 120

TEST(definiteness_of_the_two_link_arm_is_that_of_its_closed_form)
{
    int seen[5] = {0};
    for (int g = 1; g <= 3; ++g) {
        two_links *t = new_two_links(g);
        for (int i = 0; i < GRID * GRID; ++i) {
            double a = 2 * PI * ((i / GRID + 0.5) / GRID) - PI, b = 2 * PI * ((i % GRID + 0.5) / GRID) - PI;
            double H11 = g * (cos(a) + cos(a + b)), H12 = g * cos(a + b), H22 = H12 - cos(b);
            double half = 0.5 * (H11 + H22), root = sqrt(0.25 * (H11 - H22) * (H11 - H22) + H12 * H12);
            double low = half - root, high = half + root;
            if (fmin(fabs(low), fabs(high)) < 1e-9) {
                continue;
            }
            poise_definiteness expected = low > 0    ? POISE_DEFINITE_POSITIVE
                                          : high < 0 ? POISE_DEFINITE_NEGATIVE
                                                     : POISE_DEFINITE_INDEFINITE;
            ck_assert_msg(definiteness_at(t, POISE_HESSIAN_EXACT, a, b) == expected, "goal %d, a %g, b %g", g, a, b);
            seen[expected] += 1;
        }
    }
    ck_assert_int_gt(seen[POISE_DEFINITE_POSITIVE], GRID);
    ck_assert_int_gt(seen[POISE_DEFINITE_NEGATIVE], GRID);
    ck_assert_int_gt(seen[POISE_DEFINITE_INDEFINITE], GRID);
    ck_assert_int_gt(seen[0] + seen[1] + seen[2], 3 * GRID * GRID - GRID); // hardly any was left out
}

TEST(at_a_solution_that_bends_the_arm_the_hessian_is_positive)
{
    two_links *t = new_two_links(1);
    ck_assert_int_eq(definiteness_at(t, POISE_HESSIAN_EXACT, PI / 3, -2 * PI / 3), POISE_DEFINITE_POSITIVE);
    ck_assert_double_eq_tol(poise_objective_value(t->objective).cost, 0.0, 1e-30);
    ck_assert_int_eq(definiteness_at(t, POISE_HESSIAN_EXACT, PI, 0.0), POISE_DEFINITE_NEGATIVE); // stretched away from it
    ck_assert_int_eq(definiteness_at(t, POISE_HESSIAN_EXACT, 0.0, 0.0), POISE_DEFINITE_INDEFINITE);
}

TEST(at_the_end_of_its_reach_the_arm_is_singular_and_beyond_it_is_not)
{
    two_links *t = new_two_links(2); // reached with the arm straight
    ck_assert_int_eq(definiteness_at(t, POISE_HESSIAN_EXACT, 0, 0), POISE_DEFINITE_SEMI_POSITIVE);
    t = new_two_links(3); // out of reach: the residual pulls the arm straight
    ck_assert_int_eq(definiteness_at(t, POISE_HESSIAN_EXACT, 0, 0), POISE_DEFINITE_POSITIVE);
    ck_assert_int_eq(definiteness_at(t, POISE_HESSIAN_GAUSS_NEWTON, 0, 0), POISE_DEFINITE_SEMI_POSITIVE);
    t = new_two_links(1); // g . x = g . u2 = 0 and cos(b) = 1: diag(0, -1)
    ck_assert_int_eq(definiteness_at(t, POISE_HESSIAN_EXACT, PI / 2, 0), POISE_DEFINITE_SEMI_NEGATIVE);
}
