// Inverse kinematics by OpenSim's own setups: its published answers are met, and its cost is not exceeded.
#include "support/io_check.h"
#include "support/skeleton.h"

#include <poise/opensim.h>

#include <math.h>

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
