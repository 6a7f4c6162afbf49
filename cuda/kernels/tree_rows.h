// The rows of the tables of goals and methods that the device has: one kind of goal, one method. They are known when this is
// compiled, so that no call goes through a pointer.
#ifndef POISE_CUDA_TREE_ROWS_H
#define POISE_CUDA_TREE_ROWS_H

#include "goal/goal_kind.h"
#include "solve/methods.h"

#include "device_end.h"

struct position_row {
    static constexpr int needs = 0;
    static constexpr auto evaluate = pz_position_evaluate;
    static constexpr auto error = pz_position_error;
};

struct auto_row {
    static constexpr auto lay_out = pz_auto_lay_out;
    static constexpr auto run = pz_auto_run;
    static constexpr poise_status (*check)(poise_solver *) = NULL;
    static constexpr bool (*improves)(poise_solver *, bool) = NULL;
};

#include "device_begin.h"

#define pz_goal_row_of(kind)     ((const position_row *)NULL)
#define pz_method_row            auto_row
#define pz_method_row_of(method) ((const auto_row *)1)

#endif
