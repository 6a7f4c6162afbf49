// Several goals on a body: single precision, then double. The work of the device's threads is done by the host and
// judged by the library; a device gives the same bits. Without one the program says that the rest was skipped.
#include "marker_frames.h"

#include "body_on_host.h"
#include "support/random_model.h"

#include <cuda_runtime_api.h>
#include <math.h>

static const char *no_device(void)
{
    return poise_cuda_device_count() > 0 ? NULL : "no CUDA device";
}

// ---- The threads' work, on the host --------------------------------------------------------------------------------------

typedef struct team_work {
    const body_task *task;
    const pz_cuda_tree_batch *batch;
    const body_work *work;
} team_work;

static void solve_by_team(void *user)
{
    const team_work *w = user;
    body_search_by_team(w->task, w->batch, w->work, false);
    body_finish_by_team(w->task, w->batch, w->work);
}

// Answers of all frames into f->q and f->answers. `poses`: targets where some goals are no points, or NULL.
static void solve_as(fixture *f, const poise_pose *poses, bool is_team, bool backwards)
{
    body_tables tables;
    const char *why;
    size_t many = (size_t)f->count, restarts = (size_t)f->options.restarts + 1;
    bool only_clips;
    ck_assert(pz_body_serves(f->model, f->goals, f->goal_count, &f->options, &only_clips, &why) && !only_clips);
    ck_assert_int_eq(pz_body_tables_make(f->model, f->goals, f->goal_count, &f->options, &tables), POISE_OK);
    body_work work = {.best = take(many, sizeof *work.best),
                      .ends = take(many * (size_t)f->nq, sizeof *work.ends),
                      .passes = take(many * restarts, sizeof *work.passes),
                      .state = take((size_t)tables.task.at.size, sizeof(double)),
                      .capacity = f->count};
    pz_cuda_tree_batch batch = {.targets = f->targets,
                                .poses = poses,
                                .weights = poses ? NULL : f->weights,
                                .q = f->q,
                                .answers = f->answers,
                                .count = f->count};
    memcpy(f->q, f->starts, many * (size_t)f->nq * sizeof *f->q);
    if (is_team) {
        body_team_run(8, solve_by_team, &(team_work){&tables.task, &batch, &work});
    } else {
        body_search_on_host(&tables.task, &batch, &work, backwards);
        body_finish_on_host(&tables.task, &batch, &work);
    }
    free(work.best), free(work.ends), free(work.passes), free(work.state);
    pz_body_tables_free(&tables);
}

static void solve_as_threads_do(fixture *f, bool backwards)
{
    solve_as(f, NULL, false, backwards);
}

// ---- Judging -------------------------------------------------------------------------------------------------------------

typedef struct verdict {
    int reached, closest, open; // open: did not converge
    int host_reached;
} verdict;

// What poise_solve, begun at the answer without restarts, says about it.
static poise_report go_on(const fixture *f, poise_solver *solver, int i, double *q)
{
    poise_report report;
    memcpy(q, f->q + (size_t)i * (size_t)f->nq, (size_t)f->nq * sizeof *q);
    ck_assert_int_eq(poise_solve(solver, f->goals + i * f->goal_count, f->goal_count, q, &report, NULL), POISE_OK);
    return report;
}

static void judge_frame(const fixture *f, poise_solver *solver, int i, double *q, verdict *v)
{
    const poise_cuda_tree_answer *a = &f->answers[i];
    ck_assert_msg(poise_model_within_limits(f->model, f->q + (size_t)i * (size_t)f->nq), "frame %d is outside", i);
    poise_report after = go_on(f, solver, i, q);
    double falls = after.start_cost - after.cost;
    ck_assert_int_eq(after.moved_joints, 0);
    ck_assert_msg(fabs(after.start_cost - a->cost) <= (a->outcome == POISE_OUTCOME_REACHED ? 1e-6 : 1e-12) * a->cost + 1e-20,
                  "frame %d: cost %g, said to be %g", i, after.start_cost, a->cost);
    // sums in another order, and starts of single precision
    double most = (1 + 1e-12) * f->reports[i].start_cost + (a->outcome == POISE_OUTCOME_REACHED ? 1e-13 : 1e-20);
    ck_assert_msg(a->cost <= most, "frame %d: cost %.17g, at the start %.17g", i, a->cost, f->reports[i].start_cost);
    v->reached += a->outcome == POISE_OUTCOME_REACHED;
    v->closest += a->outcome == POISE_OUTCOME_CLOSEST;
    v->open += a->outcome != POISE_OUTCOME_REACHED && a->outcome != POISE_OUTCOME_CLOSEST;
    v->host_reached += f->reports[i].outcome == POISE_OUTCOME_REACHED;
    if (a->outcome == POISE_OUTCOME_REACHED) {
        ck_assert_msg(after.outcome == POISE_OUTCOME_REACHED && after.iterations == 0, "frame %d is not reached", i);
        ck_assert(a->worst_length <= f->options.position_tolerance);
    } else if (a->outcome == POISE_OUTCOME_CLOSEST) {
        ck_assert_msg(falls <= 1e-9 * a->cost, "frame %d: cost %g falls by %g", i, a->cost, falls);
    }
}

static verdict judge(const fixture *f)
{
    verdict v = {0, 0, 0, 0};
    poise_solver *solver;
    poise_solver_options options = f->options;
    double *q = take((size_t)f->nq, sizeof *q);
    options.start = POISE_START_WARM;
    options.restarts = 0;
    options.step_limit = 1e3; // few points are markers, too, not tips
    ck_assert_int_eq(poise_solver_create(f->model, &options, NULL, &solver, NULL), POISE_OK);
    for (int i = 0; i < f->count; ++i) {
        judge_frame(f, solver, i, q, &v);
    }
    poise_solver_destroy(solver);
    free(q);
    return v;
}

// As many as the host reaches, but for `fewer`; at most `open` that did not converge.
static void expect(fixture *f, int fewer, int open, const char *what)
{
    solve_as_threads_do(f, false);
    verdict v = judge(f);
    ck_assert_msg(v.reached >= v.host_reached - fewer && v.open <= open, "%s: reached %d (host %d), closest %d, open %d",
                  what, v.reached, v.host_reached, v.closest, v.open);
}

// Single runs end in minima with a large residual, many of them by way of a saddle: 30.9 evaluations on average.
TEST(few_looks_lead_away_from_saddles)
{
    fixture f = make("humanoid", 200, 0, 0.003);
    int evaluations = 0;
    solve_as_threads_do(&f, false);
    for (int i = 0; i < f.count; ++i) {
        evaluations += f.answers[i].evaluations;
    }
    ck_assert_msg(evaluations <= 31.4 * f.count, "%g evaluations on average", (double)evaluations / f.count);
    release(&f);
}

TEST(frames_of_scenes_are_reached_as_often_as_on_the_host)
{
    static const struct row {
        const char *scene;
        int count, restarts;
        double noise;
        int fewer; // than on the host: of other starts other poses are found
    } rows[] = {{"humanoid", 150, 20, 0.0, 2},
                {"humanoid-quaternion", 40, 20, 0.0, 1},
                {"humanoid-euler", 40, 20, 0.0, 1},
                {"tree-50", 40, 5, 0.0, 0},
                {"chain-30", 40, 5, 0.0, 0},
                {"humanoid", 40, 5, 0.003, 0},
                {"humanoid-quaternion", 20, 3, 0.02, 0},
                {"humanoid-euler", 20, 3, 0.02, 0},
                {"tree-50", 20, 3, 0.02, 0}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        fixture f = make(rows[i].scene, rows[i].count, rows[i].restarts, rows[i].noise);
        expect(&f, rows[i].fewer, 0, rows[i].scene);
        release(&f);
    }
}

// Losses on all goals but some, and markers that are far off: what losses are for.
static void give_losses(fixture *f, poise_loss loss)
{
    for (int i = 0; i < f->count * f->goal_count; ++i) {
        f->goals[i].loss = i % f->goal_count % 5 ? loss : POISE_LOSS_NONE;
        f->goals[i].loss_scale = 0.02 + 0.01 * (i % f->goal_count % 3);
        if (i % 11 == 3) {
            f->goals[i].target.position.x += 0.3;
            f->targets[i] = f->goals[i].target.position;
        }
    }
}

// From the same start as the library's own solver: to the same cost where a loss leaves one basin, to one that is no worse
// where it leaves several.
static void expect_costs_of_host(const fixture *f, const char *what)
{
    double ours = 0.0, theirs = 0.0;
    int same = 0;
    for (int i = 0; i < f->count; ++i) {
        same += fabs(f->answers[i].cost - f->reports[i].cost) <= 1e-9 * f->reports[i].cost + 1e-12;
        ours += f->answers[i].cost, theirs += f->reports[i].cost;
    }
    ck_assert_msg(same >= 2 * f->count / 3 && ours <= 1.1 * theirs, "%s: %d of %d have the host's cost; %g in all, not %g",
                  what, same, f->count, ours, theirs);
}

TEST(losses_are_those_of_the_host)
{
    static const char *const scenes[] = {"humanoid", "humanoid-quaternion", "humanoid-euler", "tree-50"};
    for (int i = 0; i < 8; ++i) {
        fixture f = make(scenes[i % 4], 25, 4, 0.003);
        give_losses(&f, i < 4 ? POISE_LOSS_GEMAN_MCCLURE : POISE_LOSS_HUBER);
        memcpy(f.starts, f.expected, (size_t)(f.count * f.nq) * sizeof *f.starts); // where all markers were right
        solve_on_host(&f);
        expect(&f, 2, 2, scenes[i % 4]); // cold
        f.options.start = POISE_START_WARM;
        f.options.restarts = 0;
        solve_on_host(&f);
        expect(&f, 2, 2, scenes[i % 4]);
        expect_costs_of_host(&f, scenes[i % 4]);
        size_t size = (size_t)(f.count * f.nq) * sizeof *f.q;
        double *alone = memcpy(take(1, size), f.q, size);
        solve_as(&f, NULL, true, false);
        ck_assert_msg(memcmp(alone, f.q, size) == 0, "%s: a team has other bits", scenes[i % 4]);
        free(alone);
        release(&f);
    }
}

// A frame whose cost is too large for a number, among others that are met.
TEST(what_does_not_converge_says_so)
{
    for (int team = 0; team < 2; ++team) {
        fixture f = make("humanoid", 4, 1, 0.0);
        for (int k = 0; k < f.goal_count; ++k) {
            f.targets[k] = poise_vec3_make(1e200, -1e200, 1e200);
        }
        solve_as(&f, NULL, team, false);
        ck_assert_int_eq(f.answers[0].outcome, POISE_OUTCOME_STALLED);
        ck_assert(poise_model_within_limits(f.model, f.q));
        for (int i = 1; i < f.count; ++i) {
            ck_assert_int_eq(f.answers[i].outcome, POISE_OUTCOME_REACHED);
        }
        release(&f);
    }
}

// Models of every joint type, with several roots, boxes and ellipses; some of their markers are not seen.
TEST(random_models_are_solved)
{
    scene_random random = scene_random_make(3);
    for (int i = 0; i < 40; ++i) {
        unsigned features = (i % 2 ? RANDOM_LIMITS : 0u) | (i % 5 == 0 ? RANDOM_FOREST : 0u);
        fixture f = make_on(random_model(&random, 2 + i % 9, features), "", 6, 10, i % 3 == 2 ? 0.02 : 0.0);
        char what[32];
        snprintf(what, sizeof what, "model %d", i);
        expect(&f, 1, 0, what); // another basin
        release(&f);
    }
}

// Starts on the answer, far from the origin, with a locked root, without limits.
TEST(unusual_starts_and_options_are_served)
{
    fixture f = make("humanoid", 12, 4, 0.0);
    bool *locked = take((size_t)poise_model_info(f.model).nv, sizeof *locked);
    expect(&f, 0, 0, "as they are");
    memcpy(f.starts, f.q, (size_t)(f.count * f.nq) * sizeof *f.q);
    f.options.start = POISE_START_WARM;
    f.options.restarts = 0;
    expect(&f, 0, 0, "on the answer");
    for (int i = 0; i < f.count; ++i) {
        f.starts[i * f.nq] += 1.0; // the root a metre away, and locked there
    }
    locked[0] = true;
    f.options.locked = locked;
    solve_as_threads_do(&f, false);
    for (int i = 0; i < f.count; ++i) {
        ck_assert(f.q[i * f.nq] == f.starts[i * f.nq]);
    }
    f.options.locked = NULL;
    f.options.use_limits = false;
    int reached = 0;
    solve_as_threads_do(&f, false);
    for (int i = 0; i < f.count; ++i) {
        reached += f.answers[i].outcome == POISE_OUTCOME_REACHED;
        ck_assert_int_eq(f.answers[i].active_limits, 0);
    }
    ck_assert_int_ge(reached, f.count - 1); // one start, a metre away, may end in another minimum
    free(locked);
    release(&f);
}

// ---- Tips ----------------------------------------------------------------------------------------------------------------

// Goals of every kind on some bodies, the same in every frame but for their targets. The poses are what a device is given.
static poise_pose *give_tips(fixture *f, int every, double noise)
{
    scene_random random = scene_random_make(8);
    poise_kinematics *kinematics;
    int bodies = poise_model_info(f->model).joints, tips = (bodies + every - 1) / every;
    double *q = take((size_t)f->nq, sizeof *q);
    poise_pose *poses = take((size_t)(f->count * tips), sizeof *poses);
    poise_pose local = {{0.5, 0.5, -0.5, 0.5}, {0.1, 0.02, 0.05}};
    free(f->goals);
    f->goals = take((size_t)(f->count * tips), sizeof *f->goals);
    f->goal_count = tips;
    ck_assert_int_eq(poise_kinematics_create(f->model, NULL, &kinematics, NULL), POISE_OK);
    for (int i = 0; i < f->count; ++i) {
        scene_random_configuration(&random, f->model, q);
        poise_kinematics_update(kinematics, q, NULL);
        for (int n = 0; n < tips; ++n) {
            int at = i * tips + n, k = bodies - 1 - n * every;
            poise_pose body = poise_kinematics_body_pose(kinematics, k), to = poise_pose_multiply(body, local);
            poise_vec3 axis = {0, 0.6, 0.8};
            to.position.x += noise * scene_random_normal(&random);
            switch (n % 4) {
            case 1:
                f->goals[at] = poise_goal_orientation(k, body.rotation);
                break;
            case 2:
                f->goals[at] = poise_goal_direction(k, axis, poise_quat_rotate(body.rotation, axis));
                break;
            case 3:
                f->goals[at] = poise_goal_position(k, local.position, to.position);
                break;
            default:
                f->goals[at] = poise_goal_pose(k, local, to);
                f->goals[at].rotation_weight = 0.3;
            }
            poses[at] = f->goals[at].target;
            poses[at].position = n % 4 == 2 ? f->goals[at].direction : poses[at].position;
        }
    }
    free(q);
    poise_kinematics_destroy(kinematics);
    solve_on_host(f);
    return poses;
}

static int angles_are_right(const fixture *f)
{
    int checked = 0;
    for (int i = 0; i < f->count; ++i) {
        if (f->answers[i].outcome == POISE_OUTCOME_REACHED) {
            ck_assert(f->answers[i].worst_angle <= f->options.rotation_tolerance);
            checked += 1;
        }
    }
    return checked;
}

TEST(poses_orientations_and_directions_are_reached_as_often_as_on_the_host)
{
    static const struct row {
        const char *scene;
        int count, restarts, every;
        double noise;
    } rows[] = {{"humanoid", 60, 20, 4, 0.0},       {"humanoid-quaternion", 30, 20, 5, 0.0},
                {"humanoid-euler", 30, 20, 5, 0.0}, {"tree-50", 20, 10, 6, 0.0},
                {"chain-30", 20, 10, 7, 0.0},       {"humanoid", 15, 3, 4, 0.02},
                {"tree-50", 15, 3, 6, 0.02}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        fixture f = make(rows[i].scene, rows[i].count, rows[i].restarts, 0.0);
        poise_pose *poses = give_tips(&f, rows[i].every, rows[i].noise);
        solve_as(&f, poses, false, false);
        verdict v = judge(&f);
        ck_assert_msg(v.reached >= v.host_reached - 1 - f.count / 20 && v.open == 0,
                      "%s: reached %d (host %d), closest %d, open %d", rows[i].scene, v.reached, v.host_reached, v.closest,
                      v.open);
        ck_assert_int_eq(angles_are_right(&f), v.reached);
        size_t size = (size_t)(f.count * f.nq) * sizeof *f.q;
        double *alone = take(1, size);
        memcpy(alone, f.q, size);
        solve_as(&f, poses, true, false);
        ck_assert_msg(memcmp(alone, f.q, size) == 0, "%s: a team has other bits", rows[i].scene);
        free(alone);
        free(poses);
        release(&f);
    }
}

// Four arms of six hinges on the world, with limits, and a pose for each of their ends.
static poise_model *four_arms(void)
{
    static const char *const names[] = {"a", "b", "c", "d"};
    poise_dh_row rows[6] = {{.d = 0.3, .alpha = 1.5707963267948966}, {.a = 0.4},
                            {.alpha = 1.5707963267948966},           {.d = 0.4, .alpha = -1.5707963267948966},
                            {.alpha = 1.5707963267948966},           {.d = 0.1}};
    poise_builder *builder;
    poise_model *model;
    for (int i = 0; i < 6; ++i) {
        rows[i].lower = -2.2, rows[i].upper = 1.8;
    }
    ck_assert_int_eq(poise_builder_create(NULL, &builder, NULL), POISE_OK);
    for (int i = 0; i < 4; ++i) {
        ck_assert_int_eq(poise_builder_add_dh(builder, names[i], NULL, POISE_DH_CLASSIC, rows, 6, NULL), POISE_OK);
    }
    ck_assert_int_eq(poise_model_create(builder, NULL, &model, NULL), POISE_OK);
    poise_builder_destroy(builder);
    return model;
}

// An arm is met by some of its starts; all four at once by few. Limbs that missed are moved, those that met are kept.
TEST(limbs_are_met_one_by_one)
{
    fixture f = make_on(four_arms(), "", 200, 20, 0.0);
    poise_kinematics *kinematics;
    scene_random random = scene_random_make(4);
    double *q = take((size_t)f.nq, sizeof *q);
    poise_pose *poses = take(4 * (size_t)f.count, sizeof *poses);
    ck_assert_int_eq(poise_kinematics_create(f.model, NULL, &kinematics, NULL), POISE_OK);
    f.goal_count = 4;
    f.options.start = POISE_START_WARM;
    for (int i = 0; i < f.count; ++i) {
        scene_random_configuration(&random, f.model, q);
        poise_kinematics_update(kinematics, q, NULL);
        for (int k = 0; k < 4; ++k) {
            poses[4 * i + k] = poise_kinematics_body_pose(kinematics, 6 * k + 5);
            f.goals[4 * i + k] = poise_goal_pose(6 * k + 5, poise_pose_identity(), poses[4 * i + k]);
        }
    }
    solve_as(&f, poses, false, false);
    int reached = 0, restarts = 0; // 192; 105 without
    for (int i = 0; i < f.count; ++i) {
        reached += f.answers[i].outcome == POISE_OUTCOME_REACHED;
        restarts += f.answers[i].restarts;
    }
    ck_assert_msg(reached >= 185, "%d of %d are reached, with %d restarts", reached, f.count, restarts);
    poise_kinematics_destroy(kinematics);
    free(q), free(poses);
    release(&f);
}

static void compare(const fixture *f, const fixture *g)
{
    for (int i = 0; i < f->count; ++i) {
        const poise_cuda_tree_answer *a = &f->answers[i], *b = &g->answers[i];
        size_t at = (size_t)i * (size_t)f->nq;
        ck_assert_msg(memcmp(f->q + at, g->q + at, (size_t)f->nq * sizeof *f->q) == 0, "frame %d", i);
        ck_assert_int_eq(a->outcome, b->outcome);
        ck_assert_int_eq(a->iterations, b->iterations);
        ck_assert_int_eq(a->restarts, b->restarts);
        ck_assert_int_eq(a->active_limits, b->active_limits);
        ck_assert(memcmp(&a->cost, &b->cost, sizeof a->cost) == 0);
    }
}

TEST(the_order_of_runs_does_not_matter)
{
    for (int k = 0; k < 2; ++k) {
        fixture f = make("humanoid", 20, 5, k ? 0.01 : 0.0), g = make("humanoid", 20, 5, k ? 0.01 : 0.0);
        solve_as_threads_do(&f, false);
        solve_as_threads_do(&g, true);
        compare(&f, &g);
        release(&f), release(&g);
    }
}

TEST(teams_give_the_bits_of_single_threads)
{
    static const struct row {
        const char *scene;
        int count, restarts;
        double noise;
    } rows[] = {{"humanoid", 4, 3, 0.0},
                {"humanoid", 3, 1, 0.02},
                {"humanoid-quaternion", 2, 1, 0.01},
                {"tree-50", 3, 1, 0.01},
                {"chain-30", 2, 1, 0.0}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        fixture f = make(rows[i].scene, rows[i].count, rows[i].restarts, rows[i].noise);
        fixture g = make(rows[i].scene, rows[i].count, rows[i].restarts, rows[i].noise);
        solve_as(&f, NULL, true, false);
        solve_as(&g, NULL, false, false);
        compare(&f, &g);
        release(&f), release(&g);
    }
    for (int i = 0; i < 10; ++i) {
        unsigned features = (i % 2 ? RANDOM_LIMITS : 0u) | (i % 5 == 0 ? RANDOM_FOREST : 0u);
        scene_random one = scene_random_make(90 + (uint64_t)i), other = one;
        fixture f = make_on(random_model(&one, 2 + i % 9, features), "", 2, 1, i % 3 == 2 ? 0.02 : 0.0);
        fixture g = make_on(random_model(&other, 2 + i % 9, features), "", 2, 1, i % 3 == 2 ? 0.02 : 0.0);
        solve_as(&f, NULL, true, false);
        solve_as(&g, NULL, false, false);
        compare(&f, &g);
        release(&f), release(&g);
    }
}

TEST(what_the_device_does_not_serve_is_named)
{
    fixture f = make("humanoid", 1, 0, 0.0);
    const char *why;
    bool only_clips;
    f.goals[3].tolerance.x = 0.1;
    ck_assert(!pz_body_serves(f.model, f.goals, f.goal_count, &f.options, &only_clips, &why) && strstr(why, "bands"));
    f.goals[3].tolerance.x = 0.0;
    f.options.step_limit = 0.1;
    ck_assert(!pz_body_serves(f.model, f.goals, f.goal_count, &f.options, &only_clips, &why) && strstr(why, "step limit"));
    poise_cuda_options options = poise_cuda_options_default();
    poise_error error = {.text = ""};
    poise_cuda *cuda = NULL;
    poise_model *hand;
    poise_goal other = poise_goal_center_of_mass((poise_vec3){0, 0, 0});
    ck_assert_int_eq(poise_cuda_create(f.model, &other, 1, &options, &cuda, &error), POISE_ERROR_UNSUPPORTED);
    ck_assert(strstr(error.text, "POSITION") != NULL);
    options.solver.prior = 1.0;
    ck_assert_int_eq(poise_cuda_create(f.model, f.goals, 1, &options, &cuda, &error), POISE_ERROR_UNSUPPORTED);
    ck_assert(strstr(error.text, "prior") != NULL);
    options.solver.prior = 0.0;
    ck_assert_int_eq(scene_create("hand", NULL, &hand, NULL), POISE_OK);
    ck_assert_int_eq(poise_cuda_create(hand, f.goals, 1, &options, &cuda, &error), POISE_ERROR_UNSUPPORTED);
    ck_assert(strstr(error.text, "mimic") != NULL);
    options.device = poise_cuda_device_count();
    ck_assert_int_eq(poise_cuda_create(f.model, f.goals, 1, &options, &cuda, &error), POISE_ERROR_DEVICE);
    ck_assert(strstr(error.text, "no CUDA device") != NULL && cuda == NULL);
    ck_assert_int_eq(poise_cuda_create(f.model, f.goals, 0, &options, &cuda, &error), POISE_ERROR_ARGUMENT);
    poise_model_destroy(hand);
    release(&f);
}

// ---- The device ----------------------------------------------------------------------------------------------------------

static poise_cuda *open_device(const fixture *f, int capacity)
{
    poise_cuda_options options = poise_cuda_options_default();
    poise_error error = {.text = ""};
    poise_cuda *cuda;
    options.solver = f->options;
    options.capacity = capacity;
    poise_status status = poise_cuda_create(f->model, f->goals, f->goal_count, &options, &cuda, &error);
    ck_assert_msg(status == POISE_OK, "%s", error.text);
    return cuda;
}

static void solve_on_device(fixture *f, int capacity)
{
    poise_cuda *cuda = open_device(f, capacity);
    ck_assert_int_eq(poise_cuda_solve(cuda, f->problems, f->count, NULL), POISE_OK);
    for (int i = 0; i < f->count; ++i) {
        const poise_report *r = &f->problems[i].report;
        ck_assert_int_eq(f->problems[i].status, POISE_OK);
        f->answers[i] = (poise_cuda_tree_answer){.outcome = r->outcome,
                                                 .iterations = r->iterations,
                                                 .restarts = r->restarts,
                                                 .active_limits = r->active_limits,
                                                 .cost = r->cost,
                                                 .worst_length = r->worst_length};
    }
    poise_cuda_destroy(cuda);
}

TEST_IF(the_device_gives_the_bits_of_its_threads_on_the_host, no_device)
{
    static const struct row {
        const char *scene;
        int count, restarts, capacity;
        double noise;
    } rows[] = {{"humanoid", 300, 20, 1000, 0.0},
                {"humanoid", 300, 20, 37, 0.0},
                {"humanoid", 60, 5, 1000, 0.01},
                {"humanoid-quaternion", 60, 5, 1000, 0.0},
                {"humanoid-quaternion", 60, 5, 100, 0.01},
                {"humanoid-euler", 60, 5, 1000, 0.01},
                {"tree-50", 60, 5, 1000, 0.01}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        fixture f = make(rows[i].scene, rows[i].count, rows[i].restarts, rows[i].noise);
        fixture g = make(rows[i].scene, rows[i].count, rows[i].restarts, rows[i].noise);
        solve_on_device(&f, rows[i].capacity);
        judge(&f);
        solve_as_threads_do(&g, false);
        compare(&f, &g);
        release(&f), release(&g);
    }
}

TEST_IF(losses_on_the_device_give_the_same_bits, no_device)
{
    for (int i = 0; i < 4; ++i) {
        poise_loss loss = i % 2 ? POISE_LOSS_HUBER : POISE_LOSS_GEMAN_MCCLURE;
        fixture f = make("humanoid", 60, i < 2 ? 5 : 0, 0.003), g = make("humanoid", 60, i < 2 ? 5 : 0, 0.003);
        give_losses(&f, loss), give_losses(&g, loss);
        solve_on_device(&f, 100);
        solve_as_threads_do(&g, false);
        compare(&f, &g);
        release(&f), release(&g);
    }
}

TEST_IF(random_models_on_the_device_give_the_same_bits, no_device)
{
    for (int i = 0; i < 20; ++i) {
        unsigned features = (i % 2 ? RANDOM_LIMITS : 0u) | (i % 5 == 0 ? RANDOM_FOREST : 0u);
        scene_random one = scene_random_make(50 + (uint64_t)i), other = one;
        fixture f = make_on(random_model(&one, 2 + i % 9, features), "", 6, 4, i % 3 == 2 ? 0.02 : 0.0);
        fixture g = make_on(random_model(&other, 2 + i % 9, features), "", 6, 4, i % 3 == 2 ? 0.02 : 0.0);
        solve_on_device(&f, 100);
        solve_as_threads_do(&g, false);
        compare(&f, &g);
        release(&f), release(&g);
    }
}

TEST_IF(device_memory_on_a_stream_gives_the_same, no_device)
{
    fixture f = make("humanoid", 100, 4, 0.0);
    poise_cuda *cuda = open_device(&f, 1000);
    size_t many = (size_t)f.count, goals = many * (size_t)f.goal_count, numbers = many * (size_t)f.nq;
    poise_vec3 *targets;
    double *weights, *q;
    poise_cuda_tree_answer *answers;
    cudaStream_t stream;
    ck_assert_int_eq(cudaStreamCreate(&stream), cudaSuccess);
    ck_assert_int_eq(cudaMalloc((void **)&targets, goals * sizeof *targets), cudaSuccess);
    ck_assert_int_eq(cudaMalloc((void **)&weights, goals * sizeof *weights), cudaSuccess);
    ck_assert_int_eq(cudaMalloc((void **)&q, numbers * sizeof *q), cudaSuccess);
    ck_assert_int_eq(cudaMalloc((void **)&answers, many * sizeof *answers), cudaSuccess);
    cudaMemcpyAsync(targets, f.targets, goals * sizeof *targets, cudaMemcpyHostToDevice, stream);
    cudaMemcpyAsync(weights, f.weights, goals * sizeof *weights, cudaMemcpyHostToDevice, stream);
    cudaMemcpyAsync(q, f.starts, numbers * sizeof *q, cudaMemcpyHostToDevice, stream);
    ck_assert_int_eq(poise_cuda_queue_markers(cuda, targets, weights, q, answers, f.count, stream, NULL), POISE_OK);
    cudaMemcpyAsync(f.q, q, numbers * sizeof *q, cudaMemcpyDeviceToHost, stream);
    cudaMemcpyAsync(f.answers, answers, many * sizeof *answers, cudaMemcpyDeviceToHost, stream);
    ck_assert_int_eq(cudaStreamSynchronize(stream), cudaSuccess);
    fixture g = make("humanoid", 100, 4, 0.0);
    solve_as_threads_do(&g, false);
    compare(&f, &g);
    cudaFree(targets), cudaFree(weights), cudaFree(q), cudaFree(answers);
    cudaStreamDestroy(stream);
    poise_cuda_destroy(cuda);
    release(&f), release(&g);
}

TEST_IF(unsound_problems_get_their_status_and_the_others_go_on, no_device)
{
    fixture f = make("humanoid", 6, 0, 0.0);
    poise_cuda *cuda = open_device(&f, 10);
    f.goals[2 * f.goal_count].target.position.x = 1.0 / 0.0;
    f.goals[4 * f.goal_count].body += 1;
    ck_assert_int_eq(poise_cuda_solve(cuda, f.problems, f.count, NULL), POISE_OK);
    for (int i = 0; i < f.count; ++i) {
        poise_status expected = i == 2 ? POISE_ERROR_ARGUMENT : i == 4 ? POISE_ERROR_UNSUPPORTED : POISE_OK;
        ck_assert_int_eq(f.problems[i].status, expected);
        if (expected != POISE_OK) {
            ck_assert(memcmp(f.q + i * f.nq, f.starts + i * f.nq, (size_t)f.nq * sizeof *f.q) == 0);
        }
    }
    poise_error error = {.text = ""};
    ck_assert_int_eq(poise_cuda_solve(cuda, NULL, 1, &error), POISE_ERROR_ARGUMENT);
    ck_assert(strstr(error.text, "problems") != NULL);
    poise_cuda_destroy(cuda);
    release(&f);
}

TEST_IF(too_large_a_capacity_says_that_memory_is_short, no_device)
{
    fixture f = make("humanoid", 1, 0, 0.0);
    poise_cuda_options options = poise_cuda_options_default();
    poise_error error = {.text = ""};
    poise_cuda *cuda = NULL;
    options.capacity = INT32_MAX;
    options.solver.restarts = 20;
    ck_assert_int_eq(poise_cuda_create(f.model, f.goals, f.goal_count, &options, &cuda, &error), POISE_ERROR_MEMORY);
    ck_assert(strstr(error.text, "out of memory") != NULL && cuda == NULL);
    release(&f);
}
