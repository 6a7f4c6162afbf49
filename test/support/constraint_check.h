// Do constraints and limits hold in an answer? By means that share no code with the solver: public kinematics, searches
// along shapes (shape_check.h), and the text of <poise/constraint.h>.
#ifndef TEST_CONSTRAINT_CHECK_H
#define TEST_CONSTRAINT_CHECK_H

#include <poise/poise.h>

// What is broken most, and by how much: <= 0 where all hold. Loops and limits count in their own units.
typedef struct broken {
    double clearance; // margin less distance, of the worst pair
    double loop;      // error of the worst loop
    double side;      // of the worst side of a polygon
    double limit;     // of the worst limit
} broken;

broken check_constraints(const poise_model *model, const poise_constraint *constraints, int count, const double *q);

#endif
