// Sensors of orientation against OpenSense: their places on a model, the heading, and the motion that follows them.
#include "num/vector.h"
#include "support/io_check.h"
#include "support/skeleton.h"

#include <poise/opensim.h>

#include <math.h>

#define DEGREES 57.29577951308232
#define MOST    16

static void release(void *orientations)
{
    poise_orientations_destroy(orientations);
}

static void release_clip(void *clip)
{
    poise_clip_destroy(clip);
}

static poise_orientations *orientations_of(const char *path)
{
    io_bytes bytes = io_load(path);
    poise_orientations *made = NULL;
    poise_error error = {0};
    ck_assert_msg(!poise_orientations_read(bytes.bytes, bytes.size, NULL, &made, &error), "%s", error.text);
    test_own(release, made);
    return made;
}

static poise_sensor_setup setup_of(const char *path)
{
    io_bytes bytes = io_load(path);
    poise_sensor_setup setup;
    poise_error error = {0};
    ck_assert_msg(!poise_sensor_setup_read(bytes.bytes, bytes.size, &setup, &error), "%s", error.text);
    return setup;
}

// Frames that OpenSense's placer wrote into the model are tools here.
TEST_DATA(sensors_sit_where_opensense_places_them, "osim/imu")
{
    const poise_file *model = io_read_data("osim/imu/subject07.osim", POISE_FORMAT_OSIM, NULL);
    const poise_file *theirs = io_read_data("osim/imu/std_calibrated_subject07.osim", POISE_FORMAT_OSIM, NULL);
    poise_sensor_setup setup = setup_of("osim/imu/imuPlacer.xml");
    poise_orientations *trial = orientations_of("osim/imu/imuOrientations.sto");
    poise_sensor sensors[MOST];
    double heading;
    int count = poise_place_sensors(model->model, model->postures[0].q, trial, &setup, sensors, MOST, &heading);
    ck_assert_int_eq(count, 8);
    ck_assert_double_eq_tol(heading * DEGREES, 29.358, 6e-4);
    for (int i = 0; i < count; ++i) {
        int tool = poise_model_find_tool(theirs->model, trial->label[sensors[i].column]);
        ck_assert_int_ge(tool, 0);
        quat there = poise_model_tool_info(theirs->model, tool).pose.rotation;
        double angle = 2.0 * v3_norm(quat_vec(quat_mul(quat_conj(there), sensors[i].offset)));
        ck_assert_msg(angle * DEGREES <= 1e-5, "%s: %g degrees", trial->label[sensors[i].column], angle * DEGREES);
    }
}

// Simbody at an accuracy of 1e-4 comes to 7.9728 degrees.
TEST_DATA(a_swing_is_followed_to_the_minimum, "osim/imu")
{
    const poise_file *model = io_read_data("osim/imu/subject07.osim", POISE_FORMAT_OSIM, NULL);
    poise_sensor_setup setup = setup_of("osim/imu/imuPlacerFaceNegX.xml");
    poise_orientations *trial = orientations_of("osim/imu/MT_012005D6_009-quaternions_calibration_trial_Facing_negX.sto");
    poise_orientations *swing = orientations_of("osim/imu/MT_012005D6_009-quaternions_RHJCSwinger.sto");
    poise_sensor sensors[MOST];
    poise_sensor_problem problem = {.model = model->model,
                                    .q_start = model->postures[0].q,
                                    .orientations = swing,
                                    .rotations = setup.rotations,
                                    .sensors = sensors,
                                    .count = 71,
                                    .step = 20};
    problem.sensor_count =
        poise_place_sensors(model->model, model->postures[0].q, trial, &setup, sensors, MOST, &problem.heading);
    ck_assert_int_eq(problem.sensor_count, 8);
    ck_assert_double_eq_tol(problem.heading * DEGREES, 113.238, 6e-4);
    ck_assert_int_eq(swing->frames, 1401);
    poise_clip *clip = NULL;
    poise_error error = {0};
    double rms[71], square = 0.0;
    ck_assert_msg(!poise_track_sensors(&problem, NULL, &clip, rms, &error), "%s", error.text);
    poise_thresholds thresholds = poise_thresholds_default();
    poise_verdict verdict;
    poise_finding findings[MOST + 1];
    ck_assert_int_eq(poise_sensors_judge(&problem, rms, &thresholds, &verdict, findings, MOST + 1, NULL), POISE_OK);
    ck_assert(verdict.level == POISE_VERDICT_GOOD && verdict.count == 0);
    problem.sensor_count -= 1; // one that no body carries is a finding
    ck_assert_int_eq(poise_sensors_judge(&problem, rms, &thresholds, &verdict, findings, MOST + 1, NULL), POISE_OK);
    ck_assert(verdict.count == 1 && findings[0].kind == POISE_FINDING_LEFT_OUT);
    ck_assert_int_eq(poise_sensors_judge(&problem, rms, &thresholds, &verdict, NULL, 0, NULL), POISE_OK); // or counted alone
    ck_assert_int_eq(verdict.count, 1);
    problem.sensor_count += 1;
    ck_assert_int_eq(poise_sensors_judge(&problem, NULL, &thresholds, &verdict, NULL, 0, NULL), POISE_ERROR_ARGUMENT);
    test_own(release_clip, clip);
    for (int i = 0; i < 71; ++i) {
        square += rms[i] * rms[i];
    }
    double all = sqrt(square / 71) * DEGREES;
    ck_assert_msg(all <= 7.9722 && all >= 7.9, "rms %.5f degrees", all);
    ck_assert_double_eq_tol(clip->start_time, 417.0, 1e-9);
}

TEST(sensors_move_to_the_columns_of_a_recording_that_may_lack_some)
{
    const char *placed[] = {"pelvis_imu", "femur_r_imu", "tibia_r_imu"}, *recorded[] = {"tibia_r_imu", "pelvis_imu"};
    poise_orientations calibration = {.count = 3, .label = placed}, recording = {.count = 2, .label = recorded};
    poise_sensor sensors[] = {{.column = 0, .body = 7}, {.column = 1, .body = 8}, {.column = 2, .body = 9}};
    ck_assert_int_eq(poise_find_sensors(&calibration, &recording, sensors, 3), 2);
    ck_assert(sensors[0].column == 1 && sensors[0].body == 7 && sensors[1].column == 0 && sensors[1].body == 9);
}
