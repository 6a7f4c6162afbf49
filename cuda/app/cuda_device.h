// The CUDA device as `poise track` sees it.
#ifndef POISE_CUDA_APP_DEVICE_H
#define POISE_CUDA_APP_DEVICE_H

#include "track/track.h"

// Is it there? False after one line on standard error. Its name, after that.
bool cuda_device_begin(void);
const char *cuda_device_name(void);

extern const track_device cuda_track_device;

#endif
