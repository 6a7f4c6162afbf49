// Mean, standard deviation, extremes and a histogram of numbers that come one by one, and of parts put together.
#ifndef RESEARCH_STATISTICS_H
#define RESEARCH_STATISTICS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define EVALUATE_BINS 100

typedef struct evaluate_statistics {
    int64_t count;
    double mean;
    double squares; // sum of squared distances from the mean
    double least, most;
    double width;                    // of a bin
    int64_t bins[EVALUATE_BINS + 1]; // from 0; the last takes what lies beyond
} evaluate_statistics;

// Empty, with bins from 0 to `top`.
evaluate_statistics evaluate_statistics_make(double top);

// Add a number, by the update of B. P. Welford (1962), which does not cancel.
void evaluate_statistics_add(evaluate_statistics *s, double x);

// Put `other`, with the same bins, to `s` (T. F. Chan, G. H. Golub & R. J. LeVeque 1979).
void evaluate_statistics_merge(evaluate_statistics *s, const evaluate_statistics *other);

// Of the numbers as a whole, not of a sample; 0 without numbers.
double evaluate_statistics_deviation(const evaluate_statistics *s);

#ifdef __cplusplus
}
#endif

#endif
