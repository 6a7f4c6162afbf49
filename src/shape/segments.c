// Segment against segment.
#include "shape/shape.h"

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

pz_contact pz_segment_segment(const pz_segment *a, const pz_segment *b, double meets)
{
    double s, t, square = pz_nearest_of_segments(a, b, &s, &t);
    vec3 u = a->along, v = b->along;
    pz_contact contact = {.a = v3_mad(a->center, s, u), .b = v3_mad(b->center, t, v)};
    vec3 apart = v3_sub(contact.a, contact.b);
    double gap = v3_norm(apart);
    contact.gap = gap;
    contact.is_smooth = gap > meets;
    if (contact.is_smooth) {
        contact.normal = v3_scale(apart, 1.0 / gap);
        add_slide(&contact, PZ_SIDE_A, u, s, a->half);
        add_slide(&contact, PZ_SIDE_B, v, t, b->half);
    } else {
        contact.normal = square > PZ_PARALLEL ? v3_normalize(v3_cross(u, v)) : any_across(u);
    }
    return contact;
}
