// Hand what a test made over to the runner, which releases it after the test, the latest first:
//
//   poise_model *model = own_model(random_model(&random, 10, RANDOM_LIMITS));
#ifndef TEST_OWN_H
#define TEST_OWN_H

#include "test_main.h"

#include <poise/poise.h>

#define OWNED(thing)                                                                                                        \
    static inline void own_destroy_##thing(void *what)                                                                      \
    {                                                                                                                       \
        poise_##thing##_destroy(what);                                                                                      \
    }                                                                                                                       \
    static inline poise_##thing *own_##thing(poise_##thing *what)                                                           \
    {                                                                                                                       \
        ck_assert_ptr_nonnull(what);                                                                                        \
        test_own(own_destroy_##thing, what);                                                                                \
        return what;                                                                                                        \
    }

OWNED(builder)
OWNED(model)
OWNED(kinematics)
OWNED(objective)
OWNED(solver)
OWNED(erik)
OWNED(expressive)
OWNED(clip)
OWNED(markers)

#endif
