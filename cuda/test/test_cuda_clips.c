// Clips: frames one after another. The work of the device's threads is done by the host and held against poise_solve, warm,
// frame by frame; a device gives the same bits. Without one the program says that the rest was skipped.
#include "support/test_main.h"

#include "body_on_host.h"

#include <poise/poise.h>
#include <scenes/recording.h>
#include <scenes/scenes.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CLIPS  3
#define FRAMES 40

static const char *no_device(void)
{
    return poise_cuda_device_count() > 0 ? NULL : "no CUDA device";
}

static void *take(size_t count, size_t size)
{
    void *memory = calloc(count, size);
    ck_assert(memory != NULL);
    return memory;
}

// Parts of a recording with noise and gaps, and what they are solved with: markers, a posture and the last frame.
typedef struct library {
    poise_model *model;
    poise_solver_options options;
    int nq, nv, goal_count;
    poise_goal *goals;
    double *posture;     // nv
    poise_vec3 *targets; // of all frames
    double *weights;
    double *q; // CLIPS x FRAMES x nq, starts in the first frames
    int begin[CLIPS + 1];
} library;

static void see(library *l, const poise_markers *markers, const poise_clip *clip)
{
    for (int c = 0; c < CLIPS; ++c) {
        l->begin[c] = c * FRAMES;
        memcpy(l->q + c * FRAMES * l->nq, clip->q + c * FRAMES * clip->nq, (size_t)l->nq * sizeof *l->q);
    }
    l->begin[CLIPS] = CLIPS * FRAMES;
    for (int f = 0; f < CLIPS * FRAMES; ++f) {
        for (int k = 0; k < l->goal_count; ++k) {
            int at = f * l->goal_count + k;
            bool is_seen = k < markers->count && poise_markers_seen(markers, f, k);
            l->targets[at] = is_seen ? markers->position[f * markers->count + k] : poise_vec3_make(0, 0, 0);
            l->weights[at] = is_seen ? 1.0 : 0.0;
        }
        for (int k = markers->count; k < l->goal_count; ++k) {
            l->weights[f * l->goal_count + k] = l->goals[k].kind == POISE_GOAL_SMOOTHNESS ? 1e-3 * (1 + f % 2) : 1.0;
        }
    }
}

// `pulls`: with a posture and smoothness.
static library make(const char *scene, bool pulls)
{
    library l = {.options = poise_solver_options_default()};
    scene_recording how = scene_recording_default();
    poise_clip *clip;
    poise_markers *markers;
    how.noise = 0.003, how.gaps = 0.03;
    ck_assert_int_eq(scene_create(scene, NULL, &l.model, NULL), POISE_OK);
    ck_assert_int_eq(scene_record(l.model, scene, "walk", &how, &clip, &markers), POISE_OK);
    ck_assert(markers->frames >= CLIPS * FRAMES);
    int count = scene_marker_count(scene);
    scene_marker *places = take((size_t)count, sizeof *places);
    scene_markers(scene, places, count);
    ck_assert_int_eq(count, markers->count);
    l.options.coupled_goals = 0;
    l.options.gradient_tolerance = 1e-10;
    l.nq = poise_model_info(l.model).nq, l.nv = poise_model_info(l.model).nv;
    l.goal_count = count + (pulls ? 2 : 0);
    l.goals = take((size_t)l.goal_count, sizeof *l.goals);
    l.posture = take((size_t)l.nv, sizeof *l.posture);
    l.targets = take((size_t)(CLIPS * FRAMES * l.goal_count), sizeof *l.targets);
    l.weights = take((size_t)(CLIPS * FRAMES * l.goal_count), sizeof *l.weights);
    l.q = take((size_t)(CLIPS * FRAMES * l.nq), sizeof *l.q);
    for (int k = 0; k < count; ++k) {
        l.goals[k] = poise_goal_position(places[k].body, places[k].local, poise_vec3_make(0, 0, 0));
    }
    if (pulls) {
        for (int i = 6; i < l.nv; ++i) {
            l.posture[i] = i % 3 && l.nq == l.nv ? 1e-4 : 0.0; // on a quaternion the last frame alone pulls
        }
        l.goals[count] = poise_goal_posture(clip->q, 1.0); // the first pose, of which nothing changes later
        l.goals[count].q_weights = l.posture;
        double *rest = take((size_t)l.nq, sizeof *rest);
        memcpy(rest, clip->q, (size_t)l.nq * sizeof *rest);
        l.goals[count].q = rest;
        l.goals[count + 1] = poise_goal_smoothness(rest, NULL, 1.0);
    }
    see(&l, markers, clip);
    poise_clip_destroy(clip);
    poise_markers_destroy(markers);
    free(places);
    return l;
}

static void release(library *l, bool pulls)
{
    free(pulls ? (void *)(uintptr_t)l->goals[l->goal_count - 1].q : NULL);
    poise_model_destroy(l->model);
    free(l->goals), free(l->posture), free(l->targets), free(l->weights), free(l->q);
}

// ---- Who solves ----------------------------------------------------------------------------------------------------------

typedef struct team_work {
    const body_task *task;
    const pz_cuda_tree_batch *batch;
    const body_work *work;
    const body_clips *clips;
} team_work;

static void solve_by_team(void *user)
{
    const team_work *w = user;
    body_clips_by_team(w->task, w->batch, w->work, w->clips);
}

static void solve_as(const library *l, bool is_team, double *q, poise_cuda_tree_answer *answers)
{
    body_tables tables;
    const char *why;
    bool only_clips;
    memcpy(q, l->q, (size_t)(CLIPS * FRAMES * l->nq) * sizeof *q);
    ck_assert(pz_body_serves(l->model, l->goals, l->goal_count, &l->options, &only_clips, &why));
    ck_assert_int_eq(pz_body_tables_make(l->model, l->goals, l->goal_count, &l->options, &tables), POISE_OK);
    body_work work = {.state = take((size_t)tables.task.at.size, sizeof(double))}; // frames of clips have nothing else
    pz_cuda_tree_batch batch = {
        .targets = l->targets, .weights = l->weights, .q = q, .answers = answers, .count = CLIPS * FRAMES};
    body_clips clips = {.begin = l->begin, .count = CLIPS};
    if (is_team) {
        body_team_run(8, solve_by_team, &(team_work){&tables.task, &batch, &work, &clips});
    } else {
        body_clips_on_host(&tables.task, &batch, &work, &clips);
    }
    free(work.state);
    pz_body_tables_free(&tables);
}

// poise_solve, warm, each frame from the one before: from `q` of frame f - 1 into `to`.
static poise_report solve_frame(const library *l, poise_solver *solver, int f, bool is_first, const double *q, double *to)
{
    poise_report report;
    poise_goal *goals = take((size_t)l->goal_count, sizeof *goals);
    memcpy(goals, l->goals, (size_t)l->goal_count * sizeof *goals);
    memcpy(to, is_first ? l->q + f * l->nq : q + (f - 1) * l->nq, (size_t)l->nq * sizeof *to);
    double *last = take((size_t)l->nq, sizeof *last);
    memcpy(last, to, (size_t)l->nq * sizeof *last);
    for (int k = 0; k < l->goal_count; ++k) {
        int at = f * l->goal_count + k;
        goals[k].target.position = goals[k].kind == POISE_GOAL_POSITION ? l->targets[at] : goals[k].target.position;
        goals[k].weight = l->weights[at];
        goals[k].q = goals[k].kind == POISE_GOAL_SMOOTHNESS ? last : goals[k].q;
    }
    ck_assert_int_eq(poise_solve(solver, goals, l->goal_count, to, &report, NULL), POISE_OK);
    free(goals), free(last);
    return report;
}

static double apart(const library *l, poise_kinematics *kinematics, const double *a, const double *b)
{
    double most = 0.0;
    poise_vec3 x[64];
    poise_kinematics_update(kinematics, a, NULL);
    for (int k = 0; k < l->goal_count && l->goals[k].kind == POISE_GOAL_POSITION; ++k) {
        x[k] = poise_kinematics_point(kinematics, l->goals[k].body, l->goals[k].local.position);
    }
    poise_kinematics_update(kinematics, b, NULL);
    for (int k = 0; k < l->goal_count && l->goals[k].kind == POISE_GOAL_POSITION; ++k) {
        poise_vec3 y = poise_kinematics_point(kinematics, l->goals[k].body, l->goals[k].local.position);
        most = fmax(most, fmax(fabs(x[k].x - y.x), fmax(fabs(x[k].y - y.y), fabs(x[k].z - y.z))));
    }
    return most;
}

// Every frame converges, within the limits, to what poise_solve finds from the same frame before: within 1e-6 m at every
// marker, and its cost to 1e-9.
static void hold_against_library(const library *l, const double *q, const poise_cuda_tree_answer *answers, const char *what)
{
    poise_solver *solver;
    poise_kinematics *kinematics;
    double *to = take((size_t)l->nq, sizeof *to);
    ck_assert_int_eq(poise_solver_create(l->model, &l->options, NULL, &solver, NULL), POISE_OK);
    ck_assert_int_eq(poise_kinematics_create(l->model, NULL, &kinematics, NULL), POISE_OK);
    for (int f = 0; f < CLIPS * FRAMES; ++f) {
        poise_report report = solve_frame(l, solver, f, f % FRAMES == 0, q, to);
        double off = apart(l, kinematics, to, q + f * l->nq);
        ck_assert_msg(poise_model_within_limits(l->model, q + f * l->nq), "%s: frame %d is outside", what, f);
        ck_assert_msg(answers[f].outcome == POISE_OUTCOME_CLOSEST, "%s: frame %d: outcome %d", what, f, answers[f].outcome);
        ck_assert_msg(fabs(report.cost - answers[f].cost) <= 1e-9 * report.cost && off <= 1e-6,
                      "%s: frame %d is %g m off, its cost %.12g, not %.12g", what, f, off, answers[f].cost, report.cost);
    }
    poise_kinematics_destroy(kinematics);
    poise_solver_destroy(solver);
    free(to);
}

TEST(clips_are_those_of_the_library_frame_by_frame)
{
    static const char *const scenes[] = {"humanoid", "humanoid-quaternion", "humanoid-euler"};
    for (int i = 0; i < 6; ++i) {
        bool pulls = i >= 3;
        library l = make(scenes[i % 3], pulls);
        double *q = take((size_t)(CLIPS * FRAMES * l.nq), sizeof *q);
        poise_cuda_tree_answer *answers = take(CLIPS * FRAMES, sizeof *answers);
        solve_as(&l, false, q, answers);
        hold_against_library(&l, q, answers, scenes[i % 3]);
        free(q), free(answers);
        release(&l, pulls);
    }
}

// Every ninth marker is far off, and goals have a loss that lets it go.
TEST(clips_with_losses_are_those_of_the_library)
{
    for (int i = 0; i < 2; ++i) {
        library l = make("humanoid", true);
        double *q = take((size_t)(CLIPS * FRAMES * l.nq), sizeof *q);
        poise_cuda_tree_answer *answers = take(CLIPS * FRAMES, sizeof *answers);
        for (int k = 0; k < l.goal_count - 2; ++k) {
            l.goals[k].loss = i ? POISE_LOSS_HUBER : POISE_LOSS_GEMAN_MCCLURE;
            l.goals[k].loss_scale = 0.03;
        }
        for (int k = 0; k < CLIPS * FRAMES * l.goal_count; k += 9) {
            l.targets[k].y += 0.2;
        }
        solve_as(&l, false, q, answers);
        hold_against_library(&l, q, answers, i ? "Huber" : "Geman-McClure");
        free(q), free(answers);
        release(&l, true);
    }
}

// A frame whose cost is too large for a number says so, and the next ones go on.
TEST(a_frame_that_does_not_converge_says_so)
{
    library l = make("humanoid", false);
    double *q = take((size_t)(CLIPS * FRAMES * l.nq), sizeof *q);
    poise_cuda_tree_answer *answers = take(CLIPS * FRAMES, sizeof *answers);
    for (int k = 0; k < l.goal_count; ++k) {
        l.targets[5 * l.goal_count + k] = poise_vec3_make(1e200, 1e200, -1e200);
    }
    for (int team = 0; team < 2; ++team) {
        solve_as(&l, team, q, answers);
        ck_assert_int_eq(answers[5].outcome, POISE_OUTCOME_STALLED);
        ck_assert(poise_model_within_limits(l.model, q + 5 * l.nq));
        ck_assert_int_eq(answers[4].outcome, POISE_OUTCOME_CLOSEST);
        ck_assert_int_eq(answers[6].outcome, POISE_OUTCOME_CLOSEST);
    }
    free(q), free(answers);
    release(&l, false);
}

TEST(what_clips_do_not_know_is_named)
{
    library l = make("humanoid-quaternion", true);
    const char *why;
    bool only_clips;
    ck_assert(pz_body_serves(l.model, l.goals, l.goal_count, &l.options, &only_clips, &why) && only_clips);
    l.posture[l.nv - 1] = l.posture[l.nv - 2] = l.posture[l.nv - 3] = l.posture[3] = 1.0;
    ck_assert(!pz_body_serves(l.model, l.goals, l.goal_count, &l.options, &only_clips, &why) && strstr(why, "quaternion"));
    ck_assert(!pz_body_serves(l.model, l.goals + l.goal_count - 2, 2, &l.options, &only_clips, &why));
    release(&l, true);
}

TEST(a_team_has_the_bits_of_a_thread)
{
    library l = make("humanoid", true);
    size_t numbers = (size_t)(CLIPS * FRAMES * l.nq);
    double *q = take(numbers, sizeof *q), *alone = take(numbers, sizeof *alone);
    solve_as(&l, false, alone, NULL);
    solve_as(&l, true, q, NULL);
    ck_assert(memcmp(q, alone, numbers * sizeof *q) == 0);
    free(q), free(alone);
    release(&l, true);
}

TEST_IF(the_device_gives_the_bits_of_its_threads_on_the_host, no_device)
{
    library l = make("humanoid", true);
    size_t numbers = (size_t)(CLIPS * FRAMES * l.nq), goals = (size_t)l.goal_count;
    double *q = take(numbers, sizeof *q), *alone = take(numbers, sizeof *alone);
    poise_cuda_options options = poise_cuda_options_default();
    poise_cuda *cuda;
    poise_cuda_clip clips[CLIPS + 1];
    poise_error error = {.text = ""};
    options.solver = l.options;
    options.capacity = 100;
    ck_assert_msg(poise_cuda_create(l.model, l.goals, l.goal_count, &options, &cuda, &error) == POISE_OK, "%s", error.text);
    memcpy(q, l.q, numbers * sizeof *q);
    for (int c = 0; c < CLIPS; ++c) {
        size_t first = (size_t)l.begin[c];
        clips[c] = (poise_cuda_clip){.frames = FRAMES,
                                     .targets = l.targets + first * goals,
                                     .weights = l.weights + first * goals,
                                     .q = q + first * (size_t)l.nq};
    }
    clips[CLIPS] = clips[0];
    clips[CLIPS].frames = 0;
    ck_assert_int_eq(poise_cuda_solve_clips(cuda, clips, CLIPS + 1, &error), POISE_OK);
    ck_assert_int_eq(clips[0].status, POISE_OK);
    ck_assert_int_eq(clips[CLIPS].status, POISE_ERROR_ARGUMENT); // no frames
    solve_as(&l, false, alone, NULL);
    ck_assert(memcmp(q, alone, numbers * sizeof *q) == 0);
    ck_assert_int_eq(poise_cuda_queue_markers(cuda, l.targets, NULL, q, NULL, 1, NULL, &error), POISE_ERROR_UNSUPPORTED);
    poise_cuda_destroy(cuda);
    free(q), free(alone);
    release(&l, true);
}
