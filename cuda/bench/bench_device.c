#include "bench_device.h"

#include <poise/cuda.h>

#include <stdlib.h>
#include <sys/sysinfo.h>

bool device_begin(const bench *b)
{
    if (poise_cuda_device_count() == 0) {
        report_skip(b->report, "there is no CUDA device, or no driver for it");
        return false;
    }
    struct cudaDeviceProp device;
    int driver = 0, runtime = 0;
    device_check(cudaGetDeviceProperties(&device, 0), "the device");
    device_check(cudaDriverGetVersion(&driver), "the driver");
    device_check(cudaRuntimeGetVersion(&runtime), "CUDA");
    report_note(b->report, "%s, %d multiprocessors, CUDA %d.%d, driver for %d.%d.", device.name, device.multiProcessorCount,
                runtime / 1000, runtime % 1000 / 10, driver / 1000, driver % 1000 / 10);
    return true;
}

void device_check(cudaError_t error, const char *what)
{
    if (error != cudaSuccess) {
        bench_fail("%s: %s", what, cudaGetErrorString(error));
    }
}

void *device_take(size_t count, size_t size)
{
    void *memory = NULL;
    device_check(cudaMalloc(&memory, count * size), "memory of the device");
    return memory;
}

void device_put(void *to, const void *from, size_t size)
{
    device_check(cudaMemcpy(to, from, size, cudaMemcpyHostToDevice), "copying to the device");
}

void device_get(void *to, const void *from, size_t size)
{
    device_check(cudaMemcpy(to, from, size, cudaMemcpyDeviceToHost), "copying from the device");
}

int device_threads(const bench *b)
{
    int cores = get_nprocs();
    cores = cores < 1 ? 1 : cores > 64 ? 64 : cores;
    return bench_number(b, "--threads", cores, cores);
}

static int compare_numbers(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double device_median(double *numbers, int count)
{
    qsort(numbers, (size_t)count, sizeof *numbers, compare_numbers);
    return numbers[count / 2];
}

double device_time(int rounds, void (*prepare)(void *user), void (*call)(void *user), void *user)
{
    double times[DEVICE_MOST_ROUNDS];
    cudaEvent_t begin, end;
    device_check(cudaEventCreate(&begin), "an event");
    device_check(cudaEventCreate(&end), "an event");
    for (int i = 0; i < rounds; ++i) {
        float ms;
        prepare(user);
        device_check(cudaEventRecord(begin, NULL), "an event");
        call(user);
        device_check(cudaEventRecord(end, NULL), "an event");
        device_check(cudaEventSynchronize(end), "solving");
        device_check(cudaEventElapsedTime(&ms, begin, end), "an event");
        times[i] = (double)ms;
    }
    cudaEventDestroy(begin), cudaEventDestroy(end);
    return device_median(times, rounds);
}
