// What the geometric methods (CCD, BWCD, FABRIK) share: how the goals of a subtree pull at a joint, and the joint's best
// answer.
//
// While one joint moves, all it carries moves rigidly, x -> R x + s for points and d -> R d for directions. The energy of
// goals that want points x at t, and directions d along u, with weights w, is then
//
//   E = sum w/2 |R x + s - t|^2 + sum w/2 |R d - u|^2 = const - tr(R M) + s . (R X - T) + n/2 |s|^2
//   n = sum w      X = sum w x      T = sum w t      M = sum w x t^T + sum w d u^T
//
// Sixteen numbers stand for any number of goals: they add up along the tree and are carried along by the moves that joints
// below have made. So a sweep over all joints costs O(joints + goals).
#ifndef PZ_PAPERS_GEOMETRIC_H
#define PZ_PAPERS_GEOMETRIC_H

#include "papers/methods/methods.h"

#include "num/rotation.h"

// How the goals of one body, or of a subtree, pull; points relative to the reference point.
typedef struct pz_pull {
    double n;
    vec3 X, T;
    mat3 M;
    double size; // sum w |x| |t| + sum w over directions: what the rounding errors of M are relative to
} pz_pull;

static inline bool pz_pull_is_empty(const pz_pull *pull)
{
    return pull->n == 0 && pull->size == 0;
}

// A rigid motion of the world, x -> R x + s.
typedef struct pz_move {
    mat3 R;
    vec3 s;
} pz_move;

typedef struct pz_geometric {
    int joint_count;
    int *parent;    // by joint
    pz_pull *pulls; // by joint
    pz_move *moves; // by joint: what the sweep from the root has done to it
    double *q;      // nq: the configuration in the making
} pz_geometric;

// ---- Pulls ---------------------------------------------------------------------------------------------------------------

// Add a point x of weight w that wants to be at t.
void pz_pull_add_point(pz_pull *pull, double w, vec3 x, vec3 t);

// Add another pull, times a factor.
void pz_pull_add(pz_pull *pull, double factor, const pz_pull *other);

// What the goals of each body want at the current point. `caution` >= 0 holds AIM goals back. False: an AIM goal is
// among them, whose energy only resembles the pull; for all others the pull bounds it from above.
bool pz_pull_goals(const poise_method_run *run, double caution, int joint_count, pz_pull *pulls);

// The target of a POSITION goal whose point is at x, and its weight there: bands and losses accounted for.
vec3 pz_pull_target(const poise_method_run *run, const poise_goal *goal, vec3 x, double *weight);

// ---- Moves ---------------------------------------------------------------------------------------------------------------

// The angle in [lower, upper] (lower <= 0 <= upper) where c cos(angle) + s sin(angle) is largest.
double pz_best_angle(double c, double s, double lower, double upper);

// Move joint k to where its pull has the least energy, the last of its steps first, within limits, locked coordinates left
// alone. Joints below may have moved (pull says so), those above are where they are at the current point. Writes the joint's
// coordinates to q, carries the pull along, and appends what was done to *made unless it is NULL. Returns the longest step
// of a coordinate.
double pz_best_move(const poise_method_run *run, int k, pz_pull *pull, double *q, pz_move *made);

// Has joint k three slides that nothing holds?
bool pz_slides_freely(const poise_method_run *run, int k);

// Move the joints from the root to the ends, each for its pull, which holds what its whole subtree wants. g->q
// comes in as the current configuration. Returns the longest step of a coordinate.
double pz_move_from_root(const poise_method_run *run, pz_geometric *g);

// ---- Runs ----------------------------------------------------------------------------------------------------------------

// Scratch memory, and what of it is known before a run.
void pz_geometric_lay_out(const poise_method_run *run, poise_method_memory *memory, pz_geometric *g);
void pz_geometric_begin(const poise_method_run *run, pz_geometric *g);

// Refuse what no geometric method can serve: a prior, and mimic joints above a goal, which move more than one joint at once.
poise_status pz_geometric_check_model(const poise_method_run *run, const char *name, poise_error *error);

// Is some component of a tolerance more than 0?
static inline bool has_band(poise_vec3 tolerance)
{
    return fabs(tolerance.x) + fabs(tolerance.y) + fabs(tolerance.z) != 0;
}

#endif
