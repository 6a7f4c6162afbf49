// Derivatives of answers: what the implicit function theorem asks for, for every parameter of every goal on random models of
// all joints; forward and backward are one matrix and its transpose; solves with moved targets and limits agree.
#include "solve/sensitivity.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "support/answers.h"
#include "support/random_goals.h"
#include "support/test_arms.h"

#define PARAMETERS 8 // translation, rotation, weight, rotation weight
#define JOINTS     9
#define GOALS      (RANDOM_GOALS + 1)

// A model, goals with a strong posture among them, so that H is positive definite, and a configuration within the limits.
typedef struct problem {
    figure f;
    random_goals made;
    poise_goal goals[GOALS];
    double held[FIGURE_NUMBERS];
    poise_objective *o;
    poise_sensitivity *s;
} problem;

static problem *new_problem(uint64_t seed, unsigned features)
{
    problem *p = calloc(1, sizeof *p);
    test_own(free, p);
    scene_random random = scene_random_make(seed);
    p->f = random_figure(&random, JOINTS, features);
    random_goals_make(&random, p->f.model, &p->made);
    memcpy(p->goals, p->made.goals, sizeof p->made.goals);
    memcpy(p->held, p->f.q, sizeof p->held);
    double step[FIGURE_NUMBERS];
    random_step(&random, p->f.model, 0.3, step);
    ck_assert_int_eq(poise_retract(p->f.model, p->f.q, step, p->f.q, NULL), POISE_OK);
    int moved;
    ck_assert_int_eq(poise_model_clamp(p->f.model, p->f.q, &moved, NULL), POISE_OK);
    p->goals[GOALS - 1] = poise_goal_posture(p->held, 300.0);
    ck_assert_int_eq(poise_objective_create(p->f.model, RANDOM_COUPLED, NULL, &p->o, NULL), POISE_OK);
    own_objective(p->o);
    p->s = sensitivity_of(p->f.model, RANDOM_COUPLED);
    return p;
}

static double *parameter(poise_goal_change *change, int i)
{
    double *all[PARAMETERS] = {&change->translation.x, &change->translation.y,  &change->translation.z,
                               &change->rotation.x,    &change->rotation.y,     &change->rotation.z,
                               &change->weight,        &change->rotation_weight};
    return all[i];
}

static bool has_target(const poise_goal *goal)
{
    return goal->kind != POISE_GOAL_POSTURE && goal->kind != POISE_GOAL_SMOOTHNESS && goal->kind != POISE_GOAL_CALLBACK;
}

// The goal with its parameters changed, as the header says.
static poise_goal changed(const poise_kinematics *kin, const poise_goal *goal, const poise_goal_change *change)
{
    poise_goal g = *goal;
    poise_pose frame = poise_pose_identity();
    if (g.kind == POISE_GOAL_RELATIVE && g.body2 != POISE_WORLD) {
        frame = poise_kinematics_body_pose(kin, g.body2);
    }
    poise_quat back = poise_quat_conjugate(frame.rotation);
    poise_vec3 w = change->rotation, t = poise_quat_rotate(back, change->translation);
    poise_quat turn = poise_quat_from_axis_angle(w, sqrt(w.x * w.x + w.y * w.y + w.z * w.z));
    g.target.position = poise_vec3_make(g.target.position.x + t.x, g.target.position.y + t.y, g.target.position.z + t.z);
    g.target.rotation =
        poise_quat_multiply(back, poise_quat_multiply(turn, poise_quat_multiply(frame.rotation, g.target.rotation)));
    g.direction = poise_quat_rotate(turn, g.direction);
    g.weight += change->weight;
    g.rotation_weight += change->rotation_weight;
    return g;
}

static void gradient_at(problem *p, double *gradient)
{
    poise_error error = {0};
    ck_assert_msg(poise_objective_set_goals(p->o, p->goals, GOALS, &error) == POISE_OK, "%s", error.text);
    ck_assert_int_eq(poise_objective_evaluate(p->o, p->f.q, POISE_LEVEL_GRADIENT, NULL), POISE_OK);
    memcpy(gradient, poise_objective_value(p->o).gradient, (size_t)p->f.nv * sizeof *gradient);
}

#define DIFFERENCE 1e-6

// d(gradient)/dp by differences, q fixed. `move` changes the parameter by the amount.
static void gradient_change(problem *p, int goal, int parameter_number, double *change)
{
    double ends[2][FIGURE_NUMBERS];
    poise_goal kept = p->goals[goal];
    for (int end = 0; end < 2; ++end) {
        poise_goal_change by = {0};
        *parameter(&by, parameter_number) = end ? DIFFERENCE : -DIFFERENCE;
        p->goals[goal] = changed(p->f.kin, &kept, &by);
        gradient_at(p, ends[end]);
        p->goals[goal] = kept;
    }
    for (int i = 0; i < p->f.nv; ++i) {
        change[i] = (ends[1][i] - ends[0][i]) / (2 * DIFFERENCE);
    }
}

// At the answer.
static poise_status look(problem *p, bool use_limits)
{
    poise_solver_options options = poise_solver_options_default();
    options.use_limits = use_limits;
    options.coupled_goals = RANDOM_COUPLED;
    poise_solver *solver = NULL;
    ck_assert_int_eq(poise_solver_create(p->f.model, &options, NULL, &solver, NULL), POISE_OK);
    ck_assert_int_eq(poise_solve(solver, p->goals, GOALS, p->f.q, NULL, NULL), POISE_OK);
    poise_solver_destroy(solver);
    update(&p->f);
    return poise_sensitivity_update(p->s, p->goals, GOALS, p->f.q, use_limits, NULL);
}

// H dq + d(gradient)/dp vanishes
static void check_parameter(problem *p, const double *H, int goal, int number)
{
    poise_goal_change changes[GOALS] = {0};
    double dq[FIGURE_NUMBERS], change[FIGURE_NUMBERS];
    *parameter(&changes[goal], number) = 1.0;
    ck_assert_int_eq(poise_sensitivity_forward(p->s, changes, dq, NULL), POISE_OK);
    gradient_change(p, goal, number, change);
    double stiffest = 0.0; // at the answer goals pull against each other, by as much as sqrt(2 f H_ii)
    for (int i = 0; i < p->f.nv; ++i) {
        stiffest = fmax(stiffest, H[i * p->f.nv + i]);
    }
    double scale = largest(change, p->f.nv) + 1e-4 * sqrt(2 * poise_objective_value(p->o).cost * stiffest);
    for (int i = 0; i < p->f.nv; ++i) {
        double sum = change[i];
        for (int k = 0; k < p->f.nv; ++k) {
            sum += H[i * p->f.nv + k] * dq[k];
        }
        ck_assert_msg(fabs(sum) <= 1e-6 * scale, "%s, parameter %d, component %d: %.3e of %.3e is left",
                      poise_goal_kind_name(p->goals[goal].kind), number, i, sum, scale);
    }
}

#define SEEDS 12

TEST_ROWS(answers_follow_every_parameter_of_every_goal, SEEDS)
{
    problem *p = new_problem(100 + (uint64_t)test_row, RANDOM_MIMICS | (test_row % 2 ? RANDOM_CURVES : 0));
    double H[FIGURE_NUMBERS * 64];
    ck_assert_int_le(p->f.nv, 64);
    ck_assert_int_eq(look(p, false), POISE_OK);
    double gradient[FIGURE_NUMBERS];
    gradient_at(p, gradient);
    ck_assert_int_eq(poise_objective_evaluate(p->o, p->f.q, POISE_LEVEL_HESSIAN, NULL), POISE_OK);
    ck_assert_int_eq(poise_objective_hessian(p->o, POISE_HESSIAN_EXACT, H, NULL), POISE_OK);
    for (int goal = 0; goal < GOALS; ++goal) {
        bool has_rotation_weight = p->goals[goal].kind == POISE_GOAL_POSE || p->goals[goal].kind == POISE_GOAL_RELATIVE;
        int first = has_target(&p->goals[goal]) ? 0 : 6, last = has_rotation_weight ? PARAMETERS : PARAMETERS - 1;
        for (int number = first; number < last && p->goals[goal].kind != POISE_GOAL_CALLBACK; ++number) {
            check_parameter(p, H, goal, number);
        }
    }
}

// The posture that is held, by steps: plain coordinates and quaternions; rotation vectors may be the twin of another.
TEST_ROWS(answers_follow_a_posture, SEEDS)
{
    problem *p = new_problem(100 + (uint64_t)test_row, RANDOM_PLAIN);
    double H[FIGURE_NUMBERS * 64], step[FIGURE_NUMBERS], dq[FIGURE_NUMBERS], ends[2][FIGURE_NUMBERS], kept[FIGURE_NUMBERS];
    ck_assert_int_eq(look(p, false), POISE_OK);
    gradient_at(p, ends[0]);
    ck_assert_int_eq(poise_objective_evaluate(p->o, p->f.q, POISE_LEVEL_HESSIAN, NULL), POISE_OK);
    ck_assert_int_eq(poise_objective_hessian(p->o, POISE_HESSIAN_EXACT, H, NULL), POISE_OK);
    scene_random random = scene_random_make(7);
    random_step(&random, p->f.model, 1.0, step);
    poise_goal_change changes[GOALS] = {0};
    changes[GOALS - 1].posture = step;
    ck_assert_int_eq(poise_sensitivity_forward(p->s, changes, dq, NULL), POISE_OK);
    memcpy(kept, p->held, sizeof kept);
    for (int end = 0; end < 2; ++end) {
        double by[FIGURE_NUMBERS];
        for (int i = 0; i < p->f.nv; ++i) {
            by[i] = (end ? DIFFERENCE : -DIFFERENCE) * step[i];
        }
        ck_assert_int_eq(poise_retract(p->f.model, kept, by, p->held, NULL), POISE_OK);
        gradient_at(p, ends[end]);
    }
    for (int i = 0; i < p->f.nv; ++i) {
        double sum = (ends[1][i] - ends[0][i]) / (2 * DIFFERENCE);
        for (int k = 0; k < p->f.nv; ++k) {
            sum += H[i * p->f.nv + k] * dq[k];
        }
        ck_assert_msg(fabs(sum) <= 3e-4, "component %d: %.3e of 300 is left", i, sum);
    }
}

TEST_ROWS(backward_is_the_transpose_of_forward, SEEDS)
{
    problem *p = new_problem(200 + (uint64_t)test_row, RANDOM_LIMITS | RANDOM_MIMICS | RANDOM_CURVES);
    scene_random random = scene_random_make(3);
    double by_q[FIGURE_NUMBERS], dq[FIGURE_NUMBERS], posture[GOALS][FIGURE_NUMBERS], ones[FIGURE_NUMBERS];
    ck_assert_int_eq(look(p, true), POISE_OK);
    random_step(&random, p->f.model, 1.0, by_q);
    random_step(&random, p->f.model, 1.0, ones);
    poise_goal_change gradients[GOALS] = {0}, changes[GOALS] = {0};
    for (int i = 0; i < GOALS; ++i) {
        gradients[i].posture = posture[i];
    }
    ck_assert_int_eq(poise_sensitivity_backward(p->s, by_q, gradients, NULL, NULL, NULL), POISE_OK);
    double backward = 0.0, forward = 0.0, size = 0.0;
    for (int i = 0; i < GOALS; ++i) {
        poise_goal_kind kind = p->goals[i].kind;
        for (int k = 0; k < PARAMETERS; ++k) {
            double *number = parameter(&changes[i], k), term;
            *number = scene_random_range(&random, -1, 1);
            term = *number * *parameter(&gradients[i], k);
            backward += term, size += fabs(term);
        }
        bool over_q = kind == POISE_GOAL_POSTURE || kind == POISE_GOAL_SMOOTHNESS;
        changes[i].posture = over_q ? ones : NULL;
        for (int k = 0; over_q && k < p->f.nv; ++k) {
            backward += ones[k] * posture[i][k], size += fabs(ones[k] * posture[i][k]);
        }
        if (kind != POISE_GOAL_POSE && kind != POISE_GOAL_RELATIVE) {
            changes[i].rotation_weight = 0.0;
        }
    }
    ck_assert_int_eq(poise_sensitivity_forward(p->s, changes, dq, NULL), POISE_OK);
    for (int i = 0; i < p->f.nv; ++i) {
        forward += by_q[i] * dq[i];
    }
    ck_assert_msg(fabs(forward - backward) <= 1e-11 * size, "forward %.15g, backward %.15g", forward, backward);
}

// ---- Against solves ------------------------------------------------------------------------------------------------------

// A solve knows its answer to about the root of the rounding. Newton steps on the coordinates between their limits bring it
// to the last digits; swings at an edge stay as they are.
static void polish(const poise_model *model, const poise_goal *goals, int count, double *q)
{
    poise_model_summary info = poise_model_info(model);
    int nv = info.nv, n = 0, dof[64];
    double H[64 * 64], A[64][65], x[64] = {0};
    ck_assert_int_le(nv, 64);
    poise_objective *o = NULL;
    ck_assert_int_eq(poise_objective_create(model, 0, NULL, &o, NULL), POISE_OK);
    ck_assert_int_eq(poise_objective_set_goals(o, goals, count, NULL), POISE_OK);
    for (int k = 0; k < info.joints; ++k) {
        poise_joint_info joint = poise_model_joint_info(model, k);
        bool is_plain = joint.nq == joint.nv;
        for (int i = 0; i < joint.nv; ++i) {
            int c = joint.q + i;
            if (!is_plain || (q[c] > info.lower[c] && q[c] < info.upper[c])) {
                dof[n++] = joint.v + i;
            }
        }
    }
    for (int round = 0; round < 4; ++round) {
        ck_assert_int_eq(poise_objective_evaluate(o, q, POISE_LEVEL_HESSIAN, NULL), POISE_OK);
        ck_assert_int_eq(poise_objective_hessian(o, POISE_HESSIAN_EXACT, H, NULL), POISE_OK);
        const double *g = poise_objective_value(o).gradient;
        for (int i = 0; i < n; ++i) {
            for (int k = 0; k < n; ++k) {
                A[i][k] = H[dof[i] * nv + dof[k]];
            }
            A[i][n] = -g[dof[i]];
        }
        for (int i = 0; i < n; ++i) { // positive definite: no pivoting
            for (int r = 0; r < n; ++r) {
                double share = A[r][i] / A[i][i];
                for (int k = i; k <= n && r != i; ++k) {
                    A[r][k] -= share * A[i][k];
                }
            }
        }
        for (int i = 0; i < n; ++i) {
            x[dof[i]] = A[i][n] / A[i][i];
        }
        ck_assert_int_eq(poise_retract(model, q, x, q, NULL), POISE_OK);
    }
    poise_objective_destroy(o);
}

// Markers on all bodies and a weak posture, within limits that many joints run into.
#define MARKERS 6

typedef struct reach {
    poise_goal goals[MARKERS + 1];
    double held[FIGURE_NUMBERS];
} reach;

static void make_reach(reach *r, const figure *f, scene_random *random)
{
    memcpy(r->held, f->q, sizeof r->held);
    for (int i = 0; i < MARKERS; ++i) {
        int body = (int)scene_random_range(random, 0, poise_model_info(f->model).joints - 1e-9);
        poise_vec3 local = random_vector(random, 0.3), at = poise_kinematics_point(f->kin, body, local);
        poise_vec3 off = random_vector(random, 1.5);
        r->goals[i] = poise_goal_position(body, local, poise_vec3_make(at.x + off.x, at.y + off.y, at.z + off.z));
    }
    r->goals[MARKERS] = poise_goal_posture(r->held, 0.5);
}

// Is joint k a swing at the edge of its ellipse?
static bool at_edge(const poise_model *model, int k, const double *q)
{
    poise_joint_info joint = poise_model_joint_info(model, k);
    double a = q[joint.q] / joint.given->swing[0], b = q[joint.q + 1] / joint.given->swing[1];
    return joint.type == POISE_JOINT_SWING_TWIST && a * a + b * b > 1 - 1e-12;
}

static int solves_compared, swings_at_edges, limits_reached;

// The answer at goals[0] moved by `by` times the direction.
static void solve_moved(const figure *f, const poise_goal *goals, poise_vec3 way, double by, bool is_polished,
                        const double *start, double *q)
{
    poise_goal moved[MARKERS + 1];
    poise_goal_change change = {.translation = {by * way.x, by * way.y, by * way.z}};
    memcpy(moved, goals, sizeof moved);
    moved[0] = changed(f->kin, &goals[0], &change);
    memcpy(q, start, (size_t)f->nq * sizeof *q);
    solve_to_the_end(f->model, moved, MARKERS + 1, q);
    if (is_polished) {
        polish(f->model, moved, MARKERS + 1, q);
    }
}

static bool same_limits(const figure *f, const double *a, const double *b)
{
    poise_model_summary info = poise_model_info(f->model);
    bool same = true;
    for (int i = 0; i < f->nq; ++i) {
        same =
            same && (a[i] == info.lower[i]) == (b[i] == info.lower[i]) && (a[i] == info.upper[i]) == (b[i] == info.upper[i]);
    }
    for (int k = 0; k < info.joints; ++k) {
        same = same && at_edge(f->model, k, a) == at_edge(f->model, k, b);
    }
    return same;
}

// By differences of fourth order. Swings at edges leave answers as precise as solves know them.
TEST_ROWS(solves_with_moved_targets_agree, 60)
{
    scene_random random = scene_random_make(300 + (uint64_t)test_row);
    figure f = random_figure(&random, JOINTS, RANDOM_LIMITS);
    reach r;
    make_reach(&r, &f, &random);
    double q[FIGURE_NUMBERS], dq[FIGURE_NUMBERS], ends[4][FIGURE_NUMBERS], step[4][FIGURE_NUMBERS];
    memcpy(q, f.q, sizeof q);
    solve_to_the_end(f.model, r.goals, MARKERS + 1, q);
    int edges = 0;
    for (int k = 0; k < poise_model_info(f.model).joints; ++k) {
        edges += at_edge(f.model, k, q);
    }
    if (edges == 0) {
        polish(f.model, r.goals, MARKERS + 1, q);
    }
    poise_sensitivity *s = sensitivity_of(f.model, 0);
    poise_error error = {0};
    ck_assert_msg(poise_sensitivity_update(s, r.goals, MARKERS + 1, q, true, &error) == POISE_OK, "%s", error.text);
    poise_goal_change changes[MARKERS + 1] = {{.translation = {1, -0.5, 0.7}}};
    ck_assert_int_eq(poise_sensitivity_forward(s, changes, dq, NULL), POISE_OK);
    bool is_smooth = true;
    double h = edges ? 2e-3 : 1e-3, bound = edges ? 2e-5 * (1 + largest(dq, f.nv)) : 1e-6 * largest(dq, f.nv);
    for (int end = 0; end < 4; ++end) {
        static const double places[4] = {-2, -1, 1, 2};
        solve_moved(&f, r.goals, changes[0].translation, places[end] * h, edges == 0, q, ends[end]);
        ck_assert_int_eq(poise_difference(f.model, q, ends[end], step[end], NULL), POISE_OK);
        is_smooth = is_smooth && same_limits(&f, q, ends[end]) && largest(step[end], f.nv) < 0.05; // no other valley
    }
    swings_at_edges += is_smooth ? edges : 0;
    solves_compared += is_smooth;
    limits_reached += is_smooth && poise_sensitivity_describe(s).held > 0;
    for (int i = 0; i < f.nv && is_smooth; ++i) {
        double measured = (8 * (step[2][i] - step[1][i]) - (step[3][i] - step[0][i])) / (12 * h);
        ck_assert_msg(fabs(measured - dq[i]) <= bound, "component %d: %.9g, measured %.9g (%d at edges)", i, dq[i], measured,
                      edges);
    }
}

TEST(enough_solves_were_compared)
{
    ck_assert_msg(solves_compared >= 30 && swings_at_edges >= 3 && limits_reached >= 20,
                  "%d solves, %d swings at edges, %d at limits", solves_compared, swings_at_edges, limits_reached);
}

// ---- Poses that are met, and arms with a joint to spare ------------------------------------------------------------------

// Three hinges for a point of the plane: the least step that takes the tip along, orthogonal to the arm's own motion.
TEST(an_arm_with_joints_to_spare_takes_the_least_step)
{
    figure f = planar_arm(INFINITY);
    double q[3] = {0.4, 0.7, -0.3}, dq[3], J[9];
    memcpy(f.q, q, sizeof q);
    update(&f);
    poise_vec3 tip = poise_kinematics_point(f.kin, 2, poise_vec3_make(1, 0, 0));
    poise_goal goal = poise_goal_position(2, poise_vec3_make(1, 0, 0), tip);
    poise_sensitivity *s = sensitivity_of(f.model, 0);
    poise_goal_change change = {.translation = {0.3, -0.8, 0}};
    ck_assert_int_eq(poise_sensitivity_update(s, &goal, 1, q, true, NULL), POISE_OK);
    ck_assert_int_eq(poise_sensitivity_forward(s, &change, dq, NULL), POISE_OK);
    ck_assert_int_eq(poise_kinematics_jacobian(f.kin, 2, poise_vec3_make(1, 0, 0), J, NULL, NULL), POISE_OK);
    double null[3] = {J[1] * J[5] - J[2] * J[4], J[2] * J[3] - J[0] * J[5], J[0] * J[4] - J[1] * J[3]};
    ck_assert_double_eq_tol(J[0] * dq[0] + J[1] * dq[1] + J[2] * dq[2], 0.3, 1e-12);
    ck_assert_double_eq_tol(J[3] * dq[0] + J[4] * dq[1] + J[5] * dq[2], -0.8, 1e-12);
    ck_assert_double_eq_tol(null[0] * dq[0] + null[1] * dq[1] + null[2] * dq[2], 0.0, 1e-12);
}

// Answers that meet their pose, to the bit and nearly, and one that does not: as each by itself.
TEST_ROWS(rows_of_poses_are_those_of_single_answers, 40)
{
    static const double off[] = {0, 1e-9, 0.1};
    enum { COUNT = sizeof off / sizeof *off };
    scene_random random = scene_random_make(500 + (uint64_t)test_row);
    unsigned features = RANDOM_LIMITS | (test_row % 4 == 1 ? RANDOM_MIMICS : 0) | (test_row % 4 == 2 ? RANDOM_CURVES : 0);
    figure f = random_figure(&random, 2 * JOINTS, features);
    int moved, body = poise_model_info(f.model).joints - 1;
    ck_assert_int_eq(poise_model_clamp(f.model, f.q, &moved, NULL), POISE_OK);
    update(&f);
    poise_pose local = {scene_random_rotation(&random), random_vector(&random, 0.2)};
    poise_pose at = poise_pose_multiply(poise_kinematics_body_pose(f.kin, body), local), targets[COUNT];
    poise_goal goal = poise_goal_pose(body, local, at);
    double q[COUNT * FIGURE_NUMBERS], by_q[COUNT * FIGURE_NUMBERS], rows[COUNT][6];
    for (int i = 0; i < COUNT; ++i) {
        targets[i] = at;
        targets[i].position.x += off[i];
        memcpy(q + i * f.nq, f.q, (size_t)f.nq * sizeof *q);
        random_step(&random, f.model, 1.0, by_q + i * f.nv);
    }
    poise_sensitivity *s = sensitivity_of(f.model, 0);
    ck_assert_int_eq(poise_sensitivity_poses(s, &goal, targets, q, by_q, COUNT, rows[0], NULL, NULL), POISE_OK);
    double kept = by_q[0];
    by_q[0] = NAN;
    ck_assert_int_eq(poise_sensitivity_poses(s, &goal, targets, q, by_q, 1, (double[6]){0}, NULL, NULL),
                     POISE_ERROR_ARGUMENT);
    by_q[0] = kept;
    for (int i = 0; i < COUNT; ++i) {
        poise_goal_change g = {0};
        goal.target = targets[i];
        poise_status status = poise_sensitivity_update(s, &goal, 1, f.q, true, NULL);
        ck_assert(status == POISE_OK || status == POISE_ERROR_NUMERIC);
        if (status == POISE_OK) {
            ck_assert_int_eq(poise_sensitivity_backward(s, by_q + i * f.nv, &g, NULL, NULL, NULL), POISE_OK);
        }
        double size = 0.0;
        for (int k = 0; k < 6; ++k) {
            size = fmax(size, fabs(*parameter(&g, k)));
        }
        for (int k = 0; k < 6; ++k) {
            ck_assert_msg(fabs(rows[i][k] - *parameter(&g, k)) <= 1e-5 * size, "answer %d, number %d: %.9g, by itself %.9g",
                          i, k, rows[i][k], *parameter(&g, k));
        }
    }
}

// Answers of an arm side by side are those of each by itself: met and nearly, not met, at a limit with the target beyond it,
// with a joint that its limits hold for good, more rows than lanes.
TEST_ROWS(arms_side_by_side_are_those_of_single_answers, 24)
{
    enum { COUNT = 37, NUMBERS = 16 };
    scene_random random = scene_random_make(900 + (uint64_t)test_row);
    test_arm arm = arm_random(&random, 6 + test_row % 4, test_row % 8 == 7 ? ARM_SLIDES : ARM_CONTINUOUS | ARM_FIXED);
    figure f = figure_of(arm.model);
    double q[COUNT * NUMBERS], by_q[COUNT * NUMBERS], rows[COUNT][6];
    int moved;
    poise_pose targets[COUNT];
    poise_model_summary info = poise_model_info(arm.model);
    for (int i = 0; i < COUNT; ++i) {
        double *at = q + i * f.nq;
        random_step(&random, f.model, 1.0, at);
        at[i % f.nq] = i % 4 == 3 && isfinite(info.upper[i % f.nq]) ? info.upper[i % f.nq] : at[i % f.nq];
        ck_assert_int_eq(poise_model_clamp(f.model, at, &moved, NULL), POISE_OK);
        targets[i] = arm_pose(&arm, at);
        targets[i].position.x += i % 5 == 1 ? 1e-9 : i % 5 == 2 ? 0.05 : i % 5 == 3 ? -1e-7 : 0;
        random_step(&random, f.model, 1.0, by_q + i * f.nv);
    }
    poise_goal goal = poise_goal_pose(arm.body, arm.tip, targets[0]);
    goal.weight = 3.0;
    poise_sensitivity *s = sensitivity_of(f.model, 0);
    ck_assert_int_eq(poise_sensitivity_poses(s, &goal, targets, q, by_q, COUNT, rows[0], NULL, NULL), POISE_OK);
    for (int i = 0; i < COUNT; ++i) {
        double one[6];
        ck_assert_int_eq(poise_sensitivity_poses(s, &goal, &targets[i], q + i * f.nq, by_q + i * f.nv, 1, one, NULL, NULL),
                         POISE_OK);
        double size = largest(one, 6);
        for (int k = 0; k < 6; ++k) {
            ck_assert_msg(fabs(rows[i][k] - one[k]) <= 1e-6 * size, "answer %d, number %d: %.9g, by itself %.9g", i, k,
                          rows[i][k], one[k]);
        }
    }
    q[17 * f.nq] = NAN;
    ck_assert_int_eq(poise_sensitivity_poses(s, &goal, targets, q, by_q, COUNT, rows[0], NULL, NULL), POISE_ERROR_ARGUMENT);
}

// Rows: joints less 6. The general way would give the same numbers, later.
TEST_ROWS(poses_that_an_arm_meets_go_the_short_way, 2)
{
    enum { COUNT = 8, NUMBERS = 8, ARMS = 20 };
    scene_random random = scene_random_make(1300 + (uint64_t)test_row);
    int asked = 0, alone = 0, together = 0;
    for (int round = 0; round < ARMS; ++round) {
        test_arm arm = arm_random(&random, 6 + test_row, ARM_CONTINUOUS);
        figure f = figure_of(arm.model);
        double q[COUNT * NUMBERS], by_q[COUNT * NUMBERS], rows[COUNT][6];
        poise_pose targets[COUNT];
        for (int i = 0; i < COUNT; ++i) {
            random_step(&random, f.model, 1.0, q + i * f.nq);
            random_step(&random, f.model, 1.0, by_q + i * f.nv);
            targets[i] = arm_pose(&arm, q + i * f.nq);
        }
        poise_goal goal = poise_goal_pose(arm.body, arm.tip, targets[0]);
        poise_sensitivity *s = sensitivity_of(f.model, 0);
        ck_assert_int_eq(poise_sensitivity_poses(s, &goal, targets, q, by_q, COUNT, rows[0], NULL, NULL), POISE_OK);
        if (!s->is_arm) { // a processor without registers of four
            continue;
        }
        const pz_pose_lanes *lanes = &s->path.arm;
        unsigned served = lanes->lanes == 8 ? pz_pose_kernel_8.gradients(lanes, targets, q, by_q, COUNT, rows[0])
                                            : pz_pose_kernel_4.gradients(lanes, targets, q, by_q, 4, rows[0]);
        asked += lanes->lanes;
        for (int i = 0; i < lanes->lanes; ++i) {
            together += (served & 1u << i) != 0;
            alone += pz_pose_gradient_arm(lanes, &targets[i], q + i * f.nq, by_q + i * f.nv, rows[0]);
        }
    }
    ck_assert_msg(alone >= 0.9 * asked && together >= 0.9 * asked, "%d and %d of %d", alone, together, asked);
}

// A chain that is straight has no derivative for the pose that it meets; one that is nearly so has, and a large one.
TEST_ROWS(singular_answers_have_no_derivative, 7)
{
    static const double bend[] = {0.3, 1e-2, 1e-4, 1e-6, 1e-7, 1e-11, 0};
    poise_builder *builder = new_builder();
    static const char *const names[] = {"a", "b", "c", "d", "e", "f"};
    for (int i = 0; i < 6; ++i) {
        poise_joint joint = joint_of(names[i], i ? names[i - 1] : NULL, POISE_JOINT_REVOLUTE);
        joint.offset.position.x = i ? 0.3 : 0.0;
        joint.axis = poise_vec3_make(i == 0 || i == 4, i == 3, i != 0 && i != 4 && i != 3);
        add(builder, &joint);
    }
    figure f = figure_of(model_of(builder));
    memcpy(f.q, (const double[]){0.3, -0.4, bend[test_row], 0, 0.6, 0.7}, 6 * sizeof *f.q);
    f.q[3] = bend[test_row];
    update(&f);
    poise_pose tip = {{0, 0, 0, 1}, {0.2, 0, 0}}, targets[2];
    targets[0] = targets[1] = poise_pose_multiply(poise_kinematics_body_pose(f.kin, 5), tip);
    poise_goal goal = poise_goal_pose(5, tip, targets[0]);
    poise_sensitivity *s = sensitivity_of(f.model, 0);
    double q[12], by_q[12] = {1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6}, rows[12], dq[6], J[36];
    bool defined[2], expected = bend[test_row] > 1e-8;
    memcpy(q, f.q, 6 * sizeof *q);
    memcpy(q + 6, f.q, 6 * sizeof *q);
    poise_error error = {0};
    ck_assert_int_eq(poise_sensitivity_poses(s, &goal, targets, q, by_q, 2, rows, defined, NULL), POISE_OK);
    ck_assert_msg(defined[0] == expected && defined[1] == expected, "bent by %g", bend[test_row]);
    poise_status status = poise_sensitivity_update(s, &goal, 1, f.q, true, &error);
    ck_assert_msg(status == (expected ? POISE_OK : POISE_ERROR_NUMERIC), "bent by %g: %s", bend[test_row], error.text);
    if (!expected) {
        ck_assert_ptr_nonnull(strstr(error.text, "singular"));
        ck_assert(rows[0] == 0 && rows[11] == 0);
        return;
    }
    ck_assert_int_eq(poise_kinematics_jacobian(f.kin, 5, tip.position, J, J + 18, NULL), POISE_OK);
    poise_goal_change change = {.translation = {0.3, -0.8, 0.5}, .rotation = {0.1, 0.2, -0.4}};
    ck_assert_int_eq(poise_sensitivity_forward(s, &change, dq, NULL), POISE_OK);
    for (int i = 0; i < 6; ++i) {
        double along = 0;
        for (int k = 0; k < 6; ++k) {
            along += J[6 * i + k] * dq[k];
        }
        ck_assert_double_eq_tol(along, *parameter(&change, i), 1e-11 * (10 + largest(dq, 6)));
    }
}

// A q beside the minimum is no answer, whatever the weights and lengths of the problem are; one within rounding of it is.
TEST_ROWS(only_a_minimum_has_a_derivative, 4)
{
    const double unit = test_row & 1 ? 1000.0 : 1.0, weight = test_row & 2 ? 1e-6 : 1.0; // millimetres, weak goals
    poise_builder *builder = new_builder();
    static const char *const names[] = {"slide", "a", "b"};
    for (int i = 0; i < 3; ++i) {
        poise_joint joint = joint_of(names[i], i ? names[i - 1] : NULL, i ? POISE_JOINT_REVOLUTE : POISE_JOINT_PRISMATIC);
        joint.offset.position.x = i ? unit : 0.0;
        add(builder, &joint);
    }
    figure f = figure_of(model_of(builder));
    double held[3] = {0.1 * unit, 0.3, 0.5}, weights[3] = {1.0 / (unit * unit), 1, 1}, q[3];
    poise_goal goals[2] = {poise_goal_position(2, poise_vec3_make(unit, 0, 0), poise_vec3_make(unit, unit, 0)),
                           poise_goal_posture(held, 0.2 * weight * unit * unit)};
    goals[0].weight = weight;
    goals[1].q_weights = weights;
    poise_sensitivity *s = sensitivity_of(f.model, 0);
    memcpy(f.q, held, sizeof held);
    solve_to_the_end(f.model, goals, 2, f.q);
    for (int i = 0; i < 3; ++i) {
        const double off[] = {0, 1e-9, 1e-5, 5e-3, 0.1};
        for (int k = 0; k < 5; ++k) {
            poise_error error = {0};
            memcpy(q, f.q, sizeof q);
            q[i] += off[k] * (i == 0 ? unit : 1.0);
            poise_status status = poise_sensitivity_update(s, goals, 2, q, true, &error);
            ck_assert_msg(status == (off[k] > 1e-3 ? POISE_ERROR_NUMERIC : POISE_OK), "%s off by %g: %s", names[i], off[k],
                          error.text);
            ck_assert(status == POISE_OK || (strstr(error.text, "not a minimum") && !poise_sensitivity_describe(s).limits));
        }
    }
}

// An arm of a ball, a hinge and a ball, whose pose has the rotation that is asked for and misses the place by a hundredth
// of a link. Rows: lengths of a link.
TEST_ROWS(a_pose_that_is_beside_its_place_is_no_answer_in_any_unit, 3)
{
    static const double units[] = {1e-3, 1, 1e3};
    double unit = units[test_row];
    poise_builder *builder = new_builder();
    static const char *const names[] = {"shoulder", "elbow", "wrist"};
    for (int i = 0; i < 3; ++i) {
        poise_joint joint =
            joint_of(names[i], i ? names[i - 1] : NULL, i == 1 ? POISE_JOINT_REVOLUTE : POISE_JOINT_BALL_QUATERNION);
        joint.offset.position.x = i ? unit : 0.0;
        add(builder, &joint);
    }
    figure f = figure_of(model_of(builder));
    f.q[4] = 0.7;
    update(&f);
    poise_pose tip = {{0, 0, 0, 1}, {unit, 0, 0}};
    poise_goal goal = poise_goal_pose(2, tip, poise_pose_multiply(poise_kinematics_body_pose(f.kin, 2), tip));
    goal.weight = 1.0 / (unit * unit);
    poise_sensitivity *s = sensitivity_of(f.model, 0);
    ck_assert_int_eq(poise_sensitivity_update(s, &goal, 1, f.q, true, NULL), POISE_OK);
    goal.target.position.x += 1e-2 * unit;
    ck_assert_int_eq(poise_sensitivity_update(s, &goal, 1, f.q, true, NULL), POISE_ERROR_NUMERIC);
}

TEST(what_makes_no_sense_is_refused)
{
    figure f = planar_arm(INFINITY);
    poise_sensitivity *s = NULL;
    poise_goal_change change = {0};
    poise_error error = {0};
    double dq[3] = {0};
    ck_assert_int_eq(poise_sensitivity_create(NULL, 0, NULL, &s, &error), POISE_ERROR_ARGUMENT);
    s = sensitivity_of(f.model, 0);
    ck_assert_int_eq(poise_sensitivity_forward(s, &change, dq, &error), POISE_ERROR_ARGUMENT);
    // stretched out away from its target: a maximum
    poise_goal goal = poise_goal_position(2, poise_vec3_make(1, 0, 0), poise_vec3_make(-1, 0, 0));
    double q[3] = {0};
    ck_assert_int_eq(poise_sensitivity_update(s, &goal, 1, q, true, &error), POISE_ERROR_NUMERIC);
    ck_assert_ptr_nonnull(strstr(error.text, "not a minimum"));
    ck_assert_int_eq(poise_sensitivity_backward(s, dq, &change, NULL, NULL, &error), POISE_ERROR_ARGUMENT);
    ck_assert_ptr_null(poise_sensitivity_describe(s).limits);
    goal.target.position.x = 4;
    ck_assert_int_eq(poise_sensitivity_update(s, &goal, 1, q, true, &error), POISE_OK);
    dq[1] = NAN;
    ck_assert_int_eq(poise_sensitivity_backward(s, dq, &change, NULL, NULL, &error), POISE_ERROR_ARGUMENT);
    dq[1] = 7.0;
    double *const members[] = {&change.translation.y, &change.rotation.z, &change.weight, &change.rotation_weight};
    for (size_t i = 0; i < TEST_COUNT(members); ++i) {
        *members[i] = i % 2 ? NAN : INFINITY;
        ck_assert_int_eq(poise_sensitivity_forward(s, &change, dq, &error), POISE_ERROR_ARGUMENT);
        *members[i] = 0.0;
    }
    change.translation = poise_vec3_make(DBL_MAX, DBL_MAX, DBL_MAX);
    ck_assert_int_eq(poise_sensitivity_forward(s, &change, dq, &error), POISE_ERROR_NUMERIC);
    ck_assert_double_eq(dq[1], 7.0);
}

// A point on a line of the largest numbers, and a loss that grows as fast.
TEST(gradients_that_are_too_large_to_represent_are_refused)
{
    figure f = planar_arm(INFINITY);
    poise_sensitivity *s = sensitivity_of(f.model, 0);
    poise_error error = {0};
    poise_goal line = poise_goal_line(2, poise_vec3_make(1, 0, -1e200), poise_vec3_make(4, 0, 0), poise_vec3_make(0, 0, 1));
    poise_goal pull = poise_goal_position(2, poise_vec3_make(1, 0, 0), poise_vec3_make(4, 0, 0));
    const struct {
        const poise_goal *goal;
        double dL_dq;
    } rows[] = {{&line, 1.0}, {&pull, DBL_MAX}};
    for (size_t i = 0; i < TEST_COUNT(rows); ++i) {
        double q[3] = {0}, dL_dq[3] = {rows[i].dL_dq, rows[i].dL_dq, rows[i].dL_dq};
        poise_goal_change change = {.weight = 7.0};
        ck_assert_int_eq(poise_sensitivity_update(s, rows[i].goal, 1, q, true, &error), POISE_OK);
        ck_assert_int_eq(poise_sensitivity_backward(s, dL_dq, &change, NULL, NULL, &error), POISE_ERROR_NUMERIC);
        ck_assert_double_eq(change.weight, 7.0);
    }
}

// ---- Sensitivity limits -------------------------------------------------------------------------------------------------
//
// Derivatives of answers that limits hold, or that touch one.

TEST(answers_follow_the_limit_that_holds_them)
{
    const double h = 1e-3;
    poise_goal goal = poise_goal_position(2, poise_vec3_make(1, 0, 0), poise_vec3_make(-0.3, 1.1, 0));
    double held[3] = {0.2, 0.3, 0.1}, ends[3][3], by_q[3] = {0.3, -1, 0.7}, lower[3], upper[3], expected = 0.0;
    poise_goal goals[2] = {goal, poise_goal_posture(held, 0.1)};
    figure middle = planar_arm(0.4);
    for (int end = 0; end < 3; ++end) {
        figure f = end == 1 ? middle : planar_arm(0.4 + (end - 1) * h);
        memcpy(ends[end], held, sizeof held);
        solve_to_the_end(f.model, goals, 2, ends[end]);
        ck_assert_double_eq(ends[end][1], 0.4 + (end - 1) * h);
    }
    for (int i = 0; i < 3; ++i) {
        expected += by_q[i] * (ends[2][i] - ends[0][i]) / (2 * h);
    }
    poise_sensitivity *s = sensitivity_of(middle.model, 0);
    poise_goal_change gradients[2] = {0};
    ck_assert_int_eq(poise_sensitivity_update(s, goals, 2, ends[1], true, NULL), POISE_OK);
    ck_assert_int_eq(poise_sensitivity_backward(s, by_q, gradients, lower, upper, NULL), POISE_OK);
    ck_assert_double_eq_tol(upper[1], expected, 1e-5);
    ck_assert(upper[0] == 0 && upper[2] == 0 && lower[1] == 0);
    // without limits there is none to follow
    memcpy(ends[0], held, sizeof held);
    solve_to_the_end(planar_arm(INFINITY).model, goals, 2, ends[0]);
    ck_assert_int_eq(poise_sensitivity_update(s, goals, 2, ends[0], false, NULL), POISE_OK);
    ck_assert_int_eq(poise_sensitivity_backward(s, by_q, gradients, lower, upper, NULL), POISE_OK);
    ck_assert(upper[1] == 0);
}

// At a limit that nothing pushes against, forward follows the side that its change goes to.
TEST_ROWS(a_limit_that_is_touched_counts_on_one_side, 2)
{
    const double h = 1e-4;
    figure f = planar_arm(0.4);
    double q[3] = {0.2, 0.4, 0.3}, dq[3], moved[3], way = test_row ? 1.0 : -1.0;
    memcpy(f.q, q, sizeof q);
    update(&f);
    poise_pose tip = {{0, 0, 0, 1}, {1, 0, 0}};
    poise_pose at = poise_pose_multiply(poise_kinematics_body_pose(f.kin, 2), tip);
    poise_goal goal = poise_goal_pose(2, tip, at), further = goal;
    poise_sensitivity *s = sensitivity_of(f.model, 0);
    ck_assert_int_eq(poise_sensitivity_update(s, &goal, 1, q, true, NULL), POISE_OK);
    poise_sensitivity_info info = poise_sensitivity_describe(s);
    ck_assert(info.touching == 1 && info.held == 0 && info.limits[1] == POISE_TOUCHES_UPPER);
    poise_goal_change change = {.translation = {way * at.position.x, way * at.position.y, 0}}; // out: the arm straightens
    ck_assert_int_eq(poise_sensitivity_forward(s, &change, dq, NULL), POISE_OK);
    double slope[2][3];
    for (int half = 0; half < 2; ++half) {
        double by = half ? h / 2 : h;
        further.target.position.x = at.position.x + by * change.translation.x;
        further.target.position.y = at.position.y + by * change.translation.y;
        memcpy(moved, q, sizeof q);
        solve_to_the_end(f.model, &further, 1, moved);
        for (int i = 0; i < 3; ++i) {
            slope[half][i] = (moved[i] - q[i]) / by;
        }
    }
    ck_assert_msg((dq[1] == 0) == (way < 0), "the joint that touches moves by %g", dq[1]);
    for (int i = 0; i < 3; ++i) { // of second order
        ck_assert_double_eq_tol(2 * slope[1][i] - slope[0][i], dq[i], 1e-4 * (1 + largest(dq, 3)));
    }
    ck_assert_int_eq(poise_sensitivity_describe(s).touching, 1); // as before
}

// Limits that are one number hold a joint whatever pushes it.
TEST(a_joint_between_limits_that_are_one_does_not_move)
{
    poise_builder *builder = new_builder();
    static const char *const names[] = {"a", "b", "c", "d"};
    for (int i = 0; i < 4; ++i) {
        poise_joint joint = joint_of(names[i], i ? names[i - 1] : NULL, POISE_JOINT_REVOLUTE);
        joint.offset.position.x = i ? 1.0 : 0.0;
        joint.lower[0] = i == 1 ? 0.4 : -INFINITY;
        joint.upper[0] = i == 1 ? 0.4 : INFINITY;
        add(builder, &joint);
    }
    figure f = figure_of(model_of(builder));
    memcpy(f.q, (const double[]){0.3, 0.4, 0.5, -0.2}, 4 * sizeof *f.q);
    update(&f);
    poise_goal goal =
        poise_goal_position(3, poise_vec3_make(1, 0, 0), poise_kinematics_point(f.kin, 3, poise_vec3_make(1, 0, 0)));
    poise_sensitivity *s = sensitivity_of(f.model, 0);
    poise_goal_change change = {.translation = {0.3, -0.8, 0}};
    double dq[4];
    ck_assert_int_eq(poise_sensitivity_update(s, &goal, 1, f.q, true, NULL), POISE_OK);
    ck_assert_int_eq(poise_sensitivity_forward(s, &change, dq, NULL), POISE_OK);
    ck_assert(dq[1] == 0.0 && dq[0] != 0.0);
}

// Three slides and three hinges: every pose in reach is met to the last bit, and one beyond the end of a slide by its
// distance alone, where the limit holds the slide until the target is back in reach.
TEST(a_pose_that_is_missed_by_its_distance_alone_is_held_by_the_limit)
{
    poise_builder *builder = new_builder();
    static const char *const names[] = {"x", "y", "z", "yaw", "pitch", "roll"};
    for (int i = 0; i < 6; ++i) {
        poise_joint joint =
            joint_of(names[i], i ? names[i - 1] : NULL, i < 3 ? POISE_JOINT_PRISMATIC : POISE_JOINT_REVOLUTE);
        joint.axis = poise_vec3_make(i == 0 || i == 5, i == 1 || i == 4, i == 2 || i == 3);
        joint.upper[0] = i == 0 ? 1.0 : INFINITY;
        add(builder, &joint);
    }
    figure f = figure_of(model_of(builder));
    memcpy(f.q, (const double[]){1.0, 0.2, -0.3, 0.4, 0.5, -0.6}, 6 * sizeof *f.q);
    update(&f);
    poise_pose here = {{0, 0, 0, 1}, {0, 0, 0}}, target = poise_kinematics_body_pose(f.kin, 5);
    target.position.x += 0.5;
    poise_goal goal = poise_goal_pose(5, here, target);
    poise_sensitivity *s = sensitivity_of(f.model, 0);
    poise_goal_change change = {.translation = {-1, 1, 0}}; // towards the limit, and along it
    double dq[6];
    ck_assert_int_eq(poise_sensitivity_update(s, &goal, 1, f.q, true, NULL), POISE_OK);
    ck_assert_int_eq(poise_sensitivity_forward(s, &change, dq, NULL), POISE_OK);
    ck_assert_msg(dq[0] == 0.0 && fabs(dq[1] - 1.0) < 1e-12, "%g, %g", dq[0], dq[1]);
}

// ---- Sensitivity open ---------------------------------------------------------------------------------------------------
//
// Derivatives of answers whose goals leave coordinates open, or nearly.

// An arm of two links, nearly straight, below a target that is out of its plane: beside rounding it may not be off by what
// the curvature along its length, the square of the bend, tells from none.
TEST(a_missed_answer_that_is_nearly_singular_must_be_as_exact_as_its_curvature_asks)
{
    static const double off[] = {0, 1e-6};
    poise_builder *builder = new_builder();
    poise_joint first = joint_of("first", NULL, POISE_JOINT_REVOLUTE),
                second = joint_of("second", "first", POISE_JOINT_REVOLUTE);
    second.offset.position.x = 1;
    add(builder, &first);
    add(builder, &second);
    figure f = figure_of(model_of(builder));
    f.q[0] = 0.3, f.q[1] = 3e-4;
    update(&f);
    poise_vec3 tip = {1, 0, 0}, place = poise_kinematics_point(f.kin, 1, tip);
    place.z += 0.5;
    poise_goal goal = poise_goal_position(1, tip, place);
    poise_sensitivity *s = sensitivity_of(f.model, 0);
    for (int i = 0; i < 2; ++i) {
        poise_error error = {0};
        double q[2] = {f.q[0] + off[i], f.q[1]}, dq[2], J[6];
        poise_status status = poise_sensitivity_update(s, &goal, 1, q, true, &error);
        ck_assert_msg(status == (i == 0 ? POISE_OK : POISE_ERROR_NUMERIC), "off by %g: %s", off[i], error.text);
        if (status != POISE_OK) {
            ck_assert_ptr_nonnull(strstr(error.text, "no derivative"));
            continue;
        }
        poise_goal_change change = {.translation = {0.3, -0.8, 0}};
        ck_assert_int_eq(poise_sensitivity_forward(s, &change, dq, NULL), POISE_OK);
        ck_assert_int_eq(poise_kinematics_jacobian(f.kin, 1, tip, J, NULL, NULL), POISE_OK);
        ck_assert_double_eq_tol(J[0] * dq[0] + J[1] * dq[1], 0.3, 1e-6);
        ck_assert_double_eq_tol(J[2] * dq[0] + J[3] * dq[1], -0.8, 1e-6);
    }
}

// Two arms of two links, all nearly straight: the least pivots are small, and yet each tip goes where its target does.
TEST(arms_that_are_nearly_straight_follow_their_targets)
{
    poise_builder *builder = new_builder();
    static const char *const names[] = {"a", "b", "c", "d"};
    for (int i = 0; i < 4; ++i) {
        poise_joint joint = joint_of(names[i], i % 2 ? names[i - 1] : NULL, POISE_JOINT_REVOLUTE);
        joint.offset.position.x = i % 2;
        add(builder, &joint);
    }
    figure f = figure_of(model_of(builder));
    memcpy(f.q, (const double[]){0.3, 3e-4, -0.8, 5e-4}, 4 * sizeof *f.q);
    update(&f);
    poise_vec3 tip = {1, 0, 0};
    poise_goal goals[2] = {poise_goal_position(1, tip, poise_kinematics_point(f.kin, 1, tip)),
                           poise_goal_position(3, tip, poise_kinematics_point(f.kin, 3, tip))};
    poise_goal_change changes[2] = {{.translation = {0.3, -0.8, 0}}, {.translation = {0.5, 0.1, 0}}};
    poise_sensitivity *s = sensitivity_of(f.model, 0);
    double dq[4], J[12];
    ck_assert_int_eq(poise_sensitivity_update(s, goals, 2, f.q, true, NULL), POISE_OK);
    ck_assert_int_eq(poise_sensitivity_forward(s, changes, dq, NULL), POISE_OK);
    for (int g = 0; g < 2; ++g) {
        ck_assert_int_eq(poise_kinematics_jacobian(f.kin, goals[g].body, tip, J, NULL, NULL), POISE_OK);
        for (int k = 0; k < 2; ++k) {
            double along = J[4 * k] * dq[0] + J[4 * k + 1] * dq[1] + J[4 * k + 2] * dq[2] + J[4 * k + 3] * dq[3];
            ck_assert_double_eq_tol(along, k == 0 ? changes[g].translation.x : changes[g].translation.y, 1e-5);
        }
    }
}

// Six hinges in a plane and a target beside it, which leaves most of them open; memory of zeros, and of large negative
// numbers, also behind all that is used.
TEST(derivatives_do_not_depend_on_what_was_in_the_memory)
{
    static const int fills[] = {0x00, 0xc5};
    static _Alignas(64) unsigned char block[1 << 17];
    poise_builder *builder = new_builder();
    static const char *const names[] = {"a", "b", "c", "d", "e", "f"};
    for (int i = 0; i < 6; ++i) {
        poise_joint joint = joint_of(names[i], i ? names[i - 1] : NULL, POISE_JOINT_REVOLUTE);
        joint.offset.position.x = i ? 1.0 : 0.0;
        add(builder, &joint);
    }
    figure f = figure_of(model_of(builder));
    memcpy(f.q, (const double[]){0.3, 0.4, -0.5, 0.6, 0.2, -0.7}, 6 * sizeof *f.q);
    update(&f);
    poise_vec3 tip = {1, 0, 0}, place = poise_kinematics_point(f.kin, 5, tip);
    place.z += 0.5;
    poise_goal goal = poise_goal_position(5, tip, place);
    poise_goal_change change = {.translation = {0.3, -0.8, 0}}, back[2] = {0};
    double dq[2][6];
    for (int i = 0; i < 2; ++i) {
        poise_memory memory = {.base = block, .size = sizeof block};
        poise_allocator own = poise_memory_allocator(&memory);
        poise_sensitivity *s = NULL;
        poise_error error = {0};
        memset(block, fills[i], sizeof block);
        ck_assert_int_eq(poise_sensitivity_create(f.model, 0, &own, &s, NULL), POISE_OK);
        ck_assert_msg(poise_sensitivity_update(s, &goal, 1, f.q, true, &error) == POISE_OK, "%s", error.text);
        ck_assert_int_eq(poise_sensitivity_forward(s, &change, dq[i], NULL), POISE_OK);
        ck_assert_int_eq(poise_sensitivity_backward(s, dq[i], &back[i], NULL, NULL, NULL), POISE_OK);
        poise_sensitivity_destroy(s);
    }
    ck_assert_mem_eq(dq[0], dq[1], sizeof dq[0]);
    ck_assert_mem_eq(&back[0], &back[1], sizeof back[0]);
}
