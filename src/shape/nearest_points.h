// Where two cores come nearest, by parameters along them: a segment and a segment, a segment and a box. On a graphics
// processor, too.
#ifndef PZ_SHAPE_NEAREST_POINTS_H
#define PZ_SHAPE_NEAREST_POINTS_H

#include "num/vector.h"

typedef struct pz_segment {
    vec3 center;
    vec3 along; // unit
    double half;
} pz_segment;

#define PZ_PARALLEL 1e-12 // sin^2 of the angle between directions that count as one

// Segment against segment: a clamped 2 x 2 system (C. Ericson, "Real-Time Collision Detection", 2005, section 5.1.9), with
// the middle of what they share where they are parallel. With r = a.center - b.center, s and t along a and b: the lines are
// nearest at s = ((u.v)(v.r) - u.r) / sin^2, and for a given s at t = (u.v) s + v.r. Returns sin^2.
PZ_FN double pz_nearest_of_segments(const pz_segment *a, const pz_segment *b, double *s, double *t)
{
    vec3 r = v3_sub(a->center, b->center), u = a->along, v = b->along;
    double uv = v3_dot(u, v), ur = v3_dot(u, r), vr = v3_dot(v, r);
    vec3 across = v3_cross(u, v);
    double square = v3_dot(across, across);
    if (square > PZ_PARALLEL) {
        *s = clamp((uv * vr - ur) / square, -a->half, a->half);
    } else { // the ends of b along a, and the middle of the part that both have
        double lower = clamp(-ur - b->half, -a->half, a->half), upper = clamp(-ur + b->half, -a->half, a->half);
        *s = 0.5 * (lower + upper);
    }
    *t = uv * *s + vr;
    if (fabs(*t) > b->half) {
        *t = clamp(*t, -b->half, b->half);
        *s = clamp(uv * *t - ur, -a->half, a->half);
    }
    return square;
}

// ---- A segment in the frame of a box -------------------------------------------------------------------------------------

typedef struct pz_boxed_segment {
    double p[3], e[3], h[3]; // x(t) = p + t e; half the sides of the box
    double half;
} pz_boxed_segment;

// How far x lies beyond +-h.
PZ_FN double pz_excess(double x, double h)
{
    return x > h ? x - h : x < -h ? x + h : 0.0;
}

PZ_FN double pz_slope_at(const pz_boxed_segment *s, double t)
{
    double slope = 0.0;
    for (int i = 0; i < 3; ++i) {
        slope += s->e[i] * pz_excess(s->p[i] + t * s->e[i], s->h[i]);
    }
    return slope;
}

// The t of the nearest point; *inside tells that it is no end and determined. With ex_i(t) the excess of x_i beyond +-h_i,
// half the square of the distance is convex in t with the slope sum_i e_i ex_i(t), which is piecewise linear and grows:
// bracket its zero among the ends and the at most six t where an excess begins, then one interpolation.
PZ_FN double pz_nearest_to_box(const pz_boxed_segment *s, bool *inside)
{
    double lower = -s->half, upper = s->half, below = pz_slope_at(s, lower), above = pz_slope_at(s, upper);
    double first = upper, last = lower; // where the slope is 0
    *inside = false;
    if (below > 0 || above < 0) {
        return below > 0 ? lower : upper;
    }
    for (int i = 0; i < 6; ++i) {
        double t = ((i < 3 ? s->h[i] : -s->h[i - 3]) - s->p[i % 3]) / s->e[i % 3];
        if (!(t > lower && t < upper)) { // neither is one of an axis that the segment does not move along
            continue;
        }
        double slope = pz_slope_at(s, t);
        if (slope < 0) {
            lower = t, below = slope;
        } else if (slope > 0) {
            upper = t, above = slope;
        } else {
            first = min2(first, t), last = max2(last, t);
        }
    }
    first = below < 0 ? first : lower, last = above > 0 ? last : upper;
    if (first <= last) {
        return 0.5 * (first + last);
    }
    *inside = true;
    return lower + (upper - lower) * (-below / (above - below));
}

#endif
