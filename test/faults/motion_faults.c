// Clips, markers, tracking, calibration and retargeting: the calls that take memory.
#include "faults.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

MAKES(clip_create, poise_clip, poise_clip_destroy, poise_clip_create(10, 4, 0.1, a, &made, e))

MAKES(clip_trim, poise_clip, poise_clip_destroy, poise_clip_trim(stage.clip, 1, 2, a, &made, e))

MAKES(clip_resample, poise_clip, poise_clip_destroy, poise_clip_resample(stage.clip, stage.model, 0.003, a, &made, e))

static poise_status markers_create(const poise_allocator *a, poise_error *e)
{
    static const char *const labels[] = {"a", "b"};
    poise_markers *made = UNTOUCHED;
    poise_status status = poise_markers_create(10, 2, 100.0, labels, a, &made, e);
    FINISH(status, made, poise_markers_destroy);
}

MAKES(markers_trim, poise_markers, poise_markers_destroy, poise_markers_trim(stage.markers, 1, 2, a, &made, e))

static poise_status markers_select(const poise_allocator *a, poise_error *e)
{
    static const char *const label[] = {"Anna:LFHD"};
    poise_markers *recording, *made = UNTOUCHED;
    ck_assert_int_eq(poise_markers_create(1, 1, 100, label, NULL, &recording, NULL), POISE_OK);
    poise_status status = poise_markers_select(recording, "Anna", a, &made, e);
    poise_markers_destroy(recording);
    FINISH(status, made, poise_markers_destroy);
}

MAKES(markers_resample, poise_markers, poise_markers_destroy, poise_markers_resample(stage.markers, 70.0, a, &made, e))

static poise_status markers_from_clip(const poise_allocator *a, poise_error *e)
{
    poise_markers *made = UNTOUCHED;
    poise_scale metres = {1.0, POISE_UP_Y};
    poise_status status = poise_markers_from_clip(stage.model, stage.clip, metres, stage.placements, MARKERS, a, &made, e);
    FINISH(status, made, poise_markers_destroy);
}

static poise_track_problem tracking(void)
{
    poise_track_problem problem = poise_track_problem_default();
    problem.model = stage.model;
    problem.placements = stage.placements;
    problem.placement_count = MARKERS;
    problem.markers = stage.markers;
    return problem;
}

// One frame and its deviations. Calibrating has a row of its own.
static poise_recording_problem recording(void)
{
    poise_recording_problem problem = poise_recording_problem_default();
    problem.model = stage.model;
    problem.scale = (poise_scale){1.0, POISE_UP_Y};
    problem.markers = stage.markers;
    problem.placements = stage.placements;
    problem.placement_count = MARKERS;
    problem.last = 0;
    problem.track.restarts = 0;
    problem.track.solver.max_iterations = 3;
    problem.deviations = true;
    return problem;
}

static poise_status track_recording(const poise_allocator *a, poise_error *e)
{
    poise_recording_result *made = UNTOUCHED;
    poise_recording_problem problem = recording();
    poise_status status = poise_track_recording(&problem, a, &made, e);
    FINISH(status, made, poise_recording_destroy);
}

static poise_status recording_match(const poise_allocator *a, poise_error *e)
{
    poise_recording_result *made = UNTOUCHED;
    poise_recording_problem problem = recording();
    problem.markers = NULL;
    problem.from = stage.model;
    problem.clip = stage.clip;
    problem.first = problem.last = 1;
    poise_status status = poise_recording_match(&problem, a, &made, e);
    FINISH(status, made, poise_recording_destroy);
}

static poise_status tracker_create(const poise_allocator *a, poise_error *e)
{
    poise_tracker *made = UNTOUCHED;
    poise_track_problem problem = tracking();
    problem.smoothness = 0.1;
    poise_status status = poise_tracker_create(&problem, a, &made, e);
    FINISH(status, made, poise_tracker_destroy);
}

static poise_status track(const poise_allocator *a, poise_error *e)
{
    poise_clip *made = UNTOUCHED;
    poise_track_frame frames[FRAMES];
    memset(frames, 0x5a, sizeof frames);
    poise_track_frame before = frames[0];
    poise_track_problem problem = tracking();
    problem.q_start = stage.q;
    problem.chunk = 4;
    problem.workers = 2;
    problem.restarts = 1;
    poise_status status = poise_track(&problem, a, &made, frames, e);
    if (status != POISE_OK) {
        ck_assert_mem_eq(&frames[0], &before, sizeof before);
    }
    FINISH(status, made, poise_clip_destroy);
}

static poise_status track_whole(const poise_allocator *a, poise_error *e)
{
    poise_clip *made = UNTOUCHED;
    poise_track_problem problem = tracking();
    poise_sequence_options options = poise_sequence_options_default();
    problem.q_start = stage.q;
    problem.restarts = 1;
    options.max_iterations = 2;
    poise_status status = poise_track_whole(&problem, &options, a, &made, NULL, NULL, e);
    FINISH(status, made, poise_clip_destroy);
}

static poise_status live_create(const poise_allocator *a, poise_error *e)
{
    poise_live *made = UNTOUCHED;
    poise_track_problem problem = tracking();
    poise_sequence_options options = poise_sequence_options_default();
    poise_status status = poise_live_create(&problem, &options, 100, 12, a, &made, e);
    FINISH(status, made, poise_live_destroy);
}

static poise_status track_live(const poise_allocator *a, poise_error *e)
{
    poise_clip *made = UNTOUCHED;
    poise_track_problem problem = tracking();
    poise_sequence_options options = poise_sequence_options_default();
    problem.q_start = stage.q;
    poise_status status = poise_track_live(&problem, &options, 12, a, &made, NULL, e);
    FINISH(status, made, poise_clip_destroy);
}

static const poise_goal *same_goal(void *user, int frame, int *count)
{
    (void)frame;
    *count = 1;
    return user;
}

static poise_status sequence_solve(const poise_allocator *a, poise_error *e)
{
    poise_clip *clip = fault_walk(stage.model);
    poise_goal goal = poise_goal_position(stage.sites[0].body, stage.sites[0].local, (poise_vec3){0, 1, 0});
    poise_sequence_options options = poise_sequence_options_default();
    options.max_iterations = 2;
    poise_status status = poise_sequence_solve(stage.model, &options, same_goal, &goal, clip, a, NULL, e);
    poise_clip_destroy(clip);
    return status;
}

static poise_status track_measure(const poise_allocator *a, poise_error *e)
{
    poise_track_frame frames[FRAMES] = {{0}};
    poise_track_problem problem = tracking();
    poise_track_summary summary = {.held = -7};
    poise_status status = poise_track_measure(&problem, stage.clip, frames, a, &summary, e);
    ck_assert(status == POISE_OK || summary.held == -7);
    return status;
}

static poise_status track_hidden(const poise_allocator *a, poise_error *e)
{
    poise_track_problem problem = tracking();
    bool *hidden = malloc((size_t)stage.clip->frames * (size_t)poise_model_info(stage.model).joints);
    ck_assert_ptr_nonnull(hidden);
    poise_status status = poise_track_hidden(&problem, stage.clip, NULL, a, hidden, e);
    free(hidden);
    return status;
}

static poise_status track_uncertainty(const poise_allocator *a, poise_error *e)
{
    poise_track_problem problem = tracking();
    double *deviation = malloc((size_t)stage.clip->frames * (size_t)poise_model_info(stage.model).nv * sizeof *deviation);
    ck_assert_ptr_nonnull(deviation);
    poise_uncertainty_report report = {.noise = -7};
    poise_status status = poise_track_uncertainty(&problem, stage.clip, NULL, 0.01, a, deviation, &report, e);
    ck_assert(status == POISE_OK || report.noise == -7);
    free(deviation);
    return status;
}

static poise_status verdict_find(const poise_allocator *a, poise_error *e)
{
    poise_track_problem track = tracking();
    poise_verdict_problem problem = poise_verdict_problem_default();
    problem.track = &track;
    problem.clip = stage.clip;
    poise_verdict verdict = {.count = -7};
    poise_finding findings[4];
    poise_status status = poise_verdict_find(&problem, a, &verdict, findings, 4, e);
    ck_assert(status == POISE_OK || verdict.count == -7);
    return status;
}

static poise_status path_judge(const poise_allocator *a, poise_error *e)
{
    poise_path_problem problem = poise_path_problem_default();
    problem.model = stage.model, problem.q = stage.clip->q, problem.poses = stage.clip->frames;
    poise_verdict verdict = {.count = -7};
    poise_status status = poise_path_judge(&problem, a, &verdict, NULL, 0, e);
    ck_assert(status == POISE_OK || verdict.count == -7);
    return status;
}

static poise_status joint_angles(const poise_allocator *a, poise_error *e)
{
    static double angles[NUMBERS * POISE_ANGLE_COUNT];
    poise_clip *clip = NULL;
    ck_assert_int_eq(poise_clip_create(1, poise_model_info(stage.model).nq, 1.0, NULL, &clip, NULL), POISE_OK);
    poise_model_neutral(stage.model, clip->q);
    poise_status status = poise_joint_angles(stage.model, clip, a, angles, e);
    poise_clip_destroy(clip);
    return status;
}

static poise_status joint_angle_deviations(const poise_allocator *a, poise_error *e)
{
    static double deviation[NUMBERS * POISE_ANGLE_COUNT];
    poise_track_problem problem = tracking();
    return poise_joint_angle_deviations(&problem, stage.clip, NULL, a, deviation, e);
}

static poise_status recording_angles(const poise_allocator *a, poise_error *e)
{
    static double angles[NUMBERS * POISE_ANGLE_COUNT];
    poise_recording_result *made = NULL;
    poise_recording_problem problem = recording();
    ck_assert_int_eq(poise_track_recording(&problem, NULL, &made, NULL), POISE_OK);
    poise_status status = poise_recording_angles(made, a, angles, e);
    poise_recording_destroy(made);
    return status;
}

static poise_status recording_centres(const poise_allocator *a, poise_error *e)
{
    poise_markers *centres = UNTOUCHED;
    poise_recording_result *made = NULL;
    poise_recording_problem problem = recording();
    ck_assert_int_eq(poise_track_recording(&problem, NULL, &made, NULL), POISE_OK);
    poise_status status = poise_recording_centres(made, a, &centres, e);
    ck_assert(status == POISE_OK ? centres != NULL : centres == NULL);
    if (status == POISE_OK) {
        poise_markers_destroy(centres);
    }
    poise_recording_destroy(made);
    return status;
}

static poise_status joint_angles_seen(const poise_allocator *a, poise_error *e)
{
    bool seen[POISE_ANGLE_COUNT];
    poise_placement place = {.label = "a", .weight = 1};
    return poise_joint_angles_seen(stage.model, &place, 1, a, seen, e);
}

static poise_status joint_angles_hidden(const poise_allocator *a, poise_error *e)
{
    bool joints[NUMBERS] = {false}, hidden[POISE_ANGLE_COUNT];
    return poise_joint_angles_hidden(stage.model, joints, 1, a, hidden, e);
}

// Says nothing but how many there are: none without memory.
static poise_status joint_centres(const poise_allocator *a, poise_error *e)
{
    (void)e;
    return poise_joint_centres(stage.model, a, NULL, 0) > 0 ? POISE_OK : POISE_ERROR_MEMORY;
}

static poise_status retarget_points(const poise_allocator *a, poise_error *e)
{
    poise_markers *made = UNTOUCHED;
    static poise_placement placements[NUMBERS];
    poise_retarget_problem problem = {.from = stage.model, .clip = stage.clip, .to = stage.model};
    poise_status status = poise_retarget_points(&problem, a, &made, placements, NULL, e);
    FINISH(status, made, poise_markers_destroy);
}

static poise_status overlap_measure(const poise_allocator *a, poise_error *e)
{
    poise_vec3 at = {0, 0, 0};
    poise_hull hulls[2] = {{.body = 0, .corners = &at, .corner_count = 1, .radius = 0.1},
                           {.corners = &at, .corner_count = 1}};
    poise_overlap_problem problem = poise_overlap_problem_default();
    problem.model = stage.model, problem.clip = stage.clip;
    problem.hulls = hulls, problem.hull_count = 2;
    poise_overlap overlap = {.pairs = -7};
    poise_status status = poise_overlap_measure(&problem, a, &overlap, e);
    ck_assert_int_eq(overlap.pairs == -7, status != POISE_OK);
    return status;
}

static poise_status retarget(const poise_allocator *a, poise_error *e)
{
    poise_clip *made = UNTOUCHED;
    poise_retarget_task task = poise_retarget_task_default();
    task.from = task.to = stage.model;
    task.clip = stage.clip;
    task.feet = POISE_FEET_PLANT;
    poise_status status = poise_retarget(&task, a, &made, NULL, NULL, e);
    FINISH(status, made, poise_clip_destroy);
}

static poise_status stance_create(const poise_allocator *a, poise_error *e)
{
    poise_stance *made = UNTOUCHED;
    poise_status status = poise_stance_create(stage.model, NULL, POISE_UP_UNKNOWN, NULL, 0, a, &made, e);
    FINISH(status, made, poise_stance_destroy);
}

static poise_status roles_match(const poise_allocator *a, poise_error *e)
{
    poise_role_map map;
    poise_retarget_task task = poise_retarget_task_default();
    task.from = task.to = stage.model;
    task.clip = stage.clip;
    return poise_roles_match(&task, a, &map, e);
}

static poise_status calibrate(const poise_allocator *a, poise_error *e)
{
    poise_model *made = UNTOUCHED;
    poise_placement placements[MARKERS];
    memcpy(placements, stage.placements, sizeof placements);
    placements[3].local.x = NAN;
    poise_calibration problem = poise_calibration_default();
    problem.model = stage.model;
    problem.placements = placements;
    problem.placement_count = MARKERS;
    problem.markers = stage.markers;
    problem.frame_count = 2;
    problem.q = stage.q;
    problem.rounds = 1;
    problem.scaling = POISE_SCALING_SEGMENTS;
    problem.solver.max_iterations = 5;
    poise_calibration_report report = {.frames = -7};
    poise_status status = poise_calibrate(&problem, a, &made, &report, e);
    if (status != POISE_OK) {
        ck_assert(isnan(placements[3].local.x) && report.frames == -7);
        for (int i = 0; i < 3; ++i) {
            const poise_placement *now = &placements[i], *before = &stage.placements[i]; // not their padding
            ck_assert_mem_eq(&now->local, &before->local, sizeof now->local);
            ck_assert(now->label == before->label && now->body == before->body && now->weight == before->weight);
        }
    }
    FINISH(status, made, poise_model_destroy);
}

static poise_status kept_measure(const poise_allocator *a, poise_error *e)
{
    poise_constraint pin = poise_constraint_default(POISE_CONSTRAINT_CONNECT);
    poise_kept_problem problem = poise_kept_problem_default();
    problem.model = stage.model, problem.clip = stage.clip;
    problem.constraints = &pin, problem.constraint_count = 1;
    poise_kept kept = {.broken = -7};
    poise_status status = poise_kept_measure(&problem, a, &kept, NULL, e);
    ck_assert((kept.broken == -7) == (status != POISE_OK));
    return status;
}

const fault_row motion_faults[] = {
    {"poise_calibrate", calibrate, false},
    {"poise_clip_create", clip_create, false},
    {"poise_clip_resample", clip_resample, false},
    {"poise_clip_trim", clip_trim, false},
    {"poise_joint_angle_deviations", joint_angle_deviations, false},
    {"poise_joint_angles", joint_angles, false},
    {"poise_joint_angles_hidden", joint_angles_hidden, false},
    {"poise_joint_angles_seen", joint_angles_seen, false},
    {"poise_joint_centres", joint_centres, true},
    {"poise_kept_measure", kept_measure, false},
    {"poise_live_create", live_create, false},
    {"poise_markers_create", markers_create, false},
    {"poise_markers_from_clip", markers_from_clip, false},
    {"poise_markers_resample", markers_resample, false},
    {"poise_markers_select", markers_select, false},
    {"poise_markers_trim", markers_trim, false},
    {"poise_overlap_measure", overlap_measure, false},
    {"poise_recording_angles", recording_angles, false},
    {"poise_recording_centres", recording_centres, false},
    {"poise_recording_match", recording_match, false},
    {"poise_retarget", retarget, false},
    {"poise_retarget_points", retarget_points, false},
    {"poise_roles_match", roles_match, false},
    {"poise_sequence_solve", sequence_solve, false},
    {"poise_stance_create", stance_create, false},
    {"poise_track", track, false},
    {"poise_track_live", track_live, false},
    {"poise_track_hidden", track_hidden, false},
    {"poise_track_measure", track_measure, false},
    {"poise_track_recording", track_recording, false},
    {"poise_track_uncertainty", track_uncertainty, false},
    {"poise_track_whole", track_whole, false},
    {"poise_tracker_create", tracker_create, false},
    {"poise_verdict_find", verdict_find, false},
    {"poise_path_judge", path_judge, false},
    {NULL, NULL, false},
};
