// Exact derivatives: the composite route against the paper's Algorithms 2-4, and how the cost grows.
#include "bench.h"
#include "plain.h"

#include <poise/poise.h>
#include <scenes/random.h>
#include <scenes/scenes.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define POSES 64 // different configurations, so that no branch is learnt by heart

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
    poise_objective_evaluate(p->objective, pose_of(p, round), POISE_LEVEL_HESSIAN);
    poise_objective_hessian(p->objective, POISE_HESSIAN_EXACT, p->H);
    bench_use(p->H[0]);
}

static void composite_packed(void *user, int round)
{
    problem *p = user;
    poise_objective_evaluate(p->objective, pose_of(p, round), POISE_LEVEL_HESSIAN);
    poise_objective_packed(p->objective, POISE_HESSIAN_EXACT, p->packed);
    bench_use(p->packed[0]);
}

static void composite_product(void *user, int round)
{
    problem *p = user;
    poise_objective_evaluate(p->objective, pose_of(p, round), POISE_LEVEL_HESSIAN);
    poise_objective_multiply(p->objective, POISE_HESSIAN_EXACT, p->x, p->y);
}

static void gradient_only(void *user, int round)
{
    problem *p = user;
    poise_objective_evaluate(p->objective, pose_of(p, round), POISE_LEVEL_GRADIENT);
}

static void cost_only(void *user, int round)
{
    problem *p = user;
    poise_objective_evaluate(p->objective, pose_of(p, round), POISE_LEVEL_COST);
}

// ---- Problems ------------------------------------------------------------------------------------------------------------

// `markers` points: those of the scene first, then random points, body by body.
static void place_markers(problem *p, const char *scene, scene_random *random)
{
    plain_effector *effectors = calloc((size_t)p->markers, sizeof *effectors);
    scene_marker *set = calloc((size_t)p->markers, sizeof *set);
    int given = scene_markers(scene, set, p->markers);
    for (int i = 0; i < p->markers; ++i) {
        int spread = (int)((int64_t)(i - given) * poise_model_joint_count(p->model) / (p->markers - given + 1));
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
        fprintf(stderr, "no scene %s\n", scene);
        exit(2);
    }
    p.nq = poise_model_nq(p.model);
    p.nv = poise_model_nv(p.model);
    size_t n = (size_t)p.nv;
    p.goals = calloc((size_t)markers, sizeof *p.goals);
    place_markers(&p, scene, &random);
    p.poses = calloc((size_t)POSES * (size_t)p.nq, sizeof *p.poses);
    for (int i = 0; i < POSES; ++i) {
        scene_random_configuration(&random, p.model, p.poses + (size_t)i * (size_t)p.nq);
    }
    poise_objective_create(p.model, 0, NULL, &p.objective);
    poise_objective_set_goals(p.objective, p.goals, markers, NULL);
    p.J = calloc(3 * (size_t)markers * n, sizeof *p.J);
    p.H = calloc(n * n, sizeof *p.H);
    p.x = calloc(2 * n, sizeof *p.x);
    p.y = p.x + n;
    for (size_t i = 0; i < n; ++i) {
        p.x[i] = 1.0;
    }
    p.packed = calloc(poise_packed_size(p.model), sizeof *p.packed);
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
    double *reference = malloc(count * sizeof *reference), worst = 0.0;
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

static void print_hessian_row(const char *scene, int markers)
{
    problem p = make_problem(scene, markers);
    const bench_work works[] = {plain_exact, composite_dense, composite_packed};
    void *const users[] = {&p, &p, &p};
    double ns[3];
    double off = disagreement(&p);
    bench_race(works, users, 3, ns);
    printf("%-16s %5d %7d %12.2f %11.2f %7.1fx %11.2f %7.1fx %10.1e\n", scene, p.nv, markers, ns[0] * 1e-3, ns[1] * 1e-3,
           ns[0] / ns[1], ns[2] * 1e-3, ns[0] / ns[2], off);
    free_problem(&p);
}

static void print_scaling_row(const char *scene, double *first)
{
    problem p = make_problem(scene, scene_marker_count(scene));
    const bench_work works[] = {cost_only, gradient_only, composite_product};
    void *const users[] = {&p, &p, &p};
    double ns[3];
    bench_race(works, users, 3, ns);
    double per_dof = ns[2] / p.nv;
    *first = *first == 0 ? per_dof : *first;
    printf("%-16s %5d %7d %12.2f %11.2f %11.2f %11.1f %7.2fx\n", scene, p.nv, p.markers, ns[0] * 1e-3, ns[1] * 1e-3,
           ns[2] * 1e-3, per_dof, per_dof / *first);
    free_problem(&p);
}

int main(void)
{
    bench_print_machine();
    printf("Exact Hessian from q: Algorithms 2-4 of Erleben & Andrews against the composite route, us\n\n");
    printf("%-16s %5s %7s %12s %11s %8s %11s %8s %10s\n", "skeleton", "dofs", "markers", "Algorithm 4", "dense", "faster",
           "packed", "faster", "disagree");
    print_hessian_row("humanoid-euler", 41);
    print_hessian_row("tree-62", 41);
    print_hessian_row("tree-62", 1000);
    print_hessian_row("humanoid-euler", 1000);
    printf("\nFrom q to cost, gradient, and a product with the exact Hessian, us; growth of the last\n\n");
    printf("%-16s %5s %7s %12s %11s %11s %11s %8s\n", "skeleton", "dofs", "markers", "cost", "gradient", "product", "ns/dof",
           "growth");
    double first = 0.0;
    const char *const trees[] = {"tree-62", "tree-200", "tree-600", "tree-1000", "tree-2000"};
    for (size_t i = 0; i < sizeof trees / sizeof trees[0]; ++i) {
        print_scaling_row(trees[i], &first);
    }
    return 0;
}
