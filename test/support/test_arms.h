// Serial arms for tests: random ones, those of the scenes, and those of scenes/robot_arms.h.
#ifndef TEST_TEST_ARMS_H
#define TEST_TEST_ARMS_H

#include <poise/poise.h>

#include "scenes/random.h"

#define ARM_LARGEST 16

typedef struct test_arm {
    const char *name;
    poise_model *model;
    int n;          // coordinates, all on the chain
    int body;       // that the goal is on
    poise_pose tip; // its frame
} test_arm;

typedef enum arm_feature {
    ARM_PLAIN = 0,
    ARM_SLIDES = 1,     // about a third of the joints slide
    ARM_CONTINUOUS = 2, // about a third of the hinges have no limits
    ARM_RIGHT_ANGLES = 4,
    ARM_FIXED = 8 // fixed joints in between
} arm_feature;

// `n` joints at random places, links of 0.1 to 0.5, limits at random within +-pi, slides within +-0.5.
test_arm arm_random(scene_random *random, int n, unsigned features);

// A hinge and `n` - 1 more with parallel axes askew to it, links of 0.2: rotations about a third axis are out of reach, so
// that steps meet singular systems.
test_arm arm_planar(int n);

// A scene with a tool "tip".
test_arm arm_of_scene(const char *scene);

// An arm of robot_arms.h, "panda" to "baxter".
test_arm arm_of_robot(const char *name);

// World pose of the tip by poise_kinematics.
poise_pose arm_pose(const test_arm *arm, const double *q);

// A goal for the pose that q gives.
poise_goal arm_goal(const test_arm *arm, const double *q);

// Distance and angle between two poses.
void arm_pose_error(poise_pose a, poise_pose b, double *distance, double *angle);

// A solver for the arm, which like the arm is released after the test; and does q meet the goal, by poise_kinematics?
poise_solver *arm_solver(const test_arm *arm, const poise_solver_options *options);
bool arm_meets(const test_arm *arm, const poise_goal *goal, const double *q, double tolerance);

#endif
