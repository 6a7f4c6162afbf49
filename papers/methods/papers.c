// Which engine serves which method.
#include "papers/methods/methods.h"

const poise_method_engine *poise_papers_engine(poise_method method)
{
    static const poise_method_engine *const engines[POISE_METHOD_COUNT] = {
        [POISE_METHOD_GRADIENT_DESCENT] = &pz_gradient_descent_engine,
        [POISE_METHOD_JACOBIAN_TRANSPOSE] = &pz_jacobian_transpose_engine,
        [POISE_METHOD_PSEUDO_INVERSE] = &pz_pseudo_inverse_engine,
        [POISE_METHOD_DAMPED_LEAST_SQUARES] = &pz_damped_least_squares_engine,
        [POISE_METHOD_SELECTIVELY_DAMPED] = &pz_selectively_damped_engine,
        [POISE_METHOD_CCD] = &pz_ccd_engine,
        [POISE_METHOD_BWCD] = &pz_bwcd_engine,
        [POISE_METHOD_FABRIK] = &pz_fabrik_engine,
        [POISE_METHOD_BFGS] = &pz_bfgs_engine,
        [POISE_METHOD_LBFGS] = &pz_lbfgs_engine,
        [POISE_METHOD_TRUST_REGION] = &pz_trust_region_engine,
        [POISE_METHOD_NEWTON] = &pz_newton_engine,
        [POISE_METHOD_CONJUGATE_GRADIENT] = &pz_conjugate_gradient_engine,
    };
    return (unsigned)method < POISE_METHOD_COUNT ? engines[method] : NULL;
}
