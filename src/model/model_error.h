// Why a configuration is refused, in words.
#ifndef PZ_MODEL_ERROR_H
#define PZ_MODEL_ERROR_H

#include "model/packed_model.h"

// Say in `error` (may be NULL) what is wrong with a configuration called `name` that pz_model_accepts refused, or that is
// NULL. Returns POISE_ERROR_ARGUMENT.
poise_status pz_refuse_q(const poise_model *model, const double *q, const char *name, poise_error *error);

#endif
