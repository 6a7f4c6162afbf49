// A table of starts, for restarts that begin near the target.
//
// Turning the first joint turns the whole arm about its axis, and turning the last one changes nothing but the angle about
// its own: both are solved for in closed form, so that the table only has to cover what is left, four dimensions of the
// pose. With c the point of the last axis next to the goal's origin and z the direction of that axis, both known from a
// target, and az the angle of c about the first axis (z of the base), a pose has the features
//
//   (rho_c, c_z)/sqrt2,  (z_rho, z_az, z_z)/sqrt2         in the frame turned by az
//
// whose squared distance is the search's own energy, but for the turn about z.
#include "solve/arm/arm_kernel.h"

#define SHORTEST  3 // joints
#define ROOT_HALF 0.70710678118654752440

static void make_feature(vec3 c, vec3 z, double *feature, double *azimuth)
{
    double rho = sqrt(c.x * c.x + c.y * c.y);
    double cosine = rho > 0 ? c.x / rho : 1.0, sine = rho > 0 ? c.y / rho : 0.0;
    *azimuth = rho > 0 ? pz_atan2(c.y, c.x) : 0.0;
    feature[0] = ROOT_HALF * rho;
    feature[1] = ROOT_HALF * c.z;
    feature[2] = ROOT_HALF * (cosine * z.x + sine * z.y);
    feature[3] = ROOT_HALF * (cosine * z.y - sine * z.x);
    feature[4] = ROOT_HALF * z.z;
}

// The point of the last axis next to the goal's origin.
static vec3 axis_point(const pz_arm_chain *chain, const mat3 *frame, vec3 p)
{
    int last = chain->n - 1;
    return v3_sub(p, v3_combine(chain->tx[last], frame->x, chain->ty[last], frame->y));
}

static double middle_of(const pz_arm_chain *chain, int i)
{
    return chain->first[i] + 0.5 * chain->span[i];
}

bool pz_arm_table_make(const pz_arm_chain *chain, pz_arm_table *table)
{
    int n = chain->n, last = n - 1;
    if (n < SHORTEST || chain->turn[0] == 0 || chain->turn[last] == 0) {
        return false;
    }
    // the sequence of restarts for the joints between, in n - 2 dimensions
    pz_arm_chain inner = *chain;
    inner.n = n - 2;
    pz_arm_sequence(&inner);
    for (int entry = 0; entry < PZ_ARM_TABLE; ++entry) {
        double *q = table->q[entry];
        arm_frames frames;
        q[0] = middle_of(chain, 0);
        q[last] = middle_of(chain, last);
        for (int i = 1; i < last; ++i) {
            q[i] = pz_arm_sequence_at(chain, i, inner.ratio[i - 1], entry + 1);
        }
        arm_forward(chain, n, true, ARM_ALONE, q, &frames);
        make_feature(axis_point(chain, &frames.d, frames.p), frames.d.z, table->feature[entry], &table->azimuth[entry]);
    }
    return true;
}

// The shortest way by whole turns.
static double shortest_turn(double angle)
{
    return angle - PZ_TWO_PI * arm_round(angle / PZ_TWO_PI);
}

void pz_arm_table_aim(const pz_arm_chain *chain, const pz_arm_target *target, pz_arm_table *table)
{
    double feature[5], azimuth, half = 0.5 * chain->span[0];
    make_feature(axis_point(chain, &target->u, target->t), target->u.z, feature, &azimuth);
    for (int entry = 0; entry < PZ_ARM_TABLE; ++entry) {
        double sum = 0.0;
        for (int k = 0; k < 5; ++k) {
            double d = feature[k] - table->feature[entry][k];
            sum += d * d;
        }
        // what the first joint would have to turn beyond its limits
        double excess = max2(fabs(shortest_turn(azimuth - table->azimuth[entry])) - half, 0.0);
        table->distance[entry] = sum + 2.0 * excess * excess;
    }
    table->aim = azimuth;
}

static int take_nearest(pz_arm_table *table)
{
    int nearest = 0;
    for (int entry = 1; entry < PZ_ARM_TABLE; ++entry) {
        nearest = table->distance[entry] < table->distance[nearest] ? entry : nearest;
    }
    table->distance[nearest] = INFINITY;
    return nearest;
}

// Turn of the frame d about a that brings it nearest to u: the largest of sum u_k . (R d_k) over R about a is at the angle
// atan2(sum a . (d_k x u_k), sum d_k . u_k - (a . d_k)(a . u_k)). For a = z of the frame the third term of each sum is 0.
static double best_turn(const mat3 *d, const mat3 *u)
{
    double sine = v3_dot(d->z, v3_add(v3_cross(d->x, u->x), v3_cross(d->y, u->y)));
    return pz_atan2(sine, v3_dot(d->x, u->x) + v3_dot(d->y, u->y));
}

void pz_arm_table_next(const pz_arm_chain *chain, const pz_arm_target *target, pz_arm_table *table, double *q)
{
    int entry = take_nearest(table), last = chain->n - 1;
    memcpy(q, table->q[entry], (size_t)chain->n * sizeof *q);
    q[0] = clamp(q[0] + shortest_turn(table->aim - table->azimuth[entry]), chain->lower[0], chain->upper[0]);
    arm_frames frames;
    arm_forward(chain, chain->n, true, ARM_ALONE, q, &frames);
    q[last] = clamp(q[last] + best_turn(&frames.d, &target->u), chain->lower[last], chain->upper[last]);
}
