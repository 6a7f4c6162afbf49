// Steps of single elements of joints, which retract.c goes through for whole configurations.
#ifndef PZ_KIN_RETRACT_H
#define PZ_KIN_RETRACT_H

#include "kin/kin.h"

// The step from q_from to q_to in the dofs of one element, dv[0] the first of them.
void pz_step_difference(const poise_model *model, const pz_step *step, const double *q_from, const double *q_to, double *dv);

// From q by dv in the dofs of one element, into its coordinates of q_out.
void pz_step_retract(const poise_model *model, const pz_step *step, const double *q, const double *dv, double *q_out);

#endif
