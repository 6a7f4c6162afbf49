// The CUDA device as the experiments and `poise track` see it.
#ifndef POISE_CUDA_APP_DEVICE_H
#define POISE_CUDA_APP_DEVICE_H

#include "research/device_seam.h"
#include "track/track_device.h"

extern const device cuda_device;
extern const track_device cuda_track_device;

#endif
