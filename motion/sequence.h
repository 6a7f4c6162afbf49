// The whole-clip solver: what its parts share.
//
//   sequence.c          the spline; the smoothness that the data themselves tell; windows, Newton steps, the call
//   sequence_limits.c   limits of velocity and acceleration: as walls, and once more after the last window
//
// A window is a stretch of frames and the coefficients that they touch. Its arrays run along time: coefficients of one dof
// lie side by side, and so do the frames of one phase, those that are as far behind a knot: they have the same four weights
// b_n, and phase p of interval j moves by z = sum over n of b_n(p) x_(j+n). So every loop over them is a loop over vectors.
//
// A step x of the coefficients moves frame t by z(t) = sum of B_j(t) x_j. Plain coordinates are the spline itself and move
// by z; rotations (quaternions, and rotation vectors without limits) turn by exp(z) about the axes of their body, so that a
// smooth rotation stays smooth. For rotation vectors, whose Hessian counts in their three numbers r, that is
// dr = J_r(r)^-1 z.
#ifndef PZ_MOTION_SEQUENCE_H
#define PZ_MOTION_SEQUENCE_H

#include <poise/sequence.h>

#include "base/arena.h"
#include "num/vector.h"

#define SEQUENCE_BASIS 4 // coefficients that a frame depends on
#define SEQUENCE_WALLS 2 // kinds: of velocity, of acceleration
#define SEQUENCE_BAND  6 // diagonals of the smoothness on one side, its own included

// Three dofs that turn as a rotation.
typedef struct pz_rotation_block {
    int dof, q;
    bool is_vector; // a rotation vector; false: a quaternion
} pz_rotation_block;

typedef struct pz_sequence {
    const poise_model *model;
    poise_sequence_options options;
    poise_sequence_goals goals;
    void *user;
    poise_objective *objective;
    poise_error *error;
    poise_status status; // of evaluations
    bool is_near;        // all windows were solved before, with other weights
    bool is_wide;        // base/cpu.h
    double frame_time;
    int nq, nv, frames, knots; // of the clip
    double *q;                 // frames x nq: the clip
    double *weight;            // nv: W
    double *acceleration;      // nv: of the motion, per second squared
    double *information;       // entries: the sum of all frames' Hessians
    int informed;              // frames that it is the sum of
    pz_owned owned;
    // the model
    int block_count;
    pz_rotation_block *blocks;
    int *coordinate;       // by dof: of a plain one, else -1
    bool *is_length;       // by dof
    int entries;           // of the packed Hessian
    int *row_begin;        // nv + 1
    int *above;            // entries: the dof that an entry of a row belongs to
    double *lower, *upper; // by dof: of plain coordinates
    double *row;           // entries: of one frame
    // the clip as a spline
    double *coefficient; // knots x nv: of plain coordinates
    quat *rotation;      // frames x blocks
    quat *control;       // knots: scratch of the start
    // the window
    int first, count;     // frames
    int touched;          // frames from the first on that its coefficients move
    int knot, knot_count; // coefficients
    int settled;          // of those, that keep their values
    int frame_room, knot_room;
    int phase_room, slots;     // of the frames of one phase; knot times that
    float *H;                  // entries x slots: Gauss-Newton, dofs of rotations as they turn; 0 beyond the end
    float *phase;              // knot x 4: weights
    float *F;                  // entries x knot_room: the factor
    float *basis;              // frame_room x 4
    int *interval;             // frame_room: the first coefficient of a frame, within the window
    float *band;               // SEQUENCE_BAND x knot_room: diagonals of the smoothness of weight 1
    double *gradient;          // nv x knot_room
    float *free;               // nv x knot_room: 1, or 0 where a coefficient is held
    float *x, *r, *z, *p, *Ap; // nv x knot_room
    float *extra;              // nv x knot_room: diagonal of the damping
    float *moved, *force;      // nv x SEQUENCE_CHUNK
    double *frame_gradient;    // nv
    double *bend, *edge;       // frame_room x nv: W times second differences; forces between frames
    double *q_kept;            // frame_room x nq
    double *coefficient_kept;  // knot_room x nv
    quat *rotation_kept;       // frame_room x blocks
    double bare_cost;          // without walls, and its gradient: nv x knot_room
    double *bare_gradient;
    double *multiplier[SEQUENCE_WALLS]; // nv x knot_room: of the walls
    float *pressed[SEQUENCE_WALLS];     // nv x knot_room: the stiffness where a wall is pressed, else 0
    double *stiffness;                  // nv
    double cost;
    double expected; // by how much the step lowers it, if it were quadratic
    poise_sequence_report report;
} pz_sequence;

#define SEQUENCE_CHUNK 64 // frames that a product works on at a time

// Where a frame of the window is in H.
static inline int pz_sequence_slot(const pz_sequence *s, int t)
{
    return t % s->options.knot * s->phase_room + t / s->options.knot;
}

// Frames of the window in a phase.
static inline int pz_sequence_phase_count(const pz_sequence *s, int p)
{
    return (s->count - p + s->options.knot - 1) / s->options.knot;
}

static inline double *pz_sequence_frame(const pz_sequence *s, int frame)
{
    return s->q + (size_t)frame * (size_t)s->nq;
}

static inline quat *pz_sequence_rotations(const pz_sequence *s, int frame)
{
    return s->rotation + (size_t)frame * (size_t)s->block_count;
}

// ---- sequence.c ----------------------------------------------------------------------------------------------------------

poise_status pz_sequence_check(const poise_model *model, const poise_sequence_options *options, poise_error *error);

// A sequence over a clip, which it makes a spline; and its end: the clip is within its limits.
poise_status pz_sequence_create(const poise_model *model, const poise_sequence_options *options, poise_clip *clip,
                                const poise_allocator *allocator, pz_sequence *s, poise_error *error);
void pz_sequence_finish(pz_sequence *s, poise_sequence_report *report);

// Solve all windows for s->goals, on from where the clip is.
poise_status pz_sequence_solve(pz_sequence *s, int max_iterations);

// The usual acceleration of a dof, per second squared; `metres` is that of a unit of length, 0: not known.
double pz_sequence_usual(const pz_sequence *s, int dof, double metres);

// W = (noise/acceleration)^2, where the options do not give it.
void pz_sequence_weigh(pz_sequence *s, double noise, const double *acceleration);

// s->acceleration nearer to what the clip has, which was solved with the weights that it gave.
void pz_sequence_estimate(pz_sequence *s, double metres);

// All frames from the coefficients and rotations.
void pz_sequence_write_frames(pz_sequence *s);

// The way from frame t to the next, by dof (nv numbers).
void pz_sequence_edge(const pz_sequence *s, int t, double *way);

// ---- sequence_limits.c ---------------------------------------------------------------------------------------------------

// Limits of velocity and acceleration: |c_(j+1) - c_j| <= knot v, |c_(j+1) - 2 c_j + c_(j-1)| <= knot^2 a, by frame.
void pz_sequence_walls_lay_out(pz_sequence *s, pz_arena *arena);
bool pz_sequence_has_walls(const pz_sequence *s);

// The cost of pressing against them; its gradient is added to s->gradient.
double pz_sequence_walls(pz_sequence *s);

// out += their curvature times in; and its diagonal of one dof.
void pz_sequence_walls_multiply(const pz_sequence *s, const float *in, float *out);
void pz_sequence_walls_diagonal(const pz_sequence *s, int dof, float *diagonal);

// Run `descend` with walls that grow harder until they hold.
bool pz_sequence_press(pz_sequence *s, bool (*descend)(pz_sequence *, bool goes_on, int *), int *iterations);

// Bring the clip within its limits of velocity and acceleration; the report says how far that moved it. Sets s->status when
// out of memory.
void pz_sequence_bring_within(pz_sequence *s);

// The largest shares of the limits that the frames use, into the report.
void pz_sequence_measure_walls(pz_sequence *s);

#endif
