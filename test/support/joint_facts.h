// What tests must know of joints: one row for each type, for each order of Euler angles, for each type that can follow
// another joint. A new type is a row of joint_rows in joint_facts.c.
#ifndef TEST_JOINT_FACTS_H
#define TEST_JOINT_FACTS_H

#include "skeleton.h"

typedef struct joint_facts {
    const char *name; // of the row
    poise_joint_type type;
    poise_euler_order order;
    bool mimic;               // it follows the hinge before it: no coordinates of its own
    int nq, nv;               // numbers of the type
    int vector, vector_count; // where a rotation vector begins in q, and its numbers; 0 of them: none
    int quaternion;           // where a quaternion begins in q; NO_QUATERNION: none
    int curve;                // CURVE: which of random_curves
    bool function;            // a follower by a function
} joint_facts;

#define NO_QUATERNION (-1)
#define JOINT_ROWS    33

extern const joint_facts joint_rows[JOINT_ROWS];

#define TEST_EACH_JOINT(name) TEST_ROWS(name, JOINT_ROWS)

// The joint "subject" of the row, with frames, axes and mass of no particular direction.
poise_joint joint_of_row(const joint_facts *row);

// A limb with that joint in its middle, released after the test: the bodies "base", "subject", "elbow", "slide", "wrist",
// and "other" beside them. Its coordinates have limits at 100, which keep rotation vectors as they are.
poise_model *limb_of_row(const joint_facts *row);

// Configuration number `pose` of the limb: the joint at rest, nearly so, in gimbal lock, almost half a turn off, then
// random.
#define HARD_POSES  6
#define LIMB_POSES  10
#define LIMB_LENGTH 16 // room for q

void pose_limb(const joint_facts *row, const poise_model *model, scene_random *random, int pose, double *q);

#endif
