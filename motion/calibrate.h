// What a calibration works on, and the parts of it that tests compare with differences.
#ifndef PZ_MOTION_CALIBRATE_H
#define PZ_MOTION_CALIBRATE_H

#include <poise/track.h>

#include "num/vector.h"

typedef struct pz_calibration {
    const poise_model *model; // unscaled
    const poise_placement *placements;
    int count;
    const poise_markers *markers;
    const int *chosen; // frames, or NULL
    int frame_count;
    poise_calibration problem;
    const poise_allocator *allocator;
    int *index;            // by placement: marker, or POISE_NONE
    int *unknown;          // by joint: number of its factor; 0 is the common one, -1 none
    int factors;           // number of unknown factors
    int n;                 // unknowns: factors, then offsets
    double *z;             // n: current constants
    double *z_best;        // n: those of N and b
    double *scale;         // by joint, of z
    double *q;             // frame_count x nq: poses of z
    double *q_best;        // poses of z_best
    double *N, *b;         // n x n, n
    double *step;          // n
    double *factored;      // n x n: N, damped
    double *A;             // 3 x n: of one marker, row by row
    double *J;             // 3 x nv
    double *G;             // nv x nv: of one frame
    double *C;             // n x nv: transposed, row by unknown
    double *X;             // nv
    poise_goal *goals;     // one per marker, and room for POSTURE
    unsigned char *strays; // frame_count x count: not 0 where a marker fits no pose that the others do
    double *neutral;       // nq: posture that poses are held to, and
    double *posture;       // nv: how strongly
    double noise, stature; // what a marker misses its place by; of the skeleton
    double square, sum;    // of the distances for z
    double weighted;       // square, by the markers' weights
    int points;
} pz_calibration;

static inline int pz_calibration_frame(const pz_calibration *c, int i)
{
    return c->chosen ? c->chosen[i] : (int)((long long)i * c->markers->frames / c->frame_count);
}

// Where marker i is in the f-th of the frames used; false where it was not seen, or is not believed.
static inline bool pz_calibration_sees(const pz_calibration *c, int f, int i, vec3 *x)
{
    if (c->index[i] < 0 || c->placements[i].weight == 0.0 || c->strays[(size_t)f * (size_t)c->count + (size_t)i]) {
        return false;
    }
    int frame = pz_calibration_frame(c, f);
    *x = c->markers->position[(size_t)frame * (size_t)c->markers->count + (size_t)c->index[i]];
    return v3_is_finite(*x);
}

static inline vec3 pz_calibration_offset(const pz_calibration *c, int i)
{
    const double *l = c->z + c->factors + 3 * i;
    return v3(l[0], l[1], l[2]);
}

// N and b for z and its poses; `scaled` is the model with the bones of z.
poise_status pz_calibration_equations(const pz_calibration *c, const poise_model *scaled);

// What the priors on places and bones add to the cost.
double pz_calibration_prior_cost(const pz_calibration *c);

#endif
