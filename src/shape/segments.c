// Segment against segment: a clamped 2 x 2 system (C. Ericson, "Real-Time Collision Detection", 2005, section 5.1.9), with
// the middle of what they share where they are parallel.
#include "shape/shape.h"

#define PARALLEL 1e-12 // sin^2 of the angle between directions that count as one

static vec3 any_across(vec3 u)
{
    vec3 other = fabs(u.x) < 0.7 ? v3(1, 0, 0) : v3(0, 1, 0);
    return v3_normalize(v3_cross(u, other));
}

static void add_slide(pz_contact *contact, pz_side side, vec3 along, double at, double half)
{
    if (fabs(at) < half) {
        contact->slides[contact->slide_count++] = (pz_slide){side, along};
    }
}

// With r = a.center - b.center, s and t along a and b: the lines are nearest at s = ((u.v)(v.r) - u.r) / sin^2, and for a
// given s at t = (u.v) s + v.r.
pz_contact pz_segment_segment(const pz_segment *a, const pz_segment *b)
{
    vec3 r = v3_sub(a->center, b->center), u = a->along, v = b->along;
    double uv = v3_dot(u, v), ur = v3_dot(u, r), vr = v3_dot(v, r);
    vec3 across = v3_cross(u, v);
    double square = v3_dot(across, across), s;
    if (square > PARALLEL) {
        s = clamp((uv * vr - ur) / square, -a->half, a->half);
    } else { // the ends of b along a, and the middle of the part that both have
        double lower = clamp(-ur - b->half, -a->half, a->half), upper = clamp(-ur + b->half, -a->half, a->half);
        s = 0.5 * (lower + upper);
    }
    double t = uv * s + vr;
    if (fabs(t) > b->half) {
        t = clamp(t, -b->half, b->half);
        s = clamp(uv * t - ur, -a->half, a->half);
    }
    pz_contact contact = {.a = v3_mad(a->center, s, u), .b = v3_mad(b->center, t, v)};
    vec3 apart = v3_sub(contact.a, contact.b);
    double gap = v3_norm(apart);
    contact.gap = gap;
    contact.is_smooth = gap > PZ_CORES_MEET;
    if (contact.is_smooth) {
        contact.normal = v3_scale(apart, 1.0 / gap);
        add_slide(&contact, PZ_SIDE_A, u, s, a->half);
        add_slide(&contact, PZ_SIDE_B, v, t, b->half);
    } else {
        contact.normal = square > PARALLEL ? v3_normalize(across) : any_across(u);
    }
    return contact;
}
