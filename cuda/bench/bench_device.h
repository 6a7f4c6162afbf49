// What the suites of poise-bench on a CUDA device share.
#ifndef POISE_CUDA_BENCH_DEVICE_H
#define POISE_CUDA_BENCH_DEVICE_H

#include <bench/suite.h>

#include <cuda_runtime_api.h>

#define DEVICE_MOST_ROUNDS 64

// The device in a note below the suite's name; false, and the suite is skipped with a reason, where there is none.
bool device_begin(const bench *b);

// A call that fails ends the program.
void device_check(cudaError_t error, const char *what);

// Device memory; released with cudaFree. Copies that wait: to the device, and from it.
void *device_take(size_t count, size_t size);
void device_put(void *to, const void *from, size_t size);
void device_get(void *to, const void *from, size_t size);

// All cores, 64 at most, unless --threads says how many.
int device_threads(const bench *b);

// Sorts the numbers.
double device_median(double *numbers, int count);

// Milliseconds between device events before and after `call`, the median of `rounds`; each comes after `prepare`.
double device_time(int rounds, void (*prepare)(void *user), void (*call)(void *user), void *user);

#endif
