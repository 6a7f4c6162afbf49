// Random solves over random models by every method, as many as you like, and what they must keep: for make endurance.
#ifndef TEST_RANDOM_SOLVES_H
#define TEST_RANDOM_SOLVES_H

#include <stdbool.h>
#include <stdint.h>

// At least `count` solves on so many threads, from the model of this seed on. Trees of every joint type, with curves,
// followers, limits of no width and beyond any turn, locks, arms; goals of every kind; some starts go through a batch as
// well. A solve that lasts a minute ends the program with a failure. Returns the next seed.
uint64_t random_solves_run(long count, int threads, uint64_t seed);

// Solve until so many answers are called CLOSEST, and look around each for one that is better.
uint64_t random_solves_refute(long count, int threads, uint64_t seed);

// Count a configuration of something else, such as a tracker.
void random_solves_count(bool is_finite, bool is_within);

// A table, a row for each method. Returns whether every count of what must not be is 0.
bool random_solves_print(void);

#endif
