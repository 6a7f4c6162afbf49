// How loose a cover is, by points around the mesh.
#include "shape/cloud.h"

#include "num/vector.h"

#define AROUND  0.3  // of the longest side: how far around the mesh they lie
#define FARTHER 30.0 // what a point counts more that lies outside the mesh by as much as its longest side

// Point i of an even sequence: the fractions of i / g, i / g^2, i / g^3, where g^4 = g + 1 (M. Roberts, "The unreasonable
// effectiveness of quasirandom sequences", 2018).
static vec3 cloud_point(const pz_cloud *c, int i)
{
    double x = 0.5 + i * 0.8191725133961645, y = 0.5 + i * 0.6710436067037893, z = 0.5 + i * 0.5497004779019703;
    vec3 at = {x - (double)(int)x, y - (double)(int)y, z - (double)(int)z};
    return v3(c->low.x + at.x * c->side.x, c->low.y + at.y * c->side.y, c->low.z + at.z * c->side.z);
}

static bool is_inside(const poise_shape *shape, const mat3 *axes, vec3 point)
{
    vec3 d = v3_sub(point, shape->pose.position);
    double x = max2(0.0, fabs(v3_dot(axes->x, d)) - shape->half.x), y = max2(0.0, fabs(v3_dot(axes->y, d)) - shape->half.y);
    double z = max2(0.0, fabs(v3_dot(axes->z, d)) - shape->half.z);
    return x * x + y * y + z * z <= shape->radius * shape->radius;
}

void pz_cloud_make(pz_cloud *c, const pz_outline *whole)
{
    vec3 low = whole->corner[0], high = low;
    for (int k = 1; k < PZ_DIRECTIONS; ++k) {
        vec3 x = whole->corner[k];
        low = v3(min2(low.x, x.x), min2(low.y, x.y), min2(low.z, x.z));
        high = v3(max2(high.x, x.x), max2(high.y, x.y), max2(high.z, x.z));
    }
    double longest = max2(high.x - low.x, max2(high.y - low.y, high.z - low.z)), more = AROUND * longest;
    c->low = v3_sub(low, v3(more, more, more));
    c->side = v3_sub(v3_add(high, v3(more, more, more)), c->low);
    for (int i = 0; i < PZ_CLOUD_POINTS; ++i) {
        vec3 at = cloud_point(c, i);
        double beyond = 0;
        for (int k = 0; k < PZ_DIRECTIONS; ++k) {
            beyond = max2(beyond, v3_dot(whole->direction[k], at) - whole->reach[k]);
        }
        c->weight[i] = (float)(1 + (longest > 0 ? FARTHER * beyond / longest : 0));
        c->covers[i] = 0;
    }
}

void pz_cloud_count(pz_cloud *c, const poise_shape *shape, int by)
{
    mat3 axes = quat_matrix(shape->pose.rotation);
    for (int i = 0; i < PZ_CLOUD_POINTS; ++i) {
        c->covers[i] = (unsigned char)(c->covers[i] + (is_inside(shape, &axes, cloud_point(c, i)) ? by : 0));
    }
}

double pz_cloud_looseness(const pz_cloud *c)
{
    double sum = 0;
    for (int i = 0; i < PZ_CLOUD_POINTS; ++i) {
        sum += c->covers[i] > 0 ? (double)c->weight[i] : 0.0;
    }
    return sum;
}

double pz_cloud_added(const pz_cloud *c, const poise_shape *a, const poise_shape *b)
{
    mat3 A = quat_matrix(a->pose.rotation), B = quat_matrix(b->pose.rotation);
    double sum = 0;
    for (int i = 0; i < PZ_CLOUD_POINTS; ++i) {
        vec3 at = cloud_point(c, i);
        bool is_new = c->covers[i] == 0 && (is_inside(a, &A, at) || is_inside(b, &B, at));
        sum += is_new ? (double)c->weight[i] : 0.0;
    }
    return sum;
}
