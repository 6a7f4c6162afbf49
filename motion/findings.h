// Findings of a verdict, gathered one by one.
#ifndef PZ_MOTION_FINDINGS_H
#define PZ_MOTION_FINDINGS_H

#include <poise/verdict.h>

// What has been found so far. Start with thresholds, list and capacity, the rest 0.
typedef struct pz_findings {
    const poise_thresholds *thresholds;
    poise_finding *list;
    int capacity;
    poise_verdict verdict;
} pz_findings;

// Weigh a value against its thresholds. What is within them is kept only where `always` says so. `name` may be NULL.
void pz_weigh(pz_findings *found, poise_finding_kind kind, const char *name, double value, bool always);

// The same of two things at once.
void pz_weigh_two(pz_findings *found, poise_finding_kind kind, const char *name, const char *other, double value);

#endif
