// A device that a program brings along to do the work of some experiments: poise-reproduce has none, poise-cuda has one.
#ifndef RESEARCH_DEVICE_SEAM_H
#define RESEARCH_DEVICE_SEAM_H

#include "erik_evaluation.h"

typedef struct device {
    // Is it there? False after one line on standard error.
    bool (*begin)(void);

    // What it is called, after begin.
    const char *(*name)(void);

    // Solve samples by ERIK and add them to `results`, whatever its bins; any thread may ask. False after one line on
    // standard error. Problems must stay as they are until the next release.
    bool (*solve_erik)(const evaluate_stretch *samples, evaluate_results *results);
    void (*release)(void);
} device;

// The device that the program has; NULL: none.
const device *device_now(void);
void device_join(const device *d);

#endif
