// Whole clips: markers of our own motions solved all at once, and goals that change over time.
#include "support/skeleton.h"

#include <poise/sequence.h>
#include <scenes/recording.h>
#include <scenes/scenes.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/own.h"
#include "support/test_main.h"

#define MARKERS 41

typedef struct take {
    const char *scene;
    poise_model *model;
    int nq, nv;
    scene_marker markers[MARKERS];
    poise_placement placements[MARKERS];
    poise_clip *truth;
    poise_markers *seen;
    poise_track_problem problem;
} take;

static void record(take *t, const char *scene, const char *motion, const scene_recording *how)
{
    memset(t, 0, sizeof *t);
    t->scene = scene;
    ck_assert_int_eq(scene_create(scene, NULL, &t->model, NULL), POISE_OK);
    own_model(t->model);
    t->nq = poise_model_info(t->model).nq;
    t->nv = poise_model_info(t->model).nv;
    ck_assert_int_eq(scene_markers(scene, t->markers, MARKERS), MARKERS);
    for (int i = 0; i < MARKERS; ++i) {
        t->placements[i] = (poise_placement){t->markers[i].name, t->markers[i].body, t->markers[i].local, 1.0};
    }
    ck_assert_int_eq(scene_record(t->model, scene, motion, how, &t->truth, &t->seen), POISE_OK);
    own_clip(t->truth);
    own_markers(t->seen);
    t->problem = poise_track_problem_default();
    t->problem.model = t->model;
    t->problem.placements = t->placements;
    t->problem.placement_count = MARKERS;
    t->problem.markers = t->seen;
}

static poise_clip *solve(const take *t, const poise_sequence_options *o, poise_track_frame *frames,
                         poise_sequence_report *report)
{
    poise_clip *clip = NULL;
    poise_error error = {0};
    poise_status status = poise_track_whole(&t->problem, o, NULL, &clip, frames, report, &error);
    ck_assert_msg(status == POISE_OK, "%s", error.text);
    return own_clip(clip);
}

static poise_clip *track(const take *t)
{
    poise_clip *clip = NULL;
    ck_assert_int_eq(poise_track(&t->problem, NULL, &clip, NULL, NULL), POISE_OK);
    return own_clip(clip);
}

// Rms distance of the bodies from where they truly are, and the largest turn of a body from frame to frame.
static double miss_of(const take *t, const poise_clip *clip, double *turn)
{
    poise_kinematics *kin[2];
    double squares = 0.0, most = 0.0;
    int joints = poise_model_info(t->model).joints;
    for (int i = 0; i < 2; ++i) {
        ck_assert_int_eq(poise_kinematics_create(t->model, NULL, &kin[i], NULL), POISE_OK);
        own_kinematics(kin[i]);
    }
    for (int f = 0; f < clip->frames; ++f) {
        poise_quat before[64];
        for (int k = 0; k < joints; ++k) {
            before[k] = poise_kinematics_body_pose(kin[0], k).rotation;
        }
        ck_assert_int_eq(poise_kinematics_update(kin[0], clip->q + (size_t)f * (size_t)t->nq, NULL), POISE_OK);
        ck_assert_int_eq(poise_kinematics_update(kin[1], t->truth->q + (size_t)f * (size_t)t->nq, NULL), POISE_OK);
        for (int k = 0; k < joints; ++k) {
            poise_pose a = poise_kinematics_body_pose(kin[0], k), b = poise_kinematics_body_pose(kin[1], k);
            double x = a.position.x - b.position.x, y = a.position.y - b.position.y, z = a.position.z - b.position.z;
            squares += x * x + y * y + z * z;
            const poise_quat p = before[k], q = a.rotation;
            double w = fabs(p.x * q.x + p.y * q.y + p.z * q.z + p.w * q.w);
            most = f > 0 ? fmax(most, 2.0 * acos(fmin(w, 1.0))) : most;
        }
    }
    if (turn) {
        *turn = most;
    }
    return sqrt(squares / (clip->frames * joints));
}

// ---- Markers -------------------------------------------------------------------------------------------------------------

static const struct {
    const char *scene, *motion;
    double share; // of the error by frame; the cartwheel's root bounces, which knots round off
} rows[] = {{"humanoid", "walk", 0.6},
            {"humanoid", "kick", 0.6},
            {"humanoid-quaternion", "punch", 0.6},
            {"humanoid", "cartwheel", 0.85},
            {"humanoid-quaternion", "cartwheel", 0.85},
            {"humanoid-euler", "walk", 0.6}};

// On a bad day (3 mm of noise, gaps, swapped knees) the noise is found, and bodies are nearer to their places than
// frame by frame, without a jump and within the limits.
TEST_ROWS(a_bad_day_is_averaged_over_time, (int)TEST_COUNT(rows))
{
    take t;
    scene_recording how = scene_recording_noisy();
    record(&t, rows[test_row].scene, rows[test_row].motion, &how);
    poise_sequence_options o = poise_sequence_options_default();
    poise_sequence_report report;
    poise_track_frame *frames = calloc((size_t)t.seen->frames, sizeof *frames);
    poise_clip *whole = solve(&t, &o, frames, &report), *single = track(&t);
    double turn, miss = miss_of(&t, whole, &turn), usual = miss_of(&t, single, NULL);
    ck_assert_double_eq_tol(report.noise, 3e-3, 3e-4);
    ck_assert_double_le(miss, rows[test_row].share * usual);
    ck_assert_double_le(turn, 0.2);
    int gaps = 0, outliers = 0;
    for (int f = 0; f < whole->frames; ++f) {
        ck_assert(poise_model_within_limits(t.model, whole->q + (size_t)f * (size_t)t.nq));
        ck_assert_int_eq(frames[f].flags & (POISE_TRACK_HELD | POISE_TRACK_JUMP), 0);
        gaps += (frames[f].flags & POISE_TRACK_GAPS) != 0;
        outliers += frames[f].let_go > 0;
        ck_assert(frames[f].rms > 1e-4 && frames[f].rms < 0.025);
    }
    ck_assert_int_gt(gaps, 0);
    ck_assert_int_gt(outliers, 0);
    free(frames);
}

// Live, with a lag: errors in between those by frame and those of the whole clip, less with a longer lag, without a seam.
TEST_ROWS(live_tracking_comes_near_to_the_whole, (int)TEST_COUNT(rows))
{
    take t;
    scene_recording how = scene_recording_noisy();
    record(&t, rows[test_row].scene, rows[test_row].motion, &how);
    poise_sequence_options o = poise_sequence_options_default();
    double whole = miss_of(&t, solve(&t, &o, NULL, NULL), NULL), single = miss_of(&t, track(&t), NULL), last = single;
    static const int lags[] = {12, 32};
    for (int i = 0; i < 2; ++i) {
        poise_clip *clip = NULL;
        poise_error error = {0};
        poise_track_frame *frames = calloc((size_t)t.seen->frames, sizeof *frames);
        poise_status status = poise_track_live(&t.problem, &o, lags[i], NULL, &clip, frames, &error);
        ck_assert_msg(status == POISE_OK, "%s", error.text);
        own_clip(clip);
        double turn, miss = miss_of(&t, clip, &turn);
        ck_assert_int_eq(clip->frames, t.seen->frames);
        ck_assert_double_lt(miss, last);
        ck_assert_double_le(turn, 0.2);
        for (int f = 0; f < clip->frames; ++f) {
            ck_assert(poise_model_within_limits(t.model, clip->q + (size_t)f * (size_t)t.nq));
            ck_assert_int_eq(frames[f].flags & POISE_TRACK_JUMP, 0);
        }
        last = miss;
        free(frames);
    }
    ck_assert_double_le(last, 0.7 * whole + 0.3 * single);
}

static void expect_next(void *user, int frame, int worker)
{
    int *announced = user;
    ck_assert(frame == *announced && worker == 0);
    *announced += 1;
}

TEST(every_frame_of_live_tracking_is_announced_once_in_order)
{
    take t;
    int announced = 0;
    scene_recording how = scene_recording_noisy();
    record(&t, "humanoid", "walk", &how);
    t.problem.on_frame = expect_next;
    t.problem.user = &announced;
    poise_sequence_options o = poise_sequence_options_default();
    poise_clip *clip = NULL;
    ck_assert_int_eq(poise_track_live(&t.problem, &o, 12, NULL, &clip, NULL, NULL), POISE_OK);
    own_clip(clip);
    ck_assert_int_eq(announced, t.seen->frames);
}

// Frames come out in order, so many behind, and all of them in the end.
TEST(live_frames_are_so_many_behind)
{
    enum { LAG = 13 };
    take t;
    scene_recording how = scene_recording_noisy();
    record(&t, "humanoid", "walk", &how);
    poise_sequence_options o = poise_sequence_options_default();
    poise_live *live = NULL;
    poise_error error = {0};
    double *q = calloc((size_t)t.nq, sizeof *q);
    int frames = 50, frame = 0, next = 0;
    ck_assert_int_eq(poise_live_create(&t.problem, &o, t.seen->rate, LAG, NULL, &live, &error), POISE_OK);
    for (int f = 0; f < frames; ++f) {
        poise_vec3 seen[MARKERS];
        for (int i = 0; i < MARKERS; ++i) {
            seen[i] = t.seen->position[(size_t)f * MARKERS + (size_t)poise_markers_find(t.seen, t.placements[i].label)];
        }
        ck_assert_int_eq(poise_live_next(live, seen, q, &frame, NULL, &error), POISE_OK);
        ck_assert_int_eq(frame, f < LAG ? POISE_NONE : next++);
    }
    for (; next < frames; ++next) {
        ck_assert_int_eq(poise_live_next(live, NULL, q, &frame, NULL, &error), POISE_OK);
        ck_assert_int_eq(frame, next);
    }
    ck_assert_int_eq(poise_live_next(live, NULL, q, &frame, NULL, &error), POISE_OK);
    ck_assert_int_eq(frame, POISE_NONE);
    poise_live_destroy(live);
    double *fast = malloc((size_t)t.nv * sizeof *fast);
    for (int i = 0; i < t.nv; ++i) {
        fast[i] = 1.0;
    }
    o.velocity = fast;
    ck_assert_int_eq(poise_live_create(&t.problem, &o, t.seen->rate, LAG, NULL, &live, &error), POISE_ERROR_UNSUPPORTED);
    o.velocity = NULL;
    ck_assert_int_eq(poise_live_create(&t.problem, &o, t.seen->rate, 11, NULL, &live, &error), POISE_ERROR_ARGUMENT);
    ck_assert_int_eq(poise_live_next(NULL, NULL, q, &frame, NULL, &error), POISE_ERROR_ARGUMENT);
    free(fast);
    free(q);
}

// The only marker on a body, whichever it is, is half a metre off for a while: it pulls nothing then.
TEST(a_marker_that_goes_astray_is_let_go_live)
{
    static const int markers[] = {0, MARKERS - 1};
    for (int k = 0; k < 2; ++k) {
        take t;
        scene_recording how = scene_recording_default();
        record(&t, "humanoid", "walk", &how);
        poise_clip *clip = NULL;
        poise_kinematics *kin;
        poise_sequence_options o = poise_sequence_options_default();
        const poise_placement *own = &t.placements[markers[k]];
        poise_vec3 *seen = t.seen->position + poise_markers_find(t.seen, own->label), truth[200];
        for (int i = 0; i < MARKERS; ++i) {
            t.placements[i].weight = i == markers[k] || t.placements[i].body != own->body;
        }
        for (int f = 0; f < t.seen->frames; ++f) {
            ck_assert_int_lt(f, 200);
            truth[f] = seen[f * t.seen->count];
            seen[f * t.seen->count].x += f >= 60 && f < 80 ? 0.5 : 0;
        }
        ck_assert_int_eq(poise_track_live(&t.problem, &o, 16, NULL, &clip, NULL, NULL), POISE_OK);
        own_clip(clip);
        ck_assert_int_eq(poise_kinematics_create(t.model, NULL, &kin, NULL), POISE_OK);
        own_kinematics(kin);
        double worst = 0;
        for (int f = 0; f < clip->frames; ++f) {
            ck_assert_int_eq(poise_kinematics_update(kin, clip->q + (size_t)f * (size_t)t.nq, NULL), POISE_OK);
            poise_vec3 at = poise_kinematics_point(kin, own->body, own->local);
            double off = hypot(hypot(at.x - truth[f].x, at.y - truth[f].y), at.z - truth[f].z);
            worst = fmax(worst, off);
        }
        ck_assert_msg(worst < 3e-3, "marker %d: %g m off", markers[k], worst);
    }
}

// Before the person has come and after they left, the clip holds the first and the last pose that was measured.
TEST(nobody_there_is_a_pose_that_holds)
{
    enum { COMES = 41, LEAVES = 100 };
    take t;
    scene_recording how = scene_recording_noisy();
    record(&t, "humanoid", "walk", &how);
    for (int f = 0; f < t.seen->frames; ++f) {
        for (int i = 0; (f < COMES || f > LEAVES) && i < t.seen->count; ++i) {
            t.seen->position[(size_t)f * (size_t)t.seen->count + (size_t)i] = (poise_vec3){NAN, NAN, NAN};
        }
    }
    poise_sequence_options o = poise_sequence_options_default();
    poise_track_frame *frames = calloc((size_t)t.seen->frames, sizeof *frames);
    poise_clip *clip = solve(&t, &o, frames, NULL);
    size_t row = (size_t)t.nq * sizeof(double);
    for (int f = 0; f < clip->frames; ++f) {
        int held = f < COMES ? COMES : f > LEAVES ? LEAVES : f;
        ck_assert_int_eq(memcmp(clip->q + (size_t)f * (size_t)t.nq, clip->q + (size_t)held * (size_t)t.nq, row), 0);
        ck_assert_int_eq(frames[f].flags & POISE_TRACK_JUMP, 0);
    }
    free(frames);
}

// A marker with one number beyond all others is as one that is not seen.
TEST(a_marker_beyond_all_numbers_is_a_gap)
{
    static const poise_vec3 beyond[] = {{NAN, NAN, NAN}, {0, 1e300, 0}, {0, 0, -1e300}, {1e300, 0, 0}};
    scene_recording how = scene_recording_default();
    poise_sequence_options o = poise_sequence_options_default();
    poise_clip *gap = NULL;
    for (size_t i = 0; i < TEST_COUNT(beyond); ++i) {
        take t;
        record(&t, "humanoid", "walk", &how);
        t.seen->position[20 * t.seen->count + 3] = beyond[i];
        poise_clip *clip = solve(&t, &o, NULL, NULL);
        gap = gap ? gap : clip;
        ck_assert_mem_eq(clip->q, gap->q, (size_t)(clip->frames * t.nq) * sizeof *clip->q);
    }
}

// Without noise the answer is the motion, to a micrometre; where a marker is hidden now and then, to a few.
TEST_ROWS(exact_markers_give_the_motion_back, (int)TEST_COUNT(rows))
{
    take t;
    scene_recording how = scene_recording_default();
    for (int with_gaps = 0; with_gaps < 2; ++with_gaps) {
        how.gaps = with_gaps ? 0.03 : 0;
        record(&t, rows[test_row].scene, rows[test_row].motion, &how);
        poise_sequence_options o = poise_sequence_options_default();
        poise_sequence_report report;
        double miss = miss_of(&t, solve(&t, &o, NULL, &report), NULL);
        ck_assert_msg(miss < (with_gaps ? 1e-5 : 1e-6), "%g m off", miss);
        ck_assert(report.converged);
    }
}

// What a file rounds to hundredths of a millimetre is smoothed, and no more than that.
TEST(rounding_is_averaged_like_noise)
{
    take t;
    scene_recording how = scene_recording_default();
    how.noise = 2e-5;
    record(&t, "humanoid", "walk", &how);
    poise_sequence_options o = poise_sequence_options_default();
    poise_sequence_report report;
    double miss = miss_of(&t, solve(&t, &o, NULL, &report), NULL), usual = miss_of(&t, track(&t), NULL);
    ck_assert_double_eq_tol(report.noise, 2e-5, 2e-6);
    ck_assert_msg(miss < 0.8 * usual, "%g m off, %g by frame", miss, usual);
}

// Windows meet without a trace: what one window says and what many do differs by less than the noise by far.
TEST(windows_agree_with_the_whole)
{
    take t;
    scene_recording how = scene_recording_noisy();
    how.swapped = false;
    how.periods = 3;
    record(&t, "humanoid", "walk", &how);
    poise_sequence_options o = poise_sequence_options_default();
    poise_sequence_report one, many;
    o.tolerance = 1e-7;
    o.max_iterations = 40;
    o.window = 1000;
    poise_clip *a = solve(&t, &o, NULL, &one);
    o.window = 128;
    poise_clip *b = solve(&t, &o, NULL, &many);
    ck_assert_int_eq(one.windows, 1);
    ck_assert_int_gt(many.windows, 3);
    double most = 0.0, step[256];
    for (int f = 0; f < a->frames; ++f) {
        const double *qa = a->q + (size_t)f * (size_t)t.nq, *qb = b->q + (size_t)f * (size_t)t.nq;
        ck_assert_int_eq(poise_difference(t.model, qa, qb, step, NULL), POISE_OK);
        for (int i = 0; i < t.nv; ++i) {
            most = fmax(most, fabs(step[i]));
        }
    }
    ck_assert_double_lt(most, 0.03); // the weights are estimated from other stretches; angles are noisy by 0.06
}

// ---- Limits --------------------------------------------------------------------------------------------------------------

static void fill(double *x, int count, double value)
{
    for (int i = 0; i < count; ++i) {
        x[i] = value;
    }
}

TEST(velocities_and_accelerations_keep_to_their_limits)
{
    take t;
    scene_recording how = scene_recording_default();
    how.noise = 1e-3;
    record(&t, "humanoid-euler", "kick", &how);
    double velocity[128], acceleration[128];
    fill(velocity, t.nv, 3.0);
    fill(acceleration, t.nv, 60.0);
    fill(acceleration, 6, INFINITY);
    fill(velocity, 6, INFINITY); // the root moves as it likes
    poise_sequence_options o = poise_sequence_options_default();
    poise_sequence_report free_report, report;
    solve(&t, &o, NULL, &free_report);
    o.velocity = velocity;
    o.acceleration = acceleration;
    poise_clip *clip = solve(&t, &o, NULL, &report);
    ck_assert_double_le(report.velocity, 1.0);
    ck_assert_double_le(report.acceleration, 1.0);
    double fastest = 0.0, hardest = 0.0, dt = clip->frame_time;
    for (int f = 1; f + 1 < clip->frames; ++f) {
        const double *q = clip->q + (size_t)f * (size_t)t.nq;
        for (int i = 6; i < t.nq; ++i) {
            fastest = fmax(fastest, fabs(q[i + t.nq] - q[i]) / dt);
            hardest = fmax(hardest, fabs(q[i + t.nq] - 2.0 * q[i] + q[i - t.nq]) / (dt * dt));
        }
    }
    ck_assert_double_le(fastest, 3.0 * (1.0 + 1e-9));
    ck_assert_double_le(hardest, 60.0 * (1.0 + 1e-9));
    ck_assert_double_gt(fastest, 2.7); // and are used
}

// ---- Goals over time -----------------------------------------------------------------------------------------------------

typedef struct path {
    poise_goal goals[2];
    double q[7];
    poise_vec3 center;
} path;

static const poise_goal *follow(void *user, int frame, int *count)
{
    path *p = user;
    double s, c;
    poise_sincos(0.05 * frame, &s, &c);
    p->goals[0].target.position = poise_vec3_make(p->center.x + 0.1 * (c - 1.0), p->center.y + 0.1 * s, p->center.z);
    *count = 2;
    return p->goals;
}

TEST(goals_of_any_kind_are_followed)
{
    poise_model *model = NULL;
    poise_clip *clip = NULL;
    ck_assert_int_eq(scene_create("arm7", NULL, &model, NULL), POISE_OK);
    own_model(model);
    ck_assert_int_eq(poise_clip_create(150, 7, 0.01, NULL, &clip, NULL), POISE_OK);
    own_clip(clip);
    path p = {.q = {0.1, 0.4, 0.1, -1.2, 0.1, 0.9, 0.1}};
    p.goals[0] = poise_goal_position(0, poise_vec3_make(0, 0, 0), poise_vec3_make(0, 0, 0));
    ck_assert_int_eq(poise_goal_at_tool(&p.goals[0], model, "tip", NULL), POISE_OK);
    p.goals[1] = poise_goal_posture(p.q, 1e-4);
    poise_kinematics *kin = NULL;
    ck_assert_int_eq(poise_kinematics_create(model, NULL, &kin, NULL), POISE_OK);
    own_kinematics(kin);
    ck_assert_int_eq(poise_kinematics_update(kin, p.q, NULL), POISE_OK);
    p.center = poise_kinematics_point(kin, p.goals[0].body, p.goals[0].local.position);
    for (int f = 0; f < 150; ++f) {
        memcpy(clip->q + (size_t)f * 7, p.q, sizeof p.q);
    }
    poise_sequence_options o = poise_sequence_options_default();
    o.noise = 1e-4;
    o.max_iterations = 40;
    poise_sequence_report report;
    ck_assert_int_eq(poise_sequence_solve(model, &o, follow, &p, clip, NULL, &report, NULL), POISE_OK);
    for (int f = 0; f < 150; ++f) {
        int count;
        const poise_goal *goal = follow(&p, f, &count);
        ck_assert_int_eq(poise_kinematics_update(kin, clip->q + (size_t)f * 7, NULL), POISE_OK);
        poise_vec3 at = poise_kinematics_point(kin, goal->body, goal->local.position), to = goal->target.position;
        ck_assert_double_lt(fabs(at.x - to.x) + fabs(at.y - to.y) + fabs(at.z - to.z), 1e-3);
    }
}

// ---- The call ------------------------------------------------------------------------------------------------------------

TEST(short_recordings_are_clips_too)
{
    scene_recording how = scene_recording_default();
    for (int frames = 1; frames < 12; ++frames) {
        take t;
        poise_markers *few = NULL;
        record(&t, "humanoid", "walk", &how);
        ck_assert_int_eq(poise_markers_trim(t.seen, 0, frames, NULL, &few, NULL), POISE_OK);
        t.problem.markers = own_markers(few);
        poise_sequence_options o = poise_sequence_options_default();
        poise_clip *clip = solve(&t, &o, NULL, NULL);
        ck_assert_int_eq(clip->frames, frames);
        ck_assert_double_lt(miss_of(&t, clip, NULL), 5e-3);
    }
}

TEST(it_refuses_what_is_not_sound)
{
    take t;
    scene_recording how = scene_recording_default();
    record(&t, "humanoid", "walk", &how);
    poise_clip *clip = NULL;
    poise_error error;
    poise_sequence_options o = poise_sequence_options_default();
    ck_assert_int_eq(poise_track_whole(NULL, &o, NULL, &clip, NULL, NULL, &error), POISE_ERROR_ARGUMENT);
    ck_assert_int_eq(poise_track_whole(&t.problem, NULL, NULL, &clip, NULL, NULL, &error), POISE_ERROR_ARGUMENT);
    o.knot = 0;
    ck_assert_int_eq(poise_track_whole(&t.problem, &o, NULL, &clip, NULL, NULL, &error), POISE_ERROR_ARGUMENT);
    ck_assert_ptr_nonnull(strstr(error.text, "knot"));
    o = poise_sequence_options_default();
    poise_track_problem broken = t.problem;
    broken.placements = NULL;
    ck_assert_int_eq(poise_track_whole(&broken, &o, NULL, &clip, NULL, NULL, &error), POISE_ERROR_ARGUMENT);
    broken = t.problem;
    broken.placement_count = -1;
    ck_assert_int_eq(poise_track_whole(&broken, &o, NULL, &clip, NULL, NULL, &error), POISE_ERROR_ARGUMENT);
    poise_placement nowhere = {"nowhere", 1000000, {0, 0, 0}, 1.0}, twice[2] = {nowhere, nowhere};
    broken.placements = twice;
    broken.placement_count = 2;
    ck_assert_int_eq(poise_track_whole(&broken, &o, NULL, &clip, NULL, NULL, &error), POISE_ERROR_ARGUMENT);
    ck_assert_ptr_nonnull(strstr(error.text, "nowhere"));
    o.window = o.overlap + 8 * o.knot - 1;
    ck_assert_int_eq(poise_track_whole(&t.problem, &o, NULL, &clip, NULL, NULL, &error), POISE_ERROR_ARGUMENT);
    ck_assert_ptr_nonnull(strstr(error.text, "window must be at least overlap + 8 knots"));
    o = poise_sequence_options_default();
    double limits[128] = {0};
    o.velocity = limits;
    ck_assert_int_eq(poise_track_whole(&t.problem, &o, NULL, &clip, NULL, NULL, &error), POISE_ERROR_ARGUMENT);
    o = poise_sequence_options_default();
    ck_assert_int_eq(poise_sequence_solve(t.model, &o, NULL, NULL, t.truth, NULL, NULL, &error), POISE_ERROR_ARGUMENT);
    ck_assert_int_eq(poise_sequence_solve(t.model, &o, follow, NULL, NULL, NULL, NULL, &error), POISE_ERROR_ARGUMENT);
    ck_assert_ptr_null(clip);
}

// ---- Joints that follow others -------------------------------------------------------------------------------------------

// An arm of two hinges, and a cap that follows the elbow; on it a marker or none.
static poise_status track_arm(bool has_cap, bool sees_cap, double *q)
{
    enum { TAKES = 60 };
    poise_builder *builder = new_builder();
    poise_joint joints[3] = {joint_of("upper", NULL, POISE_JOINT_REVOLUTE), joint_of("cap", "upper", POISE_JOINT_REVOLUTE),
                             joint_of("lower", "upper", POISE_JOINT_REVOLUTE)};
    for (int k = 0; k < 3; ++k) {
        joints[k].axis = (poise_vec3){0, 0, 1};
        joints[k].offset.position.x = k > 0 ? 0.3 : 0.0;
        joints[k].mimic = k == 1 ? "lower" : NULL;
        if (k != 1 || has_cap) {
            add(builder, &joints[k]);
        }
    }
    poise_model *model = model_of(builder);
    int lower = poise_model_find_joint(model, "lower"), cap = sees_cap ? poise_model_find_joint(model, "cap") : 0;
    poise_placement places[3] = {{"a", 0, {0.2, 0.05, 0}, 1}, {"b", lower, {0.2, 0.05, 0}, 1}, {"c", cap, {0.1, 0, 0}, 1}};
    poise_clip *truth, *found = NULL;
    poise_markers *seen;
    ck_assert_int_eq(poise_clip_create(TAKES, 2, 0.01, NULL, &truth, NULL), POISE_OK);
    for (int i = 0; i < 2 * TAKES; ++i) {
        truth->q[i] = 0.5 * sin(0.05 * i);
    }
    ck_assert_int_eq(poise_markers_from_clip(model, truth, (poise_scale){1.0, POISE_UP_Y}, places, 3, NULL, &seen, NULL),
                     POISE_OK);
    for (int i = 0; i < 3 * TAKES; ++i) {
        seen->position[i].y += 0.002 * sin(7.0 * i);
    }
    poise_track_problem problem = poise_track_problem_default();
    problem.model = model, problem.placements = places, problem.placement_count = 3, problem.markers = seen;
    poise_sequence_options o = poise_sequence_options_default();
    poise_status status = poise_track_whole(&problem, &o, NULL, &found, NULL, NULL, NULL);
    for (int i = 0; i < 2 * TAKES && found; ++i) {
        q[i] = found->q[i];
    }
    poise_clip_destroy(found);
    poise_clip_destroy(truth);
    poise_markers_destroy(seen);
    return status;
}

// Lengths of an arm of two hinges in another unit: the same angles come out, also where a marker is off in some frames.
TEST(the_unit_of_lengths_makes_no_difference)
{
    enum { TAKES = 60 };
    double q[2][2 * TAKES];
    for (int large = 0; large < 2; ++large) {
        double unit = large ? 100 : 1;
        poise_builder *builder = new_builder();
        poise_joint upper = joint_of("upper", NULL, POISE_JOINT_REVOLUTE), lower = joint_of("lower", "upper", upper.type);
        upper.axis = lower.axis = (poise_vec3){0, 0, 1};
        lower.offset.position.x = 0.3 * unit;
        add(builder, &upper);
        add(builder, &lower);
        poise_model *model = model_of(builder);
        poise_placement places[3] = {{"a", 0, {0.2 * unit, 0.05 * unit, 0}, 1},
                                     {"b", 1, {0.2 * unit, 0.05 * unit, 0}, 1},
                                     {"c", 1, {0.1 * unit, 0, 0}, 1}};
        poise_clip *truth, *found = NULL;
        poise_markers *seen;
        ck_assert_int_eq(poise_clip_create(TAKES, 2, 0.01, NULL, &truth, NULL), POISE_OK);
        own_clip(truth);
        for (int i = 0; i < 2 * TAKES; ++i) {
            truth->q[i] = 0.5 * sin(0.05 * i);
        }
        poise_scale scale = {1.0 / unit, POISE_UP_Y};
        ck_assert_int_eq(poise_markers_from_clip(model, truth, scale, places, 3, NULL, &seen, NULL), POISE_OK);
        own_markers(seen);
        for (int f = 0; f < TAKES; ++f) {
            seen->position[3 * f].y += 0.0005 * unit * sin(7.0 * f);
            seen->position[3 * f + 1].y += (f % 20 == 7 ? 0.04 : 0.0005 * sin(9.0 * f)) * unit;
        }
        poise_track_problem problem = poise_track_problem_default();
        problem.model = model, problem.placements = places, problem.placement_count = 3, problem.markers = seen;
        poise_sequence_options o = poise_sequence_options_default();
        ck_assert_int_eq(poise_track_whole(&problem, &o, NULL, &found, NULL, NULL, NULL), POISE_OK);
        own_clip(found);
        memcpy(q[large], found->q, sizeof q[large]);
    }
    for (int i = 0; i < 2 * TAKES; ++i) {
        ck_assert_double_eq_tol(q[1][i], q[0][i], 1e-4);
    }
}

TEST(a_joint_that_follows_another_changes_nothing_where_no_marker_sees_it)
{
    double with[120], without[120];
    ck_assert_int_eq(track_arm(false, false, without), POISE_OK);
    ck_assert_int_eq(track_arm(true, false, with), POISE_OK);
    for (int i = 0; i < 120; ++i) {
        ck_assert_double_eq_tol(with[i], without[i], 1e-9);
    }
    ck_assert_int_eq(track_arm(true, true, with), POISE_ERROR_UNSUPPORTED);
}

// ---- Sequence limits ----------------------------------------------------------------------------------------------------
//
// Whole clips within limits of velocity and acceleration, for every kind of joint, measured here by differences of frames.

#define FRAMES     300
#define FRAME_TIME 0.01
#define MOST_DOFS  64

// A joint by itself, or a chain of six such joints.
static const struct {
    poise_joint_type type;
    int joints;
} kinds[] = {{POISE_JOINT_REVOLUTE, 1},    {POISE_JOINT_PRISMATIC, 1},   {POISE_JOINT_BALL_QUATERNION, 1},
             {POISE_JOINT_BALL_EXPMAP, 1}, {POISE_JOINT_SWING_TWIST, 1}, {POISE_JOINT_FREE, 1},
             {POISE_JOINT_FREE_EXPMAP, 1}, {POISE_JOINT_REVOLUTE, 6},    {POISE_JOINT_BALL_QUATERNION, 3},
             {POISE_JOINT_SWING_TWIST, 3}};

// Goals that a fast motion of the model meets.
typedef struct target {
    poise_goal goals[2];
    poise_pose tip[FRAMES];
} target;

static const poise_goal *goals_of(void *user, int frame, int *count)
{
    target *t = user;
    t->goals[0].target.position = t->tip[frame].position;
    t->goals[1].target.rotation = t->tip[frame].rotation;
    *count = 2;
    return t->goals;
}

static poise_model *make_model(poise_joint_type type, int joints)
{
    static const char *names[] = {"a", "b", "c", "d", "e", "f"};
    poise_builder *builder = NULL;
    poise_model *model = NULL;
    ck_assert_int_eq(poise_builder_create(NULL, &builder, NULL), POISE_OK);
    own_builder(builder);
    for (int k = 0; k < joints; ++k) {
        poise_joint joint = poise_joint_default();
        joint.name = names[k];
        joint.parent = k > 0 ? names[k - 1] : NULL;
        joint.type = type;
        joint.axis = k % 2 ? poise_vec3_make(0, 1, 0) : poise_vec3_make(0, 0, 1);
        joint.offset.position = poise_vec3_make(k > 0 ? 0.3 : 0.0, 0, 0);
        if (type == POISE_JOINT_SWING_TWIST) {
            joint.swing[0] = 0.8, joint.swing[1] = 0.6;
        }
        if (type == POISE_JOINT_REVOLUTE || type == POISE_JOINT_PRISMATIC) {
            joint.lower[0] = -0.9, joint.upper[0] = 1.5;
        }
        ck_assert_int_eq(poise_builder_add_joint(builder, &joint, NULL), POISE_OK);
    }
    ck_assert_int_eq(poise_model_create(builder, NULL, &model, NULL), POISE_OK);
    return own_model(model);
}

// A clip that swings in all dofs about the neutral pose, and the goals that it meets.
static poise_clip *make_clip(const poise_model *model, int joints, target *t)
{
    poise_model_summary info = poise_model_info(model);
    poise_clip *clip = NULL;
    poise_kinematics *kin = NULL;
    ck_assert_int_eq(poise_clip_create(FRAMES, info.nq, FRAME_TIME, NULL, &clip, NULL), POISE_OK);
    own_clip(clip);
    ck_assert_int_eq(poise_kinematics_create(model, NULL, &kin, NULL), POISE_OK);
    own_kinematics(kin);
    poise_vec3 local = poise_vec3_make(0.3, 0.1, 0.0);
    t->goals[0] = poise_goal_position(joints - 1, local, local);
    t->goals[1] = poise_goal_orientation(joints - 1, (poise_quat){0, 0, 0, 1});
    for (int f = 0; f < FRAMES; ++f) {
        double *q = clip->q + (size_t)f * (size_t)info.nq, neutral[MOST_DOFS], step[MOST_DOFS];
        poise_model_neutral(model, neutral);
        for (int i = 0; i < info.nv; ++i) {
            step[i] = 0.9 * sin(0.06 * f + 1.7 * i) - 0.9 * sin(1.7 * i);
        }
        ck_assert_int_eq(poise_retract(model, neutral, step, q, NULL), POISE_OK);
        ck_assert_int_eq(poise_model_clamp(model, q, NULL, NULL), POISE_OK);
        ck_assert_int_eq(poise_kinematics_update(kin, q, NULL), POISE_OK);
        t->tip[f].position = poise_kinematics_point(kin, joints - 1, local);
        t->tip[f].rotation = poise_kinematics_body_pose(kin, joints - 1).rotation;
    }
    return clip;
}

// ---- Differences ---------------------------------------------------------------------------------------------------------

static poise_quat from_vector(const double *r)
{
    double angle = sqrt(r[0] * r[0] + r[1] * r[1] + r[2] * r[2]), s = angle > 0 ? sin(angle / 2) / angle : 0.5;
    return (poise_quat){s * r[0], s * r[1], s * r[2], cos(angle / 2)};
}

static void turn_between(poise_quat a, poise_quat b, double *way)
{
    poise_quat by = poise_quat_multiply(poise_quat_conjugate(a), b);
    double sine = sqrt(by.x * by.x + by.y * by.y + by.z * by.z), sign = by.w < 0 ? -1 : 1;
    double per = sine > 0 ? sign * 2 * atan2(sine, fabs(by.w)) / sine : 2;
    way[0] = per * by.x, way[1] = per * by.y, way[2] = per * by.z;
}

// From frame f to the next: rotations turn about the axes of their body, the rest is differences of coordinates.
static void way_of(const poise_model *model, const poise_clip *clip, int f, double *way)
{
    const double *from = clip->q + (size_t)f * (size_t)clip->nq, *to = from + clip->nq;
    for (int k = 0; k < poise_model_info(model).joints; ++k) {
        poise_joint_info joint = poise_model_joint_info(model, k);
        bool is_free = joint.type == POISE_JOINT_FREE || joint.type == POISE_JOINT_FREE_EXPMAP;
        bool is_quat = joint.type == POISE_JOINT_FREE || joint.type == POISE_JOINT_BALL_QUATERNION;
        bool is_vector = joint.type == POISE_JOINT_FREE_EXPMAP || joint.type == POISE_JOINT_BALL_EXPMAP;
        int plain = is_free ? 3 : is_quat || is_vector ? 0 : joint.nv;
        for (int i = 0; i < plain; ++i) {
            way[joint.v + i] = to[joint.q + i] - from[joint.q + i];
        }
        const double *a = from + joint.q + plain, *b = to + joint.q + plain;
        if (is_quat) {
            turn_between((poise_quat){a[0], a[1], a[2], a[3]}, (poise_quat){b[0], b[1], b[2], b[3]}, way + joint.v + plain);
        } else if (is_vector) {
            turn_between(from_vector(a), from_vector(b), way + joint.v + plain);
        }
    }
}

// The largest velocity and acceleration of a dof, per second.
static void measure(const poise_model *model, const poise_clip *clip, double *velocity, double *acceleration)
{
    double way[MOST_DOFS] = {0}, before[MOST_DOFS] = {0};
    *velocity = *acceleration = 0;
    for (int f = 0; f + 1 < clip->frames; ++f) {
        way_of(model, clip, f, way);
        for (int i = 0; i < poise_model_info(model).nv; ++i) {
            *velocity = fmax(*velocity, fabs(way[i]) / FRAME_TIME);
            *acceleration = fmax(*acceleration, f > 0 ? fabs(way[i] - before[i]) / (FRAME_TIME * FRAME_TIME) : 0);
        }
        memcpy(before, way, sizeof before);
    }
}

// ---- Tests ---------------------------------------------------------------------------------------------------------------

// The motion has 5.4 units a second and 32 a second squared in every dof.
TEST_ROWS(limits_of_velocity_and_acceleration_hold, (int)TEST_COUNT(kinds) * 3)
{
    int kind = test_row / 3, which = test_row % 3;
    poise_model *model = make_model(kinds[kind].type, kinds[kind].joints);
    target t;
    poise_clip *clip = make_clip(model, kinds[kind].joints, &t);
    double velocity[MOST_DOFS], acceleration[MOST_DOFS], fastest, hardest;
    for (int i = 0; i < MOST_DOFS; ++i) {
        velocity[i] = 2.0, acceleration[i] = 12.0;
    }
    measure(model, clip, &fastest, &hardest);
    ck_assert_double_gt(fastest, 4.0);
    ck_assert_double_gt(hardest, 24.0);
    poise_sequence_options o = poise_sequence_options_default();
    o.velocity = which != 1 ? velocity : NULL;
    o.acceleration = which != 0 ? acceleration : NULL;
    poise_sequence_report report;
    poise_error error = {0};
    poise_status status = poise_sequence_solve(model, &o, goals_of, &t, clip, NULL, &report, &error);
    ck_assert_msg(status == POISE_OK, "%s", error.text);
    measure(model, clip, &fastest, &hardest);
    if (o.velocity) {
        ck_assert_double_le(fastest, 2.0 * (1 + 1e-9));
        ck_assert_double_eq_tol(report.velocity, fastest / 2.0, 1e-6);
    }
    if (o.acceleration) {
        ck_assert_double_le(hardest, 12.0 * (1 + 1e-9));
        ck_assert_double_eq_tol(report.acceleration, hardest / 12.0, 1e-6);
    }
    ck_assert_double_ge(fmax(report.velocity, report.acceleration), 0.9); // and are used
    bool is_plain = kinds[kind].type == POISE_JOINT_REVOLUTE || kinds[kind].type == POISE_JOINT_PRISMATIC;
    if (is_plain && kinds[kind].joints == 1) { // what the solver itself holds back leaves little to the last step
        ck_assert_double_lt(report.moved, 0.1);
    }
    for (int f = 0; f < clip->frames; ++f) {
        ck_assert(poise_model_within_limits(model, clip->q + (size_t)f * (size_t)clip->nq));
    }
}

// A rotation by itself is moved by the last step alone: what its report says is the difference from the clip without limits.
TEST(the_report_says_how_far_the_last_step_moved_and_where)
{
    poise_model *model = make_model(POISE_JOINT_BALL_QUATERNION, 1);
    static target t[3];
    poise_clip *clips[3];
    poise_sequence_report report[3];
    double loose[3] = {100, 100, 100}, tight[3] = {100, 2, 100}; // about y alone
    for (int i = 0; i < 3; ++i) {
        poise_sequence_options o = poise_sequence_options_default();
        o.velocity = i == 0 ? NULL : i == 1 ? loose : tight;
        clips[i] = make_clip(model, 1, &t[i]);
        ck_assert_int_eq(poise_sequence_solve(model, &o, goals_of, &t[i], clips[i], NULL, &report[i], NULL), POISE_OK);
    }
    double moved = 0.0, way[3];
    int late = 0;
    for (int f = 0; f < FRAMES; ++f) {
        const double *a = clips[0]->q + 4 * f, *b = clips[2]->q + 4 * f;
        turn_between((poise_quat){a[0], a[1], a[2], a[3]}, (poise_quat){b[0], b[1], b[2], b[3]}, way);
        double turn = sqrt(way[0] * way[0] + way[1] * way[1] + way[2] * way[2]);
        moved = fmax(moved, turn);
        late += turn > 0.1 * 2.0 * 4 * FRAME_TIME; // of the way from knot to knot
    }
    for (int i = 0; i < 2; ++i) {
        ck_assert_double_eq(report[i].moved, 0.0);
        ck_assert_int_eq(report[i].late, 0);
        ck_assert_int_eq(report[i].late_dof, 0);
    }
    ck_assert_double_gt(moved, 0.1);
    ck_assert_double_eq_tol(report[2].moved, moved, 1e-9);
    ck_assert_int_eq(report[2].late, late);
    ck_assert_int_gt(late, FRAMES / 4);
    ck_assert_int_eq(report[2].late_dof, 1);
    ck_assert(!report[2].converged);
}

// A locked dof keeps its values, whatever the limits, and the report says so.
TEST(locked_dofs_move_as_they_are)
{
    poise_model *model = make_model(POISE_JOINT_REVOLUTE, 1);
    target t;
    poise_clip *clip = make_clip(model, 1, &t);
    double velocity = 2.0, fastest, hardest;
    bool locked = true;
    poise_sequence_options o = poise_sequence_options_default();
    o.velocity = &velocity;
    o.locked = &locked;
    poise_sequence_report report;
    ck_assert_int_eq(poise_sequence_solve(model, &o, goals_of, &t, clip, NULL, &report, NULL), POISE_OK);
    measure(model, clip, &fastest, &hardest);
    ck_assert_double_gt(fastest, 4.0);
    ck_assert_double_eq_tol(report.velocity, fastest / 2.0, 1e-6);
    ck_assert(!report.converged);
}
