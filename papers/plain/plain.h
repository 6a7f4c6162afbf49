// Plain: inverse kinematics of point effectors with the exact Hessian, written to be read.
//
// This is the reference beside Poise: Algorithms 1-4 of K. Erleben and S. Andrews, "Solving inverse kinematics using exact
// Hessian matrices" (2018), with the slips of the paper put right (each one is named at its line in plain.c) and with what
// the paper's own experiments need: hinges, sliders, ball joints in any Euler convention, a moving root, effectors with tool
// vectors on any bone, weights. Tests hold Poise against it; benchmarks race against it. It shares no code with Poise.
//
// A bone is a joint and what it carries. Its motion is a sequence of at most six elementary degrees of freedom, outermost
// (nearest the parent) first, each a turn about or a slide along an axis fixed in the frame that the ones before it moved:
//
//   world frame of bone k = world frame of its parent * (rotation, position) * motion_1(q) * motion_2(q) * ...
//
// A ball joint is three turns, a moving root three slides and three turns. So the two kinds of Tables 1 and 2 are all there
// is, and "upstream" is well defined inside a joint too.
//
//   e_c = world position of the tool of effector c         r_c = goal_c - e_c
//   f   = 1/2 sum_c w_c |r_c|^2
//   J   = d(e_1, e_2, ...)/dq      3E x n, row-major; rows 3c .. 3c+2 belong to effector c
//   g   = df/dq  = -sum_c w_c J_c^T r_c
//   H   = d2f/dq2 = sum_c w_c (J_c^T J_c - K_c : r_c)      n x n, row-major
//   K_c = d2 e_c / dq2             3 x n x n, K[(row * n + i) * n + j]
//
// Lengths are in one unit of the caller's choice, angles in radians.
#ifndef PAPERS_PLAIN_H
#define PAPERS_PLAIN_H

#include <poise/model.h>

#define PLAIN_WORLD   (-1) // parent of a root
#define PLAIN_DOF_MAX 6    // of one bone

typedef enum plain_kind { PLAIN_REVOLUTE = 0, PLAIN_PRISMATIC } plain_kind;

typedef struct plain_bone {
    int parent;          // index of another bone, less than the own one; PLAIN_WORLD: none
    double rotation[9];  // of the joint's frame in the parent's frame at q = 0, row-major
    poise_vec3 position; // of the joint's origin in the parent's frame
    int dof_count;
    plain_kind kind[PLAIN_DOF_MAX];
    poise_vec3 axis[PLAIN_DOF_MAX]; // unit, in the joint's frame at q = 0
} plain_bone;

// A point of a bone, and where it should be.
typedef struct plain_effector {
    int bone;
    poise_vec3 tool; // in the bone's frame
    poise_vec3 goal; // in the world
    double weight;
} plain_effector;

// A skeleton, its effectors, and their state at the last plain_update. Change tool, goal and weight of an effector as you
// like, then update again; the rest is for reading.
typedef struct plain_ik {
    int bone_count;
    int dof_count; // n
    int effector_count;

    plain_bone *bones;
    plain_effector *effectors;
    int *first_dof;   // by bone: index in q of its first degree of freedom
    int *chain_start; // effector_count + 1 numbers: chain c is chain[chain_start[c]] .. chain[chain_start[c+1] - 1]
    int *chain;       // degrees of freedom from the root down to the effector's bone, ascending

    double *rotation;     // by bone, 9 each: world rotation, row-major
    poise_vec3 *position; // by bone: world position of its origin
    plain_kind *kind;     // by degree of freedom
    poise_vec3 *axis;     // by degree of freedom: world axis
    poise_vec3 *origin;   // by degree of freedom: a world point on the axis
    poise_vec3 *e;        // by effector: world position
    poise_vec3 *r;        // by effector: goal - e
    poise_vec3 *scratch;  // 2 n vectors for plain_hessian and plain_gauss_newton
} plain_ik;

// A bone that does not move: identity rotation, no degrees of freedom.
plain_bone plain_bone_fixed(int parent, poise_vec3 position);

// Add a turn or a slide inside all that the bone has so far. A bone that is full, or an axis of length 0, makes plain_create
// fail. The axis is normalised.
void plain_bone_add(plain_bone *bone, plain_kind kind, poise_vec3 axis);

// Add the three turns R_A R_B R_C of an Euler order ABC about the axes of the frame `axes` (row-major rotation; NULL:
// identity) in the joint's frame.
void plain_bone_add_euler(plain_bone *bone, poise_euler_order order, const double *axes);

// Add slides along x, y, z of the joint's frame.
void plain_bone_add_translation(plain_bone *bone);

// Algorithm 1, lines 1-6: the bones without children, which the paper takes for end-effectors. Fills an effector with no
// tool, its goal at the origin and weight 1 for each, in the order of the bones; `effectors` has room for bone_count.
// Returns how many there are.
int plain_leaf_effectors(const plain_bone *bones, int bone_count, plain_effector *effectors);

// A skeleton with its effectors; everything is copied. NULL when memory is out, or when a parent does not come before its
// bone, an effector names no bone, or a bone is spoilt. Release with plain_destroy (NULL is allowed).
plain_ik *plain_create(const plain_bone *bones, int bone_count, const plain_effector *effectors, int effector_count);
void plain_destroy(plain_ik *ik);

// The same skeleton as `model`, bone k for joint k, with the model's order of degrees of freedom. NULL as above, or when the
// model has joints that plain does not know: exponential maps, quaternions, mimics.
plain_ik *plain_from_model(const poise_model *model, const plain_effector *effectors, int effector_count);

// Frames, axes and effectors at q (n numbers). Everything below speaks of the last update.
void plain_update(plain_ik *ik, const double *q);

double plain_cost(const plain_ik *ik);
void plain_jacobian(const plain_ik *ik, double *J);
void plain_gradient(const plain_ik *ik, const double *J, double *g);

// The exact Hessian, symmetric to the last bit.
void plain_hessian(const plain_ik *ik, const double *J, double *H);

// sum_c w_c J_c^T J_c, symmetric to the last bit.
void plain_gauss_newton(const plain_ik *ik, const double *J, double *H);

// K of one effector, symmetric in i and j to the last bit.
void plain_tensor(const plain_ik *ik, const double *J, int effector, double *K);

#endif
