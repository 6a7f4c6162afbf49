// A latency histogram.
#include "latency.h"

#include "system/system.h"

#include <math.h>

static const double shortest = 1e-8, step = 0.01; // box i holds times up to shortest * exp(step * i)

void latency_add(latency *l, double seconds)
{
    double i = ceil(log(fmax(seconds, shortest) / shortest) / step);
    int box = i < 0 ? 0 : i >= LATENCY_BOXES ? LATENCY_BOXES - 1 : (int)i;
    l->box[box] += 1;
    l->count += 1;
    l->sum += seconds;
    l->largest = fmax(l->largest, seconds);
}

double latency_mean(const latency *l)
{
    return l->count > 0 ? l->sum / (double)l->count : 0;
}

double latency_quantile(const latency *l, double share)
{
    int64_t wanted = (int64_t)ceil(share * (double)l->count), seen = 0;
    for (int i = 0; i < LATENCY_BOXES; ++i) {
        seen += l->box[i];
        if (seen >= wanted && l->count > 0) {
            return fmin(shortest * exp(step * i), l->largest);
        }
    }
    return l->largest;
}

double sorted_quantile(const double *sorted, int count, double share)
{
    int rank = (int)ceil(share * count); // from 1
    return sorted[rank < 1 ? 0 : rank > count ? count - 1 : rank - 1];
}

double cpu_seconds_now(void)
{
    return 1e-9 * (double)system_thread_nanoseconds();
}
