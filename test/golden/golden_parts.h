// What the files of the golden computation share.
#ifndef TEST_GOLDEN_PARTS_H
#define TEST_GOLDEN_PARTS_H

#include "golden.h"

#include <stdbool.h>

// Put a number into the hash, which must be finite.
void golden_take(golden_result *r, double x);

// Count a trouble unless the condition holds.
void golden_require(golden_result *r, bool holds);

// The part in golden_solve.c, with or without the code for wide registers.
void golden_solving(golden_result *r, bool wide);

#endif
