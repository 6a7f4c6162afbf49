// Models: the packed constant block behind poise_model, what joints and their functions of a coordinate are made of, and the
// builder that descriptions are added to.
//
// A joint's motion is a sequence of *steps*, each about or along the axes of one frame: turns and slides with one degree of
// freedom, or a rotation block with two or three. A *motion axis* is one column of that: the twist of everything below per
// unit of one coordinate. Axes and coordinates of a step (dofs) are the same list but for mimic joints, whose axis belongs
// to the dof they follow, times a factor.
//
// Frames are chosen so that steps only ever touch x, y and z:
//
//   frame of joint k before its motion:  R_parent C_k,  p_parent + R_parent t_k
//   body frame as the user knows it:     R_k B_k        (B_k undoes the turn A_k that lined the axes up)
//   C_k = B_parent R_offset A_k,   t_k = B_parent t_offset,   B_k = A_k^T
#ifndef PZ_MODEL_MODEL_H
#define PZ_MODEL_MODEL_H

#include <poise/model.h>

#include "base/arena.h"
#include "base/text.h"
#include "num/vector.h"

// ---- Functions of a coordinate (curve.c) ---------------------------------------------------------------------------------

// Functions of one coordinate, packed for evaluation with two derivatives, and what a CURVE joint is made of.
//
// A spline or line over n points has n + 1 pieces: the line before the first point, one between each two, the line behind
// the last. A piece is c0 + t (c1 + t (c2 + t c3)), t from the point at its left (from the first one for the first piece).

typedef struct pz_function {
    int points;      // of pieces; 0: a polynomial
    int count;       // coefficients of a polynomial; 0 and no points: there is none
    const double *x; // points
    const double *c; // 4 (points + 1), or the polynomial's, highest power first
} pz_function;

// Value and derivatives.
typedef struct pz_jet2 {
    double f, d1, d2;
} pz_jet2;

// Slides come before turns, as in the motion. A function without points and coefficients moves nothing.
typedef struct pz_curve {
    vec3 axis[6];         // turns 0..2, slides 3..5; unit
    pz_function value[6]; // of `inner`
    pz_function inner;    // of the coordinate: what a follower makes of it; none: the coordinate itself
} pz_curve;

static inline bool pz_function_is_there(const pz_function *f)
{
    return f->points > 0 || f->count > 0;
}

// Numbers that packing needs, and the packing of a function that pz_function_check accepts; `room` holds them.
size_t pz_function_room(const poise_function *f);
pz_function pz_function_pack(const poise_function *f, double *room);

pz_jet2 pz_function_at(const pz_function *f, double x);

// POISE_OK, or what is wrong with a function called `what` of a joint.
poise_status pz_function_check(const poise_function *f, const char *joint, const char *what, poise_error *error);

// Bytes for a copy of a joint's curve and mimic_function with their numbers, 0 without; and the copy, after which the joint
// points to it. Axes are made unit.
size_t pz_functions_size(const poise_joint *joint);
void pz_functions_copy(poise_joint *joint, void *memory);

// ---- Joint types (joints.c) ----------------------------------------------------------------------------------------------

typedef enum pz_step_kind {
    PZ_TURN_X = 0,
    PZ_TURN_Y,
    PZ_TURN_Z,
    PZ_SLIDE_X,
    PZ_SLIDE_Y,
    PZ_SLIDE_Z,
    PZ_EXPMAP,     // three axes, exp(v)
    PZ_SWING,      // two axes, exp((a, b, 0))
    PZ_QUATERNION, // three axes, four coordinates
    PZ_CURVE       // one axis, a screw that changes with the coordinate (pz_curve)
} pz_step_kind;

#define PZ_MAX_STEPS 6

// One row of the joint table: what a type is made of. Slides come before everything that turns, so that a joint's origin is
// known when its axes are.
typedef struct pz_joint_row {
    int step_count;
    pz_step_kind steps[PZ_MAX_STEPS];
    bool euler; // the last three steps come from the Euler order
} pz_joint_row;

const pz_joint_row *pz_joint_row_of(poise_joint_type type); // NULL outside the enumeration

// The steps of a joint with a given Euler order; returns how many.
int pz_joint_steps(poise_joint_type type, poise_euler_order order, pz_step_kind steps[PZ_MAX_STEPS]);

PZ_FN bool pz_step_is_turn(pz_step_kind kind)
{
    return kind <= PZ_TURN_Z;
}

// The axis x, y or z of a plain turn or slide: 0, 1, 2.
PZ_FN int pz_step_axis(pz_step_kind kind)
{
    return (int)kind % 3;
}

PZ_FN bool pz_step_is_slide(pz_step_kind kind)
{
    return kind >= PZ_SLIDE_X && kind <= PZ_SLIDE_Z;
}

// A block: its axes are not turns one after the other, so that it has second derivatives of its own. A curve is one of a
// single axis.
PZ_FN bool pz_step_is_block(pz_step_kind kind)
{
    return kind >= PZ_EXPMAP;
}

// Axes and coordinates of one step.
PZ_FN int pz_step_nv(pz_step_kind kind)
{
    return !pz_step_is_block(kind) || kind == PZ_CURVE ? 1 : kind == PZ_SWING ? 2 : 3;
}

PZ_FN int pz_step_nq(pz_step_kind kind)
{
    return kind == PZ_QUATERNION ? 4 : pz_step_nv(kind);
}

typedef struct pz_step {
    pz_step_kind kind;
    int q;     // first coordinate
    int axis;  // first motion axis
    int value; // turns and slides: position in the list of their values; curves: in that of curves
    int block; // blocks: position in the list of blocks
    bool own;  // false for a mimic: the coordinate is another joint's
} pz_step;

// What the forward sweep reads comes first, in two cache lines.
typedef struct pz_joint {
    mat3 C;     // constant turn before the motion
    vec3 t;     // constant shift before the motion
    int parent; // joint, or POISE_WORLD
    int step_begin, step_end;
    bool C_is_identity;
    bool B_is_identity;
    int last_axis; // the last axis at or above this joint, or -1
    int axis_begin, axis_end;
    int slide_count;    // axes that slide, which come first
    mat3 B;             // from the user's body frame to ours: user rotation = R B
    int subtree;        // joints in the subtree, itself included
    int q_begin, q_end; // empty for a mimic
    int v_begin, v_end;
    int mimic;        // joint followed, or POISE_WORLD
    bool below_mimic; // it, or one above it, follows another
    double mass;
    vec3 mass_center; // in our frame
} pz_joint;

typedef struct pz_axis {
    int parent; // axis before it on the path to the root, or -1
    int depth;  // axes on the path, itself included
    int joint;
    int dof;       // component of a step
    double factor; // d (coordinate) / d (component): 1, or a mimic's multiplier (of a curve that is in its axis)
} pz_axis;

struct poise_model {
    poise_allocator allocator;
    bool has_allocator;
    int joint_count, step_count, axis_count, value_count, turn_count, block_count, curve_count, nq, nv, tool_count;
    bool has_mimic;
    bool is_wide; // base/cpu.h
    double total_mass;
    double unit; // of length: the power of 1024 that suits its size (constraint.h)
    pz_joint *joints;
    pz_step *steps;
    pz_axis *axes;
    size_t *packed_row;   // axis_count + 1: where a row of the packed Hessian begins
    int *dof_axis;        // nv: the axis that is the dof's own
    int *value_q;         // value_count: coordinate behind the value; turns first, slides from turn_count on
    double *value_factor; // value = factor q + offset
    double *value_offset;
    pz_curve *curves;      // curve_count
    double *numbers;       // that curves and given point to
    double *lower, *upper; // nq
    poise_joint *given;    // descriptions as given, names within `text`, numbers normalised
    poise_tool *tools;
    int *tool_body;
    char *text;
    pz_names joint_names, body_names, tool_names;
};

// A normalised vector misses |v|^2 = 1 by at most 12 u, u = 2^-53: 4 u of the sum of squares, doubled by the division, the
// division's own rounding, and 4 u of the sum taken anew.
PZ_FN bool pz_is_unit(double square)
{
    return fabs(square - 1.0) <= 8.0 * PZ_EPSILON;
}

// quat_normalize, but for quaternions that are unit to rounding, which stay as they are: doing it twice changes nothing.
PZ_FN quat pz_unit_quat(quat q)
{
#if REAL_WIDTH == 1
    return pz_is_unit(q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w) ? q : quat_normalize(q);
#else // of one lane
    return pz_is_unit(q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w) ? q : poise_quat_normalize(q);
#endif
}

// Does an axis slide?
PZ_FN bool pz_axis_slides(const poise_model *model, int axis)
{
    const pz_joint *joint = &model->joints[model->axes[axis].joint];
    return axis < joint->axis_begin + joint->slide_count;
}

// (a/A)^2 + (b/B)^2 of a SWING_TWIST joint's first two coordinates; 0 without a limit.
PZ_FN double pz_swing_excess(const poise_joint *given, const double *q)
{
    double a = q[0] / given->swing[0], b = q[1] / given->swing[1];
    return a * a + b * b;
}

// Bring every swing within its ellipse.
void pz_model_clamp_swings(const poise_model *model, double *q);

// Is the coordinate one of a swing at the edge of its ellipse?
bool pz_model_at_swing_edge(const poise_model *model, const double *q, int coordinate);

// Are all numbers of q finite and no quaternion zero?
bool pz_model_accepts(const poise_model *model, const double *q);

// Say in `error` (may be NULL) what is wrong with a configuration called `name` that pz_model_accepts refused, or that is
// NULL. Returns POISE_ERROR_ARGUMENT.
poise_status pz_refuse_q(const poise_model *model, const double *q, const char *name, poise_error *error);

// Does `ancestor` lie on the path from `body` to the root? True for body == ancestor. The world is everybody's ancestor.
bool pz_model_is_ancestor(const poise_model *model, int ancestor, int body);

// The path from the root to `body`, both included. Writes at most `capacity` indices, returns the whole length.
int pz_model_path(const poise_model *model, int body, int *path, int capacity);

// ---- Size ----------------------------------------------------------------------------------------------------------------

// How much half the ranges of slides count beside the length of the links: up to so many times that, for the range of a cart
// may be any number. Alone they count as they are, unless the number is one that is written for "no end".
#define PZ_LESS_SLIDES 8.0
#define PZ_NO_END      1e6

PZ_FN double pz_counted_ranges(double links, double ranges)
{
    return links > 0 ? min2(ranges, PZ_LESS_SLIDES * links) : ranges <= PZ_NO_END ? ranges : 0.0;
}

// ---- A builder (builder.c) -----------------------------------------------------------------------------------------------

// What a builder holds: descriptions in the order they were added, texts in one pool.

// A text in the pool; PZ_NO_TEXT for none.
#define PZ_NO_TEXT SIZE_MAX

// A description whose texts live in the pool: the pointers to texts in `joint` are not used.
typedef struct pz_joint_entry {
    poise_joint joint;
    size_t name, body, parent, mimic;
    void *functions; // what `joint.curve` and `joint.mimic_function` point to, or NULL
} pz_joint_entry;

typedef struct pz_tool_entry {
    poise_tool tool;
    size_t name, body;
} pz_tool_entry;

struct poise_builder {
    poise_allocator allocator;
    bool has_allocator;
    pz_joint_entry *joints;
    int joint_count, joint_capacity;
    pz_tool_entry *tools;
    int tool_count, tool_capacity;
    char *text;
    size_t text_size, text_capacity;
    pz_names joint_names, body_names, tool_names;
};

static inline const poise_allocator *pz_builder_allocator(const poise_builder *builder)
{
    return builder->has_allocator ? &builder->allocator : NULL;
}

const char *pz_builder_joint_name_at(const void *builder, int position);
const char *pz_builder_body_name_at(const void *builder, int position);

// What one description must satisfy by itself; normalises its axes and quaternions in place.
poise_status pz_joint_check(poise_joint *joint, poise_error *error);
poise_status pz_tool_check(poise_tool *tool, poise_error *error);

#endif
