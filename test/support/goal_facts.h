// What tests must know of goals: one row for each kind. A new kind is a row of goal_rows in goal_facts.c.
#ifndef TEST_GOAL_FACTS_H
#define TEST_GOAL_FACTS_H

#include <poise/poise.h>

// What goals are made of; each kind takes what it needs.
typedef struct goal_parts {
    int body, body2;
    poise_pose local, target;
    poise_vec3 axis, direction;
    double distance;
    const double *posture, *before; // nq numbers each
    double *numbers;                // 6, of the spring
} goal_parts;

typedef struct goal_facts {
    poise_goal (*make)(const goal_parts *parts);
    void (*meet)(const poise_kinematics *kin, const double *q, poise_goal *goal); // make it hold at q; NULL: it cannot
    bool takes_loss, takes_band, takes_rotation_band;
    int rows;          // residual rows; ROW_PER_DOF; NO_ROWS
    const char *words; // in the goal language, of the scene arm6 or, for the mass, of a humanoid; NULL: there are none
} goal_facts;

#define NO_ROWS     0
#define ROW_PER_DOF (-1)

extern const goal_facts goal_rows[POISE_GOAL_KIND_COUNT];

// E = |p|^2/2 + (R z . a) (p . b) of a pose (R, p), `user` the six numbers a, b: a spring to the world's origin and a term
// that ties rotation and position.
bool goal_spring(void *user, const poise_pose *pose, poise_body_energy *out);

#endif
