// Tracking: recordings of our own humanoid, clean and spoilt in every way that recordings are.
#include "motion/tracked_take.h"

#include <poise/papers.h>
#include <poise/verdict.h>
#include <scenes/random.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/constraint_check.h"
#include "support/skeleton.h"

#define LARGEST (30.0 * 3.14159265358979 / 180.0) // a jump, in radians

// Largest rotation of any body from one frame to the next.
static double worst_jump(const take *t)
{
    poise_kinematics *kin;
    poise_kinematics_create(t->model, NULL, &kin, NULL);
    int joints = poise_model_info(t->model).joints;
    poise_quat *last = calloc((size_t)joints, sizeof *last);
    double worst = 0.0;
    for (int f = 0; f < t->frames; ++f) {
        poise_kinematics_update(kin, t->found->q + (size_t)f * (size_t)t->nq, NULL);
        for (int k = 0; k < joints; ++k) {
            poise_quat q = poise_kinematics_body_pose(kin, k).rotation;
            double dot = fabs(q.x * last[k].x + q.y * last[k].y + q.z * last[k].z + q.w * last[k].w);
            worst = f > 0 ? fmax(worst, 2.0 * acos(fmin(dot, 1.0))) : worst;
            last[k] = q;
        }
    }
    free(last);
    poise_kinematics_destroy(kin);
    return worst;
}

static int flagged(const take *t, int flag)
{
    int count = 0;
    for (int f = 0; f < t->frames; ++f) {
        count += (t->report[f].flags & flag) != 0;
    }
    return count;
}

// ---- Good data -----------------------------------------------------------------------------------------------------------

TEST(clean_recordings_are_followed_to_a_micrometre)
{
    for (int m = 0; m < scene_motion_count(); ++m) {
        take *t = record(scene_motion_name(m), 300);
        track(t, NULL);
        ck_assert_double_lt(worst_error(t, 0, t->frames), 2e-6); // position_tolerance is 1e-6
        ck_assert_int_eq(flagged(t, ~0), 0);
        forget(t);
    }
}

TEST(a_frame_at_a_time_gives_the_bits_of_one_chunk)
{
    take *t = record("kick", 120);
    track(t, NULL);
    poise_tracker *tracker;
    poise_track_problem problem = problem_of(t);
    ck_assert_int_eq(poise_tracker_create(&problem, NULL, &tracker, NULL), POISE_OK);
    double *q = calloc((size_t)t->nq, sizeof *q);
    poise_track_frame frame;
    for (int f = 30; f > 0; --f) { // as poise_track settles the first frame
        poise_tracker_next(tracker, point(t, f, 0), q, &frame, NULL);
        ck_assert_int_eq(frame.flags, f == 30 ? POISE_TRACK_RESTARTED : 0);
    }
    for (int f = 0; f < t->frames; ++f) {
        ck_assert_int_eq(poise_tracker_next(tracker, point(t, f, 0), q, &frame, NULL), POISE_OK);
        ck_assert_mem_eq(q, t->found->q + (size_t)f * (size_t)t->nq, (size_t)t->nq * sizeof *q);
        ck_assert_int_eq(frame.iterations, t->report[f].iterations);
    }
    free(q);
    poise_tracker_destroy(tracker);
    forget(t);
}

// ---- Bad data ------------------------------------------------------------------------------------------------------------

static void lose_at_random(take *t, double share, uint64_t seed)
{
    scene_random random = scene_random_make(seed);
    for (int f = 0; f < t->frames; ++f) {
        for (int i = 0; i < MARKERS; ++i) {
            if (scene_random_uniform(&random) < share) {
                lose(t, f, i);
            }
        }
    }
}

static void shake(take *t, double noise, uint64_t seed)
{
    scene_random random = scene_random_make(seed);
    for (int f = 0; f < t->frames; ++f) {
        for (int i = 0; i < MARKERS; ++i) {
            poise_vec3 *p = point(t, f, i);
            p->x += noise * scene_random_normal(&random);
            p->y += noise * scene_random_normal(&random);
            p->z += noise * scene_random_normal(&random);
        }
    }
}

TEST(markers_lost_at_random_leave_the_rest_on_their_places)
{
    static const double share[] = {0.05, 0.1, 0.3};
    for (size_t s = 0; s < sizeof share / sizeof share[0]; ++s) {
        take *t = record("punch", 300);
        lose_at_random(t, share[s], 7 + s);
        track(t, NULL);
        for (int f = 0; f < t->frames; ++f) {
            ck_assert_double_lt(t->report[f].rms, 2e-6);
        }
        ck_assert_int_eq(flagged(t, POISE_TRACK_HELD), 0);
        ck_assert_double_lt(worst_jump(t), LARGEST);
        // a joint that lost its markers keeps what it had a frame ago: an arm's length times a hundredth of a second's turn
        ck_assert_double_lt(worst_error(t, 0, t->frames), share[s] < 0.2 ? 0.05 : 0.15);
        forget(t);
    }
}

TEST(two_swapped_markers_are_let_go_and_move_nothing)
{
    take *t = record("walk", 300);
    int left = poise_markers_find(t->seen, t->placements[0].label), right = MARKERS - 1;
    double far = 0.0; // the pair that is farthest apart
    for (int i = 0; i < MARKERS; ++i) {
        for (int k = 0; k < i; ++k) {
            poise_vec3 a = *point(t, 0, i), b = *point(t, 0, k);
            double d = fabs(a.x - b.x);
            if (d > far) {
                far = d, left = k, right = i;
            }
        }
    }
    for (int f = 100; f < 200; ++f) {
        poise_vec3 kept = *point(t, f, left);
        *point(t, f, left) = *point(t, f, right);
        *point(t, f, right) = kept;
    }
    track(t, NULL);
    ck_assert_int_eq(flagged(t, POISE_TRACK_OUTLIERS), 100);
    ck_assert_int_eq(flagged(t, POISE_TRACK_HELD), 0);
    ck_assert_double_lt(worst_jump(t), LARGEST);
    for (int f = 100; f < 200; ++f) {
        ck_assert_int_eq(t->report[f].let_go, 2);
        ck_assert_double_lt(t->report[f].rms, 0.005); // what is left of their pull
    }
    ck_assert_double_lt(worst_error(t, 205, t->frames), 2e-6);
    forget(t);
}

TEST(a_frame_of_nothing_is_held_and_passed_over)
{
    take *t = record("kick", 100);
    for (int i = 0; i < MARKERS; ++i) {
        lose(t, 40, i);
        *point(t, 60, i) = (poise_vec3){1e308, -1e308, (double)i};
    }
    track(t, NULL);
    ck_assert_int_eq(flagged(t, POISE_TRACK_HELD), 2);
    ck_assert_int_ne(t->report[40].flags & POISE_TRACK_HELD, 0);
    ck_assert_int_ne(t->report[60].flags & POISE_TRACK_HELD, 0);
    size_t nq = (size_t)t->nq;
    ck_assert_mem_eq(t->found->q + 40 * nq, t->found->q + 39 * nq, nq * sizeof(double));
    ck_assert_double_lt(worst_error(t, 41, 60), 2e-6);
    ck_assert_double_lt(worst_error(t, 61, 100), 2e-6);
    forget(t);
}

TEST(a_frame_of_noise_does_not_lead_the_rest_astray)
{
    take *t = record("punch", 100);
    scene_random random = scene_random_make(5);
    for (int i = 0; i < MARKERS; ++i) {
        poise_vec3 d = scene_random_direction(&random);
        *point(t, 50, i) = (poise_vec3){2 * d.x, 2 * d.y, 2 * d.z};
    }
    track(t, NULL);
    ck_assert_int_ne(t->report[50].flags & (POISE_TRACK_OUTLIERS | POISE_TRACK_HELD | POISE_TRACK_JUMP), 0);
    ck_assert_double_lt(worst_error(t, 52, 100), 2e-6);
    ck_assert_double_lt(worst_jump(t), LARGEST);
    forget(t);
}

TEST(recordings_that_begin_with_gaps_begin_when_markers_come)
{
    take *t = record("walk", 60);
    for (int f = 0; f < 10; ++f) {
        for (int i = 0; i < MARKERS; ++i) {
            lose(t, f, i);
        }
    }
    track(t, NULL);
    ck_assert_int_eq(flagged(t, POISE_TRACK_HELD), 10);
    ck_assert_double_lt(worst_error(t, 10, 60), 2e-6);
    forget(t);
}

// ---- Chunks --------------------------------------------------------------------------------------------------------------

// A parallel-for that runs its pieces backwards and gives worker numbers in turn.
static void backwards(void *user, int count, poise_piece run, void *work)
{
    int workers = *(const int *)user;
    for (int i = count - 1; i >= 0; --i) {
        run(work, i, i % workers);
    }
}

// Millimetres of noise: what a tracker remembers of the frames before has weight then.
static void blur(take *t)
{
    scene_random random = scene_random_make(12);
    for (int i = 0; i < t->frames * MARKERS; ++i) {
        t->seen->position[i].x += scene_random_range(&random, -0.003, 0.003);
        t->seen->position[i].z += scene_random_range(&random, -0.003, 0.003);
    }
}

TEST(the_answer_does_not_depend_on_the_number_of_workers)
{
    take *t = record("cartwheel", 400);
    blur(t);
    lose_at_random(t, 0.1, 3);
    shake(t, 0.003, 5); // what a tracker takes for the usual error is then not 0, and counts at gaps
    poise_track_problem options = problem_of(t);
    options.chunk = 60;
    track(t, &options);
    size_t bytes = (size_t)t->frames * (size_t)t->nq * sizeof(double);
    double *one = malloc(bytes);
    memcpy(one, t->found->q, bytes);
    for (int workers = 1; workers <= 8; workers += workers < 3 ? 1 : 5) {
        options.workers = workers;
        options.parallel_for = backwards;
        options.user = &workers;
        track(t, &options);
        ck_assert_mem_eq(one, t->found->q, bytes);
    }
    free(one);
    forget(t);
}

static int passes[400];

static void count_pass(void *user, int frame, int worker)
{
    (void)user;
    ck_assert_int_eq(worker, 0);
    passes[frame] += 1;
}

TEST(every_frame_is_announced_and_those_around_seams_more_than_once)
{
    take *t = record("walk", 400);
    poise_track_problem options = problem_of(t);
    options.chunk = 150;
    options.on_frame = count_pass;
    memset(passes, 0, sizeof passes);
    track(t, &options);
    for (int f = 0; f < t->frames; ++f) {
        ck_assert_int_ge(passes[f], 1);
    }
    ck_assert_int_eq(passes[100], 1);
    ck_assert_int_gt(passes[151], 1);
    forget(t);
}

TEST(seams_leave_markers_met_and_bodies_calm)
{
    for (int m = 0; m < scene_motion_count(); ++m) {
        take *t = record(scene_motion_name(m), 400);
        poise_track_problem options = problem_of(t);
        options.chunk = 1000;
        track(t, &options);
        double calm = worst_jump(t);
        options.chunk = 70;
        track(t, &options);
        ck_assert_double_lt(worst_error(t, 0, t->frames), 2e-6);
        ck_assert_double_lt(worst_jump(t), 1.5 * calm + 0.02);
        forget(t);
    }
}

// The last frame of the first chunk's seam is tracked: the next chunk begins elsewhere.
static void begin_elsewhere(void *elbow, int frame, int worker)
{
    enum { LAST = 179 };
    *(double *)elbow += frame == LAST && worker == 0 ? 0.15 : 0.0;
}

// No marker below the left elbow is ever seen; its coordinate.
static int hide_forearm(take *t)
{
    int ulna = poise_model_find_body(t->model, "left_ulna");
    for (int i = 0; i < MARKERS; ++i) {
        int body = t->placements[i].body;
        while (body >= 0 && body != ulna) {
            body = poise_model_joint_info(t->model, body).parent;
        }
        for (int f = 0; f < t->frames && body == ulna; ++f) {
            lose(t, f, i);
        }
    }
    for (int i = 0; i < t->frames * MARKERS; ++i) { // skin moves
        t->seen->position[i].x += 1e-3 * (i % 7 - 3);
    }
    return poise_model_joint_info(t->model, ulna).q;
}

// A forearm that is never seen stays where it begins; the second chunk begins with its elbow 0.15 further on. The way from
// the one to the other begins as gently as it ends.
TEST(a_seam_begins_as_it_ends)
{
    enum { CHUNK = 150, SEAM = 30 };
    take *t = record("punch", 300);
    int elbow = hide_forearm(t);
    double *start = t->truth->q;
    poise_track_problem options = problem_of(t);
    options.q_start = start, options.restarts = 0, options.chunk = CHUNK;
    options.on_frame = begin_elsewhere, options.user = &start[elbow];
    track(t, &options);
    double turn[SEAM + 1], whole = 0.0;
    for (int i = 0; i <= SEAM; ++i) {
        const double *q = t->found->q + (size_t)(CHUNK + i) * (size_t)t->nq + elbow;
        turn[i] = q[0] - q[-t->nq];
        whole += turn[i];
    }
    ck_assert_double_eq_tol(whole, 0.15, 1e-3);
    for (int i = 0; i <= SEAM; ++i) {
        ck_assert_double_eq_tol(turn[i], turn[SEAM - i], 1e-4);
    }
    forget(t);
}

// The last frame of the second chunk's seam.
static void begin_far_off(void *elbow, int frame, int worker)
{
    enum { LAST = 329 };
    *(double *)elbow += frame == LAST && worker == 0 ? 0.8 : 0.0;
}

// A third chunk that begins far from where the second ends, and is no better, is none: tracking goes on from the second.
TEST(a_seam_that_disagrees_goes_on_unless_the_next_chunk_is_better)
{
    enum { CHUNK = 150 };
    take *t = record("punch", 450);
    int elbow = hide_forearm(t);
    double *start = t->truth->q, begins = start[elbow];
    poise_track_problem options = problem_of(t);
    options.q_start = start, options.restarts = 0, options.chunk = CHUNK;
    options.on_frame = begin_far_off, options.user = &start[elbow];
    track(t, &options);
    ck_assert_double_gt(start[elbow], begins + 0.7);
    for (int f = 0; f < t->frames; ++f) {
        ck_assert_int_eq(t->report[f].flags & (POISE_TRACK_RESTARTED | POISE_TRACK_JUMP), 0);
        ck_assert_double_eq_tol(t->found->q[(size_t)f * (size_t)t->nq + (size_t)elbow], begins, 0.05);
    }
    forget(t);
}

// With a marker missing and hardly any turn allowed, fast frames are solved again with a pull to the last. What becomes of
// them does not depend on the unit of the weights.
TEST(only_ratios_of_weights_count_where_a_jump_is_tamed)
{
    static const double units[] = {1.0, 1e-3, 1.0 / MARKERS, 1e3};
    take *t = record("kick", 120);
    int held = 0;
    for (int f = 0; f < t->frames; ++f) {
        lose(t, f, 3);
    }
    for (size_t s = 0; s < TEST_COUNT(units); ++s) {
        poise_track_problem options = problem_of(t);
        options.max_turn = 0.05;
        for (int i = 0; i < MARKERS; ++i) {
            t->placements[i].weight = units[s];
        }
        track(t, &options);
        held = s == 0 ? flagged(t, POISE_TRACK_HELD) : held;
        ck_assert_int_gt(held, 0);
        ck_assert_int_eq(flagged(t, POISE_TRACK_HELD), held);
    }
    forget(t);
}

TEST(a_marker_beyond_all_numbers_leaves_the_figures_finite)
{
    take *t = record("walk", 4);
    t->placements[5].local = poise_vec3_make(1.7e308, 1.7e308, -1.7e308); // its place in the world overflows
    t->placements[6].local.x = 1e200;                                     // its square does
    poise_track_problem options = problem_of(t);
    for (int robust = 0; robust < 2; ++robust) {
        options.robust = robust;
        track(t, &options);
        for (int f = 0; f < t->frames; ++f) {
            const poise_track_frame *frame = &t->report[f];
            ck_assert(isfinite(frame->rms) && isfinite(frame->worst) && isfinite(frame->turn));
            ck_assert(frame->rms <= frame->worst);
            ck_assert(poise_model_within_limits(t->model, t->found->q + (size_t)f * (size_t)t->nq));
        }
    }
    forget(t);
}

// ---- Use -----------------------------------------------------------------------------------------------------------------

// The neutral angle 0 lies outside of the limits, and no marker says where the arm is.
TEST(a_first_frame_that_is_held_keeps_the_limits)
{
    poise_builder *builder;
    poise_model *model;
    poise_tracker *tracker;
    poise_track_problem options = poise_track_problem_default();
    poise_dh_row row = {.a = 1.0, .lower = 0.5, .upper = 1.0};
    poise_placement place = {"tip", 0, poise_vec3_make(1.0, 0.0, 0.0), 1.0};
    poise_vec3 unseen = poise_vec3_make(NAN, NAN, NAN);
    poise_track_frame frame;
    double q = 7.0;
    ck_assert_int_eq(poise_builder_create(NULL, &builder, NULL), POISE_OK);
    ck_assert_int_eq(poise_builder_add_dh(builder, "arm", NULL, POISE_DH_CLASSIC, &row, 1, NULL), POISE_OK);
    ck_assert_int_eq(poise_model_create(builder, NULL, &model, NULL), POISE_OK);
    options.model = model;
    options.placements = &place;
    options.placement_count = 1;
    ck_assert_int_eq(poise_tracker_create(&options, NULL, &tracker, NULL), POISE_OK);
    ck_assert_int_eq(poise_tracker_next(tracker, &unseen, &q, &frame, NULL), POISE_OK);
    ck_assert_int_ne(frame.flags & POISE_TRACK_HELD, 0);
    ck_assert_double_eq(q, 0.5);
    poise_tracker_destroy(tracker);
    poise_model_destroy(model);
    poise_builder_destroy(builder);
}

// CCD does not serve mimic joints: that is an error of the frame, of a recording too, and q is not touched.
TEST(a_method_that_does_not_serve_the_model_is_refused)
{
    poise_builder *builder = new_builder();
    poise_joint joint = joint_of("a", NULL, POISE_JOINT_REVOLUTE);
    joint.lower[0] = 0.5;
    joint.upper[0] = 1.0;
    add(builder, &joint);
    joint = joint_of("b", "a", POISE_JOINT_REVOLUTE);
    joint.mimic = "a";
    joint.offset.position.x = 1.0;
    add(builder, &joint);
    poise_placement place = {"tip", 1, poise_vec3_make(1.0, 0.0, 0.0), 1.0};
    poise_track_problem problem = poise_track_problem_default();
    problem.model = model_of(builder);
    problem.placements = &place;
    problem.placement_count = problem.least_markers = 1;
    problem.solver.method = POISE_METHOD_CCD;
    problem.solver.engine = poise_papers_engine(problem.solver.method);
    poise_tracker *tracker;
    poise_markers *markers;
    poise_clip *clip = NULL;
    poise_error error;
    poise_vec3 seen = poise_vec3_make(1.0, 1.0, 0.0);
    double q = 7.0;
    ck_assert_int_eq(poise_tracker_create(&problem, NULL, &tracker, NULL), POISE_OK);
    ck_assert_int_eq(poise_tracker_next(tracker, &seen, &q, NULL, &error), POISE_ERROR_UNSUPPORTED);
    ck_assert(q == 7.0 && strstr(error.text, "mimic") != NULL);
    ck_assert_int_eq(poise_markers_create(3, 1, 100.0, (const char *const[]){"tip"}, NULL, &markers, NULL), POISE_OK);
    markers->position[0] = markers->position[1] = markers->position[2] = seen;
    problem.markers = markers;
    ck_assert_int_eq(poise_track(&problem, NULL, &clip, NULL, &error), POISE_ERROR_UNSUPPORTED);
    ck_assert(clip == NULL && strstr(error.text, "mimic") != NULL);
    poise_markers_destroy(markers);
    poise_tracker_destroy(tracker);
}

TEST(wrong_use_is_refused_with_a_reason)
{
    take *t = record("walk", 5);
    poise_error error;
    poise_tracker *tracker = NULL;
    poise_placement wrong = t->placements[3];
    wrong.body = 1000;
    poise_track_problem problem = problem_of(t);
    problem.placements = &wrong;
    problem.placement_count = 1;
    ck_assert_int_eq(poise_tracker_create(&problem, NULL, &tracker, &error), POISE_ERROR_ARGUMENT);
    ck_assert_ptr_nonnull(strstr(error.text, wrong.label));
    wrong = t->placements[3];
    wrong.weight = -1.0;
    ck_assert_int_eq(poise_tracker_create(&problem, NULL, &tracker, &error), POISE_ERROR_ARGUMENT);
    problem = problem_of(t);
    problem.max_turn = 0.0;
    ck_assert_int_eq(poise_tracker_create(&problem, NULL, &tracker, &error), POISE_ERROR_ARGUMENT);
    ck_assert_ptr_null(tracker);
    poise_clip *clip = NULL;
    double *q = calloc((size_t)t->nq, sizeof *q);
    q[0] = NAN;
    problem = problem_of(t);
    problem.q_start = q;
    ck_assert_int_eq(poise_track(&problem, NULL, &clip, NULL, &error), POISE_ERROR_ARGUMENT);
    ck_assert_ptr_null(clip);
    free(q);
    forget(t);
}

TEST(one_skeleton_follows_another_by_the_points_of_its_bodies)
{
    take *t = record("kick", 100);
    poise_model *other;
    ck_assert_int_eq(scene_create("humanoid-euler", NULL, &other, NULL), POISE_OK);
    poise_clip *followed;
    poise_track_frame frames[100];
    poise_track_problem problem = problem_of(t);
    problem.model = other;
    ck_assert_int_eq(poise_track(&problem, NULL, &followed, frames, NULL), POISE_OK);
    for (int f = 0; f < t->frames; ++f) {
        ck_assert_double_lt(frames[f].worst, 2e-6);
    }
    poise_clip_destroy(followed);
    poise_model_destroy(other);
    forget(t);
}

TEST(tasks_hold_what_no_marker_sees_to_the_frame_s_own_values)
{
    take *t = record("kick", 40);
    double weights[128];
    int nv = poise_model_info(t->model).nv;
    for (int i = 0; i < nv; ++i) {
        weights[i] = 1;
    }
    for (int i = 0; i < MARKERS; ++i) {
        bool is_arm = strstr(poise_model_joint_info(t->model, t->placements[i].body).body, "arm") != NULL;
        for (int f = 0; f < t->frames && is_arm; ++f) {
            lose(t, f, i);
        }
    }
    poise_track_problem problem = problem_of(t);
    problem.task = t->truth->q, problem.task_frames = t->frames, problem.task_weights = weights;
    track(t, &problem);
    ck_assert_double_lt(worst_error(t, 0, t->frames), 2e-6);
    forget(t);
}

// ---- Ahead ---------------------------------------------------------------------------------------------------------------

// Every stretch frame by frame; all markers are seen.
static poise_status solve_stretches(void *user, const poise_track_plan *plan, poise_track_stretch *stretches, int count,
                                    poise_error *error)
{
    int nq = poise_model_info(plan->model).nq;
    poise_goal goals[MARKERS + 2];
    poise_solver *solver;
    memcpy(goals, plan->goals, (size_t)plan->goal_count * sizeof *goals);
    poise_status status = poise_solver_create(plan->model, plan->solver, NULL, &solver, error);
    for (int s = 0; s < count && status == POISE_OK; ++s) {
        const double *before = stretches[s].start;
        for (int f = 0; f < stretches[s].frames && status == POISE_OK; ++f) {
            double *q = stretches[s].q + f * nq;
            poise_report report;
            for (int i = 0; i < MARKERS; ++i) {
                goals[i].target.position = stretches[s].targets[f * plan->goal_count + i];
                goals[i].weight = stretches[s].weights[f * plan->goal_count + i];
            }
            goals[plan->goal_count - 1].q = before;
            memcpy(q, before, (size_t)nq * sizeof *q);
            status = poise_solve(solver, goals, plan->goal_count, q, &report, error);
            stretches[s].outcomes[f] = report.outcome;
            stretches[s].iterations[f] = report.iterations;
            before = q;
        }
        *(int *)user += stretches[s].frames;
    }
    poise_solver_destroy(solver);
    return status;
}

// What is solved ahead is asked for once, and taken.
TEST(frames_that_were_solved_ahead_are_as_good)
{
    take *t = record("kick", 200);
    int solved = 0, taken = 0;
    poise_track_problem problem = problem_of(t);
    problem.chunk = 60, problem.ahead = solve_stretches, problem.ahead_user = &solved;
    problem.on_frame = count_pass;
    memset(passes, 0, sizeof passes);
    track(t, &problem);
    ck_assert_double_lt(worst_error(t, 0, t->frames), 2e-6);
    for (int f = 0; f < t->frames; ++f) {
        taken += t->report[f].is_ahead;
    }
    ck_assert_int_ge(taken, 100);
    ck_assert_int_le(solved, 2 * t->frames); // leads and seams included
    ck_assert_int_eq(passes[200], 0);
    forget(t);
}

// ---- Track constraints --------------------------------------------------------------------------------------------------
//
// Tracking within constraints.

// Every limb's end stays above a floor that the recording goes through by 3 cm, also where nothing is seen.
TEST(every_frame_holds_what_it_must)
{
    enum { MOST = 16 };
    take *t = record("walk", 300);
    poise_constraint given[MOST];
    poise_kinematics *kin;
    poise_kinematics_create(t->model, NULL, &kin, NULL);
    int joints = poise_model_info(t->model).joints, count = 0;
    double lowest = INFINITY;
    for (int k = 0; k < joints && count < MOST; ++k) {
        bool is_leaf = true;
        for (int i = 0; i < joints; ++i) {
            is_leaf = is_leaf && poise_model_joint_info(t->model, i).parent != k;
        }
        if (is_leaf) {
            given[count] = poise_constraint_default(POISE_CONSTRAINT_PLANE);
            given[count].body = k, given[count].body2 = POISE_WORLD, given[count].upper = INFINITY;
            given[count++].target.rotation = poise_quat_from_axis_angle((poise_vec3){1, 0, 0}, -1.5707963267948966);
        }
    }
    for (int f = 0; f < t->frames; ++f) {
        poise_kinematics_update(kin, t->truth->q + (size_t)f * (size_t)t->nq, NULL);
        for (int i = 0; i < count; ++i) {
            lowest = fmin(lowest, poise_kinematics_body_pose(kin, given[i].body).position.y);
        }
    }
    for (int i = 0; i < count; ++i) {
        given[i].target.position.y = lowest + 0.03;
    }
    for (int f = 100; f < 108; ++f) {
        for (int m = 0; m < MARKERS; ++m) {
            lose(t, f, m);
        }
    }
    poise_track_problem problem = problem_of(t);
    problem.constraints = given, problem.constraint_count = count, problem.chunk = 100;
    track(t, NULL);
    int broken_without = 0;
    for (int f = 0; f < t->frames; ++f) {
        broken_without += check_constraints(t->model, given, count, t->found->q + (size_t)f * (size_t)t->nq).loop > 0;
    }
    ck_assert_int_gt(broken_without, 20);
    track(t, &problem);
    for (int f = 0; f < t->frames; ++f) {
        broken b = check_constraints(t->model, given, count, t->found->q + (size_t)f * (size_t)t->nq);
        ck_assert_msg(b.loop <= 0 && b.limit <= 0, "frame %d: through the floor by %g", f, b.loop);
        ck_assert_int_ne(t->report[f].outcome, POISE_OUTCOME_INFEASIBLE);
    }
    ck_assert_double_le(worst_error(t, 0, 90), 0.06);
    // the judge says the same: of the answer nothing, of the motion as it was recorded the frames that go through
    poise_kept_problem kept_problem = poise_kept_problem_default();
    kept_problem.model = t->model, kept_problem.clip = t->found, kept_problem.constraints = given;
    kept_problem.constraint_count = count;
    poise_kept kept;
    unsigned char *bits = calloc((size_t)t->frames + 1, 1);
    ck_assert_int_eq(poise_kept_measure(&kept_problem, NULL, &kept, bits, NULL), POISE_OK);
    ck_assert(kept.broken == 0 && kept.worst[POISE_KEPT_LOOPS].frame >= 0);
    ck_assert(isinf(kept.worst[POISE_KEPT_BALANCE].room) && kept.worst[POISE_KEPT_BALANCE].frame == POISE_NONE);
    kept_problem.clip = t->truth;
    ck_assert_int_eq(poise_kept_measure(&kept_problem, NULL, &kept, bits, NULL), POISE_OK);
    int flagged = 0, expected = 0;
    for (int f = 0; f < t->frames; ++f) {
        flagged += bits[f] == 1U << POISE_KEPT_LOOPS;
        expected += check_constraints(t->model, given, count, t->truth->q + (size_t)f * (size_t)t->nq).loop > 1e-9;
    }
    ck_assert(flagged == expected && kept.broken == flagged && kept.worst[POISE_KEPT_LOOPS].broken == flagged &&
              flagged > 20);
    ck_assert_double_eq_tol(kept.worst[POISE_KEPT_LOOPS].room, -0.03, 1e-6);
    poise_thresholds thresholds = poise_thresholds_default();
    poise_verdict verdict = {.count = 0};
    poise_finding finding;
    char text[200];
    poise_kept_judge(&kept_problem, &kept, &thresholds, &verdict, &finding, 1);
    ck_assert(verdict.level == POISE_VERDICT_DOUBTFUL && verdict.count == 1 && finding.kind == POISE_FINDING_LOOPS);
    poise_finding_describe(&finding, text, sizeof text);
    ck_assert_ptr_nonnull(strstr(text, "and the world is open in"));
    ck_assert_str_eq(poise_kept_name(POISE_KEPT_CLEARANCE), "clearance");
    ck_assert_str_eq(poise_kept_name(POISE_KEPT_SORTS), "unknown");
    free(bits);
    given[0].body = 9999;
    ck_assert_int_eq(poise_kept_measure(&kept_problem, NULL, &kept, NULL, NULL), POISE_ERROR_ARGUMENT);
    poise_clip *none;
    ck_assert_int_eq(poise_track(&problem, NULL, &none, NULL, NULL), POISE_ERROR_ARGUMENT);
    poise_kinematics_destroy(kin);
    forget(t);
}
