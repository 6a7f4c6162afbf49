// The rows of the methods, one file each.
#ifndef PZ_PAPERS_ENGINES_H
#define PZ_PAPERS_ENGINES_H

#include <poise/papers.h>

extern const poise_method_engine pz_gradient_descent_engine, pz_jacobian_transpose_engine, pz_conjugate_gradient_engine,
    pz_bfgs_engine, pz_lbfgs_engine, pz_newton_engine, pz_trust_region_engine; // by gradients and Hessians
extern const poise_method_engine pz_pseudo_inverse_engine, pz_damped_least_squares_engine,
    pz_selectively_damped_engine;                                                 // rows
extern const poise_method_engine pz_ccd_engine, pz_bwcd_engine, pz_fabrik_engine; // joint by joint

#endif
