// How sure joint angles are, against sampled noise.
#include "motion/uncertainty.h"
#include "support/skeleton.h"
#include "support/test_main.h"

#include <poise/verdict.h>
#include <scenes/random.h>
#include <scenes/scenes.h>

#include <math.h>
#include <string.h>

enum { MARKERS = 41, SAMPLES = 3000 };

// ---- The diagonal of the inverse -----------------------------------------------------------------------------------------

static const char *const scenes[] = {"humanoid", "humanoid-euler", "humanoid-quaternion", "hand", "arm7"};

// Solve H x = e_i by conjugate gradients: no code in common with the factor.
static double inverse_at(const double *H, int n, int i)
{
    double *x = calloc((size_t)(4 * n), sizeof *x), *r = x + n, *p = r + n, *y = p + n, rr = 1;
    r[i] = p[i] = 1;
    for (int round = 0; round < 40 * n && rr > 1e-26; ++round) {
        double py = 0, next = 0;
        for (int a = 0; a < n; ++a) {
            y[a] = 0;
            for (int b = 0; b < n; ++b) {
                y[a] += H[a * n + b] * p[b];
            }
            py += p[a] * y[a];
        }
        for (int a = 0; a < n; ++a) {
            x[a] += rr / py * p[a];
            r[a] -= rr / py * y[a];
            next += r[a] * r[a];
        }
        for (int a = 0; a < n; ++a) {
            p[a] = r[a] + next / rr * p[a];
        }
        rr = next;
    }
    double found = x[i];
    free(x);
    return found;
}

TEST_ROWS(the_diagonal_of_the_inverse_is_that_of_the_whole_inverse, 2 * TEST_COUNT(scenes))
{
    const char *scene = scenes[test_row / 2];
    poise_model *model = NULL;
    ck_assert_int_eq(scene_create(scene, NULL, &model, NULL), POISE_OK);
    own_model(model);
    poise_objective *objective = NULL;
    ck_assert_int_eq(poise_objective_create(model, 1, NULL, &objective, NULL), POISE_OK);
    own_objective(objective);
    int nv = poise_model_info(model).nv, nq = poise_model_info(model).nq, count = 0;
    double *q = calloc((size_t)nq, sizeof *q), *H = calloc((size_t)(nv * nv), sizeof *H);
    double *work = calloc((size_t)(nv * (2 * nv + 2)), sizeof *work), *diagonal = calloc((size_t)nv, sizeof *diagonal);
    poise_model_neutral(model, q);
    poise_goal goals[64];
    for (int k = 0; k < poise_model_info(model).joints && count < 60; ++k) {
        goals[count++] = poise_goal_position(k, (poise_vec3){0.05, 0.1, 0.02 * k}, (poise_vec3){0.1, 1, 0.1});
        goals[count - 1].loss = POISE_LOSS_NONE;
    }
    goals[count++] = poise_goal_posture(q, 0.05);
    if (test_row % 2 == 1) { // coupled: other entries than the tree's
        goals[count] = poise_goal_default(POISE_GOAL_RELATIVE);
        goals[count].body = poise_model_info(model).joints - 1;
        goals[count++].body2 = poise_model_info(model).joints / 2;
    }
    ck_assert_int_eq(poise_objective_set_goals(objective, goals, count, NULL), POISE_OK);
    ck_assert_int_eq(poise_objective_evaluate(objective, q, POISE_LEVEL_HESSIAN, NULL), POISE_OK);
    ck_assert_int_eq(poise_objective_hessian(objective, POISE_HESSIAN_GAUSS_NEWTON, H, NULL), POISE_OK);
    ck_assert_int_eq(poise_objective_inverse_diagonal(objective, POISE_HESSIAN_GAUSS_NEWTON, work, diagonal, NULL),
                     POISE_OK);
    for (int i = 0; i < nv; ++i) {
        double whole = inverse_at(H, nv, i);
        ck_assert_msg(fabs(diagonal[i] - whole) <= 1e-6 * whole, "%s %d: %g, %g", scene, i, diagonal[i], whole);
    }
    free(q);
    free(H);
    free(work);
    free(diagonal);
}

// Rows: a target near to the hand, and one beyond the shoulder, from which the exact Hessian has a way down.
TEST_ROWS(an_exact_hessian_is_inverted_where_it_is_positive_and_refused_where_it_is_not, 2)
{
    enum { NV = 7 };
    poise_model *model = NULL;
    poise_objective *objective = NULL;
    poise_kinematics *kin = NULL;
    double q[NV] = {0.3, 0.5, -0.2, 0.9, 0.4, -0.6, 0.1}, H[NV * NV], work[NV * (2 * NV + 2)], diagonal[NV];
    ck_assert_int_eq(scene_create("arm7", NULL, &model, NULL), POISE_OK);
    own_model(model);
    ck_assert_int_eq(poise_objective_create(model, 1, NULL, &objective, NULL), POISE_OK);
    own_objective(objective);
    ck_assert_int_eq(poise_kinematics_create(model, NULL, &kin, NULL), POISE_OK);
    own_kinematics(kin);
    ck_assert_int_eq(poise_kinematics_update(kin, q, NULL), POISE_OK);
    poise_vec3 local = {0.05, 0.1, 0.2}, at = poise_kinematics_point(kin, NV - 1, local);
    poise_vec3 to = test_row == 0 ? (poise_vec3){at.x + 0.01, at.y, at.z} : (poise_vec3){-5 * at.x, -5 * at.y, -5 * at.z};
    poise_goal goals[] = {poise_goal_position(NV - 1, local, to), poise_goal_posture(q, 0.05)};
    ck_assert_int_eq(poise_objective_set_goals(objective, goals, 2, NULL), POISE_OK);
    ck_assert_int_eq(poise_objective_evaluate(objective, q, POISE_LEVEL_HESSIAN, NULL), POISE_OK);
    ck_assert_int_eq(poise_objective_hessian(objective, POISE_HESSIAN_EXACT, H, NULL), POISE_OK);
    poise_status status = poise_objective_inverse_diagonal(objective, POISE_HESSIAN_EXACT, work, diagonal, NULL);
    ck_assert_int_eq(status, test_row == 0 ? POISE_OK : POISE_ERROR_NUMERIC);
    for (int i = 0; i < NV && status == POISE_OK; ++i) {
        double whole = inverse_at(H, NV, i);
        ck_assert_double_eq_tol(diagonal[i], whole, 1e-6 * whole);
    }
    ck_assert_int_eq(poise_objective_inverse_diagonal(objective, POISE_HESSIAN_GAUSS_NEWTON, work, diagonal, NULL),
                     POISE_OK);
}

// ---- Sampled noise -------------------------------------------------------------------------------------------------------

// A walking pose of the humanoid with its markers, each sample of which has noise of its own.
typedef struct samples {
    poise_model *model;
    poise_placement placements[MARKERS];
    int count, nq, nv;
    double q[64];
    poise_markers *markers;
} samples;

static samples sample_pose(double noise, int count)
{
    samples s = {.count = count};
    scene_marker sites[MARKERS];
    ck_assert_int_eq(scene_create("humanoid", NULL, &s.model, NULL), POISE_OK);
    own_model(s.model);
    scene_markers("humanoid", sites, MARKERS);
    const char *labels[MARKERS];
    for (int i = 0; i < count; ++i) {
        s.placements[i] = (poise_placement){sites[i].name, sites[i].body, sites[i].local, 1.0};
        labels[i] = sites[i].name;
    }
    s.nq = poise_model_info(s.model).nq;
    s.nv = poise_model_info(s.model).nv;
    scene_motion_pose(s.model, "walk", 0.3, s.q);
    for (int i = 0; i < s.nq; ++i) { // away from all limits
        double low = poise_model_info(s.model).lower[i], high = poise_model_info(s.model).upper[i];
        s.q[i] = isfinite(low) && isfinite(high) ? fmin(fmax(s.q[i], low + 0.2 * (high - low)), high - 0.2 * (high - low))
                                                 : s.q[i];
    }
    ck_assert_int_eq(poise_markers_create(SAMPLES, count, 100, labels, NULL, &s.markers, NULL), POISE_OK);
    for (int i = 0; i < count; ++i) {
        s.placements[i].label = s.markers->label[i]; // which stay
    }
    poise_kinematics *kin;
    ck_assert_int_eq(poise_kinematics_create(s.model, NULL, &kin, NULL), POISE_OK);
    ck_assert_int_eq(poise_kinematics_update(kin, s.q, NULL), POISE_OK);
    scene_random random = scene_random_make(7);
    for (int k = 0; k < SAMPLES * count; ++k) {
        poise_vec3 p = poise_kinematics_point(kin, s.placements[k % count].body, s.placements[k % count].local);
        s.markers->position[k] =
            (poise_vec3){p.x + noise * scene_random_normal(&random), p.y + noise * scene_random_normal(&random),
                         p.z + noise * scene_random_normal(&random)};
    }
    poise_kinematics_destroy(kin);
    return s;
}

static poise_track_problem problem_of(const samples *s)
{
    poise_track_problem problem = poise_track_problem_default();
    problem.model = s->model;
    problem.placements = s->placements;
    problem.placement_count = s->count;
    problem.markers = s->markers;
    return problem;
}

// The deviations of clinical angles against how the sampled ones scatter; those that no joint turns are none.
static void compare_angles(const poise_track_problem *problem, const poise_clip *clip)
{
    double *angles = calloc((size_t)(SAMPLES * POISE_ANGLE_COUNT), sizeof *angles);
    double *deviation = calloc((size_t)(SAMPLES * POISE_ANGLE_COUNT), sizeof *deviation);
    ck_assert_int_eq(poise_joint_angles(problem->model, clip, NULL, angles, NULL), POISE_OK);
    ck_assert_int_eq(poise_joint_angle_deviations(problem, clip, NULL, NULL, deviation, NULL), POISE_OK);
    int told = 0;
    for (int i = 0; i < POISE_ANGLE_COUNT; ++i) {
        double sum = 0, square = 0, predicted = 0;
        for (int f = 0; f < SAMPLES; ++f) {
            double a = angles[f * POISE_ANGLE_COUNT + i] - angles[i];
            sum += a / SAMPLES;
            square += a * a / SAMPLES;
            predicted += deviation[f * POISE_ANGLE_COUNT + i] / SAMPLES;
        }
        double sampled = sqrt(square - sum * sum);
        bool is_told = isfinite(sampled) && isfinite(predicted);
        ck_assert_msg(!is_told || fabs(predicted / sampled - 1) <= 0.05, "%s: predicted %g, sampled %g", poise_angle_name(i),
                      predicted, sampled);
        told += is_told;
    }
    ck_assert_int_eq(told, POISE_ANGLE_COUNT - 8); // hinges have no adduction: knees and what they turn, ankles, elbows
    free(deviation);
    free(angles);
}

// The same of joint centres: how far they scatter in space.
static void compare_centres(const poise_track_problem *problem, const poise_clip *clip)
{
    poise_placement places[PZ_CENTRES];
    poise_markers *made = NULL;
    double *deviation = calloc((size_t)(SAMPLES * PZ_CENTRES), sizeof *deviation);
    ck_assert_int_eq(poise_joint_centres(problem->model, NULL, places, PZ_CENTRES), PZ_CENTRES);
    ck_assert_int_eq(
        poise_markers_from_clip(problem->model, clip, (poise_scale){1.0, POISE_UP_Y}, places, PZ_CENTRES, NULL, &made, NULL),
        POISE_OK);
    ck_assert_int_eq(pz_centre_deviations(problem, clip, NULL, 1, places, PZ_CENTRES, NULL, NULL, deviation, NULL),
                     POISE_OK);
    for (int i = 0; i < PZ_CENTRES; ++i) {
        double sum[3] = {0, 0, 0}, square = 0, predicted = 0;
        for (int f = 0; f < SAMPLES; ++f) {
            poise_vec3 a = made->position[f * PZ_CENTRES + i], b = made->position[i];
            const double by[3] = {a.x - b.x, a.y - b.y, a.z - b.z};
            for (int k = 0; k < 3; ++k) {
                sum[k] += by[k] / SAMPLES;
                square += by[k] * by[k] / SAMPLES;
            }
            predicted += deviation[f * PZ_CENTRES + i] / SAMPLES;
        }
        double sampled = sqrt(square - sum[0] * sum[0] - sum[1] * sum[1] - sum[2] * sum[2]);
        ck_assert_msg(fabs(predicted / sampled - 1) <= 0.05, "%s: predicted %g, sampled %g", places[i].label, predicted,
                      sampled);
    }
    free(deviation);
    poise_markers_destroy(made);
}

TEST(deviations_are_those_of_sampled_noise)
{
    const double noise = 0.001;
    samples s = sample_pose(noise, MARKERS);
    poise_track_problem problem = problem_of(&s);
    poise_clip *clip = NULL;
    ck_assert_int_eq(poise_clip_create(SAMPLES, s.nq, 0.01, NULL, &clip, NULL), POISE_OK);
    own_clip(clip);
    poise_solver_options options = poise_solver_options_default();
    options.gradient_tolerance = 1e-10;
    poise_solver *solver = NULL;
    ck_assert_int_eq(poise_solver_create(s.model, &options, NULL, &solver, NULL), POISE_OK);
    own_solver(solver);
    double *sum = calloc((size_t)(3 * s.nv), sizeof *sum), *square = sum + s.nv, *v = square + s.nv;
    for (int f = 0; f < SAMPLES; ++f) { // each from the true pose: independent samples
        poise_goal goals[MARKERS];
        double *q = clip->q + f * s.nq;
        for (int i = 0; i < MARKERS; ++i) {
            goals[i] =
                poise_goal_position(s.placements[i].body, s.placements[i].local, s.markers->position[f * MARKERS + i]);
        }
        memcpy(q, s.q, (size_t)s.nq * sizeof *q);
        ck_assert_int_eq(poise_solve(solver, goals, MARKERS, q, NULL, NULL), POISE_OK);
        ck_assert_int_eq(poise_difference(s.model, s.q, q, v, NULL), POISE_OK);
        for (int i = 0; i < s.nv; ++i) {
            sum[i] += v[i] / SAMPLES;
            square[i] += v[i] * v[i] / SAMPLES;
        }
    }
    double *deviation = calloc((size_t)(SAMPLES * s.nv), sizeof *deviation);
    poise_uncertainty_report report;
    ck_assert_int_eq(poise_track_uncertainty(&problem, clip, NULL, 0, NULL, deviation, &report, NULL), POISE_OK);
    ck_assert_double_eq_tol(report.noise, noise, 0.02 * noise); // found by what the markers miss by
    for (int i = 0; i < s.nv; ++i) {
        double sampled = sqrt(square[i] - sum[i] * sum[i]), predicted = 0;
        for (int f = 0; f < SAMPLES; ++f) {
            predicted += deviation[f * s.nv + i] / SAMPLES;
        }
        ck_assert_msg(fabs(predicted / sampled - 1) <= 0.05, "%d: predicted %g, sampled %g", i, predicted, sampled);
    }
    free(deviation);
    free(sum);
    compare_angles(&problem, clip);
    compare_centres(&problem, clip);
    poise_markers_destroy(s.markers);
}

TEST(what_no_marker_sees_is_not_sure_at_all)
{
    samples s = sample_pose(0.001, 4); // on the pelvis alone
    poise_track_problem problem = problem_of(&s);
    poise_clip *clip = NULL;
    ck_assert_int_eq(poise_clip_create(SAMPLES, s.nq, 0.01, NULL, &clip, NULL), POISE_OK);
    own_clip(clip);
    for (int f = 0; f < SAMPLES; ++f) {
        memcpy(clip->q + f * s.nq, s.q, (size_t)s.nq * sizeof *s.q);
    }
    poise_track_frame *frames = calloc(SAMPLES, sizeof *frames);
    frames[1].flags = POISE_TRACK_HELD;
    double *deviation = calloc((size_t)(SAMPLES * s.nv), sizeof *deviation);
    ck_assert_int_eq(poise_track_uncertainty(&problem, clip, frames, 0.001, NULL, deviation, NULL, NULL), POISE_OK);
    for (int i = 0; i < s.nv; ++i) {
        ck_assert(i < 6 ? deviation[i] < 0.05 : isinf(deviation[i])); // the root, and everything else
        ck_assert(isinf(deviation[s.nv + i]));                        // a frame that was held
    }
    double *angle = calloc((size_t)(SAMPLES * POISE_ANGLE_COUNT), sizeof *angle);
    ck_assert_int_eq(poise_joint_angle_deviations(&problem, clip, frames, NULL, angle, NULL), POISE_OK);
    for (int i = 0; i < POISE_ANGLE_COUNT; ++i) {
        ck_assert_msg(strncmp(poise_angle_name(i), "pelvis", 6) == 0 ? angle[i] < 3 : isinf(angle[i]), "%s: %g",
                      poise_angle_name(i), angle[i]);
        ck_assert(isinf(angle[POISE_ANGLE_COUNT + i]));
    }
    free(angle);
    poise_error error;
    ck_assert_int_eq(poise_track_uncertainty(&problem, NULL, NULL, 0, NULL, deviation, NULL, &error), POISE_ERROR_ARGUMENT);
    free(deviation);
    free(frames);
    poise_markers_destroy(s.markers);
}

// Markers tell all of a joint above them and nothing of one below, however many frames there are.
TEST(what_markers_tell_of_a_joint_is_a_share)
{
    enum { FRAMES = 5 };
    const char *labels[] = {"A", "B"};
    poise_builder *builder = new_builder();
    add_plain(builder, "seen", NULL, POISE_JOINT_REVOLUTE);
    add_plain(builder, "unseen", "seen", POISE_JOINT_REVOLUTE);
    poise_track_problem problem = poise_track_problem_default();
    poise_placement places[] = {{"A", 0, {1, 0, 0}, 1}, {"B", 0, {0, 1, 0}, 1}};
    poise_markers *markers = NULL;
    poise_clip *clip = NULL;
    double told[2];
    problem.model = model_of(builder);
    ck_assert_int_eq(poise_markers_create(FRAMES, 2, 100.0, labels, NULL, &markers, NULL), POISE_OK);
    own_markers(markers);
    ck_assert_int_eq(poise_clip_create(FRAMES, 2, 0.01, NULL, &clip, NULL), POISE_OK);
    own_clip(clip);
    for (int f = 0; f < FRAMES; ++f) {
        markers->position[2 * f] = places[0].local;
        markers->position[2 * f + 1] = places[1].local;
    }
    problem.markers = markers, problem.placements = places, problem.placement_count = 2;
    for (; clip->frames > 0; clip->frames = markers->frames -= FRAMES - 1) { // all, and one
        ck_assert_int_eq(pz_track_information(&problem, clip, NULL, 1, NULL, told, NULL), POISE_OK);
        ck_assert_msg(told[0] > 0.9 && told[0] <= 1 && told[1] >= 0 && told[1] < 0.1, "%g %g", told[0], told[1]);
    }
}
