// Goals between what a clip does and what is requested.
#ifndef PZ_MOTION_EDIT_GOAL_MIX_H
#define PZ_MOTION_EDIT_GOAL_MIX_H

#include <poise/edit.h>

// S(u) = u^3 (10 - 15 u + 6 u^2): from 0 at u <= 0 to 1 at u >= 1, with two derivatives that are 0 there.
double pz_ease(double u);

// Do the goals ask for the same thing of the same place?
bool pz_goals_match(const poise_goal *a, const poise_goal *b);

// The goal with the target that the skeleton has at `q`, where `kin` is. A posture points to `q`.
poise_goal pz_goal_met(const poise_goal *goal, const poise_kinematics *kin, const double *q);

// The goal at `share` of the way between two that match. A posture is written to `q` (nq numbers), which may be either's.
poise_goal pz_goal_mix(const poise_model *model, const poise_goal *from, const poise_goal *to, double share, double *q);

// The goal at `time` along keys: positions, rotations (as quaternions, made unit), directions and distances on a natural
// cubic spline. `work` has room for 4 count numbers.
poise_goal pz_goal_on_keys(const poise_pin_key *keys, int count, double time, double *work);

#endif
