// Calls that take memory, to be tried with requests that fail: one row for each public call, in a table for each layer.
// test_faults.c runs them.
#ifndef TEST_FAULTS_H
#define TEST_FAULTS_H

#include "support/check.h"

#include <poise/poise.h>
#include <scenes/scenes.h>

// ---- Rows ----------------------------------------------------------------------------------------------------------------

// Makes the call, checks that its outputs are untouched if it fails, gives back what it made if it does not.
typedef poise_status (*fault_attempt)(const poise_allocator *a, poise_error *e);

typedef struct fault_row {
    const char *call;
    fault_attempt run; // NULL: test_readers.c has it, or it takes no memory
    bool is_silent;    // has no poise_error to fill
} fault_row;

// each ends with a row whose call is NULL
extern const fault_row solve_faults[], motion_faults[], edit_faults[], io_faults[];

// Outputs start as this address and must keep it on failure.
extern char fault_nowhere;
#define UNTOUCHED ((void *)&fault_nowhere)

// On success destroy what was made; otherwise it must be untouched.
#define FINISH(status, made, destroy)                                                                                       \
    do {                                                                                                                    \
        if ((status) == POISE_OK) {                                                                                         \
            destroy(made);                                                                                                  \
        } else {                                                                                                            \
            ck_assert_ptr_eq(made, UNTOUCHED);                                                                              \
        }                                                                                                                   \
        return status;                                                                                                      \
    } while (0)

// An attempt that is one expression, with `a`, `e` and `&made`.
#define MAKES(name, type, destroy, call)                                                                                    \
    static poise_status name(const poise_allocator *a, poise_error *e)                                                      \
    {                                                                                                                       \
        type *made = UNTOUCHED;                                                                                             \
        poise_status status = call;                                                                                         \
        FINISH(status, made, destroy);                                                                                      \
    }

// ---- What the calls work on: made once, with malloc ----------------------------------------------------------------------

#define FRAMES  8
#define MARKERS 41
#define NUMBERS 128 // room for q

typedef struct fault_stage {
    poise_model *model; // a humanoid
    poise_builder *builder;
    poise_clip *clip;
    poise_markers *markers;
    scene_marker sites[MARKERS];
    poise_placement placements[MARKERS];
    double q[NUMBERS];
    poise_model *arm; // a chain of hinges
} fault_stage;

extern fault_stage stage;

void open_stage(void);
void close_stage(void);

// A new clip of FRAMES frames, equal to the stage's.
poise_clip *fault_walk(const poise_model *model);

#endif
