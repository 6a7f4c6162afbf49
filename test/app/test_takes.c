// Recordings with a published motion: is the skeleton where it was, not only the markers?
//
// `poise track SKELETON RECORDING` without an option, as the command runs it, against the motion that the recording's makers
// published. The measure is the distance of joints, after one rigid alignment of the whole take: a fit that puts markers
// anywhere misses the markers by little and the joints by much.
#include "num/dense.h"
#include "num/vector.h"
#include "support/own.h"
#include "support/test_main.h"

#include <app/track/track.h>

#include <string.h>

#define DATA      "hdm05/"
#define SKELETON  test_data(DATA "HDM_dg.asf")
#define EVERY     10   // frames: one in so many is measured
#define AMC_WRONG 60.0 // mm: frames in which the published motion misses its own median marker places by more do not count

typedef struct take {
    track_result tracked;
    poise_file *truth, *recording;
    double millimetres; // in a unit of the skeleton
} take;

// How far the joints are from the published ones, millimetres.
typedef struct distances {
    double mean;     // over all joints and frames
    double worst;    // mean of the worst joint
    int worst_joint; // which that is
    int frames;      // measured
} distances;

static track_result track_recording(const char *skeleton, const char *recording)
{
    track_result r;
    track_request request = track_request_default();
    request.model = skeleton;
    request.source = recording;
    ck_assert(track_load(&request, &r) && track_run(&request, &r));
    return r;
}

static take track_take(const char *recording, const char *motion)
{
    take t = {.tracked = track_recording(SKELETON, recording)};
    load_options options = {.model = t.tracked.skeleton->model, .quiet = true};
    t.truth = load_file(motion, &options);
    ck_assert(t.truth && t.truth->clip && t.truth->clip->frames == t.tracked.made->clip->frames);
    t.recording = load_file(recording, &options);
    ck_assert_ptr_nonnull(t.recording);
    t.millimetres = 1000 * t.tracked.made->scale.metres;
    return t;
}

static void forget(take *t)
{
    track_release(&t->tracked);
    poise_file_destroy(t->truth);
    poise_file_destroy(t->recording);
}

// ---- Joints --------------------------------------------------------------------------------------------------------------

// World positions of all joints in every measured frame.
static poise_vec3 *joints_of(const poise_model *model, const poise_clip *clip, int *count)
{
    int joints = poise_model_info(model).joints, frames = (clip->frames + EVERY - 1) / EVERY;
    poise_vec3 *points = calloc((size_t)(joints * frames), sizeof *points);
    poise_kinematics *kin;
    ck_assert_int_eq(poise_kinematics_create(model, NULL, &kin, NULL), POISE_OK);
    for (int f = 0; f < frames; ++f) {
        ck_assert_int_eq(poise_kinematics_update(kin, clip->q + (size_t)(f * EVERY) * (size_t)clip->nq, NULL), POISE_OK);
        for (int k = 0; k < joints; ++k) {
            points[f * joints + k] = poise_kinematics_body_pose(kin, k).position;
        }
    }
    poise_kinematics_destroy(kin);
    *count = frames;
    return points;
}

static vec3 mean_of(const vec3 *points, const bool *counts, int frames, int joints)
{
    vec3 sum = v3(0, 0, 0);
    int n = 0;
    for (int i = 0; i < frames * joints; ++i) {
        if (counts[i / joints]) {
            sum = v3_add(sum, points[i]);
            n += 1;
        }
    }
    return v3_scale(sum, 1.0 / n);
}

// The rotation R with the least sum of |x - R y|^2 about both means (W. Kabsch 1976), row by row.
static void align(const vec3 *x, vec3 x_mean, const vec3 *y, vec3 y_mean, const bool *counts, int frames, int joints,
                  double R[9])
{
    double A[9] = {0}, s[3], V[9];
    for (int i = 0; i < frames * joints; ++i) {
        if (counts[i / joints]) {
            vec3 a = v3_sub(x[i], x_mean), b = v3_sub(y[i], y_mean);
            const double p[3] = {a.x, a.y, a.z}, q[3] = {b.x, b.y, b.z};
            for (int k = 0; k < 9; ++k) {
                A[k] += p[k / 3] * q[k % 3];
            }
        }
    }
    ck_assert(pz_svd(3, 3, A, s, V)); // A becomes U
    double det_u =
        A[0] * (A[4] * A[8] - A[5] * A[7]) - A[1] * (A[3] * A[8] - A[5] * A[6]) + A[2] * (A[3] * A[7] - A[4] * A[6]);
    double det_v =
        V[0] * (V[4] * V[8] - V[5] * V[7]) - V[1] * (V[3] * V[8] - V[5] * V[6]) + V[2] * (V[3] * V[7] - V[4] * V[6]);
    for (int r = 0; r < 3; ++r) {
        for (int c = 0; c < 3; ++c) {
            R[3 * r + c] = A[3 * r] * V[3 * c] + A[3 * r + 1] * V[3 * c + 1] +
                           (det_u * det_v < 0 ? -1 : 1) * A[3 * r + 2] * V[3 * c + 2];
        }
    }
}

// Distances of y from x after the best rigid motion of y, over the frames that count.
static distances compare(const vec3 *x, const vec3 *y, const bool *counts, int frames, int joints, double millimetres)
{
    vec3 a = mean_of(x, counts, frames, joints), b = mean_of(y, counts, frames, joints);
    double R[9], by_joint[64] = {0};
    align(x, a, y, b, counts, frames, joints, R);
    distances d = {.frames = 0};
    for (int f = 0; f < frames; ++f) {
        d.frames += counts[f];
        for (int k = 0; counts[f] && k < joints; ++k) {
            vec3 p = v3_sub(y[f * joints + k], b);
            vec3 turned = v3(R[0] * p.x + R[1] * p.y + R[2] * p.z, R[3] * p.x + R[4] * p.y + R[5] * p.z,
                             R[6] * p.x + R[7] * p.y + R[8] * p.z);
            by_joint[k] += millimetres * v3_norm(v3_sub(v3_sub(x[f * joints + k], a), turned));
        }
    }
    for (int k = 0; k < joints; ++k) {
        d.mean += by_joint[k] / d.frames / joints;
        if (by_joint[k] / d.frames > d.worst) {
            d.worst = by_joint[k] / d.frames;
            d.worst_joint = k;
        }
    }
    return d;
}

// ---- Frames that count ---------------------------------------------------------------------------------------------------

static int by_size(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

// Where a marker sits on its body by the published motion: in every measured frame.
static void places_by_truth(const take *t, int marker, int body, poise_kinematics *kin, vec3 *local, int frames)
{
    const poise_markers *m = t->recording->markers;
    for (int f = 0; f < frames; ++f) {
        ck_assert_int_eq(
            poise_kinematics_update(kin, t->truth->clip->q + (size_t)(f * EVERY) * (size_t)t->truth->clip->nq, NULL),
            POISE_OK);
        poise_pose pose = poise_kinematics_body_pose(kin, body);
        vec3 x = m->position[(size_t)(f * EVERY) * (size_t)m->count + (size_t)marker]; // millimetres, z up
        x = v3_scale(v3(x.y, x.z, x.x), 1.0 / t->millimetres);
        local[f] = poise_quat_rotate(poise_quat_conjugate(pose.rotation), v3_sub(x, pose.position));
    }
}

// The frames in which the published motion is to be believed: the markers' mean distance from the median of their places on
// it is at most AMC_WRONG.
static void believe(const take *t, bool *counts, int frames)
{
    const track_result *r = &t->tracked;
    double *miss = calloc((size_t)frames, sizeof *miss), *sorted = calloc((size_t)frames, sizeof *sorted);
    vec3 *local = calloc((size_t)frames, sizeof *local);
    poise_kinematics *kin;
    ck_assert_int_eq(poise_kinematics_create(r->skeleton->model, NULL, &kin, NULL), POISE_OK);
    for (int i = 0; i < r->made->placement_count; ++i) {
        int marker = poise_markers_find(t->recording->markers, r->made->placements[i].label);
        places_by_truth(t, marker, r->made->placements[i].body, kin, local, frames);
        vec3 median;
        for (int axis = 0; axis < 3; ++axis) {
            for (int f = 0; f < frames; ++f) {
                sorted[f] = ((const double *)&local[f])[axis];
            }
            qsort(sorted, (size_t)frames, sizeof *sorted, by_size);
            ((double *)&median)[axis] = sorted[frames / 2];
        }
        for (int f = 0; f < frames; ++f) {
            vec3 off = v3_sub(local[f], median);
            miss[f] += v3_norm(off) / r->made->placement_count;
        }
    }
    for (int f = 0; f < frames; ++f) {
        counts[f] = miss[f] * t->millimetres <= AMC_WRONG;
    }
    poise_kinematics_destroy(kin);
    free(local);
    free(sorted);
    free(miss);
}

// ---- Takes ---------------------------------------------------------------------------------------------------------------

static const struct {
    const char *name;
    double mean, worst; // millimetres, at most
} takes[] = {{"HDM_dg_01-03_01_120", 30, 60}, {"HDM_dg_03-05_02_120", 35, 65}};

TEST_DATA_ROWS(joints_are_where_the_published_motion_has_them, TEST_COUNT(takes), "hdm05")
{
    char recording[64], motion[64];
    snprintf(recording, sizeof recording, DATA "%s.c3d", takes[test_row].name);
    snprintf(motion, sizeof motion, DATA "%s.amc", takes[test_row].name);
    take t = track_take(test_data(recording), test_data(motion));
    const poise_model *model = t.tracked.skeleton->model;
    int frames, joints = poise_model_info(model).joints;
    vec3 *truth = joints_of(model, t.truth->clip, &frames),
         *found = joints_of(t.tracked.made->model, t.tracked.made->clip, &frames);
    bool *counts = calloc((size_t)frames, sizeof *counts);
    memset(counts, true, (size_t)frames * sizeof *counts);
    distances all = compare(truth, found, counts, frames, joints, t.millimetres);
    believe(&t, counts, frames);
    distances d = compare(truth, found, counts, frames, joints, t.millimetres);
    printf("%s: residual %.1f mm; joints %.1f mm, %s %.1f mm; all %d frames %.1f, %s %.1f; %d left out\n",
           takes[test_row].name, t.tracked.made->summary.mean * t.millimetres, d.mean,
           poise_model_joint_info(model, d.worst_joint).name, d.worst, frames, all.mean,
           poise_model_joint_info(model, all.worst_joint).name, all.worst, frames - d.frames);
    const poise_recording_result *made = t.tracked.made;
    for (int i = 0; i < made->verdict.count; ++i) { // the file's limits are a template's, which this person leaves
        ck_assert_msg(made->findings[i].level == POISE_VERDICT_GOOD || made->findings[i].kind == POISE_FINDING_AT_LIMIT,
                      "%s %s: %g", poise_finding_name(made->findings[i].kind),
                      made->findings[i].name ? made->findings[i].name : "", made->findings[i].value);
    }
    ck_assert_double_le(d.mean, takes[test_row].mean);
    ck_assert_double_le(d.worst, takes[test_row].worst);
    free(counts);
    free(truth);
    free(found);
    forget(&t);
}

// ---- A stranger's skeleton -----------------------------------------------------------------------------------------------

// Joints that the built-in humanoid and the skeleton of the takes both have.
static const char *const common_joints[][2] = {
    {"left_thigh", "lfemur"}, {"left_shin", "ltibia"},         {"left_foot", "lfoot"},    {"left_upper_arm", "lhumerus"},
    {"left_ulna", "lradius"}, {"left_hand", "lhand"},          {"right_thigh", "rfemur"}, {"right_shin", "rtibia"},
    {"right_foot", "rfoot"},  {"right_upper_arm", "rhumerus"}, {"right_ulna", "rradius"}, {"right_hand", "rhand"}};

// Of the joints of a model in every measured frame those that are common.
static vec3 *common_of(const poise_model *model, const poise_clip *clip, int which, int *frames)
{
    enum { COUNT = TEST_COUNT(common_joints) };
    vec3 *all = joints_of(model, clip, frames), *some = calloc((size_t)(*frames * COUNT), sizeof *some);
    for (int i = 0; i < *frames * COUNT; ++i) {
        int body = poise_model_find_body(model, common_joints[i % COUNT][which]);
        some[i] = all[i / COUNT * poise_model_info(model).joints + body];
    }
    free(all);
    return some;
}

TEST_DATA(another_skeleton_has_its_limbs_where_they_were, "hdm05")
{
    enum { COUNT = TEST_COUNT(common_joints) };
    track_result r = track_recording("scene:humanoid", test_data(DATA "HDM_dg_01-03_01_120.c3d"));
    load_options options = {.quiet = true};
    poise_file *skeleton = load_model(SKELETON, &options);
    options.model = skeleton->model;
    poise_file *truth = load_file(test_data(DATA "HDM_dg_01-03_01_120.amc"), &options);
    double metres = skeleton->scale.metres;
    int frames;
    vec3 *found = common_of(r.made->model, r.made->clip, 0, &frames),
         *recorded = common_of(skeleton->model, truth->clip, 1, &frames);
    bool *counts = calloc((size_t)frames, sizeof *counts);
    memset(counts, true, (size_t)frames * sizeof *counts);
    for (int i = 0; i < frames * COUNT; ++i) {
        recorded[i] = v3_scale(recorded[i], metres);
    }
    distances d = compare(recorded, found, counts, frames, COUNT, 1000);
    printf("scene:humanoid: residual %.1f mm; limbs %.1f mm, %s %.1f mm; scale %g\n", 1000 * r.made->summary.mean, d.mean,
           common_joints[d.worst_joint][0], d.worst, r.made->calibration.scale);
    ck_assert_double_le(d.mean, 60); // shoulders and hips of the two skeletons are not the same points
    ck_assert_double_le(d.worst, 90);
    free(counts);
    free(found);
    free(recorded);
    poise_file_destroy(truth);
    poise_file_destroy(skeleton);
    track_release(&r);
}

// ---- Hidden markers ------------------------------------------------------------------------------------------------------

enum { GAP = 24 }; // frames: 0.2 s

// Hide a tenth of the points in gaps; `hidden` has a flag for each point, of all markers of a frame after each other.
static void hide(const poise_recording_result *made, bool *hidden)
{
    uint64_t bits = 0x9e3779b97f4a7c15u;
    const poise_markers *m = made->markers;
    for (long long count = 0, all = (long long)m->frames * made->placement_count; count < all / 10;) {
        bits ^= bits << 13;
        bits ^= bits >> 7;
        bits ^= bits << 17;
        int marker = poise_markers_find(m, made->placements[(bits >> 20) % (uint64_t)made->placement_count].label);
        int begin = (int)((bits >> 40) % (uint64_t)m->frames);
        for (int f = begin; f < begin + GAP && f < m->frames; ++f) {
            bool *at = &hidden[(size_t)f * (size_t)m->count + (size_t)marker];
            count += !*at;
            *at = true;
        }
    }
}

// What hidden markers are missed by, root mean square, millimetres.
static double hidden_miss(const poise_recording_result *made, const poise_clip *clip, const bool *hidden)
{
    poise_kinematics *kin;
    double squares = 0, count = 0;
    ck_assert_int_eq(poise_kinematics_create(made->model, NULL, &kin, NULL), POISE_OK);
    for (int f = 0; f < clip->frames; ++f) {
        ck_assert_int_eq(poise_kinematics_update(kin, clip->q + (size_t)f * (size_t)clip->nq, NULL), POISE_OK);
        for (int i = 0; i < made->placement_count; ++i) {
            const poise_placement *p = &made->placements[i];
            size_t at = (size_t)f * (size_t)made->markers->count + (size_t)poise_markers_find(made->markers, p->label);
            if (hidden[at]) {
                vec3 miss = v3_sub(poise_kinematics_point(kin, p->body, p->local), made->markers->position[at]);
                squares += v3_dot(miss, miss);
                count += 1;
            }
        }
    }
    poise_kinematics_destroy(kin);
    return 1000 * made->scale.metres * sqrt(squares / count);
}

// A tenth of all points are hidden, with the places that the whole take has: where does the motion have them? Without joint
// limits, which the takes leave.
TEST_DATA(a_whole_clip_has_hidden_markers_where_they_were, "hdm05")
{
    static const struct {
        const char *recording;
        double most; // millimetres
    } rows[] = {{DATA "HDM_dg_03-05_02_120.c3d", 16.5}, {DATA "HDM_dg_01-03_01_120.c3d", 14}};
    for (size_t i = 0; i < TEST_COUNT(rows); ++i) {
        load_options quiet = {.quiet = true};
        poise_file *skeleton = load_model(SKELETON, &quiet), *recording = load_file(test_data(rows[i].recording), &quiet);
        poise_recording_problem whole_take = poise_recording_problem_default();
        poise_recording_result *made;
        whole_take.model = skeleton->model;
        whole_take.scale = skeleton->scale;
        whole_take.markers = recording->markers;
        whole_take.track.solver.use_limits = false;
        ck_assert_int_eq(poise_track_recording(&whole_take, NULL, &made, NULL), POISE_OK);
        size_t points = (size_t)made->markers->frames * (size_t)made->markers->count;
        bool *hidden = calloc(points, sizeof *hidden);
        poise_markers *seen;
        hide(made, hidden);
        ck_assert_int_eq(poise_markers_create(made->markers->frames, made->markers->count, made->markers->rate,
                                              (const char *const *)made->markers->label, NULL, &seen, NULL),
                         POISE_OK);
        seen->scale = made->markers->scale;
        for (size_t k = 0; k < points; ++k) {
            seen->position[k] = hidden[k] ? v3(NAN, NAN, NAN) : made->markers->position[k];
        }
        poise_track_problem problem = poise_track_problem_default();
        poise_sequence_options options = poise_sequence_options_default();
        poise_clip *by_frame, *whole;
        problem.model = made->model;
        problem.placements = made->placements;
        problem.placement_count = made->placement_count;
        problem.markers = seen;
        problem.q_start = made->q_start;
        problem.solver.use_limits = false;
        ck_assert_int_eq(poise_track(&problem, NULL, &by_frame, NULL, NULL), POISE_OK);
        ck_assert_int_eq(poise_track_whole(&problem, &options, NULL, &whole, NULL, NULL, NULL), POISE_OK);
        double miss = hidden_miss(made, whole, hidden);
        printf("%s: hidden markers %.1f mm, frame by frame %.1f mm\n", strrchr(rows[i].recording, '/') + 1, miss,
               hidden_miss(made, by_frame, hidden));
        ck_assert_double_le(miss, rows[i].most);
        poise_clip_destroy(by_frame);
        poise_clip_destroy(whole);
        poise_markers_destroy(seen);
        free(hidden);
        poise_recording_destroy(made);
        poise_file_destroy(recording);
        poise_file_destroy(skeleton);
    }
}

// ---- Axes and units ------------------------------------------------------------------------------------------------------

// The recording with its axes changed and its numbers multiplied, in a file that says the unit, or does not.
static void write_changed(const char *recording, const int axes[3], double factor, poise_scale says, const char *name)
{
    load_options options = {.quiet = true};
    poise_file *file = load_file(recording, &options);
    poise_markers *part;
    ck_assert_ptr_nonnull(file);
    ck_assert_int_eq(poise_markers_trim(file->markers, 0, 700, NULL, &part, NULL), POISE_OK);
    for (int i = 0; i < part->frames * part->count; ++i) {
        const double *from = (const double *)&part->position[i];
        double to[3];
        for (int k = 0; k < 3; ++k) {
            to[k] = axes[k] < 0 ? -factor * from[-axes[k] - 1] : factor * from[axes[k] - 1];
        }
        memcpy(&part->position[i], to, sizeof to);
    }
    part->scale = says;
    poise_file out = {.markers = part};
    ck_assert(save_file(name, &out));
    poise_markers_destroy(part);
    poise_file_destroy(file);
}

TEST_DATA(axes_and_units_of_a_file_change_nothing, "hdm05")
{
    static const struct {
        int axes[3];
        double factor;
        poise_scale says;
    } files[] = {{{1, 2, 3}, 1, {0.001, POISE_UP_UNKNOWN}},
                 {{2, 3, 1}, 0.001, {1, POISE_UP_Y}},
                 {{3, 1, 2}, 0.1, {0.01, POISE_UP_UNKNOWN}},
                 {{1, 3, -2}, 0.001, {0, POISE_UP_UNKNOWN}},
                 {{-2, 1, 3}, 1 / 25.4, {0, POISE_UP_UNKNOWN}}};
    const char *name = "takes_changed.json"; // in the folder that the test runs in
    vec3 *first = NULL;
    int frames;
    for (size_t i = 0; i < TEST_COUNT(files); ++i) {
        write_changed(test_data(DATA "HDM_dg_01-03_01_120.c3d"), files[i].axes, files[i].factor, files[i].says, name);
        track_result r = track_recording(SKELETON, name);
        int joints = poise_model_info(r.made->model).joints;
        vec3 *found = joints_of(r.made->model, r.made->clip, &frames);
        bool *counts = calloc((size_t)frames, sizeof *counts);
        memset(counts, true, (size_t)frames * sizeof *counts);
        if (first) {
            distances d = compare(first, found, counts, frames, joints, 1000 * r.made->scale.metres);
            ck_assert_msg(d.mean <= 1 && d.worst <= 1, "file %d: %g mm, worst %g mm", (int)i, d.mean, d.worst);
        }
        vec3 head = found[poise_model_find_body(r.made->model, "head")],
             foot = found[poise_model_find_body(r.made->model, "lfoot")];
        ck_assert(r.made->scale.up == POISE_UP_Y && head.y - foot.y > 0.8 * v3_norm(v3_sub(head, foot))); // upright
        free(counts);
        free(first ? found : NULL);
        first = first ? first : found;
        track_release(&r);
    }
    free(first);
    remove(name);
}
