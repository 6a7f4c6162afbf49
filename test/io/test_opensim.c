// Inverse kinematics by OpenSim's own setups: its published answers are met, and its cost is not exceeded.
#include "support/io_check.h"

#include <poise/opensim.h>

#include <math.h>

#include "num/vector.h"
#include "support/skeleton.h"

#define DEGREES 57.29577951308232

static const struct {
    const char *model, *recording, *setup, *answer;
    double rms, worst; // degrees
    double cost;       // times OpenSim's, at most
} cases[] = {
    {"osim/gait2354/subject01_simbody.osim", "opensim/gait10_subject01_walk.trc", "osim/gait2354/subject01_Setup_IK.xml",
     "osim/gait2354/subject01_walk1_ik.mot", 0.0125, 0.125, 1.0},
    {"opensim/gait2354_subject01_simbody.osim", "opensim/gait2354_synthetic_markers.trc",
     "opensim/gait2354_IK_Tasks_uniform.xml", "opensim/gait2354_std_walk1_ik.mot", 0.005, 0.02, 1.0},
    {"opensim/gait10dof18musc_subject01.osim", "opensim/gait10_subject01_walk.trc", "opensim/gait10_walk_Setup_IK.xml",
     "opensim/gait10_subject01_walk_IK.mot", 0.0095, 0.06, 1.0},
};

typedef struct job {
    poise_file *model, *recording, *answer;
    poise_ik_setup *setup;
    poise_track_problem problem;
    poise_placement placements[64];
    double task[64], weights[64];
    bool unseen[64];
    poise_markers *markers; // between the setup's times
    poise_clip *clip;
} job;

static void release_markers(void *markers)
{
    poise_markers_destroy(markers);
}

static void release_setup(void *setup)
{
    poise_ik_setup_destroy(setup);
}

static void release_clip(void *clip)
{
    poise_clip_destroy(clip);
}

static void trim(job *j)
{
    poise_markers *m = j->recording->markers;
    poise_scale scale = j->model->scale;
    ck_assert_int_eq(poise_markers_match(m, j->model->model, &scale, NULL, NULL), POISE_OK);
    int first = (int)fmax(0, ceil((j->setup->start - m->start_time) * m->rate - 1e-6));
    int last = (int)fmin(m->frames - 1, floor((j->setup->end - m->start_time) * m->rate + 1e-6));
    ck_assert_int_eq(poise_markers_trim(m, first, last - first + 1, NULL, &j->markers, NULL), POISE_OK);
    test_own(release_markers, j->markers);
}

static void prepare(job *j, int row)
{
    poise_error error = {0};
    io_bytes setup = io_load(cases[row].setup);
    j->model = io_read_data(cases[row].model, POISE_FORMAT_OSIM, NULL);
    j->recording = io_read_data(cases[row].recording, POISE_FORMAT_TRC, NULL);
    j->answer = io_read_data(cases[row].answer, POISE_FORMAT_MOT, j->model->model);
    ck_assert_msg(!poise_ik_setup_read(setup.bytes, setup.size, NULL, &j->setup, &error), "%s", error.text);
    test_own(release_setup, j->setup);
    trim(j);
    int count = j->model->placement_count;
    ck_assert_int_le(count, 64);
    memcpy(j->placements, j->model->placements, (size_t)count * sizeof *j->placements);
    ck_assert_msg(!poise_ik_setup_apply(j->setup, j->model->model, j->model->postures[0].q, j->placements, &count, j->task,
                                        j->weights, &error),
                  "%s", error.text);
    poise_unseen_dofs(j->model->model, j->placements, count, j->weights, j->unseen);
    j->problem = poise_track_problem_default();
    j->problem.model = j->model->model;
    j->problem.placements = j->placements;
    j->problem.placement_count = count;
    j->problem.markers = j->markers;
    j->problem.q_start = j->model->postures[0].q;
    j->problem.task = j->task;
    j->problem.task_weights = j->weights;
    j->problem.solver.locked = j->unseen;
    j->problem.robust = false;
    j->problem.max_turn = 10.0;
}

// OpenSim's J, summed over the frames of a clip.
static double cost_of(const job *j, const poise_clip *clip)
{
    figure f = figure_of(j->model->model);
    double total = 0.0;
    for (int frame = 0; frame < clip->frames; ++frame) {
        double sum = 0.0, weight = 0.0, held = 0.0;
        memcpy(f.q, clip->q + (size_t)frame * (size_t)f.nq, (size_t)f.nq * sizeof *f.q);
        update(&f);
        for (int i = 0; i < j->problem.placement_count; ++i) {
            const poise_placement *p = &j->placements[i];
            int at = poise_markers_find(j->markers, p->label);
            if (at >= 0 && poise_markers_seen(j->markers, frame, at)) {
                poise_vec3 x = poise_kinematics_point(f.kin, p->body, p->local);
                poise_vec3 m = j->markers->position[(size_t)frame * (size_t)j->markers->count + (size_t)at];
                sum += p->weight * ((x.x - m.x) * (x.x - m.x) + (x.y - m.y) * (x.y - m.y) + (x.z - m.z) * (x.z - m.z));
                weight += p->weight;
            }
        }
        for (int i = 0; i < f.nv; ++i) { // one number for each degree of freedom
            held += j->weights[i] * (f.q[i] - j->task[i]) * (f.q[i] - j->task[i]);
        }
        total += sum / weight + held;
    }
    return total;
}

TEST_DATA_ROWS(opensims_answers_are_met_at_no_higher_cost, TEST_COUNT(cases), "osim/gait2354")
{
    job *j = calloc(1, sizeof *j);
    test_own(free, j);
    prepare(j, test_row);
    poise_error error = {0};
    ck_assert_msg(!poise_track(&j->problem, NULL, &j->clip, NULL, &error), "%s", error.text);
    test_own(release_clip, j->clip);
    const poise_clip *theirs = j->answer->clip;
    ck_assert_int_eq(j->clip->frames, theirs->frames);
    ck_assert_double_eq_tol(j->clip->start_time, theirs->start_time, 1e-9);
    double square = 0.0, worst = 0.0;
    int angles = 0;
    for (int i = 0; i < theirs->frames * theirs->nq; ++i) {
        if (poise_model_coordinate(j->model->model, i % theirs->nq).unit == POISE_UNIT_ANGLE) {
            double off = fabs(j->clip->q[i] - theirs->q[i]) * DEGREES;
            square += off * off;
            worst = fmax(worst, off);
            angles += 1;
        }
    }
    double rms = sqrt(square / angles), ours = cost_of(j, j->clip), opensims = cost_of(j, theirs);
    ck_assert_msg(rms <= cases[test_row].rms && worst <= cases[test_row].worst, "%s: rms %.4f, worst %.4f degrees",
                  cases[test_row].answer, rms, worst);
    ck_assert_msg(ours <= cases[test_row].cost * opensims, "%s: cost %.9g, OpenSim's %.9g", cases[test_row].answer, ours,
                  opensims);
}

TEST(a_setup_needs_no_markers)
{
    static const char text[] = "<InverseKinematicsTool><model_file>m.osim</model_file><IKTaskSet><objects><IKMarkerTask "
                               "name=\"a\"/></objects></IKTaskSet></InverseKinematicsTool>";
    poise_builder *builder = new_builder();
    add_plain(builder, "hinge", NULL, POISE_JOINT_REVOLUTE);
    poise_model *model = model_of(builder);
    poise_ik_setup *setup = NULL;
    poise_placement place = {"a", 0, {0, 0, 0}, 1};
    double task = 7, weight = 7;
    int none = 0, one = 1;
    ck_assert_int_eq(poise_ik_setup_read(text, sizeof text - 1, NULL, &setup, NULL), POISE_OK);
    test_own(release_setup, setup);
    ck_assert_int_eq(poise_ik_setup_apply(setup, model, NULL, NULL, &none, &task, &weight, NULL), POISE_OK);
    ck_assert(none == 0 && task == 0 && weight == 0);
    ck_assert_int_eq(poise_ik_setup_apply(setup, model, NULL, NULL, &one, &task, &weight, NULL), POISE_ERROR_ARGUMENT);
    ck_assert_int_eq(poise_ik_setup_apply(setup, model, NULL, &place, &one, &task, &weight, NULL), POISE_OK);
}

// ---- Opensim scale ------------------------------------------------------------------------------------------------------
//
// ScaleTool's job against what OpenSim made of the same files.

static void release(void *scaled)
{
    poise_osim_scaled_destroy(scaled);
}

// The subject's job, with its recording in units of so many metres.
static poise_osim_scaled *scale_in(double metres)
{
    io_bytes model = io_load("osim/scale/gait2354_simbody.osim"), set = io_load("osim/scale/gait2354_Scale_MarkerSet.xml");
    io_bytes setup = io_load("osim/scale/subject01_Setup_Scale.xml");
    poise_file *trial = io_read_data("osim/scale/subject01_static.trc", POISE_FORMAT_TRC, NULL);
    trial->markers->scale.metres = metres;
    poise_osim_scaling problem = {.model = model.bytes,
                                  .model_size = model.size,
                                  .marker_set = set.bytes,
                                  .marker_set_size = set.size,
                                  .setup = setup.bytes,
                                  .setup_size = setup.size,
                                  .markers = trial->markers};
    poise_osim_scaled *scaled = NULL;
    poise_error error = {0};
    ck_assert_msg(poise_osim_scale(&problem, NULL, &scaled, &error) == POISE_OK, "%s", error.text);
    test_own(release, scaled);
    return scaled;
}

static poise_osim_scaled *scale_subject(void)
{
    return scale_in(0.001);
}

static const poise_body_scale *factors_of(const poise_osim_scaled *scaled, const char *body)
{
    for (int i = 0; i < scaled->factor_count; ++i) {
        if (strcmp(scaled->factors[i].body, body) == 0) {
            return &scaled->factors[i];
        }
    }
    return NULL;
}

TEST_DATA(factors_of_bodies_are_opensims, "osim/scale")
{
    const poise_osim_scaled *scaled = scale_subject();
    const char *text = (const char *)io_load("osim/scale/std_subject01_scaleSet_applied.xml").bytes;
    int checked = 0;
    for (const char *at = strstr(text, "<scales>"); at; at = strstr(at + 1, "<scales>")) {
        double x, y, z;
        char body[64];
        ck_assert_int_eq(sscanf(at, "<scales> %lf %lf %lf", &x, &y, &z), 3);
        ck_assert_int_eq(sscanf(strstr(at, "<segment>"), "<segment>%63[^<]", body), 1);
        const poise_body_scale *f = factors_of(scaled, body);
        vec3 ours = f ? f->factors : v3(1, 1, 1);
        ck_assert_msg(fabs(ours.x - x) <= 5e-6 && fabs(ours.y - y) <= 5e-6 && fabs(ours.z - z) <= 5e-6,
                      "%s: %.9g %.9g %.9g, OpenSim has %.9g %.9g %.9g", body, ours.x, ours.y, ours.z, x, y, z);
        checked += 1;
    }
    ck_assert_int_ge(checked, 12);
}

enum { FINDINGS = 64 };

static bool finds(const poise_osim_scaled *scaled, poise_finding_kind kind, poise_verdict_level level, const char *name)
{
    poise_verdict verdict;
    poise_finding findings[FINDINGS];
    poise_thresholds usual = poise_scaling_thresholds();
    ck_assert_int_eq(poise_osim_scale_judge(scaled, &usual, NULL, &verdict, findings, FINDINGS, NULL), POISE_OK);
    for (int i = 0; i < verdict.count && i < FINDINGS; ++i) {
        if (findings[i].kind == kind && findings[i].level == level &&
            (!name || (findings[i].name && strcmp(findings[i].name, name) == 0))) {
            return true;
        }
    }
    return false;
}

TEST_DATA(a_subject_that_is_scaled_rightly_is_good, "osim/scale")
{
    poise_verdict verdict;
    poise_thresholds usual = poise_scaling_thresholds();
    ck_assert_int_eq(poise_osim_scale_judge(scale_subject(), &usual, NULL, &verdict, NULL, 0, NULL), POISE_OK);
    ck_assert_int_eq(verdict.level, POISE_VERDICT_GOOD);
    ck_assert_double_gt(verdict.worst[POISE_FINDING_GIVEN], 0.0);
}

TEST_DATA(a_wrong_unit_fails, "osim/scale")
{
    const poise_osim_scaled *scaled = scale_in(1.0);
    ck_assert(finds(scaled, POISE_FINDING_SIZE, POISE_VERDICT_FAILED, NULL));
    ck_assert(finds(scaled, POISE_FINDING_GIVEN, POISE_VERDICT_FAILED, NULL));
    ck_assert(finds(scale_in(0.0005), POISE_FINDING_SIZE, POISE_VERDICT_DOUBTFUL, NULL)); // half a person
}

TEST_DATA(left_unlike_right_is_doubtful, "osim/scale")
{
    poise_osim_scaled *scaled = scale_subject();
    for (int i = 0; i < scaled->factor_count; ++i) {
        if (strcmp(scaled->factors[i].body, "tibia_l") == 0) {
            scaled->factors[i].factors.y *= 1.2;
        }
    }
    ck_assert(finds(scaled, POISE_FINDING_SIDES, POISE_VERDICT_DOUBTFUL, "tibia_r"));
    ck_assert(!finds(scaled, POISE_FINDING_SIDES, POISE_VERDICT_DOUBTFUL, "femur_r"));
}

TEST_DATA(a_setup_of_another_tool_is_refused, "osim/scale")
{
    io_bytes model = io_load("osim/scale/gait2354_simbody.osim"), setup = io_load("osim/gait2354/subject01_Setup_IK.xml");
    poise_file *trial = io_read_data("osim/scale/subject01_static.trc", POISE_FORMAT_TRC, NULL);
    poise_osim_scaling problem = {.model = model.bytes,
                                  .model_size = model.size,
                                  .setup = setup.bytes,
                                  .setup_size = setup.size,
                                  .markers = trial->markers};
    poise_osim_scaled *scaled = NULL;
    poise_error error = {0};
    ck_assert_int_eq(poise_osim_scale(&problem, NULL, &scaled, &error), POISE_ERROR_FORMAT);
    ck_assert_ptr_nonnull(strstr(error.text, "ScaleTool"));
}

TEST_DATA(scaled_joints_and_masses_are_opensims, "osim/scale")
{
    const poise_osim_scaled *scaled = scale_subject();
    const poise_model *ours = scaled->file->model;
    const poise_model *theirs = io_read_data("osim/scale/std_subject01_simbody.osim", POISE_FORMAT_OSIM, NULL)->model;
    ck_assert_int_eq(poise_model_info(ours).joints, poise_model_info(theirs).joints);
    for (int k = 0; k < poise_model_info(ours).joints; ++k) {
        const poise_joint *a = poise_model_joint_info(ours, k).given;
        const poise_joint *b = poise_model_joint_info(theirs, poise_model_find_joint(theirs, a->name)).given;
        double off = v3_norm(v3_sub(a->offset.position, b->offset.position));
        // factors of the file are printed with 6 digits
        ck_assert_msg(off <= 1e-9 + 1e-6 * v3_norm(b->offset.position), "%s: off by %.3g mm", a->name, 1000 * off);
        ck_assert_msg(fabs(a->mass - b->mass) <= 1e-5 * (1 + b->mass), "%s: mass %.9g, %.9g", a->name, a->mass, b->mass);
        for (int i = 0; a->curve && i < 6; ++i) {
            ck_assert_int_eq(a->curve->value[i].count, b->curve->value[i].count);
            for (int n = 0; n < a->curve->value[i].count; ++n) {
                ck_assert_double_eq_tol(a->curve->value[i].y[n], b->curve->value[i].y[n], 1e-6);
            }
        }
    }
}

// OpenSim stops early: markers of the torso, which weigh little, are millimetres from the minimum (docs/formats.md).
TEST_DATA(placed_markers_of_pelvis_and_legs_are_opensims, "osim/scale")
{
    const poise_osim_scaled *scaled = scale_subject();
    const poise_file *theirs = io_read_data("osim/scale/std_subject01_simbody.osim", POISE_FORMAT_OSIM, NULL);
    int checked = 0;
    for (int i = 0; i < scaled->file->placement_count; ++i) {
        const poise_placement *a = &scaled->file->placements[i];
        const char *body = poise_model_joint_info(scaled->file->model, a->body).body;
        for (int k = 0; k < theirs->placement_count && strcmp(body, "torso") != 0; ++k) {
            const poise_placement *b = &theirs->placements[k];
            if (strcmp(a->label, b->label) == 0) {
                double off = v3_norm(v3_sub(a->local, b->local));
                ck_assert_msg(off <= 0.65e-3, "%s: %.3g mm", a->label, 1000 * off);
                checked += 1;
            }
        }
    }
    ck_assert_int_ge(checked, 30);
}

// ---- Opensim sensors ----------------------------------------------------------------------------------------------------
//
// Sensors of orientation against OpenSense: their places on a model, the heading, and the motion that follows them.

#define MOST 16

static void release_orientations(void *orientations)
{
    poise_orientations_destroy(orientations);
}

static poise_orientations *orientations_of(const char *path)
{
    io_bytes bytes = io_load(path);
    poise_orientations *made = NULL;
    poise_error error = {0};
    ck_assert_msg(!poise_orientations_read(bytes.bytes, bytes.size, NULL, &made, &error), "%s", error.text);
    test_own(release_orientations, made);
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
