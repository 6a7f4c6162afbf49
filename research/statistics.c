#include "statistics.h"

#include <math.h>

evaluate_statistics evaluate_statistics_make(double top)
{
    return (evaluate_statistics){.width = top / EVALUATE_BINS, .least = HUGE_VAL, .most = -HUGE_VAL};
}

void evaluate_statistics_add(evaluate_statistics *s, double x)
{
    double from_mean = x - s->mean, place = x / s->width;
    s->count += 1;
    s->mean += from_mean / (double)s->count;
    s->squares += from_mean * (x - s->mean);
    s->least = x < s->least ? x : s->least;
    s->most = x > s->most ? x : s->most;
    s->bins[place < 0.0 ? 0 : place < EVALUATE_BINS ? (int)place : EVALUATE_BINS] += 1;
}

void evaluate_statistics_merge(evaluate_statistics *s, const evaluate_statistics *other)
{
    if (other->count == 0) {
        return;
    }
    double na = (double)s->count, nb = (double)other->count, between = other->mean - s->mean;
    s->count += other->count;
    s->mean += between * (nb / (na + nb));
    s->squares += other->squares + between * between * (na * nb / (na + nb));
    s->least = other->least < s->least ? other->least : s->least;
    s->most = other->most > s->most ? other->most : s->most;
    for (int i = 0; i <= EVALUATE_BINS; ++i) {
        s->bins[i] += other->bins[i];
    }
}

double evaluate_statistics_deviation(const evaluate_statistics *s)
{
    return s->count > 0 ? sqrt(s->squares / (double)s->count) : 0.0;
}
