// What a poise_expressive holds, and the parts of a solve.
#ifndef PZ_PAPERS_EXPRESSIVE_H
#define PZ_PAPERS_EXPRESSIVE_H

#include <poise/expressive.h>

#include "num/dense.h"
#include "papers/erik/erik.h"
#include <poise/method.h>

#define PZ_MOST_SEARCHES 16

// What a part of the configuration does for the posture error.
typedef enum pz_term_kind {
    PZ_TERM_STEP = 0, // |step to the posture| / scale
    PZ_TERM_BEND,     // |cos(bend) - cos(bend of the posture)| / 2
    PZ_TERM_MIRROR,   // |angle -+ angle of the posture| / scale, the sign that of the run
    PZ_TERM_TWIST     // the same of an inner twister, half a turn off between runs of two signs
} pz_term_kind;

typedef struct pz_term {
    pz_term_kind kind;
    int dof, count;  // of a step
    int q;           // first coordinate
    int link;        // of the chain, or -1
    int run;         // of the chain, or -1
    double weight;   // all of them add up to 1
    double scale;    // radians, or a length
    double A, B, C;  // bend = A + B cos + C sin
    double theta0;   // where the bend is least
    double psi;      // of the posture: the bend, or the angle
    double mirrored; // the angle that bends as much the other way; of a twist, the angle to hold, as the signs have it
} pz_term;

// A chain pose by what differs from the posture with a pattern of bends.
typedef struct pz_candidate {
    double score;                          // its error, as far as the chain knows it
    unsigned pattern;                      // bit i: unit i of the chain bends the other way
    int joint, second;                     // links that compensate, or -1
    double root, angle, second_angle, end; // angles of the first joint, of those two, and of a twister at the end
} pz_candidate;

struct poise_expressive {
    const poise_model *model;
    int nq, nv;
    poise_expressive_options options;
    pz_owned owned;
    poise_solver *solver;         // its run has objectives, limits, steps within them
    poise_method_run *run;        // of the call at hand
    poise_kinematics *kinematics; // to look where the end faces
    double *q_start;              // nq: where the search begins, and what a pull holds it near
    poise_erik *erik;             // NULL where there is no chain
    int end;                      // body of the chain's end
    vec3 roll;                    // the last segment, in the frame of that body

    poise_goal *goals; // the caller's, with the twin of an orientation where that is nearer
    int goal_count;
    int facing; // goal that is the orientation of the end, or -1
    quat target, twin;

    pz_term *terms;
    int term_count, run_count;
    int *term_of; // by link
    bool has_steps;
    double *run_sign;      // +1 or -1, by run
    unsigned char *signs;  // by link, scratch: bit s, the best sign before a link that has the sign s after it
    const double *posture; // the caller's

    double *H, *A;                                 // nv x nv
    double *g, *D, *difference;                    // nv
    bool *held;                                    // nv
    double *q_trial, *q_seed, *q_refined, *q_best; // nq
    double best;                                   // rank of q_best: its error, and a penalty for missed goals
    int candidates;                                // that were refined

    pz_candidate found[PZ_MOST_SEARCHES];
    int found_count;
    double *theta;     // by link: angles of a pattern
    double *link_cost; // by link, two each: its posture error as the posture bends, and bent the other way
    poise_expressive_report report;
};

// ---- Posture (posture.c) -------------------------------------------------------------------------------------------------

// Describe the model's joints, once: nv terms at most.
void pz_terms_make(poise_expressive *e);

// Take the posture of a call.
void pz_terms_take(poise_expressive *e, const double *posture);

// What a link at `angle` adds to the posture error: a swing, bent as the posture is and bent the other way; a twister,
// between two runs of one sign and of two.
void pz_terms_link_cost(const poise_expressive *e, int link, double angle, double cost[2]);

// The least sum of these (e->link_cost, two for each link) over the signs of the runs, and e->signs, from which the signs
// are read backwards from *last, which may be NULL.
double pz_terms_least(const poise_expressive *e, int *last);

// The signs of the runs that fit q best.
void pz_terms_choose_signs(poise_expressive *e, const double *q);

// sum of weight |r|.
double pz_terms_error(poise_expressive *e, const double *q);

// sum of weight (sqrt(r^2 + eps^2) - eps) and, unless they are NULL, `factor` times its gradient and diagonal Gauss-Newton
// Hessian, added to g and to H's diagonal.
double pz_terms_cost(poise_expressive *e, const double *q, double eps, double factor, double *g, double *H);

// ---- Refinement (expressive.c) -------------------------------------------------------------------------------------------

// From the current point, run->at: goals and posture, smoothed by eps at first, and a pull towards q_start.
void pz_expressive_refine(poise_expressive *e, double eps, double pull);

// ---- Candidates (posture.c) ----------------------------------------------------------------------------------------------

// Fill e->found, best first.
void pz_expressive_find(poise_expressive *e);

// The configuration of a candidate into q, which has the values of joints beside the chain.
void pz_expressive_place(const poise_expressive *e, const pz_candidate *candidate, double *q);

#endif
