// Functions of one coordinate, packed for evaluation with two derivatives, and what a CURVE joint is made of.
//
// A spline or line over n points has n + 1 pieces: the line before the first point, one between each two, the line behind
// the last. A piece is c0 + t (c1 + t (c2 + t c3)), t from the point at its left (from the first one for the first piece).
#ifndef PZ_MODEL_CURVE_H
#define PZ_MODEL_CURVE_H

#include <poise/model.h>

#include "num/vector.h"

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

#endif
