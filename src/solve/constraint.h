// Constraints as rows: numbers that must be 0 (loops) or at least 0 (clearances, sides), with their derivatives.
//
// Two forms are enough. POINTS: n . (a - b) of a point of each body, as between shapes (shape/shape.h). TURN: a component h
// of the rotation of body a against body b,
//
//   dh = A . (w_a - w_b)                   d2h = A . (w_a x w_b) + (u . w)(v . w),  w = w_a - w_b        at h = 0
//
// beside what the tree adds for the torque A on a and -A on b. MASS: the centre of mass against a plane.
//
// Lengths of rows are in units of the model (packed_model.h), so that everything about them is the same whether the model is
// in metres or millimetres.
#ifndef PZ_SOLVE_CONSTRAINT_H
#define PZ_SOLVE_CONSTRAINT_H

#include "goal/objective.h"
#include "shape/shape.h"

#define PZ_ROW_NEAR  0.05 // rows of pairs that are farther apart than their margin and this are not looked at
#define PZ_ROW_AIM   1e-7 // inequalities are solved for with so much to spare, so that they hold exactly at the end
#define PZ_ROW_SPARE 1e-9 // and hold with this much, so that they hold by any other arithmetic, too

typedef enum pz_row_form { PZ_ROW_POINTS = 0, PZ_ROW_TURN, PZ_ROW_MASS } pz_row_form;

typedef struct pz_row {
    pz_row_form form;
    bool is_equality;
    int constraint, item, part; // which row of which constraint: the same in every point
    double room;                // >= 0: holds; an equality: its error
    double slope;               // room = slope * value + constant: 1 or -1 over the unit of length; turns: 1
    int body_a, body_b;
    pz_contact contact; // POINTS; MASS: its normal
    vec3 torque, u, v;  // TURN: A, and the two vectors of its second derivative
} pz_row;

// The rows near a point.
typedef struct pz_rows {
    pz_row *row;
    int count;
    double broken; // sum of |h| and of what inequalities, with PZ_ROW_AIM, lack
    double worst;  // the largest of those, without it
} pz_rows;

// What a call has, and room to evaluate it.
typedef struct pz_constraints {
    const poise_constraint *constraint;
    int count;
    int row_capacity, shape_capacity;
    double unit;       // of lengths in rows
    double closure;    // what a loop may be open by (poise_constraint_options.closure_tolerance)
    pz_placed *placed; // shapes of the constraint that is looked at
    double *columns;   // 15 x nv: scratch
} pz_constraints;

void pz_constraints_lay_out(pz_constraints *c, const poise_model *model, const poise_constraint_options *options,
                            pz_arena *arena);

// POISE_OK when the constraints are sound and fit; otherwise `error` names the first that is not.
poise_status pz_constraints_check(const pz_constraints *c, const poise_model *model, const poise_constraint *constraints,
                                  int count, poise_error *error);

// What the solver aims at: the room less PZ_ROW_AIM, or the error of an equality.
static inline double pz_row_value(const pz_row *row)
{
    return row->is_equality ? row->room : row->room - PZ_ROW_AIM;
}

// The error of an equality in lengths as they are, or radians.
static inline double pz_row_error(const pz_row *row)
{
    return fabs(row->room / row->slope);
}

static inline bool pz_row_holds(const pz_row *row, double closure_tolerance)
{
    return row->is_equality ? fabs(row->room) <= closure_tolerance : row->room >= PZ_ROW_SPARE;
}

// The rows at a point.
void pz_rows_evaluate(pz_constraints *c, const poise_kinematics *kin, pz_rows *rows);

// The same, and the least distance of all pairs; infinite where there is none.
double pz_rows_survey(pz_constraints *c, const poise_kinematics *kin, pz_rows *rows);

// Does everything hold? Stops at the first row that does not.
bool pz_constraints_hold(pz_constraints *c, const poise_kinematics *kin, double closure_tolerance);

// Room of one constraint, in lengths as they are: the least of its inequalities, or minus its largest error; `item` (may be
// NULL) is the pair, side or row that has it.
double pz_constraint_room(pz_constraints *c, const poise_kinematics *kin, int constraint, int *item);

// J = d room/dq, nv numbers.
void pz_row_derivative(const pz_constraints *c, const poise_kinematics *kin, const pz_row *row, double *J);

// Add `weight` times the second derivative of a row: what the tree has to the exact Hessian of the objective, and the
// rest to the matrix H (nv x nv). Call the first for all rows, then fetch the objective's Hessian, then call the second.
void pz_row_bend_tree(const pz_row *row, double weight, poise_objective *o);
void pz_row_bend(const pz_constraints *c, const poise_kinematics *kin, const pz_row *row, double weight, double *H);

#endif
