// What a failed call of CUDA means for the caller: statuses and words.
#include "explain.h"

#include "base/error.h"

poise_status pz_cuda_explain(cudaError_t status, const char *doing, poise_error *error)
{
    if (status == cudaSuccess) {
        return POISE_OK;
    }
    (void)cudaGetLastError(); // the next call begins clean, unless the device is lost
    if (status == cudaErrorMemoryAllocation) {
        return pz_error_set(error, POISE_ERROR_MEMORY, "%s: the device is out of memory; a smaller capacity needs less",
                            doing);
    }
    if (status == cudaErrorNoDevice || status == cudaErrorInsufficientDriver) {
        return pz_error_set(error, POISE_ERROR_DEVICE, "%s: there is no CUDA device, or its driver is too old (%s)", doing,
                            cudaGetErrorString(status));
    }
    return pz_error_set(error, POISE_ERROR_DEVICE, "%s: %s", doing, cudaGetErrorString(status));
}
