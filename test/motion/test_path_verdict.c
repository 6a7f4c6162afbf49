// Joints that leap along a tool path: found where the arm takes another answer, and nowhere else.
#include "scenes/random.h"
#include "scenes/scenes.h"
#include "support/own.h"
#include "support/test_main.h"

#include <poise/verdict.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DEGREE 0.017453292519943295

enum { POSES = 60, MOST = 16, FINDINGS = 8 };

// TEST_PATHS: paths of each kind.
static uint64_t paths(uint64_t usual)
{
    const char *text = getenv("TEST_PATHS");
    return text ? (uint64_t)atoi(text) : usual;
}

typedef struct walk {
    poise_model *model;
    int nq, poses;
    double q[POSES * MOST];
    poise_verdict verdict;
    poise_finding findings[FINDINGS];
} walk;

static void judge(walk *w, const char *tool, double step)
{
    poise_path_problem problem = poise_path_problem_default();
    problem.model = w->model, problem.q = w->q, problem.poses = w->poses;
    problem.body = tool ? poise_model_find_part(w->model, tool, &problem.local, NULL) : POISE_NONE;
    problem.thresholds.doubtful[POISE_FINDING_LEAPT] = step;
    ck_assert_int_eq(poise_path_judge(&problem, NULL, &w->verdict, w->findings, FINDINGS, NULL), POISE_OK);
}

// One joint after the other goes from q by `step` a pose, back and forth.
static walk walk_of(const char *scene, double step, int poses, uint64_t seed)
{
    walk w = {.poses = poses};
    scene_random random = scene_random_make(seed);
    ck_assert_int_eq(scene_create(scene, NULL, &w.model, NULL), POISE_OK);
    w.nq = poise_model_info(w.model).nq;
    ck_assert_int_le(w.nq, MOST);
    scene_random_configuration(&random, w.model, w.q);
    for (int i = 1; i < poses; ++i) {
        double *q = w.q + i * w.nq;
        memcpy(q, q - w.nq, sizeof *q * (size_t)w.nq);
        for (int k = 0; k < w.nq; ++k) {
            q[k] += step * (scene_random_uniform(&random) > 0.5 ? 1 : -1);
        }
        poise_model_clamp(w.model, q, NULL, NULL);
    }
    return w;
}

TEST(joints_that_go_gently_do_not_leap)
{
    for (uint64_t seed = 1; seed <= paths(20); ++seed) {
        walk w = walk_of(seed % 2 ? "arm6" : "arm7", 5 * DEGREE, POSES, seed);
        judge(&w, "tip", 7 * DEGREE);
        ck_assert_int_eq(w.verdict.level, POISE_VERDICT_GOOD);
        ck_assert_int_eq(w.verdict.count, 0);
        ck_assert_double_eq_tol(w.verdict.worst[POISE_FINDING_LEAPT], 5 * DEGREE, 1e-12);
        judge(&w, NULL, 4 * DEGREE); // without a tool nothing excuses a step
        ck_assert_int_eq(w.verdict.level, POISE_VERDICT_DOUBTFUL);
        poise_model_destroy(w.model);
    }
}

// The tool stays where it is, or goes on by a little, and the arm takes another of its answers.
TEST(another_answer_is_a_leap_by_pose_and_joint)
{
    poise_solver_options options = poise_solver_options_default();
    options.restarts = 500;
    int leaps = 0;
    for (uint64_t seed = 1; seed <= paths(40); ++seed) {
        walk w = walk_of("arm6", 0.5 * DEGREE, POSES, seed);
        poise_solver *solver;
        poise_goal goal = poise_goal_pose(0, poise_pose_identity(), poise_pose_identity());
        ck_assert_int_eq(poise_goal_at_tool(&goal, w.model, "tip", NULL), POISE_OK);
        ck_assert_int_eq(poise_solver_create(w.model, &options, NULL, &solver, NULL), POISE_OK);
        poise_kinematics *kin;
        ck_assert_int_eq(poise_kinematics_create(w.model, NULL, &kin, NULL), POISE_OK);
        poise_kinematics_update(kin, w.q + 30 * w.nq, NULL);
        goal.target = poise_pose_multiply(poise_kinematics_body_pose(kin, goal.body), goal.local);
        double answers[8 * MOST], most = 0;
        int count, joint = 0;
        ck_assert_int_eq(poise_solve_all(solver, &goal, w.q + 30 * w.nq, answers, 8, &count, NULL, NULL), POISE_OK);
        if (count > 1) {
            const double *last = answers + (count - 1) * w.nq;
            memcpy(w.q + 30 * w.nq, last, sizeof *last * (size_t)w.nq);
            for (int k = 0; k < w.nq; ++k) {
                double step = fabs(last[k] - w.q[29 * w.nq + k]);
                joint = step > most ? k : joint;
                most = fmax(most, step);
            }
            judge(&w, "tip", 7 * DEGREE);
            if (most <= 8 * DEGREE) { // beside a singularity two answers lie next to each other
                count = 1;
            }
        }
        if (count > 1) {
            leaps += 1;
            ck_assert_int_ne(w.verdict.level, POISE_VERDICT_GOOD);
            ck_assert_int_eq(w.verdict.count, 2); // there, and back; the worse first
            const poise_finding *there = &w.findings[w.findings[0].first == 30 ? 0 : 1];
            const poise_finding *back = &w.findings[w.findings[0].first == 30 ? 1 : 0];
            ck_assert(there->first == 30 && there->last == 31 && back->first == 31);
            ck_assert_int_eq(there->level, most > 30 * DEGREE ? POISE_VERDICT_FAILED : POISE_VERDICT_DOUBTFUL);
            ck_assert_double_eq_tol(there->value, most, 1e-12);
            ck_assert_str_eq(there->name, poise_model_joint_info(w.model, joint).name);
        }
        poise_kinematics_destroy(kin);
        poise_solver_destroy(solver);
        poise_model_destroy(w.model);
    }
    ck_assert_int_gt(leaps, 20);
}

// Poses far apart, between which the arm follows its tool along the straight line, and an answer of another kind among them.
TEST(long_moves_of_the_tool_are_no_leaps)
{
    enum { BETWEEN = 40, FAR = 6 };
    int long_moves = 0, caught = 0;
    for (uint64_t seed = 1; seed <= paths(30); ++seed) {
        walk w = walk_of("arm6", 0, FAR, seed);
        poise_solver_options options = poise_solver_options_default();
        poise_solver *solver;
        poise_kinematics *kin;
        ck_assert_int_eq(poise_solver_create(w.model, &options, NULL, &solver, NULL), POISE_OK);
        ck_assert_int_eq(poise_kinematics_create(w.model, NULL, &kin, NULL), POISE_OK);
        poise_goal goal = poise_goal_pose(0, poise_pose_identity(), poise_pose_identity());
        ck_assert_int_eq(poise_goal_at_tool(&goal, w.model, "tip", NULL), POISE_OK);
        double q[MOST], before[MOST], swiftest = 0;
        memcpy(q, w.q, sizeof *q * (size_t)w.nq);
        poise_kinematics_update(kin, q, NULL);
        goal.target = poise_pose_multiply(poise_kinematics_body_pose(kin, goal.body), goal.local);
        for (int i = 1; i < FAR; ++i) { // 0.2 m each
            for (int k = 0; k < BETWEEN; ++k) {
                goal.target.position.y += (i % 2 ? 0.2 : -0.2) / BETWEEN;
                memcpy(before, q, sizeof q);
                poise_report report;
                ck_assert_int_eq(poise_solve(solver, &goal, 1, q, &report, NULL), POISE_OK);
                for (int j = 0; j < w.nq; ++j) {
                    swiftest = fmax(swiftest, fabs(q[j] - before[j]));
                }
                swiftest = report.outcome == POISE_OUTCOME_REACHED ? swiftest : INFINITY;
            }
            memcpy(w.q + i * w.nq, q, sizeof *q * (size_t)w.nq);
        }
        if (swiftest < 2 * DEGREE) {
            judge(&w, "tip", 7 * DEGREE);
            ck_assert_int_eq(w.verdict.level, POISE_VERDICT_GOOD);
            judge(&w, NULL, 7 * DEGREE);
            long_moves += w.verdict.level != POISE_VERDICT_GOOD;
            w.q[3 * w.nq + 5] += w.q[3 * w.nq + 5] > 0 ? -360 * DEGREE : 360 * DEGREE; // the flange a whole turn on
            judge(&w, "tip", 7 * DEGREE);
            caught += w.verdict.level == POISE_VERDICT_FAILED && w.findings[0].first == 3;
        }
        poise_kinematics_destroy(kin);
        poise_solver_destroy(solver);
        poise_model_destroy(w.model);
    }
    ck_assert_int_gt(long_moves, 5);
    ck_assert_int_ge(caught, long_moves);
}

static poise_model *gantry(void)
{
    poise_builder *b;
    poise_model *model;
    poise_joint slide = poise_joint_default(), turn = poise_joint_default();
    slide.name = "rail", slide.type = POISE_JOINT_PRISMATIC, slide.axis = poise_vec3_make(1, 0, 0);
    turn.name = "hand", turn.parent = "rail", turn.type = POISE_JOINT_REVOLUTE;
    ck_assert_int_eq(poise_builder_create(NULL, &b, NULL), POISE_OK);
    ck_assert_int_eq(poise_builder_add_joint(b, &slide, NULL), POISE_OK);
    ck_assert_int_eq(poise_builder_add_joint(b, &turn, NULL), POISE_OK);
    ck_assert_int_eq(poise_model_create(b, NULL, &model, NULL), POISE_OK);
    poise_builder_destroy(b);
    return model;
}

// A slide that carries the tool moves as far as the tool; without one, its steps are measured in metres.
TEST(slides_are_measured_in_metres)
{
    walk w = {.model = gantry(), .nq = 2, .poses = 3, .q = {0, 0, 15, 0, 75, 0}};
    poise_path_problem problem = poise_path_problem_default();
    problem.model = w.model, problem.q = w.q, problem.poses = w.poses, problem.metres = 0.001;
    ck_assert_int_eq(poise_path_judge(&problem, NULL, &w.verdict, w.findings, FINDINGS, NULL), POISE_OK);
    ck_assert_int_eq(w.verdict.count, 1);
    ck_assert_int_eq(w.verdict.level, POISE_VERDICT_DOUBTFUL);
    ck_assert_int_eq(w.findings[0].kind, POISE_FINDING_SLID);
    ck_assert_int_eq(w.findings[0].first, 2);
    ck_assert_double_eq_tol(w.findings[0].value, 0.06, 1e-15);
    char text[128];
    poise_finding_describe(&w.findings[0], text, sizeof text);
    ck_assert_str_eq(text, "rail leaps by 0.06 m from pose 2 to 3, which following the tool does not take");
    problem.body = 1;
    ck_assert_int_eq(poise_path_judge(&problem, NULL, &w.verdict, w.findings, FINDINGS, NULL), POISE_OK);
    ck_assert_int_eq(w.verdict.level, POISE_VERDICT_GOOD);
    poise_model_destroy(w.model);
}

// Steps that are short, in too short a time: against 20 rad/s, and against the limit of a joint of the file.
TEST(joints_that_are_faster_than_their_limits_are_told)
{
    for (int has_limit = 0; has_limit < 2; ++has_limit) {
        poise_joint turn = poise_joint_default();
        poise_builder *b;
        walk w = {.nq = 1, .poses = 3, .q = {0, 0.1, 0.15}};
        turn.name = "turn", turn.type = POISE_JOINT_REVOLUTE, turn.velocity = has_limit ? 2 : 0;
        ck_assert_int_eq(poise_builder_create(NULL, &b, NULL), POISE_OK);
        ck_assert_int_eq(poise_builder_add_joint(b, &turn, NULL), POISE_OK);
        ck_assert_int_eq(poise_model_create(b, NULL, &w.model, NULL), POISE_OK);
        poise_builder_destroy(b);
        double usual = has_limit ? 2 : 20;
        for (int i = 0; i < 3; ++i) {
            poise_path_problem problem = poise_path_problem_default();
            problem.model = w.model, problem.q = w.q, problem.poses = w.poses;
            problem.frame_time = i == 0 ? 0 : (i == 1 ? 0.999 : 1.001) * 0.1 / usual;
            ck_assert_int_eq(poise_path_judge(&problem, NULL, &w.verdict, w.findings, FINDINGS, NULL), POISE_OK);
            ck_assert_int_eq(w.verdict.count, i == 1);
            ck_assert_double_eq_tol(w.verdict.worst[POISE_FINDING_FAST], i == 0 ? 0 : i == 1 ? 1 / 0.999 : 1 / 1.001, 1e-12);
        }
        poise_path_problem problem = poise_path_problem_default();
        problem.model = w.model, problem.q = w.q, problem.poses = w.poses, problem.frame_time = 0.001;
        ck_assert_int_eq(poise_path_judge(&problem, NULL, &w.verdict, w.findings, FINDINGS, NULL), POISE_OK);
        ck_assert(w.findings[0].kind == POISE_FINDING_FAST && w.findings[0].level == POISE_VERDICT_DOUBTFUL);
        ck_assert(w.findings[0].first == 1 && strcmp(w.findings[0].name, "turn") == 0);
        poise_model_destroy(w.model);
    }
}

TEST(poses_that_were_missed_fail_a_path_and_shapes_that_were_not_watched_make_it_doubtful)
{
    walk w = walk_of("arm6", 0, 4, 1);
    char text[200];
    poise_path_problem problem = poise_path_problem_default();
    problem.model = w.model, problem.q = w.q, problem.poses = w.poses;
    problem.unwatched = 3;
    ck_assert_int_eq(poise_path_judge(&problem, NULL, &w.verdict, w.findings, FINDINGS, NULL), POISE_OK);
    ck_assert(w.verdict.level == POISE_VERDICT_DOUBTFUL && w.verdict.count == 1);
    poise_finding_describe(&w.findings[0], text, sizeof text);
    ck_assert_str_eq(text, "3 collision shapes, or pairs of them, are not watched: overlaps of them are not known");
    problem.missed = 1;
    ck_assert_int_eq(poise_path_judge(&problem, NULL, &w.verdict, w.findings, FINDINGS, NULL), POISE_OK);
    ck_assert(w.verdict.level == POISE_VERDICT_FAILED && w.verdict.count == 2);
    poise_finding_describe(&w.findings[0], text, sizeof text);
    ck_assert_str_eq(text, "25.0 % of the poses of the path are missed");
    poise_model_destroy(w.model);
}

TEST(a_path_that_cannot_be_judged_is_refused)
{
    walk w = walk_of("arm6", 0, 2, 1);
    poise_path_problem good = poise_path_problem_default(), bad;
    poise_error error;
    good.model = w.model, good.q = w.q, good.poses = 2;
    ck_assert_int_eq(poise_path_judge(&good, NULL, &w.verdict, w.findings, FINDINGS, &error), POISE_OK);
    bad = good, bad.q = NULL;
    ck_assert_int_eq(poise_path_judge(&bad, NULL, &w.verdict, w.findings, FINDINGS, &error), POISE_ERROR_ARGUMENT);
    bad = good, bad.body = 99;
    ck_assert_int_eq(poise_path_judge(&bad, NULL, &w.verdict, w.findings, FINDINGS, &error), POISE_ERROR_ARGUMENT);
    bad = good, bad.metres = 0;
    ck_assert_int_eq(poise_path_judge(&bad, NULL, &w.verdict, w.findings, FINDINGS, &error), POISE_ERROR_ARGUMENT);
    bad = good, bad.frame_time = NAN;
    ck_assert_int_eq(poise_path_judge(&bad, NULL, &w.verdict, w.findings, FINDINGS, &error), POISE_ERROR_ARGUMENT);
    bad = good, bad.missed = -1;
    ck_assert_int_eq(poise_path_judge(&bad, NULL, &w.verdict, w.findings, FINDINGS, &error), POISE_ERROR_ARGUMENT);
    w.q[w.nq] = NAN;
    ck_assert_int_eq(poise_path_judge(&good, NULL, &w.verdict, w.findings, FINDINGS, &error), POISE_ERROR_ARGUMENT);
    poise_model_destroy(w.model);
}
