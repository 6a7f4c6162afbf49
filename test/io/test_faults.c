// Faults: every public call that takes memory, with the n-th request failing for every n, once and for good. Each time the
// answer is POISE_ERROR_MEMORY, outputs are untouched and nothing leaks.
//
// A table has one row for each call. One test reads the public headers and fails for a call that has no row.
#include "support/fault_stage.h"
#include "support/meter.h"
#include "support/test_main.h"

#include <poise/io.h>
#include <poise/opensim.h>
#include <poise/poise.h>
#include <scenes/scenes.h>

#include <dirent.h>
#include <math.h>
#include <string.h>

#define MOST 20000

// ---- One attempt for each call -------------------------------------------------------------------------------------------

// Outputs start as this address and must keep it on failure.
static char nowhere;
#define UNTOUCHED ((void *)&nowhere)

// On success destroy what was made; otherwise it must be untouched.
#define FINISH(status, made, destroy)                                                                                       \
    do {                                                                                                                    \
        if ((status) == POISE_OK) {                                                                                         \
            destroy(made);                                                                                                  \
        } else {                                                                                                            \
            ck_assert_ptr_eq(made, UNTOUCHED);                                                                              \
        }                                                                                                                   \
        return status;                                                                                                      \
    } while (0)

static poise_status batch_create(const poise_allocator *a, poise_error *e)
{
    (void)e;
    poise_batch *made = UNTOUCHED;
    poise_batch_options options = poise_batch_options_default();
    options.workers = 3;
    poise_status status = poise_batch_create(stage.model, &options, a, &made, NULL);
    FINISH(status, made, poise_batch_destroy);
}

static poise_status erik_create(const poise_allocator *a, poise_error *e)
{
    poise_erik *made = UNTOUCHED;
    poise_erik_options options = poise_erik_options_default();
    poise_status status = poise_erik_create(stage.arm, &options, a, &made, e);
    FINISH(status, made, poise_erik_destroy);
}

static poise_status expressive_create(const poise_allocator *a, poise_error *e)
{
    poise_expressive *made = UNTOUCHED;
    poise_expressive_options options = poise_expressive_options_default();
    options.use_erik = true;
    poise_status status = poise_expressive_create(stage.arm, &options, a, &made, e);
    FINISH(status, made, poise_expressive_destroy);
}

static poise_status filter_create(const poise_allocator *a, poise_error *e)
{
    poise_filter_joint joint = poise_filter_joint_default();
    for (int with_model = 0; with_model < 2; ++with_model) {
        poise_filter *made = UNTOUCHED;
        poise_status status = with_model ? poise_filter_create(stage.model, NULL, 0, a, &made, e)
                                         : poise_filter_create(NULL, &joint, 1, a, &made, e);
        if (status != POISE_OK || with_model) {
            FINISH(status, made, poise_filter_destroy);
        }
        poise_filter_destroy(made);
    }
    return POISE_OK;
}

// poise_file_clearance finds its pairs by poise_pairs_find.
static poise_status file_clearance(const poise_allocator *a, poise_error *e)
{
    poise_file file = {.model = stage.model, .shape_count = 1, .shapes = &(poise_shape){.pose = poise_pose_identity()}};
    poise_constraint *made = NULL;
    poise_status status = poise_file_clearance(&file, NULL, 0, NULL, a, &made, e);
    poise_bytes_release(a, made);
    return status;
}

static poise_status kinematics_create(const poise_allocator *a, poise_error *e)
{
    (void)e;
    poise_kinematics *made = UNTOUCHED;
    poise_status status = poise_kinematics_create(stage.model, a, &made, NULL);
    FINISH(status, made, poise_kinematics_destroy);
}

static poise_status objective_create(const poise_allocator *a, poise_error *e)
{
    (void)e;
    poise_objective *made = UNTOUCHED;
    poise_status status = poise_objective_create(stage.model, 2, a, &made, NULL);
    FINISH(status, made, poise_objective_destroy);
}

static poise_status sensitivity_create(const poise_allocator *a, poise_error *e)
{
    (void)e;
    poise_sensitivity *made = UNTOUCHED;
    poise_status status = poise_sensitivity_create(stage.model, 2, a, &made, NULL);
    FINISH(status, made, poise_sensitivity_destroy);
}

static poise_status solver_create(const poise_allocator *a, poise_error *e)
{
    (void)e;
    poise_solver_options options = poise_solver_options_default();
    for (int m = 0; m < POISE_METHOD_COUNT; ++m) { // each has scratch memory of its own
        poise_solver *made = UNTOUCHED;
        options.method = (poise_method)m;
        poise_status status = poise_solver_create(stage.model, &options, a, &made, NULL);
        if (status != POISE_OK) {
            ck_assert_ptr_eq(made, UNTOUCHED);
            return status;
        }
        poise_solver_destroy(made);
    }
    return POISE_OK;
}

// A builder takes memory with every joint, tool and table.
static poise_status add_all(poise_builder *builder, poise_error *e)
{
    poise_status status = POISE_OK;
    char name[16];
    for (int i = 0; i < 40 && status == POISE_OK; ++i) {
        poise_joint joint = *poise_model_joint_info(stage.model, 1).given;
        snprintf(name, sizeof name, "j%d", i);
        joint.name = joint.body = name;
        joint.parent = i == 0 ? NULL : "j0";
        status = poise_builder_add_joint(builder, &joint, e);
        poise_tool tool = {name, name, poise_pose_identity()};
        status = status == POISE_OK ? poise_builder_add_tool(builder, &tool, e) : status;
    }
    poise_dh_row rows[6];
    for (int i = 0; i < 6; ++i) {
        rows[i] = (poise_dh_row){.a = 0.1, .lower = -1, .upper = 1};
    }
    return status == POISE_OK ? poise_builder_add_dh(builder, "dh", "j3", POISE_DH_CLASSIC, rows, 6, e) : status;
}

static poise_status builder_create(const poise_allocator *a, poise_error *e)
{
    poise_builder *made = UNTOUCHED;
    poise_status status = poise_builder_create(a, &made, NULL);
    if (status != POISE_OK) {
        ck_assert_ptr_eq(made, UNTOUCHED);
        *e = (poise_error){.status = status, .text = "no text promised"};
        return status;
    }
    status = add_all(made, e);
    poise_builder_destroy(made);
    return status;
}

static poise_status model_create(const poise_allocator *a, poise_error *e)
{
    poise_model *made = UNTOUCHED;
    poise_status status = poise_model_create(stage.builder, a, &made, e);
    FINISH(status, made, poise_model_destroy);
}

static poise_status model_rescale(const poise_allocator *a, poise_error *e)
{
    poise_model *made = UNTOUCHED;
    double scale[NUMBERS];
    for (int k = 0; k < poise_model_info(stage.model).joints; ++k) {
        scale[k] = 1.1;
    }
    poise_status status = poise_model_rescale(stage.model, scale, a, &made, e);
    FINISH(status, made, poise_model_destroy);
}

static poise_status clip_create(const poise_allocator *a, poise_error *e)
{
    (void)e;
    poise_clip *made = UNTOUCHED;
    poise_status status = poise_clip_create(10, 4, 0.1, a, &made, NULL);
    FINISH(status, made, poise_clip_destroy);
}

static poise_status clip_trim(const poise_allocator *a, poise_error *e)
{
    (void)e;
    poise_clip *made = UNTOUCHED;
    poise_status status = poise_clip_trim(stage.clip, 1, 2, a, &made, NULL);
    FINISH(status, made, poise_clip_destroy);
}

static poise_status clip_resample(const poise_allocator *a, poise_error *e)
{
    (void)e;
    poise_clip *made = UNTOUCHED;
    poise_status status = poise_clip_resample(stage.clip, stage.model, 0.003, a, &made, NULL);
    FINISH(status, made, poise_clip_destroy);
}

static poise_status markers_create(const poise_allocator *a, poise_error *e)
{
    (void)e;
    static const char *const labels[] = {"a", "b"};
    poise_markers *made = UNTOUCHED;
    poise_status status = poise_markers_create(10, 2, 100.0, labels, a, &made, NULL);
    FINISH(status, made, poise_markers_destroy);
}

static poise_status markers_trim(const poise_allocator *a, poise_error *e)
{
    (void)e;
    poise_markers *made = UNTOUCHED;
    poise_status status = poise_markers_trim(stage.markers, 1, 2, a, &made, NULL);
    FINISH(status, made, poise_markers_destroy);
}

static poise_status markers_select(const poise_allocator *a, poise_error *e)
{
    static const char *const label[] = {"Anna:LFHD"};
    poise_markers *recording, *made = UNTOUCHED;
    ck_assert_int_eq(poise_markers_create(1, 1, 100, label, NULL, &recording, NULL), POISE_OK);
    poise_status status = poise_markers_select(recording, "Anna", a, &made, e);
    poise_markers_destroy(recording);
    FINISH(status, made, poise_markers_destroy);
}

static poise_status markers_resample(const poise_allocator *a, poise_error *e)
{
    (void)e;
    poise_markers *made = UNTOUCHED;
    poise_status status = poise_markers_resample(stage.markers, 70.0, a, &made, NULL);
    FINISH(status, made, poise_markers_destroy);
}

static poise_status markers_from_clip(const poise_allocator *a, poise_error *e)
{
    (void)e;
    poise_markers *made = UNTOUCHED;
    poise_scale metres = {1.0, POISE_UP_Y};
    poise_status status =
        poise_markers_from_clip(stage.model, stage.clip, metres, stage.placements, MARKERS, a, &made, NULL);
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

static const poise_goal *same_goal(void *user, int frame, int *count)
{
    (void)frame;
    *count = 1;
    return user;
}

static poise_status sequence_solve(const poise_allocator *a, poise_error *e)
{
    poise_clip *clip = walk(stage.model);
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

static poise_status goal_list_create(const poise_allocator *a, poise_error *e)
{
    poise_goal_list *made = UNTOUCHED;
    poise_goal_words words = {.model = stage.model};
    poise_status status = poise_goal_list_create(a, &made, e);
    if (status != POISE_OK) {
        ck_assert_ptr_eq(made, UNTOUCHED);
        return status;
    }
    status = poise_goal_list_parse(made, &words, "stay; posture neutral weight 2; stay", e);
    poise_goal_list_destroy(made);
    return status;
}

// ---- OpenSim -------------------------------------------------------------------------------------------------------------

static poise_status ik_setup_read(const poise_allocator *a, poise_error *e)
{
    static const char text[] = "<InverseKinematicsTool><model_file>m.osim</model_file><IKTaskSet><objects><IKMarkerTask "
                               "name=\"a\"/></objects></IKTaskSet></InverseKinematicsTool>";
    poise_ik_setup *made = UNTOUCHED;
    poise_status status = poise_ik_setup_read(text, sizeof text - 1, a, &made, e);
    FINISH(status, made, poise_ik_setup_destroy);
}

static const char sensor_text[] = "DataType=Quaternion\nendheader\ntime\tpelvis_imu\n0\t1,0,0,0\n0.1\t1,0,0,0\n";

static poise_status orientations_read(const poise_allocator *a, poise_error *e)
{
    poise_orientations *made = UNTOUCHED;
    poise_status status = poise_orientations_read(sensor_text, sizeof sensor_text - 1, a, &made, e);
    FINISH(status, made, poise_orientations_destroy);
}

static const char leg_text[] =
    "<OpenSimDocument Version=\"40000\"><Model><BodySet><objects><Body name=\"pelvis\"><mass>1</mass></Body></objects>"
    "</BodySet><JointSet><objects><FreeJoint name=\"j\"><socket_parent_frame>/ground</socket_parent_frame>"
    "<socket_child_frame>/bodyset/pelvis</socket_child_frame></FreeJoint></objects></JointSet><MarkerSet><objects>"
    "<Marker name=\"a\"><socket_parent_frame>pelvis</socket_parent_frame><location>0 0 0</location></Marker>"
    "<Marker name=\"b\"><socket_parent_frame>pelvis</socket_parent_frame><location>1 0 0</location></Marker>"
    "</objects></MarkerSet></Model></OpenSimDocument>";

static poise_status make_scaled(const poise_allocator *a, poise_osim_scaled **made, poise_error *e)
{
    static const char setup[] =
        "<ScaleTool><mass>2</mass><ModelScaler><scaling_order>measurements manualScale</scaling_order><MeasurementSet>"
        "<objects><Measurement name=\"m\"><MarkerPairSet><objects><MarkerPair><markers>a b</markers></MarkerPair></objects>"
        "</MarkerPairSet><BodyScaleSet><objects><BodyScale name=\"pelvis\"><axes>X Y Z</axes></BodyScale></objects>"
        "</BodyScaleSet></Measurement></objects></MeasurementSet><ScaleSet><objects><Scale><scales>1 1 1</scales>"
        "<segment>other</segment></Scale></objects></ScaleSet></ModelScaler><MarkerPlacer><IKTaskSet><objects>"
        "<IKMarkerTask name=\"a\"/><IKMarkerTask name=\"b\"/></objects></IKTaskSet></MarkerPlacer></ScaleTool>";
    static const char *const labels[] = {"a", "b"};
    poise_markers *markers = NULL;
    ck_assert_int_eq(poise_markers_create(1, 2, 100, labels, NULL, &markers, NULL), POISE_OK);
    markers->position[0] = poise_vec3_make(0, 0, 0);
    markers->position[1] = poise_vec3_make(1.1, 0, 0);
    poise_osim_scaling problem = {.model = leg_text,
                                  .model_size = sizeof leg_text - 1,
                                  .setup = setup,
                                  .setup_size = sizeof setup - 1,
                                  .markers = markers};
    poise_status status = poise_osim_scale(&problem, a, made, e);
    poise_markers_destroy(markers);
    return status;
}

static poise_status osim_scale(const poise_allocator *a, poise_error *e)
{
    poise_osim_scaled *made = UNTOUCHED;
    poise_status status = make_scaled(a, &made, e);
    FINISH(status, made, poise_osim_scaled_destroy);
}

static poise_status osim_scale_judge(const poise_allocator *a, poise_error *e)
{
    poise_osim_scaled *scaled = NULL;
    ck_assert_int_eq(make_scaled(NULL, &scaled, NULL), POISE_OK);
    poise_thresholds usual = poise_scaling_thresholds();
    poise_verdict verdict = {.count = -7};
    poise_status status = poise_osim_scale_judge(scaled, &usual, a, &verdict, NULL, 0, e);
    ck_assert(status == POISE_OK || verdict.count == -7);
    poise_osim_scaled_destroy(scaled);
    return status;
}

static poise_status scaling_judge(const poise_allocator *a, poise_error *e)
{
    static poise_vec3 factors[NUMBERS];
    poise_scaling_problem problem = {.model = stage.model, .factors = factors, .thresholds = poise_scaling_thresholds()};
    poise_verdict verdict = {.count = -7};
    poise_status status = poise_scaling_judge(&problem, a, &verdict, NULL, 0, e);
    ck_assert(status == POISE_OK || verdict.count == -7);
    return status;
}

static poise_status track_sensors(const poise_allocator *a, poise_error *e)
{
    poise_orientations *o = NULL;
    poise_file *file = NULL;
    ck_assert_int_eq(poise_orientations_read(sensor_text, sizeof sensor_text - 1, NULL, &o, NULL), POISE_OK);
    ck_assert_int_eq(poise_read(leg_text, sizeof leg_text - 1, NULL, NULL, &file, NULL), POISE_OK);
    poise_sensor sensor = {.body = poise_model_find_body(file->model, "pelvis"), .offset = {0, 0, 0, 1}, .weight = 1};
    poise_sensor_problem problem = {.model = file->model,
                                    .q_start = file->postures[0].q,
                                    .orientations = o,
                                    .sensors = &sensor,
                                    .sensor_count = 1,
                                    .count = 2};
    poise_clip *made = UNTOUCHED;
    poise_status status = poise_track_sensors(&problem, a, &made, NULL, e);
    poise_orientations_destroy(o);
    poise_file_destroy(file);
    FINISH(status, made, poise_clip_destroy);
}

#include "edit_faults.h"

// ---- The table -----------------------------------------------------------------------------------------------------------

typedef poise_status (*attempt)(const poise_allocator *allocator, poise_error *error);

static const struct {
    const char *call;
    attempt run; // NULL: in test_readers.c
    bool says;   // fills a poise_error
} rows[] = {
    {"poise_batch_create", batch_create, false},
    {"poise_builder_create", builder_create, true},
    {"poise_bytes_release", NULL, false},
    {"poise_calibrate", calibrate, true},
    {"poise_clip_create", clip_create, false},
    {"poise_clip_append", clip_append, true},
    {"poise_clip_loop", clip_loop, true},
    {"poise_clip_mirror", clip_mirror, true},
    {"poise_clip_pin", clip_pin, true},
    {"poise_clip_reverse", clip_reverse, false},
    {"poise_clip_speed", clip_speed, false},
    {"poise_feet_pins", feet_pins, true},
    {"poise_clip_resample", clip_resample, false},
    {"poise_clip_trim", clip_trim, false},
    {"poise_erik_create", erik_create, true},
    {"poise_expressive_create", expressive_create, true},
    {"poise_filter_create", filter_create, true},
    {"poise_goal_list_create", goal_list_create, true},
    {"poise_pin_list_create", pin_list_create, true},
    {"poise_ik_setup_read", ik_setup_read, true},
    {"poise_joint_angles", joint_angles, true},
    {"poise_joint_centres", joint_centres, false},
    {"poise_kinematics_create", kinematics_create, false},
    {"poise_markers_create", markers_create, false},
    {"poise_markers_from_clip", markers_from_clip, false},
    {"poise_markers_resample", markers_resample, false},
    {"poise_markers_select", markers_select, true},
    {"poise_markers_trim", markers_trim, false},
    {"poise_model_create", model_create, true},
    {"poise_model_rescale", model_rescale, true},
    {"poise_objective_create", objective_create, false},
    {"poise_orientations_read", orientations_read, true},
    {"poise_osim_scale", osim_scale, true},
    {"poise_osim_scale_judge", osim_scale_judge, true},
    {"poise_pairs_find", file_clearance, true},
    {"poise_file_clearance", file_clearance, true},
    {"poise_read", NULL, true},
    {"poise_recording_match", recording_match, true},
    {"poise_retarget", retarget, true},
    {"poise_retarget_points", retarget_points, true},
    {"poise_roles_match", roles_match, true},
    {"poise_scaling_judge", scaling_judge, true},
    {"poise_sensitivity_create", sensitivity_create, false},
    {"poise_sequence_solve", sequence_solve, true},
    {"poise_solver_create", solver_create, false},
    {"poise_track", track, true},
    {"poise_track_measure", track_measure, true},
    {"poise_track_recording", track_recording, true},
    {"poise_track_sensors", track_sensors, true},
    {"poise_track_uncertainty", track_uncertainty, true},
    {"poise_track_whole", track_whole, true},
    {"poise_tracker_create", tracker_create, true},
    {"poise_verdict_find", verdict_find, true},
    {"poise_write", NULL, true},
};

#define ROWS ((int)(sizeof rows / sizeof rows[0]))

// The n-th request fails, alone or with all that follow. Returns false when there was no n-th request any more.
static bool fails_well(const char *call, attempt run, bool says, int n, bool for_good)
{
    meter m = {.fail_from = n, .fail_to = for_good ? MOST : n};
    poise_allocator allocator = {meter_allocate, meter_release, &m};
    poise_error error = {.text = ""};
    poise_status status = run(&allocator, &error);
    ck_assert_msg(m.live == 0, "%s, request %d: %d blocks left", call, n, m.live);
    if (m.requests < n) {
        ck_assert_msg(status == POISE_OK, "%s: %s", call, error.text);
        return false;
    }
    ck_assert_msg(status == POISE_ERROR_MEMORY, "%s, request %d: %s", call, n, poise_status_name(status));
    if (says && status != POISE_OK) {
        ck_assert_msg(error.status == status && error.text[0] != '\0', "%s, request %d: no words", call, n);
    }
    return true;
}

// Returns how many requests the call makes.
static int every_request_fails_once(const char *call, attempt run, bool says)
{
    int n = 1;
    while (fails_well(call, run, says, n, false)) {
        fails_well(call, run, says, n, true);
        n += 1;
        ck_assert_int_lt(n, MOST);
    }
    return n - 1;
}

TEST(every_call_that_takes_memory_survives_every_request_that_fails)
{
    open_stage();
    for (int i = 0; i < ROWS; ++i) {
        if (rows[i].run) {
            int requests = every_request_fails_once(rows[i].call, rows[i].run, rows[i].says);
            ck_assert_msg(requests >= 1, "%s asks for no memory", rows[i].call);
        }
    }
    close_stage();
}

// ---- No call is forgotten ------------------------------------------------------------------------------------------------

static bool has_row(const char *name, size_t length)
{
    for (int i = 0; i < ROWS; ++i) {
        if (strlen(rows[i].call) == length && strncmp(rows[i].call, name, length) == 0) {
            return true;
        }
    }
    return false;
}

// Every declaration "POISE_API ... name(... const poise_allocator * ...);" of a header. Returns how many there are.
static int check_header(const char *text)
{
    int found = 0;
    for (const char *at = strstr(text, "POISE_API "); at; at = strstr(at + 1, "POISE_API ")) {
        const char *end = strchr(at, ';'), *open = strchr(at, '(');
        const char *allocator = strstr(at, "const poise_allocator *");
        if (!end || !open || open > end || !allocator || allocator > end) {
            continue; // takes no memory, or is the macro itself
        }
        const char *name = open;
        while (name > at &&
               (name[-1] == '_' || (name[-1] >= 'a' && name[-1] <= 'z') || (name[-1] >= '0' && name[-1] <= '9'))) {
            name -= 1;
        }
        found += 1;
        ck_assert_msg(has_row(name, (size_t)(open - name)), "%.*s takes an allocator and has no row here",
                      (int)(open - name), name);
    }
    return found;
}

static char *load(const char *name)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", POISE_HEADERS_DIR, name);
    FILE *file = fopen(path, "rb");
    ck_assert_msg(file != NULL, "%s", path);
    fseek(file, 0, SEEK_END);
    size_t size = (size_t)ftell(file);
    rewind(file);
    char *text = calloc(1, size + 1);
    ck_assert_uint_eq(fread(text, 1, size, file), size);
    fclose(file);
    return text;
}

TEST(every_public_call_with_an_allocator_has_a_row)
{
    DIR *folder = opendir(POISE_HEADERS_DIR);
    ck_assert_ptr_nonnull(folder);
    int found = 0;
    for (struct dirent *entry = readdir(folder); entry; entry = readdir(folder)) {
        if (strstr(entry->d_name, ".h")) {
            char *text = load(entry->d_name);
            found += check_header(text);
            free(text);
        }
    }
    closedir(folder);
    ck_assert_int_eq(found, ROWS); // and no row without a call
}
