#include "problems.h"

#include <math.h>
#include <poise/papers.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- Goals ---------------------------------------------------------------------------------------------------------------

const method_facts facts_of[POISE_METHOD_COUNT] = {
    [POISE_METHOD_AUTO] = {.name = "auto"},
    [POISE_METHOD_GRADIENT_DESCENT] = {.name = "gradient_descent"},
    [POISE_METHOD_JACOBIAN_TRANSPOSE] = {.name = "jacobian_transpose"},
    [POISE_METHOD_PSEUDO_INVERSE] = {.name = "pseudo_inverse", .rows = true, .null_space = true},
    [POISE_METHOD_DAMPED_LEAST_SQUARES] = {.name = "damped_least_squares", .rows = true},
    [POISE_METHOD_SELECTIVELY_DAMPED] = {.name = "selectively_damped", .rows = true, .open_steps = true},
    [POISE_METHOD_PRIORITY] = {.name = "priority", .rows = true, .levels = true},
    [POISE_METHOD_CCD] = {.name = "ccd", .axes = true},
    [POISE_METHOD_BWCD] = {.name = "bwcd", .axes = true},
    [POISE_METHOD_FABRIK] = {.name = "fabrik", .points = true, .open_steps = true},
    [POISE_METHOD_LEVENBERG_MARQUARDT] = {.name = "levenberg_marquardt"},
    [POISE_METHOD_BFGS] = {.name = "bfgs"},
    [POISE_METHOD_LBFGS] = {.name = "lbfgs"},
    [POISE_METHOD_TRUST_REGION] = {.name = "trust_region"},
    [POISE_METHOD_NEWTON] = {.name = "newton"},
    [POISE_METHOD_CONJUGATE_GRADIENT] = {.name = "conjugate_gradient"},
};

static bool has_rotation_band(const poise_goal *goal)
{
    return goal->rotation_tolerance.x > 0 || goal->rotation_tolerance.y > 0 || goal->rotation_tolerance.z > 0;
}

bool method_serves(int method, const poise_goal *goal)
{
    const method_facts *facts = &facts_of[method];
    bool is_axis = goal->kind == POISE_GOAL_DIRECTION || goal->kind == POISE_GOAL_ORIENTATION ||
                   goal->kind == POISE_GOAL_POSE || goal->kind == POISE_GOAL_AIM;
    if (facts->points || facts->axes) {
        return goal->kind == POISE_GOAL_POSITION || (facts->axes && is_axis && !has_rotation_band(goal));
    }
    return goal->kind != POISE_GOAL_CALLBACK || !facts->rows;
}

// What is drawn decides the golden hash: points with a band for rotations, which they do not use, are not.
static bool is_wanted(poise_method method, const poise_goal *goal, unsigned features)
{
    bool over_q = goal->kind == POISE_GOAL_POSTURE || goal->kind == POISE_GOAL_SMOOTHNESS;
    bool is_odd = facts_of[method].axes && has_rotation_band(goal);
    bool is_low = (features & PROBLEM_ONE_LEVEL) && facts_of[method].null_space && over_q;
    bool is_callback = (features & PROBLEM_FIXED) && goal->kind == POISE_GOAL_CALLBACK;
    return method_serves((int)method, goal) && !is_odd && !is_low && !is_callback;
}

static void pick_goals(scene_random *random, problem *p, unsigned features)
{
    random_goals_make(random, p->model, &p->all);
    int wanted = 1 + scene_random_index(random, 4);
    for (int tries = 0; tries < 100 && p->count < wanted; ++tries) {
        const poise_goal *goal = &p->all.goals[scene_random_index(random, RANDOM_GOALS)];
        if (is_wanted(p->options.method, goal, features)) {
            p->goals[p->count++] = *goal;
        }
    }
}

// ---- Models --------------------------------------------------------------------------------------------------------------

// Balls, hinges and fixed joints below a free root or one that turns.
static poise_model *turning_model(scene_random *random, int joints, bool limited)
{
    static const poise_joint_type types[] = {
        POISE_JOINT_FIXED,       POISE_JOINT_REVOLUTE,        POISE_JOINT_UNIVERSAL,
        POISE_JOINT_BALL_EULER,  POISE_JOINT_BALL_EXPMAP,     POISE_JOINT_BALL_QUATERNION,
        POISE_JOINT_SWING_TWIST, POISE_JOINT_BALL_QUATERNION, POISE_JOINT_BALL_EXPMAP};
    poise_builder *builder = NULL;
    poise_model *model = NULL;
    bool sound = poise_builder_create(NULL, &builder, NULL) == POISE_OK;
    for (int i = 0; i < joints && sound; ++i) {
        char name[16], parent[16];
        bool is_free = i == 0 && scene_random_index(random, 2) == 0;
        poise_joint joint = random_joint(random, is_free ? POISE_JOINT_FREE : types[scene_random_index(random, 9)]);
        snprintf(name, sizeof name, "b%d", i);
        snprintf(parent, sizeof parent, "b%d", i == 0 ? 0 : scene_random_index(random, i));
        joint.name = name;
        joint.parent = i == 0 ? NULL : parent;
        joint.mass = 1.0;
        for (int k = 0; k < 3 && limited && joint.type != POISE_JOINT_BALL_QUATERNION && !is_free; ++k) {
            joint.lower[k] = scene_random_range(random, -2.0, -0.1);
            joint.upper[k] = scene_random_range(random, 0.1, 2.0);
        }
        sound = poise_builder_add_joint(builder, &joint, NULL) == POISE_OK;
    }
    sound = sound && poise_model_create(builder, NULL, &model, NULL) == POISE_OK;
    poise_builder_destroy(builder);
    return sound ? model : NULL;
}

static poise_model *model_for(scene_random *random, poise_method method, int joints, unsigned features)
{
    bool limited = features & PROBLEM_LIMITS;
    if (facts_of[method].points) {
        return turning_model(random, joints, limited);
    }
    bool follows = !method_is_geometric((int)method) && scene_random_index(random, 3) == 0;
    bool has_roots = scene_random_index(random, 4) == 0;
    unsigned kind = (limited ? RANDOM_LIMITS : 0) | (follows ? RANDOM_MIMICS : 0) | (has_roots ? RANDOM_FOREST : 0) |
                    (features & PROBLEM_CURVES ? RANDOM_CURVES : 0) | (features & PROBLEM_WIDTHS ? RANDOM_WIDTHS : 0);
    for (;;) { // one with mass and freedom
        poise_model *model = random_model(random, joints, kind);
        bool has_mass = false;
        for (int k = 0; model && k < poise_model_info(model).joints; ++k) {
            has_mass = has_mass || poise_model_joint_info(model, k).given->mass > 0;
        }
        if (!model || (has_mass && poise_model_info(model).nv > 0)) {
            return model;
        }
        poise_model_destroy(model);
    }
}

// ---- Problems ------------------------------------------------------------------------------------------------------------

static problem *open_problem(poise_method method)
{
    problem *p = calloc(1, sizeof *p);
    if (p) {
        p->options = poise_solver_options_default();
        p->options.method = method;
        p->options.engine = poise_papers_engine(p->options.method);
        p->options.max_iterations = 60;
        p->options.coupled_goals = PROBLEM_GOALS;
        p->options.trace = p->trace;
        p->options.trace_capacity = PROBLEM_TRACE;
    }
    return p;
}

static bool take_model(problem *p, poise_model *model)
{
    p->model = model;
    p->nq = poise_model_info(model).nq;
    p->nv = poise_model_info(model).nv;
    return model && p->nq <= PROBLEM_NUMBERS;
}

problem *problem_make(scene_random *random, poise_method method, int joints, unsigned features)
{
    problem *p = open_problem(method);
    int count = 1 + scene_random_index(random, joints);
    if (!p || !take_model(p, model_for(random, method, count, features))) {
        problem_destroy(p);
        return NULL;
    }
    pick_goals(random, p, features);
    p->options.rows.max_rows = p->count * (6 + p->nv);
    scene_random_configuration(random, p->model, p->start);
    for (int i = 0; i < p->nv && (features & PROBLEM_LOCKS); ++i) {
        p->locked[i] = scene_random_index(random, 4) == 0;
        p->options.locked = p->locked;
    }
    p->options.start = scene_random_index(random, 4) == 0 ? POISE_START_COLD : POISE_START_WARM;
    return p;
}

// Links of 0.1 to 0.4, limits at random around 0.
static poise_model *arm_model(scene_random *random, int joints)
{
    poise_builder *builder = NULL;
    poise_model *model = NULL;
    char name[16], parent[16];
    bool sound = poise_builder_create(NULL, &builder, NULL) == POISE_OK;
    for (int i = 0; i < joints && sound; ++i) {
        bool slides = scene_random_index(random, 6) == 0;
        poise_joint joint = random_joint(random, slides ? POISE_JOINT_PRISMATIC : POISE_JOINT_REVOLUTE);
        snprintf(name, sizeof name, "b%d", i);
        snprintf(parent, sizeof parent, "b%d", i - 1);
        joint.name = name;
        joint.parent = i == 0 ? NULL : parent;
        if (slides || scene_random_index(random, 4) > 0) {
            joint.lower[0] = scene_random_range(random, -3.0, -0.5) * (slides ? 0.1 : 1.0);
            joint.upper[0] = scene_random_range(random, 0.5, 3.0) * (slides ? 0.1 : 1.0);
        }
        sound = poise_builder_add_joint(builder, &joint, NULL) == POISE_OK;
    }
    sound = sound && poise_model_create(builder, NULL, &model, NULL) == POISE_OK;
    poise_builder_destroy(builder);
    return sound ? model : NULL;
}

problem *problem_make_arm(scene_random *random, int joints)
{
    problem *p = open_problem(POISE_METHOD_AUTO);
    poise_kinematics *kin = NULL;
    if (!p || !take_model(p, arm_model(random, joints)) || poise_kinematics_create(p->model, NULL, &kin, NULL) != POISE_OK) {
        problem_destroy(p);
        return NULL;
    }
    double there[PROBLEM_NUMBERS];
    scene_random_configuration(random, p->model, there);
    scene_random_configuration(random, p->model, p->start);
    poise_kinematics_update(kin, there, NULL);
    poise_pose target = poise_kinematics_body_pose(kin, joints - 1), tip = (poise_pose){{0, 0, 0, 1}, {0.1, 0.0, 0.05}};
    target = poise_pose_multiply(target, tip);
    double stretch = scene_random_index(random, 3) == 0 ? 1.5 : 1.0;
    target.position.x *= stretch;
    target.position.y *= stretch;
    p->goals[0] = poise_goal_pose(joints - 1, tip, target);
    p->goals[0].weight = scene_random_range(random, 0.5, 4.0);
    if (scene_random_index(random, 3) == 0) {
        p->goals[0].rotation_tolerance.z = 0.3;
    }
    p->count = 1;
    p->options.start = scene_random_index(random, 4) == 0 ? POISE_START_COLD : POISE_START_WARM;
    poise_kinematics_destroy(kin);
    return p;
}

static poise_model *limb_model(scene_random *random, poise_joint_type type, bool is_mimic)
{
    static const char *const names[] = {"base", "joint", "tip"};
    poise_builder *builder = NULL;
    poise_model *model = NULL;
    bool sound = poise_builder_create(NULL, &builder, NULL) == POISE_OK;
    for (int i = 0; i < 3 && sound; ++i) {
        poise_joint joint = random_joint(random, i == 1 ? type : POISE_JOINT_REVOLUTE);
        joint.name = names[i];
        joint.parent = i == 0 ? NULL : names[i - 1];
        joint.mimic = i == 1 && is_mimic ? names[0] : NULL;
        sound = poise_builder_add_joint(builder, &joint, NULL) == POISE_OK;
    }
    sound = sound && poise_model_create(builder, NULL, &model, NULL) == POISE_OK;
    poise_builder_destroy(builder);
    return sound ? model : NULL;
}

problem *problem_make_limb(scene_random *random, poise_method method, poise_joint_type type, bool is_mimic)
{
    problem *p = open_problem(method);
    poise_kinematics *kin = NULL;
    if (!p || !take_model(p, limb_model(random, type, is_mimic)) ||
        poise_kinematics_create(p->model, NULL, &kin, NULL) != POISE_OK) {
        problem_destroy(p);
        return NULL;
    }
    double there[PROBLEM_NUMBERS], step[PROBLEM_NUMBERS];
    poise_vec3 local = random_vector(random, 0.5);
    scene_random_configuration(random, p->model, p->start);
    random_step(random, p->model, 0.2, step);
    poise_retract(p->model, p->start, step, there, NULL);
    poise_kinematics_update(kin, there, NULL);
    p->goals[0] = poise_goal_position(2, local, poise_kinematics_point(kin, 2, local));
    p->count = 1;
    p->options.max_iterations = 1000;
    poise_kinematics_destroy(kin);
    return p;
}

problem *problem_make_corner(scene_random *random, int joints)
{
    problem *p = open_problem(POISE_METHOD_AUTO);
    poise_kinematics *kin = NULL;
    if (!p || !take_model(p, arm_model(random, joints)) || poise_kinematics_create(p->model, NULL, &kin, NULL) != POISE_OK) {
        problem_destroy(p);
        return NULL;
    }
    double there[PROBLEM_NUMBERS];
    int how = scene_random_index(random, 3); // one in three joints at a limit, all, or all but for the last digits
    scene_random_configuration(random, p->model, there);
    scene_random_configuration(random, p->model, p->start);
    for (int i = 0; i < p->nq; ++i) {
        double lower = poise_model_info(p->model).lower[i], upper = poise_model_info(p->model).upper[i];
        bool is_limited = lower > -INFINITY && upper < INFINITY, is_upper = scene_random_index(random, 2);
        if (is_limited && (how > 0 || scene_random_index(random, 3) == 0)) {
            there[i] = is_upper ? upper - (how == 2 ? 1e-9 : 0.0) : lower + (how == 2 ? 1e-9 : 0.0);
        }
    }
    poise_kinematics_update(kin, there, NULL);
    p->goals[0] = poise_goal_pose(joints - 1, poise_pose_identity(), poise_kinematics_body_pose(kin, joints - 1));
    p->count = 1;
    p->is_in_reach = true;
    p->options.max_iterations = 100;
    p->options.restarts = 30;
    p->options.start = POISE_START_COLD;
    poise_kinematics_destroy(kin);
    return p;
}

void problem_destroy(problem *p)
{
    if (p) {
        poise_model_destroy(p->model);
        free(p);
    }
}

// ---- Answers -------------------------------------------------------------------------------------------------------------

answer problem_solve_with(const problem *p, poise_solver *solver)
{
    answer a = {.status = POISE_OK};
    memcpy(a.q, p->start, sizeof a.q);
    a.status = poise_solve(solver, p->goals, p->count, a.q, &a.report, &a.error);
    return a;
}

answer problem_solve(problem *p)
{
    poise_solver *solver = NULL;
    answer a = {.status = poise_solver_create(p->model, &p->options, NULL, &solver, NULL)};
    if (a.status == POISE_OK) {
        a = problem_solve_with(p, solver);
    }
    poise_solver_destroy(solver);
    return a;
}

static void numbers_of(const poise_report *r, double x[6])
{
    x[0] = r->start_cost, x[1] = r->cost, x[2] = r->gradient;
    x[3] = r->distance, x[4] = r->worst_length, x[5] = r->worst_angle;
}

bool answers_are_equal(const problem *p, const answer *a, const answer *b)
{
    const poise_report *r = &a->report, *s = &b->report;
    double x[6], y[6];
    numbers_of(r, x);
    numbers_of(s, y);
    return a->status == b->status && memcmp(a->q, b->q, (size_t)p->nq * sizeof *a->q) == 0 && memcmp(x, y, sizeof x) == 0 &&
           r->outcome == s->outcome && r->iterations == s->iterations && r->evaluations == s->evaluations &&
           r->restarts == s->restarts && r->traced == s->traced && r->active_limits == s->active_limits &&
           r->moved_joints == s->moved_joints && r->reason == s->reason;
}

bool answer_is_finite(const problem *p, const answer *a)
{
    double x[6];
    numbers_of(&a->report, x);
    double zero = 0.0; // a finite number times 0 is 0, any other is not a number
    for (int i = 0; i < p->nq; ++i) {
        zero += 0.0 * a->q[i];
    }
    for (int i = 0; i < 6; ++i) {
        zero += 0.0 * x[i];
    }
    return zero == 0.0;
}

static double cost_at(poise_objective *objective, const double *q)
{
    bool known = poise_objective_evaluate(objective, q, POISE_LEVEL_COST, NULL) == POISE_OK;
    return known ? poise_objective_value(objective).cost : NAN;
}

double answer_gain(const problem *p, const double *q, poise_objective *objective, scene_random *random)
{
    double v[PROBLEM_NUMBERS], there[PROBLEM_NUMBERS];
    if (poise_objective_set_goals(objective, p->goals, p->count, NULL) != POISE_OK) {
        return INFINITY;
    }
    double cost = cost_at(objective, q), least = cost;
    for (int trial = 0; trial < 200 && p->nv > 0; ++trial) {
        double size = trial % 2 ? 1e-3 : 1e-5;
        random_step(random, p->model, trial / 2 < 2 * p->nv ? 0.0 : size, v);
        v[trial / 4 % p->nv] += trial / 2 % 2 ? size : -size; // each way along every dof, then at random
        bool sound = poise_retract(p->model, q, v, there, NULL) == POISE_OK &&
                     poise_model_clamp(p->model, there, NULL, NULL) == POISE_OK;
        double other = sound ? cost_at(objective, there) : NAN;
        if (!isfinite(other)) {
            return INFINITY;
        }
        least = other < least ? other : least;
    }
    return cost > 0 ? (cost - least) / cost : 0.0;
}

bool answer_is_refuted(const problem *p, const double *q, poise_objective *objective, scene_random *random)
{
    return answer_gain(p, q, objective, random) > 1e-9;
}
