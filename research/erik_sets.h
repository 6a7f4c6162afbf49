// The postures and orientations that expressive inverse kinematics is evaluated on.
//
// A set is the union, for q = 1 .. finest, of the grids of q + 1 equally spaced values per dimension between two bounds,
// each point once: coarse grids come first, so that a finer set begins with the coarser one. With `finest` 10, 7 and 4 and
// the bounds of the joints this gives the numbers of postures that Ribeiro & Paiva (2019) print, Table 8. Their 7609
// orientations are not of that kind; the nearest set is `finest` 12 with 7265.
#ifndef RESEARCH_ERIK_SETS_H
#define RESEARCH_ERIK_SETS_H

#include <poise/math.h>

#ifdef __cplusplus
extern "C" {
#endif

#define EVALUATE_MOST_DIMENSIONS 16

// Points in the union of grids, by counting: sum over q and divisors g of q of mu(g) (q/g + 1)^dimensions.
int64_t evaluate_grid_count(int dimensions, int finest);

// The union of grids as numerators: `points` has room for evaluate_grid_count x dimensions; point i is numerator[i][..] /
// q[i] with q[i] in `denominators`. Ordered by q, then as the digits of a number.
void evaluate_grid_points(int dimensions, int finest, unsigned char *points, unsigned char *denominators);

// How three angles make an orientation.
typedef enum evaluate_angles {
    EVALUATE_YXZ = 0, // R_y(yaw) R_x(pitch) R_z(roll)
    EVALUATE_YXY      // R_y(yaw) R_x(pitch) R_y(roll): roll about the direction that y points to
} evaluate_angles;

// Orientation of point i of a set of three dimensions over [-pi, pi]^3.
poise_quat evaluate_orientation(evaluate_angles angles, const unsigned char point[3], int denominator);

#ifdef __cplusplus
}
#endif

#endif
