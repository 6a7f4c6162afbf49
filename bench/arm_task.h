// Robot arms of the market and of the scenes, with a forward kinematics of their own, and the targets and seeds of the protocol
// that the field uses: joints uniform within the limits, +-pi where there are none.
#ifndef BENCH_ARM_TASK_H
#define BENCH_ARM_TASK_H

#include <poise/poise.h>
#include <scenes/random.h>
#include <scenes/robot_arms.h>

#define ARM_MOST 16 // joints

typedef struct frame {
    double R[9], p[3]; // R row-major
} frame;

typedef struct link {
    bool slides, continuous;
    frame offset;
    double axis[3], lower, upper;
} link;

typedef struct arm {
    char name[64];
    int n;
    link links[ARM_MOST];
    frame tip;
    poise_model *model;
} arm;

// The arms of the protocol, robot_arms.h: one by name, all of them.
void arm_take(const char *name, arm *a);
void arm_take_all(arm arms[ROBOT_ARMS]);

// A scene of revolute and prismatic joints with a tool "tip".
void arm_from_scene(const char *scene, arm *a);

void arm_free(arm *a);

// Are the joints within the limits?
bool arm_within_limits(const arm *a, const double *q, double slack);

// The tip for n joint values, apart from Poise; distance and angle between two frames; a frame as a pose.
frame arm_forward(const arm *a, const double *q);
void arm_errors(const frame *a, const frame *b, double *distance, double *angle);
poise_pose arm_pose_of(const frame *f);

// Where a solve starts: the middle of the limits, anywhere within them, within 0.1 of the target's joints.
typedef enum seed_kind { SEED_MID = 0, SEED_RAND, SEED_NEAR, SEED_COUNT } seed_kind;

// The joints of the next target, and a start.
void arm_draw(const arm *a, seed_kind kind, scene_random *random, double *target, double *seed);

#endif
