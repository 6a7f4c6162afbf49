#include "golden_suite.h"

#include "papers/plain/two_task.h"
#include "scenes/scenes.h"
#include "support/problems.h"

#include <poise/poise.h>

#include <stdlib.h>
#include <string.h>

#define MOST    512 // room for q
#define MARKERS 41

// ---- Hashing -------------------------------------------------------------------------------------------------------------

uint64_t golden_hash(uint64_t hash, const void *bytes, size_t size)
{
    const unsigned char *at = bytes;
    for (size_t i = 0; i < size; ++i) {
        hash = (hash ^ at[i]) * UINT64_C(1099511628211);
    }
    return hash;
}

uint64_t golden_hash_numbers(uint64_t hash, const double *x, int count)
{
    return golden_hash(hash, x, (size_t)count * sizeof *x);
}

uint64_t golden_suite_join(const uint64_t *hashes, int count)
{
    uint64_t hash = GOLDEN_START;
    for (int i = 0; i < count; ++i) {
        hash = hashes[i] != 0 && hash != 0 ? golden_hash(hash, &hashes[i], sizeof hashes[i]) : 0;
    }
    return hash;
}

static uint64_t hash_report(uint64_t hash, const poise_report *r)
{
    double numbers[] = {r->outcome, r->iterations, r->evaluations, r->restarts,     r->active_limits, r->start_cost,
                        r->cost,    r->gradient,   r->distance,    r->worst_length, r->worst_angle};
    return golden_hash_numbers(hash, numbers, (int)(sizeof numbers / sizeof numbers[0]));
}

// ---- Single problems -----------------------------------------------------------------------------------------------------

static uint64_t solve_all(problem *p, uint64_t hash)
{
    double solutions[4 * PROBLEM_NUMBERS];
    poise_solver *solver = NULL;
    int count = 0;
    bool works = poise_solver_create(p->model, &p->options, NULL, &solver, NULL) == POISE_OK &&
                 poise_solve_all(solver, p->goals, p->start, solutions, 4, &count, NULL, NULL) == POISE_OK;
    poise_solver_destroy(solver);
    return works ? golden_hash_numbers(hash, solutions, count * p->nq) : 0;
}

static uint64_t hash_problem(problem *p, bool all)
{
    if (!p) {
        return 0;
    }
    answer a = problem_solve(p);
    uint64_t hash = 0;
    if (a.status == POISE_ERROR_UNSUPPORTED) { // a random tree may have nothing for a geometric method
        hash = 1;
    } else if (a.status == POISE_OK && answer_is_finite(p, &a)) {
        hash = hash_report(golden_hash_numbers(GOLDEN_START, a.q, p->nq), &a.report);
        hash = all ? solve_all(p, hash) : hash;
    }
    problem_destroy(p);
    return hash;
}

static uint64_t tree_problem(int i)
{
    static const unsigned features[] = {PROBLEM_PLAIN, PROBLEM_LIMITS, PROBLEM_LOCKS, PROBLEM_LIMITS | PROBLEM_LOCKS};
    scene_random random = scene_random_make(1000 + (uint64_t)i);
    problem *p = problem_make(&random, (poise_method)(i % POISE_METHOD_COUNT), 6, features[i % 4]);
    if (p) {
        p->options.max_iterations = 15;
        p->options.restarts = i % 7 == 0 ? 2 : 0;
        bool is_geometric = p->options.method >= POISE_METHOD_CCD && p->options.method <= POISE_METHOD_FABRIK;
        p->options.prior = i % 11 == 0 && !is_geometric ? 0.01 : 0.0;
        p->options.rows.max_rows += p->nv; // of the prior
        p->options.step_limit = i % 13 == 0 ? 0.2 : p->options.step_limit;
    }
    return hash_problem(p, false);
}

static uint64_t arm_problem(int i)
{
    scene_random random = scene_random_make(1000 + (uint64_t)i);
    problem *p = problem_make_arm(&random, 3 + i % 7);
    if (p) {
        p->options.restarts = i % 3 == 0 ? 0 : 10;
        p->options.arm.seed_table = i % 2 == 0;
        p->options.trace = i % 4 == 0 ? p->trace : NULL;
    }
    return hash_problem(p, i % 5 == 0);
}

// ---- Expressive ----------------------------------------------------------------------------------------------------------

static const char *const skeletons[] = {"erik-a", "erik-b", "erik-c", "erik-d", "erik-e", "erik-f", "erik-g", "lamp"};

static uint64_t hash_erik(uint64_t hash, const poise_erik_report *r)
{
    double numbers[] = {r->outcome, r->iterations, r->error, r->orientation, r->posture, r->angle, r->active_limits};
    return golden_hash_numbers(hash, numbers, (int)(sizeof numbers / sizeof numbers[0]));
}

static uint64_t erik_problem(int i, const poise_model *model, const double *posture, poise_quat target, double *q)
{
    poise_erik_options options = poise_erik_options_default();
    options.exact_orientation = i % 3 == 0;
    poise_erik *erik = NULL;
    poise_erik_report report = {0};
    bool works = poise_erik_create(model, &options, NULL, &erik, NULL) == POISE_OK &&
                 poise_erik_solve(erik, posture, target, q, &report, NULL) == POISE_OK;
    uint64_t hash = hash_erik(golden_hash_numbers(GOLDEN_START, q, poise_model_info(model).nq), &report);
    works = works && two_task_solve(erik, NULL, posture, target, q, &report) == POISE_OK;
    hash = hash_erik(golden_hash_numbers(hash, q, poise_model_info(model).nq), &report);
    poise_erik_destroy(erik);
    return works ? hash : 0;
}

static uint64_t expressive_problem(int i, const poise_model *model, const double *posture, poise_quat target, double *q)
{
    poise_expressive_options options = poise_expressive_options_default();
    options.mode = i % 2 ? POISE_EXPRESSIVE_SHAPE : POISE_EXPRESSIVE_METRIC;
    options.warm = i % 4 == 0;
    options.use_erik = i % 8 == 0;
    options.symmetric_endpoint = true;
    poise_expressive *expressive = NULL;
    poise_expressive_report r = {0};
    poise_goal goal = poise_goal_orientation(poise_model_info(model).joints - 1, target);
    bool works = poise_expressive_create(model, &options, NULL, &expressive, NULL) == POISE_OK &&
                 poise_expressive_solve(expressive, &goal, 1, posture, q, &r, NULL) == POISE_OK;
    poise_expressive_destroy(expressive);
    double numbers[] = {r.outcome, r.error, r.goal, r.posture, r.worst_angle, r.candidates, r.evaluations};
    uint64_t hash = golden_hash_numbers(GOLDEN_START, q, poise_model_info(model).nq);
    return works ? golden_hash_numbers(hash, numbers, (int)(sizeof numbers / sizeof numbers[0])) : 0;
}

static uint64_t posture_problem(int i)
{
    scene_random random = scene_random_make(1000 + (uint64_t)i);
    poise_model *model = NULL;
    double posture[MOST], q[MOST];
    if (scene_create(skeletons[i % 8], NULL, &model, NULL) != POISE_OK) {
        return 0;
    }
    scene_random_configuration(&random, model, posture);
    scene_random_configuration(&random, model, q);
    poise_quat target = scene_random_rotation(&random);
    uint64_t hash =
        i % 16 < 8 ? erik_problem(i, model, posture, target, q) : expressive_problem(i, model, posture, target, q);
    poise_model_destroy(model);
    return hash;
}

static uint64_t filter_problem(int i)
{
    scene_random random = scene_random_make(1000 + (uint64_t)i);
    poise_filter_joint joint = poise_filter_joint_default();
    joint.lower = scene_random_range(&random, -3, -1);
    joint.upper = scene_random_range(&random, 1, 3);
    joint.velocity = scene_random_range(&random, 0.5, 4);
    joint.smoothness = i % 2 ? 0.5 : 0.0;
    joint.soft = i % 3 ? 0.0 : 2.0;
    poise_filter *filter = NULL;
    bool works = poise_filter_create(NULL, &joint, 1, NULL, &filter, NULL) == POISE_OK;
    uint64_t hash = GOLDEN_START;
    double setpoint = 0.0, x;
    for (int k = 0; k < 200 && works; ++k) {
        setpoint = k % 20 == 0 ? scene_random_range(&random, -4, 4) : setpoint;
        works = poise_filter_step(filter, &setpoint, 0.02, &x, NULL) == POISE_OK;
        hash = golden_hash_numbers(hash, &x, 1);
    }
    poise_filter_destroy(filter);
    return works ? hash : 0;
}

uint64_t golden_suite_problem(int i)
{
    switch (i % 20) {
    case 3:
    case 13:
        return arm_problem(i / 20 * 2 + (i % 20 == 13));
    case 7:
    case 17:
        return posture_problem(i / 20 * 2 + (i % 20 == 17));
    case 11:
        return filter_problem(i / 20);
    default:
        return tree_problem(i);
    }
}

// ---- Batches -------------------------------------------------------------------------------------------------------------

#define BATCH 1000

// Targets that some configuration reaches, nearly; starts anywhere.
static void make_batch(const poise_model *model, bool is_arm, poise_goal *goals, double *q)
{
    scene_random random = scene_random_make(77);
    int joints = poise_model_info(model).joints, nq = poise_model_info(model).nq;
    poise_kinematics *kinematics = NULL;
    double there[MOST];
    if (poise_kinematics_create(model, NULL, &kinematics, NULL) != POISE_OK) {
        return;
    }
    for (int i = 0; i < BATCH; ++i) {
        scene_random_configuration(&random, model, there);
        scene_random_configuration(&random, model, q + (size_t)i * (size_t)nq);
        poise_kinematics_update(kinematics, there, NULL);
        for (int k = 0; k < 4; ++k) {
            int body = is_arm ? joints - 1 : joints - 1 - k * joints / 5;
            poise_vec3 local = {0.1, 0.05 * k, 0.0};
            goals[4 * i + k] =
                is_arm ? poise_goal_pose(body, poise_pose_identity(), poise_kinematics_body_pose(kinematics, body))
                       : poise_goal_position(body, local, poise_kinematics_point(kinematics, body, local));
        }
    }
    poise_kinematics_destroy(kinematics);
}

// Does problem i have the bits of a plain solve from `start`?
static bool is_same(poise_solver *solver, const poise_problem *p, const double *start, int nq)
{
    double q[MOST];
    poise_report report;
    memcpy(q, start, (size_t)nq * sizeof *q);
    return poise_solve(solver, p->goals, p->goal_count, q, &report, NULL) == p->status &&
           memcmp(q, p->q, (size_t)nq * sizeof *q) == 0 && report.iterations == p->report.iterations &&
           memcmp(&report.cost, &p->report.cost, sizeof report.cost) == 0;
}

typedef struct batch_run {
    poise_goal *goals;
    double *start, *q;
    poise_problem *problems;
} batch_run;

static uint64_t run_batch(const poise_model *model, bool is_arm, poise_method method, const golden_spread *spread,
                          batch_run *r)
{
    int nq = poise_model_info(model).nq;
    poise_batch_options options = poise_batch_options_default();
    options.solver.method = method;
    options.solver.engine = poise_papers_engine(options.solver.method);
    options.solver.max_iterations = 20;
    options.solver.restarts = is_arm ? 10 : 0;
    options.workers = spread->workers;
    options.parallel_for = spread->parallel_for;
    options.user = spread->user;
    poise_batch *batch = NULL;
    poise_solver *solver = NULL;
    bool works = poise_batch_create(model, &options, NULL, &batch, NULL) == POISE_OK &&
                 poise_solver_create(model, &options.solver, NULL, &solver, NULL) == POISE_OK;
    make_batch(model, is_arm, r->goals, r->start);
    memcpy(r->q, r->start, (size_t)BATCH * (size_t)nq * sizeof *r->q);
    for (int i = 0; i < BATCH; ++i) {
        r->problems[i] =
            (poise_problem){.goals = r->goals + 4 * i, .goal_count = is_arm ? 1 : 4, .q = r->q + (size_t)i * (size_t)nq};
    }
    for (int first = 0; first < BATCH && works; first += spread->size) {
        int count = BATCH - first < spread->size ? BATCH - first : spread->size;
        works = poise_batch_solve(batch, r->problems + first, count, NULL) == POISE_OK;
    }
    uint64_t hash = golden_hash_numbers(GOLDEN_START, r->q, BATCH * nq);
    for (int i = 0; i < BATCH && works; ++i) {
        hash = hash_report(hash, &r->problems[i].report);
        works = i % 10 != 0 || is_same(solver, &r->problems[i], r->start + (size_t)i * (size_t)nq, nq);
    }
    poise_solver_destroy(solver);
    poise_batch_destroy(batch);
    return works ? hash : 0;
}

uint64_t golden_suite_batch(const golden_spread *spread)
{
    static const struct {
        const char *scene;
        bool is_arm;
        poise_method method;
    } rows[] = {{"arm6", true, POISE_METHOD_AUTO},    {"arm7", true, POISE_METHOD_AUTO},
                {"scara", true, POISE_METHOD_AUTO},   {"tree-30", false, POISE_METHOD_AUTO},
                {"hand", false, POISE_METHOD_AUTO},   {"tree-30", false, POISE_METHOD_LBFGS},
                {"chain-12", false, POISE_METHOD_CCD}};
    uint64_t hashes[sizeof rows / sizeof rows[0]];
    int count = (int)(sizeof rows / sizeof rows[0]);
    batch_run r = {.goals = malloc(4 * BATCH * sizeof *r.goals),
                   .start = malloc(BATCH * 64 * sizeof *r.start),
                   .q = malloc(BATCH * 64 * sizeof *r.q),
                   .problems = malloc(BATCH * sizeof *r.problems)};
    for (int i = 0; i < count; ++i) {
        poise_model *model = NULL;
        hashes[i] = 0;
        if (r.goals && r.start && r.q && r.problems && scene_create(rows[i].scene, NULL, &model, NULL) == POISE_OK &&
            poise_model_info(model).nq <= 64) {
            hashes[i] = run_batch(model, rows[i].is_arm, rows[i].method, spread, &r);
        }
        poise_model_destroy(model);
    }
    free(r.goals);
    free(r.start);
    free(r.q);
    free(r.problems);
    return golden_suite_join(hashes, count);
}

// ---- Tracking ------------------------------------------------------------------------------------------------------------

#define FRAMES 120

static poise_markers *record(const poise_model *model, const poise_placement *placements)
{
    poise_clip *clip = NULL;
    poise_markers *markers = NULL;
    scene_random random = scene_random_make(5);
    poise_scale metres = {1.0, POISE_UP_Y};
    int nq = poise_model_info(model).nq;
    if (poise_clip_create(FRAMES, nq, 0.02, NULL, &clip, NULL) == POISE_OK) {
        for (int f = 0; f < FRAMES; ++f) {
            scene_motion_pose(model, f < FRAMES / 2 ? "walk" : "kick", f * 0.02, clip->q + (size_t)f * (size_t)nq);
        }
        poise_markers_from_clip(model, clip, metres, placements, MARKERS, NULL, &markers, NULL);
    }
    double zero = 0.0;
    for (int i = 0; markers && i < FRAMES * MARKERS; ++i) {
        poise_vec3 *p = &markers->position[i];
        int fate = scene_random_index(&random, 40);
        p->x = fate == 0 ? zero / zero : fate == 1 ? p->x + 0.4 : p->x + scene_random_range(&random, -0.002, 0.002);
    }
    poise_clip_destroy(clip);
    return markers;
}

static uint64_t calibrate(const poise_model *model, poise_placement *placements, const poise_markers *markers)
{
    poise_calibration fit = poise_calibration_default();
    poise_calibration_report report = {0};
    poise_model *fitted = NULL;
    fit.model = model;
    fit.placements = placements;
    fit.placement_count = MARKERS;
    fit.markers = markers;
    fit.frame_count = 10;
    fit.scaling = POISE_SCALING_SEGMENTS;
    fit.rounds = 4;
    if (poise_calibrate(&fit, NULL, &fitted, &report, NULL) != POISE_OK) {
        return 0;
    }
    uint64_t hash = golden_hash_numbers(GOLDEN_START, &report.rms, 1);
    for (int i = 0; i < MARKERS; ++i) {
        hash = golden_hash(hash, &placements[i].local, sizeof placements[i].local);
    }
    poise_model_destroy(fitted);
    return hash;
}

uint64_t golden_suite_track(const golden_spread *spread)
{
    static const char *const scenes[] = {"humanoid", "humanoid-euler", "humanoid-quaternion"};
    scene_marker sites[MARKERS];
    poise_placement placements[MARKERS];
    uint64_t hashes[6] = {0};
    for (int s = 0; s < 3; ++s) {
        poise_model *model = NULL;
        poise_clip *clip = NULL;
        if (scene_create(scenes[s], NULL, &model, NULL) != POISE_OK) {
            return 0;
        }
        scene_markers(scenes[s], sites, MARKERS);
        for (int i = 0; i < MARKERS; ++i) {
            placements[i] = (poise_placement){sites[i].name, sites[i].body, sites[i].local, 1.0};
        }
        poise_markers *markers = record(model, placements);
        poise_track_problem task = poise_track_problem_default();
        task.model = model;
        task.placements = placements;
        task.placement_count = MARKERS;
        task.markers = markers;
        task.chunk = 40;
        task.workers = spread->workers;
        task.parallel_for = spread->parallel_for;
        task.user = spread->user;
        task.smoothness = s == 1 ? 0.01 : 0.0;
        if (markers && poise_track(&task, NULL, &clip, NULL, NULL) == POISE_OK) {
            hashes[2 * s] = golden_hash_numbers(GOLDEN_START, clip->q, clip->frames * clip->nq);
            hashes[2 * s + 1] = calibrate(model, placements, markers);
        }
        poise_clip_destroy(clip);
        poise_markers_destroy(markers);
        poise_model_destroy(model);
    }
    return golden_suite_join(hashes, 6);
}
