// The CUDA device as the commands of app/ see it.
#ifndef POISE_CUDA_APP_DEVICE_H
#define POISE_CUDA_APP_DEVICE_H

#include <app/cli/device_seam.h>

extern const device cuda_device;

#endif
