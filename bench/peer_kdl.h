// Orocos KDL as a baseline, behind a C interface. Built only where KDL is installed.
#ifndef BENCH_PEER_KDL_H
#define BENCH_PEER_KDL_H

#include <poise/model.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct peer_kdl peer_kdl;

// A KDL chain of the revolute and prismatic joints from the root to the frame `tip` on `body`.
peer_kdl *peer_kdl_create(const poise_model *model, int body, poise_pose tip);
void peer_kdl_destroy(peer_kdl *peer);

// Pose of the tip: row-major rotation and position.
void peer_kdl_forward(peer_kdl *peer, const double *q, double rotation[9], double position[3]);

// Jacobian of the tip, 6 x n row-major: velocity, then angular velocity, in world axes.
void peer_kdl_jacobian(peer_kdl *peer, const double *q, double *J);

// Inverse kinematics: Levenberg-Marquardt (which knows no limits), and Newton-Raphson with joint limits.
typedef enum peer_kdl_method { PEER_KDL_LMA = 0, PEER_KDL_NR_JL } peer_kdl_method;

// Make the solvers, once: 500 iterations of the first, 100 of the second, to `tolerance`.
void peer_kdl_use_inverse(peer_kdl *peer, const poise_model *model, double tolerance);

// One call from `seed` into q; does the solver say that it succeeded?
bool peer_kdl_inverse(peer_kdl *peer, peer_kdl_method method, const double *seed, const double rotation[9],
                      const double position[3], double *q);

// One step of the velocity solver with damped least squares: joint velocities that bring the tip to `target` in dt seconds.
void peer_kdl_step(peer_kdl *peer, const double *q, poise_pose target, double dt, double *v);

#ifdef __cplusplus
}
#endif

#endif
