// Limbs that go elsewhere, and are found again.
#include "support/skeleton.h"
#include "support/test_main.h"

#include <poise/track.h>

#include <math.h>
#include <stdlib.h>

#define RATE  100.0
#define TRUNK 30 // markers
#define ARM   4
#define LOST  20 // frame in which the arm's markers vanish, and
#define SEEN  30 // come back
#define ENDS  60

// An arm that turns by as much as its limits allow, while nobody sees it: from where it was it cannot get to where it is.
static double angle_of_arm(int frame)
{
    return frame < LOST ? 2.9 : -2.0 + 0.01 * (frame - SEEN);
}

static poise_model *trunk_with_arm(poise_placement *places)
{
    static const char labels[] = "abcdefghijklmnopqrstuvwxyzABCDEFGH"; // one letter each
    static char names[TRUNK + ARM][2];
    poise_builder *builder = new_builder();
    add_plain(builder, "trunk", NULL, POISE_JOINT_FREE);
    poise_joint arm = joint_of("arm", "trunk", POISE_JOINT_REVOLUTE);
    arm.axis = (poise_vec3){0, 0, 1};
    arm.lower[0] = -3.0, arm.upper[0] = 3.0;
    add(builder, &arm);
    poise_model *model = model_of(builder);
    for (int i = 0; i < TRUNK + ARM; ++i) {
        poise_vec3 on_trunk = {0.5 * (i % 3) - 0.5, 0.06 * i - 0.9, 0.15 * (i % 2)};
        poise_vec3 on_arm = {0.35 + 0.1 * (i - TRUNK), 0.05 * (i % 2), 0};
        names[i][0] = labels[i];
        places[i] = (poise_placement){names[i], i < TRUNK ? 0 : 1, i < TRUNK ? on_trunk : on_arm, 1.0};
    }
    return model;
}

static poise_markers *arm_recording(const poise_model *model, const poise_placement *places)
{
    poise_clip *clip;
    poise_markers *seen;
    int nq = poise_model_info(model).nq;
    ck_assert_int_eq(poise_clip_create(ENDS, nq, 1.0 / RATE, NULL, &clip, NULL), POISE_OK);
    for (int f = 0; f < ENDS; ++f) {
        poise_model_neutral(model, clip->q + (size_t)f * (size_t)nq);
        clip->q[(size_t)f * (size_t)nq + (size_t)nq - 1] = angle_of_arm(f);
    }
    ck_assert_int_eq(
        poise_markers_from_clip(model, clip, (poise_scale){1.0, POISE_UP_Y}, places, TRUNK + ARM, NULL, &seen, NULL),
        POISE_OK);
    for (int i = 0; i < ENDS * (TRUNK + ARM); ++i) { // skin moves
        seen->position[i].x += 0.02 * (i % 3 - 1);
    }
    for (int f = LOST; f < SEEN; ++f) {
        for (int i = TRUNK; i < TRUNK + ARM; ++i) {
            seen->position[(size_t)f * (TRUNK + ARM) + (size_t)i] = (poise_vec3){NAN, NAN, NAN};
        }
    }
    poise_clip_destroy(clip);
    return seen;
}

// Frame by frame a limb that went elsewhere is found again in the third frame, and in a recording the frames before it are
// mended, too.
TEST(a_limb_that_went_elsewhere_is_found_and_the_frames_before_are_mended)
{
    poise_placement places[TRUNK + ARM];
    poise_model *model = trunk_with_arm(places);
    poise_markers *seen = arm_recording(model, places);
    poise_track_problem problem = poise_track_problem_default();
    problem.model = model, problem.placements = places, problem.placement_count = TRUNK + ARM, problem.markers = seen;
    size_t nq = (size_t)poise_model_info(model).nq;
    double *q = calloc(nq, sizeof *q);
    poise_tracker *tracker;
    ck_assert_int_eq(poise_tracker_create(&problem, NULL, &tracker, NULL), POISE_OK);
    for (int f = 0; f < ENDS; ++f) {
        poise_track_frame frame;
        ck_assert_int_eq(poise_tracker_next(tracker, seen->position + (size_t)f * (TRUNK + ARM), q, &frame, NULL), POISE_OK);
        bool is_astray = f >= SEEN && f < SEEN + 2;
        ck_assert_msg(f >= LOST && f < SEEN ? true : (fabs(q[nq - 1] - angle_of_arm(f)) < 0.1) == !is_astray,
                      "frame %d: the arm is at %g instead of %g", f, q[nq - 1], angle_of_arm(f));
    }
    poise_tracker_destroy(tracker);
    poise_clip *clip;
    ck_assert_int_eq(poise_track(&problem, NULL, &clip, NULL, NULL), POISE_OK);
    for (int f = 0; f < ENDS; ++f) {
        double found = clip->q[(size_t)f * nq + nq - 1];
        ck_assert_msg((f >= LOST && f < SEEN) || fabs(found - angle_of_arm(f)) < 0.1, "frame %d of the recording: %g", f,
                      found);
    }
    poise_clip_destroy(clip);
    poise_markers_destroy(seen);
    free(q);
}
