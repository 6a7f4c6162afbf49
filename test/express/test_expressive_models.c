// The successor of ERIK on models and goals of every kind, sound or hopeless.
#include "support/erik_chains.h"

#include <poise/expressive.h>
#include <poise/kinematics.h>
#include <scenes/scenes.h>

#include <math.h>
#include <string.h>

#include "papers/erik/expressive.h"
#include "support/own.h"
#include "support/random_goals.h"
#include "support/random_model.h"
#include "support/test_main.h"

#define MOST 512

static bool is_sound(const poise_model *model, const double *q)
{
    for (int i = 0; i < poise_model_info(model).nq; ++i) {
        if (!isfinite(q[i])) {
            return false;
        }
    }
    return poise_model_within_limits(model, q);
}

TEST(random_models_and_goals_are_served_within_limits)
{
    scene_random random = scene_random_make(71);
    static random_goals goals;
    static double posture[MOST], q[MOST];
    for (int i = 0; i < 60; ++i) {
        unsigned features = (i & 1 ? RANDOM_LIMITS : 0u) | (i & 2 ? RANDOM_MIMICS : 0u) | (i & 4 ? RANDOM_FOREST : 0u);
        poise_model *model = own_model(random_model(&random, 1 + i % 12, features));
        poise_expressive_options options = poise_expressive_options_default();
        poise_expressive *expressive;
        poise_expressive_report report;
        options.mode = i % 3 ? POISE_EXPRESSIVE_METRIC : POISE_EXPRESSIVE_SHAPE;
        options.warm = i % 5 != 0;
        ck_assert_ptr_nonnull(model);
        ck_assert_int_eq(poise_expressive_create(model, &options, NULL, &expressive, NULL), POISE_OK);
        random_goals_make(&random, model, &goals);
        for (int k = 0; k < 4; ++k) {
            scene_random_configuration(&random, model, posture);
            scene_random_configuration(&random, model, q);
            int count = k == 0 ? RANDOM_GOALS : scene_random_index(&random, RANDOM_GOALS);
            count = count > options.max_goals ? options.max_goals : count;
            ck_assert_int_eq(poise_expressive_solve(expressive, goals.goals, count, posture, q, &report, NULL), POISE_OK);
            ck_assert(is_sound(model, q));
            ck_assert(isfinite(report.error) && isfinite(report.posture));
        }
        poise_expressive_destroy(expressive);
    }
}

TEST(without_goals_the_answer_is_the_posture_within_limits)
{
    scene_random random = scene_random_make(73);
    static double posture[MOST], q[MOST], v[MOST];
    for (int i = 0; i < 20; ++i) {
        poise_model *model = own_model(random_model(&random, 1 + i % 8, RANDOM_LIMITS));
        poise_expressive_options options = poise_expressive_options_default();
        poise_expressive *expressive;
        options.mode = POISE_EXPRESSIVE_SHAPE;
        options.warm = false;
        ck_assert_int_eq(poise_expressive_create(model, &options, NULL, &expressive, NULL), POISE_OK);
        scene_random_configuration(&random, model, posture);
        poise_model_neutral(model, q);
        ck_assert_int_eq(poise_expressive_solve(expressive, NULL, 0, posture, q, NULL, NULL), POISE_OK);
        ck_assert_int_eq(poise_difference(model, posture, q, v, NULL), POISE_OK);
        for (int k = 0; k < poise_model_info(model).nv; ++k) {
            ck_assert_double_le(fabs(v[k]), 1e-9); // starts there: only rounding of the clamp
        }
        poise_expressive_destroy(expressive);
    }
}

TEST(targets_out_of_reach_and_out_of_this_world_leave_sound_answers)
{
    scene_random random = scene_random_make(79);
    static const double far[] = {1.0, 1e3, 1e9, 1e100, 1e160};
    static double posture[MOST], q[MOST];
    poise_model *model = own_model(random_model(&random, 8, RANDOM_LIMITS));
    poise_expressive_options options = poise_expressive_options_default();
    poise_expressive *expressive;
    poise_expressive_report report;
    ck_assert_int_eq(poise_expressive_create(model, &options, NULL, &expressive, NULL), POISE_OK);
    for (size_t i = 0; i < TEST_COUNT(far); ++i) {
        poise_vec3 zero = poise_vec3_make(0, 0, 0), target = poise_vec3_make(far[i], -far[i], far[i]);
        poise_goal goals[2] = {poise_goal_position(7, zero, target),
                               poise_goal_aim(5, zero, poise_vec3_make(0, 0, 1), target)};
        scene_random_configuration(&random, model, posture);
        scene_random_configuration(&random, model, q);
        ck_assert_int_eq(poise_expressive_solve(expressive, goals, 2, posture, q, &report, NULL), POISE_OK);
        ck_assert(is_sound(model, q));
        ck_assert(isfinite(report.error) && isfinite(report.goal) && isfinite(report.posture));
    }
    poise_expressive_destroy(expressive);
}

// The end has the orientation that was asked for, not the one rolled by half a turn.
TEST(by_default_an_orientation_that_is_reached_is_the_one_asked_for)
{
    scene_random random = scene_random_make(80);
    static double posture[MOST], q[MOST];
    poise_model *model = NULL;
    ck_assert_int_eq(scene_create("erik-c", NULL, &model, NULL), POISE_OK);
    own_model(model);
    poise_expressive_options options = poise_expressive_options_default();
    poise_expressive *expressive;
    poise_kinematics *kinematics;
    ck_assert_int_eq(poise_expressive_create(model, &options, NULL, &expressive, NULL), POISE_OK);
    ck_assert_int_eq(poise_kinematics_create(model, NULL, &kinematics, NULL), POISE_OK);
    int reached = 0, end = poise_model_info(model).joints - 1;
    for (int i = 0; i < 50; ++i) {
        poise_expressive_report report;
        poise_quat target = scene_random_rotation(&random);
        poise_goal goal = poise_goal_orientation(end, target);
        scene_random_configuration(&random, model, posture);
        memcpy(q, posture, sizeof q);
        ck_assert_int_eq(poise_expressive_solve(expressive, &goal, 1, posture, q, &report, NULL), POISE_OK);
        ck_assert_int_eq(poise_kinematics_update(kinematics, q, NULL), POISE_OK);
        poise_quat found = poise_kinematics_body_pose(kinematics, end).rotation;
        double angle = poise_quat_angle(poise_quat_multiply(poise_quat_conjugate(target), found));
        ck_assert_msg(report.worst_angle > 0.2 || angle < 0.2, "target %d: said to be met, but %g rad off", i, angle);
        reached += report.worst_angle < 0.2;
    }
    ck_assert_int_gt(reached, 25);
    poise_kinematics_destroy(kinematics);
    poise_expressive_destroy(expressive);
}

// Where the residuals r are zero, the Hessian of sum w (sqrt(r^2 + eps^2) - eps) is w/eps dr^2, so that the second
// difference of the cost, zero itself there, is the diagonal up to h^2/12 times fourth derivatives, below 1 for eps = 1, and
// up to rounding of eps over h^2, 1e-16/1e-6.
TEST(curvature_of_the_posture_error_is_its_second_difference_at_the_posture)
{
    scene_random random = scene_random_make(83);
    static double posture[MOST], q[MOST], v[MOST], g[MOST], H[MOST * 64];
    const double h = 1e-3, eps = 1.0, factor = 0.7;
    for (int round = 0; round < 20; ++round) {
        poise_model *model = own_model(random_model(&random, 2 + round % 6, 0u));
        poise_expressive_options options = poise_expressive_options_default();
        poise_expressive *e;
        options.mode = round % 2 ? POISE_EXPRESSIVE_METRIC : POISE_EXPRESSIVE_SHAPE;
        ck_assert_int_eq(poise_expressive_create(model, &options, NULL, &e, NULL), POISE_OK);
        int n = poise_model_info(model).nv;
        ck_assert_int_le(n * n, (int)TEST_COUNT(H));
        scene_random_configuration(&random, model, posture);
        pz_terms_take(e, posture);
        pz_terms_choose_signs(e, posture);
        memset(g, 0, sizeof g);
        memset(H, 0, sizeof H);
        ck_assert_double_le(pz_terms_cost(e, posture, eps, factor, g, H), 1e-15);
        for (int i = 0; i < n; ++i) {
            double sum = 0.0;
            for (int side = -1; side <= 1; side += 2) {
                memset(v, 0, sizeof v);
                v[i] = side * h;
                ck_assert_int_eq(poise_retract(model, posture, v, q, NULL), POISE_OK);
                sum += pz_terms_cost(e, q, eps, factor, NULL, NULL);
            }
            for (int j = 0; j < n; ++j) {
                double expected = i == j ? factor * sum / (h * h) : 0.0;
                ck_assert_msg(fabs(H[i * n + j] - expected) < 1e-6, "model %d, H[%d][%d]: %g for %g", round, i, j,
                              H[i * n + j], expected);
            }
        }
        poise_expressive_destroy(e);
    }
}

// The posture error of q with the runs' signs by bits; a twister between two signs is held half a turn off. Chains of the
// test have runs that are parted by one twister or more, of which the first that counts takes the half turn.
static double error_with_signs(poise_expressive *e, const double *q, unsigned bits)
{
    const pz_chain *chain = &e->erik->chain;
    double sum = 0.0;
    for (int k = 0; k < chain->count; ++k) {
        const pz_term *term = &e->terms[e->term_of[k]];
        double cost[2];
        pz_terms_link_cost(e, k, q[chain->links[k].q], cost);
        if (term->kind != PZ_TERM_TWIST) {
            sum += cost[bits >> term->run & 1u];
            continue;
        }
        int before = -1, after = -1;
        for (int j = 0; j < chain->count; ++j) {
            int run = e->terms[e->term_of[j]].run;
            before = j < k && run >= 0 ? run : before;
            after = j > k && run >= 0 && after < 0 ? run : after;
        }
        bool differ = before >= 0 && after >= 0 && (bits >> before & 1u) != (bits >> after & 1u);
        bool is_alone = k + 1 < chain->count && chain->links[k + 1].kind != PZ_LINK_TWISTER &&
                        chain->links[k - (k > 0)].kind != PZ_LINK_TWISTER;
        sum += is_alone || !differ ? cost[differ] : fmin(cost[0], cost[1]);
    }
    return sum;
}

// The posture error with the signs that are chosen is the least of all signs.
TEST(runs_bend_the_way_that_fits_best)
{
    scene_random random = scene_random_make(87);
    int turned = 0;
    for (int round = 0; round < 200; ++round) {
        poise_model *model = chain_make(&random, round % 2 ? CHAIN_GENERAL : CHAIN_STRAIGHT, 2 + round % 6);
        poise_expressive_options options = poise_expressive_options_default();
        poise_expressive *e;
        double posture[CHAIN_MOST], q[CHAIN_MOST];
        options.mode = POISE_EXPRESSIVE_SHAPE;
        ck_assert_int_eq(poise_expressive_create(model, &options, NULL, &e, NULL), POISE_OK);
        scene_random_configuration(&random, model, posture);
        scene_random_configuration(&random, model, q);
        pz_terms_take(e, posture);
        pz_terms_choose_signs(e, q);
        double least = pz_terms_error(e, q);
        double link_cost = pz_terms_least(e, NULL);
        ck_assert_msg(fabs(link_cost - least) <= 1e-12, "chain %d: %g for %g", round, least, link_cost);
        bool is_free = e->erik->chain.links[0].kind == PZ_LINK_TWISTER;
        for (unsigned bits = 0; bits < 1u << e->run_count; ++bits) {
            if (is_free || !(bits & 1u)) {
                ck_assert_msg(error_with_signs(e, q, bits) >= least - 1e-12, "chain %d, signs %x", round, bits);
            }
        }
        for (int run = 0; run < e->run_count; ++run) {
            turned += e->run_sign[run] < 0.0;
        }
        poise_expressive_destroy(e);
    }
    ck_assert_int_gt(turned, 20);
}

// ---- Candidates ----------------------------------------------------------------------------------------------------------

// A chain with its expressive solver, and the candidates for an end that faces as `there` has it.
typedef struct chain_case {
    poise_model *model;
    poise_kinematics *kin;
    poise_expressive *e;
    int n;
} chain_case;

static chain_case chain_case_make(poise_model *model)
{
    poise_expressive_options options = poise_expressive_options_default();
    chain_case c = {.model = model, .n = poise_model_info(model).nq};
    int tip = poise_model_find_tool(model, "tip");
    options.body = poise_model_tool_info(model, tip).body;
    options.tip = poise_model_tool_info(model, tip).pose;
    options.warm = options.symmetric_endpoint = false;
    options.searches = 16;
    ck_assert_int_eq(poise_kinematics_create(model, NULL, &c.kin, NULL), POISE_OK);
    ck_assert_int_eq(poise_expressive_create(model, &options, NULL, &c.e, NULL), POISE_OK);
    own_kinematics(c.kin);
    own_expressive(c.e);
    return c;
}

static void find_candidates(chain_case *c, const double *posture, const double *there)
{
    double q[MOST];
    ck_assert_int_eq(poise_kinematics_update(c->kin, there, NULL), POISE_OK);
    poise_quat target = poise_kinematics_body_pose(c->kin, c->e->end).rotation;
    poise_goal goal = poise_goal_orientation(c->e->end, target);
    memcpy(q, posture, (size_t)c->n * sizeof *q);
    ck_assert_int_eq(poise_expressive_solve(c->e, &goal, 1, posture, q, NULL, NULL), POISE_OK); // takes posture and target
    pz_expressive_find(c->e);
    ck_assert_int_gt(c->e->found_count, 0);
}

// The error of a configuration: goal_weight sqrt(1 - |w|) + posture_weight P, w that of the rotation from the target.
static double error_of(chain_case *c, const double *q)
{
    poise_expressive *e = c->e;
    ck_assert_int_eq(poise_kinematics_update(c->kin, q, NULL), POISE_OK);
    poise_quat a = poise_kinematics_body_pose(c->kin, e->end).rotation, b = e->target;
    double w = fabs(a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w);
    pz_terms_choose_signs(e, q);
    return e->options.goal_weight * sqrt(fmax(0.0, 1.0 - w)) + e->options.posture_weight * pz_terms_error(e, q);
}

#define SCORE_TOLERANCE 1e-6 // the root of roundings, 1e-8, and of those of directions near an axis

TEST(the_score_of_a_candidate_is_the_error_of_its_pose)
{
    scene_random random = scene_random_make(89);
    int by_two = 0;
    for (int round = 0; round < 200; ++round) {
        chain_case c = chain_case_make(chain_make(&random, CHAIN_STRAIGHT, 4 + round % 3));
        double posture[CHAIN_MOST], there[CHAIN_MOST], q[CHAIN_MOST];
        scene_random_configuration(&random, c.model, posture);
        scene_random_configuration(&random, c.model, there);
        find_candidates(&c, posture, there);
        for (int i = 0; i < c.e->found_count; ++i) {
            const pz_candidate *candidate = &c.e->found[i];
            pz_expressive_place(c.e, candidate, q);
            ck_assert(poise_model_within_limits(c.model, q));
            ck_assert_msg(fabs(error_of(&c, q) - candidate->score) < SCORE_TOLERANCE,
                          "chain %d, joints %d and %d: %g for %g", round, candidate->joint, candidate->second,
                          candidate->score, error_of(&c, q));
            by_two += candidate->second >= 0;
        }
    }
    ck_assert_int_gt(by_two, 100);
}

TEST(a_pose_that_differs_by_root_end_and_one_joint_is_found)
{
    static const char *const names[] = {"erik-c", "erik-d", "erik-e", "erik-f", "erik-g"};
    scene_random random = scene_random_make(97);
    for (int round = 0; round < 200; ++round) {
        chain_case c = chain_case_make(scene(names[round % 5]));
        double posture[CHAIN_MOST], there[CHAIN_MOST], other[CHAIN_MOST];
        scene_random_configuration(&random, c.model, posture);
        scene_random_configuration(&random, c.model, other);
        memcpy(there, posture, sizeof there);
        int changed[3] = {0, 1 + scene_random_index(&random, c.n - 2), c.n - 1};
        for (int i = 0; i < 3; ++i) {
            there[changed[i]] = other[changed[i]];
        }
        find_candidates(&c, posture, there);
        ck_assert_msg(c.e->found[0].score <= error_of(&c, there) + SCORE_TOLERANCE, "%s: %g for %g", names[round % 5],
                      c.e->found[0].score, error_of(&c, there));
    }
}

TEST(where_root_and_end_do_no_joint_has_to_pay)
{
    scene_random random = scene_random_make(101);
    for (int round = 0; round < 50; ++round) {
        chain_case c = chain_case_make(chain_make(&random, CHAIN_STRAIGHT, 5));
        double posture[CHAIN_MOST], there[CHAIN_MOST], other[CHAIN_MOST];
        scene_random_configuration(&random, c.model, posture);
        scene_random_configuration(&random, c.model, other);
        memcpy(there, posture, sizeof there);
        there[0] = other[0], there[c.n - 1] = other[c.n - 1];
        find_candidates(&c, posture, there);
        bool is_there = false;
        for (int i = 0; i < c.e->found_count; ++i) {
            const pz_candidate *found = &c.e->found[i];
            is_there = is_there || (found->pattern == 0 && found->joint < 0 && found->score < SCORE_TOLERANCE);
        }
        ck_assert_msg(is_there, "chain %d", round);
    }
}

// Bent the other way a link bends as much, unless it meets a limit. Rounding of angles of up to 2 pi and of the bend.
TEST(patterns_bend_links_as_much_as_the_posture_does)
{
    scene_random random = scene_random_make(107);
    int seen = 0;
    for (int round = 0; round < 60; ++round) {
        chain_case c = chain_case_make(chain_make(&random, CHAIN_GENERAL, 4 + round % 3));
        const pz_chain *chain = &c.e->erik->chain;
        double posture[CHAIN_MOST], there[CHAIN_MOST], q[CHAIN_MOST];
        scene_random_configuration(&random, c.model, posture);
        scene_random_configuration(&random, c.model, there);
        find_candidates(&c, posture, there);
        for (int i = 0; i < c.e->found_count; ++i) {
            pz_candidate uncompensated = c.e->found[i];
            uncompensated.joint = uncompensated.second = -1;
            pz_expressive_place(c.e, &uncompensated, q);
            for (int k = 1; k < chain->count - 1; ++k) {
                const pz_link *link = &chain->links[k];
                double angle = q[link->q], was = posture[link->q];
                bool at_limit =
                    angle <= poise_model_info(c.model).lower[link->q] || angle >= poise_model_info(c.model).upper[link->q];
                double bend = pz_bend(link, sin(angle), cos(angle)), expected = pz_bend(link, sin(was), cos(was));
                ck_assert_msg(at_limit || fabs(bend - expected) < 1e-13, "chain %d, link %d: %g for %g", round, k, bend,
                              expected);
                seen += !at_limit && fabs(angle - was) > 0.1;
            }
        }
    }
    ck_assert_int_gt(seen, 100);
}

// ---- Refinement ----------------------------------------------------------------------------------------------------------

// What a refinement minimises in the end: a hundred times the goals, the posture smoothed by 1e-3, the pull to the start.
static double refined_cost(poise_expressive *e, const double *q, double pull)
{
    double square = 0.0;
    poise_method_run *s = e->run;
    double goals = s->call->evaluate(s, q, POISE_LEVEL_COST), posture = pz_terms_cost(e, q, 1e-3, 0.0, NULL, NULL);
    for (int i = 0; i < poise_model_info(e->model).nq; ++i) {
        square += (q[i] - e->q_start[i]) * (q[i] - e->q_start[i]);
    }
    return 100.0 * e->options.goal_weight * goals + e->options.posture_weight * posture + 0.5 * pull * square;
}

// Steps end below 1e-7, where slopes are up to 1e-7 times curvatures of up to 100; a neighbour 1e-4 away may be lower by
// their product.
TEST(a_refinement_with_a_pull_ends_at_a_minimum)
{
    scene_random random = scene_random_make(103);
    for (int round = 0; round < 100; ++round) {
        chain_case c = chain_case_make(chain_make(&random, CHAIN_STRAIGHT, 5));
        double posture[CHAIN_MOST], there[CHAIN_MOST], q[CHAIN_MOST];
        const double pull = 5.0, h = 1e-4;
        scene_random_configuration(&random, c.model, posture);
        scene_random_configuration(&random, c.model, there);
        find_candidates(&c, posture, there);
        poise_method_run *s = c.e->run;
        scene_random_configuration(&random, c.model, c.e->q_start);
        ck_assert(isfinite(s->call->evaluate(s, c.e->q_start, POISE_LEVEL_HESSIAN)));
        s->call->accept(s);
        c.e->options.max_iterations = 400;
        pz_expressive_refine(c.e, 1e-3, pull);
        memcpy(q, s->at.q, (size_t)c.n * sizeof *q);
        double least = refined_cost(c.e, q, pull);
        for (int i = 0; i < 2 * c.n; ++i) {
            double at = q[i / 2], to = at + (i % 2 ? h : -h);
            q[i / 2] = fmin(fmax(to, poise_model_info(c.model).lower[i / 2]), poise_model_info(c.model).upper[i / 2]);
            ck_assert_msg(refined_cost(c.e, q, pull) >= least - 1e-9, "chain %d, joint %d: %g below", round, i / 2,
                          least - refined_cost(c.e, q, pull));
            q[i / 2] = at;
        }
    }
}

// The first step x: (H + lambda D) x = -g for the joints that are not held, with what the held ones do on the right side.
// Rounding of sums of a few products, and of the factorisation of a matrix whose condition the damping keeps below 1e6.
// A pull adds to the diagonal of H, whose other parts round to 1e-16 of up to 1e3.
TEST(a_step_of_a_refinement_solves_its_system_beside_joints_that_meet_a_limit)
{
    scene_random random = scene_random_make(109);
    const double lambda = 1e-3, pull = 5.0; // lambda: the first
    int stopped = 0;
    for (int round = 0; round < 200; ++round) {
        chain_case c = chain_case_make(chain_make(&random, CHAIN_STRAIGHT, 5));
        poise_expressive *e = c.e;
        double posture[CHAIN_MOST], there[CHAIN_MOST], H[CHAIN_MOST * CHAIN_MOST];
        scene_random_configuration(&random, c.model, posture);
        scene_random_configuration(&random, c.model, there);
        find_candidates(&c, posture, there);
        poise_method_run *s = c.e->run;
        scene_random_configuration(&random, c.model, c.e->q_start);
        ck_assert(isfinite(s->call->evaluate(s, c.e->q_start, POISE_LEVEL_HESSIAN)));
        s->call->accept(s);
        e->options.max_iterations = 1;
        pz_expressive_refine(e, 0.1, 0.0);
        const double *x = s->step;
        const bool *held = e->held + c.n;
        for (int i = 0; i < c.n; ++i) {
            double sum = e->g[i] + lambda * e->D[i] * x[i], size = fabs(e->g[i]);
            for (int j = 0; j < c.n; ++j) {
                sum += e->H[i * c.n + j] * x[j];
                size += fabs(e->H[i * c.n + j] * x[j]);
            }
            ck_assert_msg(held[i] || fabs(sum) <= 1e-9 * size, "chain %d, joint %d: %g of %g", round, i, sum, size);
            stopped += held[i] && x[i] != 0.0;
        }
        memcpy(H, e->H, (size_t)(c.n * c.n) * sizeof *H);
        ck_assert(isfinite(s->call->evaluate(s, c.e->q_start, POISE_LEVEL_HESSIAN)));
        s->call->accept(s);
        pz_expressive_refine(e, 0.1, pull);
        for (int i = 0; i < c.n * c.n; ++i) {
            ck_assert_double_eq_tol(e->H[i], H[i] + (i % (c.n + 1) == 0 ? pull : 0.0), 1e-12);
        }
    }
    ck_assert_int_gt(stopped, 50);
}

// ---- Expressive path ----------------------------------------------------------------------------------------------------
//
// The successor of ERIK along paths that the limits of a root do not let it follow.

#define DEGREE       (3.14159265358979323846 / 180.0)
#define MOST_NUMBERS 8

// A scene with one of its postures, the end that its tool marks, and a solver that goes by strides.
typedef struct setup {
    poise_model *model;
    int body, nq;
    poise_vec3 axis; // that the end faces with
    double posture[MOST_NUMBERS];
    poise_expressive_options options;
    poise_expressive *expressive;
} setup;

static setup set_up(const char *scene, const char *posture, poise_expressive_mode mode, double stride)
{
    setup s = {.options = poise_expressive_options_default()};
    bool is_lamp = strcmp(scene, "lamp") == 0;
    ck_assert_int_eq(scene_create(scene, NULL, &s.model, NULL), POISE_OK);
    own_model(s.model);
    poise_tool_info tool = poise_model_tool_info(s.model, poise_model_find_tool(s.model, is_lamp ? "light" : "tip"));
    s.nq = poise_model_info(s.model).nq;
    s.options.symmetric_endpoint = true;
    s.body = s.options.body = tool.body;
    s.options.tip = tool.pose;
    s.options.mode = mode;
    s.options.stride = stride;
    s.axis = is_lamp ? poise_vec3_make(0, 0, 1) : poise_vec3_make(0, 1, 0);
    ck_assert_int_eq(poise_expressive_create(s.model, &s.options, NULL, &s.expressive, NULL), POISE_OK);
    own_expressive(s.expressive);
    ck_assert_int_eq(scene_posture(s.model, scene, posture, s.posture), POISE_OK);
    return s;
}

// Face a place of the circle about the vertical, 40 degrees from it: the goal is met and the limits hold.
static poise_expressive_report face(const setup *s, double degrees, double *q)
{
    double a = degrees * DEGREE, tilt = 40 * DEGREE;
    poise_vec3 to = {sin(tilt) * sin(a), cos(tilt), sin(tilt) * cos(a)};
    poise_goal goal = poise_goal_direction(s->body, s->axis, to);
    poise_expressive_report r;
    ck_assert_int_eq(poise_expressive_solve(s->expressive, &goal, 1, s->posture, q, &r, NULL), POISE_OK);
    ck_assert_double_le(r.worst_angle, 1e-6);
    ck_assert(poise_model_within_limits(s->model, q));
    return r;
}

// The longest move of a joint, all the way round.
static double longest_move(const setup *s, int steps)
{
    double q[MOST_NUMBERS], last[MOST_NUMBERS], longest = 0.0;
    memcpy(q, s->posture, sizeof q);
    for (int i = 0; i <= steps; ++i) {
        memcpy(last, q, sizeof q);
        face(s, i * 360.0 / steps, q);
        for (int k = 0; k < s->nq && i > 0; ++k) {
            longest = fmax(longest, fabs(q[k] - last[k]));
        }
    }
    return longest;
}

TEST(a_circle_beyond_the_limits_of_the_root_is_followed_without_a_jump)
{
    static const char *const scenes[][2] = {{"erik-c", "bow"}, {"erik-c", "s-curve"}, {"erik-d", "bow"},   {"erik-e", "bow"},
                                            {"erik-f", "bow"}, {"erik-g", "bow"},     {"lamp", "curious"}, {"lamp", "shy"}};
    setup at_once = set_up("erik-g", "bow", POISE_EXPRESSIVE_SHAPE, 0.0);
    ck_assert_double_lt(longest_move(&at_once, 120), 10 * DEGREE);
    for (size_t i = 0; i < sizeof scenes / sizeof scenes[0]; ++i) {
        for (int mode = 0; mode < POISE_EXPRESSIVE_MODE_COUNT; ++mode) {
            setup s = set_up(scenes[i][0], scenes[i][1], (poise_expressive_mode)mode, 0.1);
            for (int steps = 120; steps <= 360; steps += 240) {
                double longest = longest_move(&s, steps);
                ck_assert_msg(longest < 10 * DEGREE, "%s, %s, mode %d, %d steps: %g degrees", scenes[i][0], scenes[i][1],
                              mode, steps, longest / DEGREE);
            }
        }
    }
}

// A target that stops while the answer is being left: the better answer is reached, not approached for ever.
TEST(a_better_answer_is_reached_by_strides)
{
    setup s = set_up("erik-c", "bow", POISE_EXPRESSIVE_SHAPE, 0.1);
    double q[MOST_NUMBERS];
    int degrees = 0, calls = 0;
    poise_expressive_report r = {0};
    memcpy(q, s.posture, sizeof q);
    for (; !r.is_on_the_way && degrees < 360; ++degrees) {
        r = face(&s, degrees, q);
    }
    ck_assert_int_gt(degrees, 90); // the root's limit
    ck_assert_int_lt(degrees, 270);
    double error = r.error;
    for (; r.is_on_the_way && calls < 360; ++calls) {
        r = face(&s, degrees, q);
    }
    ck_assert_int_lt(calls, 90);
    ck_assert_double_lt(r.error, error - 0.5 * s.options.gain);
}
