// Calibration: markers and bones of a humanoid whose true ones are known.
#include "motion/calibrate.h"
#include "support/test_main.h"

#include <poise/track.h>
#include <scenes/random.h>
#include <scenes/scenes.h>

#include <math.h>
#include <string.h>

#define MARKERS 41
#define FRAMES  240
#define USED    60

typedef struct subject {
    poise_model *model; // as we believe it to be
    poise_model *real;  // with other bones
    double scale[64];   // by joint: real over believed
    scene_marker markers[MARKERS];
    poise_placement placements[MARKERS]; // true ones
    poise_markers *seen;
} subject;

// Walk, punch, kick and cartwheel, a quarter each, of a humanoid with bones scaled by common * (1 +- spread).
static subject *record(double common, double spread)
{
    subject *s = calloc(1, sizeof *s);
    scene_random random = scene_random_make(11);
    ck_assert_int_eq(scene_create("humanoid", NULL, &s->model, NULL), POISE_OK);
    int joints = poise_model_info(s->model).joints, nq = poise_model_info(s->model).nq;
    ck_assert_int_le(joints, 64);
    for (int k = 0; k < joints; ++k) {
        s->scale[k] = common * scene_random_range(&random, 1.0 - spread, 1.0 + spread);
    }
    ck_assert_int_eq(poise_model_rescale(s->model, s->scale, NULL, &s->real, NULL), POISE_OK);
    scene_markers("humanoid", s->markers, MARKERS);
    for (int i = 0; i < MARKERS; ++i) {
        s->placements[i] = (poise_placement){s->markers[i].name, s->markers[i].body, s->markers[i].local, 1.0};
    }
    poise_clip *clip;
    poise_clip_create(FRAMES, nq, 0.02, NULL, &clip, NULL);
    for (int f = 0; f < FRAMES; ++f) {
        scene_motion_pose(s->model, scene_motion_name(f * 4 / FRAMES), f * 0.02, clip->q + (size_t)f * (size_t)nq);
    }
    poise_scale metres = {1.0, POISE_UP_Y};
    ck_assert_int_eq(poise_markers_from_clip(s->real, clip, metres, s->placements, MARKERS, NULL, &s->seen, NULL), POISE_OK);
    poise_clip_destroy(clip);
    return s;
}

static void forget(subject *s)
{
    poise_markers_destroy(s->seen);
    poise_model_destroy(s->model);
    poise_model_destroy(s->real);
    free(s);
}

// What a user knows: which body each marker is on.
static void forget_offsets(const subject *s, poise_placement *placements)
{
    memcpy(placements, s->placements, sizeof s->placements);
    for (int i = 0; i < MARKERS; ++i) {
        placements[i].local = (poise_vec3){NAN, NAN, NAN};
    }
}

static double distance(poise_vec3 a, poise_vec3 b)
{
    return sqrt((a.x - b.x) * (a.x - b.x) + (a.y - b.y) * (a.y - b.y) + (a.z - b.z) * (a.z - b.z));
}

static poise_calibration problem_of(const subject *s, poise_placement *placements)
{
    poise_calibration problem = poise_calibration_default();
    problem.model = s->model;
    problem.placements = placements;
    problem.placement_count = MARKERS;
    problem.markers = s->seen;
    problem.frame_count = USED;
    return problem;
}

static poise_calibration_report calibrate(const subject *s, poise_scaling scaling, int rounds, poise_placement *placements,
                                          poise_model **fitted)
{
    poise_calibration problem = problem_of(s, placements);
    problem.scaling = scaling;
    problem.rounds = rounds;
    poise_calibration_report report;
    poise_error error = {.text = ""};
    poise_status status = poise_calibrate(&problem, NULL, fitted, &report, &error);
    ck_assert_msg(status == POISE_OK, "%s", error.text);
    return report;
}

TEST(offsets_that_nobody_measured_are_found)
{
    subject *s = record(1.0, 0.0);
    poise_placement placements[MARKERS];
    forget_offsets(s, placements);
    poise_calibration_report report = calibrate(s, POISE_SCALING_NONE, 60, placements, NULL);
    ck_assert_int_eq(report.frames, USED);
    ck_assert_int_eq(report.points, USED * MARKERS);
    ck_assert_double_lt(report.rms, 1e-3);
    double sum = 0.0;
    for (int i = 0; i < MARKERS; ++i) {
        sum += distance(placements[i].local, s->placements[i].local);
    }
    ck_assert_double_lt(sum / MARKERS, 0.05); // joints that hardly move in the recording leave an offset open
    forget(s);
}

TEST(known_offsets_stay_where_they_are)
{
    subject *s = record(1.0, 0.0);
    poise_placement placements[MARKERS];
    memcpy(placements, s->placements, sizeof placements);
    poise_calibration_report report = calibrate(s, POISE_SCALING_NONE, 5, placements, NULL);
    ck_assert_double_lt(report.rms, 1e-6);
    for (int i = 0; i < MARKERS; ++i) {
        ck_assert_double_lt(distance(placements[i].local, s->placements[i].local), 1e-4);
    }
    forget(s);
}

TEST(one_factor_for_all_bones_is_found)
{
    subject *s = record(1.15, 0.0);
    poise_placement placements[MARKERS];
    memcpy(placements, s->placements, sizeof placements);
    poise_model *fitted = NULL;
    poise_calibration_report report = calibrate(s, POISE_SCALING_UNIFORM, 60, placements, &fitted);
    ck_assert_double_eq_tol(report.scale, 1.15, 0.01);
    ck_assert_double_lt(report.rms, 1e-3);
    poise_model_destroy(fitted);
    forget(s);
}

// A figure of a twentieth of the skeleton's size is not this skeleton: factors end at a tenth, and at ten.
TEST(factors_keep_within_a_tenth_and_ten)
{
    static const double sizes[] = {0.05, 20.0};
    for (int i = 0; i < 2; ++i) {
        subject *s = record(sizes[i], 0.0);
        poise_placement placements[MARKERS];
        forget_offsets(s, placements);
        poise_model *fitted = NULL;
        poise_calibration_report report = calibrate(s, POISE_SCALING_UNIFORM, 10, placements, &fitted);
        ck_assert_msg(report.scale >= 0.1 && report.scale <= 10.0, "%g", report.scale);
        poise_model_destroy(fitted);
        forget(s);
    }
}

TEST(bones_of_different_lengths_are_found)
{
    subject *s = record(0.9, 0.1);
    poise_placement placements[MARKERS];
    memcpy(placements, s->placements, sizeof placements);
    poise_model *fitted = NULL;
    poise_calibration_report report = calibrate(s, POISE_SCALING_SEGMENTS, 60, placements, &fitted);
    ck_assert_double_lt(report.rms, 2e-3);
    // bones between two joints that bend, with markers beyond: thigh and upper arm
    static const char *const bones[] = {"left_shin", "right_shin", "left_ulna", "right_ulna"};
    for (size_t i = 0; i < sizeof bones / sizeof bones[0]; ++i) {
        int k = poise_model_find_body(fitted, bones[i]);
        ck_assert_msg(k >= 0, "%s", bones[i]);
        poise_vec3 zero = {0.0, 0.0, 0.0};
        double own = distance(poise_model_joint_info(s->real, k).given->offset.position, zero);
        ck_assert_double_eq_tol(distance(poise_model_joint_info(fitted, k).given->offset.position, zero) / own, 1.0, 0.06);
    }
    poise_model_destroy(fitted);
    forget(s);
}

TEST(gaps_are_passed_over)
{
    subject *s = record(1.0, 0.0);
    scene_random random = scene_random_make(3);
    int lost = 0;
    for (int i = 0; i < FRAMES * MARKERS; ++i) {
        if (scene_random_uniform(&random) < 0.2) {
            s->seen->position[i] = (poise_vec3){NAN, NAN, NAN};
            lost += 1;
        }
    }
    poise_placement placements[MARKERS];
    memcpy(placements, s->placements, sizeof placements);
    poise_calibration_report report = calibrate(s, POISE_SCALING_NONE, 5, placements, NULL);
    ck_assert_int_gt(lost, 0);
    ck_assert_int_lt(report.points, USED * MARKERS);
    ck_assert_double_lt(report.rms, 1e-6);
    forget(s);
}

// In one of the frames that are used, every fourth, a marker is 0.3 m off.
TEST(a_marker_that_strays_once_is_left_out_there)
{
    subject *s = record(1.0, 0.0);
    poise_placement placements[MARKERS];
    poise_place_prior priors[MARKERS];
    memcpy(placements, s->placements, sizeof placements);
    for (int i = 0; i < MARKERS; ++i) {
        priors[i] = (poise_place_prior){.place = placements[i].local, .axis = {0, 0, 1}, .along = 0.01, .across = 0.01};
    }
    s->seen->position[4 * 30 * MARKERS + 5].x += 0.3;
    poise_calibration problem = problem_of(s, placements);
    poise_calibration_report report;
    problem.priors = priors;
    ck_assert_int_eq(poise_calibrate(&problem, NULL, NULL, &report, NULL), POISE_OK);
    ck_assert_int_eq(report.points, USED * MARKERS - 1);
    ck_assert_double_lt(report.rms, 0.005); // with it 0.007
    forget(s);
}

// Every length of a bone grows with it, the place of its mass too; the mass does not. What is fixed to a body grows as the
// bones that go on from it, in the mean.
TEST(a_rescaled_model_has_longer_bones_and_masses_further_out)
{
    static const double scales[] = {2.0, 3.0, 5.0}, of_mass[] = {4.0, 3.0, 5.0};
    poise_builder *builder = NULL;
    poise_model *model = NULL, *larger = NULL;
    poise_joint joint = poise_joint_default();
    joint.name = "bone";
    joint.type = POISE_JOINT_REVOLUTE;
    joint.mass = 3.0;
    joint.mass_center = poise_vec3_make(0.1, -0.2, 0.3);
    ck_assert_int_eq(poise_builder_create(NULL, &builder, NULL), POISE_OK);
    ck_assert_int_eq(poise_builder_add_joint(builder, &joint, NULL), POISE_OK);
    joint.name = "end";
    joint.parent = "bone";
    joint.offset.position = poise_vec3_make(1.0, 0.5, 0.25);
    ck_assert_int_eq(poise_builder_add_joint(builder, &joint, NULL), POISE_OK);
    joint.name = "other end";
    ck_assert_int_eq(poise_builder_add_joint(builder, &joint, NULL), POISE_OK);
    ck_assert_int_eq(poise_model_create(builder, NULL, &model, NULL), POISE_OK);
    ck_assert_int_eq(poise_model_rescale(model, scales, NULL, &larger, NULL), POISE_OK);
    for (int k = 0; k < 3; ++k) {
        const poise_joint *a = poise_model_joint_info(model, k).given, *b = poise_model_joint_info(larger, k).given;
        poise_vec3 from = a->mass_center, to = b->mass_center;
        ck_assert(b->mass == 3.0 && b->offset.position.x == scales[k] * a->offset.position.x);
        ck_assert(to.x == of_mass[k] * from.x && to.y == of_mass[k] * from.y && to.z == of_mass[k] * from.z);
    }
    poise_model_destroy(model);
    poise_model_destroy(larger);
    poise_builder_destroy(builder);
}

TEST(wrong_use_is_refused_with_a_reason)
{
    subject *s = record(1.0, 0.0);
    poise_placement placements[MARKERS];
    memcpy(placements, s->placements, sizeof placements);
    poise_error error;
    int frame = FRAMES;
    poise_calibration problem = problem_of(s, placements);
    problem.frames = &frame;
    problem.frame_count = 1;
    ck_assert_int_eq(poise_calibrate(&problem, NULL, NULL, NULL, &error), POISE_ERROR_ARGUMENT);
    ck_assert_str_eq(error.text, "frame 240: the recording has 240");
    problem = problem_of(s, placements);
    problem.scaling = POISE_SCALING_UNIFORM;
    ck_assert_int_eq(poise_calibrate(&problem, NULL, NULL, NULL, &error), POISE_ERROR_ARGUMENT);
    placements[7].body = -1;
    problem.scaling = POISE_SCALING_NONE;
    ck_assert_int_eq(poise_calibrate(&problem, NULL, NULL, NULL, &error), POISE_ERROR_ARGUMENT);
    ck_assert_ptr_nonnull(strstr(error.text, placements[7].label));
    double scale[64] = {0.0};
    poise_model *model = NULL;
    ck_assert_int_eq(poise_model_rescale(s->model, scale, NULL, &model, &error), POISE_ERROR_ARGUMENT);
    ck_assert_ptr_null(model);
    forget(s);
}

// A prior much narrower than the noise decides: places come to it from where they were given, whatever the markers say.
TEST(narrow_priors_hold_places)
{
    subject *s = record(1.0, 0.0);
    poise_placement placements[MARKERS];
    poise_place_prior priors[MARKERS];
    memcpy(placements, s->placements, sizeof placements);
    for (int i = 0; i < MARKERS; ++i) {
        poise_vec3 place = s->placements[i].local;
        priors[i] = (poise_place_prior){.place = place, .axis = {0, 0, 1}, .along = 1e-5, .across = 1e-5};
        placements[i].local = poise_vec3_make(place.x + 0.02, place.y - 0.01, place.z + 0.015);
    }
    poise_calibration problem = problem_of(s, placements);
    problem.frame_count = 4;
    problem.priors = priors;
    ck_assert_int_eq(poise_calibrate(&problem, NULL, NULL, NULL, NULL), POISE_OK);
    for (int i = 0; i < MARKERS; ++i) {
        ck_assert_double_lt(distance(placements[i].local, priors[i].place), 1e-3);
    }
    forget(s);
}

// The cost of the priors is a quadratic function of factors and places, so that differences are its derivatives. The
// equations of a recording in which nothing is seen are those of the priors alone: b is minus half the gradient, N half the
// Hessian.
TEST(equations_of_priors_are_the_derivatives_of_their_cost)
{
    enum { FACTORS = 3, PLACES = 2, N = FACTORS + 3 * PLACES, DOFS = 6 };
    poise_model *model;
    ck_assert_int_eq(scene_create("arm6", NULL, &model, NULL), POISE_OK);
    const poise_place_prior priors[PLACES] = {
        {.place = {0.1, 0.2, 0.3}, .axis = {0, 0.6, 0.8}, .along = 0.02, .across = 0.05},
        {.place = {-0.1, 0, 0.2}, .axis = {1, 0, 0}, .along = 0.04, .across = 0.01}};
    const poise_placement placements[PLACES] = {{"a", 3, {0, 0, 0}, 1.0}, {"b", 5, {0, 0, 0}, 1.0}};
    int index[PLACES] = {POISE_NONE, POISE_NONE}, unknown[DOFS] = {-1, 0, 1, 2, 1, 0};
    double z[N] = {1.1, 0.8, 1.3, 0.12, 0.17, 0.33, -0.2, 0.05, 0.11}, q[DOFS] = {0}, posture[DOFS] = {1, 1, 1, 1, 1, 1};
    double A[3 * N], J[3 * DOFS], G[DOFS * DOFS], C[N * DOFS], X[DOFS], H[N * N], b[N];
    poise_calibration problem = poise_calibration_default();
    problem.size = 0.9;
    int none[DOFS] = {-1, -1, -1, -1, -1, -1};
    for (int round = 0; round < 3; ++round) { // factors alone, factors and places, places alone
        bool with_priors = round > 0;
        int factors = round < 2 ? FACTORS : 0;
        problem.priors = with_priors ? priors : NULL;
        pz_calibration c = {.model = model, .placements = placements, .count = with_priors ? PLACES : 0, .frame_count = 1};
        c.problem = problem, c.index = index, c.unknown = factors > 0 ? unknown : none;
        c.factors = factors, c.n = factors + 3 * c.count;
        c.z = z, c.q = q, c.N = H, c.b = b, c.A = A, c.J = J, c.G = G, c.C = C, c.X = X, c.posture = posture;
        c.noise = 0.01, c.stature = 1.7, c.points = 100;
        ck_assert_int_eq(pz_calibration_equations(&c, model), POISE_OK);
        for (int i = 0; i < c.n; ++i) {
            for (int k = 0; k <= i; ++k) {
                double zi = z[i], zk = z[k], h = 0.25, cost[4];
                for (int s = 0; s < 4; ++s) { // ++, +-, -+, --
                    z[i] += s < 2 ? h : -h;
                    z[k] += s % 2 == 0 ? h : -h;
                    cost[s] = pz_calibration_prior_cost(&c);
                    z[k] = zk, z[i] = zi;
                }
                double curvature = (cost[0] - cost[1] - cost[2] + cost[3]) / (4 * h * h);
                ck_assert_double_eq_tol(H[i * c.n + k], 0.5 * curvature, 1e-8);
                if (i == k) {
                    ck_assert_double_eq_tol(b[i], -0.5 * (cost[0] - cost[3]) / (4 * h), 1e-8);
                }
            }
        }
        for (int i = 0; i < PLACES && factors == 0;
             ++i) { // by one deviation along the axis of one, the others at their places
            double at[N] = {0};
            for (int k = 0; k < PLACES; ++k) {
                poise_vec3 p = priors[k].place, a = priors[k].axis;
                double off = k == i ? priors[k].along : 0, *own = at + 3 * k;
                own[0] = 0.9 * (p.x + off * a.x), own[1] = 0.9 * (p.y + off * a.y), own[2] = 0.9 * (p.z + off * a.z);
            }
            c.z = at;
            ck_assert_double_eq_tol(pz_calibration_prior_cost(&c), c.noise * c.noise, 1e-12);
        }
    }
    poise_model_destroy(model);
}

// What markers miss their places by, squared and by weight, in the pose of `c` with the factors and places of z.
static double missed(const pz_calibration *c)
{
    double scale[16], cost = 0;
    poise_model *scaled;
    poise_kinematics *kin;
    for (int k = 0; k < poise_model_info(c->model).joints; ++k) {
        scale[k] = c->unknown[k] < 0 ? 1 : c->z[c->unknown[k]];
    }
    ck_assert_int_eq(poise_model_rescale(c->model, scale, NULL, &scaled, NULL), POISE_OK);
    ck_assert_int_eq(poise_kinematics_create(scaled, NULL, &kin, NULL), POISE_OK);
    ck_assert_int_eq(poise_kinematics_update(kin, c->q, NULL), POISE_OK);
    for (int i = 0; i < c->count; ++i) {
        poise_vec3 at = poise_kinematics_point(kin, c->placements[i].body, pz_calibration_offset(c, i));
        double off = distance(at, c->markers->position[i]);
        cost += c->placements[i].weight * off * off;
    }
    poise_kinematics_destroy(kin);
    poise_model_destroy(scaled);
    return cost;
}

// b of markers is minus half the gradient of what they miss, by factors of bones and by places.
TEST(equations_of_markers_are_the_derivatives_of_what_they_miss)
{
    enum { FACTORS = 3, PLACES = 2, N = FACTORS + 3 * PLACES, DOFS = 6 };
    static const char *const labels[PLACES] = {"a", "b"};
    const poise_placement placements[PLACES] = {{labels[0], 3, {0, 0, 0}, 1.0}, {labels[1], 5, {0, 0, 0}, 0.5}};
    int index[PLACES] = {0, 1}, unknown[DOFS] = {-1, 0, 1, 2, 1, 0};
    double z[N] = {1.1, 0.8, 1.3, 0.12, 0.17, 0.33, -0.2, 0.05, 0.11}, q[DOFS] = {0.3, -0.5, 0.7, 0.2, -0.9, 0.4};
    double A[3 * N], J[3 * DOFS], G[DOFS * DOFS], C[N * DOFS], X[DOFS], H[N * N], b[N];
    unsigned char strays[PLACES] = {0};
    poise_model *model, *scaled;
    poise_markers *seen;
    ck_assert_int_eq(scene_create("arm6", NULL, &model, NULL), POISE_OK);
    ck_assert_int_eq(poise_markers_create(1, PLACES, 100.0, labels, NULL, &seen, NULL), POISE_OK);
    seen->position[0] = poise_vec3_make(0.4, -0.3, 0.9);
    seen->position[1] = poise_vec3_make(-0.2, 0.5, 0.6);
    pz_calibration c = {.model = model, .placements = placements, .count = PLACES, .markers = seen, .frame_count = 1};
    c.problem = poise_calibration_default(), c.problem.scale_prior = 0, c.problem.solver.use_limits = false;
    c.index = index, c.unknown = unknown, c.factors = FACTORS, c.n = N, c.strays = strays;
    c.z = z, c.q = q, c.N = H, c.b = b, c.A = A, c.J = J, c.G = G, c.C = C, c.X = X;
    double scale[DOFS] = {1, z[0], z[1], z[2], z[1], z[0]};
    ck_assert_int_eq(poise_model_rescale(model, scale, NULL, &scaled, NULL), POISE_OK);
    ck_assert_int_eq(pz_calibration_equations(&c, scaled), POISE_OK);
    for (int i = 0; i < N; ++i) { // quadratic in each of them
        double zi = z[i], h = 0.125;
        z[i] = zi + h;
        double more = missed(&c);
        z[i] = zi - h;
        ck_assert_double_eq_tol(b[i], -0.5 * (more - missed(&c)) / (2 * h), 1e-12);
        z[i] = zi;
    }
    poise_markers_destroy(seen);
    poise_model_destroy(scaled);
    poise_model_destroy(model);
}

// Nothing seen, or everything too far off to be squared: neither is a fit, and nothing is written.
TEST(recordings_that_determine_nothing_are_refused)
{
    static const struct {
        double place;
        const char *reason;
    } recordings[] = {{NAN, "no marker is seen"}, {1e200, "too far from the skeleton"}};
    for (int r = 0; r < 4; ++r) {
        subject *s = record(1.0, 0.0);
        poise_placement placements[MARKERS];
        memcpy(placements, s->placements, sizeof placements);
        for (int i = 0; i < FRAMES * MARKERS; ++i) {
            s->seen->position[i].x = recordings[r % 2].place;
        }
        double q[256] = {7.0};
        poise_model *fitted = NULL;
        poise_error error;
        poise_calibration problem = problem_of(s, placements);
        problem.q = q;
        problem.frame_count = 3;
        problem.scaling = r < 2 ? POISE_SCALING_NONE : POISE_SCALING_SEGMENTS;
        ck_assert_int_eq(poise_calibrate(&problem, NULL, &fitted, NULL, &error), POISE_ERROR_NUMERIC);
        ck_assert_msg(strstr(error.text, recordings[r % 2].reason) != NULL, "%s", error.text);
        ck_assert(fitted == NULL && q[0] == 7.0);
        ck_assert_mem_eq(placements, s->placements, sizeof placements);
        forget(s);
    }
}

// ---- Names ---------------------------------------------------------------------------------------------------------------

// A model of bodies with these names, all at the world.
static poise_model *bodies_called(const char *const *names, int count)
{
    poise_builder *builder;
    poise_model *model;
    ck_assert_int_eq(poise_builder_create(NULL, &builder, NULL), POISE_OK);
    for (int i = 0; i < count; ++i) {
        poise_joint joint = poise_joint_default();
        joint.name = names[i];
        ck_assert_int_eq(poise_builder_add_joint(builder, &joint, NULL), POISE_OK);
    }
    ck_assert_int_eq(poise_model_create(builder, NULL, &model, NULL), POISE_OK);
    poise_builder_destroy(builder);
    return model;
}

TEST(markers_find_their_bodies_by_name_in_every_dialect)
{
    static const char *const dialects[4][6] = {
        {"lfemur", "rfemur", "head", "root", "lhumerus", "rtoes"},
        {"LeftUpLeg", "RightUpLeg", "Head", "Hips", "LeftArm", "RightToeBase"},
        {"femur_l", "femur_r", "head", "pelvis", "humerus_l", "toes_r"},
        {"left_thigh", "right_thigh", "head", "pelvis", "left_upper_arm", "right_toes"},
    };
    static const char *const labels[7] = {"Daniel:LKNE", "RTHI", "LFHD", "RBWT", "L.Elbow", "RTOE", "Daniel:*1"};
    poise_markers *markers;
    ck_assert_int_eq(poise_markers_create(1, 7, 100.0, labels, NULL, &markers, NULL), POISE_OK);
    for (int d = 0; d < 4; ++d) {
        poise_model *model = bodies_called(dialects[d], 6);
        poise_placement placements[7];
        poise_places_report report;
        ck_assert_int_eq(poise_places_by_name(model, markers, NULL, placements, NULL, 7, &report, NULL), POISE_OK);
        ck_assert_int_eq(report.placed, 6);
        for (int i = 0; i < 6; ++i) {
            ck_assert_str_eq(placements[i].label, labels[i]);
            ck_assert_msg(placements[i].body == poise_model_find_body(model, dialects[d][i]), "%s on %s", labels[i],
                          poise_model_joint_info(model, placements[i].body).body);
            ck_assert(isnan(placements[i].local.x));
        }
        poise_model_destroy(model);
    }
    poise_markers_destroy(markers);
}

TEST(a_marker_without_its_body_is_left_out)
{
    static const char *const bodies[2] = {"rfemur", "tail"}, *const labels[3] = {"LKNE", "RKNE", "TAIL1"};
    poise_model *model = bodies_called(bodies, 2);
    poise_markers *markers;
    ck_assert_int_eq(poise_markers_create(1, 3, 100.0, labels, NULL, &markers, NULL), POISE_OK);
    poise_placement placements[1];
    poise_places_report report;
    ck_assert_int_eq(poise_places_by_name(model, markers, NULL, placements, NULL, 1, &report, NULL), POISE_OK);
    ck_assert_int_eq(report.placed, 1);
    ck_assert_str_eq(placements[0].label, "RKNE");
    ck_assert_int_eq(poise_places_by_name(NULL, markers, NULL, placements, NULL, 1, &report, NULL), POISE_ERROR_ARGUMENT);
    poise_markers_destroy(markers);
    poise_model_destroy(model);
}
