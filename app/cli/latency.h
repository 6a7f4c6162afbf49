// A latency histogram: quantiles of any number of times in fixed memory, to 1 percent.
#ifndef APP_LATENCY_H
#define APP_LATENCY_H

#include <stdint.h>

enum { LATENCY_BOXES = 2560 }; // from 10 ns in steps of 1 percent: up to 1100 seconds

typedef struct latency {
    int64_t count;
    double sum, largest; // seconds
    int64_t box[LATENCY_BOXES];
} latency;

void latency_add(latency *l, double seconds);

// Seconds of CPU time that this thread has used (system_thread_nanoseconds).
double cpu_seconds_now(void);

double latency_mean(const latency *l); // all are 0 when nothing was added

// The time that a share of all (0 to 1) does not exceed.
double latency_quantile(const latency *l, double share);

// The same of times in ascending order, at least one.
double sorted_quantile(const double *sorted, int count, double share);

#endif
