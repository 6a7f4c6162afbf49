// Joints by their public description: how many coordinates, which configurations, which pose against the parent.
#ifndef PZ_IO_LOCAL_POSE_H
#define PZ_IO_LOCAL_POSE_H

#include "io/io_core.h"
#include "math/quat.h"

// Coordinates of a joint type that does not mimic.
int pz_joint_coordinates(poise_joint_type type);

// "xyz" for POISE_EULER_XYZ; the order must be one of the enumeration.
const char *pz_euler_name(int order);

// The order of turns about these axes (0, 1, 2), outermost first; false when one comes twice in a row.
bool pz_euler_find(const int axis[3], poise_euler_order *order);

// Angles a, b, c of R = Ri(a) Rj(b) Rk(c), row-major, about the axes i, j, k = first, first + 1, first + 2 (mod 3). `angle`
// holds the last ones: of the triples that give R the next to them is taken, so that a motion goes on without jumps.
void pz_euler_next(const double R[9], int first, double angle[3]);

// What configurations of a model must be: found once, so that checking one takes time for its numbers only, and not for all
// the joints that have none.
typedef struct pz_configurations {
    int nq;
    int *quaternions; // where they begin in q; in the pool
    int count;
} pz_configurations;

bool pz_configurations_of(const poise_model *model, pz_pool *pool, pz_configurations *out); // false: out of memory

// Are all nq numbers finite, and no quaternion zero?
bool pz_is_configuration(const pz_configurations *of, const double *q);

// offset A M(q) A^-1, with M the motion in the frame A of the joint's axes (table of model.h), at the joint's own
// coordinates q; of a mimic the value it takes. Quaternions in q are taken as they are: the rotation has their length.
poise_pose pz_local_pose(const poise_joint *joint, const double *q);

#endif
