// Exact derivatives: the composite route against Algorithms 2-4 of Erleben & Andrews (2019), and how the cost grows; the gradient
// through an answer beside the solve that finds it.
//
// The difference is the largest between the two Hessians over many poses, relative to the largest entry.
#include "papers/plain/plain.h"
#include "suite.h"

#include <poise/poise.h>
#include <scenes/random.h>
#include <scenes/scenes.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define POSES 64    // different configurations, so that no branch is learnt by heart
#define EXACT 1e-12 // relative difference of two Hessians: hundreds of roundings, none of which cancels badly

typedef struct problem {
    poise_model *model;
    poise_objective *objective;
    plain_ik *plain;
    poise_goal *goals;
    int nq, nv, markers;
    double *poses; // POSES x nq
    double *J, *H, *packed, *x, *y;
} problem;

// ---- The work ------------------------------------------------------------------------------------------------------------

static const double *pose_of(const problem *p, int round)
{
    return p->poses + (size_t)(round % POSES) * (size_t)p->nq;
}

static void plain_exact(void *user, int round)
{
    problem *p = user;
    plain_update(p->plain, pose_of(p, round));
    plain_jacobian(p->plain, p->J);
    plain_hessian(p->plain, p->J, p->H);
    bench_use(p->H[0]);
}

static void composite_dense(void *user, int round)
{
    problem *p = user;
    poise_objective_evaluate(p->objective, pose_of(p, round), POISE_LEVEL_HESSIAN, NULL);
    poise_objective_hessian(p->objective, POISE_HESSIAN_EXACT, p->H, NULL);
    bench_use(p->H[0]);
}

static void composite_packed(void *user, int round)
{
    problem *p = user;
    poise_objective_evaluate(p->objective, pose_of(p, round), POISE_LEVEL_HESSIAN, NULL);
    poise_objective_packed(p->objective, POISE_HESSIAN_EXACT, p->packed, NULL);
    bench_use(p->packed[0]);
}

static void composite_product(void *user, int round)
{
    problem *p = user;
    poise_objective_evaluate(p->objective, pose_of(p, round), POISE_LEVEL_HESSIAN, NULL);
    poise_objective_multiply(p->objective, POISE_HESSIAN_EXACT, p->x, p->y, NULL);
}

static void gradient_only(void *user, int round)
{
    problem *p = user;
    poise_objective_evaluate(p->objective, pose_of(p, round), POISE_LEVEL_GRADIENT, NULL);
}

static void cost_only(void *user, int round)
{
    problem *p = user;
    poise_objective_evaluate(p->objective, pose_of(p, round), POISE_LEVEL_COST, NULL);
}

// ---- Problems ------------------------------------------------------------------------------------------------------------

// `markers` points: those of the scene first, then random points, body by body.
static void place_markers(problem *p, const char *scene, scene_random *random)
{
    plain_effector *effectors = bench_take((size_t)p->markers, sizeof *effectors);
    scene_marker *set = bench_take((size_t)p->markers, sizeof *set);
    int given = scene_markers(scene, set, p->markers);
    for (int i = 0; i < p->markers; ++i) {
        int spread = (int)((int64_t)(i - given) * poise_model_info(p->model).joints / (p->markers - given + 1));
        int body = i < given ? set[i].body : spread;
        poise_vec3 local = i < given ? set[i].local : poise_vec3_make(0.1 * scene_random_normal(random), 0.05, 0.1);
        poise_vec3 target = poise_vec3_make(scene_random_normal(random), scene_random_normal(random), 1.0);
        p->goals[i] = poise_goal_position(body, local, target);
        effectors[i] = (plain_effector){body, local, target, 1.0};
    }
    p->plain = plain_from_model(p->model, effectors, p->markers);
    free(effectors);
    free(set);
}

static problem make_problem(const char *scene, int markers)
{
    problem p = {.markers = markers};
    scene_random random = scene_random_make(7);
    if (scene_create(scene, NULL, &p.model, NULL) != POISE_OK) {
        bench_fail("no scene %s", scene);
    }
    p.nq = poise_model_info(p.model).nq;
    p.nv = poise_model_info(p.model).nv;
    size_t n = (size_t)p.nv;
    p.goals = bench_take((size_t)markers, sizeof *p.goals);
    place_markers(&p, scene, &random);
    p.poses = bench_take((size_t)POSES * (size_t)p.nq, sizeof *p.poses);
    for (int i = 0; i < POSES; ++i) {
        scene_random_configuration(&random, p.model, p.poses + (size_t)i * (size_t)p.nq);
    }
    poise_objective_create(p.model, 0, NULL, &p.objective, NULL);
    poise_objective_set_goals(p.objective, p.goals, markers, NULL);
    p.J = bench_take(3 * (size_t)markers * n, sizeof *p.J);
    p.H = bench_take(n * n, sizeof *p.H);
    p.x = bench_take(2 * n, sizeof *p.x);
    p.y = p.x + n;
    for (size_t i = 0; i < n; ++i) {
        p.x[i] = 1.0;
    }
    p.packed = bench_take(poise_model_packed_row(p.model, poise_model_info(p.model).nv).begin, sizeof *p.packed);
    return p;
}

static void free_problem(problem *p)
{
    poise_objective_destroy(p->objective);
    plain_destroy(p->plain);
    poise_model_destroy(p->model);
    free(p->goals);
    free(p->poses);
    free(p->J);
    free(p->H);
    free(p->packed);
    free(p->x);
}

// Largest difference of the two Hessians over all poses, relative to the largest entry.
static double disagreement(problem *p)
{
    size_t count = (size_t)p->nv * (size_t)p->nv;
    double *reference = bench_take(count, sizeof *reference), worst = 0.0;
    for (int pose = 0; pose < POSES; ++pose) {
        double largest = 0.0, difference = 0.0;
        plain_exact(p, pose);
        for (size_t i = 0; i < count; ++i) {
            reference[i] = p->H[i];
        }
        composite_dense(p, pose);
        for (size_t i = 0; i < count; ++i) {
            largest = fmax(largest, fabs(reference[i]));
            difference = fmax(difference, fabs(reference[i] - p->H[i]));
        }
        worst = fmax(worst, difference / largest);
    }
    free(reference);
    return worst;
}

// ---- Tables --------------------------------------------------------------------------------------------------------------

static void add_hessian(const bench *b, const char *scene, int markers)
{
    static const char *const names[3] = {"poise, dense", "poise, packed", "Algorithm 4"};
    problem p = make_problem(scene, markers);
    const bench_work works[3] = {composite_dense, composite_packed, plain_exact};
    void *const users[3] = {&p, &p, &p};
    double ns[3], off = disagreement(&p);
    bench_progress(b, scene);
    bench_race(works, users, 3, ns);
    for (int k = 0; k < 3; ++k) {
        double difference = k < 2 ? off : 0.0; // what the others are held against
        report_row(b->report, scene, names[k], REPORT_VALUES(p.nv, markers, difference, ns[k] * 1e-3));
    }
    report_promise(b->report, off <= EXACT, "%s: Hessians differ by %.1e", scene, off);
    free_problem(&p);
}

static void add_growth(const bench *b, const char *scene, double *first)
{
    problem p = make_problem(scene, scene_marker_count(scene));
    const bench_work works[3] = {cost_only, gradient_only, composite_product};
    void *const users[3] = {&p, &p, &p};
    double ns[3];
    bench_progress(b, scene);
    bench_race(works, users, 3, ns);
    double per_dof = ns[2] / p.nv;
    *first = *first == 0 ? per_dof : *first;
    report_row(b->report, scene, "poise",
               REPORT_VALUES(p.nv, p.markers, ns[0] * 1e-3, ns[1] * 1e-3, ns[2] * 1e-3, per_dof, per_dof / *first));
    free_problem(&p);
}

static void measure_hessians(const bench *b)
{
    static const report_column columns[] = {{"dofs", "dofs", 0, REPORT_FIXED, false},
                                            {"markers", "markers", 0, REPORT_FIXED, false},
                                            {"error", "difference", 0, REPORT_FIGURES, false},
                                            {"us_mean", "us", 2, REPORT_FIXED, false},
                                            {"ratio", "ratio", 2, REPORT_RATIO, false}};
    static const report_table tables[] = {
        {"hessian", "From q to the exact Hessian: the composite route beside Algorithms 2-4 of Erleben & Andrews",
         "skeleton", columns, 5},
        {"markers", "The same with many markers", "skeleton", columns, 5}};
    static const report_race race = {"error", EXACT, {"us_mean"}};
    static const int markers[] = {41, 1000};
    for (int k = 0; k < 2; ++k) {
        if (bench_wants(b, tables[k].name)) {
            report_begin_race(b->report, &tables[k], &race);
            add_hessian(b, "humanoid-euler", markers[k]);
            add_hessian(b, "tree-62", markers[k]);
        }
    }
}

static void measure_growth(const bench *b)
{
    static const report_column columns[] = {
        {"dofs", "dofs", 0, REPORT_FIXED, false},          {"markers", "markers", 0, REPORT_FIXED, false},
        {"us_cost", "cost us", 2, REPORT_FIXED, false},    {"us_gradient", "gradient us", 2, REPORT_FIXED, false},
        {"us_mean", "product us", 2, REPORT_FIXED, false}, {"ns_per_dof", "product ns/dof", 1, REPORT_FIXED, false},
        {"ratio", "growth", 2, REPORT_TIMES, false}};
    static const report_table table = {
        "growth", "From q to the cost, the gradient, and a product with the exact Hessian; growth per degree of freedom",
        "skeleton", columns, 7};
    static const char *const trees[] = {"tree-62", "tree-200", "tree-600", "tree-1000", "tree-2000"};
    double first = 0.0;
    report_begin_table(b->report, &table);
    for (size_t i = 0; i < sizeof trees / sizeof trees[0]; ++i) {
        add_growth(b, trees[i], &first);
    }
}

// ---- Answers -------------------------------------------------------------------------------------------------------------

#define ARM_JOINTS 8 // at most

// Poses of an arm's tip that are met, and dL/dq = 1.
typedef struct met_poses {
    poise_model *model;
    poise_solver *solver;
    poise_sensitivity *sensitivity;
    poise_goal goal;
    int nq;
    poise_pose targets[POSES];
    double q[POSES * ARM_JOINTS], ones[POSES * ARM_JOINTS], gradients[6 * POSES];
} met_poses;

static void solve_from_nearby(void *user, int round)
{
    met_poses *m = user;
    poise_goal goal = m->goal;
    double q[ARM_JOINTS];
    goal.target = m->targets[round % POSES];
    for (int i = 0; i < m->nq; ++i) {
        q[i] = m->q[round % POSES * m->nq + i] + 0.01;
    }
    poise_solve(m->solver, &goal, 1, q, NULL, NULL);
    bench_use(q[0]);
}

static void go_back_one_by_one(void *user, int round)
{
    met_poses *m = user;
    int i = round % POSES;
    poise_sensitivity_poses(m->sensitivity, &m->goal, m->targets + i, m->q + i * m->nq, m->ones, 1, m->gradients, NULL,
                            NULL);
    bench_use(m->gradients[0]);
}

static void go_back_side_by_side(void *user, int round)
{
    met_poses *m = user;
    (void)round;
    poise_sensitivity_poses(m->sensitivity, &m->goal, m->targets, m->q, m->ones, POSES, m->gradients, NULL, NULL);
    bench_use(m->gradients[0]);
}

static met_poses *make_met_poses(const char *scene)
{
    met_poses *m = bench_take(1, sizeof *m);
    poise_kinematics *kinematics = NULL;
    poise_solver_options options = poise_solver_options_default();
    if (scene_create(scene, NULL, &m->model, NULL) != POISE_OK ||
        poise_kinematics_create(m->model, NULL, &kinematics, NULL) != POISE_OK ||
        poise_solver_create(m->model, &options, NULL, &m->solver, NULL) != POISE_OK ||
        poise_sensitivity_create(m->model, 0, NULL, &m->sensitivity, NULL) != POISE_OK) {
        bench_fail("no scene %s", scene);
    }
    m->nq = poise_model_info(m->model).nq;
    poise_tool_info tip = poise_model_tool_info(m->model, poise_model_find_tool(m->model, "tip"));
    m->goal = poise_goal_pose(tip.body, tip.pose, tip.pose);
    scene_random random = scene_random_make(11);
    for (int i = 0; i < POSES; ++i) {
        scene_random_configuration(&random, m->model, m->q + i * m->nq);
        poise_kinematics_update(kinematics, m->q + i * m->nq, NULL);
        m->targets[i] = poise_kinematics_tool_pose(kinematics, poise_model_find_tool(m->model, "tip"));
    }
    for (int i = 0; i < POSES * ARM_JOINTS; ++i) {
        m->ones[i] = 1.0;
    }
    poise_kinematics_destroy(kinematics);
    return m;
}

static void add_answers(const bench *b, const char *scene)
{
    met_poses *m = make_met_poses(scene);
    const bench_work works[3] = {solve_from_nearby, go_back_one_by_one, go_back_side_by_side};
    void *const users[3] = {m, m, m};
    double ns[3], one_by_one[6 * POSES], off = 0.0;
    for (int i = 0; i < POSES; ++i) {
        go_back_one_by_one(m, i);
        memcpy(one_by_one + 6 * i, m->gradients, 6 * sizeof *one_by_one);
    }
    go_back_side_by_side(m, 0);
    for (int i = 0; i < 6 * POSES; ++i) {
        off = fmax(off, fabs(m->gradients[i] - one_by_one[i]) / fmax(1.0, fabs(one_by_one[i])));
    }
    bench_progress(b, scene);
    bench_race(works, users, 3, ns);
    report_row(
        b->report, scene, "poise",
        REPORT_VALUES(m->nq, off, ns[0] * 1e-3, ns[1] * 1e-3, ns[2] * 1e-3 / POSES, ns[1] / ns[0], ns[2] / POSES / ns[0]));
    report_promise(b->report, off <= 1e-6, "%s: gradients side by side differ by %.1e", scene, off);
    poise_sensitivity_destroy(m->sensitivity);
    poise_solver_destroy(m->solver);
    poise_model_destroy(m->model);
    free(m);
}

static void measure_answers(const bench *b)
{
    static const report_column columns[] = {{"dofs", "dofs", 0, REPORT_FIXED, false},
                                            {"error", "difference", 0, REPORT_FIGURES, false},
                                            {"us_solve", "solve us", 2, REPORT_FIXED, false},
                                            {"us_single", "back us", 2, REPORT_FIXED, false},
                                            {"us_mean", "64 at once us", 2, REPORT_FIXED, false},
                                            {"share_single", "back/solve", 2, REPORT_TIMES, false},
                                            {"share", "at once/solve", 2, REPORT_TIMES, false}};
    static const report_table table = {
        "answers", "From dL/dq to dL/d(target), one answer or 64 at once, beside the solve from 0.01 rad away", "arm",
        columns, 7};
    report_begin_table(b->report, &table);
    add_answers(b, "arm6");
    add_answers(b, "arm7");
}

void suite_derivatives(const bench *b)
{
    measure_hessians(b);
    if (bench_wants(b, "growth")) {
        measure_growth(b);
    }
    if (bench_wants(b, "answers")) {
        measure_answers(b);
    }
}
