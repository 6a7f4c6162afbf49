// One row per method.
#include "solve/methods.h"

static const pz_method_row table[POISE_METHOD_COUNT] = {
    [POISE_METHOD_AUTO] = {"auto", pz_auto_lay_out, pz_auto_run, NULL, NULL},
    [POISE_METHOD_GRADIENT_DESCENT] = {"gradient_descent", pz_gradient_descent_lay_out, pz_gradient_descent_run, NULL, NULL},
    [POISE_METHOD_JACOBIAN_TRANSPOSE] = {"jacobian_transpose", pz_jacobian_transpose_lay_out, pz_jacobian_transpose_run,
                                         NULL, NULL},
    [POISE_METHOD_PSEUDO_INVERSE] = {"pseudo_inverse", pz_pseudo_inverse_lay_out, pz_pseudo_inverse_run, pz_rows_check,
                                     pz_rows_improve},
    [POISE_METHOD_DAMPED_LEAST_SQUARES] = {"damped_least_squares", pz_damped_least_squares_lay_out,
                                           pz_damped_least_squares_run, pz_rows_check, NULL},
    [POISE_METHOD_SELECTIVELY_DAMPED] = {"selectively_damped", pz_selectively_damped_lay_out, pz_selectively_damped_run,
                                         pz_rows_check, NULL},
    [POISE_METHOD_PRIORITY] = {"priority", pz_priority_lay_out, pz_priority_run, pz_rows_check, pz_rows_improve},
    [POISE_METHOD_CCD] = {"ccd", pz_geometric_lay_out, pz_ccd_run, pz_geometric_check, NULL},
    [POISE_METHOD_BWCD] = {"bwcd", pz_geometric_lay_out, pz_bwcd_run, pz_geometric_check, NULL},
    [POISE_METHOD_FABRIK] = {"fabrik", pz_fabrik_lay_out, pz_fabrik_run, pz_fabrik_check, NULL},
    [POISE_METHOD_LEVENBERG_MARQUARDT] = {"levenberg_marquardt", pz_levenberg_marquardt_lay_out, pz_levenberg_marquardt_run,
                                          NULL, NULL},
    [POISE_METHOD_BFGS] = {"bfgs", pz_bfgs_lay_out, pz_bfgs_run, NULL, NULL},
    [POISE_METHOD_LBFGS] = {"lbfgs", pz_lbfgs_lay_out, pz_lbfgs_run, NULL, NULL},
    [POISE_METHOD_TRUST_REGION] = {"trust_region", pz_trust_region_lay_out, pz_trust_region_run, NULL, NULL},
    [POISE_METHOD_NEWTON] = {"newton", pz_newton_projected_lay_out, pz_newton_projected_run, NULL, NULL},
    [POISE_METHOD_CONJUGATE_GRADIENT] = {"conjugate_gradient", pz_conjugate_gradient_lay_out, pz_conjugate_gradient_run,
                                         NULL, NULL},
};

const pz_method_row *pz_method_row_of(poise_method method)
{
    return (unsigned)method < POISE_METHOD_COUNT && table[method].name ? &table[method] : NULL;
}

const char *poise_method_name(poise_method method)
{
    const pz_method_row *row = pz_method_row_of(method);
    return row ? row->name : "unknown";
}
