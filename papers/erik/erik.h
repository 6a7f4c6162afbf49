// What a poise_erik holds, and the parts of a solve.
#ifndef PZ_EXPRESS_ERIK_STATE_H
#define PZ_EXPRESS_ERIK_STATE_H

#include "papers/erik/chain.h"

#define PZ_LARGEST_WINDOW 64

// Errors of a pose.
typedef struct pz_measure {
    double error, orientation, posture, angle;
} pz_measure;

struct poise_erik {
    const poise_model *model;
    poise_erik_options options;
    pz_owned owned;
    pz_chain chain;
    poise_erik_link *joints; // of the chain, as they are handed out
    double *psi;             // target posture: angles
    double *psi_bend;        // cosine of the bend at each joint
    mat3 tau;                // target of Q_N
    mat3 t;                  // the target worked with, which the offset trick turns
    pz_chain_pose warped;    // Psi: the posture turned towards t, limits or not
    pz_chain_pose now;       // Theta: the candidate
    bool is_empty;           // it is the zero pose that a solve begins with: the paper's empty solution
    double *previous;        // angles of the previous solution
    mat3 *forward;           // count + 1: frames as the forward phase left them
    double *best;            // angles of the best candidate
    pz_measure best_measure;
    double *errors; // window: the last errors
    int error_count;
    double *work; // 3 count: scratch of the exact search
    poise_erik_report report;
};

// ---- Measures (erik.c) ------------------------------------------------------------------------------------------------

// cos of the angle between the segments before and after a joint.
double pz_bend(const pz_link *link, double sine, double cosine);

// Take posture and target; false when they are not sound.
bool pz_erik_take(poise_erik *erik, const double *posture, poise_quat target);

// Errors of a pose whose frames are there, against the caller's posture and target.
pz_measure pz_erik_measure(const poise_erik *erik, const pz_chain_pose *pose);

// ---- Descents (phases.c) ------------------------------------------------------------------------------------------------

// BWCD from the root to the end: on the posture, without limits, or on the candidate, within. `near`: angles to stay near,
// so that no twister takes half a turn but the end's, where that is nearer; NULL: none.
void pz_bwcd_posture(const poise_erik *erik, pz_chain_pose *pose);
void pz_bwcd_solution(const poise_erik *erik, pz_chain_pose *pose, const double *near);

// CCD from the end to the root, within limits.
void pz_ccd_solution(const poise_erik *erik, pz_chain_pose *pose);

// ---- Phases (phases.c) ---------------------------------------------------------------------------------------------------

void pz_forward_phase(poise_erik *erik);
void pz_backward_phase(poise_erik *erik);

// ---- Exact orientation (phases.c) ----------------------------------------------------------------------------------------

// Improve erik->best until its orientation is exact, if that can be.
void pz_erik_finish(poise_erik *erik);

// Zero within the limits.
static inline double pz_zero_angle(const pz_link *link)
{
    return clamp(0.0, link->lower, link->upper);
}

// ---- The solve (erik.c) ----------------------------------------------------------------------------------------------

// From the first candidate to the end, for the posture and the target that were taken.
poise_outcome pz_erik_run(poise_erik *erik);

// Do the last `window` of `count` errors stand still, come back every second time, or gain nothing? Number i, from 0, is in
// errors[i % window].
bool pz_erik_is_stuck(const double *errors, int count, int window, double tolerance);

// Hand the best candidate out (erik.c).
void pz_erik_hand_out(poise_erik *erik, double *q, poise_erik_report *report);

// The first candidate: the zero pose, or the previous solution; is it good enough?
bool pz_erik_begin(poise_erik *erik, bool warm);

// ERIK over memory of pz_erik_size bytes; 0 when the model has no such chain or the options make no sense.
size_t pz_erik_size(const poise_model *model, const poise_erik_options *options);
poise_erik *pz_erik_init(const poise_model *model, const poise_erik_options *options, void *memory, size_t size);

#endif
