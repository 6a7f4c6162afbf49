// Files, goals in words and OpenSim's tools: the calls that take memory.
#include "faults.h"

#include <poise/io.h>
#include <poise/opensim.h>

static poise_status file_clearance(const poise_allocator *a, poise_error *e)
{
    poise_file file = {.model = stage.model, .shape_count = 1, .shapes = &(poise_shape){.pose = poise_pose_identity()}};
    poise_constraint *made = UNTOUCHED;
    poise_status status = poise_file_clearance(&file, NULL, 0, NULL, a, &made, e);
    if (status == POISE_OK) {
        poise_bytes_release(a, made);
    } else {
        ck_assert_ptr_eq(made, UNTOUCHED);
    }
    return status;
}

static poise_status file_touching(const poise_allocator *a, poise_error *e)
{
    poise_shape shape = {.pose = poise_pose_identity()};
    poise_file file = {.model = stage.model, .shape_count = 1, .shapes = &shape};
    poise_constraint clearance = poise_constraint_default(POISE_CONSTRAINT_CLEARANCE), *made = UNTOUCHED;
    clearance.shapes = &shape, clearance.shape_count = 1;
    poise_status status = poise_file_touching(&file, &clearance, NULL, a, &made, e);
    if (status == POISE_OK) {
        poise_bytes_release(a, made);
    } else {
        ck_assert_ptr_eq(made, UNTOUCHED);
    }
    return status;
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

MAKES(orientations_read, poise_orientations, poise_orientations_destroy,
      poise_orientations_read(sensor_text, sizeof sensor_text - 1, a, &made, e))

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

MAKES(osim_scale, poise_osim_scaled, poise_osim_scaled_destroy, make_scaled(a, &made, e))

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

const fault_row io_faults[] = {
    {"poise_bytes_release", NULL, true},
    {"poise_file_clearance", file_clearance, false},
    {"poise_file_touching", file_touching, false},
    {"poise_goal_list_create", goal_list_create, false},
    {"poise_ik_setup_read", ik_setup_read, false},
    {"poise_orientations_read", orientations_read, false},
    {"poise_osim_scale", osim_scale, false},
    {"poise_osim_scale_judge", osim_scale_judge, false},
    {"poise_read", NULL, false},
    {"poise_scaling_judge", scaling_judge, false},
    {"poise_track_sensors", track_sensors, false},
    {"poise_write", NULL, false},
    {NULL, NULL, false},
};
