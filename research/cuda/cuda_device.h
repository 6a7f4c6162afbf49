// The CUDA device as the experiments see it.
#ifndef RESEARCH_CUDA_DEVICE_H
#define RESEARCH_CUDA_DEVICE_H

#include "research/device_seam.h"

extern const device cuda_device;

#endif
