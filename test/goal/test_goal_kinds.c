// What every kind of goal promises, over the table of goals (support/goal_facts.c): derivatives through every joint, nothing
// to pay where it is met, weights that scale, a world that may turn, losses and bands that only ever ask for less, numbers
// that are refused or do not matter. A new kind is a row there. In words and files: io/test_goal_text.c.
#include "goal/objective.h"

#include "support/derivative_check.h"
#include "support/goal_facts.h"
#include "support/joint_facts.h"
#include "support/skeleton.h"

#define TEST_EACH_GOAL(name) TEST_ROWS(name, POISE_GOAL_KIND_COUNT)

// ---- Goals of a kind on a limb -------------------------------------------------------------------------------------------

typedef struct setting {
    const poise_model *model;
    double posture[LIMB_LENGTH], before[LIMB_LENGTH], weights[LIMB_LENGTH], numbers[6];
    goal_parts parts;
} setting;

static void make_setting(setting *s, const joint_facts *row, const poise_model *model, scene_random *random)
{
    *s = (setting){.model = model, .numbers = {0.3, -0.5, 0.8, 1.0, 0.4, -0.6}};
    pose_limb(row, model, random, HARD_POSES, s->posture);
    pose_limb(row, model, random, HARD_POSES, s->before);
    for (int i = 0; i < LIMB_LENGTH; ++i) {
        s->weights[i] = scene_random_range(random, 0, 2);
    }
    s->parts = (goal_parts){.body = poise_model_find_body(model, "wrist"),
                            .body2 = poise_model_find_body(model, "other"),
                            .local = {poise_quat_from_axis_angle(poise_vec3_make(0, 1, 1), 0.3), {0.05, 0.15, 0.3}},
                            .target = {poise_quat_from_axis_angle(poise_vec3_make(1, -1, 2), 0.9), {3.4, -1.3, 1.9}},
                            .axis = {0, 0.6, 0.8},
                            .direction = {0.48, -0.6, 0.64},
                            .distance = 0.8,
                            .posture = s->posture,
                            .before = s->before,
                            .numbers = s->numbers};
}

#define VARIANTS 8

// A goal of the kind: plain, with each loss, with bands, and what else its kind may be asked. False: there is no such
// variant.
static bool variant_of(const setting *s, int kind, int variant, poise_goal *goal)
{
    const goal_facts *facts = &goal_rows[kind];
    goal_parts parts = s->parts;
    bool is_relative = kind == POISE_GOAL_RELATIVE, over_q = kind == POISE_GOAL_POSTURE || kind == POISE_GOAL_SMOOTHNESS;
    parts.body2 = variant == 6 ? poise_model_find_body(s->model, "subject") : variant == 7 ? POISE_WORLD : parts.body2;
    *goal = facts->make(&parts);
    goal->target.rotation = parts.target.rotation;
    goal->weight = variant == 0 ? 1.0 : 2.5;
    goal->rotation_weight = variant == 0 ? 1.0 : 0.3;
    goal->loss = variant == 1 ? POISE_LOSS_HUBER : variant == 2 || variant == 5 ? POISE_LOSS_GEMAN_MCCLURE : POISE_LOSS_NONE;
    goal->loss_scale = variant == 1 ? 0.2 : 1.3;
    goal->tolerance = variant == 3 || variant == 5 ? poise_vec3_make(0.1, INFINITY, 0.05) : goal->tolerance;
    goal->rotation_tolerance = variant == 4 ? poise_vec3_make(0.05, 0.1, INFINITY) : goal->rotation_tolerance;
    goal->q_weights = over_q && variant == 6 ? s->weights : NULL;
    goal->q_before = variant == 7 ? NULL : goal->q_before;
    bool has[VARIANTS] = {true,
                          facts->takes_loss,
                          facts->takes_loss,
                          facts->takes_band,
                          facts->takes_rotation_band,
                          facts->takes_loss && facts->takes_band,
                          is_relative || over_q,
                          is_relative || kind == POISE_GOAL_SMOOTHNESS};
    return has[variant];
}

static poise_objective *objective_of(const poise_model *model)
{
    poise_objective *objective = NULL;
    ck_assert_int_eq(poise_objective_create(model, 1, NULL, &objective, NULL), POISE_OK);
    return own_objective(objective);
}

static double evaluate(poise_objective *o, const poise_goal *goal, const double *q)
{
    poise_error error = {0};
    ck_assert_msg(poise_objective_set_goals(o, goal, 1, &error) == POISE_OK, "%s", error.text);
    ck_assert_int_eq(poise_objective_evaluate(o, q, POISE_LEVEL_HESSIAN, NULL), POISE_OK);
    return poise_objective_value(o).cost;
}

// A limb with a ball in its middle, a setting, an objective and a configuration.
typedef struct scene {
    figure f;
    setting s;
    poise_objective *o;
} scene;

static scene *new_scene(uint64_t seed)
{
    scene *made = calloc(1, sizeof *made);
    test_own(free, made);
    scene_random random = scene_random_make(seed);
    const joint_facts *row = &joint_rows[17 + seed % 2]; // a quaternion, a swing
    made->f = figure_of(limb_of_row(row));
    make_setting(&made->s, row, made->f.model, &random);
    pose_limb(row, made->f.model, &random, HARD_POSES, made->f.q);
    update(&made->f);
    made->o = objective_of(made->f.model);
    return made;
}

#define SCENES      12
#define SPLINE_SEED 5000

// ---- Derivatives ---------------------------------------------------------------------------------------------------------

// Differences of fourth order leave about 1e-11 (DIFFERENCE_STEP); an aim has fifth derivatives that grow with the inverse
// fifth power of its distance, here a few times 0.1.
#define DERIVATIVE_BOUND 5e-8
#define AGREEMENT_BOUND  2e-14 // two routes to one number through some dozen additions

// The energy has a kink in its second derivative at the edge of a tolerance band: differences must not step across one.
#define EDGE_DISTANCE 0.02

static bool is_near_edge(double component, double tolerance)
{
    return fabs(fabs(component) - tolerance) < EDGE_DISTANCE;
}

static bool crosses_band_edge(const poise_kinematics *kinematics, const poise_goal *goal)
{
    poise_pose frame = poise_pose_multiply(poise_kinematics_body_pose(kinematics, goal->body), goal->local);
    poise_pose off = poise_pose_multiply(poise_pose_inverse(goal->target), frame);
    poise_vec3 r = off.position, t = goal->tolerance, u = goal->rotation_tolerance;
    double sign = off.rotation.w < 0 ? -2.0 : 2.0;
    bool position = t.x != 0 && (is_near_edge(r.x, t.x) || is_near_edge(r.y, t.y) || is_near_edge(r.z, t.z));
    bool rotation = u.x != 0 && (is_near_edge(sign * off.rotation.x, u.x) || is_near_edge(sign * off.rotation.y, u.y) ||
                                 is_near_edge(sign * off.rotation.z, u.z) || fabs(off.rotation.w) < EDGE_DISTANCE);
    return position || rotation;
}

static int edges_met, goals_checked;

static void check_goal(poise_objective *o, const poise_model *model, const poise_goal *goal, const double *q,
                       const char *joint)
{
    evaluate(o, goal, q);
    if (crosses_band_edge(&o->kin, goal)) {
        edges_met += 1;
        return;
    }
    goals_checked += 1;
    derivative_errors e = check_derivatives(o, model, q);
    const char *kind = poise_goal_kind_name(goal->kind);
    ck_assert_msg(e.gradient <= DERIVATIVE_BOUND && e.hessian <= DERIVATIVE_BOUND,
                  "%s through %s: gradient off by %.2e, Hessian by %.2e", kind, joint, e.gradient, e.hessian);
    ck_assert_msg(e.product <= AGREEMENT_BOUND * 10 && e.diagonal <= AGREEMENT_BOUND,
                  "%s through %s: product off by %.2e, diagonal by %.2e", kind, joint, e.product, e.diagonal);
    ck_assert_msg(e.packed == 0.0 && e.asymmetry == 0.0, "%s through %s: packed rows off by %.2e, not symmetric by %.2e",
                  kind, joint, e.packed, e.asymmetry);
    ck_assert_msg(e.least_gauss_newton >= -1e-13, "%s through %s: Gauss-Newton has eigenvalue %.2e", kind, joint,
                  e.least_gauss_newton);
}

// One that does not depend on how many rows there are: differences must not step across the points of a spline either, nor
// the edges of losses, which few seeds do.
static uint64_t seed_of(int kind, int joint)
{
    enum { FIRST_ROWS = 26 };
    return joint < FIRST_ROWS ? 20 + (uint64_t)(kind * FIRST_ROWS + joint) : SPLINE_SEED + (uint64_t)(kind * 64 + joint);
}

// Every kind, in every variant, through every joint, at hard and at random configurations.
TEST_ROWS(derivatives_match_differences, POISE_GOAL_KIND_COUNT *JOINT_ROWS)
{
    int kind = test_row / JOINT_ROWS;
    const joint_facts *row = &joint_rows[test_row % JOINT_ROWS];
    poise_model *model = limb_of_row(row);
    poise_objective *o = objective_of(model);
    scene_random random = scene_random_make(seed_of(kind, test_row % JOINT_ROWS));
    for (int pose = 0; pose < LIMB_POSES; ++pose) {
        setting s;
        double q[LIMB_LENGTH];
        make_setting(&s, row, model, &random);
        pose_limb(row, model, &random, pose, q);
        for (int variant = 0; variant < VARIANTS; ++variant) {
            poise_goal goal;
            if (variant_of(&s, kind, variant, &goal)) {
                check_goal(o, model, &goal, q, row->name);
            }
        }
    }
}

TEST(few_goals_were_left_out_at_band_edges)
{
    ck_assert_msg(goals_checked > 0 && edges_met * 40 < goals_checked, "%d left out, %d checked", edges_met, goals_checked);
}

// ---- Energy --------------------------------------------------------------------------------------------------------------

// A goal is met to the rounding of the poses, some 1e-14 of lengths near 10: the pull is that times weights and arms, the
// cost its square.
TEST_EACH_GOAL(one_that_is_met_costs_nothing_and_pulls_nowhere)
{
    for (uint64_t seed = 0; seed < SCENES && goal_rows[test_row].meet; ++seed) {
        scene *c = new_scene(seed);
        for (int variant = 0; variant < VARIANTS; ++variant) {
            poise_goal goal;
            if (!variant_of(&c->s, test_row, variant, &goal)) {
                continue;
            }
            goal_rows[test_row].meet(c->f.kin, c->f.q, &goal);
            ck_assert_double_le(evaluate(c->o, &goal, c->f.q), 1e-26);
            for (int k = 0; k < c->f.nv; ++k) {
                ck_assert_double_le(fabs(poise_objective_value(c->o).gradient[k]), 2e-12);
            }
            poise_goal_error e = poise_objective_goal_error(c->o, 0);
            ck_assert(e.error <= 2e-13 && e.rotation_error <= 2e-13);
        }
    }
}

// Twice the weight is twice the cost, gradient and Hessian, to the last bit; none of it is nothing. Errors know no weight.
TEST_EACH_GOAL(weights_scale_everything_but_errors)
{
    double H[2][LIMB_LENGTH * LIMB_LENGTH], gradient[LIMB_LENGTH];
    for (uint64_t seed = 0; seed < SCENES; ++seed) {
        scene *c = new_scene(seed);
        for (int variant = 0; variant < 2 * VARIANTS; ++variant) {
            poise_goal goal;
            if (!variant_of(&c->s, test_row, variant / 2, &goal)) {
                continue;
            }
            poise_hessian which = (poise_hessian)(variant % 2);
            double cost = evaluate(c->o, &goal, c->f.q);
            memcpy(gradient, poise_objective_value(c->o).gradient, (size_t)c->f.nv * sizeof *gradient);
            ck_assert_int_eq(poise_objective_hessian(c->o, which, H[0], NULL), POISE_OK);
            poise_goal_error before = poise_objective_goal_error(c->o, 0);
            for (int factor = 2; factor >= 0; factor -= 2) {
                poise_goal other = goal;
                other.weight *= factor;
                other.rotation_weight *= factor;
                ck_assert_double_eq(evaluate(c->o, &other, c->f.q), factor * cost);
                ck_assert_int_eq(poise_objective_hessian(c->o, which, H[1], NULL), POISE_OK);
                for (int i = 0; i < c->f.nv * c->f.nv; ++i) {
                    ck_assert_double_eq(H[1][i], factor * H[0][i]);
                    ck_assert_double_eq(poise_objective_value(c->o).gradient[i % c->f.nv], factor * gradient[i % c->f.nv]);
                }
                poise_goal_error after = poise_objective_goal_error(c->o, 0);
                ck_assert(after.error == before.error && after.rotation_error == before.rotation_error);
            }
        }
    }
}

// A loss and a band ask for less, never for more; where they are wide a loss is none, and a band leaves nothing. Kinds that
// take neither do not look at them.
TEST_EACH_GOAL(losses_and_bands_ask_for_less)
{
    const goal_facts *facts = &goal_rows[test_row];
    for (uint64_t seed = 0; seed < SCENES; ++seed) {
        scene *c = new_scene(seed);
        poise_goal goal;
        variant_of(&c->s, test_row, 0, &goal);
        double plain = evaluate(c->o, &goal, c->f.q);
        for (int loss = POISE_LOSS_HUBER; loss < POISE_LOSS_COUNT; ++loss) {
            poise_goal other = goal;
            other.loss = (poise_loss)loss;
            other.loss_scale = 0.3;
            double small = evaluate(c->o, &other, c->f.q);
            ck_assert(facts->takes_loss ? small <= plain : small == plain);
            ck_assert(!facts->takes_loss || loss == POISE_LOSS_HUBER || small < plain);
            other.loss_scale = 1e6;
            ck_assert_double_eq_tol(evaluate(c->o, &other, c->f.q), plain, 1e-10 * plain);
        }
        poise_vec3 none = {0, 0, 0}, some = {0.1, 0.2, 0.05}, free = {INFINITY, INFINITY, INFINITY};
        for (int i = 0; i < 4; ++i) { // some or all, of the place or of the rotation
            poise_goal other = goal;
            other.tolerance = i % 2 == 0 ? (i < 2 ? some : free) : none;
            other.rotation_tolerance = i % 2 == 1 ? (i < 2 ? some : free) : none;
            bool takes = i % 2 == 0 ? facts->takes_band : facts->takes_rotation_band;
            double cost = evaluate(c->o, &other, c->f.q);
            ck_assert(takes ? cost < plain : cost == plain);
            bool is_all = !(facts->takes_band && facts->takes_rotation_band);
            ck_assert(!takes || i < 2 || !is_all || cost == 0.0);
        }
    }
}

// ---- The world -----------------------------------------------------------------------------------------------------------

// The same model and goal in a world that is turned and shifted; a spring to its origin does not move along.
TEST_EACH_GOAL(it_moves_with_the_world)
{
    for (uint64_t seed = 0; seed < SCENES && test_row != POISE_GOAL_CALLBACK; ++seed) {
        scene *c = new_scene(seed);
        scene_random random = scene_random_make(seed + 100);
        poise_quat turn = scene_random_rotation(&random);
        poise_pose T = {turn, random_vector(&random, 3.0)};
        poise_builder *builder = new_builder();
        for (int k = 0; k < poise_model_info(c->f.model).joints; ++k) {
            poise_joint joint = *poise_model_joint_info(c->f.model, k).given;
            joint.offset = joint.parent ? joint.offset : poise_pose_multiply(T, joint.offset);
            add(builder, &joint);
        }
        poise_objective *moved = objective_of(model_of(builder));
        for (int variant = 0; variant < VARIANTS; ++variant) {
            poise_goal goal, there;
            if (variant_of(&c->s, test_row, variant, &goal)) {
                bool is_relative = goal.kind == POISE_GOAL_RELATIVE && goal.body2 != POISE_WORLD;
                there = goal;
                there.target = is_relative ? goal.target : poise_pose_multiply(T, goal.target);
                there.direction = poise_quat_rotate(T.rotation, goal.direction);
                double here = evaluate(c->o, &goal, c->f.q);
                ck_assert_double_eq_tol(evaluate(moved, &there, c->f.q), here, 1e-13 * (1 + here));
                for (int i = 0; i < c->f.nv; ++i) {
                    ck_assert_double_eq_tol(poise_objective_value(moved).gradient[i],
                                            poise_objective_value(c->o).gradient[i], 1e-12);
                }
            }
        }
    }
}

// ---- Refusals ------------------------------------------------------------------------------------------------------------

// Every number of a goal in turn is none: the goal is refused by its name, or it never looked at that number.
TEST_EACH_GOAL(a_number_that_is_none_is_refused_or_does_not_matter)
{
    static const size_t numbers[] = {offsetof(poise_goal, weight),           offsetof(poise_goal, loss_scale),
                                     offsetof(poise_goal, tolerance),        offsetof(poise_goal, local.position),
                                     offsetof(poise_goal, local.rotation),   offsetof(poise_goal, target.position),
                                     offsetof(poise_goal, target.rotation),  offsetof(poise_goal, axis),
                                     offsetof(poise_goal, direction),        offsetof(poise_goal, distance),
                                     offsetof(poise_goal, rotation_weight),  offsetof(poise_goal, rotation_tolerance),
                                     offsetof(poise_goal, local.position.z), offsetof(poise_goal, target.position.z)};
    scene *c = new_scene(1);
    int refused = 0;
    for (int variant = 0; variant < VARIANTS; ++variant) {
        poise_goal goal;
        if (!variant_of(&c->s, test_row, variant, &goal)) {
            continue;
        }
        double cost = evaluate(c->o, &goal, c->f.q);
        for (size_t i = 0; i < TEST_COUNT(numbers); ++i) {
            poise_goal bad = goal;
            poise_error error = {0};
            char kind[64];
            *(double *)((char *)&bad + numbers[i]) = NAN;
            snprintf(kind, sizeof kind, "%s goal: ", poise_goal_kind_name(goal.kind));
            if (poise_goal_check(&bad, c->f.model, &error) != POISE_OK) {
                ck_assert_msg(strncmp(error.text, kind, strlen(kind)) == 0, "%s", error.text);
                refused += 1;
            } else {
                ck_assert_msg(evaluate(c->o, &bad, c->f.q) == cost, "%s takes number %zu", kind, i);
            }
        }
    }
    ck_assert_int_gt(refused, 0);
}

// ---- Callback curvature -------------------------------------------------------------------------------------------------
//
// Second derivatives that a caller gives: each comes through in its place, and definiteness is judged by them.

// An energy without a slope whose second derivatives are the 36 numbers that `user` points to.
static bool given_curvature(void *user, const poise_pose *pose, poise_body_energy *out)
{
    for (int i = 0; i < 36; ++i) {
        out->hessian[i] = ((const double *)user)[i];
    }
    return pose != NULL;
}

// The objective of such an energy for one free body where it is; steps are translation, then rotation, the energy's numbers
// the other way round.
static poise_objective *free_body(poise_goal *goal, double *numbers, poise_model **model)
{
    poise_builder *builder;
    poise_objective *objective;
    poise_joint joint = poise_joint_default();
    double q[7];
    joint.name = "free";
    joint.type = POISE_JOINT_FREE;
    ck_assert_int_eq(poise_builder_create(NULL, &builder, NULL), POISE_OK);
    ck_assert_int_eq(poise_builder_add_joint(builder, &joint, NULL), POISE_OK);
    ck_assert_int_eq(poise_model_create(builder, NULL, model, NULL), POISE_OK);
    poise_builder_destroy(builder);
    ck_assert_int_eq(poise_objective_create(*model, 0, NULL, &objective, NULL), POISE_OK);
    *goal = poise_goal_callback(0, given_curvature, numbers);
    poise_model_neutral(*model, q);
    ck_assert_int_eq(poise_objective_set_goals(objective, goal, 1, NULL), POISE_OK);
    ck_assert_int_eq(poise_objective_evaluate(objective, q, POISE_LEVEL_HESSIAN, NULL), POISE_OK);
    return objective;
}

TEST(every_second_derivative_of_a_callback_comes_through_in_its_place)
{
    double numbers[36], H[36];
    poise_goal goal;
    poise_model *model;
    for (int i = 0; i < 36; ++i) { // symmetric, and all different otherwise
        numbers[i] = 1.0 + (i / 6 < i % 6 ? i / 6 * 10 + i % 6 : i % 6 * 10 + i / 6);
    }
    poise_objective *objective = free_body(&goal, numbers, &model);
    for (int kind = 0; kind < 2; ++kind) {
        ck_assert_int_eq(poise_objective_hessian(objective, (poise_hessian)kind, H, NULL), POISE_OK);
        for (int i = 0; i < 36; ++i) {
            ck_assert_double_eq(H[i], numbers[6 * ((i / 6 + 3) % 6) + (i % 6 + 3) % 6]);
        }
    }
    poise_objective_destroy(objective);
    poise_model_destroy(model);
}

TEST(definiteness_is_judged_beside_the_largest_eigenvalue_of_either_sign)
{
    double numbers[36] = {0}, work[6 * 8];
    poise_goal goal;
    poise_model *model;
    poise_definiteness found;
    static const double sizes[] = {1e-8, 1.0, 1e8};
    for (int i = 0; i < 6; ++i) {
        double sign = i % 2 ? 1.0 : -1.0;
        numbers[0] = sign * sizes[i / 2];
        numbers[35] = -1e-6 * numbers[0]; // nothing beside it
        poise_objective *objective = free_body(&goal, numbers, &model);
        ck_assert_int_eq(poise_objective_definiteness(objective, POISE_HESSIAN_EXACT, 1e-3, work, &found, NULL), POISE_OK);
        ck_assert_int_eq(found, sign < 0 ? POISE_DEFINITE_SEMI_NEGATIVE : POISE_DEFINITE_SEMI_POSITIVE);
        ck_assert_int_eq(poise_objective_definiteness(objective, POISE_HESSIAN_EXACT, 1e-9, work, &found, NULL), POISE_OK);
        ck_assert_int_eq(found, POISE_DEFINITE_INDEFINITE);
        poise_objective_destroy(objective);
        poise_model_destroy(model);
    }
}
